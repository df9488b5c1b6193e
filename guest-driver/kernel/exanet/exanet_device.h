/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet: the life of one NIC on any bus.
 */
#ifndef EXANET_DEVICE_H
#define EXANET_DEVICE_H

struct device;
struct exanet_device;
struct exanet_resources;

/*
 * Registers the class "exanet", and the range of numbers for device files. Returns 0 or a
 * negative errno.
 */
int exanet_device_init(void);
void exanet_device_exit(void);

/*
 * Makes a NIC on @parent. Copies @res; the resources that @res names must exist until
 * exanet_device_remove() returns. Returns the device or an ERR_PTR.
 */
struct exanet_device *exanet_device_probe(struct device *parent,
					  const struct exanet_resources *res);
/*
 * Removes the NIC. After the return the driver does not use the resources of the NIC, and
 * no context runs. The caller must not use @xdev any more.
 */
void exanet_device_remove(struct exanet_device *xdev);
/*
 * Prepares the NIC for a reset by the bus: stops all contexts, refuses new contexts, pauses
 * reports of links, and makes the NIC neither send nor accept packets nor interrupt.
 */
void exanet_device_reset_prepare(struct exanet_device *xdev);
/*
 * Resets the NIC again after a reset by the bus, starts the NIC, permits new contexts, and
 * resumes reports of links. Old contexts stay stopped. If the NIC does not answer, only logs
 * an error, and the NIC stays unusable.
 */
void exanet_device_reset_done(struct exanet_device *xdev);
/* Stops all contexts and the NIC before the machine goes down. */
void exanet_device_shutdown(struct exanet_device *xdev);

#endif /* EXANET_DEVICE_H */

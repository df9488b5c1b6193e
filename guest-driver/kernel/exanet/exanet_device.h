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
 * Registers the class and the numbers of the device files. Returns 0 or a negative
 * errno.
 */
int exanet_device_init(void);
void exanet_device_exit(void);

/*
 * Makes a NIC on @parent from @res, which stays valid until exanet_device_remove().
 * Returns the device or an ERR_PTR.
 */
struct exanet_device *exanet_device_probe(struct device *parent,
					  const struct exanet_resources *res);
/*
 * Removes the NIC. After the return nothing uses its resources; open files return
 * ENODEV.
 */
void exanet_device_remove(struct exanet_device *xdev);
/* Stops all contexts before a reset by the bus. */
void exanet_device_reset_prepare(struct exanet_device *xdev);
/* Resets and starts the NIC after a reset by the bus. Contexts stay stopped. */
void exanet_device_reset_done(struct exanet_device *xdev);
/* Stops the NIC before the machine goes down. */
void exanet_device_shutdown(struct exanet_device *xdev);

#endif /* EXANET_DEVICE_H */

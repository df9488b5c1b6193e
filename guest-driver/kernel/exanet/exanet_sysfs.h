/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet: /sys/class/exanet/exanetN
 */
#ifndef EXANET_SYSFS_H
#define EXANET_SYSFS_H

struct exanet_device;

/* Builds the tables of attributes. The caller calls this function once, before all probes. */
void exanet_sysfs_init(void);
/*
 * Fills @xdev->groups, and stores the address of @xdev->groups in @xdev->dev. The caller has
 * filled @xdev->caps and has called exanet_shm_init().
 */
void exanet_sysfs_groups(struct exanet_device *xdev);
/* Notifies programs that poll the attribute "state" of port @port. */
void exanet_sysfs_link_changed(struct exanet_device *xdev, unsigned int port);

#endif /* EXANET_SYSFS_H */

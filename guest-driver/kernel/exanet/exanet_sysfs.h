/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet: /sys/class/exanet/exanetN
 */
#ifndef EXANET_SYSFS_H
#define EXANET_SYSFS_H

struct exanet_device;

/* Builds the tables of attributes. Must be called once, before the first device. */
void exanet_sysfs_init(void);
/* Fills @xdev->groups, and sets dev.groups. Needs the capabilities and shm.present. */
void exanet_sysfs_groups(struct exanet_device *xdev);
/* Notifies programs that poll the attribute "state" of port @port. */
void exanet_sysfs_link_changed(struct exanet_device *xdev, unsigned int port);

#endif /* EXANET_SYSFS_H */

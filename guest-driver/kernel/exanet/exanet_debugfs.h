/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet: /sys/kernel/debug/exanet/exanetN
 */
#ifndef EXANET_DEBUGFS_H
#define EXANET_DEBUGFS_H

#include "rnic/exanet/regs.h"

struct dentry;
struct exanet_device;

/* The port of a file. */
struct exanet_debugfs_port {
	struct exanet_device *xdev;
	unsigned int index;
};

struct exanet_debugfs {
	struct dentry *folder;
	struct exanet_debugfs_port ports[EXANET_LINKS];
};

/* Makes the folder of the module. */
void exanet_debugfs_init(void);
void exanet_debugfs_exit(void);
/* Makes the files of the device, which access registers until they are removed. */
void exanet_debugfs_add(struct exanet_device *xdev);
/* Removes the files; waits for accesses that are under way. */
void exanet_debugfs_remove(struct exanet_device *xdev);

#endif /* EXANET_DEBUGFS_H */

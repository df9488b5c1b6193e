/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet: /sys/kernel/debug/exanet/exanetN
 */
#ifndef EXANET_DEBUGFS_H
#define EXANET_DEBUGFS_H

#include "rnic/exanet/regs.h"

struct dentry;
struct exanet_device;

/* The NIC and the number of the port to which a file port<p>/inject belongs. */
struct exanet_debugfs_port {
	struct exanet_device *xdev;
	unsigned int index;
};

struct exanet_debugfs {
	struct dentry *folder;
	struct exanet_debugfs_port ports[EXANET_LINKS];
};

/* Makes the folder of the module, /sys/kernel/debug/exanet. */
void exanet_debugfs_init(void);
/* Removes the folder of the module, /sys/kernel/debug/exanet. */
void exanet_debugfs_exit(void);
/* Makes the folder and the files of the NIC. A read or write of a file may access registers. */
void exanet_debugfs_add(struct exanet_device *xdev);
/* Removes the files of the NIC; waits for reads and writes of files that are under way. */
void exanet_debugfs_remove(struct exanet_device *xdev);

#endif /* EXANET_DEBUGFS_H */

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Migration of a machine to another QEMU by a file, and snapshots on a disk. */
#ifndef RNIC_MIGRATE_H
#define RNIC_MIGRATE_H

#include "libqtest.h"

/*
 * Stops and saves the machine; returns the path of the file, which the caller unlinks
 * and frees.
 */
char *migrate_save(QTestState *qts);
/*
 * Tries to save the machine, and asserts that QEMU refuses; returns QEMU's reason, to
 * be freed.
 */
char *migrate_save_refused(QTestState *qts);
/*
 * Loads file @path into a machine that was started with MIGRATE_INCOMING, and asserts
 * that the machine runs.
 */
#define MIGRATE_INCOMING " -incoming defer"
void migrate_load(QTestState *qts, const char *path);
/*
 * Tries to load file @path, and asserts that QEMU refuses the file; returns QEMU's
 * reason, to be freed.
 */
char *migrate_load_refused(QTestState *qts, const char *path);

/* Gives the machine a disk for snapshots, in a new file @path. */
void migrate_disk_add(QTestState *qts, const char *path);
/* Saves a snapshot to the disk (@how "snapshot-save"), or loads it ("snapshot-load"). */
void migrate_snapshot(QTestState *qts, const char *how);

#endif /* RNIC_MIGRATE_H */

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Migration of a machine to another QEMU by a file, and snapshots on a disk. */
#ifndef RNIC_MIGRATE_H
#define RNIC_MIGRATE_H

#include "libqtest.h"

/*
 * Saves the machine to a new file, which stops the machine.  Returns the path of the
 * file; the caller unlinks the file and frees the path.
 */
char *migrate_save(QTestState *qts);
/*
 * Tries to save the machine, and asserts that QEMU refuses.  Returns the reason that
 * QEMU gives; the caller frees this text.
 */
char *migrate_save_refused(QTestState *qts);
/*
 * Loads file @path into a machine that was started with MIGRATE_INCOMING, and asserts
 * that the machine runs.
 */
#define MIGRATE_INCOMING " -incoming defer"
void migrate_load(QTestState *qts, const char *path);
/*
 * Tries to load file @path, and asserts that QEMU refuses the file.  Returns the
 * reason that QEMU gives; the caller frees this text.
 */
char *migrate_load_refused(QTestState *qts, const char *path);

/* Gives the machine a disk for snapshots, in a new file @path. */
void migrate_disk_add(QTestState *qts, const char *path);
/*
 * Saves a snapshot of the machine to the disk (@how is "snapshot-save"), or loads
 * this snapshot (@how is "snapshot-load").
 */
void migrate_snapshot(QTestState *qts, const char *how);

#endif /* RNIC_MIGRATE_H */

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Migration of a machine by way of a file, and snapshots on a disk. */
#ifndef RNIC_MIGRATE_H
#define RNIC_MIGRATE_H

#include "libqtest.h"

/* Stops and saves the machine; returns the path of the file, to be unlinked and freed. */
char *migrate_save(QTestState *qts);
/* Fails if the machine can be saved; returns QEMU's reason, to be freed. */
char *migrate_save_refused(QTestState *qts);
/*
 * Loads file @path into a machine that was started with MIGRATE_INCOMING, and asserts
 * that the machine runs.
 */
#define MIGRATE_INCOMING " -incoming defer"
void migrate_load(QTestState *qts, const char *path);
/* The same, but QEMU must refuse the file; returns its reason, to be freed. */
char *migrate_load_refused(QTestState *qts, const char *path);

/* Gives the machine a disk for snapshots, in a new file @path. */
void migrate_disk_add(QTestState *qts, const char *path);
/* Saves a snapshot there, or goes back to it; @how: "snapshot-save" or -load. */
void migrate_snapshot(QTestState *qts, const char *how);

#endif /* RNIC_MIGRATE_H */

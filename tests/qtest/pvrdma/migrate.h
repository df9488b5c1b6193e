/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Machines with pvrdma that go on in another QEMU, by way of a file.  The peer is the
 * same, at a new wire: what was on the old one is lost.
 */
#ifndef PVRDMA_MIGRATE_H
#define PVRDMA_MIGRATE_H

#include "verbs.h"

/* Stops @t and saves it; the path of the file, to be unlinked and freed. */
char *pvrdma_save(PvrdmaTest *t);
/*
 * A machine with @props that goes on with what is in file @path, saved from @from, which
 * may still be looked at.
 */
PvrdmaTest *pvrdma_load(PvrdmaTest *from, const char *path, const char *props);
/* The same, but it must be refused; QEMU lives on.  The reason, to be freed. */
char *pvrdma_load_refused(const char *path, const char *props);
/* Both, and ends @from. */
PvrdmaTest *pvrdma_migrate(PvrdmaTest *from);

/* Gives the machine a disk for snapshots, in file @path, which is made. */
void pvrdma_snapshot_disk(PvrdmaTest *t, const char *path);
/* Saves a snapshot there, or goes back to it; @how: "snapshot-save" or -load. */
void pvrdma_snapshot(PvrdmaTest *t, const char *how);

#endif /* PVRDMA_MIGRATE_H */

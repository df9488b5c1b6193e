/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Machines with pvrdma that continue in another QEMU, which loads a file.  The peer
 * stays, but the wire is new: frames on the old one are lost.
 */
#ifndef PVRDMA_MIGRATE_H
#define PVRDMA_MIGRATE_H

#include "../common/migrate.h"
#include "verbs.h"

/*
 * Starts a machine with @props that continues from the file @path, which migrate_save()
 * made from @from.  The test may still read @from.
 */
PvrdmaTest *pvrdma_load(PvrdmaTest *from, const char *path, const char *props);
/*
 * Starts a machine as pvrdma_load(), but QEMU must refuse the file; returns QEMU's
 * error message, to be freed.
 */
char *pvrdma_load_refused(const char *path, const char *props);
/*
 * Saves @from, loads the file into another machine, and ends @from with all frames of
 * it that the test has not taken.
 */
PvrdmaTest *pvrdma_migrate(PvrdmaTest *from);

#endif /* PVRDMA_MIGRATE_H */

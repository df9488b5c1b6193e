/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Machines with pvrdma that go on in another QEMU, by way of a file.  The peer is the
 * same, at a new wire: what was on the old one is lost.
 */
#ifndef PVRDMA_MIGRATE_H
#define PVRDMA_MIGRATE_H

#include "../common/migrate.h"
#include "verbs.h"

/*
 * Starts a machine with @props that goes on with what is in file @path, saved by
 * migrate_save() from @from, which may still be looked at.
 */
PvrdmaTest *pvrdma_load(PvrdmaTest *from, const char *path, const char *props);
/* The same, but QEMU must refuse the file; returns its reason, to be freed. */
char *pvrdma_load_refused(const char *path, const char *props);
/* Saves @from, loads the file into another machine, and ends @from. */
PvrdmaTest *pvrdma_migrate(PvrdmaTest *from);

#endif /* PVRDMA_MIGRATE_H */

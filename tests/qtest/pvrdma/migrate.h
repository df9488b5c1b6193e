/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Machines with pvrdma that continue in another QEMU, which loads the saved state from a
 * file.  The test remains the peer, but on a new wire: frames on the old wire are lost.
 */
#ifndef PVRDMA_MIGRATE_H
#define PVRDMA_MIGRATE_H

#include "../common/migrate.h"
#include "verbs.h"

/*
 * Starts a machine with @props, loads the file @path, which migrate_save() made of @from,
 * and returns the new machine.  @from remains, and the test ends it.
 */
PvrdmaTest *pvrdma_load(PvrdmaTest *from, const char *path, const char *props);
/*
 * Starts a machine with @props, asserts that QEMU refuses to load the file @path, and
 * ends the machine.  Returns QEMU's error message; the caller frees the message.
 */
char *pvrdma_load_refused(const char *path, const char *props);
/*
 * Saves @from, loads the saved state into a new machine, and returns the new machine.
 * Drops the frames of @from that the test has not taken, and ends @from.
 */
PvrdmaTest *pvrdma_migrate(PvrdmaTest *from);

#endif /* PVRDMA_MIGRATE_H */

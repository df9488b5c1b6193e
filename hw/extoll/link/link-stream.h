/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The state of a link as bytes, for snapshots and migration.
 *
 * The bytes have what both ends must agree on: sequences, flits that are not
 * acknowledged, credits, and packets that have arrived.  Times and the phase are not
 * among them: a loaded link is down, and its next START has RESUME, as after a cut of the
 * cable.
 */
#ifndef RNIC_EXTOLL_LINK_LINK_STREAM_H
#define RNIC_EXTOLL_LINK_LINK_STREAM_H

#include "link.h"

/* Returns the maximal number of bytes of a link with room for @room flits in each VC. */
size_t extoll_link_stream_max(uint32_t room);

/* Appends the state of @l to @bytes.  Does not change @l. */
void extoll_link_save(const ExtollLink *l, GByteArray *bytes);

/*
 * Loads the state of @l from the @len bytes at @bytes.  Before the call, @l is down, and
 * empty as after extoll_link_forget().  Returns false, and leaves @l down and empty, if
 * no link with the room of @l can have this state.
 */
bool extoll_link_load(ExtollLink *l, const uint8_t *bytes, size_t len);

#endif /* RNIC_EXTOLL_LINK_LINK_STREAM_H */

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process that sends messages by VELO, and the mailboxes that receive them.
 *
 * The content of a message depends on its number.  Status words are computed here from
 * rnic/extoll/velo.h, without the codec of the device.
 */
#ifndef EXTOLL_TEST_VELO_H
#define EXTOLL_TEST_VELO_H

#include "link.h"
#include "hw/rnic/extoll/base/packet.h"

/*
 * Address of BAR 2, which has no place behind the other BARs below the firmware of the
 * machine.
 */
#define EXTOLL_VELO_AT      0xc0000000ULL
/* The mailbox of a VPID in RAM. */
#define EXTOLL_RAM_MAILBOX(vpid)    (0x02000000ULL + EXTOLL_RING_MAX * (vpid))
/* Routes from the device to its own mailboxes, and to a neighbour's mailboxes. */
#define EXTOLL_ROUTE_OWN    extoll_hop(EXTOLL_OUTPUT_VELO, 0, 0)
#define EXTOLL_ROUTE_BY(link)   extoll_hop(link, 0, EXTOLL_ROUTE_OWN)
/* Messages for which the FIFO always has room. */
#define EXTOLL_TEST_FIFO    251

typedef struct VeloMsg {
    unsigned node, vpid;            /* of the receiver */
    unsigned own;                   /* VPID of the sender */
    unsigned mtt;
    unsigned quadwords;
    unsigned number;
} VeloMsg;

/* --- Device ----------------------------------------------------------------- */

/* Maps BAR 2, enables all VPIDs, and gives the own node and all peers a route. */
void velo_enable(ExtollTest *t);
/* Starts a machine with @count peers whose links are up, and does velo_enable(). */
ExtollTest *velo_start(unsigned count, const char *props);
/* Does the same with one peer, which has EXTOLL_ROOM_MIN flits of room and keeps them. */
ExtollTest *velo_start_full(const char *props);
/* Maps BAR 2, which a reset of the function clears. */
void velo_map(ExtollTest *t);
/* Gives VPID @vpid an empty mailbox of @bytes bytes. */
void velo_mailbox(ExtollTest *t, unsigned vpid, uint32_t bytes);

/* Read and write register EXTOLL_REG_@name of VPID @vpid, which has 64 bits. */
#define velo_vpid_get(t, vpid, name) \
    extoll_get64(t, EXTOLL_VELO_VPID(vpid) + EXTOLL_REG_##name)
#define velo_vpid_set(t, vpid, name, value) \
    extoll_set64(t, EXTOLL_VELO_VPID(vpid) + EXTOLL_REG_##name, value)
/* Returns field EXTOLL_VELO_COUNT_@field. */
#define velo_count(t, field) \
    RNIC_GET(EXTOLL_VELO_COUNT_##field, \
             extoll_get64(t, EXTOLL_VELO + EXTOLL_REG_VELO_COUNT))
/* Sets register PROT of VPID @vpid. */
#define velo_prot_set(t, vpid, value) \
    extoll_set32(t, EXTOLL_END_POINT(vpid) + EXTOLL_REG_PROT, value)

/* --- Sender ----------------------------------------------------------------- */

/* Returns the address of quadword @q of @m. */
uint64_t velo_address(const VeloMsg *m, unsigned q);
/* Returns the content of quadword @q of @m. */
uint64_t velo_word(const VeloMsg *m, unsigned q);
/* Stores quadwords @first to @first + @count - 1 of @m, by stores of 8 bytes. */
void velo_store_part(ExtollTest *t, const VeloMsg *m, unsigned first, unsigned count);
/* Stores all quadwords of @m. */
void velo_store(ExtollTest *t, const VeloMsg *m);
/* Stores one half of quadword @q of @m by a store of 4 bytes. */
void velo_store_half(ExtollTest *t, const VeloMsg *m, unsigned q, bool upper);
/* Commits @m by a load. */
enum extoll_txio velo_commit(ExtollTest *t, const VeloMsg *m);

/* --- Receiver --------------------------------------------------------------- */

/*
 * Takes the next slot of the mailbox of @m->vpid; waits for it.  Asserts that the slot
 * has quadwords @first to @first + @count - 1 of @m from node @node, and zeros behind
 * them.  @flags: END and SPLIT.
 */
void velo_take_slot(ExtollTest *t, const VeloMsg *m, unsigned node, unsigned first,
                    unsigned count, uint64_t flags);
/* Takes the slots of @m, which came in one packet from node @node. */
void velo_take(ExtollTest *t, const VeloMsg *m, unsigned node);
/* Asserts that the mailbox of @vpid is empty, after the device has done all its work. */
void velo_assert_empty(ExtollTest *t, unsigned vpid);

/* --- Test peer -------------------------------------------------------------- */

/*
 * Takes the next packet of the peer of @link, and decodes the message.  Asserts that the
 * packet has quadwords @first to @first + @count - 1 of @m.
 */
ExtollVeloMsg velo_peer_take(ExtollTest *t, unsigned link, const VeloMsg *m,
                             unsigned first, unsigned count);
/*
 * Makes the peer of @link send the @bytes bytes at @packet, as they are, and waits until
 * the device has done its work.
 */
void velo_peer_send_raw(ExtollTest *t, unsigned link, const void *packet,
                        unsigned bytes);
/* Makes the peer of @link send @m to the device, from its node with protection @prot. */
void velo_peer_send(ExtollTest *t, unsigned link, const VeloMsg *m, unsigned prot);
/* Returns the command frame of @m, from node @node: the whole message is one packet. */
uint64_t velo_frame(const VeloMsg *m, unsigned node, unsigned prot);

#endif /* EXTOLL_TEST_VELO_H */

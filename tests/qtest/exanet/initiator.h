/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Loads and stores of a device to the peer: the test stores as the CPU, the traffic
 * generator loads, and the test answers as the peer.
 */
#ifndef EXANET_INITIATOR_H
#define EXANET_INITIATOR_H

#include "device.h"

#define INITIATOR_TIMEOUT_NS (50 * EXANET_MS)   /* reset value of SHM_TIMEOUT */
#define INITIATOR_FOREVER    (3600000 * EXANET_MS)
/* VA of the peer's memory at offset 0 of the aperture */
#define INITIATOR_PEER_VA    0x123450000ULL

/* Returns the GVA of @offset of the aperture. */
uint64_t initiator_gva(uint64_t offset);
/*
 * Starts a device whose segment 0, from offset 0 of the aperture, is 64 KiB of the peer's
 * memory, from INITIATOR_PEER_VA on.
 */
ExanetTest *initiator_start(void);
/* Enables or disables the port of the cable, and waits for the link. */
void initiator_link_set(ExanetTest *t, bool up);

/*
 * Take the next packet, and assert that it is a store, or a load of @size bytes, at
 * @offset of the aperture.
 */
ExanetPacket initiator_take_store(ExanetTest *t, uint64_t offset);
ExanetPacket initiator_take_load(ExanetTest *t, uint64_t offset, unsigned size);
/* Answers @pkt with ACK as the peer. */
void initiator_ack(ExanetTest *t, const ExanetPacket *pkt);
/* Returns the number of earlier copies of @pkt, at most 15, from field RETRIES. */
unsigned initiator_retries(const ExanetPacket *pkt);
/* Starts one load of @size bytes at @offset. */
void initiator_load_start(ExanetTest *t, uint64_t offset, unsigned size);
/*
 * Advances virtual time in steps of @step ns until a packet waits at the peer; returns
 * the ns that have passed.
 */
int64_t initiator_step_until_packet(ExanetTest *t, int64_t step);

uint64_t initiator_timer(ExanetTest *t, unsigned n);
unsigned initiator_timers_busy(ExanetTest *t);
/* Return the number of stores under way, or of errors, in the info page of context @c. */
uint32_t initiator_pending(ExanetTest *t, unsigned c);
uint32_t initiator_errors(ExanetTest *t, unsigned c);
void initiator_assert_no_error(ExanetTest *t);
/*
 * Waits for an error, asserts that the error register has the given values, and clears
 * it.
 */
void initiator_assert_error(ExanetTest *t, uint64_t gva,
                            enum exanet_shm_class class, enum exanet_resp resp,
                            unsigned retries);

#endif /* EXANET_INITIATOR_H */

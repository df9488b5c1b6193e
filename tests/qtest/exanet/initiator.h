/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Loads and stores of the device in memory of the peer.  The test stores as the CPU does,
 * the device's traffic generator loads, and the test answers as the peer.
 */
#ifndef EXANET_INITIATOR_H
#define EXANET_INITIATOR_H

#include "device.h"

#define INITIATOR_TIMEOUT_NS (50 * EXANET_MS)   /* time-out after a reset: SHM_TIMEOUT */
#define INITIATOR_FOREVER    (3600000 * EXANET_MS)
/* VA of the peer that offset 0 of the aperture accesses */
#define INITIATOR_PEER_VA    0x123450000ULL

/* Returns the GVA that @offset of the aperture accesses. */
uint64_t initiator_gva(uint64_t offset);
/*
 * Starts a device whose segment 0, from offset 0 of the aperture, is 64 KiB of the peer's
 * memory, from INITIATOR_PEER_VA on.
 */
ExanetTest *initiator_start(void);
/*
 * Enables the port of the cable and sends a HELLO as the peer (@up), or disables the
 * port.  Waits until the link is up or down.
 */
void initiator_link_set(ExanetTest *t, bool up);

/*
 * Take and return the next packet; assert that it is a store, or a load of @size bytes,
 * at the VA that @offset of the aperture accesses.  The returned store has no payload.
 */
ExanetPacket initiator_take_store(ExanetTest *t, uint64_t offset);
ExanetPacket initiator_take_load(ExanetTest *t, uint64_t offset, unsigned size);
/* Answers @pkt as the peer with code ACK and without data. */
void initiator_ack(ExanetTest *t, const ExanetPacket *pkt);
/*
 * Returns field RETRIES of @pkt: the number of earlier copies of this packet that the
 * device has sent, at most 15.
 */
unsigned initiator_retries(const ExanetPacket *pkt);
/*
 * Starts one load of @size bytes, by the traffic generator, from the GVA that @offset of
 * the aperture accesses.
 */
void initiator_load_start(ExanetTest *t, uint64_t offset, unsigned size);
/*
 * Advances virtual time in steps of @step ns until the peer has a packet that the test
 * has not taken; returns the duration in ns.  Fails at INITIATOR_FOREVER.
 */
int64_t initiator_step_until_packet(ExanetTest *t, int64_t step);

uint64_t initiator_timer(ExanetTest *t, unsigned n);
unsigned initiator_timers_busy(ExanetTest *t);
/*
 * Return members of the info page of context @c: stores, the number of stores and RDMA
 * writes without a response (pending), or errors (errors).
 */
uint32_t initiator_pending(ExanetTest *t, unsigned c);
uint32_t initiator_errors(ExanetTest *t, unsigned c);
void initiator_assert_no_error(ExanetTest *t);
/*
 * Waits for an error; asserts that the registers SHM_ERR_INFO and SHM_ERR_GVA have the
 * given values, and that the interrupt cause and the error bit of SHM_STATUS are set.
 * Clears the error, and asserts that the cause and the bit are clear.
 */
void initiator_assert_error(ExanetTest *t, uint64_t gva,
                            enum exanet_shm_class class, enum exanet_resp resp,
                            unsigned retries);

#endif /* EXANET_INITIATOR_H */

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A device that sends one packet for each request of a test, and the words that arrive at
 * the peer on the cable.  Faults of the link may damage these words.
 */
#ifndef EXANET_SENDER_H
#define EXANET_SENDER_H

#include "device.h"

#define EXANET_SENDER_PACKETS 16

typedef struct ExanetSender {
    ExanetTest *t;
    GByteArray *dump;               /* received words that the test has not taken */
    /* bytes of each packet on a link without faults */
    uint8_t clean[EXANET_SENDER_PACKETS][EXANET_PACKET_BYTES];
} ExanetSender;

/*
 * Starts a device with properties @props as exanet_start_external(); @clean stays zero.
 */
ExanetSender *exanet_sender_start(const char *props);
/*
 * Does the same as exanet_sender_start(""), with a peer that takes at most one packet of
 * EXANET_MTU bytes in a frame.
 */
ExanetSender *exanet_sender_start_small(void);
/* Does the same as exanet_sender_start(""), and sends each packet once to set @clean. */
ExanetSender *exanet_sender_new(void);
void exanet_sender_free(ExanetSender *x);

/* Waits until @dump has @words words, and asserts that no more words arrive. */
void exanet_sender_wait(ExanetSender *x, unsigned words);
/* Sends the packets that the letters of @packets name: 'a' is packet 0, 'b' packet 1. */
void exanet_sender_play(ExanetSender *x, const char *packets);
/*
 * Waits until the packets that the letters of @packets name have arrived without damage,
 * in this order, asserts that no other words have arrived, and empties @dump.
 */
void exanet_sender_expect(ExanetSender *x, const char *packets);

#endif /* EXANET_SENDER_H */

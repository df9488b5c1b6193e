/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A device that sends single packets on request of a test, and the words that arrive at
 * the other end of the cable, with or without damage.
 */
#ifndef EXANET_SENDER_H
#define EXANET_SENDER_H

#include "device.h"

#define EXANET_SENDER_PACKETS 16

typedef struct ExanetSender {
    ExanetTest *t;
    GByteArray *dump;               /* words of packets that have arrived */
    /* the packets without faults */
    uint8_t clean[EXANET_SENDER_PACKETS][EXANET_PACKET_BYTES];
} ExanetSender;

/* Starts a device with @props; @clean is not set. */
ExanetSender *exanet_sender_start(const char *props);
/* Does the same with a peer that takes one packet in a frame. */
ExanetSender *exanet_sender_start_small(void);
/* Does the same as exanet_sender_start(""), and sends each packet once to set @clean. */
ExanetSender *exanet_sender_new(void);
void exanet_sender_free(ExanetSender *x);

/* Waits for @words words, and asserts that no more arrive. */
void exanet_sender_wait(ExanetSender *x, unsigned words);
/* Sends packets; in a string of packets 'a' is number 0. */
void exanet_sender_play(ExanetSender *x, const char *packets);
/* Asserts that exactly these packets have arrived, in this order, and takes them. */
void exanet_sender_expect(ExanetSender *x, const char *packets);

#endif /* EXANET_SENDER_H */

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The peer at the other end of the cable: a test that speaks the link protocol of
 * rnic/exanet/wire.h with a device over a socket pair, through `-netdev socket`.
 *
 * The peer answers HELLO as a NIC does, and checks header, length and sequence of each
 * frame that it receives, and the source of each frame that is no HELLO or DOWN.  The
 * test checks and answers packets.  All waits have a time limit, after which the test
 * fails.
 */
#ifndef EXANET_PEER_H
#define EXANET_PEER_H

#include "rnic/exanet/desc.h"
#include "rnic/exanet/shm.h"
#include "hw/rnic/exanet/base/wire.h"
#include "../common/wire-peer.h"

#define EXANET_PEER_WORDS 4096      /* longest frame that the peer takes */

/* A packet of the device; @pkt.payload points into @buf. */
typedef struct ExanetRxPacket {
    ExanetPacket pkt;
    unsigned words;
    uint8_t buf[EXANET_PACKET_BYTES];
} ExanetRxPacket;

typedef struct ExanetPeer {
    WirePeer wire;
    uint32_t coord;                 /* coordinates of the peer */
    uint8_t epoch;
    uint32_t max_words;             /* longest frame that the peer allows */
    uint8_t vc; /* virtual channel of the test's packets, XOFF and XON */
    bool silent;                    /* the peer does not answer HELLOs of the device */
    bool runs;                      /* HELLOs of the peer have RUNS */
    unsigned runs_taken;            /* runs of the device; @packets has their packets */
    uint32_t tx_seq;
    uint32_t rx_seq;                /* sequence number of the next frame */
    bool rx_gap; /* the peer accepts any sequence number in the next frame */
    bool heard; /* the device's last HELLO had the epoch of the peer */
    bool heard_sent;                /* the last HELLO of the peer had HEARD ... */
    uint8_t heard_epoch;            /* ... and this epoch of the device */
    struct exanet_hello hello;      /* the last HELLO of the device, in host order */
    uint32_t node;                  /* coordinates of the device */
    unsigned hellos, downs, xoffs, xons;    /* numbers of link frames received */
    uint8_t xoff;                   /* VCs that the device has stopped */
    unsigned data_frames;
    unsigned last_words;            /* words of the last DATA frame */
    GQueue packets;                 /* ExanetRxPacket that the test has not taken */
    GByteArray *dump;               /* not NULL: gets all DATA, instead of @packets */
} ExanetPeer;

/*
 * Returns a peer with coordinates @coord, to be freed.  @dgram: by a datagram socket,
 * which may lose frames.
 */
ExanetPeer *exanet_peer_new(uint32_t coord, bool dgram);
void exanet_peer_free(ExanetPeer *p);
/* Returns the value of -netdev, without id, to be freed. */
char *exanet_peer_netdev(ExanetPeer *p);
/*
 * Closes QEMU's end of the socket in the test; must be called after QEMU has inherited
 * this end.
 */
void exanet_peer_started(ExanetPeer *p);

/* Sends @len bytes as one netdev frame, valid or not. */
void exanet_peer_raw(ExanetPeer *p, const void *frame, size_t len);
/* Sends a frame of @kind with a correct header and @words words at @data. */
void exanet_peer_frame(ExanetPeer *p, unsigned kind, const void *data,
                       unsigned words);
/* Writes a correct header; returns the length of the frame with @words words. */
size_t exanet_peer_header(ExanetPeer *p, struct exanet_frame *frame,
                          unsigned kind, unsigned words);
void exanet_peer_hello(ExanetPeer *p, bool heard);
/* Sends whole packets, @words words in total, in one frame. */
void exanet_peer_words(ExanetPeer *p, const void *packets, unsigned words);
/* Encodes @pkt with @pkt->payload into @buf; returns the packet's length in words. */
unsigned exanet_peer_encode(uint8_t *buf, const ExanetPacket *pkt);
void exanet_peer_send(ExanetPeer *p, const ExanetPacket *pkt);
/*
 * Encodes a run of @packets packets at @buf, which has room.  The first packet is @pkt,
 * and @pkt->payload has the bytes of all packets.  @last: the last packet has LAST.
 * Returns the length in words.
 */
unsigned exanet_peer_encode_run(uint8_t *buf, const ExanetPacket *pkt, unsigned packets,
                                bool last);
/* Sends an ack of @pkt with code @resp, to the ack address in the packet's footer. */
void exanet_peer_ack(ExanetPeer *p, const ExanetPacket *pkt,
                     enum exanet_resp resp);

/*
 * Handles all frames that have arrived; waits at most @ms for the first frame.  Returns
 * false if no byte has arrived.
 */
bool exanet_peer_poll(ExanetPeer *p, int ms);
/* Waits for the next packet, and returns it; the caller frees it. */
ExanetRxPacket *exanet_peer_take(ExanetPeer *p);
/* Does the same as exanet_peer_take(), and asserts that the packet is of @type. */
ExanetRxPacket *exanet_peer_take_type(ExanetPeer *p, enum exanet_type type);
/*
 * Takes the next packet; asserts that it is the response to block @tid with sequence
 * @seq, and returns its code.
 */
enum exanet_resp exanet_peer_take_resp(ExanetPeer *p, unsigned tid,
                                       unsigned seq);

/* A block that the peer sends as the R5 and ExaDMA of a node do. */
typedef struct ExanetBlock {
    uint64_t va;                    /* VA of 42 bits */
    const uint8_t *data;
    unsigned len;
    uint16_t tid;                   /* wire TID: generation and index */
    uint16_t seq;
    uint16_t pdid;                  /* PDID of the destination */
    bool notify;
} ExanetBlock;

unsigned exanet_block_packets(const ExanetBlock *b);
/* Returns packet @n of the block. */
ExanetPacket exanet_block_packet(ExanetPeer *p, const ExanetBlock *b,
                                 unsigned n);
/* Sends packets @from up to, but not including, @to. */
void exanet_peer_send_part(ExanetPeer *p, const ExanetBlock *b, unsigned from,
                           unsigned to);
void exanet_peer_send_block(ExanetPeer *p, const ExanetBlock *b);
/*
 * Sends the control packet of the block: the notification goes to GVA @target, with
 * @data.
 */
void exanet_peer_send_control(ExanetPeer *p, const ExanetBlock *b,
                              uint64_t target, uint64_t data, uint64_t info);

/*
 * Returns a load or store of @class: @size bytes at @va of the device, and @data of a
 * store.  FIRST is set.  The caller sets PDID and SEQ, and SLOT and ID of the TID.
 */
ExanetPacket exanet_axi_packet(ExanetPeer *p, enum exanet_shm_class class,
                               uint64_t va, const void *data, unsigned size);
/*
 * Takes the next packet; asserts that it is a correct response to @req.  Returns the
 * response code, and stores data of a load at @data unless NULL.
 */
enum exanet_resp exanet_peer_take_axi(ExanetPeer *p, const ExanetPacket *req,
                                      void *data);
/* Answers the load or store @req of the device with @resp; @data of a load, or NULL. */
void exanet_peer_answer_axi(ExanetPeer *p, const ExanetPacket *req,
                            enum exanet_resp resp, const void *data);

/*
 * A sink of packets of the device: an image of the memory [base, base + bytes).  The
 * packet that is marked as the last one completes a block.  The sink sends no acks.
 */
typedef struct ExanetSink {
    uint64_t base;
    size_t bytes;
    uint8_t *image;
    GHashTable *blocks;             /* (tid << 14 | seq) + 1 -> VA of the next packet */
    unsigned packets;
} ExanetSink;

void exanet_sink_init(ExanetSink *sink, uint64_t base, size_t bytes);
void exanet_sink_fini(ExanetSink *sink);
/* Stores a write packet; returns true if the block is complete now. */
bool exanet_sink_store(ExanetSink *sink, const ExanetPacket *pkt);
/* Takes packets, and asserts that they are of @tid, until a block is complete. */
void exanet_sink_block(ExanetPeer *p, ExanetSink *sink, unsigned tid);

#endif /* EXANET_PEER_H */

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The other end of the cable: a test that speaks the link protocol of
 * rnic/exanet/wire.h with a device over a socket pair, through `-netdev socket`.
 *
 * The peer answers HELLO as a NIC does and checks every frame that it receives
 * (header, length, sequence, addresses).  What packets say, and which of them
 * get an answer, is the test's business.  All waiting is bounded; when the time
 * is over the test fails.
 */
#ifndef EXANET_PEER_H
#define EXANET_PEER_H

#include "rnic/exanet/desc.h"
#include "rnic/exanet/shm.h"
#include "hw/rnic/exanet/base/wire.h"
#include "../common/wire-peer.h"

#define EXANET_PEER_WORDS 4096      /* longest frame that the peer takes */

/* A packet that the device has sent; @pkt.payload points into @buf. */
typedef struct ExanetRxPacket {
    ExanetPacket pkt;
    unsigned words;
    uint8_t buf[EXANET_PACKET_BYTES];
} ExanetRxPacket;

typedef struct ExanetPeer {
    WirePeer wire;
    uint32_t coord;                 /* ours */
    uint8_t epoch;
    uint32_t max_words;             /* that our HELLO asks for */
    uint8_t vc;                     /* of our frames of packets, XOFF and XON */
    bool silent;                    /* leave HELLOs of the device unanswered */
    uint32_t tx_seq;
    uint32_t rx_seq;                /* that the next frame must have */
    bool rx_gap;                    /* ... which may have any, once */
    bool heard;                     /* the device has heard our epoch */
    bool told;                      /* our last HELLO said that we heard ... */
    uint8_t told_epoch;             /* ... this epoch of the device */
    struct exanet_hello hello;      /* the device's last one, host order */
    uint32_t node;                  /* coordinates of the device */
    unsigned hellos, downs, xoffs, xons;    /* received */
    uint8_t xoff;                   /* VCs that the device has stopped */
    unsigned data_frames;
    unsigned last_words;            /* of the last DATA frame */
    GQueue packets;                 /* ExanetRxPacket that nobody took yet */
    GByteArray *dump;               /* if set, DATA goes here, right or wrong */
} ExanetPeer;

/* @dgram: frames may be lost, but the socket keeps their borders. */
ExanetPeer *exanet_peer_new(uint32_t coord, bool dgram);
void exanet_peer_free(ExanetPeer *p);
/* Argument of -netdev, without id. */
char *exanet_peer_netdev(ExanetPeer *p);
/* To be called once QEMU has inherited its end. */
void exanet_peer_started(ExanetPeer *p);

/* Sends @len bytes as one netdev frame, whatever they are. */
void exanet_peer_raw(ExanetPeer *p, const void *frame, size_t len);
/* Sends a frame of @kind with a correct header and @words words at @data. */
void exanet_peer_frame(ExanetPeer *p, unsigned kind, const void *data,
                       unsigned words);
/* Fills a correct header; returns the frame's length with @words words. */
size_t exanet_peer_header(ExanetPeer *p, struct exanet_frame *frame,
                          unsigned kind, unsigned words);
void exanet_peer_hello(ExanetPeer *p, bool heard);
/* Sends whole packets of together @words words in one frame. */
void exanet_peer_words(ExanetPeer *p, const void *packets, unsigned words);
/* Encodes @pkt with @pkt->payload into @buf; returns its length in words. */
unsigned exanet_peer_encode(uint8_t *buf, const ExanetPacket *pkt);
void exanet_peer_send(ExanetPeer *p, const ExanetPacket *pkt);
/* Answers @pkt with @resp, at the address that its footer gives. */
void exanet_peer_ack(ExanetPeer *p, const ExanetPacket *pkt,
                     enum exanet_resp resp);

/* Handles frames that are there, waiting up to @ms for a first one. */
bool exanet_peer_poll(ExanetPeer *p, int ms);
/* The next packet; the caller frees it. */
ExanetRxPacket *exanet_peer_take(ExanetPeer *p);
/* The next packet, which must be of @type. */
ExanetRxPacket *exanet_peer_take_type(ExanetPeer *p, enum exanet_type type);
/* The next packet, which must be an ack for @tid; its response code. */
enum exanet_resp exanet_peer_take_resp(ExanetPeer *p, unsigned tid,
                                       unsigned seq);

/* A block that the peer sends, as the R5 and ExaDMA of a real node do. */
typedef struct ExanetBlock {
    uint64_t va;                    /* 42 bits */
    const uint8_t *data;
    unsigned len;
    uint16_t tid;                   /* wire TID: generation and index */
    uint16_t seq;
    uint16_t pdid;                  /* the destination's */
    bool notify;
} ExanetBlock;

unsigned exanet_block_packets(const ExanetBlock *b);
/* Packet @n of the block. */
ExanetPacket exanet_block_packet(ExanetPeer *p, const ExanetBlock *b,
                                 unsigned n);
/* Sends packets @from up to, but not including, @to. */
void exanet_peer_send_part(ExanetPeer *p, const ExanetBlock *b, unsigned from,
                           unsigned to);
void exanet_peer_send_block(ExanetPeer *p, const ExanetBlock *b);
/* Sends the control packet of the block, notifying @target with @data. */
void exanet_peer_send_control(ExanetPeer *p, const ExanetBlock *b,
                              uint64_t target, uint64_t data, uint64_t info);

/*
 * A load or store of the peer, of @class: @size bytes at @va of the device, @data of a
 * store.  FIRST is set; PDID, SEQ, and SLOT and ID of the TID are 0: the caller sets
 * them.
 */
ExanetPacket exanet_axi_packet(ExanetPeer *p, enum exanet_shm_class class,
                               uint64_t va, const void *data, unsigned size);
/*
 * The next packet, which must be a response to @req, as it has to be; its response
 * code.  Data of a load, if there are, go to @data.
 */
enum exanet_resp exanet_peer_take_axi(ExanetPeer *p, const ExanetPacket *req,
                                      void *data);
/* Answers the load or store @req of the device; @data: NULL without. */
void exanet_peer_answer_axi(ExanetPeer *p, const ExanetPacket *req,
                            enum exanet_resp resp, const void *data);

/*
 * Where packets of the device go: an image of the memory behind [base,
 * base + bytes).  Blocks are completed by byte count; the sink acks nothing.
 */
typedef struct ExanetSink {
    uint64_t base;
    size_t bytes;
    uint8_t *image;
    GHashTable *blocks;             /* tid << 14 | seq -> bytes that came */
    unsigned packets;
} ExanetSink;

void exanet_sink_init(ExanetSink *sink, uint64_t base, size_t bytes);
void exanet_sink_fini(ExanetSink *sink);
/* Stores a write packet; true when the last missing bytes of its block came. */
bool exanet_sink_store(ExanetSink *sink, const ExanetPacket *pkt);
/* Takes packets, which must be of @tid, until a block is complete. */
void exanet_sink_block(ExanetPeer *p, ExanetSink *sink, unsigned tid);

#endif /* EXANET_PEER_H */

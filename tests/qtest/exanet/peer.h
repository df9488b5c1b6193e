/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The peer at the other end of the cable: a test that speaks the link protocol of
 * rnic/exanet/wire.h with a device over a socket pair, through `-netdev socket`.
 *
 * The peer answers HELLO as a NIC does, unless @silent is set.  The peer checks header
 * and length of each frame that it receives.  It also checks the sequence number, unless
 * this is 0 or @rx_gap is set, and, after the first HELLO, the source of each frame that
 * is no HELLO or DOWN.  The test checks and answers packets.
 */
#ifndef EXANET_PEER_H
#define EXANET_PEER_H

#include "rnic/exanet/desc.h"
#include "rnic/exanet/shm.h"
#include "hw/rnic/exanet/base/wire.h"
#include "../common/wire-peer.h"

#define EXANET_PEER_WORDS 4096      /* value of @max_words in a new peer */

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
    uint32_t max_words;             /* words of the longest DATA frame to the peer */
    uint8_t vc; /* virtual channel of DATA, XOFF and XON that the peer sends */
    bool silent;                    /* the peer does not answer HELLOs of the device */
    bool runs;                      /* HELLOs of the peer have EXANET_HELLO_RUNS */
    bool no_crc;                    /* HELLOs of the peer have EXANET_HELLO_NO_CRC */
    unsigned runs_taken;            /* number of received runs, not counted with @dump */
    uint32_t tx_seq;
    uint32_t rx_seq;                /* expected sequence number of the next frame */
    bool rx_gap; /* the peer accepts any sequence number in the next frame */
    /* the last HELLO of the device had HEARD and the peer's epoch; false after DOWN */
    bool heard;
    /* the last exanet_peer_hello(): its HELLO had HEARD; the epoch of the device then */
    bool heard_sent;
    uint8_t heard_epoch;
    struct rnic_hello hello;        /* the last HELLO of the device, in host order */
    uint32_t node;                  /* coordinates in the last HELLO of the device */
    unsigned hellos, downs, xoffs, xons;    /* numbers of link frames received */
    /* bit n: the last XOFF or XON of the device for virtual channel n was XOFF */
    uint8_t xoff;
    unsigned data_frames;
    unsigned last_words;            /* number of words in the last received DATA frame */
    GQueue packets;                 /* the ExanetRxPackets that the test has not taken */
    GByteArray *dump;               /* not NULL: gets all DATA instead of @packets */
} ExanetPeer;

/*
 * Returns a peer with coordinates @coord; the caller frees the peer.  @dgram: the cable
 * is a datagram socket, which may lose frames.  Otherwise the cable is a device
 * rnic-cable or a stream socket, as machine_on_cable() says.
 */
ExanetPeer *exanet_peer_new(uint32_t coord, bool dgram);
void exanet_peer_free(ExanetPeer *p);
/*
 * Returns the value of -netdev for the peer, without id; the caller frees the text.
 * Fails if the cable is an rnic-cable.
 */
char *exanet_peer_netdev(ExanetPeer *p);
/*
 * Returns the options of QEMU for netdev @id, whose peer is @p; the caller frees the
 * text.
 */
char *exanet_peer_options(ExanetPeer *p, const char *id);
/*
 * Closes the test's copy of QEMU's end of the socket, or waits until the rnic-cable is
 * connected; must be called after QEMU has started.
 */
void exanet_peer_started(ExanetPeer *p);

/* Sends @len bytes as one netdev frame, valid or not. */
void exanet_peer_raw(ExanetPeer *p, const void *frame, size_t len);
/* Sends a frame of @kind with a correct header and the @words words at @data. */
void exanet_peer_frame(ExanetPeer *p, unsigned kind, const void *data,
                       unsigned words);
/*
 * Writes a correct header with the next sequence number to @frame; returns the length in
 * bytes of the frame with @words words.
 */
size_t exanet_peer_header(ExanetPeer *p, struct rnic_frame *frame,
                          unsigned kind, unsigned words);
void exanet_peer_hello(ExanetPeer *p, bool heard);
/* Sends the whole packets at @packets, @words words in total, in one DATA frame. */
void exanet_peer_words(ExanetPeer *p, const void *packets, unsigned words);
/* Encodes @pkt with its payload into @buf; returns the length of the packet in words. */
unsigned exanet_peer_encode(uint8_t *buf, const ExanetPacket *pkt);
void exanet_peer_send(ExanetPeer *p, const ExanetPacket *pkt);
/*
 * Encodes a run of @packets packets into @buf, which must be long enough.  The first
 * packet is @pkt, and @pkt->payload has the bytes of all packets.  @last: the last
 * packet has LAST.  Returns the length of the run in words.
 */
unsigned exanet_peer_encode_run(uint8_t *buf, const ExanetPacket *pkt, unsigned packets,
                                bool last);
/* Sends an ack of @pkt with code @resp to the node and small address in @pkt's footer. */
void exanet_peer_ack(ExanetPeer *p, const ExanetPacket *pkt,
                     enum exanet_resp resp);

/*
 * Handles all frames that have arrived; waits at most @ms for the first byte.  Returns
 * false if no byte has arrived.
 */
bool exanet_peer_poll(ExanetPeer *p, int ms);
/*
 * Waits for the next packet, and returns the packet; the caller frees the packet.  Fails
 * after WAIT_MS.
 */
ExanetRxPacket *exanet_peer_take(ExanetPeer *p);
/*
 * Does the same as exanet_peer_take(); asserts that the packet has @type, and, if this
 * type has source and epoch, those of the device's last HELLO.
 */
ExanetRxPacket *exanet_peer_take_type(ExanetPeer *p, enum exanet_type type);
/*
 * Takes the next packet; asserts that it is an ACK to the peer, for the block with @tid
 * and sequence number @seq.  Returns the response code of the ACK.
 */
enum exanet_resp exanet_peer_take_resp(ExanetPeer *p, unsigned tid,
                                       unsigned seq);

/* A block that the peer sends as the R5 and the ExaDMA of another node do. */
typedef struct ExanetBlock {
    uint64_t va;                    /* VA at the device, 42 bits */
    const uint8_t *data;
    unsigned len;
    uint16_t tid;                   /* TID of the packets: generation and index */
    uint16_t seq;
    uint16_t pdid;                  /* PDID of the destination */
    bool notify;
} ExanetBlock;

unsigned exanet_block_packets(const ExanetBlock *b);
/* Returns packet number @n of block @b, from 0 on. */
ExanetPacket exanet_block_packet(ExanetPeer *p, const ExanetBlock *b,
                                 unsigned n);
/* Sends packets @from to @to - 1 of block @b in one frame. */
void exanet_peer_send_part(ExanetPeer *p, const ExanetBlock *b, unsigned from,
                           unsigned to);
void exanet_peer_send_block(ExanetPeer *p, const ExanetBlock *b);
/*
 * Sends the control packet of block @b, with word INFO @info.  The control packet
 * requests a notification with @data at GVA @target.
 */
void exanet_peer_send_control(ExanetPeer *p, const ExanetBlock *b,
                              uint64_t target, uint64_t data, uint64_t info);

/*
 * Returns the packet of a load or store of @class: @size bytes at VA @va of the device.
 * @data: bytes of a store, which must stay valid.  FIRST is set.  The caller sets PDID,
 * SEQ, and the fields SLOT and ID of the TID.
 */
ExanetPacket exanet_axi_packet(ExanetPeer *p, enum exanet_shm_class class,
                               uint64_t va, const void *data, unsigned size);
/*
 * Takes the next packet; asserts that it is a correct response to the load or store
 * @req.  Returns the response code.  Copies the data of a load that has succeeded to
 * @data, unless @data is NULL.
 */
enum exanet_resp exanet_peer_take_axi(ExanetPeer *p, const ExanetPacket *req,
                                      void *data);
/*
 * Answers the load or store @req of the device with code @resp.  @data: the bytes of a
 * load; NULL for a store or an error.
 */
void exanet_peer_answer_axi(ExanetPeer *p, const ExanetPacket *req,
                            enum exanet_resp resp, const void *data);

/*
 * A sink of write packets of the device: an image of the memory at VAs @base to @base +
 * @bytes - 1, to which the sink copies the payloads.  A packet with LAST completes its
 * block.  The sink sends no acks.
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
/* Stores write packet @pkt; returns true if @pkt completes its block. */
bool exanet_sink_store(ExanetSink *sink, const ExanetPacket *pkt);
/*
 * Takes packets from @p until a block is complete, and stores these packets in @sink.
 * Asserts that each is a write packet with @tid.
 */
void exanet_sink_block(ExanetPeer *p, ExanetSink *sink, unsigned tid);

#endif /* EXANET_PEER_H */

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Frames that pvrdma drops before a QP receives them, each with its counter; damaged
 * frames; and the effects of valid packets on congestion and VLAN.
 */
#include "resp-device.h"
#include "../../seed.h"
#include "hw/rnic/pvrdma/transport/resp.h"
#include "hw/rnic/pvrdma/transport/rx.h"

#define RETH(at, len) .va = BED_VA + (at), .rkey = BED_KEY, .dma_len = (len)
#define RANDOM_FRAMES 20000
#define CNP_NS (50 * SCALE_US)              /* least time between two CNPs */

/* Builds a valid WRITE of @len bytes as a frame; returns the frame's length. */
static size_t good_frame(Bed *bed, uint8_t *frame, uint32_t len)
{
    RocePacket pkt = {
        .opcode = ROCE_OP_WRITE_ONLY,
        .psn = BED_PSN,
        .qpn = BED_QPN,
        .pkey = ROCE_PKEY_DEFAULT,
        .va = BED_VA,
        .rkey = BED_KEY,
        .dma_len = len,
    };
    size_t at = roce_frame_begin(frame, &bed->path, &pkt);

    for (uint32_t i = 0; i < len; i++) {
        frame[at + i] = bed_byte(BED_PSN, i);
    }
    return roce_frame_end(frame, at, len);
}

/*
 * Returns the number of frames that were dropped because of their length, IP header,
 * transport headers or ICRC.
 */
static uint64_t bad_frames(Bed *bed)
{
    return bed_counter(bed, PVRDMA_CNT_RX_BAD_LENGTH) +
           bed_counter(bed, PVRDMA_CNT_RX_BAD_IP) +
           bed_counter(bed, PVRDMA_CNT_RX_BAD_HEADER) +
           bed_counter(bed, PVRDMA_CNT_RX_BAD_ICRC);
}

static void expect_dropped(Bed *bed, enum pvrdma_counter counter, uint64_t count)
{
    g_assert_cmpuint(bed_counter(bed, counter), ==, count);
    g_assert_cmpuint(bed->activations, ==, 0);
    g_assert_cmpuint(bed->responses, ==, 0);
    g_assert_cmpuint(bed->datagrams, ==, 0);
    g_assert_cmphex(bed->qp.resp.epsn, ==, BED_PSN);
}

/* --- Destination ---------------------------------------------------------- */
/* A12, A16: QPs are found by all bits of the QPN, and belong to a partition. */
static void test_number_and_pkey(void)
{
    Bed *bed = bed_new();

    for (unsigned bit = 0; bit < 24; bit++) {
        PEER(bed, WRITE_ONLY, BED_PSN, RETH(0, 1), .payload_len = 1,
             .qpn = BED_QPN ^ 1 << bit);
        expect_dropped(bed, PVRDMA_CNT_RX_NO_QP, bit + 1);
    }
    for (unsigned bit = 0; bit < 15; bit++) {
        PEER(bed, WRITE_ONLY, BED_PSN, RETH(0, 1), .payload_len = 1,
             .pkey = ROCE_PKEY_DEFAULT ^ 1 << bit);
        expect_dropped(bed, PVRDMA_CNT_RX_BAD_PKEY, bit + 1);
        g_assert_cmpuint(bed->s.pkey_violations, ==, bit + 1);
    }
    /* a limited member of the partition may send to a full member */
    PEER(bed, WRITE_ONLY, BED_PSN, RETH(0, 1), .payload_len = 1,
         .pkey = ROCE_PKEY_DEFAULT & 0x7fff);
    bed_expect_memory(bed, BED_VA, BED_PSN, 0, 1);
    bed_free(bed);
}

static void test_type(void)
{
    static const struct {
        uint8_t type;
        enum roce_opcode opcode;
        bool good;
    } rows[] = {
        { PVRDMA_QPT_RC, ROCE_OP_ACK, true },
        { PVRDMA_QPT_RC, ROCE_OP_CNP, true },
        { PVRDMA_QPT_RC, ROCE_OP_UD_SEND_ONLY },
        { PVRDMA_QPT_UD, ROCE_OP_UD_SEND_ONLY, true },
        { PVRDMA_QPT_UD, ROCE_OP_UD_SEND_ONLY_IMM, true },
        { PVRDMA_QPT_GSI, ROCE_OP_UD_SEND_ONLY, true },
        { PVRDMA_QPT_UD, ROCE_OP_ACK },
        { PVRDMA_QPT_UD, ROCE_OP_SEND_ONLY },
        { PVRDMA_QPT_GSI, ROCE_OP_WRITE_ONLY },
        { PVRDMA_QPT_UD, ROCE_OP_CNP },
    };

    for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
        Bed *bed = bed_new();
        bool cnp = rows[i].opcode == ROCE_OP_CNP;

        bed->qp.type = rows[i].type;
        bed_peer(bed, &(RocePacket) {
            .opcode = rows[i].opcode, .psn = BED_PSN, .qpn = BED_QPN,
            .pkey = ROCE_PKEY_DEFAULT, .payload_len = cnp ? ROCE_CNP_BYTES : 0,
        });
        if (rows[i].good) {
            g_assert_cmpuint(bed_counter(bed, PVRDMA_CNT_RX_NO_QP), ==, 0);
            g_assert_cmpuint(bed->responses + bed->datagrams +
                             bed_counter(bed, PVRDMA_CNT_RX_CNP), ==, 1);
        } else {
            expect_dropped(bed, PVRDMA_CNT_RX_NO_QP, 1);
        }
        bed_free(bed);
    }
}

static void test_state(void)
{
    for (unsigned state = PVRDMA_QPS_RESET; state <= PVRDMA_QPS_ERR; state++) {
        bool receives = state >= PVRDMA_QPS_RTR && state < PVRDMA_QPS_ERR;
        bool sends = receives && state > PVRDMA_QPS_RTR;
        Bed *bed = bed_new();

        bed->qp.state = state;
        PEER(bed, ACK, BED_PSN);
        g_assert_cmpuint(bed->responses, ==, sends);
        g_assert_cmpuint(bed_counter(bed, PVRDMA_CNT_RX_QP_STATE), ==, !sends);
        PEER(bed, WRITE_ONLY, BED_PSN, RETH(0, 1), .payload_len = 1);
        g_assert_cmpuint(bed->qp.resp.msn, ==, receives);
        g_assert_cmpuint(bed_counter(bed, PVRDMA_CNT_RX_QP_STATE), ==,
                         !sends + !receives);
        bed_free(bed);
    }
}

/* The guest gets one event for the first packet in state RTR, and none in state RTS. */
static void test_established(void)
{
    Bed *bed = bed_new();

    PEER(bed, WRITE_ONLY, BED_PSN, RETH(0, 1), .payload_len = 1);
    g_assert_cmpuint(bed->events, ==, 0);
    pvrdma_resp_init(&bed->qp);
    bed->qp.state = PVRDMA_QPS_RTR;
    PEER(bed, WRITE_ONLY, BED_PSN, RETH(0, 1), .payload_len = 1);
    PEER(bed, WRITE_ONLY, BED_PSN + 1, RETH(0, 1), .payload_len = 1);
    g_assert_cmpuint(bed->events, ==, 1);
    g_assert_cmpuint(bed->event, ==, PVRDMA_EVENT_COMM_EST);
    bed_free(bed);
}

static void test_path(void)
{
    Bed *bed = bed_new();
    RocePacket pkt = {
        .opcode = ROCE_OP_WRITE_ONLY, .psn = BED_PSN, .qpn = BED_QPN,
        .pkey = ROCE_PKEY_DEFAULT,
    };
    RocePath path = bed->path;
    unsigned dropped = 0;

    for (unsigned byte = 12; byte < 16; byte++) {       /* the IPv4 address in the GID */
        path.sgid[byte] ^= 1;
        bed_frame(bed, &path, &pkt);
        expect_dropped(bed, PVRDMA_CNT_RX_BAD_PATH, ++dropped);
        path.sgid[byte] ^= 1;
        path.dgid[byte] ^= 1;
        bed_frame(bed, &path, &pkt);
        expect_dropped(bed, PVRDMA_CNT_RX_BAD_PATH, ++dropped);
        path.dgid[byte] ^= 1;
    }
    /* other networks with the same GIDs */
    path.network = ROCE_NETWORK_IPV6;
    bed_frame(bed, &path, &pkt);
    expect_dropped(bed, PVRDMA_CNT_RX_BAD_PATH, ++dropped);
    path.network = ROCE_NETWORK_V1;
    bed_frame(bed, &path, &pkt);
    expect_dropped(bed, PVRDMA_CNT_RX_BAD_PATH, ++dropped);
    /* datagrams may have any source, but must have a GID of the device as destination */
    bed->qp.type = PVRDMA_QPT_UD;
    pkt.opcode = ROCE_OP_UD_SEND_ONLY;
    path = bed->path;
    path.dgid[15] ^= 1;
    bed_frame(bed, &path, &pkt);
    expect_dropped(bed, PVRDMA_CNT_RX_BAD_PATH, ++dropped);
    path.dgid[15] ^= 1;
    path.sgid[15] ^= 1;
    bed_frame(bed, &path, &pkt);
    g_assert_cmpuint(bed->datagrams, ==, 1);
    bed_free(bed);
}

/* A device has one version of RoCE, and drops datagrams of the other version. */
static void test_datagram_version(void)
{
    static const uint8_t networks[] = {
        ROCE_NETWORK_V1, ROCE_NETWORK_IPV4, ROCE_NETWORK_IPV6,
    };
    static const uint8_t types[] = { PVRDMA_QPT_UD, PVRDMA_QPT_GSI };

    for (unsigned i = 0; i < 2 * ARRAY_SIZE(types) * ARRAY_SIZE(networks); i++) {
        Bed *bed = bed_new();
        RocePath path = bed->path;
        bool v1 = i & 1, good;

        path.network = networks[i / 2 % ARRAY_SIZE(networks)];
        good = v1 == (path.network == ROCE_NETWORK_V1);
        bed->s.roce_v1 = v1;
        bed->qp.type = types[i / 2 / ARRAY_SIZE(networks)];
        bed_frame(bed, &path, &(RocePacket) {
            .opcode = ROCE_OP_UD_SEND_ONLY, .qpn = BED_QPN,
            .pkey = ROCE_PKEY_DEFAULT,
        });
        g_assert_cmpuint(bed->datagrams, ==, good);
        g_assert_cmpuint(bed_counter(bed, PVRDMA_CNT_RX_BAD_PATH), ==, !good);
        bed_free(bed);
    }
}

/* --- Broken frames -------------------------------------------------------- */
static void test_truncated(void)
{
    Bed *bed = bed_new();
    uint8_t frame[ROCE_FRAME_MAX];
    size_t len = good_frame(bed, frame, 61);

    for (size_t cut = 0; cut < len; cut++) {
        g_autofree uint8_t *exact = g_memdup2(frame, cut);

        pvrdma_rx(&bed->s, exact, cut);
        g_assert_cmphex(bed->qp.resp.epsn, ==, BED_PSN);
    }
    g_assert_cmpuint(bed_counter(bed, PVRDMA_CNT_RX_FRAMES), ==, len);
    g_assert_cmpuint(bed_counter(bed, PVRDMA_CNT_RX_BYTES), ==, len * (len - 1) / 2);
    g_assert_cmpuint(bed_counter(bed, PVRDMA_CNT_RX_BAD_LENGTH), >, 0);
    pvrdma_rx(&bed->s, frame, len);
    bed_expect_memory(bed, BED_VA, BED_PSN, 0, 61);
    bed_free(bed);
}

/*
 * A11: each bit of the IP, UDP and RoCE headers and of the payload is inverted.  Fields
 * that a router may change are skipped, because the ICRC does not cover them.
 */
static void test_flipped(void)
{
    Bed *bed = bed_new();
    uint8_t frame[ROCE_FRAME_MAX];
    size_t len = good_frame(bed, frame, 61);
    size_t ip = roce_frame_network_at(frame);
    size_t udp = ip + 20, bth = udp + 8;

    for (size_t bit = 8 * ip; bit < 8 * len; bit++) {
        size_t byte = bit / 8;
        uint64_t bad = bad_frames(bed);
        bool variable = byte == udp + 6 || byte == udp + 7 ||   /* checksum */
                        byte == bth + 4;                        /* congestion */
        bool other = (byte == ip && bit % 8 < 4) ||     /* header length */
                     (byte == ip + 6 && bit % 8 < 5) || /* fragment offset */
                     byte == ip + 7 || byte == ip + 9 || byte == udp + 2 ||
                     byte == udp + 3;

        if (variable) {
            continue;
        }
        frame[byte] ^= 1 << bit % 8;
        pvrdma_rx(&bed->s, frame, len);
        frame[byte] ^= 1 << bit % 8;
        g_assert_cmphex(bed->qp.resp.epsn, ==, BED_PSN);
        if (!other) {                   /* the frame may not be RoCE any more */
            g_assert_cmpuint(bad_frames(bed), ==, bad + 1);
        }
    }
    g_assert_cmpuint(bed_counter(bed, PVRDMA_CNT_RX_BAD_ICRC), >, 8 * 61);
    g_assert_cmpuint(bed_counter(bed, PVRDMA_CNT_RX_BAD_IP), >, 0);
    g_assert_cmpuint(bed->activations, ==, 0);
    pvrdma_rx(&bed->s, frame, len);
    bed_expect_memory(bed, BED_VA, BED_PSN, 0, 61);
    bed_free(bed);
}

/* Versions and opcodes that do not exist, in frames with a valid ICRC. */
static void test_header(void)
{
    Bed *bed = bed_new();
    uint8_t frame[ROCE_FRAME_MAX];
    size_t len = good_frame(bed, frame, 60);
    uint8_t *bth = frame + roce_frame_network_at(frame) + 20 + 8;
    unsigned dropped = 0;

    for (unsigned version = 1; version < 16; version++) {
        bth[1] = version;
        stl_le_p(frame + len - ROCE_ICRC_BYTES, roce_icrc(frame, len));
        pvrdma_rx(&bed->s, frame, len);
        expect_dropped(bed, PVRDMA_CNT_RX_BAD_HEADER, ++dropped);
    }
    bth[1] = 0;
    for (unsigned opcode = 0; opcode < 256; opcode++) {
        if (!roce_opcode_info(opcode)->name) {
            bth[0] = opcode;
            stl_le_p(frame + len - ROCE_ICRC_BYTES, roce_icrc(frame, len));
            pvrdma_rx(&bed->s, frame, len);
            expect_dropped(bed, PVRDMA_CNT_RX_BAD_HEADER, ++dropped);
        }
    }
    g_assert_cmpuint(dropped, >, 200);
    bed_free(bed);
}

/* Random bytes, alone or behind valid headers, are always dropped. */
static void test_random(void)
{
    Bed *bed = bed_new();
    uint8_t frame[ROCE_FRAME_MAX];
    GRand *rand = g_rand_new_with_seed(random_seed(4791));
    size_t good = good_frame(bed, frame, 61);

    for (unsigned i = 0; i < RANDOM_FRAMES; i++) {
        size_t len = g_rand_int_range(rand, 0, sizeof(frame) + 1);
        size_t keep = g_rand_int_range(rand, 0, good - ROCE_ICRC_BYTES);

        good_frame(bed, frame, 61);
        for (size_t at = keep; at < len; at++) {
            frame[at] = g_rand_int(rand);
        }
        if (len > good && i % 2) {
            len = good;
        }
        pvrdma_rx(&bed->s, frame, len);
        g_assert_cmphex(bed->qp.resp.epsn, ==, BED_PSN);
    }
    g_assert_cmpuint(bed_counter(bed, PVRDMA_CNT_RX_FRAMES), ==, RANDOM_FRAMES);
    g_rand_free(rand);
    bed_free(bed);
}

/* --- Congestion and VLAN -------------------------------------------------- */
static void test_congestion(void)
{
    Bed *bed = bed_new();
    BedSent *cnp;

    bed->path.traffic_class = ROCE_ECN_ECT0;
    PEER(bed, WRITE_ONLY, BED_PSN, RETH(0, 1), .payload_len = 1);
    bed->path.traffic_class = ROCE_ECN_CE;
    PEER(bed, WRITE_ONLY, BED_PSN + 1, RETH(0, 1), .payload_len = 1);
    g_assert_cmpuint(bed_counter(bed, PVRDMA_CNT_RX_CE), ==, 1);
    /* without the option dcqcn the device sends no CNP */
    bed_expect_quiet(bed);
    bed->s.dcqcn = true;
    PEER(bed, WRITE_ONLY, BED_PSN + 2, RETH(0, 1), .payload_len = 1,
         .ack_req = true);
    PEER(bed, WRITE_ONLY, BED_PSN + 3, RETH(0, 1), .payload_len = 1);
    bed_run(bed);
    cnp = bed_sent(bed);
    g_assert_cmphex(cnp->pkt.opcode, ==, ROCE_OP_CNP);
    g_assert_true(cnp->pkt.becn);
    g_assert_cmpuint(cnp->pkt.payload_len, ==, ROCE_CNP_BYTES);
    g_free(cnp);
    EXPECT_ACK(bed, BED_PSN + 3, 4);
    bed->now += CNP_NS - SCALE_US;      /* too early for the next CNP */
    PEER(bed, WRITE_ONLY, BED_PSN + 4, RETH(0, 1), .payload_len = 1);
    bed_expect_quiet(bed);
    bed->now += SCALE_US;
    PEER(bed, WRITE_ONLY, BED_PSN + 5, RETH(0, 1), .payload_len = 1);
    bed_run(bed);
    g_free(bed_sent(bed));
    g_assert_cmpuint(bed_counter(bed, PVRDMA_CNT_TX_CNP), ==, 2);
    bed->now += CNP_NS;
    PEER(bed, CNP, 0, .payload_len = ROCE_CNP_BYTES, .becn = true);
    g_assert_cmpuint(bed_counter(bed, PVRDMA_CNT_RX_CE), ==, 6);
    /*
     * the device sends no CNP for a CNP, because two devices would then send them without
     * end
     */
    bed_expect_quiet(bed);
    bed_free(bed);
}

static void test_vlan(void)
{
    Bed *bed = bed_new();
    BedSent *sent;

    bed->path.vlan = 0x6123;
    PEER(bed, READ_REQUEST, BED_PSN, RETH(0, 1));
    bed_run(bed);
    sent = bed_sent(bed);
    g_assert_cmphex(sent->path.vlan, ==, 0x6123);
    g_free(sent);
    /* a GID with a VLAN keeps this VLAN */
    bed->s.gid[0].vlan = 7;
    bed->qp.path.vlan = 7;
    PEER(bed, READ_REQUEST, BED_PSN + 1, RETH(0, 1));
    bed_run(bed);
    sent = bed_sent(bed);
    g_assert_cmphex(sent->path.vlan, ==, 7);
    g_free(sent);
    bed_free(bed);
}

/* A sender that knows addresses and QPN, but not the PSN, cannot change the VLAN. */
static void test_vlan_moved(void)
{
    static const uint8_t opcodes[] = {
        ROCE_OP_WRITE_ONLY, ROCE_OP_ACK, ROCE_OP_READ_RESP_ONLY, ROCE_OP_CNP,
    };
    Bed *bed = bed_new();

    PEER(bed, WRITE_ONLY, BED_PSN, RETH(0, 1), .payload_len = 1);
    bed->path.vlan = 0x6123;
    for (unsigned i = 0; i < ARRAY_SIZE(opcodes); i++) {
        for (int psn = -1; psn <= 2; psn++) {
            if (psn == 1 && opcodes[i] == ROCE_OP_WRITE_ONLY) {
                continue;               /* the expected PSN */
            }
            bed_peer(bed, &(RocePacket) {
                .opcode = opcodes[i], .psn = (BED_PSN + psn) & ROCE_PSN_MASK,
                .qpn = BED_QPN, .pkey = ROCE_PKEY_DEFAULT, RETH(0, 1),
                .payload_len = opcodes[i] == ROCE_OP_CNP ? ROCE_CNP_BYTES :
                               opcodes[i] != ROCE_OP_ACK,
                .becn = opcodes[i] == ROCE_OP_CNP,
            });
            g_assert_cmphex(bed->qp.path.vlan, ==, ROCE_NO_VLAN);
        }
    }
    g_assert_cmpuint(bed->responses, ==, 8);
    PEER(bed, WRITE_ONLY, BED_PSN + 1, RETH(0, 1), .payload_len = 1);
    g_assert_cmphex(bed->qp.path.vlan, ==, 0x6123);
    bed_run(bed);
    g_queue_clear_full(&bed->sent, g_free);
    bed_free(bed);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/pvrdma/rx/number-and-pkey-a12-a16", test_number_and_pkey);
    g_test_add_func("/pvrdma/rx/type", test_type);
    g_test_add_func("/pvrdma/rx/state", test_state);
    g_test_add_func("/pvrdma/rx/established", test_established);
    g_test_add_func("/pvrdma/rx/path", test_path);
    g_test_add_func("/pvrdma/rx/datagram-version", test_datagram_version);
    g_test_add_func("/pvrdma/rx/truncated", test_truncated);
    g_test_add_func("/pvrdma/rx/flipped-a11", test_flipped);
    g_test_add_func("/pvrdma/rx/header", test_header);
    g_test_add_func("/pvrdma/rx/random", test_random);
    g_test_add_func("/pvrdma/rx/congestion", test_congestion);
    g_test_add_func("/pvrdma/rx/vlan", test_vlan);
    g_test_add_func("/pvrdma/rx/vlan-moved", test_vlan_moved);
    return g_test_run();
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Frames that the RoCE codec refuses, each for its reason, and frames that are not RoCE.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "net/eth.h"
#include "roce-frames.h"

static void test_not_roce(void)
{
    const FrameVector *v = frame_vector("document-v3");
    uint8_t frame[sizeof(v->bytes)];

    memcpy(frame, v->bytes, v->len);
    stw_be_p(frame + 12, ETH_P_ARP);
    g_assert_cmpint(frame_parse(frame, v->len), ==, ROCE_NOT_ROCE);
    memcpy(frame, v->bytes, v->len);
    frame[14 + 9] = 6;          /* protocol TCP */
    g_assert_cmpint(frame_parse(frame, v->len), ==, ROCE_NOT_ROCE);
    memcpy(frame, v->bytes, v->len);
    stw_be_p(frame + 14 + IPV4_HLEN + 2, ROCE_UDP_PORT + 1);
    g_assert_cmpint(frame_parse(frame, v->len), ==, ROCE_NOT_ROCE);
    /* the RoCE port is the source port, not the destination port */
    stw_be_p(frame + 14 + IPV4_HLEN, ROCE_UDP_PORT);
    g_assert_cmpint(frame_parse(frame, v->len), ==, ROCE_NOT_ROCE);
    /* a fragment behind the first has no UDP port */
    for (unsigned off = 1; off < IP_MF; off <<= 1) {
        memcpy(frame, v->bytes, v->len);
        stw_be_p(frame + 14 + offsetof(struct ip_header, ip_off), off | IP_MF);
        g_assert_cmpint(frame_parse(frame, v->len), ==, ROCE_NOT_ROCE);
        stw_be_p(frame + 14 + offsetof(struct ip_header, ip_off), off);
        g_assert_cmpint(frame_parse(frame, v->len), ==, ROCE_NOT_ROCE);
    }
}

static void test_bad_ip(void)
{
    const FrameVector *v = frame_vector("document-v3");
    uint8_t frame[sizeof(v->bytes) + 4] = { };
    uint8_t *ip = frame + 14;

    /* the first fragment is refused */
    memcpy(frame, v->bytes, v->len);
    stw_be_p(ip + offsetof(struct ip_header, ip_off), IP_MF);
    frame_seal(frame, v->len);
    g_assert_cmpint(frame_parse(frame, v->len), ==, ROCE_BAD_IP);
    /* a frame with "don't fragment" is valid */
    memcpy(frame, v->bytes, v->len);
    stw_be_p(ip + offsetof(struct ip_header, ip_off), IP_DF);
    frame_seal(frame, v->len);
    g_assert_cmpint(frame_parse(frame, v->len), ==, ROCE_OK);
    /* a header with options is refused */
    memcpy(frame, v->bytes, v->len);
    memmove(ip + IPV4_HLEN + 4, ip + IPV4_HLEN, v->len - 14 - IPV4_HLEN);
    memset(ip + IPV4_HLEN, 1, 4);
    ip[0] = 0x46;
    stw_be_p(ip + 2, lduw_be_p(ip + 2) + 4);
    frame_seal(frame, v->len + 4);
    g_assert_true(roce_frame_is(frame, v->len + 4));
    g_assert_cmpint(frame_parse(frame, v->len + 4), ==, ROCE_BAD_IP);
    /* a wrong checksum is refused */
    memcpy(frame, v->bytes, v->len);
    ip[offsetof(struct ip_header, ip_ttl)]--;
    g_assert_cmpint(frame_parse(frame, v->len), ==, ROCE_BAD_IP);
    /* a wrong version is refused */
    memcpy(frame, v->bytes, v->len);
    ip[0] = 0x65;
    frame_seal(frame, v->len);
    g_assert_cmpint(frame_parse(frame, v->len), ==, ROCE_BAD_IP);
}

static void test_bad_ipv6(void)
{
    const FrameVector *v = frame_vector("ipv6-size-4");
    const FrameVector *grh = frame_vector("v1-size-4");
    uint8_t frame[sizeof(v->bytes)];

    memcpy(frame, v->bytes, v->len);
    frame[14] ^= 0x10;
    frame_seal(frame, v->len);
    g_assert_cmpint(frame_parse(frame, v->len), ==, ROCE_BAD_IP);
    memcpy(frame, grh->bytes, grh->len);
    frame[14 + 6] = 59;         /* protocol "no next header" */
    frame_seal(frame, grh->len);
    g_assert_cmpint(frame_parse(frame, grh->len), ==, ROCE_BAD_IP);
}

static void test_bad_header(void)
{
    const FrameVector *v = frame_vector("document-v3");
    uint8_t frame[sizeof(v->bytes)];
    size_t bth = frame_bth_at(v);

    for (unsigned version = 1; version < 16; version++) {
        memcpy(frame, v->bytes, v->len);
        frame[bth + 1] |= version;
        frame_seal(frame, v->len);
        g_assert_cmpint(frame_parse(frame, v->len), ==, ROCE_BAD_VERSION);
    }
    for (unsigned op = 0; op < 256; op++) {
        memcpy(frame, v->bytes, v->len);
        frame[bth] = op;
        frame_seal(frame, v->len);
        if (!roce_opcode_info(op)->name) {
            g_assert_cmpint(frame_parse(frame, v->len), ==, ROCE_BAD_OPCODE);
        } else if (!(roce_opcode_info(op)->flags & ROCE_HAS_PAYLOAD)) {
            g_assert_cmpint(frame_parse(frame, v->len), ==, ROCE_BAD_LENGTH);
        } else {
            g_assert_cmpint(frame_parse(frame, v->len), ==, ROCE_OK);
        }
    }
}

/* Inverts a bit of the IP length, of the UDP length, or of both. */
static void test_bad_length(gconstpointer opaque)
{
    const FrameVector *v = opaque;
    bool ipv4 = v->path.network == ROCE_NETWORK_IPV4;
    uint8_t frame[sizeof(v->bytes) + 64] = { };
    uint8_t *ip_len = frame + (ipv4 ? 14 + 2 : 14 + 4);
    uint8_t *udp_len = frame + frame_bth_at(v) - 4;

    for (unsigned bit = 0; bit < 16; bit++) {
        for (unsigned which = 1; which < 4; which++) {
            uint16_t len;

            memcpy(frame, v->bytes, v->len);
            len = lduw_be_p(ip_len) ^ 1 << bit;
            stw_be_p(ip_len, which & 1 ? len : lduw_be_p(ip_len));
            stw_be_p(udp_len, which & 2 ? lduw_be_p(udp_len) ^ 1 << bit :
                                          lduw_be_p(udp_len));
            frame_seal(frame, v->len);
            g_assert_cmpint(frame_parse(frame, v->len), !=, ROCE_OK);
            g_assert_cmpint(frame_parse(frame, sizeof(frame)), !=, ROCE_OK);
        }
    }
}

/* The padding exceeds the payload; the payload is no multiple of four. */
static void test_bad_pad(void)
{
    const FrameVector *empty = frame_vector("document-v4");
    const FrameVector *v = frame_vector("document-v3");
    uint8_t frame[sizeof(v->bytes)];

    for (unsigned pad = 1; pad < 4; pad++) {
        memcpy(frame, empty->bytes, empty->len);
        frame[frame_bth_at(empty) + 1] |= pad << 4;
        frame_seal(frame, empty->len);
        g_assert_cmpint(frame_parse(frame, empty->len), ==, ROCE_BAD_LENGTH);
    }
    for (unsigned less = 1; less < 4; less++) {
        uint8_t *ip = frame + 14;

        memcpy(frame, v->bytes, v->len);
        stw_be_p(ip + 2, lduw_be_p(ip + 2) - less);
        stw_be_p(ip + IPV4_HLEN + 4, lduw_be_p(ip + IPV4_HLEN + 4) - less);
        frame_seal(frame, v->len - less);
        g_assert_cmpint(frame_parse(frame, v->len - less), ==, ROCE_BAD_LENGTH);
    }
}

/* The payload exceeds the largest MTU. */
static void test_too_long(void)
{
    const FrameVector *v = frame_vector("only-solicited");
    g_autofree uint8_t *frame = g_malloc0(2 * ROCE_FRAME_MAX);
    RocePacket pkt = v->pkt;

    pkt.payload_len = ROCE_MTU_MAX;
    frame_assert_parsed(frame, frame_build(frame, &v->path, &pkt), &v->path, &pkt);
    for (unsigned more = 1; more < 100; more++) {
        pkt.payload_len = ROCE_MTU_MAX + more;
        g_assert_cmpint(frame_parse(frame, frame_build(frame, &v->path, &pkt)), ==,
                        ROCE_BAD_LENGTH);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    frame_vectors_init();
    g_test_add_func("/pvrdma/roce/refuse-not-roce", test_not_roce);
    g_test_add_func("/pvrdma/roce/refuse-bad-ip", test_bad_ip);
    g_test_add_func("/pvrdma/roce/refuse-bad-ipv6", test_bad_ipv6);
    g_test_add_func("/pvrdma/roce/refuse-bad-header", test_bad_header);
    g_test_add_func("/pvrdma/roce/refuse-bad-pad", test_bad_pad);
    g_test_add_func("/pvrdma/roce/refuse-too-long", test_too_long);
    g_test_add_data_func("/pvrdma/roce/refuse-bad-length-ipv4",
                         frame_vector("ipv4-size-4"), test_bad_length);
    g_test_add_data_func("/pvrdma/roce/refuse-bad-length-ipv6",
                         frame_vector("ipv6-size-4"), test_bad_length);
    return g_test_run();
}

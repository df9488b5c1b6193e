/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Flits, packets and routes of a hostile peer.  The target gives some flits a valid CRC,
 * because the fuzzer cannot guess a CRC.  Bytes that a decoder accepts are those that the
 * encoder makes.
 */
#include "../fuzz.h"
#include <libdeflate.h>
#include "hw/rnic/extoll/base/flit.h"
#include "hw/rnic/extoll/base/packet.h"
#include "hw/rnic/extoll/base/route.h"

static void flit(FuzzInput *in)
{
    unsigned len = fuzz_u8(in) % (EXTOLL_FLIT_MAX + 9);
    bool mend = fuzz_u8(in) & 1;
    g_autofree uint8_t *buf = g_malloc0(MAX(len, 1));
    ExtollFlit got;

    fuzz_bytes(in, buf, len);
    if (mend && len >= EXTOLL_FLIT_HEADER && buf[3] <= len - EXTOLL_FLIT_HEADER) {
        uint32_t crc = libdeflate_crc32(0, buf, EXTOLL_FLIT_CRC_BYTES);

        stl_le_p(buf + 4, libdeflate_crc32(crc, buf + EXTOLL_FLIT_HEADER, buf[3]));
    }
    if (extoll_flit_decode(buf, len, &got) == EXTOLL_FLIT_OK) {
        uint8_t again[EXTOLL_FLIT_MAX];

        g_assert_cmpuint(EXTOLL_FLIT_HEADER + got.bytes, <=, len);
        memcpy(again + EXTOLL_FLIT_HEADER, buf + EXTOLL_FLIT_HEADER, got.bytes);
        g_assert_cmpuint(extoll_flit_encode(again, &got), ==,
                         EXTOLL_FLIT_HEADER + got.bytes);
        g_assert_cmpmem(again, EXTOLL_FLIT_HEADER + got.bytes,
                        buf, EXTOLL_FLIT_HEADER + got.bytes);
    }
}

static void rma(const uint8_t *buf, unsigned len)
{
    g_autofree uint8_t *again = g_malloc0(EXTOLL_PACKET_MAX);
    ExtollPacket pkt;
    unsigned bytes;

    if (extoll_packet_decode(buf, len, &pkt) != EXTOLL_PACKET_OK) {
        return;
    }
    bytes = extoll_packet_payload_bytes(&pkt);
    g_assert_true(bytes <= 4096 && 32 + bytes <= len);
    memcpy(extoll_packet_payload(again), buf + 32, bytes);
    g_assert_cmpuint(extoll_packet_encode(again, ldq_le_p(buf), &pkt), ==, len);
    /* the decoder ignores the padding */
    g_assert_cmpmem(again, 32 + bytes, buf, 32 + bytes);
}

static void message(const uint8_t *buf, unsigned len)
{
    uint8_t again[EXTOLL_FLIT_DATA];
    ExtollVeloMsg msg;

    if (extoll_packet_message_decode(buf, len, &msg) != EXTOLL_PACKET_OK) {
        return;
    }
    g_assert_true(msg.quadwords <= 8 && msg.count >= 1);
    g_assert_true(msg.first + msg.count <= msg.quadwords);
    g_assert_cmpuint(extoll_packet_message_encode(again, ldq_le_p(buf), &msg), ==, len);
    g_assert_cmpmem(again, len, buf, len);
}

static void packet(FuzzInput *in)
{
    unsigned len = fuzz_u16(in) % (EXTOLL_PACKET_MAX + 9), measured;
    bool fit = fuzz_u8(in) & 1;
    g_autofree uint8_t *buf = g_malloc0(EXTOLL_PACKET_MAX + 9);
    g_autofree uint8_t *exact = NULL;
    ExtollPacketStatus status;

    fuzz_bytes(in, buf, MIN(len, in->left));
    measured = extoll_packet_measure(buf, MIN(len, 32), &status);
    g_assert_cmpint(measured == 0, ==, status != EXTOLL_PACKET_OK);
    g_assert_cmpuint(measured, <=, EXTOLL_PACKET_MAX);
    if (fit && measured) {
        len = measured;
    }
    exact = g_memdup2(buf, MAX(len, 1));
    rma(exact, len);
    message(exact, len);
}

static void route(FuzzInput *in)
{
    uint64_t string = fuzz_u64(in);
    unsigned steps = 0, output, vc;

    while (extoll_route_step(&string, &output, &vc) == EXTOLL_ROUTE_LINK) {
        g_assert_true(output < EXTOLL_LINKS && vc < EXTOLL_VCS);
        steps++;
    }
    g_assert_cmpuint(steps, <=, 4 * EXTOLL_VCS * EXTOLL_ROUTE_HOPS_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static void (*const parts[])(FuzzInput *) = { flit, packet, route };
    FuzzInput in = { data, size };

    while (in.left) {
        parts[fuzz_u8(&in) % ARRAY_SIZE(parts)](&in);
    }
    return 0;
}

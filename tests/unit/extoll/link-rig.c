/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two ends of a link; see link-rig.h. */
#include "qemu/osdep.h"
#include "hw/rnic/extoll/base/packet.h"
#include "link-rig.h"

LinkRig rig;

void rig_start(uint32_t room)
{
    memset(&rig, 0, sizeof(rig));
    for (unsigned e = 0; e < 2; e++) {
        extoll_link_init(&rig.end[e], room);
    }
}

void rig_end(void)
{
    for (unsigned e = 0; e < 2; e++) {
        extoll_link_fini(&rig.end[e]);
    }
}

static bool chance(double p)
{
    return p >= 1 || (p > 0 && g_rand_double(rig.rand) < p);
}

static void note(ExtollLinkStatus status)
{
    rig.status = MAX(rig.status, status);
}

/* Carries a word to end @e, or not. */
static void carry(unsigned e, uint8_t *buf, unsigned words)
{
    ExtollLink *l = &rig.end[e];

    if (rig.lose_next) {
        rig.lose_next--;
        return;
    }
    if (chance(rig.lose)) {
        return;
    }
    if (chance(rig.damage)) {
        buf[g_rand_int_range(rig.rand, 4, 16)] ^= 1u << g_rand_int_range(rig.rand, 0, 8);
    }
    for (unsigned n = chance(rig.twice) ? 2 : 1; n; n--) {
        note(extoll_link_take(l, buf, words, rig.now));
    }
}

void rig_step(void)
{
    for (unsigned e = 0; e < 2; e++) {
        uint8_t buf[EXTOLL_FLIT_MAX];
        unsigned words;

        note(extoll_link_expire(&rig.end[e], rig.now));
        for (unsigned n = 0; (!rig.budget || n < rig.budget) &&
             (words = extoll_link_next(&rig.end[e], buf, rig.now)); n++) {
            carry(!e, buf, words);
        }
    }
    rig.now += STEP_NS;
}

bool rig_is_up(void)
{
    return extoll_link_is_up(&rig.end[0]) && extoll_link_is_up(&rig.end[1]);
}

void rig_both_up(void)
{
    for (unsigned e = 0; e < 2; e++) {
        extoll_link_up(&rig.end[e]);
    }
}

void rig_both_down(void)
{
    for (unsigned e = 0; e < 2; e++) {
        extoll_link_down(&rig.end[e]);
    }
}

void rig_connect(void)
{
    rig_both_up();
    for (unsigned i = 0; !rig_is_up(); i++) {
        g_assert_cmpuint(i, <, STEPS);
        rig_step();
    }
}

/* Builds packet @number of end @e and channel @vc; returns its bytes. */
static unsigned packet_build(uint8_t *buf, unsigned e, unsigned vc, uint64_t number)
{
    ExtollPacket pkt = {
        .command = EXTOLL_CMD_PUT_BYTES,
        .bytes = 1 + (number * 977 + 13 * vc) % 4096,
        .word1 = 0x1000000,
        .word2 = number << 12,
    };

    memset(extoll_packet_payload(buf), number + e, pkt.bytes);
    return extoll_packet_encode(buf, 0x1234567800 + vc, &pkt);
}

bool rig_packet_send(unsigned e, unsigned vc)
{
    uint8_t buf[EXTOLL_PACKET_MAX];
    unsigned bytes = packet_build(buf, e, vc, rig.sent[e][vc]);

    if (!extoll_link_can_send(&rig.end[e], vc, bytes)) {
        return false;
    }
    extoll_link_send(&rig.end[e], vc, buf, bytes);
    rig.sent[e][vc]++;
    return true;
}

void rig_packets_take(unsigned e)
{
    for (unsigned vc = 0; vc < EXTOLL_VCS; vc++) {
        ExtollArrived *a;

        while ((a = extoll_link_head(&rig.end[e], vc))) {
            uint8_t buf[EXTOLL_PACKET_MAX];
            unsigned bytes = packet_build(buf, !e, vc, rig.got[e][vc]);

            g_assert_cmpmem(a->data, a->bytes, buf, bytes);
            extoll_link_pop(&rig.end[e], vc, rig.now);
            rig.got[e][vc]++;
        }
    }
}

static bool all_arrived(void)
{
    for (unsigned e = 0; e < 2; e++) {
        for (unsigned vc = 0; vc < EXTOLL_VCS; vc++) {
            if (rig.got[!e][vc] != rig.sent[e][vc]) {
                return false;
            }
        }
    }
    return true;
}

void rig_drain(void)
{
    for (unsigned i = 0; !all_arrived() || extoll_replay_tx_kept(&rig.end[0].tx) ||
                         extoll_replay_tx_kept(&rig.end[1].tx); i++) {
        g_assert_cmpuint(i, <, STEPS);
        rig_step();
        rig_packets_take(0);
        rig_packets_take(1);
    }
}

uint64_t rig_counter(unsigned e, enum extoll_link_counter c)
{
    return rig.end[e].counter[c];
}

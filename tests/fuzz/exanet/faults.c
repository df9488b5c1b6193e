/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Text of property faultsN: asserts that the text which the device prints for an
 * accepted text is accepted too, and is printed without a change.
 */
#include "../fuzz.h"
#include "qapi/error.h"
#include "hw/rnic/link/inject.h"
#include "hw/rnic/link/port.h"
#include "hw/rnic/exanet/base/wire.h"
#include "hw/rnic/exanet/net/wire-fault.h"

#define TEXT_MAX 1024
#define PACKETS  32

/* --- Stubs of the device ---------------------------------------------------- */

void rnic_port_admin(RNicPort *p, bool up)
{
    p->admin_down = !up;
}

/* --- The target -------------------------------------------------------------- */

static char *plan_set(RNicPort *p, const char *text)
{
    Error *err = NULL;

    if (!rnic_inject_plan_set(p, &exanet_fault_format, 3, text, &err)) {
        g_assert_nonnull(err);
        error_free(err);
        return NULL;
    }
    g_assert_null(err);
    return rnic_inject_plan_get(p);
}

/*
 * Encodes packets with the faults that the text defines, and asserts the limits of
 * their fates.
 */
static void packets_pass(RNicPort *p)
{
    uint8_t buf[EXANET_PACKET_BYTES] = { 0 };
    ExanetPacket pkt = { .type = EXANET_TYPE_WRITE, .size = 100 };
    unsigned words;

    for (unsigned i = 0; i < PACKETS && p->inject; i++) {
        RNicFate fate;

        words = exanet_packet_encode(buf, &pkt);
        fate = rnic_inject_packet(p, buf, words);
        g_assert_cmpint(fate.kind, <=, RNIC_FATE_HOLD);
        g_assert_cmpint(fate.delay, >=, 0);
        g_assert_cmpint(fate.delay, <=, 10 * (int64_t)NANOSECONDS_PER_SECOND);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    FuzzInput in = { data, size };
    g_autofree char *text = fuzz_text(&in, TEXT_MAX), *printed = NULL, *again = NULL;
    static RNicPort port;           /* static because it is large */
    static RNicPortGroup group;
    RNicPort *p = &port;

    *p = (RNicPort) { .group = &group, .index = 3 };
    printed = plan_set(p, text);
    if (printed) {
        again = plan_set(p, printed);
        g_assert_cmpstr(again, ==, printed);
        packets_pass(p);
    } else {
        g_assert_null(p->inject);
        g_assert_false(p->admin_down);
    }
    rnic_inject_fini(p);
    return 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Text of property faultsN: asserts that the text which the device prints for an
 * accepted text is accepted too, and is printed without a change.
 */
#include "../fuzz.h"
#include "qapi/error.h"
#include "hw/rnic/exanet/link/inject.h"
#include "hw/rnic/exanet/link/port.h"
#include "hw/rnic/exanet/base/wire.h"
#include "hw/rnic/exanet/net/wire-fault.h"

#define TEXT_MAX 1024
#define PACKETS  32

/* --- Stubs of the device ---------------------------------------------------- */

void exanet_port_admin(ExanetPort *p, bool up)
{
    p->admin_down = !up;
}

/* --- The target -------------------------------------------------------------- */

static char *plan_set(ExanetPort *p, const char *text)
{
    Error *err = NULL;

    if (!exanet_inject_plan_set(p, &exanet_fault_format, 3, text, &err)) {
        g_assert_nonnull(err);
        error_free(err);
        return NULL;
    }
    g_assert_null(err);
    return exanet_inject_plan_get(p);
}

/*
 * Encodes packets with the faults that the text defines, and asserts the limits of
 * their fates.
 */
static void packets_pass(ExanetPort *p)
{
    uint8_t buf[EXANET_PACKET_BYTES] = { 0 };
    ExanetPacket pkt = { .type = EXANET_TYPE_WRITE, .size = 100 };
    unsigned words;

    for (unsigned i = 0; i < PACKETS && p->inject; i++) {
        ExanetFate fate;

        words = exanet_packet_encode(buf, &pkt);
        fate = exanet_inject_packet(p, buf, words);
        g_assert_cmpint(fate.kind, <=, EXANET_FATE_HOLD);
        g_assert_cmpint(fate.delay, >=, 0);
        g_assert_cmpint(fate.delay, <=, 10 * (int64_t)NANOSECONDS_PER_SECOND);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    FuzzInput in = { data, size };
    g_autofree char *text = fuzz_text(&in, TEXT_MAX), *printed = NULL, *again = NULL;
    static ExanetPort port;         /* static because it is large */
    static ExanetPortGroup group;
    ExanetPort *p = &port;

    *p = (ExanetPort) { .group = &group, .index = 3 };
    printed = plan_set(p, text);
    if (printed) {
        again = plan_set(p, printed);
        g_assert_cmpstr(again, ==, printed);
        packets_pass(p);
    } else {
        g_assert_null(p->inject);
        g_assert_false(p->admin_down);
    }
    exanet_inject_fini(p);
    return 0;
}

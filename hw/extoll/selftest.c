/* SPDX-License-Identifier: GPL-2.0-or-later */
/* EXTOLL self-test; see selftest.h. */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "qemu/log.h"
#include "../core/dma.h"
#include "selftest.h"
#include "trace.h"

#define WORD_BYTES 4

static void test_bad(ExtollState *s, const char *register_name, uint32_t value)
{
    extoll_count(s, TEST_BAD);
    qemu_log_mask(LOG_GUEST_ERROR, "extoll: self-test refused or failed: %s = %u\n",
                  register_name, value);
}

void extoll_selftest_irq(ExtollState *s, uint32_t vector)
{
    if (vector >= EXTOLL_VECTORS) {
        test_bad(s, "TEST_IRQ", vector);
        return;
    }
    if (vector == EXTOLL_VEC_EVENTS) {
        extoll_irq_raise(s, vector, EXTOLL_EVENT_TEST);
    }
    extoll_irq_send(s, vector);
}

static bool memory_valid(uint64_t addr, uint32_t bytes)
{
    return bytes && bytes <= EXTOLL_TEST_BYTES_MAX && bytes % WORD_BYTES == 0 &&
           addr % WORD_BYTES == 0 && addr <= UINT64_MAX - bytes;
}

static enum extoll_test_status memory_run(ExtollState *s, uint32_t op, uint64_t addr,
                                          uint32_t bytes)
{
    uint32_t word[EXTOLL_TEST_BYTES_MAX / WORD_BYTES];
    uint32_t fill = cpu_to_le32(extoll_reg_get32(s, EXTOLL_REG_TEST_DATA));

    if (!memory_valid(addr, bytes)) {
        return EXTOLL_TEST_REFUSED;
    }
    switch (op) {
    case EXTOLL_TEST_FILL:
        for (unsigned i = 0; i < bytes / WORD_BYTES; i++) {
            word[i] = fill;
        }
        break;
    case EXTOLL_TEST_INVERT:
        if (!rnic_dma_read(&s->host, addr, word, bytes)) {
            return EXTOLL_TEST_BUS;
        }
        for (unsigned i = 0; i < bytes / WORD_BYTES; i++) {
            word[i] = ~word[i];
        }
        break;
    default:
        return EXTOLL_TEST_REFUSED;
    }
    return rnic_dma_write(&s->host, addr, word, bytes) ? EXTOLL_TEST_OK :
                                                         EXTOLL_TEST_BUS;
}

void extoll_selftest_start(ExtollState *s, uint32_t op)
{
    s->test_started = true;
    s->test_op = op;
    rnic_loop_schedule(&s->loop);
}

void extoll_selftest_reset(ExtollState *s)
{
    s->test_started = false;
}

void extoll_selftest_run(ExtollState *s)
{
    uint64_t addr = extoll_reg_get64(s, EXTOLL_REG_TEST_ADDR);
    uint32_t bytes = extoll_reg_get32(s, EXTOLL_REG_TEST_BYTES);
    uint32_t op = s->test_op;
    enum extoll_test_status status;

    if (!s->test_started) {
        return;
    }
    s->test_started = false;
    status = memory_run(s, op, addr, bytes);
    trace_extoll_selftest(s->node, op, addr, bytes, status);
    extoll_reg_set32(s, EXTOLL_REG_TEST_STATUS, status);
    if (status != EXTOLL_TEST_OK) {
        test_bad(s, "TEST_OP", op);
    }
}

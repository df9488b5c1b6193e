/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Copies by CDMA in exanet-box.  The functions access registers as the kernel driver does
 * for EXANET_IOC_CDMA, so this file must agree with exanet_cdma.c and exanet_hw.c of the
 * driver.
 */
#include "box-nic.h"
#include "qemu/units.h"

/* Limit of the time of a copy, after which the driver resets the channel. */
#define COPY_NS         (60 * NANOSECONDS_PER_SECOND)
/*
 * Longer copies are divided.  The driver's limit is 1 MiB.  The limit of the box is
 * smaller, because a copy of 1 MiB between two nodes that answer at once takes more
 * iterations of the main loop than nic_settle() permits.
 */
#define COPY_BYTES_MAX  (128 * KiB)
#define COPIES_PER_CTX  2           /* the driver's limit for each user */
#define TASK_SIZE_MAX   ((1ULL << 47) - 4096)

/* Returns true if the driver accepts the side of a copy of @bytes at @address. */
static bool side_allowed(uint64_t address, uint32_t bytes, bool remote)
{
    if (remote) {
        return RNIC_GET(EXANET_VA_WINDOW, address) != EXANET_WINDOW_NI &&
               bytes <= EXANET_VA_OFFSET + 1 - (address & EXANET_VA_OFFSET);
    }
    return address < TASK_SIZE_MAX && bytes <= TASK_SIZE_MAX - address;
}

/*
 * Returns a free channel for context @c, or EXANET_CDMA_CHANNELS if there is none or
 * @c has as many copies as it may have.
 */
static unsigned channel_find(unsigned c)
{
    unsigned found = EXANET_CDMA_CHANNELS, held = 0;

    for (unsigned ch = EXANET_CDMA_CHANNELS; ch--;) {
        if (!box.copy[ch].end) {
            found = ch;
        } else {
            held += box.copy[ch].ctx == c;
        }
    }
    return held < COPIES_PER_CTX ? found : EXANET_CDMA_CHANNELS;
}

static uint32_t channel_get(unsigned ch, unsigned reg)
{
    return nic_mmio_get(EXANET_BAR_REGS, EXANET_CDMA(ch) + reg, 4);
}

int nic_copy_start(const BoxCopy *copy)
{
    uint32_t bytes = MIN(copy->bytes, COPY_BYTES_MAX);
    unsigned ch = channel_find(copy->ctx);
    hwaddr base = EXANET_CDMA(ch);

    if (!bytes || !side_allowed(copy->src, copy->bytes, copy->src_remote) ||
        !side_allowed(copy->dst, copy->bytes, copy->dst_remote) ||
        !box.s->ctx[copy->ctx].enabled || ch == EXANET_CDMA_CHANNELS) {
        return -1;
    }
    box.copy[ch].ctx = copy->ctx;
    box.copy[ch].end = box_now() + COPY_NS;
    nic_reg32(base + EXANET_REG_CDMA_CR,
              EXANET_CDMA_CR_IOC_IRQ | EXANET_CDMA_CR_ERR_IRQ);
    nic_reg64(base + EXANET_REG_CDMA_SA, copy->src);
    nic_reg64(base + EXANET_REG_CDMA_DA, copy->dst);
    nic_reg32(base + EXANET_REG_CDMA_SIDES, EXANET_CDMA_SIDES_TRANSLATE |
              RNIC_PREP(EXANET_CDMA_SIDES_CTX, copy->ctx) |
              (copy->src_remote ? EXANET_CDMA_SIDES_SA_GVA : 0) |
              (copy->dst_remote ? 0 : EXANET_CDMA_SIDES_DA_LOCAL));
    nic_reg32(base + EXANET_REG_CDMA_PDID, (nic_pdid(copy->ctx) & EXANET_PDID_JOB) |
              RNIC_PREP(EXANET_PDID_CTX, copy->dst_ctx));
    nic_reg32(base + EXANET_REG_CDMA_BTT, bytes);
    return ch;
}

static void channel_reset(unsigned ch)
{
    nic_reg32(EXANET_CDMA(ch) + EXANET_REG_CDMA_CR, EXANET_CDMA_CR_RESET);
    if (!box.kernel) {
        g_assert_false(channel_get(ch, EXANET_REG_CDMA_CR) & EXANET_CDMA_CR_RESET);
        g_assert_true(channel_get(ch, EXANET_REG_CDMA_SR) & EXANET_CDMA_SR_IDLE);
    }
}

/* Takes channel @ch from its copy if the copy has ended, or has reached its limit. */
static void copy_poll(unsigned ch)
{
    uint32_t sr = channel_get(ch, EXANET_REG_CDMA_SR);
    uint32_t irqs = sr & EXANET_CDMA_SR_IRQS;

    if (irqs) {
        nic_reg32(EXANET_CDMA(ch) + EXANET_REG_CDMA_SR, irqs);
    }
    if (sr & EXANET_CDMA_SR_IDLE) {
        if (!box.kernel) {
            g_assert_true(irqs);
        }
        if (sr & (EXANET_CDMA_SR_INT_ERR | EXANET_CDMA_SR_SLV_ERR |
                  EXANET_CDMA_SR_DEC_ERR)) {
            channel_reset(ch);
        }
        box.copy[ch].end = 0;
    } else if (box_now() >= box.copy[ch].end) {
        channel_reset(ch);
        box.copy[ch].end = 0;
    }
}

void nic_copies_poll(void)
{
    for (unsigned ch = 0; ch < EXANET_CDMA_CHANNELS && !box.gone; ch++) {
        if (box.copy[ch].end) {
            copy_poll(ch);
        }
    }
}

bool nic_copy_busy(unsigned ch)
{
    return box.copy[ch].end && !(channel_get(ch, EXANET_REG_CDMA_SR) &
                                 EXANET_CDMA_SR_IDLE);
}

void nic_copies_drop(unsigned c)
{
    for (unsigned ch = 0; ch < EXANET_CDMA_CHANNELS; ch++) {
        if (box.copy[ch].end && box.copy[ch].ctx == c) {
            g_assert_true(box.kernel || !nic_copy_busy(ch));
            box.copy[ch].end = 0;
        }
    }
}

void nic_copies_end(void)
{
    int64_t end = box_now() + COPY_NS;

    for (unsigned ch = 0; ch < EXANET_CDMA_CHANNELS; ch++) {
        while (nic_copy_busy(ch)) {
            g_assert_cmpint(box_now(), <, end);
            nic_faults_resolve(32, 0);
            nic_step(100 * SCALE_MS);
        }
    }
    nic_copies_poll();
}

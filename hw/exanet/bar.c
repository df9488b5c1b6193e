/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet NIC: memory regions of the device.  BAR 0 has registers, debug windows and
 * aliases of the user pages.  Stores to user pages are doorbells.  Each context has an
 * info page, which is read-only.  The aperture is in shm/.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "qemu/log.h"
#include "../core/vcpu.h"
#include "bar.h"
#include "engine/exadma.h"
#include "exanet.h"
#include "firmware/firmware.h"
#include "engine/mailbox.h"
#include "engine/packetizer.h"
#include "engine/receiver.h"
#include "base/regs.h"
#include "shm/shm.h"
#include "net/router.h"
#include "trace.h"

/* --- User pages --------------------------------------------------------- */

/*
 * Handles a store of @size bytes at offset @addr of user page @page (EXANET_PAGE_*) of
 * context @c.  @privileged is true for a store by an alias in BAR 0.
 */
static void user_write(ExanetState *s, unsigned c, unsigned page, hwaddr addr,
                       uint64_t value, unsigned size, bool privileged)
{
    trace_exanet_doorbell(s->node, c, page, addr, value, size);
    if (size < 4 || addr >= EXANET_ALIAS_PAGE) {
        qemu_log_mask(LOG_GUEST_ERROR, "exanet: bad write to user page %u of "
                      "context %u: 0x%" HWADDR_PRIx "\n", page, c, addr);
        return;
    }
    switch (page) {
    case EXANET_PAGE_SCRATCHPAD:
        exanet_firmware_scratchpad_write(s, c, addr, value, size, privileged);
        break;
    case EXANET_PAGE_PACKETIZER:
        exanet_packetizer_write(s, c, addr, value, size);
        break;
    case EXANET_PAGE_MAILBOX:
        exanet_mailbox_write(s, c, addr, value, size);
        break;
    }
}

static uint64_t user_mmio_read(void *opaque, hwaddr addr, unsigned size)
{
    ExanetState *s = opaque;

    return ldn_le_p(s->user + addr, size);
}

static MemTxResult user_mmio_write(void *opaque, hwaddr addr, uint64_t value,
                                   unsigned size, MemTxAttrs attrs)
{
    ExanetState *s = opaque;
    hwaddr page = addr >> s->user_page_shift;
    hwaddr offset = addr & ((1ULL << s->user_page_shift) - 1);
    MemReentrancyGuard *guard = &s->host.dev->mem_reentrancy_guard;

    if (!s->loop.bh) {
        return MEMTX_OK;
    }
    if (page % EXANET_USER_PAGES == EXANET_PAGE_MAILBOX &&
        offset == EXANET_MAILBOX_POLL) {
        if (!guard->engaged_in_io &&
            rnic_vcpu_access(&s->user_mr, addr, true, attrs)) {
            exanet_poll(s, page / EXANET_USER_PAGES);
        }
        return MEMTX_OK;
    }
    /* QEMU does not check its re-entrancy guard for a region whose loads read RAM */
    if (guard->engaged_in_io || !rnic_loop_enter(&s->loop)) {
        qemu_log_mask(LOG_GUEST_ERROR, "exanet: the device writes to its own "
                      "user pages: 0x%" HWADDR_PRIx "\n", addr);
        return MEMTX_OK;
    }
    user_write(s, page / EXANET_USER_PAGES, page % EXANET_USER_PAGES, offset,
               value, size, false);
    rnic_loop_leave_vcpu(&s->loop, true);
    return MEMTX_OK;
}

static const MemoryRegionOps user_ops = {
    .read = user_mmio_read,
    .write_with_attrs = user_mmio_write,
    .endianness = DEVICE_LITTLE_ENDIAN,
    .valid = { .min_access_size = 1, .max_access_size = 8 },
    .impl = { .min_access_size = 1, .max_access_size = 8 },
};

static uint64_t info_mmio_read(void *opaque, hwaddr addr, unsigned size)
{
    ExanetInfoPage *i = opaque;
    ExanetState *s = i->s;
    unsigned ctx = EXANET_CTX(i->ctx);
    struct exanet_info info = {
        .id = cpu_to_le32(exanet_reg_get32(s, EXANET_REG_ID)),
        .version = cpu_to_le32(exanet_reg_get32(s, EXANET_REG_VERSION)),
        .cap0 = cpu_to_le32(exanet_reg_get32(s, EXANET_REG_CAP0)),
        .cap1 = cpu_to_le32(exanet_reg_get32(s, EXANET_REG_CAP1)),
        .coord = cpu_to_le32(s->node),
        .pdid = cpu_to_le32(s->ctx[i->ctx].pdid),
        .time = cpu_to_le64(rnic_now()),
        .stores = cpu_to_le32(exanet_shm_stores(s, i->ctx)),
        .errors = cpu_to_le32(exanet_shm_errors(s, i->ctx)),
    };

    if (addr + size > sizeof(info)) {
        return 0;
    }
    for (unsigned w = 0; w < EXANET_WINDOW_NI; w++) {
        info.win[w] =
            cpu_to_le64(exanet_reg_get64(s, ctx + EXANET_CTX_WIN(w)));
    }
    return ldn_le_p((uint8_t *)&info + addr, size);
}

static void info_mmio_write(void *opaque, hwaddr addr, uint64_t value,
                            unsigned size)
{
    ExanetInfoPage *i = opaque;

    qemu_log_mask(LOG_GUEST_ERROR, "exanet: write to the info page of context "
                  "%u\n", i->ctx);
}

static const MemoryRegionOps info_ops = {
    .read = info_mmio_read,
    .write = info_mmio_write,
    .endianness = DEVICE_LITTLE_ENDIAN,
    .valid = { .min_access_size = 1, .max_access_size = 8 },
    .impl = { .min_access_size = 1, .max_access_size = 8 },
};

/* --- BAR 0 -------------------------------------------------------------- */

/*
 * Returns the @size bytes, 4 or 8, at offset @addr of an array of 64-bit words.  @word is
 * a function that returns the word at an offset of the array.
 */
static uint64_t debug_read(ExanetState *s, hwaddr addr, unsigned size,
                           uint64_t (*word)(ExanetState *s, hwaddr addr))
{
    uint64_t value = word(s, addr & ~7ULL);

    return size == 4 ? (uint32_t)(value >> (8 * (addr & 4))) : value;
}

static uint64_t counter_word(ExanetState *s, hwaddr addr)
{
    return addr / 8 < EXANET_COUNTER_COUNT ? s->counter[addr / 8] : 0;
}

static bool is_ni_map(hwaddr addr)
{
    return addr >= EXANET_NI_MAP(0) && addr < EXANET_NI_MAP(EXANET_NI_INDICES);
}

static uint64_t regs_read(void *opaque, hwaddr addr, unsigned size)
{
    ExanetState *s = opaque;
    uint64_t value = 0;

    if (!s->loop.bh) {
        return 0;
    }
    if (addr >= EXANET_PENDING_LIST && addr < EXANET_CONTROL_WINDOW) {
        value = exanet_exadma_list_read(s, addr - EXANET_PENDING_LIST, size);
    } else if (size < 4) {
        qemu_log_mask(LOG_GUEST_ERROR, "exanet: read of %u bytes at 0x%"
                      HWADDR_PRIx "\n", size, addr);
    } else if (exanet_regs_contain(addr)) {
        value = exanet_regs_read(s, addr, size);
    } else if (addr < EXANET_PENDING_LIST) {
        value = debug_read(s, addr - EXANET_COUNTER(0), size, counter_word);
    } else if (addr >= EXANET_RX_DEBUG && addr < EXANET_TOMB_DEBUG) {
        value = debug_read(s, addr - EXANET_RX_DEBUG, size,
                           exanet_receiver_debug_read);
    } else if (addr >= EXANET_TOMB_DEBUG && addr < EXANET_TOMB_DEBUG +
               EXANET_TOMBSTONES * sizeof(struct exanet_tombstone)) {
        value = debug_read(s, addr - EXANET_TOMB_DEBUG, size,
                           exanet_receiver_tomb_read);
    } else if (addr >= EXANET_SCRATCHPAD && addr < EXANET_MAILBOX_ALIAS +
               EXANET_CONTEXTS * EXANET_ALIAS_PAGE) {
        hwaddr at = addr - EXANET_SCRATCHPAD;

        value = ldn_le_p(exanet_user_page(s, (at >> 12) % EXANET_CONTEXTS,
                                          at >> 16) + (at & 0xfff), size);
    } else if (is_ni_map(addr)) {
        value = debug_read(s, addr - EXANET_NI_MAP(0), size,
                           exanet_router_ni_map_read);
    }
    trace_exanet_reg_read(s->node, addr, value, size);
    return value;
}

static void regs_write(void *opaque, hwaddr addr, uint64_t value, unsigned size)
{
    ExanetState *s = opaque;
    bool doorbell = false;

    /*
     * drops a write that this device itself causes, as QEMU's re-entrancy guard would do
     */
    if (!s->loop.bh || !rnic_loop_enter(&s->loop)) {
        return;
    }
    trace_exanet_reg_write(s->node, addr, value, size);
    if (addr >= EXANET_PENDING_LIST && addr < EXANET_CONTROL_WINDOW) {
        exanet_exadma_list_write(s, addr - EXANET_PENDING_LIST, value, size);
    } else if (size < 4) {
        qemu_log_mask(LOG_GUEST_ERROR, "exanet: write of %u bytes at 0x%"
                      HWADDR_PRIx "\n", size, addr);
    } else if (exanet_regs_contain(addr)) {
        exanet_regs_write(s, addr, value, size);
    } else if (addr < EXANET_COUNTER(EXANET_COUNTER_COUNT)) {
        s->counter[(addr - EXANET_COUNTER(0)) / 8] = 0;
    } else if (addr >= EXANET_CONTROL_WINDOW && addr < EXANET_RX_DEBUG) {
        exanet_exadma_control_write(s, addr - EXANET_CONTROL_WINDOW, value,
                                    size);
    } else if (addr >= EXANET_SCRATCHPAD && addr < EXANET_MAILBOX_ALIAS +
               EXANET_CONTEXTS * EXANET_ALIAS_PAGE) {
        hwaddr at = addr - EXANET_SCRATCHPAD;

        user_write(s, (at >> 12) % EXANET_CONTEXTS, at >> 16, at & 0xfff,
                   value, size, true);
        doorbell = true;
    } else if (is_ni_map(addr)) {
        exanet_router_ni_map_write(s, addr - EXANET_NI_MAP(0), value, size);
    } else {
        qemu_log_mask(LOG_GUEST_ERROR, "exanet: write to nothing: 0x%"
                      HWADDR_PRIx "\n", addr);
    }
    rnic_loop_leave_vcpu(&s->loop, doorbell);
}

static const MemoryRegionOps regs_ops = {
    .read = regs_read,
    .write = regs_write,
    .endianness = DEVICE_LITTLE_ENDIAN,
    .valid = { .min_access_size = 1, .max_access_size = 8 },
    .impl = { .min_access_size = 1, .max_access_size = 8 },
};

/* --- Init and end --------------------------------------------------------- */

bool exanet_bar_init(ExanetState *s, Error **errp)
{
    uint64_t page = 1ULL << s->user_page_shift;
    Object *owner = OBJECT(s->host.dev);

    /*
     * The RAM does not migrate.  RAM that migrates needs a different name in each device,
     * and a sysbus device has no path from which QEMU could make this name.
     */
    if (!memory_region_init_rom_device_nomigrate(&s->user_mr, owner, &user_ops,
            s, "exanet-user", EXANET_CONTEXTS * EXANET_USER_PAGES * page,
            errp)) {
        return false;
    }
    s->user = memory_region_get_ram_ptr(&s->user_mr);
    for (unsigned c = 0; c < EXANET_CONTEXTS; c++) {
        ExanetInfoPage *i = &s->info[c];

        i->s = s;
        i->ctx = c;
        memory_region_init_io(&i->mr, owner, &info_ops, i, "exanet-info", page);
        memory_region_add_subregion_overlap(&s->user_mr,
            (c * EXANET_USER_PAGES + EXANET_PAGE_INFO) * page, &i->mr, 1);
    }
    memory_region_init_io(&s->regs_mr, owner, &regs_ops, s, "exanet-regs",
                          EXANET_REGS_BYTES);
    return true;
}

void exanet_bar_fini(ExanetState *s)
{
    /*
     * user_mr holds a reference to the owner of each info page inside, which is this
     * device
     */
    for (unsigned c = 0; c < EXANET_CONTEXTS; c++) {
        memory_region_del_subregion(&s->user_mr, &s->info[c].mr);
    }
}


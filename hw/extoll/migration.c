/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * EXTOLL NIC: snapshots and migration.
 *
 * The stream has the offset and the value of each register, so that a later version of
 * the device, with more registers, loads the stream: registers that the stream lacks
 * keep their values after a reset.  Loading checks each value before the register gets
 * the value, so after a truncated or forged stream the device works, and can be reset.
 * No function of the table of blocks is called.
 *
 * Behind the registers are the links that have a netdev: the number of each, its peer,
 * and what link/link-stream.h says.  Ports have no state in the stream: they begin anew,
 * and the links continue as after a cut of the cable.  Packets that were on the cable may
 * be lost, and the links send them again.
 *
 * Of the interrupts the stream has the vectors that are marked, because the machine may
 * stop before the loop sends them.  The causes that have sent their vectors follow from
 * the registers.
 */
#include "qemu/osdep.h"
#include "qemu/error-report.h"
#include "migration/qemu-file-types.h"
#include "bar.h"
#include "link/link-stream.h"
#include "migration.h"
#include "ports.h"
#include "velo/velo-migration.h"

#define STREAM_END UINT32_MAX       /* stands in the place of an offset */
#define LINKS_END UINT8_MAX         /* stands in the place of a link's number */

/* --- Registers: save ---------------------------------------------------------- */

/* Returns true for registers that the device computes at each load by software. */
static bool is_computed(unsigned offset)
{
    if (offset >= EXTOLL_PORT(0) && offset < EXTOLL_PORT(EXTOLL_LINKS)) {
        return extoll_port_reg_computed((offset - EXTOLL_PORT(0)) %
                                        (EXTOLL_PORT(1) - EXTOLL_PORT(0)));
    }
    return offset == EXTOLL_REG_STATUS || offset == EXTOLL_REG_TIME ||
           offset == EXTOLL_VELO + EXTOLL_REG_VELO_COUNT || offset >= EXTOLL_VELO_RP(0);
}

static void block_save(QEMUFile *f, ExtollState *s, const RNicRegBlock *b, unsigned unit)
{
    for (unsigned i = 0; i < b->count; i++) {
        unsigned offset = b->base + unit * b->stride + b->regs[i].offset;

        if (is_computed(offset)) {
            continue;
        }
        if (b->sync) {
            b->sync(s, unit, offset);
        }
        qemu_put_be32(f, offset);
        qemu_put_be64(f, b->regs[i].bytes == 8 ? extoll_reg_get64(s, offset) :
                                                 extoll_reg_get32(s, offset));
    }
}

static int regs_save(QEMUFile *f, void *pv, size_t size, const VMStateField *field,
                     JSONWriter *vmdesc)
{
    ExtollState *s = container_of(pv, ExtollState, regs);

    for (const RNicRegBlock *b = extoll_reg_blocks; b->regs; b++) {
        for (unsigned unit = 0; unit < b->units; unit++) {
            if (!b->exists || b->exists(s, unit)) {
                block_save(f, s, b, unit);
            }
        }
    }
    qemu_put_be32(f, STREAM_END);
    return 0;
}

/* --- Registers: load ---------------------------------------------------------- */

/*
 * Stores @value in the register at @offset as software does.  Returns false if there is
 * no register, or if the register could not have @value: if a bit that software cannot
 * write differs from its value after a reset.
 */
static bool software_reg_load(ExtollState *s, unsigned offset, uint64_t value)
{
    RNicRegFile *file = &s->regs.table.file;
    unsigned at = extoll_reg_at(offset);

    if (offset % 4 || at == RNIC_REGS_NONE) {
        return false;
    }
    switch (rnic_reg_file_lane(file, at)->kind) {
    case RNIC_REG_LANE_WHOLE:
        rnic_reg_file_store(file, at, value, 4);
        return extoll_reg_get32(s, offset) == value;
    case RNIC_REG_LANE_LOW:
        rnic_reg_file_store(file, at, value, 8);
        return extoll_reg_get64(s, offset) == value;
    default:
        return false;
    }
}

/* Sets the register at @offset, which only the device changes, unless @valid is false. */
static bool device_reg_load(ExtollState *s, unsigned offset, uint32_t value, bool valid)
{
    if (valid) {
        extoll_reg_set32(s, offset, value);
    }
    return valid;
}

/* Loads a register.  Returns false, and loads nothing, if @value is impossible. */
static bool reg_load(ExtollState *s, unsigned offset, uint64_t value)
{
    if (offset >= EXTOLL_COUNTER(0) && offset < EXTOLL_COUNTER(EXTOLL_COUNTER_COUNT) &&
        offset % 8 == 0) {
        s->counter[(offset - EXTOLL_COUNTER(0)) / 8] = value;
        return true;
    }
    switch (offset) {
    case EXTOLL_REG_EPOCH:
        if (!device_reg_load(s, offset, value, value && value <= UINT8_MAX)) {
            return false;
        }
        s->epoch = value;
        return true;
    case EXTOLL_REG_TEST_STATUS:
        return device_reg_load(s, offset, value, value <= EXTOLL_TEST_BUS);
    /* no SNQ exists that could raise its cause */
    case EXTOLL_IRQ(EXTOLL_VEC_EVENTS) + EXTOLL_REG_IRQ_CAUSE:
        return device_reg_load(s, offset, value,
                               !(value & ~(EXTOLL_EVENT_TEST | EXTOLL_EVENT_LINK)));
    case EXTOLL_IRQ(EXTOLL_VEC_VELO) + EXTOLL_REG_IRQ_CAUSE:
        return device_reg_load(s, offset, value, true);
    default:
        return software_reg_load(s, offset, value);
    }
}

static int regs_load(QEMUFile *f, void *pv, size_t size, const VMStateField *field)
{
    ExtollState *s = container_of(pv, ExtollState, regs);
    uint32_t offset;

    /* behind the end of a truncated stream are zeros, and register 0 has another value */
    while ((offset = qemu_get_be32(f)) != STREAM_END) {
        uint64_t value = qemu_get_be64(f);

        if (!reg_load(s, offset, value)) {
            error_report("extoll: the stream has an impossible register, 0x%x", offset);
            return -EINVAL;
        }
    }
    return 0;
}

static const VMStateInfo regs_info = {
    .name = "extoll registers", .get = regs_load, .put = regs_save,
};

/* --- Links ---------------------------------------------------------------------- */

static int links_save(QEMUFile *f, void *pv, size_t size, const VMStateField *field,
                      JSONWriter *vmdesc)
{
    ExtollState *s = container_of(pv, ExtollState, ports);

    for (RNicPort *p = NULL; (p = rnic_port_after(&s->ports, p));) {
        const ExtollPeer *peer = &s->peer[p->index];
        g_autoptr(GByteArray) bytes = g_byte_array_new();

        extoll_link_save(&s->link[p->index], bytes);
        qemu_put_byte(f, p->index);
        qemu_put_be16(f, peer->node);
        qemu_put_byte(f, peer->epoch);
        qemu_put_byte(f, peer->loopback);
        qemu_put_be32(f, bytes->len);
        qemu_put_buffer(f, bytes->data, bytes->len);
    }
    qemu_put_byte(f, LINKS_END);
    return 0;
}

/* Loads link @index.  Returns false if no link can have such a state. */
static bool link_load(QEMUFile *f, ExtollState *s, unsigned index)
{
    ExtollPeer peer = { .node = qemu_get_be16(f), .epoch = qemu_get_byte(f) };
    unsigned loopback = qemu_get_byte(f);
    uint32_t len = qemu_get_be32(f);
    g_autofree uint8_t *bytes = NULL;

    if (peer.node >= EXTOLL_NODES || loopback > 1 ||
        len > extoll_link_stream_max(s->rx_flits)) {
        return false;
    }
    bytes = g_malloc(len);
    if (qemu_get_buffer(f, bytes, len) != len ||
        !extoll_link_load(&s->link[index], bytes, len)) {
        return false;
    }
    peer.loopback = loopback;
    s->peer[index] = peer;
    return true;
}

static int links_load(QEMUFile *f, void *pv, size_t size, const VMStateField *field)
{
    ExtollState *s = container_of(pv, ExtollState, ports);
    int index, last = -1;

    while ((index = qemu_get_byte(f)) != LINKS_END) {
        if (index <= last || index >= EXTOLL_LINKS ||
            !rnic_port_exists(&s->port[index]) || !link_load(f, s, index)) {
            error_report("extoll: the stream has an impossible link, %d", index);
            return -EINVAL;
        }
        last = index;
    }
    return 0;
}

static const VMStateInfo links_info = {
    .name = "extoll links", .get = links_load, .put = links_save,
};

/* --- Device --------------------------------------------------------------------- */

static int extoll_post_load(void *opaque, int version)
{
    ExtollState *s = opaque;

    if (s->irq.marked >> EXTOLL_VECTORS) {
        extoll_irq_reset(s);
        error_report("extoll: the stream has an impossible interrupt");
        return -EINVAL;
    }
    extoll_irq_resume(opaque);
    extoll_ports_resume(opaque);
    return 0;
}

const VMStateDescription extoll_vmstate = {
    .name = "extoll-state",
    .version_id = 3,
    .minimum_version_id = 3,
    .post_load = extoll_post_load,
    .fields = (const VMStateField[]) {
        VMSTATE_UINT8_EQUAL(node, ExtollState, "property 'node' differs"),
        VMSTATE_SINGLE_FULL(strict, ExtollState, 0, 0, vmstate_info_uint8_equal, bool,
                            "property 'strict' differs"),
        VMSTATE_UINT32_EQUAL(rx_flits, ExtollState, "property 'rx-flits' differs"),
        VMSTATE_SINGLE(regs, ExtollState, 1, regs_info, ExtollRegs),
        VMSTATE_SINGLE(ports, ExtollState, 1, links_info, RNicPortGroup),
        VMSTATE_SINGLE(velo, ExtollState, 1, extoll_velo_info, ExtollVeloRequester),
        VMSTATE_STRUCT(mailboxes, ExtollState, 1, extoll_mailboxes_vmstate,
                       ExtollMailboxes),
        VMSTATE_UINT32(irq.marked, ExtollState),
        VMSTATE_END_OF_LIST()
    },
};

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Snapshots of VELO; see velo-migration.h. */
#include "qemu/osdep.h"
#include "qemu/error-report.h"
#include "../../core/compat.h"
#include "../extoll.h"
#include "velo-migration.h"
#include "velo-regs.h"

/* --- Tables ----------------------------------------------------------------- */

static const VMStateDescription message_vmstate = {
    .name = "extoll-velo-message",
    .version_id = 1,
    .minimum_version_id = 1,
    .fields = (const VMStateField[]) {
        VMSTATE_UINT16(src_node, ExtollVeloMsg),
        VMSTATE_UINT16(dst_node, ExtollVeloMsg),
        VMSTATE_UINT16(prot, ExtollVeloMsg),
        VMSTATE_UINT8(src_vpid, ExtollVeloMsg),
        VMSTATE_UINT8(dst_vpid, ExtollVeloMsg),
        VMSTATE_UINT8(mtt, ExtollVeloMsg),
        VMSTATE_UINT8(quadwords, ExtollVeloMsg),
        VMSTATE_UINT8(first, ExtollVeloMsg),
        VMSTATE_UINT8(count, ExtollVeloMsg),
        VMSTATE_BOOL(split, ExtollVeloMsg),
        VMSTATE_BOOL(end, ExtollVeloMsg),
        VMSTATE_UINT8_ARRAY(data, ExtollVeloMsg, EXTOLL_VELO_BYTES),
        VMSTATE_END_OF_LIST()
    },
};

static const VMStateDescription buffer_vmstate = {
    .name = "extoll-velo-buffer",
    .version_id = 1,
    .minimum_version_id = 1,
    .fields = (const VMStateField[]) {
        VMSTATE_STRUCT(msg, ExtollCombineBuffer, 1, message_vmstate, ExtollVeloMsg),
        VMSTATE_UINT16(stored, ExtollCombineBuffer),
        VMSTATE_UINT8(left, ExtollCombineBuffer),
        VMSTATE_UINT64(age, ExtollCombineBuffer),
        VMSTATE_END_OF_LIST()
    },
};

static const VMStateDescription left_vmstate = {
    .name = "extoll-velo-left",
    .version_id = 1,
    .minimum_version_id = 1,
    .fields = (const VMStateField[]) {
        VMSTATE_UINT32(address, ExtollCombineLeft),
        VMSTATE_UINT8(left, ExtollCombineLeft),
        VMSTATE_UINT64(age, ExtollCombineLeft),
        VMSTATE_END_OF_LIST()
    },
};

static const VMStateDescription staged_vmstate = {
    .name = "extoll-velo-staged",
    .version_id = 1,
    .minimum_version_id = 1,
    .fields = (const VMStateField[]) {
        VMSTATE_UINT32(address, ExtollVeloStaged),
        VMSTATE_UINT16(stored, ExtollVeloStaged),
        VMSTATE_BOOL(torn, ExtollVeloStaged),
        VMSTATE_UINT8_ARRAY(data, ExtollVeloStaged, EXTOLL_VELO_BYTES),
        VMSTATE_END_OF_LIST()
    },
};

static const VMStateDescription requester_vmstate = {
    .name = "extoll-velo",
    .version_id = 1,
    .minimum_version_id = 1,
    .fields = (const VMStateField[]) {
        VMSTATE_STRUCT_2DARRAY(combine.buffers, ExtollVeloRequester, EXTOLL_VPIDS,
                               EXTOLL_COMBINE_BUFFERS, 1, buffer_vmstate,
                               ExtollCombineBuffer),
        VMSTATE_STRUCT_2DARRAY(combine.left, ExtollVeloRequester, EXTOLL_VPIDS,
                               EXTOLL_COMBINE_LEFT, 1, left_vmstate, ExtollCombineLeft),
        VMSTATE_UINT64(combine.stores, ExtollVeloRequester),
        VMSTATE_UINT32(combine.whole, ExtollVeloRequester),
        VMSTATE_STRUCT_ARRAY(staged, ExtollVeloRequester, EXTOLL_VPIDS, 1,
                             staged_vmstate, ExtollVeloStaged),
        VMSTATE_UINT32(fifo.head, ExtollVeloRequester),
        VMSTATE_UINT32(fifo.count, ExtollVeloRequester),
        VMSTATE_STRUCT_ARRAY(queue, ExtollVeloRequester, EXTOLL_VELO_QUEUE, 1,
                             message_vmstate, ExtollVeloMsg),
        VMSTATE_UINT32(sent, ExtollVeloRequester),
        VMSTATE_END_OF_LIST()
    },
};

const VMStateDescription extoll_mailboxes_vmstate = {
    .name = "extoll-mailboxes",
    .version_id = 1,
    .minimum_version_id = 1,
    .fields = (const VMStateField[]) {
        VMSTATE_UINT32(armed, ExtollMailboxes),
        VMSTATE_UINT32(received, ExtollMailboxes),
        VMSTATE_UINT32(discarded, ExtollMailboxes),
        VMSTATE_END_OF_LIST()
    },
};

/* --- Checks of loaded state ------------------------------------------------- */

/* Returns true if @msg is a message or a part that the network accepts. */
static bool message_valid(const ExtollVeloMsg *msg)
{
    bool whole = !msg->first && msg->count == msg->quadwords && msg->end;

    return (whole || msg->split) && msg->src_node < EXTOLL_NODES &&
           msg->dst_node < EXTOLL_NODES && msg->src_vpid < EXTOLL_VPIDS &&
           msg->dst_vpid < EXTOLL_VPIDS && msg->mtt < 4 && msg->quadwords &&
           msg->quadwords <= EXTOLL_VELO_QUADWORDS && msg->count &&
           msg->first + msg->count <= msg->quadwords;
}

/* Returns true if quadwords @left are a part of a message of @quadwords, and not all. */
static bool part_valid(unsigned left, unsigned quadwords)
{
    return left < (1u << quadwords) - 1;
}

static bool buffer_valid(const ExtollCombineBuffer *buf, unsigned vpid)
{
    const ExtollVeloMsg *msg = &buf->msg;
    unsigned whole = 0, some = 0;

    if (!buf->stored) {
        return true;
    }
    if (!message_valid(msg) || msg->src_vpid != vpid || msg->first ||
        msg->count != msg->quadwords || buf->stored >> 2 * msg->quadwords) {
        return false;
    }
    for (unsigned q = 0; q < msg->quadwords; q++) {
        unsigned halves = buf->stored >> 2 * q & 3;

        whole |= (halves == 3) << q;
        some |= (halves != 0) << q;
    }
    /* a quadword that had left before came not again, and the message is not complete */
    return !(buf->left & some) && part_valid(buf->left | whole, msg->quadwords);
}

static bool left_valid(const ExtollCombineLeft *l, unsigned vpid)
{
    ExtollVeloMsg msg;
    unsigned offset;

    return !l->left ||
           (extoll_velo_address_decode(l->address, 8, &msg, &offset) == EXTOLL_VELO_OK &&
            l->address == extoll_velo_address_encode(&msg) && msg.src_vpid == vpid &&
            part_valid(l->left, msg.quadwords));
}

static bool queue_valid(const ExtollVeloRequester *v)
{
    if (v->fifo.head >= EXTOLL_VELO_QUEUE || v->fifo.count > EXTOLL_VELO_QUEUE) {
        return false;
    }
    for (unsigned i = 0; i < v->fifo.count; i++) {
        if (!message_valid(&v->queue[rnic_fifo_at(&v->fifo, i, EXTOLL_VELO_QUEUE)])) {
            return false;
        }
    }
    return true;
}

static bool requester_valid(const ExtollVeloRequester *v)
{
    bool valid = queue_valid(v);

    for (unsigned vpid = 0; vpid < EXTOLL_VPIDS; vpid++) {
        for (unsigned i = 0; i < EXTOLL_COMBINE_BUFFERS; i++) {
            valid &= buffer_valid(&v->combine.buffers[vpid][i], vpid);
        }
        for (unsigned i = 0; i < EXTOLL_COMBINE_LEFT; i++) {
            valid &= left_valid(&v->combine.left[vpid][i], vpid);
        }
    }
    return valid;
}

/* --- Save and load ---------------------------------------------------------- */

static int requester_save(QEMUFile *f, void *pv, size_t size, const VMStateField *field,
                          JSONWriter *vmdesc)
{
    return rnic_vmstate_save(f, &requester_vmstate, pv);
}

static int requester_load(QEMUFile *f, void *pv, size_t size, const VMStateField *field)
{
    ExtollState *s = container_of(pv, ExtollState, velo);
    int ret = rnic_vmstate_load(f, &requester_vmstate, pv);

    if (!ret && !requester_valid(&s->velo)) {
        error_report("extoll: the stream has an impossible message");
        ret = -EINVAL;
    }
    if (ret) {
        /* a stream that ends early leaves a part of its messages, unchecked */
        extoll_velo_requester_reset(s);
    }
    /* the stream has RPLT, whose other place is RP */
    for (unsigned vpid = 0; vpid < EXTOLL_VPIDS; vpid++) {
        extoll_velo_rp_sync(s, vpid, EXTOLL_VELO_RP(vpid));
    }
    return ret;
}

const VMStateInfo extoll_velo_info = {
    .name = "extoll velo", .get = requester_load, .put = requester_save,
};

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Migration streams of pvrdma.  The program gives the device work, stops the machine
 * and saves the device, damages the stream, and loads the stream.  The device must
 * accept a stream without damage, and the connections must continue.  It must refuse a
 * damaged stream, or work or be resettable after the load.
 */
#include "bed.h"
#include "io/channel-buffer.h"
#include "migration/vmstate.h"
#include "migration/qemu-file.h"
#include "monitor/monitor.h"
#include "qemu/error-report.h"
#include "hw/rnic/pvrdma/migration.h"

#define OPS_MAX     64
#define STREAM_MAX  (64 * 1024)

typedef enum StreamOp {
    STREAM_POST, STREAM_ANSWER, STREAM_CLOCK, STREAM_RECV,
    STREAM_DAMAGE, STREAM_DAMAGE_AGAIN, STREAM_CUT, STREAM_OPS,
} StreamOp;

const uint8_t bed_program_flags = BED_DCQCN | BED_ROCE_V1 | BED_ACK_DELAY;

static bool quiet;

/* Prints errors, but not while a stream is loaded, because damaged streams cause many. */
int error_vprintf(const char *fmt, va_list ap)
{
    return quiet ? 0 : vfprintf(stderr, fmt, ap);
}

int error_vprintf_unless_qmp(const char *fmt, va_list ap)
{
    return error_vprintf(fmt, ap);
}

static GByteArray *save(void)
{
    QIOChannelBuffer *ioc = qio_channel_buffer_new(STREAM_MAX);
    QEMUFile *f = qemu_file_new_output(QIO_CHANNEL(ioc));
    GByteArray *bytes = g_byte_array_new();

    g_assert_cmpint(rnic_vmstate_save(f, &pvrdma_vmstate, bed.s), ==, 0);
    g_assert_cmpint(qemu_fflush(f), ==, 0);
    g_byte_array_append(bytes, ioc->data, ioc->usage);
    qemu_fclose(f);
    object_unref(OBJECT(ioc));
    return bytes;
}

static bool load(const GByteArray *bytes)
{
    QIOChannelBuffer *ioc = qio_channel_buffer_new(bytes->len + 1);
    QEMUFile *f;
    int ret;

    memcpy(ioc->data, bytes->data, bytes->len);
    ioc->usage = bytes->len;
    f = qemu_file_new_input(QIO_CHANNEL(ioc));
    pvrdma_reset(bed.s);
    quiet = true;
    ret = rnic_vmstate_load(f, &pvrdma_vmstate, bed.s);
    quiet = false;
    qemu_fclose(f);
    object_unref(OBJECT(ioc));
    return ret == 0;
}

static void work(FuzzInput *in, StreamOp op)
{
    static const uint8_t opcodes[] = {
        PVRDMA_WR_RDMA_READ, PVRDMA_WR_RDMA_WRITE, PVRDMA_WR_SEND,
        PVRDMA_WR_ATOMIC_FETCH_AND_ADD,
    };
    unsigned qp = fuzz_u8(in) % BED_QP_EVIL, n = fuzz_u8(in);
    struct pvrdma_sq_wqe_hdr hdr;

    switch (op) {
    case STREAM_POST:
        hdr = bed_wqe(opcodes[n % ARRAY_SIZE(opcodes)], BED_VA, bed.mr[0].key);
        hdr.send_flags = cpu_to_le32(fuzz_u8(in));
        bed_post_send(qp, &hdr, 0, 0, n % ARRAY_SIZE(opcodes) == 3 ? 8 :
                      fuzz_u8(in) * 256);
        bed_ring_send(qp);
        break;
    case STREAM_ANSWER:
        bed_evil_answer(qp, n);
        break;
    case STREAM_RECV:
        bed_post_recv(qp == BED_QP_SRQ ? BED_QPS : qp, 0, 0, n * 256);
        break;
    default:
        bed_step(1LL << n % 30);
    }
}

/* Changes 1, 2, 4 or 8 bytes of the stream, or cuts the stream (STREAM_CUT). */
static void damage(FuzzInput *in, StreamOp op, GByteArray *bytes)
{
    uint32_t at = fuzz_u16(in) % bytes->len;
    uint8_t how = fuzz_u8(in), len = 1u << (how & 3), raw[8];

    if (op == STREAM_CUT) {
        g_byte_array_set_size(bytes, MAX(at, 1));
        return;
    }
    fuzz_bytes(in, raw, sizeof(raw));
    for (unsigned i = 0; i < len && at + i < bytes->len; i++) {
        bytes->data[at + i] = how & 4 ? raw[i] : bytes->data[at + i] + raw[i];
    }
}

/*
 * Rings the doorbells of all QPs, answers EVIL's requests, and advances the clock by 10
 * s.
 */
static void run(void)
{
    for (unsigned i = 0; i < BED_QPS; i++) {
        bed_ring_send(i);
        if (i < BED_QP_EVIL) {
            bed_evil_answer(i, 100);
        }
        bed_settle();
    }
    bed_step(10 * NANOSECONDS_PER_SECOND);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    FuzzInput in = { data, size };
    g_autoptr(GByteArray) bytes = NULL;
    bool damaged = false, loaded;

    bed_start(fuzz_u8(&in) & bed_program_flags);
    for (unsigned i = 0; (in.left && i < OPS_MAX) || !bytes; i++) {
        uint8_t record[BED_OP_BYTES];
        FuzzInput op = { record + 1, sizeof(record) - 1 };
        unsigned kind;

        fuzz_bytes(&in, record, sizeof(record));
        kind = in.left || record[0] ? record[0] % STREAM_OPS : STREAM_OPS;
        if (kind < STREAM_DAMAGE && !bytes) {
            work(&op, kind);
            bed_settle();
            continue;
        }
        if (!bytes) {
            box_machine_run(false);
            bytes = save();
        }
        if (kind >= STREAM_DAMAGE && kind < STREAM_OPS) {
            damage(&op, kind, bytes);
            damaged = true;
        }
    }
    loaded = load(bytes);
    g_assert_true(loaded || damaged);
    if (damaged) {
        bed.flags |= BED_KERNEL;
    }
    box_machine_run(true);
    run();
    bed_check();
    bed_end();
    return 0;
}

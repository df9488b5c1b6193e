/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Work queues of pvrdma: the input defines layouts, indices and WQEs.  The device must
 * read a WQE only once, because each further read returns other bytes.
 */
#include "../fuzz.h"
#include "hw/rnic/pvrdma/base/guest.h"
#include "hw/rnic/pvrdma/objects/mr.h"
#include "hw/rnic/pvrdma/base/pages.h"
#include "hw/rnic/pvrdma/pvrdma.h"
#include "hw/rnic/pvrdma/objects/qp.h"
#include "hw/rnic/pvrdma/objects/wq.h"

#define PAGES       8

/* --- The rest of the device ------------------------------------------------- */

static struct {
    FuzzInput in;
    unsigned reads;
} guest;

bool pvrdma_pages_read(PvrdmaState *s, const PvrdmaPages *pages, uint64_t offset,
                       void *buf, size_t len)
{
    g_assert_cmpuint(offset + len, <=, PAGES * (uint64_t)PVRDMA_PAGE_BYTES);
    guest.reads++;
    fuzz_bytes(&guest.in, buf, len);
    return fuzz_u8(&guest.in) != 0xff;
}

bool pvrdma_pages_write(PvrdmaState *s, const PvrdmaPages *pages, uint64_t offset,
                        const void *buf, size_t len)
{
    g_assert_cmpuint(offset + len, <=, PAGES * (uint64_t)PVRDMA_PAGE_BYTES);
    return true;
}

void pvrdma_guest_error(PvrdmaState *s, const char *format, ...)
{
}

PvrdmaMrStatus pvrdma_mr_read(PvrdmaQp *qp, uint32_t key, uint64_t va, void *buf,
                              uint32_t len, uint32_t access)
{
    g_assert_not_reached();
}

PvrdmaMrStatus pvrdma_mr_write(PvrdmaQp *qp, uint32_t key, uint64_t va,
                               const void *buf, uint32_t len, uint32_t access)
{
    g_assert_not_reached();
}

/* --- The target -------------------------------------------------------------- */

static void sqe_check(const PvrdmaSqe *sqe, const PvrdmaWq *wq)
{
    uint64_t sum = 0;

    if (sqe->status != PVRDMA_WC_SUCCESS) {
        return;
    }
    g_assert_cmpuint(sqe->sges, <=, wq->max_sge);
    for (unsigned i = 0; i < sqe->sges; i++) {
        sum += sqe->sge[i].length;
    }
    g_assert_cmpuint(sum, ==, sqe->length);
    g_assert_cmpuint(sum, <=, ROCE_MSG_MAX);
}

static void rqe_check(const PvrdmaRqe *rqe, const PvrdmaWq *wq)
{
    g_assert_cmpuint(rqe->sges, <=, wq->max_sge);
}

static void fetch(PvrdmaState *s, const PvrdmaPages *pages, PvrdmaWq *wq, bool send)
{
    PvrdmaSge *sge = g_new(PvrdmaSge, MAX(wq->max_sge, 1));
    PvrdmaSqe sqe = { .sge = sge };
    PvrdmaRqe rqe = { 0 };
    unsigned reads = guest.reads;
    bool good = send ? pvrdma_sq_fetch(s, pages, wq, &sqe) :
                       pvrdma_rq_fetch(s, pages, wq, &rqe);

    g_assert_cmpuint(guest.reads - reads, ==, 1);
    if (good && send) {
        sqe_check(&sqe, wq);
    } else if (good) {
        rqe_check(&rqe, wq);
    }
    g_free(sge);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    g_autofree PvrdmaState *s = g_new0(PvrdmaState, 1);
    uint64_t addr[PAGES];
    PvrdmaPages pages = { .addr = addr, .count = PAGES };
    PvrdmaWq wq = { 0 };
    uint32_t entries;
    bool send;

    guest.in = (FuzzInput) { data, size };
    guest.reads = 0;
    for (unsigned i = 0; i < PAGES; i++) {
        addr[i] = (i + 1) * (uint64_t)PVRDMA_PAGE_BYTES;
    }
    send = fuzz_u8(&guest.in) & 1;
    entries = fuzz_u32(&guest.in);
    if (pvrdma_wq_init(&wq, 8, PVRDMA_PAGE_BYTES, entries, fuzz_u8(&guest.in)) ||
        (send ? pvrdma_sq_layout(&wq, &pages) : pvrdma_rq_layout(&wq, &pages))) {
        return 0;
    }
    while (guest.in.left && wq.entries) {
        int waiting = fuzz_u8(&guest.in) & 1 ?
                      pvrdma_wq_refresh(s, &pages, &wq) :
                      pvrdma_wq_pending(s, &pages, &wq);

        g_assert_cmpint(waiting, >=, -1);
        g_assert_cmpint(waiting, <=, (int)wq.entries);
        if (waiting < 0) {
            break;
        }
        for (int i = 0; i < MIN(waiting, 4); i++) {
            fetch(s, &pages, &wq, send);
        }
        pvrdma_wq_consume(s, &pages, &wq, MIN(waiting, 4));
    }
    return 0;
}

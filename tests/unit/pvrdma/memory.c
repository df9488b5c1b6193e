/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The guest around regions and queues of pvrdma. */
#include "memory.h"
#include "hw/rnic/pvrdma/base/guest.h"
#include "hw/rnic/pvrdma/objects/cq.h"
#include "hw/rnic/pvrdma/objects/mr.h"
#include "hw/rnic/pvrdma/objects/qp.h"
#include "hw/rnic/pvrdma/objects/srq.h"

/* coprime to GUEST_PAGES, so that each page is used once */
#define STRIDE 13

/* --- The rest of the device --------------------------------------------------- */

static Guest *guest_of(PvrdmaState *s)
{
    return container_of(s, Guest, s);
}

static bool guest_has(uint64_t addr, size_t len)
{
    return addr <= GUEST_BYTES && len <= GUEST_BYTES - addr;
}

MemTxResult address_space_read_full(AddressSpace *as, hwaddr addr, MemTxAttrs attrs,
                                    void *buf, hwaddr len)
{
    Guest *g = container_of(as, Guest, as);

    /* DMA must not reach the registers of devices */
    g_assert_true(attrs.memory);
    g->reads++;
    if (!guest_has(addr, len)) {
        return MEMTX_DECODE_ERROR;
    }
    memcpy(buf, g->ram + addr, len);
    return MEMTX_OK;
}

MemTxResult address_space_write(AddressSpace *as, hwaddr addr, MemTxAttrs attrs,
                                const void *buf, hwaddr len)
{
    Guest *g = container_of(as, Guest, as);

    g_assert_true(attrs.memory);
    g->writes++;
    if (!guest_has(addr, len)) {
        return MEMTX_DECODE_ERROR;
    }
    memcpy(g->ram + addr, buf, len);
    return MEMTX_OK;
}

void pvrdma_guest_error(PvrdmaState *s, const char *format, ...)
{
    pvrdma_count(s, PVRDMA_CNT_GUEST_ERROR);
}

void pvrdma_event(PvrdmaState *s, enum pvrdma_event type, uint32_t info)
{
    Guest *g = guest_of(s);

    g->events++;
    g->event = type;
    g->event_info = info;
}

void pvrdma_cq_notify(PvrdmaState *s, uint32_t cq)
{
    guest_of(s)->notifications++;
    guest_of(s)->notified = cq;
}

void pvrdma_qp_cq_error(PvrdmaState *s, PvrdmaCq *cq)
{
    guest_of(s)->cq_errors++;
}

/* --- The guest ---------------------------------------------------------------- */

Guest *guest_new(void)
{
    Guest *g = g_new0(Guest, 1);

    g->ram = g_malloc0(GUEST_BYTES);
    g->s.host.as = &g->as;
    g->s.uar_pfn = GUEST_UAR_PFN;
    pvrdma_table_init(&g->s.uc, 8);
    pvrdma_table_init(&g->s.pd, 8);
    pvrdma_table_init(&g->s.mr, 64);
    pvrdma_table_init(&g->s.cq, 8);
    pvrdma_table_init(&g->s.srq, 8);
    return g;
}

void guest_free(Guest *g)
{
    pvrdma_cq_reset_all(&g->s);
    pvrdma_srq_reset_all(&g->s);
    pvrdma_mr_reset_all(&g->s);
    /* The objects must have released all pages and all table entries. */
    g_assert_cmpuint(g->s.pages_used, ==, 0);
    g_assert_cmpuint(g->s.uc.used + g->s.pd.used + g->s.mr.used, ==, 0);
    g_assert_cmpuint(g->s.cq.used + g->s.srq.used, ==, 0);
    pvrdma_table_free(&g->s.uc);
    pvrdma_table_free(&g->s.pd);
    pvrdma_table_free(&g->s.mr);
    pvrdma_table_free(&g->s.cq);
    pvrdma_table_free(&g->s.srq);
    g_free(g->ram);
    g_free(g);
}

void *guest_at(Guest *g, uint64_t at)
{
    g_assert_cmpuint(at, <, GUEST_BYTES);
    return g->ram + at;
}

unsigned guest_errors(const Guest *g)
{
    return g->s.counter[PVRDMA_CNT_GUEST_ERROR];
}

static uint64_t guest_page(Guest *g)
{
    g_assert_cmpuint(g->pages, <, GUEST_PAGES);
    return (uint64_t)(g->pages++ * STRIDE % GUEST_PAGES) * PVRDMA_PAGE_BYTES;
}

GuestObject *guest_object_new(Guest *g, unsigned pages)
{
    GuestObject *o = g_new0(GuestObject, 1);
    uint64_t table = 0;

    o->g = g;
    o->pages = pages;
    o->page = g_new(uint64_t, pages);
    o->pdir = guest_page(g);
    for (unsigned i = 0; i < pages; i++) {
        if (!PVRDMA_PDIR_PAGE(i)) {
            table = guest_page(g);
            stq_le_p(g->ram + o->pdir + PVRDMA_PDIR_TABLE(i) * 8, table);
        }
        o->page[i] = guest_page(g);
        stq_le_p(g->ram + table + PVRDMA_PDIR_PAGE(i) * 8, o->page[i]);
    }
    return o;
}

void guest_object_free(GuestObject *o)
{
    g_free(o->page);
    g_free(o);
}

void *guest_object_at(GuestObject *o, uint64_t offset)
{
    g_assert_cmpuint(offset / PVRDMA_PAGE_BYTES, <, o->pages);
    return o->g->ram + o->page[offset / PVRDMA_PAGE_BYTES] +
           offset % PVRDMA_PAGE_BYTES;
}

void guest_index_set(GuestObject *o, uint64_t offset, uint32_t index)
{
    stl_le_p(guest_object_at(o, offset), index);
}

uint32_t guest_index(GuestObject *o, uint64_t offset)
{
    return ldl_le_p(guest_object_at(o, offset));
}

uint8_t guest_fill_byte(uint64_t offset, uint8_t seed)
{
    return seed + offset * 7 + (offset >> 8) * 3 + (offset >> 16);
}

void guest_fill(GuestObject *o, uint8_t seed)
{
    for (uint64_t i = 0; i < o->pages * (uint64_t)PVRDMA_PAGE_BYTES; i++) {
        *(uint8_t *)guest_object_at(o, i) = guest_fill_byte(i, seed);
    }
}

/* --- Commands ----------------------------------------------------------------- */

int guest_cmd(Guest *g, PvrdmaCmd *cmd, const union pvrdma_cmd_req *req,
              union pvrdma_cmd_resp *resp)
{
    union pvrdma_cmd_resp unused;

    resp = resp ?: &unused;
    memset(resp, 0, sizeof(*resp));
    return cmd(&g->s, req, resp);
}

uint32_t guest_pd(Guest *g)
{
    union pvrdma_cmd_req req = { 0 };
    union pvrdma_cmd_resp resp;

    g_assert_cmpint(guest_cmd(g, pvrdma_cmd_create_pd, &req, &resp), ==, 0);
    return le32_to_cpu(resp.create_pd.pd_handle);
}

uint32_t guest_mr(GuestObject *o, uint32_t pd, uint64_t va, uint32_t access,
                  uint32_t *key)
{
    uint64_t offset = va % PVRDMA_PAGE_BYTES;
    union pvrdma_cmd_req req = { .create_mr = {
        .start = cpu_to_le64(va),
        .length = cpu_to_le64(o->pages * (uint64_t)PVRDMA_PAGE_BYTES - offset),
        .pdir_dma = cpu_to_le64(o->pdir),
        .pd_handle = cpu_to_le32(pd),
        .access_flags = cpu_to_le32(access),
        .nchunks = cpu_to_le32(o->pages),
    } };
    union pvrdma_cmd_resp resp;

    g_assert_cmpint(guest_cmd(o->g, pvrdma_cmd_create_mr, &req, &resp), ==, 0);
    g_assert_cmphex(resp.create_mr.lkey, ==, resp.create_mr.rkey);
    *key = le32_to_cpu(resp.create_mr.lkey);
    return le32_to_cpu(resp.create_mr.mr_handle);
}

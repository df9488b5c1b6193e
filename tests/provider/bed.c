/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Endpoints on NICs of the loop transport, and checks. */

#include "bed.h"

#define BED_SECONDS 10

struct bed bed;
unsigned int bed_failures;
size_t bed_calloc_size;
unsigned int bed_calloc_fails;

/* The linker replaces calls of calloc() in the program by calls of __wrap_calloc(). */
void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);

void *__wrap_calloc(size_t n, size_t size)
{
    if (bed_calloc_fails && n == 1 && size == bed_calloc_size) {
        bed_calloc_fails--;
        return NULL;
    }
    return __real_calloc(n, size);
}

bool bed_check(bool good, const char *what, const char *file, int line)
{
    if (!good) {
        bed_failures++;
        printf("# %s:%d: %s\n", file, line, what);
    }
    return good;
}

/* Ends the program if @ret is an error, because the test cannot go on. */
static void bed_must(int ret, const char *what)
{
    if (ret) {
        printf("Bail out! %s: %s\n", what, fi_strerror(-ret));
        exit(1);
    }
}

void bed_node_open(unsigned int nr, enum fi_wait_obj wait)
{
    struct bed_node *n = &bed.node[nr];
    struct fi_av_attr av = { .type = FI_AV_TABLE };
    struct fi_cq_attr cq = { .format = FI_CQ_FORMAT_TAGGED, .wait_obj = wait };
    struct fi_cntr_attr cntr = { .events = FI_CNTR_EVENTS_COMP };
    size_t len = sizeof(n->name);

    free(bed.info->domain_attr->name);
    bed.info->domain_attr->name = NULL;
    if (asprintf(&bed.info->domain_attr->name, "loop%u", nr) < 0) {
        abort();
    }
    bed_must(fi_domain(bed.fabric, bed.info, &n->domain, NULL), "fi_domain");
    bed_must(fi_av_open(n->domain, &av, &n->av, NULL), "fi_av_open");
    bed_must(fi_cq_open(n->domain, &cq, &n->cq, NULL), "fi_cq_open");
    bed_must(fi_cntr_open(n->domain, &cntr, &n->sent, NULL), "fi_cntr_open");
    bed_must(fi_cntr_open(n->domain, &cntr, &n->received, NULL), "fi_cntr_open");
    bed_must(fi_endpoint(n->domain, bed.info, &n->ep, NULL), "fi_endpoint");
    bed_must(fi_ep_bind(n->ep, &n->av->fid, 0), "bind av");
    bed_must(fi_ep_bind(n->ep, &n->cq->fid, FI_SEND | (bed.info->caps & FI_RECV)),
             "bind cq");
    bed_must(fi_ep_bind(n->ep, &n->sent->fid, FI_SEND | FI_WRITE | FI_READ),
             "bind counter");
    bed_must(fi_ep_bind(n->ep, &n->received->fid, FI_RECV), "bind counter");
    bed_must(fi_enable(n->ep), "fi_enable");
    bed_must(fi_getname(&n->ep->fid, &n->name, &len), "fi_getname");
    bed_must(fi_mr_reg(n->domain, n->window, BED_WINDOW,
                       FI_REMOTE_READ | FI_REMOTE_WRITE, 0, 0, 0, &n->mr, NULL),
             "fi_mr_reg");
    memset(n->window, 0, BED_WINDOW);
}

void bed_node_close(unsigned int nr)
{
    struct bed_node *n = &bed.node[nr];

    if (!n->domain) {
        return;
    }
    bed_must(fi_close(&n->mr->fid), "fi_close");
    bed_must(fi_close(&n->ep->fid), "fi_close");
    bed_must(fi_close(&n->sent->fid), "fi_close");
    bed_must(fi_close(&n->received->fid), "fi_close");
    bed_must(fi_close(&n->cq->fid), "fi_close");
    bed_must(fi_close(&n->av->fid), "fi_close");
    bed_must(fi_close(&n->domain->fid), "fi_close");
    n->domain = NULL;
}

void bed_open(void)
{
    struct fi_info *hints = fi_allocinfo();
    unsigned int i, j;
    fi_addr_t addr;

    hints->domain_attr->mr_mode = FI_MR_PROV_KEY;
    hints->caps = FI_MSG | FI_TAGGED | FI_RMA | FI_ATOMIC | FI_SOURCE;
    bed_must(loop_prov.getinfo(FI_VERSION(2, 0), NULL, NULL, 0, hints, &bed.info),
             "fi_getinfo");
    fi_freeinfo(hints);
    bed_must(loop_prov.fabric(bed.info->fabric_attr, &bed.fabric, NULL),
             "fi_fabric");
    bed.fabric->api_version = bed.info->fabric_attr->api_version =
        /* libfabric's fi_getinfo() and fi_fabric() set these fields, too */
        FI_VERSION(2, 0);
    for (i = 0; i < LOOP_NODES; i++) {
        bed_node_open(i, FI_WAIT_NONE);
    }
    for (i = 0; i < LOOP_NODES; i++) {
        for (j = 0; j < LOOP_NODES; j++) {
            bed_must(fi_av_insert(bed.node[i].av, &bed.node[j].name, 1, &addr, 0,
                                  NULL) == 1 && addr == j ? 0 : -FI_EINVAL,
                     "fi_av_insert");
        }
    }
}

void bed_close(void)
{
    unsigned int i;

    for (i = 0; i < LOOP_NODES; i++) {
        bed_node_close(i);
    }
    bed_must(fi_close(&bed.fabric->fid), "fi_close");
    fi_freeinfo(bed.info);
}

void bed_poll(unsigned int rounds)
{
    unsigned int i;

    while (rounds--) {
        for (i = 0; i < LOOP_NODES; i++) {
            if (bed.node[i].domain) {
                (void) fi_cntr_read(bed.node[i].sent);
            }
        }
    }
}

int bed_wait(unsigned int nr, struct fi_cq_tagged_entry *entry)
{
    uint64_t end = ofi_gettime_ms() + BED_SECONDS * 1000;
    struct fi_cq_err_entry error = { 0 };
    ssize_t ret;

    memset(entry, 0, sizeof(*entry));
    do {
        ret = fi_cq_read(bed.node[nr].cq, entry, 1);
    } while (ret == -FI_EAGAIN && ofi_gettime_ms() < end);
    if (ret == 1) {
        return 0;
    }
    if (ret == -FI_EAGAIN) {
        return FI_ETIMEDOUT;
    }
    if (ret != -FI_EAVAIL || fi_cq_readerr(bed.node[nr].cq, &error, 0) != 1) {
        return FI_EOTHER;
    }
    entry->op_context = error.op_context;
    entry->len = error.len;
    return error.err;
}

void bed_done(unsigned int nr, void *context)
{
    struct fi_cq_tagged_entry entry;
    int err = bed_wait(nr, &entry);

    if (err) {
        printf("# node %u: %s\n", nr, fi_strerror(err));
    }
    CHECK(!err);
    CHECK(entry.op_context == context);
}

void bed_fill(void *buf, size_t len, uint32_t seed)
{
    uint8_t *p = buf;
    size_t i;

    for (i = 0; i < len; i++) {
        p[i] = (i * 2654435761u + seed * 40503u) >> 13;
    }
}

bool bed_filled(const void *buf, size_t len, uint32_t seed)
{
    const uint8_t *p = buf;
    size_t i;

    for (i = 0; i < len; i++) {
        if (p[i] != (uint8_t)((i * 2654435761u + seed * 40503u) >> 13)) {
            return false;
        }
    }
    return true;
}

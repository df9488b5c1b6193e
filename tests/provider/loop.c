/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Transport whose NICs, network and nodes are memory of this process. */

#include <sys/eventfd.h>

#include "loop.h"

#define LOOP_CONTEXTS       4
#define LOOP_MBOXES         3
#define LOOP_PUT_BOUNDARY   128
#define LOOP_REGION_SHIFT   32
#define LOOP_WRITABLE       RNIC_BIT(62)    /* of an address for writes */
#define LOOP_WIDE           RNIC_BIT(23)    /* of the number of a region */

struct loop_entry {
    struct rnic_fi_arrival in;
    uint8_t data[RNIC_FI_MSG_MAX];
};

struct loop_mbox {
    bool open;
    unsigned int head, tail;    /* counts of arrived and of taken messages; they wrap */
    struct loop_entry ring[LOOP_MBOX_MAX];
};

struct loop_region {
    uint32_t number;            /* 0: free; never used again */
    uint8_t *ptr;
    size_t len;
    uint64_t access;
};

struct loop_nic {
    struct rnic_fi_nic nic;
    struct loop_mbox mbox[LOOP_MBOXES];
    struct dlist_entry posted;
    unsigned int msgs, writes;  /* channels in use */
    unsigned int left;          /* of @msgs: channels of reads that have ended */
    bool armed;
    struct loop_region region[LOOP_REGIONS];
    uint32_t numbers;           /* of regions so far */
};

/* Contents of rnic_fi_request.nic. */
struct loop_request {
    struct dlist_entry entry;   /* loop_nic.posted */
    unsigned int waits;         /* reap()s that found a full mailbox */
    bool arrived;               /* the mailbox has the message */
};
_Static_assert(sizeof(struct loop_request) <= RNIC_FI_NIC_BYTES, "room");

struct loop loop;
static struct loop_nic *loop_nics[LOOP_NODES][LOOP_CONTEXTS];
/*
 * Protects all NICs.  Recursive, because the end of a request may post another request.
 */
static pthread_mutex_t loop_mutex = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

void loop_reset(void)
{
    memset(&loop, 0, sizeof(loop));
    loop.mbox_entries = LOOP_MBOX_ENTRIES;
    loop.waits_max = 3;
}

static struct loop_nic *loop_nic_of(struct rnic_fi_nic *nic)
{
    return container_of(nic, struct loop_nic, nic);
}

static struct loop_request *loop_request_of(struct rnic_fi_request *req)
{
    return (struct loop_request *)req->nic;
}

/* Returns the NIC with address @to, or NULL if there is none or its node is dead. */
static struct loop_nic *loop_at(const struct rnic_fi_addr *to)
{
    if (to->node >= LOOP_NODES || to->ctx >= LOOP_CONTEXTS ||
        loop.dead & 1U << to->node) {
        return NULL;
    }
    return loop_nics[to->node][to->ctx];
}

static int loop_open(const char *name, struct rnic_fi_nic **out)
{
    struct loop_nic *nic = calloc(1, sizeof(*nic));
    unsigned int node, ctx;

    if (sscanf(name, "loop%u", &node) != 1 || node >= LOOP_NODES) {
        free(nic);
        return -FI_ENODEV;
    }
    for (ctx = 0; ctx < LOOP_CONTEXTS && loop_nics[node][ctx]; ctx++) {
        ;
    }
    if (ctx == LOOP_CONTEXTS) {
        free(nic);
        return -FI_EBUSY;
    }
    dlist_init(&nic->posted);
    nic->nic.node = node;
    nic->nic.ctx = ctx;
    nic->nic.job = 77;
    nic->nic.fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    loop_nics[node][ctx] = nic;
    *out = &nic->nic;
    return 0;
}

static void loop_close(struct rnic_fi_nic *base)
{
    struct loop_nic *nic;
    unsigned int i;

    if (!base) {
        return;
    }
    nic = loop_nic_of(base);
    pthread_mutex_lock(&loop_mutex);
    loop_nics[base->node][base->ctx] = NULL;
    pthread_mutex_unlock(&loop_mutex);
    for (i = 0; i < LOOP_REGIONS; i++) {
        loop.leaks += !!nic->region[i].number;
    }
    close(base->fd);
    free(nic);
}

/* --- Mailboxes --------------------------------------------------------------- */

static int loop_mbox_open(struct rnic_fi_nic *nic, unsigned int nr)
{
    struct loop_mbox *mbox = &loop_nic_of(nic)->mbox[nr];

    pthread_mutex_lock(&loop_mutex);
    mbox->head = mbox->tail = 0;
    mbox->open = true;
    pthread_mutex_unlock(&loop_mutex);
    return 0;
}

static void loop_mbox_close(struct rnic_fi_nic *nic, unsigned int nr)
{
    pthread_mutex_lock(&loop_mutex);
    loop_nic_of(nic)->mbox[nr].open = false;
    pthread_mutex_unlock(&loop_mutex);
}

static bool loop_peek(struct rnic_fi_nic *nic, unsigned int nr,
                      struct rnic_fi_arrival *in)
{
    struct loop_mbox *mbox = &loop_nic_of(nic)->mbox[nr];
    bool found;

    pthread_mutex_lock(&loop_mutex);
    found = mbox->tail != mbox->head && !(loop.stopped & 1U << nic->node);
    if (found) {
        *in = mbox->ring[mbox->tail % LOOP_MBOX_MAX].in;
    }
    pthread_mutex_unlock(&loop_mutex);
    return found;
}

static void loop_pop(struct rnic_fi_nic *nic, unsigned int nr)
{
    struct loop_mbox *mbox = &loop_nic_of(nic)->mbox[nr];

    pthread_mutex_lock(&loop_mutex);
    /* overwrites the entry, so that a later use of the arrival fails */
    memset(&mbox->ring[mbox->tail++ % LOOP_MBOX_MAX], 0xee,
           sizeof(mbox->ring[0]));
    pthread_mutex_unlock(&loop_mutex);
}

static void loop_wake(struct loop_nic *nic)
{
    uint64_t one = 1;

    if (nic->armed && write(nic->nic.fd, &one, sizeof(one)) != sizeof(one)) {
        abort();
    }
}

/* Puts a message of @req, or its note if @is_note, into its mailbox. */
static int loop_arrive(struct loop_nic *nic, struct rnic_fi_request *req,
                       bool is_note)
{
    struct loop_nic *to = loop_at(&req->to);
    struct loop_mbox *mbox;
    struct loop_entry *entry;

    if (!to || req->to.mbox >= LOOP_MBOXES || !to->mbox[req->to.mbox].open) {
        return -FI_EACCES;
    }
    mbox = &to->mbox[req->to.mbox];
    if (mbox->head - mbox->tail >= loop.mbox_entries) {
        loop.full++;
        return ++loop_request_of(req)->waits > loop.waits_max ? -FI_ENOBUFS :
               -FI_EAGAIN;
    }
    entry = &mbox->ring[mbox->head++ % LOOP_MBOX_MAX];
    entry->in.is_note = is_note;
    if (is_note) {
        entry->in.note = req->note;
    } else {
        memcpy(entry->data, req->data, req->len);
        entry->in.from.node = nic->nic.node;
        entry->in.from.ctx = nic->nic.ctx;
        entry->in.data = entry->data;
        entry->in.size = req->len;
    }
    loop_wake(to);
    return 0;
}

/* --- Memory ------------------------------------------------------------------ */

/* Returns the region with @number, or NULL; the first free one if @number is 0. */
static struct loop_region *loop_region_find(struct loop_nic *nic, uint32_t number)
{
    unsigned int i;

    for (i = 0; i < LOOP_REGIONS; i++) {
        if (nic->region[i].number == number) {
            return &nic->region[i];
        }
    }
    return NULL;
}

static int loop_expose(struct rnic_fi_nic *base, const void *ptr, size_t len,
                       uint64_t access, uint64_t *out)
{
    struct loop_nic *nic = loop_nic_of(base);
    struct loop_region *region;

    pthread_mutex_lock(&loop_mutex);
    region = loop_region_find(nic, 0);
    if (region) {
        *region = (struct loop_region) {
            ++nic->numbers | (loop.wide ? LOOP_WIDE : 0), (uint8_t *)ptr, len, access
        };
        *out = (uint64_t)region->number << LOOP_REGION_SHIFT;
    }
    pthread_mutex_unlock(&loop_mutex);
    return region ? 0 : -FI_ENOSPC;
}

static void loop_unexpose(struct rnic_fi_nic *nic, uint64_t base)
{
    struct loop_region *region;

    pthread_mutex_lock(&loop_mutex);
    region = base ? loop_region_find(loop_nic_of(nic), base >> LOOP_REGION_SHIFT) :
             NULL;
    if (region) {
        region->number = 0;
    } else {
        loop.leaks++;   /* an exposure that has ended before, or never was */
    }
    pthread_mutex_unlock(&loop_mutex);
}

static uint64_t loop_address(uint64_t base, uint64_t offset, bool write)
{
    return base + offset + (write ? LOOP_WRITABLE : 0);
}

/*
 * Returns the memory at the remote address of @req, or NULL if the access is not
 * permitted.
 */
static uint8_t *loop_memory(const struct rnic_fi_request *req, bool write)
{
    struct loop_nic *to = loop_at(&req->to);
    uint64_t address = req->remote & ~LOOP_WRITABLE;
    uint64_t number = address >> LOOP_REGION_SHIFT;
    uint64_t offset = address & ((1ULL << LOOP_REGION_SHIFT) - 1);
    const struct loop_region *region;

    if (!to || !number || !(req->remote & LOOP_WRITABLE) == write) {
        return NULL;
    }
    region = loop_region_find(to, number);
    if (!region || !(region->access & (write ? FI_REMOTE_WRITE : FI_REMOTE_READ)) ||
        req->len > region->len || offset > region->len - req->len) {
        return NULL;
    }
    return region->ptr + offset;
}

/* --- Requests ---------------------------------------------------------------- */

static bool loop_is_write(const struct rnic_fi_request *req)
{
    return req->kind == RNIC_FI_REQUEST_WRITE ||
           req->kind == RNIC_FI_REQUEST_WRITE_NOTE;
}

/* Returns the counter of channels in use for requests as @req. */
static unsigned int *loop_channels(struct loop_nic *nic,
                                   const struct rnic_fi_request *req)
{
    return loop_is_write(req) ? &nic->writes : &nic->msgs;
}

static int loop_post(struct rnic_fi_nic *base, struct rnic_fi_request *req)
{
    struct loop_nic *nic = loop_nic_of(base);
    unsigned int *channels = loop_channels(nic, req);
    int ret = 0;

    assert(!req->wake || loop_is_write(req) || req->kind == RNIC_FI_REQUEST_READ);
    pthread_mutex_lock(&loop_mutex);
    if (*channels == (loop_is_write(req) ? LOOP_WRITE_CHANNELS :
                      LOOP_MSG_CHANNELS)) {
        loop.busy++;
        ret = -FI_EAGAIN;
    } else {
        (*channels)++;
        loop.posted[req->kind]++;
        loop_request_of(req)->waits = 0;
        loop_request_of(req)->arrived = false;
        dlist_insert_tail(&loop_request_of(req)->entry, &nic->posted);
    }
    pthread_mutex_unlock(&loop_mutex);
    return ret;
}

static int loop_put(const struct rnic_fi_request *req)
{
    uint8_t *to = loop_memory(req, true);

    if (!to || req->len > loop_transport.put_max ||
        (req->remote & (LOOP_PUT_BOUNDARY - 1)) + req->len > LOOP_PUT_BOUNDARY) {
        return -ENXIO;
    }
    memcpy(to, req->data, req->len);
    return 0;
}

/* Executes a read.  The first call only accepts the request. */
static int loop_read(struct rnic_fi_request *req)
{
    const uint8_t *from;

    if (!req->accepted) {
        if (!loop_at(&req->to)) {
            return -FI_EACCES;
        }
        req->accepted = true;
        return -FI_EAGAIN;
    }
    if (loop.held & 1U << RNIC_FI_REQUEST_READ || !loop_at(&req->to)) {
        return -FI_EAGAIN;
    }
    from = loop_memory(req, false);
    if (!from) {
        return -ENXIO;
    }
    memcpy(req->local, from, req->len);
    return 0;
}

static int loop_write(struct loop_nic *nic, struct rnic_fi_request *req)
{
    uint8_t *to = loop_memory(req, true);

    if (!to) {
        return -ENXIO;
    }
    memcpy(to, req->local, req->len);
    return req->kind == RNIC_FI_REQUEST_WRITE ? 0 :
           loop_arrive(nic, req, true);
}

/* Executes @req.  Returns its result, or -FI_EAGAIN if the request must wait. */
static int loop_execute(struct loop_nic *nic, struct rnic_fi_request *req)
{
    if (loop.fails && req->kind == loop.fail_kind &&
        (req->accepted || !loop.fail_accepted)) {
        loop.fails--;
        return loop.fail_err;
    }
    if (req->kind != RNIC_FI_REQUEST_READ && loop.held & 1U << req->kind) {
        return -FI_EAGAIN;
    }
    switch (req->kind) {
    case RNIC_FI_REQUEST_MESSAGE:
        return loop_request_of(req)->arrived ? 0 : loop_arrive(nic, req, false);
    case RNIC_FI_REQUEST_DATAGRAM:
        (void) loop_arrive(nic, req, false);
        return 0;
    case RNIC_FI_REQUEST_PUT:
        return loop_put(req);
    case RNIC_FI_REQUEST_READ:
        return loop_read(req);
    default:
        return loop_write(nic, req);
    }
}

static void loop_reap(struct rnic_fi_nic *base, rnic_fi_end_fn *end)
{
    struct loop_nic *nic = loop_nic_of(base);
    struct dlist_entry batch, kept, *item;
    struct rnic_fi_request *req;
    int err;

    pthread_mutex_lock(&loop_mutex);
    nic->msgs -= nic->left;
    nic->left = 0;
    dlist_init(&batch);
    dlist_init(&kept);
    /* requests that @end posts wait for the next call */
    dlist_splice_tail(&batch, &nic->posted);
    while (!dlist_empty(&batch)) {
        item = loop.reverse ? batch.prev : batch.next;
        dlist_remove(item);
        req = (struct rnic_fi_request *)
            container_of(item, struct loop_request, entry);
        err = loop_execute(nic, req);
        if (err == -FI_EAGAIN) {
            if (loop.reverse) {
                dlist_insert_head(item, &kept);
            } else {
                dlist_insert_tail(item, &kept);
            }
            continue;
        }
        if (loop.keep && req->kind == RNIC_FI_REQUEST_READ) {
            nic->left++;
        } else {
            (*loop_channels(nic, req))--;
        }
        end(req, err);
    }
    dlist_splice_tail(&kept, &nic->posted);
    dlist_splice_tail(&nic->posted, &kept);
    pthread_mutex_unlock(&loop_mutex);
}

/* --- Waiting ----------------------------------------------------------------- */

static int loop_arm(struct rnic_fi_nic *nic)
{
    uint64_t count;

    pthread_mutex_lock(&loop_mutex);
    (void) !read(nic->fd, &count, sizeof(count));
    loop_nic_of(nic)->armed = true;
    loop.arms++;
    pthread_mutex_unlock(&loop_mutex);
    return 0;
}

/* Returns true if loop_release() wakes the process of @req. */
static bool loop_wakes(const struct rnic_fi_request *req)
{
    return req->wake && loop.held & 1U << req->kind &&
           (req->kind != RNIC_FI_REQUEST_READ || req->accepted);
}

/* Executes a held message; wakes the process of any other held request that asks for it. */
static void loop_release_request(struct loop_nic *nic, struct rnic_fi_request *req)
{
    if (loop_wakes(req)) {
        loop_wake(nic);
    } else if (req->kind == RNIC_FI_REQUEST_MESSAGE && loop.held & 1U << req->kind) {
        loop_request_of(req)->arrived = !loop_arrive(nic, req, false);
    }
}

void loop_release(void)
{
    unsigned int i;
    struct dlist_entry *item;
    struct loop_nic *nic;

    pthread_mutex_lock(&loop_mutex);
    for (i = 0; i < LOOP_NODES * LOOP_CONTEXTS; i++) {
        nic = loop_nics[i / LOOP_CONTEXTS][i % LOOP_CONTEXTS];
        if (!nic) {
            continue;
        }
        dlist_foreach(&nic->posted, item) {
            loop_release_request(nic, (struct rnic_fi_request *)
                                 container_of(item, struct loop_request, entry));
        }
    }
    loop.held = 0;
    pthread_mutex_unlock(&loop_mutex);
}

/*
 * Requests end in reap() only, so only the end of a held request can wake.  Reads and writes
 * without @wake do not count, because transports need not count them.
 */
static bool loop_silent(const struct rnic_fi_nic *base)
{
    const struct loop_nic *nic = container_of(base, const struct loop_nic, nic);
    const struct rnic_fi_request *req;
    const struct dlist_entry *item;
    bool silent = false;

    pthread_mutex_lock(&loop_mutex);
    for (item = nic->posted.next; item != &nic->posted; item = item->next) {
        req = (const struct rnic_fi_request *)
            container_of(item, struct loop_request, entry);
        silent |= !loop_wakes(req) &&
                  (req->wake || (!loop_is_write(req) &&
                                 req->kind != RNIC_FI_REQUEST_READ));
    }
    pthread_mutex_unlock(&loop_mutex);
    return silent;
}

static void loop_hint(struct rnic_fi_nic *nic)
{
    pthread_mutex_lock(&loop_mutex);
    loop.hints++;
    pthread_mutex_unlock(&loop_mutex);
    if (loop.on_hint) {
        loop.on_hint();
    }
}

/* --- The provider ------------------------------------------------------------ */

static struct fi_domain_attr loop_domain_attr = {
    .name = "loop0",
    .threading = FI_THREAD_SAFE,
    .progress = FI_PROGRESS_MANUAL,
    .resource_mgmt = FI_RM_ENABLED,
    .av_type = FI_AV_UNSPEC,
    .mr_mode = FI_MR_PROV_KEY,
    .mr_key_size = sizeof(uint64_t),
    .cq_data_size = sizeof(uint64_t),
    .cq_cnt = 64,
    .ep_cnt = LOOP_MBOXES,
    .tx_ctx_cnt = LOOP_MBOXES,
    .rx_ctx_cnt = LOOP_MBOXES,
    .max_ep_tx_ctx = 1,
    .max_ep_rx_ctx = 1,
    .cntr_cnt = 64,
    .mr_iov_limit = 1,
    .caps = RNIC_FI_DOMAIN_CAPS,
};

static struct fi_fabric_attr loop_fabric_attr = {
    .name = "loop",
    .prov_version = OFI_VERSION_DEF_PROV,
};

static struct fi_info loop_info = {
    .caps = RNIC_FI_TX_CAPS | RNIC_FI_RX_CAPS | RNIC_FI_DOMAIN_CAPS,
    .addr_format = FI_FORMAT_UNSPEC,
    .tx_attr = &rnic_fi_tx_attr,
    .rx_attr = &rnic_fi_rx_attr,
    .ep_attr = &rnic_fi_ep_attr,
    .domain_attr = &loop_domain_attr,
    .fabric_attr = &loop_fabric_attr,
};

static const struct util_prov loop_util_prov = {
    .prov = &loop_prov,
    .info = &loop_info,
};

static int loop_getinfo(uint32_t version, const char *node, const char *service,
                        uint64_t flags, const struct fi_info *hints,
                        struct fi_info **info)
{
    return util_getinfo(&loop_util_prov, version, NULL, NULL, flags, hints, info);
}

static int loop_fabric(struct fi_fabric_attr *attr, struct fid_fabric **fabric,
                       void *context)
{
    return rnic_fi_fabric_open(&loop_transport, attr, fabric, context);
}

struct fi_provider loop_prov = {
    .name = "loop",
    .version = OFI_VERSION_DEF_PROV,
    .fi_version = OFI_VERSION_LATEST,
    .getinfo = loop_getinfo,
    .fabric = loop_fabric,
};

const struct rnic_fi_transport loop_transport = {
    .util_prov = &loop_util_prov,
    .node_max = 0xff,
    .contexts = LOOP_CONTEXTS,
    .mboxes = LOOP_MBOXES,
    .peer_inflight = LOOP_MSG_CHANNELS / 2,
    .put_max = 32,
    .put_boundary = LOOP_PUT_BOUNDARY,
    .open = loop_open,
    .close = loop_close,
    .mbox_open = loop_mbox_open,
    .mbox_close = loop_mbox_close,
    .peek = loop_peek,
    .pop = loop_pop,
    .post = loop_post,
    .reap = loop_reap,
    .expose = loop_expose,
    .unexpose = loop_unexpose,
    .address = loop_address,
    .arm = loop_arm,
    .silent = loop_silent,
    .hint = loop_hint,
};

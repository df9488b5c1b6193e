/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * exanet_transport.c on a libexanet whose channels are memory of this process.  A case
 * ends requests and notifications in the order that it tests.
 */

#include "bed.h"
#include "exanet_fi.h"

#define HIGH_VA ((void *)0xf2123456789000ULL)   /* of 57 bits, as with five page tables */
#define LOW_VA  ((void *)0x7f2345678000ULL)

/* The state of the only device. */
static struct fake {
    bool busy[EXANET_PKTZ_CHANNELS];    /* until exa_msg_test() returns the end */
    bool ended[EXANET_PKTZ_CHANNELS];
    struct exa_read_attr read[EXANET_PKTZ_CHANNELS];
    bool write_busy, write_ended;
} fake;

static struct rnic_fi_nic *nic;
static unsigned int ends;
static uint32_t job = 5;                /* job of the process */

struct fi_provider exanet_prov = { .name = "exanet" };
struct util_prov exanet_util_prov = { .prov = &exanet_prov };

/* --- libexanet ---------------------------------------------------------------- */

int exa_open(const char *name, struct exa_dev **dev)
{
    memset(&fake, 0, sizeof(fake));
    *dev = (struct exa_dev *)&fake;
    return 0;
}

void exa_close(struct exa_dev *dev)
{
}

int exa_query(struct exa_dev *dev, struct exa_attr *attr)
{
    *attr = (struct exa_attr) { .job = job };
    return 0;
}

uint32_t exa_coord(const struct exa_dev *dev)
{
    return 0;
}

uint32_t exa_ctx(const struct exa_dev *dev)
{
    return 0;
}

int exa_fd(const struct exa_dev *dev)
{
    return -1;
}

const char *exa_strerror(int err)
{
    return strerror(-err);
}

/* Like libexanet's: three bits of the window, and the offset in it. */
int exa_xva(struct exa_dev *dev, const void *ptr, size_t len, uint64_t *xva)
{
    *xva = RNIC_PREP(EXANET_VA_WINDOW, 5) | ((uintptr_t)ptr & EXANET_VA_OFFSET);
    return 0;
}

static int fake_post(void)
{
    int i;

    for (i = 0; i < EXANET_PKTZ_CHANNELS; i++) {
        if (!fake.busy[i]) {
            fake.busy[i] = true;
            fake.ended[i] = false;
            return i;
        }
    }
    return -EAGAIN;
}

int exa_msg_post(struct exa_dev *dev, const struct exa_mbox_addr *to,
                 const void *buf, size_t len, uint32_t flags)
{
    return fake_post();
}

int exa_put_small(struct exa_dev *dev, uint64_t dst_gva, uint32_t ctx,
                  const void *buf, size_t len)
{
    return fake_post();
}

int exa_read_post(struct exa_dev *dev, const struct exa_read_attr *attr)
{
    int chan = fake_post();

    if (chan >= 0) {
        fake.read[chan] = *attr;
        attr->notify->status = 0;
    }
    return chan;
}

int exa_msg_test(struct exa_dev *dev, int chan, struct exa_status *st)
{
    CHECK(fake.busy[chan]);
    if (!fake.ended[chan]) {
        return -EINPROGRESS;
    }
    fake.busy[chan] = false;
    return 0;
}

int exa_write_post(struct exa_dev *dev, const struct exa_write_attr *attr)
{
    if (fake.write_busy) {
        return -EAGAIN;
    }
    fake.write_busy = true;
    fake.write_ended = false;
    return 0;
}

int exa_write_test(struct exa_dev *dev, int chan, struct exa_status *st)
{
    if (!fake.write_ended) {
        return -EINPROGRESS;
    }
    fake.write_busy = false;
    return 0;
}

/* A record of the fake is valid as soon as it is not 0. */
int exa_notify_test(const struct exanet_notification *rec, uint64_t *data)
{
    return rec->status ? 0 : -EINPROGRESS;
}

int exa_mbox_create(struct exa_dev *dev, unsigned int nr, unsigned int log2,
                    uint32_t flags, struct exa_mbox **mbox)
{
    return -EBUSY;
}

void exa_mbox_destroy(struct exa_mbox *mbox)
{
}

const struct exanet_message *exa_mbox_peek(struct exa_mbox *mbox)
{
    return NULL;
}

void exa_mbox_pop(struct exa_mbox *mbox)
{
}

int exa_arm(struct exa_dev *dev)
{
    return 0;
}

int exa_ack(struct exa_dev *dev)
{
    return 0;
}

void exa_poll_hint(struct exa_dev *dev)
{
}

/* --- Cases -------------------------------------------------------------------- */

static void count_end(struct rnic_fi_request *req, int err)
{
    CHECK(!err);
    ends++;
}

static void open_nic(void)
{
    ends = 0;
    CHECK(!exanet_transport.open("exanet0", &nic));
}

static void reap(void)
{
    exanet_transport.reap(nic, count_end);
}

static int post(struct rnic_fi_request *req, enum rnic_fi_request_kind kind)
{
    memset(req, 0, sizeof(*req));
    req->kind = kind;
    req->len = 8;
    req->local = &ends;
    return exanet_transport.post(nic, req);
}

/* The bytes of a read arrive before or after the ack of its request. */
static void test_read(void)
{
    struct rnic_fi_request req;

    open_nic();
    CHECK(!exanet_transport.silent(nic));
    CHECK(!post(&req, RNIC_FI_REQUEST_READ));
    CHECK(exanet_transport.silent(nic));
    fake.ended[0] = true;
    reap();
    CHECK(req.accepted && !ends);
    /* The end of the data wakes a sleeper. */
    CHECK(!exanet_transport.silent(nic));
    fake.read[0].notify->status = 1;
    reap();
    CHECK(ends == 1 && !fake.busy[0]);

    CHECK(!post(&req, RNIC_FI_REQUEST_READ));
    fake.read[0].notify->status = 1;
    reap();
    CHECK(req.accepted && ends == 2 && fake.busy[0]);
    CHECK(!exanet_transport.silent(nic));
    /* Another request is silent, whatever channels are left over. */
    CHECK(!post(&req, RNIC_FI_REQUEST_MESSAGE));
    CHECK(exanet_transport.silent(nic));
    fake.ended[0] = fake.ended[1] = true;
    reap();
    CHECK(ends == 3 && !fake.busy[0] && !fake.busy[1]);
    CHECK(!exanet_transport.silent(nic));
    exanet_transport.close(nic);
}

/* Channels of reads that have ended are free again after the next reap(). */
static void test_channels(void)
{
    struct rnic_fi_request req[EXANET_PKTZ_CHANNELS], more;
    unsigned int i;

    open_nic();
    for (i = 0; i < EXANET_PKTZ_CHANNELS; i++) {
        CHECK(!post(&req[i], RNIC_FI_REQUEST_READ));
        fake.read[i].notify->status = 1;
    }
    reap();
    CHECK(ends == EXANET_PKTZ_CHANNELS);
    CHECK(!exanet_transport.silent(nic));
    CHECK(post(&more, RNIC_FI_REQUEST_MESSAGE) == -FI_EAGAIN);
    memset(fake.ended, true, sizeof(fake.ended));
    reap();
    CHECK(ends == EXANET_PKTZ_CHANNELS);
    CHECK(!post(&more, RNIC_FI_REQUEST_MESSAGE));
    CHECK(exanet_transport.silent(nic));
    exanet_transport.close(nic);
}

/* The end of a write wakes a sleeper. */
static void test_write(void)
{
    struct rnic_fi_request req;

    open_nic();
    CHECK(!post(&req, RNIC_FI_REQUEST_WRITE));
    CHECK(!exanet_transport.silent(nic));
    CHECK(post(&req, RNIC_FI_REQUEST_WRITE) == -FI_EAGAIN);
    fake.write_ended = true;
    reap();
    CHECK(ends == 1 && !fake.write_busy);
    exanet_transport.close(nic);
}

/* Reads need all bits of the VA; writes need the window and the offset in it. */
static void test_bases(void)
{
    const struct rnic_fi_transport *t = &exanet_transport;
    uint64_t base, window = RNIC_PREP(EXANET_VA_WINDOW, 5);

    open_nic();
    CHECK(!t->expose(nic, LOW_VA, 4096, FI_REMOTE_READ | FI_REMOTE_WRITE, &base));
    CHECK(!(base & ~RNIC_FI_KEY_BASE));
    CHECK(RNIC_GET(RNIC_FI_KEY_VA, base) == (uintptr_t)LOW_VA);
    CHECK(t->address(base, 0x7ff, false) == (uintptr_t)LOW_VA + 0x7ff);
    CHECK(t->address(base, 0x7ff, true) ==
          (window | (((uintptr_t)LOW_VA + 0x7ff) & EXANET_VA_OFFSET)));
    t->unexpose(nic, base);

    CHECK(!t->expose(nic, HIGH_VA, 4096, FI_REMOTE_READ | FI_REMOTE_WRITE, &base));
    CHECK(base & ~RNIC_FI_KEY_BASE);
    CHECK(t->address(base, 0x7ff, false) == (uintptr_t)HIGH_VA + 0x7ff);
    CHECK(t->address(base, 0x7ff, true) ==
          (window | (((uintptr_t)HIGH_VA + 0x7ff) & EXANET_VA_OFFSET)));
    t->unexpose(nic, base);

    CHECK(!t->expose(nic, HIGH_VA, 4096, FI_REMOTE_READ, &base));
    CHECK(t->address(base, 0, false) == (uintptr_t)HIGH_VA);
    t->unexpose(nic, base);
    t->close(nic);
}

/* Other nodes refuse local jobs, which are above the named jobs. */
static void test_job(void)
{
    open_nic();
    CHECK(nic->job == 5 && !nic->remedy);
    exanet_transport.close(nic);
    job = 4095;
    open_nic();
    CHECK(nic->job == 4095 && nic->remedy && strstr(nic->remedy, "exanet-job(8)"));
    exanet_transport.close(nic);
    job = 5;
}

const struct bed_case exanet_cases[] = {
    { "exanet/read", test_read },
    { "exanet/channels", test_channels },
    { "exanet/write", test_write },
    { "exanet/bases", test_bases },
    { "exanet/job", test_job },
    { NULL },
};

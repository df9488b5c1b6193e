/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names, the address vector, services and mailboxes in the common part of the providers.
 */

#include "bed.h"

static void test_name(void)
{
    const struct rnic_fi_name *name = &bed.node[1].name;

    CHECK(le32toh(name->node) == 1);
    CHECK(name->ctx == 0 && name->mbox == 0);
    CHECK(name->tag != 0);
    CHECK(le16toh(name->job) == 77);
    CHECK(name->version == RNIC_FI_VERSION);
    CHECK(!name->service);
}

static void test_params(void)
{
    CHECK(rnic_fi_quiet_ms == 2000);    /* main() sets FI_LOOP_QUIET_MS */
    CHECK(rnic_fi_eager_size == 16384);
}

static void test_av(void)
{
    struct rnic_fi_name bad = bed.node[1].name, got;
    size_t len = sizeof(got);
    char text[64];
    fi_addr_t addr = 0;

    CHECK(!fi_av_lookup(bed.node[0].av, 1, &got, &len));
    CHECK(len == sizeof(got) && !memcmp(&got, &bed.node[1].name, len));
    snprintf(text, sizeof(text), "loop://0x1/0/0/%04x",
             le16toh(bed.node[1].name.tag));
    len = sizeof(text);
    CHECK(!strcmp(fi_av_straddr(bed.node[0].av, &got, (char[64]) { 0 }, &len),
                  text));
    bad.node = htole32(loop_transport.node_max + 1);
    CHECK(fi_av_insert(bed.node[0].av, &bad, 1, &addr, 0, NULL) == 0);
    CHECK(addr == FI_ADDR_NOTAVAIL);
    bad = bed.node[1].name;
    bad.mbox = loop_transport.mboxes;
    CHECK(fi_av_insert(bed.node[0].av, &bad, 1, &addr, 0, NULL) == 0);
    bad = bed.node[1].name;
    bad.ctx = loop_transport.contexts;
    CHECK(fi_av_insert(bed.node[0].av, &bad, 1, &addr, 0, NULL) == 0);
    addr = 2;
    CHECK(!fi_av_remove(bed.node[0].av, &addr, 1, 0));
    CHECK(fi_send(bed.node[0].ep, "x", 1, NULL, 2, NULL) == -FI_EINVAL);
    CHECK(fi_av_lookup(bed.node[0].av, 2, &got, &len) == -FI_EINVAL);
}

/*
 * A sender that is not in the AV has the address FI_ADDR_NOTAVAIL until it is inserted.
 */
static void test_unknown_sender(void)
{
    struct fi_cq_tagged_entry entry;
    fi_addr_t from = 0, addr = 1;
    char buf[8];
    ssize_t ret;

    CHECK(!fi_av_remove(bed.node[0].av, &addr, 1, 0));
    CHECK(!fi_recv(bed.node[0].ep, buf, sizeof(buf), NULL, FI_ADDR_UNSPEC, NULL));
    CHECK(!fi_inject(bed.node[1].ep, "unknown", 8, 0));
    do {
        ret = fi_cq_readfrom(bed.node[0].cq, &entry, 1, &from);
    } while (ret == -FI_EAGAIN);
    CHECK(ret == 1 && from == FI_ADDR_NOTAVAIL);
    CHECK(fi_av_insert(bed.node[0].av, &bed.node[1].name, 1, &addr, 0, NULL) == 1);
    CHECK(!fi_recv(bed.node[0].ep, buf, sizeof(buf), NULL, addr, NULL));
    CHECK(!fi_inject(bed.node[1].ep, "unknown", 8, 0));
    do {
        ret = fi_cq_readfrom(bed.node[0].cq, &entry, 1, &from);
    } while (ret == -FI_EAGAIN);
    CHECK(ret == 1 && from == addr);
}

static void test_file_of_nodes(void)
{
    char path[] = "/tmp/provider-test-XXXXXX";
    FILE *file = fdopen(mkstemp(path), "w");
    uint32_t number = 0;

    fputs("# nodes\n3 three drei\n0x10\tsixteen # comment\n300 beyond\n", file);
    fclose(file);
    CHECK(!rnic_fi_node_number(&loop_transport, path, "DREI", &number) &&
          number == 3);
    CHECK(!rnic_fi_node_number(&loop_transport, path, "sixteen", &number) &&
          number == 16);
    CHECK(!rnic_fi_node_number(&loop_transport, path, "0xff", &number) &&
          number == 255);
    CHECK(rnic_fi_node_number(&loop_transport, path, "256", &number) ==
          -FI_ENODATA);
    CHECK(rnic_fi_node_number(&loop_transport, path, "beyond", &number) ==
          -FI_ENODATA);
    CHECK(rnic_fi_node_number(&loop_transport, path, "comment", &number) ==
          -FI_ENODATA);
    unlink(path);
}

/*
 * Opens and enables another endpoint of node 1, with @service unless it is 0.  Returns
 * the result of fi_enable().
 */
static int open_more(uint16_t service, struct fid_ep **ep)
{
    struct rnic_fi_name src = rnic_fi_name_of_service(1, service);
    struct fi_info *info = fi_dupinfo(bed.info);
    int ret;

    free(info->domain_attr->name);
    info->domain_attr->name = strdup("loop1");
    if (service) {
        info->src_addr = mem_dup(&src, sizeof(src));
        info->src_addrlen = sizeof(src);
    }
    CHECK(!fi_endpoint(bed.node[1].domain, info, ep, NULL));
    fi_freeinfo(info);
    CHECK(!fi_ep_bind(*ep, &bed.node[1].av->fid, 0));
    CHECK(!fi_ep_bind(*ep, &bed.node[1].cq->fid, FI_SEND | FI_RECV));
    ret = fi_enable(*ep);
    return ret;
}

static void test_mailboxes(void)
{
    struct fid_ep *ep[LOOP_NODES];
    unsigned int i;

    /* node 1 has one endpoint already */
    for (i = 1; i < loop_transport.mboxes; i++) {
        CHECK(!open_more(0, &ep[i]));
    }
    CHECK(open_more(0, &ep[0]) == -FI_ENOSPC);
    for (i = 0; i < loop_transport.mboxes; i++) {
        CHECK(!fi_close(&ep[i]->fid));
    }
}

/* A transport with more mailboxes than the messages have numbers for. */
static void test_mailboxes_limit(void)
{
    struct rnic_fi_transport transport = loop_transport;
    struct fid_fabric *fabric;
    int ret;

    transport.mboxes = RNIC_FI_MBOXES + 1;
    CHECK(rnic_fi_fabric_open(&transport, bed.info->fabric_attr, &fabric, NULL) ==
          -FI_EINVAL);
    transport.mboxes = RNIC_FI_MBOXES;
    ret = rnic_fi_fabric_open(&transport, bed.info->fabric_attr, &fabric, NULL);
    if (CHECK(!ret)) {
        CHECK(!fi_close(&fabric->fid));
    }
}

static void test_service(void)
{
    struct rnic_fi_name name = rnic_fi_name_of_service(1, 4711);
    struct fid_ep *other, *owner, *second;
    fi_addr_t addr;
    char buf[8] = "";
    ssize_t ret;

    /* the lookup queries all mailboxes of the node; the last mailbox has the service */
    CHECK(!open_more(4712, &other));
    CHECK(!open_more(4711, &owner));
    CHECK(open_more(4711, &second) == -FI_EADDRINUSE);
    CHECK(!fi_close(&second->fid));
    CHECK(fi_av_insert(bed.node[0].av, &name, 1, &addr, 0, NULL) == 1);
    CHECK(!fi_recv(owner, buf, sizeof(buf), NULL, FI_ADDR_UNSPEC, buf));
    do {
        ret = fi_send(bed.node[0].ep, "service", 8, NULL, addr, &name);
        bed_poll(1);
    } while (ret == -FI_EAGAIN);
    CHECK(!ret);
    bed_done(0, &name);
    bed_done(1, buf);
    CHECK(!strcmp(buf, "service"));
    CHECK(loop.posted[RNIC_FI_REQUEST_DATAGRAM] > 2);
    CHECK(!fi_close(&owner->fid));
    CHECK(!fi_close(&other->fid));
}

/* Gives node 0 a CQ whose readers may sleep, and node 1 its new name. */
static void open_waiting(void)
{
    fi_addr_t addr = 0;

    bed_node_close(0);
    bed_node_open(0, FI_WAIT_FD);
    CHECK(!fi_av_remove(bed.node[1].av, &addr, 1, 0));
    CHECK(fi_av_insert(bed.node[1].av, &bed.node[0].name, 1, &addr, 0, NULL) == 1 &&
          addr == 0);
    addr = FI_ADDR_NOTAVAIL;
    CHECK(fi_av_insert(bed.node[0].av, &bed.node[0].name, 1, &addr, 0, NULL) == 1 &&
          addr == 0);
    CHECK(fi_av_insert(bed.node[0].av, &bed.node[1].name, 1, &addr, 0, NULL) == 1 &&
          addr == 1);
}

/* Time at which the thread of wait_for() has run its function. */
static uint64_t woken_ms;

static void *run_later(void *arg)
{
    void (**wake)(void) = arg;

    usleep(50000);
    woken_ms = ofi_gettime_ms();
    (*wake)();
    return NULL;
}

/*
 * Sleeps in fi_cq_sread() of node 0 until a thread has called @wake.
 *
 * The timer of the watch also wakes the reader, after RNIC_FI_WATCH_MS.  So a wait of
 * less than half of that has ended by a wake-up of the NIC.  A wake-up usually takes less
 * than a millisecond; a busy machine may take some hundred more.  A reader that polls
 * would arm the NIC for each poll.
 */
static void wait_for(void (*wake)(void), void *context)
{
    struct fi_cq_tagged_entry entry = { 0 };
    uint64_t waited;
    pthread_t thread;

    loop.arms = 0;
    CHECK(!pthread_create(&thread, NULL, run_later, &wake));
    CHECK(fi_cq_sread(bed.node[0].cq, &entry, 1, NULL, 10000) == 1);
    waited = ofi_gettime_ms();
    CHECK(entry.op_context == context);
    pthread_join(thread, NULL);
    if (!CHECK(waited < woken_ms + RNIC_FI_WATCH_MS / 2)) {
        printf("# woken after %" PRIu64 " ms\n", waited - woken_ms);
    }
    if (!CHECK(loop.arms < 10)) {
        printf("# armed %u times\n", loop.arms);
    }
}

static void test_wait_time(void)
{
    struct fi_cq_tagged_entry entry;
    uint64_t start = ofi_gettime_ms();

    open_waiting();
    CHECK(fi_cq_sread(bed.node[0].cq, &entry, 1, NULL, 30) == -FI_EAGAIN);
    CHECK(ofi_gettime_ms() >= start + 29);
}

static void test_wait_message(void)
{
    char buf[8];

    open_waiting();
    CHECK(!fi_recv(bed.node[0].ep, buf, sizeof(buf), NULL, FI_ADDR_UNSPEC, buf));
    /* Progress of the sender would be progress of the waiter, too. */
    loop.held = 1 << RNIC_FI_REQUEST_MESSAGE;
    CHECK(!fi_inject(bed.node[1].ep, "wake up", 8, 0));
    wait_for(loop_release, buf);
    bed_poll(2);
}

static void test_wait_read(void)
{
    static uint8_t local[1024];

    open_waiting();
    loop.held = 1 << RNIC_FI_REQUEST_READ;
    CHECK(!fi_read(bed.node[0].ep, local, sizeof(local), NULL, 1, 0,
                   fi_mr_key(bed.node[1].mr), local));
    bed_poll(1);        /* accepts the request, after which the end wakes */
    wait_for(loop_release, local);
    /* the message gets the memory of the read; loop_post() checks that it does not wake */
    CHECK(!fi_inject(bed.node[0].ep, local, 8, 1));
    bed_poll(2);
}

static void test_wait_write(void)
{
    static uint8_t local[1024];

    open_waiting();
    loop.held = 1 << RNIC_FI_REQUEST_WRITE;
    CHECK(!fi_write(bed.node[0].ep, local, sizeof(local), NULL, 1, 0,
                    fi_mr_key(bed.node[1].mr), local));
    wait_for(loop_release, local);
}

/* A waiter may sleep while the channels of reads that have ended are still in use. */
static void test_wait_channels(void)
{
    struct fid *cq;
    uint8_t local[64];
    unsigned int i;

    open_waiting();
    cq = &bed.node[0].cq->fid;
    loop.keep = true;
    for (i = 0; i < 3 * LOOP_MSG_CHANNELS; i++) {
        CHECK(!fi_read(bed.node[0].ep, local, sizeof(local), NULL, 1, 0,
                       fi_mr_key(bed.node[1].mr), local));
    }
    for (i = 0; i < 3 * LOOP_MSG_CHANNELS; i++) {
        bed_done(0, local);
    }
    CHECK(loop.posted[RNIC_FI_REQUEST_READ] == 3 * LOOP_MSG_CHANNELS);
    CHECK(!fi_trywait(bed.fabric, &cq, 1));
}

const struct bed_case name_cases[] = {
    { "name/of-endpoint", test_name },
    { "name/of-node", test_file_of_nodes },
    { "param/environment", test_params },
    { "av/entries", test_av },
    { "av/unknown-sender", test_unknown_sender },
    { "ep/mailboxes", test_mailboxes },
    { "fabric/mailboxes", test_mailboxes_limit },
    { "lookup/service", test_service },
    { "progress/wait-time", test_wait_time },
    { "progress/wait-message", test_wait_message },
    { "progress/wait-read", test_wait_read },
    { "progress/wait-write", test_wait_write },
    { "progress/wait-channels", test_wait_channels },
    { NULL },
};

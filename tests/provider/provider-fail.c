/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Failures in the common part of the providers: peers that end, requests that fail. */

#include "bed.h"

static uint8_t local[4096];

static uint64_t key(void)
{
    return fi_mr_key(bed.node[1].mr);
}

/*
 * A send fails with FI_ECONNRESET if the peer's mailbox is closed, and the peer counts as
 * gone.
 */
static void test_closed(void)
{
    struct fi_cq_tagged_entry entry;

    bed_node_close(1);
    CHECK(!fi_send(bed.node[0].ep, local, 8, NULL, 1, local));
    CHECK(bed_wait(0, &entry) == FI_ECONNRESET);
    CHECK(entry.op_context == local);
    CHECK(fi_send(bed.node[0].ep, local, 8, NULL, 1, local) == -FI_ECONNRESET);
    CHECK(fi_cntr_readerr(bed.node[0].sent) == 1);
    /* other peers are not affected */
    CHECK(!fi_recv(bed.node[2].ep, local, 8, NULL, 0, local));
    CHECK(!fi_inject(bed.node[0].ep, local, 8, 2));
    bed_done(2, local);
}

/*
 * An endpoint without FI_RECV has no CQ for receives.  A message to this endpoint is
 * lost, and a rendezvous with this endpoint ends with an error at its sender.
 */
static void test_no_receive(void)
{
    static uint8_t long_message[65536];
    struct fi_cq_tagged_entry entry;
    fi_addr_t addr;

    bed_node_close(1);
    bed.info->caps &= ~(uint64_t)FI_RECV;
    bed_node_open(1, FI_WAIT_NONE);
    CHECK(fi_av_insert(bed.node[0].av, &bed.node[1].name, 1, &addr, 0, NULL) == 1);
    CHECK(!fi_send(bed.node[0].ep, local, 8, NULL, addr, local));
    bed_done(0, local);
    CHECK(!fi_tsend(bed.node[0].ep, local, 8, NULL, addr, 7, local));
    bed_done(0, local);
    CHECK(!fi_send(bed.node[0].ep, long_message, sizeof(long_message), NULL, addr,
                   long_message));
    CHECK(bed_wait(0, &entry) == FI_EOPNOTSUPP);
    CHECK(entry.op_context == long_message);
    CHECK(fi_cq_read(bed.node[1].cq, &entry, 1) == -FI_EAGAIN);
    /* the endpoint can still send */
    CHECK(!fi_recv(bed.node[2].ep, local, 8, NULL, FI_ADDR_UNSPEC, local));
    CHECK(fi_av_insert(bed.node[1].av, &bed.node[2].name, 1, &addr, 0, NULL) == 1);
    CHECK(!fi_inject(bed.node[1].ep, local, 8, addr));
    bed_done(2, local);
}

/*
 * A new endpoint in the mailbox of a closed endpoint refuses messages that were for the
 * old one.
 */
static void test_replaced(void)
{
    struct fi_cq_tagged_entry entry;
    char buf[8];
    ssize_t ret;

    /*
     * node 0 sends a message, so that its next messages have other numbers than the first
     */
    CHECK(!fi_recv(bed.node[1].ep, buf, sizeof(buf), NULL, 0, buf));
    CHECK(!fi_inject(bed.node[0].ep, "first", 6, 1));
    bed_done(1, buf);
    bed_node_close(1);
    bed_node_open(1, FI_WAIT_NONE);
    CHECK(!fi_recv(bed.node[1].ep, buf, sizeof(buf), NULL, FI_ADDR_UNSPEC, buf));
    CHECK(!fi_send(bed.node[0].ep, local, 1024, NULL, 1, local));
    CHECK(bed_wait(0, &entry) == FI_ECONNRESET || entry.op_context == local);
    do {
        ret = fi_send(bed.node[0].ep, local, 8, NULL, 1, local);
        bed_poll(1);
    } while (!ret || ret == -FI_EAGAIN);
    CHECK(ret == -FI_ECONNRESET);
    CHECK(fi_cq_read(bed.node[1].cq, &entry, 1) == -FI_EAGAIN);
}

/*
 * Sends to node @nr, whose endpoint is closed.  Returns the number of lines on standard
 * error that contain @text.
 */
static unsigned int refuse(const char *text, unsigned int nr)
{
    int copy = dup(STDERR_FILENO);
    unsigned int count = 0;
    char line[256];
    FILE *file = tmpfile();

    dup2(fileno(file), STDERR_FILENO);
    (void) fi_inject(bed.node[0].ep, local, 8, nr);
    bed_poll(10);
    CHECK(fi_inject(bed.node[0].ep, local, 8, nr) == -FI_ECONNRESET);
    dup2(copy, STDERR_FILENO);
    close(copy);
    rewind(file);
    while (fgets(line, sizeof(line), file)) {
        count += !!strstr(line, text);
    }
    fclose(file);
    return count;
}

/*
 * If other nodes refuse the job, a line says so although fi_inject() has no completion
 * and libfabric's log is off.
 */
static void test_refused(void)
{
    static const char text[] = "job 77 does not reach node 0x2: remedy";
    struct rnic_fi_domain *domain =
        container_of(bed.node[0].domain, struct rnic_fi_domain,
                     util_domain.domain_fid);

    bed_node_close(1);
    CHECK(refuse("does not reach", 1) == 0);
    domain->nic->remedy = "remedy";
    bed_node_close(2);
    CHECK(refuse(text, 2) == 1);
    /* one line for each domain */
    CHECK(refuse("does not reach", 2) == 0);
}

/* All operations that wait for a peer fail when the peer is gone. */
static void test_pending(void)
{
    struct fi_cq_tagged_entry entry;
    unsigned int i, atomics = 0, sends = 0;
    uint64_t operand = 1;

    loop.stopped = 1 << 1;
    /* a rendezvous waits for FIN, an atomic for its response */
    CHECK(!fi_tsend(bed.node[0].ep, bed.node[0].window, BED_WINDOW, NULL, 1, 0,
                    &sends));
    CHECK(!fi_atomic(bed.node[0].ep, &operand, 1, NULL, 1, 0, key(), FI_UINT64,
                     FI_SUM, &atomics));
    bed_poll(10);
    CHECK(fi_cq_read(bed.node[0].cq, &entry, 1) == -FI_EAGAIN);
    loop.dead = 1 << 1;
    CHECK(!fi_send(bed.node[0].ep, local, 8, NULL, 1, local));
    for (i = 0; i < 3; i++) {
        CHECK(bed_wait(0, &entry) == FI_ECONNRESET);
        if (entry.op_context == &sends || entry.op_context == &atomics) {
            (*(unsigned int *)entry.op_context)++;
        } else {
            CHECK(entry.op_context == local);
        }
    }
    CHECK(sends == 1 && atomics == 1);
}

/*
 * A read that the peer's NIC has accepted may never end.  It fails together with the
 * peer, whether the NIC has accepted it before or after the peer's end.
 */
static void test_read(void)
{
    struct fi_cq_tagged_entry entry;

    loop.held = 1 << RNIC_FI_REQUEST_READ;
    CHECK(!fi_read(bed.node[0].ep, local, 1024, NULL, 1, 0, key(), &key));
    bed_poll(10);
    CHECK(fi_cq_read(bed.node[0].cq, &entry, 1) == -FI_EAGAIN);
    /* the next read is posted, but not yet accepted, when the peer is gone */
    loop.fail_kind = RNIC_FI_REQUEST_MESSAGE;
    loop.fail_err = -FI_EACCES;
    loop.fails = 1;
    CHECK(!fi_send(bed.node[0].ep, local, 8, NULL, 1, local));
    CHECK(!fi_read(bed.node[0].ep, local, 1024, NULL, 1, 0, key(), &loop));
    CHECK(bed_wait(0, &entry) == FI_ECONNRESET);
    CHECK(entry.op_context == &key);
    CHECK(bed_wait(0, &entry) == FI_ECONNRESET);
    CHECK(entry.op_context == local);
    CHECK(bed_wait(0, &entry) == FI_ECONNRESET);
    CHECK(entry.op_context == &loop);
}

/*
 * The NIC ends a read from a dead peer after the read has failed: no second completion.
 */
static void test_read_accepted(void)
{
    struct fi_cq_tagged_entry entry;

    loop.held = 1 << RNIC_FI_REQUEST_READ;
    CHECK(!fi_read(bed.node[0].ep, local, 1024, NULL, 1, 0, key(), &key));
    bed_poll(10);
    loop.fail_kind = RNIC_FI_REQUEST_MESSAGE;
    loop.fail_err = -FI_EACCES;
    loop.fails = 1;
    CHECK(!fi_inject(bed.node[0].ep, local, 8, 1));
    CHECK(bed_wait(0, &entry) == FI_ECONNRESET);
    CHECK(entry.op_context == &key);
    loop.held = 0;
    bed_poll(10);
    CHECK(fi_cq_read(bed.node[0].cq, &entry, 1) == -FI_EAGAIN);
}

/* A read is posted again if the peer's NIC did not accept it. */
static void test_read_refused(void)
{
    struct fi_cq_tagged_entry entry;

    loop.fail_kind = RNIC_FI_REQUEST_READ;
    loop.fail_err = -FI_ENOBUFS;
    loop.fails = 2;
    bed_fill(bed.node[1].window, 512, 9);
    CHECK(!fi_read(bed.node[0].ep, local, 512, NULL, 1, 0, key(), local));
    bed_done(0, local);
    CHECK(bed_filled(local, 512, 9));
    CHECK(loop.posted[RNIC_FI_REQUEST_READ] == 3);
    loop.fail_err = -FI_EFAULT;
    loop.fails = 1;
    CHECK(!fi_read(bed.node[0].ep, local, 512, NULL, 1, 0, key(), local));
    CHECK(bed_wait(0, &entry) == FI_EFAULT);
    /* an error after the peer's NIC has accepted the read is final */
    loop.posted[RNIC_FI_REQUEST_READ] = 0;
    loop.fail_err = -FI_ENOBUFS;
    loop.fail_accepted = true;
    loop.fails = 1;
    CHECK(!fi_read(bed.node[0].ep, local, 512, NULL, 1, 0, key(), local));
    CHECK(bed_wait(0, &entry) == FI_ENOBUFS);
    CHECK(loop.posted[RNIC_FI_REQUEST_READ] == 1);
    /* these errors do not end the peer */
    CHECK(!fi_read(bed.node[0].ep, local, 512, NULL, 1, 0, key(), local));
    bed_done(0, local);
}

/* A peer whose mailbox is full in all retries is unreachable. */
static void test_full(void)
{
    struct fi_cq_tagged_entry entry;

    loop.fail_kind = RNIC_FI_REQUEST_MESSAGE;
    loop.fail_err = -FI_ENOBUFS;
    loop.fails = RNIC_FI_FULL_RETRIES + 1;
    CHECK(!fi_send(bed.node[0].ep, local, 8, NULL, 1, local));
    CHECK(bed_wait(0, &entry) == FI_EHOSTUNREACH);
    CHECK(!loop.fails);
    CHECK(fi_send(bed.node[0].ep, local, 8, NULL, 1, local) == -FI_EHOSTUNREACH);
}

/*
 * A message of a new sender stays in the mailbox while memory for the sender is lacking, so
 * that no message is lost.
 */
static void test_no_memory(void)
{
    char first[8] = "", second[8] = "";

    CHECK(!fi_recv(bed.node[1].ep, first, sizeof(first), NULL, 0, first));
    CHECK(!fi_recv(bed.node[1].ep, second, sizeof(second), NULL, 0, second));
    loop.stopped = 1 << 1;
    CHECK(!fi_inject(bed.node[0].ep, "first", 6, 1));
    CHECK(!fi_inject(bed.node[0].ep, "second", 7, 1));
    bed_poll(3);
    bed_calloc_size = sizeof(struct rnic_fi_peer);
    bed_calloc_fails = 3;
    loop.stopped = 0;
    bed_done(1, first);
    bed_done(1, second);
    CHECK(!bed_calloc_fails);
    CHECK(!strcmp(first, "first") && !strcmp(second, "second"));
}

/* An endpoint can be closed while the NIC has requests of it. */
static void test_close_posted(void)
{
    loop.held = 1 << RNIC_FI_REQUEST_READ | 1 << RNIC_FI_REQUEST_WRITE;
    CHECK(!fi_read(bed.node[0].ep, local, 1024, NULL, 1, 0, key(), local));
    CHECK(!fi_write(bed.node[0].ep, local, 1024, NULL, 1, 0, key(), local));
    bed_poll(3);
    CHECK(!fi_close(&bed.node[0].ep->fid));
    loop.held = 0;
    bed_poll(3);
    CHECK(!fi_endpoint(bed.node[0].domain, bed.info, &bed.node[0].ep, NULL));
}

const struct bed_case fail_cases[] = {
    { "peer/closed", test_closed },
    { "peer/refused", test_refused },
    { "peer/replaced", test_replaced },
    { "rx/no-receive", test_no_receive },
    { "rx/no-memory", test_no_memory },
    { "peer/pending", test_pending },
    { "read/dead-peer", test_read },
    { "read/accepted", test_read_accepted },
    { "read/refused", test_read_refused },
    { "pkt/full", test_full },
    { "ep/close-posted", test_close_posted },
    { NULL },
};

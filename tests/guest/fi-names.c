/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libfabric over the NIC: programs that find each other by node and service, without
 * another connection, as programs that are started as "server" and "client SERVER".
 *
 *   fi-names --serve SERVICE            on one node: prints "ready", echoes messages
 *   fi-names SERVICE NODE [NODE...]     on the other: runs the tests, prints TAP;
 *                                       each NODE is a name of the server's node
 */
#define _GNU_SOURCE
#include "fi-check.h"

#include <libexanet.h>

#define MESSAGE_BYTES 256
/* messages of a lookup to one mailbox: fi_exanet(7) */
#define LOOKUPS_MAX 8

/* kind of a message */
enum { HELLO, ECHO, END };

struct message {
    uint32_t kind;
    uint32_t len;                       /* of a HELLO: bytes of the name in data */
    uint8_t data[MESSAGE_BYTES];
};

static ssize_t getinfo(const char *node, const char *service, uint64_t flags,
                       struct fi_info **info)
{
    struct fi_info *hints = make_hints(FI_AV_MAP);
    ssize_t ret = fi_getinfo(FI_VERSION(1, 20), node, service, flags, hints,
                             info);

    fi_freeinfo(hints);
    return ret;
}

static void receive(struct message *m)
{
    must("recv", fi_recv(me.ep, m, sizeof(*m), NULL, FI_ADDR_UNSPEC, NULL));
    must("recv", -done(me.rxcq));
}

static void send_message(const struct message *m)
{
    RETRY(fi_send(me.ep, m, sizeof(*m), NULL, me.peer, NULL));
    must("send", -done(me.txcq));
}

/* --- Server ----------------------------------------------------------------- */

static int serve(const char *service)
{
    struct fi_info *info;
    struct message m;
    struct fi_cq_tagged_entry e;

    must("fi_getinfo", getinfo(NULL, service, FI_SOURCE, &info));
    node_open_info(&me, info, FI_AV_MAP, FI_WAIT_NONE);
    printf("ready\n");
    fflush(stdout);
    for (;;) {
        must("recv", fi_recv(me.ep, &m, sizeof(m), NULL, FI_ADDR_UNSPEC, NULL));
        /* without a timeout, because clients may connect at any time */
        while (fi_cq_read(me.rxcq, &e, 1) != 1) {
        }
        if (m.kind == END) {
            break;
        }
        if (m.kind == HELLO &&
            fi_av_insert(me.av, m.data, 1, &me.peer, 0, NULL) != 1) {
            die("fi_av_insert");
        }
        send_message(&m);
    }
    node_close(&me);
    return 0;
}

/* --- Client ----------------------------------------------------------------- */

static const char *the_service;
static const char *the_node;

static void echo(uint32_t seed)
{
    struct message m = { .kind = ECHO }, back;

    fill(m.data, sizeof(m.data), seed);
    send_message(&m);
    receive(&back);
    if (memcmp(&m, &back, sizeof(m))) {
        fail("echo %u is wrong", seed);
    }
}

/* Sends to the name that fi_getinfo() has returned, and uses no other name. */
static void test_meet(void)
{
    struct message m = { .kind = HELLO }, back;
    struct fi_info *info;
    size_t len = sizeof(m.data);
    uint32_t i;
    ssize_t ret;

    ret = getinfo(the_node, the_service, 0, &info);
    if (ret) {
        fail("fi_getinfo: %s", fi_strerror(-ret));
        return;
    }
    node_open_info(&me, info, FI_AV_MAP, FI_WAIT_NONE);
    if (fi_av_insert(me.av, info->dest_addr, 1, &me.peer, 0, NULL) != 1) {
        die("fi_av_insert");
    }
    must("fi_getname", fi_getname(&me.ep->fid, m.data, &len));
    m.len = len;
    send_message(&m);
    receive(&back);
    for (i = 0; i < 20; i++) {
        echo(i);
    }
    node_close(&me);
}

/* The first four bytes of the source address are those of the endpoint's name. */
static void test_source(void)
{
    uint8_t name[NAME_MAX_BYTES];
    size_t len = sizeof(name);

    node_open(&me, FI_AV_MAP, FI_WAIT_NONE);
    must("fi_getname", fi_getname(&me.ep->fid, name, &len));
    if (!me.info->src_addr || me.info->src_addrlen != len ||
        memcmp(me.info->src_addr, name, 4)) {
        fail("src_addr has %zu bytes, not %zu, or another node",
             me.info->src_addrlen, len);
    }
    node_close(&me);
}

static void refused(const char *node, const char *service, uint64_t flags)
{
    struct fi_info *info;
    ssize_t ret = getinfo(node, service, flags, &info);

    if (ret != -FI_ENODATA) {
        fail("node %s, service %s: %s", node, service, fi_strerror(-ret));
    }
    if (!ret) {
        fi_freeinfo(info);
    }
}

static void test_refused(void)
{
    refused("no-such-node", the_service, 0);
    refused("0x400000", the_service, 0);
    refused("1x", the_service, 0);
    refused(the_node, "http", 0);
    refused(the_node, "65536", 0);
    refused(the_node, "0", 0);
    refused(the_node, "-1", 0);
    /* an endpoint of this node cannot have the other node's coordinates */
    refused(the_node, the_service, FI_SOURCE);
}

/* The AV refuses a node without a service, because a node has many endpoints. */
static void test_no_service(void)
{
    struct fi_info *info;
    int ret;

    must("fi_getinfo", getinfo(the_node, NULL, 0, &info));
    node_open_info(&me, info, FI_AV_MAP, FI_WAIT_NONE);
    ret = fi_av_insert(me.av, info->dest_addr, 1, &me.peer, 0, NULL);
    if (ret > 0) {
        fail("the AV took a node without service");
    }
    node_close(&me);
}

/*
 * Sends to a service without an endpoint fail after a timeout of at least five seconds.
 * A later send starts a new lookup.
 */
static void test_nobody(void)
{
    struct message m = { .kind = ECHO };
    struct fi_info *info;
    ssize_t ret;
    double from, took;
    int i;

    must("fi_getinfo", getinfo(the_node, "61234", 0, &info));
    node_open_info(&me, info, FI_AV_MAP, FI_WAIT_NONE);
    if (fi_av_insert(me.av, info->dest_addr, 1, &me.peer, 0, NULL) != 1) {
        die("fi_av_insert");
    }
    from = now();
    do {
        ret = fi_send(me.ep, &m, sizeof(m), NULL, me.peer, NULL);
    } while (ret == -FI_EAGAIN && now() < from + TIMEOUT);
    took = now() - from;
    if (ret != -FI_ECONNREFUSED || took < 5) {
        fail("%s after %.1f s", fi_strerror(-ret), took);
    }
    /* a lookup under way blocks neither fi_av_remove() nor fi_close() */
    for (i = 0; i < 3; i++) {
        ret = fi_send(me.ep, &m, sizeof(m), NULL, me.peer, NULL);
        if (ret != -FI_EAGAIN) {
            fail("the next lookup: %s", fi_strerror(-ret));
        }
    }
    must("fi_av_remove", fi_av_remove(me.av, &me.peer, 1, 0));
    node_close(&me);
}

/*
 * fi_trywait() does not permit sleep while a lookup goes on, because the lookup needs
 * calls of the program.  After the lookup has failed, the program may sleep.
 */
static void test_sleep(void)
{
    struct message m = { .kind = ECHO };
    struct fi_cq_tagged_entry e;
    struct fi_info *info;
    struct fid *fids[1];
    double from = now(), took = 0;
    ssize_t ret;

    must("fi_getinfo", getinfo(the_node, "61234", 0, &info));
    node_open_info(&me, info, FI_AV_MAP, FI_WAIT_FD);
    if (fi_av_insert(me.av, info->dest_addr, 1, &me.peer, 0, NULL) != 1) {
        die("fi_av_insert");
    }
    fids[0] = &me.rxcq->fid;
    ret = fi_send(me.ep, &m, sizeof(m), NULL, me.peer, NULL);
    if (ret != -FI_EAGAIN) {
        fail("the lookup: %s", fi_strerror(-ret));
    }
    do {
        if (fi_cq_read(me.rxcq, &e, 1) != -FI_EAGAIN) {
            fail("a completion of nothing");
        }
        ret = fi_trywait(me.fabric, fids, 1);
        took = now() - from;
    } while (ret == -FI_EAGAIN && took < TIMEOUT);
    if (ret || took < 5) {
        fail("fi_trywait: %s after %.1f s", fi_strerror(-ret), took);
    }
    node_close(&me);
}

/* Starts a server on this node that opens its endpoint a second later. */
static pid_t delayed_server(const char *service)
{
    pid_t pid = fork();

    if (!pid) {
        sleep(1);
        execl("/proc/self/exe", "fi-names", "--serve", service, NULL);
        _exit(127);
    }
    return pid;
}

/*
 * A lookup finds an endpoint that is opened during the lookup.  Another program on that
 * node gets few of the lookup's messages, so that its mailbox keeps room.
 */
static void test_delayed(void)
{
    struct message m = { .kind = END };
    int status = -1, messages = 0;
    struct exa_mbox *mbox;
    struct exa_dev *dev;
    struct fi_info *info;
    uint32_t full;
    char own[16];
    double from;
    ssize_t ret;
    pid_t pid;

    must("exa_open", exa_open(NULL, &dev));
    must("exa_mbox_create", exa_mbox_create(dev, 0, 4, 0, &mbox));
    snprintf(own, sizeof(own), "%u", exa_coord(dev));
    must("fi_getinfo", getinfo(own, "61236", 0, &info));
    node_open_info(&me, info, FI_AV_MAP, FI_WAIT_NONE);
    if (fi_av_insert(me.av, info->dest_addr, 1, &me.peer, 0, NULL) != 1) {
        die("fi_av_insert");
    }
    pid = delayed_server("61236");
    from = now();
    do {
        ret = fi_send(me.ep, &m, sizeof(m), NULL, me.peer, NULL);
    } while (ret == -FI_EAGAIN && now() < from + TIMEOUT);
    if (ret || now() < from + 0.9) {
        fail("%s after %.1f s", fi_strerror(-ret), now() - from);
    } else {
        must("send", -done(me.txcq));
    }
    if (ret) {
        kill(pid, SIGKILL);
    }
    if (waitpid(pid, &status, 0) != pid || status) {
        fail("the server: status %#x", status);
    }
    while (exa_mbox_peek(mbox)) {
        exa_mbox_pop(mbox);
        messages++;
    }
    exa_mbox_rejected(mbox, &full, NULL);
    if (!messages || messages > LOOKUPS_MAX || full) {
        fail("another program got %d messages, %u were refused", messages, full);
    }
    node_close(&me);
    exa_close(dev);
}

/* A service belongs to at most one endpoint of a domain. */
static void test_taken(void)
{
    struct fi_av_attr av_attr = { .type = FI_AV_MAP };
    struct fi_cq_attr cq_attr = { .format = FI_CQ_FORMAT_TAGGED };
    struct fi_info *info;
    struct fid_ep *ep;
    struct fid_cq *cq;
    struct fid_av *av;
    int ret;

    must("fi_getinfo", getinfo(NULL, "61235", FI_SOURCE, &info));
    node_open_info(&me, info, FI_AV_MAP, FI_WAIT_NONE);
    must("fi_endpoint", fi_endpoint(me.domain, info, &ep, NULL));
    must("fi_cq_open", fi_cq_open(me.domain, &cq_attr, &cq, NULL));
    must("fi_av_open", fi_av_open(me.domain, &av_attr, &av, NULL));
    must("bind", fi_ep_bind(ep, &cq->fid, FI_TRANSMIT | FI_RECV));
    must("bind", fi_ep_bind(ep, &av->fid, 0));
    ret = fi_enable(ep);
    if (ret != -FI_EADDRINUSE) {
        fail("the second endpoint: %s", fi_strerror(-ret));
    }
    must("close", fi_close(&ep->fid));
    must("close", fi_close(&av->fid));
    must("close", fi_close(&cq->fid));
    node_close(&me);
}

static void test_end(void)
{
    struct message m = { .kind = END };
    struct fi_info *info;

    must("fi_getinfo", getinfo(the_node, the_service, 0, &info));
    node_open_info(&me, info, FI_AV_MAP, FI_WAIT_NONE);
    if (fi_av_insert(me.av, info->dest_addr, 1, &me.peer, 0, NULL) != 1) {
        die("fi_av_insert");
    }
    send_message(&m);
    node_close(&me);
}

static void subtest(const char *name, void (*run)(void))
{
    failed = 0;
    run();
    failures += failed != 0;
    printf("%sok %d - %s\n", failed ? "not " : "", ++subtests, name);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    char name[128];
    int i;

    if (argc < 3) {
        die("usage: fi-names --serve SERVICE | SERVICE NODE [NODE...]");
    }
    if (!strcmp(argv[1], "--serve")) {
        return serve(argv[2]);
    }
    the_service = argv[1];
    for (i = 2; i < argc; i++) {
        the_node = argv[i];
        snprintf(name, sizeof(name), "a client finds its server at %s",
                 the_node);
        subtest(name, test_meet);
    }
    subtest("the source address is the node's", test_source);
    subtest("names that mean nothing", test_refused);
    subtest("a node without service", test_no_service);
    subtest("a service that no endpoint has", test_nobody);
    subtest("after a failed lookup a program may sleep", test_sleep);
    subtest("an endpoint that is opened late, beside another program", test_delayed);
    subtest("a service that is taken", test_taken);
    subtest("the server gets its last message", test_end);
    printf("1..%d\n", subtests);
    return failures != 0;
}

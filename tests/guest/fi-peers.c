/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libfabric over the NIC: the memory that an endpoint uses for its peers.
 *
 *   fi-peers --serve [PORT]               on one node: prints "ready", runs commands
 *   fi-peers quiet|limit HOST [PORT]      on the other: runs the tests, prints TAP
 *
 * The environment of the server must have FI_EXANET_RINGS=4; for "quiet", also
 * FI_EXANET_QUIET_MS=1000.  The clients' messages go through slots as soon as the server
 * has offered them a ring.  The server's resident memory shows how many rings it has.
 */
#define _GNU_SOURCE
#include "fi-check.h"

#define RINGS 4                 /* FI_EXANET_RINGS of the server */
#define RING_KB 192             /* memory of a ring in use, at least */
/* limit for RINGS more rings, pools and messages */
#define MORE_KB (3 * RINGS * RING_KB)
/* without a slot, a send of this length ends only after the server has made progress */
#define MESSAGE_BYTES 8000
#define MESSAGES 20             /* more than a ring has slots */

struct command {
    uint32_t kind;
    uint32_t count;
};

enum { RECEIVE, MEMORY, SLEEP, END };

/* Returns the resident memory of this process, without files, in KB. */
static uint64_t resident(void)
{
    FILE *f = fopen("/proc/self/status", "r");
    unsigned long kb = 0;
    char line[128];

    if (!f) {
        die("no status");
    }
    while (!kb && fgets(line, sizeof(line), f)) {
        sscanf(line, "RssAnon: %lu", &kb);
    }
    fclose(f);
    if (!kb) {
        die("no RssAnon");
    }
    return kb;
}

/* --- Server ----------------------------------------------------------------- */

static void serve_receive(uint32_t count)
{
    static uint8_t buf[MESSAGE_BYTES];
    uint32_t i, good = 0;

    for (i = 0; i < count; i++) {
        memset(buf, 0, sizeof(buf));
        must("recv", fi_recv(me.ep, buf, sizeof(buf), NULL, FI_ADDR_UNSPEC, NULL));
        must("recv", -done(me.rxcq));
        good += same(buf, sizeof(buf), i);
    }
    put(&good, sizeof(good));
}

static void serve_memory(void)
{
    uint64_t kb = resident();

    put(&kb, sizeof(kb));
}

/* Makes no progress until the client sends a byte over TCP. */
static void serve_sleep(void)
{
    char c = 'z';

    put(&c, 1);
    if (recv(oob, &c, 1, MSG_WAITALL) != 1) {
        die("connection ended");
    }
}

static int serve(void)
{
    uint8_t name[NAME_MAX_BYTES] = { 0 };
    size_t len = sizeof(name);
    struct command c;

    node_open(&me, FI_AV_MAP, FI_WAIT_NONE);
    must("fi_getname", fi_getname(&me.ep->fid, name, &len));
    put(name, sizeof(name));
    for (;;) {
        get(&c, sizeof(c));
        switch (c.kind) {
        case RECEIVE:
            serve_receive(c.count);
            break;
        case MEMORY:
            serve_memory();
            break;
        case SLEEP:
            serve_sleep();
            break;
        default:
            node_close(&me);
            return 0;
        }
    }
}

/* --- Client ----------------------------------------------------------------- */

static uint8_t server_name[NAME_MAX_BYTES];

static void ask(uint32_t kind, uint32_t count)
{
    struct command c = { kind, count };

    put(&c, sizeof(c));
}

static uint64_t server_memory(void)
{
    uint64_t kb;

    ask(MEMORY, 0);
    get(&kb, sizeof(kb));
    return kb;
}

/*
 * Checks that the server's resident memory is at most @kb KB within TIMEOUT seconds.
 * get() polls the CQs of `me` during the wait.
 */
static void server_memory_falls(const char *what, uint64_t kb)
{
    double end = now() + TIMEOUT;
    uint64_t is;

    while ((is = server_memory()) > kb && now() < end) {
        usleep(10000);
    }
    if (is > kb) {
        fail("%s: the server has %lu KB, not %lu", what, (unsigned long)is,
             (unsigned long)kb);
    }
}

static void open_client(struct node *n)
{
    node_open(n, FI_AV_MAP, FI_WAIT_NONE);
    if (fi_av_insert(n->av, server_name, 1, &n->peer, 0, NULL) != 1) {
        die("fi_av_insert");
    }
}

static void close_client(struct node *n)
{
    node_close(n);
    memset(n, 0, sizeof(*n));
}

/* Sends MESSAGES messages from @n, and leaves a copy of @n in me. */
static void send_all(const struct node *n)
{
    static uint8_t buf[MESSAGE_BYTES];
    uint32_t i, good;

    me = *n;
    ask(RECEIVE, MESSAGES);
    for (i = 0; i < MESSAGES; i++) {
        fill(buf, sizeof(buf), i);
        RETRY(fi_send(me.ep, buf, sizeof(buf), NULL, me.peer, NULL));
        done_ok(me.txcq, "send");
    }
    get(&good, sizeof(good));
    if (good != MESSAGES) {
        fail("only %u of %d messages are right", good, MESSAGES);
    }
}

/*
 * Checks that messages of @n use slots: only then the send of this length ends while the
 * server makes no progress.
 */
static void uses_slot(const struct node *n)
{
    static uint8_t buf[MESSAGE_BYTES];
    uint32_t good;
    char c;

    me = *n;
    ask(SLEEP, 0);
    get(&c, 1);
    fill(buf, sizeof(buf), 0);
    RETRY(fi_send(me.ep, buf, sizeof(buf), NULL, me.peer, NULL));
    done_ok(me.txcq, "send to a sleeping server");
    put(&c, 1);
    ask(RECEIVE, 1);
    get(&good, sizeof(good));
    if (good != 1) {
        fail("the message is wrong");
    }
}

/*
 * Clients come faster than the server notices that older ones have ended.  They use
 * rendezvous when no ring is free.
 */
static void test_short_lived(void)
{
    struct node n;
    uint64_t kb;
    int i;

    for (i = 0; i < 2; i++) {
        open_client(&n);
        send_all(&n);
        close_client(&n);
    }
    kb = server_memory();
    for (i = 0; i < 5 * RINGS; i++) {
        open_client(&n);
        send_all(&n);
        close_client(&n);
    }
    memset(&me, 0, sizeof(me));
    server_memory_falls("after the last client", kb + MORE_KB);
}

static void test_idle(void)
{
    struct node n;
    uint64_t kb, own;
    double end;
    int i;

    open_client(&n);
    /*
     * The client requests a ring at once and again after ten seconds, because rings of
     * clients that have ended may occupy all places at first.
     */
    for (end = now() + 12; now() < end;) {
        send_all(&n);
    }
    for (i = 0; i < 3; i++) {
        send_all(&n);
        uses_slot(&n);
        kb = server_memory();
        own = resident();
        server_memory_falls("the client is idle", kb - RING_KB * 3 / 4);
        if (resident() > own - MESSAGE_BYTES * 16 / 1024 / 2) {
            fail("the client has %lu KB, before %lu KB",
                 (unsigned long)resident(), (unsigned long)own);
        }
    }
    close_client(&n);
}

static void test_limit(void)
{
    struct node n[2 * RINGS];
    double end;
    uint64_t kb;
    int i;

    /* the server allocates memory that all clients share when the first client comes */
    open_client(&n[0]);
    send_all(&n[0]);
    uses_slot(&n[0]);
    kb = server_memory();
    for (i = 1; i < 2 * RINGS; i++) {
        open_client(&n[i]);
        send_all(&n[i]);
    }
    server_memory_falls("all clients", kb + MORE_KB);
    /*
     * The last client requests a ring again after ten and after twenty seconds.  Before
     * the last request, another client has returned its ring.
     */
    for (end = now() + 25; now() < end;) {
        send_all(&n[2 * RINGS - 1]);
        for (i = 0; i < 2 * RINGS; i++) {
            fi_cq_read(n[i].txcq, NULL, 0);
        }
    }
    uses_slot(&n[2 * RINGS - 1]);
    server_memory_falls("after the change", kb + MORE_KB);
    for (i = 0; i < 2 * RINGS; i++) {
        send_all(&n[i]);
        close_client(&n[i]);
    }
}

static void subtest(const char *name, void (*run)(void))
{
    double from = now();

    failed = 0;
    run();
    memset(&me, 0, sizeof(me));
    failures += failed != 0;
    printf("%sok %d - %s # %.1f s\n", failed ? "not " : "", ++subtests, name,
           now() - from);
    fflush(stdout);
}

static int client(bool quiet)
{
    get(server_name, sizeof(server_name));
    if (quiet) {
        subtest("a server of short-lived clients", test_short_lived);
        subtest("an idle client", test_idle);
    } else {
        subtest("more clients than rings", test_limit);
    }
    ask(END, 0);
    printf("1..%d\n", subtests);
    return failures != 0;
}

int main(int argc, char **argv)
{
    if (argc >= 2 && !strcmp(argv[1], "--serve")) {
        oob = listen_on(argc > 2 ? argv[2] : "7448");
        return serve();
    }
    if (argc < 3 || (strcmp(argv[1], "quiet") && strcmp(argv[1], "limit"))) {
        die("usage: fi-peers --serve [PORT] | quiet|limit HOST [PORT]");
    }
    oob = connect_to(argv[2], argc > 3 ? argv[3] : "7448");
    return client(!strcmp(argv[1], "quiet"));
}

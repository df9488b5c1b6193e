/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * For libfabric test programs: an endpoint with its objects, a TCP connection to the
 * other program, data patterns, and completions with a timeout.
 */
#ifndef FI_CHECK_H
#define FI_CHECK_H

#include <errno.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>

#define WINDOW_BYTES (4 << 20)
#define NAME_MAX_BYTES 64
#define TIMEOUT 30.0    /* seconds after which next() and connect_to() fail */

struct node {
    struct fi_info *info;
    struct fid_fabric *fabric;
    struct fid_domain *domain;
    struct fid_ep *ep;
    struct fid_cq *txcq, *rxcq;
    struct fid_cntr *cntr;
    struct fid_av *av;
    struct fid_mr *mr;
    fi_addr_t peer;
    uint8_t *window;
    uint64_t peer_key;
};

static struct node me;
static int oob;                 /* the TCP connection to the other program */
static int subtests, failures, failed;

static void __attribute__((noreturn, format(printf, 1, 2)))
die(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    exit(2);
}

static void __attribute__((format(printf, 1, 2))) fail(const char *format, ...)
{
    va_list args;

    if (failed++ < 5) {
        printf("# ");
        va_start(args, format);
        vprintf(format, args);
        va_end(args);
        printf("\n");
    }
}

static void must(const char *what, ssize_t ret)
{
    if (ret < 0) {
        die("%s: %s", what, fi_strerror(-ret));
    }
}

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static uint64_t mix(uint64_t seed, uint64_t i)
{
    uint64_t x = (seed + 1) * 0x9e3779b97f4a7c15ULL + i * 0xd1342543de82ef95ULL;

    return x ^ x >> 29;
}

static void fill(void *buf, size_t len, uint64_t seed)
{
    uint8_t *p = buf;
    size_t i;

    for (i = 0; i < len; i++) {
        p[i] = mix(seed, i / 8) >> i % 8 * 8;
    }
}

static bool same(const void *buf, size_t len, uint64_t seed)
{
    const uint8_t *p = buf;
    size_t i;

    for (i = 0; i < len; i++) {
        if (p[i] != (uint8_t)(mix(seed, i / 8) >> i % 8 * 8)) {
            return false;
        }
    }
    return true;
}

/* --- TCP connection --------------------------------------------------------- */

static void put(const void *buf, size_t len)
{
    if (send(oob, buf, len, MSG_NOSIGNAL) != (ssize_t)len) {
        die("connection: %s", strerror(errno));
    }
}

/*
 * Receives @len bytes from the TCP connection.  Polls the CQs until bytes arrive,
 * because the provider executes the peer's atomics in software, as part of a poll.
 */
static void get(void *buf, size_t len)
{
    struct pollfd p = { .fd = oob, .events = POLLIN };

    while (me.rxcq && !poll(&p, 1, 0)) {
        fi_cq_read(me.txcq, NULL, 0);
        fi_cq_read(me.rxcq, NULL, 0);
    }
    if (recv(oob, buf, len, MSG_WAITALL) != (ssize_t)len) {
        die("connection ended");
    }
}

static void sync_up(void)
{
    char c = 's';

    put(&c, 1);
    get(&c, 1);
}

/* --- Objects ---------------------------------------------------------------- */

/*
 * Returns new hints for fi_getinfo() with the values that all test programs use; the
 * caller frees the hints.
 */
static struct fi_info *make_hints(enum fi_av_type av)
{
    struct fi_info *hints = fi_allocinfo();

    hints->caps = FI_MSG | FI_TAGGED | FI_RMA | FI_ATOMIC | FI_DIRECTED_RECV |
                  FI_MULTI_RECV | FI_SOURCE;
    hints->mode = FI_CONTEXT;
    hints->ep_attr->type = FI_EP_RDM;
    hints->tx_attr->msg_order = FI_ORDER_SAS;
    hints->rx_attr->msg_order = FI_ORDER_SAS;
    hints->domain_attr->mr_mode = FI_MR_ALLOCATED | FI_MR_PROV_KEY |
                                  FI_MR_VIRT_ADDR;
    hints->domain_attr->av_type = av;
    hints->fabric_attr->prov_name = strdup("exanet");
    return hints;
}

static struct fi_info *find_info(enum fi_av_type av)
{
    struct fi_info *hints = make_hints(av), *info;

    must("fi_getinfo", fi_getinfo(FI_VERSION(1, 20), NULL, NULL, 0, hints,
                                  &info));
    fi_freeinfo(hints);
    return info;
}

/*
 * Opens in @n an endpoint that @info describes, with domain, CQs, counter, AV and a
 * cleared window.  From now on @n owns @info.
 */
static void node_open_info(struct node *n, struct fi_info *info,
                           enum fi_av_type av, enum fi_wait_obj wait)
{
    struct fi_cq_attr cq = { .format = FI_CQ_FORMAT_TAGGED, .wait_obj = wait };
    struct fi_cntr_attr cntr = { .events = FI_CNTR_EVENTS_COMP };
    struct fi_av_attr av_attr = { .type = av };

    memset(n, 0, sizeof(*n));
    n->info = info;
    must("fi_fabric", fi_fabric(n->info->fabric_attr, &n->fabric, NULL));
    must("fi_domain", fi_domain(n->fabric, n->info, &n->domain, NULL));
    must("fi_cq_open", fi_cq_open(n->domain, &cq, &n->txcq, NULL));
    must("fi_cq_open", fi_cq_open(n->domain, &cq, &n->rxcq, NULL));
    must("fi_cntr_open", fi_cntr_open(n->domain, &cntr, &n->cntr, NULL));
    must("fi_av_open", fi_av_open(n->domain, &av_attr, &n->av, NULL));
    must("fi_endpoint", fi_endpoint(n->domain, n->info, &n->ep, NULL));
    must("bind av", fi_ep_bind(n->ep, &n->av->fid, 0));
    must("bind tx", fi_ep_bind(n->ep, &n->txcq->fid, FI_TRANSMIT));
    must("bind rx", fi_ep_bind(n->ep, &n->rxcq->fid, FI_RECV));
    must("bind cntr", fi_ep_bind(n->ep, &n->cntr->fid, FI_WRITE));
    must("fi_enable", fi_enable(n->ep));
    if (posix_memalign((void **)&n->window, 4096, WINDOW_BYTES)) {
        die("no memory");
    }
    memset(n->window, 0, WINDOW_BYTES);
    must("fi_mr_reg", fi_mr_reg(n->domain, n->window, WINDOW_BYTES,
                                FI_REMOTE_READ | FI_REMOTE_WRITE, 0, 1, 0,
                                &n->mr, NULL));
}

static void node_open(struct node *n, enum fi_av_type av, enum fi_wait_obj wait)
{
    node_open_info(n, find_info(av), av, wait);
}

static void node_close(struct node *n)
{
    must("close mr", fi_close(&n->mr->fid));
    must("close ep", fi_close(&n->ep->fid));
    must("close av", fi_close(&n->av->fid));
    must("close cntr", fi_close(&n->cntr->fid));
    must("close rxcq", fi_close(&n->rxcq->fid));
    must("close txcq", fi_close(&n->txcq->fid));
    must("close domain", fi_close(&n->domain->fid));
    must("close fabric", fi_close(&n->fabric->fid));
    fi_freeinfo(n->info);
    free(n->window);
}

static void node_meet(struct node *n)
{
    uint8_t name[NAME_MAX_BYTES] = { 0 };
    size_t len = sizeof(name);
    uint64_t key = fi_mr_key(n->mr);

    must("fi_getname", fi_getname(&n->ep->fid, name, &len));
    put(name, sizeof(name));
    put(&key, sizeof(key));
    get(name, sizeof(name));
    get(&n->peer_key, sizeof(n->peer_key));
    if (fi_av_insert(n->av, name, 1, &n->peer, 0, NULL) != 1) {
        die("fi_av_insert");
    }
}

/* --- Completions ------------------------------------------------------------ */

/*
 * Reads the next completion of @cq into @e, and polls the other CQ, too.  Returns 0,
 * or the positive FI_E code of an error completion (then e->data is the number of
 * bytes that did not fit), FI_ETIMEDOUT after TIMEOUT seconds, or the positive FI_E
 * code with which the read failed.
 */
static int next(struct fid_cq *cq, struct fi_cq_tagged_entry *e,
                fi_addr_t *source)
{
    struct fi_cq_err_entry err = { 0 };
    double end = now() + TIMEOUT;
    fi_addr_t src;
    ssize_t ret;

    do {
        ret = fi_cq_readfrom(cq, e, 1, source ? source : &src);
        fi_cq_read(cq == me.txcq ? me.rxcq : me.txcq, NULL, 0);
    } while (ret == -FI_EAGAIN && now() < end);
    if (ret == 1) {
        return 0;
    }
    if (ret != -FI_EAVAIL) {
        return ret == -FI_EAGAIN ? FI_ETIMEDOUT : -ret;
    }
    must("fi_cq_readerr", fi_cq_readerr(cq, &err, 0));
    e->op_context = err.op_context;
    e->flags = err.flags;
    e->len = err.len;
    e->data = err.olen;
    return err.err;
}

static int done(struct fid_cq *cq)
{
    struct fi_cq_tagged_entry e;

    return next(cq, &e, NULL);
}

static void done_ok(struct fid_cq *cq, const char *what)
{
    int err = done(cq);

    if (err) {
        fail("%s: %s", what, fi_strerror(err));
    }
}

/*
 * Repeats @call while @call returns -FI_EAGAIN, and polls the transmit CQ in between.
 * Another error ends the program.
 */
#define RETRY(call) \
    ({ \
        ssize_t ret_; \
        while ((ret_ = (call)) == -FI_EAGAIN) { \
            fi_cq_read(me.txcq, NULL, 0); \
        } \
        must(#call, ret_); \
    })

/* --- Start ------------------------------------------------------------------ */

static int listen_on(const char *port)
{
    struct addrinfo hints = { .ai_family = AF_INET, .ai_flags = AI_PASSIVE,
                              .ai_socktype = SOCK_STREAM }, *a;
    int s, one = 1, c;

    if (getaddrinfo(NULL, port, &hints, &a)) {
        die("port %s", port);
    }
    s = socket(a->ai_family, a->ai_socktype, 0);
    setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
    if (bind(s, a->ai_addr, a->ai_addrlen) || listen(s, 1)) {
        die("port %s: %s", port, strerror(errno));
    }
    freeaddrinfo(a);
    printf("ready\n");
    fflush(stdout);
    c = accept(s, NULL, NULL);
    close(s);
    return c;
}

static int connect_to(const char *host, const char *port)
{
    struct addrinfo hints = { .ai_family = AF_INET,
                              .ai_socktype = SOCK_STREAM }, *a;
    double end = now() + TIMEOUT;
    int s;

    if (getaddrinfo(host, port, &hints, &a)) {
        die("%s: unknown", host);
    }
    do {
        s = socket(a->ai_family, a->ai_socktype, 0);
        if (!connect(s, a->ai_addr, a->ai_addrlen)) {
            freeaddrinfo(a);
            return s;
        }
        close(s);
        usleep(100000);
    } while (now() < end);
    die("%s: %s", host, strerror(errno));
}

#endif /* FI_CHECK_H */

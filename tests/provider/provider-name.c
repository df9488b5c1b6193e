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
    CHECK(rnic_fi_eager_size == 8192);
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

const struct bed_case name_cases[] = {
    { "name/of-endpoint", test_name },
    { "name/of-node", test_file_of_nodes },
    { "param/environment", test_params },
    { "av/entries", test_av },
    { "av/unknown-sender", test_unknown_sender },
    { "ep/mailboxes", test_mailboxes },
    { "fabric/mailboxes", test_mailboxes_limit },
    { "lookup/service", test_service },
    { NULL },
};

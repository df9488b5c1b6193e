/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A machine with one ExaNet NIC; see device.h. */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "qemu/host-utils.h"
#include "libqos/pci-pc.h"
#include "device.h"
#include "../common/machine.h"

/* address of the platform bus in the programmable logic of xlnx-zcu102 */
#define AXI_BASE 0xa0000000u

/* --- Start and end --------------------------------------------------------- */

static void found(QPCIDevice *dev, int devfn, void *data)
{
    ExanetTest *t = data;

    g_assert_null(t->dev);
    t->dev = dev;
}

bool exanet_on_axi(void)
{
    return !strcmp(qtest_get_arch(), "aarch64");
}

static void map_pci(ExanetTest *t)
{
    uint64_t size;

    t->bus = qpci_new_pc(t->qts, NULL);
    qpci_device_foreach(t->bus, EXANET_PCI_VENDOR_ID, EXANET_PCI_DEVICE_ID,
                        found, t);
    g_assert_nonnull(t->dev);
    qpci_device_enable(t->dev);
    t->regs = qpci_iomap(t->dev, EXANET_BAR_REGS, &size);
    g_assert_cmphex(size, ==, EXANET_REGS_BYTES);
    t->user = qpci_iomap(t->dev, EXANET_BAR_USER, &size);
    t->page_bytes = 1ULL << RNIC_GET(EXANET_CAP0_PAGE_SHIFT,
                                     exanet_get32(t, EXANET_REG_CAP0));
    g_assert_cmphex(size, ==,
                    EXANET_CONTEXTS * EXANET_USER_PAGES * t->page_bytes);
    t->aperture = qpci_iomap(t->dev, EXANET_BAR_APERTURE, &size);
}

/*
 * Computes the addresses of the first device that the platform bus of the programmable
 * logic places.
 */
static void map_axi(ExanetTest *t)
{
    uint64_t user, aperture;

    t->regs.addr = AXI_BASE;
    t->page_bytes = 1ULL << RNIC_GET(EXANET_CAP0_PAGE_SHIFT,
                                     exanet_get32(t, EXANET_REG_CAP0));
    user = EXANET_CONTEXTS * EXANET_USER_PAGES * t->page_bytes;
    aperture = exanet_get64(t, EXANET_SHM + EXANET_REG_SHM_APERTURE) +
               exanet_get64(t, EXANET_SHM + EXANET_REG_SHM_BRAM);
    aperture = pow2ceil(aperture);
    t->user.addr = AXI_BASE + MAX(EXANET_REGS_BYTES, user);
    t->aperture.addr = ROUND_UP(t->user.addr + user, aperture);
    qtest_irq_intercept_out_named(t->qts, "/machine/peripheral/nic",
                                  "sysbus-irq");
}

ExanetTest *exanet_start_node(const char *netdevs, uint32_t coord,
                              const char *props)
{
    ExanetTest *t = g_new0(ExanetTest, 1);

    t->log = machine_log_new();
    t->qts = qtest_initf("%s -m 128 -nodefaults "
                         "-d guest_errors -D %s %s "
                         "-device exanet-%s,id=nic,coord=0x%x,epoch=%u,"
                         "link-timeout-ms=0%s", exanet_on_axi() ?
                         "-machine xlnx-zcu102" : "-machine q35 -vga none",
                         t->log, netdevs, exanet_on_axi() ? "axi" : "pci",
                         coord, EXANET_TEST_EPOCH, props);
    if (exanet_on_axi()) {
        map_axi(t);
    } else {
        map_pci(t);
    }
    return t;
}

ExanetTest *exanet_start_netdev(const char *netdev, uint32_t coord,
                                const char *props)
{
    g_autofree char *netdevs = g_strdup_printf("-netdev %s,id=wire", netdev);
    g_autofree char *all = g_strdup_printf(",link0=wire%s", props);

    return exanet_start_node(netdevs, coord, all);
}

ExanetTest *exanet_start_cold(const char *props, bool dgram)
{
    ExanetPeer *peer = exanet_peer_new(EXANET_TEST_PEER, dgram);
    g_autofree char *netdevs = exanet_peer_options(peer, "wire");
    g_autofree char *all = g_strdup_printf(",link0=wire%s", props);
    ExanetTest *t = exanet_start_node(netdevs, EXANET_TEST_NODE, all);

    t->peer = peer;
    exanet_peer_started(peer);
    return t;
}

/* --- Several ports ----------------------------------------------------------- */

static bool port_up(ExanetTest *t, unsigned port)
{
    return exanet_get32(t, EXANET_PORT(port) + EXANET_REG_PORT_STATUS) &
           EXANET_PORT_STATUS_UP;
}

/* Returns true if another of the @count peers has the coordinates of peer @i. */
static bool has_several_cables(const uint32_t *peers, unsigned count, unsigned i)
{
    for (unsigned j = 0; j < count; j++) {
        if (j != i && peers[j] == peers[i]) {
            return true;
        }
    }
    return false;
}

ExanetTest *exanet_start_ports(uint32_t coord, const uint32_t *peers,
                               unsigned count, const char *props)
{
    g_autoptr(GString) netdevs = g_string_new(NULL);
    g_autoptr(GString) links = g_string_new(NULL);
    ExanetPeer *ports[EXANET_LINKS] = { NULL };
    ExanetTest *t;

    for (unsigned i = 0; i < count; i++) {
        if (peers[i] != EXANET_TEST_NO_PEER) {
            g_autofree char *id = g_strdup_printf("wire%u", i);
            g_autofree char *options = NULL;

            ports[i] = exanet_peer_new(peers[i], false);
            options = exanet_peer_options(ports[i], id);
            g_string_append_printf(netdevs, "%s ", options);
            g_string_append_printf(links, ",link%u=%s", i, id);
            if (has_several_cables(peers, count, i)) {
                g_string_append_printf(links, ",peer%u=0x%x", i, peers[i]);
            }
        }
    }
    g_string_append(links, props);
    t = exanet_start_node(netdevs->str, coord, links->str);
    memcpy(t->ports, ports, sizeof(ports));
    exanet_set32(t, EXANET_REG_CTRL, EXANET_CTRL_ENABLE);
    for (unsigned i = 0; i < count; i++) {
        if (ports[i]) {
            exanet_peer_started(ports[i]);
            exanet_peer_hello(ports[i], false);
            exanet_wait(t, ports[i]->heard && port_up(t, i));
        }
    }
    for (unsigned c = 0; c < 2; c++) {
        exanet_open(t, c, EXANET_TEST_JOB, EXANET_FORMAT_IDENTITY, 0);
    }
    return t;
}

/* --- Pairs ------------------------------------------------------------------ */

static bool link_up(ExanetTest *t)
{
    return exanet_get32(t, EXANET_REG_STATUS) & EXANET_STATUS_LINK;
}

void exanet_pair_bring_up(ExanetTest *const t[2])
{
    for (unsigned i = 0; i < 2; i++) {
        exanet_set32(t[i], EXANET_REG_CTRL, EXANET_CTRL_ENABLE);
        for (unsigned c = 0; c < 2; c++) {
            exanet_open(t[i], c, EXANET_TEST_JOB, EXANET_FORMAT_IDENTITY, 0);
        }
    }
    exanet_pair_wait(t, link_up(t[0]) && link_up(t[1]),
                     100 * EXANET_MS);
}

void exanet_pair_step(ExanetTest *const t[2], int64_t ns)
{
    for (unsigned i = 0; i < 2; i++) {
        if (ns) {
            exanet_step(t[i], ns);
        } else {
            exanet_settle(t[i]);
        }
    }
}

void exanet_pair_start(ExanetTest *t[2], const char *path, const char *props)
{
    static const uint32_t coord[] = { EXANET_TEST_NODE, EXANET_TEST_PEER };
    g_autofree char *all = g_strdup_printf(",link0=wire%s", props);

    for (unsigned i = 0; i < 2; i++) {
        g_autofree char *cable = machine_cable("wire", path, i == 0);

        t[i] = exanet_start_node(cable, coord[i], all);
    }
    exanet_pair_bring_up(t);
}

void exanet_bring_up(ExanetTest *t)
{
    exanet_set32(t, EXANET_REG_CTRL, EXANET_CTRL_ENABLE);
    exanet_peer_hello(t->peer, false);
    exanet_wait(t, t->peer->heard &&
                (exanet_get32(t, EXANET_PORT(0) + EXANET_REG_PORT_STATUS) &
                 EXANET_PORT_STATUS_UP));
    g_assert_cmphex(t->peer->node, ==, EXANET_TEST_NODE);
}

ExanetTest *exanet_start(const char *props)
{
    ExanetTest *t = exanet_start_cold(props, false);

    exanet_bring_up(t);
    for (unsigned c = 0; c < 2; c++) {
        exanet_open(t, c, EXANET_TEST_JOB, EXANET_FORMAT_IDENTITY, 0);
    }
    return t;
}

ExanetTest *exanet_start_external(const char *props)
{
    ExanetTest *t = exanet_start(props);

    exanet_set32(t, EXANET_FW + EXANET_REG_FW_MODE, EXANET_FW_EXTERNAL);
    return t;
}

static void unmap(ExanetTest *t)
{
    g_free(t->dev);
    if (t->bus) {
        qpci_free_pc(t->bus);
    }
}

void exanet_stop(ExanetTest *t)
{
    unmap(t);
    qtest_quit(t->qts);
    machine_log_check(t->log, "exanet", t->guest_errors, exanet_on_axi());
    exanet_peer_free(t->peer);
    for (unsigned i = 0; i < EXANET_LINKS; i++) {
        exanet_peer_free(t->ports[i]);
    }
    g_free(t);
}

void exanet_crash(ExanetTest *t)
{
    pid_t pid = qtest_pid(t->qts);

    /*
     * Kills QEMU without qtest_quit(), because libqtest would report an end by a signal
     * as a failure.  The state of libqtest is not freed.
     */
    qtest_remove_abrt_handler(t->qts);
    kill(pid, SIGKILL);
    g_assert_cmpint(waitpid(pid, NULL, 0), ==, pid);
    unmap(t);
    machine_log_check(t->log, "exanet", t->guest_errors, exanet_on_axi());
    g_free(t);
}

/* --- Access ---------------------------------------------------------------- */

uint32_t exanet_get32(ExanetTest *t, uint64_t offset)
{
    return qtest_readl(t->qts, t->regs.addr + offset);
}

uint64_t exanet_get64(ExanetTest *t, uint64_t offset)
{
    return qtest_readq(t->qts, t->regs.addr + offset);
}

void exanet_set32(ExanetTest *t, uint64_t offset, uint32_t value)
{
    qtest_writel(t->qts, t->regs.addr + offset, value);
}

void exanet_set64(ExanetTest *t, uint64_t offset, uint64_t value)
{
    qtest_writeq(t->qts, t->regs.addr + offset, value);
}

uint64_t exanet_user(ExanetTest *t, unsigned c, enum exanet_user_page page)
{
    return (c * EXANET_USER_PAGES + page) * t->page_bytes;
}

uint64_t exanet_user_get(ExanetTest *t, unsigned c, enum exanet_user_page page,
                         uint64_t offset)
{
    return qtest_readq(t->qts, t->user.addr + exanet_user(t, c, page) + offset);
}

void exanet_user_set(ExanetTest *t, unsigned c, enum exanet_user_page page,
                     uint64_t offset, uint64_t value)
{
    qtest_writeq(t->qts, t->user.addr + exanet_user(t, c, page) + offset,
                 value);
}

void exanet_segment(ExanetTest *t, unsigned m, uint64_t offset, uint64_t size,
                    uint64_t gva, uint64_t ctrl)
{
    uint64_t base = EXANET_SHM_MAP(m);

    exanet_set64(t, base + EXANET_REG_SHM_MAP_OFFSET, offset);
    exanet_set64(t, base + EXANET_REG_SHM_MAP_SIZE, size);
    exanet_set64(t, base + EXANET_REG_SHM_MAP_GVA, gva);
    exanet_set64(t, base + EXANET_REG_SHM_MAP_CTRL,
                 EXANET_SHM_MAP_VALID | ctrl |
                 RNIC_PREP(EXANET_SHM_MAP_PDID, EXANET_TEST_PDID(1)));
}

void exanet_store(ExanetTest *t, uint64_t offset, uint64_t value, unsigned size)
{
    machine_store(t->qts, t->aperture.addr + offset, size, value);
}

uint64_t exanet_load(ExanetTest *t, uint64_t offset, unsigned size)
{
    return machine_load(t->qts, t->aperture.addr + offset, size);
}

void exanet_open(ExanetTest *t, unsigned c, unsigned job,
                 enum exanet_table_format format, uint64_t pgd)
{
    uint64_t base = EXANET_CTX(c);

    exanet_set64(t, base + EXANET_REG_CTX_PGD, pgd);
    exanet_set32(t, base + EXANET_REG_CTX_PDID, RNIC_PREP(EXANET_PDID_JOB, job));
    exanet_set64(t, base + EXANET_CTX_WIN(0), EXANET_WIN_VALID);
    exanet_set32(t, base + EXANET_REG_CTX_CTRL, EXANET_CTX_CTRL_EN |
                 RNIC_PREP(EXANET_CTX_CTRL_FORMAT, format));
}

void exanet_close(ExanetTest *t, unsigned c)
{
    uint64_t base = EXANET_CTX(c);

    exanet_set32(t, base + EXANET_REG_CTX_CTRL,
                 exanet_get32(t, base + EXANET_REG_CTX_CTRL) |
                 EXANET_CTX_CTRL_QUIESCE);
    exanet_wait(t, exanet_get32(t, base + EXANET_REG_CTX_STATUS) &
                EXANET_CTX_STATUS_QUIESCED);
    exanet_set32(t, base + EXANET_REG_CTX_CTRL, 0);
}

/* --- Memory ---------------------------------------------------------------- */

void exanet_fill(ExanetTest *t, uint64_t pa, uint8_t *copy, size_t len,
                 unsigned seed)
{
    machine_fill(t->qts, pa, copy, len, seed);
}

void exanet_assert_mem(ExanetTest *t, uint64_t pa, const void *want, size_t len)
{
    machine_assert_mem(t->qts, pa, want, len);
}

void exanet_assert_byte(ExanetTest *t, uint64_t pa, uint8_t want, size_t len)
{
    g_autofree uint8_t *buf = g_malloc(len);

    memset(buf, want, len);
    exanet_assert_mem(t, pa, buf, len);
}

/* --- Time ------------------------------------------------------------------ */

void exanet_pump(ExanetTest *t)
{
    if (t->peer) {
        exanet_peer_poll(t->peer, 0);
    }
    for (unsigned i = 0; i < EXANET_LINKS; i++) {
        if (t->ports[i]) {
            exanet_peer_poll(t->ports[i], 0);
        }
    }
}

void exanet_settle(ExanetTest *t)
{
    wait_settle(exanet_get32(t, EXANET_REG_ID); exanet_pump(t));
}

void exanet_step(ExanetTest *t, int64_t ns)
{
    qtest_clock_step(t->qts, ns);
    exanet_settle(t);
}

void exanet_assert_quiet(ExanetTest *t)
{
    exanet_settle(t);
    for (unsigned i = 0; i <= EXANET_LINKS; i++) {
        ExanetPeer *p = i < EXANET_LINKS ? t->ports[i] : t->peer;

        g_assert_true(!p || g_queue_is_empty(&p->packets));
    }
}

void exanet_xoff(ExanetTest *t)
{
    exanet_peer_frame(t->peer, RNIC_LINK_XOFF, NULL, 0);
    exanet_wait(t, exanet_get32(t, EXANET_PORT(0) + EXANET_REG_PORT_STATUS) &
                EXANET_PORT_STATUS_PEER_XOFF);
}

void exanet_xon(ExanetTest *t)
{
    exanet_peer_frame(t->peer, RNIC_LINK_XON, NULL, 0);
}

/* --- ExaDMA ---------------------------------------------------------------- */

void exanet_desc_write(ExanetTest *t, unsigned tid, const ExanetDesc *d)
{
    uint64_t at = EXANET_PENDING_LIST + tid * sizeof(struct exanet_desc);
    uint64_t w3 = d->w3 | RNIC_PREP(EXANET_DESC_W3_PDID, d->pdid) |
                  RNIC_PREP(EXANET_DESC_W3_LENGTH, d->len);

    exanet_set64(t, at + offsetof(struct exanet_desc, w4), d->w4);
    exanet_set64(t, at + offsetof(struct exanet_desc, w1), d->src);
    exanet_set64(t, at + offsetof(struct exanet_desc, w2), d->dst);
    exanet_set64(t, at + offsetof(struct exanet_desc, w3), w3);
}

uint64_t exanet_desc_get(ExanetTest *t, unsigned tid, unsigned w)
{
    return exanet_get64(t, EXANET_PENDING_LIST +
                        tid * sizeof(struct exanet_desc) + 8 * (w - 1));
}

ExanetDesc exanet_desc_to_peer(uint64_t src, uint64_t va, unsigned len)
{
    return (ExanetDesc) {
        .src = src,
        .dst = exanet_gva(EXANET_TEST_PEER, va),
        .len = len,
        .pdid = EXANET_TEST_PDID(0),
    };
}

unsigned exanet_desc_sent(ExanetTest *t, unsigned tid)
{
    return RNIC_GET(EXANET_DESC_W3_SENT, exanet_desc_get(t, tid, 3));
}

/* --- Scratchpad ------------------------------------------------------------ */

static void channel_set(ExanetTest *t, unsigned c, unsigned channel,
                        unsigned field, uint64_t value)
{
    exanet_user_set(t, c, EXANET_PAGE_SCRATCHPAD,
                    channel * EXANET_CHANNEL_BYTES + field, value);
}

void exanet_channel_start(ExanetTest *t, unsigned c, unsigned channel,
                          const ExanetTransfer *x)
{
    channel_set(t, c, channel, offsetof(struct exanet_channel, src), x->src);
    channel_set(t, c, channel, offsetof(struct exanet_channel, dst), x->dst);
    channel_set(t, c, channel, offsetof(struct exanet_channel, ctrl),
                x->ctrl | x->len);
    channel_set(t, c, channel, offsetof(struct exanet_channel, notify_gva),
                x->notify_gva);
    channel_set(t, c, channel, offsetof(struct exanet_channel, notify_data),
                x->notify_data);
    channel_set(t, c, channel, EXANET_CHANNEL_DOORBELL, x->token ?: 1);
}

uint64_t exanet_channel_status(ExanetTest *t, unsigned c, unsigned channel)
{
    return exanet_user_get(t, c, EXANET_PAGE_SCRATCHPAD,
                           channel * EXANET_CHANNEL_BYTES +
                           offsetof(struct exanet_channel, status));
}

unsigned exanet_channel_state(ExanetTest *t, unsigned c, unsigned channel)
{
    return RNIC_GET(EXANET_CHSTAT_STATE, exanet_channel_status(t, c, channel));
}

void exanet_channel_wait(ExanetTest *t, unsigned c, unsigned channel,
                         enum exanet_channel_state state)
{
    exanet_wait(t, exanet_channel_state(t, c, channel) >= EXANET_CHANNEL_DONE);
    g_assert_cmpuint(exanet_channel_state(t, c, channel), ==, state);
}

/* --- Packetizer and mailbox ------------------------------------------------ */

void exanet_pktz_start(ExanetTest *t, unsigned c, unsigned channel,
                       uint64_t dst, const void *payload, unsigned size,
                       uint64_t ctrl)
{
    uint64_t at = channel * EXANET_PKTZ_BYTES;
    uint8_t buf[EXANET_PKTZ_PAYLOAD_MAX] = { 0 };

    memcpy(buf, payload, MIN(size, sizeof(buf)));
    for (unsigned i = 0; i < MIN(size, sizeof(buf)); i += 8) {
        exanet_user_set(t, c, EXANET_PAGE_PACKETIZER,
                        at + EXANET_PKTZ_PAYLOAD + i, ldq_le_p(buf + i));
    }
    exanet_user_set(t, c, EXANET_PAGE_PACKETIZER, at, dst);
    exanet_user_set(t, c, EXANET_PAGE_PACKETIZER, at + EXANET_PKTZ_CTRL,
                    ctrl | EXANET_PKTZ_GO | RNIC_PREP(EXANET_PKTZ_SIZE, size));
}

uint64_t exanet_pktz_status(ExanetTest *t, unsigned c, unsigned channel)
{
    return exanet_user_get(t, c, EXANET_PAGE_PACKETIZER,
                           channel * EXANET_PKTZ_BYTES +
                           offsetof(struct exanet_pktz_channel, status));
}

unsigned exanet_pktz_state(ExanetTest *t, unsigned c, unsigned channel)
{
    return RNIC_GET(EXANET_PKTZSTAT_STATE, exanet_pktz_status(t, c, channel));
}

void exanet_mailbox_open(ExanetTest *t, unsigned c, unsigned mailbox,
                         uint64_t ring, unsigned log2, uint64_t ctrl)
{
    uint64_t at = mailbox * EXANET_MAILBOX_BYTES;

    exanet_user_set(t, c, EXANET_PAGE_MAILBOX,
                    at + offsetof(struct exanet_mailbox, ring), ring);
    exanet_user_set(t, c, EXANET_PAGE_MAILBOX,
                    at + offsetof(struct exanet_mailbox, ctrl),
                    ctrl | EXANET_MAILBOX_ENABLE |
                    RNIC_PREP(EXANET_MAILBOX_LOG2, log2));
}

uint64_t exanet_mailbox_get(ExanetTest *t, unsigned c, unsigned mailbox,
                            unsigned field)
{
    return exanet_user_get(t, c, EXANET_PAGE_MAILBOX,
                           mailbox * EXANET_MAILBOX_BYTES + field);
}

struct exanet_message exanet_message_read(ExanetTest *t, uint64_t ring,
                                          unsigned index)
{
    struct exanet_message m;

    qtest_bufread(t->qts, ring + index * sizeof(m), &m, sizeof(m));
    m.origin = le64_to_cpu(m.origin);
    m.data = le64_to_cpu(m.data);
    m.time = le64_to_cpu(m.time);
    m.phase = le64_to_cpu(m.phase);
    return m;
}

/* --- Interrupts and faults ------------------------------------------------- */

void exanet_msix_enable(ExanetTest *t)
{
    machine_msix_enable(t->qts, t->dev, EXANET_RAM_MSIX, EXANET_VECTORS);
}

bool exanet_msix_taken(ExanetTest *t, unsigned v)
{
    return machine_msix_taken(t->qts, EXANET_RAM_MSIX, v);
}

struct exanet_fault exanet_fault_take(ExanetTest *t)
{
    struct exanet_fault f;

    exanet_wait(t, exanet_get32(t, EXANET_FAULT + EXANET_REG_FAULT_COUNT));
    f.va = exanet_get64(t, EXANET_FAULT + EXANET_REG_FAULT_VA);
    f.info = exanet_get64(t, EXANET_FAULT + EXANET_REG_FAULT_INFO);
    f.left = exanet_get64(t, EXANET_FAULT + EXANET_REG_FAULT_LEFT);
    f.time = exanet_get64(t, EXANET_FAULT + EXANET_REG_FAULT_TIME);
    exanet_set32(t, EXANET_FAULT + EXANET_REG_FAULT_POP, 1);
    return f;
}

void exanet_fault_resolve(ExanetTest *t, const struct exanet_fault *f, bool ok)
{
    exanet_set64(t, EXANET_FAULT + EXANET_REG_FAULT_RESOLVE,
                 EXANET_RESOLVE(f->info, ok));
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A machine with pvrdma; see device.h. */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "hw/pci/pci_regs.h"
#include "libqos/pci-pc.h"
#include "qobject/qdict.h"
#include "../common/machine.h"
#include "device.h"

#define NIC_RCTL    0x100               /* registers of e1000 */
#define NIC_RDBAL   0x2800
#define NIC_RDLEN   0x2808
#define NIC_RDT     0x2818
#define NIC_EN_ALL  0x1a                /* receiver on, accepts all frames */
#define NIC_DESCS   8

#define RAM_FIRST 0x01000000ULL
#define VLAN_NONE 0xfff
#define PORT_LIMIT 0xe0800000ULL
#define ECAM 0xb0000000ULL
#define MCH_PCIEXBAR 0x60 /* register of q35: address of configuration space */
#define FRAME_MAX 65536

const uint8_t pvrdma_mac[6] = { 0x52, 0x54, 0, 0x12, 0x34, 0x56 };
const uint8_t pvrdma_peer_mac[6] = { 0x52, 0x54, 0, 0xab, 0xcd, 0xef };
const uint8_t pvrdma_gid[16] = { [10] = 0xff, 0xff, 10, 0, 0, 1 };
const uint8_t pvrdma_peer_gid[16] = { [10] = 0xff, 0xff, 10, 0, 0, 2 };
const uint8_t pvrdma_gid6[16] = { 0xfe, 0x80, [15] = 1 };
const uint8_t pvrdma_peer_gid6[16] = { 0xfe, 0x80, [15] = 2 };

/* --- Machine ------------------------------------------------------------ */

/*
 * Sets the root port up as firmware does: bus 1 is behind the port, with addresses up
 * to PORT_LIMIT.
 */
static void port_open(PvrdmaTest *t)
{
    QPCIDevice *port = qpci_device_find(t->bus, PVRDMA_TEST_PORT);

    g_assert_nonnull(port);
    qpci_config_writeb(port, PCI_SECONDARY_BUS, 1);
    qpci_config_writeb(port, PCI_SUBORDINATE_BUS, 1);
    qpci_config_writew(port, PCI_MEMORY_BASE, t->bus->mmio_alloc_ptr >> 16);
    qpci_config_writew(port, PCI_MEMORY_LIMIT, (PORT_LIMIT - 1) >> 16);
    qpci_device_enable(port);
    g_free(port);
}

/*
 * Starts QEMU, with the MAC address and GIDs of @t.  @cable: options for netdev "wire".
 * @port: the device is in the slot of a root port.
 */
static void machine_start_at(PvrdmaTest *t, bool port, const char *cable,
                             const char *props)
{
    const char *slot = port ? "bus=root,addr=0" : "addr=" PVRDMA_TEST_SLOT;
    const uint8_t *mac = t->mac;
    uint64_t size;

    t->log = machine_log_new();
    g_queue_init(&t->frames);
    t->qts = qtest_initf("-machine q35 -vga none -m %u -nodefaults "
        "-d guest_errors -D %s %s %s"
        "-device vmxnet3,netdev=wire,%s.0,multifunction=on,"
        "mac=%02x:%02x:%02x:%02x:%02x:%02x -device pvrdma,id=nic,%s.1,"
        "ack-delay-us=0%s",
        (unsigned)(PVRDMA_TEST_RAM >> 20), t->log, cable,
        port ? "-global ICH9-LPC.acpi-pci-hotplug-with-bridge-support=off "
               "-device pcie-root-port,id=root,chassis=1,addr=7 " : "", slot,
        mac[0], mac[1], mac[2], mac[3], mac[4], mac[5], slot, props);
    wire_peer_started(&t->wire);
    t->ram_next = RAM_FIRST;
    t->bus = qpci_new_pc(t->qts, NULL);
    if (port) {
        port_open(t);
    }
    t->dev = qpci_device_find(t->bus, port ? 1 << 8 | QPCI_DEVFN(0, 1)
                                           : PVRDMA_TEST_DEVFN);
    g_assert_nonnull(t->dev);
    qpci_device_enable(t->dev);
    t->regs = qpci_iomap(t->dev, PVRDMA_BAR_REGS, &size);
    g_assert_cmphex(size, ==, PVRDMA_REGS_BYTES);
    t->uar = qpci_iomap(t->dev, PVRDMA_BAR_UAR, &size);
    g_assert_cmphex(size, ==, PVRDMA_UARS * PVRDMA_PAGE_BYTES);
}

static PvrdmaTest *start_cold(bool peer, const char *props)
{
    PvrdmaTest *t = g_new0(PvrdmaTest, 1);
    g_autofree char *options = NULL;

    t->mac = peer ? pvrdma_peer_mac : pvrdma_mac;
    t->gid = peer ? pvrdma_peer_gid : pvrdma_gid;
    t->gid6 = peer ? pvrdma_peer_gid6 : pvrdma_gid6;
    if (machine_on_cable()) {
        wire_peer_init_cable(&t->wire, FRAME_MAX);
    } else {
        wire_peer_init(&t->wire, false, FRAME_MAX);
    }
    options = wire_peer_options(&t->wire, "wire");
    machine_start_at(t, false, options, props);
    return t;
}

PvrdmaTest *pvrdma_start_cold(const char *props)
{
    return start_cold(false, props);
}

PvrdmaTest *pvrdma_start_cold_peer(const char *props)
{
    return start_cold(true, props);
}

static void ring_make(PvrdmaTest *t, PvrdmaTestRing *ring,
                      struct pvrdma_ring_page_info *info, unsigned elem_bytes)
{
    const uint32_t pages = PVRDMA_TEST_RING_PAGES;

    ring->at = pvrdma_alloc(t, pages * PVRDMA_PAGE_BYTES);
    ring->slots = (pages - 1) * PVRDMA_PAGE_BYTES / elem_bytes;
    ring->elem_bytes = elem_bytes;
    info->num_pages = cpu_to_le32(pages);
    info->pdir_dma = cpu_to_le64(pvrdma_pdir(t, ring->at, pages));
}

void pvrdma_dsr_make(PvrdmaTest *t)
{
    struct pvrdma_device_shared_region dsr = {
        .driver_version = cpu_to_le32(PVRDMA_VERSION),
        .gos_info = cpu_to_le32(RNIC_PREP(PVRDMA_GOS_BITS, 2) |
                                RNIC_PREP(PVRDMA_GOS_TYPE, 1) |
                                RNIC_PREP(PVRDMA_GOS_VER, 1)),
        .uar_pfn64 = cpu_to_le64(t->uar.addr >> PVRDMA_PAGE_SHIFT),
    };

    t->dsr = pvrdma_alloc(t, sizeof(dsr));
    t->cmd_slot = pvrdma_alloc(t, PVRDMA_PAGE_BYTES);
    t->resp_slot = pvrdma_alloc(t, PVRDMA_PAGE_BYTES);
    dsr.cmd_slot_dma = cpu_to_le64(t->cmd_slot);
    dsr.resp_slot_dma = cpu_to_le64(t->resp_slot);
    ring_make(t, &t->async, &dsr.async_ring_pages, sizeof(struct pvrdma_eqe));
    ring_make(t, &t->cqne, &dsr.cq_ring_pages, sizeof(struct pvrdma_cqne));
    qtest_bufwrite(t->qts, t->dsr, &dsr, sizeof(dsr));
}

uint32_t pvrdma_dsr_write(PvrdmaTest *t)
{
    pvrdma_set(t, PVRDMA_REG_DSRLOW, t->dsr);
    pvrdma_set(t, PVRDMA_REG_DSRHIGH, t->dsr >> 32);
    return pvrdma_get(t, PVRDMA_REG_ERR);
}

uint32_t pvrdma_ctl(PvrdmaTest *t, enum pvrdma_device_ctl value)
{
    pvrdma_set(t, PVRDMA_REG_CTL, value);
    return pvrdma_get(t, PVRDMA_REG_ERR);
}

void pvrdma_bring_up(PvrdmaTest *t)
{
    pvrdma_dsr_make(t);
    g_assert_cmpuint(pvrdma_dsr_write(t), ==, 0);
    pvrdma_set(t, PVRDMA_REG_IMR, 0);
    g_assert_cmpuint(pvrdma_ctl(t, PVRDMA_DEVICE_CTL_ACTIVATE), ==, 0);
    g_assert_cmpint(pvrdma_bind(t, 0, t->gid, VLAN_NONE), ==, 0);
    g_assert_cmpint(pvrdma_bind(t, 1, t->gid6, VLAN_NONE), ==, 0);
}

/*
 * Returns the options for a hub between the netdev @wire, the device (whose netdev is a
 * port of hub 0) and the NIC @nic.  @props: the options before these options.
 */
static char *hub_props(const char *wire, const char *nic, const char *props)
{
    return g_strdup_printf("%s -netdev %s,id=outer "
                           "-netdev hubport,hubid=0,id=port1,netdev=outer "
                           "-netdev hubport,hubid=0,id=port2 "
                           "-device %s,netdev=port2", props, wire, nic);
}

static PvrdmaTest *start_hub(bool port, const char *nic)
{
    PvrdmaTest *t = g_new0(PvrdmaTest, 1);
    g_autofree char *wire = NULL, *props = NULL;

    t->mac = pvrdma_mac;
    t->gid = pvrdma_gid;
    t->gid6 = pvrdma_gid6;
    wire_peer_init(&t->wire, false, FRAME_MAX);
    wire = wire_peer_netdev(&t->wire);
    props = hub_props(wire, nic, "");
    machine_start_at(t, port, "-netdev hubport,hubid=0,id=wire", props);
    pvrdma_msix_enable(t);
    pvrdma_bring_up(t);
    /* BARs of other devices must be outside of the port's addresses */
    t->bus->mmio_alloc_ptr = MAX(t->bus->mmio_alloc_ptr, PORT_LIMIT);
    return t;
}

PvrdmaTest *pvrdma_start_hub(const char *nic)
{
    return start_hub(false, nic);
}

PvrdmaTest *pvrdma_start_port(const char *nic)
{
    return start_hub(true, nic);
}

uint64_t pvrdma_ecam(PvrdmaTest *t, int devfn)
{
    QPCIDevice *host = qpci_device_find(t->bus, QPCI_DEVFN(0, 0));

    qpci_config_writel(host, MCH_PCIEXBAR + 4, ECAM >> 32);
    qpci_config_writel(host, MCH_PCIEXBAR, ECAM | 1);
    g_free(host);
    return ECAM + (devfn << 12);
}

void pvrdma_nic_receive(PvrdmaTest *t, uint64_t target)
{
    QPCIDevice *nic = qpci_device_find(t->bus, PVRDMA_TEST_NIC);
    uint64_t descs = pvrdma_alloc(t, NIC_DESCS * 16);
    uint64_t size;
    QPCIBar bar;

    g_assert_nonnull(nic);
    for (unsigned i = 0; i < NIC_DESCS; i++) {
        qtest_writeq(t->qts, descs + 16 * i, target);
    }
    qpci_device_enable(nic);
    bar = qpci_iomap(nic, 0, &size);
    qpci_io_writel(nic, bar, NIC_RDBAL, descs);
    qpci_io_writel(nic, bar, NIC_RDLEN, NIC_DESCS * 16);
    qpci_io_writel(nic, bar, NIC_RDT, NIC_DESCS - 1);
    qpci_io_writel(nic, bar, NIC_RCTL, NIC_EN_ALL);
    pvrdma_step(t, 2 * PVRDMA_SECOND);      /* e1000's link comes up after a while */
    g_free(nic);
}

PvrdmaTest *pvrdma_start(const char *props)
{
    PvrdmaTest *t = pvrdma_start_cold(props);

    pvrdma_msix_enable(t);
    pvrdma_bring_up(t);
    return t;
}

/* Returns true if `info network` shows a cable between machines with @state. */
static bool cable_is(PvrdmaTest *t, const char *state)
{
    g_autofree char *want = g_strdup_printf("type=stream,%s", state);
    g_autofree char *info = qtest_hmp(t->qts, "info network");

    return strstr(info, want) != NULL;
}

/*
 * Waits for both sockets, because QEMU's threads open them and frames before that are
 * lost.
 */
void pvrdma_pair_start(PvrdmaTest *t[2], const char *path, const char *props)
{
    for (unsigned i = 0; i < 2; i++) {
        g_autofree char *cable = machine_cable("wire", path, i == 0);

        t[i] = g_new0(PvrdmaTest, 1);
        t[i]->mac = i ? pvrdma_peer_mac : pvrdma_mac;
        t[i]->gid = i ? pvrdma_peer_gid : pvrdma_gid;
        t[i]->gid6 = i ? pvrdma_peer_gid6 : pvrdma_gid6;
        wire_peer_init_closed(&t[i]->wire);
        machine_start_at(t[i], false, cable, props);
    }
    for (unsigned i = 0; i < 2; i++) {
        pvrdma_wait(t[i], cable_is(t[i], machine_on_cable() ? "connected" : "unix:"));
    }
    for (unsigned i = 0; i < 2; i++) {
        pvrdma_msix_enable(t[i]);
        pvrdma_bring_up(t[i]);
    }
}

static char *server_netdev(const char *path)
{
    return g_strdup_printf("stream,server=on,addr.type=unix,addr.path=%s", path);
}

static PvrdmaTest *start_server(const char *netdev, const char *props)
{
    PvrdmaTest *t = g_new0(PvrdmaTest, 1);
    g_autofree char *options = g_strdup_printf("-netdev %s,id=wire", netdev);

    t->mac = pvrdma_mac;
    t->gid = pvrdma_gid;
    t->gid6 = pvrdma_gid6;
    wire_peer_init_closed(&t->wire);
    machine_start_at(t, false, options, props);
    pvrdma_msix_enable(t);
    pvrdma_bring_up(t);
    return t;
}

PvrdmaTest *pvrdma_start_server(const char *path, const char *props)
{
    g_autofree char *netdev = server_netdev(path);

    return start_server(netdev, props);
}

PvrdmaTest *pvrdma_start_hub_server(const char *path, const char *props)
{
    g_autofree char *wire = server_netdev(path);
    g_autofree char *all = hub_props(wire, "e1000e", props);

    return start_server("hubport,hubid=0", all);
}

void pvrdma_wire_connect(PvrdmaTest *t, const char *path)
{
    pvrdma_wait(t, cable_is(t, "listening"));
    wire_peer_fini(&t->wire);
    wire_peer_connect(&t->wire, path, FRAME_MAX);
    /* does not read frames, because the test may want to see them arrive */
    wait_until(cable_is(t, "unix:"), wait_pause());
}

void pvrdma_wire_cut(PvrdmaTest *t)
{
    wire_peer_fini(&t->wire);
    wire_peer_init_closed(&t->wire);
}

void pvrdma_stop(PvrdmaTest *t)
{
    pvrdma_assert_quiet(t);
    g_free(t->dev);
    qpci_free_pc(t->bus);
    qtest_quit(t->qts);
    machine_log_check(t->log, "pvrdma", t->guest_errors, false);
    wire_peer_fini(&t->wire);
    g_free(t);
}

/* --- Registers ---------------------------------------------------------- */

uint32_t pvrdma_get(PvrdmaTest *t, enum pvrdma_reg reg)
{
    return qtest_readl(t->qts, t->regs.addr + reg);
}

void pvrdma_set(PvrdmaTest *t, enum pvrdma_reg reg, uint32_t value)
{
    qtest_writel(t->qts, t->regs.addr + reg, value);
}

void pvrdma_doorbell(PvrdmaTest *t, uint32_t uar, unsigned offset,
                     uint32_t value)
{
    qtest_writel(t->qts, t->uar.addr + uar * PVRDMA_PAGE_BYTES + offset, value);
}

uint64_t pvrdma_counter(PvrdmaTest *t, const char *name)
{
    QDict *answer = qtest_qmp(t->qts, "{ 'execute': 'qom-get', 'arguments': "
        "{ 'path': '/machine/peripheral/nic', 'property': 'counters' } }");
    QDict *counters = qdict_get_qdict(answer, "return");
    uint64_t value;

    g_assert_true(qdict_haskey(counters, name));
    value = qdict_get_int(counters, name);
    qobject_unref(answer);
    return value;
}

/* --- Memory ------------------------------------------------------------- */

uint64_t pvrdma_alloc(PvrdmaTest *t, uint64_t bytes)
{
    uint64_t at = t->ram_next;

    t->ram_next += ROUND_UP(bytes, PVRDMA_PAGE_BYTES);
    g_assert_cmphex(t->ram_next, <=, PVRDMA_TEST_RAM);
    return at;
}

uint64_t pvrdma_pdir_pages(PvrdmaTest *t, const uint64_t *pages, uint32_t count)
{
    uint64_t dir = pvrdma_alloc(t, PVRDMA_PAGE_BYTES);

    g_assert_cmpuint(count, <=, PVRDMA_PDIR_MAX_PAGES);
    for (uint32_t first = 0; first < count; first += 512) {
        uint64_t table = pvrdma_alloc(t, PVRDMA_PAGE_BYTES);
        uint64_t raw[512];
        uint32_t n = MIN(count - first, 512);

        for (uint32_t i = 0; i < n; i++) {
            raw[PVRDMA_PDIR_PAGE(first + i)] = cpu_to_le64(pages[first + i]);
        }
        qtest_bufwrite(t->qts, table, raw, n * sizeof(*raw));
        qtest_writeq(t->qts, dir + 8 * PVRDMA_PDIR_TABLE(first), table);
    }
    return dir;
}

uint64_t pvrdma_pdir(PvrdmaTest *t, uint64_t base, uint32_t count)
{
    g_autofree uint64_t *pages = g_new(uint64_t, count);

    for (uint32_t i = 0; i < count; i++) {
        pages[i] = base + (uint64_t)i * PVRDMA_PAGE_BYTES;
    }
    return pvrdma_pdir_pages(t, pages, count);
}

void pvrdma_fill(PvrdmaTest *t, uint64_t pa, uint8_t *copy, size_t len,
                 unsigned seed)
{
    machine_fill(t->qts, pa, copy, len, seed);
}

void pvrdma_assert_mem(PvrdmaTest *t, uint64_t pa, const void *want, size_t len)
{
    machine_assert_mem(t->qts, pa, want, len);
}

/* --- Commands ----------------------------------------------------------- */

/* Returns true if the driver waits for the interrupt of @cmd. */
static bool cmd_answers(enum pvrdma_cmd cmd)
{
    switch (cmd) {
    case PVRDMA_CMD_QUERY_PORT:
    case PVRDMA_CMD_QUERY_PKEY:
    case PVRDMA_CMD_CREATE_PD:
    case PVRDMA_CMD_CREATE_MR:
    case PVRDMA_CMD_CREATE_CQ:
    case PVRDMA_CMD_RESIZE_CQ:
    case PVRDMA_CMD_CREATE_QP:
    case PVRDMA_CMD_MODIFY_QP:
    case PVRDMA_CMD_QUERY_QP:
    case PVRDMA_CMD_CREATE_UC:
    case PVRDMA_CMD_CREATE_SRQ:
    case PVRDMA_CMD_QUERY_SRQ:
        return true;
    default:
        return false;
    }
}

int pvrdma_command(PvrdmaTest *t, enum pvrdma_cmd cmd, union pvrdma_cmd_req *req,
                   union pvrdma_cmd_resp *resp)
{
    union pvrdma_cmd_resp answer = { 0 };
    bool answered;
    uint32_t err;

    req->hdr.cmd = cpu_to_le32(cmd);
    req->hdr.response = cpu_to_le64(++t->cookie);
    qtest_memset(t->qts, t->resp_slot, 0, sizeof(answer));
    qtest_bufwrite(t->qts, t->cmd_slot, req, sizeof(*req));
    pvrdma_set(t, PVRDMA_REG_REQUEST, 0);
    err = pvrdma_get(t, PVRDMA_REG_ERR);
    answered = !err && cmd_answers(cmd);
    if (t->msix) {
        g_assert_cmpint(pvrdma_msix_taken(t, PVRDMA_INTR_VECTOR_RESPONSE), ==,
                        answered);
    }
    qtest_bufread(t->qts, t->resp_slot, &answer, sizeof(answer));
    g_assert_cmphex(le64_to_cpu(answer.hdr.response), ==,
                    answered ? t->cookie : 0);
    g_assert_cmphex(le32_to_cpu(answer.hdr.ack), ==,
                    answered ? PVRDMA_CMD_RESP(cmd) : 0);
    if (resp) {
        *resp = answer;
    }
    return err ? err : answer.hdr.err;
}

void pvrdma_command_ok(PvrdmaTest *t, enum pvrdma_cmd cmd,
                       union pvrdma_cmd_req *req, union pvrdma_cmd_resp *resp)
{
    g_assert_cmpint(pvrdma_command(t, cmd, req, resp), ==, 0);
}

void pvrdma_command_fails(PvrdmaTest *t, enum pvrdma_cmd cmd,
                          union pvrdma_cmd_req *req, int err)
{
    uint64_t refused = pvrdma_counter(t, "cmd-error");

    pvrdma_expect_errors(t, 1,
        g_assert_cmpint(pvrdma_command(t, cmd, req, NULL), ==, err));
    g_assert_cmpuint(pvrdma_counter(t, "cmd-error"), ==, refused + 1);
}

static uint8_t gid_type(PvrdmaTest *t)
{
    return qtest_readb(t->qts, t->dsr +
                       offsetof(struct pvrdma_device_shared_region,
                                caps.gid_types));
}

int pvrdma_bind(PvrdmaTest *t, uint32_t index, const uint8_t gid[16],
                uint32_t vlan)
{
    union pvrdma_cmd_req req = {
        .create_bind = {
            .mtu = cpu_to_le32(1024),
            .vlan = cpu_to_le32(vlan),
            .index = cpu_to_le32(index),
            .gid_type = gid_type(t),
        },
    };

    memcpy(req.create_bind.new_gid, gid, 16);
    return pvrdma_command(t, PVRDMA_CMD_CREATE_BIND, &req, NULL);
}

int pvrdma_unbind(PvrdmaTest *t, uint32_t index, const uint8_t gid[16])
{
    union pvrdma_cmd_req req = { .destroy_bind.index = cpu_to_le32(index) };

    memcpy(req.destroy_bind.dest_gid, gid, 16);
    return pvrdma_command(t, PVRDMA_CMD_DESTROY_BIND, &req, NULL);
}

/* --- Events, interrupts ------------------------------------------------- */

/*
 * Returns true if the driver accepts @index: its mask is meant for powers of two, but
 * is used with any number of slots.
 */
static bool index_valid(uint32_t index, uint32_t slots)
{
    return !(index & ~((slots << 1) - 1));
}

bool pvrdma_ring_take(PvrdmaTest *t, const PvrdmaTestRing *ring, void *elem)
{
    uint64_t state = ring->at + offsetof(struct pvrdma_ring_state, rx);
    uint64_t cons = state + offsetof(struct pvrdma_ring, cons_head);
    uint32_t tail = qtest_readl(t->qts, state +
                                offsetof(struct pvrdma_ring, prod_tail));
    uint32_t head = qtest_readl(t->qts, cons);

    if (!index_valid(tail, ring->slots) || !index_valid(head, ring->slots) ||
        tail == head) {
        return false;
    }
    qtest_bufread(t->qts, ring->at + PVRDMA_PAGE_BYTES +
                  (head & (ring->slots - 1)) * ring->elem_bytes,
                  elem, ring->elem_bytes);
    qtest_writel(t->qts, cons, (head + 1) & ((ring->slots << 1) - 1));
    return true;
}

void pvrdma_event_take(PvrdmaTest *t, enum pvrdma_event type, uint32_t info)
{
    struct pvrdma_eqe eqe;

    pvrdma_wait(t, pvrdma_ring_take(t, &t->async, &eqe));
    g_assert_cmpuint(le32_to_cpu(eqe.type), ==, type);
    g_assert_cmpuint(le32_to_cpu(eqe.info), ==, info);
}

bool pvrdma_event_none(PvrdmaTest *t)
{
    struct pvrdma_eqe eqe;

    pvrdma_settle(t);
    return !pvrdma_ring_take(t, &t->async, &eqe);
}

uint32_t pvrdma_cqne_take(PvrdmaTest *t)
{
    struct pvrdma_cqne cqne = { 0 };

    return pvrdma_ring_take(t, &t->cqne, &cqne) ? le32_to_cpu(cqne.info) : 0;
}

void pvrdma_msix_enable(PvrdmaTest *t)
{
    t->msix = pvrdma_alloc(t, PVRDMA_PAGE_BYTES);
    machine_msix_enable(t->qts, t->dev, t->msix, PVRDMA_INTR_VECTORS);
}

bool pvrdma_msix_taken(PvrdmaTest *t, unsigned v)
{
    return machine_msix_taken(t->qts, t->msix, v);
}

/* --- Wire --------------------------------------------------------------- */

RocePath pvrdma_path(bool ipv6, bool reverse)
{
    RocePath path = {
        .network = ipv6 ? ROCE_NETWORK_IPV6 : ROCE_NETWORK_IPV4,
        .vlan = ROCE_NO_VLAN,
        .sport = ROCE_UDP_SPORT_MIN,
        .hop_limit = 64,
    };

    memcpy(path.smac, reverse ? pvrdma_mac : pvrdma_peer_mac, 6);
    memcpy(path.dmac, reverse ? pvrdma_peer_mac : pvrdma_mac, 6);
    memcpy(reverse ? path.dgid : path.sgid,
           ipv6 ? pvrdma_peer_gid6 : pvrdma_peer_gid, 16);
    memcpy(reverse ? path.sgid : path.dgid, ipv6 ? pvrdma_gid6 : pvrdma_gid, 16);
    return path;
}

static void frame_came(void *opaque, const uint8_t *frame, size_t len)
{
    PvrdmaTest *t = opaque;
    PvrdmaFrame *f;

    if (!roce_frame_is(frame, len)) {
        t->others++;
        return;
    }
    f = g_new0(PvrdmaFrame, 1);
    g_assert_cmpuint(len, <=, sizeof(f->buf));
    f->len = len;
    memcpy(f->buf, frame, len);
    g_assert_cmpint(roce_frame_parse(f->buf, len, &f->path, &f->pkt), ==, ROCE_OK);
    g_queue_push_tail(&t->frames, f);
}

void pvrdma_wire_send_raw(PvrdmaTest *t, const void *frame, size_t len)
{
    wire_peer_send(&t->wire, frame, len, frame_came, t);
}

void pvrdma_wire_send(PvrdmaTest *t, const RocePath *path, const RocePacket *pkt,
                      const void *payload, size_t len)
{
    uint8_t frame[ROCE_FRAME_MAX];
    size_t at = roce_frame_begin(frame, path, pkt);

    if (len) {
        memcpy(frame + at, payload, len);
    }
    pvrdma_wire_send_raw(t, frame, roce_frame_end(frame, at, len));
}

PvrdmaFrame *pvrdma_wire_take(PvrdmaTest *t)
{
    return wire_peer_take(&t->wire, &t->frames, frame_came, t);
}

PvrdmaFrame *pvrdma_wire_expect(PvrdmaTest *t, uint8_t opcode, uint32_t qpn,
                                uint32_t psn)
{
    PvrdmaFrame *f = pvrdma_wire_take(t);

    g_assert_cmphex(f->pkt.opcode, ==, opcode);
    g_assert_cmphex(f->pkt.qpn, ==, qpn);
    g_assert_cmphex(f->pkt.psn, ==, psn);
    return f;
}

void pvrdma_wire_expect_ack(PvrdmaTest *t, uint32_t qpn, uint32_t psn,
                            uint8_t syndrome)
{
    g_autofree PvrdmaFrame *f = pvrdma_wire_expect(t, ROCE_OP_ACK, qpn, psn);

    g_assert_cmphex(f->pkt.syndrome, ==, syndrome);
}

void pvrdma_assert_quiet(PvrdmaTest *t)
{
    pvrdma_settle(t);
    g_assert_cmpuint(g_queue_get_length(&t->frames), ==, 0);
}

/* --- Time --------------------------------------------------------------- */

void pvrdma_pump(PvrdmaTest *t)
{
    wire_peer_poll(&t->wire, 0, frame_came, t);
}

void pvrdma_settle(PvrdmaTest *t)
{
    wait_settle(pvrdma_get(t, PVRDMA_REG_VERSION); pvrdma_pump(t));
}

void pvrdma_step(PvrdmaTest *t, int64_t ns)
{
    qtest_clock_step(t->qts, ns);
    pvrdma_settle(t);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A machine with vmxnet3 and pvrdma in one slot.  The test acts as the driver, and as the
 * peer on the wire.  Functions for objects and queues are in verbs.h.
 *
 * The machine's processor executes nothing, so all RAM belongs to the test.  Virtual
 * time stands still unless the test moves it, as pvrdma_step() does.  The device works
 * between the requests of the test: a test waits for an event with pvrdma_wait(), and
 * calls pvrdma_settle() before it asserts that an event has not happened.
 */
#ifndef PVRDMA_DEVICE_H
#define PVRDMA_DEVICE_H

#include "libqtest.h"
#include "libqos/pci.h"
#include <rdma/vmw_pvrdma-abi.h>
#include "rnic/pvrdma/cmd.h"
#include "rnic/pvrdma/dsr.h"
#include "rnic/pvrdma/regs.h"
#include "hw/rnic/pvrdma/wire/roce.h"
#include "../common/wait.h"
#include "../common/wire-peer.h"

#define PVRDMA_TEST_SLOT    "5"
#define PVRDMA_TEST_DEVFN   QPCI_DEVFN(5, 1)
#define PVRDMA_TEST_PORT    QPCI_DEVFN(7, 0)    /* root port of pvrdma_start_port() */
/* A -device for pvrdma_start_hub() and pvrdma_start_port(), and its address in PCI. */
#define PVRDMA_TEST_E1000   "e1000,addr=6"
#define PVRDMA_TEST_NIC     QPCI_DEVFN(6, 0)
#define PVRDMA_TEST_RAM     0x10000000ULL   /* bytes of RAM */
#define PVRDMA_NO_RAM       0x20000000ULL   /* an address without RAM or device */
#define PVRDMA_TEST_RING_PAGES 4            /* pages of an event ring, as in Linux */

#define PVRDMA_MS           1000000LL       /* ns in a millisecond */
#define PVRDMA_SECOND       (1000 * PVRDMA_MS)

/*
 * MACs and GIDs of the device, and MACs and GIDs of the peer (pvrdma_peer_*).  The IPv4
 * GIDs (gid) are 10.0.0.1 of the device and 10.0.0.2 of the peer; the IPv6 GIDs (gid6)
 * are fe80::1 of the device and fe80::2 of the peer.
 */
extern const uint8_t pvrdma_mac[6], pvrdma_peer_mac[6];
extern const uint8_t pvrdma_gid[16], pvrdma_peer_gid[16];
extern const uint8_t pvrdma_gid6[16], pvrdma_peer_gid6[16];

/* A RoCE frame that the device has sent. */
typedef struct PvrdmaFrame {
    RocePath path;
    RocePacket pkt;                 /* @pkt.payload points into @buf */
    size_t len;
    uint8_t buf[ROCE_FRAME_MAX];
} PvrdmaFrame;

/* A ring that the device fills, and that the test reads as the driver does. */
typedef struct PvrdmaTestRing {
    uint64_t at;                    /* address of the ring's contiguous pages */
    uint32_t slots;                 /* number of slots, as the driver computes it */
    unsigned elem_bytes;
} PvrdmaTestRing;

typedef struct PvrdmaTest {
    QTestState *qts;
    QPCIBus *bus;
    QPCIDevice *dev;
    QPCIBar regs, uar;
    WirePeer wire; /* wire.fd is -1 if the test is not at the other end */
    const uint8_t *mac, *gid, *gid6;    /* addresses of this machine */
    GQueue frames;                  /* the PvrdmaFrames that the test has not taken */
    unsigned others;                /* number of received frames that are not RoCE */
    uint64_t ram_next;              /* next address that pvrdma_alloc() returns */
    uint64_t dsr, cmd_slot, resp_slot, msix;
    PvrdmaTestRing async, cqne;
    uint64_t cookie;                /* number of the last command and its answer */
    char *log;                      /* path of the log of guest errors */
    bool guest_errors;              /* the test provokes guest errors */
} PvrdmaTest;

/* --- Machine ------------------------------------------------------------ */
/*
 * Starts a machine, and brings the device up as the Linux driver does: enables MSI-X,
 * makes the shared region, activates the device, and binds GID 0 (IPv4) and GID 1
 * (IPv6).  @props: further properties, "" or ",a=b".
 */
PvrdmaTest *pvrdma_start(const char *props);
/*
 * Does the same as pvrdma_start() without properties, with another NIC on the same wire.
 * @nic: the value of -device for this NIC, without netdev.
 */
PvrdmaTest *pvrdma_start_hub(const char *nic);
/*
 * Does the same as pvrdma_start_hub(), but pvrdma and vmxnet3 are behind the root port
 * PVRDMA_TEST_PORT.
 */
PvrdmaTest *pvrdma_start_port(const char *nic);
/*
 * Enables reception in the NIC PVRDMA_TEST_E1000, which stores the next seven frames at
 * guest address @target, and no further frame.  Advances virtual time by 2 s, because
 * this NIC receives nothing for 1 s after a write to its register RCTL.
 */
void pvrdma_nic_receive(PvrdmaTest *t, uint64_t target);
/*
 * Starts a machine, enables the device's PCI function, and writes no register of BAR 1.
 */
PvrdmaTest *pvrdma_start_cold(const char *props);
/* Does the same as pvrdma_start_cold(), but the machine has the peer's MAC and GIDs. */
PvrdmaTest *pvrdma_start_cold_peer(const char *props);
/*
 * Does the same as pvrdma_start(), with a -netdev stream that listens at @path.  The
 * test connects to this socket by pvrdma_wire_connect().
 */
PvrdmaTest *pvrdma_start_server(const char *path, const char *props);
/*
 * Does the same as pvrdma_start_server(), but a hub connects the wire, the device and
 * another NIC.
 */
PvrdmaTest *pvrdma_start_hub_server(const char *path, const char *props);
/*
 * Starts two machines as pvrdma_start() does, with a wire between the machines.  The
 * second machine has the MAC and GIDs that the peer has in other tests.  @path: path of
 * the socket that the first machine makes.
 */
void pvrdma_pair_start(PvrdmaTest *t[2], const char *path, const char *props);
/*
 * Asserts that the test has taken all RoCE frames, ends QEMU and frees @t.  Asserts
 * that QEMU has logged guest errors of the device if @t->guest_errors is set, and that
 * QEMU has logged no guest error if @t->guest_errors is clear.
 */
void pvrdma_stop(PvrdmaTest *t);

/* Enables MSI-X; vector v stores to the 32-bit word v of a new page at @t->msix. */
void pvrdma_msix_enable(PvrdmaTest *t);
/*
 * Makes the device shared region (DSR) in RAM, and does not write the region's address to
 * the device.
 */
void pvrdma_dsr_make(PvrdmaTest *t);
/* Writes the address of the shared region to the device; returns register ERR. */
uint32_t pvrdma_dsr_write(PvrdmaTest *t);
uint32_t pvrdma_ctl(PvrdmaTest *t, enum pvrdma_device_ctl value);
/*
 * Makes the shared region, writes its address to the device, enables interrupts,
 * activates the device and binds the two GIDs of the machine; asserts success of each
 * step.
 */
void pvrdma_bring_up(PvrdmaTest *t);

/*
 * Read and write register @reg of BAR 1; write a doorbell at @offset of page @uar of
 * BAR 2.
 */
uint32_t pvrdma_get(PvrdmaTest *t, enum pvrdma_reg reg);
void pvrdma_set(PvrdmaTest *t, enum pvrdma_reg reg, uint32_t value);
void pvrdma_doorbell(PvrdmaTest *t, uint32_t uar, unsigned offset,
                     uint32_t value);
/*
 * Maps PCI configuration space to memory; returns the address of the configuration space
 * of device @devfn of bus 0.
 */
uint64_t pvrdma_ecam(PvrdmaTest *t, int devfn);

/* Returns the counter @name, such as "rx-bad-icrc", of the device property "counters". */
uint64_t pvrdma_counter(PvrdmaTest *t, const char *name);
/*
 * Runs @code; asserts that the device counts @n (> 0) guest errors meanwhile.  Sets
 * @t->guest_errors, so pvrdma_stop() expects guest errors in the log.
 */
#define pvrdma_expect_errors(t, n, code) \
    do { \
        uint64_t before_ = pvrdma_counter(t, "guest-error"); \
        (t)->guest_errors = true; \
        code; \
        g_assert_cmpuint(pvrdma_counter(t, "guest-error") - before_, ==, n); \
    } while (0)

/* --- Memory ------------------------------------------------------------- */
/*
 * Allocates guest pages for @bytes bytes, which are zero; returns the address of the
 * first page.
 */
uint64_t pvrdma_alloc(PvrdmaTest *t, uint64_t bytes);
/*
 * Makes a page directory of @count contiguous pages from @base on; returns the address of
 * the directory.
 */
uint64_t pvrdma_pdir(PvrdmaTest *t, uint64_t base, uint32_t count);
/* Does the same as pvrdma_pdir() for the @count addresses in @pages. */
uint64_t pvrdma_pdir_pages(PvrdmaTest *t, const uint64_t *pages,
                           uint32_t count);
/*
 * Fill guest memory, and assert that it equals data: see machine_fill() and
 * machine_assert_mem().
 */
void pvrdma_fill(PvrdmaTest *t, uint64_t pa, uint8_t *copy, size_t len,
                 unsigned seed);
void pvrdma_assert_mem(PvrdmaTest *t, uint64_t pa, const void *want, size_t len);

/* --- Commands ----------------------------------------------------------- */
/*
 * Sends @req as command @cmd; stores the answer in *@resp unless @resp is NULL.
 * Returns register ERR unless this is 0, else the errno of the answer, 0 for success.
 *
 * If ERR is 0 and the Linux driver waits for an answer to @cmd, asserts that the device
 * has answered with the right header and, if MSI-X is enabled, has interrupted.
 * Otherwise asserts that the device has not answered and, if MSI-X is enabled, has not
 * interrupted.
 */
int pvrdma_command(PvrdmaTest *t, enum pvrdma_cmd cmd, union pvrdma_cmd_req *req,
                   union pvrdma_cmd_resp *resp);
/* Does the same as pvrdma_command(), and asserts success. */
void pvrdma_command_ok(PvrdmaTest *t, enum pvrdma_cmd cmd,
                       union pvrdma_cmd_req *req, union pvrdma_cmd_resp *resp);
/*
 * Does the same as pvrdma_command(); asserts that the command fails with errno @err, and
 * that the device counts one "cmd-error" and one "guest-error".
 */
void pvrdma_command_fails(PvrdmaTest *t, enum pvrdma_cmd cmd,
                          union pvrdma_cmd_req *req, int err);
int pvrdma_bind(PvrdmaTest *t, uint32_t index, const uint8_t gid[16],
                uint32_t vlan);
int pvrdma_unbind(PvrdmaTest *t, uint32_t index, const uint8_t gid[16]);

/* --- Events, interrupts ------------------------------------------------- */
/*
 * Copies the next element of @ring to @elem, and advances the consumer index.  Returns
 * false if the ring is empty, or if the driver would refuse one of the ring's indices.
 */
bool pvrdma_ring_take(PvrdmaTest *t, const PvrdmaTestRing *ring, void *elem);
/* Waits for the next asynchronous event, and takes it; asserts its @type and @info. */
void pvrdma_event_take(PvrdmaTest *t, enum pvrdma_event type, uint32_t info);
bool pvrdma_event_none(PvrdmaTest *t);
/*
 * Takes the next CQ notification; returns the handle of the CQ, or 0 without
 * notification.
 */
uint32_t pvrdma_cqne_take(PvrdmaTest *t);
/* Returns true if the device has sent vector @v since the last call for @v. */
bool pvrdma_msix_taken(PvrdmaTest *t, unsigned v);

/* --- Wire --------------------------------------------------------------- */
/*
 * Returns the path (addresses and UDP port) of frames from the peer to the device, or, if
 * @reverse, from the device to the peer.
 */
RocePath pvrdma_path(bool ipv6, bool reverse);
/* Sends @pkt with @len bytes of @payload to the device, as a RoCE frame. */
void pvrdma_wire_send(PvrdmaTest *t, const RocePath *path, const RocePacket *pkt,
                      const void *payload, size_t len);
/*
 * Connects the test to the socket @path of pvrdma_start_server(), for the first time or
 * after pvrdma_wire_cut().
 */
void pvrdma_wire_connect(PvrdmaTest *t, const char *path);
/* Closes the test's socket of the wire; frames under way are lost. */
void pvrdma_wire_cut(PvrdmaTest *t);
/* Sends @len bytes as one frame, which need not be valid. */
void pvrdma_wire_send_raw(PvrdmaTest *t, const void *frame, size_t len);
/* Waits for the next RoCE frame of the device, and returns it; the caller frees it. */
PvrdmaFrame *pvrdma_wire_take(PvrdmaTest *t);
/*
 * Does the same as pvrdma_wire_take(), and asserts that the frame has @opcode, @qpn and
 * @psn.
 */
PvrdmaFrame *pvrdma_wire_expect(PvrdmaTest *t, uint8_t opcode, uint32_t qpn,
                                uint32_t psn);
/* Takes the next frame; asserts that it is an ACK packet with @qpn, @psn, @syndrome. */
void pvrdma_wire_expect_ack(PvrdmaTest *t, uint32_t qpn, uint32_t psn,
                            uint8_t syndrome);
/* Settles; asserts that the test has taken all RoCE frames of the device. */
void pvrdma_assert_quiet(PvrdmaTest *t);

/* --- Time --------------------------------------------------------------- */
/*
 * Waits in real time until @cond, a C expression, is true, and receives frames of the
 * device meanwhile.  Fails after WAIT_MS.
 */
#define pvrdma_wait(t, cond) wait_until(cond, pvrdma_pump(t))
void pvrdma_pump(PvrdmaTest *t);
/*
 * Settles: lets the device finish all work that needs no virtual time, and receives the
 * frames of the device.
 */
void pvrdma_settle(PvrdmaTest *t);
/* Advances virtual time by @ns, and settles. */
void pvrdma_step(PvrdmaTest *t, int64_t ns);

#endif /* PVRDMA_DEVICE_H */

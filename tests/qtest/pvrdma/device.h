/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A machine with vmxnet3 and pvrdma in one slot.  The test is the driver, and the peer on
 * the wire.  Objects and queues are in verbs.h.
 *
 * The machine's processor executes nothing, so all RAM belongs to the test.  Virtual
 * time stands still unless pvrdma_step() moves it.  The device works between the
 * requests of the test: a test waits for an event with pvrdma_wait(), and calls
 * pvrdma_settle() before it asserts that an event has not happened.
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
/* Another NIC for pvrdma_start_hub() and pvrdma_start_port(), and the NIC's slot. */
#define PVRDMA_TEST_E1000   "e1000,addr=6"
#define PVRDMA_TEST_NIC     QPCI_DEVFN(6, 0)
#define PVRDMA_TEST_RAM     0x10000000ULL   /* bytes of RAM */
#define PVRDMA_NO_RAM       0x20000000ULL   /* nothing is mapped there */
#define PVRDMA_TEST_RING_PAGES 4            /* pages of a ring, as in the Linux driver */

#define PVRDMA_MS           1000000LL       /* ns in a millisecond */
#define PVRDMA_SECOND       (1000 * PVRDMA_MS)

/*
 * MACs and GIDs of the device and of the peer.  The GIDs are 10.0.0.1 and 10.0.0.2; the
 * GIDs with gid6 in their names are fe80::1 and fe80::2.
 */
extern const uint8_t pvrdma_mac[6], pvrdma_peer_mac[6];
extern const uint8_t pvrdma_gid[16], pvrdma_peer_gid[16];
extern const uint8_t pvrdma_gid6[16], pvrdma_peer_gid6[16];

/* A frame of the device. */
typedef struct PvrdmaFrame {
    RocePath path;
    RocePacket pkt;                 /* its payload points into buf */
    size_t len;
    uint8_t buf[ROCE_FRAME_MAX];
} PvrdmaFrame;

/* A ring that the device fills, read as the driver does it. */
typedef struct PvrdmaTestRing {
    uint64_t at;                    /* address of its pages, which follow each other */
    uint32_t slots;                 /* number of slots by the driver's arithmetic */
    unsigned elem_bytes;
} PvrdmaTestRing;

typedef struct PvrdmaTest {
    QTestState *qts;
    QPCIBus *bus;
    QPCIDevice *dev;
    QPCIBar regs, uar;
    WirePeer wire; /* wire.fd is -1 if another machine is at the other end */
    const uint8_t *mac, *gid, *gid6;    /* addresses of this machine */
    GQueue frames;                  /* PvrdmaFrame that the test has not taken */
    unsigned others;                /* number of frames that are not RoCE */
    uint64_t ram_next;              /* next unused address, for pvrdma_alloc() */
    uint64_t dsr, cmd_slot, resp_slot, msix;
    PvrdmaTestRing async, cqne;
    uint64_t cookie;                /* number of the last command, for its answer */
    char *log;                      /* file with the guest errors */
    bool guest_errors;              /* the test provokes guest errors */
} PvrdmaTest;

/* --- Machine ------------------------------------------------------------ */
/*
 * Starts a machine and brings the device up as the Linux driver does: shared region,
 * MSI-X, active, GID 0 and 1 bound (IPv4 and IPv6).  @props: further properties, "" or
 * ",a=b".
 */
PvrdmaTest *pvrdma_start(const char *props);
/*
 * Does the same as pvrdma_start() without properties, with another NIC on the same
 * wire; @nic is the value of -device.
 */
PvrdmaTest *pvrdma_start_hub(const char *nic);
/*
 * Does the same as pvrdma_start_hub(), with pvrdma and vmxnet3 in the slot of a root
 * port.
 */
PvrdmaTest *pvrdma_start_port(const char *nic);
/*
 * Lets PVRDMA_TEST_E1000 store the frames that it receives at @target.  Advances virtual
 * time by 2 s, because the link of the NIC comes up late.
 */
void pvrdma_nic_receive(PvrdmaTest *t, uint64_t target);
/* Starts a machine, enables the device in PCI, and writes no register of BAR 1. */
PvrdmaTest *pvrdma_start_cold(const char *props);
/* Does the same as pvrdma_start_cold(), but the machine has the addresses of the peer. */
PvrdmaTest *pvrdma_start_cold_peer(const char *props);
/*
 * Does the same as pvrdma_start(), with a -netdev stream that listens at @path.  The
 * test connects to this socket by pvrdma_wire_connect().
 */
PvrdmaTest *pvrdma_start_server(const char *path, const char *props);
/*
 * Starts two machines as pvrdma_start(), with a wire between them.  The second machine
 * has the addresses that the peer has in other tests.  @path: path of the new socket.
 */
void pvrdma_pair_start(PvrdmaTest *t[2], const char *path, const char *props);
/*
 * Ends QEMU.  Asserts that QEMU has logged guest errors if @t->guest_errors is set, and
 * none if it is clear, and that the test has taken all frames.
 */
void pvrdma_stop(PvrdmaTest *t);

/* Enables MSI-X, with messages that the test can read. */
void pvrdma_msix_enable(PvrdmaTest *t);
/* Makes a shared region in RAM, and does not write its address to the device. */
void pvrdma_dsr_make(PvrdmaTest *t);
/* Writes the region's address to the device; returns the register ERR. */
uint32_t pvrdma_dsr_write(PvrdmaTest *t);
uint32_t pvrdma_ctl(PvrdmaTest *t, enum pvrdma_device_ctl value);
/* Makes a region, activates the device, enables interrupts, binds the GIDs. */
void pvrdma_bring_up(PvrdmaTest *t);

/* Read and write registers of BAR 1; write a doorbell of BAR 2. */
uint32_t pvrdma_get(PvrdmaTest *t, enum pvrdma_reg reg);
void pvrdma_set(PvrdmaTest *t, enum pvrdma_reg reg, uint32_t value);
void pvrdma_doorbell(PvrdmaTest *t, uint32_t uar, unsigned offset,
                     uint32_t value);
/* Maps configuration space to memory; returns the address of that of device @devfn. */
uint64_t pvrdma_ecam(PvrdmaTest *t, int devfn);

/* Returns a counter of the property "counters", by its name there: "rx-bad-icrc". */
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
/* Returns the address of unused pages of RAM, zero, with room for @bytes. */
uint64_t pvrdma_alloc(PvrdmaTest *t, uint64_t bytes);
/* Makes a page directory of @count pages that follow each other from @base on. */
uint64_t pvrdma_pdir(PvrdmaTest *t, uint64_t base, uint32_t count);
/* Makes a page directory for pages at any addresses. */
uint64_t pvrdma_pdir_pages(PvrdmaTest *t, const uint64_t *pages,
                           uint32_t count);
/* Fill memory, and compare it: see machine.h. */
void pvrdma_fill(PvrdmaTest *t, uint64_t pa, uint8_t *copy, size_t len,
                 unsigned seed);
void pvrdma_assert_mem(PvrdmaTest *t, uint64_t pa, const void *want, size_t len);

/* --- Commands ----------------------------------------------------------- */
/*
 * Sends @req with number @cmd.  Returns the errno of the register ERR or of the answer.
 * The device must answer if ERR is 0 and the driver waits for an answer to @cmd.  Asserts
 * that the device answers with the right header, and with an interrupt if MSI-X is
 * enabled, and that the device does neither in all other cases.  @resp may be NULL.
 */
int pvrdma_command(PvrdmaTest *t, enum pvrdma_cmd cmd, union pvrdma_cmd_req *req,
                   union pvrdma_cmd_resp *resp);
/* Does the same as pvrdma_command(), and asserts success. */
void pvrdma_command_ok(PvrdmaTest *t, enum pvrdma_cmd cmd,
                       union pvrdma_cmd_req *req, union pvrdma_cmd_resp *resp);
/*
 * Does the same as pvrdma_command(), and asserts that the command fails with @err, and
 * is counted and logged.
 */
void pvrdma_command_fails(PvrdmaTest *t, enum pvrdma_cmd cmd,
                          union pvrdma_cmd_req *req, int err);
int pvrdma_bind(PvrdmaTest *t, uint32_t index, const uint8_t gid[16],
                uint32_t vlan);
int pvrdma_unbind(PvrdmaTest *t, uint32_t index, const uint8_t gid[16]);

/* --- Events, interrupts ------------------------------------------------- */
/*
 * Takes the next element of a ring; returns false if the ring is empty or an index
 * invalid.
 */
bool pvrdma_ring_take(PvrdmaTest *t, const PvrdmaTestRing *ring, void *elem);
/* Takes the next event; asserts that it is @type of @info. */
void pvrdma_event_take(PvrdmaTest *t, enum pvrdma_event type, uint32_t info);
bool pvrdma_event_none(PvrdmaTest *t);
/* Takes the next CQ notification; returns the CQ's handle, or 0 if there is none. */
uint32_t pvrdma_cqne_take(PvrdmaTest *t);
/* Returns true if vector @v has been sent since the last call. */
bool pvrdma_msix_taken(PvrdmaTest *t, unsigned v);

/* --- Wire --------------------------------------------------------------- */
/*
 * Returns the path from the peer to the device, or if @reverse from the device to the
 * peer.
 */
RocePath pvrdma_path(bool ipv6, bool reverse);
/* Sends a RoCE frame to the device. */
void pvrdma_wire_send(PvrdmaTest *t, const RocePath *path, const RocePacket *pkt,
                      const void *payload, size_t len);
/* Connects to the socket of pvrdma_start_server(), also after pvrdma_wire_cut(). */
void pvrdma_wire_connect(PvrdmaTest *t, const char *path);
/* Closes the socket; frames under way are lost. */
void pvrdma_wire_cut(PvrdmaTest *t);
/* Sends @len bytes as one frame, which need not be valid. */
void pvrdma_wire_send_raw(PvrdmaTest *t, const void *frame, size_t len);
/* Waits for the next RoCE frame of the device, and returns the frame, to be freed. */
PvrdmaFrame *pvrdma_wire_take(PvrdmaTest *t);
/*
 * Does the same as pvrdma_wire_take(), and asserts that the frame has @opcode, @qpn and
 * @psn.
 */
PvrdmaFrame *pvrdma_wire_expect(PvrdmaTest *t, uint8_t opcode, uint32_t qpn,
                                uint32_t psn);
/* Takes the next frame; asserts that it acknowledges @psn with @syndrome. */
void pvrdma_wire_expect_ack(PvrdmaTest *t, uint32_t qpn, uint32_t psn,
                            uint8_t syndrome);
/* Settles; asserts that no frame of the device is left. */
void pvrdma_assert_quiet(PvrdmaTest *t);

/* --- Time --------------------------------------------------------------- */
/* Waits in real time until @cond, a C expression, is true; takes frames meanwhile. */
#define pvrdma_wait(t, cond) wait_until(cond, pvrdma_pump(t))
void pvrdma_pump(PvrdmaTest *t);
/* Lets the device finish all work that needs no virtual time. */
void pvrdma_settle(PvrdmaTest *t);
/* Advances virtual time by @ns, and settles. */
void pvrdma_step(PvrdmaTest *t, int64_t ns);

#endif /* PVRDMA_DEVICE_H */

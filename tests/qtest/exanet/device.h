/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A machine with an exanet-pci, or on arm64 an exanet-axi.  The test accesses the device
 * as software does, and can act as the peer on a cable.
 *
 * The machine's processor executes nothing, so all RAM from EXANET_RAM_TABLES on
 * belongs to the test, and virtual time stands still unless the test advances the time,
 * for example by exanet_step().  Tests that start QEMU with TCG are exceptions.  The
 * device works between the requests of the test: a test waits for an event with
 * exanet_wait(), and calls exanet_settle() before it asserts that an event has not
 * happened.
 */
#ifndef EXANET_DEVICE_H
#define EXANET_DEVICE_H

#include "libqtest.h"
#include "libqos/pci.h"
#include "rnic/exanet/regs.h"
#include "rnic/exanet/shm.h"
#include "../common/wait.h"
#include "peer.h"

/* Coordinates of the device and of the peer; epoch of the device; job of the contexts. */
#define EXANET_TEST_NODE    0x17021
#define EXANET_TEST_PEER    0x15000
#define EXANET_TEST_ELSEWHERE 0x15003   /* in most tests no node has these */
#define EXANET_TEST_EPOCH   0x51
#define EXANET_TEST_JOB     0x0a4
/* PDID of context @c in the job of the tests. */
#define EXANET_TEST_PDID(c) (EXANET_TEST_JOB << 4 | (c))

/* Addresses in guest RAM. */
#define EXANET_RAM_TABLES   0x00100000ULL
#define EXANET_RAM_MSIX     0x00f00000ULL
#define EXANET_RAM_SRC      0x01000000ULL
#define EXANET_RAM_DST      0x02000000ULL
#define EXANET_RAM_NOTE     0x03000000ULL
#define EXANET_RAM_RING     0x03100000ULL
#define EXANET_RAM_END      0x08000000ULL   /* end of the RAM, which has 128 MiB */
#define EXANET_NO_RAM       0x20000000ULL   /* an address without RAM or device */

#define EXANET_MS           1000000LL       /* ns in a millisecond */

typedef struct ExanetTest {
    QTestState *qts;
    QPCIBus *bus;
    QPCIDevice *dev;
    QPCIBar regs, user;
    QPCIBar aperture;               /* BAR of the aperture and then the block RAM */
    ExanetPeer *peer;               /* peer for the functions of one peer; NULL: none */
    ExanetPeer *ports[EXANET_LINKS];    /* peers that exanet_start_ports() makes */
    uint64_t page_bytes;            /* size of a user page */
    char *log;                      /* path of the log of guest errors */
    bool guest_errors;              /* the test provokes guest errors */
} ExanetTest;

/* Returns true if the device is exanet-axi on xlnx-zcu102, because QEMU is for arm64. */
bool exanet_on_axi(void);

/*
 * Starts a device with the peer on the cable, enables the device, waits until the link is
 * up, and opens contexts 0 and 1 in identity format.  @props: further properties of the
 * device, each as ",a=b", and then further options of QEMU, or "".
 */
ExanetTest *exanet_start(const char *props);
/* Does the same as exanet_start(), but the test acts as the R5 (FW_MODE is EXTERNAL). */
ExanetTest *exanet_start_external(const char *props);
/*
 * Starts a device with a peer on the cable, but does not enable the device; the peer
 * sends no HELLO.  @dgram: the cable is a datagram socket, not a stream socket.
 */
ExanetTest *exanet_start_cold(const char *props, bool dgram);
/*
 * Starts a device with coordinates @coord, port 0 at @netdev (the value of -netdev
 * without id) and no peer, and does not enable the device.
 */
ExanetTest *exanet_start_netdev(const char *netdev, uint32_t coord,
                                const char *props);
/*
 * Does the same as exanet_start_netdev(), but @netdevs has any number of whole -netdev
 * options, and @props must connect ports to these netdevs: ",link0=ID".
 */
ExanetTest *exanet_start_node(const char *netdevs, uint32_t coord,
                              const char *props);
/*
 * Does the same as exanet_start(), for a device with coordinates @coord and cables at
 * up to @count ports.  Port n has a peer with coordinates @peers[n], which is
 * t->ports[n], or no cable if @peers[n] is EXANET_TEST_NO_PEER.  t->peer is NULL.
 */
#define EXANET_TEST_NO_PEER UINT32_MAX
ExanetTest *exanet_start_ports(uint32_t coord, const uint32_t *peers,
                               unsigned count, const char *props);
/*
 * Starts two machines with coordinates EXANET_TEST_NODE and EXANET_TEST_PEER and a unix
 * socket at @path between the machines.  Enables the two devices, opens contexts 0 and 1
 * of each device, and waits until the links are up.
 */
void exanet_pair_start(ExanetTest *t[2], const char *path, const char *props);
void exanet_pair_bring_up(ExanetTest *const t[2]);
void exanet_pair_step(ExanetTest *const t[2], int64_t ns);
/* Enables the device, sends a HELLO as the peer, and waits until the link is up. */
void exanet_bring_up(ExanetTest *t);
/*
 * Ends QEMU, and frees @t and the peers.  If @t->guest_errors is set, asserts that QEMU
 * has logged guest errors of the device.  Otherwise asserts that QEMU has logged no
 * guest error, or, on arm64, no guest error of the device.
 */
void exanet_stop(ExanetTest *t);
/*
 * Does the same as exanet_stop(), but kills QEMU with SIGKILL.  @t must have no peers,
 * because the function does not free peers.
 */
void exanet_crash(ExanetTest *t);

/* Read and write a register of 32 or 64 bits at @offset in BAR 0. */
uint32_t exanet_get32(ExanetTest *t, uint64_t offset);
uint64_t exanet_get64(ExanetTest *t, uint64_t offset);
void exanet_set32(ExanetTest *t, uint64_t offset, uint32_t value);
void exanet_set64(ExanetTest *t, uint64_t offset, uint64_t value);
#define exanet_count(t, name) \
    exanet_get64(t, EXANET_COUNTER(EXANET_CNT_##name))

/*
 * Return the offset of user page @page of context @c in BAR 2; read and write 8 bytes at
 * @offset of this page.
 */
uint64_t exanet_user(ExanetTest *t, unsigned c, enum exanet_user_page page);
uint64_t exanet_user_get(ExanetTest *t, unsigned c, enum exanet_user_page page,
                         uint64_t offset);
void exanet_user_set(ExanetTest *t, unsigned c, enum exanet_user_page page,
                     uint64_t offset, uint64_t value);

/*
 * Maps segment @m of the aperture: accesses to @size bytes from @offset on access the
 * memory at @gva, of context 1 of the node of @gva.  @ctrl: the bits EXANET_SHM_MAP_READ,
 * _WRITE and _EARLY to set, and field EXANET_SHM_MAP_CTX, the context that uses the
 * segment.
 */
void exanet_segment(ExanetTest *t, unsigned m, uint64_t offset, uint64_t size,
                    uint64_t gva, uint64_t ctrl);
#define EXANET_SEGMENT_ALL  (EXANET_SHM_MAP_READ | EXANET_SHM_MAP_WRITE | \
                             EXANET_SHM_MAP_EARLY)
/*
 * Store and load @size bytes (1, 2, 4 or 8) at @offset of the aperture, or of the block
 * RAM behind the aperture.  The aperture, unlike the block RAM, refuses the load, because
 * no vCPU does this load.
 */
void exanet_store(ExanetTest *t, uint64_t offset, uint64_t value, unsigned size);
uint64_t exanet_load(ExanetTest *t, uint64_t offset, unsigned size);
/* Read and write a 32-bit register of the register block EXANET_SHM. */
#define exanet_shm_get(t, name) exanet_get32(t, EXANET_SHM + EXANET_REG_##name)
#define exanet_shm_set(t, name, value) \
    exanet_set32(t, EXANET_SHM + EXANET_REG_##name, value)

/*
 * Opens context @c for @job, with page tables of @format at @pgd, and with one window,
 * which begins at VA 0.
 */
void exanet_open(ExanetTest *t, unsigned c, unsigned job,
                 enum exanet_table_format format, uint64_t pgd);
void exanet_close(ExanetTest *t, unsigned c);

static inline uint64_t exanet_gva(uint32_t coord, uint64_t va)
{
    return RNIC_PREP(EXANET_GVA_COORD, coord) | va;
}

/*
 * Fill guest memory, and assert that it equals data: see machine_fill() and
 * machine_assert_mem().  exanet_assert_byte() asserts that each of @len bytes is @want.
 */
void exanet_fill(ExanetTest *t, uint64_t pa, uint8_t *copy, size_t len,
                 unsigned seed);
void exanet_assert_mem(ExanetTest *t, uint64_t pa, const void *want,
                       size_t len);
void exanet_assert_byte(ExanetTest *t, uint64_t pa, uint8_t want, size_t len);

/*
 * Waits in real time until @cond, a C expression, is true, and receives frames of the
 * device meanwhile.  Fails after WAIT_MS.
 */
#define exanet_wait(t, cond) wait_until(cond, exanet_pump(t))
void exanet_pump(ExanetTest *t);
/*
 * Does the same as exanet_wait() for the two machines of a pair.  Virtual time advances
 * by @ns between two evaluations of @cond.
 */
#define exanet_pair_wait(t, cond, ns) wait_until(cond, exanet_pair_step(t, ns))
/*
 * Settles: lets the device finish all work that needs no virtual time, and receives the
 * frames of the device.
 */
void exanet_settle(ExanetTest *t);
/* Advances virtual time by @ns, and settles. */
void exanet_step(ExanetTest *t, int64_t ns);
/* Settles, and asserts that the test has taken all packets of the device. */
void exanet_assert_quiet(ExanetTest *t);

/*
 * Send XOFF as the peer, and wait until the device has handled the XOFF (xoff); send
 * XON as the peer, and do not wait (xon).
 */
void exanet_xoff(ExanetTest *t);
void exanet_xon(ExanetTest *t);

/* --- Units as software uses them ------------------------------------------ */

/*
 * A descriptor of ExaDMA.  exanet_desc_write() writes the words of the descriptor, W3
 * last, because W3 starts the transaction.
 */
typedef struct ExanetDesc {
    uint64_t src, dst;              /* src: VA; dst: GVA */
    unsigned len;
    uint64_t w3;                    /* further bits of word W3 */
    uint64_t w4;
    uint16_t pdid;
} ExanetDesc;
void exanet_desc_write(ExanetTest *t, unsigned tid, const ExanetDesc *d);
uint64_t exanet_desc_get(ExanetTest *t, unsigned tid, unsigned w);
/*
 * Returns a descriptor for a write of @len bytes from VA @src of context 0 to VA @va of
 * context 0 of the peer.
 */
ExanetDesc exanet_desc_to_peer(uint64_t src, uint64_t va, unsigned len);
/*
 * Returns the number of bytes of transaction @tid in packets that ExaDMA has built, sent
 * or not.
 */
unsigned exanet_desc_sent(ExanetTest *t, unsigned tid);

/* One transfer of a scratchpad channel. */
typedef struct ExanetTransfer {
    uint64_t src, dst;
    uint32_t len;
    uint64_t ctrl;                  /* word CTRL of the channel without the length */
    uint64_t notify_gva, notify_data;
    uint32_t token;                 /* value for the doorbell; 0 stands for 1 */
} ExanetTransfer;
void exanet_channel_start(ExanetTest *t, unsigned c, unsigned channel,
                          const ExanetTransfer *x);
unsigned exanet_channel_state(ExanetTest *t, unsigned c, unsigned channel);
uint64_t exanet_channel_status(ExanetTest *t, unsigned c, unsigned channel);
void exanet_channel_wait(ExanetTest *t, unsigned c, unsigned channel,
                         enum exanet_channel_state state);

/*
 * Sends a packet by @channel of the packetizer.  @ctrl: word CTRL of the channel without
 * bit GO and the size.
 */
void exanet_pktz_start(ExanetTest *t, unsigned c, unsigned channel,
                       uint64_t dst, const void *payload, unsigned size,
                       uint64_t ctrl);
uint64_t exanet_pktz_status(ExanetTest *t, unsigned c, unsigned channel);
unsigned exanet_pktz_state(ExanetTest *t, unsigned c, unsigned channel);

void exanet_mailbox_open(ExanetTest *t, unsigned c, unsigned mailbox,
                         uint64_t ring, unsigned log2, uint64_t ctrl);
uint64_t exanet_mailbox_get(ExanetTest *t, unsigned c, unsigned mailbox,
                            unsigned field);
struct exanet_message exanet_message_read(ExanetTest *t, uint64_t ring,
                                          unsigned index);

/* Enables MSI-X; vector v stores its message in the 32-bit word v at EXANET_RAM_MSIX. */
void exanet_msix_enable(ExanetTest *t);
/*
 * Returns true if the device has sent vector @v since exanet_msix_enable(), or since the
 * last call for @v that returned true.
 */
bool exanet_msix_taken(ExanetTest *t, unsigned v);

/* Waits for a page fault, and takes this fault from the device's fault FIFO. */
struct exanet_fault exanet_fault_take(ExanetTest *t);
void exanet_fault_resolve(ExanetTest *t, const struct exanet_fault *f,
                          bool ok);

#endif /* EXANET_DEVICE_H */

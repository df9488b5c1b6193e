/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A machine with one exanet-pci, or on arm64 one exanet-axi, and a test as the peer on
 * the cable.  The functions access the device as the Linux driver does.
 *
 * The machine's processor executes nothing, so all RAM from EXANET_RAM_TABLES on
 * belongs to the test.  Virtual time stands still unless exanet_step() moves it.  The
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

/* Coordinates of the device and of the peer. */
#define EXANET_TEST_NODE    0x17021
#define EXANET_TEST_PEER    0x15000
#define EXANET_TEST_ELSEWHERE 0x15003   /* coordinates that no node on the cable has */
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
#define EXANET_RAM_END      0x08000000ULL   /* end of the RAM of 128 MiB */
#define EXANET_NO_RAM       0x20000000ULL   /* an address without RAM or device */

#define EXANET_MS           1000000LL       /* ns in a millisecond */

typedef struct ExanetTest {
    QTestState *qts;
    QPCIBus *bus;
    QPCIDevice *dev;
    QPCIBar regs, user;
    QPCIBar aperture;               /* the aperture, and behind it the block RAM */
    ExanetPeer *peer;               /* the peer of a device with one cable; NULL: none */
    ExanetPeer *ports[EXANET_LINKS];    /* the peers of exanet_start_ports() */
    uint64_t page_bytes;            /* size of a user page */
    char *log;                      /* file with the guest errors */
    bool guest_errors;              /* the test causes guest errors on purpose */
} ExanetTest;

/* Returns true if the device is exanet-axi on xlnx-zcu102, because QEMU is for arm64. */
bool exanet_on_axi(void);

/*
 * Starts a device with the peer on the cable, enables it, waits for the link, and opens
 * contexts 0 and 1 in identity format.  @props: further properties, "" or ",a=b".
 */
ExanetTest *exanet_start(const char *props);
/* Does the same as exanet_start(), but the test acts as the R5. */
ExanetTest *exanet_start_external(const char *props);
/*
 * Starts a device that is not enabled, with a peer that has sent no HELLO.  @dgram: the
 * cable is a datagram socket.
 */
ExanetTest *exanet_start_cold(const char *props, bool dgram);
/* Starts a device with coordinates @coord at @netdev (without id), without peer. */
ExanetTest *exanet_start_netdev(const char *netdev, uint32_t coord,
                                const char *props);
/*
 * Does the same as exanet_start_netdev(), with @netdevs, any number of whole -netdev
 * options; @props connect ports to them.
 */
ExanetTest *exanet_start_node(const char *netdevs, uint32_t coord,
                              const char *props);
/*
 * Starts a device with coordinates @coord and @count ports, and brings it up as
 * exanet_start().  Each port has a peer with the coordinates of @peers[].  A port whose
 * coordinates are EXANET_TEST_NO_PEER has no cable.
 */
#define EXANET_TEST_NO_PEER UINT32_MAX
ExanetTest *exanet_start_ports(uint32_t coord, const uint32_t *peers,
                               unsigned count, const char *props);
/*
 * Starts two machines with coordinates EXANET_TEST_NODE and EXANET_TEST_PEER and a unix
 * socket at @path between them, and brings both up as exanet_start().
 */
void exanet_pair_start(ExanetTest *t[2], const char *path, const char *props);
void exanet_pair_bring_up(ExanetTest *const t[2]);
void exanet_pair_step(ExanetTest *const t[2], int64_t ns);
/* Enables the device and waits for the link. */
void exanet_bring_up(ExanetTest *t);
/*
 * Ends QEMU, and frees @t and the peers.  Asserts that QEMU has logged guest errors of
 * the device if @t->guest_errors is set.  Otherwise asserts that QEMU has logged no guest
 * error; on arm64, none of the device.
 */
void exanet_stop(ExanetTest *t);
/*
 * Does the same as exanet_stop(), but kills QEMU with SIGKILL; only for machines
 * without peer.
 */
void exanet_crash(ExanetTest *t);

/* Read and write registers of BAR 0 at @offset. */
uint32_t exanet_get32(ExanetTest *t, uint64_t offset);
uint64_t exanet_get64(ExanetTest *t, uint64_t offset);
void exanet_set32(ExanetTest *t, uint64_t offset, uint32_t value);
void exanet_set64(ExanetTest *t, uint64_t offset, uint64_t value);
#define exanet_count(t, name) \
    exanet_get64(t, EXANET_COUNTER(EXANET_CNT_##name))

/* Return the offset of a user page in BAR 2; read and write 8 bytes of a user page. */
uint64_t exanet_user(ExanetTest *t, unsigned c, enum exanet_user_page page);
uint64_t exanet_user_get(ExanetTest *t, unsigned c, enum exanet_user_page page,
                         uint64_t offset);
void exanet_user_set(ExanetTest *t, unsigned c, enum exanet_user_page page,
                     uint64_t offset, uint64_t value);

/*
 * Maps segment @m of the aperture: @size bytes at @offset are memory at @gva.  @ctrl
 * has EXANET_SHM_MAP_READ, _WRITE and _EARLY.  The segment belongs to context 0, and
 * its target is context 1.
 */
void exanet_segment(ExanetTest *t, unsigned m, uint64_t offset, uint64_t size,
                    uint64_t gva, uint64_t ctrl);
#define EXANET_SEGMENT_ALL  (EXANET_SHM_MAP_READ | EXANET_SHM_MAP_WRITE | \
                             EXANET_SHM_MAP_EARLY)
/*
 * Store and load 1, 2, 4 or 8 bytes of the aperture, or of the block RAM behind it.  The
 * aperture refuses the load, because no vCPU does it.
 */
void exanet_store(ExanetTest *t, uint64_t offset, uint64_t value, unsigned size);
uint64_t exanet_load(ExanetTest *t, uint64_t offset, unsigned size);
/* Read and write a 4-byte register of the block EXANET_SHM. */
#define exanet_shm_get(t, name) exanet_get32(t, EXANET_SHM + EXANET_REG_##name)
#define exanet_shm_set(t, name, value) \
    exanet_set32(t, EXANET_SHM + EXANET_REG_##name, value)

/*
 * Opens context @c for @job with the page tables at @pgd, and with one window from
 * address 0.
 */
void exanet_open(ExanetTest *t, unsigned c, unsigned job,
                 enum exanet_table_format format, uint64_t pgd);
void exanet_close(ExanetTest *t, unsigned c);

static inline uint64_t exanet_gva(uint32_t coord, uint64_t va)
{
    return RNIC_PREP(EXANET_GVA_COORD, coord) | va;
}

/* Fill memory, and compare memory with data or with a byte: see machine.h. */
void exanet_fill(ExanetTest *t, uint64_t pa, uint8_t *copy, size_t len,
                 unsigned seed);
void exanet_assert_mem(ExanetTest *t, uint64_t pa, const void *want,
                       size_t len);
void exanet_assert_byte(ExanetTest *t, uint64_t pa, uint8_t want, size_t len);

/*
 * Waits in real time until @cond, a C expression, is true; takes frames of the device
 * meanwhile.
 */
#define exanet_wait(t, cond) wait_until(cond, exanet_pump(t))
void exanet_pump(ExanetTest *t);
/*
 * Waits in the same way for a pair, whose virtual time advances by @ns between two
 * evaluations.
 */
#define exanet_pair_wait(t, cond, ns) wait_until(cond, exanet_pair_step(t, ns))
/* Lets the device finish all work that needs no virtual time, and takes its frames. */
void exanet_settle(ExanetTest *t);
/* Advances virtual time by @ns, and settles. */
void exanet_step(ExanetTest *t, int64_t ns);
/* Settles, and asserts that the device has sent no packet that the test has not taken. */
void exanet_assert_quiet(ExanetTest *t);

/* Send XOFF as the peer, and wait until the device has handled it; send XON. */
void exanet_xoff(ExanetTest *t);
void exanet_xon(ExanetTest *t);

/* --- Units as software uses them ------------------------------------------ */

/* A descriptor.  The test writes its words in the order of the R5, W3 last. */
typedef struct ExanetDesc {
    uint64_t src, dst;              /* src: VA; dst: GVA */
    unsigned len;
    uint64_t w3;                    /* further bits of W3 */
    uint64_t w4;
    uint16_t pdid;
} ExanetDesc;
void exanet_desc_write(ExanetTest *t, unsigned tid, const ExanetDesc *d);
uint64_t exanet_desc_get(ExanetTest *t, unsigned tid, unsigned w);
/* Returns a descriptor for a write from context 0 to context 0 of the peer. */
ExanetDesc exanet_desc_to_peer(uint64_t src, uint64_t va, unsigned len);
/* Returns the number of bytes of the transaction that have been sent. */
unsigned exanet_desc_sent(ExanetTest *t, unsigned tid);

/* One transfer of a scratchpad channel. */
typedef struct ExanetTransfer {
    uint64_t src, dst;
    uint32_t len;
    uint64_t ctrl;                  /* word CTRL of the channel without the length */
    uint64_t notify_gva, notify_data;
    uint32_t token;                 /* nonzero value for the doorbell; 0 stands for 1 */
} ExanetTransfer;
void exanet_channel_start(ExanetTest *t, unsigned c, unsigned channel,
                          const ExanetTransfer *x);
unsigned exanet_channel_state(ExanetTest *t, unsigned c, unsigned channel);
uint64_t exanet_channel_status(ExanetTest *t, unsigned c, unsigned channel);
void exanet_channel_wait(ExanetTest *t, unsigned c, unsigned channel,
                         enum exanet_channel_state state);

/* Sends a packet of the packetizer.  @ctrl: all bits of CTRL but GO and the size. */
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

/* Enables MSI-X; all vectors store to RAM. */
void exanet_msix_enable(ExanetTest *t);
/* Returns true if vector @v has been sent since the last call. */
bool exanet_msix_taken(ExanetTest *t, unsigned v);

/* Waits for a fault, and takes it from the FIFO. */
struct exanet_fault exanet_fault_take(ExanetTest *t);
void exanet_fault_resolve(ExanetTest *t, const struct exanet_fault *f,
                          bool ok);

#endif /* EXANET_DEVICE_H */

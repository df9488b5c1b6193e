/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Helpers for tests of device rnic-cable: a machine with cables, and the test as the
 * other end of a cable, an honest or a hostile one.  The cable has a socket netdev as
 * its peer instead of a NIC, so the test sends and receives frames in place of a NIC.
 * Most tests have no hub, because QEMU's hubs change the order of frames if a netdev is
 * blocked.
 */
#ifndef RNIC_CABLE_END_H
#define RNIC_CABLE_END_H

#include "common/machine.h"
#include "common/wire-peer.h"
#include "rnic/cable.h"

/* A machine with one or two cables. */
typedef struct CableMachine {
    QTestState *qts;
    char *folder, *path;
    WirePeer wire[2];               /* socket in place of the NIC of cable c0 or c1 */
    GQueue frames[2];               /* GBytes: frames that the test has not taken yet */
    unsigned wires;
} CableMachine;

/* The test as the other end of a cable. */
typedef struct CableEnd {
    int fd;
    int memory_fd;                  /* -1: QEMU has sent no file */
    struct rnic_cable_hello hello;  /* the hello of QEMU */
    uint8_t *base;                  /* mapped memory file, or NULL */
    struct rnic_cable_control *tx, *rx;
    uint8_t *tx_data, *rx_data;
} CableEnd;

/* Makes the folder and the path of the cable. */
void cable_machine_init(CableMachine *m);
/*
 * Starts a machine with @count cables.  Cable c0 has the options @first, cable c1 is the
 * other end of c0.
 */
void cable_machine_start(CableMachine *m, unsigned count, const char *first);
/*
 * Starts a machine with cable c0 alone, whose frames end in a hub.  @options are those of
 * c0.  Only here "info network" shows the cable.
 */
void cable_machine_start_hub(CableMachine *m, const char *options);
/* Ends the machine, and asserts that no frame is left. */
void cable_machine_stop(CableMachine *m);

/* Returns property @name of cable c@cable, a number or a boolean. */
uint64_t cable_get(CableMachine *m, unsigned cable, const char *name);
/* Waits until property @name of cable c@cable has @value. */
void cable_wait(CableMachine *m, unsigned cable, const char *name, uint64_t value);

/* Fills @frame with @len bytes that depend on @seed. */
void cable_frame_fill(uint8_t *frame, size_t len, unsigned seed);
/* Callback of wire_peer_*() that keeps a frame in the GQueue @opaque. */
void cable_frame_keep(void *opaque, const uint8_t *frame, size_t len);
/* Sends a frame of @len bytes, filled from @seed, by the socket to cable c@cable. */
void cable_wire_send(CableMachine *m, unsigned cable, size_t len, unsigned seed);
/* Receives a frame of cable c@cable by the socket, and checks its @len bytes. */
void cable_wire_receive(CableMachine *m, unsigned cable, size_t len, unsigned seed);

/* Returns a socket that is connected to QEMU's server. */
int cable_end_socket(CableMachine *m);
/* Connects to QEMU's server, and receives its hello. */
void cable_end_connect(CableMachine *m, CableEnd *e);
/* Connects to QEMU's server as an honest client does. */
void cable_end_open(CableMachine *m, CableEnd *e);
/* Listens for QEMU's client.  Returns the socket. */
int cable_end_listen(CableMachine *m);
/* Waits until QEMU's client connects to @server. */
void cable_end_accept(int server, CableEnd *e);
void cable_end_close(CableEnd *e);
/* Asserts that QEMU closes the connection. */
void cable_end_assert_closed(CableEnd *e);

/* Receives the hello of QEMU, with its memory file if it has one. */
void cable_end_hello_receive(CableEnd *e);
/* Sends @hello, with the file descriptor @fd unless @fd is negative. */
void cable_end_hello_send(CableEnd *e, const void *hello, size_t size, int fd);
/* Maps the memory file.  Ring @tx is the ring to which the test writes. */
void cable_end_map(CableEnd *e, unsigned tx);

/* Writes a frame that does not reach the end of the ring. */
void cable_end_frame_put(CableEnd *e, uint32_t len, unsigned seed);
/* Writes a frame that does not reach the end of the ring, and wakes QEMU. */
void cable_end_frame_send(CableEnd *e, uint32_t len, unsigned seed);
/* Checks the oldest frame in the ring, and gives its memory back. */
void cable_end_frame_receive(CableEnd *e, uint32_t len, unsigned seed);
/* Wakes QEMU.  Returns false if QEMU has closed the connection. */
bool cable_end_wake(CableEnd *e);
/* Returns the number of wake-ups that QEMU has sent. */
unsigned cable_end_wakes(CableEnd *e);

/* Asserts that the server serves an honest client, which ends as the clients before. */
void cable_assert_serves(CableMachine *m);

#endif /* RNIC_CABLE_END_H */

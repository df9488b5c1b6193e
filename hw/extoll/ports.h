/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * EXTOLL NIC: its links, each of which is a port (hw/link/port.h) and the link above it
 * (link/link.h).
 */
#ifndef HW_EXTOLL_PORTS_H
#define HW_EXTOLL_PORTS_H

#include "extoll.h"

/* Builds the links whose properties linkN name a netdev. */
void extoll_ports_init(ExtollState *s);
/* Frees the links. */
void extoll_ports_fini(ExtollState *s);
/* Resets the links: they drop all packets and find their neighbours again. */
void extoll_ports_reset(ExtollState *s);
/* Sets number and epoch of this node, from the registers, and starts the links anew. */
void extoll_ports_restart(ExtollState *s);

/*
 * Continues after a load of registers and links: sets up the ports by the registers, and
 * makes them find their neighbours when the machine runs.
 */
void extoll_ports_resume(ExtollState *s);

/*
 * Sets rate, kb/s, 0 for no limit, and latency, ns, of link @index.  The link waits
 * longer for an acknowledgement by the time that these two delay a frame and the answer:
 * it supposes that the neighbour's port has the same.
 */
void extoll_port_tune(ExtollState *s, unsigned index, uint32_t rate, uint32_t latency);

/* Takes the words that have arrived.  Returns true if more words wait. */
bool extoll_ports_receive(ExtollState *s);
/* Gives flits and control words to the ports, as far as these take them. */
void extoll_ports_send(ExtollState *s);
/* Makes the ports send their frames. */
void extoll_ports_flush(ExtollState *s);

/* Returns true if at least one link is up. */
bool extoll_ports_up(const ExtollState *s);

/* --- port-regs.c ------------------------------------------------------------ */

/* Functions of the table of register blocks: see RNicRegBlock. */
bool extoll_port_reg_exists(void *opaque, unsigned unit);
void extoll_port_reg_sync(void *opaque, unsigned unit, hwaddr addr);
void extoll_port_reg_written(void *opaque, unsigned unit, hwaddr addr, bool top);
/*
 * Sets rate, latency and rooms of link @index from the properties.  The caller resets the
 * port afterwards.
 */
void extoll_port_reg_reset(ExtollState *s, unsigned index);
/* Applies the registers of link @index, which were loaded, to the port. */
void extoll_port_reg_resume(ExtollState *s, unsigned index);
/* Returns true if the device computes register @reg of a link at each load. */
bool extoll_port_reg_computed(unsigned reg);

#endif /* HW_EXTOLL_PORTS_H */

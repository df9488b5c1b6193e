/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Registers of the link ports.
 */
#ifndef HW_EXANET_PORT_REGS_H
#define HW_EXANET_PORT_REGS_H

#include "../link/port.h"

/*
 * Sets the registers that show the state and the counters of @p to present values.  Must
 * be called before a read of these registers.
 */
void exanet_port_reg_sync(RNicPort *p);
/*
 * Acts on a write to register @reg (EXANET_REG_PORT_*) of @p.  For @top see
 * RNicRegBlock.written.
 */
void exanet_port_reg_written(RNicPort *p, unsigned reg, bool top);
/*
 * Sets PORT_XOFF, PORT_RATE and PORT_LATENCY from the properties.  If property
 * `link-latency-ns` is 0, PORT_LATENCY is exanet_shm_latency().  Then sets flow control,
 * rate and latency of the port from the registers.  The caller must call
 * rnic_port_reset() afterwards.
 */
void exanet_port_reg_reset(RNicPort *p);
/*
 * Stores in field COUNT of PORT_INJECT the number of faults that the order still has to
 * inject.  If this number is 0, sets field KIND to NONE.  Called when @p injects a fault
 * of an order with a count.
 */
void exanet_port_reg_injected(RNicPort *p);

#endif /* HW_EXANET_PORT_REGS_H */

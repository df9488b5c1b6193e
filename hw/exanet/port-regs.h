/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Registers of the link ports.
 */
#ifndef HW_EXANET_PORT_REGS_H
#define HW_EXANET_PORT_REGS_H

#include "link/port.h"

/* Computes the registers of @p that show its state, before a read. */
void exanet_port_reg_sync(ExanetPort *p);
/*
 * Acts on a write to register @reg (EXANET_REG_PORT_) of @p; @top: see ExanetRegBlock.
 */
void exanet_port_reg_written(ExanetPort *p, unsigned reg, bool top);
/*
 * Sets the registers whose value after a reset comes from properties, and applies them to
 * the port.  Called before the reset of the port.
 */
void exanet_port_reg_reset(ExanetPort *p);
/* Writes the number of faults left to PORT_INJECT; sets its kind to NONE if it is 0. */
void exanet_port_reg_injected(ExanetPort *p);

#endif /* HW_EXANET_PORT_REGS_H */

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Registers of the link ports.
 */
#ifndef HW_EXANET_PORT_REGS_H
#define HW_EXANET_PORT_REGS_H

#include "link/port.h"

/* Refreshes the computed registers of @p before a read. */
void exanet_port_reg_sync(ExanetPort *p);
/*
 * Register @reg (EXANET_REG_PORT_) of @p was written; @top tells that the access covered
 * its last lane.
 */
void exanet_port_reg_written(ExanetPort *p, unsigned reg, bool top);
/* Sets the registers that properties preset, and the port by them; before its reset. */
void exanet_port_reg_reset(ExanetPort *p);
/* Counts down in PORT_INJECT. */
void exanet_port_reg_injected(ExanetPort *p);

#endif /* HW_EXANET_PORT_REGS_H */

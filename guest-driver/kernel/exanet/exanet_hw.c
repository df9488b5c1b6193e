// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ExaNet registers: access.
 */
#include <linux/iopoll.h>

#include "exanet_hw.h"

#define EXANET_POLL_US		5
#define EXANET_TIMEOUT_US	1000000

static u32 exanet_read(struct exanet_hw *hw, u32 offset)
{
	return readl(hw->regs + offset);
}

static u64 exanet_read64(struct exanet_hw *hw, u32 offset)
{
	return readq(hw->regs + offset);
}

static void exanet_write(struct exanet_hw *hw, u32 offset, u32 value)
{
	writel(value, hw->regs + offset);
}

static void exanet_write64(struct exanet_hw *hw, u32 offset, u64 value)
{
	writeq(value, hw->regs + offset);
}

int exanet_hw_identify(struct exanet_hw *hw, struct exanet_caps *caps)
{
	u32 version = exanet_read(hw, EXANET_GLOBAL + EXANET_REG_VERSION);
	unsigned int p;

	if (exanet_read(hw, EXANET_GLOBAL + EXANET_REG_ID) != EXANET_ID)
		return -ENODEV;
	if (RNIC_GET(EXANET_VERSION_MAJOR, version) !=
	    RNIC_GET(EXANET_VERSION_MAJOR, EXANET_VERSION))
		return -ENODEV;

	caps->cap0 = exanet_read(hw, EXANET_GLOBAL + EXANET_REG_CAP0);
	caps->cap1 = exanet_read(hw, EXANET_GLOBAL + EXANET_REG_CAP1);
	caps->contexts = RNIC_GET(EXANET_CAP0_CONTEXTS, caps->cap0);
	caps->ports = RNIC_GET(EXANET_CAP0_PORTS, caps->cap0);
	caps->page_shift = RNIC_GET(EXANET_CAP0_PAGE_SHIFT, caps->cap0);
	if (!caps->contexts || caps->contexts > EXANET_CONTEXTS ||
	    caps->ports > EXANET_LINKS)
		return -ENODEV;
	for (p = 0; p < caps->ports; p++)
		if (exanet_hw_port_read(hw, p, EXANET_REG_PORT_STATUS) &
		    EXANET_PORT_STATUS_PRESENT)
			caps->present |= BIT(p);
	return 0;
}

int exanet_hw_reset(struct exanet_hw *hw)
{
	u32 value;
	int ret;

	exanet_write(hw, EXANET_GLOBAL + EXANET_REG_CTRL, EXANET_CTRL_RESET);
	ret = readl_poll_timeout(hw->regs + EXANET_GLOBAL + EXANET_REG_CTRL,
				 value, !(value & EXANET_CTRL_RESET),
				 EXANET_POLL_US, EXANET_TIMEOUT_US);
	if (ret)
		return ret;
	return readl_poll_timeout(hw->regs + EXANET_GLOBAL + EXANET_REG_STATUS,
				  value, value & EXANET_STATUS_READY,
				  EXANET_POLL_US, EXANET_TIMEOUT_US);
}

void exanet_hw_start(struct exanet_hw *hw, u32 mask)
{
	exanet_write(hw, EXANET_GLOBAL + EXANET_REG_IRQ_MASK, mask);
	exanet_write(hw, EXANET_GLOBAL + EXANET_REG_CTRL,
		     EXANET_CTRL_ENABLE | EXANET_CTRL_IRQ);
}

void exanet_hw_stop(struct exanet_hw *hw)
{
	exanet_write(hw, EXANET_GLOBAL + EXANET_REG_CTRL, 0);
	exanet_write(hw, EXANET_GLOBAL + EXANET_REG_IRQ_MASK, 0);
}

u32 exanet_hw_irq_causes(struct exanet_hw *hw)
{
	return exanet_read(hw, EXANET_GLOBAL + EXANET_REG_IRQ_CAUSE);
}

void exanet_hw_irq_ack(struct exanet_hw *hw, u32 causes)
{
	exanet_write(hw, EXANET_GLOBAL + EXANET_REG_IRQ_CAUSE, causes);
}

u32 exanet_hw_mailbox_pending(struct exanet_hw *hw)
{
	return exanet_read(hw, EXANET_GLOBAL + EXANET_REG_MBOX_PENDING);
}

void exanet_hw_mailbox_ack(struct exanet_hw *hw, unsigned int index)
{
	exanet_write(hw, EXANET_GLOBAL + EXANET_REG_MBOX_PENDING, BIT(index));
}

u32 exanet_hw_coord(struct exanet_hw *hw)
{
	return exanet_read(hw, EXANET_GLOBAL + EXANET_REG_NODE) &
	       EXANET_COORD_MASK;
}

void exanet_hw_set_coord(struct exanet_hw *hw, u32 coord)
{
	exanet_write(hw, EXANET_GLOBAL + EXANET_REG_NODE, coord);
}

void exanet_hw_context_enable(struct exanet_hw *hw, unsigned int index,
			      phys_addr_t pgd, u32 format, u32 job)
{
	u32 base = EXANET_CTX(index);
	unsigned int w;

	exanet_write64(hw, base + EXANET_REG_CTX_PGD, pgd);
	exanet_hw_context_set_job(hw, index, job);
	for (w = 0; w < EXANET_WINDOW_NI; w++)
		exanet_write64(hw, base + EXANET_CTX_WIN(w), 0);
	exanet_write(hw, base + EXANET_REG_CTX_CTRL,
		     EXANET_CTX_CTRL_EN | format);
}

int exanet_hw_context_quiesce(struct exanet_hw *hw, unsigned int index)
{
	u32 base = EXANET_CTX(index);
	u32 value = exanet_read(hw, base + EXANET_REG_CTX_CTRL);

	exanet_write(hw, base + EXANET_REG_CTX_CTRL,
		     value | EXANET_CTX_CTRL_QUIESCE);
	return readl_poll_timeout(hw->regs + base + EXANET_REG_CTX_STATUS,
				  value, value & EXANET_CTX_STATUS_QUIESCED,
				  EXANET_POLL_US, EXANET_TIMEOUT_US);
}

void exanet_hw_context_disable(struct exanet_hw *hw, unsigned int index)
{
	u32 base = EXANET_CTX(index);

	exanet_write(hw, base + EXANET_REG_CTX_CTRL, 0);
	exanet_hw_context_invalidate_all(hw, index);
	exanet_write64(hw, base + EXANET_REG_CTX_PGD, 0);
}

void exanet_hw_context_set_job(struct exanet_hw *hw, unsigned int index, u32 job)
{
	exanet_write(hw, EXANET_CTX(index) + EXANET_REG_CTX_PDID,
		     RNIC_PREP(EXANET_PDID_JOB, job) |
		     RNIC_PREP(EXANET_PDID_CTX, index));
}

void exanet_hw_context_set_window(struct exanet_hw *hw, unsigned int index,
				  unsigned int window, u64 va)
{
	exanet_write64(hw, EXANET_CTX(index) + EXANET_CTX_WIN(window),
		       (va & EXANET_WIN_BASE) | EXANET_WIN_VALID);
}

void exanet_hw_context_invalidate(struct exanet_hw *hw, unsigned int index,
				  u64 va, u64 length)
{
	u32 base = EXANET_CTX(index);

	exanet_write64(hw, base + EXANET_REG_CTX_INV_VA, va);
	exanet_write64(hw, base + EXANET_REG_CTX_INV_CMD,
		       RNIC_PREP(EXANET_INV_LENGTH, length));
}

void exanet_hw_context_invalidate_all(struct exanet_hw *hw, unsigned int index)
{
	exanet_write64(hw, EXANET_CTX(index) + EXANET_REG_CTX_INV_CMD,
		       EXANET_INV_ALL);
}

unsigned int exanet_hw_fault_count(struct exanet_hw *hw)
{
	return exanet_read(hw, EXANET_FAULT + EXANET_REG_FAULT_COUNT);
}

void exanet_hw_fault_pop(struct exanet_hw *hw, struct exanet_fault_entry *entry)
{
	entry->va = exanet_read64(hw, EXANET_FAULT + EXANET_REG_FAULT_VA);
	entry->info = exanet_read64(hw, EXANET_FAULT + EXANET_REG_FAULT_INFO);
	entry->left = exanet_read(hw, EXANET_FAULT + EXANET_REG_FAULT_LEFT);
	exanet_write(hw, EXANET_FAULT + EXANET_REG_FAULT_POP, 1);
}

void exanet_hw_fault_resolve(struct exanet_hw *hw, u64 info, bool ok)
{
	exanet_write64(hw, EXANET_FAULT + EXANET_REG_FAULT_RESOLVE,
		       EXANET_RESOLVE(info, ok));
}

u32 exanet_hw_port_read(struct exanet_hw *hw, unsigned int port, unsigned int reg)
{
	return exanet_read(hw, EXANET_PORT(port) + reg);
}

void exanet_hw_port_write(struct exanet_hw *hw, unsigned int port,
			  unsigned int reg, u32 value)
{
	exanet_write(hw, EXANET_PORT(port) + reg, value);
}

u64 exanet_hw_port_inject(struct exanet_hw *hw, unsigned int port)
{
	return exanet_read64(hw, EXANET_PORT(port) + EXANET_REG_PORT_INJECT);
}

void exanet_hw_port_set_inject(struct exanet_hw *hw, unsigned int port,
			       u64 value)
{
	exanet_write64(hw, EXANET_PORT(port) + EXANET_REG_PORT_INJECT, value);
}

u64 exanet_hw_port_counter(struct exanet_hw *hw, unsigned int port,
			   unsigned int reg)
{
	return exanet_read64(hw, EXANET_PORT(port) + reg);
}

bool exanet_hw_port_up(struct exanet_hw *hw, unsigned int port)
{
	return exanet_hw_port_read(hw, port, EXANET_REG_PORT_STATUS) &
	       EXANET_PORT_STATUS_UP;
}

u64 exanet_hw_counter(struct exanet_hw *hw, unsigned int counter)
{
	return exanet_read64(hw, EXANET_COUNTER(counter));
}

u64 exanet_hw_tune_read(struct exanet_hw *hw, u32 offset, bool wide)
{
	return wide ? exanet_read64(hw, offset) : exanet_read(hw, offset);
}

void exanet_hw_tune_write(struct exanet_hw *hw, u32 offset, bool wide,
			  u64 value)
{
	if (wide)
		exanet_write64(hw, offset, value);
	else
		exanet_write(hw, offset, value);
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ExaNet registers: a function for each operation of the hardware.
 */
#include "exanet_hw.h"

#include <linux/iopoll.h>

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
	if (caps->cap1 & EXANET_CAP1_APERTURE) {
		caps->aperture = exanet_read64(hw, EXANET_SHM +
					       EXANET_REG_SHM_APERTURE);
		caps->bram = exanet_read64(hw, EXANET_SHM + EXANET_REG_SHM_BRAM);
	}
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
			      u64 pgd, u32 format)
{
	u32 base = EXANET_CTX(index);
	unsigned int w;

	exanet_write64(hw, base + EXANET_REG_CTX_PGD, pgd);
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

void exanet_hw_context_set_pdid(struct exanet_hw *hw, unsigned int index,
				u32 pdid, bool local)
{
	exanet_write(hw, EXANET_CTX(index) + EXANET_REG_CTX_PDID,
		     pdid | (local ? EXANET_CTX_PDID_LOCAL : 0));
}

void exanet_hw_context_set_quota(struct exanet_hw *hw, unsigned int index,
				 u32 quota)
{
	exanet_write(hw, EXANET_CTX(index) + EXANET_REG_CTX_QUOTA, quota);
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

/* --- memory of other nodes ------------------------------------------------ */

void exanet_hw_segment_enable(struct exanet_hw *hw, unsigned int m,
			      const struct exanet_hw_segment *seg)
{
	u32 base = EXANET_SHM_MAP(m);

	exanet_write64(hw, base + EXANET_REG_SHM_MAP_OFFSET, seg->offset);
	exanet_write64(hw, base + EXANET_REG_SHM_MAP_SIZE, seg->bytes);
	exanet_write64(hw, base + EXANET_REG_SHM_MAP_GVA, seg->gva);
	exanet_write64(hw, base + EXANET_REG_SHM_MAP_CTRL, seg->ctrl);
}

void exanet_hw_segment_disable(struct exanet_hw *hw, unsigned int m)
{
	exanet_write64(hw, EXANET_SHM_MAP(m) + EXANET_REG_SHM_MAP_CTRL, 0);
}

bool exanet_hw_shm_error(struct exanet_hw *hw, u64 *gva, u32 *info)
{
	*info = exanet_read(hw, EXANET_SHM + EXANET_REG_SHM_ERR_INFO);
	if (!(*info & EXANET_SHM_ERR_VALID))
		return false;
	*gva = exanet_read64(hw, EXANET_SHM + EXANET_REG_SHM_ERR_GVA);
	exanet_write(hw, EXANET_SHM + EXANET_REG_SHM_ERR_INFO,
		     EXANET_SHM_ERR_VALID);
	return true;
}

void exanet_hw_cdma_start(struct exanet_hw *hw, unsigned int ch,
			  const struct exanet_cdma_job *job)
{
	u32 base = EXANET_CDMA(ch);

	exanet_write(hw, base + EXANET_REG_CDMA_CR,
		     EXANET_CDMA_CR_IOC_IRQ | EXANET_CDMA_CR_ERR_IRQ);
	exanet_write64(hw, base + EXANET_REG_CDMA_SA, job->sa);
	exanet_write64(hw, base + EXANET_REG_CDMA_DA, job->da);
	exanet_write(hw, base + EXANET_REG_CDMA_SIDES, job->sides);
	exanet_write(hw, base + EXANET_REG_CDMA_PDID, job->pdid);
	exanet_write(hw, base + EXANET_REG_CDMA_BTT, job->bytes);
}

bool exanet_hw_cdma_ack(struct exanet_hw *hw, unsigned int ch)
{
	u32 base = EXANET_CDMA(ch);
	u32 sr = exanet_read(hw, base + EXANET_REG_CDMA_SR);
	u32 irqs = sr & EXANET_CDMA_SR_IRQS;

	if (!irqs || sr == EXANET_GONE)
		return false;
	exanet_write(hw, base + EXANET_REG_CDMA_SR, irqs);
	return true;
}

static int exanet_resp_errno(unsigned int code)
{
	switch (code) {
	case EXANET_RESP_ACK:
		return 0;
	case EXANET_RESP_FAULT:
	case EXANET_RESP_RESOLVED:
		return -EFAULT;
	/* The NIC reports this code also for a node that does not answer. */
	case EXANET_RESP_NO_CONTEXT:
		return -ETIMEDOUT;
	case EXANET_RESP_DECODE:
		return -ENXIO;
	case EXANET_RESP_PROTECTION:
		return -EACCES;
	case EXANET_RESP_MALFORMED:
		return -EINVAL;
	default:
		return -EIO;
	}
}

/*
 * Returns the negative errno of the oldest failed piece in the list of channel @ch's tracker,
 * or 0 if the list is empty.
 */
static int exanet_hw_cdma_failure(struct exanet_hw *hw, unsigned int ch)
{
	u32 base = EXANET_SHM_TRACKER(ch);
	u64 head;

	if (!exanet_read(hw, base + EXANET_REG_TRACKER_FAILED))
		return 0;
	head = exanet_read64(hw, base + EXANET_REG_TRACKER_HEAD0);
	return exanet_resp_errno(RNIC_GET(EXANET_TRACKER_HEAD_CODE, head));
}

int exanet_hw_cdma_result(struct exanet_hw *hw, unsigned int ch)
{
	u32 sr = exanet_read(hw, EXANET_CDMA(ch) + EXANET_REG_CDMA_SR);
	int ret;

	if (!(sr & EXANET_CDMA_SR_IDLE))
		return -EINPROGRESS;
	if (sr & EXANET_CDMA_SR_INT_ERR)
		return -EINVAL;
	if (!(sr & (EXANET_CDMA_SR_SLV_ERR | EXANET_CDMA_SR_DEC_ERR)))
		return 0;
	ret = exanet_hw_cdma_failure(hw, ch);
	return ret ?: sr & EXANET_CDMA_SR_DEC_ERR ? -ENXIO : -EIO;
}

int exanet_hw_cdma_reset(struct exanet_hw *hw, unsigned int ch)
{
	u32 base = EXANET_CDMA(ch), value;

	exanet_write(hw, base + EXANET_REG_CDMA_CR, EXANET_CDMA_CR_RESET);
	return readl_poll_timeout(hw->regs + base + EXANET_REG_CDMA_CR, value,
				  !(value & EXANET_CDMA_CR_RESET),
				  EXANET_POLL_US, EXANET_TIMEOUT_US);
}

void exanet_hw_accel_start(struct exanet_hw *hw,
			   const struct exanet_ioc_accel *a, u32 pdid)
{
	exanet_write(hw, EXANET_SHM + EXANET_REG_ACCEL_NDF,
		     RNIC_PREP(EXANET_ACCEL_NDF1, a->ndf1) |
		     RNIC_PREP(EXANET_ACCEL_NDF2, a->ndf2));
	exanet_write(hw, EXANET_SHM + EXANET_REG_ACCEL_NLAYERS, a->nlayers);
	exanet_write(hw, EXANET_SHM + EXANET_REG_ACCEL_NCELLS, a->ncells);
	exanet_write(hw, EXANET_SHM + EXANET_REG_ACCEL_PDID, pdid);
	exanet_write64(hw, EXANET_SHM + EXANET_REG_ACCEL_MATRIX, a->matrix);
	exanet_write64(hw, EXANET_SHM + EXANET_REG_ACCEL_X, a->x);
	exanet_write64(hw, EXANET_SHM + EXANET_REG_ACCEL_Y, a->y);
	exanet_write64(hw, EXANET_SHM + EXANET_REG_ACCEL_MAP1, a->map1);
	exanet_write64(hw, EXANET_SHM + EXANET_REG_ACCEL_MAP2, a->map2);
	exanet_write64(hw, EXANET_SHM + EXANET_REG_ACCEL_CELLS, a->cells);
	exanet_write(hw, EXANET_SHM + EXANET_REG_ACCEL_CTRL,
		     EXANET_ACCEL_GO | EXANET_ACCEL_IRQ |
		     RNIC_PREP(EXANET_ACCEL_REMOTE_ALL, a->remote));
}

int exanet_hw_accel_result(struct exanet_hw *hw, struct exanet_ioc_accel *a)
{
	u32 status = exanet_read(hw, EXANET_SHM + EXANET_REG_ACCEL_STATUS);

	if (!(status & EXANET_ACCEL_STATUS_DONE))
		return -EINPROGRESS;
	a->ops = exanet_read64(hw, EXANET_SHM + EXANET_REG_ACCEL_OPS);
	a->bytes = exanet_read64(hw, EXANET_SHM + EXANET_REG_ACCEL_BYTES);
	a->ns = exanet_read64(hw, EXANET_SHM + EXANET_REG_ACCEL_TIME);
	a->err_addr = exanet_read64(hw, EXANET_SHM + EXANET_REG_ACCEL_ERR_ADDR);
	return exanet_resp_errno(RNIC_GET(EXANET_ACCEL_STATUS_CODE, status));
}

void exanet_hw_accel_stop(struct exanet_hw *hw)
{
	exanet_write(hw, EXANET_SHM + EXANET_REG_ACCEL_CTRL, EXANET_ACCEL_IRQ);
}

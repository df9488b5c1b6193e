/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet registers: a function for each operation of the hardware.
 *
 * A function sleeps only if its comment says so. No function takes a lock: the callers
 * make sure that no two threads write to the registers of a context at a time.
 */
#ifndef EXANET_HW_H
#define EXANET_HW_H

#include <linux/io.h>
#include <linux/types.h>

#include "rnic/exanet/regs.h"
#include "rnic/exanet/shm.h"
#include "rnic/exanet/uapi.h"
#include "rnic/exanet/wire.h"

/* Reads return this value if the device was unplugged, or is in a reset by its bus. */
#define EXANET_GONE	U32_MAX

struct exanet_hw {
	void __iomem *regs;	/* EXANET_REGS_BYTES */
};

/* The capabilities of a NIC, from its registers. */
struct exanet_caps {
	u32 cap0;		/* EXANET_CAP0_ */
	u32 cap1;		/* EXANET_CAP1_ */
	unsigned int contexts;	/* 1..EXANET_CONTEXTS */
	unsigned int ports;	/* 0..EXANET_LINKS */
	u32 present;		/* bit p: port p has a cable */
	unsigned int page_shift; /* log2 of the bytes of a user page */
	u64 aperture;		/* bytes; 0 without EXANET_CAP1_APERTURE */
	u64 bram;		/* bytes of block RAM; 0 without an aperture */
};

/* An entry of the fault FIFO without its time, in host byte order. */
struct exanet_fault_entry {
	u64 va;			/* page aligned */
	u64 info;		/* EXANET_FAULT_ */
	u32 left;		/* bytes of the block from the faulting byte on */
};

/* An entry of the aperture's table. */
struct exanet_hw_segment {
	u64 offset;		/* first byte in the aperture */
	u64 bytes;
	u64 gva;		/* GVA of the first byte */
	u32 ctrl;		/* EXANET_SHM_MAP_ */
};

/* A transfer of a CDMA channel. */
struct exanet_cdma_job {
	u64 sa;			/* source; @sides: kind of address */
	u64 da;			/* destination, likewise */
	u32 bytes;
	u32 sides;		/* EXANET_CDMA_SIDES_ */
	u32 pdid;		/* PDID of the target */
};

/* Fills @caps. Returns 0, or -ENODEV: not an ExaNet NIC of a known version. */
int exanet_hw_identify(struct exanet_hw *hw, struct exanet_caps *caps);
/* Resets the NIC; sleeps. Returns 0, or -ETIMEDOUT if the NIC does not become READY. */
int exanet_hw_reset(struct exanet_hw *hw);
/* Enables packets, and the interrupts of @mask (EXANET_IRQ_). */
void exanet_hw_start(struct exanet_hw *hw, u32 mask);
/* Disables packets and interrupts. */
void exanet_hw_stop(struct exanet_hw *hw);

/* Returns the pending causes, EXANET_IRQ_, including masked ones. */
u32 exanet_hw_irq_causes(struct exanet_hw *hw);
/* Clears @causes. A later event raises its vector or its wire again. */
void exanet_hw_irq_ack(struct exanet_hw *hw, u32 causes);
/* Returns the contexts that have messages: bit c for context c. */
u32 exanet_hw_mailbox_pending(struct exanet_hw *hw);
/* Clears the bit of context @index in MBOX_PENDING. */
void exanet_hw_mailbox_ack(struct exanet_hw *hw, unsigned int index);

/* Return and set the coordinates of this node. */
u32 exanet_hw_coord(struct exanet_hw *hw);
void exanet_hw_set_coord(struct exanet_hw *hw, u32 coord);

/*
 * Binds context @index to the page table at @pgd (as in CR3 or TTBR0) of @format
 * (EXANET_CTX_CTRL_FORMAT and _VA_BITS), clears its windows and enables it.
 */
void exanet_hw_context_enable(struct exanet_hw *hw, unsigned int index,
			      u64 pgd, u32 format);
/*
 * Aborts the transfers of the context, and waits until the device does not access its
 * memory any more; sleeps. Returns 0, or -ETIMEDOUT after a second.
 */
int exanet_hw_context_quiesce(struct exanet_hw *hw, unsigned int index);
/* Disables the context; the device forgets its page table and all translations. */
void exanet_hw_context_disable(struct exanet_hw *hw, unsigned int index);
/* Sets the PDID. If @local, the NIC refuses packets from and to other nodes. */
void exanet_hw_context_set_pdid(struct exanet_hw *hw, unsigned int index,
				u32 pdid, bool local);
/* Sets the quota, EXANET_QUOTA_. */
void exanet_hw_context_set_quota(struct exanet_hw *hw, unsigned int index,
				 u32 quota);
/* Sets window @window to the 512 GB that contain @va. */
void exanet_hw_context_set_window(struct exanet_hw *hw, unsigned int index,
				  unsigned int window, u64 va);
/* Invalidate translations. After the return the device uses none of the range. */
void exanet_hw_context_invalidate(struct exanet_hw *hw, unsigned int index,
				  u64 va, u64 length);
void exanet_hw_context_invalidate_all(struct exanet_hw *hw, unsigned int index);

/* Returns the number of entries in the fault FIFO. */
unsigned int exanet_hw_fault_count(struct exanet_hw *hw);
/* Removes the first entry, and stores it in @entry. The FIFO must not be empty. */
void exanet_hw_fault_pop(struct exanet_hw *hw, struct exanet_fault_entry *entry);
/*
 * Answers the fault whose info word is @info. If @ok, the page is present, and the NIC
 * repeats the access; otherwise the access fails.
 */
void exanet_hw_fault_resolve(struct exanet_hw *hw, u64 info, bool ok);

/*
 * Return and set register @reg of port @port, EXANET_REG_PORT_. The last function
 * returns a counter, which has 64 bits.
 */
u32 exanet_hw_port_read(struct exanet_hw *hw, unsigned int port, unsigned int reg);
void exanet_hw_port_write(struct exanet_hw *hw, unsigned int port,
			  unsigned int reg, u32 value);
u64 exanet_hw_port_counter(struct exanet_hw *hw, unsigned int port,
			   unsigned int reg);
/* Return and set the faults that the port injects, EXANET_INJECT_. */
u64 exanet_hw_port_inject(struct exanet_hw *hw, unsigned int port);
void exanet_hw_port_set_inject(struct exanet_hw *hw, unsigned int port,
			       u64 value);
/* Returns true if the link of the port is up. */
bool exanet_hw_port_up(struct exanet_hw *hw, unsigned int port);

/* Returns counter @counter, enum exanet_counter. */
u64 exanet_hw_counter(struct exanet_hw *hw, unsigned int counter);

/*
 * Return and set the register at @offset in BAR 0. It has 8 bytes if @wide, otherwise
 * 4.
 */
u64 exanet_hw_tune_read(struct exanet_hw *hw, u32 offset, bool wide);
void exanet_hw_tune_write(struct exanet_hw *hw, u32 offset, bool wide,
			  u64 value);

/* Write entry @m of the aperture's table, and clear it. */
void exanet_hw_segment_enable(struct exanet_hw *hw, unsigned int m,
			      const struct exanet_hw_segment *seg);
void exanet_hw_segment_disable(struct exanet_hw *hw, unsigned int m);
/*
 * Takes the first error of a load or store: stores its address in @gva and its
 * EXANET_SHM_ERR_ in @info. Returns false if there is none.
 */
bool exanet_hw_shm_error(struct exanet_hw *hw, u64 *gva, u32 *info);

/* Starts a transfer on channel @ch. */
void exanet_hw_cdma_start(struct exanet_hw *hw, unsigned int ch,
			  const struct exanet_cdma_job *job);
/* Clears the channel's interrupts. Returns true if an interrupt was pending. */
bool exanet_hw_cdma_ack(struct exanet_hw *hw, unsigned int ch);
/* Returns the result of the transfer: 0, -EINPROGRESS, or the errno of its failure. */
int exanet_hw_cdma_result(struct exanet_hw *hw, unsigned int ch);
/* Aborts the transfer of the channel; sleeps. Returns 0 or -ETIMEDOUT. */
int exanet_hw_cdma_reset(struct exanet_hw *hw, unsigned int ch);

/* Starts job @a of the accelerator; @pdid: EXANET_ACCEL_PDID_. */
void exanet_hw_accel_start(struct exanet_hw *hw,
			   const struct exanet_ioc_accel *a, u32 pdid);
/*
 * Fills the output members of @a when the job has ended. Returns 0, -EINPROGRESS, or the
 * errno of its failure.
 */
int exanet_hw_accel_result(struct exanet_hw *hw, struct exanet_ioc_accel *a);
/* Aborts the job. exanet_hw_accel_result() reports its end, which comes later. */
void exanet_hw_accel_stop(struct exanet_hw *hw);

#endif /* EXANET_HW_H */

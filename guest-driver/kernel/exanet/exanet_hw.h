/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet registers: a function for each operation of the hardware.
 *
 * A function sleeps only if its comment says so. No function takes a lock, so the callers
 * serialize accesses that must not interleave.
 */
#ifndef EXANET_HW_H
#define EXANET_HW_H

#include <linux/io.h>
#include <linux/types.h>

#include "rnic/exanet/regs.h"
#include "rnic/exanet/shm.h"
#include "rnic/exanet/uapi.h"
#include "rnic/exanet/wire.h"

/*
 * The value of a 4-byte read if the device was unplugged. During a reset by the bus a
 * read may return this value, too.
 */
#define EXANET_GONE	U32_MAX

struct exanet_hw {
	void __iomem *regs;	/* EXANET_REGS_BYTES of registers */
};

/* The capabilities of a NIC, from its registers. */
struct exanet_caps {
	u32 cap0;		/* register CAP0, fields EXANET_CAP0_* */
	/*
	 * Register CAP1, bits EXANET_CAP1_*. exanet_shm_init() may clear EXANET_CAP1_APERTURE
	 * in this member.
	 */
	u32 cap1;
	unsigned int contexts;	/* number of contexts, 1..EXANET_CONTEXTS */
	unsigned int ports;	/* number of ports, 0..EXANET_LINKS */
	u32 present;		/* bit p: port p has a cable */
	unsigned int page_shift; /* log2 of the bytes of a user page */
	u64 aperture;		/* bytes of the aperture; 0: the NIC has no aperture */
	u64 bram;		/* bytes of block RAM; 0 also without EXANET_CAP1_APERTURE */
};

/* An entry of the fault FIFO without its time, in host byte order. */
struct exanet_fault_entry {
	u64 va;			/* faulting address, rounded down to a multiple of 4 KB */
	u64 info;		/* fields EXANET_FAULT_* */
	/*
	 * Hint: number of bytes from the faulting byte on that the same block, message, ring,
	 * load, store or copy may access.
	 */
	u32 left;
};

/* An entry of the aperture's table. */
struct exanet_hw_segment {
	u64 offset;		/* offset of the first byte in the aperture */
	u64 bytes;
	u64 gva;		/* GVA of the first byte */
	u32 ctrl;		/* register SHM_MAP_CTRL, fields EXANET_SHM_MAP_* */
};

/* A transfer of a CDMA channel. */
struct exanet_cdma_job {
	u64 sa;			/* source: GVA or local address, as @sides says */
	u64 da;			/* destination: GVA or local address, as @sides says */
	u32 bytes;
	u32 sides;		/* register CDMA_SIDES, fields EXANET_CDMA_SIDES_* */
	u32 pdid;		/* PDID of the target */
};

/*
 * Fills @caps, which the caller has zeroed. Returns 0, or -ENODEV: the device is not an
 * ExaNet NIC of a known version, or has an impossible number of contexts or ports. After
 * -ENODEV, @caps may be filled in part.
 */
int exanet_hw_identify(struct exanet_hw *hw, struct exanet_caps *caps);
/*
 * Resets the NIC; sleeps. Returns 0, or -ETIMEDOUT: the reset does not end within a
 * second, or the NIC does not become READY within a second after the end of the reset.
 */
int exanet_hw_reset(struct exanet_hw *hw);
/*
 * Lets the NIC send and accept packets, and enables the interrupts of the causes in @mask
 * (bits EXANET_IRQ_*).
 */
void exanet_hw_start(struct exanet_hw *hw, u32 mask);
/*
 * Disables all interrupts. Makes the NIC neither send nor accept packets; the NIC still
 * forwards packets for other nodes.
 */
void exanet_hw_stop(struct exanet_hw *hw);

/*
 * Returns the pending interrupt causes (bits EXANET_IRQ_*), also the causes whose interrupt
 * is disabled; or EXANET_GONE.
 */
u32 exanet_hw_irq_causes(struct exanet_hw *hw);
/*
 * Clears the pending causes @causes (bits EXANET_IRQ_*). A later event of one of these causes
 * raises its interrupt again.
 */
void exanet_hw_irq_ack(struct exanet_hw *hw, u32 causes);
/*
 * Returns MBOX_PENDING: bit c is set if a message, transfer or notification of context c
 * has raised an interrupt that exanet_hw_mailbox_ack() has not cleared.
 */
u32 exanet_hw_mailbox_pending(struct exanet_hw *hw);
/* Clears the bit of context @index in MBOX_PENDING. */
void exanet_hw_mailbox_ack(struct exanet_hw *hw, unsigned int index);

/* Return and set the coordinates of this node. */
u32 exanet_hw_coord(struct exanet_hw *hw);
void exanet_hw_set_coord(struct exanet_hw *hw, u32 coord);

/*
 * Enables context @index without windows. @pgd is the address of the page table, as in CR3
 * or TTBR0. @format is the format of the page table, fields EXANET_CTX_CTRL_FORMAT and
 * EXANET_CTX_CTRL_VA_BITS.
 */
void exanet_hw_context_enable(struct exanet_hw *hw, unsigned int index,
			      u64 pgd, u32 format);
/*
 * Aborts the work of context @index, and waits until the NIC has no work of the context;
 * sleeps. Returns 0, or -ETIMEDOUT after a second: the NIC may still access memory of the
 * context's process.
 */
int exanet_hw_context_quiesce(struct exanet_hw *hw, unsigned int index);
/*
 * Disables context @index. Clears the address of its page table and its cached translations.
 */
void exanet_hw_context_disable(struct exanet_hw *hw, unsigned int index);
/*
 * Sets the PDID of context @index. If @local is true, the NIC refuses packets of other
 * nodes for the context, and requests of the context to other nodes.
 */
void exanet_hw_context_set_pdid(struct exanet_hw *hw, unsigned int index,
				u32 pdid, bool local);
/* Sets the quota of context @index to @quota, fields EXANET_QUOTA_*. */
void exanet_hw_context_set_quota(struct exanet_hw *hw, unsigned int index,
				 u32 quota);
/* Makes window @window of context @index show the aligned 512 GB that contain @va. */
void exanet_hw_context_set_window(struct exanet_hw *hw, unsigned int index,
				  unsigned int window, u64 va);
/*
 * Invalidates context @index's cached translations of the @length bytes at @va. After the
 * return the NIC does not use these translations.
 */
void exanet_hw_context_invalidate(struct exanet_hw *hw, unsigned int index,
				  u64 va, u64 length);
/* Invalidates all cached translations of context @index. */
void exanet_hw_context_invalidate_all(struct exanet_hw *hw, unsigned int index);

/* Returns the number of entries in the fault FIFO, or EXANET_GONE. */
unsigned int exanet_hw_fault_count(struct exanet_hw *hw);
/* Moves the first entry of the fault FIFO, which must not be empty, to @entry. */
void exanet_hw_fault_pop(struct exanet_hw *hw, struct exanet_fault_entry *entry);
/*
 * Answers the fault with info word @info, and all pending faults with the same page,
 * context, direction (read or write) and side (source or destination). If @ok is true, the
 * NIC or the node that sent the packet repeats the access. Otherwise the access fails. For
 * a fault of unit EXANET_FAULT_MESSAGE the NIC ignores @ok, because the sender of the message
 * does not wait for the answer.
 */
void exanet_hw_fault_resolve(struct exanet_hw *hw, u64 info, bool ok);

/*
 * Return and set the register at offset @reg (EXANET_REG_PORT_*) of port @port.
 * exanet_hw_port_counter() returns a counter register, which has 64 bits.
 */
u32 exanet_hw_port_read(struct exanet_hw *hw, unsigned int port, unsigned int reg);
void exanet_hw_port_write(struct exanet_hw *hw, unsigned int port,
			  unsigned int reg, u32 value);
u64 exanet_hw_port_counter(struct exanet_hw *hw, unsigned int port,
			   unsigned int reg);
/*
 * Return and set register PORT_INJECT, fields EXANET_INJECT_*: the faults that the port
 * injects into packets that the port sends.
 */
u64 exanet_hw_port_inject(struct exanet_hw *hw, unsigned int port);
void exanet_hw_port_set_inject(struct exanet_hw *hw, unsigned int port,
			       u64 value);
/* Returns true if the link of the port is up. */
bool exanet_hw_port_up(struct exanet_hw *hw, unsigned int port);

/* Returns the value of counter @counter, which is an enum exanet_counter. */
u64 exanet_hw_counter(struct exanet_hw *hw, unsigned int counter);

/*
 * Return and set the register at @offset in BAR 0. The register has 8 bytes if @wide is
 * true, and 4 bytes if @wide is false.
 */
u64 exanet_hw_tune_read(struct exanet_hw *hw, u32 offset, bool wide);
void exanet_hw_tune_write(struct exanet_hw *hw, u32 offset, bool wide,
			  u64 value);

/*
 * exanet_hw_segment_enable() fills entry @m of the aperture's table with @seg, and enables
 * the entry. exanet_hw_segment_disable() disables the entry.
 */
void exanet_hw_segment_enable(struct exanet_hw *hw, unsigned int m,
			      const struct exanet_hw_segment *seg);
void exanet_hw_segment_disable(struct exanet_hw *hw, unsigned int m);
/*
 * Removes the NIC's record of the first failed load, store or copy. Stores register
 * SHM_ERR_INFO (fields EXANET_SHM_ERR_*) in @info. Stores in @gva the GVA or, if @info has
 * EXANET_SHM_ERR_OUTSIDE, the offset in the aperture. Returns false, and does not store
 * @gva, if there is no record.
 */
bool exanet_hw_shm_error(struct exanet_hw *hw, u64 *gva, u32 *info);

/* Enables the interrupts of channel @ch, which must be idle, and starts a transfer. */
void exanet_hw_cdma_start(struct exanet_hw *hw, unsigned int ch,
			  const struct exanet_cdma_job *job);
/*
 * Clears the pending interrupts of channel @ch. Returns false if no interrupt was pending,
 * or the device was unplugged.
 */
bool exanet_hw_cdma_ack(struct exanet_hw *hw, unsigned int ch);
/*
 * Returns the result of the last transfer of channel @ch: 0, -EINPROGRESS, or the negative
 * errno of a failure.
 */
int exanet_hw_cdma_result(struct exanet_hw *hw, unsigned int ch);
/*
 * Resets channel @ch, which aborts its transfer; sleeps. Stores of the transfer that are
 * under way may still arrive. Returns 0, or -ETIMEDOUT after a second.
 */
int exanet_hw_cdma_reset(struct exanet_hw *hw, unsigned int ch);

/*
 * Starts job @a on the accelerator, which must be idle. @pdid is the value of ACCEL_PDID,
 * fields EXANET_ACCEL_PDID_*.
 */
void exanet_hw_accel_start(struct exanet_hw *hw,
			   const struct exanet_ioc_accel *a, u32 pdid);
/*
 * Returns the result of the accelerator's job: 0, -EINPROGRESS, or the negative errno of a
 * failure. If the job has ended, also fills the output members of @a.
 */
int exanet_hw_accel_result(struct exanet_hw *hw, struct exanet_ioc_accel *a);
/*
 * Aborts the accelerator's job. The job may end after the return;
 * exanet_hw_accel_result() reports the end.
 */
void exanet_hw_accel_stop(struct exanet_hw *hw);

#endif /* EXANET_HW_H */

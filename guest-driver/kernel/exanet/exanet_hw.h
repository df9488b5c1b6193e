/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet registers: one function per operation of the hardware.
 *
 * Nothing here sleeps unless it says so, and nothing takes a lock: the callers
 * see to it that one context's registers are not written from two places.
 */
#ifndef EXANET_HW_H
#define EXANET_HW_H

#include <linux/io.h>
#include <linux/types.h>

#include "rnic/exanet/regs.h"
#include "rnic/exanet/shm.h"
#include "rnic/exanet/uapi.h"
#include "rnic/exanet/wire.h"

/* What a register reads of a device that was pulled out, or is in reset by its bus. */
#define EXANET_GONE	U32_MAX

struct exanet_hw {
	void __iomem *regs;	/* EXANET_REGS_BYTES */
};

/* What the device says of itself. */
struct exanet_caps {
	u32 cap0;		/* EXANET_CAP0_ */
	u32 cap1;		/* EXANET_CAP1_ */
	unsigned int contexts;	/* 1..EXANET_CONTEXTS */
	unsigned int ports;	/* 0..EXANET_LINKS */
	u32 present;		/* port p has a cable: bit p */
	unsigned int page_shift; /* of the user pages */
	u64 aperture;		/* bytes; this and below: 0 without CAP1_APERTURE */
	u64 bram;		/* bytes behind the aperture */
};

/* The interesting part of an entry of the fault FIFO, host byte order. */
struct exanet_fault_entry {
	u64 va;			/* page aligned */
	u64 info;		/* EXANET_FAULT_ */
	u32 left;		/* bytes of the block from the faulting byte on */
};

/* An entry of the aperture's table. */
struct exanet_hw_segment {
	u64 offset;		/* in the aperture */
	u64 bytes;
	u64 gva;
	u32 ctrl;		/* EXANET_SHM_MAP_ */
};

/* A transfer of a CDMA channel. */
struct exanet_cdma_job {
	u64 sa;
	u64 da;
	u32 bytes;
	u32 sides;		/* EXANET_CDMA_SIDES_ */
	u32 pdid;		/* the target's */
};

/* Fills @caps; -ENODEV when this is no ExaNet NIC that we know. */
int exanet_hw_identify(struct exanet_hw *hw, struct exanet_caps *caps);
/* Resets the whole device; sleeps; -ETIMEDOUT when it does not come back. */
int exanet_hw_reset(struct exanet_hw *hw);
/* Lets packets and the interrupts of @mask (EXANET_IRQ_) through. */
void exanet_hw_start(struct exanet_hw *hw, u32 mask);
/* Stops packets and interrupts. */
void exanet_hw_stop(struct exanet_hw *hw);

/* What is pending, whether masked or not: EXANET_IRQ_. */
u32 exanet_hw_irq_causes(struct exanet_hw *hw);
/* Clears @causes, then what happens raises its vector or its wire again. */
void exanet_hw_irq_ack(struct exanet_hw *hw, u32 causes);
/* Context c has messages: bit c. */
u32 exanet_hw_mailbox_pending(struct exanet_hw *hw);
void exanet_hw_mailbox_ack(struct exanet_hw *hw, unsigned int index);

u32 exanet_hw_coord(struct exanet_hw *hw);
void exanet_hw_set_coord(struct exanet_hw *hw, u32 coord);

/*
 * Binds context @index to the page table at @pgd (as in CR3 or TTBR0) of @format
 * (EXANET_CTX_CTRL_FORMAT and _VA_BITS), clears its windows and enables it.
 */
void exanet_hw_context_enable(struct exanet_hw *hw, unsigned int index,
			      u64 pgd, u32 format);
/*
 * Fails the transfers of the context and waits until the device touches its memory
 * no more; sleeps; -ETIMEDOUT after a second.
 */
int exanet_hw_context_quiesce(struct exanet_hw *hw, unsigned int index);
/* Takes the page table away. */
void exanet_hw_context_disable(struct exanet_hw *hw, unsigned int index);
/* Sets the PDID; the NIC refuses packets of other nodes if @local. */
void exanet_hw_context_set_pdid(struct exanet_hw *hw, unsigned int index,
				u32 pdid, bool local);
/* Sets the quota, EXANET_QUOTA_. */
void exanet_hw_context_set_quota(struct exanet_hw *hw, unsigned int index,
				 u32 quota);
/* Lets window @window show the 512 GB that hold @va. */
void exanet_hw_context_set_window(struct exanet_hw *hw, unsigned int index,
				  unsigned int window, u64 va);
/* When these return, no translation of the range is in use any more. */
void exanet_hw_context_invalidate(struct exanet_hw *hw, unsigned int index,
				  u64 va, u64 length);
void exanet_hw_context_invalidate_all(struct exanet_hw *hw, unsigned int index);

/* Entries in the fault FIFO. */
unsigned int exanet_hw_fault_count(struct exanet_hw *hw);
/* Takes the head entry; the FIFO must not be empty. */
void exanet_hw_fault_pop(struct exanet_hw *hw, struct exanet_fault_entry *entry);
/* Answers the fault with this info word: the page is there, or it is a bad one. */
void exanet_hw_fault_resolve(struct exanet_hw *hw, u64 info, bool ok);

/* EXANET_REG_PORT_ registers of port @port. */
u32 exanet_hw_port_read(struct exanet_hw *hw, unsigned int port, unsigned int reg);
void exanet_hw_port_write(struct exanet_hw *hw, unsigned int port,
			  unsigned int reg, u32 value);
u64 exanet_hw_port_counter(struct exanet_hw *hw, unsigned int port,
			   unsigned int reg);
/* Faults of the port, EXANET_INJECT_. */
u64 exanet_hw_port_inject(struct exanet_hw *hw, unsigned int port);
void exanet_hw_port_set_inject(struct exanet_hw *hw, unsigned int port,
			       u64 value);
bool exanet_hw_port_up(struct exanet_hw *hw, unsigned int port);

u64 exanet_hw_counter(struct exanet_hw *hw, unsigned int counter);

/* Registers of firmware and switch, from the start of all; @wide: of 8 bytes. */
u64 exanet_hw_tune_read(struct exanet_hw *hw, u32 offset, bool wide);
void exanet_hw_tune_write(struct exanet_hw *hw, u32 offset, bool wide,
			  u64 value);

/* Opens segment @m of the aperture. */
void exanet_hw_segment_enable(struct exanet_hw *hw, unsigned int m,
			      const struct exanet_hw_segment *seg);
void exanet_hw_segment_disable(struct exanet_hw *hw, unsigned int m);
/* Takes the first error of a load or store; false: there is none. */
bool exanet_hw_shm_error(struct exanet_hw *hw, u64 *gva, u32 *info);

void exanet_hw_cdma_start(struct exanet_hw *hw, unsigned int ch,
			  const struct exanet_cdma_job *job);
/* Clears the channel's interrupts; whether there were some. */
bool exanet_hw_cdma_ack(struct exanet_hw *hw, unsigned int ch);
/* 0, -EINPROGRESS, or what has failed. */
int exanet_hw_cdma_result(struct exanet_hw *hw, unsigned int ch);
/* Ends what is under way; sleeps; -ETIMEDOUT. */
int exanet_hw_cdma_reset(struct exanet_hw *hw, unsigned int ch);

/* Starts a job; @pdid: EXANET_ACCEL_PDID_. */
void exanet_hw_accel_start(struct exanet_hw *hw,
			   const struct exanet_ioc_accel *a, u32 pdid);
/* Fills what is out of @a; 0, -EINPROGRESS, or what has failed. */
int exanet_hw_accel_result(struct exanet_hw *hw, struct exanet_ioc_accel *a);
/* Gives the job up, which may take a while. */
void exanet_hw_accel_stop(struct exanet_hw *hw);

#endif /* EXANET_HW_H */

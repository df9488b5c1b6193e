/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * ExaNet: registers of the unit that accesses memory of other nodes by load and store.
 * The lists have the same columns as the lists in regs.h.  Packets are in wire.h.
 *
 * Sources: [T §n] J. Lant et al., "Enabling Shared Memory Communication in Networks
 * of MPSoCs", 2018; [EXT] AMD PG034, AXI Central DMA; [D] derived; [P] ours.
 */
#ifndef RNIC_EXANET_SHM_H
#define RNIC_EXANET_SHM_H

#include "rnic/bits.h"

/*
 * BAR 4, or the third region on AXI, has the aperture of SHM_APERTURE bytes.  Behind the
 * aperture is the block RAM of this node, SHM_BRAM bytes.  A MAP entry covers a part of
 * the aperture: a load or store at an offset in this part accesses MAP_GVA + (offset -
 * MAP_OFFSET).
 */
#define EXANET_BAR_APERTURE	4	/* 64-bit, not prefetchable */

/* Offsets of register blocks in BAR 0. */
#define EXANET_SHM		0x80000
#define EXANET_SHM_TIMER(t)	(EXANET_SHM + 0x100 + 0x10 * (t))
#define EXANET_SHM_CAM(e)	(EXANET_SHM + 0x200 + 0x20 * (e))
#define EXANET_SHM_MAP(m)	(EXANET_SHM + 0x400 + 0x20 * (m))
#define EXANET_SHM_TRACKER(ch)	(EXANET_SHM + 0x800 + 0x40 * (ch))
#define EXANET_TGEN_TARGET(n)	(EXANET_SHM + 0xb00 + 8 * (n))
#define EXANET_TGEN_DATA(n)	(EXANET_SHM + 0xc00 + 8 * (n))
#define EXANET_SHM_BYTES	0x1000
#define EXANET_CDMA(ch)		(0xc0000 + 0x1000 * (ch))

#define EXANET_SHM_TIMERS	16	/* number of timers of early acknowledgement [T §4.3] */
#define EXANET_SHM_LOADS	16	/* maximal number of loads under way, from all AXI
					 * masters but CDMA [P] */
#define EXANET_SHM_MAPS		16	/* maximal number of segments of the aperture [P] */
#define EXANET_SHM_CAMS		8	/* number of entries of each transaction table that have
					 * CAM registers; default of property cam-entries
					 * [T §4.2] */
#define EXANET_SHM_CYCLE_PS	6400	/* ps of a cycle at 156.25 MHz [T §5.1] */
#define EXANET_TGEN_TARGETS	32
#define EXANET_TGEN_WORDS	64
#define EXANET_CDMA_CHANNELS	4
#define EXANET_CDMA_OUTSTANDING	5	/* default of CDMA_OUTSTANDING: maximal number of pieces
					 * of a channel under way; pieces that were acknowledged
					 * early do not count [T §6.3] */
#define EXANET_CDMA_OUTSTANDING_MAX 16

/* Classes of transactions, in bits 13:12 of the wire TID. */
enum exanet_shm_class {
	EXANET_SHM_STORE	= 0,
	EXANET_SHM_LOAD		= 1,
	EXANET_SHM_RDMA_WRITE	= 2,
	EXANET_SHM_RDMA_READ	= 3,
	EXANET_SHM_CLASSES	= 4,
};

/* --- The unit ------------------------------------------------------------- */
#define EXANET_SHM_REGS(X) \
	X(SHM_CTRL,	0x000, 4, EXANET_SHM_CTRL_DEFAULT, EXANET_SHM_CTRL_ALL, 0) \
	X(SHM_STATUS,	0x004, 4, 0, 0, 0) \
	X(SHM_TIMEOUT,	0x008, 4, EXANET_SHM_TIMEOUT_DEFAULT, 0xffffffff, 0) /* cycles */ \
	X(SHM_RETRY_MAX, 0x00c, 4, EXANET_SHM_RETRY_DEFAULT, 0xffff, 0) \
	X(SHM_FENCE,	0x010, 4, 0, 0, 0) /* write 1: reads 1 until older writes end */ \
	X(SHM_ERR_GVA,	0x018, 8, 0, 0, 0) /* GVA of the failed access in SHM_ERR_INFO */ \
	X(SHM_ERR_INFO,	0x020, 4, 0, 0, EXANET_SHM_ERR_VALID) \
	X(SHM_TIMEOUT_MODE, 0x024, 4, EXANET_SHM_TIMEOUT_STATIC, 1, 0) \
	X(SHM_APERTURE,	0x030, 8, 0, 0, 0) /* bytes of the aperture; property aperture-size */ \
	X(SHM_BRAM,	0x038, 8, 0, 0, 0) /* bytes of block RAM; property bram-size */

/*
 * SHM_FENCE is for all stores and CDMA writes under way, and for stores of CPUs that are
 * not under way yet.
 */
#define EXANET_SHM_CTRL_ENABLE	RNIC_BIT(0)	/* 1: the NIC sends and accepts loads and
						 * stores */
#define EXANET_SHM_CTRL_EARLY	RNIC_BIT(1)	/* 1: permits early acknowledgement [T §4.3] */
#define EXANET_SHM_CTRL_RAW	RNIC_BIT(2)	/* 1: loads wait for stores under way to the same
						 * 64 bytes with the same PDID [T §4.4] */
#define EXANET_SHM_CTRL_WAW	RNIC_BIT(3)	/* 1: stores wait for stores under way to the
						 * same 64 bytes with the same PDID [P] */
#define EXANET_SHM_CTRL_ORDER	RNIC_BIT(4)	/* 1: as a target, the NIC executes the stores of
						 * a node in the order of SEQ, and recognizes
						 * copies of stores, CDMA writes and loads from
						 * devices; as an initiator, the NIC retransmits
						 * a store with all younger stores to its node
						 * [P] */
#define EXANET_SHM_CTRL_PRIORITY RNIC_BIT(5)	/* 1: loads and stores leave before requests of
						 * CDMA channels [T §6.2], but at most 7 in a row
						 * while a request of a channel can leave [P] */
#define EXANET_SHM_CTRL_RELIABLE RNIC_BIT(6)	/* 1: the tracker repeats the failed pieces of a
						 * copy [T §4.4], unless the error is DECODE,
						 * PROTECTION or MALFORMED */
#define EXANET_SHM_CTRL_ALL	0x7fU	/* while CTRL_STRICT is set, WAW and ORDER have no
					 * effect */
/*
 * The default is without WAW, because with WAW a store waits for the response to an
 * earlier store to the same 64 bytes.  Targets with ORDER keep the order without WAW.
 */
#define EXANET_SHM_CTRL_DEFAULT	0x77U
#define EXANET_SHM_STATUS_TIMERS RNIC_FIELD(4, 0)	/* number of timers in use */
#define EXANET_SHM_STATUS_STORES RNIC_BIT(8)	/* stores or CDMA writes are under way */
#define EXANET_SHM_STATUS_LOADS	RNIC_BIT(9)	/* loads or CDMA reads are under way */
#define EXANET_SHM_STATUS_ERROR	RNIC_BIT(10)	/* 1: same as ERR_VALID in SHM_ERR_INFO */
/*
 * SHM_TIMEOUT, in cycles.  A round trip takes 232 cycles or 1.5 us in the paper, a
 * hundred times as long between two emulators, and a thousand times as long on a busy
 * host.  Less than 1 us counts as 1 us.
 */
#define EXANET_SHM_TIMEOUT_DEFAULT 7812500	/* 50 ms */
#define EXANET_SHM_RETRY_DEFAULT 32
#define EXANET_SHM_ERR_CODE	RNIC_FIELD(3, 0)	/* enum exanet_resp; ACK: there
							 * was no response in time */
#define EXANET_SHM_ERR_RETRIES	RNIC_FIELD(7, 4)	/* retransmissions of a load or store (0
							 * if a CPU has stopped waiting), or
							 * TRACKER_ROUND; saturating */
#define EXANET_SHM_ERR_CLASS	RNIC_FIELD(9, 8)	/* enum exanet_shm_class */
#define EXANET_SHM_ERR_CTX	RNIC_FIELD(15, 12)	/* context of the failed access */
#define EXANET_SHM_ERR_OUTSIDE	RNIC_BIT(16)	/* the access was in no segment: CTX is
						 * undefined, and ERR_GVA is the offset in the
						 * aperture */
#define EXANET_SHM_ERR_VALID	RNIC_BIT(31)		/* w1c: a write of 1 clears IRQ_SHM
							 * too */
enum exanet_shm_timeout_mode {
	EXANET_SHM_TIMEOUT_STATIC = 0,		/* the time-out is always SHM_TIMEOUT [T §4.3] */
	EXANET_SHM_TIMEOUT_DYNAMIC = 1,		/* the time-out is SHM_TIMEOUT at first, and
						 * later follows the smoothed round trip to each
						 * node, up to SHM_TIMEOUT */
};

/* Registers of timer t, which runs for a store under way [T §4.3]. */
#define EXANET_SHM_TIMER_REGS(X) \
	X(SHM_TIMER,	0x00, 8, 0, 0, 0) \
	X(SHM_TIMER_GVA, 0x08, 8, 0, 0, 0) /* GVA of the store */
#define EXANET_SHM_TIMER_BUSY	RNIC_BIT(0)
#define EXANET_SHM_TIMER_EARLY	RNIC_BIT(1)	/* the store was acknowledged early */
#define EXANET_SHM_TIMER_RETRIES RNIC_FIELD(15, 8)	/* retransmissions of the store,
							 * saturating */
#define EXANET_SHM_TIMER_TID	RNIC_FIELD(31, 16)	/* wire TID of the store */

/*
 * Registers of entry e of the transaction tables [T §4.2]: entries 0-7 are the write table,
 * entries 8-15 the read table.
 */
#define EXANET_SHM_CAM_REGS(X) \
	X(SHM_CAM,	0x00, 8, 0, 0, 0) \
	X(SHM_CAM_STATE, 0x08, 8, 0, 0, 0) \
	X(SHM_CAM_AGE,	0x10, 8, 0, 0, 0) /* ns since the entry was allocated */
#define EXANET_SHM_CAM_VALID	RNIC_BIT(0)
#define EXANET_SHM_CAM_SRC	RNIC_FIELD(22, 1)	/* coordinates of the source */
#define EXANET_SHM_CAM_TID	RNIC_FIELD(36, 23)	/* TID of the last request */
#define EXANET_SHM_CAM_RDMA	RNIC_BIT(37)		/* 1: the last request is of a CDMA
							 * channel */
#define EXANET_SHM_CAM_WRITE	RNIC_BIT(38)		/* 1: the entry is of the write table */
#define EXANET_SHM_CAM_NEW_ID	RNIC_FIELD(5, 0)	/* in CAM_STATE: index of the entry in its
							 * table */
#define EXANET_SHM_CAM_COUNT	RNIC_FIELD(15, 8)	/* in CAM_STATE: number of requests
							 * without response */
#define EXANET_SHM_CAM_PDID	RNIC_FIELD(31, 16)	/* in CAM_STATE: PDID of the last
							 * request */

/* Registers of segment m of the aperture. */
#define EXANET_SHM_MAP_REGS(X) \
	X(SHM_MAP_OFFSET, 0x00, 8, 0, 0xfffffff000ULL, 0) \
	X(SHM_MAP_SIZE,	0x08, 8, 0, 0xfffffff000ULL, 0) /* bytes, a multiple of 4 KB [P] */ \
	X(SHM_MAP_GVA,	0x10, 8, 0, ~0xfffULL, 0) \
	X(SHM_MAP_CTRL,	0x18, 8, 0, EXANET_SHM_MAP_WRITABLE, 0)
#define EXANET_SHM_MAP_PDID	RNIC_FIELD(15, 0)	/* PDID of the target */
#define EXANET_SHM_MAP_READ	RNIC_BIT(16)
#define EXANET_SHM_MAP_WRITE	RNIC_BIT(17)
#define EXANET_SHM_MAP_EARLY	RNIC_BIT(18)	/* 1: permits early acknowledgement */
#define EXANET_SHM_MAP_CTX	RNIC_FIELD(23, 20)	/* context that uses the segment */
#define EXANET_SHM_MAP_VALID	RNIC_BIT(31)
#define EXANET_SHM_MAP_WRITABLE	0x80f7ffffULL

/* --- RDMA tracker of channel ch [T §4.4] ------------------------------------ */
#define EXANET_SHM_TRACKER_REGS(X) \
	X(TRACKER_SA,	0x00, 8, 0, 0, 0) /* CDMA_SA of the copy */ \
	X(TRACKER_DA,	0x08, 8, 0, 0, 0) /* CDMA_DA of the copy */ \
	X(TRACKER_LENGTH, 0x10, 4, 0, 0, 0) \
	X(TRACKER_ISSUED, 0x14, 4, 0, 0, 0) /* pieces started, repeated pieces included */ \
	X(TRACKER_ACKED, 0x18, 4, 0, 0, 0) /* complete pieces; not exact after a failure */ \
	X(TRACKER_FAILED, 0x1c, 4, 0, 0, 0) /* failed pieces that were not repeated yet */ \
	X(TRACKER_ROUND, 0x20, 4, 0, 0, 0) /* rounds of retries since the last pass began */ \
	X(TRACKER_HEAD0, 0x28, 8, 0, 0, 0) /* first failed piece; 0: none */ \
	X(TRACKER_HEAD1, 0x30, 8, 0, 0, 0) /* second failed piece; 0: none */ \
	X(TRACKER_HEAD2, 0x38, 8, 0, 0, 0) /* third failed piece; 0: none */
#define EXANET_TRACKER_BYTES	RNIC_FIELD(25, 0)	/* in TRACKER_LENGTH: bytes of the
							 * copy */
#define EXANET_TRACKER_STATE	RNIC_FIELD(31, 26)	/* in TRACKER_LENGTH: enum
							 * exanet_tracker_state */
#define EXANET_TRACKER_HEAD_OFFSET RNIC_FIELD(25, 0)	/* of a failed piece: offset in the copy,
							 * bytes */
#define EXANET_TRACKER_HEAD_LENGTH RNIC_FIELD(35, 26)	/* of a failed piece: bytes */
#define EXANET_TRACKER_HEAD_CODE RNIC_FIELD(39, 36)	/* enum exanet_resp */
enum exanet_tracker_state {
	EXANET_TRACKER_IDLE	= 0,
	EXANET_TRACKER_PASS	= 1,	/* the DMA copies new pieces */
	EXANET_TRACKER_RETRY	= 2,	/* the DMA copies the failed pieces again */
	EXANET_TRACKER_DRAIN	= 3,	/* the DMA waits for the responses to pieces under way */
	EXANET_TRACKER_FAILED	= 4,
};

/* --- CDMA channel ch [EXT], from SIDES on [P] -------------------------------- */
#define EXANET_CDMA_REGS(X) \
	X(CDMA_CR,	0x00, 4, EXANET_CDMA_CR_RESET_VALUE, EXANET_CDMA_CR_WRITABLE, 0) \
	X(CDMA_SR,	0x04, 4, EXANET_CDMA_SR_IDLE, 0, EXANET_CDMA_SR_IRQS) \
	X(CDMA_CURDESC,	0x08, 8, 0, 0, 0) /* reads 0: no scatter-gather */ \
	X(CDMA_TAILDESC, 0x10, 8, 0, 0, 0) /* reads 0: no scatter-gather */ \
	X(CDMA_SA,	0x18, 8, 0, ~0ULL, 0) /* source: local address or GVA, by CDMA_SIDES */ \
	X(CDMA_DA,	0x20, 8, 0, ~0ULL, 0) /* destination: as CDMA_SA, by CDMA_SIDES */ \
	X(CDMA_BTT,	0x28, 4, 0, EXANET_CDMA_BTT_BYTES, 0) /* bytes; a write starts a copy */ \
	X(CDMA_SIDES,	0x40, 4, 0, EXANET_CDMA_SIDES_WRITABLE, 0) \
	X(CDMA_BURST,	0x44, 4, 16, 0x7f, 0) /* beats of 8 bytes, 1 to 32 */ \
	X(CDMA_PDID,	0x48, 4, 0, 0xffff, 0) /* PDID of the target */ \
	X(CDMA_OUTSTANDING, 0x4c, 4, EXANET_CDMA_OUTSTANDING, 0x1f, 0) /* pieces, 1 to 16 */
#define EXANET_CDMA_CR_RESET	RNIC_BIT(2)	/* self-clearing */
#define EXANET_CDMA_CR_SG	RNIC_BIT(3)	/* reads 0: no scatter-gather */
#define EXANET_CDMA_CR_IOC_IRQ	RNIC_BIT(12)	/* SR_IOC raises IRQ_CDMA */
#define EXANET_CDMA_CR_ERR_IRQ	RNIC_BIT(14)	/* SR_ERR raises IRQ_CDMA */
#define EXANET_CDMA_CR_RESET_VALUE 0x00010002U	/* IRQ threshold 1; tail pointer mode */
#define EXANET_CDMA_CR_WRITABLE	0x00005000U
#define EXANET_CDMA_SR_IDLE	RNIC_BIT(1)	/* channel and tracker are idle [D] */
#define EXANET_CDMA_SR_INT_ERR	RNIC_BIT(4)	/* the copy was refused: BTT is 0, or the context
						 * is quiesced or, with TRANSLATE, disabled */
#define EXANET_CDMA_SR_SLV_ERR	RNIC_BIT(5)	/* other error of the source or of the
						 * destination, or no response, or the context
						 * was quiesced or disabled during the copy */
#define EXANET_CDMA_SR_DEC_ERR	RNIC_BIT(6)	/* no memory at an address, or a page is missing
						 * for good, or a range wraps around */
#define EXANET_CDMA_SR_IOC	RNIC_BIT(12)	/* the copy has ended without an error */
#define EXANET_CDMA_SR_ERR	RNIC_BIT(14)	/* the copy has failed */
#define EXANET_CDMA_SR_IRQS	0x00005000U	/* w1c */
#define EXANET_CDMA_BTT_BYTES	RNIC_FIELD(25, 0)	/* while the channel is busy, a write
							 * has no effect */
#define EXANET_CDMA_SIDES_CTX	RNIC_FIELD(3, 0)	/* context of the copy */
#define EXANET_CDMA_SIDES_DA_LOCAL RNIC_BIT(29)	/* 1: DA is a local address; 0: DA is a GVA */
#define EXANET_CDMA_SIDES_SA_GVA RNIC_BIT(30)	/* 1: SA is a GVA; 0: SA is a local address */
#define EXANET_CDMA_SIDES_TRANSLATE RNIC_BIT(31)	/* 1: local addresses are virtual
							 * addresses of context CTX; 0: local
							 * addresses are physical */
#define EXANET_CDMA_SIDES_WRITABLE 0xe000000fU

/* --- Arithmetic router [T §3.3, §5], registers [P] --------------------------- */
#define EXANET_ARITH_REGS(X) \
	X(ARITH_MODE,	0x900, 4, 0, 0x3, 0) /* enum exanet_arith_mode; reset by router= */ \
	X(ARITH_ADDR,	0x904, 4, 0, 0, 0) /* NODE: cabinet, chassis, card of this node */ \
	X(ARITH_PORTS,	0x908, 8, 0, 0, 0) /* links with the roles below; 0 in mode OFF */ \
	X(ARITH_RULES,	0x910, 4, 0, 0, 0) /* number of rules in property routes */ \
	X(ARITH_VOQ_SELECT, 0x914, 4, 0, 0xff, 0) /* input link [3:0], output link [7:4] */ \
	X(ARITH_VOQ_WORDS, 0x918, 4, 0, 0, 0) /* words queued from this input to this output */ \
	X(ARITH_HOL,	0x920, 8, 0, 0, 0) /* packets that overtook packets in a queue */
#define EXANET_ARITH_CABINET	RNIC_FIELD(21, 14)
#define EXANET_ARITH_CHASSIS	RNIC_FIELD(13, 10)
#define EXANET_ARITH_CARD	RNIC_FIELD(9, 0)
#define EXANET_ARITH_PORTS_UP	RNIC_FIELD(11, 0)	/* bit n: link n has role UPLINK */
#define EXANET_ARITH_PORTS_PLUS	RNIC_FIELD(23, 12)
#define EXANET_ARITH_PORTS_MINUS RNIC_FIELD(35, 24)
#define EXANET_ARITH_PORTS_CARD	RNIC_FIELD(47, 36)
enum exanet_arith_mode {
	EXANET_ARITH_OFF	= 0,	/* the router of tori finds the routes */
	EXANET_ARITH_RULE	= 1,	/* routes by cabinet, chassis and card */
	EXANET_ARITH_TABLE	= 2,	/* routes by rules of value, mask and links */
};

/* --- Traffic generator [T §5] ------------------------------------------------ */
#define EXANET_TGEN_REGS(X) \
	X(TGEN_CFG,	0xa00, 4, 0, 0xffffffff, 0) \
	X(TGEN_IDS,	0xa08, 4, 0x10, 0xfff, 0) \
	X(TGEN_DONE,	0xa10, 8, 0, 0, 0) /* transactions since GO that have all responses */ \
	X(TGEN_ERR,	0xa18, 8, 0, 0, 0) /* transactions since GO that failed */ \
	X(TGEN_BYTES,	0xa20, 8, 0, 0, 0) /* bytes loaded or stored since GO */ \
	X(TGEN_PDID,	0xa28, 4, 0, 0xffff, 0) /* PDID of the target */ \
	X(TGEN_SIZE,	0xa2c, 4, 0, 0x1ff, 0) /* bytes of a transaction; 0: 8 * beats */ \
	X(TGEN_STATUS,	0xa30, 4, 0, 0, 0) \
	X(TGEN_TIME,	0xa38, 8, 0, 0, 0) /* ns from GO to the last response */ \
	X(TGEN_THINK,	0xa40, 4, 0, 0xfffff, 0) /* ns, response to next start; if CAP1_TIMING */
/*
 * A write to CFG with GO starts a run with the present values of the registers, unless a
 * run is BUSY, or CTRL_ENABLE or SHM_CTRL_ENABLE is clear.  A write without GO stops the
 * run: no further transaction begins.  The device clears GO when the run ends.  The device
 * reads the target RAM and the data RAM during the run.  The data
 * of a transaction begin at word 0 of the data RAM or, with EACH, at the word with the
 * target's number.  Word 0 follows the last word.
 */
#define EXANET_TGEN_GO		RNIC_BIT(0)
#define EXANET_TGEN_WRITE	RNIC_BIT(1)	/* 0: loads, 1: stores */
#define EXANET_TGEN_REPEAT	RNIC_BIT(2)	/* 1: starts again at the first target, until
						 * stopped */
#define EXANET_TGEN_EARLY	RNIC_BIT(3)	/* 1: permits early acknowledgement [P] */
#define EXANET_TGEN_EACH	RNIC_BIT(4)	/* 1: each target has data of its own [P] */
#define EXANET_TGEN_BEATS	RNIC_FIELD(15, 8)	/* beats of 8 bytes, minus 1 */
#define EXANET_TGEN_OUTSTANDING	RNIC_FIELD(19, 16)	/* maximal number of transactions that
							 * wait for a response, minus 1; a store
							 * that was acknowledged early does not
							 * wait */
#define EXANET_TGEN_ENTRIES	RNIC_FIELD(31, 20)	/* number of targets, 1..32; with another
							 * number the run fails with MALFORMED */
#define EXANET_TGEN_IDS_FIRST	RNIC_FIELD(3, 0)	/* first AXI ID */
#define EXANET_TGEN_IDS_COUNT	RNIC_FIELD(7, 4)	/* number of AXI IDs, which transactions
							 * use one after the other */
#define EXANET_TGEN_IDS_CTX	RNIC_FIELD(11, 8)	/* context of the accesses */
#define EXANET_TGEN_STATUS_BUSY	RNIC_BIT(0)
#define EXANET_TGEN_STATUS_CODE	RNIC_FIELD(7, 4)	/* enum exanet_resp: the first
							 * error; 0: no error */

/* --- Accelerator [T §6.4], registers [P] ------------------------------------ */
/*
 * The accelerator computes the kernel of a climate model: small matrices update columns
 * of NLAYERS doubles.  For each cell in CELLS, in the order of the list, the accelerator
 * executes this C code.  The results have the same bits as those of C without fused
 * multiply-add (-ffp-contract=off):
 *
 *   for (k = 0; k < nlayers; k++)
 *     for (df1 = 0; df1 < ndf1; df1++) {
 *       for (sum = 0, df2 = 0; df2 < ndf2; df2++)
 *         sum += matrix[cell][k][df1][df2] * x[map2[cell][df2] + k];
 *       y[map1[cell][df1] + k] += sum;
 *     }
 *
 * Doubles and 32-bit unsigned integers are little-endian.  MATRIX, X and Y are 8-byte
 * aligned, MAP1, MAP2 and CELLS 4-byte aligned.  Columns of a cell may overlap.  Cells
 * of one list must share no element of y; software puts cells that share elements into
 * the lists of different jobs ("colours").  X and Y are different arrays.
 *
 * An array with its REMOTE bit is in memory of the node that its GVA names, which may be
 * this node; the accelerator uses loads and stores with PDID.  An array without its
 * REMOTE bit is in the block RAM of this node, and its register is an offset there.  To
 * run a job:
 *
 *   1. wait until STATUS has no BUSY; write NDF, NLAYERS, NCELLS, PDID and the six
 *      addresses;
 *   2. write CTRL: GO, the REMOTE bits, IRQ if an interrupt is wanted;
 *   3. wait until STATUS has DONE: CODE is 0, or the first error.  ERR_ADDR is the address
 *      of this error, or 0 if the error has no address.  If CODE is 0, every result is in
 *      memory.  After an error any cell may have been updated or not: start again from
 *      saved data.
 *
 * A write to CTRL without GO ends the job with PROTECTION.  The job also ends with
 * PROTECTION when context PDID_CTX is disabled or quiesced.  The device refuses a job
 *   with PROTECTION   without CTRL_ENABLE or SHM_CTRL_ENABLE;
 *   with MALFORMED    if NDF or NLAYERS is 0 or beyond its limit, or an address is not
 *                     aligned;
 *   with DECODE       if MATRIX, Y, MAP1, MAP2 or CELLS with NCELLS different cells would exceed
 *                     block RAM or the window of its GVA, or X begins behind block RAM.
 * An access beyond block RAM, or beyond the window of an array's GVA, fails with DECODE.
 * A job without progress for 60 to 120 s of virtual time ends with NO_CONTEXT; stores
 * under way may arrive later.  If CAP1_TIMING is set, ACCEL_OUTSTANDING limits loads and
 * stores together.
 */
#define EXANET_ACCEL_REGS(X) \
	X(ACCEL_CTRL,	0xe00, 4, 0, EXANET_ACCEL_WRITABLE, 0) \
	X(ACCEL_STATUS,	0xe04, 4, 0, 0, 0) \
	X(ACCEL_NDF,	0xe08, 4, 0, 0xffffffff, 0) \
	X(ACCEL_NLAYERS, 0xe0c, 4, 0, 0xffffffff, 0) \
	X(ACCEL_NCELLS,	0xe10, 4, 0, 0xffffffff, 0) /* number of entries of CELLS */ \
	X(ACCEL_PDID,	0xe14, 4, 0, 0xfffff, 0) \
	X(ACCEL_MATRIX,	0xe18, 8, 0, ~0ULL, 0) /* GVA, or offset in block RAM */ \
	X(ACCEL_X,	0xe20, 8, 0, ~0ULL, 0) \
	X(ACCEL_Y,	0xe28, 8, 0, ~0ULL, 0) \
	X(ACCEL_MAP1,	0xe30, 8, 0, ~0ULL, 0) \
	X(ACCEL_MAP2,	0xe38, 8, 0, ~0ULL, 0) \
	X(ACCEL_CELLS,	0xe40, 8, 0, ~0ULL, 0) \
	X(ACCEL_BURST,	0xe48, 4, 32, 0x3f, 0) /* beats of 8 bytes, 1 to 32 */ \
	X(ACCEL_OUTSTANDING, 0xe4c, 4, 4, 0x1f, 0) /* loads under way, 1 to 16 */ \
	X(ACCEL_OPS,	0xe50, 8, 0, 0, 0) /* multiply-adds done */ \
	X(ACCEL_BYTES,	0xe58, 8, 0, 0, 0) /* bytes loaded and stored */ \
	X(ACCEL_TIME,	0xe60, 8, 0, 0, 0) /* ns, duration of the job */ \
	X(ACCEL_ERR_ADDR, 0xe68, 8, 0, 0, 0) /* address of the first error */
#define EXANET_ACCEL_GO		RNIC_BIT(0)	/* cleared when the job ends */
#define EXANET_ACCEL_IRQ	RNIC_BIT(1)	/* raises IRQ_ACCEL when the job ends */
#define EXANET_ACCEL_REMOTE_MATRIX RNIC_BIT(8)
#define EXANET_ACCEL_REMOTE_X	RNIC_BIT(9)
#define EXANET_ACCEL_REMOTE_Y	RNIC_BIT(10)
#define EXANET_ACCEL_REMOTE_MAP1 RNIC_BIT(11)
#define EXANET_ACCEL_REMOTE_MAP2 RNIC_BIT(12)
#define EXANET_ACCEL_REMOTE_CELLS RNIC_BIT(13)
#define EXANET_ACCEL_REMOTE_ALL	RNIC_FIELD(13, 8)
#define EXANET_ACCEL_WRITABLE	0x3f03U
#define EXANET_ACCEL_STATUS_BUSY RNIC_BIT(0)
#define EXANET_ACCEL_STATUS_DONE RNIC_BIT(1)	/* the job has ended; until the next GO */
#define EXANET_ACCEL_STATUS_CODE RNIC_FIELD(7, 4)	/* enum exanet_resp; NO_CONTEXT
							 * if a node does not respond */
#define EXANET_ACCEL_NDF1	RNIC_FIELD(15, 0)	/* NDF: matrix rows, 1..64 */
#define EXANET_ACCEL_NDF2	RNIC_FIELD(31, 16)	/* NDF: matrix columns, 1..64 */
#define EXANET_ACCEL_NDF_MAX	64
#define EXANET_ACCEL_NLAYERS_MAX 256
#define EXANET_ACCEL_PDID_TARGET RNIC_FIELD(15, 0)	/* PDID of the target */
#define EXANET_ACCEL_PDID_CTX	RNIC_FIELD(19, 16)	/* PDID: context of the
							 * accesses */

/* Offsets of registers in their blocks: EXANET_REG_<NAME>. */
enum exanet_shm_reg {
#define EXANET_SHM_REG_ENUM(name, offset, bytes, reset, writable, w1c) \
	EXANET_REG_##name = offset,
	EXANET_SHM_REGS(EXANET_SHM_REG_ENUM)
	EXANET_SHM_TIMER_REGS(EXANET_SHM_REG_ENUM)
	EXANET_SHM_CAM_REGS(EXANET_SHM_REG_ENUM)
	EXANET_SHM_MAP_REGS(EXANET_SHM_REG_ENUM)
	EXANET_SHM_TRACKER_REGS(EXANET_SHM_REG_ENUM)
	EXANET_CDMA_REGS(EXANET_SHM_REG_ENUM)
	EXANET_ARITH_REGS(EXANET_SHM_REG_ENUM)
	EXANET_TGEN_REGS(EXANET_SHM_REG_ENUM)
	EXANET_ACCEL_REGS(EXANET_SHM_REG_ENUM)
#undef EXANET_SHM_REG_ENUM
};

#endif /* RNIC_EXANET_SHM_H */

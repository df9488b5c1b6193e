/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * libexanet: user-level access to the ExaNet NIC.
 *
 * An exa_dev is one context of one NIC: a set of channels that this process alone
 * can drive, without system calls.  Memory is never registered or pinned; any
 * valid address of the process may be sent or received into.
 *
 *   write channels      32   RDMA write, 1 byte to 4 GiB - 1    exa_write_post()
 *   packetizer channels 16   messages, small writes, read requests
 *                            exa_msg_post() exa_put_small() exa_read_post()
 *   mailboxes            4   rings that receive messages         exa_mbox_create()
 *   segments                 memory of other nodes by load and store
 *                            exa_map_remote()
 *
 * Addresses.  A VA is an ordinary pointer.  An xva is the 42-bit form by which
 * other nodes name memory of this process: exa_xva().  A GVA is an xva together
 * with the coordinates of its node: exa_gva().  Of a target one needs GVA and
 * context number; the hardware adds the job and checks it.
 *
 * Return values.  Functions return 0 or a count or channel number, or a negative
 * errno; exa_strerror() turns those into text.  The status of a transfer maps so:
 *
 *   -EFAULT      source or destination page cannot be had
 *   -ENXIO       the address leads to no memory of that process (no window, or
 *                no such thing there)
 *   -EACCES      other job, context not open, page may not be written
 *   -ENOBUFS     mailbox full or not enabled, or queue of read requests full
 *   -EBUSY       no receiver context to be had until the retry limit
 *   -EIO         payload CRC errors until the retry limit, or unknown code
 *   -EINVAL      request is malformed: length, alignment, address range
 *   -ETIMEDOUT   retry limit: nobody answered
 *   -ECANCELED   context was closed or the device was reset
 *   -EOPNOTSUPP  the NIC has no aperture
 * and beyond these: -EAGAIN (all channels busy), -EINPROGRESS (not done yet),
 * -EPERM (child after fork(): open your own), -ERANGE (buffer crosses a 512-GB
 * boundary), -ENOSPC (more than seven 512-GB stretches in use; no segment left).
 *
 * Threads.  All functions on one exa_dev may be called from several threads
 * without further locking, except that
 *  - a channel belongs to its user from post until a test that does not return
 *    -EINPROGRESS; two threads must not test the same channel;
 *  - a mailbox has one consumer: peek, pop, recv and destroy of one mailbox must
 *    not run at the same time;
 *  - exa_close() is the last call.
 * Channels are handed out without locks; locks are only taken where system calls
 * are made anyway.
 *
 * Costs.  Each 8-byte store to the NIC leaves the guest, so unchanged words of a
 * channel are not stored again: repeating a similar request is cheaper.  Tests and
 * peeks are memory reads.
 */
#ifndef LIBEXANET_H
#define LIBEXANET_H

#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>
#include <endian.h>

#include "rnic/exanet/desc.h"
#include "rnic/exanet/wire.h"

#ifdef __cplusplus
extern "C" {
#endif

#define EXA_MSG_MAX	EXANET_PKTZ_PAYLOAD_MAX	/* bytes of a message, 64 */
#define EXA_PUT_BOUNDARY EXANET_MTU	/* exa_put_small() must not cross it, 256 */
#define EXA_LEN_MAX	0xffffffffU	/* bytes of a write or read */

struct exa_dev;
struct exa_mbox;

/* --- Device --------------------------------------------------------------- */

/* What exa_query() gives; all in host byte order. */
struct exa_attr {
	uint32_t coord;		/* own coordinates, EXANET_COORD_ */
	uint32_t pdid;		/* own PDID: job and context */
	uint32_t job;		/* 1..4095 */
	uint32_t ctx;		/* own context, 0..15: peers need it */
	uint32_t page_size;	/* of the user pages, bytes */
	uint32_t cap0;		/* EXANET_CAP0_ of rnic/exanet/regs.h */
	uint32_t cap1;		/* EXANET_CAP1_ */
	uint32_t link_up;	/* bit p: port p was up at the time of the call */
};

/*
 * Opens a NIC and takes one of its contexts.  @name is "exanet1", "1" or a path;
 * NULL means the environment's EXANET_DEVICE, else exanet0.  The context is in the job
 * that the environment's EXANET_JOB names, else in the default job of the user.  A
 * program with raised privileges (AT_SECURE of getauxval(3)) ignores both variables.
 * -ENODEV or -ENOENT: no such device; -EBUSY: all contexts of the NIC, or all local jobs
 * of the node, are taken; -EDQUOT: the user has the maximum of contexts per user;
 * -EACCES: the user may not open the file; -EPERM: the user may not use the job of
 * EXANET_JOB; -EPROTO: driver and library have different versions.  When the NIC is
 * removed from a running machine, calls on its devices return -ENODEV or end in SIGBUS.
 */
int exa_open(const char *name, struct exa_dev **dev);

/*
 * Gives the context back.  Transfers in flight are aborted, mailboxes destroyed.
 * NULL is allowed.  In a child after fork() it only frees memory.
 */
void exa_close(struct exa_dev *dev);

/* Describes the device and context as they are now (a system call). */
int exa_query(struct exa_dev *dev, struct exa_attr *attr);

/* Own coordinates and context, without a system call. */
uint32_t exa_coord(const struct exa_dev *dev);
uint32_t exa_ctx(const struct exa_dev *dev);

/*
 * Puts the context into a job that root has granted to the user (exanet-job(8)), or
 * into the job that exa_open() took.  Only contexts of the same job can communicate.
 * -EPERM: any other job without CAP_SYS_ADMIN; -EINVAL: not a named job; -EBUSY: the
 * context has memory of other nodes mapped, or a copy or job of the accelerator is under
 * way.
 */
int exa_job_set(struct exa_dev *dev, uint32_t job);

/* Virtual time of the NIC in ns, the clock of struct exanet_message.time. */
uint64_t exa_time(const struct exa_dev *dev);

/* A text for @err, negative or not; never NULL, never to be freed. */
const char *exa_strerror(int err);

/* --- Addresses ------------------------------------------------------------ */

/*
 * Gives the xva of the @len bytes at @ptr, by which peers may then reach them.  The
 * first use of a 512-GB stretch makes a system call, later ones do not.  @len may
 * be 0.  Memory need not be mapped yet.  -ERANGE, -ENOSPC: see above.
 */
int exa_xva(struct exa_dev *dev, const void *ptr, size_t len, uint64_t *xva);

/* The GVA of @xva at node @coord. */
static inline uint64_t exa_gva(uint32_t coord, uint64_t xva)
{
	return RNIC_PREP(EXANET_GVA_COORD, coord) | (xva & EXANET_GVA_VA);
}

/* The GVA of mailbox @mbox at node @coord, for notify_gva fields. */
static inline uint64_t exa_mbox_gva(uint32_t coord, unsigned int mbox)
{
	return exa_gva(coord, EXANET_NI_VA(EXANET_NI_MAILBOX) |
			      RNIC_PREP(EXANET_VA_MAILBOX, mbox));
}

/* --- RDMA write ----------------------------------------------------------- */

/* More about a finished or failed operation. */
struct exa_status {
	int error;		/* 0 or negative errno */
	uint32_t code;		/* enum exanet_resp or exanet_channel_error */
	uint32_t retries;	/* blocks or packets resent */
	uint32_t bytes;		/* acked; RDMA write only */
	uint32_t ns;		/* from start to end; RDMA write only */
};

enum exa_write_flags {
	EXA_WRITE_NOTIFY	= 1 << 0,	/* notify at notify_gva */
	EXA_WRITE_NOTIFY_IRQ	= 1 << 1,	/* ... and wake that process */
	EXA_WRITE_WAKE		= 1 << 2,	/* exa_fd() of this device becomes
						 * readable when done or failed */
	EXA_WRITE_MULTIPATH	= 1 << 3,	/* any path will do */
};

struct exa_write_attr {
	const void *src;	/* own memory, any alignment */
	uint64_t dst_gva;	/* where to; exa_gva() */
	uint32_t len;		/* 1..EXA_LEN_MAX bytes */
	uint32_t dst_ctx;	/* context of the target */
	uint64_t notify_gva;	/* on the target's node and in its context: a
				 * 16-B aligned struct exanet_notification, or
				 * exa_mbox_gva() */
	uint64_t notify_data;	/* opaque, ends up in the notification */
	uint32_t flags;		/* enum exa_write_flags */
	uint32_t path;		/* path hint, 0..31 */
};

/*
 * Starts an RDMA write; the notification becomes visible after all the data.
 * Writes are not ordered with each other nor with messages.  @attr is not used
 * after the call; the source must not change until the test.  Gives a channel, or
 * -EAGAIN when all are busy, or -EINVAL.
 */
int exa_write_post(struct exa_dev *dev, const struct exa_write_attr *attr);

/*
 * Tests a channel of exa_write_post(): -EINPROGRESS; or 0 (all bytes are in the
 * target's memory) or the error, and the channel is free again.  @st may be NULL.
 */
int exa_write_test(struct exa_dev *dev, int channel, struct exa_status *st);

/* --- Packetizer: messages, small writes, read requests ---------------------- */

/* Where a message goes. */
struct exa_mbox_addr {
	uint32_t coord;
	uint8_t ctx;		/* 0..15 */
	uint8_t mbox;		/* 0..3 */
	uint16_t reserved;	/* zero */
};

enum exa_msg_flags {
	EXA_MSG_UNRELIABLE	= 1 << 0,	/* sent once, never acked: may be lost
						 * and the test always says 0 */
};

/*
 * Sends the @len (1..64) bytes at @buf into a mailbox; @buf may change at once.
 * Messages of one sender may overtake each other when they are posted before the
 * earlier one was acked.  Gives a packetizer channel for exa_msg_test(), or
 * -EAGAIN when all are busy, or -EINVAL.
 */
int exa_msg_post(struct exa_dev *dev, const struct exa_mbox_addr *to,
		 const void *buf, size_t len, uint32_t flags);

/*
 * Writes @len (1..64) bytes into memory of context @ctx at @dst_gva, in one packet:
 * the range must not cross a multiple of 256.  Otherwise like exa_msg_post().
 */
int exa_put_small(struct exa_dev *dev, uint64_t dst_gva, uint32_t ctx,
		  const void *buf, size_t len);

/*
 * Tests a packetizer channel: -EINPROGRESS; or 0 (acked: the message is in the
 * ring, the bytes in memory, the read request in the queue) or the error, and the
 * channel is free again.  @st may be NULL.  A full mailbox is retried by the
 * device until its retry limit, then -ENOBUFS.
 */
int exa_msg_test(struct exa_dev *dev, int channel, struct exa_status *st);

enum exa_read_flags {
	EXA_READ_NOTIFY_IRQ	= 1 << 0,	/* exa_fd() becomes readable as well */
};

struct exa_read_attr {
	void *dst;		/* own memory, any alignment */
	uint64_t src_va;	/* plain VA at the data owner, not an xva */
	uint32_t src_coord;	/* node of the data owner */
	uint32_t src_ctx;	/* its context */
	uint32_t len;		/* 1..EXA_LEN_MAX bytes */
	uint32_t flags;		/* enum exa_read_flags */
	struct exanet_notification *notify;	/* own memory, 16-B aligned, tells
				 * the end; or NULL: mailbox notify_mbox does */
	uint32_t notify_mbox;	/* 0..3, counts when notify is NULL */
	uint64_t notify_data;	/* opaque, ends up in the notification */
	uint64_t tag;		/* for traces only */
};

/*
 * Asks another node to write its memory here.  Clears @attr->notify.  Gives a
 * packetizer channel: exa_msg_test() tells that the request has arrived (0) or
 * never will (error).  The end of the read is told by the notification; until then
 * the data and the record belong to the NIC.
 */
int exa_read_post(struct exa_dev *dev, const struct exa_read_attr *attr);

/* --- Notifications in memory ------------------------------------------------ */

/* Makes a record ready for the next notification.  It must be 16-B aligned. */
void exa_notify_clear(struct exanet_notification *rec);

/*
 * Looks at a record: -EINPROGRESS; or 0: all the data is there; or the error of a
 * read that the data owner could not serve.  @data (may be NULL) gets notify_data.
 */
int exa_notify_test(const struct exanet_notification *rec, uint64_t *data);

/*
 * The same, but waits at most @timeout_ms (negative: for ever), then -ETIMEDOUT.
 * It polls, and sleeps for short times when nothing comes for long.  As the record does
 * not name a NIC, all NICs that this process has open are told in turn that it waits, see
 * exa_poll_hint(), except those that have been removed or reset.
 */
int exa_notify_wait(const struct exanet_notification *rec, uint64_t *data,
		    int timeout_ms);

/* The meaning of a notification that came as a message: 0 or negative errno. */
int exa_notify_error(const struct exanet_notification *rec);

/* --- Mailboxes -------------------------------------------------------------- */

enum exa_mbox_flags {
	EXA_MBOX_IRQ		= 1 << 0,	/* exa_fd() becomes readable with each
						 * message, always; without it only
						 * between exa_arm() and exa_disarm() */
};

/*
 * Enables mailbox @nr (0..3) with a ring of 2^@log2 (1..16) entries, of which
 * three quarters can be relied on before senders are refused.  -EBUSY: it exists.
 */
int exa_mbox_create(struct exa_dev *dev, unsigned int nr, unsigned int log2,
		    uint32_t flags, struct exa_mbox **mbox);

/* Disables the mailbox; unread messages are lost, senders get -ENOBUFS. */
void exa_mbox_destroy(struct exa_mbox *mbox);

/* The oldest unread message, or NULL.  It stays valid until exa_mbox_pop(). */
const struct exanet_message *exa_mbox_peek(struct exa_mbox *mbox);

/* Gives the entry of the last successful peek back to the NIC. */
void exa_mbox_pop(struct exa_mbox *mbox);

/* How many messages were refused: ring full or disabled, ring page not to be had. */
void exa_mbox_rejected(const struct exa_mbox *mbox, uint32_t *full,
		       uint32_t *fault);

/*
 * Sender, size in bytes and kind (enum exanet_type) of a message.  A notification
 * (EXANET_TYPE_NOTIFY) is sent by the receiver's own NIC and names the receiver's
 * own context: who wrote must be told by its data.
 */
static inline uint32_t exa_message_coord(const struct exanet_message *msg)
{
	return RNIC_GET(EXANET_MESSAGE_COORD, le64toh(msg->origin));
}

static inline uint32_t exa_message_ctx(const struct exanet_message *msg)
{
	return RNIC_GET(EXANET_PDID_CTX,
			RNIC_GET(EXANET_MESSAGE_PDID, le64toh(msg->origin)));
}

static inline uint32_t exa_message_size(const struct exanet_message *msg)
{
	return RNIC_GET(EXANET_MESSAGE_SIZE, le64toh(msg->origin));
}

static inline uint32_t exa_message_type(const struct exanet_message *msg)
{
	return RNIC_GET(EXANET_MESSAGE_TYPE, le64toh(msg->origin));
}

/* --- Waiting ---------------------------------------------------------------- */

/*
 * Sleeping without a lost wake-up:
 *
 *	exa_arm(dev);
 *	while (!(work = look at mailboxes, channels, records))
 *		exa_wait(dev, timeout);
 *	exa_disarm(dev);
 *
 * Whatever comes after exa_arm() makes the descriptor readable; what came before is
 * seen by the look.  A wake-up without cause is possible.  Messages wake; RDMA writes
 * of this process do with EXA_WRITE_WAKE, records with ..._NOTIFY_IRQ; packetizer
 * channels never do.  With a foreign poll loop: exa_arm(), look, poll exa_fd(),
 * exa_disarm() (or exa_ack(), which stays armed).
 */

/* Descriptor for poll(), readable (POLLIN) after a wake-up.  Do not read() it. */
int exa_fd(const struct exa_dev *dev);

/* Lets messages of all mailboxes wake from now on.  Repeating it costs nothing. */
int exa_arm(struct exa_dev *dev);

/* Makes exa_fd() unreadable again; what comes later wakes again. */
int exa_ack(struct exa_dev *dev);

/* exa_ack(), and messages do not wake any more (but those with EXA_MBOX_IRQ). */
int exa_disarm(struct exa_dev *dev);

/*
 * Sleeps until a wake-up or @timeout_ms (negative: for ever), and does exa_ack().
 * 1: woken, 0: time-out.  When several threads wait, they may wake with a delay of
 * up to 1 ms and without cause.
 */
int exa_wait(struct exa_dev *dev, int timeout_ms);

/*
 * Tells the NIC that the caller has looked in vain for something that comes from a
 * link: mailbox, record, channel or memory.  The call takes up to 4 us, in which an
 * emulated NIC brings what has arrived without a detour through another thread.  For
 * loops that poll, after some vain turns; exa_recv(), exa_notify_wait() and the
 * blocking conveniences do so themselves.  Does nothing if the NIC cannot do it.
 */
void exa_poll_hint(struct exa_dev *dev);

/* Signals the eventfd @fd as well whenever exa_fd() becomes readable; -1: no more. */
int exa_eventfd(struct exa_dev *dev, int fd);

/* --- Blocking conveniences -------------------------------------------------- */

/*
 * RDMA write from start to end.  It ends by itself: a peer that is gone is noticed
 * by the retry limit.  @st may be NULL.
 */
int exa_write(struct exa_dev *dev, const struct exa_write_attr *attr,
	      struct exa_status *st);

/*
 * RDMA read from start to end; the notify fields of @attr are ignored.  After
 * -ETIMEDOUT (@timeout_ms, negative: none) data may still arrive in the buffer.
 */
int exa_read(struct exa_dev *dev, const struct exa_read_attr *attr,
	     int timeout_ms);

/* Sends a message of 1..64 bytes and waits until it is in the mailbox. */
int exa_send(struct exa_dev *dev, const struct exa_mbox_addr *to,
	     const void *buf, size_t len);

/*
 * Receives a message: copies up to @len bytes of it to @buf and returns its size
 * (which may be more than @len).  @origin (may be NULL) gets the whole entry.
 * Polls for a short while, then sleeps.  -ETIMEDOUT after @timeout_ms (negative:
 * for ever; 0: only look).
 */
int exa_recv(struct exa_mbox *mbox, void *buf, size_t len,
	     struct exanet_message *origin, int timeout_ms);

/* --- Memory of other nodes by load and store --------------------------------- */

/*
 * A segment shows memory of another node in this process.  Access it by volatile
 * objects of 1, 2, 4 or 8 bytes that are aligned to their size, never by memcpy() and
 * the like: it is device memory.  A load waits for the other node; one that fails
 * gives all-ones.  Stores to one node arrive in order and once each, those to different
 * nodes only with exa_fence() between them.  Loads see earlier stores.
 *
 * A CPU that waits for a node does nothing else, not even serve interrupts, until the
 * answer comes or the NIC gives up after seconds.  So memory of this very node is better
 * reached directly: a page fault there may need that CPU.
 *
 * Segments are few (exa_shm_query()) and shared by all processes of the node.  In a
 * child after fork() they are not mapped.
 */
enum exa_map_flags {
	EXA_MAP_READ		= 1 << 0,
	EXA_MAP_WRITE		= 1 << 1,
	EXA_MAP_EARLY		= 1 << 2,	/* a store is over when the NIC has it:
						 * exa_fence() tells whether it arrived */
};

/* What exa_shm_query() gives. */
struct exa_shm_attr {
	uint64_t aperture;	/* bytes for segments of all processes */
	uint64_t bram;		/* bytes of block RAM of this node */
	uint32_t segments;	/* that there may be, of all processes */
	uint32_t segments_used;
};

/* Describes that part of the NIC; -EOPNOTSUPP: it does not have it. */
int exa_shm_query(struct exa_dev *dev, struct exa_shm_attr *attr);

/*
 * Maps the @len bytes at @gva (exa_gva(), exa_bram_gva(); any alignment) of context
 * @dst_ctx of the same job.  NULL and errno: EINVAL, EACCES (NI space besides block
 * RAM), ENOSPC (no segment or no room in the aperture is left), EDQUOT (the user has
 * the maximum of segments or of the aperture per user), EOPNOTSUPP, EPERM.  The
 * function does not check the memory: the first access fails if the memory does not
 * exist or is protected.
 */
void *exa_map_remote(struct exa_dev *dev, uint64_t gva, size_t len,
		     unsigned int dst_ctx, unsigned int flags);

/* Ends what exa_map_remote() gave, with the same @len; else -EINVAL. */
int exa_unmap_remote(struct exa_dev *dev, void *addr, size_t len);

/*
 * Waits until all stores that this context has made by now are in the memory of their
 * nodes.  -EIO: a load, store or copy has failed since the last fence (the first one:
 * since exa_open()); -ETIMEDOUT: the NIC does not come to an end (a minute).
 */
int exa_fence(struct exa_dev *dev);

/* How many loads and stores have failed since exa_open(); wraps around. */
uint32_t exa_remote_errors(const struct exa_dev *dev);

/*
 * Sends signal @signo (0: none) to this process when a load or store has failed: a
 * store that was acknowledged early has no other way to tell.
 */
int exa_error_signal(struct exa_dev *dev, int signo);

enum exa_copy_flags {
	EXA_COPY_SRC_REMOTE	= 1 << 0,	/* src is a GVA */
	EXA_COPY_DST_REMOTE	= 1 << 1,	/* dst is a GVA */
};

/* Each address: a pointer, cast to uintptr_t, or a GVA; any alignment. */
struct exa_copy_attr {
	uint64_t src;
	uint64_t dst;
	uint64_t len;		/* not 0 */
	uint32_t dst_ctx;	/* of what is remote */
	uint32_t flags;		/* enum exa_copy_flags */
};

/*
 * Copies by the central DMA of the NIC, in the kernel, and waits for the end.  The
 * status is as that of a write.
 */
int exa_cdma_copy(struct exa_dev *dev, const struct exa_copy_attr *attr);

/*
 * The block RAM of this node, which all its processes and those of other nodes share:
 * slow, but the nearest that there is.  Accesses as to a segment.  Mapped once; it lasts
 * until exa_close().  @len (may be NULL) gets its bytes.  NULL and errno: EACCES (the
 * administrator does not let), EOPNOTSUPP (there is none), EPERM.
 */
void *exa_bram(struct exa_dev *dev, size_t *len);

/* The GVA of the block RAM of node @coord, for exa_map_remote() and copies. */
static inline uint64_t exa_bram_gva(uint32_t coord)
{
	return exa_gva(coord, EXANET_NI_VA(EXANET_NI_BRAM));
}

/* --- Accelerator ------------------------------------------------------------- */

/* Arrays of a job that are in memory of a node, not in the block RAM of this one. */
enum exa_accel_remote {
	EXA_ACCEL_MATRIX	= 1 << 0,
	EXA_ACCEL_X		= 1 << 1,
	EXA_ACCEL_Y		= 1 << 2,
	EXA_ACCEL_MAP1		= 1 << 3,
	EXA_ACCEL_MAP2		= 1 << 4,
	EXA_ACCEL_CELLS		= 1 << 5,
	EXA_ACCEL_ALL		= (1 << 6) - 1,
};

/*
 * A matrix-vector update y += matrix * x, cell by cell; rnic/exanet/shm.h defines it.
 * Addresses: GVAs where @remote says so (this node's own, too), else offsets in the
 * block RAM of this node.
 */
struct exa_accel_job {
	uint64_t matrix;	/* doubles [cell][layer][df1][df2] */
	uint64_t x;		/* doubles */
	uint64_t y;		/* doubles */
	uint64_t map1;		/* uint32_t [cell][df1]: where a column of y begins */
	uint64_t map2;		/* uint32_t [cell][df2]: ... of x */
	uint64_t cells;		/* uint32_t: the cells of one colour */
	uint32_t ndf1;		/* 1..64 */
	uint32_t ndf2;		/* 1..64 */
	uint32_t nlayers;	/* 1..256 */
	uint32_t ncells;	/* of cells */
	uint32_t remote;	/* enum exa_accel_remote */
	uint32_t dst_ctx;	/* of what is remote */
	/* out */
	uint64_t ops;		/* multiply-adds */
	uint64_t bytes;		/* loaded and stored */
	uint64_t ns;		/* virtual time of the job */
	uint64_t err_addr;	/* where it failed */
};

/*
 * Does a job on the accelerator beside the NIC, which all processes share, and waits
 * for its end: then all of y is in memory.  The status is as that of a write.
 */
int exa_accel(struct exa_dev *dev, struct exa_accel_job *job);

#ifdef __cplusplus
}
#endif

#endif /* LIBEXANET_H */

/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * libexanet: user-level access to the ExaNet NIC.
 *
 * An exa_dev is one context of one NIC: a set of channels that only this process can
 * use, without system calls.  Memory is never registered or pinned: any valid address
 * of the process may be a source or a destination.
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
 * with the coordinates of its node: exa_gva().  A transfer needs the GVA and the
 * context number of its target; the hardware adds the job and checks it.
 *
 * Return values.  Functions return 0, a count or a channel number, or a negative
 * errno; exa_strerror() returns a text for it.  The status of a transfer is:
 *
 *   -EFAULT      a page of the source or destination is missing
 *   -ENXIO       the address is not one of that process (no window, or no unit of
 *                the NIC has it)
 *   -EACCES      the context has another job or is not open, or the page is read-only
 *   -ENOBUFS     mailbox full or not enabled, or queue of read requests full
 *   -EBUSY       no receiver context was free until the retry limit
 *   -EIO         payload CRC errors until the retry limit, or unknown code
 *   -EINVAL      request is malformed: length, alignment, address range
 *   -ETIMEDOUT   retry limit: no answer came
 *   -ECANCELED   context was closed or the device was reset
 *   -EOPNOTSUPP  the NIC has no aperture
 * Functions also return -EAGAIN (all channels busy), -EINPROGRESS (not done yet),
 * -EPERM (child after fork(), which must open its own), -ERANGE (buffer crosses a
 * 512-GB boundary), -ENOSPC (more than seven windows of 512 GB in use; no segment left).
 *
 * Threads.  All functions on one exa_dev may be called from several threads
 * without further locking, except that
 *  - a channel belongs to its user from post until a test that does not return
 *    -EINPROGRESS; two threads must not test the same channel;
 *  - a mailbox has one consumer: peek, pop, recv and destroy of one mailbox must
 *    not run at the same time;
 *  - exa_close() is the last call.
 * The functions that take a channel use no locks.  Only functions that make system
 * calls use locks.
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

/* The result of exa_query(), in host byte order. */
struct exa_attr {
	uint32_t coord;		/* own coordinates, EXANET_COORD_ */
	uint32_t pdid;		/* own PDID: job and context */
	uint32_t job;		/* 1..4095 */
	uint32_t ctx;		/* own context, 0..15: other nodes need it */
	uint32_t page_size;	/* bytes of a user page */
	uint32_t cap0;		/* EXANET_CAP0_ of rnic/exanet/regs.h */
	uint32_t cap1;		/* EXANET_CAP1_ */
	uint32_t link_up;	/* bit p: port p was up at the time of the call */
};

/*
 * Opens a NIC and takes one of its contexts.  @name is "exanet1", "1" or a path;
 * NULL: the environment's EXANET_DEVICE, else exanet0.  The context is in the job
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
 * Gives the context back.  Aborts transfers in flight, and destroys mailboxes.  @dev
 * may be NULL.  In a child after fork() the function only frees memory.
 */
void exa_close(struct exa_dev *dev);

/* Stores the present state of device and context in @attr, by a system call. */
int exa_query(struct exa_dev *dev, struct exa_attr *attr);

/* Return the own coordinates and context, without a system call. */
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

/* Returns the virtual time of the NIC in ns, the clock of struct exanet_message.time. */
uint64_t exa_time(const struct exa_dev *dev);

/* Returns a static text for @err, negative or not; never NULL. */
const char *exa_strerror(int err);

/* --- Addresses ------------------------------------------------------------ */

/*
 * Stores the xva of the @len bytes at @ptr in @xva.  Other nodes may then access them.
 * The first use of a window of 512 GB makes a system call, later ones do not.  @len may
 * be 0.  Memory need not be mapped yet.  -ERANGE, -ENOSPC: see above.
 */
int exa_xva(struct exa_dev *dev, const void *ptr, size_t len, uint64_t *xva);

/* Returns the GVA of @xva at node @coord. */
static inline uint64_t exa_gva(uint32_t coord, uint64_t xva)
{
	return RNIC_PREP(EXANET_GVA_COORD, coord) | (xva & EXANET_GVA_VA);
}

/* Returns the GVA of mailbox @mbox at node @coord, for members notify_gva. */
static inline uint64_t exa_mbox_gva(uint32_t coord, unsigned int mbox)
{
	return exa_gva(coord, EXANET_NI_VA(EXANET_NI_MAILBOX) |
			      RNIC_PREP(EXANET_VA_MAILBOX, mbox));
}

/* --- RDMA write ----------------------------------------------------------- */

/* Details of an operation that has ended. */
struct exa_status {
	int error;		/* 0 or negative errno */
	uint32_t code;		/* enum exanet_resp or exanet_channel_error */
	uint32_t retries;	/* blocks or packets retransmitted */
	uint32_t bytes;		/* bytes acked; RDMA write only */
	uint32_t ns;		/* time from start to end; RDMA write only */
};

enum exa_write_flags {
	EXA_WRITE_NOTIFY	= 1 << 0,	/* notify at notify_gva */
	EXA_WRITE_NOTIFY_IRQ	= 1 << 1,	/* with NOTIFY: exa_fd() of the target's
						 * process becomes readable, too */
	EXA_WRITE_WAKE		= 1 << 2,	/* exa_fd() of this device becomes
						 * readable when done or failed */
	EXA_WRITE_MULTIPATH	= 1 << 3,	/* the NIC may choose the path */
};

struct exa_write_attr {
	const void *src;	/* own memory, any alignment */
	uint64_t dst_gva;	/* GVA of the destination; exa_gva() */
	uint32_t len;		/* 1..EXA_LEN_MAX bytes */
	uint32_t dst_ctx;	/* context of the target */
	uint64_t notify_gva;	/* on the target's node and in its context: a
				 * 16-B aligned struct exanet_notification, or
				 * exa_mbox_gva() */
	uint64_t notify_data;	/* any value, which the notification carries */
	uint32_t flags;		/* enum exa_write_flags */
	uint32_t path;		/* path hint, 0..31 */
};

/*
 * Starts an RDMA write; the notification becomes visible after all the data.
 * Writes are not ordered with each other nor with messages.  @attr is not used
 * after the call; the source must not change until the test.  Returns a channel,
 * -EAGAIN if all are busy, or -EINVAL.
 */
int exa_write_post(struct exa_dev *dev, const struct exa_write_attr *attr);

/*
 * Tests a channel of exa_write_post().  Returns -EINPROGRESS; or 0 (all bytes are in
 * the target's memory) or the error, and the channel is free again.  @st may be NULL.
 */
int exa_write_test(struct exa_dev *dev, int channel, struct exa_status *st);

/* --- Packetizer: messages, small writes, read requests ---------------------- */

/* The mailbox to which a message goes. */
struct exa_mbox_addr {
	uint32_t coord;		/* coordinates of its node */
	uint8_t ctx;		/* context of its owner, 0..15 */
	uint8_t mbox;		/* 0..3 */
	uint16_t reserved;	/* zero */
};

enum exa_msg_flags {
	EXA_MSG_UNRELIABLE	= 1 << 0,	/* sent once, never acked: may be lost,
						 * and the test returns 0 */
};

/*
 * Sends the @len (1..64) bytes at @buf to a mailbox.  The caller may change @buf after
 * the return.  A message may overtake an earlier message that is not acked yet.
 * Returns a packetizer channel for exa_msg_test(), -EAGAIN if all are busy, or -EINVAL.
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
 * Tests a packetizer channel.  Returns -EINPROGRESS; or 0 (acked: the message is in the
 * ring, the bytes in memory, the read request in the queue) or the error, and the
 * channel is free again.  @st may be NULL.  If the mailbox is full, the device
 * retransmits the message until its retry limit, then the result is -ENOBUFS.
 */
int exa_msg_test(struct exa_dev *dev, int channel, struct exa_status *st);

enum exa_read_flags {
	EXA_READ_NOTIFY_IRQ	= 1 << 0,	/* exa_fd() becomes readable at the
						 * end of the read */
};

struct exa_read_attr {
	void *dst;		/* own memory, any alignment */
	uint64_t src_va;	/* plain VA at the data owner, not an xva */
	uint32_t src_coord;	/* node of the data owner */
	uint32_t src_ctx;	/* context of the data owner */
	uint32_t len;		/* 1..EXA_LEN_MAX bytes */
	uint32_t flags;		/* enum exa_read_flags */
	struct exanet_notification *notify;	/* record for the end of the read, own
				 * memory, 16-B aligned; NULL: a message to
				 * mailbox notify_mbox instead */
	uint32_t notify_mbox;	/* 0..3, if notify is NULL */
	uint64_t notify_data;	/* any value, which the notification carries */
	uint64_t tag;		/* any value, for traces only */
};

/*
 * Requests that another node writes a part of its memory here.  Clears @attr->notify.
 * Returns a packetizer channel: exa_msg_test() returns 0 when the request has arrived, or
 * the error if it has not.  The notification reports the end of the read; until then
 * the data and the record belong to the NIC.
 */
int exa_read_post(struct exa_dev *dev, const struct exa_read_attr *attr);

/* --- Notifications in memory ------------------------------------------------ */

/* Prepares a record, which must be 16-B aligned, for the next notification. */
void exa_notify_clear(struct exanet_notification *rec);

/*
 * Tests a record.  Returns -EINPROGRESS; 0: all data has arrived; or the error of a read
 * that the data owner could not serve.  Stores notify_data in @data, which may be NULL.
 */
int exa_notify_test(const struct exanet_notification *rec, uint64_t *data);

/*
 * Waits for a notification, at most @timeout_ms (negative: for ever).  Returns as
 * exa_notify_test(), or -ETIMEDOUT.  The function polls; after a while it sleeps for
 * short times.  Because the record does not name a NIC, the function calls
 * exa_poll_hint() for all NICs that this process has open, in turn, except those that
 * were removed or reset.
 */
int exa_notify_wait(const struct exanet_notification *rec, uint64_t *data,
		    int timeout_ms);

/* Returns the status of a notification that came as a message: 0 or negative errno. */
int exa_notify_error(const struct exanet_notification *rec);

/* --- Mailboxes -------------------------------------------------------------- */

enum exa_mbox_flags {
	EXA_MBOX_IRQ		= 1 << 0,	/* exa_fd() becomes readable with each
						 * message, always; without it only
						 * between exa_arm() and exa_disarm() */
};

/*
 * Enables mailbox @nr (0..3) with a ring of 2^@log2 (1..16) entries.  The NIC may refuse
 * messages when three quarters of them are unread.  -EBUSY: the mailbox exists.
 */
int exa_mbox_create(struct exa_dev *dev, unsigned int nr, unsigned int log2,
		    uint32_t flags, struct exa_mbox **mbox);

/*
 * Disables and frees the mailbox, which may be NULL.  Its unread messages are lost.
 * Later senders get -ENOBUFS.
 */
void exa_mbox_destroy(struct exa_mbox *mbox);

/* Returns the oldest unread message, valid until exa_mbox_pop(), or NULL. */
const struct exanet_message *exa_mbox_peek(struct exa_mbox *mbox);

/*
 * Removes the message of the last successful peek.  The NIC gets the entries back in
 * groups of up to a quarter of the ring.
 */
void exa_mbox_pop(struct exa_mbox *mbox);

/*
 * Stores how many messages were refused: in @full because the ring was full or disabled,
 * in @fault because a page of the ring was missing.  Both may be NULL.
 */
void exa_mbox_rejected(const struct exa_mbox *mbox, uint32_t *full,
		       uint32_t *fault);

/*
 * Return the sender, the size in bytes and the kind (enum exanet_type) of a message.  The
 * sender of a notification (EXANET_TYPE_NOTIFY) is the receiver's own NIC, in the name of
 * the receiver's own context.  If the receiver needs to know the writer, the writer must
 * name itself in notify_data.
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
 * To sleep without a lost wake-up:
 *
 *	exa_arm(dev);
 *	while (!(work = test mailboxes, channels, records))
 *		exa_wait(dev, timeout);
 *	exa_disarm(dev);
 *
 * An event after exa_arm() makes the descriptor readable; the test finds earlier ones.  A
 * wake-up without cause is possible.  The events are: messages; the end of RDMA writes of
 * this process with EXA_WRITE_WAKE; notifications in records with ..._NOTIFY_IRQ.  A
 * packetizer channel has no event.  In a poll loop of another library: exa_arm(), test,
 * poll exa_fd(), exa_disarm() (or exa_ack(), after which messages still wake).
 */

/*
 * Returns a descriptor for poll(): POLLIN after an event.  The caller must not read()
 * it.
 */
int exa_fd(const struct exa_dev *dev);

/*
 * From now on a message in any mailbox is an event.  A further call has no effect, and
 * takes only a lock.
 */
int exa_arm(struct exa_dev *dev);

/* Makes exa_fd() unreadable until the next event. */
int exa_ack(struct exa_dev *dev);

/* Does exa_ack(), and undoes exa_arm(): only mailboxes with EXA_MBOX_IRQ wake. */
int exa_disarm(struct exa_dev *dev);

/*
 * Sleeps until an event, or for @timeout_ms (negative: for ever), and does exa_ack().
 * Returns 1 after an event, 0 after the time-out.  If several threads wait, they may wake
 * up to 1 ms later, and without an event.
 */
int exa_wait(struct exa_dev *dev, int timeout_ms);

/*
 * Informs the NIC that the caller polls for an event of a link: mailbox, record,
 * channel or memory.  The call takes up to 4 us.  An emulated NIC uses this time to
 * take frames in the thread of the caller, because a wake-up of another thread takes
 * longer.  Loops that poll should call this after some polls; exa_recv(),
 * exa_notify_wait() and the blocking functions do.  Does nothing if the NIC does not
 * have this function.
 */
void exa_poll_hint(struct exa_dev *dev);

/* Makes each event also signal the eventfd @fd.  @fd -1 ends this. */
int exa_eventfd(struct exa_dev *dev, int fd);

/* --- Blocking functions ----------------------------------------------------- */

/*
 * Does an RDMA write from start to end.  If the target's node does not answer, the
 * function returns at the retry limit.  @st may be NULL.
 */
int exa_write(struct exa_dev *dev, const struct exa_write_attr *attr,
	      struct exa_status *st);

/*
 * Does an RDMA read from start to end; ignores the notify members of @attr.  After
 * -ETIMEDOUT (@timeout_ms; negative: none) data may still arrive in the buffer.
 */
int exa_read(struct exa_dev *dev, const struct exa_read_attr *attr,
	     int timeout_ms);

/* Sends a message of 1..64 bytes and waits until it is in the mailbox. */
int exa_send(struct exa_dev *dev, const struct exa_mbox_addr *to,
	     const void *buf, size_t len);

/*
 * Receives a message: copies up to @len bytes of it to @buf and returns its size
 * (which may be more than @len).  Stores the whole entry in @origin, which may be NULL.
 * Polls for a short time, then sleeps.  -ETIMEDOUT after @timeout_ms (negative: for ever;
 * 0: polls once).
 */
int exa_recv(struct exa_mbox *mbox, void *buf, size_t len,
	     struct exanet_message *origin, int timeout_ms);

/* --- Memory of other nodes by load and store --------------------------------- */

/*
 * A segment shows memory of another node in this process.  Access it by volatile
 * objects of 1, 2, 4 or 8 bytes that are aligned to their size, never by functions such
 * as memcpy(), because a segment is device memory.  A load waits for the other node; a
 * load that fails returns all-ones.  Stores to one node arrive in order and once each;
 * stores to different nodes arrive in order only with exa_fence() between them.  Loads
 * see earlier stores.
 *
 * A CPU whose load waits for a node does nothing else, not even serve interrupts, until
 * the answer comes or the NIC fails the load after seconds.  So access memory of this
 * very node directly, because a page fault there may need the CPU that waits.
 *
 * A NIC has few segments (exa_shm_query()), which all processes of the node share.  In
 * a child after fork() they are not mapped.
 */
enum exa_map_flags {
	EXA_MAP_READ		= 1 << 0,
	EXA_MAP_WRITE		= 1 << 1,
	EXA_MAP_EARLY		= 1 << 2,	/* a store ends when the NIC has it;
						 * exa_fence() reports failures */
};

/* The result of exa_shm_query(). */
struct exa_shm_attr {
	uint64_t aperture;	/* bytes for segments of all processes */
	uint64_t bram;		/* bytes of block RAM of this node */
	uint32_t segments;	/* maximal number for all processes together */
	uint32_t segments_used;	/* segments in use by all processes together */
};

/* Stores the state of the aperture in @attr; -EOPNOTSUPP: the NIC has none. */
int exa_shm_query(struct exa_dev *dev, struct exa_shm_attr *attr);

/*
 * Maps the @len bytes at @gva (exa_gva(), exa_bram_gva(); any alignment) of context
 * @dst_ctx of the same job.  Returns NULL and sets errno: EINVAL, EACCES (NI space
 * besides block RAM), ENOSPC (no segment or no room in the aperture is left), EDQUOT (the
 * user has the maximum of segments or of the aperture per user), EOPNOTSUPP, EPERM.  The
 * function does not check the memory: the first access fails if the memory does not
 * exist or is protected.
 */
void *exa_map_remote(struct exa_dev *dev, uint64_t gva, size_t len,
		     unsigned int dst_ctx, unsigned int flags);

/* Unmaps @addr of exa_map_remote(); @len must be the same, else -EINVAL. */
int exa_unmap_remote(struct exa_dev *dev, void *addr, size_t len);

/*
 * Waits until all earlier stores of this context are in the memory of their nodes.  -EIO:
 * a load, store or copy has failed since the last fence (the first fence: since
 * exa_open()); -ETIMEDOUT: stores are still under way after a minute.
 */
int exa_fence(struct exa_dev *dev);

/* Returns how many loads and stores have failed since exa_open(); wraps around. */
uint32_t exa_remote_errors(const struct exa_dev *dev);

/*
 * Makes a failed load or store send signal @signo (0: none) to this process.  Stores with
 * EXA_MAP_EARLY need this, because they end before they fail.
 */
int exa_error_signal(struct exa_dev *dev, int signo);

enum exa_copy_flags {
	EXA_COPY_SRC_REMOTE	= 1 << 0,	/* src is a GVA */
	EXA_COPY_DST_REMOTE	= 1 << 1,	/* dst is a GVA */
};

/* An address is a pointer, cast to uintptr_t, or a GVA; it may have any alignment. */
struct exa_copy_attr {
	uint64_t src;
	uint64_t dst;
	uint64_t len;		/* not 0 */
	uint32_t dst_ctx;	/* context of the remote side */
	uint32_t flags;		/* enum exa_copy_flags */
};

/*
 * Copies by the central DMA of the NIC, through the driver, and waits for the end.
 * Returns 0, or a negative errno as the status of an RDMA write.
 */
int exa_cdma_copy(struct exa_dev *dev, const struct exa_copy_attr *attr);

/*
 * Maps the block RAM of this node, which all processes of all nodes share.  The mapping
 * lasts until exa_close(), and each call returns the same.  Access it as a segment.
 * Stores its number of bytes in @len, which may be NULL.  Returns NULL and sets errno:
 * EACCES (the administrator does not allow it), EOPNOTSUPP (the NIC has none), EPERM.
 */
void *exa_bram(struct exa_dev *dev, size_t *len);

/* Returns the GVA of the block RAM of node @coord, for exa_map_remote() and copies. */
static inline uint64_t exa_bram_gva(uint32_t coord)
{
	return exa_gva(coord, EXANET_NI_VA(EXANET_NI_BRAM));
}

/* --- Accelerator ------------------------------------------------------------- */

/* Arrays of a job that are named by GVAs; the others are in block RAM of this node. */
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
 * Addresses are GVAs (also of this node) for the arrays in @remote, else offsets in the
 * block RAM of this node.
 */
struct exa_accel_job {
	uint64_t matrix;	/* doubles [cell][layer][df1][df2] */
	uint64_t x;		/* doubles */
	uint64_t y;		/* doubles */
	uint64_t map1;		/* uint32_t [cell][df1]: start of a column of y */
	uint64_t map2;		/* uint32_t [cell][df2]: start of a column of x */
	uint64_t cells;		/* uint32_t: the cells of one colour */
	uint32_t ndf1;		/* rows of a matrix, 1..64 */
	uint32_t ndf2;		/* columns of a matrix, 1..64 */
	uint32_t nlayers;	/* 1..256 */
	uint32_t ncells;	/* number of entries of cells */
	uint32_t remote;	/* enum exa_accel_remote */
	uint32_t dst_ctx;	/* context of the arrays in remote */
	/* out: set by exa_accel() */
	uint64_t ops;		/* multiply-adds */
	uint64_t bytes;		/* bytes loaded and stored */
	uint64_t ns;		/* virtual time of the job */
	uint64_t err_addr;	/* address at which the job failed */
};

/*
 * Runs a job on the accelerator beside the NIC, which all processes share, and waits
 * until all of y is in memory.  Returns 0, or a negative errno as the status of an RDMA
 * write.  Fills the members behind "out" in both cases.
 */
int exa_accel(struct exa_dev *dev, struct exa_accel_job *job);

#ifdef __cplusplus
}
#endif

#endif /* LIBEXANET_H */

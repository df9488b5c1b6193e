/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * libexanet: user-level access to the ExaNet NIC.
 *
 * An exa_dev is one context of one NIC: a set of channels that only this process can
 * use, without system calls.  A program need not register or pin memory: any address of
 * its ordinary memory may be a source or a destination.
 *
 *   write channels      32   RDMA writes, 1 byte to 4 GiB - 1   exa_write_post()
 *   packetizer channels 16   messages, small writes, read requests
 *                            exa_msg_post() exa_put_small() exa_read_post()
 *   mailboxes            4   rings that receive messages         exa_mbox_create()
 *   segments                 memory of other nodes by load and store
 *                            exa_map_remote()
 *
 * Addresses.  A VA is an ordinary pointer.  An xva is the 42-bit form by which
 * other nodes name memory of this process: exa_xva().  A GVA is an xva together
 * with the coordinates of its node: exa_gva().  A transfer needs the GVA and the
 * context number of its target.  The NIC adds the job of this context, and the target's
 * NIC refuses the transfer if the target's context has another job.
 *
 * Return values.  Functions of type int return 0, a count, a channel number or a
 * descriptor, or a negative errno; exa_strerror() returns a text for an errno.  The result
 * of a transfer is 0 or one of these:
 *
 *   -EFAULT      a page of the source is missing, or a page of the destination was still
 *                missing or read-only at the retry limit
 *   -ENXIO       an address is in no window of its context, or not in ordinary memory (at the
 *                destination: not in writable memory), and in no unit of the target's NIC
 *   -EACCES      the target's context has another job or is not open, or one of the two
 *                contexts has a local job and the nodes differ
 *   -ENOBUFS     the mailbox is full or not enabled, the target's NIC has no room for the
 *                read request, or the sending NIC has no room for another message
 *   -EBUSY       the target's NIC had no receiver context, or no room for this sender, until
 *                the retry limit
 *   -EIO         payload CRC errors until the retry limit, or another error of the NIC
 *   -EINVAL      the request is malformed: length, alignment, address range;
 *                or the context has as many writes under way as its quota permits
 *   -ETIMEDOUT   no answer came until the retry limit, or the NIC has no room for another
 *                target node
 *   -ECANCELED   the context, or the context of a read's data owner, was closed, or the
 *                device was reset
 *
 * Other errors of functions:
 *
 *   -EAGAIN      all channels of the context are busy
 *   -EINPROGRESS the transfer has not ended yet
 *   -EPERM       the caller is a child after fork(), which must call exa_open() itself
 *   -ERANGE      the buffer crosses a 512-GB boundary
 *   -ENOSPC      all seven windows of 512 GB are in use, or no segment or no room in the
 *                aperture is left
 *   -EOPNOTSUPP  the NIC has no aperture or no block RAM
 *   -ENODEV      the NIC was removed or reset
 *
 * Threads.  All functions on one exa_dev may be called from several threads
 * without further locking, except that
 *  - a channel belongs to the caller of its post function, until a test function
 *    returns another value than -EINPROGRESS; two threads must not test the same
 *    channel at the same time;
 *  - a mailbox has one consumer: exa_mbox_peek(), exa_mbox_pop(), exa_recv() and
 *    exa_mbox_destroy() of one mailbox must not run at the same time;
 *  - exa_mbox_destroy() is the last call for its exa_mbox, and exa_close() for its exa_dev.
 * The functions that post to a channel or test a channel use no locks.
 *
 * Costs.  Each 8-byte store to the NIC leaves the guest.  So, except for the word that starts
 * a channel, the library does not store unchanged words of a channel again, and a request
 * that is similar to the previous request of the channel is cheaper.  The functions that
 * test channels, records or mailboxes only read memory, and do not leave the guest.
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

#define EXA_MSG_MAX	EXANET_PKTZ_PAYLOAD_MAX	/* maximal number of bytes of a message, 64 */
#define EXA_PUT_BOUNDARY EXANET_MTU	/* 256; the bytes of exa_put_small() must not cross
					 * an address that is a multiple of 256 */
#define EXA_LEN_MAX	0xffffffffU	/* maximal number of bytes of an RDMA write or read */

struct exa_dev;
struct exa_mbox;

/* --- Device --------------------------------------------------------------- */

/* The result of exa_query(), in host byte order. */
struct exa_attr {
	uint32_t coord;		/* coordinates of this node, fields EXANET_COORD_* */
	uint32_t pdid;		/* PDID of this context: job and context number */
	uint32_t job;		/* number of this context's job, 1..4095 */
	uint32_t ctx;		/* number of this context, 0..15; another context must know the
				 * number for a transfer to this context */
	uint32_t page_size;	/* bytes of a user page */
	uint32_t cap0;		/* fields EXANET_CAP0_* of rnic/exanet/regs.h */
	uint32_t cap1;		/* bits EXANET_CAP1_* of rnic/exanet/regs.h */
	uint32_t link_up;	/* bit p: the link of port p was up at the time of the call */
};

/*
 * Opens a NIC, binds one of its contexts to this process, and stores the new exa_dev in
 * @dev.  @name is "exanet1", "1" or a path; NULL: the value of the environment variable
 * EXANET_DEVICE, or exanet0 if this variable is not set or empty.  The context is in the
 * job whose number is in the environment variable EXANET_JOB, or in the user's default job
 * if this variable is not set or empty.  A program with raised privileges (AT_SECURE of
 * getauxval(3)) ignores EXANET_DEVICE and EXANET_JOB.  Returns 0, another negative errno, or:
 *
 *   -ENODEV, -ENOENT  no such device
 *   -EBUSY            all contexts of the NIC, or all local jobs of the node, are in use
 *   -EDQUOT           the user has the maximal number of contexts that a user may have
 *   -EACCES           the user may not open the file, or the NIC has no local jobs and
 *                     the user has no named job
 *   -EPERM            the user may not use the job of EXANET_JOB
 *   -EINVAL           EXANET_JOB is not the number of a job
 *   -EPROTO           driver and library have different versions, or the file is not an
 *                     ExaNet device
 *
 * When the NIC is removed from a running machine, functions that access this NIC return
 * -ENODEV or end in SIGBUS.
 */
int exa_open(const char *name, struct exa_dev **dev);

/*
 * Destroys mailboxes, unmaps segments and block RAM, closes the descriptor, and frees @dev,
 * which may be NULL.  Children after fork() have copies of the descriptor.  The driver
 * aborts transfers in flight, and frees the context, when all copies are closed, or when
 * this process has ended.  In a child the function only closes the child's copy and frees
 * memory of the child.
 */
void exa_close(struct exa_dev *dev);

/* Stores the present state of NIC and context in @attr, by a system call. */
int exa_query(struct exa_dev *dev, struct exa_attr *attr);

/*
 * Return the coordinates of this node, and the number of this context, at the time of
 * exa_open().  The functions make no system call.
 */
uint32_t exa_coord(const struct exa_dev *dev);
uint32_t exa_ctx(const struct exa_dev *dev);

/*
 * Puts the context into a job that root has granted to the user (exanet-job(8)), or into
 * the default job that exa_open() found for the user.  Only contexts of the same job can
 * communicate.  -EPERM: @job is another job, and the caller has no CAP_SYS_ADMIN; -EINVAL:
 * @job is 0 or above 4095, or the caller has CAP_SYS_ADMIN and @job is not a named job;
 * -EBUSY: the context has segments, or a copy or a job of the accelerator is under way.
 */
int exa_job_set(struct exa_dev *dev, uint32_t job);

/*
 * Returns the virtual time of the NIC in ns, or 0 in a child after fork().  Member time of
 * struct exanet_message is a time of the same clock.
 */
uint64_t exa_time(const struct exa_dev *dev);

/* Returns a static text, never NULL, for the errno @err, which may be negative. */
const char *exa_strerror(int err);

/* --- Addresses ------------------------------------------------------------ */

/*
 * Stores the xva of the @len bytes at @ptr in @xva.  From then on contexts of the same job
 * may access the whole window of 512 GB that contains the bytes; contexts of other nodes
 * only if the job is a named job.  The first call for a window makes a system call, later
 * calls do not.  @len may be 0.  The memory need not be mapped yet.  -ERANGE, -ENOSPC: see
 * the list at the top of this file.
 */
int exa_xva(struct exa_dev *dev, const void *ptr, size_t len, uint64_t *xva);

/* Returns the GVA of @xva at the node with coordinates @coord. */
static inline uint64_t exa_gva(uint32_t coord, uint64_t xva)
{
	return RNIC_PREP(EXANET_GVA_COORD, coord) | (xva & EXANET_GVA_VA);
}

/*
 * Returns the GVA of mailbox @mbox (0..3) at the node with coordinates @coord, for
 * example for exa_write_attr.notify_gva.
 */
static inline uint64_t exa_mbox_gva(uint32_t coord, unsigned int mbox)
{
	return exa_gva(coord, EXANET_NI_VA(EXANET_NI_MAILBOX) |
			      RNIC_PREP(EXANET_VA_MAILBOX, mbox));
}

/* --- RDMA write ----------------------------------------------------------- */

/* Details of a transfer that has ended. */
struct exa_status {
	int error;		/* 0 or negative errno */
	uint32_t code;		/* enum exanet_resp or exanet_channel_error */
	uint32_t retries;	/* retransmissions: of blocks (RDMA write), at most 65535; of
				 * the packet (packetizer channel), at most 255 */
	uint32_t bytes;		/* number of acked bytes; RDMA write only */
	uint32_t ns;		/* ns from start to end of the transfer, at most 2^32 - 1; RDMA
				 * write only */
};

enum exa_write_flags {
	EXA_WRITE_NOTIFY	= 1 << 0,	/* the target's NIC stores a notification at
						 * notify_gva when all bytes have arrived */
	EXA_WRITE_NOTIFY_IRQ	= 1 << 1,	/* with NOTIFY: exa_fd() of the target's
						 * process becomes readable, too */
	EXA_WRITE_WAKE		= 1 << 2,	/* exa_fd() of this device becomes
						 * readable when the write has ended */
	EXA_WRITE_MULTIPATH	= 1 << 3,	/* the NIC may choose all paths, not only those
						 * of retransmissions */
};

struct exa_write_attr {
	const void *src;	/* source in own memory, any alignment */
	uint64_t dst_gva;	/* GVA of the destination, by exa_gva() */
	uint32_t len;		/* 1..EXA_LEN_MAX bytes */
	uint32_t dst_ctx;	/* context of the target */
	uint64_t notify_gva;	/* destination of the notification: GVA of a 16-B aligned struct
				 * exanet_notification, or exa_mbox_gva(), at the target's node
				 * and in the target's context */
	uint64_t notify_data;	/* any value; copied to the notification */
	uint32_t flags;		/* enum exa_write_flags */
	uint32_t path;		/* path hint, 0..31 */
};

/*
 * Starts an RDMA write.  The notification becomes visible after all data of the write.
 * RDMA writes are not ordered with each other nor with messages.  The caller may change @attr
 * after the return.  The source must not change until exa_write_test() reports the end.
 * Returns the number of a write channel for exa_write_test(), -EAGAIN if all channels are
 * busy, -EINVAL or -EPERM.
 */
int exa_write_post(struct exa_dev *dev, const struct exa_write_attr *attr);

/*
 * Tests write channel @channel of exa_write_post().  Returns -EINPROGRESS, 0 (all bytes are
 * in the target's memory), the error of the write, -EINVAL if the channel is not in use, or
 * -EPERM.  After 0 or the error of the write, the channel is free again, and @st, which may
 * be NULL, has the details.
 */
int exa_write_test(struct exa_dev *dev, int channel, struct exa_status *st);

/* --- Packetizer: messages, small writes, read requests ---------------------- */

/* The address of a mailbox. */
struct exa_mbox_addr {
	uint32_t coord;		/* coordinates of the mailbox's node */
	uint8_t ctx;		/* context that has the mailbox, 0..15 */
	uint8_t mbox;		/* number of the mailbox, 0..3 */
	uint16_t reserved;	/* zero */
};

enum exa_msg_flags {
	EXA_MSG_UNRELIABLE	= 1 << 0,	/* the NIC sends the message once, and
						 * exa_msg_test() returns 0 even if
						 * the message is lost */
};

/*
 * Sends the @len (1..64) bytes at @buf to mailbox @to.  The caller may change @buf after
 * the return.  A message may overtake an earlier message that is not acked yet.  @flags
 * is enum exa_msg_flags.  Returns the number of a packetizer channel for exa_msg_test(),
 * -EAGAIN if all channels are busy, -EINVAL or -EPERM.
 */
int exa_msg_post(struct exa_dev *dev, const struct exa_mbox_addr *to,
		 const void *buf, size_t len, uint32_t flags);

/*
 * Writes the @len (1..64) bytes at @buf to @dst_gva in memory of context @ctx.  The
 * destination must not cross a multiple of 256, because all bytes are in one packet.
 * Returns the number of a packetizer channel for exa_msg_test(), -EAGAIN if all channels
 * are busy, -EINVAL or -EPERM.
 */
int exa_put_small(struct exa_dev *dev, uint64_t dst_gva, uint32_t ctx,
		  const void *buf, size_t len);

/*
 * Tests packetizer channel @channel.  Returns -EINPROGRESS; 0: the message is in the
 * mailbox, the small write is in memory, or the read request is in the queue of the data
 * owner's NIC (with EXA_MSG_UNRELIABLE: the NIC has sent the message); the error of the
 * message, write or request; -EINVAL if the channel is not in use; or -EPERM.  After 0 or
 * the error of the message, write or request, the channel is free again, and @st, which may
 * be NULL, has the details.  If the mailbox stays full, the NIC retransmits the message for
 * ten seconds, and the error is -ENOBUFS.
 */
int exa_msg_test(struct exa_dev *dev, int channel, struct exa_status *st);

enum exa_read_flags {
	EXA_READ_NOTIFY_IRQ	= 1 << 0,	/* exa_fd() of this device becomes readable at
						 * the end of the read; without this flag only
						 * if the data owner could not serve the read,
						 * or if a message in notify_mbox is an event */
};

struct exa_read_attr {
	void *dst;		/* destination in own memory, any alignment */
	uint64_t src_va;	/* VA at the data owner, not an xva */
	uint32_t src_coord;	/* coordinates of the data owner's node */
	uint32_t src_ctx;	/* context of the data owner */
	uint32_t len;		/* 1..EXA_LEN_MAX bytes */
	uint32_t flags;		/* enum exa_read_flags */
	struct exanet_notification *notify;	/* record of the end of the read, in memory of
						 * this process, 16-B aligned; NULL: a message
						 * in mailbox notify_mbox of this context
						 * reports the end */
	uint32_t notify_mbox;	/* number of the mailbox, 0..3, if notify is NULL */
	uint64_t notify_data;	/* any value; copied to the notification */
	uint64_t tag;		/* any value, for traces; the field EXANET_NOTIFICATION_HANDLE
				 * of a read without error has the low 16 bits of the tag */
};

/*
 * Requests that the data owner's node writes @attr->len bytes to @attr->dst.  Clears the
 * record @attr->notify, unless @attr->notify is NULL.  Returns the number of a packetizer
 * channel, -EAGAIN if all channels are busy, or another negative errno.  exa_msg_test() of
 * the channel returns 0 when the data owner's node has the request, or the error of the
 * request.  After 0 the notification reports the end of the read, unless the NICs fail to
 * deliver the notification.  Until the end of the read the NIC may store to @attr->dst and
 * to the record.  No notification follows a refused request.
 */
int exa_read_post(struct exa_dev *dev, const struct exa_read_attr *attr);

/* --- Notifications in memory ------------------------------------------------ */

/* Clears record @rec, which must be 16-B aligned, before the next notification. */
void exa_notify_clear(struct exanet_notification *rec);

/*
 * Tests record @rec.  Returns -EINPROGRESS if the notification has not arrived; 0: all data
 * has arrived; or the error of a read that the data owner could not serve.  If the result
 * is not -EINPROGRESS, stores notify_data in @data, which may be NULL.
 */
int exa_notify_test(const struct exanet_notification *rec, uint64_t *data);

/*
 * Waits for the notification in record @rec, at most @timeout_ms (negative: for ever).
 * Returns as exa_notify_test(), or -ETIMEDOUT.  The function first polls, then sleeps for
 * 100 us between polls.  Because the record does not name a NIC, the function between polls
 * does the work of exa_poll_hint() for one NIC after the other that this process has open,
 * but for at most 32 NICs, and not for NICs that were removed or reset.
 */
int exa_notify_wait(const struct exanet_notification *rec, uint64_t *data,
		    int timeout_ms);

/*
 * Returns the status of a notification: 0 or negative errno.  @rec is a record that has
 * its notification, or the payload of a message that is a notification.
 */
int exa_notify_error(const struct exanet_notification *rec);

/* --- Mailboxes -------------------------------------------------------------- */

enum exa_mbox_flags {
	EXA_MBOX_IRQ		= 1 << 0,	/* exa_fd() becomes readable with each message;
						 * without this flag only between exa_arm() and
						 * exa_disarm(), while exa_recv() sleeps, and
						 * with notifications that are events anyway
						 * (see Waiting) */
};

/*
 * Enables mailbox @nr (0..3) with a ring of 2^@log2 (1..16) entries, and stores the new
 * object in @mbox.  @flags is enum exa_mbox_flags.  The NIC may refuse messages when more
 * than three quarters of the entries are unread, because exa_mbox_pop() returns entries in
 * groups.  -EBUSY: the context has a mailbox @nr already.
 */
int exa_mbox_create(struct exa_dev *dev, unsigned int nr, unsigned int log2,
		    uint32_t flags, struct exa_mbox **mbox);

/*
 * Disables and frees @mbox, which may be NULL.  Unread messages of the mailbox are lost.
 * Later messages to the mailbox fail with -ENOBUFS.
 */
void exa_mbox_destroy(struct exa_mbox *mbox);

/*
 * Returns the oldest unread message of @mbox, which is valid until exa_mbox_pop().  Returns
 * NULL if there is no unread message, or in a child after fork().
 */
const struct exanet_message *exa_mbox_peek(struct exa_mbox *mbox);

/*
 * Removes the message that exa_mbox_peek() has returned.  The function returns the entries
 * of removed messages to the NIC in groups of a quarter of the ring, but of at least one
 * entry.
 */
void exa_mbox_pop(struct exa_mbox *mbox);

/*
 * Stores how many messages to the mailbox of this number the NIC has refused since
 * exa_open(), modulo 2^32: in @full because the mailbox was full or disabled, in @fault
 * because a page of the ring was missing.  The NIC also counts copies of the same message.
 * Both pointers may be NULL.  In a child after fork(), stores 0.
 */
void exa_mbox_rejected(const struct exa_mbox *mbox, uint32_t *full,
		       uint32_t *fault);

/*
 * Return coordinates and context of the sender, the size in bytes, and the type (enum
 * exanet_type) of message @msg.  For a notification (EXANET_TYPE_NOTIFY) the coordinates
 * are those of the writer's node, but the context is the receiver's own context.  If the
 * receiver must distinguish the contexts of the writer's node, the writer must store the
 * number of its context in notify_data.
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
 * An event after exa_arm() makes the descriptor readable; the test finds events before
 * exa_arm().  exa_wait() may also return without an event.  The events are: messages; the
 * end of RDMA writes of this process with EXA_WRITE_WAKE; notifications with
 * ..._NOTIFY_IRQ, and of reads that the data owner could not serve, in records or mailboxes.
 * A packetizer channel has no event.  A poll loop of another library calls exa_arm(),
 * tests, polls exa_fd(), and calls exa_disarm() (or exa_ack(), after which messages are
 * still events).
 */

/*
 * Returns a descriptor for poll(), which reports POLLIN after an event, and POLLERR and
 * POLLHUP if the NIC was removed or reset.  The caller must not read() from the descriptor.
 */
int exa_fd(const struct exa_dev *dev);

/*
 * Makes each message in any mailbox of @dev an event until exa_disarm().  A further call
 * before exa_disarm() takes a lock, but stores nothing in the NIC.
 */
int exa_arm(struct exa_dev *dev);

/*
 * Makes exa_fd() unreadable until the next event.  If another thread is in exa_wait(),
 * exa_ack() or exa_disarm(), leaves this work to the other thread, and returns 0.
 */
int exa_ack(struct exa_dev *dev);

/*
 * Undoes exa_arm(): of the messages that are no notifications, only those in mailboxes with
 * EXA_MBOX_IRQ, and in mailboxes for which exa_recv() sleeps, are still events.  Also does
 * the work of exa_ack().
 */
int exa_disarm(struct exa_dev *dev);

/*
 * Sleeps until an event, or for @timeout_ms (negative: for ever), and makes exa_fd()
 * unreadable as exa_ack() does.  Returns 1 after an event or a signal handler, 0 after the
 * timeout, -ENODEV if the NIC was removed or reset, or another negative errno.  Returns 1 at
 * once if another thread may have removed the event for which this thread waits.  If
 * another thread is in exa_wait(), exa_ack() or exa_disarm(), sleeps for 1 ms, whatever
 * @timeout_ms is, and returns 1.
 */
int exa_wait(struct exa_dev *dev, int timeout_ms);

/*
 * Informs the NIC that the caller polls for an event of a link in a mailbox, record,
 * channel or memory.  An emulated NIC then takes frames in the thread of the caller, for
 * about 4 us at most, because a wake-up of another thread takes longer.
 * Loops that poll should call this function after some polls; exa_recv(),
 * exa_notify_wait(), exa_fence() and the blocking functions do so.  The function does
 * nothing if the NIC does not have EXANET_CAP1_POLL, or in a child after fork().
 */
void exa_poll_hint(struct exa_dev *dev);

/*
 * Makes each event, and the removal or reset of the NIC, also signal the eventfd @fd, from
 * now on, instead of an earlier @fd.  Signals @fd at once if exa_fd() is readable.  If @fd
 * is -1, nothing signals an eventfd.
 */
int exa_eventfd(struct exa_dev *dev, int fd);

/* --- Blocking functions ----------------------------------------------------- */

/*
 * Waits without limit for a free channel, does an RDMA write, and waits for the end of the
 * write.  If the target's node does not answer, the function returns at the retry limit.
 * @st may be NULL.  Returns the error of exa_write_post(), or the result of
 * exa_write_test().
 */
int exa_write(struct exa_dev *dev, const struct exa_write_attr *attr,
	      struct exa_status *st);

/*
 * Does an RDMA read and waits for the end of the read; ignores notify, notify_mbox and
 * notify_data of @attr.  Returns 0, the error of the read or of its request, or -ETIMEDOUT
 * after @timeout_ms (negative: no limit).  The function may return later than @timeout_ms,
 * because the function waits until the request is acked or has failed.  After -ETIMEDOUT or
 * -ECANCELED data may still arrive in the buffer.
 */
int exa_read(struct exa_dev *dev, const struct exa_read_attr *attr,
	     int timeout_ms);

/*
 * Waits without limit for a free channel, sends the @len (1..64) bytes at @buf as a message
 * to mailbox @to, and waits until the message is in the mailbox.  Returns 0 or a negative
 * errno.
 */
int exa_send(struct exa_dev *dev, const struct exa_mbox_addr *to,
	     const void *buf, size_t len);

/*
 * Receives a message: copies the first bytes of the message, @len at most, to @buf, and
 * returns the size of the message, which may be more than @len.  Stores the whole ring
 * entry in @origin, which may be NULL.  Polls for about 2 ms, then sleeps.  Returns
 * -ETIMEDOUT if no message comes in @timeout_ms (negative: waits for ever; 0: polls once),
 * or another negative errno.
 */
int exa_recv(struct exa_mbox *mbox, void *buf, size_t len,
	     struct exanet_message *origin, int timeout_ms);

/* --- Memory of other nodes by load and store --------------------------------- */

/*
 * A segment shows memory of another node in this process.  Access a segment by volatile
 * objects of 1, 2, 4 or 8 bytes that are aligned to their size, never by functions such
 * as memcpy(), because a segment is device memory.  A load waits for the other node; a
 * load that fails returns all-ones.  Stores to different nodes arrive in order only with
 * exa_fence() between them.  If root of neither node has changed the defaults of the folder
 * shm in sysfs, stores to one node arrive in order and at most once each, and a load returns
 * the data of earlier stores of this process to the same address.
 *
 * A CPU whose load waits for a node does nothing else, not even serve interrupts, until
 * the answer comes or the NIC fails the load (property aperture-timeout-ms, 900 ms by
 * default).  So access memory of this very node directly, because a page fault there may
 * need the CPU that waits.
 *
 * A NIC has few segments (exa_shm_query()), which all processes of the node share.  A
 * child after fork() does not have the mappings of segments.
 */
enum exa_map_flags {
	EXA_MAP_READ		= 1 << 0,
	EXA_MAP_WRITE		= 1 << 1,
	EXA_MAP_EARLY		= 1 << 2,	/* a store may end as soon as the NIC has the
						 * data; exa_fence() reports failures of such
						 * stores */
};

/* The result of exa_shm_query(). */
struct exa_shm_attr {
	uint64_t aperture;	/* bytes for segments of all processes */
	uint64_t bram;		/* bytes of block RAM of this node */
	uint32_t segments;	/* maximal number of segments of all processes together */
	uint32_t segments_used;	/* segments in use by all processes together */
};

/*
 * Stores the state of aperture, block RAM and segments in @attr.  Returns -EOPNOTSUPP if
 * the NIC has no aperture.
 */
int exa_shm_query(struct exa_dev *dev, struct exa_shm_attr *attr);

/*
 * Maps the @len bytes at @gva (exa_gva(), exa_bram_gva(); any alignment) of context
 * @dst_ctx of the same job.  @flags is enum exa_map_flags, with EXA_MAP_READ, EXA_MAP_WRITE
 * or both. Returns the address of the first byte, or NULL and sets errno: EINVAL (bad
 * argument), EACCES (NI space other than block RAM, or no right to block RAM), ENOSPC (no
 * segment or no room in the aperture is left), EDQUOT (the user may have no more segments,
 * or no more bytes of the aperture), EOPNOTSUPP (the NIC has no aperture), EPERM (child
 * after fork()), ENODEV (the NIC was removed or reset), ENOMEM.  The function does not
 * check the memory: the first access fails if the memory does not exist or is protected.
 */
void *exa_map_remote(struct exa_dev *dev, uint64_t gva, size_t len,
		     unsigned int dst_ctx, unsigned int flags);

/*
 * Unmaps the memory at @addr, which exa_map_remote() has returned for the same @len.
 * Returns 0, -EINVAL if there is no such mapping, or another negative errno.
 */
int exa_unmap_remote(struct exa_dev *dev, void *addr, size_t len);

/*
 * Waits until all earlier stores of this context have arrived at their nodes or have
 * failed.  Returns 0; -EIO: exa_remote_errors() has counted a failure since the last fence
 * that did not time out, or since exa_open(); -ETIMEDOUT: stores are still under way after a
 * minute; or -EPERM.
 */
int exa_fence(struct exa_dev *dev);

/*
 * Returns how many loads and stores of this context, also of the accelerator, have failed
 * since exa_open(), plus the number of its copies that have failed at a GVA, modulo 2^32; 0
 * in a child after fork().
 */
uint32_t exa_remote_errors(const struct exa_dev *dev);

/*
 * Makes the driver send signal @signo (0: no signal) to this process when
 * exa_remote_errors() has counted a failure; one signal may report several failures.
 * Programs that use EXA_MAP_EARLY need the signal or exa_fence(), because such a store ends
 * before the NIC knows that the store has failed.
 */
int exa_error_signal(struct exa_dev *dev, int signo);

enum exa_copy_flags {
	EXA_COPY_SRC_REMOTE	= 1 << 0,	/* src is a GVA */
	EXA_COPY_DST_REMOTE	= 1 << 1,	/* dst is a GVA */
};

/*
 * A copy by exa_cdma_copy().  An address is a pointer, cast to uintptr_t, or a GVA, with
 * any alignment.
 */
struct exa_copy_attr {
	uint64_t src;		/* address of the source */
	uint64_t dst;		/* address of the destination */
	uint64_t len;		/* number of bytes to copy, at least 1 */
	uint32_t dst_ctx;	/* number of the context that has the memory at the GVAs */
	uint32_t flags;		/* enum exa_copy_flags */
};

/*
 * Copies by the central DMA of the NIC, through the driver, and waits for the end of the
 * copy.  Returns 0, or a negative errno as in the lists at the top of this file.
 */
int exa_cdma_copy(struct exa_dev *dev, const struct exa_copy_attr *attr);

/*
 * Maps the block RAM of this node, which processes of all nodes share.  The mapping lasts
 * until exa_close(), and each call returns the same address.  The rules for accesses to
 * segments are valid for block RAM, too.  Stores the size of block RAM in bytes in @len,
 * which may be NULL.  Returns NULL and sets errno after an error, for example EACCES (the
 * administrator does not permit the use), EOPNOTSUPP (the NIC has no aperture or no block
 * RAM), EPERM (child after fork()), ENODEV (the NIC was removed or reset) or ENOMEM.
 */
void *exa_bram(struct exa_dev *dev, size_t *len);

/*
 * Returns the GVA of the block RAM at the node with coordinates @coord, for
 * exa_map_remote(), exa_cdma_copy() and exa_accel().
 */
static inline uint64_t exa_bram_gva(uint32_t coord)
{
	return exa_gva(coord, EXANET_NI_VA(EXANET_NI_BRAM));
}

/* --- Accelerator ------------------------------------------------------------- */

/* Bits of exa_accel_job.remote: the arrays of a job whose addresses are GVAs. */
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
 * A matrix-vector update y += matrix * x, cell by cell; rnic/exanet/shm.h defines the
 * update.  The address of an array whose bit is set in @remote is a GVA, which may be of
 * this node.  The address of another array is an offset in the block RAM of this node.
 */
struct exa_accel_job {
	uint64_t matrix;	/* doubles [cell][layer][df1][df2] */
	uint64_t x;		/* array of doubles */
	uint64_t y;		/* array of doubles */
	uint64_t map1;		/* uint32_t [cell][df1]: start of a column of y */
	uint64_t map2;		/* uint32_t [cell][df2]: start of a column of x */
	uint64_t cells;		/* uint32_t [ncells]: numbers of the cells to update; two of
				 * these cells must not share an entry of y */
	uint32_t ndf1;		/* rows of a matrix, 1..64 */
	uint32_t ndf2;		/* columns of a matrix, 1..64 */
	uint32_t nlayers;	/* layers of a column, 1..256 */
	uint32_t ncells;	/* number of entries of the array cells */
	uint32_t remote;	/* enum exa_accel_remote */
	uint32_t dst_ctx;	/* context that has the arrays whose bits are set in remote */
	/* out: set by exa_accel() */
	uint64_t ops;		/* multiply-adds */
	uint64_t bytes;		/* bytes loaded and stored */
	uint64_t ns;		/* virtual time of the job */
	uint64_t err_addr;	/* address of the first failed access; 0: the error has no
				 * address */
};

/*
 * Runs a job on the accelerator beside the NIC, which all processes share, and waits until
 * all of y is in memory, or the job has failed.  Returns 0, or a negative errno as in the
 * lists at the top of this file.  Sets the members ops, bytes, ns and err_addr in any case;
 * sets these members to 0 if the job was refused before its start.
 */
int exa_accel(struct exa_dev *dev, struct exa_accel_job *job);

#ifdef __cplusplus
}
#endif

#endif /* LIBEXANET_H */

/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Transport: the functions that the common part of a provider needs of its NIC.
 *
 * A provider defines one struct rnic_fi_transport and gives it to rnic_fi_fabric_open().
 * The common part calls the transport; the transport calls the common part only by the
 * function that reap() gets.  All numbers are in host byte order, all sizes in bytes.
 *
 * Words
 *   NIC      one opened context of a device.  The transport embeds struct rnic_fi_nic as
 *            the first member of a structure of its own.
 *   node     number of a machine in the network
 *   context  share of a node's NIC that one process has
 *   mailbox  queue of a context, in which messages and notes of all senders arrive
 *   note     64 bits that arrive in a mailbox after the data of a WRITE_NOTE
 *   request  one transfer, from post() to its end
 *   base     number that names exposed memory.  A key has room only for the bits
 *            RNIC_FI_KEY_BASE of a base, so fi_mr_reg() of memory with a larger base
 *            fails.
 *
 * Order.  Requests may overtake each other.  So the common part numbers its messages.
 *
 * Threads.  The caller holds the lock of the domain; open(), close(), address() and hint()
 * must also work without the lock.  open() is the first call for a NIC and close() the last;
 * no other call runs at the same time as one of these.  hint() may run at the same time as
 * any other call but close().
 *
 * Errors.  Functions return 0 or a negative errno, or a negative FI_E code that no errno
 * has.  A request ends with 0 or with such a number.  The common part handles the number as
 * follows:
 *   -FI_ENOBUFS, -FI_EBUSY  for example, a mailbox or queue of the peer stayed full:
 *                           the request is posted again, up to RNIC_FI_FULL_RETRIES
 *                           times, but not a probe, a message without peer, a request to
 *                           a dead peer, or a READ that the peer's NIC has accepted
 *   -FI_EFAULT              a page is missing: a numbered MESSAGE to a living peer is
 *                           posted again, up to RNIC_FI_FAULT_RETRIES times
 *   -FI_EACCES, -ENXIO      the peer's mailbox or context does not exist, or the memory
 *                           cannot be accessed: if the request is a numbered message or a
 *                           probe, the peer counts as gone
 * If the request is not posted again, an operation that waits for the request fails.  If the
 * request is a numbered message, the peer fails, too, because the next messages would have no
 * predecessor.  The common part ignores the error of a WRITE_NOTE whose slot the peer has
 * emptied.
 */
#ifndef RNIC_FI_TRANSPORT_H
#define RNIC_FI_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rnic_fi_proto.h"

#define RNIC_FI_REQUEST_MAX	(1U << 30)	/* maximum bytes of a read or write */
#define RNIC_FI_NIC_BYTES	48		/* size of rnic_fi_request.nic */

struct util_prov;
struct rnic_fi_transport;

/* Address of a mailbox. */
struct rnic_fi_addr {
	uint32_t	node;	/* number of the node */
	uint8_t		ctx;	/* number of the context at this node */
	uint8_t		mbox;	/* number of the mailbox in this context */
};

/* One opened NIC.  open() sets all members, which do not change later. */
struct rnic_fi_nic {
	uint32_t	node;	/* number of the own node */
	uint8_t		ctx;	/* number of the own context */
	uint16_t	job;	/* number of the own job; the NICs separate jobs; the common
				 * part stores the number in names of endpoints, and prints
				 * it */
	int		fd;	/* descriptor, readable after a wake-up; see arm() */
	const char	*remedy;	/* NULL, or if the NICs of other nodes refuse the own
					 * job: a static text that says what the user may do */
};

enum rnic_fi_request_kind {
	/* Sends @data to mailbox @to.  The end with 0 means that @data is in the mailbox. */
	RNIC_FI_REQUEST_MESSAGE,
	/* Sends @data to mailbox @to once.  The end with 0 means that @data was sent; @data
	 * may be lost. */
	RNIC_FI_REQUEST_DATAGRAM,
	/* Writes @data to the memory at @remote of the context in @to.  The end with 0 means
	 * that all bytes are in this memory. */
	RNIC_FI_REQUEST_PUT,
	/* Reads @len bytes at @remote of the context in @to into @local.  The end with 0
	 * means that all bytes are at @local. */
	RNIC_FI_REQUEST_READ,
	/* Writes the @len bytes at @local to the memory at @remote of the context in @to.
	 * The end with 0 means that all bytes are in this memory. */
	RNIC_FI_REQUEST_WRITE,
	/* Does the same as WRITE; then @note arrives in mailbox @to.  The end with 0 means
	 * that @note is in the mailbox, too. */
	RNIC_FI_REQUEST_WRITE_NOTE,
};

/*
 * A request.  The common part owns the memory of the request, and neither moves nor frees
 * the request from a post() that returns 0 until the end of the request, or until close()
 * has returned.  In this time only the transport may change @accepted and @nic, the common
 * part changes no other member, and the bytes at @local belong to the NIC.
 */
struct rnic_fi_request {
	uint8_t		nic[RNIC_FI_NIC_BYTES] __attribute__((aligned(16)));
	enum rnic_fi_request_kind kind;
	struct rnic_fi_addr to;
	bool		wake;	/* READ, WRITE, WRITE_NOTE: the end of the request makes
				 * rnic_fi_nic.fd readable; see arm() */
	bool		accepted;	/* READ: the peer's NIC has accepted the request, so
					 * that a later error is final; false at the end
					 * of a request that this NIC has refused */
	uint32_t	len;	/* MESSAGE, DATAGRAM: 1 to RNIC_FI_MSG_MAX; PUT: 1 to
				 * put_max; READ, WRITE, WRITE_NOTE: 1 to
				 * RNIC_FI_REQUEST_MAX */
	uint32_t	id;	/* READ: any number, for traces of the NIC */
	uint64_t	remote;	/* PUT, READ, WRITE, WRITE_NOTE: result of address() plus an
				 * offset within the exposed memory */
	union {
		uint8_t	data[RNIC_FI_MSG_MAX];	/* MESSAGE, DATAGRAM, PUT */
		struct {
			void		*local;	/* READ: destination; WRITE, WRITE_NOTE:
						 * source */
			uint64_t	note;	/* WRITE_NOTE */
		};
	};
};

/* A message or note in a mailbox. */
struct rnic_fi_arrival {
	bool		is_note;
	/* message: node and context of the sender, which the NIC has stored */
	struct rnic_fi_addr from;
	uint64_t	note;	/* note: the 64 bits */
	const uint8_t	*data;	/* message: its bytes, valid until pop() */
	size_t		size;	/* message: number of bytes at data, up to RNIC_FI_MSG_MAX */
};

/* Handles the end of @req.  @err: 0, or a negative errno or FI_E code. */
typedef void rnic_fi_end_fn(struct rnic_fi_request *req, int err);

/* All functions and numbers that the common part uses; a NIC does not change them. */
struct rnic_fi_transport {
	const struct util_prov *util_prov;	/* record of the provider for libfabric */
	uint32_t	node_max;	/* largest number of a node, of the form 2^n - 1 */
	uint16_t	contexts;	/* number of contexts of a node */
	uint8_t		mboxes;		/* number of mailboxes of a context, up to
					 * RNIC_FI_MBOXES */
	uint8_t		peer_inflight;	/* limit of posted numbered messages to a peer,
					 * because other peers need channels, too */
	uint8_t		put_max;	/* maximum bytes of a PUT, up to RNIC_FI_MSG_MAX */
	uint32_t	put_boundary;	/* bytes, a power of two: a PUT does not cross a
					 * multiple of this number */

	/*
	 * Opens the NIC that domains with this @name use, and stores the NIC in @nic.
	 * The transport logs the reason of an error, but need not log -FI_ENOMEM.
	 */
	int (*open)(const char *name, struct rnic_fi_nic **nic);

	/*
	 * Closes and frees @nic, which may be NULL.  The transport reports no end of requests
	 * that have not ended yet.  When the call returns, the NIC accesses neither requests
	 * nor exposed memory.
	 */
	void (*close)(struct rnic_fi_nic *nic);

	/* Opens mailbox @nr: from now on messages and notes arrive there. */
	int (*mbox_open)(struct rnic_fi_nic *nic, unsigned int nr);

	/*
	 * Closes mailbox @nr; the messages in the mailbox are lost.  Later messages of
	 * peers to the mailbox end with -FI_EACCES or -ENXIO, or with -FI_ENOBUFS if the
	 * NIC does not distinguish a closed mailbox from a full mailbox.
	 */
	void (*mbox_close)(struct rnic_fi_nic *nic, unsigned int nr);

	/*
	 * Stores the oldest arrival in mailbox @nr in @in.  Returns false if the mailbox is
	 * empty.
	 */
	bool (*peek)(struct rnic_fi_nic *nic, unsigned int nr,
		     struct rnic_fi_arrival *in);

	/* Removes, from mailbox @nr, the arrival that the last peek() has stored. */
	void (*pop)(struct rnic_fi_nic *nic, unsigned int nr);

	/*
	 * Starts @req.  WRITE and WRITE_NOTE form one class of requests, all other kinds the
	 * other class.  -FI_EAGAIN: all channels for requests of this class are in use; the
	 * end of a request or a later reap() frees a channel.  After any error @req has not
	 * started, and has no end.
	 */
	int (*post)(struct rnic_fi_nic *nic, struct rnic_fi_request *req);

	/*
	 * Calls @end once for each request that has ended, in any order.  When @end is
	 * called, the transport does not use the request any more, and the channel of the
	 * request is free; but the channel of a READ may become free in a later reap().
	 * The common part calls reap() while requests are posted, and when post() outside
	 * @end has returned -FI_EAGAIN.  @end may free or post() requests, but does not
	 * call reap().
	 */
	void (*reap)(struct rnic_fi_nic *nic, rnic_fi_end_fn *end);

	/*
	 * Makes the @len bytes at @ptr reachable for READ (@access has FI_REMOTE_READ), and
	 * for PUT, WRITE and WRITE_NOTE (FI_REMOTE_WRITE) of peers, until unexpose() or
	 * close().  Stores the name of the memory in @base.  The memory need not exist yet,
	 * and @len may be 0.  The common part calls expose() for each memory region, for
	 * the slots of each receive ring, and for the source of each rendezvous.
	 * Providers that offer FI_MR_VIRT_ADDR store the virtual address in the bits
	 * RNIC_FI_KEY_VA of @base.  -FI_ENOSPC: the NIC can expose no more memory at
	 * present.  Then fi_mr_reg() fails, the peer gets no ring, and a send by
	 * rendezvous returns -FI_EAGAIN to the user, or fails if no source of another
	 * rendezvous of the domain is exposed.
	 */
	int (*expose)(struct rnic_fi_nic *nic, const void *ptr, size_t len,
		      uint64_t access, uint64_t *base);

	/*
	 * Ends one exposure of the memory that expose() has named @base.  The common part
	 * ends each exposure once, by unexpose() or close().  Requests of peers for this
	 * memory may still be posted: these requests fail, or access the memory if the NIC
	 * cannot prevent the access.  Other exposures of the same memory continue, even if
	 * they have the same @base.
	 */
	void (*unexpose)(struct rnic_fi_nic *nic, uint64_t base);

	/*
	 * Returns the address of byte @offset of the memory that this process or a peer has
	 * exposed as @base: an address for READ or, if @write, for PUT, WRITE and
	 * WRITE_NOTE.  The caller has checked the range; for memory of a peer, the caller
	 * knows only the rounded length in the key.
	 */
	uint64_t (*address)(uint64_t base, uint64_t offset, bool write);

	/*
	 * Makes @nic->fd unreadable.  From now on each arrival in a mailbox, and each end of a
	 * request with @wake, makes @nic->fd readable.
	 */
	int (*arm)(struct rnic_fi_nic *nic);

	/*
	 * Returns true if a request is posted whose end may not make @nic->fd readable, even
	 * if @wake is true.  A READ, WRITE or WRITE_NOTE without @wake need not count, because
	 * the common part counts these requests.  A READ that has ended does not count, even
	 * if its channel is still in use.
	 */
	bool (*silent)(const struct rnic_fi_nic *nic);

	/*
	 * Informs the NIC that the process polls and finds nothing.  The call may take some
	 * microseconds, in which an emulated NIC delivers messages that have arrived.
	 */
	void (*hint)(struct rnic_fi_nic *nic);
};

#endif /* RNIC_FI_TRANSPORT_H */

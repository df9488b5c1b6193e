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
 *   mailbox  queue of a context.  Messages and notes of all senders arrive in it.
 *   note     64 bits that arrive in a mailbox after the data of a write
 *   request  one transfer, from post() to its end
 *   base     number that names exposed memory.  A key carries only the bits
 *            RNIC_FI_KEY_BASE of it, so fi_mr_reg() of memory with a larger base fails.
 *
 * Order.  Requests may overtake each other.  The common part numbers its messages.
 *
 * Threads.  The caller holds the lock of the domain, except in open(), close(), address()
 * and hint().  open() is the first call for a NIC and close() the last; no other call runs
 * at the same time.  hint() may run at the same time as any other call but close().
 *
 * Errors.  Functions return 0 or a negative errno, or a negative FI_E code that no errno
 * has.  A request ends with 0 or with such a number, to which the common part answers as
 * follows:
 *   -FI_ENOBUFS, -FI_EBUSY  the NIC has given up on a full mailbox or queue of the peer:
 *                           post() again, up to RNIC_FI_FULL_RETRIES times
 *   -FI_EFAULT              a page is missing: a message is posted again, up to
 *                           RNIC_FI_FAULT_RETRIES times; other requests fail
 *   -FI_EACCES, -ENXIO      the peer's mailbox or context does not exist: the peer has gone
 *   all others              the peer fails if the message is numbered, because the next
 *                           messages would have no predecessor
 */
#ifndef RNIC_FI_TRANSPORT_H
#define RNIC_FI_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rnic_fi_proto.h"

#define RNIC_FI_REQUEST_MAX	(1U << 30)	/* most bytes of a read or write */
#define RNIC_FI_NIC_BYTES	48		/* size of rnic_fi_request.nic */

struct util_prov;
struct rnic_fi_transport;

/* Address of a mailbox. */
struct rnic_fi_addr {
	uint32_t	node;
	uint8_t		ctx;
	uint8_t		mbox;
};

/* One opened NIC.  open() sets all members; they stay as they are. */
struct rnic_fi_nic {
	uint32_t	node;	/* own node */
	uint8_t		ctx;	/* own context */
	uint16_t	job;	/* processes of other jobs cannot reach this one; only for
				 * the names of endpoints */
	int		fd;	/* descriptor, readable after a wake-up; see arm() */
};

enum rnic_fi_request_kind {
	/* @data goes to mailbox @to.  The end with 0 means that the mailbox has it. */
	RNIC_FI_REQUEST_MESSAGE,
	/* As MESSAGE, but sent once and perhaps lost: the end means that it was sent. */
	RNIC_FI_REQUEST_DATAGRAM,
	/* @data goes to the memory at @remote, whose owner is the context in @to. */
	RNIC_FI_REQUEST_PUT,
	/* @local gets @len bytes of the memory at @remote, whose owner is the context in
	 * @to.  The end with 0 means that all bytes are there. */
	RNIC_FI_REQUEST_READ,
	/* The memory at @remote, whose owner is the context in @to, gets @len bytes of
	 * @local.  The end with 0 means that all bytes are there. */
	RNIC_FI_REQUEST_WRITE,
	/* As WRITE; then @note arrives in mailbox @to. */
	RNIC_FI_REQUEST_WRITE_NOTE,
};

/*
 * A request.  The common part owns it, and keeps it where it is from a post() that
 * returns 0 until its end or until close() has returned.  In this time only the
 * transport may change @accepted and @nic; @local and its bytes belong to the NIC.
 */
struct rnic_fi_request {
	uint8_t		nic[RNIC_FI_NIC_BYTES] __attribute__((aligned(16)));
	enum rnic_fi_request_kind kind;
	struct rnic_fi_addr to;
	bool		wake;	/* the end of READ, WRITE and WRITE_NOTE makes @fd of the NIC
				 * readable */
	bool		accepted;	/* of READ, set before the end: the peer's NIC has
					 * accepted the request, so that an error is final */
	uint32_t	len;	/* MESSAGE, DATAGRAM: 1 to RNIC_FI_MSG_MAX; PUT: 1 to
				 * put_max; READ, WRITE, WRITE_NOTE: 1 to
				 * RNIC_FI_REQUEST_MAX */
	uint32_t	id;	/* READ: any number, for traces */
	uint64_t	remote;	/* result of address() */
	union {
		uint8_t	data[RNIC_FI_MSG_MAX];	/* MESSAGE, DATAGRAM, PUT */
		struct {
			void		*local;	/* READ, WRITE, WRITE_NOTE */
			uint64_t	note;	/* WRITE_NOTE */
		};
	};
};

/* A message or note in a mailbox. */
struct rnic_fi_arrival {
	bool		is_note;
	struct rnic_fi_addr from;	/* sender of a message, which it cannot forge; without
					 * @mbox, and undefined for a note */
	uint64_t	note;
	const uint8_t	*data;	/* bytes of a message; valid until pop() */
	size_t		size;	/* number of bytes of a message, up to RNIC_FI_MSG_MAX */
};

/* Takes the end of @req.  @err: 0 or a negative FI_E code. */
typedef void rnic_fi_end_fn(struct rnic_fi_request *req, int err);

struct rnic_fi_transport {
	const struct util_prov *util_prov;	/* record of the provider for libfabric */
	uint32_t	node_max;	/* largest number of a node; all bits below are 1 */
	uint16_t	contexts;	/* number of contexts of a node */
	uint8_t		mboxes;		/* mailboxes of a context, up to RNIC_FI_MBOXES */
	uint8_t		peer_inflight;	/* limit of posted numbered messages to a peer,
					 * because other peers need channels, too */
	uint8_t		put_max;	/* bytes of PUT, up to RNIC_FI_MSG_MAX */
	uint32_t	put_boundary;	/* power of two: a PUT does not cross its multiples */

	/*
	 * Opens the NIC that domains of this @name use.  On an error the transport logs
	 * the reason.
	 */
	int (*open)(const char *name, struct rnic_fi_nic **nic);

	/*
	 * Closes @nic, which may be NULL.  Requests that have not ended never will.  When
	 * the call returns, the NIC accesses neither requests nor exposed memory.
	 */
	void (*close)(struct rnic_fi_nic *nic);

	/* Opens mailbox @nr, from which messages arrive from now on. */
	int (*mbox_open)(struct rnic_fi_nic *nic, unsigned int nr);

	/*
	 * Closes mailbox @nr; its messages are lost.  Senders get -FI_EACCES or -ENXIO.
	 */
	void (*mbox_close)(struct rnic_fi_nic *nic, unsigned int nr);

	/* Stores the oldest arrival in mailbox @nr; returns false if there is none. */
	bool (*peek)(struct rnic_fi_nic *nic, unsigned int nr,
		     struct rnic_fi_arrival *in);

	/* Removes the arrival of the last peek() from mailbox @nr. */
	void (*pop)(struct rnic_fi_nic *nic, unsigned int nr);

	/*
	 * Starts @req.  -FI_EAGAIN: all channels for requests of this class are in use;
	 * the end of a request or a later reap() frees one.  WRITE and WRITE_NOTE are one
	 * class, all others the other.  After any other error @req has not started, and has
	 * no end.
	 */
	int (*post)(struct rnic_fi_nic *nic, struct rnic_fi_request *req);

	/*
	 * Calls @end once for each request that has ended, in any order; the transport
	 * does not use the request any more.  Its channel is free by then; that of a READ
	 * may become free in a later reap().  The common part calls reap() while requests
	 * are posted, and when post() has returned -FI_EAGAIN.  @end may free or post()
	 * requests, but reap() does not nest.
	 */
	void (*reap)(struct rnic_fi_nic *nic, rnic_fi_end_fn *end);

	/*
	 * Makes @len bytes at @ptr reachable for READ (@access has FI_REMOTE_READ) and for
	 * PUT and writes (FI_REMOTE_WRITE) of peers, until unexpose() or close().  The memory
	 * need not exist yet.  The common part calls this for each memory region, for the
	 * slots of each ring, and for the source of each rendezvous.  Providers that offer
	 * FI_MR_VIRT_ADDR store the virtual address in the bits RNIC_FI_KEY_VA of @base.
	 * -FI_ENOSPC: the NIC can expose no more memory at present.  Then fi_mr_reg() fails,
	 * the peer gets no ring, and the user sends again after the end of a rendezvous.
	 */
	int (*expose)(struct rnic_fi_nic *nic, const void *ptr, size_t len,
		      uint64_t access, uint64_t *base);

	/*
	 * Ends an exposure; each success of expose() has one end by unexpose() or close().
	 * Peers may still have requests for this memory posted; these fail, or access the
	 * memory if the NIC cannot prevent this.  Other exposures of the same memory stay,
	 * even if they have the same @base.
	 */
	void (*unexpose)(struct rnic_fi_nic *nic, uint64_t base);

	/*
	 * Returns the address of byte @offset of the memory that a peer has exposed as
	 * @base, for READ or, if @write, for PUT and writes.  The caller has checked the
	 * range.
	 */
	uint64_t (*address)(uint64_t base, uint64_t offset, bool write);

	/*
	 * Makes @fd unreadable.  From now on each arrival in a mailbox, and each end of a
	 * request with @wake, makes @fd readable.
	 */
	int (*arm)(struct rnic_fi_nic *nic);

	/*
	 * Returns true if a request is posted whose end will not make @fd readable.  A READ
	 * that has ended is not posted any more, even if it has a channel still.
	 */
	bool (*silent)(const struct rnic_fi_nic *nic);

	/*
	 * Tells the NIC that the process polls and finds nothing.  The call may take some
	 * microseconds, in which an emulated NIC delivers messages that have arrived.
	 */
	void (*hint)(struct rnic_fi_nic *nic);
};

#endif /* RNIC_FI_TRANSPORT_H */

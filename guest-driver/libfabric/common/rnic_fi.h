/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Common part of the libfabric providers: reliable datagrams over a NIC that
 * rnic_fi_transport.h describes.
 *
 * Objects, and what they own:
 *   domain    one context of the NIC, all pools, one lock
 *   endpoint  one mailbox of that context, its peers, its receive queues
 *   peer      state for one other endpoint: sequence numbers, packets to send, operations
 *             that wait for an answer.  rnic_fi_quiet.c describes when a peer is freed.
 *   op        one call of the user, or one rendezvous receive, until its end
 *   packet    one request to the NIC, until its end
 *
 * The lock of a domain protects the domain and all objects that it owns.  The caller of a
 * function that uses these objects holds the lock, unless a comment says otherwise.
 *
 * Progress is manual: arrived messages and ended packets are handled only in calls of
 * libfabric, for example fi_cq_read().  rnic_fi_ep_progress() serves the whole domain, so
 * that the work of one thread wakes a thread that sleeps on another queue.  Then the
 * function serves the other domains of the process, because the peer for which the caller
 * waits may itself wait for an atomic that another domain of this process must execute.
 */
#ifndef RNIC_FI_PROV_H
#define RNIC_FI_PROV_H

#include <ofi.h>
#include <ofi_enosys.h>
#include <ofi_util.h>
#include <ofi_iov.h>
#include <ofi_list.h>
#include <ofi_tree.h>
#include <ofi_atomic.h>

#include "rnic_fi_decode.h"
#include "rnic_fi_transport.h"

#define RNIC_FI_IOV_LIMIT	4
#define RNIC_FI_INLINE_HDR_MAX	24	/* header, tag, 8 bytes of CQ data */
#define RNIC_FI_INJECT_SIZE	(RNIC_FI_MSG_MAX - RNIC_FI_INLINE_HDR_MAX)
#define RNIC_FI_TX_SIZE		256	/* default limit of an endpoint's operations */
#define RNIC_FI_RX_SIZE		1024	/* default rx_attr.size; receives have no limit */
#define RNIC_FI_PEER_QUEUE	1024	/* limit of a peer's queue for sends, atomics */
#define RNIC_FI_PEER_HELD	1024	/* limit of a peer's held operations */
#define RNIC_FI_HELD_BYTES	4096	/* most bytes of a held send */
#define RNIC_FI_RX_BUDGET	64	/* most messages of one poll of a mailbox */
#define RNIC_FI_PEER_BUCKETS	64

/*
 * How often a packet is posted again.  The NIC fails a packet to a full mailbox or request
 * queue after 10 to 20 s, but the peer may only be computing.  FAULT_RETRIES is for messages
 * for which a page is missing.
 */
#define RNIC_FI_FULL_RETRIES	30
#define RNIC_FI_FAULT_RETRIES	3
#define RNIC_FI_PROBES		2	/* the watch sends no probe while so many are posted */
#define RNIC_FI_PROBE_MAX_MS	3600000	/* the time between probes doubles up to this */
#define RNIC_FI_GONE_MS		60000	/* time after which the NIC of a gone endpoint
					 * writes to its ring no more */
#define RNIC_FI_RING_ASK_MS	10000	/* pause after a request for a ring; see ask_ms */
#define RNIC_FI_RINGS_MAX	1024	/* most rings of an endpoint, for each direction */
#define RNIC_FI_WATCH_MS		1000	/* least time between two watches */
#define RNIC_FI_PING_MS		3000	/* silence after which a peer gets PING */
#define RNIC_FI_DRAIN_MS		5000	/* fi_close() of an endpoint waits so long without
					 * progress */
#define RNIC_FI_IDLE_SLEEP_US	50	/* sleep of an idle process, between polls */
#define RNIC_FI_HINT_COUNTS	8	/* a hint() counts as so many idle polls */
#define RNIC_FI_TOUCH_BYTES	4096	/* step of touching pages; no page is smaller */

/* Parameters of a provider; rnic_fi_params() has a text for each of them. */
extern size_t rnic_fi_eager_size;
extern size_t rnic_fi_idle_polls;
extern size_t rnic_fi_hint_polls;
extern size_t rnic_fi_ring_limit;
extern size_t rnic_fi_quiet_ms;

struct rnic_fi_ep;
struct rnic_fi_peer;
struct rnic_fi_op;

enum rnic_fi_pkt_kind {
	RNIC_FI_PKT_MSG,		/* numbered message */
	RNIC_FI_PKT_BARE,	/* message without number and peer */
	RNIC_FI_PKT_LOOKUP,	/* LOOKUP: as BARE, but sent once without an ack */
	RNIC_FI_PKT_PROBE,	/* message without number, to a peer */
	RNIC_FI_PKT_PUT,		/* small RMA write */
	RNIC_FI_PKT_READ,	/* RDMA read */
	RNIC_FI_PKT_WRITE,	/* RDMA write of the user */
	RNIC_FI_PKT_SLOT,	/* RDMA write that is a numbered message */
};

struct rnic_fi_pkt {
	struct rnic_fi_request	req;	/* first, because its type is aligned to 16 bytes */
	struct dlist_entry	entry;	/* in a queue of the peer or domain, or in
					 * rnic_fi_domain.posted */
	struct rnic_fi_peer	*peer;	/* NULL: nothing waits for the packet's end */
	struct rnic_fi_op	*op;	/* operation that waits for the end, or NULL */
	enum rnic_fi_pkt_kind	kind;
	uint16_t		seq;	/* number of a numbered message */
	uint8_t			tries;	/* how often the packet was posted again */
	uint32_t		slot;	/* PKT_SLOT: number of slots of the ring that were
					 * filled before this slot */
};

/* Kinds of operations.  OP_RTS and OP_ATOMIC also end when the peer fails. */
enum rnic_fi_op_kind {
	RNIC_FI_OP_TX,		/* ends when its packets have ended */
	RNIC_FI_OP_RTS,		/* send by rendezvous: ends with FIN */
	RNIC_FI_OP_ATOMIC,	/* ends with ATOMIC_RSP */
	RNIC_FI_OP_RX,		/* receive by rendezvous: ends with its reads */
};

struct rnic_fi_op {
	struct dlist_entry	entry;	/* in rnic_fi_peer.ops */
	struct rnic_fi_ep	*ep;
	struct rnic_fi_peer	*peer;
	enum rnic_fi_op_kind	kind;
	uint32_t		ofi_op;	/* ofi_op_msg ... */
	void			*context;	/* the user's, for the completion */
	uint64_t		flags;	/* FI_COMPLETION, FI_REMOTE_CQ_DATA ... */
	uint32_t		id;	/* number in messages; of OP_RX the peer's number */
	uint32_t		pending;	/* number of packets, answers and calls that
						 * have not ended yet */
	/* rnic_fi_op_put() calls end() when pending becomes 0. */
	void			(*end)(struct rnic_fi_op *op);
	int			err;	/* first error, positive FI_E */
	bool			held;	/* OP_RTS: rnic_fi_op_hold() was called */
	size_t			len;	/* bytes of RMA or OP_RX; OP_ATOMIC: of results */
	uint64_t		tag;
	uint64_t		cq_data;
	void			*bounce;	/* copy of the data, or NULL */
	bool			exposed;	/* OP_RTS: the source is exposed as base */
	uint64_t		base;
	struct fi_peer_rx_entry	*rx;	/* OP_RX: the receive */
	struct iovec		result[RNIC_FI_IOV_LIMIT];	/* OP_ATOMIC: for results */
	size_t			result_count;
};

/* A message of the user that has arrived: inline, in a slot, or by RTS. */
struct rnic_fi_rx_info {
	uint32_t		ofi_op;	/* ofi_op_msg or ofi_op_tagged */
	uint64_t		tag;
	uint64_t		cq_data;
	uint64_t		flags;	/* FI_REMOTE_CQ_DATA or 0 */
	size_t			len;
	const void		*data;	/* NULL: rendezvous */
	uint64_t		remote;	/* rendezvous: address of the data */
	uint32_t		id;	/* rendezvous: number for FIN */
};

/* An unexpected message: no receive has matched it yet. */
struct rnic_fi_unexp {
	struct rnic_fi_peer	*peer;
	struct rnic_fi_rx_info	info;
	uint8_t			data[];
};

/* A message that arrived before a message with a lower number. */
struct rnic_fi_early {
	uint16_t		size;	/* 0: no message is kept here */
	bool			slot;	/* @data is the note of a slot */
	uint8_t			data[RNIC_FI_MSG_MAX];
};

/* One end of a ring of slots: the receive ring or the send ring. */
struct rnic_fi_ring {
	struct dlist_entry	entry;	/* in rnic_fi_domain.rings until the domain closes */
	uint64_t		reuse_ms;	/* 0: the ring is in use; else the time from
						 * which the ring may be reused, because
						 * the NIC writes no more */
	uint8_t			*alloc;	/* mmap() of alloc_bytes */
	size_t			alloc_bytes;
	uint8_t			*mem;	/* within alloc, aligned to slot_bytes; receiver: the
					 * slots; sender: the source of the writes */
	uint64_t		base;	/* receiver: base of the exposed slots */
	uint64_t		remote;	/* address of the receiver's slots */
	uint32_t		slot_bytes;	/* bytes of a slot */
	uint32_t		slots;	/* number of slots */
	uint32_t		number;	/* number of the ring in messages */
	uint32_t		filled;	/* sender: slots filled, free-running */
	uint32_t		emptied;	/* slots emptied, free-running; of the sender the
						 * value in the last CREDIT */
	uint32_t		advertised;	/* receiver: emptied in the last CREDIT */
	bool			used;	/* receiver: used since the last watch */
	uint64_t		used_ms;	/* receiver: time of the offer, or of the watch
						 * after the last use */
	uint64_t		end_ms;	/* receiver: time of the last RING_END, or 0 */
};

/* Place of a receive ring.  Index and generation of the place form the ring's number. */
struct rnic_fi_place {
	struct rnic_fi_peer	*peer;	/* NULL: the place is free */
	uint32_t		generation;	/* rings that have ended in this place */
};

/* Lookup of the endpoint that owns a service. */
struct rnic_fi_lookup {
	struct dlist_entry	entry;	/* in rnic_fi_domain.lookups */
	struct rnic_fi_ep	*ep;
	fi_addr_t		addr;	/* entry of the service's name in the AV */
	uint32_t		node;
	uint16_t		service;
	uint16_t		next;	/* number of the mailbox of the node that gets LOOKUP
					 * next; the number of mailboxes: the round is over */
	uint64_t		round_ms;	/* start of the next round of LOOKUPs */
	uint32_t		pause_ms;	/* time from that round to the round after it */
	uint64_t		end_ms;	/* time at which the lookup fails */
	int			err;	/* 0, or positive FI_E: the lookup has failed */
};

struct rnic_fi_peer {
	struct rnic_fi_peer	*next;	/* next peer of the bucket */
	struct rnic_fi_ep	*ep;	/* own endpoint */
	struct rnic_fi_addr	to;	/* mailbox of the peer */
	uint16_t		tag;	/* the peer's tag */
	fi_addr_t		fi_addr;	/* FI_ADDR_NOTAVAIL: not in the AV */
	int			dead;	/* 0, or positive FI_E: the peer has failed */
	bool			gone;	/* dead: endpoint has gone or refuses messages */
	uint64_t		gone_ms;	/* time at which gone was set */
	uint32_t		refs;	/* packets and unexpected messages of the peer */
	uint32_t		names;	/* entries of rnic_fi_ep.by_addr with this peer */

	struct dlist_entry	queue;	/* numbered packets that wait, retries first */
	struct dlist_entry	wait_entry;	/* in rnic_fi_domain.waiting if queued */
	uint32_t		queued;	/* number of packets in queue */
	uint32_t		held;	/* number of held operations */
	uint32_t		inflight;	/* number of posted numbered messages */
	uint16_t		tx_seq;	/* number of the next message */
	uint16_t		tx_una;	/* number of the oldest unacked message */
	uint16_t		tx_acked;	/* bit n: message tx_una + n is acked */

	uint16_t		rx_seq;	/* number of the message that is handled next */
	struct rnic_fi_early	*early;	/* array of RNIC_FI_WINDOW; NULL until needed */

	struct dlist_entry	ops;	/* operations under way, struct rnic_fi_op */
	bool			active;	/* numbered message or ack since the last watch */
	bool			takes;	/* message, or ack of a message, since the last watch */
	bool			stuck;	/* no ack since rnic_fi_pkts_hold() */
	uint64_t		alive_ms;	/* time of the last PING, or of the last watch that
						 * found the peer active or missed no answer */
	uint64_t		probe_ms;	/* time of the next probe */
	uint64_t		probe_wait;	/* ms from that probe to the probe after it */

	uint64_t		ask_ms;	/* earliest request of a ring; 0 after RING_END */
	struct rnic_fi_ring	*tx_ring;	/* ring for sends to the peer, or NULL */
	struct rnic_fi_ring	*rx_ring;	/* ring for sends of the peer, or NULL */
};

struct rnic_fi_ep {
	struct util_ep		util_ep;
	struct rnic_fi_domain	*domain;
	struct fid_ep		*srx;
	bool			enabled;	/* the endpoint has a mailbox */
	unsigned int		nr;	/* number of the mailbox */
	uint16_t		tag;	/* random number of this endpoint, not 0 */
	uint16_t		service;	/* number that LOOKUP finds, or 0 */
	size_t			tx_size;	/* limit of tx_ops */
	size_t			rx_size;	/* for util_ep_srx_context() */
	size_t			min_multi_recv;	/* FI_OPT_MIN_MULTI_RECV */
	int			cntr_first[CNTR_CNT];	/* lowest index of util_ep.cntrs
							 * with the same counter */
	uint32_t		tx_ops;	/* operations under way, without OP_RX and held
					 * operations */
	uint32_t		next_id;	/* last id of rnic_fi_op_alloc() */
	struct rnic_fi_peer	*buckets[RNIC_FI_PEER_BUCKETS];	/* all peers, by address */
	struct ofi_dyn_arr	by_addr;	/* struct rnic_fi_peer *, by fi_addr */
	struct rnic_fi_place	*places;	/* array of rnic_fi_ring_limit; NULL until
						 * needed */
	uint32_t		tx_rings;	/* number of peers with a tx_ring */
};

/* The fabric, and the transport of its domains. */
struct rnic_fi_fabric {
	struct util_fabric	util_fabric;
	const struct rnic_fi_transport *transport;
};

/* A memory region. */
struct rnic_fi_mr {
	struct fid_mr		mr_fid;
	struct rnic_fi_domain	*domain;
	struct rnic_fi_mr	*next;	/* next region with the same key, or NULL */
	uint64_t		key;
	uintptr_t		base;	/* address of the first byte */
	size_t			len;	/* bytes */
	uint64_t		access;	/* FI_REMOTE_READ, FI_REMOTE_WRITE ... */
};

struct rnic_fi_domain {
	struct util_domain	util_domain;
	struct dlist_entry	entry;	/* list of all domains of the process */
	const struct rnic_fi_transport *transport;
	struct rnic_fi_nic	*nic;
	int			timer_fd;	/* wakes sleepers for the watch; -1: no
						 * wait object was bound yet */
	struct rnic_fi_ep	*eps[RNIC_FI_MBOXES];	/* endpoints by mailbox */
	unsigned int		ep_end;	/* entries of eps from this index on were never used */
	struct ofi_rbmap	*mrs;	/* struct rnic_fi_mr by key */

	struct dlist_entry	posted;	/* packets that the NIC has */
	struct dlist_entry	msg_queue;	/* PUT, READ, PROBE that wait for a channel */
	struct dlist_entry	write_queue;	/* WRITE that wait for a channel */
	struct dlist_entry	waiting;	/* peers with queued packets */
	struct dlist_entry	rings;	/* all rings, also unused ones */
	struct dlist_entry	lookups;	/* struct rnic_fi_lookup */
	uint32_t		sources;	/* number of exposed sources of rendezvous */
	bool			reaping;	/* the transport's reap() is running */
	bool			warned;	/* rnic_fi_peer_warn() has printed its line */
	bool			doomed;	/* reads from dead peers may be posted that the peers'
					 * NICs have not accepted yet */

	struct ofi_bufpool	*pkt_pool;	/* struct rnic_fi_pkt */
	struct ofi_bufpool	*op_pool;	/* struct rnic_fi_op */
	uint32_t		spins;	/* rounds of progress, modulo 2^32 */
	uint32_t		idle;	/* rounds since the last message or end of a packet,
					 * and RNIC_FI_HINT_COUNTS for each hint() */
	uint64_t		watch_ms;	/* time from which the next watch may run */
};

/* Returns true if remote addresses of the user are virtual addresses, not offsets. */
static inline bool rnic_fi_virt_addr(const struct rnic_fi_domain *domain)
{
	return domain->util_domain.mr_mode & (FI_MR_VIRT_ADDR | OFI_MR_BASIC);
}

static inline struct rnic_fi_ep *rnic_fi_ep_of(struct fid_ep *fid)
{
	return container_of(fid, struct rnic_fi_ep, util_ep.ep_fid);
}

static inline void rnic_fi_lock(struct rnic_fi_domain *domain)
{
	ofi_genlock_lock(&domain->util_domain.lock);
}

static inline void rnic_fi_unlock(struct rnic_fi_domain *domain)
{
	ofi_genlock_unlock(&domain->util_domain.lock);
}

static inline const struct fi_provider *
rnic_fi_prov(const struct rnic_fi_domain *domain)
{
	return domain->transport->util_prov->prov;
}

static inline struct rnic_fi_domain *rnic_fi_domain_of(struct fid_domain *fid)
{
	return container_of(fid, struct rnic_fi_domain, util_domain.domain_fid);
}

/* --- For the provider -------------------------------------------------------- */

#define RNIC_FI_TX_CAPS \
	(OFI_TX_MSG_CAPS | FI_TAGGED | OFI_TX_RMA_CAPS | FI_ATOMICS)
#define RNIC_FI_RX_CAPS \
	(OFI_RX_MSG_CAPS | FI_TAGGED | OFI_RX_RMA_CAPS | FI_ATOMICS | \
	 FI_SOURCE | FI_DIRECTED_RECV | FI_MULTI_RECV)
#define RNIC_FI_DOMAIN_CAPS	(FI_LOCAL_COMM | FI_REMOTE_COMM)

/* Attributes that do not depend on the NIC. */
extern struct fi_tx_attr rnic_fi_tx_attr;
extern struct fi_rx_attr rnic_fi_rx_attr;
extern struct fi_ep_attr rnic_fi_ep_attr;

/* Defines the parameters of provider @prov and stores their values. */
void rnic_fi_params(struct fi_provider *prov);

/*
 * Opens the fabric whose domains use NICs by @transport.  -FI_EINVAL: a context of the
 * transport has more than RNIC_FI_MBOXES mailboxes.
 */
int rnic_fi_fabric_open(const struct rnic_fi_transport *transport,
			struct fi_fabric_attr *attr, struct fid_fabric **fabric,
			void *context);

/* --- Objects ----------------------------------------------------------------- */

/*
 * libfabric calls these functions without the lock, except those of rnic_fi_srx_peer_ops,
 * which libfabric calls with the lock.
 */

int rnic_fi_domain_open(struct fid_fabric *fabric, struct fi_info *info,
			struct fid_domain **domain, void *context);
int rnic_fi_av_open(struct fid_domain *domain, struct fi_av_attr *attr,
		    struct fid_av **av, void *context);
int rnic_fi_cq_open(struct fid_domain *domain, struct fi_cq_attr *attr,
		    struct fid_cq **cq, void *context);
int rnic_fi_cntr_open(struct fid_domain *domain, struct fi_cntr_attr *attr,
		      struct fid_cntr **cntr, void *context);
int rnic_fi_ep_open(struct fid_domain *domain, struct fi_info *info,
		    struct fid_ep **ep, void *context);
int rnic_fi_atomic_query(struct fid_domain *domain, enum fi_datatype datatype,
			 enum fi_op op, struct fi_atomic_attr *attr,
			 uint64_t flags);

extern struct fi_ops_mr rnic_fi_mr_ops;
extern struct fi_ops_msg rnic_fi_msg_ops;
extern struct fi_ops_tagged rnic_fi_tagged_ops;
extern struct fi_ops_rma rnic_fi_rma_ops;
extern struct fi_ops_atomic rnic_fi_atomic_ops;
extern struct fi_ops_srx_peer rnic_fi_srx_peer_ops;

/* --- Memory regions ---------------------------------------------------------- */

/* Returns an empty table of struct rnic_fi_mr by key, or NULL if memory is lacking. */
struct ofi_rbmap *rnic_fi_mrs_create(void);

/*
 * Stores in @where the address for a read or, if @write, a write of the @len bytes at @addr
 * of the peer's region with @key.  @addr is an offset or, if rnic_fi_virt_addr(), a virtual
 * address.  Returns 0, or -FI_EACCES if the key does not permit the access.
 */
int rnic_fi_key_decode(const struct rnic_fi_domain *domain, uint64_t key,
		       uint64_t addr, size_t len, bool write, uint64_t *where);

/*
 * Returns the address of the @len bytes at @offset of an own region with @key.  Returns NULL
 * if no region with this key contains these bytes and permits @access.
 */
void *rnic_fi_mr_find(struct rnic_fi_domain *domain, uint64_t key,
		      uint64_t offset, size_t len, uint64_t access);

/* --- Peers ------------------------------------------------------------------- */

/* Returns true if the AV has entry @addr.  Needs no lock of a domain. */
bool rnic_fi_addr_valid(struct util_av *av, fi_addr_t addr);

/*
 * Stores the peer with entry @addr of the AV in @peer, and makes the peer if there is none.
 * If the entry is the name of a service, starts or continues a lookup, and returns as
 * rnic_fi_lookup_poll() until the lookup has succeeded.  Otherwise returns 0, -FI_EINVAL if
 * there is no such entry, -FI_ENOMEM, or the negative FI_E code with which the peer has
 * failed.
 */
int rnic_fi_peer_get(struct rnic_fi_ep *ep, fi_addr_t addr,
		     struct rnic_fi_peer **peer);

/*
 * Returns the peer at @from with @tag.  If there is none and @make is true, all other
 * peers at @from fail, because a new endpoint has their mailbox, and the function makes
 * the peer.  Returns NULL if there is no such peer, or no memory for it.
 */
struct rnic_fi_peer *rnic_fi_peer_find(struct rnic_fi_ep *ep,
				       const struct rnic_fi_addr *from,
				       uint16_t tag, bool make);

/*
 * Returns the peer at @at with @tag, and makes it if there is none.  Returns NULL if
 * memory is lacking.  Other peers at @at stay as they are.
 */
struct rnic_fi_peer *rnic_fi_peer_at(struct rnic_fi_ep *ep,
				     const struct rnic_fi_addr *at, uint16_t tag);

/*
 * Makes @peer dead with @err, a positive FI_E code: frees the packets in its queue, and
 * ends with @err the parts of operations that wait for these packets, an answer, or a
 * read that the peer's NIC has accepted.  FI_ECONNRESET means that the endpoint has gone
 * or refuses messages.  A later call for a dead peer does nothing, except that the first
 * FI_ECONNRESET marks the peer as gone.
 */
void rnic_fi_peer_fail(struct rnic_fi_peer *peer, int err);

/* Sets fi_addr of the peers of @ep that had no entry in the AV, but have an entry now. */
void rnic_fi_peers_resolve(struct rnic_fi_ep *ep);

/*
 * Ends the lookups of @addr, and separates @addr from its peer.  The caller then removes
 * @addr from the AV.
 */
void rnic_fi_peers_forget(struct rnic_fi_ep *ep, fi_addr_t addr);

/*
 * Stores @peer, which may be NULL, in @slot, an entry of rnic_fi_ep.by_addr.  Adjusts
 * member names of this peer and of the previous peer in @slot.
 */
void rnic_fi_peer_name(struct rnic_fi_peer **slot, struct rnic_fi_peer *peer);

/*
 * Frees a peer, the packets in its queue and its operations, without completions.  Other
 * packets, unexpected messages and by_addr must not refer to the peer any more.
 */
void rnic_fi_peer_free(struct rnic_fi_peer *peer);

/*
 * Frees peers, lookups, queued packets, by_addr and places of an endpoint that closes.
 * Calls rnic_fi_rings_release().  Nothing waits for posted packets any more.
 */
void rnic_fi_peers_free(struct rnic_fi_ep *ep);

/*
 * The watch: if RNIC_FI_WATCH_MS have passed since the last watch, sends PING to silent
 * peers whose answers are missing, completes sends to peers that acknowledge nothing
 * (rnic_fi_pkts_hold()), sends probes to quiet peers, and frees memory of gone peers.  A
 * caller must not use a peer without names afterwards, because the function frees peers.
 */
void rnic_fi_peers_watch(struct rnic_fi_domain *domain);

/* --- Names ------------------------------------------------------------------- */

/*
 * Stores the number @text (decimal, hexadecimal with 0x, or octal with 0) in @value.
 * Returns true if all of @text is a number and the number is at most @max.
 */
bool rnic_fi_number(const char *text, uint64_t max, uint64_t *value);

/*
 * Stores in @number the number of @node, which is a number or a name in @file.  The file has
 * one node a line, like hosts(5): the node's number, then its names; "#" begins a comment.
 * Returns 0, or -FI_ENODATA if there is no such node.
 */
int rnic_fi_node_number(const struct rnic_fi_transport *transport,
			const char *file, const char *node, uint32_t *number);

/*
 * Stores in @number the number (1..65535) in the text @service.  Returns 0, or -FI_ENODATA if
 * @service is another text.
 */
int rnic_fi_service_number(const struct rnic_fi_transport *transport,
			   const char *service, uint16_t *number);

/* Return true if @name is a valid name of an endpoint or of a service. */
bool rnic_fi_name_is_endpoint(const struct rnic_fi_transport *transport,
			      const struct rnic_fi_name *name);
bool rnic_fi_name_is_service(const struct rnic_fi_transport *transport,
			     const struct rnic_fi_name *name);

/* Returns the name of @service at @node.  With @service 0 the name has only the node. */
struct rnic_fi_name rnic_fi_name_of_service(uint32_t node, uint16_t service);

/* --- Services ---------------------------------------------------------------- */

/*
 * Starts the lookup of @name, entry @addr of the AV, or returns the state of this lookup.
 * Never returns 0, because a lookup that succeeds stores the peer of @addr and ends.
 * -FI_EAGAIN: the lookup is under way; -FI_ENOMEM: the lookup could not start; any other
 * error: the lookup has failed and is freed, so the next call starts another lookup.
 */
int rnic_fi_lookup_poll(struct rnic_fi_ep *ep, fi_addr_t addr,
			const struct rnic_fi_name *name);

/* Ends the lookups of @addr, or all lookups of @ep if @addr is FI_ADDR_UNSPEC. */
void rnic_fi_lookups_forget(struct rnic_fi_ep *ep, fi_addr_t addr);

/* Returns true if a lookup of the domain has neither succeeded nor failed. */
bool rnic_fi_lookups_pending(const struct rnic_fi_domain *domain);

/* Sends more LOOKUPs, and makes lookups fail that have timed out. */
void rnic_fi_lookups_progress(struct rnic_fi_domain *domain);

/* Answers a LOOKUP of the endpoint at @to with @tag by FOUND, if @ep has @service. */
void rnic_fi_lookup_answer(struct rnic_fi_ep *ep, const struct rnic_fi_addr *to,
			   uint16_t tag, uint16_t service);

/*
 * Ends @ep's lookups of @service at the node of @from successfully, except if memory is
 * lacking: the service belongs to the peer at @from with @tag.
 */
void rnic_fi_lookup_found(struct rnic_fi_ep *ep, const struct rnic_fi_addr *from,
			  uint16_t tag, uint16_t service);

/* --- Packets ----------------------------------------------------------------- */

/* Returns a new packet to @peer without contents, or NULL if memory is lacking. */
struct rnic_fi_pkt *rnic_fi_pkt_alloc(struct rnic_fi_peer *peer,
				      enum rnic_fi_pkt_kind kind);

/* Frees a packet that is neither posted nor in a queue. */
void rnic_fi_pkt_free(struct rnic_fi_pkt *pkt);

/*
 * Stores the header word of message @op in @pkt, with the additional @bits RNIC_FI_HDR_.
 * Returns the address of the byte behind the header word.
 */
uint8_t *rnic_fi_pkt_header(struct rnic_fi_pkt *pkt, enum rnic_fi_msg_op op,
			    uint64_t bits);

/*
 * Sends @pkt now or later, with the next number if its kind has one.  The caller does not
 * use @pkt any more.
 */
void rnic_fi_pkt_send(struct rnic_fi_pkt *pkt);

/*
 * Handles the end of a packet that is neither posted nor in a queue.  @err is 0 or a
 * negative code.  If @err permits another attempt, puts the packet in a queue.  Otherwise
 * frees the packet and ends its part of the operation.  A numbered message that has failed
 * makes the peer fail.
 */
void rnic_fi_pkt_done(struct rnic_fi_pkt *pkt, int err);

/*
 * Sends a numbered message with the @len bytes at @body.  If the NIC later cannot deliver
 * the message, the peer fails.  Returns 0, -FI_ENOMEM, or the negative FI_E code of a dead
 * peer.
 */
int rnic_fi_pkt_send_simple(struct rnic_fi_peer *peer, enum rnic_fi_msg_op op,
			    const void *body, size_t len);

/*
 * Sends a message without sequence number to mailbox @to.  The header has the tags @dst_tag
 * and @src_tag, the body is the @len bytes at @body.  No function reports whether the
 * message has arrived.  Returns 0, -FI_EAGAIN if no channel is free, -FI_ENOMEM, or an error
 * of the transport.
 */
int rnic_fi_pkt_send_bare(struct rnic_fi_ep *ep, const struct rnic_fi_addr *to,
			  enum rnic_fi_msg_op op, uint16_t dst_tag,
			  uint16_t src_tag, const void *body, size_t len);

/*
 * Sends a message without number to @peer, with the @len bytes at @body.  If the message ends
 * with -FI_EACCES or -ENXIO, the peer fails with FI_ECONNRESET.  Sends nothing if memory is
 * lacking.
 */
void rnic_fi_pkt_send_probe(struct rnic_fi_peer *peer, enum rnic_fi_msg_op op,
			    const void *body, size_t len);

/*
 * Completes the sends to @peer that are queued or posted and whose packets or slots have a
 * copy of the data, except sends with FI_TRANSMIT_COMPLETE or FI_DELIVERY_COMPLETE.  Marks
 * @peer as stuck: until the next ack, such sends complete at once.
 */
void rnic_fi_pkts_hold(struct rnic_fi_peer *peer);

/* Returns the number of posted packets of this kind. */
unsigned int rnic_fi_pkts_posted(const struct rnic_fi_domain *domain,
				 enum rnic_fi_pkt_kind kind);

/* Handles the ends of packets, then posts packets that wait. */
void rnic_fi_pkts_progress(struct rnic_fi_domain *domain);

/* Returns true if a packet is queued, or a packet is posted whose end wakes no sleeper. */
bool rnic_fi_pkts_silent(struct rnic_fi_domain *domain);

/*
 * Frees the packets of @ep in msg_queue and write_queue of its domain, and separates its
 * posted packets from peers and operations, so that nothing waits for their ends.
 */
void rnic_fi_pkts_orphan(struct rnic_fi_ep *ep);

/* --- Reads ------------------------------------------------------------------- */

/*
 * Starts a read of @len bytes at @remote (see struct rnic_fi_request) of the peer of @op
 * into @dst.  @op waits for the end of the read.  Returns 0 or -FI_ENOMEM.
 */
int rnic_fi_read_start(struct rnic_fi_op *op, void *dst, uint64_t remote,
		       size_t len);

/*
 * Makes operations not wait any more for reads from dead peers that the peers' NICs have
 * accepted, because the ends of these reads may never come.  Other reads from dead peers
 * fail at the NIC, or are accepted later.
 */
void rnic_fi_reads_fail(struct rnic_fi_domain *domain);

/* --- Operations -------------------------------------------------------------- */

/*
 * Stores a new operation with pending 0 in *@op.  Returns 0, -FI_ENOMEM, or -FI_EAGAIN if
 * the endpoint has tx_size operations under way and @kind is not OP_RX.
 */
int rnic_fi_op_alloc(struct rnic_fi_peer *peer, enum rnic_fi_op_kind kind,
		     uint32_t ofi_op, void *context, uint64_t flags,
		     struct rnic_fi_op **op);

/*
 * Ends one pending part of @op with @err: 0, or an FI_E code of either sign.  After the
 * last part calls end(), which usually frees @op.
 */
void rnic_fi_op_put(struct rnic_fi_op *op, int err);

/*
 * The usual end(): writes the completion of @op, and frees @op.  If rnic_fi_op_hold() has
 * written the completion already, only logs the error, if there is one, and frees @op.
 */
void rnic_fi_op_end(struct rnic_fi_op *op);

/*
 * Writes the completion of @op, a send by rendezvous, because the data has been copied.
 * @op still exists until the peer sends FIN or fails.
 */
void rnic_fi_op_hold(struct rnic_fi_op *op);

/* Frees an operation without completion. */
void rnic_fi_op_free(struct rnic_fi_op *op);

/* Returns the operation @id of @peer that waits for an answer, or NULL. */
struct rnic_fi_op *rnic_fi_op_find(struct rnic_fi_peer *peer,
				   enum rnic_fi_op_kind kind, uint32_t id);

/*
 * Counts the end of a send, write, read or atomic, and writes its completion if @flags or
 * @err require one.  @err is 0 or a positive FI_E code.
 */
void rnic_fi_complete_tx(struct rnic_fi_ep *ep, uint32_t ofi_op, void *context,
			 uint64_t flags, int err);

/* --- Receiving --------------------------------------------------------------- */

/*
 * Delivers a message of the user: if a receive matches the message, copies the data or
 * starts to read the data; otherwise keeps the message until a receive matches.  Without
 * memory to keep the message, the peer fails; without memory to read, the receive fails.
 */
void rnic_fi_rx_deliver(struct rnic_fi_peer *peer,
			const struct rnic_fi_rx_info *info);

/* Executes the operation in the ATOMIC @body of @peer, and sends ATOMIC_RSP. */
void rnic_fi_atomic_execute(struct rnic_fi_peer *peer,
			    const struct rnic_fi_body *body);
/* Copies the results in the ATOMIC_RSP @body to the user, and ends the operation. */
void rnic_fi_atomic_finish(struct rnic_fi_peer *peer,
			   const struct rnic_fi_body *body);

/* --- Slots ------------------------------------------------------------------- */

/*
 * Returns true if a slot of the send ring of @peer is free and has room for @len bytes, and
 * @len is at most eager_size.
 */
bool rnic_fi_slot_usable(struct rnic_fi_peer *peer, size_t len);

/*
 * Sends a message through a slot; rnic_fi_slot_usable() must have returned true.  @op waits
 * for the end of the write, or is NULL.  Returns 0 or -FI_ENOMEM.
 */
int rnic_fi_slot_send(struct rnic_fi_peer *peer, struct rnic_fi_op *op,
		      uint32_t ofi_op, const struct iovec *iov, size_t count,
		      uint64_t tag, uint64_t cq_data, uint64_t flags);

/*
 * Makes a receive ring for @peer and sends RING, unless @peer has a receive ring, no
 * place is free, or memory is lacking or cannot be exposed.
 */
void rnic_fi_slot_offer(struct rnic_fi_peer *peer);
/* Delivers the message in the slot that the note @word names. */
void rnic_fi_slot_arrive(struct rnic_fi_peer *peer, uint64_t word);
/* Handle RING and CREDIT of @peer, to which this endpoint sends. */
void rnic_fi_slot_ring(struct rnic_fi_peer *peer, const struct rnic_fi_body *body);
void rnic_fi_slot_credit(struct rnic_fi_peer *peer, uint32_t emptied);

/* Returns the peer whose receive ring is ring @number, or NULL if there is no such ring. */
struct rnic_fi_peer *rnic_fi_slot_peer(struct rnic_fi_ep *ep, uint16_t number);

/*
 * Handle RING_END and RING_GONE of the endpoint at @from with @tag, for ring @number.
 * rnic_fi_slot_end() frees the send ring and answers RING_GONE, but does nothing while
 * messages to the peer are under way.  Without such a send ring rnic_fi_slot_end() only
 * answers RING_GONE.  rnic_fi_slot_gone() frees the receive ring if RING_END was sent for it.
 */
void rnic_fi_slot_end(struct rnic_fi_ep *ep, const struct rnic_fi_addr *from,
		      uint16_t tag, uint16_t number);
void rnic_fi_slot_gone(struct rnic_fi_ep *ep, const struct rnic_fi_addr *from,
		       uint16_t tag, uint16_t number);

/*
 * Sends RING_END for the receive ring of @peer.  Does nothing while numbered messages to
 * @peer are not acked.  The ring is freed when RING_GONE arrives.
 */
void rnic_fi_ring_end(struct rnic_fi_peer *peer);

/*
 * Frees the rings of @peer, which has gone, or whose member ep closes.  Keeps the send
 * ring while numbered packets are queued or posted, because the NIC may read the ring.
 */
void rnic_fi_rings_release(struct rnic_fi_peer *peer);

/* Frees and unmaps all rings of a domain whose NIC is closed.  Needs no lock. */
void rnic_fi_rings_free(struct rnic_fi_domain *domain);

/* --- Progress ---------------------------------------------------------------- */

/*
 * A callback of libfabric.  Makes progress in the endpoint's domain, then in the other
 * domains of the process unless another thread does so.  Then sleeps or calls hint() if
 * more than idle_polls or hint_polls polls found nothing.  The caller holds no lock.
 */
void rnic_fi_ep_progress(struct util_ep *util_ep);
/*
 * Handles arrived messages and ended packets of @domain, posts queued packets, and continues
 * lookups.  Sometimes runs the watch.
 */
void rnic_fi_domain_progress(struct rnic_fi_domain *domain);

/*
 * Add @domain to the list of domains that rnic_fi_ep_progress() serves, and remove @domain
 * from this list.  The caller does not hold the domain's lock.
 */
void rnic_fi_progress_join(struct rnic_fi_domain *domain);
void rnic_fi_progress_leave(struct rnic_fi_domain *domain);

/*
 * Callback of wait objects, before a thread sleeps.  @arg is a struct rnic_fi_ep.  The caller
 * does not hold the lock.  Makes the NIC and the timer wake the thread, and makes progress.
 * Returns FI_SUCCESS if the thread may sleep, -FI_EAGAIN if the thread must poll.
 */
int rnic_fi_ep_trywait(void *arg);

#endif /* RNIC_FI_PROV_H */

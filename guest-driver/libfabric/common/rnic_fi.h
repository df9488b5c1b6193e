/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Common part of the libfabric providers: reliable datagrams over a NIC that
 * rnic_fi_transport.h describes.
 *
 * Objects, and what they own:
 *   domain    one context of the NIC, all pools, one lock
 *   endpoint  one mailbox of that context, its peers, its receive queues
 *   peer      state for messages with one endpoint: sequence numbers, packets to send,
 *             operations under way.  rnic_fi_quiet.c describes when a peer is freed.
 *   op        one call of the user, or one rendezvous receive, until its end
 *   packet    one request to the NIC, until its end
 *
 * The lock of a domain protects the domain and its objects.  The caller of a function of this
 * header that uses members that change holds the lock, unless a comment says otherwise.
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
#define RNIC_FI_INLINE_HDR_MAX	24	/* bytes of header word, tag and CQ data */
#define RNIC_FI_INJECT_SIZE	(RNIC_FI_MSG_MAX - RNIC_FI_INLINE_HDR_MAX)
#define RNIC_FI_TX_SIZE		256	/* default and maximum of tx_attr.size */
#define RNIC_FI_RX_SIZE		1024	/* default and maximum of rx_attr.size */
#define RNIC_FI_PEER_QUEUE	1024	/* limit of rnic_fi_peer.queued for sends and atomics */
#define RNIC_FI_PEER_HELD	1024	/* limit of rnic_fi_peer.held */
#define RNIC_FI_HELD_BYTES	4096	/* maximum bytes of a held send */
#define RNIC_FI_PEER_BUCKETS	64

/*
 * How often a packet is posted again at most.  FULL_RETRIES: the NIC fails a packet to a full
 * mailbox or request queue after 10 to 20 s, but the peer may only be computing.
 * FAULT_RETRIES: a message failed because a page was missing.
 */
#define RNIC_FI_FULL_RETRIES	30
#define RNIC_FI_FAULT_RETRIES	3
#define RNIC_FI_PROBES		2	/* the watch sends probes only while fewer are posted */
#define RNIC_FI_PROBE_MAX_MS	3600000	/* limit up to which rnic_fi_peer.probe_wait doubles */
#define RNIC_FI_GONE_MS		60000	/* time after which the NIC of a peer that has gone
					 * writes no more to the receive ring of this peer */
#define RNIC_FI_RING_ASK_MS	10000	/* ms until RTS may repeat a ring request, see ask_ms */
#define RNIC_FI_RINGS_MAX	1024	/* maximum of rnic_fi_ring_limit */
#define RNIC_FI_WATCH_MS		1000	/* minimum time between two watches */
#define RNIC_FI_PING_MS		3000	/* minimum silence of a peer that owes an answer,
					 * before the watch sends PING */
#define RNIC_FI_TOUCH_BYTES	4096	/* step when touching each page; no page is smaller */

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
	RNIC_FI_PKT_BARE,	/* message without number; the packet has no peer */
	RNIC_FI_PKT_LOOKUP,	/* LOOKUP: as BARE, but sent once without an ack */
	RNIC_FI_PKT_PROBE,	/* message without number; the packet has a peer */
	RNIC_FI_PKT_PUT,		/* small RMA write */
	RNIC_FI_PKT_READ,	/* RDMA read */
	RNIC_FI_PKT_WRITE,	/* RDMA write of the user */
	RNIC_FI_PKT_SLOT,	/* RDMA write to a slot; its note is a numbered message */
};

struct rnic_fi_pkt {
	struct rnic_fi_request	req;	/* first, because its type is aligned to 16 bytes */
	struct dlist_entry	entry;	/* in a queue of the peer or domain, or in
					 * rnic_fi_domain.posted */
	struct rnic_fi_peer	*peer;	/* NULL: nothing waits for the packet's end */
	struct rnic_fi_op	*op;	/* operation that waits for the end, or NULL */
	enum rnic_fi_pkt_kind	kind;
	uint16_t		seq;	/* sequence number of PKT_MSG or PKT_SLOT */
	uint8_t			tries;	/* how often an error queued the packet again */
	uint32_t		slot;	/* PKT_SLOT: number of slots of the ring that were
					 * filled before this slot */
};

/* Kinds of operations.  A failure of the peer ends OP_RTS and OP_ATOMIC, and may end others. */
enum rnic_fi_op_kind {
	RNIC_FI_OP_TX,		/* ends with its packets, or by rnic_fi_pkts_hold() */
	RNIC_FI_OP_RTS,		/* send by rendezvous: ends with FIN */
	RNIC_FI_OP_ATOMIC,	/* ends with ATOMIC_RSP */
	RNIC_FI_OP_RX,		/* receive by rendezvous: ends with its reads */
};

struct rnic_fi_op {
	struct dlist_entry	entry;	/* in rnic_fi_peer.ops */
	struct rnic_fi_ep	*ep;
	struct rnic_fi_peer	*peer;
	enum rnic_fi_op_kind	kind;
	uint32_t		ofi_op;	/* kind of the call in libfabric: ofi_op_msg ... */
	void			*context;	/* the user's context, for the completion */
	uint64_t		flags;	/* flags of the call; OP_RX: of rnic_fi_rx_info */
	uint32_t		id;	/* number in RTS or ATOMIC; OP_RX: in the peer's RTS */
	uint32_t		pending;	/* number of packets, answers and calls that
						 * have not ended yet */
	/* rnic_fi_op_put() calls end() when pending becomes 0. */
	void			(*end)(struct rnic_fi_op *op);
	int			err;	/* 0, or the first error: a positive number */
	bool			held;	/* OP_RTS: rnic_fi_op_hold() was called */
	size_t			len;	/* bytes of the RMA, message (OP_RX) or results */
	uint64_t		tag;
	uint64_t		cq_data;
	void			*bounce;	/* OP_RTS: copy of the source, or NULL */
	bool			exposed;	/* OP_RTS: the source is exposed as base */
	uint64_t		base;
	struct fi_peer_rx_entry	*rx;	/* OP_RX: the user's receive */
	struct iovec		result[RNIC_FI_IOV_LIMIT];	/* OP_ATOMIC: result buffers */
	size_t			result_count;
};

/* A message of the peer's user that has arrived by EAGER, in a slot, or by RTS. */
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
						 * which it may be reused, or UINT64_MAX */
	uint8_t			*alloc;	/* mapping of alloc_bytes bytes */
	size_t			alloc_bytes;
	uint8_t			*mem;	/* within alloc, aligned to slot_bytes; receiver: the
					 * slots; sender: the source of the writes */
	uint64_t		base;	/* receiver: base of the slots, from expose() */
	uint64_t		remote;	/* address of the receiver's slots */
	uint32_t		slot_bytes;	/* bytes of a slot */
	uint32_t		slots;	/* number of slots */
	uint32_t		number;	/* number of the ring in messages */
	uint32_t		filled;	/* sender: number of slots filled since RING */
	uint32_t		emptied;	/* number of slots emptied since RING; sender:
						 * value in the last valid CREDIT */
	uint32_t		advertised;	/* receiver: value of emptied in last CREDIT */
	bool			used;	/* receiver: used since the last watch */
	uint64_t		used_ms;	/* receiver: time of the offer, or of the watch
						 * after the last use */
	uint64_t		end_ms;	/* receiver: time of the last RING_END, or 0 */
};

/* Place of a receive ring.  Index and generation of the place form the ring's number. */
struct rnic_fi_place {
	struct rnic_fi_peer	*peer;	/* NULL: the place is free */
	uint32_t		generation;	/* number of rings that have ended here */
};

/* The search, by LOOKUP messages, of the endpoint that owns a service of a node. */
struct rnic_fi_lookup {
	struct dlist_entry	entry;	/* in rnic_fi_domain.lookups */
	struct rnic_fi_ep	*ep;
	fi_addr_t		addr;	/* entry of the service's name in the AV */
	uint32_t		node;
	uint16_t		service;
	uint16_t		next;	/* mailbox that gets LOOKUP next; the number of the
					 * node's mailboxes: no round is under way */
	uint64_t		round_ms;	/* earliest start of the next round */
	uint32_t		pause_ms;	/* ms from the next round to the round after */
	uint64_t		end_ms;	/* time at which the lookup fails */
	int			err;	/* 0, or positive FI_E: the lookup has failed */
};

struct rnic_fi_peer {
	struct rnic_fi_peer	*next;	/* next peer of the bucket */
	struct rnic_fi_ep	*ep;	/* own endpoint */
	struct rnic_fi_addr	to;	/* mailbox of the peer */
	uint16_t		tag;	/* the peer's tag */
	fi_addr_t		fi_addr;	/* entry in the AV, or FI_ADDR_NOTAVAIL */
	int			dead;	/* 0, or positive FI_E: the peer has failed */
	bool			gone;	/* rnic_fi_peer_fail() was called with FI_ECONNRESET */
	uint64_t		gone_ms;	/* time at which gone was set */
	uint32_t		refs;	/* packets and unexpected messages that use the peer */
	uint32_t		names;	/* number of entries of by_addr that name the peer */

	struct dlist_entry	queue;	/* numbered packets to be posted, retries first */
	struct dlist_entry	wait_entry;	/* in rnic_fi_domain.waiting if queued > 0 */
	uint32_t		queued;	/* number of packets in queue */
	uint32_t		held;	/* number of operations with member held */
	uint32_t		inflight;	/* number of posted numbered messages */
	uint16_t		tx_seq;	/* sequence number of the next message to the peer */
	uint16_t		tx_una;	/* sequence number of the oldest unacked message */
	uint16_t		tx_acked;	/* bit n: message tx_una + n is acked */

	uint16_t		rx_seq;	/* sequence number of the next message to be handled */
	struct rnic_fi_early	*early;	/* array of RNIC_FI_WINDOW messages, or NULL */

	struct dlist_entry	ops;	/* operations under way, struct rnic_fi_op */
	bool			active;	/* numbered message or non-probe ack since last watch */
	bool			takes;	/* numbered message, or its ack, since last watch */
	bool			stuck;	/* no message acked since rnic_fi_pkts_hold() */
	uint64_t		alive_ms;	/* last PING, or last watch at which the peer
						 * was active or owed no answer */
	uint64_t		probe_ms;	/* earliest time of the watch's next probe */
	uint64_t		probe_wait;	/* ms from the next probe to the probe after */

	uint64_t		ask_ms;	/* earliest time for RTS to request a ring */
	struct rnic_fi_ring	*tx_ring;	/* ring for sends to the peer, or NULL */
	struct rnic_fi_ring	*rx_ring;	/* ring for sends of the peer, or NULL */
};

struct rnic_fi_ep {
	struct util_ep		util_ep;
	struct rnic_fi_domain	*domain;
	struct fid_ep		*srx;
	bool			enabled;	/* the endpoint has a mailbox */
	unsigned int		nr;	/* number of the mailbox */
	uint16_t		tag;	/* random number of an enabled endpoint, not 0 */
	uint16_t		service;	/* number that LOOKUP finds, or 0 */
	size_t			tx_size;	/* limit of tx_ops */
	size_t			rx_size;	/* rx_attr.size, for util_ep_srx_context() */
	size_t			min_multi_recv;	/* FI_OPT_MIN_MULTI_RECV */
	int			cntr_first[CNTR_CNT];	/* lowest index of util_ep.cntrs
							 * with the same counter */
	uint32_t		tx_ops;	/* number of operations under way, without OP_RX and
					 * held operations */
	uint32_t		next_id;	/* last number from rnic_fi_op_alloc() */
	struct rnic_fi_peer	*buckets[RNIC_FI_PEER_BUCKETS];	/* all peers, by address */
	struct ofi_dyn_arr	by_addr;	/* struct rnic_fi_peer *, by fi_addr */
	struct rnic_fi_place	*places;	/* array of rnic_fi_ring_limit, or NULL */
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
	struct dlist_entry	entry;	/* in rnic_fi_domains.list */
	const struct rnic_fi_transport *transport;
	struct rnic_fi_nic	*nic;
	int			timer_fd;	/* wakes sleepers for the watch; -1: no
						 * wait object was bound yet */
	struct rnic_fi_ep	*eps[RNIC_FI_MBOXES];	/* enabled endpoints, by mailbox */
	unsigned int		ep_end;	/* entries of eps from this index on were never used */
	struct ofi_rbmap	*mrs;	/* struct rnic_fi_mr by key */

	struct dlist_entry	posted;	/* packets that the NIC has */
	struct dlist_entry	msg_queue;	/* PUT, READ and PROBE packets to be posted */
	struct dlist_entry	write_queue;	/* WRITE packets to be posted */
	struct dlist_entry	waiting;	/* peers whose queue is not empty */
	struct dlist_entry	rings;	/* all rings, also released rings */
	struct dlist_entry	lookups;	/* struct rnic_fi_lookup */
	uint32_t		sources;	/* number of rendezvous sends whose data is exposed */
	bool			reaping;	/* the transport's reap() is running */
	bool			warned;	/* rnic_fi_peer_warn() has written its warning */
	bool			doomed;	/* reads from dead peers may be posted that the peers'
					 * NICs have not accepted yet */

	struct ofi_bufpool	*pkt_pool;	/* struct rnic_fi_pkt */
	struct ofi_bufpool	*op_pool;	/* struct rnic_fi_op */
	uint32_t		spins;	/* calls of rnic_fi_domain_progress(), mod 2^32 */
	uint32_t		idle;	/* progress calls since last arrival or end of packet
					 * with peer, plus RNIC_FI_HINT_COUNTS per hint() */
	uint64_t		watch_ms;	/* time from which the next watch may run */
	bool			asleep;	/* a thread may sleep on a wait object */
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
 * libfabric calls the functions of rnic_fi_srx_peer_ops with the lock of the domain, and all
 * other functions of this section without this lock.
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
 * Stores in @where the address for a read or, if @write, a write of the @len bytes at @addr of
 * the peer's region with @key.  @addr is an offset or, if rnic_fi_virt_addr(), a virtual
 * address.  Returns 0, or -FI_EACCES if @key does not permit the access or the range.
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
 * Returns the peer at @from with @tag.  If there is no such peer and @make is true, makes the
 * peer, and makes all other peers at @from fail, because a new endpoint has their mailbox.
 * Returns NULL if there is no such peer and @make is false, or if memory is lacking.
 */
struct rnic_fi_peer *rnic_fi_peer_find(struct rnic_fi_ep *ep,
				       const struct rnic_fi_addr *from,
				       uint16_t tag, bool make);

/*
 * Returns the peer at @at with @tag, which the function makes if there is no such peer.
 * Returns NULL if memory is lacking.  Other peers at @at stay as they are.
 */
struct rnic_fi_peer *rnic_fi_peer_at(struct rnic_fi_ep *ep,
				     const struct rnic_fi_addr *at, uint16_t tag);

/*
 * Makes @peer dead with @err, a positive FI_E code: frees the packets in the queue of @peer,
 * and ends with @err the parts of operations that wait for these packets, an answer, or a read
 * that the peer's NIC has accepted.  FI_ECONNRESET means that the endpoint has gone or refuses
 * messages.  A later call for a dead peer does nothing, except that the first FI_ECONNRESET
 * marks the peer as gone.
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
 * Stores @peer, which may be NULL, in @slot, an entry of rnic_fi_ep.by_addr.  Adds 1
 * to the count names of @peer, and subtracts 1 from that of the previous peer in @slot.
 */
void rnic_fi_peer_name(struct rnic_fi_peer **slot, struct rnic_fi_peer *peer);

/*
 * Frees @peer, and the packets in its queue and its operations without completions.  The caller
 * has released the rings, and does not use other references to @peer any more.
 */
void rnic_fi_peer_free(struct rnic_fi_peer *peer);

/*
 * Frees peers, lookups, queued packets, by_addr and places of @ep, which closes.  Releases the
 * rings by rnic_fi_rings_release().  Nothing waits for the posted packets of @ep any more.
 */
void rnic_fi_peers_free(struct rnic_fi_ep *ep);

/*
 * The watch: if RNIC_FI_WATCH_MS have passed since the last watch, sends PING to silent peers
 * that owe answers, completes sends to peers that acknowledge nothing (rnic_fi_pkts_hold()),
 * sends PROBE or RING_END to quiet peers, and frees early buffers and memory of gone peers.
 * Then the caller must not use a peer whose member names is 0; the peer may be freed.
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
 * one node a line, like hosts(5): the number of the node, then names; "#" begins a comment.
 * Returns 0, or -FI_ENODATA if @node is neither a number up to node_max nor in @file.
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

/* Sends the next LOOKUPs of @domain, and makes lookups fail that have timed out. */
void rnic_fi_lookups_progress(struct rnic_fi_domain *domain);

/* Handles LOOKUP: sends FOUND to the endpoint at @to with @tag if @ep has @service. */
void rnic_fi_lookup_answer(struct rnic_fi_ep *ep, const struct rnic_fi_addr *to,
			   uint16_t tag, uint16_t service);

/*
 * Handles FOUND: the peer at @from with @tag owns @service.  Stores this peer for the lookups
 * of @ep for @service at the node of @from, and ends these lookups.  Does nothing if @tag is
 * 0 or memory is lacking.
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
 * Stores the header word of message @op in @pkt, with the additional bits @bits (fields
 * RNIC_FI_HDR_*).  Returns the address of the byte behind the header word.
 */
uint8_t *rnic_fi_pkt_header(struct rnic_fi_pkt *pkt, enum rnic_fi_msg_op op,
			    uint64_t bits);

/*
 * Posts or queues @pkt, with the next sequence number if the kind of @pkt is numbered.  If the
 * transport refuses @pkt, calls rnic_fi_pkt_done().  The caller does not use @pkt any more.
 */
void rnic_fi_pkt_send(struct rnic_fi_pkt *pkt);

/*
 * Handles the end of @pkt, which is neither posted nor in a queue.  @err is 0 or a negative
 * code.  After some errors puts @pkt in a queue again (see "Errors" in rnic_fi_transport.h).
 * Otherwise frees @pkt and ends its part of the operation.  The peer fails if @pkt was numbered
 * and has failed, or was a probe and ended with -FI_EACCES or -ENXIO.
 */
void rnic_fi_pkt_done(struct rnic_fi_pkt *pkt, int err);

/*
 * Sends a numbered message with the @len bytes at @body.  If the NIC cannot deliver the
 * message, the peer fails, perhaps before the return.  Returns 0, -FI_ENOMEM, or the negative
 * error of a peer that was dead before the call.
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
 * Completes the sends to @peer that are queued or posted and whose packets or slots have a copy
 * of the data, except sends with FI_TRANSMIT_COMPLETE or FI_DELIVERY_COMPLETE.  Marks @peer as
 * stuck: until the next ack of a numbered message, such sends complete at once.
 */
void rnic_fi_pkts_hold(struct rnic_fi_peer *peer);

/* Returns the number of posted packets of @kind. */
unsigned int rnic_fi_pkts_posted(const struct rnic_fi_domain *domain,
				 enum rnic_fi_pkt_kind kind);

/* Handles the ends of packets, then posts packets that wait. */
void rnic_fi_pkts_progress(struct rnic_fi_domain *domain);

/* Returns true if a packet is queued, or the end of a posted packet wakes no sleeper. */
bool rnic_fi_pkts_silent(struct rnic_fi_domain *domain);

/*
 * Frees the packets of @ep in msg_queue and write_queue of the domain, and separates the posted
 * packets of @ep from peers and operations, so that nothing waits for their ends.
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
 * Ends, with the error of the peer, the parts of operations that wait for reads that NICs of
 * dead peers have accepted, because the ends of these reads may never come.  Other reads from
 * dead peers fail at the NIC, or are accepted later.
 */
void rnic_fi_reads_fail(struct rnic_fi_domain *domain);

/* --- Operations -------------------------------------------------------------- */

/*
 * Stores a new operation with pending 0 in *@op.  Returns 0, -FI_ENOMEM, or -FI_EAGAIN if
 * member tx_ops of the endpoint has reached tx_size and @kind is not OP_RX.
 */
int rnic_fi_op_alloc(struct rnic_fi_peer *peer, enum rnic_fi_op_kind kind,
		     uint32_t ofi_op, void *context, uint64_t flags,
		     struct rnic_fi_op **op);

/*
 * Ends one pending part of @op with @err: 0, or an error code of either sign.  After the
 * last part calls end(), which usually frees @op.
 */
void rnic_fi_op_put(struct rnic_fi_op *op, int err);

/*
 * The usual end(): completes @op by rnic_fi_complete_tx(), and frees @op.  If
 * rnic_fi_op_hold() has completed @op already, only logs the error, if any, and frees @op.
 */
void rnic_fi_op_end(struct rnic_fi_op *op);

/*
 * Completes @op, a send by rendezvous, by rnic_fi_complete_tx(), because the data is copied.
 * @op still exists until the peer sends FIN or fails, or the endpoint closes.
 */
void rnic_fi_op_hold(struct rnic_fi_op *op);

/* Frees an operation without completion. */
void rnic_fi_op_free(struct rnic_fi_op *op);

/* Returns the operation of @peer with @kind and @id, or NULL. */
struct rnic_fi_op *rnic_fi_op_find(struct rnic_fi_peer *peer,
				   enum rnic_fi_op_kind kind, uint32_t id);

/*
 * Counts the end of a send, write, read or atomic in the counters of @ep, and writes the
 * completion if @flags or @err require a completion.  @err is 0 or a positive error code.
 */
void rnic_fi_complete_tx(struct rnic_fi_ep *ep, uint32_t ofi_op, void *context,
			 uint64_t flags, int err);

/* --- Receiving --------------------------------------------------------------- */

/*
 * Delivers a message of the user: if a receive matches, copies or reads the data; otherwise
 * keeps the message.  Drops the message if the endpoint has no CQ for receives.  Without
 * memory to keep the message, the peer fails; without memory to read, the receive fails.
 */
void rnic_fi_rx_deliver(struct rnic_fi_peer *peer,
			const struct rnic_fi_rx_info *info);

/* Executes the ATOMIC @body of @peer if it is valid, and sends ATOMIC_RSP with the status. */
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
 * Sends a message through a slot; rnic_fi_slot_usable() must have returned true.  @op waits for
 * the end of the RDMA write, or is NULL.  Returns 0 or -FI_ENOMEM.
 */
int rnic_fi_slot_send(struct rnic_fi_peer *peer, struct rnic_fi_op *op,
		      uint32_t ofi_op, const struct iovec *iov, size_t count,
		      uint64_t tag, uint64_t cq_data, uint64_t flags);

/*
 * Makes a receive ring for @peer and sends RING, unless @peer has a receive ring, no place is
 * free (then may request the end of an idle ring), memory is lacking, or expose() fails.
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
 * rnic_fi_slot_end() frees the send ring and answers RING_GONE, but does nothing while numbered
 * messages to the peer are queued or posted.  Without such a send ring rnic_fi_slot_end() only
 * answers RING_GONE.  rnic_fi_slot_gone() frees the receive ring if RING_END was sent for it.
 */
void rnic_fi_slot_end(struct rnic_fi_ep *ep, const struct rnic_fi_addr *from,
		      uint16_t tag, uint16_t number);
void rnic_fi_slot_gone(struct rnic_fi_ep *ep, const struct rnic_fi_addr *from,
		       uint16_t tag, uint16_t number);

/*
 * Sends RING_END for the receive ring of @peer.  Does nothing while numbered messages to @peer
 * are queued or posted.  The ring is freed when RING_GONE arrives.
 */
void rnic_fi_ring_end(struct rnic_fi_peer *peer);

/*
 * Frees the rings of @peer, which has gone or whose own endpoint closes.  Keeps the send ring
 * while numbered packets are queued or posted, because the NIC may read the ring.
 */
void rnic_fi_rings_release(struct rnic_fi_peer *peer);

/* Frees and unmaps all rings of a domain whose NIC is closed.  Needs no lock. */
void rnic_fi_rings_free(struct rnic_fi_domain *domain);

/* --- Progress ---------------------------------------------------------------- */

/*
 * Makes progress in the domain of @util_ep, then in the other domains of the process unless
 * another thread does so.  Then sleeps if member idle is above idle_polls, else calls hint() if
 * idle is above hint_polls; 0 means never.  The caller holds no lock of a domain.
 */
void rnic_fi_ep_progress(struct util_ep *util_ep);
/*
 * Handles arrived messages and ended packets of @domain, posts queued packets, and continues
 * lookups.  One in RNIC_FI_WATCH_ROUNDS calls also calls rnic_fi_peers_watch().  Returns true if
 * no mailbox has arrivals left.
 */
bool rnic_fi_domain_progress(struct rnic_fi_domain *domain);

/*
 * Add @domain to the list of domains that rnic_fi_ep_progress() serves, and remove @domain
 * from this list.  The caller does not hold the domain's lock.
 */
void rnic_fi_progress_join(struct rnic_fi_domain *domain);
void rnic_fi_progress_leave(struct rnic_fi_domain *domain);

/*
 * libfabric calls this function before a thread sleeps on a wait object.  @arg is a struct
 * rnic_fi_domain.  The caller does not hold the lock.  Makes the NIC and the timer wake the thread,
 * and makes progress.  Returns FI_SUCCESS if the thread may sleep, else -FI_EAGAIN.
 */
int rnic_fi_domain_trywait(void *arg);
/* Wakes all threads that rnic_fi_domain_trywait() has let sleep, because one must poll. */
void rnic_fi_sleepers_wake(struct rnic_fi_domain *domain);

#endif /* RNIC_FI_PROV_H */

/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Common part of the libfabric providers: reliable datagrams over a NIC that
 * rnic_fi_transport.h describes.
 *
 * Objects, and what they own:
 *   domain    one context of the NIC, all pools; one lock
 *   endpoint  one mailbox of that context, its peers, its receive queues
 *   peer      one other endpoint: sequence numbers, packets to send, operations
 *             that wait for an answer.  rnic_fi_quiet.c says when it is freed.
 *   op        one call of the user, or one rendezvous receive, until its completion
 *   packet    one request to the NIC, until its end
 *
 * Everything below a domain is guarded by the domain's lock; functions here expect
 * that it is held unless they say otherwise.  Progress is manual and always serves the
 * whole domain, so that a sleeper on one queue is woken by the work of another thread;
 * and then the other domains of the process, because a thread that polls one queue may
 * wait for a peer that waits for an atomic at another domain of this process.
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
#define RNIC_FI_TX_SIZE		256	/* limit of an endpoint's operations under way */
#define RNIC_FI_RX_SIZE		1024
#define RNIC_FI_PEER_QUEUE	1024	/* limit of packets in a peer's queue */
#define RNIC_FI_PEER_HELD	1024	/* limit of held sends to a peer */
#define RNIC_FI_HELD_BYTES	4096	/* maximum length of a held send */
#define RNIC_FI_RX_BUDGET	64	/* most messages of one poll of a mailbox */
#define RNIC_FI_PEER_BUCKETS	64

/*
 * Limits of posting a packet again.  The NIC fails a packet to a full mailbox or request
 * queue after about 20 s, but the peer may only be computing.  FAULT_RETRIES is for
 * messages for which a page is missing.
 */
#define RNIC_FI_FULL_RETRIES	30
#define RNIC_FI_FAULT_RETRIES	3
#define RNIC_FI_PROBES		2	/* most probes of a domain under way */
#define RNIC_FI_PROBE_MAX_MS	3600000	/* longest time between two probes of a peer */
#define RNIC_FI_GONE_MS		60000	/* for writes by a gone endpoint's NIC */
#define RNIC_FI_RING_ASK_MS	10000	/* time between two requests for a ring */
#define RNIC_FI_RINGS_MAX	1024	/* limit of an endpoint, for each direction */
#define RNIC_FI_WATCH_MS		1000	/* time between two calls of the watch */
#define RNIC_FI_PING_MS		3000	/* silence after which a peer gets PING */
#define RNIC_FI_DRAIN_MS		5000	/* limit of a close without progress */
#define RNIC_FI_IDLE_SLEEP_US	50
#define RNIC_FI_HINT_COUNTS	8	/* a hint() counts as so many idle polls */
#define RNIC_FI_TOUCH_BYTES	4096	/* step of touching pages; no page is smaller */

/* Parameters of a provider; rnic_fi_params() says what they mean. */
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
	RNIC_FI_PKT_PROBE,	/* message without number, to a quiet peer */
	RNIC_FI_PKT_PUT,		/* small RMA write */
	RNIC_FI_PKT_READ,	/* RDMA read */
	RNIC_FI_PKT_WRITE,	/* RDMA write of the user */
	RNIC_FI_PKT_SLOT,	/* RDMA write that is a numbered message */
};

struct rnic_fi_pkt {
	struct rnic_fi_request	req;	/* first, because the transport aligns it */
	struct dlist_entry	entry;	/* queue of the peer or domain, or of
					 * rnic_fi_domain.posted */
	struct rnic_fi_peer	*peer;	/* NULL: nothing waits for the packet's end */
	struct rnic_fi_op	*op;	/* operation that waits for the end, or NULL */
	enum rnic_fi_pkt_kind	kind;
	uint16_t		seq;	/* number of a numbered message */
	uint8_t			tries;	/* how often the packet was posted again */
	uint32_t		slot;	/* PKT_SLOT: slots filled before this one */
};

enum rnic_fi_op_kind {
	RNIC_FI_OP_TX,		/* ends when its packets are acked */
	RNIC_FI_OP_RTS,		/* ends with FIN */
	RNIC_FI_OP_ATOMIC,	/* ends with ATOMIC_RSP */
	RNIC_FI_OP_RX,		/* rendezvous receive: ends with its reads */
};

struct rnic_fi_op {
	struct dlist_entry	entry;	/* rnic_fi_peer.ops */
	struct rnic_fi_ep	*ep;
	struct rnic_fi_peer	*peer;
	enum rnic_fi_op_kind	kind;
	uint32_t		ofi_op;	/* ofi_op_msg ... */
	void			*context;
	uint64_t		flags;	/* FI_COMPLETION, FI_REMOTE_CQ_DATA ... */
	uint32_t		id;	/* number in messages; the peer chooses OP_RX's */
	uint32_t		pending;	/* packets and answers not ended yet */
	void			(*end)(struct rnic_fi_op *op);	/* when pending is 0 */
	int			err;	/* first error, positive FI_E */
	bool			held;	/* OP_RTS: the user has got the completion */
	size_t			len;
	uint64_t		tag;
	uint64_t		cq_data;
	void			*bounce;	/* copy of the data, or NULL */
	bool			exposed;	/* of OP_RTS: the source, as @base */
	uint64_t		base;
	struct fi_peer_rx_entry	*rx;	/* of OP_RX */
	struct iovec		result[RNIC_FI_IOV_LIMIT];	/* of atomics */
	size_t			result_count;
};

/* An arrived message. */
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

/* One end of a ring of slots. */
struct rnic_fi_ring {
	struct dlist_entry	entry;	/* rnic_fi_domain.rings, until the end */
	uint64_t		reuse_ms;	/* 0: in use; else the end of the NIC's
						 * writes, after which it may be reused */
	uint8_t			*alloc;
	size_t			alloc_bytes;
	uint8_t			*mem;	/* receiver: slots; sender: copies of
						 * data for them */
	uint64_t		base;	/* receiver: of the exposed slots */
	uint64_t		remote;	/* address of the receiver's slots */
	uint32_t		slot_bytes;
	uint32_t		slots;
	uint32_t		number;
	uint32_t		filled;	/* sender: slots filled, free-running */
	uint32_t		emptied;	/* slots emptied, free-running */
	uint32_t		told;	/* receiver: @emptied in the last CREDIT */
	bool			used;	/* receiver: used since the last watch */
	uint64_t		used_ms;	/* receiver: last use */
	uint64_t		end_ms;	/* receiver: time of the last RING_END, or 0 */
};

/* Place of a receive ring; the ring's number is made of its index and @generation. */
struct rnic_fi_place {
	struct rnic_fi_peer	*peer;	/* NULL: free */
	uint32_t		generation;
};

/* Lookup of the endpoint that owns a service. */
struct rnic_fi_lookup {
	struct dlist_entry	entry;	/* rnic_fi_domain.lookups */
	struct rnic_fi_ep	*ep;
	fi_addr_t		addr;	/* the service's name in the AV */
	uint32_t		node;
	uint16_t		service;
	uint16_t		next;	/* mailbox that gets LOOKUP next */
	uint64_t		round_ms;	/* start of the next round of LOOKUPs */
	uint32_t		pause_ms;	/* time from that round to the next */
	uint64_t		end_ms;
	int			err;	/* 0 or positive FI_E: the lookup has failed */
};

struct rnic_fi_peer {
	struct rnic_fi_peer	*next;	/* next peer of the bucket */
	struct rnic_fi_ep	*ep;
	struct rnic_fi_addr	to;
	uint16_t		tag;
	fi_addr_t		fi_addr;	/* FI_ADDR_NOTAVAIL: not in the AV */
	int			dead;	/* 0 or positive FI_E */
	bool			gone;	/* dead, and its endpoint exists no more */
	uint64_t		gone_ms;	/* time at which gone was set */
	uint32_t		refs;	/* packets and unexpected messages of the peer */
	uint32_t		names;	/* number of its entries in rnic_fi_ep.by_addr */

	struct dlist_entry	queue;	/* packets to send, by number */
	struct dlist_entry	wait_entry;	/* rnic_fi_domain.waiting */
	uint32_t		queued;	/* number of packets in @queue */
	uint32_t		held;	/* number of held operations */
	uint32_t		inflight;	/* number of posted numbered messages */
	uint16_t		tx_seq;	/* number of the next message */
	uint16_t		tx_una;	/* number of the oldest unacked message */
	uint16_t		tx_acked;	/* bit n: message tx_una + n is acked */

	uint16_t		rx_seq;	/* number of the message that is handled next */
	struct rnic_fi_early	*early;	/* array of RNIC_FI_WINDOW; NULL until needed */

	struct dlist_entry	ops;
	bool			active;	/* sign of life since the last watch */
	bool			stuck;	/* no ack since rnic_fi_pkts_hold() */
	uint64_t		alive_ms;	/* last sign of life, or last PING */
	uint64_t		probe_ms;	/* time of the next probe */
	uint64_t		probe_wait;	/* time from that probe to the next, ms */

	uint64_t		ask_ms;	/* time from which RTS may request a ring again */
	struct rnic_fi_ring	*tx_ring;	/* ring for sends to the peer, or NULL */
	struct rnic_fi_ring	*rx_ring;	/* ring for sends of the peer, or NULL */
};

struct rnic_fi_ep {
	struct util_ep		util_ep;
	struct rnic_fi_domain	*domain;
	struct fid_ep		*srx;
	bool			enabled;	/* has a mailbox */
	unsigned int		nr;	/* number of the mailbox */
	uint16_t		tag;	/* random number of this endpoint, not 0 */
	uint16_t		service;	/* number that LOOKUP finds, or 0 */
	size_t			tx_size;
	size_t			rx_size;
	size_t			min_multi_recv;
	int			cntr_first[CNTR_CNT];	/* index of the same counter */
	uint32_t		tx_ops;	/* operations, without OP_RX and held ones */
	uint32_t		next_id;	/* last id that an operation got */
	struct rnic_fi_peer	*buckets[RNIC_FI_PEER_BUCKETS];
	struct ofi_dyn_arr	by_addr;	/* struct rnic_fi_peer *, by fi_addr */
	struct rnic_fi_place	*places;	/* rnic_fi_ring_limit, or NULL */
	uint32_t		tx_rings;	/* number of peers with a tx_ring */
};

/* The fabric, and the NICs that its domains open. */
struct rnic_fi_fabric {
	struct util_fabric	util_fabric;
	const struct rnic_fi_transport *transport;
};

/* Regions with equal keys are chained. */
struct rnic_fi_mr {
	struct fid_mr		mr_fid;
	struct rnic_fi_domain	*domain;
	struct rnic_fi_mr	*next;
	uint64_t		key;
	uintptr_t		base;
	size_t			len;
	uint64_t		access;
};

struct rnic_fi_domain {
	struct util_domain	util_domain;
	struct dlist_entry	entry;	/* list of all domains of the process */
	const struct rnic_fi_transport *transport;
	struct rnic_fi_nic	*nic;
	int			timer_fd;	/* wakes sleepers for the watch */
	struct rnic_fi_ep	*eps[RNIC_FI_MBOXES];	/* endpoints by mailbox */
	unsigned int		ep_end;	/* entries of @eps from here on were never used */
	struct ofi_rbmap	*mrs;	/* struct rnic_fi_mr by key */

	struct dlist_entry	posted;	/* packets that the NIC has */
	struct dlist_entry	msg_queue;	/* PUT, READ */
	struct dlist_entry	write_queue;	/* WRITE */
	struct dlist_entry	waiting;	/* peers with packets to send */
	struct dlist_entry	rings;
	struct dlist_entry	lookups;
	uint32_t		sources;	/* exposed ones, of rendezvous */
	bool			reaping;
	bool			doomed;	/* reads from dead peers may be posted */

	struct ofi_bufpool	*pkt_pool;
	struct ofi_bufpool	*op_pool;
	uint32_t		spins;	/* rounds of progress, modulo 2^32 */
	uint32_t		idle;	/* rounds since the last message or end */
	uint64_t		watch_ms;	/* time of the next watch */
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
 * Opens the fabric whose domains open NICs by @transport.  -FI_EINVAL: its contexts have
 * more than RNIC_FI_MBOXES mailboxes.
 */
int rnic_fi_fabric_open(const struct rnic_fi_transport *transport,
			struct fi_fabric_attr *attr, struct fid_fabric **fabric,
			void *context);

/* --- Objects: called by libfabric, without the lock ------------------------- */

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

struct ofi_rbmap *rnic_fi_mrs_create(void);

/*
 * Stores in @where the address of the @len bytes at @addr of region @key for a read or
 * write.  Returns 0, or -FI_EACCES if the key does not allow the access.
 */
int rnic_fi_key_decode(const struct rnic_fi_domain *domain, uint64_t key,
		       uint64_t addr, size_t len, bool write, uint64_t *where);

/*
 * Returns the memory at @offset of the own region @key.  NULL: there is no such region,
 * or it does not have @len bytes there, or it does not allow @access.
 */
void *rnic_fi_mr_find(struct rnic_fi_domain *domain, uint64_t key,
		      uint64_t offset, size_t len, uint64_t access);

/* --- Peers ------------------------------------------------------------------- */

/* Returns true if the AV has entry @addr. */
bool rnic_fi_addr_valid(struct util_av *av, fi_addr_t addr);

/*
 * Stores the peer with entry @addr of the AV.  Returns -FI_EINVAL if there is no such
 * entry, -FI_ENOMEM, or the negative FI_E code with which the peer has failed.
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
 * Makes @peer dead with @err, a positive FI_E code: drops its queued packets, and ends
 * the operations that wait for them or for an answer with @err.  FI_ECONNRESET means
 * that the endpoint has gone.  Only the first failure of a peer counts.
 */
void rnic_fi_peer_fail(struct rnic_fi_peer *peer, int err);

/* Sets fi_addr of the peers that the AV did not contain before. */
void rnic_fi_peers_resolve(struct rnic_fi_ep *ep);

/*
 * Ends the lookups of @addr, and separates @addr from its peer, before the AV frees it.
 */
void rnic_fi_peers_forget(struct rnic_fi_ep *ep, fi_addr_t addr);

/*
 * Stores @peer, which may be NULL, in @slot, an entry of rnic_fi_ep.by_addr.  Adjusts
 * names of the peers before and after.
 */
void rnic_fi_peer_name(struct rnic_fi_peer **slot, struct rnic_fi_peer *peer);

/*
 * Frees a peer, its queued packets and its operations, without completions.  Posted
 * packets and the AV must not refer to the peer any more.
 */
void rnic_fi_peer_free(struct rnic_fi_peer *peer);

/* Frees all peers of an endpoint; nothing waits for their posted packets any more. */
void rnic_fi_peers_free(struct rnic_fi_ep *ep);

/*
 * Once in RNIC_FI_WATCH_MS, sends PING to silent peers whose answers are missing, and
 * frees memory of quiet peers.  Only this function frees single peers, so its callers
 * must not use a peer without names after it.
 */
void rnic_fi_peers_watch(struct rnic_fi_domain *domain);

/* --- Names ------------------------------------------------------------------- */

/* Converts @text to @value; returns false unless all of @text is a number up to @max. */
bool rnic_fi_number(const char *text, uint64_t max, uint64_t *value);

/*
 * Stores the number of @node, which is a number or a name in @file.  The file has one
 * node a line, like hosts(5): its number, then its names; "#" begins a comment.  Returns
 * -FI_ENODATA if there is no such node.
 */
int rnic_fi_node_number(const struct rnic_fi_transport *transport,
			const char *file, const char *node, uint32_t *number);

/* Stores the number, from 1 on, that @service says; or returns -FI_ENODATA. */
int rnic_fi_service_number(const struct rnic_fi_transport *transport,
			   const char *service, uint16_t *number);

bool rnic_fi_name_is_endpoint(const struct rnic_fi_transport *transport,
			      const struct rnic_fi_name *name);
bool rnic_fi_name_is_service(const struct rnic_fi_transport *transport,
			     const struct rnic_fi_name *name);

/* Returns the name of a service, or of an endpoint without service if @service is 0. */
struct rnic_fi_name rnic_fi_name_of_service(uint32_t node, uint16_t service);

/* --- Services ---------------------------------------------------------------- */

/*
 * Starts the lookup of @name, entry @addr of the AV, or returns its state.  Never
 * returns 0, because a successful lookup gives @addr a peer and ends.  -FI_EAGAIN: the
 * lookup is under way; -FI_ENOMEM: it could not start; any other error: it has failed
 * and is freed, so the next call starts another one.
 */
int rnic_fi_lookup_poll(struct rnic_fi_ep *ep, fi_addr_t addr,
			const struct rnic_fi_name *name);

/* Ends the lookups of @addr, or all lookups of @ep if @addr is FI_ADDR_UNSPEC. */
void rnic_fi_lookups_forget(struct rnic_fi_ep *ep, fi_addr_t addr);

/* Returns true if a lookup of the domain has not ended. */
bool rnic_fi_lookups_pending(const struct rnic_fi_domain *domain);

/* Sends more LOOKUPs, and ends lookups that have timed out. */
void rnic_fi_lookups_progress(struct rnic_fi_domain *domain);

/* Answers a LOOKUP from @to with @tag by FOUND, if @ep has @service. */
void rnic_fi_lookup_answer(struct rnic_fi_ep *ep, const struct rnic_fi_addr *to,
			   uint16_t tag, uint16_t service);

/* Ends the lookups of @service at the node of @from: their peer is @from with @tag. */
void rnic_fi_lookup_found(struct rnic_fi_ep *ep, const struct rnic_fi_addr *from,
			  uint16_t tag, uint16_t service);

/* --- Packets ----------------------------------------------------------------- */

/* Returns an empty packet for @peer, or NULL if memory is lacking. */
struct rnic_fi_pkt *rnic_fi_pkt_alloc(struct rnic_fi_peer *peer,
				      enum rnic_fi_pkt_kind kind);

/* Frees a packet that is neither posted nor in a queue. */
void rnic_fi_pkt_free(struct rnic_fi_pkt *pkt);

/* Writes the header word with @bits; returns the address of the byte behind it. */
uint8_t *rnic_fi_pkt_header(struct rnic_fi_pkt *pkt, enum rnic_fi_msg_op op,
			    uint64_t bits);

/*
 * Sends @pkt now or later, with the next number if its kind has one.  The caller does not
 * use @pkt any more.
 */
void rnic_fi_pkt_send(struct rnic_fi_pkt *pkt);

/*
 * Handles the end of a packet that is neither posted nor in a queue: sends it again if
 * @err permits that; otherwise frees it and ends its part of the operation.  A numbered
 * message that failed makes the peer fail.
 */
void rnic_fi_pkt_done(struct rnic_fi_pkt *pkt, int err);

/*
 * Sends a numbered message with @body.  If it cannot be delivered, the peer fails.
 * Returns 0, -FI_ENOMEM, or the negative FI_E code of a dead peer.
 */
int rnic_fi_pkt_send_simple(struct rnic_fi_peer *peer, enum rnic_fi_msg_op op,
			    const void *body, size_t len);

/*
 * Sends a message without sequence number from tag @src_tag to tag @dst_tag of @to.
 * The caller does not hear whether the NIC delivered the message.  Returns 0,
 * -FI_EAGAIN if no channel is free, -FI_ENOMEM, or an error of the transport.
 */
int rnic_fi_pkt_send_bare(struct rnic_fi_ep *ep, const struct rnic_fi_addr *to,
			  enum rnic_fi_msg_op op, uint16_t dst_tag,
			  uint16_t src_tag, const void *body, size_t len);

/*
 * Sends a message without number to @peer.  If the peer's mailbox does not exist, the
 * peer fails with FI_ECONNRESET.  Sends nothing if memory is lacking.
 */
void rnic_fi_pkt_send_probe(struct rnic_fi_peer *peer, enum rnic_fi_msg_op op,
			    const void *body, size_t len);

/*
 * Completes the waiting sends to @peer whose packets hold a copy of the data, unless
 * the user requested a completion upon arrival.
 */
void rnic_fi_pkts_hold(struct rnic_fi_peer *peer);

/* Returns the number of posted packets of this kind. */
unsigned int rnic_fi_pkts_posted(const struct rnic_fi_domain *domain,
				 enum rnic_fi_pkt_kind kind);

/* Handles the ends of packets, then posts packets that wait. */
void rnic_fi_pkts_progress(struct rnic_fi_domain *domain);

/* Returns true if a packet is posted or waits whose end wakes no sleeper. */
bool rnic_fi_pkts_silent(struct rnic_fi_domain *domain);

/*
 * Frees packets of @ep in the queues of its domain, and makes nothing wait for its posted
 * packets any more.
 */
void rnic_fi_pkts_orphan(struct rnic_fi_ep *ep);

/* --- Reads ------------------------------------------------------------------- */

/*
 * Starts a read of @len bytes at @remote of the peer of @op into @dst.  @op waits for
 * the end.  Returns 0 or -FI_ENOMEM.
 */
int rnic_fi_read_start(struct rnic_fi_op *op, void *dst, uint64_t remote,
		       size_t len);

/*
 * Ends the reads from dead peers that the peer's NIC has accepted, because their end may
 * never come.  All others end by themselves, or are accepted later.
 */
void rnic_fi_reads_fail(struct rnic_fi_domain *domain);

/* --- Operations -------------------------------------------------------------- */

/*
 * Stores a new operation with pending 0 in *@op.  Returns 0, -FI_ENOMEM, or -FI_EAGAIN
 * if the endpoint has tx_size operations under way.
 */
int rnic_fi_op_alloc(struct rnic_fi_peer *peer, enum rnic_fi_op_kind kind,
		     uint32_t ofi_op, void *context, uint64_t flags,
		     struct rnic_fi_op **op);

/*
 * Ends one pending part of @op with @err: 0, or an FI_E code of either sign.  After the
 * last part calls end(), which usually frees @op.
 */
void rnic_fi_op_put(struct rnic_fi_op *op, int err);

/* The usual end(): completes @op, unless op_hold() did so, and frees it. */
void rnic_fi_op_end(struct rnic_fi_op *op);

/*
 * Completes a rendezvous early, because the data has been copied.  The operation exists
 * until the peer has read the copy.
 */
void rnic_fi_op_hold(struct rnic_fi_op *op);

/* Frees an operation without completion. */
void rnic_fi_op_free(struct rnic_fi_op *op);

/* Returns the operation @id of @peer that waits for an answer, or NULL. */
struct rnic_fi_op *rnic_fi_op_find(struct rnic_fi_peer *peer,
				   enum rnic_fi_op_kind kind, uint32_t id);

/* Writes the completion of a send, write, read or atomic. */
void rnic_fi_complete_tx(struct rnic_fi_ep *ep, uint32_t ofi_op, void *context,
			 uint64_t flags, int err);

/* --- Receiving --------------------------------------------------------------- */

/*
 * Matches a message with a receive, and copies or reads the data; or keeps the message
 * until a receive matches it.  Without memory the peer fails.
 */
void rnic_fi_rx_deliver(struct rnic_fi_peer *peer,
			const struct rnic_fi_rx_info *info);

/* Executes and answers an ATOMIC. */
void rnic_fi_atomic_execute(struct rnic_fi_peer *peer,
			    const struct rnic_fi_body *body);
/* Ends the operation that an ATOMIC_RSP answers. */
void rnic_fi_atomic_finish(struct rnic_fi_peer *peer,
			   const struct rnic_fi_body *body);

/* --- Slots ------------------------------------------------------------------- */

/* Returns true if @len bytes should go to @peer through a slot, and one is free. */
bool rnic_fi_slot_usable(struct rnic_fi_peer *peer, size_t len);

/*
 * Sends a message through a slot; rnic_fi_slot_usable() was true.  @op waits for the
 * end, or is NULL.  Returns 0 or -FI_ENOMEM.
 */
int rnic_fi_slot_send(struct rnic_fi_peer *peer, struct rnic_fi_op *op,
		      uint32_t ofi_op, const struct iovec *iov, size_t count,
		      uint64_t tag, uint64_t cq_data, uint64_t flags);

/*
 * The receiver's functions: offers a ring to @peer, unless it has one or none is free;
 * and delivers the message in the slot that note @word names.
 */
void rnic_fi_slot_offer(struct rnic_fi_peer *peer);
void rnic_fi_slot_arrive(struct rnic_fi_peer *peer, uint64_t word);
/* The sender's functions: handle RING and CREDIT. */
void rnic_fi_slot_ring(struct rnic_fi_peer *peer, const struct rnic_fi_body *body);
void rnic_fi_slot_credit(struct rnic_fi_peer *peer, uint32_t emptied);

/* Returns the sender that has receive ring @number, or NULL. */
struct rnic_fi_peer *rnic_fi_slot_peer(struct rnic_fi_ep *ep, uint16_t number);

/*
 * Handle RING_END and RING_GONE from @from with @tag, for ring @number.  The first, at
 * the sender, frees the send ring and answers RING_GONE if no message is under way; the
 * second, at the receiver, frees the receive ring.
 */
void rnic_fi_slot_end(struct rnic_fi_ep *ep, const struct rnic_fi_addr *from,
		      uint16_t tag, uint16_t number);
void rnic_fi_slot_gone(struct rnic_fi_ep *ep, const struct rnic_fi_addr *from,
		       uint16_t tag, uint16_t number);

/*
 * Sends RING_END to take the receive ring of @peer back.  Does nothing while numbered
 * messages to @peer are not acked.  RING_GONE frees the ring later.
 */
void rnic_fi_ring_end(struct rnic_fi_peer *peer);

/*
 * Frees the receive ring of a failed or gone peer, and its send ring unless the NIC may
 * still read it.
 */
void rnic_fi_rings_release(struct rnic_fi_peer *peer);

/* Frees the rings of a domain whose context is closed. */
void rnic_fi_rings_free(struct rnic_fi_domain *domain);

/* --- Progress ---------------------------------------------------------------- */

/*
 * Make progress.  The first function is a callback of libfabric, which takes the lock
 * and then serves the other domains, too; the second expects the lock and serves one
 * domain.
 */
void rnic_fi_ep_progress(struct util_ep *util_ep);
void rnic_fi_domain_progress(struct rnic_fi_domain *domain);

/*
 * Add @domain to the list of domains that any endpoint's progress serves, and remove it.
 * The caller does not hold the domain's lock.
 */
void rnic_fi_progress_join(struct rnic_fi_domain *domain);
void rnic_fi_progress_leave(struct rnic_fi_domain *domain);

/*
 * Callback of wait objects; takes the lock.  @arg is a struct rnic_fi_ep.  Returns
 * FI_SUCCESS if the caller may sleep, -FI_EAGAIN if it must poll.
 */
int rnic_fi_ep_trywait(void *arg);

#endif /* RNIC_FI_PROV_H */

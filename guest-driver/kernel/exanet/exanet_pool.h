/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet pools: scarce resources of a NIC. A pool grants its resources to the waiting
 * users alternately.
 */
#ifndef EXANET_POOL_H
#define EXANET_POOL_H

#include <linux/completion.h>
#include <linux/list.h>
#include <linux/spinlock.h>

#include "exanet_user.h"

/* Resources of one kind, for example the CDMA channels of a NIC. */
struct exanet_pool {
	spinlock_t lock;	/* protects the members below */
	/*
	 * First waiting request (exanet_pool_request) of each user. A user whose requests
	 * differ in exanet_user.unlimited counts as two users.
	 */
	struct list_head waiting;
	struct list_head granted;	/* granted requests (exanet_pool_request) */
	unsigned int free;	/* number of resources that are not granted */
	kuid_t last;		/* user of the last grant; at first INVALID_UID */
};

/* The request of a thread for one resource. The caller owns the memory. */
struct exanet_pool_request {
	/*
	 * The pool's lock protects all members. @link is a member of exanet_pool.waiting, of
	 * exanet_pool.granted, or of @behind of another request.
	 */
	struct list_head link;
	struct list_head behind;	/* later waiting requests of the same user, in order */
	struct exanet_user user;
	struct completion done;	/* completes with the grant */
};

/* Initializes a pool of @count resources. */
void exanet_pool_init(struct exanet_pool *pool, unsigned int count);
/*
 * Fills @req, and waits until the pool grants a resource to @req. @most is the maximal
 * number of resources of a user at a time; 0 counts as 1. A user with exanet_user.unlimited
 * has no limit. @req must stay allocated until exanet_pool_give(). Returns 0, or
 * -ERESTARTSYS after a fatal signal. After -ERESTARTSYS @req is not in the pool, and the
 * caller must not call exanet_pool_give().
 */
int exanet_pool_take(struct exanet_pool *pool, struct exanet_pool_request *req,
		     const struct exanet_user *user, unsigned int most);
/*
 * Gives the resource of @req back, and grants free resources to waiting requests. @most is
 * the limit for each user, as in exanet_pool_take().
 */
void exanet_pool_give(struct exanet_pool *pool, struct exanet_pool_request *req,
		      unsigned int most);

#endif /* EXANET_POOL_H */

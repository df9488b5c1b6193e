/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet pools: scarce resources of a NIC. The driver grants them to the waiting users
 * alternately.
 */
#ifndef EXANET_POOL_H
#define EXANET_POOL_H

#include <linux/completion.h>
#include <linux/list.h>
#include <linux/spinlock.h>

#include "exanet_user.h"

/* A number of equal resources. */
struct exanet_pool {
	spinlock_t lock;	/* protects the members below */
	struct list_head waiting;	/* first exanet_pool_request of each user */
	struct list_head granted;	/* exanet_pool_request */
	unsigned int free;	/* number of resources that are not granted */
	kuid_t last;		/* user of the last grant */
};

/* The request of a thread for one resource. The caller owns the memory. */
struct exanet_pool_request {
	/* The pool's lock protects all members. */
	struct list_head link;	/* in a list: waiting, granted or another's behind */
	struct list_head behind;	/* the user's later requests, in order */
	struct exanet_user user;
	struct completion done;	/* completes with the grant */
};

/* Initializes a pool of @count resources. */
void exanet_pool_init(struct exanet_pool *pool, unsigned int count);
/*
 * Waits until a resource is free for @user, who gets at most @most resources at a time.
 * Fills @req, which stays in the pool until exanet_pool_give(). Returns 0, or
 * -ERESTARTSYS after a fatal signal; then @req is not in the pool.
 */
int exanet_pool_take(struct exanet_pool *pool, struct exanet_pool_request *req,
		     const struct exanet_user *user, unsigned int most);
/* Gives the resource of @req back, and grants it to the next request. */
void exanet_pool_give(struct exanet_pool *pool, struct exanet_pool_request *req,
		      unsigned int most);

#endif /* EXANET_POOL_H */

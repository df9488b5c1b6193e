// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ExaNet pools: scarce resources of a NIC. A pool grants its resources to the waiting
 * users alternately.
 */
#include "exanet_pool.h"

void exanet_pool_init(struct exanet_pool *pool, unsigned int count)
{
	spin_lock_init(&pool->lock);
	INIT_LIST_HEAD(&pool->waiting);
	INIT_LIST_HEAD(&pool->granted);
	pool->free = count;
	pool->last = INVALID_UID;
}

/*
 * Returns true if the user of @req has a limit, and has reached the limit: @most granted
 * requests, but at least 1.
 */
static bool exanet_pool_full(const struct exanet_pool *pool,
			     const struct exanet_pool_request *req, unsigned int most)
{
	const struct exanet_pool_request *other;
	unsigned int n = 0;

	if (req->user.unlimited)
		return false;
	list_for_each_entry(other, &pool->granted, link)
		n += uid_eq(other->user.uid, req->user.uid);
	return n >= max(1U, most);
}

/*
 * Adds @req to the waiting requests. The list pool->waiting contains only the first request
 * of each user; requests with and without user.unlimited count as requests of two users.
 * Member @behind of this first request lists the user's later requests. So pool->waiting,
 * which is searched under the lock, stays short if a user has many threads.
 */
static void exanet_pool_add(struct exanet_pool *pool, struct exanet_pool_request *req)
{
	struct exanet_pool_request *first;

	INIT_LIST_HEAD(&req->behind);
	list_for_each_entry(first, &pool->waiting, link) {
		if (!uid_eq(first->user.uid, req->user.uid) ||
		    first->user.unlimited != req->user.unlimited)
			continue;
		list_add_tail(&req->link, &first->behind);
		return;
	}
	list_add_tail(&req->link, &pool->waiting);
}

/*
 * Removes @req from its list: pool->waiting, pool->granted, or @behind of another request.
 * If requests are in @req->behind, adds the first of these requests at the end of
 * pool->waiting.
 */
static void exanet_pool_remove(struct exanet_pool *pool,
			       struct exanet_pool_request *req)
{
	struct exanet_pool_request *next;

	list_del(&req->link);
	if (list_empty(&req->behind))
		return;
	next = list_first_entry(&req->behind, struct exanet_pool_request, link);
	list_del(&next->link);
	list_splice_init(&req->behind, &next->behind);
	list_add_tail(&next->link, &pool->waiting);
}

/*
 * Returns the first request in pool->waiting whose user has fewer than the maximal number
 * of resources. Prefers a user other than the user of the last grant. Returns NULL if there
 * is no such request.
 */
static struct exanet_pool_request *exanet_pool_next(const struct exanet_pool *pool,
						    unsigned int most)
{
	struct exanet_pool_request *req, *same = NULL;

	list_for_each_entry(req, &pool->waiting, link) {
		if (exanet_pool_full(pool, req, most))
			continue;
		if (!uid_eq(req->user.uid, pool->last))
			return req;
		if (!same)
			same = req;
	}
	return same;
}

static void exanet_pool_grant(struct exanet_pool *pool, unsigned int most)
{
	struct exanet_pool_request *req;

	lockdep_assert_held(&pool->lock);
	while (pool->free && (req = exanet_pool_next(pool, most))) {
		pool->free--;
		pool->last = req->user.uid;
		exanet_pool_remove(pool, req);
		list_add_tail(&req->link, &pool->granted);
		complete(&req->done);
	}
}

int exanet_pool_take(struct exanet_pool *pool, struct exanet_pool_request *req,
		     const struct exanet_user *user, unsigned int most)
{
	int ret;

	req->user = *user;
	init_completion(&req->done);
	spin_lock(&pool->lock);
	exanet_pool_add(pool, req);
	exanet_pool_grant(pool, most);
	spin_unlock(&pool->lock);
	ret = wait_for_completion_killable(&req->done);
	if (!ret)
		return 0;
	spin_lock(&pool->lock);
	/* The pool may have granted @req between the signal and this lock. */
	pool->free += try_wait_for_completion(&req->done);
	exanet_pool_remove(pool, req);
	exanet_pool_grant(pool, most);
	spin_unlock(&pool->lock);
	return ret;
}

void exanet_pool_give(struct exanet_pool *pool, struct exanet_pool_request *req,
		      unsigned int most)
{
	spin_lock(&pool->lock);
	pool->free++;
	list_del(&req->link);
	exanet_pool_grant(pool, most);
	spin_unlock(&pool->lock);
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ExaNet: limits of the resources that one user takes of a NIC.
 *
 * The limits count users of the initial namespace, because the administrator knows
 * them.  All users in a user namespace count as the user who has created the namespace.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/module.h>
#include <linux/user_namespace.h>

#include "exanet.h"

unsigned int exanet_user_contexts = 8;
module_param_named(user_contexts, exanet_user_contexts, uint, 0644);
MODULE_PARM_DESC(user_contexts,
		 "Contexts of a NIC that a user may have, but with CAP_SYS_RESOURCE (default: 8)");

unsigned int exanet_user_segments = 8;
module_param_named(user_segments, exanet_user_segments, uint, 0644);
MODULE_PARM_DESC(user_segments,
		 "Segments of a NIC's aperture that a user may have, but with CAP_SYS_RESOURCE (default: 8)");

unsigned int exanet_user_aperture = 50;
module_param_named(user_aperture, exanet_user_aperture, uint, 0644);
MODULE_PARM_DESC(user_aperture,
		 "Percent of a NIC's aperture that the segments of a user may have, but with CAP_SYS_RESOURCE (default: 50)");

unsigned int exanet_user_copies = 2;
module_param_named(user_copies, exanet_user_copies, uint, 0644);
MODULE_PARM_DESC(user_copies,
		 "Copies of a user that a NIC does at a time, at least 1, but with CAP_SYS_RESOURCE (default: 2)");

void exanet_user_init(struct exanet_user *user)
{
	struct user_namespace *ns = current_user_ns();

	user->uid = current_euid();
	if (ns != &init_user_ns) {
		while (ns->parent != &init_user_ns)
			ns = ns->parent;
		user->uid = ns->owner;
	}
	user->unlimited = ns_capable_noaudit(&init_user_ns, CAP_SYS_RESOURCE);
}

/* --- turns ---------------------------------------------------------------- */

void exanet_turns_init(struct exanet_turns *turns, unsigned int count)
{
	spin_lock_init(&turns->lock);
	INIT_LIST_HEAD(&turns->waiting);
	INIT_LIST_HEAD(&turns->granted);
	turns->free = count;
	turns->last = INVALID_UID;
}

/* Returns true if the user that @turn belongs to already has @most grants. */
static bool exanet_turns_full(const struct exanet_turns *turns,
			      const struct exanet_turn *turn, unsigned int most)
{
	const struct exanet_turn *other;
	unsigned int n = 0;

	if (turn->user.unlimited)
		return false;
	list_for_each_entry(other, &turns->granted, link)
		n += uid_eq(other->user.uid, turn->user.uid);
	return n >= max(1U, most);
}

/*
 * The list of waiting turns has the first turn of each user, and the others of the user
 * are behind it.  So no user makes the list, which is searched under the lock, longer
 * than one turn, however many threads he has.
 */
static void exanet_turns_add(struct exanet_turns *turns, struct exanet_turn *turn)
{
	struct exanet_turn *first;

	INIT_LIST_HEAD(&turn->behind);
	list_for_each_entry(first, &turns->waiting, link) {
		if (!uid_eq(first->user.uid, turn->user.uid) ||
		    first->user.unlimited != turn->user.unlimited)
			continue;
		list_add_tail(&turn->link, &first->behind);
		return;
	}
	list_add_tail(&turn->link, &turns->waiting);
}

/* Removes @turn from its list; the next one of the user goes to the end of the list. */
static void exanet_turns_remove(struct exanet_turns *turns, struct exanet_turn *turn)
{
	struct exanet_turn *next;

	list_del(&turn->link);
	if (list_empty(&turn->behind))
		return;
	next = list_first_entry(&turn->behind, struct exanet_turn, link);
	list_del(&next->link);
	list_splice_init(&turn->behind, &next->behind);
	list_add_tail(&next->link, &turns->waiting);
}

/*
 * Returns the first turn that may be granted, preferably one of another user than the
 * last.
 */
static struct exanet_turn *exanet_turns_next(const struct exanet_turns *turns,
					     unsigned int most)
{
	struct exanet_turn *turn, *same = NULL;

	list_for_each_entry(turn, &turns->waiting, link) {
		if (exanet_turns_full(turns, turn, most))
			continue;
		if (!uid_eq(turn->user.uid, turns->last))
			return turn;
		if (!same)
			same = turn;
	}
	return same;
}

static void exanet_turns_grant(struct exanet_turns *turns, unsigned int most)
{
	struct exanet_turn *turn;

	lockdep_assert_held(&turns->lock);
	while (turns->free && (turn = exanet_turns_next(turns, most))) {
		turns->free--;
		turns->last = turn->user.uid;
		exanet_turns_remove(turns, turn);
		list_add_tail(&turn->link, &turns->granted);
		complete(&turn->done);
	}
}

int exanet_turns_take(struct exanet_turns *turns, struct exanet_turn *turn,
		      const struct exanet_user *user, unsigned int most)
{
	int ret;

	turn->user = *user;
	init_completion(&turn->done);
	spin_lock(&turns->lock);
	exanet_turns_add(turns, turn);
	exanet_turns_grant(turns, most);
	spin_unlock(&turns->lock);
	ret = wait_for_completion_killable(&turn->done);
	if (!ret)
		return 0;
	spin_lock(&turns->lock);
	/* The turn may have been granted meanwhile. */
	turns->free += try_wait_for_completion(&turn->done);
	exanet_turns_remove(turns, turn);
	exanet_turns_grant(turns, most);
	spin_unlock(&turns->lock);
	return ret;
}

void exanet_turns_give(struct exanet_turns *turns, struct exanet_turn *turn,
		       unsigned int most)
{
	spin_lock(&turns->lock);
	turns->free++;
	list_del(&turn->link);
	exanet_turns_grant(turns, most);
	spin_unlock(&turns->lock);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet users: owners of parts of a NIC, and limits of the parts that a user may own.
 */
#ifndef EXANET_USER_H
#define EXANET_USER_H

#include <linux/types.h>
#include <linux/uidgid.h>

/* The user who owns a part of a NIC, for example a context. */
struct exanet_user {
	kuid_t uid;		/* user of the initial namespace, see exanet_user.c */
	bool unlimited;		/* the process had CAP_SYS_RESOURCE in exanet_user_init() */
};

/* Module parameters: limits of each user without CAP_SYS_RESOURCE on each NIC. */
extern unsigned int exanet_user_contexts;	/* number of contexts */
extern unsigned int exanet_user_segments;	/* number of segments */
extern unsigned int exanet_user_aperture;	/* percent of the aperture's bytes */
extern unsigned int exanet_user_copies;		/* CDMA channels at a time; 0 counts as 1 */

/* Fills @user from the credentials of current. */
void exanet_user_init(struct exanet_user *user);

#endif /* EXANET_USER_H */

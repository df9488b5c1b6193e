// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ExaNet users: limits of the resources of a NIC that a user may own.
 *
 * The limits count users of the initial user namespace, because the administrator knows
 * these users. All users in another namespace, and in namespaces below this namespace,
 * count as one user: the creator of the outermost of these namespaces.
 */
#include "exanet_user.h"

#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/module.h>
#include <linux/user_namespace.h>

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

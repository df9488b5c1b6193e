/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet links: reports of links that go up and down.
 */
#ifndef EXANET_LINK_H
#define EXANET_LINK_H

#include <linux/mutex.h>
#include <linux/workqueue.h>

struct exanet_device;

/* The links of a NIC, as reported last. */
struct exanet_links {
	struct mutex lock;	/* protects the members below */
	struct delayed_work work;	/* reports changes that come soon after a report */
	unsigned long reported;	/* time of the last report, jiffies */
	u32 up;			/* bit p: port p is up in the last report */
	bool paused;		/* registers must not be read: the NIC is in reset */
};

void exanet_link_init(struct exanet_device *xdev);
/* Reports links that have changed: at once, or a second after the last report. */
void exanet_link_check(struct exanet_device *xdev);
/* After the return nothing reads the state of a link until exanet_link_resume(). */
void exanet_link_pause(struct exanet_device *xdev);
/* Ends a pause, and reports later which links have changed. */
void exanet_link_resume(struct exanet_device *xdev);
/* Cancels a report that is due later. */
void exanet_link_cancel(struct exanet_device *xdev);

#endif /* EXANET_LINK_H */

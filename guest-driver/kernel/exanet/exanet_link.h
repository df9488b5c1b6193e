/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet links: reports of links that go up and down.
 */
#ifndef EXANET_LINK_H
#define EXANET_LINK_H

#include <linux/mutex.h>
#include <linux/workqueue.h>

struct exanet_device;

/* The links of a NIC, and their state in the last report. */
struct exanet_links {
	struct mutex lock;	/* protects the members below */
	struct delayed_work work;	/* makes a report that was delayed */
	unsigned long reported;	/* time of the last report, jiffies */
	u32 up;			/* bit p: port p was up in the last report */
	/* No reports, because the NIC is stopped or in a reset by its bus. */
	bool paused;
};

/* Initializes @xdev->links: no link has been reported as up. */
void exanet_link_init(struct exanet_device *xdev);
/*
 * Reports links that have gone up or down since the last report. If the last report was
 * less than a second ago, delays the report by a work until this second has passed. Reports
 * nothing while reports are paused. Sleeps.
 */
void exanet_link_check(struct exanet_device *xdev);
/*
 * Pauses reports until exanet_link_resume(). After the return no report reads registers.
 * Sleeps.
 */
void exanet_link_pause(struct exanet_device *xdev);
/* Permits reports again, and schedules a report in a second. */
void exanet_link_resume(struct exanet_device *xdev);
/* Cancels a delayed report, or waits for its end if the delayed report is under way. */
void exanet_link_cancel(struct exanet_device *xdev);

#endif /* EXANET_LINK_H */

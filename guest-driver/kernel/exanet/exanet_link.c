// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ExaNet links: reports of links that go up and down.
 */
#include "exanet_link.h"

#include "exanet.h"
#include "exanet_sysfs.h"

/*
 * If less than this time, in jiffies, has passed since the last report, exanet_link_check()
 * delays the next report until the time has passed, because a neighbour can make a link go up
 * and down at any rate. A delayed report has the state of the links when the report is made.
 */
#define EXANET_LINK_PAUSE	HZ

static void exanet_link_event(struct exanet_device *xdev, unsigned int port,
			      bool up)
{
	char state[24];
	char *env[2] = { state };

	if (up)
		dev_info(&xdev->dev, "port %u: link up, peer 0x%06x\n", port,
			 exanet_hw_port_read(&xdev->hw, port,
					     EXANET_REG_PORT_PEER));
	else
		dev_info(&xdev->dev, "port %u: link down\n", port);
	snprintf(state, sizeof(state), "LINK%u=%s", port, up ? "up" : "down");
	exanet_sysfs_link_changed(xdev, port);
	kobject_uevent_env(&xdev->dev.kobj, KOBJ_CHANGE, env);
}

static void exanet_link_report(struct exanet_device *xdev)
{
	unsigned int p;
	bool up;

	lockdep_assert_held(&xdev->links.lock);
	if (xdev->links.paused)
		return;
	for (p = 0; p < xdev->caps.ports; p++) {
		up = exanet_hw_port_up(&xdev->hw, p);
		if (up == !!(xdev->links.up & BIT(p)))
			continue;
		xdev->links.up ^= BIT(p);
		xdev->links.reported = jiffies;
		exanet_link_event(xdev, p, up);
	}
}

void exanet_link_check(struct exanet_device *xdev)
{
	unsigned long next;

	mutex_lock(&xdev->links.lock);
	next = xdev->links.reported + EXANET_LINK_PAUSE;
	if (time_before(jiffies, next))
		schedule_delayed_work(&xdev->links.work, next - jiffies);
	else
		exanet_link_report(xdev);
	mutex_unlock(&xdev->links.lock);
}

static void exanet_link_work(struct work_struct *work)
{
	struct exanet_device *xdev = container_of(to_delayed_work(work),
						  struct exanet_device, links.work);

	mutex_lock(&xdev->links.lock);
	exanet_link_report(xdev);
	mutex_unlock(&xdev->links.lock);
}

void exanet_link_pause(struct exanet_device *xdev)
{
	mutex_lock(&xdev->links.lock);
	xdev->links.paused = true;
	mutex_unlock(&xdev->links.lock);
	cancel_delayed_work_sync(&xdev->links.work);
}

void exanet_link_resume(struct exanet_device *xdev)
{
	mutex_lock(&xdev->links.lock);
	xdev->links.paused = false;
	/* Reports later, because links go down in a reset of the NIC, and go up again soon. */
	mod_delayed_work(system_wq, &xdev->links.work, EXANET_LINK_PAUSE);
	mutex_unlock(&xdev->links.lock);
}

void exanet_link_init(struct exanet_device *xdev)
{
	mutex_init(&xdev->links.lock);
	INIT_DELAYED_WORK(&xdev->links.work, exanet_link_work);
	xdev->links.reported = jiffies - EXANET_LINK_PAUSE;
}

void exanet_link_cancel(struct exanet_device *xdev)
{
	cancel_delayed_work_sync(&xdev->links.work);
}

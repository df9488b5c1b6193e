// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Processes that driver.test kills, or from which it removes the NIC.
 *
 *   driver-victim flood            writes to itself on all channels, without end
 *   driver-victim target           prints CONTEXT and GVA of its memory, and waits
 *   driver-victim shoot CTX GVA    writes to that memory until a write fails, then to
 *                                  itself
 *   driver-victim load CTX GVA     loads from that memory, without end
 *   driver-victim copy             copies within itself by CDMA until the NIC is gone
 *   driver-victim hold             waits until the NIC is gone, then checks all calls
 *
 * Each prints "ready" when its work is under way.
 */
#include "driver-common.h"

#include <setjmp.h>

#define BYTES	(1UL << 20)

static void ready(void)
{
	puts("ready");
	fflush(stdout);
}

static void __attribute__((noreturn)) flood(void)
{
	uint8_t *src = memory(BYTES), *dst = memory(BYTES);
	struct nic nic;
	unsigned int ch, n = 0;
	uint64_t gva;

	nic_open(&nic);
	gva = nic_gva(&nic, dst);
	for (;;) {
		for (ch = 0; ch < EXANET_WRITE_CHANNELS; ch++)
			if (nic_idle(&nic, ch))
				nic_start(&nic, ch, src, gva, BYTES,
					  nic.q.context, 0);
		/* so that page faults are under way, too */
		madvise(src, BYTES, MADV_DONTNEED);
		madvise(dst, BYTES, MADV_DONTNEED);
		if (!n++)
			ready();
	}
}

static void __attribute__((noreturn)) target(void)
{
	uint8_t *p = memory(BYTES);
	struct nic nic;

	nic_open(&nic);
	printf("%u 0x%llx\n", nic.q.context, (unsigned long long)nic_gva(&nic, p));
	ready();
	for (;;) {
		madvise(p, BYTES, MADV_DONTNEED);
		usleep(1000);
	}
}

static int shoot(unsigned int ctx, uint64_t gva)
{
	uint8_t *src = memory(BYTES), *dst = memory(BYTES);
	unsigned int n = 0;
	struct nic nic;
	uint64_t status;

	nic_open(&nic);
	fill(src, BYTES, 60);
	for (;;) {
		nic_start(&nic, 0, src, gva, BYTES, ctx, 0);
		status = nic_wait(&nic, 0);
		if (!DONE_STATE(status))
			break;
		if (!n++)
			ready();
	}
	check(n > 0, "there were writes to another process");
	check(FAILED_STATE(status), "they fail when it is killed");
	check(DONE_STATE(nic_copy(&nic, dst, src, BYTES)) &&
	      filled(dst, BYTES, 60), "the writer goes on");
	return 0;
}

/* Loads from another node without end, so that a CPU nearly always waits for the node. */
static void __attribute__((noreturn)) load(unsigned int ctx, uint64_t gva)
{
	struct exanet_ioc_segment_create c = {
		.gva = gva & ~(PAGE - 1),
		.len = PAGE,
		.dst_ctx = ctx,
		.flags = EXANET_SEGMENT_READ,
	};
	volatile uint64_t *p;
	struct nic nic;

	nic_open(&nic);
	must(!ioctl(nic.fd, EXANET_IOC_SEGMENT_CREATE, &c), "SEGMENT_CREATE");
	p = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, nic.fd, c.offset);
	must(p != MAP_FAILED, "mmap of a segment");
	(void)*p;
	ready();
	for (;;)
		(void)*p;
}

static int copy(void)
{
	uint8_t *src = memory(BYTES), *dst = memory(BYTES);
	struct exanet_ioc_cdma c = {
		.src = (uintptr_t)src,
		.len = BYTES,
		.flags = EXANET_CDMA_DST_REMOTE,
	};
	unsigned int n = 0;
	struct nic nic;

	nic_open(&nic);
	c.dst = nic_gva(&nic, dst);
	c.dst_ctx = nic.q.context;
	for (;;) {
		if (ioctl(nic.fd, EXANET_IOC_CDMA, &c))
			break;
		if (!n++)
			ready();
	}
	check(errno == ECANCELED || errno == ENODEV,
	      "a copy ends because the NIC has gone");
	return 0;
}

static sigjmp_buf bus_error;

static void on_bus_error(int sig)
{
	siglongjmp(bus_error, sig);
}

static int hold(void)
{
	struct exanet_ioc_error_signal s = { .signo = SIGUSR1 };
	struct pollfd p = { .events = POLLIN };
	struct exanet_ioc_query q;
	struct nic nic;
	uint64_t n;
	bool hit;

	nic_open(&nic);
	check_value(nic.info->id, EXANET_ID, "the info page can be read");
	nic.channel[0].notify_data = 1;
	p.fd = nic.fd;
	ready();
	check(poll(&p, 1, NIC_TIMEOUT * 1000) == 1 && (p.revents & POLLHUP),
	      "poll() tells that the NIC is gone");
	check(ioctl(nic.fd, EXANET_IOC_QUERY, &q) == -1 && errno == ENODEV,
	      "ioctl() too");
	check(ioctl(nic.fd, EXANET_IOC_ERROR_SIGNAL, &s) == -1 && errno == ENODEV,
	      "and a request for a signal");
	check(read(nic.fd, &n, sizeof(n)) == -1 && errno == ENODEV, "read() too");
	signal(SIGBUS, on_bus_error);
	hit = sigsetjmp(bus_error, 1);
	if (!hit)
		(void)nic.info->id;
	check(hit, "its pages cannot be read");
	hit = sigsetjmp(bus_error, 1);
	if (!hit)
		nic.channel[0].notify_data = 2;
	check(hit, "nor written");
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "flood"))
		flood();
	if (argc == 2 && !strcmp(argv[1], "target"))
		target();
	if (argc == 2 && !strcmp(argv[1], "copy"))
		return copy();
	if (argc == 2 && !strcmp(argv[1], "hold"))
		return hold();
	if (argc == 4 && !strcmp(argv[1], "shoot"))
		return shoot(atoi(argv[2]), strtoull(argv[3], NULL, 0));
	if (argc == 4 && !strcmp(argv[1], "load"))
		load(atoi(argv[2]), strtoull(argv[3], NULL, 0));
	fputs("usage: driver-victim flood|target|copy|hold|shoot CTX GVA|load CTX GVA\n",
	      stderr);
	return 2;
}

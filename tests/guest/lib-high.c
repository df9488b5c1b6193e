// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Memory at addresses that four levels of page tables cannot map, as source and target of
 * transfers within this node: x86-64 with five levels, arm64 with 52 bits.  Exit code 77:
 * the kernel gives a process no such addresses.
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include <libexanet.h>

#define LEN	(1U << 20)
#define LOW	(1ULL << 48)

static uint8_t *map_at(uint64_t hint)
{
	void *p = mmap((void *)(uintptr_t)hint, LEN, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

static void fill(uint8_t *p, uint32_t seed)
{
	for (uint32_t i = 0; i < LEN; i++)
		p[i] = (i * 7 + (i >> 8) + seed) & 0xff;
}

static int check(const char *what, int ret, int same)
{
	printf("%s: %s%s\n", what, ret ? exa_strerror(ret) : "done",
	       same ? "" : ", wrong data");
	return ret || !same;
}

static int check_write(struct exa_dev *dev, uint8_t *src, uint8_t *dst, uint64_t gva)
{
	struct exa_write_attr attr = {
		.src = src,
		.dst_gva = gva,
		.len = LEN,
		.dst_ctx = exa_ctx(dev),
	};
	int ret;

	fill(src, 1);
	ret = exa_write(dev, &attr, NULL);
	return check("write", ret, !memcmp(src, dst, LEN));
}

static int check_copy(struct exa_dev *dev, uint8_t *src, uint8_t *dst, uint64_t gva)
{
	struct exa_copy_attr attr = {
		.src = (uintptr_t)src,
		.dst = gva,
		.len = LEN,
		.dst_ctx = exa_ctx(dev),
		.flags = EXA_COPY_DST_REMOTE,
	};
	int ret;

	fill(src, 2);
	ret = exa_cdma_copy(dev, &attr);
	return check("copy", ret, !memcmp(src, dst, LEN));
}

static int check_segment(struct exa_dev *dev, uint8_t *dst, uint64_t gva)
{
	volatile uint64_t *here = (volatile uint64_t *)dst;
	volatile uint64_t *there;
	uint64_t old;
	int ret, same;

	there = exa_map_remote(dev, gva, 4096, exa_ctx(dev),
			       EXA_MAP_READ | EXA_MAP_WRITE);
	if (!there) {
		perror("segment");
		return 1;
	}
	old = there[5];
	same = old == here[5];
	there[5] = ~old;
	ret = exa_fence(dev);
	return check("load and store", ret, same && here[5] == ~old);
}

int main(void)
{
	uint8_t *src = map_at(3ULL << 50), *dst = map_at(1ULL << 51);
	struct exa_dev *dev;
	uint64_t xva, gva;
	int ret, bad;

	if (!src || !dst || (uintptr_t)src < LOW || (uintptr_t)dst < LOW) {
		printf("no such addresses: %p, %p\n", (void *)src, (void *)dst);
		return 77;
	}
	ret = exa_open(NULL, &dev);
	if (!ret)
		ret = exa_xva(dev, dst, LEN, &xva);
	if (ret) {
		printf("%s\n", exa_strerror(ret));
		return 1;
	}
	gva = exa_gva(exa_coord(dev), xva);
	bad = check_write(dev, src, dst, gva);
	bad |= check_copy(dev, src, dst, gva);
	bad |= check_segment(dev, dst, gva);
	exa_close(dev);
	return bad;
}

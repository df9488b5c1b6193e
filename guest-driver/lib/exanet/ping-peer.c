// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
/*
 * exanet-ping: functions that the client and the server use.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "ping.h"

#define PING_RECORDS_BYTES	4096	/* size of ping_peer.rec in bytes */
#define PING_HINT_POLLS		64	/* number of polls before the first exa_poll_hint() */

double ping_now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1e6 + ts.tv_nsec / 1e3;
}

/*
 * Returns byte @i of the pattern of @seed.  Neighbouring packets, pages and blocks of the
 * pattern differ.
 */
static uint8_t ping_byte(size_t i, uint8_t seed)
{
	return seed + i + (i >> 8) * 7 + (i >> 12) * 29 + (i >> 14) * 101;
}

void ping_fill(uint8_t *buf, size_t len, uint8_t seed)
{
	size_t i;

	for (i = 0; i < len; i++)
		buf[i] = ping_byte(i, seed);
}

uint32_t ping_differ(const uint8_t *buf, size_t len, uint8_t seed)
{
	uint32_t bad = 0;
	size_t i;

	for (i = 0; i < len; i++)
		bad += buf[i] != ping_byte(i, seed);
	return bad;
}

static void *ping_map(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

int ping_peer_buffer(struct ping_peer *peer, size_t bytes)
{
	int ret;

	if (bytes <= peer->buf_bytes)
		return 0;
	if (peer->buf)
		munmap(peer->buf, peer->buf_bytes);
	peer->buf_bytes = 0;
	peer->buf = ping_map(bytes);
	if (!peer->buf)
		return -ENOMEM;
	peer->buf_bytes = bytes;
	ret = exa_xva(peer->dev, peer->buf, bytes, &peer->buf_xva);
	return ret;
}

int ping_peer_open(struct ping_peer *peer, const char *device)
{
	int ret;

	memset(peer, 0, sizeof(*peer));
	peer->chan = -1;
	ret = exa_open(device, &peer->dev);
	if (ret) {
		fprintf(stderr, "exanet-ping: cannot open the device: %s\n",
			exa_strerror(ret));
		return ret;
	}
	ret = exa_mbox_create(peer->dev, PING_MBOX, PING_MBOX_LOG2, 0,
			      &peer->mbox);
	if (!ret) {
		peer->rec = ping_map(PING_RECORDS_BYTES);
		ret = peer->rec ? 0 : -ENOMEM;
	}
	if (!ret)
		ret = exa_xva(peer->dev, peer->rec, PING_RECORDS_BYTES,
			      &peer->rec_xva);
	if (!ret)
		ret = ping_peer_buffer(peer, 1 << 16);
	if (ret) {
		fprintf(stderr, "exanet-ping: cannot prepare memory: %s\n",
			exa_strerror(ret));
		ping_peer_close(peer);
	}
	return ret;
}

void ping_peer_close(struct ping_peer *peer)
{
	exa_close(peer->dev);
	if (peer->buf)
		munmap(peer->buf, peer->buf_bytes);
	if (peer->rec)
		munmap(peer->rec, PING_RECORDS_BYTES);
	memset(peer, 0, sizeof(*peer));
}

/* Adds 1 to @polls, and calls exa_poll_hint() if @polls exceeds PING_HINT_POLLS. */
static void ping_pace(struct ping_peer *peer, unsigned int *polls)
{
	if (++*polls > PING_HINT_POLLS)
		exa_poll_hint(peer->dev);
}

int ping_msg_wait(struct ping_peer *peer, int chan)
{
	unsigned int polls = 0;
	int ret;

	while ((ret = exa_msg_test(peer->dev, chan, NULL)) == -EINPROGRESS)
		ping_pace(peer, &polls);
	return ret;
}

int ping_write_wait(struct ping_peer *peer, int chan)
{
	unsigned int polls = 0;
	int ret;

	while ((ret = exa_write_test(peer->dev, chan, NULL)) == -EINPROGRESS)
		ping_pace(peer, &polls);
	return ret;
}

int ping_peer_flush(struct ping_peer *peer)
{
	int ret;

	if (peer->chan < 0)
		return 0;
	ret = ping_msg_wait(peer, peer->chan);
	peer->chan = -1;
	return ret;
}

int ping_peer_send(struct ping_peer *peer, const void *buf, size_t len)
{
	int ret = ping_peer_flush(peer);

	if (ret)
		return ret;
	ret = exa_msg_post(peer->dev, &peer->to, buf, len, 0);
	if (ret < 0)
		return ret;
	peer->chan = ret;
	return 0;
}

int ping_peer_send_msg(struct ping_peer *peer, struct ping_msg *msg)
{
	int ret;

	msg->magic = htole32(PING_MAGIC);
	msg->version = PING_VERSION;
	msg->va = htole64((uintptr_t)peer->buf);
	msg->xva = htole64(peer->buf_xva);
	msg->rec_xva = htole64(peer->rec_xva);
	ret = ping_peer_send(peer, msg, sizeof(*msg));
	return ret ? ret : ping_peer_flush(peer);
}

bool ping_msg_valid(const void *buf, int len)
{
	const struct ping_msg *msg = buf;

	return len == sizeof(*msg) && le32toh(msg->magic) == PING_MAGIC &&
	       msg->version == PING_VERSION;
}

int ping_peer_write(struct ping_peer *peer, uint32_t size)
{
	struct exa_write_attr attr = {
		.src = peer->buf,
		.dst_gva = peer->dst_gva,
		.len = size,
		.dst_ctx = peer->to.ctx,
		.notify_gva = peer->dst_rec,
		.flags = EXA_WRITE_NOTIFY,
	};

	return exa_write_post(peer->dev, &attr);
}

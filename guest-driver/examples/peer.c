// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
/*
 * Sends and receives the messages of peer.h.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "common.h"
#include "peer.h"

#define PEER_MBOX_LOG2	8
#define CONTEXTS	16

int me_open(struct me *me, enum peer_kind kind, const char *device, size_t bytes)
{
	int ret;

	*me = (struct me) { .kind = kind, .bytes = bytes };
	ret = exa_open(device, &me->dev);
	if (ret) {
		failed("cannot open the NIC: %s", exa_strerror(ret));
		return ret;
	}
	ret = exa_mbox_create(me->dev, PEER_MBOX, PEER_MBOX_LOG2, 0, &me->mbox);
	if (!ret && bytes) {
		me->mem = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
		if (me->mem == MAP_FAILED) {
			me->mem = NULL;
			ret = -ENOMEM;
		}
	}
	if (!ret && bytes)
		ret = exa_xva(me->dev, me->mem, bytes, &me->xva);
	if (ret) {
		failed("cannot prepare memory: %s", exa_strerror(ret));
		me_close(me);
	}
	return ret;
}

void me_close(struct me *me)
{
	exa_close(me->dev);
	if (me->mem)
		munmap(me->mem, me->bytes);
	*me = (struct me) { 0 };
}

static struct peer_msg peer_message(const struct me *me, enum peer_op op)
{
	return (struct peer_msg) {
		.magic = htole32(PEER_MAGIC),
		.op = op,
		.kind = me->kind,
		.xva = htole64(me->xva),
		.bytes = htole64(me->bytes),
	};
}

int peer_send(struct me *me, const struct peer *to, enum peer_op op)
{
	struct peer_msg msg = peer_message(me, op);
	struct exa_mbox_addr addr = {
		.coord = to->coord, .ctx = to->ctx, .mbox = PEER_MBOX,
	};

	return exa_send(me->dev, &addr, &msg, sizeof(msg));
}

void peer_hello(struct me *me, uint32_t coord)
{
	struct peer_msg msg = peer_message(me, PEER_HELLO);
	struct exa_mbox_addr addr = { .coord = coord, .mbox = PEER_MBOX };
	uint32_t ctx;
	int chan;

	for (ctx = 0; ctx < CONTEXTS; ctx++) {
		if (coord == exa_coord(me->dev) && ctx == exa_ctx(me->dev))
			continue;
		addr.ctx = ctx;
		chan = exa_msg_post(me->dev, &addr, &msg, sizeof(msg),
				    EXA_MSG_UNRELIABLE);
		if (chan >= 0)
			while (exa_msg_test(me->dev, chan, NULL) == -EINPROGRESS)
				;
	}
}

int peer_listen(struct me *me, struct peer *from, int timeout_ms)
{
	double end = now() + timeout_ms / 1e3;
	struct exanet_message origin;
	struct peer_msg msg;
	int ret;

	do {
		ret = exa_recv(me->mbox, &msg, sizeof(msg), &origin, timeout_ms);
		if (ret < 0)
			return ret;
		if (ret != sizeof(msg) || le32toh(msg.magic) != PEER_MAGIC ||
		    msg.kind != me->kind)
			continue;
		*from = (struct peer) {
			.coord = exa_message_coord(&origin),
			.ctx = exa_message_ctx(&origin),
			.xva = le64toh(msg.xva),
			.bytes = le64toh(msg.bytes),
			.known = true,
		};
		return msg.op;
	} while (timeout_ms < 0 || now() < end);
	return -ETIMEDOUT;
}

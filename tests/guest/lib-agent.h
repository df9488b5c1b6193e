/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The agent, which is the other side of a test of libexanet.  The agent has a context
 * whose memory the test reads and writes, and checks this memory on command.  The
 * agent runs as a thread of the test (loop-back) or as a process of another node
 * (PROGRAM --serve).
 *
 * Commands arrive in mailbox AGENT_COMMANDS.  The agent sends the answer to the
 * mailbox with the same number at the sender.  The agent sends each message that
 * arrives in mailbox AGENT_ECHO back to mailbox AGENT_ECHO of the sender.
 */
#ifndef LIB_AGENT_H
#define LIB_AGENT_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "libexanet.h"

#define AGENT_ECHO	0
#define AGENT_SPARE	1	/* mailbox that commands open, empty and close */
#define AGENT_COMMANDS	2

#define AGENT_GUARD	1024	/* bytes before and behind a range that AGENT_VERIFY
				 * checks, too */
#define AGENT_MARGIN	65536	/* bytes of the area before and behind the largest
				 * transfer */
#define AGENT_TRANSFER	(4U << 20)
#define AGENT_AREA	(AGENT_TRANSFER + 2 * AGENT_MARGIN)
#define AGENT_BACKGROUND 0xa5
#define AGENT_IDLE_MS	180000  /* time without a message after which the agent ends */

enum agent_op {
	AGENT_INFO	= 1,	/* returns the agent's addresses, and clears its
				 * notification record */
	AGENT_CLEAR	= 2,	/* fills [off, off + len) and its guards with
				 * AGENT_BACKGROUND */
	AGENT_FILL	= 3,	/* fills [off, off + len) with the pattern of seed */
	AGENT_VERIFY	= 4,	/* returns the number of wrong bytes of [off, off + len)
				 * and its guards */
	AGENT_NOTIFY	= 5,	/* waits for a notification, then does the same as
				 * AGENT_VERIFY */
	AGENT_OPEN	= 6,	/* opens the spare mailbox, with 2^len entries */
	/*
	 * Empties the spare mailbox.  The answer has in value the number of messages, and
	 * in data the number that exa_mbox_rejected() stores in @full.  Of the last
	 * message, the answer has payload bytes 0 to 7 in gva, the type in seed, and the
	 * sender's context in off.
	 */
	AGENT_DRAIN	= 7,
	AGENT_SHUT	= 8,	/* closes the spare mailbox */
	AGENT_LATER	= 9,	/* returns after len milliseconds */
	AGENT_REMAP	= 10,	/* replaces the pages of the area */
	AGENT_LOCK	= 11,	/* sets the protection of the page at off to len
				 * (PROT_*) */
	AGENT_WRITE	= 12,	/* writes len bytes at off to gva by RDMA, with a
				 * notification */
	AGENT_QUIT	= 13,
};

struct agent_msg {
	__le32 op;
	__le32 tag;		/* number of the command; the answer has the same
				 * number */
	__le32 off;
	__le32 len;
	__le32 seed;
	__le32 value;		/* in an answer: the result of the command, or negative
				 * errno */
	__le64 data;
	__le64 gva;
	__le64 va;		/* virtual address of the area */
	__le64 xva;
	__le64 rec_xva;
};
RNIC_ASSERT_SIZE(struct agent_msg, 64);

struct agent {
	struct exa_dev *dev;
	struct exa_mbox *echo, *spare, *commands;
	uint8_t *area;
	struct exanet_notification *rec;
	uint64_t xva, rec_xva;
	bool quit;
};

static inline uint8_t agent_byte(size_t i, uint32_t seed)
{
	return seed + i + (i >> 8) * 7 + (i >> 12) * 29 + (i >> 14) * 101;
}

static inline void agent_fill(uint8_t *p, size_t len, uint32_t seed)
{
	size_t i;

	for (i = 0; i < len; i++)
		p[i] = agent_byte(i, seed);
}

/*
 * Returns the number of bytes at @p that differ from the pattern of @seed, plus the
 * number of guard bytes that differ from AGENT_BACKGROUND.
 */
static inline uint32_t agent_verify(const uint8_t *p, size_t len, uint32_t seed)
{
	uint32_t bad = 0;
	size_t i;

	for (i = 0; i < len; i++)
		bad += p[i] != agent_byte(i, seed);
	for (i = 1; i <= AGENT_GUARD; i++)
		bad += (p[-(ssize_t)i] != AGENT_BACKGROUND) +
		       (p[len + i - 1] != AGENT_BACKGROUND);
	return bad;
}

static inline void agent_clear(uint8_t *p, size_t len)
{
	memset(p - AGENT_GUARD, AGENT_BACKGROUND, len + 2 * AGENT_GUARD);
}

static inline void agent_nap(unsigned int ms)
{
	struct timespec ts = { ms / 1000, ms % 1000 * 1000000L };

	nanosleep(&ts, NULL);
}

/*
 * Replaces the pages of @area by new pages, not populated, at the same addresses.
 * Returns false on an error.
 */
static inline bool agent_remap(uint8_t *area)
{
	return mmap(area, AGENT_AREA, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == area;
}

static inline uint8_t *agent_map(void)
{
	void *p = mmap(NULL, AGENT_AREA, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

static int agent_drain(struct agent *a, struct agent_msg *m)
{
	const struct exanet_message *msg;
	uint32_t full = 0;
	int n = 0;

	if (!a->spare)
		return -ENOENT;
	while ((msg = exa_mbox_peek(a->spare))) {
		memcpy(&m->gva, msg->payload, sizeof(m->gva));
		m->seed = htole32(exa_message_type(msg));
		m->off = htole32(exa_message_ctx(msg));
		exa_mbox_pop(a->spare);
		n++;
	}
	exa_mbox_rejected(a->spare, &full, NULL);
	m->data = htole64(full);
	return n;
}

static int agent_write(struct agent *a, const struct agent_msg *m,
		       const struct exanet_message *from)
{
	struct exa_write_attr attr = {
		.src = a->area + le32toh(m->off),
		.dst_gva = le64toh(m->gva),
		.len = le32toh(m->len),
		.dst_ctx = exa_message_ctx(from),
		.notify_gva = exa_gva(exa_message_coord(from),
				      le64toh(m->rec_xva)),
		.notify_data = le64toh(m->data),
		.flags = EXA_WRITE_NOTIFY | EXA_WRITE_NOTIFY_IRQ,
	};

	return exa_write(a->dev, &attr, NULL);
}

static int agent_notify(struct agent *a, struct agent_msg *m)
{
	uint64_t data = 0;
	int ret;

	ret = exa_notify_wait(a->rec, &data, 10000);
	m->data = htole64(data);
	m->gva = a->rec->status;
	exa_notify_clear(a->rec);
	return ret ? ret : (int)agent_verify(a->area + le32toh(m->off),
					     le32toh(m->len), le32toh(m->seed));
}

/*
 * Executes the command in @m and stores results in @m.  Returns the member value of
 * the answer.
 */
static int agent_do(struct agent *a, struct agent_msg *m,
		    const struct exanet_message *from)
{
	uint8_t *p = a->area + le32toh(m->off);
	uint32_t len = le32toh(m->len);

	switch (le32toh(m->op)) {
	case AGENT_INFO:
		m->va = htole64((uintptr_t)a->area);
		m->xva = htole64(a->xva);
		m->rec_xva = htole64(a->rec_xva);
		exa_notify_clear(a->rec);
		return 0;
	case AGENT_CLEAR:
		agent_clear(p, len);
		return 0;
	case AGENT_FILL:
		agent_fill(p, len, le32toh(m->seed));
		return 0;
	case AGENT_VERIFY:
		return agent_verify(p, len, le32toh(m->seed));
	case AGENT_NOTIFY:
		return agent_notify(a, m);
	case AGENT_OPEN:
		return exa_mbox_create(a->dev, AGENT_SPARE, len, 0, &a->spare);
	case AGENT_DRAIN:
		return agent_drain(a, m);
	case AGENT_SHUT:
		exa_mbox_destroy(a->spare);
		a->spare = NULL;
		return 0;
	case AGENT_LATER:
		agent_nap(len);
		return 0;
	case AGENT_REMAP:
		return agent_remap(a->area) ? 0 : -errno;
	case AGENT_LOCK:
		return mprotect(p, 4096, len) ? -errno : 0;
	case AGENT_WRITE:
		return agent_write(a, m, from);
	case AGENT_QUIT:
		a->quit = true;
		return 0;
	default:
		return -ENOSYS;
	}
}

static void agent_answer(struct agent *a, struct exa_mbox *mbox, unsigned int nr,
			 const struct exanet_message *msg)
{
	struct exanet_message copy = *msg;
	uint32_t size = exa_message_size(msg);
	struct exa_mbox_addr to = {
		.coord = exa_message_coord(msg),
		.ctx = exa_message_ctx(msg),
		.mbox = nr,
	};
	struct agent_msg m;
	int ret;

	exa_mbox_pop(mbox);
	if (nr == AGENT_COMMANDS && size == sizeof(m)) {
		memcpy(&m, copy.payload, sizeof(m));
		ret = agent_do(a, &m, &copy);
		m.value = htole32(ret);
		memcpy(copy.payload, &m, sizeof(m));
	}
	ret = exa_send(a->dev, &to, copy.payload, size);
	if (ret)
		fprintf(stderr, "# agent: answer: %s\n", exa_strerror(ret));
}

static bool agent_look(struct agent *a)
{
	const struct exanet_message *msg;

	msg = exa_mbox_peek(a->commands);
	if (msg) {
		agent_answer(a, a->commands, AGENT_COMMANDS, msg);
		return true;
	}
	msg = exa_mbox_peek(a->echo);
	if (msg) {
		agent_answer(a, a->echo, AGENT_ECHO, msg);
		return true;
	}
	return false;
}

static int agent_open(struct agent *a)
{
	int ret;

	memset(a, 0, sizeof(*a));
	ret = exa_open(NULL, &a->dev);
	if (ret)
		return ret;
	a->area = agent_map();
	a->rec = aligned_alloc(64, 64);
	if (!a->area || !a->rec)
		return -ENOMEM;
	ret = exa_xva(a->dev, a->area, AGENT_AREA, &a->xva);
	if (!ret)
		ret = exa_xva(a->dev, a->rec, sizeof(*a->rec), &a->rec_xva);
	if (!ret)
		ret = exa_mbox_create(a->dev, AGENT_ECHO, 8, 0, &a->echo);
	if (!ret)
		ret = exa_mbox_create(a->dev, AGENT_COMMANDS, 8, 0, &a->commands);
	return ret;
}

/*
 * Executes commands and returns echoes until AGENT_QUIT, and sleeps while no message
 * arrives.  Returns 0 or a negative errno: -ETIMEDOUT after AGENT_IDLE_MS without a
 * message.
 */
static int agent_run(struct agent *a)
{
	int ret = 1;

	exa_arm(a->dev);
	while (!a->quit && ret > 0) {
		while (!a->quit && agent_look(a))
			;
		if (!a->quit)
			ret = exa_wait(a->dev, AGENT_IDLE_MS);
	}
	exa_disarm(a->dev);
	return a->quit ? 0 : ret < 0 ? ret : -ETIMEDOUT;
}

static void agent_close(struct agent *a)
{
	exa_close(a->dev);
	munmap(a->area, AGENT_AREA);
	free(a->rec);
}

#endif /* LIB_AGENT_H */

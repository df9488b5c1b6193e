// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
/*
 * exanet-ping: the client, which measures and checks transfers.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "ping.h"

#define PING_WARMUP	10		/* number of rounds before the measured rounds */
/*
 * If the user gives no count: number of bytes of one row, and limits of the number of
 * rounds.
 */
#define PING_BYTES_GOAL	(64U << 20)
#define PING_COUNT_MIN	20
#define PING_COUNT_MAX	1000
#define PING_READS_MAX	64		/* size of the array of channels of reads under way; at
					 * least EXANET_PKTZ_CHANNELS */

/* The measurement of one row of the output. */
struct ping_run {
	struct ping_peer *me;
	struct ping_result *res;	/* has mode, size and count; gets the results */
	double *us;			/* time of each measured round, us; in modes WRITE_BW
					 * and READ_BW only us[0], mean time of a transfer */
	uint8_t seed;			/* seed of the pattern */
	uint32_t session;
	unsigned int window;		/* maximal number of transfers at a time in modes
					 * WRITE_BW and READ_BW */
};

/*
 * Waits for a message with op @op of session @session, and ignores other messages.  Stores
 * the message in @msg, and its ring entry in @origin, which may be NULL.  Returns 0,
 * -ETIMEDOUT if no such message comes in @timeout_ms, or another negative errno.  Ignored
 * messages may extend the time to twice @timeout_ms.
 */
static int ping_await(struct ping_peer *me, uint32_t session, enum ping_op op,
		      struct ping_msg *msg, struct exanet_message *origin,
		      int timeout_ms)
{
	double end = ping_now_us() + timeout_ms * 1e3;
	int ret;

	do {
		ret = exa_recv(me->mbox, msg, sizeof(*msg), origin, timeout_ms);
		if (ret < 0)
			return ret;
		if (ping_msg_valid(msg, ret) && msg->op == op &&
		    le32toh(msg->session) == session)
			return 0;
	} while (ping_now_us() < end);
	return -ETIMEDOUT;
}

/*
 * Sends HELLO to context @opt->ctx of the server's node, or to all contexts of the node if
 * @opt->ctx is -1, except to the client's own context.  Only a server answers a HELLO.
 */
static void ping_hello(struct ping_peer *me, const struct ping_options *opt,
		       uint32_t session)
{
	struct ping_msg msg = {
		.magic = htole32(PING_MAGIC),
		.version = PING_VERSION,
		.op = PING_HELLO,
		.session = htole32(session),
	};
	struct exa_mbox_addr to = { .coord = opt->coord, .mbox = PING_MBOX };
	int ctx, chan;

	for (ctx = 0; ctx < 16; ctx++) {
		if ((opt->ctx >= 0 && ctx != opt->ctx) ||
		    (opt->coord == exa_coord(me->dev) &&
		     (uint32_t)ctx == exa_ctx(me->dev)))
			continue;
		to.ctx = ctx;
		chan = exa_msg_post(me->dev, &to, &msg, sizeof(msg),
				    EXA_MSG_UNRELIABLE);
		if (chan >= 0)
			ping_msg_wait(me, chan);
	}
}

static int ping_find(struct ping_peer *me, const struct ping_options *opt,
		     uint32_t session)
{
	double end = ping_now_us() + opt->wait_s * 1e6;
	struct exanet_message origin;
	struct ping_msg msg;
	int ret;

	do {
		ping_hello(me, opt, session);
		ret = ping_await(me, session, PING_WELCOME, &msg, &origin, 200);
	} while (ret == -ETIMEDOUT && ping_now_us() < end);
	if (ret)
		return ret;
	me->to = (struct exa_mbox_addr) {
		.coord = exa_message_coord(&origin),
		.ctx = exa_message_ctx(&origin),
		.mbox = PING_MBOX,
	};
	return 0;
}

static int ping_start(struct ping_run *run, uint32_t count)
{
	struct ping_peer *me = run->me;
	struct ping_msg msg = {
		.op = PING_START,
		.mode = run->res->mode,
		.seed = run->seed,
		.session = htole32(run->session),
		.size = htole32(run->res->size),
		.count = htole32(count),
	};
	int ret;

	exa_notify_clear(me->rec);
	ret = ping_peer_send_msg(me, &msg);
	if (!ret)
		ret = ping_await(me, run->session, PING_READY, &msg, NULL,
				 PING_TIMEOUT_MS);
	if (ret)
		return ret;
	me->dst_va = le64toh(msg.va);
	me->dst_gva = exa_gva(me->to.coord, le64toh(msg.xva));
	me->dst_rec = exa_gva(me->to.coord, le64toh(msg.rec_xva));
	return -(int)le32toh(msg.error);
}

/*
 * Makes the server compare the server's buffer with the pattern, and adds the number of
 * bytes that differ to @run->res->bad.  Returns 0 or a negative errno.
 */
static int ping_check(struct ping_run *run)
{
	struct ping_msg msg = {
		.op = PING_CHECK,
		.seed = run->seed,
		.session = htole32(run->session),
		.size = htole32(run->res->size),
	};
	int ret;

	ret = ping_peer_send_msg(run->me, &msg);
	if (!ret)
		ret = ping_await(run->me, run->session, PING_RESULT, &msg, NULL,
				 PING_TIMEOUT_MS);
	if (!ret)
		run->res->bad += le32toh(msg.count);
	return ret;
}

/*
 * Sends a message, whose content depends on @round, and waits until the server has sent the
 * message back.  Returns 0 or a negative errno.
 */
static int ping_round_msg(struct ping_run *run, uint32_t round)
{
	uint8_t out[EXA_MSG_MAX], in[EXA_MSG_MAX];
	uint32_t size = run->res->size;
	int ret;

	ping_fill(out, size, run->seed + round);
	ret = ping_peer_send(run->me, out, size);
	if (ret)
		return ret;
	ret = exa_recv(run->me->mbox, in, sizeof(in), NULL, PING_TIMEOUT_MS);
	if (ret < 0)
		return ret;
	run->res->bad += (uint32_t)ret != size ? size :
			 ping_differ(in, size, run->seed + round);
	return 0;
}

/*
 * Does an RDMA write to the server, and waits until the server has written the data back.
 * Returns 0 or a negative errno.
 */
static int ping_round_write(struct ping_run *run, uint32_t round)
{
	struct ping_peer *me = run->me;
	int chan, ret;

	me->buf[0] = round;
	chan = ping_peer_write(me, run->res->size);
	if (chan < 0)
		return chan;
	ret = ping_write_wait(me, chan);
	if (!ret)
		ret = exa_notify_wait(me->rec, NULL, PING_TIMEOUT_MS);
	exa_notify_clear(me->rec);
	run->res->bad += me->buf[0] != (uint8_t)round;
	return ret;
}

static int ping_round_read(struct ping_run *run, uint32_t round)
{
	struct exa_read_attr attr = {
		.dst = run->me->buf,
		.src_va = run->me->dst_va,
		.src_coord = run->me->to.coord,
		.src_ctx = run->me->to.ctx,
		.len = run->res->size,
		.tag = round,
	};

	return exa_read(run->me->dev, &attr, PING_TIMEOUT_MS);
}

typedef int ping_round_fn(struct ping_run *run, uint32_t round);

static int ping_rounds(struct ping_run *run, ping_round_fn *fn)
{
	double start, total = 0;
	uint32_t i;
	int ret;

	for (i = 0; i < PING_WARMUP + run->res->count; i++) {
		start = ping_now_us();
		ret = fn(run, i);
		if (ret)
			return ret;
		if (i < PING_WARMUP)
			continue;
		run->us[i - PING_WARMUP] = ping_now_us() - start;
		total += run->us[i - PING_WARMUP];
	}
	run->res->mbps = run->res->size * (double)run->res->count / total;
	return 0;
}

/*
 * Does @count RDMA writes, at most @run->window at a time.  All writes have the same
 * destination and the same data, because the writes may overtake each other.  Returns 0 or
 * a negative errno.
 */
static int ping_stream_write(struct ping_run *run, uint32_t count)
{
	struct exa_write_attr attr = {
		.src = run->me->buf,
		.dst_gva = run->me->dst_gva,
		.len = run->res->size,
		.dst_ctx = run->me->to.ctx,
	};
	int chan[EXANET_WRITE_CHANNELS];
	uint32_t posted = 0, ended = 0;
	int ret;

	while (ended < count) {
		while (posted < count && posted - ended < run->window) {
			ret = exa_write_post(run->me->dev, &attr);
			if (ret < 0)
				return ret;
			chan[posted++ % run->window] = ret;
		}
		ret = ping_write_wait(run->me, chan[ended % run->window]);
		if (ret)
			return ret;
		ended++;
	}
	return 0;
}

/*
 * Waits for the end of a read: first until the request on channel @chan is acked, and then
 * for the notification in @me->rec[@slot].  Returns 0 or a negative errno.
 */
static int ping_stream_read_end(struct ping_peer *me, int chan, unsigned int slot)
{
	int ret = ping_msg_wait(me, chan);

	return ret ? ret : exa_notify_wait(&me->rec[slot], NULL, PING_TIMEOUT_MS);
}

static int ping_stream_read(struct ping_run *run, uint32_t count)
{
	struct ping_peer *me = run->me;
	struct exa_read_attr attr = {
		.dst = me->buf,
		.src_va = me->dst_va,
		.src_coord = me->to.coord,
		.src_ctx = me->to.ctx,
		.len = run->res->size,
	};
	unsigned int window = run->window;
	uint32_t posted = 0, ended = 0;
	int chan[PING_READS_MAX];
	int ret;

	if (window > EXANET_PKTZ_CHANNELS)
		window = EXANET_PKTZ_CHANNELS;
	while (ended < count) {
		while (posted < count && posted - ended < window) {
			attr.notify = &me->rec[posted % window];
			ret = exa_read_post(me->dev, &attr);
			if (ret < 0)
				return ret;
			chan[posted++ % window] = ret;
		}
		ret = ping_stream_read_end(me, chan[ended % window],
					   ended % window);
		if (ret)
			return ret;
		ended++;
	}
	return 0;
}

typedef int ping_stream_fn(struct ping_run *run, uint32_t count);

static int ping_stream(struct ping_run *run, ping_stream_fn *fn)
{
	double start, us;
	int ret;

	ret = fn(run, PING_WARMUP);
	if (ret)
		return ret;
	start = ping_now_us();
	ret = fn(run, run->res->count);
	us = ping_now_us() - start;
	run->res->mbps = run->res->size * (double)run->res->count / us;
	run->us[0] = us / run->res->count;
	return ret;
}

static int ping_compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/*
 * Computes the results from the first @samples times of @run->us.  @transfers is the
 * number of transfers of a round: 2 if the server sends the data back, else 1.
 */
static void ping_statistics(struct ping_run *run, uint32_t samples, int transfers)
{
	struct ping_result *res = run->res;

	qsort(run->us, samples, sizeof(*run->us), ping_compare);
	res->min_us = run->us[0] / transfers;
	res->median_us = run->us[samples / 2] / transfers;
	res->p99_us = run->us[(uint64_t)samples * 99 / 100] / transfers;
	res->mbps *= transfers;
}

static int ping_run_mode(struct ping_run *run)
{
	struct ping_result *res = run->res;
	uint8_t *buf = run->me->buf;
	uint32_t size = res->size;
	int ret;

	switch (res->mode) {
	case PING_MODE_MSG:
		ret = ping_rounds(run, ping_round_msg);
		ping_statistics(run, res->count, 2);
		return ret ? ret : ping_peer_flush(run->me);
	case PING_MODE_WRITE:
		ping_fill(buf, size, run->seed);
		ret = ping_rounds(run, ping_round_write);
		ping_statistics(run, res->count, 2);
		/*
		 * Sets the first byte to the seed, because the server has sent back the
		 * number of the last round in the first byte.
		 */
		buf[0] = run->seed;
		res->bad += ping_differ(buf, size, run->seed);
		return ret;
	case PING_MODE_WRITE_BW:
		ping_fill(buf, size, run->seed);
		ret = ping_stream(run, ping_stream_write);
		ping_statistics(run, 1, 1);
		return ret ? ret : ping_check(run);
	case PING_MODE_READ:
		memset(buf, ~run->seed, size);
		ret = ping_rounds(run, ping_round_read);
		ping_statistics(run, res->count, 1);
		res->bad += ping_differ(buf, size, run->seed);
		return ret;
	default:
		memset(buf, ~run->seed, size);
		ret = ping_stream(run, ping_stream_read);
		ping_statistics(run, 1, 1);
		res->bad += ping_differ(buf, size, run->seed);
		return ret;
	}
}

static uint32_t ping_count(const struct ping_options *opt, uint32_t size)
{
	uint32_t count = PING_BYTES_GOAL / size;

	if (opt->count)
		return opt->count;
	if (count < PING_COUNT_MIN)
		return PING_COUNT_MIN;
	return count > PING_COUNT_MAX ? PING_COUNT_MAX : count;
}

static int ping_row(struct ping_peer *me, const struct ping_options *opt,
		    struct ping_result *res, uint32_t session)
{
	struct ping_run run = {
		.me = me,
		.res = res,
		.seed = res->size * 31 + res->mode * 57 + 1,
		.session = session,
		.window = opt->window,
	};
	int ret;

	res->count = ping_count(opt, res->size);
	ret = ping_peer_buffer(me, res->size);
	if (ret)
		return ret;
	run.us = calloc(res->count, sizeof(*run.us));
	if (!run.us)
		return -ENOMEM;
	ret = ping_start(&run, res->count + PING_WARMUP);
	if (!ret)
		ret = ping_run_mode(&run);
	free(run.us);
	return ret;
}

static const char *const ping_default_sizes[PING_MODES] = {
	[PING_MODE_MSG]		= "1,8,16,32,64",
	[PING_MODE_WRITE]	= "8,64,256,1K,4K,16K,64K",
	[PING_MODE_WRITE_BW]	= "256,4K,64K,256K,1M,4M",
	[PING_MODE_READ]	= "8,64,256,1K,4K,16K,64K",
	[PING_MODE_READ_BW]	= "256,4K,64K,256K,1M,4M",
};

/*
 * Measures and prints the rows of all modes in @opt->modes.  After the first error prints a
 * message and stops.  Returns 0, 1 if data differed from the pattern, or a negative errno.
 */
static int ping_rows(struct ping_peer *me, const struct ping_options *opt,
		     uint32_t session)
{
	struct ping_result res;
	const char *list;
	uint32_t size;
	int mode, ret, bad = 0;

	for (mode = 0; mode < PING_MODES; mode++) {
		if (!(opt->modes >> mode & 1))
			continue;
		list = opt->sizes ? opt->sizes : ping_default_sizes[mode];
		while (ping_size_next(&list, &size)) {
			if (mode == PING_MODE_MSG && size > EXA_MSG_MAX)
				continue;
			res = (struct ping_result) { .mode = mode, .size = size };
			ret = ping_row(me, opt, &res, session);
			if (ret) {
				fprintf(stderr, "exanet-ping: %s, %u bytes: %s\n",
					ping_mode_names[mode], size,
					exa_strerror(ret));
				return ret;
			}
			ping_print(opt, &res);
			bad |= res.bad != 0;
		}
	}
	return bad;
}

int ping_client(const struct ping_options *opt)
{
	struct ping_msg bye = { .op = PING_BYE };
	uint32_t session;
	struct ping_peer me;
	int ret;

	ret = ping_peer_open(&me, opt->device);
	if (ret)
		return 1;
	session = ((uint32_t)getpid() << 16 ^ (uint32_t)(uintptr_t)ping_now_us()) | 1;
	ret = ping_find(&me, opt, session);
	if (ret) {
		fprintf(stderr, "exanet-ping: no server at %#x: %s\n",
			opt->coord, exa_strerror(ret));
		ping_peer_close(&me);
		return 1;
	}
	ping_print_begin(opt, &me);
	ret = ping_rows(&me, opt, session);
	ping_print_end(opt);
	bye.session = htole32(session);
	ping_peer_send_msg(&me, &bye);
	ping_peer_close(&me);
	return ret != 0;
}

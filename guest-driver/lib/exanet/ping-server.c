// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
/*
 * exanet-ping: the server, which answers a client.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "ping.h"

/*
 * After a HELLO of another client the server sends a PROBE to the present client, if the
 * server has had no message or ack of the present client for this time, us.
 */
#define PING_IDLE_US	2e6

struct ping_session {
	struct ping_peer *me;
	uint32_t id;		/* number of the client's session; 0: there is no client */
	double last_us;		/* time at which the server had handled the client's last
				 * struct ping_msg, or had got the ack of a PROBE; us of
				 * ping_now_us() */
};

static bool ping_from_client(const struct ping_peer *me,
			     const struct exanet_message *origin)
{
	return exa_message_coord(origin) == me->to.coord &&
	       exa_message_ctx(origin) == me->to.ctx;
}

/*
 * Receives @count messages of the client, and sends each message back unchanged.  Returns 0
 * or a negative errno.
 */
static int ping_serve_msg(struct ping_peer *me, uint32_t count)
{
	struct exanet_message origin;
	uint8_t buf[EXA_MSG_MAX];
	int len, left, ret;
	double end;

	while (count--) {
		end = ping_now_us() + PING_TIMEOUT_MS * 1e3;
		do {
			/*
			 * Computes the time again, because HELLOs of other clients must not
			 * extend the time-out.
			 */
			left = (end - ping_now_us()) / 1e3;
			if (left <= 0)
				return -ETIMEDOUT;
			len = exa_recv(me->mbox, buf, sizeof(buf), &origin, left);
			if (len < 0)
				return len;
		} while (!ping_from_client(me, &origin));
		ret = ping_peer_send(me, buf, len);
		if (ret)
			return ret;
	}
	return ping_peer_flush(me);
}

/*
 * Waits for @count RDMA writes of the client.  After each write, writes the first @size
 * bytes of the server's buffer back to the client.  Returns 0 or a negative errno.
 */
static int ping_serve_write(struct ping_peer *me, uint32_t size, uint32_t count)
{
	int chan = -1, ret;

	while (count--) {
		ret = exa_notify_wait(me->rec, NULL, PING_TIMEOUT_MS);
		if (ret)
			return ret;
		exa_notify_clear(me->rec);
		chan = ping_peer_write(me, size);
		if (chan < 0)
			return chan;
		ret = ping_write_wait(me, chan);
		if (ret)
			return ret;
	}
	return 0;
}

static int ping_serve_start(struct ping_session *ses, const struct ping_msg *msg)
{
	struct ping_msg answer = { .op = PING_READY, .session = msg->session };
	uint32_t size = le32toh(msg->size), count = le32toh(msg->count);
	struct ping_peer *me = ses->me;
	int ret;

	if (size < 1 || size > PING_SIZE_MAX || msg->mode >= PING_MODES)
		ret = -EINVAL;
	else
		ret = ping_peer_buffer(me, size);
	if (!ret) {
		/*
		 * In the modes READ and READ_BW the client reads the pattern from this
		 * buffer.  In the other modes the server first fills the buffer with bytes
		 * most of which differ from the pattern.
		 */
		if (msg->mode >= PING_MODE_READ)
			ping_fill(me->buf, size, msg->seed);
		else
			memset(me->buf, ~msg->seed, size);
		me->dst_gva = exa_gva(me->to.coord, le64toh(msg->xva));
		me->dst_rec = exa_gva(me->to.coord, le64toh(msg->rec_xva));
		exa_notify_clear(me->rec);
	}
	answer.error = htole32(-ret);
	if (ret) {
		ping_peer_send_msg(me, &answer);
		return ret;
	}
	ret = ping_peer_send_msg(me, &answer);
	if (ret)
		return ret;
	if (msg->mode == PING_MODE_MSG)
		return ping_serve_msg(me, count);
	if (msg->mode == PING_MODE_WRITE)
		return ping_serve_write(me, size, count);
	return 0;
}

static int ping_serve_check(struct ping_session *ses, const struct ping_msg *msg)
{
	struct ping_msg answer = { .op = PING_RESULT, .session = msg->session };
	uint32_t size = le32toh(msg->size);

	if (size > ses->me->buf_bytes)
		return -EINVAL;
	answer.count = htole32(ping_differ(ses->me->buf, size, msg->seed));
	return ping_peer_send_msg(ses->me, &answer);
}

/*
 * Returns true if the present client still exists, as far as the server can know.  @origin
 * is the ring entry of a HELLO of another session.  A client that only reads or writes
 * sends no messages, and takes no messages from its mailbox.  So the server sends a PROBE,
 * which the client's NIC acks or refuses: the NIC refuses messages to a context that no
 * process has open, and to a mailbox that is closed or full.
 */
static bool ping_client_lives(struct ping_session *ses, const struct exanet_message *origin)
{
	struct ping_msg probe = { .op = PING_PROBE, .session = ses->id };

	/*
	 * The HELLO is from the client's context, so the driver has given this context to
	 * another process.
	 */
	if (ping_from_client(ses->me, origin))
		return false;
	if (ping_now_us() - ses->last_us < PING_IDLE_US)
		return true;
	if (ping_peer_send_msg(ses->me, &probe))
		return false;
	ses->last_us = ping_now_us();
	return true;
}

static int ping_serve_hello(struct ping_session *ses, const struct ping_msg *msg,
			    const struct exanet_message *origin)
{
	struct ping_msg answer = { .op = PING_WELCOME, .session = msg->session };
	struct ping_peer *me = ses->me;

	/* The server has one client at a time; other clients send HELLO again and again. */
	if (ses->id && ses->id != msg->session) {
		if (ping_client_lives(ses, origin))
			return 0;
		fprintf(stderr, "exanet-ping: client %#x has ended without BYE\n",
			me->to.coord);
	}
	ses->id = msg->session;
	ses->last_us = ping_now_us();
	me->to = (struct exa_mbox_addr) {
		.coord = exa_message_coord(origin),
		.ctx = exa_message_ctx(origin),
		.mbox = PING_MBOX,
	};
	return ping_peer_send_msg(me, &answer);
}

/*
 * Handles @msg: a HELLO of any client, or another message of the present client.  Returns
 * 0, 1 after BYE, or a negative errno.  If the result is not 0, ends the session.
 */
static int ping_serve(struct ping_session *ses, const struct ping_msg *msg,
		      const struct exanet_message *origin)
{
	int ret = 0;

	if (msg->op == PING_HELLO) {
		ret = ping_serve_hello(ses, msg, origin);
	} else if (ses->id == msg->session &&
		   ping_from_client(ses->me, origin)) {
		if (msg->op == PING_START)
			ret = ping_serve_start(ses, msg);
		else if (msg->op == PING_CHECK)
			ret = ping_serve_check(ses, msg);
		else if (msg->op == PING_BYE)
			ret = 1;
		ses->last_us = ping_now_us();
	}
	if (ret)
		ses->id = 0;
	return ret;
}

static int ping_server_loop(struct ping_peer *me, const struct ping_options *opt)
{
	struct ping_session ses = { .me = me };
	struct exanet_message origin;
	struct ping_msg msg;
	int ret;

	for (;;) {
		ret = exa_recv(me->mbox, &msg, sizeof(msg), &origin, -1);
		if (ret < 0)
			return ret;
		if (exa_message_type(&origin) != EXANET_TYPE_WRITE ||
		    !ping_msg_valid(&msg, ret))
			continue;
		ret = ping_serve(&ses, &msg, &origin);
		if (ret < 0)
			fprintf(stderr, "exanet-ping: client %#x: %s\n",
				me->to.coord, exa_strerror(ret));
		if (ret && opt->once)
			return ret < 0 ? ret : 0;
	}
}

int ping_server(const struct ping_options *opt)
{
	struct ping_peer me;
	int ret;

	ret = ping_peer_open(&me, opt->device);
	if (ret)
		return 1;
	if (!opt->quiet) {
		printf("serving at %#x, context %u\n", exa_coord(me.dev),
		       exa_ctx(me.dev));
		fflush(stdout);
	}
	ret = ping_server_loop(&me, opt);
	if (ret < 0)
		fprintf(stderr, "exanet-ping: server: %s\n", exa_strerror(ret));
	ping_peer_close(&me);
	return ret < 0;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Test of libexanet, driver and NIC together; prints TAP.
 *
 *   lib-test                    against a thread of its own (loop-back)
 *   lib-test --serve            partner for another node; prints "agent COORD CTX"
 *   lib-test --peer COORD CTX   against that one
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib-agent.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define TEST_WAIT_MS	20000
#define TEST_LATER_MS	150	/* long enough to be asleep by then */

/* Everything the tests use; area and rec are this side's, a_ is the agent's. */
static struct {
	struct exa_dev *dev;
	struct exa_mbox *echo, *commands;
	uint8_t *area;
	struct exanet_notification *rec;
	uint64_t xva, rec_xva;
	struct exa_mbox_addr agent;
	uint64_t a_va, a_gva, a_rec;
	uint32_t tag;
} t;

static unsigned int tests, failures;
/* Of the test that runs; the first reason is kept. */
static char reason[256];

__attribute__((format(printf, 1, 2)))
static void fail(const char *form, ...)
{
	va_list ap;

	if (reason[0])
		return;
	va_start(ap, form);
	vsnprintf(reason, sizeof(reason), form, ap);
	va_end(ap);
}

/* Fails the running test unless @got is @want; says whether it is. */
static bool want(const char *what, long got, long wanted)
{
	if (got == wanted)
		return true;
	fail("%s: got %ld (%s), want %ld", what, got,
	     got < 0 ? exa_strerror(got) : "", wanted);
	return false;
}

/* Ends the running test. */
static void done(const char *name)
{
	tests++;
	if (reason[0]) {
		failures++;
		printf("not ok %u - %s\n# %s\n", tests, name, reason);
	} else {
		printf("ok %u - %s\n", tests, name);
	}
	fflush(stdout);
	reason[0] = '\0';
}

/* --- the agent ------------------------------------------------------------ */

static void command_post(struct agent_msg *m)
{
	m->tag = htole32(++t.tag);
	want("command", exa_send(t.dev, &t.agent, m, sizeof(*m)), 0);
}

/* The answer's value. */
static int command_answer(struct agent_msg *m)
{
	int ret;

	do {
		ret = exa_recv(t.commands, m, sizeof(*m), NULL, TEST_WAIT_MS);
		if (ret < 0) {
			fail("no answer to command %u: %s", t.tag,
			     exa_strerror(ret));
			return ret;
		}
	} while (le32toh(m->tag) != t.tag);
	return (int)le32toh(m->value);
}

static int command_full(struct agent_msg *m)
{
	command_post(m);
	return command_answer(m);
}

static int command(enum agent_op op, uint32_t off, uint32_t len, uint32_t seed)
{
	struct agent_msg m = {
		.op = htole32(op),
		.off = htole32(off),
		.len = htole32(len),
		.seed = htole32(seed),
	};

	return command_full(&m);
}

/* --- messages ------------------------------------------------------------- */

static void test_query(void)
{
	struct exa_attr attr;

	want("query", exa_query(t.dev, &attr), 0);
	want("coord", attr.coord, exa_coord(t.dev));
	want("ctx", attr.ctx, exa_ctx(t.dev));
	want("PDID's context", attr.pdid & 15, attr.ctx);
	want("PDID's job", attr.pdid >> 4, attr.job);
	if (attr.job < 1 || attr.job > 4095)
		fail("job %u", attr.job);
	if (!(attr.cap1 & 1))
		fail("no windows in CAP1 %#x", attr.cap1);
	done("query");
}

static void test_addresses(void)
{
	uint64_t a, b, next = (((uintptr_t)t.area >> 39) + 1) << 39;

	want("xva", exa_xva(t.dev, t.area, 1, &a), 0);
	want("xva", exa_xva(t.dev, t.area + 4097, 5, &b), 0);
	want("distance", b - a, 4097);
	want("offset in the window", a & (next - 1) & EXANET_VA_OFFSET,
	     (uintptr_t)t.area & EXANET_VA_OFFSET);
	want("up to a boundary", exa_xva(t.dev, (void *)(next - 8), 8, &a), 0);
	want("crossing a boundary", exa_xva(t.dev, (void *)(next - 8), 9, &a),
	     -ERANGE);
	want("longer than a window", exa_xva(t.dev, t.area, 1ULL << 40, &a),
	     -ERANGE);
	want("kernel address", exa_xva(t.dev, (void *)~0xfffULL, 1, &a) < 0, 1);
	want("gva's coordinates", exa_gva(0x2aaaaa, 7) >> 42, 0x2aaaaa);
	want("gva's address", exa_gva(0x2aaaaa, 7) & 0x3ffffffffffULL, 7);
	done("addresses");
}

static void test_message_sizes(void)
{
	struct exa_mbox_addr to = t.agent;
	uint8_t out[EXA_MSG_MAX], in[EXA_MSG_MAX];
	struct exanet_message origin;
	unsigned int len, i;
	int ret;

	to.mbox = AGENT_ECHO;
	for (len = 1; len <= EXA_MSG_MAX; len++) {
		agent_fill(out, len, len * 5);
		if (!want("send", exa_send(t.dev, &to, out, len), 0))
			break;
		ret = exa_recv(t.echo, in, sizeof(in), &origin, TEST_WAIT_MS);
		if (!want("size", ret, len))
			break;
		if (memcmp(in, out, len))
			fail("%u bytes came back changed", len);
		for (i = len; i < sizeof(origin.payload); i++)
			want("padding", origin.payload[i], 0);
		want("origin", exa_message_coord(&origin), t.agent.coord);
		want("origin", exa_message_ctx(&origin), t.agent.ctx);
		want("type", exa_message_type(&origin), EXANET_TYPE_WRITE);
	}
	done("messages of 1 to 64 bytes");
}

static void test_message_bad(void)
{
	struct exa_mbox_addr to = t.agent;
	uint8_t buf[EXA_MSG_MAX + 1] = { 0 };

	want("0 bytes", exa_msg_post(t.dev, &to, buf, 0, 0), -EINVAL);
	want("65 bytes", exa_msg_post(t.dev, &to, buf, 65, 0), -EINVAL);
	want("flags", exa_msg_post(t.dev, &to, buf, 1, 0x80), -EINVAL);
	to.mbox = 4;
	want("mailbox 4", exa_msg_post(t.dev, &to, buf, 1, 0), -EINVAL);
	to.mbox = 0;
	to.ctx = 16;
	want("context 16", exa_msg_post(t.dev, &to, buf, 1, 0), -EINVAL);
	to.ctx = 0;
	to.coord = 1 << 22;
	want("coordinates", exa_msg_post(t.dev, &to, buf, 1, 0), -EINVAL);
	want("idle channel", exa_msg_test(t.dev, 0, NULL), -EINVAL);
	want("no channel", exa_msg_test(t.dev, 16, NULL), -EINVAL);
	want("no channel", exa_msg_test(t.dev, -1, NULL), -EINVAL);
	done("messages that cannot be");
}

/* Numbered messages through all channels; each must come back exactly once. */
static void test_message_stream(void)
{
	enum { COUNT = 600 };
	static uint8_t seen[COUNT];
	struct exa_mbox_addr to = t.agent;
	uint32_t i, next = 0, back = 0;
	int chan[EXANET_PKTZ_CHANNELS], ret;

	to.mbox = AGENT_ECHO;
	memset(seen, 0, sizeof(seen));
	memset(chan, -1, sizeof(chan));
	while (back < COUNT && !reason[0]) {
		for (i = 0; i < ARRAY_SIZE(chan); i++) {
			ret = chan[i] < 0 ? 0 : exa_msg_test(t.dev, chan[i], NULL);
			if (ret == -EINPROGRESS)
				continue;
			want("ack", ret, 0);
			chan[i] = -1;
			/* No more than the echo mailboxes can hold. */
			if (next == COUNT || next - back >= 128)
				continue;
			chan[i] = exa_msg_post(t.dev, &to, &next, sizeof(next), 0);
			if (chan[i] < 0)
				fail("post: %s", exa_strerror(chan[i]));
			next++;
		}
		ret = exa_recv(t.echo, &i, sizeof(i), NULL,
			       next == COUNT ? TEST_WAIT_MS : 0);
		if (ret == -ETIMEDOUT && next < COUNT)
			continue;
		if (!want("size", ret, sizeof(i)) || i >= COUNT)
			fail("message %u, error %d", i, ret);
		else if (seen[i]++)
			fail("message %u came twice", i);
		back++;
	}
	for (i = 0; i < ARRAY_SIZE(chan); i++)
		while (chan[i] >= 0 &&
		       exa_msg_test(t.dev, chan[i], NULL) == -EINPROGRESS)
			;
	want("one too many", exa_recv(t.echo, &i, sizeof(i), NULL, 20),
	     -ETIMEDOUT);
	done("600 messages over all channels");
}

static void test_message_busy(void)
{
	struct exa_mbox_addr to = t.agent;
	uint32_t i, word;
	int chan[EXANET_PKTZ_CHANNELS], ret;

	to.mbox = AGENT_ECHO;
	for (i = 0; i < ARRAY_SIZE(chan); i++) {
		chan[i] = exa_msg_post(t.dev, &to, &i, sizeof(i), 0);
		if (chan[i] < 0)
			fail("post %u: %s", i, exa_strerror(chan[i]));
	}
	want("17th", exa_msg_post(t.dev, &to, &i, sizeof(i), 0), -EAGAIN);
	for (i = 0; i < ARRAY_SIZE(chan) && !reason[0]; i++) {
		do {
			ret = exa_msg_test(t.dev, chan[i], NULL);
		} while (ret == -EINPROGRESS);
		want("ack", ret, 0);
		want("tested twice", exa_msg_test(t.dev, chan[i], NULL), -EINVAL);
		want("echo", exa_recv(t.echo, &word, sizeof(word), NULL,
				      TEST_WAIT_MS), sizeof(word));
	}
	done("all packetizer channels busy");
}

/*
 * Four entries, six messages: two are refused and sent again until there is room.
 */
static void test_mailbox_full(void)
{
	struct exa_mbox_addr to = t.agent;
	struct agent_msg m = { .op = htole32(AGENT_DRAIN) };
	int chan[6], ret, got = 0, acked = 0;
	unsigned int i, turn;

	want("open", command(AGENT_OPEN, 0, 2, 0), 0);
	to.mbox = AGENT_SPARE;
	for (i = 0; i < ARRAY_SIZE(chan); i++)
		chan[i] = exa_msg_post(t.dev, &to, &i, sizeof(i), 0);
	agent_nap(30);
	for (i = 0; i < ARRAY_SIZE(chan); i++) {
		ret = chan[i] < 0 ? chan[i] : exa_msg_test(t.dev, chan[i], NULL);
		if (ret == -EINPROGRESS)
			continue;
		want("ack", ret, 0);
		chan[i] = -1;
		acked++;
	}
	want("acked before the mailbox was emptied", acked, 4);
	for (turn = 0; turn < 100 && got < 6; turn++) {
		got += command_full(&m);
		agent_nap(20);
	}
	want("messages in the mailbox", got, 6);
	if (le64toh(m.data) < 2)
		fail("%lu refused", (unsigned long)le64toh(m.data));
	for (i = 0; i < ARRAY_SIZE(chan); i++) {
		while (chan[i] >= 0 && (ret = exa_msg_test(t.dev, chan[i], NULL)) ==
				       -EINPROGRESS)
			;
		if (chan[i] >= 0)
			want("ack", ret, 0);
	}
	want("shut", command(AGENT_SHUT, 0, 0, 0), 0);
	done("full mailbox");
}

/* Every entry of a small ring is used many times. */
static void test_mailbox_wrap(void)
{
	struct exa_mbox_addr to = { .mbox = AGENT_SPARE };
	struct exa_mbox *mbox, *second;
	unsigned int log2;
	uint32_t i, word;

	to.coord = exa_coord(t.dev);
	to.ctx = exa_ctx(t.dev);
	for (log2 = 1; log2 <= 3; log2++) {
		if (!want("create", exa_mbox_create(t.dev, AGENT_SPARE, log2, 0,
						    &mbox), 0))
			break;
		want("again", exa_mbox_create(t.dev, AGENT_SPARE, log2, 0,
					      &second), -EBUSY);
		for (i = 0; i < 40 && !reason[0]; i++) {
			want("send", exa_send(t.dev, &to, &i, sizeof(i)), 0);
			want("recv", exa_recv(mbox, &word, sizeof(word), NULL,
					      TEST_WAIT_MS), sizeof(word));
			want("content", word, i);
			want("empty", exa_mbox_peek(mbox) == NULL, 1);
		}
		exa_mbox_destroy(mbox);
	}
	want("number", exa_mbox_create(t.dev, 4, 4, 0, &mbox), -EINVAL);
	want("size", exa_mbox_create(t.dev, 1, 0, 0, &mbox), -EINVAL);
	want("size", exa_mbox_create(t.dev, 1, 17, 0, &mbox), -EINVAL);
	done("mailbox rings wrap");
}

/* --- write ---------------------------------------------------------------- */

static const uint32_t sizes[] = {
	1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129,
	255, 256, 257, 511, 512, 513, 1000, 4095, 4096, 4097, 8191, 8193, 16383,
	16384, 16385, 32768, 65535, 65537, 262144, 1048575, 1048576, 1048577,
	AGENT_TRANSFER - 1, AGENT_TRANSFER,
};

/* Offsets of source and destination, both page aligned at 0. */
static const struct {
	uint32_t src, dst;
} aligns[] = {
	{ 0, 0 }, { 1, 0 }, { 0, 1 }, { 3, 5 }, { 255, 1 }, { 4095, 255 },
	{ 8, 4090 }, { 77, 16383 },
};

/* The large ones take long under emulation: fewer alignments. */
static unsigned int align_count(uint32_t size)
{
	return size > 300000 ? 3 : ARRAY_SIZE(aligns);
}

static struct exa_write_attr write_attr(uint32_t src, uint32_t dst, uint32_t len)
{
	return (struct exa_write_attr) {
		.src = t.area + src,
		.dst_gva = t.a_gva + dst,
		.len = len,
		.dst_ctx = t.agent.ctx,
	};
}

static void write_one(uint32_t src, uint32_t dst, uint32_t len, uint32_t seed)
{
	struct exa_write_attr attr;
	struct exa_status st;

	src += AGENT_MARGIN;
	dst += AGENT_MARGIN;
	agent_fill(t.area + src, len, seed);
	want("clear", command(AGENT_CLEAR, dst, len, 0), 0);
	attr = write_attr(src, dst, len);
	if (want("write", exa_write(t.dev, &attr, &st), 0)) {
		want("acked bytes", st.bytes, len);
		want("status", st.error, 0);
	}
	want("bytes wrong at the target", command(AGENT_VERIFY, dst, len, seed), 0);
}

static void test_write_sizes(void)
{
	char name[64];
	unsigned int i, a;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		for (a = 0; a < align_count(sizes[i]) && !reason[0]; a++)
			write_one(aligns[a].src, aligns[a].dst, sizes[i],
				  i * 8 + a);
		snprintf(name, sizeof(name), "write %u bytes, %u alignments",
			 sizes[i], a);
		done(name);
	}
}

static void test_write_bad(void)
{
	struct exa_write_attr attr = write_attr(0, 0, 0);

	want("0 bytes", exa_write_post(t.dev, &attr), -EINVAL);
	attr.len = 1;
	attr.dst_ctx = 16;
	want("context 16", exa_write_post(t.dev, &attr), -EINVAL);
	attr.dst_ctx = 0;
	attr.flags = 0x8000;
	want("flags", exa_write_post(t.dev, &attr), -EINVAL);
	attr.flags = 0;
	attr.path = 32;
	want("path", exa_write_post(t.dev, &attr), -EINVAL);
	attr.path = 0;
	attr.dst_gva = exa_mbox_gva(t.agent.coord, 0);
	want("into the network interface", exa_write_post(t.dev, &attr), -EINVAL);
	attr.dst_gva = exa_gva(t.agent.coord, (1ULL << 39) - 8);
	attr.len = 9;
	want("over the end of a window", exa_write_post(t.dev, &attr), -EINVAL);
	want("idle channel", exa_write_test(t.dev, 0, NULL), -EINVAL);
	want("no channel", exa_write_test(t.dev, 32, NULL), -EINVAL);
	done("writes that cannot be");
}

static void test_write_busy(void)
{
	struct exa_write_attr attr;
	int chan[EXANET_WRITE_CHANNELS], ret;
	unsigned int i;

	want("clear", command(AGENT_CLEAR, AGENT_MARGIN, 32 * 1000, 0), 0);
	agent_fill(t.area, 32 * 1000, 3);
	for (i = 0; i < ARRAY_SIZE(chan); i++) {
		attr = write_attr(i * 1000, AGENT_MARGIN + i * 1000, 1000);
		chan[i] = exa_write_post(t.dev, &attr);
		if (chan[i] < 0)
			fail("post %u: %s", i, exa_strerror(chan[i]));
	}
	want("33rd", exa_write_post(t.dev, &attr), -EAGAIN);
	for (i = ARRAY_SIZE(chan); i-- > 0 && !reason[0];) {
		do {
			ret = exa_write_test(t.dev, chan[i], NULL);
		} while (ret == -EINPROGRESS);
		want("write", ret, 0);
		want("tested twice", exa_write_test(t.dev, chan[i], NULL), -EINVAL);
	}
	want("bytes wrong", command(AGENT_VERIFY, AGENT_MARGIN, 32 * 1000, 3), 0);
	done("all write channels busy");
}

/* The agent looks at the data the moment it sees the record. */
static void test_write_notify(void)
{
	static const uint32_t lengths[] = { 1, 256, 5000, 16384, 100001, 1048576 };
	struct exa_write_attr attr;
	struct agent_msg m;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(lengths) && !reason[0]; i++) {
		agent_fill(t.area, lengths[i], 40 + i);
		want("clear", command(AGENT_CLEAR, AGENT_MARGIN + 7, lengths[i], 0),
		     0);
		m = (struct agent_msg) {
			.op = htole32(AGENT_NOTIFY),
			.off = htole32(AGENT_MARGIN + 7),
			.len = htole32(lengths[i]),
			.seed = htole32(40 + i),
		};
		command_post(&m);
		attr = write_attr(0, AGENT_MARGIN + 7, lengths[i]);
		attr.flags = EXA_WRITE_NOTIFY;
		attr.notify_gva = t.a_rec;
		attr.notify_data = 0x1234567890abcdefULL + i;
		want("write", exa_write(t.dev, &attr, NULL), 0);
		want("bytes wrong at the notification", command_answer(&m), 0);
		want("data", le64toh(m.data) == attr.notify_data, 1);
		want("length", RNIC_GET(EXANET_NOTIFICATION_LENGTH,
					le64toh(m.gva)), lengths[i]);
	}
	done("write with notification in memory");
}

/* With a notification that comes as a message to a mailbox of the agent. */
static void test_write_notify_mailbox(void)
{
	struct agent_msg m = { .op = htole32(AGENT_DRAIN) };
	struct exa_write_attr attr;

	want("clear", command(AGENT_CLEAR, AGENT_MARGIN, 40000, 0), 0);
	want("open", command(AGENT_OPEN, 0, 4, 0), 0);
	agent_fill(t.area, 40000, 90);
	attr = write_attr(0, AGENT_MARGIN, 40000);
	attr.flags = EXA_WRITE_NOTIFY;
	attr.notify_gva = exa_mbox_gva(t.agent.coord, AGENT_SPARE);
	attr.notify_data = 0xfeedULL;
	want("write", exa_write(t.dev, &attr, NULL), 0);
	if (want("notifications", command_full(&m), 1)) {
		want("data", le64toh(m.gva), 0xfeed);
		want("type", le32toh(m.seed), EXANET_TYPE_NOTIFY);
		want("context", le32toh(m.off), t.agent.ctx);
	}
	want("shut", command(AGENT_SHUT, 0, 0, 0), 0);
	want("bytes wrong", command(AGENT_VERIFY, AGENT_MARGIN, 40000, 90), 0);
	done("write with notification in a mailbox");
}

static void test_put_small(void)
{
	static const uint32_t places[] = { 0, 1, 100, 192, 255 };
	uint8_t buf[EXA_MSG_MAX];
	uint32_t len, off, max;
	unsigned int i;
	int chan, ret;

	for (i = 0; i < ARRAY_SIZE(places); i++) {
		max = 256 - places[i] < 64 ? 256 - places[i] : 64;
		off = AGENT_MARGIN + places[i];
		for (len = 1; len <= max && !reason[0]; len += len < 8 ? 1 : 7) {
			agent_fill(buf, len, len + i);
			want("clear", command(AGENT_CLEAR, off, len, 0), 0);
			chan = exa_put_small(t.dev, t.a_gva + off, t.agent.ctx,
					     buf, len);
			do {
				ret = exa_msg_test(t.dev, chan, NULL);
			} while (ret == -EINPROGRESS);
			want("put", ret, 0);
			want("bytes wrong",
			     command(AGENT_VERIFY, off, len, len + i), 0);
		}
		if (max < 64)
			want("over a multiple of 256",
			     exa_put_small(t.dev, t.a_gva + off, t.agent.ctx, buf,
					   max + 1), -EINVAL);
	}
	want("0 bytes", exa_put_small(t.dev, t.a_gva, 0, buf, 0), -EINVAL);
	want("65 bytes", exa_put_small(t.dev, t.a_gva, 0, buf, 65), -EINVAL);
	done("small writes");
}

/* --- read ----------------------------------------------------------------- */

static struct exa_read_attr read_attr(uint32_t src, uint32_t dst, uint32_t len)
{
	return (struct exa_read_attr) {
		.dst = t.area + dst,
		.src_va = t.a_va + src,
		.src_coord = t.agent.coord,
		.src_ctx = t.agent.ctx,
		.len = len,
	};
}

static void test_read_sizes(void)
{
	struct exa_read_attr attr;
	uint32_t src, dst;
	char name[64];
	unsigned int i, a;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		for (a = 0; a < align_count(sizes[i]) && !reason[0]; a++) {
			src = AGENT_MARGIN + aligns[a].src;
			dst = AGENT_MARGIN + aligns[a].dst;
			want("fill", command(AGENT_FILL, src, sizes[i], i * 8 + a),
			     0);
			agent_clear(t.area + dst, sizes[i]);
			attr = read_attr(src, dst, sizes[i]);
			want("read", exa_read(t.dev, &attr, TEST_WAIT_MS), 0);
			want("bytes wrong", agent_verify(t.area + dst, sizes[i],
							 i * 8 + a), 0);
		}
		snprintf(name, sizeof(name), "read %u bytes, %u alignments",
			 sizes[i], a);
		done(name);
	}
}

static void test_read_notify_mailbox(void)
{
	struct exa_read_attr attr = read_attr(AGENT_MARGIN, AGENT_MARGIN, 70000);
	struct exanet_notification note;
	struct exanet_message origin;
	int chan, ret;

	want("fill", command(AGENT_FILL, AGENT_MARGIN, 70000, 11), 0);
	agent_clear(t.area + AGENT_MARGIN, 70000);
	attr.notify_mbox = AGENT_ECHO;
	attr.notify_data = 0xabcd;
	chan = exa_read_post(t.dev, &attr);
	if (chan < 0)
		fail("post: %s", exa_strerror(chan));
	if (want("notification", exa_recv(t.echo, &note, sizeof(note), &origin,
					  TEST_WAIT_MS), sizeof(note))) {
		want("type", exa_message_type(&origin), EXANET_TYPE_NOTIFY);
		want("data", le64toh(note.data), 0xabcd);
		want("P1", le64toh(origin.data), 0xabcd);
		want("error", exa_notify_error(&note), 0);
		want("bytes wrong at the notification",
		     agent_verify(t.area + AGENT_MARGIN, 70000, 11), 0);
	}
	do {
		ret = exa_msg_test(t.dev, chan, NULL);
	} while (ret == -EINPROGRESS);
	want("request", ret, 0);
	done("read with notification in a mailbox");
}

/* More reads than the data owner has channels for. */
static void test_read_many(void)
{
	enum { COUNT = 48, BYTES = 20000 };
	struct exanet_notification *rec = aligned_alloc(64, COUNT * sizeof(*rec));
	struct exa_read_attr attr;
	unsigned int i;
	int chan, ret;

	want("fill", command(AGENT_FILL, AGENT_MARGIN, COUNT * BYTES, 77), 0);
	agent_clear(t.area + AGENT_MARGIN, COUNT * BYTES);
	for (i = 0; i < COUNT && !reason[0]; i++) {
		attr = read_attr(AGENT_MARGIN + i * BYTES, AGENT_MARGIN + i * BYTES,
				 BYTES);
		attr.notify = &rec[i];
		attr.notify_data = i;
		chan = exa_read_post(t.dev, &attr);
		do {
			ret = exa_msg_test(t.dev, chan, NULL);
		} while (ret == -EINPROGRESS);
		want("request", ret, 0);
	}
	for (i = 0; i < COUNT && !reason[0]; i++) {
		uint64_t data = 0;

		want("read", exa_notify_wait(&rec[i], &data, TEST_WAIT_MS), 0);
		want("data", data, i);
	}
	want("bytes wrong", agent_verify(t.area + AGENT_MARGIN, COUNT * BYTES, 77),
	     0);
	attr.notify = (void *)((uintptr_t)&rec[0] + 8);
	want("record not aligned", exa_read_post(t.dev, &attr), -EINVAL);
	attr.notify = NULL;
	attr.notify_mbox = 4;
	want("mailbox 4", exa_read_post(t.dev, &attr), -EINVAL);
	attr.notify_mbox = 0;
	attr.len = 0;
	want("0 bytes", exa_read_post(t.dev, &attr), -EINVAL);
	if (!reason[0])
		free(rec);
	done("48 reads at a time");
}

/* --- errors --------------------------------------------------------------- */

/* A bad address may show as any of these. */
static void want_bad(const char *what, int ret)
{
	if (ret != -ENXIO && ret != -EFAULT && ret != -EACCES)
		fail("%s: got %d (%s)", what, ret, exa_strerror(ret));
}

static void test_error_addresses(void)
{
	struct exa_write_attr attr = write_attr(0, AGENT_MARGIN, 5000);
	uint8_t *hole = mmap(NULL, 65536, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS,
			     -1, 0);
	struct exa_read_attr rattr;

	attr.dst_gva = exa_gva(t.agent.coord, 6ULL << 39);
	want("window that is not mapped", exa_write(t.dev, &attr, NULL), -ENXIO);
	/* The first page of the window is in no process. */
	attr.dst_gva = t.a_gva & ~EXANET_VA_OFFSET;
	want_bad("nothing there", exa_write(t.dev, &attr, NULL));
	attr = write_attr(0, AGENT_MARGIN, 5000);
	attr.src = hole;
	want("source that cannot be read", exa_write(t.dev, &attr, NULL), -EFAULT);
	attr.src = (void *)8;
	want("null page as source", exa_write(t.dev, &attr, NULL), -EFAULT);
	attr.src = (void *)0xffff888000000000ULL;
	want_bad("kernel memory as source", exa_write(t.dev, &attr, NULL));

	rattr = read_attr(AGENT_MARGIN, AGENT_MARGIN, 5000);
	rattr.src_va = 8;
	want("read of a null page", exa_read(t.dev, &rattr, TEST_WAIT_MS), -EFAULT);
	rattr.src_va = 0xffff888000000000ULL;
	want_bad("read of kernel memory", exa_read(t.dev, &rattr, TEST_WAIT_MS));
	rattr = read_attr(AGENT_MARGIN, AGENT_MARGIN, 5000);
	/* The owner's errors come back as a notification, this one too. */
	rattr.dst = hole;
	want_bad("read to nowhere", exa_read(t.dev, &rattr, TEST_WAIT_MS));
	munmap(hole, 65536);
	done("errors: addresses");
}

static void test_error_read_only(void)
{
	struct exa_write_attr attr = write_attr(0, AGENT_MARGIN, 12288);
	uint32_t page = AGENT_MARGIN + 4096;

	want("fill", command(AGENT_FILL, AGENT_MARGIN, 12288, 5), 0);
	want("lock", command(AGENT_LOCK, page, PROT_READ, 0), 0);
	agent_fill(t.area, 12288, 6);
	want_bad("read-only page", exa_write(t.dev, &attr, NULL));
	want("unlock", command(AGENT_LOCK, page, PROT_READ | PROT_WRITE, 0), 0);
	want("clear", command(AGENT_CLEAR, AGENT_MARGIN, 12288, 0), 0);
	want("write", exa_write(t.dev, &attr, NULL), 0);
	want("bytes wrong", command(AGENT_VERIFY, AGENT_MARGIN, 12288, 6), 0);
	done("errors: read-only page, and good again");
}

/* A context at the agent's node that nobody has open. */
static void test_error_context(void)
{
	struct exa_write_attr attr = write_attr(0, AGENT_MARGIN, 500);
	struct exa_mbox_addr to = t.agent;
	struct exa_status st;
	int ctx, ret, refused = 0;
	uint8_t byte = 0;

	for (ctx = 0; ctx < 16 && !refused; ctx++) {
		if (ctx == t.agent.ctx || (to.coord == exa_coord(t.dev) &&
					   (uint32_t)ctx == exa_ctx(t.dev)))
			continue;
		attr.dst_ctx = ctx;
		ret = exa_write(t.dev, &attr, &st);
		if (ret == -EACCES) {
			refused = 1;
			to.ctx = ctx;
			want("code", st.code, EXANET_RESP_PROTECTION);
		}
	}
	want("a context that is not open", refused, 1);
	if (refused)
		want("message there", exa_send(t.dev, &to, &byte, 1), -EACCES);
	to = t.agent;
	done("errors: context that is not open");
}

/* Root may join any job; then the others are out of reach. */
static void test_error_job(void)
{
	struct exa_write_attr attr = write_attr(0, AGENT_MARGIN, 500);
	struct exa_read_attr rattr = read_attr(AGENT_MARGIN, AGENT_MARGIN, 500);
	struct exa_dev *dev;
	struct exa_attr a;

	if (!want("open", exa_open(NULL, &dev), 0)) {
		done("errors: other job");
		return;
	}
	want("query", exa_query(dev, &a), 0);
	want("job 0", exa_job_set(dev, 0), -EINVAL);
	want("job 4096", exa_job_set(dev, 4096), -EINVAL);
	want("job", exa_job_set(dev, a.job == 4095 ? 1 : a.job + 1), 0);
	want("write", exa_write(dev, &attr, NULL), -EACCES);
	want("message", exa_send(dev, &t.agent, &attr, 8), -EACCES);
	want("read", exa_read(dev, &rattr, TEST_WAIT_MS), -EACCES);
	want("job", exa_job_set(dev, a.job), 0);
	want("write in the right job", exa_write(dev, &attr, NULL), 0);
	exa_close(dev);
	done("errors: other job");
}

/*
 * The agent's pages are replaced and never touched: the NIC must neither use old
 * translations nor need the process's help.
 */
static void test_remap(void)
{
	struct exa_write_attr attr = write_attr(9, AGENT_MARGIN + 1, 300000);
	unsigned int turn;

	for (turn = 0; turn < 5 && !reason[0]; turn++) {
		want("remap", command(AGENT_REMAP, 0, 0, 0), 0);
		/* Guards are written before, the target is not. */
		want("clear", command(AGENT_CLEAR, AGENT_MARGIN, 1, 0), 0);
		want("clear", command(AGENT_CLEAR, AGENT_MARGIN + 300002, 1, 0), 0);
		if (!agent_remap(t.area))
			fail("remap");
		want("pages of zeros", exa_write(t.dev, &attr, NULL), 0);
		agent_fill(t.area + 9, 300000, turn);
		want("write", exa_write(t.dev, &attr, NULL), 0);
		want("bytes wrong",
		     command(AGENT_VERIFY, AGENT_MARGIN + 1, 300000, turn), 0);
	}
	done("pages that change and pages never touched");
}

/* Transfers to a node that does not exist, and a device closed in the middle. */
static void test_close_busy(void)
{
	struct exa_write_attr attr = write_attr(0, AGENT_MARGIN, 100000);
	struct exa_mbox_addr to = t.agent;
	struct exa_dev *dev;
	int i;

	to.coord = attr.dst_gva = 0;
	to.coord = 0x155555;
	attr.dst_gva = exa_gva(to.coord, 0);
	if (want("open", exa_open(NULL, &dev), 0)) {
		for (i = 0; i < 8; i++) {
			want("post", exa_write_post(dev, &attr) >= 0, 1);
			want("post", exa_msg_post(dev, &to, &i, 4, 0) >= 0, 1);
		}
		attr = write_attr(0, AGENT_MARGIN, AGENT_TRANSFER);
		want("post", exa_write_post(dev, &attr) >= 0, 1);
		exa_close(dev);
	}
	/* Whatever is left of them disturbs nobody. */
	write_one(5, 6, 70000, 123);
	done("close with transfers in flight");
}

/* --- waiting -------------------------------------------------------------- */

static int64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

static void test_wait_timeout(void)
{
	int64_t start;
	uint8_t byte;
	int ret, turns = 0;

	exa_arm(t.dev);
	exa_ack(t.dev);
	start = now_ms();
	do {
		ret = exa_wait(t.dev, 100);
	} while (ret == 1 && ++turns < 5);
	want("wait", ret, 0);
	if (now_ms() - start < 95)
		fail("woke after %d ms", (int)(now_ms() - start));
	exa_disarm(t.dev);
	start = now_ms();
	want("recv", exa_recv(t.echo, &byte, 1, NULL, 100), -ETIMEDOUT);
	if (now_ms() - start < 95)
		fail("recv ended after %d ms", (int)(now_ms() - start));
	done("waiting with time-out");
}

/* By exa_wait(), a foreign poll() or an eventfd. */
static void test_wait_message(void)
{
	struct agent_msg m = {
		.op = htole32(AGENT_LATER),
		.len = htole32(TEST_LATER_MS),
	};
	struct pollfd pfd = { .events = POLLIN };
	int efd = eventfd(0, EFD_NONBLOCK), way, turns;
	uint64_t count;

	want("eventfd", exa_eventfd(t.dev, efd), 0);
	for (way = 0; way < 3 && !reason[0]; way++) {
		pfd.fd = way == 1 ? exa_fd(t.dev) : efd;
		command_post(&m);
		exa_arm(t.dev);
		for (turns = 0; !exa_mbox_peek(t.commands) && turns < 20; turns++) {
			if (way == 0) {
				if (exa_wait(t.dev, TEST_WAIT_MS) == 0)
					fail("no wake-up");
				continue;
			}
			if (poll(&pfd, 1, TEST_WAIT_MS) != 1)
				fail("poll %d", way);
			exa_ack(t.dev);
			if (way == 2 && read(efd, &count, 8) != 8)
				fail("eventfd not readable");
		}
		if (turns == 20)
			fail("woken 20 times for nothing");
		exa_disarm(t.dev);
		want("answer", command_answer(&m), 0);
		if (read(efd, &count, 8) < 0 && errno != EAGAIN)
			fail("eventfd");
	}
	want("eventfd", exa_eventfd(t.dev, -1), 0);
	close(efd);
	done("waiting for a message by descriptor");
}

/* Nobody polls memory here: only the interrupt can end the wait. */
static void test_wait_write(void)
{
	struct exa_write_attr attr = write_attr(0, AGENT_MARGIN, 2000000);
	int chan, ret, turns = 0;

	exa_ack(t.dev);
	attr.flags = EXA_WRITE_WAKE;
	chan = exa_write_post(t.dev, &attr);
	while ((ret = exa_write_test(t.dev, chan, NULL)) == -EINPROGRESS &&
	       turns++ < 20)
		if (exa_wait(t.dev, TEST_WAIT_MS) == 0)
			fail("no wake-up");
	want("write", ret, 0);
	if (!turns)
		printf("# the write was done before the wait\n");
	done("waiting for the end of a write");
}

static void test_wait_notify(void)
{
	struct agent_msg m = {
		.op = htole32(AGENT_WRITE),
		.off = htole32(AGENT_MARGIN),
		.len = htole32(30000),
		.data = htole64(99),
	};
	uint64_t data = 0;
	int turns = 0, ret;

	m.gva = htole64(exa_gva(exa_coord(t.dev), t.xva + AGENT_MARGIN));
	m.rec_xva = htole64(t.rec_xva);
	want("fill", command(AGENT_FILL, AGENT_MARGIN, 30000, 31), 0);
	agent_clear(t.area + AGENT_MARGIN, 30000);
	exa_notify_clear(t.rec);
	exa_ack(t.dev);
	command_post(&m);
	while ((ret = exa_notify_test(t.rec, &data)) == -EINPROGRESS &&
	       turns++ < 20)
		if (exa_wait(t.dev, TEST_WAIT_MS) == 0)
			fail("no wake-up");
	want("record", ret, 0);
	want("data", data, 99);
	want("bytes wrong", agent_verify(t.area + AGENT_MARGIN, 30000, 31), 0);
	want("agent's write", command_answer(&m), 0);
	done("waiting for a write of the peer");
}

/* --- processes and threads ------------------------------------------------ */

/* Exit status: the number of the first call that did not say -EPERM. */
static int child_try(void)
{
	struct exa_write_attr wattr = write_attr(0, AGENT_MARGIN, 1);
	struct exa_read_attr rattr = read_attr(AGENT_MARGIN, AGENT_MARGIN, 1);
	struct exa_mbox *mbox;
	struct exa_attr attr;
	uint64_t xva;
	uint8_t byte = 0;

	const int got[] = {
		exa_query(t.dev, &attr), exa_xva(t.dev, t.area, 1, &xva),
		exa_write_post(t.dev, &wattr), exa_write_test(t.dev, 0, NULL),
		exa_read_post(t.dev, &rattr), exa_read(t.dev, &rattr, 10),
		exa_msg_post(t.dev, &t.agent, &byte, 1, 0),
		exa_msg_test(t.dev, 0, NULL),
		exa_put_small(t.dev, t.a_gva, 0, &byte, 1),
		exa_mbox_create(t.dev, 3, 4, 0, &mbox),
		exa_recv(t.echo, &byte, 1, NULL, 10),
		exa_wait(t.dev, 10), exa_arm(t.dev), exa_disarm(t.dev),
		exa_ack(t.dev), exa_eventfd(t.dev, -1), exa_job_set(t.dev, 1),
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(got); i++)
		if (got[i] != -EPERM)
			return i + 1;
	exa_close(t.dev);
	return 0;
}

static void test_fork(void)
{
	int status = -1;
	pid_t pid;

	fflush(stdout);
	agent_fill(t.area, AGENT_AREA, 50);
	pid = fork();
	if (!pid)
		_exit(child_try());
	/* Pages are shared with the child meanwhile, and copied when written. */
	write_one(1, 2, 100000, 51);
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		fail("child: status %#x", status);
	else
		want("call in the child", WEXITSTATUS(status), 0);
	write_one(1, 2, 100000, 52);
	done("fork");
}

struct worker {
	pthread_t thread;
	unsigned int id;
	char reason[128];
};

#define WORKERS		4
#define WORKER_BYTES	50000

/* Writes to its own part of the agent's area and reads it back, and puts. */
static void *worker_run(void *arg)
{
	struct worker *w = arg;
	uint32_t mine = AGENT_MARGIN + w->id * 2 * WORKER_BYTES;
	struct exa_write_attr wattr = write_attr(mine, mine, WORKER_BYTES);
	struct exa_read_attr rattr = read_attr(mine, mine, WORKER_BYTES);
	unsigned int turn, i;
	uint32_t word;
	int ret, chan;

	rattr.dst = t.area + mine + WORKER_BYTES;
	for (turn = 0; turn < 20 && !w->reason[0]; turn++) {
		agent_fill(t.area + mine, WORKER_BYTES, turn + w->id);
		word = htole32(turn * 1000 + w->id);
		memcpy(t.area + mine, &word, 4);
		ret = exa_write(t.dev, &wattr, NULL);
		if (!ret)
			ret = exa_read(t.dev, &rattr, TEST_WAIT_MS);
		if (ret || memcmp(t.area + mine, rattr.dst, WORKER_BYTES))
			snprintf(w->reason, sizeof(w->reason),
				 "thread %u, turn %u: %s", w->id, turn,
				 ret ? exa_strerror(ret) : "data differ");
		for (i = 0; i < 8; i++) {
			while ((chan = exa_put_small(t.dev, t.a_gva + mine +
						     WORKER_BYTES, t.agent.ctx,
						     &word, 4)) == -EAGAIN)
				;
			while ((ret = exa_msg_test(t.dev, chan, NULL)) ==
			       -EINPROGRESS)
				;
			if (ret && !w->reason[0])
				snprintf(w->reason, sizeof(w->reason),
					 "thread %u: put: %s", w->id,
					 exa_strerror(ret));
		}
	}
	return NULL;
}

static void test_threads(void)
{
	struct worker w[WORKERS] = { 0 };
	unsigned int i;

	for (i = 0; i < WORKERS; i++) {
		w[i].id = i;
		if (pthread_create(&w[i].thread, NULL, worker_run, &w[i]))
			fail("pthread_create");
	}
	for (i = 0; i < WORKERS; i++) {
		pthread_join(w[i].thread, NULL);
		if (w[i].reason[0])
			fail("%s", w[i].reason);
	}
	done("four threads on one device");
}

/* Each thread sleeps on its own mailbox of one device. */
static void *receiver_run(void *arg)
{
	struct exa_mbox *mbox = arg;
	uint32_t i, word;

	for (i = 0; i < 20; i++)
		if (exa_recv(mbox, &word, sizeof(word), NULL, TEST_WAIT_MS) !=
		    sizeof(word) || word != i)
			return mbox;
	return NULL;
}

static void test_receivers(void)
{
	static const uint8_t numbers[] = { 1, 3 };
	struct exa_mbox *mbox[2] = { NULL };
	struct exa_mbox_addr to = { .coord = exa_coord(t.dev),
				    .ctx = exa_ctx(t.dev) };
	pthread_t thread[2];
	void *bad = NULL;
	uint32_t i, n;

	for (n = 0; n < 2; n++) {
		want("create", exa_mbox_create(t.dev, numbers[n], 4, 0, &mbox[n]),
		     0);
		pthread_create(&thread[n], NULL, receiver_run, mbox[n]);
	}
	for (i = 0; i < 20; i++)
		for (n = 0; n < 2; n++) {
			to.mbox = numbers[n];
			agent_nap(3);
			want("send", exa_send(t.dev, &to, &i, sizeof(i)), 0);
		}
	for (n = 0; n < 2; n++) {
		pthread_join(thread[n], &bad);
		if (bad)
			fail("mailbox %u", numbers[n]);
		exa_mbox_destroy(mbox[n]);
	}
	done("two threads sleep on two mailboxes");
}

static void test_misc(void)
{
	struct exa_dev *dev;
	uint64_t before = exa_time(t.dev);
	int err;

	for (err = -200; err < 200; err++)
		if (!exa_strerror(err) || !*exa_strerror(err))
			fail("no text for %d", err);
	want("text", strcmp(exa_strerror(-EFAULT), exa_strerror(EFAULT)), 0);
	want("no such device", exa_open("77", &dev), -ENOENT);
	want("no NIC", exa_open("/dev/null", &dev), -EPROTO);
	agent_nap(2);
	if (exa_time(t.dev) <= before)
		fail("time stands still at %lu", (unsigned long)before);
	exa_close(NULL);
	exa_mbox_destroy(NULL);
	done("texts, names and time");
}

/* -------------------------------------------------------------------------- */

static int setup(void)
{
	int ret;

	ret = exa_open(NULL, &t.dev);
	if (ret)
		return ret;
	t.area = agent_map();
	t.rec = aligned_alloc(64, 64);
	if (!t.area || !t.rec)
		return -ENOMEM;
	ret = exa_xva(t.dev, t.area, AGENT_AREA, &t.xva);
	if (!ret)
		ret = exa_xva(t.dev, t.rec, sizeof(*t.rec), &t.rec_xva);
	if (!ret)
		ret = exa_mbox_create(t.dev, AGENT_ECHO, 8, 0, &t.echo);
	if (!ret)
		ret = exa_mbox_create(t.dev, AGENT_COMMANDS, 6, 0, &t.commands);
	return ret;
}

static void meet(void)
{
	struct agent_msg m = { .op = htole32(AGENT_INFO) };

	want("info", command_full(&m), 0);
	t.a_va = le64toh(m.va);
	t.a_gva = exa_gva(t.agent.coord, le64toh(m.xva));
	t.a_rec = exa_gva(t.agent.coord, le64toh(m.rec_xva));
	done("agent answers");
}

static void run_all(void)
{
	meet();
	if (failures)
		return;
	test_query();
	test_misc();
	test_addresses();
	test_message_sizes();
	test_message_bad();
	test_message_stream();
	test_message_busy();
	test_mailbox_full();
	test_mailbox_wrap();
	test_write_sizes();
	test_write_bad();
	test_write_busy();
	test_write_notify();
	test_write_notify_mailbox();
	test_put_small();
	test_read_sizes();
	test_read_notify_mailbox();
	test_read_many();
	test_error_addresses();
	test_error_read_only();
	test_error_context();
	test_error_job();
	test_remap();
	test_wait_timeout();
	test_wait_message();
	test_wait_write();
	test_wait_notify();
	test_fork();
	test_threads();
	test_receivers();
	test_close_busy();
	command(AGENT_QUIT, 0, 0, 0);
}

static int serve(void)
{
	struct agent a;
	int ret;

	ret = agent_open(&a);
	if (!ret) {
		printf("agent %#x %u\n", exa_coord(a.dev), exa_ctx(a.dev));
		fflush(stdout);
		ret = agent_run(&a);
		agent_close(&a);
	}
	if (ret)
		fprintf(stderr, "agent: %s\n", exa_strerror(ret));
	return ret != 0;
}

static void *agent_thread(void *arg)
{
	struct agent *a = arg;
	int ret = agent_run(a);

	if (ret)
		fprintf(stderr, "# agent: %s\n", exa_strerror(ret));
	return NULL;
}

int main(int argc, char **argv)
{
	static struct agent a;
	pthread_t thread;
	int ret = 0;

	if (argc == 2 && !strcmp(argv[1], "--serve"))
		return serve();
	t.agent.mbox = AGENT_COMMANDS;
	if (argc == 4 && !strcmp(argv[1], "--peer")) {
		t.agent.coord = strtoul(argv[2], NULL, 0);
		t.agent.ctx = strtoul(argv[3], NULL, 0);
	} else if (argc == 1) {
		ret = agent_open(&a);
	} else {
		fprintf(stderr, "usage: lib-test [--serve | --peer COORD CTX]\n");
		return 2;
	}
	if (!ret)
		ret = setup();
	if (ret) {
		printf("not ok 1 - open\n# %s\n1..1\n", exa_strerror(ret));
		return 1;
	}
	if (argc == 1) {
		t.agent.coord = exa_coord(a.dev);
		t.agent.ctx = exa_ctx(a.dev);
		ret = pthread_create(&thread, NULL, agent_thread, &a);
	}
	if (!ret)
		run_all();
	printf("1..%u\n", tests);
	exa_close(t.dev);
	return failures != 0;
}

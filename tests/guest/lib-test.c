// SPDX-License-Identifier: GPL-2.0-or-later
/* Test of libexanet, driver and NIC together: transfer of data.  Prints TAP. */
#define _GNU_SOURCE
#include "lib-harness.h"

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

/* Sends numbered messages on all channels.  Each must come back exactly once. */
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
			/* no more messages than the echo mailboxes can hold */
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
 * A mailbox of four entries gets six messages.  Two are refused, and retransmitted until
 * the mailbox has room.
 */
static void test_mailbox_full(void)
{
	struct exa_mbox_addr to = t.agent;
	struct agent_msg m = { .op = htole32(AGENT_DRAIN) };
	int chan[6], ret, got = 0, acked = 0;
	unsigned int i, attempt;

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
	for (attempt = 0; attempt < 100 && got < 6; attempt++) {
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

/* Each entry of a small ring is used many times. */
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

/* Offsets of source and destination from a page boundary. */
static const struct {
	uint32_t src, dst;
} aligns[] = {
	{ 0, 0 }, { 1, 0 }, { 0, 1 }, { 3, 5 }, { 255, 1 }, { 4095, 255 },
	{ 8, 4090 }, { 77, 16383 },
};

/*
 * Returns the number of alignments: fewer for large sizes, which take long under
 * emulation.
 */
static unsigned int align_count(uint32_t size)
{
	return size > 300000 ? 3 : ARRAY_SIZE(aligns);
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

/* The agent checks the data as soon as the notification record is set. */
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

/* The notification is a message to a mailbox of the agent. */
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

/* Starts more reads than the owner of the data has channels. */
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

/* -------------------------------------------------------------------------- */

static void run_all(void)
{
	test_query();
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
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * For test programs of libexanet: TAP output, commands to the agent, and main().  A
 * program includes this file and defines run_all().
 *
 *   PROGRAM                    runs the tests against an agent, a thread of the program
 *   PROGRAM --serve            is the agent for another node; prints "agent COORD CTX"
 *   PROGRAM --peer COORD CTX   runs the tests against the agent at COORD CTX
 */
#ifndef LIB_HARNESS_H
#define LIB_HARNESS_H

#include <pthread.h>
#include <stdarg.h>

#include "lib-agent.h"

/*
 * Runs all tests of the program, which defines this function.  main() calls run_all()
 * after the agent has answered.
 */
static void run_all(void);

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define TEST_WAIT_MS	20000
#define TEST_LATER_MS	150	/* time (ms) after which a waiting thread is asleep */

/* State of the tests.  a_va, a_gva and a_rec are addresses of memory of the agent. */
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
/* Text of the first failure of the running test; empty if the test has not failed. */
static char reason[256];

__attribute__((format(printf, 1, 2)))
static inline void fail(const char *form, ...)
{
	va_list ap;

	if (reason[0])
		return;
	va_start(ap, form);
	vsnprintf(reason, sizeof(reason), form, ap);
	va_end(ap);
}

/*
 * Returns true if @got is @wanted.  Otherwise the running test fails, and the
 * function returns false.
 */
static inline bool want(const char *what, long got, long wanted)
{
	if (got == wanted)
		return true;
	fail("%s: got %ld (%s), want %ld", what, got,
	     got < 0 ? exa_strerror(got) : "", wanted);
	return false;
}

/* Prints the result of the running test as test @name, and begins the next test. */
static inline void done(const char *name)
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

static inline void command_post(struct agent_msg *m)
{
	m->tag = htole32(++t.tag);
	want("command", exa_send(t.dev, &t.agent, m, sizeof(*m)), 0);
}

/*
 * Waits for the answer to the last command and stores it in @m.  Returns the member
 * value of the answer, or a negative error.
 */
static inline int command_answer(struct agent_msg *m)
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

static inline int command_full(struct agent_msg *m)
{
	command_post(m);
	return command_answer(m);
}

static inline int command(enum agent_op op, uint32_t off, uint32_t len, uint32_t seed)
{
	struct agent_msg m = {
		.op = htole32(op),
		.off = htole32(off),
		.len = htole32(len),
		.seed = htole32(seed),
	};

	return command_full(&m);
}

/* --- transfers ------------------------------------------------------------ */

static inline struct exa_write_attr write_attr(uint32_t src, uint32_t dst, uint32_t len)
{
	return (struct exa_write_attr) {
		.src = t.area + src,
		.dst_gva = t.a_gva + dst,
		.len = len,
		.dst_ctx = t.agent.ctx,
	};
}

static inline struct exa_read_attr read_attr(uint32_t src, uint32_t dst, uint32_t len)
{
	return (struct exa_read_attr) {
		.dst = t.area + dst,
		.src_va = t.a_va + src,
		.src_coord = t.agent.coord,
		.src_ctx = t.agent.ctx,
		.len = len,
	};
}

static inline void write_one(uint32_t src, uint32_t dst, uint32_t len, uint32_t seed)
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

/* --- the program ---------------------------------------------------------- */

static inline int setup(void)
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

static inline void meet(void)
{
	struct agent_msg m = { .op = htole32(AGENT_INFO) };

	want("info", command_full(&m), 0);
	t.a_va = le64toh(m.va);
	t.a_gva = exa_gva(t.agent.coord, le64toh(m.xva));
	t.a_rec = exa_gva(t.agent.coord, le64toh(m.rec_xva));
	done("agent answers");
}

static inline int serve(void)
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

static inline void *agent_thread(void *arg)
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
		fprintf(stderr, "usage: %s [--serve | --peer COORD CTX]\n",
			argv[0]);
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
		meet();
	if (!ret && !failures) {
		run_all();
		command(AGENT_QUIT, 0, 0, 0);
	}
	printf("1..%u\n", tests);
	exa_close(t.dev);
	return failures != 0;
}

#endif /* LIB_HARNESS_H */

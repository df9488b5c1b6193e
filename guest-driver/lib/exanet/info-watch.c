// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
/*
 * exanet-info --watch: a live table of links and retransmissions.
 *
 * On a terminal each table replaces the previous table; in a file or pipe each table
 * follows the previous table.  If a NIC was removed, for example with its driver, the table
 * shows the NIC again when the NIC has come back.
 */
#define _GNU_SOURCE
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "info.h"
#include "rnic/exanet/regs.h"
#include "rnic/exanet/wire.h"

#define WATCH_ARRAY(a)	(sizeof(a) / sizeof((a)[0]))

/* Counters of a port; the table shows their rates. */
enum watch_rate {
	WATCH_TX_WORDS, WATCH_TX_PACKETS, WATCH_RX_WORDS, WATCH_RX_PACKETS,
	WATCH_XOFF, WATCH_DROPPED, WATCH_BAD_HEADER, WATCH_BAD_PAYLOAD,
	WATCH_BAD_FOOTER, WATCH_RATES
};

static const char *const watch_rate_files[WATCH_RATES] = {
	[WATCH_TX_WORDS] = "tx_words",
	[WATCH_TX_PACKETS] = "tx_packets",
	[WATCH_RX_WORDS] = "rx_words",
	[WATCH_RX_PACKETS] = "rx_packets",
	[WATCH_XOFF] = "xoff_received",
	[WATCH_DROPPED] = "dropped",
	[WATCH_BAD_HEADER] = "bad_header",
	[WATCH_BAD_PAYLOAD] = "bad_payload",
	[WATCH_BAD_FOOTER] = "bad_footer",
};

/* Reasons of retransmissions. */
static const struct {
	const char *file;	/* file of the counter, in the folder of the NIC in sysfs */
	const char *cause;	/* text for the user */
} watch_retries[] = {
	{ "counters/retry_timeout", "time-out" },
	{ "counters/retry_crc", "CRC" },
	{ "counters/retry_fault", "page fault" },
	{ "counters/retry_no_context", "no context" },
	{ "counters/retry_full", "mailbox full" },
	{ "counters/msg_retry", "message" },
};

struct watch_port {
	bool there;		/* the port exists */
	bool stopped;		/* the neighbour has stopped a virtual channel of the port */
	char state[INFO_VALUE_MAX];
	char peer[INFO_VALUE_MAX];
	char role[INFO_VALUE_MAX];
	uint64_t rate[WATCH_RATES];	/* values of the counters, by enum watch_rate */
};

struct watch_sample {
	bool there;		/* the NIC exists */
	double time;		/* time of the sample, seconds of CLOCK_MONOTONIC */
	struct watch_port port[EXANET_LINKS];
	uint64_t retry[WATCH_ARRAY(watch_retries)];	/* values of these counters */
};

struct watch_dev {
	const char *name;
	struct watch_sample now, before;
};

static double watch_clock(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

/* --- reading -------------------------------------------------------------- */

static uint64_t watch_number(bool there, const char *value)
{
	return there ? strtoull(value, NULL, 0) : 0;
}

static void watch_read_port(const char *dev, int p, struct watch_port *port)
{
	char value[INFO_VALUE_MAX];
	int i;

	memset(port, 0, sizeof(*port));
	port->there = info_port(dev, p, "state", port->state);
	if (!port->there)
		return;
	if (!info_port(dev, p, "role", port->role))
		strcpy(port->role, "-");
	if (strcmp(port->state, "up") || !info_port(dev, p, "peer", port->peer))
		strcpy(port->peer, "-");
	port->stopped = watch_number(info_port(dev, p, "peer_xoff_vc", value),
				     value);
	for (i = 0; i < WATCH_RATES; i++)
		port->rate[i] = watch_number(info_port(dev, p,
						       watch_rate_files[i],
						       value), value);
}

static void watch_read(struct watch_dev *dev)
{
	struct watch_sample *now = &dev->now;
	char value[INFO_VALUE_MAX];
	size_t i;
	int p;

	dev->before = *now;
	memset(now, 0, sizeof(*now));
	now->time = watch_clock();
	now->there = info_read(dev->name, "coord", value);
	if (!now->there)
		return;
	for (p = 0; p < EXANET_LINKS; p++)
		watch_read_port(dev->name, p, &now->port[p]);
	for (i = 0; i < WATCH_ARRAY(watch_retries); i++)
		now->retry[i] =
			watch_number(info_read(dev->name, watch_retries[i].file,
					       value), value);
}

/* --- showing -------------------------------------------------------------- */

/*
 * Returns the rate per second of a counter whose value was @before in the previous sample,
 * and is @now in the present sample.  If @now is less, a reset of the NIC has set the
 * counter to 0.
 */
static double watch_per_second(const struct watch_dev *dev, uint64_t now,
			       uint64_t before)
{
	/* Without a previous sample there is no rate. */
	if (!dev->before.there)
		return 0;
	return (now >= before ? now - before : now) /
	       (dev->now.time - dev->before.time);
}

/*
 * Returns @rate rounded up to a multiple of 1 / @parts, so that only a rate of 0 is printed
 * as 0.
 */
static double watch_round_up(double rate, double parts)
{
	uint64_t n = rate * parts;

	return (n + (n < rate * parts)) / parts;
}

/* Returns the rate per second of counter @rate of port @p, rounded up to an integer. */
static double watch_rate(const struct watch_dev *dev, int p, int rate)
{
	return watch_round_up(watch_per_second(dev, dev->now.port[p].rate[rate],
					       dev->before.port[p].rate[rate]),
			      1);
}

/*
 * Returns the rate of counter @rate of port @p, which counts words, in 10^6 bytes per second,
 * rounded up to two decimals.
 */
static double watch_megabytes(const struct watch_dev *dev, int p, int rate)
{
	double words = watch_per_second(dev, dev->now.port[p].rate[rate],
					dev->before.port[p].rate[rate]);

	return watch_round_up(words * EXANET_WORD_BYTES / 1e6, 100);
}

static void watch_show_port(const struct watch_dev *dev, int p, FILE *out)
{
	const struct watch_port *port = &dev->now.port[p];

	fprintf(out, "%4d  %-8s  %-8s  %-8.8s  %9.2f %9.0f  %9.2f %9.0f  %6.0f%c %6.0f %6.0f\n",
		p, port->state, port->peer, port->role,
		watch_megabytes(dev, p, WATCH_TX_WORDS),
		watch_rate(dev, p, WATCH_TX_PACKETS),
		watch_megabytes(dev, p, WATCH_RX_WORDS),
		watch_rate(dev, p, WATCH_RX_PACKETS),
		watch_rate(dev, p, WATCH_XOFF), port->stopped ? '*' : ' ',
		watch_rate(dev, p, WATCH_DROPPED),
		watch_rate(dev, p, WATCH_BAD_HEADER) +
		watch_rate(dev, p, WATCH_BAD_PAYLOAD) +
		watch_rate(dev, p, WATCH_BAD_FOOTER));
}

static void watch_show_dev(const struct watch_dev *dev, FILE *out)
{
	size_t i;
	int p;

	if (!dev->now.there) {
		fprintf(out, "%s is gone\n", dev->name);
		return;
	}
	fprintf(out, "%s\n", dev->name);
	fprintf(out, "port  state     peer      role        TX MB/s packets/s    RX MB/s packets/s   XOFF/s drop/s  CRC/s\n");
	for (p = 0; p < EXANET_LINKS; p++)
		if (dev->now.port[p].there)
			watch_show_port(dev, p, out);
	fprintf(out, "sent again/s:");
	for (i = 0; i < WATCH_ARRAY(watch_retries); i++)
		fprintf(out, "%s %s %.0f", i ? "," : "",
			watch_retries[i].cause,
			watch_round_up(watch_per_second(dev, dev->now.retry[i],
							dev->before.retry[i]),
				       1));
	fprintf(out, "\n");
}

/*
 * Returns the tables of all devices as one text, which the caller frees, or NULL if there
 * is not enough memory.
 */
static char *watch_text(const struct watch_dev *devs, int count)
{
	char *text = NULL;
	size_t size;
	FILE *out;
	int i;

	out = open_memstream(&text, &size);
	if (!out)
		return NULL;
	for (i = 0; i < count; i++) {
		if (i)
			fputc('\n', out);
		watch_show_dev(&devs[i], out);
	}
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}

/*
 * Returns the maximal number of lines of a text that the next text can replace on the
 * terminal; INT_MAX if the size of the terminal is unknown.
 */
static int watch_rows(void)
{
	struct winsize size;

	/* The cursor needs the last line of the terminal. */
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || size.ws_row < 2)
		return INT_MAX;
	return size.ws_row - 1;
}

/*
 * Prints @text in place of the previous text, which had @above lines.  Omits lines for
 * which the terminal has no room.  Switches off the wrapping of long lines, because a
 * wrapped line would need more than one line.  Returns the number of lines of @text that
 * were printed.
 */
static int watch_put_in_place(const char *text, int above)
{
	int rows = watch_rows(), lines = 0;
	const char *end = text;

	while (lines < rows && *end) {
		end += strcspn(end, "\n") + 1;
		lines++;
	}
	if (above > rows)
		above = rows;
	/* Moves the cursor to the first line of the previous text, and clears the text. */
	if (above)
		printf("\033[%dA\r\033[J", above);
	printf("\033[?7l%.*s\033[?7h", (int)(end - text), text);
	return lines;
}

/* --- time ----------------------------------------------------------------- */

/*
 * Sleeps until the time @deadline (seconds of watch_clock()).  Returns false if a signal of
 * @signals came before this time.
 */
static bool watch_sleep(const sigset_t *signals, double deadline)
{
	struct timespec left;
	double seconds;

	/*
	 * Repeats sigtimedwait(), because sigtimedwait() may return early, for example if
	 * the process was stopped.
	 */
	while ((seconds = deadline - watch_clock()) > 0) {
		left.tv_sec = seconds;
		left.tv_nsec = (seconds - left.tv_sec) * 1e9;
		if (sigtimedwait(signals, NULL, &left) >= 0)
			return false;
	}
	return true;
}

static void watch_read_all(struct watch_dev *devs, int count)
{
	int i;

	for (i = 0; i < count; i++)
		watch_read(&devs[i]);
}

/*
 * Returns true if all @count devices exist.  Otherwise prints the name of the first device
 * that does not exist, and returns false.
 */
static bool watch_all_there(const struct watch_dev *devs, int count)
{
	int i;

	for (i = 0; i < count; i++) {
		if (!devs[i].now.there) {
			fprintf(stderr, "exanet-info: no ExaNet device \"%s\"\n",
				devs[i].name);
			return false;
		}
	}
	return true;
}

static int watch_run(struct watch_dev *devs, int count,
		     const struct info_watch *watch, const sigset_t *signals)
{
	bool in_place = isatty(STDOUT_FILENO);
	double next = watch_clock();
	unsigned long shown = 0;
	int lines = 0;
	char *text;

	watch_read_all(devs, count);
	if (!watch_all_there(devs, count))
		return 1;
	while (!watch->count || shown < watch->count) {
		next += watch->seconds;
		if (!watch_sleep(signals, next))
			break;
		watch_read_all(devs, count);
		text = watch_text(devs, count);
		if (text && in_place)
			lines = watch_put_in_place(text, lines);
		else if (text)
			printf("%s%s", shown ? "\n" : "", text);
		if (!text || fflush(stdout)) {
			perror("exanet-info");
			free(text);
			return 1;
		}
		free(text);
		shown++;
	}
	return 0;
}

int info_watch(char *const *names, int count, const struct info_watch *watch)
{
	struct watch_dev *devs;
	sigset_t signals;
	int i, ret;

	devs = calloc(count, sizeof(*devs));
	if (!devs) {
		perror("exanet-info");
		return 1;
	}
	for (i = 0; i < count; i++)
		devs[i].name = names[i];
	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	ret = watch_run(devs, count, watch, &signals);
	free(devs);
	return ret;
}

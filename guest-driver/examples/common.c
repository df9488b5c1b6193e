// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
/*
 * Functions that all example programs share: messages, numbers and the clock.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "common.h"

int failed(const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	fflush(stdout);
	/*
	 * Calls fprintf() only once for a message, because other processes may write to the
	 * same file.
	 */
	fprintf(stderr, "%s: %s\n", program, text);
	return EXIT_FAILED;
}

int wrong_usage(const char *format, ...)
{
	va_list args;

	fprintf(stderr, "%s: ", program);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputs("; --help tells more\n", stderr);
	return EXIT_USAGE;
}

bool number(const char *text, long long min, long long max, long long *value)
{
	char *end;

	errno = 0;
	*value = strtoll(text, &end, 0);
	return !errno && end != text && !*end && *value >= min && *value <= max;
}

double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

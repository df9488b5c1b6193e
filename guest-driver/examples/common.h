/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Functions that all example programs share.  These functions do not use the NIC.
 */
#ifndef EXAMPLES_COMMON_H
#define EXAMPLES_COMMON_H

#include <stdbool.h>
#include <stdint.h>

/* Exit codes of the example programs. */
enum {
	EXIT_RIGHT = 0,		/* all results are right */
	EXIT_FAILED = 1,	/* some results are wrong or missing */
	EXIT_USAGE = 2,		/* wrong command line */
};

/* Name of the program, with which each message begins.  Each program defines this variable. */
extern const char *program;

/*
 * Prints the name of the program and a message, at most 511 characters, on standard error.
 * Returns EXIT_FAILED.
 */
int failed(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints a message about a wrong command line on standard error.  Returns EXIT_USAGE. */
int wrong_usage(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * Parses @text: a decimal, octal (0...) or hexadecimal (0x...) integer from @min to @max.
 * Stores the integer in @value.  Returns false on an error; @value is undefined after an
 * error.
 */
bool number(const char *text, long long min, long long max, long long *value);

/* Returns the time of the clock CLOCK_MONOTONIC, in seconds. */
double now(void);

/*
 * The next four functions access the 8 bytes at @p, in memory that may belong to a device.
 * @p is 8-byte aligned.  A call makes exactly one access, by a general register, because
 * KVM does not emulate all other instructions for accesses to devices.
 */
static inline uint64_t load64(const volatile void *p)
{
	uint64_t value = *(const volatile uint64_t *)p;

	__asm__("" : "+r"(value));
	return value;
}

static inline void store64(volatile void *p, uint64_t value)
{
	__asm__("" : "+r"(value));
	*(volatile uint64_t *)p = value;
}

static inline double load_double(const volatile void *p)
{
	union {
		uint64_t bits;
		double value;
	} both = { .bits = load64(p) };

	return both.value;
}

static inline void store_double(volatile void *p, double value)
{
	union {
		double value;
		uint64_t bits;
	} both = { .value = value };

	store64(p, both.bits);
}

#endif /* EXAMPLES_COMMON_H */

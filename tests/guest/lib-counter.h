/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads a counter of the NIC, for tests of libexanet. */
#ifndef LIB_COUNTER_H
#define LIB_COUNTER_H

#include <stdio.h>

/*
 * Returns the NIC's counter of stores to the register POLL of enabled contexts, or -1 if
 * the counter cannot be read.
 */
static inline long long poll_stores(void)
{
	FILE *f = fopen("/sys/class/exanet/exanet0/counters/poll", "re");
	long long n = -1;

	if (f) {
		if (fscanf(f, "%lld", &n) != 1)
			n = -1;
		fclose(f);
	}
	return n;
}

#endif

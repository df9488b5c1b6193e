/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * exanet-info: declarations of its files.
 *
 * exanet-info.c   prints once: text and JSON
 * info-watch.c    prints a live table
 */
#ifndef INFO_H
#define INFO_H

#include <stdbool.h>
#include <stddef.h>

#define INFO_VALUE_MAX	64	/* maximal size of a value of a file in sysfs, with the
				 * terminating zero */

/* The arguments of --watch and --count. */
struct info_watch {
	double seconds;		/* time from one table to the next */
	unsigned long count;	/* number of tables; 0: no limit */
};

/*
 * Copies the first line of /sys/class/exanet/@dev/@attr to @value, without the newline, at
 * most INFO_VALUE_MAX - 1 bytes.  Returns false if the file cannot be read, or if the line
 * is empty.
 */
bool info_read(const char *dev, const char *attr, char value[INFO_VALUE_MAX]);
/*
 * Copies the first line of file @what of port @port to @value as info_read() does.  Returns
 * false if the file cannot be read, or if the line is empty.
 */
bool info_port(const char *dev, int port, const char *what,
	       char value[INFO_VALUE_MAX]);

/*
 * Prints @watch->count tables for the @count devices @names, or fewer tables if SIGINT or
 * SIGTERM arrives.  Returns the exit status of the program: 0, also after a signal; 1 if a
 * device does not exist at the start, or after another error.
 */
int info_watch(char *const *names, int count, const struct info_watch *watch);

#endif /* INFO_H */

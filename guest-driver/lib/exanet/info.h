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

#define INFO_VALUE_MAX	64

/* The arguments of --watch. */
struct info_watch {
	double seconds;		/* time from one table to the next */
	unsigned long count;	/* number of tables; 0: until a signal comes */
};

/* Reads /sys/class/exanet/@dev/@attr without the newline.  Returns false on an error. */
bool info_read(const char *dev, const char *attr, char value[INFO_VALUE_MAX]);
/* Reads file @what of port @port.  Returns false if there is no such port or file. */
bool info_port(const char *dev, int port, const char *what,
	       char value[INFO_VALUE_MAX]);

/*
 * Prints as many tables as @watch says for the @count devices @names.  Returns the exit
 * status, after SIGINT and SIGTERM, too.
 */
int info_watch(char *const *names, int count, const struct info_watch *watch);

#endif /* INFO_H */

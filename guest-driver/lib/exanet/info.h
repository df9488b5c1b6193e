/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * exanet-info: what its files share.
 *
 * exanet-info.c   once: text and JSON
 * info-watch.c    the live table
 */
#ifndef INFO_H
#define INFO_H

#include <stdbool.h>
#include <stddef.h>

#define INFO_VALUE_MAX	64

/* What --watch has to do. */
struct info_watch {
	double seconds;		/* between two tables */
	unsigned long count;	/* tables; 0: until a signal comes */
};

/* Reads /sys/class/exanet/@dev/@attr without its newline; false if there is none. */
bool info_read(const char *dev, const char *attr, char value[INFO_VALUE_MAX]);
/* The same for file @what of port @port; false also if there is no such port. */
bool info_port(const char *dev, int port, const char *what,
	       char value[INFO_VALUE_MAX]);

/*
 * Shows tables of the @count devices @names until it has shown as many as @watch
 * says, or SIGINT or SIGTERM comes.  Gives the exit status.
 */
int info_watch(char *const *names, int count, const struct info_watch *watch);

#endif /* INFO_H */

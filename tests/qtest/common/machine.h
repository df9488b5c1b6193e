/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Machines of all families: command line and help, memory with a pattern, MSI-X messages
 * that are stored to memory, the log of guest errors.
 */
#ifndef RNIC_MACHINE_H
#define RNIC_MACHINE_H

#include "libqtest.h"
#include "libqos/pci.h"

/*
 * Runs QEMU with netdev `wire` and the arguments @args, separated by spaces.  Returns the
 * exit code; the caller frees both outputs.
 */
int machine_run(const char *args, char **out, char **err);
/* Asserts that @help of a device describes each of @count @properties. */
void machine_assert_described(const char *help, const char *const *properties,
                              unsigned count);

/* Read and write @len bytes of memory in pieces, because large requests are slow. */
void machine_read(QTestState *qts, uint64_t pa, void *buf, size_t len);
void machine_write(QTestState *qts, uint64_t pa, const void *buf, size_t len);
/* Fills @len bytes at @pa, and at @copy unless NULL, with bytes that depend on @seed. */
void machine_fill(QTestState *qts, uint64_t pa, uint8_t *copy, size_t len,
                  unsigned seed);
/* Asserts that memory at @pa is @want; the message names the first byte that differs. */
void machine_assert_mem(QTestState *qts, uint64_t pa, const void *want,
                        size_t len);

/* Enables all @vectors messages of @dev.  Message v stores to word v at @at. */
void machine_msix_enable(QTestState *qts, QPCIDevice *dev, uint64_t at,
                         unsigned vectors);
/* Lets vector @v store @data to @at. */
void machine_msix_aim(QPCIDevice *dev, unsigned v, uint64_t at, uint32_t data);
/* Returns true if vector @v has been sent since the last call. */
bool machine_msix_taken(QTestState *qts, uint64_t at, unsigned v);

/* Returns a new file for -D, to be given to machine_log_check(). */
char *machine_log_new(void);
/*
 * Removes the log at @path and frees @path.  Lines of trace events do not count.  If
 * @expected, the log must name @device; otherwise it must be empty, or only not name
 * @device if @others may log errors, too.
 */
void machine_log_check(char *path, const char *device, bool expected, bool others);

/* Starts or stops the trace of events whose names match @pattern to the log. */
void machine_trace(QTestState *qts, const char *pattern, bool on);
/*
 * Returns the names of the trace events in the log at @path that begin with @prefix,
 * without @prefix, separated by spaces.  An event that comes several times in a row is
 * named once.  The caller frees the text.
 */
char *machine_trace_steps(const char *path, const char *prefix);

#endif /* RNIC_MACHINE_H */

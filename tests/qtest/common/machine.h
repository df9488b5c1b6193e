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
 * Runs QEMU with netdev `wire` and the arguments @args, separated by spaces, until QEMU
 * ends.  Returns the exit code; the caller frees both outputs.
 */
int machine_run(const char *args, char **out, char **err);
/* Asserts that @help of a device describes each of @count @properties. */
void machine_assert_described(const char *help, const char *const *properties,
                              unsigned count);

/*
 * Read and write @len bytes of guest memory in pieces, because large requests of qtest
 * are slow.
 */
void machine_read(QTestState *qts, uint64_t pa, void *buf, size_t len);
void machine_write(QTestState *qts, uint64_t pa, const void *buf, size_t len);
/* Fills @len bytes at @pa, and at @copy unless NULL, with bytes that depend on @seed. */
void machine_fill(QTestState *qts, uint64_t pa, uint8_t *copy, size_t len,
                  unsigned seed);
/*
 * Asserts that @len bytes at @pa equal @want; the message has the first offset that
 * differs.
 */
void machine_assert_mem(QTestState *qts, uint64_t pa, const void *want,
                        size_t len);

/* Enables all @vectors messages of @dev.  Message v stores to word v at @at. */
void machine_msix_enable(QTestState *qts, QPCIDevice *dev, uint64_t at,
                         unsigned vectors);
/* Makes vector @v store @data to address @at. */
void machine_msix_aim(QPCIDevice *dev, unsigned v, uint64_t at, uint32_t data);
/* Returns true if vector @v has been sent since the last call. */
bool machine_msix_taken(QTestState *qts, uint64_t at, unsigned v);

/*
 * Creates a file for -D, and returns its path.  machine_log_check() deletes the file and
 * frees the path.
 */
char *machine_log_new(void);
/*
 * Deletes the log at @path and frees @path.  Ignores lines of trace events.  Asserts
 * that the log names @device if @expected; else asserts that the log is empty, or, with
 * @others, that the log does not name @device.
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

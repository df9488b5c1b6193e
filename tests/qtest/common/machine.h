/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Helpers for machines with devices of any family: command line and help, memory with
 * a pattern, MSI-X messages that store to memory, the log of guest errors, and trace
 * events.
 */
#ifndef RNIC_MACHINE_H
#define RNIC_MACHINE_H

#include "libqtest.h"
#include "libqos/pci.h"

/*
 * Runs QEMU with netdev `wire` and the arguments @args, separated by spaces, until
 * QEMU ends.  Stores standard output in *@out and standard error in *@err, unless @out or
 * @err is NULL; the caller frees these texts.  Returns the exit code.
 */
int machine_run(const char *args, char **out, char **err);
/*
 * Asserts that @help, the help text of a device, has a description of each of the
 * @count @properties.
 */
void machine_assert_described(const char *help, const char *const *properties,
                              unsigned count);

/*
 * Returns true if cables between machines, and between a machine and the test, are
 * devices rnic-cable, because the environment has RNIC_TEST_WIRE=cable.  Otherwise they
 * are `-netdev stream` and `-netdev socket`.
 */
bool machine_on_cable(void);
/*
 * Returns the options of QEMU for netdev @id, one end of a cable at the Unix socket
 * @path.  The end that is no server connects again after 20 ms (stream) or 100 ms.  The
 * caller frees the text.
 */
char *machine_cable(const char *id, const char *path, bool server);
/* Returns property @name, a number or a boolean, of the device rnic-cable @id. */
uint64_t machine_cable_get(QTestState *qts, const char *id, const char *name);

/* Read and write @size bytes, 1, 2, 4 or 8, at guest address @pa by one access. */
uint64_t machine_load(QTestState *qts, uint64_t pa, unsigned size);
void machine_store(QTestState *qts, uint64_t pa, unsigned size, uint64_t value);

/*
 * Read and write @len bytes of guest memory at @pa in pieces, because large requests
 * of qtest are slow.
 */
void machine_read(QTestState *qts, uint64_t pa, void *buf, size_t len);
void machine_write(QTestState *qts, uint64_t pa, const void *buf, size_t len);
/*
 * Fills @len bytes of guest memory at @pa, and at @copy unless @copy is NULL, with
 * bytes that depend on @seed.
 */
void machine_fill(QTestState *qts, uint64_t pa, uint8_t *copy, size_t len,
                  unsigned seed);
/*
 * Asserts that @len bytes of guest memory at @pa equal @want.  The message of a
 * failure has the first offset that differs.
 */
void machine_assert_mem(QTestState *qts, uint64_t pa, const void *want,
                        size_t len);

/*
 * Enables MSI-X of @dev, and asserts that @dev has @vectors vectors.  Vector v stores
 * to the 32-bit word v at guest address @at.
 */
void machine_msix_enable(QTestState *qts, QPCIDevice *dev, uint64_t at,
                         unsigned vectors);
/* Makes vector @v of @dev store @data to guest address @at. */
void machine_msix_aim(QPCIDevice *dev, unsigned v, uint64_t at, uint32_t data);
/*
 * Returns true if vector @v has stored to its word at @at since machine_msix_enable(), or
 * since the last call for @v that returned true.  Clears this word.
 */
bool machine_msix_taken(QTestState *qts, uint64_t at, unsigned v);

/*
 * Creates a file for -D, and returns its path.  machine_log_check() deletes the file and
 * frees the path.
 */
char *machine_log_new(void);
/*
 * Checks and deletes the log at @path, and frees @path.  Ignores lines of the trace
 * events exanet_*, extoll_*, pvrdma_* and rnic_*.  If @expected, asserts that the log
 * names @device.  Else, if @others, asserts that the log does not name @device.  Else
 * asserts that the log is empty.
 */
void machine_log_check(char *path, const char *device, bool expected, bool others);

/*
 * Enables or disables the trace events whose names match @pattern; QEMU writes these
 * events to the log.
 */
void machine_trace(QTestState *qts, const char *pattern, bool on);
/*
 * Returns the names, without @prefix, of those trace events exanet_*, extoll_*, pvrdma_*
 * and rnic_* in the log at @path that begin with @prefix, separated by spaces.  Of equal
 * names in a row the text has one.  The caller frees the text.
 */
char *machine_trace_steps(const char *path, const char *prefix);

#endif /* RNIC_MACHINE_H */

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An x86 machine whose processor runs, by TCG, the few bytes of machine code that a test
 * gives it: for what only a processor's own accesses do.
 */
#ifndef RNIC_VCPU_H
#define RNIC_VCPU_H

#include "libqtest.h"

/* RAM that the processor uses, beside what the test gives it. */
#define VCPU_RAM_GO     0x10000     /* not 0: call VCPU_RAM_CODE; 0 when that returns */
#define VCPU_RAM_CODE   0x20000
#define VCPU_CODE_BYTES 512

/* Code that is put together, and where the next byte goes. */
typedef struct VcpuCode {
    uint8_t byte[VCPU_CODE_BYTES];
    unsigned len;
} VcpuCode;

/*
 * Writes firmware, for -bios, that waits for code in 32-bit mode; its path, to be given
 * to vcpu_bios_remove().  Start with -S and `cont` when BARs have been asked for their
 * size: they lie over the firmware then.
 */
char *vcpu_bios_new(void);
void vcpu_bios_remove(char *path);

/* Adds @len bytes and behind them @word, an address or a value. */
void vcpu_emit(VcpuCode *code, const void *bytes, unsigned len, uint32_t word);
/* Runs @code, which gets its return. */
void vcpu_go(QTestState *qts, VcpuCode *code);
bool vcpu_is_done(QTestState *qts);
/*
 * Waits until the code has returned; fails after WAIT_MS.  The test is no peer
 * meanwhile.
 */
void vcpu_wait(QTestState *qts);

#endif /* RNIC_VCPU_H */

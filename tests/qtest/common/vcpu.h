/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An x86 machine whose processor runs, by TCG, the few bytes of machine code that a test
 * gives it: for tests of accesses that only a processor can do.
 */
#ifndef RNIC_VCPU_H
#define RNIC_VCPU_H

#include "libqtest.h"

/* RAM that the processor uses, beside the RAM of the code. */
#define VCPU_RAM_GO     0x10000     /* not 0: call VCPU_RAM_CODE; 0 when that returns */
#define VCPU_RAM_CODE   0x20000
#define VCPU_CODE_BYTES 512

/* Code that the test emits; the next byte is stored at offset @len. */
typedef struct VcpuCode {
    uint8_t byte[VCPU_CODE_BYTES];
    unsigned len;
} VcpuCode;

/*
 * Writes firmware, for -bios, that waits for code in 32-bit mode.  Returns the path;
 * vcpu_bios_remove() frees it.  The test starts QEMU with -S, and continues when it has
 * read the sizes of BARs, because BARs cover the firmware meanwhile.
 */
char *vcpu_bios_new(void);
void vcpu_bios_remove(char *path);

/* Emits @len bytes, and behind them @word, an address or a value. */
void vcpu_emit(VcpuCode *code, const void *bytes, unsigned len, uint32_t word);
/* Runs @code, and emits its return before. */
void vcpu_go(QTestState *qts, VcpuCode *code);
bool vcpu_is_done(QTestState *qts);
/*
 * Waits until the code has returned; fails after WAIT_MS.  Nothing reads the wire
 * meanwhile.
 */
void vcpu_wait(QTestState *qts);

#endif /* RNIC_VCPU_H */

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An x86 machine whose processor runs, by TCG, a few bytes of machine code of a test: for
 * tests of accesses that only a processor can do.
 */
#ifndef RNIC_VCPU_H
#define RNIC_VCPU_H

#include "libqtest.h"

/* RAM that the firmware and the test's code use. */
/* not 0: the firmware calls VCPU_RAM_CODE, and stores 0 here after the return */
#define VCPU_RAM_GO     0x10000
#define VCPU_RAM_CODE   0x20000
#define VCPU_CODE_BYTES 512

/* Code that the test emits; the next byte is stored at offset @len. */
typedef struct VcpuCode {
    uint8_t byte[VCPU_CODE_BYTES];
    unsigned len;
} VcpuCode;

/*
 * Writes firmware, for -bios, that waits for code in 32-bit mode.  Returns the path;
 * vcpu_bios_remove() deletes the file and frees the path.  The test starts QEMU with
 * -S, and continues after it has read the sizes of BARs, because BARs cover the
 * firmware during sizing.
 */
char *vcpu_bios_new(void);
void vcpu_bios_remove(char *path);

/* Emits @len bytes, and then @word, an address or a value of 4 bytes. */
void vcpu_emit(VcpuCode *code, const void *bytes, unsigned len, uint32_t word);
/* Appends a return to @code, stores @code in RAM, and lets the processor call @code. */
void vcpu_go(QTestState *qts, VcpuCode *code);
bool vcpu_is_done(QTestState *qts);
/*
 * Waits until the code has returned; fails after WAIT_MS.  The test takes no frames
 * during the wait.
 */
void vcpu_wait(QTestState *qts);

#endif /* RNIC_VCPU_H */

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An x86 machine whose processor runs, by TCG, a few bytes of machine code that a
 * test emits.  Tests use such code for accesses that only a processor can do.
 */
#ifndef RNIC_VCPU_H
#define RNIC_VCPU_H

#include "libqtest.h"

/*
 * Addresses in RAM.  VCPU_RAM_CODE is the address of the machine code that a test emits.
 * VCPU_RAM_GO is the address of a 32-bit word.  If the word is not 0, the firmware calls
 * VCPU_RAM_CODE, and stores 0 in the word after the return.
 */
#define VCPU_RAM_GO     0x10000
#define VCPU_RAM_CODE   0x20000
#define VCPU_CODE_BYTES 512         /* size of the buffer for this code */

/* Code that the test emits.  The next byte is stored at byte[@len]. */
typedef struct VcpuCode {
    uint8_t byte[VCPU_CODE_BYTES];
    unsigned len;
} VcpuCode;

/*
 * Writes a file with firmware, for the option -bios; the firmware waits for code in
 * 32-bit mode.  Returns the path; vcpu_bios_remove() deletes the file and frees the
 * path.  The test starts QEMU with -S, and continues QEMU after the test has read the
 * sizes of BARs, because BARs cover the firmware while their sizes are read.
 */
char *vcpu_bios_new(void);
void vcpu_bios_remove(char *path);

/*
 * Appends to @code the @len bytes at @bytes, and then the 4 bytes of @word, an
 * address or a value.
 */
void vcpu_emit(VcpuCode *code, const void *bytes, unsigned len, uint32_t word);
/* Appends a return to @code, stores @code in RAM, and lets the processor call @code. */
void vcpu_go(QTestState *qts, VcpuCode *code);
bool vcpu_is_done(QTestState *qts);
/*
 * Waits until the code of vcpu_go() has returned; fails after WAIT_MS.  The test
 * takes no frames during the wait.
 */
void vcpu_wait(QTestState *qts);

#endif /* RNIC_VCPU_H */

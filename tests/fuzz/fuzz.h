/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzz targets.  Each file named after a target defines LLVMFuzzerTestOneInput() and is
 * linked twice: with libFuzzer, which makes inputs (clang), and with replay.c, which runs
 * the inputs of tests/fuzz/corpus as a test (any compiler).
 *
 * An input is read as a sequence of little-endian numbers.  Numbers behind the end of the
 * input are zero, so that every prefix of an input is an input.  A target reads each
 * number in a separate statement or declarator, because C does not define the order in
 * which the arguments of a call, or the members of an initializer, are evaluated.
 */
#ifndef TESTS_FUZZ_H
#define TESTS_FUZZ_H

#include "qemu/osdep.h"
#include "qemu/bitops.h"
#include "qemu/bswap.h"

typedef struct FuzzInput {
    const uint8_t *at;
    size_t left;
} FuzzInput;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
/*
 * A target may define this function, which replay.c calls after all inputs of the corpus,
 * unless arguments of replay.c name files.  The function asserts that these inputs have
 * reached the states for which the corpus was made.
 */
void fuzz_reached(void) __attribute__((weak));
/*
 * LLVMFuzzerCustomMutator() is the mutator that a target may define.
 * LLVMFuzzerMutate() is libFuzzer's own mutator, which the target's mutator may call.
 */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size,
                               unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);

/*
 * Copies the next @len bytes of @in to @to; bytes behind the end of the input are zero.
 */
static inline void fuzz_bytes(FuzzInput *in, void *to, size_t len)
{
    size_t part = MIN(len, in->left);

    memset(to, 0, len);
    if (part) {
        memcpy(to, in->at, part);
        in->at += part;
        in->left -= part;
    }
}

static inline uint64_t fuzz_number(FuzzInput *in, unsigned bytes)
{
    uint8_t raw[8];

    fuzz_bytes(in, raw, bytes);
    return ldn_le_p(raw, bytes);
}

static inline uint8_t fuzz_u8(FuzzInput *in)
{
    return fuzz_number(in, 1);
}

static inline uint16_t fuzz_u16(FuzzInput *in)
{
    return fuzz_number(in, 2);
}

static inline uint32_t fuzz_u32(FuzzInput *in)
{
    return fuzz_number(in, 4);
}

static inline uint64_t fuzz_u64(FuzzInput *in)
{
    return fuzz_number(in, 8);
}

/*
 * Takes the rest of the input, but at most @max bytes, and returns these bytes, up to the
 * first byte that is 0, as a string; the caller frees the string.
 */
static inline char *fuzz_text(FuzzInput *in, size_t max)
{
    size_t len = MIN(in->left, max);
    char *text = g_strndup((const char *)in->at, len);

    in->at += len;
    in->left -= len;
    return text;
}

#endif

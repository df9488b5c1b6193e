/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A library for LD_PRELOAD that counts the bytes that a program copies by memcpy() and
 * memmove().  At the end of the program the library writes the sum, a decimal number, to
 * the file that RNIC_COPIES names.
 *
 * The functions of this library copy themselves.  So callgrind attributes the
 * instructions of copies to this library, and a reader of callgrind's file can tell them
 * from the instructions of the program.  Copies that the compiler has made inline are
 * not counted.
 */
#include <stdio.h>
#include <stdlib.h>
#include <stdint.h>
#include <string.h>

static uint64_t bytes;

void *__memcpy_chk(void *to, const void *from, size_t len, size_t room);
void *__memmove_chk(void *to, const void *from, size_t len, size_t room);

static void *copy(void *to, const void *from, size_t len)
{
    const char *f = from;
    char *t = to;

    __atomic_add_fetch(&bytes, len, __ATOMIC_RELAXED);
    /* true if @to is before @from, too, because the difference is unsigned */
    if ((uintptr_t)to - (uintptr_t)from >= len) {
        for (; len >= sizeof(uint64_t); len -= sizeof(uint64_t)) {
            uint64_t word;

            __builtin_memcpy(&word, f, sizeof(word));
            __builtin_memcpy(t, &word, sizeof(word));
            f += sizeof(word);
            t += sizeof(word);
        }
        while (len--) {
            *t++ = *f++;
        }
    } else {
        while (len--) {
            t[len] = f[len];
        }
    }
    return to;
}

void *memcpy(void *to, const void *from, size_t len)
{
    return copy(to, from, len);
}

void *memmove(void *to, const void *from, size_t len)
{
    return copy(to, from, len);
}

/* The two functions that gcc calls if it knows the @room at @to. */
void *__memcpy_chk(void *to, const void *from, size_t len, size_t room)
{
    if (len > room) {
        abort();
    }
    return copy(to, from, len);
}

void *__memmove_chk(void *to, const void *from, size_t len, size_t room)
{
    return __memcpy_chk(to, from, len, room);
}

static void __attribute__((destructor)) copies_write(void)
{
    const char *path = getenv("RNIC_COPIES");
    uint64_t sum = __atomic_load_n(&bytes, __ATOMIC_RELAXED);
    FILE *f = path ? fopen(path, "w") : NULL;

    if (f) {
        fprintf(f, "%llu\n", (unsigned long long)sum);
        fclose(f);
    }
}

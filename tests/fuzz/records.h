/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Mutator for inputs that consist of one byte of flags and of records of equal length,
 * such as the programs of pvrdma-box and exanet-box.
 */
#ifndef TESTS_FUZZ_RECORDS_H
#define TESTS_FUZZ_RECORDS_H

#include "fuzz.h"

#define FUZZ_RECORD_MAX 64          /* maximal length of a record in bytes */

typedef struct FuzzRecords {
    size_t bytes;                   /* length of a record, at most FUZZ_RECORD_MAX */
    /* Stores a new record of random content at @at. */
    void (*make)(uint8_t *at, GRand *rand);
    /*
     * Changes the flags at @flags, or the record at @at.  @at is NULL if the input has no
     * record.  Returns false if the function has changed nothing.
     */
    bool (*change)(uint8_t *flags, uint8_t *at, GRand *rand);
} FuzzRecords;

/*
 * Changes the input of @size bytes at @data: inserts a new record, removes, copies or
 * changes a random record, or changes the flags.  May change nothing if the input has no
 * record.  Drops an incomplete record at the end of the input.  Returns the new size of
 * the input, at most @max_size, but at least 1.  @seed: seed of the random choices.
 */
size_t fuzz_records_mutate(const FuzzRecords *records, uint8_t *data, size_t size,
                           size_t max_size, unsigned seed);

#endif

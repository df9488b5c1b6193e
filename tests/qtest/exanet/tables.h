/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Page tables in guest RAM, in every format that the device walks.  The code is
 * independent of the device's walker.
 */
#ifndef EXANET_TABLES_H
#define EXANET_TABLES_H

#include "device.h"

/* Properties of a mapping; EXANET_MAP_RW are those of a dirty user page. */
enum exanet_map {
    EXANET_MAP_PRESENT  = 1 << 0,
    EXANET_MAP_USER     = 1 << 1,
    EXANET_MAP_ACCESSED = 1 << 2,
    EXANET_MAP_WRITE    = 1 << 3,
    EXANET_MAP_DIRTY    = 1 << 4,
    EXANET_MAP_READ_ONLY = EXANET_MAP_PRESENT | EXANET_MAP_USER |
                           EXANET_MAP_ACCESSED,
    EXANET_MAP_RW = EXANET_MAP_READ_ONLY | EXANET_MAP_WRITE | EXANET_MAP_DIRTY,
};

typedef struct ExanetTables {
    ExanetTest *t;
    enum exanet_table_format format;
    uint64_t root;
    uint64_t next;                  /* address of free memory for tables */
} ExanetTables;

/*
 * Makes empty tables from @at on, rounded up to a page of the format.  Several tables can
 * coexist at different addresses.
 */
void exanet_tables_init(ExanetTables *tb, ExanetTest *t,
                        enum exanet_table_format format, uint64_t at);
/* Opens context @c with these tables. */
void exanet_tables_open(ExanetTables *tb, unsigned c);
uint64_t exanet_tables_page(ExanetTables *tb);
/*
 * Maps the page at @va to @pa.  @level 0 is a page, 1 the next larger leaf of the format,
 * and so on.
 */
void exanet_tables_map(ExanetTables *tb, uint64_t va, uint64_t pa,
                       unsigned level, unsigned map);
/*
 * Returns the address of the entry of @level for @va, so that a test can damage the
 * entry.  Makes the tables that lead to the entry, if they are missing.
 */
uint64_t exanet_tables_entry(ExanetTables *tb, uint64_t va, unsigned level);

#endif /* EXANET_TABLES_H */

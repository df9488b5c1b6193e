/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Page tables that a test builds in guest RAM, in every format that the device walks.
 * The test shares no code with the device's table walk.
 */
#ifndef EXANET_TABLES_H
#define EXANET_TABLES_H

#include "device.h"

/* Properties of a mapping; EXANET_MAP_RW is a writable and dirty user page. */
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
    uint64_t next;                  /* guest address of the next new table */
} ExanetTables;

/*
 * Makes an empty top table at guest address @at, rounded up to a page of @format.  Later
 * tables of @tb follow the top table, up to EXANET_RAM_MSIX at most.
 */
void exanet_tables_init(ExanetTables *tb, ExanetTest *t,
                        enum exanet_table_format format, uint64_t at);
/* Opens context @c of the device with the tables of @tb. */
void exanet_tables_open(ExanetTables *tb, unsigned c);
uint64_t exanet_tables_page(ExanetTables *tb);
/*
 * Maps the page at @va to physical address @pa, with the properties @map (EXANET_MAP_*).
 * @level: 0 maps a page, 1 maps the next larger leaf of the format, and so on.
 */
void exanet_tables_map(ExanetTables *tb, uint64_t va, uint64_t pa,
                       unsigned level, unsigned map);
/*
 * Returns the guest address of the entry of @level for @va, so that a test can damage the
 * entry.  Makes missing tables on the path from the top table to the entry.
 */
uint64_t exanet_tables_entry(ExanetTables *tb, uint64_t va, unsigned level);

#endif /* EXANET_TABLES_H */

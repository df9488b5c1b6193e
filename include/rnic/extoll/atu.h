/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * EXTOLL: network logical addresses (NLA) and their translation.  velo.h names the
 * sources of the formats.  All words are little-endian.
 *
 * The upper bits of an NLA select a GAT base register; the GAT is a table of 2 MB in
 * memory; its entry, a GATE, has the physical page and the owner of the page.
 */
#ifndef RNIC_EXTOLL_ATU_H
#define RNIC_EXTOLL_ATU_H

#include "rnic/bits.h"

#define EXTOLL_NLA_BITS		39	/* 512 GB [T §5.3] */
#define EXTOLL_NLA_GAT		RNIC_FIELD(38, 30)	/* number of the GAT [T §5.3] */
#define EXTOLL_NLA_GATE		RNIC_FIELD(29, 12)	/* number of the GATE [T §5.3] */
#define EXTOLL_NLA_OFFSET	RNIC_FIELD(11, 0)	/* byte in the page [T §5.3] */
#define EXTOLL_PAGE_BYTES	4096
#define EXTOLL_GATS		512	/* base registers [T §5.3] */
#define EXTOLL_GATES		0x40000	/* entries of a GAT [T §5.3] */
#define EXTOLL_GAT_BYTES	0x200000	/* a GAT begins at a multiple of this
						 * [D] */

/* GAT base register, 32 bits [P]. */
#define EXTOLL_GAT_BASE_PAGE	RNIC_FIELD(31, 1)	/* bits 51:21 of the address of
							 * the GAT */
#define EXTOLL_GAT_BASE_VALID	RNIC_BIT(0)

/*
 * GATE, 64 bits: the widths are those of the document [T §5.2.8], the places are ours
 * [P].  Revocation stores 0 [T §5.3].
 */
#define EXTOLL_GATE_VPID	RNIC_FIELD(63, 48)	/* owner */
#define EXTOLL_GATE_PAGE	RNIC_FIELD(47, 8)	/* bits 51:12 of the physical
							 * address */
#define EXTOLL_GATE_RESERVED	RNIC_FIELD(7, 3)	/* 0, otherwise the GATE is
							 * invalid */
#define EXTOLL_GATE_WRITE	RNIC_BIT(2)
#define EXTOLL_GATE_READ	RNIC_BIT(1)
#define EXTOLL_GATE_VALID	RNIC_BIT(0)

#endif /* RNIC_EXTOLL_ATU_H */

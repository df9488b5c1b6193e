/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet block RAM: memory in the NIC, which processes can map.
 */
#ifndef EXANET_BRAM_H
#define EXANET_BRAM_H

#include <linux/types.h>

struct exanet_context;
struct vm_area_struct;

/* Returns true if @vma is a mapping of block RAM. */
bool exanet_bram_is(const struct vm_area_struct *vma);
/*
 * Makes @vma a mapping of block RAM of this node. Returns 0, -EOPNOTSUPP: there is no
 * aperture, -EINVAL: the mapping is private, or extends beyond the block RAM, or -EACCES:
 * the mapping is executable, or current may not use block RAM.
 */
int exanet_bram_mmap(struct exanet_context *ctx, struct vm_area_struct *vma);

#endif /* EXANET_BRAM_H */

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet block RAM: memory of the NIC, which processes map.
 */
#ifndef EXANET_BRAM_H
#define EXANET_BRAM_H

#include <linux/types.h>

struct exanet_context;
struct vm_area_struct;

/* Returns true if @vma is a mapping of block RAM. */
bool exanet_bram_is(const struct vm_area_struct *vma);
/* Makes @vma a mapping of block RAM. Returns 0, -EOPNOTSUPP, -EINVAL or -EACCES. */
int exanet_bram_mmap(struct exanet_context *ctx, struct vm_area_struct *vma);

#endif /* EXANET_BRAM_H */

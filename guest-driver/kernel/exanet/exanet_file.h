/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet: /dev/exanetN, see rnic/exanet/uapi.h.
 */
#ifndef EXANET_FILE_H
#define EXANET_FILE_H

#include <linux/fs.h>

extern const struct file_operations exanet_file_ops;

#endif /* EXANET_FILE_H */

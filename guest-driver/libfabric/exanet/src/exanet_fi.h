/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * libfabric provider `exanet`: the common part over the ExaNet NIC.
 *
 * exanet_transport.c uses the NIC, exanet_init.c finds NICs, exanet_attr.c has the
 * attributes that depend on the NIC.
 */
#ifndef EXANET_FI_H
#define EXANET_FI_H

#include "rnic_fi.h"

#include <libexanet.h>
#include <rnic/exanet/regs.h>

extern struct fi_provider exanet_prov;
extern struct util_prov exanet_util_prov;
extern struct fi_info exanet_info;
extern const struct rnic_fi_transport exanet_transport;

#endif /* EXANET_FI_H */

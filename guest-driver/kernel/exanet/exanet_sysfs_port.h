/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet: /sys/class/exanet/exanetN/portP
 */
#ifndef EXANET_SYSFS_PORT_H
#define EXANET_SYSFS_PORT_H

struct attribute_group;

/* Builds the tables of attributes. The caller calls this function once, before all probes. */
void exanet_sysfs_ports_init(void);
/* Returns the attributes of port @port, which are the same for all NICs. */
const struct attribute_group *exanet_sysfs_port_group(unsigned int port);

#endif /* EXANET_SYSFS_PORT_H */

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet properties that show the state of the device, and property faultsN.
 */
#ifndef HW_EXANET_QOM_H
#define HW_EXANET_QOM_H

#include "../core/qom.h"

/*
 * Adds the properties faultsN and the views `node`, `links`, `contexts`, `transfers`,
 * `rx-contexts` and `counters` to @klass.  @state returns the ExanetState of an object.
 */
void exanet_qom_class_init(ObjectClass *klass, RNicStateFn *state);

#endif /* HW_EXANET_QOM_H */

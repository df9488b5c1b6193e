/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Property faultsN of a device: the faults of the cable of link N, which the user can set
 * while the machine runs.
 */
#ifndef HW_LINK_INJECT_QOM_H
#define HW_LINK_INJECT_QOM_H

#include "../core/qom.h"
#include "inject.h"

/* A family's part of the properties of a class. */
typedef struct RNicFaults {
    const RNicFaultFormat *format;
    unsigned links;                 /* number of links that the device can have */
    RNicStateFn *state;
    /*
     * Returns the ports of the device with @state.  Sets *@built to true if the device
     * was built, so that ports without a netdev do not exist.
     */
    RNicPort *(*ports)(void *state, bool *built);
} RNicFaults;

/* Adds the properties to @klass.  @faults is never freed, because QOM frees no class. */
void rnic_inject_class_init(ObjectClass *klass, const RNicFaults *faults);

#endif /* HW_LINK_INJECT_QOM_H */

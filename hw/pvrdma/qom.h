/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counters of pvrdma in QOM and query-stats.
 */
#ifndef HW_PVRDMA_QOM_H
#define HW_PVRDMA_QOM_H

#include "../core/qom.h"
#include "../core/stats.h"

/*
 * Adds the property "counters" to @klass.  @state returns the PvrdmaState of an object
 * of the class.
 */
void pvrdma_qom_class_init(ObjectClass *klass, RNicStateFn *state);
/*
 * Calls @fn with @opaque, name and value of each counter; a function of the type
 * RNicStatsForeach.  @device is a PvrdmaState, or NULL: all values are 0.
 */
void pvrdma_stats_foreach(void *device, RNicStatFn *fn, void *opaque);

#endif /* HW_PVRDMA_QOM_H */

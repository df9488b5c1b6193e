/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counters of pvrdma in QOM and query-stats.
 */
#ifndef HW_PVRDMA_QOM_H
#define HW_PVRDMA_QOM_H

#include "../core/qom.h"
#include "../core/stats.h"

/*
 * Adds the read-only property "counters" to @klass.  @state returns the PvrdmaState of an
 * object of the class.
 */
void pvrdma_qom_class_init(ObjectClass *klass, RNicStateFn *state);
/*
 * A function of type RNicStatsForeach.  For each counter, calls @fn with @opaque, the
 * name and the value of the counter; @fn then owns the name.  @device is a PvrdmaState,
 * or NULL: then all values are 0.
 */
void pvrdma_stats_foreach(void *device, RNicStatFn *fn, void *opaque);

#endif /* HW_PVRDMA_QOM_H */

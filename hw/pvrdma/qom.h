/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counters of pvrdma in QOM and query-stats.
 */
#ifndef HW_PVRDMA_QOM_H
#define HW_PVRDMA_QOM_H

#include "../core/qom.h"
#include "../core/stats.h"

/* Adds `counters` to @klass, whose objects have the PvrdmaState that @state returns. */
void pvrdma_qom_class_init(ObjectClass *klass, RNicStateFn *state);
/* RNicStatsForeach of pvrdma (@device: PvrdmaState). */
void pvrdma_stats_foreach(void *device, RNicStatFn *fn, void *opaque);

#endif /* HW_PVRDMA_QOM_H */

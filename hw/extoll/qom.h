/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * EXTOLL in QOM and query-stats: views of the state, and the counters.
 */
#ifndef HW_EXTOLL_QOM_H
#define HW_EXTOLL_QOM_H

#include "../core/qom.h"
#include "../core/stats.h"

/*
 * Adds the read-only properties "state" and "counters" to @klass.  @state returns the
 * ExtollState of an object of the class.
 */
void extoll_qom_class_init(ObjectClass *klass, RNicStateFn *state);
/*
 * RNicStatsForeach of EXTOLL; @device is an ExtollState or NULL.  If @device is NULL, all
 * values are 0.
 */
void extoll_stats_foreach(void *device, RNicStatFn *fn, void *opaque);

#endif /* HW_EXTOLL_QOM_H */

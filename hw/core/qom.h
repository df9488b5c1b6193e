/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Views of a device in QOM: counters, other state, and the texts of properties.  Each
 * family has a list macro of its counters, and an array of uint64_t in the order of that
 * list.
 */
#ifndef RNIC_CORE_QOM_H
#define RNIC_CORE_QOM_H

#include "qobject/qdict.h"
#include "qom/object.h"

/* Returns @name as QOM writes it: rx-bad-icrc for RX_BAD_ICRC.  The caller frees it. */
char *rnic_qom_name(const char *name);

/* Puts an unsigned number into @dict. */
void rnic_put_uint(QDict *dict, const char *name, uint64_t value);

/* Argument of a list macro of counters, for an array of their names. */
#define RNIC_COUNTER_NAME(name, text) #name,

/*
 * Returns a dictionary of @count counters, with @names as list macros write them.  The
 * caller owns the reference.
 */
QDict *rnic_counters_dict(const char *const *names, const uint64_t *values,
                          unsigned count);

/* Returns the state of device @obj.  Each class has one such function. */
typedef void *RNicStateFn(Object *obj);

/* A read-only property that shows a part of the state as a dictionary or a list. */
typedef struct RNicView {
    const char *name;
    const char *text;
    /* Returns the value for a device with @state; the caller owns the reference. */
    QObject *(*make)(void *state);
} RNicView;

/*
 * Adds @views to @klass; the array must be static.  A read of a view fails with an error
 * while @built returns false for the state of the device.
 */
void rnic_class_add_views(ObjectClass *klass, const RNicView *views, unsigned count,
                          RNicStateFn *state, bool (*built)(const void *state));

/* The text of a property, for `-device NAME,help`. */
typedef struct RNicText {
    const char *name;
    const char *text;
} RNicText;

/* Gives the properties of @klass their texts. */
void rnic_class_describe(ObjectClass *klass, const RNicText *texts, unsigned count);

#endif /* RNIC_CORE_QOM_H */

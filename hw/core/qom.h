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

/*
 * Returns @name in the spelling of QOM: rx-bad-icrc for RX_BAD_ICRC.  The caller frees
 * the string.
 */
char *rnic_qom_name(const char *name);

/* Stores the unsigned number @value in @dict, with key @name. */
void rnic_put_uint(QDict *dict, const char *name, uint64_t value);

/*
 * Argument of a list macro of counters, which then expands to the initializers of an
 * array of names.
 */
#define RNIC_COUNTER_NAME(name, text) #name,

/*
 * Returns a new dictionary of @count counters.  The key of values[i] is
 * rnic_qom_name(names[i]).  The caller owns the reference.
 */
QDict *rnic_counters_dict(const char *const *names, const uint64_t *values,
                          unsigned count);

/*
 * Returns the state that the QOM object @obj contains.  Each class has such a function.
 */
typedef void *RNicStateFn(Object *obj);

/* A read-only property that shows a part of the state as a dictionary or a list. */
typedef struct RNicView {
    const char *name;
    const char *text;               /* description */
    /* Returns the value for a device with @state; the caller owns the reference. */
    QObject *(*make)(void *state);
} RNicView;

/*
 * Adds the @count properties @views to @klass; the array must be static.  @state returns
 * the state of a device.  A read of a view fails with an error while @built returns false
 * for that state.
 */
void rnic_class_add_views(ObjectClass *klass, const RNicView *views, unsigned count,
                          RNicStateFn *state, bool (*built)(const void *state));

/* The description of a property, for `-device NAME,help`. */
typedef struct RNicText {
    const char *name;               /* of the property */
    const char *text;
} RNicText;

/* Sets the descriptions of the @count properties of @klass that @texts names. */
void rnic_class_describe(ObjectClass *klass, const RNicText *texts, unsigned count);

#endif /* RNIC_CORE_QOM_H */

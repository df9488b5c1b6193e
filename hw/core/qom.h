/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Views of a device in QOM: counters, other state, and the texts of properties.  Each
 * device family has a list macro of its counters.  The counters of a device are an array
 * of uint64_t, in the order of the list macro.
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
 * Argument for the list macro of a family's counters.  With this argument, the list macro
 * expands to the initializers of an array of the counters' names.
 */
#define RNIC_COUNTER_NAME(name, text) #name,

/*
 * Returns a new dictionary of @count counters.  The key of @values[i] is
 * rnic_qom_name(@names[i]).  The caller owns the reference to the dictionary.
 */
QDict *rnic_counters_dict(const char *const *names, const uint64_t *values,
                          unsigned count);

/*
 * Returns the device's state, which the QOM object @obj contains.  Each device class has
 * a function of this type.
 */
typedef void *RNicStateFn(Object *obj);

/*
 * A read-only property that shows a part of a device's state as a dictionary or a list.
 */
typedef struct RNicView {
    const char *name;
    const char *text;               /* description of the property */
    /*
     * Returns the property's value for a device with @state; the caller owns the
     * reference.
     */
    QObject *(*make)(void *state);
} RNicView;

/*
 * Adds the @count properties that the array @views describes to @klass.  The array must
 * be static.  @state(obj) returns the state of the device @obj.  A read of one of the
 * properties fails with an error while @built returns false for the state of the device.
 */
void rnic_class_add_views(ObjectClass *klass, const RNicView *views, unsigned count,
                          RNicStateFn *state, bool (*built)(const void *state));

/* The description of a property, as `-device NAME,help` shows it. */
typedef struct RNicText {
    const char *name;               /* name of the property */
    const char *text;
} RNicText;

/*
 * Sets the descriptions of those properties of @klass that the @count elements of @texts
 * name.
 */
void rnic_class_describe(ObjectClass *klass, const RNicText *texts, unsigned count);

#endif /* RNIC_CORE_QOM_H */

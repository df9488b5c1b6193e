/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet units: the parts of the device that work, and what each of them offers to the
 * device.  exanet.c has the table of all units, in the order in which they run.
 */
#ifndef HW_EXANET_BASE_UNIT_H
#define HW_EXANET_BASE_UNIT_H

#include "../engine/fault.h"

typedef struct ExanetState ExanetState;

/* Functions may be NULL. */
typedef struct ExanetUnit {
    void (*init)(ExanetState *s);
    void (*fini)(ExanetState *s);
    void (*reset)(ExanetState *s);
    /* One turn, at most @packets packets; true if there is more that could go on now. */
    bool (*run)(ExanetState *s, unsigned packets);
    /* Returns how many transfers of context @c are not finished. */
    unsigned (*active)(ExanetState *s, unsigned c);
    /* The owner of context @c leaves: nothing of it may go on. */
    void (*quiesce)(ExanetState *s, unsigned c);
    /*
     * The driver has resolved fault @f, or has not (@ok).  Returns true if the fault was
     * of the unit.
     */
    bool (*resolved)(ExanetState *s, const ExanetPendingFault *f, bool ok);
} ExanetUnit;

#endif /* HW_EXANET_BASE_UNIT_H */

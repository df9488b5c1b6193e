/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet units: the parts of the device that the loop runs, and the functions that each
 * unit offers to the device.  exanet.c has the table of all units, in the order of runs.
 */
#ifndef HW_EXANET_BASE_UNIT_H
#define HW_EXANET_BASE_UNIT_H

typedef struct ExanetState ExanetState;
typedef struct ExanetPendingFault ExanetPendingFault;

/*
 * Units that run, one bit each.  A unit sets its bit in ExanetState.awake when it gets
 * work, and in run() if it has work left.  The loop runs a unit only if its bit is set.
 */
enum exanet_awake {
    EXANET_AWAKE_R5 = 1 << 0,       /* the firmware, or an event for the R5 */
    EXANET_AWAKE_PACKETIZER = 1 << 1,
    EXANET_AWAKE_SHM = 1 << 2,
    EXANET_AWAKE_EXADMA = 1 << 3,
};

/* Functions may be NULL. */
typedef struct ExanetUnit {
    void (*init)(ExanetState *s);
    void (*fini)(ExanetState *s);
    void (*reset)(ExanetState *s);
    /*
     * Does the work of one round.  ExaDMA sends at most @packets packets; the other units
     * have limits of their own.  Returns true if the unit could continue now.
     */
    bool (*run)(ExanetState *s, unsigned packets);
    unsigned awake;                 /* the unit's bit, or 0 if the unit does not run */
    /* Returns the number of this unit's transfers of context @c that are not finished. */
    unsigned (*active)(ExanetState *s, unsigned c);
    /* Ends all work of context @c, because the context was disabled or quiesced. */
    void (*quiesce)(ExanetState *s, unsigned c);
    /*
     * Takes the driver's answer to fault @f; @ok: the page is present now.  Returns false
     * if another unit has reported @f.
     */
    bool (*resolved)(ExanetState *s, const ExanetPendingFault *f, bool ok);
} ExanetUnit;

#endif /* HW_EXANET_BASE_UNIT_H */

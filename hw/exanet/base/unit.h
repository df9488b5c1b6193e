/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet units: the parts of the device, and the functions that each unit offers to the
 * device.  exanet.c has the table of all units, in the order in which the units run.
 */
#ifndef HW_EXANET_BASE_UNIT_H
#define HW_EXANET_BASE_UNIT_H

typedef struct ExanetState ExanetState;
typedef struct ExanetPendingFault ExanetPendingFault;

/*
 * Bits of ExanetState.awake, one for each unit that has run().  A unit sets its bit when
 * new work arrives, and in run() if work is left.  If the bit is set and the device is
 * enabled, a round of the loop clears the bit and then calls run().
 */
enum exanet_awake {
    EXANET_AWAKE_R5 = 1 << 0,       /* firmware; ExaDMA and RT mailbox set this bit too */
    EXANET_AWAKE_PACKETIZER = 1 << 1,
    EXANET_AWAKE_SHM = 1 << 2,
    EXANET_AWAKE_EXADMA = 1 << 3,
};

/* Functions of a unit.  Each function may be NULL. */
typedef struct ExanetUnit {
    void (*init)(ExanetState *s);
    void (*fini)(ExanetState *s);
    void (*reset)(ExanetState *s);
    /*
     * Does the work of one round.  Only ExaDMA uses @packets, the maximal number of
     * packets that its scheduler may build in the round; the other units have limits of
     * their own.  Returns true if the unit could do more work now.
     */
    bool (*run)(ExanetState *s, unsigned packets);
    unsigned awake;                 /* bit of enum exanet_awake; 0 if run() is NULL */
    /*
     * Returns the number of unfinished operations of context @c in this unit: transfers,
     * messages, requests, and jobs of AXI masters.
     */
    unsigned (*active)(ExanetState *s, unsigned c);
    /*
     * Ends the unit's work for context @c, which was disabled or quiesced, and disables
     * the unit's mailboxes or mappings of @c, if it has such.  Work that cannot end at
     * once ends later, and active() counts this work until then.
     */
    void (*quiesce)(ExanetState *s, unsigned c);
    /*
     * Handles the driver's answer to page fault @f.  @ok is true if the page is present
     * now.  Returns false, without an effect, if another unit has reported @f.
     */
    bool (*resolved)(ExanetState *s, const ExanetPendingFault *f, bool ok);
} ExanetUnit;

#endif /* HW_EXANET_BASE_UNIT_H */

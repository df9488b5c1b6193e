/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet faults of a cable: property faultsN, and the registers PORT_INJECT.
 */
#ifndef HW_EXANET_LINK_INJECT_H
#define HW_EXANET_LINK_INJECT_H

#include "port.h"

/* What a port does with a packet that it is about to send. */
typedef struct ExanetFate {
    enum {
        EXANET_FATE_PASS,
        EXANET_FATE_DROP,
        EXANET_FATE_DUPLICATE,      /* the copy follows at once */
        EXANET_FATE_HOLD,           /* sent after the next one, or after 1 ms */
    } kind;
    int64_t delay;                  /* ns that it leaves later than it would */
} ExanetFate;

/*
 * Decides on the packet of @words words at @buf, in which bits may be flipped.  Not to
 * be called while @p->inject is NULL: then the cable is perfect.
 */
ExanetFate exanet_inject_packet(ExanetPort *p, uint8_t *buf, unsigned words);
/*
 * Property faults@index, that of @p, which need not exist yet: items separated by
 * spaces, `+` or `;`, of
 *   KIND=P%  KIND=FRACTION  KIND=next:N
 *              drop, corrupt (any part), corrupt-header, -payload, -footer,
 *              duplicate, reorder; delay with a time behind it: delay=5%:200us
 *   seed=N     start of the generator; a number of the port's own without it
 *   down       the link is down
 * False, and nothing has changed, if @text is none of this.  What was for the next
 * packets is gone from the text when it is used up.
 */
bool exanet_inject_plan_set(ExanetPort *p, unsigned index, const char *text,
                            Error **errp);
/* The same as text, to be freed. */
char *exanet_inject_plan_get(const ExanetPort *p);
/* Clears PORT_INJECT and counters; the property belongs to the machine and stays. */
void exanet_inject_reset(ExanetPort *p);
void exanet_inject_fini(ExanetPort *p);
void exanet_inject_reg_sync(ExanetPort *p);
void exanet_inject_reg_written(ExanetPort *p, unsigned reg, bool top);

#endif /* HW_EXANET_LINK_INJECT_H */

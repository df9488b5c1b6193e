/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Faults of a cable: property faultsN, and orders by count.
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

/* A part of a packet in which a fault may flip a bit. */
typedef struct ExanetFaultPart {
    const char *name;               /* in property faultsN: "corrupt-header" */
    bool (*possible)(unsigned words);   /* true: a packet of @words words has the part */
    /* Flips a bit of that part, under the CRC of the part. */
    void (*apply)(GRand *rand, uint8_t *buf, unsigned words);
} ExanetFaultPart;

/* The packets of a family, as faults see them. */
typedef struct ExanetFaultFormat {
    const ExanetFaultPart *part;
    unsigned parts;                 /* at most EXANET_FAULT_PARTS */
    unsigned (*type)(const uint8_t *buf);   /* for orders and the trace */
} ExanetFaultFormat;

/* Faults by count: every @every'th packet, @count times. */
typedef struct ExanetInjectOrder {
    unsigned kind;                  /* enum exanet_injected; KINDS: none */
    unsigned type;                  /* of the packets, unless @all */
    bool all;
    uint32_t every;                 /* 0 and 1: each packet */
    uint32_t count;                 /* 0: without end */
} ExanetInjectOrder;

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
bool exanet_inject_plan_set(ExanetPort *p, const ExanetFaultFormat *format,
                            unsigned index, const char *text, Error **errp);
/* The same as text, to be freed. */
char *exanet_inject_plan_get(const ExanetPort *p);
/* Clears order and counters; the property belongs to the machine and stays. */
void exanet_inject_reset(ExanetPort *p);
void exanet_inject_fini(ExanetPort *p);
/*
 * Replaces the order of @p, beside the property.  The owner gets EXANET_PORT_INJECTED
 * when a fault of an order with an end is done.
 */
void exanet_inject_order(ExanetPort *p, const ExanetFaultFormat *format,
                         const ExanetInjectOrder *order);
void exanet_inject_cancel(ExanetPort *p);
/* Returns how many faults of an order with an end are left. */
uint32_t exanet_inject_order_left(const ExanetPort *p);
/* Returns the name of the faults that are counted as @kind; NULL: there are none. */
const char *exanet_inject_name(const ExanetFaultFormat *format, unsigned kind);

#endif /* HW_EXANET_LINK_INJECT_H */

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Faults of a cable: property faultsN, and orders by count.
 */
#ifndef HW_EXANET_LINK_INJECT_H
#define HW_EXANET_LINK_INJECT_H

#include "port.h"

/* The effect of the cable's faults on a packet. */
typedef struct ExanetFate {
    enum {
        EXANET_FATE_PASS,
        EXANET_FATE_DROP,
        EXANET_FATE_DUPLICATE,      /* the packet is sent twice */
        EXANET_FATE_HOLD,           /* sent after the channel's next packet, or 1 ms */
    } kind;
    int64_t delay;                  /* ns, before the packet is sent; only for PASS */
} ExanetFate;

/* A part of a packet in which a fault may flip a bit. */
typedef struct ExanetFaultPart {
    const char *name;               /* item of property faultsN, as "corrupt-header" */
    bool (*present)(unsigned words);   /* true: a packet of @words words has the part */
    /* Flips one bit that the CRC of the part covers. */
    void (*apply)(GRand *rand, uint8_t *buf, unsigned words);
} ExanetFaultPart;

/* The format of a family's packets. */
typedef struct ExanetFaultFormat {
    const ExanetFaultPart *part;
    unsigned parts;                 /* at most EXANET_FAULT_PARTS */
    unsigned (*type)(const uint8_t *buf);   /* for orders and the trace */
} ExanetFaultFormat;

/* Faults by count: in every @every'th packet that matches, @count times. */
typedef struct ExanetInjectOrder {
    unsigned kind;                  /* enum exanet_injected; KINDS: no order */
    unsigned type;                  /* type of packets that match, unless @all */
    bool all;                       /* packets of all types match */
    uint32_t every;                 /* 0 and 1: each packet */
    uint32_t count;                 /* faults left; 0: without end */
} ExanetInjectOrder;

/*
 * Returns the effect of faults on the packet of @words words at @buf.  Flips bits of a
 * packet that a fault corrupts, and counts faults.  @p->inject must not be NULL; the
 * function frees it if no fault is left.
 */
ExanetFate exanet_inject_packet(ExanetPort *p, uint8_t *buf, unsigned words);
/*
 * Sets property faults@index of @p, which need not exist yet.  @text consists of items
 * with white space, `+` or `;` between them:
 *   KIND=P%  KIND=FRACTION  KIND=next:N
 *              drop, corrupt (any part), corrupt-header, -payload, -footer,
 *              duplicate, reorder; delay with a time behind it: delay=5%:200us
 *   seed=N     seed of the generator; the default depends on @index
 *   down       the link is down
 * Returns false with @errp set, and changes nothing, if @text is not valid.  An item with
 * next:N leaves the property when it has hit N packets.
 */
bool exanet_inject_plan_set(ExanetPort *p, const ExanetFaultFormat *format,
                            unsigned index, const char *text, Error **errp);
/* Returns the text of the property; the caller frees it. */
char *exanet_inject_plan_get(const ExanetPort *p);
/*
 * Ends the order and clears the counters.  The property stays, because the machine's user
 * has set it.
 */
void exanet_inject_reset(ExanetPort *p);
void exanet_inject_fini(ExanetPort *p);
/*
 * Replaces the order of @p; the property stays.  The owner gets EXANET_PORT_INJECTED
 * after each fault of an order with a count.
 */
void exanet_inject_order(ExanetPort *p, const ExanetFaultFormat *format,
                         const ExanetInjectOrder *order);
/* Ends the order of @p. */
void exanet_inject_cancel(ExanetPort *p);
/* Returns the number of faults left of the last order; 0 for an order without end. */
uint32_t exanet_inject_order_left(const ExanetPort *p);
/*
 * Returns the name of @kind (enum exanet_injected), or NULL if @format has no such part.
 */
const char *exanet_inject_name(const ExanetFaultFormat *format, unsigned kind);

#endif /* HW_EXANET_LINK_INJECT_H */

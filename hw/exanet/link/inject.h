/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Faults of a cable.  The port that sends the packets injects the faults: faults of the
 * user's property faultsN, and faults of an order of the guest.
 */
#ifndef HW_EXANET_LINK_INJECT_H
#define HW_EXANET_LINK_INJECT_H

#include "port.h"

/*
 * The effect of the cable's faults on a packet.  If too many packets are delayed already,
 * the port sends the packet at once, without @delay and EXANET_FATE_HOLD.
 */
typedef struct ExanetFate {
    enum {
        EXANET_FATE_PASS,           /* the packet is sent, after @delay */
        EXANET_FATE_DROP,           /* the packet is not sent */
        EXANET_FATE_DUPLICATE,      /* the packet is sent twice */
        /*
         * the packet is sent behind the next packet of its channel that no fault drops or
         * delays, but at the latest after 1 ms
         */
        EXANET_FATE_HOLD,
    } kind;
    int64_t delay;                  /* ns, before the packet is sent; only for PASS */
} ExanetFate;

/* A part of a packet in which a fault EXANET_INJECTED_PART may flip a bit. */
typedef struct ExanetFaultPart {
    const char *name;               /* item of property faultsN, as "corrupt-header" */
    bool (*present)(unsigned words);   /* true: a packet of @words words has the part */
    /* Flips one bit of the part or of its CRC, so that the CRC is wrong. */
    void (*apply)(GRand *rand, uint8_t *buf, unsigned words);
} ExanetFaultPart;

/* The format of the packets of a device family. */
typedef struct ExanetFaultFormat {
    const ExanetFaultPart *part;
    unsigned parts;                 /* at most EXANET_FAULT_PARTS */
    /* seed of port 0 if the property has no item "seed"; each further port adds 1 */
    uint32_t seed;
    unsigned (*type)(const uint8_t *buf);   /* returns the type of the packet at @buf */
} ExanetFaultFormat;

/*
 * An order of faults: a fault of @kind in every @every'th packet that matches @type and
 * has the part that @kind corrupts, @count times.
 */
typedef struct ExanetInjectOrder {
    /* enum exanet_injected; EXANET_INJECTED_KINDS: no order */
    unsigned kind;
    unsigned type;                  /* type of packets that match, unless @all */
    bool all;                       /* packets of all types match */
    uint32_t every;                 /* 0 and 1: each packet */
    uint32_t count;                 /* faults left; 0: without end, or no order */
} ExanetInjectOrder;

/*
 * Returns the effect of faults on the packet of @words words at @buf.  Flips a bit of the
 * packet if a fault corrupts the packet, and counts faults in @p->injected.  @p->inject
 * must not be NULL.  The function may free @p->inject if property faultsN has no item
 * left and there is no order.
 */
ExanetFate exanet_inject_packet(ExanetPort *p, uint8_t *buf, unsigned words);
/*
 * Sets property faults@index of @p, which need not exist yet.  @text consists of items
 * with white space, `+` or `;` between them:
 *   KIND=P%  KIND=FRACTION  KIND=next:N
 *              the rate of faults, or faults in the next N packets.  KIND is drop,
 *              corrupt (any part), corrupt-PART, duplicate, reorder or delay; delay has
 *              a time at the end: delay=5%:200us
 *   seed=N     seed of the generator; the default depends on @index
 *   down       the link is down
 * Returns false with @errp set, and changes nothing, if @text is not valid.  When an item
 * with next:N has taken effect on N packets, exanet_inject_packet() removes the item.
 */
bool exanet_inject_plan_set(ExanetPort *p, const ExanetFaultFormat *format,
                            unsigned index, const char *text, Error **errp);
/*
 * Returns the items that property faultsN has now, as text: rates in percent, times in
 * ns, and of next:N the number of packets that are left.  The caller frees the text.
 */
char *exanet_inject_plan_get(const ExanetPort *p);
/*
 * Ends the order of @p and clears @p->injected.  Does not change property faultsN,
 * because the user of the machine has set the property.
 */
void exanet_inject_reset(ExanetPort *p);
/* Frees @p->inject. */
void exanet_inject_fini(ExanetPort *p);
/*
 * Replaces the order of @p by a copy of @order.  Does not change property faultsN.  The
 * owner gets the news EXANET_PORT_INJECTED of each fault of an order with a count.
 */
void exanet_inject_order(ExanetPort *p, const ExanetFaultFormat *format,
                         const ExanetInjectOrder *order);
/* Ends the order of @p. */
void exanet_inject_cancel(ExanetPort *p);
/*
 * Returns member @count of the order of @p: the number of faults that the order has still
 * to inject.  Returns 0 for an order without end, after the last fault, and if there was
 * no order.  The result has no meaning if exanet_inject_cancel() has ended the order.
 */
uint32_t exanet_inject_order_left(const ExanetPort *p);
/*
 * Returns the name of @kind (enum exanet_injected) in property faultsN, or NULL if @kind
 * is a part that @format does not have.
 */
const char *exanet_inject_name(const ExanetFaultFormat *format, unsigned kind);

#endif /* HW_EXANET_LINK_INJECT_H */

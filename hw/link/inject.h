/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Faults of a cable.  The port that sends the packets injects the faults: faults of the
 * user's property faultsN, and faults of an order of the guest.
 */
#ifndef HW_LINK_INJECT_H
#define HW_LINK_INJECT_H

#include "port.h"

/*
 * The effect of the cable's faults on a packet.  If too many packets are delayed already,
 * the port sends the packet at once, without @delay and RNIC_FATE_HOLD.
 */
typedef struct RNicFate {
    enum {
        RNIC_FATE_PASS,             /* the packet is sent, after @delay */
        RNIC_FATE_DROP,             /* the packet is not sent */
        RNIC_FATE_DUPLICATE,        /* the packet is sent twice */
        /*
         * the packet is sent behind the next packet of its channel that no fault drops or
         * delays, but at the latest after 1 ms
         */
        RNIC_FATE_HOLD,
    } kind;
    int64_t delay;                  /* ns, before the packet is sent; only for PASS */
} RNicFate;

/* A part of a packet in which a fault RNIC_INJECTED_PART may flip a bit. */
typedef struct RNicFaultPart {
    const char *name;               /* item of property faultsN, as "corrupt-header" */
    /* Returns true if a packet of @type, see RNicFaultFormat, and @words words has it. */
    bool (*present)(unsigned type, unsigned words);
    /* Flips one bit of the part or of its CRC, so that the CRC is wrong. */
    void (*apply)(GRand *rand, uint8_t *buf, unsigned words);
} RNicFaultPart;

/* The format of the packets of a device family. */
typedef struct RNicFaultFormat {
    const RNicFaultPart *part;
    unsigned parts;                 /* at most RNIC_FAULT_PARTS */
    /* seed of port 0 if the property has no item "seed"; each further port adds 1 */
    uint32_t seed;
    unsigned (*type)(const uint8_t *buf);   /* returns the type of the packet at @buf */
} RNicFaultFormat;

/*
 * An order of faults: a fault of @kind in every @every'th packet that matches @type and
 * has the part that @kind corrupts, @count times.
 */
typedef struct RNicInjectOrder {
    /* enum rnic_injected; RNIC_INJECTED_KINDS: no order */
    unsigned kind;
    unsigned type;                  /* type of packets that match, unless @all */
    bool all;                       /* packets of all types match */
    uint32_t every;                 /* 0 and 1: each packet */
    uint32_t count;                 /* faults left; 0: without end, or no order */
} RNicInjectOrder;

/*
 * Returns the effect of faults on the packet of @words words at @buf.  Flips a bit of the
 * packet if a fault corrupts the packet, and counts faults in @p->injected.  @p->inject
 * must not be NULL.  The function may free @p->inject if property faultsN has no item
 * left and there is no order.
 */
RNicFate rnic_inject_packet(RNicPort *p, uint8_t *buf, unsigned words);
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
 * with next:N has taken effect on N packets, rnic_inject_packet() removes the item.
 */
bool rnic_inject_plan_set(RNicPort *p, const RNicFaultFormat *format,
                          unsigned index, const char *text, Error **errp);
/*
 * Returns the items that property faultsN has now, as text: rates in percent, times in
 * ns, and of next:N the number of packets that are left.  The caller frees the text.
 */
char *rnic_inject_plan_get(const RNicPort *p);
/*
 * Ends the order of @p and clears @p->injected.  Does not change property faultsN,
 * because the user of the machine has set the property.
 */
void rnic_inject_reset(RNicPort *p);
/* Frees @p->inject. */
void rnic_inject_fini(RNicPort *p);
/*
 * Replaces the order of @p by a copy of @order.  Does not change property faultsN.  The
 * owner gets the news RNIC_PORT_INJECTED of each fault of an order with a count.
 */
void rnic_inject_order(RNicPort *p, const RNicFaultFormat *format,
                       const RNicInjectOrder *order);
/* Ends the order of @p. */
void rnic_inject_cancel(RNicPort *p);
/*
 * Returns member @count of the order of @p: the number of faults that the order has still
 * to inject.  Returns 0 for an order without end, after the last fault, and if there was
 * no order.  The result has no meaning if rnic_inject_cancel() has ended the order.
 */
uint32_t rnic_inject_order_left(const RNicPort *p);
/*
 * Returns the name of @kind (enum rnic_injected) in property faultsN, or NULL if @kind
 * is a part that @format does not have.
 */
const char *rnic_inject_name(const RNicFaultFormat *format, unsigned kind);

#endif /* HW_LINK_INJECT_H */

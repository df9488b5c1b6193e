/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Dimension-order routing in a torus: a packet moves along one dimension after the other,
 * in each dimension in the shorter direction.
 *
 * A dimension is a mesh, or a ring, whose wrap-around cable connects the last coordinate
 * with 0.  That cable is the dateline of the ring.  On the dateline, and behind the
 * dateline until they leave the ring, packets use other virtual channels than before the
 * dateline.  So no packets can wait for each other around the ring.
 */
#ifndef HW_EXANET_NET_DOR_H
#define HW_EXANET_NET_DOR_H

#define EXANET_DIMENSIONS 3
#define EXANET_DOR_RING_MIN 3       /* a ring of two is a mesh with parallel cables */
#define EXANET_DOR_SIDE_MAX 16      /* coordinates are 0 to 15 */

/* The shape of a torus.  All nodes of the torus must use the same shape. */
typedef struct ExanetDor {
    /* by dimension: nodes of a ring, 3 to 16; 0: a mesh */
    uint8_t ring[EXANET_DIMENSIONS];
    /* dimensions in the order in which packets use them */
    uint8_t order[EXANET_DIMENSIONS];
} ExanetDor;

/* A step to a neighbour. */
typedef struct ExanetDorStep {
    uint8_t dim;
    bool plus;                      /* upwards, or from the last coordinate to 0 */
    bool wrap;                      /* the step is between the last coordinate and 0 */
    uint8_t next;                   /* coordinate in @dim after the step */
} ExanetDorStep;

/* Returns true if the EXANET_DIMENSIONS members of @order have each dimension once. */
bool exanet_dor_order_valid(const uint8_t *order);
/*
 * Fills in @dor.  @ring has the number of nodes of each ring; a number that is not 3 to
 * 16 makes the dimension a mesh.  @order must be valid; see exanet_dor_order_valid().
 */
void exanet_dor_init(ExanetDor *dor, const uint8_t *ring, const uint8_t *order);

/* Returns true if dimension @dim is a mesh, or a ring that has coordinate @c. */
bool exanet_dor_has(const ExanetDor *dor, unsigned dim, unsigned c);
/*
 * Returns the neighbour of coordinate @c in dimension @dim: upwards if @plus is true,
 * otherwise downwards.  In a mesh too, 0 and the last coordinate count as neighbours.
 */
unsigned exanet_dor_next(const ExanetDor *dor, unsigned dim, unsigned c, bool plus);
/*
 * Returns true if the torus has a cable from coordinate @c of dimension @dim to the
 * coordinate that exanet_dor_next() returns.
 */
bool exanet_dor_cable(const ExanetDor *dor, unsigned dim, unsigned c, bool plus);
/*
 * Fills in @step, the next step from the node with coordinates @at to the node with
 * coordinates @to.  If @reverse is true, the order of the dimensions is reversed.  If
 * both directions of a ring are equally long, the route does not wrap.  Returns false if
 * the nodes are the same, or if one of the two coordinates of the step's dimension is
 * outside of the ring.  After a result of false, @step has no meaning.
 */
bool exanet_dor_step(const ExanetDor *dor, const uint8_t *at, const uint8_t *to,
                     bool reverse, ExanetDorStep *step);

/*
 * Returns true if a packet is behind the dateline after a step.  @wrap: the step is over
 * the dateline.  @same: the step before was in the same dimension.  @behind: the packet
 * was behind the dateline after the step before.
 */
static inline bool exanet_dor_behind(bool wrap, bool same, bool behind)
{
    return (same && behind) || wrap;
}

#endif /* HW_EXANET_NET_DOR_H */

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * States and attributes of queue pairs.
 */
#ifndef HW_PVRDMA_OBJECTS_QP_ATTR_H
#define HW_PVRDMA_OBJECTS_QP_ATTR_H

#include "qp.h"

/*
 * Checks that modify_qp may do what it asks for, then takes the attributes; not the
 * state, which is @state.  EINVAL: nothing has changed.
 */
int pvrdma_qp_attr_set(PvrdmaQp *qp, uint32_t mask,
                       const struct pvrdma_qp_attr *attr, uint8_t *state);
/*
 * The path to QP @dest_qpn of a peer, by an address that the guest gave; its PD does not
 * count.  False: no such GID or port.
 */
bool pvrdma_qp_path(PvrdmaQp *qp, const PvrdmaAv *av, uint32_t dest_qpn,
                    RocePath *path);
/*
 * Whether state, attributes and path from a snapshot are such as modify_qp leaves
 * behind; if so, sets what follows from them.
 */
bool pvrdma_qp_attr_resume(PvrdmaQp *qp);
/* As query_qp gives them. */
void pvrdma_qp_attr_get(const PvrdmaQp *qp, struct pvrdma_qp_attr *attr);

#endif /* HW_PVRDMA_OBJECTS_QP_ATTR_H */

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * States and attributes of queue pairs.
 */
#ifndef HW_PVRDMA_OBJECTS_QP_ATTR_H
#define HW_PVRDMA_OBJECTS_QP_ATTR_H

#include "qp.h"

/*
 * Checks the arguments of modify_qp, and sets the attributes of @mask.  Stores the
 * requested state in *@state, or the current state if @mask lacks PVRDMA_QP_STATE.  The
 * caller changes the QP's state.  Returns 0, or EINVAL if an argument is not valid; then
 * nothing has changed.
 */
int pvrdma_qp_attr_set(PvrdmaQp *qp, uint32_t mask,
                       const struct pvrdma_qp_attr *attr, uint8_t *state);
/*
 * Builds the path to QP number @dest_qpn of the peer with address @av.  Ignores the PD of
 * @av.  Returns false if the port number is not 1, or if pvrdma_gid_path() returns false.
 */
bool pvrdma_qp_path(PvrdmaQp *qp, const PvrdmaAv *av, uint32_t dest_qpn,
                    RocePath *path);
/*
 * Checks state, attributes and path from a snapshot, and computes the MTU.  Returns
 * false if a value is out of range, or if the values contradict each other.
 */
bool pvrdma_qp_attr_resume(PvrdmaQp *qp);
/* Stores the current state and attributes in @attr for the command query_qp. */
void pvrdma_qp_attr_get(const PvrdmaQp *qp, struct pvrdma_qp_attr *attr);

#endif /* HW_PVRDMA_OBJECTS_QP_ATTR_H */

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * States and attributes of queue pairs.
 */
#ifndef HW_PVRDMA_OBJECTS_QP_ATTR_H
#define HW_PVRDMA_OBJECTS_QP_ATTR_H

#include "qp.h"

/*
 * Checks the arguments of modify_qp, and sets the attributes whose bit PVRDMA_QP_* in
 * @mask is set.  In a change from RTS to SQD also sets en_sqd_async_notify to 0 if its
 * bit is not set.  Stores the requested state in *@state, or the current state if @mask
 * lacks PVRDMA_QP_STATE.  The caller changes the QP's state.  Returns 0, or EINVAL,
 * without a change of the QP, if an argument is not valid.
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
 * Checks the state, attributes and path of a QP from a snapshot, and sets PvrdmaQp.mtu.
 * Returns false if a value is out of range, or if the values contradict each other.
 */
bool pvrdma_qp_attr_resume(PvrdmaQp *qp);
/* Stores the current state and attributes in @attr for the command query_qp. */
void pvrdma_qp_attr_get(const PvrdmaQp *qp, struct pvrdma_qp_attr *attr);

#endif /* HW_PVRDMA_OBJECTS_QP_ATTR_H */

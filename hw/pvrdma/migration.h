/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Snapshots: the format of the device's state, and the interface between migration.c and
 * migration-qp.c.
 */
#ifndef HW_PVRDMA_MIGRATION_H
#define HW_PVRDMA_MIGRATION_H

#include "migration/vmstate.h"
#include "base/pages.h"

typedef struct PvrdmaQp PvrdmaQp;

/* Members of a VMStateDescription: the device loads only this version of the format. */
#define PVRDMA_ONE_VERSION .version_id = 2, .minimum_version_id = 2

/* Describes how the objects of one PvrdmaTable are saved and loaded. */
typedef struct PvrdmaKind {
    VMStateInfo info;
    const char *name;               /* name of an object in error messages */
    const VMStateDescription *vmsd; /* format of an object in the stream */
    size_t bytes;                   /* bytes of an object in host memory */
    /* Offset of the PvrdmaPages in the object, bytes; 0: the object has no pages. */
    size_t pages_at;
    /* Initializes an object before it is loaded; may be NULL. */
    void (*prepare)(PvrdmaState *s, void *object);
    /*
     * Checks the loaded object, and increments the member "users" of each object that the
     * loaded object uses.  Returns false if a value is not valid; in this case no member
     * "users" has changed.
     */
    bool (*install)(PvrdmaState *s, uint32_t handle, void *object);
} PvrdmaKind;

#define PVRDMA_KIND(...) { \
    .info = { .name = "pvrdma objects", .get = pvrdma_table_load, \
              .put = pvrdma_table_save }, \
    __VA_ARGS__ }

/*
 * Save and load a PvrdmaTable of a PvrdmaState, as the functions put and get of a
 * VMStateInfo.  Return 0 or a negative errno.
 */
int pvrdma_table_save(QEMUFile *f, void *pv, size_t size,
                      const VMStateField *field, JSONWriter *vmdesc);
int pvrdma_table_load(QEMUFile *f, void *pv, size_t size,
                      const VMStateField *field);

/*
 * Format of a PvrdmaState, without the bus shell.  The bus shell resets the device before
 * the state is loaded.
 */
extern const VMStateDescription pvrdma_vmstate;
extern const VMStateDescription pvrdma_pages_vmstate;
/*
 * Format of a PvrdmaWq.  After loading only wqe_at, entries, max_sge, cons and prod are
 * valid.
 */
extern const VMStateDescription pvrdma_wq_vmstate;
extern const PvrdmaKind pvrdma_qp_kind;

/* Continues the work of a loaded QP, after all objects of the device have been loaded. */
void pvrdma_qp_resume(PvrdmaQp *qp);

#endif /* HW_PVRDMA_MIGRATION_H */

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Snapshots: the interface between migration.c and migration-qp.c.
 */
#ifndef HW_PVRDMA_MIGRATION_H
#define HW_PVRDMA_MIGRATION_H

#include "migration/vmstate.h"
#include "base/pages.h"

typedef struct PvrdmaQp PvrdmaQp;

/* Only one version of each format is supported. */
#define PVRDMA_ONE_VERSION .version_id = 2, .minimum_version_id = 2

/* Describes how the objects of one PvrdmaTable are saved and loaded. */
typedef struct PvrdmaKind {
    VMStateInfo info;
    const char *name;               /* for error messages */
    const VMStateDescription *vmsd; /* format of an object */
    size_t bytes;                   /* size of an object in host memory */
    /* Offset of the PvrdmaPages in the object, bytes; 0: the object has no pages. */
    size_t pages_at;
    /* Initializes an object before it is loaded; may be NULL. */
    void (*prepare)(PvrdmaState *s, void *object);
    /*
     * Checks the loaded object, and adds the object to the users of other objects.
     * Returns false if a value is not valid; then no counter of another object has
     * changed.
     */
    bool (*install)(PvrdmaState *s, uint32_t handle, void *object);
} PvrdmaKind;

#define PVRDMA_KIND(...) { \
    .info = { .name = "pvrdma objects", .get = pvrdma_table_load, \
              .put = pvrdma_table_save }, \
    __VA_ARGS__ }

/*
 * Functions put and get of a VMStateInfo, which save and load a PvrdmaTable of a
 * PvrdmaState.  Return 0 or a negative errno.
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

/* Continues the work of a loaded QP.  All objects of the device have been loaded. */
void pvrdma_qp_resume(PvrdmaQp *qp);

#endif /* HW_PVRDMA_MIGRATION_H */

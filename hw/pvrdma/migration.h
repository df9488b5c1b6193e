/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Snapshots: what migration.c and migration-qp.c offer each other.
 */
#ifndef HW_PVRDMA_MIGRATION_H
#define HW_PVRDMA_MIGRATION_H

#include "migration/vmstate.h"
#include "base/pages.h"

typedef struct PvrdmaQp PvrdmaQp;

#define PVRDMA_ONE_VERSION .version_id = 2, .minimum_version_id = 2

/* What a table has: how it is saved, and made again. */
typedef struct PvrdmaKind {
    VMStateInfo info;
    const char *name;
    const VMStateDescription *vmsd;
    size_t bytes;
    size_t pages_at;                /* offset of its PvrdmaPages; 0: has none */
    /* Before it is loaded; NULL: nothing is to be done. */
    void (*prepare)(PvrdmaState *s, void *object);
    /*
     * Checks it and connects it to others.  False: it is impossible, and nothing that
     * others count has changed.
     */
    bool (*adopt)(PvrdmaState *s, uint32_t handle, void *object);
} PvrdmaKind;

#define PVRDMA_KIND(...) { \
    .info = { .name = "pvrdma objects", .get = pvrdma_table_load, \
              .put = pvrdma_table_save }, \
    __VA_ARGS__ }

/* Of a PvrdmaTable in a PvrdmaState, for VMStateInfo. */
int pvrdma_table_save(QEMUFile *f, void *pv, size_t size,
                      const VMStateField *field, JSONWriter *vmdesc);
int pvrdma_table_load(QEMUFile *f, void *pv, size_t size,
                      const VMStateField *field);

/* All of a device but what its bus has; loaded into one that was reset. */
extern const VMStateDescription pvrdma_vmstate;
extern const VMStateDescription pvrdma_pages_vmstate;
/* Of PvrdmaWq; of what is loaded only sizes, indices and wqe_at are valid. */
extern const VMStateDescription pvrdma_wq_vmstate;
extern const PvrdmaKind pvrdma_qp_kind;

/* Once all is loaded, a QP goes on where its peer knows that it was. */
void pvrdma_qp_resume(PvrdmaQp *qp);

#endif /* HW_PVRDMA_MIGRATION_H */

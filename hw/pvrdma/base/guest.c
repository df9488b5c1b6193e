/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Paravirtual RDMA NIC: the log of guest errors.
 */
#include "qemu/osdep.h"
#include "qemu/log.h"
#include "guest.h"
#include "../pvrdma.h"

void pvrdma_guest_error(PvrdmaState *s, const char *format, ...)
{
    va_list args;

    pvrdma_count(s, PVRDMA_CNT_GUEST_ERROR);
    if (qemu_loglevel_mask(LOG_GUEST_ERROR)) {
        g_autofree char *text = NULL;

        va_start(args, format);
        text = g_strdup_vprintf(format, args);
        va_end(args);
        qemu_log("pvrdma: %s\n", text);
    }
}

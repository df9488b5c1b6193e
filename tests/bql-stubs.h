/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions that QemuMutex calls since QEMU 10.2.  A program that defines bql_locked()
 * and the other functions of the big lock includes this header in one file.  Without it
 * the linker takes QEMU's file of stubs, which defines all these functions again.
 */
#ifndef RNIC_TESTS_BQL_STUBS_H
#define RNIC_TESTS_BQL_STUBS_H

#include "qemu/main-loop.h"

#if QEMU_VERSION_MAJOR > 10 || \
    (QEMU_VERSION_MAJOR == 10 && QEMU_VERSION_MINOR >= 2)
bool mutex_is_bql(QemuMutex *mutex)
{
    return false;
}

void bql_update_status(bool locked)
{
}
#endif

#endif /* RNIC_TESTS_BQL_STUBS_H */

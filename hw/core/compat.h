/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The only file that knows QEMU versions (10.0 is the first supported).
 * This header hides differences of names, never of behaviour.  Files include it instead
 * of QEMU's headers of memory, address spaces and qdev properties.
 */
#ifndef RNIC_CORE_COMPAT_H
#define RNIC_CORE_COMPAT_H

#if __has_include("system/memory.h")
#include "system/memory.h"
#include "system/address-spaces.h"
#else
#include "exec/memory.h"
#include "exec/address-spaces.h"
#endif

#if __has_include("hw/core/qdev-properties.h")
#include "hw/core/qdev.h"
#include "hw/core/qdev-properties.h"
#include "hw/core/qdev-properties-system.h"
#else
#include "hw/qdev-core.h"
#include "hw/qdev-properties.h"
#include "hw/qdev-properties-system.h"
#endif

/* Type of the data that class_init functions get. */
#if QEMU_VERSION_MAJOR > 10 || \
    (QEMU_VERSION_MAJOR == 10 && QEMU_VERSION_MINOR >= 1)
typedef const void RNicClassData;
#else
typedef void RNicClassData;
#endif

/*
 * rnic_vmstate_save() and rnic_vmstate_load() write and read @object as @vmsd describes
 * @object, without a JSON description.  They return 0, or a negative value on an error.
 * rnic_init_clocks() initializes QEMU's clocks in unit tests.
 */
#if QEMU_VERSION_MAJOR > 10 || \
    (QEMU_VERSION_MAJOR == 10 && QEMU_VERSION_MINOR >= 2)
#define rnic_init_clocks() qemu_init_clocks(NULL)
#define rnic_vmstate_save(f, vmsd, object) \
    vmstate_save_state(f, vmsd, object, NULL, NULL)
#define rnic_vmstate_load(f, vmsd, object) \
    vmstate_load_state(f, vmsd, object, (vmsd)->version_id, NULL)
#else
#define rnic_init_clocks() init_clocks(NULL)
#define rnic_vmstate_save(f, vmsd, object) \
    vmstate_save_state(f, vmsd, object, NULL)
#define rnic_vmstate_load(f, vmsd, object) \
    vmstate_load_state(f, vmsd, object, (vmsd)->version_id)
#endif

#endif

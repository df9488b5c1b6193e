/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Differences between versions of QEMU; 10.0 is the first version that is supported.
 * This header hides differences of names and parameters, not of behaviour.  Files of hw/
 * include this header instead of QEMU's headers of memory, address spaces, devices and
 * properties.
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

/* Type to which the second parameter of a class_init function points. */
#if QEMU_VERSION_MAJOR > 10 || \
    (QEMU_VERSION_MAJOR == 10 && QEMU_VERSION_MINOR >= 1)
typedef const void RNicClassData;
#else
typedef void RNicClassData;
#endif

/*
 * rnic_vmstate_save() writes @object to the stream @f, rnic_vmstate_load() reads @object
 * from @f.  @vmsd describes @object.  Both functions return 0, or a negative value on an
 * error.  rnic_init_clocks() initializes QEMU's clocks in unit tests.
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

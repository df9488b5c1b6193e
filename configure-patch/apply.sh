#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Usage: apply.sh QEMU_SOURCE_TREE
# Makes this repository part of a QEMU source tree:
#   - four symlinks, and a list of devices for the build with sanitizers
#   - qemu.patch: lines that include the files of this repository
#   - qemu-arm.patch: devices on AXI for the Arm machines
#   - qemu-stats.patch: a provider of query-stats
#   - qemu-qtest.patch: a qtest machine sleeps while its clock stands still
#   - qemu-stream-*.patch: corrections of -netdev stream, which also writes several frames
#     in one call, and lets a NIC read frames without the main loop
# A second run changes nothing.
set -euo pipefail

here=$(cd -P "$(dirname "${BASH_SOURCE[0]}")" && pwd)
top=$(dirname "$here")
tree=${1:?usage: apply.sh QEMU_SOURCE_TREE}

[ -f "$tree/qemu-options.hx" ] || {
    echo "apply.sh: $tree is not a QEMU source tree" >&2
    exit 1
}

link() {
    local target=$1 name=$tree/$2
    if [ -e "$name" ] && [ ! -L "$name" ]; then
        echo "apply.sh: $name exists and is not a symlink" >&2
        exit 1
    fi
    # An unchanged link keeps its time stamp, so nothing is rebuilt.
    [ "$(readlink "$name" || true)" = "$target" ] || ln -sfn "$target" "$name"
}

link "$top/hw" hw/rnic
link "$top/include/rnic" include/rnic
link "$top/tests" tests/qtest/rnic
link "$here/rnic-arm.mak" configs/devices/aarch64-softmmu/rnic-arm.mak

# The families add their devices to the list of the build with sanitizers.
devices=$tree/configs/devices/x86_64-softmmu/rnic-tests.mak
cat "$here/rnic-tests.mak" "$top"/hw/*/tests.mak > "$devices.new"
if [ -L "$devices" ] || ! cmp -s "$devices.new" "$devices"; then
    mv -f "$devices.new" "$devices"
else
    rm "$devices.new"
fi

# Applies patch $1 unless the tree has it. The tree keeps a copy of each applied patch, so that
# a later version of the patch can replace it. A patch can be applied without a copy if the
# first version of this program has applied the patch, or if the program was interrupted.
mend() {
    local new=$here/$1 old=$tree/rnic-$1
    cmp -s "$new" "$old" && return
    if [ -e "$old" ]; then
        change "$old" --reverse
        rm "$old"
    fi
    if ! change "$new" --reverse --force --dry-run > /dev/null; then
        # Tries the patch first, because a patch must be applied as a whole or not at all.
        change "$new" --forward --dry-run > /dev/null || {
            echo "apply.sh: $1 does not fit $tree" >&2
            exit 1
        }
        change "$new" --forward
    fi
    cp "$new" "$old"
}

change() {
    patch -d "$tree" -p1 "${@:2}" --no-backup-if-mismatch --quiet < "$1"
}

mend qemu.patch
mend qemu-arm.patch
mend qemu-stats.patch
mend qemu-qtest.patch
if [ -f "$tree/net/stream_data.c" ]; then
    mend qemu-stream-10.2.patch
else
    mend qemu-stream-10.0.patch
fi

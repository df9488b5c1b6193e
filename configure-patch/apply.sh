#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Usage: apply.sh QEMU_SOURCE_TREE
# Makes this repository part of a QEMU source tree: three symlinks, five added
# lines, and a mend of -netdev stream. Running it again changes nothing.
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

grep -q "^subdir('rnic')" "$tree/hw/meson.build" ||
    patch -d "$tree" -p1 --forward --no-backup-if-mismatch --quiet \
        < "$here/qemu.patch"

if [ -f "$tree/net/stream_data.c" ]; then
    stream=stream_data.c mend=qemu-stream-10.2.patch
else
    stream=stream.c mend=qemu-stream-10.0.patch
fi
grep -q qio_channel_set_blocking "$tree/net/$stream" ||
    patch -d "$tree" -p1 --forward --no-backup-if-mismatch --quiet \
        < "$here/$mend"

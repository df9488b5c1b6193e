#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Usage: apply-libfabric.sh LIBFABRIC_SOURCE_TREE [PROVIDER_SOURCES]
# Makes the providers in guest-driver/libfabric part of a libfabric source tree. A second
# run copies only files that have changed.
set -euo pipefail

here=$(cd -P "$(dirname "${BASH_SOURCE[0]}")" && pwd)
top=$(dirname "$here")
tree=${1:?usage: apply-libfabric.sh LIBFABRIC_SOURCE_TREE}
provider=${2:-$top/guest-driver/libfabric}

[ -f "$tree/libfabric.pc.in" ] || {
    echo "apply-libfabric.sh: $tree is not a libfabric source tree" >&2
    exit 1
}

# Copies files, because the tree is built in a chroot, where a symlink would lead nowhere.
# Keeps time stamps, so that make rebuilds only files that have changed.
tree=$(cd "$tree" && pwd)
for folder in "$provider"/*/; do
    name=$(basename "$folder")
    [ "$name" != common ] || name=rnic/common
    mkdir -p "$tree/prov/$name"
    (cd "$folder" && find . -type f -exec \
        cp --update --preserve=timestamps --parents -t "$tree/prov/$name" {} +)
done

grep -q 'SETUP(\[exanet\])' "$tree/configure.ac" ||
    patch -d "$tree" -p1 --forward --no-backup-if-mismatch --quiet \
        < "$here/libfabric.patch"

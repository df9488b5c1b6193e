#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Usage: apply-libfabric.sh LIBFABRIC_SOURCE_TREE [PROVIDER_SOURCES]
# Makes the providers in PROVIDER_SOURCES, by default guest-driver/libfabric, part of a
# libfabric source tree, and applies libfabric.patch. A second run copies only files that have
# changed.
set -euo pipefail

here=$(cd -P "$(dirname "${BASH_SOURCE[0]}")" && pwd)
top=$(dirname "$here")
tree=${1:?usage: apply-libfabric.sh LIBFABRIC_SOURCE_TREE}
provider=${2:-$top/guest-driver/libfabric}

[ -f "$tree/libfabric.pc.in" ] || {
    echo "apply-libfabric.sh: $tree is not a libfabric source tree" >&2
    exit 1
}

# Makefile.include of a provider adds to variables of the common Makefile.include, so the common
# one must be included first. Older versions of this program included only that of the provider.
common='include prov/rnic/common/Makefile.include'
for folder in "$provider"/*/; do
    include="include prov/$(basename "$folder")/Makefile.include"
    if grep -qxF "$include" "$tree/Makefile.am" &&
            ! grep -qxF "$common" "$tree/Makefile.am"; then
        echo "apply-libfabric.sh: an older version has patched $tree: unpack it anew" >&2
        exit 1
    fi
done

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

# Inserts standard input before line LINE of FILE, except if FILE has line MARK already. Ends
# this program with an error unless FILE has line LINE exactly once.
insert() {
    local file=$tree/$1 line=$2 mark=$3
    ! grep -qxF "$mark" "$file" || return 0
    [ "$(grep -cxF "$line" "$file")" = 1 ] || {
        echo "apply-libfabric.sh: $file has no line '$line'" >&2
        exit 1
    }
    awk -v line="$line" 'FNR == NR { text = text $0 "\n"; next }
        $0 == line { printf "%s", text } { print }' - "$file" > "$file.part"
    mv "$file.part" "$file"
}

# Each folder except common is a provider. configure of libfabric asks the configure.m4 of a
# provider whether the provider can be built; ./configure --enable-NAME=dl makes the provider
# loadable.
insert Makefile.am 'include prov/hook/Makefile.include' "$common" <<< "$common"
for folder in "$provider"/*/; do
    name=$(basename "$folder")
    [ "$name" != common ] || continue
    upper=${name^^}
    setup="FI_PROVIDER_SETUP([$name])"
    insert configure.ac FI_PROVIDER_FINI "$setup" <<< "$setup"
    include="include prov/$name/Makefile.include"
    insert Makefile.am 'include prov/hook/Makefile.include' "$include" <<< "$include"
    insert include/ofi_prov.h '#if (HAVE_MRAIL) && (HAVE_MRAIL_DL)' \
        "#if (HAVE_$upper) && (HAVE_${upper}_DL)" << END
#if (HAVE_$upper) && (HAVE_${upper}_DL)
#  define ${upper}_INI FI_EXT_INI
#  define ${upper}_INIT NULL
#elif (HAVE_$upper)
#  define ${upper}_INI INI_SIG(fi_${name}_ini)
#  define ${upper}_INIT fi_${name}_ini()
${upper}_INI ;
#else
#  define ${upper}_INIT NULL
#endif

END
done

grep -q util_cancel_src_tag "$tree/prov/util/src/util_srx.c" ||
    patch -d "$tree" -p1 --forward --no-backup-if-mismatch --quiet \
        < "$here/libfabric.patch"

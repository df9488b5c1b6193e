# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes root file systems from Debian 13's packages. This needs root."""

import re
import shutil
from pathlib import Path

from . import apt
from .steps import Failed, fresh, run, step


# Installs the packages $2, $3, ... into the root file system $1. The script runs in a
# separate mount namespace, so that its mounts end with the script.
_COMPLETE = r'''
    root=$1
    shift
    mount -t proc proc "$root/proc"
    printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d"
    chmod 755 "$root/usr/sbin/policy-rc.d"
    cp --remove-destination /etc/resolv.conf "$root/etc/resolv.conf"
    inside() {
        chroot "$root" env -i DEBIAN_FRONTEND=noninteractive HOME=/root \
            LC_ALL=C.UTF-8 PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@"
    }
    inside apt-get update
    inside apt-get install -y --no-install-recommends "$@"
    inside apt-get clean
    rm -rf "$root/var/lib/apt/lists"/* "$root/usr/sbin/policy-rc.d"'''


class Recipe:
    """Packages of a root file system, and the options of mmdebstrap. EXCLUDED are patterns of
    files; bootstrap() does not install these files of the packages."""

    def __init__(self, packages, *options, excluded=()):
        self.packages, self.options = sorted(packages), options
        self.excluded = excluded

    def bootstrap(self, root, what, value, then=None):
        """Makes the root file system ROOT and calls THEN, unless the stamp of ROOT contains the
        digest VALUE. Writes the stamp at the end. WHAT names ROOT in messages."""
        stamp = root.parent / f'{root.name}.stamp'
        if fresh(stamp, value):
            return
        with step(f'installing {what}'):
            stamp.unlink(missing_ok=True)
            remove(root)
            root.parent.mkdir(parents=True, exist_ok=True)
            cmd = ['mmdebstrap', '--mode=root', *self.options,
                   *(f'--include={p}' for p in self.packages),
                   *(f'--aptopt={o}' for o in apt.options()),
                   *(f'--dpkgopt=path-exclude={e}' for e in self.excluded)]
            run([*cmd, 'trixie', root, apt.source_line('trixie')],
                f'bootstrap-{root.parent.name}-{root.name}')
            if then:
                then()
            stamp.write_text(value, encoding='ascii')

    def complete(self, root, base, what, value):
        """Makes the root file system ROOT from a copy of the root file system BASE and installs
        the missing packages, unless the stamp of ROOT contains the digest VALUE. Writes the
        stamp at the end. Programs of BASE must run on this machine."""
        stamp = root.parent / f'{root.name}.stamp'
        if fresh(stamp, value):
            return
        with step(f'installing {what}'):
            stamp.unlink(missing_ok=True)
            remove(root)
            run(['cp', '-a', '--reflink=auto', base, root], 'copy-base')
            run(['unshare', '--mount', 'sh', '-ec', _COMPLETE, 'complete', root,
                 *self.packages], f'complete-{root.name}')
            stamp.write_text(value, encoding='ascii')


def remove(root):
    """Removes the root file system ROOT. Fails if another file system is mounted in ROOT."""
    mounts = Path('/proc/self/mounts').read_text(encoding='utf-8')
    if f' {root}/' in mounts:
        raise Failed(f'something is mounted below {root}')
    shutil.rmtree(root, ignore_errors=True)


def chroot(root, script, log):
    """Runs the shell script SCRIPT in the root file system ROOT. Fails as steps.run() does."""
    run(['chroot', root, 'env', '-i', 'HOME=/root', 'LC_ALL=C.UTF-8',
         'PATH=/usr/sbin:/usr/bin:/sbin:/bin', 'sh', '-ec', script], log)


def kernel_version(root):
    """Returns the newest version of a kernel, or of a kernel's headers, in ROOT. Fails if ROOT
    has neither."""
    found = [path.name for path in root.glob('lib/modules/*')]
    if not found:
        raise Failed(f'no kernel in {root}')
    return max(found, key=version_key)


def version_key(version):
    """Returns a key by which kernel versions sort: 6.12.100 is newer than 6.12.99."""
    return [(int(part), '') if part.isdigit() else (-1, part)
            for part in re.split(r'(\d+)', version)]


def depmod(root, log):
    """Makes the list of modules of the newest kernel in ROOT. The modules may be for another
    processor."""
    run(['depmod', '-b', root, kernel_version(root)], log)

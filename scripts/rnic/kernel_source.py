# SPDX-License-Identifier: GPL-2.0-or-later
"""The few parts of Linux' source that we use, from Debian's package of it."""

from . import apt
from .paths import BUILD
from .steps import run, step

NAME = 'linux-source-6.12'
_FOLDER = BUILD / 'tools/kernel'
_TREE = _FOLDER / NAME
PVRDMA = _TREE / 'drivers/infiniband/hw/vmw_pvrdma'
CHECKPATCH = _TREE / 'scripts/checkpatch.pl'
_WANTED = [PVRDMA, CHECKPATCH, _TREE / 'scripts/spelling.txt',
           _TREE / 'scripts/const_structs.checkpatch']


def fetch():
    """Makes sure that they are there."""
    if all(path.exists() for path in _WANTED):
        return
    apt.ensure_packages(['xz-utils'])
    with step("fetching parts of Linux' source"):
        apt.fetch_package(NAME, _FOLDER)
        run(['tar', '-C', _FOLDER, '-xf', _FOLDER / f'usr/src/{NAME}.tar.xz',
             *(path.relative_to(_FOLDER) for path in _WANTED)],
            'unpack-kernel-source')
        for big in [*_FOLDER.glob('*.deb'), *_FOLDER.glob('usr/src/*.xz')]:
            big.unlink()

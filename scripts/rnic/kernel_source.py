# SPDX-License-Identifier: GPL-2.0-or-later
"""Fetches Linux' source from Debian's package NAME: the few parts that builds and checks use,
or the whole source."""

import shutil

from . import apt, families
from .paths import BUILD
from .steps import run, step

NAME = 'linux-source-6.12'
_FOLDER = BUILD / 'tools/kernel'
_TREE = _FOLDER / NAME
CHECKPATCH = _TREE / 'scripts/checkpatch.pl'
_WANTED = [*(_TREE / f.linux_driver[0] for f in families.FAMILIES if f.linux_driver),
           CHECKPATCH, _TREE / 'scripts/spelling.txt',
           _TREE / 'scripts/const_structs.checkpatch']


def driver(family):
    """Returns the folder with the source of the driver FAMILY.linux_driver."""
    return _TREE / family.linux_driver[0]


def fetch():
    """Fetches and unpacks the parts in _WANTED, unless all of them are there."""
    if all(path.exists() for path in _WANTED):
        return
    with step("fetching parts of Linux' source"):
        _unpack(_FOLDER, _FOLDER, '--',
                *(path.relative_to(_FOLDER) for path in _WANTED))


def fetch_all(into):
    """Fetches the whole source and unpacks it as a new folder INTO."""
    # The package is unpacked in a folder of its own, not in _FOLDER as by fetch().
    package = into.with_name(f'{into.name}-package')
    for folder in (package, into):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
    with step("fetching Linux' source"):
        _unpack(package, into, '--strip-components=1')
    shutil.rmtree(package)


def _unpack(package, into, *options):
    """Fetches Debian's package into the folder PACKAGE, and unpacks the archive of the package
    into the folder INTO, with OPTIONS of tar. Removes the package and the archive at the
    end."""
    apt.ensure_packages(['xz-utils'])
    apt.fetch_package(NAME, package)
    run(['tar', '-C', into, '-xf', package / f'usr/src/{NAME}.tar.xz', *options],
        'unpack-kernel-source')
    for big in [*package.glob('*.deb'), *package.glob('usr/src/*.xz')]:
        big.unlink()

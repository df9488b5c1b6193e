# SPDX-License-Identifier: GPL-2.0-or-later
"""Finds the source of QEMU: Debian's, or the source in the environment variable QEMU_SRC."""

import os
import shutil
from pathlib import Path

from . import apt
from .paths import SRC
from .steps import Failed, digest, run, step

DEFAULT = '10.0'


def present(version=DEFAULT):
    """Returns the source tree of VERSION that find() has made below SRC, from Debian's source
    or from the source that QEMU_SRC names now; None if there is no such tree."""
    given = os.environ.get('QEMU_SRC')
    folder = _folder(Path(given).resolve()) if given else SRC
    found = sorted(folder.glob(f'qemu-{version}.*/qemu-options.hx'))
    return found[-1].parent if found else None


def find(version=DEFAULT):
    """Returns the source tree of VERSION. If there is no such tree yet, copies or unpacks the
    source that the environment variable QEMU_SRC names; without this variable, fetches the
    source from Debian. Fails if QEMU_SRC names no source of VERSION."""
    if os.environ.get('QEMU_SRC'):
        return _given(Path(os.environ['QEMU_SRC']), version)
    if found := present(version):
        return found
    with step(f'fetching the source of QEMU {version} from Debian'):
        tar = apt.fetch_source('qemu', f'{version}.', SRC)
        return _unpack(tar, version)


def _folder(given):
    """Returns the folder below SRC for the copy of GIVEN, the tarball or folder in QEMU_SRC.
    Each value of GIVEN has a folder of its own, because Debian's source, or the source that
    another value names, may have the same version."""
    state = f'{given} {given.stat().st_mtime_ns}' if given.is_file() else ''
    return SRC / f'given-{digest(str(given), state)[:12]}'


def _given(given, version):
    if not given.exists():
        raise Failed(f'QEMU_SRC={given} does not exist')
    if found := present(version):
        return found
    given = given.resolve()
    folder = _folder(given)
    if given.is_file():
        with step(f'unpacking {given}'):
            return _unpack(given, version, folder)
    if not (given / 'VERSION').is_file():
        raise Failed(f'QEMU_SRC={given} is not a QEMU source tree')
    full = (given / 'VERSION').read_text(encoding='ascii').strip()
    if not full.startswith(version + '.'):
        raise Failed(f'QEMU_SRC={given} is version {full}, not {version}')
    with step(f'copying {given}'):
        part, copy = folder / 'part', folder / f'qemu-{full}'
        shutil.rmtree(part, ignore_errors=True)
        shutil.copytree(given, part, symlinks=True,
                        ignore=shutil.ignore_patterns('.git', 'build'))
        part.rename(copy)
    return copy


def _unpack(tar, version, folder=SRC):
    part = folder / 'qemu.part'
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    run(['tar', '-C', part, '-xf', tar], 'unpack-qemu',
        f'{tar} cannot be unpacked')
    top = next(part.iterdir(), None)
    if not top or not (top / 'VERSION').is_file():
        raise Failed(f'{tar} is not a QEMU source')
    full = (top / 'VERSION').read_text(encoding='ascii').strip()
    if not full.startswith(version + '.'):
        raise Failed(f'{tar} is version {full}, not {version}')
    tree = folder / f'qemu-{full}'
    shutil.rmtree(tree, ignore_errors=True)
    top.rename(tree)
    part.rmdir()
    return tree

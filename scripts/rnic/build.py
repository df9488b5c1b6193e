# SPDX-License-Identifier: GPL-2.0-or-later
"""Brings everything that a program of ours needs up to date."""

import contextlib
import subprocess
import sys

from . import apt, guest, qemu
from .arch import AMD64, ARM64
from .paths import TOP
from .steps import build_lock


def everything(shell=False, programs=(), image='', arches=(AMD64,)):
    """Builds QEMU, the helper programs PROGRAMS, and the guests with disk IMAGE;
    returns the path of QEMU."""
    if shell:
        apt.ensure_packages(['tmux'])
    with build_lock():
        binary = qemu.Qemu().build(ARM64 in arches,
                                   programs=programs).binary
    for arch in dict.fromkeys(arches):
        the_guest(image, arch)
    return binary


def the_guest(image='', arch=AMD64):
    """Builds the guest; it alone needs root, so it is a program of its own."""
    if guest.Image(image, arch).is_fresh():
        return
    process = subprocess.Popen([TOP / 'scripts/build-guest',
                                '--arch', arch.name,
                                *(['--image', image] if image else [])],
                               stdout=subprocess.DEVNULL)
    try:
        code = process.wait()
    except BaseException:
        # Not killed: it has to end what it has started.
        with contextlib.suppress(PermissionError, subprocess.TimeoutExpired):
            process.terminate()   # not allowed to end sudo
            process.wait(30)
        raise
    if code:
        sys.exit(code if code > 0 else 128 - code)   # it has said why

# SPDX-License-Identifier: GPL-2.0-or-later
"""Brings everything that a program of ours needs up to date."""

import subprocess
import sys

from . import apt, guest, qemu
from .paths import TOP
from .steps import build_lock


def everything(shell=False, tests=False):
    """Builds QEMU and the guest; returns the path of QEMU."""
    if shell:
        apt.ensure_packages(['tmux'])
    with build_lock():
        binary = qemu.Qemu().build(tests).binary
    the_guest()
    return binary


def the_guest():
    """Builds the guest; it alone needs root, so it is a program of its own."""
    if guest.is_fresh():
        return
    r = subprocess.run([TOP / 'scripts/build-guest'],
                       stdout=subprocess.DEVNULL, check=False)
    if r.returncode:
        sys.exit(r.returncode)   # it has said why

# SPDX-License-Identifier: GPL-2.0-or-later
"""Builds QEMU, helper programs and guests for the programs in scripts/."""

import contextlib
import os
import shlex
import signal
import subprocess
import sys
import time

from . import apt, guest, qemu, vm
from .arch import AMD64, ARM64
from .paths import TOP, shown
from .steps import build_lock, log_path, step

_MEANWHILE_SECONDS = 1800    # limit for builds after the body of guests_meanwhile()
_END_SECONDS = 30            # limit for a build to clean up after SIGTERM


def everything(shell=False, programs=(), image='', arches=(AMD64,)):
    """Builds QEMU, the helper programs PROGRAMS, and the guests with disk IMAGE for the
    processors ARCHES. With SHELL, installs tmux. Returns the path of QEMU for amd64. If ARCHES
    contains ARM64, QEMU for arm64 is in the same folder."""
    if shell:
        apt.ensure_packages(['tmux'])
    with build_lock():
        binary = qemu.Qemu().build(ARM64 in arches,
                                   programs=programs).binary
    for arch in dict.fromkeys(arches):
        the_guest(image, arch)
    return binary


@contextlib.contextmanager
def guests_meanwhile(wanted):
    """Builds the guests WANTED, tuples of an image and a processor, while the body of the with
    statement runs, because such a build mostly uses one CPU or waits for the disk. After the
    body, waits for the builds at most _MEANWHILE_SECONDS, and ends builds that still run. If
    the body fails, ends the builds at once. Builds nothing without root, because sudo may ask
    for a password. Ignores errors of the builds, because a later call of the_guest() builds a
    missing guest again and prints the reason of an error."""
    if os.geteuid() != 0:
        yield
        return
    commands = ' ; '.join(shlex.join(map(str, _command(*w))) for w in wanted)
    log = log_path('guests-meanwhile')
    with open(log, 'wb') as out:
        process = vm.spawn(['sh', '-c', commands], die=signal.SIGTERM,
                           stdin=subprocess.DEVNULL, stdout=out,
                           stderr=subprocess.STDOUT, start_new_session=True)
    try:
        yield
        with step('building the guests') as line:
            try:
                process.wait(_MEANWHILE_SECONDS)
            except subprocess.TimeoutExpired:
                line.title = (f'guests are not built after {_MEANWHILE_SECONDS} s '
                              f'(log: {shown(log)})')
    finally:
        _end_group(process)


def _end_group(process):
    """Ends PROCESS and all other processes of its group, by SIGTERM and, after _END_SECONDS, by
    SIGKILL."""
    end = time.monotonic() + _END_SECONDS
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
        process.wait()
        while time.monotonic() < end:
            os.killpg(process.pid, 0)
            time.sleep(0.1)
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _command(image, arch):
    return [TOP / 'scripts/build-guest', '--arch', arch.name,
            *(['--image', image] if image else [])]


def the_guest(image='', arch=AMD64):
    """Builds the guest with disk IMAGE for ARCH, unless the guest is up to date. A separate
    program builds the guest, because only this build needs root."""
    if not guest.Image(image, arch).is_fresh():
        _run_build_guest(_command(image, arch))


def the_debug_kernel():
    """Builds the usual guest and the debug kernel, unless both are up to date."""
    if not guest.debug_is_fresh():
        _run_build_guest([TOP / 'scripts/build-guest', '--debug-kernel'])


def _run_build_guest(command):
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        code = process.wait()
    except BaseException:
        # Sends SIGTERM, not SIGKILL, because the program must end its children.
        with contextlib.suppress(PermissionError, subprocess.TimeoutExpired):
            process.terminate()   # Raises PermissionError for sudo, which root owns.
            process.wait(30)
        raise
    if code:
        # The program has printed the reason, unless a signal has killed the program.
        sys.exit(code if code > 0 else 128 - code)

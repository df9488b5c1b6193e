# SPDX-License-Identifier: GPL-2.0-or-later
"""Builds the guests; a second run builds only parts whose sources have changed.

RNIC_GUEST_PACKAGES="a b" adds Debian packages to the guest."""

import argparse
import os
import sys

from .. import apt, guest
from ..arch import AMD64, ARCHES
from ..paths import shown
from ..steps import build_lock


def start():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument('--image', choices=[i for i in guest.IMAGES if i],
                   default='', help='a disk with more on it')
    p.add_argument('--arch', choices=ARCHES, default=AMD64.name,
                   help='its processor')
    p.add_argument('--debug-kernel', action='store_true',
                   help='also a kernel with KASAN and lockdep, for '
                        'driver-debug.test; the first build takes long')
    args = p.parse_args()
    if args.debug_kernel and (args.image or args.arch != AMD64.name):
        p.error('--debug-kernel goes with no other option')
    image = guest.Image(args.image, ARCHES[args.arch])
    if guest.debug_is_fresh() if args.debug_kernel else image.is_fresh():
        print(shown(image.disk))
        return
    if os.geteuid() != 0:
        keep = [f'{k}={v}' for k, v in os.environ.items()
                if k.startswith('RNIC_')]
        cmd = apt.as_root(['env', *keep, *sys.argv])
        os.execvp(cmd[0], cmd)
    with build_lock('-guest'):
        if args.debug_kernel:
            guest.build_debug()
        else:
            guest.build(image.name, image.arch)
    print(shown(image.disk))

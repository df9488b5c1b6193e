# SPDX-License-Identifier: GPL-2.0-or-later
"""Builds what the guests boot; a second run builds only what changed.

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
    args = p.parse_args()
    image = guest.Image(args.image, ARCHES[args.arch])
    if image.is_fresh():
        print(shown(image.disk))
        return
    if os.geteuid() != 0:
        keep = [f'{k}={v}' for k, v in os.environ.items()
                if k.startswith('RNIC_')]
        cmd = apt.as_root(['env', *keep, *sys.argv])
        os.execvp(cmd[0], cmd)
    with build_lock('-guest'):
        guest.build(image.name, image.arch)
    print(shown(image.disk))

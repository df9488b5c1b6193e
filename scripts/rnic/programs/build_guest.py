# SPDX-License-Identifier: GPL-2.0-or-later
"""Builds what the guests boot; a second run builds only what changed.

RNIC_GUEST_PACKAGES="a b" adds Debian packages to the guest."""

import argparse
import os
import sys

from .. import apt, guest
from ..paths import shown
from ..steps import build_lock


def start():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument('--image', choices=[i for i in guest.IMAGES if i],
                   default='', help='a disk with more on it')
    image = guest.Image(p.parse_args().image)
    if image.is_fresh():
        print(shown(image.disk))
        return
    if os.geteuid() != 0:
        keep = [f'{k}={v}' for k, v in os.environ.items()
                if k.startswith('RNIC_')]
        cmd = apt.as_root(['env', *keep, *sys.argv])
        os.execvp(cmd[0], cmd)
    with build_lock():
        guest.build(image.name)
    print(shown(image.disk))

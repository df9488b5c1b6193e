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
    argparse.ArgumentParser(description=__doc__).parse_args()
    if guest.is_fresh():
        print(shown(guest.DISK))
        return
    if os.geteuid() != 0:
        keep = [f'{k}={v}' for k, v in os.environ.items()
                if k.startswith('RNIC_')]
        cmd = apt.as_root(['env', *keep, *sys.argv])
        os.execvp(cmd[0], cmd)
    with build_lock():
        guest.build()
    print(shown(guest.DISK))

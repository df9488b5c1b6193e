# SPDX-License-Identifier: GPL-2.0-or-later
"""Builds QEMU with the devices of this project; a second run builds only files that have
changed."""

import argparse

from .. import qemu
from ..paths import shown
from ..steps import build_lock


def start():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument('--version', choices=qemu.VERSIONS, default=qemu.DEFAULT)
    p.add_argument('--arm', action='store_true',
                   help='also the one for Arm machines')
    p.add_argument('--sanitize', action='store_true',
                   help='a second tree with ASan and UBSan')
    p.add_argument('--tests', action='store_true',
                   help='also the unit tests and qtests')
    args = p.parse_args()
    with build_lock():
        q = qemu.Qemu(args.version, args.sanitize)
        q.build(args.arm, tests=lambda test: args.tests)
    print(shown(q.binary))

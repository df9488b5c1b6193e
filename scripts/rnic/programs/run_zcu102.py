# SPDX-License-Identifier: GPL-2.0-or-later
"""Boots the board zcu102 with exanet-axi, runs COMMAND on it and ends.

The guest is in memory, without a disk: busybox, exanet.ko, exanet-info, exanet-ping,
driver-segment and driver-cdma. The output and the exit code are COMMAND's."""

import argparse
import shlex

from .. import board, build
from ..arch import ARM64


def start():
    p = argparse.ArgumentParser(description=__doc__,
                                usage='run-zcu102 -- COMMAND')
    p.add_argument('command', nargs='+', metavar='COMMAND')
    args = p.parse_args()
    binary = build.everything(arches=[ARM64])
    said, code = board.run(binary, args.command[0] if len(args.command) == 1
                           else shlex.join(args.command))
    print(said)
    return code

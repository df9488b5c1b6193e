# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs MPI in two Linux guests, over the NIC and over TCP.

Installs, fetches and builds all that is needed; a second run boots at once. The variable
QEMU_SRC names a source of QEMU (folder or tarball) in place of Debian's, and RNIC_BUILD the
folder of all products in place of build/."""

import argparse
import sys

from .. import arch, build, mpi, vm
from ..steps import Failed, step


def start():
    p = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('--shell', action='store_true',
                   help='a prompt in both guests instead of the measurement')
    arch.add_pair_options(p)
    args = p.parse_args()
    if args.shell and not sys.stdin.isatty():
        raise Failed('--shell needs a terminal')
    arches = arch.pair_of(args)
    binary = build.everything(shell=args.shell, arches=arches)
    with vm.Pair(binary, 'demo', arches=arches) as pair:
        if args.shell:
            return pair.shell()
        found = {}
        for path, what in (('nic', 'the NIC'), ('tcp', 'TCP on virtio-net')):
            with step(f'MPI ping-pong over {what}') as line:
                found[path] = mpi.pingpong(pair, path, 'demo', progress=line)
    print('\nMPI between two guests, every byte checked\n')
    print(mpi.table(mpi.family(pair).title, found['nic'], found['tcp']))
    return 0

# SPDX-License-Identifier: GPL-2.0-or-later
"""Boots two guests joined by the NIC and runs COMMAND on node0.

node1 is reached by "ssh node1", both by the MPI host file /etc/rnic/hosts.
The output and the exit code are COMMAND's. One argument is a shell command
line; several arguments are a command and its arguments."""

import argparse
import shlex
import sys

from .. import arch, build, families, nics, vm, wires
from ..steps import Failed


def start():
    p = argparse.ArgumentParser(
        description=__doc__,
        usage='run-pair [--share DIR] [--cpus N] [--memory MB] '
              '[--nic KIND[,KIND]] [--arm64 | --mixed] [--wire KIND] '
              '(--shell | -- COMMAND)')
    arch.add_pair_options(p)
    nics.add_option(p)
    wires.add_option(p)
    p.add_argument('--share', metavar='DIR',
                   help='host folder that both guests see at /mnt/host')
    p.add_argument('--cpus', type=int, metavar='N', help='of each guest')
    p.add_argument('--memory', type=int, metavar='MB',
                   help='of each guest, 256 or more; without it 2048, or '
                   '1024 where this machine has less than 8 GB')
    p.add_argument('--shell', action='store_true',
                   help='a prompt in both guests instead of a command')
    p.add_argument('command', nargs='*', metavar='COMMAND')
    args = p.parse_args()
    if args.shell == bool(args.command):
        p.error('give either a command or --shell')
    if args.cpus is not None and not 1 <= args.cpus <= 64:
        p.error('--cpus: 1 to 64')
    if args.memory is not None and args.memory < 256:
        p.error('the guests need 256 MB or more')
    nics.check(p, args)
    if args.shell and not sys.stdin.isatty():
        raise Failed('--shell needs a terminal')
    vm.check_share(args.share)   # Fails before the build, because the build takes long.
    arches = arch.pair_of(args)
    binary = build.everything(shell=args.shell, arches=arches,
                              image=families.nic(args.nic[0]).image)
    with vm.Pair(binary, 'run-pair', cpus=args.cpus, memory=args.memory,
                 share=args.share, kinds=args.nic, arches=arches,
                 wire=args.wire) as pair:
        if args.shell:
            return pair.shell()
        return pair.foreground(args.command[0] if len(args.command) == 1
                               else shlex.join(args.command))

# SPDX-License-Identifier: GPL-2.0-or-later
"""Builds what is needed and runs all tests.

Unit tests and qtests run on this machine, guest tests in two booted guests;
then unit tests and qtests once more with sanitizers. The last line says how
many tests passed and failed; the exit code is 0 only if some ran and none
failed."""

import argparse
import re

from .. import apt, build, qemu, suites, tap
from ..arch import ARM64
from ..steps import build_lock


def start():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument('--fast', action='store_true',
                   help='no guests, no sanitizers')
    p.add_argument('--full', action='store_true',
                   help='also clusters of 16 nodes, LAMMPS and everything '
                        'over RoCE, one or two hours')
    p.add_argument('--arm64', action='store_true',
                   help='only guest tests, in guests for arm64')
    p.add_argument('--qemu', choices=qemu.VERSIONS, default=qemu.DEFAULT,
                   help='another version: unit tests and qtests only')
    p.add_argument('--sanitize', action='store_true',
                   help='only unit tests and qtests, only with sanitizers')
    p.add_argument('--only', metavar='PATTERN', default='',
                   help='regular expression on the names of test programs')
    p.add_argument('--soak', metavar='MIN', type=int, default=0,
                   help='and random networks with random faults for MIN '
                        'minutes, with sanitizers too if these are asked for')
    args = p.parse_args()
    if args.soak < 0:
        p.error(f'--soak {args.soak}: at least 1 minute')
    try:
        re.compile(args.only)
    except re.error as e:
        p.error(f'--only {args.only}: {e}')
    if args.full and (args.fast or args.sanitize
                      or args.qemu != qemu.DEFAULT):
        p.error('--full goes with no other selection but --only')
    if args.arm64 and (args.fast or args.full or args.sanitize or args.soak
                       or args.qemu != qemu.DEFAULT):
        p.error('--arm64 goes with no other selection but --only')
    summary = tap.Summary()
    if args.arm64:
        suites.guests(build.everything(arches=[ARM64]), args.only, summary,
                      ARM64)
        return summary.finish()
    apt.ensure_packages(['procps'])
    full = not args.fast and args.qemu == qemu.DEFAULT
    if not args.sanitize:
        with build_lock():
            q = qemu.Qemu(args.qemu).build(tests=True)
        suites.host(q, args.only, summary)
        if args.soak:
            suites.soak(q, args.soak, summary)
    if full and not args.sanitize:
        suites.guests(q.binary, args.only, summary, full=args.full)
        suites.scripts(args.only, summary, args.full)
    if args.sanitize or full and not args.only:
        with build_lock():
            q = qemu.Qemu(args.qemu, sanitize=True).build(tests=True)
        suites.host(q, args.only, summary)
        if args.soak and args.sanitize:
            suites.soak(q, args.soak, summary)
    return summary.finish()

# SPDX-License-Identifier: GPL-2.0-or-later
"""Builds the needed programs and runs the tests.

Without options, unit tests and qtests run on this machine with sanitizers, a few of them
without; each fuzz target gets a fixed number of inputs, for a limited time; guest tests
run in two booted guests; some tests of scripts boot guests themselves. The last line says
how many tests passed and failed; the exit code is 0 only if some passed and none failed."""

import argparse
import contextlib
import os
import random
import re

from .. import apt, build, families, fuzz, qemu, suites, tap
from ..arch import ARCHES, ARM64
from ..steps import Failed, build_lock

# Pairs (image, processor) of the guests that the gate builds.
_GUESTS = tuple((image, arch) for name, arch in ARCHES.items() for image in
                dict.fromkeys(nic.image for nic in families.NICS.values()
                              if name in nic.devices))


def start():
    args = _arguments()
    if args.list:
        suites.show(args.only)
        return 0
    summary = tap.Summary()
    guests = not args.fast and not args.sanitize and args.qemu == qemu.DEFAULT
    if args.only and not _selected(args, guests):
        raise Failed(f'--only {args.only}: no test that would run has such a name; '
                     'scripts/test --list prints all names')
    if args.arm64:
        suites.guests(build.everything(arches=[ARM64]), args.only, summary,
                      ARM64)
        return summary.finish()
    if args.fuzz or args.fuzz_qemu:
        _fuzz(args, summary)
        return summary.finish()
    if args.full:
        seed = os.environ.setdefault('RNIC_TEST_SEED',
                                     str(random.randrange(1, 1 << 32)))
        print(f'RNIC_TEST_SEED={seed}', flush=True)
    apt.ensure_packages(['procps'])
    with contextlib.ExitStack() as meanwhile:
        if guests and not args.only:
            meanwhile.enter_context(build.guests_meanwhile(_GUESTS))
        plain, sanitized = _trees(args, guests)
    if plain:
        _host(args, plain, summary)
    if sanitized:
        _host(args, sanitized, summary)
    if guests:
        fuzz.gate(plain, args.only, summary)
        # With --full the tests of scripts run after the guest tests, because the limits of
        # long tests assume an idle machine.
        with contextlib.nullcontext() if args.full else \
                suites.scripts_meanwhile(args.only, summary):
            suites.guests(plain.binary, args.only, summary, full=args.full)
        if args.full:
            suites.scripts(args.only, summary, full=True)
    return summary.finish()


def _arguments():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument('--fast', action='store_true',
                   help='no guests, no sanitizers, no Arm machines')
    p.add_argument('--full', action='store_true',
                   help='also clusters of 16 nodes, LAMMPS, everything over '
                        'RoCE, the driver in a kernel with KASAN and '
                        'lockdep, and all unit tests and qtests without '
                        'sanitizers too; some hours')
    p.add_argument('--arm64', action='store_true',
                   help='only guest tests, in guests for arm64')
    p.add_argument('--qemu', choices=qemu.VERSIONS, default=qemu.DEFAULT,
                   help='another version: unit tests and qtests only')
    p.add_argument('--sanitize', action='store_true',
                   help='only unit tests and qtests, only with sanitizers')
    p.add_argument('--only', metavar='PATTERN', default='',
                   help='regular expression on the names of tests; those of '
                        'this machine run without sanitizers')
    p.add_argument('--soak', metavar='MIN', type=int,
                   help='and random networks with random faults for MIN '
                        'minutes, with sanitizers if these are asked for')
    p.add_argument('--list', action='store_true',
                   help='only print all tests, their suites and which '
                        'selection runs them')
    p.add_argument('--fuzz', metavar='MIN', type=int,
                   help='only the fuzz targets, for MIN minutes')
    p.add_argument('--fuzz-qemu', metavar='MIN', type=int,
                   help="only QEMU's generic fuzzer, for MIN minutes")
    args = p.parse_args()
    for name in ('soak', 'fuzz', 'fuzz_qemu'):
        minutes = getattr(args, name)
        if minutes is not None and minutes < 1:
            p.error(f'--{name.replace("_", "-")} {minutes}: at least 1 minute')
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
    return args


def _selection(args):
    """Returns the name of the selection for suites.plain()."""
    if args.fast:
        return 'fast'
    if args.full or args.only or args.qemu != qemu.DEFAULT:
        return 'full'
    return 'gate'


def _selected(args, guests):
    """Returns names of tests that ARGS select, not always all of them, or the word "all" for
    --fuzz-qemu; an empty list if ARGS select no test. Builds nothing, but may configure a
    tree."""
    if args.arm64:
        return suites.guest_names(args.only, ARM64)
    if args.fuzz_qemu:
        return ['all']       # --fuzz-qemu ignores --only
    if args.fuzz:
        return fuzz.targets(args.only)
    names = fuzz.targets(args.only) + suites.guest_names(
        args.only, full=args.full) + suites.script_names(
            args.only, args.full) if guests else []
    if not names:
        with build_lock():
            tree = qemu.Qemu(args.qemu, sanitize=args.sanitize).configure()
        names = [t.name for t in tree.tests(_wanted(args, tree))]
    return names


def _trees(args, guests):
    """Builds the trees of QEMU that the selected tests require: the tree without sanitizers,
    unless --sanitize is given, and the tree with sanitizers, if --sanitize is given, or if the
    guest tests run (GUESTS) and --only is not given. Returns both, in this order; instead of a
    tree that is not required, returns a false value."""
    with_sanitizers = args.sanitize or guests and not args.only
    found = [not args.sanitize and qemu.Qemu(args.qemu),
             with_sanitizers and qemu.Qemu(args.qemu, sanitize=True)]
    with build_lock():
        for tree in filter(None, found):
            tree.build(tests=_wanted(args, tree))
    return found


def _wanted(args, tree):
    """Returns a function that returns a true value if ARGS select a given test in TREE."""
    runs = suites.sanitized if tree.sanitize else suites.plain(_selection(args))

    def wanted(test):
        if test.soak:
            return args.soak and tree.sanitize == args.sanitize
        return runs(test) and re.search(args.only, test.name)
    return wanted


def _host(args, tree, summary):
    """Runs the unit tests and qtests that ARGS select in TREE, and with --soak the soak
    tests."""
    wanted = _wanted(args, tree)
    suites.host(tree, lambda test: not test.soak and wanted(test), summary)
    if args.soak and tree.sanitize == args.sanitize:
        suites.soak(tree, args.soak, summary)


def _fuzz(args, summary):
    """Builds and runs the fuzz targets with --fuzz, and QEMU's generic fuzzer with --fuzz-qemu,
    for the given minutes."""
    if args.fuzz:
        with build_lock():
            q = qemu.Qemu(args.qemu).build()
        fuzz.soak(q, args.fuzz, args.only, summary)
    if args.fuzz_qemu:
        with build_lock():
            fuzz.generic(args.fuzz_qemu, summary)

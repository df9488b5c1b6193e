# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures with perftest between two guests with pvrdma, and then between two guests with
Linux' soft-RoCE over virtio-net.

Aims: the bandwidth of 64-KiB writes and reads is at least 20 times that of soft-RoCE, and at
least 800 MB/s; the latency of 8-B writes is at most an eighth of soft-RoCE's; and 256
queue pairs have at least half of the bandwidth of one queue pair. The exit code is 1 if
an aim is missed."""

import re
import statistics

from .. import vm, wires
from ..families.pvrdma import FAMILY
from ..steps import Failed, log_path, step
from . import positive

IMAGE = FAMILY.nics[0].image
KINDS = tuple(n.name for n in FAMILY.nics)      # The first is compared with the second kind.
_SECONDS = 120             # time limit of one program
_MIB = 1.048576            # number of MB in one MiB
# Test -> (command, column of its figure, factor from the figure to MB/s or microseconds).
TESTS = {
    'ib_write_bw 64 KiB, MB/s': ('ib_write_bw -s 65536 -D {t}', 3, _MIB),
    'ib_read_bw 64 KiB, MB/s': ('ib_read_bw -s 65536 -D {t}', 3, _MIB),
    'ib_send_bw 64 KiB, MB/s': ('ib_send_bw -s 65536 -D {t}', 3, _MIB),
    'ib_write_bw 64 KiB, 256 QPs, MB/s':
        ('ib_write_bw -s 65536 -q 256 -t 4 -u 20 -D {t}', 3, _MIB),
    'ib_write_lat 8 B, us': ('ib_write_lat -s 8 -n {n}', 4, 1),
    'ib_read_lat 8 B, us': ('ib_read_lat -s 8 -n {n}', 4, 1),
    'ib_send_lat 8 B, us': ('ib_send_lat -s 8 -n {n}', 4, 1)}
_LEAST = 800               # minimum of MB/s for a test of bandwidth in AIMS
# Test -> its aim: how many times better than with soft-RoCE the figure is.
AIMS = {'ib_write_bw 64 KiB, MB/s': 20, 'ib_read_bw 64 KiB, MB/s': 20,
        'ib_write_lat 8 B, us': 8}
# A test with many QPs, the same test with one QP, and the minimum of the first test's bandwidth
# divided by that of the second test.
_MANY = 'ib_write_bw 64 KiB, 256 QPs, MB/s'
_ONE = 'ib_write_bw 64 KiB, MB/s'
_PART = 0.5


def options(parser):
    """Adds the options of scripts/bench roce."""
    parser.add_argument('--rounds', type=positive, default=3, metavar='N',
                        help='of everything in turns; medians are shown')
    parser.add_argument('--seconds', type=positive, default=4, metavar='N',
                        help='of each measurement of bandwidth')
    parser.add_argument('--messages', type=positive, default=2000,
                        metavar='N', help='of each measurement of latency')
    wires.add_option(parser)


def _call(pair, kind, program, column):
    """Runs PROGRAM of perftest on both guests of PAIR, and returns the figure in COLUMN of the
    last line of results. If PROGRAM fails, returns 0 for soft-RoCE and raises Failed for
    pvrdma."""
    log = log_path(f'bench-roce-{kind}')
    program += ' -d roce0 -F'
    r = pair.nodes[0].run(
        f'ssh node1 timeout {_SECONDS} {program} </dev/null >/dev/null 2>&1 & '
        'for i in $(seq 100); do '
        'ssh node1 ss -Hltn sport = :18515 | grep -q . && break; done; '
        f'{program} 10.77.0.2; code=$?; wait; exit $code', _SECONDS,
        capture_output=True, text=True)
    log.write_text(r.stdout + r.stderr, encoding='utf-8')
    rows = re.findall(r'^ *\d+ +\d+ +[\d.]+ .*', r.stdout, re.M)
    if (r.returncode or not rows) and kind != KINDS[0]:
        return 0.0         # Soft-RoCE may fail under high load.
    if r.returncode or not rows:
        raise Failed(f'{program} with {kind} ended with code {r.returncode}',
                     log)
    return float(rows[-1].split()[column])


def _measure(binary, kind, args):
    """Returns {test: figures of all rounds} of two guests with NICs of KIND."""
    found = {name: [] for name in TESTS}
    with vm.Pair(binary, f'bench-{kind}', kinds=(kind, kind), wire=args.wire) as pair:
        for i in range(args.rounds):
            with step(f'perftest with {kind}, round {i + 1} of '
                      f'{args.rounds}'):
                for name, (program, column, factor) in TESTS.items():
                    figure = _call(pair, kind, program.format(
                        t=args.seconds, n=args.messages), column)
                    found[name].append(figure * factor)
    return found


def _times(name, one, other):
    """Returns how many times better figure ONE is than figure OTHER of test NAME; None if
    one of the figures is 0."""
    if not one or not other:
        return None
    return one / other if name.endswith('MB/s') else other / one


def _reached(name, medians):
    """Returns the aim of test NAME as text, and True or False: whether the test reaches the
    aim. Returns an empty text and None for a test without an aim. If the aim compares with
    soft-RoCE, and soft-RoCE has failed, the second value is False if the test misses its
    minimum in MB/s, and None otherwise."""
    one, other = (medians[kind][name] for kind in KINDS)
    if name == _MANY:
        return f'{_PART:.0%} of 1 QP', one >= _PART * medians[KINDS[0]][_ONE]
    if name not in AIMS:
        return '', None
    least = _LEAST if name.endswith('MB/s') else 0
    text = f'{AIMS[name]} times' + (f', {least} MB/s' if least else '')
    times = _times(name, one, other)
    if times is None:
        return text, None if one >= least else False
    return text, times >= AIMS[name] and one >= least


def missed(medians):
    """Returns the names of the tests that miss their aims. MEDIANS are {kind: {test:
    figure}}."""
    return [name for name in TESTS if _reached(name, medians)[1] is False]


def table(medians):
    """Returns the lines of a table with MEDIANS and with the aims of the tests."""
    lines = [f'{"":36} {KINDS[0]:>9} {KINDS[1]:>9} {"times":>7}  aim']
    for name in TESTS:
        one, other = (medians[kind][name] for kind in KINDS)
        times, (aim, good) = _times(name, one, other), _reached(name, medians)
        said = {True: ': reached', False: ': missed',
                None: f': {KINDS[1]} failed'}[good] if aim else ''
        shown = '-' if times is None else f'{times:.1f}'
        lines.append(f'{name:36} {one:9.1f} {other:9.1f} {shown:>7}  '
                     f'{aim}{said}'.rstrip())
    return lines


def run(binary, args):
    """Measures both kinds and prints the table; returns all figures, and the names of tests
    that miss their aims."""
    rounds = {kind: _measure(binary, kind, args) for kind in KINDS}
    medians = {kind: {name: statistics.median(r) for name, r in found.items()}
               for kind, found in rounds.items()}
    print(f'\nperftest between two guests, medians of {args.rounds}; 0.0 '
          'is a failure\n')
    print('\n'.join([*table(medians), '']))
    return {'rounds': rounds, 'median': medians, 'missed': missed(medians)}

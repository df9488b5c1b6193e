# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures STREAM and the kernel of a climate model between two guests for arm64 with the NIC
on AXI. Both programs run on node0. Their data are in local DRAM, in local and remote block
RAM, and in memory of a process on node1. The figures of the document are printed beside the
measured ones.

An emulator has other absolute times than the hardware. Its ratios differ, too, because the host
needs about the same time for each access; only property shm-timing=on gives the document's
ratios, in virtual time."""

import json
import statistics

from .. import vm
from ..arch import ARM64
from ..steps import Failed, log_path, step
from . import positive

ARCHES = (ARM64, ARM64)
PLACES = ('dram', 'bram', 'remote-bram', 'remote')
KERNELS = ('Copy', 'Scale', 'Add', 'Triad')
# Figures of J. Lant et al., "Enabling Shared Memory Communication in Networks of MPSoCs",
# 2018. Table 4, MB/s by kernel.
STREAM = {'dram': (3345, 1826, 2033, 1683), 'bram': (45.4, 44.0, 44.2, 44.6),
          'remote-bram': (4.8, 4.7, 4.7, 4.7)}
# Table 5, seconds.
CLIMATE = {('cpu', 'dram'): 0.077698, ('cpu', 'bram'): 7.520,
           ('cpu', 'remote-bram'): 68.232, ('accel', 'bram'): 2.533,
           ('accel', 'remote-bram'): 24.186}


def options(parser):
    """Adds the options of scripts/bench axi."""
    parser.add_argument('--rounds', type=positive, default=3, metavar='N',
                        help='of everything in turns; medians are shown')
    parser.add_argument('--elements', type=positive, metavar='N',
                        help='of the arrays of STREAM, everywhere')
    parser.add_argument('--mesh', default='4x4', metavar='XxY',
                        help='cells of the climate model')


def _call(pair, command):
    """Runs COMMAND on node0 and returns its results. COMMAND prints each result as a line of
    JSON. Fails if the exit code is not 0."""
    log = log_path('bench-axi')
    r = pair.nodes[0].run(command, 300, capture_output=True, text=True)
    log.write_text(r.stdout + r.stderr, encoding='utf-8')
    if r.returncode:
        why = (r.stderr.strip().splitlines() or [f'code {r.returncode}'])[-1]
        raise Failed(why, log)
    return [json.loads(line) for line in r.stdout.splitlines()]


def _round(pair, args):
    """Runs STREAM, and the climate model by the processor and by the accelerator. Returns the
    rates of STREAM in MB/s and the seconds of the climate model. Fails if the checksums of
    the climate model differ."""
    elements = f'-n {args.elements}' if args.elements else ''
    stream = {(r['place'], r['kernel']): r['mb_per_s'] for r in _call(
        pair, f'exanet-stream -j {elements} 1')}
    climate, sums = {}, set()
    for accel in ('', '-a'):
        for r in _call(pair, f'exanet-climate -j -m {args.mesh} {accel} 1'):
            climate[r['by'], r['place']] = r['seconds']
            sums.add(r['checksum'])
    if len(sums) != 1:
        raise Failed('the climate kernel has different results: '
                     + ', '.join(sorted(sums)))
    return stream, climate


def _cell(value, width=10):
    if value is None:
        return f'{"":>{width}}'
    digits = next(d for limit, d in ((1000, 0), (10, 1), (0.01, 3), (0, 6))
                  if value >= limit)
    return f'{value:{width}.{digits}f}'


def _show_stream(found):
    """Prints the rates FOUND and those of the document, and how many times slower each rate is
    than the rate with local block RAM."""
    print('\nSTREAM, MB/s, all results right; in brackets: times slower than '
          'local block RAM\n')
    print(f'{"":12}' + ''.join(f'{k:>21}' for k in KERNELS))
    for place in PLACES:
        for who, rate in (('here', lambda k: found[place, k]),
                          ('document', lambda k: STREAM[place][
                              KERNELS.index(k)])):
            if who == 'document' and place not in STREAM:
                continue
            base = (lambda k: found['bram', k]) if who == 'here' else \
                (lambda k: STREAM['bram'][KERNELS.index(k)])
            print(f'{place if who == "here" else "  document":12}' + ''.join(
                f'{_cell(rate(k))} ({_cell(base(k) / rate(k), 8)})'
                for k in KERNELS))
    print()


def _show_climate(found):
    """Prints the seconds FOUND and those of the document, and their ratios to two cases: the
    processor with data in local DRAM, and the same master (processor or accelerator) with
    data in local block RAM."""
    print('kernel of a climate model, the same bits everywhere\n')
    print(f'{"":26}{"here":^32}{"document":^32}')
    print(f'{"by":6}{"data in":20}'
          + f'{"seconds":>10}{"/ dram":>10}{"/ bram":>10}  ' * 2)
    for (who, place), seconds in found.items():
        documented = CLIMATE.get((who, place))
        print(f'{who:6}{place:20}'
              + _row(seconds, found, who)
              + (_row(documented, CLIMATE, who) if documented else ''))
    print()


def _row(seconds, table, who):
    return _cell(seconds) + _cell(seconds / table['cpu', 'dram']) \
        + _cell(seconds / table[who, 'bram']) + '  '


def _medians(rounds):
    return {k: statistics.median(r[k] for r in rounds) for k in rounds[0]}


def _plain(table):
    """Returns TABLE with strings as keys, for JSON."""
    return {' '.join(k): v for k, v in table.items()}


def run(binary, args):
    """Prints the tables of STREAM and of the climate model. Returns all figures."""
    rounds = []
    with vm.Pair(binary, 'bench-axi', arches=ARCHES) as pair:
        _call(pair, 'ssh -f node1 exanet-stream --server </dev/null '
                    '>/dev/null 2>&1')
        for i in range(args.rounds):
            with step(f'STREAM and climate kernel, round {i + 1} of '
                      f'{args.rounds}'):
                rounds.append(_round(pair, args))
    stream, climate = (_medians([r[i] for r in rounds]) for i in (0, 1))
    _show_stream(stream)
    _show_climate(climate)
    return {'rounds': [[_plain(t) for t in r] for r in rounds],
            'median': {'stream_MBps': _plain(stream),
                       'climate_s': _plain(climate)}}

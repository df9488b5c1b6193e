# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures the weak scaling of LAMMPS, a Lennard-Jones melt, over the NIC and over TCP.

Each guest has the same number of atoms. For 2 guests and more, the same box runs in one
process, on all these guests over the NIC, and on all these guests over TCP. Energy,
temperature and pressure must be the same in the three runs, in all digits that LAMMPS
prints."""

import re
import statistics
from pathlib import Path

from .. import mpi, topology, vm
from ..steps import Failed, log_path, step
from . import positive

IMAGE = 'lammps'
TOPOLOGY = {8: 'torus4x2', 16: 'torus4x4'}
# Number of guests -> the document's ratio of times, Ethernet to the NIC.
REFERENCE = {8: 1.6, 16: 3.1}
_SECONDS = 900
_LOOP = re.compile(r'Loop time of ([\d.]+) on (\d+) procs for \d+ steps with '
                   r'(\d+) atoms')
_DECK = Path(__file__).with_name('in.lj')


def options(parser):
    """Adds the options of scripts/bench lammps."""
    parser.add_argument('--nodes', type=int, choices=TOPOLOGY, default=8,
                        help='of the largest run')
    parser.add_argument('--cells', type=positive, default=5, metavar='N',
                        help='edge of the box of a guest, with 4 N^3 atoms')
    parser.add_argument('--steps', type=positive, default=100, metavar='N')
    parser.add_argument('--rounds', type=positive, default=3, metavar='N',
                        help='over NIC and TCP in turns; medians are shown')


def _box(count, cells):
    """Returns the three edges, in cells, of the box of COUNT guests. COUNT is a power of 2.
    Each doubling of COUNT doubles the next edge."""
    edges = [cells] * 3
    for i in range(count.bit_length() - 1):
        edges[i % 3] *= 2
    return edges


def parse(text):
    """Returns the seconds, the number of atoms, and the lines with thermodynamic figures in
    TEXT, the output of a run. Returns None if TEXT lacks the line "Loop time" or the lines with
    figures."""
    loop = _LOOP.search(text)
    lines = re.findall(r'^\s*(\d+(?:\s+-?[\d.e+-]+){5})\s*$', text, re.M)
    if not loop or not lines:
        return None
    return float(loop[1]), int(loop[3]), [' '.join(s.split()) for s in lines]


def _run(cluster, count, path, args):
    """Runs LAMMPS once with the box of COUNT guests; returns the result of parse(). PATH is
    'nic' or 'tcp', or None for a single process."""
    x, y, z = _box(count, args.cells)
    program = f'lmp -in /tmp/in.lj -log none -var x {x} -var y {y} -var z {z} ' \
              f'-var steps {args.steps}'
    if path:
        program = f'mpirun --hostfile /etc/rnic/hosts -n {count} ' \
                  f'{mpi.options(cluster, path)} {program}'
    log = log_path(f'bench-lammps-{path or "single"}')
    r = cluster.nodes[0].run(f'export OMP_NUM_THREADS=1; {program}', _SECONDS,
                             capture_output=True, text=True)
    log.write_text(r.stdout + r.stderr, encoding='utf-8')
    found = parse(r.stdout)
    if r.returncode or not found:
        raise Failed(f'LAMMPS on {count} guests ended with code '
                     f'{r.returncode}', log)
    return found


def measure(cluster, count, args):
    """Runs LAMMPS in one process, and with COUNT guests over the NIC and over TCP; returns the
    figures. Fails if the thermodynamic figures differ."""
    with step(f'LAMMPS for {count} guests in one process'):
        single, atoms, want = _run(cluster, count, None, args)
    times = {'nic': [], 'tcp': []}
    for i in range(args.rounds):
        for path, found in times.items():
            with step(f'LAMMPS on {count} guests over {path.upper()}, round '
                      f'{i + 1} of {args.rounds}'):
                seconds, _, got = _run(cluster, count, path, args)
            if got != want:
                raise Failed(f'LAMMPS on {count} guests over {path.upper()} '
                             'computes something else than in one process',
                             log_path(f'bench-lammps-{path}'))
            found.append(seconds)
    return {'atoms': atoms, 'single': single, 'thermo': want, 'rounds': times,
            **{path: statistics.median(t) for path, t in times.items()}}


def run(binary, args):
    """Prints the table; returns {number of guests: figures}, and the seconds of one guest as
    "alone"."""
    topo = topology.load(TOPOLOGY[args.nodes])
    topo.image = IMAGE
    counts = [n for n in (2, 4, 8, 16) if n <= args.nodes]
    with vm.Cluster(binary, 'bench-lammps', topo) as cluster:
        if cluster.nodes[0].run('cat > /tmp/in.lj', input=_DECK.read_bytes(),
                                stdin=None).returncode:
            raise Failed('the input cannot be copied to node0')
        with step('LAMMPS on one guest'):
            alone, _, _ = _run(cluster, 1, None, args)
        found = {n: measure(cluster, n, args) for n in counts}
    print('\nLAMMPS, Lennard-Jones melt, weak scaling: seconds for '
          f'{args.steps} steps, medians of {args.rounds};\nenergy, temperature '
          'and pressure are those of one process in every printed digit\n')
    print(f'{"guests":>6} {"atoms":>7} {"1 process":>10} {"NIC":>9} {"TCP":>9} '
          f'{"TCP/NIC":>8} {"document":>9}')
    print(f'{1:6} {4 * args.cells ** 3:7} {alone:10.2f}')
    for n, f in found.items():
        reference = f'{REFERENCE[n]:.1f}' if n in REFERENCE else ''
        print(f'{n:6} {f["atoms"]:7} {f["single"]:10.2f} {f["nic"]:9.2f} '
              f'{f["tcp"]:9.2f} {f["tcp"] / f["nic"]:8.2f} {reference:>9}')
    print()
    return {'alone': alone, **found}

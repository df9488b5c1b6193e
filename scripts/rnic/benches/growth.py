# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures how start-up time and host memory grow with the number of nodes."""

import re
import time
from pathlib import Path

from .. import mpi, topology, vm
from ..steps import Failed, step

TOPOLOGIES = ('pair', 'torus2x2', 'torus4x2', 'torus4x4')
LIMIT = 300      # MB of host memory, without guest RAM, that a node should not exceed
# All nodes exchange messages with each other, so that all nodes use their buffers.
_LOAD = ('timeout 900 mpirun --hostfile /etc/rnic/hosts -n {n} '
         '{options} /usr/lib/rnic/tests/mpi-coll')


def options(parser):
    """Adds the options of scripts/bench growth."""
    parser.add_argument('--topology', action='append', metavar='T',
                        help='instead of ' + ', '.join(TOPOLOGIES)
                        + '; several times')


def memory(pid, ram):
    """Returns {kind: MB of host memory of process PID}. Kind "ram" is guest RAM, whose size is the
    argument RAM, "code" is translated code, and "rest" is all other memory. A page that several
    processes share counts for each process with an equal part (Pss)."""
    found, kind = {'ram': 0, 'code': 0, 'rest': 0}, 'rest'
    for line in Path(f'/proc/{pid}/smaps').read_text(
            encoding='utf-8').splitlines():
        m = re.match(r'([0-9a-f]+)-([0-9a-f]+) (\S{4}) ', line)
        if m:
            size = int(m[2], 16) - int(m[1], 16)
            # A mapping that is at least as large as guest RAM, and not executable, counts as
            # guest RAM. Of the others, a writable and executable mapping counts as
            # translated code.
            kind = 'ram' if size >= ram << 20 and 'x' not in m[3] \
                else 'code' if 'wx' in m[3] else 'rest'
        elif line.startswith('Pss:'):
            found[kind] += int(line.split()[1]) / 1024
    return found


def _one(binary, name, topo):
    begin = time.monotonic()
    with vm.Cluster(binary, 'bench-growth', topo) as cluster:
        seconds = time.monotonic() - begin
        n = len(cluster.nodes)
        with step(f'MPI collectives of {n} nodes'):
            r = cluster.nodes[0].run(_LOAD.format(n=n, options=mpi.options(cluster, 'nic')),
                                     capture_output=True, text=True)
        if r.returncode:
            raise Failed(f'MPI on {name} ended with code {r.returncode}: '
                         f'{(r.stdout + r.stderr)[-300:]}')
        each = [memory(node.process.pid, node.memory)
                for node in cluster.nodes]
    return {'nodes': n, 'seconds': seconds, 'each': each}


def run(binary, args):
    """Measures each topology and prints the table; returns {topology: figures}. Fails if a
    topology has several hosts."""
    wanted = {name: topology.load(name)
              for name in args.topology or TOPOLOGIES}
    for name, topo in wanted.items():
        if topo.hosts:
            raise Failed(f'{name} is on several hosts')
    found = {name: _one(binary, name, topo)
             for name, topo in wanted.items()}
    print('\nstart-up, and host memory in MB after MPI collectives of all '
          'nodes; mean of a node\n')
    print(f'{"topology":10} {"nodes":>5} {"start s":>8} {"guest RAM":>10} '
          f'{"code":>8} {"rest":>8} {"beside RAM":>11} {"largest":>8} '
          f'{"all":>8}')
    for name, f in found.items():
        mean = {k: sum(e[k] for e in f['each']) / f['nodes']
                for k in f['each'][0]}
        beside = [e['code'] + e['rest'] for e in f['each']]
        f.update(mean=mean, beside=max(beside))
        print(f'{name:10} {f["nodes"]:5} {f["seconds"]:8.1f} '
              f'{mean["ram"]:10.1f} {mean["code"]:8.1f} {mean["rest"]:8.1f} '
              f'{mean["code"] + mean["rest"]:11.1f} {max(beside):8.1f} '
              f'{sum(sum(e.values()) for e in f["each"]):8.0f}')
    worst = max(f['beside'] for f in found.values())
    print(f'\nlargest cost of a node beside its RAM: {worst:.0f} MB of '
          f'{LIMIT} MB\n')
    return found

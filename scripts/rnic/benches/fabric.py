# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures networks of many guests: throughput and message rate by the number of hops,
incast, and the growth of start-up time and memory.

For throughput, message rate and incast, the links have a low rate, so that the network limits
the throughput. Without a rate, the cores of this machine would limit it, because all nodes
share them."""

import re
import statistics

from .. import mpi, topology, vm
from ..steps import Failed, log_path, step
from . import growth, positive

_MPI = ('mpirun --map-by node --mca osc rdma --mca btl ofi,self --mca mtl ofi '
        '--mca mpi_yield_when_idle 1')
_FLOW = re.compile(r'flow=(\d+):(\d+) bytes=(\d+) MBps=([\d.]+) '
                   r'per_s=([\d.]+)')
_HOPS = 6
_HOPS_RATE, _INCAST_RATE, _BYSTANDER_RATE = '100M', '20M', '6M'
_PARTS = ('hops', 'incast', 'growth')


def options(parser):
    """Adds the options of scripts/bench fabric."""
    parser.add_argument('--rounds', type=positive, default=3)
    parser.add_argument('--only', choices=_PARTS, action='append',
                        help='a part of it; can be given several times')
    growth.options(parser)


def run(binary, args):
    """Runs the chosen parts and prints their tables; returns {part: figures}."""
    parts = {'hops': lambda: hops(binary, args.rounds),
             'incast': lambda: incast(binary, args.rounds),
             'growth': lambda: growth.run(binary, args)}
    return {part: parts[part]() for part in args.only or _PARTS}


def flows(cluster, hosts, wanted, options='', seconds=3):
    """Runs the streams WANTED at the same time, for SECONDS, between HOSTS, one rank on each
    host. A stream is SRC:DST, two numbers of ranks. Returns {'SRC:DST': (MB/s, writes per
    second)}. Fails if the program fails, for example because it finds wrong data at the end."""
    command = f'timeout 300 {_MPI} -x FI_PROVIDER={mpi.family(cluster).name} ' \
              f'--host {",".join(hosts)} -n {len(hosts)} ' \
              f'/usr/lib/rnic/tests/mpi-flows -t {seconds} {options} ' \
              + ' '.join(wanted)
    log = log_path(f'{cluster.name}-flows')
    r = cluster.nodes[0].run(command, 320, capture_output=True, text=True)
    log.write_text(f'{command}\n{r.stdout}{r.stderr}', encoding='utf-8')
    for node in cluster.nodes:
        node.check()
    found = {f'{m[1]}:{m[2]}': (float(m[4]), float(m[5]))
             for m in _FLOW.finditer(r.stdout)}
    if r.returncode or len(found) != len(wanted):
        raise Failed(f'streams ended with code {r.returncode}', log)
    return found


def _cluster(binary, name, text):
    return vm.Cluster(binary, name, topology.parse(text, name))


def _medians(rounds):
    return {k: tuple(statistics.median(r[k][i] for r in rounds)
                     for i in range(2)) for k in rounds[0]}


def hops(binary, rounds):
    """Measures the throughput and the message rate of one stream over 1 to 6 links."""
    text = f'[cluster]\nmesh = {_HOPS + 1}\nrate = {_HOPS_RATE}\n' \
           'memory = 384\n'
    table, rates = {}, {}
    with _cluster(binary, 'bench-hops', text) as c:
        for n in range(1, _HOPS + 1):
            with step(f'streams over {n} link{"s" if n > 1 else ""}'):
                hosts = [c.nodes[0].name, c.nodes[n].name]
                table[n] = _medians([flows(c, hosts, ['0:1'], '-b 1048576')
                                     for _ in range(rounds)])['0:1'][0]
                rates[n] = _medians([flows(c, hosts, ['0:1'], '-b 8 -w 64')
                                     for _ in range(rounds)])['0:1'][1]
    first = table[1]
    print(f'\none stream over links of {_HOPS_RATE}b/s, 1-MiB writes; 8-byte '
          f'writes; medians of {rounds}\n\n'
          f'{"hops":>4} {"MB/s":>8} {"of 1 hop":>9} {"writes/s":>9}')
    for n, mb in table.items():
        print(f'{n:4} {mb:8.2f} {mb / first:9.1%} {rates[n]:9.0f}')
    return {'rate': _HOPS_RATE, 'MBps': table, 'writes_per_s': rates}


def jain(values):
    """Returns Jain's index of fairness: 1 if all VALUES are equal, 1/n if all but one are
    0."""
    return sum(values) ** 2 / (len(values) * sum(v * v for v in values))


def incast(binary, rounds):
    """Measures the throughput of nodes 1 to 7 of a line of nodes, which all send to node0 and
    share the last link; and of a bystander, the stream from node8 to node6, whose route leads
    through the busy router of node7."""
    text = f'[cluster]\nmesh = 9\nrate = {_INCAST_RATE}\nmemory = 384\n' \
           f'[node node8]\nrate = {_BYSTANDER_RATE}\n'
    senders, bystander = [f'{n}:0' for n in range(1, 8)], '8:6'
    with _cluster(binary, 'bench-incast', text) as c:
        hosts = [n.name for n in c.nodes]
        alone, found = [], []
        for i in range(rounds):
            with step('the bystander alone, then with seven senders, round '
                      f'{i + 1} of {rounds}'):
                alone.append(flows(c, hosts, [bystander], seconds=5))
                found.append(flows(c, hosts, senders + [bystander],
                                   seconds=10))
        resent = _resent(c)
    alone = _medians(alone)[bystander][0]
    beside = statistics.median(r[bystander][0] for r in found)
    fair = statistics.median(jain([r[k][0] for k in senders]) for r in found)
    found = _medians(found)
    print(f'\nseven senders to one over one link of {_INCAST_RATE}b/s; '
          f'medians of {rounds}\n')
    for name in senders:
        print(f'{name:>6} {found[name][0]:8.3f} MB/s')
    print(f'Jain index {fair:.3f}; blocks sent again {resent}; the bystander '
          f'has {beside / alone:.1%} of its {alone:.3f} MB/s')
    return {'rate': _INCAST_RATE, 'MBps': {k: v[0] for k, v in found.items()},
            'jain': fair, 'resent': resent, 'bystander_alone': alone,
            'bystander_beside': beside}


def _resent(cluster):
    total = 0
    for node in cluster.nodes:
        with node.qmp() as qmp:
            total += sum(v for k, v in qmp.get('counters').items()
                         if k.startswith('retry-'))
    return total

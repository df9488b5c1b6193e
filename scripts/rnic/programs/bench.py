# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures MPI over the NIC and over TCP, the NIC without MPI, memory, and the device model
without a guest. "bench PART" runs another measurement: see "bench PART --help". The exit
code is 1 if a measurement misses an aim.

MPI over the NIC and over TCP run by turns in the same guests. The medians of all rounds are
printed and written to build/bench/*.json."""

import argparse
import json
import os
import platform
import re
import statistics
import subprocess
import sys
import time
from pathlib import Path

from .. import apt, benches, build, host, mpi, qemu, vm, wires
from ..arch import AMD64
from ..families import DEFAULT
from ..paths import BUILD, TOP, shown
from ..steps import Failed, log_path, run, step

PING_SIZES = '8,4K,64K,1M,4M'
PARTS = ('mpi', 'ping', 'memory', 'device')
# Parts with options of their own: name -> module of the package benches.
MORE = benches.parts()
_PING, _DEVICE = f'{DEFAULT.name}-ping', f'{DEFAULT.name}-bench'


def median_tables(tables):
    """Returns {size: (latency, bandwidth)}, the medians of TABLES, which are dictionaries of
    the same form."""
    return {size: tuple(statistics.median(t[size][i] for t in tables)
                        for i in range(2)) for size in tables[0]}


def bench_mpi(pair, rounds, sizes, seconds):
    """Measures MPI over the NIC and over TCP by turns, so that other load of the host affects
    both."""
    found = {'nic': [], 'tcp': []}
    for i in range(rounds):
        for path, tables in found.items():
            with step(f'MPI ping-pong over {path.upper()}, '
                      f'round {i + 1} of {rounds}') as line:
                tables.append(mpi.pingpong(pair, path, 'bench', sizes,
                                           seconds, line))
    medians = {path: median_tables(t) for path, t in found.items()}
    table = mpi.table(mpi.family(pair).title, medians['nic'], medians['tcp'])
    print('\nMPI between two guests, every byte checked, medians of '
          f'{rounds}\n\n{table}\n')
    return {'rounds': found, 'median': medians}


def bench_ping(pair, rounds):
    """Measures the NIC without MPI, by the ping program of its library."""
    results = []
    for i in range(rounds):
        with step(f'{_PING}, round {i + 1} of {rounds}'):
            results.append(_ping(pair))
    rows = {}
    for r in (row for result in results for row in result):
        rows.setdefault((r['mode'], r['bytes']), []).append(r)
    print(f'{_PING}, medians of {rounds}\n')
    print(f'{"mode":10} {"bytes":>8} {"median us":>10} {"MB/s":>10}')
    medians = []
    for (mode, size), found in rows.items():
        us = statistics.median(r['median_us'] for r in found)
        mb = statistics.median(r['mb_per_s'] for r in found)
        medians.append({'mode': mode, 'bytes': size, 'us': us, 'MBps': mb})
        print(f'{mode:10} {size:8} {us:10.1f} {mb:10.1f}')
    print()
    return {'rounds': results, 'median': medians}


def _ping(pair):
    log = log_path('bench-ping')
    command = f'''ssh node1 timeout 120 {_PING} --server --once \
        >/dev/null 2>&1 & timeout 120 {_PING} --json \
        --sizes {PING_SIZES} 1; code=$?; wait; exit $code'''
    r = pair.nodes[0].run(command, 150, capture_output=True, text=True)
    log.write_text(r.stdout + r.stderr, encoding='utf-8')
    if r.returncode:
        raise Failed(f'{_PING} ended with code {r.returncode}', log)
    return json.loads(r.stdout)['results']


def own_memory(node):
    """Returns the MB of resident memory of the QEMU of NODE, without the guest's RAM and
    translated code."""
    total, counts = 0, False
    ram = node.memory * 1024
    for line in Path(f'/proc/{node.process.pid}/smaps').read_text(
            encoding='utf-8').splitlines():
        m = re.match(r'([0-9a-f]+)-([0-9a-f]+) (\S{4}) ', line)
        if m:
            size = (int(m[2], 16) - int(m[1], 16)) // 1024
            # A mapping that is at least as large as guest RAM counts as guest RAM, and a
            # mapping that is writable and executable as translated code.
            counts = size < ram and 'wx' not in m[3]
        elif counts and line.startswith('Rss:'):
            total += int(line.split()[1])
    return total / 1024


def pair_memory(pair):
    """Returns the larger own_memory() of both QEMUs of PAIR, after the guests have used TCP."""
    with step('MPI ping-pong over TCP, before memory is measured'):
        mpi.pingpong(pair, 'tcp', 'bench-memory', seconds=0.3)
    return max(own_memory(n) for n in pair.nodes)


def bench_memory(binary, used):
    """Boots two guests without the NIC, and compares their pair_memory() with USED, the
    pair_memory() of guests with the NIC."""
    with vm.Pair(binary, 'bench-memory', kinds=('', '')) as pair:
        bare = pair_memory(pair)
    print('memory of QEMU beside guest RAM and translated code: '
          f'{used:.1f} MB with the NIC, {bare:.1f} MB without, '
          f'{used - bare:+.1f} MB\n')
    return {'with': used, 'without': bare}


def bench_device(binary_tree, rounds):
    """Measures the speed and the instructions of the device model without a guest."""
    program = binary_tree.program(_DEVICE)
    apt.ensure_packages(['valgrind'])
    found = {}
    for i in range(rounds):
        with step(f'device model without a guest, round {i + 1} of {rounds}'):
            for key, value in _device(program, binary_tree.binary).items():
                found.setdefault(key, []).append(value)
    medians = {k: statistics.median(v) for k, v in found.items()}
    print('device model without a guest\n')
    for key, value in medians.items():
        print(f'{key:40} {value:14.1f}')
    print()
    return medians


def _device(program, binary):
    log = log_path('bench-device')
    run([program], 'bench-device', cwd=binary.parent,
        env={'QTEST_QEMU_BINARY': str(binary)})
    return benches.figures(log.read_text(encoding='utf-8'))


def machine():
    """Returns the properties of the machine and of the software on which figures depend."""
    text = Path('/proc/cpuinfo').read_text(encoding='utf-8')
    model = re.search(r'model name\s*: (.*)', text)
    commit = subprocess.run(['git', '-C', TOP, 'describe', '--always',
                             '--dirty'], capture_output=True, text=True,
                            check=False).stdout.strip()
    return {'cpu': model[1] if model else platform.machine(),
            'cpus': os.cpu_count(),
            'cpus_usable': host.cores(), 'kernel': platform.release(),
            'guest_cpus': vm.default_cpus(), 'qemu': qemu.DEFAULT,
            'load': os.getloadavg()[0], 'accelerator': 'tcg', 'commit': commit,
            'time': time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime())}


def _show_machine(found):
    cores = host.cores()
    of = f' of {found["cpus"]}' if found['cpus'] > cores else ''
    print(f'{cores}{of} core{"s" if cores > 1 else ""}, {found["cpu"]}, QEMU '
          f'{found["qemu"]} with {found["accelerator"].upper()}, commit '
          f'{found["commit"]}, {found["time"]}; load before: '
          f'{found["load"]:.1f}', flush=True)


def start():
    if len(sys.argv) > 1 and sys.argv[1] in MORE:
        return _more(sys.argv[1], MORE[sys.argv[1]])
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument('--fast', action='store_true',
                   help='one round and three sizes')
    p.add_argument('--rounds', type=int, default=5)
    p.add_argument('--only', choices=PARTS, action='append',
                   help='a part of it; can be given several times')
    _cores_option(p)
    wires.add_option(p)
    args = p.parse_args()
    if args.rounds < 1:
        p.error('--rounds: 1 or more')
    host.use_cores(args.cores)
    parts = args.only or PARTS
    rounds = 1 if args.fast else args.rounds
    sizes = (8, 65536, 1048576) if args.fast else tuple(mpi.SIZES)
    binary = build.everything(
        programs=[_DEVICE] if 'device' in parts else [])
    result = {'machine': machine()}
    _show_machine(result['machine'])
    used = 0
    if {'mpi', 'ping', 'memory'} & set(parts):
        with vm.Pair(binary, 'bench', wire=args.wire) as pair:
            if 'mpi' in parts:
                result['mpi'] = bench_mpi(pair, rounds, sizes,
                                          0.2 if args.fast else 0.5)
            if 'ping' in parts:
                result['ping'] = bench_ping(pair, rounds)
            if 'memory' in parts:
                used = pair_memory(pair)
    if used:
        result['memory_MB'] = bench_memory(binary, used)
    if 'device' in parts:
        result['device'] = bench_device(qemu.Qemu(), rounds)
    return _write(result)


def _cores_option(parser):
    parser.add_argument('--cores', type=benches.positive, metavar='N',
                        help='uses only N cores of this machine')


def _more(name, part):
    """Runs PART, which is the module NAME of the package benches, and writes its figures. Fails
    if PART misses an aim."""
    p = argparse.ArgumentParser(prog=f'bench {name}', description=part.__doc__)
    part.options(p)
    _cores_option(p)
    args = p.parse_args(sys.argv[2:])
    host.use_cores(args.cores)
    binary = build.everything(image=getattr(part, 'IMAGE', ''),
                              programs=getattr(part, 'PROGRAMS', ()),
                              arches=getattr(part, 'ARCHES', (AMD64,)))
    found = machine()
    _show_machine(found)
    result = part.run(binary, args)
    _write({'machine': found, name: result})
    if result.get('missed'):
        raise Failed(f'aims missed: {"; ".join(result["missed"])}')
    return 0


def _write(result):
    folder = BUILD / 'bench'
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / time.strftime('%Y%m%d-%H%M%S.json')
    path.write_text(json.dumps(result, indent=1) + '\n', encoding='utf-8')
    print(f'written to {shown(path)}')
    return 0

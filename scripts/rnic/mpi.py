# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs the MPI ping-pong between two guests, over the NIC or over TCP."""

import re
import subprocess

from . import families
from .steps import Failed, log_path
from .vm import spawn

SIZES = [8, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304]
_TCP = '--mca pml ob1 --mca btl tcp,self --mca btl_tcp_if_include 10.77.0.0/16'
_LINE = re.compile(r'size=(\d+) latency_us=([\d.]+) bandwidth_MBps=([\d.]+)')


def family(cluster):
    """Returns the family of the NICs of CLUSTER. All NICs are of the family of the first one,
    because NICs of different families cannot communicate."""
    return families.family(cluster.guests[0].spec.nic)


def options(cluster, path):
    """Returns the options of mpirun by which MPI in the guests of CLUSTER uses PATH: 'nic' or
    'tcp'."""
    return _TCP if path == 'tcp' else family(cluster).mpi


def pingpong(pair, path, name, sizes=tuple(SIZES), seconds=0.5, progress=None):
    """Runs the ping-pong over PATH, 'nic' or 'tcp', with messages of SIZES bytes, and measures
    each size for SECONDS. Returns {size: (microseconds one way, MB/s)}. Fails if a QEMU ends,
    or if the program fails, for example because it finds wrong data. NAME begins the name of
    the log."""
    command = (f'timeout 600 mpirun --hostfile /etc/rnic/hosts -n 2 '
               f'{options(pair, path)} /usr/lib/rnic/tests/mpi-pingpong -m '
               f'-t {seconds} {" ".join(map(str, sizes))}')
    log, found = log_path(f'{name}-pingpong-{path}'), {}
    with open(log, 'w', encoding='utf-8') as out:
        process = spawn([*pair.nodes[0].ssh(), '--', command], text=True,
                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                        stderr=subprocess.STDOUT)
        try:
            for line in process.stdout:
                out.write(line)
                m = _LINE.search(line)
                if m:
                    found[int(m[1])] = float(m[2]), float(m[3])
                    if progress:
                        progress.show(f'{len(found)}/{len(sizes)} sizes,')
            code = process.wait()
        finally:
            process.kill()
            process.wait()
    for node in pair.nodes:
        node.check()
    if code or len(found) != len(sizes):
        raise Failed(f'the ping-pong over {path.upper()} ended with code '
                     f'{code} after {len(found)} of {len(sizes)} sizes', log)
    return found


def table(title, nic, tcp):
    """Returns the text of a table that compares NIC with TCP, two results of pingpong() for the
    same sizes. TITLE is the name of the NIC's family."""
    short = title[:3]
    rows = [f'{"":>8} | {"one-way latency, us":^31} | '
            f'{"bandwidth, MB/s":^31}',
            f'{"bytes":>8} | {title:>10} {"TCP":>10} {f"TCP/{short}":>9} | '
            f'{title:>10} {"TCP":>10} {f"{short}/TCP":>9}']
    rows.insert(2, '-' * len(rows[1]))
    for size in sorted(nic):
        (a, b), (c, d) = nic[size], tcp[size]
        rows.append(f'{size:8} | {a:10.1f} {c:10.1f} {c / a:8.1f}x | '
                    f'{b:10.2f} {d:10.2f} {b / d if d else 0:8.1f}x')
    return '\n'.join(rows)

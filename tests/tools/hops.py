#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Counts the hops of a transfer's way through the code: how often a call enters a file of
hw from another one, on both nodes, from the doorbell to the completion.

A hop is a call of a function of one .c file of hw by another .c file, or by QEMU. A return
is none. A function of a header belongs to the .c file that includes it, whether it is
inlined or not. Callgrind counts the calls of two runs of the program "transfers", which
differ in the number of transfers alone; so caches are warm and the figures repeat
exactly. The packet has 256 bytes: one RDMA write of ExaNet is a data packet, a control
packet and an ack; a SEND of pvrdma is a packet and an acknowledgement."""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from bisect import bisect_right
from collections import Counter, defaultdict
from pathlib import Path

# Kind of transfer -> its text, and the highest permitted number of hops.
KINDS = {'exanet-write': ('ExaNet RDMA write of one block with notification', 120),
         'pvrdma-send': ('pvrdma SEND with its acknowledgement', 100)}
OUTSIDE = 'QEMU'
TRANSFERS = 8
_OWN = 'hw/rnic/'


class Symbols:
    """Finds the file of hw to which an address of the emulator belongs."""

    def __init__(self, tree, binary):
        self.at = {}                # address -> (file, function, size)
        static, public = self._objects(tree)
        groups = [('', [])]         # name of a source, and its static functions
        for line in _output('readelf', '-sW', binary).splitlines():
            m = re.match(r' *\d+: ([0-9a-f]+) +(\w+) (\w+) +(\w+) +\w+ +\w+ (\S+)',
                         line)
            if not m:
                continue
            address, size, kind, binding, name = m.groups()
            function = int(address, 16), name, int(size, 0)
            if kind == 'FILE':
                groups.append((name, []))
            elif kind == 'FUNC' and binding == 'LOCAL':
                groups[-1][1].append(function)
            elif kind == 'FUNC' and name in public:
                self._add(public[name], [function])
        for source, functions in groups:
            found = {f[1:] for f in functions}
            # several files have this name: takes the file with the most of these
            # functions; of equal ones, the file with the fewest functions
            files = [f for f in static if Path(f).name == source and static[f] & found]
            if files:
                self._add(max(files, key=lambda f: (len(static[f] & found),
                                                    -len(static[f]))), functions)
        self.starts = sorted(self.at)

    def _add(self, file, functions):
        for address, name, size in functions:
            self.at[address] = file, name, size

    @staticmethod
    def _objects(tree):
        """Returns the static functions of each object file of hw, and the file of each
        other function."""
        static, public = defaultdict(set), {}
        commands = json.loads((tree / 'compile_commands.json').read_text('utf-8'))
        for entry in commands:
            if _OWN not in entry['file'] or 'libcommon' not in entry['output']:
                continue
            name = entry['file'].split(_OWN)[1]
            for line in _output('nm', '-P', tree / entry['output']).splitlines():
                symbol, kind, *rest = line.split()
                if kind == 'T':
                    public[symbol] = name
                elif kind == 't':
                    static[name].add((symbol, int(rest[1], 16) if len(rest) > 1 else 0))
        return static, public

    def find(self, address):
        """Returns the file and the function at ADDRESS; (OUTSIDE, '') if it is not of
        hw."""
        i = bisect_right(self.starts, address) - 1
        if i >= 0:
            start = self.starts[i]
            f, name, size = self.at[start]
            if address < start + max(size, 1):
                return f, name
        return OUTSIDE, ''


def _output(*command):
    return subprocess.run([str(c) for c in command], check=True, text=True,
                          stdout=subprocess.PIPE).stdout


def _calls(path, binary):
    """Yields (address of the call, address of the function, calls) for each call of a
    function of the emulator in the file of callgrind at PATH. The address of a call by
    another program or library is -1."""
    ob = cob = target = ''
    count = 0
    with open(path, encoding='utf-8', errors='replace') as f:
        for line in f:
            if line.startswith('ob='):
                ob = line[3:].strip()
            elif line.startswith('cob='):
                cob = line[4:].strip()
            elif line.startswith('calls='):
                number, target = line[6:].split()[:2]
                count = int(number)
            elif count:
                if (cob or ob) == binary:
                    yield (int(line.split()[0], 16) if ob == binary else -1,
                           int(target, 16), count)
                count, cob = 0, ''


def _run(tree, binary, program, kind, done):
    """Returns how often each call was made in one run, on both nodes together."""
    found = Counter()
    with tempfile.TemporaryDirectory(prefix='hops-') as folder:
        env = {**os.environ, 'G_SLICE': 'always-malloc', 'QTEST_QEMU_BINARY':
               'valgrind -q --tool=callgrind --dump-instr=yes --compress-strings=no '
               f'--compress-pos=no --callgrind-out-file={folder}/%p {binary}'}
        subprocess.run([program, kind, str(TRANSFERS), str(done)], check=True,
                       cwd=tree, env=env, stdout=subprocess.DEVNULL)
        for path in Path(folder).iterdir():
            for caller, target, count in _calls(path, str(binary)):
                found[caller, target] += count
    return found


def count(tree, program, kind):
    """Returns {((file, function), (file, function)): calls} of one transfer, of calls that
    enter a file."""
    binary = (tree / 'qemu-system-x86_64').resolve()
    symbols = Symbols(tree, binary)
    some, none = (_run(tree, binary, program, kind, n) for n in (TRANSFERS, 0))
    hops = Counter()
    for call in some.keys() | none.keys():
        caller, target = map(symbols.find, call)
        if target[0] not in (OUTSIDE, caller[0]):
            hops[caller, target] += some[call] - none[call]
    return {pair: n / TRANSFERS for pair, n in hops.items() if n}


def report(kind, hops, lines, functions):
    """Prints the result of count().  Returns true if the hops do not exceed the bound.
    """
    files, pairs = Counter(), Counter()
    for (caller, target), n in hops.items():
        files[target[0]] += n
        pairs[f'{caller[0]} -> {target[0]}'] += n
    total = sum(files.values())
    text, bound = KINDS[kind]
    print(f'{text}: {total:g} hops into {len(files)} files, at most {bound}')
    for title, counter in (('most visited', files), ('most crossings', pairs)):
        print(f'  {title}')
        for name, n in counter.most_common(lines):
            print(f'    {n:5g}  {name}')
    if functions:
        print('  calls')
        for (caller, target), n in sorted(hops.items(),
                                          key=lambda h: (h[0][1][0], -h[1])):
            print(f'    {n:5g}  {target[0]}: {target[1]}() from '
                  f'{caller[0]}{": " if caller[1] else ""}{caller[1]}')
    return total <= bound


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument('tree', type=Path, help='folder of a QEMU build')
    p.add_argument('program', type=Path, help='the program rnic-transfers')
    p.add_argument('--kind', choices=KINDS, action='append')
    p.add_argument('--lines', type=int, default=10, help='of each list')
    p.add_argument('--functions', action='store_true', help='lists all calls')
    args = p.parse_args()
    tree, program = args.tree.resolve(), args.program.resolve()
    good = [report(kind, count(tree, program, kind), args.lines, args.functions)
            for kind in args.kind or KINDS]
    return 0 if all(good) else 1


if __name__ == '__main__':
    sys.exit(main())

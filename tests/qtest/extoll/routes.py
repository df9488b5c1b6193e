#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes a header with the networks of tests: cables, and the routes of extoll-routes.

usage: routes.py PROGRAM HEADER DEPENDENCIES

DEPENDENCIES is a makefile that says that HEADER depends on PROGRAM, the path of
extoll-routes."""

import subprocess
import sys
from pathlib import Path

# Name of a network -> its topology file, and the algorithm of its routes.
NETWORKS = {
    'ring8': ('torus = 8', 'order'),
    'torus4x2': ('torus = 4x2', 'order'),
    'torus4x2_tree': ('torus = 4x2', 'updown'),
    'cube': ('torus = 2x2x2', 'shortest'),
}
GRIDS = {'ring8': (8,), 'torus4x2': (4, 2), 'torus4x2_tree': (4, 2), 'cube': (2, 2, 2)}


def cables(size):
    """Yields (node, link, node, link) for each cable of a torus: link 2 * d leads up in
    dimension d, and a ring of two nodes has one cable."""
    nodes = stride = 1
    for n in size:
        nodes *= n
    for d, n in enumerate(size):
        for node in range(nodes):
            at = node // stride % n
            if at + 1 < n or n > 2:
                yield (node, 2 * d, node + (stride if at + 1 < n else -at * stride), 2 * d + 1)
        stride *= n


def routes(program, topology, algorithm):
    """Returns {(from, to): [strings]} with the strings to VELO and to the RMA."""
    text = subprocess.run([sys.executable, '-B', program, '--algorithm', algorithm, '-'],
                          input=f'[network]\n{topology}\n', text=True, check=True,
                          stdout=subprocess.PIPE).stdout
    return {(int(a), int(b)): units for a, b, *units in map(str.split, text.splitlines())}


def main(program, header, dependencies):
    out = ['/* SPDX-License-Identifier: GPL-2.0-or-later */',
           '/* Made by routes.py; include network.h first. */']
    for name, (topology, algorithm) in NETWORKS.items():
        found = routes(program, topology, algorithm)
        nodes = 1 + max(a for a, _ in found)
        ends = list(cables(GRIDS[name]))
        out += [f'static const ExtollTopology network_{name} = {{',
                f'    .nodes = {nodes}, .cables = {len(ends)},', '    .cable = {',
                *('        { { %d, %d }, { %d, %d } },' % (a, b, i, j) for a, i, b, j in ends),
                '    },', '    .route = {']
        for unit in range(2):
            out.append('        {')
            for a in range(nodes):
                out.append('            { ' + ', '.join(
                    f'{found[a, b][unit]}ULL' for b in range(nodes)) + ' },')
            out.append('        },')
        out += ['    },', '};']
    Path(header).write_text('\n'.join(out) + '\n', encoding='ascii')
    Path(dependencies).write_text(f'{header}: {Path(program).resolve()}\n', encoding='ascii')


if __name__ == '__main__':
    main(*sys.argv[1:])

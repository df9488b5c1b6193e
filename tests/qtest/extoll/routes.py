#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes a header with the networks of tests: cables, and the routes of extoll-routes.

usage: routes.py PROGRAM HEADER DEPENDENCIES

DEPENDENCIES is a makefile that says that HEADER depends on PROGRAM, the path of
extoll-routes."""

import importlib.machinery
import importlib.util
import sys
from pathlib import Path

# Name of a network -> its topology file, and the algorithm of its routes.
NETWORKS = {
    'ring8': ('torus = 8', 'order'),
    'torus4x2': ('torus = 4x2', 'order'),
    'torus4x2_tree': ('torus = 4x2', 'updown'),
    'cube': ('torus = 2x2x2', 'shortest'),
}


def load(program):
    """Returns the module extoll-routes in the file PROGRAM."""
    sys.dont_write_bytecode = True
    loader = importlib.machinery.SourceFileLoader('extoll_routes', program)
    module = importlib.util.module_from_spec(
        importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


def lines(tool, name, topology, algorithm):
    """Yields the lines of the network NAME."""
    net = tool.parse(f'[network]\n{topology}\n')
    routes = tool.compute(net, algorithm)
    ends = sorted((a, b) for a, b in net.peer.items() if a < b)
    yield f'static const ExtollTopology network_{name} = {{'
    yield f'    .nodes = {net.nodes}, .cables = {len(ends)},'
    yield '    .cable = {'
    for a, b in ends:
        yield '        { { %d, %d }, { %d, %d } },' % (a[0], b[0], a[1], b[1])
    yield '    },'
    yield '    .route = {'
    for a in range(net.nodes):
        strings = (f'{tool.encode(routes[a, b], "velo"):#018x}ULL' for b in range(net.nodes))
        yield '        { ' + ', '.join(strings) + ' },'
    yield '    },'
    yield '};'


def main(program, header, dependencies):
    tool = load(program)
    out = ['/* SPDX-License-Identifier: GPL-2.0-or-later */',
           '/* Made by routes.py; include network.h first. */']
    for name, (topology, algorithm) in NETWORKS.items():
        out += lines(tool, name, topology, algorithm)
    Path(header).write_text('\n'.join(out) + '\n', encoding='ascii')
    Path(dependencies).write_text(f'{header}: {Path(program).resolve()}\n', encoding='ascii')


if __name__ == '__main__':
    main(*sys.argv[1:])

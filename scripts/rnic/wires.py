# SPDX-License-Identifier: GPL-2.0-or-later
"""Kinds of cables between two QEMUs of one host, and the option --wire that chooses one."""

STREAM, CABLE = 'stream', 'cable'     # QEMU's -netdev stream, and our device rnic-cable
WIRES = (STREAM, CABLE)


def add_option(parser):
    """Adds the option --wire to PARSER."""
    parser.add_argument('--wire', choices=WIRES, default=STREAM,
                        help='cable between the guests: a Unix socket (default), or memory '
                        'that both QEMUs share')


def end(wire, name, path, server):
    """Returns the options of QEMU for netdev NAME, one end of a cable of kind WIRE at the Unix
    socket PATH. SERVER says which of the two ends listens. The QEMUs may start in any order,
    because the other end tries again every 100 ms."""
    if wire == CABLE:
        return ['-device', f'rnic-cable,id={name},path={path}'
                + (',server=on' if server else '')]
    return ['-netdev', f'stream,id={name},addr.type=unix,addr.path={path},'
            + ('server=on' if server else 'server=off,reconnect-ms=100')]

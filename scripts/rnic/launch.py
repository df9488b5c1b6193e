# SPDX-License-Identifier: GPL-2.0-or-later
"""Becomes a node's QEMU on the host where Slurm starts it.

usage: launch.py FOLDER ADDRESS:PORT... -- QEMU ARGUMENTS...

FOLDER, for sockets, is made. QEMU gets a listening TCP socket for each
address, as descriptors from 100 on. QEMU turns Nagle's algorithm off where it
connects and not where it is connected to, so this is done here: what a
listening socket accepts takes the setting over."""

import os
import socket
import sys

FIRST = 100


def listening(address):
    """A listening socket that does not wait for more before it sends."""
    host, _, port = address.rpartition(':')
    family, kind, protocol, _, where = socket.getaddrinfo(
        host, int(port), type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
    sock = socket.socket(family, kind, protocol)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    try:
        sock.bind(where)
    except OSError as e:
        sys.exit(f'cannot listen at {address}: {e.strerror}')
    sock.listen(1)
    return sock


def main(folder, *arguments):
    end = arguments.index('--')
    os.makedirs(folder, mode=0o700, exist_ok=True)
    for number, address in enumerate(arguments[:end], FIRST):
        sock = listening(address)
        os.dup2(sock.fileno(), number, inheritable=True)
        sock.close()
    cmd = arguments[end + 1:]
    try:
        os.execvp(cmd[0], cmd)
    except OSError as e:
        sys.exit(f'cannot run {cmd[0]}: {e.strerror}')


if __name__ == '__main__':
    main(*sys.argv[1:])

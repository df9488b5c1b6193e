# SPDX-License-Identifier: GPL-2.0-or-later
"""Starts the QEMU of a node in this process. Slurm runs this program on the host of the node.

usage: launch.py FOLDER ADDRESS:PORT... -- QEMU ARGUMENTS...

Makes FOLDER for sockets. QEMU inherits a listening TCP socket for each ADDRESS:PORT; the
sockets have the descriptors from FIRST on. QEMU turns Nagle's algorithm off only for
connections that QEMU opens. So this program sets TCP_NODELAY on the listening sockets, and each
accepted connection inherits the option."""

import os
import socket
import stat
import sys

FIRST = 100


def listening(address):
    """Returns a TCP socket that listens at ADDRESS (ADDRESS:PORT). Connections that are
    accepted from this socket send data without delay (TCP_NODELAY). Ends the program after an
    error."""
    host, _, port = address.rpartition(':')
    try:
        family, kind, protocol, _, where = socket.getaddrinfo(
            host, int(port), type=socket.SOCK_STREAM,
            flags=socket.AI_PASSIVE)[0]
    except OSError as e:
        sys.exit(f'cannot listen at {address}: {e.strerror}')
    sock = socket.socket(family, kind, protocol)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    try:
        sock.bind(where)
        # With SO_REUSEADDR, two processes can bind sockets to one address before either
        # listens. Then the second listen() fails.
        sock.listen(1)
    except OSError as e:
        sys.exit(f'cannot listen at {address}: {e.strerror}')
    return sock


def private(path):
    """Makes the folder PATH, which only this user can enter, unless it exists. Ends the program
    if PATH cannot be made, or exists and is not such a folder."""
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        pass
    except OSError as e:
        sys.exit(f'cannot make {path}: {e.strerror}')
    found = os.lstat(path)
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() \
            or found.st_mode & 0o077:
        sys.exit(f'{path} is not a folder of yours alone')


def main(folder, *arguments):
    end = arguments.index('--')
    private(os.path.dirname(folder))
    private(folder)
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

# SPDX-License-Identifier: GPL-2.0-or-later
"""Copies standard input to a Unix socket, and the data of the socket to standard output. A
program that starts this program on another host can thus use a socket of that host. Ends when
standard input ends or the socket is closed."""

import os
import selectors
import socket
import sys


def main(path):
    with socket.socket(socket.AF_UNIX) as sock:
        sock.connect(path)
        to = {0: sock.fileno(), sock.fileno(): 1}
        with selectors.DefaultSelector() as ready:
            for fd in to:
                ready.register(fd, selectors.EVENT_READ)
            while True:
                for key, _ in ready.select():
                    data = os.read(key.fd, 65536)
                    if not data:
                        return
                    while data:
                        data = data[os.write(to[key.fd], data):]


if __name__ == '__main__':
    main(sys.argv[1])

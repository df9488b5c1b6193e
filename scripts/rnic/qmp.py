# SPDX-License-Identifier: GPL-2.0-or-later
"""QEMU's control channel. The protocol QMP is that of QEMU's own library qemu.qmp, which
QEMU's source contains."""

import asyncio
import contextlib
import importlib
import socket
import subprocess
import sys
from pathlib import Path

from . import qemu_source

NIC = '/machine/peripheral/nic'
_SECONDS = 30
_RELAY = Path(__file__).with_name('relay.py')


def _library():
    """Returns the module qemu.qmp."""
    folder = str(qemu_source.find() / 'python')
    if folder not in sys.path:
        sys.path.append(folder)
    return importlib.import_module('qemu.qmp')


class Qmp:
    """A connection for a with statement. QEMU serves one connection of a socket at a time.
    All errors are OSError."""

    def __init__(self, path, prefix=(), seconds=_SECONDS):
        """Connects to the Unix socket PATH. PREFIX begins a command that runs on the host of
        PATH. If PATH is None, PREFIX is the command line of a QEMU that has its control
        channel at standard input and output. SECONDS limits the connection and each
        command."""
        self.library, self.seconds, self.process = _library(), seconds, None
        self.runner, self.client = asyncio.Runner(), self.library.QMPClient()
        try:
            self._run(self.client.connect(self._start(path, prefix) if prefix
                                          else str(path)))
        except BaseException:
            self.__exit__()
            raise

    def _start(self, path, prefix):
        """Starts the command that PREFIX begins; returns a socket that is connected with the
        standard input and output of the command."""
        command = [*prefix, *(['/usr/bin/python3', '-B', _RELAY, path] if path else [])]
        ours, its = socket.socketpair()
        with its:
            try:
                self.process = subprocess.Popen([str(c) for c in command], stdin=its,
                                                stdout=its, stderr=subprocess.DEVNULL)
            except OSError:
                ours.close()
                raise
        return ours

    def _run(self, coroutine):
        """Returns the result of COROUTINE."""
        async def limited():
            return await asyncio.wait_for(coroutine, self.seconds)
        try:
            return self.runner.run(limited())
        except asyncio.TimeoutError as e:
            raise OSError(f'QEMU does not answer within {self.seconds} s') from e
        except (self.library.QMPError, EOFError) as e:
            raise OSError(str(e)) from e

    def command(self, name, **arguments):
        """Returns the result of the command NAME."""
        return self._run(self.client.execute(name, arguments))

    def get(self, name):
        """Returns a property of the NIC."""
        return self.command('qom-get', path=NIC, property=name)

    def set(self, name, value):
        """Sets a property of the NIC."""
        self.command('qom-set', path=NIC, property=name, value=value)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        # An error has ended a command before; the end of the connection reports it again.
        with contextlib.suppress(OSError):
            self._run(self.client.disconnect())
        self.runner.close()
        if self.process:
            # QEMU goes on running when its standard input is closed.
            self.process.terminate()
            self.process.wait()

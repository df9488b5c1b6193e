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
_SECONDS_TO_END = 3     # of a connection after an error, and of a process
_RELAY = Path(__file__).with_name('relay.py')


def _library():
    """Returns the module qemu.qmp. Fetches nothing, because a command for running nodes must
    wait neither for a build nor for Debian. The source of a QEMU that runs is usually
    there, because QEMU was built from this source."""
    source = qemu_source.present()
    if not source:
        raise OSError('there is no source of QEMU, which contains the library of QMP: '
                      'scripts/build-qemu fetches it')
    if (folder := str(source / 'python')) not in sys.path:
        sys.path.append(folder)
    try:
        return importlib.import_module('qemu.qmp')
    except ImportError as e:
        raise OSError(f'{source} has no library of QMP: {e}') from e


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
        except BaseException as e:
            self.__exit__(type(e))
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

    def _run(self, coroutine, seconds=None):
        """Returns the result of COROUTINE."""
        seconds = seconds or self.seconds

        async def limited():
            return await asyncio.wait_for(coroutine, seconds)
        try:
            return self.runner.run(limited())
        except asyncio.TimeoutError as e:
            raise OSError(f'QEMU does not answer within {seconds} s') from e
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

    def __exit__(self, error, *_):
        with contextlib.ExitStack() as ends:    # they run after any error, a Ctrl-C too
            ends.callback(self._end_process)
            ends.callback(self.runner.close)
            # An error has ended a command before; the end of the connection reports it
            # again.
            with contextlib.suppress(OSError):
                self._run(self.client.disconnect(),
                          min(self.seconds, _SECONDS_TO_END) if error else self.seconds)

    def _end_process(self):
        """Ends the process. QEMU goes on running when its standard input is closed."""
        if not self.process:
            return
        try:
            self.process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(_SECONDS_TO_END)
        finally:
            self.process.kill()
            self.process.wait()

# SPDX-License-Identifier: GPL-2.0-or-later
"""QEMU's control channel with the protocol QMP. QEMU's source contains the library qemu.qmp,
which implements this protocol."""

import asyncio
import contextlib
import importlib
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

from . import qemu_source

NIC = '/machine/peripheral/nic'
_SECONDS = 30
_SECONDS_TO_END = 3     # limit for a disconnection after an error, and for a process to end
_RELAY = Path(__file__).with_name('relay.py')


def _library():
    """Returns the module qemu.qmp. Raises OSError if QEMU's source is not there or lacks the
    module. Does not fetch the source, because a command for running nodes must not wait for a
    build. A QEMU that runs was built from this source, so the source is usually there."""
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


@contextlib.contextmanager
def _signals_later():
    """Context in which the signals that end a program wait for the end of the context."""
    if threading.current_thread() is not threading.main_thread():
        yield       # Python runs handlers of signals in the main thread only.
        return
    arrived = []
    handlers = {number: signal.signal(number, lambda n, _frame: arrived.append(n))
                for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        for number in arrived:
            signal.raise_signal(number)


def _runner():
    """Returns an asyncio.Runner that has its event loop. An event loop whose constructor a
    signal has ended prints a traceback when Python frees the loop."""
    runner = asyncio.Runner()
    try:
        with _signals_later():
            runner.get_loop()
    except BaseException:
        runner.close()
        raise
    return runner


class Qmp:
    """A connection for a with statement. QEMU serves one connection of a socket at a time.
    The methods raise OSError for errors of QEMU, of the library and of the connection."""

    def __init__(self, path, prefix=(), seconds=_SECONDS):
        """Connects to the Unix socket PATH. If PREFIX is not empty, PREFIX is the beginning of
        a command line that runs on the host of PATH. If PATH is None, PREFIX is the command
        line of a QEMU that has its control channel at standard input and output. SECONDS is
        the time limit for the connection and for each command."""
        self.library, self.seconds, self.process = _library(), seconds, None
        self.runner, self.client = _runner(), self.library.QMPClient()
        try:
            self._run(self.client.connect(self._start(path, prefix) if prefix
                                          else str(path)))
        except BaseException as e:
            self.__exit__(type(e))
            raise

    def _start(self, path, prefix):
        """Starts PREFIX, followed by the relay to PATH unless PATH is None. Returns a socket
        that is connected with standard input and output of this command."""
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
        """Returns the result of COROUTINE. Raises OSError if COROUTINE fails or takes longer
        than SECONDS, or than self.seconds without SECONDS."""
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
        """Returns the property NAME of the NIC."""
        return self.command('qom-get', path=NIC, property=name)

    def set(self, name, value):
        """Sets the property NAME of the NIC to VALUE."""
        self.command('qom-set', path=NIC, property=name, value=value)

    def __enter__(self):
        return self

    def __exit__(self, error, *_):
        with contextlib.ExitStack() as ends:    # The callbacks run even after an exception.
            ends.callback(self._end_process)
            ends.callback(self.runner.close)
            # disconnect() may raise the error of an earlier command again.
            with contextlib.suppress(OSError):
                self._run(self.client.disconnect(),
                          min(self.seconds, _SECONDS_TO_END) if error else self.seconds)

    def _end_process(self):
        """Ends the process that _start() has started, if any. A QEMU does not end by itself
        when its standard input is closed."""
        if not self.process:
            return
        try:
            self.process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(_SECONDS_TO_END)
        finally:
            self.process.kill()
            self.process.wait()

# SPDX-License-Identifier: GPL-2.0-or-later
"""QEMU's control channel."""

import contextlib
import json
import socket
import subprocess
import threading
from pathlib import Path

NIC = '/machine/peripheral/nic'
_SECONDS = 30
_RELAY = Path(__file__).with_name('relay.py')


class Qmp:
    """One command at a time; use it in a with statement, as QEMU answers only
    one of those who have it open. OSError for whatever goes wrong."""

    def __init__(self, path, prefix=(), seconds=_SECONDS):
        """PREFIX begins a command line that runs where PATH is; without a
        PATH it is a QEMU with its control channel at standard input."""
        self.process = self.timer = None
        if prefix:
            more = ['/usr/bin/python3', '-B', _RELAY, path] if path else []
            self._start([*prefix, *more], seconds)
        else:
            self._connect(path, seconds)
        try:
            if not self.reader.readline():
                raise OSError('QEMU closed its control channel')
            self.command('qmp_capabilities')
        except BaseException:
            self.__exit__()
            raise

    def _connect(self, path, seconds):
        sock = socket.socket(socket.AF_UNIX)
        sock.settimeout(seconds)
        with sock:
            sock.connect(str(path))
            self.reader = self.writer = sock.makefile('rw', encoding='utf-8')

    def _start(self, cmd, seconds):
        self.process = subprocess.Popen(
            [str(c) for c in cmd], text=True, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.reader, self.writer = self.process.stdout, self.process.stdin
        # What cannot be reached is not waited for.
        self.timer = threading.Timer(seconds, self.process.terminate)
        self.timer.daemon = True
        self.timer.start()

    def command(self, name, **arguments):
        """What QEMU returns."""
        self.writer.write(json.dumps({'execute': name,
                                      'arguments': arguments}))
        self.writer.flush()
        while True:
            line = self.reader.readline()
            if not line:
                raise OSError('QEMU closed its control channel')
            try:
                answer = json.loads(line)
            except ValueError as e:
                raise OSError('QEMU says what is no JSON') from e
            if 'error' in answer:
                raise OSError(answer['error']['desc'])
            if 'return' in answer:
                return answer['return']

    def get(self, name):
        """A property of the NIC."""
        return self.command('qom-get', path=NIC, property=name)

    def set(self, name, value):
        """Sets a property of the NIC."""
        self.command('qom-set', path=NIC, property=name, value=value)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for file in {self.reader, self.writer}:
            with contextlib.suppress(OSError):   # what it still had to write
                file.close()
        if self.process:
            # A QEMU of ours does not end with its standard input.
            self.process.terminate()
            self.process.wait()
            self.timer.cancel()

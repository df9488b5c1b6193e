# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures the time of frames over several kinds of netdev that can be a cable.

There is no guest and no NIC. Each of two QEMUs without a processor has a hub between the
cable and a Unix socket, at which this program sends and receives. A second table has the
limit: the bandwidth and the time of a frame between two processes that do nothing else."""

import socket
import statistics
import struct
import time

from .. import launch, qemu, runtime, vm, wires
from ..steps import Failed, log_path, run as run_program, step
from . import figures, positive

FRAMES = (64, 4096)        # bytes
KINDS = ('rnic-cable', 'unix stream', 'TCP socket', 'TCP stream', 'TCP as clusters do')
BURSTS = (1, 2)            # number of frames in one direction before the other end answers
PROGRAMS = ('wire-bench', 'ring-bench')
FULL = 24 + 224 * 288      # bytes of ExaNet's longest frame
_WIRES = {'rnic-cable': wires.CABLE, 'unix stream': wires.STREAM}
_SECONDS = 20              # limit for a frame to arrive, and for a cable to connect


def options(parser):
    """Adds the options of scripts/bench cables."""
    parser.add_argument('--rounds', type=positive, default=9, metavar='N',
                        help='all kinds in turns; medians are shown')
    parser.add_argument('--round-trips', type=positive, default=40, metavar='N',
                        help='that the median of a round is made of')


class _End:
    """One QEMU, and the socket by which this program reaches the hub of this QEMU."""

    def __init__(self, binary, name, cable, fds=()):
        ours, theirs = socket.socketpair()
        ours.settimeout(_SECONDS)
        fds = (*fds, theirs.fileno())
        log = log_path(f'bench-cables-{name}')
        with theirs, open(log, 'wb') as out:
            self.process = vm.spawn(
                [binary, '-M', 'none', '-nodefaults', '-display', 'none',
                 '-netdev', f'stream,id=here,addr.type=fd,'
                 f'addr.str={theirs.fileno()}',
                 '-netdev', 'hubport,id=h0,hubid=0,netdev=here', *_on_hub(cable)],
                stdout=out, stderr=out, pass_fds=fds)
        self.socket = ours

    def send(self, frame, count):
        for _ in range(count):
            self.socket.sendall(struct.pack('>I', len(frame)) + frame)

    def receive(self, count):
        """Receives COUNT frames and returns the last one; None if the wait for the last one
        times out. Fails if the QEMU has ended."""
        data = b''
        for _ in range(count):
            head = self._exactly(4)
            data = head and self._exactly(struct.unpack('>I', head)[0])
        return data

    def _exactly(self, size):
        data = b''
        while len(data) < size:
            try:
                more = self.socket.recv(size - len(data))
            except TimeoutError:
                return None
            if not more:
                raise Failed('a QEMU at the end of a cable ended')
            data += more
        return data

    def close(self):
        self.socket.close()
        self.process.kill()
        self.process.wait()


def _on_hub(cable):
    """Returns the options CABLE of a netdev "cable", and options that connect it to hub 0."""
    if cable[0] == '-device':
        # QEMU makes devices after all netdevs.
        return ['-netdev', 'hubport,id=h1,hubid=0', *cable[:-1], f'{cable[-1]},netdev=h1']
    return [*cable, '-netdev', 'hubport,id=h1,hubid=0,netdev=cable']


def _cable(kind, folder):
    """Returns the options of QEMU for the listening end of a cable of KIND, the options for the
    other end, and the listening socket that the first end inherits, or None."""
    if kind in _WIRES:
        server, client = (wires.end(_WIRES[kind], 'cable', f'{folder}/cable', listens)
                          for listens in (True, False))
        return server, client, None
    with socket.socket() as probe:
        probe.bind(('127.0.0.1', 0))
        port = probe.getsockname()[1]
    inet = f'addr.type=inet,addr.host=127.0.0.1,addr.port={port}'
    client = ['-netdev', f'stream,id=cable,server=off,reconnect-ms=50,{inet}']
    if kind == 'TCP socket':
        return (['-netdev', f'socket,id=cable,listen=127.0.0.1:{port}'],
                ['-netdev', f'socket,id=cable,connect=127.0.0.1:{port}'], None)
    if kind == 'TCP stream':
        return ['-netdev', f'stream,id=cable,server=on,{inet}'], client, None
    sock = launch.listening(f'127.0.0.1:{port}')
    return (['-netdev', f'stream,id=cable,server=on,addr.type=fd,'
             f'addr.str={sock.fileno()}'], client, sock)


class Cable:
    """Two QEMUs joined by one KIND of cable, for a with statement."""

    def __init__(self, binary, kind):
        self.binary, self.kind, self.ends = binary, kind, []
        self.folder = None

    def __enter__(self):
        self.folder = runtime.scratch()
        try:
            server, client, sock = _cable(self.kind, self.folder)
            fds = [sock.fileno()] if sock else []
            self.ends.append(_End(self.binary, 'a', server, fds))
            if sock:
                sock.close()
            else:
                time.sleep(0.5)   # The netdev "socket" of end b connects only once.
            self.ends.append(_End(self.binary, 'b', client))
            self._connect()
        except BaseException:
            self.__exit__()
            raise
        return self

    def _connect(self):
        """Sends frames from each end until one arrives at the other end, and then receives the
        frames that are still under way. Fails if no frame arrives in _SECONDS."""
        a, b = self.ends
        end = time.monotonic() + _SECONDS
        for one, other in ((a, b), (b, a)):
            other.socket.settimeout(0.2)
            while True:
                one.send(bytes(64), 1)
                if other.receive(1):
                    break
                if time.monotonic() > end:
                    raise Failed(f'the cable over {self.kind} does not '
                                 'connect', log_path('bench-cables-a'))
            while other.receive(1):
                pass
            other.socket.settimeout(_SECONDS)

    def half_round_trip(self, size, frames, round_trips):
        """Returns the median of half a round trip in microseconds. In a round trip, each end
        sends FRAMES frames of SIZE bytes. Checks all bytes of the last frame in each
        direction. The first ROUND_TRIPS // 10 round trips do not count. Fails if a frame is
        lost or wrong."""
        a, b = self.ends
        times = []
        for number in range(round_trips + round_trips // 10 + 1):
            frame = struct.pack('>I', number) * (size // 4)
            begin = time.monotonic()
            for one, other in ((a, b), (b, a)):
                one.send(frame, frames)
                if other.receive(frames) != frame:
                    raise Failed(f'the cable over {self.kind} lost a frame')
            times.append((time.monotonic() - begin) / 2)
        return statistics.median(times[round_trips // 10:]) * 1e6

    def __exit__(self, *_):
        for end in self.ends:
            end.close()
        runtime.remove(self.folder)


def raw(rounds):
    """Returns the figures of PROGRAMS with the longest frames of ExaNet, as medians of ROUNDS
    runs."""
    found = {}
    for i in range(rounds):
        with step(f'two processes alone, round {i + 1} of {rounds}'):
            for name in PROGRAMS:
                run_program([qemu.Qemu().program(name), FULL], f'bench-{name}')
                text = log_path(f'bench-{name}').read_text('utf-8')
                for key, value in figures(text).items():
                    found.setdefault(key, []).append(value)
    return {k: statistics.median(v) for k, v in found.items()}


def _show_raw(found, rounds):
    print(f'two processes alone, frames of {FULL} bytes, medians of {rounds}\n')
    for key, value in found.items():
        print(f'{key:40} {value:16.1f}')
    print()


def run(binary, args):
    """Prints the table. Returns the times of all rounds and their medians: for each kind of
    cable {"FRAMES x SIZE": microseconds}."""
    columns = {f'{burst} x {size}': (size, burst)
               for burst in BURSTS for size in FRAMES}
    rounds = {kind: {c: [] for c in columns} for kind in KINDS}
    for i in range(args.rounds):
        for kind, row in rounds.items():
            with step(f'frames over {kind}, round {i + 1} of {args.rounds}'), \
                    Cable(binary, kind) as cable:
                for c, what in columns.items():
                    row[c].append(cable.half_round_trip(*what, args.round_trips))
    found = {kind: {c: statistics.median(v) for c, v in row.items()}
             for kind, row in rounds.items()}
    print('\nframes of so many bytes one way until the other side answers; '
          f'microseconds, medians of {args.rounds}\n')
    print(f'{"cable":20}' + ''.join(f'{c:>12}' for c in columns))
    for kind, row in found.items():
        print(f'{kind:20}' + ''.join(f'{row[c]:12.1f}' for c in columns))
    print()
    limit = raw(args.rounds)
    _show_raw(limit, args.rounds)
    return {'rounds': rounds, 'median': found, 'raw': limit}

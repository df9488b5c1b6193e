# SPDX-License-Identifier: GPL-2.0-or-later
"""Clusters that continue to run after the program that started them has ended.

BUILD/cluster/NAME/state.json records the processes and ports of cluster NAME for later
programs. The cluster's sockets are in a folder with a short path, because the path of a socket
has at most 107 bytes.
"""

import contextlib
import fcntl
import json
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

from . import runtime, slurm, topology, vm
from .paths import BUILD
from .qmp import Qmp
from .steps import Failed, digest

_STATES = BUILD / 'cluster'
_STATUS_SECONDS = 10


class _Process:
    """A process that another program may have started. The methods poll, wait and kill are
    like those of Popen."""

    def __init__(self, pid, begin=None):
        self.pid, self.begin = pid, begin or _begin(pid)

    def poll(self):
        """Returns None if the process runs, otherwise 'unknown' in place of the exit code,
        which only the parent can read."""
        return None if self.begin and _begin(self.pid) == self.begin \
            else 'unknown'

    def wait(self, timeout=None):
        end = time.monotonic() + (timeout or 0)
        while self.poll() is None:
            if timeout is not None and time.monotonic() >= end:
                raise subprocess.TimeoutExpired('', timeout)
            time.sleep(0.05)
        return self.poll()

    def kill(self):
        if self.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)


def _begin(pid):
    """Returns the start time of process PID in ticks since boot; None if the process does
    not exist, or has ended and is a zombie."""
    try:
        text = Path(f'/proc/{pid}/stat').read_text(encoding='utf-8',
                                                   errors='replace')
    except OSError:
        return None
    values = text.rpartition(')')[2].split()
    return None if values[0] in 'ZX' else int(values[19])


def _boot():
    """Returns the identifier of this boot of the machine. A process that was recorded in
    another boot has ended."""
    return Path('/proc/sys/kernel/random/boot_id').read_text(
        encoding='ascii').strip()


def _state(name):
    return _STATES / name / 'state.json'


@contextlib.contextmanager
def _lock(name):
    """Holds the lock of cluster NAME for the body of a with statement. A process holds this
    lock while it starts or ends the cluster. Fails if another process holds the lock."""
    _STATES.mkdir(parents=True, exist_ok=True)
    path = _STATES / f'{name}.lock'
    file = None
    # The previous owner of the lock removes the file when it releases the lock. A lock on a
    # removed file excludes no other process, so the loop opens a removed file again.
    while not file or not path.exists() \
            or not os.path.samestat(os.fstat(file.fileno()), path.stat()):
        if file:
            file.close()
        file = open(path, 'a+', encoding='ascii')
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as e:
            file.seek(0)
            raise Failed(f'cluster {name} is being started or ended by '
                         f'process {file.read().strip()}') from e
    try:
        file.truncate(0)
        file.write(f'{os.getpid()}\n')
        file.flush()
        yield
    finally:
        path.unlink(missing_ok=True)
        file.close()


def _strays(folder):
    """Yields the processes of this user on this machine that have an option -qmp with a
    socket in FOLDER: QEMUs, and the programs of Slurm that started these QEMUs."""
    wanted = f'unix:{folder}/'.encode()
    for path in Path('/proc').glob('[0-9]*/cmdline'):
        with contextlib.suppress(OSError):
            words = path.read_bytes().split(b'\0')
            if path.stat().st_uid == os.getuid() and any(
                    a == b'-qmp' and b.startswith(wanted)
                    for a, b in zip(words, words[1:])):
                yield _Process(int(path.parent.name))


def names():
    """Returns the names of clusters that have a record. A cluster keeps its record if its
    nodes end without a call of down()."""
    return sorted(f.parent.name for f in _STATES.glob('*/state.json'))


def one(name=None):
    """Returns NAME, or the name of the only cluster if NAME is None. Fails if there is no
    such cluster, or if NAME is None and there are several clusters."""
    there = names()
    if name is None and len(there) == 1:
        name = there[0]
    if name is None:
        raise Failed('no cluster is up' if not there else 'several clusters '
                     f'are up, choose with -c: {", ".join(there)}')
    if name not in there:
        raise Failed(f"no cluster '{name}' is up"
                     + (f', there is {", ".join(there)}' if there else ''))
    return name


def find(name=None):
    """Returns the cluster NAME, or the only cluster if NAME is None. Fails as one() does.
    Raises Damaged if the record of the cluster is damaged."""
    name = one(name)
    try:
        state = json.loads(_state(name).read_text(encoding='utf-8'))
        topo = topology.parse(state['topology'], state['title'])
        found = Background(state['binary'], name, topo, share=state['share'])
        found.recall(state)
    except (OSError, ValueError, LookupError, TypeError, Failed) as e:
        raise Damaged(f'what is known of cluster {name} is damaged: end it '
                      f'(scripts/cluster down -c {name})',
                      _state(name)) from e
    return found


class Damaged(Failed):
    """The record of a cluster is damaged, so that the cluster can only be ended."""


def end(name):
    """Ends cluster NAME, or the processes that a crash has left of it, and removes the record
    of the cluster. Fails if the cluster has no record, or if another process starts or ends
    the cluster."""
    with _lock(name):
        _end(name)


def _end(name):
    try:
        found = find(name)
    except Damaged:
        # Without a valid record, the sockets may be in either of the two folders of base().
        for everywhere in (False, True):
            _forget(name, runtime.base(everywhere) / _folder(name))
        return
    found.down()


def _folder(name):
    # The digest of BUILD distinguishes clusters of the same name in several checkouts.
    return f'{name}-{digest(str(BUILD))[:6]}'


def _forget(name, folder):
    """Kills the processes of _strays(FOLDER), and removes FOLDER on this machine and the
    record of cluster NAME."""
    for process in _strays(folder):
        process.kill()
    shutil.rmtree(folder, ignore_errors=True)
    shutil.rmtree(_state(name).parent, ignore_errors=True)


def refuse_second(name):
    """Fails if at least one node of cluster NAME runs. Does not fail if the record of the
    cluster is damaged."""
    with contextlib.suppress(Damaged):
        if name in names() and find(name).alive():
            raise Failed(f'cluster {name} is up already: take it down first '
                         f'(scripts/cluster down -c {name})')


class Background(vm.Cluster):
    """A cluster that is started by one program and used by others."""

    def __init__(self, binary, name, topo, *, share=None):
        super().__init__(binary, name, topo, share=share)
        self.folder = runtime.base(bool(topo.hosts)) / _folder(name)
        self.job, self.ready = None, False

    def known_hosts(self):
        return _STATES / self.name / 'known_hosts'   # All hosts share this folder.

    # --- Starting ---------------------------------------------------------

    def up(self):
        """Boots all nodes and waits until they answer. If an error or the user stops the boot,
        ends all nodes. Fails if at least one node of a cluster with this name runs, or if
        another process starts or ends the cluster."""
        vm.check_share(self.share)
        vm.check_faults(self.binary, self.topology)
        with _lock(self.name):
            refuse_second(self.name)
            if self.name in names():
                _end(self.name)   # All nodes have ended, or the record is damaged.
            _state(self.name).parent.mkdir(parents=True, exist_ok=True)
            self.folder.mkdir(mode=0o700, exist_ok=True)
            try:
                if self.topology.hosts:
                    self.job = slurm.allocate(self.name, self.folder,
                                              self.topology)
                    self.save()
                self.boot()
            except BaseException:
                self.down()
                raise

    def spawn(self, cmd, **options):
        return subprocess.Popen([str(c) for c in cmd], **options)

    def started(self, node):
        self.save()

    def save(self):
        """Writes the record of the cluster, by which later programs use and end the cluster."""
        state = {
            'title': self.topology.name, 'topology': self.topology.text,
            'binary': str(self.binary), 'share': self.share, 'job': self.job,
            'segment': self.segment, 'time': time.time(), 'boot': _boot(),
            'folder': str(self.folder), 'ready': self.ready,
            'nodes': [n.process and {
                'pid': n.process.pid, 'begin': _begin(n.process.pid),
                'port': n.port} for n in self.nodes]}
        part = _state(self.name).with_suffix('.part')
        part.write_text(json.dumps(state, indent=1) + '\n', encoding='utf-8')
        part.rename(_state(self.name))

    def recall(self, state):
        self.job, self.segment = state['job'], state['segment']
        self.folder, self.ready = Path(state['folder']), state['ready']
        for node, known in zip(self.nodes, state['nodes'], strict=True):
            if known:
                # No process has start time -1. So a process of an earlier boot of the machine
                # counts as ended, and so does a process that had ended when the record was
                # written.
                same = known['begin'] and state['boot'] == _boot()
                node.process = _Process(known['pid'],
                                        known['begin'] if same else -1)
                node.port = known['port']

    def boot(self):
        super().boot()
        self.ready = True
        self.save()

    # --- Several hosts ----------------------------------------------------

    def launcher(self, node):
        if not self.job:
            return []
        return slurm.launcher(self.job, node.spec.host, self.folder, [
            f'{self.topology.hosts[node.spec.host]}:{self._tcp_port(c)}'
            for c in self._listening(node)])

    def prefix(self, node, tty=False):
        return slurm.step(self.job, node.spec.host, tty) if self.job else []

    def plug(self, node, cable, name):
        if not self.topology.remote(cable):
            return super().plug(node, cable, name)
        if node.spec is cable.a:
            fd = slurm.FIRST_FD + self._listening(node).index(cable)
            return ['-netdev', f'stream,id={name},server=on,addr.type=fd,addr.str={fd}']
        host = self.topology.hosts[cable.a.host]
        return ['-netdev', f'stream,id={name},server=off,reconnect-ms=200,'
                f'addr.type=inet,addr.host={host},addr.port={self._tcp_port(cable)}']

    def _listening(self, node):
        return [c for c in node.spec.cables
                if c.a is node.spec and self.topology.remote(c)]

    def _tcp_port(self, cable):
        return self.topology.port + cable.number

    # --- Ending -----------------------------------------------------------

    def down(self):
        """Ends all nodes, and removes the folder of sockets and the record of the cluster."""
        if self.job:
            slurm.cancel(self.job, self.topology.hosts, self.folder)
        for node in self.nodes:
            node.stop()
        _forget(self.name, self.folder)

    # --- Using ------------------------------------------------------------

    def node(self, name):
        """Returns the node with the name or number NAME. Fails if there is no such node."""
        return self.nodes[self.topology.node(name).number]

    def living(self, *nodes):
        """Fails if one of NODES has ended, or if the start of the cluster is not complete."""
        if not self.ready:
            with _lock(self.name):
                raise Failed(f'cluster {self.name} was not started to the '
                             'end: take it down '
                             f'(scripts/cluster down -c {self.name})')
        for node in nodes:
            node.check()

    def alive(self):
        """Returns the number of nodes whose QEMU runs."""
        return sum(n.process is not None and n.process.poll() is None
                   for n in self.nodes)

    def look(self, node):
        """Returns the properties "node", "links" and "counters" of the NIC of NODE as a
        dictionary. Returns a text with the reason if the QEMU of NODE was not started or has
        ended, or if the properties cannot be read."""
        if not node.process:
            return 'was not started'
        if node.process.poll() is not None:
            return node.end()
        try:
            with Qmp(node.socket('qmp'), self.prefix(node),
                     _STATUS_SECONDS) as qmp:
                return {k: qmp.get(k) for k in ('node', 'links', 'counters')}
        except OSError as e:
            return f'its QEMU does not answer: {e}'

    def peer_name(self, coord):
        """Returns the name of the node with coordinates COORD, or COORD in hexadecimal if
        there is no such node."""
        return next((n.name for n in self.topology.nodes
                     if n.coord == coord), f'{coord:#x}')

    def set_faults(self, node, link, text):
        """Sets the faults of LINK of NODE to TEXT. LINK is the number of a link, or the name
        of a neighbour, which stands for all links to this neighbour. Fails if NODE has no such
        link, or if the device refuses TEXT."""
        spec = node.spec
        if link.isdecimal():
            found = [int(link)] if int(link) < len(spec.cables) else []
        else:
            other = self.topology.node(link)
            found = [i for i, c in enumerate(spec.cables)
                     if c.other(spec) is other]
        if not found:
            raise Failed(f'{node.name} has no link {link}, it has '
                         + ', '.join(f'{i} to {c.other(spec).name}'
                                     for i, c in enumerate(spec.cables)))
        with node.qmp() as qmp:
            for number in found:
                try:
                    qmp.set(f'faults{number}', text)
                except OSError as e:
                    raise Failed(f'{node.name}: {e}') from e

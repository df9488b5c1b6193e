# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs guests that are joined by an Ethernet and by cables between their NICs.

A Cluster of this module ends with the process that started it, because the kernel then kills
QEMU and ssh. The clusters of cluster.py continue to run.
"""

import contextlib
import ctypes
import os
import random
import re
import shlex
import signal
import socket
import subprocess
import time
from pathlib import Path

from . import families, guest, host, runtime, topology, wires
from .arch import AMD64, ARCHES
from .debug_kernel import DEBUG
from .family import value
from .paths import shown
from .qmp import Qmp
from .steps import Failed, log_path, step, tail

BOOT_SECONDS = 240     # limit for the boot of a node, while a few others boot, too
_SLOW_BOOT_SECONDS = 900    # limit for the boot of a guest with the debug kernel
_PR_SET_PDEATHSIG = 1
_CMDLINE = (
    'quiet loglevel=5 mitigations=off lsm=capability audit=0 maxcpus=1 nowatchdog '
    'net.ifnames=0 systemd.unit=multi-user.target systemd.show_status=0')
# A guest prints this line on its console when its ssh server is ready.
READY = 'rnic: ready'
_BANNER_SECONDS = 120  # limit for the banner of the ssh server after the line READY
_EARLY_SECONDS = 2     # limit before the line READY: the guest may have no network yet
_PROBE_SECONDS = 30    # time after a broken connection in which the guest must answer
# Messages on the console that report an error of the guest's kernel.
_TROUBLE = re.compile(
    r'BUG:|Oops|WARNING: |Call Trace|general protection fault|soft lockup|'
    r'blocked for more than|Kernel panic|Out of memory|refcount_t|UBSAN')


def default_cpus():
    return max(1, min(4, host.cores() // 2))


def default_memory():
    """Returns the default memory, in MB, of one guest of a pair."""
    return 2048 if host.has_much_memory() else 1024


def _die_with(parent, number):
    """Returns a function for a new child process to call, so that the kernel sends signal
    NUMBER to the child when the thread that started the child ends, at the latest when this
    process ends. PARENT is the number of this process. The function ends the child if this
    process has ended already."""
    # Finds prctl before the fork, because another thread may hold the loader's lock during
    # the fork.
    prctl = ctypes.CDLL(None, use_errno=True).prctl

    def arrange():
        prctl(_PR_SET_PDEATHSIG, number)
        if os.getppid() != parent:
            os._exit(1)
    return arrange


def check_share(folder):
    """Fails if FOLDER is not a folder, or has a comma in its path, and thus cannot be shared
    with the guests. Accepts None, which stands for no folder."""
    if folder is not None and (not os.path.isdir(folder) or ',' in folder):
        raise Failed(f"'{folder}' is not a folder that can be shared")


def check_faults(binary, topo):
    """Fails, with the line of the topology file, if the device refuses the faults of a cable
    in TOPO. Sets the faults of a device in a QEMU without a guest, so that no node must be
    started for this check. Does not check the routes."""
    wanted = {c.faults: c.where for c in topo.cables if c.faults}
    if not wanted:
        return
    device = families.nic(topo.nodes[0].nic).devices[AMD64.name]
    with Qmp(None, [binary, '-M', 'q35', '-m', 64, '-S', '-nodefaults',
                    '-display', 'none', '-qmp', 'stdio',
                    '-netdev', 'hubport,id=link0,hubid=0',
                    '-device', f'{device},id=nic,link0=link0']) as qmp:
        for text, where in wanted.items():
            try:
                qmp.set('faults0', text)
            except OSError as e:
                raise Failed(where + str(e).removeprefix('faults0: ')) from e


def spawn(cmd, die=signal.SIGKILL, **options):
    """Starts a child process. The child gets signal DIE when the calling thread ends, at the
    latest when this process ends."""
    return subprocess.Popen([str(c) for c in cmd],
                            preexec_fn=_die_with(os.getpid(), die), **options)


class Banner:
    """Waits for the banner of an ssh server. The connection stays open between two calls,
    because each connection starts a process of the ssh server. In a slow guest a process
    needs longer than the time between two calls, and many processes slow each other."""

    def __init__(self):
        self.connection = self.end = None

    def arrived(self, port, limit, wait=0):
        """Returns true if the ssh server at PORT of this machine has sent its banner. Waits
        for the banner for at most WAIT seconds. Opens a connection unless one is open. Closes
        the connection after the banner, after an error, when the server closes it, and in the
        first call that ends more than LIMIT seconds after the connection was opened. Raises
        OSError if no connection is possible."""
        if not self.connection:
            self.connection = socket.create_connection(('127.0.0.1', port), 1)
            self.end = time.monotonic() + limit
        self.connection.settimeout(wait)
        try:
            data = self.connection.recv(4)
        except (BlockingIOError, TimeoutError):
            if time.monotonic() > self.end:
                self.close()
            return False
        except OSError:
            data = b''
        self.close()
        return data == b'SSH-'

    def close(self):
        if self.connection:
            self.connection.close()
            self.connection = None


class Node:
    """One guest, or a switch without a guest: its QEMU, its logs and its ssh connection."""

    def __init__(self, spec, cluster):
        self.spec, self.cluster = spec, cluster
        self.arch = ARCHES[spec.arch]
        self.device = families.nic(spec.nic).devices.get(spec.arch)   # name of the NIC in QEMU
        self.number, self.name, self.memory = \
            spec.number, spec.name, spec.memory
        self.console = log_path(f'{cluster.name}-{self.name}-console')
        self.errors = log_path(f'{cluster.name}-{self.name}-qemu')
        self.process = self.port = self.master = self.since = None
        self.banner = Banner()

    def start(self):
        """Starts QEMU. The guest boots in the background."""
        self.console.unlink(missing_ok=True)
        cmd = self.cluster.launcher(self) + self.command()
        with open(self.errors, 'wb') as errors:
            errors.write((shlex.join(cmd) + '\n').encode())
            errors.flush()
            self.process = self.cluster.spawn(
                cmd, stdin=subprocess.DEVNULL, stdout=errors, stderr=errors,
                start_new_session=True)
        self.since = time.monotonic()
        self.cluster.started(self)

    def socket(self, what):
        """Returns the path of the Unix socket WHAT of this node, on the node's host."""
        return f'{self.cluster.folder}/{self.number}.{what}'

    def command(self):
        """Returns the command line of QEMU."""
        n, spec, cluster = self.number, self.spec, self.cluster
        if spec.switch:
            return self._switch_command()
        kernel = DEBUG if cluster.debug else self.arch
        append = f'{kernel.cmdline} {_CMDLINE} rnic.node={n} ' \
                 f'systemd.hostname={self.name} systemd.machine_id={n + 1:032x}'
        image = guest.Image(cluster.topology.image, self.arch)
        if cluster.crowded():
            append += ' rnic.crowded'
        nic = families.nic(spec.nic)
        if nic.append:
            append += f' {nic.append}'
        cmd = [cluster.binary.with_name(self.arch.binary), '-name', self.name,
               '-nodefaults', '-no-reboot', '-display', 'none',
               *self.arch.machine, '-accel', f'tcg{cluster.accel}',
               '-smp', spec.cores, '-m', spec.memory,
               '-qmp', f'unix:{self.socket("qmp")},server=on,wait=off',
               '-serial', f'file:{self.console}',
               '-kernel', kernel.kernel, '-initrd', kernel.initrd,
               '-drive', 'if=virtio,format=raw,snapshot=on,'
               f'file={value(image.disk)}',
               '-fw_cfg', 'name=opt/rnic/nodes,'
               f'string={value(cluster.hosts())}',
               '-netdev', f'user,id=host,ipv6=off,net={_management(n)}.0/24,'
               'hostfwd=tcp:127.0.0.1:0-:22',
               '-device', 'virtio-net-pci,netdev=host,romfile=,'
               f'mac=52:54:00:4d:{n >> 8:02x}:{n & 255:02x}',
               *cluster.ethernet(self),
               *nic.ethernet(f'52:54:00:45:{n >> 8:02x}:{n & 255:02x}'),
               *nic.options(self)]
        if cluster.share:
            append += ' rnic.share'
            cmd += ['-virtfs', f'local,path={cluster.share},mount_tag=host,'
                    'security_model=none,multidevs=remap']
        return [str(c) for c in [*cmd, '-append', append]]

    def _switch_command(self):
        """Returns the command line of a QEMU without a guest. The firmware finds no disk and
        halts the CPU, but virtual time still advances for the NIC."""
        return [str(c) for c in [
            self.cluster.binary.with_name(AMD64.binary), '-name', self.name,
            '-nodefaults', '-no-reboot', '-display', 'none', *AMD64.machine,
            '-accel', 'tcg,tb-size=8', '-m', 32,
            '-qmp', f'unix:{self.socket("qmp")},server=on,wait=off',
            *families.nic(self.spec.nic).options(self)]]

    def qmp(self):
        """Returns a connection to the control channel of QEMU, for a with statement."""
        return Qmp(self.socket('qmp'), self.cluster.prefix(self))

    def find_port(self):
        """Asks QEMU for the TCP port of QEMU's host that leads to the guest's ssh server, and
        stores the port. Raises OSError if QEMU does not answer, for example while it starts,
        or if QEMU forwards no port."""
        with self.qmp() as qmp:
            users = qmp.command('human-monitor-command',
                                **{'command-line': 'info usernet'})
        m = re.search(r'HOST_FORWARD\]\s+\d+\s+\S+\s+(\d+)', users)
        if not m:
            raise OSError('QEMU forwards no port to the guest')
        self.port = int(m[1])

    def check(self, grace=0):
        """Fails if QEMU has ended, or ends within GRACE seconds."""
        try:
            code = self.process.wait(timeout=grace)
        except subprocess.TimeoutExpired:
            return
        raise Failed(f'the QEMU of {self.name} {self.end(code)}', self.errors)

    def end(self, code=None):
        """Returns a text that says how QEMU ended, and QEMU's last message. CODE is the exit
        code of QEMU; another value than a number means that the exit code is not known."""
        how = 'ended'
        if isinstance(code, int):
            how += f' by {signal.Signals(-code).name}' if code < 0 \
                else f' with code {code}'
        try:
            # Drops the first line, which is the command line or, in a long file, a part of a
            # line.
            lines = [s for s in tail(self.errors).splitlines()[1:] if s.strip()]
        except OSError:
            lines = []
        # If Slurm has started QEMU, the last lines may be messages of Slurm.
        own = [s for s in lines if not s.startswith(('srun:', 'slurmstepd:'))]
        last = (own or lines or ['it said nothing'])[-1].strip()
        return f'{how}: {last[:200]}'

    def answers(self, wait=0):
        """Returns true if the guest's ssh server answers within WAIT seconds. If Slurm
        has started the node, returns true if the console has the line READY. For a switch,
        which has no guest, returns true if its QEMU answers."""
        with contextlib.suppress(OSError):
            if self.spec.switch:
                with self.qmp():
                    return True
            if not self.port:
                self.find_port()
            if self.cluster.prefix(self):
                return self._ready()
            # QEMU accepts a connection before the guest has a network. Such a connection
            # may reach the guest a minute late, because QEMU retransmits its packets at
            # growing intervals. So an early connection has a short limit.
            limit = _BANNER_SECONDS if self._ready() else _EARLY_SECONDS
            return self.banner.arrived(self.port, limit, wait)
        return False

    def _ready(self):
        """Returns true if the console has the line READY."""
        return READY in self.console.read_text(encoding='utf-8', errors='replace')

    def ssh(self, *options):
        """Returns the beginning of an ssh command line that runs in this guest."""
        return [*self.cluster.prefix(self, '-t' in options),
                'ssh', '-F', '/dev/null', '-p', str(self.port),
                '-i', str(guest.KEY), '-S', self.socket('ssh'),
                '-o', 'IdentitiesOnly=yes', '-o', 'BatchMode=yes',
                '-o', 'StrictHostKeyChecking=yes', '-o', 'LogLevel=ERROR',
                '-o', f'UserKnownHostsFile="{self.cluster.known_hosts()}"',
                '-o', 'HostKeyAlias=rnic', '-o', 'ServerAliveInterval=60',
                '-o', 'ServerAliveCountMax=10', *options, 'root@127.0.0.1']

    def login(self):
        """Opens the ssh connection that later commands share, unless an earlier call has
        started this connection. Fails if ssh ends, and after 60 s."""
        if self.master:
            return
        self.master = spawn(self.ssh('-N', '-M'), stdin=subprocess.DEVNULL,
                            start_new_session=True)
        end = time.monotonic() + 60
        while not os.path.exists(self.socket('ssh')):
            if self.master.poll() is not None or time.monotonic() > end:
                raise Failed(f'no login to {self.name}', self.console)
            time.sleep(0.05)

    def run(self, command, timeout=None, **options):
        """Runs the shell command line COMMAND in this guest. OPTIONS and the result are those
        of subprocess.run(). The guest ends COMMAND after TIMEOUT seconds, with exit code 124,
        or 137 if COMMAND ignores SIGTERM. Raises TimeoutExpired if COMMAND still runs 20 s
        later."""
        self.login()
        options.setdefault('stdin', subprocess.DEVNULL)
        if timeout:
            command = f'timeout -k 5 {timeout} sh -c {shlex.quote(command)}'
            timeout += 20
        return subprocess.run([*self.ssh(), '--', command], check=False,
                              timeout=timeout, **options)

    def trouble(self):
        """Returns the lines on the console that report an error of the guest's kernel; no lines
        for a switch."""
        if self.spec.switch:
            return []
        text = self.console.read_text(encoding='utf-8', errors='replace')
        return [s for s in text.splitlines() if _TROUBLE.search(s)]

    def stop(self):
        """Kills the ssh connection and QEMU. The guest is not shut down, because QEMU discards
        all changes of the disk anyway."""
        self.banner.close()
        for process in (self.master, self.process):
            if process and process.poll() is None:
                process.kill()
                process.wait()


def _management(number):
    """Returns the first three bytes, as text, of the IPv4 network between node NUMBER and its
    host."""
    return f'10.{number // 200}.{number % 200 + 2}'


def address(number):
    """Returns the IPv4 address of node NUMBER in the Ethernet that joins the guests."""
    return f'10.77.{(number + 1) >> 8}.{(number + 1) & 255}'


class Cluster:
    """Guests that run inside a with statement."""

    def __init__(self, binary, name, topo, *, share=None):
        self.binary, self.name, self.topology = Path(binary), name, topo
        self.share = os.path.abspath(share) if share else None
        # With more than two nodes, limits each buffer of translated code to 128 MB, because
        # the nodes share the host's memory.
        self.accel = ',tb-size=128' if len(topo.nodes) > 2 else ''
        self.debug = False     # true: the guests have the debug kernel
        self.folder = None     # folder of sockets; None while there is no folder
        self.nodes = [Node(spec, self) for spec in topo.nodes]
        self.guests = [n for n in self.nodes if not n.spec.switch]
        # Multicast group, UDP port and identifier of the Ethernet of this cluster, which
        # ethernet() uses.
        self.segment = (f'239.77.{random.randrange(256)}.'
                        f'{random.randrange(1, 255)}',
                        random.randrange(15000, 25000),
                        random.randrange(1, 1 << 24))

    def known_hosts(self):
        """Returns the path of the file with the public key of all guests."""
        return f'{self.folder}/known_hosts'

    def hosts(self):
        """Returns the text of the fw_cfg file opt/rnic/nodes, which is the same for each guest:
        an entry per guest with its IPv4 address, name, number of CPUs and coordinates. Entries
        are separated by ";", and their words by blanks."""
        return ';'.join(f'{address(n.number)} {n.name} {n.spec.cores} '
                        f'{n.spec.coord:#x}' for n in self.guests)

    def crowded(self):
        """Returns true if there are more than two nodes, and the number of QEMUs plus the
        number of all guests' CPUs exceeds the number of the hosts' processors. Assumes that
        each host has as many processors as this process may use here. A process in a crowded
        guest must not keep a processor while it waits."""
        nodes = len(self.nodes)
        wanted = nodes + sum(n.spec.cores for n in self.guests)
        hosts = len(self.topology.hosts) or 1
        return nodes > 2 and wanted > hosts * host.cores()

    def spawn(self, cmd, **options):
        return spawn(cmd, **options)

    def started(self, _node):
        """Does nothing. Node.start() calls this method at its end, when the QEMU of the node
        has been started, so that a subclass can react."""

    def launcher(self, _node):
        """Returns the words in front of the command line of a node's QEMU."""
        return []

    def prefix(self, _node, _tty=False):
        """Returns the words in front of a command that must run on the host of a node."""
        return []

    def ethernet(self, node):
        """Returns QEMU's options for netdev "ether", which connects NODE to the Ethernet of the
        guests."""
        if len(self.guests) == 2 and not self.topology.hosts:
            return wires.end(self.topology.wire, 'ether', f'{self.folder}/ether',
                             node.number == 0)
        group, port, vni = self.segment
        interface = self.topology.interface
        return ['-netdev', f'vde,id=ether,sock=vxvde://{group}/v4/port={port}/vni={vni}'
                + (f'/if={interface}' if interface else '')]

    def plug(self, node, cable, name):
        """Returns the options of QEMU for netdev NAME, the end of CABLE at NODE."""
        return wires.end(self.topology.wire, name, f'{self.folder}/cable{cable.number}',
                         node.spec is cable.a)

    def __enter__(self):
        check_share(self.share)
        check_faults(self.binary, self.topology)
        self.folder = runtime.scratch()
        try:
            self.boot()
            self.nodes[0].login()
        except BaseException:
            self.__exit__()
            raise
        return self

    def boot(self):
        """Starts all nodes and waits until they answer. At most at_once() nodes boot at the
        same time, because time limits in a guest expire if too many boot."""
        key = guest.HOST_KEY.with_suffix('.pub').read_text(encoding='ascii')
        Path(self.known_hosts()).write_text(f'rnic {key}', encoding='ascii')
        count = len(self.nodes)
        what = f'{len(self.guests)} guests'
        if count > len(self.guests):
            what += f' and {count - len(self.guests)} switches'
        with step(f'booting {what} ({self._size()})') as line:
            waiting, booting = list(self.nodes), []
            while waiting or booting:
                while waiting and len(booting) < self.at_once():
                    booting.append(waiting.pop(0))
                    booting[-1].start()
                booting = [n for n in booting if not _is_up(n)]
                line.show(f'{count - len(waiting) - len(booting)}/{count} '
                          'answer,')
                time.sleep(0.2)
            line.title = f'{what} are up'

    def at_once(self):
        """Returns the maximum number of nodes that boot at the same time."""
        return max(2, host.cores())

    def _size(self):
        cores = {n.spec.cores for n in self.guests}
        memory = {n.spec.memory for n in self.guests}
        if len(cores) > 1 or len(memory) > 1:
            return f'{sum(n.spec.cores for n in self.guests)} CPUs and ' \
                   f'{sum(n.spec.memory for n in self.guests)} MB in all'
        return f'{min(cores)} CPU{"s" if min(cores) > 1 else ""}, ' \
               f'{min(memory)} MB each'

    def __exit__(self, *_):
        for node in self.nodes:
            node.stop()
        if self.folder:
            runtime.remove(self.folder)
            self.folder = None

    def foreground(self, command, node=None, tty=False):
        """Runs COMMAND on NODE, by default on the first node, with standard input and output of
        this process. Returns the exit code. If the QEMU of NODE ends, kills ssh and fails.
        Without NODE, COMMAND may use all nodes, so the end of any QEMU has this effect; COMMAND
        may then continue to run. Fails if the exit code is 255, which is also the exit code of
        ssh for an error, and NODE does not answer. With TTY, COMMAND has a terminal."""
        needed = [node] if node else self.nodes
        node = node or self.nodes[0]
        process = spawn([*node.ssh(*(['-t'] if tty else [])), '--', command])
        try:
            code = None
            while code is None:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    code = process.wait(1)
                for n in needed:
                    n.check()
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
        if code == 255 and not node.answers(_PROBE_SECONDS):
            raise Failed(f'the connection to {node.name} broke', node.console)
        return code

    def logs(self):
        return ', '.join(shown(n.console) for n in self.guests)


def _is_up(node):
    """Returns true if NODE answers. Fails if the QEMU of NODE has ended, or if NODE does not
    answer in time."""
    node.check()
    if node.answers():
        return True
    limit = _SLOW_BOOT_SECONDS if node.cluster.debug else BOOT_SECONDS
    if time.monotonic() - node.since > limit:
        raise Failed(f'{node.name} did not boot in {limit} s',
                     node.errors if node.spec.switch else node.console)
    return False


class Pair(Cluster):
    """Two guests, node0 and node1. One cable joins their NICs if NICs of this kind have
    cables."""

    def __init__(self, binary, name, *, cpus=None, memory=None, share=None,
                 kinds=(families.DEFAULT.name,) * 2, arches=(AMD64, AMD64),
                 debug=False, wire=wires.STREAM):
        topo = topology.load('pair')
        topo.wire = wire
        topo.image = families.nic(kinds[0]).image
        for spec, arch, kind in zip(topo.nodes, arches, kinds):
            spec.arch, spec.nic = arch.name, kind
            spec.cores = cpus or default_cpus()
            spec.memory = memory or default_memory()
        super().__init__(binary, name, topo, share=share)
        self.debug = debug

    def shell(self):
        """Shows a prompt of each guest in this terminal, by tmux. Returns the exit code of tmux
        when both shells have ended, or when the user detaches from tmux."""
        tmux = ['tmux', '-f', '/dev/null', '-S', f'{self.folder}/tmux']
        env = {k: v for k, v in os.environ.items() if k != 'TMUX'}
        panes = [shlex.join(n.ssh('-t')) for n in self.nodes]
        subprocess.run(
            [*tmux, 'new-session', '-d', '-s', 'rnic', panes[0], ';',
             'set', '-g', 'mouse', 'on', ';', 'set', '-g', 'status-left',
             'node0 above, node1 below; C-b arrows switch, exit leaves ',
             ';', 'set', '-g', 'status-left-length', '80', ';',
             'split-window', '-v', panes[1], ';', 'select-pane', '-U'],
            check=True, env=env)
        try:
            return subprocess.run([*tmux, 'attach'], check=False,
                                  env=env).returncode
        finally:
            subprocess.run([*tmux, 'kill-server'], check=False,
                           stderr=subprocess.DEVNULL)

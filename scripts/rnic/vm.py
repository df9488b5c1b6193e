# SPDX-License-Identifier: GPL-2.0-or-later
"""Two guests, node0 and node1, joined by an Ethernet and by our NIC.

Nothing outlives the process that uses them: the kernel kills QEMU and ssh
when it dies, whatever the reason, and both wires are socket pairs.
"""

import contextlib
import ctypes
import json
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path

from . import guest
from .paths import shown
from .steps import Failed, log_path, step, tail

BOOT_SECONDS = 240
_PR_SET_PDEATHSIG = 1
_CMDLINE = (
    'console=ttyS0 quiet loglevel=5 mitigations=off lsm=capability audit=0 '
    'maxcpus=1 lpj=4000000 nowatchdog tsc=reliable no_timer_check net.ifnames=0 '
    'systemd.unit=multi-user.target systemd.show_status=0')
# What a healthy guest never prints.
_TROUBLE = re.compile(
    r'BUG:|Oops|WARNING: |Call Trace|general protection fault|soft lockup|'
    r'blocked for more than|Kernel panic|Out of memory|refcount_t|UBSAN')


def default_cpus():
    return max(1, min(4, len(os.sched_getaffinity(0)) // 2))


def default_memory():
    return 1024


def _die_with(parent):
    """For a child: be killed when PARENT, this process, is gone."""
    libc = ctypes.CDLL(None, use_errno=True)

    def arrange():
        libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)
    return arrange


def check_share(folder):
    """Failed if FOLDER, None for none, cannot be shared with the guests."""
    if folder is not None and (not os.path.isdir(folder) or ',' in folder):
        raise Failed(f"'{folder}' is not a folder that can be shared")


def spawn(cmd, **options):
    """A child that cannot outlive this process."""
    return subprocess.Popen([str(c) for c in cmd],
                            preexec_fn=_die_with(os.getpid()), **options)


class _Qmp:
    """QEMU's control channel, one command at a time."""

    def __init__(self, sock):
        sock.settimeout(30)
        self.file = sock.makefile('rw', encoding='utf-8')
        self.file.readline()
        self.command('qmp_capabilities')

    def command(self, name, **arguments):
        self.file.write(json.dumps({'execute': name, 'arguments': arguments}))
        self.file.flush()
        while True:
            line = self.file.readline()
            if not line:
                raise OSError('QEMU closed its control channel')
            answer = json.loads(line)
            if 'error' in answer:
                raise OSError(answer['error']['desc'])
            if 'return' in answer:
                return answer['return']


class Node:
    """One guest: its QEMU, its logs and the way in."""

    def __init__(self, number, pair):
        self.number, self.pair = number, pair
        self.name = f'node{number}'
        self.console = log_path(f'{pair.name}-{self.name}-console')
        self.errors = log_path(f'{pair.name}-{self.name}-qemu')
        self.process = self.qmp = self.port = self.master = None

    def start(self, ether, link):
        """Starts QEMU on its ends of the two wires."""
        self.console.unlink(missing_ok=True)
        ours, control = socket.socketpair()
        fds = [s.fileno() for s in (ether, link, control)]
        with control, open(self.errors, 'wb') as errors:
            cmd = self._command(*fds)
            errors.write((shlex.join(cmd) + '\n').encode())
            errors.flush()
            self.process = spawn(cmd, stdin=subprocess.DEVNULL, stdout=errors,
                                 stderr=errors, pass_fds=fds,
                                 start_new_session=True)
        try:
            self.qmp = _Qmp(ours)
            users = self.qmp.command('human-monitor-command',
                                     **{'command-line': 'info usernet'})
            self.port = int(re.search(
                r'HOST_FORWARD\]\s+\d+\s+\S+\s+(\d+)', users).group(1))
        except (OSError, AttributeError, ValueError) as e:
            self.check(grace=2)
            raise Failed(f'no control over the QEMU of {self.name}: {e}',
                         self.errors) from e

    def _command(self, ether, link, control):
        n, pair = self.number, self.pair
        append = f'{_CMDLINE} rnic.node={n} systemd.hostname={self.name} ' \
                 f'systemd.machine_id={n + 1:032x}'
        cmd = [pair.binary, '-name', self.name, '-nodefaults', '-no-reboot',
               '-display', 'none', '-M', f'q35,accel={pair.accel}',
               '-cpu', 'max', '-smp', pair.cpus, '-m', pair.memory,
               '-chardev', f'socket,id=qmp,fd={control}',
               '-mon', 'chardev=qmp,mode=control',
               '-serial', f'file:{self.console}',
               '-kernel', guest.KERNEL, '-initrd', guest.INITRD,
               '-drive', f'if=virtio,format=raw,snapshot=on,'
               f'file={guest.DISK}',
               '-netdev', f'user,id=host,ipv6=off,net=10.0.{n + 2}.0/24,'
               'hostfwd=tcp:127.0.0.1:0-:22',
               '-device', 'virtio-net-pci,netdev=host,romfile=,'
               f'mac=52:54:00:4d:00:{n:02x}',
               '-netdev', f'stream,id=ether,server=off,addr.type=fd,'
               f'addr.str={ether}',
               '-device', 'virtio-net-pci,netdev=ether,romfile=,'
               f'mac=52:54:00:45:00:{n:02x}']
        if pair.nic:
            cmd += ['-netdev', 'stream,id=link0,server=off,addr.type=fd,'
                    f'addr.str={link}',
                    '-device', f'exanet-pci,coord={n},link0=link0']
        if pair.share:
            append += ' rnic.share'
            cmd += ['-virtfs', f'local,path={pair.share},mount_tag=host,'
                    'security_model=none,multidevs=remap']
        return [str(c) for c in [*cmd, '-append', append]]

    def check(self, grace=0):
        """Failed if QEMU is gone, or ends within GRACE seconds."""
        try:
            code = self.process.wait(timeout=grace)
        except subprocess.TimeoutExpired:
            return
        last = tail(self.errors).strip().splitlines()[-1]
        raise Failed(f'the QEMU of {self.name} ended with code {code}: '
                     f'{last[:200]}', self.errors)

    def answers(self):
        """True if the guest's ssh server greets."""
        with contextlib.suppress(OSError), \
                socket.create_connection(('127.0.0.1', self.port), 1) as s:
            s.settimeout(2)
            return s.recv(4) == b'SSH-'
        return False

    def ssh(self, *options):
        """The start of an ssh command line into this guest."""
        return ['ssh', '-F', '/dev/null', '-p', str(self.port),
                '-i', str(guest.KEY), '-S', self.pair.control(self),
                '-o', 'IdentitiesOnly=yes', '-o', 'BatchMode=yes',
                '-o', 'StrictHostKeyChecking=yes', '-o', 'LogLevel=ERROR',
                '-o', f'UserKnownHostsFile={self.pair.folder}/known_hosts',
                '-o', 'HostKeyAlias=rnic', '-o', 'ServerAliveInterval=60',
                '-o', 'ServerAliveCountMax=10', *options, 'root@127.0.0.1']

    def login(self):
        """Opens the connection that later commands share."""
        self.master = spawn(self.ssh('-N', '-M'), stdin=subprocess.DEVNULL,
                            start_new_session=True)
        end = time.monotonic() + 60
        while not os.path.exists(self.pair.control(self)):
            if self.master.poll() is not None or time.monotonic() > end:
                raise Failed(f'no login to {self.name}', self.console)
            time.sleep(0.05)

    def run(self, command, timeout=None, **options):
        """Runs a shell command line in this guest, as subprocess.run()."""
        options.setdefault('stdin', subprocess.DEVNULL)
        if timeout:
            command = f'timeout -k 5 {timeout} sh -c {shlex.quote(command)}'
            timeout += 20
        return subprocess.run([*self.ssh(), '--', command], check=False,
                              timeout=timeout, **options)

    def trouble(self):
        """Lines on the console that a healthy guest never prints."""
        text = self.console.read_text(encoding='utf-8', errors='replace')
        return [s for s in text.splitlines() if _TROUBLE.search(s)]

    def stop(self):
        """Ends QEMU; its disk is an overlay, so nothing is worth saving."""
        for process in (self.master, self.process):
            if process and process.poll() is None:
                process.kill()
                process.wait()


class Pair:
    """Two running guests; use it in a with statement."""

    def __init__(self, binary, name, *, cpus=None, memory=None, share=None,
                 nic=True):
        self.binary, self.name = Path(binary), name
        self.cpus = cpus or default_cpus()
        self.memory = memory or default_memory()
        self.share = os.path.abspath(share) if share else None
        self.nic = nic
        self.accel = 'tcg'
        self.folder = None
        self.nodes = [Node(i, self) for i in range(2)]

    def control(self, node):
        return f'{self.folder}/{node.name}'

    def __enter__(self):
        check_share(self.share)
        # Socket paths are limited to 107 bytes, hence not below BUILD.
        self.folder = tempfile.mkdtemp(prefix='rnic-')
        try:
            with step(f'booting two guests ({self.cpus} CPUs, '
                      f'{self.memory} MB each)') as line:
                self._start()
                self._wait(line)
                line.title = 'two guests are up'
        except BaseException:
            self.__exit__()
            raise
        return self

    def _start(self):
        key = guest.HOST_KEY.with_suffix('.pub').read_text(encoding='ascii')
        Path(self.folder, 'known_hosts').write_text(f'rnic {key}',
                                                    encoding='ascii')
        ether, link = socket.socketpair(), socket.socketpair()
        with ether[0], ether[1], link[0], link[1]:
            for node, e, l in zip(self.nodes, ether, link):
                node.start(e, l)

    def _wait(self, line):
        end = time.monotonic() + BOOT_SECONDS
        waiting = list(self.nodes)
        while waiting:
            for node in self.nodes:
                node.check()
            waiting = [n for n in waiting if not n.answers()]
            if waiting and time.monotonic() > end:
                raise Failed(f'{waiting[0].name} did not boot in '
                             f'{BOOT_SECONDS} s', waiting[0].console)
            line.show(f'{2 - len(waiting)}/2 answer,')
            time.sleep(0.2)
        for node in self.nodes:
            node.login()

    def __exit__(self, *_):
        for node in self.nodes:
            node.stop()
        if self.folder:
            shutil.rmtree(self.folder, ignore_errors=True)

    def foreground(self, command, tty=False):
        """Runs COMMAND on node0 with this process's own stdin and stdout."""
        node = self.nodes[0]
        process = spawn([*node.ssh(*(['-t'] if tty else [])), '--', command])
        try:
            code = process.wait()
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
        for n in self.nodes:
            n.check()
        if code == 255 and not node.answers():
            raise Failed('the connection to node0 broke', node.console)
        return code

    def shell(self):
        """A terminal with a prompt in each guest, until both are left."""
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

    def logs(self):
        return ', '.join(shown(n.console) for n in self.nodes)

# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs Slurm for a test on this machine: one controller, and a slurmd for each of several
"hosts".  This Slurm has its own folders, key and ports, and does not use those of the
system."""

import contextlib
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path

from rnic import host

PACKAGES = ['munge', 'slurm-client', 'slurmctld', 'slurmd']
_SECONDS = 60


def free_ports(count):
    """Returns TCP ports that no program uses now."""
    socks = [socket.socket() for _ in range(count)]
    try:
        for s in socks:
            s.bind(('127.0.0.1', 0))
        return [s.getsockname()[1] for s in socks]
    finally:
        for s in socks:
            s.close()


class Slurm:
    """Runs Slurm during a "with" statement; env is the environment of clients."""

    def __init__(self, hosts):
        self.hosts, self.running = hosts, []
        self.folder = Path(tempfile.mkdtemp(prefix='rnic-slurm-'))
        self.env = {**os.environ, 'SLURM_CONF': str(self.folder / 'conf')}

    def __enter__(self):
        try:
            self._start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def _start(self):
        d = self.folder
        for name in ('state', 'munge', *(f'spool-{h}' for h in self.hosts)):
            (d / name).mkdir(mode=0o700)
        key = d / 'munge/key'
        key.write_bytes(os.urandom(128))
        key.chmod(0o600)
        self.write_conf()
        self._daemon('munged', '--foreground', '--force',
                     f'--socket={d}/munge/socket', f'--key-file={key}',
                     f'--log-file={d}/munge/log',
                     f'--pid-file={d}/munge/pid',
                     f'--seed-file={d}/munge/seed')
        self._wait(lambda: (d / 'munge/socket').exists(), 'munged')
        self._daemon('slurmctld', '-D', '-c')
        for name in self.hosts:
            self._daemon('slurmd', '-D', '-N', name)
        self._wait(self._idle, 'slurmd')

    def write_conf(self):
        """Writes the configuration of all daemons and clients."""
        d, user = self.folder, pwd.getpwuid(os.getuid()).pw_name
        here = socket.gethostname().split('.')[0]
        ports = free_ports(len(self.hosts) + 1)
        lines = [
            'ClusterName=rnic', f'SlurmctldHost={here}(127.0.0.1)',
            f'SlurmctldPort={ports[0]}', f'SlurmUser={user}',
            f'SlurmdUser={user}', 'AuthType=auth/munge',
            f'AuthInfo=socket={d}/munge/socket', 'CredType=cred/munge',
            f'StateSaveLocation={d}/state', f'SlurmdSpoolDir={d}/spool-%n',
            f'SlurmctldPidFile={d}/slurmctld.pid',
            f'SlurmdPidFile={d}/slurmd-%n.pid',
            f'SlurmctldLogFile={d}/slurmctld.log',
            f'SlurmdLogFile={d}/slurmd-%n.log',
            'ProctrackType=proctrack/linuxproc', 'TaskPlugin=task/none',
            'MpiDefault=none', 'SwitchType=switch/none', 'ReturnToService=2',
            'SchedulerType=sched/builtin', 'SelectType=select/cons_tres',
            'SlurmdTimeout=300', 'KillWait=5', 'InactiveLimit=0']
        # Slurm drains a host with fewer CPUs than the configuration says.
        for name, port in zip(self.hosts, ports[1:]):
            lines.append(f'NodeName={name} NodeHostname={here} '
                         f'NodeAddr=127.0.0.1 Port={port} CPUs={host.cores()} '
                         'RealMemory=1000')
        lines.append(f'PartitionName=all Nodes={",".join(self.hosts)} '
                     'Default=YES State=UP')
        (d / 'conf').write_text('\n'.join(lines) + '\n', encoding='ascii')

    def _daemon(self, name, *arguments):
        path = shutil.which(name, path='/usr/sbin:/usr/bin')
        with open(self.folder / f'{name}.out', 'ab') as out:
            self.running.append(subprocess.Popen(
                [path, *arguments], stdin=subprocess.DEVNULL, stdout=out,
                stderr=out, env=self.env))

    def _wait(self, ready, what):
        end = time.monotonic() + _SECONDS
        while not ready():
            dead = [p for p in self.running if p.poll() is not None]
            if dead or time.monotonic() > end:
                raise OSError(f'{what} does not start\n{self.logs()}')
            time.sleep(0.2)

    def _idle(self):
        r = self.command('sinfo', '-h', '-N', '-o', '%T')
        return r.stdout.split() == ['idle'] * len(self.hosts)

    def command(self, *cmd):
        """Runs a client of this Slurm; returns its process."""
        return subprocess.run(cmd, env=self.env, text=True, check=False,
                              stdin=subprocess.DEVNULL, capture_output=True)

    def logs(self):
        """Returns the last lines of the daemons' logs."""
        found = sorted([*self.folder.glob('*.out'), *self.folder.glob('*.log')])
        return '\n'.join(f'{f.name}: {line}' for f in found for line in
                         f.read_text(errors='replace').splitlines()[-6:])

    def __exit__(self, *_):
        for process in reversed(self.running):
            process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(10)
            process.kill()
            process.wait()
        self.remove()

    def remove(self):
        """Removes the folder of a Slurm that does not run."""
        shutil.rmtree(self.folder, ignore_errors=True)

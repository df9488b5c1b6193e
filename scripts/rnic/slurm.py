# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs nodes on several hosts: a cluster is a job of Slurm, and a node is a step of this
job."""

import contextlib
import re
import shlex
import subprocess
from pathlib import Path

from . import launch
from .steps import Failed, log_path

FIRST_FD = launch.FIRST
_LAUNCH = Path(launch.__file__)
_SECONDS = 60          # limit for salloc to get the hosts, and for a command of _quietly()


def allocate(name, folder, topo):
    """Returns the number of a new job that has all hosts of the topology TOPO. The name of the
    job contains that of FOLDER. Fails if Slurm is not installed, or does not start the job
    within _SECONDS."""
    hosts, job = ','.join(topo.hosts), f'rnic-{Path(folder).name}'
    log = log_path(f'{name}-salloc')
    cmd = ['salloc', '--no-shell', f'--immediate={_SECONDS}',
           f'--job-name={job}', f'--nodes={len(topo.hosts)}',
           f'--nodelist={hosts}', '--ntasks-per-node=1', '--exclusive',
           *shlex.split(topo.slurm)]
    try:
        r = subprocess.run(cmd, stdin=subprocess.DEVNULL, text=True,
                           capture_output=True, check=False)
    except FileNotFoundError as e:
        raise Failed('a cluster on several hosts needs Slurm, and salloc is '
                     'not installed') from e
    except BaseException:
        # This program ends, usually because the user stops it, so no program would use
        # the job.
        _quietly(['scancel', '--me', f'--name={job}'])
        raise
    text = r.stdout + r.stderr
    log.write_text(shlex.join(cmd) + '\n' + text, encoding='utf-8')
    m = re.search(r'Granted job allocation (\d+)', text)
    if r.returncode or not m:
        last = (text.strip().splitlines() or ['it said nothing'])[-1]
        raise Failed(f'Slurm gives no {hosts}: {last}', log)
    return int(m[1])


def step(job, host, tty=False):
    """Returns the beginning of a command line that runs on HOST as a step of JOB. With TTY, the
    step has a terminal."""
    return ['srun', f'--jobid={job}', '--overlap', '--quiet', '--nodes=1',
            '--ntasks=1', f'--nodelist={host}',
            *(['--pty'] if tty else [])]


def launcher(job, host, folder, listen):
    """Returns the beginning of the command line of a QEMU on HOST. FOLDER is for the sockets of
    nodes. The QEMU inherits a TCP socket for each address ADDRESS:PORT in LISTEN, with
    descriptors from FIRST_FD on."""
    return [*step(job, host), f'--job-name={Path(folder).name}',
            '/usr/bin/python3', '-B', str(_LAUNCH), str(folder), *listen,
            '--']


def cancel(job, hosts, folder):
    """Removes FOLDER on all HOSTS, and ends the job JOB with its processes. Ignores errors."""
    for cmd in (*([*step(job, h), 'rm', '-rf', str(folder)] for h in hosts),
                ['scancel', str(job)]):
        _quietly(cmd)


def _quietly(cmd):
    """Runs the command CMD for at most _SECONDS, and ignores errors, because the host may have
    failed."""
    with contextlib.suppress(OSError, subprocess.TimeoutExpired):
        subprocess.run(cmd, check=False, stdin=subprocess.DEVNULL,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                       timeout=_SECONDS)

# SPDX-License-Identifier: GPL-2.0-or-later
"""What tests of scripts/cluster share: numbered results, and a cluster of the test."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
PROGRAM = TOP / 'scripts/cluster'
sys.path.insert(0, str(TOP / 'scripts'))
# Faults of a link, each kind alone and all together.  All together have fewer losses,
# because each kind adds to them.
FAULTS = ('drop=1%', 'corrupt-payload=1%', 'corrupt-header=1%', 'duplicate=2%',
          'reorder=2%', 'delay=2%:300us')
ALL_FAULTS = ' '.join([f.replace('1%', '0.3%') for f in FAULTS[:3]] + [*FAULTS[3:]])


def _end(number, _):
    """Ends the program with its "with" statements.  A second signal must not stop them.
    """
    signal.signal(signal.SIGTERM, lambda *_: None)
    sys.exit(128 + number)


signal.signal(signal.SIGTERM, _end)


def attentive():
    """Lets SIGINT end a child, because background jobs of a shell ignore the signal."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class Tap:
    """Prints numbered results."""

    def __init__(self):
        self.count = 0

    def result(self, good, name, why=''):
        self.count += 1
        print(f'{"" if good else "not "}ok {self.count} - {name}', flush=True)
        if not good:
            for line in str(why).splitlines()[-30:]:
                print(f'# {line}')

    def same(self, got, want, name):
        self.result(got == want, name, f'{got!r} instead of {want!r}')

    def finish(self):
        print(f'1..{self.count}')


class Cluster:
    """Calls scripts/cluster for one cluster, and takes the cluster down at the end."""

    def __init__(self, name, env=None):
        self.name, self.env = f'{name}-{os.getpid()}', env
        self.text = ''     # both outputs of the last call
        self.starting = None    # process of the last begin_up()

    def call(self, action, *arguments, **options):
        """Returns standard output and exit code of one call."""
        # -c comes first, because ARGUMENTS may end with options of a program in the guest
        r = subprocess.run(
            [PROGRAM, action, '-c', self.name, *arguments], env=self.env,
            text=True, stdin=subprocess.DEVNULL, capture_output=True,
            check=False, **options)
        self.text = r.stdout + r.stderr
        return r.stdout, r.returncode

    def begin_up(self, *arguments, **options):
        """Starts "up" in the background, in a session of its own; returns the process.
        """
        # pylint: disable=consider-using-with
        self.starting = subprocess.Popen(
            [PROGRAM, 'up', '-c', self.name, *arguments], env=self.env, text=True,
            stdin=subprocess.DEVNULL, start_new_session=True,
            **{'stderr': subprocess.DEVNULL, **options})
        return self.starting

    def good(self, *arguments):
        """Returns true if a call succeeds."""
        return self.call(*arguments)[1] == 0

    def failure(self):
        """Returns the line FAILED of the last call; None if there is not exactly one."""
        lines = [s for s in self.text.splitlines() if s.startswith('FAILED: ')]
        return lines[0] if len(lines) == 1 else None

    def status(self):
        """Returns the result of status --json; None if that is not JSON."""
        out, _ = self.call('status', '--json')
        try:
            return json.loads(out)
        except ValueError:
            return None

    def links(self, what):
        """Returns {(node, number of the link): value WHAT of that link}."""
        return {(node, link['index']): link.get(what)
                for node, v in (self.status() or {}).items()
                if isinstance(v, dict) for link in v['links']}

    def processes(self):
        """Returns the processes of this user whose command line has the name of this
        cluster."""
        r = subprocess.run(['pgrep', '-f', f'/{self.name}-'], text=True,
                           capture_output=True, check=False)
        return [int(p) for p in r.stdout.split()]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        # down refuses while "up" runs, because that starts nodes
        if self.starting and self.starting.poll() is None:
            self.starting.kill()
            self.starting.wait()
        self.call('down')


def mpi_with_faults(tap, c, faults):
    """Runs MPI on the four nodes of cluster C, with FAULTS at both ends of a cable."""
    for i, node in enumerate(('node0', 'node1')):
        c.good('fault', node, '0', f'{faults} seed={i + 1}')
    out, code = c.call('run', '-np', '4', '--', 'mpi-coll')
    tap.result(code == 0 and 'not ok' not in out and '1..' in out,
               f'MPI with {faults}', c.text)
    kinds = [k.split('=')[0] for k in faults.split()]
    found = {k: sum(v[k] for v in c.links('injected').values()) for k in kinds}
    tap.result(all(found.values()), f'{faults}: made', found)
    for node in ('node0', 'node1'):
        c.good('fault', node, '0', 'none')

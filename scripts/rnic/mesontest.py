# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs tests that are registered with meson, and adds up the results in meson's log."""

import contextlib
import json
import re
import signal
import subprocess
import time
from pathlib import Path
from typing import NamedTuple

from . import vm
from .steps import Failed, log_path

_ENDED = re.compile(r'^ *(\d+)/(\d+) \S+ / (\S+) +([A-Z]+) ', re.M)
_END_SECONDS = 30        # limit for meson to end its tests after SIGTERM
_ENDINGS = {'TIMEOUT': 'by time-out', 'INTERRUPT': 'by an interruption'}


class Test(NamedTuple):
    """A test that is registered with meson."""
    name: str
    suites: frozenset    # names without prefix rnic-; lacks suite rnic of all tests
    program: Path

    @property
    def arm(self):
        """Returns true if the test runs an Arm machine."""
        return 'arm' in self.suites

    @property
    def soak(self):
        """Returns true if the test is a soak test, which has its duration as an argument."""
        return 'soak' in self.suites


def listed(tree):
    """Yields the tests of this project in the configured build folder TREE."""
    with open(tree / 'meson-info/intro-tests.json', encoding='utf-8') as f:
        for t in json.load(f):
            suites = {s.removeprefix('qemu:') for s in t['suite']}
            if suites & {'rnic', 'rnic-soak'}:
                yield Test(t['name'], frozenset(
                    s.removeprefix('rnic-') for s in suites
                    if s.startswith('rnic-')), Path(t['cmd'][0]))


def run(tree, env, tests, line, summary, options=()):
    """Runs TESTS of the build folder TREE in the environment ENV, with OPTIONS of `meson test`,
    and adds the results to SUMMARY. LINE shows how many tests have ended, and which have
    failed. Fails if meson writes no results."""
    names = [t.name for t in tests]
    base = 'rnic'
    results = tree / f'meson-logs/{base}.json'
    results.unlink(missing_ok=True)
    console = log_path(f'meson-test-{tree.name}')
    with open(console, 'wb') as out:
        process = vm.spawn(
            [tree / 'pyvenv/bin/meson', 'test', '--no-rebuild', '--logbase', base,
             *options, *names], die=signal.SIGTERM, cwd=tree, env=env, stdout=out,
            stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
            start_new_session=True)
    try:
        while process.poll() is None:
            _show(console, len(names), line)
            time.sleep(0.5)
    finally:
        _end(process)
    if not results.exists():
        raise Failed(f'meson test ended with code {process.returncode}', console)
    _sum_up(results, tree, names, summary, console)


def _show(console, count, line):
    """Shows in LINE how many of COUNT tests have ended, from the output of meson in file
    CONSOLE."""
    ended = _ENDED.findall(console.read_text(encoding='utf-8', errors='replace'))
    failed = [name for _, _, name, how in ended if how not in ('OK', 'SKIP')]
    line.show(f'{len(ended)}/{count},' + (
        f' failed: {" ".join(failed)},' if failed else ''))


def _end(process):
    """Ends meson if it still runs: by SIGTERM, so that meson ends its tests, and after
    _END_SECONDS by SIGKILL."""
    if process.poll() is None:
        process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_END_SECONDS)
    process.kill()
    process.wait()


def _sum_up(results, tree, names, summary, console):
    """Writes a log for each test in RESULTS, the file with meson's log, and adds the results of
    this test to SUMMARY. A test of NAMES that is not in RESULTS counts as a failure. CONSOLE
    is the log that messages name for such a test."""
    missing = set(names)
    with open(results, encoding='utf-8') as f:
        for r in map(json.loads, f):
            name = r['name'].rsplit(' / ')[-1]     # meson's name begins with the suites
            missing.discard(name)
            log = log_path(f'test-{tree.name}-{name}')
            log.write_text(f'$ {" ".join(r["command"])}\n{r["stdout"]}'
                           f'{r.get("stderr", "")}', encoding='utf-8')
            code, how = r['returncode'], r['result']
            ended = _ENDINGS.get(how) or (code and f'with code {code}') or (
                how == 'ERROR' and 'with output that is no TAP')
            summary.program(name, r['stdout'], ended, log,
                            r.get('stderr', ''))
    for name in sorted(missing):
        summary.fail(name, 'was not run', console)

# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs test programs: on this machine, and in a pair of guests."""

import contextlib
import os
import re
import signal
import subprocess
import time

from . import build, nics, vm
from .arch import AMD64
from .paths import TOP
from .steps import Failed, log_path, step

_HOST_SECONDS = 180      # for one program; sanitizers get four times as much
_SOAK_SECONDS = 900      # that the last network may go on after its time
_END_SECONDS = 60        # to clean up behind a test that is ended
_GUEST_SECONDS = 300     # unless the test says "# timeout: N"
_SANITIZER = {
    'ASAN_OPTIONS': 'detect_leaks=0:abort_on_error=1',
    'UBSAN_OPTIONS': 'halt_on_error=1:print_stacktrace=1'}
# What the bus may matter for; these run on exanet-axi too, on an Arm machine.
_ON_AXI = re.compile(r'rnic-exanet-(accel|aperture|arith|axi|cdma|cdma-tracker|'
                     r'crossbar|exadma|firmware|link|litmus|packetizer|pair|'
                     r'receiver|rtmailbox|shm-initiator|shm-order|shm-span|'
                     r'shm-target|switch|tgen)-test$')
# The longest begin first, so that none is left over when all others have ended.
_LONGEST = re.compile(r'-(fabric|tree|pair|shm-soak|incast|recovery|hostile)-test$')
_ONLY_AXI = re.compile(r'rnic-exanet-axi-test$')
_GUEST_TESTS = '/usr/lib/rnic/tests'


def host(qemu, pattern, summary):
    """The unit tests and qtests of one build tree."""
    programs = sorted((p for p in qemu.tests() if p.name.endswith('-test') and
                       re.search(pattern, p.name)),
                      key=lambda p: not _LONGEST.search(p.name))
    _host(qemu, qemu.binary, qemu.name,
          [p for p in programs if not _ONLY_AXI.search(p.name)], summary)
    if not qemu.sanitize:
        _host(qemu, qemu.arm_binary, f'{qemu.name} for Arm',
              [p for p in programs if _ON_AXI.search(p.name) and
               p.parent.name != 'unit'], summary)


def _host(qemu, binary, name, programs, summary):
    """These programs, in parallel."""
    if not programs:
        return
    limit = _HOST_SECONDS * (4 if qemu.sanitize else 1)
    env = _host_env(qemu, binary)
    with step(f'unit tests and qtests on {name}') as line:
        waiting, running, done = list(programs), [], 0
        try:
            while waiting or running:
                while waiting and len(running) < (os.cpu_count() or 1):
                    running.append(_Program(waiting.pop(0), qemu, env, limit))
                for p in [p for p in running if p.ended()]:
                    running.remove(p)
                    done += 1
                    p.report(summary)
                line.show(f'{done}/{len(programs)},')
                time.sleep(0.05)
        finally:
            for p in running:
                p.kill()


def soak(qemu, minutes, summary):
    """Random networks, traffic and faults for so many minutes."""
    programs = [p for p in qemu.tests() if p.name.endswith('-soak')]
    if not programs:
        raise Failed(f'{qemu.name} has no soak program')
    for path in programs:
        with step(f'{minutes} min of {path.name} on {qemu.name}'):
            program = _Program(path, qemu, _host_env(qemu, qemu.binary),
                               minutes * 60 + _SOAK_SECONDS, str(minutes))
            try:
                while not program.ended():
                    time.sleep(0.5)
            finally:
                program.kill()
            program.report(summary)


def _host_env(qemu, binary):
    return {**os.environ, **(_SANITIZER if qemu.sanitize else {}),
            'QTEST_QEMU_BINARY': str(binary)}


class _Program:
    """One running test program of this machine."""

    def __init__(self, path, qemu, env, limit, *args):
        self.name = path.name.removeprefix('rnic-')
        if path.parent.name == 'unit':
            self.name = f'unit-{self.name}'     # there is a qtest of that name
        if env['QTEST_QEMU_BINARY'] == str(qemu.arm_binary):
            self.name += '-arm'
        self.log = log_path(f'test-{qemu.tree.name}-{self.name}')
        self.end, self.late = time.monotonic() + limit, False
        with open(self.log, 'wb') as out:
            self.process = vm.spawn(
                [path, '--tap', '-k', *args], cwd=qemu.tree, env=env,
                stdout=out, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                start_new_session=True)

    def ended(self):
        if self.process.poll() is None and time.monotonic() > self.end:
            self.late = True
            self.kill()
        return self.process.poll() is not None

    def kill(self):
        """With the QEMUs that it started, which are in its session."""
        _kill_session(self.process)

    def report(self, summary):
        code = self.process.returncode
        summary.program(
            self.name, self.log.read_text(encoding='utf-8', errors='replace'),
            'by time-out' if self.late else code and f'with code {code}',
            self.log)


def _kill_session(process):
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _ask(process):
    """Lets a test that is to end take down what runs in the background."""
    if process.poll() is None:
        process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_END_SECONDS)


def scripts(pattern, summary, full=False):
    """The tests of our own programs, which boot guests themselves; long ones,
    which say "# full", only with FULL."""
    for test in sorted((TOP / 'tests/scripts').glob('*.test')):
        if not re.search(pattern, test.stem) or not full and re.search(
                r'^# full$', test.read_text(encoding='utf-8'), re.M):
            continue
        log, ended = log_path(f'test-scripts-{test.stem}'), None
        with step(f'test of scripts/{test.stem}'), open(log, 'wb') as out:
            process = vm.spawn([test], die=signal.SIGTERM, stdout=out,
                               stdin=subprocess.DEVNULL,
                               stderr=subprocess.STDOUT,
                               start_new_session=True)
            try:
                code = process.wait(_limit(test))
                ended = code and f'with code {code}'
            except subprocess.TimeoutExpired:
                ended = 'by time-out'
            finally:
                _ask(process)
                _kill_session(process)
        summary.program(test.stem, log.read_text(encoding='utf-8'), ended, log)


def _limit(test):
    m = re.search(r'^# timeout: (\d+)$', test.read_text(encoding='utf-8'),
                  re.M)
    return int(m.group(1)) if m else _GUEST_SECONDS


def guests(binary, pattern, summary, arch=AMD64, full=False):
    """The tests of tests/guest, those for the same NICs in one boot of a pair:
    "# nic: KIND" says which, for each pair it shall run in. Long ones, which
    say "# full", only with FULL."""
    found = {}
    for test in sorted((TOP / 'tests/guest').glob('*.test')):
        text = test.read_text(encoding='utf-8')
        if not full and re.search(r'^# full$', text, re.M):
            continue
        for kinds in re.findall(r'^# nic: (.*)$', text, re.M) or ['exanet']:
            pair = nics.pair(kinds)
            if re.search(pattern, _guest_name(test, pair, arch)) and \
                    (arch is AMD64 or not nics.is_roce(pair[0])):
                found.setdefault(pair, []).append(test)
    for kinds, tests in found.items():
        build.the_guest(nics.image(kinds), arch)
        name = '-'.join(['test', *_told(kinds, arch)])
        with vm.Pair(binary, name, kinds=kinds, arches=(arch, arch)) as pair:
            for test in tests:
                _guest_test(pair, test, _guest_name(test, kinds, arch), summary)
            for node in pair.nodes:
                node.check()
                for line in node.trouble():
                    summary.fail(f'console of {node.name}', line, node.console)


def _told(kinds, arch):
    """What tells a pair from the usual one."""
    kinds = [k for k in dict.fromkeys(kinds) if nics.is_roce(k)]
    return kinds + ([] if arch is AMD64 else [arch.name])


def _guest_name(test, kinds, arch):
    return '-'.join([test.stem, *_told(kinds, arch)])


def _guest_test(pair, test, name, summary):
    log, ended = log_path(f'test-guest-{name}'), None
    with step(f'guest test {name}'), open(log, 'wb') as out:
        try:
            code = pair.nodes[0].run(
                f'cd {_GUEST_TESTS} && ./{test.name}', _limit(test), stdout=out,
                stderr=subprocess.STDOUT).returncode
        except subprocess.TimeoutExpired:
            code = 124
    if code:
        ended = 'by time-out' if code in (124, 137) else f'with code {code}'
    summary.program(name, log.read_text(encoding='utf-8', errors='replace'),
                    ended, log)
    for node in pair.nodes:
        node.check()

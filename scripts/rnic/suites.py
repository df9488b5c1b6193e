# SPDX-License-Identifier: GPL-2.0-or-later
"""Test suites: selects and runs tests on this machine, in a pair of guests, and of
the scripts."""

import contextlib
import os
import re
import signal
import subprocess
import threading
import time
from concurrent import futures

from . import build, families, fuzz, nics, qemu, vm
from .arch import AMD64, ARM64
from .paths import TOP
from .steps import Failed, build_lock, log_path, step

_SOAK_MINUTES = 15       # minutes by which the last random network may exceed --soak
_END_SECONDS = 60        # limit for a test to clean up after SIGTERM
_GUEST_SECONDS = 300     # N of _limit() for a test without a line "# timeout: N"
_GUEST_TESTS = '/usr/lib/rnic/tests'


def sanitized(test):
    """Returns true if TEST runs with sanitizers. A build with sanitizers has no Arm machine. A
    test on devices rnic-cable runs there with the other kind of cables only."""
    return not test.arm and 'cable' not in test.suites


def plain(selection):
    """Returns a function that returns true if a given test runs without sanitizers in
    SELECTION: fast, gate or full."""
    return {'fast': lambda test: not test.arm,
            'gate': lambda test: ('arm-full' not in test.suites if test.arm
                                  else 'plain' in test.suites),
            'full': lambda test: True}[selection]


def host(q, which, summary):
    """Runs the unit tests and qtests of tree Q for which WHICH returns true."""
    tests = q.tests(which)
    if tests:
        with step(f'unit tests and qtests on {q.name}') as line:
            q.run_tests(tests, line, summary)


def soak(q, minutes, summary):
    """Runs the soak tests of tree Q, random networks with random traffic and faults, for
    MINUTES. Fails if Q has no such test."""
    tests = q.tests(lambda test: test.soak)
    if not tests:
        raise Failed(f'{q.name} has no soak program')
    # Meson's time limit for a soak test is one minute, so the multiplier of this limit is the
    # new limit in minutes.
    with step(f'{minutes} min of random networks on {q.name}') as line:
        q.run_tests(tests, line, summary, '--setup', 'thorough',
                       '--test-args', str(minutes), '--timeout-multiplier',
                       str(minutes + _SOAK_MINUTES))


def _kill_session(process):
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _ask(process):
    """Sends SIGTERM to a test that still runs, so that the test ends the processes that it has
    started. Waits at most _END_SECONDS for the end of the test."""
    if process.poll() is None:
        process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_END_SECONDS)


def _script_tests(pattern, full):
    """Yields the tests of tests/scripts that PATTERN selects; long tests, with a line
    "# full", only with FULL."""
    for test in sorted((TOP / 'tests/scripts').glob('*.test')):
        if re.search(pattern, test.stem) and (full or not _is_long(test)):
            yield test


def scripts(pattern, summary, full=False):
    """Runs the tests of tests/scripts that PATTERN selects, one after the other."""
    _scripts(_script_tests(pattern, full), summary, threading.Event())


def _scripts(tests, summary, stop):
    """Runs TESTS one after the other and adds their results to SUMMARY. If the event STOP is
    set, ends the test that runs and fails."""
    for test in tests:
        log, ended = log_path(f'test-scripts-{test.stem}'), None
        with step(f'test of scripts/{test.stem}'), open(log, 'wb') as out:
            process = vm.spawn([test], die=signal.SIGTERM, stdout=out,
                               stdin=subprocess.DEVNULL,
                               stderr=subprocess.STDOUT,
                               start_new_session=True)
            try:
                code = _wait(process, _limit(test), stop)
                ended = code and f'with code {code}'
            except subprocess.TimeoutExpired:
                ended = 'by time-out'
            finally:
                _ask(process)
                _kill_session(process)
        summary.program(test.stem, log.read_text(encoding='utf-8', errors='replace'),
                        ended, log)


def _wait(process, seconds, stop):
    """Waits for the end of PROCESS and returns its exit code. Raises TimeoutExpired after
    SECONDS, and Failed if the event STOP is set."""
    end = time.monotonic() + seconds
    while not stop.is_set():
        try:
            return process.wait(1)
        except subprocess.TimeoutExpired:
            if time.monotonic() > end:
                raise
    raise Failed('stopped')


@contextlib.contextmanager
def scripts_meanwhile(pattern, summary):
    """Runs the tests of tests/scripts that PATTERN selects, except long tests, while the body
    of the with statement runs. One thread runs the tests with guests, another thread the tests
    without guests. Waits for all tests after the body. Two threads take less time than one,
    because guests often wait for each other. If the body fails, ends the tests."""
    stop = threading.Event()
    tests = list(_script_tests(pattern, False))
    lanes = [[t for t in tests if _boots_guests(t)],
             [t for t in tests if not _boots_guests(t)]]
    with futures.ThreadPoolExecutor(len(lanes)) as pool:
        try:
            running = [pool.submit(_scripts, lane, summary, stop) for lane in lanes]
            yield
            for lane in running:
                lane.result()
        finally:
            stop.set()


def _limit(test):
    """Returns the time limit of TEST in seconds: twice the number N of its line "# timeout: N",
    or twice _GUEST_SECONDS without this line, because other tests may run at the same
    time."""
    m = re.search(r'^# timeout: (\d+)$', test.read_text(encoding='utf-8'),
                  re.M)
    return 2 * (int(m.group(1)) if m else _GUEST_SECONDS)


def _guest_tests(pattern, arch, full):
    """Yields (test, pair of NICs) for the tests of tests/guest that PATTERN selects in guests
    of ARCH. A test has an entry for each of its pairs. Yields long tests, with a line
    "# full", only with FULL."""
    for test in sorted((TOP / 'tests/guest').glob('*.test')):
        if not full and _is_long(test):
            continue
        for pair in _pairs(test, arch):
            if re.search(pattern, _guest_name(test, pair, arch)):
                yield test, pair


def guest_names(pattern, arch=AMD64, full=False):
    """Returns the names of the tests that guests() with these arguments runs."""
    return [_guest_name(test, pair, arch)
            for test, pair in _guest_tests(pattern, arch, full)]


def script_names(pattern, full=False):
    """Returns the names of the tests that scripts() with these arguments runs."""
    return [test.stem for test in _script_tests(pattern, full)]


def guests(binary, pattern, summary, arch=AMD64, full=False):
    """Runs the tests of tests/guest that PATTERN selects, in guests of ARCH. Tests with the
    same NICs and kernel share one boot of a pair. Each line "# nic: KIND" in a test names a
    pair of NICs, a line "# cpus: N" the minimum number of CPUs per guest, and a line "# kernel:
    debug" chooses the debug kernel. An error of the kernel on the console of a guest counts
    as a failure."""
    found = {}
    for test, pair in _guest_tests(pattern, arch, full):
        found.setdefault((pair, _has_debug_kernel(test)), []).append(test)
    for (kinds, debug), tests in found.items():
        build.the_guest(families.nic(kinds[0]).image, arch)
        if debug:
            build.the_debug_kernel()
        name = '-'.join(['test', *_different(kinds, arch), *(['debug'] if debug else [])])
        with vm.Pair(binary, name, kinds=kinds, arches=(arch, arch),
                     cpus=guest_cpus(tests), debug=debug) as pair:
            for test in tests:
                _guest_test(pair, test, _guest_name(test, kinds, arch), summary)
            for node in pair.nodes:
                node.check()
                for line in node.trouble():
                    summary.fail(f'console of {node.name}', line, node.console)


def _is_long(test):
    """Returns a true value if TEST has the line "# full", so that only --full runs TEST."""
    return re.search(r'^# full$', test.read_text(encoding='utf-8'), re.M)


def _boots_guests(test):
    """Returns true unless TEST has the line "# guests: none"."""
    return not re.search(r'^# guests: none$', test.read_text(encoding='utf-8'), re.M)


def _has_debug_kernel(test):
    """Returns true if TEST runs in guests with the debug kernel."""
    return bool(re.search(r'^# kernel: debug$', test.read_text(encoding='utf-8'),
                          re.M))


def _pairs(test, arch):
    """Yields the pairs of NICs of TEST that guests of ARCH can have. Yields no pair if TEST
    needs the debug kernel and ARCH is not AMD64."""
    text = test.read_text(encoding='utf-8')
    if arch is not AMD64 and _has_debug_kernel(test):
        return
    for kinds in re.findall(r'^# nic: (.*)$', text, re.M) \
            or [families.DEFAULT.name]:
        pair = nics.pair(kinds)
        if all(arch.name in families.nic(kind).devices for kind in pair):
            yield pair


def guest_cpus(tests):
    """Returns the number of CPUs per guest for TESTS: the default for this machine, or more if
    one of TESTS needs more. CPUs of a guest may share a core."""
    needed = [re.findall(r'^# cpus: (\d+)$', test.read_text(encoding='utf-8'),
                         re.M) for test in tests]
    return max(vm.default_cpus(), *(int(n) for found in needed for n in found),
               1)


def _different(kinds, arch):
    """Returns the words that distinguish, in names of tests, a pair of guests of ARCH with the
    NICs KINDS from the usual pair."""
    kinds = [k for k in dict.fromkeys(kinds) if k != families.DEFAULT.name]
    return kinds + ([] if arch is AMD64 else [arch.name])


def _guest_name(test, kinds, arch):
    return '-'.join([test.stem, *_different(kinds, arch)])


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


def show(pattern):
    """Prints the tests that PATTERN selects, with their suites and with the selections that run
    them."""
    with build_lock():
        q = qemu.Qemu().configure()
    row = '{:34} {:24} {:7} {:10} {}'
    print(row.format('test', 'suites', '--fast', 'gate', '--full'))
    for name, groups, *where in [*_host_rows(q), *_fuzz_rows(), *_guest_rows(),
                                 *_script_rows()]:
        if re.search(pattern, name):
            print(row.format(name, ' '.join(groups), *where))


def _host_rows(q):
    for t in q.tests():
        groups = sorted(t.suites - {'thorough'})
        if t.soak:
            yield t.name, groups, 'only with --soak MINUTES', '', ''
            continue
        trees = [[tree for tree, runs in (
                     ('plain', plain(s)(t)),
                     ('sanitized', s != 'fast' and sanitized(t))) if runs]
                 for s in ('fast', 'gate', 'full')]
        yield (t.name, groups, *('+'.join(w) or '-' for w in trees))


def _fuzz_rows():
    for name in fuzz.targets():
        yield name, ['libfuzzer'], '-', 'clang', 'clang, and with --fuzz MINUTES'
    for name in fuzz.generic_names():
        yield name, ['libfuzzer'], 'only with --fuzz-qemu MINUTES', '', ''


def _guest_rows():
    for test in sorted((TOP / 'tests/guest').glob('*.test')):
        for arch in (AMD64, ARM64):
            for pair in _pairs(test, arch):
                runs = '-' if _is_long(test) else 'guests'
                yield (_guest_name(test, pair, arch), ['guest', *dict.fromkeys(pair)],
                       '-', *((runs, 'guests') if arch is AMD64 else
                              ('-', 'only with --arm64')))


def _script_rows():
    for test in sorted((TOP / 'tests/scripts').glob('*.test')):
        yield (test.stem, ['scripts'], '-', '-' if _is_long(test) else 'guests',
               'guests')

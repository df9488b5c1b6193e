# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs the fuzz targets of tests/fuzz, and QEMU's own fuzzer, with clang's libFuzzer.

The targets of tests/fuzz need only headers and libraries of a finished QEMU build. So these
targets are a separate small project of meson, in a folder of links to the sources of this
repository.
"""

import os
import re
import shutil
import subprocess
import time
from typing import NamedTuple

from . import apt, families, host, qemu, qemu_source, vm
from .paths import BUILD, TOP, shown
from .steps import Failed, log_path, run, step

PACKAGES = ['clang', 'libclang-rt-dev', 'llvm']
_DIR = BUILD / 'fuzz'
_TREE = _DIR / 'clang'
_FINDINGS = _DIR / 'findings'
_CORPUS = TOP / 'tests/fuzz/corpus'
# Libraries of QEMU, besides libqemuutil.a, that some targets are linked with.
_PARTS = ('qom', 'migration', 'io', 'crypto', 'authz', 'event-loop-base')
# Maximum number of inputs that the gate runs for a target: _RUNS_OF[NAME] for target fuzz-NAME,
# and _RUNS for a target that _RUNS_OF lacks.
_RUNS = 100000
_RUNS_OF = {f'{f.name}-{name}': runs for f in families.FAMILIES
            for name, runs in f.fuzz_runs.items()}
_SEED = 1
_GATE_ENOUGH = 90            # seconds after which a target ends, although inputs are left
_GATE_SECONDS = 120          # seconds after which a target is killed and fails
_INPUT_SECONDS = 20          # limit of the time of one input
# A target of gate() fails if it runs less than the part _GATE_PART of the inputs of _wanted().
# A target of soak() must run the part _SOAK_PART of these inputs per _GATE_ENOUGH seconds.
# _SOAK_PART is smaller, because libFuzzer increases the length of inputs with time.
_GATE_PART, _SOAK_PART = 1 / 4, 1 / 10
_QEMU_RATE = 1               # inputs per second below which QEMU's fuzzer fails
_DONE = re.compile(r'^Done (\d+) runs in \d+ second', re.M)
_ENV = {'ASAN_OPTIONS': 'detect_leaks=1:abort_on_error=1:'
                        'allocator_may_return_null=1',
        'UBSAN_OPTIONS': 'print_stacktrace=1'}


def targets(pattern=''):
    """Returns the names of the targets, such as "fuzz-exanet-mbox", that the regular expression
    PATTERN selects. Needs no build."""
    names = [f'fuzz-{p.parent.name}-{p.stem}'
             for p in sorted((TOP / 'tests/fuzz').glob('*/*.c'))
             if '\nint LLVMFuzzerTestOneInput(' in p.read_text(encoding='utf-8')]
    return [n for n in names if re.search(pattern, n)]


def build(built, names):
    """Builds the targets NAMES with BUILT, a qemu.Qemu that has been built; returns the paths
    of the programs."""
    apt.ensure_packages(PACKAGES)
    folder = _DIR / 'src'
    for link, to in (('meson.build', 'tests/fuzz/clang/meson.build'),
                     ('meson_options.txt', 'tests/fuzz/clang/meson_options.txt'),
                     ('hw/rnic', 'hw'), ('include/rnic', 'include/rnic'),
                     ('fuzz', 'tests/fuzz')):
        path = folder / link
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        path.symlink_to(TOP / to)
    rest = _DIR / 'rest.a'
    rest.unlink(missing_ok=True)
    objects = [o for part in _PARTS
               for o in sorted((built.tree / f'lib{part}.a.p').glob('*.o'))]
    run(['ar', 'rcsT', rest, *objects], 'fuzz-archive')
    options = [f'-Dqemu_source={qemu_source.find(built.version)}',
               f'-Dqemu_build={built.tree}', f'-Dqemu_rest={rest}']
    with step('building the fuzz targets'):
        env = {**qemu.environment(), 'CC': 'clang'}
        stamp = _TREE / 'rnic-configured'
        if not stamp.is_file() or stamp.read_text(encoding='utf-8') != str(options):
            shutil.rmtree(_TREE, ignore_errors=True)
            run(['python3', '-m', 'mesonbuild.mesonmain', 'setup', _TREE, folder,
                 *options], 'fuzz-configure', env=env)
            stamp.write_text(str(options), encoding='utf-8')
        run(['ninja', '-C', _TREE, *(f'fuzz/{n}' for n in names)], 'fuzz-build',
            'the build failed', env=env)
    return [_TREE / 'fuzz' / n for n in names]


class _Job(NamedTuple):
    """One target, and how it runs."""
    name: str       # without prefix fuzz-
    command: list   # without the option for findings, which _Run adds
    least: int      # number of inputs below which the target fails
    again: str      # command to which the path of a finding is appended
    env: dict = {}


class _Run:
    """A target that runs. The kernel kills the target when this process ends."""

    def __init__(self, job):
        self.job = job
        self.log = log_path(f'fuzz-{job.name}')
        _FINDINGS.mkdir(parents=True, exist_ok=True)
        with open(self.log, 'wb') as out:
            # -artifact_prefix is the last option, because QEMU's fuzzer requires --fuzz-target
            # as the first one.
            self.process = vm.spawn(
                [*job.command, f'-artifact_prefix={_FINDINGS}/{job.name}-'],
                stdout=out, stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL, env={**os.environ, **_ENV, **job.env})

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()

    def report(self, summary, ended):
        """Adds the result of the ended target to SUMMARY, and prints how to repeat findings.
        ENDED says why this program killed the target, or is None."""
        text = self.log.read_text(encoding='utf-8', errors='replace')
        failure = ended or self._failure(text)
        if failure:
            summary.fail(f'fuzz-{self.job.name}', failure, self.log)
        else:
            summary.program(f'fuzz-{self.job.name}', '1..1\nok 1', None, self.log)
        if self.process.returncode:
            for found in re.findall(r'Test unit written to (\S+)', text):
                print(f'    | again: {self.job.again} {shown(found)}')

    def _failure(self, text):
        """Returns why the target has failed, by its exit code and its output TEXT; None
        if the target has not failed."""
        if self.process.returncode:
            why = re.search(r'^.*(?:ERROR:|runtime error:).*$', text, re.M)
            return why.group() if why else f'code {self.process.returncode}'
        done = _DONE.findall(text)
        if not done:
            return 'ended without the number of inputs that it ran'
        if int(done[-1]) < self.job.least:
            return f'ran only {done[-1]} inputs, and {self.job.least} is the minimum'
        return None


def _job(program, corpus, options, least):
    """Returns the job of target PROGRAM with OPTIONS. The target starts with the inputs in
    folder CORPUS and with those of tests/fuzz/corpus, and keeps new inputs in CORPUS. LEAST
    is the minimum number of inputs."""
    name = program.name.removeprefix('fuzz-')
    corpus.mkdir(parents=True, exist_ok=True)
    given = _CORPUS / name
    return _Job(name, [program, f'-timeout={_INPUT_SECONDS}', *options, corpus,
                       *([given] if given.is_dir() else [])], least, shown(program))


def _all(jobs, summary, title, limit):
    """Runs JOBS, as many at a time as there are usable cores, and adds the results to SUMMARY.
    Kills a target after LIMIT seconds. TITLE is the title of the step."""
    waiting, running, done = list(jobs), [], 0
    with step(title) as line:
        try:
            while waiting or running:
                while waiting and len(running) < host.cores():
                    running.append((_Run(waiting.pop(0)), time.monotonic() + limit))
                for one in list(running):
                    r, end = one
                    expired = time.monotonic() > end
                    if r.process.poll() is None and not expired:
                        continue
                    expired = expired and r.process.poll() is None
                    r.kill()
                    r.report(summary, f'after {limit} s' if expired else None)
                    running.remove(one)
                    done += 1
                line.show(f'{done}/{len(jobs)},')
                time.sleep(0.1)
        finally:
            for r, _ in running:
                r.kill()


def _wanted(program):
    """Returns the maximum number of inputs that the gate runs for target PROGRAM."""
    return _RUNS_OF.get(program.name.removeprefix('fuzz-'), _RUNS)


def _seed():
    """Returns _SEED plus the number in the environment variable RNIC_TEST_SEED, by default 0,
    modulo 2^32. Returns _SEED if this sum is 0, because libFuzzer replaces a seed of 0 by a
    random one. Fails if the variable contains no number."""
    given = os.environ.get('RNIC_TEST_SEED', '0')
    try:
        return (_SEED + int(given, 0)) % (1 << 32) or _SEED
    except ValueError as e:
        raise Failed(f'RNIC_TEST_SEED={given} is not a number') from e


def gate(built, pattern, summary):
    """Runs each target that PATTERN selects, with the seed of _seed(). A target ends after the
    number of inputs of _wanted(), or after _GATE_ENOUGH seconds. The only inputs at the
    beginning are those of tests/fuzz/corpus."""
    names = targets(pattern)
    scratch = _DIR / 'gate'
    shutil.rmtree(scratch, ignore_errors=True)
    if names:
        _all([_job(p, scratch / p.name,
                   [f'-runs={_wanted(p)}', f'-seed={_seed()}',
                    f'-max_total_time={_GATE_ENOUGH}'], int(_wanted(p) * _GATE_PART))
              for p in build(built, names)], summary, 'fuzzing', _GATE_SECONDS)


def soak(built, minutes, pattern, summary):
    """Runs the targets that PATTERN selects. All targets together take about MINUTES. Keeps new
    inputs for later runs. Fails if PATTERN selects no target."""
    names = targets(pattern)
    if not names:
        raise Failed(f'no fuzz target is called {pattern}')
    programs = build(built, names)
    each = max(minutes * 60 * min(host.cores(), len(programs)) // len(programs), 1)
    part = _SOAK_PART * each / _GATE_ENOUGH
    _all([_job(p, _DIR / 'corpus' / p.name.removeprefix('fuzz-'),
               [f'-max_total_time={each}', '-print_final_stats=1'],
               int(_wanted(p) * part)) for p in programs],
         summary, f'fuzzing for {minutes} min', 2 * each + 60)
    print(f'inputs are kept in {shown(_DIR)}/corpus, findings in '
          f'{shown(_FINDINGS)}')


# Family -> options of the machine, and target objects, for QEMU's generic fuzzer.
_QEMU_TARGETS = {f.name: (f.fuzz_machine, f.fuzz_objects)
                 for f in families.FAMILIES if f.fuzz_machine}


def generic_names():
    """Returns the names of the results of generic()."""
    return [f'fuzz-qemu-{name}' for name in _QEMU_TARGETS]


def generic(minutes, summary):
    """Builds QEMU's generic fuzzer in a separate build tree, and runs the fuzzer on the devices
    of each family in _QEMU_TARGETS. All families together take MINUTES."""
    apt.ensure_packages(PACKAGES)
    built = qemu.Qemu(fuzz=True).build_fuzzer()
    each = max(minutes * 60 // len(_QEMU_TARGETS), 1)
    for name, (machine, objects) in _QEMU_TARGETS.items():
        corpus = _DIR / 'corpus' / f'qemu-{name}'
        corpus.mkdir(parents=True, exist_ok=True)
        again = (f'QEMU_FUZZ_ARGS="{machine}" QEMU_FUZZ_OBJECTS="{objects}" '
                 f'{shown(built)} --fuzz-target=generic-fuzz')
        job = _Job(f'qemu-{name}',
                   [built, '--fuzz-target=generic-fuzz', f'-max_total_time={each}',
                    corpus], _QEMU_RATE * each, again,
                   {'QEMU_FUZZ_ARGS': machine, 'QEMU_FUZZ_OBJECTS': objects,
                    'ASAN_OPTIONS': 'detect_leaks=0'})
        _all([job], summary, f'QEMU\'s generic fuzzer on {name}', 2 * each + 60)

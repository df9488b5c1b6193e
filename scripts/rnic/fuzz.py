# SPDX-License-Identifier: GPL-2.0-or-later
"""Fuzzing with clang's libFuzzer: the targets of tests/fuzz, and QEMU's own.

The targets need only headers and the utility library of a finished QEMU build. So
they are a separate small project, in a folder of links to the sources of this
repository, and clang builds them in seconds.
"""

import os
import re
import shutil
import subprocess
import time

from . import apt, host, qemu
from .paths import BUILD, TOP, shown
from .steps import Failed, log_path, run, step

PACKAGES = ['clang', 'libclang-rt-dev', 'llvm']
_DIR = BUILD / 'fuzz'
_TREE = _DIR / 'clang'
_FINDINGS = _DIR / 'findings'
_CORPUS = TOP / 'tests/fuzz/corpus'
# Libraries of QEMU, besides libqemuutil.a, that some targets are linked with.
_PARTS = ('qom', 'migration', 'io', 'crypto', 'authz', 'event-loop-base')
# Number of inputs per target in the gate, with exceptions. The seed is fixed, so
# that each run has the same inputs.
_RUNS, _SEED = 100000, 1
_RUNS_OF = {'exanet-box': 1500, 'exanet-decode': 500000, 'exanet-segment': 50000,
            'exanet-wire': 20000, 'pvrdma-box': 12000, 'pvrdma-cmd': 15000,
            'pvrdma-roce': 50000, 'pvrdma-stream': 8000}
_GATE_ENOUGH = 90            # a slow machine runs fewer inputs than others
_GATE_SECONDS = 120          # limit of one target
_INPUT_SECONDS = 20          # limit of one input
_ENV = {'ASAN_OPTIONS': 'detect_leaks=1:abort_on_error=1:'
                        'allocator_may_return_null=1',
        'UBSAN_OPTIONS': 'print_stacktrace=1'}


def targets(pattern=''):
    """Returns the names of the targets that PATTERN selects, such as
    "fuzz-exanet-mbox", without a build."""
    names = [f'fuzz-{p.stem}' for p in sorted((TOP / 'tests/fuzz').glob('*.c'))
             if '\nint LLVMFuzzerTestOneInput(' in p.read_text(encoding='utf-8')]
    return [n for n in names if re.search(pattern, n)]


def build(built, names):
    """Builds the targets NAMES with BUILT, a finished qemu.Qemu; returns the
    programs."""
    apt.ensure_packages(PACKAGES)
    source = qemu.source(built.version)
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
    options = [f'-Dqemu_source={source}', f'-Dqemu_build={built.tree}',
               f'-Dqemu_rest={rest}']
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


class _Run:
    """A target that runs."""

    def __init__(self, program, corpus, options):
        self.program, self.name = program, program.name.removeprefix('fuzz-')
        self.log = log_path(f'fuzz-{self.name}')
        _FINDINGS.mkdir(parents=True, exist_ok=True)
        corpus.mkdir(parents=True, exist_ok=True)
        given = _CORPUS / self.name
        with open(self.log, 'wb') as out:
            self.process = subprocess.Popen(
                [program, f'-artifact_prefix={_FINDINGS}/{self.name}-',
                 f'-timeout={_INPUT_SECONDS}', *options, corpus,
                 *([given] if given.is_dir() else [])],
                stdout=out, stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL, env={**os.environ, **_ENV})

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()

    def report(self, summary, ended):
        text = self.log.read_text(encoding='utf-8', errors='replace')
        if not self.process.returncode and not ended:
            summary.program(f'fuzz-{self.name}', '1..1\nok 1', None, self.log)
            return
        why = re.search(r'^.*(?:ERROR:|runtime error:).*$', text, re.M)
        summary.fail(f'fuzz-{self.name}', ended or (
            why.group() if why else f'code {self.process.returncode}'), self.log)
        for found in re.findall(r'Test unit written to (\S+)', text):
            print(f'    | again: {shown(self.program)} {shown(found)}')


def _all(programs, summary, title, limit, corpus, options):
    """Runs PROGRAMS, as many at a time as there are usable cores."""
    waiting, running, done = list(programs), [], 0
    with step(title) as line:
        try:
            while waiting or running:
                while waiting and len(running) < host.cores():
                    p = waiting.pop(0)
                    name = p.name.removeprefix('fuzz-')
                    running.append((_Run(p, corpus(name), options(name)),
                                    time.monotonic() + limit))
                for one in list(running):
                    r, end = one
                    late = time.monotonic() > end
                    if r.process.poll() is None and not late:
                        continue
                    late = late and r.process.poll() is None
                    r.kill()
                    r.report(summary, f'after {limit} s' if late else None)
                    running.remove(one)
                    done += 1
                line.show(f'{done}/{len(programs)},')
                time.sleep(0.1)
        finally:
            for r, _ in running:
                r.kill()


def gate(built, pattern, summary):
    """Runs each target that PATTERN selects, with the same inputs each time."""
    names = targets(pattern)
    scratch = _DIR / 'gate'
    shutil.rmtree(scratch, ignore_errors=True)
    if names:
        _all(build(built, names), summary, 'fuzzing', _GATE_SECONDS,
             lambda n: scratch / n,
             lambda n: [f'-runs={_RUNS_OF.get(n, _RUNS)}', f'-seed={_SEED}',
                        f'-max_total_time={_GATE_ENOUGH}'])


def soak(built, minutes, pattern, summary):
    """Runs all targets that PATTERN selects for MINUTES in total; keeps new inputs."""
    names = targets(pattern)
    if not names:
        raise Failed(f'no fuzz target is called {pattern}')
    programs = build(built, names)
    each = max(minutes * 60 * min(host.cores(), len(programs)) // len(programs), 1)
    _all(programs, summary, f'fuzzing for {minutes} min', 2 * each + 60,
         lambda n: _DIR / 'corpus' / n,
         lambda n: [f'-max_total_time={each}', '-print_final_stats=1'])
    print(f'inputs are kept in {shown(_DIR)}/corpus, findings in '
          f'{shown(_FINDINGS)}')


# Options of the machine, and target objects, for QEMU's generic fuzzer.
_QEMU_TARGETS = {
    'exanet': ('-M q35 -nodefaults -netdev hubport,id=n0,hubid=0 '
               '-netdev hubport,id=n1,hubid=0 '
               '-device pcie-root-port,id=r,chassis=1 '
               '-device exanet-pci,bus=r,coord=0x1,link0=n0,link1=n1',
               'exanet* msix*'),
    'pvrdma': ('-M q35 -nodefaults -netdev hubport,id=n0,hubid=0 '
               '-device vmxnet3,addr=10.0,multifunction=on,netdev=n0 '
               '-device pvrdma,addr=10.1', 'pvrdma* vmxnet3* msix*')}


def generic(minutes, summary):
    """Runs QEMU's generic fuzzer on the devices, in a separate build tree."""
    apt.ensure_packages(PACKAGES)
    built = qemu.Qemu(fuzz=True).build_fuzzer()
    each = max(minutes * 60 // len(_QEMU_TARGETS), 1)
    for name, (machine, objects) in _QEMU_TARGETS.items():
        corpus = _DIR / 'corpus' / f'qemu-{name}'
        corpus.mkdir(parents=True, exist_ok=True)
        _FINDINGS.mkdir(parents=True, exist_ok=True)
        log = log_path(f'fuzz-qemu-{name}')
        env = {**os.environ, **_ENV, 'QEMU_FUZZ_ARGS': machine,
               'QEMU_FUZZ_OBJECTS': objects, 'ASAN_OPTIONS': 'detect_leaks=0'}
        with step(f'QEMU\'s generic fuzzer on {name}'), open(log, 'wb') as out:
            code = subprocess.run(
                [built, '--fuzz-target=generic-fuzz', f'-max_total_time={each}',
                 f'-artifact_prefix={_FINDINGS}/qemu-{name}-', corpus],
                stdout=out, stderr=subprocess.STDOUT, check=False,
                stdin=subprocess.DEVNULL, env=env).returncode
        if code:
            summary.fail(f'fuzz-qemu-{name}', f'code {code}', log)
            print(f'    | again: QEMU_FUZZ_ARGS="{machine}" '
                  f'QEMU_FUZZ_OBJECTS="{objects}" {shown(built)} '
                  f'--fuzz-target=generic-fuzz FILE')
        else:
            summary.program(f'fuzz-qemu-{name}', '1..1\nok 1', None, log)

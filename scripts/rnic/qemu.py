# SPDX-License-Identifier: GPL-2.0-or-later
"""Builds QEMU with the devices of this project, and the tests that run without a guest."""

import bz2
import os
import re
import shutil
from pathlib import Path

from . import apt, host, mesontest, precompiled, qemu_source
from .paths import BUILD, TOP
from .steps import Failed, digest, fresh, log_path, run, step

DEFAULT, VERSIONS = qemu_source.DEFAULT, ('10.0', '10.2')
PACKAGES = [
    'bison', 'bzip2', 'flex', 'gcc', 'g++', 'ipxe-qemu', 'libattr1-dev',
    'libc6-dev', 'libcap-ng-dev', 'libdeflate-dev', 'libfdt-dev',
    'libglib2.0-dev', 'libisal-dev', 'libpixman-1-dev', 'libslirp-dev',
    'libvdeplug-dev', 'make', 'ninja-build', 'patch', 'pkgconf', 'python3',
    'python3-distlib', 'python3-venv', 'qemu-system-data', 'seabios', 'xz-utils',
    'zlib1g-dev']
_CONFIGURE = [
    '--python=/usr/bin/python3', '--disable-docs',
    '--without-default-features', '--enable-tcg', '--enable-kvm',
    '--enable-slirp', '--enable-vde', '--enable-fdt=system', '--enable-virtfs',
    '--enable-attr', '--enable-cap-ng', '--enable-pixman', '--disable-tools',
    '--disable-install-blobs', '--disable-debug-info']
# Without this option gcc warns of each precompiled header for other options, because meson
# switches that warning on. See precompiled.py.
_GCC = ['--extra-cflags=-Wno-invalid-pch']
_CHECK = ['--enable-asan', '--enable-ubsan']
# The build with sanitizers contains few devices, because only unit tests and qtests use this
# build. A low level of optimization shortens the build.
_SANITIZE = _CHECK + ['--without-default-devices',
                      '--with-devices-x86_64=rnic-tests', '-Doptimization=1']
_BOTH = ['--target-list=x86_64-softmmu,aarch64-softmmu',
         '--with-devices-aarch64=rnic-arm']
_FUZZ = _CHECK + ['--enable-fuzzing', '--cc=clang', '--cxx=clang++']
_FIRMWARE = ['/usr/share/qemu', '/usr/lib/ipxe/qemu', '/usr/share/seabios']
_TOOLS = BUILD / 'tools' / 'python'
# Matches a compiler's warning about a file of this project in QEMU's tree.
_WARNING = re.compile(r'^(\S*/(?:hw|qtest)/rnic/[^\s:]+):\S* warning: .*', re.M)


class Qemu:
    """A build tree of QEMU VERSION. With SANITIZE, QEMU and the tests are compiled with ASan
    and UBSan. With FUZZ, the tree is for QEMU's own fuzzer."""

    def __init__(self, version=DEFAULT, sanitize=False, fuzz=False):
        self.version, self.sanitize, self.fuzz = version, sanitize, fuzz
        self.tree = BUILD / (f'qemu-{version}' + ('-fuzz' if fuzz else
                                                  '-san' if sanitize else ''))
        self.binary = self.tree / 'qemu-system-x86_64'
        self.arm_binary = self.tree / 'qemu-system-aarch64'
        self.name = f'QEMU {version}' + (' (ASan, UBSan)' if sanitize else '')

    def build(self, arm=False, tests=lambda test: False, programs=()):
        """Builds the changed parts of QEMU, of the tests for which TESTS returns true, and of
        the helper programs PROGRAMS. Also builds QEMU for Arm machines if ARM is true, or if
        one of the tests runs an Arm machine. Returns this object."""
        self._prepare()
        with step(f'building {self.name}') as line:
            self._ninja(['build.ninja'])
            self.precompile()
            chosen = self.tests(tests)
            targets = [self.binary]
            if arm or any(t.arm for t in chosen):
                targets.append(self.arm_binary)
            targets += dict.fromkeys(t.program for t in chosen)
            targets += map(self.program, programs)
            self._ninja([t.relative_to(self.tree) for t in targets])
            line.title = f'{self.name} is built'
        return self

    def configure(self):
        """Configures the tree without a build, so that tests() can list the tests. Returns
        this object."""
        self._prepare()
        with step(f'looking for tests of {self.name}'):
            self._ninja(['build.ninja'])
        return self

    def build_fuzzer(self):
        """Builds QEMU's own fuzzer with clang, in a tree that was made with FUZZ; returns the
        fuzzer's path."""
        self._prepare()
        program = self.tree / 'qemu-fuzz-x86_64'
        with step(f'building {program.name}'):
            self._ninja([program.name])
        return program

    def precompile(self):
        """Precompiles the first header of all files. Removes all objects if this header has
        changed."""
        def clean():
            self._ninja(['-t', 'clean'])
            self._ninja(['config-poison.h'])
        self._ninja(['config-poison.h'])     # is a part of the header
        precompiled.make(self.tree, qemu_source.find(self.version), environment(), clean)

    def _prepare(self):
        apt.ensure_packages(PACKAGES)
        tree = qemu_source.find(self.version)
        run([TOP / 'configure-patch/apply.sh', tree], 'configure-patch')
        self._configure(tree)

    def tests(self, which=lambda test: True):
        """Returns the tests of this project for which WHICH returns true. The tree must be
        configured."""
        return [t for t in mesontest.listed(self.tree) if which(t)]

    def program(self, name):
        """Returns the path of helper program NAME."""
        return self.tree / 'tests/qtest/rnic/tools' / f'rnic-{name}'

    def run_tests(self, tests, line, summary, *options):
        """Runs TESTS, which must be built, with OPTIONS of `meson test`. LINE and SUMMARY are
        those of mesontest.run()."""
        mesontest.run(self.tree, environment(), tests, line,
                      summary, options)

    def _ninja(self, targets):
        name = f'build-{self.tree.name}'
        run(['ninja', '-C', self.tree] + targets, name, 'the build failed',
            env=environment())
        self._refuse_warnings(log_path(name))

    def _refuse_warnings(self, log):
        """Raises Failed if a compiler has warned about a file of this project in LOG. QEMU's own
        option --enable-werror would also refuse warnings about QEMU's files, which depend on
        the compiler of the host."""
        found = list(_WARNING.finditer(log.read_text(encoding='utf-8', errors='replace')))
        for warning in found:
            # The next build must compile the file again, and fail again.
            (self.tree / warning[1]).touch()
        if found:
            raise Failed(f'the build failed: {found[0][0].strip()[:160]}', log)

    def _configure(self, tree):
        args = _CONFIGURE + (_FUZZ if self.fuzz else
                             _GCC + (_SANITIZE if self.sanitize else []))
        # The builds with sanitizers, and the build for the fuzzer, have no Arm machine.
        args += ['--target-list=x86_64-softmmu'] if self.sanitize or self.fuzz \
            else _BOTH
        stamp = self.tree / 'rnic-configured'
        want = digest(str(tree), *args, *map(TOP.joinpath, (
            'configure-patch/qemu.patch', 'configure-patch/rnic-arm.mak',
            'configure-patch/rnic-tests.mak')), *sorted(TOP.glob('hw/*/tests.mak')))
        if fresh(stamp, want):
            return
        _fetch_tools()
        with step(f'configuring {self.name}'):
            self._forget_other_source(tree)
            self.tree.mkdir(parents=True, exist_ok=True)
            _stub_blobs(tree)
            run([tree / 'configure'] + args, f'configure-{self.tree.name}',
                cwd=self.tree, env=environment())
            self._link_firmware()
            stamp.write_text(want, encoding='ascii')

    def _forget_other_source(self, tree):
        """Removes the build tree if it belongs to another source folder than TREE, because
        meson does not change the source folder of a build tree."""
        made = self.tree / 'config-host.mak'
        if made.is_file() and f'SRC_PATH={tree}' not in made.read_text(
                encoding='utf-8').splitlines():
            shutil.rmtree(self.tree)

    def _link_firmware(self):
        """Links the firmware of Debian's packages into the build tree, because Debian's source
        of QEMU has no firmware."""
        data = self.tree / 'qemu-bundle/usr/local/share/qemu'
        for folder in map(Path, _FIRMWARE):
            for f in [*folder.glob('*.bin'), *folder.glob('*.rom')]:
                link = data / f.name
                link.unlink(missing_ok=True)
                link.symlink_to(f)


def environment():
    """Returns the environment for the meson of _fetch_tools()."""
    path = _TOOLS / 'usr/lib/python3/dist-packages'
    return {**os.environ,
            # Runs one test more at a time than there are usable cores, because qtests
            # wait during a part of their time. A value that the user has set has priority.
            'MESON_NUM_PROCESSES': os.environ.get('MESON_NUM_PROCESSES') or
                                   str(host.cores() + 1),
            'PYTHONPATH': f'{path}:{os.environ.get("PYTHONPATH", "")}'}


def _fetch_tools():
    """Fetches Debian 13's meson and pycotap and unpacks them in _TOOLS, unless they are there.
    The meson of Debian 12 is too old. Meson runs without an installation."""
    if not (_TOOLS / 'usr/lib/python3/dist-packages/pycotap').is_dir():
        with step('fetching meson'):
            apt.fetch_package('meson', _TOOLS)
            apt.fetch_package('python3-pycotap', _TOOLS)


def _stub_blobs(tree):
    """Makes empty files in place of missing firmware and device trees, because meson needs
    the files, although no machine of this project uses them."""
    blobs = tree / 'pc-bios'
    text = (blobs / 'meson.build').read_text(encoding='utf-8')
    missing = [blobs / f'{n}.bz2'
               for n in re.findall(r"'(edk2-[\w-]+\.fd)'", text)]
    missing += [dts.with_suffix('.dtb')
                for dts in (blobs / 'dtb').glob('*.dts')]
    for blob in missing:
        if not blob.exists():
            blob.write_bytes(
                bz2.compress(b'') if blob.suffix == '.bz2' else b'')

# SPDX-License-Identifier: GPL-2.0-or-later
"""A kernel for guests that checks memory accesses, locks and sleeps (KASAN, lockdep,
DEBUG_ATOMIC_SLEEP): Debian's source with a small configuration.

A guest with this kernel has the usual disk, because the initrd of this kernel contains the
modules of the families, and all other drivers are built in. A new version of Debian's source
alone does not cause a new build, because a build takes long."""

import shutil

from . import host, kernel_source
from .arch import AMD64, Arch
from .paths import GUEST, TOP
from .rootfs import Recipe, chroot, remove
from .steps import Failed, digest, fresh, making, step

_CONFIG = TOP / 'scripts/guest/debug.config'
_TOOLS = ['bc', 'bison', 'flex', 'kmod', 'libelf-dev']


class DebugKernel(Arch):
    """Amd64 guests that boot the debug kernel."""

    # With kasan_multi_shot, KASAN reports all bad accesses, not only the first one. With
    # log_buf_len=4M, the kernel's log has room for these reports.
    cmdline = f'{AMD64.cmdline} kasan_multi_shot log_buf_len=4M'
    build_recipe = Recipe([*AMD64.build_recipe.packages, *_TOOLS])

    def __init__(self, folder):
        super().__init__(folder)
        self.stamp = folder / 'kernel.stamp'

    def build_version(self):
        found = sorted(self.root.glob('lib/modules/*-rnic-debug'))
        if not found:
            raise Failed(f'no debug kernel in {self.root}')
        return found[-1].name

    def digest(self):
        """Returns the digest of the configuration, the name of the source package, and the
        names of the packages for the build. Leaves out Debian's version of the source,
        because a new version does not justify a long build."""
        return digest(_CONFIG, kernel_source.NAME, *self.build_recipe.packages)

    def is_fresh(self):
        """Returns true if the kernel need not be built."""
        return self.kernel.is_file() and fresh(self.stamp, self.digest())

    def make(self):
        """Builds the kernel in a copy of the build root, unless the kernel is up to date."""
        if self.is_fresh():
            return
        # Takes the digest first, because the configuration may be edited during a build.
        value = self.digest()
        with making(self.stamp, value):
            # Removes the module and the initrd, too, because the new kernel may have another
            # version.
            remove(self.folder)
            self.folder.mkdir(parents=True, exist_ok=True)
            self.build_recipe.complete(
                self.root, AMD64.root, 'the tools for the debug kernel',
                digest(*self.build_recipe.packages))
            tree = self.root / 'rnic/linux'
            kernel_source.fetch_all(tree)
            shutil.copyfile(_CONFIG, tree / 'rnic.config')
            with step('building the debug kernel'):
                self._run('KCONFIG_ALLCONFIG=rnic.config allnoconfig',
                          'configure-debug-kernel')
                self._check_config(tree)
                self._run(f'-j{host.cores()} bzImage modules', 'build-debug-kernel')
                self._install(tree)

    def _install(self, tree):
        """Copies the kernel to self.kernel, and installs the kernel's headers, which the build
        of a module needs, in the build root. Removes the source tree TREE, because it is
        large."""
        headers = self.root / 'usr/src/linux-rnic-debug'
        self._run('modules_install', 'install-debug-kernel')
        self._run("run-command KBUILD_RUN_COMMAND='+scripts/package/"
                  f"install-extmod-build /usr/src/{headers.name}'",
                  'install-debug-headers')
        link = self.root / 'lib/modules' / self.build_version() / 'build'
        link.unlink()
        link.symlink_to(f'/usr/src/{headers.name}')
        # Keeps bzImage, because a kernel with KASAN crashes when QEMU boots its ELF file.
        shutil.copyfile(tree / 'arch/x86/boot/bzImage', self.kernel)
        shutil.rmtree(tree)

    def _run(self, arguments, log):
        """Runs make in the kernel's tree, with the tools of the build root."""
        chroot(self.root, f'make -C /rnic/linux {arguments}', log)

    @staticmethod
    def _check_config(tree):
        """Raises Failed if the kernel's configuration in TREE lacks a line CONFIG_X=.. of
        _CONFIG, or sets a symbol that _CONFIG turns off. The usual causes: CONFIG_X depends on
        a symbol that is off, or a symbol that is on selects a symbol that _CONFIG turns
        off."""
        result = (tree / '.config').read_text('ascii').splitlines()
        refused = [
            line for line in _CONFIG.read_text('ascii').splitlines()
            if line.startswith('CONFIG_') and line not in result
            or line.endswith(' is not set')
            and any(r.startswith(f'{line.split()[1]}=') for r in result)]
        if refused:
            raise Failed(f'the kernel refuses {", ".join(refused)}',
                         tree / '.config')


DEBUG = DebugKernel(GUEST / 'debug')

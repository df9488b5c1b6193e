# SPDX-License-Identifier: GPL-2.0-or-later
"""The processors of guests: how guests are built, and the QEMU that runs them. Hosts are
x86-64.

The build runs no program of another processor. The packages of an arm64 guest are only
unpacked, because their scripts would run such programs. settle() copies files of /etc and
links, which these scripts would make, from the amd64 guest. A cross compiler in a Debian 13 for
amd64 compiles the project's own parts.
"""

import os
import shutil
import subprocess

from .paths import GUEST
from .rootfs import Recipe, chroot, depmod, kernel_version, version_key
from .steps import Failed, run

# Without this file the kernel's package makes no initramfs. Guests boot with the project's
# own initramfs.
_NO_INITRAMFS = ['/etc/kernel/postinst.d/initramfs-tools']
_SLIM = ['/usr/share/doc/*', '/usr/share/locale/*', '/usr/share/man/*',
         *_NO_INITRAMFS]
# The build root for arm64 also has linux-headers-amd64, because this package depends on tools
# that the kernel's headers for arm64 need, too.
_TOOLS = ['autoconf', 'automake', 'gcc', 'libtool', 'linux-headers-amd64',
          'make', 'patch', 'pkgconf', 'xz-utils']


class Arch:
    """Guests for amd64, the processor of this machine."""

    name = 'amd64'              # Debian's name of the processor
    binary = 'qemu-system-x86_64'
    machine = ['-M', 'q35', '-cpu', 'max']
    cmdline = 'console=ttyS0 tsc=reliable no_timer_check lpj=4000000'
    host_packages = []
    environment = {}            # variables for the compilation of the parts: see guest._Part
    configure = ''              # more options of libfabric's configure script
    ram = device_tree = None    # initramfs and device tree of guests without a disk; None:
                                # there are no such guests
    build_recipe = Recipe(
        [*_TOOLS, 'libc6-dev', 'libfabric-dev', 'libopenmpi-dev'],
        '--variant=minbase', excluded=_NO_INITRAMFS)

    def __init__(self, folder):
        self.folder = folder
        self.root, self.out = folder / 'buildroot', folder / 'out'
        self.kernel, self.initrd = folder / 'vmlinux', folder / 'initrd'

    def recipe(self, packages):
        """Returns the recipe of a guest with PACKAGES."""
        return Recipe([*packages, f'linux-image-{self.name}'],
                      '--variant=minbase', excluded=_SLIM)

    def settle(self, base, like):
        """Completes the root file system BASE after its packages were installed. LIKE is the
        root file system with the same packages for amd64. Does nothing for amd64."""

    def build_version(self):
        """Returns the version of the kernel whose headers are in the build root."""
        return kernel_version(self.root)

    def finish(self, stage):
        """Updates the list of modules and, for amd64, the linker's list of libraries in the
        root file system STAGE, after the project's own parts have been copied into STAGE."""
        chroot(stage, f'depmod {kernel_version(stage)}; ldconfig', 'depmod')

    def installed(self):
        """Updates the linker's list of libraries in the build root, after a library has been
        copied into the build root. Does nothing for arm64."""
        chroot(self.root, 'ldconfig', 'install-lib')

    def unpack_kernel(self, image):
        """Writes the file self.kernel, which QEMU boots, from IMAGE, the kernel of Debian's
        package. For amd64, writes the ELF kernel inside IMAGE, because the guest then need
        not unpack the kernel, and fails if IMAGE contains no ELF kernel compressed by zstd.
        For arm64, copies IMAGE."""
        data = image.read_bytes()
        at = data.find(b'\x28\xb5\x2f\xfd', 0x4000)
        with open(self.kernel, 'wb') as out:
            subprocess.run(['zstd', '-dcq'], input=data[at:], stdout=out,
                           stderr=subprocess.DEVNULL, check=False)
        with open(self.kernel, 'rb') as f:
            if f.read(4) != b'\x7fELF':
                raise Failed(f'{image} holds no kernel as expected')


_GNU = 'aarch64-linux-gnu'
_MPI = f'/usr/lib/{_GNU}/openmpi'
# The package of the kernel's headers depends on a compiler that runs on arm64, and the
# package of MPI's headers on a Fortran compiler. So these packages are only unpacked.
_UNPACKED = r'''--customize-hook=set -e
    export APT_CONFIG="$MMDEBSTRAP_APT_CONFIG"
    mkdir -p "$1/rnic/debs"
    cd "$1/rnic/debs"
    apt-get download libopenmpi-dev:arm64 libopenmpi40:arm64 \
        $(apt-cache depends linux-headers-arm64:arm64 |
          sed -n 's/.*Depends: *//p')
    for deb in *.deb; do
        dpkg -x "$deb" "$1"
        rm "$deb"
    done'''


class Arm64(Arch):
    """Guests for arm64."""

    name = 'arm64'
    binary = 'qemu-system-aarch64'
    # QEMU emulates this CPU faster than "max".
    machine = ['-M', 'virt', '-cpu', 'neoverse-n1']
    cmdline = 'console=ttyAMA0'
    host_packages = ['device-tree-compiler', 'kmod']
    environment = {
        'ARCH': 'arm64', 'CROSS_COMPILE': f'{_GNU}-', 'CC': f'{_GNU}-gcc',
        'AR': f'{_GNU}-ar',
        'MPICC': f'{_GNU}-gcc -I{_MPI}/include -L{_MPI}/lib',
        'MPI_LIBS': '-lmpi -Wl,--unresolved-symbols=ignore-in-shared-libs'}
    configure = f'--host={_GNU}'
    build_recipe = Recipe(
        [*_TOOLS, f'gcc-{_GNU}', 'libc6-dev:arm64', 'libfabric-dev:arm64'],
        '--variant=minbase', '--architectures=amd64,arm64', _UNPACKED,
        excluded=_NO_INITRAMFS)

    def __init__(self, folder):
        super().__init__(folder)
        self.ram = folder / 'initrd-ram'
        self.device_tree = folder / 'zcu102.dtb'

    def recipe(self, packages):
        # The patterns ~E and ~prequired select the essential and the required packages, which
        # mmdebstrap does not add with --variant=extract.
        return Recipe(['~E', '~prequired', *packages, 'linux-image-arm64'],
                      '--variant=extract', '--architectures=arm64',
                      excluded=_SLIM)

    def settle(self, base, like):
        etc, merged = base / 'etc', base / 'etc.new'
        run(['cp', '-a', like / 'etc', merged], 'settle')
        run(['cp', '-a', '--remove-destination', f'{etc}/.', merged], 'settle')
        shutil.rmtree(etc)
        merged.rename(etc)
        for wrong in [base / 'etc/ld.so.cache',
                      *base.glob('etc/ld.so.conf.d/x86_64-*')]:
            wrong.unlink(missing_ok=True)
        for folder in ('usr/bin', 'usr/sbin'):
            for link in (like / folder).iterdir():
                here = base / folder / link.name
                if link.is_symlink() and not os.path.lexists(here) and \
                        os.readlink(link).startswith('/etc/alternatives/'):
                    here.symlink_to(os.readlink(link))
        depmod(base, 'depmod-base')

    def build_version(self):
        found = [path.name for path in self.root.glob('lib/modules/*-arm64')]
        if not found:
            raise Failed(f'no headers of a kernel in {self.root}')
        return max(found, key=version_key)

    def finish(self, stage):
        depmod(stage, 'depmod')

    def installed(self):
        pass   # The build root runs no program for arm64, so a linker cache is not needed.

    def unpack_kernel(self, image):
        shutil.copyfile(image, self.kernel)


AMD64, ARM64 = Arch(GUEST), Arm64(GUEST / 'arm64')
ARCHES = {a.name: a for a in (AMD64, ARM64)}
_PAIRS = {'amd64': (AMD64, AMD64), 'arm64': (ARM64, ARM64),
          'mixed': (ARM64, AMD64)}


def add_pair_options(parser):
    """Adds --arm64 and --mixed to PARSER of a program that runs two guests. pair_of() reads
    the parsed options."""
    either = parser.add_mutually_exclusive_group()
    either.add_argument('--arm64', dest='pair', action='store_const',
                        const='arm64', default='amd64',
                        help='guests for arm64, with the NIC on AXI')
    either.add_argument('--mixed', dest='pair', action='store_const',
                        const='mixed', help='node0 for arm64, node1 for amd64')


def pair_of(args):
    """Returns the Arch of node0 and of node1. ARGS are the parsed options, among them those of
    add_pair_options()."""
    return _PAIRS[args.pair]

# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes the initramfs of guests, which contains the modules for the disk, the modules of the
debug kernel, or the whole guest. Makes the device tree of the board zcu102, too."""

import stat
import subprocess
from pathlib import Path

from . import families
from .paths import TOP
from .rootfs import kernel_version
from .steps import Failed, run

MODULES = ['crc32c_generic', 'virtio_blk', 'ext4']
HERE = TOP / 'scripts/guest'
_RAM_LIBRARIES = ['libc.so.6', 'ld-linux-aarch64.so.1']
_DTB = 'zynqmp-zcu102-rev1.0.dtb'
_GIC = '/axi/interrupt-controller@f9010000'


def _first(base, folder):
    """Returns a dictionary for cpio(): the files that mount a disk, and the empty folder FOLDER
    for modules. The root file system BASE has busybox."""
    return {**_folders('bin', 'dev', folder, 'root'),
            'init': (HERE / 'initramfs-init').read_bytes(),
            'bin/busybox': (base / 'usr/bin/busybox').read_bytes()}


def make(arch, base):
    """Makes the initramfs of guests with a disk. The root file system BASE has the modules of
    the kernel."""
    files = _first(base, 'modules')
    for i, module in enumerate(_modules(base)):
        name = f'modules/{i:02}-{module.name.split(".")[0]}.ko'
        files[name] = _unpacked(module)
    arch.initrd.write_bytes(cpio(files))


def make_debug(arch, base, out):
    """Makes the initramfs of guests with a kernel whose modules are not on the disk. The
    folder OUT has these modules in lib."""
    files = _first(base, 'lib')
    for path in sorted((out / 'lib').rglob('*')):
        files[str(path.relative_to(out))] = \
            None if path.is_dir() else path.read_bytes()
    arch.initrd.write_bytes(cpio(files))


def make_ram(arch, base, out):
    """Makes the initramfs of guests without a disk. OUT is the folder of the project's own
    parts. The guests have the parts of each family with field board_tests. The root file
    system BASE has busybox and the C library."""
    files = {**_folders('bin', 'dev', 'lib', 'modules', 'proc', 'sys', 'tmp',
                        'usr', 'usr/bin'),
             'init': (HERE / 'ram-init').read_bytes(),
             'bin/busybox': (base / 'usr/bin/busybox').read_bytes()}
    found = [next(base.glob(f'usr/lib/*/{n}')) for n in _RAM_LIBRARIES]
    for f in families.FAMILIES:
        if f.board_tests:
            found += _board_files(f, out)
    folders = {'.ko': 'modules', '': 'usr/bin'}
    for path in found:
        folder = folders.get(path.suffix, 'lib')
        files[f'{folder}/{path.name}'] = path.read_bytes()
    arch.ram.write_bytes(cpio(files))


def _board_files(family, out):
    """Returns the paths of the library, programs, tests and module of FAMILY in the folder
    OUT."""
    name, lib = family.name, out / f'{family.name}-lib/usr'
    return [lib / f'lib/lib{name}.so.0', *(lib / 'bin').iterdir(),
            *(out / 'tests/usr/lib/rnic/tests' / n for n in family.board_tests),
            *out.glob(f'{name}-module/usr/lib/modules/*/updates/{name}.ko')]


def make_device_tree(arch, base):
    """Makes the device tree of the board zcu102 with the NIC, from the device tree of the board
    in the root file system BASE. Fails if BASE lacks this device tree."""
    board = next(base.glob(f'usr/lib/linux-image-*/xilinx/{_DTB}'), None)
    if not board:
        raise Failed(f'the kernel in {base} has no {_DTB}')
    gic = subprocess.run(['fdtget', '-t', 'x', board, _GIC, 'phandle'],
                         capture_output=True, text=True, check=True).stdout
    source = (HERE / 'zcu102.dtso').read_text(encoding='ascii')
    overlay = arch.folder / 'zcu102.dtbo'
    text = arch.folder / 'zcu102.dtso'
    text.write_text(source.replace('<GIC>', f'<0x{gic.strip()}>'),
                    encoding='ascii')
    run(['dtc', '-q', '-I', 'dts', '-O', 'dtb', '-o', overlay, text], 'dtc')
    run(['fdtoverlay', '-i', board, '-o', arch.device_tree, overlay],
        'fdtoverlay')


def _folders(*names):
    return dict.fromkeys(names)


def _modules(base):
    """Returns the paths of MODULES, and of the modules on which MODULES depend, in the order
    of loading."""
    folder = base / 'lib/modules' / kernel_version(base)
    needs = {}
    for line in (folder / 'modules.dep').read_text('ascii').splitlines():
        path, rest = line.split(':')
        needs[Path(path).name.split('.')[0]] = (path, rest.split())
    order = []
    for name in MODULES:
        path, rest = needs[name]
        for p in [*reversed(rest), path]:
            if folder / p not in order:
                order.append(folder / p)
    return order


def _unpacked(module):
    if module.suffix != '.xz':
        return module.read_bytes()
    return subprocess.run(['xz', '-dc', module], capture_output=True,
                          check=True).stdout


def cpio(files):
    """Returns an initramfs (newc) of FILES, path -> contents. The contents None stand for a
    folder. A folder must precede its files."""
    out = bytearray()
    for i, (name, data) in enumerate([*files.items(), ('TRAILER!!!', b'')]):
        mode = (stat.S_IFDIR if data is None else stat.S_IFREG) | 0o755
        fields = (i + 1, mode, 0, 0, 1, 0, len(data or b''), 0, 0, 0, 0,
                  len(name) + 1, 0)
        out += b'070701' + b''.join(b'%08X' % f for f in fields)
        out += name.encode() + b'\0'
        out += bytes(-len(out) % 4) + (data or b'')
        out += bytes(-len(out) % 4)
    return bytes(out)

# SPDX-License-Identifier: GPL-2.0-or-later
"""Builds the guests: Debian 13 with its stock kernel, Open MPI and libfabric, and the
project's own parts: kernel modules, libraries, providers and programs. The builds need root
for chroot and for the owners of files.

Folders and files below GUEST:
  base/                        the Debian packages of a guest
  buildroot/                   the Debian 13 in which the parts are compiled
  out/PART/                    the files that PART installs
  vmlinux, initrd, disk.img    the files that a guest boots
  base-NAME/, disk-NAME.img    the packages of base/ and those of _EXTRA[NAME]; their disk
  arm64/                       all of the above for arm64
  debug/                       the kernel of debug_kernel.py
  ssh/                         the keys of all guests
Stamps (*.stamp) contain the digests of the sources of these files and folders.
"""

import inspect
import os
import shlex
import shutil
import subprocess
from pathlib import Path

from . import apt, families, headers, host, initrd, kernel_source
from .arch import AMD64
from .debug_kernel import DEBUG
from .paths import BUILD, GUEST, LOG, SRC, TOP
from .rootfs import chroot, kernel_version, remove
from .steps import Failed, digest, fresh, making, run, step

KEY, HOST_KEY = GUEST / 'ssh/id_ed25519', GUEST / 'ssh/host_ed25519'
HOST_PACKAGES = ['debian-archive-keyring', 'e2fsprogs', 'mmdebstrap',
                 'openssh-client', 'xz-utils', 'zstd']
_PACKAGES = [
    'busybox-static', 'ethtool', 'iproute2', 'iputils-ping', 'kmod',
    'libfabric-bin', 'libfabric1', 'openmpi-bin', 'openssh-server', 'pciutils',
    'procps', 'systemd-sysv', 'tcpdump']
# Name of a disk -> packages beside _PACKAGES. '' is the usual disk. Another disk is only made
# for a program that needs the disk.
_EXTRA = {'': [], 'lammps': ['lammps'],
          **{name: more for f in families.FAMILIES for name, more in f.images.items()}}
IMAGES = tuple(_EXTRA)
_LIBFABRIC = '2.1'
_PROVIDERS_OFF = (
    'tcp udp verbs shm sm2 rxm rxd sockets usnic efa psm2 psm3 opx mrail lnx '
    'lpp ucx cxi perf trace profile hook_debug hook_hmem dmabuf_peer_mem')
_CONFIGURE = ' '.join([
    '--prefix=/usr', *(f'--enable-{f.name}=dl' for f in families.FAMILIES if f.provider),
    '--disable-static', *(f'--disable-{p}' for p in _PROVIDERS_OFF.split())])
# The script that adds the providers to the source of libfabric, and the patch of libfabric that
# this script applies.
_APPLY = TOP / 'configure-patch/apply-libfabric.sh'
_APPLIED = _APPLY, TOP / 'configure-patch/libfabric.patch'
_HERE = initrd.HERE
# Products of builds in the checkout, which are not sources.
_PRODUCTS = shutil.ignore_patterns(
    'build', '.libs', '.deps', '__pycache__', '.*.cmd', '*.o', '*.ko', '*.mod',
    '*.mod.c', '*.so', '*.so.*', '*.a', '*.lo', '*.la', '*.order',
    '*.symvers', '*.tmp', '*.swp')


class _Part:
    """A part of the guests, or a test, that is compiled in the build root of ARCH. FOLDER has
    the sources. BUILD(part) compiles the part, which needs NEEDS: other parts, or the debug
    kernel. WHAT names the part in messages. FAMILY is the family to which the part belongs,
    or None."""

    def __init__(self, arch, name, what, folder, build, needs=(), family=None):
        self.arch, self.name, self.what, self.family = arch, name, what, family
        self.build, self.needs = build, needs
        self.folder, self.out = TOP / folder, arch.out / name
        self.stamp = arch.out / f'{name}.stamp'

    def digest(self):
        """Returns the digest of the sources, the shared headers, the recipe and the kernel
        version of the build root, all that this part needs, the patch of libfabric with its
        script, and the function that builds this part."""
        return digest(*(p.digest() for p in self.needs),
                      _root_digest(self.arch), _kernel(self.arch),
                      *(digest(str(f.relative_to(TOP)), f)
                        for f in _sources(self.folder)),
                      digest(TOP / 'include/rnic', *_APPLIED),
                      inspect.getsource(self.build))

    def make(self):
        value = self.digest()   # before the build, during which a source may change
        if fresh(self.stamp, value):
            return
        with step(f'building {self.what}{_for(self.arch)}'), making(self.stamp, value):
            shutil.rmtree(self.out, ignore_errors=True)
            self.out.mkdir(parents=True)
            self.copy()
            self.build(self)

    def copy(self):
        """Copies the sources and the shared headers into the build root."""
        _copy_sources(self.arch.root, self.folder)

    def run(self, script, log):
        """Runs the shell script SCRIPT in the build root, with the variables of ARCH."""
        exports = ''.join(f'export {k}={shlex.quote(v)}; '
                          for k, v in self.arch.environment.items())
        chroot(self.arch.root, exports + script, log)

    def run_make(self, arguments):
        """Runs make with ARGUMENTS in the copy of the sources."""
        folder = Path('/rnic/src') / self.folder.relative_to(TOP)
        self.run(f'make -j{host.cores()} -C {folder} {arguments}',
                 f'build-{self.name}')

    def stage(self):
        """Installs the part into an empty folder of the build root, and copies this folder to
        self.out."""
        stage = self.arch.root / 'rnic/stage'
        shutil.rmtree(stage, ignore_errors=True)
        self.run_make('DESTDIR=/rnic/stage PREFIX=/usr install')
        shutil.copytree(stage, self.out, symlinks=True, dirs_exist_ok=True)


def _for(arch):
    return '' if arch.name == AMD64.name else f' for {arch.name}'


def _sources(folder):
    """Returns the files below FOLDER, except products of builds and ELF files."""
    found = []
    for where, dirs, files in os.walk(folder):
        out = _PRODUCTS(where, dirs + files)
        dirs[:] = sorted(d for d in dirs if d not in out)
        for f in sorted(f for f in files if f not in out):
            path = Path(where) / f
            with open(path, 'rb') as content:
                if content.read(4) != b'\x7fELF':
                    found.append(path)
    return found


def _copy_sources(root, *folders):
    """Copies FOLDERS and the shared headers to /rnic/src of the build root ROOT."""
    for folder in (*folders, TOP / 'include'):
        to = root / 'rnic/src' / folder.relative_to(TOP)
        shutil.rmtree(to, ignore_errors=True)
        for f in _sources(folder):
            copy = to / f.relative_to(folder)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(f, copy)


def _build_kernel(part):
    version = part.arch.build_version()
    part.run_make(f'KDIR=/lib/modules/{version}/build')
    to = part.out / 'usr/lib/modules' / version / 'updates'
    to.mkdir(parents=True)
    shutil.copy(part.arch.root / 'rnic/src' / part.folder.relative_to(TOP)
                / f'{part.family.name}.ko', to)
    for source, where in (
            *((f, f'udev/rules.d/{f.name}') for f in part.folder.glob('*.rules')),
            *((f, f'sysusers.d/{f.stem}.conf') for f in part.folder.glob('*.sysusers'))):
        to = part.out / 'usr/lib' / where
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, to)


def _build_lib(part):
    part.stage()
    # Installs the library into the build root, because the provider, the examples and the tests
    # are linked with the library.
    chroot(part.arch.root, 'cp -a /rnic/stage/. /', 'install-lib')
    part.arch.installed()


def _libfabric(arch):
    """Returns the path of libfabric's source tree in the build root of ARCH."""
    return arch.root / f'rnic/libfabric-{_LIBFABRIC}'


def _build_provider(part):
    tree = _libfabric(part.arch)
    setup = digest(*_APPLIED, _CONFIGURE,
                   *sorted(part.folder.rglob('configure.m4')),
                   *sorted(part.folder.rglob('Makefile.include')))
    configured = tree / 'rnic-configured'
    if not fresh(configured, setup):
        shutil.rmtree(tree, ignore_errors=True)
        unpack_libfabric(tree)
    # Removes the old copies, because a file that was removed from the sources must not stay in
    # libfabric's tree.
    for folder in (part.family.name, 'rnic'):
        shutil.rmtree(tree / 'prov' / folder, ignore_errors=True)
    run([_APPLY, tree, part.arch.root / 'rnic/src/guest-driver/libfabric'],
        'patch-libfabric')
    inside = f'/rnic/{tree.name}'
    if not configured.exists():
        part.run(f'cd {inside} && ./autogen.sh && ./configure {_CONFIGURE} '
                 f'{part.arch.configure} CFLAGS="-O2" '
                 'CPPFLAGS=-I/rnic/src/include', 'configure-libfabric')
        configured.write_text(setup, encoding='ascii')
    # The provider is linked with Debian's libfabric, which loads the provider in the guest. So
    # libfabric itself is not built in this tree.
    library = f'lib{part.family.name}-fi'
    part.run(f'make -j{host.cores()} -C {inside} {library}.la linkback=-lfabric '
             f'{library.replace("-", "_")}_la_DEPENDENCIES=', f'build-{part.name}')
    to = part.out / 'usr/lib/rnic/libfabric'
    to.mkdir(parents=True)
    shutil.copy(tree / f'.libs/{library}.so', to)


def _build_provider_test(part):
    tree, program = _libfabric(part.arch), 'prov/rnic/test/provider-test'
    folder = (tree / program).parent
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(part.arch.root / 'rnic/src' / part.folder.relative_to(TOP), folder)
    # Compiles all files of the test with sanitizers, also those that the provider contains.
    part.run(f'make -j{host.cores()} -C /rnic/{tree.name} {program} linkback=-lfabric '
             f'{program.replace("/", "_").replace("-", "_")}_DEPENDENCIES= '
             'CFLAGS="-O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all"',
             f'build-{part.name}')
    shutil.copy(tree / program, part.out)


def unpack_libfabric(tree):
    """Unpacks the source of libfabric into the new folder TREE. Fetches the tarball from Debian
    if it is not in SRC."""
    tar = next(SRC.glob(f'libfabric_{_LIBFABRIC}*.orig.tar.*'), None) \
        or apt.fetch_source('libfabric', _LIBFABRIC, SRC)
    tree.mkdir(parents=True)
    run(['tar', '-C', tree, '--strip-components=1', '-xf', tar],
        'unpack-libfabric')


def _build_programs(part):
    part.stage()


def _build_tests(part):
    """Installs the programs, and the file lists: each row of a list of the data sheets is a line
    with the names of list and row, and the number of bytes of a register or "-"."""
    part.stage()
    rows = [f'{name} {row["name"]} {row.get("bytes", "-")}\n'
            for name, rows in headers.load()['lists'].items() for row in rows]
    (part.out / 'usr/lib/rnic/tests/lists').write_text(''.join(rows), encoding='ascii')


class _LinuxDriver(_Part):
    """The part that compiles Linux' own driver of FAMILY, which Debian's kernel lacks."""

    def __init__(self, arch, family):
        super().__init__(arch, family.name, f"Linux' driver {family.linux_driver[2]}",
                         kernel_source.driver(family), _build_linux_driver,
                         family=family)

    def digest(self):
        return digest(_root_digest(self.arch), _kernel(self.arch),
                      kernel_source.NAME)

    def make(self):
        if not fresh(self.stamp, self.digest()):
            kernel_source.fetch()
        super().make()

    def copy(self):
        to = self.arch.root / 'rnic/src' / self.folder.name
        shutil.rmtree(to, ignore_errors=True)
        shutil.copytree(self.folder, to)


def _build_linux_driver(part):
    version, folder = part.arch.build_version(), part.folder.name
    _, option, module = part.family.linux_driver
    part.run(f'make -C /lib/modules/{version}/build M=/rnic/src/{folder} '
             f'{option}=m modules', f'build-{part.name}')
    to = part.out / 'usr/lib/modules' / version / 'updates'
    to.mkdir(parents=True)
    shutil.copy(part.arch.root / 'rnic/src' / folder / f'{module}.ko', to)


def _build_debug_modules(part):
    version = part.arch.build_version()
    modules = part.arch.root / 'lib/modules' / version
    (modules / 'updates').mkdir(exist_ok=True)
    for f in families.FAMILIES:
        if f.module:
            part.run_make(f'-C {f.name} KDIR=/lib/modules/{version}/build')
            shutil.copy(part.arch.root / 'rnic/src' / part.folder.relative_to(TOP) / f.name
                        / f'{f.name}.ko', modules / 'updates')
    part.run(f'depmod {version}', 'depmod-debug')
    shutil.copytree(modules, part.out / 'lib/modules' / version,
                    ignore=shutil.ignore_patterns('build', 'source'))


def _debug_modules():
    """Returns the part with the kernel modules of all families for the debug kernel."""
    return _Part(DEBUG, 'debug-module', 'the kernel modules for the debug kernel',
                 'guest-driver/kernel', _build_debug_modules, (DEBUG,))


def _parts(arch, image=''):
    """Returns the parts of the disk IMAGE for ARCH, in the order of their builds."""
    found = [p for f in families.FAMILIES for p in _family_parts(arch, f)]
    libraries = [p for p in found if p.build is _build_lib]
    found += [_Part(arch, 'examples', 'the example programs', 'guest-driver/examples',
                    _build_programs, libraries),
              _Part(arch, 'tests', 'the guest tests', 'tests/guest', _build_tests,
                    libraries)]
    return found + [_LinuxDriver(arch, f) for f in families.FAMILIES
                    if f.linux_driver and image in f.images]


def _family_parts(arch, family):
    """Yields the parts of FAMILY that all disks have, in the order of their builds."""
    name = family.name
    if family.module:
        yield _Part(arch, f'{name}-module', f'the kernel module {name}',
                    f'guest-driver/kernel/{name}', _build_kernel, family=family)
    library = []
    if family.library:
        library = [_Part(arch, f'{name}-lib', f'lib{name}', f'guest-driver/lib/{name}',
                         _build_lib, family=family)]
        yield from library
    if family.provider:
        yield _Part(arch, f'{name}-provider', f'the libfabric provider {name}',
                    'guest-driver/libfabric', _build_provider, library, family)


def provider_test():
    """Builds the test of the common part of the providers. Returns the command that runs the
    test on this machine, with the libraries of the build root. Needs root, and the build root
    for amd64."""
    found = [p for p in _parts(AMD64) if p.build in (_build_lib, _build_provider)]
    part = _Part(AMD64, 'provider-test', 'the test of the providers', 'tests/provider',
                 _build_provider_test, found)
    for p in (*found, part):
        p.make()
    _give_back()
    libraries = AMD64.root / 'usr/lib/x86_64-linux-gnu'
    return [libraries / 'ld-linux-x86-64.so.2', '--library-path', libraries,
            part.out / 'provider-test']


def _root_digest(arch):
    recipe = arch.build_recipe
    return digest(' '.join(recipe.packages), *recipe.options[1:],
                  *recipe.excluded)


def _kernel(arch):
    """Returns the version of the kernel for which parts are compiled; '' if the build root has
    no kernel yet. Digests contain the version, because Debian updates kernels without a change
    of the list of packages."""
    try:
        return arch.build_version()
    except Failed:
        return ''


class Image:
    """The disk NAME, one of IMAGES, for ARCH; its parts and its packages."""

    def __init__(self, name='', arch=AMD64):
        more = f'-{name}' if name else ''
        self.name, self.arch, self.parts = name, arch, _parts(arch, name)
        self.base = arch.folder / f'base{more}'
        self.disk = arch.folder / f'disk{more}.img'
        self.stamp = arch.folder / f'disk{more}.stamp'
        self.packages = _PACKAGES + _EXTRA[name] \
            + (os.environ.get('RNIC_GUEST_PACKAGES') or '').split()

    def base_digest(self):
        """Returns the digest of the names of Debian packages and of excluded files."""
        recipe = self.arch.recipe(self.packages)
        return digest(' '.join(recipe.packages), ' '.join(recipe.excluded))

    def disk_digest(self):
        """Returns the digest of the sources of the disk, without the ssh keys."""
        return digest(self.base_digest(), _HERE,
                      *(p.digest() for p in self.parts))

    def is_fresh(self):
        """Returns true if the key for ssh exists, and this disk, the boot files of ARCH and,
        for arm64, the files of guests without a disk are up to date."""
        return KEY.is_file() and self.disk.is_file() \
            and fresh(_boot_stamp(self.arch), _boot_digest(self.arch)) \
            and (not self.arch.ram or fresh(self.arch.folder / 'ram.stamp',
                                            _ram_digest(self.arch))) \
            and fresh(self.stamp, self.disk_digest())

    def make_base(self):
        """Installs the packages of this disk in the folder self.base, unless the stamp of this
        folder is up to date."""
        what = 'the Debian 13 of the guests' + _for(self.arch) + \
            (f', with {self.name}' if self.name else '')
        recipe, like = self.arch.recipe(self.packages), Image(self.name)
        if self.name and self.arch is AMD64:
            recipe.complete(self.base, Image().base, what, self.base_digest())
            return
        recipe.bootstrap(self.base, what, self.base_digest(),
                         lambda: self.arch.settle(self.base, like.base))

    def make_disk(self):
        """Makes the disk from the packages and the parts, unless the disk is up to date."""
        value = self.disk_digest()
        if fresh(self.stamp, value):
            return
        with step(f'making the disk image of the guests{_for(self.arch)}'), \
                making(self.stamp, value):
            stage = self.arch.folder / 'stage'
            remove(stage)
            # The folder stage has hard links to the files of self.base. So a program must
            # replace a file of stage, because writing to the file would change self.base.
            run(['cp', '-al', self.base, stage], 'stage')
            _configure(stage)
            for tree in (_HERE / 'overlay', *(p.out for p in self.parts)):
                run(['cp', '-r', '--preserve=mode,links', '--no-dereference',
                     '--remove-destination', f'{tree}/.', stage], 'stage')
            self.arch.finish(stage)
            _format(stage, self.disk)
            remove(stage)


def _boot_stamp(arch):
    return arch.folder / 'boot.stamp'


def _boot_digest(arch):
    """Returns the digest of the sources of the kernel and the initrd of guests with a disk."""
    return digest(Image(arch=arch).base_digest(), _kernel(arch),
                  ' '.join(initrd.MODULES), _HERE / 'initramfs-init')


def _ram_digest(arch):
    """Returns the digest of the sources of guests without a disk."""
    return digest(_boot_digest(arch), *(p.digest() for p in _parts(arch)),
                  TOP / 'scripts/rnic/initrd.py', _HERE / 'ram-init',
                  _HERE / 'zcu102.dtso')


def build(name='', arch=AMD64):
    """Builds the guest with the disk NAME, one of IMAGES, for ARCH. Builds only what is out of
    date. Needs root."""
    apt.ensure_packages(HOST_PACKAGES + arch.host_packages)
    arch.folder.mkdir(parents=True, exist_ok=True)
    _make_keys()
    image = Image(name, arch)
    _install(arch, {i.base: i for i in (Image(arch=arch), image)})
    for part in image.parts:
        part.make()
    _make_boot(arch)
    _make_ram(arch)
    image.make_disk()
    _give_back()


def debug_is_fresh():
    """Returns true if nothing has to be built for guests with the debug kernel."""
    return Image().is_fresh() and DEBUG.is_fresh() \
        and fresh(DEBUG.initrd.with_suffix('.stamp'), _debug_digest())


def _debug_digest():
    """Returns the digest of the sources of the initrd for the debug kernel."""
    return digest(_debug_modules().digest(), Image().base_digest(),
                  _HERE / 'initramfs-init')


def build_debug():
    """Builds the usual guest, and the debug kernel with its initrd, unless they are up to date.
    Needs root."""
    build()
    DEBUG.make()
    part = _debug_modules()
    part.make()
    stamp, value = DEBUG.initrd.with_suffix('.stamp'), _debug_digest()
    if not fresh(stamp, value):
        with making(stamp, value):
            initrd.make_debug(DEBUG, Image().base, part.out)
    _give_back()


def _install(arch, images):
    """Installs the build root of ARCH and the root file systems of IMAGES, a dictionary
    {path of the root file system: Image}, unless they are up to date. All of them must have
    the same kernel. If their kernels differ, because Debian's archive had a newer kernel for
    a later installation, installs all of them again. Fails if the kernels then differ, too."""
    for _ in range(2):
        _install_once(arch, images)
        if {kernel_version(base) for base in images} == {arch.build_version()}:
            return
        for root in [arch.root, *images]:
            (arch.folder / f'{root.name}.stamp').unlink()
    raise Failed('the Debian archive got a new kernel twice between two '
                 'installations: run this again')


def _install_once(arch, images):
    arch.build_recipe.bootstrap(
        arch.root, 'the Debian 13 in which the guest parts '
        f'are compiled{_for(arch)}', _root_digest(arch))
    if arch is not AMD64:   # Arm64.settle() copies files from the tree for amd64.
        for i in images.values():
            Image(i.name).make_base()
    for i in images.values():
        i.make_base()


def _give_back():
    """Makes the user who called sudo the owner of files to which programs of this user write,
    too: of BUILD itself, the locks, the logs, the sources, the files of apt and the tools. Does
    nothing without sudo."""
    if 'SUDO_UID' in os.environ:
        os.chown(BUILD, int(os.environ['SUDO_UID']), -1)
        run(['chown', '-R', '--no-dereference', os.environ['SUDO_UID'],
             *(p for p in (BUILD / 'apt', BUILD / 'tools', LOG, SRC, *BUILD.glob('.lock*'))
               if p.exists())], 'give-back')


def _make_keys():
    for key in (KEY, HOST_KEY):
        if not key.is_file():
            key.parent.mkdir(parents=True, exist_ok=True)
            run(['ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-C', 'rnic',
                 '-f', key], 'ssh-keygen')
    # The user who called sudo needs KEY for ssh to the guests.
    user = os.environ.get('SUDO_UID')
    if user:
        os.chown(KEY, int(user), -1)


def _make_boot(arch):
    stamp, value = _boot_stamp(arch), _boot_digest(arch)
    if fresh(stamp, value):
        return
    with step(f'making the boot files{_for(arch)}'), making(stamp, value):
        base = Image(arch=arch).base
        arch.unpack_kernel(base / 'boot' / f'vmlinuz-{kernel_version(base)}')
        initrd.make(arch, base)


def _make_ram(arch):
    stamp, value = arch.folder / 'ram.stamp', _ram_digest(arch)
    if not arch.ram or fresh(stamp, value):
        return
    with step('making the guest without a disk, and the device tree of zcu102'), \
            making(stamp, value):
        base = Image(arch=arch).base
        initrd.make_ram(arch, base, arch.out)
        initrd.make_device_tree(arch, base)


def _configure(stage):
    """Turns off the services in the file "masked" and most of systemd's generators in the root
    file system STAGE, and installs the ssh keys and the settings of Open MPI there."""
    units = stage / 'etc/systemd/system'
    for unit in (_HERE / 'masked').read_text('ascii').split():
        link = units / unit
        link.unlink(missing_ok=True)
        link.symlink_to('/dev/null')
    # Turns off all generators of systemd, except the generator for /etc/fstab.
    generators = stage / 'etc/systemd/system-generators'
    generators.mkdir(exist_ok=True)
    for g in (stage / 'usr/lib/systemd/system-generators').iterdir():
        if g.name != 'systemd-fstab-generator':
            (generators / g.name).symlink_to('/dev/null')
    (stage / 'mnt/host').mkdir(parents=True, exist_ok=True)
    (stage / 'etc/rnic').mkdir(exist_ok=True)
    (stage / 'root/.ssh').mkdir(mode=0o700, exist_ok=True)
    for source, name, mode in (
            (KEY, 'root/.ssh/id_ed25519', 0o600),
            (KEY.with_suffix('.pub'), 'root/.ssh/authorized_keys', 0o600),
            (HOST_KEY, 'etc/ssh/ssh_host_ed25519_key', 0o600)):
        (stage / name).unlink(missing_ok=True)
        shutil.copyfile(source, stage / name)
        (stage / name).chmod(mode)
    for name in ('openmpi-mca-params.conf', 'prte-mca-params.conf'):
        _append(stage / 'etc/openmpi' / name, (_HERE / name).read_text())


def _append(path, text):
    whole = path.read_text(encoding='utf-8') + text
    path.unlink()
    path.write_text(whole, encoding='utf-8')


def _format(stage, disk):
    used = int(subprocess.run(['du', '-sm', stage], capture_output=True,
                              text=True, check=True).stdout.split()[0])
    part = disk.with_suffix('.part')
    part.unlink(missing_ok=True)
    run(['mkfs.ext4', '-q', '-F', '-m', '0', '-O', '^has_journal', '-L',
         'rnic', '-d', stage, part, f'{used + used // 4 + 1024}M'],
        'mkfs')
    part.chmod(0o644)
    part.rename(disk)

# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks style, layering and sizes of the sources; see docs/design.rst.

Exit code 0 only if nothing was found."""

import argparse
import re
import subprocess
import tokenize

from .. import apt, families, kernel_source, qemu, qemu_source, rooms, testnames
from ..paths import TOP
from ..steps import build_lock, step

FUNCTION_LIMIT, FUNCTION_MAX = 60, 100
FILE_MAX = 800
# Files that may be longer. Users copy this file into Wireshark's folder of plugins, and Wireshark
# would load a second file there as a plugin of its own.
_LONG = ('scripts/wireshark/exanet.lua',)
# Lists checks of the kernel's checkpatch that do not suit this project. A list of registers is
# a macro with a macro as its parameter. A module outside of Linux' source must check the
# version of the kernel.
_KERNEL_IGNORE = 'FILE_PATH_CHANGES,SPDX_LICENSE_TAG,LINUX_VERSION_CODE,' \
    'COMPLEX_MACRO,MACRO_ARG_UNUSED'
# Matches the lines of QEMU's and of the kernel's checkpatch that count as findings. The
# excepted checks do not suit this project. For example, macros of lists have complex values,
# and a register of pvrdma has positive errnos.
_QEMU_STYLE = r'(ERROR|WARNING): (?!line over 80|arch|Macros with complex|' \
    r'return of an errno)'
# Matches names with a word that docs/style.rst forbids; the names are lower case, with _ before
# and after each word. Names of the ways of sets of contexts and of translations are allowed.
_FORBIDDEN = re.compile(r'_(look_?out|(im)?possible|told|turns?|ways?|late|patience)_')
_ALLOWED_NAME = re.compile(
    r'(test_)?ways$|EXANET_(RX|TLB|CAP0_LOG2)_WAYS$|/exanet/receiver/ways-t14$')
_WORD = re.compile(r'[A-Za-z_]\w*')
_SHELL = re.compile(rb'#!.*\b(ba|da)?sh\b')
# Matches names that a shell script defines or reads: functions and variables.
_SHELL_NAME = re.compile(
    r'(?:(?<=\$)|(?<=\$\{)|(?<=\$\{[#!])|(?<=\bfor ))[A-Za-z_]\w*|[A-Za-z_]\w*(?=\s*\(\)|\+?=)')
# Matches comments and strings of Lua.
_LUA_TEXT = re.compile(r'--\[\[.*?\]\]|--[^\n]*|\[\[.*?\]\]|"(?:\\.|[^"\\\n])*"|'
                       r"'(?:\\.|[^'\\\n])*'", re.S)
# Matches the name of a test case in C.
_CASE = re.compile(r'"(/\w+/[a-z0-9-]+/[a-z0-9%-]+)"')


class Check:
    """Counts and prints findings."""

    def __init__(self):
        self.found = 0

    def say(self, what):
        self.found += 1
        print(what, flush=True)

    def style(self, files, tool, *options, cwd=TOP):
        """Runs the checkpatch TOOL of QEMU or of the kernel on FILES, and reports the findings
        that _QEMU_STYLE matches."""
        for f in files:
            r = subprocess.run(['perl', tool, '-q', '--no-tree', '--terse',
                                *options, '-f', f], cwd=cwd, text=True,
                               capture_output=True, check=False)
            for line in r.stdout.splitlines():
                if re.search(_QEMU_STYLE, line):
                    self.say(line)

    def grep(self, what, pattern, *paths, allowed=r'^$'):
        """Reports WHAT for each line that PATTERN matches in the tracked files below PATHS,
        except in files whose names ALLOWED matches."""
        out = subprocess.run(['git', 'grep', '-InE', pattern, '--', *paths],
                             cwd=TOP, text=True, capture_output=True,
                             check=False).stdout
        for line in out.splitlines():
            if not re.match(allowed, line.split(':')[0]):
                self.say(f'{line}: {what}')

    def words(self):
        """Reports identifiers, trace events and test cases that have a forbidden word."""
        for f in tracked('hw', 'include', 'guest-driver', 'scripts', 'tests',
                         'configure-patch'):
            found = _names(TOP / f)
            if f.startswith('tests/') and f.endswith('.c'):
                found.update(_CASE.findall((TOP / f).read_text(encoding='utf-8')))
            for name in sorted(found):
                words = re.findall(r'[A-Z]?[a-z]+|[A-Z]+', name)
                if _FORBIDDEN.search(f'_{"_".join(words)}_'.lower()) \
                        and not _ALLOWED_NAME.match(name):
                    self.say(f'{f}: {name}: docs/style.rst forbids a word of this name')

    def rooms(self):
        """Checks that folders use and include only lower folders, that circles of files are
        small and in one folder, that each header compiles alone, and that the main headers are
        short. Compiles the files of hw."""
        r = rooms.Rooms()
        r.compile()
        for what in [*r.wrong_edges(), *r.wrong_circles(rooms.CIRCLE_MAX),
                     *rooms.wrong_includes(), *r.headers(), *rooms.plain_headers(),
                     *rooms.wide_doors(),
                     *(w for f in families.FAMILIES for w in rooms.main_header(f))]:
            self.say(what)
        print(f'largest circle: {max(map(len, r.circles()), default=1)} files')

    def module(self, folder):
        """Checks the rooms of the kernel module in FOLDER, where no circle is allowed."""
        m = rooms.Module(TOP / folder)
        for what in [*m.wrong_edges(), *m.wrong_circles(1), *m.headers()]:
            self.say(what)

    def built(self):
        """Reports C files of hw and of the folders unit, qtest, tools and fuzz of tests that
        the nearest meson.build does not list: that of the file's folder or, if there is none,
        of the next folder above that has one."""
        for f in tracked('hw/*.c', 'tests/unit/*.c', 'tests/qtest/*.c',
                         'tests/tools/*.c', 'tests/fuzz/*.c'):
            build = next(p for folder in (TOP / f).parents
                         if (p := folder / 'meson.build').is_file())
            name = (TOP / f).relative_to(build.parent).with_suffix('')
            if not re.search(f"'{name}(\\.c)?'", build.read_text(encoding='utf-8')):
                self.say(f'{f}: not in {build.relative_to(TOP)}')

    def lines(self):
        """Reports lines that belong to other files, lines with a fixed seed, and white space at
        the end of a line."""
        self.grep('only compat.h knows QEMU versions', 'QEMU_VERSION_', 'hw',
                  allowed=r'hw/core/compat\.h$')
        self.grep('PCI belongs to the bus shell', r'#include "hw/pci', 'hw',
                  allowed=r'hw/(.*-pci\.c|core/pci\.[ch])$')
        self.grep('sysbus belongs to the bus shell', r'#include "hw/sysbus', 'hw',
                  allowed=r'hw/.*-axi\.c$')
        names = '|'.join(n for f in families.FAMILIES for n in (f.name, f.name.upper()))
        self.grep('the common part of the providers knows no NIC', rf'{names}|\bexa_',
                  'guest-driver/libfabric/common')
        self.grep('formats belong to include/rnic', r'__attribute__\(\(packed', 'hw')
        self.grep('a fixed seed finds nothing new: random_seed()',
                  r'g_rand_new_with_seed\((0x)?[0-9]', 'tests/unit', 'tests/qtest',
                  'tests/tools')
        self.grep('trailing white space', r'[[:space:]]+$', '.',
                  allowed=r'(.*\.patch|COPYING)$')

    def links(self):
        """Reports invalid documents, and links inside the repository without a target."""
        # pylint: disable-next=import-outside-toplevel
        from .. import links        # needs docutils, which this program has installed
        for what in links.check():
            self.say(what)

    def licences(self):
        """Reports C and Python files, makefiles and scripts without an SPDX licence in their
        first 400 bytes."""
        for f in tracked():
            path = TOP / f
            if not path.is_file() or not path.stat().st_size:
                continue
            text = path.read_bytes()[:400].decode('utf-8', 'replace')
            if (text.startswith('#!') or path.name == 'Makefile'
                    or path.suffix in ('.c', '.h', '.py')) \
                    and 'SPDX-License-Identifier: ' not in text:
                self.say(f'{f}: no licence')

    def sizes(self):
        """Reports files, and functions in C, that are too long. Prints a note, which is no
        finding, for functions of more than FUNCTION_LIMIT lines."""
        lengths = []
        for f in tracked('include/*.h', 'hw/*.[ch]', 'guest-driver/*.[ch]', 'tests/*.[ch]',
                         '*.py', '*.test', '*.rst', '*.lua'):
            lines = (TOP / f).read_text(encoding='utf-8').splitlines()
            if len(lines) > FILE_MAX and f not in _LONG:
                self.say(f'{f}: {len(lines)} lines')
            for start, length in functions(lines) if f.endswith(('.c', '.h')) else ():
                lengths.append(length)
                if length > FUNCTION_MAX:
                    self.say(f'{f}:{start}: a function of {length} lines')
                elif length > FUNCTION_LIMIT:
                    print(f'note: {f}:{start}: a function of {length} lines')
        if lengths:
            lengths.sort()
            print(f'{len(lengths)} functions, median '
                  f'{lengths[len(lengths) // 2]} lines, longest '
                  f'{lengths[-1]}')


def _names(path):
    """Returns the set of identifiers in the file PATH: C, Python, trace-events, Lua or shell.
    Returns an empty set for other files, and for links."""
    if not path.is_file() or path.is_symlink():
        return set()
    if path.suffix in ('.c', '.h'):
        return set(_WORD.findall(rooms.code(path)))
    if path.name == 'trace-events':
        return set(_WORD.findall(
            re.sub(r'#.*|"[^"\n]*"', ' ', path.read_text(encoding='utf-8'))))
    if path.suffix == '.lua':
        return set(_WORD.findall(_LUA_TEXT.sub(' ', path.read_text(encoding='utf-8'))))
    with open(path, 'rb') as f:
        first = f.readline()
        if path.suffix == '.sh' or _SHELL.match(first):
            text = re.sub(r'(^|\s)#.*', '', path.read_text(encoding='utf-8'))
            return set(_SHELL_NAME.findall(text))
        if path.suffix != '.py' and not re.match(rb'#!.*python', first):
            return set()
        f.seek(0)
        return {t.string for t in tokenize.tokenize(f.readline) if t.type == tokenize.NAME}


def functions(lines):
    """Yields, for each function in LINES, the number of the line with the opening brace, and
    the number of lines between the braces. Both braces are alone in their lines."""
    start = None
    for number, line in enumerate(lines, 1):
        if line == '{':
            start = number
        elif line == '}' and start:
            yield start, number - start - 1
            start = None


def tracked(*patterns):
    out = subprocess.run(['git', 'ls-files', '--', *patterns], cwd=TOP,
                         text=True, capture_output=True, check=True).stdout
    return out.split()


def hops():
    """Builds QEMU and prints how many calls from another file, or from QEMU, into a file of hw
    a transfer makes, for each kind of transfer. Returns 0 if no kind makes too many such
    calls."""
    apt.ensure_packages(['binutils', 'valgrind'])
    with build_lock():
        q = qemu.Qemu().build(programs=['transfers'])
    return subprocess.run([TOP / 'tests/tools/hops.py', q.tree, q.program('transfers')],
                          check=False).returncode


def start():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument('--hops', action='store_true',
                   help='only count the calls from file to file of one transfer, '
                   'which builds QEMU')
    if p.parse_args().hops:
        return hops()
    apt.ensure_packages(['git', 'perl', 'python3-docutils', 'shellcheck',
                         'universal-ctags', 'xz-utils'])
    c = Check()
    with step("QEMU's checkpatch"):
        tree = qemu_source.find()
        c.style(tracked('hw/*.[ch]', 'tests/unit/*.[ch]', 'tests/qtest/*.[ch]',
                        'tests/tools/*.[ch]', 'tests/fuzz/*.[ch]'),
                tree / 'scripts/checkpatch.pl')
    kernel_source.fetch()
    with step("the kernel's checkpatch"):
        c.style(tracked('guest-driver/kernel/*.[ch]'),
                kernel_source.CHECKPATCH,
                f'--ignore={_KERNEL_IGNORE}')
    with step('rooms'):
        c.rooms()
        for f in families.FAMILIES:
            if f.module:
                c.module(f'guest-driver/kernel/{f.name}')
    with step('names of tests'):
        for what in testnames.wrong():
            c.say(what)
    with step('names'):
        c.words()
        c.built()
        c.licences()
        c.lines()
    with step('tables of the documentation'):
        c.found += subprocess.run([TOP / 'scripts/regs-to-rst', '--check'],
                                  check=False).returncode
    with step('links of the documentation'):
        c.links()
    with step('shellcheck'):
        scripts = [f for f in tracked() if (TOP / f).is_file()
                   and _SHELL.match((TOP / f).read_bytes()[:40])]
        r = subprocess.run(['shellcheck', '-x', '-S', 'warning', '-f', 'gcc',
                            *scripts], cwd=TOP, text=True,
                           capture_output=True, check=False)
        for line in r.stdout.splitlines():
            c.say(line)
    with step('sizes'):
        c.sizes()
    print(f'{c.found} findings')
    return 1 if c.found else 0

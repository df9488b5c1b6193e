# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks the rooms of hw. A room is a folder. The checks find out, by the symbols of object
files and by the headers that files include, whether each folder uses only folders that it may
use; whether files use each other's symbols in a circle; and whether each header compiles alone.
The rooms of the kernel module are lists of files."""

import json
import re
import shlex
import subprocess
from collections import defaultdict

from . import families, qemu
from .paths import TOP
from .steps import run

# The shared folders of hw by level, the lowest first. Some of them do not exist yet. A shared
# folder may use only lower levels; a family may use all shared folders.
SHARED = (('core',), ('mmu', 'link'), ('fabric',))
# Name of a shared folder or of a family -> its folders, by level: see family.Family. A file may
# use symbols and headers of its own folder, of lower folders, and of shared folders as above.
FOLDERS = {**{name: (('',),) for level in SHARED for name in level},
           **{f.name: f.rooms for f in families.FAMILIES}}
# family -> {folder: the only header of the folder that files of other folders, except the
# family's main header, may include}
DOORS = {f.name: f.doors for f in families.FAMILIES}
CIRCLE_MAX = 6          # maximum number of files that use each other's symbols in a circle
MAIN_HEADER_MAX = 250   # maximum number of lines of a family's main header
DOOR_MAX = 60           # maximum number of lines of a header in DOORS
# A main header may define at most FEW_USERS_MAX symbols that fewer than FEW_USERS files use.
FEW_USERS, FEW_USERS_MAX = 3, 5
_OWN = 'hw/rnic/'
# Folders whose headers need no header of QEMU. The common part of the providers is not among
# them, because its headers need the source of libfabric, which this check does not fetch.
_PLAIN = ('include/rnic', 'guest-driver/lib')


class _Graph:
    """Files, and the symbols that they define and use."""

    def __init__(self):
        self.defined = {}       # symbol -> file that defines the symbol
        self.used = defaultdict(set)    # file -> symbols that the file uses

    def edges(self):
        """Returns {(file, other file): symbols of the other file that the file uses}."""
        found = defaultdict(set)
        for name, symbols in self.used.items():
            for symbol in symbols:
                other = self.defined.get(symbol, name)
                if other != name:
                    found[name, other].add(symbol)
        return found

    def wrong_edges(self):
        """Yields a message for each use of another file that allowed() forbids."""
        for (name, other), symbols in sorted(self.edges().items()):
            if not self.allowed(name, other):
                yield f'{name} uses {", ".join(sorted(symbols))} of {other}'

    def allowed(self, name, other):
        """Returns true if file NAME may use symbols of file OTHER."""
        raise NotImplementedError

    def circles(self):
        """Returns the largest sets of files in which each file uses each other one, directly or
        through further files."""
        below = defaultdict(set)
        for name, other in self.edges():
            below[name].add(other)
        return [c for c in _components(below) if len(c) > 1]

    def wrong_circles(self, most):
        """Yields a message for each circle that has more than MOST files, or files of several
        folders."""
        for circle in self.circles():
            folders = {f.rpartition('/')[0] for f in circle}
            if len(circle) > most or len(folders) > 1:
                yield f'a circle of {len(circle)} files: {" ".join(sorted(circle))}'


class Rooms(_Graph):
    """The C files of hw that are compiled for QEMU. The constructor configures QEMU's tree."""

    def __init__(self):
        super().__init__()
        self.tree = qemu.Qemu().configure()
        self.commands = {}      # file below hw -> command line of its compiler
        self.objects = {}       # file below hw -> its object file
        path = self.tree.tree / 'compile_commands.json'
        for entry in json.loads(path.read_text(encoding='utf-8')):
            if _OWN in entry['file'] and 'libcommon' in entry['command']:
                name = entry['file'].split(_OWN)[1]
                self.commands[name] = entry['command']
                self.objects[name] = self.tree.tree / entry['output']

    def compile(self):
        """Compiles the files and reads their symbols."""
        self.tree.precompile()
        run(['ninja', '-C', self.tree.tree, *(o.relative_to(self.tree.tree)
                                              for o in self.objects.values())],
            f'build-{self.tree.tree.name}', 'the build failed',
            env=qemu.environment())
        for name, obj in self.objects.items():
            out = subprocess.run(['nm', '-P', obj], text=True, check=True,
                                 capture_output=True).stdout
            for symbol, kind, *_ in map(str.split, out.splitlines()):
                if kind == 'U':
                    self.used[name].add(symbol)
                elif kind in 'TDRBV':
                    self.defined[symbol] = name

    def allowed(self, name, other):
        return _allowed(name, other)

    def headers(self):
        """Yields a message for each header of hw, except trace.h, that does not compile
        alone."""
        name = families.DEFAULT.name
        flags = _flags(self.commands[f'{name}/{name}.c'])
        for header in sorted((TOP / 'hw').rglob('*.h')):
            if header.name != 'trace.h':
                yield from _alone(header, [*flags, '-Werror', '-include', 'qemu/osdep.h'],
                                  self.tree.tree)


class Module(_Graph):
    """The C files of the kernel module in FOLDER. The module's main header lists the rooms,
    from the lowest to the highest: a line "* ROOM FILE" begins a room, the next lines name more
    files.

    The module is compiled only in a guest's Debian, which this check does not need. So the
    class judges by identifiers: ctags finds the definitions of global names, and a word of
    another file that equals a defined name counts as a use of this name."""

    def __init__(self, folder):
        super().__init__()
        self.name, self.folder = folder.name, folder
        self.rooms = self._rooms()
        files = {p.name: p for p in sorted(folder.glob(f'{self.name}_*.c'))}
        self.defined = dict(_tags('fv', files.values()))
        for name, path in files.items():
            self.used[name] = self.defined.keys() & set(re.findall(r'\w+', code(path)))

    def _rooms(self):
        """Returns {file: number of its room}, by the list in the module's main header. A higher
        room has a higher number."""
        text = (self.folder / f'{self.name}.h').read_text(encoding='utf-8')
        found, room = {}, 0
        for begins, pattern in re.findall(r'^ \*( \w+)? +(\w+\*?\.c) ', text, re.M):
            room += bool(begins)
            found.update((p.name, room) for p in self.folder.glob(pattern))
        return found

    def allowed(self, name, other):
        return self.rooms.get(other, 0) <= self.rooms.get(name, 0)

    def headers(self):
        """Yields a message for each C file that has no room or does not include its own header
        first, and for each declaration in a header of a symbol with the module's prefix that
        the C file of the same name does not define. If files include their own headers first,
        the build proves that these headers compile alone."""
        for path in sorted(self.folder.glob(f'{self.name}_*.c')):
            own = path.with_suffix('.h')
            first = re.search(r'^#include (\S+)', path.read_text(encoding='utf-8'), re.M)
            if own.exists() and first.group(1) != f'"{own.name}"':
                yield f'{path.relative_to(TOP)}: {own.name} is not its first header'
            if path.name not in self.rooms:
                yield f'{path.relative_to(TOP)}: {self.name}.h lists it in no room'
        for symbol, header in _tags('px', sorted(self.folder.glob('*.h'))):
            if symbol.startswith(f'{self.name}_') \
                    and self.defined.get(symbol, '') != header.replace('.h', '.c'):
                yield f'{header}: declares {symbol}, which its own file does not define'


def _tags(kinds, files):
    """Yields (symbol, name of its file) for the symbols of KINDS, letters of ctags, in the C
    files FILES. Leaves out symbols that only their own file can use."""
    out = subprocess.run(['ctags', '-f', '-', f'--kinds-C={kinds}', '--extras=-F',
                          '--langmap=C:.c.h', *files],
                         text=True, check=True, capture_output=True).stdout
    for line in out.splitlines():
        symbol, path, *_ = line.split('\t')
        yield symbol, path.rpartition('/')[2]


def code(path):
    """Returns the text of a C file without comments and strings."""
    return re.sub(r'/\*.*?\*/|"(\\.|[^"\\])*"', ' ', path.read_text(encoding='utf-8'),
                  flags=re.S)


def plain_headers():
    """Yields a message for each header in the folders of _PLAIN that does not compile alone."""
    for folder in _PLAIN:
        for header in sorted((TOP / folder).rglob('*.h')):
            yield from _alone(header, ['-std=gnu11', '-Wall', '-Werror',
                                       f'-I{TOP / "include"}'], TOP)


def _alone(header, flags, cwd):
    """Yields a message with the compiler's first error if a file that only includes HEADER does
    not compile. FLAGS are options of the compiler, which runs in folder CWD."""
    r = subprocess.run(['cc', *flags, '-fsyntax-only', '-x', 'c', '-'],
                       input=f'#include "{header}"\n', cwd=cwd, text=True,
                       capture_output=True, check=False)
    if r.returncode:
        error = next((line for line in r.stderr.splitlines() if ' error: ' in line), '')
        yield f'{header.relative_to(TOP)} does not compile alone: {error}'


def main_header(family):
    """Yields a message if the main header of FAMILY has more than MAIN_HEADER_MAX lines, and
    one if this header has more than FEW_USERS_MAX symbols (functions, macros, types and
    variables) that fewer than FEW_USERS other files of FAMILY use. A family without a device has
    no main header."""
    path = TOP / f'hw/{family.name}/{family.name}.h'
    if not path.exists():
        return
    text = path.read_text(encoding='utf-8')
    name = path.relative_to(TOP)
    if (lines := len(text.splitlines())) > MAIN_HEADER_MAX:
        yield f'{name}: {lines} lines, more than {MAIN_HEADER_MAX}'
    sources = [set(re.findall(r'\w+', code(p)))
               for p in path.parent.rglob('*.[ch]') if p != path]
    guard = re.search(r'^#ifndef (\w+)', text, re.M).group(1)
    few = [s for s in {s for s, _ in _tags('dfgpstux', [path])} - {guard}
           if sum(s in words for words in sources) < FEW_USERS]
    if len(few) > FEW_USERS_MAX:
        yield f'{name}: few files use {", ".join(sorted(few))}'


def wide_doors():
    """Yields a message for each header in DOORS with more than DOOR_MAX lines."""
    for family, doors in DOORS.items():
        for folder, header in doors.items():
            name = f'hw/{family}/{folder}/{header}'
            lines = len((TOP / name).read_text(encoding='utf-8').splitlines())
            if lines > DOOR_MAX:
                yield f'{name}: {lines} lines, more than {DOOR_MAX}'


def wrong_includes():
    """Yields a message for each folder of hw that is no room, and for each line that includes a
    header that _allowed() or _door() forbids. Each file may include the main header, which
    contains the state of all units, and trace.h of its own family. The main header may
    include all headers."""
    top, unknown = TOP / 'hw', set()
    for path in sorted(top.rglob('*.[ch]')):
        name = str(path.relative_to(top))
        family, folder = _split(name)
        if _level(family, folder) is None:
            unknown.add(f'hw/{family}/{folder}'.rstrip('/'))
            continue
        for number, line in enumerate(path.read_text(encoding='utf-8').splitlines(), 1):
            m = re.match(r'#include "([^"]+)"', line)
            other = m and _included(path, m.group(1))
            if other and name != f'{family}/{family}.h' \
                    and other not in (f'{family}/{family}.h', f'{family}/trace.h') \
                    and not (_allowed(name, other) and _door(name, other)):
                yield f'hw/{name}:{number}: includes {other}'
    yield from (f'{folder}: no list of rooms has it' for folder in sorted(unknown))


def _included(path, header):
    """Returns the path below hw of the file that PATH includes as HEADER. Returns HEADER itself
    for a data sheet of another family than that of PATH, and None for all other headers that
    are not in hw."""
    top = TOP / 'hw'
    if m := re.match(r'rnic/(\w+)/', header):
        return None if path.is_relative_to(top / m.group(1)) else header
    file = top / header.removeprefix(_OWN) if header.startswith(_OWN) \
        else (path.parent / header).resolve()
    return str(file.relative_to(top)) if file.is_file() and file.is_relative_to(top) \
        else None


def _allowed(name, other):
    """Returns true if file OTHER below hw is in the folder of file NAME, in a lower folder of
    the same family, or in a shared folder that file NAME may use, so that file NAME may use file
    OTHER."""
    (family, mine), (of, its) = _split(name), _split(other)
    if (family, mine) == (of, its):
        return True
    if of in _shared():
        return family not in _shared() or _shared()[of] < _shared()[family]
    levels = _level(family, mine), _level(of, its)
    return family == of and None not in levels and levels[1] < levels[0]


def _shared():
    """Returns {shared folder: number of its level}."""
    return {name: i for i, level in enumerate(SHARED) for name in level}


def _door(name, other):
    """Returns true if DOORS permits file NAME below hw to include header OTHER."""
    of, its = _split(other)
    header = DOORS.get(of, {}).get(its)
    return header is None or _split(name) == (of, its) or other == f'{of}/{its}/{header}'


def _split(name):
    """Returns the first folder of file NAME below hw, which is a family or core, and the rest
    of the path without the name of the file."""
    family, _, rest = name.partition('/')
    return family, rest.rpartition('/')[0]


def _level(family, folder):
    """Returns the level of FOLDER of FAMILY, 0 for the lowest; None if FOLDER is no room."""
    return next((i for i, level in enumerate(FOLDERS.get(family, ())) if folder in level),
                None)


def _flags(command):
    """Returns the options of the compiler's command line COMMAND, without the names of the
    source, the object file and the list of dependencies."""
    words, flags = iter(shlex.split(command)[1:]), []
    for word in words:
        if word in ('-MF', '-MQ', '-o', '-c'):
            next(words)
        elif word != '-MD':
            flags.append(word)
    return flags


def _components(below):
    """Returns the strongly connected components of a graph, by Tarjan's algorithm. BELOW is
    {node: nodes to which it has an edge}."""
    index, low, stack, on, found = {}, {}, [], set(), []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        on.add(node)
        for other in below[node]:
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in on:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            component = set()
            while node not in component:
                component.add(stack.pop())
            on.difference_update(component)
            found.append(component)

    for node in list(below):
        if node not in index:
            visit(node)
    return found

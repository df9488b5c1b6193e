# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks the names of test cases, /<family>/<unit>/<case>, in the sources of the tests."""

import re
from collections import defaultdict

from . import families
from .paths import TOP

# Name of a unit that consists of several files of hw -> meaning of this unit.
_LARGER = {
    'device': 'a whole device: hostile guests, accesses to itself, its end',
    'pair': 'two machines with a cable between them',
    'network': 'a network of devices',
}
# Pairs (family, unit) in the names of tests of code outside hw.
_OWN = {('tests', 'seed')}
_ADDED = re.compile(r'_add_(?:data_)?func(?:_full)?\(\s*("[^"]*")')
_CASE = re.compile(r'/(\w+)/([a-z0-9-]+)/[a-z0-9%-]+$')


def wrong(top=TOP):
    """Yields a message for each error in the names of test cases of the repository TOP. All
    cases of a test program belong to one unit: a file of hw, by its own name or by FOLDER-FILE,
    a unit of several files (_LARGER), or a unit of code outside hw (_OWN). A case has only
    lower-case letters, digits, '-' and '%'. Two programs of one folder have no name in common.
    A case may end, but not begin, with the number of a check in the specification, such as
    a12."""
    folders = sorted(p.name for p in (top / 'hw').iterdir() if p.is_dir())
    known = {(folder, unit) for folder in folders
             for unit in _units(top / 'hw', folder)} | _OWN
    paths = re.compile(rf'"(/(?:rnic|tests|{"|".join(folders)})(?:/[^"\n]*)?)"')
    first = {}
    for source in sorted((top / 'tests').glob('[uq]*t*/**/*-test.c')):
        name, text = source.relative_to(top), source.read_text(encoding='utf-8')
        for added in _ADDED.findall(text):
            if not paths.fullmatch(added):
                yield f'{name}: {added} names no family'
        found = defaultdict(list)
        for case in paths.findall(text):
            m = _CASE.match(case)
            if not m or m.groups() not in known:
                yield f'{name}: {case} is not /<family>/<file of hw>/<case>'
            elif re.match(r'[at][0-9]+-', case.rsplit('/', 1)[1]):
                yield f'{name}: the number of {case} belongs to its end'
            else:
                found[m.groups()].append(case)
            other = first.setdefault((name.parent, case), name)
            if other != name:
                yield f'{name}: {other} has a case {case}, too'
        if len(found) > 1:
            yield f'{name}: tests of several units: ' + ', '.join(
                cases[0] for cases in found.values())
        if source.parent.name in folders and {source.parent.name} != {
                folder for folder, _ in found}:
            yield f'{name}: no tests, or tests of another family'


def _units(hw, folder):
    """Returns the names of units that the cases of FOLDER of HW may have. FOLDER is a family,
    or a folder that all families share. A family's cases may also name files of the shared
    folders."""
    shared = {p.name for p in hw.iterdir()
              if p.is_dir()} - {f.name for f in families.FAMILIES}
    found = set() if folder in shared else set(_LARGER)
    for used in shared | {folder}:
        for path in (hw / used).rglob('*.[ch]'):
            stem = path.stem.removeprefix(f'{folder}-')
            found |= {stem, f'{path.parent.name}-{stem}'}
    return found

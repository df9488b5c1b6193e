# SPDX-License-Identifier: GPL-2.0-or-later
"""Names of test cases, /<family>/<unit>/<case>, as the sources of the tests have them."""

import re
from collections import defaultdict

from .paths import TOP

# Units that are larger than a file of hw, and why.
_LARGER = {
    'device': 'a whole device: hostile guests, accesses to itself, its end',
    'pair': 'two machines with a cable between them',
    'network': 'a network of devices',
}
# What is tested beside hw.
_OWN = {('tests', 'seed')}
_ADDED = re.compile(r'_add_(?:data_)?func(?:_full)?\(\s*("[^"]*")')
_CASE = re.compile(r'/(\w+)/([a-z0-9-]+)/[a-z0-9%-]+$')


def wrong():
    """Yields what is wrong with the names of test cases. All cases of a file belong to one
    unit: a file of hw, by its own name or with its folder's in front, or a unit of a
    table above. A name is lower case. The number of a check in a specification ends it."""
    families = sorted(p.name for p in (TOP / 'hw').iterdir() if p.is_dir())
    known = {(family, unit) for family in families for unit in _units(family)} | _OWN
    paths = re.compile(rf'"(/(?:rnic|tests|{"|".join(families)})(?:/[^"\n]*)?)"')
    for source in sorted((TOP / 'tests').glob('[uq]*t*/**/*-test.c')):
        name, text = source.relative_to(TOP), source.read_text(encoding='utf-8')
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
        if len(found) > 1:
            yield f'{name}: tests of several units: ' + ', '.join(
                cases[0] for cases in found.values())
        if source.parent.name in families and {source.parent.name} != {
                family for family, _ in found}:
            yield f'{name}: no tests, or tests of another family'


def _units(family):
    """Returns the names of units in the cases of FAMILY. A family uses hw/core."""
    found = set(_LARGER) if family != 'core' else set()
    for folder in {'core', family}:
        for path in (TOP / 'hw' / folder).rglob('*.[ch]'):
            stem = path.stem.removeprefix(f'{family}-')
            found |= {stem, f'{path.parent.name}-{stem}'}
    return found

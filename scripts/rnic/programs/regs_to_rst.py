# SPDX-License-Identifier: GPL-2.0-or-later
"""Keeps the tables of docs/ equal to the data sheets of include/rnic.

A table stands in a document between two comments:

    .. regs-to-rst KIND ARGUMENTS
    .. regs-to-rst end

KIND is one of
  registers LIST       a list of registers: offset, size, reset value, writable bits
  counters LIST        a list of counters
  fields PREFIX...     all fields and bits with such a prefix; -PREFIX: except these
  struct NAME          members with their offsets
  codes ENUM           the values of an enum
  words LIST           a list of names with values and words: packet types, roles
  values NAME...       constants and macros as they are defined

Without options the program rewrites the documents; with --check it only reports documents
that are out of date. The rows come from scripts/rnic/headers.py."""

import argparse
import difflib
import re
import sys
import textwrap

from .. import headers
from ..paths import TOP
from ..steps import Failed

DOCS = TOP / 'docs'
_SECTION = re.compile(r'^\.\. regs-to-rst (?!end$)(.+)\n(?s:.*?)'
                      r'^\.\. regs-to-rst end$', re.M)


def table(head, rows):
    """Returns a simple table of reStructuredText with the heading HEAD and ROWS. Wraps long
    cells of the last column. Fails if ROWS is empty."""
    rows = [[str(c) for c in r] for r in rows]
    if not rows:
        raise Failed('a table has no rows')
    widths = [max(len(r[i]) for r in [head] + rows)
              for i in range(len(head) - 1)]
    room = max(30, 98 - sum(widths) - 2 * len(widths))
    last = max([len(head[-1])] + [min(room, len(r[-1])) for r in rows])
    rule = '  '.join('=' * w for w in widths + [last])
    out = [rule, line(head, widths), rule]
    for r in rows:
        parts = textwrap.wrap(r[-1], room, break_long_words=False) or ['']
        out.append(line(r[:-1] + parts[:1], widths))
        out += [line([''] * len(widths) + [p], widths) for p in parts[1:]]
    return '\n'.join(out + [rule])


def line(cells, widths):
    cells = [c.ljust(w) for c, w in zip(cells, widths)] + [cells[-1]]
    return '  '.join(cells).rstrip()


def hexa(value):
    return f'0x{value:x}' if value else '0'


def escaped(text):
    """Returns TEXT as reStructuredText without special characters. A word that ends in an
    underscore would be a link, so such a word becomes a literal."""
    text = text.replace('\\', '\\\\').replace('*', '\\*').replace('|', '\\|')
    return re.sub(r'(\w*_)(?=\W|$)', r'``\1``', text)


def _found(sheet, kind, name):
    if name not in sheet[kind]:
        raise Failed(f'include/rnic has no {name} among its {kind}')
    return sheet[kind][name]


def registers(sheet, arguments):
    rows = []
    for r in _found(sheet, 'lists', arguments[0]):
        writable = f'{hexa(r["w1c"])} w1c' if r['w1c'] else hexa(r['writable'])
        rows.append([f'0x{r["offset"]:02x}', f'``{r["name"]}``', r['bytes'],
                     hexa(r['reset']), writable, escaped(r['text'])])
    return table(['Offset', 'Name', 'Bytes', 'Reset', 'Writable', 'Note'], rows)


def counters(sheet, arguments):
    rows = [[n, f'``{r["name"]}``', escaped(r['text'])]
            for n, r in enumerate(_found(sheet, 'lists', arguments[0]))]
    return table(['No.', 'Name', 'Counts'], rows)


def fields(sheet, arguments):
    wanted = tuple(a for a in arguments if a[0] != '-')
    unwanted = tuple(a[1:] for a in arguments if a[0] == '-')
    found = [(name, f) for name, f in sheet['fields'].items() if name.startswith(wanted)
             and not (unwanted and name.startswith(unwanted))]
    if len(wanted) == 1:
        found.sort(key=lambda item: -item[1]['high'])
    rows = []
    for name, f in found:
        bits = f'{f["high"]}:{f["low"]}' if f['high'] > f['low'] else f['low']
        rows.append([bits, f'``{name}``', escaped(f['text'])])
    return table(['Bits', 'Name', 'Meaning'], rows)


def struct(sheet, arguments):
    rows = []
    for m in _found(sheet, 'structs', arguments[0]):
        said = re.match(r'0x([0-9a-f]+)\b ?', m['text'])
        if said and int(said[1], 16) != m['offset']:
            raise Failed(f'struct {arguments[0]}: {m["name"]} is at '
                         f'{m["offset"]:#x}, its comment says otherwise')
        text = m['text'][said.end():] if said else m['text']
        rows.append([f'0x{m["offset"]:02x}', f'``{m["name"]}``', m['bytes'],
                     escaped(text)])
    return table(['Offset', 'Name', 'Bytes', 'Meaning'], rows)


def codes(sheet, arguments):
    found = _found(sheet, 'enums', arguments[0])
    form = '0x{:02x}' if any(m['value'] > 31 for m in found) else '{}'
    rows = [[form.format(m['value']), f'``{m["name"]}``', escaped(m['text'])]
            for m in found]
    return table(['Value', 'Name', 'Meaning'], rows)


def words(sheet, arguments):
    rows = [[r['value'], f'``{arguments[0].removesuffix("S")}_{r["name"]}``', r['word'],
             escaped(r['text'])] for r in _found(sheet, 'lists', arguments[0])]
    return table(['Value', 'Name', 'Word', 'Meaning'], rows)


def values(sheet, arguments):
    rows = []
    for name in arguments:
        c = _found(sheet, 'constants', name)
        rows.append([f'``{name}{c["parameters"]}``', f'``{c["expression"]}``',
                     escaped(c['text'])])
    return table(['Name', 'Value', 'Note'], rows)


KINDS = {f.__name__: f
         for f in (registers, counters, fields, struct, codes, words, values)}


def rewritten(text, sheet, name):
    """Returns the document TEXT with tables made from SHEET. Messages name the document
    NAME."""
    def section(m):
        kind, *arguments = m.group(1).split()
        if kind not in KINDS or not arguments:
            raise Failed(f'{name}: no such table: {m.group(1)}')
        return (f'.. regs-to-rst {m.group(1)}\n\n'
                f'{KINDS[kind](sheet, arguments)}\n\n.. regs-to-rst end')
    return _SECTION.sub(section, text)


def start():
    p = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('--check', action='store_true',
                   help='change nothing; exit code 1 if something would')
    args = p.parse_args()
    sheet, stale = headers.load(), False
    for doc in sorted(DOCS.glob('**/*.rst')):
        name = str(doc.relative_to(TOP))
        old = doc.read_text(encoding='utf-8')
        new = rewritten(old, sheet, name)
        if old == new:
            continue
        if args.check:
            stale = True
            sys.stdout.writelines(difflib.unified_diff(
                old.splitlines(True), new.splitlines(True), name,
                'by include/rnic', n=0))
            print(f'{name} is out of date: run scripts/regs-to-rst')
        else:
            doc.write_text(new, encoding='utf-8')
    return int(stale)

# SPDX-License-Identifier: GPL-2.0-or-later
"""Keeps the tables of docs/*.rst equal to the headers they come from.

A table stands in a document between two comments:

    .. regs-to-rst KIND ARGUMENTS
    .. regs-to-rst end

KIND is one of
  registers LIST       a list macro X(NAME, offset, bytes, reset, writable, w1c)
  counters LIST        a list macro X(NAME, text)
  fields PREFIX...     all fields and bits whose name begins so; -PREFIX: not these
  struct NAME          members with their offsets
  codes ENUM           the values of an enum
  types LIST           a list macro X(NAME, value, text, form, group, ni)
  values NAME...       constants and macros as they are defined

Without options the documents are rewritten; --check only tells whether that
would change them."""

import argparse
import difflib
import re
import sys
import textwrap

from ..paths import TOP
from ..steps import Failed

DOCS = TOP / 'docs'
HEADERS = [TOP / 'include/rnic' / name
           for name in ('exanet/wire.h', 'exanet/desc.h', 'exanet/regs.h',
                        'exanet/shm.h', 'pvrdma/wire.h', 'pvrdma/regs.h')]
SIZES = {'__u8': 1, '__le16': 2, '__be16': 2, '__le32': 4, '__be32': 4,
         '__le64': 8, '__be64': 8}
_SECTION = re.compile(r'^\.\. regs-to-rst (?!end$)(.+)\n(?s:.*?)'
                      r'^\.\. regs-to-rst end$', re.M)
_COMMENT = re.compile(r'[ \t]*/\*(.*?)\*/', re.S)


def clean(comment):
    """The text of a C comment on one line."""
    text = re.sub(r'\s*\\?\n\s*\*?\s*', ' ', comment)
    return re.sub(r'\s+', ' ', text).strip()


def comment_after(text, at):
    """The comment that begins right behind position AT, on the same line."""
    m = _COMMENT.match(text, at)
    return clean(m.group(1)) if m else ''


class Headers:
    """What the data sheets define."""

    def __init__(self, paths):
        self.text = '\n'.join(p.read_text(encoding='utf-8') for p in paths)
        self.defines = {}       # name -> (parameters, expression, comment)
        self.enums = {}         # name -> [(member, value, comment)]
        self._parse_defines()
        for m in re.finditer(r'^enum (\w+) \{\n(.*?)^\};', self.text,
                             re.S | re.M):
            self.enums[m.group(1)] = list(self._members(m.group(2)))

    def _parse_defines(self):
        for m in re.finditer(r'^#define (\w+)(\([^)\n]*\))?[ \t]*'
                             r'((?:\\\n|(?!/\*).)*)', self.text, re.M):
            value = re.sub(r'\s*\\\n\s*', ' ', m.group(3)).strip()
            self.defines[m.group(1)] = (m.group(2) or '', value,
                                        comment_after(self.text, m.end()))

    def _members(self, body):
        for m in re.finditer(r'^\t(\w+)\s*=\s*([^,/\n]+),?', body, re.M):
            yield m.group(1), m.group(2).strip(), comment_after(body, m.end())

    def value(self, expression):
        """Evaluates a constant expression of the headers."""
        names = dict(RNIC_FIELD=lambda hi, lo: (1 << (hi + 1)) - (1 << lo),
                     RNIC_BIT=lambda n: 1 << n)
        text = re.sub(r'\b(0[xX][0-9a-fA-F]+|\d+)[uUlL]*\b', r'\1', expression)
        for word in set(re.findall(r'\b[A-Z]\w+', text)) - set(names):
            names[word] = self._named(word)
        try:
            return eval(text, {'__builtins__': {}}, names) & (1 << 64) - 1
        except (SyntaxError, NameError, TypeError) as e:
            raise Failed(f'cannot evaluate {expression!r}: {e}') from e

    def _named(self, word):
        if word in self.defines:
            return self.value(self.defines[word][1])
        for members in self.enums.values():
            for name, value, _ in members:
                if name == word:
                    return self.value(value)
        raise Failed(f'{word} is not defined')

    def entries(self, macro):
        """Arguments and comment of each X() in the list MACRO."""
        m = re.search(rf'^#define {macro}\(X\) (.*?)\n\n', self.text,
                      re.S | re.M)
        if not m:
            raise Failed(f'there is no list {macro}')
        for x in re.finditer(r'\bX\(((?:[^()"]|"[^"]*"|\([^()]*\))*)\)',
                             m.group(1)):
            arguments = [a.strip() for a in x.group(1).split(',', 5)]
            rest = re.sub(r'^[ \t]*\\\n[ \t]*(?=/\*)', ' ', m.group(1)[x.end():])
            yield arguments, comment_after(rest, 0)


def table(head, rows):
    """A simple rst table; the last column is wrapped."""
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
    """TEXT as rst: words of C that end in an underscore are no links."""
    text = text.replace('\\', '\\\\').replace('*', '\\*').replace('|', '\\|')
    return re.sub(r'(\w*_)(?=\W|$)', r'``\1``', text)


def registers(h, arguments):
    rows = []
    for a, comment in h.entries(arguments[0]):
        name, offset, size, reset, writable, w1c = a
        masks = [hexa(h.value(writable))]
        if h.value(w1c):
            masks = [f'{hexa(h.value(w1c))} w1c']
        rows.append([f'0x{h.value(offset):02x}', f'``{name}``', size,
                     hexa(h.value(reset)), masks[0], escaped(comment)])
    return table(['Offset', 'Name', 'Bytes', 'Reset', 'Writable', 'Note'], rows)


def counters(h, arguments):
    rows = [[n, f'``{a[0]}``', escaped(', '.join(a[1:]).strip('"'))]
            for n, (a, _) in enumerate(h.entries(arguments[0]))]
    return table(['No.', 'Name', 'Counts'], rows)


def fields(h, arguments):
    wanted = tuple(a for a in arguments if a[0] != '-')
    unwanted = tuple(a[1:] for a in arguments if a[0] == '-')
    rows = []
    for name, (parameters, value, comment) in h.defines.items():
        if parameters or not name.startswith(wanted) \
                or unwanted and name.startswith(unwanted):
            continue
        m = re.fullmatch(r'RNIC_(FIELD|BIT)\((\d+)(?:, (\d+))?\)', value)
        if m:
            bits = m.group(2) + (f':{m.group(3)}' if m.group(3) else '')
            rows.append([bits, f'``{name}``', escaped(comment)])
    rows.sort(key=lambda r: -int(r[0].split(':')[0])
              if len(wanted) == 1 else 0)
    return table(['Bits', 'Name', 'Meaning'], rows)


def members(h, name):
    """(type, names, comment, bytes of one) of each line of struct NAME."""
    m = re.search(rf'^struct {name} \{{\n(.*?)^\}};', h.text, re.S | re.M)
    if not m:
        raise Failed(f'there is no struct {name}')
    for f in re.finditer(r'^\t(struct \w+|\w+)\s+([^;]+);', m.group(1), re.M):
        kind = f.group(1).removeprefix('struct ')
        size = SIZES.get(kind) or struct_bytes(h, kind)
        yield f.group(2).split(', '), comment_after(m.group(1), f.end()), size


def member_bytes(h, name, size):
    count = re.search(r'\[(\w+)\]', name)
    return size * (h.value(count.group(1)) if count else 1)


def struct_bytes(h, name):
    return sum(member_bytes(h, n, size)
               for names, _, size in members(h, name) for n in names)


def struct(h, arguments):
    rows, offset = [], 0
    for names, comment, size in members(h, arguments[0]):
        said = re.match(r'0x([0-9a-f]+) ', comment + ' ')
        if said and int(said.group(1), 16) != offset:
            raise Failed(f'struct {arguments[0]}: {names[0]} is at '
                         f'{offset:#x}, its comment says otherwise')
        comment = re.sub(r'^0x[0-9a-f]+ ?', '', comment)
        for name in names:
            length = member_bytes(h, name, size)
            rows.append([f'0x{offset:02x}', f'``{name.split("[")[0]}``',
                         length, escaped(comment)])
            offset += length
    return table(['Offset', 'Name', 'Bytes', 'Meaning'], rows)


def codes(h, arguments):
    if arguments[0] not in h.enums:
        raise Failed(f'there is no enum {arguments[0]}')
    rows = [[value, f'``{name}``', escaped(comment)]
            for name, value, comment in h.enums[arguments[0]]]
    return table(['Value', 'Name', 'Meaning'], rows)


def types(h, arguments):
    rows = [[a[1], f'``EXANET_TYPE_{a[0]}``', a[2].strip('"'), escaped(comment)]
            for a, comment in h.entries(arguments[0])]
    return table(['Value', 'Name', 'Text', 'Meaning'], rows)


def values(h, arguments):
    rows = []
    for name in arguments:
        if name not in h.defines:
            raise Failed(f'{name} is not defined')
        parameters, value, comment = h.defines[name]
        rows.append([f'``{name}{parameters}``', f'``{value}``',
                     escaped(comment)])
    return table(['Name', 'Value', 'Note'], rows)


KINDS = {f.__name__: f
         for f in (registers, counters, fields, struct, codes, types, values)}


def rewritten(text, h, name):
    """The document TEXT, which is called NAME, with all its tables made anew."""
    def section(m):
        kind, *arguments = m.group(1).split()
        if kind not in KINDS or not arguments:
            raise Failed(f'{name}: no such table: {m.group(1)}')
        return (f'.. regs-to-rst {m.group(1)}\n\n'
                f'{KINDS[kind](h, arguments)}\n\n.. regs-to-rst end')
    return _SECTION.sub(section, text)


def start():
    p = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('--check', action='store_true',
                   help='change nothing; exit code 1 if something would')
    args = p.parse_args()
    headers, stale = Headers(HEADERS), False
    for doc in sorted(DOCS.glob('*.rst')):
        name = str(doc.relative_to(TOP))
        old = doc.read_text(encoding='utf-8')
        new = rewritten(old, headers, name)
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

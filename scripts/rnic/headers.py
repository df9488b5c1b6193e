# SPDX-License-Identifier: GPL-2.0-or-later
"""The data sheets of include/rnic as one dictionary, for readers that are not written in C.

The C preprocessor expands the lists of rows X(NAME, ...) and keeps macros and comments. A
compiled program prints all numbers. The documents and the Wireshark dissector take their
tables from here. `python3 -m rnic.headers`, called in scripts/, prints the dictionary as JSON:

  lists      NAME -> rows: name, text, and the columns of _COLUMNS
  fields     NAME -> high, low (bit numbers), text: macros that are RNIC_FIELD() or RNIC_BIT()
  constants  NAME -> parameters, expression, text; also value if the macro is a number and has
             no parameters
  enums      NAME -> members: name, value, text
  structs    NAME -> members: name, offset, bytes, text

A text is the comment behind the definition, or the column "text" of lists of counters. The
masks of fields are also among the constants."""

import functools
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from . import apt, families
from .paths import TOP
from .steps import Failed

# End of a list's name -> the columns behind the name of a row. A column is a number, a string
# of C (marked by a quote: "word"), or a word without quotes (marked by #: #form).
_COLUMNS = {
    'REGS': ('offset', 'bytes', 'reset', 'writable', 'w1c'),
    'COUNTERS': ('"text"',),
    'TYPES': ('value', '"word"', '#form', '#group', 'ni'),
    'ROLES': ('value', '"word"'),
    'INJECTS': ('value', '"word"'),
}
_MARK = '@@'        # precedes each row of an expanded list
_COMMENT = r'(?:[ \t]*/\*(.*?)\*/)?'
_DEFINE = re.compile(rf'^#define (\w+)(\([^()\n]*\))?[ \t]*((?:(?!/\*)[^\n])*){_COMMENT}',
                     re.M | re.S)
_BLOCK = re.compile(r'^(enum|struct) (\w+) \{\n(.*?)\n\};', re.M | re.S)
_ENUMERATOR = re.compile(r'/\*(?P<text>.*?)\*/|(?P<name>\w+)(?:\s*=[^,/\n]*)?,?|(?P<line>\n)',
                         re.S)
_MEMBER = re.compile(rf'^ .*? (\w+(?:\[\w+\])?(?:, \w+)*);{_COMMENT}', re.M | re.S)


class _Compiler:
    """Runs gcc with the headers NAMES, which are paths below the folder INCLUDE."""

    def __init__(self, include, names):
        self.include = include
        self.includes = ''.join(f'#include "{n}"\n' for n in names)

    def run(self, source, *options):
        """Compiles the C text SOURCE with OPTIONS and returns the standard output of gcc.
        Fails if gcc reports an error."""
        r = subprocess.run(['gcc', f'-I{self.include}', *options, '-x', 'c', '-'],
                           input=source, text=True, capture_output=True, check=False)
        if r.returncode:
            raise Failed(f'gcc does not accept include/rnic: {r.stderr}')
        return r.stdout

    def expanded(self):
        """Returns the preprocessor's output for all headers below include/rnic, with the
        definitions of macros and with comments."""
        own, lines = False, []
        for line in self.run(self.includes, '-E', '-CC', '-dD').splitlines():
            marker = re.match(r'# \d+ "(.*?)"', line)
            if marker:
                own = marker[1].startswith(str(self.include / 'rnic'))
            elif own:
                lines.append(line)
        return '\n'.join(lines) + '\n'

    def row_texts(self, lists):
        """Returns {(list, row): text} for the rows of LISTS. The text is the comment behind
        the row. Fails if a comment has several lines."""
        source = self.includes + f'#define ROW(name, ...) {_MARK} name\n'
        source += ''.join(f'{_MARK}{_MARK} {name} {name}(ROW)\n' for name in lists)
        texts = {}
        for part in self.run(source, '-E', '-CC', '-P').split(f'{_MARK}{_MARK}')[1:]:
            name, *rows = part.split(_MARK)
            for row in rows:
                m = re.match(r'\s*(\w+)' + _COMMENT, row, re.S)
                if '\n' in (m[2] or ''):
                    raise Failed(f'include/rnic: {name.strip()}: {m[1]}: '
                                 'the comment of a row fits on its line')
                texts[name.strip(), m[1]] = _clean(m[2])
        return texts

    def numbers(self, sheet, lists):
        """Compiles and runs a program that prints the rows of LISTS and the numbers in SHEET
        as lines of JSON. Returns a list with the value of each line."""
        source = ('#include <stddef.h>\n#include <stdio.h>\n' + self.includes
                  + 'int main(void)\n{\n' + ''.join(map(_print_list, lists))
                  + _print_numbers(sheet) + 'return 0;\n}\n')
        with tempfile.TemporaryDirectory() as folder:
            program = Path(folder) / 'numbers'
            self.run(source, '-o', str(program))
            out = subprocess.run([program], text=True, capture_output=True,
                                 check=True).stdout
        return [json.loads(line) for line in out.splitlines()]


def _clean(comment):
    """Returns the text of a C comment as one line."""
    return re.sub(r'\s*\n[\s*]*|\s+', ' ', comment or '').strip()


def _constants(text):
    """Returns the macros of the C text TEXT that have an expression, with or without
    parameters. Leaves out lists X(NAME, ...), and macros that TEXT undefines."""
    found = {}
    for name, parameters, expression, comment in _DEFINE.findall(text):
        if expression.strip() and parameters != '(X)' and f'\n#undef {name}\n' not in text:
            found[name] = {'parameters': parameters.replace(',', ', '),
                           'expression': expression.strip(), 'text': _clean(comment)}
    return found


def _members(body):
    """Returns the members of the enum with the C text BODY, without their values. The text of a
    member is the comment that begins behind the member on the same line."""
    found, last = [], None
    for m in _ENUMERATOR.finditer(re.sub(r'^#.*$', '', body, flags=re.M)):
        if m['name']:
            last = {'name': m['name'], 'text': ''}
            found.append(last)
        elif m['text'] is None:
            last = None
        elif last:
            last['text'] = _clean(m['text'])
    return found


def _struct(body):
    # gcc has replaced a macro between brackets by its value and its comment.
    body = re.sub(r'\[(\w+)\s*/\*.*?\*/\s*\]', r'[\1]', body, flags=re.S)
    return [{'name': name.split('[')[0].strip(), 'text': _clean(comment)}
            for names, comment in _MEMBER.findall(body) for name in names.split(',')]


def _columns(list_name):
    for end, columns in _COLUMNS.items():
        if list_name.endswith(f'_{end}'):
            return columns
    raise Failed(f'include/rnic: {list_name}: no such kind of list, see headers.py')


def _print_list(name):
    """Returns C code that prints each row of list NAME as JSON: list, row, columns."""
    formats, values, parameters = ['\\"%s\\"'], ['#name'], ['name']
    for n, column in enumerate(_columns(name)):
        parameters.append(f'c{n}')
        formats.append('%llu' if column.isalnum() else '\\"%s\\"')
        values.append(f'#c{n}' if column[0] == '#' else f'c{n}' if column[0] == '"'
                      else f'(unsigned long long)(c{n})')
    return (f'#undef ROW\n#define ROW({", ".join(parameters)}) '
            f'printf("[\\"{name}\\", {", ".join(formats)}]\\n", {", ".join(values)});\n'
            f'{name}(ROW)\n')


def _print_numbers(sheet):
    """Returns C code that prints, as JSON, the values of constants and of members of enums in
    SHEET, and the offsets and sizes of members of structs."""
    names = [n for n, c in sheet['constants'].items()
             if not c['parameters'] and c['expression'][0] != '"']
    names += [m['name'] for members in sheet['enums'].values() for m in members]
    c = ['#define VALUE(name) printf("[\\"\\", \\"" #name "\\", %llu]\\n", '
         '(unsigned long long)(name));\n',
         '#define MEMBER(type, m) printf("[\\"" #type "\\", \\"" #m "\\", %zu, %zu]\\n", '
         'offsetof(struct type, m), sizeof(((struct type *)0)->m));\n']
    c += [f'VALUE({name})\n' for name in names]
    c += [f'MEMBER({name}, {m["name"]})\n' for name, members in sheet['structs'].items()
          for m in members]
    return ''.join(c)


def _add_numbers(sheet, lists, compiler):
    """Adds the rows of LISTS to SHEET, and the numbers to the other entries of SHEET."""
    texts, values, places = compiler.row_texts(lists), {}, {}
    for kind, name, *numbers in compiler.numbers(sheet, lists):
        if kind in lists:
            row = {'name': name, 'text': texts[kind, name]}
            row.update(zip((c.strip('"#') for c in _columns(kind)), numbers))
            sheet['lists'].setdefault(kind, []).append(row)
        elif kind:
            places[kind, name] = {'offset': numbers[0], 'bytes': numbers[1]}
        else:
            values[name] = numbers[0]
    for name, constant in sheet['constants'].items():
        if name in values:
            constant['value'] = values[name]
    for members in sheet['enums'].values():
        for m in members:
            m['value'] = values[m['name']]
    for name, members in sheet['structs'].items():
        for m in members:
            m.update(places[name, m['name']])


def _add_fields(sheet):
    for name, constant in sheet['constants'].items():
        if re.fullmatch(r'RNIC_(FIELD|BIT)\([^()]*\)', constant['expression']) \
                and not constant['parameters']:
            mask = constant['value']
            sheet['fields'][name] = {'high': mask.bit_length() - 1,
                                     'low': (mask & -mask).bit_length() - 1,
                                     'text': constant['text']}


def expand(include, names):
    """Returns the dictionary of the headers NAMES below the folder INCLUDE."""
    compiler = _Compiler(include, names)
    text = compiler.expanded()
    sheet = {'lists': {}, 'fields': {}, 'constants': _constants(text), 'enums': {},
             'structs': {}}
    for kind, name, body in _BLOCK.findall(text):
        sheet[f'{kind}s'][name] = _members(body) if kind == 'enum' else _struct(body)
    _add_numbers(sheet, re.findall(r'^#define (\w+)\(X\) ', text, re.M), compiler)
    _add_fields(sheet)
    return sheet


@functools.cache
def load():
    """Returns one dictionary for the headers of all families."""
    apt.ensure_packages(['gcc', 'libc6-dev'])
    return expand(TOP / 'include', [p.relative_to(TOP / 'include')
                                    for p in families.headers(TOP)])


if __name__ == '__main__':
    json.dump(load(), sys.stdout, indent=1)

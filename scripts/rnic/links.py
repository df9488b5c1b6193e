# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks that the documents are valid reStructuredText, that the target of a link to another
file of the repository exists, and that the anchor of such a link belongs to a heading or a
target in this file."""

import functools
import re
import subprocess

from docutils import core, nodes, utils

from .paths import TOP

_WARNING, _SILENT = utils.Reporter.WARNING_LEVEL, utils.Reporter.SEVERE_LEVEL + 1
_SETTINGS = {'report_level': _SILENT, 'input_encoding': 'unicode',
             'halt_level': _SILENT, 'file_insertion_enabled': False}
# Matches the path docs/*.rst by which a comment, a script or a document names a document.
# Leaves out docs/devel, which belongs to QEMU.
_NAMED = re.compile(r'(?<![\w./-])(docs/(?!devel/)[\w./-]+\.rst)(?:#([\w-]+))?')
_MARKDOWN_LINK = re.compile(r'\]\(([^)\s]+)\)')


@functools.cache
def _tree(path):
    return core.publish_doctree(path.read_text(encoding='utf-8'), str(path),
                                settings_overrides=_SETTINGS)


def _slug(heading):
    """Returns the anchor that GitHub makes for a HEADING in Markdown."""
    return re.sub(r'[^\w -]', '', heading.lower()).replace(' ', '-')


@functools.cache
def _anchors(path):
    if path.suffix == '.rst':
        return {i for node in _tree(path).findall(nodes.Element) for i in node['ids']}
    return {_slug(h) for h in re.findall(r'^#+ (.*)', path.read_text(encoding='utf-8'), re.M)}


def _dead(folder, link):
    """Returns a message if LINK, a path relative to FOLDER with or without an anchor, has no
    target; otherwise an empty string."""
    file, _, anchor = link.partition('#')
    path = (folder / file).resolve()
    if not path.exists():
        return f'{link}: no such file'
    if anchor and path.suffix in ('.rst', '.md') and anchor not in _anchors(path):
        return f'{link}: no such heading'
    return ''


def _rst(path):
    """Returns the errors and warnings of the document PATH, and the targets of its links."""
    tree = _tree(path)
    messages = [m for m in (*tree.parse_messages, *tree.transform_messages)
                if m['level'] >= _WARNING]
    return ([f'line {m.get("line", "?")}: {m.children[0].astext()}' for m in messages],
            [r['refuri'] for r in tree.findall(nodes.reference) if 'refuri' in r])


def _links(path, text):
    """Returns the errors of the file PATH with the contents TEXT, and the links of this file as
    pairs (folder, link): the link is relative to the folder. Leaves out links with a scheme,
    such as https:, and links to anchors of the same file."""
    errors, links = [], []
    if path.suffix == '.rst':
        errors, links = _rst(path)
    elif path.suffix == '.md':
        links = _MARKDOWN_LINK.findall(text)
    found = [(path.parent, link or path.name) for link in links
             if not re.match(r'\w+:|#', link)]
    found += [(TOP, f'{file}#{anchor}' if anchor else file)
              for file, anchor in _NAMED.findall(text)]
    return errors, found


def check():
    """Yields a line for each error in the tracked text files, except patches."""
    out = subprocess.run(['git', 'grep', '-Il', '', '--', '.', ':!*.patch'], cwd=TOP,
                         text=True, capture_output=True, check=True).stdout
    for name in out.splitlines():
        path = TOP / name
        errors, links = _links(path, path.read_text(encoding='utf-8'))
        yield from (f'{name}: {e}' for e in errors)
        for folder, link in dict.fromkeys(links):
            if why := _dead(folder, link):
                yield f'{name}: {why}'

# SPDX-License-Identifier: GPL-2.0-or-later
"""Precompiles qemu/osdep.h, the first header of each C file of QEMU.

Without that, the compiler reads this header's 250 headers again for each of 3300 files. gcc
takes a precompiled header from the folder qemu/osdep.h.gch in the build tree, because the build
tree is the first folder in which gcc looks for "qemu/osdep.h". The folder has one file for each
set of options.
"""

import collections
import json
import shlex
import shutil
import subprocess

from .steps import digest, fresh, run

_HEADER = 'include/qemu/osdep.h'
_FILES_MIN = 100        # a set of options of fewer files gets no precompiled header


def make(tree, source, env, clean):
    """Precompiles the header of the QEMU in folder SOURCE for the build tree TREE, unless this
    is done. ENV is the environment for the compiler. If the header of an earlier call has
    changed, calls CLEAN() to remove all objects, because ninja does not know that the objects
    depend on the headers in a precompiled header. Ninja without this function has the same
    gap."""
    folder, stamp = tree / 'qemu/osdep.h.gch', tree / 'qemu/osdep.stamp'
    commands = _commands(tree)
    if fresh(stamp, _state(tree, commands)):
        return
    if folder.is_dir():
        clean()
        stamp.unlink(missing_ok=True)
        shutil.rmtree(folder)
    folder.mkdir(parents=True)
    # gcc takes this file if no precompiled header fits, or if a file includes it twice.
    header = tree / 'qemu/osdep.h'
    header.write_text(f'#include "{source / _HEADER}"\n', encoding='utf-8')
    for n, command in enumerate(commands):
        run([*command, '-MD', '-MF', _list(tree, n), '-x', 'c-header', header,
             '-o', folder / str(n)], f'precompile-{tree.name}', cwd=tree, env=env)
    stamp.write_text(_state(tree, commands), encoding='ascii')


def _commands(tree):
    """Returns the command to compile a file, without the names of files, for each set of
    options that many files of TREE share."""
    with open(tree / 'compile_commands.json', encoding='utf-8') as f:
        # The libraries for arithmetic on floats have another standard of C, and do not
        # include the header.
        texts = collections.Counter(
            e['command'].partition(' -MD ')[0] for e in json.load(f)
            if ' -MD ' in e['command'] and ' -std=gnu11 ' in e['command'])
    files, commands = collections.Counter(), {}
    for text, count in texts.items():
        command = shlex.split(text)
        files[_options(command)] += count
        commands.setdefault(_options(command), command)
    return [commands[o] for o, count in files.items() if count >= _FILES_MIN]


def _options(command):
    """Returns the options of COMMAND that the precompiled header depends on: without folders
    of headers, because these are the same for all headers that this header includes."""
    return tuple(w for w, before in zip(command, ['', *command])
                 if not w.startswith(('-I', '-iquote', '-isystem'))
                 and before not in ('-I', '-iquote', '-isystem'))


def _list(tree, n):
    """Returns the path of the file that lists the headers of precompiled header N."""
    return tree / f'qemu/osdep-{n}.d'


def _state(tree, commands):
    """Returns a digest of COMMANDS, of the compiler's version, and of the contents of all
    headers in the precompiled headers."""
    headers = set()
    for n in range(len(commands)):
        if _list(tree, n).is_file():
            rule = _list(tree, n).read_text(encoding='utf-8').replace('\\\n', ' ')
            headers.update(rule.split(':', 1)[1].split())
    version = subprocess.run(['cc', '--version'], capture_output=True, text=True,
                             check=True).stdout
    return digest(version, *map(shlex.join, commands),
                  *(tree / h for h in sorted(headers) if (tree / h).is_file()))

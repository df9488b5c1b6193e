#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes a header with test vectors, which a reference program prints.

usage: generate.py REFERENCE SUM HEADER

Fails if the header is not the one whose SHA-256 is in the file SUM, because an accidental
change of the reference would otherwise change what the codecs are compared with."""

import contextlib
import hashlib
import io
import runpy
import sys
from pathlib import Path


def main(reference, checksum, header):
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        runpy.run_path(reference, run_name='__main__')
    data, name = text.getvalue().encode(), Path(header).name
    line = f'{hashlib.sha256(data).hexdigest()}  {name}\n'
    if Path(checksum).read_text(encoding='utf-8') != line:
        return (f'{reference} makes other vectors than before. If the change is intended, '
                f'{checksum} must be:\n{line}')
    Path(header).write_bytes(data)
    return 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))

#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes a header with test vectors, which a reference program prints.

usage: generate.py REFERENCE SUMS HEADER

Fails if the header is not the one whose SHA-256 is in the file SUMS, because an accidental
change of the reference would otherwise change what the codecs are compared with."""

import contextlib
import hashlib
import io
import re
import runpy
import sys
from pathlib import Path


def main(reference, sums, header):
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        runpy.run_path(reference, run_name='__main__')
    data, name = text.getvalue().encode(), Path(header).name
    checksum = hashlib.sha256(data).hexdigest()
    if not re.search(rf'^{checksum}  {re.escape(name)}$',
                     Path(sums).read_text(encoding='utf-8'), re.M):
        return (f'{reference} makes other vectors than before. If the change is intended, '
                f'the line of {name} in {sums} must be:\n{checksum}  {name}')
    Path(header).write_bytes(data)
    return 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))

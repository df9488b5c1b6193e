# SPDX-License-Identifier: GPL-2.0-or-later
"""Parts of scripts/bench with options of their own, one module each: options(parser) adds
the options, and run(binary, args) prints tables and returns figures. A module may define
IMAGE, the disk of its guests, ARCHES, the processors of its guests, and PROGRAMS, the helper
programs that are built for it."""

import argparse
import importlib
import pkgutil
import re


def parts():
    """Returns {name: module} of all parts."""
    names = sorted(m.name for m in pkgutil.iter_modules(__path__))
    return {name: importlib.import_module(f'{__name__}.{name}') for name in names}


def positive(text):
    """Returns the number in TEXT, the value of an option. Raises ArgumentTypeError unless TEXT
    is a whole number from 1 on."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is no number from 1 on")
    return int(text)


def figures(text):
    """Returns {NAME: VALUE} of the lines NAME=VALUE in TEXT, the output of a program. A line
    may be a comment of TAP."""
    return {k: float(v) for k, v in re.findall(r'^#?\s*([\w.]+)=([\d.]+)$', text, re.M)}

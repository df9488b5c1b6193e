# SPDX-License-Identifier: GPL-2.0-or-later
"""Defines folders. Products of builds and logs of tests are in BUILD, which the environment
variable RNIC_BUILD can set."""

import os
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get('RNIC_BUILD') or TOP / 'build').absolute()
SRC = BUILD / 'src'
LOG = BUILD / 'log'
GUEST = BUILD / 'guest'


def shown(path):
    """Returns PATH as a user would type it: relative to the current folder if that is
    shorter."""
    rel = os.path.relpath(path)
    return rel if len(rel) < len(str(path)) else str(path)

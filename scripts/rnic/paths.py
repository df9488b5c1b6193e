# SPDX-License-Identifier: GPL-2.0-or-later
"""Where things are. All products go below BUILD; RNIC_BUILD= moves it."""

import os
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get('RNIC_BUILD') or TOP / 'build').absolute()
SRC = BUILD / 'src'
LOG = BUILD / 'log'
GUEST = BUILD / 'guest'


def shown(path):
    """PATH as the user would type it: relative where that is shorter."""
    rel = os.path.relpath(path)
    return rel if len(rel) < len(str(path)) else str(path)

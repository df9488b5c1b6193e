# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs the program whose path in scripts/ is the first argument."""

import importlib
import sys
from pathlib import Path

sys.argv.pop(0)
sys.path[0] = str(Path(sys.argv[0]).parent)
module = Path(sys.argv[0]).name.replace('-', '_')
importlib.import_module('rnic.steps').main(
    importlib.import_module(f'rnic.programs.{module}').start)

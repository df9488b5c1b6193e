# SPDX-License-Identifier: GPL-2.0-or-later
"""Parts of scripts/bench beyond the pair: each has options(parser), and
run(binary, args), which prints its tables and returns what is written down;
IMAGE, if the guests need another disk than the usual one."""

import argparse


def positive(text):
    """For an option that takes a number from 1 on."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is no number from 1 on")
    return int(text)

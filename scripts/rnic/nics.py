# SPDX-License-Identifier: GPL-2.0-or-later
"""The option --nic of programs that run two guests."""

import argparse

from . import families
from .arch import pair_of


def pair(text):
    """Returns the kinds of the NICs of node0 and node1. TEXT, the value of an option or of a
    line "# nic: TEXT" in a guest test, has one kind for both nodes, or two kinds with a comma
    between them. Raises ArgumentTypeError if TEXT has another form, or if these NICs cannot
    communicate with each other."""
    kinds = tuple(text.split(','))
    kinds = kinds * 2 if len(kinds) == 1 else kinds
    if len(kinds) != 2 or any(k not in families.NICS for k in kinds):
        raise argparse.ArgumentTypeError(
            f"'{text}' is neither one nor two of {', '.join(families.NICS)}")
    if len({families.nic(k).network for k in kinds}) > 1:
        raise argparse.ArgumentTypeError(f"'{text}': these NICs cannot communicate "
                                         'with each other')
    return kinds


def add_option(parser):
    """Adds the option --nic to PARSER."""
    parser.add_argument('--nic', type=pair, default=pair(families.DEFAULT.name),
                        metavar='KIND[,KIND]', help='in both guests, or in '
                        f'node0 and node1: {", ".join(families.NICS)}')


def check(parser, args):
    """Ends the program if guests of the processors that ARGS choose cannot have the NICs that
    ARGS choose."""
    for kind, arch in zip(args.nic, pair_of(args)):
        arches = families.nic(kind).devices
        if arch.name not in arches:
            parser.error(f'--nic: only guests for {" or ".join(arches)} have the NIC '
                         f'{kind}')

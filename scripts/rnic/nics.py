# SPDX-License-Identifier: GPL-2.0-or-later
"""The NICs that guests can have, and what they are in the options of a QEMU."""

import argparse

from .arch import AMD64

# RDMA over Converged Ethernet: a device model with Linux' driver, and Linux' own
# soft-RoCE over virtio-net.
ROCE = ('pvrdma', 'rxe')
KINDS = ('exanet', *ROCE)
IMAGE = 'roce'             # what guests with one of these boot
# For the largest path MTU of RDMA, 4096 bytes and headers.
_MTU = 9000


def pair(text):
    """The kinds of node0 and node1 from the value of an option: one for both,
    or two."""
    kinds = tuple(text.split(','))
    kinds = kinds * 2 if len(kinds) == 1 else kinds
    if len(kinds) != 2 or any(k not in KINDS for k in kinds):
        raise argparse.ArgumentTypeError(
            f"'{text}' is none of {', '.join(KINDS)}, nor two of them")
    if any(is_roce(k) for k in kinds) and not all(is_roce(k) for k in kinds):
        raise argparse.ArgumentTypeError(f"'{text}': they do not talk to each "
                                         'other')
    return kinds


def add_option(parser):
    """--nic, for programs that run two guests."""
    parser.add_argument('--nic', type=pair, default=pair('exanet'),
                        metavar='KIND[,KIND]', help='in both guests, or in '
                        f'node0 and node1: {", ".join(KINDS)}')


def check(parser, args):
    """Ends the program if there are no such guests with these NICs."""
    if is_roce(args.nic[0]) and args.pair != AMD64.name:
        parser.error('--nic: only guests for amd64 have other NICs')


def is_roce(kind):
    return kind in ROCE


def image(kinds):
    """The disk for guests with NICs of these kinds."""
    return IMAGE if is_roce(kinds[0]) else ''


def ethernet(kind, mac):
    """The devices at the netdev that joins guests whose NIC is KIND."""
    if kind == 'pvrdma':
        return ['-device', f'vmxnet3,netdev=ether,romfile=,mac={mac},addr=10.0,'
                'multifunction=on', '-device', 'pvrdma,id=nic,addr=10.1']
    mtu = f',host_mtu={_MTU}' if is_roce(kind) else ''
    return ['-device', f'virtio-net-pci,netdev=ether,romfile=,mac={mac}{mtu}']

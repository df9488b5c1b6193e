# SPDX-License-Identifier: GPL-2.0-or-later
"""Defines the types of two records: Family for a family of NICs, and Nic for one kind of NIC.
The package families contains the records."""

from collections.abc import Callable
from dataclasses import dataclass, field


def value(text):
    """Returns TEXT with each comma doubled, because a single comma ends a value in QEMU's
    options."""
    return str(text).replace(',', ',,')


def virtio(mac, more=''):
    """Returns QEMU's options for a virtio card with the address MAC, at the netdev "ether" that
    joins the guests. MORE are further properties of the card, with a comma in front."""
    return ['-device', f'virtio-net-pci,netdev=ether,romfile=,mac={mac}{more}']


def _no_options(_node):
    return []


@dataclass(frozen=True)
class Nic:
    """A kind of NIC that guests can have: a value of --nic."""
    name: str
    network: str = ''           # NICs with the same value can communicate
    # Processor of the guest -> QEMU's device. No guest of another processor has the NIC.
    devices: dict = field(default_factory=dict)
    image: str = ''             # disk of the guests: one of guest.IMAGES
    links: int = 0              # maximum number of cables at one NIC
    append: str = ''            # words for the command line of the guest's kernel
    # MAC -> QEMU's options for the card at netdev "ether", which joins the guests.
    ethernet: Callable = virtio
    # vm.Node -> QEMU's options for the NIC and its cables.
    options: Callable = _no_options


@dataclass(frozen=True)
class Family:
    """A family of NICs. Its folders are hw/NAME, include/rnic/NAME and so on."""
    name: str                   # also the prefix of devices, functions and tests
    title: str                  # name of the family in texts
    # Folders of hw/NAME: a tuple for each level, from the lowest to the highest. '' is hw/NAME
    # itself. Folders of the same level do not use each other.
    rooms: tuple
    headers: tuple              # files in include/rnic/NAME: none uses a later one
    nics: tuple
    # Folder of hw/NAME -> the only header of this folder that other folders include.
    doors: dict = field(default_factory=dict)
    module: bool = False        # true: guest-driver/kernel/NAME is the source of NAME.ko
    library: bool = False       # true: guest-driver/lib/NAME is the source of libNAME.so
    provider: bool = False      # true: guest-driver/libfabric has the provider NAME
    # Driver of Linux that Debian's kernel lacks: its folder in Linux' source, its option
    # of Kconfig, its module. Guests with a disk that field images names have this driver.
    linux_driver: tuple = ()
    images: dict = field(default_factory=dict)      # name of a disk -> its packages
    board_tests: tuple = ()     # programs of tests/guest that run on zcu102
    # Name of a fuzz target without the prefix fuzz-NAME- -> maximum number of inputs in the
    # gate. A target without an entry has the usual maximum.
    fuzz_runs: dict = field(default_factory=dict)
    # For QEMU's generic fuzzer: options of the machine, and patterns of the names of objects
    # whose registers are fuzzed. If fuzz_machine is empty, this fuzzer does not run for the
    # family.
    fuzz_machine: str = ''
    fuzz_objects: str = ''

    @property
    def state(self):
        """Returns the C type of the device's state."""
        return f'{self.name.capitalize()}State'

    @property
    def mpi(self):
        """Returns the options of mpirun by which MPI uses the provider."""
        return f'--mca pml cm --mca mtl ofi -x FI_PROVIDER={self.name}'

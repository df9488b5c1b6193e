# SPDX-License-Identifier: GPL-2.0-or-later
"""EXTOLL: VELO, RMA and ATU of the prototype of 2008. The device has no units and no driver yet,
so no guest has this NIC."""

from ..family import Family

FAMILY = Family(
    name='extoll', title='EXTOLL',
    rooms=(('base',), ('link', 'velo'), ('net',), ('',)),
    headers=('velo.h', 'rma.h', 'atu.h', 'snq.h', 'wire.h', 'regs.h'),
    nics=(), fuzz_runs={'box': 30000, 'replay': 50000},
    fuzz_machine='-M q35 -nodefaults -device extoll-pci',
    fuzz_objects='extoll* msix*')

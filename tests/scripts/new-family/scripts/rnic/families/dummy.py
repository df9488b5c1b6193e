# SPDX-License-Identifier: GPL-2.0-or-later
"""Dummy: a family with only what each family needs."""

from ..family import Family, Nic

FAMILY = Family(
    name='dummy', title='Dummy', rooms=(('',),), headers=('regs.h',),
    nics=(Nic('dummy', 'dummy', {'amd64': 'dummy'}, links=2,
              options=lambda node: ['-device', 'dummy,id=nic']),),
    fuzz_runs={'regs': 12345})

# SPDX-License-Identifier: GPL-2.0-or-later
"""The families of NICs, one module each. A new family adds its module here. Other parts of
scripts take the list of families from here."""

import importlib
import pkgutil

from ..family import Nic

FAMILIES = tuple(importlib.import_module(f'{__name__}.{m.name}').FAMILY
                 for m in sorted(pkgutil.iter_modules(__path__), key=lambda m: m.name))
# The family of guests, and of nodes of a cluster, for which no other NIC is chosen.
DEFAULT = next(f for f in FAMILIES if f.name == 'exanet')
NICS = {n.name: n for f in FAMILIES for n in f.nics}
_NO_NIC = Nic('')


def nic(kind):
    """Returns the Nic with the name KIND. If KIND is '', returns the Nic that stands for no
    NIC."""
    return NICS[kind] if kind else _NO_NIC


def family(kind):
    """Returns the Family of the NIC with the name KIND. Raises StopIteration if KIND is ''."""
    return next(f for f in FAMILIES if any(n.name == kind for n in f.nics))


def headers(top, family=None):
    """Returns the paths of the data sheets of FAMILY, or of all families without FAMILY, in the
    repository TOP."""
    return [top / 'include/rnic' / f.name / h
            for f in ([family] if family else FAMILIES) for h in f.headers]

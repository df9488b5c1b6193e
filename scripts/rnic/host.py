# SPDX-License-Identifier: GPL-2.0-or-later
"""Resources of this machine for builds, tests and guests."""

import os

from .steps import Failed


_MANY_BYTES = 8_000_000_000    # a machine with "8 GB" has a little less than 8 GiB


def memory():
    """Returns the bytes of RAM of this machine."""
    return os.sysconf('SC_PHYS_PAGES') * os.sysconf('SC_PAGE_SIZE')


def has_much_memory():
    """Returns true if this machine has 8 GB of RAM or more."""
    return memory() >= _MANY_BYTES


def cores():
    """Returns the number of cores that this process may use by its CPU affinity; the
    machine may have more cores."""
    return len(os.sched_getaffinity(0))


def use_cores(count):
    """Limits this process, and the programs that it starts from now on, to COUNT of the cores
    that this process may use. Does nothing if COUNT is None. Fails if this process may use
    fewer than COUNT cores."""
    usable = sorted(os.sched_getaffinity(0))
    if count is None:
        return
    if count > len(usable):
        raise Failed(f'{count} cores are wanted, but this program may use only '
                     f'{len(usable)}')
    os.sched_setaffinity(0, usable[:count])

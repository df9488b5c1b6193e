# SPDX-License-Identifier: GPL-2.0-or-later
"""Resources of this machine for builds, tests and guests."""

import os


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

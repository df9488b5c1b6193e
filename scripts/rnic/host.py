# SPDX-License-Identifier: GPL-2.0-or-later
"""What this machine has for builds, tests and guests."""

import os


def cores():
    """The number of cores that this process may use: CPU affinity counts, the
    number of cores in the machine does not."""
    return len(os.sched_getaffinity(0))

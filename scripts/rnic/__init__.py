# SPDX-License-Identifier: GPL-2.0-or-later
"""The code of the programs in scripts/: steps, packages, builds and virtual machines."""

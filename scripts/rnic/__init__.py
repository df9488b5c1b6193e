# SPDX-License-Identifier: GPL-2.0-or-later
"""What the scripts share: steps, packages, builds and virtual machines."""

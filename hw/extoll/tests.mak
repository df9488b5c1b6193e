# SPDX-License-Identifier: GPL-2.0-or-later
# Devices of the build with sanitizers.
CONFIG_EXTOLL_PCI=y

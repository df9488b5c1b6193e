# SPDX-License-Identifier: GPL-2.0-or-later
# Devices in the build with sanitizers.
CONFIG_DUMMY=y

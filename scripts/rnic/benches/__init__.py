# SPDX-License-Identifier: GPL-2.0-or-later
"""Parts of scripts/bench beyond the pair: each has options(parser), and
run(binary, args), which prints its tables and returns what is written down;
IMAGE, if the guests need another disk than the usual one."""

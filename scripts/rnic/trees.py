# SPDX-License-Identifier: GPL-2.0-or-later
"""Networks whose switches go by a table: fat-trees and dragonflies.

A node's coordinates are cabinet, chassis and card; what is under one leaf, or
in one group, is in one cabinet. docs/exanet/networks.rst tells why nothing jams.
"""

CARD, CABINET = 0x3fffff, 0x3fc000     # masks of a rule: one node, one cabinet
_LEAF, _SPINES = 1023, 255             # card of a leaf, cabinet of the spines


def coord(cabinet, card):
    """Of a card in the first chassis of a cabinet."""
    return cabinet << 14 | card


def fat_tree(node, cable, leaves, hosts, spines):
    """LEAVES switches with HOSTS guests each under SPINES switches. NODE makes
    a node of a name (None: the next number), coordinates, and whether it is a
    switch; CABLE joins two."""
    below = [[node(None, coord(leaf, host), False) for host in range(hosts)]
             for leaf in range(leaves)]
    middle = [node(f'leaf{i}', coord(i, _LEAF), True) for i in range(leaves)]
    above = [node(f'spine{i}', coord(_SPINES, i), True) for i in range(spines)]
    for i, leaf in enumerate(middle):
        for host in below[i]:
            cable(host, leaf)
            host.rules.append((0, 0, [leaf]))
            leaf.rules.append((host.coord, CARD, [host]))
        leaf.rules.append((0, 0, above))
        for spine in above:
            cable(leaf, spine)
            spine.rules.append((coord(i, 0), CABINET, [leaf]))


def dragonfly(node, cable, groups, size):
    """GROUPS of SIZE guests, all of a group joined; one cable between each two
    groups, shared out evenly among the guests of a group."""
    all_groups = [[node(None, coord(g, n), False) for n in range(size)]
                  for g in range(groups)]
    for group in all_groups:
        for i, a in enumerate(group):
            for b in group[:i]:
                cable(b, a)
                a.rules.append((b.coord, CARD, [b]))
                b.rules.append((a.coord, CARD, [a]))
    each = (groups - 2) // size + 1     # cables to other groups of one guest

    def gate(here, there):
        return all_groups[here][(there - here - 1) % groups // each]

    for here in range(groups):
        for there in range(groups):
            if here < there:
                cable(gate(here, there), gate(there, here))
            for n in all_groups[here] if here != there else ():
                way = gate(here, there)
                n.rules.append((coord(there, 0), CABINET,
                                [gate(there, here) if n is way else way]))

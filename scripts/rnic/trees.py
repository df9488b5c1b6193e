# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes fat-trees and dragonflies, with rules for the routing tables of their nodes.

The coordinates of a node are cabinet, chassis and card. The guests of one leaf, or of one
group, have the same cabinet. docs/exanet/networks.rst explains why these networks have no
deadlock. A rule is (value, mask, next nodes), for packets whose destination has VALUE in the
bits of MASK.
"""

CARD, CABINET = 0x3fffff, 0x3fc000     # masks of a rule for one node, and for one cabinet
_LEAF, _SPINES = 1023, 255             # card number of a leaf, cabinet number of all spines


def coord(cabinet, card):
    """Returns the coordinates of CARD in the first chassis of CABINET."""
    return cabinet << 14 | card


def fat_tree(node, cable, leaves, hosts, spines):
    """Makes LEAVES switches with HOSTS guests each, and SPINES switches, each joined with each
    leaf. NODE(name, coordinates, is_switch) makes a node; the name None stands for a name
    with the next number. CABLE(a, b) joins two nodes."""
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
    """Makes GROUPS groups of SIZE guests. A cable joins each two guests of a group, and one
    cable each two groups. A guest has at most (GROUPS - 2) // SIZE + 1 cables to other
    groups; the last guests of a group may have fewer, or none. NODE and CABLE: see
    fat_tree()."""
    all_groups = [[node(None, coord(g, n), False) for n in range(size)]
                  for g in range(groups)]
    for group in all_groups:
        for i, a in enumerate(group):
            for b in group[:i]:
                cable(b, a)
                a.rules.append((b.coord, CARD, [b]))
                b.rules.append((a.coord, CARD, [a]))
    each = (groups - 2) // size + 1     # maximum number of cables of a guest to other groups

    def gate(here, there):
        return all_groups[here][(there - here - 1) % groups // each]

    for here in range(groups):
        for there in range(groups):
            if here < there:
                cable(gate(here, there), gate(there, here))
            for n in all_groups[here] if here != there else ():
                local_gate = gate(here, there)
                n.rules.append((coord(there, 0), CABINET,
                                [gate(there, here) if n is local_gate else local_gate]))

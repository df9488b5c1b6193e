# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads topology files, which list the nodes of a cluster and their cables.

docs/clusters.rst describes the file. This module checks the file, but not the values of faults,
and only the characters of routes. vm.check_faults() checks faults, and the device checks routes
when its node starts.
"""

import configparser
import re
import shlex
from dataclasses import dataclass, field
from pathlib import Path

from . import families, guest, trees, wires
from .arch import ARCHES
from .paths import TOP, shown
from .steps import Failed

READY = TOP / 'scripts/topologies'
NODES_MAX = 256        # maximum number of nodes, including switches
_AXES = {'x': (0, 15), 'y': (4, 15), 'z': (8, 15), 'f': (12, 4),
         'upper': (14, 255)}
_PLACES = {'card': (0, 1023), 'chassis': (10, 15), 'cabinet': (14, 255)}
_ROUTERS = ('torus', 'arithmetic', 'table')
# Key of [cluster] that makes nodes and cables -> how many numbers its value may have.
_KINDS = {'torus': (1, 2, 3), 'mesh': (1, 2, 3), 'fattree': (3,),
          'dragonfly': (2,)}
_NAME = re.compile(r'[a-z]([a-z0-9-]{0,29}[a-z0-9])?')
_SIZES = re.compile(r'[0-9]{1,2}(x[0-9]{1,2}){0,2}')
_RATE = {'k': 1, 'm': 1000, 'g': 1000000}
_TIME = {'ns': 1, 'us': 1000, 'ms': 1000000}


@dataclass
class Node:
    """One guest, or a switch without a guest, as the file describes it."""
    number: int
    name: str
    coord: int
    cores: int = 1
    memory: int = 512          # MB
    arch: str = 'amd64'        # key of arch.ARCHES
    nic: str = families.DEFAULT.name    # a key of families.NICS; '' for no NIC
    host: str = None           # None: this machine
    rate: int = 0              # kb/s of each link, 0: unlimited
    latency: int = 0           # ns of each link
    switch: bool = False       # true: QEMU has the NIC, but no guest
    routes: str = ''           # property "routes" of the device
    # Tuples (value, mask, next nodes), from which settle_routes() makes field routes.
    rules: list = field(default_factory=list)
    cables: list = field(default_factory=list)

    @property
    def links(self):
        """Returns the maximum number of cables at this node."""
        return families.nic(self.nic).links

    def link(self, cable):
        """Returns the number of the device's link at which CABLE, a cable of this node,
        ends."""
        return next(i for i, c in enumerate(self.cables) if c is cable)


@dataclass
class Cable:
    """A cable between a link of node A and a link of node B."""
    number: int
    a: Node
    b: Node
    faults: str = ''
    where: str = ''            # beginning of a message about field faults: file, line, key

    def other(self, node):
        return self.b if node is self.a else self.a


@dataclass
class Topology:
    """A whole cluster."""
    name: str
    nodes: list
    cables: list
    dims: str                  # property "dims" of the device, '' if there is no ring
    router: str                # property "router" of the device, '' for the torus
    hosts: dict                # name of a host -> address at which its QEMUs listen for cables
    port: int = 23000          # A cable between hosts has TCP port PORT + Cable.number.
    interface: str = 'lo'      # interface of each host for the Ethernet of the guests
    slurm: str = ''            # more options of salloc
    image: str = ''            # one of guest.IMAGES
    text: str = ''             # contents of the topology file, without indentation
    wire: str = wires.STREAM   # kind of the cables between QEMUs of one host

    def node(self, name):
        """Returns the node with the name or number NAME. Fails if there is no such node."""
        # Compares names before numbers, because a node called node1 may have another number.
        for own in (True, False):
            for n in self.nodes:
                if name == n.name if own else \
                        name in (str(n.number), f'node{n.number}'):
                    return n
        raise Failed(f"'{name}' is no node of cluster {self.name}, which has "
                     f'{self.nodes[0].name} to {self.nodes[-1].name}')

    def guests(self):
        """Returns the nodes that are not switches, in the order of their numbers."""
        return [n for n in self.nodes if not n.switch]

    def remote(self, cable):
        """Returns true if the ends of CABLE are on different hosts."""
        return cable.a.host != cable.b.host


def is_name(text):
    """Returns true if TEXT can be the name of a cluster or a node."""
    return bool(_NAME.fullmatch(text)) and text != 'localhost'


def names():
    """Returns the names of the ready-made topologies."""
    return sorted(f.stem for f in READY.glob('*.conf'))


def load(given):
    """Returns the Topology of GIVEN: a ready-made name, or the path of a file."""
    path = READY / f'{given}.conf'
    if '/' in given or not path.is_file():
        path = Path(given)
    if not path.is_file():
        raise Failed(f"there is no topology '{given}': name a file or one of "
                     + ', '.join(names()))
    try:
        text = path.read_text(encoding='utf-8-sig')
    except (OSError, UnicodeDecodeError) as e:
        raise Failed(f'{shown(path)} cannot be read: {e}') from e
    return parse(text, _name_of(path), shown(path))


def _name_of(path):
    """Returns the name of a cluster, which follows from the name of its file PATH."""
    name = re.sub('[^a-z0-9]+', '-', path.stem.lower()).strip('-')
    if not is_name(name):
        name = f'cluster-{name}'
    return name[:20].rstrip('-')


def parse(text, name, path='topology'):
    """Returns the Topology that TEXT describes. Raises Failed for an error in TEXT. The message
    names PATH and the line."""
    return _Parser(text, name, path).topology()


class _Parser:
    """Reads one file. An error in the file raises Failed with the line."""

    def __init__(self, text, name, path):
        self.name, self.path = name, path
        # Removes all indentation, because configparser would append an indented line to the
        # value of the line before.
        self.lines = [s.strip(' \t') for s in text.split('\n')]
        self.text = '\n'.join(self.lines)
        self.check_characters()
        self.ini = configparser.ConfigParser(
            interpolation=None, delimiters=('=',), comment_prefixes=('#',),
            inline_comment_prefixes=('#',), default_section='')
        try:
            self.ini.read_string(self.text, path)
        except configparser.Error as e:
            line = getattr(e, 'lineno', None) or e.errors[0][0]
            what = re.sub(r'\s+', ' ', type(e).__name__)
            raise Failed(f'{path}:{line}: {_SYNTAX.get(what, what)}') from e
        self.nodes, self.cables, self.hosts = [], [], {}
        self.linked = set()    # pairs of numbers of nodes with a section [link]

    def check_characters(self):
        for number, s in enumerate(self.lines, 1):
            wrong = next((c for c in s if not c.isprintable() and c != '\t'),
                         None)
            if wrong:
                raise Failed(f'{self.path}:{number}: character '
                             f'U+{ord(wrong):04X} cannot be in it')

    def where(self, section, key=None):
        """Returns the beginning of a message: the file, and the line of KEY in SECTION; the
        line of the head of SECTION if KEY is None or missing; line 1 if SECTION is missing."""
        line, inside = 1, False
        for number, s in enumerate(self.lines, 1):
            if s.startswith('['):
                inside = s.startswith(f'[{section}]')
                line = number if inside else line
            elif inside and key and re.match(rf'{re.escape(key)}\s*=', s,
                                             re.I):
                line = number
        what = f'{key}: ' if key else ''
        return f'{self.path}:{line}: [{section}] {what}'

    def fail(self, section, key, why):
        raise Failed(self.where(section, key) + why)

    def section(self, name, keys):
        """Returns the keys and values of section NAME, or no keys if there is no such section.
        Fails if a key is not in KEYS."""
        found = dict(self.ini[name]) if self.ini.has_section(name) else {}
        for key in found:
            if key not in keys:
                self.fail(name, key, 'unknown key, there are '
                          + ', '.join(keys))
        return found

    def number(self, section, values, key, default, low, high):
        text = values.get(key)
        if text is None:
            return default
        if not re.fullmatch(r'[0-9]{1,9}', text) or not low <= int(text) <= high:
            self.fail(section, key, f"'{text}' is no number from {low} to "
                      f'{high}')
        return int(text)

    def quantity(self, section, values, key, default, units, unit):
        """Returns the value of KEY as a number of the smallest of UNITS, or DEFAULT without the
        key. The value has a unit from UNITS (name -> factor), except 0, which needs none. UNIT
        describes a correct value in messages."""
        text = values.get(key)
        if text is None:
            return default
        m = re.fullmatch(r'([0-9]{1,9}(?:\.[0-9]{1,6})?)\s*([a-z]*)', text.lower())
        if not m or m[2] not in units and float(m[1]):
            self.fail(section, key, f"'{text}' is not {unit}")
        value = round(float(m[1]) * units.get(m[2], 0))
        if value >= 1 << 32:
            self.fail(section, key, f"'{text}' is too much")
        return value

    def common(self, section, values, node=None):
        """Returns the dictionary of cores, memory, rate and latency from VALUES of SECTION. If
        VALUES lack a key, the value is that of NODE, or the default without NODE."""
        was = node or Node(0, '', 0)
        return {
            'cores': self.number(section, values, 'cores', was.cores, 1, 64),
            'memory': self.number(section, values, 'memory', was.memory,
                                  256, 1 << 20),
            'rate': self.quantity(section, values, 'rate', was.rate, _RATE,
                                  'a rate such as 10G, 500M or 100k'),
            'latency': self.quantity(section, values, 'latency', was.latency,
                                     _TIME, 'a time such as 500ns or 2us')}

    def topology(self):
        whole = self.section('cluster', _CLUSTER_KEYS)
        common = self.common('cluster', whole)
        self.read_hosts(whole)
        dims = self.generate(whole, common)
        sections = {name: name.split() for name in self.ini.sections()}
        for name, words in sections.items():
            if words[:1] == ['node'] and len(words) == 2:
                self.read_node(name, words[1], common)
            elif name != 'cluster' and not (words[:1] == ['link']
                                            and len(words) == 3):
                self.fail(name, None, 'a section is [cluster], [node NAME] '
                          'or [link NAME NAME]')
        for name, words in sections.items():
            if words[0] == 'link':
                self.read_link(name, *words[1:])
        for cable in self.cables:
            if not cable.where:
                self.set_faults(cable, 'cluster', whole)
        self.settle_routes(whole)
        self.check_whole()
        port = self.number('cluster', whole, 'port', 23000, 1024, 60000)
        return Topology(self.name, self.nodes, self.cables, dims, self.router,
                        self.hosts, port, self.read_interface(whole),
                        self.read_slurm(whole), self.read_image(whole),
                        self.text, self.read_wire(whole))

    def read_slurm(self, whole):
        text = whole.get('slurm', '')
        try:
            shlex.split(text)
        except ValueError:
            self.fail('cluster', 'slurm', 'a quotation does not end')
        return text

    def read_image(self, whole):
        image = whole.get('image', '')
        if image not in guest.IMAGES:
            self.fail('cluster', 'image', f"there is no image '{image}', only "
                      + ', '.join(i for i in guest.IMAGES if i))
        return image

    def read_wire(self, whole):
        wire = whole.get('wire', wires.STREAM)
        if wire not in wires.WIRES:
            self.fail('cluster', 'wire', f"there is no wire '{wire}', only "
                      + ', '.join(wires.WIRES))
        return wire

    def read_interface(self, whole):
        name = whole.get('interface', '' if self.hosts else 'lo')
        if not re.fullmatch(r'[\w.-]*', name):
            self.fail('cluster', 'interface', f"'{name}' is no interface")
        return name

    def read_hosts(self, whole):
        for word in whole.get('hosts', '').split():
            host, _, address = word.partition('=')
            if not re.fullmatch(r'[\w.-]+', host) \
                    or not re.fullmatch(r'[\w.-]*', address):
                self.fail('cluster', 'hosts', f"'{word}' is neither HOST nor "
                          'HOST=ADDRESS')
            if host in self.hosts:
                self.fail('cluster', 'hosts', f'{host} is there twice')
            self.hosts[host] = address or host

    def generate(self, whole, common):
        """Makes the nodes and cables of the keys torus, mesh, fattree, dragonfly and qfdb, if
        WHOLE, the section [cluster], has such a key. Returns the device's property "dims"."""
        kinds = [k for k in _KINDS if k in whole]
        qfdb = whole.get('qfdb', 'no')
        if qfdb not in ('yes', 'no'):
            self.fail('cluster', 'qfdb', f"'{qfdb}' is neither yes nor no")
        if len(kinds) > 1:
            self.fail('cluster', kinds[1], f'either {kinds[0]} or {kinds[1]}')
        self.read_router(whole, kinds)
        if not kinds and qfdb == 'no':
            return self.read_dims(whole)
        if 'dims' in whole:
            self.fail('cluster', 'dims', 'follows from the torus')
        if self.router:
            return self.grow(kinds, qfdb, whole, common)
        size = self.read_size(kinds[0], whole) if kinds else [1]
        each = 4 if qfdb == 'yes' else 1
        total = each
        for n in size:
            total *= n
        if total > NODES_MAX:
            self.fail('cluster', (kinds or ['qfdb'])[0],
                      f'{total} nodes are more than {NODES_MAX}')
        self.make_nodes(size, each, common)
        ring = [n >= 3 and kinds == ['torus'] for n in size]
        self.make_torus(size, each, ring)
        if not any(ring):
            return ''
        return 'x'.join(str(n if r else 1) for n, r in zip(size, ring))

    def read_router(self, whole, kinds):
        trees_too = [k for k in kinds if k in ('fattree', 'dragonfly')]
        self.router = whole.get('router', 'table' if trees_too else 'torus')
        if self.router not in _ROUTERS:
            self.fail('cluster', 'router', f"'{self.router}' is none of "
                      + ', '.join(_ROUTERS))
        if kinds and (self.router == 'torus') == bool(trees_too):
            self.fail('cluster', 'router', f'a {kinds[0]} has another one')
        if trees_too == ['dragonfly'] and self.router != 'table':
            self.fail('cluster', 'router', 'a dragonfly goes by tables')
        self.router = '' if self.router == 'torus' else self.router

    def grow(self, kinds, qfdb, whole, common):
        """Makes the nodes and cables of the key fattree or dragonfly. Returns the device's
        property "dims", which is empty."""
        if qfdb == 'yes':
            self.fail('cluster', 'qfdb', 'has the router of a torus')
        size = self.read_size(kinds[0], whole)

        def node(name, coord, switch):
            n = len(self.nodes)
            self.nodes.append(Node(n, name or f'node{n}', coord,
                                   switch=switch, **common))
            return self.nodes[-1]

        if kinds == ['fattree']:
            trees.fat_tree(node, self.cable, *size)
        elif size[0] < 2:
            self.fail('cluster', 'dragonfly', 'has two groups or more')
        else:
            trees.dragonfly(node, self.cable, *size)
        return ''

    def read_size(self, key, whole):
        size = _sizes(whole[key])
        if len(size) not in _KINDS[key]:
            like = {1: '4, 4x2 or 2x2x2', 2: '4x2', 3: '4x2x2'}[_KINDS[key][0]]
            self.fail('cluster', key, f"'{whole[key]}' is no size such as "
                      f'{like}, with 1 to 16 each')
        return size

    def read_dims(self, whole):
        text = whole.get('dims', '')
        if text and not _sizes(text):
            self.fail('cluster', 'dims', f"'{text}' is no list of rings such "
                      'as 4x4, with 1 to 16 nodes each')
        return text

    def make_nodes(self, size, each, common):
        x_max, y_max, z_max = (*size, 1, 1)[:3]
        for place in range(x_max * y_max * z_max):
            x, y, z = (place % x_max, place // x_max % y_max,
                       place // x_max // y_max)
            for f in range(each):
                n = len(self.nodes)
                self.nodes.append(Node(n, f'node{n}',
                                       z << 8 | y << 4 | x | f << 12,
                                       **common))

    def make_torus(self, size, each, ring):
        for node in self.nodes:
            f = node.coord >> 12
            for other in range(f + 1, each):
                self.cable(node, self.nodes[node.number + other - f])
            if f:
                continue
            stride = each
            for axis, n in enumerate(size):
                at = node.coord >> 4 * axis & 15
                if at + 1 < n:
                    self.cable(node, self.nodes[node.number + stride])
                elif ring[axis]:
                    self.cable(self.nodes[node.number - at * stride], node)
                stride *= n

    def cable(self, a, b):
        cable = Cable(len(self.cables), a, b)
        self.cables.append(cable)
        a.cables.append(cable)
        b.cables.append(cable)
        return cable

    def read_node(self, section, name, common):
        values = self.section(section, _NODE_KEYS)
        known = next((n for n in self.nodes if n.name == name), None)
        if not known:
            if not is_name(name) or re.fullmatch(
                    r'node[0-9]+', name) and name != f'node{len(self.nodes)}':
                self.fail(section, None, f"'{name}' is no name of a new node")
            if 'at' not in values:
                self.fail(section, None, 'at = '
                          + ('cabinet=..,chassis=..,card=..' if self.router
                             else 'x=..,y=..,z=..,f=..,upper=..')
                          + ' is needed')
            known = Node(len(self.nodes), name, 0, **common)
            self.nodes.append(known)
        if 'at' in values:
            if known.rules and self.router == 'table':
                self.fail(section, 'at', f'{name} has its place: the tables of '
                          'all others go by it')
            known.coord = self.read_at(section, values['at'])
        for key, value in self.common(section, values, known).items():
            setattr(known, key, value)
        self.read_kind(section, values, known)
        known.arch = values.get('arch', known.arch)
        if known.arch not in ARCHES or known.switch and 'arch' in values:
            self.fail(section, 'arch', f"'{known.arch}' is not the processor "
                      'of a guest, ' + ' or '.join(ARCHES))
        known.host = values.get('host')
        if known.host and known.host not in self.hosts:
            self.fail(section, 'host', f"'{known.host}' is not among the "
                      'hosts of [cluster]')

    def read_kind(self, section, values, node):
        kind = values.get('kind', 'switch' if node.switch else 'guest')
        if kind not in ('guest', 'switch'):
            self.fail(section, 'kind', f"'{kind}' is neither guest nor switch")
        node.switch = kind == 'switch'
        node.routes = values.get('routes', '')
        if not re.fullmatch(r'[0-9a-fx/>;+]*', node.routes):
            self.fail(section, 'routes', f"'{node.routes}' is no list of rules "
                      'such as 0x14000/0x3fc000>0;0/0>1+2')
        if node.routes and self.router != 'table':
            self.fail(section, 'routes', 'needs router = table in [cluster]')

    def settle_routes(self, whole):
        """Sorts and numbers the nodes: guests have the numbers from 0 on, and switches the
        next numbers. With router = table, makes the device's property "routes" of each node
        without the key routes from the rules of this node. A rule in Node.rules names nodes,
        but a rule in the property names links. Fails if a node has neither the key nor a rule
        with a link."""
        self.nodes.sort(key=lambda n: n.switch)
        for number, node in enumerate(self.nodes):
            node.number = number
            if self.router != 'table' or node.routes:
                continue
            rules = []
            for value, mask, there in node.rules:
                links = [str(i) for i, c in enumerate(node.cables)
                         if any(c.other(node) is n for n in there)]
                if links:
                    rules.append(f'{value:#x}/{mask:#x}>{"+".join(links)}')
            node.routes = ';'.join(rules)
            if not rules:
                self.fail(f'node {node.name}', None, f'{node.name} needs '
                          'routes = with router = table')

    def read_at(self, section, text):
        coord, seen = 0, set()
        axes = _PLACES if self.router else _AXES
        for part in text.replace(' ', '').split(','):
            m = re.fullmatch(r'([a-z]+)=([0-9]{1,4})', part)
            if not m or m[1] not in axes:
                *most, last = (f'{a}=' for a in axes)
                self.fail(section, 'at', f"'{part}' is none of "
                          f'{", ".join(most)} and {last}')
            if m[1] in seen:
                self.fail(section, 'at', f'{m[1]}= is there twice')
            seen.add(m[1])
            shift, high = axes[m[1]]
            value, low = int(m[2]), int(m[1] == 'f')
            if not low <= value <= high:
                self.fail(section, 'at', f'{part}: {low} to {high}')
            coord |= value - low << shift
        return coord

    def read_link(self, section, first, second):
        """Reads a section [link] about nodes FIRST and SECOND. Adds or removes cables between
        these nodes, and sets the faults of the cables."""
        values = self.section(section, ('cables', 'faults'))
        ends = []
        for name in (first, second):
            found = [n for n in self.nodes if n.name == name]
            if not found:
                self.fail(section, None, f"there is no node '{name}'")
            ends += found
        if ends[0] is ends[1]:
            self.fail(section, None, 'a cable has two different ends')
        pair = frozenset(n.number for n in ends)
        if pair in self.linked:
            self.fail(section, None, 'these two nodes have a section already')
        self.linked.add(pair)
        count = self.number(section, values, 'cables', 1, 0, min(n.links for n in ends))
        between = [c for c in self.cables if {c.a.number, c.b.number} == pair]
        while len(between) < count:
            between.append(self.cable(*ends))
        if 'cables' in values:
            for cable in between[count:]:
                self.drop(cable)
            del between[count:]
        for cable in between:
            self.set_faults(cable, section, values)

    def set_faults(self, cable, section, values):
        """Sets the faults of CABLE if VALUES of SECTION have the key faults."""
        if 'faults' in values:
            text = values['faults']
            cable.faults = '' if text == 'none' else text
            cable.where = self.where(section, 'faults')

    def drop(self, cable):
        for cables in (self.cables, cable.a.cables, cable.b.cables):
            cables[:] = [c for c in cables if c is not cable]
        for number, c in enumerate(self.cables):
            c.number = number

    def check_whole(self):
        if sum(not n.switch for n in self.nodes) < 2:
            self.fail('cluster', None, 'a cluster has two nodes or more: give '
                      'torus, qfdb or [node NAME] sections')
        if len(self.nodes) > NODES_MAX:
            self.fail('cluster', None, f'more than {NODES_MAX} nodes')
        seen = {}
        for n in self.nodes:
            if n.coord in seen:
                self.fail(f'node {n.name}', 'at', f'{n.name} and '
                          f'{seen[n.coord]} have the same coordinates')
            seen[n.coord] = n.name
            own = f'node {n.name}'
            section = own if self.ini.has_section(own) else 'cluster'
            if len(n.cables) > n.links:
                self.fail(section, None, f'{n.name} has {len(n.cables)} '
                          f'cables, a node has {n.links} links')
            if not n.cables:
                self.fail(section, None, f'{n.name} has no cable')
        self.spread()

    def spread(self):
        """Assigns a host to each node without the key host, if the cluster has hosts. If no
        node has the key, each host gets about the same number of consecutive nodes."""
        if not self.hosts:
            return
        hosts = list(self.hosts)
        for n in self.nodes:
            n.host = n.host or hosts[n.number * len(hosts)
                                     // len(self.nodes)]


def _sizes(text):
    """Returns the list of numbers in a TEXT such as 4x2x2. The list is empty if TEXT has
    another form, or a number that is not from 1 to 16."""
    size = [int(n) for n in text.split('x')] if _SIZES.fullmatch(text) else []
    return size if all(1 <= n <= 16 for n in size) else []


_CLUSTER_KEYS = (*_KINDS, 'qfdb', 'dims', 'router', 'cores', 'memory', 'rate',
                 'latency', 'faults', 'image', 'hosts', 'port', 'interface',
                 'slurm', 'wire')
_NODE_KEYS = ('at', 'kind', 'routes', 'cores', 'memory', 'rate', 'latency',
              'arch', 'host')
_SYNTAX = {
    'MissingSectionHeaderError': 'the first thing in it must be [cluster]',
    'DuplicateSectionError': 'this section is there twice',
    'DuplicateOptionError': 'this key is there twice',
    'ParsingError': 'neither KEY = VALUE nor [SECTION]'}

# SPDX-License-Identifier: GPL-2.0-or-later
"""Which nodes a cluster has and how they are cabled: the topology file.

docs/clusters.rst describes the file. What a file says is checked here, so
that everybody else may believe a Topology.
"""

import configparser
import re
from dataclasses import dataclass, field
from pathlib import Path

from . import guest
from .paths import TOP, shown
from .steps import Failed

READY = TOP / 'scripts/topologies'
PORTS = 12             # link0 to link11 of the device
NODES_MAX = 256        # as many as the guests have addresses for
_AXES = {'x': (0, 15), 'y': (4, 15), 'z': (8, 15), 'f': (12, 4),
         'upper': (14, 255)}
_NAME = re.compile(r'[a-z][a-z0-9-]{0,30}$')
_RATE = {'k': 1, 'm': 1000, 'g': 1000000}
_TIME = {'ns': 1, 'us': 1000, 'ms': 1000000}


@dataclass
class Node:
    """One guest as the file wants it."""
    number: int
    name: str
    coord: int
    cores: int = 1
    memory: int = 512          # MB
    host: str = None           # None: this machine
    rate: int = 0              # kb/s of each link, 0: unlimited
    latency: int = 0           # ns of each link
    cables: list = field(default_factory=list)

    def link(self, cable):
        """The number of the device's link that CABLE is plugged into."""
        return next(i for i, c in enumerate(self.cables) if c is cable)


@dataclass
class Cable:
    """What joins a link of node A with one of node B."""
    number: int
    a: Node
    b: Node
    faults: str = ''

    def other(self, node):
        return self.b if node is self.a else self.a


@dataclass
class Topology:
    """A whole cluster."""
    name: str
    nodes: list
    cables: list
    dims: str                  # the device's property, '' if there is no ring
    hosts: dict                # name -> address that its cables listen at
    port: int = 23000          # TCP port of the first cable between two hosts
    interface: str = 'lo'      # that the guests' Ethernet goes through
    slurm: str = ''            # options of salloc
    image: str = ''            # of guest.IMAGES
    text: str = ''

    def node(self, name):
        """The node of that name or number; Failed if there is none."""
        for n in self.nodes:
            if name in (n.name, str(n.number), f'node{n.number}'):
                return n
        raise Failed(f"'{name}' is no node of cluster {self.name}, which has "
                     f'{self.nodes[0].name} to {self.nodes[-1].name}')

    def remote(self, cable):
        """True if CABLE leads from one host to another."""
        return cable.a.host != cable.b.host


def is_name(text):
    """True if TEXT can be the name of a cluster or a node."""
    return bool(_NAME.match(text))


def names():
    """The ready-made topologies."""
    return sorted(f.stem for f in READY.glob('*.conf'))


def load(given):
    """The Topology of a ready-made name or of a file."""
    path = READY / f'{given}.conf'
    if '/' in given or not path.is_file():
        path = Path(given)
    if not path.is_file():
        raise Failed(f"there is no topology '{given}': name a file or one of "
                     + ', '.join(names()))
    try:
        text = path.read_text(encoding='utf-8')
    except (OSError, UnicodeDecodeError) as e:
        raise Failed(f'{shown(path)} cannot be read: {e}') from e
    name = re.sub('[^a-z0-9-]', '-', path.stem.lower())[:20]
    return parse(text, name, shown(path))


def parse(text, name, path='topology'):
    """The Topology that TEXT describes; Failed names PATH, line and key."""
    return _Parser(text, name, path).topology()


class _Parser:
    """Reads one file; every complaint says where."""

    def __init__(self, text, name, path):
        self.text, self.name, self.path = text, name, path
        self.ini = configparser.ConfigParser(
            interpolation=None, delimiters=('=',), comment_prefixes=('#',),
            inline_comment_prefixes=('#',), default_section='')
        try:
            self.ini.read_string(text, path)
        except configparser.Error as e:
            line = getattr(e, 'lineno', None) or e.errors[0][0]
            what = re.sub(r'\s+', ' ', type(e).__name__)
            raise Failed(f'{path}:{line}: {_SYNTAX.get(what, what)}') from e
        self.nodes, self.cables, self.hosts = [], [], {}

    def fail(self, section, key, why):
        """Failed at the line of KEY, or of the head of SECTION."""
        line, inside = 0, False
        for number, s in enumerate(self.text.splitlines(), 1):
            s = s.strip()
            if s.startswith('['):
                inside = s.startswith(f'[{section}]')
                line = number if inside else line
            elif inside and key and re.match(rf'{re.escape(key)}\s*=', s,
                                             re.I):
                line = number
        what = f'{key}: ' if key else ''
        raise Failed(f'{self.path}:{line}: [{section}] {what}{why}')

    def section(self, name, keys):
        """The keys of a section, all of which must be in KEYS."""
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
        if not re.fullmatch(r'\d{1,9}', text) or not low <= int(text) <= high:
            self.fail(section, key, f"'{text}' is no number from {low} to "
                      f'{high}')
        return int(text)

    def quantity(self, section, values, key, default, units, unit):
        """A number with one of UNITS, in the smallest of them."""
        text = values.get(key)
        if text is None:
            return default
        m = re.fullmatch(r'(\d{1,9}(?:\.\d{1,6})?)\s*([a-z]*)', text.lower())
        if not m or m[2] not in units and float(m[1]):
            self.fail(section, key, f"'{text}' is not {unit}")
        value = round(float(m[1]) * units.get(m[2], 0))
        if value >= 1 << 32:
            self.fail(section, key, f"'{text}' is too much")
        return value

    def common(self, section, values, node=None):
        """cores, memory, rate and latency, as they are or as given."""
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
        for name in self.ini.sections():
            word, *rest = name.split()
            if word == 'node' and len(rest) == 1:
                self.read_node(name, rest[0], common)
        for name in self.ini.sections():
            word, *rest = name.split()
            if word == 'link' and len(rest) == 2:
                self.read_link(name, *rest)
            elif name != 'cluster' and not (word == 'node'
                                            and len(rest) == 1):
                self.fail(name, None, 'a section is [cluster], [node NAME] '
                          'or [link NAME NAME]')
        if whole.get('faults'):
            for cable in self.cables:
                cable.faults = cable.faults or whole['faults']
        self.check_whole()
        port = self.number('cluster', whole, 'port', 23000, 1024, 60000)
        return Topology(self.name, self.nodes, self.cables, dims, self.hosts,
                        port, self.read_interface(whole),
                        whole.get('slurm', ''), self.read_image(whole),
                        self.text)

    def read_image(self, whole):
        image = whole.get('image', '')
        if image not in guest.IMAGES:
            self.fail('cluster', 'image', f"there is no image '{image}', only "
                      + ', '.join(i for i in guest.IMAGES if i))
        return image

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
        """Nodes and cables of torus =, mesh = and qfdb =; the dims."""
        kinds = [k for k in ('torus', 'mesh') if k in whole]
        qfdb = whole.get('qfdb', 'no')
        if qfdb not in ('yes', 'no'):
            self.fail('cluster', 'qfdb', f"'{qfdb}' is neither yes nor no")
        if len(kinds) == 2:
            self.fail('cluster', 'mesh', 'either torus or mesh')
        if not kinds and qfdb == 'no':
            return self.read_dims(whole)
        if 'dims' in whole:
            self.fail('cluster', 'dims', 'follows from the torus')
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

    def read_size(self, key, whole):
        m = re.fullmatch(r'\d{1,2}(x\d{1,2}){0,2}', whole[key])
        size = [int(n) for n in whole[key].split('x')] if m else []
        if not m or not all(1 <= n <= 16 for n in size):
            self.fail('cluster', key, f"'{whole[key]}' is no size such as 4, "
                      '4x2 or 2x2x2, with 1 to 16 each')
        return size

    def read_dims(self, whole):
        text = whole.get('dims', '')
        if text and not re.fullmatch(r'\d{1,2}(x\d{1,2}){0,2}', text):
            self.fail('cluster', 'dims', f"'{text}' is no list of rings such "
                      'as 4x4')
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
            if not _NAME.match(name) or re.fullmatch(
                    r'node\d+', name) and name != f'node{len(self.nodes)}':
                self.fail(section, None, f"'{name}' is no name of a new node")
            if 'at' not in values:
                self.fail(section, None, 'at = x=..,y=..,z=..,f=..,upper=.. '
                          'is needed')
            known = Node(len(self.nodes), name, 0, **common)
            self.nodes.append(known)
        if 'at' in values:
            known.coord = self.read_at(section, values['at'])
        for key, value in self.common(section, values, known).items():
            setattr(known, key, value)
        known.host = values.get('host')
        if known.host and known.host not in self.hosts:
            self.fail(section, 'host', f"'{known.host}' is not among the "
                      'hosts of [cluster]')

    def read_at(self, section, text):
        coord = 0
        for part in text.replace(' ', '').split(','):
            m = re.fullmatch(r'([a-z]+)=(\d{1,3})', part)
            if not m or m[1] not in _AXES:
                self.fail(section, 'at', f"'{part}' is none of x=, y=, z=, "
                          'f= and upper=')
            shift, high = _AXES[m[1]]
            value, low = int(m[2]), int(m[1] == 'f')
            if not low <= value <= high:
                self.fail(section, 'at', f'{part}: {low} to {high}')
            coord |= value - low << shift
        return coord

    def read_link(self, section, first, second):
        """A new cable, several, or more about those that are there."""
        values = self.section(section, ('cables', 'faults'))
        ends = []
        for name in (first, second):
            found = [n for n in self.nodes if n.name == name]
            if not found:
                self.fail(section, None, f"there is no node '{name}'")
            ends += found
        if ends[0] is ends[1]:
            self.fail(section, None, 'a cable has two different ends')
        count = self.number(section, values, 'cables', 1, 0, PORTS)
        between = [c for c in self.cables
                   if {c.a.number, c.b.number} == {n.number for n in ends}]
        while len(between) < count:
            between.append(self.cable(*ends))
        for cable in between:
            cable.faults = values.get('faults', '')
            if 'cables' in values and len(between) > count:
                between.remove(cable)
                self.drop(cable)

    def drop(self, cable):
        for cables in (self.cables, cable.a.cables, cable.b.cables):
            cables[:] = [c for c in cables if c is not cable]
        for number, c in enumerate(self.cables):
            c.number = number

    def check_whole(self):
        if len(self.nodes) < 2:
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
            if len(n.cables) > PORTS:
                self.fail('cluster', None, f'{n.name} has {len(n.cables)} '
                          f'cables, a node has {PORTS} links')
            if not n.cables:
                self.fail('cluster', None, f'{n.name} has no cable')
        self.spread()

    def spread(self):
        """Nodes without a host of their own take turns, in equal shares."""
        if not self.hosts:
            return
        hosts = list(self.hosts)
        for n in self.nodes:
            n.host = n.host or hosts[n.number * len(hosts)
                                     // len(self.nodes)]


_CLUSTER_KEYS = ('torus', 'mesh', 'qfdb', 'dims', 'cores', 'memory', 'rate',
                 'latency', 'faults', 'image', 'hosts', 'port', 'interface',
                 'slurm')
_NODE_KEYS = ('at', 'cores', 'memory', 'rate', 'latency', 'host')
_SYNTAX = {
    'MissingSectionHeaderError': 'the first thing in it must be [cluster]',
    'DuplicateSectionError': 'this section is there twice',
    'DuplicateOptionError': 'this key is there twice',
    'ParsingError': 'neither KEY = VALUE nor [SECTION]'}

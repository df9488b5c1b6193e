# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs clusters of guests that are joined by the NIC, as a topology file describes.

up TOPOLOGY boots a cluster in the background. TOPOLOGY is a file (docs/clusters.rst), or
the name of a ready-made topology: pair, qfdb, torus2x2, torus4x2, torus4x4, hybrid,
fattree4, fattree8, dragonfly4 or dragonfly8. If several clusters are up, the other commands
need -c NAME, except list and down --all."""

import argparse
import contextlib
import json
import os
import shlex
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

from .. import build, cluster, mpi, topology, vm
from ..arch import ARCHES
from ..paths import shown
from ..steps import Failed, step

_TESTS = '/usr/lib/rnic/tests'


def _up(args):
    topo = topology.load(args.topology)
    if args.memory is not None:
        for spec in topo.nodes:
            spec.memory = args.memory
    name = args.cluster or topo.name
    cluster.refuse_second(name)   # Fails before the build, because the build takes long.
    vm.check_share(args.share)
    used = {spec.arch for spec in topo.nodes}
    binary = build.everything(image=topo.image, arches=[
        a for n, a in ARCHES.items() if n in used])
    c = cluster.Background(binary, name, topo, share=args.share)
    c.up()
    cables, switches = len(topo.cables), len(c.nodes) - len(c.guests)
    print(f'cluster {name} is up: {len(c.guests)} nodes, '
          + (f'{switches} switches, ' if switches else '')
          + f'{cables} cable{"s" if cables > 1 else ""}')
    return 0


def _list(_args):
    for name in cluster.names():
        try:
            c = cluster.find(name)
            print(f'{name}: {c.alive()} of {len(c.nodes)} nodes run')
        except cluster.Damaged:
            print(f'{name}: damaged')
    return 0


def _down(args):
    for name in cluster.names() if args.all else [cluster.one(args.cluster)]:
        with step(f'taking cluster {name} down'):
            cluster.end(name)
    return 0


def _ssh(args):
    c = cluster.find(args.cluster)
    node = c.node(args.node)
    c.living(node)
    if node.spec.switch:
        raise Failed(f'{node.name} is a switch: it runs no guest')
    if not args.command:
        if not sys.stdin.isatty():
            raise Failed('a shell needs a terminal: give a command')
        return c.foreground('exec bash -l', node, tty=True)
    return c.foreground(_line(args.command), node)


def _line(words):
    """Returns WORDS as a shell command line. One word is a command line itself; several words
    are a command and its arguments."""
    return words[0] if len(words) == 1 else shlex.join(words)


def _run(args):
    c = cluster.find(args.cluster)
    c.living(*c.nodes)
    count = args.np or len(c.guests)
    program, *rest = args.command
    words = ['mpirun', '--hostfile', '/etc/rnic/hosts', '-n', str(count)]
    if args.map_by:
        words += ['--map-by', args.map_by]
    words += mpi.options(c, 'tcp' if args.tcp else 'nic').split()
    words += args.mpi
    # The user names a test program without a folder, and a program of the shared folder as
    # ./program. The file MARK contains the process number of mpirun, which the command below
    # kills after an error.
    mark = f'/run/rnic-run-{os.getpid()}'
    script = f'PATH=$PATH:{_TESTS}; {"cd /mnt/host; " if c.share else ""}' \
             f'program=$(command -v -- {shlex.quote(program)}) || ' \
             '{ printf "%s: no such program in the guests\\n" ' \
             f'{shlex.quote(program)} >&2; exit 127; }}; (echo $BASHPID > {mark}; ' \
             f'exec {shlex.join(words)} -- "$program" {shlex.join(rest)}); ' \
             f'code=$?; rm {mark}; exit $code'
    try:
        return c.foreground(script)
    except BaseException:
        # Ends mpirun, because sshd does not end a command without a terminal when the
        # connection ends.
        with contextlib.suppress(subprocess.TimeoutExpired, Failed):
            c.nodes[0].check()
            subprocess.run([*c.nodes[0].ssh(), '--', f'kill $(cat {mark})'],
                           check=False, stdin=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL, timeout=20)
        raise


def _fault(args):
    c = cluster.find(args.cluster)
    text = '' if args.faults in ('none', '') else args.faults
    c.living(c.node(args.node))
    c.set_faults(c.node(args.node), args.link, text)
    return 0


def _monitor(args):
    c = cluster.find(args.cluster)
    try:
        with c.node(args.node).qmp() as qmp:
            text = qmp.command('human-monitor-command',
                               **{'command-line': ' '.join(args.command)})
    except OSError as e:
        raise Failed(str(e)) from e
    print(text.replace('\r\n', '\n'), end='')
    return 1 if text.startswith('Error: ') else 0


def _status(args):
    c = cluster.find(args.cluster)
    nodes = [c.node(args.node)] if args.node else c.nodes
    with ThreadPoolExecutor(8) as pool:
        before = list(pool.map(c.look, nodes))
        if not args.json:
            time.sleep(args.seconds)
        now = list(pool.map(c.look, nodes)) if not args.json else before
    if args.json:
        print(json.dumps({n.name: v for n, v in zip(nodes, now)}, indent=1))
    else:
        _show_links(c, nodes, before, now)
        _show_counters(nodes, now, bool(args.node))
    bad = [(n, v) for n, v in zip(nodes, now) if isinstance(v, str)]
    for n, why in () if args.json else bad:
        print(f'{n.name}: {why} (log: {shown(n.errors)})')
    return 1 if bad else 0


def _show_links(c, nodes, before, now):
    print(f'{"node":10} {"coord":>8} {"link":>4} {"peer":10} {"role":8} '
          f'{"state":8} {"rate":>9} {"latency":>9} {"out MB/s":>9} '
          f'{"in MB/s":>9} {"injected":>8}  faults')
    for node, old, new in zip(nodes, before, now):
        if isinstance(old, str) or isinstance(new, str):
            continue
        seconds = (new['node']['time-ns'] - old['node']['time-ns']) / 1e9
        for a, b in zip(old['links'], new['links']):
            speed = [_speed(a, b, k, seconds) for k in ('tx', 'rx')]
            print(f'{node.name:10} {new["node"]["coord"]:#8x} '
                  f'{b["index"]:4} {_peer(c, b):10} {b["role"]:8} '
                  f'{_link_state(b):8} {_rate(b["rate-kbps"]):>9} '
                  f'{_latency(b["latency-ns"]):>9} {speed[0]:9.2f} '
                  f'{speed[1]:9.2f} {sum(b["injected"].values()):8}  '
                  f'{b["faults"]}'.rstrip())


def _peer(c, link):
    return c.peer_name(link['peer']['coord']) if 'peer' in link else '-'


def _link_state(link):
    if link['conflict']:
        return 'conflict'
    if not link['up']:
        return 'down'
    return 'stopped' if link['peer-xoff'] else 'up'


def _speed(old, new, direction, seconds):
    words = new['counters'][f'{direction}-words'] - old['counters'][f'{direction}-words']
    return words * 16 / 1e6 / seconds if seconds > 0 else 0.0


def _rate(kbps):
    return f'{kbps / 1e6:g} Gb/s' if kbps else '-'


def _latency(ns):
    return f'{ns / 1000:g} us' if ns else '-'


def _show_counters(nodes, now, everything):
    if everything:
        for v in now:
            for key, value in v['counters'].items() \
                    if isinstance(v, dict) else ():
                if value:
                    print(f'{key:24} {value:14}')
        return
    print(f'\n{"node":10} {"packets out":>12} {"packets in":>12} '
          f'{"passed on":>10} {"resent":>8} {"dropped":>8} {"refused":>8} '
          f'{"page faults":>11}')
    for node, v in zip(nodes, now):
        if isinstance(v, str):
            continue
        k = v['counters']
        print(f'{node.name:10} {_sum(k, "tx-"):12} {_sum(k, "rx-"):12} '
              f'{k.get("forwarded", 0):10} {_sum(k, "retry-") + k["msg-retry"]:8} '
              f'{_sum(k, "drop-"):8} {k["nack-sent"]:8} '
              f'{_sum(k, "fault-"):11}')


_RECEIVED = {'rx-write', 'rx-read-req', 'rx-control', 'rx-notify', 'rx-ack',
             'rx-release', 'rx-flow-rate'}


def _sum(counters, prefix):
    return sum(v for k, v in counters.items() if k.startswith(prefix)
               and (prefix != 'rx-' or k in _RECEIVED))


def _parser():
    p = argparse.ArgumentParser(
        description=__doc__, prog='cluster',
        formatter_class=argparse.RawDescriptionHelpFormatter)
    sub = p.add_subparsers(dest='action', required=True, metavar='COMMAND')

    def add(name, function, text, named=True):
        q = sub.add_parser(name, help=text, description=text)
        q.set_defaults(function=function)
        if named:
            q.add_argument('-c', '--cluster', metavar='NAME',
                           help='which cluster, by its name')
        return q

    q = add('up', _up, 'boot a cluster in the background')
    q.add_argument('topology', metavar='TOPOLOGY',
                   help='a file, or ' + ', '.join(topology.names()))
    q.add_argument('--share', metavar='DIR',
                   help='host folder that all guests see at /mnt/host')
    q.add_argument('--memory', type=int, metavar='MB',
                   help='of each guest, instead of what the topology says')
    q = add('run', _run, 'run an MPI program on all nodes; its exit code')
    q.add_argument('-np', '-n', type=int, metavar='N',
                   help='processes; without it, one for each node')
    q.add_argument('--map-by', metavar='WHAT', help="as mpirun's")
    q.add_argument('--tcp', action='store_true',
                   help='over TCP on the Ethernet instead of the NIC')
    q.add_argument('--mpi', metavar='OPTIONS', default='',
                   help='more options of mpirun, as one word')
    q.add_argument('command', nargs=argparse.REMAINDER,
                   metavar='[--] PROGRAM ...')
    q.usage = 'cluster run [-h] [-c NAME] [-np N] [--map-by WHAT] [--tcp] ' \
              '[--mpi OPTIONS]\n                   [--] PROGRAM ...'
    q = add('ssh', _ssh, 'a shell or a command on one node')
    q.add_argument('node', metavar='NODE')
    q.add_argument('command', nargs=argparse.REMAINDER,
                   metavar='[--] [COMMAND ...]')
    q.usage = 'cluster ssh [-h] [-c NAME] NODE [--] [COMMAND ...]'
    q = add('status', _status, 'links, rates and counters, also of nodes '
            'whose guest hangs')
    q.add_argument('node', nargs='?', metavar='NODE',
                   help='one node, with all counters that are not zero')
    q.add_argument('--json', action='store_true', help='everything, as JSON')
    q.add_argument('--seconds', type=float, default=1.0, metavar='S',
                   help='over which MB/s are measured')
    q = add('fault', _fault, 'make faults on a link, as long as it runs')
    q.add_argument('node', metavar='NODE')
    q.add_argument('link', metavar='LINK',
                   help='its number, or the node behind it')
    q.add_argument('faults', metavar='FAULTS',
                   help='such as "drop=1%%", "corrupt=next:5", "down"; none '
                   'ends them')
    q = add('monitor', _monitor, "a command for QEMU's monitor of one node")
    q.add_argument('node', metavar='NODE')
    q.add_argument('command', nargs='+', metavar='-- COMMAND')
    q = add('down', _down, 'end a cluster')
    q.add_argument('--all', action='store_true', help='all clusters')
    add('list', _list, 'the clusters that are up', named=False)
    return p


def start():
    p = _parser()
    args = p.parse_args()
    if args.action == 'up':
        if args.cluster and not topology.is_name(args.cluster):
            p.error('--cluster: lower-case letters, digits and -')
        if args.memory is not None and args.memory < 256:
            p.error('the guests need 256 MB or more')
    if args.action in ('run', 'ssh') and args.command[:1] == ['--']:
        del args.command[0]
    if args.action == 'run':
        if not args.command:
            p.error('which program shall run?')
        if args.np is not None and args.np < 1:
            p.error('-np: 1 or more')
        try:
            args.mpi = shlex.split(args.mpi)
        except ValueError:
            p.error('--mpi: a quotation does not end')
    if args.action == 'status' and not 0 <= args.seconds <= 3600:
        p.error('--seconds: 0 to 3600')
    try:
        return args.function(args)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 0

#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Prints extoll-vectors.h: EXTOLL's addresses, words, flits and packets, and what they mean.

Independent of the C codec: bit numbers are those of the description of the formats, records
are integers, the CRC is zlib's. Payload byte n of every vector is (n + 1) & 0xff."""

import zlib

# Numbers of commands.
GET_BYTES, GET, PUT_BYTES, PUT, LOCK, NOTIFICATION, IMMEDIATE = range(7)
VELO, REFUSED, GET_BYTES_RESPONSE, GET_RESPONSE, LOCK_RESPONSE = 8, 9, 10, 11, 13


def word(*parts):
    """Returns the integer with the fields PARTS, each (highest bit, lowest bit, value)."""
    total, used = 0, 0
    for hi, lo, value in parts:
        mask = (1 << (hi - lo + 1)) - 1
        if value < 0:
            value &= mask
        assert value <= mask and not used >> lo & mask, (hi, lo, value)
        total, used = total | value << lo, used | mask << lo
    return total


def payload(size):
    return bytes((n + 1) & 0xff for n in range(size))


def quadwords(*values):
    return b''.join(v.to_bytes(8, 'little') for v in values)


# --- VELO ---------------------------------------------------------------------

MESSAGE = {'src_node': 0x2a, 'dst_node': 0x15, 'prot': 0xbeef, 'src_vpid': 3, 'dst_vpid': 30,
           'mtt': 2, 'quadwords': 5, 'first': 0, 'count': 5, 'split': 0, 'end': 1}
ZERO_MESSAGE = dict.fromkeys(MESSAGE, 0) | {'quadwords': 1, 'count': 1, 'end': 1}


def address(m):
    return word((27, 22, m['dst_node']), (21, 17, m['dst_vpid']), (16, 12, m['src_vpid']),
                (11, 10, m['mtt']), (9, 6, m['quadwords']))


def slot(m, at, count):
    """Returns the slot with COUNT quadwords of the fragment M, from its quadword AT on."""
    status = word((15, 0, m['src_node']), (25, 16, m['src_vpid']), (33, 32, m['mtt']),
                  (36, 36, m['end'] and at + count == m['count']), (38, 38, m['split']),
                  (47, 40, 8 * m['quadwords']), (59, 48, 8 * count),
                  (62, 60, m['first'] + at), (63, 63, 1))
    data = payload(8 * m['count'])[8 * at:8 * (at + count)]
    return quadwords(status) + data.ljust(56, b'\0')


def slots(m):
    if m['count'] < 8:
        return slot(m, 0, m['count'])
    return slot(m, 0, 7) + slot(m, 7, 1)


def message_packet(route, m):
    frame = word((3, 0, VELO), (5, 4, m['mtt']), (9, 6, m['quadwords']), (12, 10, m['first']),
                 (16, 13, m['count']), (17, 17, m['split']), (18, 18, m['end']),
                 (23, 19, m['src_vpid']), (28, 24, m['dst_vpid']), (47, 32, m['src_node']),
                 (63, 48, m['prot']))
    return quadwords(route, frame) + payload(8 * m['count'])


def messages():
    yield 'usual', MESSAGE
    for name, value in (('src_node', 0xffff), ('dst_node', 63), ('prot', 0xffff),
                        ('src_vpid', 31), ('dst_vpid', 31), ('mtt', 3)):
        yield 'only-' + name.replace('_', '-'), ZERO_MESSAGE | {name: value}
    for n in range(1, 9):
        yield f'quadwords-{n}', MESSAGE | {'quadwords': n, 'count': n}
    yield 'first-part', MESSAGE | {'quadwords': 8, 'count': 3, 'split': 1, 'end': 0}
    yield 'middle', MESSAGE | {'quadwords': 8, 'first': 3, 'count': 1, 'split': 1, 'end': 0}
    yield 'last-part', MESSAGE | {'quadwords': 8, 'first': 4, 'count': 4, 'split': 1}


# --- RMA ----------------------------------------------------------------------

COMMAND = {'command': PUT, 'notify': 3, 'own_vpid': 5, 'vpid': 30, 'node': 0x2a, 'class': 0,
           'lines': 0, 'irq': 0, 'physical': 0, 'bytes': 64, 'lock': 0, 'compare': 0,
           'add': 0, 'local': 0x123456f00, 'remote': 0x7000000fc0, 'payload': 0}
NO_ADDRESS = COMMAND | {'local': 0, 'remote': 0}


def rma_address(c):
    return word((18, 18, c['physical']), (17, 13, c['own_vpid']), (12, 12, c['irq']),
                (11, 9, c['command']), (8, 6, c['notify']), (5, 5, c['lines']))


def descriptor(c):
    """Returns the two words of the descriptor of C."""
    command = c['command']
    if command == LOCK:
        return (word((31, 0, c['compare']), (41, 32, c['lock']), (63, 58, c['node'])),
                word((31, 0, c['add']), (56, 52, c['vpid'])))
    if command == NOTIFICATION:
        return c['payload'], word((7, 0, c['class']), (56, 52, c['vpid']),
                                  (62, 57, c['node']))
    if command == IMMEDIATE:
        parts = [(56, 52, c['vpid']), (62, 57, c['node'])]
        if c['physical']:
            parts.append((51, 0, c['remote']))
        else:
            parts += [(38, 0, c['remote']), (41, 39, 8 - c['bytes'])]
        return c['payload'], word(*parts)
    units = c['bytes'] - 1 if command in (GET_BYTES, PUT_BYTES) \
        else c['bytes'] // (64 if c['lines'] else 8) - 1
    return (word((51, 0, c['local']), (57, 52, units & 63), (63, 58, c['node'])),
            word((51, 0, c['remote']), (56, 52, c['vpid']), (62, 57, units >> 6)))


def commands():
    yield 'put', COMMAND
    yield 'put-page', COMMAND | {'bytes': 4096, 'lines': 1, 'local': 0x7ffffff000,
                                 'remote': 0}
    yield 'put-one', COMMAND | {'bytes': 8, 'local': 0xff8, 'remote': 0x1ff8}
    yield 'put-line', COMMAND | {'lines': 1, 'notify': 1}
    yield 'put-quadwords-64', COMMAND | {'bytes': 512, 'local': 0, 'notify': 0,
                                         'remote': 0xe00}
    yield 'get', COMMAND | {'command': GET, 'notify': 7}
    yield 'get-page', COMMAND | {'command': GET, 'notify': 2, 'lines': 1, 'bytes': 4096,
                                 'local': 0x1000, 'remote': 0x2000}
    yield 'physical', COMMAND | {'physical': 1, 'irq': 1, 'local': 0xffffffffff000,
                                 'remote': 0xffffffffff800}
    for size, at in ((1, 0xfff), (64, 3), (65, 1), (4095, 1), (4096, 0)):
        yield f'put-bytes-{size}', COMMAND | {'command': PUT_BYTES, 'bytes': size,
                                              'local': at, 'remote': 0x3000 + at}
    yield 'get-bytes', COMMAND | {'command': GET_BYTES, 'bytes': 1234, 'local': 7,
                                  'remote': 0x1001}
    yield 'lock', NO_ADDRESS | {'command': LOCK, 'notify': 2, 'bytes': 4, 'lock': 1023,
                                'compare': -5, 'add': -0x80000000}
    yield 'lock-other', NO_ADDRESS | {'command': LOCK, 'notify': 6, 'bytes': 4,
                                      'compare': 0x7fffffff, 'add': 1}
    yield 'notification', NO_ADDRESS | {'command': NOTIFICATION, 'bytes': 8, 'class': 0xa5,
                                        'payload': 0xfedcba9876543210}
    immediate = COMMAND | {'command': IMMEDIATE, 'local': 0, 'notify': 0}
    for size in range(1, 9):
        yield f'immediate-{size}', immediate | {'bytes': size, 'payload': (1 << 64) - 1,
                                                'remote': 0x7fffff0000}
    yield 'immediate-physical', immediate | {'bytes': 8, 'physical': 1, 'payload': 1,
                                             'remote': 0xffffffffffff8}
    for name, value in (('own_vpid', 31), ('vpid', 31), ('node', 63), ('irq', 1)):
        least = dict.fromkeys(COMMAND, 0) | {'command': PUT, 'bytes': 8}
        yield 'only-' + name.replace('_', '-'), least | {name: value}


NOTI = {'word0': 0x123456f00, 'size': 4095, 'node': 0x2a, 'vpid': 30, 'type': 2,
        'command': PUT, 'error': 0, 'irq': 0, 'lines': 1}


def notification(n):
    return quadwords(n['word0'], word(
        (22, 0, n['size']), (30, 23, n['vpid']), (47, 32, n['node']), (50, 48, n['type']),
        (54, 51, n['command']), (55, 55, n['irq']), (56, 56, n['lines']),
        (63, 61, n['error'])))


def notifications():
    yield 'usual', NOTI
    zero = dict.fromkeys(NOTI, 0) | {'type': 1}
    for name, bits in (('word0', 64), ('size', 23), ('node', 16), ('vpid', 8), ('command', 4),
                       ('error', 3), ('irq', 1), ('lines', 1)):
        yield 'only-' + name, zero | {name: (1 << bits) - 1}
    yield 'lock', NOTI | {'word0': word((23, 0, 1023), (31, 24, 1), (63, 32, -2)),
                          'command': LOCK_RESPONSE, 'type': 4}


# --- Packets -------------------------------------------------------------------

PACKET = {'command': PUT, 'notify': 3, 'src_vpid': 5, 'dst_vpid': 30, 'lines': 0, 'irq': 0,
          'physical': 0, 'src_node': 0x2a, 'prot': 0xbeef, 'bytes': 64,
          'word1': 0x7000000f00, 'word2': 0x123456f00}


def packet(route, p):
    frame = word((3, 0, p['command']), (6, 4, p['notify']), (7, 7, p['lines']),
                 (19, 8, p['bytes'] - 1), (24, 20, p['src_vpid']), (29, 25, p['dst_vpid']),
                 (30, 30, p['irq']), (31, 31, p['physical']), (47, 32, p['src_node']),
                 (63, 48, p['prot']))
    data = b''
    if p['command'] in (PUT, PUT_BYTES, GET_RESPONSE, GET_BYTES_RESPONSE):
        data = payload(p['bytes'])
        data += bytes(-len(data) % 8)
    return quadwords(route, frame, p['word1'], p['word2']) + data


def packets():
    yield 'put', PACKET
    yield 'put-page', PACKET | {'bytes': 4096, 'word1': 0x7000000000, 'word2': 0, 'lines': 1}
    yield 'put-bytes', PACKET | {'command': PUT_BYTES, 'bytes': 13, 'word1': 0xff3,
                                 'word2': 0}
    yield 'get', PACKET | {'command': GET}
    yield 'get-bytes', PACKET | {'command': GET_BYTES, 'bytes': 1}
    yield 'get-response', PACKET | {'command': GET_RESPONSE, 'bytes': 8}
    yield 'get-bytes-response', PACKET | {'command': GET_BYTES_RESPONSE, 'bytes': 121}
    yield 'lock', PACKET | {'command': LOCK, 'bytes': 1, 'word2': 1023,
                            'word1': word((31, 0, -1), (63, 32, 5))}
    yield 'lock-response', PACKET | {'command': LOCK_RESPONSE, 'bytes': 1, 'word2': 0,
                                     'word1': word((23, 0, 1023), (31, 24, 1), (63, 32, 4))}
    yield 'notification', PACKET | {'command': NOTIFICATION, 'bytes': 1, 'word2': 0xff,
                                    'word1': (1 << 64) - 1}
    yield 'immediate', PACKET | {'command': IMMEDIATE, 'bytes': 8, 'word2': (1 << 64) - 1}
    yield 'refused', PACKET | {'command': REFUSED, 'word2': word((2, 0, 3), (7, 4, GET))}
    zero = dict.fromkeys(PACKET, 0) | {'command': GET, 'bytes': 1}
    for name, bits in (('notify', 3), ('src_vpid', 5), ('dst_vpid', 5), ('lines', 1),
                       ('irq', 1), ('physical', 1), ('src_node', 16), ('prot', 16),
                       ('word1', 52), ('word2', 52)):
        yield 'only-' + name.replace('_', '-'), zero | {name: (1 << bits) - 1}


def flit(f):
    head = word((3, 0, f['vc']), (4, 4, f['first']), (5, 5, f['last']), (23, 8, f['seq']),
                (31, 24, f['bytes'])).to_bytes(4, 'little')
    data = payload(f['bytes'])
    return head + zlib.crc32(head + data).to_bytes(4, 'little') + data


def flits():
    full = {'seq': 0x1234, 'vc': 0, 'bytes': 120, 'first': 1, 'last': 0}
    yield 'first', full
    yield 'middle', full | {'first': 0, 'vc': 1}
    yield 'last', full | {'first': 0, 'last': 1, 'bytes': 48}
    yield 'alone', full | {'last': 1, 'bytes': 72}
    yield 'least', full | {'last': 1, 'bytes': 8, 'seq': 0xffff}
    yield 'zero', {'seq': 0, 'vc': 0, 'bytes': 120, 'first': 0, 'last': 0}


# --- Routes and GATEs -------------------------------------------------------------

def route(characters):
    """Returns the string of CHARACTERS, each (output, hops in VC 0, hops in VC 1)."""
    return sum(word((3, 0, out), (9, 4, vc0), (15, 10, vc1)) << 16 * n
               for n, (out, vc0, vc1) in enumerate(characters))


def hops(characters):
    """Returns the outputs and virtual channels at the crossbars of the route CHARACTERS."""
    return [(out, vc) for out, *numbers in characters
            for vc, number in enumerate(numbers) for _ in range(number)]


ROUTES = {
    'loop-back': [(8, 1, 0)],
    'one-link': [(3, 1, 0), (9, 1, 0)],
    'dateline': [(0, 3, 2), (8, 0, 1)],
    'torus': [(1, 2, 0), (2, 0, 5), (5, 1, 1), (9, 1, 0)],
    'far': [(4, 63, 63), (1, 63, 63), (3, 63, 63), (8, 1, 0)],
}
GATES = {
    'usual': (0x123456789a, 5, 1, 1, 1),
    'read-only': (1, 31, 1, 0, 1),
    'write-only': (0xffffffffff, 0xffff, 0, 1, 1),
    'revoked': (0, 0, 0, 0, 0),
    'invalid': (7, 3, 1, 1, 0),
}


# --- C ---------------------------------------------------------------------------

def members(record):
    return ' '.join(f'.{k} = {v:#x},' if v >= 0 else f'.{k} = ({v}),'
                    for k, v in record.items())


def wrapped(text, indent):
    out, line = [], ''
    for part in text.split('\0'):
        if line and len(line) + len(part) > 70:
            out.append(line.rstrip())
            line = ''
        line += part + ' '
    return ('\n' + ' ' * indent).join(out + [line.rstrip()])


def table(name, declarations, rows):
    """Prints a table with one row for each of ROWS, lists of (member, text)."""
    print('static const struct {\n    const char *name;')
    print(''.join(f'    {d};\n' for d in declarations) + f'}} {name}[] = {{')
    for row in rows:
        print('    {')
        for member, text in row:
            print(f'        .{member} = {text},')
        print('    },')
    print('};')


def record(r):
    return '{\n            ' + wrapped(members(r).replace(', ', ',\0'), 12) + '\n        }'


def octets(data):
    return '{\n            ' + wrapped(''.join(f'0x{b:02x},\0' for b in data).strip('\0'),
                                       12) + '\n        }'


def quoted(name):
    return f'"{name}"'


def main():
    assert zlib.crc32(b'123456789') == 0xcbf43926
    print('/* SPDX-License-Identifier: GPL-2.0-or-later */\n'
          '/* Made by extoll-wire.py; payload byte n is (n + 1) & 0xff. */')
    for name in 'command', 'flit', 'gate', 'packet', 'route', 'velo':
        print(f'#include "hw/rnic/extoll/base/{name}.h"')
    path = route(ROUTES['torus'])
    print(f'#define VECTOR_ROUTE {path:#x}ULL')
    table('message_vectors',
          ['ExtollVeloMsg msg', 'uint32_t address', 'unsigned slots', 'uint8_t slot[128]',
           'unsigned length', 'uint8_t packet[80]'],
          [[('name', quoted(n)), ('msg', record(m)), ('address', f'{address(m):#x}'),
            ('slots', len(slots(m)) // 64), ('slot', octets(slots(m))),
            ('length', len(message_packet(path, m))),
            ('packet', octets(message_packet(path, m)))] for n, m in messages()])
    table('command_vectors', ['ExtollCommand cmd', 'uint32_t address', 'uint64_t desc[2]'],
          [[('name', quoted(n)), ('cmd', record(c)), ('address', f'{rma_address(c):#x}'),
            ('desc', '{ %#xULL, %#xULL }' % descriptor(c))] for n, c in commands()])
    table('notification_vectors', ['ExtollNotification noti', 'uint8_t bytes[16]'],
          [[('name', quoted(n)), ('noti', record(r)), ('bytes', octets(notification(r)))]
           for n, r in notifications()])
    table('packet_vectors', ['ExtollPacket pkt', 'unsigned length',
                             'uint8_t bytes[EXTOLL_PACKET_MAX]'],
          [[('name', quoted(n)), ('pkt', record(p)), ('length', len(packet(path, p))),
            ('bytes', octets(packet(path, p)))] for n, p in packets()])
    table('flit_vectors', ['ExtollFlit flit', 'unsigned length',
                           'uint8_t bytes[EXTOLL_FLIT_MAX]'],
          [[('name', quoted(n)), ('flit', record(f)), ('length', len(flit(f))),
            ('bytes', octets(flit(f)))] for n, f in flits()])
    table('route_vectors', ['unsigned characters', 'ExtollHops hops[4]', 'uint64_t route',
                            'unsigned steps', 'uint8_t outputs[400]', 'uint8_t vcs[400]'],
          [[('name', quoted(n)), ('characters', len(r)),
            ('hops', '{ ' + ' '.join('{ %d, { %d, %d } },' % c for c in r) + ' }'),
            ('route', f'{route(r):#x}ULL'), ('steps', len(hops(r))),
            ('outputs', octets([out for out, _ in hops(r)])),
            ('vcs', octets([vc for _, vc in hops(r)]))] for n, r in ROUTES.items()])
    table('gate_vectors', ['ExtollGate gate', 'uint64_t word'],
          [[('name', quoted(n)),
            ('gate', record({'page': page << 12, 'vpid': vpid, 'read': r, 'write': w,
                             'valid': v})),
            ('word', '%#xULL' % word((63, 48, vpid), (47, 8, page), (2, 2, w), (1, 1, r),
                                     (0, 0, v)))]
           for n, (page, vpid, r, w, v) in GATES.items()])


if __name__ == '__main__':
    main()

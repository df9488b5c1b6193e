#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Prints pvrdma-vectors.h: RoCE frames, byte by byte, and what they mean.

Independent of the C codec: headers are packed as the InfiniBand and RoCE formats
show them, and the ICRC is zlib's CRC-32.  The five packets of the document are
compared with what is made here.  Payload byte n of every vector is n & 0xff.
"""

import struct
import textwrap
import zlib

# Extended headers of each opcode, and whether it may have a payload.
OPCODES = {
    0x00: ("SEND_FIRST", "", True),
    0x01: ("SEND_MIDDLE", "", True),
    0x02: ("SEND_LAST", "", True),
    0x03: ("SEND_LAST_IMM", "imm", True),
    0x04: ("SEND_ONLY", "", True),
    0x05: ("SEND_ONLY_IMM", "imm", True),
    0x06: ("WRITE_FIRST", "reth", True),
    0x07: ("WRITE_MIDDLE", "", True),
    0x08: ("WRITE_LAST", "", True),
    0x09: ("WRITE_LAST_IMM", "imm", True),
    0x0a: ("WRITE_ONLY", "reth", True),
    0x0b: ("WRITE_ONLY_IMM", "reth imm", True),
    0x0c: ("READ_REQUEST", "reth", False),
    0x0d: ("READ_RESP_FIRST", "aeth", True),
    0x0e: ("READ_RESP_MIDDLE", "", True),
    0x0f: ("READ_RESP_LAST", "aeth", True),
    0x10: ("READ_RESP_ONLY", "aeth", True),
    0x11: ("ACK", "aeth", False),
    0x12: ("ATOMIC_ACK", "aeth atomicack", False),
    0x13: ("COMPARE_SWAP", "atomic", False),
    0x14: ("FETCH_ADD", "atomic", False),
    0x16: ("SEND_LAST_INV", "ieth", True),
    0x17: ("SEND_ONLY_INV", "ieth", True),
    0x64: ("UD_SEND_ONLY", "deth", True),
    0x65: ("UD_SEND_ONLY_IMM", "deth imm", True),
    0x81: ("CNP", "", True),
}

EXTENDED = {
    "reth": lambda p: struct.pack(">QII", p["va"], p["rkey"], p["dma_len"]),
    "aeth": lambda p: struct.pack(">I", p["syndrome"] << 24 | p["msn"]),
    "atomic": lambda p: struct.pack(">QIQQ", p["va"], p["rkey"],
                                    p["swap_add"], p["compare"]),
    "atomicack": lambda p: struct.pack(">Q", p["original"]),
    "deth": lambda p: struct.pack(">II", p["qkey"], p["src_qpn"]),
    "imm": lambda p: struct.pack(">I", p["imm"]),
    "ieth": lambda p: struct.pack(">I", p["inv_rkey"]),
}

# Members of a packet by header.
MEMBERS = {
    "reth": ("va", "rkey", "dma_len"), "aeth": ("syndrome", "msn"),
    "atomic": ("va", "rkey", "swap_add", "compare"),
    "atomicack": ("original",), "deth": ("qkey", "src_qpn"),
    "imm": ("imm",), "ieth": ("inv_rkey",),
}


def transport(p):
    """Returns the bytes from BTH to padding, without the ICRC."""
    _, headers, _ = OPCODES[p["opcode"]]
    payload = bytes(n & 0xff for n in range(p["payload_len"]))
    pad = -len(payload) % 4
    bth = struct.pack(
        ">BBHII", p["opcode"], p["solicited"] << 7 | pad << 4, p["pkey"],
        p["fecn"] << 31 | p["becn"] << 30 | p["qpn"],
        p["ack_req"] << 31 | p["psn"])
    extended = b"".join(EXTENDED[name](p) for name in headers.split())
    return bth + extended + payload + bytes(pad)


def checksum(header):
    total = sum(struct.unpack(">%dH" % (len(header) // 2), header))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return total ^ 0xffff


def ipv4(path, length):
    header = struct.pack(">BBHHHBBH", 0x45, path["traffic_class"], 20 + length,
                         0, 0, path["hop_limit"], 17, 0)
    header += path["sgid"][12:] + path["dgid"][12:]
    return header[:10] + struct.pack(">H", checksum(header)) + header[12:]


def ipv6(path, length, following):
    return struct.pack(">IHBB", 6 << 28 | path["traffic_class"] << 20 |
                       path["flow_label"], length, following,
                       path["hop_limit"]) + path["sgid"] + path["dgid"]


def masked(data, *places):
    data = bytearray(data)
    for at in places:
        data[at] = 0xff
    return bytes(data)


def network(path, body):
    """Returns the headers before the BTH, and the same with the bytes that the ICRC
    masks."""
    length = len(body) + 4
    udp = struct.pack(">HHHH", path["sport"], 4791, length + 8, 0)
    if path["network"] == 1:
        header = ipv4(path, length + 8) + udp
        return header, masked(header, 1, 8, 10, 11, 26, 27)
    if path["network"] == 2:
        header = ipv6(path, length + 8, 17) + udp
        seen = masked(header, 1, 2, 3, 7, 46, 47)
    else:
        header = ipv6(path, length, 0x1b)
        seen = masked(header, 1, 2, 3, 7)
    return header, bytes([header[0] | 0x0f]) + seen[1:]


def frame(path, p):
    body = transport(p)
    header, seen = network(path, body)
    icrc = zlib.crc32(b"\xff" * 8 + seen + masked(body, 4))
    ethernet = path["dmac"] + path["smac"]
    if path["vlan"] != 0xffff:
        ethernet += struct.pack(">HH", 0x8100, path["vlan"])
    ethernet += struct.pack(">H", (0x8915, 0x0800, 0x86dd)[path["network"]])
    return ethernet + header + body + struct.pack("<I", icrc)


def mapped(address):
    return bytes(10) + b"\xff\xff" + struct.pack(">I", address)


MAC_A = bytes.fromhex("525400123456")
MAC_B = bytes.fromhex("52540065432f")
V6_A = bytes.fromhex("fe80000000000000505400fffe123456")
V6_B = bytes.fromhex("fd000000000000000000000000000b0b")
PATH = dict(smac=MAC_A, dmac=MAC_B, sgid=mapped(0x0b01d4e0),
            dgid=mapped(0x0b01d4e1), flow_label=0, vlan=0xffff, sport=4791,
            network=1, traffic_class=0, hop_limit=64)
BACK = dict(PATH, smac=MAC_B, dmac=MAC_A, sgid=PATH["dgid"],
            dgid=PATH["sgid"])
PATHS = (
    dict(PATH, network=0, sgid=V6_A, dgid=V6_B, sport=0, flow_label=0x12345),
    dict(PATH, sport=0xc123, traffic_class=0x6a, hop_limit=63),
    dict(PATH, network=2, sgid=V6_A, dgid=V6_B, sport=0xffee, hop_limit=1,
         traffic_class=0xa5, flow_label=0xfedcb),
)
ZERO = dict.fromkeys("""opcode solicited ack_req fecn becn pkey qpn psn va rkey
    dma_len swap_add compare original syndrome msn qkey src_qpn imm inv_rkey
    payload_len""".split(), 0)
FULL = dict(ZERO, pkey=0xffff, qpn=0x123456, psn=0xfedcba, ack_req=1,
            va=0x1122334455667788, rkey=0x99aabbcc, dma_len=0x80000000,
            swap_add=0x0102030405060708, compare=0x8090a0b0c0d0e0f0,
            original=0xfedcba9876543210, syndrome=0x1f, msn=0xabcdef,
            qkey=0x80010000, src_qpn=0x654321, imm=0xcafef00d,
            inv_rkey=0x5a5aa5a5)
WIDTH = dict(solicited=1, ack_req=1, fecn=1, becn=1, pkey=16, qpn=24, psn=24)
EXTENDED_WIDTH = dict(va=64, rkey=32, dma_len=32, swap_add=64, compare=64,
                      original=64, syndrome=8, msn=24, qkey=32, src_qpn=24,
                      imm=32, inv_rkey=32)

PAYLOAD = bytes(range(64)).hex()
REQUEST = dict(ZERO, pkey=0xffff, qpn=0x100000, ack_req=1, dma_len=64)
RESPONSE = dict(ZERO, pkey=0xffff, syndrome=0x1f)
DOCUMENT = (
    ("v1", PATH, dict(REQUEST, opcode=0x0c, psn=0x200000), """
     45 00 00 3c 00 00 00 00 40 11 ba ed 0b 01 d4 e0
     0b 01 d4 e1 12 b7 12 b7 00 28 00 00 0c 00 ff ff
     00 10 00 00 80 20 00 00 00 00 00 00 00 00 00 00
     00 00 00 00 00 00 00 40 84 be da 43"""),
    ("v2", BACK, dict(RESPONSE, opcode=0x10, psn=0x200000, msn=1,
                      payload_len=64), """
     45 00 00 70 00 00 00 00 40 11 ba b9 0b 01 d4 e1
     0b 01 d4 e0 12 b7 12 b7 00 5c 00 00 10 00 ff ff
     00 00 00 00 00 20 00 00 1f 00 00 01""" + PAYLOAD + "ac 97 6e c6"),
    ("v3", PATH, dict(REQUEST, opcode=0x0a, psn=0x200001, va=0x1000,
                      payload_len=64), """
     45 00 00 7c 00 00 00 00 40 11 ba ad 0b 01 d4 e0
     0b 01 d4 e1 12 b7 12 b7 00 68 00 00 0a 00 ff ff
     00 10 00 00 80 20 00 01 00 00 00 00 00 00 10 00
     00 00 00 00 00 00 00 40""" + PAYLOAD + "94 4e 37 6c"),
    ("v4", BACK, dict(RESPONSE, opcode=0x11, psn=0x200001, msn=2), """
     45 00 00 30 00 00 00 00 40 11 ba f9 0b 01 d4 e1
     0b 01 d4 e0 12 b7 12 b7 00 1c 00 00 11 00 ff ff
     00 00 00 00 00 20 00 01 1f 00 00 02 16 1e 6a bd"""),
    ("v5", BACK, dict(RESPONSE, opcode=0x11, psn=0x200002, msn=2,
                      syndrome=0x60), """
     45 00 00 30 00 00 00 00 40 11 ba f9 0b 01 d4 e1
     0b 01 d4 e0 12 b7 12 b7 00 1c 00 00 11 00 ff ff
     00 00 00 00 00 20 00 02 60 00 00 02 0c d4 96 c9"""),
)


def of_opcode(opcode, values, payload_len):
    """Returns a packet with VALUES in the members that OPCODE has, and 0 in the others.
    """
    _, headers, has_payload = OPCODES[opcode]
    p = dict(values, opcode=opcode,
             payload_len=payload_len if has_payload else 0)
    used = {m for name in headers.split() for m in MEMBERS[name]}
    for members in MEMBERS.values():
        for member in members:
            if member not in used:
                p[member] = 0
    return p


def vectors():
    for name, path, p, wire in DOCUMENT:
        assert frame(path, p)[14:] == bytes.fromhex(wire), name
        yield "document-" + name, path, p
    for i, (opcode, (name, _, _)) in enumerate(OPCODES.items()):
        # the network and the VLAN both change with each opcode
        path = dict(PATHS[i % 3], vlan=0xe123 if i % 2 else 0xffff)
        size = 16 if opcode == 0x81 else i % 9
        yield "opcode-" + name.lower(), path, of_opcode(opcode, FULL, size)
    for kind, path in zip(("v1", "ipv4", "ipv6"), PATHS):
        for size in (0, 1, 2, 3, 4):
            yield f"{kind}-size-{size}", path, of_opcode(0x04, FULL, size)
        yield kind + "-vlan-0", dict(path, vlan=0), of_opcode(0x64, FULL, 9)
    for name, width in WIDTH.items():
        yield "only-" + name, PATH, dict(ZERO, opcode=0x04,
                                         **{name: (1 << width) - 1})
    for name, width in EXTENDED_WIDTH.items():
        opcode = next(code for code, (_, headers, _) in OPCODES.items()
                      if any(name in MEMBERS[h] for h in headers.split()))
        yield "only-" + name, PATH, dict(ZERO, opcode=opcode,
                                         **{name: (1 << width) - 1})


def wrap(text, indent):
    for line in textwrap.wrap(text, 78 - indent):
        print(" " * indent + line.replace("\0", " "))


def member(name, value):
    if isinstance(value, bytes):
        return ".%s\0= { %s }," % (name, ", ".join("%#x" % b for b in value))
    if name == "imm":
        return ".imm\0=\0const_le32(%#x)," % int.from_bytes(
            value.to_bytes(4, "big"), "little")
    return ".%s\0=\0%#x," % (name, value)


def emit(name, path_name, path, p):
    wire = frame(path, p).hex()
    print("    {\n        .name = \"%s\",\n        .path = %s," %
          (name, path_name))
    wrap(".pkt\0=\0{ " + " ".join(member(*item) for item in p.items()
                                 if item[1] or item[0] == "opcode") + " },", 8)
    print("        .bytes =")
    for at in range(0, len(wire), 64):
        end = "," if at + 64 >= len(wire) else ""
        print("            \"%s\"%s" % (wire[at:at + 64], end))
    print("    },")


def emit_path(name, path):
    print("#define %s { \\" % name)
    for line in textwrap.wrap(" ".join(member(*item) for item in path.items()),
                              72):
        print("    " + line.replace("\0", " ") + " \\")
    print("}\n")


def main():
    print("/* SPDX-License-Identifier: GPL-2.0-or-later */\n"
          "/* Made by pvrdma-wire.py; payload byte n is n & 0xff. */")
    paths = []
    for _, path, _ in vectors():
        if path not in paths:
            paths.append(path)
            emit_path(f"PVRDMA_VECTOR_PATH_{len(paths) - 1}", path)
    print("static const struct {\n"
          "    const char *name;\n"
          "    RocePath path;\n"
          "    RocePacket pkt;\n"
          "    const char *bytes;      /* as hexadecimal digits */\n"
          "} pvrdma_vectors[] = {")
    for name, path, p in vectors():
        emit(name, f"PVRDMA_VECTOR_PATH_{paths.index(path)}", path, p)
    print("};")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Prints exanet-vectors.h: ExaNet packets, byte by byte, and what they mean.

Independent of the C codec: bit numbers are those of the packet tables of the
ExaNet description, words are integers, CRCs are computed bit by bit.
This script has its own packet types, and does not read EXANET_TYPES, because
it would then repeat an error of that list; the case vector-types compares them.
Payload byte n of every vector is (n + 1) & 0xff.
"""

import textwrap
import zlib


def crc(data, width, poly, value):
    """Returns the CRC of DATA: most significant bit first, without reflection."""
    top = 1 << (width - 1)
    for byte in data:
        value ^= byte << (width - 8)
        for _ in range(8):
            value = (value << 1) ^ (poly if value & top else 0)
            value &= (1 << width) - 1
    return value


def field(hi, lo, value):
    assert 0 <= value < 1 << (hi - lo + 1), (hi, lo, value)
    return value << lo


# Fields that switches rewrite, by packet type: hops and path.  The VC is at [4:0].
REWRITTEN = {10: [(95, 90), (111, 109)], 18: [(53, 48)]}


def with_header_crc(word):
    plain = word & ~field(4, 0, 31)
    for hi, lo in REWRITTEN.get(word >> 43 & 31, [(111, 109)]):
        plain &= ~field(hi, lo, (1 << (hi - lo + 1)) - 1)
    check = crc(plain.to_bytes(16, "little")[:14], 16, 0x1021, 0xffff)
    return word | field(127, 112, check)


def payload(size):
    return bytes((n + 1) & 0xff for n in range(size))


def data_packet(p):
    lanes = bytes(p["va"] % 16) + payload(p["size"])
    lanes += bytes(-len(lanes) % 16)
    if p["size"] == 0 or p["type"] == 3:    # the size of a load is that of its response
        lanes = b""
    return around(p, lanes)


def around(p, lanes):
    """Returns the words LANES with header and footer of packet P around them."""
    header = with_header_crc(
        field(4, 0, p["vc"]) | field(20, 5, p["pdid"]) |
        field(42, 21, p["dst"]) | field(47, 43, p["type"]) |
        field(61, 48, p["size"]) | field(103, 62, p["va"]) |
        field(104, 104, p.get("no_crc", 0)) | field(111, 109, p["path"]))
    footer = (
        field(13, 0, p["tid"]) | field(35, 14, p["src"]) |
        field(43, 36, p["epoch"]) | field(44, 44, p["first"]) |
        field(45, 45, p["last"]) | field(46, 46, p["notify"]) |
        field(60, 47, p["seq"]) | field(87, 76, p["user"]))
    footer |= field(95, 88, crc(footer.to_bytes(16, "little")[:11],
                                8, 0x07, 0))
    footer |= field(75, 61, p["ttl"])
    if not p.get("no_crc"):
        footer |= field(127, 96, zlib.crc32(lanes))
    return header.to_bytes(16, "little") + lanes + footer.to_bytes(16, "little")


def run(p):
    """Returns the bytes of a run of P["packets"] packets, the first of which is P."""
    word = with_header_crc(field(4, 0, p["vc"]) | field(47, 43, 31) |
                           field(54, 48, p["packets"]))
    return word.to_bytes(16, "little") + around(p, payload(256 * p["packets"]))


def ack_packet(p):
    return with_header_crc(
        field(4, 0, p["vc"]) | field(8, 5, p["pdid"]) |
        field(20, 9, p["seq"]) | field(42, 21, p["dst"]) |
        field(47, 43, 10) | field(71, 62, p["small"]) |
        field(85, 72, p["tid"]) | field(89, 86, p["resp"]) |
        field(95, 90, p.get("hops", 0)) | field(103, 96, p.get("epoch", 0)) |
        field(111, 109, p.get("path", 0))
    ).to_bytes(16, "little")


def flow_rate_packet(p):
    return with_header_crc(
        field(4, 0, p["vc"]) | field(20, 5, p["pdid"]) |
        field(42, 21, p["dst"]) | field(47, 43, 18) |
        field(53, 48, p["hops"]) | field(71, 62, p["small"]) |
        field(93, 72, p["flow_dst"]) | field(101, 94, p["current"]) |
        field(109, 102, p["desired"])
    ).to_bytes(16, "little")


def packet(p):
    """Returns the bytes of packet P, of any type."""
    if p["type"] == 10:
        return ack_packet(p)
    if p["type"] == 18:
        return flow_rate_packet(p)
    return data_packet(p)


BASE = dict(va=0x1234567895, dst=0x17021, src=0x15000, pdid=0x0a43, size=20,
            tid=0x1005, seq=3, user=0, ttl=0x7fff, type=0, vc=0, path=0,
            epoch=0xff, first=1, last=1, notify=0)
ACK = dict(type=10, dst=0x15000, pdid=2, tid=0x1005, seq=3, resp=0, small=0,
           vc=0)
RELEASE = dict(BASE, type=7, va=0x38000000000 + (4 << 32), size=0, first=0,
               last=0)
LOAD = dict(BASE, type=3, size=8, tid=0x1041, user=0x30, last=0)
STORE = dict(BASE, type=9, tid=0x0042, seq=0x3fff, last=0)
RESPONSE = dict(STORE, type=11, va=0x38000000000 + (6 << 32) + 0x95, size=0,
                dst=0x15000, src=0x17021, user=0x36, first=0)
FLOW_RATE = dict(type=18, dst=0x15000, pdid=0x0a42, small=5 << 3,
                 flow_dst=0x17021, hops=2, current=0x5a, desired=0x33, vc=1)
ZERO = dict(va=0, dst=0, src=0, pdid=0, size=1, tid=0, seq=0, user=0, ttl=0,
            type=0, vc=0, path=0, epoch=0, first=0, last=0, notify=0)
WIDTH = dict(va=42, dst=22, src=22, pdid=16, tid=14, seq=14, user=12, ttl=15,
             vc=5, path=3, epoch=8, first=1, last=1, notify=1)
ACK_WIDTH = dict(dst=22, pdid=4, tid=14, seq=12, resp=4, small=10, vc=5)
ACK_NEW_WIDTH = dict(hops=6, epoch=8, path=3)
FLOW_RATE_WIDTH = dict(dst=22, pdid=16, small=10, flow_dst=22, hops=6,
                       current=8, desired=8, vc=5)


def vectors():
    yield "document", BASE
    yield "document-vc3-path5", dict(BASE, vc=3, path=5)
    yield "document-ack", ACK
    yield "no-crc", dict(BASE, no_crc=1)
    for name, width in WIDTH.items():
        yield "only-" + name, dict(ZERO, **{name: (1 << width) - 1})
    for kind in (1, 2, 6):
        yield f"type-{kind}", dict(BASE, type=kind)
    for size, va in ((1, 0xf), (15, 1), (16, 0), (17, 0xff), (255, 1),
                     (256, 0)):
        va += 0x3f00 if size != 17 else 0x3f00 - 17
        yield f"size-{size}", dict(BASE, size=size, va=va)
    for name, width in ACK_WIDTH.items():
        zero = dict.fromkeys(ACK, 0) | dict(type=10)
        yield "ack-only-" + name, dict(zero, **{name: (1 << width) - 1})
    yield "ack-far", dict(ACK, hops=5, epoch=0x81, path=6, vc=2)
    for name, width in ACK_NEW_WIDTH.items():
        yield "ack-only-" + name, dict(zero, **{name: (1 << width) - 1})
    yield "release", RELEASE
    yield "release-vc1-path7", dict(RELEASE, vc=1, path=7, ttl=0x7ffb)
    for name, p in (("load", LOAD), ("store", STORE), ("response", RESPONSE)):
        yield name, p
    yield "response-data", dict(RESPONSE, size=20, user=0, vc=2, path=6,
                                ttl=0x7ffe)
    for name, p, size, va in (("load", LOAD, 107, 0x95),
                              ("store", STORE, 1, 0x9f),
                              ("store", STORE, 256, 0),
                              ("response", RESPONSE, 17, 0x9f)):
        yield f"{name}-size-{size}", dict(p, size=size,
                                          va=va | p["va"] & ~0xff)
    yield "flow-rate", FLOW_RATE
    for name, width in FLOW_RATE_WIDTH.items():
        zero = dict.fromkeys(FLOW_RATE, 0) | dict(type=18)
        yield "flow-rate-only-" + name, dict(zero,
                                             **{name: (1 << width) - 1})


def runs():
    full = dict(BASE, va=0x1234567000, size=256, first=0, last=0)
    yield "two", dict(full, packets=2)
    yield "first", dict(full, packets=3, first=1, vc=3, path=5)
    yield "last", dict(full, packets=2, last=1, notify=1, ttl=0x1234)
    yield "no-crc", dict(full, packets=3, first=1, no_crc=1)
    yield "end-of-block", dict(full, packets=2, va=0x1234567e00, last=1)
    yield "whole", dict(full, packets=64, va=0x1234568000, first=1, last=1)


def emit(name, p, wire):
    print("    {\n        .name = \"%s\",\n        .pkt = {" % name)
    values = " ".join(".%s\0=\0%#x," % item for item in p.items())
    for line in textwrap.wrap(values, 68):
        print("            " + line.replace("\0", " "))
    print("        },\n        .words = %d,\n        .bytes = {" %
          (len(wire) // 16))
    for at in range(0, len(wire), 8):
        print("            " + " ".join("0x%02x," % b
                                       for b in wire[at:at + 8]))
    print("        },\n    },")


def main():
    assert crc(b"123456789", 16, 0x1021, 0xffff) == 0x29b1
    assert crc(b"123456789", 8, 0x07, 0) == 0xf4
    print("/* SPDX-License-Identifier: GPL-2.0-or-later */\n"
          "/* Made by exanet-wire.py; payload byte n is (n + 1) & 0xff. */\n"
          "static const struct {\n"
          "    const char *name;\n"
          "    ExanetPacket pkt;\n"
          "    unsigned words;\n"
          "    uint8_t bytes[EXANET_PACKET_BYTES];\n"
          "} exanet_vectors[] = {")
    for name, p in vectors():
        emit(name, p, packet(p))
    print("};\n"
          "/* .pkt is the first packet, but .last is that of the last packet */\n"
          "static const struct {\n"
          "    const char *name;\n"
          "    ExanetPacket pkt;\n"
          "    unsigned words;\n"
          "    uint8_t bytes[(EXANET_RUN_MAX * 16 + 3) * EXANET_WORD_BYTES];\n"
          "} exanet_run_vectors[] = {")
    for name, p in runs():
        emit(name, p, run(p))
    print("};")


if __name__ == "__main__":
    main()

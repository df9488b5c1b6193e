-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Wireshark dissector of the ExaNet cable: link frames of EtherType 0x88b5, the
-- packets and runs of packets in frames, and the blocks of which packets are pieces.
--
--   tshark -X lua_script:exanet.lua -r cable.pcap -V
--
-- or copy this file into the folder of personal Lua plugins (Help, About, Folders). QEMU
-- writes a capture with -object filter-dump,id=f0,netdev=link0,file=cable.pcap,
-- maxlen=131072. This maxlen exceeds the length of any frame of a netdev, so QEMU captures
-- whole frames.
--
-- Filter names: exanet.link.* for the frame, exanet.* for packets, exanet.block.*
-- for reassembled blocks. No content of a frame may raise a Lua error: all bytes come
-- from one string, and each length is compared with the length of the string first.

local N, E, F, FORM, GROUP = {}, {}, {}, {}, {}
-- { made by from-headers
N.WORD_BYTES = 16
N.MTU = 256
N.BLOCK_BYTES = 0x4000
N.WINDOW_NI = 7
N.HDR_CRC_BYTES = 14
N.FTR_CRC_BYTES = 11
N.MAC_PREFIX = 0x24558
N.TTL_MAX = 0x7fff
N.RATE_UNIT_KBPS = 64
N.ACK_SEQ_BITS = 12
N.READ_REQ_USER_BYTES = 48
N.RUN_TYPE = 31
N.RUN_MAX = 64
N.RUN_EXTRA = 3
N.HELLO_RUNS = 2
N.HELLO_NO_CRC = 4
E.ni_index = {
    NI_RT_RESPONSE = 0,
    NI_RT_REQUEST = 1,
    NI_MAILBOX = 2,
    NI_PACKETIZER = 3,
    NI_RECEIVER = 4,
    NI_EXADMA = 5,
    NI_SHM = 6,
    NI_BRAM = 7,
}
E.type = {
    TYPE_WRITE = 0,
    TYPE_READ_REQ = 1,
    TYPE_CONTROL = 2,
    TYPE_AXI_READ = 3,
    TYPE_NOTIFY = 6,
    TYPE_RELEASE = 7,
    TYPE_AXI_WRITE = 9,
    TYPE_ACK = 10,
    TYPE_AXI_RESPONSE = 11,
    TYPE_FLOW_RATE = 18,
}
E.resp = {
    RESP_ACK = 0,
    RESP_CRC = 1,
    RESP_FAULT = 2,
    RESP_NO_CONTEXT = 3,
    RESP_DECODE = 4,
    RESP_PROTECTION = 5,
    RESP_FULL = 6,
    RESP_RESOLVED = 7,
    RESP_MALFORMED = 8,
}
E.axi_master = {
    AXI_CPU = 0,
    AXI_TGEN = 1,
    AXI_CDMA = 2,
    AXI_ACCEL = 3,
}
E.shm_class = {
    SHM_STORE = 0,
    SHM_LOAD = 1,
    SHM_RDMA_WRITE = 2,
    SHM_RDMA_READ = 3,
    SHM_CLASSES = 4,
}
N.ETHERTYPE = 0x88b5
N.LINK_VERSION = 1
N.HELLO_HEARD = 1
E.link_kind = {
    LINK_DATA = 0,
    LINK_HELLO = 1,
    LINK_XOFF = 2,
    LINK_XON = 3,
    LINK_DOWN = 5,
}
E.link_family = {
    LINK_EXANET = 0,
    LINK_EXTOLL = 1,
}
FORM[E.type.TYPE_WRITE] = "PAYLOAD"
GROUP[E.type.TYPE_WRITE] = "RDMA"
FORM[E.type.TYPE_READ_REQ] = "PAYLOAD"
GROUP[E.type.TYPE_READ_REQ] = "RDMA"
FORM[E.type.TYPE_CONTROL] = "PAYLOAD"
GROUP[E.type.TYPE_CONTROL] = "RDMA"
FORM[E.type.TYPE_AXI_READ] = "REQUEST"
GROUP[E.type.TYPE_AXI_READ] = "AXI"
FORM[E.type.TYPE_NOTIFY] = "PAYLOAD"
GROUP[E.type.TYPE_NOTIFY] = "RDMA"
FORM[E.type.TYPE_RELEASE] = "EMPTY"
GROUP[E.type.TYPE_RELEASE] = "NET"
FORM[E.type.TYPE_AXI_WRITE] = "PAYLOAD"
GROUP[E.type.TYPE_AXI_WRITE] = "AXI"
FORM[E.type.TYPE_ACK] = "HEADER"
GROUP[E.type.TYPE_ACK] = "RDMA"
FORM[E.type.TYPE_AXI_RESPONSE] = "OPTIONAL"
GROUP[E.type.TYPE_AXI_RESPONSE] = "AXI"
FORM[E.type.TYPE_FLOW_RATE] = "RATES"
GROUP[E.type.TYPE_FLOW_RATE] = "NET"
F.COORD = { 21, 0 }
F.COORD_UPPER = { 21, 14 }
F.COORD_OFFSET = { 13, 12 }
F.COORD_Z = { 11, 8 }
F.COORD_Y = { 7, 4 }
F.COORD_X = { 3, 0 }
F.PDID_JOB = { 15, 4 }
F.PDID_CTX = { 3, 0 }
F.GVA_COORD = { 63, 42 }
F.GVA_VA = { 41, 0 }
F.VA_WINDOW = { 41, 39 }
F.VA_OFFSET = { 38, 0 }
F.VA_NI_INDEX = { 38, 32 }
F.VA_MAILBOX = { 7, 4 }
F.VC_DATELINE = { 0, 0 }
F.VC_ORDER = { 1, 1 }
F.PATH_CABLE = { 1, 0 }
F.PATH_ORDER = { 2, 2 }
F.HDR_LO_VC = { 4, 0 }
F.HDR_LO_PDID = { 20, 5 }
F.HDR_LO_COORD = { 42, 21 }
F.HDR_LO_TYPE = { 47, 43 }
F.HDR_LO_SIZE = { 61, 48 }
F.HDR_LO_VA_1_0 = { 63, 62 }
F.HDR_HI_VA_41_2 = { 39, 0 }
F.HDR_HI_NO_CRC = { 40, 40 }
F.HDR_HI_RESERVED = { 44, 41 }
F.HDR_HI_PATH = { 47, 45 }
F.HDR_HI_CRC = { 63, 48 }
F.ACK_LO_PDID_CTX = { 8, 5 }
F.ACK_LO_SEQ = { 20, 9 }
F.ACK_LO_SMALL_1_0 = { 63, 62 }
F.ACK_HI_SMALL_9_2 = { 7, 0 }
F.ACK_HI_TID = { 21, 8 }
F.ACK_HI_RESP = { 25, 22 }
F.ACK_HI_HOPS = { 31, 26 }
F.ACK_HI_EPOCH = { 39, 32 }
F.ACK_HI_RESERVED = { 44, 40 }
F.SMALL_INDEX = { 9, 3 }
F.SMALL_SUB = { 2, 0 }
F.FLOW_LO_HOPS = { 53, 48 }
F.FLOW_LO_ID = { 61, 54 }
F.FLOW_LO_SMALL_1_0 = { 63, 62 }
F.FLOW_HI_SMALL_9_2 = { 7, 0 }
F.FLOW_HI_DST = { 29, 8 }
F.FLOW_HI_CURRENT = { 37, 30 }
F.FLOW_HI_DESIRED = { 45, 38 }
F.FLOW_HI_FLAG = { 47, 46 }
F.RATE_EXPONENT = { 7, 4 }
F.RATE_MANTISSA = { 3, 0 }
F.RUN_LO_PACKETS = { 54, 48 }
F.FTR_LO_TID = { 13, 0 }
F.FTR_LO_SRC = { 35, 14 }
F.FTR_LO_EPOCH = { 43, 36 }
F.FTR_LO_FIRST = { 44, 44 }
F.FTR_LO_LAST = { 45, 45 }
F.FTR_LO_NOTIFY = { 46, 46 }
F.FTR_LO_SEQ = { 60, 47 }
F.FTR_LO_TTL_2_0 = { 63, 61 }
F.FTR_HI_TTL_14_3 = { 11, 0 }
F.FTR_HI_USER = { 23, 12 }
F.FTR_HI_CRC = { 31, 24 }
F.FTR_HI_PAY_CRC = { 63, 32 }
F.FTR_USER_SMALL = { 9, 0 }
F.TID_INDEX = { 9, 0 }
F.TID_GEN = { 13, 10 }
F.PTID_CHANNEL = { 3, 0 }
F.PTID_CTX = { 7, 4 }
F.PTID_GEN = { 13, 8 }
F.STID_CLASS = { 13, 12 }
F.STID_SLOT = { 11, 6 }
F.STID_ID = { 5, 0 }
F.AXI_ID_MASTER = { 5, 4 }
F.AXI_ID_NUMBER = { 3, 0 }
F.SHM_USER_RESP = { 3, 0 }
F.SHM_USER_RETRIES = { 7, 4 }
F.SHM_USER_JOINED = { 8, 8 }
F.CONTROL_LENGTH = { 31, 0 }
F.CONTROL_HANDLE = { 47, 32 }
F.CONTROL_IRQ = { 48, 48 }
F.CONTROL_OFFSET = { 13, 0 }
F.CONTROL_BLOCK = { 28, 14 }
F.CONTROL_PDID = { 44, 29 }
F.NOTIFICATION_LENGTH = { 31, 0 }
F.NOTIFICATION_HANDLE = { 47, 32 }
F.NOTIFICATION_STATUS = { 51, 48 }
F.NOTIFICATION_VALID = { 63, 63 }
F.READ_REQ_LENGTH = { 31, 0 }
F.READ_REQ_OWNER = { 35, 32 }
F.READ_REQ_NOTIFY = { 36, 36 }
F.READ_REQ_IRQ = { 37, 37 }
-- } made by from-headers

local LINK_BYTES, HELLO_BYTES = 10, 16      -- length of the link header and of a HELLO
local INFO_GROUPS = 4                       -- maximal number of groups of packets_text()

-- Returns { value = name } of @enum. Each name lacks @prefix, with which it begins in @enum.
local function names(enum, prefix)
    local by_value = {}
    for key, value in pairs(enum) do
        by_value[value] = key:sub(#prefix + 1)
    end
    return by_value
end

local TYPE = names(E.type, "TYPE_")
local RESP = names(E.resp, "RESP_")
local NI = names(E.ni_index, "NI_")
local KIND = names(E.link_kind, "LINK_")
local FAMILY = names(E.link_family, "LINK_")
local CLASS = names(E.shm_class, "SHM_")
local MASTER = names(E.axi_master, "AXI_")
local STATUS = { [0] = "Bad", [1] = "Good" }
local T = E.type
TYPE[N.RUN_TYPE] = "RUN"

-- --- Fields -------------------------------------------------------------------

local exanet = Proto("exanet", "ExaNet")
local pf = {}       -- ProtoFields, by their names without the prefix "exanet."

local function number(ctor, name, label, how, strings)
    pf[name] = ProtoField[ctor]("exanet." .. name, label, how or base.DEC, strings)
end

local function plain(ctor, name, label, ...)
    pf[name] = ProtoField[ctor]("exanet." .. name, label, ...)
end

plain("none", "link", "ExaNet link")
number("uint8", "link.version", "Version")
number("uint8", "link.kind", "Kind", base.DEC, KIND)
number("uint8", "link.vc", "Virtual channel")
number("uint8", "link.family", "Family", base.DEC, FAMILY)
number("uint16", "link.count", "128-bit words")
number("uint32", "link.seq", "Sequence number")
number("uint24", "link.src", "Sender", base.HEX)
number("uint32", "link.lost", "Frames missing before this one")
number("uint24", "hello.coord", "Coordinates", base.HEX)
number("uint8", "hello.epoch", "Epoch", base.HEX)
number("uint8", "hello.flags", "Flags", base.HEX)
plain("bool", "hello.heard", "Heard the receiver's HELLO")
plain("bool", "hello.runs", "Accepts runs")
plain("bool", "hello.no_crc", "Accepts packets without a payload CRC")
number("uint8", "hello.peer_epoch", "Epoch of the receiver", base.HEX)
number("uint8", "hello.reserved", "Reserved", base.HEX)
number("uint32", "hello.rx_words", "Words of the receive FIFO")
number("uint32", "hello.max_words", "Longest frame taken, in words")

plain("none", "run", "Run")
number("uint8", "run.vc", "Virtual channel")
number("uint8", "run.type", "Type", base.DEC, TYPE)
number("uint8", "run.packets", "Packets")
number("uint16", "run.crc", "Run word CRC-16", base.HEX)
number("uint8", "run.crc.status", "Run word CRC status", base.DEC, STATUS)
plain("none", "packet", "Packet")
plain("none", "header", "Header")
plain("none", "footer", "Footer")
number("uint8", "vc", "Virtual channel")
number("uint16", "pdid", "PDID", base.HEX)
number("uint16", "pdid.job", "Job")
number("uint8", "pdid.ctx", "Context")
number("uint24", "dst", "Destination", base.HEX)
number("uint24", "src", "Source", base.HEX)
number("uint8", "coord.x", "X")
number("uint8", "coord.y", "Y")
number("uint8", "coord.z", "Z")
number("uint8", "coord.offset", "FPGA of the QFDB, from 0")
number("uint8", "coord.upper", "Upper bits")
number("uint8", "type", "Type", base.DEC, TYPE)
number("uint16", "size", "Payload bytes")
number("uint64", "va", "Virtual address", base.HEX)
number("uint8", "va.window", "Window")
number("uint8", "va.ni_index", "NI index", base.DEC, NI)
number("uint8", "va.mailbox", "Mailbox")
number("uint8", "reserved", "Reserved", base.HEX)
plain("bool", "no_crc", "No payload CRC")
number("uint8", "path", "Path")
number("uint16", "header.crc", "Header CRC-16", base.HEX)
number("uint8", "header.crc.status", "Header CRC status", base.DEC, STATUS)
number("uint16", "small", "Small address", base.HEX)
number("uint8", "small.index", "NI index", base.DEC, NI)
number("uint8", "small.sub", "Sub-address")
number("uint16", "tid", "Wire TID", base.HEX)
number("uint16", "tid.index", "Transaction")
number("uint8", "tid.channel", "Packetizer channel")
number("uint8", "tid.ctx", "Sender's context")
number("uint8", "tid.gen", "Generation")
number("uint8", "tid.class", "Class", base.DEC, CLASS)
number("uint8", "tid.slot", "Slot")
number("uint8", "tid.axi_id", "AXI ID", base.HEX)
number("uint8", "tid.master", "AXI master", base.DEC, MASTER)
number("uint16", "seq", "Sequence")
number("uint8", "retries", "Retries")
number("uint8", "resp", "Response", base.DEC, RESP)
number("uint16", "hops", "Switches passed")
number("uint8", "epoch", "Epoch", base.HEX)
number("uint24", "flow.dst", "Flow goes to", base.HEX)
number("uint8", "flow.id", "Flow id [13:6]", base.HEX)
number("uint8", "flow.current", "Current rate, as coded", base.HEX)
number("uint64", "flow.current_kbps", "Current rate in kb/s")
number("uint8", "flow.desired", "Desired rate, as coded", base.HEX)
number("uint64", "flow.desired_kbps", "Desired rate in kb/s")
number("uint8", "flow.flag", "Flag", base.HEX)
plain("bool", "first", "First packet of the block")
plain("bool", "last", "Last packet of the block")
plain("bool", "notify", "Notification wanted")
number("uint16", "ttl", "TTL")
number("uint16", "user", "User bits", base.HEX)
number("uint8", "footer.crc", "Footer CRC-8", base.HEX)
number("uint8", "footer.crc.status", "Footer CRC status", base.DEC, STATUS)
plain("bytes", "payload", "Payload")
number("uint32", "payload.crc", "Payload CRC-32", base.HEX)
number("uint8", "payload.crc.status", "Payload CRC status", base.DEC, STATUS)

plain("none", "control", "Control")
number("uint64", "control.target", "Notification goes to (GVA)", base.HEX)
number("uint64", "control.data", "Notification data", base.HEX)
number("uint32", "control.length", "Bytes of the transfer")
number("uint16", "control.handle", "Handle", base.HEX)
plain("bool", "control.irq", "Raise an interrupt")
number("uint16", "control.offset", "Offset in the 16-KB window", base.HEX)
number("uint16", "control.block", "Bytes of the block")
number("uint16", "control.pdid", "PDID of the target", base.HEX)
plain("none", "notification", "Notification")
number("uint64", "notification.data", "Data", base.HEX)
number("uint32", "notification.length", "Bytes of the transfer")
number("uint16", "notification.handle", "Handle or error", base.HEX)
number("uint8", "notification.status", "Status")
plain("bool", "notification.valid", "Valid")
plain("none", "read", "Read request")
number("uint64", "read.src", "Read from (VA)", base.HEX)
number("uint64", "read.dst", "Write to (GVA)", base.HEX)
number("uint64", "read.notify_gva", "Notification goes to (GVA)", base.HEX)
number("uint32", "read.length", "Bytes")
number("uint8", "read.owner", "Context of the owner")
plain("bool", "read.notify", "Notify")
plain("bool", "read.irq", "Raise an interrupt")
number("uint64", "read.notify_data", "Notification data", base.HEX)
number("uint64", "read.tag", "Tag", base.HEX)

plain("framenum", "response_in", "Response in frame", base.NONE,
      frametype.RESPONSE)
plain("framenum", "response_to", "Response to frame", base.NONE,
      frametype.REQUEST)
plain("relative_time", "time", "Time since the packets that it answers")
plain("framenum", "copy_of", "Same packet as in frame", base.NONE,
      frametype.DUP_ACK)
plain("framenum", "released_in", "Given up in frame")
plain("framenum", "release_of", "Gives up what began in frame")
plain("none", "block", "ExaNet block")
plain("framenum", "block.in", "Block is complete in frame")
plain("framenum", "block.begin", "Begins in frame")
number("uint32", "block.length", "Length")
number("uint32", "block.packets", "Packets")
number("uint32", "block.missing", "Bytes missing")
plain("bool", "block.complete", "Complete")
plain("bytes", "block.data", "Data")

local field_list = {}
for _, field in pairs(pf) do
    field_list[#field_list + 1] = field
end
exanet.fields = field_list

local ex = {}
local function report(name, text, group, severity)
    ex[name] = ProtoExpert.new("exanet.expert." .. name, text,
                               expert.group[group], expert.severity[severity])
end
report("cut", "Frame is shorter than its header says", "MALFORMED", "ERROR")
report("snap", "The capture holds only a part of this frame", "UNDECODED", "WARN")
report("version", "Unknown version or kind of frame", "MALFORMED", "ERROR")
report("reserved", "Reserved bits are not zero", "PROTOCOL", "WARN")
report("lost", "Frames of this sender are missing", "SEQUENCE", "WARN")
report("header_crc", "Header CRC is wrong: the rest of the frame or run is lost",
       "CHECKSUM", "ERROR")
report("footer_crc", "Footer CRC is wrong", "CHECKSUM", "ERROR")
report("payload_crc", "Payload CRC is wrong", "CHECKSUM", "ERROR")
report("malformed", "Type and size make no packet, or the run is not valid",
       "MALFORMED", "ERROR")
report("vc", "Packet and frame name different virtual channels", "PROTOCOL",
       "WARN")
report("nack", "Negative response", "RESPONSE_CODE", "WARN")
report("retry", "Retransmission", "SEQUENCE", "NOTE")
report("copy", "The same packet again", "SEQUENCE", "NOTE")
report("incomplete", "Packets of the block are missing", "REASSEMBLE", "WARN")
report("overlap", "Packets of the block overlap", "REASSEMBLE", "WARN")
report("flow", "A crowded switch asks for a lower rate", "SEQUENCE", "NOTE")
report("stop", "The receiver stops or lets go a virtual channel", "SEQUENCE",
       "CHAT")
local expert_list = {}
for _, e in pairs(ex) do
    expert_list[#expert_list + 1] = e
end
exanet.experts = expert_list

exanet.prefs.payload_crc = Pref.bool("Check the CRC-32 of payloads", true,
    "Takes most of the time that long captures need")
exanet.prefs.blocks = Pref.bool("Reassemble blocks", true,
    "Keeps the payload of blocks in memory")

local interface_id = Field.new("frame.interface_id")

-- --- Bits ---------------------------------------------------------------------

local floor, min = math.floor, math.min
-- Lua 5.2 has a library for XOR. Later versions have an operator, which 5.2 cannot parse.
local bxor = bit32 and bit32.bxor or
             load("return function(a, b) return a ~ b end")()

-- Returns the little-endian 64-bit word at byte @at (from 0) of @s as a quad: a table of two
-- numbers, the low 32 bits and the high 32 bits.
local function quad(s, at)
    local a, b, c, d, e, f, g, h = s:byte(at + 1, at + 8)
    return { a + b * 0x100 + c * 0x10000 + d * 0x1000000,
             e + f * 0x100 + g * 0x10000 + h * 0x1000000 }
end

-- Returns field @f = { highest bit, lowest bit } of quad @q. The field has at most 53 bits.
local function get(q, f)
    local hi, lo = f[1], f[2]
    if lo >= 32 then
        return floor(q[2] / 2 ^ (lo - 32)) % 2 ^ (hi - lo + 1)
    elseif hi < 32 then
        return floor(q[1] / 2 ^ lo) % 2 ^ (hi - lo + 1)
    end
    return floor(q[1] / 2 ^ lo) + (q[2] % 2 ^ (hi - 31)) * 2 ^ (32 - lo)
end

local function flag(q, f)
    return get(q, f) ~= 0
end

-- Returns a copy of quad @q with 0 in field @f, which must be within one of the two 32-bit
-- numbers of @q.
local function without(q, f)
    local value, copy = get(q, f), { q[1], q[2] }
    local half = f[2] >= 32 and 2 or 1
    copy[half] = copy[half] - value * 2 ^ (f[2] % 32)
    return copy
end

-- Returns the number @value, below 2^53, as a UInt64, because a ProtoField of type uint64
-- accepts only this type.
local function wide(value)
    return UInt64.new(value % 2 ^ 32, floor(value / 2 ^ 32))
end

local function whole(q)
    return UInt64.new(q[1], q[2])
end

-- --- CRCs ---------------------------------------------------------------------

-- Returns { byte = CRC of this byte } for a CRC of @width bits with polynomial @poly. The CRC
-- processes the most significant bit of a byte first.
local function crc_table(width, poly)
    local made = {}
    for byte = 0, 255 do
        local crc = byte * 2 ^ (width - 8)
        for _ = 1, 8 do
            crc = crc * 2
            if crc >= 2 ^ width then
                crc = bxor(crc - 2 ^ width, poly)
            end
        end
        made[byte] = crc
    end
    return made
end

local function crc32_table()
    local made = {}
    for byte = 0, 255 do
        local crc = byte
        for _ = 1, 8 do
            local low = crc % 2
            crc = floor(crc / 2)
            crc = low == 1 and bxor(crc, 0xedb88320) or crc
        end
        made[byte] = crc
    end
    return made
end

local crc16, crc8, crc32 = crc_table(16, 0x1021), crc_table(8, 0x07),
                           crc32_table()

-- Returns byte @i (from 0, the lowest) of the 128-bit word of the quads @lo and @hi.
local function byte_of(lo, hi, i)
    local q = i < 8 and lo or hi
    return floor(q[floor(i / 4) % 2 + 1] / 2 ^ (8 * (i % 4))) % 256
end

-- Returns the CRC of the header that consists of quads @lo and @hi. Fields that switches change
-- count as zeros: see the comment on CRCs in wire.h.
local function header_crc(lo, hi)
    local kind = get(lo, F.HDR_LO_TYPE)
    lo = without(lo, F.HDR_LO_VC)
    if kind == T.TYPE_FLOW_RATE then
        lo = without(lo, F.FLOW_LO_HOPS)
    else
        hi = without(hi, F.HDR_HI_PATH)
        if kind == T.TYPE_ACK then
            hi = without(hi, F.ACK_HI_HOPS)
        end
    end
    local crc = 0xffff
    for i = 0, N.HDR_CRC_BYTES - 1 do
        local top = floor(crc / 256)
        crc = bxor(crc % 256 * 256, crc16[bxor(top, byte_of(lo, hi, i))])
    end
    return crc
end

local function footer_crc(lo, hi)
    local crc = 0
    lo = without(lo, F.FTR_LO_TTL_2_0)
    hi = without(hi, F.FTR_HI_TTL_14_3)
    for i = 0, N.FTR_CRC_BYTES - 1 do
        crc = crc8[bxor(crc, byte_of(lo, hi, i))]
    end
    return crc
end

local function payload_crc(s, at, len)
    local crc = 0xffffffff
    for i = at + 1, at + len do
        crc = bxor(crc32[bxor(crc % 256, s:byte(i))], floor(crc / 256))
    end
    return bxor(crc, 0xffffffff)
end

-- --- Packets ------------------------------------------------------------------

-- Sets of forms: HEADER_ONLY contains the forms of packets that have only a header, DATA those
-- of packets that may have a payload.
local HEADER_ONLY = { HEADER = true, RATES = true }
local DATA = { PAYLOAD = true, OPTIONAL = true }

-- Returns true if packets of type @type are loads or stores; false for their responses.
local function is_axi_request(type)
    return GROUP[type] == "AXI" and type ~= T.TYPE_AXI_RESPONSE
end

-- Returns the number of 128-bit payload words of packet @p, by the header of @p. The form of @p
-- is not in HEADER_ONLY. nil: type, size and address make no valid packet.
local function payload_words(p)
    local form = FORM[p.type]
    local fits = p.size > 0 and p.va % N.MTU + p.size <= N.MTU
    if p.size == 0 and (form == "EMPTY" or form == "OPTIONAL") or
       fits and form == "REQUEST" then
        return 0
    elseif fits and DATA[form] then
        return floor((p.va % N.WORD_BYTES + p.size + N.WORD_BYTES - 1) /
                     N.WORD_BYTES)
    end
    return nil
end

local function parse_ack(p)
    p.ctx = get(p.lo, F.ACK_LO_PDID_CTX)
    p.seq = get(p.lo, F.ACK_LO_SEQ)
    p.small = get(p.hi, F.ACK_HI_SMALL_9_2) * 4 +
              get(p.lo, F.ACK_LO_SMALL_1_0)
    p.tid = get(p.hi, F.ACK_HI_TID)
    p.resp = get(p.hi, F.ACK_HI_RESP)
end

-- Decodes the user bits in the footer of loads, stores and their responses.
local function parse_axi(p)
    p.retries = get({ p.user, 0 }, F.SHM_USER_RETRIES)
    p.retry = p.retries > 0
    if p.type == T.TYPE_AXI_RESPONSE then
        p.resp = get({ p.user, 0 }, F.SHM_USER_RESP)
    end
end

local function parse_footer(p, s, known)
    local at = p.at + p.bytes - N.WORD_BYTES
    local lo, hi = quad(s, at), quad(s, at + 8)
    p.footer, p.flo, p.fhi = at, lo, hi
    p.footer_ok = footer_crc(lo, hi) == get(hi, F.FTR_HI_CRC)
    p.tid, p.src = get(lo, F.FTR_LO_TID), get(lo, F.FTR_LO_SRC)
    p.epoch, p.seq = get(lo, F.FTR_LO_EPOCH), get(lo, F.FTR_LO_SEQ)
    p.first, p.last = flag(lo, F.FTR_LO_FIRST), flag(lo, F.FTR_LO_LAST)
    p.user = get(hi, F.FTR_HI_USER)
    p.small = get({ p.user, 0 }, F.FTR_USER_SMALL)
    p.axi = GROUP[p.type] == "AXI"
    if p.axi then
        parse_axi(p)
    else
        p.retry = p.seq > 0 and p.type ~= T.TYPE_RELEASE
    end
    p.data = p.at + N.WORD_BYTES + p.va % N.WORD_BYTES
    if known then
        p.payload_ok = known.payload_ok
    elseif exanet.prefs.payload_crc and not flag(p.hi, F.HDR_HI_NO_CRC) then
        p.payload_ok = payload_crc(s, p.at + N.WORD_BYTES,
                                   p.bytes - 2 * N.WORD_BYTES) ==
                       get(hi, F.FTR_HI_PAY_CRC)
    end
end

-- Returns a packet with the fields of the header at byte @at of @s. Its state is "ok" or
-- "header_crc".
local function parse_header(s, at)
    local lo, hi = quad(s, at), quad(s, at + 8)
    return { at = at, lo = lo, hi = hi,
             state = header_crc(lo, hi) == get(hi, F.HDR_HI_CRC) and "ok" or "header_crc",
             type = get(lo, F.HDR_LO_TYPE), dst = get(lo, F.HDR_LO_COORD),
             size = get(lo, F.HDR_LO_SIZE),
             va = get(hi, F.HDR_HI_VA_41_2) * 4 + get(lo, F.HDR_LO_VA_1_0) }
end

-- Returns true if run word @r is valid: it has 2 to RUN_MAX packets, and 0 in all bits except
-- the virtual channel, the type, the number of packets and the CRC.
local function run_word_valid(r)
    local lo, hi = without(r.lo, F.HDR_LO_VC), without(r.hi, F.HDR_HI_CRC)
    lo = without(without(lo, F.HDR_LO_TYPE), F.RUN_LO_PACKETS)
    return lo[1] + lo[2] + hi[1] + hi[2] == 0 and r.count >= 2 and r.count <= N.RUN_MAX
end

-- Returns true if @p, the header in run @r, has a correct CRC, belongs to a full packet of type
-- WRITE, and has the virtual channel of the run word, and if all packets of the run are in one
-- block.
local function run_header_valid(r, p)
    return p.state == "ok" and p.type == T.TYPE_WRITE and p.size == N.MTU and
           payload_words(p) and get(p.lo, F.HDR_LO_VC) == get(r.lo, F.HDR_LO_VC) and
           p.va % N.BLOCK_BYTES + r.count * N.MTU <= N.BLOCK_BYTES
end

-- Decodes the run whose run word is @r. From the run word on, the frame has @left bytes of @s.
-- If the run is valid, stores the packets of the run in field "packets" of @r: each packet has
-- the fields of the run's header and footer, and fields "va", "data", "first" and "last" of its
-- own. Otherwise sets the state of @r to "malformed" or "cut". @known: see parse().
local function parse_run(r, s, left, known)
    local bytes = N.RUN_EXTRA * N.WORD_BYTES + r.count * N.MTU
    if not run_word_valid(r) then
        r.state = "malformed"
        return
    elseif bytes > left then
        r.state = "cut"
        return
    end
    local p = parse_header(s, r.at + N.WORD_BYTES)
    r.bytes, r.header = bytes, p
    if not run_header_valid(r, p) then
        r.state = "malformed"
        return
    end
    p.run, p.bytes, r.packets = r, bytes - N.WORD_BYTES, {}
    parse_footer(p, s, known)
    for i = 0, r.count - 1 do
        r.packets[i + 1] = setmetatable({
            va = p.va + i * N.MTU, data = p.data + i * N.MTU,
            first = p.first and i == 0, last = p.last and i == r.count - 1,
        }, { __index = p })
    end
end

-- Returns the packet or run at byte @at of @s. From there on, the frame has @left bytes, at
-- least 16. @known is the packet's mark of note_packet() from an earlier pass over the frame,
-- or nil. Field "state" of the result is "ok", "header_crc", "malformed" or "cut". Field
-- "bytes" is the length of the packet or run; without this field, the next packet cannot be
-- found. Only a run has field "count", and only a packet of a run has field "run".
local function parse(s, at, left, known)
    local p = parse_header(s, at)
    if p.type == N.RUN_TYPE then
        p.count = get(p.lo, F.RUN_LO_PACKETS)
        if p.state == "ok" then
            parse_run(p, s, left, known)
        end
    elseif p.state ~= "ok" then
        return p
    elseif HEADER_ONLY[FORM[p.type]] then
        if p.type == T.TYPE_ACK then
            parse_ack(p)
            p.state = p.size == 0 and "ok" or "malformed"
        end
        p.bytes = p.state == "ok" and N.WORD_BYTES or nil
    else
        local words = payload_words(p)
        if not words then
            p.state = "malformed"
        elseif (words + 2) * N.WORD_BYTES > left then
            p.state = "cut"
        else
            p.bytes = (words + 2) * N.WORD_BYTES
            parse_footer(p, s, known)
        end
    end
    return p
end

-- Returns the packets in the @bytes bytes of @s from @at on. A packet without field "bytes" is
-- the last one. A run that is not valid counts as one packet. @marks are the marks of the
-- packets from an earlier pass over the frame, or nil.
local function parse_all(s, at, bytes, marks)
    local list, stop = {}, at + bytes
    while stop - at >= N.WORD_BYTES do
        local p = parse(s, at, stop - at, marks and marks[#list + 1])
        for _, packet in ipairs(p.packets or { p }) do
            list[#list + 1] = packet
        end
        if not p.bytes then
            break
        end
        at = at + p.bytes
    end
    return list
end

-- --- Transactions and blocks --------------------------------------------------

-- The state of the dissector has these tables:
-- transactions: the results of transaction(), by source, destination and numbers of a request;
-- requests: these transactions, and loads and stores, by the numbers that their responses have;
-- generations: the latest generation of each TID of a source for a destination;
-- counted: true for a unit of a source that has used a TID with a generation above 0;
-- frames: the results of the first pass over a frame, by the number of the frame;
-- seqs: the sequence number that is expected next from each sender of frames.
local S

local function forget()
    S = { transactions = {}, requests = {}, generations = {}, counted = {},
          frames = {}, seqs = {} }
end
forget()
exanet.init = forget

local function key(...)
    return table.concat({ ... }, "/")
end

local function request_key(who, p)
    return key(who, p.small, p.tid, p.seq % 2 ^ N.ACK_SEQ_BITS)
end

-- Returns by how many generations the TID of @p is newer than the latest generation of this TID
-- that the source of @p has used for this destination; 0 if the generation is not newer, or if
-- it is the first one of this TID. Stores the latest generation. nil: the sending unit of the
-- source has used only generation 0.
local function generations_ahead(p)
    local packetizer = get({ p.small, 0 }, F.SMALL_INDEX) ==
                       E.ni_index.NI_PACKETIZER
    local f = packetizer and F.PTID_GEN or F.TID_GEN
    local count, q = 2 ^ (f[1] - f[2] + 1), { p.tid, 0 }
    local gen, unit = get(q, f), key(p.src, p.small, p.epoch)
    local id = key(unit, p.dst, p.tid - gen * 2 ^ f[2])
    local latest = S.generations[id]
    local ahead = latest and (gen - latest) % count or 0
    if ahead >= count / 2 then
        ahead = 0
    else
        S.generations[id] = gen
    end
    S.counted[unit] = S.counted[unit] or gen > 0
    return S.counted[unit] and ahead or nil
end

-- Returns true if packet @p belongs to a later transaction than @t. @p and @t have the same
-- numbers, but a source uses its numbers again after some time. @number is the number of the
-- frame of @p; @ahead is the result of generations_ahead(@p).
local function is_later(t, p, number, ahead)
    if ahead and ahead > 0 then
        return true
    elseif not t.response or t.last_frame == number then
        return false
    elseif p.type == T.TYPE_CONTROL then
        return not t.control
    end
    return not ahead and p.first
end

-- Returns the transaction of packet @p in frame @number, and makes a new one if @p begins it.
-- @p has a footer, and is no RELEASE, load, store or response.
local function transaction(p, number)
    local id = key(p.src, p.dst, p.small, p.tid, p.seq, p.epoch)
    local t, ahead = S.transactions[id], generations_ahead(p)
    if not t or is_later(t, p, number, ahead) then
        t = { src = p.src, dst = p.dst, tid = p.tid, seq = p.seq,
              first_frame = number, seen = {}, pieces = {}, bytes = 0,
              packets = 0 }
        S.transactions[id] = t
        S.requests[request_key(p.src, p)] = t
    end
    t.control = t.control or p.type == T.TYPE_CONTROL
    return t
end

-- Returns the pieces of transaction @t from address @t.start to address @stop in one string,
-- with zeros in place of missing pieces. nil: pieces overlap, or a piece is not between these
-- addresses.
local function lay_out(t, stop)
    local at, parts, order = t.start, {}, {}
    for va in pairs(t.pieces) do
        order[#order + 1] = va
    end
    table.sort(order)
    for _, va in ipairs(order) do
        if va < at then
            return nil
        end
        parts[#parts + 1] = string.rep("\0", va - at)
        parts[#parts + 1] = t.pieces[va]
        at = va + #t.pieces[va]
    end
    if at > stop then
        return nil
    end
    parts[#parts + 1] = string.rep("\0", stop - at)
    return table.concat(parts)
end

-- Returns a description of the block of transaction @t, whose first and last packet have been
-- seen. Field "data" of the description is the result of lay_out(). nil: the length of the
-- block is not valid.
local function block_of(t)
    local length = t.stop - t.start
    if length <= 0 or length > N.BLOCK_BYTES then
        return nil
    end
    local b = { t = t, length = length, packets = t.packets,
                missing = length - t.bytes, data = lay_out(t, t.stop) }
    if not b.data then
        b.missing = 0
    elseif b.missing == 0 then
        b.complete = true
    end
    return b
end

-- Adds the payload of write packet @p in frame @number to the block of transaction @t. Returns
-- the description of the block if @p completes the block, and nil otherwise.
local function add_piece(t, p, s, number)
    t.pieces[p.va] = s:sub(p.data + 1, p.data + p.size)
    t.bytes, t.packets = t.bytes + p.size, t.packets + 1
    t.start = p.first and p.va or t.start
    t.stop = p.last and p.va + p.size or t.stop
    if t.broken or not t.start or not t.stop or
       t.bytes < t.stop - t.start then
        return nil
    end
    local b = block_of(t)
    if b and b.complete then
        -- Drops the pieces, because b.data has their bytes. t.seen still lists the packets, so
        -- that note_data() finds copies of them.
        t.complete, t.pieces = number, {}
        return b
    end
    t.broken = true
    return nil
end

-- Records packet @p of transaction @t in @t and @frame, or marks @p in @mark as a copy of an
-- earlier packet. Ignores a packet with a wrong payload CRC.
local function note_data(frame, t, p, s, number, mark)
    local what = p.type * 2 ^ 42 + p.va
    if p.payload_ok == false then
        return
    elseif t.seen[what] then
        mark.copy_of = t.seen[what]
        return
    end
    t.seen[what] = number
    if p.type == T.TYPE_WRITE and exanet.prefs.blocks and not t.complete then
        frame.blocks[#frame.blocks + 1] = add_piece(t, p, s, number)
    end
end

-- Records the load or store @p of frame @number at time @now. Field "retries" of @p is the
-- number of earlier transmissions of this load or store, at most 15.
local function note_request(p, number, now, mark)
    local id = key("axi", p.src, p.dst, p.tid, p.seq)
    local t = S.requests[id]
    if not t or t.over or t.epoch ~= p.epoch then
        t = { first_frame = number, epoch = p.epoch, seen = {} }
        S.requests[id] = t
    end
    mark.t, mark.copy_of = t, t.seen[p.retries]
    t.seen[p.retries] = t.seen[p.retries] or number
    t.last_frame, t.time = number, now
end

-- Response codes to a load or store after which the initiator may retransmit the load or store.
local AGAIN = { [E.resp.RESP_CRC] = true, [E.resp.RESP_FAULT] = true,
                [E.resp.RESP_NO_CONTEXT] = true, [E.resp.RESP_FULL] = true,
                [E.resp.RESP_RESOLVED] = true }

local function note_response(p, number, now, mark)
    local t = S.requests[key("axi", p.dst, p.src, p.tid, p.seq)]
    if t then
        t.response = t.over and t.response or number
        t.over = t.over or not AGAIN[p.resp]
        mark.t, mark.time, mark.to = t, now - t.time, t.last_frame
    end
end

local function note_ack(p, number, now, mark)
    local t = S.requests[request_key(p.dst, p)]
    if t then
        t.response = t.response or number
        mark.t, mark.time, mark.to = t, now - t.time, t.last_frame
    end
end

-- Adds, to @frame.holes, the transactions whose block is not complete, although its last packet
-- is in @frame and its first packet has been seen. Adds a transaction only once.
local function add_holes(frame, number)
    for _, mark in ipairs(frame.marks) do
        local t = mark.t
        if t and mark.last and t.start and t.stop and not t.complete and
           not t.holes_in then
            t.holes_in = number
            frame.holes = frame.holes or {}
            frame.holes[#frame.holes + 1] = t
        end
    end
end

local function note_packet(frame, p, s, number, now)
    local mark = { payload_ok = p.payload_ok }
    frame.marks[#frame.marks + 1] = mark
    if p.state ~= "ok" or p.footer and not p.footer_ok then
        return
    elseif p.type == T.TYPE_ACK then
        note_ack(p, number, now, mark)
    elseif p.type == T.TYPE_RELEASE then
        mark.t = S.requests[request_key(p.src, p)]
        if mark.t then
            mark.t.released = mark.t.released or number
        end
    elseif is_axi_request(p.type) then
        note_request(p, number, now, mark)
    elseif p.type == T.TYPE_AXI_RESPONSE then
        note_response(p, number, now, mark)
    elseif p.footer then
        local t = transaction(p, number)
        mark.t, mark.last = t, p.last
        note_data(frame, t, p, s, number, mark)
        t.last_frame, t.time = number, now
    end
end

-- Stores, in @frame.lost, the number of frames that are missing between the previous frame of
-- the same sender and @frame. A frame with sequence number 0 counts as the first one of its
-- sender, so no frame is missing before such a frame.
local function note_seq(frame, seq, pinfo)
    local interface = interface_id()
    local who = key(tostring(pinfo.dl_src), interface and interface.value or 0)
    local want = S.seqs[who]
    if want and seq ~= 0 and seq > want then
        frame.lost = seq - want
    end
    S.seqs[who] = seq + 1
end

-- Returns the record of the frame with bytes @s, link header @link and packets @packets. Makes
-- the record in the first pass over the frame.
local function study(s, link, packets, pinfo)
    local frame = S.frames[pinfo.number]
    if not frame then
        frame = { marks = {}, blocks = {} }
        S.frames[pinfo.number] = frame
        note_seq(frame, link.seq, pinfo)
        for _, p in ipairs(packets) do
            note_packet(frame, p, s, pinfo.number, pinfo.rel_ts)
        end
        add_holes(frame, pinfo.number)
    end
    return frame
end

-- --- Text ---------------------------------------------------------------------

local function name_of(list, value)
    return list[value] or string.format("%d", value)
end

local function coord_text(value)
    local q = { value, 0 }
    return string.format("X %d, Y %d, Z %d, F%d, upper %d",
                         get(q, F.COORD_X), get(q, F.COORD_Y),
                         get(q, F.COORD_Z), get(q, F.COORD_OFFSET) + 1,
                         get(q, F.COORD_UPPER))
end

local function rate_kbps(code)
    local q = { code, 0 }
    return (16 + get(q, F.RATE_MANTISSA)) * 2 ^ get(q, F.RATE_EXPONENT) *
           N.RATE_UNIT_KBPS
end

-- Returns the title of a packet for the info column and the tree, and the number of bytes that
-- the info column shows: @p.size if the CRC of the footer is correct, otherwise 0.
local function title(p)
    if p.state == "header_crc" then
        return "bad header CRC", 0
    elseif p.state == "malformed" and p.count then
        return "malformed run", 0
    elseif p.state == "malformed" then
        return string.format("malformed (type %d, %d B)", p.type, p.size), 0
    elseif p.type == T.TYPE_ACK then
        return string.format("%s > 0x%06x TID 0x%04x seq %d",
                             p.resp == E.resp.RESP_ACK and "ACK" or
                             "NACK " .. name_of(RESP, p.resp), p.dst, p.tid,
                             p.seq), 0
    elseif p.type == T.TYPE_FLOW_RATE then
        return string.format("FLOW_RATE > 0x%06x to 0x%06x: %d kb/s", p.dst,
                             get(p.hi, F.FLOW_HI_DST),
                             rate_kbps(get(p.hi, F.FLOW_HI_DESIRED))), 0
    elseif p.state == "cut" then
        return name_of(TYPE, p.type) .. " cut short", 0
    elseif not p.footer_ok then
        return name_of(TYPE, p.type) .. " with bad footer CRC", 0
    end
    local refused = p.axi and p.resp and p.resp ~= E.resp.RESP_ACK
    return string.format("%s%s 0x%06x > 0x%06x TID 0x%04x seq %d",
                         name_of(TYPE, p.type),
                         refused and " NACK " .. name_of(RESP, p.resp) or "",
                         p.src, p.dst, p.tid, p.seq),
           p.size
end

-- Returns the text of @packets for the info column. Adjacent packets with the same title are
-- one group. The text has the first INFO_GROUPS groups, and the number of the other groups.
local function packets_text(packets)
    local groups, last = {}, nil
    for _, p in ipairs(packets) do
        local text, bytes = title(p)
        if not last or last.text ~= text then
            last = { text = text, n = 0, bytes = 0 }
            groups[#groups + 1] = last
        end
        last.n, last.bytes = last.n + 1, last.bytes + bytes
    end
    local out = {}
    for i = 1, min(#groups, INFO_GROUPS) do
        local g = groups[i]
        out[i] = g.text ..
                 (g.n > 1 and string.format(", %d packets", g.n) or "") ..
                 (g.bytes > 0 and string.format(", %d B", g.bytes) or "")
    end
    local more = #groups > INFO_GROUPS and
                 string.format(" | %d more", #groups - INFO_GROUPS) or ""
    return table.concat(out, " | ") .. more
end

local function info_text(s, link, packets)
    local kind = name_of(KIND, link.kind)
    if link.kind == E.link_kind.LINK_DATA then
        return #packets > 0 and packets_text(packets) or "DATA, empty"
    elseif link.kind == E.link_kind.LINK_HELLO and
           #s >= LINK_BYTES + HELLO_BYTES then
        local q = quad(s, LINK_BYTES)
        return string.format("HELLO 0x%06x epoch 0x%02x", q[1], q[2] % 256)
    elseif link.kind == E.link_kind.LINK_XOFF or
           link.kind == E.link_kind.LINK_XON then
        return string.format("%s VC %d", kind, link.vc)
    end
    return kind
end

-- --- Trees --------------------------------------------------------------------

-- Adds the bits @f of quad @q, which is at byte @at of @tvb, to @tree as field @name. The value
-- of the field is @value, or the value of the bits if @value is nil. Returns the new item.
local function bits(tree, tvb, at, q, f, name, value)
    local from, to = floor(f[2] / 8), floor(f[1] / 8)
    if value == nil then
        value = get(q, f)
    end
    return tree:add(pf[name], tvb(at + from, to - from + 1), value)
end

local function add_reserved(tree, tvb, at, q, f)
    local item = bits(tree, tvb, at, q, f, "reserved")
    if get(q, f) ~= 0 then
        item:add_proto_expert_info(ex.reserved)
    end
end

local function add_coord(tree, range, name, value)
    local item, q = tree:add(pf[name], range, value), { value, 0 }
    item:append_text(" (" .. coord_text(value) .. ")")
    item:add(pf["coord.x"], range, get(q, F.COORD_X))
    item:add(pf["coord.y"], range, get(q, F.COORD_Y))
    item:add(pf["coord.z"], range, get(q, F.COORD_Z))
    item:add(pf["coord.offset"], range, get(q, F.COORD_OFFSET))
    item:add(pf["coord.upper"], range, get(q, F.COORD_UPPER))
end

local function add_pdid(tree, range, value)
    local item, q = tree:add(pf.pdid, range, value), { value, 0 }
    item:add(pf["pdid.job"], range, get(q, F.PDID_JOB))
    item:add(pf["pdid.ctx"], range, get(q, F.PDID_CTX))
end

local function add_small(tree, range, value)
    local item, q = tree:add(pf.small, range, value), { value, 0 }
    local index = get(q, F.SMALL_INDEX)
    item:append_text(" (" .. name_of(NI, index) .. ")")
    item:add(pf["small.index"], range, index)
    item:add(pf["small.sub"], range, get(q, F.SMALL_SUB))
end

-- Adds @value, the TID of a load, of a store or of the response to one, to @tree.
local function add_axi_tid(tree, range, value)
    local item, q = tree:add(pf.tid, range, value), { value, 0 }
    local id = get(q, F.STID_ID)
    item:add(pf["tid.class"], range, get(q, F.STID_CLASS))
    item:add(pf["tid.slot"], range, get(q, F.STID_SLOT))
    item = item:add(pf["tid.axi_id"], range, id)
    item:add(pf["tid.master"], range, get({ id, 0 }, F.AXI_ID_MASTER))
end

local function add_axi_user(tree, range, p)
    tree:add(pf.retries, range, p.retries)
    if p.resp then
        local item = tree:add(pf.resp, range, p.resp)
        if p.resp ~= E.resp.RESP_ACK then
            item:add_proto_expert_info(ex.nack, "NACK: " .. name_of(RESP, p.resp))
        end
    end
end

-- Adds TID @value to @tree. @small is the small address to which acks are sent; it shows which
-- unit has made the TID.
local function add_tid(tree, range, value, small)
    local item, q = tree:add(pf.tid, range, value), { value, 0 }
    if get({ small, 0 }, F.SMALL_INDEX) == E.ni_index.NI_PACKETIZER then
        item:add(pf["tid.channel"], range, get(q, F.PTID_CHANNEL))
        item:add(pf["tid.ctx"], range, get(q, F.PTID_CTX))
        item:add(pf["tid.gen"], range, get(q, F.PTID_GEN))
    else
        item:add(pf["tid.index"], range, get(q, F.TID_INDEX))
        item:add(pf["tid.gen"], range, get(q, F.TID_GEN))
    end
end

local function add_va(tree, range, va)
    local item = tree:add(pf.va, range, wide(va))
    local q = { va % 2 ^ 32, floor(va / 2 ^ 32) }
    local window = get(q, F.VA_WINDOW)
    item:add(pf["va.window"], range, window)
    if window == N.WINDOW_NI then
        local index = get(q, F.VA_NI_INDEX)
        item:append_text(" (" .. name_of(NI, index) .. ")")
        item:add(pf["va.ni_index"], range, index)
        if index == E.ni_index.NI_MAILBOX then
            item:add(pf["va.mailbox"], range, get(q, F.VA_MAILBOX))
        end
    end
end

-- Adds the small address to which packet @p, which has no footer, is sent. Fields @lo and @hi
-- of the header contain the two parts of the address.
local function add_small_of(tree, tvb, p, lo, hi)
    add_small(tree, tvb(p.at + 7, 2), get(p.hi, hi) * 4 + get(p.lo, lo))
end

local function add_ack(tree, tvb, p)
    local at = p.at
    bits(tree, tvb, at, p.lo, F.ACK_LO_PDID_CTX, "pdid.ctx")
    bits(tree, tvb, at, p.lo, F.ACK_LO_SEQ, "seq")
    bits(tree, tvb, at, p.lo, F.HDR_LO_SIZE, "size")
    add_small_of(tree, tvb, p, F.ACK_LO_SMALL_1_0, F.ACK_HI_SMALL_9_2)
    add_tid(tree, tvb(at + 9, 2), p.tid, p.small)
    local resp = bits(tree, tvb, at + 8, p.hi, F.ACK_HI_RESP, "resp")
    if p.resp ~= E.resp.RESP_ACK then
        resp:add_proto_expert_info(ex.nack,
                                   "NACK: " .. name_of(RESP, p.resp))
    end
    bits(tree, tvb, at + 8, p.hi, F.ACK_HI_HOPS, "hops")
    bits(tree, tvb, at + 8, p.hi, F.ACK_HI_EPOCH, "epoch")
    add_reserved(tree, tvb, at + 8, p.hi, F.ACK_HI_RESERVED)
    bits(tree, tvb, at + 8, p.hi, F.HDR_HI_PATH, "path")
end

local function add_rate(tree, tvb, p, f, name)
    local item = bits(tree, tvb, p.at + 8, p.hi, f, name)
    local kbps = rate_kbps(get(p.hi, f))
    item:append_text(string.format(" (%d kb/s)", kbps))
    bits(item, tvb, p.at + 8, p.hi, f, name .. "_kbps", wide(kbps))
end

local function add_flow_rate(tree, tvb, p)
    local at = p.at
    add_pdid(tree, tvb(at, 3), get(p.lo, F.HDR_LO_PDID))
    bits(tree, tvb, at, p.lo, F.FLOW_LO_HOPS, "hops")
    bits(tree, tvb, at, p.lo, F.FLOW_LO_ID, "flow.id")
    add_small_of(tree, tvb, p, F.FLOW_LO_SMALL_1_0, F.FLOW_HI_SMALL_9_2)
    add_coord(tree, tvb(at + 9, 3), "flow.dst", get(p.hi, F.FLOW_HI_DST))
    add_rate(tree, tvb, p, F.FLOW_HI_CURRENT, "flow.current")
    add_rate(tree, tvb, p, F.FLOW_HI_DESIRED, "flow.desired")
    local item = bits(tree, tvb, at + 8, p.hi, F.FLOW_HI_FLAG, "flow.flag")
    if get(p.hi, F.FLOW_HI_FLAG) ~= 0 then
        item:add_proto_expert_info(ex.reserved)
    end
    tree:add_proto_expert_info(ex.flow)
end

local function add_data_header(tree, tvb, p)
    local at = p.at
    add_pdid(tree, tvb(at, 3), get(p.lo, F.HDR_LO_PDID))
    bits(tree, tvb, at, p.lo, F.HDR_LO_SIZE, "size")
    add_va(tree, tvb(at + 7, 6), p.va)
    bits(tree, tvb, at + 8, p.hi, F.HDR_HI_NO_CRC, "no_crc",
         flag(p.hi, F.HDR_HI_NO_CRC))
    add_reserved(tree, tvb, at + 8, p.hi, F.HDR_HI_RESERVED)
    bits(tree, tvb, at + 8, p.hi, F.HDR_HI_PATH, "path")
end

local function add_status(tree, range, name, ok, complaint)
    tree:add(pf[name], range, ok and 1 or 0):set_generated()
    if not ok then
        tree:add_proto_expert_info(complaint)
    end
end

-- Adds the run word @r to @tree.
local function add_run(tree, tvb, r)
    local item = tree:add(pf.run, tvb(r.at, N.WORD_BYTES))
    item:set_text(string.format("Run of %d packets", r.count))
    bits(item, tvb, r.at, r.lo, F.HDR_LO_VC, "run.vc")
    bits(item, tvb, r.at, r.lo, F.HDR_LO_TYPE, "run.type")
    bits(item, tvb, r.at, r.lo, F.RUN_LO_PACKETS, "run.packets")
    bits(item, tvb, r.at + 8, r.hi, F.HDR_HI_CRC, "run.crc")
    add_status(item, tvb(r.at + 14, 2), "run.crc.status", r.state ~= "header_crc",
               ex.header_crc)
end

local function add_header(tree, tvb, p, link)
    local head = tree:add(pf.header, tvb(p.at, N.WORD_BYTES))
    local vc = bits(head, tvb, p.at, p.lo, F.HDR_LO_VC, "vc")
    if p.state ~= "header_crc" and get(p.lo, F.HDR_LO_VC) ~= link.vc then
        vc:add_proto_expert_info(ex.vc)
    end
    add_coord(head, tvb(p.at + 2, 4), "dst", p.dst)
    bits(head, tvb, p.at, p.lo, F.HDR_LO_TYPE, "type")
    if p.type == T.TYPE_ACK and p.resp then
        add_ack(head, tvb, p)
    elseif p.type == T.TYPE_FLOW_RATE then
        add_flow_rate(head, tvb, p)
    else
        add_data_header(head, tvb, p)
    end
    bits(head, tvb, p.at + 8, p.hi, F.HDR_HI_CRC, "header.crc")
    add_status(head, tvb(p.at + 14, 2), "header.crc.status",
               p.state ~= "header_crc", ex.header_crc)
end

local function add_footer(tree, tvb, p)
    local at, lo, hi = p.footer, p.flo, p.fhi
    local foot = tree:add(pf.footer, tvb(at, N.WORD_BYTES))
    if p.axi then
        add_axi_tid(foot, tvb(at, 2), p.tid)
    else
        add_tid(foot, tvb(at, 2), p.tid, p.small)
    end
    add_coord(foot, tvb(at + 1, 4), "src", p.src)
    bits(foot, tvb, at, lo, F.FTR_LO_EPOCH, "epoch")
    bits(foot, tvb, at, lo, F.FTR_LO_FIRST, "first", p.first)
    bits(foot, tvb, at, lo, F.FTR_LO_LAST, "last", p.last)
    bits(foot, tvb, at, lo, F.FTR_LO_NOTIFY, "notify",
         flag(lo, F.FTR_LO_NOTIFY))
    local seq = bits(foot, tvb, at, lo, F.FTR_LO_SEQ, "seq")
    if p.retry then
        seq:add_proto_expert_info(ex.retry)
    end
    local ttl = get(hi, F.FTR_HI_TTL_14_3) * 8 + get(lo, F.FTR_LO_TTL_2_0)
    foot:add(pf.ttl, tvb(at + 7, 3), ttl)
    foot:add(pf.hops, tvb(at + 7, 3), N.TTL_MAX - ttl):set_generated()
    bits(foot, tvb, at + 8, hi, F.FTR_HI_USER, "user")
    if p.axi then
        add_axi_user(foot, tvb(at + 9, 2), p)
    else
        add_small(foot, tvb(at + 9, 2), p.small)
    end
    bits(foot, tvb, at + 8, hi, F.FTR_HI_CRC, "footer.crc")
    add_status(foot, tvb(at + 11, 1), "footer.crc.status", p.footer_ok,
               ex.footer_crc)
    bits(foot, tvb, at + 8, hi, F.FTR_HI_PAY_CRC, "payload.crc")
    if p.payload_ok ~= nil then
        add_status(foot, tvb(at + 12, 4), "payload.crc.status", p.payload_ok,
                   ex.payload_crc)
    end
end

-- Adds the GVA @q, a 64-bit address that contains the coordinates of a node, as field @name.
local function add_gva(tree, range, name, q)
    tree:add(pf[name], range, whole(q)):append_text(
        " (" .. coord_text(get(q, F.GVA_COORD)) .. ")")
end

local function add_control(tree, tvb, s, at)
    local item = tree:add(pf.control, tvb(at, 32))
    local info, block = quad(s, at + 16), quad(s, at + 24)
    add_gva(item, tvb(at, 8), "control.target", quad(s, at))
    item:add(pf["control.data"], tvb(at + 8, 8), whole(quad(s, at + 8)))
    bits(item, tvb, at + 16, info, F.CONTROL_LENGTH, "control.length")
    bits(item, tvb, at + 16, info, F.CONTROL_HANDLE, "control.handle")
    bits(item, tvb, at + 16, info, F.CONTROL_IRQ, "control.irq",
         flag(info, F.CONTROL_IRQ))
    bits(item, tvb, at + 24, block, F.CONTROL_OFFSET, "control.offset")
    bits(item, tvb, at + 24, block, F.CONTROL_BLOCK, "control.block")
    bits(item, tvb, at + 24, block, F.CONTROL_PDID, "control.pdid")
end

local function add_notification(tree, tvb, s, at)
    local item, q = tree:add(pf.notification, tvb(at, 16)), quad(s, at + 8)
    item:add(pf["notification.data"], tvb(at, 8), whole(quad(s, at)))
    bits(item, tvb, at + 8, q, F.NOTIFICATION_LENGTH, "notification.length")
    bits(item, tvb, at + 8, q, F.NOTIFICATION_HANDLE, "notification.handle")
    bits(item, tvb, at + 8, q, F.NOTIFICATION_STATUS, "notification.status")
    bits(item, tvb, at + 8, q, F.NOTIFICATION_VALID, "notification.valid",
         flag(q, F.NOTIFICATION_VALID))
end

local function add_read_request(tree, tvb, s, at)
    local item = tree:add(pf.read, tvb(at, N.READ_REQ_USER_BYTES))
    local ctrl = quad(s, at + 24)
    item:add(pf["read.src"], tvb(at, 8), whole(quad(s, at)))
    add_gva(item, tvb(at + 8, 8), "read.dst", quad(s, at + 8))
    add_gva(item, tvb(at + 16, 8), "read.notify_gva", quad(s, at + 16))
    bits(item, tvb, at + 24, ctrl, F.READ_REQ_LENGTH, "read.length")
    bits(item, tvb, at + 24, ctrl, F.READ_REQ_OWNER, "read.owner")
    bits(item, tvb, at + 24, ctrl, F.READ_REQ_NOTIFY, "read.notify",
         flag(ctrl, F.READ_REQ_NOTIFY))
    bits(item, tvb, at + 24, ctrl, F.READ_REQ_IRQ, "read.irq",
         flag(ctrl, F.READ_REQ_IRQ))
    item:add(pf["read.notify_data"], tvb(at + 32, 8), whole(quad(s, at + 32)))
    item:add(pf["read.tag"], tvb(at + 40, 8), whole(quad(s, at + 40)))
end

local PAYLOAD = {
    [T.TYPE_CONTROL] = { 32, add_control },
    [T.TYPE_NOTIFY] = { 16, add_notification },
    [T.TYPE_READ_REQ] = { N.READ_REQ_USER_BYTES, add_read_request },
}

local function add_payload(tree, tvb, s, p)
    if p.size > 0 and DATA[FORM[p.type]] then
        tree:add(pf.payload, tvb(p.data, p.size))
        local what = PAYLOAD[p.type]
        if what and p.size >= what[1] then
            what[2](tree, tvb, s, p.data)
        end
    end
end

-- Returns @seconds as an NSTime, rounded to 1 ns.
local function nstime(seconds)
    local ns = floor(seconds * 1e9 + 0.5)
    return NSTime.new(floor(ns / 1e9), ns % 1e9)
end

local function add_links(tree, p, mark)
    local t, own = mark.t, {}
    if not t then
        return
    elseif p.type == T.TYPE_ACK or p.type == T.TYPE_AXI_RESPONSE then
        own = { tree:add(pf.response_to, mark.to),
                tree:add(pf.time, nstime(mark.time)) }
    elseif p.type == T.TYPE_RELEASE then
        own = { tree:add(pf.release_of, t.first_frame) }
    else
        own[1] = t.response and tree:add(pf.response_in, t.response)
        own[#own + 1] = t.complete and tree:add(pf["block.in"], t.complete)
        own[#own + 1] = t.released and tree:add(pf.released_in, t.released)
        if mark.copy_of then
            local item = tree:add(pf.copy_of, mark.copy_of)
            item:add_proto_expert_info(ex.copy)
            own[#own + 1] = item
        end
    end
    for _, item in pairs(own) do
        item:set_generated()
    end
end

-- Returns the expert info for a frame that ends too early: "snap" if the capture holds only a
-- part of the frame, otherwise "cut".
local function cut_or_snap(tvb)
    return tvb:reported_len() > tvb:len() and ex.snap or ex.cut
end

-- Returns a true value if add_packet() adds an expert info for packet @p.
local function is_remarkable(p, mark, link)
    return p.state ~= "ok" or get(p.lo, F.HDR_LO_VC) ~= link.vc or
           p.type == T.TYPE_FLOW_RATE or mark.copy_of or
           get(p.hi, F.HDR_HI_RESERVED) ~= 0 or
           p.resp and p.resp ~= E.resp.RESP_ACK or
           p.footer and (p.retry or not p.footer_ok or p.payload_ok == false)
end

local function add_packet(tree, tvb, s, p, mark, link, nth)
    local range = p.run and tvb(p.data, p.size) or tvb(p.at, p.bytes or tvb:len() - p.at)
    local item = tree:add(pf.packet, range)
    item:set_text(string.format("Packet %d: %s", nth, (title(p))))
    if p.count then
        add_run(item, tvb, p)
    end
    if p.header or not p.count then
        add_header(item, tvb, p.header or p, link)
    end
    if p.state == "malformed" then
        item:add_proto_expert_info(ex.malformed)
    elseif p.state == "cut" then
        item:add_proto_expert_info(cut_or_snap(tvb))
    end
    if p.footer then
        add_payload(item, tvb, s, p)
        add_footer(item, tvb, p)
    end
    add_links(item, p, mark)
end

local function add_block(root, b)
    local t = b.t
    local text = string.format(
        "ExaNet block 0x%06x > 0x%06x TID 0x%04x seq %d, %d bytes", t.src,
        t.dst, t.tid, t.seq, b.length)
    local tvb = b.data and ByteArray.new(b.data, true):tvb("ExaNet block")
    local item = tvb and root:add(pf.block, tvb()) or root:add(pf.block)
    item:set_text(text)
    item:add(pf["block.begin"], t.first_frame):set_generated()
    item:add(pf["block.length"], b.length):set_generated()
    item:add(pf["block.packets"], b.packets):set_generated()
    item:add(pf["block.complete"], b.complete or false):set_generated()
    if b.missing > 0 then
        item:add(pf["block.missing"], b.missing):set_generated()
        item:add_proto_expert_info(ex.incomplete)
    end
    if tvb then
        item:add(pf["block.data"], tvb())
    else
        item:add_proto_expert_info(ex.overlap)
    end
end

-- --- Frames -------------------------------------------------------------------

local function add_hello(root, tvb, s)
    local at, q = LINK_BYTES, quad(s, LINK_BYTES)
    local flags = s:byte(at + 6)
    add_coord(root, tvb(at, 4), "hello.coord", q[1])
    root:add(pf["hello.epoch"], tvb(at + 4, 1))
    root:add(pf["hello.flags"], tvb(at + 5, 1))
    root:add(pf["hello.heard"], tvb(at + 5, 1),
             flags % (2 * N.HELLO_HEARD) >= N.HELLO_HEARD)
    root:add(pf["hello.runs"], tvb(at + 5, 1),
             flags % (2 * N.HELLO_RUNS) >= N.HELLO_RUNS)
    root:add(pf["hello.no_crc"], tvb(at + 5, 1),
             flags % (2 * N.HELLO_NO_CRC) >= N.HELLO_NO_CRC)
    root:add(pf["hello.peer_epoch"], tvb(at + 6, 1))
    root:add(pf["hello.reserved"], tvb(at + 7, 1))
    root:add_le(pf["hello.rx_words"], tvb(at + 8, 4))
    root:add_le(pf["hello.max_words"], tvb(at + 12, 4))
end

-- Returns the coordinates of the sender, which are the last three bytes of its MAC address.
-- nil: the address does not begin with ExaNet's prefix.
local function sender(pinfo)
    local a, b, c, d = tostring(pinfo.dl_src):match(
        "^(%x%x:%x%x:%x%x):(%x%x):(%x%x):(%x%x)$")
    if a and tonumber((a:gsub(":", "")), 16) == N.MAC_PREFIX then
        return tonumber(b .. c .. d, 16)
    end
    return nil
end

local function add_link(root, tvb, link, frame, pinfo)
    local item = root:add(pf.link, tvb(0, LINK_BYTES))
    item:add(pf["link.version"], tvb(0, 1))
    local kind = item:add(pf["link.kind"], tvb(1, 1))
    if link.version ~= N.LINK_VERSION or not KIND[link.kind] then
        kind:add_proto_expert_info(ex.version)
    end
    item:add(pf["link.vc"], tvb(2, 1))
    item:add(pf["link.family"], tvb(3, 1))
    item:add_le(pf["link.count"], tvb(4, 2))
    item:add_le(pf["link.seq"], tvb(6, 4))
    local coord = sender(pinfo)
    if coord then
        item:add(pf["link.src"], coord):set_generated()
    end
    if frame.lost then
        item:add(pf["link.lost"], frame.lost):set_generated()
        item:add_proto_expert_info(ex.lost)
    end
    if link.kind == E.link_kind.LINK_XOFF or
       link.kind == E.link_kind.LINK_XON then
        kind:add_proto_expert_info(ex.stop)
    end
    return item
end

local function parse_link(s)
    local version, kind, vc, family, c0, c1, s0, s1, s2, s3 = s:byte(1, 10)
    return { version = version, kind = kind, vc = vc, family = family,
             bytes = (c0 + c1 * 0x100) * N.WORD_BYTES,
             seq = s0 + s1 * 0x100 + s2 * 0x10000 + s3 * 0x1000000 }
end

-- Returns true if Wireshark shows @tree, or uses one of the dissector's fields, for example in
-- a filter, or is too old to report this. If the result is false, the dissector leaves out most
-- fields, because adding fields takes most of its time.
local function is_looked_at(tree)
    if tree.visible or not tree.referenced then
        return true
    end
    for _, field in ipairs(field_list) do
        if tree:referenced(field) then
            return true
        end
    end
    return false
end

local function add_packets(root, tvb, s, link, packets, frame)
    local all, run = is_looked_at(root), nil
    for i, p in ipairs(packets) do
        if all and p.run and p.run ~= run then
            run = p.run
            add_run(root, tvb, run)
        end
        -- If a tunnel puts several frames into one captured frame, @frame is the record of the
        -- first of them, which may have fewer marks than this frame has packets.
        local mark = frame.marks[i] or {}
        if all or is_remarkable(p, mark, link) then
            add_packet(root, tvb, s, p, mark, link, i)
        end
    end
    for _, b in ipairs(all and frame.blocks or {}) do
        add_block(root, b)
    end
    for _, t in ipairs(frame.holes or {}) do
        local b = not t.complete and block_of(t)
        if b then
            add_block(root, b)
        end
    end
end

function exanet.dissector(tvb, pinfo, tree)
    if tvb:len() >= LINK_BYTES and tvb(3, 1):uint() ~= E.link_family.LINK_EXANET then
        return 0        -- a frame of another family of NICs, which have the same EtherType
    end
    pinfo.cols.protocol = "ExaNet"
    local root = tree:add(exanet, tvb())
    if tvb:len() < LINK_BYTES then
        root:add_proto_expert_info(cut_or_snap(tvb))
        pinfo.cols.info = "Too short for a link header"
        return tvb:len()
    end
    local s = tvb:raw(0, tvb:len())
    local link = parse_link(s)
    local bytes = min(link.bytes, #s - LINK_BYTES)
    local packets, before = {}, S.frames[pinfo.number]
    if link.kind == E.link_kind.LINK_DATA then
        packets = parse_all(s, LINK_BYTES, bytes, before and before.marks)
    end
    local frame = study(s, link, packets, pinfo)
    local head = add_link(root, tvb, link, frame, pinfo)
    if bytes < link.bytes then
        head:add_proto_expert_info(cut_or_snap(tvb))
    end
    if link.kind == E.link_kind.LINK_HELLO and bytes >= HELLO_BYTES then
        add_hello(root, tvb, s)
    end
    add_packets(root, tvb, s, link, packets, frame)
    local info = info_text(s, link, packets)
    root:append_text(", " .. info)
    pinfo.cols.info = info
    return LINK_BYTES + bytes
end

DissectorTable.get("ethertype"):add(N.ETHERTYPE, exanet)

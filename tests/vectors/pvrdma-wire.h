/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Made by pvrdma-wire.py; payload byte n is n & 0xff. */
#define PVRDMA_VECTOR_PATH_0 { \
    .smac = { 0x52, 0x54, 0x0, 0x12, 0x34, 0x56 }, .dmac = { 0x52, 0x54, \
    0x0, 0x65, 0x43, 0x2f }, .sgid = { 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, \
    0x0, 0x0, 0x0, 0xff, 0xff, 0xb, 0x1, 0xd4, 0xe0 }, .dgid = { 0x0, 0x0, \
    0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0xff, 0xff, 0xb, 0x1, 0xd4, 0xe1 \
    }, .flow_label = 0x0, .vlan = 0xffff, .sport = 0x12b7, .network = 0x1, \
    .traffic_class = 0x0, .hop_limit = 0x40, \
}

#define PVRDMA_VECTOR_PATH_1 { \
    .smac = { 0x52, 0x54, 0x0, 0x65, 0x43, 0x2f }, .dmac = { 0x52, 0x54, \
    0x0, 0x12, 0x34, 0x56 }, .sgid = { 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, \
    0x0, 0x0, 0x0, 0xff, 0xff, 0xb, 0x1, 0xd4, 0xe1 }, .dgid = { 0x0, 0x0, \
    0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0xff, 0xff, 0xb, 0x1, 0xd4, 0xe0 \
    }, .flow_label = 0x0, .vlan = 0xffff, .sport = 0x12b7, .network = 0x1, \
    .traffic_class = 0x0, .hop_limit = 0x40, \
}

#define PVRDMA_VECTOR_PATH_2 { \
    .smac = { 0x52, 0x54, 0x0, 0x12, 0x34, 0x56 }, .dmac = { 0x52, 0x54, \
    0x0, 0x65, 0x43, 0x2f }, .sgid = { 0xfe, 0x80, 0x0, 0x0, 0x0, 0x0, 0x0, \
    0x0, 0x50, 0x54, 0x0, 0xff, 0xfe, 0x12, 0x34, 0x56 }, .dgid = { 0xfd, \
    0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0xb, \
    0xb }, .flow_label = 0x12345, .vlan = 0xffff, .sport = 0x0, \
    .network = 0x0, .traffic_class = 0x0, .hop_limit = 0x40, \
}

#define PVRDMA_VECTOR_PATH_3 { \
    .smac = { 0x52, 0x54, 0x0, 0x12, 0x34, 0x56 }, .dmac = { 0x52, 0x54, \
    0x0, 0x65, 0x43, 0x2f }, .sgid = { 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, \
    0x0, 0x0, 0x0, 0xff, 0xff, 0xb, 0x1, 0xd4, 0xe0 }, .dgid = { 0x0, 0x0, \
    0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0xff, 0xff, 0xb, 0x1, 0xd4, 0xe1 \
    }, .flow_label = 0x0, .vlan = 0xe123, .sport = 0xc123, .network = 0x1, \
    .traffic_class = 0x6a, .hop_limit = 0x3f, \
}

#define PVRDMA_VECTOR_PATH_4 { \
    .smac = { 0x52, 0x54, 0x0, 0x12, 0x34, 0x56 }, .dmac = { 0x52, 0x54, \
    0x0, 0x65, 0x43, 0x2f }, .sgid = { 0xfe, 0x80, 0x0, 0x0, 0x0, 0x0, 0x0, \
    0x0, 0x50, 0x54, 0x0, 0xff, 0xfe, 0x12, 0x34, 0x56 }, .dgid = { 0xfd, \
    0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0xb, \
    0xb }, .flow_label = 0xfedcb, .vlan = 0xffff, .sport = 0xffee, \
    .network = 0x2, .traffic_class = 0xa5, .hop_limit = 0x1, \
}

#define PVRDMA_VECTOR_PATH_5 { \
    .smac = { 0x52, 0x54, 0x0, 0x12, 0x34, 0x56 }, .dmac = { 0x52, 0x54, \
    0x0, 0x65, 0x43, 0x2f }, .sgid = { 0xfe, 0x80, 0x0, 0x0, 0x0, 0x0, 0x0, \
    0x0, 0x50, 0x54, 0x0, 0xff, 0xfe, 0x12, 0x34, 0x56 }, .dgid = { 0xfd, \
    0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0xb, \
    0xb }, .flow_label = 0x12345, .vlan = 0xe123, .sport = 0x0, \
    .network = 0x0, .traffic_class = 0x0, .hop_limit = 0x40, \
}

#define PVRDMA_VECTOR_PATH_6 { \
    .smac = { 0x52, 0x54, 0x0, 0x12, 0x34, 0x56 }, .dmac = { 0x52, 0x54, \
    0x0, 0x65, 0x43, 0x2f }, .sgid = { 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, \
    0x0, 0x0, 0x0, 0xff, 0xff, 0xb, 0x1, 0xd4, 0xe0 }, .dgid = { 0x0, 0x0, \
    0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0xff, 0xff, 0xb, 0x1, 0xd4, 0xe1 \
    }, .flow_label = 0x0, .vlan = 0xffff, .sport = 0xc123, .network = 0x1, \
    .traffic_class = 0x6a, .hop_limit = 0x3f, \
}

#define PVRDMA_VECTOR_PATH_7 { \
    .smac = { 0x52, 0x54, 0x0, 0x12, 0x34, 0x56 }, .dmac = { 0x52, 0x54, \
    0x0, 0x65, 0x43, 0x2f }, .sgid = { 0xfe, 0x80, 0x0, 0x0, 0x0, 0x0, 0x0, \
    0x0, 0x50, 0x54, 0x0, 0xff, 0xfe, 0x12, 0x34, 0x56 }, .dgid = { 0xfd, \
    0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0xb, \
    0xb }, .flow_label = 0xfedcb, .vlan = 0xe123, .sport = 0xffee, \
    .network = 0x2, .traffic_class = 0xa5, .hop_limit = 0x1, \
}

#define PVRDMA_VECTOR_PATH_8 { \
    .smac = { 0x52, 0x54, 0x0, 0x12, 0x34, 0x56 }, .dmac = { 0x52, 0x54, \
    0x0, 0x65, 0x43, 0x2f }, .sgid = { 0xfe, 0x80, 0x0, 0x0, 0x0, 0x0, 0x0, \
    0x0, 0x50, 0x54, 0x0, 0xff, 0xfe, 0x12, 0x34, 0x56 }, .dgid = { 0xfd, \
    0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0xb, \
    0xb }, .flow_label = 0x12345, .vlan = 0x0, .sport = 0x0, .network = 0x0, \
    .traffic_class = 0x0, .hop_limit = 0x40, \
}

#define PVRDMA_VECTOR_PATH_9 { \
    .smac = { 0x52, 0x54, 0x0, 0x12, 0x34, 0x56 }, .dmac = { 0x52, 0x54, \
    0x0, 0x65, 0x43, 0x2f }, .sgid = { 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, \
    0x0, 0x0, 0x0, 0xff, 0xff, 0xb, 0x1, 0xd4, 0xe0 }, .dgid = { 0x0, 0x0, \
    0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0xff, 0xff, 0xb, 0x1, 0xd4, 0xe1 \
    }, .flow_label = 0x0, .vlan = 0x0, .sport = 0xc123, .network = 0x1, \
    .traffic_class = 0x6a, .hop_limit = 0x3f, \
}

#define PVRDMA_VECTOR_PATH_10 { \
    .smac = { 0x52, 0x54, 0x0, 0x12, 0x34, 0x56 }, .dmac = { 0x52, 0x54, \
    0x0, 0x65, 0x43, 0x2f }, .sgid = { 0xfe, 0x80, 0x0, 0x0, 0x0, 0x0, 0x0, \
    0x0, 0x50, 0x54, 0x0, 0xff, 0xfe, 0x12, 0x34, 0x56 }, .dgid = { 0xfd, \
    0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0xb, \
    0xb }, .flow_label = 0xfedcb, .vlan = 0x0, .sport = 0xffee, \
    .network = 0x2, .traffic_class = 0xa5, .hop_limit = 0x1, \
}

static const struct {
    const char *name;
    RocePath path;
    RocePacket pkt;
    const char *bytes;      /* as hexadecimal digits */
} pvrdma_vectors[] = {
    {
        .name = "document-v1",
        .path = PVRDMA_VECTOR_PATH_0,
        .pkt = { .opcode = 0xc, .ack_req = 0x1, .pkey = 0xffff,
        .qpn = 0x100000, .psn = 0x200000, .dma_len = 0x40, },
        .bytes =
            "52540065432f52540012345608004500003c000000004011baed0b01d4e00b01"
            "d4e112b712b7002800000c00ffff001000008020000000000000000000000000"
            "00000000004084beda43",
    },
    {
        .name = "document-v2",
        .path = PVRDMA_VECTOR_PATH_1,
        .pkt = { .opcode = 0x10, .pkey = 0xffff, .psn = 0x200000,
        .syndrome = 0x1f, .msn = 0x1, .payload_len = 0x40, },
        .bytes =
            "52540012345652540065432f080045000070000000004011bab90b01d4e10b01"
            "d4e012b712b7005c00001000ffff00000000002000001f000001000102030405"
            "060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f202122232425"
            "262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3fac976ec6",
    },
    {
        .name = "document-v3",
        .path = PVRDMA_VECTOR_PATH_0,
        .pkt = { .opcode = 0xa, .ack_req = 0x1, .pkey = 0xffff,
        .qpn = 0x100000, .psn = 0x200001, .va = 0x1000, .dma_len = 0x40,
        .payload_len = 0x40, },
        .bytes =
            "52540065432f52540012345608004500007c000000004011baad0b01d4e00b01"
            "d4e112b712b7006800000a00ffff001000008020000100000000000010000000"
            "000000000040000102030405060708090a0b0c0d0e0f10111213141516171819"
            "1a1b1c1d1e1f202122232425262728292a2b2c2d2e2f30313233343536373839"
            "3a3b3c3d3e3f944e376c",
    },
    {
        .name = "document-v4",
        .path = PVRDMA_VECTOR_PATH_1,
        .pkt = { .opcode = 0x11, .pkey = 0xffff, .psn = 0x200001,
        .syndrome = 0x1f, .msn = 0x2, },
        .bytes =
            "52540012345652540065432f080045000030000000004011baf90b01d4e10b01"
            "d4e012b712b7001c00001100ffff00000000002000011f000002161e6abd",
    },
    {
        .name = "document-v5",
        .path = PVRDMA_VECTOR_PATH_1,
        .pkt = { .opcode = 0x11, .pkey = 0xffff, .psn = 0x200002,
        .syndrome = 0x60, .msn = 0x2, },
        .bytes =
            "52540012345652540065432f080045000030000000004011baf90b01d4e10b01"
            "d4e012b712b7001c00001100ffff0000000000200002600000020cd496c9",
    },
    {
        .name = "opcode-send_first",
        .path = PVRDMA_VECTOR_PATH_2,
        .pkt = { .opcode = 0x0, .ack_req = 0x1, .pkey = 0xffff,
        .qpn = 0x123456, .psn = 0xfedcba, },
        .bytes =
            "52540065432f52540012345689156001234500101b40fe800000000000005054"
            "00fffe123456fd000000000000000000000000000b0b0000ffff0012345680fe"
            "dcba6343e175",
    },
    {
        .name = "opcode-send_middle",
        .path = PVRDMA_VECTOR_PATH_3,
        .pkt = { .opcode = 0x1, .ack_req = 0x1, .pkey = 0xffff,
        .qpn = 0x123456, .psn = 0xfedcba, .payload_len = 0x1, },
        .bytes =
            "52540065432f5254001234568100e1230800456a0030000000003f11bb8f0b01"
            "d4e00b01d4e1c12312b7001c00000130ffff0012345680fedcba00000000c45d"
            "5ecd",
    },
    {
        .name = "opcode-send_last",
        .path = PVRDMA_VECTOR_PATH_4,
        .pkt = { .opcode = 0x2, .ack_req = 0x1, .pkey = 0xffff,
        .qpn = 0x123456, .psn = 0xfedcba, .payload_len = 0x2, },
        .bytes =
            "52540065432f52540012345686dd6a5fedcb001c1101fe800000000000005054"
            "00fffe123456fd000000000000000000000000000b0bffee12b7001c00000220"
            "ffff0012345680fedcba000100007d60afad",
    },
    {
        .name = "opcode-send_last_imm",
        .path = PVRDMA_VECTOR_PATH_5,
        .pkt = { .opcode = 0x3, .ack_req = 0x1, .pkey = 0xffff,
        .qpn = 0x123456, .psn = 0xfedcba, .imm = const_le32(0xdf0feca),
        .payload_len = 0x3, },
        .bytes =
            "52540065432f5254001234568100e12389156001234500181b40fe8000000000"
            "0000505400fffe123456fd000000000000000000000000000b0b0310ffff0012"
            "345680fedcbacafef00d000102002a97d9d4",
    },
    {
        .name = "opcode-send_only",
        .path = PVRDMA_VECTOR_PATH_6,
        .pkt = { .opcode = 0x4, .ack_req = 0x1, .pkey = 0xffff,
        .qpn = 0x123456, .psn = 0xfedcba, .payload_len = 0x4, },
        .bytes =
            "52540065432f5254001234560800456a0030000000003f11bb8f0b01d4e00b01"
            "d4e1c12312b7001c00000400ffff0012345680fedcba000102030c785dd1",
    },
    {
        .name = "opcode-send_only_imm",
        .path = PVRDMA_VECTOR_PATH_7,
        .pkt = { .opcode = 0x5, .ack_req = 0x1, .pkey = 0xffff,
        .qpn = 0x123456, .psn = 0xfedcba, .imm = const_le32(0xdf0feca),
        .payload_len = 0x5, },
        .bytes =
            "52540065432f5254001234568100e12386dd6a5fedcb00241101fe8000000000"
            "0000505400fffe123456fd000000000000000000000000000b0bffee12b70024"
            "00000530ffff0012345680fedcbacafef00d0001020304000000e272a26a",
    },
    {
        .name = "opcode-write_first",
        .path = PVRDMA_VECTOR_PATH_2,
        .pkt = { .opcode = 0x6, .ack_req = 0x1, .pkey = 0xffff,
        .qpn = 0x123456, .psn = 0xfedcba, .va = 0x1122334455667788,
        .rkey = 0x99aabbcc, .dma_len = 0x80000000, .payload_len = 0x6, },
        .bytes =
            "52540065432f52540012345689156001234500281b40fe800000000000005054"
            "00fffe123456fd000000000000000000000000000b0b0620ffff0012345680fe"
            "dcba112233445566778899aabbcc800000000001020304050000e37f70a6",
    },
    {
        .name = "opcode-write_middle",
        .path = PVRDMA_VECTOR_PATH_3,
        .pkt = { .opcode = 0x7, .ack_req = 0x1, .pkey = 0xffff,
        .qpn = 0x123456, .psn = 0xfedcba, .payload_len = 0x7, },
        .bytes =
            "52540065432f5254001234568100e1230800456a0034000000003f11bb8b0b01"
            "d4e00b01d4e1c12312b7002000000710ffff0012345680fedcba000102030405"
            "06007fdf104c",
    },
    {
        .name = "opcode-write_last",
        .path = PVRDMA_VECTOR_PATH_4,
        .pkt = { .opcode = 0x8, .ack_req = 0x1, .pkey = 0xffff,
        .qpn = 0x123456, .psn = 0xfedcba, .payload_len = 0x8, },
        .bytes =
            "52540065432f52540012345686dd6a5fedcb00201101fe800000000000005054"
            "00fffe123456fd000000000000000000000000000b0bffee12b7002000000800"
            "ffff0012345680fedcba00010203040506071c223424",
    },
    {
        .name = "opcode-write_last_imm",
        .path = PVRDMA_VECTOR_PATH_5,
        .pkt = { .opcode = 0x9, .ack_req = 0x1, .pkey = 0xffff,
        .qpn = 0x123456, .psn = 0xfedcba, .imm = const_le32(0xdf0feca), },
        .bytes =
            "52540065432f5254001234568100e12389156001234500141b40fe8000000000"
            "0000505400fffe123456fd000000000000000000000000000b0b0900ffff0012"
            "345680fedcbacafef00ddef2c492",
    },
    {
        .name = "opcode-write_only",
        .path = PVRDMA_VECTOR_PATH_6,
        .pkt = { .opcode = 0xa, .ack_req = 0x1, .pkey = 0xffff,
        .qpn = 0x123456, .psn = 0xfedcba, .va = 0x1122334455667788,
        .rkey = 0x99aabbcc, .dma_len = 0x80000000, .payload_len = 0x1, },
        .bytes =
            "52540065432f5254001234560800456a0040000000003f11bb7f0b01d4e00b01"
            "d4e1c12312b7002c00000a30ffff0012345680fedcba112233445566778899aa"
            "bbcc80000000000000002f796c44",
    },
    {
        .name = "opcode-write_only_imm",
        .path = PVRDMA_VECTOR_PATH_7,
        .pkt = { .opcode = 0xb, .ack_req = 0x1, .pkey = 0xffff,
        .qpn = 0x123456, .psn = 0xfedcba, .va = 0x1122334455667788,
        .rkey = 0x99aabbcc, .dma_len = 0x80000000,
        .imm = const_le32(0xdf0feca), .payload_len = 0x2, },
        .bytes =
            "52540065432f5254001234568100e12386dd6a5fedcb00301101fe8000000000"
            "0000505400fffe123456fd000000000000000000000000000b0bffee12b70030"
            "00000b20ffff0012345680fedcba112233445566778899aabbcc80000000cafe"
            "f00d000100007760e096",
    },
    {
        .name = "opcode-read_request",
        .path = PVRDMA_VECTOR_PATH_2,
        .pkt = { .opcode = 0xc, .ack_req = 0x1, .pkey = 0xffff,
        .qpn = 0x123456, .psn = 0xfedcba, .va = 0x1122334455667788,
        .rkey = 0x99aabbcc, .dma_len = 0x80000000, },
        .bytes =
            "52540065432f52540012345689156001234500201b40fe800000000000005054"
            "00fffe123456fd000000000000000000000000000b0b0c00ffff0012345680fe"
            "dcba112233445566778899aabbcc80000000b5779f71",
    },
    {
        .name = "opcode-read_resp_first",
        .path = PVRDMA_VECTOR_PATH_3,
        .pkt = { .opcode = 0xd, .ack_req = 0x1, .pkey = 0xffff,
        .qpn = 0x123456, .psn = 0xfedcba, .syndrome = 0x1f, .msn = 0xabcdef,
        .payload_len = 0x4, },
        .bytes =
            "52540065432f5254001234568100e1230800456a0034000000003f11bb8b0b01"
            "d4e00b01d4e1c12312b7002000000d00ffff0012345680fedcba1fabcdef0001"
            "020366c69336",
    },
    {
        .name = "opcode-read_resp_middle",
        .path = PVRDMA_VECTOR_PATH_4,
        .pkt = { .opcode = 0xe, .ack_req = 0x1, .pkey = 0xffff,
        .qpn = 0x123456, .psn = 0xfedcba, .payload_len = 0x5, },
        .bytes =
            "52540065432f52540012345686dd6a5fedcb00201101fe800000000000005054"
            "00fffe123456fd000000000000000000000000000b0bffee12b7002000000e30"
            "ffff0012345680fedcba00010203040000001902245b",
    },
    {
        .name = "opcode-read_resp_last",
        .path = PVRDMA_VECTOR_PATH_5,
        .pkt = { .opcode = 0xf, .ack_req = 0x1, .pkey = 0xffff,
        .qpn = 0x123456, .psn = 0xfedcba, .syndrome = 0x1f, .msn = 0xabcdef,
        .payload_len = 0x6, },
        .bytes =
            "52540065432f5254001234568100e123891560012345001c1b40fe8000000000"
            "0000505400fffe123456fd000000000000000000000000000b0b0f20ffff0012"
            "345680fedcba1fabcdef00010203040500000bd33c8b",
    },
    {
        .name = "opcode-read_resp_only",
        .path = PVRDMA_VECTOR_PATH_6,
        .pkt = { .opcode = 0x10, .ack_req = 0x1, .pkey = 0xffff,
        .qpn = 0x123456, .psn = 0xfedcba, .syndrome = 0x1f, .msn = 0xabcdef,
        .payload_len = 0x7, },
        .bytes =
            "52540065432f5254001234560800456a0038000000003f11bb870b01d4e00b01"
            "d4e1c12312b7002400001010ffff0012345680fedcba1fabcdef000102030405"
            "060028ad6c34",
    },
    {
        .name = "opcode-ack",
        .path = PVRDMA_VECTOR_PATH_7,
        .pkt = { .opcode = 0x11, .ack_req = 0x1, .pkey = 0xffff,
        .qpn = 0x123456, .psn = 0xfedcba, .syndrome = 0x1f, .msn = 0xabcdef,
        },
        .bytes =
            "52540065432f5254001234568100e12386dd6a5fedcb001c1101fe8000000000"
            "0000505400fffe123456fd000000000000000000000000000b0bffee12b7001c"
            "00001100ffff0012345680fedcba1fabcdef1a1df178",
    },
    {
        .name = "opcode-atomic_ack",
        .path = PVRDMA_VECTOR_PATH_2,
        .pkt = { .opcode = 0x12, .ack_req = 0x1, .pkey = 0xffff,
        .qpn = 0x123456, .psn = 0xfedcba, .original = 0xfedcba9876543210,
        .syndrome = 0x1f, .msn = 0xabcdef, },
        .bytes =
            "52540065432f525400123456891560012345001c1b40fe800000000000005054"
            "00fffe123456fd000000000000000000000000000b0b1200ffff0012345680fe"
            "dcba1fabcdeffedcba987654321009eca9e0",
    },
    {
        .name = "opcode-compare_swap",
        .path = PVRDMA_VECTOR_PATH_3,
        .pkt = { .opcode = 0x13, .ack_req = 0x1, .pkey = 0xffff,
        .qpn = 0x123456, .psn = 0xfedcba, .va = 0x1122334455667788,
        .rkey = 0x99aabbcc, .swap_add = 0x102030405060708,
        .compare = 0x8090a0b0c0d0e0f0, },
        .bytes =
            "52540065432f5254001234568100e1230800456a0048000000003f11bb770b01"
            "d4e00b01d4e1c12312b7003400001300ffff0012345680fedcba112233445566"
            "778899aabbcc01020304050607088090a0b0c0d0e0f075195dda",
    },
    {
        .name = "opcode-fetch_add",
        .path = PVRDMA_VECTOR_PATH_4,
        .pkt = { .opcode = 0x14, .ack_req = 0x1, .pkey = 0xffff,
        .qpn = 0x123456, .psn = 0xfedcba, .va = 0x1122334455667788,
        .rkey = 0x99aabbcc, .swap_add = 0x102030405060708,
        .compare = 0x8090a0b0c0d0e0f0, },
        .bytes =
            "52540065432f52540012345686dd6a5fedcb00341101fe800000000000005054"
            "00fffe123456fd000000000000000000000000000b0bffee12b7003400001400"
            "ffff0012345680fedcba112233445566778899aabbcc01020304050607088090"
            "a0b0c0d0e0f09b42c851",
    },
    {
        .name = "opcode-send_last_inv",
        .path = PVRDMA_VECTOR_PATH_5,
        .pkt = { .opcode = 0x16, .ack_req = 0x1, .pkey = 0xffff,
        .qpn = 0x123456, .psn = 0xfedcba, .inv_rkey = 0x5a5aa5a5,
        .payload_len = 0x3, },
        .bytes =
            "52540065432f5254001234568100e12389156001234500181b40fe8000000000"
            "0000505400fffe123456fd000000000000000000000000000b0b1610ffff0012"
            "345680fedcba5a5aa5a5000102008fe2e59f",
    },
    {
        .name = "opcode-send_only_inv",
        .path = PVRDMA_VECTOR_PATH_6,
        .pkt = { .opcode = 0x17, .ack_req = 0x1, .pkey = 0xffff,
        .qpn = 0x123456, .psn = 0xfedcba, .inv_rkey = 0x5a5aa5a5,
        .payload_len = 0x4, },
        .bytes =
            "52540065432f5254001234560800456a0034000000003f11bb8b0b01d4e00b01"
            "d4e1c12312b7002000001700ffff0012345680fedcba5a5aa5a50001020346fd"
            "d0d4",
    },
    {
        .name = "opcode-ud_send_only",
        .path = PVRDMA_VECTOR_PATH_7,
        .pkt = { .opcode = 0x64, .ack_req = 0x1, .pkey = 0xffff,
        .qpn = 0x123456, .psn = 0xfedcba, .qkey = 0x80010000,
        .src_qpn = 0x654321, .payload_len = 0x5, },
        .bytes =
            "52540065432f5254001234568100e12386dd6a5fedcb00281101fe8000000000"
            "0000505400fffe123456fd000000000000000000000000000b0bffee12b70028"
            "00006430ffff0012345680fedcba80010000006543210001020304000000ec2c"
            "51e6",
    },
    {
        .name = "opcode-ud_send_only_imm",
        .path = PVRDMA_VECTOR_PATH_2,
        .pkt = { .opcode = 0x65, .ack_req = 0x1, .pkey = 0xffff,
        .qpn = 0x123456, .psn = 0xfedcba, .qkey = 0x80010000,
        .src_qpn = 0x654321, .imm = const_le32(0xdf0feca), .payload_len = 0x6,
        },
        .bytes =
            "52540065432f52540012345689156001234500241b40fe800000000000005054"
            "00fffe123456fd000000000000000000000000000b0b6520ffff0012345680fe"
            "dcba8001000000654321cafef00d0001020304050000765e4cec",
    },
    {
        .name = "opcode-cnp",
        .path = PVRDMA_VECTOR_PATH_3,
        .pkt = { .opcode = 0x81, .ack_req = 0x1, .pkey = 0xffff,
        .qpn = 0x123456, .psn = 0xfedcba, .payload_len = 0x10, },
        .bytes =
            "52540065432f5254001234568100e1230800456a003c000000003f11bb830b01"
            "d4e00b01d4e1c12312b7002800008100ffff0012345680fedcba000102030405"
            "060708090a0b0c0d0e0f9f4647dd",
    },
    {
        .name = "v1-size-0",
        .path = PVRDMA_VECTOR_PATH_2,
        .pkt = { .opcode = 0x4, .ack_req = 0x1, .pkey = 0xffff,
        .qpn = 0x123456, .psn = 0xfedcba, },
        .bytes =
            "52540065432f52540012345689156001234500101b40fe800000000000005054"
            "00fffe123456fd000000000000000000000000000b0b0400ffff0012345680fe"
            "dcba1c78e776",
    },
    {
        .name = "v1-size-1",
        .path = PVRDMA_VECTOR_PATH_2,
        .pkt = { .opcode = 0x4, .ack_req = 0x1, .pkey = 0xffff,
        .qpn = 0x123456, .psn = 0xfedcba, .payload_len = 0x1, },
        .bytes =
            "52540065432f52540012345689156001234500141b40fe800000000000005054"
            "00fffe123456fd000000000000000000000000000b0b0430ffff0012345680fe"
            "dcba00000000eedc8e9b",
    },
    {
        .name = "v1-size-2",
        .path = PVRDMA_VECTOR_PATH_2,
        .pkt = { .opcode = 0x4, .ack_req = 0x1, .pkey = 0xffff,
        .qpn = 0x123456, .psn = 0xfedcba, .payload_len = 0x2, },
        .bytes =
            "52540065432f52540012345689156001234500141b40fe800000000000005054"
            "00fffe123456fd000000000000000000000000000b0b0420ffff0012345680fe"
            "dcba0001000096292ede",
    },
    {
        .name = "v1-size-3",
        .path = PVRDMA_VECTOR_PATH_2,
        .pkt = { .opcode = 0x4, .ack_req = 0x1, .pkey = 0xffff,
        .qpn = 0x123456, .psn = 0xfedcba, .payload_len = 0x3, },
        .bytes =
            "52540065432f52540012345689156001234500141b40fe800000000000005054"
            "00fffe123456fd000000000000000000000000000b0b0410ffff0012345680fe"
            "dcba00010200c5eabf20",
    },
    {
        .name = "v1-size-4",
        .path = PVRDMA_VECTOR_PATH_2,
        .pkt = { .opcode = 0x4, .ack_req = 0x1, .pkey = 0xffff,
        .qpn = 0x123456, .psn = 0xfedcba, .payload_len = 0x4, },
        .bytes =
            "52540065432f52540012345689156001234500141b40fe800000000000005054"
            "00fffe123456fd000000000000000000000000000b0b0400ffff0012345680fe"
            "dcba000102033024d4fd",
    },
    {
        .name = "v1-vlan-0",
        .path = PVRDMA_VECTOR_PATH_8,
        .pkt = { .opcode = 0x64, .ack_req = 0x1, .pkey = 0xffff,
        .qpn = 0x123456, .psn = 0xfedcba, .qkey = 0x80010000,
        .src_qpn = 0x654321, .payload_len = 0x9, },
        .bytes =
            "52540065432f5254001234568100000089156001234500241b40fe8000000000"
            "0000505400fffe123456fd000000000000000000000000000b0b6430ffff0012"
            "345680fedcba80010000006543210001020304050607080000004d4132dd",
    },
    {
        .name = "ipv4-size-0",
        .path = PVRDMA_VECTOR_PATH_6,
        .pkt = { .opcode = 0x4, .ack_req = 0x1, .pkey = 0xffff,
        .qpn = 0x123456, .psn = 0xfedcba, },
        .bytes =
            "52540065432f5254001234560800456a002c000000003f11bb930b01d4e00b01"
            "d4e1c12312b7001800000400ffff0012345680fedcba0db60879",
    },
    {
        .name = "ipv4-size-1",
        .path = PVRDMA_VECTOR_PATH_6,
        .pkt = { .opcode = 0x4, .ack_req = 0x1, .pkey = 0xffff,
        .qpn = 0x123456, .psn = 0xfedcba, .payload_len = 0x1, },
        .bytes =
            "52540065432f5254001234560800456a0030000000003f11bb8f0b01d4e00b01"
            "d4e1c12312b7001c00000430ffff0012345680fedcba00000000d28007b7",
    },
    {
        .name = "ipv4-size-2",
        .path = PVRDMA_VECTOR_PATH_6,
        .pkt = { .opcode = 0x4, .ack_req = 0x1, .pkey = 0xffff,
        .qpn = 0x123456, .psn = 0xfedcba, .payload_len = 0x2, },
        .bytes =
            "52540065432f5254001234560800456a0030000000003f11bb8f0b01d4e00b01"
            "d4e1c12312b7001c00000420ffff0012345680fedcba00010000aa75a7f2",
    },
    {
        .name = "ipv4-size-3",
        .path = PVRDMA_VECTOR_PATH_6,
        .pkt = { .opcode = 0x4, .ack_req = 0x1, .pkey = 0xffff,
        .qpn = 0x123456, .psn = 0xfedcba, .payload_len = 0x3, },
        .bytes =
            "52540065432f5254001234560800456a0030000000003f11bb8f0b01d4e00b01"
            "d4e1c12312b7001c00000410ffff0012345680fedcba00010200f9b6360c",
    },
    {
        .name = "ipv4-size-4",
        .path = PVRDMA_VECTOR_PATH_6,
        .pkt = { .opcode = 0x4, .ack_req = 0x1, .pkey = 0xffff,
        .qpn = 0x123456, .psn = 0xfedcba, .payload_len = 0x4, },
        .bytes =
            "52540065432f5254001234560800456a0030000000003f11bb8f0b01d4e00b01"
            "d4e1c12312b7001c00000400ffff0012345680fedcba000102030c785dd1",
    },
    {
        .name = "ipv4-vlan-0",
        .path = PVRDMA_VECTOR_PATH_9,
        .pkt = { .opcode = 0x64, .ack_req = 0x1, .pkey = 0xffff,
        .qpn = 0x123456, .psn = 0xfedcba, .qkey = 0x80010000,
        .src_qpn = 0x654321, .payload_len = 0x9, },
        .bytes =
            "52540065432f525400123456810000000800456a0040000000003f11bb7f0b01"
            "d4e00b01d4e1c12312b7002c00006430ffff0012345680fedcba800100000065"
            "432100010203040506070800000091edfaea",
    },
    {
        .name = "ipv6-size-0",
        .path = PVRDMA_VECTOR_PATH_4,
        .pkt = { .opcode = 0x4, .ack_req = 0x1, .pkey = 0xffff,
        .qpn = 0x123456, .psn = 0xfedcba, },
        .bytes =
            "52540065432f52540012345686dd6a5fedcb00181101fe800000000000005054"
            "00fffe123456fd000000000000000000000000000b0bffee12b7001800000400"
            "ffff0012345680fedcba25ed0a8a",
    },
    {
        .name = "ipv6-size-1",
        .path = PVRDMA_VECTOR_PATH_4,
        .pkt = { .opcode = 0x4, .ack_req = 0x1, .pkey = 0xffff,
        .qpn = 0x123456, .psn = 0xfedcba, .payload_len = 0x1, },
        .bytes =
            "52540065432f52540012345686dd6a5fedcb001c1101fe800000000000005054"
            "00fffe123456fd000000000000000000000000000b0bffee12b7001c00000430"
            "ffff0012345680fedcba00000000e1fc9ebb",
    },
    {
        .name = "ipv6-size-2",
        .path = PVRDMA_VECTOR_PATH_4,
        .pkt = { .opcode = 0x4, .ack_req = 0x1, .pkey = 0xffff,
        .qpn = 0x123456, .psn = 0xfedcba, .payload_len = 0x2, },
        .bytes =
            "52540065432f52540012345686dd6a5fedcb001c1101fe800000000000005054"
            "00fffe123456fd000000000000000000000000000b0bffee12b7001c00000420"
            "ffff0012345680fedcba0001000099093efe",
    },
    {
        .name = "ipv6-size-3",
        .path = PVRDMA_VECTOR_PATH_4,
        .pkt = { .opcode = 0x4, .ack_req = 0x1, .pkey = 0xffff,
        .qpn = 0x123456, .psn = 0xfedcba, .payload_len = 0x3, },
        .bytes =
            "52540065432f52540012345686dd6a5fedcb001c1101fe800000000000005054"
            "00fffe123456fd000000000000000000000000000b0bffee12b7001c00000410"
            "ffff0012345680fedcba00010200cacaaf00",
    },
    {
        .name = "ipv6-size-4",
        .path = PVRDMA_VECTOR_PATH_4,
        .pkt = { .opcode = 0x4, .ack_req = 0x1, .pkey = 0xffff,
        .qpn = 0x123456, .psn = 0xfedcba, .payload_len = 0x4, },
        .bytes =
            "52540065432f52540012345686dd6a5fedcb001c1101fe800000000000005054"
            "00fffe123456fd000000000000000000000000000b0bffee12b7001c00000400"
            "ffff0012345680fedcba000102033f04c4dd",
    },
    {
        .name = "ipv6-vlan-0",
        .path = PVRDMA_VECTOR_PATH_10,
        .pkt = { .opcode = 0x64, .ack_req = 0x1, .pkey = 0xffff,
        .qpn = 0x123456, .psn = 0xfedcba, .qkey = 0x80010000,
        .src_qpn = 0x654321, .payload_len = 0x9, },
        .bytes =
            "52540065432f5254001234568100000086dd6a5fedcb002c1101fe8000000000"
            "0000505400fffe123456fd000000000000000000000000000b0bffee12b7002c"
            "00006430ffff0012345680fedcba800100000065432100010203040506070800"
            "000051cc855a",
    },
    {
        .name = "only-solicited",
        .path = PVRDMA_VECTOR_PATH_0,
        .pkt = { .opcode = 0x4, .solicited = 0x1, },
        .bytes =
            "52540065432f52540012345608004500002c000000004011bafd0b01d4e00b01"
            "d4e112b712b700180000048000000000000000000000f77a7f5b",
    },
    {
        .name = "only-ack_req",
        .path = PVRDMA_VECTOR_PATH_0,
        .pkt = { .opcode = 0x4, .ack_req = 0x1, },
        .bytes =
            "52540065432f52540012345608004500002c000000004011bafd0b01d4e00b01"
            "d4e112b712b70018000004000000000000008000000053f9c7c1",
    },
    {
        .name = "only-fecn",
        .path = PVRDMA_VECTOR_PATH_0,
        .pkt = { .opcode = 0x4, .fecn = 0x1, },
        .bytes =
            "52540065432f52540012345608004500002c000000004011bafd0b01d4e00b01"
            "d4e112b712b700180000040000008000000000000000684f9e2c",
    },
    {
        .name = "only-becn",
        .path = PVRDMA_VECTOR_PATH_0,
        .pkt = { .opcode = 0x4, .becn = 0x1, },
        .bytes =
            "52540065432f52540012345608004500002c000000004011bafd0b01d4e00b01"
            "d4e112b712b700180000040000004000000000000000684f9e2c",
    },
    {
        .name = "only-pkey",
        .path = PVRDMA_VECTOR_PATH_0,
        .pkt = { .opcode = 0x4, .pkey = 0xffff, },
        .bytes =
            "52540065432f52540012345608004500002c000000004011bafd0b01d4e00b01"
            "d4e112b712b7001800000400ffff000000000000000037949684",
    },
    {
        .name = "only-qpn",
        .path = PVRDMA_VECTOR_PATH_0,
        .pkt = { .opcode = 0x4, .qpn = 0xffffff, },
        .bytes =
            "52540065432f52540012345608004500002c000000004011bafd0b01d4e00b01"
            "d4e112b712b7001800000400000000ffffff0000000018690890",
    },
    {
        .name = "only-psn",
        .path = PVRDMA_VECTOR_PATH_0,
        .pkt = { .opcode = 0x4, .psn = 0xffffff, },
        .bytes =
            "52540065432f52540012345608004500002c000000004011bafd0b01d4e00b01"
            "d4e112b712b700180000040000000000000000ffffff7a69202c",
    },
    {
        .name = "only-va",
        .path = PVRDMA_VECTOR_PATH_0,
        .pkt = { .opcode = 0x6, .va = 0xffffffffffffffff, },
        .bytes =
            "52540065432f52540012345608004500003c000000004011baed0b01d4e00b01"
            "d4e112b712b700280000060000000000000000000000ffffffffffffffff0000"
            "000000000000186ebcc2",
    },
    {
        .name = "only-rkey",
        .path = PVRDMA_VECTOR_PATH_0,
        .pkt = { .opcode = 0x6, .rkey = 0xffffffff, },
        .bytes =
            "52540065432f52540012345608004500003c000000004011baed0b01d4e00b01"
            "d4e112b712b7002800000600000000000000000000000000000000000000ffff"
            "ffff00000000b4c30fcf",
    },
    {
        .name = "only-dma_len",
        .path = PVRDMA_VECTOR_PATH_0,
        .pkt = { .opcode = 0x6, .dma_len = 0xffffffff, },
        .bytes =
            "52540065432f52540012345608004500003c000000004011baed0b01d4e00b01"
            "d4e112b712b70028000006000000000000000000000000000000000000000000"
            "0000ffffffffc1c3698b",
    },
    {
        .name = "only-swap_add",
        .path = PVRDMA_VECTOR_PATH_0,
        .pkt = { .opcode = 0x13, .swap_add = 0xffffffffffffffff, },
        .bytes =
            "52540065432f525400123456080045000048000000004011bae10b01d4e00b01"
            "d4e112b712b70034000013000000000000000000000000000000000000000000"
            "0000ffffffffffffffff0000000000000000e616cde9",
    },
    {
        .name = "only-compare",
        .path = PVRDMA_VECTOR_PATH_0,
        .pkt = { .opcode = 0x13, .compare = 0xffffffffffffffff, },
        .bytes =
            "52540065432f525400123456080045000048000000004011bae10b01d4e00b01"
            "d4e112b712b70034000013000000000000000000000000000000000000000000"
            "00000000000000000000ffffffffffffffffa99bc53a",
    },
    {
        .name = "only-original",
        .path = PVRDMA_VECTOR_PATH_0,
        .pkt = { .opcode = 0x12, .original = 0xffffffffffffffff, },
        .bytes =
            "52540065432f525400123456080045000038000000004011baf10b01d4e00b01"
            "d4e112b712b70024000012000000000000000000000000000000ffffffffffff"
            "ffff87ffbea9",
    },
    {
        .name = "only-syndrome",
        .path = PVRDMA_VECTOR_PATH_0,
        .pkt = { .opcode = 0xd, .syndrome = 0xff, },
        .bytes =
            "52540065432f525400123456080045000030000000004011baf90b01d4e00b01"
            "d4e112b712b7001c00000d0000000000000000000000ff000000a5ee29f2",
    },
    {
        .name = "only-msn",
        .path = PVRDMA_VECTOR_PATH_0,
        .pkt = { .opcode = 0xd, .msn = 0xffffff, },
        .bytes =
            "52540065432f525400123456080045000030000000004011baf90b01d4e00b01"
            "d4e112b712b7001c00000d000000000000000000000000ffffff46ce922c",
    },
    {
        .name = "only-qkey",
        .path = PVRDMA_VECTOR_PATH_0,
        .pkt = { .opcode = 0x64, .qkey = 0xffffffff, },
        .bytes =
            "52540065432f525400123456080045000034000000004011baf50b01d4e00b01"
            "d4e112b712b700200000640000000000000000000000ffffffff00000000513f"
            "ef64",
    },
    {
        .name = "only-src_qpn",
        .path = PVRDMA_VECTOR_PATH_0,
        .pkt = { .opcode = 0x64, .src_qpn = 0xffffff, },
        .bytes =
            "52540065432f525400123456080045000034000000004011baf50b01d4e00b01"
            "d4e112b712b7002000006400000000000000000000000000000000ffffffd539"
            "8cfe",
    },
    {
        .name = "only-imm",
        .path = PVRDMA_VECTOR_PATH_0,
        .pkt = { .opcode = 0x3, .imm = const_le32(0xffffffff), },
        .bytes =
            "52540065432f525400123456080045000030000000004011baf90b01d4e00b01"
            "d4e112b712b7001c0000030000000000000000000000ffffffff1c3e15d2",
    },
    {
        .name = "only-inv_rkey",
        .path = PVRDMA_VECTOR_PATH_0,
        .pkt = { .opcode = 0x16, .inv_rkey = 0xffffffff, },
        .bytes =
            "52540065432f525400123456080045000030000000004011baf90b01d4e00b01"
            "d4e112b712b7001c0000160000000000000000000000ffffffff94dd6b4e",
    },
};

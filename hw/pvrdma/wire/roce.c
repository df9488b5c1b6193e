/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Paravirtual RDMA NIC: builds and parses RoCE frames.
 *
 * For the ICRC, all bits of header fields that switches may change count as 1.  So
 * network_icrc() copies the headers and masks the copy; the payload is not copied.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "net/eth.h"
#include "../../core/crc.h"
#include "roce.h"

#define IPV4_HLEN       20
#define IPV6_HLEN       40
#define UDP_HLEN        8
#define NETWORK_HLEN_MAX (IPV6_HLEN + UDP_HLEN)
#define IPV4_VERSION_LEN 0x45           /* version 4, header without options */
#define IPV6_VERSION    0x60000000u
#define HOP_LIMIT       64              /* used if the path has hop limit 0 */
/* CRC-32 of eight bytes 0xff, which replace the InfiniBand header LRH [IBTA]. */
#define ICRC_LRH        0x2144df1cu

/* Limits of the number of bytes from the BTH to the ICRC, both included. */
#define TRANSPORT_MIN   (sizeof(struct roce_bth) + ROCE_ICRC_BYTES)
#define TRANSPORT_MAX   (sizeof(struct roce_bth) + \
                         sizeof(struct roce_atomic_eth) + ROCE_MTU_MAX + \
                         ROCE_ICRC_BYTES)

/* First bytes of a GID that is an IPv4 address, ::ffff:a.b.c.d. */
static const uint8_t ipv4_prefix[12] = { [10] = 0xff, [11] = 0xff };

/* --- Opcodes ------------------------------------------------------------- */
#define FIRST   (ROCE_IS_FIRST)
#define LAST    (ROCE_IS_LAST)
#define ONLY    (ROCE_IS_FIRST | ROCE_IS_LAST)
#define PAYLOAD ROCE_HAS_PAYLOAD
#define SEND    (ROCE_IS_SEND | ROCE_IS_REQUEST | PAYLOAD)
#define WRITE   (ROCE_IS_WRITE | ROCE_IS_REQUEST | PAYLOAD)
#define READ_RESP (ROCE_IS_READ | ROCE_IS_RESPONSE | PAYLOAD)
#define ATOMIC  (ROCE_IS_ATOMIC | ROCE_IS_REQUEST | ROCE_HAS_ATOMIC | ONLY)
#define RETH    ROCE_HAS_RETH
#define AETH    ROCE_HAS_AETH
#define IMM     ROCE_HAS_IMM
#define IETH    ROCE_HAS_IETH
#define DETH    ROCE_HAS_DETH

#define HEADER(flags, flag, type) ((flags) & (flag) ? sizeof(type) : 0)
#define OPCODE(op, f) \
    [ROCE_OP_##op] = { \
        .name = #op, \
        .flags = (f), \
        .header_bytes = sizeof(struct roce_bth) + \
            HEADER(f, ROCE_HAS_RETH, struct roce_reth) + \
            HEADER(f, ROCE_HAS_AETH, struct roce_aeth) + \
            HEADER(f, ROCE_HAS_ATOMIC, struct roce_atomic_eth) + \
            HEADER(f, ROCE_HAS_ATOMIC_ACK, struct roce_atomic_ack_eth) + \
            HEADER(f, ROCE_HAS_DETH, struct roce_deth) + \
            HEADER(f, ROCE_HAS_IMM, struct roce_immdt) + \
            HEADER(f, ROCE_HAS_IETH, struct roce_ieth), \
    }

const RoceOpcodeInfo roce_opcodes[256] = {
    OPCODE(SEND_FIRST, SEND | FIRST),
    OPCODE(SEND_MIDDLE, SEND),
    OPCODE(SEND_LAST, SEND | LAST),
    OPCODE(SEND_LAST_IMM, SEND | LAST | IMM),
    OPCODE(SEND_ONLY, SEND | ONLY),
    OPCODE(SEND_ONLY_IMM, SEND | ONLY | IMM),
    OPCODE(WRITE_FIRST, WRITE | FIRST | RETH),
    OPCODE(WRITE_MIDDLE, WRITE),
    OPCODE(WRITE_LAST, WRITE | LAST),
    OPCODE(WRITE_LAST_IMM, WRITE | LAST | IMM),
    OPCODE(WRITE_ONLY, WRITE | ONLY | RETH),
    OPCODE(WRITE_ONLY_IMM, WRITE | ONLY | RETH | IMM),
    OPCODE(READ_REQUEST, ROCE_IS_READ | ROCE_IS_REQUEST | ONLY | RETH),
    OPCODE(READ_RESP_FIRST, READ_RESP | FIRST | AETH),
    OPCODE(READ_RESP_MIDDLE, READ_RESP),
    OPCODE(READ_RESP_LAST, READ_RESP | LAST | AETH),
    OPCODE(READ_RESP_ONLY, READ_RESP | ONLY | AETH),
    OPCODE(ACK, ROCE_IS_RESPONSE | ONLY | AETH),
    OPCODE(ATOMIC_ACK, ROCE_IS_ATOMIC | ROCE_IS_RESPONSE | ONLY | AETH |
                       ROCE_HAS_ATOMIC_ACK),
    OPCODE(COMPARE_SWAP, ATOMIC),
    OPCODE(FETCH_ADD, ATOMIC),
    OPCODE(SEND_LAST_INV, SEND | LAST | IETH),
    OPCODE(SEND_ONLY_INV, SEND | ONLY | IETH),
    OPCODE(UD_SEND_ONLY, SEND | ONLY | DETH),
    OPCODE(UD_SEND_ONLY_IMM, SEND | ONLY | DETH | IMM),
    OPCODE(CNP, ROCE_IS_CNP | PAYLOAD),
};

/* --- Layers -------------------------------------------------------------- */
/*
 * Returns the EtherType of a frame; if the frame has a VLAN tag, the EtherType behind the
 * tag.  Stores the offset of the network header in *@network_at.  The frame must have at
 * least 18 bytes.
 */
static uint16_t frame_ethertype(const uint8_t *frame, size_t *network_at)
{
    uint16_t type = lduw_be_p(frame + offsetof(struct eth_header, h_proto));

    *network_at = ETH_HLEN;
    if (type == ETH_P_VLAN) {
        *network_at += sizeof(struct vlan_header);
        type = lduw_be_p(frame + *network_at - sizeof(uint16_t));
    }
    return type;
}

size_t roce_frame_network_at(const uint8_t *frame)
{
    size_t at;

    frame_ethertype(frame, &at);
    return at;
}

/*
 * Returns true if the frame has a whole UDP header at byte @udp, and the destination port
 * is that of RoCE.
 */
static bool udp_is_roce(const uint8_t *frame, size_t len, size_t udp)
{
    return udp + UDP_HLEN <= len &&
           lduw_be_p(frame + udp + offsetof(udp_header, uh_dport)) ==
           ROCE_UDP_PORT;
}

bool roce_frame_is(const uint8_t *frame, size_t len)
{
    const uint8_t *ip;
    uint16_t type;
    size_t at;

    if (len < ETH_HLEN + sizeof(struct vlan_header) + IPV4_HLEN) {
        return false;
    }
    type = frame_ethertype(frame, &at);
    ip = frame + at;
    switch (type) {
    case ETH_P_IP:
        /*
         * A packet with options, and a first fragment, are RoCE here; roce_frame_parse()
         * refuses such packets.  Later fragments have no UDP header, so the paired NIC
         * gets them.
         */
        return ip[offsetof(struct ip_header, ip_p)] == IP_PROTO_UDP &&
               !(lduw_be_p(ip + offsetof(struct ip_header, ip_off)) & IP_OFFMASK) &&
               udp_is_roce(frame, len, at + (ip[0] & 0xf) * 4);
    case ETH_P_IPV6:
        return ip[offsetof(struct ip6_header, ip6_ctlun.ip6_un1.ip6_un1_nxt)] ==
               IP_PROTO_UDP && udp_is_roce(frame, len, at + IPV6_HLEN);
    case ROCE_ETHERTYPE_V1:
        return true;
    default:
        return false;
    }
}

/* Returns the number of bytes from the beginning of the network header to the BTH. */
static size_t network_bytes(RoceNetwork network)
{
    static const uint8_t bytes[] = {
        [ROCE_NETWORK_V1] = ROCE_GRH_BYTES,
        [ROCE_NETWORK_IPV4] = IPV4_HLEN + UDP_HLEN,
        [ROCE_NETWORK_IPV6] = IPV6_HLEN + UDP_HLEN,
    };

    return bytes[network];
}

static RoceNetwork frame_network(const uint8_t *frame, size_t *network_at)
{
    switch (frame_ethertype(frame, network_at)) {
    case ETH_P_IP:
        return ROCE_NETWORK_IPV4;
    case ETH_P_IPV6:
        return ROCE_NETWORK_IPV6;
    default:
        return ROCE_NETWORK_V1;
    }
}

/*
 * Returns the checksum of an IPv4 header without options, in host byte order.  Returns 0
 * if the header contains its correct checksum.
 */
static uint16_t ipv4_checksum(const uint8_t *ip)
{
    uint32_t sum = 0;

#pragma GCC unroll 10
    for (unsigned i = 0; i < IPV4_HLEN; i += 2) {
        sum += lduw_be_p(ip + i);
    }
    sum = (sum & 0xffff) + (sum >> 16);
    return ~(sum + (sum >> 16));
}

/* --- ICRC ---------------------------------------------------------------- */
/*
 * Returns the ICRC of a packet, in host byte order.  @network is the address of the
 * network header.  @len is the number of bytes from this header to the ICRC, without the
 * ICRC.
 */
static uint32_t network_icrc(RoceNetwork kind, const uint8_t *network,
                             size_t len)
{
    size_t bth = network_bytes(kind);
    size_t copied = bth + offsetof(struct roce_bth, psn);
    uint8_t hdr[NETWORK_HLEN_MAX + offsetof(struct roce_bth, psn)];
    uint32_t crc;

    memcpy(hdr, network, copied);
    if (kind == ROCE_NETWORK_IPV4) {
        hdr[offsetof(struct ip_header, ip_tos)] = 0xff;
        hdr[offsetof(struct ip_header, ip_ttl)] = 0xff;
        stw_be_p(hdr + offsetof(struct ip_header, ip_sum), 0xffff);
    } else {
        stl_be_p(hdr, ldl_be_p(hdr) | ~0xf0000000u);
        hdr[offsetof(struct ip6_header, ip6_ctlun.ip6_un1.ip6_un1_hlim)] = 0xff;
    }
    if (kind != ROCE_NETWORK_V1) {
        /* In the ICRC all bits of the UDP checksum count as 1. */
        stw_be_p(hdr + bth - sizeof(uint16_t), 0xffff);
    }
    hdr[bth + offsetof(struct roce_bth, qpn)] = 0xff;
    crc = rnic_crc32(ICRC_LRH, hdr, copied);
    return rnic_crc32(crc, network + copied, len - copied);
}

uint32_t roce_icrc(const uint8_t *frame, size_t len)
{
    size_t at;
    RoceNetwork kind = frame_network(frame, &at);

    return network_icrc(kind, frame + at, len - at - ROCE_ICRC_BYTES);
}

/* --- Building ------------------------------------------------------------ */
static uint8_t *put(uint8_t *at, const void *header, size_t len)
{
    memcpy(at, header, len);
    return at + len;
}

static uint8_t *ethernet_build(uint8_t *p, const RocePath *path)
{
    static const uint16_t types[] = {
        [ROCE_NETWORK_V1] = ROCE_ETHERTYPE_V1,
        [ROCE_NETWORK_IPV4] = ETH_P_IP,
        [ROCE_NETWORK_IPV6] = ETH_P_IPV6,
    };

    p = put(p, path->dmac, ETH_ALEN);
    p = put(p, path->smac, ETH_ALEN);
    if (path->vlan != ROCE_NO_VLAN) {
        stw_be_p(p, ETH_P_VLAN);
        stw_be_p(p + 2, path->vlan);
        p += sizeof(struct vlan_header);
    }
    stw_be_p(p, types[path->network]);
    return p + sizeof(uint16_t);
}

static uint8_t *udp_build(uint8_t *p, const RocePath *path)
{
    udp_header udp = {
        .uh_sport = cpu_to_be16(path->sport),
        .uh_dport = cpu_to_be16(ROCE_UDP_PORT),
    };

    return put(p, &udp, sizeof(udp));
}

static uint8_t *ipv4_build(uint8_t *p, const RocePath *path)
{
    struct ip_header ip = {
        .ip_ver_len = IPV4_VERSION_LEN,
        .ip_tos = path->traffic_class,
        .ip_ttl = path->hop_limit ?: HOP_LIMIT,
        .ip_p = IP_PROTO_UDP,
    };

    memcpy(&ip.ip_src, path->sgid + sizeof(ipv4_prefix), sizeof(ip.ip_src));
    memcpy(&ip.ip_dst, path->dgid + sizeof(ipv4_prefix), sizeof(ip.ip_dst));
    return udp_build(put(p, &ip, sizeof(ip)), path);
}

/*
 * Builds an IPv6 header or a GRH, which have the same layout, at @p.  @next is the value
 * of the field "next header".  Returns the address behind the header.
 */
static uint8_t *ipv6_build(uint8_t *p, const RocePath *path, uint8_t next)
{
    struct ip6_header ip = {
        .ip6_ctlun.ip6_un1 = {
            .ip6_un1_flow = cpu_to_be32(IPV6_VERSION |
                                        path->traffic_class << 20 |
                                        (path->flow_label & 0xfffff)),
            .ip6_un1_nxt = next,
            .ip6_un1_hlim = path->hop_limit ?: HOP_LIMIT,
        },
    };

    memcpy(&ip.ip6_src, path->sgid, sizeof(ip.ip6_src));
    memcpy(&ip.ip6_dst, path->dgid, sizeof(ip.ip6_dst));
    return put(p, &ip, sizeof(ip));
}

static uint8_t *bth_build(uint8_t *p, const RocePacket *pkt)
{
    struct roce_bth bth = {
        .opcode = pkt->opcode,
        .flags = pkt->solicited ? ROCE_BTH_SOLICITED : 0,
        .pkey = cpu_to_be16(pkt->pkey),
        .qpn = cpu_to_be32((pkt->qpn & ROCE_QPN_MASK) |
                           (pkt->fecn ? ROCE_BTH_FECN : 0) |
                           (pkt->becn ? ROCE_BTH_BECN : 0)),
        .psn = cpu_to_be32((pkt->psn & ROCE_PSN_MASK) |
                           (pkt->ack_req ? ROCE_BTH_ACK_REQ : 0)),
    };

    return put(p, &bth, sizeof(bth));
}

/*
 * Builds the extended headers of responses and datagrams at @p.  Returns the address
 * behind these headers.
 */
static uint8_t *response_build(uint8_t *p, uint32_t flags, const RocePacket *pkt)
{
    if (flags & ROCE_HAS_AETH) {
        stl_be_p(p, RNIC_PREP(ROCE_AETH_SYNDROME, pkt->syndrome) |
                    RNIC_PREP(ROCE_AETH_MSN, pkt->msn));
        p += sizeof(struct roce_aeth);
    }
    if (flags & ROCE_HAS_ATOMIC_ACK) {
        stq_be_p(p, pkt->original);
        p += sizeof(struct roce_atomic_ack_eth);
    }
    if (flags & ROCE_HAS_DETH) {
        stl_be_p(p, pkt->qkey);
        stl_be_p(p + offsetof(struct roce_deth, src_qpn),
                 pkt->src_qpn & ROCE_QPN_MASK);
        p += sizeof(struct roce_deth);
    }
    return p;
}

static uint8_t *extended_build(uint8_t *p, uint32_t flags, const RocePacket *pkt)
{
    if (flags & ROCE_HAS_RETH) {
        stq_be_p(p, pkt->va);
        stl_be_p(p + offsetof(struct roce_reth, rkey), pkt->rkey);
        stl_be_p(p + offsetof(struct roce_reth, dma_len), pkt->dma_len);
        p += sizeof(struct roce_reth);
    }
    if (flags & ROCE_HAS_ATOMIC) {
        stq_be_p(p, pkt->va);
        stl_be_p(p + offsetof(struct roce_atomic_eth, rkey), pkt->rkey);
        stq_be_p(p + offsetof(struct roce_atomic_eth, swap_add), pkt->swap_add);
        stq_be_p(p + offsetof(struct roce_atomic_eth, compare), pkt->compare);
        p += sizeof(struct roce_atomic_eth);
    }
    p = response_build(p, flags, pkt);
    if (flags & ROCE_HAS_IMM) {
        p = put(p, &pkt->imm, sizeof(pkt->imm));
    }
    if (flags & ROCE_HAS_IETH) {
        stl_be_p(p, pkt->inv_rkey);
        p += sizeof(struct roce_ieth);
    }
    return p;
}

size_t roce_frame_begin(uint8_t *frame, const RocePath *path,
                        const RocePacket *pkt)
{
    uint8_t *p = ethernet_build(frame, path);

    switch (path->network) {
    case ROCE_NETWORK_IPV4:
        p = ipv4_build(p, path);
        break;
    case ROCE_NETWORK_IPV6:
        p = udp_build(ipv6_build(p, path, IP_PROTO_UDP), path);
        break;
    default:
        p = ipv6_build(p, path, ROCE_GRH_NEXT_BTH);
    }
    p = bth_build(p, pkt);
    return extended_build(p, roce_opcodes[pkt->opcode].flags, pkt) - frame;
}

/*
 * Sets the lengths in the IP header or GRH and the UDP header, and the IPv4 checksum.
 * @len is the number of bytes from @network to the end of the ICRC.
 */
static void network_end(RoceNetwork kind, uint8_t *network, size_t len)
{
    size_t hlen = kind == ROCE_NETWORK_IPV4 ? IPV4_HLEN : IPV6_HLEN;

    if (kind == ROCE_NETWORK_IPV4) {
        stw_be_p(network + offsetof(struct ip_header, ip_len), len);
        stw_be_p(network + offsetof(struct ip_header, ip_sum),
                 ipv4_checksum(network));
    } else {
        stw_be_p(network + offsetof(struct ip6_header,
                                    ip6_ctlun.ip6_un1.ip6_un1_plen),
                 len - hlen);
    }
    if (kind != ROCE_NETWORK_V1) {
        stw_be_p(network + hlen + offsetof(udp_header, uh_ulen), len - hlen);
    }
}

size_t roce_frame_end(uint8_t *frame, size_t payload_at, size_t payload_len)
{
    size_t at, len = payload_at + payload_len;
    RoceNetwork kind = frame_network(frame, &at);
    unsigned pad = -payload_len & 3;

    frame[at + network_bytes(kind) + offsetof(struct roce_bth, flags)] |=
        RNIC_PREP(ROCE_BTH_PAD, pad);
    memset(frame + len, 0, pad);
    len += pad;
    network_end(kind, frame + at, len - at + ROCE_ICRC_BYTES);
    stl_le_p(frame + len, network_icrc(kind, frame + at, len - at));
    return len + ROCE_ICRC_BYTES;
}

/* --- Parsing ------------------------------------------------------------- */
static void ipv4_gid(uint8_t gid[16], const uint8_t *addr)
{
    memcpy(gid, ipv4_prefix, sizeof(ipv4_prefix));
    memcpy(gid + sizeof(ipv4_prefix), addr, 4);
}

/*
 * Parses an IPv4 header into @path.  *@len is the number of bytes from @network to the
 * end of the frame.  Reduces *@len to the length in the header.
 */
static RoceStatus ipv4_parse(const uint8_t *network, size_t *len, RocePath *path)
{
    struct ip_header ip;
    size_t total;

    if (*len < IPV4_HLEN + UDP_HLEN) {
        return ROCE_BAD_LENGTH;
    }
    memcpy(&ip, network, sizeof(ip));
    if (ip.ip_ver_len != IPV4_VERSION_LEN || ipv4_checksum(network) ||
        be16_to_cpu(ip.ip_off) & IP_MF) {
        return ROCE_BAD_IP;
    }
    total = be16_to_cpu(ip.ip_len);
    if (total > *len) {
        return ROCE_BAD_LENGTH;
    }
    *len = total;
    path->traffic_class = ip.ip_tos;
    path->hop_limit = ip.ip_ttl;
    path->flow_label = 0;
    ipv4_gid(path->sgid, network + offsetof(struct ip_header, ip_src));
    ipv4_gid(path->dgid, network + offsetof(struct ip_header, ip_dst));
    return ROCE_OK;
}

static RoceStatus ipv6_parse(const uint8_t *network, size_t *len, RocePath *path)
{
    struct ip6_header ip;
    uint32_t flow;
    size_t total;

    if (*len < IPV6_HLEN) {
        return ROCE_BAD_LENGTH;
    }
    memcpy(&ip, network, sizeof(ip));
    flow = be32_to_cpu(ip.ip6_ctlun.ip6_un1.ip6_un1_flow);
    if (flow >> 28 != IP_HEADER_VERSION_6 ||
        (path->network == ROCE_NETWORK_V1 &&
         ip.ip6_ctlun.ip6_un1.ip6_un1_nxt != ROCE_GRH_NEXT_BTH)) {
        return ROCE_BAD_IP;
    }
    total = be16_to_cpu(ip.ip6_ctlun.ip6_un1.ip6_un1_plen) + IPV6_HLEN;
    if (total > *len) {
        return ROCE_BAD_LENGTH;
    }
    *len = total;
    path->traffic_class = flow >> 20;
    path->flow_label = flow & 0xfffff;
    path->hop_limit = ip.ip6_ctlun.ip6_un1.ip6_un1_hlim;
    memcpy(path->sgid, &ip.ip6_src, sizeof(path->sgid));
    memcpy(path->dgid, &ip.ip6_dst, sizeof(path->dgid));
    return ROCE_OK;
}

/*
 * Parses the headers before the BTH into @path, whose network is set already.  @at is the
 * offset of the network header.  Reduces *@len as ipv4_parse() does.  Ignores the UDP
 * checksum, because senders of RoCE omit this checksum, and because the ICRC covers more
 * bytes [EXT].
 */
static RoceStatus network_parse(const uint8_t *frame, size_t at, size_t *len,
                                RocePath *path)
{
    bool ipv4 = path->network == ROCE_NETWORK_IPV4;
    size_t hlen = ipv4 ? IPV4_HLEN : IPV6_HLEN;
    const uint8_t *udp = frame + at + hlen;
    RoceStatus status;

    memcpy(path->dmac, frame, ETH_ALEN);
    memcpy(path->smac, frame + ETH_ALEN, ETH_ALEN);
    path->vlan = at == ETH_HLEN ? ROCE_NO_VLAN : lduw_be_p(frame + ETH_HLEN);
    status = ipv4 ? ipv4_parse(frame + at, len, path) :
                    ipv6_parse(frame + at, len, path);
    if (status != ROCE_OK) {
        return status;
    }
    path->sport = 0;
    if (*len < network_bytes(path->network) + TRANSPORT_MIN ||
        *len > network_bytes(path->network) + TRANSPORT_MAX) {
        return ROCE_BAD_LENGTH;
    }
    if (path->network != ROCE_NETWORK_V1) {
        path->sport = lduw_be_p(udp);
        if (lduw_be_p(udp + offsetof(udp_header, uh_ulen)) != *len - hlen) {
            return ROCE_BAD_LENGTH;
        }
    }
    return ROCE_OK;
}

static const uint8_t *response_parse(const uint8_t *p, uint32_t flags,
                                     RocePacket *pkt)
{
    if (flags & ROCE_HAS_AETH) {
        uint32_t aeth = ldl_be_p(p);

        pkt->syndrome = RNIC_GET(ROCE_AETH_SYNDROME, aeth);
        pkt->msn = RNIC_GET(ROCE_AETH_MSN, aeth);
        p += sizeof(struct roce_aeth);
    }
    if (flags & ROCE_HAS_ATOMIC_ACK) {
        pkt->original = ldq_be_p(p);
        p += sizeof(struct roce_atomic_ack_eth);
    }
    if (flags & ROCE_HAS_DETH) {
        pkt->qkey = ldl_be_p(p);
        pkt->src_qpn = ldl_be_p(p + offsetof(struct roce_deth, src_qpn)) &
                       ROCE_QPN_MASK;
        p += sizeof(struct roce_deth);
    }
    return p;
}

static void extended_parse(const uint8_t *p, uint32_t flags, RocePacket *pkt)
{
    if (flags & ROCE_HAS_RETH) {
        pkt->va = ldq_be_p(p);
        pkt->rkey = ldl_be_p(p + offsetof(struct roce_reth, rkey));
        pkt->dma_len = ldl_be_p(p + offsetof(struct roce_reth, dma_len));
        p += sizeof(struct roce_reth);
    }
    if (flags & ROCE_HAS_ATOMIC) {
        pkt->va = ldq_be_p(p);
        pkt->rkey = ldl_be_p(p + offsetof(struct roce_atomic_eth, rkey));
        pkt->swap_add = ldq_be_p(p + offsetof(struct roce_atomic_eth,
                                              swap_add));
        pkt->compare = ldq_be_p(p + offsetof(struct roce_atomic_eth, compare));
        p += sizeof(struct roce_atomic_eth);
    }
    p = response_parse(p, flags, pkt);
    if (flags & ROCE_HAS_IMM) {
        memcpy(&pkt->imm, p, sizeof(pkt->imm));
    }
    if (flags & ROCE_HAS_IETH) {
        pkt->inv_rkey = ldl_be_p(p);
    }
}

/*
 * Parses the @len bytes at @p: BTH, extended headers, payload and padding, without the
 * ICRC.  The caller has verified the ICRC.
 */
static RoceStatus transport_parse(const uint8_t *p, size_t len, RocePacket *pkt)
{
    const RoceOpcodeInfo *op;
    struct roce_bth bth;
    uint32_t qpn, psn;
    unsigned pad;

    memcpy(&bth, p, sizeof(bth));
    op = &roce_opcodes[bth.opcode];
    pad = RNIC_GET(ROCE_BTH_PAD, bth.flags);
    if (RNIC_GET(ROCE_BTH_VERSION, bth.flags)) {
        return ROCE_BAD_VERSION;
    }
    if (!op->name) {
        return ROCE_BAD_OPCODE;
    }
    if (len < op->header_bytes + pad || len & 3) {
        return ROCE_BAD_LENGTH;
    }
    len -= op->header_bytes + pad;
    if (len > (op->flags & ROCE_HAS_PAYLOAD ? ROCE_MTU_MAX : 0)) {
        return ROCE_BAD_LENGTH;
    }
    qpn = be32_to_cpu(bth.qpn);
    psn = be32_to_cpu(bth.psn);
    *pkt = (RocePacket) {
        .opcode = bth.opcode,
        .solicited = bth.flags & ROCE_BTH_SOLICITED,
        .ack_req = psn & ROCE_BTH_ACK_REQ,
        .fecn = qpn & ROCE_BTH_FECN,
        .becn = qpn & ROCE_BTH_BECN,
        .pkey = be16_to_cpu(bth.pkey),
        .qpn = qpn & ROCE_BTH_QPN,
        .psn = psn & ROCE_BTH_PSN,
        .payload = p + op->header_bytes,
        .payload_len = len,
    };
    extended_parse(p + sizeof(bth), op->flags, pkt);
    return ROCE_OK;
}

RoceStatus roce_frame_parse(const uint8_t *frame, size_t len, RocePath *path,
                            RocePacket *pkt)
{
    RoceStatus status;
    size_t at, bth;

    if (!roce_frame_is(frame, len)) {
        return ROCE_NOT_ROCE;
    }
    path->network = frame_network(frame, &at);
    len -= at;
    status = network_parse(frame, at, &len, path);
    if (status != ROCE_OK) {
        return status;
    }
    len -= ROCE_ICRC_BYTES;
    if (network_icrc(path->network, frame + at, len) !=
        ldl_le_p(frame + at + len)) {
        return ROCE_BAD_ICRC;
    }
    bth = network_bytes(path->network);
    return transport_parse(frame + at + bth, len - bth, pkt);
}

void roce_frame_grh(const uint8_t *frame, uint8_t grh[ROCE_GRH_BYTES])
{
    size_t at;

    if (frame_network(frame, &at) == ROCE_NETWORK_IPV4) {
        memset(grh, 0, ROCE_GRH_BYTES - IPV4_HLEN);
        memcpy(grh + ROCE_GRH_BYTES - IPV4_HLEN, frame + at, IPV4_HLEN);
    } else {
        memcpy(grh, frame + at, ROCE_GRH_BYTES);
    }
}

/* --- Times --------------------------------------------------------------- */
int64_t roce_rnr_ns(unsigned code)
{
    static const uint16_t units[32] = {     /* RNR wait, 10 us, by code */
        0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384,
        512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384,
        24576, 32768, 49152,
    };

    code &= 31;
    return 10000LL * (code ? units[code] : 65536);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Properties and texts that the classes of the device share, on any bus.  Only the bus
 * shells (exanet-pci.c, exanet-axi.c) and class.c include this header.
 */
#ifndef HW_EXANET_CLASS_H
#define HW_EXANET_CLASS_H

#include "qemu/units.h"
#include "../core/qom.h"
#include "exanet.h"

/*
 * The qdev properties of the device on any bus.  @_type is the struct of the bus shell,
 * @_state its member of type ExanetState.
 */
#define EXANET_PROPERTIES(_type, _state) \
    DEFINE_PROP_UINT32("coord", _type, _state.coord, 0), \
    DEFINE_PROP_STRING("dims", _type, _state.dims), \
    DEFINE_PROP_STRING("router", _type, _state.router_name), \
    DEFINE_PROP_STRING("routes", _type, _state.routes), \
    DEFINE_PROP_NETDEV("link0", _type, _state.port[0].conf.peers), \
    DEFINE_PROP_NETDEV("link1", _type, _state.port[1].conf.peers), \
    DEFINE_PROP_NETDEV("link2", _type, _state.port[2].conf.peers), \
    DEFINE_PROP_NETDEV("link3", _type, _state.port[3].conf.peers), \
    DEFINE_PROP_NETDEV("link4", _type, _state.port[4].conf.peers), \
    DEFINE_PROP_NETDEV("link5", _type, _state.port[5].conf.peers), \
    DEFINE_PROP_NETDEV("link6", _type, _state.port[6].conf.peers), \
    DEFINE_PROP_NETDEV("link7", _type, _state.port[7].conf.peers), \
    DEFINE_PROP_NETDEV("link8", _type, _state.port[8].conf.peers), \
    DEFINE_PROP_NETDEV("link9", _type, _state.port[9].conf.peers), \
    DEFINE_PROP_NETDEV("link10", _type, _state.port[10].conf.peers), \
    DEFINE_PROP_NETDEV("link11", _type, _state.port[11].conf.peers), \
    DEFINE_PROP_UINT32("peer0", _type, _state.port[0].peer_named, \
                       RNIC_PEER_ANY), \
    DEFINE_PROP_UINT32("peer1", _type, _state.port[1].peer_named, \
                       RNIC_PEER_ANY), \
    DEFINE_PROP_UINT32("peer2", _type, _state.port[2].peer_named, \
                       RNIC_PEER_ANY), \
    DEFINE_PROP_UINT32("peer3", _type, _state.port[3].peer_named, \
                       RNIC_PEER_ANY), \
    DEFINE_PROP_UINT32("peer4", _type, _state.port[4].peer_named, \
                       RNIC_PEER_ANY), \
    DEFINE_PROP_UINT32("peer5", _type, _state.port[5].peer_named, \
                       RNIC_PEER_ANY), \
    DEFINE_PROP_UINT32("peer6", _type, _state.port[6].peer_named, \
                       RNIC_PEER_ANY), \
    DEFINE_PROP_UINT32("peer7", _type, _state.port[7].peer_named, \
                       RNIC_PEER_ANY), \
    DEFINE_PROP_UINT32("peer8", _type, _state.port[8].peer_named, \
                       RNIC_PEER_ANY), \
    DEFINE_PROP_UINT32("peer9", _type, _state.port[9].peer_named, \
                       RNIC_PEER_ANY), \
    DEFINE_PROP_UINT32("peer10", _type, _state.port[10].peer_named, \
                       RNIC_PEER_ANY), \
    DEFINE_PROP_UINT32("peer11", _type, _state.port[11].peer_named, \
                       RNIC_PEER_ANY), \
    DEFINE_PROP_UINT32("ways", _type, _state.receiver.ways, EXANET_RX_WAYS), \
    DEFINE_PROP_UINT32("rx-fifo-words", _type, _state.rx_fifo_words, 16384), \
    DEFINE_PROP_UINT32("link-timeout-ms", _type, _state.link_timeout_ms, 5000), \
    DEFINE_PROP_UINT32("link-stall-ms", _type, _state.link_stall_ms, 1000), \
    DEFINE_PROP_UINT32("link-rate-kbps", _type, _state.link_rate_kbps, 0), \
    DEFINE_PROP_UINT32("link-latency-ns", _type, _state.link_latency_ns, 0), \
    DEFINE_PROP_UINT32("tlb-entries", _type, _state.tlb_entries, 4096), \
    DEFINE_PROP_SIZE("aperture-size", _type, _state.aperture_size, 7 * MiB), \
    DEFINE_PROP_UINT32("aperture-timeout-ms", _type, \
                       _state.aperture_timeout_ms, 900), \
    DEFINE_PROP_SIZE("bram-size", _type, _state.bram_size, 1 * MiB), \
    DEFINE_PROP_UINT32("cam-entries", _type, _state.cam_entries, \
                       EXANET_SHM_CAMS), \
    DEFINE_PROP_BOOL("shm-timing", _type, _state.shm_timing, false), \
    DEFINE_PROP_BOOL("runs", _type, _state.runs, true), \
    DEFINE_PROP_BOOL("crc", _type, _state.crc, false), \
    DEFINE_PROP_UINT8("user-page-shift", _type, _state.user_page_shift, 12), \
    DEFINE_PROP_UINT8("epoch", _type, _state.epoch_fixed, 0)

/*
 * Adds the descriptions of the properties, and the properties of qom.h, to @klass,
 * forbids migration, and sets the category of the device.  @klass must have
 * EXANET_PROPERTIES.  @state returns the ExanetState of an object.
 */
void exanet_class_init(ObjectClass *klass, RNicStateFn *state);
/*
 * Frees the memory that exanet_fini() does not free.  The bus shell calls this function
 * when QOM frees the object, also if exanet_init() was not called or has failed.
 */
void exanet_instance_fini(ExanetState *s);

#endif /* HW_EXANET_CLASS_H */

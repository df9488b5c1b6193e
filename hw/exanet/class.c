/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ExaNet: properties and texts that the classes of the device share, on any bus. */
#include "qemu/osdep.h"
#include "migration/vmstate.h"
#include "../core/qom.h"
#include "class.h"
#include "exanet.h"
#include "../link/inject.h"
#include "qom.h"
#include "shm/shm.h"
#include "net/router-arith.h"

static const RNicText texts[] = {
    { "coord", "Own coordinates, 22 bits: upper 21:14, offset 13:12, Z 11:8, "
               "Y 7:4, X 3:0; unlike the peer's" },
    { "dims", "Nodes in the rings of the torus, as 4x4 or 4x2x3 for X, Y and Z; 1: "
              "no ring; the same in all nodes" },
    { "router", "How the switch finds routes: torus, arithmetic (by cabinet 21:14, "
                "chassis 13:10 and card 9:0 of the coordinates) or table" },
    { "routes", "The table, rules VALUE/MASK>LINKS with ; between them, the first "
                "that fits: 0x14000/0x3fc000>0;0/0>2+3" },
    { "ways", "Ways of the receiver's context sets: 1, 2, 4, 8 or 16" },
    { "rx-fifo-words", "128-bit words of a link's receive FIFO, 256 (as in "
                       "hardware) to 65535" },
    { "link-stall-ms", "Packets for a peer that takes none for so long are "
                       "dropped; 0: never" },
    { "link-timeout-ms", "The link is down after so long without a frame of "
                         "the peer; 0: never" },
    { "link-rate-kbps", "PORT_RATE of all links after reset: kb/s of 128-bit "
                        "words in virtual time; 0: as fast as it can" },
    { "link-latency-ns", "PORT_LATENCY of all links after reset: ns of virtual "
                         "time that a frame needs" },
    { "tlb-entries", "Cached translations of 4-KB pages, a power of two from 16 "
                     "to 65536" },
    { "aperture-size", "Bytes of the aperture for loads and stores to other "
                       "nodes, a multiple of 4 KiB" },
    { "aperture-timeout-ms", "A load or store of a CPU that has no answer after so "
                             "many ms of the host's time fails, 1 to 60000" },
    { "bram-size", "Bytes of block RAM behind the aperture, a multiple of 4 KiB" },
    { "cam-entries", "Entries of each transaction table, 1 to 64" },
    { "shm-timing", "Loads, stores and CDMA take the virtual time that they take "
                    "on hardware" },
    { "runs", "Packets of a block travel together over cables to peers that accept "
              "it; off: one by one" },
    { "crc", "Packets have payload CRCs on every cable; off: not on an rnic-cable "
             "to a peer that accepts packets without" },
    { "user-page-shift", "log2 of the guest's page size: 12 or 16" },
    { "epoch", "First epoch, 1 to 255, for repeatable tests; 0: by the time" },
};

static const VMStateDescription exanet_vmstate = {
    .name = "exanet",
    .unmigratable = 1,
};

void exanet_class_init(ObjectClass *klass, RNicStateFn *state)
{
    DeviceClass *dc = DEVICE_CLASS(klass);

    dc->vmsd = &exanet_vmstate;
    set_bit(DEVICE_CATEGORY_NETWORK, dc->categories);
    rnic_class_describe(klass, texts, ARRAY_SIZE(texts));
    for (unsigned i = 0; i < EXANET_LINKS; i++) {
        g_autofree char *name = g_strdup_printf("link%u", i);

        object_class_property_set_description(klass, name,
            "Netdev that is a cable to a neighbour; at least one is needed");
        g_free(name);
        name = g_strdup_printf("peer%u", i);
        object_class_property_set_description(klass, name,
            "Coordinates of the neighbour at the link of that number: no other is "
            "believed; default: any that can be there");
    }
    exanet_qom_class_init(klass, state);
}

void exanet_instance_fini(ExanetState *s)
{
    exanet_shm_finalize(s);
    exanet_arith_fini(s);
    for (unsigned i = 0; i < EXANET_LINKS; i++) {
        rnic_inject_fini(&s->port[i]);
    }
}

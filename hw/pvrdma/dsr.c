/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Paravirtual RDMA NIC: the shared region.  The driver writes the addresses of rings and
 * slots to this region, and the device writes its capabilities to this region.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "../core/dma.h"
#include "base/caps.h"
#include "dsr.h"
#include "base/event.h"
#include "wire/port.h"
#include "pvrdma.h"

/*
 * Code of the maximal delay of an acknowledgement: 4.096 us * 2^15 = 134 ms.  The delay
 * is so long because the host may be busy.
 */
#define LOCAL_ACK_DELAY 15
/*
 * The driver's limit for address handles.  The number is arbitrary, because the device
 * keeps no address handles.
 */
#define MAX_AH 65536

static void caps_limits(struct pvrdma_device_caps *caps)
{
    caps->max_qp = cpu_to_le32(PVRDMA_QPS);
    caps->max_qp_wr = cpu_to_le32(PVRDMA_MAX_WR);
    caps->max_sge = cpu_to_le32(PVRDMA_MAX_SGE);
    caps->max_sge_rd = cpu_to_le32(PVRDMA_MAX_SGE);
    caps->max_cq = cpu_to_le32(PVRDMA_CQS);
    caps->max_cqe = cpu_to_le32(PVRDMA_MAX_CQE);
    caps->max_mr = cpu_to_le32(PVRDMA_MRS);
    caps->max_pd = cpu_to_le32(PVRDMA_PDS);
    caps->max_qp_rd_atom = cpu_to_le32(PVRDMA_MAX_RD_ATOMIC);
    caps->max_res_rd_atom = cpu_to_le32(PVRDMA_MAX_RD_ATOMIC * PVRDMA_QPS);
    caps->max_qp_init_rd_atom = cpu_to_le32(PVRDMA_MAX_RD_ATOMIC);
    caps->max_ah = cpu_to_le32(MAX_AH);
    caps->max_srq = cpu_to_le32(PVRDMA_SRQS);
    caps->max_srq_wr = cpu_to_le32(PVRDMA_MAX_WR);
    caps->max_srq_sge = cpu_to_le32(PVRDMA_MAX_SGE);
    caps->max_uar = cpu_to_le32(PVRDMA_UARS);
    caps->gid_tbl_len = cpu_to_le32(PVRDMA_GIDS);
    caps->max_pkeys = cpu_to_le16(PVRDMA_PKEYS);
    caps->max_fast_reg_page_list_len = cpu_to_le32(PVRDMA_MAX_FAST_REG_PAGES);
}

/* Returns the EUI-64 of the paired NIC's MAC, in host byte order. */
static uint64_t node_guid(PvrdmaState *s)
{
    uint8_t mac[6];
    uint8_t eui[8];

    pvrdma_port_mac(s, mac);
    memcpy(eui, mac, 3);
    memcpy(eui + 5, mac + 3, 3);
    eui[0] ^= 2;
    eui[3] = 0xff;
    eui[4] = 0xfe;
    return ldq_be_p(eui);
}

static bool caps_write(PvrdmaState *s)
{
    struct pvrdma_device_caps caps = {
        .fw_ver = cpu_to_le64(1ULL << 32),
        .node_guid = cpu_to_be64(node_guid(s)),
        .sys_image_guid = cpu_to_be64(node_guid(s)),
        .max_mr_size = cpu_to_le64(PVRDMA_MAX_MR_BYTES),
        .page_size_cap = cpu_to_le64(PVRDMA_PAGE_BYTES),
        .atomic_arg_sizes = cpu_to_le64(sizeof(uint64_t)),
        .vendor_id = cpu_to_le32(PVRDMA_PCI_VENDOR_ID),
        .vendor_part_id = cpu_to_le32(PVRDMA_PCI_DEVICE_ID),
        .hw_ver = cpu_to_le32(PVRDMA_PCI_REVISION),
        .local_ca_ack_delay = LOCAL_ACK_DELAY,
        .phys_port_cnt = 1,
        .mode = PVRDMA_DEVICE_MODE_ROCE,
        .atomic_ops = PVRDMA_ATOMIC_OP_COMP_SWAP | PVRDMA_ATOMIC_OP_FETCH_ADD,
        .bmme_flags = PVRDMA_BMME_FLAG_LOCAL_INV | PVRDMA_BMME_FLAG_REMOTE_INV |
                      PVRDMA_BMME_FLAG_FAST_REG_WR,
        .gid_types = pvrdma_gid_type(s),
    };

    caps_limits(&caps);
    return rnic_dma_write(&s->host, s->dsr_addr +
                          offsetof(struct pvrdma_device_shared_region, caps),
                          &caps, sizeof(caps));
}

static int rings_init(PvrdmaState *s,
                      const struct pvrdma_device_shared_region *dsr)
{
    int err = pvrdma_ring_init(s, &s->async,
                               le64_to_cpu(dsr->async_ring_pages.pdir_dma),
                               le32_to_cpu(dsr->async_ring_pages.num_pages),
                               sizeof(struct pvrdma_eqe));

    return err ?: pvrdma_ring_init(s, &s->cqne,
                                   le64_to_cpu(dsr->cq_ring_pages.pdir_dma),
                                   le32_to_cpu(dsr->cq_ring_pages.num_pages),
                                   sizeof(struct pvrdma_cqne));
}

static int dsr_accept(PvrdmaState *s)
{
    struct pvrdma_device_shared_region dsr;
    uint32_t version;
    int err;

    if (!rnic_dma_read(&s->host, s->dsr_addr, &dsr,
                       offsetof(struct pvrdma_device_shared_region, caps))) {
        return EFAULT;
    }
    version = MIN(le32_to_cpu(dsr.driver_version), s->version);
    if (version < PVRDMA_VERSION_ROCEV1) {
        return EPROTONOSUPPORT;
    }
    s->qp_handles = version >= PVRDMA_VERSION_QPHANDLE;
    err = rings_init(s, &dsr);
    if (err) {
        return err;
    }
    if (!caps_write(s)) {
        return EFAULT;
    }
    s->cmd_slot = le64_to_cpu(dsr.cmd_slot_dma);
    s->resp_slot = le64_to_cpu(dsr.resp_slot_dma);
    s->uar_pfn = le64_to_cpu(dsr.uar_pfn64);
    s->dsr_valid = true;
    return 0;
}

int pvrdma_dsr_load(PvrdmaState *s)
{
    int err = dsr_accept(s);

    if (err) {
        pvrdma_ring_fini(s, &s->async);
        pvrdma_ring_fini(s, &s->cqne);
    }
    return err;
}

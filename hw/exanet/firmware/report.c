/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The firmware's model: reports of failed reads to the nodes that requested the data.
 * The firmware sends copies of a report until the reader's node accepts or refuses the
 * report, a limit is reached, or a newer report replaces the report.  A report may be the
 * only sign of the failure that the reader gets.
 *
 * The answer to a report has the number of the report in the field of the TID, and a
 * sequence number that no block has.
 */
#include "qemu/osdep.h"
#include "../../core/backoff.h"
#include "../net/net.h"
#include "../exanet.h"
#include "internal.h"
#include "firmware.h"
#include "../engine/receiver.h"
#include "../engine/rtmailbox.h"
#include "../engine/rtt.h"
#include "../base/wire.h"

/* Maximal number of pending reports to one reader, which is a context of a node. */
#define FW_REPORTS_READER 16
#define FW_REPORT_BACKOFF_MAX 10    /* the back-off doubles up to x 1024 */
/*
 * The number of a report has 14 bits, because it is sent in the fields of TID and
 * generation.
 */
#define FW_REPORT_NUMBERS (1u << 14)
QEMU_BUILD_BUG_ON(2 * FW_REPORTS_READER > EXANET_RX_REPORTS);

static uint32_t report_coord(const FwReport *r)
{
    return RNIC_GET(EXANET_GVA_COORD, r->gva);
}

/* --- Sending --------------------------------------------------------------- */

/*
 * Returns the path of the next copy of @r, or 0 if there is no route.  Each retry selects
 * the next path, because a cable of the last path may be cut.
 */
static unsigned report_path(ExanetState *s, const FwReport *r)
{
    bool order;
    unsigned cables = exanet_router_paths(s, report_coord(r), &order);

    return cables ? exanet_path_nth(cables, order, r->retries) : 0;
}

/* Sends a copy of @r, and sets the deadline for the answer. */
static void report_send(ExanetState *s, ExanetFirmware *fw, FwReport *r)
{
    uint8_t buf[EXANET_PACKET_BYTES];
    int64_t wait = fw->timeout;
    ExanetPacket pkt = {
        .type = EXANET_TYPE_NOTIFY,
        .va = RNIC_GET(EXANET_GVA_VA, r->gva),
        .dst = report_coord(r),
        .src = s->node,
        .path = report_path(s, r),
        .pdid = r->pdid,
        .tid = r->number,
        .size = sizeof(r->note),
        .seq = FW_SEQ_NO_BLOCK,
        .user = EXANET_SMALL(EXANET_NI_RT_RESPONSE),
        .first = true,
        .last = true,
        .ttl = EXANET_TTL_MAX,
        .epoch = s->epoch,
    };

    memcpy(exanet_packet_payload(buf, pkt.va), &r->note, sizeof(r->note));
    exanet_net_respond(s, pkt.dst, buf, exanet_packet_encode(buf, &pkt));
    exanet_schedule(s);
    if (fw->dynamic) {
        wait = MAX(wait, exanet_rtt_timeout(&fw->rtt));
    }
    r->deadline = fw->now + rnic_backoff(wait, r->retries, EXANET_FW_TIMEOUT_SHIFT_MAX,
                                         EXANET_TID_AGE_NS / 2);
    fw->next = MIN(fw->next, r->deadline);
}

/* Returns true if @r is in use and its reader is context @ctx of node @coord. */
static bool report_has_reader(const FwReport *r, uint32_t coord, unsigned ctx)
{
    return r->used && report_coord(r) == coord &&
           RNIC_GET(EXANET_PDID_CTX, r->pdid) == ctx;
}

/* Returns a key for the reader of @r: context and node. */
static uint32_t report_reader(const FwReport *r)
{
    return RNIC_GET(EXANET_PDID_CTX, r->pdid) << 24 | report_coord(r);
}

/* Returns how often tally_add() has counted @key in @t. */
static uint64_t tally_get(GHashTable *t, uint32_t key)
{
    return GPOINTER_TO_UINT(g_hash_table_lookup(t, GUINT_TO_POINTER(key)));
}

static void tally_add(GHashTable *t, uint32_t key)
{
    g_hash_table_insert(t, GUINT_TO_POINTER(key),
                        GUINT_TO_POINTER((unsigned)tally_get(t, key) + 1));
}

/*
 * Returns the report that the caller replaces, because no entry is free.  Selects the
 * reports to the nodes with most reports, of these the reports to the contexts with most
 * reports, and of these the oldest report.  So a report to a node with many reports
 * replaces no report to a node with fewer reports.  If a neighbour invents many nodes
 * with one report each, the oldest report is replaced first.
 */
static FwReport *report_victim(ExanetFirmware *fw)
{
    g_autoptr(GHashTable) nodes = g_hash_table_new(NULL, NULL);
    g_autoptr(GHashTable) readers = g_hash_table_new(NULL, NULL);
    FwReport *victim = NULL;
    uint64_t most = 0;

    for (unsigned i = 0; i < FW_REPORTS; i++) {
        tally_add(nodes, report_coord(&fw->report[i]));
        tally_add(readers, report_reader(&fw->report[i]));
    }
    for (unsigned i = 0; i < FW_REPORTS; i++) {
        FwReport *r = &fw->report[i];
        uint64_t rank = tally_get(nodes, report_coord(r)) << 32 |
                        tally_get(readers, report_reader(r)) << 16 |
                        (fw->reports - r->number) % FW_REPORT_NUMBERS;

        if (!victim || rank > most) {
            most = rank;
            victim = r;
        }
    }
    return victim;
}

/*
 * Returns an entry for a report to context @ctx of node @coord, and counts the new report
 * in @newer of the older reports to this reader.  Returns the entry of the reader's
 * oldest report if the reader has FW_REPORTS_READER entries, or if the oldest report has
 * so many newer reports that the reader may soon drop the record of that report.  Without
 * the record, the reader would take another copy of the report for a new report.
 * Otherwise returns a free entry, or the result of report_victim() if no entry is free.
 */
static FwReport *report_place(ExanetFirmware *fw, uint32_t coord, unsigned ctx)
{
    FwReport *unused = NULL, *oldest = NULL;
    unsigned waiting = 0;

    for (unsigned i = 0; i < FW_REPORTS; i++) {
        FwReport *r = &fw->report[i];

        if (!r->used) {
            unused = r;
        } else if (report_has_reader(r, coord, ctx)) {
            waiting++;
            r->newer++;
            if (!oldest || r->newer > oldest->newer) {
                oldest = r;
            }
        }
    }
    if (waiting >= FW_REPORTS_READER ||
        (oldest && oldest->newer > EXANET_RX_REPORTS - FW_REPORTS_READER)) {
        return oldest;
    }
    return unused ?: report_victim(fw);
}

void exanet_fw_report(ExanetState *s, ExanetFirmware *fw, const FwTransfer *t,
                      unsigned code)
{
    FwReport *r = report_place(fw, RNIC_GET(EXANET_GVA_COORD, t->notify_gva),
                               RNIC_GET(EXANET_PDID_CTX, t->dst_pdid));

    *r = (FwReport) {
        .used = true,
        .number = fw->reports++ % FW_REPORT_NUMBERS,
        .gva = t->notify_gva,
        .pdid = t->dst_pdid,
        .note = {
            .data = cpu_to_le64(t->notify_data),
            .status = cpu_to_le64(EXANET_NOTIFICATION_VALID |
                RNIC_PREP(EXANET_NOTIFICATION_STATUS, 1) |
                RNIC_PREP(EXANET_NOTIFICATION_HANDLE, code) |
                RNIC_PREP(EXANET_NOTIFICATION_LENGTH, t->len)),
        },
    };
    report_send(s, fw, r);
}

/* --- Answers and deadlines --------------------------------------------------- */

/* Sends another copy of @r, or frees @r after FW_RETRY_MAX retries. */
static void report_retry(ExanetState *s, ExanetFirmware *fw, FwReport *r)
{
    if (r->retries >= fw->retry_max) {
        r->used = false;
        return;
    }
    r->retries++;
    report_send(s, fw, r);
}

/*
 * Defers report @r, which the reader cannot accept now, by a back-off that doubles each
 * time, up to x 1024 and to half of EXANET_TID_AGE_NS.  Frees @r if it had
 * FW_PF_RETRY_MAX back-offs.
 */
static void report_defer(ExanetFirmware *fw, FwReport *r)
{
    int64_t delay = rnic_backoff(fw->backoff, r->backoffs, FW_REPORT_BACKOFF_MAX,
                                 INT64_MAX);

    if (r->backoffs >= fw->pf_retry_max) {
        r->used = false;
        return;
    }
    r->backoffs++;
    r->hold = true;
    r->deadline = fw->now + MIN(delay, EXANET_TID_AGE_NS / 2);
    fw->next = MIN(fw->next, r->deadline);
}

/* Returns the report with @number that is in use, or NULL. */
static FwReport *report_find(ExanetFirmware *fw, unsigned number)
{
    for (unsigned i = 0; i < FW_REPORTS; i++) {
        if (fw->report[i].used && fw->report[i].number == number) {
            return &fw->report[i];
        }
    }
    return NULL;
}

bool exanet_firmware_is_report(ExanetState *s, const ExanetPacket *ack)
{
    return s->rt.internal && ack->seq == FW_SEQ_NO_BLOCK;
}

bool exanet_firmware_report_target(ExanetState *s, const ExanetPacket *ack,
                                   uint32_t *dst)
{
    const FwReport *r = report_find(s->firmware, ack->tid);

    *dst = r ? report_coord(r) : 0;
    return r;
}

void exanet_fw_report_answer(ExanetState *s, ExanetFirmware *fw, uint32_t word)
{
    FwReport *r = report_find(fw, RNIC_GET(EXANET_RT_TID, word));

    if (!r) {
        exanet_count(s, ACK_STALE);
        return;
    }
    switch (RNIC_GET(EXANET_RT_RESP, word)) {
    case EXANET_RESP_CRC:
        report_retry(s, fw, r);
        break;
    case EXANET_RESP_RESOLVED:
        if (r->hold) {
            r->hold = false;
            report_send(s, fw, r);
        } else {
            /* counts as a retry, because a reader may send RESOLVED again and again */
            report_retry(s, fw, r);
        }
        break;
    case EXANET_RESP_FAULT:
    case EXANET_RESP_FULL:
    case EXANET_RESP_NO_CONTEXT:
        report_defer(fw, r);
        break;
    default:
        r->used = false;        /* ACK, or the reader will never accept the report */
        break;
    }
}

void exanet_fw_reports_due(ExanetState *s, ExanetFirmware *fw)
{
    for (unsigned i = 0; i < FW_REPORTS; i++) {
        FwReport *r = &fw->report[i];

        if (!r->used) {
            continue;
        }
        if (r->deadline > fw->now) {
            fw->next = MIN(fw->next, r->deadline);
        } else if (r->hold) {
            r->hold = false;
            report_send(s, fw, r);
        } else {
            report_retry(s, fw, r);
        }
    }
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The value of the QOM property that lists the firmware's transfers; see ../qom.c. */
#include "qemu/osdep.h"
#include "qobject/qdict.h"
#include "qobject/qlist.h"
#include "qobject/qnum.h"
#include "../exanet.h"
#include "internal.h"
#include "firmware.h"

static QDict *transfer_show(ExanetState *s, const FwTransfer *t)
{
    QDict *dict = qdict_new();

    qdict_put_int(dict, "context", t->ctx);
    qdict_put_int(dict, "channel", t->channel);
    qdict_put_str(dict, "kind",
                  t->channel < EXANET_WRITE_CHANNELS ? "write" : "read");
    qdict_put(dict, "source", qnum_from_uint(t->src));
    qdict_put_int(dict, "destination-node",
                  RNIC_GET(EXANET_GVA_COORD, t->dst));
    qdict_put_int(dict, "destination", RNIC_GET(EXANET_GVA_VA, t->dst));
    qdict_put_int(dict, "bytes", t->len);
    qdict_put_int(dict, "issued", t->issued);
    qdict_put_int(dict, "acked", t->acked);
    qdict_put_int(dict, "blocks-in-flight", t->inflight);
    qdict_put_int(dict, "retries", t->retries);
    qdict_put_int(dict, "token", t->token);
    qdict_put_int(dict, "age-ns", rnic_now() - t->start);
    return dict;
}

QList *exanet_firmware_transfers(ExanetState *s)
{
    ExanetFirmware *fw = s->firmware;
    QList *list = qlist_new();

    for (unsigned c = 0; c < EXANET_CONTEXTS; c++) {
        for (unsigned ch = 0; ch < EXANET_CHANNELS; ch++) {
            if (fw->active[c] >> ch & 1) {
                qlist_append(list, transfer_show(s,
                    &fw->transfer[c * EXANET_CHANNELS + ch]));
            }
        }
    }
    return list;
}

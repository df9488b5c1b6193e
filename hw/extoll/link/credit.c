/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Credits of one virtual channel; see credit.h. */
#include "qemu/osdep.h"
#include "credit.h"

bool extoll_credit_tx_take(ExtollCreditTx *tx, uint32_t flits)
{
    if (flits > extoll_credit_tx_left(tx)) {
        return false;
    }
    tx->sent += flits;
    return true;
}

bool extoll_credit_tx_return(ExtollCreditTx *tx, uint32_t returned)
{
    uint32_t more = returned - tx->returned;

    if (more > INT32_MAX) {
        return true;
    }
    if (more > tx->sent - tx->returned) {
        return false;
    }
    tx->returned = returned;
    return true;
}

bool extoll_credit_rx_arrive(ExtollCreditRx *rx)
{
    if (rx->arrived - rx->freed >= rx->room) {
        return false;
    }
    rx->arrived++;
    return true;
}

void extoll_credit_rx_free(ExtollCreditRx *rx, uint32_t flits)
{
    assert(flits <= rx->arrived - rx->freed);
    rx->freed += flits;
}

uint32_t extoll_credit_rx_advertise(ExtollCreditRx *rx)
{
    rx->advertised = rx->freed;
    return rx->freed;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * RDMA tracker: the requests that CDMA channels send, the number of requests at the
 * same time, retries, and the end of retries.  The remote node is the test, or a second
 * machine.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "qemu/units.h"
#include <glib/gstdio.h>
#include "cdma.h"

#define SRC EXANET_RAM_SRC
#define DST EXANET_RAM_DST
#define FAR 0x1234500000ULL         /* address of the peer's memory */
#define BURST_BYTES 128             /* bytes of a request with the reset value of BURST */
#define TIMEOUT_NS (EXANET_SHM_TIMEOUT_DEFAULT / 10 * 64LL)

/* Returns a copy from @local to the peer (@write), or back. */
static ExanetCopy copy_far(bool write, uint64_t local, uint32_t len)
{
    uint64_t gva = exanet_gva(EXANET_TEST_PEER, FAR);

    return write ? (ExanetCopy) { local, gva, len, 0, 0x1235 } :
           (ExanetCopy) { gva, local, len, SA_GVA | DA_LOCAL, 0x1235 };
}

/*
 * Enables or disables early acknowledgement, without which a channel waits for each
 * response.
 */
static void early(ExanetTest *t, bool on)
{
    shm_set(t, CTRL, EXANET_SHM_CTRL_ALL &
            ~(on ? 0 : (uint32_t)EXANET_SHM_CTRL_EARLY));
}

/* Waits for @count requests, and asserts that no more follow. */
static void wait_requests(ExanetTest *t, unsigned count)
{
    exanet_wait(t, g_queue_get_length(&t->peer->packets) >= count);
    exanet_settle(t);
    g_assert_cmpuint(g_queue_get_length(&t->peer->packets), ==, count);
}

static ExanetRxPacket *take(ExanetTest *t, bool write)
{
    return exanet_peer_take_type(t->peer, write ? EXANET_TYPE_AXI_WRITE :
                                                  EXANET_TYPE_AXI_READ);
}

/*
 * Answers the request @rx with @resp, and frees @rx.  @image is the content of the
 * peer's memory at FAR, which an acked write changes.
 */
static void answer(ExanetTest *t, ExanetRxPacket *rx, uint8_t *image,
                   enum exanet_resp resp)
{
    bool write = rx->pkt.type == EXANET_TYPE_AXI_WRITE;
    uint8_t *at = image + (rx->pkt.va - FAR);

    if (resp == EXANET_RESP_ACK && write) {
        memcpy(at, rx->pkt.payload, rx->pkt.size);
    }
    exanet_peer_answer_axi(t->peer, &rx->pkt, resp,
                           resp == EXANET_RESP_ACK && !write ? at : NULL);
    g_free(rx);
}

/* Answers all requests with ACK until the channel is idle. */
static void serve(ExanetTest *t, unsigned ch, bool write, uint8_t *image)
{
    while (!exanet_cdma_idle(t, ch)) {
        exanet_pump(t);
        while (!g_queue_is_empty(&t->peer->packets)) {
            answer(t, take(t, write), image, EXANET_RESP_ACK);
        }
    }
}

/*
 * Asserts addresses, sizes, PDID and TID of each request of a copy, and the copied
 * data.  A request must not cross a border of 256 bytes at the peer or of 4096 bytes
 * here.
 */
static void check_packets(bool write, uint64_t local, uint32_t at, uint32_t len)
{
    ExanetTest *t = exanet_start("");
    ExanetCopy c = copy_far(write, local, len);
    g_autofree uint8_t *data = g_malloc(len);
    g_autofree uint8_t *image = g_malloc0(at + len);
    uint32_t done = 0;

    *(write ? &c.da : &c.sa) += at;
    exanet_fill(t, local, data, len, 3);
    cdma_set(t, 2, OUTSTANDING, 1);
    early(t, false);
    exanet_copy_start(t, 2, &c);
    while (done < len) {
        ExanetRxPacket *rx = take(t, write);
        uint32_t size = rx->pkt.size;
        unsigned class = write ? EXANET_SHM_RDMA_WRITE : EXANET_SHM_RDMA_READ;

        g_assert_cmphex(rx->pkt.va, ==, FAR + at + done);
        g_assert_cmpuint(size, <=, BURST_BYTES);
        g_assert_cmpuint(size, <=, len - done);
        g_assert_cmpuint(rx->pkt.va % EXANET_MTU + size, <=, EXANET_MTU);
        g_assert_cmpuint((local + done) % 4096 + size, <=, 4096);
        g_assert_cmphex(rx->pkt.pdid, ==, c.pdid);
        g_assert_cmphex(rx->pkt.tid & ~(uint32_t)EXANET_STID_SLOT, ==,
                        RNIC_PREP(EXANET_STID_CLASS, class) |
                        RNIC_PREP(EXANET_AXI_ID_MASTER, EXANET_AXI_CDMA) |
                        RNIC_PREP(EXANET_AXI_ID_NUMBER, 2));
        answer(t, rx, image, EXANET_RESP_ACK);
        done += size;
    }
    exanet_copy_ends(t, 2, SR_DONE);
    if (write) {
        g_assert_cmpmem(image + at, len, data, len);
    } else {
        exanet_assert_mem(t, local, image + at, len);
    }
    exanet_assert_quiet(t);
    exanet_stop(t);
}

static void test_packets(void)
{
    check_packets(true, SRC, 0, 1000);
    check_packets(true, SRC + 0xff9, 0x73, 1000);
    check_packets(false, DST, 0, 1000);
    check_packets(false, DST + 0xff9, 0x73, 1000);
}

static void check_outstanding(bool write)
{
    static const unsigned limits[][2] = {
        { 5, 5 }, { 1, 1 }, { 16, 16 }, { 0, 1 }, { 31, 16 },
    };
    const uint32_t len = 40 * BURST_BYTES;
    ExanetTest *t = exanet_start("");
    g_autofree uint8_t *data = g_malloc(len);
    g_autofree uint8_t *image = g_malloc(len);
    ExanetCopy c = copy_far(write, SRC, len);

    early(t, false);
    g_assert_cmpuint(cdma_get(t, 1, OUTSTANDING), ==, limits[0][0]);
    for (unsigned i = 0; i < ARRAY_SIZE(limits); i++) {
        exanet_fill(t, SRC, data, len, i);
        cdma_set(t, 1, OUTSTANDING, limits[i][0]);
        exanet_copy_start(t, 1, &c);
        wait_requests(t, limits[i][1]);
        /* each response lets one more request leave */
        answer(t, take(t, write), image, EXANET_RESP_ACK);
        wait_requests(t, limits[i][1]);
        g_assert_cmpuint(tracker_get(t, 1, ISSUED), ==, limits[i][1] + 1);
        g_assert_cmpuint(tracker_get(t, 1, ACKED), ==, 1);
        g_assert_cmpuint(exanet_tracker_state(t, 1), ==, EXANET_TRACKER_PASS);
        serve(t, 1, write, image);
        exanet_copy_ended(t, 1, SR_DONE);
        exanet_assert_mem(t, SRC, image, len);
    }
    exanet_stop(t);
}

static void test_outstanding(void)
{
    check_outstanding(true);
    check_outstanding(false);
}

/*
 * With early acknowledgement all requests leave at once; the channel is idle and
 * interrupts only after the last response.
 */
static void test_early(void)
{
    const unsigned count = 20;
    const uint32_t len = count * BURST_BYTES;
    ExanetTest *t = exanet_start("");
    g_autofree uint8_t *data = g_malloc(len);
    g_autofree uint8_t *image = g_malloc(len);
    ExanetCopy c = copy_far(true, SRC, len);

    exanet_fill(t, SRC, data, len, 1);
    cdma_set(t, 0, CR, EXANET_CDMA_CR_IOC_IRQ);
    exanet_copy_start(t, 0, &c);
    wait_requests(t, count);
    for (unsigned n = 0; n < count; n++) {
        exanet_settle(t);
        g_assert_cmphex(cdma_get(t, 0, SR), ==, 0);
        g_assert_cmpuint(exanet_tracker_state(t, 0), ==, EXANET_TRACKER_DRAIN);
        g_assert_cmpuint(tracker_get(t, 0, ACKED), ==, n);
        g_assert_false(exanet_get32(t, EXANET_REG_IRQ_CAUSE) & EXANET_IRQ_CDMA);
        answer(t, take(t, true), image, EXANET_RESP_ACK);
    }
    exanet_wait(t, exanet_get32(t, EXANET_REG_IRQ_CAUSE) & EXANET_IRQ_CDMA);
    exanet_copy_ended(t, 0, SR_DONE);
    g_assert_cmpmem(image, len, data, len);
    exanet_stop(t);
}

/* Stores to the registers of a busy channel. */
static void test_busy(void)
{
    const uint32_t len = 3 * BURST_BYTES;
    ExanetTest *t = exanet_start("");
    g_autofree uint8_t *image = g_malloc0(len);
    ExanetCopy c = copy_far(true, SRC, len);
    uint8_t data[3 * BURST_BYTES];

    exanet_fill(t, SRC, data, len, 1);
    exanet_copy_start(t, 0, &c);
    wait_requests(t, 3);
    /* a doorbell or other addresses do not change the copy that runs */
    exanet_copy_start(t, 0, &(ExanetCopy) { SRC, DST, 64, DA_LOCAL });
    g_assert_cmpuint(cdma_get(t, 0, BTT), ==, len);
    g_assert_cmphex(cdma_get(t, 0, SR), ==, 0);
    g_assert_cmphex(exanet_get64(t, EXANET_SHM_TRACKER(0) +
                                 EXANET_REG_TRACKER_DA), ==, c.da);
    cdma_set(t, 0, BTT, 0);
    g_assert_cmphex(cdma_get(t, 0, SR), ==, 0);
    serve(t, 0, true, image);
    exanet_copy_ended(t, 0, SR_DONE);
    g_assert_cmpmem(image, len, data, len);
    t->guest_errors = true;
    exanet_stop(t);
}

/*
 * Checks that only refused requests are sent again, with the data that memory has at
 * that time.
 */
static void check_again(bool write)
{
    const unsigned count = 12;
    const uint32_t len = count * BURST_BYTES;
    ExanetTest *t = exanet_start("");
    g_autofree uint8_t *data = g_malloc(len);
    g_autofree uint8_t *image = g_malloc0(len);
    ExanetCopy c = copy_far(write, SRC, len);
    uint64_t head;

    cdma_set(t, 0, OUTSTANDING, 16);
    exanet_fill(t, SRC, data, len, 1);
    exanet_copy_start(t, 0, &c);
    wait_requests(t, count);
    for (unsigned n = 0; n < count; n++) {
        if (n == count - 1) {
            exanet_settle(t);
            g_assert_cmpuint(tracker_get(t, 0, FAILED), ==, 2);
            head = exanet_get64(t, EXANET_SHM_TRACKER(0) +
                                EXANET_REG_TRACKER_HEAD1);
            g_assert_cmphex(head, ==,
                            RNIC_PREP(EXANET_TRACKER_HEAD_OFFSET,
                                      8 * BURST_BYTES) |
                            RNIC_PREP(EXANET_TRACKER_HEAD_LENGTH, BURST_BYTES) |
                            RNIC_PREP(EXANET_TRACKER_HEAD_CODE,
                                      EXANET_RESP_CRC));
        }
        answer(t, take(t, write), image, n == 3 || n == 8 ? EXANET_RESP_CRC :
                                         EXANET_RESP_ACK);
    }
    wait_requests(t, 2);
    g_assert_cmpuint(exanet_tracker_state(t, 0), ==, EXANET_TRACKER_DRAIN);
    g_assert_cmpuint(tracker_get(t, 0, ROUND), ==, 1);
    /*
     * answers one copy well, and refuses the other, whose data have changed in the
     * meantime
     */
    answer(t, take(t, write), image, EXANET_RESP_ACK);
    exanet_fill(t, SRC + 8 * BURST_BYTES, data + 8 * BURST_BYTES, BURST_BYTES, 2);
    answer(t, take(t, write), image, EXANET_RESP_CRC);
    serve(t, 0, write, image);
    exanet_copy_ended(t, 0, SR_DONE);
    if (write) {
        g_assert_cmpmem(image, len, data, len);
    } else {
        exanet_assert_mem(t, SRC, image, len);
    }
    g_assert_cmpuint(exanet_count(t, CDMA_RETRY), ==, 3);
    g_assert_cmpuint(tracker_get(t, 0, ROUND), ==, 2);
    g_assert_cmpuint(tracker_get(t, 0, ISSUED), ==, count + 3);
    g_assert_cmpuint(tracker_get(t, 0, ACKED), ==, count);
    g_assert_cmpuint(exanet_count(t, SHM_ESCALATED), ==, 0);
    exanet_stop(t);
}

static void test_again(void)
{
    check_again(true);
    check_again(false);
}

/*
 * A full list of failed requests stops new requests until the list is empty.  Each
 * request may be repeated twice, also after the list was full.
 */
static void test_list(void)
{
    const unsigned listed = 64, count = 3 * listed;
    const uint32_t len = count * BURST_BYTES;
    ExanetTest *t = exanet_start("");
    g_autofree uint8_t *data = g_malloc(len);
    g_autofree uint8_t *image = g_malloc0(len);
    g_autofree unsigned *copies = g_new0(unsigned, count);
    ExanetCopy c = copy_far(true, SRC, len);
    unsigned refused = 0, most = 0;

    exanet_fill(t, SRC, data, len, 1);
    shm_set(t, RETRY_MAX, 2);
    early(t, false);
    cdma_set(t, 0, OUTSTANDING, 16);
    exanet_copy_start(t, 0, &c);
    while (!exanet_cdma_idle(t, 0)) {
        exanet_pump(t);
        while (!g_queue_is_empty(&t->peer->packets)) {
            ExanetRxPacket *rx = take(t, true);
            unsigned n = (rx->pkt.va - FAR) / BURST_BYTES;
            bool good = copies[n]++ == 2;

            most = MAX(most, n);
            /* the list must lose its entries before further requests leave */
            g_assert_cmpuint(n, <, listed + (good ? count : refused / 2));
            refused += !good;
            answer(t, rx, image, good ? EXANET_RESP_ACK : EXANET_RESP_CRC);
        }
        g_assert_cmpuint(tracker_get(t, 0, FAILED), <=, listed);
        g_assert_cmpuint(tracker_get(t, 0, ROUND), <=, 2);
    }
    exanet_copy_ended(t, 0, SR_DONE);
    g_assert_cmpmem(image, len, data, len);
    g_assert_cmpuint(most, ==, count - 1);
    g_assert_cmpuint(refused, ==, 2 * count);
    g_assert_cmpuint(exanet_count(t, CDMA_RETRY), ==, refused);
    exanet_stop(t);
}

/*
 * Each of the channels that share the limit of requests gets at least half of an equal
 * part.
 */
static void test_arbitration(void)
{
    const unsigned outstanding = 64, rounds = 60;
    ExanetTest *t = exanet_start("");
    unsigned served[EXANET_CDMA_CHANNELS] = { 0 };
    ExanetCopy c = copy_far(true, SRC, 4096 * BURST_BYTES);
    g_autofree uint8_t *image = g_malloc(c.len);

    for (unsigned ch = 0; ch < EXANET_CDMA_CHANNELS; ch++) {
        exanet_copy_start(t, ch, &c);
    }
    /*
     * the first requests are not counted, because the first channel has sent all of
     * them
     */
    for (unsigned n = 0; n < outstanding + rounds; n++) {
        ExanetRxPacket *rx;

        wait_requests(t, outstanding);
        rx = take(t, true);
        if (n >= outstanding) {
            served[RNIC_GET(EXANET_AXI_ID_NUMBER, rx->pkt.tid)]++;
        }
        answer(t, rx, image, EXANET_RESP_ACK);
    }
    for (unsigned ch = 0; ch < EXANET_CDMA_CHANNELS; ch++) {
        g_assert_cmpuint(served[ch], >, rounds / EXANET_CDMA_CHANNELS / 2);
    }
    exanet_stop(t);
}

/*
 * A request that is answered with FULL is repeated after a delay that doubles, from 20
 * us on.
 */
static void test_backoff(void)
{
    ExanetTest *t = exanet_start("");
    ExanetCopy c = copy_far(true, SRC, 8);
    uint8_t image[8];

    exanet_fill(t, SRC, NULL, sizeof(image), 1);
    exanet_copy_start(t, 0, &c);
    for (unsigned n = 0; n < 5; n++) {
        answer(t, take(t, true), image, EXANET_RESP_FULL);
        exanet_wait(t, tracker_get(t, 0, ROUND) == n + 1);
        exanet_step(t, ((20000LL << n) - 1000));
        exanet_assert_quiet(t);
        exanet_step(t, 2000);
    }
    answer(t, take(t, true), image, EXANET_RESP_ACK);
    exanet_copy_ends(t, 0, SR_DONE);
    exanet_assert_mem(t, SRC, image, sizeof(image));
    g_assert_cmpuint(exanet_count(t, CDMA_RETRY), ==, 5);
    exanet_stop(t);
}

/*
 * Checks that the channel fails after RETRY_MAX rounds without responses, and can be
 * used again.
 */
static void check_lost(bool write)
{
    const unsigned rounds = 3, count = 4;
    const uint32_t len = count * BURST_BYTES;
    ExanetTest *t = exanet_start("");
    g_autofree uint8_t *image = g_malloc0(len);
    ExanetCopy c = copy_far(write, SRC, len);
    uint32_t info;

    exanet_fill(t, SRC, NULL, len, 1);
    shm_set(t, RETRY_MAX, rounds);
    cdma_set(t, 1, CR, EXANET_CDMA_CR_ERR_IRQ);
    exanet_copy_start(t, 1, &c);
    for (unsigned n = 0; n <= rounds; n++) {
        wait_requests(t, count);
        while (!g_queue_is_empty(&t->peer->packets)) {
            g_free(take(t, write));
        }
        g_assert_cmpuint(tracker_get(t, 1, ROUND), ==, n);
        g_assert_false(exanet_cdma_idle(t, 1));
        exanet_step(t, TIMEOUT_NS + EXANET_MS);
    }
    exanet_copy_ends(t, 1, SR_FAILED(EXANET_CDMA_SR_SLV_ERR));
    g_assert_cmpuint(exanet_count(t, CDMA_RETRY), ==, rounds * count);
    g_assert_cmpuint(exanet_count(t, CDMA_FAILED), ==, 1);
    g_assert_true(exanet_get32(t, EXANET_REG_IRQ_CAUSE) & EXANET_IRQ_SHM);
    info = exanet_get32(t, EXANET_SHM + EXANET_REG_SHM_ERR_INFO);
    g_assert_cmphex(info, ==, EXANET_SHM_ERR_VALID |
                    RNIC_PREP(EXANET_SHM_ERR_CODE, EXANET_RESP_ACK) |
                    RNIC_PREP(EXANET_SHM_ERR_RETRIES, rounds) |
                    RNIC_PREP(EXANET_SHM_ERR_CLASS, write ?
                              EXANET_SHM_RDMA_WRITE : EXANET_SHM_RDMA_READ));
    exanet_assert_quiet(t);

    exanet_copy_start(t, 1, &c);
    serve(t, 1, write, image);
    exanet_copy_ended(t, 1, SR_DONE);
    exanet_assert_mem(t, SRC, image, len);
    exanet_stop(t);
}

static void test_lost(void)
{
    check_lost(true);
    check_lost(false);
}

/*
 * Without RELIABLE a channel fails after its first failed request, when all responses
 * have arrived.
 */
static void test_unreliable(void)
{
    const unsigned count = 4;
    ExanetTest *t = exanet_start("");
    ExanetCopy c = copy_far(true, SRC, 100 * BURST_BYTES);
    uint8_t image[4 * BURST_BYTES];

    shm_set(t, CTRL, EXANET_SHM_CTRL_ALL &
            ~(uint32_t)(EXANET_SHM_CTRL_RELIABLE | EXANET_SHM_CTRL_EARLY));
    cdma_set(t, 0, OUTSTANDING, count);
    exanet_copy_start(t, 0, &c);
    wait_requests(t, count);
    answer(t, take(t, true), image, EXANET_RESP_CRC);
    wait_requests(t, count - 1);
    g_assert_false(exanet_cdma_idle(t, 0));
    g_assert_cmpuint(exanet_tracker_state(t, 0), ==, EXANET_TRACKER_DRAIN);
    for (unsigned n = 1; n < count; n++) {
        answer(t, take(t, true), image, EXANET_RESP_ACK);
    }
    exanet_copy_ends(t, 0, SR_FAILED(EXANET_CDMA_SR_SLV_ERR));
    g_assert_cmpuint(tracker_get(t, 0, FAILED), ==, 1);
    g_assert_cmpuint(exanet_count(t, CDMA_RETRY), ==, 0);
    g_assert_cmpuint(exanet_count(t, SHM_ESCALATED), ==, 1);
    exanet_assert_quiet(t);
    exanet_stop(t);
}

/* --- Ends in the middle ---------------------------------------------------------- */

/* Checks that a reset ends all requests: later responses to them change nothing. */
static void check_reset(bool write)
{
    const uint32_t len = 40 * BURST_BYTES;
    ExanetTest *t = exanet_start("");
    g_autofree uint8_t *data = g_malloc(len);
    g_autofree uint8_t *image = g_malloc0(len);
    g_autofree uint8_t *other = g_malloc0(len);
    ExanetCopy c = copy_far(write, SRC, len);
    GQueue delayed = G_QUEUE_INIT;

    exanet_fill(t, SRC, data, len, 1);
    memcpy(image, data, len);
    early(t, false);
    exanet_copy_start(t, 0, &c);
    wait_requests(t, EXANET_CDMA_OUTSTANDING);
    while (!g_queue_is_empty(&t->peer->packets)) {
        g_queue_push_tail(&delayed, take(t, write));
    }
    cdma_set(t, 0, CR, EXANET_CDMA_CR_RESET);
    g_assert_cmphex(cdma_get(t, 0, SR), ==, EXANET_CDMA_SR_IDLE);
    g_assert_cmpuint(exanet_tracker_state(t, 0), ==, EXANET_TRACKER_IDLE);
    exanet_assert_quiet(t);

    /* the next transfer does not accept the old responses */
    exanet_copy_start(t, 0, &c);
    wait_requests(t, EXANET_CDMA_OUTSTANDING);
    while (!g_queue_is_empty(&delayed)) {
        answer(t, g_queue_pop_tail(&delayed), other, EXANET_RESP_ACK);
    }
    wait_requests(t, EXANET_CDMA_OUTSTANDING);
    g_assert_cmpuint(tracker_get(t, 0, ACKED), ==, 0);
    exanet_assert_mem(t, SRC, data, len);
    serve(t, 0, write, image);
    exanet_copy_ended(t, 0, SR_DONE);
    g_assert_cmpmem(image, len, data, len);
    exanet_assert_mem(t, SRC, data, len);
    exanet_stop(t);
}

static void test_reset(void)
{
    check_reset(true);
    check_reset(false);
}

/* The close of the copy's context fails the copy; a reset of the device ends it. */
static void test_quiesce(void)
{
    const uint32_t len = 40 * BURST_BYTES;
    ExanetTest *t = exanet_start("");
    g_autofree uint8_t *image = g_malloc0(len);
    ExanetCopy c = copy_far(true, SRC, len);

    exanet_fill(t, SRC, NULL, len, 1);
    early(t, false);
    c.sides = TRANSLATE | 1;
    exanet_copy_start(t, 0, &c);
    wait_requests(t, EXANET_CDMA_OUTSTANDING);
    exanet_close(t, 1);
    exanet_copy_ended(t, 0, SR_FAILED(EXANET_CDMA_SR_SLV_ERR));
    g_assert_cmpuint(exanet_count(t, CDMA_FAILED), ==, 1);
    while (!g_queue_is_empty(&t->peer->packets)) {
        answer(t, take(t, true), image, EXANET_RESP_ACK);
    }
    exanet_settle(t);
    g_assert_cmphex(cdma_get(t, 0, SR), ==,
                    EXANET_CDMA_SR_IDLE | EXANET_CDMA_SR_SLV_ERR);
    /* the channel still copies for other contexts */
    c.sides = TRANSLATE;
    exanet_copy_start(t, 0, &c);
    serve(t, 0, true, image);
    exanet_copy_ended(t, 0, SR_DONE);
    exanet_assert_mem(t, SRC, image, len);

    exanet_copy_start(t, 3, &c);
    wait_requests(t, EXANET_CDMA_OUTSTANDING);
    exanet_set32(t, EXANET_REG_CTRL, EXANET_CTRL_RESET);
    g_assert_cmphex(cdma_get(t, 3, SR), ==, EXANET_CDMA_SR_IDLE);
    g_assert_cmpuint(exanet_tracker_state(t, 3), ==, EXANET_TRACKER_IDLE);
    exanet_stop(t);
}

/* --- Loss ----------------------------------------------------------------------- */

typedef struct Pair {
    ExanetTest *t[2];
    char *dir;
    char *path;
} Pair;

static Pair pair_start(void)
{
    Pair p = { 0 };

    p.dir = g_dir_make_tmp("exanet-cdma-XXXXXX", NULL);
    g_assert_nonnull(p.dir);
    p.path = g_build_filename(p.dir, "wire", NULL);
    exanet_pair_start(p.t, p.path, "");
    return p;
}

static void pair_stop(Pair *p)
{
    for (unsigned i = 0; i < 2; i++) {
        exanet_stop(p->t[i]);
    }
    unlink(p->path);
    g_rmdir(p->dir);
    g_free(p->path);
    g_free(p->dir);
}

static void inject(ExanetTest *t, enum exanet_inject kind, unsigned type,
                   unsigned every)
{
    exanet_set64(t, EXANET_PORT(0) + EXANET_REG_PORT_INJECT,
                 RNIC_PREP(EXANET_INJECT_KIND, kind) |
                 RNIC_PREP(EXANET_INJECT_TYPE, type) |
                 RNIC_PREP(EXANET_INJECT_EVERY, every));
}

/*
 * Damages every @every-th request or response by @kind; asserts the data, and one retry
 * for each fault.
 */
static void check_loss(Pair *p, bool write, bool request,
                       enum exanet_inject kind, unsigned every)
{
    const uint32_t len = 100000;
    unsigned type = !request ? EXANET_TYPE_AXI_RESPONSE :
                    write ? EXANET_TYPE_AXI_WRITE : EXANET_TYPE_AXI_READ;
    ExanetTest *near = p->t[0], *far = p->t[1], *faulty = p->t[!request];
    g_autofree uint8_t *data = g_malloc(len);
    uint64_t src = SRC + 3, dst = DST + 5;
    uint64_t gva = exanet_gva(EXANET_TEST_PEER, write ? dst : src);
    ExanetCopy c = {
        write ? src : gva, write ? gva : dst, len,
        write ? 0 : SA_GVA | DA_LOCAL, EXANET_TEST_PDID(1)
    };
    uint64_t retries = exanet_count(near, CDMA_RETRY);
    uint64_t injected = exanet_get64(faulty, EXANET_PORT(0) +
                                     EXANET_REG_PORT_INJECTED);

    exanet_fill(write ? near : far, src, data, len, every);
    qtest_memset((write ? far : near)->qts, dst, 0, len);
    inject(faulty, kind, type, every);
    exanet_copy_start(near, 0, &c);
    exanet_pair_wait(p->t, exanet_cdma_idle(near, 0), EXANET_MS);
    exanet_copy_ended(near, 0, SR_DONE);
    inject(faulty, EXANET_INJECT_NONE, 0, 0);
    exanet_assert_mem(write ? far : near, dst, data, len);
    injected = exanet_get64(faulty, EXANET_PORT(0) +
                            EXANET_REG_PORT_INJECTED) - injected;
    g_assert_cmpuint(injected, >, 0);
    g_assert_cmpuint(exanet_count(near, CDMA_RETRY) - retries, ==, injected);
}

static void test_loss(void)
{
    Pair p = pair_start();

    for (unsigned write = 0; write < 2; write++) {
        for (unsigned request = 0; request < 2; request++) {
            check_loss(&p, write, request, EXANET_INJECT_DROP, 7);
            check_loss(&p, write, request, EXANET_INJECT_DROP, 50);
            check_loss(&p, write, request, EXANET_INJECT_HEADER, 33);
        }
    }
    check_loss(&p, true, true, EXANET_INJECT_PAYLOAD, 9);
    check_loss(&p, false, false, EXANET_INJECT_PAYLOAD, 9);
    g_assert_cmpuint(exanet_count(p.t[0], CDMA_FAILED), ==, 0);
    pair_stop(&p);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qtest_add_func("/exanet/cdma/tracker-packets", test_packets);
    qtest_add_func("/exanet/cdma/tracker-outstanding", test_outstanding);
    qtest_add_func("/exanet/cdma/tracker-early", test_early);
    qtest_add_func("/exanet/cdma/tracker-busy", test_busy);
    qtest_add_func("/exanet/cdma/tracker-again", test_again);
    qtest_add_func("/exanet/cdma/tracker-list", test_list);
    qtest_add_func("/exanet/cdma/tracker-arbitration", test_arbitration);
    qtest_add_func("/exanet/cdma/tracker-backoff", test_backoff);
    qtest_add_func("/exanet/cdma/tracker-lost", test_lost);
    qtest_add_func("/exanet/cdma/tracker-unreliable", test_unreliable);
    qtest_add_func("/exanet/cdma/tracker-reset", test_reset);
    qtest_add_func("/exanet/cdma/tracker-quiesce", test_quiesce);
    qtest_add_func("/exanet/cdma/tracker-loss", test_loss);
    return g_test_run();
}

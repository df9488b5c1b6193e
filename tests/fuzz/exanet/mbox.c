/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libexanet reads a mailbox ring with entries from the input: the library returns each
 * entry once, in order, and copies at most the payload of an entry.
 */
#include "../fuzz.h"
#undef _GNU_SOURCE             /* the library defines _GNU_SOURCE too */
#include "../../../guest-driver/lib/exanet/mbox.c"

#define LOG2_MAX 4
#define BUF_MAX  256
#define GUARD    0xa5

/* --- The rest of the library -------------------------------------------------- */

void exa_pace_start(struct exa_pace *pace, struct exa_dev *dev, int timeout_ms)
{
}

bool exa_pace_step(struct exa_pace *pace)
{
    return false;
}

int64_t exa_now_ns(void)
{
    return 0;
}

int exa_wait(struct exa_dev *dev, int timeout_ms)
{
    g_assert_not_reached();
}

bool exa_gone(int fd)
{
    return false;
}

/* --- The target --------------------------------------------------------------- */

typedef struct Nic {
    struct exa_dev dev;
    uint32_t alive;
    uint64_t page[512];
} Nic;

/*
 * Receives the next entry into a buffer of @room bytes, and asserts its bytes and the
 * new head.  If no entry is complete, asserts ETIMEDOUT.
 */
static void receive(struct exa_mbox *mbox, unsigned room)
{
    const struct exanet_message *msg = exa_mbox_peek(mbox);
    struct exanet_message entry, origin;
    uint8_t buf[BUF_MAX + 1];
    uint32_t head = mbox->head;
    int got;

    if (msg) {
        g_assert_true(msg == &mbox->ring[head & ((1u << mbox->log2) - 1)]);
        entry = *msg;
    }
    memset(buf, GUARD, sizeof(buf));
    got = exa_recv(mbox, buf, room, &origin, 0);
    if (!msg) {
        g_assert_cmpint(got, ==, -ETIMEDOUT);
        g_assert_cmpuint(mbox->head, ==, head);
        return;
    }
    g_assert_cmpuint(mbox->head, ==, head + 1);
    g_assert_cmpint(got, >=, 0);
    g_assert_cmpmem(&origin, sizeof(origin), &entry, sizeof(entry));
    g_assert_cmpmem(buf, MIN(MIN(got, room), sizeof(entry.payload)), entry.payload,
                    MIN(MIN(got, room), sizeof(entry.payload)));
    for (unsigned i = MIN(room, sizeof(entry.payload)); i < sizeof(buf); i++) {
        g_assert_cmphex(buf[i], ==, GUARD);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    FuzzInput in = { data, size };
    g_autofree Nic *nic = g_new0(Nic, 1);
    unsigned log2 = 1 + fuzz_u8(&in) % LOG2_MAX;
    /* a separate allocation, so that the sanitizer detects reads behind the last entry */
    g_autofree struct exanet_message *ring =
        g_new0(struct exanet_message, 1u << log2);
    struct exa_mbox mbox = {
        .dev = &nic->dev, .ring = ring, .log2 = log2,
        .batch = log2 > 2 ? 1u << (log2 - 2) : 1,
    };

    nic->alive = 1;
    nic->dev.alive = &nic->alive;
    nic->dev.page[EXANET_PAGE_MAILBOX] = (uint8_t *)nic->page;
    mbox.head = mbox.head_stored = fuzz_u32(&in);
    while (in.left) {
        uint8_t op = fuzz_u8(&in);

        switch (op & 3) {
        case 0:
            fuzz_bytes(&in, &ring[(op >> 2) % (1u << log2)], sizeof(*ring));
            break;
        case 1:     /* makes the next entry complete */
            ring[mbox.head & ((1u << log2) - 1)].phase =
                cpu_to_le64(!(mbox.head >> log2 & 1));
            break;
        default:
            receive(&mbox, fuzz_u8(&in));
        }
    }
    return 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Codec of RMA commands; see command.h. */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "rnic/extoll/atu.h"
#include "rnic/extoll/regs.h"
#include "command.h"

#define ABOVE_NLA (EXTOLL_DESC_1_REMOTE & ~(RNIC_BIT(EXTOLL_NLA_BITS) - 1))

/* Bits that must be 0 in the two words of the descriptor of each command. */
static const uint64_t reserved[EXTOLL_CMD_IMMEDIATE + 1][2] = {
    [EXTOLL_CMD_GET_BYTES] = { 0, EXTOLL_DESC_1_RESERVED },
    [EXTOLL_CMD_GET] = { 0, EXTOLL_DESC_1_RESERVED | EXTOLL_DESC_1_SIZE },
    [EXTOLL_CMD_PUT_BYTES] = { 0, EXTOLL_DESC_1_RESERVED },
    [EXTOLL_CMD_PUT] = { 0, EXTOLL_DESC_1_RESERVED | EXTOLL_DESC_1_SIZE },
    [EXTOLL_CMD_LOCK] = {
        ~(EXTOLL_DESC_0_COMPARE | EXTOLL_DESC_0_LOCK | EXTOLL_DESC_0_NODE),
        ~(EXTOLL_DESC_1_ADD | EXTOLL_DESC_1_VPID),
    },
    [EXTOLL_CMD_NOTIFICATION] = {
        0, ~(EXTOLL_DESC_1_CLASS | EXTOLL_DESC_1_VPID | EXTOLL_DESC_1_NODE),
    },
    [EXTOLL_CMD_IMMEDIATE] = { 0, EXTOLL_DESC_1_RESERVED },
};

static bool is_bytes(unsigned command)
{
    return command == EXTOLL_CMD_GET_BYTES || command == EXTOLL_CMD_PUT_BYTES;
}

static bool has_size(unsigned command)
{
    return command <= EXTOLL_CMD_PUT;
}

/*
 * Returns the bits of @notify that @command supports [T Table 7-2].  The hardware ignores
 * other bits.  A notification put always notifies at the completer, because there is its
 * payload.
 */
static unsigned notify_supported(unsigned command, unsigned notify, uint64_t cap)
{
    switch (command) {
    case EXTOLL_CMD_PUT:
    case EXTOLL_CMD_PUT_BYTES:
    case EXTOLL_CMD_IMMEDIATE:
        return notify & ~EXTOLL_NOTIFY_RESPONDER;
    case EXTOLL_CMD_NOTIFICATION:
        return (notify & ~EXTOLL_NOTIFY_RESPONDER) | EXTOLL_NOTIFY_COMPLETER;
    default:
        if (cap & EXTOLL_CAP_NOTIFY) {
            return notify;
        }
        return notify & EXTOLL_NOTIFY_COMPLETER ? notify & ~EXTOLL_NOTIFY_REQUESTER : 0;
    }
}

/* Returns the bytes of a put or get with the descriptor @desc. */
static unsigned sized_bytes(unsigned command, bool lines, const uint64_t desc[2])
{
    unsigned size = RNIC_GET(EXTOLL_DESC_0_SIZE, desc[0]);

    if (is_bytes(command)) {
        return (RNIC_GET(EXTOLL_DESC_1_SIZE, desc[1]) << 6 | size) + 1;
    }
    return (size + 1) * (lines ? EXTOLL_CACHELINE_BYTES : 8);
}

/* Checks @address of @cmd, which has @cmd->bytes bytes. */
static ExtollCommandStatus address_check(const ExtollCommand *cmd, uint64_t address)
{
    bool aligned = cmd->command == EXTOLL_CMD_GET || cmd->command == EXTOLL_CMD_PUT;

    if ((!cmd->physical && (address & ABOVE_NLA)) || (aligned && address % 8)) {
        return EXTOLL_COMMAND_BAD_ADDRESS;
    }
    return extoll_one_page(address, cmd->bytes) ? EXTOLL_COMMAND_OK : EXTOLL_COMMAND_PAGE;
}

static ExtollCommandStatus sized_decode(ExtollCommand *c, const uint64_t desc[2])
{
    ExtollCommandStatus status;

    c->bytes = sized_bytes(c->command, c->lines, desc);
    c->local = RNIC_GET(EXTOLL_DESC_0_LOCAL, desc[0]);
    c->remote = RNIC_GET(EXTOLL_DESC_1_REMOTE, desc[1]);
    c->node = RNIC_GET(EXTOLL_DESC_0_NODE, desc[0]);
    status = address_check(c, c->local);
    return status == EXTOLL_COMMAND_OK ? address_check(c, c->remote) : status;
}

static ExtollCommandStatus immediate_decode(ExtollCommand *c, const uint64_t desc[2],
                                            uint64_t cap)
{
    c->bytes = 8;
    c->payload = desc[0];
    c->remote = RNIC_GET(EXTOLL_DESC_1_REMOTE, desc[1]);
    c->node = RNIC_GET(EXTOLL_DESC_1_NODE, desc[1]);
    if (!c->physical && (cap & EXTOLL_CAP_BYTES)) {
        c->bytes -= RNIC_GET(EXTOLL_DESC_1_SHORT, desc[1]);
        c->remote &= ~EXTOLL_DESC_1_SHORT;
    }
    if (!(cap & EXTOLL_CAP_BYTES) && c->remote % 8) {
        return EXTOLL_COMMAND_BAD_ADDRESS;
    }
    return address_check(c, c->remote);
}

ExtollCommandStatus extoll_command_decode(uint32_t address, const uint64_t desc[2],
                                          uint64_t cap, ExtollCommand *cmd)
{
    unsigned command = RNIC_GET(EXTOLL_RMA_ADDR_COMMAND, address);
    ExtollCommandStatus status = EXTOLL_COMMAND_OK;
    ExtollCommand c = {
        .command = command,
        .notify = notify_supported(command, RNIC_GET(EXTOLL_RMA_ADDR_NOTIFY, address),
                                   cap),
        .own_vpid = RNIC_GET(EXTOLL_RMA_ADDR_OWN, address),
        .vpid = RNIC_GET(EXTOLL_DESC_1_VPID, desc[1]),
        .lines = (command == EXTOLL_CMD_GET || command == EXTOLL_CMD_PUT) &&
                 (address & EXTOLL_RMA_ADDR_LINES),
        .irq = address & EXTOLL_RMA_ADDR_IRQ,
        .physical = address & EXTOLL_RMA_ADDR_PHYSICAL,
    };

    if (command >= ARRAY_SIZE(reserved) ||
        (is_bytes(command) && !(cap & EXTOLL_CAP_BYTES))) {
        return EXTOLL_COMMAND_UNKNOWN;
    }
    if (RNIC_GET(EXTOLL_RMA_ADDR_OFFSET, address)) {
        return EXTOLL_COMMAND_BAD_PLACE;
    }
    if ((desc[0] & reserved[command][0]) | (desc[1] & reserved[command][1])) {
        return EXTOLL_COMMAND_RESERVED;
    }
    if (has_size(command)) {
        status = sized_decode(&c, desc);
    } else if (command == EXTOLL_CMD_LOCK) {
        c.bytes = 4;
        c.compare = RNIC_GET(EXTOLL_DESC_0_COMPARE, desc[0]);
        c.add = RNIC_GET(EXTOLL_DESC_1_ADD, desc[1]);
        c.lock = RNIC_GET(EXTOLL_DESC_0_LOCK, desc[0]);
        c.node = RNIC_GET(EXTOLL_DESC_0_NODE, desc[0]);
    } else if (command == EXTOLL_CMD_IMMEDIATE) {
        status = immediate_decode(&c, desc, cap);
    } else {
        c.bytes = 8;
        c.payload = desc[0];
        c.class = RNIC_GET(EXTOLL_DESC_1_CLASS, desc[1]);
        c.node = RNIC_GET(EXTOLL_DESC_1_NODE, desc[1]);
    }
    if (status == EXTOLL_COMMAND_OK) {
        *cmd = c;
    }
    return status;
}

static void sized_encode(const ExtollCommand *cmd, uint64_t desc[2])
{
    unsigned size = is_bytes(cmd->command) ? cmd->bytes - 1 :
                    cmd->bytes / (cmd->lines ? EXTOLL_CACHELINE_BYTES : 8) - 1;

    desc[0] = RNIC_PREP(EXTOLL_DESC_0_LOCAL, cmd->local) |
              RNIC_PREP(EXTOLL_DESC_0_SIZE, size) |
              RNIC_PREP(EXTOLL_DESC_0_NODE, cmd->node);
    desc[1] = RNIC_PREP(EXTOLL_DESC_1_REMOTE, cmd->remote) |
              RNIC_PREP(EXTOLL_DESC_1_SIZE, size >> 6);
}

uint32_t extoll_command_encode(const ExtollCommand *cmd, uint64_t desc[2])
{
    switch (cmd->command) {
    case EXTOLL_CMD_LOCK:
        desc[0] = RNIC_PREP(EXTOLL_DESC_0_COMPARE, cmd->compare) |
                  RNIC_PREP(EXTOLL_DESC_0_LOCK, cmd->lock) |
                  RNIC_PREP(EXTOLL_DESC_0_NODE, cmd->node);
        desc[1] = RNIC_PREP(EXTOLL_DESC_1_ADD, cmd->add);
        break;
    case EXTOLL_CMD_NOTIFICATION:
        desc[0] = cmd->payload;
        desc[1] = RNIC_PREP(EXTOLL_DESC_1_CLASS, cmd->class) |
                  RNIC_PREP(EXTOLL_DESC_1_NODE, cmd->node);
        break;
    case EXTOLL_CMD_IMMEDIATE:
        desc[0] = cmd->payload;
        desc[1] = RNIC_PREP(EXTOLL_DESC_1_REMOTE, cmd->remote) |
                  RNIC_PREP(EXTOLL_DESC_1_SHORT, 8 - cmd->bytes) |
                  RNIC_PREP(EXTOLL_DESC_1_NODE, cmd->node);
        break;
    default:
        sized_encode(cmd, desc);
    }
    desc[1] |= RNIC_PREP(EXTOLL_DESC_1_VPID, cmd->vpid);
    return RNIC_PREP(EXTOLL_RMA_ADDR_PHYSICAL, cmd->physical) |
           RNIC_PREP(EXTOLL_RMA_ADDR_OWN, cmd->own_vpid) |
           RNIC_PREP(EXTOLL_RMA_ADDR_IRQ, cmd->irq) |
           RNIC_PREP(EXTOLL_RMA_ADDR_COMMAND, cmd->command) |
           RNIC_PREP(EXTOLL_RMA_ADDR_NOTIFY, cmd->notify) |
           RNIC_PREP(EXTOLL_RMA_ADDR_LINES, cmd->lines);
}

void extoll_notification_encode(const ExtollNotification *noti,
                                struct extoll_notification *entry)
{
    unsigned mode = (noti->irq ? EXTOLL_NOTI_MODE_IRQ : 0) |
                    (noti->lines ? EXTOLL_NOTI_MODE_LINES : 0);

    entry->word0 = cpu_to_le64(noti->word0);
    entry->word1 = cpu_to_le64(RNIC_PREP(EXTOLL_NOTI_SIZE, noti->size) |
                               RNIC_PREP(EXTOLL_NOTI_VPID, noti->vpid) |
                               RNIC_PREP(EXTOLL_NOTI_NODE, noti->node) |
                               RNIC_PREP(EXTOLL_NOTI_TYPE, noti->type) |
                               RNIC_PREP(EXTOLL_NOTI_COMMAND, noti->command) |
                               RNIC_PREP(EXTOLL_NOTI_MODE, mode) |
                               RNIC_PREP(EXTOLL_NOTI_ERROR, noti->error));
}

uint64_t extoll_notification_lock(unsigned number, bool success, int32_t value)
{
    return RNIC_PREP(EXTOLL_NOTI_LOCK_NUMBER, number) |
           RNIC_PREP(EXTOLL_NOTI_LOCK_RESULT, success) |
           RNIC_PREP(EXTOLL_NOTI_LOCK_VALUE, value);
}

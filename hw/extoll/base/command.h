/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Codec of RMA commands: address and descriptor of the requester, and notifications.  The
 * formats are in rnic/extoll/rma.h.
 */
#ifndef RNIC_EXTOLL_BASE_COMMAND_H
#define RNIC_EXTOLL_BASE_COMMAND_H

#include "rnic/extoll/rma.h"

/* A command of a process.  Members that @command does not need are 0. */
typedef struct ExtollCommand {
    uint8_t command;    /* enum extoll_cmd, at most EXTOLL_CMD_IMMEDIATE */
    uint8_t notify;     /* bits EXTOLL_NOTIFY_*, only of units that the command passes */
    uint8_t own_vpid;
    uint8_t vpid;       /* at the destination */
    uint8_t node;       /* destination */
    uint8_t class;      /* of a notification put */
    bool lines;         /* the descriptor counts cachelines */
    bool irq;           /* notifications interrupt */
    bool physical;      /* @local and @remote are physical addresses */
    uint16_t bytes;     /* 1 to 4096; 8 for a notification put, 4 for a lock */
    uint16_t lock;      /* number of the lock */
    int32_t compare;
    int32_t add;
    uint64_t local;     /* address at this node: source of a put, destination of a get */
    uint64_t remote;
    uint64_t payload;   /* of an immediate put or a notification put */
} ExtollCommand;

typedef enum ExtollCommandStatus {
    EXTOLL_COMMAND_OK,
    EXTOLL_COMMAND_UNKNOWN,     /* no such command, or a command whose CAP bit is 0 */
    EXTOLL_COMMAND_BAD_PLACE,   /* the descriptor does not begin at a multiple of 32 B */
    EXTOLL_COMMAND_RESERVED,    /* a reserved bit is 1 */
    EXTOLL_COMMAND_BAD_ADDRESS, /* more than 39 bits, or not a multiple of 8 */
    EXTOLL_COMMAND_PAGE,        /* the command crosses a page border */
} ExtollCommandStatus;

/*
 * Decodes the descriptor @desc, in host order, which was stored at offset @address of
 * BAR 4.  @cap: bits EXTOLL_CAP_BYTES and EXTOLL_CAP_NOTIFY of the device.  Without
 * NOTIFY only the notifications of Table 7-2 exist; all other bits are ignored.  Changes
 * @cmd only if the status is OK.
 */
ExtollCommandStatus extoll_command_decode(uint32_t address, const uint64_t desc[2],
                                          uint64_t cap, ExtollCommand *cmd);

/*
 * Stores the descriptor of @cmd, in host order, in @desc, and returns its address in
 * BAR 4.
 */
uint32_t extoll_command_encode(const ExtollCommand *cmd, uint64_t desc[2]);

/* A notification, before it is stored in the ring. */
typedef struct ExtollNotification {
    uint64_t word0;     /* address, payload, or result of a lock */
    uint32_t size;      /* bytes minus 1, or class */
    uint16_t node;      /* peer */
    uint8_t vpid;       /* of the peer */
    uint8_t type;       /* one bit EXTOLL_NOTIFY_* */
    uint8_t command;    /* enum extoll_cmd */
    uint8_t error;      /* enum extoll_error */
    bool irq;
    bool lines;
} ExtollNotification;

void extoll_notification_encode(const ExtollNotification *noti,
                                struct extoll_notification *entry);

/* Returns word 0 of the notification of lock @number. */
uint64_t extoll_notification_lock(unsigned number, bool success, int32_t value);

/* Returns true if @bytes bytes at @address are in one page. */
static inline bool extoll_one_page(uint64_t address, unsigned bytes)
{
    return (address & (EXTOLL_RMA_BYTES - 1)) + bytes <= EXTOLL_RMA_BYTES;
}

#endif /* RNIC_EXTOLL_BASE_COMMAND_H */

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * BAR 2: the requester's addresses, to which processes store their messages.
 */
#ifndef HW_EXTOLL_VELO_WINDOW_H
#define HW_EXTOLL_VELO_WINDOW_H

typedef struct ExtollState ExtollState;

/*
 * Initializes velo_mr.  A store of a message that finds the FIFO full makes its vCPU
 * wait, as the CPU of the document stalls; after property `cfcq-timeout-ms` the store is
 * dropped and counted.  A load of 8 B commits a staged message; other loads get 0.
 */
void extoll_velo_window_init(ExtollState *s);

#endif /* HW_EXTOLL_VELO_WINDOW_H */

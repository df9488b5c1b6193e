/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Properties of the device of an ExanetTest, read and set by QMP, and faults of link 0.
 */
#ifndef EXANET_QOM_H
#define EXANET_QOM_H

#include "qobject/qdict.h"
#include "qobject/qlist.h"
#include "device.h"

#define EXANET_QOM_PATH "/machine/peripheral/nic"

/* Returns property @name; the caller unrefs it. */
QObject *exanet_qom_get(ExanetTest *t, const char *name);
/* Sets faults0 to @text; asserts success. */
void exanet_faults_set(ExanetTest *t, const char *text);
/* Sets property @name to @text; asserts an error whose message contains @part. */
void exanet_qom_refused(ExanetTest *t, const char *name, const char *text,
                        const char *part);
/* Asserts that faults0 reads as @text. */
void exanet_faults_assert(ExanetTest *t, const char *text);
/*
 * Returns member @name of group @group in entry 0 of property links; @group NULL: of
 * the entry itself.
 */
uint64_t exanet_link_member(ExanetTest *t, const char *group, const char *name);

#endif /* EXANET_QOM_H */

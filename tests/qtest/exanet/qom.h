/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions that read and set properties of a test's device by QMP, among them the faults
 * of link 0.
 */
#ifndef EXANET_QOM_H
#define EXANET_QOM_H

#include "qobject/qdict.h"
#include "qobject/qlist.h"
#include "device.h"

#define EXANET_QOM_PATH "/machine/peripheral/nic"

/* Returns the value of property @name; the caller unrefs the value. */
QObject *exanet_qom_get(ExanetTest *t, const char *name);
/* Sets property faults0 to @text; asserts success. */
void exanet_faults_set(ExanetTest *t, const char *text);
/*
 * Tries to set property @name to @text; asserts that QEMU refuses with one line of less
 * than 200 characters that contains @part.
 */
void exanet_qom_refused(ExanetTest *t, const char *name, const char *text,
                        const char *part);
/* Asserts that the value of property faults0 is @text. */
void exanet_faults_assert(ExanetTest *t, const char *text);
/*
 * Returns member @name of entry 0 of property links, or, if @group is not NULL, member
 * @name of the dictionary @group in this entry.
 */
uint64_t exanet_link_member(ExanetTest *t, const char *group, const char *name);

#endif /* EXANET_QOM_H */

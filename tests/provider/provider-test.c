/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The common part of the libfabric providers on the loop transport.  Runs all cases, or
 * those whose name contains the argument, each with new endpoints on three nodes.  Prints
 * TAP.
 */

#include <getopt.h>

#include "bed.h"

static const struct bed_case *const groups[] = {
    name_cases, wait_cases, msg_cases, rma_cases, fail_cases,
#if HAVE_EXANET
    exanet_cases,
#endif
};

/* Starts libfabric itself, because fi_param_define() needs that. */
static void start_libfabric(void)
{
    struct fi_info *hints = fi_allocinfo(), *info = NULL;

    hints->fabric_attr->prov_name = strdup("loop");
    (void) fi_getinfo(FI_VERSION(2, 0), NULL, NULL, 0, hints, &info);
    fi_freeinfo(info);
    fi_freeinfo(hints);
}

int main(int argc, char **argv)
{
    const char *only = argc > 1 ? argv[1] : "";
    unsigned int count = 0, failed = 0;
    const struct bed_case *c;
    size_t i;

    setvbuf(stdout, NULL, _IOLBF, 0);
    start_libfabric();
    setenv("FI_LOOP_QUIET_MS", "2000", 1);
    rnic_fi_params(&loop_prov);
    for (i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
        for (c = groups[i]; c->name; c++) {
            if (!strstr(c->name, only)) {
                continue;
            }
            bed_failures = 0;
            loop_reset();
            bed_open();
            c->run();
            CHECK(!loop.leaks);
            loop_reset();
            bed_close();
            CHECK(!loop.leaks);
            failed += !!bed_failures;
            printf("%sok %u - /provider/%s\n", bed_failures ? "not " : "",
                   ++count, c->name);
        }
    }
    if (!count) {
        printf("Bail out! no case has a name with \"%s\"\n", only);
        return 1;
    }
    printf("1..%u\n", count);
    return !!failed;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "qemu/osdep.h"
#include "libqtest.h"

static void test_plug(void)
{
    QTestState *qts = qtest_init("-M q35 -device dummy");
    g_autofree char *text = qtest_hmp(qts, "info pci");

    g_assert_nonnull(strstr(text, "1234:0d0d"));
    qtest_quit(qts);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qtest_add_func("/dummy/pci/plug", test_plug);
    return g_test_run();
}

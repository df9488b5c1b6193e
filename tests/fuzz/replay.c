/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs the inputs of a fuzz target as a test: each file of the folder FUZZ_CORPUS is a
 * test case.  If arguments name files, only these files are test cases.  Without
 * arguments fuzz_reached() is the last test case, if the target has this function.
 */
#include "fuzz.h"

static void replay(const void *path)
{
    g_autofree char *bytes = NULL;
    gsize size;

    g_assert_true(g_file_get_contents(path, &bytes, &size, NULL));
    LLVMFuzzerTestOneInput((const uint8_t *)bytes, size);
}

static int by_name(gconstpointer a, gconstpointer b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void add(GPtrArray *paths, const char *folder)
{
    GDir *dir = g_dir_open(folder, 0, NULL);
    const char *name;

    g_assert_nonnull(dir);
    while ((name = g_dir_read_name(dir))) {
        g_ptr_array_add(paths, g_build_filename(folder, name, NULL));
    }
    g_dir_close(dir);
    g_ptr_array_sort(paths, by_name);
}

int main(int argc, char **argv)
{
    g_autoptr(GPtrArray) paths = g_ptr_array_new_with_free_func(g_free);
    bool whole;

    g_test_init(&argc, &argv, NULL);
    for (int i = 1; i < argc; i++) {
        g_ptr_array_add(paths, g_strdup(argv[i]));
    }
    whole = !paths->len;
    if (whole) {
        add(paths, FUZZ_CORPUS);
    }
    for (unsigned i = 0; i < paths->len; i++) {
        g_autofree char *file = g_path_get_basename(paths->pdata[i]);
        g_autofree char *name = g_strdup_printf("/fuzz/" FUZZ_TARGET "/%s", file);

        g_test_add_data_func(name, paths->pdata[i], replay);
    }
    if (whole && fuzz_reached) {
        g_test_add_func("/fuzz/" FUZZ_TARGET "/reached", fuzz_reached);
    }
    return g_test_run();
}

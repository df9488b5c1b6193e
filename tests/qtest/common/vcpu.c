/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A processor that executes code of a test; see vcpu.h. */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "vcpu.h"
#include "wait.h"

#define BIOS_BYTES  0x10000

/*
 * Code from reset to 32-bit mode with SSE:
 *   cli; lgdt; cr0.PE = 1; ljmp; ds = ss = 16; esp = 0x9000; cr4.OSFXSR = 1
 *   again: pause; if (GO) { call CODE; GO = 0; } jmp again
 * The GDT with flat code and data segments follows the code.
 */
static const uint8_t bios[] = {
    0xfa, 0x2e, 0x66, 0x0f, 0x01, 0x16, 0x68, 0x00, 0x0f, 0x20, 0xc0, 0x0c,
    0x01, 0x0f, 0x22, 0xc0, 0x66, 0xea, 0x18, 0x00, 0xff, 0xff, 0x08, 0x00,
    0xb8, 0x10, 0x00, 0x00, 0x00, 0x8e, 0xd8, 0x8e, 0xd0, 0xbc, 0x00, 0x90,
    0x00, 0x00, 0x0f, 0x20, 0xe0, 0x0d, 0x00, 0x02, 0x00, 0x00, 0x0f, 0x22,
    0xe0, 0xf3, 0x90, 0x83, 0x3d, 0x00, 0x00, 0x01, 0x00, 0x00, 0x74, 0xf5,
    0xb8, 0x00, 0x00, 0x02, 0x00, 0xff, 0xd0, 0xc7, 0x05, 0x00, 0x00, 0x01,
    0x00, 0x00, 0x00, 0x00, 0x00, 0xeb, 0xe2, 0x90, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0xff, 0xff, 0x00, 0x00, 0x00, 0x9b, 0xcf, 0x00,
    0xff, 0xff, 0x00, 0x00, 0x00, 0x93, 0xcf, 0x00, 0x17, 0x00, 0x50, 0x00,
    0xff, 0xff
};
/* jmp to the start of bios[] */
static const uint8_t reset_vector[] = { 0xe9, 0x0d, 0x00 };

QEMU_BUILD_BUG_ON(VCPU_RAM_GO != 0x10000 || VCPU_RAM_CODE != 0x20000);

char *vcpu_bios_new(void)
{
    g_autofree uint8_t *image = g_malloc0(BIOS_BYTES);
    char *path;
    int fd = g_file_open_tmp("rnic-bios-XXXXXX", &path, NULL);

    g_assert_cmpint(fd, >=, 0);
    close(fd);
    memcpy(image, bios, sizeof(bios));
    memcpy(image + BIOS_BYTES - 16, reset_vector, sizeof(reset_vector));
    g_assert_true(g_file_set_contents(path, (char *)image, BIOS_BYTES, NULL));
    return path;
}

void vcpu_bios_remove(char *path)
{
    unlink(path);
    g_free(path);
}

void vcpu_emit(VcpuCode *code, const void *bytes, unsigned len, uint32_t word)
{
    g_assert_cmpuint(code->len + len + 4, <, sizeof(code->byte));
    memcpy(code->byte + code->len, bytes, len);
    stl_le_p(code->byte + code->len + len, word);
    code->len += len + 4;
}

void vcpu_go(QTestState *qts, VcpuCode *code)
{
    code->byte[code->len++] = 0xc3; /* ret */
    qtest_bufwrite(qts, VCPU_RAM_CODE, code->byte, code->len);
    qtest_writel(qts, VCPU_RAM_GO, 1);
}

bool vcpu_is_done(QTestState *qts)
{
    return qtest_readl(qts, VCPU_RAM_GO) == 0;
}

void vcpu_wait(QTestState *qts)
{
    wait_until(vcpu_is_done(qts), wait_pause());
}

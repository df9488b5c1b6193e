/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * CRC-32 of IEEE 802.3, by ISA-L if the build has found it, otherwise by libdeflate.  On
 * processors with wide carry-less multiplication, ISA-L is up to four times as fast as
 * the libdeflate of Debian 12.
 */
#ifndef RNIC_CORE_CRC_H
#define RNIC_CORE_CRC_H

#ifdef RNIC_ISAL
#include <isa-l/crc.h>
#else
#include <libdeflate.h>
#endif

/*
 * Returns the CRC of the @len bytes at @buf.  @crc is 0, or the CRC of the bytes before
 * @buf.
 */
static inline uint32_t rnic_crc32(uint32_t crc, const void *buf, size_t len)
{
#ifdef RNIC_ISAL
    return crc32_gzip_refl(crc, buf, len);
#else
    return libdeflate_crc32(crc, buf, len);
#endif
}

#endif /* RNIC_CORE_CRC_H */

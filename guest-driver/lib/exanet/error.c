// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
/*
 * libexanet: converts codes of the NIC to errnos, and errnos to texts.
 */
#define _GNU_SOURCE
#include <string.h>

#include "internal.h"

static const struct {
	int err;
	const char *text;
} exa_texts[] = {
	{ 0,		"success" },
	{ EFAULT,	"a page at the source or destination is missing or read-only" },
	{ ENXIO,	"the address is not in (writable) memory of the target" },
	{ EACCES,	"not allowed: other job, or context not open" },
	{ ENOBUFS,	"mailbox or request queue is full or not enabled" },
	{ EBUSY,	"no context is free, or the object is in use" },
	{ EIO,		"the data arrived damaged until the retry limit" },
	{ EINVAL,	"request is malformed: length, alignment or address" },
	{ ETIMEDOUT,	"no answer until the retry limit or time-out" },
	{ ECANCELED,	"context was closed or the device was reset" },
	{ EAGAIN,	"all channels are busy" },
	{ EINPROGRESS,	"not finished yet" },
	{ EPERM,	"not permitted, or device of the parent process" },
	{ ERANGE,	"buffer crosses a 512-GB boundary" },
	{ ENOSPC,	"no address window, segment or room in the aperture is left" },
	{ EDQUOT,	"the user has as many contexts or segments as one may have" },
	{ EOPNOTSUPP,	"the NIC has no aperture or block RAM" },
	{ EPROTO,	"driver and library have different versions of the interface" },
	{ ENODEV,	"no such ExaNet device" },
	{ ENOENT,	"no such ExaNet device file" },
};

EXA_API const char *exa_strerror(int err)
{
	const char *text;
	size_t i;

	/* Negates by unsigned arithmetic, because -INT_MIN does not fit in an int. */
	err = err < 0 ? -(err + 1) + 1U : (unsigned int)err;
	for (i = 0; i < sizeof(exa_texts) / sizeof(exa_texts[0]); i++)
		if (exa_texts[i].err == err)
			return exa_texts[i].text;
	text = strerrordesc_np(err);
	return text ? text : "unknown error";
}

int exa_code_errno(uint32_t code)
{
	switch (code) {
	case EXANET_RESP_ACK:
		return 0;
	case EXANET_RESP_FAULT:
	case EXANET_RESP_RESOLVED:
	case EXANET_CHERR_SOURCE_FAULT:
		return -EFAULT;
	case EXANET_RESP_NO_CONTEXT:
		return -EBUSY;
	case EXANET_RESP_DECODE:
		return -ENXIO;
	case EXANET_RESP_PROTECTION:
		return -EACCES;
	case EXANET_RESP_FULL:
		return -ENOBUFS;
	case EXANET_RESP_MALFORMED:
	case EXANET_CHERR_BAD_REQUEST:
		return -EINVAL;
	case EXANET_CHERR_RETRY_LIMIT:
		return -ETIMEDOUT;
	case EXANET_CHERR_ABORTED:
		return -ECANCELED;
	case EXANET_RESP_CRC:
	default:
		return -EIO;
	}
}

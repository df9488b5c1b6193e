/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/* Parameters that all providers have.  The user sets them by environment variables. */

#include "rnic_fi.h"

size_t rnic_fi_eager_size = 8192;
size_t rnic_fi_idle_polls = 10000;
size_t rnic_fi_hint_polls = 1;

void rnic_fi_params(struct fi_provider *prov)
{
	fi_param_define(prov, "eager_size", FI_PARAM_SIZE_T,
			"Longest message that is copied through a slot at the "
			"receiver (default: %zu); longer ones go by rendezvous",
			rnic_fi_eager_size);
	fi_param_get_size_t(prov, "eager_size", &rnic_fi_eager_size);
	fi_param_define(prov, "idle_polls", FI_PARAM_SIZE_T,
			"Polls without news after which each further poll gives "
			"the processor away for a moment (default: %zu); 0 never "
			"does. The NIC may need that processor's host",
			rnic_fi_idle_polls);
	fi_param_get_size_t(prov, "idle_polls", &rnic_fi_idle_polls);
	fi_param_define(prov, "hint_polls", FI_PARAM_SIZE_T,
			"Polls without news after which each further poll tells "
			"the NIC, which then brings what has arrived (default: "
			"%zu); 0 never does", rnic_fi_hint_polls);
	fi_param_get_size_t(prov, "hint_polls", &rnic_fi_hint_polls);
	fi_param_define(prov, "rings", FI_PARAM_SIZE_T,
			"Senders that have slots at an endpoint (default: %zu); "
			"messages of others go by rendezvous",
			rnic_fi_ring_limit);
	fi_param_get_size_t(prov, "rings", &rnic_fi_ring_limit);
	rnic_fi_ring_limit = MIN(rnic_fi_ring_limit, RNIC_FI_RINGS_MAX);
	fi_param_define(prov, "quiet_ms", FI_PARAM_SIZE_T,
			"Milliseconds without a message after which the slots of "
			"a peer are freed (default: %zu)", rnic_fi_quiet_ms);
	fi_param_get_size_t(prov, "quiet_ms", &rnic_fi_quiet_ms);
	rnic_fi_quiet_ms = MAX(rnic_fi_quiet_ms, RNIC_FI_WATCH_MS);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* strategy_search.h - strategies of a program that is split over ranks, chosen by what trials cost (parallel/cost.h). */
#ifndef SPORE_STRATEGY_SEARCH_H
#define SPORE_STRATEGY_SEARCH_H

#include "base/text.h"
#include "parallel/shard.h"

/* For a graph whose calls are inlined: *out owns its lists, which are freed with sp__free. `report` gets lines that tell what was found. */
sp_status sp__strategy_search(sp_graph *g, const sp_sharding *how, sp_shard_trial *out, sp__text *report);

#endif

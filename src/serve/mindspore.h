/* SPDX-License-Identifier: Apache-2.0 */
/* mindspore.h - instances, which both interfaces of MindSpore Serving speak of: independent sets of inputs, rows of one run. */
#ifndef SPORE_MINDSPORE_H
#define SPORE_MINDSPORE_H

#include "serve/serve_impl.h"

typedef struct sp_instances {
    sp_tensor ***values; /* [instance][input]; owned, NULL: not given */
    int64_t n, room;
} sp_instances;

/* One more; *row has a place for each input, in the job's arena. */
sp_status sp__instances_add(sp_job *job, sp_instances *all, sp_tensor ***row);
/* Make the job's inputs of them; also sets n_instances and bare. */
sp_status sp__instances_stack(sp_job *job, sp_instances *all);
void sp__instances_free(const sp_job *job, sp_instances *all);
/* The job's outputs row by row (owned by the caller, also after a failure), checked: one row for each instance. */
sp_status sp__instances_results(const sp_job *job, sp_tensor **plain);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* stage.h - programs divided into the stages of a pipeline, from inside.
 *
 * A training step is recorded whole: every micro batch forward and backward, then the optimizer. The ranks are `stages` rows of equally many; a
 * row has the nodes of its stage, and values that cross stages are sent.
 *
 *  1. Operator `stage` marks where a value enters a stage (a Cell with pipeline_stage) or a micro batch; its gradient `stage_back` marks
 *     where gradients go back to the stage that the value came from. A stage of segment k is the virtual stage k * stages + stage.
 *  2. Labels follow the data. A node belongs to the latest of its inputs, forward before backward; one that has gradients of several stages
 *     (a global norm, its use) to the stage of its largest input. What depends on constants and variables alone belongs to no stage and is
 *     computed wherever it is used.
 *  3. A schedule (stage_schedule.c) gives every (virtual stage, micro batch, direction) its place in one order of the whole pipeline. All
 *     ranks sort all nodes by it, so that each finds the same messages. The last virtual stage goes back at once. Sums of micro batches'
 *     gradients are taken in that order, too, or all of them would have to be kept.
 *  4. A value is sent when it is there (the message is copied and goes on its own) and received where it is first used.
 *  5. A variable is stored to by the stage of the new value and by all stages that read it (shared Parameters). Others do not keep it. */
#ifndef SPORE_STAGE_H
#define SPORE_STAGE_H

#include "parallel/shard.h"

typedef enum { SP_SCHEDULE_1F1B, SP_SCHEDULE_GPIPE } sp_schedule;

/* Places of all tasks: forward[v * micros + m] and backward, v a virtual stage. Both have room for virtual_stages * micros. */
sp_status sp__stage_schedule(sp_schedule how, int stages, int virtual_stages, int micros, int *forward, int *backward);

/* Keep what the stage of this rank does. `how` is that of sp__shard_graph, which ran before for the ranks of one stage. */
sp_status sp__stage_graph(sp_graph *g, const sp_sharding *how, char **report);

#endif

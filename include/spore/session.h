/* SPDX-License-Identifier: Apache-2.0 */
/* session.h - a model in memory of the caller's: everything that a run writes to lies in one block whose size is known before, inputs and
 * results are buffers of the caller's, and a run allocates nothing. For programs that plan their memory, or must not fail for want of it.
 *
 *     size_t bytes;
 *     sp_session_bytes(m, NULL, &bytes);
 *     void *block = aligned_alloc(SP_SESSION_ALIGN, bytes);
 *     sp_session_create(m, NULL, block, bytes, &s);
 *     sp_session_run(s, 1, (const void *[]){image}, 1, (void *[]){scores});            as often as you like
 *     sp_session_release(s);
 *
 * Models whose operators run one after the other can be bound so; with branches or loops that depend on values, or shapes that depend on
 * contents, they cannot (SP_DECLINED), and sp_model_run runs them. Weights, the plan and the stacks of worker threads are not in the block: they are
 * made by sp_session_create, which runs the model once on zeros. With one thread (sp_threads_set) there are no workers. A thread other than
 * the one that created the session gets 1 MB of scratch memory in its first run of anything. Of the operators those that sort, Fourier transforms,
 * running sums of very long rows and some random distributions take workspace from the heap in every run. */
#ifndef SPORE_SESSION_H
#define SPORE_SESSION_H

#include "spore/model.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sp_session sp_session;

enum { SP_SESSION_ALIGN = 64 }; /* of the block */

/* Bytes of the block for inputs of these shapes (NULL: those of the file, one where a size is free). */
SP_API sp_status sp_session_bytes(sp_model *m, const sp_spec *inputs, size_t *bytes);
/* The block must be there until the session is released; nothing else may write to it. The model is retained. Weights are what they are
 * now: changing them is not noticed. */
SP_API sp_status sp_session_create(sp_model *m, const sp_spec *inputs, void *block, size_t bytes, sp_session **out);
SP_API void sp_session_release(sp_session *s); /* NULL is fine */

/* What it takes and gives, all sizes known. Borrowed. NULL: there is no such one. */
SP_API const sp_spec *sp_session_input_spec(const sp_session *s, int i);
SP_API const sp_spec *sp_session_output_spec(const sp_session *s, int i);

/* Elements in row-major order, in buffers that are aligned to an element and do not overlap those of results. One run at a time: while another thread
 * runs it, SP_RUNTIME. After a failure the results hold nothing of use. */
SP_API sp_status sp_session_run(sp_session *s, int n_in, const void *const *in, int n_out, void *const *out);

#ifdef __cplusplus
}
#endif

#endif

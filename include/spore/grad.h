/* SPDX-License-Identifier: Apache-2.0 */
/* grad.h - reverse-mode differentiation of whatever was computed while recording.
 *
 *     sp_grad_begin();                                  recording on (it nests)
 *     sp_grad_watch(w);                                 w is a variable: its uses are remembered
 *     ... loss = f(w) ...
 *     sp_grad_backward(1, &loss, NULL, 1, &w, false, &dw);
 *     sp_grad_end();                                    recording off
 *     sp_grad_unwatch(w);
 *
 * A history belongs to a tensor handle and dies with the handles that need it. Nothing is recorded for inputs without
 * history, so inference costs nothing. Recording is per thread. */
#ifndef SPORE_GRAD_H
#define SPORE_GRAD_H

#include "spore/tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

SP_API void sp_grad_begin(void);
SP_API void sp_grad_end(void);
SP_API bool sp_grad_recording(void);
/* Switch recording off (nothing is remembered) and back: returns the previous depth, to be given to _resume. */
SP_API int sp_grad_pause(void);
SP_API void sp_grad_resume(int depth);

/* A handle of its own on t to differentiate by. It keeps t's history for gradients of gradients, but where it is a target the backward
 * pass ends: what t itself depends on has no part in a function of it. Without a history it is watched; end that with
 * sp_grad_unwatch. */
SP_API sp_status sp_grad_variable(sp_tensor *t, sp_tensor **out);
/* Make t a variable: gets a history of its own, so that gradients with respect to it can be asked for. Counted:
 * as many unwatch calls end it. */
SP_API sp_status sp_grad_watch(sp_tensor *t);
SP_API void sp_grad_unwatch(sp_tensor *t);
SP_API bool sp_grad_tracked(const sp_tensor *t); /* has a history */

/* Same contents, no history. */
SP_API sp_status sp_grad_detach(const sp_tensor *t, sp_tensor **out);

/* Gradients of sum_i <outputs[i], seeds[i]> with respect to targets (tensors with history: watched ones, or results).
 * seeds NULL, or an element NULL: ones. grads[j] receives a tensor owned by the caller. create_graph: the gradients get
 * histories themselves (for gradients of gradients). On failure nothing is returned. The history stays usable for further calls.
 *
 * A target that no output depends on is SP_VALUE, with the reason as far as it is known: it was not watched, nothing was recorded,
 * or its values went through code that is not recorded. So is, as SP_RUNTIME, what a host function (graph.h) or sp_grad_opaque
 * stands in the way of. Where targets may be unused, one of the two functions below says so. */
SP_API sp_status sp_grad_backward(int n_outputs, sp_tensor *const *outputs, sp_tensor *const *seeds, int n_targets,
                                  sp_tensor *const *targets, bool create_graph, sp_tensor **grads);

/* The same, with zeros for targets that no output depends on; opaque results are constants. */
SP_API sp_status sp_grad_backward_allow_unused(int n_outputs, sp_tensor *const *outputs, sp_tensor *const *seeds,
                                               int n_targets, sp_tensor *const *targets, bool create_graph,
                                               sp_tensor **grads);
/* The same, with NULL where there is no dependence. */
SP_API sp_status sp_grad_backward_reached(int n_outputs, sp_tensor *const *outputs, sp_tensor *const *seeds,
                                          int n_targets, sp_tensor *const *targets, bool create_graph,
                                          sp_tensor **grads);
/* Refuse further passes through what these outputs were computed by. */
SP_API sp_status sp_grad_spend(int n_outputs, sp_tensor *const *outputs);

/* Called during backward with the gradient that reaches t; may return another one in *replaced (owned by the engine
 * afterwards), or leave it NULL. id identifies it for removal. */
typedef sp_status (*sp_grad_hook)(void *context, sp_tensor *grad, sp_tensor **replaced);
SP_API sp_status sp_grad_hook_add(sp_tensor *t, sp_grad_hook hook, void (*release)(void *context), void *context,
                                  int64_t *id);
SP_API void sp_grad_hook_remove(sp_tensor *t, int64_t id);

/* A function with a gradient of the caller's own: `outputs` are tensors just computed (without recording) from `inputs`;
 * from here on they depend on the inputs through `backward`, which gets a gradient per output (never NULL) and fills one
 * per input (owned, NULL for none). */
typedef sp_status (*sp_grad_custom)(void *context, int n_out, sp_tensor *const *dout, int n_in, sp_tensor **din);
SP_API sp_status sp_grad_attach(int n_in, sp_tensor *const *inputs, int n_out, sp_tensor *const *outputs,
                                sp_grad_custom backward, void (*release)(void *context), void *context);

/* Say that `outputs` were computed from `inputs` by code that the engine cannot see and that has no gradient; `what` names it in
 * messages. From here on sp_grad_backward fails where it would have to go through, instead of leaving that part out. Does
 * nothing where nothing is recorded or no input has a history. */
SP_API sp_status sp_grad_opaque(const char *what, int n_in, sp_tensor *const *inputs, int n_out,
                                sp_tensor *const *outputs);

/* What is kept for gradients while operators are recorded goes through `pack`, which gives something to keep in the tensor's place;
 * `unpack` makes a tensor of the same shape and dtype of it when the gradient needs it. Per thread; pack NULL: tensors are kept as they
 * are. Constants of rank 0, which plain numbers are, are not packed. Returns what was set before. */
typedef struct sp_grad_saver {
    sp_status (*pack)(void *context, sp_tensor *t, void **packed);
    sp_status (*unpack)(void *packed, sp_tensor **t);
    void (*release)(void *packed);
    void *context;
} sp_grad_saver;
SP_API sp_grad_saver sp_grad_set_saver(sp_grad_saver saver);

#ifdef __cplusplus
}
#endif
#endif

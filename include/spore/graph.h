/* SPDX-License-Identifier: Apache-2.0 */
/* graph.h - programs that are written once, compiled, and run many times.
 *
 *     sp_graph *g;            sp_graph_create(&g);
 *     sp_function *f;         sp_function_begin(g, "scale", 1, &in, &f, &x);      x is a symbol: it stands for the argument
 *     sp_tensor *y = sp_mul(b, x, w);                                              recorded, not computed
 *     sp_function_end(f, 1, &y);
 *     sp_program *p;          sp_program_create(f, NULL, &p);
 *     sp_program_run(p, 1, &actual, 1, &result);                                   as often as you like, from any thread
 *
 * Between begin and end every operator that meets a symbol is recorded, the gradients of grad.h included; operators on
 * ordinary tensors are computed at once, so their results are constants of the program. Variables (sp_graph_variable_mark)
 * are read and written each time the program runs.
 *
 * Functions are values: sp_function_call calls one, sp_function_if and sp_function_while make branches and loops of them,
 * sp_function_partial binds arguments. A function begun while another is being recorded may use the outer one's symbols. */
#ifndef SPORE_GRAPH_H
#define SPORE_GRAPH_H

#include "spore/op.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sp_graph sp_graph;
typedef struct sp_function sp_function;
typedef struct sp_program sp_program;

SP_API sp_status sp_graph_create(sp_graph **out);
SP_API sp_graph *sp_graph_retain(sp_graph *g);
SP_API void sp_graph_release(sp_graph *g);

/* Start recording a function on this thread; params receives its parameters as symbols, owned by the caller. It lives as
 * long as the graph. Recording nests. */
SP_API sp_status sp_function_begin(sp_graph *g, const char *name, int n_params, const sp_spec *specs, sp_function **out,
                                   sp_tensor **params);
/* Finish it: results are symbols or ordinary tensors (constants). */
SP_API sp_status sp_function_end(sp_function *f, int n_results, sp_tensor *const *results);
/* Finish it with a call whose results are its own: the way loops are made, without growing any stack. */
SP_API sp_status sp_function_end_call(sp_function *f, sp_tensor *callee, int n_args, sp_tensor *const *args);
/* Give it up: the recording ends, the function must not be used. For error paths. */
SP_API void sp_function_abandon(sp_function *f);
SP_API sp_function *sp_function_recording(void); /* innermost of this thread, NULL: none */
SP_API bool sp_tensor_is_symbol(const sp_tensor *t);

/* Everything below is recorded into the innermost function. */

/* The function as a value: a symbol that can be passed, chosen, called. */
SP_API sp_status sp_function_value(sp_function *f, sp_tensor **out);
/* Call a function value. specs: dtype and shape of the n_out results (NULL: those of a finished function with results). */
SP_API sp_status sp_function_call(sp_tensor *callee, int n_args, sp_tensor *const *args, int n_out,
                                  const sp_spec *specs, sp_tensor **out);
SP_API sp_status sp_function_partial(sp_tensor *callee, int n_args, sp_tensor *const *args, sp_tensor **out);
/* The function value `yes` if cond (one element) is not zero, else `no`. */
SP_API sp_status sp_function_switch(sp_tensor *cond, sp_tensor *yes, sp_tensor *no, sp_tensor **out);
/* yes(args) or no(args); both give n_out results of equal dtypes and shapes. */
SP_API sp_status sp_function_if(sp_tensor *cond, sp_function *yes, sp_function *no, int n_args, sp_tensor *const *args,
                                int n_out, sp_tensor **out);
/* while (test(state)) state = body(state). out receives the n final values of the state. */
SP_API sp_status sp_function_while(sp_function *test, sp_function *body, int n, sp_tensor *const *state,
                                   sp_tensor **out);
/* Gradients of the sum of the results of callee(args) by the arguments at `positions`, whatever branches and loops it runs
 * through; out receives the n_results values, then the gradients. A run in which the results do not depend on one of these arguments
 * fails, as in sp_grad_backward (grad.h). */
SP_API sp_status sp_function_grad(sp_function *callee, int n_args, sp_tensor *const *args, int n_positions,
                                  const int *positions, sp_tensor **out);
/* The same, with zeros for arguments that the results do not depend on. */
SP_API sp_status sp_function_grad_allow_unused(sp_function *callee, int n_args, sp_tensor *const *args, int n_positions,
                                               const int *positions, sp_tensor **out);

/* What is the same for all slices of a batch, and what is not. */
typedef struct sp_batch_spec {
    int64_t size;                /* number of slices */
    const bool *batched;         /* args[i] has the slices along its first axis, else all slices share it */
    int n_variables;             /* variables that differ from slice to slice: a model per slice */
    sp_tensor *const *variables; /* as the function reads them */
    sp_tensor *const *values;    /* their contents, slices along the first axis */
} sp_batch_spec;

/* The finished function `f`, written for one slice, applied to all slices at once; works inside and outside of recordings, and is
 * remembered for gradients like any other computation. out receives the results, out_batched whether they have the slices along
 * their first axis (else they are the same for all). SP_DECLINED: the course of the function depends on the slice, or it stores
 * something of a slice; nothing was done then. Operators without a rule for batches run slice by slice; `slow` (may be NULL)
 * receives their names, separated by blanks, freed with sp_text_free. */
SP_API sp_status sp_function_batch(sp_function *f, const sp_batch_spec *spec, int n_args, sp_tensor *const *args,
                                   int n_out, sp_tensor **out, bool *out_batched, char **slow);
/* Say, while it is being recorded, that sp_function_batch will be called: only then do gradients of the results reach tensors
 * that f uses without getting them as arguments. */
SP_API void sp_function_will_batch(sp_function *f);

/* From now on t is a variable when met in a recording: read and written when the program runs, not a constant. */
SP_API void sp_graph_variable_mark(sp_tensor *t);

/* Code outside the graph, called each time the program gets there. It returns n_out tensors, owned by the caller.
 * It has the gradient of the operators it applies to its inputs; results without a history are opaque (sp_grad_opaque). */
typedef sp_status (*sp_host_fn)(void *context, int n_in, sp_tensor *const *in, int n_out, sp_tensor **out);
SP_API sp_status sp_function_host(const char *name, sp_host_fn run, void (*release)(void *context), void *context,
                                  int n_in, sp_tensor *const *in, int n_out, const sp_spec *specs, sp_tensor **out);

/* Text that reads back to the same graph; freed with sp_text_free. */
SP_API sp_status sp_graph_text(const sp_graph *g, char **out);
SP_API sp_status sp_graph_parse(const char *text, sp_graph **out);
SP_API sp_status sp_graph_dot(const sp_graph *g, char **out); /* a drawing for Graphviz */
SP_API void sp_text_free(char *text);
/* What is run from outside: the first function that was begun, unless another one is set. NULL: the graph has none. */
SP_API sp_function *sp_graph_entry(const sp_graph *g);
SP_API sp_status sp_graph_set_entry(sp_graph *g,
                                    sp_function *f); /* f is a finished function of g without symbols of others */
/* Its functions in the order in which they were begun, and the first one of a name; NULL: there is none. Functions belong to the graph. */
SP_API int sp_graph_functions(const sp_graph *g);
SP_API sp_function *sp_graph_function_at(const sp_graph *g, int i);
SP_API sp_function *sp_graph_function_find(const sp_graph *g, const char *name);
SP_API const char *sp_function_name(const sp_function *f); /* borrowed */
/* Parameters and results; -1 results: it ends with a call (sp_function_end_call), or is not finished. */
SP_API int sp_function_params(const sp_function *f);
SP_API int sp_function_results(const sp_function *f);

/* --- programs ---------------------------------------------------------------------------------------------------- */

/* What a program may do besides the exact default. */
typedef struct sp_program_options {
    uint32_t struct_size;
    bool fast;       /* numerics that are not bit-equal to eager mode: see docs/inside/graph-mode.md */
    const char *off; /* names of passes to leave out, separated by commas; NULL: none */
    const char
        *save_graphs; /* folder for the graph's text, 00_captured_0000.ir and so on; made when needed; NULL: none */
    int save_level; /* 0: nothing, 1: as captured and after passes that changed it, 2: after all, 3: also drawings for Graphviz */
    const struct sp_sharding *sharding; /* split it over the ranks of the job (parallel.h); NULL: do not */
} sp_program_options;

/* Compile a finished function. The graph is kept as long as the program lives. */
SP_API sp_status sp_program_create(sp_function *f, const sp_program_options *options, sp_program **out);
/* Keep what compiling finds out in files of this folder, and take it from there when the same function is compiled again, in this
 * process or another; NULL: do not (as at first). The folder is made when needed and may be shared by any number of processes. A file
 * that is damaged or of another version of the library is not used. most_bytes: of all files together, 0 for 256 MiB; those that
 * were not used for longest go. Failures are no errors: sp_program_report tells what was read, written and why not. */
SP_API sp_status sp_program_cache(const char *folder, uint64_t most_bytes);
SP_API sp_program *sp_program_retain(sp_program *p);
SP_API void sp_program_release(sp_program *p);
/* Run. results are owned by the caller. Any number of threads may run one program at a time. */
SP_API sp_status sp_program_run(sp_program *p, int n_args, sp_tensor *const *args, int n_results, sp_tensor **results);
/* Function calls that may be open at a time in one run, 100,000 at first; beyond it a run fails. Loops do not count. */
SP_API sp_status sp_program_set_depth(int most);
SP_API int sp_program_results(const sp_program *p); /* number of results, -1 when only a run tells */
/* What the passes did and what the plan needs, as text for people; freed with sp_text_free. */
SP_API sp_status sp_program_report(const sp_program *p, char **out);

#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* model_impl.h - what a kind of model file gives: its face, and a way to apply it. model.c does the rest: compiling for the
 * arguments' shapes, remembering programs, running operator by operator where compiling is not possible. */
#ifndef SPORE_MODEL_IMPL_H
#define SPORE_MODEL_IMPL_H

#include <stdarg.h>

#include "base/arena.h"
#include "formats/format_impl.h"
#include "spore/model.h"

enum { SP_AXIS_NAME_BYTES = 48 };

typedef struct sp_model_value {
    const char *name; /* lives with the model */
    sp_spec spec;     /* of texts SP_DTYPE_STR, of what is no tensor SP_DTYPE_NONE */
    int type;         /* for the kind: what a tensor of that dtype stands for; 0: itself, -1: it is a sequence */
    uint32_t axes[SP_RANK_MAX]; /* free dimensions of one size have one number here; 0: nothing is said */
    char axis_names[SP_RANK_MAX][SP_AXIS_NAME_BYTES]; /* what the file calls them, cut to that; "": nothing */
} sp_model_value;

/* Code outside the graph that does nothing but fail: a branch that cannot be taken with the shapes at hand (FAILURE, which takes any one tensor and
 * would give the results of that branch), or a condition that does not hold (ASSERT, which gives nothing). Their context is the message. */
#define SP_HOST_FAILURE "failure"
#define SP_HOST_ASSERT "assert"
/* Draws a state for random numbers; files have generators of their own. */
#define SP_HOST_RANDOM "random_state"

/* One of: a tensor, texts, a list of items. */
struct sp_item {
    atomic_int refs;
    sp_tensor *tensor;
    int n; /* items of a list, -1: no list */
    sp_item **items;
    sp_spec spec; /* of texts */
    int64_t n_texts;
    char **texts;
};

/* The entries of a kind of model; `data` is what load made. */
typedef struct sp_model_kind {
    const char *format; /* name of the sp_format whose files it takes: "onnx" */
    /* Fill m: data, inputs, outputs, parameters. Memory in m->arena. After a failure release is called with what there is. */
    sp_status (*load)(const sp_source *s, sp_model *m);
    void (*release)(void *data);
    /* Apply to arguments, tensors or symbols; results are owned by the caller. When an argument is a symbol and its contents
     * would have to be known, SP_SYMBOL. Called by several threads at a time. */
    sp_status (*apply)(const sp_model *m, sp_tensor *const *in, sp_tensor **out);
    /* The same for models that take or give more than tensors; NULL: there are none of this kind. */
    sp_status (*apply_items)(const sp_model *m, sp_item *const *in, sp_item **out);
    /* What the model keeps from run to run, as it is at the start; NULL: models of this kind keep nothing. */
    sp_status (*reset)(const sp_model *m);
    /* apply takes weights from m->parameters of the model it is given, so that model.c may put others there. */
    bool freezes;
    /* Inputs can be of other sizes than the file says, which are those it was written with: all others follow from them. Only with sp_model_allow_sizes. */
    bool any_size;
} sp_model_kind;

struct sp_model {
    atomic_int refs;
    const sp_model_kind *kind;
    void *data;
    sp__arena arena;
    int n_inputs, n_outputs;
    sp_model_value *inputs, *outputs;
    const char *form; /* sp_model_form */
    bool other_sizes; /* sp_model_allow_sizes */
    bool
        sized; /* functions inside are recorded with the sizes that the file says: with others they are only run, step by step */
    sp_bundle *parameters;
    sp_device *device; /* sp_model_set_device; NULL: the CPU */
    int n_nodes;
    sp_model_node *nodes; /* the outline, made by load; in the arena */
    struct sp_model_programs *programs;
};

/* A model of a kind, empty. */
sp_status sp__model_create(const sp_model_kind *kind, sp_model **out);
/* The model applied to arguments of these shapes, recorded: bit i of given says whether argument i is there. The graph is the caller's. */
sp_status sp__model_record(const sp_model *m, uint64_t given, int n, const sp_spec *specs, sp_graph **graph,
                           sp_function **out);
/* The same, where what the model computes from sizes is recorded, though they are known (sp__symbol_known): files that leave sizes open are made of it. */
sp_status sp__model_record_sizes(const sp_model *m, uint64_t given, int n, const sp_spec *specs, sp_graph **graph,
                                 sp_function **out);
/* The same for some arguments that the model takes; free dimensions have sizes that were found to work. */
sp_status sp__model_record_any(sp_model *m, sp_graph **graph, sp_function **out);
/* A version of ONNX's operators is for .onnx. */
sp_status sp__model_check_opset(const char *path, int opset, const sp_file_options *options);

/* sp_model_convert, with something done to every recording before it is written: it must do the same to recordings with other sizes. */
typedef struct sp_model_edit {
    sp_status (*edit)(void *context, sp_function *f);
    void *context;
} sp_model_edit;
sp_status sp__model_convert_edited(sp_model *m, const char *path, int opset, const sp_file_options *options,
                                   const sp_model_edit *edit);
/* Do arguments fit what the file declares, whatever sp_model_allow_sizes says? any_rows: but for their first axes. Those that are left out (NULL) fit. */
sp_status sp__model_check(const sp_model *m, int n_in, sp_tensor *const *in, bool any_rows);
/* Zeros of all inputs, of these shapes (NULL: those of the file, one element where they are free), and how many bytes they are. SP_DECLINED: some input or output is no tensor.
 * After a failure those made are in `in`. */
enum { SP_MODEL_ENDS_MAX = 64 };
sp_status sp__model_zeros(const sp_model *m, const sp_spec *inputs, sp_spec *specs, sp_tensor **in, size_t *bytes);
/* The program for inputs of these shapes, none left out; to be released. SP_DECLINED: there is none. */
sp_status sp__model_program(sp_model *m, const sp_spec *specs, sp_program **out);
/* Weights that are used where they lie in a file are what they were when it was opened. */
sp_status sp__model_check_files(const sp_model *m);
/* For whoever records a model and wants to know where operators come from: while it is set, nodes that are recorded have a place (graph_impl.h) whose text is the
 * name of the file's node. Places live in this arena. */
extern _Thread_local sp__arena *sp__model_places;
struct sp_place;
/* Around what a node of the file makes: gives what _leave takes. */
const struct sp_place *sp__model_node_enter(const char *name, const char *op);
void sp__model_node_leave(const struct sp_place *before);
/* The weights under the same names, not marked as variables: constants of what is recorded with them. The bundle is the caller's. */
sp_status sp__model_frozen_weights(const sp_model *m, sp_bundle **out);
/* From now on its weights are constants of what is recorded; for kinds that freeze. */
sp_status sp__model_freeze(sp_model *m);
/* "layer1/conv1" of the name of a node, "/layer1/conv1/Conv" or "Default/layer1-Block/conv1-Conv2d/Conv2D-op1"; in the arena, NULL: no memory. */
const char *sp__model_scope(sp__arena *arena, const char *name);

/* Constants that recordings compute from weights alone, kept from one recording to the next (model_derived.c). They are found by the site, a node, and what they were computed
 * from; then result has SP_DERIVED_MAX of them, borrowed. Without a recording of fixed weights nothing is found or kept. */
enum { SP_DERIVED_MAX = 2, SP_DERIVED_KEPT = 100000 };
typedef struct sp_derived {
    struct sp_derived_value *first, *last; /* the one found last */
    int n_kept;
} sp_derived;
bool sp__derived_find(const void *site, int n, sp_tensor *const *from, sp_tensor **result);
void sp__derived_keep(const void *site, int n, sp_tensor *const *from, int n_results, sp_tensor *const *result);
/* Around a recording of this thread. */
void sp__derived_begin(sp_derived *s);
void sp__derived_end(void);
void sp__derived_clear(sp_derived *s);

/* The list of a model's nodes while it is made (onnx_outline.c, tflite_outline.c). */
typedef struct sp__outline {
    sp_model *m;
    int room, n_bodies; /* nodes there is room for; nodes with branches or bodies so far */
} sp__outline;
/* "outer/inner", or the one that is not empty, in the model's arena; NULL without memory. */
const char *sp__outline_join(sp__outline *o, const char *outer, const char *inner);
sp_status sp__outline_append(sp__outline *o, sp_model_node node);
/* Whether bodies are listed still: not too deep, and not too many. */
bool sp__outline_open(const sp__outline *o, int depth);

extern const sp_model_kind sp__model_onnx, sp__model_mindir, sp__model_tflite, sp__model_lite;

/* sp_builder_call_many with attributes by a format of printf, or NULL. */
sp_status sp__model_call_format(sp_builder *b, const char *op, int n_in, sp_tensor *const *in, int max_out,
                                sp_tensor **out, const char *format, va_list args)
    __attribute__((format(printf, 7, 0)));
/* The same for handlers of nodes: the first result, NULL after a failure; all results. */
sp_tensor *sp__model_op(sp_builder *b, const char *op, int n_in, sp_tensor *const *in, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
sp_status sp__model_op_many(sp_builder *b, const char *op, int n_in, sp_tensor *const *in, int max_out, sp_tensor **out,
                            const char *format, ...) __attribute__((format(printf, 7, 8)));

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* model_impl.h - what a kind of model file gives: its face, and a way to apply it. model.c does the rest: compiling for the
 * arguments' shapes, remembering programs, running operator by operator where compiling is not possible. */
#ifndef SPORE_MODEL_IMPL_H
#define SPORE_MODEL_IMPL_H

#include "base/arena.h"
#include "formats/format_impl.h"
#include "spore/model.h"

typedef struct sp_model_value {
    const char *name; /* lives with the model */
    sp_spec spec;     /* of texts SP_DTYPE_STR, of what is no tensor SP_DTYPE_NONE */
    int type;         /* for the kind: what a tensor of that dtype stands for; 0: itself, -1: it is a sequence */
} sp_model_value;

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
    /* apply takes weights from m->parameters of the model it is given, so that model.c may put others there. */
    bool freezes;
} sp_model_kind;

struct sp_model {
    atomic_int refs;
    const sp_model_kind *kind;
    void *data;
    sp__arena arena;
    int n_inputs, n_outputs;
    sp_model_value *inputs, *outputs;
    sp_bundle *parameters;
    struct sp_model_programs *programs;
};

extern const sp_model_kind sp__model_onnx, sp__model_mindir;

#endif

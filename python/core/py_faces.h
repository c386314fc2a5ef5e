/* SPDX-License-Identifier: Apache-2.0 */
/* py_faces.h - operators as Python functions, methods and primitive classes, read from the `python` text of their
 * entry.
 *
 *     ops.relu(input)                    a function of the module spore.ops
 *     mint.nn.functional.relu(input)     the same elsewhere
 *     Tensor.relu()                      a method: the operator's first input is self
 *     ops.ReLU()(x)                      a primitive class: arguments of the constructor, then of the call
 *
 * An argument is `name`, `name=literal`, `face_name:target` (target: attribute or input of the operator), `*name` (the
 * remaining positional arguments, or one tuple), `*` (keyword-only from here) or `.attr=literal` (fixed, not shown). */
#ifndef SPORE_PY_FACES_H
#define SPORE_PY_FACES_H

#include "core.h"

enum { FACE_ARGS_MAX = 32 };

typedef struct face_arg {
    char name[32];
    PyObject *key;       /* interned name */
    const sp_attr *attr; /* what it sets: an attribute ... */
    int input;           /* ... or this input, -1 for none */
    bool star, keyword_only, fixed;
    char *initial; /* default as text, NULL when it must be given */
} face_arg;

typedef struct face {
    const sp_op *op;
    char place[40], name[40];
    bool method, primitive;
    bool parsed;
    char *init_text, *call_text; /* what stands between the parentheses */
    int n_init, n_args;          /* arguments, those of the constructor first */
    int star;                    /* argument with a star, or -1 */
    int n_positional;            /* arguments that may be given by position (of the call part, without star) */
    face_arg *args;
    void *attrs; /* attribute struct with the defaults of this face */
    sp_attr_text keep;
    const sp_inputs *inputs;
    struct face *next; /* another face of the same name, tried when the arguments do not fit this one */
    PyMethodDef def;
    PyObject *callable;
} face;

/* All faces of the table; made once. */
face *sp__py_faces(int *n);
/* Fill in the arguments: at the first call or question. -1 with an exception when the text is malformed. */
int sp__py_face_parse(face *f);
/* "(input, axis=-1)" of a part, as inspect.signature reads it. New string. */
char *sp__py_face_signature(const char *self, const char *text);
/* The "Examples:" paragraph of its docstring, empty where it has none. New string. */
char *sp__py_face_example(const face *f);

/* Sets one attribute field from a Python value. -1 with an exception. Lists are put into the scratch. */
typedef struct attr_scratch {
    int64_t ints[48];
    double floats[16];
    int n_ints, n_floats, n_blocks;
    void *blocks[8];
    PyObject *texts[8]; /* strings whose UTF-8 is in use */
    int n_texts;
} attr_scratch;
int sp__py_set_attr(const char *op_name, const char *shown, const sp_attr *attr, PyObject *value, void *attrs,
                    attr_scratch *scratch);
static inline void sp__py_scratch_init(attr_scratch *s) { s->n_ints = s->n_floats = s->n_blocks = s->n_texts = 0; }
void sp__py_scratch_done(attr_scratch *s);

#endif

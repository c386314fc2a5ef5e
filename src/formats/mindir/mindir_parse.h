/* SPDX-License-Identifier: Apache-2.0 */
/* mindir_parse.h - what reading MindIR files shares: mindir_attrs.c reads attributes and tensors, mindir_parse.c nodes and functions,
 * mindir_names.c looks names up. */
#ifndef SPORE_MINDIR_PARSE_H
#define SPORE_MINDIR_PARSE_H

#include "formats/mindir/mindir.h"
#include "formats/wire.h"

enum { MP_NESTING_MAX = 32 };

typedef struct mp_parser {
    mi_model *m;
    sp__arena *arena;
    int depth;
} mp_parser;

typedef struct mp_tensor {
    sp_meta meta;
    uint64_t type;
    sp_wire raw;
    bool has_raw;
    sp_wire ref_key; /* the weight it is, empty: none */
} mp_tensor;

static inline void *sp__mp_alloc(mp_parser *p, size_t n, size_t bytes)
{
    return sp__arena_alloc(p->arena, n ? n * bytes : 1);
}

sp_status sp__mp_take_text(mp_parser *p, sp_wire *w, const char *what, int type, const char **out);
int sp__mp_count_fields(sp_wire w, uint32_t wanted);
mi_value *sp__mp_new_value(mp_parser *p, mi_kind kind);
sp_status sp__mp_read_tensor(sp_wire w, mp_tensor *t);
mi_value *sp__mp_type_of_tensor(mp_parser *p, const mp_tensor *t);
sp_status sp__mp_read_attribute(mp_parser *p, sp_wire w, bool is_type, mi_attr *out);
/* Names looked up, calls that end functions found; all operators that are not supported are told in one message. */
sp_status sp__mp_resolve(mp_parser *p);

#endif

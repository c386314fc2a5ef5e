/* SPDX-License-Identifier: Apache-2.0 */
/* mindir_parse.h - what reading MindIR files shares: mindir_attrs.c reads attributes and tensors, mindir_parse.c nodes and functions,
 * mindir_names.c looks names up. */
#ifndef SPORE_MINDIR_PARSE_H
#define SPORE_MINDIR_PARSE_H

#include "formats/mindir/mindir.h"
#include "formats/wire.h"

enum { MP_NESTING_MAX = 32 };

typedef struct sp_mindir_parser {
    sp_mindir_model *m;
    sp__arena *arena;
    int depth;
} sp_mindir_parser;

typedef struct sp_mindir_parsed {
    sp_meta meta;
    uint64_t type;
    sp_wire raw;
    bool has_raw;
    sp_wire ref_key; /* the weight it is, empty: none */
} sp_mindir_parsed;

static inline void *sp__mindir_parse_alloc(sp_mindir_parser *p, size_t n, size_t bytes)
{
    return sp__arena_alloc(p->arena, n ? n * bytes : 1);
}

sp_status sp__mindir_parse_take_text(sp_mindir_parser *p, sp_wire *w, const char *what, int type, const char **out);
int sp__mindir_parse_count_fields(sp_wire w, uint32_t wanted);
sp_mindir_value *sp__mindir_parse_new_value(sp_mindir_parser *p, sp_mindir_kind kind);
sp_status sp__mindir_parse_read_tensor(sp_wire w, sp_mindir_parsed *t);
sp_mindir_value *sp__mindir_parse_type_of_tensor(sp_mindir_parser *p, const sp_mindir_parsed *t);
sp_status sp__mindir_parse_read_attribute(sp_mindir_parser *p, sp_wire w, bool is_type, sp_mindir_attr *out);
/* Names looked up, calls that end functions found; all operators that are not supported are told in one message. */
sp_status sp__mindir_parse_resolve(sp_mindir_parser *p);

#endif

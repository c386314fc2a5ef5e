/* SPDX-License-Identifier: Apache-2.0 */
/* mindir_form.c - how the tensors that a MindIR model gives make up its result: sp_model_form.
 *
 * The type of the output tells all but texts; their contents are constants of the tuple that is returned, so that is followed to the
 * nodes that make it. */
#include <string.h>

#include "base/text.h"
#include "formats/mindir/mindir.h"

enum { DEPTH_MAX = 64 }; /* of nodes that pass a value on; types are not nested deeper than attributes may be */

/* What a value is made of: a constant, or the items of a tuple, or (neither) computed. */
typedef struct {
    const sp_mindir_value *constant;
    const sp_mindir_node *tuple;
} origin;

static bool is_type(const sp_mindir_node *n, const char *a, const char *b, const char *c)
{
    const char *type = n->primitive ? n->primitive->type : "";
    return !strcmp(type, a) || !strcmp(type, b) || !strcmp(type, c);
}

static origin origin_of(const sp_mindir_name *at)
{
    for (int depth = 0; at && depth < DEPTH_MAX; depth++) {
        if (at->where == SP_MINDIR_AT_CONSTANT) return (origin){.constant = at->constant};
        const sp_mindir_node *n =
            at->where == SP_MINDIR_AT_VALUE && at->owner->node_of_slot ? at->owner->node_of_slot[at->slot] : NULL;
        if (!n || !n->n_in) break;
        if (is_type(n, "MakeTuple", "make_list", "MakeList")) return (origin){.tuple = n};
        if (!is_type(n, "Load", "Depend", "UpdateState")) break;
        at = n->in[0];
    }
    return (origin){0};
}

static origin item_of(origin from, int i)
{
    if (from.tuple) return i < from.tuple->n_in ? origin_of(from.tuple->in[i]) : (origin){0};
    if (from.constant && from.constant->kind == SP_MINDIR_TUPLE && i < from.constant->n)
        return (origin){.constant = from.constant->items[i]};
    return (origin){0};
}

static void put(sp__text *out, const sp_mindir_value *type, origin from)
{
    const sp_mindir_value *c = from.constant;
    switch (type->kind) {
    case SP_MINDIR_TUPLE:
        if (type->sparse) sp__text_put(out, "%c", type->sparse);
        sp__text_put(out, type->is_list ? "[" : "(");
        for (int i = 0; i < type->n; i++) put(out, type->items[i], item_of(from, i));
        sp__text_put(out, type->is_list ? "]" : ")");
        break;
    case SP_MINDIR_TEXT:
        if (c && c->kind == SP_MINDIR_TEXT && c->s) sp__text_put(out, "s%zu:%s", strlen(c->s), c->s);
        else sp__text_put(out, "-");
        break;
    case SP_MINDIR_NONE:
    case SP_MINDIR_MONAD:
    case SP_MINDIR_DTYPE: sp__text_put(out, "-"); break;
    default: sp__text_put(out, type->is_number ? "N" : "T");
    }
}

sp_status sp__mindir_form(const sp_mindir_function *f, sp__arena *arena, const char **out)
{
    sp__text text = {0};
    char *form;
    if (f->n_outputs != 1) sp__text_put(&text, "(");
    for (int i = 0; i < f->n_outputs; i++) put(&text, f->output_types[i], origin_of(f->outputs[i]));
    if (f->n_outputs != 1) sp__text_put(&text, ")");
    SP_TRY(sp__text_take(&text, &form));
    *out = sp__arena_text(arena, form);
    sp__free(form);
    return *out ? SP_OK : SP_NOMEM;
}

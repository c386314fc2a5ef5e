/* SPDX-License-Identifier: Apache-2.0 */
/* codegen_table.c - a byte that is computed from one byte by functions (sigmoid, tanh, hardswish of quantised values) is looked up: 256 bytes of
 * flash instead of exp on a machine without floats, and the engine's own results bit for bit, because the engine fills the table. */
#include "codegen/codegen.h"
#include "ops/ops_impl.h"

enum { CHAIN_MAX = 64 };

typedef struct chain {
    sp_value *source;
    int n;
    const sp_node *nodes[CHAIN_MAX]; /* each behind those it needs */
    sp_tensor *results[CHAIN_MAX];
    bool dear;
} chain;

static bool is_byte(sp_dtype dtype) { return dtype == SP_DTYPE_I8 || dtype == SP_DTYPE_U8; }

static int place_of(const chain *c, const sp_value *v)
{
    for (int i = 0; i < c->n; i++)
        if (c->nodes[i]->out[0] == v) return i;
    return -1;
}

/* Everything that the node is computed from, down to one value of bytes. */
static bool follow(chain *c, const sp_node *n)
{
    if (!sp__codegen_is_math(n) || c->n >= CHAIN_MAX) return false;
    for (int i = 0; i < n->n_in; i++) {
        sp_value *v = n->in[i];
        double number;
        if (sp__codegen_is_number(v, &number) || place_of(c, v) >= 0) continue;
        if (!sp__shape_equal(v->meta.rank, v->meta.dims, n->out[0]->meta.rank, n->out[0]->meta.dims)) return false;
        if (is_byte(v->meta.dtype)) {
            if (c->source != NULL && c->source != v) return false;
            c->source = v;
        } else if (v->origin != SP_VALUE_NODE || v->node->kind != SP_NODE_OP || !follow(c, v->node)) return false;
    }
    if (c->n >= CHAIN_MAX) return false;
    c->dear |= sp__codegen_is_dear(n);
    c->nodes[c->n++] = n;
    return true;
}

/* All bytes, by their bits. */
static sp_status all_bytes(sp_dtype dtype, sp_tensor **out)
{
    SP_TRY(sp_tensor_create(dtype, 1, (const int64_t[]){256}, out));
    for (int i = 0; i < 256; i++) ((uint8_t *)(void *)(*out)->data)[i] = (uint8_t)i;
    return SP_OK;
}

static sp_status compute(chain *c, sp_tensor *source)
{
    for (int i = 0; i < c->n; i++) {
        const sp_node *n = c->nodes[i];
        sp_tensor *in[SP_IN_MAX] = {NULL}, *numbers[SP_IN_MAX] = {NULL};
        sp_status status = SP_OK;
        for (int k = 0; k < n->n_in && status == SP_OK; k++) {
            const int place = place_of(c, n->in[k]);
            double number;
            if (n->in[k] == c->source) in[k] = source;
            else if (place >= 0 && place < i) in[k] = c->results[place];
            else if (sp__codegen_is_number(n->in[k], &number)) {
                status = sp_tensor_create_f64(n->in[k]->meta.dtype, number, &numbers[k]);
                in[k] = numbers[k];
            }
        }
        int n_out;
        if (status == SP_OK) status = sp_apply(n->op, n->attrs, n->n_in, in, 1, &c->results[i], &n_out);
        for (int k = 0; k < n->n_in; k++) sp_tensor_release(numbers[k]);
        SP_TRY(status);
    }
    return SP_OK;
}

static sp_status make_table(sp_codegen *g, chain *c)
{
    sp_codegen_value *known = sp__codegen_value(g, c->nodes[c->n - 1]->out[0]);
    sp_tensor *source;
    SP_TRY(all_bytes(c->source->meta.dtype, &source));
    sp_status status = compute(c, source);
    if (status == SP_OK && c->results[c->n - 1]->count == 256) {
        known->table = sp__value_constant(g->f, c->results[c->n - 1]);
        known->source = c->source;
        if (known->table == NULL) status = SP_NOMEM;
    }
    for (int i = 0; i < c->n; i++) sp_tensor_release(c->results[i]);
    sp_tensor_release(source);
    return status;
}

sp_status sp__codegen_tables(sp_codegen *g)
{
    for (const sp_node *n = g->f->first; n != NULL; n = n->next) {
        chain c = {.source = NULL};
        if (n->kind != SP_NODE_OP || n->n_out != 1 || !is_byte(n->out[0]->meta.dtype)) continue;
        if (follow(&c, n) && c.dear && c.source != NULL) SP_TRY(make_table(g, &c));
    }
    return SP_OK;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* codegen_lower.c - the nodes of a function to steps: which are computed together, and in which memory their results are. */
#include <math.h>
#include <stdio.h>

#include "base/plain.h"
#include "codegen/codegen.h"
#include "ops/ops_impl.h"

/* --- constants --------------------------------------------------------------------------------------------------- */

double sp__codegen_element(const sp_tensor *t, int64_t i)
{
    switch (t->dtype) {
    case SP_DTYPE_F32: return (double)((const float *)(const void *)t->data)[i];
    case SP_DTYPE_F64: return ((const double *)(const void *)t->data)[i];
    case SP_DTYPE_I8: return (double)((const int8_t *)(const void *)t->data)[i];
    case SP_DTYPE_I16: return (double)((const int16_t *)(const void *)t->data)[i];
    case SP_DTYPE_U16: return (double)((const uint16_t *)(const void *)t->data)[i];
    case SP_DTYPE_I32: return (double)((const int32_t *)(const void *)t->data)[i];
    case SP_DTYPE_U32: return (double)((const uint32_t *)(const void *)t->data)[i];
    case SP_DTYPE_I64: return (double)((const int64_t *)(const void *)t->data)[i];
    default: return (double)((const uint8_t *)(const void *)t->data)[i];
    }
}

bool sp__codegen_is_number(const sp_value *v, double *out)
{
    if (v->origin != SP_VALUE_CONSTANT || v->constant->count < 1 || v->constant->storage == NULL ||
        sp__codegen_type(v->meta.dtype) == NULL)
        return false;
    const sp_tensor *t = v->constant;
    *out = sp__codegen_element(t, 0);
    if (t->count == 1) return true;
    if (!(t->flags & SP_TENSOR_CONTIGUOUS)) return false;
    const size_t size = sp_dtype_bytes((sp_dtype)t->dtype);
    return memcmp(t->data, t->data + size, (size_t)(t->count - 1) * size) == 0; /* all are equal, bit by bit */
}

bool sp__codegen_whole(const sp_value *v, double *low, double *high)
{
    if (v->origin != SP_VALUE_CONSTANT || !(v->constant->flags & SP_TENSOR_CONTIGUOUS)) return false;
    *low = *high = 0;
    for (int64_t i = 0; i < v->constant->count; i++) {
        const double x = sp__codegen_element(v->constant, i);
        if (!(fabs(x) < 9007199254740992.0) || x != floor(x) || (x == 0 && signbit(x))) return false;
        *low = x < *low ? x : *low;
        *high = x > *high ? x : *high;
    }
    return true;
}

/* The narrowest dtype that holds whole numbers as they are. */
static sp_dtype narrowest(sp_dtype dtype, double low, double high)
{
    if (low >= -128 && high <= 127) return SP_DTYPE_I8;
    if (low >= 0 && high <= 255) return SP_DTYPE_U8;
    if (low >= -32768 && high <= 32767) return SP_DTYPE_I16;
    if (low >= -2147483648.0 && high <= 2147483647.0 && sp_dtype_bytes(dtype) > 4) return SP_DTYPE_I32;
    return dtype;
}

sp_status sp__codegen_constant(sp_codegen *g, sp_value *v)
{
    sp_codegen_value *known = sp__codegen_value(g, v);
    double low, high;
    if (known->view != NULL) return SP_OK;
    const int i = sp__codegen_add_block(g, SP_BLOCK_CONSTANT, v->meta.dtype, v->constant->count);
    if (i < 0) return SP_NOMEM;
    sp_codegen_block *b = &g->blocks[i];
    b->number = g->n_constants++;
    sp_tensor_release(b->memory);
    b->memory = NULL;
    SP_TRY(sp_tensor_copy(v->constant, &b->memory));
    if (sp_dtype_bytes(b->dtype) > 1 && sp__codegen_whole(v, &low, &high)) b->stored = narrowest(b->dtype, low, high);
    b->bytes = (size_t)b->count * sp_dtype_bytes(b->stored);
    known->block = i;
    return sp__tensor_alias(b->memory, &known->view);
}

/* --- blocks ------------------------------------------------------------------------------------------------------ */

int sp__codegen_add_block(sp_codegen *g, sp_codegen_kind kind, sp_dtype dtype, int64_t count)
{
    if (g->n_blocks == g->blocks_room) {
        const int room = g->blocks_room ? 2 * g->blocks_room : 64;
        sp_codegen_block *more =
            sp__realloc(g->blocks, (size_t)g->blocks_room * sizeof *more, (size_t)room * sizeof *more);
        if (more == NULL) return -1;
        g->blocks = more;
        g->blocks_room = room;
    }
    sp_codegen_block *b = &g->blocks[g->n_blocks];
    *b = (sp_codegen_block){.kind = kind,
                            .dtype = dtype,
                            .stored = dtype,
                            .count = count,
                            .bytes = (size_t)count * sp_dtype_bytes(dtype),
                            .first = INT32_MAX,
                            .last = -1,
                            .over = -1};
    if (sp_tensor_create(dtype, 1, &count, &b->memory) != SP_OK) return -1;
    return g->n_blocks++;
}

/* Memory for a value; laid out in the order in which its only user, a transposition, wants it. */
static sp_status give_block(sp_codegen *g, sp_value *v, sp_codegen_kind kind, int number)
{
    sp_codegen_value *known = sp__codegen_value(g, v);
    int64_t count, strides[SP_RANK_MAX];
    SP_TRY(sp__shape_count(v->meta.rank, v->meta.dims, &count));
    sp__shape_strides(v->meta.rank, v->meta.dims, strides);
    if (kind == SP_BLOCK_ARENA && known->n_users == 1 && known->user != NULL && known->user->op == &sp_op_transpose) {
        const sp_ints perm = sp__codegen_ints(known->user, "perm");
        int64_t at = 1;
        for (int i = perm.n - 1; i >= 0 && perm.n == v->meta.rank; i--) {
            const int axis = (int)(perm.v[i] < 0 ? perm.v[i] + v->meta.rank : perm.v[i]);
            strides[axis] = at;
            at *= v->meta.dims[axis];
        }
    }
    const int i = sp__codegen_add_block(g, kind, v->meta.dtype, count);
    if (i < 0) return SP_NOMEM;
    g->blocks[i].number = number;
    known->block = i;
    return sp__tensor_handle(v->meta.dtype, v->meta.rank, v->meta.dims, strides, g->blocks[i].memory->storage,
                             g->blocks[i].memory->data, &known->view);
}

/* --- what is live, and who uses it ------------------------------------------------------------------------------- */

static bool is_view(const sp_node *n) { return n->kind == SP_NODE_OP && n->op->view != NULL; }

/* Inputs of a node as the generated code has them: of a table what is looked up, of an operator its inputs. */
static int inputs_of(const sp_codegen *g, const sp_node *n, sp_value *const **out)
{
    const sp_codegen_value *known = n->n_out > 0 ? sp__codegen_value(g, n->out[0]) : NULL;
    if (known != NULL && known->table != NULL) {
        *out = &known->source;
        return 1;
    }
    *out = n->in;
    return n->n_in;
}

static bool is_live(const sp_codegen *g, const sp_node *n)
{
    if (n->kind == SP_NODE_STORE) return true;
    for (int i = 0; i < n->n_out; i++)
        if (sp__codegen_value(g, n->out[i])->n_users > 0) return true;
    return false;
}

static void use(sp_codegen *g, sp_value *v, const sp_node *user)
{
    sp_codegen_value *known = sp__codegen_value(g, v);
    if (user != NULL && known->user == user) return;
    known->n_users++;
    known->user = user;
    if (user == NULL || user->kind == SP_NODE_STORE) known->result = true;
}

static void survey(sp_codegen *g)
{
    for (int i = 0; i < g->f->n_results; i++) use(g, g->f->results[i], NULL);
    for (const sp_node *n = g->f->last; n != NULL; n = n->prev) {
        sp_value *const *in;
        if (!is_live(g, n)) continue;
        const int n_in = inputs_of(g, n, &in);
        for (int i = 0; i < n_in; i++)
            if (in[i] != NULL) use(g, in[i], n);
    }
}

/* --- what is made where it is used ------------------------------------------------------------------------------- */

static bool is_small(sp_dtype dtype)
{
    return dtype == SP_DTYPE_I8 || dtype == SP_DTYPE_U8 || dtype == SP_DTYPE_I16 || dtype == SP_DTYPE_BOOL;
}

/* Widened bytes, and such less, plus or times a number. */
static bool is_cheap(const sp_codegen *g, const sp_node *n)
{
    double number;
    if (!sp__codegen_is_math(n) || sp__codegen_value(g, n->out[0])->table != NULL ||
        sp__codegen_value(g, n->out[0])->result)
        return false;
    if (n->op == &sp_op_cast) {
        const sp_dtype to = n->out[0]->meta.dtype;
        return is_small(n->in[0]->meta.dtype) && (to == SP_DTYPE_F32 || to == SP_DTYPE_F64 || to == SP_DTYPE_I32) &&
               n->in[0]->origin != SP_VALUE_CONSTANT;
    }
    if (n->op != &sp_op_sub && n->op != &sp_op_add && n->op != &sp_op_mul) return false;
    for (int i = 0; i < 2; i++)
        if (sp__codegen_is_number(n->in[1 - i], &number) && n->in[1 - i]->meta.rank <= n->in[i]->meta.rank &&
            sp__codegen_value(g, n->in[i])->cheap)
            return true;
    return false;
}

/* Whether every user of the node's result can make it anew: not those that show its memory. */
static void find_cheap(sp_codegen *g)
{
    for (const sp_node *n = g->f->first; n != NULL; n = n->next)
        if (is_live(g, n) && is_cheap(g, n)) sp__codegen_value(g, n->out[0])->cheap = true;
    for (const sp_node *n = g->f->last; n != NULL; n = n->prev)
        for (int i = 0; i < n->n_in && is_live(g, n); i++)
            if (n->in[i] != NULL && is_view(n)) sp__codegen_value(g, n->in[i])->cheap = false;
    /* What is cheap only because its operand is. */
    for (const sp_node *n = g->f->first; n != NULL; n = n->next)
        if (n->n_out == 1 && sp__codegen_value(g, n->out[0])->cheap && !is_cheap(g, n))
            sp__codegen_value(g, n->out[0])->cheap = false;
}

static bool same_shape(const sp_meta *a, const sp_meta *b)
{
    return sp__shape_equal(a->rank, a->dims, b->rank, b->dims);
}

/* The step in which v ends up if its user computes it: the result of that step. */
static sp_value *root_of(const sp_codegen *g, sp_value *v)
{
    while (sp__codegen_value(g, v)->fused) v = sp__codegen_value(g, v)->user->out[0];
    return v;
}

static bool is_kernel(const sp_node *n) { return n->kind == SP_NODE_OP && sp__codegen_kernel(n->op) != NULL; }

/* From the last node to the first, so that the steps of users are known. kernels: by value, whether the step that makes it has one. */
static void find_fused(sp_codegen *g, bool *kernels)
{
    for (const sp_node *n = g->f->last; n != NULL; n = n->prev) {
        if (!is_live(g, n) || n->n_out != 1) continue;
        sp_value *v = n->out[0];
        sp_codegen_value *known = sp__codegen_value(g, v);
        const bool math = sp__codegen_is_math(n), kernel = !math && is_kernel(n);
        if (known->cheap || known->result || known->n_users != 1 || !(math || kernel)) continue;
        const sp_node *user = known->user;
        if (!sp__codegen_is_math(user) || sp__codegen_value(g, user->out[0])->cheap ||
            !same_shape(&v->meta, &user->out[0]->meta))
            continue;
        if (kernel && sp__codegen_kernel(n->op)->whole) continue;
        const sp_value *root = root_of(g, user->out[0]);
        if (kernel && kernels[root->id]) continue;
        known->fused = true;
        if (kernel) kernels[root->id] = true;
    }
}

/* --- steps ------------------------------------------------------------------------------------------------------- */

static sp_codegen_step *new_step(sp_codegen *g)
{
    sp_codegen_step *s = &g->steps[g->n_steps++]; /* there is room for two a node, and results and stores */
    *s = (sp_codegen_step){.work = -1, .function = -1};
    return s;
}

static sp_status add_copy(sp_codegen *g, const sp_tensor *from, const sp_tensor *to)
{
    sp_codegen_step *s = new_step(g);
    SP_TRY(sp__tensor_alias(from, &s->from));
    return sp__tensor_alias(to, &s->to);
}

static int count_fused(const sp_codegen *g, const sp_node *n)
{
    sp_value *const *in;
    int count = 1;
    if (!sp__codegen_is_math(n)) return 0;
    const int n_in = inputs_of(g, n, &in);
    for (int i = 0; i < n_in; i++)
        if (in[i] != NULL && sp__codegen_value(g, in[i])->fused) count += count_fused(g, in[i]->node);
    return count;
}

/* The fused nodes under n, each behind those it needs. A fused value has one user, so none comes twice unless that user takes it twice. */
static void collect(sp_codegen *g, sp_codegen_step *s, const sp_node *n)
{
    sp_value *const *in;
    if (!sp__codegen_is_math(n)) {
        s->kernel = n;
        return;
    }
    const int n_in = inputs_of(g, n, &in);
    for (int i = 0; i < n_in; i++) {
        bool again = in[i] == NULL || !sp__codegen_value(g, in[i])->fused;
        for (int k = 0; k < i && !again; k++) again = in[k] == in[i];
        if (!again) collect(g, s, in[i]->node);
    }
    s->fused[s->n_fused++] = n;
}

static sp_status lower_inputs(sp_codegen *g, const sp_node *n)
{
    sp_value *const *in;
    const int n_in = inputs_of(g, n, &in);
    double number;
    if (sp__codegen_value(g, n->out[0])->table != NULL)
        SP_TRY(sp__codegen_constant(g, sp__codegen_value(g, n->out[0])->table));
    for (int i = 0; i < n_in; i++) {
        if (in[i] == NULL) continue;
        if (in[i]->origin == SP_VALUE_CONSTANT && (!sp__codegen_is_number(in[i], &number) || !sp__codegen_is_math(n)))
            SP_TRY(sp__codegen_constant(g, in[i]));
        const sp_codegen_value *known = sp__codegen_value(g, in[i]);
        if (known->fused || known->cheap) SP_TRY(lower_inputs(g, in[i]->node));
    }
    return SP_OK;
}

static sp_status lower_op(sp_codegen *g, const sp_node *n)
{
    sp_codegen_step *s = new_step(g);
    s->fused = sp__arena_alloc(&g->memory, (size_t)(count_fused(g, n) + 1) * sizeof *s->fused);
    if (s->fused == NULL) return SP_NOMEM;
    SP_TRY(lower_inputs(g, n));
    collect(g, s, n);
    s->out = n->out[0];
    for (int i = 0; i < n->n_out; i++)
        if (sp__codegen_value(g, n->out[i])->n_users > 0 || i == 0) SP_TRY(give_block(g, n->out[i], SP_BLOCK_ARENA, 0));
    const sp_codegen_kernel *kernel = s->kernel != NULL ? sp__codegen_kernel(s->kernel->op) : NULL;
    const size_t work = kernel != NULL && kernel->work != NULL ? kernel->work(s->kernel) : 0;
    if (work > 0 && (s->work = sp__codegen_add_block(g, SP_BLOCK_ARENA, SP_DTYPE_F32, (int64_t)((work + 3) / 4))) < 0)
        return SP_NOMEM;
    return SP_OK;
}

/* A row-major copy of a value, which from then on is the value. */
static sp_status straighten(sp_codegen *g, sp_value *v)
{
    sp_codegen_value *known = sp__codegen_value(g, v);
    sp_tensor *old = known->view;
    known->view = NULL;
    const int users = known->n_users;
    known->n_users = 0; /* no particular layout */
    sp_status status = give_block(g, v, SP_BLOCK_ARENA, 0);
    known->n_users = users;
    if (status == SP_OK) status = add_copy(g, old, known->view);
    sp_tensor_release(old);
    return status;
}

static sp_status lower_view(sp_codegen *g, const sp_node *n)
{
    sp_value *x = n->in[0];
    if (x->origin == SP_VALUE_CONSTANT) SP_TRY(sp__codegen_constant(g, x));
    for (int turn = 0; turn < 2; turn++) {
        sp_tensor *in[SP_IN_MAX] = {sp__codegen_value(g, x)->view}, *out[SP_CODEGEN_LISTED] = {NULL};
        SP_CHECK(n->n_out <= SP_CODEGEN_LISTED, SP_DECLINED, "operator %s gives %d results, %d are possible",
                 n->op->name, n->n_out, SP_CODEGEN_LISTED);
        const sp_call call = {.op = n->op, .attrs = n->attrs, .n_in = n->n_in, .n_out = n->n_out, .in = in, .out = out};
        const sp_status status = n->op->view(&call);
        if (status == SP_DECLINED && turn == 0) {
            SP_TRY(straighten(g, x));
            continue;
        }
        SP_TRY(status);
        for (int i = 0; i < n->n_out; i++) {
            sp_codegen_value *known = sp__codegen_value(g, n->out[i]);
            known->view = out[i];
            known->block = sp__codegen_block_of(g, out[i]);
        }
        return SP_OK;
    }
    return SP_OK;
}

/* --- results and states ------------------------------------------------------------------------------------------ */

static bool is_whole_block(const sp_codegen *g, const sp_codegen_value *known)
{
    const sp_codegen_block *b = &g->blocks[known->block];
    return b->kind == SP_BLOCK_ARENA && known->view->count == b->count && (known->view->flags & SP_TENSOR_CONTIGUOUS) &&
           known->view->data == b->memory->data;
}

static sp_status lower_results(sp_codegen *g)
{
    for (int i = 0; i < g->f->n_results; i++) {
        sp_value *v = g->f->results[i];
        sp_codegen_value *known = sp__codegen_value(g, v);
        if (v->origin == SP_VALUE_CONSTANT) SP_TRY(sp__codegen_constant(g, v));
        if (is_whole_block(g, known)) {
            g->blocks[known->block].kind = SP_BLOCK_OUTPUT;
            g->blocks[known->block].number = i;
            continue;
        }
        const int block = sp__codegen_add_block(g, SP_BLOCK_OUTPUT, v->meta.dtype, known->view->count);
        if (block < 0) return SP_NOMEM;
        g->blocks[block].number = i;
        sp_tensor *to;
        int64_t strides[SP_RANK_MAX];
        sp__shape_strides(v->meta.rank, v->meta.dims, strides);
        SP_TRY(sp__tensor_handle(v->meta.dtype, v->meta.rank, v->meta.dims, strides, g->blocks[block].memory->storage,
                                 g->blocks[block].memory->data, &to));
        const sp_status status = add_copy(g, known->view, to);
        sp_tensor_release(to);
        SP_TRY(status);
    }
    return SP_OK;
}

/* Of a variable: its place among those that several functions share, or the next. */
static int state_number(const sp_codegen *g, const sp_tensor *t)
{
    for (int i = 0; g->shared != NULL && i < g->shared->n; i++)
        if (g->shared->tensors[i] == t) return i;
    return (g->shared != NULL ? g->shared->n : 0) + g->n_states;
}

/* Blocks of all variables, and values that are read from them. */
static sp_status lower_states(sp_codegen *g)
{
    const int n = g->f->graph->n_variables;
    g->states = sp__arena_alloc(&g->memory, (size_t)(n + 1) * sizeof *g->states);
    if (g->states == NULL) return SP_NOMEM;
    for (int i = 0; i < n; i++) {
        g->states[i] = (sp_codegen_state){.block = -1};
        for (const sp_node *m = g->f->first; m != NULL; m = m->next) {
            if (m->variable == NULL || m->variable->id != i) continue;
            sp_tensor *t = m->variable->tensor;
            if (g->states[i].block < 0) {
                const int block = sp__codegen_add_block(g, SP_BLOCK_STATE, (sp_dtype)t->dtype, t->count);
                if (block < 0) return SP_NOMEM;
                g->blocks[block].number = state_number(g, t);
                g->n_states++;
                sp_tensor_release(g->blocks[block].memory);
                g->blocks[block].memory = NULL;
                SP_TRY(sp_tensor_copy(t, &g->blocks[block].memory));
                g->states[i].block = block;
            }
            if (m->kind == SP_NODE_STORE) g->states[i].stored = m->in[0];
            SP_CHECK(m->kind != SP_NODE_READ || g->states[i].stored == NULL, SP_DECLINED,
                     "a variable of the model is read after it was written");
            if (m->kind == SP_NODE_READ) {
                sp_codegen_value *known = sp__codegen_value(g, m->out[0]);
                known->block = g->states[i].block;
                SP_TRY(sp__tensor_alias(g->blocks[known->block].memory, &known->view));
            }
        }
    }
    return SP_OK;
}

static sp_status lower_stores(sp_codegen *g)
{
    for (int i = 0; i < g->f->graph->n_variables; i++) {
        sp_codegen_state *s = &g->states[i];
        if (s->stored == NULL) continue;
        if (s->stored->origin == SP_VALUE_CONSTANT) SP_TRY(sp__codegen_constant(g, s->stored));
        s->copy = g->n_steps;
        SP_TRY(add_copy(g, sp__codegen_value(g, s->stored)->view, g->blocks[s->block].memory));
    }
    return SP_OK;
}

/* --- what cannot be done, told at once --------------------------------------------------------------------------- */

static sp_status node_status(const sp_codegen *g, const sp_node *n)
{
    if (n->kind == SP_NODE_READ || n->kind == SP_NODE_STORE) return SP_OK;
    if (n->kind != SP_NODE_OP)
        return sp__fail(SP_DECLINED, "%s",
                        n->kind == SP_NODE_HOST ? "code outside the model" : "a branch, a loop or a call");
    for (int i = 0; i < n->n_in + n->n_out; i++) {
        const sp_value *v = i < n->n_in ? n->in[i] : n->out[i - n->n_in];
        if (v == NULL || (i >= n->n_in && sp__codegen_value(g, v)->n_users == 0)) continue;
        SP_CHECK(sp__meta_known(&v->meta), SP_DECLINED, "%s: its shape depends on the data", n->op->name);
        SP_CHECK(sp__codegen_type(v->meta.dtype) != NULL, SP_DECLINED, "%s of %s", n->op->name,
                 sp_dtype_name(v->meta.dtype));
    }
    if (is_view(n) || sp__codegen_is_math(n) || (n->n_out > 0 && sp__codegen_value(g, n->out[0])->table != NULL))
        return SP_OK;
    const sp_codegen_kernel *kernel = sp__codegen_kernel(n->op);
    SP_CHECK(kernel != NULL, SP_DECLINED, "%s of %s", n->op->name,
             n->n_in > 0 && n->in[0] != NULL ? sp_dtype_name(n->in[0]->meta.dtype) : "nothing");
    return kernel->check != NULL ? kernel->check(n) : SP_OK;
}

static sp_status check_nodes(const sp_codegen *g)
{
    sp__text list = {0};
    int n_bad = 0;
    for (const sp_node *n = g->f->first; n != NULL; n = n->next) {
        if (!is_live(g, n) || node_status(g, n) == SP_OK) continue;
        char where[SP_CODEGEN_TEXT] = "";
        if (n->place != NULL && n->place->text != NULL)
            sp__snprintf(where, sizeof where, " (node '%s')", n->place->text);
        sp__text_put(&list, "%s%s%s", n_bad == 0 ? " " : "; ", sp_error_message(), where);
        n_bad++;
    }
    if (n_bad == 0) return SP_OK;
    char *text;
    SP_TRY(sp__text_take(&list, &text));
    const sp_status status = sp__fail(SP_DECLINED, "%d operators have no C for microcontrollers:%s", n_bad, text);
    sp__free(text);
    return status;
}

sp_status sp__codegen_lower(sp_codegen *g)
{
    size_t n_nodes = 0;
    for (const sp_node *n = g->f->first; n != NULL; n = n->next) n_nodes++;
    g->n_values = g->f->graph->next_value + (int)n_nodes + 1; /* and a table a node */
    const size_t most = 2 * n_nodes + (size_t)g->f->n_results + (size_t)g->f->graph->n_variables + 1;
    g->steps = sp__arena_alloc(&g->memory, most * sizeof *g->steps);
    g->values = sp__arena_alloc(&g->memory, (size_t)g->n_values * sizeof *g->values);
    bool *kernels = sp__arena_alloc(&g->memory, (size_t)g->n_values);
    if (g->steps == NULL || g->values == NULL || kernels == NULL) return SP_NOMEM;
    SP_TRY(sp__codegen_tables(g));
    survey(g);
    SP_TRY(check_nodes(g));
    find_cheap(g);
    find_fused(g, kernels);
    for (int i = 0; i < g->f->n_params; i++) SP_TRY(give_block(g, g->f->params[i], SP_BLOCK_INPUT, i));
    SP_TRY(lower_states(g));
    for (const sp_node *n = g->f->first; n != NULL; n = n->next) {
        if (!is_live(g, n) || n->kind != SP_NODE_OP) continue;
        const sp_codegen_value *known = sp__codegen_value(g, n->out[0]);
        if (is_view(n)) SP_TRY(lower_view(g, n));
        else if (!known->fused && !known->cheap) SP_TRY(lower_op(g, n));
    }
    SP_TRY(lower_results(g));
    return lower_stores(g);
}

/* --- integers ---------------------------------------------------------------------------------------------------- */

sp_value *sp__codegen_integers(const sp_codegen *g, const sp_value *v, int32_t *zero)
{
    double number;
    *zero = 0;
    if (v->origin != SP_VALUE_NODE || v->node->kind != SP_NODE_OP || !sp__codegen_value(g, v)->cheap) return NULL;
    const sp_node *n = v->node;
    if (n->op == &sp_op_sub && sp__codegen_is_number(n->in[1], &number) && fabs(number) < 65536 &&
        number == floor(number) && n->in[0]->origin == SP_VALUE_NODE) {
        *zero = (int32_t)number;
        n = n->in[0]->node;
    }
    return n->kind == SP_NODE_OP && n->op == &sp_op_cast && is_small(n->in[0]->meta.dtype) ? n->in[0] : NULL;
}

void sp__codegen_free(sp_codegen *g)
{
    for (int i = 0; i < g->n_values && g->values != NULL; i++) sp_tensor_release(g->values[i].view);
    for (int i = 0; i < g->n_blocks; i++) sp_tensor_release(g->blocks[i].memory);
    for (int i = 0; i < g->n_steps; i++) {
        sp_tensor_release(g->steps[i].from);
        sp_tensor_release(g->steps[i].to);
    }
    for (int i = 0; i < g->n_functions; i++) {
        sp__free(g->functions[i].head);
        sp__free(g->functions[i].body);
    }
    sp__free(g->functions);
    sp__free(g->blocks);
    sp_program_release(g->program);
    sp__arena_free(&g->memory); /* places of the program's nodes, too */
}

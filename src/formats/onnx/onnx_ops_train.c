/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_ops_train.c - ONNX operators of training: optimizers, and gradients of a part of the graph. */
#include "formats/onnx/onnx_model.h"
#include "ir/builder_keep.h"
#include "spore/grad.h"

/* Inputs: rate, step, then groups of n tensors each. Results: the new parameters, then the new groups from `kept` on. */
static sp_status groups_of(sp_onnx_call *c, int n_groups, int *n)
{
    SP_CHECK(c->n_in > 2 && (c->n_in - 2) % n_groups == 0, SP_FORMAT, "%d inputs, there must be two and groups of %d",
             c->n_in, n_groups);
    *n = (c->n_in - 2) / n_groups;
    SP_CHECK(c->n_out == *n * (n_groups - 1), SP_FORMAT, "%d outputs, there must be %d", c->n_out, *n * (n_groups - 1));
    for (int i = 0; i < c->n_in; i++) SP_CHECK(c->in[i] != NULL, SP_FORMAT, "input %d is missing", i);
    return SP_OK;
}

static sp_tensor *regularised(sp_onnx_call *c, sp_tensor *x, sp_tensor *gradient)
{
    double norm = sp__onnx_attr_float(c, "norm_coefficient", 0);
    return norm == 0 ? gradient : sp_add(c->b, gradient, sp__mul_number(c->b, x, norm));
}

static sp_status adagrad(sp_onnx_call *c)
{
    int n;
    SP_TRY(groups_of(c, 3, &n));
    double decay = sp__onnx_attr_float(c, "decay_factor", 0), epsilon = sp__onnx_attr_float(c, "epsilon", 0);
    for (int i = 0; i < n; i++) {
        sp_tensor *x = c->in[2 + i], *h = c->in[2 + 2 * n + i];
        sp_tensor *g = regularised(c, x, c->in[2 + n + i]), *rate = sp_cast(c->b, c->in[0], sp_tensor_dtype(x));
        sp_tensor *step = sp_cast(c->b, c->in[1], sp_tensor_dtype(x));
        SP_TRY(sp_builder_status(c->b));
        rate = sp_div(c->b, rate, sp__add_number(c->b, sp__mul_number(c->b, step, decay), 1));
        h = sp_add(c->b, h, sp_square(c->b, g));
        SP_TRY(sp_builder_status(c->b));
        c->out[i] =
            sp_sub(c->b, x, sp_div(c->b, sp_mul(c->b, rate, g), sp__add_number(c->b, sp_sqrt(c->b, h), epsilon)));
        c->out[n + i] = h;
    }
    return sp_builder_status(c->b);
}

/* a * old + (1 - a) * now */
static sp_tensor *mixed(sp_onnx_call *c, double a, sp_tensor *old, sp_tensor *now)
{
    return sp_add(c->b, sp__mul_number(c->b, old, a), sp__mul_number(c->b, now, 1 - a));
}

static sp_status adam(sp_onnx_call *c)
{
    int n;
    SP_TRY(groups_of(c, 4, &n));
    double alpha = sp__onnx_attr_float(c, "alpha", 0.9), beta = sp__onnx_attr_float(c, "beta", 0.999);
    double epsilon = sp__onnx_attr_float(c, "epsilon", 0), after = sp__onnx_attr_float(c, "norm_coefficient_post", 0);
    for (int i = 0; i < n; i++) {
        sp_tensor *x = c->in[2 + i];
        sp_dtype dtype = sp_tensor_dtype(x);
        sp_tensor *g = regularised(c, x, c->in[2 + n + i]), *rate = sp_cast(c->b, c->in[0], dtype),
                  *t = sp_cast(c->b, c->in[1], dtype);
        SP_TRY(sp_builder_status(c->b));
        sp_tensor *v = mixed(c, alpha, c->in[2 + 2 * n + i], g), *square = sp_square(c->b, g);
        SP_TRY(sp_builder_status(c->b));
        sp_tensor *h = mixed(c, beta, c->in[2 + 3 * n + i], square), *one = sp__onnx_scalar(c, dtype, 1);
        /* Corrected for the zeros that the averages began with; not at step 0. */
        sp_tensor *grown = sp_sub(c->b, one, SP_ONNX_OP2(c, "pow", sp__onnx_scalar(c, dtype, alpha), t, NULL));
        sp_tensor *spread = sp_sub(c->b, one, SP_ONNX_OP2(c, "pow", sp__onnx_scalar(c, dtype, beta), t, NULL));
        sp_tensor *corrected = sp_div(c->b, sp_mul(c->b, rate, sp_sqrt(c->b, spread)), grown);
        rate = sp_select(c->b, sp_greater(c->b, t, sp__onnx_scalar(c, dtype, 0)), corrected, rate);
        SP_TRY(sp_builder_status(c->b));
        sp_tensor *y =
            sp_sub(c->b, x, sp_div(c->b, sp_mul(c->b, rate, v), sp__add_number(c->b, sp_sqrt(c->b, h), epsilon)));
        SP_TRY(sp_builder_status(c->b));
        c->out[i] = after == 0 ? y : sp__mul_number(c->b, y, 1 - after);
        c->out[n + i] = v;
        c->out[2 * n + i] = h;
    }
    return sp_builder_status(c->b);
}

static sp_status momentum(sp_onnx_call *c)
{
    int n;
    SP_TRY(groups_of(c, 3, &n));
    double alpha = sp__onnx_attr_float(c, "alpha", 0), beta = sp__onnx_attr_float(c, "beta", 0);
    bool nesterov = strcmp(sp__onnx_attr_text(c, "mode", "standard"), "nesterov") == 0;
    for (int i = 0; i < n; i++) {
        sp_tensor *x = c->in[2 + i];
        sp_dtype dtype = sp_tensor_dtype(x);
        sp_tensor *g = regularised(c, x, c->in[2 + n + i]), *rate = sp_cast(c->b, c->in[0], dtype),
                  *t = sp_cast(c->b, c->in[1], dtype);
        sp_tensor *share = sp_select(c->b, sp_greater(c->b, t, sp__onnx_scalar(c, dtype, 0)),
                                     sp__onnx_scalar(c, dtype, beta), sp__onnx_scalar(c, dtype, 1));
        sp_tensor *v = sp_add(c->b, sp__mul_number(c->b, c->in[2 + 2 * n + i], alpha), sp_mul(c->b, share, g));
        SP_TRY(sp_builder_status(c->b));
        sp_tensor *move = nesterov ? sp_add(c->b, g, sp__mul_number(c->b, v, alpha)) : v;
        c->out[i] = sp_sub(c->b, x, sp_mul(c->b, rate, move));
        c->out[n + i] = v;
    }
    return sp_builder_status(c->b);
}

/* --- gradients --------------------------------------------------------------------------------------------------- */

static int slot_named(const sp_onnx_graph *g, const char *name)
{
    for (int i = 0; i < g->n_slots; i++)
        if (strcmp(g->names[i], name) == 0) return i;
    return -1;
}

typedef struct replay {
    int n; /* of xs */
    int y;
    sp_onnx_value **frame;
    bool *fresh; /* by slot: depends on the xs */
    sp_tensor **xs;
} replay;

/* Run again what lies between the xs and y, on variables. Only values that depend on the xs are made anew. */
static sp_status replay_nodes(sp_onnx_call *c, replay *r)
{
    const sp_onnx_graph *g = c->graph;
    for (int i = 0; i < g->n_nodes && &g->nodes[i] != c->node && !r->fresh[r->y]; i++) {
        const sp_onnx_node *n = &g->nodes[i];
        bool depends = false;
        for (int k = 0; k < n->n_in; k++) depends = depends || (n->in[k] >= 0 && r->fresh[n->in[k]]);
        if (!depends) continue;
        for (int k = 0; k < n->n_in; k++)
            SP_CHECK(n->in[k] < 0 || r->frame[n->in[k]] != NULL, SP_DECLINED,
                     "a value between '%s' and the gradient is not kept", n->name);
        for (int k = 0; k < n->n_out; k++)
            if (n->out[k] >= 0) {
                sp__onnx_value_release(r->frame[n->out[k]]);
                r->frame[n->out[k]] = NULL;
            }
        SP_TRY(sp__onnx_run_node(n, g, c->texts, c->caller, r->frame));
        for (int k = 0; k < n->n_out; k++)
            if (n->out[k] >= 0) r->fresh[n->out[k]] = true;
    }
    SP_CHECK(r->frame[r->y] != NULL && r->frame[r->y]->tensor != NULL, SP_FORMAT, "y is no tensor");
    return SP_OK;
}

static sp_status gradient_of(sp_onnx_call *c, replay *r, const sp_onnx_attr *names)
{
    const sp_onnx_graph *g = c->graph;
    for (int i = 0; i < g->n_slots; i++) r->frame[i] = sp__onnx_value_retain(c->frame[i]);
    for (int i = 0; i < r->n; i++) {
        int slot = slot_named(g, names->strings[i]);
        sp_tensor *own = NULL;
        SP_CHECK(slot >= 0 && i < c->n_in && c->in[i] != NULL, SP_FORMAT, "there is no value '%s'", names->strings[i]);
        SP_TRY(sp__tensor_need_value(c->in[i]));
        SP_TRY(sp_tensor_copy(c->in[i], &own));
        SP_TRY(sp__builder_keep(c->b, &own));
        r->xs[i] = own;
        SP_TRY(sp_grad_watch(own));
        sp__onnx_value_release(r->frame[slot]);
        if (!(r->frame[slot] = sp__onnx_value_tensor(own))) return SP_NOMEM;
        r->fresh[slot] = true;
    }
    SP_TRY(replay_nodes(c, r));
    sp_tensor *y = r->frame[r->y]->tensor, *grads[64] = {NULL};
    SP_TRY(sp_grad_backward_allow_unused(1, &y, NULL, r->n, r->xs, false, grads));
    for (int i = 0; i < r->n; i++) c->out[i] = sp_builder_take_tensor(c->b, grads[i]);
    return sp_builder_status(c->b);
}

static sp_status gradient(sp_onnx_call *c)
{
    const sp_onnx_attr *names = sp__onnx_attr(c, "xs");
    const sp_onnx_graph *g = c->graph;
    SP_CHECK(names != NULL && names->n > 0 && names->n <= 64 && names->n == c->n_out, SP_FORMAT,
             "xs and the outputs do not fit");
    replay r = {.n = names->n, .y = slot_named(g, sp__onnx_attr_text(c, "y", ""))};
    SP_CHECK(r.y >= 0, SP_FORMAT, "there is no value '%s'", sp__onnx_attr_text(c, "y", ""));
    r.frame = sp__alloc_zero((size_t)(g->n_slots + 1) * sizeof *r.frame);
    r.fresh = sp__alloc_zero((size_t)(g->n_slots + 1) * sizeof *r.fresh);
    r.xs = sp__alloc_zero((size_t)r.n * sizeof *r.xs);
    sp_status status = r.frame != NULL && r.fresh != NULL && r.xs != NULL ? SP_OK : SP_NOMEM;
    sp_grad_begin();
    if (status == SP_OK) status = gradient_of(c, &r, names);
    sp_grad_end();
    for (int i = 0; r.frame != NULL && i < g->n_slots; i++) sp__onnx_value_release(r.frame[i]);
    for (int i = 0; r.xs != NULL && i < r.n; i++)
        if (r.xs[i] != NULL) sp_grad_unwatch(r.xs[i]);
    sp__free(r.frame);
    sp__free(r.fresh);
    sp__free(r.xs);
    return status;
}

const sp_onnx_handler sp__onnx_train[] = {
    {"ai.onnx.preview.training:Adagrad", 1, adagrad, NULL, 0},
    {"ai.onnx.preview.training:Adam", 1, adam, NULL, 0},
    {"ai.onnx.preview.training:Momentum", 1, momentum, NULL, 0},
    {"ai.onnx.preview.training:Gradient", 1, gradient, NULL, 0},
    {NULL, 0, NULL, NULL, 0},
};

/* SPDX-License-Identifier: Apache-2.0 */
/* compound.c - transforms of transforms: all, some, one, in any order.
 *
 * Children see the whole row and the same stream, which goes on from where the child before left it. */
#include "data/transform.h"

/* Apply the children list[0..n) to the call's columns and give out what they make. */
static sp_status apply(sp_transform_call *c, int n, sp_transform *const *list)
{
    sp_tensor *made[SP_COLUMNS_MAX];
    int n_made;
    SP_TRY(sp_transform_run_all(n, list, c->stream, c->n_in, c->in, SP_COLUMNS_MAX, made, &n_made));
    sp_status status = SP_OK;
    for (int i = 0; i < n_made; i++) {
        if (status == SP_OK) status = sp__give(c, made[i]);
        else sp_tensor_release(made[i]);
    }
    return status;
}

static sp_status need_children(const sp_transform *t)
{
    SP_CHECK(t->n_children > 0, SP_VALUE, "%s: the list of transforms is empty", t->op->name);
    SP_CHECK(t->n_children <= SP_COLUMNS_MAX, SP_VALUE, "%s: %d transforms are too many, at most %d are possible",
             t->op->name, t->n_children, SP_COLUMNS_MAX);
    return SP_OK;
}

static sp_status compose_run(sp_transform_call *c) { return apply(c, c->t->n_children, c->t->children); }

const sp_transform_op sp_transform_Compose = {
    .name = "Compose", .compound = true, .whole_row = true, .check = need_children, .run = compose_run};

enum { APPLY_PROB };
static sp_status random_apply_run(sp_transform_call *c)
{
    const bool hit = sp__draw_unit(c->stream) < sp__arg(c, APPLY_PROB, 0);
    return apply(c, hit ? c->t->n_children : 0, c->t->children);
}

const sp_transform_op sp_transform_RandomApply = {.name = "RandomApply",
                                                  .random = true,
                                                  .compound = true,
                                                  .whole_row = true,
                                                  .attrs = {{"prob", 1, 1, 0, 1, 1, {0.5}}},
                                                  .check = need_children,
                                                  .run = random_apply_run};

static sp_status random_choice_run(sp_transform_call *c)
{
    const int64_t i = sp__draw_below(c->stream, c->t->n_children);
    return apply(c, 1, c->t->children + i);
}

const sp_transform_op sp_transform_RandomChoice = {.name = "RandomChoice",
                                                   .random = true,
                                                   .compound = true,
                                                   .whole_row = true,
                                                   .check = need_children,
                                                   .run = random_choice_run};

static sp_status random_order_run(sp_transform_call *c)
{
    int order[SP_COLUMNS_MAX];
    sp_transform *list[SP_COLUMNS_MAX];
    sp__draw_order(c->stream, c->t->n_children, order);
    for (int i = 0; i < c->t->n_children; i++) list[i] = c->t->children[order[i]];
    return apply(c, c->t->n_children, list);
}

const sp_transform_op sp_transform_RandomOrder = {.name = "RandomOrder",
                                                  .random = true,
                                                  .compound = true,
                                                  .whole_row = true,
                                                  .check = need_children,
                                                  .run = random_order_run};

/* num_ops different children, each applied with probability one half. */
enum { UNIFORM_NUM };
static sp_status uniform_check(const sp_transform *t)
{
    SP_TRY(need_children(t));
    SP_CHECK((int)t->attr[UNIFORM_NUM].v[0] <= t->n_children, SP_VALUE,
             "UniformAugment: num_ops is %d, but there are only %d transforms", (int)t->attr[UNIFORM_NUM].v[0],
             t->n_children);
    return SP_OK;
}

static sp_status uniform_run(sp_transform_call *c)
{
    int order[SP_COLUMNS_MAX], n = 0;
    bool chosen[SP_COLUMNS_MAX] = {false};
    sp_transform *list[SP_COLUMNS_MAX];
    sp__draw_order(c->stream, c->t->n_children, order);
    for (int i = 0; i < sp__arg_int(c, UNIFORM_NUM, 0); i++) chosen[order[i]] = sp__draw_unit(c->stream) < 0.5;
    for (int i = 0; i < c->t->n_children; i++) /* in the order they were given */
        if (chosen[i]) list[n++] = c->t->children[i];
    return apply(c, n, list);
}

const sp_transform_op sp_transform_UniformAugment = {.name = "UniformAugment",
                                                     .random = true,
                                                     .compound = true,
                                                     .whole_row = true,
                                                     .attrs = {{"num_ops", 1, 1, 1, 256, 1, {2}}},
                                                     .check = uniform_check,
                                                     .run = uniform_run};

/* Children of all sub-policies in a row; lengths says how many belong to each, probs has one number a child. */
enum { POLICY_LENGTHS, POLICY_PROBS };
static sp_status policy_check(const sp_transform *t)
{
    SP_TRY(need_children(t));
    double sum = 0;
    for (int i = 0; i < t->attr[POLICY_LENGTHS].n; i++) sum += t->attr[POLICY_LENGTHS].v[i];
    SP_CHECK(sum == t->n_children && t->attr[POLICY_PROBS].n == t->n_children, SP_VALUE,
             "RandomSelectSubpolicy: there are %d transforms, but %g in the sub-policies and %d probabilities",
             t->n_children, sum, t->attr[POLICY_PROBS].n);
    return SP_OK;
}

static sp_status policy_run(sp_transform_call *c)
{
    const int chosen = (int)sp__draw_below(c->stream, sp__arg_n(c, POLICY_LENGTHS));
    int first = 0, n = 0;
    for (int i = 0; i < chosen; i++) first += sp__arg_int(c, POLICY_LENGTHS, i);
    sp_transform *list[SP_COLUMNS_MAX];
    for (int i = first; i < first + sp__arg_int(c, POLICY_LENGTHS, chosen); i++)
        if (sp__draw_unit(c->stream) < sp__arg(c, POLICY_PROBS, i)) list[n++] = c->t->children[i];
    return apply(c, n, list);
}

const sp_transform_op sp_transform_RandomSelectSubpolicy = {
    .name = "RandomSelectSubpolicy",
    .random = true,
    .compound = true,
    .whole_row = true,
    .attrs = {{"lengths", 1, 0, 1, 256, SP_NEED, {0}}, {"probs", 1, 0, 0, 1, SP_NEED, {0}}},
    .check = policy_check,
    .run = policy_run};

/* SPDX-License-Identifier: Apache-2.0 */
/* tape.c - gradients of programs whose course only the run tells: branches, loops, recursion.
 *
 * The function is run with recording on, operator by operator, so that the history of eager mode follows whatever branches
 * are taken; then the backward pass of eager mode goes through it. While an outer gradient is being taken the backward pass
 * is recorded too, so that GRAD of GRAD works to any depth.
 *
 * Nothing that is shared is changed: arguments and variables are differentiated by through handles of this run alone, so
 * that several threads may run one program. */
#include "graph/machine.h"
#include "ops/ops_impl.h"
#include "spore/grad.h"

struct sp_tape {
    sp_tape *outer;
    const sp_node *node;
    bool again; /* an outer gradient is being taken: this one must be differentiable */
    int n_targets, n_watched, n_seeds;
    sp_tensor **targets; /* copies of arguments, then of variables */
    bool *watched;
    sp_tensor **seeds;
};

static sp_status make_target(sp_tensor *t, sp_tensor **out, bool *watched)
{
    *watched = !sp_grad_tracked(t);
    sp_status status = sp_grad_variable(t, out);
    *watched &= status == SP_OK;
    return status;
}

static sp_status take_targets(sp_machine *m, sp_tape *tape, int n_args, sp_slot_value *args)
{
    const sp_grad_spec *g = tape->node->grad;
    for (int i = 0; i < g->n_positions; i++) {
        int k = g->positions[i];
        SP_CHECK(k >= 0 && k < n_args && args[k].tensor, SP_VALUE,
                 "gradient by argument %d is asked for, but the function has %d arguments or this one is no tensor", k,
                 n_args);
        SP_TRY(make_target(args[k].tensor, &tape->targets[i], &tape->watched[i]));
        tape->n_targets++;
    }
    for (int i = 0; i < g->n_variables; i++) {
        int k = tape->n_targets;
        SP_TRY(make_target(sp__tape_variable(m, g->variables[i]), &tape->targets[k], &tape->watched[k]));
        tape->n_targets++;
    }
    /* From here on nothing fails: the arguments may be exchanged. */
    for (int i = 0; i < g->n_positions; i++) {
        sp_slot_value *arg = &args[g->positions[i]];
        sp_tensor_release(arg->tensor);
        arg->tensor = sp_tensor_retain(tape->targets[i]);
    }
    return SP_OK;
}

sp_status sp__tape_begin(sp_machine *m, const sp_node *node, int n_args, sp_slot_value *args, int n_seeds,
                         const sp_slot_value *seeds, sp_tape **out)
{
    const sp_grad_spec *g = node->grad;
    size_t n = (size_t)(g->n_positions + g->n_variables);
    sp_tape *t = sp__alloc_zero(sizeof *t + (n + (size_t)n_seeds) * sizeof(sp_tensor *) + n * sizeof(bool));
    if (!t) return SP_NOMEM;
    t->node = node;
    t->targets = (sp_tensor **)(void *)(t + 1);
    t->seeds = t->targets + n;
    t->watched = (bool *)(t->seeds + n_seeds);
    t->again = sp_grad_recording();
    for (int i = 0; i < n_seeds; i++)
        if (seeds[i].tensor) t->seeds[i] = sp_tensor_retain(seeds[i].tensor);
    t->n_seeds = n_seeds;
    t->outer = m->tape;
    sp_grad_begin();
    sp_status status = take_targets(m, t, n_args, args);
    m->tape = t;
    if (status != SP_OK) sp__tape_drop(m, t);
    else *out = t;
    return status;
}

void sp__tape_drop(sp_machine *m, sp_tape *t)
{
    const sp_grad_spec *g = t->node->grad;
    for (int i = 0; i < g->n_positions + g->n_variables; i++) {
        if (t->watched[i]) sp_grad_unwatch(t->targets[i]);
        sp_tensor_release(t->targets[i]);
    }
    for (int i = 0; i < t->n_seeds; i++) sp_tensor_release(t->seeds[i]);
    sp_grad_end();
    m->tape = t->outer;
    sp__free(t);
}

sp_tensor *sp__tape_variable(const sp_machine *m, const sp_variable *v)
{
    for (const sp_tape *t = m->tape; t; t = t->outer) {
        const sp_grad_spec *g = t->node->grad;
        for (int i = 0; i < t->n_targets - g->n_positions; i++)
            if (g->variables[i] == v) return t->targets[g->n_positions + i];
    }
    return v->tensor;
}

/* Without an outer gradient nobody asks for the history of a result, and it holds everything that was computed. */
static sp_status hand_over(const sp_tape *t, sp_slot_value from, sp_slot_value *out)
{
    if (from.tensor && sp_grad_tracked(from.tensor) && !t->again) return sp_grad_detach(from.tensor, &out->tensor);
    *out = sp__item_retain(from);
    return SP_OK;
}

sp_status sp__tape_end(sp_machine *m, sp_tape *t, int n_results, const sp_slot_value *results, sp_slot_value *out)
{
    (void)m;
    const sp_grad_spec *g = t->node->grad;
    SP_CHECK(n_results == g->n_results, SP_RUNTIME, "the differentiated function gave %d results, %d were expected",
             n_results, g->n_results);
    int n = g->n_differentiated < 0 ? n_results : g->n_differentiated;
    SP_CHECK(n <= n_results && t->n_seeds <= n, SP_VALUE,
             "%d results with %d seeds are to be differentiated, there are %d", n, t->n_seeds, n_results);
    int n_grads = t->n_targets, done = 0;
    sp_tensor **block = sp__alloc_zero((size_t)(2 * n + n_grads + 1) * sizeof *block);
    if (!block) return SP_NOMEM;
    sp_tensor **outputs = block, **seeds = block + n, **grads = seeds + n;
    sp_status status = SP_OK;
    for (int i = 0; i < n; i++) {
        if (!results[i].tensor) {
            status = sp__fail(SP_TYPE, "result %d of the differentiated function is a function, not a tensor", i);
            goto failed;
        }
        outputs[i] = results[i].tensor;
        seeds[i] = i < t->n_seeds ? t->seeds[i] : NULL;
    }
    SP_GOTO(failed, (g->strict ? sp_grad_backward : sp_grad_backward_allow_unused)(n, outputs, seeds, n_grads,
                                                                                   t->targets, t->again, grads));
    for (; done < n_results; done++) SP_GOTO(failed, hand_over(t, results[done], &out[done]));
    for (int i = 0; i < n_grads; i++) out[n_results + i] = (sp_slot_value){.tensor = grads[i]};
    sp__free(block);
    return SP_OK;
failed:
    for (int i = 0; i < done; i++) {
        sp__item_release(out[i]);
        out[i] = (sp_slot_value){0};
    }
    for (int i = 0; i < n_grads; i++) sp_tensor_release(grads[i]);
    sp__free(block);
    return status;
}

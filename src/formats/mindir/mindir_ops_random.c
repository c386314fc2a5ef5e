/* SPDX-License-Identifier: Apache-2.0 */
/* mindir_ops_random.c - primitives of MindIR that draw random numbers. The numbers are those of the process's generator: MindSpore's own follow from
 * its devices. Recorded, a state is drawn in each run. */
#include <string.h>

#include "formats/mindir/mindir_ops.h"
#include "spore/random.h"

static sp_status draw_run(void *context, int n_in, sp_tensor *const *in, int n_out, sp_tensor **out)
{
    (void)n_in, (void)in, (void)n_out;
    return sp_generator_next(sp_generator_default(), *(const int64_t *)context, out);
}

/* A state for so many numbers. */
static sp_status next_state(sp_mindir_call *c, int64_t count, sp_tensor **out)
{
    static const sp_spec spec = {.dtype = SP_DTYPE_I64, .rank = 1, .dims = {2}};
    sp_tensor *state;
    SP_CHECK(count >= 0, SP_SYMBOL, "a size is not known before the model runs");
    if (sp_function_recording()) {
        int64_t *context = sp__alloc(sizeof *context);
        if (!context) return SP_NOMEM;
        *context = count;
        sp_status status = sp_function_host(SP_HOST_RANDOM, draw_run, sp__free, context, 0, NULL, 1, &spec, &state);
        if (status != SP_OK) sp__free(context);
        SP_TRY(status);
    } else SP_TRY(sp_generator_next(sp_generator_default(), count, &state));
    *out = sp_builder_take_tensor(c->b, state);
    return *out ? SP_OK : sp__builder_status(c->b);
}

/* shape; of UniformInt the least number and the one after the greatest follow. */
sp_status sp__mindir_run_random(sp_mindir_call *c, const sp_mindir_rule *rule, sp_mindir_value **out)
{
    int64_t dims[SP_RANK_MAX], count = 1, low, high;
    int n;
    sp_tensor *state;
    sp_mindir_text text = {.used = 0};
    SP_CHECK(c->n_in >= 1, SP_FORMAT, "%s has no shape", rule->mindir);
    SP_TRY(sp__mindir_ints(c->in[0], SP_RANK_MAX, dims, &n));
    sp__mindir_put(&text, "shape=(");
    for (int i = 0; i < n; i++) {
        SP_CHECK(dims[i] >= 0 && dims[i] < INT32_MAX && count < INT32_MAX, SP_VALUE,
                 "a shape of %lld elements and more", (long long)dims[i]);
        count *= dims[i];
        sp__mindir_put(&text, "%lld,", (long long)dims[i]);
    }
    sp__mindir_put(&text, ")");
    if (!strcmp(rule->op, "random_int")) {
        SP_TRY(sp__mindir_int_argument(c, 1, "minval", 0, &low));
        SP_TRY(sp__mindir_int_argument(c, 2, "maxval", 1, &high));
        sp__mindir_put(&text, ", low=%lld, high=%lld, dtype=int32", (long long)low, (long long)high);
    }
    SP_TRY(next_state(c, count, &state));
    return sp__mindir_apply_text(c, rule->op, text.text, 1, &state, out);
}

/* x, the probability to keep an element: x with some dropped, and 1 where none was. */
sp_status sp__mindir_run_dropout(sp_mindir_call *c, const sp_mindir_rule *rule, sp_mindir_value **out)
{
    sp_tensor *in[2];
    double keep = 0.5;
    (void)rule;
    SP_TRY(sp__mindir_operand(c, 0, &in[0]));
    const sp_mindir_value *v = sp__mindir_argument(c, 1, "keep_prob");
    if (v && v->kind != SP_MINDIR_NONE) SP_TRY(sp__mindir_real(v, "keep_prob", &keep));
    SP_TRY(next_state(c, sp_tensor_count(in[0]), &in[1]));
    return sp__mindir_call(c, "dropout", 2, in, out, "keep_prob=%.17g", keep);
}

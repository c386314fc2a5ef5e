/* SPDX-License-Identifier: Apache-2.0 */
/* registered.c - operators of a program's own: a definition is looked at, copied, and made an entry whose functions call those of the
 * definition. */
#include "base/messages.h"
#include "base/plain.h"
#include "ir/refuse.h"
#include "ops/registered.h"

/* --- from the engine's calls to the definition's ------------------------------------------------------------------- */

static const sp_custom_op *definition_of(const sp_op *op)
{
    return &((const sp_registered *)(const void *)op)->definition;
}

static sp_custom_call call_of(const sp_call *c)
{
    return (sp_custom_call){.attrs = c->attrs, .n_in = c->n_in, .n_out = c->n_out, .in = c->in, .out = c->out};
}

static sp_status infer_same(const sp_call *c, sp_meta *out)
{
    SP_CHECK(c->n_in > 0, SP_VALUE, "it needs one input at least, to know dtype and shape of its results");
    for (int i = 0; i < c->n_out; i++) sp__meta_of(c->in[0], &out[i]);
    return SP_OK;
}

static sp_status infer(const sp_call *c, sp_meta *out)
{
    const sp_custom_call call = call_of(c);
    for (int i = 0; i < c->n_out; i++) out[i] = (sp_meta){.dtype = SP_DTYPE_NONE};
    SP_TRY(definition_of(c->op)->infer(&call, out));
    for (int i = 0; i < c->n_out; i++)
        SP_CHECK(out[i].dtype >= 0 && out[i].dtype < SP_DTYPE_COUNT, SP_RUNTIME, "its infer gave result %d no dtype",
                 i);
    return SP_OK;
}

static sp_status run(const sp_call *c)
{
    const sp_custom_call call = call_of(c);
    return definition_of(c->op)->run(&call);
}

static sp_status compose(sp_builder *b, const sp_call *c)
{
    const sp_custom_call call = call_of(c);
    SP_TRY(definition_of(c->op)->compose(b, &call, c->out));
    SP_TRY(sp_builder_status(b));
    for (int i = 0; i < c->n_out; i++)
        SP_CHECK(c->out[i], SP_RUNTIME, "its composition gave no result %d: it must fill out[%d]", i, i);
    return SP_OK;
}

static sp_status vjp(sp_builder *b, const sp_vjp *v)
{
    const sp_custom_vjp call = {.attrs = v->attrs,
                                .n_in = v->n_in,
                                .n_out = v->n_out,
                                .in = v->in,
                                .out = v->out,
                                .dout = v->dout,
                                .needs = v->needs,
                                .din = v->din};
    return definition_of(v->op)->vjp(b, &call);
}

/* --- what is given ------------------------------------------------------------------------------------------------- */

static bool is_name(const char *s, size_t n)
{
    if (n == 0 || n > 63 || s[0] < 'a' || s[0] > 'z') return false;
    for (size_t i = 0; i < n; i++)
        if (!(s[i] >= 'a' && s[i] <= 'z') && !sp__is_digit(s[i]) && s[i] != '_') return false;
    return true;
}

static sp_status check_functions(const sp_custom_op *d)
{
    SP_CHECK((d->run != NULL) != (d->compose != NULL), SP_VALUE,
             "operator %s must have one of run and compose, it has %s", d->name, d->run ? "both" : "neither");
    SP_CHECK(
        !d->compose || (!d->vjp && !d->infer), SP_VALUE,
        "operator %s is a composition, whose shapes and gradients follow from its operators: %s would not be called",
        d->name, d->vjp ? "vjp" : "infer");
    SP_CHECK(d->vjp || !(d->keep_in | d->keep_out), SP_VALUE,
             "operator %s keeps values for a gradient (keep_in, keep_out) but has no vjp that reads them", d->name);
    return SP_OK;
}

static sp_status check_inputs(const sp_custom_op *d)
{
    int n = 0;
    bool last = false;
    SP_CHECK(d->inputs != NULL, SP_VALUE, "operator %s has no inputs: \"x, weight, bias?\" names them", d->name);
    for (const char *p = d->inputs + strspn(d->inputs, " ,"); *p; p += strspn(p, " ,")) {
        const size_t length = strcspn(p, " ,?.");
        SP_CHECK(
            is_name(p, length) && length < sizeof((sp_inputs *)NULL)->names[0], SP_VALUE,
            "inputs of operator %s are \"%s\": a name at \"%.20s\" must have 1 to %zu lower-case letters, digits and _",
            d->name, d->inputs, p, sizeof((sp_inputs *)NULL)->names[0] - 1);
        SP_CHECK(!last, SP_VALUE, "inputs of operator %s are \"%s\": only the last may be any number (...)", d->name,
                 d->inputs);
        p += length;
        if (*p == '?') p++;
        else if (strncmp(p, "...", 3) == 0) p += 3, last = true;
        SP_CHECK(*p == '\0' || *p == ' ' || *p == ',', SP_VALUE,
                 "inputs of operator %s are \"%s\": a comma is missing at \"%.20s\"", d->name, d->inputs, p);
        n++;
    }
    SP_CHECK(n >= 1 && n <= SP_CUSTOM_INPUTS_MAX, SP_VALUE, "operator %s has %d inputs, it may have 1 to %d", d->name,
             n, SP_CUSTOM_INPUTS_MAX);
    SP_CHECK(d->inputs[strcspn(d->inputs, "?,.")] != '?', SP_VALUE,
             "the first input of operator %s cannot be left out: dtypes go by it", d->name);
    return SP_OK;
}

static sp_status check_attr(const sp_custom_op *d, const sp_attr *a)
{
    SP_CHECK(a->name && is_name(a->name, strlen(a->name)), SP_VALUE,
             "an attribute of operator %s is called '%s'; names have lower-case letters, digits and _", d->name,
             a->name ? a->name : "");
    const size_t bytes = sp__attr_bytes(a);
    SP_CHECK(bytes, SP_VALUE, "attribute %s of operator %s has type %d, which there is not", a->name, d->name,
             (int)a->type);
    SP_CHECK(
        a->offset % (bytes < 8 ? bytes : 8) == 0 && a->offset <= d->attrs_bytes && bytes <= d->attrs_bytes - a->offset,
        SP_VALUE, "attribute %s of operator %s lies at byte %zu, which is not a place of %zu bytes in a struct of %zu",
        a->name, d->name, a->offset, bytes, d->attrs_bytes);
    return SP_OK;
}

static sp_status check_definition(const sp_custom_op *d)
{
    SP_CHECK(d && d->struct_size == sizeof *d, SP_VALUE,
             "the definition of an operator must say its size: .struct_size = sizeof(sp_custom_op), which is %zu here",
             sizeof *d);
    SP_CHECK(d->name && is_name(d->name, strlen(d->name)), SP_VALUE,
             "an operator cannot be called '%s': a name has 1 to 63 lower-case letters, digits and _, a letter first",
             d->name ? d->name : "");
    SP_TRY(check_functions(d));
    SP_TRY(check_inputs(d));
    SP_CHECK(d->n_out >= 0 && d->n_out <= SP_CUSTOM_RESULTS_MAX, SP_VALUE,
             "operator %s has %d results, it may have 1 to %d", d->name, d->n_out, SP_CUSTOM_RESULTS_MAX);
    SP_CHECK(d->n_attrs >= 0 && d->n_attrs <= SP_CUSTOM_ATTRS_MAX && (!d->n_attrs || d->attrs), SP_VALUE,
             "operator %s has %d attributes, it may have up to %d, with their rows", d->name, d->n_attrs,
             SP_CUSTOM_ATTRS_MAX);
    SP_CHECK(d->attrs_bytes <= SP_ATTRS_ROOM, SP_VALUE, "attributes of operator %s take %zu bytes, they may take %d",
             d->name, d->attrs_bytes, SP_ATTRS_ROOM);
    for (int i = 0; i < d->n_attrs; i++) SP_TRY(check_attr(d, &d->attrs[i]));
    SP_CHECK(d->n_dtypes >= 0 && (!d->n_dtypes || d->dtypes), SP_VALUE,
             "operator %s has %d dtypes, but no list of them", d->name, d->n_dtypes);
    for (int i = 0; i < d->n_dtypes; i++)
        SP_CHECK(d->dtypes[i] >= 0 && d->dtypes[i] < SP_DTYPE_STR, SP_VALUE,
                 "operator %s names dtype %d, which there is not", d->name, (int)d->dtypes[i]);
    return SP_OK;
}

/* --- the entry ----------------------------------------------------------------------------------------------------- */

static sp_status copy_text(sp_registered *r, const char **text)
{
    if (*text && !(*text = sp__arena_text(&r->arena, *text))) return SP_NOMEM;
    return SP_OK;
}

static sp_status make_attrs(sp_registered *r)
{
    sp_custom_op *d = &r->definition;
    if (!d->n_attrs) return SP_OK;
    sp_attr *rows = sp__arena_alloc(&r->arena, (size_t)d->n_attrs * sizeof *rows);
    void *defaults = sp__arena_alloc(&r->arena, d->attrs_bytes);
    if (!rows || !defaults) return SP_NOMEM;
    memcpy(rows, d->attrs, (size_t)d->n_attrs * sizeof *rows);
    for (int i = 0; i < d->n_attrs; i++) {
        SP_TRY(copy_text(r, &rows[i].name));
        SP_TRY(copy_text(r, &rows[i].initial));
        const bool needed = rows[i].initial == NULL,
                   plain = rows[i].type == SP_ATTR_FLOAT || rows[i].type == SP_ATTR_BOOL;
        if (needed && plain) continue; /* they have no value that says "not given": zero */
        const sp_status status =
            sp__attr_parse(&r->op, &rows[i], needed ? "None" : rows[i].initial, defaults, &r->lists);
        if (status != SP_OK) {
            sp__error_context("operator %s", d->name);
            return status;
        }
    }
    d->attrs = rows;
    r->op.attrs = rows;
    r->op.n_attrs = d->n_attrs;
    r->op.attrs_bytes = d->attrs_bytes;
    r->op.defaults = defaults;
    return SP_OK;
}

static sp_status make_entry(sp_registered *r)
{
    sp_custom_op *d = &r->definition;
    SP_TRY(copy_text(r, &d->name));
    SP_TRY(copy_text(r, &d->inputs));
    SP_TRY(copy_text(r, &d->doc));
    r->op.name = d->name;
    r->op.inputs = d->inputs;
    r->op.doc = d->doc;
    r->op.n_out = d->n_out;
    SP_TRY(make_attrs(r));
    for (int i = 0; i < d->n_dtypes; i++) r->op.dtypes |= 1u << d->dtypes[i];
    d->dtypes = NULL; /* not copied: the entry has them */
    sp__op_parse_inputs(&r->op, &r->inputs);
    if (d->compose) {
        r->op.compose = compose;
        return SP_OK;
    }
    r->op.infer = d->infer ? infer : infer_same;
    r->op.reference = run;
    r->op.vjp = d->vjp ? vjp : sp__vjp_refuse;
    r->op.no_vjp = d->vjp ? NULL : "it was registered without one (vjp in sp_custom_op)";
    r->op.saves = (d->keep_in & SP_SAVE_ALL_IN) | (d->keep_out & 0xFFu) << 16;
    return SP_OK;
}

sp_status sp_custom_register(const sp_custom_op *definition, const sp_op **out)
{
    SP_TRY(check_definition(definition));
    sp_registered *r = sp__alloc_zero(sizeof *r);
    if (!r) return SP_NOMEM;
    r->definition = *definition;
    sp_status status = make_entry(r);
    if (status == SP_OK) status = sp__op_add(r);
    if (status != SP_OK) {
        sp__attr_text_free(&r->lists);
        sp__arena_free(&r->arena);
        sp__free(r);
        return status;
    }
    if (out) *out = &r->op;
    return SP_OK;
}

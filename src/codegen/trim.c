/* SPDX-License-Identifier: Apache-2.0 */
/* trim.c - what models need of the library, as options of its build: they run once while base/used.h watches. */
#include "spore/trim.h"

#include <string.h>

#include "base/used.h"
#include "formats/model_impl.h"
#include "ir/op_impl.h"
#include "spore/session.h"

static bool known_isa(const char *isa)
{
    static const char *const levels[] = {"portable", "avx2", "avx512", "all"};
    for (int i = 0; i < 4; i++)
        if (strcmp(isa, levels[i]) == 0) return true;
    return false;
}

static sp_status zeros(const sp_spec *spec, sp_tensor **out)
{
    int64_t dims[SP_RANK_MAX] = {0};
    for (int k = 0; k < spec->rank; k++) dims[k] = spec->dims[k] < 0 ? 1 : spec->dims[k];
    return sp_tensor_create_zeros(spec->dtype == SP_DTYPE_NONE ? SP_DTYPE_F32 : spec->dtype,
                                  spec->rank < 0 ? 0 : spec->rank, dims, out);
}

static sp_status run_model(sp_model *m)
{
    const int n_in = sp_model_inputs(m), n_out = sp_model_outputs(m);
    sp_tensor **all = sp__alloc_zero((size_t)(n_in + n_out + 1) * sizeof *all);
    if (!all) return SP_NOMEM;
    sp_status status = SP_OK;
    for (int i = 0; status == SP_OK && i < n_in; i++) {
        sp__used_note_dtype(sp_model_input_spec(m, i)->dtype);
        status = zeros(sp_model_input_spec(m, i), &all[i]);
    }
    if (status == SP_OK) status = sp_model_run(m, n_in, all, n_out, all + n_in);
    for (int i = 0; i < n_in + n_out; i++) sp_tensor_release(all[i]);
    sp__free(all);
    return status;
}

/* As a session, too, where that can be: its program is another one. */
static sp_status run_session(sp_model *m)
{
    size_t bytes;
    sp_session *s = NULL;
    sp_status status = sp_session_bytes(m, NULL, &bytes);
    if (status == SP_DECLINED || status == SP_SYMBOL) return SP_OK;
    void *block = status == SP_OK ? sp__alloc(bytes ? bytes : 1) : NULL;
    if (status == SP_OK && !block) status = SP_NOMEM;
    if (status == SP_OK) status = sp_session_create(m, NULL, block, bytes, &s);
    sp_session_release(s);
    sp__free(block);
    return status == SP_DECLINED ? SP_OK : status;
}

static sp_status watch_model(const char *path)
{
    sp_model *m;
    SP_TRY(sp_model_load(path, NULL, &m));
    /* Weights are in the file in their dtypes, whether or not a kernel sees them. */
    const sp_bundle *weights = sp_model_parameters(m);
    for (int64_t i = 0; i < sp_bundle_count(weights); i++) {
        int rank;
        const int64_t *dims;
        sp__used_note_dtype(sp_bundle_shape_at(weights, i, &rank, &dims));
    }
    sp_status status = run_model(m);
    if (status == SP_OK) status = run_session(m);
    if (status != SP_OK) sp__error_context("%s", path);
    sp_model_release(m);
    return status;
}

static void put_dtypes(sp__text *t)
{
    const uint32_t used = sp__used_dtypes();
    const char *between = "";
    for (int d = 0; d < SP_DTYPE_STR; d++) {
        if (!(used >> d & 1)) continue;
        sp__text_put(t, "%s%s", between, sp_dtype_name((sp_dtype)d));
        between = ";";
    }
}

static sp_status put_list(sp__text *t, const char *option, sp_used_kind kind, const char *always)
{
    sp__text_put(t, "set(%s \"%s", option, always);
    SP_TRY(sp__used_list(kind, ";", t));
    if (!t->failed && t->data[t->used - 1] == ';')
        t->data[--t->used] = '\0'; /* nothing came behind what is always there */
    sp__text_put(t, "\" CACHE STRING \"\" FORCE)\n");
    return SP_OK;
}

static sp_status write_options(int n, const char *const *paths, const char *isa, char **text)
{
    sp__text t = {0};
    sp_status status = SP_OK;
    sp__text_put(&t, "# What these models need of spore:");
    for (int i = 0; i < n; i++) {
        const char *slash = strrchr(paths[i], '/');
        sp__text_put(&t, " %s", slash ? slash + 1 : paths[i]);
    }
    sp__text_put(&t, "\n# cmake -C options.cmake -S SOURCES -B BUILD && cmake --build BUILD --target spore_static\n"
                     "set(CMAKE_BUILD_TYPE MinSizeRel CACHE STRING \"\" FORCE)\n"
                     "set(SPORE_SMALL ON CACHE BOOL \"\" FORCE)\n");
    static const char *const off[] = {"PYTHON", "TESTS", "SERVE"};
    for (int i = 0; i < 3; i++) sp__text_put(&t, "set(SPORE_%s OFF CACHE BOOL \"\" FORCE)\n", off[i]);
    sp__text_put(&t, "set(SPORE_ISA \"%s\" CACHE STRING \"\" FORCE)\n", isa);
    /* What the engine itself applies: to constants, to results, when it compiles. */
    status = put_list(&t, "SPORE_OPERATORS", SP_USED_OPERATOR, "broadcast_to;cast;copy;identity;reshape;transpose;");
    if (status == SP_OK) status = put_list(&t, "SPORE_FORMATS", SP_USED_FORMAT, "");
    if (status == SP_OK) status = put_list(&t, "SPORE_PRIMITIVES", SP_USED_PRIMITIVE, "Return;");
    if (status == SP_OK) status = put_list(&t, "SPORE_ONNX", SP_USED_ONNX, "");
    sp__text_put(&t, "set(SPORE_DTYPES \"");
    put_dtypes(&t);
    sp__text_put(&t, "\" CACHE STRING \"\" FORCE)\n");
    char *made = NULL;
    const sp_status taken = sp__text_take(&t, &made);
    if (status == SP_OK) status = taken;
    if (status == SP_OK) *text = made;
    else sp__free(made);
    return status;
}

sp_status sp_trim_options(int n, const char *const *paths, const char *isa, char **text)
{
    SP_CHECK(n > 0 && paths != NULL && text != NULL, SP_VALUE,
             "one model at least and a place for the text are needed");
    if (isa == NULL) isa = "portable";
    SP_CHECK(known_isa(isa), SP_VALUE, "isa is '%s', it must be portable, avx2, avx512 or all", isa);
    SP_TRY(sp__used_begin());
    sp_status status = SP_OK;
    for (int i = 0; status == SP_OK && i < n; i++) status = watch_model(paths[i]);
    if (status == SP_OK) status = write_options(n, paths, isa, text);
    sp__used_end();
    return status;
}

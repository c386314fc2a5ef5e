/* SPDX-License-Identifier: Apache-2.0 */
/* served.c - one version of a model: loaded, tried out, counted.
 *
 * Trying out compiles the model for the shapes it will meet, so that no client waits for that, and shows whether requests may be joined. A file
 * does not say whether its first axis is one of independent rows: a network that normalises over the batch, or quantises by its extrema,
 * has a first axis of any size, too. So two rows are run alone and together; only if each gets the same, rows are joined. */
#include <math.h>
#include <string.h>

#include "formats/model_impl.h"
#include "serve/preprocess.h"
#include "serve/serve_impl.h"
#include "tensor/tensor_impl.h"

sp_served *sp__served_retain(sp_served *m)
{
    atomic_fetch_add_explicit(&m->refs, 1, memory_order_relaxed);
    return m;
}

void sp__served_release(sp_served *m)
{
    if (m == NULL || atomic_fetch_sub_explicit(&m->refs, 1, memory_order_acq_rel) != 1) return;
    sp__runners_stop(m);
    sp__lock_destroy(&m->lock);
    sp__sequences_close(m);
    sp_model_release(m->model);
    sp__preprocess_release(m->preprocess);
    sp__free(m->classes);
    sp__free(m->classes_text);
    sp__copies_free(m->copies);
    sp__free(m->file);
    sp__free(m);
}

const char *sp__served_kind(const sp_served *m) { return m->model->kind->format; }

/* --- trying out ---------------------------------------------------------------------------------------------------- */

/* Something like data, another for every row: floats in [0, 1), integers 0 and 1, which most tables have entries for. */
static void fill(sp_tensor *t, int64_t first_row, int64_t rows)
{
    const sp_dtype dtype = sp_tensor_dtype(t);
    const int64_t per_row = rows > 0 ? sp_tensor_count(t) / rows : 0;
    char *p = sp_tensor_data(t);
    memset(p, 0, sp_tensor_bytes(t));
    for (int64_t r = 0; r < rows; r++) {
        uint64_t state = (uint64_t)(first_row + r + 1) * 0x9E3779B97F4A7C15u;
        for (int64_t i = 0; i < per_row; i++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            const double v = (double)(state >> 40) / (double)(1 << 24);
            char *at = p + (size_t)(r * per_row + i) * sp_dtype_bytes(dtype);
            switch (dtype) {
            case SP_DTYPE_F32: *(float *)(void *)at = (float)v; break;
            case SP_DTYPE_F64: *(double *)(void *)at = v; break;
            case SP_DTYPE_F16: *(uint16_t *)(void *)at = (uint16_t)(0x3800 + (int)(v * 1024)); break; /* in [0.5, 1) */
            case SP_DTYPE_BF16: *(uint16_t *)(void *)at = (uint16_t)(0x3F00 + (int)(v * 128)); break;
            default: *at = v < 0.5; break; /* integers are little-endian */
            }
        }
    }
}

typedef struct trial {
    sp_tensor *in[SP_SERVE_INPUTS_MAX];
    sp_tensor **out;
} trial;

static void trial_end(const sp_served *m, trial *t)
{
    for (int i = 0; i < m->n_in; i++) sp_tensor_release(t->in[i]);
    for (int i = 0; t->out != NULL && i < m->n_out; i++) sp_tensor_release(t->out[i]);
    sp__free(t->out);
    *t = (trial){0};
}

/* Run it on rows [first, first + rows); rows 0: on shapes as the file has them, 1 where a dimension is free. */
static sp_status trial_run(const sp_served *m, int64_t first, int64_t rows, trial *t)
{
    sp_status status = SP_OK;
    t->out = sp__alloc_zero((size_t)m->n_out * sizeof *t->out + 1);
    if (t->out == NULL) return SP_NOMEM;
    for (int i = 0; i < m->n_in && status == SP_OK; i++) {
        sp_spec s = *sp_model_input_spec(m->model, i);
        for (int k = 0; k < s.rank; k++)
            if (s.dims[k] < 0) s.dims[k] = 1;
        if (rows > 0) s.dims[0] = rows;
        status = sp_tensor_create(s.dtype, s.rank, s.dims, &t->in[i]);
        if (status == SP_OK) fill(t->in[i], first, rows > 0 ? rows : 1);
    }
    if (status == SP_OK) status = sp_model_run(m->model, m->n_in, t->in, m->n_out, t->out);
    if (status == SP_OK)
        for (int i = 0; i < m->n_out && status == SP_OK; i++) {
            sp_tensor *plain = NULL;
            if (t->out[i] == NULL) continue;
            status = sp_tensor_contiguous(t->out[i], &plain);
            if (status != SP_OK) break;
            sp_tensor_release(t->out[i]);
            t->out[i] = plain;
        }
    return status;
}

static double element(const sp_tensor *t, int64_t i)
{
    sp_tensor *one = NULL;
    double v = NAN;
    if (sp_tensor_view(t, 0, NULL, NULL, i, &one) == SP_OK && sp_tensor_item_f64(one, &v) != SP_OK) v = NAN;
    sp_tensor_release(one);
    return v;
}

/* Is row `at` of `many` what `one` has alone? Sets *exact to false when bits differ but values hardly. */
static bool same_row(const sp_tensor *one, const sp_tensor *many, int64_t rows, int64_t at, bool *exact)
{
    if (one == NULL || many == NULL) return one == many;
    const int rank = sp_tensor_rank(one);
    if (rank < 1 || sp_tensor_rank(many) != rank || sp_tensor_dims(one)[0] != 1 || sp_tensor_dims(many)[0] != rows)
        return false;
    for (int k = 1; k < rank; k++)
        if (sp_tensor_dims(one)[k] != sp_tensor_dims(many)[k]) return false;
    const size_t bytes = sp_tensor_bytes(one);
    if (bytes == 0 || memcmp(sp_tensor_data(one), (const char *)sp_tensor_data(many) + (size_t)at * bytes, bytes) == 0)
        return true;
    const char kind = sp_dtype_kind(sp_tensor_dtype(one));
    if (kind != 'f') return false;
    const double tolerance = sp_dtype_bytes(sp_tensor_dtype(one)) == 2 ? 2e-2 : 1e-4;
    *exact = false;
    for (int64_t i = 0, n = sp_tensor_count(one); i < n; i++) {
        double a = element(one, i), b = element(many, at * n + i);
        if (!(fabs(a - b) <= tolerance * fmax(1, fabs(a))) && !(isnan(a) && isnan(b)) && a != b) return false;
    }
    return true;
}

/* Do `rows` rows together give what each gives alone? */
static bool rows_are_independent(const sp_served *m, trial *single, int64_t rows, bool *exact)
{
    trial joined = {0};
    bool same = trial_run(m, 0, rows, &joined) == SP_OK;
    for (int i = 0; i < m->n_out && same; i++)
        for (int64_t r = 0; r < 2 && same; r++) same = same_row(single[r].out[i], joined.out[i], rows, r, exact);
    trial_end(m, &joined);
    return same;
}

/* Set max_batch and exact; compiles what joined requests will need. */
static void try_batches(sp_served *m, int wanted, bool trusted)
{
    trial single[2] = {{{NULL}, NULL}, {{NULL}, NULL}};
    bool exact = true, could = true;
    m->max_batch = 1;
    m->exact = true;
    m->why_single = "max_batch is 1";
    if (wanted < 2) return;
    m->why_single = "an input or output has no first axis, or not one known to be of rows";
    for (int i = 0; i < m->n_in + m->n_out; i++) {
        const sp_spec *s = i < m->n_in ? sp_model_input_spec(m->model, i) : sp_model_output_spec(m->model, i - m->n_in);
        if (s->rank < 1 && !(i >= m->n_in && s->rank < 0)) return;
    }
    for (int r = 0; r < 2 && could; r++) could = trial_run(m, r, 1, &single[r]) == SP_OK;
    m->why_single = could ? "joined rows give other results than each alone"
                          : "it takes no single rows, or needs sizes that are not known";
    if (could) {
        int rows = 2;
        while (rows <= wanted && !sp__server_stopping(m->entry->server) &&
               rows_are_independent(m, single, rows, &exact))
            rows *= 2;
        m->max_batch = rows / 2;
        m->exact = exact;
    } else if (trusted) {
        m->max_batch = wanted;
        m->exact = false;
    }
    for (int r = 0; r < 2; r++) trial_end(m, &single[r]);
}

/* Run it with one set of shapes that its settings name. */
static sp_status warm_run(const sp_served *m, int n, const sp_warm_shape *shapes)
{
    trial t = {.out = sp__alloc_zero((size_t)m->n_out * sizeof *t.out + 1)};
    sp_status status = t.out != NULL ? SP_OK : SP_NOMEM;
    for (int k = 0; k < n && status == SP_OK; k++) {
        int i = 0;
        while (i < m->n_in && strcmp(sp_model_input_name(m->model, i), shapes[k].name) != 0) i++;
        if (i == m->n_in) status = sp__fail(SP_KEY, "the model has no input '%s'", shapes[k].name);
        else if (t.in[i] != NULL) status = sp__fail(SP_VALUE, "input '%s' is given twice", shapes[k].name);
        else {
            status =
                sp_tensor_create(sp_model_input_spec(m->model, i)->dtype, shapes[k].rank, shapes[k].dims, &t.in[i]);
            if (status == SP_OK) fill(t.in[i], 0, shapes[k].dims[0]);
        }
    }
    if (status == SP_OK) status = sp_model_run(m->model, m->n_in, t.in, m->n_out, t.out);
    trial_end(m, &t);
    return status;
}

static sp_status warm_up(const sp_served *m)
{
    const char *at = m->settings.warm_up;
    if (*at == '\0') return SP_OK;
    sp_warm_shape *shapes = sp__alloc(SP_SERVE_INPUTS_MAX * sizeof *shapes);
    sp_status status = shapes != NULL ? SP_OK : SP_NOMEM;
    for (int n; status == SP_OK && *at != '\0' && !sp__server_stopping(m->entry->server);) {
        status = sp__settings_warm_up(&at, &n, shapes);
        if (status == SP_OK && n > 0) status = warm_run(m, n, shapes);
    }
    sp__free(shapes);
    if (status != SP_OK) sp__error_context("warm_up");
    return status;
}

static bool sizes_known(const sp_served *m)
{
    bool known = true;
    for (int i = 0; i < m->n_in; i++) {
        const sp_spec *s = sp_model_input_spec(m->model, i);
        known = known && s->rank >= 0;
        for (int k = 1; k < s->rank; k++) known = known && s->dims[k] >= 0;
    }
    return known;
}

/* A model that fails on the only shapes it can have is broken; with free sizes it may be our choice that it does not like. */
static sp_status try_out(sp_served *m)
{
    trial t = {0};
    if (m->items) {
        m->max_batch = 1;
        m->why_single = "it takes or gives texts";
        return SP_OK;
    }
    sp_status status = trial_run(m, 0, 0, &t);
    trial_end(m, &t);
    if (status != SP_OK && sizes_known(m)) {
        sp__error_context("it was loaded, but failed when it was tried out");
        return status;
    }
    try_batches(m, m->settings.max_batch, m->settings.trust_batch);
    SP_TRY(warm_up(m));
    SP_CHECK(!sp__server_stopping(m->entry->server), SP_RUNTIME, "the server is being stopped");
    return sp_model_reset(m->model);
}

/* --- loading ------------------------------------------------------------------------------------------------------- */

static sp_status check_face(const sp_served *m)
{
    for (int i = 0; i < m->n_in + m->n_out; i++) {
        const bool in = i < m->n_in;
        const sp_spec *s = in ? sp_model_input_spec(m->model, i) : sp_model_output_spec(m->model, i - m->n_in);
        SP_CHECK(!m->items || s->dtype != SP_DTYPE_NONE, SP_DECLINED, "%s '%s' is a sequence, which is not served",
                 in ? "input" : "output",
                 in ? sp_model_input_name(m->model, i) : sp_model_output_name(m->model, i - m->n_in));
    }
    SP_CHECK(m->settings.n_instances == 1 || m->model->kind->reset == NULL, SP_DECLINED,
             "a %s model may keep values from run to run, so that it is run once at a time: instances must be 1",
             m->model->kind->format);
    SP_CHECK(m->n_in <= SP_SERVE_INPUTS_MAX, SP_DECLINED, "the model has %d inputs, at most %d are served", m->n_in,
             SP_SERVE_INPUTS_MAX);
    for (int i = 0; i < m->n_in; i++) {
        sp_dtype d = sp_model_input_spec(m->model, i)->dtype;
        SP_CHECK(d == SP_DTYPE_NONE || sp_dtype_kind(d) != 'c', SP_DECLINED,
                 "input '%s' is complex, which is not served", sp_model_input_name(m->model, i));
    }
    return SP_OK;
}

/* With the key that its settings name, if they do. */
static sp_status load_file(sp_served *m, const char *file)
{
    unsigned char key[64];
    sp_file_options o = {.key = key, .key_mode = m->settings.key_mode[0] ? m->settings.key_mode : NULL};
    if (sp__ensemble_is(file)) {
        SP_CHECK(m->settings.key_file[0] == '\0', SP_DECLINED, "key_file: a chain of models has no key");
        return sp__ensemble_load(file, &m->model);
    }
    if (m->settings.key_file[0] == '\0') return sp_model_load(file, NULL, &m->model);
    SP_TRY(sp__settings_key(&m->settings, key, &o.key_bytes));
    const sp_status status = sp_model_load(file, &o, &m->model);
    volatile unsigned char *p = key;
    for (size_t i = 0; i < sizeof key; i++) p[i] = 0;
    return status;
}

/* Where its settings say, else on the default device. */
static sp_status put_on_device(sp_served *m)
{
    sp_device *d = sp_device_default();
    if (m->settings.device[0] != '\0') SP_TRY(sp_device_open(m->settings.device, &d));
    return d != NULL ? sp_model_set_device(m->model, d) : SP_OK;
}

sp_status sp__served_load(sp_entry *e, int64_t version, const char *file, sp_file_copy **copies, sp_served **out)
{
    sp_served *m = sp__alloc_zero(sizeof *m);
    if (m == NULL) return SP_NOMEM;
    atomic_init(&m->refs, 1);
    m->entry = e;
    m->version = version;
    m->generation = e->generation;
    m->settings = e->settings; /* changed by who loads alone, which is us */
    m->end = &m->first;
    sp__lock_init(&m->lock);
    m->file = sp__strdup(file);
    sp__map_copy_begin(copies);
    sp_status status = m->file != NULL ? load_file(m, file) : SP_NOMEM;
    sp__map_copy_end();
    if (status == SP_OK) status = put_on_device(m);
    if (status == SP_OK) {
        if (m->model->kind->any_size)
            status = sp_model_allow_sizes(m->model); /* for joined rows; requests are checked at the door */
        m->n_in = sp_model_inputs(m->model);
        m->n_out = sp_model_outputs(m->model);
        m->items = sp_model_needs_items(m->model);
        if (status == SP_OK) status = check_face(m);
        if (status == SP_OK && m->settings.preprocess[0] != '\0')
            status = sp__preprocess_create(m->settings.preprocess, m->model, &m->preprocess);
        if (status == SP_OK) status = sp__served_classes(m);
        if (status == SP_OK) status = sp__sequences_open(m);
        if (status == SP_OK) status = try_out(m);
        if (status == SP_OK) status = sp__runners_start(m);
        if (status != SP_OK) sp__error_context("%s", file);
    }
    if (status == SP_OK) {
        m->copies = *copies;
        *copies = NULL;
        *out = m;
    } else sp__served_release(m);
    return status;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* model_export.c - loaded models recorded as functions: written in another format, and their work counted.
 *
 * A free dimension needs sizes to be recorded with; what differs between recordings depends on it (sizes.h). Every free dimension has sizes of its own, so that
 * height and width are not taken for each other. The first axis is mostly a batch, for which any size does, and so are those that are called like one, or that stand
 * second in a state beside it; others are pictures or sentences, and networks take only some sizes of these. What a file does not say is tried: several
 * sizes, and every choice of which axes are batches. What was written is read again and run at sizes that no recording had, beside the model itself: a file that
 * does not give the same is not left behind. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/handle.h"
#include "base/text.h"
#include "formats/model_impl.h"
#include "formats/sizes.h"
#include "ir/graph_impl.h"
#include "ops/ops_impl.h"

static const int64_t bases[] = {224, 64, 16000, 32, 8, 16, 512, 3, 1};
/* What a dimension may be that the file leaves open, but not the model. */
static const int64_t heights[] = {32, 48, 64, 80, 96, 128, 224, 256, 320, 512, 640};
/* Rows of batches, by recording and check: in no order, so that nothing else that grows is taken for them. */
static const int64_t rows_of[] = {2, 5, 3, 7, 4, 6};
enum {
    N_BASES = sizeof bases / sizeof *bases,
    STEPS = 3,
    TRIALS = 4,
    CHECKS = 2,
    ONE_ROW = TRIALS + CHECKS, /* a check with batches of one */
    GUESSES_MAX = 4,
    TRIES_MAX = 60,
    FAR_ELEMENTS = 1 << 21, /* of an input, in checks at sizes far from those of recordings; */
    FAR_TOGETHER = 1 << 22, /* and of those checks together that have many */
    FAR_FEW = 1 << 15,
    FAR_SECONDS = 10 /* of processors, after which a step at each base is enough */
};

/* A way of choosing sizes: the first one, how the others follow from it, and (bit g) which free dimensions beyond the first axis are batches. In which way the
 * model is recorded: with numbers that it computes from sizes as constants of the recording, or (sized) as nodes. */
typedef struct {
    int base, step;
    unsigned guess;
    bool sized, one; /* one: batches are of one row, in all recordings */
    int axis;        /* 0, or the number of a free dimension that has one size in all recordings: */
    int64_t size;
} way;

/* Size of the i-th free dimension in recording `which`; from TRIALS on: in a check. */
static int64_t size_of(int64_t base, int step, int i, int which)
{
    static const int64_t odd[TRIALS + CHECKS][2] = {{0, 0}, {5, 2}, {33, 4}, {71, 6}, {1, 1}, {17, 3}};
    static const int64_t times[TRIALS + CHECKS][2] = {{1, 0}, {2, 1}, {5, 2}, {7, 3}, {3, 1}, {4, 3}};
    static const int64_t blocks[TRIALS + CHECKS][2] = {{0, 0}, {1, 1}, {4, 2}, {9, 4}, {2, 3}, {3, 1}};
    if (step == 0) return base + 32 * (blocks[which][0] + i * blocks[which][1]);
    if (step == 1) return base + odd[which][0] + i * odd[which][1];
    return base * (times[which][0] + i * times[which][1]);
}

static bool is_batch_name(const sp_model *m, uint32_t axis)
{
    for (int i = 0; i < m->n_inputs && axis != 0; i++)
        if (m->inputs[i].spec.rank > 0 && m->inputs[i].spec.dims[0] < 0 && m->inputs[i].axes[0] == axis) return true;
    return false;
}

/* Which of the free dimensions it is, those of one name being one. Batches without a name are one. */
static int dimension_number(const sp_model *m, int input, int axis, bool batch)
{
    int number = 1;
    const uint32_t name = m->inputs[input].axes[axis];
    if (batch && name == 0) return 0;
    for (int i = 0; i < m->n_inputs; i++)
        for (int k = 0; k < m->inputs[i].spec.rank; k++) {
            if (m->inputs[i].spec.dims[k] >= 0) continue;
            if ((i == input && k == axis) || (name != 0 && m->inputs[i].axes[k] == name)) return number;
            number++;
        }
    return number;
}

/* Shapes of the inputs, free dimensions at the chosen sizes. */
static sp_status choose(const sp_model *m, way w, int which, sp_spec *out, bool *free_any, int *n_guesses)
{
    int g = 0;
    *free_any = false;
    for (int i = 0; i < m->n_inputs; i++) {
        out[i] = m->inputs[i].spec;
        SP_CHECK(out[i].dtype != SP_DTYPE_NONE && out[i].rank >= 0, SP_DECLINED,
                 "the file does not say of which shape input '%s' is", m->inputs[i].name);
        for (int k = 0; k < out[i].rank; k++) {
            if (out[i].dims[k] >= 0) continue;
            *free_any = true;
            bool batch = k == 0 || is_batch_name(m, m->inputs[i].axes[k]);
            if (!batch && g < GUESSES_MAX) batch = w.guess >> g++ & 1;
            const int number = dimension_number(m, i, k, batch);
            if (batch && w.one) out[i].dims[k] = 1;
            else if (w.axis != 0 && number == w.axis) out[i].dims[k] = w.size;
            else if (which == ONE_ROW) out[i].dims[k] = batch ? 1 : size_of(bases[w.base], w.step, number, TRIALS);
            else out[i].dims[k] = batch ? rows_of[which] : size_of(bases[w.base], w.step, number, which);
        }
    }
    if (n_guesses) *n_guesses = g;
    return SP_OK;
}

typedef struct {
    int n;
    sp_graph *graphs[TRIALS];
    sp_function *f[TRIALS];
} recordings;

static void recordings_free(recordings *r)
{
    for (int k = 0; k < r->n; k++) sp_graph_release(r->graphs[k]);
    *r = (recordings){0};
}

static sp_status record_one(const sp_model *m, bool sized, const sp_spec *specs, const sp_model_edit *edit,
                            sp_graph **graph, sp_function **f)
{
    uint64_t all = m->n_inputs >= 64 ? ~(uint64_t)0 : ((uint64_t)1 << m->n_inputs) - 1;
    SP_TRY((sized ? sp__model_record_sizes : sp__model_record)(m, all, m->n_inputs, specs, graph, f));
    const sp_status status = edit ? edit->edit(edit->context, *f) : SP_OK;
    if (status != SP_OK) sp_graph_release(*graph);
    return status;
}

/* Is the number that the nodes make the same one in all recordings? Then it is a constant of them. */
static sp_status fix_number(const recordings *r, sp_node *const *n, bool *fixed)
{
    sp_tensor *first = NULL, *t = NULL;
    *fixed = false;
    SP_TRY(sp__value_known(n[0]->out[0], &first));
    if (!first) return SP_OK;
    for (int k = 1; k < r->n; k++) {
        SP_TRY(sp__value_known(n[k]->out[0], &t));
        if (!t || t->dtype != first->dtype || !sp__shape_equal(t->rank, t->dims, first->rank, first->dims) ||
            memcmp(t->data, first->data, sp_tensor_bytes(first)) != 0)
            return SP_OK;
    }
    for (int k = 0; k < r->n; k++) {
        sp_value *constant = sp__value_constant(r->f[k], first);
        if (!constant) return SP_NOMEM;
        sp__value_replace(r->graphs[k], n[k]->out[0], constant);
    }
    *fixed = true;
    return SP_OK;
}

/* Numbers that follow from sizes which are not free are no numbers of the run. */
static sp_status fix_numbers(const recordings *r)
{
    sp_function *f[TRIALS] = {NULL};
    sp_node *n[TRIALS] = {NULL}, *next[TRIALS] = {NULL};
    for (int k = 0; k < r->n; k++) f[k] = r->graphs[k]->first;
    for (; f[0]; f[0] = f[0]->next) {
        for (int k = 0; k < r->n; k++) n[k] = f[k] ? f[k]->first : NULL;
        while (n[0]) {
            bool twins = true, fixed = false;
            for (int k = 0; k < r->n; k++)
                twins = twins && n[k] && n[k]->kind == n[0]->kind && n[k]->op == n[0]->op && n[k]->n_out == n[0]->n_out;
            if (!twins) return SP_OK; /* whoever pairs them says how they differ */
            if (n[0]->n_out == 1) SP_TRY(fix_number(r, n, &fixed));
            for (int k = 0; k < r->n; k++) next[k] = n[k]->next;
            for (int k = 0; k < r->n && fixed; k++) sp__node_remove(n[k]);
            memcpy(n, next, sizeof n);
        }
        for (int k = 1; k < r->n; k++) f[k] = f[k] ? f[k]->next : NULL;
    }
    return SP_OK;
}

static sp_status record_all(const sp_model *m, way w, const sp_model_edit *edit, recordings *r, bool *open,
                            int *n_guesses)
{
    sp_spec specs[64];
    sp_status status = SP_OK;
    *r = (recordings){0};
    for (int k = 0; k < TRIALS && (k == 0 || *open) && status == SP_OK; k++) {
        status = choose(m, w, k, specs, open, n_guesses);
        if (status == SP_OK) status = record_one(m, w.sized, specs, edit, &r->graphs[k], &r->f[k]);
        r->n += status == SP_OK;
    }
    if (status == SP_OK && w.sized) status = fix_numbers(r);
    if (status != SP_OK) recordings_free(r);
    return status;
}

/* What the free dimensions are called: alike for all inputs' batches, and where the file has one name for several. */
static const char *const *const *name_axes(sp__arena *arena, const sp_model *m)
{
    const char *const **rows = sp__arena_alloc(arena, (size_t)(m->n_inputs + 1) * sizeof *rows);
    for (int i = 0; rows && i < m->n_inputs; i++) {
        const char **row = sp__arena_alloc(arena, SP_RANK_MAX * sizeof *row);
        if (!row) return NULL;
        for (int k = 0; k < m->inputs[i].spec.rank; k++) {
            char name[24];
            snprintf(name, sizeof name, "size_%d", dimension_number(m, i, k, false));
            if (m->inputs[i].spec.dims[k] < 0 && !(row[k] = k == 0 ? "batch" : sp__arena_text(arena, name)))
                return NULL;
        }
        rows[i] = row;
    }
    return rows;
}

/* Are they called differently? MindIR has one name for all of a tuple. */
static bool outputs_differ(const sp_model *m)
{
    for (int i = 0; i < m->n_outputs; i++)
        for (int k = 0; k < i; k++)
            if (!strcmp(m->outputs[i].name, m->outputs[k].name)) return false;
    return true;
}

/* Texts of the user, which files keep as notes: their keys begin so. */
static int list_info(const sp_model *m, const char **keys, const char **texts)
{
    static const char front[] = "user_info.";
    int n = 0;
    for (int64_t i = 0; i < sp_bundle_note_count(m->parameters); i++) {
        const char *key, *text = sp_bundle_note_at(m->parameters, i, &key);
        if (strncmp(key, front, sizeof front - 1) != 0) continue;
        keys[n] = key + sizeof front - 1;
        texts[n++] = text;
    }
    return n;
}

/* --- verification ------------------------------------------------------------------------------------------------ */

static sp_status as_dtype(sp_tensor *t, sp_dtype dtype, sp_tensor **out)
{
    sp_tensor *plain;
    SP_TRY(sp_tensor_contiguous(t, &plain));
    sp_status status = sp_tensor_create(dtype, plain->rank, plain->dims, out);
    if (status == SP_OK) {
        char *ptr[2] = {(*out)->data, plain->data};
        const int64_t step[2] = {(int64_t)sp_dtype_bytes(dtype), (int64_t)sp_dtype_bytes((sp_dtype)plain->dtype)};
        sp__cast_loop((sp_dtype)plain->dtype, dtype)(plain->count, ptr, step, NULL);
    }
    sp_tensor_release(plain);
    return status;
}

/* Numbers in [0, 1) that look like noise; whole numbers and truth values are all `whole`. */
static sp_status noise(const sp_spec *s, int64_t whole, sp_tensor **out)
{
    sp_tensor *wide;
    const bool floats = sp_dtype_kind(s->dtype) == 'f';
    SP_TRY(sp_tensor_create(SP_DTYPE_F32, s->rank, s->dims, &wide));
    uint32_t state = 12345;
    for (int64_t i = 0; i < wide->count; i++) {
        state = state * 1664525u + 1013904223u;
        ((float *)(void *)wide->data)[i] = floats ? (float)(state >> 8) / 16777216.0f : (float)whole;
    }
    sp_status status = as_dtype(wide, s->dtype, out);
    sp_tensor_release(wide);
    return status;
}

static bool close_to(sp_tensor *x, sp_tensor *y, bool edited)
{
    sp_tensor *a = NULL, *b = NULL;
    bool same = x->dtype == y->dtype && sp__shape_equal(x->rank, x->dims, y->rank, y->dims);
    if (!same || sp_dtype_kind((sp_dtype)x->dtype) == 'c') return same;
    same = as_dtype(x, SP_DTYPE_F64, &a) == SP_OK && as_dtype(y, SP_DTYPE_F64, &b) == SP_OK;
    double most = 0;
    const double *p = same ? (const double *)(const void *)a->data : NULL,
                 *q = same ? (const double *)(const void *)b->data : NULL;
    for (int64_t i = 0; same && i < b->count; i++) most = isfinite(q[i]) && fabs(q[i]) > most ? fabs(q[i]) : most;
    /* Rounded networks are computed with integers once they are read again: steps fall on the other side now and then. */
    const double loose = edited ? 1e-1 : sp_dtype_bytes((sp_dtype)x->dtype) < 4 ? 5e-2 : 2e-3;
    int64_t odd = 0; /* a quantised step now and then falls on the other side */
    for (int64_t i = 0; same && i < b->count; i++)
        odd += !(fabs(p[i] - q[i]) <= loose * most + 1e-5 || (isnan(p[i]) && isnan(q[i])) || p[i] == q[i]);
    same = same && odd * (edited ? 20 : 1000) <= b->count;
    sp_tensor_release(a);
    sp_tensor_release(b);
    return same;
}

/* What is to be written, run on arguments of these shapes. */
static sp_status run_edited(sp_model *m, const sp_spec *specs, const sp_model_edit *edit, sp_tensor *const *in,
                            sp_tensor **out)
{
    sp_graph *graph;
    sp_function *f;
    sp_program *p;
    if (!edit) return sp_model_run(m, m->n_inputs, in, m->n_outputs, out);
    SP_TRY(record_one(m, false, specs, edit, &graph, &f));
    sp_status status = sp_program_create(f, NULL, &p);
    sp_graph_release(graph);
    SP_TRY(status);
    status = sp_program_run(p, m->n_inputs, in, m->n_outputs, out);
    sp_program_release(p);
    return status;
}

/* Both models on the same noise. *ran: the first took it. */
static sp_status compare_at(sp_model *m, sp_model *written, const sp_spec *specs, int64_t whole,
                            const sp_model_edit *edit, bool *ran)
{
    sp_tensor *in[64] = {NULL}, *want[64] = {NULL}, *found[64] = {NULL};
    char shape[SP_SHAPE_TEXT];
    sp_status status = SP_OK;
    for (int i = 0; i < m->n_inputs && status == SP_OK; i++) status = noise(&specs[i], whole, &in[i]);
    *ran = false;
    if (status == SP_OK) *ran = run_edited(m, specs, edit, in, want) == SP_OK;
    if (*ran) {
        sp__shape_text(specs[0].rank, specs[0].dims, shape);
        status = sp_model_run(written, m->n_inputs, in, m->n_outputs, found);
        if (status != SP_OK && status != SP_NOMEM) {
            sp__error_context("the written file fails where the model does not, with an input of shape %s", shape);
            status = SP_DECLINED;
        }
        for (int i = 0; i < m->n_outputs && status == SP_OK; i++)
            if (!close_to(found[i], want[i], edit != NULL))
                status = sp__fail(SP_DECLINED,
                                  "the written file computes something else than the model, with an input of shape %s",
                                  shape);
    }
    for (int i = 0; i < 64; i++) {
        sp_tensor_release(in[i]);
        sp_tensor_release(want[i]);
        sp_tensor_release(found[i]);
    }
    return status;
}

/* Whole numbers are places in tables, or lengths of what other inputs hold. */
static bool takes_whole(const sp_model *m)
{
    for (int i = 0; i < m->n_inputs; i++) {
        const char kind = sp_dtype_kind(m->inputs[i].spec.dtype);
        if (kind == 'i' || kind == 'u') return true;
    }
    return false;
}

static int64_t longest(const sp_model *m, const sp_spec *specs)
{
    int64_t most = 1;
    for (int i = 0; i < m->n_inputs; i++)
        for (int k = 0; k < specs[i].rank; k++)
            if (m->inputs[i].spec.dims[k] < 0 && specs[i].dims[k] > most) most = specs[i].dims[k];
    return most;
}

static int64_t elements(const sp_model *m, int64_t most, const sp_spec *specs);

/* At sizes that are far from those of the recordings, where what is counted in steps of a hundred differs, and with one row, which spreads over others where it
 * meets them: as far as the model takes them. */
static sp_status verify_far(sp_model *m, way w, sp_model *written, const sp_model_edit *edit, sp_spec *specs)
{
    bool open, ran;
    int64_t left = FAR_TOGETHER;
    const clock_t begun = clock();
    const unsigned guesses[2] = {w.guess, 0}; /* axes that were guessed to be batches may have sizes of their own */
    for (int g = 0; g < (w.guess ? 2 : 1); g++)
        for (int base = 0; base < N_BASES; base++)
            for (int at = 0; at < 2 * STEPS; at++) {
                const int step = at / 2, k = at % 2 ? ONE_ROW : TRIALS;
                SP_TRY(choose(m, (way){base, step, guesses[g], false, w.one, w.axis, w.size}, k, specs, &open, NULL));
                const int64_t n = elements(m, FAR_ELEMENTS, specs);
                if (n > FAR_ELEMENTS || (n > FAR_FEW && n > left)) continue;
                if (step != w.step && clock() - begun > FAR_SECONDS * (clock_t)CLOCKS_PER_SEC) continue;
                left -= n > FAR_FEW ? n : 0;
                SP_TRY(compare_at(m, written, specs, 1, edit, &ran));
                if (takes_whole(m)) SP_TRY(compare_at(m, written, specs, longest(m, specs), edit, &ran));
            }
    return SP_OK;
}

/* At sizes of this way that no recording had, and of the others as far as the model takes them. */
static sp_status verify(sp_model *m, way w, const sp_model_edit *edit, const char *path, const sp_file_options *options)
{
    sp_model *written;
    sp_spec specs[64];
    bool open, ran;
    int n_ran = 0;
    if (m->n_outputs > 64 || sp_model_needs_items(m))
        return sp__fail(SP_DECLINED,
                        "what models with texts, sequences or more than 64 outputs give cannot be verified");
    SP_TRY(sp_model_load(path, options, &written));
    sp_status status = written->n_inputs == m->n_inputs && written->n_outputs == m->n_outputs
                           ? SP_OK
                           : sp__fail(SP_DECLINED, "the written file has other inputs or outputs");
    for (int step = 0; step < STEPS && status == SP_OK; step++)
        for (int k = TRIALS; k < TRIALS + (step == w.step ? CHECKS : 1) && status == SP_OK; k++) {
            status = choose(m, (way){w.base, step, w.guess, false, w.one, w.axis, w.size}, k, specs, &open, NULL);
            if (status == SP_OK) status = compare_at(m, written, specs, 1, edit, &ran);
            n_ran += status == SP_OK && ran;
        }
    if (status == SP_OK && n_ran == 0)
        status = sp__fail(
            SP_DECLINED,
            "the model takes no other sizes than those it was recorded with, so that the file could not be verified");
    if (status == SP_OK) status = verify_far(m, w, written, edit, specs);
    sp_model_release(written);
    return status;
}

/* --- writing ----------------------------------------------------------------------------------------------------- */

typedef struct {
    sp__arena arena;
    sp_model_names names;
    const sp_model_edit *edit; /* NULL: recordings are written as they are */
} faces;

static sp_status faces_of(const sp_model *m, int opset, faces *f)
{
    sp__arena *arena = &f->arena;
    int64_t n = sp_bundle_count(m->parameters);
    const char **inputs = sp__arena_alloc(arena, (size_t)(m->n_inputs + 1) * sizeof *inputs);
    const char **outputs = sp__arena_alloc(arena, (size_t)(m->n_outputs + 1) * sizeof *outputs);
    const char **names = sp__arena_alloc(arena, (size_t)(n + 1) * sizeof *names);
    sp_tensor **weights = sp__arena_alloc(arena, (size_t)(n + 1) * sizeof *weights);
    size_t n_notes = (size_t)sp_bundle_note_count(m->parameters) + 1;
    const char **keys = sp__arena_alloc(arena, n_notes * sizeof *keys),
               **texts = sp__arena_alloc(arena, n_notes * sizeof *texts);
    if (!inputs || !outputs || !names || !weights || !keys || !texts) return SP_NOMEM;
    for (int i = 0; i < m->n_inputs; i++) inputs[i] = m->inputs[i].name;
    for (int i = 0; i < m->n_outputs; i++) outputs[i] = m->outputs[i].name;
    for (int64_t i = 0; i < n; i++) {
        names[i] = sp_bundle_name_at(m->parameters, i);
        weights[i] = sp_bundle_tensor_at(m->parameters, i);
    }
    f->names = (sp_model_names){.n_inputs = m->n_inputs,
                                .inputs = inputs,
                                .n_parameters = (int)n,
                                .parameters = weights,
                                .parameter_names = names,
                                .n_outputs = outputs_differ(m) ? m->n_outputs : 0,
                                .outputs = outputs,
                                .axes = name_axes(arena, m),
                                .opset = opset,
                                .n_info = list_info(m, keys, texts),
                                .info_keys = keys,
                                .info = texts,
                                .form = m->form};
    return SP_OK;
}

static sp_status save_recorded(const sp_model *m, const recordings *r, const faces *f, const char *path,
                               const sp_file_options *options)
{
    sp_model_names all = f->names;
    (void)m;
    all.other = r->n > 1 ? r->f[1] : NULL;
    all.n_more = r->n > 2 ? r->n - 2 : 0;
    all.more = r->f + 2;
    return sp_model_save(path, r->f[0], &all, options);
}

/* What is written to be verified lies beside the file, under another name. */
static sp_status hidden_path(const char *path, char **out)
{
    sp__text t = {0};
    const char *dot = strrchr(path, '.'), *slash = strrchr(path, '/');
    const size_t stem = dot && (!slash || dot > slash) ? (size_t)(dot - path) : strlen(path);
    sp__text_put(&t, "%.*s.unverified%d%s", (int)stem, path, (int)getpid(), path + stem);
    return sp__text_take(&t, out);
}

static void remove_hidden(const char *path)
{
    sp__text t = {0};
    unlink(path);
    sp__text_put(&t, "%s.data", path); /* of ONNX, where weights lie beside */
    if (t.data) unlink(t.data);
    sp__free(t.data);
}

static sp_status convert_one_way(sp_model *m, way w, const faces *f, const char *path, const sp_file_options *options,
                                 bool *open, int *n_guesses)
{
    recordings r;
    char *hidden = NULL;
    SP_TRY(record_all(m, w, f->edit, &r, open, n_guesses));
    sp_status status = SP_OK;
    if (*open) {
        status = hidden_path(path, &hidden);
        if (status == SP_OK) status = save_recorded(m, &r, f, hidden, options);
        if (status == SP_OK) status = verify(m, w, f->edit, hidden, options);
        recordings_free(&r);
        if (hidden) remove_hidden(hidden);
        sp_text_free(hidden);
        if (status == SP_OK)
            status = record_all(m, w, f->edit, &r, open, n_guesses); /* writing changes what was recorded */
    }
    if (status == SP_OK) status = save_recorded(m, &r, f, path, options);
    recordings_free(&r);
    return status;
}

/* Elements of the largest input; more than most: most + 1. */
static int64_t elements(const sp_model *m, int64_t most, const sp_spec *specs)
{
    int64_t largest = 0;
    for (int i = 0; i < m->n_inputs; i++) {
        int64_t count = 1;
        for (int k = 0; k < specs[i].rank; k++)
            if (!sp__mul_i64(count, specs[i].dims[k], &count) || count > most) return most + 1;
        largest = count > largest ? count : largest;
    }
    return largest;
}

static bool can_record(const sp_model *m, way w, int which)
{
    sp_spec specs[64];
    sp_graph *g;
    sp_function *f;
    bool open;
    if (choose(m, w, which, specs, &open, NULL) != SP_OK || record_one(m, false, specs, NULL, &g, &f) != SP_OK)
        return false;
    sp_graph_release(g);
    return true;
}

/* A dimension that the file leaves open, or its batch, has one size in this way: does the model refuse all others, while it takes that? */
static bool takes_one_size(const sp_model *m, way w)
{
    for (int which = 0; which < TRIALS; which++)
        if (!can_record(m, w, which)) return false;
    for (int base = 0; base < N_BASES; base++)
        for (int step = 0; step < STEPS; step++)
            for (int which = 0; which < TRIALS; which++) {
                const way other = {.base = base, .step = step, .guess = w.guess};
                const bool same = w.axis != 0 && size_of(bases[base], step, w.axis, which) == w.size;
                if (!same && can_record(m, other, which)) return false;
            }
    return true;
}

/* Long sizes are those of sounds, which have few dimensions beside them. */
static bool is_too_large(const sp_model *m, way w)
{
    sp_spec specs[64];
    bool open;
    return w.base != 0 &&
           (choose(m, w, TRIALS - 1, specs, &open, NULL) != SP_OK || elements(m, FAR_ELEMENTS, specs) > FAR_ELEMENTS);
}

typedef struct {
    const faces *f;
    const char *path;
    const sp_file_options *options;
    bool open;
    int n_guesses, tries;
    sp_error first; /* the first sizes are the likeliest: their message is the one that is told */
} attempts;

/* *done: there is nothing more to try. */
static sp_status attempt(sp_model *m, way w, attempts *a, bool *done)
{
    sp_status status = SP_OK;
    *done = false;
    if (is_too_large(m, w) || ((w.one || w.axis != 0) && !takes_one_size(m, w))) return SP_DECLINED;
    for (int sized = 0; sized < 2 && !*done; sized++) {
        w.sized = sized != 0;
        status = convert_one_way(m, w, a->f, a->path, a->options, &a->open, &a->n_guesses);
        *done = status == SP_OK || status == SP_NOMEM || status == SP_IO || !a->open;
        if (!*done && !a->first.message[0]) sp_error_capture(status, &a->first);
    }
    return status;
}

static sp_status convert_all_ways(sp_model *m, const faces *f, const char *path, const sp_file_options *options)
{
    attempts a = {.f = f, .path = path, .options = options};
    bool done;
    SP_CHECK(m->n_inputs <= 64, SP_DECLINED, "the model has %d inputs, at most 64 are written", m->n_inputs);
    for (int base = 0; base < N_BASES; base++)
        for (unsigned guess = 0; guess < 1u << a.n_guesses; guess++)
            for (int step = 0; step < STEPS && a.tries < TRIES_MAX; step++, a.tries++) {
                const sp_status status = attempt(m, (way){.base = base, .step = step, .guess = guess}, &a, &done);
                if (done) return status;
            }
    for (int base = 0; base < N_BASES; base++) /* a model for single rows, whose file does not say so */
        for (int step = 0; step < STEPS; step++) {
            const sp_status status = attempt(m, (way){.base = base, .step = step, .one = true}, &a, &done);
            if (done) return status;
        }
    for (int axis = 1; axis <= GUESSES_MAX; axis++) /* or for pictures of one height */
        for (size_t k = 0; k < sizeof heights / sizeof *heights; k++)
            for (int step = 0; step < STEPS; step++) {
                const way w = {.step = step, .axis = axis, .size = heights[k]};
                const sp_status status = attempt(m, w, &a, &done);
                if (done) return status;
            }
    const sp_status status = sp_error_raise(&a.first);
    if (status == SP_SYMBOL) {
        sp__error_context("shapes depend on the contents of tensors, so the model is not one graph");
        return SP_DECLINED;
    }
    if (status == SP_DECLINED)
        sp__error_context("%s", "the file leaves sizes of inputs open (they can be given: --shape)");
    return status;
}

sp_status sp_model_convert(sp_model *m, const char *path, int opset, const sp_file_options *options)
{
    SP_CHECK(m && path, SP_VALUE, "m and path must not be NULL");
    SP_TRY(sp__model_check_opset(path, opset, options));
    return sp__model_convert_edited(m, path, opset, options, NULL);
}

/* The first sizes that the model can be recorded with. */
sp_status sp__model_record_any(sp_model *m, sp_graph **graph, sp_function **out)
{
    sp_spec specs[64];
    sp_error first = {0};
    bool open;
    int n_guesses = 0;
    SP_CHECK(m->n_inputs <= 64, SP_DECLINED, "the model has %d inputs, at most 64 are written", m->n_inputs);
    for (int base = 0; base < N_BASES; base++)
        for (unsigned guess = 0; guess < 1u << n_guesses; guess++) {
            SP_TRY(choose(m, (way){.base = base, .guess = guess}, 0, specs, &open, &n_guesses));
            const sp_status status = record_one(m, false, specs, NULL, graph, out);
            if (status == SP_OK || status == SP_NOMEM) return status;
            if (!first.message[0]) sp_error_capture(status, &first);
        }
    return sp_error_raise(&first);
}

sp_status sp__model_convert_edited(sp_model *m, const char *path, int opset, const sp_file_options *options,
                                   const sp_model_edit *edit)
{
    static const sp_file_options none = {0};
    faces f = {.edit = edit};
    sp_status status = faces_of(m, opset, &f);
    if (status == SP_OK) status = convert_all_ways(m, &f, path, options ? options : &none);
    sp__arena_free(&f.arena);
    return status;
}

/* --- work -------------------------------------------------------------------------------------------------------- */

static uint64_t count(const sp_meta *m, int from)
{
    uint64_t n = 1;
    for (int k = from; k < m->rank; k++) n *= m->dims[k] > 0 ? (uint64_t)m->dims[k] : 1;
    return n;
}

/* Of one node: every element of the result (or of what a gradient goes through) needs so many. */
static uint64_t node_work(const sp_node *n)
{
    if (n->op == &sp_op_matmul) {
        const sp_meta *x = &n->in[0]->meta;
        bool turned = *(const bool *)n->attrs && x->rank > 1;
        return count(&n->out[0]->meta, 0) * (uint64_t)(x->rank ? x->dims[turned ? x->rank - 2 : x->rank - 1] : 1);
    }
    if (n->op->family == SP_FAMILY_CONV_WEIGHT_GRAD) return count(&n->in[1]->meta, 0) * count(&n->out[0]->meta, 1);
    if (n->op->family == SP_FAMILY_CONV_INPUT_GRAD) return count(&n->in[0]->meta, 0) * count(&n->in[1]->meta, 1);
    if (n->op->family == SP_FAMILY_CONV || n->op->family == SP_FAMILY_CONV_BYTES)
        return count(&n->out[0]->meta, 0) * count(&n->in[1]->meta, 1);
    if (n->op == &sp_op_rnn_scan) return count(&n->in[0]->meta, 0) * (uint64_t)n->in[1]->meta.dims[1];
    return 0;
}

/* f and what it calls; a function that is already being counted is a loop. */
static uint64_t function_work(const sp_function *f, uint8_t *active)
{
    uint64_t sum = 0;
    active[f->id] = 1;
    for (const sp_node *n = f->first; n; n = n->next) {
        if (n->kind == SP_NODE_OP) sum += node_work(n);
        uint64_t most = 0, all = 0;
        for (int i = 0; i < n->n_in; i++) {
            if (!n->in[i] || n->in[i]->origin != SP_VALUE_FUNCTION || active[n->in[i]->target->id]) continue;
            uint64_t one = function_work(n->in[i]->target, active);
            most = one > most ? one : most;
            all += one;
        }
        sum += n->kind == SP_NODE_SWITCH ? most : all;
    }
    active[f->id] = 0;
    return sum;
}

sp_status sp_model_work(sp_model *m, const sp_spec *inputs, uint64_t *multiply_adds)
{
    SP_HANDLE(m);
    sp_spec specs[64];
    sp_graph *g;
    sp_function *f;
    bool open;
    SP_CHECK(m->n_inputs < 64, SP_DECLINED, "the model has %d inputs, at most 63 are counted", m->n_inputs);
    if (inputs) SP_TRY(sp__specs_check("input", m->n_inputs, inputs));
    if (inputs) memcpy(specs, inputs, (size_t)m->n_inputs * sizeof *specs);
    int n_guesses = 0;
    sp_status status = SP_OK;
    for (size_t at = 0; at < (size_t)N_BASES << n_guesses; at++) { /* the smallest sizes first */
        if (!inputs)
            SP_TRY(choose(m, (way){.base = N_BASES - 1 - (int)(at >> n_guesses), .guess = at & ((1u << n_guesses) - 1)},
                          0, specs, &open, &n_guesses));
        for (int i = 0; !inputs && i < m->n_inputs; i++)
            for (int k = 0; k < specs[i].rank; k++)
                if (m->inputs[i].spec.dims[k] < 0 && specs[i].dims[k] == rows_of[0]) specs[i].dims[k] = 1;
        status = sp__model_record(m, ((uint64_t)1 << m->n_inputs) - 1, m->n_inputs, specs, &g, &f);
        if (status == SP_OK || inputs || !open) break;
    }
    SP_TRY(status);
    uint8_t *active = sp__alloc_zero((size_t)g->n_functions + 1);
    *multiply_adds = active ? function_work(f, active) : 0;
    status = active ? SP_OK : SP_NOMEM;
    sp__free(active);
    sp_graph_release(g);
    return status;
}

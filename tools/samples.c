/* SPDX-License-Identifier: Apache-2.0 */
/* samples.c - samples for calibration: see samples.h.
 *
 * A file of arrays holds rows along the first axis, or one row without that axis; a picture is a row; a MindRecord data set has one a record. Rows are given in
 * batches of the size that the model wants, or of --batch where it leaves that open; what is left over at the end of a file is one smaller batch, or left out. */
#define _DEFAULT_SOURCE
#define _POSIX_C_SOURCE 200809L

#include "samples.h"

#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "spore/op.h"
#include "spore/transform.h"

static sp_status failed(const char *format, ...) __attribute__((format(printf, 1, 2)));
static sp_status failed(const char *format, ...)
{
    sp_error e = {.status = SP_VALUE};
    va_list args;
    va_start(args, format);
    vsnprintf(e.message, sizeof e.message, format, args);
    va_end(args);
    return sp_error_raise(&e);
}

/* --- what is there ----------------------------------------------------------------------------------------------- */

static int by_name(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static bool add_file(tool_samples *s, const char *folder, const char *name)
{
    char **more = realloc(s->files, (size_t)(s->n_files + 1) * sizeof *more);
    if (more == NULL) return false;
    s->files = more;
    const size_t room = strlen(folder) + strlen(name) + 2;
    char *path = malloc(room);
    if (path == NULL) return false;
    snprintf(path, room, "%s%s%s", folder, folder[0] != '\0' ? "/" : "", name);
    s->files[s->n_files++] = path;
    return true;
}

static int list_folder(tool_samples *s)
{
    DIR *d = opendir(s->path);
    if (d == NULL)
        return tool_complain(EXIT_FAILED, "quantize: --data: %s cannot be opened: %s", s->path, strerror(errno));
    bool fine = true;
    for (struct dirent *e; fine && (e = readdir(d)) != NULL;)
        if (e->d_name[0] != '.' && e->d_type != DT_DIR) fine = add_file(s, s->path, e->d_name);
    closedir(d);
    if (!fine) return tool_complain(EXIT_FAILED, "out of memory");
    if (s->n_files == 0) return tool_complain(EXIT_FAILED, "quantize: --data: there is no file in %s", s->path);
    qsort(s->files, (size_t)s->n_files, sizeof *s->files, by_name);
    return 0;
}

static bool is_number(const char *format) { return strcmp(format, "npy") == 0 || strcmp(format, "npz") == 0; }

/* Whole numbers, one a line. */
static int text_labels(tool_samples *s)
{
    FILE *f = tool_input_open("quantize", "--labels", s->labels);
    int64_t *v = NULL, n = 0, room = 0;
    char line[64], *end;
    int code = f != NULL ? 0 : EXIT_FAILED;
    while (code == 0 && fgets(line, sizeof line, f) != NULL) {
        if (n == room) {
            room = room ? 2 * room : 1024;
            int64_t *more = realloc(v, (size_t)room * sizeof *v);
            if (more == NULL) code = tool_complain(EXIT_FAILED, "out of memory");
            else v = more;
        }
        line[strcspn(line, "\r\n")] = '\0';
        if (code == 0 && line[0] != '\0') {
            v[n] = strtoll(line, &end, 10);
            if (end == line || *end != '\0')
                code =
                    tool_complain(EXIT_FAILED, "quantize: --labels: line %lld of %s is '%s', it must be a whole number",
                                  (long long)n + 1, s->labels, line);
            n++;
        }
    }
    if (f != NULL) fclose(f);
    if (code == 0 &&
        sp_tensor_create_from(SP_DTYPE_I64, 1, &n, v != NULL ? v : (int64_t[1]){0}, &s->all_labels) != SP_OK)
        code = tool_engine_failed("quantize");
    free(v);
    return code;
}

static int read_labels(tool_samples *s)
{
    struct stat st;
    if (s->labels == NULL || stat(s->labels, &st) != 0) return 0; /* a name in the data, then */
    if (sp_load(s->labels, NULL, &s->label_file) != SP_OK) return text_labels(s);
    if (sp_bundle_count(s->label_file) != 1 || !is_number(sp_format_name(sp_bundle_format(s->label_file))))
        return tool_complain(EXIT_FAILED, "quantize: --labels: %s must hold one array of whole numbers, or one a line",
                             s->labels);
    return sp_bundle_copy_at(s->label_file, 0, &s->all_labels) == SP_OK ? 0 : tool_engine_failed("quantize");
}

int tool_samples_open(tool_samples *s)
{
    struct stat st;
    if (sp_model_inputs(s->model) > 64)
        return tool_complain(EXIT_FAILED, "quantize: the model has %d inputs, at most 64 can be given",
                             sp_model_inputs(s->model));
    if (stat(s->path, &st) != 0)
        return tool_complain(EXIT_FAILED, "quantize: --data: %s cannot be opened: %s", s->path, strerror(errno));
    int code = read_labels(s);
    if (code != 0) return code;
    if (S_ISDIR(st.st_mode)) return list_folder(s);
    const size_t n = strlen(s->path);
    if (n > 11 && strcmp(s->path + n - 11, ".mindrecord") == 0)
        return sp_record_open(s->path, NULL, &s->record) == SP_OK ? 0 : tool_engine_failed("quantize");
    return add_file(s, "", s->path) ? 0 : tool_complain(EXIT_FAILED, "out of memory");
}

static void forget_file(tool_samples *s)
{
    for (int i = 0; i < 64; i++) {
        sp_tensor_release(s->in[i]);
        s->in[i] = NULL;
    }
    sp_tensor_release(s->label);
    s->label = NULL;
    s->row = s->n_rows = 0;
}

void tool_samples_close(tool_samples *s)
{
    forget_file(s);
    for (int i = 0; i < s->n_files; i++) free(s->files[i]);
    free(s->files);
    sp_record_release(s->record);
    sp_bundle_release(s->label_file);
    sp_tensor_release(s->all_labels);
}

/* --- files ------------------------------------------------------------------------------------------------------- */

/* As the input wants it: of its dtype, with an axis for rows. Owned by the builder. */
static sp_tensor *as_input(sp_builder *b, sp_tensor *t, const sp_spec *want)
{
    char text[256];
    snprintf(text, sizeof text, "dtype=%s", sp_dtype_name(want->dtype));
    if (sp_tensor_dtype(t) != want->dtype) t = sp_builder_call(b, "cast", text, 1, &t);
    if (t == NULL || sp_tensor_rank(t) != want->rank - 1) return t;
    int used = snprintf(text, sizeof text, "shape=(1,");
    for (int k = 0; k < sp_tensor_rank(t); k++)
        used += snprintf(text + used, sizeof text - (size_t)used, "%lld,", (long long)sp_tensor_dims(t)[k]);
    snprintf(text + used, sizeof text - (size_t)used, ")");
    return sp_builder_call(b, "reshape", text, 1, &t);
}

static sp_status take_arrays(tool_samples *s, sp_builder *b, const char *path)
{
    sp_bundle *all;
    const int n = sp_model_inputs(s->model);
    SP_TRY(sp_load(path, NULL, &all));
    sp_status status = is_number(sp_format_name(sp_bundle_format(all)))
                           ? SP_OK
                           : failed("%s is neither an array (.npy, .npz) nor a picture", path);
    for (int i = 0; i < n && status == SP_OK; i++) {
        int64_t at = sp_bundle_find(all, sp_model_input_name(s->model, i));
        for (int64_t k = 0; at < 0 && n == 1 && k < sp_bundle_count(all); k++) /* the one that is no label */
            if (s->labels == NULL || strcmp(sp_bundle_name_at(all, k), s->labels) != 0) at = at < -1 ? at : k;
        if (at < 0)
            status = failed("%s has no array '%s', which the model takes", path, sp_model_input_name(s->model, i));
        sp_tensor *t = NULL;
        if (status == SP_OK) status = sp_bundle_copy_at(all, at, &t);
        if (status == SP_OK &&
            (t = as_input(b, sp_builder_take_tensor(b, t), sp_model_input_spec(s->model, i))) == NULL)
            status = sp_builder_status(b);
        if (status == SP_OK) s->in[i] = sp_tensor_retain(t);
    }
    const int64_t label = s->labels != NULL && s->all_labels == NULL ? sp_bundle_find(all, s->labels) : -1;
    if (status == SP_OK && s->labels != NULL && s->all_labels == NULL && label < 0)
        status = failed("--labels: '%s' is neither a file nor an array of %s", s->labels, path);
    if (status == SP_OK && label >= 0) status = sp_bundle_copy_at(all, label, &s->label);
    sp_bundle_release(all);
    return status;
}

static sp_status open_file(tool_samples *s, const char *path)
{
    sp_builder *b;
    unsigned char *data;
    size_t bytes;
    sp_image_info info;
    SP_TRY(sp_builder_create(&b));
    sp_status status = SP_OK;
    if (tool_file_read("quantize", path, &data, &bytes) != 0) status = failed("%s cannot be read", path);
    if (status == SP_OK && sp_image_probe(data, bytes, &info) == SP_OK) {
        sp_tensor *t = NULL;
        if (sp_model_inputs(s->model) != 1)
            status = failed("%s is a picture, but the model has %d inputs: give .npz files", path,
                            sp_model_inputs(s->model));
        else if (tool_picture_make("quantize", &s->picture, b, path, data, bytes, sp_model_input_spec(s->model, 0),
                                   &t) != 0)
            status = failed("%s cannot be used", path);
        else s->in[0] = sp_tensor_retain(t);
    } else if (status == SP_OK) status = take_arrays(s, b, path);
    free(data);
    sp_builder_release(b);
    if (status == SP_OK) s->n_rows = sp_tensor_rank(s->in[0]) > 0 ? sp_tensor_dims(s->in[0])[0] : 1;
    return status;
}

/* --- MindRecord -------------------------------------------------------------------------------------------------- */

/* A value of a record as a tensor with an axis for rows. */
static sp_status value_tensor(tool_samples *s, sp_builder *b, const sp_record_value *v, const sp_spec *want,
                              sp_tensor **out)
{
    sp_tensor *t = NULL;
    const sp_dtype dtype = sp_record_type_dtype(v->type);
    if (v->type == SP_RECORD_BYTES) {
        if (tool_picture_make("quantize", &s->picture, b, "a record", v->data, v->bytes, want, &t) != 0)
            return failed("a record holds bytes that are no picture");
        *out = t;
        return SP_OK;
    }
    if (v->type == SP_RECORD_STRING) return failed("a column of texts cannot be an input");
    if (v->rank >= 0) SP_TRY(sp_tensor_create_from(dtype, v->rank, v->dims, v->data, &t));
    else if (sp_dtype_kind(dtype) == 'f') SP_TRY(sp_tensor_create_f64(dtype, v->f, &t));
    else SP_TRY(sp_tensor_create_i64(dtype, v->i, &t));
    *out = as_input(b, sp_builder_take_tensor(b, t), want);
    return *out != NULL ? SP_OK : sp_builder_status(b);
}

static const char *column_of(const tool_samples *s, int i)
{
    const char *name = sp_model_input_name(s->model, i);
    if (sp_record_field_find(s->record, name) >= 0 || sp_model_inputs(s->model) != 1) return name;
    const char *found = NULL;
    for (int k = 0; k < sp_record_field_count(s->record); k++) { /* the one that is no label */
        const sp_record_field *f = sp_record_field_at(s->record, k);
        if (s->labels != NULL && strcmp(f->name, s->labels) == 0) continue;
        if (f->rank < 0 && f->type != SP_RECORD_BYTES) continue;
        found = found == NULL ? f->name : "";
    }
    return found != NULL && found[0] != '\0' ? found : name;
}

/* The next records become the present file. */
static sp_status open_records(tool_samples *s, int64_t from, int64_t n)
{
    const char *columns[65];
    const int n_in = sp_model_inputs(s->model), n_columns = n_in + (s->labels != NULL && s->all_labels == NULL);
    sp_record_row *row = NULL;
    sp_builder *b;
    for (int i = 0; i < n_in; i++) columns[i] = column_of(s, i);
    columns[n_in] = s->labels;
    sp_tensor **parts = calloc((size_t)(n * n_in) + 1, sizeof *parts);
    int64_t *labels = calloc((size_t)n + 1, sizeof *labels);
    SP_TRY(sp_builder_create(&b));
    sp_status status =
        parts != NULL && labels != NULL ? sp_record_row_create(s->record, columns, n_columns, &row) : SP_NOMEM;
    for (int64_t r = 0; r < n && status == SP_OK; r++) {
        status = sp_record_read(s->record, from + r, row);
        const sp_record_value *values = status == SP_OK ? sp_record_row_values(row) : NULL;
        for (int i = 0; i < n_in && status == SP_OK; i++)
            status = value_tensor(s, b, &values[i], sp_model_input_spec(s->model, i), &parts[i * n + r]);
        if (status == SP_OK && n_columns > n_in) labels[r] = values[n_in].i;
    }
    for (int i = 0; i < n_in && status == SP_OK; i++) {
        sp_tensor *t = sp_builder_call(b, "concat", "axis=0", (int)n, parts + i * n);
        if (t == NULL) status = sp_builder_status(b);
        else s->in[i] = sp_tensor_retain(t);
    }
    if (status == SP_OK && n_columns > n_in) status = sp_tensor_create_from(SP_DTYPE_I64, 1, &n, labels, &s->label);
    if (status == SP_OK) s->n_rows = n;
    sp_record_row_release(row);
    sp_builder_release(b);
    free(parts);
    free(labels);
    return status;
}

/* --- batches ----------------------------------------------------------------------------------------------------- */

static int64_t rows_wanted(const tool_samples *s)
{
    const sp_spec *spec = sp_model_input_spec(s->model, 0);
    return spec->rank > 0 && spec->dims[0] >= 0 ? spec->dims[0] : s->batch;
}

static bool is_open(const tool_samples *s)
{
    return sp_model_input_spec(s->model, 0)->rank < 1 || sp_model_input_spec(s->model, 0)->dims[0] < 0;
}

static sp_status rows_of(sp_builder *b, sp_tensor *t, int64_t from, int64_t n, sp_tensor **out)
{
    char text[96];
    if (sp_tensor_rank(t) == 0 || (from == 0 && n == sp_tensor_dims(t)[0])) return sp_tensor_copy(t, out);
    snprintf(text, sizeof text, "start=(%lld,), stop=(%lld,)", (long long)from, (long long)(from + n));
    sp_tensor *part = sp_builder_call(b, "slice", text, 1, &t);
    return part != NULL ? sp_tensor_copy(part, out) : sp_builder_status(b);
}

static sp_status give(tool_samples *s, int64_t n, sp_tensor **in, sp_tensor **label)
{
    sp_builder *b;
    SP_TRY(sp_builder_create(&b));
    sp_status status = SP_OK;
    for (int i = 0; i < sp_model_inputs(s->model) && status == SP_OK; i++)
        status = rows_of(b, s->in[i], s->row, n, &in[i]);
    sp_tensor *all = s->all_labels != NULL ? s->all_labels : s->label, *part = NULL;
    const int64_t from = s->row + (s->all_labels != NULL ? s->first_row : 0);
    if (status == SP_OK && all != NULL && label != NULL) {
        if (sp_tensor_rank(all) != 1 || sp_tensor_dims(all)[0] < from + n)
            status = failed("there are fewer labels than rows of data");
        if (status == SP_OK) status = rows_of(b, all, from, n, &part);
        sp_tensor *wide = part != NULL ? sp_builder_call(b, "cast", "dtype=int64", 1, (sp_tensor *[]){part}) : NULL;
        if (status == SP_OK && wide == NULL) status = sp_builder_status(b);
        if (status == SP_OK) *label = sp_tensor_retain(wide);
        sp_tensor_release(part);
    }
    sp_builder_release(b);
    s->row += n;
    return status;
}

static sp_status next_file(tool_samples *s, bool *done)
{
    const int64_t passed = s->n_rows;
    s->first_row += passed;
    forget_file(s);
    if (s->record != NULL) {
        const int64_t left = sp_record_count(s->record) - s->first_row,
                      n = left < rows_wanted(s) ? left : rows_wanted(s);
        *done = n <= 0;
        return *done ? SP_OK : open_records(s, s->first_row, n);
    }
    *done = s->at_file == s->n_files;
    return *done ? SP_OK : open_file(s, s->files[s->at_file++]);
}

static sp_status sample(void *context, int64_t i, sp_tensor **in, sp_tensor **label, bool *done)
{
    tool_samples *s = context;
    if (i == 0) {
        forget_file(s);
        s->at_file = 0;
        s->first_row = s->n_given = 0;
    }
    *done = s->most > 0 && s->n_given >= s->most;
    for (;;) {
        const int64_t left = s->n_rows - s->row, want = rows_wanted(s);
        if (*done) return i > 0 && tool_picture_idle(&s->picture) ? failed(TOOL_PICTURE_IDLE) : SP_OK;
        if (left >= want || (left > 0 && is_open(s))) {
            s->n_given++;
            return give(s, left < want ? left : want, in, label);
        }
        if (left > 0 && s->row == 0) { /* a shape that does not fit: the engine tells */
            s->n_given++;
            return give(s, left, in, label);
        }
        SP_TRY(next_file(s, done));
    }
}

sp_quant_data tool_samples_data(tool_samples *s) { return (sp_quant_data){.sample = sample, .context = s}; }

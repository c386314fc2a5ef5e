/* SPDX-License-Identifier: Apache-2.0 */
/* preprocess.c - a picture's file to the tensor that a model takes: decode, resize, (crop), (swap colours), (invert), normalise, channels first.
 *
 * A value is (pixel * scale - mean) / std, which Normalize computes in one pass as (pixel - mean / scale) / (std / scale). */
#include "serve/preprocess.h"

#include <string.h>

#include "base/base.h"
#include "base/plain.h"
#include "spore/transform.h"

enum { STEPS_MAX = 8, CHANNELS_MAX = 3, SIDE_MAX = 16384 };

struct sp_preprocess {
    int input;
    bool gray, first; /* first: channels are the first axis of a picture */
    sp_dtype dtype;
    int rank; /* of the model's input: 4, or 3 where it has no axis of rows */
    int64_t h, w;
    int n_steps;
    sp_transform *steps[STEPS_MAX];
};

/* What the text says. */
typedef struct recipe {
    char input[128], color[8], fit[8], layout[8], interpolation[12];
    bool invert, sized;
    double size[2], scale;
    int n_mean, n_std;
    double mean[CHANNELS_MAX], std[CHANNELS_MAX];
} recipe;

/* --- the text ------------------------------------------------------------------------------------------------------ */

static sp_status word(const char *key, const char *value, const char *const *known, char *out, size_t room)
{
    char all[120] = "";
    for (int i = 0; known[i] != NULL; i++) {
        if (strcmp(value, known[i]) == 0) {
            sp__snprintf(out, room, "%s", value);
            return SP_OK;
        }
        sp__snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s", i > 0 ? ", " : "", known[i]);
    }
    return sp__fail(SP_VALUE, "%s is '%.32s', it must be one of %s", key, value, all);
}

/* Up to `most` numbers with blanks or x between. */
static sp_status numbers(const char *key, const char *value, double low, double high, int most, double *out, int *n)
{
    char copy[256]; /* with blanks for x, which would make 0x4 hexadecimal */
    const char *at = copy;
    sp__snprintf(copy, sizeof copy, "%s", value);
    for (char *p = copy; *p != '\0'; p++)
        if (*p == 'x') *p = ' ';
    for (*n = 0; *at != '\0'; ++*n) {
        char *end;
        SP_CHECK(*n < most, SP_VALUE, "%s has more than %d numbers: '%.64s'", key, most, value);
        out[*n] = sp__strtod(at, &end);
        SP_CHECK(end != at && out[*n] >= low && out[*n] <= high, SP_VALUE,
                 "%s is '%.64s', it must be numbers from %g to %g", key, value, low, high);
        at = end;
        while (*at == ' ') at++;
    }
    SP_CHECK(*n > 0, SP_VALUE, "%s is empty", key);
    return SP_OK;
}

static sp_status set(recipe *r, const char *key, const char *value)
{
    static const char *const colors[] = {"rgb", "bgr", "gray", NULL}, *const fits[] = {"stretch", "crop", NULL},
                             *const layouts[] = {"CHW", "HWC", NULL}, *const flags[] = {"true", "false", NULL},
                             *const inters[] = {"linear", "nearest", "cubic", "area", NULL};
    char flag[8];
    int n;
    if (strcmp(key, "input") == 0) {
        SP_CHECK(strlen(value) < sizeof r->input, SP_VALUE, "input has more than %zu bytes", sizeof r->input - 1);
        sp__snprintf(r->input, sizeof r->input, "%s", value);
        return SP_OK;
    }
    if (strcmp(key, "color") == 0) return word(key, value, colors, r->color, sizeof r->color);
    if (strcmp(key, "fit") == 0) return word(key, value, fits, r->fit, sizeof r->fit);
    if (strcmp(key, "layout") == 0) return word(key, value, layouts, r->layout, sizeof r->layout);
    if (strcmp(key, "interpolation") == 0) return word(key, value, inters, r->interpolation, sizeof r->interpolation);
    if (strcmp(key, "invert") == 0) {
        SP_TRY(word(key, value, flags, flag, sizeof flag));
        r->invert = flag[0] == 't';
        return SP_OK;
    }
    if (strcmp(key, "size") == 0) {
        SP_TRY(numbers(key, value, 1, SIDE_MAX, 2, r->size, &n));
        if (n == 1) r->size[1] = r->size[0];
        r->sized = true;
        return SP_OK;
    }
    if (strcmp(key, "scale") == 0) return numbers(key, value, 1e-6, 1e6, 1, &r->scale, &n);
    if (strcmp(key, "mean") == 0) return numbers(key, value, 0, 1e6, CHANNELS_MAX, r->mean, &r->n_mean);
    if (strcmp(key, "std") == 0) return numbers(key, value, 1e-6, 1e6, CHANNELS_MAX, r->std, &r->n_std);
    return sp__fail(
        SP_KEY,
        "'%.32s' is not known; there are: input, size, color, fit, interpolation, invert, scale, mean, std, layout",
        key);
}

static sp_status read_recipe(const char *text, recipe *r)
{
    *r = (recipe){.fit = "stretch", .interpolation = "linear", .scale = 1, .std = {1}};
    for (const char *at = text; *at != '\0';) {
        char part[256];
        const size_t n = strcspn(at, ",");
        SP_CHECK(n < sizeof part, SP_VALUE, "'%.64s...' has more than %zu bytes", at, sizeof part - 1);
        memcpy(part, at, n);
        part[n] = '\0';
        at += n + (at[n] == ',');
        char *key = part + strspn(part, " "), *equals = strchr(key, '=');
        SP_CHECK(equals != NULL && equals > key, SP_VALUE, "'%.64s' is not KEY=VALUE", part);
        *equals = '\0';
        SP_TRY(set(r, key, equals + 1 + strspn(equals + 1, " ")));
    }
    return SP_OK;
}

/* --- what it comes to for a model ---------------------------------------------------------------------------------- */

static sp_status find_input(const recipe *r, const sp_model *m, int *input)
{
    const int n = sp_model_inputs(m);
    SP_CHECK(n > 0, SP_VALUE, "the model has no input");
    for (int i = 0; i < n; i++)
        if (r->input[0] == '\0' || strcmp(r->input, sp_model_input_name(m, i)) == 0) {
            *input = i;
            return SP_OK;
        }
    return sp__fail(SP_KEY, "the model has no input '%s'; its first is '%s'", r->input, sp_model_input_name(m, 0));
}

static bool may_be_channels(int64_t d, const recipe *r)
{
    const int64_t wanted = r->color[0] == '\0' ? 0 : strcmp(r->color, "gray") == 0 ? 1 : 3;
    return wanted == 0 ? d == 1 || d == 3 : d == wanted || d < 0;
}

/* Where channels, rows and columns of a picture are. */
static sp_status find_layout(sp_preprocess *p, const recipe *r, const sp_spec *s, const char *name)
{
    const int from = s->rank - 3;
    SP_CHECK(s->rank == 3 || s->rank == 4, SP_VALUE, "input '%s' has %d dimensions; pictures need 3, or 4 with rows",
             name, s->rank);
    const int64_t *d = s->dims + from;
    p->rank = s->rank;
    p->first = r->layout[0] != '\0' ? r->layout[0] == 'C' : may_be_channels(d[0], r);
    const int64_t channels = p->first ? d[0] : d[2];
    SP_CHECK(
        may_be_channels(channels, r), SP_VALUE,
        "input '%s' has %lld channels where %s are wanted; layout (CHW or HWC) and color (rgb, bgr or gray) say how "
        "they lie",
        name, (long long)channels,
        r->color[0] == '\0'             ? "1 or 3"
        : strcmp(r->color, "gray") == 0 ? "1"
                                        : "3");
    p->gray = r->color[0] != '\0' ? strcmp(r->color, "gray") == 0 : channels == 1;
    const int64_t h = p->first ? d[1] : d[0], w = p->first ? d[2] : d[1];
    p->h = r->sized ? (int64_t)r->size[0] : h;
    p->w = r->sized ? (int64_t)r->size[1] : w;
    SP_CHECK(p->h > 0 && p->w > 0, SP_VALUE, "input '%s' leaves its size open; say it: size=HEIGHTxWIDTH", name);
    SP_CHECK((h < 0 || h == p->h) && (w < 0 || w == p->w), SP_VALUE, "size is %lldx%lld, input '%s' is %lldx%lld",
             (long long)p->h, (long long)p->w, name, (long long)h, (long long)w);
    return SP_OK;
}

static sp_status add(sp_preprocess *p, const char *name, int n, const sp_transform_arg *args)
{
    SP_TRY(sp_transform_create(name, n, args, 0, NULL, &p->steps[p->n_steps]));
    p->n_steps++;
    return SP_OK;
}

static sp_status add_resize(sp_preprocess *p, const recipe *r)
{
    const double inter = r->interpolation[0] == 'n'   ? SP_INTER_NEAREST
                         : r->interpolation[0] == 'c' ? SP_INTER_CUBIC
                         : r->interpolation[0] == 'a' ? SP_INTER_AREA
                                                      : SP_INTER_LINEAR;
    const double size[2] = {(double)p->h, (double)p->w}, larger = p->h > p->w ? size[0] : size[1];
    const bool crop = strcmp(r->fit, "crop") == 0;
    const sp_transform_arg resize[] = {{"size", crop ? 1 : 2, crop ? &larger : size}, {"interpolation", 1, &inter}},
                           centre[] = {{"size", 2, size}};
    SP_TRY(add(p, "Resize", 2, resize));
    return crop ? add(p, "CenterCrop", 1, centre) : SP_OK;
}

static sp_status add_values(sp_preprocess *p, const recipe *r)
{
    const bool plain = r->scale == 1 && r->n_mean == 0 && r->n_std == 0 && !r->invert;
    const int channels = p->gray ? 1 : 3;
    double mean[CHANNELS_MAX], std[CHANNELS_MAX];
    const double minus = -1, white = 255, reversed = 4; /* OpenCV's number of RGB to BGR */
    const sp_transform_arg turn[] = {{"rescale", 1, &minus}, {"shift", 1, &white}},
                           norm[] = {{"mean", channels, mean}, {"std", channels, std}},
                           swap[] = {{"convert_mode", 1, &reversed}};
    SP_CHECK(p->dtype == SP_DTYPE_F32 || plain, SP_VALUE,
             "scale, mean, std and invert are for inputs of float32; this one is %s", sp_dtype_name(p->dtype));
    SP_CHECK((r->n_mean <= 1 || r->n_mean == channels) && (r->n_std <= 1 || r->n_std == channels), SP_VALUE,
             "mean and std must have one number, or one for each of %d channels", channels);
    for (int k = 0; k < channels; k++) {
        mean[k] = r->mean[r->n_mean > 1 ? k : 0] / r->scale;
        std[k] = r->std[r->n_std > 1 ? k : 0] / r->scale;
    }
    if (strcmp(r->color, "bgr") == 0) SP_TRY(add(p, "ConvertColor", 1, swap));
    if (r->invert) SP_TRY(add(p, "Rescale", 2, turn));
    if (p->dtype == SP_DTYPE_F32) SP_TRY(add(p, "Normalize", 2, norm));
    return p->first ? add(p, "HWC2CHW", 0, NULL) : SP_OK;
}

static sp_status make(sp_preprocess *p, const char *text, const sp_model *m)
{
    recipe r;
    SP_TRY(read_recipe(text, &r));
    SP_TRY(find_input(&r, m, &p->input));
    const char *name = sp_model_input_name(m, p->input);
    const sp_spec *s = sp_model_input_spec(m, p->input);
    p->dtype = s->dtype;
    SP_CHECK(p->dtype == SP_DTYPE_F32 || p->dtype == SP_DTYPE_U8, SP_DECLINED,
             "input '%s' is %s; pictures are made into float32 and uint8", name, sp_dtype_name(p->dtype));
    SP_TRY(find_layout(p, &r, s, name));
    SP_TRY(add_resize(p, &r));
    return add_values(p, &r);
}

sp_status sp__preprocess_create(const char *text, const sp_model *m, sp_preprocess **out)
{
    sp_preprocess *p = sp__alloc_zero(sizeof *p);
    if (p == NULL) return SP_NOMEM;
    const sp_status status = make(p, text, m);
    if (status == SP_OK) *out = p;
    else {
        sp__error_context("preprocess");
        sp__preprocess_release(p);
    }
    return status;
}

void sp__preprocess_release(sp_preprocess *p)
{
    if (p == NULL) return;
    for (int i = 0; i < p->n_steps; i++) sp_transform_release(p->steps[i]);
    sp__free(p);
}

int sp__preprocess_input(const sp_preprocess *p) { return p->input; }

/* --- pictures ------------------------------------------------------------------------------------------------------ */

static sp_status one(const sp_preprocess *p, const void *file, size_t bytes, sp_tensor **out)
{
    sp_tensor *image = NULL;
    SP_TRY(sp_image_decode(file, bytes, p->gray ? SP_DECODE_GRAY : SP_DECODE_COLOR, &image));
    const sp_status status = sp_transform_run_all(p->n_steps, p->steps, NULL, 1, &image, 1, out, NULL);
    sp_tensor_release(image);
    return status;
}

sp_status sp__preprocess_run(const sp_preprocess *p, int n, const void *const *files, const size_t *bytes,
                             sp_tensor **out)
{
    const int64_t c = p->gray ? 1 : 3, dims[4] = {n, p->first ? c : p->h, p->first ? p->h : p->w, p->first ? p->w : c};
    sp_tensor *all = NULL;
    SP_CHECK(p->rank == 4 || n == 1, SP_VALUE, "there are %d pictures; the model takes one at a time", n);
    SP_TRY(sp_tensor_create(p->dtype, p->rank, dims + 4 - p->rank, &all));
    const size_t row = sp_tensor_bytes(all) / (size_t)n;
    sp_status status = SP_OK;
    for (int i = 0; i < n && status == SP_OK; i++) {
        sp_tensor *t = NULL;
        status = one(p, files[i], bytes[i], &t);
        if (status == SP_OK && (sp_tensor_dtype(t) != p->dtype || sp_tensor_bytes(t) != row))
            status = sp__fail(SP_RUNTIME, "the picture became %zu bytes of %s, not %zu of %s", sp_tensor_bytes(t),
                              sp_dtype_name(sp_tensor_dtype(t)), row, sp_dtype_name(p->dtype));
        if (status == SP_OK) memcpy((char *)sp_tensor_data(all) + (size_t)i * row, sp_tensor_data(t), row);
        else if (status == SP_RUNTIME || status == SP_FORMAT) sp__error_context("picture %d", i);
        sp_tensor_release(t);
    }
    if (status == SP_OK) *out = all;
    else sp_tensor_release(all);
    return status;
}

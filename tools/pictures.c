/* SPDX-License-Identifier: Apache-2.0 */
/* pictures.c - pictures as inputs of models, for the verbs that run them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "spore/op.h"
#include "spore/transform.h"
#include "tools.h"

int tool_file_read(const char *verb, const char *path, unsigned char **data, size_t *bytes)
{
    FILE *f = strcmp(path, "-") == 0 ? stdin : fopen(path, "rb");
    *data = NULL;
    *bytes = 0;
    if (f == NULL) return tool_complain(EXIT_FAILED, "%s: %s cannot be opened", verb, path);
    bool short_of_memory = false;
    for (size_t room = 0, n = 1; n > 0 && !short_of_memory;) {
        if (*bytes == room) {
            room = room ? 2 * room : 65536;
            unsigned char *more = realloc(*data, room);
            short_of_memory = more == NULL;
            if (short_of_memory) break;
            *data = more;
        }
        n = fread(*data + *bytes, 1, room - *bytes, f);
        *bytes += n;
    }
    const bool failed = ferror(f) != 0;
    if (f != stdin) fclose(f);
    if (!short_of_memory && !failed) return 0;
    free(*data); /* a part of a file is none */
    *data = NULL;
    return short_of_memory ? tool_complain(EXIT_FAILED, "out of memory")
                           : tool_complain(EXIT_FAILED, "%s: %s cannot be read", verb, path);
}

enum { CHANNELS_MAX = 16 };

/* "0.1,0.2,0.3"; how many there are, 0: it is something else. */
static int parse_channels(const char *text, float v[CHANNELS_MAX])
{
    for (int n = 0; n < CHANNELS_MAX; n++) {
        char *end;
        v[n] = strtof(text, &end);
        if (end == text || !(v[n] - v[n] == 0) || (*end != ',' && *end != '\0')) return 0;
        if (*end == '\0') return n + 1;
        text = end + 1;
    }
    return 0;
}

int tool_picture_check(const char *verb, const tool_picture *p)
{
    const struct {
        const char *name, *text;
    } lists[] = {{"--mean", p->mean}, {"--std", p->std}};
    float v[CHANNELS_MAX];
    double scale = 255;
    int n = 0;
    for (size_t i = 0; i < 2; i++)
        if (lists[i].text != NULL && (n = parse_channels(lists[i].text, v)) == 0)
            return tool_complain(
                EXIT_USAGE,
                "%s: %s is '%s', it must be a number, or one for each channel with commas between, at most %d", verb,
                lists[i].name, lists[i].text, CHANNELS_MAX);
    for (int k = 0; p->std != NULL && k < n; k++) /* v is of --std */
        if (v[k] == 0)
            return tool_complain(EXIT_USAGE, "%s: --std is '%s': pictures cannot be divided by 0", verb, p->std);
    return tool_number(verb, "--scale", p->scale, 1e-30, 1e30, &scale);
}

bool tool_picture_idle(const tool_picture *p)
{
    return !p->used && (p->mean != NULL || p->std != NULL || p->scale != NULL);
}

/* "0.1,0.2,0.3" as a tensor (1, n, 1, 1). */
static sp_tensor *channels(sp_builder *b, const char *text)
{
    float v[CHANNELS_MAX];
    int n = parse_channels(text, v);
    sp_tensor *t = NULL;
    if (n == 0 || sp_tensor_create_from(SP_DTYPE_F32, 4, (const int64_t[]){1, n, 1, 1}, v, &t) != SP_OK) return NULL;
    return sp_builder_take_tensor(b, t);
}

int tool_picture_make(const char *verb, tool_picture *p, sp_builder *b, const char *path, const unsigned char *data,
                      size_t bytes, const sp_spec *want, sp_tensor **out)
{
    sp_tensor *image = NULL, *x;
    bool last =
        want->rank == 4 && (want->dims[3] == 1 || want->dims[3] == 3) && want->dims[1] != 1 && want->dims[1] != 3;
    int64_t c = want->rank == 4 ? want->dims[last ? 3 : 1] : 3, h = want->rank == 4 ? want->dims[last ? 1 : 2] : -1,
            w = want->rank == 4 ? want->dims[last ? 2 : 3] : -1;
    if (want->rank != 4)
        return tool_complain(EXIT_FAILED, "%s: %s is a picture, but the input has rank %d instead of 4; give an array",
                             verb, path, want->rank);
    if (sp_image_decode(data, bytes, c == 1 ? SP_DECODE_GRAY : SP_DECODE_COLOR, &image) != SP_OK)
        return tool_engine_failed(verb);
    x = sp_builder_take_tensor(b, image);
    x = sp_builder_call(b, "transpose", "perm=(2,0,1)", 1, &x);
    char text[96];
    if (x != NULL) {
        const int64_t *d = sp_tensor_dims(x);
        snprintf(text, sizeof text, "shape=(1,%lld,%lld,%lld)", (long long)d[0], (long long)d[1], (long long)d[2]);
        if (h < 0) h = d[1];
        if (w < 0) w = d[2];
        x = sp_builder_call(b, "reshape", text, 1, &x);
    }
    x = x != NULL ? sp_builder_call(b, "cast", "dtype=float32", 1, &x) : NULL;
    snprintf(text, sizeof text, "size=(%lld,%lld), mode=linear", (long long)h, (long long)w);
    if (x != NULL && (sp_tensor_dims(x)[2] != h || sp_tensor_dims(x)[3] != w))
        x = sp_builder_call(b, "resize", text, 1, &x);
    if (x != NULL && sp_dtype_kind(want->dtype) == 'f') {
        p->used = true;
        sp_tensor *scale = channels(b, p->scale != NULL ? p->scale : "255"),
                  *mean = p->mean != NULL ? channels(b, p->mean) : NULL,
                  *std = p->std != NULL ? channels(b, p->std) : NULL;
        x = sp_builder_call(b, "div", "", 2, (sp_tensor *[]){x, scale});
        if (mean != NULL) x = sp_builder_call(b, "sub", "", 2, (sp_tensor *[]){x, mean});
        if (std != NULL) x = sp_builder_call(b, "div", "", 2, (sp_tensor *[]){x, std});
    }
    if (last && x != NULL) x = sp_builder_call(b, "transpose", "perm=(0,2,3,1)", 1, &x);
    snprintf(text, sizeof text, "dtype=%s", sp_dtype_name(want->dtype));
    *out = x != NULL ? sp_builder_call(b, "cast", text, 1, &x) : NULL;
    return *out != NULL ? 0 : tool_engine_failed(verb);
}

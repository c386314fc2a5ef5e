/* SPDX-License-Identifier: Apache-2.0 */
/* kinds.c - which operators a model consists of. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools.h"

bool tool_holds_model(const sp_bundle *bundle)
{
    const char *format = sp_format_name(sp_bundle_format(bundle));
    return strcmp(format, "onnx") == 0 || strcmp(format, "mindir") == 0 || strcmp(format, "tflite") == 0 ||
           strcmp(format, "lite") == 0;
}

static int more_first(const void *a, const void *b)
{
    const tool_kind *x = a, *y = b;
    return x->n != y->n ? y->n - x->n : strcmp(x->type, y->type);
}

int tool_kinds(const sp_model *m, tool_kind *kinds, int room)
{
    int n = 0;
    for (int i = 0; i < sp_model_nodes(m); i++) {
        const char *type = sp_model_node_at(m, i)->type;
        int k = 0;
        while (k < n && strcmp(kinds[k].type, type) != 0) k++;
        if (k == room) continue;
        if (k == n) kinds[n++] = (tool_kind){type, 0};
        kinds[k].n++;
    }
    qsort(kinds, (size_t)n, sizeof *kinds, more_first);
    return n;
}

const char *tool_face_shape(const sp_model *m, bool inputs, int i, char *out, size_t room)
{
    const sp_spec *s = inputs ? sp_model_input_spec(m, i) : sp_model_output_spec(m, i);
    size_t n = (size_t)snprintf(out, room, "(");
    for (int k = 0; k < s->rank && n < room; k++) {
        char plain[64];
        const char *name = s->dims[k] >= 0 ? "" : inputs ? sp_model_input_axis(m, i, k) : sp_model_output_axis(m, i, k);
        n += (size_t)snprintf(out + n, room - n, "%s", k > 0 ? ", " : "");
        if (n < room && name[0] != '\0')
            n += (size_t)snprintf(out + n, room - n, "%s", tool_plain(name, plain, sizeof plain));
        else if (n < room) n += (size_t)snprintf(out + n, room - n, "%lld", (long long)s->dims[k]);
    }
    if (n < room) snprintf(out + n, room - n, s->rank == 1 ? ",)" : ")");
    return out;
}

int tool_set_shape(const char *verb, sp_model *m, const char *text)
{
    char name[256];
    const char *at = strrchr(text, '=');
    int64_t dims[SP_RANK_MAX];
    int rank = 0;
    if (at == NULL || at == text || (size_t)(at - text) >= sizeof name)
        return tool_complain(EXIT_USAGE, "%s: --shape wants NAME=SIZE,SIZE..., but got '%s'", verb, text);
    snprintf(name, sizeof name, "%.*s", (int)(at - text), text);
    for (at++; *at != '\0'; rank++) {
        char *end;
        long long size = strtoll(at, &end, 10);
        if (end == at || size < 0 || (*end != '\0' && *end != ',') || rank == SP_RANK_MAX)
            return tool_complain(EXIT_USAGE, "%s: --shape: '%s' is no list of sizes", verb, strrchr(text, '=') + 1);
        dims[rank] = size;
        at = *end == ',' ? end + 1 : end;
    }
    return sp_model_set_input_shape(m, name, rank, dims) == SP_OK ? 0 : tool_engine_failed(verb);
}

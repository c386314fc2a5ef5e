/* SPDX-License-Identifier: Apache-2.0 */
/* kinds.c - which operators a model consists of. */
#include <stdlib.h>
#include <string.h>

#include "tools.h"

bool tool_holds_model(const sp_bundle *bundle)
{
    const char *format = sp_format_name(sp_bundle_format(bundle));
    return strcmp(format, "onnx") == 0 || strcmp(format, "mindir") == 0 || strcmp(format, "tflite") == 0;
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

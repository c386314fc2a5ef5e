/* SPDX-License-Identifier: Apache-2.0 */
/* size.c - sizes of symbols as numbers of the run: values of the graph, of which files that leave sizes open are made. */
#include <string.h>

#include "ir/graph_impl.h"

static sp_status size_run(void *context, int n_in, sp_tensor *const *in, int n_out, sp_tensor **out)
{
    const int axis = *(const int *)context;
    (void)n_in, (void)n_out;
    SP_CHECK(axis < in[0]->rank, SP_VALUE, "dimension %d of a tensor of rank %d is asked for", axis, in[0]->rank);
    const int64_t none = 0;
    return sp_tensor_create_from(SP_DTYPE_I64, 0, &none, &in[0]->dims[axis], out);
}

sp_status sp__function_size(sp_tensor *t, int axis, sp_tensor **out)
{
    const sp_spec spec = {.dtype = SP_DTYPE_I64, .rank = 0};
    SP_CHECK(axis >= 0 && axis < t->rank, SP_VALUE, "dimension %d of a tensor of rank %d is asked for", axis, t->rank);
    int *context = sp__alloc(sizeof *context);
    if (!context) return SP_NOMEM;
    *context = axis;
    sp_status status = sp__function_host(SP_HOST_SIZE, size_run, sp__free, context, true, 1, &t, 1, &spec, out);
    if (status != SP_OK) sp__free(context);
    return status;
}

bool sp__node_is_size(const sp_node *n, int *axis)
{
    if (n->kind != SP_NODE_HOST || n->host->run != size_run) return false;
    *axis = *(const int *)n->host->context;
    return true;
}

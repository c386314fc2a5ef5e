/* SPDX-License-Identifier: Apache-2.0 */
/* mindir_record.c - see mindir_record.h. */
#include "formats/mindir/mindir_record.h"

#include "ir/graph_impl.h"

sp_function *sp__mindir_record_into(sp_function *f)
{
    sp_function *before = sp__recorder;
    sp__recorder = f;
    return before;
}

sp_graph *sp__mindir_graph(const sp_function *f) { return f->graph; }

void sp__mindir_mark_function(sp_tensor *symbol) { symbol->symbol->is_function = true; }

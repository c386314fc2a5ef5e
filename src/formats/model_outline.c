/* SPDX-License-Identifier: Apache-2.0 */
/* model_outline.c - what lists of nodes for people and tools are made with: names put together, nodes appended, limits. */
#include <stdio.h>
#include <string.h>

#include "formats/model_impl.h"
#include "ir/graph_impl.h"

enum { NODES_MAX = 200000, DEPTH_MAX = 32 };

const char *sp__outline_join(sp__outline *o, const char *outer, const char *inner)
{
    size_t room = strlen(outer) + strlen(inner) + 2;
    char *text = sp__arena_alloc(&o->m->arena, room);
    if (text != NULL) snprintf(text, room, "%s%s%s", outer, outer[0] && inner[0] ? "/" : "", inner);
    return text;
}

sp_status sp__outline_append(sp__outline *o, sp_model_node node)
{
    if (o->m->n_nodes == o->room) {
        int room = o->room > 0 ? 2 * o->room : 64;
        sp_model_node *more = sp__arena_alloc(&o->m->arena, (size_t)room * sizeof *more);
        if (more == NULL) return SP_NOMEM;
        if (o->m->n_nodes > 0) memcpy(more, o->m->nodes, (size_t)o->m->n_nodes * sizeof *more);
        o->m->nodes = more;
        o->room = room;
    }
    o->m->nodes[o->m->n_nodes++] = node;
    return SP_OK;
}

bool sp__outline_open(const sp__outline *o, int depth) { return depth < DEPTH_MAX && o->m->n_nodes < NODES_MAX; }

/* --- nodes of the file behind operators --------------------------------------------------------------------------- */

_Thread_local sp__arena *sp__model_places;

const sp_place *sp__model_node_enter(const char *name, const char *op)
{
    const sp_place *before = sp__place;
    if (sp__model_places == NULL) return before;
    sp_place *p = sp__arena_alloc(sp__model_places, sizeof *p);
    if (p == NULL) return before; /* a name less in a message */
    p->text = name != NULL && name[0] != '\0' ? name : op;
    p->up = before;
    sp__place = p;
    return before;
}

void sp__model_node_leave(const sp_place *before)
{
    if (sp__model_places != NULL) sp__place = before;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* used.c - names of what is used, while somebody watches. */
#include "base/used.h"

#include <string.h>

#include "base/base.h"
#include "base/lock.h"

typedef struct used_name {
    struct used_name *next; /* in the order of the alphabet */
    char text[];
} used_name;

atomic_bool sp__used_flag;
static sp_lock lock = SP_LOCK_INIT;
static used_name *names[SP_USED_KINDS];
static uint32_t dtypes;
static bool failed; /* a name found no memory */

sp_status sp__used_begin(void)
{
    sp__lock(&lock);
    const bool busy = sp__used_watched();
    if (!busy) {
        dtypes = 0;
        failed = false;
        atomic_store(&sp__used_flag, true);
    }
    sp__unlock(&lock);
    SP_CHECK(!busy, SP_RUNTIME, "what models need is being looked at by another thread");
    return SP_OK;
}

void sp__used_end(void)
{
    sp__lock(&lock);
    atomic_store(&sp__used_flag, false);
    for (int kind = 0; kind < SP_USED_KINDS; kind++)
        for (used_name *n = names[kind], *next; n; n = next) {
            next = n->next;
            sp__free(n);
        }
    memset(names, 0, sizeof names);
    sp__unlock(&lock);
}

void sp__used_note(sp_used_kind kind, const char *name)
{
    const size_t bytes = strlen(name) + 1;
    sp__lock(&lock);
    used_name **at = &names[kind];
    while (*at && strcmp((*at)->text, name) < 0) at = &(*at)->next;
    if (sp__used_watched() && (!*at || strcmp((*at)->text, name) != 0)) {
        used_name *n = sp__alloc(sizeof *n + bytes);
        if (n) {
            memcpy(n->text, name, bytes);
            n->next = *at;
            *at = n;
        } else {
            failed = true;
        }
    }
    sp__unlock(&lock);
}

void sp__used_note_dtype(int dtype)
{
    sp__lock(&lock);
    if (dtype >= 0 && dtype < 32) dtypes |= 1u << dtype;
    sp__unlock(&lock);
}

sp_status sp__used_list(sp_used_kind kind, const char *between, sp__text *out)
{
    sp__lock(&lock);
    for (const used_name *n = names[kind]; n; n = n->next)
        sp__text_put(out, "%s%s", n == names[kind] ? "" : between, n->text);
    const bool lost = failed;
    sp__unlock(&lock);
    SP_CHECK(!lost, SP_NOMEM, "out of memory while the names of what models need were kept");
    return SP_OK;
}

uint32_t sp__used_dtypes(void)
{
    sp__lock(&lock);
    const uint32_t found = dtypes;
    sp__unlock(&lock);
    return found;
}

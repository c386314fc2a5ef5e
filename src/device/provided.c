/* SPDX-License-Identifier: Apache-2.0 */
/* provided.c - shared libraries that offer kernels: opening them, and their kernels behind the engine's interface.
 *
 * An operator has one entry for all provided kernels; which of them takes a call is found again when it runs, by the same question with the same
 * answer. Lists only grow, at their front, and are never freed: whoever reads one may go on reading it. */
#include "device/provided.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/lock.h"
#include "base/plain.h"
#include "ir/op_count.h"
#include "spore/provider.h"

typedef struct provided {
    const sp_provider_kernel *kernel;
    const struct provided *next;
} provided;

typedef struct opened {
    const sp_provider *provider;
    void *library;
    struct opened *next;
} opened;

static sp_lock lock = SP_LOCK_INIT;
static sp_once start_once = SP_ONCE_INIT;
static opened *all;
static const provided *_Atomic first[SP_OPS_MAX]; /* by operator */
static sp_kernel_entry entries[SP_OPS_MAX];       /* likewise; complete before `first` says that there is one */

/* --- calls ------------------------------------------------------------------------------------------------------- */

typedef struct {
    sp_provider_call call;
    sp_provider_operand operands[SP_IN_MAX + SP_OUT_MAX];
} call_room;

static sp_provider_operand operand(const sp_tensor *t)
{
    return t ? (sp_provider_operand){.dtype = (sp_dtype)t->dtype, .rank = t->rank, .dims = t->dims, .data = t->data}
             : (sp_provider_operand){.dtype = SP_DTYPE_NONE, .rank = -1};
}

/* NULL: more operands than fit. Addresses are hidden from questions, which are about geometry. */
static const sp_provider_call *call_of(const sp_call *c, bool runs, call_room *r)
{
    if (c->n_in > SP_IN_MAX || c->n_out > SP_OUT_MAX) return NULL;
    size_t bytes;
    r->call = (sp_provider_call){.struct_size = sizeof r->call,
                                 .op = c->op->name,
                                 .attrs = c->attrs,
                                 .n_in = c->n_in,
                                 .n_out = c->n_out,
                                 .in = r->operands,
                                 .out = r->operands + c->n_in,
                                 .work = c->work};
    r->call.n_attrs = sp_op_attrs(c->op, &r->call.attr_table, &bytes);
    for (int i = 0; i < c->n_in; i++) r->operands[i] = operand(c->in[i]);
    for (int i = 0; i < c->n_out; i++) r->operands[c->n_in + i] = operand(c->out[i]);
    for (int i = 0; !runs && i < c->n_in + c->n_out; i++) r->operands[i].data = NULL;
    return &r->call;
}

/* The first that takes the call, from `at` on. */
static const provided *find(const provided *at, const sp_provider_call *call)
{
    while (at && at->kernel->takes && !at->kernel->takes(call)) at = at->next;
    return at;
}

static const provided *list_of(const sp_call *c)
{
    return atomic_load_explicit(&first[sp__op_id(c->op)], memory_order_acquire);
}

static bool takes(const sp_call *c)
{
    call_room r;
    const sp_provider_call *call = call_of(c, false, &r);
    sp__section_begin(); /* providers and their libraries have locks of their own */
    const bool found = call && find(list_of(c), call);
    sp__section_end();
    return found;
}

static size_t workspace(const sp_call *c)
{
    call_room r;
    const sp_provider_call *call = call_of(c, false, &r);
    size_t most = 0; /* of all: one that declines late leaves its scratch to the next */
    sp__section_begin();
    for (const provided *p = call ? find(list_of(c), call) : NULL; p; p = find(p->next, call)) {
        size_t bytes = p->kernel->workspace ? p->kernel->workspace(call) : 0;
        most = bytes > most ? bytes : most;
    }
    sp__section_end();
    return most;
}

static sp_status run(const sp_call *c)
{
    call_room ask, r;
    const sp_provider_call *question = call_of(c, false, &ask), *call = call_of(c, true, &r);
    sp_status status = SP_DECLINED;
    sp__section_begin();
    const provided *p = question ? find(list_of(c), question) : NULL;
    for (; p && status == SP_DECLINED; p = find(p->next, question)) status = p->kernel->run(call);
    sp__section_end();
    return status != SP_DECLINED ? status : sp__dispatch_own(c);
}

/* --- opening ----------------------------------------------------------------------------------------------------- */

static sp_status host_fail(sp_status status, const char *message) { return sp__fail(status, "%s", message); }

static const sp_provider_host host = {
    .struct_size = sizeof host, .threads = sp_threads, .parallel_for = sp__parallel_for, .fail = host_fail};

static sp_status check(const char *path, const sp_provider *p)
{
    SP_CHECK(p->version == SP_PROVIDER_VERSION, SP_VALUE,
             "%s: made for version %d of the provider interface, wanted %d", path, p->version, SP_PROVIDER_VERSION);
    SP_CHECK(p->struct_size >= sizeof *p && p->name && (p->n_kernels == 0 || p->kernels), SP_VALUE,
             "%s: its list of kernels is not complete", path);
    for (int i = 0; i < p->n_kernels; i++) {
        const sp_provider_kernel *k = &p->kernels[i];
        SP_CHECK(k->op && k->run && k->name, SP_VALUE, "%s: kernel %d of %s has no operator, name or function", path, i,
                 p->name);
        SP_CHECK(sp_op_find(k->op), SP_VALUE, "%s: kernel %s is for an operator '%s', and there is none", path, k->name,
                 k->op);
    }
    return SP_OK;
}

/* Kernels in front of those that are there, in their order. */
static sp_status add(const sp_provider *p)
{
    provided *room = sp__alloc((size_t)(p->n_kernels + 1) * sizeof *room);
    if (!room) return SP_NOMEM;
    for (int i = p->n_kernels - 1; i >= 0; i--) {
        const int id = sp__op_id(sp_op_find(p->kernels[i].op));
        room[i] = (provided){.kernel = &p->kernels[i], .next = atomic_load(&first[id])};
        if (!entries[id].run)
            entries[id] = (sp_kernel_entry){
                .op = p->kernels[i].op, .name = "provider", .run = run, .workspace = workspace, .takes = takes};
        atomic_store_explicit(&first[id], &room[i], memory_order_release);
    }
    return SP_OK;
}

static sp_status open_library(const char *path, void *library)
{
    for (opened *o = all; o; o = o->next)
        if (o->library == library) return SP_OK;
    sp_provider_open_fn *start;
    void *symbol = dlsym(library, "sp_provider_open");
    memcpy(&start, &symbol, sizeof start);
    SP_CHECK(symbol, SP_VALUE, "%s: exports no function sp_provider_open, so it is no provider of kernels", path);
    sp_status refused =
        sp__fail(SP_RUNTIME, "the provider cannot work on this machine"); /* unless it says more itself */
    const sp_provider *p = start(&host);
    if (!p) {
        sp__error_context("%s", path);
        return refused;
    }
    SP_TRY(check(path, p));
    opened *o = sp__alloc(sizeof *o);
    if (!o) return SP_NOMEM;
    const sp_status status = add(p);
    if (status != SP_OK) {
        sp__free(o);
        return status;
    }
    *o = (opened){.provider = p, .library = library, .next = all};
    all = o;
    return SP_OK;
}

static sp_status load(const char *path)
{
    sp__section_begin(); /* the loader has a lock that fork does not know */
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    sp__lock(&lock);
    sp_status status =
        library ? open_library(path, library) : sp__fail(SP_IO, "cannot open the provider %s", sp__dlerror());
    sp__unlock(&lock);
    if (library && status != SP_OK) dlclose(library);
    sp__section_end();
    return status;
}

/* What the environment names. A failure is told and costs the kernels of that library only. */
static void start(void)
{
    const char *list = getenv("SPORE_PROVIDERS");
    while (list && *list) {
        const size_t n = strcspn(list, ":");
        char path[4096];
        if (n > 0 && n < sizeof path) {
            memcpy(path, list, n);
            path[n] = '\0';
            if (load(path) != SP_OK) fprintf(stderr, "spore: SPORE_PROVIDERS: %s\n", sp_error_message());
        }
        list += n + (list[n] == ':');
    }
}

sp_status sp_provider_load(const char *path)
{
    SP_CHECK(path && *path, SP_VALUE, "no path of a provider was given");
    sp__once(&start_once, start);
    return load(path);
}

/* --- lists ------------------------------------------------------------------------------------------------------- */

const sp_kernel_entry *sp__provider_entry(int id)
{
    sp__once(&start_once, start);
    return atomic_load_explicit(&first[id], memory_order_acquire) ? &entries[id] : NULL;
}

static size_t append(char *text, size_t bytes, size_t used, int found, const char *name)
{
    return used < bytes ? used + (size_t)snprintf(text + used, bytes - used, "%s%s", found ? ", " : "", name) : used;
}

int sp__provider_kernels(const sp_op *op, char *text, size_t bytes)
{
    int found = 0;
    size_t used = 0;
    if (bytes) text[0] = '\0';
    if (!sp__provider_entry(sp__op_id(op))) return 0;
    for (const provided *p = atomic_load(&first[sp__op_id(op)]); p; p = p->next)
        used = append(text, bytes, used, found++, p->kernel->name);
    return found;
}

int sp_provider_names(char *text, size_t bytes)
{
    int found = 0;
    size_t used = 0;
    sp__once(&start_once, start);
    if (bytes) text[0] = '\0';
    sp__lock(&lock);
    for (const opened *o = all; o; o = o->next) used = append(text, bytes, used, found++, o->provider->name);
    sp__unlock(&lock);
    return found;
}

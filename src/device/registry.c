/* SPDX-License-Identifier: Apache-2.0 */
/* registry.c - kinds of devices, and those that are open. Both lists only grow. */
#include <dirent.h>
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/own_folder.h"
#include "base/plain.h"
#include "device/devices.h"

typedef struct kind {
    sp_device_table table; /* a copy: what the device's own version does not know is NULL */
    void *library;         /* NULL: built in */
} kind;

static sp_lock lock = SP_LOCK_INIT;
static sp_once start_once = SP_ONCE_INIT;
static kind kinds[SP_DEVICES_MAX];
static int n_kinds;
static sp_device *open_devices[SP_DEVICES_MAX];
static int n_open;
static sp_device *_Atomic default_device;

static sp_status host_fail(sp_status status, const char *message) { return sp__fail(status, "%s", message); }

static const sp_device_host host = {.struct_size = sizeof host,
                                    .threads = sp_threads,
                                    .parallel_for = sp__parallel_for,
                                    .fail = host_fail,
                                    .message = sp_error_message,
                                    .run_on_cpu = sp__device_call_on_cpu};

/* --- kinds ------------------------------------------------------------------------------------------------------- */

static bool good_name(const char *name)
{
    size_t n = name ? strlen(name) : 0;
    if (n == 0 || n > 31 || strcmp(name, "cpu") == 0) return false;
    return strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_") == n;
}

static sp_status check(const char *path, const sp_device_table *t)
{
    SP_CHECK(t->version >= 1 && t->version <= SP_DEVICE_VERSION, SP_VALUE,
             "%s: made for version %d of the device interface, wanted 1 to %d", path, t->version, SP_DEVICE_VERSION);
    const size_t least = t->version == 1 ? offsetof(sp_device_table, costs) : sizeof *t;
    SP_CHECK(t->struct_size >= least, SP_VALUE, "%s: its table has %zu bytes, wanted %zu at least", path,
             t->struct_size, least);
    SP_CHECK(good_name(t->name), SP_VALUE,
             "%s: a device needs a name of lower case letters, digits and '_', at most 31, and not 'cpu'; found '%s'",
             path, t->name ? t->name : "");
    SP_CHECK(t->count && t->open && t->describe && t->alloc && t->free && t->copy_in && t->copy_out && t->copy &&
                 t->wait,
             SP_VALUE, "%s: the table of device '%s' lacks a function", path, t->name);
    const bool streams = t->version > 1 && t->stream_open;
    SP_CHECK(!streams || (t->stream_close && t->stream_copy_in && t->stream_copy_out && t->stream_copy &&
                          t->stream_wait && t->event_open && t->event_close && t->event_record && t->event_follow &&
                          t->event_wait && t->event_query),
             SP_VALUE, "%s: device '%s' has stream_open, so it needs the other functions of streams and events, too",
             path, t->name);
    SP_CHECK(t->n_kernels == 0 || t->kernels, SP_VALUE, "%s: device '%s' has no list of its %d kernels", path, t->name,
             t->n_kernels);
    for (int i = 0; i < t->n_kernels; i++) {
        const sp_device_kernel *k = &t->kernels[i];
        SP_CHECK(k->op && k->name && k->run, SP_VALUE, "%s: kernel %d of device '%s' has no operator, name or function",
                 path, i, t->name);
        SP_CHECK(strcmp(k->op, "*") == 0 || sp_op_find(k->op), SP_VALUE,
                 "%s: kernel %s of device '%s' is for an operator '%s', and there is none", path, k->name, t->name,
                 k->op);
    }
    return SP_OK;
}

/* Under the lock. */
static sp_status add_kind(const char *path, void *library, sp_device_plugin_fn *plugin)
{
    const sp_status refused =
        sp__fail(SP_RUNTIME, "the device cannot work on this machine"); /* unless it says more itself */
    const sp_device_table *t = plugin(&host);
    if (!t) {
        sp__error_context("%s", path);
        return refused;
    }
    SP_TRY(check(path, t));
    for (int i = 0; i < n_kinds; i++)
        SP_CHECK(strcmp(kinds[i].table.name, t->name) != 0, SP_VALUE, "%s: there is a device '%s' already", path,
                 t->name);
    SP_CHECK(n_kinds < SP_DEVICES_MAX, SP_RUNTIME, "%s: there are %d kinds of devices already", path, n_kinds);
    kind *k = &kinds[n_kinds++];
    memcpy(&k->table, t, t->version == 1 ? offsetof(sp_device_table, costs) : sizeof *t);
    k->library = library;
    return SP_OK;
}

static sp_status add_library(const char *path, void *library)
{
    for (int i = 0; i < n_kinds; i++)
        if (kinds[i].library == library) return SP_OK;
    sp_device_plugin_fn *plugin;
    void *symbol = dlsym(library, "sp_device_plugin");
    memcpy(&plugin, &symbol, sizeof plugin);
    SP_CHECK(symbol, SP_VALUE, "%s: exports no function sp_device_plugin, so it is no library of devices", path);
    return add_kind(path, library, plugin);
}

static sp_status load(const char *path)
{
    sp__section_begin(); /* the loader has a lock that fork does not know */
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    sp__lock(&lock);
    const sp_status status =
        library ? add_library(path, library) : sp__fail(SP_IO, "cannot open the device library %s", sp__dlerror());
    sp__unlock(&lock);
    if (library && status != SP_OK) dlclose(library);
    sp__section_end();
    return status;
}

/* Where libraries of devices may lie, seen from the engine: a build folder, an installation, the Python package. */
static const char *const folders[] = {"devices", "spore/devices", "../devices", "../../devices",
                                      "../lib/spore/devices"};

static bool known_kind(const char *name, size_t n)
{
    sp__lock(&lock);
    bool known = false;
    for (int i = 0; i < n_kinds; i++)
        known |= strlen(kinds[i].table.name) == n && strncmp(kinds[i].table.name, name, n) == 0;
    sp__unlock(&lock);
    return known;
}

/* The library of the kind's name in one of the folders, if there is one: opened when it is asked for, for a driver takes its time. */
static sp_status load_kind(const char *name)
{
    const size_t n = strcspn(name, ":");
    char own[3072], path[4096];
    if (known_kind(name, n) || strcspn(name, "/") < n || !sp__own_folder(own, sizeof own)) return SP_OK;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        sp__snprintf(path, sizeof path, "%s/%s/%.*s.so", own, folders[i], (int)n, name);
        if (access(path, R_OK) == 0) return load(path);
    }
    return SP_OK;
}

/* Every library of the first folder that there is. One that cannot work here is left out. */
static void load_folder(void)
{
    char own[3072], path[4096];
    DIR *folder = NULL;
    if (!sp__own_folder(own, sizeof own)) return;
    for (size_t i = 0; i < sizeof folders / sizeof *folders && !folder; i++) {
        sp__snprintf(path, sizeof path, "%s/%s", own, folders[i]);
        folder = opendir(path);
    }
    if (!folder) return;
    const size_t used = strlen(path);
    for (struct dirent *e = readdir(folder); e; e = readdir(folder)) {
        const size_t n = strlen(e->d_name);
        if (n < 4 || strcmp(e->d_name + n - 3, ".so") != 0 || known_kind(e->d_name, n - 3)) continue;
        sp__snprintf(path + used, sizeof path - used, "/%s", e->d_name);
        (void)load(path);
    }
    closedir(folder);
}

/* What is built in, and what the environment names. A failure is told and costs that library only. */
static void start(void)
{
    sp__lock(&lock);
    if (add_kind("null", NULL, sp__null_device) != SP_OK) fprintf(stderr, "spore: %s\n", sp_error_message());
    sp__unlock(&lock);
    const char *list = getenv("SPORE_DEVICES");
    while (list && *list) {
        const size_t n = strcspn(list, ":");
        char path[4096];
        if (n > 0 && n < sizeof path) {
            memcpy(path, list, n);
            path[n] = '\0';
            if (load(path) != SP_OK) fprintf(stderr, "spore: SPORE_DEVICES: %s\n", sp_error_message());
        }
        list += n + (list[n] == ':');
    }
}

sp_status sp_device_load(const char *path)
{
    SP_CHECK(path && *path, SP_VALUE, "no path of a device library was given");
    sp__once(&start_once, start);
    return load(path);
}

int sp_device_names(char *text, size_t bytes)
{
    static sp_once folder_once = SP_ONCE_INIT;
    sp__once(&start_once, start);
    sp__once(&folder_once, load_folder);
    sp__lock(&lock);
    size_t used = (size_t)snprintf(text, bytes, "cpu");
    for (int i = 0; i < n_kinds; i++)
        if (used < bytes) used += (size_t)snprintf(text + used, bytes - used, ", %s", kinds[i].table.name);
    const int n = n_kinds + 1;
    sp__unlock(&lock);
    return n;
}

/* --- open devices ------------------------------------------------------------------------------------------------ */

/* "far:1" into the kind and a number; NULL with a message. */
static const sp_device_table *parse(const char *name, int *ordinal)
{
    const size_t n = strcspn(name, ":");
    *ordinal = 0;
    if (name[n]) {
        char *end = NULL;
        const long number = strtol(name + n + 1, &end, 10);
        if (end == name + n + 1 || *end || number < 0 || number > 1 << 20) {
            (void)sp__fail(SP_VALUE, "'%s' is no name of a device: wanted a kind, or kind:number", name);
            return NULL;
        }
        *ordinal = (int)number;
    }
    for (int i = 0; i < n_kinds; i++)
        if (strlen(kinds[i].table.name) == n && strncmp(kinds[i].table.name, name, n) == 0) return &kinds[i].table;
    (void)sp__fail(
        SP_VALUE,
        "there is no device '%s' here; libraries of devices are named by SPORE_DEVICES or sp_device_load, and `spore doctor` lists "
        "what there is",
        name);
    return NULL;
}

/* Kernels by operator, so that a call does not go through all of them. */
static sp_status list_offers(sp_device *d)
{
    const sp_device_table *t = d->table;
    const int n_ops = sp_op_count();
    uint32_t n = 0;
    for (int turn = 0; turn < 2; turn++) {
        if (turn && !(d->offers = sp__alloc((n + 1) * sizeof *d->offers))) return SP_NOMEM;
        n = 0;
        for (int i = 0; i < n_ops && i < SP_OPS_MAX; i++) {
            d->first_offer[i] = n;
            for (int k = 0; k < t->n_kernels; k++)
                if (strcmp(t->kernels[k].op, "*") == 0 || strcmp(t->kernels[k].op, sp_op_name(sp_op_at(i))) == 0) {
                    if (turn) d->offers[n] = &t->kernels[k];
                    n++;
                }
            d->first_offer[i + 1] = n;
        }
    }
    return SP_OK;
}

/* Under the lock. */
static sp_status open_device(const sp_device_table *t, int ordinal, sp_device **out)
{
    for (int i = 0; i < n_open; i++) {
        char name[48];
        snprintf(name, sizeof name, ordinal ? "%s:%d" : "%s", t->name, ordinal);
        if (strcmp(open_devices[i]->name, name) == 0) {
            *out = open_devices[i];
            return SP_OK;
        }
    }
    const int count = t->count();
    SP_CHECK(ordinal < count, SP_VALUE, "there is no device %s:%d: this machine has %d of that kind", t->name, ordinal,
             count);
    SP_CHECK(n_open < SP_DEVICES_MAX, SP_RUNTIME, "%d devices are open already", n_open);
    sp_device *d = sp__alloc_zero(sizeof *d);
    if (!d) return SP_NOMEM;
    d->table = t;
    d->number = n_open + 1;
    d->opened_by = getpid();
    snprintf(d->name, sizeof d->name, ordinal ? "%s:%d" : "%s", t->name, ordinal);
    sp__lock_init(&d->lock);
    sp__lock_init(&d->uses);
    sp_status status = list_offers(d);
    if (status == SP_OK) status = t->open(ordinal, &d->state);
    if (status != SP_OK) {
        (void)sp__device_told(d, status);
        sp__free(d->offers);
        sp__lock_destroy(&d->lock);
        sp__lock_destroy(&d->uses);
        sp__free(d);
        return status;
    }
    sp__device_hooks_start();
    open_devices[n_open++] = d;
    *out = d;
    return SP_OK;
}

sp_status sp_device_open(const char *name, sp_device **out)
{
    SP_CHECK(name && *name, SP_VALUE, "no name of a device was given");
    sp__once(&start_once, start);
    *out = NULL;
    if (strcmp(name, "cpu") == 0 || strcmp(name, "CPU") == 0 || strncmp(name, "cpu:", 4) == 0 ||
        strncmp(name, "CPU:", 4) == 0)
        return SP_OK;
    int ordinal;
    SP_TRY(load_kind(name));
    sp__lock(&lock);
    const sp_device_table *t = parse(name, &ordinal);
    const sp_status status = t ? open_device(t, ordinal, out) : SP_VALUE;
    sp__unlock(&lock);
    return status;
}

sp_status sp__device_numbered(int64_t number, sp_device **out)
{
    *out = NULL;
    if (number == 0) return SP_OK;
    sp__lock(&lock);
    const int n = n_open;
    if (number > 0 && number <= n) *out = open_devices[number - 1];
    sp__unlock(&lock);
    SP_CHECK(*out, SP_VALUE, "there is no device number %lld: %d are open", (long long)number, n);
    return SP_OK;
}

sp_status sp__device_usable(const sp_device *d)
{
    SP_CHECK(
        d->opened_by == getpid(), SP_RUNTIME,
        "device %s was opened by the parent of this process, before fork: a child cannot use it, and tensors that lie "
        "on it; start such processes first, or by spawn",
        d->name);
    return SP_OK;
}

sp_status sp__device_told(const sp_device *d, sp_status status)
{
    if (status != SP_OK && status != SP_DECLINED) sp__error_context("device %s", d->name);
    return status;
}

const char *sp_device_name(const sp_device *d) { return d ? d->name : "cpu"; }

sp_status sp_device_wait(sp_device *d)
{
    if (!d) return SP_OK;
    SP_TRY(sp__device_usable(d));
    return sp__device_told(d, d->table->wait(d->state));
}

void sp__device_costs(const sp_device *d, sp_device_costs *out)
{
    *out = (sp_device_costs){.struct_size = sizeof *out};
    if (d->table->costs) d->table->costs(d->state, out);
    if (!(out->copy_us > 0)) out->copy_us = 10;
    if (!(out->copy_gb_per_s > 0)) out->copy_gb_per_s = 8;
}

sp_status sp_device_describe(sp_device *d, sp_device_properties *out)
{
    *out = (sp_device_properties){.struct_size = sizeof *out};
    if (!d) {
        snprintf(out->title, sizeof out->title, "CPU");
        out->units = sp_threads();
        out->dtypes = (1u << SP_DTYPE_COUNT) - 1;
        return SP_OK;
    }
    SP_TRY(sp__device_usable(d));
    return sp__device_told(d, d->table->describe(d->state, out));
}

/* --- the default ------------------------------------------------------------------------------------------------- */

/* SPORE_DEVICE, when somebody first asks. What it names must be there: who asked for it does not want to compute elsewhere in silence. */
static void default_start(void)
{
    const char *name = getenv("SPORE_DEVICE");
    sp_device *d = NULL;
    if (!name || !*name) return;
    if (sp_device_open(name, &d) != SP_OK)
        fprintf(stderr, "spore: SPORE_DEVICE: %s; the CPU is used\n", sp_error_message());
    atomic_store(&default_device, d);
}

static sp_once default_once = SP_ONCE_INIT;

sp_device *sp_device_default(void)
{
    sp__once(&default_once, default_start);
    return atomic_load_explicit(&default_device, memory_order_relaxed);
}

void sp_device_set_default(sp_device *d)
{
    sp__once(&default_once, default_start);
    atomic_store(&default_device, d);
}

static _Thread_local sp_device *current;

sp_device *sp__place_set(sp_device *d)
{
    sp_device *before = current;
    current = d;
    return before;
}

sp_device *sp__place_now(void) { return current ? current : sp_device_default(); }

/* SPDX-License-Identifier: Apache-2.0 */
/* transport.c - which launcher started this process, and the library that speaks its MPI.
 *
 * Families of MPI have different binary interfaces, so there is a library for each (providers/mpi), beside the engine. The launcher's
 * variables tell the family; an MPI that the program has loaded already tells it more surely. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/own_folder.h"
#include "base/plain.h"
#include "parallel/parallel_impl.h"

/* What launchers set for the processes they start: number of ranks, and whose. "pmi" is a way of starting that several speak. */
static const struct {
    const char *variable, *family;
} launchers[] = {
    {"OMPI_COMM_WORLD_SIZE", "openmpi"},
    {"PMI_SIZE", "mpich"},
    {"MV2_COMM_WORLD_SIZE", "mpich"},
    {"PMIX_RANK", "openmpi"},
};

static long number_of(const char *variable)
{
    const char *text = getenv(variable);
    if (!text || !sp__is_digit(*text)) return -1;
    char *end;
    const long n = strtol(text, &end, 10);
    return *end ? -1 : n;
}

int sp_job_launched(const char **out_variable)
{
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++) {
        const long n = number_of(launchers[i].variable);
        if (n < 0) continue;
        if (out_variable) *out_variable = launchers[i].variable;
        return strcmp(launchers[i].variable, "PMIX_RANK") == 0 ? 1 : (int)n;
    }
    return 0;
}

const char *sp__launcher_family(void)
{
    /* The program has an MPI already, by itself or by mpi4py: there can be no other one in a process. */
    const sp_mpi_family *loaded = sp__mpi_loaded();
    if (loaded) return loaded->name;
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++) {
        const long n = number_of(launchers[i].variable);
        const bool counts_ranks = strcmp(launchers[i].variable, "PMIX_RANK") != 0;
        if (n >= 0) return counts_ranks && n <= 1 ? NULL : launchers[i].family; /* alone: nobody to speak to */
    }
    return NULL;
}

static sp_status opened(const char *path, void *library, const sp_transport **out)
{
    sp_transport_open_fn *start;
    void *symbol = dlsym(library, "sp_transport_open");
    SP_CHECK(symbol, SP_RUNTIME, "%s: no transport: it has no function sp_transport_open", path);
    memcpy(&start, &symbol, sizeof start); /* ISO C knows no cast from an object's address to a function's */
    const sp_transport *t = start();
    SP_CHECK(t, SP_RUNTIME, "%s: it cannot work on this machine", path);
    SP_CHECK(t->version == SP_TRANSPORT_VERSION && t->struct_size >= sizeof *t, SP_RUNTIME,
             "%s: made for version %d of the transport interface, wanted %d", path, t->version, SP_TRANSPORT_VERSION);
    *out = t;
    return SP_OK;
}

static sp_status open_path(const char *path, const sp_transport **out)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_GLOBAL); /* MPI's own plug-ins look for its functions among all */
    SP_CHECK(library, SP_RUNTIME, "%s: %s", path, sp__dlerror());
    return opened(path, library, out);
}

/* Where a library for a family may lie, seen from the engine: a build folder, an installation, the Python package. */
static const char *const places[] = {"transports", "spore/transports", "../transports", "../../transports",
                                     "../lib/spore/transports"};

bool sp__transport_path(const char *family, char *out, size_t room)
{
    char folder[3072];
    *out = '\0';
    if (!sp__own_folder(folder, sizeof folder)) return false;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        sp__snprintf(out, room, "%s/%s/mpi_%s.so", folder, places[i], family);
        if (access(out, R_OK) == 0) return true;
    }
    *out = '\0';
    return false;
}

/* A launcher's own family comes first; an MPI of version 5 may have the standard interface alone. */
static sp_status open_mpi(const char **family)
{
    char path[4096];
    const sp_status status = sp__mpi_open(sp__mpi_family(*family));
    if (status == SP_OK && sp__transport_path(*family, path, sizeof path)) return SP_OK;
    if (!sp__mpi_loaded() && strcmp(*family, "standard") != 0 && sp__transport_path("standard", path, sizeof path)) {
        sp_error first;
        sp_error_capture(status, &first);
        if (sp__mpi_open(sp__mpi_family("standard")) == SP_OK) return *family = "standard", SP_OK;
        return sp_error_raise(&first);
    }
    return status;
}

/* One of ours needs its MPI before; what others wrote brings what it needs. */
static sp_status open_named(const char *path, const sp_transport **out)
{
    const char *slash = strrchr(path, '/'), *file = slash ? slash + 1 : path;
    char family[16] = "";
    if (strncmp(file, "mpi_", 4) == 0)
        sp__snprintf(family, sizeof family, "%.*s", (int)strcspn(file + 4, "."), file + 4);
    if (sp__mpi_family(family)) SP_TRY(sp__mpi_open(sp__mpi_family(family)));
    return open_path(path, out);
}

sp_status sp__transport_find(const char *family, const sp_transport **out)
{
    const char *named = getenv("SPORE_TRANSPORT");
    if (named && *named) return open_named(named, out);
    SP_TRY(open_mpi(&family));
    char path[4096];
    if (sp__transport_path(family, path, sizeof path)) return open_path(path, out);
    const char *variable = "its variables";
    const int n = sp_job_launched(&variable);
    return sp__fail(
        SP_RUNTIME,
        "this process is one of %d that a launcher started (%s), but spore was built without %s: there is no mpi_%s.so beside it. Install the package "
        "%s and build again, or start one process without a launcher",
        n, variable, family, family, strcmp(family, "mpich") == 0 ? "libmpich-dev" : "libopenmpi-dev");
}

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
    if (dlsym(RTLD_DEFAULT, "ompi_mpi_comm_world")) return "openmpi";
    if (dlsym(RTLD_DEFAULT, "MPIR_Err_create_code")) return "mpich";
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

sp_status sp__transport_find(const char *family, const sp_transport **out)
{
    const char *named = getenv("SPORE_TRANSPORT");
    if (named && *named) return open_path(named, out);
    char folder[3072], path[4096];
    SP_CHECK(sp__own_folder(folder, sizeof folder), SP_RUNTIME,
             "the folder of the engine is not known; set SPORE_TRANSPORT to the path of mpi_%s.so", family);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        sp__snprintf(path, sizeof path, "%s/%s/mpi_%s.so", folder, places[i], family);
        if (access(path, R_OK) == 0) return open_path(path, out);
    }
    const char *variable = "its variables";
    const int n = sp_job_launched(&variable);
    return sp__fail(
        SP_RUNTIME,
        "this process is one of %d that a launcher started (%s), but spore was built without %s: there is no mpi_%s.so beside %s. Install the package "
        "%s and build again, or start one process without a launcher",
        n, variable, family, family, folder, strcmp(family, "mpich") == 0 ? "libmpich-dev" : "libopenmpi-dev");
}

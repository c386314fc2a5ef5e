/* SPDX-License-Identifier: Apache-2.0 */
/* mpi_transport.c - MPI as a transport (spore/parallel.h). Compiled once for each binary interface of MPI: Open MPI's, MPICH's, the standard one
 * of MPI 5. The library made of it is linked with no MPI: the engine finds one (src/parallel/mpi_library.c) and opens it before. It moves bytes;
 * what they mean, and sums of them, are the engine's. */
#ifdef SPORE_STANDARD_MPI
#include "standard_mpi.h"
#else
#include <mpi.h>
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "spore/parallel.h"

static const sp_transport_host *host;
static bool joined_here; /* we called MPI_Init, so we call MPI_Finalize */

static sp_status told(int code, const char *what)
{
    if (code == MPI_SUCCESS) return SP_OK;
    char text[MPI_MAX_ERROR_STRING + 1] = "", message[MPI_MAX_ERROR_STRING + 64];
    int n = 0;
    MPI_Error_string(code, text, &n);
    snprintf(message, sizeof message, "%s failed: %s", what, text);
    return host->fail(SP_RUNTIME, message);
}

static MPI_Comm comm_of(void *comm) { return *(MPI_Comm *)comm; }

static sp_status boxed(MPI_Comm comm, void **out)
{
    MPI_Comm *box = malloc(sizeof *box);
    if (!box) return host->fail(SP_NOMEM, "out of memory for a group of ranks");
    *box = comm;
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    *out = box;
    return SP_OK;
}

/* --- the job ----------------------------------------------------------------------------------------------------- */

/* "Open MPI 4.1.4": the first words of what the library says about itself. */
static const char *name_of_library(void)
{
    static char name[64];
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int n = 0;
    MPI_Get_library_version(text, &n);
    const char *version = strpbrk(text, "0123456789");
    size_t length = version ? strcspn(version, ", \n\t") : 0;
    snprintf(name, sizeof name, "%s %.*s", strncmp(text, "Open MPI", 8) == 0 ? "Open MPI" : "MPICH", (int)length,
             version ? version : "");
    return name;
}

static sp_status join(const sp_transport_host *engine, sp_transport_job *out)
{
    host = engine;
    int ready = 0, ended = 0, provided = 0;
    MPI_Initialized(&ready);
    MPI_Finalized(&ended);
    if (ended) return host->fail(SP_RUNTIME, "MPI was finalized in this process already; a process joins a job once");
    if (ready) {
        MPI_Query_thread(&provided);
    } else {
        const int code = MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &provided);
        if (code != MPI_SUCCESS) return told(code, "MPI_Init_thread");
        joined_here = true;
    }
    if (provided < MPI_THREAD_SERIALIZED)
        return host->fail(
            SP_RUNTIME,
            "this MPI cannot be called from several threads, one at a time (MPI_THREAD_SERIALIZED); use one that was built with threads");
    MPI_Comm world;
    sp_status status = told(MPI_Comm_dup(MPI_COMM_WORLD, &world), "MPI_Comm_dup");
    if (status != SP_OK) return status;
    MPI_Comm_rank(world, &out->rank);
    MPI_Comm_size(world, &out->size);
    out->name = name_of_library();
    return boxed(world, &out->world);
}

static void leave(void)
{
    int ended = 0;
    MPI_Finalized(&ended);
    if (joined_here && !ended) MPI_Finalize();
}

static void stop(int code) { MPI_Abort(MPI_COMM_WORLD, code); }

static sp_status group(int n, const int *ranks, int tag, void **out)
{
    MPI_Group all, some;
    MPI_Comm comm;
    sp_status status = told(MPI_Comm_group(MPI_COMM_WORLD, &all), "MPI_Comm_group");
    if (status != SP_OK) return status;
    status = told(MPI_Group_incl(all, n, ranks, &some), "MPI_Group_incl");
    MPI_Group_free(&all);
    if (status != SP_OK) return status;
    status = told(MPI_Comm_create_group(MPI_COMM_WORLD, some, tag, &comm), "MPI_Comm_create_group");
    MPI_Group_free(&some);
    return status != SP_OK ? status : boxed(comm, out);
}

static void release(void *comm)
{
    int ended = 0;
    MPI_Finalized(&ended);
    if (!ended) MPI_Comm_free((MPI_Comm *)comm);
    free(comm);
}

/* --- moving bytes ------------------------------------------------------------------------------------------------ */

/* Begin an operation whose request has a box of its own. */
#define BEGIN(what, call)                                                                                              \
    MPI_Request *r = malloc(sizeof *r);                                                                                \
    if (!r) return host->fail(SP_NOMEM, "out of memory for a message");                                                \
    const sp_status status = told(call, what);                                                                         \
    if (status != SP_OK) free(r);                                                                                      \
    else *request = r;                                                                                                 \
    return status

static sp_status send(void *comm, const void *data, size_t bytes, int to, int tag, void **request)
{
    BEGIN("MPI_Isend", MPI_Isend(data, (int)bytes, MPI_BYTE, to, tag, comm_of(comm), r));
}

static sp_status recv(void *comm, void *data, size_t bytes, int from, int tag, void **request)
{
    BEGIN("MPI_Irecv", MPI_Irecv(data, (int)bytes, MPI_BYTE, from, tag, comm_of(comm), r));
}

static sp_status broadcast(void *comm, void *data, size_t bytes, int root, void **request)
{
    BEGIN("MPI_Ibcast", MPI_Ibcast(data, (int)bytes, MPI_BYTE, root, comm_of(comm), r));
}

static sp_status all_gather(void *comm, const void *in, size_t bytes, void *out, void **request)
{
    BEGIN("MPI_Iallgather", MPI_Iallgather(in, (int)bytes, MPI_BYTE, out, (int)bytes, MPI_BYTE, comm_of(comm), r));
}

static sp_status all_to_all(void *comm, const void *in, size_t bytes, void *out, void **request)
{
    BEGIN("MPI_Ialltoall", MPI_Ialltoall(in, (int)bytes, MPI_BYTE, out, (int)bytes, MPI_BYTE, comm_of(comm), r));
}

static sp_status test(void *request, bool *done)
{
    int flag = 0;
    const sp_status status = told(MPI_Test(request, &flag, MPI_STATUS_IGNORE), "a message between ranks");
    *done = flag || status != SP_OK;
    if (*done) free(request);
    return status;
}

SP_API sp_transport_open_fn sp_transport_open;
const sp_transport *sp_transport_open(void)
{
    static const sp_transport table = {
        .struct_size = sizeof table,
        .version = SP_TRANSPORT_VERSION,
        .join = join,
        .leave = leave,
        .abort = stop,
        .group = group,
        .release = release,
        .send = send,
        .recv = recv,
        .broadcast = broadcast,
        .all_gather = all_gather,
        .all_to_all = all_to_all,
        .test = test,
        .bytes_max = (size_t)1 << 30,
    };
    return &table;
}

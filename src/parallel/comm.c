/* SPDX-License-Identifier: Apache-2.0 */
/* comm.c - the job, and groups of its ranks. */
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/plain.h"
#include "parallel/parallel_impl.h"

typedef struct named {
    struct named *next;
    sp_comm *comm;
    char name[];
} named;

sp_lock sp__transport_lock = SP_LOCK_INIT;

static sp_lock lock = SP_LOCK_INIT; /* of all that follows */
static const sp_transport *transport;
static char transport_name[64];
static sp_comm *world;
static sp_comm *volatile left_world; /* what was the world until this process left the job; volatile: nobody reads it */
static sp_comm *all;
static named *names;
static pid_t owner;         /* the process that joined */
static int simulated_hosts; /* 0: the job is there */

const sp_transport *sp__transport(void) { return transport; }

bool sp_job_simulated(void) { return simulated_hosts > 0; }

int64_t sp__comm_timeout(void)
{
    const char *text = getenv("SPORE_COMM_TIMEOUT");
    if (!text || !*text) return 600;
    char *end;
    const long long seconds = strtoll(text, &end, 10);
    return *end || seconds < 0 ? 600 : (int64_t)seconds;
}

sp_status sp__comm_check(const sp_comm *c)
{
    SP_CHECK(c->size == 1 || owner == getpid(), SP_RUNTIME,
             "this process was forked from rank %d of a job and is no rank of it: exchanges belong to the rank itself",
             c->ranks[c->rank]);
    return SP_OK;
}

/* --- groups ------------------------------------------------------------------------------------------------------ */

static sp_status comm_create(int n, const int *ranks, int me, void *handle, sp_comm **out)
{
    sp_comm *c = sp__alloc_zero(sizeof *c + (size_t)n * sizeof c->ranks[0]);
    if (!c) return SP_NOMEM;
    atomic_init(&c->refs, 1);
    c->handle = handle;
    c->size = n;
    c->rank = me;
    c->local_size = 1;
    for (int i = 0; i < n; i++) c->ranks[i] = ranks ? ranks[i] : i;
    *out = c;
    return SP_OK;
}

/* Who else is on this host: names of hosts, exchanged once for a group. */
static sp_status find_local(sp_comm *c)
{
    if (simulated_hosts) { /* hosts have their ranks in a row; this is rank 0 */
        const int per_host = world->size / simulated_hosts;
        c->local_size = 0;
        for (int i = 0; i < c->size; i++) c->local_size += c->ranks[i] < per_host;
        return SP_OK;
    }
    enum { NAME = 64 };
    char mine[NAME] = "";
    gethostname(mine, NAME - 1);
    char *hosts = sp__alloc_zero((size_t)c->size * NAME);
    if (!hosts) return SP_NOMEM;
    const sp_exchange e = {.kind = SP_EXCHANGE_ALL_GATHER,
                           .dtype = SP_DTYPE_U8,
                           .n = NAME,
                           .in = mine,
                           .out = hosts,
                           .where = "joining a group"};
    const sp_status status = sp_comm_run(c, &e);
    c->local_size = 0;
    for (int i = 0; i < c->size; i++) {
        if (strncmp(hosts + (size_t)i * NAME, mine, NAME) != 0) continue;
        if (i < c->rank) c->local_rank++;
        c->local_size++;
    }
    sp__free(hosts);
    return status;
}

static void remember(sp_comm *c)
{
    sp__lock(&lock);
    c->next = all;
    all = c;
    sp__unlock(&lock);
}

static sp_status check_ranks(int n, const int *ranks, int *me)
{
    *me = -1;
    for (int i = 0; i < n; i++) {
        SP_CHECK(ranks[i] >= 0 && ranks[i] < world->size, SP_VALUE, "a group with rank %d: the job has ranks 0 to %d",
                 ranks[i], world->size - 1);
        for (int k = 0; k < i; k++) SP_CHECK(ranks[k] != ranks[i], SP_VALUE, "a group with rank %d twice", ranks[i]);
        if (ranks[i] == world->rank) *me = i;
    }
    SP_CHECK(*me >= 0, SP_VALUE, "rank %d makes a group that it is not in; only its members do", world->rank);
    return SP_OK;
}

/* Members of a group that is being made find each other by this; a function of its list, since others may have made other groups in between. */
static int tag_of(int n, const int *ranks)
{
    uint32_t h = 2166136261u;
    for (int i = 0; i < n; i++) h = (h ^ (uint32_t)ranks[i]) * 16777619u;
    return (int)(h % 32768);
}

sp_status sp_comm_create(int n, const int *ranks, sp_comm **out)
{
    SP_CHECK(out && ranks && n > 0, SP_VALUE, "sp_comm_create: a group needs ranks");
    SP_CHECK(world, SP_RUNTIME, "a group before the job was joined: call sp_job_join (in Python init()) first");
    int me;
    SP_TRY(check_ranks(n, ranks, &me));
    SP_TRY(sp__comm_check(world));
    void *handle = NULL;
    if (n > 1 && transport) {
        sp__lock(&sp__transport_lock);
        const sp_status status = transport->group(n, ranks, tag_of(n, ranks), &handle);
        sp__unlock(&sp__transport_lock);
        SP_TRY(status);
    }
    sp_comm *c;
    sp_status status = comm_create(n, ranks, me, handle, &c);
    if (status != SP_OK) {
        if (handle) transport->release(handle);
        return status;
    }
    remember(c);
    if (n > 1) status = find_local(c);
    if (status != SP_OK) sp_comm_release(c);
    else *out = c;
    return status;
}

sp_comm *sp_comm_retain(sp_comm *c)
{
    if (c) atomic_fetch_add(&c->refs, 1);
    return c;
}

void sp_comm_release(sp_comm *c)
{
    if (!c || atomic_fetch_sub(&c->refs, 1) != 1) return;
    sp__lock(&lock);
    for (sp_comm **p = &all; *p; p = &(*p)->next)
        if (*p == c) {
            *p = c->next;
            break;
        }
    sp__unlock(&lock);
    if (c->handle && owner == getpid() && !c->broken) {
        sp__lock(&sp__transport_lock);
        if (transport) transport->release(c->handle);
        sp__unlock(&sp__transport_lock);
    }
    sp__free(c);
}

sp_comm *sp_comm_world(void) { return world; }
int sp_comm_rank(const sp_comm *c) { return c ? c->rank : 0; }
int sp_comm_size(const sp_comm *c) { return c ? c->size : 1; }
const int *sp_comm_ranks(const sp_comm *c) { return c->ranks; }
int sp_comm_local_rank(const sp_comm *c) { return c ? c->local_rank : 0; }
int sp_comm_local_size(const sp_comm *c) { return c ? c->local_size : 1; }

/* --- names ------------------------------------------------------------------------------------------------------- */

static bool is_world(const char *name)
{
    const char *end = "world_group";
    const size_t n = strlen(name), m = strlen(end);
    return n >= m && strcmp(name + n - m, end) == 0;
}

static named **find_name(const char *name)
{
    named **p = &names;
    while (*p && strcmp((*p)->name, name) != 0) p = &(*p)->next;
    return p;
}

sp_status sp_comm_name(const char *name, sp_comm *c)
{
    SP_CHECK(name && *name && c, SP_VALUE, "a group needs a name and ranks");
    SP_CHECK(!is_world(name), SP_VALUE, "the name '%s' stands for all ranks of the job", name);
    const size_t bytes = strlen(name) + 1;
    named *n = sp__alloc(sizeof *n + bytes);
    if (!n) return SP_NOMEM;
    memcpy(n->name, name, bytes);
    sp__lock(&lock);
    const bool taken = *find_name(name) != NULL;
    if (!taken) {
        n->comm = sp_comm_retain(c);
        n->next = names;
        names = n;
    }
    sp__unlock(&lock);
    if (!taken) return SP_OK;
    sp__free(n);
    return sp__fail(SP_VALUE, "there is a group '%s' already", name);
}

sp_status sp_comm_find(const char *name, sp_comm **out)
{
    SP_CHECK(name && out, SP_VALUE, "the name of a group is NULL");
    if (is_world(name)) {
        SP_TRY(sp_job_join());
        *out = world;
        return SP_OK;
    }
    sp__lock(&lock);
    const named *n = *find_name(name);
    *out = n ? n->comm : NULL;
    sp__unlock(&lock);
    SP_CHECK(*out, SP_KEY, "there is no group '%s' that this rank is in; create_group makes one", name);
    return SP_OK;
}

sp_status sp_comm_drop(const char *name)
{
    SP_CHECK(name, SP_VALUE, "the name of a group is NULL");
    SP_CHECK(!is_world(name), SP_VALUE, "the group of all ranks cannot be destroyed");
    sp__lock(&lock);
    named **p = find_name(name), *n = *p;
    if (n) *p = n->next;
    sp__unlock(&lock);
    SP_CHECK(n, SP_KEY, "there is no group '%s'", name);
    sp_comm_release(n->comm);
    sp__free(n);
    return SP_OK;
}

/* --- the job ----------------------------------------------------------------------------------------------------- */

static sp_status host_fail(sp_status status, const char *message) { return sp__fail(status, "%s", message); }

static sp_status join_alone(void)
{
    sp__snprintf(transport_name, sizeof transport_name, "one process");
    return comm_create(1, NULL, 0, NULL, &world);
}

static sp_status join_launched(const char *family)
{
    static const sp_transport_host host = {.struct_size = sizeof host, .fail = host_fail};
    sp_transport_job job = {.struct_size = sizeof job};
    const sp_transport *t;
    SP_TRY(sp__transport_find(family, &t));
    SP_TRY(t->join(&host, &job));
    transport = t;
    sp__snprintf(transport_name, sizeof transport_name, "%s", job.name);
    const char *variable = "";
    const int n = sp_job_launched(&variable);
    SP_CHECK(
        n <= 1 || n == job.size, SP_RUNTIME,
        "%s=%d asks for %d processes, but %s finds %d: the variable does not come from its launcher. Start them with "
        "mpirun -n %d, or unset it for one process",
        variable, n, n, job.name, job.size, n);
    return comm_create(job.size, NULL, job.rank, job.world, &world);
}

/* "64" or "64x8" */
static sp_status join_simulated(const char *text)
{
    char *end;
    const long ranks = sp__is_digit(*text) ? strtol(text, &end, 10) : 0;
    const long hosts = ranks > 0 && *end == 'x' && sp__is_digit(end[1]) ? strtol(end + 1, &end, 10) : 1;
    SP_CHECK(ranks > 0 && ranks <= 65536 && !*end && hosts > 0 && ranks % hosts == 0, SP_VALUE,
             "SPORE_SIMULATE is '%s', wanted a number of ranks, or RANKSxHOSTS where the hosts have equally many",
             text);
    sp__snprintf(transport_name, sizeof transport_name, "simulated");
    SP_TRY(comm_create((int)ranks, NULL, 0, NULL, &world));
    simulated_hosts = (int)hosts;
    return SP_OK;
}

static sp_status join_now(void)
{
    const char *simulated = getenv("SPORE_SIMULATE");
    const char *family = sp__launcher_family();
    if (simulated && *simulated) {
        SP_CHECK(!family, SP_RUNTIME,
                 "SPORE_SIMULATE is for one process, but a launcher has started several: unset it");
        SP_TRY(join_simulated(simulated));
    } else {
        SP_TRY(family ? join_launched(family) : join_alone());
    }
    owner = getpid();
    atexit(sp_job_leave);
    if (world->size == 1) return SP_OK;
    remember(world);
    return find_local(world);
}

sp_status sp_job_join(void)
{
    enum { NONE, JOINING, JOINED };
    static atomic_int state; /* no lock: joining waits for other ranks, and fork must not wait for them */
    while (!world || atomic_load(&state) != JOINED) {
        int was = NONE;
        if (atomic_compare_exchange_strong(&state, &was, JOINING)) {
            const sp_status status = join_now();
            atomic_store(&state, status == SP_OK ? JOINED : NONE);
            return status;
        }
        if (was == JOINED) break; /* and left since */
        sched_yield();
    }
    SP_CHECK(world, SP_RUNTIME, "this process has left its job; a process joins one once");
    return SP_OK;
}

bool sp_job_joined(void) { return world != NULL; }
const char *sp_job_transport(void) { return world ? transport_name : ""; }

/* Ranks that wait for this one in a group are told that it will not come. The word is small enough to be on its way at once. */
static void say_farewell(const sp_comm *c)
{
    static sp_word word = {.magic = SP_WORD_MAGIC, .left = 1};
    for (int i = 0; i < c->size; i++) {
        void *op = NULL;
        if (i != c->rank && transport->send(c->handle, &word, sizeof word, i, SP_TAG_WORD, &op) != SP_OK) return;
    }
}

void sp_job_leave(void)
{
    if (!world || owner != getpid()) return;
    if (transport) {
        sp__background_end();
        sp__lock(&sp__transport_lock);
        for (sp_comm *c = all; c; c = c->next)
            if (c->size > 1 && !c->broken) say_farewell(c);
        transport->leave();
        sp__unlock(&sp__transport_lock);
    }
    transport = NULL;
    left_world = world; /* stays in memory: somebody may hold it */
    world = NULL;
    transport_name[0] = '\0';
}

/* Launchers drop what they have not yet read of a rank's output when the job is aborted: wait until nothing is left in the pipe (or socket or
 * terminal), a second at most. */
static void await_reader(int fd)
{
    for (int turn = 0; turn < 1000; turn++) {
        int left = 0;
        struct stat s;
        if (fstat(fd, &s) != 0 || S_ISREG(s.st_mode)) return;
        if (ioctl(fd, S_ISFIFO(s.st_mode) ? FIONREAD : TIOCOUTQ, &left) != 0 || left == 0) return;
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
}

void sp_job_abort(int code, const char *why)
{
    if (!world || !transport || owner != getpid()) return;
    char line[1200];
    const int n = sp__snprintf(line, sizeof line, "spore: rank %d of %d ends the job%s%s\n", world->rank, world->size,
                               why && *why ? ": " : "", why ? why : "");
    const size_t bytes = (size_t)(n < (int)sizeof line ? n : (int)sizeof line - 1);
    const bool told = why && write(STDERR_FILENO, line, bytes) >= 0;
    if (told) await_reader(STDERR_FILENO);
    await_reader(STDOUT_FILENO);
    transport->abort(code);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* cost_measure.c - the figures of cost.h: measured, kept in a file of the user's cache folder, read again.
 *
 *     costs 1 RANKS name value name value ...      a line for each number of ranks on a host */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/plain.h"
#include "base/clock.h"
#include "base/text.h"
#include "ops/ops_impl.h"
#include "spore/runtime.h"
#include "parallel/cost.h"

static const sp_op *const kinds[SP_COST_KINDS] = {&sp_op_all_reduce, &sp_op_all_gather, &sp_op_reduce_scatter,
                                                  &sp_op_rank_exchange};
enum { FIGURES = (int)(sizeof(sp_costs) / sizeof(double)), RANKS_MAX = 64 };

/* Round numbers in the range of a server's core, not measured: for machines where nobody has run spore bench --comm. */
static const sp_costs usual = {
    .ranks = 2,
    .node = 400,
    .element = 0.15,
    .byte = 0.12,
    .product = {250, 500, 2000, 8000, 45000, 350000, 2800000},
    .exchange = {{6e3, 6e3, 6.5e3, 8e3, 1.6e4, 6e4, 4e5, 3.2e6, 2.6e7},
                 {6e3, 6e3, 6.5e3, 8e3, 1.6e4, 6e4, 4e5, 3.2e6, 2.6e7},
                 {6e3, 6e3, 6.5e3, 8e3, 1.2e4, 4e4, 2.5e5, 2e6, 1.6e7},
                 {6e3, 6e3, 6.5e3, 8e3, 1.2e4, 4e4, 2.5e5, 2e6, 1.6e7}},
    .link_latency = 2e4,
    .link_byte = 0.8, /* 10 Gbit/s */
};

/* --- the file ---------------------------------------------------------------------------------------------------- */

static bool file_path(char *path, size_t room, bool make)
{
    const char *named = getenv("SPORE_COSTS"), *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (named && *named) return sp__snprintf(path, room, "%s", named) < (int)room;
    char folder[1900];
    if (cache && *cache) sp__snprintf(folder, sizeof folder, "%s", cache);
    else if (home && *home) sp__snprintf(folder, sizeof folder, "%s/.cache", home);
    else return false;
    if (make) mkdir(folder, 0700);
    sp__snprintf(path, room, "%s/spore", folder);
    if (make) mkdir(path, 0700);
    return sp__snprintf(path, room, "%s/spore/costs", folder) < (int)room;
}

/* One line into figures; false: it is of another version or broken. */
static bool parse_line(char *line, sp_costs *out)
{
    double *v = (double *)out;
    char *at = line + strlen("costs 1"), *end;
    if (strncmp(line, "costs 1 ", 8) != 0) return false;
    for (int i = 0; i < FIGURES; i++) {
        v[i] = sp__strtod(at, &end);
        if (end == at || !(v[i] >= 0)) return false;
        at = end;
    }
    return out->ranks >= 1;
}

/* All lines: room for RANKS_MAX. */
static int read_file(sp_costs *all)
{
    char path[2048];
    char *line = NULL;
    size_t room = 0;
    int n = 0;
    FILE *f = file_path(path, sizeof path, false) ? fopen(path, "re") : NULL;
    while (f && n < RANKS_MAX && getline(&line, &room, f) > 0) n += parse_line(line, &all[n]);
    free(line); /* getline's */
    if (f) fclose(f);
    return n;
}

static sp_status write_file(const sp_costs *all, int n)
{
    char path[2048], temporary[2100];
    SP_CHECK(file_path(path, sizeof path, true), SP_IO,
             "there is no folder for figures: set SPORE_COSTS to a file, or HOME");
    sp__snprintf(temporary, sizeof temporary, "%s.%d", path, (int)getpid());
    FILE *f = fopen(temporary, "we");
    SP_CHECK(f, SP_IO, "%s: %s", temporary, sp__strerror(errno));
    bool good = true;
    for (int k = 0; k < n; k++) {
        const double *v = (const double *)&all[k];
        char number[64];
        good &= fputs("costs 1", f) >= 0;
        for (int i = 0; i < FIGURES; i++) {
            sp__snprintf(number, sizeof number, " %.9g", v[i]);
            good &= fputs(number, f) >= 0;
        }
        good &= fputs("\n", f) >= 0;
    }
    good &= fclose(f) == 0;
    if (good && rename(temporary, path) == 0) return SP_OK;
    const sp_status status = sp__fail(SP_IO, "%s: %s", path, sp__strerror(errno));
    unlink(temporary);
    return status;
}

/* Those of as many ranks on a host, else of the most that are fewer, else of the fewest. */
static sp_costs nearest(const sp_costs *all, int n, int ranks)
{
    const sp_costs *best = NULL;
    for (int i = 0; i < n; i++) {
        const bool fits = all[i].ranks <= ranks, better = best && all[i].ranks > best->ranks;
        if (!best || (fits && (better || best->ranks > ranks)) || (!fits && best->ranks > ranks && !better))
            best = &all[i];
    }
    return best ? *best : usual;
}

static void read_link(sp_costs *c)
{
    const char *text = getenv("SPORE_LINK"); /* microseconds,gigabits a second */
    char *end;
    if (!text || !*text) return;
    const double us = sp__strtod(text, &end);
    const double rate = *end == ',' ? sp__strtod(end + 1, &end) : 0;
    if (us < 0 || !(rate > 0) || *end) return;
    c->link_latency = us * 1e3;
    c->link_byte = 8 / rate;
}

sp_status sp__costs_find(sp_costs *out)
{
    sp_costs *room = sp__alloc(RANKS_MAX * sizeof *room);
    if (!room) return SP_NOMEM;
    sp_comm *world = sp_comm_world();
    int here = sp_comm_local_size(world);
    const int n = read_file(room);
    bool known = false;
    for (int i = 0; i < n; i++) known |= room[i].ranks == here;
    if (sp_job_simulated() && !known) { /* ranks beyond the processors of this machine are those of others */
        const int most = (int)sysconf(_SC_NPROCESSORS_ONLN);
        if (most > 0 && here > most) here = most;
    }
    *out = nearest(room, n, here);
    sp__free(room);
    read_link(out);
    if (!world || world->size == 1) return SP_OK;
    return sp_comm_run(world, &(sp_exchange){.kind = SP_EXCHANGE_BROADCAST,
                                             .dtype = SP_DTYPE_U8,
                                             .n = sizeof *out,
                                             .in = out,
                                             .out = out,
                                             .where = "figures of the machine"});
}

/* --- measuring --------------------------------------------------------------------------------------------------- */

static sp_status filled(int rank, const int64_t *dims, sp_tensor **out)
{
    SP_TRY(sp_tensor_create(SP_DTYPE_F32, rank, dims, out));
    float *v = sp_tensor_data(*out);
    for (int64_t i = 0; i < sp_tensor_count(*out); i++) v[i] = (float)(i % 7) * 0.25f;
    return SP_OK;
}

/* The median of several runs, ns each; all ranks begin together. */
static sp_status time_op(const sp_op *op, int n_in, sp_tensor *const *in, double least_ns, double *out)
{
    enum { RUNS = 15 };
    double each[RUNS];
    int repeat = 1;
    for (int k = -2; k < RUNS; k++) {
        if (sp_comm_size(sp_comm_world()) > 1)
            SP_TRY(sp_comm_run(sp_comm_world(), &(sp_exchange){.kind = SP_EXCHANGE_BARRIER, .where = "measuring"}));
        const int64_t start = sp__clock_ns();
        for (int i = 0; i < repeat; i++) {
            sp_tensor *made = NULL;
            int n_made;
            SP_TRY(sp_apply(op, NULL, n_in, in, 1, &made, &n_made));
            sp_tensor_release(made);
        }
        const double took = (double)(sp__clock_ns() - start) / repeat;
        if (k == -1 && !op->collective && took < least_ns) repeat = (int)(least_ns / (took > 10 ? took : 10)) + 1;
        if (k >= 0) each[k] = took;
    }
    for (int i = 1; i < RUNS; i++)
        for (int j = i; j > 0 && each[j] < each[j - 1]; j--) {
            const double t = each[j];
            each[j] = each[j - 1];
            each[j - 1] = t;
        }
    *out = each[RUNS / 2];
    return SP_OK;
}

static sp_status measure_product(int i, double *ns)
{
    static const int64_t sizes[SP_COST_PRODUCTS][3] = {{8, 16, 8},      {16, 32, 16},    {32, 64, 32},    {64, 128, 64},
                                                       {128, 256, 128}, {256, 512, 256}, {512, 1024, 512}};
    sp_tensor *in[2] = {NULL, NULL};
    sp_status status = filled(2, (const int64_t[2]){sizes[i][0], sizes[i][1]}, &in[0]);
    if (status == SP_OK) status = filled(2, (const int64_t[2]){sizes[i][1], sizes[i][2]}, &in[1]);
    if (status == SP_OK) status = time_op(&sp_op_matmul, 2, in, 2e5, ns);
    sp_tensor_release(in[0]);
    sp_tensor_release(in[1]);
    return status;
}

static sp_status measure_unary(const sp_op *op, int64_t n, double *ns)
{
    sp_tensor *in = NULL;
    sp_status status = filled(1, &n, &in);
    if (status == SP_OK) status = time_op(op, 1, &in, 2e5, ns);
    sp_tensor_release(in);
    return status;
}

static sp_status measure_exchange(int kind, int i, double *ns)
{
    int64_t n = 1;
    const int64_t size = sp_comm_size(sp_comm_world());
    for (int k = 0; k < i; k++) n *= 8;
    const int64_t rows = (n + size - 1) / size;
    const int64_t dims[2] = {kind == 3 ? size : rows * size, kind == 3 ? rows : 1};
    sp_tensor *in = NULL;
    sp_status status = kind == 0 || kind == 1 ? filled(1, &n, &in) : filled(2, dims, &in);
    if (status == SP_OK) status = time_op(kinds[kind], 1, &in, 0, ns);
    sp_tensor_release(in);
    return status;
}

static sp_status measure(sp_costs *c)
{
    double small, large;
    *c = usual;
    c->ranks = sp_comm_local_size(sp_comm_world());
    for (int i = 0; i < SP_COST_PRODUCTS; i++) SP_TRY(measure_product(i, &c->product[i]));
    SP_TRY(measure_unary(&sp_op_neg, 16, &small));
    SP_TRY(measure_unary(&sp_op_neg, 8192, &large)); /* as in a fused chain: in the cache */
    c->node = small;
    c->element = large > small ? (large - small) / 8192 : 0;
    SP_TRY(measure_unary(&sp_op_neg, 4 << 20, &large));
    c->byte = (large - small) / (8.0 * (4 << 20));
    for (int k = 0; k < SP_COST_KINDS && sp_comm_size(sp_comm_world()) > 1; k++)
        for (int i = 0; i < SP_COST_EXCHANGES; i++) SP_TRY(measure_exchange(k, i, &c->exchange[k][i]));
    return SP_OK;
}

static sp_status tell(const sp_costs *c, char **out)
{
    sp__text t = {0};
    double bytes = 4, products = 1024;
    sp__text_put(
        &t,
        "ranks on this host        %12.0f\noperator                  %12.2f us\nelement of a chain        %12.3f ns\nbyte of memory            %12.3f ns\n\n",
        c->ranks, c->node / 1e3, c->element, c->byte);
    sp__text_put(&t, "multiplications                     us     G/s\n");
    for (int i = 0; i < SP_COST_PRODUCTS; i++, products *= 8)
        sp__text_put(&t, "%15.0f        %15.3f %7.1f\n", products, c->product[i] / 1e3, products / c->product[i]);
    if (c->ranks > 1) {
        sp__text_put(&t, "\n          bytes   all_reduce   all_gather  reduce_scatter   all_to_all  (us)\n");
        for (int i = 0; i < SP_COST_EXCHANGES; i++, bytes *= 8)
            sp__text_put(&t, "%15.0f %12.1f %12.1f %15.1f %12.1f\n", bytes, c->exchange[0][i] / 1e3,
                         c->exchange[1][i] / 1e3, c->exchange[2][i] / 1e3, c->exchange[3][i] / 1e3);
    }
    return sp__text_take(&t, out);
}

sp_status sp_costs_measure(char **report)
{
    sp_costs c, *all = sp__alloc((RANKS_MAX + 1) * sizeof *all);
    int n = 0;
    sp_status status = all ? sp_job_join() : SP_NOMEM;
    if (status == SP_OK && sp_job_simulated())
        status = sp__fail(SP_RUNTIME, "a simulated job cannot be measured: unset SPORE_SIMULATE");
    if (status == SP_OK) status = measure(&c);
    if (status == SP_OK && sp_comm_rank(sp_comm_world()) == 0) {
        const int had = read_file(all);
        for (int i = 0; i < had; i++)
            if (all[i].ranks != c.ranks) all[n++] = all[i];
        if (n == RANKS_MAX) n--;
        all[n++] = c;
        status = write_file(all, n);
    }
    if (status == SP_OK) status = tell(&c, report);
    sp__free(all);
    return status;
}

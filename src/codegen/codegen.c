/* SPDX-License-Identifier: Apache-2.0 */
/* codegen.c - models as C: from models to a folder, and the report about it. */
#include <stdio.h>

#include "base/file.h"
#include "base/plain.h"
#include "codegen/codegen.h"
#include "codegen/codegen_record.h"

const char *sp_codegen_target(int i, const char **doc)
{
    for (int k = 0; k < i; k++)
        if (i < 0 || sp__codegen_targets[k].name == NULL) return NULL;
    if (i < 0) return NULL;
    if (doc != NULL) *doc = sp__codegen_targets[i].doc;
    return sp__codegen_targets[i].name;
}

static sp_status find_target(const char *name, const sp_codegen_machine **out)
{
    sp__text list = {0};
    *out = sp__codegen_targets;
    if (name == NULL) return SP_OK;
    for (; (*out)->name != NULL; ++*out) {
        if (strcmp((*out)->name, name) == 0) return SP_OK;
        sp__text_put(&list, "%s%s", list.used == 0 ? "" : ", ", (*out)->name);
    }
    char *text;
    SP_TRY(sp__text_take(&list, &text));
    const sp_status status = sp__fail(SP_VALUE, "there is no target '%s'; there are %s", name, text);
    sp__free(text);
    return status;
}

/* A name that C functions can begin with. */
static sp_status check_name(const char *name)
{
    bool fits = sp__is_alpha(name[0]) || name[0] == '_';
    for (const char *at = name; *at != '\0' && fits; at++) fits = sp__is_alnum(*at) || *at == '_';
    SP_CHECK(fits && strlen(name) < 64, SP_VALUE,
             "'%s' is no C identifier of at most 63 characters, which functions of the model begin with", name);
    return SP_OK;
}

/* Files of the project are called after the models, and beside them there are others. */
static sp_status check_files(int n, const char *const *names)
{
    static const char *const own[] = {"main", "weights", "arena", "start"};
    static const char behind[] = "_weights";
    for (int i = 0; i < n; i++) {
        SP_CHECK(names[i] != NULL, SP_VALUE, "name %d is NULL", i);
        for (size_t k = 0; k < sizeof own / sizeof *own; k++)
            SP_CHECK(strcmp(names[i], own[k]) != 0, SP_VALUE,
                     "a model cannot be called '%s': %s.c is another file of the project", names[i], own[k]);
        for (int k = 0; k < n; k++) {
            const size_t stem = names[k] != NULL ? strlen(names[k]) : 0;
            SP_CHECK(k >= i || strcmp(names[i], names[k]) != 0, SP_VALUE, "two models are called '%s'", names[i]);
            SP_CHECK(n == 1 || stem == 0 || strncmp(names[i], names[k], stem) != 0 ||
                         strcmp(names[i] + stem, behind) != 0,
                     SP_VALUE, "a model cannot be called '%s': %s.c holds the weights of '%s'", names[i], names[i],
                     names[k]);
        }
    }
    return SP_OK;
}

static sp_status check_options(const sp_codegen_options *o)
{
    SP_CHECK(o->struct_size >= sizeof *o, SP_VALUE,
             "struct_size of the options is %u, set it to sizeof(sp_codegen_options)", o->struct_size);
    SP_CHECK(o->n_train >= 0 && (o->n_train == 0 || o->train != NULL), SP_VALUE,
             "n_train is %d, it must be the number of names in train", o->n_train);
    SP_CHECK(o->n_train > 0 || (o->optimizer == NULL && o->loss == NULL), SP_VALUE,
             "optimizer and loss are for training: n_train is 0, they would change nothing");
    return SP_OK;
}

/* A recorded function as C texts, placed. */
static sp_status generate(sp_codegen *g, sp_graph *graph, sp_function *f)
{
    sp_status status = sp__codegen_compile(g, f);
    if (status == SP_OK) status = sp__codegen_lower(g);
    if (status == SP_OK) status = sp__codegen_functions(g);
    if (status == SP_OK) status = sp__codegen_place(g);
    sp_graph_release(graph);
    return status;
}

static sp_status generate_run(sp_model *m, sp_codegen *g, sp_codegen_vector *v)
{
    sp_graph *graph = NULL;
    sp_function *f;
    snprintf(g->run, sizeof g->run, "%s_run", g->name);
    SP_TRY(sp__codegen_record(m, g->shared, &g->memory, &graph, &f));
    SP_TRY(generate(g, graph, f));
    return sp__codegen_vector_make(m, v);
}

static sp_status generate_step(sp_model *m, const sp_codegen_options *options, sp_codegen *g, sp_codegen_vector *v)
{
    sp_graph *graph = NULL;
    sp_function *f;
    snprintf(g->run, sizeof g->run, "%s", g->name);
    g->defines = true;
    SP_TRY(sp__codegen_record_step(m, options, g->shared, &g->memory, &graph, &f));
    SP_TRY(generate(g, graph, f));
    return sp__codegen_step_vector(m, g, v);
}

/* --- the report -------------------------------------------------------------------------------------------------- */

/* Bytes of its blocks of a kind: states are weights that are trained, too, and what optimizers keep. */
static size_t bytes_of(const sp_codegen *g, sp_codegen_kind kind, int *n)
{
    size_t bytes = 0;
    *n = 0;
    for (int i = 0; i < g->n_blocks; i++)
        if (g->blocks[i].kind == kind && g->blocks[i].used) {
            bytes += g->blocks[i].bytes;
            ++*n;
        }
    return bytes;
}

/* Whether the board has room for it: the arena, states, constants; code and stack come on top. */
static sp_status check_room(const sp_codegen_project *p, const sp_codegen_options *options)
{
    uint64_t ram = p->arena_bytes, flash = 0;
    int n;
    if (options == NULL) return SP_OK;
    for (int k = 0; k < p->n_models; k++) {
        const sp_codegen *g = &p->models[k];
        const size_t states = bytes_of(g, SP_BLOCK_STATE, &n);
        if (g->shared == NULL || g->defines) ram += states;
        flash += bytes_of(g, SP_BLOCK_CONSTANT, &n) + (g->shared == NULL || g->defines ? states : 0);
    }
    SP_CHECK(options->ram_bytes == 0 || ram <= options->ram_bytes, SP_VALUE,
             "%llu bytes of RAM are needed (arena %zu, the rest is state), but there are %llu; a smaller model, "
             "smaller inputs or int8 need less",
             (unsigned long long)ram, p->arena_bytes, (unsigned long long)options->ram_bytes);
    SP_CHECK(options->flash_bytes == 0 || flash <= options->flash_bytes, SP_VALUE,
             "%llu bytes of flash are needed for constants alone, but there are %llu; a smaller model or "
             "int8 need less",
             (unsigned long long)flash, (unsigned long long)options->flash_bytes);
    return SP_OK;
}

static void put_sums(sp__text *t, const sp_codegen *g)
{
    int n_weights, n_states, n_calls = 0;
    const size_t states = bytes_of(g, SP_BLOCK_STATE, &n_states), weights = bytes_of(g, SP_BLOCK_CONSTANT, &n_weights);
    for (int i = 0; i < g->n_steps; i++) n_calls += g->steps[i].function >= 0;
    sp__text_put(t, "%s: %d calls of %d functions\n", g->name, n_calls, g->n_functions);
    sp__text_put(t, "  RAM    %10zu bytes  arena (lower bound %zu)\n", g->arena_bytes, g->least_bytes);
    if (states > 0)
        sp__text_put(t, "  RAM    %10zu bytes  state%s\n", states,
                     g->shared == NULL ? ""
                     : g->defines      ? ": weights that are trained, and what the optimizer keeps"
                                       : ", that of training");
    sp__text_put(t, "  flash  %10zu bytes  weights, %d arrays\n", weights, n_weights);
}

/* Steps with what they hold of the arena while they run, and their weights. */
static void put_steps(sp__text *t, const sp_codegen *g)
{
    for (int i = 0; i < g->n_steps; i++) {
        const sp_codegen_step *s = &g->steps[i];
        size_t alive = 0, weights = 0;
        if (s->function < 0) continue;
        for (int k = 0; k < g->n_blocks; k++) {
            const sp_codegen_block *b = &g->blocks[k];
            if (b->kind == SP_BLOCK_ARENA && b->over < 0 && b->first <= i && i <= b->last) alive += b->bytes;
        }
        for (int k = 0; k < s->n_args; k++)
            if (g->blocks[s->args[k].block].kind == SP_BLOCK_CONSTANT) weights += g->blocks[s->args[k].block].bytes;
        sp__text_put(t, "    %-28s_%-4d arena %9zu  weights %9zu\n", g->functions[s->function].what, s->function, alive,
                     weights);
    }
}

static sp_status report(const sp_codegen_project *p, char **out)
{
    sp__text t = {0};
    for (int k = 0; k < p->n_models; k++) {
        put_sums(&t, &p->models[k]);
        put_steps(&t, &p->models[k]);
    }
    if (p->n_models > 1) sp__text_put(&t, "RAM of the shared arena: %zu bytes\n", p->arena_bytes);
    sp__text_put(&t, "code and stack: what the compiler makes of it; `make` in %s, then `size test.elf`\n", p->folder);
    return sp__text_take(&t, out);
}

/* --- all of it --------------------------------------------------------------------------------------------------- */

static void project_free(sp_codegen_project *p)
{
    for (int k = 0; k < p->n_models; k++) {
        if (p->models != NULL) sp__codegen_free(&p->models[k]);
        if (p->vectors != NULL) sp__codegen_vector_free(&p->vectors[k]);
    }
    for (int i = 0; p->shared != NULL && i < p->shared->n; i++) sp_tensor_release(p->shared->tensors[i]);
    sp__free(p->shared);
    sp__free(p->models);
    sp__free(p->vectors);
    sp__free((void *)p->sources);
}

/* The step of training stands behind the model, as another one: its name, and the variables of both. */
static sp_status add_training(sp_codegen_project *p, sp_model *m, const sp_codegen_options *options)
{
    SP_CHECK(p->n_models == 2, SP_DECLINED, "training is generated for one model at a time");
    const int n = snprintf(p->trained, sizeof p->trained, "%s_train", p->models[0].name);
    SP_CHECK(n < (int)sizeof p->trained, SP_VALUE, "the name '%s' is too long for training", p->models[0].name);
    p->models[1].name = p->trained;
    p->sources[1] = "its training";
    p->shared = sp__alloc_zero(sizeof *p->shared);
    if (p->shared == NULL) return SP_NOMEM;
    p->shared->name = p->models[0].name;
    p->models[0].shared = p->models[1].shared = p->shared;
    return sp__codegen_trained(m, options, p->shared);
}

static sp_status project_make(sp_codegen_project *p, int n, sp_model *const *models, const char *const *names,
                              const sp_codegen_options *options)
{
    const bool training = options != NULL && options->n_train > 0;
    const int n_all = n + training;
    p->models = sp__alloc_zero((size_t)n_all * sizeof *p->models);
    p->vectors = sp__alloc_zero((size_t)n_all * sizeof *p->vectors);
    p->sources = sp__alloc_zero((size_t)n_all * sizeof *p->sources);
    if (p->models == NULL || p->vectors == NULL || p->sources == NULL) return SP_NOMEM;
    p->n_models = n_all;
    for (int k = 0; k < n; k++) {
        p->models[k].name = names != NULL ? names[k] : "model";
        p->sources[k] = names != NULL ? names[k] : "a model";
        SP_TRY(check_name(p->models[k].name));
    }
    if (training) SP_TRY(add_training(p, models[0], options));
    for (int k = 0; k < n; k++) {
        const sp_status status = generate_run(models[k], &p->models[k], &p->vectors[k]);
        if (status != SP_OK && n > 1) sp__error_context("%s", p->models[k].name);
        SP_TRY(status);
    }
    if (training) SP_TRY(generate_step(models[0], options, &p->models[n], &p->vectors[n]));
    for (int k = 0; k < n_all; k++)
        if (p->models[k].arena_bytes > p->arena_bytes) p->arena_bytes = p->models[k].arena_bytes;
    SP_TRY(check_room(p, options));
    SP_TRY(sp__folder_make(p->folder));
    return sp__codegen_files(p);
}

sp_status sp_codegen_write(int n, sp_model *const *models, const char *const *names, const char *folder,
                           const sp_codegen_options *options, char **out)
{
    SP_CHECK(n >= 1 && models != NULL && folder != NULL && folder[0] != '\0', SP_VALUE,
             "at least one model and a folder are needed");
    SP_CHECK(n == 1 || names != NULL, SP_VALUE, "%d models need names", n);
    if (options != NULL) SP_TRY(check_options(options));
    if (names != NULL) SP_TRY(check_files(n, names));
    sp_codegen_project p = {.folder = folder};
    sp_status status = find_target(options != NULL ? options->target : NULL, &p.target);
    if (status == SP_OK) status = project_make(&p, n, models, names, options);
    if (status == SP_OK && out != NULL) status = report(&p, out);
    project_free(&p);
    return status;
}

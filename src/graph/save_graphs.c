/* SPDX-License-Identifier: Apache-2.0 */
/* save_graphs.c - the graph of a program as text files, one for each step from what was captured to what runs.
 *
 *     00_captured_0003.ir  01_inline_0003.ir  02_fold_0003.ir ...
 *
 * The last number is that of the program in this process, so that the files of one sort together under `ls *_0003.*`. The first line of
 * each says what was compiled and what was done last; then comes the text of print.c, of constants the beginning only. */
#include <stdio.h>

#include "base/file.h"
#include "graph/passes/passes.h"

static atomic_uint next_number;

sp_status sp__save_graphs_begin(sp_program *p, const sp_program_options *options)
{
    if (!options || !options->save_graphs || options->save_level == 0) return SP_OK;
    SP_CHECK(options->save_level >= 1 && options->save_level <= 3, SP_VALUE,
             "save_level of the options is %d, it must be in 0..3", options->save_level);
    SP_CHECK(*options->save_graphs, SP_VALUE,
             "the folder to save graphs in is '', name one; '.' is the one the process runs in");
    p->save_folder = sp__strdup(options->save_graphs);
    if (!p->save_folder) return SP_NOMEM;
    p->save_level = options->save_level;
    p->save_number = atomic_fetch_add(&next_number, 1);
    return sp__folder_make(p->save_folder);
}

static void put_title(sp__text *t, const sp_program *p, const sp_pass_report *last)
{
    const sp_function *f = p->graph->entry;
    int n_functions = 0, n_nodes = 0;
    const sp_place *place = NULL;
    for (const sp_function *each = p->graph->first; each; each = each->next, n_functions++)
        for (const sp_node *n = each->first; n; n = n->next, n_nodes++)
            if (!place) place = n->place;
    sp__text_put(t, "# %s", f->name);
    if (place && place->file) sp__text_put(t, " (%s:%d)", place->file, place->line);
    sp__text_put(t, ", program %u of this process, ", p->save_number);
    if (last) sp__text_put(t, "after pass %s (%s: %d)", last->name, last->what, last->count);
    else sp__text_put(t, "as captured");
    sp__text_put(t, ": %d parameters, %d functions, %d nodes\n", f->n_params, n_functions, n_nodes);
}

static sp_status write_file(const sp_program *p, const char *pass, const char *ending, const char *title,
                            const char *text)
{
    sp__text path = {0};
    char *name = NULL;
    sp_replace *file = NULL;
    sp_status status;
    sp__text_put(&path, "%s/%02d_%s_%04u.%s", p->save_folder, p->n_saved, pass, p->save_number, ending);
    SP_TRY(sp__text_take(&path, &name));
    SP_GOTO(done, sp__replace_open(name, &file));
    sp__replace_hasty(file);
    if (title) SP_GOTO(done, sp__replace_write(file, title, strlen(title)));
    SP_GOTO(done, sp__replace_write(file, text, strlen(text)));
    status = sp__replace_take_commit(file);
    file = NULL;
done:
    if (status != SP_OK) sp__error_context("graph %s", name);
    sp__replace_abort(file);
    sp_text_free(name);
    return status;
}

sp_status sp__save_graphs_step(sp_program *p, const sp_pass_report *last)
{
    if (!p->save_folder || (p->save_level == 1 && last && last->count == 0)) return SP_OK;
    sp__text t = {0};
    char *title = NULL, *text = NULL, *drawing = NULL;
    sp_status status;
    put_title(&t, p, last);
    const char *pass = last ? last->name : "captured";
    SP_GOTO(done, sp__text_take(&t, &title));
    SP_GOTO(done, sp__graph_print(p->graph, true, &text));
    SP_GOTO(done, write_file(p, pass, "ir", title, text));
    if (p->save_level >= 3) {
        SP_GOTO(done, sp_graph_dot(p->graph, &drawing));
        SP_GOTO(done, write_file(p, pass, "dot", NULL, drawing));
    }
done:
    p->n_saved++;
    sp_text_free(title);
    sp_text_free(text);
    sp_text_free(drawing);
    return status;
}

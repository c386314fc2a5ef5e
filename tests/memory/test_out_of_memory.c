/* SPDX-License-Identifier: Apache-2.0 */
/* Memory runs out while things are done (works.h has them, starve.h says what must hold): at the first allocations of each, and at some of
 * the others; long_out_of_memory.c tries all. And with a limit from the start, as sp_memory_set_limit sets it. */
#include "memory/works.h"

/* In a process of its own: a limit before anything else; then none. */
static sp_status limited_status;
static size_t limit;
static const starve_work *limited;
static sp_status run_limited(uint64_t *digest)
{
    sp_memory_set_limit(limit);
    limited_status = limited->run(digest);
    sp_memory_set_limit(0);
    return limited_status;
}

static int limits(const char *name)
{
    int n_failed = 0;
    for (size_t i = 0; i < sizeof works / sizeof *works; i++)
        if (strcmp(works[i].name, name) == 0) limited = &works[i];
    for (limit = 64; limit <= 4 << 20; limit *= 4) {
        char text[64];
        snprintf(text, sizeof text, "%s, limit %zu", name, limit);
        /* The limit is what starves it: the attempt itself counts as one without a cause when it fails otherwise. */
        memset(starve_shared, 0, sizeof *starve_shared);
        const pid_t child = fork();
        if (child == 0) {
            alarm(60);
            uint64_t digest = 0, right = 0;
            const sp_status status = run_limited(&digest);
            bool ok = status == SP_OK || (status == SP_NOMEM && speaks_of_memory(sp_error_message()));
            if (!ok) starve_say(starve_shared, "%s", sp_error_message());
            ok = ok && limited->run(&right) == SP_OK && (status != SP_OK || digest == right);
            _exit(!ok);
        }
        int state = 0;
        while (waitpid(child, &state, 0) < 0 && errno == EINTR) {}
        if (state == 0) continue;
        n_failed++;
        printf("%s: %s %d: %s\n", text, WIFSIGNALED(state) ? "signal" : "code",
               WIFSIGNALED(state) ? WTERMSIG(state) : WEXITSTATUS(state), starve_shared->text);
    }
    return n_failed;
}

int main(void)
{
    works_begin();
    int n_failed = works_starve(false, NULL, 0, -1);
    n_failed += limits("conv_gradient") + limits("onnx_run") + limits("graph_run") + limits("record_read") +
                limits("png_decode");
    works_end();
    printf("%d attempts failed\n", n_failed);
    return n_failed != 0;
}

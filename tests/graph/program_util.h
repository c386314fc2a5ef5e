/* SPDX-License-Identifier: Apache-2.0 */
/* program_util.h - for tests of programs: a builder and a graph for each test, and calls that must succeed. After cmocka.h. */
#ifndef SPORE_TESTS_PROGRAM_UTIL_H
#define SPORE_TESTS_PROGRAM_UTIL_H

#include "spore/spore.h"

static sp_builder *b;
static sp_graph *g;

static int setup(void **state)
{
    (void)state;
    return sp_builder_create(&b) != SP_OK || sp_graph_create(&g) != SP_OK;
}

static int teardown(void **state)
{
    (void)state;
    sp_builder_release(b);
    sp_graph_release(g);
    return 0;
}

#define OK(expr) assert_fine((expr), #expr)
static inline void assert_fine(sp_status status, const char *what)
{
    if (status != SP_OK) fail_msg("%s: %s", what, sp_error_message());
}

#endif

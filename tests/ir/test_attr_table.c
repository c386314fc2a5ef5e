/* SPDX-License-Identifier: Apache-2.0 */
/* Defaults of attributes are constant data beside the text that people and files read: both say the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ops/ops_impl.h"

static const char *initial_text(const sp_attr *a) { return a->initial ? a->initial : "None"; }

/* A number that must be given has no None: it stands as 0. */
static bool stands_as_zero(const sp_attr *a)
{
    return !a->initial && (a->type == SP_ATTR_FLOAT || a->type == SP_ATTR_BOOL);
}

static void defaults_say_what_their_texts_say(void **state)
{
    (void)state;
    int n_attrs = 0;
    for (int i = 0; i < sp_op_count(); i++) {
        const sp_op *op = sp_op_at(i);
        assert_int_equal(op->n_attrs == 0, op->defaults == NULL);
        if (!op->n_attrs) continue;
        void *attrs = sp__alloc_zero(op->attrs_bytes);
        sp_attr_text keep = {.n_blocks = 0};
        for (int k = 0; k < op->n_attrs; k++, n_attrs++)
            if (!stands_as_zero(&op->attrs[k]))
                assert_int_equal(sp__attr_parse(op, &op->attrs[k], initial_text(&op->attrs[k]), attrs, &keep), SP_OK);
        if (!sp__attrs_equal(op, attrs, op->defaults)) fail_msg("%s: defaults and their texts differ", op->name);
        sp__attr_text_free(&keep);
        sp__free(attrs);
    }
    assert_true(n_attrs > 300);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(defaults_say_what_their_texts_say)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

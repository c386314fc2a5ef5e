/* SPDX-License-Identifier: Apache-2.0 */
/* table.c - the list of all operators, and what is derived from their entries once: input names, numbers. Nothing in it can fail. */
#include "base/lock.h"
#include "base/parts.h"
#include "ir/op_count.h"
#include "ops/ops_impl.h"
#include "ops/registered.h"

static const sp_op *const table[] = {
/* those of this build */
#define SP_OP(name) SP_IF_OPERATOR(name, &sp_op_##name, )
#include "ops/ops.def"
#undef SP_OP
};
enum { OP_COUNT = sizeof table / sizeof *table, HASH_SIZE = 2048, REGISTERED_MAX = SP_CUSTOM_MAX };
_Static_assert(OP_COUNT * 2 < HASH_SIZE, "make the hash tables larger");
_Static_assert((int)OP_COUNT + (int)REGISTERED_MAX <= (int)SP_OPS_MAX, "make SP_OPS_MAX larger");

static sp_inputs inputs_of[OP_COUNT];
static int16_t by_name[HASH_SIZE], by_address[HASH_SIZE]; /* number + 1; 0: empty */
static sp_once once = SP_ONCE_INIT;

/* Operators of the program's own (registered.c), behind those of the list. They never go. */
static const sp_registered *registered[REGISTERED_MAX];
static atomic_int n_registered;
static sp_lock registering = SP_LOCK_INIT;

static unsigned hash_text(const char *s)
{
    unsigned h = 2166136261u;
    for (; *s; s++) h = (h ^ (unsigned char)*s) * 16777619u;
    return h % HASH_SIZE;
}

static unsigned hash_address(const sp_op *op)
{
    uintptr_t p = (uintptr_t)op;
    return (unsigned)((p >> 5) * 2654435761u >> 7) % HASH_SIZE;
}

void sp__op_parse_inputs(const sp_op *op, sp_inputs *out)
{
    const char *p = op->inputs ? op->inputs : "";
    while (*p) {
        if (*p == ' ' || *p == ',') {
            p++;
            continue;
        }
        size_t n = strcspn(p, " ,?.");
        if (out->n == SP_IN_MAX || n >= sizeof out->names[0]) return;
        memcpy(out->names[out->n], p, n);
        p += n;
        if (*p == '?') {
            out->optional |= 1u << out->n;
            p++;
        } else if (*p == '.') {
            out->variadic = true;
            p += strspn(p, ".");
        }
        out->n++;
    }
}

static void derive(void)
{
    for (int i = 0; i < OP_COUNT; i++) {
        const sp_op *op = table[i];
        unsigned h = hash_text(op->name), a = hash_address(op);
        while (by_name[h]) h = (h + 1) % HASH_SIZE;
        while (by_address[a]) a = (a + 1) % HASH_SIZE;
        by_name[h] = by_address[a] = (int16_t)(i + 1);
        sp__op_parse_inputs(op, &inputs_of[i]);
    }
}

static int registered_count(void) { return atomic_load_explicit(&n_registered, memory_order_acquire); }

int sp_op_count(void) { return OP_COUNT + registered_count(); }
const sp_op *sp_op_at(int i)
{
    if (i < 0 || i >= sp_op_count()) return NULL;
    return i < OP_COUNT ? table[i] : &registered[i - OP_COUNT]->op;
}
const char *sp_op_name(const sp_op *op) { return op ? op->name : NULL; }
const char *sp_op_inputs(const sp_op *op) { return op ? op->inputs : NULL; }
const char *sp_op_doc(const sp_op *op)
{
    if (!op) return NULL;
    return op->doc ? op->doc : "";
}
const char *sp_op_python(const sp_op *op)
{
    if (!op) return NULL;
    return op->python ? op->python : "";
}
int sp_op_results(const sp_op *op)
{
    if (!op) return 0;
    return op->n_out == 0 ? 1 : op->n_out;
}
bool sp_op_takes(const sp_op *op, sp_dtype dtype)
{
    if (!op) return false;
    return dtype >= 0 && dtype < SP_DTYPE_COUNT && ((op->dtypes ? op->dtypes : SP_DT_ALL) >> dtype & 1);
}

static const sp_op *find_in_list(const char *name)
{
    sp__once(&once, derive);
    for (unsigned h = hash_text(name); by_name[h]; h = (h + 1) % HASH_SIZE)
        if (strcmp(table[by_name[h] - 1]->name, name) == 0) return table[by_name[h] - 1];
    return NULL;
}

const sp_op *sp_op_find(const char *name)
{
    const sp_op *op = find_in_list(name);
    for (int i = 0, n = op ? 0 : registered_count(); i < n; i++)
        if (strcmp(registered[i]->op.name, name) == 0) return &registered[i]->op;
    return op;
}

int sp__op_id(const sp_op *op)
{
    sp__once(&once, derive);
    for (unsigned h = hash_address(op); by_address[h]; h = (h + 1) % HASH_SIZE)
        if (table[by_address[h] - 1] == op) return by_address[h] - 1;
    for (int i = 0, n = registered_count(); i < n; i++)
        if (&registered[i]->op == op) return OP_COUNT + i;
    return -1;
}

bool sp__op_is_registered(const sp_op *op) { return sp__op_id(op) >= OP_COUNT; }

const sp_inputs *sp__op_inputs(const sp_op *op)
{
    static const sp_inputs none;
    const int id = sp__op_id(op);
    if (id < 0) return &none;
    return id < OP_COUNT ? &inputs_of[id] : &registered[id - OP_COUNT]->inputs;
}

sp_status sp__op_add(const sp_registered *r)
{
    sp__lock(&registering);
    const int n = atomic_load_explicit(&n_registered, memory_order_relaxed);
    sp_status status = SP_OK;
    if (sp_op_find(r->op.name)) {
        status = sp__fail(SP_KEY, "there is an operator %s already; give yours a name of its own", r->op.name);
    } else if (n == REGISTERED_MAX) {
        status = sp__fail(SP_VALUE, "%d operators have been registered in this process, there is room for no more", n);
    } else {
        registered[n] = r;
        atomic_store_explicit(&n_registered, n + 1, memory_order_release);
    }
    sp__unlock(&registering);
    return status;
}

int sp_op_attrs(const sp_op *op, const sp_attr **attrs, size_t *attrs_bytes)
{
    if (!op) return 0;
    if (attrs) *attrs = op->attrs;
    if (attrs_bytes) *attrs_bytes = op->attrs_bytes;
    return op->n_attrs;
}

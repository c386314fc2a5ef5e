/* SPDX-License-Identifier: Apache-2.0 */
/* item.c - what models take and give besides tensors: texts, and sequences. */
#include <string.h>

#include "base/handle.h"
#include "formats/model_impl.h"

static sp_status item_create(sp_item **out)
{
    sp_item *item = sp__alloc_zero(sizeof *item);
    if (item == NULL) return SP_NOMEM;
    atomic_init(&item->refs, 1);
    item->n = -1;
    *out = item;
    return SP_OK;
}

sp_item *sp_item_retain(sp_item *item)
{
    if (item != NULL) atomic_fetch_add_explicit(&item->refs, 1, memory_order_relaxed);
    return item;
}

void sp_item_release(sp_item *item)
{
    if (item == NULL || atomic_fetch_sub_explicit(&item->refs, 1, memory_order_acq_rel) != 1) return;
    sp_tensor_release(item->tensor);
    for (int i = 0; i < item->n; i++) sp_item_release(item->items[i]);
    for (int64_t i = 0; i < item->n_texts; i++) sp__free(item->texts[i]);
    sp__free(item->items);
    sp__free(item->texts);
    sp__free(item);
}

sp_status sp_item_create_tensor(sp_tensor *t, sp_item **out)
{
    SP_CHECK(t != NULL && out != NULL, SP_VALUE, "tensor and out must not be NULL");
    SP_TRY(item_create(out));
    (*out)->tensor = sp_tensor_retain(t);
    return SP_OK;
}

sp_status sp_item_create_list(int n, sp_item *const *items, sp_item **out)
{
    SP_CHECK(n >= 0 && (items != NULL || n == 0) && out != NULL, SP_VALUE, "items and out must not be NULL");
    SP_HANDLES(n, items);
    sp_item *list;
    SP_TRY(item_create(&list));
    list->items = sp__alloc_zero((size_t)(n + 1) * sizeof *list->items);
    if (list->items == NULL) {
        sp_item_release(list);
        return SP_NOMEM;
    }
    for (int i = 0; i < n; i++) list->items[i] = sp_item_retain(items[i]);
    list->n = n;
    *out = list;
    return SP_OK;
}

static char *copy_text(const char *text)
{
    size_t bytes = strlen(text) + 1;
    char *own = sp__alloc(bytes);
    if (own != NULL) memcpy(own, text, bytes);
    return own;
}

sp_status sp_item_create_texts(int rank, const int64_t *dims, const char *const *texts, sp_item **out)
{
    SP_CHECK(rank >= 0 && rank <= SP_RANK_MAX && out != NULL, SP_VALUE, "rank is %d, it must be 0 to %d", rank,
             SP_RANK_MAX);
    int64_t n = 1;
    sp_item *item;
    for (int i = 0; i < rank; i++) {
        SP_CHECK(dims[i] >= 0 && dims[i] < INT32_MAX && n * dims[i] < INT32_MAX, SP_VALUE, "too many texts");
        n *= dims[i];
    }
    SP_TRY(item_create(&item));
    item->spec = (sp_spec){.dtype = SP_DTYPE_STR, .rank = rank};
    if (rank > 0) memcpy(item->spec.dims, dims, (size_t)rank * sizeof *dims);
    item->texts = sp__alloc_zero((size_t)(n + 1) * sizeof *item->texts);
    sp_status status = item->texts != NULL ? SP_OK : SP_NOMEM;
    for (int64_t i = 0; i < n && status == SP_OK; i++) {
        if (!(item->texts[i] = copy_text(texts[i]))) status = SP_NOMEM;
        else item->n_texts = i + 1;
    }
    if (status == SP_OK) *out = item;
    else sp_item_release(item);
    return status;
}

sp_tensor *sp_item_tensor(const sp_item *item) { return item ? item->tensor : NULL; }
int sp_item_count(const sp_item *item) { return item ? item->n : -1; }
sp_item *sp_item_at(const sp_item *item, int i) { return item && i >= 0 && i < item->n ? item->items[i] : NULL; }
const sp_spec *sp_item_texts(const sp_item *item) { return item && item->texts != NULL ? &item->spec : NULL; }
const char *sp_item_text(const sp_item *item, int64_t i)
{
    return item && i >= 0 && i < item->n_texts ? item->texts[i] : NULL;
}

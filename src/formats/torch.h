/* SPDX-License-Identifier: Apache-2.0 */
/* torch.h - what the two halves of reading PyTorch's files share: torch_objects.c knows the classes and functions that
 * occur in pickles, torch.c the files and the names that entries get. */
#ifndef SPORE_TORCH_H
#define SPORE_TORCH_H

#include "formats/format_impl.h"
#include "formats/pickle.h"

/* A block of numbers that tensors are views of. */
typedef struct sp_torch_storage {
    struct sp_torch_storage *next;
    const char *key;
    sp_dtype dtype;
    bool found;         /* contents were found: */
    sp_source contents; /* to be closed */
} sp_torch_storage;

/* In sp_pickle_value.other. */
typedef struct sp_torch_tensor {
    sp_torch_storage *storage; /* or, for an array of numpy, */
    const uint8_t *data;
    size_t bytes;
    uint64_t offset; /* elements */
    sp_meta meta;
    int64_t strides[SP_RANK_MAX];
    const char *small; /* format of 8-bit floats, whose codes they are; NULL: they are what they are */
} sp_torch_tensor;

typedef struct sp_torch {
    sp_torch_storage *storages; /* newest first */
} sp_torch;

/* Hooks for pickles of PyTorch; context: sp_torch. */
sp_pickle_hooks sp__torch_hooks(sp_torch *torch);
/* The tensors of a pickle that fills s, under their names in it. */
sp_status sp__torch_read_pickle(const sp_source *s, sp_bundle *bundle);
/* dtype of a storage class or of torch.float32 ...; NONE if it is not one we have. */
sp_dtype sp__torch_dtype(const sp_pickle_value *global);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* pickle.h - Python's pickles, read as data. Nothing is ever imported, constructed or called: what a pickle asks to be
 * called is handed to the caller of sp__pickle_read, who knows a few names and refuses the rest. */
#ifndef SPORE_PICKLE_H
#define SPORE_PICKLE_H

#include "base/arena.h"
#include "base/base.h"

typedef enum sp_pickle_kind {
    SP_PICKLE_NONE,
    SP_PICKLE_BOOL,   /* i */
    SP_PICKLE_INT,    /* i; numbers beyond 64 bits are SP_PICKLE_BYTES, little-endian */
    SP_PICKLE_FLOAT,  /* f */
    SP_PICKLE_STR,    /* text, bytes: UTF-8 */
    SP_PICKLE_BYTES,  /* text, bytes */
    SP_PICKLE_TUPLE,  /* items */
    SP_PICKLE_LIST,   /* items; sets too */
    SP_PICKLE_DICT,   /* items: key, value, key, value ... */
    SP_PICKLE_GLOBAL, /* text: "module.name" of a class or function */
    SP_PICKLE_OBJECT, /* of class `of`; items: arguments it was made with; state: what BUILD gave it, or NULL */
    SP_PICKLE_OTHER   /* what the caller made; `other` */
} sp_pickle_kind;

typedef struct sp_pickle_value {
    sp_pickle_kind kind;
    int64_t i;
    double f;
    const char *text; /* NUL-terminated besides `bytes` */
    size_t bytes;
    struct sp_pickle_value **items;
    size_t count, capacity;
    struct sp_pickle_value *of, *state;
    void *other;
    /* For the reader's caller, who walks values that share parts; zero at first. */
    struct sp_pickle_value *from; /* on the way to this one */
    size_t next;                  /* item to look at */
    bool seen, open, wanted;
} sp_pickle_value;

typedef struct sp_pickle_hooks {
    void *context;
    /* callable(*args): a value for it, from sp__pickle_new; or a failure that says why not. */
    sp_status (*call)(void *context, sp__arena *arena, sp_pickle_value *callable, sp_pickle_value *args,
                      sp_pickle_value **out);
    /* A persistent id. */
    sp_status (*persistent)(void *context, sp__arena *arena, sp_pickle_value *id, sp_pickle_value **out);
    /* object.__setstate__(state): may change the value; NULL: the state is kept in it. */
    sp_status (*build)(void *context, sp__arena *arena, sp_pickle_value *object, sp_pickle_value *state);
} sp_pickle_hooks;

/* Read one pickle from data; *used: bytes it takes. Values live in the arena; texts may point into data where they need
 * no end, so data must live as long. They may share parts, and contain themselves. */
sp_status sp__pickle_read(const uint8_t *data, size_t bytes, const sp_pickle_hooks *hooks, sp__arena *arena,
                          size_t *used, sp_pickle_value **out);

/* For hooks. NULL when there is no memory. */
sp_pickle_value *sp__pickle_new(sp__arena *arena, sp_pickle_kind kind);
sp_status sp__pickle_append(sp__arena *arena, sp_pickle_value *to, sp_pickle_value *item);
bool sp__pickle_is(const sp_pickle_value *v, const char *global); /* v is that GLOBAL */
/* Value of a STR key in a DICT; NULL if there is none. */
sp_pickle_value *sp__pickle_get(const sp_pickle_value *dict, const char *key);

#endif

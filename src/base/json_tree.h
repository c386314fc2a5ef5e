/* SPDX-License-Identifier: Apache-2.0 */
/* json_tree.h - jansson's reading and writing, in any locale and on a small stack. */
#ifndef SPORE_JSON_TREE_H
#define SPORE_JSON_TREE_H

#include <jansson.h>

/* jansson goes down by recursion, also when it frees, and would by itself take 2048 levels: more than a thread of 64 KB has. */
enum { SP_JSON_DEPTH_MAX = 48 };

/* json_loadb: NULL and *error filled when the text is not JSON or nested deeper than SP_JSON_DEPTH_MAX. error may be NULL. */
json_t *sp__json_load(const void *text, size_t bytes, size_t flags, json_error_t *error);
/* json_dumps: freed with free(). */
char *sp__json_dump(const json_t *tree, size_t flags);

#endif

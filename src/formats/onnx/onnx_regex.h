/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_regex.h - regular expressions in RE2's syntax, matched against whole texts in time linear in their length. */
#ifndef SPORE_ONNX_REGEX_H
#define SPORE_ONNX_REGEX_H

#include "base/arena.h"
#include "base/base.h"

typedef struct sp_regex sp_regex;

/* Everything lives in the arena. SP_VALUE tells what is wrong with the pattern and where. */
sp_status sp__regex_compile(sp__arena *arena, const char *pattern, sp_regex **out);
/* Does the whole text (UTF-8) match? Uses memory of the regex: one thread at a time. */
bool sp__regex_matches(sp_regex *r, const char *text);
/* The character at *at, which moves on; bytes that are no UTF-8 stand for themselves. */
uint32_t sp__regex_next_char(const char **at);

#endif

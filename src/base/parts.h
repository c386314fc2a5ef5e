/* SPDX-License-Identifier: Apache-2.0 */
/* parts.h - which parts of the engine this build has. All of them, unless cmake was told otherwise (cmake/SporeParts.cmake): then every file is compiled with
 * spore_parts.h in front, which defines some of these as 0 or names a list. What code may not reach is dropped by the linker. */
#ifndef SPORE_PARTS_H
#define SPORE_PARTS_H

/* Gradients and rules of vmap. The fields of operators' entries are taken out of copies of the sources (cmake/SporeParts.cmake). */
#ifndef SP_HAVE_TRAINING
#define SP_HAVE_TRAINING 1
#endif
/* Texts for people and tools: documentation of operators, Python's faces, samples, nodes of models, graphs as text. */
#ifndef SP_HAVE_TEXTS
#define SP_HAVE_TEXTS 1
#endif
#ifndef SP_HAVE_FILES /* by path; without, models come from memory alone */
#define SP_HAVE_FILES 1
#endif
#ifndef SP_HAVE_CRYPTO
#define SP_HAVE_CRYPTO 1
#endif
#ifndef SP_HAVE_PLUGINS /* devices, kernels and transports out of shared libraries */
#define SP_HAVE_PLUGINS 1
#endif
#ifndef SP_HAVE_CACHE /* compiled programs on disk */
#define SP_HAVE_CACHE 1
#endif
#ifndef SP_HAVE_EXPORT /* models written */
#define SP_HAVE_EXPORT 1
#endif
#ifndef SP_HAVE_PROFILE
#define SP_HAVE_PROFILE 1
#endif
#ifndef SP_HAVE_THREADS
#define SP_HAVE_THREADS 1
#endif
#ifndef SP_HAVE_DATA
#define SP_HAVE_DATA 1
#endif
#ifndef SP_HAVE_ZLIB
#define SP_HAVE_ZLIB 1
#endif
#ifndef SP_HAVE_JSON
#define SP_HAVE_JSON 1
#endif
#ifndef SP_HAVE_QUANTIZE
#define SP_HAVE_QUANTIZE 1
#endif
#ifndef SP_HAVE_CODEGEN
#define SP_HAVE_CODEGEN 1
#endif
#ifndef SP_HAVE_PARALLEL
#define SP_HAVE_PARALLEL 1
#endif
/* Float convolutions in blocks of channels and Winograd's: fast, and large. Without, they are products of gathered windows. */
#ifndef SP_HAVE_BLOCKS
#define SP_HAVE_BLOCKS 1
#endif

/* Instructions of x86-64 beyond the portable kernels. */
#ifndef SP_HAVE_AVX2
#define SP_HAVE_AVX2 SP_HAVE_X86
#endif
#ifndef SP_HAVE_AVX512
#define SP_HAVE_AVX512 SP_HAVE_X86
#endif
#ifndef SP_HAVE_AMX
#define SP_HAVE_AMX SP_HAVE_X86
#endif

/* Dtypes that kernels are made for; a table has NULL in the place of others. */
#ifndef SP_DTYPES_BUILT
#define SP_DTYPES_BUILT 0xFFFFFFFFu
#define SP_HAVE_BOOL 1
#define SP_HAVE_U8 1
#define SP_HAVE_U16 1
#define SP_HAVE_U32 1
#define SP_HAVE_U64 1
#define SP_HAVE_I8 1
#define SP_HAVE_I16 1
#define SP_HAVE_I32 1
#define SP_HAVE_I64 1
#define SP_HAVE_F16 1
#define SP_HAVE_BF16 1
#define SP_HAVE_F32 1
#define SP_HAVE_F64 1
#define SP_HAVE_C64 1
#define SP_HAVE_C128 1
#endif

/* SP_IF_F16(...): what is in the brackets where there are kernels for float16, else nothing. SP_IF(have, ...): by the value of a macro, 0 or 1. */
#define SP_IF_0(...)
#define SP_IF_1(...) __VA_ARGS__
#define SP_IF_JOINED(have, ...) SP_IF_##have(__VA_ARGS__)
#define SP_IF(have, ...) SP_IF_JOINED(have, __VA_ARGS__)

/* x where there is the part, else NULL. */
#define SP_PICK_0(x) NULL
#define SP_PICK_1(x) x
#define SP_PICK_JOINED(have, x) SP_PICK_##have(x)
#define SP_PICK(have, x) SP_PICK_JOINED(have, x)

/* A row of a table for an operator: there where the operator is. */
#ifdef SP_OPERATORS_LIST
#define SP_IF_OPERATOR(name, ...) SP_IF(SP_HAVE_OP_##name, __VA_ARGS__)
#define SP_PICK_OPERATOR(name, x) SP_PICK(SP_HAVE_OP_##name, x)
#else
#define SP_IF_OPERATOR(name, ...) __VA_ARGS__
#define SP_PICK_OPERATOR(name, x) x
#endif
/* A constant: whether primitives of MindIR are read that have this name, a literal. The compiler compares. */
#ifndef SP_WANTS_PRIMITIVE
#define SP_WANTS_PRIMITIVE(name) 1
#endif
/* The same for a format of files. */
#ifdef SP_FORMATS_LIST
#define SP_IF_FORMAT(name, ...) SP_IF(SP_HAVE_FORMAT_##name, __VA_ARGS__)
#else
#define SP_IF_FORMAT(name, ...) __VA_ARGS__
#endif

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* status.h - how a call tells that it failed: a code as the return value, a message kept per thread. */
#ifndef SPORE_STATUS_H
#define SPORE_STATUS_H

#include <stddef.h>

#if defined(_WIN32)
#define SP_API
#else
#define SP_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* One list: code, the Python exception it becomes, and a text for logs. */
/* clang-format off */
#define SP_STATUS_LIST(X)                                              \
    X(OK, "", "success")                                               \
    X(VALUE, "ValueError", "value not acceptable")                     \
    X(TYPE, "TypeError", "type not acceptable")                        \
    X(INDEX, "IndexError", "index out of range")                       \
    X(KEY, "KeyError", "name not found")                               \
    X(NOMEM, "MemoryError", "out of memory")                           \
    X(IO, "OSError", "input or output failed")                         \
    X(FORMAT, "RuntimeError", "file is malformed")                     \
    X(RUNTIME, "RuntimeError", "operation failed")                     \
    X(SYMBOL, "RuntimeError", "value not known while compiling")       \
    X(INTERRUPTED, "KeyboardInterrupt", "interrupted")                 \
    X(DECLINED, "NotImplementedError", "not handled here, try next")
/* clang-format on */

#define X(code, python, text) SP_##code,
typedef enum { SP_STATUS_LIST(X) SP_STATUS_COUNT } sp_status;
#undef X

/* Short text of a code, and the name of the Python exception for it. Static memory. */
SP_API const char *sp_status_text(sp_status status);
SP_API const char *sp_status_exception(sp_status status);

/* The message of the last failure on this thread; valid until the next failing call on it. Never NULL. */
SP_API const char *sp_error_message(void);

/* A failure as a value, for crossing a thread, a process or the wire. */
typedef struct sp_error {
    sp_status status;
    char message[1020];
} sp_error;
SP_API void sp_error_capture(sp_status status, sp_error *out); /* copy this thread's message */
SP_API sp_status sp_error_raise(const sp_error *error);        /* make it this thread's; returns its status */

#define SP_TRY(expr)                                                                                                   \
    do {                                                                                                               \
        sp_status s_ = (expr);                                                                                         \
        if (s_ != SP_OK) return s_;                                                                                    \
    } while (0)

#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* error.c - status texts and the message of the last failure, kept per thread.
 *
 * A failure may be "no memory", so nothing here allocates: messages live in a fixed thread-local buffer of the size that
 * sp_error carries. What does not fit is cut in front of a UTF-8 character and ends in "...". Arguments of a message may
 * point into the current message (a caller that rewords it), hence every text is built aside and copied when complete. */
#include "base/fail.h"
#include "base/plain.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
    MESSAGE_BYTES = sizeof(((sp_error *)0)->message),
    /* One context may fill half of the buffer: a long path must not push out what went wrong. */
    CONTEXT_BYTES = MESSAGE_BYTES / 2
};

static _Thread_local char message[MESSAGE_BYTES];
static _Thread_local sp_status message_status;

/* Make buffer[size] end in "...", whole characters before it. The buffer is full: size - 1 bytes and a NUL. */
static void cut(char *buffer, size_t size)
{
    size_t end = size - sizeof "...";
    /* Bytes 10xxxxxx continue a character: go back to its first byte. Not more than three, the rest is not UTF-8. */
    for (int back = 0; back < 3 && end > 0 && ((unsigned char)buffer[end] & 0xC0) == 0x80; back++) end--;
    memcpy(buffer + end, "...", sizeof "...");
}

static void format_into(char *buffer, size_t size, const char *format, va_list args)
    __attribute__((format(printf, 3, 0)));

static void format_into(char *buffer, size_t size, const char *format, va_list args)
{
    int n = sp__vsnprintf(buffer, size, format, args);
    if (n < 0) n = snprintf(buffer, size, "(message cannot be formatted) %s", format);
    if (n >= 0 && (size_t)n >= size) cut(buffer, size);
}

sp_status sp__fail(sp_status status, const char *format, ...)
{
    char text[MESSAGE_BYTES];
    va_list args;
    va_start(args, format);
    format_into(text, sizeof text, format, args);
    va_end(args);
    memcpy(message, text, strlen(text) + 1);
    return message_status = status;
}

sp_status sp__fail_status(void) { return message_status; }

sp_status sp__fail_thread(int answer, const char *whom)
{
    if (answer == EAGAIN && sp__memory_is_out()) return sp__fail(SP_NOMEM, "out of memory for a thread of %s", whom);
    return sp__fail(SP_RUNTIME, "no thread for %s: %s", whom, sp__strerror(answer));
}

void sp__error_context(const char *format, ...)
{
    char context[CONTEXT_BYTES];
    va_list args;
    va_start(args, format);
    format_into(context, sizeof context, format, args);
    va_end(args);

    size_t n_context = strlen(context);
    size_t n_message = strlen(message);
    size_t n_front = n_context + 2;
    size_t room = sizeof message - 1 - n_front;
    bool fits = n_message <= room;
    memmove(message + n_front, message, fits ? n_message : room);
    memcpy(message, context, n_context);
    memcpy(message + n_context, ": ", 2);
    message[n_front + (fits ? n_message : room)] = '\0';
    if (!fits) cut(message, sizeof message);
}

const char *sp_error_message(void) { return message; }

void sp_error_capture(sp_status status, sp_error *out)
{
    out->status = status;
    size_t n = status == SP_OK ? 0 : strlen(message);
    memcpy(out->message, message, n);
    out->message[n] = '\0';
}

sp_status sp_error_raise(const sp_error *error)
{
    /* The value may come from a peer: neither the code nor the end of the text can be taken for granted. */
    int code = (int)error->status;
    if (code == SP_OK) return SP_OK;
    size_t n = strnlen(error->message, sizeof error->message);
    if (n == sizeof error->message) {
        memcpy(message, error->message, n - 1);
        message[n - 1] = '\0';
        cut(message, sizeof message);
    } else {
        memcpy(message, error->message, n);
        message[n] = '\0';
    }
    return message_status = code > 0 && code < SP_STATUS_COUNT ? error->status : SP_RUNTIME;
}

const char *sp_status_text(sp_status status)
{
#define X(code, python, text) text,
    static const char *const texts[] = { SP_STATUS_LIST(X) };
#undef X
    return (unsigned)status < SP_STATUS_COUNT ? texts[status] : "unknown status";
}

const char *sp_status_exception(sp_status status)
{
#define X(code, python, text) python,
    static const char *const exceptions[] = { SP_STATUS_LIST(X) };
#undef X
    return (unsigned)status < SP_STATUS_COUNT ? exceptions[status] : "RuntimeError";
}

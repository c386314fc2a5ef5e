/* SPDX-License-Identifier: Apache-2.0 */
/* error.c - status texts and the message of the last failure, kept per thread.
 *
 * Thread-local memory is scarce where the library is loaded by a running program (the space for all such libraries together is some
 * 1.6 KB), so a thread gets a buffer of the size that sp_error carries with its first failure. That failure may be "no memory": then the
 * text goes into a short buffer of the thread's own. What does not fit is cut in front of a UTF-8 character and ends in "...". Arguments of
 * a message may point into the current message (a caller that rewords it), hence every text is built aside and copied when complete. */
#include "base/messages.h"
#include "base/fail.h"
#include "base/plain.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MESSAGE_BYTES = sizeof(((sp_error *)0)->message),
    /* One context may fill half of the buffer: a long path must not push out what went wrong. */
    CONTEXT_BYTES = MESSAGE_BYTES / 2,
    SHORT_BYTES = 192
};

static _Thread_local char *message; /* NULL: in short_message */
static _Thread_local char short_message[SHORT_BYTES];
static _Thread_local sp_status message_status;
static pthread_key_t key;
static bool have_key;

/* Destructors that run later may fail once more: they get another one. */
static void thread_end(void *buffer)
{
    message = NULL;
    free(buffer);
}

__attribute__((constructor)) static void error_start(void) { have_key = pthread_key_create(&key, thread_end) == 0; }

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

/* A buffer for the whole of a text, if there is memory, with the present text in it. By malloc: it may be the allocator that fails. */
static void make_room(size_t bytes)
{
    if (message || bytes <= SHORT_BYTES || !have_key) return;
    const int before = errno;
    char *buffer = malloc(MESSAGE_BYTES);
    if (buffer && pthread_setspecific(key, buffer) == 0) {
        memcpy(buffer, short_message, SHORT_BYTES);
        message = buffer;
    } else {
        free(buffer);
    }
    errno = before;
}

static char *text_of(size_t *room)
{
    *room = message ? MESSAGE_BYTES : SHORT_BYTES;
    return message ? message : short_message;
}

/* Not from the present message itself. */
static void set_message(const char *text, size_t n)
{
    size_t room;
    make_room(n + 1);
    char *to = text_of(&room);
    const bool fits = n < room;
    memcpy(to, text, fits ? n : room - 1);
    to[fits ? n : room - 1] = '\0';
    if (!fits) cut(to, room);
}

sp_status sp__fail(sp_status status, const char *format, ...)
{
    char text[MESSAGE_BYTES];
    va_list args;
    va_start(args, format);
    format_into(text, sizeof text, format, args);
    va_end(args);
    set_message(text, strlen(text));
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

    const size_t n_front = strlen(context) + 2;
    size_t room;
    make_room(n_front + strlen(sp_error_message()) + 1);
    char *to = text_of(&room);
    const size_t n = strlen(to);
    if (!message && n_front + n >= room) return; /* there was no memory: what went wrong says more than where */
    const size_t kept = n < room - n_front ? n : room - 1 - n_front;
    memmove(to + n_front, to, kept);
    memcpy(to, context, n_front - 2);
    memcpy(to + n_front - 2, ": ", 2);
    to[n_front + kept] = '\0';
    if (kept < n) cut(to, room);
}

void sp__error_drop(size_t n)
{
    size_t room;
    char *to = text_of(&room);
    const size_t length = strlen(to);
    if (n < length) memmove(to, to + n, length - n + 1);
}

const char *sp_error_message(void) { return message ? message : short_message; }

void sp_error_capture(sp_status status, sp_error *out)
{
    out->status = status;
    const char *text = sp_error_message();
    size_t n = status == SP_OK ? 0 : strlen(text);
    memcpy(out->message, text, n);
    out->message[n] = '\0';
}

sp_status sp_error_raise(const sp_error *error)
{
    /* The value may come from a peer: neither the code nor the end of the text can be taken for granted. */
    int code = (int)error->status;
    if (code == SP_OK) return SP_OK;
    set_message(error->message, strnlen(error->message, sizeof error->message));
    return message_status = code > 0 && code < SP_STATUS_COUNT ? error->status : SP_RUNTIME;
}

const char *sp_status_text(sp_status status)
{
#define X(code, python, text) text,
    static const char *const texts[] = {SP_STATUS_LIST(X)};
#undef X
    return (unsigned)status < SP_STATUS_COUNT ? texts[status] : "unknown status";
}

const char *sp_status_exception(sp_status status)
{
#define X(code, python, text) python,
    static const char *const exceptions[] = {SP_STATUS_LIST(X)};
#undef X
    return (unsigned)status < SP_STATUS_COUNT ? exceptions[status] : "RuntimeError";
}

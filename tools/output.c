/* SPDX-License-Identifier: Apache-2.0 */
/* output.c - files that options name, and files that verbs write: nothing is replaced without --overwrite, and nothing incomplete appears under a name. */
#define _XOPEN_SOURCE 700

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools.h"

int tool_output_check(const char *verb, const char *path, bool force)
{
    struct stat info;
    if (stat(path, &info) != 0) return 0; /* free, or opening it will tell why not */
    if (S_ISDIR(info.st_mode))
        return tool_complain(EXIT_FAILED, "%s: %s is a folder, the name of a file is wanted", verb, path);
    if (!S_ISREG(info.st_mode))
        return tool_complain(EXIT_FAILED, "%s: %s is there and is not a regular file", verb, path);
    if (force) return 0;
    return tool_complain(EXIT_FAILED, "%s: %s is there already; give another name, or --overwrite to replace it", verb,
                         path);
}

FILE *tool_input_open(const char *verb, const char *option, const char *path)
{
    struct stat info;
    FILE *file = fopen(path, "rb");
    int reason = errno;
    if (file != NULL && fstat(fileno(file), &info) == 0 && S_ISDIR(info.st_mode)) {
        fclose(file);
        file = NULL;
        reason = EISDIR;
    }
    if (file == NULL)
        tool_complain(EXIT_FAILED, "%s: %s %s cannot be opened: %s", verb, option, path, strerror(reason));
    return file;
}

/* The file behind a symbolic link is replaced, not the link. */
static char *partial_name(const char *path)
{
    char *behind = realpath(path, NULL);
    const char *target = behind != NULL ? behind : path;
    size_t room = strlen(target) + 32;
    char *name = malloc(room);
    if (name != NULL) snprintf(name, room, "%s.%ld.part", target, (long)getpid());
    free(behind);
    return name;
}

int tool_output_open(const char *verb, const char *path, bool force, tool_output *out)
{
    int code = tool_output_check(verb, path, force);
    if (code != 0) return code;
    *out = (tool_output){.verb = verb, .path = path, .partial = partial_name(path)};
    if (out->partial == NULL) return tool_complain(EXIT_FAILED, "out of memory");
    int fd = open(out->partial, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    out->file = fd >= 0 ? fdopen(fd, "wb") : NULL;
    if (out->file != NULL) return 0;
    code = tool_complain(EXIT_FAILED, "%s: %s cannot be written: %s", verb, path, strerror(errno));
    if (fd >= 0) close(fd);
    free(out->partial);
    return code;
}

/* The name without the ending of partial_name. */
static int give_name(const char *partial)
{
    char *target = strdup(partial);
    if (target == NULL) return -1;
    *strrchr(target, '.') = '\0';
    *strrchr(target, '.') = '\0';
    int failed = rename(partial, target);
    free(target);
    return failed;
}

int tool_output_close(tool_output *out, bool keep)
{
    int code = 0;
    bool failed = ferror(out->file) != 0;
    failed |= fflush(out->file) != 0;
    int reason = errno;
    failed |= fclose(out->file) != 0;
    if (keep && !failed && give_name(out->partial) != 0) {
        failed = true;
        reason = errno;
    }
    if (keep && failed)
        code = tool_complain(EXIT_FAILED, "%s: %s cannot be written: %s", out->verb, out->path, strerror(reason));
    if (!keep || failed) remove(out->partial);
    free(out->partial);
    return code;
}

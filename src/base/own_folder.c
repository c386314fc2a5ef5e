/* SPDX-License-Identifier: Apache-2.0 */
/* own_folder.c - where the engine itself lies. */
#include "base/own_folder.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

bool sp__own_folder(char *out, size_t room)
{
    Dl_info info;
    static const char anchor = 0;
    if (!dladdr(&anchor, &info) || !info.dli_fname) return false;
    char *path = realpath(info.dli_fname, NULL);
    char *slash = path ? strrchr(path, '/') : NULL;
    if (slash) *slash = '\0';
    const bool fits = slash && strlen(path) < room;
    if (fits) memcpy(out, path, strlen(path) + 1);
    free(path);
    return fits;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* own_folder.h - where the engine itself lies: plug-ins are looked for beside it. */
#ifndef SPORE_OWN_FOLDER_H
#define SPORE_OWN_FOLDER_H

#include <stdbool.h>
#include <stddef.h>

/* Folder of the library or program that the engine is part of; false: not known, or longer than room. */
bool sp__own_folder(char *out, size_t room);

#endif

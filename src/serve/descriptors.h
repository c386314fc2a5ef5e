/* SPDX-License-Identifier: Apache-2.0 */
/* descriptors.h - the services of proto/ as protobuf describes them; descriptors.c is written by scripts/make-descriptors. */
#ifndef SPORE_DESCRIPTORS_H
#define SPORE_DESCRIPTORS_H

#include <stddef.h>

typedef struct sp_descriptor {
    const char *name;    /* of its file */
    const char *service; /* the one in it */
    const char *symbols; /* messages, enumerations, the service and its methods, a line each */
    const unsigned char *data;
    size_t bytes;
} sp_descriptor;

extern const sp_descriptor sp__descriptors[];
extern const int sp__n_descriptors;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* kserve_parameters.h - parameters of requests, inputs and outputs of the Open Inference Protocol, and outputs as classes. */
#ifndef SPORE_KSERVE_PARAMETERS_H
#define SPORE_KSERVE_PARAMETERS_H

#include "serve/decode.h"

typedef struct sp_region_words sp_region_words; /* regions.h: parameters that name shared memory */

typedef struct sp_parameter {
    const char *key;
    char kind; /* 'b' flag, 'i' integer, 's' text, 0: something else */
    bool flag;
    int64_t integer;
    const char *text;
} sp_parameter;

sp_status sp__kserve_request_parameter(sp_job *job, const sp_parameter *p);
/* binary_bytes NULL: the protocol has another way for them. */
sp_status sp__kserve_input_parameter(const sp_parameter *p, const char *name, int64_t *binary_bytes,
                                     sp_region_words *shared);
sp_status sp__kserve_output_parameter(const sp_parameter *p, const char *name, bool *says_binary, sp_wanted *w,
                                      sp_region_words *shared);

/* Refuses classes of an output that is declared to have none, before the model runs. */
sp_status sp__kserve_check_classes(const sp_served *m, const sp_wanted *w);
/* An output's largest elements, row by row, as texts "VALUE:INDEX", with ":NAME" where the model has names for classes: of JSON with commas between, or with four bytes of their length before each. dims: of them. */
sp_status sp__kserve_put_classes(const sp_served *m, const sp_tensor *t, const char *name, int64_t classes, bool json,
                                 sp__text *out, int *rank, int64_t dims[2]);

#endif

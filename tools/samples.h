/* SPDX-License-Identifier: Apache-2.0 */
/* samples.h - data that a model is calibrated with, from files: arrays, pictures, MindRecord. */
#ifndef SPORE_SAMPLES_H
#define SPORE_SAMPLES_H

#include "spore/quantize.h"
#include "spore/record.h"
#include "tools.h"

typedef struct tool_samples {
    const sp_model *model;
    const char *path, *labels; /* labels: a file, or the name of an array or column; NULL: none */
    tool_picture picture;
    int64_t batch, most; /* rows of a batch where the model leaves it open; samples at most, 0: all */
    /* Of the reader: */
    char **files;
    int n_files, at_file;
    sp_record *record;
    sp_bundle *label_file;
    sp_tensor *all_labels;
    sp_tensor *in[64], *label;      /* of the present file */
    int64_t row, n_rows, first_row; /* of it: the next row, all; number of its first row among all */
    int64_t n_given;
} tool_samples;

/* Look what is there; 0 or an exit code after a complaint. */
int tool_samples_open(tool_samples *s);
void tool_samples_close(tool_samples *s);
sp_quant_data tool_samples_data(tool_samples *s);

#endif

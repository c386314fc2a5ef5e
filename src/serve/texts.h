/* SPDX-License-Identifier: Apache-2.0 */
/* texts.h - the datatype BYTES: texts that a model takes and gives, and pictures for its setting `preprocess`.
 *
 * Binary, an element is four bytes of length, little-endian, and the bytes; in JSON it is a text; over gRPC it may also be a field of its own. */
#ifndef SPORE_TEXTS_H
#define SPORE_TEXTS_H

#include "formats/wire.h"
#include "serve/decode.h"

/* May this input be given as BYTES? */
bool sp__texts_taken(const sp_job *job, int i);
/* Input i of that shape; what it was given as makes no difference behind these. */
sp_status sp__texts_from_json(sp_job *job, int i, int rank, const int64_t *dims, sp_json j);
sp_status sp__texts_from_binary(sp_job *job, int i, int rank, const int64_t *dims, const uint8_t *data, size_t bytes);
sp_status sp__texts_from_fields(sp_job *job, int i, int rank, const int64_t *dims,
                                sp_wire contents); /* InferTensorContents */
/* Output i: its texts, NULL: it is a tensor. */
const sp_item *sp__texts_output(const sp_job *job, int i);
void sp__texts_put_json(const sp_item *texts, sp__text *out); /* with commas between */
void sp__texts_put_binary(const sp_item *texts, sp__text *out);
/* Run a model that takes or gives texts. */
sp_status sp__texts_run(sp_job *job);
void sp__texts_release(sp_job *job);

#endif

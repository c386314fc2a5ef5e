/* SPDX-License-Identifier: Apache-2.0 */
/* data.h - all that feeds training: records, transforms, pipelines. Needs tensors and nothing else of the engine. */
#ifndef SPORE_DATA_H
#define SPORE_DATA_H

#include "spore/pipeline.h"
#include "spore/record.h"
#include "spore/tfrecord.h"
#include "spore/transform.h"

#endif

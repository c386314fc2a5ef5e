/* SPDX-License-Identifier: Apache-2.0 */
/* spore.h - everything at once.
 *
 * NULL in the place of a handle (a tensor, a model, a builder, ...) crashes nothing: a function that gives a status fails with SP_VALUE and a message, others
 * give NULL, 0, -1 or false and do nothing; so do those that ask for the i-th of something where there is none. Where NULL means something (the CPU among
 * devices), the function's header says so. */
#ifndef SPORE_SPORE_H
#define SPORE_SPORE_H

#include "spore/board.h"
#include "spore/cache.h"
#include "spore/codegen.h"
#include "spore/custom.h"
#include "spore/data.h"
#include "spore/device.h"
#include "spore/format.h"
#include "spore/grad.h"
#include "spore/graph.h"
#include "spore/lite.h"
#include "spore/machine.h"
#include "spore/model.h"
#include "spore/session.h"
#include "spore/op.h"
#include "spore/ops.h"
#include "spore/parallel.h"
#include "spore/profile.h"
#include "spore/provider.h"
#include "spore/quantize.h"
#include "spore/random.h"
#include "spore/runtime.h"
#include "spore/serve.h"
#include "spore/status.h"
#include "spore/tensor.h"
#include "spore/train.h"

#endif

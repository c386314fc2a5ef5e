/* SPDX-License-Identifier: Apache-2.0 */
/* spore.h - everything at once. */
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

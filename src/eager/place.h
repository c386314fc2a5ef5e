/* SPDX-License-Identifier: Apache-2.0 */
/* place.h - on which device a call runs, and its inputs brought there. */
#ifndef SPORE_PLACE_H
#define SPORE_PLACE_H

#include "device/devices.h"
#include "eager/eager.h"

/* The device of a call, which some input with memory of its own kind has led to: that of what it writes, else of the first input that is on one.
 * The others are brought there; made[] lists the copies for release. NULL: the CPU. */
sp_status sp__place_inputs(const sp_op *op, int n_in, sp_tensor **in, sp_tensor **made, int *n_made, sp_device **out);

#endif

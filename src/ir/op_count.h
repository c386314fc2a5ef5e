/* SPDX-License-Identifier: Apache-2.0 */
/* op_count.h - room for a table by number of the operator (sp__op_id) that needs no allocation. */
#ifndef SPORE_IR_OP_COUNT_H
#define SPORE_IR_OP_COUNT_H

enum { SP_OPS_MAX = 1024 }; /* src/ops/table.c checks that there are no more */

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_out_graph.h - a recorded function as an ONNX graph in memory. */
#ifndef SPORE_ONNX_OUT_GRAPH_H
#define SPORE_ONNX_OUT_GRAPH_H

#include "formats/onnx/onnx_out.h"

/* names->other is the same function with other sizes of the free dimensions. Fails with everything that cannot be written. */
sp_status sp__onnx_out_write_function(sp_onnx_out *o, sp_function *f, sp_onnx_out_graph **out);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* model.h - networks that come out of files, ready to run.
 *
 *     sp_model *m;
 *     sp_model_load("net.onnx", NULL, &m);                 told by the contents: ONNX, MindIR, TFLite, MindSpore Lite
 *     sp_model_run(m, 1, &image, 1, &scores);              as often as you like, from any thread
 *     sp_model_release(m);
 *
 * A model is compiled when it first meets arguments of certain dtypes and shapes. Where its shapes depend on the contents
 * of the arguments, or where gradients are being recorded (grad.h), it is run operator by operator. */
#ifndef SPORE_MODEL_H
#define SPORE_MODEL_H

#include "spore/device.h"
#include "spore/format.h"
#include "spore/graph.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sp_model sp_model;

/* options: NULL, or the key of an encrypted file and how to read it. Fails with everything in the file that cannot be run. */
SP_API sp_status sp_model_load(const char *path, const sp_file_options *options, sp_model **out);
/* The same from memory; nothing refers to `data` afterwards. */
SP_API sp_status sp_model_load_memory(const void *data, size_t bytes, const sp_file_options *options, sp_model **out);
SP_API sp_model *sp_model_retain(sp_model *m);
SP_API void sp_model_release(sp_model *m); /* NULL is fine */

/* What it takes and gives, in order. A dimension of -1, or a rank of -1, is not said by the file; dtype SP_DTYPE_NONE is a
 * value that is no tensor (a sequence), SP_DTYPE_STR a tensor of texts. Elements smaller than a dtype of ours are given in a larger
 * one: floats of 8 bits and fewer as float32, integers of 4 and 2 bits as int8 or uint8. Names are unique: where a file gives several outputs one
 * name (MindIR's tuples), the second is NAME_1, the third NAME_2. Borrowed from the model. */
SP_API int sp_model_inputs(const sp_model *m);
SP_API int sp_model_outputs(const sp_model *m);
/* How these make up what the network gives, where it is known (else NULL): "T" is the next tensor, "N" the next one, meant as a number,
 * "(...)" a tuple, "[...]" a list, "C(...)" and "O(...)" the parts and the shape of a CSR or COO tensor, "-" nothing (None), "s5:hello" a
 * text of so many bytes, "i3;" "f0.5;" "b1;" a number that no tensor holds. Borrowed. */
SP_API const char *sp_model_form(const sp_model *m);
SP_API const char *sp_model_input_name(const sp_model *m, int i);
SP_API const char *sp_model_output_name(const sp_model *m, int i);
SP_API const sp_spec *sp_model_input_spec(const sp_model *m, int i);
SP_API const sp_spec *sp_model_output_spec(const sp_model *m, int i);
/* What the file calls a free dimension ("batch"); "" where it says nothing. axis in [0, rank). Borrowed. */
SP_API const char *sp_model_input_axis(const sp_model *m, int i, int axis);
SP_API const char *sp_model_output_axis(const sp_model *m, int i, int axis);
/* Its weights by name: the tensors themselves, so writing to one (with operators, or sp_model_set_parameter) changes the model; a
 * model that was run holds what it made of them, and takes notice of writes by operators alone. Borrowed. */
SP_API const sp_bundle *sp_model_parameters(const sp_model *m);
/* Let another tensor of equal dtype and shape (retained) be the weight of that name. Before the model is first run. */
SP_API sp_status sp_model_set_parameter(sp_model *m, const char *name, sp_tensor *tensor);
/* Give an input that the file leaves open a shape: from now on it takes that alone, and files written of the model say so. */
SP_API sp_status sp_model_set_input_shape(sp_model *m, const char *name, int rank, const int64_t *dims);

/* Let inputs be of other sizes than the file declares, as MindSpore's GraphCell does: a MindIR file has the sizes that the network was written with, and other
 * sizes follow from those of the inputs. Without it shapes must be those declared. SP_DECLINED for files of other kinds. */
SP_API sp_status sp_model_allow_sizes(sp_model *m);

/* Before the first run: weights go to a device, each run brings its arguments there and its results back to main memory. NULL: the CPU. */
SP_API sp_status sp_model_set_device(sp_model *m, sp_device *d);

/* One argument an input, of the dtype and shape that the file declares; dimensions that have one name in it must be of one size. (NULL: left out, where the file allows it); results are owned by the caller, NULL for an optional
 * result that is not there. While a function is being recorded the model becomes part of it. */
SP_API sp_status sp_model_run(sp_model *m, int n_in, sp_tensor *const *in, int n_out, sp_tensor **out);

/* What its programs are, one for each set of shapes it has met, as sp_program_report tells it; freed with sp_text_free. */
SP_API sp_status sp_model_report(sp_model *m, char **out);

/* Some TFLite models keep values from run to run (variables, states of recurrent layers): as they were before the first run. Others have
 * nothing to reset. Runs of such a model must not overlap. */
SP_API sp_status sp_model_reset(sp_model *m);

/* A node of the model as the file has it, for people and tools: what it is, the scope it belongs to ("layer1/conv1"; "" for none), and the
 * names of the values it takes and makes. Nodes of branches, bodies of loops and functions are listed in front of the node they belong to, with
 * a scope that names it ("if_1/then"); that node takes their results, too. What only orders effects is left out. */
typedef struct sp_model_node {
    const char *name, *type, *scope;
    int n_in, n_out;
    const char *const *in, *const *out; /* "" where an operand is left out */
} sp_model_node;
SP_API int sp_model_nodes(const sp_model *m);
SP_API const sp_model_node *sp_model_node_at(const sp_model *m, int i); /* borrowed */
/* Multiplications (with their additions) of one run, in products and convolutions, with inputs of these shapes (NULL: those of the file,
 * one element where they are free). Loops count as one turn, of branches the larger counts. */
SP_API sp_status sp_model_work(sp_model *m, const sp_spec *inputs, uint64_t *multiply_adds);

/* Memory of one run with inputs of these shapes (NULL: those of the file, one element where they are free), in bytes. The model is run once on zeros to
 * find out. SP_DECLINED where there is no plan, because shapes depend on the contents of arguments. */
typedef struct sp_model_sizes {
    size_t
        weights; /* that sp_model_parameters lists: integers of quantised TFLite files are constants, and not among them */
    size_t inputs, outputs;
    size_t arena; /* of values between operators */
    size_t least; /* no arena can be smaller: the largest sum of values that are needed at one time */
} sp_model_sizes;
SP_API sp_status sp_model_memory(sp_model *m, const sp_spec *inputs, sp_model_sizes *out);

/* --- more than tensors ------------------------------------------------------------------------------------------- */

/* A tensor, texts, or a list of items. Counted; never changes. */
typedef struct sp_item sp_item;

SP_API sp_status sp_item_create_tensor(sp_tensor *t, sp_item **out); /* t is retained */
/* Texts in the shape of a tensor, row by row, in UTF-8; copied. */
SP_API sp_status sp_item_create_texts(int rank, const int64_t *dims, const char *const *texts, sp_item **out);
SP_API sp_status sp_item_create_list(int n, sp_item *const *items,
                                     sp_item **out); /* items are retained; NULL: nothing */
SP_API sp_item *sp_item_retain(sp_item *item);
SP_API void sp_item_release(sp_item *item);                      /* NULL is fine */
SP_API sp_tensor *sp_item_tensor(const sp_item *item);           /* borrowed; NULL: it is no tensor */
SP_API int sp_item_count(const sp_item *item);                   /* items of a list, -1: it is no list */
SP_API sp_item *sp_item_at(const sp_item *item, int i);          /* borrowed */
SP_API const sp_spec *sp_item_texts(const sp_item *item);        /* shape of texts; NULL: it holds none */
SP_API const char *sp_item_text(const sp_item *item, int64_t i); /* borrowed */

SP_API bool sp_model_needs_items(const sp_model *m); /* some input or output is no tensor of numbers */
/* sp_model_run for models that take or give texts or sequences, and for others too. NULL: left out, or an optional value that is
 * empty. Always run operator by operator. */
SP_API sp_status sp_model_run_items(sp_model *m, int n_in, sp_item *const *in, int n_out, sp_item **out);

/* --- writing ----------------------------------------------------------------------------------------------------- */

enum {
    SP_MODEL_WEIGHTS_AS_INPUTS = 1, /* ONNX: weights can be given when the model is run, too */
    SP_MODEL_NO_WEIGHTS = 2         /* ONNX: they have to be given, the file holds none */
};

/* What the parts of a recorded function are called in a file. Members beyond the names may be zero. */
typedef struct sp_model_names {
    int n_inputs; /* as many as the function has */
    const char *const *inputs;
    int n_parameters;
    sp_tensor *const *parameters; /* its variables */
    const char *const *parameter_names;
    int n_outputs; /* 0: names are made up */
    const char *const *outputs;
    /* The same function recorded with other sizes of those dimensions of its inputs that are free in the file; NULL: none is. */
    sp_function *other;
    int n_more; /* and recordings with further sizes, which tell more surely how what differs depends on them */
    sp_function *const *more;
    const char *const *const *axes; /* axes[i][k]: what a free dimension is called; NULL where it does not matter */
    int opset;                      /* ONNX: 13 to 26; 0: 17 */
    unsigned flags;                 /* SP_MODEL_... */
    int n_info;                     /* MindIR: texts of the user, kept in the file */
    const char *const *info_keys;
    const char *const *info;
    const char *form; /* MindIR: of the result, as sp_model_form says it; NULL: a tensor, or a tuple of tensors */
} sp_model_names;

/* Write a finished function (graph.h) as ONNX when the name ends in ".onnx" or options->format says so, for MindSpore Lite when it ends in ".ms", else as MindIR that MindSpore 2.10
 * loads; encrypted when there is a key. Fails with everything in it that has no counterpart there. The file is replaced in one step. More
 * weights than options->shard_bytes (0: what the format allows in one file) lie in a file beside it. */
SP_API sp_status sp_model_save(const char *path, sp_function *f, const sp_model_names *names,
                               const sp_file_options *options);
/* Write a model that was loaded, in the same way: ONNX as MindIR and the other way round. Inputs, outputs and weights keep their names, free
 * dimensions stay free. */
SP_API sp_status sp_model_convert(sp_model *m, const char *path, int opset, const sp_file_options *options);

#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_attrs.c - of which kind the attributes of ONNX nodes are, and which words they may hold, so that handlers need not ask: a handler that
 * looks for an int finds zero where the file has a float.
 *
 * From the standard's list of operators. The kind belongs to the name of an attribute, whatever the operator, but for a few; names that are not here
 * may be of any kind. */
#include <stdio.h>
#include <stdlib.h>

#include "formats/onnx/onnx_model.h"

/* Bits by AttributeProto.AttributeType. */
enum {
    FLOAT = 1 << 1,
    INT = 1 << 2,
    STRING = 1 << 3,
    TENSOR = 1 << 4,
    GRAPH = 1 << 5,
    FLOATS = 1 << 6,
    INTS = 1 << 7,
    STRINGS = 1 << 8,
    SPARSE = 1 << 11
};

typedef struct {
    const char *name;
    unsigned kinds;
} attr_kind;

/* Sorted as strcmp sorts. */
static const attr_kind kinds[] = {
    {"K", INT},
    {"N", INT},
    {"accuracy_level", INT},
    {"activation", STRING},
    {"activation_alpha", FLOAT | FLOATS},
    {"activation_beta", FLOAT | FLOATS},
    {"activation_params", FLOATS},
    {"activations", STRINGS},
    {"aggregate_function", INT | STRING},
    {"align_corners", INT},
    {"allowzero", INT},
    {"alpha", FLOAT},
    {"antialias", INT},
    {"approximate", STRING},
    {"auto_pad", STRING},
    {"axes", INTS},
    {"axis", INT},
    {"base_values", FLOATS},
    {"base_values_as_tensor", TENSOR},
    {"batch_axis", INT},
    {"batch_dims", INT},
    {"beta", FLOAT},
    {"bias", FLOAT},
    {"bits", INT},
    {"block_size", INT},
    {"blocksize", INT},
    {"body", GRAPH},
    {"broadcast", INT},
    {"case_change_action", STRING},
    {"cast_to", STRING},
    {"cats_int64s", INTS},
    {"cats_strings", STRINGS},
    {"ceil_mode", INT},
    {"center_point_box", INT},
    {"channels_last", INT},
    {"chunk_size", INT},
    {"class_ids", INTS},
    {"class_nodeids", INTS},
    {"class_treeids", INTS},
    {"class_weights", FLOATS},
    {"class_weights_as_tensor", TENSOR},
    {"classes_strings", STRINGS},
    {"classlabels_int64s", INTS},
    {"classlabels_ints", INTS},
    {"classlabels_strings", STRINGS},
    {"clip", FLOAT},
    {"coefficients", FLOATS},
    {"consumed_inputs", INTS},
    {"coordinate_transformation_mode", STRING},
    {"count_include_pad", INT},
    {"cubic_coeff_a", FLOAT},
    {"decay_factor", FLOAT},
    {"default_float", FLOAT},
    {"default_int64", INT},
    {"default_string", STRING},
    {"default_tensor", TENSOR},
    {"delimiter", STRING},
    {"detect_negative", INT},
    {"detect_positive", INT},
    {"dilations", INTS},
    {"direction", STRING},
    {"directions", INTS},
    {"do_rotary", INT},
    {"dtype", INT},
    {"else_branch", GRAPH},
    {"end", INT},
    {"ends", INTS},
    {"epsilon", FLOAT},
    {"equation", STRING},
    {"exclude_outside", INT},
    {"exclusive", INT},
    {"extrapolation_value", FLOAT},
    {"fmod", INT},
    {"gamma", FLOAT},
    {"group", INT},
    {"height_scale", FLOAT},
    {"hidden_size", INT},
    {"high", FLOAT},
    {"ignore_index", INT},
    {"imputed_value_floats", FLOATS},
    {"imputed_value_int64s", INTS},
    {"input_forget", INT},
    {"inputdimensions", INTS},
    {"int64_vocabulary", INTS},
    {"intercepts", FLOATS},
    {"interleaved", INT},
    {"inverse", INT},
    {"is_case_sensitive", INT},
    {"is_causal", INT},
    {"is_inner_broadcast", INT},
    {"is_test", INT},
    {"k", INT},
    {"keep_aspect_ratio_policy", STRING},
    {"keepdims", INT},
    {"kernel_params", FLOATS},
    {"kernel_shape", INTS},
    {"kernel_type", STRING},
    {"keys_floats", FLOATS},
    {"keys_int64s", INTS},
    {"keys_strings", STRINGS},
    {"keys_tensor", TENSOR},
    {"kv_num_heads", INT},
    {"lambd", FLOAT},
    {"largest", INT},
    {"layout", INT},
    {"leaf_targetids", INTS},
    {"leaf_weights", TENSOR},
    {"left_window_size", INT},
    {"linear_before_reset", INT},
    {"local_window_size", INT},
    {"locale", STRING},
    {"low", FLOAT},
    {"map_form", STRING},
    {"mask_filter_value", FLOAT},
    {"max", FLOAT},
    {"max_gram_length", INT},
    {"max_map", INT},
    {"max_skip_count", INT},
    {"maxsplit", INT},
    {"mean", FLOAT},
    {"membership_values", TENSOR},
    {"min", FLOAT},
    {"min_gram_length", INT},
    {"mode", STRING},
    {"momentum", FLOAT},
    {"multi_class", INT},
    {"n_supports", INT},
    {"n_targets", INT},
    {"nearest_mode", STRING},
    {"new_axis", INT},
    {"ngram_counts", INTS},
    {"ngram_indexes", INTS},
    {"nodes_falseleafs", INTS},
    {"nodes_falsenodeids", INTS},
    {"nodes_featureids", INTS},
    {"nodes_hitrates", FLOATS | TENSOR},
    {"nodes_hitrates_as_tensor", TENSOR},
    {"nodes_missing_value_tracks_true", INTS},
    {"nodes_modes", STRINGS | TENSOR},
    {"nodes_nodeids", INTS},
    {"nodes_splits", TENSOR},
    {"nodes_treeids", INTS},
    {"nodes_trueleafs", INTS},
    {"nodes_truenodeids", INTS},
    {"nodes_values", FLOATS},
    {"nodes_values_as_tensor", TENSOR},
    {"noop_with_empty_axes", INT},
    {"norm", STRING},
    {"norm_coefficient", FLOAT},
    {"norm_coefficient_post", FLOAT},
    {"num_groups", INT},
    {"num_heads", INT},
    {"num_outputs", INT},
    {"num_scan_inputs", INT},
    {"offset", FLOATS | INT},
    {"offset_group", INT},
    {"one_class", INT},
    {"onesided", INT},
    {"output_datatype", INT},
    {"output_dtype", INT},
    {"output_height", INT},
    {"output_padding", INTS},
    {"output_sequence", INT},
    {"output_shape", INTS},
    {"output_width", INT},
    {"p", FLOAT | INT},
    {"padding_mode", STRING},
    {"paddings", INTS},
    {"pads", INTS},
    {"past_present_share_buffer", INT},
    {"pattern", STRING},
    {"periodic", INT},
    {"perm", INTS},
    {"pixel_format", STRING},
    {"pool_int64s", INTS},
    {"pool_strings", STRINGS},
    {"pooled_shape", INTS},
    {"post_transform", INT | STRING},
    {"precision", INT},
    {"prob_a", FLOATS},
    {"prob_b", FLOATS},
    {"prob_mod", GRAPH},
    {"q_num_heads", INT},
    {"qk_matmul_output_mode", INT},
    {"qkv_hidden_sizes", INTS},
    {"ratio", FLOAT},
    {"reduction", STRING},
    {"replaced_value_float", FLOAT},
    {"replaced_value_int64", INT},
    {"reverse", INT},
    {"rho", FLOATS},
    {"right_window_size", INT},
    {"rotary_embedding_dim", INT},
    {"rotary_interleaved", INT},
    {"round_mode", STRING},
    {"sample_size", INT},
    {"sampling_ratio", INT},
    {"saturate", INT},
    {"scale", FLOAT | FLOATS},
    {"scales", FLOATS},
    {"scan_input_axes", INTS},
    {"scan_input_directions", INTS},
    {"scan_output_axes", INTS},
    {"scan_output_directions", INTS},
    {"score_mod", GRAPH},
    {"seed", FLOAT | INT},
    {"select_last_index", INT},
    {"shape", INTS},
    {"size", INT},
    {"smooth_softmax", INT},
    {"softcap", FLOAT},
    {"softmax_precision", INT},
    {"sorted", INT},
    {"spatial", INT},
    {"spatial_scale", FLOAT},
    {"split", INTS},
    {"start", INT},
    {"starts", INTS},
    {"stash_type", INT},
    {"stopwords", STRINGS},
    {"storage_order", INT},
    {"strides", INTS},
    {"string_vocabulary", STRINGS},
    {"support_vectors", FLOATS},
    {"target_ids", INTS},
    {"target_nodeids", INTS},
    {"target_treeids", INTS},
    {"target_weights", FLOATS},
    {"target_weights_as_tensor", TENSOR},
    {"targets", INT},
    {"then_branch", GRAPH},
    {"threshold", FLOAT},
    {"time_axis", INT},
    {"to", INT},
    {"training_mode", INT},
    {"transA", INT},
    {"transB", INT},
    {"transBatchA", INT},
    {"transBatchB", INT},
    {"tree_roots", INTS},
    {"unidirectional", INT},
    {"update_rule", STRING},
    {"upper", INT},
    {"value", FLOAT | TENSOR},
    {"value_float", FLOAT},
    {"value_floats", FLOATS},
    {"value_int", INT},
    {"value_ints", INTS},
    {"value_string", STRING},
    {"value_strings", STRINGS},
    {"values_floats", FLOATS},
    {"values_int64s", INTS},
    {"values_strings", STRINGS},
    {"values_tensor", TENSOR},
    {"vectors_per_class", INTS},
    {"weights", FLOATS},
    {"width_scale", FLOAT},
    {"xs", STRINGS},
    {"y", STRING},
    {"zeros", INT},
    {"zs", STRINGS},
};

/* Where the name alone leaves it open. */
static const struct {
    const char *ops, *name; /* ops: with a space on both sides of each */
    unsigned kinds;
} kinds_of_ops[] = {
    {" Pad ", "value", FLOAT},
    {" Constant ConstantOfShape ", "value", TENSOR},
    {" Dropout ", "seed", INT},
    {" Bernoulli Multinomial RandomNormal RandomNormalLike RandomUniform RandomUniformLike ", "seed", FLOAT},
    {" GRU LSTM RNN ", "activation_alpha", FLOATS},
    {" GRU LSTM RNN ", "activation_beta", FLOATS},
    {" Attention LinearAttention RandomNormal RandomNormalLike ", "scale", FLOAT},
};

static const struct {
    const char *ops, *name, *words; /* ops NULL: of all */
} words_of_ops[] = {
    {NULL, "auto_pad", "NOTSET SAME_UPPER SAME_LOWER VALID"},
    {NULL, "approximate", "none tanh"},
    {NULL, "case_change_action", "LOWER UPPER NONE"},
    {NULL, "keep_aspect_ratio_policy", "stretch not_larger not_smaller"},
    {NULL, "nearest_mode", "round_prefer_floor round_prefer_ceil floor ceil"},
    {NULL, "padding_mode", "zeros border reflection"},
    {NULL, "pixel_format", "RGB BGR Grayscale"},
    {NULL, "round_mode", "up down nearest"},
    {NULL, "update_rule", "linear gated delta gated_delta"},
    {" BitShift ", "direction", "LEFT RIGHT"},
    {" GRU LSTM RNN com.microsoft:DynamicQuantizeLSTM ", "direction", "forward reverse bidirectional"},
    {" CausalConvWithState ", "activation", "none silu swish"},
    {" DepthToSpace SpaceToDepth ", "mode", "DCR CRD"},
    {" GridSample ", "mode", "linear nearest cubic bilinear bicubic"},
    {" Pad ", "mode", "constant reflect edge wrap"},
    {" Resize ", "mode", "nearest linear cubic"},
    {" RoiAlign ", "mode", "avg max"},
    {" TensorScatter ", "mode", "linear circular"},
    {" TfIdfVectorizer ", "mode", "TF IDF TFIDF"},
    {" Upsample ", "mode", "nearest linear bilinear"},
    {" ai.onnx.preview.training:Momentum ", "mode", "standard nesterov"},
    {" Resize ", "coordinate_transformation_mode",
     "half_pixel half_pixel_symmetric pytorch_half_pixel align_corners asymmetric tf_half_pixel_for_nn tf_crop_and_resize"},
    {" RoiAlign ", "coordinate_transformation_mode", "half_pixel output_half_pixel"},
    {" NegativeLogLikelihoodLoss SoftmaxCrossEntropyLoss ", "reduction", "none mean sum"},
    {" ScatterElements ScatterND ", "reduction", "none add mul max min"},
};

/* Is `word` one of the words of `list`, which are apart by single spaces? */
static bool is_in(const char *list, const char *word)
{
    const size_t n = strlen(word);
    for (const char *at = list; n > 0 && (at = strstr(at, word)) != NULL; at += n)
        if ((at == list || at[-1] == ' ') && (at[n] == ' ' || at[n] == '\0')) return true;
    return false;
}

static int by_name(const void *name, const void *row) { return strcmp(name, ((const attr_kind *)row)->name); }

static unsigned kinds_wanted(const char *op, const char *name)
{
    for (size_t i = 0; i < sizeof kinds_of_ops / sizeof *kinds_of_ops; i++)
        if (strcmp(kinds_of_ops[i].name, name) == 0 && is_in(kinds_of_ops[i].ops, op)) return kinds_of_ops[i].kinds;
    const attr_kind *row = bsearch(name, kinds, sizeof kinds / sizeof *kinds, sizeof *kinds, by_name);
    return row != NULL ? row->kinds : ~0u;
}

static const char *kind_text(int type)
{
    static const char *const texts[] = {"of no kind",      "a float",           "an int",           "a text",
                                        "a tensor",        "a graph",           "a list of floats", "a list of ints",
                                        "a list of texts", "a list of tensors", "a list of graphs", "a sparse tensor"};
    return type >= 0 && type < (int)(sizeof texts / sizeof *texts) ? texts[type] : "of an unknown kind";
}

static const char *wanted_text(unsigned wanted, char *room, size_t bytes)
{
    size_t at = 0;
    room[0] = '\0';
    for (int type = 1; type < 12 && at < bytes; type++)
        if (wanted >> type & 1)
            at += (size_t)snprintf(room + at, bytes - at, "%s%s", at > 0 ? " or " : "", kind_text(type));
    return room;
}

static sp_status check_words(const char *op, const sp_onnx_attr *a)
{
    char shown[SP_NAME_SHOWN];
    for (size_t i = 0; i < sizeof words_of_ops / sizeof *words_of_ops; i++) {
        if (strcmp(words_of_ops[i].name, a->name) != 0 ||
            (words_of_ops[i].ops != NULL && !is_in(words_of_ops[i].ops, op)))
            continue;
        /* Empty texts stand for the default in files of old writers. */
        SP_CHECK(a->s == NULL || a->s[0] == '\0' || is_in(words_of_ops[i].words, a->s), SP_FORMAT,
                 "attribute '%s' of %s is '%s'; it must be one of: %s", a->name, op,
                 sp__name_shown(a->s, strlen(a->s), shown), words_of_ops[i].words);
    }
    return SP_OK;
}

sp_status sp__onnx_attrs_check(const sp_onnx_node *n, const sp_onnx_call *call)
{
    const char *op = n->handler->name;
    char room[128];
    for (int i = 0; i < n->n_attrs; i++) {
        const sp_onnx_attr *a = &n->attrs[i];
        sp_onnx_attr named;
        if (a->from != NULL && a->from[0] != '\0') { /* of a function: the call knows its value */
            const sp_onnx_attr *given = call != NULL ? sp__onnx_attr(call, a->name) : NULL;
            if (given == NULL) continue;
            named = *given;
            named.name = a->name;
            a = &named;
        }
        const unsigned wanted = kinds_wanted(op, a->name);
        SP_CHECK(a->type == 0 || a->type > 31 || wanted >> a->type & 1, SP_FORMAT,
                 "attribute '%s' of %s is %s; wanted is %s", a->name, op, kind_text(a->type),
                 wanted_text(wanted, room, sizeof room));
        SP_TRY(check_words(op, a));
    }
    return SP_OK;
}

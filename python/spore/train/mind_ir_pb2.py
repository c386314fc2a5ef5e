# SPDX-License-Identifier: Apache-2.0
"""MindIR files as messages that can be looked at and changed: what ``custom_func`` of export gets, ``load_mindir`` gives and
``save_mindir`` writes. The classes and fields have the names of MindSpore's own; messages are read when they are first asked for."""
from spore.train._messages import DecodeError, Message, classes

__all__ = ["ModelProto", "GraphProto", "NodeProto", "TensorProto", "AttributeProto", "ValueInfoProto"]

# number name kind; kinds: s text, b bytes, i whole number, o bool, f float, d double, map of texts, or a message; * for several.
_FIELDS = {
    "ModelProto": "1 ir_version s, 2 producer_name s, 3 producer_version s, 4 domain s, 5 model_version s, 6 doc_string s, 7 graph GraphProto, "
                  "8 functions GraphProto*, 9 preprocessor PreprocessorProto, 10 little_endian o, 11 parallel ParallelProto, "
                  "12 primitives PrimitiveProto*, 13 mind_ir_version i, 14 user_info map",
    "GraphProto": "1 node NodeProto*, 2 name s, 3 parameter TensorProto*, 4 doc_string s, 5 input ValueInfoProto*, 6 output ValueInfoProto*, "
                  "7 bprop_hash s, 8 attribute AttributeProto*, 9 bprop_filepath s, 10 map_parameter MapTensorProto*",
    "NodeProto": "1 input s*, 2 output s*, 3 name s, 4 op_type s, 5 attribute AttributeProto*, 6 doc_string s, 7 domain s, "
                 "8 node_attr AttributeProto*, 9 primal_attr AttributeProto*",
    "ValueInfoProto": "1 name s, 2 tensor TensorProto*, 3 doc_string s, 4 denotation s, 5 attr_info AttributeProto",
    "AttributeProto": "1 name s, 2 f f, 3 i i, 4 d d, 5 s b, 6 t TensorProto, 7 g GraphProto, 8 floats f*, 9 doubles d*, 10 ints i*, 11 strings b*, "
                      "12 tensors TensorProto*, 13 graphs GraphProto*, 14 doc_string s, 15 ref_attr_name s, 16 type i, 17 values AttributeProto*, "
                      "18 seq_info SeqInfoProto, 19 functor FunctorProto",
    "SeqInfoProto": "1 is_dyn_len o, 2 tuple_elem_item AttributeProto",
    "FunctorProto": "1 type i, 2 name s, 3 values AttributeProto*",
    "TensorProto": "1 dims i*, 2 data_type i, 3 float_data f*, 4 int32_data i*, 5 string_data b*, 6 int64_data i*, 7 name s, 8 doc_string s, "
                   "9 raw_data b, 10 double_data d*, 11 uint64_data i*, 12 external_data ExternalDataProto, 13 ref_key s, 14 min_dims i*, "
                   "15 max_dims i*, 16 compression_type i, 17 quant_params QuantParamProto*",
    "ExternalDataProto": "1 location s, 2 offset i, 3 length i",
    "QuantParamProto": "1 quant_algo_name s, 2 attribute AttributeProto*",
    "MapTensorProto": "1 name s, 2 default_value AttributeProto, 3 key_tensor TensorProto, 4 value_tensor TensorProto, 5 status_tensor TensorProto",
    "PrimitiveProto": "1 name s, 2 op_type s, 3 attribute AttributeProto*, 4 instance_name s, 5 prim_type i",
    "PreprocessorProto": "1 op PreprocessOpProto*",
    "PreprocessOpProto": "1 input_columns s, 2 output_columns s, 3 project_columns s, 4 op_type s, 5 operations s, 6 offload o",
    "ParallelProto": "1 layout LayoutProto*",
    "LayoutProto": "1 name s, 2 device_arrangement_int i*, 3 tensor_map_int i*, 4 slice_shape_int i*, 5 field_size i, 6 uniform_split o, "
                   "7 opt_shard_group s, 8 pipeline_shared o, 9 is_send o, 10 peer_rank i, 11 sr_tag i",
}

globals().update(classes(_FIELDS, __name__, "of a MindIR file"))

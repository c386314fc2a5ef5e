# SPDX-License-Identifier: Apache-2.0
"""Checkpoints of training on several devices: parts of Parameters are put together. How a strategy file splits a network is not
read; what needs one says so."""
import os

from spore._not_done import not_done
from spore.common.parameter import Parameter

__all__ = ['merge_sliced_parameter', 'build_searched_strategy', 'load_distributed_checkpoint', 'merge_pipeline_strategys',
           'rank_list_for_transform', 'restore_group_info_list', 'sync_pipeline_shared_parameters', 'transform_checkpoint_by_rank',
           'transform_checkpoints', 'load_segmented_checkpoints', 'parameter_broadcast', 'unified_safetensors', 'convert_checkpoints',
           'convert_checkpoint_by_rank', 'rank_list_for_convert', 'get_ckpt_path_with_strategy', 'set_op_strategy_config']


def _no_strategy(who):
    raise NotImplementedError(f"{who}: how a network was split over devices is kept in strategy files, which spore does not read; "
                              "put the parts of Parameters together with merge_sliced_parameter")


def merge_sliced_parameter(sliced_parameters, strategy=None):
    """The whole of a Parameter from its parts, in the order of their devices; without a strategy along the first dimension.

    Examples:
        >>> import spore as ms
        >>> parts = [ms.Parameter(ms.Tensor([float(k)]), name='w') for k in range(3)]
        >>> print(ms.merge_sliced_parameter(parts).asnumpy())
        [0. 1. 2.]
    """
    if not isinstance(sliced_parameters, list):
        raise TypeError(f"For 'merge_sliced_parameter', the argument 'sliced_parameters' should be list, but got {type(sliced_parameters)}.")
    if not sliced_parameters:
        raise ValueError("For 'merge_sliced_parameter', the argument 'sliced_parameters' should not be empty.")
    if strategy is not None and not isinstance(strategy, dict):
        raise TypeError(f"For 'merge_sliced_parameter', the argument 'strategy' should be dict, but got {type(strategy)}.")
    first = sliced_parameters[0]
    for part in sliced_parameters:
        if not isinstance(part, Parameter):
            raise TypeError(f"For 'merge_sliced_parameter', every element must be a Parameter, but got {type(part)}.")
        if part.name != first.name or part.dtype != first.dtype:
            raise ValueError("For 'merge_sliced_parameter', all parts must have one name and one dtype, but got "
                             f"'{part.name}' ({part.dtype}) beside '{first.name}' ({first.dtype}).")
    if strategy is not None:
        if first.name not in strategy:
            raise KeyError(f"For 'merge_sliced_parameter', there is no strategy for the parameter '{first.name}'.")
        _no_strategy('merge_sliced_parameter')
    from spore import ops
    whole = ops.concat([p.value() for p in sliced_parameters], 0) if len(sliced_parameters) > 1 else first.value().copy()
    return Parameter(whole, name=first.name, requires_grad=first.requires_grad, layerwise_parallel=first.layerwise_parallel)


def build_searched_strategy(strategy_filename):
    """The strategy in a file, which is not read."""
    _no_strategy('build_searched_strategy')


def merge_pipeline_strategys(src_strategy_dirs, dst_strategy_file):
    """Strategies of pipeline stages in one file, which is not written."""
    _no_strategy('merge_pipeline_strategys')


def restore_group_info_list(group_info_file_name):
    """The processes that have the same checkpoint, in a file that is not read."""
    _no_strategy('restore_group_info_list')


def rank_list_for_transform(rank_id, src_strategy_file=None, dst_strategy_file=None):
    """The checkpoints that one is made of; without strategies that is the one of the same number."""
    if src_strategy_file is not None or dst_strategy_file is not None:
        _no_strategy('rank_list_for_transform')
    return [rank_id]


def transform_checkpoint_by_rank(rank_id, checkpoint_files_map, save_checkpoint_file_name, src_strategy_file=None, dst_strategy_file=None):
    """A checkpoint for one process from those of others; without strategies it is a copy."""
    if src_strategy_file is not None or dst_strategy_file is not None:
        _no_strategy('transform_checkpoint_by_rank')
    from spore.train.serialization import load_checkpoint, save_checkpoint
    save_checkpoint(load_checkpoint(checkpoint_files_map[rank_id]), save_checkpoint_file_name)


def transform_checkpoints(src_checkpoints_dir, dst_checkpoints_dir, ckpt_prefix, src_strategy_file=None, dst_strategy_file=None,
                          process_num=1, output_format='ckpt'):
    """Checkpoints of another way to split a network; without strategies they are copies."""
    if src_strategy_file is not None or dst_strategy_file is not None:
        _no_strategy('transform_checkpoints')
    from spore.train.serialization import load_checkpoint, save_checkpoint
    for folder in sorted(os.listdir(src_checkpoints_dir)):
        source = os.path.join(src_checkpoints_dir, folder)
        if not folder.startswith('rank_') or not os.path.isdir(source):
            continue
        files = sorted(f for f in os.listdir(source) if f.endswith(('.ckpt', '.safetensors')))
        if not files:
            raise ValueError(f"For 'transform_checkpoints', there is no checkpoint in {source!r}.")
        target = os.path.join(dst_checkpoints_dir, folder)
        os.makedirs(target, exist_ok=True)
        file, kind = os.path.join(source, files[-1]), files[-1].rpartition('.')[2]
        name = f"{ckpt_prefix}{folder[5:]}.{output_format}"
        save_checkpoint(load_checkpoint(file, format=kind), os.path.join(target, name), format=output_format)


def load_distributed_checkpoint(network, checkpoint_filenames=None, predict_strategy=None, train_strategy_filename=None, strict_load=False,
                                dec_key=None, dec_mode='AES-GCM', format='ckpt', unified_safetensors_dir=None, **kwargs):
    """Load the checkpoints of all processes into a network: each Parameter is put together from its parts, as merge_sliced_parameter
    does, or taken once where all have the whole."""
    if predict_strategy is not None or train_strategy_filename is not None or unified_safetensors_dir is not None:
        _no_strategy('load_distributed_checkpoint')
    from spore.train.serialization import load_checkpoint, load_param_into_net
    if not isinstance(checkpoint_filenames, (list, tuple)) or not checkpoint_filenames:
        raise ValueError("For 'load_distributed_checkpoint', 'checkpoint_filenames' must be a list of file names.")
    parts = [load_checkpoint(file, dec_key=dec_key, dec_mode=dec_mode, format=format) for file in checkpoint_filenames]
    whole = {}
    for _, param in network.parameters_and_names():
        pieces = [part[param.name] for part in parts if param.name in part]
        if pieces:
            same = tuple(pieces[0].shape) == tuple(param.shape)
            whole[param.name] = pieces[0] if same else merge_sliced_parameter(pieces)
    load_param_into_net(network, whole or parts[0], strict_load)  # files of which nothing fits are refused there


def load_segmented_checkpoints(*args, **kwargs):
    """See spore.train.load_segmented_checkpoints."""
    from spore.train.serialization import load_segmented_checkpoints as load
    return load(*args, **kwargs)


def sync_pipeline_shared_parameters(net):
    """Parameters that pipeline stages share: there is one stage, hence they are equal."""


def parameter_broadcast(net, layout, cur_rank=0, initial_rank=0):
    """Parameters of one process to all: there is one."""


def unified_safetensors(src_dir, src_strategy_file, dst_dir, *args, **kwargs):
    """Parts in safetensors files put together by a strategy, which is not read."""
    _no_strategy('unified_safetensors')


def get_ckpt_path_with_strategy(cur_ckpt_path, cur_strategy_path):
    """A checkpoint with the weights of this process: its own, if it is there."""
    return cur_ckpt_path if os.path.exists(cur_ckpt_path) else None


def set_op_strategy_config(mode='SAVE', path=''):
    """Keep or load strategies of operators: there is one device, hence none."""
    if mode not in ('SAVE', 'LOAD'):
        raise KeyError(f"set_op_strategy_config: mode must be 'SAVE' or 'LOAD', but got {mode!r}")
    not_done(f"set_op_strategy_config(mode={mode!r})", "one process has no strategies, and no file is read or written")


convert_checkpoints, convert_checkpoint_by_rank, rank_list_for_convert = (
    transform_checkpoints, transform_checkpoint_by_rank, rank_list_for_transform)

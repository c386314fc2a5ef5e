# SPDX-License-Identifier: Apache-2.0
"""Checkpoints of training on several processes: slices are put together, and made for other ways to split a network, as strategy files
(_strategy_file.py) say. All of it is cutting boxes out of arrays (_slices.py)."""
import concurrent.futures
import json
import math
import os
import re
from glob import glob

import numpy as np

from spore._not_done import not_done
from spore.common.parameter import Parameter
from spore.parallel import _slices, _strategy_file

__all__ = ['merge_sliced_parameter', 'build_searched_strategy', 'load_distributed_checkpoint', 'merge_pipeline_strategys',
           'rank_list_for_transform', 'restore_group_info_list', 'sync_pipeline_shared_parameters', 'transform_checkpoint_by_rank',
           'transform_checkpoints', 'load_segmented_checkpoints', 'parameter_broadcast', 'unified_safetensors', 'convert_checkpoints',
           'convert_checkpoint_by_rank', 'rank_list_for_convert', 'get_ckpt_path_with_strategy', 'set_op_strategy_config']


# --- strategies ------------------------------------------------------------------------------------------------------

class _Strategy:
    """The Layouts of all Parameters, by name, and how many processes a stage has."""

    def __init__(self, layouts):
        self.layouts = layouts
        self.ranks = next(iter(layouts.values())).ranks if layouts else 1
        self.stages = sorted(set().union(*(layout.stages for layout in layouts.values()))) if layouts else [0]

    def of_stage(self, stage):
        """The names of a stage's Parameters."""
        return {name for name, layout in self.layouts.items() if stage in layout.stages}


def _layout(name, part, stage):
    """A Layout from a message, or from the list that infer_predict_layout gives."""
    if isinstance(part, (list, tuple)):
        return _slices.layout_of(name, part[0], part[1], field=part[3] if len(part) > 3 else 0, stages=(stage,))
    try:
        matrix = list(part.dev_matrix[0].dim)
        maps = [list(axis.dim) for axis in part.tensor_map]
        tensor_map = [axis for axis in maps if axis] if len(maps) > 1 else maps[0]
        uneven = list(part.param_split_shape[0].dim) if part.param_split_shape else []
        numbers = part.opt_weight_shard_step, part.opt_weight_shard_size
        return _slices.layout_of(name, matrix, tensor_map, *numbers, (stage,), uneven, part.field)
    except (AttributeError, IndexError) as error:
        raise ValueError(f"The layout of '{name}' is not whole ({error}); check whether the strategy file is correct.") from None


def _strategy(source):
    """From the name of a file or what is in it; None stays None: nothing is split."""
    if source is None or isinstance(source, _Strategy):
        return source
    layouts = {}
    for full, part in (source if isinstance(source, dict) else _strategy_file.read(source)).items():
        stage, dash, name = full.partition("-")
        stage, name = (int(stage), name) if dash and stage.isdigit() else (0, full)
        layout = _layout(full, part, stage)
        if name in layouts:
            layout.stages |= layouts[name].stages
        layouts[name] = layout
    strategy = _Strategy(layouts)
    if strategy.stages != list(range(len(strategy.stages))):
        raise ValueError(f"The strategy file for pipeline parallel does not contains all stages: it has {strategy.stages}.")
    return strategy


def _check_folder_of(path):
    if path and os.path.dirname(path) and not os.path.exists(os.path.dirname(path)):
        raise ValueError(f"The directory of the strategy file {path} does not exist.")


def build_searched_strategy(strategy_filename):
    """What a strategy file says about each Parameter, by name: dev_matrix, tensor_map and the other fields of the file. None: no file.

    Examples:
        >>> import spore as ms
        >>> ms.build_searched_strategy(None) is None
        True
    """
    return None if strategy_filename is None else _strategy_file.read(strategy_filename)


def merge_pipeline_strategys(src_strategy_dirs, dst_strategy_file):
    """The strategy files of all pipeline stages, which lie in one folder, as one file; the stage is put before each Parameter's name."""
    if not os.path.isdir(src_strategy_dirs):
        raise NotADirectoryError(f"src_strategy_dirs {src_strategy_dirs} is not a directory.")
    files = {kind: sorted(glob(os.path.join(_escape(src_strategy_dirs), "*" + kind))) for kind in (".ckpt", ".json")}
    if files[".ckpt"] and files[".json"]:
        raise ValueError("The strategys format should be all '.ckpt' or all '.json'")
    os.makedirs(os.path.dirname(os.path.abspath(dst_strategy_file)), exist_ok=True)
    found = files[".ckpt"] or files[".json"]
    if not found:
        raise ValueError(f"There is no strategy file (.ckpt or .json) in {src_strategy_dirs}.")
    _strategy_file.merge(found, os.path.abspath(dst_strategy_file))


def restore_group_info_list(group_info_file_name):
    """The processes that have the same checkpoint as this one, in the file of `group_ckpt_save_file`."""
    return _strategy_file.restore_ranks(group_info_file_name)


def _escape(path):
    """A folder's name in a pattern."""
    return re.sub(r"([*?[])", r"[\1]", path)


# --- slices put together ---------------------------------------------------------------------------------------------

def _array(param):
    """The contents; bfloat16 as float32, which holds them."""
    return param.asnumpy()


def _parameter(name, array, like):
    """An array as a Parameter with the dtype of `like`."""
    from spore import Tensor
    return Parameter(Tensor(np.ascontiguousarray(array), like.dtype), name=name, requires_grad=like.requires_grad,
                     layerwise_parallel=like.layerwise_parallel)


def merge_sliced_parameter(sliced_parameters, strategy=None):
    """The whole of a Parameter from its slices, in the order of their processes; without a strategy along the first dimension.

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
    for k, part in enumerate(sliced_parameters):
        if not isinstance(part, Parameter):
            raise TypeError(f"For 'merge_sliced_parameter', every element must be a Parameter, but got {type(part)} at index {k}.")
        if part.name != first.name or part.dtype != first.dtype or part.ndim != first.ndim or part.shape[1:] != first.shape[1:]:
            raise ValueError("For 'merge_sliced_parameter', all parts must have one name, one dtype and one shape but for the first axis, but got "
                             f"'{part.name}' ({part.dtype}, {part.shape}) beside '{first.name}' ({first.dtype}, {first.shape}).")
    pieces = {k: _array(part) for k, part in enumerate(sliced_parameters)}
    if not strategy:
        return _parameter(first.name, np.concatenate(list(pieces.values())), first)
    if first.name not in strategy:
        raise KeyError(f"For 'merge_sliced_parameter', the parameter name {first.name} should be a key in the 'strategy'. Please check "
                       "'sliced_parameter' and 'strategy'.")
    layout = _layout(first.name, strategy[first.name], 0)
    if len(pieces) != layout.ranks:
        raise ValueError("For 'merge_sliced_parameter', the length of 'sliced_parameters' should be equal to device_count. The length of "
                         f"'sliced_parameters' is {len(pieces)}, but device_count is {layout.ranks}.")
    if not layout.uneven and any(part.shape != first.shape for part in sliced_parameters):
        raise ValueError("For 'merge_sliced_parameter', the shape of every parameter in 'sliced_parameters' should be the same when slice "
                         "manner is even.")
    return _parameter(first.name, _whole(first.name, pieces, layout), first)


def _whole(name, pieces, layout):
    """All slices as one array."""
    if layout.uneven:
        return _slices.join_uneven(name, pieces, layout)
    if layout.field > 0:
        return _slices.join_fields(pieces, layout.ranks, layout.field)
    return _slices.assemble(name, pieces, layout, _slices.whole_layout(len(layout.axes)), 0)


# --- checkpoints of other ways to split ------------------------------------------------------------------------------

def _names_for(rank, source, target):
    """The Parameters that both strategies have and process `rank` of `target` holds; None: all."""
    names = set(source.layouts) if source else None
    if target is None:
        return names
    here = target.of_stage(rank // target.ranks)
    return here if names is None else names & here


def rank_list_for_transform(rank_id, src_strategy_file=None, dst_strategy_file=None):
    """The processes whose checkpoints are needed to make that of process `rank_id`, of which a strategy of None has one with the whole.

    Examples:
        >>> import spore as ms
        >>> ms.rank_list_for_transform(0)
        [0]
    """
    if not isinstance(rank_id, int):
        raise TypeError(f"The rank_id should be a int, but got {type(rank_id)}.")
    if src_strategy_file is None:
        return [0]
    source, target = _strategy(src_strategy_file), _strategy(dst_strategy_file)
    if not source.layouts:
        raise ValueError(f"The src_strategy_file {src_strategy_file} is empty.")
    return _needed_ranks(rank_id, source, target)


def _needed_ranks(rank, source, target):
    local = rank % target.ranks if target else rank
    needed, stages = {local % source.ranks}, set()
    for name in _names_for(rank, source, target):
        layout = source.layouts[name]
        needed |= _slices.needed(layout, target.layouts[name] if target else _slices.whole_layout(len(layout.axes)), local)
    for name, layout in source.layouts.items():
        if target is None or name not in target.layouts or rank // target.ranks in target.layouts[name].stages:
            stages |= layout.stages
    return sorted((stage * source.ranks + r for stage in stages for r in needed), reverse=True)


def _collect(files, source, load):
    """Slices of the Parameters, {name: {process of the stage: Parameter}}, and entries that are no Parameters."""
    slices = {}
    for rank, path in files.items():
        for name, param in load(path).items():
            if not isinstance(param, Parameter):
                continue
            slices.setdefault(name, {})[rank % source.ranks if source else rank] = param
    return slices


def _transform(rank, slices, source, target, only=None):
    """The Parameters of process `rank`, as save_checkpoint takes them. What no strategy names (a learning rate, a count of steps) is taken
    from the process with the same number, else from any."""
    wanted = _names_for(rank, source, target)
    local = rank % target.ranks if target else 0
    made, known = [], 0
    for name, pieces in slices.items():
        if only is not None and name not in only:
            continue
        named = name in (source.layouts if source else ()) or name in (target.layouts if target else ())
        if named and wanted is not None and name not in wanted and target and name in target.layouts:
            continue                                                                    # of another stage
        near = pieces.get(local % (source.ranks if source else 1), next(iter(pieces.values())))
        if wanted is None or name in wanted:
            arrays = {r: _array(p) for r, p in pieces.items()}
            whole = _slices.whole_layout(near.ndim)
            array = _slices.assemble(name, arrays, source.layouts[name] if source else whole, target.layouts[name] if target else whole, local)
            known += 1
        else:
            array = _array(near)
        made.append({"name": name, "data": _parameter(name, array, near)})
    if not known and only is None:
        raise ValueError("None of the parameters in checkpoint file are in either src strategy or dst strategy. Please check correctness of "
                         "strategy files.")
    return made


def _loader(path, **kwargs):
    from spore.train.serialization import load_checkpoint
    return load_checkpoint(path, format="safetensors" if path.endswith(".safetensors") else "ckpt", **kwargs)


def _save(params, path):
    from spore.train.serialization import save_checkpoint
    os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
    save_checkpoint(params, path, format=path.rpartition(".")[2])


def transform_checkpoint_by_rank(rank_id, checkpoint_files_map, save_checkpoint_file_name, src_strategy_file=None, dst_strategy_file=None):
    """The checkpoint of one process, made of those of others: {process: file}, with the processes of rank_list_for_transform. A strategy of
    None has the whole in one process."""
    if not isinstance(checkpoint_files_map, dict):
        raise TypeError(f"The checkpoint_files_map should be a dict, but got {type(checkpoint_files_map)}.")
    if not isinstance(rank_id, int):
        raise TypeError(f"The rank_id should be a int, but got {type(rank_id)}.")
    if not isinstance(save_checkpoint_file_name, str):
        raise TypeError(f"The save_checkpoint_file_name should be a str, but got {type(save_checkpoint_file_name)}.")
    if not save_checkpoint_file_name.endswith((".ckpt", ".safetensors")):
        raise ValueError(f"The save_checkpoint_file_name {save_checkpoint_file_name} should end with .ckpt (or .safetensors)")
    _check_folder_of(dst_strategy_file)
    for rank, path in checkpoint_files_map.items():
        if not os.path.exists(path):
            raise ValueError(f"Checkpoint file {path} of rank {rank} does not exist.")
    source, target = _strategy(src_strategy_file), _strategy(dst_strategy_file)
    _save(_transform(rank_id, _collect(checkpoint_files_map, source, _loader), source, target), save_checkpoint_file_name)


def _numbers_at_end(path):
    return [int(n) for n in re.findall(r"\d+", path)][-2:]


def _files_by_rank(folder, kind, suffix=None):
    """{process: file}: the last one of each folder rank_N; `suffix` chooses among several."""
    files = {}
    for inner in glob(os.path.join(_escape(folder), "rank_[0-9]*")):
        number = os.path.basename(inner)[5:]
        if not os.path.isdir(inner) or not number.isdigit():
            continue
        found = sorted(glob(os.path.join(_escape(inner), f"*{suffix or ''}.{kind}")))
        if not found and suffix is not None:
            raise ValueError(f"No {kind} file with the suffix '{suffix}' in {inner}.")
        if len(found) > 1 and suffix is not None:
            short = min(len(os.path.basename(path)) for path in found)
            if sum(len(os.path.basename(path)) == short for path in found) > 1:
                raise ValueError(f"Several {kind} files in {inner} have the suffix '{suffix}': {[os.path.basename(p) for p in found]}. Give the "
                                 "longest suffix that is common to the files of all ranks.")
            found = [path for path in found if len(os.path.basename(path)) == short]
        if found:
            files[int(number)] = max(found, key=_numbers_at_end) if kind == "safetensors" and suffix is None else found[-1]
    return files


def _only_kind(who, folder):
    """The kind of the files in the folders rank_N, and these."""
    files = {kind: _files_by_rank(folder, kind) for kind in ("ckpt", "safetensors")}
    if files["ckpt"] and files["safetensors"]:
        raise ValueError(f"For '{who}', the folder {folder} cannot contain both ckpt files and safetensors files.")
    return next(((kind, found) for kind, found in files.items() if found), (None, {}))


def _run_all(work, items, limit):
    """work(item) for all, so many at a time."""
    items = list(items)
    if limit <= 1 or len(items) <= 1:
        for item in items:
            work(item)
        return
    with concurrent.futures.ThreadPoolExecutor(min(limit, len(items))) as pool:
        for _ in pool.map(work, items):
            pass


def transform_checkpoints(src_checkpoints_dir, dst_checkpoints_dir, ckpt_prefix, src_strategy_file=None, dst_strategy_file=None,
                          process_num=1, output_format='ckpt'):
    """The checkpoints of all processes for another way to split: of `src_checkpoints_dir`/rank_N the last file, to
    `dst_checkpoints_dir`/rank_N/<ckpt_prefix>N.<output_format>. A strategy of None has the whole in one process."""
    if not os.path.isdir(src_checkpoints_dir):
        raise NotADirectoryError(f"src_checkpoints_dir {src_checkpoints_dir} is not a directory.")
    if not isinstance(ckpt_prefix, str):
        raise TypeError(f"The ckpt_prefix should be a str, but got {type(ckpt_prefix)}.")
    if ckpt_prefix != os.path.basename(ckpt_prefix):
        raise ValueError(f"The ckpt_prefix is the start of a file's name, without folders, but got {ckpt_prefix!r}.")
    if output_format not in ("ckpt", "safetensors"):
        raise ValueError(f"For 'transform_checkpoints', 'output_format' must be 'ckpt' or 'safetensors', but got {output_format!r}.")
    if not isinstance(process_num, int) or process_num < 1:
        raise ValueError(f"For 'transform_checkpoints', 'process_num' must be an int from 1, but got {process_num!r}.")
    _check_folder_of(src_strategy_file)
    kind, files = _only_kind('transform_checkpoints', src_checkpoints_dir)
    if not files:
        raise ValueError(f"For 'transform_checkpoints', there is no checkpoint in the folders rank_N of {src_checkpoints_dir!r}.")
    if kind == "ckpt" and output_format == "safetensors":
        raise ValueError("For 'transform_checkpoints', 'output_format' can not be 'safetensors' when 'src_checkpoints_dir' only contains ckpt "
                         "files.")
    source, target = _strategy(src_strategy_file), _strategy(dst_strategy_file)
    if kind == "ckpt" and _is_stage_of(source, target):
        _transform_stage(files, dst_checkpoints_dir, ckpt_prefix, source, target, _strategy_file.stage_of(src_strategy_file))
        return

    def one(rank):
        needed = _needed_ranks(rank, source, target) if source else [0]
        missing = [r for r in needed if r not in files]
        if missing:
            raise ValueError(f"The checkpoint file of rank{missing[0]} is needed for converting rank{rank}'s checkpoint, but it is missing.")
        params = _transform(rank, _collect({r: files[r] for r in needed}, source, _loader), source, target)
        _save(params, os.path.join(dst_checkpoints_dir, f"rank_{rank}", f"{ckpt_prefix}{rank}.{output_format}"))
    _run_all(one, range(target.ranks * len(target.stages) if target else 1), process_num)


_STATES = ("accu_grads", "adam_v", "adam_m")


def _is_stage_of(source, target):
    """Whether `source` is one stage of a pipeline, by itself, and `target` the whole network without stages."""
    if not source or not target or len(source.stages) > 1 or len(target.stages) > 1:
        return False
    names = [{name for name in strategy.layouts if not name.startswith(_STATES)} for strategy in (source, target)]
    return names[0] < names[1]


def _transform_stage(files, folder, prefix, source, target, stage):
    """What one stage has of each process's checkpoint; load_segmented_checkpoints reads the parts of all stages."""
    first = stage * source.ranks
    slices = _collect({r: path for r, path in files.items() if first <= r < first + source.ranks}, source, _loader)
    for rank in range(target.ranks):
        _save(_transform(rank, slices, source, target), os.path.join(folder, f"rank_{rank}", f"{prefix}{rank}_part{stage}.ckpt"))


# --- safetensors: one set of files for the whole ---------------------------------------------------------------------

_PART_BYTES = 3 << 30


def unified_safetensors(src_dir, src_strategy_file, dst_dir, merge_with_redundancy=True, file_suffix=None, max_process_num=64,
                        choice_func=None, split_dst_file=()):
    """The slices of all processes, in safetensors files in the folders rank_N, put together: `part0.safetensors` and further ones of about
    3 GB, `param_name_map.json` that tells which Parameter is in which, `hyper_param.safetensors` with what the strategy does not name.

    Args:
        src_dir: folder of the folders rank_N, or one file.
        src_strategy_file: strategy file, of all stages.
        dst_dir: folder for the result.
        merge_with_redundancy: slices are taken from the nearest process that has them in either case.
        file_suffix: chooses among several files in a folder.
        max_process_num: parts that are made at a time.
        choice_func: of the name of a Parameter: False leaves it out, a str renames it.
        split_dst_file: (k, n): make the k-th of n shares of the parts, from 1.
    """
    if not isinstance(src_dir, str) or not os.path.exists(src_dir):
        raise ValueError(f"For 'unified_safetensors', the folder {src_dir!r} does not exist.")
    for what, value in (("merge_with_redundancy", merge_with_redundancy),):
        if not isinstance(value, bool):
            raise TypeError(f"For 'unified_safetensors', '{what}' must be a bool, but got {type(value)}.")
    if os.path.isfile(src_dir):
        files = {0: src_dir}
    else:
        if _files_by_rank(src_dir, "ckpt") and _files_by_rank(src_dir, "safetensors"):
            raise ValueError("For 'unified_safetensors', the 'src_dir' cannot contain both ckpt file and safetensors file simultaneously")
        files = _files_by_rank(src_dir, "safetensors", file_suffix)
    if not files:
        raise ValueError(f"For 'unified_safetensors', there is no safetensors file in the folders rank_N of {src_dir!r}.")
    source = _strategy(src_strategy_file)
    stored = {rank: _loader(path) for rank, path in files.items()}
    sizes, names = _sizes_of_wholes(stored, source, choice_func)
    groups = _shares(sizes, min(math.ceil(sum(sizes.values()) / _PART_BYTES), len(sizes)))
    os.makedirs(dst_dir, exist_ok=True)
    share, shares = split_dst_file or (1, 1)
    if share == 1:
        others = {name: param for name, param in stored.get(0, {}).items() if name not in sizes and isinstance(param, Parameter)}
        if others:
            _save(others, os.path.join(dst_dir, "hyper_param.safetensors"))
        _write_map(dst_dir, groups, names, sum(sizes.values()))
    slices = {}
    for rank, params in stored.items():
        for name in set(params) & set(sizes):
            slices.setdefault(name, {})[rank % source.ranks] = params[name]
    mine = [k for k in range(len(groups)) if k in np.array_split(np.arange(len(groups)), shares)[share - 1]]

    def one(k):
        made = {entry["name"]: entry["data"] for entry in _transform(0, slices, source, None, set(groups[k]))}
        _save([{"name": names[name], "data": made[name]} for name in groups[k]], os.path.join(dst_dir, f"part{k}.safetensors"))
    _run_all(one, mine, max_process_num)


def _sizes_of_wholes(stored, source, choice):
    """Bytes of every Parameter as a whole, and the name it gets."""
    sizes, names = {}, {}
    for params in stored.values():
        for name, param in params.items():
            if name in sizes or name.startswith("accu_grads") or name not in source.layouts:
                continue
            chosen = True if choice is None else choice(name)
            if not isinstance(chosen, (bool, str)):
                raise ValueError("For 'unified_safetensors', the return value type of the function 'choice_func' must be bool or str, but got "
                                 f"{type(chosen)}.")
            if chosen is False:
                continue
            sizes[name] = param.size * param.itemsize * math.prod(source.layouts[name].parts)
            names[name] = chosen if isinstance(chosen, str) else name
    if not sizes:
        raise ValueError("For 'unified_safetensors', none of the Parameters in the files is in the strategy file.")
    return sizes, names


def _shares(sizes, n):
    """Names in n groups of about the same size: the largest first, each to the smallest group."""
    groups, filled = [[] for _ in range(n)], [0] * n
    for name, size in sorted(sizes.items(), key=lambda item: -item[1]):
        k = filled.index(min(filled))
        groups[k].append(name)
        filled[k] += size
    return groups


def _write_map(folder, groups, names, total):
    where = {names[name]: f"part{k}.safetensors" for k, group in enumerate(groups) for name in group}
    with open(os.path.join(folder, "param_name_map.json"), "w", encoding="utf-8") as file:
        json.dump({"metadata": {"total_size": total}, "weight_map": where}, file, indent=4)


def _load_unified(folder, target, rank, name_map):
    """The slices of process `rank` from files of unified_safetensors; what the strategy does not name as it is."""
    files = sorted(f for f in os.listdir(folder) if f.endswith(".safetensors"))
    if not files:
        raise ValueError(f"For 'load_distributed_checkpoint', there is no safetensors file in {folder!r}.")
    if len(files) > 1 and "param_name_map.json" not in os.listdir(folder):
        raise ValueError(f"For 'load_distributed_checkpoint', there must be a file param_name_map.json beside the safetensors files of {folder!r}.")
    stored, back = {}, {new: old for old, new in (name_map or {}).items()}
    for file in files:
        stored.update((name if file == "hyper_param.safetensors" else back.get(name, name), (param, file)) for name, param
                      in _loader(os.path.join(folder, file)).items())
    found = {}
    for name, (param, file) in stored.items():
        if target is None or file == "hyper_param.safetensors":
            found[name] = param
        elif name in target.layouts and rank // target.ranks in target.layouts[name].stages:
            array = _slices.assemble(name, {0: _array(param)}, _slices.whole_layout(param.ndim), target.layouts[name], rank % target.ranks)
            found[name] = _parameter(name, array, param)
    return found


# --- into a network --------------------------------------------------------------------------------------------------

def load_distributed_checkpoint(network, checkpoint_filenames=None, predict_strategy=None, train_strategy_filename=None, strict_load=False,
                                dec_key=None, dec_mode='AES-GCM', format='ckpt', unified_safetensors_dir=None, dst_safetensors_dir=None,
                                rank_id=None, output_format='safetensors', name_map=None, max_process_num=64, return_param_dict=False):
    """Load the checkpoints of all processes into a network: each Parameter is put together from its slices, as the strategy of training
    says, and where the network's Parameter is a slice, cut as `predict_strategy` says.

    With format "safetensors" the files are those of `unified_safetensors`. Without a network its slices are written to
    `dst_safetensors_dir`/rank_N/net.<output_format>, of process `rank_id` or of all.
    """
    if format not in ('safetensors', 'ckpt') or output_format not in ('safetensors', 'ckpt'):
        raise ValueError("For 'load_distributed_checkpoint', 'format' and 'output_format' must be 'ckpt' or 'safetensors', but got "
                         f"{format!r} and {output_format!r}.")
    if format == 'safetensors':
        for what, value in (('checkpoint_filenames', checkpoint_filenames), ('train_strategy_filename', train_strategy_filename), ('dec_key', dec_key)):
            if value is not None:
                raise ValueError(f"For 'load_distributed_checkpoint', '{what}' must be None when format is 'safetensors', but got {value!r}.")
        if strict_load or dec_mode != 'AES-GCM':
            raise ValueError("For 'load_distributed_checkpoint', strict_load and dec_mode must be default when format is 'safetensors'.")
        if unified_safetensors_dir is None:
            raise ValueError("For 'load_distributed_checkpoint', 'unified_safetensors_dir' can not be None when format is 'safetensors'.")
        return _load_safetensors(network, predict_strategy, unified_safetensors_dir, dst_safetensors_dir, rank_id, output_format, name_map,
                                 max_process_num, return_param_dict)
    from spore.nn import Cell
    if not isinstance(network, Cell):
        raise TypeError(f"For 'load_distributed_checkpoint', 'network' must be a Cell, but got {type(network)}.")
    if not isinstance(checkpoint_filenames, (list, tuple)) or not checkpoint_filenames:
        raise ValueError("For 'load_distributed_checkpoint', 'checkpoint_filenames' must be a list of file names.")
    for index, path in enumerate(checkpoint_filenames):
        if not isinstance(path, str) or not path.endswith('.ckpt') or not os.path.exists(path) or os.path.getsize(path) == 0:
            raise ValueError(f"For 'load_distributed_checkpoint', please check 'checkpoint_filenames': {path!r} at index {index} must be a file "
                             "that ends with '.ckpt' and is not empty.")
    _check_predict(predict_strategy)
    params = _from_files(network, checkpoint_filenames, _training_strategy(network, train_strategy_filename), dec_key, dec_mode)
    _load_wholes(network, params, _strategy(predict_strategy), strict_load)
    return True


def _check_predict(strategy):
    if strategy is None or isinstance(strategy, str):
        return
    if not isinstance(strategy, dict):
        raise TypeError(f"For 'load_distributed_checkpoint', 'predict_strategy' must be a dict, a str or None, but got {type(strategy)}.")
    for name, part in strategy.items():
        listed = isinstance(part, (list, tuple))
        if not isinstance(name, str) or listed and (len(part) < 4 or not all(isinstance(part[k], list) for k in (0, 1)) or part[3] != 0):
            raise ValueError("For 'load_distributed_checkpoint', the argument 'predict_strategy' is dict, the key of it must be string, and the "
                             "value of it must be list or tuple that the first four elements must be dev_matrix (list[int]), tensor_map "
                             f"(list[int]), param_split_shape (list[int]) and field_size (int, which value is 0), but got {name!r}: {part!r}.")


def _training_strategy(network, path):
    """Strategies of the files: named, or those that the network saves or the options name; None: no file says."""
    if path is None:
        from spore import context
        from spore.parallel.auto_parallel import AutoParallel
        path = getattr(network, '_save_strategy_file_path', None) if isinstance(network, AutoParallel) else None
        path = path or context._strategy_file('load') or None
    return _strategy(path)


def _from_files(network, paths, source, dec_key, dec_mode):
    """Every Parameter as a whole, from the slices in the files. Without a strategy slices are put together along the first dimension."""
    if source and source.ranks * len(source.stages) != len(paths):
        raise ValueError("For 'Load_distributed_checkpoint', the length of 'checkpoint_filenames' should be equal to the device count of "
                         f"training process. But got the length of 'checkpoint_filenames' is {len(paths)} and the device count is "
                         f"{source.ranks * len(source.stages)}.")
    stored = [_loader(path, dec_key=dec_key, dec_mode=dec_mode) for path in paths]
    wholes = {}
    for _, param in network.parameters_and_names():
        name = param.name
        pieces = {}
        for k, params in enumerate(stored):
            if name in params:
                pieces.setdefault(k % source.ranks if source else k, params[name])
        if not pieces or source and name not in source.layouts:
            continue
        first = next(iter(pieces.values()))
        if source:
            wholes[name] = _parameter(name, _whole(name, {k: _array(p) for k, p in pieces.items()}, source.layouts[name]), first)
        else:
            from spore import _core
            split = _core.tensor_split(param)
            same = tuple(first.shape) == tuple(split[0] if split else param.shape)
            wholes[name] = first if same else merge_sliced_parameter(list(pieces.values()))
    return wholes or {name: p for name, p in stored[0].items() if isinstance(p, Parameter)}    # files of which nothing fits are refused later


def _load_wholes(network, wholes, target, strict):
    """A Parameter that is whole, or split by this program, takes the whole; one that was made as a slice takes its slice."""
    from spore import _core
    from spore.communication import get_rank
    from spore.train.serialization import load_param_into_net
    for _, param in network.parameters_and_names():
        value, layout = wholes.get(param.name), target.layouts.get(param.name) if target else None
        if value is None or layout is None or _core.tensor_split(param) or tuple(param.shape) == tuple(value.shape):
            continue
        array = _slices.assemble(param.name, {0: _array(value)}, _slices.whole_layout(value.ndim), layout,
                                 (get_rank() if _core.job_transport() else 0) % target.ranks)
        wholes[param.name] = _parameter(param.name, array, value)
    return load_param_into_net(network, wholes, strict)


def _load_safetensors(network, strategy, folder, out, rank, output_format, name_map, limit, return_dict):
    target = _strategy(strategy)
    if network is not None:
        from spore import _core
        from spore.communication import get_rank
        rank = get_rank() if _core.job_transport() else 0
        if return_dict:
            return _load_unified(folder, target, rank, name_map)
        return _load_wholes(network, _load_unified(folder, None, 0, name_map), target, False)
    if out is None:
        raise ValueError("For 'load_distributed_checkpoint', 'dst_safetensors_dir' can not be None when network is None.")

    def one(k):
        _save(_load_unified(folder, target, k, name_map), os.path.join(out, f"rank_{k}", f"net.{output_format}"))
    _run_all(one, [rank] if rank is not None else range(target.ranks * len(target.stages) if target else 1), limit)
    return True


def load_segmented_checkpoints(*args, **kwargs):
    """See spore.train.load_segmented_checkpoints."""
    from spore.train.serialization import load_segmented_checkpoints as load
    return load(*args, **kwargs)


def sync_pipeline_shared_parameters(net):
    """Parameters that pipeline stages share are equal already: the lowest stage that has one sends it to the others with every step."""


def parameter_broadcast(net, layout, cur_rank=0, initial_rank=0):
    """Give Parameters of one process to all. Those that are split are left out: every process has slices of its own.

    Args:
        net: the network.
        layout: slices of the Parameters as MindSpore writes them; whether one is split is known without.
        cur_rank: this process; kept for MindSpore's sake, the job knows it.
        initial_rank: whose Parameters they are.
    """
    from spore import _core, context, ops
    if isinstance(initial_rank, bool) or not isinstance(initial_rank, int) or not 0 <= initial_rank < context._ranks():
        raise ValueError(f"parameter_broadcast: initial_rank must be a process of the job, 0 to {context._ranks() - 1}, but got {initial_rank!r}")
    if context._ranks() == 1:
        return
    for parameter in net.get_parameters():
        if _core.tensor_split(parameter) is None and not parameter.layerwise_parallel:
            parameter.set_data(ops.Broadcast(initial_rank)((parameter.value(),))[0])


def get_ckpt_path_with_strategy(cur_ckpt_path, cur_strategy_path):
    """A checkpoint with the weights of this process: its own, if it is there, else that of a process with the same slices."""
    if os.path.exists(cur_ckpt_path):
        return cur_ckpt_path
    from spore.communication import get_rank
    rank = get_rank()
    source = _strategy(cur_strategy_path)
    if not re.search(rf"rank_{rank}(?=\D|$)", cur_ckpt_path):
        return None
    for other in range(source.ranks):
        base = rank // source.ranks * source.ranks
        if all(layout.place(other) == layout.place(rank) for layout in source.layouts.values()):
            path = re.sub(rf"rank_{rank}(?=\D|$)", f"rank_{base + other}", cur_ckpt_path)
            if os.path.exists(path):
                return path
    return None


def set_op_strategy_config(mode='SAVE', path=''):
    """Refused as MindSpore does, and said to have no effect: strategies of Parameters are kept in files (strategy_ckpt_config), those of operators
    follow from them.

    Args:
        mode: "SAVE" or "LOAD".
        path: a full path that ends in ".json".
    """
    if mode not in ('SAVE', 'LOAD'):
        raise KeyError(f"set_op_strategy_config: mode must be 'SAVE' or 'LOAD', but got {mode!r}")
    if path and (not os.path.isabs(path) or not path.endswith('.json')):
        raise KeyError(f"set_op_strategy_config: the path must be absolute and end in '.json', but got {path!r}")
    not_done(f"set_op_strategy_config(mode={mode!r})", "no file of operators is read or written; strategy_ckpt_config has those of Parameters")


convert_checkpoints, convert_checkpoint_by_rank, rank_list_for_convert = (
    transform_checkpoints, transform_checkpoint_by_rank, rank_list_for_transform)

# SPDX-License-Identifier: Apache-2.0
"""Strategy files: how the Parameters of a network are split over processes, in the two forms that MindSpore has: JSON where the name ends
in ``.json``, else protobuf (node_strategy_pb2). A file of several pipeline stages has the stage before each name: ``1-fc.weight``."""
import json
import os

from spore._core import type_name as _type_name
from spore.train.node_strategy_pb2 import ParallelGroupMap, ParallelLayouts, ParallelStrategyMap

__all__ = []

_DIMS = ("dev_matrix", "tensor_map", "param_split_shape", "indices_offset")
_NUMBERS = ("field", "opt_weight_shard_step", "opt_weight_shard_size")


def is_json(path):
    return path.endswith(".json")


def _check(path):
    if not isinstance(path, str):
        raise TypeError(f"For 'build_searched_strategy', the argument 'strategy_filename' should be string, but got {type(path)}.")
    if not os.path.isfile(path):
        raise ValueError(f"For 'build_searched_strategy', no such strategy file: {path}. Please check whether the 'strategy_filename' exists.")
    if os.path.getsize(path) == 0:
        raise ValueError(f"For 'build_searched_strategy', the strategy file {path} should not be empty. Please check whether the "
                         "'strategy_filename' is correct.")


def read_message(path):
    """A protobuf file as a message."""
    _check(path)
    message = ParallelStrategyMap()
    with open(path, "rb") as file:
        content = file.read()
    try:
        message.ParseFromString(content)
        for item in message.parallel_layout_item:
            item.param_name, item.parallel_layouts.field  # noqa: B018  parts of a message are read when they are asked for
    except (ValueError, IndexError, UnicodeDecodeError) as error:
        raise TypeError(f"The strategy file type should be one of json or protobuf. When the file name extension is not '.json', the file is "
                        f"considered as a protobuf file: {path}: {error}") from None
    return message


def read_json(path):
    _check(path)
    with open(path, encoding="utf-8") as file:
        try:
            content = json.load(file)
        except ValueError as error:
            raise ValueError(f"{path}: not JSON: {error}") from None
    if not isinstance(content, dict):
        raise ValueError(f"{path}: a strategy file holds an object, found {_type_name(content)}")
    return content


def _layouts_of_json(path, name, item):
    layouts = ParallelLayouts()
    try:
        for key in _NUMBERS:
            setattr(layouts, key, int(item[key]))
        for key in _DIMS:
            parts = item.get(key, [])
            if key == "tensor_map" and any(isinstance(part, list) for part in parts):
                for part in parts:
                    getattr(layouts, key).add().dim.extend(part if isinstance(part, list) else [part])
            else:
                getattr(layouts, key).add().dim.extend(parts)
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path}: the layout of '{name}' is not whole: {type(error).__name__} {error}; wanted dev_matrix, tensor_map and "
                         f"{', '.join(_NUMBERS)}") from None
    return layouts


def read(path):
    """{name: ParallelLayouts}."""
    if is_json(path):
        return {name: _layouts_of_json(path, name, item) for name, item in read_json(path).get("parallel_layout_item", {}).items()}
    return {item.param_name: item.parallel_layouts for item in read_message(path).parallel_layout_item}


def stage_of(path):
    """The pipeline stage that a file is about."""
    if is_json(path):
        items = list(read_json(path).get("parallel_strategy_item", {}).values())
        stages = [item["stage"] for item in items[:1]]
    else:
        stages = [item.parallel_strategys.stage for item in list(read_message(path).parallel_strategy_item)[:1]]
    if not stages:
        raise ValueError(f"The strategy file {path} is empty.")
    return stages[0]


def _replace(path, content):
    temporary = f"{path}.{os.getpid()}.new"
    try:
        with open(temporary, "wb") as file:
            file.write(content)
        os.replace(temporary, path)
    except OSError:
        if os.path.exists(temporary):
            os.unlink(temporary)
        raise


def write(path, strategies, layouts, stage=0):
    """Write a file, whole or not at all. `strategies`: {node: a tuple of slices for each input}; `layouts`: {Parameter: dict with dev_matrix,
    tensor_map (a list for an axis that several dimensions split), tensor_shape, and where the optimizer splits further its step and size}."""
    filled = {name: {"dev_matrix": item["dev_matrix"], "tensor_map": item["tensor_map"], "tensor_shape": item["tensor_shape"],
                     "field": 0, "opt_weight_shard_step": item.get("opt_weight_shard_step", 0),
                     "opt_weight_shard_size": item.get("opt_weight_shard_size", 0)} for name, item in layouts.items()}
    if is_json(path):
        content = {"current_stage": stage, "parallel_strategy_item": {
            node: {"stage": stage, "parallel_strategy": [list(part) for part in parts]} for node, parts in strategies.items()},
            "parallel_layout_item": filled}
        _replace(path, json.dumps(content).encode())
        return
    message = ParallelStrategyMap()
    message.current_stage = stage
    for node, parts in strategies.items():
        item = message.parallel_strategy_item.add()
        item.node_name = node
        item.parallel_strategys.stage = stage
        for part in parts:
            item.parallel_strategys.parallel_strategy.add().dim.extend(part)
    for name, fields in filled.items():
        item = message.parallel_layout_item.add()
        item.param_name = name
        made = _layouts_of_json(path, name, fields)
        for key in _DIMS:
            for part in getattr(made, key):
                getattr(item.parallel_layouts, key).add().dim.extend(part.dim)
        for key in _NUMBERS:
            setattr(item.parallel_layouts, key, getattr(made, key))
    _replace(path, message.SerializeToString())


def merge(paths, target):
    """Files of pipeline stages in one."""
    json_form = all(is_json(path) for path in paths)
    whole = {"current_stage": 1, "parallel_strategy_item": {}, "parallel_layout_item": {}} if json_form else ParallelStrategyMap()
    done = set()
    for path in paths:
        content = read_json(path) if json_form else read_message(path)
        items = [content.get(key) if json_form else list(getattr(content, key)) for key in ("parallel_strategy_item", "parallel_layout_item")]
        if not items[0] or not items[1]:
            raise ValueError(f"The strategy file {path} is empty")
        stage = stage_of(path)
        if stage in done:
            continue
        done.add(stage)
        if json_form:
            whole["parallel_layout_item"].update((f"{stage}-{name}", item) for name, item in items[1].items())
            whole["parallel_strategy_item"].update(items[0])
            continue
        for item in items[1]:
            item.param_name = f"{stage}-{item.param_name}"
        whole.parallel_strategy_item.extend(items[0])
        whole.parallel_layout_item.extend(items[1])
    if json_form:
        _replace(target, json.dumps(whole).encode())
        return
    whole.current_stage = 1
    _replace(target, whole.SerializeToString())


def restore_ranks(path):
    """The processes whose checkpoints a group file says are enough."""
    message = ParallelGroupMap()
    with open(path, "rb") as file:
        message.ParseFromString(file.read())
    ranks = list(message.ckpt_restore_rank_list.dim)
    if not ranks:
        raise ValueError(f"For 'restore_group_info_list', the group information file {path} has no restore rank list.")
    return ranks

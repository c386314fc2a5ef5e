# SPDX-License-Identifier: Apache-2.0
"""What MindSpore 2.10 makes of strategy files and sliced checkpoints: run with its interpreter, writes recorded_2.10.json and files/.

    python record.py

Cases are drawn: device matrices, tensor maps, slices of the optimizer, two pipeline stages. Strategy files are written with MindSpore's messages,
slices are cut here, what its functions answer is recorded: lists of ranks, and of every array dtype, shape, first and last element, checksum."""
import json
import os
import random
import shutil
import tempfile
import zlib
from pathlib import Path

import mindspore as ms
import numpy as np
from mindspore.train import node_strategy_pb2 as pb

HERE = Path(__file__).parent
FILES = HERE / "files"


def layout(draw, ranks, rank):
    """A device matrix of `ranks` and a tensor map; sometimes slices of the optimizer."""
    matrix, left = [], ranks
    while left > 1:
        n = draw.choice([k for k in (2, 4, 8) if left % k == 0])
        matrix.append(n)
        left //= n
    matrix = matrix or [1]
    dims = list(range(len(matrix)))
    draw.shuffle(dims)
    tensor_map = [dims.pop() if dims and draw.random() < 0.6 else -1 for _ in range(rank)]
    free = [matrix[-1 - d] for d in range(len(matrix)) if d not in tensor_map]
    made = {"dev_matrix": matrix, "tensor_map": tensor_map, "opt_weight_shard_step": 0, "opt_weight_shard_size": 0}
    if free and np.prod(free) > 1 and draw.random() < 0.3:
        # MindSpore wants the step to be the ranks between neighbours of the last free dimension
        last = max(i for i in range(len(matrix)) if len(matrix) - 1 - i not in tensor_map and matrix[i] > 1)
        made["opt_weight_shard_step"] = int(np.prod(matrix[last + 1:]))
        made["opt_weight_shard_size"] = draw.choice([-1, matrix[last]])
    return made


def slice_of(array, item, rank):
    """The slice of a rank, written down once more in another way than the package does it."""
    matrix, tensor_map = item["dev_matrix"], item["tensor_map"]
    at = np.unravel_index(rank, matrix)
    out = array
    for axis, d in enumerate(tensor_map):
        if d >= 0:
            out = np.split(out, matrix[-1 - d], axis)[at[-1 - d]]
    if item["opt_weight_shard_size"]:
        free = [i for i in range(len(matrix)) if len(matrix) - 1 - i not in tensor_map and matrix[i] > 1]
        number = int(np.ravel_multi_index([at[i] for i in free], [matrix[i] for i in free]))
        size = item["opt_weight_shard_size"]
        size = int(np.prod([matrix[i] for i in free])) if size == -1 else size
        out = np.split(out, size, 0)[number % size]
    return np.ascontiguousarray(out)


def write(path, items, stage=0):
    """A strategy file, protobuf and JSON."""
    message = pb.ParallelStrategyMap()
    message.current_stage = stage
    node = message.parallel_strategy_item.add()
    node.node_name = f"MatMul_{stage}"
    node.parallel_strategys.stage = stage
    node.parallel_strategys.parallel_strategy.add().dim.extend([1, 2])
    content = {"current_stage": stage, "parallel_strategy_item": {node.node_name: {"stage": stage, "parallel_strategy": [[1, 2]]}},
               "parallel_layout_item": {}}
    for name, item in items.items():
        entry = message.parallel_layout_item.add()
        entry.param_name = name
        part = entry.parallel_layouts
        part.dev_matrix.add().dim.extend(item["dev_matrix"])
        part.tensor_map.add().dim.extend(item["tensor_map"])
        part.param_split_shape.add()
        part.indices_offset.add()
        part.field = 0
        part.opt_weight_shard_step = item["opt_weight_shard_step"]
        part.opt_weight_shard_size = item["opt_weight_shard_size"]
        content["parallel_layout_item"][name] = {**item, "field": 0, "tensor_shape": []}
    Path(f"{path}.ckpt").write_bytes(message.SerializeToString())
    Path(f"{path}.json").write_text(json.dumps(content))


def told(array):
    flat = np.ascontiguousarray(array).reshape(-1)
    return [str(array.dtype), list(array.shape), float(flat[0]), float(flat[-1]), zlib.crc32(flat.tobytes())]


def arrays(seed, shapes):
    return {name: (np.arange(np.prod(shape), dtype=np.float32).reshape(shape) + 1000 * k + seed) for k, (name, shape) in enumerate(shapes.items())}


def slices(folder, wholes, items, ranks, first=0, kind="ckpt"):
    for rank in range(ranks):
        inner = Path(folder) / f"rank_{first + rank}"
        inner.mkdir(parents=True, exist_ok=True)
        entries = [{"name": name, "data": ms.Tensor(slice_of(wholes[name], items[name], rank) if name in items else wholes[name])} for name in wholes]
        ms.save_checkpoint(entries, str(inner / f"net.{kind}"), format=kind)


def outcome(call):
    """What a call gives, or the name of its exception."""
    try:
        return call()
    except Exception as error:  # noqa: BLE001  whatever it raises is the answer
        return type(error).__name__


def drawn(number):
    """One case: the whole of two Parameters and a number, in two layouts."""
    draw = random.Random(number)
    ranks, new = draw.choice([(2, 4), (4, 4), (4, 2), (8, 4), (4, 8), (8, 8), (8, 2)])
    shapes = {"a": (16, 32), "b": (64,)}
    source = {name: layout(draw, ranks, len(shape)) for name, shape in shapes.items()}
    target = {name: layout(draw, new, len(shape)) for name, shape in shapes.items()}
    kind = draw.choice(["ckpt", "json"])
    whole_target = draw.random() < 0.2
    case = {"source": source, "target": None if whole_target else target, "ranks": ranks, "new": 1 if whole_target else new, "kind": kind}
    with tempfile.TemporaryDirectory() as folder:
        folder = os.path.realpath(folder)
        write(f"{folder}/source", source)
        write(f"{folder}/target", target)
        wholes = {**arrays(number, shapes), "rate": np.array([0.5], np.float32)}
        slices(f"{folder}/in", wholes, source, ranks)
        files = f"{folder}/source.{kind}", None if whole_target else f"{folder}/target.{kind}"
        case["rank_lists"] = [outcome(lambda r=r: [int(k) for k in ms.rank_list_for_transform(r, *files)]) for r in range(case["new"])]

        def transform():
            ms.transform_checkpoints(f"{folder}/in", f"{folder}/out", "made", *files)
            return [{name: told(p.asnumpy()) for name, p in ms.load_checkpoint(f"{folder}/out/rank_{r}/made{r}.ckpt").items()}
                    for r in range(case["new"])]
        case["made"] = outcome(transform)

        def merge(name):
            parts = [ms.Parameter(ms.Tensor(slice_of(wholes[name], source[name], r)), name=name) for r in range(ranks)]
            return told(ms.merge_sliced_parameter(parts, ms.build_searched_strategy(files[0])).asnumpy())
        case["merged"] = {name: outcome(lambda n=name: merge(n)) for name in shapes if not source[name]["opt_weight_shard_size"]}
    return case


def kept():
    """Files of MindSpore that are read here: two stages, merged strategies, unified safetensors."""
    shutil.rmtree(FILES, ignore_errors=True)
    FILES.mkdir()
    plain = {"opt_weight_shard_step": 0, "opt_weight_shard_size": 0}
    stages = [{"fc1.weight": {"dev_matrix": [2, 2], "tensor_map": [0, 1], **plain}},
              {"fc2.weight": {"dev_matrix": [2, 2], "tensor_map": [-1, 0], "opt_weight_shard_step": 2, "opt_weight_shard_size": -1}}]
    shapes = [{"fc1.weight": (8, 4)}, {"fc2.weight": (4, 8)}]
    for kind in ("ckpt", "json"):
        (FILES / f"stages_{kind}").mkdir()
    for k, items in enumerate(stages):
        write(FILES / f"stage{k}", items, k)
        for kind in ("ckpt", "json"):
            os.rename(FILES / f"stage{k}.{kind}", FILES / f"stages_{kind}" / f"stage{k}.{kind}")
    for kind in ("ckpt", "json"):
        ms.merge_pipeline_strategys(str(FILES / f"stages_{kind}"), str(FILES / f"merged.{kind}"))
    record = {"rank_lists": {}, "transformed": {}, "unified": {}, "loaded": {}}
    for kind in ("ckpt", "safetensors"):
        for k, items in enumerate(stages):
            slices(FILES / f"sliced_{kind}", {**arrays(k, shapes[k]), "step": np.array([7], np.float32)}, items, 4, 4 * k, kind)
    single = str(FILES / "merged.ckpt")
    record["rank_lists"]["whole"] = [int(r) for r in ms.rank_list_for_transform(0, single, None)]
    with tempfile.TemporaryDirectory() as out:
        ms.transform_checkpoints(str(FILES / "sliced_ckpt"), out, "one", single, None)
        record["transformed"] = {name: told(p.asnumpy()) for name, p in ms.load_checkpoint(f"{out}/rank_0/one0.ckpt").items()}
    ms.unified_safetensors(str(FILES / "sliced_safetensors"), single, str(FILES / "unified"))
    record["unified"] = {"files": sorted(os.listdir(FILES / "unified")), "map": json.loads((FILES / "unified/param_name_map.json").read_text())}
    with tempfile.TemporaryDirectory() as out:
        ms.load_distributed_checkpoint(None, format="safetensors", unified_safetensors_dir=str(FILES / "unified"), predict_strategy=single,
                                       dst_safetensors_dir=out, max_process_num=1)
        record["loaded"] = [{name: told(p.asnumpy()) for name, p in ms.load_checkpoint(f"{out}/rank_{r}/net.safetensors", format="safetensors").items()}
                            for r in range(8)]
    return record


if __name__ == "__main__":
    os.chdir(HERE)
    answers = {"mindspore": ms.__version__, "kept": kept(), "drawn": [drawn(k) for k in range(150)]}
    (HERE / "recorded_2.10.json").write_text(json.dumps(answers, separators=(",", ":")).replace('},{"source"', '},\n{"source"') + "\n")

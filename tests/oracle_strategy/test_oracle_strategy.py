# SPDX-License-Identifier: Apache-2.0
"""Strategy files and sliced checkpoints: what record.py asked MindSpore 2.10, asked here."""
import importlib.util
import json
import os
from pathlib import Path

import numpy as np
import pytest
import spore as ms
from spore import parallel

HERE = Path(__file__).parent
FILES = HERE / "files"
RECORDED = json.loads((HERE / "recorded_2.10.json").read_text())


@pytest.fixture(scope="module")
def record():
    """The recording script over spore, which writes the same files."""
    ms.as_mindspore()
    spec = importlib.util.spec_from_file_location("record", HERE / "record.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("number", [pytest.param(k, marks=[] if k < 25 else pytest.mark.long) for k in range(len(RECORDED["drawn"]))])
def test_drawn(record, number):
    theirs, ours = RECORDED["drawn"][number], json.loads(json.dumps(record.drawn(number)))
    known, found = theirs.pop("rank_lists"), ours.pop("rank_lists")
    assert ours == theirs
    for mine, wider in zip(found, known, strict=True):  # MindSpore asks for whole groups, also where fewer have all that is needed
        assert set(mine) <= set(wider)
        assert mine == sorted(mine, reverse=True)


@pytest.mark.parametrize("kind", ["ckpt", "json"])
def test_stages_are_merged(record, kind, tmp_path):
    made = tmp_path / f"merged.{kind}"
    parallel.merge_pipeline_strategys(str(FILES / f"stages_{kind}"), str(made))
    if kind == "json":      # the order of files is that of a folder there, of names here
        assert json.loads(made.read_text()) == json.loads((FILES / "merged.json").read_text())
    ours, theirs = (parallel.build_searched_strategy(str(path)) for path in (made, FILES / f"merged.{kind}"))
    assert ours == theirs
    assert sorted(ours) == ["0-fc1.weight", "1-fc2.weight"]
    assert list(ours["1-fc2.weight"].dev_matrix[0].dim) == [2, 2] and ours["1-fc2.weight"].opt_weight_shard_size == -1


@pytest.mark.parametrize("kind", ["ckpt", "safetensors"])
@pytest.mark.parametrize("strategy", ["merged.ckpt", "merged.json"])
def test_stages_become_one(record, strategy, kind, tmp_path):
    file = str(FILES / strategy)
    assert parallel.rank_list_for_transform(0, file, None) == RECORDED["kept"]["rank_lists"]["whole"]
    parallel.transform_checkpoints(str(FILES / f"sliced_{kind}"), str(tmp_path), "one", file, None, process_num=2)
    made = ms.load_checkpoint(str(tmp_path / "rank_0" / "one0.ckpt"))
    assert {name: record.told(p.asnumpy()) for name, p in made.items()} == RECORDED["kept"]["transformed"]


def test_by_rank_with_fewer_files(record, tmp_path):
    """Replicas stand in for each other; a slice that is missing everywhere is named."""
    files = {r: str(FILES / f"sliced_ckpt/rank_{r}/net.ckpt") for r in range(8)}
    strategy = str(FILES / "merged.ckpt")
    parallel.transform_checkpoint_by_rank(0, files, str(tmp_path / "whole.ckpt"), strategy)
    made = ms.load_checkpoint(str(tmp_path / "whole.ckpt"))
    assert np.array_equal(made["fc1.weight"].asnumpy(), record.arrays(0, {"w": (8, 4)})["w"])
    del files[6]
    with pytest.raises(ValueError, match="checkpoint of rank 2 is missing: 'fc2.weight' of rank 0 needs its slice"):
        parallel.transform_checkpoint_by_rank(0, files, str(tmp_path / "other.ckpt"), strategy)
    assert not (tmp_path / "other.ckpt").exists()


def test_unified_safetensors(record, tmp_path):
    parallel.unified_safetensors(str(FILES / "sliced_safetensors"), str(FILES / "merged.ckpt"), str(tmp_path / "all"))
    known = RECORDED["kept"]["unified"]
    assert sorted(os.listdir(tmp_path / "all")) == known["files"]
    assert json.loads((tmp_path / "all" / "param_name_map.json").read_text()) == known["map"]
    for name in ("part0", "hyper_param"):
        ours, theirs = ({k: p.asnumpy().tolist() for k, p in ms.load_checkpoint(str(f / f"{name}.safetensors"), format="safetensors").items()}
                        for f in (tmp_path / "all", FILES / "unified"))
        assert ours == theirs


@pytest.mark.parametrize("folder", ["made", "theirs"])
def test_unified_to_slices(record, folder, tmp_path):
    source = FILES / "unified"
    if folder == "made":
        source = tmp_path / "all"
        parallel.unified_safetensors(str(FILES / "sliced_safetensors"), str(FILES / "merged.json"), str(source))
    parallel.load_distributed_checkpoint(None, format="safetensors", unified_safetensors_dir=str(source), dst_safetensors_dir=str(tmp_path / "out"),
                                         predict_strategy=str(FILES / "merged.ckpt"), max_process_num=2)
    for rank, known in enumerate(RECORDED["kept"]["loaded"]):
        made = ms.load_checkpoint(str(tmp_path / "out" / f"rank_{rank}" / "net.safetensors"), format="safetensors")
        assert {name: record.told(p.asnumpy()) for name, p in made.items()} == known


def test_unified_chooses_and_renames(tmp_path):
    parallel.unified_safetensors(str(FILES / "sliced_safetensors"), str(FILES / "merged.ckpt"), str(tmp_path),
                                 choice_func=lambda name: "other" if name == "fc1.weight" else False)
    assert json.loads((tmp_path / "param_name_map.json").read_text())["weight_map"] == {"other": "part0.safetensors"}
    assert list(ms.load_checkpoint(str(tmp_path / "part0.safetensors"), format="safetensors")) == ["other"]


def test_into_a_network(record, tmp_path):
    """load_distributed_checkpoint with a strategy file: whole Parameters, and a Parameter that is a slice."""
    class Net(ms.nn.Cell):
        def __init__(self, shape):
            super().__init__()
            self.w = ms.Parameter(ms.Tensor(np.zeros(shape, np.float32)), name="w")

    item = {"dev_matrix": [2, 2], "tensor_map": [0, 1], "opt_weight_shard_step": 0, "opt_weight_shard_size": 0}
    record.write(tmp_path / "train", {"w": item})
    wholes = record.arrays(0, {"w": (8, 4)})
    record.slices(tmp_path, wholes, {"w": item}, 4)
    files = [str(tmp_path / f"rank_{r}" / "net.ckpt") for r in range(4)]
    net = Net((8, 4))
    assert parallel.load_distributed_checkpoint(net, files, None, str(tmp_path / "train.ckpt")) is True
    assert np.array_equal(net.w.asnumpy(), wholes["w"])
    part = Net((4, 4))
    parallel.load_distributed_checkpoint(part, files, {"w": [[2], [0, -1], [], 0]}, str(tmp_path / "train.json"))
    assert np.array_equal(part.w.asnumpy(), wholes["w"][:4])
    with pytest.raises(ValueError, match="device count is 4"):
        parallel.load_distributed_checkpoint(net, files[:3], None, str(tmp_path / "train.ckpt"))


@pytest.mark.parametrize("text, error", [("", ValueError), ("{", ValueError), ("[]", ValueError),
                                         ('{"parallel_layout_item": {"w": {"dev_matrix": [2]}}}', ValueError)])
def test_broken_json(tmp_path, text, error):
    path = tmp_path / "broken.json"
    path.write_text(text)
    with pytest.raises(error):
        parallel.build_searched_strategy(str(path))


def test_broken_protobuf(tmp_path):
    path = tmp_path / "broken.ckpt"
    path.write_bytes((FILES / "merged.ckpt").read_bytes()[:-3])
    with pytest.raises(TypeError, match="json or protobuf"):
        parallel.build_searched_strategy(str(path))


@pytest.mark.parametrize("matrix, tensor_map, size", [([2], [1, -1], 0), ([2, 2], [0, 0], 0), ([2, 2], [0, 1], 2), ([0], [-1], 0)])
def test_layouts_that_cannot_be(record, tmp_path, matrix, tensor_map, size):
    record.write(tmp_path / "bad", {"w": {"dev_matrix": matrix, "tensor_map": tensor_map, "opt_weight_shard_step": min(size, 1),
                                          "opt_weight_shard_size": size}})
    with pytest.raises(ValueError, match="layout of 'w'"):
        parallel.rank_list_for_transform(0, str(tmp_path / "bad.ckpt"), None)

# SPDX-License-Identifier: Apache-2.0
"""Strategies that are searched for, the plan of a step on ranks that are not there, figures of the machine."""
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from launch import BUILD, launch, run_python
from test_ranks import good

HERE = Path(__file__).parent
# Figures with which splitting pays: products are slow, exchanges fast. Ranks, operator, element, byte, products, exchanges, link.
SLOW = "costs 1 {} 100 1 1 " + " ".join(str(2000 * 8 ** i) for i in range(7)) + (" 100" * 9) * 4 + " 20000 0.8\n"


@pytest.fixture
def figures(tmp_path):
    path = tmp_path / "costs"
    path.write_text(SLOW.format(2))
    return {"SPORE_COSTS": str(path)}


@pytest.mark.parametrize("ranks", [2, pytest.param(4, marks=pytest.mark.long)])
def test_what_is_found_gives_the_same_losses(ranks, figures):
    alone = json.loads(good(launch("openmpi", 1, [sys.executable, HERE / "searched.py"])))["None, full_batch"]
    found = json.loads(good(launch("openmpi", ranks, [sys.executable, HERE / "searched.py"], **figures)))
    refused = found.pop("sharding_propagation, full_batch")
    assert "sharding propagation starts from strategies" in refused
    for name, made in found.items():
        assert np.allclose(made["losses"], alone["losses"], rtol=1e-5), name
        split = made["shapes"] != alone["shapes"]
        assert split == ("propagation" not in name), (name, made["shapes"])


def plan(script, *words, **env):
    return subprocess.run([BUILD / "spore", "plan", *words, script], capture_output=True, text=True, timeout=120, env={**os.environ, **env})


SCRIPT = """
import numpy as np
import mindspore as ms
from mindspore import nn, Tensor
from mindspore.communication import init, get_rank, get_group_size
init()
assert get_rank() == 0
print("ranks", get_group_size())
ms.set_context(mode=ms.GRAPH_MODE)
ms.set_auto_parallel_context({})
net = nn.SequentialCell(nn.Dense(64, 256), nn.ReLU(), nn.Dense(256, 256), nn.ReLU(), nn.Dense(256, 8))
step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.Adam(net.trainable_params(), 0.001))
step(Tensor(np.ones((64, 64), np.float32)), Tensor(np.ones((64, 8), np.float32)))
print("not reached")
"""
AUTO = "parallel_mode='auto_parallel', search_mode='recursive_programming', dataset_strategy='full_batch'"
DATA = "parallel_mode='data_parallel', gradients_mean=True"


def test_plan(tmp_path, figures):
    script = tmp_path / "train.py"
    script.write_text(SCRIPT.format(AUTO))
    done = plan(script, "--ranks", "64", "--hosts", "8", "--json", f"--svg={tmp_path / 'plan.svg'}", **figures)
    assert done.returncode == 0, done.stderr
    assert "ranks 64" in done.stderr and "not reached" not in done.stderr
    told = json.loads(done.stdout)
    assert (told["ranks"], told["hosts"], told["measured_ranks"]) == (64, 8, 2)
    weights = {row["name"]: row for row in told["parameters"]}
    assert weights["2.weight"]["shape"] == [256, 256] and np.prod(weights["2.weight"]["slices"]) > 1
    assert weights["2.weight"]["bytes"] * np.prod(weights["2.weight"]["slices"]) == 256 * 256 * 4
    # Between hosts exchanges go on behind what is computed; on one they take its time.
    assert max(told["compute_us"], told["exchange_us"]) <= told["step_us"] < told["compute_us"] + told["exchange_us"]
    alone = json.loads(plan(script, "--ranks", "4", "--json", **figures).stdout)
    assert alone["step_us"] == pytest.approx(alone["compute_us"] + alone["exchange_us"], abs=0.01)
    assert told["exchange_us"] == pytest.approx(sum(row["us"] for row in told["exchanges"]), abs=0.05)
    assert 0 < told["efficiency"] <= 1 and told["step_us"] < told["whole_us"]
    assert (tmp_path / "plan.svg").read_text().startswith("<svg")


def test_plan_of_data_parallelism(tmp_path, figures):
    """Every gradient is reduced once over all ranks; more ranks cost more."""
    script = tmp_path / "train.py"
    script.write_text(SCRIPT.format(DATA))
    told = [json.loads(plan(script, f"--ranks={n}", f"--hosts={n // 8}", "--json", **figures).stdout) for n in (8, 512)]
    weights = 4 * (64 * 256 + 256 + 256 * 256 + 256 + 256 * 8 + 8)
    assert [sum(row["bytes"] * row["count"] for row in one["exchanges"]) for one in told] == [weights, weights]
    assert [{row["ranks"] for row in one["exchanges"]} for one in told] == [{8}, {512}]
    assert told[1]["exchange_us"] > told[0]["exchange_us"] and told[0]["compute_us"] == told[1]["compute_us"]
    assert told[1]["efficiency"] < told[0]["efficiency"]


@pytest.mark.parametrize("words, error", [(["--hosts", "2"], "--ranks is missing"), (["--ranks", "6", "--hosts", "4"], "shared out equally"),
                                          (["--ranks", "many"], "must be a number"), (["--rank", "6"], "unknown option --rank")])
def test_wrong_words_of_plan(words, error):
    done = plan("none.py", *words)
    assert done.returncode == 2 and error in done.stderr and len(done.stderr.splitlines()) == 1


def test_a_script_without_a_step(tmp_path):
    script = tmp_path / "train.py"
    script.write_text("import mindspore as ms\nprint(ms.Tensor(1) + 1)\n")
    done = plan(script, "--ranks", "4")
    assert done.returncode == 1 and "compiled no function that changes Parameters" in done.stderr


@pytest.mark.parametrize("text", ["0", "4x3", "many", "4x"])
def test_wrong_numbers_of_a_simulated_job(text):
    done = subprocess.run([sys.executable, "-c", "from spore import communication as c; c.init()"], capture_output=True, text=True,
                          env={**os.environ, "SPORE_SIMULATE": text})
    assert done.returncode != 0 and f"SPORE_SIMULATE is '{text}'" in done.stderr


def test_figures_are_kept(tmp_path):
    """Those of two ranks are measured beside those of one; all ranks then have rank 0's."""
    path = tmp_path / "costs"
    path.write_text(SLOW.format(1) + "costs 0 of another version\n")
    told = good(launch("openmpi", 2, [BUILD / "spore", "bench", "--comm"], SPORE_COSTS=str(path)))
    assert "ranks on this host                   2" in told and "all_reduce" in told
    lines = [line.split() for line in path.read_text().splitlines()]
    assert [line[:3] for line in lines] == [["costs", "1", "1"], ["costs", "1", "2"]]
    assert lines[0] == SLOW.format(1).split() and all(float(v) >= 0 for v in lines[1][2:])


def test_a_search_that_cannot_be(tmp_path):
    done = run_python("openmpi", 1, "import spore as ms\nms.set_auto_parallel_context(search_mode='best')", tmp_path)
    assert done.returncode != 0 and "search_mode must be" in done.stderr

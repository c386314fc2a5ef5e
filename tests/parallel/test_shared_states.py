# SPDX-License-Identifier: Apache-2.0
"""Optimizer states, gradients and Parameters that are shared out over the ranks of a job."""
import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))
from launch import launch


def trained(ranks, folder, *words):
    """What shared_states.py says."""
    job = launch("openmpi", ranks, [sys.executable, Path(__file__).with_name("shared_states.py"), folder, *words], timeout=300)
    assert job.returncode == 0, job.stdout[-3000:] + job.stderr[-3000:]
    return json.loads(next(line for line in job.stdout.splitlines() if line.startswith("{")))


def agree(alone, several):
    assert alone.keys() == several.keys() and len(alone) > 10
    for name, one in alone.items():
        assert max(abs(a - b) for a, b in zip(one["losses"], several[name]["losses"], strict=True)) < 1e-5, name
        assert abs(one["losses"][0] - one["losses"][-1]) > 1e-3, name  # it learned something


def sliced(case, ranks):
    """States have the slices that were asked for, Parameters with level 3 alone; files hold all of them whole."""
    for name, found in case.items():
        parts, level = int(name.split()[-1]), name.split()[-2]
        parts = ranks if parts == -1 else parts
        if name.startswith("lamb") and "data_parallel" in name:
            parts = 1
        for key, shape in found["sizes"].items():
            whole, state = found["whole"][key], "." in key and not key[0].isdigit()
            shared = parts if state or level == "level3" and key[0].isdigit() else 1
            assert shape == ([whole[0] // shared, *whole[1:]] if shared > 1 else whole), (name, key, shape, whole)


def test_shared_states_train_as_whole_ones_do(tmp_path):
    """Five optimizers, clipping, loss scaling, both modes, data and operator parallelism, levels 1 to 3; checkpoints are whole, and go on on one rank."""
    alone = tmp_path / "alone"
    alone.mkdir()
    two = trained(2, tmp_path)
    agree(trained(1, alone), two)
    sliced(two, 2)
    agree(trained(1, alone, "resume"), trained(1, tmp_path, "resume"))


@pytest.mark.long
def test_states_go_on_on_another_number_of_ranks(tmp_path):
    four = trained(4, tmp_path)
    sliced(four, 4)
    one = trained(1, tmp_path, "resume")
    for ranks in (2, 4):
        agree(one, trained(ranks, tmp_path, "resume"))


@pytest.mark.long
def test_a_network_trains_on_two_ranks_that_does_not_fit_one():
    """Its optimizer states are more than half of the memory that a process may have (RLIMIT_DATA)."""
    limit = 590

    def gpt(ranks, mib, level):
        return launch("openmpi", ranks, [sys.executable, Path(__file__).with_name("large_gpt.py"), mib, level, "semi_auto_parallel"], timeout=300)
    alone = gpt(1, limit, "whole")
    assert alone.returncode != 0 and "MemoryError" in alone.stderr, alone.stdout + alone.stderr
    free, shared = gpt(1, 0, "whole"), gpt(2, limit, "level3")
    assert free.returncode == 0 and shared.returncode == 0, free.stderr + shared.stderr
    whole, parts = (json.loads(next(line for line in job.stdout.splitlines() if line.startswith("{"))) for job in (free, shared))
    assert whole["states_mib"] > limit / 2 and parts["states_mib"] < 0.51 * whole["states_mib"]
    assert max(abs(a - b) for a, b in zip(whole["losses"], parts["losses"], strict=True)) < 1e-4 and parts["losses"][-1] < parts["losses"][0] - 2

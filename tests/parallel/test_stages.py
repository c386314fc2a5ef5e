# SPDX-License-Identifier: Apache-2.0
"""Networks divided into the stages of a pipeline."""
import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))
from launch import launch, run_python


def trained(ranks, folder, steps, stages, *names):
    """What stages.py says."""
    job = launch("openmpi", ranks, [sys.executable, Path(__file__).with_name("stages.py"), folder, steps, stages, *names], timeout=900)
    assert job.returncode == 0, job.stdout[-3000:] + job.stderr[-3000:]
    return json.loads(next(line for line in job.stdout.splitlines() if line.startswith("{")))


def agree(alone, several):
    """Losses and weights do not depend on the division, and losses fall."""
    assert alone.keys() == several.keys()
    for name, one in alone.items():
        other = several[name]
        bound = 1e-5 * max(1, max(one["losses"]))
        assert max(abs(a - b) for a, b in zip(one["losses"], other["losses"], strict=True)) < bound, name
        assert one["weights"].keys() == other["weights"].keys(), name
        for key, value in one["weights"].items():
            assert other["weights"][key] == pytest.approx(value, rel=1e-3, abs=1e-3), (name, key)
        assert one["losses"][-1] < one["losses"][0] - 0.1, (name, one["losses"])


def test_two_stages_train_as_one_process_does(tmp_path):
    """A convolutional network, and a GPT whose table two stages share, with clipped gradients and with segments."""
    names = ["lenet", "gpt shared", "gpt interleaved"]
    agree(trained(1, tmp_path, 5, 1, *names), trained(2, tmp_path, 5, 2, *names))


@pytest.mark.long
@pytest.mark.parametrize("ranks, stages", [(2, 2), (4, 2), (4, 4)])
def test_stages_over_fifty_steps(ranks, stages, tmp_path):
    """All networks and schedules; with two ranks a stage also data parallelism and shared optimizer states. Twice the same job: equal bits."""
    several = trained(ranks, tmp_path, 50, stages)
    agree(trained(1, tmp_path, 50, 1), several)
    assert several == trained(ranks, tmp_path, 50, stages)


FAULTS = {
    "backwards": ("a.pipeline_stage, b.pipeline_stage = 1, 0", "2", "data go from one stage to later ones"),
    "no such stage": ("a.pipeline_stage, b.pipeline_stage = 0, 5", "2", "pipeline_stage 5, but there are 2 stages"),
    "ranks": ("a.pipeline_stage, b.pipeline_stage = 0, 1", "3", "3 pipeline stages for 2 ranks"),
    "batch": ("a.pipeline_stage, b.pipeline_stage, rows = 0, 1, 6", "2", "must be a multiple of 4"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_what_cannot_be_divided_is_refused(fault, tmp_path):
    change, stages, words = FAULTS[fault]
    job = run_python("openmpi", 2, f"""
        import numpy as np
        import spore as ms
        from spore import Tensor, communication as comm, nn
        comm.init()
        ms.set_context(mode=ms.GRAPH_MODE)
        ms.set_auto_parallel_context(parallel_mode="semi_auto_parallel", pipeline_stages={stages}, dataset_strategy="full_batch")
        a, b, rows = nn.Dense(4, 4), nn.Dense(4, 4), 8
        {change}
        net = nn.PipelineCell(nn.WithLossCell(nn.SequentialCell(a, b), nn.MSELoss()), 4)
        nn.TrainOneStepCell(net, nn.SGD(net.trainable_params(), 0.1))(Tensor(np.ones((rows, 4), np.float32)), Tensor(np.ones((rows, 4), np.float32)))
    """, tmp_path, timeout=60, SPORE_COMM_TIMEOUT="20")
    assert job.returncode != 0 and words in job.stdout + job.stderr, job.stdout + job.stderr

# SPDX-License-Identifier: Apache-2.0
"""Jobs that are begun again after a failure go on from their last complete checkpoint, as if nothing had happened."""
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))
from launch import BUILD, LAUNCHERS, need

PROGRAM = """
    import os, sys
    import numpy as np
    import mindspore as ms
    from mindspore import nn, Tensor
    from mindspore.communication import init, get_rank, get_group_size
    init()
    what, own = sys.argv[1], sys.argv[2] == "own"
    rank, size, attempt = get_rank(), get_group_size(), int(os.environ.get("SPORE_RESTART", "0"))
    ms.set_seed(5 + rank)
    ms.set_context(mode=ms.GRAPH_MODE)
    ms.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True, enable_parallel_optimizer=True,
                                 parallel_optimizer_config={"parallel_optimizer_threshold": 0})
    net = nn.SequentialCell(nn.Dense(6, 8), nn.Dropout(p=0.3), nn.ReLU(), nn.Dense(8, 4))
    draw = np.random.RandomState(3)
    rows = draw.rand(40, 6).astype(np.float32), draw.randint(0, 4, 40).astype(np.int32)
    data = ms.dataset.NumpySlicesDataset(rows, shuffle=True, num_shards=size, shard_id=rank).batch(4)   # 5 steps an epoch

    def die(when):
        if rank == 1 and (what, attempt) in when:
            os.kill(os.getpid(), 9)

    class Watch(ms.train.Callback):
        def on_train_step_end(self, run_context):
            given = run_context.original_args()
            print(f"step {given.cur_step_num} {float(given.net_outputs.asnumpy()).hex()}", flush=True)
            die({(f"step {given.cur_step_num}", 0), (f"twice {given.cur_step_num}", 0), (f"twice {given.cur_step_num + 3}", 1)})

    write = ms.train.ModelCheckpoint._write
    def slow_write(self, params, *more):   # dies when the other ranks may have written theirs, or are about to
        die({(f"save {params.cur_step_num}", 0)})
        write(self, params, *more)
    ms.train.ModelCheckpoint._write = slow_write
    config = ms.train.CheckpointConfig(save_checkpoint_steps=3, keep_checkpoint_max=1)
    saver = ms.train.ModelCheckpoint("net", f"rank_{rank}" if own else "all", config)
    model = ms.train.Model(net, nn.SoftmaxCrossEntropyWithLogits(True, "mean"), nn.Adam(net.trainable_params(), 0.02))
    model.train(3, data, callbacks=[saver, Watch()], dataset_sink_mode=False)
    print("end", float(sum(np.abs(p.asnumpy()).sum() for p in net.get_parameters())).hex())
"""


def job(folder, restarts, what, own):
    need("openmpi")
    folder.mkdir()
    (folder / "program.py").write_text(textwrap.dedent(PROGRAM))
    env = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "RANK_ID", "RANK_SIZE")}
    env.update(SPORE_MPIRUN=LAUNCHERS["openmpi"][0], SPORE_PYTHON=sys.executable)
    done = subprocess.run([BUILD / "msrun", "--worker_num=2", "--local_worker_num=2", "--log_dir=logs", "--join=True", f"--restarts={restarts}", "program.py", what,
                           "own" if own else "shared"], cwd=folder, capture_output=True, text=True, env=env, timeout=150, check=False)
    return done, done.stdout + done.stderr


def steps(folder, rank):
    """What was computed: {step: loss}, of the last attempt; and of those before."""
    last, before = {}, {}
    for path in sorted(folder.glob(f"logs/worker_{rank}.log*"), key=lambda p: p.suffix != ".log"):
        found = {line.split()[1]: line.split()[2] for line in path.read_text().splitlines() if line.startswith("step ") and len(line.split()) > 2}
        end = [line.split()[1] for line in path.read_text().splitlines() if line.startswith("end ")]
        if path.suffix == ".log":
            last = {**found, **({"end": end[0]} if end else {})}
        before.update(found)
    return last, before


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole") / "job"
    done, text = job(folder, 1, "nothing", False)
    assert done.returncode == 0, text
    found = [steps(folder, rank)[0] for rank in range(2)]
    assert all(len(one) == 16 for one in found), found
    return found


CASES = [("step 8", False, 7), ("save 9", True, 7), pytest.param("step 2", False, 1, marks=pytest.mark.long), pytest.param("twice 11", True, 7, marks=pytest.mark.long)]


@pytest.mark.parametrize("what, own, first", CASES)
def test_losses_are_those_of_an_uninterrupted_run(what, own, first, uninterrupted, tmp_path):
    """A killed rank, also while it saves; into one folder, or one for each rank; before the first checkpoint; twice."""
    done, text = job(tmp_path / "job", 3, what, own)
    assert done.returncode == 0 and ("begins again" in text), text
    for rank, whole in enumerate(uninterrupted):
        last, before = steps(tmp_path / "job", rank)
        assert last["end"] == whole["end"] and ("save" in what or min(map(int, (k for k in last if k != "end"))) == first), (last, text)
        assert {k: v for k, v in before.items() if v != whole[k]} == {}
        assert {k: v for k, v in last.items() if v != whole[k]} == {}


def test_restarts_end(tmp_path):
    done, text = job(tmp_path / "job", 0, "step 8", False)
    assert done.returncode == 1 and "begins again" not in text, text
    need("openmpi")
    refused = subprocess.run([BUILD / "msrun", "--worker_num=2", "--local_worker_num=2", "--restarts=2", "program.py"], cwd=tmp_path,
                             capture_output=True, text=True, check=False, env={**{k: v for k, v in os.environ.items() if k != "PYTHONPATH"}, "SPORE_PYTHON": sys.executable})
    assert refused.returncode == 1 and "--join=True" in refused.stderr, refused.stderr

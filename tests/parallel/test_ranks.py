# SPDX-License-Identifier: Apache-2.0
"""Several ranks on this machine: exchanges, their gradients in both modes, training on shared data, and what is said when something is wrong."""
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))
from launch import BUILD, launch, need, run_python

BOTH = ["openmpi", "mpich"]


def good(job):
    assert job.returncode == 0, job.stdout[-3000:] + job.stderr[-3000:]
    return job.stdout + job.stderr


@pytest.mark.parametrize("family, ranks", [("openmpi", 2), ("openmpi", 3), ("mpich", 2)])
def test_every_exchange(family, ranks):
    assert good(launch(family, ranks, [BUILD / "tests/test_exchange"])).count("PASSED") == ranks


@pytest.mark.long
@pytest.mark.parametrize("family", BOTH)
@pytest.mark.parametrize("ranks", [1, 2, 3, 4, 5])
def test_every_exchange_on_more_ranks(family, ranks):
    assert good(launch(family, ranks, [BUILD / "tests/test_exchange"], timeout=600)).count("PASSED") == ranks


OPERATORS = """
    import numpy as np
    import spore as ms
    from spore import ops, Tensor, communication as comm
    comm.init()
    rank, size = comm.get_rank(), comm.get_group_size()

    def given(r):
        return np.random.RandomState(r).rand(2 * size, 3).astype(np.float32)

    x, all_x = Tensor(given(rank)), np.stack([given(r) for r in range(size)])
    weight = np.random.RandomState(99).rand(size, 2 * size, 3).astype(np.float32)  # what each rank makes of its result
    cases = {
        "all_reduce": (ops.AllReduce(), all_x.sum(0), weight.sum(0)),
        "max": (ops.AllReduce("max"), all_x.max(0), weight.sum(0) * (all_x[rank] == all_x.max(0))),
        "reduce_scatter": (ops.ReduceScatter(), all_x.sum(0)[2 * rank:2 * rank + 2], np.concatenate([weight[r][:2] for r in range(size)])),
        "all_gather": (ops.AllGather(), all_x.reshape(-1, 3), None),
        "all_to_all": (ops.AlltoAll(size, 0, 1), np.concatenate([all_x[r][2 * rank:2 * rank + 2] for r in range(size)], 1), None),
    }
    for name, (operator, value, gradient) in cases.items():
        def loss(t):
            y = operator(t)
            return (y * Tensor(weight[rank][:y.shape[0]])).sum() if gradient is not None else (y * y).sum()
        for how in (lambda f: f, ms.jit):
            y = how(operator)(x).asnumpy()
            assert np.allclose(y, value, rtol=1e-6), (name, how, y, value)
            g = how(ms.grad(loss))(x).asnumpy()
            if gradient is not None:
                assert np.allclose(g, gradient, rtol=1e-5), (name, how, g, gradient)
            else:  # every rank squares what it got: each element counts once for each rank that has it
                times = size if name == "all_gather" else 1
                assert np.allclose(g, 2 * times * all_x[rank], rtol=1e-5), (name, how, g)
    root = comm.comm_func.broadcast(Tensor([float(rank)]), size - 1)
    assert root.asnumpy()[0] == size - 1
    comm.create_group("even", [r for r in range(size) if r % 2 == 0])
    if rank % 2 == 0:
        assert ops.AllReduce("sum", "even")(Tensor([1.0])).asnumpy()[0] == (size + 1) // 2
    from spore.mint import distributed as dist
    dist.init_process_group()
    found = [None] * size
    dist.all_gather_object(found, {"rank": rank, "text": "x" * (100 * rank)})
    assert [f["rank"] for f in found] == list(range(size)) and len(found[-1]["text"]) == 100 * (size - 1)
    outputs = [Tensor(np.zeros(r + 1, np.float32)) for _ in range(size) for r in [rank]]
    dist.all_to_all(outputs, [Tensor(np.full(r + 1, rank, np.float32)) for r in range(size)])
    assert [o.asnumpy().tolist() for o in outputs] == [[float(r)] * (rank + 1) for r in range(size)]
    t = Tensor(np.full(3, rank, np.int32))
    if rank == 0:
        dist.send(t + 7, 1)
    elif rank == 1:
        dist.recv(t, 0)
        assert t.asnumpy().tolist() == [7, 7, 7]
    dist.barrier()
    print("good")
"""


@pytest.mark.parametrize("family, ranks", [("openmpi", 2), ("mpich", 3)])
def test_operators_and_their_gradients_in_both_modes(family, ranks, tmp_path):
    assert good(run_python(family, ranks, OPERATORS, tmp_path)).count("good") == ranks


def trained(ranks, steps=50, script="train_on_ranks.py", names=()):
    """What the script says."""
    job = launch("openmpi", ranks, [sys.executable, Path(__file__).with_name(script), steps, *names], timeout=900)
    return json.loads(good(job).splitlines()[0])


def agree(one, several, cases=6):
    """Losses do not depend on the number of ranks, and fall."""
    assert len(one) == cases and one.keys() == several.keys()
    for name, alone in one.items():
        difference = max(abs(a - b) for a, b in zip(alone["losses"], several[name]["losses"], strict=True))
        assert difference < 1e-5 and np.mean(several[name]["losses"][-5:]) < np.mean(several[name]["losses"][:5]) - 0.1, (name, difference, alone)


def test_losses_do_not_depend_on_the_number_of_ranks():
    """LeNet, an MLP with clipped gradients, and SyncBatchNorm; Model.train and own loops; both modes. Twice the same job: equal bits."""
    two = trained(2)
    agree(trained(1), two)
    assert two == trained(2)


def test_losses_of_larger_networks():
    """LSTM and GPT; dropout draws other numbers on every rank, the same ones in every job."""
    one, two = (trained(ranks, 40, "larger_on_ranks.py", ["lstm", "gpt"]) for ranks in (1, 2))
    agree(one, two, 4)
    dropped = trained(2, 10, "larger_on_ranks.py", ["dropout"])
    assert dropped == trained(2, 10, "larger_on_ranks.py", ["dropout"]) and dropped["dropout eager"] == dropped["dropout graph"]


@pytest.mark.long
@pytest.mark.parametrize("ranks", [2, 4])
def test_losses_of_larger_networks_over_fifty_steps(ranks):
    names = ["lstm", "gpt"]
    one, several = (trained(n, 50, "larger_on_ranks.py", names) for n in (1, ranks))
    agree(one, several, 4)
    assert several == trained(ranks, 50, "larger_on_ranks.py", names)


@pytest.mark.long
@pytest.mark.parametrize("ranks", [2, 4])
def test_losses_of_resnet18(ranks):
    """They drift apart by rounding, since ReLUs switch: less than those of one process whose batches have their rows in another order do."""
    one, several = (trained(n, 50, "larger_on_ranks.py", ["resnet18"]) for n in (1, ranks))
    turned = trained(1, 50, "larger_on_ranks.py", ["resnet18 other order"])

    def apart(losses):
        return [abs(a - b) for a, b in zip(one["resnet18 eager"]["losses"], losses, strict=True)]
    drift, rounding = apart(several["resnet18 eager"]["losses"]), apart(turned["resnet18 other order eager"]["losses"])
    assert several["resnet18 eager"] == several["resnet18 graph"] and max(drift[:5]) < 1e-5 and max(drift) < max(rounding), (drift, rounding)
    assert several == trained(ranks, 50, "larger_on_ranks.py", ["resnet18"])


@pytest.mark.long
def test_losses_on_more_ranks():
    one = trained(1)
    for ranks in (3, 4):
        agree(one, trained(ranks))


def ended(job, *words, within):
    """The job failed in time, and said so."""
    text = job.stdout + job.stderr
    assert job.returncode != 0 and within > 0, text
    for word in words:
        assert word in text, text


CHECKPOINTS = """
    import numpy as np
    import spore as ms
    from spore import nn, ops, Tensor, communication as comm
    comm.init()
    rank, size = comm.get_rank(), comm.get_group_size()
    ms.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True)
    net = nn.Dense(400, 10)
    rows = (np.random.RandomState(rank).rand(40, 400).astype(np.float32), np.arange(40, dtype=np.int32) % 10)
    data = ms.dataset.NumpySlicesDataset(rows, shuffle=False, num_shards=size, shard_id=rank).batch(2)
    config = ms.train.CheckpointConfig(save_checkpoint_steps=3, keep_checkpoint_max=3)
    model = ms.train.Model(net, nn.SoftmaxCrossEntropyWithLogits(True, "mean"), nn.Momentum(net.trainable_params(), 0.01, 0.9))
    own = ms.train.CheckpointConfig(save_checkpoint_steps=10)
    model.train(1, data, callbacks=[ms.train.ModelCheckpoint("net", "all", config), ms.train.ModelCheckpoint("net", f"rank_{rank}", own)],
                dataset_sink_mode=False)
    for i in range(10):
        ms.save_checkpoint(net, "same.ckpt")  # by all at once: each time a whole file
        assert ms.load_checkpoint("same.ckpt")["weight"].shape == (10, 400)
    comm.comm_func.barrier()
    if rank == 0:
        kept = ms.load_checkpoint("all/net-1_10.ckpt")
        assert np.array_equal(kept["weight"].asnumpy(), net.weight.asnumpy())
    print("good")
"""


def test_ranks_that_save_to_one_folder_save_once(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert good(run_python("openmpi", 2, CHECKPOINTS, tmp_path)).count("good") == 2
    assert sorted(f.name for f in (tmp_path / "all").iterdir()) == ["net-1_10.ckpt", "net-1_6.ckpt", "net-1_9.ckpt"]
    assert all([f.name for f in (tmp_path / f"rank_{r}").iterdir()] == ["net-1_10.ckpt"] for r in range(2))
    assert not list(tmp_path.glob("**/.spore*"))  # nothing half written is left


FAULTS = {
    "shapes": ("ops.AllReduce()(Tensor(np.ones(100 + rank, np.float32)))", ["do not make the same exchange", "all_reduce of 100 float32 (sum)", "of 101"]),
    "order": ("ops.AllReduce()(Tensor([1.0])) if rank else ops.AllGather()(Tensor([1.0]))", ["do not make the same exchange", "all_gather", "all_reduce"]),
    "exception": ("1 / 0 if rank == 1 else ops.AllReduce()(Tensor([1.0]))", ["rank 1 of 2 ends the job: ZeroDivisionError"]),
    "early exit": ("raise SystemExit(0) if rank == 1 else ops.AllReduce()(Tensor([1.0]))", ["rank 1 has left the job"]),
    "does not come": ("time.sleep(60) if rank == 1 else ops.AllReduce()(Tensor([1.0]))", ["rank 0 has waited", "Not come: rank 1", "SPORE_COMM_TIMEOUT"]),
    "stopped": ("os.kill(os.getpid(), signal.SIGSTOP) if rank == 1 else ops.AllReduce()(Tensor(np.ones(9000, np.float32)))",
                ["rank 0 has waited", "Not come: rank 1"]),
    "group": ("comm.create_group('g', [0, 5])", ["from 0 to 1", "[0, 5]"]),
}


@pytest.mark.parametrize("family, fault", [("openmpi", fault) for fault in FAULTS] + [
    pytest.param("mpich", fault, marks=() if fault in ("shapes", "early exit") else pytest.mark.long) for fault in FAULTS])
def test_faults_end_the_job_with_the_cause(family, fault, tmp_path):
    action, words = FAULTS[fault]
    source = f"""
        import os
        import signal
        import time
        import numpy as np
        from spore import ops, Tensor, communication as comm
        comm.init()
        rank = comm.get_rank()
        ops.AllReduce()(Tensor([1.0]))
        {action}
    """
    begun = time.monotonic()
    job = run_python(family, 2, source, tmp_path, timeout=60, SPORE_COMM_TIMEOUT="2")
    ended(job, *words, within=60 - (time.monotonic() - begun))


def test_the_mpi_that_is_named_must_be_the_launchers(tmp_path):
    """SPORE_MPI: of another family, no library, and right."""
    source = "from spore import communication as comm\ncomm.init()\nprint('size', comm.get_group_size())"
    other = run_python("openmpi", 2, source, tmp_path, SPORE_MPI="libmpich.so.12")
    assert other.returncode != 0 and "a library of the family mpich, but the launcher is of openmpi" in other.stderr
    none = run_python("openmpi", 2, source, tmp_path, SPORE_MPI=tmp_path / "libmpi.so.40")
    assert none.returncode != 0 and "libmpi.so.40, which cannot be opened as a library" in none.stderr
    assert good(run_python("openmpi", 2, source, tmp_path, SPORE_MPI="libmpi.so.40")).count("size 2") == 2


def test_a_transport_needs_no_mpi_to_be_linked_with():
    """So it serves the MPI that pip installs as well as the system's."""
    for file in (BUILD / "transports").glob("*.so"):
        needed = subprocess.run(["readelf", "-d", file], capture_output=True, text=True, check=True).stdout
        assert "libmpi" not in needed, file


def test_doctor_shows_every_mpi():
    told = json.loads(subprocess.run([BUILD / "spore", "doctor", "--json"], capture_output=True, text=True, check=True).stdout)["mpi"]
    rows = {row["family"]: row for row in told}
    assert set(rows) == {"openmpi", "mpich", "standard"} and rows["standard"]["transport"].endswith("mpi_standard.so")
    for family, title in (("openmpi", "Open MPI"), ("mpich", "MPICH")):
        need(family)
        assert rows[family]["version"].startswith(title) and Path(rows[family]["library"]).exists() and rows[family]["chosen"] is False
    rank = subprocess.run([BUILD / "spore", "doctor"], capture_output=True, text=True, check=True, env={**os.environ, "OMPI_COMM_WORLD_SIZE": "2"})
    assert "the launcher's" in rank.stdout.partition("mpi        openmpi")[2].partition("\n")[0]


def test_ranks_without_mpi_are_refused(tmp_path, monkeypatch):
    """Variables of other launchers alone: every process would take itself for the only one."""
    job = subprocess.run([sys.executable, "-c", "from spore import communication as c; c.init()"], capture_output=True, text=True,
                         env={**os.environ, "RANK_SIZE": "4", "RANK_ID": "1"})
    assert job.returncode == 1 and "mpirun -n" in job.stderr


SETTINGS = """
    import numpy as np
    import spore as ms
    from spore import log, nn, ops, Tensor, communication as comm
    said = []
    log.warning = lambda text, *args, **kw: said.append(text % args if args else text)
    comm.init()
    rank = comm.get_rank()

    def told(**settings):
        said.clear()
        ms.set_auto_parallel_context(**settings)
        return [line.partition(" is not done: ")[0].rpartition(": ")[2] for line in said]

    for option, value in dict(loss_repeated_mean=False, gradient_fp32_sync=False, mirror_mean=True, parameter_broadcast=False, device_num=4,
                              fully_use_devices=False, communi_parallel_mode="same_server_group_parallel", group_ckpt_save_file="g.pb",
                              cast_before_mirror=False, dump_local_norm=True, pipeline_segments=2, recompute=True).items():
        assert told(**{option: value}) == [f"{option}={value!r}"], (option, said)
    for option, value in dict(loss_repeated_mean=True, gradients_mean=True, parameter_broadcast=True, device_num=2, global_rank=rank, enable_alltoall=True,
                              parallel_mode="data_parallel", force_fp32_communication=True).items():
        assert told(**{option: value}) == [], said

    def trained(**settings):
        ms.reset_auto_parallel_context()
        ms.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True, **settings)
        ms.set_seed(5)
        net = nn.SequentialCell(nn.Dense(64, 300), nn.ReLU(), nn.Dense(300, 40), nn.ReLU(), nn.Dense(40, 4))
        step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.Adam(net.trainable_params()))
        x = np.random.RandomState(rank).rand(8, 64).astype(np.float32)
        losses = [float(step(Tensor(x), Tensor(x[:, :4]))) for _ in range(3)]
        return losses, [p.asnumpy().tobytes() for p in net.get_parameters()], step

    first = trained()[:2]
    for fusion in ({"openstate": False}, {"allreduce": {"mode": "index", "config": [0, 2]}}, {"allreduce": {"mode": "size", "config": 1}}):
        assert trained(comm_fusion=fusion)[:2] == first, fusion      # bits do not depend on what travels together
    shared = dict(enable_parallel_optimizer=True, parallel_optimizer_config={"parallel_optimizer_threshold": 1, "gradient_accumulation_shard": True})
    losses, values, step = trained(**shared)
    assert step._shards is not None and step._shards.level == 2 and np.allclose(losses, first[0], atol=1e-6)
    net = nn.Dense(2, 2)
    net.weight.set_data(Tensor(np.full((2, 2), rank, np.float32)))
    ms.parallel.parameter_broadcast(net, {}, rank, 1)
    assert net.weight.asnumpy().tolist() == [[1, 1], [1, 1]]
    print("good")
"""


BEFORE = """
    import os
    import spore as ms
    from spore import log, communication as comm
    said = []
    log.warning = lambda text, *args, **kw: said.append(text % args if args else text)
    ms.set_auto_parallel_context(parallel_mode="semi_auto_parallel", pipeline_stages=2, enable_parallel_optimizer=True, device_num=2,
                                 strategy_ckpt_config={"save_file": "s.json"}, dataset_strategy=((2, 1),), global_rank=1)
    assert said == [], said
    ms.set_auto_parallel_context(auto_pipeline=True)
    assert len(said) == 1 and "auto_pipeline" in said[0]
    comm.init()
    print("good")
"""


def test_settings_before_the_job_is_joined_are_those_of_several_processes(tmp_path):
    assert good(run_python("openmpi", 2, BEFORE, tmp_path)).count("good") == 2


LAYOUT = """
    import numpy as np
    import spore as ms
    from spore import Layout, Parameter, Tensor, nn, ops, communication as comm
    comm.init()
    ms.set_context(mode=ms.GRAPH_MODE)
    ms.set_auto_parallel_context(parallel_mode="semi_auto_parallel", dataset_strategy="full_batch")
    x = np.random.RandomState(0).rand(8, 16).astype(np.float32)
    w = np.random.RandomState(1).rand(16, 4).astype(np.float32)

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            layout = Layout((2, 2), ("dp", "sp"))
            self.w, self.matmul = Parameter(Tensor(w), name="w"), ops.MatMul()
            self.matmul.shard((layout("None", ("sp", "dp")), layout(("sp", "dp"), "None")))

        def construct(self, x):
            return self.matmul(x, self.w)
    assert np.allclose(Net()(Tensor(x)).asnumpy(), x @ w, atol=1e-5)
    print("good")
"""


def test_a_layout_with_dimensions_of_the_grid_in_another_order(tmp_path):
    assert good(run_python("openmpi", 4, LAYOUT, tmp_path)).count("good") == 4


def test_settings_are_carried_out_or_told(tmp_path):
    assert good(run_python("openmpi", 2, SETTINGS, tmp_path)).count("good") == 2

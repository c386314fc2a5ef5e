# SPDX-License-Identifier: Apache-2.0
"""Several processes: exchanges by size beside MPI's own calls and torch's gloo, training steps of one and two ranks beside torch's DDP, and steps over a
network that is simulated, with exchanges behind what is computed and without.

    make bench BENCH=parallel
    python bench/parallel.py exchanges gloo steps overlap [--csv FILE] [--seconds 0.3]      some of it

SPORE_BENCH_PEER names a Python that has torch; without one its sides are left out. Ranks have one thread each; what is compared in one job runs in turn; the
least time of each counts."""
import argparse
import csv
import datetime
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
BUILD = Path(os.environ.get("SPORE_BUILD", HERE.parent / "build"))
MPIRUN = ["mpirun.openmpi", "--oversubscribe", "--allow-run-as-root"]
NETWORKS = {"MLP, batch 64": 64, "MLP of 512, batch 256": 256}

GLOO = """
import os, sys, time, torch, torch.distributed as dist
torch.set_num_threads(1)
rank, size, seconds, most = int(sys.argv[1]), 2, float(sys.argv[2]), int(sys.argv[3])
dist.init_process_group("gloo", init_method="tcp://127.0.0.1:" + sys.argv[4], rank=rank, world_size=size)
n = 4
while n <= most:
    x, least, spent, repeat = torch.zeros(n // 4), 1e9, 0.0, 1
    go = torch.ones(1)
    while go.item():
        dist.barrier()
        begun = time.perf_counter()
        for _ in range(repeat):
            dist.all_reduce(x)
        took = time.perf_counter() - begun
        spent += took
        least = min(least, took / repeat)
        go[0] = spent < seconds
        dist.broadcast(go, 0)
    if rank == 0:
        print(n, least * 1e6, flush=True)
    n *= 4
"""

STEPS = """
import json, os, sys, time
import numpy as np
name, seconds = sys.argv[1], float(sys.argv[2])
shapes, batch = ([784, 256, 128, 10], 64) if name == "MLP, batch 64" else ([512] * 9, 256)
torch_side = len(sys.argv) > 3
if torch_side:
    import torch, torch.distributed as dist
    torch.set_num_threads(1)
    rank, size = int(sys.argv[3]), int(sys.argv[4])
    layers = []
    for a, b in zip(shapes, shapes[1:]):
        layers += [torch.nn.Linear(a, b), torch.nn.Tanh()]
    net = torch.nn.Sequential(*layers)
    if size > 1:
        dist.init_process_group("gloo", init_method="tcp://127.0.0.1:" + sys.argv[5], rank=rank, world_size=size)
        net = torch.nn.parallel.DistributedDataParallel(net)
    optimizer = torch.optim.SGD(net.parameters(), 0.01, momentum=0.9)
    x, y = torch.rand(batch, shapes[0]), torch.rand(batch, shapes[-1])
    def step():
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(net(x), y)
        loss.backward()
        optimizer.step()
        return loss.item()
else:
    import spore as ms
    from spore import Tensor, communication, nn
    communication.init()
    rank, size = communication.get_rank(), communication.get_group_size()
    ms.set_context(mode=ms.GRAPH_MODE)
    ms.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True)
    layers = [layer for a, b in zip(shapes, shapes[1:]) for layer in (nn.Dense(a, b), nn.Tanh())]
    net = nn.SequentialCell(*layers)
    one = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.Momentum(net.trainable_params(), 0.01, 0.9)).set_train()
    x, y = Tensor(np.random.rand(batch, shapes[0]).astype(np.float32)), Tensor(np.random.rand(batch, shapes[-1]).astype(np.float32))
    def step():
        return float(one(x, y))
for _ in range(3):
    step()
begun, times = time.perf_counter(), []
count = 30 if name == "MLP, batch 64" else 10
while len(times) < 3 * count:      # as many on all ranks
    from_ = time.perf_counter()
    step()
    times.append(time.perf_counter() - from_)
if rank == 0:
    times.sort()
    print(json.dumps({"least": 1e3 * times[0], "median": 1e3 * times[len(times) // 2]}))
"""


def environment(**more):
    return {**os.environ, "OMP_NUM_THREADS": "1", "SPORE_NUM_THREADS": "1", **more}


def run(words, **more):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, env=environment(**more), check=False)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, words[:6]))}...: {done.stderr[-2000:]}")
    return done.stdout


def free_port():
    import socket
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def beside(words, n):
    """n processes of torch; what the first one prints."""
    sides = [subprocess.Popen([str(word) for word in words(rank)], stdout=subprocess.PIPE, text=True, env=environment()) for rank in range(n)]
    texts = [side.communicate()[0] for side in sides]
    if any(side.returncode for side in sides):
        sys.exit("torch has failed")
    return texts[0]


def exchanges(folder, options):
    """all_reduce on two ranks: the engine and MPI."""
    program = folder / "exchange"
    run(["mpicc.openmpi", "-O2", f"-I{HERE.parent / 'include'}", f"-I{BUILD / 'include'}", HERE / "exchange_beside_mpi.c", "-o", program, f"-L{BUILD}", "-lspore",
         f"-Wl,-rpath,{BUILD}"])
    for line in run([*MPIRUN, "-n", 2, program, options.seconds, options.most]).splitlines():
        n, ours, theirs = (float(word) for word in line.split())
        yield f"all_reduce, {int(n)} bytes, 2 ranks", "spore", "us", ours
        yield f"all_reduce, {int(n)} bytes, 2 ranks", "Open MPI", "us", theirs


def gloo(folder, options):
    """The same with torch's gloo, processes of their own."""
    script = folder / "gloo.py"
    script.write_text(GLOO)
    port = free_port()
    for line in beside(lambda rank: [options.torch, script, rank, options.seconds / 2, options.most, port], 2).splitlines():
        n, took = line.split()
        yield f"all_reduce, {n} bytes, 2 ranks", "torch gloo", "us", float(took)


def steps(folder, options):
    """Training steps: the same batch a rank, so that two ranks do twice the work."""
    script = folder / "steps.py"
    script.write_text(STEPS)
    for name in NETWORKS:
        for ranks in (1, 2):
            told = json.loads(run([*MPIRUN, "-n", ranks, sys.executable, script, name, options.seconds]).splitlines()[-1])
            yield f"step of {name} a rank, {ranks} ranks", "spore graph", "ms", told["least"]
            if options.torch:
                port = free_port()
                told = json.loads(beside(lambda rank: [options.torch, script, name, options.seconds, rank, ranks, port], ranks).splitlines()[-1])
                yield f"step of {name} a rank, {ranks} ranks", "torch DDP (gloo)", "ms", told["least"]


def overlap(folder, options):
    """A network of 1 ms and 4 Gbit/s, simulated."""
    script = HERE.parent / "tests/parallel/overlapped.py"
    slow = {"SPORE_SLOW": "1000,4", "SPORE_SLOW_OVER": str(BUILD / "transports/mpi_openmpi.so"), "SPORE_TRANSPORT": str(BUILD / "tests/mpi_openmpi.slow.so")}
    for side, more in (("exchanges behind computing", {}), ("one after the other", {"SPORE_PASSES": "-overlap"})):
        told = json.loads(run([*MPIRUN, "-n", 2, sys.executable, script, 5], **slow, **more).splitlines()[-1])["graph"]
        yield "step of an MLP of 8 x 512, batch 1024 a rank, 2 ranks, 1 ms and 4 Gbit/s", f"spore graph, {side}", "ms", told["ms"]
        if not more:
            yield "the same, share of exchanges that is hidden", "spore graph", "1", 1 - told["waited"] / told["moved"]


PARTS = {"exchanges": exchanges, "gloo": gloo, "steps": steps, "overlap": overlap}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("parts", nargs="*", choices=[[], *PARTS], help="what to measure (all)")
    parser.add_argument("--csv", help="rows are added to this file")
    parser.add_argument("--seconds", type=float, default=0.4, help="for a row")
    parser.add_argument("--most", type=int, default=64 << 20, help="bytes of the largest exchange")
    parser.add_argument("--machine", default="", help="its name, for the file")
    parser.add_argument("--conditions", default="busy machine", help="for the file")
    options = parser.parse_args()
    options.torch = os.environ.get("SPORE_BENCH_PEER", "")
    if not shutil.which(MPIRUN[0]):
        sys.exit("bench/parallel.py: mpirun.openmpi is not installed; scripts/deps installs it")
    rows = []
    with tempfile.TemporaryDirectory() as name:
        for part in options.parts or [part for part in PARTS if part != "gloo" or options.torch]:
            for row in PARTS[part](Path(name), options):
                rows.append(row)
                print(f"{row[0]:<60} {row[1]:<40} {row[3]:>12.3f} {row[2]}", flush=True)
    if options.csv:
        new = not os.path.exists(options.csv)
        with open(options.csv, "a", encoding="utf-8", newline="") as file:
            out = csv.writer(file, lineterminator="\n")
            if new:
                out.writerow(["date", "machine", "threads", "row", "side", "unit", "value", "conditions"])
            for row, side, unit, value in rows:
                out.writerow([datetime.date.today(), options.machine, 1, row, side, unit, f"{value:.4g}", options.conditions])


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""Exchanges that go on while the ranks compute, over a transport as slow as a network: what runs meanwhile, that bits do not change, and that a
failure in between ends the job with its cause."""
import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))
from launch import BUILD, launch, run_python

SLOW = {"SPORE_TRANSPORT": str(BUILD / "tests/mpi_openmpi.slow.so"), "SPORE_SLOW_OVER": str(BUILD / "transports/mpi_openmpi.so")}


def trained(ranks=2, slow="1000,4", **env):
    job = launch("openmpi", ranks, [sys.executable, Path(__file__).with_name("overlapped.py"), 2], timeout=300, SPORE_SLOW=slow, **SLOW, **env)
    assert job.returncode == 0, job.stdout[-3000:] + job.stderr[-3000:]
    return json.loads(job.stdout.splitlines()[-1])


def test_the_backward_pass_goes_on_meanwhile_with_the_same_bits():
    behind, at_once = trained(), trained(SPORE_PASSES="-overlap")
    assert len({run["digest"] for run in (*behind.values(), *at_once.values())}) == 1
    for mode in ("eager", "graph"):     # three steps of eight or nine buckets, the last of which has nothing left to hide behind
        assert behind[mode]["awaited"] >= 12 and behind[mode]["between"] > 20, behind
    assert at_once["graph"]["awaited"] == 0


@pytest.mark.long
def test_bits_on_more_ranks_and_slower_networks():
    assert len({run["digest"] for slow in ("0,100", "20000,1", "10,0.2") for run in trained(3, slow).values()}) == 1


FAILS = """
    import numpy as np
    import spore as ms
    from spore import ops, Tensor, communication as comm
    comm.init()
    rank = comm.get_rank()
    x, at = Tensor(np.ones(500000, np.float32)), Tensor(np.array([3, 99 if rank == 1 else 4], np.int32))

    @ms.jit
    def step(x, at):
        total = ops.AllReduce()(x)
        part = ops.tensor_scatter_add(ops.zeros((8, 4), ms.float32), at.reshape((2, 1)), ops.ones((2, 4), ms.float32))
        return total.sum() + part.sum()
    print(step(x, at))
"""


def test_a_failure_in_between_ends_the_job_with_its_cause(tmp_path):
    job = run_python("openmpi", 2, FAILS, tmp_path, timeout=60, SPORE_SLOW="5000,10", **SLOW)
    assert job.returncode != 0 and "rank 1 of 2 ends the job" in job.stderr and "99" in job.stderr, job.stdout + job.stderr

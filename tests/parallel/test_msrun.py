# SPDX-License-Identifier: Apache-2.0
"""msrun: MindSpore's launcher, as a front of mpirun. Options, logs, exit codes, and how jobs end."""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))
from launch import BUILD, LAUNCHERS, need

PROGRAM = """
    import os, sys, time
    import mindspore as ms
    from mindspore.communication import init, get_rank, get_group_size
    init()
    what, rank = sys.argv[1], get_rank()
    print(f"rank {rank} of {get_group_size()} is process {os.getpid()}, {os.environ['RANK_ID']} of {os.environ['RANK_SIZE']}", flush=True)
    ms.ops.AllReduce()(ms.Tensor([1.0]))
    if rank == 1 and what == "error":
        raise ValueError("bad luck")
    if rank == 1 and what == "kill":
        os.kill(os.getpid(), 9)
    if rank == 1 and what == "leave":
        os._exit(0)
    if what != "good":
        ms.ops.AllReduce()(ms.Tensor([1.0])) if rank != 1 or what != "wait" else time.sleep(600)
    print("done")
"""


@pytest.fixture
def msrun(tmp_path):
    """Starts it; what is not over at the end of the test is killed."""
    (tmp_path / "program.py").write_text(textwrap.dedent(PROGRAM))
    begun = []

    def start(*options, family="openmpi"):
        need(family)
        env = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "RANK_ID", "RANK_SIZE")}
        env.update(SPORE_MPIRUN=LAUNCHERS[family][0], SPORE_PYTHON=sys.executable)
        begun.append(subprocess.Popen([BUILD / "msrun", *options], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=env))
        return begun[-1]
    yield start
    for job in begun:
        job.kill()
        job.wait()


TWO = ("--worker_num=2", "--local_worker_num=2", "--log_dir=logs")


def processes(folder, limit=120):
    """Numbers of the two processes, once both say them."""
    end = time.monotonic() + limit
    while time.monotonic() < end:
        found = [int(line.split("process ")[1].split(",")[0]) for path in folder.glob("logs/worker_*.log") for line in path.read_text().splitlines()
                 if "is process" in line]
        if len(found) == 2:
            return found
        time.sleep(0.05)
    raise AssertionError([path.read_text() for path in folder.glob("logs/*")])


def gone(pids, limit=60):
    """All have ended; ten times the time that they should need."""
    end = time.monotonic() + limit
    while time.monotonic() < end:
        if not any(os.path.exists(f"/proc/{pid}") for pid in pids):
            return True
        time.sleep(0.05)
    return False


def test_a_good_job(msrun, tmp_path):
    job = msrun(*TWO, "--join=True", "--master_addr=127.0.0.1", "--master_port=8118", "--node_rank=0", "program.py", "good")
    text = job.communicate(timeout=120)[0]
    assert job.returncode == 0, text
    for rank in range(2):
        assert f"Start worker process with rank id:{rank}, log file:logs/worker_{rank}.log." in text
        assert f"[{rank}] done" in text and f"rank {rank} of 2 is process" in (tmp_path / f"logs/worker_{rank}.log").read_text()
        assert f"{rank} of 2\n" in (tmp_path / f"logs/worker_{rank}.log").read_text()
    assert (tmp_path / "logs/scheduler.log").exists()


def test_without_join_it_returns_while_the_job_runs(msrun, tmp_path):
    job = msrun(*TWO, "program.py", "good")
    assert job.wait(120) == 0
    pids = processes(tmp_path)
    assert gone(pids, 120) and "done" in (tmp_path / "logs/worker_1.log").read_text()


@pytest.mark.parametrize("family, what, words", [
    ("openmpi", "error", ["[1] ValueError: bad luck", "msrun: process 1 failed first; its log: logs/worker_1.log"]),
    pytest.param("mpich", "error", ["[1] ValueError: bad luck", "msrun: process 1 failed first"], marks=pytest.mark.long),
    ("openmpi", "kill", ["rank 1", "signal 9"]), pytest.param("mpich", "kill", ["EXIT CODE: 9"], marks=pytest.mark.long),
    pytest.param("openmpi", "leave", ["rank 1"], marks=pytest.mark.long)])
def test_a_job_that_fails(msrun, tmp_path, family, what, words):
    job = msrun(*TWO, "--join=True", "program.py", what, family=family)
    text = job.communicate(timeout=120)[0]
    assert job.returncode == 1, text
    for word in words:
        assert word in text, text
    assert text.splitlines()[-1] == "RuntimeError: Distributed job exited with exception. Please check logs in directory: logs."
    assert text.count("ValueError: bad luck") == (what == "error")
    assert gone(processes(tmp_path))


@pytest.mark.parametrize("sign, code", [(signal.SIGINT, 0), pytest.param(signal.SIGTERM, 143, marks=pytest.mark.long)])
def test_signals_end_everything(msrun, tmp_path, sign, code):
    job = msrun(*TWO, "--join=True", "program.py", "wait")
    pids = processes(tmp_path)
    job.send_signal(sign)
    text = job.communicate(timeout=120)[0]
    assert job.returncode == code and f"msrun: {sign.name}" in text, text
    assert gone(pids)


def test_logs_that_are_shown(msrun, tmp_path):
    job = msrun("--worker_num=2", "--local_worker_num=2", "--log_dir=a/b", "--worker_log_name=job_{hostname}", "--tail_worker_log=0", "--join=True",
                "python", "program.py", "error")
    text = job.communicate(timeout=120)[0]
    name = f"job_{os.uname().nodename}_1.log"
    assert job.returncode == 1 and (tmp_path / "a/b" / name).exists(), text
    assert text.count("[1] ValueError: bad luck") == 1 and f"process 1 failed first; its log: a/b/{name}" in text  # not shown while it ran


@pytest.mark.parametrize("options, code, words", [
    (["--worker_num=4", "x.py"], 1, "ValueError: Total worker number is 4, but got exceeded local worker number: 8."),
    (["--worker_num=4", "--local_worker_num=2", "x.py"], 1, "mpirun --host A:2,B:2 -n 4"),
    (["--sim_level=1", "x.py"], 1, "dry run, which is not done"), (["--join=Perhaps", "x.py"], 2, "--join"), ([], 2, "task_script")])
def test_options_that_cannot_be_met(msrun, options, code, words):
    job = msrun(*options)
    text = job.communicate(timeout=120)[0]
    assert job.returncode == code and words in text and "Traceback" not in text.replace("Perhaps", ""), text


def test_losses_are_those_of_mindspores_own_job(msrun, tmp_path):
    """MindSpore 2.10 on two CPU processes, its own msrun, the same script and the same line; recorded once."""
    here = Path(__file__).resolve().parent
    shutil.copy(here / "beside_mindspore.py", tmp_path)
    job = msrun(*TWO, "--join=True", "--master_addr=127.0.0.1", "--master_port=8118", "--cluster_time_out=200", "beside_mindspore.py")
    out, _ = job.communicate(timeout=200)
    assert job.returncode == 0, out
    recorded = json.loads((here / "beside_mindspore_2.10.json").read_text())
    for rank, losses in recorded.items():
        text = (tmp_path / "logs" / f"worker_{rank}.log").read_text()
        found = [float(value) for value in re.findall(rf"rank {rank} step \d+ loss ([0-9.]+)", text)]
        assert len(found) == 10 and max(abs(a - b) for a, b in zip(found, losses, strict=True)) < 1e-5, (rank, found, losses)

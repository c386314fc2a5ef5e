# SPDX-License-Identifier: Apache-2.0
"""The compile cache by MindSpore's names: from process to process, with sources and settings that change."""
import os
import subprocess
import sys

SCRIPT = '''
import numpy as np
import spore as ms
from spore import nn, ops
from spore.graph import explain

class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.layers = nn.CellList([nn.Dense(8, 8, weight_init="ones") for _ in range(6)])
        self.scale = ms.Tensor(np.full((8,), SCALE, np.float32))

    def construct(self, x):
        for layer in self.layers:
            x = ops.FUNCTION(layer(x)) * self.scale
        return x

CONTEXT
ms.set_context(mode=ms.GRAPH_MODE)
ms.set_seed(1)
explain.start()
net = Net()
x = ms.Tensor(np.linspace(-1, 1, 16, dtype=np.float32).reshape(2, 8))
optimizer = nn.Momentum(net.trainable_params(), 0.1, 0.9)
step = ms.jit(ms.value_and_grad(lambda x: net(x).sum(), None, optimizer.parameters))
loss, grads = step(x)
print(loss.asnumpy().tobytes().hex(), *[g.asnumpy().tobytes().hex()[:32] for g in grads])
print([line.strip() for line in explain.report().splitlines() if "compile cache" in line])
'''


def source(tmp_path, scale=0.5, function="tanh", context=True):
    setting = f"ms.set_context(enable_compile_cache=True, compile_cache_path={str(tmp_path / 'kept')!r})" if context else ""
    script = tmp_path / "train.py"
    script.write_text(SCRIPT.replace("SCALE", str(scale)).replace("FUNCTION", function).replace("CONTEXT", setting))
    return script


def start(script, **environment):
    return subprocess.Popen([sys.executable, str(script)], env={**os.environ, **environment}, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True)


def finish(process):
    text, _ = process.communicate(timeout=120)
    assert process.returncode == 0, text
    numbers, notes = text.strip().splitlines()[-2:]
    return numbers, notes


def test_from_process_to_process(tmp_path):
    plain = finish(start(source(tmp_path, context=False)))
    assert plain[1] == "[]"
    first = finish(start(source(tmp_path)))
    assert first[0] == plain[0] and "written" in first[1]
    assert any((tmp_path / "kept" / "rank_0" / "graph_cache").iterdir())
    again = [start(source(tmp_path)) for _ in range(2)]  # two at once
    for numbers, notes in map(finish, again):
        assert numbers == plain[0] and "spared" in notes and "written" not in notes
    changed = finish(start(source(tmp_path, function="sigmoid")))  # another source
    assert changed[0] != plain[0] and "written" in changed[1]
    constant = finish(start(source(tmp_path, scale=0.25)))  # another constant
    assert constant[0] not in (plain[0], changed[0]) and "written" in constant[1]
    assert finish(start(source(tmp_path)))[0] == plain[0]


def test_the_processor_counts(tmp_path):
    script = source(tmp_path)
    finish(start(script, SPORE_ISA="")) # no cap, whatever this process was given
    kept, notes = finish(start(script, SPORE_ISA="portable"))
    plain, _ = finish(start(source(tmp_path, context=False), SPORE_ISA="portable"))
    assert kept == plain and "written" in notes


def test_the_environment_asks_for_it(tmp_path):
    script = source(tmp_path, context=False)
    kept = {"MS_COMPILER_CACHE_ENABLE": "1", "MS_COMPILER_CACHE_PATH": str(tmp_path / "there")}
    assert "written" in finish(start(script, **kept))[1]
    assert "spared" in finish(start(script, **kept))[1]
    assert finish(start(script, **{**kept, "MS_COMPILER_CACHE_ENABLE": "0"}))[1] == "[]"
    assert "not written" in finish(start(script, **{**kept, "MS_COMPILER_CACHE_PATH": str(script)}))[1]


def test_what_was_set_is_read_back():
    import spore as ms
    try:
        ms.set_context(enable_compile_cache=False, compile_cache_path="there")
        assert ms.get_context("enable_compile_cache") is False and ms.get_context("compile_cache_path") == "there"
    finally:
        ms.context._values.update(enable_compile_cache=None, compile_cache_path="")

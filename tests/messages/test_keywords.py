# SPDX-License-Identifier: Apache-2.0
"""A wrong keyword of a function written in Python: the one that was meant is named where the error is shown."""
import subprocess
import sys

import pytest

HEAD = "import mindspore as ms\nimport mindspore.numpy as mnp\nfrom mindspore import ops, nn, Tensor\nfrom mindspore.ops import clip_by_value\nx = Tensor([[1., 2.]])\n"


@pytest.mark.parametrize("line, message", [
    ("ops.softmax(x, dim=1)", "softmax() got an unexpected keyword argument 'dim'; did you mean 'axis'?"),
    ("y = 1 + clip_by_value(x, clip_value_mim=0,\n    clip_value_max=2) * 3", "clip_by_value() got an unexpected keyword argument 'clip_value_mim'; did you mean 'clip_value_min'?"),
    ("def f():\n    local = mnp\n    return local.sum(x, keepdim=True)\nf()", "sum() got an unexpected keyword argument 'keepdim'; did you mean 'keepdims'?"),
    ("ops.softmax(x, quite_another=1)", "softmax() got an unexpected keyword argument 'quite_another'"),
    ("def softmax(x, axis): pass\nsoftmax(x, dim=1)", "softmax() got an unexpected keyword argument 'dim'"),       # the user's own: as Python tells it
    ("@ms.jit\ndef f(x): return g(x, scal=2)\ndef g(x, scale): return x * scale\nf(x)", "g() got an unexpected keyword argument 'scal'; did you mean 'scale'?"),
])
def test_the_nearest_keyword_is_named(tmp_path, line, message):
    script = tmp_path / "script.py"
    script.write_text(HEAD + line + "\n")
    done = subprocess.run([sys.executable, "-m", "spore.run", str(script)], capture_output=True, text=True, timeout=120)
    told = next(text for text in done.stderr.splitlines() if text.startswith("TypeError: "))
    assert done.returncode == 1 and told.removeprefix("TypeError: ") in (message, message.replace("; did", ". Did")), done.stderr

# SPDX-License-Identifier: Apache-2.0
"""Time and memory of operators grow with their data: scripts/growth-scan, on a few here, on all in `make check-long`."""
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import spore as ms
from spore import _core

ROOT = Path(__file__).resolve().parents[2]
UNDER_SANITIZER = pytest.mark.skipif(any("san" in os.environ.get(v, "") for v in ("LD_PRELOAD",)), reason="times and memory are the sanitizer's")


def scan(*arguments, timeout):
    path = os.pathsep.join([str(Path(ms.__file__).resolve().parents[1]), os.environ.get("PYTHONPATH", "")])
    return subprocess.run([sys.executable, str(ROOT / "scripts" / "growth-scan"), *arguments], capture_output=True, text=True,
                          timeout=timeout, env={**os.environ, "PYTHONPATH": os.environ.get("PYTHONPATH") or path})


@UNDER_SANITIZER
def test_some_operators_grow_in_proportion():
    done = scan("--ops", "count_nonzero,sum,mean,softmax,sort,cumsum", "--sizes", "10000,100000", timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr


@UNDER_SANITIZER
def test_the_scan_finds_what_is_quadratic(tmp_path):
    """Attention compares everything with everything: without the list it is told."""
    done = scan("--ops", "attention", "--sizes", "3000,30000", "--list", str(tmp_path / "none.txt"), timeout=600)
    assert done.returncode == 1 and re.search(r"^attention time: ", done.stdout, re.M), done.stdout + done.stderr


@pytest.mark.long
@UNDER_SANITIZER
def test_all_operators_grow_in_proportion():
    done = scan(timeout=7200)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr


@pytest.mark.parametrize("name", ["count_nonzero", "sum", "mean"])
@pytest.mark.parametrize("dtype", ["bool", "uint8", "int8", "int16", "int32", "float16", "float32"])
def test_narrow_numbers_are_added_up_as_they_are(name, dtype):
    """What a kernel gives at once is what the composition gives, without a wide copy of the tensor."""
    if name == "mean" and dtype in ("bool", "int32") or name != "count_nonzero" and dtype.startswith("float"):
        pytest.skip("takes the composition")
    rng = np.random.default_rng(3)
    for shape in [(7,), (3, 5, 4), (1000, 700), (600, 2, 5), (2, 1, 300, 3), (300000,)]:
        array = rng.integers(-3, 4, shape).astype(dtype)
        tensor = ms.Tensor(array)
        for axis in [(), (0,), (-1,), tuple(range(len(shape)))]:
            for keep in (False, True):
                over = axis or None
                if name == "count_nonzero":
                    expected = np.count_nonzero(array, axis=over, keepdims=keep).astype(np.int32) if keep or over else np.int32(np.count_nonzero(array))
                elif name == "sum":
                    expected = array.astype(np.int64).sum(axis=over, keepdims=keep)
                else:
                    expected = np.trunc(array.astype(np.float64).mean(axis=over, keepdims=keep)).astype(dtype)
                got = _core.apply(name, [tensor], {"axis": axis, "keepdims": keep}).asnumpy()
                np.testing.assert_array_equal(got, expected, err_msg=f"{shape} {axis} {keep}")
                assert got.dtype == np.asarray(expected).dtype
        before = _core.memory_stats()["used_bytes"]
        _core.memory_reset_peak()
        _core.apply(name, [tensor], {})
        assert _core.memory_stats()["used_peak"] - before <= 4096, shape


def test_wrong_axes_are_told():
    tensor = ms.Tensor(np.ones((2, 2), np.uint8))
    for name in ("count_nonzero", "sum", "mean"):
        with pytest.raises(ValueError, match="axis"):
            _core.apply(name, [tensor], {"axis": (5,)})
        with pytest.raises(ValueError, match="twice"):
            _core.apply(name, [tensor], {"axis": (1, -1)})


@pytest.mark.parametrize("shape", [(2, 50000), (50000, 2)])
def test_a_thin_decomposition_needs_no_square(shape):
    """The reduced form has no use for the long side squared: 40 GB here."""
    tensor = ms.Tensor(np.random.default_rng(4).standard_normal(shape).astype(np.float32))
    before = _core.memory_stats()["used_bytes"]
    _core.memory_reset_peak()
    s, u, v = (t.asnumpy() for t in _core.apply("svd", [tensor], {}))
    assert _core.memory_stats()["used_peak"] - before < 16 * tensor.nbytes
    np.testing.assert_allclose((u * s) @ v.T, tensor.asnumpy(), atol=1e-4)

# SPDX-License-Identifier: Apache-2.0
"""Everything that touches numpy, small: run with the newest numpy and with the oldest one we promise."""
import numpy as np

import spore as ms
from spore import Tensor

PAIRS = [(ms.bool_, "bool"), (ms.int8, "int8"), (ms.int16, "int16"), (ms.int32, "int32"), (ms.int64, "int64"),
         (ms.uint8, "uint8"),
         (ms.uint16, "uint16"), (ms.uint32, "uint32"), (ms.uint64, "uint64"), (ms.float16, "float16"), (ms.float32,
             "float32"),
         (ms.float64, "float64"), (ms.complex64, "complex64"), (ms.complex128, "complex128")]


def test_every_dtype_both_ways():
    for dtype, name in PAIRS:
        a = np.array([[1, 0], [1, 1]], name)
        t = Tensor(a)
        assert t.dtype == dtype
        back = t.asnumpy()
        assert back.dtype == a.dtype and back.tolist() == a.tolist()
        assert Tensor(a.dtype.type(1)).dtype == dtype  # numpy's numbers


def test_array_functions():
    t = Tensor([1.0, 2.0, 3.0])
    assert np.asarray(t).dtype == np.float32 and np.array(t, dtype="int64").tolist() == [1, 2, 3]
    assert np.add(t, 1).tolist() == [2, 3, 4] and np.allclose(t, [1, 2, 3])
    assert np.stack([t, t]).shape == (2, 3) and np.concatenate([t, t]).shape == (6,)


def test_operands():
    t = Tensor([1.0, 2.0])
    assert (t + np.float64(1)).dtype == ms.float32 and (t * np.array([2, 3])).tolist() == [2, 6]
    assert isinstance(np.array([1.0, 2.0]) + t, np.ndarray)


def test_strided_and_misaligned_arrays():
    record = np.zeros(3, dtype=[("a", "u1"), ("b", "<f4")])
    record["b"] = [1, 2, 3]
    assert Tensor(record["b"]).tolist() == [1, 2, 3]
    assert Tensor(np.arange(10)[::-3]).tolist() == [9, 6, 3, 0]
    assert Tensor(np.broadcast_to(np.float32(2), (2, 2))).tolist() == [[2, 2], [2, 2]]


def test_indexing_seeds_and_text():
    t = Tensor(np.arange(6).reshape(2, 3))
    assert t[np.array([1, 0])].tolist() == [[3, 4, 5], [0, 1, 2]] and t[np.int64(1),
        np.array([True, False, True])].tolist() == [3, 5]
    t[np.array([0])] = np.array([7, 8, 9])
    assert t[0].tolist() == [7, 8, 9]
    assert str(Tensor([1.0, 2.5])) == "[1.  2.5]"
    ms.set_seed(3)
    first = ms.common.initializer.initializer("normal", (4,)).asnumpy()
    ms.set_seed(3)
    np.testing.assert_array_equal(ms.common.initializer.initializer("normal", (4,)).asnumpy(), first)

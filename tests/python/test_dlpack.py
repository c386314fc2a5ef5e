# SPDX-License-Identifier: Apache-2.0
"""Memory shared through DLPack, in both layouts of the capsule, with numpy as the other side and with ourselves."""
import gc

import numpy as np
import pytest

import spore as ms
from spore import Tensor

DTYPES = [ms.float32, ms.float64, ms.float16, ms.int8, ms.int16, ms.int32, ms.int64, ms.uint8, ms.uint16, ms.uint32,
          ms.uint64,
          ms.complex64, ms.complex128]


@pytest.mark.parametrize("dtype", DTYPES + [ms.bool_, ms.bfloat16], ids=str)
@pytest.mark.parametrize("version", [None, (1, 0), (1, 5), (0, 8)])
def test_round_trip(dtype, version):
    t = Tensor([[1, 0, 1], [1, 1, 0]], dtype)
    capsule = t.__dlpack__(max_version=version)
    assert ("dltensor_versioned" in repr(capsule)) == (version is not None and version[0] >= 1)
    u = Tensor.from_dlpack(capsule)
    assert u.dtype == dtype and u.tolist() == t.tolist() and u._shares(u)
    u[0, 0] = 0
    assert t[0, 0].tolist() == u[0, 0].tolist()  # the same memory


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_to_numpy(dtype):
    t = Tensor(np.arange(6).reshape(2, 3).astype(ms.dtype_to_nptype(dtype)))
    a = np.from_dlpack(t)
    t[0, 0] = 5
    assert a[0, 0] == 5 and a.dtype == ms.dtype_to_nptype(dtype)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_from_numpy(dtype):
    a = np.arange(12).reshape(3, 4).astype(ms.dtype_to_nptype(dtype))[::2, ::-1]
    t = Tensor.from_dlpack(a)
    np.testing.assert_array_equal(t.asnumpy(), a)
    a[0, 0] = 7
    assert t[0, 0] == 7
    del a
    gc.collect()
    assert t[0, 0] == 7


def test_views_and_empty_tensors():
    t = Tensor(np.arange(24).reshape(2, 3, 4))[:, 1:, ::2]
    np.testing.assert_array_equal(np.from_dlpack(t), t.asnumpy())
    assert np.from_dlpack(Tensor(np.zeros((0, 3), np.float32))).shape == (0, 3)
    assert np.from_dlpack(Tensor(3.0)) == 3.0


def test_unused_capsules_free_their_memory():
    gc.collect()
    before = ms.runtime.memory_allocated()
    for version in (None, (1, 0)):
        capsule = Tensor(np.zeros(1 << 20, np.float32)).__dlpack__(max_version=version)
        del capsule
    gc.collect()
    assert ms.runtime.memory_allocated() < before + (1 << 20)


def test_a_capsule_is_used_once():
    capsule = Tensor([1.0]).__dlpack__()
    Tensor.from_dlpack(capsule)
    with pytest.raises(ValueError):
        Tensor.from_dlpack(capsule)


def test_copy_and_device():
    t = Tensor([1.0, 2.0])
    u = Tensor.from_dlpack(t.__dlpack__(max_version=(1, 0), copy=True))
    u[0] = 9
    assert t.tolist() == [1, 2] and t.__dlpack_device__() == (1, 0)
    with pytest.raises(BufferError):
        t.__dlpack__(dl_device=(2, 0))
    with pytest.raises(ValueError):
        t.__dlpack__(stream=1)
    with pytest.raises(TypeError):
        Tensor.from_dlpack(3)


@pytest.mark.skipif(tuple(map(int, np.__version__.split(".")[:2])) < (2, 1),
                    reason="this numpy cannot share arrays it may not write")
def test_read_only_memory_is_copied():
    a = np.ones(3, np.float32)
    a.flags.writeable = False
    t = Tensor.from_dlpack(a)
    t[0] = 5
    assert a.tolist() == [1, 1, 1]

# SPDX-License-Identifier: Apache-2.0
"""Results that are not empty though the input is: nothing of what the memory held before is in them."""
import numpy as np
import pytest

import spore as ms
from spore import _core


def outcome(op, shape, **attrs):
    for value in (3.5, -7.0):        # blocks that are used again
        del_me = [ms.Tensor(np.full(n, value, np.float32)) for n in (1, 2, 3, 4, 6, 8, 9, 16)]
        del del_me
    extra = [None, None] if op.endswith("norm") else []
    return [t.asnumpy() for t in _core.apply(op, [ms.ops.zeros(shape, ms.float32), *extra], attrs)]


@pytest.mark.parametrize("op, shape, attrs", [("layer_norm", (2, 3, 0), {"begin_norm_axis": 2, "begin_params_axis": 2}),
                                              ("group_norm", (2, 4, 0), {"num_groups": 2})])
def test_statistics_of_nothing(op, shape, attrs):
    y, *statistics = outcome(op, shape, **attrs)
    assert y.size == 0 and all(s.size and np.isnan(s).all() for s in statistics)


@pytest.mark.parametrize("dtype", [ms.float32, ms.complex64])
def test_orthogonal_matrices(dtype):
    empty = ms.ops.zeros((2, 3, 0), ms.float32).astype(dtype)
    q, r = _core.apply("qr", [empty], {"complete": True})
    assert r.shape == (2, 3, 0)
    np.testing.assert_array_equal(q.asnumpy(), np.broadcast_to(np.eye(3), (2, 3, 3)))
    _, u, v = _core.apply("svd", [empty], {"full": True})
    assert v.shape == (2, 0, 0)
    np.testing.assert_array_equal(u.asnumpy(), np.broadcast_to(np.eye(3), (2, 3, 3)))
    _, u, v = _core.apply("svd", [empty.swapaxes(1, 2)], {"full": True})
    np.testing.assert_array_equal(v.asnumpy(), np.broadcast_to(np.eye(3), (2, 3, 3)))

# SPDX-License-Identifier: Apache-2.0
"""Functions of numpy whose work is as long as their numbers say come to an end for odd ones."""
import numpy as np

import spore as ms
from spore import Tensor

NAN, INF = float("nan"), float("inf")


def test_divisors_of_what_is_no_number():
    a, b = [NAN, 12.0, 8.0, 0.0, 12.5], [8.0, -INF, 12.0, 0.0, 2.5]
    np.testing.assert_array_equal(ms.numpy.gcd(Tensor(a), Tensor(b)).asnumpy(), np.float32([NAN, NAN, 4, 0, 2.5]))
    np.testing.assert_array_equal(ms.numpy.lcm(Tensor(a), Tensor(b)).asnumpy(), np.float32([NAN, NAN, 24, 0, 12.5]))


def test_more_differences_than_elements():
    v = np.arange(5, dtype=np.float32)
    for n in (1, 4, 5, 2 ** 31, 2 ** 62):
        found = ms.numpy.diff(Tensor(v), n)
        np.testing.assert_array_equal(found.asnumpy(), np.diff(v, min(n, 6)))

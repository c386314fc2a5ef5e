# SPDX-License-Identifier: Apache-2.0
"""Whether random numbers are distributed as recorded ones."""
import numpy as np


def apart(here, there, slack):
    """(largest distance of the two distribution functions, what chance exceeds once in ten thousand times), by Kolmogorov and
    Smirnov. Both are sorted; `there` holds a part of as many numbers as `here`. Numbers that differ by slack are the same."""
    n = len(here)
    below = np.searchsorted(there, here - slack) / len(there) - np.arange(n) / n
    above = np.arange(1, n + 1) / n - np.searchsorted(there, here + slack, "right") / len(there)
    return max(below.max(), above.max()), 2.23 * np.sqrt(2 / n) + 1 / len(there)

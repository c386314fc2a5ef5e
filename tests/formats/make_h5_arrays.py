# SPDX-License-Identifier: Apache-2.0
"""What make_h5.py stores in kinds.h5; needs no h5py."""
import numpy as np


def arrays():
    rng = np.random.default_rng(11)
    result = {f"types/{d}": rng.integers(0, 100, (2, 3)).astype(d) for d in
              ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8")}
    result.update({"flag": np.array([True, False]), "scalar": np.float32(2.5), "none": np.zeros((0, 3), "f4"),
                   "chunks/packed": rng.integers(0, 5, (7, 10, 3)).astype("i4"), "chunks/plain": rng.standard_normal((5, 9)),
                   "chunks/line": np.arange(25, dtype="f4"), **{f"many/{i}": np.full(2, i, "i4") for i in range(40)}})
    return result


def newest_arrays():
    """For the layout of libver="latest": groups with few and with many members, and chunks found in each way but those that can grow."""
    result = {"a": np.arange(3), "deep/er/b": np.float32([[1, 2], [3, 4]]), "scalar": np.float64(2.5)}
    for i in range(300):
        result[f"many/member_{i:03d}_of_a_group"] = np.full((2, i % 3 + 1), i, np.int32)
    for name in ("one", "one_packed", "packed", "many", "table"):
        result[f"chunks/{name}"] = np.arange(1000, dtype=np.float32).reshape(50, 20)
    result["chunks/many"] = np.arange(2400, dtype=np.int16).reshape(1200, 2) # more than a page of the table
    return result

# SPDX-License-Identifier: Apache-2.0
"""Make the numpy files of tests/formats/data/numpy: python make_numpy.py FOLDER. test_files.py calls arrays() too."""
import sys

import numpy as np


def arrays():
    rng = np.random.default_rng(7)
    result = {d: rng.integers(0, 100, (2, 3)).astype(d) for d in
              ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16")}
    result.update(b=np.array([True, False, True]), scalar=np.float64(3), none=np.zeros((0, 3), "i2"), text=np.array("héllo"),
                  fortran=np.asfortranarray(rng.standard_normal((3, 4))), big=np.arange(5, dtype=">i4"),
                  big_complex=np.arange(3).astype(">c8"))
    return result


def main():
    np.savez(sys.argv[1] + "/all.npz", **arrays())
    np.savez_compressed(sys.argv[1] + "/packed.npz", **arrays())
    np.save(sys.argv[1] + "/one.npy", arrays()["fortran"])


if __name__ == "__main__":
    main()

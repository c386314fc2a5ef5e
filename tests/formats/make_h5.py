# SPDX-License-Identifier: Apache-2.0
"""Make kinds.h5 and newest.h5 of tests/formats/data/h5 with h5py: python make_h5.py FOLDER"""
import sys

import h5py
import numpy as np
from make_h5_arrays import arrays


def main():
    values = arrays()
    with h5py.File(sys.argv[1] + "/kinds.h5", "w") as file:
        for name, array in values.items():
            more = {}
            if name == "chunks/packed":
                more = {"chunks": (3, 4, 2), "compression": "gzip", "shuffle": True, "fletcher32": True}
            elif name.startswith("chunks/"):
                more = {"chunks": tuple(4 for _ in array.shape)}
            file.create_dataset(name, data=array, **more)
        file["text"] = "left out"
        file["big_endian"] = np.arange(3, dtype=">i4")
        file.create_dataset("unwritten", (3,), "f4")
        file.attrs["note"] = "attributes are left out"
    with h5py.File(sys.argv[1] + "/newest.h5", "w", libver="latest") as file:
        file["a"] = np.arange(3)


if __name__ == "__main__":
    main()

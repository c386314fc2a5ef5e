# SPDX-License-Identifier: Apache-2.0
"""Make kinds.h5, newest.h5, newest_small.h5, claims.h5 and growing.h5 of tests/formats/data/h5 with h5py: python make_h5.py FOLDER"""
import sys

import h5py
import numpy as np
from make_h5_arrays import arrays, newest_arrays


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
        for name, array in newest_arrays().items():
            more = {"chunks/one": {"chunks": array.shape}, "chunks/one_packed": {"chunks": array.shape, "compression": "gzip"},
                    "chunks/packed": {"chunks": (16, 8), "compression": "gzip", "shuffle": True, "fletcher32": True},
                    "chunks/many": {"chunks": (2, 1)}, "chunks/table": {"chunks": (16, 8)}}
            file.create_dataset(name, data=array, **more.get(name, {}))
        file["text"] = "left out"
        file["other_name"] = h5py.SoftLink("/a")
        file.create_dataset("unwritten", (3,), "f4")
        file["chunks"].attrs["note"] = "attributes are left out"
    with h5py.File(sys.argv[1] + "/newest_small.h5", "w", libver="latest") as file: # for the fuzzers
        for i in range(12):
            file.create_dataset(f"group/d{i:02d}", data=np.float32([i]))
        file.create_dataset("one", data=np.arange(6.0), chunks=(6,), compression="gzip")
        file.create_dataset("table", data=np.arange(12, dtype="i2").reshape(4, 3), chunks=(2, 2))
    with h5py.File(sys.argv[1] + "/claims.h5", "w") as file: # never written, but all would have to be there
        for i in range(60):
            file.create_dataset(f"d{i}", (250000,), "f4")
    with h5py.File(sys.argv[1] + "/growing.h5", "w", libver="latest") as file:
        file.create_dataset("a", data=np.arange(40.0), chunks=(8,), maxshape=(None,))


if __name__ == "__main__":
    main()

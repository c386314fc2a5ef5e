# SPDX-License-Identifier: Apache-2.0
"""Load with the real MindSpore what nets.py wrote to a folder, and compare. mindspore_2.10.log is what it printed."""
import pathlib
import re
import sys

import mindspore as ms
import numpy as np
from mindspore import nn

for path in sorted(pathlib.Path(sys.argv[1]).glob("*.mindir")):
    arrays = np.load(path.with_suffix(".npz"))
    inputs = [ms.Tensor(arrays[name]) for name in sorted(arrays.files) if name.startswith("in")]
    mode = re.search(r"AES-GCM|AES-CBC|SM4-CBC", path.name)
    key = {"dec_key": b"0123456789ABCDEF", "dec_mode": mode[0]} if mode else {}
    try:
        found = nn.GraphCell(ms.load(str(path), **key))(*inputs)
    except Exception as error:
        print(f"{path.name}: FAILED: {str(error).splitlines()[0]}")
        continue
    found = found if isinstance(found, tuple) else (found,)
    worst = max(float(np.abs(one.asnumpy().astype(np.float64) - arrays[f"out{i}"]).max()) for i, one in enumerate(found))
    assert len(found) == sum(name.startswith("out") for name in arrays.files)
    print(f"{path.name}: {len(found)} results, largest difference {worst:.1e}")

# SPDX-License-Identifier: Apache-2.0
"""walk.py out.npz: apply every operator to its samples, in every floating dtype and where there is none in the first, and
keep what comes out, with all attributes at their defaults where the sample names none. In every world the bits must be the
same; the walk of tests/ops compares the engine with itself only, and would not see a default that has become another number."""
import locale
import os
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "ops"))
if "SPORE_WORLD" in os.environ:
    import world

    world.pytest_configure(None)

import spore as ms  # noqa: E402
from spore import _core  # noqa: E402
from samples import parse  # noqa: E402


def main():
    kept, failed = {}, {}
    for entry in _core.op_table():
        dtypes = [d for d in ("float32", "float64") if d in entry["dtypes"]] or [d for d in entry["dtypes"] if d != "bfloat16"][:1]
        for dtype in dtypes:
            for number, sample in enumerate(parse(entry["samples"])):
                rng = np.random.Generator(np.random.PCG64(7))
                name = f"{entry['name']}.{dtype}.{number}"
                inputs = [None if o is None else ms.Tensor(np.array(o.values(rng, dtype), order="C")) for o in sample.operands]
                ms.set_seed(1)
                try:
                    out = _core.apply(entry["name"], inputs, sample.attrs)
                except Exception as error:
                    failed[name] = repr(error)
                    continue
                for i, t in enumerate(out if isinstance(out, tuple) else [out]):
                    if t is not None and t.dtype != ms.bfloat16:
                        kept[f"{name}.{i}"] = t.asnumpy()
    kept["failed"] = np.array(sorted(f"{k}: {v}" for k, v in failed.items()))
    np.savez(sys.argv[1], **kept)
    print(f"{len(kept) - 1} results, {len(failed)} refused", locale.localeconv()["decimal_point"])


main()

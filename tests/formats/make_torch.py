# SPDX-License-Identifier: Apache-2.0
"""Make the PyTorch files of tests/formats/data/torch, and beside each an .npz of what it holds.

    python make_torch.py FOLDER [SUFFIX]      under PyTorch; the suffix tells the version
"""
import collections
import sys

import numpy as np
import torch
from torch import nn


def state_dict():
    torch.manual_seed(1)
    net = nn.Sequential(collections.OrderedDict(
        conv=nn.Conv2d(3, 4, 3), bn=nn.BatchNorm2d(4), fc=nn.Linear(5, 2)))
    return net, net.state_dict()


def array(t):
    t = t.detach()
    if t.dtype == torch.bfloat16:
        return t.view(torch.int16).contiguous().numpy().view(np.uint16)
    return t.contiguous().numpy()


def views():
    base = torch.arange(24, dtype=torch.float32).reshape(4, 6)
    return {"base": base, "turned": base.t(), "part": base[1:3, 2:5], "step": base[:, ::2], "row": base[2],
            "expanded": torch.tensor([1.0, 2.0]).reshape(2, 1).expand(2, 3), "none": torch.zeros(0, 3),
            "one": torch.tensor(7.5), "channels_last": torch.arange(48.).reshape(1, 3, 4, 4).to(
                memory_format=torch.channels_last)}


def dtypes():
    names = ["float32", "float64", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8", "bool", "complex64",
             "complex128"] + [n for n in ("uint16", "uint32", "uint64") if hasattr(torch, n)]
    result = {}
    for name in names:
        values = torch.tensor([0, 1, 1, 0, 1, 1]) if name == "bool" else torch.tensor([0, 1, 2, 3, 100, 120])
        result[name] = values.to(getattr(torch, name)).reshape(2, 3)
    return result


def eight_bits():
    """Floats of 8 bits: every code of each format. They are read as bfloat16, which holds all of their values."""
    codes = torch.arange(256, dtype=torch.uint8).reshape(16, 16)
    kinds = ["float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e8m0fnu"]
    found = {kind: codes.view(getattr(torch, kind)) for kind in kinds if hasattr(torch, kind)}
    return {**found, "turned": codes.t().contiguous().view(torch.float8_e5m2).t()} if found else {}


class Box:
    """Any instance: kept without meaning."""


def main():
    folder, suffix = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else ""
    net, weights = state_dict()
    optimizer = torch.optim.Adam(net.parameters())
    for p in net.parameters():
        p.grad = torch.ones_like(p)
    optimizer.step()
    weights = net.state_dict()
    wrapped = {"epoch": 3, "lr": 0.5, "note": "héllo", "best": True, "score": np.float64(0.25), "args": Box(),
               "state_dict": weights, "optimizer": optimizer.state_dict()}
    expected = {"epoch": np.int64(3), "lr": np.float64(0.5), "best": np.bool_(True), "score": np.float64(0.25)}
    expected.update({k: array(v) for k, v in weights.items()})
    for i, slot in optimizer.state_dict()["state"].items():
        expected.update({f"optimizer.state.{i}.{k}": array(v) if torch.is_tensor(v) else None for k, v in slot.items()})
    expected = {k: v for k, v in expected.items() if v is not None}
    plain = {k: array(v) for k, v in weights.items()}
    cases = {
        "state": (weights, plain), "wrapped": (wrapped, expected), "module": (net, plain),
        "views": (views(), {k: array(v) for k, v in views().items()}),
        "dtypes": (dtypes(), {k: array(v) for k, v in dtypes().items()}),
        "tensor": (torch.arange(3.0), {"tensor": np.arange(3, dtype=np.float32)}),
        "list": ([torch.ones(2), {"a": nn.Parameter(torch.zeros(1))}],
                 {"0": np.ones(2, np.float32), "1.a": np.zeros(1, np.float32)}),
    }
    if eight_bits():
        cases["eight_bits"] = (eight_bits(), {k: array(v.to(torch.bfloat16)) for k, v in eight_bits().items()})
    for name, (value, arrays) in cases.items():
        legacy_too = name != "dtypes" or not hasattr(torch, "uint16")
        torch.save(value, f"{folder}/{name}{suffix}.pt")
        if legacy_too and name != "module":  # a legacy module carries the sources of its classes
            torch.save(value, f"{folder}/{name}{suffix}_legacy.pt", _use_new_zipfile_serialization=False)
        np.savez_compressed(f"{folder}/{name}{suffix}.npz", **arrays)


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""Models of mindcv, built and run by MindSpore and by spore side by side: names of Parameters, checkpoints both ways, outputs.

    python zoo.py first FOLDER [MODEL ...]      under MindSpore
    python zoo.py second FOLDER [MODEL ...]     at the same time under `spore run`: prints the log
    python zoo.py names FOLDER FILE             afterwards: what MindSpore calls the Parameters of all models, as one file (.json.gz)

The package mindcv must be importable; without MODELs all that it registers are asked, those of each family in turn. The first saves a checkpoint and its
outputs and waits for those of the second, which has loaded it; each compares the other's outputs on the other's weights with its own. Weights are random
numbers drawn by name, such that outputs stay finite; models run in evaluation mode on one image. Models of more than 150 million numbers are left out."""
import gc
import gzip
import itertools
import json
import os
import pathlib
import re
import sys
import time
import warnings
import zlib

import numpy as np

warnings.filterwarnings("ignore")
PATIENCE = 900      # seconds that one waits for the other
LARGEST = 150e6     # numbers in a model
LARGE = "_l_|_h_|large|huge|cait_[ms]|x3|_32gf|_16gf|_12gf|volo_d[345]|_v2_x?l|vgg|269|200|131|107|senet154|_384|_448|base|_b[123]"


def models():
    """All models: the first of every family, then the second of every family, and so on; those known to be large last."""
    from mindcv.models import registry
    line = lambda name: registry._model_entrypoints[name].__code__.co_firstlineno      # small ones come first in most files
    families = [sorted(names, key=line) for _, names in sorted(registry._module_to_models.items())]
    found = [name for row in itertools.zip_longest(*families) for name in row if name]
    return sorted(found, key=lambda name: bool(re.search(LARGE, name)))


def build(name):
    import mindcv
    import mindspore as ms
    ms.set_seed(1)
    net = mindcv.create_model(name, num_classes=10)
    return net.set_train(False)


def size_of(name):
    """The height of images that a model is made for, by its name or its configuration."""
    from mindcv.models import registry
    for size in (96, 128, 160, 192, 224, 240, 256, 384, 448):
        if name.endswith(f"_{size}"):
            return size
    if name.startswith("swinv2"):
        return 256
    if name.startswith(("inception", "xception")):
        return 299
    return (registry._model_pretrained_cfgs.get(name, {}).get("input_size") or (3, 224, 224))[-1]


def number(name, shape, turn):
    """Random weights that depend on name, shape and turn only: variances are positive, products keep the size of what passes."""
    rng = np.random.default_rng(zlib.crc32(name.encode()) + turn)
    if "variance" in name:
        return rng.uniform(0.5, 1.5, shape).astype(np.float32)
    if len(shape) < 2:
        return (1.0 * name.endswith("gamma") + 0.1 * rng.standard_normal(shape, np.float32)).astype(np.float32)
    return rng.standard_normal(shape, np.float32) * np.float32((1.4 / np.prod(shape[1:])) ** 0.5)


def fill(net, turn, factor):
    import mindspore as ms
    for p in net.get_parameters():
        if p.dtype == ms.float32:
            data = number(p.name, p.shape, turn)
            p.set_data(ms.Tensor(data * np.float32(factor) if len(p.shape) > 1 else data))


def outputs(net, size):
    import mindspore as ms
    ms.set_seed(3)
    np.random.seed(3)       # models that draw masks do it with numpy
    outs = net(ms.Tensor(np.random.default_rng(7).standard_normal((1, 3, size, size)).astype(np.float32)))
    outs = outs if isinstance(outs, (tuple, list)) else (outs,)
    return [o.asnumpy() for o in outs]


def parameters(net):
    return [[p.name, list(p.shape), str(p.dtype)] for p in net.get_parameters()]


def write(folder, name, net, turn):
    """The checkpoint, and beside it, last, what the other compares with."""
    import mindspore as ms
    for factor in (1.0, 0.5, 0.25, 0.1):     # until the outputs are of a size at which softmax still tells values apart
        fill(net, turn, factor)
        outs = outputs(net, size_of(name))
        if max(float(np.abs(o).max()) for o in outs) < 1e3:
            break
    ms.save_checkpoint(net, str(folder / f"{name}.{turn}.ckpt"))
    answer(folder, name, turn, names=json.dumps(parameters(net)), **{f"out{i}": o for i, o in enumerate(outs)})


def answer(folder, name, turn, **what):
    np.savez(folder / f"{name}.{turn}.part.npz", **what)
    os.replace(folder / f"{name}.{turn}.part.npz", folder / f"{name}.{turn}.npz")


def await_answer(folder, name, turn):
    path = folder / f"{name}.{turn}.npz"
    end = time.monotonic() + PATIENCE
    while not path.exists():
        if time.monotonic() > end:
            raise TimeoutError(f"no answer from the other after {PATIENCE} s")
        time.sleep(0.1)
    with np.load(path) as f:
        found = dict(f)
    if "failed" in found:
        raise RuntimeError(f"the other: {found['failed']}")
    return found


def compare(folder, name, net, turn):
    """(whether all is equal, text): names, what was loaded, outputs."""
    import mindspore as ms
    theirs = await_answer(folder, name, turn)
    same = parameters(net) == json.loads(str(theirs["names"]))
    path = folder / f"{name}.{turn}.ckpt"
    left, unused = ms.load_param_into_net(net, ms.load_checkpoint(str(path)))
    path.unlink()
    outs = outputs(net, size_of(name))
    scale = max(float(np.abs(theirs[f"out{i}"]).max()) for i in range(len(outs)))
    off = max(float(np.abs(o - theirs[f"out{i}"]).max()) for i, o in enumerate(outs)) / max(scale, 1e-30)
    good = same and not left and not unused and off < 1e-3
    return good, f"{'names equal' if same else 'names DIFFER'}, {len(left)} not loaded, {len(unused)} unused, outputs off by {off:.0e} of {scale:.2g}"


def one(verb, folder, name):
    net = build(name)
    if sum(int(np.prod(p.shape)) for p in net.get_parameters()) > LARGEST:
        raise MemoryError(f"more than {LARGEST:.0f} numbers")
    if verb == "first":
        write(folder, name, net, 1)
        good, said = compare(folder, name, net, 2)
        answer(folder, name, 3, good=good, said=said)
        return ""
    good, said = compare(folder, name, net, 1)
    write(folder, name, net, 2)
    back = await_answer(folder, name, 3)
    good = good and bool(back["good"])
    return f"{'equal' if good else 'DIFFERS'}; {len(parameters(net))} parameters, image {size_of(name)}; from MindSpore: {said}; to MindSpore: {back['said']}"


def ask(verb, folder, name):
    start = time.monotonic()
    try:
        said = one(verb, folder, name)
    except Exception as e:      # the next model is asked all the same, and the other need not wait
        said = f"{type(e).__name__}: {(str(e).strip() or '?').splitlines()[0]}"[:250]
        for turn in (1, 3) if verb == "first" else (2,):
            answer(folder, name, turn, failed=said) if not (folder / f"{name}.{turn}.npz").exists() else None
        said = "RAISES " + said
    for turn in (1, 2):
        (folder / f"{name}.{turn}.ckpt").unlink(missing_ok=True) if verb == "second" else None
    print(f"{name}: {said} [{time.monotonic() - start:.0f} s]", flush=True)
    gc.collect()


def names(folder, file):
    found = {}
    for path in sorted(pathlib.Path(folder).glob("*.1.npz")):
        with np.load(path) as f:
            if "names" in f:
                found[path.name[:-6]] = json.loads(str(f["names"]))
    with gzip.GzipFile(file, "wb", mtime=0) as out:
        out.write(json.dumps(found, indent=0).encode())
    print(len(found), "models,", sum(map(len, found.values())), "parameters")


def main(verb, folder, *rest):
    if verb == "names":
        return names(folder, *rest)
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for name in rest or models():
        ask(verb, folder, name)


main(*sys.argv[1:])

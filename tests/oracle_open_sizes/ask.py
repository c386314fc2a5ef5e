# SPDX-License-Identifier: Apache-2.0
"""The networks of open_nets.py, written to files with open sizes and run at five other sizes.

    python ask.py spore FOLDER        (Python with spore) exports, runs the networks and their files
    python ask.py mindspore FOLDER    (Python with MindSpore 2.10) runs the networks, and the MindIR files
    python ask.py ort FOLDER          (Python with ONNX Runtime) runs the ONNX files
    python ask.py judge FOLDER        compares; prints the log, writes answers.json: what MindSpore's networks gave

A word behind FOLDER takes the networks alone whose names begin with it; the answers to the others stay.

MindSpore cannot run a network with branches at a second size in one load ("The actor already exists", its own files too), so each size is a load of its own.
"""
import importlib.util
import json
import os
import sys

import numpy as np

from open_nets import NETS as ALL, open_shape, sizes, source

NETS = [name for name in ALL if len(sys.argv) < 4 or __name__ != "__main__" or name.startswith(sys.argv[3])]

HEAD = {"spore": "import spore as ms\nfrom spore import nn, ops, Tensor\n", "mindspore": "import mindspore as ms\nfrom mindspore import nn, ops, Tensor\n"}


def net_of(folder, name, kind):
    path = os.path.join(folder, f"{kind}_{name}.py")
    with open(path, "w") as file:
        file.write(HEAD[kind] + source(name))
    spec = importlib.util.spec_from_file_location(f"{kind}_{name}", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module.Net()


def inputs(name):
    rng = np.random.default_rng(7)
    return [rng.random(size).astype(np.float32) for size in sizes(name)]


def attempt(results, key, call):
    try:
        results[key] = np.asarray(call())
    except Exception as error:
        text = str(error)
        results[key] = np.array("error: " + (text if "class Net" not in text else text)[:600])


def ask_spore(folder):
    import spore as ms
    results = {}
    for name in NETS:
        for kind in ("MINDIR", "ONNX"):
            net = net_of(folder, name, "spore")
            face = ms.Tensor(shape=open_shape(name), dtype=ms.float32)
            net.set_inputs(face)
            path = os.path.join(folder, name)
            try:
                ms.export(net, face, file_name=path, file_format=kind)
            except Exception as error:
                results[f"{name}/{kind}/refused"] = np.array(str(error)[:1500])
                continue
            held = ms.nn.GraphCell(ms.load(path + ".mindir")) if kind == "MINDIR" else ms.onnx.load(path + ".onnx")
            for k, x in enumerate(inputs(name)):
                attempt(results, f"{name}/{kind}/{k}", lambda held=held, x=x: held(ms.Tensor(x)).asnumpy())
        for k, x in enumerate(inputs(name)):
            attempt(results, f"{name}/eager/{k}", lambda net=net, x=x: net(ms.Tensor(x)).asnumpy())
    np.savez(os.path.join(folder, "spore.npz"), **results)


def ask_mindspore(folder):
    import mindspore as ms
    results = {}
    for name in NETS:
        ms.set_context(mode=ms.PYNATIVE_MODE)
        net = net_of(folder, name, "mindspore")
        for k, x in enumerate(inputs(name)):
            attempt(results, f"{name}/eager/{k}", lambda net=net, x=x: net(ms.Tensor(x)).asnumpy())
        path = os.path.join(folder, name + ".mindir")
        for k, x in enumerate(inputs(name)) if os.path.exists(path) else ():
            attempt(results, f"{name}/MINDIR/{k}", lambda path=path, x=x: ms.nn.GraphCell(ms.load(path))(ms.Tensor(x)).asnumpy())
    np.savez(os.path.join(folder, "mindspore.npz"), **results)


def ask_ort(folder):
    import onnxruntime
    onnxruntime.set_default_logger_severity(4)
    results = {}
    for name in NETS:
        path = os.path.join(folder, name + ".onnx")
        if not os.path.exists(path):
            continue
        session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
        for k, x in enumerate(inputs(name)):
            attempt(results, f"{name}/ONNX/{k}", lambda session=session, x=x: session.run(None, {session.get_inputs()[0].name: x})[0])
    np.savez(os.path.join(folder, "ort.npz"), **results)


def same(a, b):
    return a.dtype.kind not in "US" and a.shape == b.shape and np.allclose(a, b, rtol=1e-4, atol=1e-4 * max(1.0, np.abs(b).max(initial=0)))


def summary(value):
    flat = value.astype(np.float64).reshape(-1)
    picked = flat[np.linspace(0, flat.size - 1, min(flat.size, 6)).astype(int)] if flat.size else flat
    return [list(value.shape), [float(f"{v:.6g}") for v in [flat.sum(), *picked]]]


def judge(folder):
    spore, mindspore, ort = (np.load(os.path.join(folder, f"{kind}.npz")) for kind in ("spore", "mindspore", "ort"))
    answers, counts = {}, {}
    for name in NETS:
        words = []
        wanted = [mindspore[f"{name}/eager/{k}"] for k in range(5)]
        known = [w.dtype.kind not in "US" for w in wanted]
        answers[name] = [summary(w) if ok else None for w, ok in zip(wanted, known)]
        wanted = [w if ok else spore[f"{name}/eager/{k}"] for k, (w, ok) in enumerate(zip(wanted, known))]
        if not all(known):
            words.append("MindSpore does not run it: " + str(mindspore[f"{name}/eager/0"])[:80].replace("\n", " "))
        rows = [("spore, MindIR", spore, "MINDIR"), ("spore, ONNX", spore, "ONNX"), ("MindSpore, MindIR", mindspore, "MINDIR"), ("ONNX Runtime", ort, "ONNX")]
        for title, found, kind in rows:
            if f"{name}/{kind}/refused" in spore:
                text = str(spore[f"{name}/{kind}/refused"])
                verdict = "refused with the line" if "In file" in text or ".py:" in text else "REFUSED WITHOUT A LINE"
                if title.startswith("spore"):
                    words.append(f"{kind}: {text[:160]!r}")
            else:
                both = [(found[f"{name}/{kind}/{k}"], wanted[k]) for k in range(5)]
                errors = [str(w) for w, _ in both if w.dtype.kind in "US"]
                verdict = "equal" if all(same(a, b) for a, b in both if b.dtype.kind not in "US") else "FAILS" if errors else "DIFFERS"
                if verdict in ("FAILS", "DIFFERS"):
                    words.append(f"{title}: " + (errors[0][:160].replace("\n", " ") if errors else f"sizes {[k for k, (a, b) in enumerate(both) if not same(a, b)]}"))
            counts[title, verdict] = counts.get((title, verdict), 0) + 1
        if words:
            print(name, ALL[name].splitlines()[-1].strip(), *words, sep="\n    ")
    for (title, verdict), n in sorted(counts.items()):
        print(f"{title}: {verdict} {n}")
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "answers.json")
    with open(path) as file:
        answers = {**json.load(file), **answers}
    with open(path, "w") as file:
        json.dump(answers, file, separators=(",", ":"))


if __name__ == "__main__":
    os.makedirs(sys.argv[2], exist_ok=True)
    {"spore": ask_spore, "mindspore": ask_mindspore, "ort": ask_ort, "judge": judge}[sys.argv[1]](sys.argv[2])

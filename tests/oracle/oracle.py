# SPDX-License-Identifier: Apache-2.0
"""Core of the oracle: cases, their inputs, how one is run, how results are stored and compared.

A case is one line in a file under cases/ (see README.md). The same code runs it under MindSpore, to record the answer,
and under spore, to check it; nothing here imports either of them.
"""
import ast
import fnmatch
import importlib
import io
import json
import linecache
import os
import pathlib
import pickle
import re
import sys
import types
import zlib

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
CASES = HERE / "cases"
DATA = HERE / "data"
PENDING = HERE / "pending.txt"
DIFFERENT = HERE / "different.txt"

# ---------------------------------------------------------------------------------------------------------------- cases


class Case:
    """One call whose result is known. `id` depends on the text of the case only, so it survives reordering."""

    def __init__(self, file, api, code, inputs, grad=(), kind="exact", setup="", rtol=None, atol=None, bounds=None):
        if kind not in ("exact", "error", "either", "random"):
            raise ValueError(f"{file}: {api}: kind is {kind!r}, wanted exact, error, either or random")
        self.file, self.api, self.code, self.inputs, self.kind = file, api, code, inputs, kind
        self.grad = tuple(grad.split()) if isinstance(grad, str) else tuple(grad)
        self.setup, self.rtol, self.atol, self.bounds = setup, rtol, atol, bounds
        for name in self.grad:
            if name not in inputs:
                raise ValueError(f"{file}: {api}: grad names {name!r}, which is no input of the case")
        self.key = f"{api}|{setup}|{code}|{inputs!r}"
        self.id = f"{api}-{zlib.crc32(self.key.encode()):08x}"

    def __repr__(self):
        return f"{self.id}: {self.code}"


def load_cases(file=None):
    """All cases of cases/<file>.py, or of every file, in order. The files are run with `case` in scope."""
    paths = [CASES / f"{file}.py"] if file else sorted(CASES.glob("*.py"))
    found, seen = [], {}
    for path in paths:
        def case(api, code, *, grad=(), kind="exact", setup="", rtol=None, atol=None, bounds=None, _file=path.stem,
                **inputs):
            c = Case(_file, api, code, inputs, grad, kind, setup, rtol, atol, bounds)
            if c.id in seen:
                raise ValueError(f"{_file}: {c!r} stands twice (also in {seen[c.id]})")
            seen[c.id] = _file
            found.append(c)
        exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), {"case": case, "np": np,
            "__name__": path.stem})
    return found


# --------------------------------------------------------------------------------------------------------------- inputs

SPEC = re.compile(r"""(?P<how>param:|np:)?(?P<dtype>bool|bf16|[iu](?:8|16|32|64)|f(?:16|32|64)|c(?:64|128))
                      \[(?P<dims>[\d,\s]*)\](?:\((?P<lo>[^,()]+),(?P<hi>[^,()]+)\)|<(?P<below>\d+))?""", re.X)
NUMPY = {"bool": "bool", "bf16": "float32", "f16": "float16", "f32": "float32", "f64": "float64", "c64": "complex64",
         "c128": "complex128", **{f"i{n}": f"int{n}" for n in (8, 16, 32, 64)}, **{f"u{n}": f"uint{n}" for n in (8, 16,
         32, 64)}}


def draw(match, seed):
    """The numbers a spec stands for. Only Generator.random and plain arithmetic, so every numpy gives the same."""
    dims = tuple(int(d) for d in match["dims"].split(",") if d.strip())
    unit = np.random.Generator(np.random.PCG64(seed)).random
    kind = match["dtype"]
    if kind == "bool":
        return np.asarray(unit(dims) < 0.5)
    lo, hi = match["lo"], match["hi"]
    if kind[0] in "iu":
        lo = int(lo) if lo else 0 if match["below"] or kind[0] == "u" else -5
        hi = int(hi) if hi else int(match["below"]) if match["below"] else 10 if kind[0] == "u" else 6
        return np.asarray(lo + np.floor(unit(dims) * (hi - lo))).astype(NUMPY[kind])
    lo, hi = float(lo or -2), float(hi or 2)
    values = lo + unit(dims) * (hi - lo)
    if kind[0] == "c":
        values = values + 1j * (lo + unit(dims) * (hi - lo))
    values = np.asarray(values).astype(NUMPY[kind])
    if kind == "bf16":                     # exactly representable, so that the conversion to bfloat16 cannot round
        values = (values.view(np.uint32) & np.uint32(0xFFFF0000)).view(np.float32)
    return values


def build(value, name, key, scope):
    """The input a spec describes: a Tensor, a Parameter ("param:"), an array ("np:"), or the value itself."""
    if isinstance(value, (list, tuple)):
        return type(value)(build(v, f"{name}.{i}", key, scope) for i, v in enumerate(value))
    match = SPEC.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        return value
    array = draw(match, zlib.crc32(f"{key}|{name}".encode()))
    if match["how"] == "np:":
        return array
    tensor = scope["Tensor"](array)
    if match["dtype"] == "bf16":
        tensor = tensor.astype(scope["ms"].bfloat16)
    return scope["Parameter"](tensor, name=name) if match["how"] == "param:" else tensor


# ------------------------------------------------------------------------------------------------------------------ run


def filler(scope):
    """fill(net): give every parameter of a cell fixed values, by position and shape; variances become positive."""
    def fill(net):
        for i, p in enumerate(net.get_parameters()):
            span = "(0.5,2)" if p.name.endswith("variance") else "(-1,1)"
            spec = SPEC.fullmatch(f"f32{list(p.shape)}".replace(" ", "") + span)
            p.set_data(scope["Tensor"](draw(spec, i)).astype(p.dtype))
        return net
    return fill


def scope_of(module):
    """The names a case may use, taken from the package called `module` (mindspore or spore)."""
    ms = importlib.import_module(module)
    scope = {"ms": ms, "np": np}
    for name in ("Tensor", "Parameter"):
        if hasattr(ms, name):
            scope[name] = getattr(ms, name)
    for name, path in (("ops", "ops"), ("nn", "nn"), ("mint", "mint"), ("P", "ops.operations"), ("F", "ops.functional"),
                       ("C", "ops.composite"), ("initializer", "common.initializer")):
        try:
            scope[name] = importlib.import_module(f"{module}.{path}")
        except ImportError as error:       # the cases that use it then fail with a NameError
            print(f"{module}.{path} cannot be imported: {error}", file=sys.stderr)
    scope["fill"] = filler(scope)
    if module == "mindspore":
        ms.set_context(mode=ms.PYNATIVE_MODE, device_target="CPU")
    return scope


def start(scope):
    """Call once in the process that runs cases: errors come at the call that causes them, random numbers are seeded."""
    ms = scope["ms"]
    if ms.__name__ == "mindspore":
        ms.runtime.launch_blocking()
    ms.set_seed(7)
    np.random.seed(7)


def evaluate(text, env, label):
    """Run statements; the value is that of the last one if it is an expression."""
    name = f"<{label}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)      # lets inspect.getsource see the text
    body = ast.parse(text, name).body
    last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
    exec(compile(ast.Module(body, []), name, "exec"), env)
    return None if last is None else eval(compile(ast.Expression(last.value), name, "eval"), env)


def plain(value, scope):
    """A result as data: nested lists of leaves; a leaf is a dict with "t" (its sort) and, for tensors, an array."""
    if isinstance(value, dict):
        return [[plain(str(k), scope), plain(v, scope)] for k, v in value.items()]
    if isinstance(value, (list, tuple)) and not hasattr(value, "asnumpy"):
        return [plain(v, scope) for v in value]
    if hasattr(value, "asnumpy") and hasattr(value, "dtype"):
        dtype = str(value.dtype)
        if dtype == "BFloat16":
            array = np.ascontiguousarray(value.astype(scope["ms"].float32).asnumpy())
            array = (array.view(np.uint32) >> np.uint32(16)).astype(np.uint16)
        else:
            array = np.array(value.asnumpy())
        return {"t": "tensor", "d": dtype, "a": array.reshape(value.shape)}
    if isinstance(value, np.ndarray):
        return {"t": "array", "d": str(value.dtype), "a": value}
    if isinstance(value, np.generic):
        return {"t": "array", "d": str(value.dtype), "a": np.asarray(value)}
    if isinstance(value, str):
        return {"t": "str", "v": re.sub(r"<[\w.]*?(\w+) object at 0x[0-9a-f]+>", r"<\1 object>", value)}
    if value is None or isinstance(value, (bool, int)):
        return {"t": type(value).__name__, "v": value}
    if isinstance(value, float):
        return {"t": "float", "v": value.hex()}
    if isinstance(value, complex):
        return {"t": "complex", "v": [value.real.hex(), value.imag.hex()]}
    return {"t": "text", "v": str(value)}                                         # dtypes and other small objects


def summary(tree):
    """What can be compared of a random result: dtype, shape, how many are not finite, extremes, mean, spread."""
    if isinstance(tree, list):
        return [summary(t) for t in tree]
    if "a" not in tree:
        return {"t": tree["t"]}
    values, _ = widen(tree)
    values = values.astype(np.float64).ravel()
    facts = [float(f) for f in (values.min(), values.max(), values.mean(), values.std())] if values.size else None
    return {"t": tree["t"], "d": tree["d"], "s": list(tree["a"].shape), "odd": int(np.sum(~np.isfinite(values))),
        "facts": facts}


def run(case, scope):
    """The result of a case: {"out": ..., "grad": ...} or {"error": type, "message": text}, and a sum of the inputs."""
    result = {}
    leaf = summary if case.kind == "random" else lambda value: value

    def environment():
        module = types.ModuleType("oracle_case")         # jit looks names up in the module of a function
        sys.modules[module.__name__] = module
        env = module.__dict__
        env.update(scope)
        env.update({n: build(v, n, case.key, scope) for n, v in case.inputs.items()})
        if case.setup:
            evaluate(case.setup, env, case.id + " setup")
        return env

    check = 0
    for name, value in case.inputs.items():
        if isinstance(value, str) and SPEC.fullmatch(value):
            check = zlib.crc32(draw(SPEC.fullmatch(value), zlib.crc32(f"{case.key}|{name}".encode())).tobytes(), check)
    result["inputs"] = check
    try:
        env = environment()
        result["out"] = leaf(plain(evaluate(case.code, env, case.id), scope))
    except Exception as error:             # whatever it is, its type is the result
        return {**result, "error": type(error).__name__, "message": str(error)}
    if case.grad:
        env = environment()

        def function(*values):
            env.update(zip(case.grad, values))
            return evaluate(case.code, env, case.id)
        try:
            positions = tuple(range(len(case.grad))) if len(case.grad) > 1 else 0
            result["grad"] = plain(scope["ms"].grad(function, positions)(*(env[n] for n in case.grad)), scope)
        except Exception as error:
            return {**result, "grad_error": type(error).__name__, "message": str(error)}
    return result


def run_apart(cases, module, on_result):
    """Run cases in forked processes and pass each result on. A process ends after its first exception, so that what a
    failed call leaves behind never reaches the next case; a crash costs one case."""
    scope = scope_of(module)
    todo = list(cases)
    while todo:
        reader, writer = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(reader)
            try:
                start(scope)
                with os.fdopen(writer, "wb") as out:
                    for case in todo:
                        result = run(case, scope)
                        pickle.dump(result, out)
                        out.flush()
                        if "message" in result:
                            break
            finally:
                os._exit(0)
        os.close(writer)
        with os.fdopen(reader, "rb") as stream:
            n_done = 0
            while True:
                try:
                    result = pickle.load(stream)
                except EOFError:
                    break
                on_result(todo[n_done], result)
                n_done += 1
                if "message" in result:
                    break
        _, status = os.waitpid(pid, 0)
        failed_last = n_done > 0 and "message" in result
        if n_done < len(todo) and not failed_last:
            on_result(todo[n_done], {"error": "Crash", "message": f"the process ended with status {status}"})
            n_done += 1
        del todo[:n_done]


# ---------------------------------------------------------------------------------------------------------------- store


def save(file, results):
    """Write data/<file>.npz: "index" is JSON (id to result), "blob" the bytes of all arrays, one after the other."""
    blob = io.BytesIO()

    def pack(tree):
        if isinstance(tree, list):
            return [pack(t) for t in tree]
        if "a" not in tree:
            return tree
        array = np.ascontiguousarray(tree["a"])
        leaf = {"t": tree["t"], "d": tree["d"], "n": array.dtype.str, "s": list(tree["a"].shape), "o": blob.tell()}
        blob.write(array.tobytes())
        return leaf
    index = {}
    for name, result in results.items():
        entry = {k: result[k] for k in ("inputs", "error") if k in result}
        entry.update({k: pack(result[k]) for k in ("out", "grad") if k in result})
        index[name] = entry
    text = json.dumps(index, separators=(",", ":")).encode()
    DATA.mkdir(exist_ok=True)
    np.savez_compressed(DATA / f"{file}.npz", index=np.frombuffer(text, np.uint8), blob=np.frombuffer(blob.getvalue(),
        np.uint8))


def load(file):
    """The recorded results of one case file: {id: result}."""
    path = DATA / f"{file}.npz"
    if not path.exists():
        return {}
    with np.load(path) as stored:
        index, blob = json.loads(stored["index"].tobytes()), stored["blob"].tobytes()

    def unpack(tree):
        if isinstance(tree, list):
            return [unpack(t) for t in tree]
        if "o" not in tree:
            return tree
        count = int(np.prod(tree["s"], dtype=np.int64))
        array = np.frombuffer(blob, np.dtype(tree["n"]), count, tree["o"]).reshape(tree["s"])
        return {"t": tree["t"], "d": tree["d"], "a": array}
    return {name: {k: unpack(v) if k in ("out", "grad") else v for k, v in entry.items()} for name,
        entry in index.items()}


# -------------------------------------------------------------------------------------------------------------- compare

TOLERANCE = {"float16": (1e-3, 1e-3), "bfloat16": (8e-3, 8e-3), "float32": (1e-5, 1e-6), "float64": (1e-10, 1e-12),
             "complex64": (1e-5, 1e-6), "complex128": (1e-10, 1e-12)}


def widen(leaf):
    """The array of a leaf as numbers that can be subtracted, and the name of its tolerance."""
    array = leaf["a"]
    if leaf["d"] == "BFloat16":
        return (array.astype(np.uint32) << np.uint32(16)).view(np.float32).astype(np.float64), "bfloat16"
    name = array.dtype.name
    if array.dtype.kind == "f":
        array = array.astype(np.float64)
    return array, name


def compare_random(want, got, case):
    """Random results: the same dtype and shape, finite, inside the bounds, mean and spread that could be the same."""
    for key, name in (("d", "dtype"), ("s", "shape")):
        if want.get(key) != got.get(key):
            return f"has {name} {got.get(key)}, wanted {want.get(key)}"
    if want["t"] not in ("tensor", "array") or not want["facts"]:
        return None
    if got["odd"] > want["odd"]:
        return f"has {got['odd']} values that are not finite"
    (_, _, mean, spread), (low, high, got_mean, got_spread) = want["facts"], got["facts"]
    if case.bounds is not None and (low < case.bounds[0] or high > case.bounds[1]):
        return f"reaches from {low} to {high}, wanted inside {case.bounds}"
    size = int(np.prod(want["s"], dtype=np.int64))
    if size >= 1000 or size > 1 and spread == 0:
        if abs(mean - got_mean) > 8 * spread / np.sqrt(size) + 1e-12:
            return f"has mean {got_mean:.6g}, wanted about {mean:.6g}"
        if abs(got_spread - spread) > 0.2 * spread + 1e-12:
            return f"has standard deviation {got_spread:.6g}, wanted about {spread:.6g}"
    return None


def compare_leaf(want, got, case):
    if want["t"] != got["t"]:
        return f"is a {got['t']}, wanted a {want['t']}"
    if case.kind == "random":
        return compare_random(want, got, case)
    if "a" not in want:
        if want["t"] == "float":
            a, b = float.fromhex(want["v"]), float.fromhex(got["v"])
            rtol, atol = TOLERANCE["float32"]
            same = np.isclose(b, a, rtol=case.rtol or rtol, atol=case.atol or atol, equal_nan=True)
        else:
            same = want["v"] == got["v"]
        return None if same else f"is {got['v']!r}, wanted {want['v']!r}"
    if want["d"] != got["d"]:
        return f"has dtype {got['d']}, wanted {want['d']}"
    if want["a"].shape != got["a"].shape:
        return f"has shape {got['a'].shape}, wanted {want['a'].shape}"
    a, name = widen(want)
    b, _ = widen(got)
    rtol, atol = TOLERANCE.get(name, (0, 0))
    if name in TOLERANCE:
        rtol, atol = rtol if case.rtol is None else case.rtol, atol if case.atol is None else case.atol
        with np.errstate(invalid="ignore"):
            same = np.isclose(b, a, rtol=rtol, atol=atol, equal_nan=True)
    else:
        same = a == b
    if np.all(same):
        return None
    at = tuple(int(i) for i in np.argwhere(~np.atleast_1d(same))[0])
    return (f"differs in {int(np.sum(~np.asarray(same)))} of {a.size} values; at {at} it is {np.atleast_1d(b)[at]!r}, "
            f"wanted {np.atleast_1d(a)[at]!r} (rtol {rtol}, atol {atol})")


def compare_tree(want, got, case, where):
    if isinstance(want, list) != isinstance(got, list):
        return f"{where} is {'a sequence' if isinstance(got, list) else 'a single value'}, wanted the other"
    if not isinstance(want, list):
        fault = compare_leaf(want, got, case)
        return fault and f"{where} {fault}"
    if len(want) != len(got):
        return f"{where} has {len(got)} elements, wanted {len(want)}"
    for i, (a, b) in enumerate(zip(want, got)):
        fault = compare_tree(a, b, case, f"{where}[{i}]")
        if fault:
            return fault
    return None


def one_line(message):
    """The first line of an exception's message that says something."""
    return next((line.strip()[:200] for line in message.splitlines() if line.strip(" -")), "no message")


ANSWER = "gave a result"


def compare(want, got, case):
    """None if `got` is what was recorded, else one line that says what differs."""
    if want["inputs"] != got["inputs"]:
        return "the inputs differ from those recorded: the case or the generator changed, record it again"
    if "error" in want or "error" in got:
        if want.get("error") == got.get("error"):
            return None
        text = one_line(got["message"]) if "error" in got else ""
        found = f"raised {got['error']}: {text}" if "error" in got else ANSWER
        return f"{found}, wanted {'a ' + want['error'] if 'error' in want else 'a result'}"
    fault = compare_tree(want["out"], got["out"], case, "result")
    if fault is None and "grad" in want:
        if "grad" not in got:
            return f"gradient raised {got['grad_error']}: {one_line(got['message'])}"
        fault = compare_tree(want["grad"], got["grad"], case, "gradient")
    return fault


# -------------------------------------------------------------------------------------------------------------- pending


def listed(path):
    """The ids and api names a list file holds, with the text behind the "#"; empty if there is no such file."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    pairs = (line.partition("#") for line in lines)
    return {name.strip(): remark.strip() for name, _, remark in pairs if name.strip()}


def pending():
    """Ids and api names listed as not working yet."""
    return listed(PENDING)


def different():
    """Ids and api names where spore differs from MindSpore on purpose; each must say why."""
    names = listed(DIFFERENT)
    for name, reason in names.items():
        if not reason:
            raise ValueError(f"{DIFFERENT.name}: {name} has no reason behind a #")
    return {name: reason for name, reason in names.items() if ": " not in name}


def answered():
    """The groups "api: pattern" of different.txt as {(api, pattern): reason}. In a group, spore may give a result where
    MindSpore raises an error; nothing else may differ."""
    pairs = ((name.partition(": "), reason) for name, reason in listed(DIFFERENT).items() if ": " in name)
    return {(api, pattern.strip()): reason for (api, _, pattern), reason in pairs}


def group_of(case, groups):
    """The group a case belongs to, or None. The pattern covers the code and the inputs: "x + y; x=u16[3] y=f32[3]"."""
    text = f"{case.code}; " + " ".join(f"{name}={value}" for name, value in case.inputs.items())
    return next((g for g in groups if g[0] == case.api and fnmatch.fnmatchcase(text, g[1])), None)


def is_meant(case, fault, names, groups):
    """Whether a fault is one of the differences of different.txt."""
    return case.id in names or case.api in names or fault.startswith(ANSWER) and group_of(case, groups) is not None

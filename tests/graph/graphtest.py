# SPDX-License-Identifier: Apache-2.0
"""Core of the graph-mode yardstick: programs, how one is run, how results are stored and compared.

A program is a function without arguments in a file under programs/ that makes compiled functions or Cells, calls them
and returns what they gave. The same code runs under MindSpore, to record the answer, and under spore, to check it.

Each run has a process of its own: a server process imports the package and all programs, computes nothing itself, and
forks one child a request. So a crash, an endless loop or a failed compilation costs one program, and no program sees
what another left behind (contexts, caches, seeds, Parameter names).
"""
import contextlib
import ctypes
import functools
import importlib
import json
import os
import pathlib
import re
import select
import signal
import subprocess
import sys
import tempfile
import time

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
PROGRAMS = HERE / "programs"
RECORDED = HERE / "recorded.json"
PENDING = HERE / "pending.txt"
DIFFERENT = HERE / "different.txt"
SECONDS = 60                    # limit of one program
MESSAGE_WORDS = 200             # characters kept of a message

# ------------------------------------------------------------------------------------------------------------- programs

registry = {}


class Program:
    """One program: its function, the file it stands in, and how its result is compared."""

    def __init__(self, function, rtol=None, atol=None, stdout=True):
        self.function, self.name, self.doc = function, function.__name__, function.__doc__
        self.file = pathlib.Path(function.__code__.co_filename).stem
        self.rtol, self.atol, self.stdout = rtol, atol, stdout


def program(function=None, **options):
    """Register a program: `@program`, or `@program(rtol=1e-3)`. Options: rtol and atol of floats, and stdout=False when
    what is printed is not part of the result."""
    if function is None:
        return functools.partial(program, **options)
    if function.__name__ in registry:
        raise ValueError(f"two programs are called {function.__name__}")
    registry[function.__name__] = Program(function, **options)
    return function


def load_programs():
    """Import all files of programs/; the package to test must be importable as mindspore."""
    for folder in (str(HERE / "models"), str(PROGRAMS), str(HERE)):
        if folder not in sys.path:
            sys.path.insert(0, folder)
    for path in sorted(PROGRAMS.glob("*.py")):
        importlib.import_module(path.stem)
    return registry


class Reason(str):
    """Why a program may differ; ``answer`` is the right result where that is neither MindSpore's nor plain Python's."""
    answer = None


def names_in(path):
    """{name: Reason} of a list file: "name  # reason" lines, or "name = result as JSON  # reason"."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    found = {}
    for line in lines:
        name, _, reason = line.partition("#")
        name, _, answer = name.partition("=")
        if name.strip():
            found[name.strip()] = reason = Reason(reason.strip())
            reason.answer = json.loads(answer) if answer.strip() else None
    return found


# -------------------------------------------------------------------------------------------------------------- results


def number(value):
    """A numpy number for JSON, in the fewest digits that give it back."""
    if isinstance(value, np.floating):
        return float(str(value)) if value.itemsize < 8 else float(value)
    if isinstance(value, np.complexfloating):
        return [number(value.real), number(value.imag)]
    return value.item()


def numbers(array):
    return [number(v) for v in np.asarray(array).reshape(-1)]


def plain(value):
    """A result as JSON. Plain lists of JSON never appear: a container says what it is."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if hasattr(value, "asnumpy") and hasattr(value, "dtype"):
        dtype = str(value.dtype)
        array = value.astype(sys.modules["mindspore"].float32).asnumpy() if dtype == "BFloat16" else value.asnumpy()
        return {"tensor": dtype, "shape": list(value.shape), "values": numbers(array)}
    if isinstance(value, np.ndarray):
        return {"array": str(value.dtype), "shape": list(value.shape), "values": numbers(value)}
    if isinstance(value, np.generic):
        return {"array": str(value.dtype), "shape": [], "values": numbers(value)}
    if isinstance(value, (int, float)):
        return value
    if isinstance(value, dict):
        return {"dict": [[plain(k), plain(v)] for k, v in value.items()]}
    if isinstance(value, (list, tuple)):
        return {"list" if isinstance(value, list) else "tuple": [plain(v) for v in value]}
    return {"text": re.sub(r" at 0x[0-9a-f]+", "", str(value))}


def first_line(error):
    """The first line of an exception's message that says something."""
    lines = [line.strip() for line in str(error).splitlines()]
    line = next((line for line in lines if line.strip("-")), "")
    line = re.sub(r"/\S*/(\w+\.py)", r"\1", line)             # where the sources lie, and
    return re.sub(r"0x[0-9a-f]+|(?<=::)\d+", "0x", line)[:MESSAGE_WORDS]     # addresses, differ from run to run


def raised(function, *args, **kwargs):
    """For programs: what a call raises, as a result of its own; the value if it raises nothing."""
    try:
        return function(*args, **kwargs)
    except Exception as error:              # whatever it is, its type is the result
        return {"raises": type(error).__name__, "message": first_line(error)}


@contextlib.contextmanager
def captured_stdout():
    """Everything written to file descriptor 1, by Python or below it: yields a function that gives the text so far."""
    flush = ctypes.CDLL(None).fflush

    def text():
        sys.stdout.flush()
        flush(None)
        file.seek(0)
        return file.read().decode("utf-8", "replace")
    with tempfile.TemporaryFile() as file:
        sys.stdout.flush()
        kept = os.dup(1)
        os.dup2(file.fileno(), 1)
        try:
            yield text
        finally:
            sys.stdout.flush()
            flush(None)
            os.dup2(kept, 1)
            os.close(kept)


def execute(one):
    """Run a program here: {"out": ..} or {"error": type, "message": ..}, and "stdout" if something was printed."""
    ms = sys.modules["mindspore"]
    ms.set_seed(7)
    np.random.seed(7)
    with captured_stdout() as text:
        try:
            result = {"out": plain(one.function())}
        except Exception as error:          # whatever it is, its type is the result
            result = {"error": type(error).__name__, "message": first_line(error)}
        with contextlib.suppress(AttributeError):
            ms.runtime.synchronize()
        if ms.__name__ == "mindspore" and text():
            time.sleep(0.5)                 # MindSpore prints in threads of its own, and nothing waits for them
        printed = text()
    if printed and one.stdout:
        result["stdout"] = printed
    return result


# --------------------------------------------------------------------------------------------------------------- compare

TOLERANCE = {"Float16": (2e-3, 2e-3), "BFloat16": (1e-2, 1e-2), "Float32": (1e-5, 1e-6), "Float64": (1e-9, 1e-11)}


def close(a, b, rtol, atol):
    if isinstance(a, list):
        return all(close(x, y, rtol, atol) for x, y in zip(a, b))
    return bool(np.isclose(b, a, rtol=rtol, atol=atol, equal_nan=True))


def difference(want, got, one, where="result"):
    """What differs between two results as JSON, in words; None if nothing."""
    if isinstance(want, dict) and isinstance(got, dict):
        (kind, first), (found, other) = next(iter(want.items())), next(iter(got.items()))
        if kind != found:
            return f"{where} is a {found}, wanted a {kind}"
        if kind in ("tensor", "array"):
            if (first, want["shape"]) != (other, got["shape"]):
                return f"{where} is {other}{got['shape']}, wanted {first}{want['shape']}"
            rtol, atol = TOLERANCE.get(first, (0, 0) if "loat" not in first else (1e-5, 1e-6))
            rtol, atol = one.rtol if one.rtol is not None else rtol, one.atol if one.atol is not None else atol
            if not close(want["values"], got["values"], rtol, atol):
                return f"{where} holds {got['values']}, wanted {want['values']}"
            return None
        if kind in ("list", "tuple", "dict"):
            if len(first) != len(other):
                return f"{where} has {len(other)} elements, wanted {len(first)}"
            if kind == "dict" and [key for key, _ in first] == ["raises", "message"]:
                return difference(first[0][1], other[0][1], one, f"exception of {where}")
            pairs = [(a, b) for p, q in zip(first, other) for a, b in zip(p, q)] if kind == "dict" else zip(first, other)
            return next((d for i, (a, b) in enumerate(pairs) if (d := difference(a, b, one, f"{where}[{i}]"))), None)
        return None if first == other else f"{where} is {other!r}, wanted {first!r}"
    if type(want) is not type(got):
        return f"{where} is {got!r}, wanted {want!r}"
    if isinstance(want, float):
        rtol, atol = one.rtol if one.rtol is not None else 1e-6, one.atol if one.atol is not None else 1e-7
        return None if close(want, got, rtol, atol) else f"{where} is {got!r}, wanted {want!r}"
    return None if want == got else f"{where} is {got!r}, wanted {want!r}"


def said(result):
    return result.get("crash") or f"{result.get('error')}: {result.get('message')}"


def compare(want, got, one):
    """How the result of a program differs from the recorded one, in words; None if it does not. Of an exception the type
    counts; of the standard output the words."""
    if "out" not in want:
        if "out" in got:
            return f"gives a result, wanted {said(want)}"
        same = want.get("error") == got.get("error") and "crash" not in got
        return None if same else f"{said(got)}; wanted {said(want)}"
    if "out" not in got:
        return said(got)
    fault = difference(want["out"], got["out"], one)
    if fault is None and one.stdout and want.get("stdout", "").split() != got.get("stdout", "").split():
        return f"prints {got.get('stdout', '')!r}, wanted {want.get('stdout', '')!r}"
    return fault


# ---------------------------------------------------------------------------------------------------------------- server


def without_jit(ms):
    """Make the package run everything eagerly: what plain Python gives, to compare compiled programs with."""
    def jit(function=None, *_, **__):
        return (lambda f: f) if function is None else function
    ms.jit = jit
    set_context = ms.set_context

    def eager_context(**options):
        options.pop("mode", None)
        if options:
            set_context(**options)
    ms.set_context = eager_context
    sys.modules[ms.__name__ + ".context"].set_context = eager_context


def forked(call):
    """What call() returns, as JSON, from a forked child within the time limit; {"crash": ...} if it does not return."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reader)
        try:
            with os.fdopen(writer, "w") as out:
                json.dump(call(), out)
        finally:
            os._exit(0)
    os.close(writer)
    data, end = b"", time.monotonic() + SECONDS
    while True:
        ready, _, _ = select.select([reader], [], [], max(0, end - time.monotonic()))
        part = os.read(reader, 1 << 16) if ready else b""
        data += part
        if not part:
            break
    os.close(reader)
    if not ready:
        os.kill(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    if not ready:
        return {"crash": f"runs longer than {SECONDS} s"}
    try:
        return json.loads(data)
    except ValueError:
        return {"crash": signal.Signals(os.WTERMSIG(status)).name if os.WIFSIGNALED(status) else f"status {status}"}


def run_one(name, mode):
    if mode == "eager":
        without_jit(sys.modules["mindspore"])
    return execute(registry[name])


def import_package(module):
    """Import the package to test under the name mindspore, and give it."""
    if module == "spore":
        import spore._alias
        spore._alias.as_mindspore()
    import mindspore as ms
    if module == "mindspore":
        ms.set_device("CPU")
    ms.set_context(mode=ms.PYNATIVE_MODE)
    return ms


def check_texts():
    """Every graph that is compiled from here on must survive its text: printed, read, printed again."""
    from spore import _core
    compile_function = _core.program_create

    def checked(function, *options):
        first = _core.graph_text(_core.graph_parse(_core.graph_text(function)))
        assert _core.graph_text(_core.graph_parse(first)) == first, "the text of a graph does not read back to the same graph"
        return compile_function(function, *options)
    _core.program_create = checked


def serve(module):
    """Answer requests on standard input, "mode name" a line, with a line of JSON each."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)                           # what the package prints while it is imported is no answer
    import_package(module)
    if module == "spore":
        check_texts()
    load_programs()
    print(json.dumps({one.name: [one.file, one.rtol, one.atol, one.stdout] for one in registry.values()}), file=answers,
          flush=True)
    for line in sys.stdin:
        mode, name = line.split()
        print(json.dumps(forked(functools.partial(run_one, name, mode))), file=answers, flush=True)


class Found:
    """What a client knows of a program."""

    def __init__(self, name, facts):
        self.name = name
        self.file, self.rtol, self.atol, self.stdout = facts


class Runner:
    """Runs programs with a package ("spore" or "mindspore"). `programs` is {name: Found}."""

    def __init__(self, module="spore", quiet=True):
        env = dict(os.environ, GLOG_v="3", PYTHONDONTWRITEBYTECODE="1")
        self.process = subprocess.Popen([sys.executable, str(HERE / "server.py"), module], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL if quiet else None, text=True, env=env)
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"the server of {module} does not start; run with quiet=False to see why")
        self.programs = {name: Found(name, facts) for name, facts in json.loads(line).items()}

    def run(self, name, mode="graph"):
        print(mode, name, file=self.process.stdin, flush=True)
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"the server ended while it ran {name}")
        return json.loads(line)

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def recorded():
    """{name: result} as MindSpore gave them."""
    return json.loads(RECORDED.read_text(encoding="utf-8")) if RECORDED.exists() else {}


def verdict(runner, name, want, different, mode="graph"):
    """("equal" | "better" | "different" | "error", words). A program of different.txt may also do what plain Python
    does, which is what the same package gives with compilation switched off."""
    one = runner.programs[name]
    got = runner.run(name, mode)
    fault = compare(want, got, one)
    if fault is None:
        return "equal", ""
    if name in different and "crash" not in got:
        plain_python = different[name].answer or runner.run(name, "eager")
        if compare(plain_python, got, one) is None:
            return "better", different[name]
        fault = f"{compare(plain_python, got, one)} (plain Python)"
    return "different" if "out" in got else "error", fault

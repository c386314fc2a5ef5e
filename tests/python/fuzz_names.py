# SPDX-License-Identifier: Apache-2.0
"""Calls every public name with random odd arguments: fuzz_names.py (ops | tensor | nn | mint) SEED CALLS_PER_NAME

Any Python exception is fine; a crash, a hang or an internal error is not. Run by test_bad_input.py in a process of its own.
"""
import faulthandler
import inspect
import random
import signal
import sys
import traceback
import warnings

import numpy as np

import spore as ms
from spore import Parameter, Tensor, nn, ops

faulthandler.enable()
warnings.simplefilter("ignore")
np.seterr(all="ignore")
ms.runtime.set_memory(max_size="1GB")

# These wait for input, write files, or end the process on purpose.
SKIP = {"Print", "print_", "print_detail", "set_dump", "TensorDump", "tensordump", "Custom", "custom_info_register", "breakpoint",
        "save_checkpoint", "load_checkpoint", "tofile", "dump"}
DTYPES = [ms.float32, ms.float32, ms.float32, ms.float16, ms.bfloat16, ms.float64, ms.int32, ms.int64, ms.int8, ms.uint8, ms.bool_,
          ms.complex64, ms.uint16]
SHAPES = [(), (0,), (1,), (2,), (3,), (2, 3), (3, 2), (0, 3), (2, 0, 2), (1, 2, 3), (2, 2, 2), (1, 1, 4, 4), (2, 3, 4, 5), (1, 2, 3, 4, 5),
          (1,) * 8, (1, 2, 1, 2, 1, 2, 1)]
NUMBERS = [0, 1, -1, 2, 3, 7, -8, 100, 2 ** 31, -2 ** 31, 2 ** 40, 2 ** 63 - 1, -2 ** 63, 2 ** 64, 0.0, 0.5, -1.5, 1e30, float("nan"),
           float("inf"), -float("inf"), True, False]
WORDS = ["", "mean", "none", "sum", "same", "valid", "pad", "nearest", "bilinear", "float32", "ij", "\0", "é" * 40, "x" * 3000]


class Odd:
    """Objects that lie about themselves."""

    def __index__(self):
        raise ArithmeticError("no index")

    def __len__(self):
        return -1

    def __iter__(self):
        raise LookupError("no items")

    def __bool__(self):
        raise ZeroDivisionError("no truth")


def tensor(rng):
    shape = rng.choice(SHAPES)
    array = np.array([rng.choice([-3, -1, 0, 0, 1, 2, 5]) for _ in range(int(np.prod(shape)))], np.float64).reshape(shape)
    if rng.random() < 0.2:
        array = array * rng.choice([np.nan, np.inf, 1e30, 0.1])
    dtype = rng.choice(DTYPES)
    made = Tensor(np.nan_to_num(array, nan=1, posinf=3, neginf=-3).clip(-100, 100) if dtype in (ms.int8, ms.uint8, ms.int32, ms.int64, ms.uint16)
                  else array, dtype)
    if rng.random() < 0.15 and len(shape) > 1:
        made = made.swapaxes(0, 1)
    if rng.random() < 0.1:
        made = Parameter(made, name="p")
    return made


def value(rng, depth=0):
    kind = rng.random()
    if kind < 0.5:
        return tensor(rng)
    if kind < 0.66:
        return rng.choice(NUMBERS)
    if kind < 0.82 and depth < 2:
        kind = rng.random()
        n = rng.choice([0, 1, 2, 2, 3, 4, 9])
        items = [rng.choice([0, 1, 2, 3, -1, 4]) for _ in range(n)] if kind < 0.5 else [value(rng, depth + 1) for _ in range(min(n, 4))]
        return items if rng.random() < 0.3 else tuple(items)
    return rng.choice([None, rng.choice(WORDS), rng.choice(DTYPES), Odd(), object(), {}, {"a": 1}, b"bytes", 1j, np.ones((2, 2)), np.float32(1),
                       slice(None), Ellipsis, int, ops.relu, lambda *a: a[0] if a else None, range(3), 10 ** 30, nn.ReLU()])


def arguments(rng, function):
    """Often as many as the signature says, sometimes by its names, sometimes not."""
    try:
        names = [p for p in inspect.signature(function).parameters.values() if p.kind in (p.POSITIONAL_OR_KEYWORD, p.POSITIONAL_ONLY)]
    except (TypeError, ValueError):
        names = []
    needed = sum(p.default is p.empty for p in names)
    n = rng.randint(max(0, needed - 1), max(needed + 1, min(len(names), needed + 2))) if names else rng.randint(0, 4)
    given = [tensor(rng) if i == 0 and rng.random() < 0.7 else value(rng) for i in range(n)]
    keywords = {}
    for p in names[n:]:
        if rng.random() < 0.3:
            keywords[p.name] = value(rng)
    if rng.random() < 0.03:
        keywords["no_such_keyword"] = 1
    return given, keywords


class TooLong(BaseException):
    pass


def stop(number, frame):
    raise TooLong(" < ".join(f"{f.name}:{f.lineno}" for f in reversed(traceback.extract_stack(frame)[-4:])))


def attempt(title, function, rng):
    given, keywords = arguments(rng, function)
    print(title, file=log, flush=True)
    try:
        result = function(*given, **keywords)
        if callable(result) and not isinstance(result, Tensor) and inspect.isclass(function):
            more, _ = arguments(rng, getattr(result, "construct", result))
            result = result(*more)
        if isinstance(result, Tensor) and result.size < 1000:
            result.asnumpy()
    except SystemError:
        raise  # an exception was set and a value returned, or the other way round
    except Exception as error:
        str(error)
        if rng.random() < 0.3 and given and isinstance(given[0], Tensor) and not inspect.isclass(function):
            try:
                ms.grad(lambda x: function(x, *given[1:], **keywords))(given[0])
            except SystemError:
                raise
            except Exception:
                pass
    else:
        if rng.random() < 0.5 and given and isinstance(given[0], Tensor) and not inspect.isclass(function):
            try:
                ms.grad(lambda x: function(x, *given[1:], **keywords))(given[0])
            except SystemError:
                raise
            except Exception:
                pass


def names_of(place):
    if place == "tensor":
        return [(f"Tensor.{n}", getattr(Tensor, n)) for n in sorted(dir(Tensor)) if n not in SKIP and callable(getattr(Tensor, n))
                and (not n.startswith("_") or n.startswith("__"))
                and n not in ("__class__", "__init_subclass__", "__subclasshook__", "__getattribute__", "__delattr__", "__setattr__")]
    module = {"ops": ops, "nn": nn, "mint": ms.mint}[place]
    found = []
    for n in sorted(dir(module)):
        if n.startswith("_") or n in SKIP:
            continue
        item = getattr(module, n)
        if callable(item):
            found.append((f"{place}.{n}", item))
    return found


if __name__ == "__main__":
    log = open(sys.argv[4], "w") if len(sys.argv) > 4 else sys.stderr
    calls, slow = 0, []
    signal.signal(signal.SIGALRM, stop)
    for title, function in names_of(sys.argv[1]):
        rng = random.Random(f"{title} {sys.argv[2]}")
        for turn in range(int(sys.argv[3])):
            faulthandler.dump_traceback_later(60, exit=True)
            signal.alarm(10)
            try:
                attempt(f"{title} {turn}", function, rng)
            except TooLong as error:
                slow.append(f"{title} {turn}: {error}")
            finally:
                signal.alarm(0)
            calls += 1
    faulthandler.cancel_dump_traceback_later()
    total = (Tensor(np.ones(1000, np.float32)) * 2).sum()
    for line in slow:
        print("too long:", line)
    print(f"{calls} calls, sum {float(total)}")
    sys.exit(1 if slow else 0)

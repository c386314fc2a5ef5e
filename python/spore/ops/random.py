# SPDX-License-Identifier: Apache-2.0
"""Random numbers. Operators compute them from a seed and an offset that a Generator hands out; a seed of one's own makes
a stream of its own, which set_seed and manual_seed start again."""
import builtins

from .._core import Tensor, apply
from ..common import dtype as mstype
from ..common import generator as sources
from ._make import named
from .array import int_of, ints_of, tensor_of

__all__ = [
    "bernoulli", "choice_with_mask", "gamma", "laplace", "multinomial", "multinomial_with_replacement", "normal",
    "poisson",
    "rand", "rand_like", "randint", "randint_like", "randn", "randn_like", "random_categorical", "random_gamma",
    "random_poisson", "randperm", "shuffle", "standard_laplace", "standard_normal", "uniform",
    "uniform_candidate_sampler"]

_streams = {}
_streams_of = None


def _stream(name, seed):
    """The generator of calls of `name` with a seed of their own."""
    global _streams_of
    if isinstance(seed, builtins.bool) or not isinstance(seed, int) or seed < 0:
        raise (TypeError if not isinstance(seed, int)
               else ValueError)(f"{name}: seed must be an int that is not negative, but got {seed!r}")
    start = sources.default_generator.epoch
    if _streams_of != start:
        _streams.clear()
        _streams_of = start
    made = _streams.get((name, seed))
    if made is None:
        made = _streams[name, seed] = sources.Generator().manual_seed(_mixed(seed))
    return made


def own_source(owner, seed, seed2=0):
    """Arguments of ``draw`` for a primitive: nothing without seeds; else a generator of its own, started again with the default one."""
    if not seed and not seed2:
        return {}
    start, held = (sources.default_generator.epoch, seed, seed2), owner.__dict__
    if held.get("_started") != start:
        held["_generator"] = sources.Generator().manual_seed(_mixed(seed * 2654435761 + seed2))
        held["_started"] = start
    return {"generator": held["_generator"]}


class Fixed:
    """A source of the same numbers on every call, also of a compiled function."""

    def __init__(self, seed, offset=0):
        self._seed, self._offset = seed, offset

    def _state(self, count):
        return Tensor([(self._seed + 2 ** 63) % 2 ** 64 - 2 ** 63, self._offset], mstype.int64)


def _mixed(seed):
    """The seed of a stream: depends on the global seed too, once there is one."""
    from ..common.seed import get_seed
    common = get_seed()
    return seed if common is None else (common * 0x9E3779B97F4A7C15 + seed + 1) % 2 ** 63


def draw(op, attrs, count, inputs=(), generator=None, seed=None, name=None) -> Tensor:
    """Apply a random operator that makes `count` numbers."""
    if generator is None:
        generator = sources.default_generator if seed is None else _stream(name or op, seed)
    return apply(op, (generator._state(count), *inputs), attrs)


def _count(shape):
    n = 1
    for d in shape:
        n *= d
    return n


def _float_type(dtype, name, default=mstype.float32):
    dtype = dtype or default
    if not dtype.is_floating_point:
        raise ValueError(f"{name}: dtype must be a float type, but got {dtype}")
    return dtype


def draw_uniform(shape, low=0.0, high=1.0, dtype=None, **source) -> Tensor:
    """Numbers in [low, high)."""
    shape = ints_of(shape)
    return draw("random_uniform", {"shape": shape, "low": float(low), "high": float(high), "dtype": dtype
                                   or mstype.float32},
                _count(shape), **source)


def draw_normal(shape, mean=0.0, std=1.0, dtype=None, **source) -> Tensor:
    """Normally distributed numbers."""
    shape = ints_of(shape)
    return draw("random_normal", {"shape": shape, "mean": float(mean), "std": float(std), "dtype": dtype
                                  or mstype.float32},
                _count(shape), **source)


def draw_truncated_normal(shape, mean=0.0, std=1.0, low=-2.0, high=2.0, dtype=None, **source) -> Tensor:
    """Normally distributed numbers, low to high standard deviations from the mean."""
    shape = ints_of(shape)
    return draw("random_truncated_normal", {"shape": shape, "mean": float(mean), "std": float(std), "low": float(low),
                                            "high": float(high), "dtype": dtype or mstype.float32}, _count(shape),
                                            **source)


def draw_mask(shape, keep, **source):
    """True with probability keep: what dropout multiplies by."""
    return apply("less", (draw_uniform(shape, **source), float(keep)))


def _sizes(size):
    return ints_of(size[0] if len(size) == 1 and isinstance(size[0], (tuple, list, Tensor)) else size, "size")


# --- even and normal -------------------------------------------------------------------------------------------------

def rand(*size, dtype=None, seed=None) -> Tensor:
    """Numbers in [0, 1)."""
    return draw_uniform(_sizes(size) if size else (1,), dtype=_float_type(dtype, "rand"), seed=seed, name="rand")


def rand_like(input, seed=None, *, dtype=None) -> Tensor:
    """Numbers in [0, 1) in the shape of a Tensor."""
    tensor_of(input, "input", "rand_like")
    return draw_uniform(input.shape, dtype=_float_type(dtype, "rand_like", input.dtype), seed=seed, name="rand_like")


def randn(*size, dtype=None, seed=None) -> Tensor:
    """Numbers of the standard normal distribution."""
    return draw_normal(_sizes(size) if size else (1,), dtype=_float_type(dtype, "randn"), seed=seed, name="randn")


def randn_like(input, seed=None, *, dtype=None) -> Tensor:
    """Numbers of the standard normal distribution in the shape of a Tensor."""
    tensor_of(input, "input", "randn_like")
    return draw_normal(input.shape, dtype=_float_type(dtype, "randn_like", input.dtype), seed=seed, name="randn_like")


def _integers(low, high, shape, dtype, **source):
    return draw("random_int", {"shape": shape, "low": int_of(low, "low"), "high": int_of(high, "high"), "dtype": dtype},
                _count(shape),
                **source)


def randint(low, high, size, seed=None, *, dtype=None) -> Tensor:
    """Whole numbers in [low, high)."""
    dtype = dtype or mstype.int64
    if dtype.is_floating_point or dtype.is_complex:
        raise ValueError(f"randint: dtype must be an integer type, but got {dtype}")
    return _integers(low, high, ints_of(size, "size"), dtype, seed=seed, name="randint")


def randint_like(input, low, high, seed=None, *, dtype=None) -> Tensor:
    """Whole numbers in [low, high) in the shape of a Tensor."""
    dtype = dtype or input.dtype
    if dtype.is_floating_point or dtype.is_complex:
        raise ValueError(f"randint_like: dtype must be an integer type, but got {dtype}")
    return _integers(low, high, input.shape, dtype, seed=seed, name="randint_like")


def standard_normal(shape, seed=None) -> Tensor:
    """Numbers of the standard normal distribution."""
    return draw_normal(shape, seed=seed, name="standard_normal")


def _broadcast_shape(shape, *parameters):
    import numpy as np
    return np.broadcast_shapes(ints_of(shape), *(p.shape for p in parameters if isinstance(p, Tensor)))


def normal(shape, mean, stddev, seed=None) -> Tensor:
    """Normally distributed numbers; mean and stddev may be Tensors, which broadcast."""
    z = draw_normal(_broadcast_shape(shape, mean, stddev), seed=seed, name="normal")
    return apply("add", (apply("mul", (z, stddev)), mean))


def uniform(shape, minval, maxval, seed=None, dtype=mstype.float32) -> Tensor:
    """Numbers in [minval, maxval); both are Tensors, which broadcast."""
    if not isinstance(minval, Tensor) or not isinstance(maxval, Tensor):
        raise TypeError("uniform: minval and maxval must be Tensors")
    if minval.dtype != dtype or maxval.dtype != dtype:
        raise TypeError(f"uniform: minval has dtype {minval.dtype}, maxval {maxval.dtype}; both must have the "
                        f"dtype {dtype}")
    shape = _broadcast_shape(shape, minval, maxval)
    if dtype.is_floating_point:
        unit = draw_uniform(shape, dtype=dtype, seed=seed, name="uniform")
        return apply("add", (apply("mul", (unit, apply("sub", (maxval, minval)))), minval))
    if minval.size == maxval.size == 1:
        return _integers(minval.item(), maxval.item(), shape, dtype, seed=seed, name="uniform")
    unit = draw_uniform(shape, dtype=mstype.float64, seed=seed, name="uniform")
    step = apply("floor", (apply("mul", (unit, apply("sub", (maxval, minval)))),))
    return apply("add", (apply("cast", (step,), {"dtype": dtype}), minval))


def _laplace(shape, **source):
    u = draw_uniform(shape, -0.5, 0.5, **source)
    # 1 - 2|u| is 0 for u = -0.5 exactly: the smallest normal number stands in for it.
    tail = apply("maximum", (apply("sub", (1.0, apply("mul", (apply("abs", (u,)), 2.0)))), 1.1754944e-38))
    return apply("neg", (apply("mul", (apply("sign", (u,)), apply("log", (tail,)))),))


def standard_laplace(shape, seed=None) -> Tensor:
    """Numbers of the Laplace distribution with mean 0 and scale 1."""
    return _laplace(shape, seed=seed, name="standard_laplace")


def laplace(shape, mean, lambda_param, seed=None) -> Tensor:
    """Numbers of the Laplace distribution; mean and scale are Tensors, which broadcast."""
    z = standard_laplace(_broadcast_shape(shape, mean, lambda_param), seed)
    return apply("add", (apply("mul", (z, lambda_param)), mean))


# --- counts and times ------------------------------------------------------------------------------------------------

def gamma(shape, alpha, beta, seed=None) -> Tensor:
    """Gamma distributed numbers: of the given shape for each element of alpha and beta."""
    both = apply("mul", (alpha, apply("add", (apply("mul", (beta, 0)), 1))))  # alpha broadcast with beta
    shape = ints_of(shape) + both.shape
    drawn = draw("random_gamma", {"shape": shape, "dtype": mstype.float32}, _count(shape), (both,), seed=seed,
                 name="gamma")
    return apply("div", (drawn, beta))


def random_gamma(shape, alpha, seed=None) -> Tensor:
    """Gamma distributed numbers of scale 1: of the given shape for each element of alpha."""
    shape = ints_of(shape) + alpha.shape
    return draw("random_gamma", {"shape": shape, "dtype": alpha.dtype}, _count(shape), (alpha,), seed=seed,
                name="random_gamma")


def poisson(shape, mean, seed=None) -> Tensor:
    """Poisson distributed whole numbers; the mean broadcasts to the shape."""
    shape = _broadcast_shape(shape, mean)
    return draw("random_poisson", {"shape": shape, "dtype": mstype.int32}, _count(shape), (mean,), seed=seed,
                name="poisson")


def random_poisson(shape, rate, seed=None, dtype=mstype.float32) -> Tensor:
    """Poisson distributed numbers: of the given shape for each element of the rate."""
    shape = ints_of(shape) + rate.shape
    return draw("random_poisson", {"shape": shape, "dtype": dtype}, _count(shape), (rate,), seed=seed,
                name="random_poisson")


# --- choices ---------------------------------------------------------------------------------------------------------

def _categories(weights, n, replacement, dtype, **source):
    n = int_of(n, "num_samples")
    rows = weights.shape[0] if weights.ndim == 2 else 1
    return draw("random_multinomial", {"n": n, "replacement": replacement, "dtype": dtype}, rows * max(n, 0),
                (weights,), **source)


def multinomial(input, num_samples, replacement=True, seed=None) -> Tensor:
    """Categories drawn with the given weights."""
    return _categories(tensor_of(input, "input", "multinomial"), num_samples, replacement, mstype.int32, seed=seed,
                       name="multinomial")


def multinomial_with_replacement(x, seed, offset, numsamples, replacement=False) -> Tensor:
    """Categories drawn with the given weights, each row for itself."""
    return _categories(x, numsamples, replacement, mstype.int64, generator=None if seed == 0 and offset == 0 else Fixed(seed, offset))


def random_categorical(logits, num_sample, seed=0, dtype=mstype.int64) -> Tensor:
    """Categories drawn with the softmax of the rows as weights."""
    return _softmax_categories(logits, num_sample, dtype, **({"generator": Fixed(seed)} if seed else {}))


def _softmax_categories(logits, num_sample, dtype, **source):
    top = apply("reduce_max", (logits,), {"axis": (1,), "keepdims": True})
    weights = apply("exp", (apply("sub", (logits, top)),))
    drawn = _categories(weights, num_sample, True, mstype.int64, **source)
    return drawn if dtype == mstype.int64 else apply("cast", (drawn,), {"dtype": dtype})


def bernoulli(input, p=0.5, seed=None) -> Tensor:
    """1 with probability p, else 0, in the shape and dtype of a Tensor."""
    return _tossed(input, p, **({} if seed is None else {"generator": Fixed(seed)}))


def _tossed(input, p, **source):
    tensor_of(input, "input", "bernoulli")
    if not isinstance(p, Tensor) and not 0 <= p <= 1:
        raise ValueError(f"bernoulli: p must be in [0, 1], but got {p}")
    u = draw_uniform(input.shape, **source)
    return apply("cast", (apply("less", (u, p)),), {"dtype": input.dtype})


def randperm(n, seed=0, offset=0, dtype=mstype.int64) -> Tensor:
    """The numbers 0 to n - 1 in random order."""
    n = int_of(n, "n")
    if n < 0:
        raise ValueError(f"randperm: n must not be negative, but got {n}")
    source = {} if not seed and not offset else {"generator": Fixed(seed, offset)}
    return _permutation(n, dtype, **source)


def _permutation(n, dtype, **source):
    return draw("random_permutation", {"n": n, "dtype": dtype}, n, **source)


def shuffle(x, seed=None) -> Tensor:
    """The slices along the first dimension in random order."""
    return _shuffled(x, **({} if seed is None else {"generator": _stream("shuffle", seed)}))


def _shuffled(x, **source):
    return apply("gather", (x, _permutation(x.shape[0], mstype.int64, **source)), {"axis": 0})


def choice_with_mask(input_x, count=256, seed=None):
    """`count` positions of true elements in random order, filled up with zeros, and which of them are meant."""
    source = {} if not seed else {"generator": _stream("choice_with_mask", seed)}
    return _choose(input_x, count, **source)


def _choose(x, count, **source):
    if x.dtype != mstype.bool_:
        raise TypeError(f"choice_with_mask: a bool Tensor is wanted, but got {x.dtype}")
    found = apply("nonzero", (x,))
    n = min(found.shape[0], count)
    order = _permutation(found.shape[0], mstype.int64, **source)
    chosen = apply("gather", (found, apply("slice", (order,), {"start": (0,), "stop": (n,)})), {"axis": 0})
    chosen = apply("cast", (apply("pad", (chosen,), {"pads": (0, count - n, 0, 0)}),), {"dtype": mstype.int32})
    return chosen, apply("less", (apply("arange", (), {"end": count}), n))


def uniform_candidate_sampler(true_classes, num_true, num_sampled, unique, range_max, seed=0,
                              remove_accidental_hits=False):
    """Classes below range_max drawn evenly, and how often the true ones and the drawn ones are expected in a draw.

    Args:
        true_classes: (N, num_true) of int32 or int64.
        num_true: true classes of a sample.
        num_sampled: classes to draw.
        unique: whether a class is drawn once at most.
        range_max: number of classes.
        seed: of the draw; 0 takes the global one. Default 0.
        remove_accidental_hits: whether true classes are left out. Default False.

    Examples:
        >>> from spore import Tensor, ops
        >>> drawn, true, sampled = ops.uniform_candidate_sampler(Tensor([[1], [3]]), 1, 4, True, 4)
        >>> sorted(drawn.tolist())
        [0, 1, 2, 3]
    """
    name = "uniform_candidate_sampler"
    tensor_of(true_classes, "true_classes", name)
    if true_classes.ndim != 2 or true_classes.shape[1] != num_true:
        raise ValueError(f"{name}: true_classes must have shape (N, num_true), but got {true_classes.shape} and num_true "
                         f"{num_true}")
    hits = set(true_classes.reshape((-1,)).tolist()) & set(range(range_max)) if remove_accidental_hits else set()
    if (num_sampled if unique else 1) > range_max - len(hits):
        raise ValueError(f"{name}: {num_sampled} different classes cannot be drawn of {range_max}"
                         + (f" without {len(hits)} true ones" if hits else ""))
    source = {"generator": sources.Generator().manual_seed(seed)} if seed else {}        # the same on every call, as in MindSpore
    chosen, seen, n_draws = [], set(hits), 0
    while len(chosen) < num_sampled:
        for v in _integers(0, range_max, (num_sampled,), mstype.int64, **source).tolist():
            n_draws += v not in hits
            if v not in (seen if unique else hits) and len(chosen) < num_sampled:
                chosen.append(v)
                seen.add(v)
            if len(chosen) == num_sampled:
                break
    p = 1 / range_max
    expected = p * num_sampled if n_draws == num_sampled else 1 - (1 - p) ** n_draws
    full = [apply("full", (), {"shape": shape, "value": expected, "dtype": mstype.float32})
            for shape in (true_classes.shape, (num_sampled,))]
    return Tensor(chosen, true_classes.dtype), *full


# --- in place, methods, mint -----------------------------------------------------------------------------------------

def _write(self, value):
    apply("assign", (self, value))
    return self


def _uniform_(self, from_=0, to=1, *, generator=None):
    """Numbers in [from_, to), in place."""
    return _write(self, draw_uniform(self.shape, from_, to, self.dtype, generator=generator))


def _normal_(self, mean=0, std=1, *, generator=None):
    """Normally distributed numbers, in place."""
    return _write(self, draw_normal(self.shape, mean, std, self.dtype, generator=generator))


def _random_(self, from_=0, to=None, *, generator=None):
    """Whole numbers in [from_, to), in place; without `to`, up to what the dtype holds."""
    if to is None:
        import numpy as np
        digits = {"Float16": 2 ** 11, "BFloat16": 2 ** 8, "Float32": 2 ** 24, "Float64": 2 ** 53,
                  "Bool": 2}.get(str(self.dtype))
        to = digits or int(np.iinfo(mstype.dtype_to_nptype(self.dtype)).max)
    return _write(self, _integers(from_, to, self.shape, mstype.int64, generator=generator))


def _bernoulli_(self, p=0.5, *, generator=None):
    """1 with probability p, else 0, in place."""
    return _write(self, apply("less", (draw_uniform(self.shape, generator=generator), p)))


def _exponential_(self, lambd=1, *, generator=None):
    """Exponentially distributed numbers, in place."""
    u = draw_uniform(self.shape, dtype=self.dtype, generator=generator)
    return _write(self, apply("div", (apply("neg", (apply("log1p", (apply("neg", (u,)),)),)), lambd)))


def _mint_sizes(size):
    """The sizes in a row, or in a tuple; a dtype may stand behind the tuple, and does not count, as in MindSpore."""
    if len(size) == 2 and isinstance(size[0], (tuple, list)) and isinstance(size[1], type(mstype.float32)):
        size = size[:1]
    return _sizes(size)


def _mint_rand(*size, generator=None, dtype=None, device=None):
    """Numbers in [0, 1)."""
    return draw_uniform(_mint_sizes(size), dtype=dtype, generator=generator)


def _mint_randn(*size, generator=None, dtype=None, device=None):
    """Numbers of the standard normal distribution."""
    return draw_normal(_mint_sizes(size), dtype=dtype, generator=generator)


def _mint_randint(*args, generator=None, dtype=None, device=None, **named):
    """randint(high, size) or randint(low, high, size): whole numbers in [low, high)."""
    given = dict(zip(("low", "high", "size") if len(args) + len(named) == 3 else ("high", "size"), args), **named)
    return _integers(given.get("low", 0), given["high"], ints_of(given["size"], "size"), dtype or mstype.int64,
                     generator=generator)


def _mint_randint_like(input, *args, dtype=None, device=None):
    """randint_like(input, high) or randint_like(input, low, high): whole numbers in [low, high)."""
    low, high = args if len(args) == 2 else (0, args[0])
    return _integers(low, high, input.shape, dtype or input.dtype)


def _mint_normal(mean=0.0, std=1.0, size=None, generator=None):
    """Normally distributed numbers; of the shape of mean and std unless a size is given."""
    shape = ints_of(size, "size") if size is not None else _broadcast_shape((), mean, std)
    return apply("add", (apply("mul", (draw_normal(shape, generator=generator), std)), mean))


def _mint_bernoulli(input, *, generator=None):
    """1 with the probability each element tells, else 0."""
    return apply("cast", (apply("less", (draw_uniform(input.shape, generator=generator), input)),),
                 {"dtype": input.dtype})


def _mint_multinomial(input, num_samples, replacement=False, *, generator=None):
    """Categories drawn with the given weights."""
    return _categories(input, num_samples, replacement, mstype.int64, generator=generator)


TENSOR_METHODS = named({
    "uniform_": _uniform_, "normal_": _normal_, "random_": _random_, "bernoulli_": _bernoulli_,
    "exponential_": _exponential_,
    "bernoulli": _mint_bernoulli, "multinomial": multinomial, "random_categorical": random_categorical,
    "uniform": lambda self, from_=0.0, to=1.0, generator=None: draw_uniform(self.shape, from_, to, self.dtype,
        generator=generator)})

MINT = named({
    "rand": _mint_rand, "randn": _mint_randn, "randint": _mint_randint, "randint_like": _mint_randint_like,
    "rand_like": lambda input, *, dtype=None, device=None: rand_like(input, dtype=dtype),
    "randn_like": lambda input, *, dtype=None, device=None: randn_like(input, dtype=dtype),
    "randperm": lambda n, *, generator=None, dtype=mstype.int64: _permutation(n, dtype, generator=generator),
    "normal": _mint_normal, "bernoulli": _mint_bernoulli, "multinomial": _mint_multinomial})

# SPDX-License-Identifier: Apache-2.0
"""Primitives that draw random numbers, and of networks."""
import importlib

from ... import _core
from ..._core import Tensor
from ...common import dtype as mstype
from .. import methods, nn, random
from .._make import plain, primitive
from ..array import ints_of, of_rank

__all__ = []

_apply = _core.apply
fft = importlib.import_module("spore.ops.fft")     # ops.fft is the function


def _add(cls):
    globals()[cls.__name__] = cls
    __all__.append(cls.__name__)


def _op(name):
    from ... import ops
    return getattr(ops, name)


# --- random numbers --------------------------------------------------------------------------------------------------

_add(primitive("Cauchy", lambda self: methods._cauchy(self.size, self.median, self.sigma), "size, median=0.0, sigma=1.0",
               "Random numbers of Cauchy's distribution."))


_add(primitive("LogNormalReverse", lambda self, input: methods._log_normal(input, self.mean, self.std), "mean=1.0, std=2.0",
               "Random numbers of the shape of the input whose logarithms are normal."))
def _drawn_for_each(self, op, shape, parameter, dtype):
    """Numbers of a shape for each element of the parameter."""
    shape = ints_of(shape, "shape") + parameter.shape
    return random.draw(op, {"shape": shape, "dtype": dtype}, random._count(shape), (parameter,), **random.own_source(self, self.seed, self.seed2))


_add(primitive("RandomGamma", lambda self, shape, alpha: _drawn_for_each(self, "random_gamma", shape, alpha, alpha.dtype),
               "seed=0, seed2=0", "Random numbers of the gamma distribution."))
_add(primitive("RandomPoisson", lambda self, shape, rate: _drawn_for_each(self, "random_poisson", shape, rate, self.dtype),
               "seed=0, seed2=0, dtype=mstype.int64", "Random numbers of Poisson's distribution."))
_add(primitive("RandpermV2", lambda self, n: random._permutation(n.item() if isinstance(n, Tensor) else n, self.dtype, generator=random.Fixed(self.seed, self.offset)),
               "seed=0, offset=0, dtype=mstype.int64", "The numbers from 0 to n - 1 in random order."))
_add(primitive("MultinomialWithReplacement", lambda self, x, seed, offset: random._categories(
    x, self.numsamples, self.replacement, mstype.int64, **random.own_source(self, *(v.item() if isinstance(v, Tensor) else v for v in (seed, offset)))),
    "numsamples, replacement=False", "Random class numbers."))
_add(primitive("NonDeterministicInts", lambda self, shape: _op("randint")(-2 ** 31, 2 ** 31 - 1, ints_of(shape, "shape")).astype(
    self.dtype), "dtype=mstype.int64", "Random integers."))

# --- networks --------------------------------------------------------------------------------------------------------

_add(primitive("GLU", lambda self, x: nn.glu(x, self.axis), "axis=-1", "See ops.glu."))
_add(plain("AdaptiveMaxPool3D", lambda x, output_size: _op("adaptive_max_pool3d")(x, ints_of(output_size, "output_size"), True),
           "See ops.adaptive_max_pool3d."))


def _greedy(self, inputs, sequence_length):
    """The likeliest class at each step, repetitions merged and blanks (the last class) left out: indices, values and shape of a
    sparse Tensor, and minus the sum of the log probabilities."""
    of_rank(inputs, 3, 3, "CTCGreedyDecoder", "inputs")
    best, blank = inputs.argmax(-1).T.tolist(), inputs.shape[-1] - 1
    top = _op("amax")(inputs, -1).T.tolist()
    places, values, score, longest = [], [], [], 0
    for b, steps in enumerate(sequence_length.tolist()):
        last, n = None, 0
        for k in best[b][:steps]:
            if k != blank and not (self.merge_repeated and k == last):
                places.append([b, n])
                values.append(k)
                n += 1
            last = k
        longest = max(longest, n)
        score.append([-sum(top[b][:steps])])
    return (Tensor(places, mstype.int64).reshape((-1, 2)), Tensor(values, mstype.int64),
            Tensor([len(best), longest], mstype.int64), Tensor(score, inputs.dtype))


_add(primitive("CTCGreedyDecoder", _greedy, "merge_repeated=True"))


def ctc_greedy_decoder(inputs, sequence_length, merge_repeated=True):
    """The likeliest class at each step of [time, batch, classes]; see CTCGreedyDecoder."""
    return globals()["CTCGreedyDecoder"](merge_repeated)(inputs, sequence_length)


__all__.append("ctc_greedy_decoder")


def _fft_with_size(self, x):
    """Fourier transforms of the last signal_ndim dimensions: complex, of real signals, or back to them."""
    name = ("i" if self.inverse else "") + ("r" if self.real else "") + "fft"
    rank = self.signal_ndim
    dims = tuple(range(-rank, 0))
    if self.real and not self.onesided:
        name = name.replace("r", "")
    sizes = tuple(self.signal_sizes) or None
    out = getattr(fft, {1: name, 2: name + "2"}.get(rank, name + "n"))(
        x, *((sizes[0] if sizes else None, -1) if rank == 1 else (sizes, dims)), self.norm)
    return _op("real")(out) if self.real and self.inverse and not self.onesided else out


_add(primitive("FFTWithSize", _fft_with_size, "signal_ndim, inverse, real, norm='backward', onesided=True, signal_sizes=()"))

# SPDX-License-Identifier: Apache-2.0
"""Primitives that few programs use: functions of spore.ops whose arguments come in another order or in the constructor, and
small compositions."""
from .. import _core
from .._core import Tensor
from ..common import dtype as mstype
from . import array, creation, fft, linalg, math, nn, random, scattering
from ._make import plain, primitive
from .array import ints_of, of_rank

__all__ = []

_apply = _core.apply


def _add(cls):
    globals()[cls.__name__] = cls
    __all__.append(cls.__name__)


def _op(name):
    from .. import ops
    return getattr(ops, name)


# --- matrices --------------------------------------------------------------------------------------------------------

_add(primitive("Cholesky", lambda self, input_x: linalg.cholesky(input_x, self.upper), "upper=False", "See ops.cholesky."))
_add(primitive("CholeskyInverse", lambda self, input_x: linalg.cholesky_inverse(input_x, self.upper), "upper=False",
               "See ops.cholesky_inverse."))
_add(primitive("CholeskySolve", lambda self, x1, x2: linalg.cholesky_solve(x1, x2, self.upper), "upper=False",
               "See ops.cholesky_solve."))
_add(primitive("Qr", lambda self, x: linalg.qr(x, "complete" if self.full_matrices else "reduced"), "full_matrices=False", "See ops.qr."))
_add(primitive("MatrixSolve", lambda self, matrix, rhs: linalg.matrix_solve(matrix, rhs, self.adjoint), "adjoint=False",
               "See ops.matrix_solve."))
_add(primitive("Lstsq", lambda self, x, a: linalg.lstsq(x, a), "fast=True, l2_regularizer=0.0", "See ops.lstsq."))


def _svd(self, x):
    """Singular values and vectors; without compute_uv the vectors are empty."""
    found = linalg.svd(x, self.full_matrices, self.compute_uv)
    return found if self.compute_uv else (found, Tensor([], x.dtype), Tensor([], x.dtype))


def _nuclear_norm(self, x):
    """The sum of the singular values of matrices in two dimensions."""
    dim = (0, 1) if self.dim is None else tuple(self.dim)
    dim = tuple(d + x.ndim if d < 0 else d for d in dim)
    total = linalg.svd(array.moveaxis(x, dim, (-2, -1)), compute_uv=False).sum(-1)
    return total.expand_dims(min(dim)).expand_dims(max(dim)) if self.keepdim else total


_add(primitive("Svd", _svd, "full_matrices=False, compute_uv=True"))
_add(primitive("NuclearNorm", _nuclear_norm, "dim=None, keepdim=False"))
_add(plain("ConjugateTranspose", lambda x, perm: _op("conj")(_op("transpose")(x, ints_of(perm, "perm"))) if x.is_complex()
           else _op("transpose")(x, ints_of(perm, "perm")), "Dimensions in another order, of the conjugate numbers."))


def _tridiagonal(superdiag, maindiag, subdiag, rhs):
    """The matrix with three diagonals times another one."""
    up = array.concat((rhs[..., 1:, :], creation.zeros_like(rhs[..., :1, :])), -2)
    down = array.concat((creation.zeros_like(rhs[..., :1, :]), rhs[..., :-1, :]), -2)
    above, main, below = (d.swapaxes(-1, -2) for d in (superdiag, maindiag, subdiag))
    return above * up + main * rhs + below * down


_add(plain("TridiagonalMatMul", _tridiagonal))


# --- counting, sorting, searching ------------------------------------------------------------------------------------

def _bincount(arr, size, weights):
    """How often, or with which weight, each number from 0 to size - 1 occurs."""
    n = int(size.item())
    inside = _apply("less", (arr, n))
    places = _apply("select", (inside, arr, 0)).astype(mstype.int64).reshape((-1,))
    weights = (_op("ones_like")(arr).astype(weights.dtype) if weights.size == 0 else weights)
    values = _apply("select", (inside, weights, 0)).reshape((-1,)).astype(weights.dtype)
    return scattering.unsorted_segment_sum(values, places, n)


_add(plain("Bincount", _bincount))
_add(primitive("Bucketize", lambda self, input: scattering.bucketize(input, self.boundaries, right=True).astype(mstype.int32),
               "boundaries", "The number of the interval between boundaries that each element falls into."))
_add(primitive("CountNonZero", lambda self, x: _op("count_nonzero")(
    x, axis=() if self.dims is None else self.dims).astype(mstype.int64), "dims=None", "How many elements are not zero."))
_add(primitive("ConfusionMatrix", lambda self, labels, predictions, weights=None: _confusion(
    labels, predictions, weights, self.num_classes, getattr(mstype, self.dtype) if isinstance(self.dtype, str) else self.dtype),
    "num_classes, dtype='int32'", "How often each label (row) was predicted as each class (column)."))


def _confusion(labels, predictions, weights, n, dtype):
    places = labels.astype(mstype.int64) * n + predictions.astype(mstype.int64)
    values = creation.ones_like(labels).astype(dtype) if weights is None else weights.astype(dtype)
    return scattering.unsorted_segment_sum(values, places, n * n).reshape((n, n))


def _bound(name, right, doc):
    def call(self, sorted_x, values):
        return scattering.searchsorted(sorted_x, values, right=right).astype(self.out_type)
    call.__doc__ = doc
    return primitive(name, call, "out_type=mstype.int32")


_add(_bound("LowerBound", False, "Where, in each sorted row, the first element not below a value stands."))
_add(_bound("UpperBound", True, "Where, in each sorted row, the first element above a value stands."))


def _histogram(self, x, range):
    """How many elements fall into each of nbins intervals of equal width; those outside count for the outer ones."""
    low, high = range[0], range[1]
    place = _op("floor")((x.astype(mstype.float32) - low) / (high - low) * self.nbins)
    place = _op("clamp")(place, 0, self.nbins - 1).astype(mstype.int64).reshape((-1,))
    return scattering.unsorted_segment_sum(creation.ones_like(place).astype(mstype.int32), place, self.nbins)


def _nth(self, input, n):
    """The n-th smallest (reverse: largest) element of each row."""
    n = n.item() if isinstance(n, Tensor) else n
    return _op("sort")(input, -1, self.reverse)[0][..., n]


def _quantile(self, input, q):
    """Values that a share q of the elements is not above."""
    q = q if isinstance(q, Tensor) else Tensor(q, input.dtype)
    return (math.nanquantile if self.ignore_nan else math.quantile)(input, q, self.dim, self.keep_dims)


_add(primitive("HistogramFixedWidth", _histogram, "nbins, dtype='int32'"))
_add(primitive("NthElement", _nth, "reverse=False"))
_add(primitive("Quantile", _quantile, "dim=None, keep_dims=False, ignore_nan=False"))


def _unique_consecutive(self, x):
    """Neighbours that are equal, once; of what is not asked for, the number 0."""
    found = _op("unique_consecutive")(x, self.return_inverse, self.return_counts, self.dim)
    rest = iter(found[1:] if isinstance(found, tuple) else ())
    return (found[0] if isinstance(found, tuple) else found, *(next(rest) if asked else Tensor(0, mstype.int64) for asked in (self.return_inverse, self.return_counts)))


_add(primitive("UniqueConsecutive", _unique_consecutive,
               "return_inverse=False, return_counts=False, dim=None"))
_add(primitive("TrilIndices", lambda self: creation.tril_indices(self.row, self.col, self.offset, dtype=self.dtype),
               "row, col, offset=0, dtype=mstype.int32", "See ops.tril_indices."))
_add(primitive("TriuIndices", lambda self: creation.triu_indices(self.row, self.col, self.offset, dtype=self.dtype),
               "row, col, offset=0, dtype=mstype.int32", "See ops.triu_indices."))


def _no_repeat(self, state_seq, log_probs):
    """Log probabilities with those words ruled out that would repeat a group of ngram_size words."""
    words, n = state_seq.tolist(), self.ngram_size
    barred = log_probs.asnumpy().copy()
    low = -3.4028235e38 if log_probs.dtype != mstype.float16 else -65504.0
    for b, beams in enumerate(words):
        for k, row in enumerate(beams):
            tail = row[len(row) - n + 1:]
            for i in range(len(row) - n + 1):
                if row[i:i + n - 1] == tail:
                    barred[b, k, row[i + n - 1]] = low
    return Tensor(barred, log_probs.dtype)


_add(primitive("NoRepeatNGram", _no_repeat, "ngram_size=1"))


def _edit_distance(self, hypothesis_indices, hypothesis_values, hypothesis_shape, truth_indices, truth_values, truth_shape):
    """How many words must be put in, left out or replaced to make each hypothesis the truth; normalize: divided by its length."""
    shape = [max(a, b) for a, b in zip(hypothesis_shape.tolist()[:-1], truth_shape.tolist()[:-1])]

    def rows(indices, values):
        table = {}
        for place, value in zip(indices.tolist(), values.tolist()):
            table.setdefault(tuple(place[:-1]), []).append(value)
        return table
    said, meant = rows(hypothesis_indices, hypothesis_values), rows(truth_indices, truth_values)
    flat, count = [], 1
    for n in shape:
        count *= n
    for k in range(count):
        place, rest = [], k
        for n in reversed(shape):
            place.insert(0, rest % n)
            rest //= n
        a, b = said.get(tuple(place), []), meant.get(tuple(place), [])
        distance = float(_steps(a, b))
        if self.normalize:
            distance = distance / len(b) if b else (float("inf") if a else 0.0)
        flat.append(distance)
    return Tensor(flat, mstype.float32).reshape(tuple(shape))


def _steps(a, b):
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        last, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            last, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, last + (x != y))
    return row[-1]


_add(primitive("EditDistance", _edit_distance, "normalize=True"))


# --- shapes and layouts ----------------------------------------------------------------------------------------------

_add(primitive("Pack", lambda self, *tensors: array.stack(tensors[0] if len(tensors) == 1 and isinstance(tensors[0], (tuple, list))
                                                          else tensors, self.axis), "axis=0", "The old name of Stack."))
_add(primitive("Unpack", lambda self, input_x: array.unstack(input_x, self.axis), "axis=0, num=None", "The old name of Unstack."))
_add(primitive("ChannelShuffle", lambda self, x: nn.channel_shuffle(x, self.group), "group", "See ops.channel_shuffle."))
_add(plain("Expand", lambda x, shape: array.expand(x, shape), "See ops.expand."))
_add(plain("Fills", creation.fills))


def _layout(self):
    src, dst = self.src_format, self.dst_format
    if sorted(src) != sorted(dst) or len(set(src)) != len(src):
        raise ValueError(f"{self.name}: src_format and dst_format must have the same letters, but are {src!r} and {dst!r}")
    return src, dst


def _dim_map(self, input_x):
    """Numbers of dimensions in one layout as those in another."""
    src, dst = _layout(self)
    table = Tensor([src.index(letter) for letter in dst], input_x.dtype)  # so does MindSpore, other than TensorFlow
    return scattering.gather(table, _apply("select", (input_x < 0, input_x + len(src), input_x)), 0)


def _vec_permute(self, input_x):
    """Values of dimensions from one layout in the order of another."""
    src, dst = _layout(self)
    spatial = [c for c in src if c in "DHW"] if input_x.shape[0] < len(src) else src
    order = [spatial.index(c) for c in dst if c in spatial]
    return scattering.gather(input_x, Tensor(order, mstype.int64), 0)


_add(primitive("DataFormatDimMap", _dim_map, "src_format='NHWC', dst_format='NCHW'"))
_add(primitive("DataFormatVecPermute", _vec_permute, "src_format='NHWC', dst_format='NCHW'"))


def _to_dense(indices, values, sparse_shape):
    """A Tensor with values at places and zeros elsewhere."""
    return _op("scatter_nd")(indices, values, ints_of(sparse_shape, "sparse_shape"))


def _index_put(self, x1, x2, indices):
    """x1 with elements at the places of index tensors replaced by x2, or x2 added there (accumulate)."""
    return _apply("index_put", (_apply("copy", (x1,)), x2, *indices), {"axes": tuple(range(len(indices))),
                                                                      "accumulate": bool(self.accumulate)})


def _sub_and_filter(input_x, max_num, offset):
    """Elements minus offset, those outside of [0, max_num) left out, and where the others stood."""
    shifted = input_x - offset
    kept = _op("nonzero")(_apply("logical_and", (shifted >= 0, shifted < max_num)))[:, 0]
    return shifted[kept], kept.astype(input_x.dtype)


_add(plain("SparseToDense", _to_dense))
_add(primitive("IndexPut", _index_put, "accumulate=0"))
_add(plain("SubAndFilter", _sub_and_filter))
_add(plain("TensorToTuple", lambda input_tensor: tuple(input_tensor.tolist()), "The numbers of a Tensor of one dimension."))
_add(plain("MaskedScatter", lambda x, mask, updates: scattering.masked_scatter(x, mask, updates), "See Tensor.masked_scatter."))


def _ragged(self, starts, limits, deltas):
    """Ranges one after another, and where each begins."""
    rows = [t.tolist() if t.ndim else [t.item()] for t in (starts, limits, deltas)]
    n = max(len(row) for row in rows)
    splits, values = [0], []
    for start, limit, delta in zip(*(row * n if len(row) == 1 else row for row in rows)):
        count = max(0, -int(-(limit - start) // delta))
        values.extend(start + i * delta for i in range(count))
        splits.append(len(values))
    return Tensor(splits, self.Tsplits), Tensor(values, starts.dtype)


_add(primitive("RaggedRange", _ragged, "Tsplits"))


# --- checks ----------------------------------------------------------------------------------------------------------

def _check_numerics(x):
    """The input, whose elements must all be finite."""
    if not _op("isfinite")(x).all():
        raise RuntimeError("CheckNumerics: the Tensor has elements that are infinite or no numbers")
    return x


def _assert(self, condition, input_data):
    """Stop with an error that shows the data, unless the condition holds."""
    if not bool(condition.all() if isinstance(condition, Tensor) else condition):
        raise RuntimeError(f"Assert: the condition does not hold; the data: {[str(x) for x in input_data]}")


_add(plain("CheckNumerics", _check_numerics))
_add(primitive("Assert", _assert, "summarize=3"))


# --- random numbers --------------------------------------------------------------------------------------------------

_add(primitive("Cauchy", lambda self: _cauchy(self.size, self.median, self.sigma), "size, median=0.0, sigma=1.0",
               "Random numbers of Cauchy's distribution."))


def _cauchy(shape, median, sigma):
    share = _op("rand")(*tuple(shape))
    return median + sigma * _op("tan")(3.141592653589793 * (share - 0.5))


def _log_normal(x, mean, std):
    return _op("exp")(_op("randn")(*x.shape) * std + mean).astype(x.dtype)


_add(primitive("LogNormalReverse", lambda self, input: _log_normal(input, self.mean, self.std), "mean=1.0, std=2.0",
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


# --- colours ---------------------------------------------------------------------------------------------------------

def _colours(images, who):
    if of_rank(images, 1, None, who, "the image").shape[-1] != 3:
        raise ValueError(f"For '{who}', the last dimension of the image must be 3, but its shape is {images.shape}")


def _to_hsv(images):
    """Hue, saturation and value, in [0, 1], of red, green and blue in the last dimension."""
    _colours(images, "RGBToHSV")
    red, green, blue = (images[..., i] for i in range(3))
    high, low = images.max(axis=-1), images.min(axis=-1)
    gap = high - low
    safe = _apply("select", (gap == 0, 1.0, gap)).astype(images.dtype)
    hue = _apply("select", (high == red, (green - blue) / safe, _apply("select", (
        high == green, (blue - red) / safe + 2, (red - green) / safe + 4)))) / 6
    hue = _apply("select", (gap == 0, 0.0, hue - _op("floor")(hue)))
    saturation = _apply("select", (high == 0, 0.0, gap / _apply("select", (high == 0, 1.0, high))))
    return array.stack((hue, saturation, high), -1).astype(images.dtype)


def _to_rgb(x):
    """Red, green and blue of hue, saturation and value in the last dimension."""
    _colours(x, "HSVToRGB")
    hue, saturation, value = x[..., 0] * 6, x[..., 1], x[..., 2]

    def channel(offset):
        k = hue + offset
        k = k - 6 * _op("floor")(k / 6)
        share = _op("clamp")(_op("minimum")(k, 4 - k), 0, 1)
        return value - value * saturation * share
    return array.stack(tuple(channel(offset) for offset in (5, 3, 1)), -1).astype(x.dtype)


def _adjusted(channel, combine, doc):
    def function(image, delta):
        parts = [_to_hsv(image)[..., i] for i in range(3)]
        parts[channel] = combine(parts[channel], delta)
        return _to_rgb(array.stack(tuple(parts), -1)).astype(image.dtype)
    function.__doc__ = doc
    return function


_add(plain("RGBToHSV", _to_hsv))
_add(plain("HSVToRGB", _to_rgb))
_add(plain("AdjustHue", _adjusted(0, lambda hue, delta: hue + delta - _op("floor")(hue + delta), "Colours with their hue turned.")))
_add(plain("AdjustSaturation", _adjusted(1, lambda s, scale: _op("clamp")(s * scale, 0, 1), "Colours with their saturation scaled.")))

TENSOR_METHODS = {
    "cauchy": lambda self, median=0.0, sigma=1.0: _cauchy(self.shape, median, sigma).astype(self.dtype),
    "log_normal": lambda self, mean=1.0, std=2.0: _log_normal(self, mean, std),
    "sum_to_size": lambda self, *size: _sum_to(self, ints_of(size[0], "size") if len(size) == 1 and isinstance(size[0], (tuple, list))
                                               else size),
    "soft_shrink": lambda self, lambd=0.5: _op("softshrink")(self, lambd),
    "top_k": lambda self, k, sorted=True: _op("topk")(self, k, None, True, sorted),
    "choose": lambda self, choices, mode="clip": _choose(self, choices, mode),
    "put_": lambda self, index, source, accumulate=False: _put_into(self, index, source, accumulate),
    "addmm_": lambda self, mat1, mat2, *, beta=1, alpha=1: self.copy_(beta * self + alpha * _op("matmul")(mat1, mat2)),
    "unfold": lambda self, kernel_size, dilation=1, padding=0, stride=1: _op("unfold")(self, kernel_size, dilation, padding, stride),
    "col2im": lambda self, output_size, kernel_size, dilation, padding_value, stride: _op("col2im")(
        self, output_size, kernel_size, dilation, padding_value, stride),
    "i0": lambda self: i0(self), "inv": lambda self: _op("inv")(self)}


def _choose(x, choices, mode):
    """From several Tensors, for each element of x the one that it numbers; mode: what becomes of numbers out of range."""
    rows = [c if isinstance(c, Tensor) else Tensor(c) for c in choices]
    shape = _op("broadcast_to")
    n = len(rows)
    if mode == "clip":
        x = _op("clamp")(x, 0, n - 1)
    elif mode == "wrap":
        x = x % n
    elif mode == "raise":
        if int(x.min()) < 0 or int(x.max()) >= n:
            raise ValueError(f"choose: numbers must be between 0 and {n - 1}")
    else:
        raise ValueError(f"choose: mode must be 'raise', 'wrap' or 'clip', but got {mode!r}")
    full = x
    for row in rows:
        full = full * 0 + row * 0
    sizes = tuple(full.shape)
    stacked = array.stack([shape(row, sizes) for row in rows], 0)
    return _op("gather_elements")(stacked, 0, shape(x, sizes).expand_dims(0).astype(mstype.int64))[0]


def _put_into(x, index, source, accumulate):
    """Elements at places of the flattened Tensor replaced, or added to; the Tensor is written."""
    places = index.reshape((-1, 1)).astype(mstype.int64)
    values = source.reshape((-1,)).astype(x.dtype)
    if places.shape[0] != values.shape[0]:
        raise ValueError(f"put_: index and source must have as many elements, but have {places.shape[0]} and {values.shape[0]}")
    flat = x.reshape((-1,))
    done = _op("tensor_scatter_add" if accumulate else "tensor_scatter_update")(flat, places, values)
    return x.copy_(done.reshape(x.shape))


def _sum_to(x, size):
    """The sum over dimensions until the shape is `size`."""
    lead = x.ndim - len(size)
    if lead < 0 or any(n not in (1, m) for n, m in zip(size, x.shape[lead:])):
        raise ValueError(f"sum_to_size: shape {x.shape} cannot be summed to {tuple(size)}")
    axes = tuple(range(lead)) + tuple(lead + i for i, n in enumerate(size) if n == 1 and x.shape[lead + i] != 1)
    return (x.sum(axes, keepdims=True) if axes else x).reshape(tuple(size))


for _name, _doc in {"cauchy": "Random numbers of Cauchy's distribution, of this shape.",
                    "log_normal": "Random numbers, of this shape, whose logarithms are normal.",
                    "sum_to_size": "The sum over dimensions until the shape is the one given.",
                    "soft_shrink": "See ops.softshrink.", "top_k": "See ops.topk.", "i0": "See ops.bessel_i0.",
                    "inv": "One divided by each element."}.items():
    TENSOR_METHODS[_name].__name__ = TENSOR_METHODS[_name].__qualname__ = _name
    TENSOR_METHODS[_name].__doc__ = _doc


def soft_shrink(input, lambd=0.5) -> Tensor:
    """See ops.softshrink."""
    return _op("softshrink")(input, lambd)


def top_k(input_x, k, sorted=True):
    """The k largest elements of each row, and where they stand."""
    return _op("topk")(input_x, k, None, True, sorted)


def i0(input) -> Tensor:
    """The modified Bessel function of order 0; see ops.bessel_i0."""
    return _apply("bessel_i0", (input,))


def row_stack(tensors) -> Tensor:
    """See ops.vstack."""
    return _op("vstack")(tensors)


def tensor_slice(input, begin, size) -> Tensor:
    """See ops.slice."""
    return array.slice(input, begin, size)


def col2im(input_x, output_size, kernel_size, dilation, padding_value, stride) -> Tensor:
    """Windows [batch, channels, elements, windows] added up to pictures."""
    n, channels, elements, windows = input_x.shape
    return _op("fold")(input_x.reshape((n, channels * elements, windows)), tuple(ints_of(output_size, "output_size")), kernel_size,
                       dilation, padding_value, stride)


__all__ += ["i0", "soft_shrink", "top_k", "row_stack", "tensor_slice", "col2im"]

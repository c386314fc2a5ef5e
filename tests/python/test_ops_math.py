# SPDX-License-Identifier: Apache-2.0
"""Mathematics through Python: forms of arguments that the operator table cannot tell, values against numpy."""
import copy
import pickle

import numpy as np
import pytest

import spore as ms
from spore import Tensor, _core, mint, ops
from spore.ops import composite as C
from spore.ops import functional as F
from spore.ops import operations as P
from spore.ops.operations.array_ops import Cast as ArrayCast

RNG = np.random.Generator(np.random.PCG64(11))
X = RNG.uniform(-2, 2, (3, 4)).astype(np.float32)
Y = RNG.uniform(0.5, 2, (3, 4)).astype(np.float32)


def close(tensor, expected, rtol=1e-5, atol=1e-6):
    expected = np.asarray(expected)
    assert tensor.shape == expected.shape
    np.testing.assert_allclose(tensor.asnumpy(), expected, rtol=rtol, atol=atol)


# --- addresses -------------------------------------------------------------------------------------------------------

def test_every_address_shows_the_same_names():
    import spore.ops.function.math_func as math_func
    from spore.ops import auto_generate
    assert P.Add is ops.Add and F.add is ops.add and C.HyperMap is ops.HyperMap
    assert math_func.cumsum is ops.cumsum
    assert ArrayCast is ops.Cast
    assert auto_generate.Mul is ops.Mul
    for module in (ops, P, F, C):
        with pytest.raises(AttributeError, match="no_such_operator"):
            module.no_such_operator


# --- primitives ------------------------------------------------------------------------------------------------------

def test_primitive_keeps_what_it_was_given():
    op = P.ReduceSum(keep_dims=True)
    assert (op.name, op.keep_dims, op.skip_mode) == ("ReduceSum", True, False)
    assert op.add_prim_attr("tag", 3) is op and op.tag == 3 and op.attrs["tag"] == 3
    assert op.shard(((1, 2),)).in_strategy == ((1, 2),)
    assert op.set_prim_instance_name("sum_1").instance_name == "sum_1"
    assert op.recompute().attrs["recompute"] is True
    close(op(Tensor(X), 1), X.sum(1, keepdims=True))
    with pytest.raises(TypeError):
        op.shard([1])
    with pytest.raises(TypeError):
        P.ReduceSum(no_such=1)


def test_primitive_survives_copies():
    op = P.ReduceMax(keep_dims=True)
    for other in (copy.copy(op), copy.deepcopy(op), pickle.loads(pickle.dumps(op))):
        close(other(Tensor(X), 0), X.max(0, keepdims=True))


def test_primitive_by_name_finds_the_operator():
    close(ops.Primitive("Add")(Tensor(X), Tensor(Y)), X + Y)
    op = ops.Primitive("ReduceSum").add_prim_attr("keep_dims", True)
    close(op(Tensor(X), 0), X.sum(0, keepdims=True))
    with pytest.raises(NotImplementedError, match="NoSuchThing"):
        ops.Primitive("NoSuchThing")(Tensor(X))


def test_user_primitives():
    class Scale(ops.PrimitiveWithInfer):
        @ops.prim_attr_register
        def __init__(self, factor, shift=1):
            self.init_prim_io_names(inputs=["x"], outputs=["y"])

        def vm_impl(self, x):
            return x * self.factor + self.shift

    op = Scale(2.0)
    assert (op.name, op.factor, op.shift, op.input_names) == ("Scale", 2.0, 1, ["x"])
    close(op(Tensor(X)), X * 2 + 1)

    class Twice(ops.Primitive):
        def __init__(self):
            super().__init__("Twice")

        def construct(self, x):
            return x + x
    close(Twice()(Tensor(X)), X + X)


def test_primitive_cache_gives_one_instance():
    from spore.ops._primitive_cache import _get_cache_prim
    assert _get_cache_prim(P.ReduceSum)(True) is _get_cache_prim(P.ReduceSum)(True)
    assert _get_cache_prim(P.ReduceSum)(True) is not _get_cache_prim(P.ReduceSum)(False)


def test_constexpr_runs_the_function():
    @ops.constexpr
    def double(n):
        return 2 * n

    @ops.constexpr(reuse_result=False)
    def triple(n):
        return 3 * n
    assert (double(3), triple(3)) == (6, 9)


# --- functions of functions --------------------------------------------------------------------------------------------

def test_hyper_map_reaches_leaves_and_map_items():
    add = ops.MultitypeFuncGraph("add")

    @add.register("Tensor", "Tensor")
    def _tensors(x, y):
        return x + y

    @add.register("Number", "Number")
    def _numbers(x, y):
        return x - y

    got = ops.HyperMap()(add, ((Tensor(X), 5), 1), ((Tensor(Y), 2), 4))
    close(got[0][0], X + Y)
    assert got[0][1] == 3 and got[1] == -3
    assert ops.HyperMap(add)((1, 2), (3, 5)) == (-2, -3)
    assert ops.HyperMap(lambda a: a + 1)([1, [2, 3]]) == (2, (3, 4)) and ops.Map(lambda a: -a)([1, 2]) == (-1, -2)
    assert ops.Map()(lambda a, b: a * b, (2, 3), (4, 5)) == (8, 15)
    seen = []
    ops.Map(lambda a: seen.append(a), reverse=True)((1, 2, 3))
    assert seen == [3, 2, 1]
    with pytest.raises(ValueError, match="'add' is not defined"):
        add("a", 1)
    assert ops.HyperMap(add)((1, 2), (3,)) == (-2,)      # as in MindSpore's eager mode; graphs refuse (tests/graph)
    with pytest.raises(RuntimeError, match="tuples in HyperMap should have the same length"):
        ms.jit(lambda: ops.HyperMap(add)((1, 2), (3,)))()


def test_partial_and_flags():
    assert ops.partial(lambda a, b: a - b, 5)(2) == 3
    assert P.Partial()(lambda a, b: a - b, 5)(2) == 3

    @ops.add_flags(has_effect=True)
    def f():
        return 1
    assert f() == 1 and f._func_graph_flags == {"has_effect": True}


def test_mixed_precision_cast_changes_floats_only():
    got = ops.mixed_precision_cast(ms.float16, (Tensor(X), {"n": Tensor([1, 2])}, 3))
    assert got[0].dtype == ms.float16 and got[1]["n"].dtype == ms.int64 and got[2] == 3


# --- extrema and norms -------------------------------------------------------------------------------------------------

def test_forms_of_max():
    x = Tensor(X)
    values, index = ops.max(x, 1)
    close(values, X.max(1))
    assert index.asnumpy().tolist() == X.argmax(1).tolist() and index.dtype == ms.int64
    value, index = ops.max(x)
    close(value, X.max())
    assert index.asnumpy() == 0
    close(x.max(), X.max())
    close(x.max(axis=0), X.max(0))
    close(x.max(0)[0], X.max(0))
    close(x.max(axis=0, return_indices=True)[0], X.max(0))
    close(mint.max(x), X.max())
    close(mint.max(x, 1, True)[0], X.max(1, keepdims=True))
    close(mint.min(x, Tensor(Y)), np.minimum(X, Y))
    close(ops.max(x, 1, initial=1.5)[0], np.maximum(X.max(1), 1.5))
    close(ops.amin(x, (0, 1), True), X.min(keepdims=True))
    mask = X > 0
    close(ops.amax(x, 0, initial=-9.0, where=Tensor(mask)), X.max(0, where=mask, initial=-9.0))
    with pytest.raises(ValueError, match="initial must be given"):
        ops.amax(x, 0, where=Tensor(mask))


def test_gradient_of_a_maximum_goes_to_the_first_one():
    x = Tensor([[1.0, 3.0, 3.0], [2.0, 0.0, 1.0]])
    got = ms.grad(lambda t: ops.ArgMaxWithValue(axis=1)(t)[1])(x)
    assert got.asnumpy().tolist() == [[0, 1, 0], [1, 0, 0]]
    got = ms.grad(lambda t: ops.ReduceMax()(t, 1))(x)
    assert got.asnumpy().tolist() == [[0, 0.5, 0.5], [1, 0, 0]]


@pytest.mark.parametrize("order", [None, "fro", 1, -1, np.inf, -np.inf])
def test_matrix_norms(order):
    close(ops.norm(Tensor(X), order), np.linalg.norm(X, order))
    close(ops.norm(Tensor(X), order, (1, 0), True), np.linalg.norm(X.T, order, keepdims=True))


@pytest.mark.parametrize("order", [0, 1, 2, 3, 0.5, -2, np.inf, -np.inf])
def test_vector_norms(order):
    close(ops.norm(Tensor(X), order, 1), np.linalg.norm(X, order, 1), rtol=1e-4)
    close(ops.vector_norm(Tensor(X), order), np.linalg.norm(X.ravel(), order), rtol=1e-4)


def test_norm_of_zero_has_a_gradient():
    assert ms.grad(ops.norm)(Tensor(np.zeros(3, np.float32))).asnumpy().tolist() == [0, 0, 0]


def test_norm_refuses():
    with pytest.raises(ValueError, match="ord"):
        ops.norm(Tensor(X), 0)
    with pytest.raises(TypeError):
        ops.norm(3.0)


# --- division --------------------------------------------------------------------------------------------------------

def test_division_of_integers_follows_python():
    a, b = np.array([7, -7, 7, -7], np.int32), np.array([2, 2, -2, -2], np.int32)
    assert (Tensor(a) // Tensor(b)).asnumpy().tolist() == (a // b).tolist()
    assert (Tensor(a) % Tensor(b)).asnumpy().tolist() == (a % b).tolist()
    assert ops.TruncateDiv()(Tensor(a), Tensor(b)).asnumpy().tolist() == [3, -3, -3, 3]
    assert ops.TruncateMod()(Tensor(a), Tensor(b)).asnumpy().tolist() == [1, -1, 1, -1]
    assert ops.div(Tensor(a), 2, rounding_mode="trunc").dtype == ms.int32
    close(ops.div(Tensor(a), Tensor(b)), a / b)
    with pytest.raises(ValueError, match="rounding_mode is 'up'"):
        ops.div(Tensor(a), 2, rounding_mode="up")


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32, np.int64])
def test_division_that_would_trap(dtype):
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    x = Tensor(np.array([low, high, low, 0, 5], dtype))
    y = Tensor(np.array([-1, 0, 0, 0, -1], dtype))
    assert (x // y).asnumpy().tolist() == [low, high, low, 0, -5]
    assert (x % y).asnumpy().tolist() == [0] * 5


def test_powers():
    assert ops.pow(Tensor([2, -3, 1, -1]), Tensor([10, 3, -5, -3])).asnumpy().tolist() == [1024, -27, 1, -1]
    assert (Tensor([2]) ** -1).asnumpy().tolist() == [0]
    close(2 ** Tensor(X), 2 ** X)
    dx, dy = ms.grad(ops.pow, (0, 1))(Tensor([0.0, 0.0, 2.0]), Tensor([0.0, 2.0, 3.0]))
    close(dx, [0, 0, 12])
    close(dy, [0, 0, 8 * np.log(2)])


# --- bounds ----------------------------------------------------------------------------------------------------------

def test_clamp_takes_numbers_tensors_and_nests():
    x = Tensor(X)
    close(ops.clamp(x, -1, 1), X.clip(-1, 1))
    close(ops.clip_by_value(x, Tensor(-0.5), Tensor(0.5)), X.clip(-0.5, 0.5))
    close(x.clip(max=0.25), X.clip(None, 0.25))
    both = C.clip_by_value((x, [x]), clip_value_min=0.0)
    close(both[0], X.clip(0))
    close(both[1][0], X.clip(0))
    assert ops.clamp(Tensor([1, 5]), 0.5, 2).dtype == ms.float32
    with pytest.raises(ValueError, match="min and max"):
        ops.clamp(x)


# --- products --------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("equation, shapes", [
    ("ij,jk->ik", [(2, 3), (3, 4)]), ("ij,kj->ki", [(2, 3), (4, 3)]), ("bij,bjk->bik", [(2, 3, 4), (2, 4, 5)]),
    ("ij->j", [(2, 3)]), ("ij->ji", [(2, 3)]), ("ii->i", [(3, 3)]), ("ii", [(3, 3)]), ("i,j->ij", [(2,), (3,)]),
    ("i,i", [(3,), (3,)]), ("...ij,...jk->...ik", [(2, 1, 3, 4), (5, 4, 2)]), ("bij,ij->b", [(2, 3, 4), (3, 4)]),
    ("ab,bc,cd->ad", [(2, 3), (3, 4), (4, 5)]), ("ij,jk", [(2, 3), (3, 4)]), ("iij->ij", [(3, 3, 2)]),
    ("bhwc,c->bhw", [(2, 3, 2, 4), (4,)]), ("i...->...", [(2, 3, 4)]), ("ij,ij->ij", [(2, 3), (2, 3)])])
def test_einsum(equation, shapes):
    arrays = [RNG.uniform(-1, 1, s).astype(np.float32) for s in shapes]
    close(ops.einsum(equation, *map(Tensor, arrays)), np.einsum(equation, *arrays), rtol=1e-4, atol=1e-5)
    ms.grad(lambda x: ops.einsum(equation, x, *map(Tensor, arrays[1:])))(Tensor(arrays[0]))


@pytest.mark.parametrize("equation", ["ij,jk->il", "ij->ijk", "ij", "i.j,jk", "ij,jk,kl->il"])
def test_einsum_refuses(equation):
    with pytest.raises(ValueError, match="einsum"):
        ops.einsum(equation, Tensor(X), Tensor(X.T))


def test_products():
    a, b = RNG.uniform(-1, 1, (2, 3, 4)).astype(np.float32), RNG.uniform(-1, 1, (4, 3, 5)).astype(np.float32)
    close(ops.tensor_dot(Tensor(a), Tensor(b), ((1, 2), (1, 0))), np.tensordot(a, b, ((1, 2), (1, 0))), rtol=1e-4)
    close(ops.tensor_dot(Tensor(X), Tensor(X), 0), np.tensordot(X, X, 0))
    close(ops.kron(Tensor(X), Tensor(Y[:2, :2])), np.kron(X, Y[:2, :2]))
    close(ops.cross(Tensor(X), Tensor(Y)), np.cross(X, Y, axis=0))
    close(ops.inner(Tensor(X), Tensor(Y)), X @ Y.T, rtol=1e-4)
    close(mint.dot(Tensor(X[0]), Tensor(Y[0])), X[0] @ Y[0])
    close(ops.addmm(Tensor(X[:, :3]), Tensor(X), Tensor(Y.T), beta=0.5, alpha=2), 0.5 * X[:, :3] + 2 * X @ Y.T, rtol=1e-4, atol=1e-5)
    close(ops.outer(Tensor(X[0]), Tensor(Y[0])), np.outer(X[0], Y[0]))
    with pytest.raises(ValueError, match="do not match"):
        ops.tensor_dot(Tensor(X), Tensor(Y), 1)
    with pytest.raises(ValueError, match="size 3"):
        ops.cross(Tensor(X[:2]), Tensor(Y[:2]))


def test_matrices():
    m = (RNG.uniform(-1, 1, (2, 3, 3)) + 2 * np.eye(3)).astype(np.float64)
    close(ops.inverse(Tensor(m)), np.linalg.inv(m), rtol=1e-9)
    close(ops.det(Tensor(m)), np.linalg.det(m), rtol=1e-9)
    sign, size = ops.slogdet(Tensor(-m))
    close(sign, np.linalg.slogdet(-m)[0])
    close(size, np.linalg.slogdet(-m)[1], rtol=1e-9)
    for n in (-2, 0, 1, 5):
        close(ops.matrix_power(Tensor(m), n), np.linalg.matrix_power(m, n), rtol=1e-8)
    with pytest.raises(ValueError, match="singular"):
        ops.inverse(Tensor(np.zeros((2, 2), np.float32)))
    with pytest.raises(ValueError, match="equal"):
        ops.det(Tensor(X))


# --- statistics ------------------------------------------------------------------------------------------------------

def test_statistics():
    x = Tensor(X)
    close(ops.var(x, 1, 1), X.var(1, ddof=1), rtol=1e-4)
    close(x.std(axis=0, keepdims=True), X.std(0, keepdims=True), rtol=1e-4)
    close(mint.std(x), X.std(ddof=1), rtol=1e-4)
    spread, middle = ops.std_mean(x, 0)
    close(spread, X.std(0), rtol=1e-4)
    close(middle, X.mean(0))
    close(ops.cov(x), np.cov(X), rtol=1e-4)
    close(ops.diff(x), np.diff(X))
    close(ops.trapz(x, dx=0.5), np.trapezoid(X, dx=0.5) if hasattr(np, "trapezoid") else np.trapz(X, dx=0.5), rtol=1e-4)
    close(ops.cumsum(x, 1), X.cumsum(1))
    close(ops.CumSum(exclusive=True, reverse=True)(x, 0), X[::-1].cumsum(0)[::-1] - X)
    close(ops.logsumexp(x, 1), np.log(np.exp(X).sum(1)), rtol=1e-5)
    big = Tensor([[1000.0, 1000.0], [-np.inf, -np.inf]])
    np.testing.assert_allclose(ops.logsumexp(big, 1).asnumpy(), [1000 + np.log(2), -np.inf])
    assert ops.bincount(Tensor([1, 2, 2]), minlength=5).asnumpy().tolist() == [0, 1, 2, 0, 0]
    assert ops.count_nonzero(Tensor([[0, 1], [2, 3]]), 1).asnumpy().tolist() == [1, 2]
    close(ops.quantile(x, 0.3, 1), np.quantile(X, 0.3, 1), rtol=1e-4, atol=1e-5)
    close(ops.quantile(x, Tensor([0.0, 0.5, 1.0])), np.quantile(X, [0, 0.5, 1]), rtol=1e-4, atol=1e-5)
    holes = X.copy()
    holes[0, 1] = np.nan
    close(ops.nanquantile(Tensor(holes), 0.5, 1), np.nanquantile(holes, 0.5, 1), rtol=1e-4, atol=1e-5)
    assert np.isnan(ops.quantile(Tensor(holes), 0.5).asnumpy())
    values, index = mint.kthvalue(x, 2, 1)
    close(values, np.sort(X, 1)[:, 1])
    assert index.asnumpy().tolist() == X.argsort(1)[:, 1].tolist()


def test_cumprod_gradient_survives_zeros():
    x = np.array([2.0, 0.0, 3.0, 0.0, 4.0])
    g = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    expected = [sum(g[i] * np.prod(np.delete(x[:i + 1], k)) for i in range(k, 5)) for k in range(5)]
    got = ms.grad(lambda t: (ops.cumprod(t, 0) * Tensor(g)).sum())(Tensor(x))
    close(got, expected)


def test_dtypes_of_sums():
    assert ops.sum(Tensor([True, True])).dtype == ms.int64
    assert ops.ReduceSum()(Tensor(np.ones(3, np.int32))).dtype == ms.int32
    assert Tensor(np.ones(3, np.int8)).cumsum(0).dtype == ms.int32
    assert ops.cumsum(Tensor(np.ones(3, np.int8)), 0).dtype == ms.int8
    assert ops.mean(Tensor(np.array([1, 2], np.int32))).asnumpy().tolist() == 1
    assert ops.argmin(Tensor(X)).dtype == ms.int32 and ops.argmax(Tensor(X)).dtype == ms.int64


# --- second derivatives ------------------------------------------------------------------------------------------------

W = RNG.uniform(0.5, 1.5, (2, 3))
TWICE = {
    "pow": lambda t: (ops.pow(t, 2.5) * Tensor(W)).sum(), "cumprod": lambda t: (ops.cumprod(t, 1) * Tensor(W)).sum(),
    "logsumexp": lambda t: ops.logsumexp(t, (0, 1)), "norm": ops.norm, "prod": ops.prod,
    "einsum": lambda t: ops.einsum("ij,kj->", t * t, t), "lgamma": lambda t: (ops.lgamma(t) * Tensor(W)).sum(),
    "sinc": lambda t: (ops.sinc(t) * Tensor(W)).sum(), "erfinv": lambda t: (ops.erfinv(t * 0.3) * Tensor(W)).sum(),
    "atan2": lambda t: (ops.atan2(t, t * t + 1) * Tensor(W)).sum(), "max": lambda t: ops.max(t * t * t, 1)[0].sum(),
    "median": lambda t: ops.median(t * t * t, 1)[0].sum(), "cummax": lambda t: (ops.cummax(t * t * t, 1)[0] * Tensor(W)).sum(),
    "logcumsumexp": lambda t: (ops.logcumsumexp(t, 1) * Tensor(W)).sum(), "std": lambda t: ops.std(t * t),
    "inverse": lambda t: ops.inverse(ops.matmul(t, ops.swapaxes(t, 0, 1))).sum(),
    "det": lambda t: ops.det(ops.matmul(t, ops.swapaxes(t, 0, 1))), "cdist": lambda t: ops.cdist(t, t * t + 3).sum(),
    "cosine_similarity": lambda t: ops.cosine_similarity(t, t * t).sum(), "quantile": lambda t: ops.quantile(t * t * t, 0.3),
    "hypot": lambda t: ops.hypot(t, t * t).sum(), "logaddexp": lambda t: ops.logaddexp(t, t * t).sum(),
    "complex_abs": lambda t: ops.abs(ops.Complex()(t, t * t)).sum()}


@pytest.mark.parametrize("name", sorted(TWICE))
def test_second_derivatives(name):
    f = TWICE[name]
    x, v = np.linspace(0.55, 1.85, 6)[[3, 0, 5, 1, 4, 2]].reshape(2, 3), RNG.uniform(-1, 1, (2, 3))
    step = 1e-5
    ahead, behind = (ms.grad(f)(Tensor(x + sign * step * v)).asnumpy() for sign in (1, -1))
    got = ms.grad(lambda t: (ms.grad(f)(t) * Tensor(v)).sum())(Tensor(x))
    close(got, (ahead - behind) / (2 * step), rtol=2e-4, atol=1e-4)


# --- complex ---------------------------------------------------------------------------------------------------------

def test_complex_numbers():
    z = (X + 1j * Y).astype(np.complex64)
    for got, expected in ((ops.real(Tensor(z)), X), (ops.imag(Tensor(z)), Y), (ops.abs(Tensor(z)), np.abs(z)),
                          (ops.angle(Tensor(z)), np.angle(z)), (ops.Complex()(Tensor(X), Tensor(Y)), z),
                          (ops.polar(Tensor(Y), Tensor(X)), Y * np.exp(1j * X))):
        close(got, expected, rtol=1e-4)
    assert ops.real(Tensor(X)).dtype == ms.float32

    def energy(re, im):
        w = ops.Complex()(re, im)
        return (ops.abs(w * w) + ops.real(w) * ops.imag(w)).sum()
    re, im = ms.grad(energy, (0, 1))(Tensor(X), Tensor(Y))
    close(re, 2 * X + Y, rtol=1e-4, atol=1e-5)       # |w|^2 + re im
    close(im, 2 * Y + X, rtol=1e-4, atol=1e-5)


# --- values and order --------------------------------------------------------------------------------------------------

def test_values():
    x = Tensor(X)
    assert P.Shape()(x) == (3, 4) and P.Rank()(x) == 2 and P.Size()(x) == 12 and P.DType()(x) == ms.float32
    assert ops.scalar_cast(2.7, ms.int64) == 2 and P.ScalarCast()(2, ms.float32) == 2.0
    assert ops.scalar_to_tensor(2).dtype == ms.float32 and P.ScalarToTensor()(2, ms.int32).dtype == ms.int32
    assert ops.make_range(1, 7, 2) == (1, 3, 5) and ops.tuple_len((1, 2)) == 2
    assert ops.range(0, 5, 2).asnumpy().tolist() == [0, 2, 4]
    assert P.Range()(Tensor(0.0), Tensor(1.0), Tensor(0.25)).asnumpy().tolist() == [0, 0.25, 0.5, 0.75]
    assert ops.depend(x, 1) is x and P.Depend()(x, 1) is x
    with pytest.raises(ValueError, match="step"):
        ops.range(0, 5, 0)
    with pytest.raises(TypeError, match="Shape"):
        P.Shape()(3)


def test_stop_gradient_is_a_constant():
    got = ms.grad(lambda x: (x * ops.stop_gradient(x)).sum())(Tensor(X))
    close(got, X)
    assert ops.stop_gradient((1, 2)) == (1, 2)


def test_float_status():
    assert P.FloatStatus()(Tensor(X)).asnumpy().tolist() == [0]
    assert P.FloatStatus()(Tensor([1.0, np.inf])).asnumpy().tolist() == [1]
    flags = P.NPUAllocFloatStatus()()
    assert P.NPUGetFloatStatus()(flags).asnumpy().tolist() == [0] * 8


def test_print_shows_tensors(capsys):
    ops.Print()("loss", Tensor([1.5]), (1, Tensor(2)))
    assert capsys.readouterr().out == ("loss\nTensor(shape=[1], dtype=Float32, value= [ 1.50000000e+00])\n"
                                       "(1, Tensor(shape=[], dtype=Int64, value= 2))\n")


def test_hook_backward_sees_and_replaces_the_gradient():
    seen = []

    def hook(grads):
        seen.append(grads[0].asnumpy().copy())
        return grads[0] * 10
    got = ms.grad(lambda x: (P.HookBackward(hook)(x) * 3).sum())(Tensor(X))
    close(got, np.full_like(X, 30))
    assert len(seen) == 1 and (seen[0] == 3).all()


def test_in_place_methods_write_to_the_tensor():
    x = Tensor(X.copy())
    assert x.add_(Tensor(Y), alpha=2) is x
    close(x, X + 2 * Y)
    x.mul_(0.5).sub_(1)
    close(x, (X + 2 * Y) / 2 - 1)
    x.clamp_(0, 1)
    close(x, ((X + 2 * Y) / 2 - 1).clip(0, 1))


@pytest.mark.parametrize("shape, axis", [((700_001,), None), ((70_000, 10), 0), ((10, 70_000), 1), ((2, 300_000, 3), 1),
                                         ((300, 10, 300), (0, 2)), ((1, 400_000, 1), None)])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "complex64"])
def test_long_reductions_equal_numpy_whatever_the_threads(shape, axis, dtype):
    rng = np.random.default_rng(1)
    x = (rng.standard_normal(shape) * 10).astype(dtype)
    names = ["sum"] if dtype == "complex64" else ["sum", "max", "min"]
    for name in names:
        f = lambda: _core.apply("reduce_" + name, [Tensor(x)], {"axis": axis}).asnumpy()
        before = _core.threads()
        try:
            _core.threads_set(1)
            alone = f()
            _core.threads_set(3)
            together = f()
        finally:
            _core.threads_set(before)
        np.testing.assert_array_equal(alone, together)
        wide = {"f": np.float64, "c": np.complex128}.get(x.dtype.kind, x.dtype)
        wanted = getattr(np, name)(x.astype(wide), axis)
        np.testing.assert_allclose(alone, wanted, rtol=1e-5 if x.dtype.itemsize < 8 or x.dtype.kind == "c" else 1e-12, atol=1e-3)
    flags = x.astype(bool)
    for name in ("all", "any"):
        got = _core.apply("reduce_" + name, [Tensor(flags)], {"axis": axis}).asnumpy()
        np.testing.assert_array_equal(got, getattr(np, name)(flags, axis))


def test_nan_reaches_the_extremum_from_any_block():
    for at in (0, 399_999, 700_000):
        x = np.zeros(700_001, np.float32)
        x[at] = np.nan
        assert np.isnan(Tensor(x).max().asnumpy()) and np.isnan(Tensor(x).sum().asnumpy())


def test_casts_of_float16_round_as_numpy_does():
    halves = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    np.testing.assert_array_equal(Tensor(halves).astype(ms.float32).asnumpy().view(np.uint32)[~np.isnan(halves)],
                                  halves.astype(np.float32).view(np.uint32)[~np.isnan(halves)])
    bits = RNG.integers(0, 1 << 32, 100_003, dtype=np.uint32)
    edges = np.concatenate([np.nextafter(v, s) for v in [halves[np.isfinite(halves)].astype(np.float32)] for s in (-np.inf, np.inf)])
    with np.errstate(over="ignore"):
        for x in (bits.view(np.float32), edges.astype(np.float32), np.float32([65519.9, 65520, -65520, 3e-8, 2.9e-8, np.inf])):
            for step in (1, 2):  # in a row, and spaced
                got, want = Tensor(x)[::step].astype(ms.float16).asnumpy(), x[::step].astype(np.float16)
                np.testing.assert_array_equal(np.isnan(got), np.isnan(want))
                np.testing.assert_array_equal(got.view(np.uint16)[~np.isnan(want)], want.view(np.uint16)[~np.isnan(want)])


@pytest.mark.parametrize("exponent", [2, 3, 2.5, -1, 0])
def test_powers_do_not_depend_on_where_the_exponent_lies(exponent):
    x = np.concatenate([RNG.uniform(0, 50, 1003), [0.0, np.inf, np.nan, 1e30, 1e-30]]).astype(np.float32)
    if exponent in (2, 3):
        x = np.concatenate([x, -x])
    with np.errstate(over="ignore", divide="ignore", under="ignore"):
        want = np.power(x.astype(np.float64), exponent).astype(np.float32)
    one = ops.pow(Tensor(x), exponent).asnumpy()
    np.testing.assert_allclose(one, want, rtol=2e-7)
    many = ops.pow(Tensor(x), Tensor(np.full(x.shape, exponent, np.float32))).asnumpy()
    compiled = ms.jit(lambda a: ops.pow(a, exponent))(Tensor(x)).asnumpy()
    np.testing.assert_array_equal(one.view(np.uint32), many.view(np.uint32))
    np.testing.assert_array_equal(one.view(np.uint32), compiled.view(np.uint32))


@pytest.mark.parametrize("dtype", [ms.float16, ms.bfloat16])
@pytest.mark.parametrize("shape", [(3, 5), (2, 7, 1000), (2, 8193), (4, 1)])
def test_softmax_of_half_precision_is_that_of_float32_rounded_once(dtype, shape):
    x = Tensor(RNG.normal(0, 3, shape).astype(np.float32)).astype(dtype)
    for fn in (ops.softmax, ops.log_softmax):
        got = fn(x, -1)
        assert got.dtype == dtype
        want = fn(x.astype(ms.float32), -1).astype(dtype).astype(ms.float32).asnumpy()
        np.testing.assert_allclose(got.astype(ms.float32).asnumpy(), want, rtol=2 ** -7 if dtype == ms.bfloat16 else 2 ** -10, atol=1e-7)
        slope = ms.grad(lambda a, f=fn: (f(a, -1) * 2).astype(ms.float32)[..., 0].sum())(x)
        wide = ms.grad(lambda a, f=fn: (f(a, -1) * 2)[..., 0].sum())(x.astype(ms.float32)).asnumpy()
        np.testing.assert_allclose(slope.astype(ms.float32).asnumpy(), wide, rtol=0.02, atol=0.02)


def test_einsum_with_numbered_axes():
    a, b = np.random.rand(2, 3, 4).astype(np.float32), np.random.rand(3, 4, 5).astype(np.float32)
    x, y = Tensor(a), Tensor(b)
    np.testing.assert_allclose(ops.einsum(x, [0, ...], y, [..., 51]).asnumpy(), np.einsum("a...,...b", a, b), 1e-5)
    np.testing.assert_allclose(ops.einsum(x, [23, 24, 25], y, [24, 25, 1], [1, 23]).asnumpy(), np.einsum("abc,bcd->da", a, b), 1e-5)
    np.testing.assert_allclose(ops.einsum(x, [1, 2, 3], []).asnumpy(), a.sum(), 1e-5)
    for wrong in ((x, y), (x, [0, 1, 60]), (x,)):
        with pytest.raises((ValueError, TypeError), match="einsum"):
            ops.einsum(*wrong)


def test_share_of_the_normal_distribution_below():
    from math import erfc, sqrt
    points = [-20.0, -12.0, -5.0, -1.0, 0.0, 0.3, 9.0]
    for dtype, room in ((ms.float32, 2e-7), (ms.float64, 1e-13)):
        x = Tensor(points, dtype)
        wanted = [0.5 * erfc(-p / sqrt(2)) for p in x.asnumpy().astype(float)]
        np.testing.assert_allclose(ops.ndtr(x).asnumpy(), np.array(wanted, x.asnumpy().dtype), rtol=room)
    assert ops.ndtr(Tensor([float("nan"), float("inf"), -float("inf")])).asnumpy().tolist()[1:] == [1.0, 0.0]

# SPDX-License-Identifier: Apache-2.0
"""Tensors from Python values and back, their properties, text, arithmetic, copies."""
import copy
import gc
import pickle
import weakref

import numpy as np
import pytest

import spore as ms
from spore import Parameter, Tensor


# --- making ------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("value, dtype, shape", [
    (1, ms.int64, ()), (1.5, ms.float32, ()), (True, ms.bool_, ()), (1 + 2j, ms.complex128, ()),
    ([1, 2], ms.int64, (2,)), ([1.5, 2], ms.float32, (2,)), ([True, 1], ms.int64, (2,)), ([True, False], ms.bool_,
        (2,)),
    ([1, 1j], ms.complex128, (2,)), ([], ms.float32, (0,)), ([[]], ms.float32, (1, 0)), (((1, 2), [3, 4]), ms.int64,
        (2, 2)),
    (np.float64(1.5), ms.float64, ()), (np.array([1.5]), ms.float64, (1,)), (np.array([1, 2], np.int32), ms.int32,
        (2,)),
    (np.float16(2), ms.float16, ()), ([np.float32(1)], ms.float32, (1,)), (2 ** 63, ms.uint64, ()), ([1, 2 ** 63],
        ms.float32, (2,)),
    (np.ones((2, 3))[:, ::2], ms.float64, (2, 2)), ([np.array([1, 2]), np.array([3, 4])], ms.int64, (2, 2)),
])
def test_default_dtypes(value, dtype, shape):
    t = Tensor(value)
    assert t.dtype == dtype
    assert t.shape == shape
    np.testing.assert_array_equal(t.asnumpy(), np.array(value).astype(ms.dtype_to_nptype(dtype)))


@pytest.mark.parametrize("value, dtype, result", [
    (1, ms.float16, 1.0), (1.7, ms.int32, 1), ([1.5, 2.5], ms.int32, [1, 2]), (True, ms.float32, 1.0), (300, ms.uint8,
        44),
    (-1, ms.uint8, 255), ([1 + 2j], ms.float32, [1.0]), (np.array([1.5]), ms.bfloat16, [1.5])])
def test_given_dtype(value, dtype, result):
    t = Tensor(value, dtype)
    assert t.dtype == dtype
    assert t.tolist() == result


@pytest.mark.parametrize("arguments", [
    dict(input_data="abc"), dict(input_data=["a", "b"]), dict(input_data=[[1, 2],
        [3]]), dict(input_data=None), dict(input_data={1: 2}),
    dict(input_data=object()), dict(input_data=range(3)), dict(input_data=np.array([1, 2], ">i4")), dict(input_data=1,
        dtype="float32"),
    dict(input_data=1, dtype=np.float32), dict(input_data=1, dtype=ms.number), dict(input_data=1,
        const_arg=3), dict(dtype=ms.float32)])
def test_what_is_no_tensor_is_a_type_error(arguments):
    with pytest.raises(TypeError):
        Tensor(**arguments)


def test_shape_with_data_is_a_value_error():
    with pytest.raises(ValueError, match="shape"):
        Tensor([1, 2], shape=(2,), dtype=ms.float32)
    with pytest.raises(RuntimeError, match="64 bits"):
        Tensor(2 ** 70)


def test_list_of_tensors():
    t = Tensor([Tensor(1), Tensor(2)])
    assert t.dtype == ms.int64
    assert t.tolist() == [1, 2]


def test_initializer_runs_once_and_late():
    runs = []

    class Count(ms.common.initializer.Initializer):
        def _initialize(self, arr):
            runs.append(arr.shape)
            arr[:] = 7

    t = Tensor(shape=(2, 2), dtype=ms.float32, init=Count())
    assert t.has_init and not runs
    assert t.shape == (2, 2)
    assert t.init_data() is t
    assert not t.has_init and runs == [(2, 2)]
    with pytest.raises(TypeError):
        t.init_data()
    late = Tensor(shape=(2,), dtype=ms.float32, init=Count())
    assert (late + 1).tolist() == [8, 8]  # using it runs the initializer


# --- memory ------------------------------------------------------------------------------------------------------

def test_arrays_are_copied_in_and_shared_out():
    a = np.array([1.0, 2.0], np.float32)
    t = Tensor(a)
    a[0] = 9
    assert t.tolist() == [1, 2]
    t.asnumpy()[0] = 7
    assert t.tolist() == [7, 2]


def test_from_numpy_shares():
    a = np.arange(6).reshape(2, 3).T
    t = Tensor.from_numpy(a)
    a[0, 1] = 100
    assert t.shape == (3, 2) and t[0, 1] == 100
    with pytest.raises(TypeError):
        Tensor.from_numpy([1])
    fixed = np.ones(2)
    fixed.flags.writeable = False
    assert not np.shares_memory(Tensor.from_numpy(fixed).asnumpy(), fixed)


def test_array_outlives_its_tensor_and_a_rebinding():
    p = Parameter(Tensor([1.0, 2.0]), name="p")
    before = p.asnumpy()
    p.set_data(Tensor([3.0, 4.0]))
    del p
    gc.collect()
    assert before.tolist() == [1, 2]


def test_buffer_protocol():
    t = Tensor([[1, 2], [3, 4]], ms.int32)
    view = memoryview(t)
    assert view.shape == (2, 2) and view.format == "i" and view.tolist() == [[1, 2], [3, 4]]
    assert memoryview(t.T).strides == (4, 8)
    with pytest.raises(BufferError):
        memoryview(Tensor(1.0, ms.bfloat16))


def test_bfloat16_becomes_float32_in_numpy():
    t = Tensor([0.1, 1.5], ms.bfloat16)
    assert t.asnumpy().dtype == np.float32
    assert np.asarray(t).tolist() == t.tolist() == [0.10009765625, 1.5]


def test_array_protocol_honours_dtype_and_copy():
    t = Tensor([1.0, 2.0])
    assert t.__array__(np.float64).dtype == np.float64
    a = np.array(t)
    a[0] = 5
    assert t.tolist() == [1, 2]
    with pytest.raises(ValueError):
        t.__array__(np.int8, copy=False)


def test_properties():
    t = Tensor(np.zeros((2, 3), np.float32))
    assert (t.size, t.ndim, t.itemsize, t.nbytes, t.strides) == (6, 2, 4, 24, (12, 4))
    assert t.is_contiguous() and not t.T.is_contiguous() and t.T.shape == (3, 2)
    assert t.stride() == [3, 1] and t.storage_offset() == 0
    assert t[1].storage_offset() == 3


# --- copies, pickling, identity --------------------------------------------------------------------------------------

@pytest.mark.parametrize("dtype", [ms.float32, ms.bfloat16, ms.int8, ms.bool_, ms.complex64])
def test_pickle(dtype):
    t = Tensor([[1, 0], [1, 1]], dtype)
    u = pickle.loads(pickle.dumps(t))
    assert type(u) is Tensor and u.dtype == dtype and u.tolist() == t.tolist()


def test_copies_have_memory_of_their_own():
    t = Tensor([1.0, 2.0])
    for other in (copy.copy(t), copy.deepcopy(t), t.copy()):
        other[0] = 9
    assert t.tolist() == [1, 2]


def test_hash_weakref_attributes_and_cycles():
    t = Tensor([1.0])
    assert hash(t) == id(t) and {t: 1}[t] == 1
    t.note = t
    ref = weakref.ref(t)
    del t
    gc.collect()
    assert ref() is None


def test_dtypes_are_singletons_under_pickle():
    for dtype in (ms.float32, ms.bool_, ms.string, ms.tensor_type, ms.list_):
        assert pickle.loads(pickle.dumps(dtype)) == dtype
    assert str(ms.float32) == "Float32" and ms.float32 != np.float32
    assert ms.float32.itemsize == 4 and ms.int8.is_signed and ms.float32.to_complex() == ms.complex64


# --- arithmetic ------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("dtype, number, result", [
    (ms.float32, 1, ms.float32), (ms.float32, 1.5, ms.float32), (ms.int64, 1.5, ms.float32), (ms.bool_, 1, ms.int64),
    (ms.bool_, True, ms.bool_), (ms.float16, 1.5, ms.float16), (ms.bfloat16, 1, ms.bfloat16), (ms.uint8, 300, ms.uint8),
    (ms.int32, 2 ** 40, ms.int32), (ms.float32, np.float64(1), ms.float32), (ms.int8, np.int64(1), ms.int8)])
def test_numbers_yield_to_tensors(dtype, number, result):
    assert (Tensor([1, 0], dtype) + number).dtype == result
    assert (number + Tensor([1, 0], dtype)).dtype == result if not isinstance(number, np.generic) else True


def test_lists_and_arrays_as_operands():
    t = Tensor([1.0, 2.0, 3.0])
    assert (t + [1, 2, 3]).tolist() == [2, 4, 6]
    assert ((1, 2, 3) - t).tolist() == [0, 0, 0]
    assert (t * np.array([1, 2, 3])).tolist() == [1, 4, 9]
    for wrong in (None, "a", {}):
        with pytest.raises(TypeError):
            t + wrong


def test_comparison_with_anything():
    t = Tensor([1.0, 2.0])
    assert (t == 1).tolist() == [True, False] and (t >= Tensor([1.0, 3.0])).tolist() == [True, False]
    assert (t == None) is False and (t != None) is True and (t == "a") is False  # noqa: E711
    assert 2.0 in t and 3.0 not in t
    with pytest.raises(TypeError):
        t < None


def test_augmented_assignment_makes_a_new_tensor():
    t = Tensor([1.0, 2.0])
    u = t
    u += 1
    assert t.tolist() == [1, 2] and u.tolist() == [2, 3]


def test_one_element_as_a_number():
    assert int(Tensor(1.7)) == 1 and float(Tensor([2])) == 2.0 and not bool(Tensor([0.0]))
    assert [1, 2, 3][Tensor(1)] == 2 and Tensor([[True]]).item() is True
    for function in (int, float, bool):
        with pytest.raises(ValueError):
            function(Tensor([1, 2]))
    with pytest.raises(ValueError):
        [1, 2][Tensor(1.0)]
    with pytest.raises(TypeError):
        len(Tensor(1))
    with pytest.raises(TypeError):
        iter(Tensor(1))


# --- text ------------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("value, dtype, text", [
    (1.5, None, "Tensor(shape=[], dtype=Float32, value= 1.5)"),
    (1e10, None, "Tensor(shape=[], dtype=Float32, value= 1e+10)"),
    (0.1, ms.float16, "Tensor(shape=[], dtype=Float16, value= 0.0999756)"),
    (1.5 - 2.25j, ms.complex64, "Tensor(shape=[], dtype=Complex64, value= 1.5-2.25j)"),
    ([1, -200, 3], None, "Tensor(shape=[3], dtype=Int64, value= [   1, -200,    3])"),
    ([True, False], None, "Tensor(shape=[2], dtype=Bool, value= [ True, False])"),
    ([0.1, 1.5], ms.float16, "Tensor(shape=[2], dtype=Float16, value= [ 9.9976e-02,  1.5000e+00])"),
    ([0.1, 1.5], ms.bfloat16, "Tensor(shape=[2], dtype=BFloat16, value= [0.100098,      1.5])"),
    ([float("nan"), -float("inf")], None,
     "Tensor(shape=[2], dtype=Float32, value= [            nan,            -inf])"),
    ([], None, "Tensor(shape=[0], dtype=Float32, value= )"),
    ([[]], None, "Tensor(shape=[1, 0], dtype=Float32, value=\n)"),
    ([[1, 2], [3, 4]], None, "Tensor(shape=[2, 2], dtype=Int64, value=\n[[1, 2],\n [3, 4]])"),
    (list(range(24)), None,
     "Tensor(shape=[24], dtype=Int64, value= [ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13, 14, "
     "15, 16, 17, 18, 19, 20, 21, 22, 23\n ])"),
    (list(range(1001)), None, "Tensor(shape=[1001], dtype=Int64, value= [   0,    1,    2 ...  998,  999, 1000])"),
])
def test_repr(value, dtype, text):
    assert repr(Tensor(value, dtype)) == text


def test_repr_shortens_every_dimension():
    assert repr(Tensor(np.arange(14).reshape(7, 2))) == (
        "Tensor(shape=[7, 2], dtype=Int64, value=\n"
        "[[ 0,  1],\n [ 2,  3],\n [ 4,  5],\n ...\n [ 8,  9],\n [10, 11],\n [12, 13]])")


def test_str_is_numpys():
    assert str(Tensor([1.0, 2.5])) == "[1.  2.5]"
    assert f"{Tensor([1.5])}" == "[1.5]"
    assert str(Tensor([0.1, 1.5], ms.bfloat16)) == "[0.100098 1.500000]"
    with pytest.raises(TypeError):
        f"{Tensor([1.5, 2]):.2f}"


# --- conversion of dtype ---------------------------------------------------------------------------------------------

def test_astype_takes_names_and_types():
    t = Tensor([1.0, 2.0])
    for name, dtype in (("int32", ms.int32), (np.int8, ms.int8), (float, ms.float64), (int, ms.int64),
                        (bool, ms.bool_)):
        assert t.astype(name).dtype == dtype
    assert t.half().dtype == ms.float16 and t.int().dtype == ms.int32 and t.type() == "Float32"
    with pytest.raises(TypeError, match="foo"):
        t.astype("foo")


# --- strings ---------------------------------------------------------------------------------------------------------

def test_strings_can_be_held_but_not_computed_with():
    t = Tensor(np.array(["ab", "c"]))
    assert t.dtype == ms.string and t.shape == (2,) and t.tolist() == ["ab", "c"] and t[1].item() == "c"
    assert repr(t) == "Tensor(shape=[2], dtype=String, value= ['ab', 'c'])" and str(t) == "['ab' 'c']"
    assert repr(Tensor(b"ab")) == "Tensor(shape=[], dtype=String, value= b'ab')"
    assert pickle.loads(pickle.dumps(t)).tolist() == copy.deepcopy(t).tolist() == ["ab", "c"]
    with pytest.raises(TypeError, match="strings"):
        t + t
    with pytest.raises(TypeError):
        Tensor(np.array(["a"]), ms.float32)


# --- in place --------------------------------------------------------------------------------------------------------

def test_writing_over_the_contents():
    t = Tensor([[1.0, 2.0], [3.0, 4.0]])
    row = t[0]
    assert t.copy_(Tensor([5, 6])) is t and row.tolist() == [5, 6]
    assert t.zero_() is t and row.tolist() == [0, 0]
    t.delete_()
    assert t.size == 0 and row.tolist() == [0, 0]
    assert Tensor([1, 2, 3, 4]).reshape_as(Tensor([[0, 0], [0, 0]])).shape == (2, 2)


@pytest.mark.parametrize("source, target", [("float32", "uint8"), ("float32", "int8"), ("float32", "int32"), ("uint8", "float32"), ("int8", "float32"),
                                            ("int32", "float32"), ("uint8", "int32"), ("int8", "int32")])
def test_casts_of_runs_equal_casts_of_single_elements(source, target):
    """Elements without gaps are converted by vectors, those with gaps one by one; numbers out of range among them."""
    random = np.random.default_rng(1)
    values = random.integers(-128 if source != "uint8" else 0, 128, 1500).astype(source)
    if source == "float32":
        values = (random.standard_normal(1500) * 200).astype(source)
        values[[0, 700, 701, 702, 1400]] = [np.nan, np.inf, -3e9, 5e9, -2147483648.0]
    elif source == "int32":
        values[:3] = [2**31 - 1, -2**31, 16777217]
    apart = np.zeros(3000, source)
    apart[::2] = values
    one_by_one = ms.Tensor(apart)[::2].astype(target).asnumpy()
    np.testing.assert_array_equal(ms.Tensor(values).astype(target).asnumpy(), one_by_one)
    fits = np.isfinite(values.astype("f8")) & (np.abs(values.astype("f8")) < 100)
    np.testing.assert_array_equal(one_by_one[fits], values[fits].astype(target))


def test_deepcopy_by_hand_takes_anything_for_a_memo():
    x = Tensor([1.0, 2.0])
    made = x.__deepcopy__(memodict=Tensor([0.0]))
    made[0] = 5.0
    assert (x.tolist(), made.tolist()) == ([1.0, 2.0], [5.0, 2.0])


def test_buffers_that_do_not_hold_what_is_asked_for():
    numbers = bytes(range(10))
    assert ms.frombuffer(numbers, ms.int16, count=2, offset=4).tolist() == [0x504, 0x706]
    for arguments in ((numbers, ms.int32), (numbers, ms.int8, 0), (numbers, ms.int8, -2), (numbers, ms.int8, 11), (numbers, ms.int8, -1, 10),
                      (numbers, ms.int8, -1, -1), (b"", ms.int8), ([1, 2], ms.int8)):
        with pytest.raises(RuntimeError, match="frombuffer"):
            ms.frombuffer(*arguments)


def test_update_data():
    x, y = Tensor([1.0]), Tensor([2.0, 3.0])
    x._update_data(y)
    assert x.shape == (2,) and x._data_ptr() == y._data_ptr()
    with pytest.raises(RuntimeError, match="Only support input type Tensor"):
        x._update_data(3)

# SPDX-License-Identifier: Apache-2.0
"""What people meet in their first hour: mistakes and what is said about them, printing, copying."""
import copy
import pickle
import subprocess
import sys

import numpy as np
import pytest

import spore as ms
from spore import Tensor, nn, ops

X = Tensor(np.arange(6, dtype=np.float32).reshape(2, 3))


@ms.jit
def doubled(x):
    return x * 2


class _Holder(nn.Cell):
    def __init__(self):
        super().__init__()
        self.inner = doubled
        self.dense = nn.Dense(3, 3)

    def construct(self, x):
        return self.inner(self.dense(x))


def said(error, function, *arguments, **keywords):
    with pytest.raises(error) as caught:
        function(*arguments, **keywords)
    return str(caught.value)


def test_wrong_learning_rate_and_parameters():
    net = nn.Dense(2, 2)
    assert said(ValueError, nn.Adam, net.trainable_params(), "0.1").endswith("but got the text '0.1'.")
    assert said(TypeError, nn.Adam, net).endswith("but got Dense; give its trainable_params().")
    assert said(TypeError, ms.experimental.optim.Adam, net).endswith("but got Dense; give its trainable_params().")


def test_class_numbers_in_the_shape_of_probabilities():
    text = said(TypeError, nn.CrossEntropyLoss(), Tensor(np.ones((2, 10), np.float32)), Tensor([[1], [2]], ms.int32))
    assert "probabilities" in text and "Int32 of shape (2, 1)" in text and "class numbers have shape (2,)" in text


def test_names_that_nearly_exist():
    assert said(AttributeError, getattr, ops, "sofmax").endswith("no attribute 'sofmax'. Did you mean: 'softmax'?")
    assert said(AttributeError, getattr, ops, "quite_another_name").endswith("no attribute 'quite_another_name'")
    assert not hasattr(ops, "__wrapped__")
    assert said(AttributeError, getattr, nn.Dense(1, 1), "weigth").endswith("no attribute 'weigth'")  # Python adds ". Did you mean"


def test_the_keyword_that_no_form_has_is_named():
    assert np.sum(X) == 15     # numpy calls its argument's own method, with a keyword that is numpy's alone
    assert "'out'" in said(TypeError, X.sum, out=None)
    assert said(TypeError, X.max, axis=0, out=None).startswith("max() got an unexpected keyword argument 'out'")
    assert "'axes'" in said(TypeError, X.sum, axes=0)


def test_objects_that_are_not_shown_whole():
    assert said(TypeError, ms.save_checkpoint, X, "x.ckpt").endswith("but got an object of type Tensor.")
    assert said(TypeError, ms.save_checkpoint, 3, "x.ckpt").endswith("but got 3 of type int.")


def test_out_of_memory_in_readable_units():
    assert "4.40 TB asked" in said(MemoryError, ops.zeros, (1 << 20, 1 << 20), ms.float32)


def test_format_of_one_element():
    assert f"{Tensor(3.14159):.2f} {Tensor([7]):>3} {Tensor(0.5, ms.bfloat16):.1%}" == "3.14   7 50.0%"
    assert "shape (2, 3)" in said(TypeError, format, X, ".2f")
    assert f"{X}" == str(X)


def test_compiled_functions_are_copied_and_pickled_as_functions():
    assert copy.copy(doubled) is doubled and copy.deepcopy(doubled) is doubled and pickle.loads(pickle.dumps(doubled)) is doubled
    net = _Holder()
    for other in (copy.deepcopy(net), pickle.loads(pickle.dumps(net))):
        assert other.dense.weight is not net.dense.weight
        np.testing.assert_array_equal(other(X).asnumpy(), net(X).asnumpy())


def test_import_brings_in_little():
    # what takes long and few programs need is loaded when it is asked for
    text = "import numpy, sys; had = set(sys.modules); import spore; print(*sorted(set(sys.modules) - had))"
    new = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True, timeout=60).stdout.split()
    assert not set(new) & {"subprocess", "tempfile", "shutil", "multiprocessing", "asyncio", "json", "inspect", "spore.nn", "spore.dataset", "spore.train"}
    assert len([name for name in new if not name.startswith("spore")]) < 12, new

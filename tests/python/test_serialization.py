# SPDX-License-Identifier: Apache-2.0
"""save_checkpoint, load_checkpoint and load_param_into_net: values, arguments, exceptions and returned names as in
MindSpore 2.10, and what spore does beyond it (a net is changed as a whole or not at all, names are suggested)."""
import copy
import logging
import os
import pathlib
import pickle
import resource
import signal
import stat
import subprocess
import sys

import numpy as np
import pytest

import spore as ms
from spore import Parameter, Tensor, load_checkpoint, load_param_into_net, nn, save_checkpoint
from spore.train import serialization

DATA = pathlib.Path(__file__).parent.parent / "formats" / "data"
GOLDEN = ["append_dict", "async", "choice_func", "complex64", "complex128", "crc", "dict_input", "dtypes",
          "integrated_save_false", "prefix", "scalars_empty", "slices"]


class Net(nn.Cell):
    def __init__(self, n=3, dtype=np.float32):
        super().__init__()
        self.weight = Parameter(Tensor(np.arange(n * 2, dtype=dtype).reshape(n, 2)), name="weight")
        self.bias = Parameter(Tensor(np.arange(n, dtype=dtype)), name="bias")


def param(array, name="p"):
    return Parameter(Tensor(np.asarray(array)), name=name)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def bits(tensor):
    """The contents as bytes, for every dtype."""
    if tensor.dtype == ms.bfloat16:
        return tensor.astype(ms.float32).asnumpy().view(np.uint32) >> 16
    return tensor.asnumpy()


# --- files -----------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("name", GOLDEN)
def test_files_of_mindspore_have_their_values(name):
    expected = np.load(DATA / f"{name}.npz")
    loaded = load_checkpoint(str(DATA / f"{name}.ckpt"), crc_check=name == "crc")
    for key, value in loaded.items():
        plain = key.removeprefix("backbone.net.")
        wanted = next(expected[k] for k in (f"{key}.bits", plain, f"append/{key}") if k in expected.files)
        if isinstance(value, str):
            assert value == str(wanted)
            continue
        assert isinstance(value, Parameter) and value.name == key
        assert tuple(value.shape) == wanted.shape
        got = bits(value)
        if key == "lr":  # a Python float: stored as float32
            wanted = wanted.astype(np.float32)
        if not key.startswith("bfloat16"):
            assert got.dtype == wanted.dtype
        assert got.astype(wanted.dtype).tobytes() == wanted.tobytes()
    missing = {"scalars_empty": 2}.get(name, 0)  # MindSpore does not store empty tensors
    assert len(loaded) == len(expected.files) - missing


def test_lenet_of_1_1_1():
    loaded = load_checkpoint(str(DATA / "lenet_mnist_1.1.1.ckpt"))
    assert len(loaded) == 21
    assert loaded["fc1.weight"].shape == (120, 400)
    assert loaded["current_iterator_step"].asnumpy() == 18751
    assert loaded["learning_rate"].shape == ()


def test_all_dtypes_there_and_back(folder):
    rng = np.random.default_rng(0)
    values = {}
    for dtype in ("bool_", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16",
                  "float32", "float64", "complex64", "complex128"):
        for shape in ((), (1,), (3, 4), (2, 0, 3)):
            values[f"{dtype}{shape}"] = rng.integers(0, 2, shape).astype(dtype)
    entries = [{"name": name, "data": Tensor(value)} for name, value in values.items()]
    entries.append({"name": "bf16", "data": Tensor(np.float32([1.5, -2, np.inf])).astype(ms.bfloat16)})
    save_checkpoint(entries, "all", crc_check=True)
    loaded = load_checkpoint("all.ckpt", crc_check=True)
    assert list(loaded) == [entry["name"] for entry in entries]
    for name, value in values.items():
        got = loaded[name].asnumpy()
        assert got.dtype == value.dtype and got.shape == value.shape and got.tobytes() == value.tobytes()
    assert loaded["bf16"].dtype == ms.bfloat16
    assert loaded["bf16"].astype(ms.float32).asnumpy().tolist() == [1.5, -2, np.inf]


def test_append_dict(folder):
    extra = {"i": 3, "f": 0.1, "b": True, "s": "hé🍄", "e": "", "t": Tensor(np.int16([1, 2])),
             "p": param(np.float64(2)), "weight": 5}
    save_checkpoint(Net(), "x.ckpt", append_dict=extra)
    loaded = load_checkpoint("x.ckpt")
    assert list(loaded) == ["weight", "bias", "i", "f", "b", "s", "e", "t", "p"]  # a repeated name replaces in place
    assert loaded["i"].dtype == ms.int64 and loaded["i"].shape == () and loaded["i"].asnumpy() == 3
    assert loaded["f"].dtype == ms.float32 and loaded["f"].asnumpy() == np.float32(0.1)
    assert loaded["b"].dtype == ms.bool_ and loaded["b"].asnumpy()
    assert loaded["s"] == "hé🍄" and loaded["e"] == ""
    assert loaded["t"].dtype == ms.int16 and loaded["p"].dtype == ms.float64
    assert loaded["weight"].asnumpy() == 5


def test_what_can_be_saved(folder):
    net = Net()
    for save_obj in (net, [net.weight, net.bias],
                     [{"name": "weight", "data": net.weight}, {"name": "bias", "data": net.bias}],
                     {"weight": net.weight, "bias": net.bias}, {"weight": net.weight.asnumpy(), "bias": net.bias}):
        assert save_checkpoint(save_obj, "x") is None
        loaded = load_checkpoint("x.ckpt")
        assert list(loaded) == ["weight", "bias"]
        assert loaded["weight"].asnumpy().tolist() == [[0, 1], [2, 3], [4, 5]]
    save_checkpoint({"note": "text", "w": param([1.0])}, "x")
    assert load_checkpoint("x.ckpt")["note"] == "text"
    save_checkpoint(net, "x", choice_func=lambda name: name != "bias")
    assert list(load_checkpoint("x.ckpt")) == ["weight"]
    save_checkpoint([], "empty")
    assert os.path.getsize("empty.ckpt") == 0
    with pytest.raises(ValueError):
        load_checkpoint("empty.ckpt")


def test_name_and_mode_of_the_file(folder):
    save_checkpoint(Net(), "a")
    save_checkpoint(Net(), "b.bin")
    save_checkpoint(Net(), "c.ckpt")
    assert sorted(os.listdir()) == ["a.ckpt", "b.bin.ckpt", "c.ckpt"]
    assert os.stat("a.ckpt").st_mode & stat.S_IWUSR
    os.chmod("a.ckpt", 0o400)  # as MindSpore leaves it
    save_checkpoint(Net(5), "a")
    assert load_checkpoint("a.ckpt")["bias"].shape == (5,)


def test_loaded_values_survive_the_file(folder):
    big = np.arange(100000, dtype=np.float32)
    save_checkpoint({"big": param(big)}, "x")
    before = load_checkpoint("x.ckpt")["big"]
    save_checkpoint({"big": param(big + 1)}, "x")
    os.remove("x.ckpt")
    assert (before.asnumpy() == big).all()


# --- failures --------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("error, arguments, options", [
    (TypeError, (3, "x"), {}),
    (TypeError, ((1,), "x"), {}),
    (TypeError, (Net(), 3), {}),
    (TypeError, (Net(), "x"), {"integrated_save": 1}),
    (TypeError, (Net(), "x"), {"async_save": 1}),
    (ValueError, (Net(), "x"), {"async_save": "soon"}),
    (TypeError, (Net(), "x"), {"append_dict": [1]}),
    (TypeError, (Net(), "x"), {"append_dict": {1: 2}}),
    (TypeError, (Net(), "x"), {"append_dict": {"a": [1]}}),
    (TypeError, (Net(), "x"), {"append_dict": {"a": None}}),
    (ValueError, (Net(), "x"), {"enc_key": "text"}),
    (ValueError, (Net(), "x"), {"enc_key": b"0123456789"}),
    (ValueError, (Net(), "x"), {"enc_key": b"0123456789abcdef", "enc_mode": "AES"}),
    (ValueError, (Net(), "x"), {"enc_key": b"0123456789abcdef01234567", "enc_mode": "SM4-CBC"}),
    (ValueError, (Net(), "x"), {"enc_key": b"0123456789abcdef", "format": "safetensors"}),
    (ValueError, (Net(), "x"), {"enc_mode": 3}),
    (ValueError, (Net(), "x"), {"crc_check": 1}),
    (TypeError, (Net(), "x"), {"choice_func": 3}),
    (ValueError, (Net(), "x"), {"format": "zip"}),
    (TypeError, ([1], "x"), {}),
    (TypeError, ([{"n": 1}], "x"), {}),
    (TypeError, ([{"name": 3, "data": param(1.0)}], "x"), {}),
    (TypeError, ([{"name": "a", "data": [1.0]}], "x"), {}),
    (TypeError, ({1: param(1.0)}, "x"), {}),
    (TypeError, ({"a": 1}, "x"), {}),
    (FileNotFoundError, (Net(), "none/x"), {}),
    (IsADirectoryError, (Net(), "."), {}),
])
def test_save_refuses(folder, error, arguments, options):
    with pytest.raises(error):
        save_checkpoint(*arguments, **options)
    assert not os.listdir()


@pytest.mark.parametrize("error, name, options", [
    (TypeError, 3, {}),
    (ValueError, "none.ckpt", {}),
    (ValueError, "x.bin", {}),
    (ValueError, "folder.ckpt", {}),
    (ValueError, "garbage.ckpt", {}),
    (ValueError, "x.ckpt", {"format": "zip"}),
    (ValueError, "x.ckpt", {"format": "safetensors"}),
    (TypeError, "x.ckpt", {"filter_prefix": 3}),
    (TypeError, "x.ckpt", {"filter_prefix": [3]}),
    (ValueError, "x.ckpt", {"filter_prefix": ""}),
    (ValueError, "x.ckpt", {"specify_prefix": ()}),
    (ValueError, "x.ckpt", {"filter_prefix": ["weight", "bias"]}),
    (ValueError, "x.ckpt", {"specify_prefix": "w", "filter_prefix": "weight"}),
    (ValueError, "x.ckpt", {"dec_key": "text"}),
    (ValueError, "x.ckpt", {"dec_key": b"0123456789abcdef"}),
    (ValueError, "x.ckpt", {"dec_mode": 3}),
    (ValueError, "x.ckpt", {"crc_check": 3}),
    (ValueError, "x.ckpt", {"remove_redundancy": 3}),
    (ValueError, "x.ckpt", {"choice_func": 3}),
    (TypeError, "x.ckpt", {"net": 3}),
])
def test_load_refuses(folder, error, name, options):
    save_checkpoint(Net(), "x")
    os.mkdir("folder.ckpt")
    (folder / "garbage.ckpt").write_bytes(b"PK\x03\x04")
    (folder / "x.bin").write_bytes(b"")
    with pytest.raises(error):
        load_checkpoint(name, **options)


def test_choosing_names(folder):
    save_checkpoint(Net(), "x")
    assert list(load_checkpoint("x.ckpt", specify_prefix="wei")) == ["weight"]
    assert list(load_checkpoint("x.ckpt", filter_prefix=["wei"])) == ["bias"]
    assert list(load_checkpoint("x.ckpt", choice_func=lambda name: name == "bias")) == ["bias"]
    # A prefix switches the function off.
    assert list(load_checkpoint("x.ckpt", specify_prefix=("bias", "x"), choice_func=lambda name: False)) == ["bias"]


def test_damage_is_found():
    with pytest.raises(ValueError, match="CRC"):
        load_checkpoint(str(DATA / "crc_broken.ckpt"), crc_check=True)
    assert len(load_checkpoint(str(DATA / "crc_broken.ckpt"))) == 8


def test_missing_checksum_is_told(caplog):
    with caplog.at_level(logging.WARNING, "spore"):
        load_checkpoint(str(DATA / "crc.ckpt"), crc_check=True)
        assert not caplog.records
        load_checkpoint(str(DATA / "async.ckpt"), crc_check=True)
    assert "no checksum" in caplog.text


def test_encrypted_file_is_named_so():
    with pytest.raises(ValueError, match="encrypted"):
        load_checkpoint(str(DATA / "enc_AES-GCM_key_0123456789ABCDEF.ckpt"))


def test_full_disk_keeps_the_old_file(folder):
    save_checkpoint(Net(), "x")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
        with pytest.raises(OSError, match="File too large"):
            save_checkpoint(Net(1000), "x")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)
    assert load_checkpoint("x.ckpt")["bias"].shape == (3,)
    assert os.listdir() == ["x.ckpt"]


# --- asynchronous ----------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("mode", [True, "thread", "process"])
def test_async_saves_what_was_there(folder, mode):
    weight = param(np.zeros(300000, np.float32))
    save_checkpoint({"w": weight}, "x", async_save=mode)
    weight[0] = 7  # afterwards: not part of it
    loaded = load_checkpoint("x.ckpt")  # waits
    assert not loaded["w"].asnumpy().any()
    assert not serialization.async_ckpt_thread_status()


def test_async_error_is_raised_at_the_next_save(folder):
    os.mkdir("gone")
    save_checkpoint(Net(), "ok")
    path = str(folder / "gone" / "x.ckpt")
    serialization._start_async_save(path, [("w", param([1.0]))], {}, "ckpt", False)
    serialization._wait_async_save()
    os.remove(path)
    os.rmdir("gone")
    serialization._start_async_save(path, [("w", param([1.0]))], {}, "ckpt", False)
    with pytest.raises(OSError, match="gone"):
        save_checkpoint(Net(), "x", async_save=True)
    save_checkpoint(Net(), "x", async_save=True)  # told once
    assert list(load_checkpoint("x.ckpt")) == ["weight", "bias"]


def test_async_save_is_finished_at_exit(folder):
    code = ("import numpy as np, spore as ms\n"
            "ones = ms.Tensor(np.ones(100000, np.float32))\n"
            "ms.save_checkpoint([{'name': 'w', 'data': ones}], 'x', async_save=True)\n")
    subprocess.run([sys.executable, "-c", code], check=True, cwd=folder)
    assert load_checkpoint("x.ckpt")["w"].asnumpy().sum() == 100000


# --- into a net ------------------------------------------------------------------------------------------------------

def test_load_into_net_returns_what_is_left_over():
    net = Net()
    assert load_param_into_net(net, {}) == (["weight", "bias"], [])
    values = {"weight": param(np.full((3, 2), 9, np.float32)), "other": param(1.0), "note": "text"}
    assert load_param_into_net(net, values) == (["bias"], ["other", "note"])
    assert (net.weight.asnumpy() == 9).all() and net.bias.asnumpy().tolist() == [0, 1, 2]
    assert net.weight.name == "weight"
    assert load_param_into_net(net, {"weight": "text"}) == (["bias"], ["weight"])
    assert load_param_into_net(net, {"weight": [1, 2]}) == (["bias"], ["weight"])


def test_load_checkpoint_fills_the_net(folder):
    net = Net()
    save_checkpoint({"weight": param(np.ones((3, 2), np.float32)), "bias": param(np.ones(3, np.float32))}, "x")
    load_checkpoint("x.ckpt", net)
    assert net.weight.asnumpy().sum() == 6 and net.bias.asnumpy().sum() == 3


def test_prefix_of_the_checkpoint_is_dropped():
    values = {"backbone.net.weight": param(np.full((3, 2), 4, np.float32)),
              "backbone.net.bias": param(np.float32([4, 4, 4]))}
    net = Net()
    assert load_param_into_net(net, values) == ([], ["backbone.net.weight", "backbone.net.bias"])
    assert (net.weight.asnumpy() == 4).all() and (net.bias.asnumpy() == 4).all()
    with pytest.raises(RuntimeError, match="strict_load=True takes equal names only"):
        load_param_into_net(Net(), values, strict_load=True)
    two = {"a.weight": values["backbone.net.weight"], "b.bias": values["backbone.net.bias"]}
    assert load_param_into_net(Net(), two) == ([], ["a.weight", "b.bias"])


def test_a_prefix_that_could_be_another_is_told(caplog):
    """Two layers of one form into a single one: the first is taken, as MindSpore does, and the other is named."""
    layers = {f"{i}.{name}": param(np.full(shape, i, np.float32)) for i in (0, 1) for name, shape in (("weight", (3, 2)), ("bias", (3,)))}
    net = Net()
    with caplog.at_level(logging.WARNING, "spore"):
        assert load_param_into_net(net, layers) == ([], list(layers))
    assert (net.weight.asnumpy() == 0).all()
    assert "begin with '0.'" in caplog.text and "'1.weight', '1.bias'" in caplog.text
    caplog.clear()
    state = {"network.weight": layers["0.weight"], "network.bias": layers["0.bias"], "moments.network.weight": layers["1.weight"]}
    with caplog.at_level(logging.WARNING, "spore"):
        load_param_into_net(Net(), state)
    assert not caplog.records


def test_a_load_that_matches_nothing_is_an_error(tmp_path):
    other = {"conv.kernel": param(np.zeros(3, np.float32)), "conv.offset": param(np.zeros(3, np.float32))}
    net = Net()
    before = net.weight.asnumpy().copy()
    for strict in (False, True):
        with pytest.raises(RuntimeError, match="none of 2 values has the name of one of the net's 2 parameters.*'conv.kernel'.*'weight'") as refused:
            load_param_into_net(net, other, strict)
        assert "\n" not in str(refused.value)
    save_checkpoint([{"name": name, "data": value} for name, value in other.items()], str(tmp_path / "other.ckpt"))
    with pytest.raises(RuntimeError, match="none of 2 values"):
        load_checkpoint(str(tmp_path / "other.ckpt"), net)
    assert np.array_equal(net.weight.asnumpy(), before)


def test_files_of_several_processes_that_match_nothing_are_an_error(tmp_path):
    files = [str(tmp_path / f"{rank}.ckpt") for rank in range(2)]
    for file in files:
        save_checkpoint({"conv.kernel": Tensor(np.zeros(3, np.float32))}, file)
    with pytest.raises(RuntimeError, match="none of 1 values has the name"):
        ms.load_distributed_checkpoint(Net(), files)


def test_what_mindspore_lets_miss_may_miss():
    values = {"weight": param(np.ones((3, 2), np.float32)), "head.weight": param(np.ones(2, np.float32))}
    for strict in (False, True):
        assert load_param_into_net(Net(), values, strict) == (["bias"], ["head.weight"])  # transfer learning
    assert load_param_into_net(Net(), {}) == (["weight", "bias"], [])                     # nothing was given to arrive
    assert load_param_into_net(nn.ReLU(), values) == ([], list(values))                   # nothing was there to be filled
    assert load_param_into_net(Net(), {"epoch": "3"})[0] == ["weight", "bias"]


def test_a_load_that_succeeds_says_nothing(caplog):
    exact = {"weight": param(np.ones((3, 2), np.float32)), "bias": param(np.ones(3, np.float32))}
    with caplog.at_level(logging.WARNING, "spore"):
        load_param_into_net(Net(), exact)
        load_param_into_net(Net(), {f"backbone.{name}": value for name, value in exact.items()})
    assert caplog.text == ""


def test_a_warning_names_the_users_line(caplog):
    """Of a message that arises inside the package; a user's own keeps its place."""
    with caplog.at_level(logging.WARNING, "spore"):
        ms.load_param_into_net(nn.Dense(2, 3), {})
        ms.log.warning("mine")
    inside, own = caplog.records
    assert inside.pathname == own.pathname == __file__ and own.lineno == inside.lineno + 1 and "no value" in inside.getMessage()


def test_conversions_are_one_line_with_their_number(caplog):
    half = {"weight": param(np.ones((3, 2), np.float16)), "bias": param(np.ones(3, np.float16))}
    with caplog.at_level(logging.WARNING, "spore"):
        load_param_into_net(Net(), half)
    assert [r.getMessage() for r in caplog.records] == [
        "For 'load_param_into_net', 2 of 2 values have another dtype than their parameters and were converted, Float16 to Float32: "
        "'weight', 'bias'."]


def test_two_parameters_of_one_name_are_not_saved(tmp_path):
    class Twice(nn.Cell):
        def __init__(self):
            super().__init__()
            self.p, self.q = (ms.Parameter(ms.Tensor([v]), name="w") for v in (1.0, 2.0))

    path = str(tmp_path / "x.ckpt")
    for thing in (Twice(), list(Twice().get_parameters()), [{"name": "w", "data": ms.Tensor([v])} for v in (1.0, 2.0)]):
        with pytest.raises(ValueError, match="two of the values to save have the name 'w'"):
            save_checkpoint(thing, path)
    assert not os.path.exists(path)


def test_a_parameter_met_twice_is_saved_once(tmp_path):
    path = str(tmp_path / "x.ckpt")
    one = ms.Parameter(ms.Tensor([1.0]), name="w")
    save_checkpoint([one, one], path)
    assert list(load_checkpoint(path)) == ["w"]
    save_checkpoint({"w": one, "epoch": ms.Tensor(1)}, path, append_dict={"epoch": 2})  # append_dict has the last word
    assert load_checkpoint(path)["epoch"].asnumpy() == 2


def test_trailing_ones_are_dropped():
    net = Net()
    assert load_param_into_net(net, {"weight": param(np.ones((3, 2, 1, 1), np.float32))}) == (["bias"], [])
    assert net.weight.shape == (3, 2) and (net.weight.asnumpy() == 1).all()


@pytest.mark.parametrize("kinds", [("float16", "float32", "float64"), ("int8", "int16", "int32", "int64")])
def test_dtypes_convert_within_a_kind(kinds, caplog):
    for have in kinds:
        for want in kinds:
            net = Net(dtype=want)
            value = {"weight": param(np.full((3, 2), 3, have))}
            with caplog.at_level(logging.WARNING, "spore"):
                caplog.clear()
                load_param_into_net(net, value)
                assert ("converted" in caplog.text) == (have != want)
            assert net.weight.asnumpy().dtype == want and (net.weight.asnumpy() == 3).all()
            if have != want:
                with pytest.raises(RuntimeError, match="weight"):
                    load_param_into_net(Net(dtype=want), value, strict_load=True)


@pytest.mark.parametrize("value", [np.ones((2, 3), np.float32), np.ones((1, 3, 2), np.float32), np.float32(1),
                                   np.ones((3, 2), np.int32), np.ones((3, 2), bool), np.ones((3, 2, 2), np.float32)])
def test_values_that_do_not_fit_change_nothing(value):
    net = Net()
    with pytest.raises(RuntimeError, match="'weight'"):
        load_param_into_net(net, {"bias": param(np.float32([7, 7, 7])), "weight": param(value)})
    assert net.bias.asnumpy().tolist() == [0, 1, 2]


def test_unsigned_and_bool_do_not_convert():
    for have, want in (("uint8", "uint16"), ("uint8", "int16"), ("bool", "uint8")):
        with pytest.raises(RuntimeError):
            load_param_into_net(Net(dtype=want), {"weight": param(np.ones((3, 2), have))})


@pytest.mark.parametrize("error, arguments, options", [
    (TypeError, (3, {}), {}),
    (TypeError, (Net(), 3), {}),
    (TypeError, (Net(), {1: param(1.0)}), {}),
    (RuntimeError, (Net(), {"weight": np.ones(3)}), {}),       # arrays are taken, but this one does not fit
    (TypeError, (Net(), {"weight": object()}), {}),
    (TypeError, (Net(), {"weight": Tensor(np.ones((3, 2), np.float32))}), {}),
    (TypeError, (Net(), {}), {"strict_load": 1}),
    (ValueError, (Net(), {}), {"remove_redundancy": 3}),
    (TypeError, (Net(), {}), {"remove_redundancy": True}),
])
def test_load_into_net_refuses(error, arguments, options):
    with pytest.raises(error):
        load_param_into_net(*arguments, **options)


def test_missing_names_are_told_with_the_nearest(caplog):
    with caplog.at_level(logging.WARNING, "spore"):
        load_param_into_net(Net(), {"weights": param(np.ones((3, 2), np.float32)),
                                    "bias": param(np.ones(3, np.float32))})
    assert "1 parameters of the net" in caplog.text
    assert "'weight' (nearest: 'weights')" in caplog.text


def test_a_file_that_is_cut_while_it_is_in_use(folder):
    """Contents that wait in their file are read, not touched: an error, not the end of the process."""
    save_checkpoint({"odd": Tensor(np.ones(3, np.int8)), "w": Tensor(np.ones(50001, np.float32)),
                     "x": Tensor(np.ones(50003, np.float32)), "yy": Tensor(np.ones(50001, np.float32))}, "x.ckpt")
    values = load_checkpoint("x.ckpt")
    waiting = [name for name, value in values.items() if value._waits]
    assert waiting
    with open("x.ckpt", "r+b") as file:
        file.truncate(100)
    for name in waiting:
        with pytest.raises(OSError, match="shorter"):
            values[name].asnumpy()


def test_contents_that_wait_are_read_once_and_are_ones_own(folder):
    wanted = {f"p{'x' * i}": np.arange(30000 + i, dtype=np.float32) for i in range(8)}
    save_checkpoint({name: Tensor(array) for name, array in wanted.items()}, "x.ckpt")
    values = load_checkpoint("x.ckpt")
    waiting = [name for name, value in values.items() if value._waits]
    assert waiting
    os.remove("x.ckpt")
    for name, array in wanted.items():
        copy = Parameter(values[name])
        assert values[name].shape == array.shape and values[name].dtype == ms.float32
        copy.set_data(copy + 1)
        assert np.array_equal(values[name].asnumpy(), array) and not values[name]._waits
        values[name] += 1
        assert np.array_equal(values[name].asnumpy(), array + 1)


def test_copies_and_pickles_of_contents_that_wait(folder):
    save_checkpoint({f"p{'x' * i}": Tensor(np.arange(30000 + i, dtype=np.float32)) for i in range(8)}, "x.ckpt")
    names = [name for name, value in load_checkpoint("x.ckpt").items() if value._waits]
    assert names
    for duplicate in (copy.copy, copy.deepcopy, lambda p: pickle.loads(pickle.dumps(p))):
        again = duplicate(load_checkpoint("x.ckpt")[names[0]])
        assert isinstance(again, Parameter) and float(again[29999]) == 29999


def test_a_later_save_is_not_replaced_by_an_asynchronous_one(tmp_path):
    path = str(tmp_path / "a.ckpt")
    for _ in range(3):
        ms.save_checkpoint([{"name": "large", "data": Tensor(np.ones(4_000_000, np.float32))}], path, async_save=True)
        ms.save_checkpoint([{"name": "small", "data": Tensor([1.0])}], path)
        assert list(ms.load_checkpoint(path)) == ["small"]
        ms.train.serialization._wait_async_save()
        assert list(ms.load_checkpoint(path)) == ["small"]


def test_graphs_of_a_network_as_text(tmp_path):
    from spore.train.serialization import _save_graph
    net, file = nn.Dense(2, 3), tmp_path / "net-graph.meta"
    _save_graph(net, str(file))
    assert not file.exists()                     # nothing was compiled
    ms.set_context(mode=ms.GRAPH_MODE)
    try:
        net(Tensor(np.ones((1, 2), np.float32)))
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)
    _save_graph(net, str(file))
    assert "matmul(" in file.read_text()

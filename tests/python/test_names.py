# SPDX-License-Identifier: Apache-2.0
"""Names that few programs use, and those of MindSpore's own modules."""
import importlib
import importlib.metadata
import os
import signal
import subprocess
import sys

import numpy as np
import pytest

import spore as ms
from spore import Tensor, nn, ops, train
from spore import mindspore as compatible


def test_every_row_of_a_file_names_what_it_has():
    for file, names in compatible.rows("in"):
        for name in names:
            assert hasattr(importlib.import_module(compatible.module_of(file)), name), (file, name)


def test_every_row_of_mindspore_def_is_understood_and_leads_somewhere():
    kinds = {"in", "export", "refused", "gradient", "alias", "same", "in_place", "call", "address", "show"}
    assert set(compatible._rows()) == kinds
    listed = [name for kind in ("in", "export", "refused", "gradient") for _, names in compatible.rows(kind) for name in names]
    assert len(listed) == len(set(listed)), sorted({name for name in listed if listed.count(name) > 1})
    for kind in ("refused", "gradient", "alias", "in_place"):
        for _, names in compatible.rows(kind):
            for name in names:
                assert compatible.lookup(name) is not None, (kind, name)
    assert compatible.lookup("no_such_name_of_anybody") is None


def test_files_of_primitives_wait_until_they_are_needed():
    code = "import sys, spore; from spore import nn, ops, mint; print([n for n in sys.modules if n.startswith(('spore.ops.primitives', 'spore.mindspore'))])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"


@pytest.mark.parametrize("start", ("", "spore.as_mindspore(); import mindspore"))
def test_folders_left_over_from_an_older_checkout_hide_nothing(tmp_path, start):
    for folder in ("boost", "_extends", "device_context"):
        (tmp_path / folder / "__pycache__").mkdir(parents=True)
    code = (f"import spore; spore.__path__.insert(0, {str(tmp_path)!r}); {start}\n"
            "import spore.boost, spore._extends, spore.device_context.cpu; print(spore.boost.GradientAccumulation.__name__, spore._extends.__all__)")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "GradientAccumulation ['cell_attr_register']\n", done.stderr


def test_addresses_show_the_names_of_their_places():
    for address, places in compatible.addresses().items():
        importlib.import_module("spore." + address)
        for place in places:
            importlib.import_module("spore." + place)
    from spore.train.callback._early_stop import EarlyStopping
    assert EarlyStopping is train.EarlyStopping
    from spore.scipy.optimize.linear_sum_assignment import linear_sum_assignment
    assert callable(linear_sum_assignment) and callable(ms.scipy.optimize.linear_sum_assignment)
    with pytest.raises(ImportError):
        from spore.train.callback._early_stop import NoSuchName  # noqa: F401


def test_programs_see_the_version_of_the_api():
    code = ("import spore; own = spore.__version__; spore.as_mindspore(); import mindspore, importlib.metadata as m; "
            "print(mindspore.__version__, m.version('mindspore'), mindspore.version.__version__, own == spore._core.__version__)")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.split() == ["2.10.0", "2.10.0", "2.10.0", "True"], done.stderr
    with pytest.raises(importlib.metadata.PackageNotFoundError):
        importlib.metadata.version("no-such-package-of-anybody")


def test_operators_of_other_hardware_say_so_when_they_are_used():
    paged = ops.auto_generate.PagedAttention(8, 1.0, 8)
    with pytest.raises(NotImplementedError, match="Ascend"):
        paged(Tensor([1.0]))
    with pytest.raises(AttributeError):
        ops.Relu  # noqa: B018  a name that neither has


@pytest.mark.parametrize("mode", (ms.PYNATIVE_MODE, ms.GRAPH_MODE))
def test_gradients_with_given_seeds(mode):
    ms.set_context(mode=mode)
    try:
        def f(x, y):
            return x * y, x + y
        x, y = Tensor([1.0, 2.0]), Tensor([3.0, 4.0])
        seeds = (Tensor([1.0, 10.0]), Tensor([100.0, 1000.0]))
        dx, dy = ms.grad(f, (0, 1), sens_param=True)(x, y, seeds)
        assert dx.asnumpy().tolist() == [103, 1040] and dy.asnumpy().tolist() == [101, 1020]
        value, dx = ms.value_and_grad(lambda t: t * t, sens_param=True)(x, Tensor([2.0, 3.0]))
        assert value.asnumpy().tolist() == [1, 4] and dx.asnumpy().tolist() == [4, 12]
        with pytest.raises(TypeError, match="sens_param"):
            ms.grad(f, sens_param=1)
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)


def test_derivatives_along_curves():
    # numbers of MindSpore 2.10
    x, y = Tensor(np.array([1.0, 2.0], np.float32)), Tensor(np.array([3.0, 4.0], np.float32))
    for order, wanted in ((1, [-2.3074732, -10.421871]), (2, [-5.3821535, -9.659624]), (3, [-6.1493607, 1.5244936])):
        np.testing.assert_allclose(ops.derivative(lambda a, b: ops.exp(a) * ops.sin(b), (x, y), order)[1].asnumpy(), wanted, rtol=1e-5)
    series = Tensor(np.array([[1, 1], [0.5, 0.2], [0, 1]], np.float32))
    found = ops.jet(lambda a: ops.sin(a) * a, x, series)[1].asnumpy()
    np.testing.assert_allclose(found, [[1.3817732, 0.07700372], [0.9300202, -2.6354878], [-2.7060146, -3.4091282]], rtol=1e-4)


def test_adafactor_steps_as_mindspores():
    def steps(**options):
        w = ms.Parameter(Tensor(np.arange(6).reshape(2, 3).astype(np.float32) / 5 + 0.1), name="w")
        b = ms.Parameter(Tensor(np.array([0.5, -0.3], np.float32)), name="b")
        optimizer = nn.AdaFactor([w, b], **options)
        for i in range(3):
            optimizer((Tensor(np.array([[0.1, 0.2, -0.3], [0.4, 0.5, 0.1]], np.float32) * (i + 1)), Tensor(np.array([0.3, -0.7], np.float32))))
        return w.asnumpy().ravel()[:3], b.asnumpy()
    for options, w, b in (({}, [0.098252, 0.297323, 0.506839], [0.497689, -0.297689]),
                          ({"learning_rate": 0.01, "relative_step": False, "scale_parameter": False},
                           [0.097467, 0.296121, 0.509908], [0.49439, -0.29439]),
                          ({"clip_threshold": 0.5, "decay_rate": 0.5, "loss_scale": 2.0}, [0.099126, 0.298661, 0.50342], [0.498844, -0.298844])):
        found = steps(**options)
        np.testing.assert_allclose(found[0], w, atol=2e-6)
        np.testing.assert_allclose(found[1], b, atol=2e-6)
    with pytest.raises(ValueError, match="relative_step"):
        nn.AdaFactor(nn.Dense(1, 1).trainable_params(), learning_rate=0.1)


def test_state_of_cells_with_hooks():
    class Part(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = ms.Parameter(Tensor([1.0, 2.0]))
            self.register_buffer("b", Tensor([3.0]))

        def get_extra_state(self):
            return {"k": 1}

        def set_extra_state(self, state):
            self.got = state
    net = nn.SequentialCell(Part(), nn.Dense(2, 1))
    state = net.state_dict()
    assert list(state) == ["0.w", "0.b", "0._extra_state", "1.weight", "1.bias"]
    assert repr(net.load_state_dict(state)) == "<All keys matched successfully>" and net[0].got == {"k": 1}
    state["more"] = Tensor([1.0])
    del state["1.bias"]
    found = net.load_state_dict(state, strict=False)
    assert found.missing_keys == ["1.bias"] and found.unexpected_keys == ["more"]
    with pytest.raises(RuntimeError, match='Missing key.*"1.bias"'):
        net.load_state_dict(state)
    handle = net.register_load_state_dict_post_hook(lambda cell, keys: (keys.missing_keys.clear(), keys.unexpected_keys.clear()))
    net.load_state_dict(state)
    handle.remove()
    with pytest.raises(RuntimeError):
        net.load_state_dict(state)


def test_a_name_stays_that_of_a_parameter_or_of_a_cell():
    cell = nn.Cell()
    cell.w = ms.Parameter(Tensor([1.0]), name="w")
    with pytest.raises(KeyError):
        cell.w = nn.ReLU()
    cell.r = nn.ReLU()
    with pytest.raises(KeyError):
        cell.r = ms.Parameter(Tensor([1.0]), name="v")


def test_processes_of_one():
    from spore.mint import distributed
    distributed.init_process_group()
    assert distributed.get_rank() == 0 and distributed.get_world_size() == 1 and distributed.is_initialized()
    out, x = ops.zeros(2), Tensor([1.0, 2.0])
    distributed.all_gather([out], x)
    assert out.asnumpy().tolist() == [1, 2]
    with pytest.raises(RuntimeError, match="no other process"):
        distributed.send(x, 1)
    with pytest.raises(RuntimeError, match="world_size"):
        distributed.init_process_group(world_size=4, rank=1)
    distributed.destroy_process_group()


def _trained(callback, epochs=3):
    net = nn.Dense(2, 1)
    data = ms.dataset.NumpySlicesDataset((np.ones((4, 2), np.float32), np.ones((4, 1), np.float32)), ["x", "y"]).batch(2)
    model = train.Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 0.1))
    seen = train.LambdaCallback(on_train_step_end=lambda context: steps.append(context.original_args().cur_step_num))
    steps = []
    model.train(epochs, data, callbacks=[callback, seen], dataset_sink_mode=False)
    return net, steps


def test_backup_is_taken_back(tmp_path):
    folder = str(tmp_path / "backup")
    net, _ = _trained(train.BackupAndRestore(folder, delete_checkpoint=False), 1)
    assert os.listdir(folder) == ["backup.ckpt"]

    class Look(train.BackupAndRestore):
        def on_train_begin(self, run_context):
            super().on_train_begin(run_context)
            network = run_context.original_args().train_network
            self.seen = {p.name: p.asnumpy().copy() for p in network.get_parameters()}
    look = Look(folder)
    _trained(look, 1)
    assert np.array_equal(look.seen["weight"], net.weight.asnumpy())
    assert not os.path.exists(folder)


def test_training_ends_on_request(tmp_path):
    class Ask(train.OnRequestExit):
        def on_train_step_begin(self, run_context):
            if run_context.original_args().cur_step_num == 2:
                os.kill(os.getpid(), signal.SIGUSR1)
    before = signal.getsignal(signal.SIGUSR1)
    _, steps = _trained(Ask(save_mindir=False, file_name="net", directory=str(tmp_path), sig=signal.SIGUSR1))
    assert steps[-1] <= 3 and (tmp_path / "net_train.ckpt").exists() and signal.getsignal(signal.SIGUSR1) == before


def test_parts_of_parameters_are_merged(tmp_path):
    parts = [ms.Parameter(Tensor(np.full((1, 2), k, np.float32)), name="weight") for k in range(3)]
    assert ms.merge_sliced_parameter(parts).asnumpy()[:, 0].tolist() == [0, 1, 2]
    files = []
    for k in range(2):
        files.append(str(tmp_path / f"part{k}.ckpt"))
        ms.save_checkpoint([{"name": "weight", "data": Tensor(np.full((1, 2), k, np.float32))}], files[-1])
    net = nn.Dense(2, 2, has_bias=False)
    ms.load_distributed_checkpoint(net, files)
    assert net.weight.asnumpy().tolist() == [[0, 0], [1, 1]]
    with pytest.raises(NotADirectoryError, match="src_checkpoints_dir"):
        ms.transform_checkpoints("a", "b", "c", "strategy.ckpt")

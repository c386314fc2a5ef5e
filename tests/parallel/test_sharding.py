# SPDX-License-Identifier: Apache-2.0
"""Compiled functions that are split over ranks by strategies: what they give is what one process gives."""
import json
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))
from launch import launch, run_python
from test_ranks import good

HERE = Path(__file__).resolve().parent


def told(job):
    """The JSON that rank 0 printed."""
    return json.loads(next(line for line in good(job).splitlines() if line.startswith("{")))


def test_an_mlp_is_trained_the_same_however_it_is_split(tmp_path):
    """Two MatMuls, split along rows, columns, the inner axis and all of them, with whole batches and with slices of them: losses, weights in
    the checkpoint, and predictions. Each rank keeps its slices alone."""
    alone = told(launch("openmpi", 1, [sys.executable, HERE / "shard_mlp.py", tmp_path]))["alone"]
    for ranks, ways in ((2, 6), (4, 8)):
        split = told(launch("openmpi", ranks, [sys.executable, HERE / "shard_mlp.py", tmp_path]))
        assert len(split) == ways
        for name, found in split.items():
            assert np.allclose(found["losses"], alone["losses"], rtol=0, atol=1e-5), (name, found["losses"], alone["losses"])
            assert np.allclose(found["given"], alone["given"], rtol=1e-4, atol=1e-4), name
            for weight, value in alone["weights"].items():
                assert np.allclose(found["weights"][weight], value, rtol=0, atol=1e-4), (name, weight)
        assert split["columns, full_batch"]["shapes"] == {"w1": [8, 16 // ranks], "b1": [16 // ranks], "w2": [16 // ranks, 4], "b2": [4]}


@pytest.mark.parametrize("family, ranks, count, seed", [
    ("openmpi", 2, 55, 1), ("openmpi", 4, 55, 2),
    *[pytest.param(*case, marks=pytest.mark.long) for case in (("openmpi", 4, 220, 3), ("mpich", 4, 220, 4), ("openmpi", 3, 110, 5), ("openmpi", 8, 110, 6))]])
def test_drawn_strategies_give_what_one_process_gives(family, ranks, count, seed):
    found = told(launch(family, ranks, [sys.executable, HERE / "shard_drawn.py", count, seed], timeout=600))
    assert found["tried"] == count and found["operators"] >= 40 and found["split"] > count // 4, found


def test_strategies_that_cannot_be_are_refused(tmp_path):
    """With MindSpore's exceptions: what is no strategy at once, what does not fit when the function is compiled."""
    assert good(run_python("openmpi", 4, """
        import numpy as np
        import spore as ms
        from spore import Layout, Tensor, communication as comm, nn, ops
        comm.init()
        ms.set_auto_parallel_context(parallel_mode="semi_auto_parallel", dataset_strategy="full_batch")

        def refused(kind, act, *words):
            try:
                act()
            except kind as error:
                assert all(word in str(error) for word in words), (words, str(error))
                return
            raise AssertionError(words)

        def compiled(op, *shapes):
            return lambda: ms.jit(lambda *x: op(*x))(*[Tensor(np.ones(s, np.float32)) for s in shapes])

        refused(TypeError, lambda: ops.MatMul().shard([[2, 1], [1, 1]]), "in_strategy must be tuple type")
        refused(TypeError, lambda: ops.MatMul().shard(3), "in_strategy must be tuple type")
        refused(TypeError, lambda: ops.MatMul().shard(([2, 1], [1, 1])), "must be tuple/Layout type")
        refused(TypeError, lambda: ops.MatMul().shard(((2.0, 1), (1, 1))), "must be int type")
        refused(ValueError, lambda: ops.MatMul().shard(None, ((2, 1),)), "need to set in_strategy")
        matmul = lambda *s: ops.MatMul().shard(s)
        refused(RuntimeError, compiled(matmul((2, 2), (1, 2)), (4, 8), (8, 4)), "'MatMul'", "(1, 2) of input 1", "in 1", "in 2")
        refused(RuntimeError, compiled(matmul((2, 1), (1, 2)), (3, 8), (8, 4)), "2 slices do not divide an axis of 3")
        refused(RuntimeError, compiled(matmul((4, 1), (1, 4)), (4, 8), (8, 4)), "split in 16", "4 ranks")
        refused(RuntimeError, compiled(matmul((3, 1), (1, 1)), (6, 8), (8, 4)), "3 slices do not divide 4 ranks")
        refused(RuntimeError, compiled(matmul((0, 1), (1, 1)), (6, 8), (8, 4)), "at least 1")
        refused(RuntimeError, compiled(matmul((2,), (1, 2)), (4, 8), (8, 4)), "1 numbers", "2 axes")
        refused(RuntimeError, compiled(matmul((2, 1)), (4, 8), (8, 4)), "'MatMul'", "more Tensors")
        refused(RuntimeError, compiled(matmul((2, 1), (1, 1), (1,)), (4, 8), (8, 4)), "more entries")
        refused(RuntimeError, compiled(ops.Softmax().shard(((1, 2),)), (4, 8)), "'Softmax'", "axis 1 cannot be split")
        refused(RuntimeError, compiled(ops.Add().shard(((2, 1), (1, 2))), (4, 8), (4, 8)), "'Add'")
        grid = Layout((2, 4), ("x", "y"))
        refused(RuntimeError, compiled(ops.ReLU().shard((grid("x", "None"),)), (4, 8)), "8 devices", "4 ranks")
        whole = ms.jit(lambda x: ops.cumsum(ops.ReLU().shard(((4, 1),))(x), 0))(Tensor(np.ones((4, 2), np.float32)))
        assert whole.asnumpy()[3, 0] == 4
        forward = ms.jit(lambda x: ops.ReLU().shard(((4, 1),))(x).sum())
        ones = Tensor(np.ones((4, 2), np.float32))
        assert (ms.grad(forward)(ones).asnumpy() == 1).all()  # compiled as a whole
        refused(RuntimeError, lambda: ms.grad(lambda x: forward(x) * 2)(ones), "split over ranks", "compile the function")
        print("good")
    """, tmp_path)).count("good") == 4


def test_layouts_cells_functions_and_data(tmp_path):
    """Layout, Cell.shard with a plan of its Parameters, ms.shard, dataset_strategy as tuples, results that stay slices; what `explain` tells."""
    assert good(run_python("openmpi", 4, """
        import numpy as np
        import spore as ms
        from spore import Layout, Tensor, _core, communication as comm, nn, ops
        comm.init()
        rank = comm.get_rank()
        ms.set_context(mode=ms.GRAPH_MODE)
        x = np.random.RandomState(1).randn(8, 8).astype(np.float32)
        ms.set_seed(7)
        net = nn.Dense(8, 12)
        weight, bias = net.weight.asnumpy(), net.bias.asnumpy()
        wanted = x @ weight.T + bias
        ms.set_auto_parallel_context(parallel_mode="semi_auto_parallel", dataset_strategy=((2, 2),))
        net.shard(((2, 1),), parameter_plan={"weight": (2, 1)})
        row, column = divmod(rank, 2)
        mine = np.ascontiguousarray(x[4 * row:4 * row + 4, 4 * column:4 * column + 4])
        assert np.allclose(net(Tensor(mine)).asnumpy(), wanted, atol=1e-5)
        assert _core.tensor_split(net.weight) == ((12, 8), (2, 1)) and net.weight.asnumpy().shape == (6, 8) and net.bias.asnumpy().shape in ((6,), (12,))
        ms.set_auto_parallel_context(dataset_strategy="data_parallel")
        part = np.ascontiguousarray(x[2 * rank:2 * rank + 2])
        given = net(Tensor(part)).asnumpy()
        assert given.shape == (2, 12) and np.allclose(given, wanted[2 * rank:2 * rank + 2], atol=1e-5)
        ms.set_auto_parallel_context(dataset_strategy="full_batch")
        grid = Layout((2, 2), ("x", "y"))
        product = ops.MatMul().shard((grid("x", "y"), grid("y", "None")), (grid(("x", "y"), "None"),))
        y = np.random.RandomState(2).randn(8, 4).astype(np.float32)
        assert np.allclose(ms.jit(lambda a, b: product(a, b))(Tensor(x), Tensor(y)).asnumpy(), x @ y, atol=1e-5)
        split = ms.shard(lambda a: ops.relu(a) + 1, in_strategy=((2, 2),), out_strategy=((4, 1),))
        assert np.allclose(ms.jit(lambda a: split(a))(Tensor(x)).asnumpy(), np.maximum(x, 0) + 1)
        print("good")
    """, tmp_path)).count("good") == 4


@pytest.mark.parametrize("ranks", [2, 4])
def test_strategy_files_and_slices(tmp_path, ranks):
    """Files that a job writes say how its Parameters are split: another network follows them, slices become a whole by them."""
    made = told(launch("openmpi", ranks, [sys.executable, HERE / "strategy_files.py", tmp_path]))
    assert np.allclose(made["losses"], made["again"], rtol=1e-5)

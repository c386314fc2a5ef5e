# SPDX-License-Identifier: Apache-2.0
"""Data pipelines as training reads them, and the one process of a job."""
import gzip
import struct

import numpy as np
import pytest

import spore as ms
from spore import communication, dataset, nn, train
from spore.boost import GradientAccumulation
from spore.dataset import transforms, vision
from spore.parallel import Layout, auto_parallel_context
from spore.parallel._utils import _get_device_num, _get_gradients_mean, _get_parallel_mode


@pytest.fixture(autouse=True)
def fixed_seed():
    dataset.config.set_seed(1)


def rows(data):
    return [[v.tolist() for v in row] for row in data.create_tuple_iterator(num_epochs=1, output_numpy=True)]


def numbers(n=10, **kwargs):
    return dataset.NumpySlicesDataset(np.arange(n), ["n"], **kwargs)


def flat(data):
    return [row[0] for row in rows(data)]


# --- sources ---------------------------------------------------------------------------------------------------------

def test_slices_of_tuples_and_dicts():
    pairs = dataset.NumpySlicesDataset(([1, 2], [[3.0], [4.0]]), shuffle=False)
    assert pairs.get_col_names() == ["column_0", "column_1"] and rows(pairs) == [[1, [3.0]], [2, [4.0]]]
    named = dataset.NumpySlicesDataset({"a": [1, 2], "b": [3, 4]}, shuffle=False)
    row = next(iter(named.create_dict_iterator()))
    assert list(row) == ["a", "b"] and isinstance(row["a"], ms.Tensor) and row["a"].dtype == ms.int64
    assert named.output_shapes() == [[], []] and named.output_types() == [np.int64, np.int64]


def test_generators_of_all_kinds():
    class Indexed:
        def __getitem__(self, i):
            return np.float32(i), i * 2

        def __len__(self):
            return 3
    assert rows(dataset.GeneratorDataset(Indexed(), ["a", "b"], shuffle=False)) == [[0.0, 0], [1.0, 2], [2.0, 4]]
    again = dataset.GeneratorDataset(lambda: ((i,) for i in range(3)), "a")
    assert flat(again) == flat(again) == [0, 1, 2] and again.get_dataset_size() == 3
    assert flat(dataset.GeneratorDataset([5, 6, 7], "a", num_samples=2, shuffle=False)) == [5, 6]
    with pytest.raises(RuntimeError, match="column_names is:2 and number of returned NumPy array is:1"):
        rows(dataset.GeneratorDataset([1], ["a", "b"]))


def test_shuffle_follows_seed_and_epoch():
    iterator = numbers().create_tuple_iterator(num_epochs=2, output_numpy=True)
    first, second = ([row[0].tolist() for row in iterator] for _ in range(2))
    assert first != second and sorted(first) == sorted(second) == list(range(10))
    assert flat(numbers()) == first     # an iterator starts over, as MindSpore's does
    dataset.config.set_seed(2)
    assert flat(numbers()) != first


def test_shards_are_equal_and_cover_everything():
    parts = [flat(numbers(10, num_shards=3, shard_id=i)) for i in range(3)]
    assert {len(p) for p in parts} == {4} and set(sum(parts, [])) == set(range(10))
    assert numbers(10, num_shards=3, shard_id=0).get_dataset_size() == 4


def test_sampler_gives_the_order():
    assert flat(numbers(sampler=[3, 1, 1])) == [3, 1, 1]


@pytest.mark.parametrize("packed", [False, True])
def test_mnist_files(tmp_path, packed):
    images, labels = np.arange(3 * 4, dtype=np.uint8).reshape(3, 2, 2), np.array([7, 8, 9], np.uint8)
    for name, array in (("train-images-idx3-ubyte", images), ("train-labels-idx1-ubyte", labels)):
        data = bytes([0, 0, 8, array.ndim]) + struct.pack(f">{array.ndim}I", *array.shape) + array.tobytes()
        (tmp_path / (name + ".gz" if packed else name)).write_bytes(gzip.compress(data) if packed else data)
    data = dataset.MnistDataset(str(tmp_path), "train", shuffle=False)
    assert data.get_dataset_size() == 3 and data.get_col_names() == ["image", "label"] and data.num_classes() == 10
    image, label = next(iter(data.create_tuple_iterator(output_numpy=True)))
    assert image.shape == (2, 2, 1) and image.dtype == np.uint8 and label.dtype == np.uint32 and label == 7
    with pytest.raises(RuntimeError, match="t10k-images"):
        dataset.MnistDataset(str(tmp_path), "test")


def test_damaged_mnist_files_are_named(tmp_path):
    (tmp_path / "train-images-idx3-ubyte").write_bytes(bytes([0, 0, 8, 3]) + struct.pack(">3I", 2, 2, 2) + bytes(7))
    with pytest.raises(RuntimeError, match="8 bytes of data, but holds 7"):
        dataset.MnistDataset(str(tmp_path), "train")
    (tmp_path / "train-images-idx3-ubyte").write_bytes(b"zip")
    with pytest.raises(RuntimeError, match="no IDX file"):
        dataset.MnistDataset(str(tmp_path), "train")


# --- operations ------------------------------------------------------------------------------------------------------

def test_batches():
    data = numbers(5, shuffle=False).batch(2)
    assert flat(data) == [[0, 1], [2, 3], [4]] and data.get_dataset_size() == 3 and data.get_batch_size() == 2
    assert numbers(5).batch(2, drop_remainder=True).get_dataset_size() == 2
    summed = numbers(4, shuffle=False).batch(2, per_batch_map=lambda n, info: ([v + 10 * info.get_batch_num()
                                                                                for v in n],), input_columns=["n"])
    assert flat(summed) == [[0, 1], [12, 13]]
    ragged = dataset.GeneratorDataset([np.ones(1), np.ones(2)], "a", shuffle=False).batch(2)
    with pytest.raises(RuntimeError, match="different shapes in column 0 \\(.a.\\): one is float64 of shape"):
        rows(ragged)


def test_map_changes_columns():
    data = numbers(2, shuffle=False)
    assert flat(data.map([lambda n: n + 1, lambda n: n * 2])) == [2, 4]
    two = data.map(lambda n: (n, -n), ["n"], ["p", "m"])
    assert two.get_col_names() == ["p", "m"] and rows(two) == [[0, 0], [1, -1]]
    assert data.map(lambda n: n, "n", "other").get_col_names() == ["other"]
    with pytest.raises(RuntimeError, match="input column name: x doesn.t exist in the dataset columns: n"):
        rows(data.map(lambda n: n, "x"))
    with pytest.raises(RuntimeError, match="'map' operations: 1, the number of 'output_columns': 2"):
        rows(data.map(lambda n: n, ["n"], ["a", "b"]))


def test_take_skip_repeat_filter_project_rename():
    data = numbers(5, shuffle=False)
    assert flat(data.skip(1).take(2)) == [1, 2] and flat(data.take(2).repeat(2)) == [0, 1, 0, 1]
    assert data.skip(9).get_dataset_size() == 0 and data.repeat(3).get_repeat_count() == 3
    assert flat(data.filter(lambda n: n % 2 == 0)) == [0, 2, 4]
    pair = dataset.NumpySlicesDataset(([1], [2]), ["a", "b"]).project(["b", "a"]).rename("b", "c")
    assert pair.get_col_names() == ["c", "a"] and rows(pair) == [[2, 1]]
    mixed = flat(data.shuffle(3))
    assert sorted(mixed) == [0, 1, 2, 3, 4]


def test_iterators_read_epoch_after_epoch():
    iterator = numbers(2, shuffle=False).create_dict_iterator(num_epochs=2, output_numpy=True)
    assert [[int(r["n"]) for r in iterator] for _ in range(2)] == [[0, 1], [0, 1]]
    with pytest.raises(RuntimeError, match="larger num_epochs"):
        next(iterator)
    assert int(next(numbers(2, shuffle=False).create_tuple_iterator())[0]) == 0


def test_a_function_can_be_bound_to_a_dataset():
    step = train.data_sink(lambda n: n + 100, numbers(3, shuffle=False), sink_size=2)
    assert [int(step()) for _ in range(3)] == [101, 100, 102]
    with pytest.raises(ValueError, match="sink_size"):
        train.data_sink(lambda n: n, numbers(3), sink_size=0)


def test_transforms():
    image = np.arange(12, dtype=np.uint8).reshape(2, 2, 3)
    assert vision.HWC2CHW()(image).shape == (3, 2, 2)
    scaled = vision.Rescale(1 / 255, 0)(image)
    assert scaled.dtype == np.float32
    np.testing.assert_allclose(vision.Normalize([0, 1, 2], [1, 2, 4])(image)[0, 0], [0, 0, 0])
    np.testing.assert_allclose(vision.Normalize([0, 0, 0], [1, 2, 4], is_hwc=False)(image.transpose(2, 0, 1))[:, 1, 1],
                               [9, 5, 2.75])
    np.testing.assert_allclose(vision.ToTensor()(image), scaled.transpose(2, 0, 1), rtol=1e-6)
    assert transforms.TypeCast(ms.int32)(np.uint32(3)).dtype == np.int32
    assert transforms.OneHot(3)(np.int64(1)).tolist() == [0, 1, 0]
    assert transforms.Compose([vision.Rescale(2, 0), vision.HWC2CHW()])(image).shape == (3, 2, 2)
    with pytest.raises(RuntimeError, match="got channels: 1, size of mean: 3"):
        vision.Normalize([0, 0, 0], [1, 1, 1])(np.zeros((2, 2, 1)))


def test_a_network_learns_from_a_pipeline():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 4, 256).astype(np.uint32)
    images = np.zeros((256, 8, 8, 1), np.uint8)
    for image, label in zip(images, labels):
        image[label // 2 * 4:label // 2 * 4 + 4, label % 2 * 4:label % 2 * 4 + 4] = rng.integers(128, 255, (4, 4, 1))
    data = dataset.NumpySlicesDataset((images, labels), ["image", "label"])
    data = data.map([vision.Rescale(1 / 255, 0), vision.HWC2CHW()], "image")
    data = data.map(transforms.TypeCast(ms.int32), "label").batch(32)
    net = nn.SequentialCell(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Flatten(), nn.Dense(256, 4))
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    model = train.Model(net, loss, nn.Adam(net.trainable_params(), 0.01), metrics={"acc"})
    model.train(4, data)
    assert model.eval(data)["acc"] > 0.95


# --- one process -----------------------------------------------------------------------------------------------------

def test_a_job_has_one_process(monkeypatch):
    communication.init()
    assert (communication.get_rank(), communication.get_group_size(), communication.get_local_rank()) == (0, 1, 0)
    communication.create_group("own", [0])
    assert communication.get_group_rank_from_world_rank(0, "own") == 0
    communication.destroy_group("own")
    with pytest.raises(ValueError, match="no group 'own'"):
        communication.get_rank("own")
    with pytest.raises(ValueError, match="rank_ids"):
        communication.create_group("two", [0, 1])
    monkeypatch.setenv("RANK_SIZE", "4")
    with pytest.raises(RuntimeError, match="4 processes"):
        communication.init()


def test_parallel_options_can_be_read_back():
    ms.set_auto_parallel_context(gradients_mean=True)
    assert _get_gradients_mean() is True and auto_parallel_context().get_gradients_mean() is True
    auto_parallel_context().set_device_num(2)
    assert _get_device_num() == 2
    ms.reset_auto_parallel_context()
    assert (_get_device_num(), _get_parallel_mode()) == (1, ms.ParallelMode.STAND_ALONE)
    assert Layout((2, 4), ("dp", "mp"))("mp", "None", "dp").to_dict()["tensor_map"] == (0, -1, 1)


def test_gradients_are_collected_over_batches():
    weight = ms.Parameter(ms.Tensor([1.0]), name="w")
    step = GradientAccumulation(2, nn.SGD([weight], 1.0))
    seen = []
    for gradient in (1.0, 3.0, 2.0, 2.0):
        step(ms.Tensor(0.0), (ms.Tensor([gradient]),))
        seen.append(float(weight.asnumpy()[0]))
    assert seen == [1.0, -1.0, -1.0, -3.0]


@pytest.mark.parametrize("sink_size", [-1, 4])
def test_a_training_that_goes_on_sees_the_rows_it_would_have_seen(sink_size):
    def train_and_note(initial_epoch):
        seen = []

        class Note(train.Callback):
            def on_train_step_begin(self, run_context):
                seen.append(run_context.original_args().train_dataset_element[0].asnumpy().tolist())
        data = dataset.NumpySlicesDataset(np.arange(12, dtype=np.float32), ["n"], shuffle=True).shuffle(5).batch(2)
        model = train.Model(nn.ReLU(), optimizer=None)
        model.train(3, data, Note(), dataset_sink_mode=sink_size > 0, sink_size=sink_size, initial_epoch=initial_epoch)
        return seen
    whole = train_and_note(0)
    each = len(whole) // 3
    assert train_and_note(1) == whole[each:] and train_and_note(2) == whole[2 * each:]

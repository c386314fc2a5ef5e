# SPDX-License-Identifier: Apache-2.0
"""Objects of other packages where Tensors are taken, and Tensors where these packages take arrays."""
import numpy as np
import pytest

import spore as ms
from spore import Parameter, Tensor, nn, ops

pytestmark = pytest.mark.long
PICTURE = np.arange(48, dtype=np.uint8).reshape(4, 4, 3)


def test_pandas():
    pandas = pytest.importorskip("pandas", reason="pandas is not installed; build/venv-beside has it")
    frame = pandas.DataFrame({"a": [1.0, 2.0], "b": [3.0, 4.0], "c": [5.0, 6.0]})
    assert np.array_equal(Tensor(frame).asnumpy(), frame.to_numpy())
    assert Tensor(frame["a"]).shape == (2,) and Tensor(frame.astype("float32")).dtype == ms.float32
    assert nn.Dense(3, 1)(frame.astype("float32")).shape == (2, 1)
    assert np.array_equal(ops.relu(frame["b"]).asnumpy(), [3, 4])
    with pytest.raises(TypeError, match="pandas.DataFrame holds elements of dtype object"):
        Tensor(pandas.DataFrame({"a": [1, "x"]}))
    history = {"epoch": [1, 2], "loss": [0.5, 0.25]}
    assert list(pandas.DataFrame(history).columns) == ["epoch", "loss"]


def test_pillow():
    image = pytest.importorskip("PIL.Image", reason="Pillow is not installed; build/venv-beside has it")
    taken = Tensor(image.fromarray(PICTURE))
    assert taken.dtype == ms.uint8 and np.array_equal(taken.asnumpy(), PICTURE)
    assert np.array_equal(np.asarray(image.fromarray(Tensor(PICTURE))), PICTURE)
    assert np.array_equal(np.asarray(image.fromarray(Tensor(PICTURE).transpose(1, 0, 2))), PICTURE.transpose(1, 0, 2))
    assert np.array_equal(np.asarray(image.fromarray(Tensor(PICTURE[..., 0]))), PICTURE[..., 0])


def test_torch(tmp_path):
    torch = pytest.importorskip("torch", reason="torch is not installed; it is needed for this test only")
    layer = torch.nn.Linear(3, 2)
    given = torch.ones(4, 3)
    net = nn.Dense(3, 2)
    ms.load_param_into_net(net, dict(layer.named_parameters()))
    assert np.allclose(net(given).asnumpy(), layer(given).detach().numpy(), atol=1e-6)
    assert Parameter(layer.weight, name="w").shape == (2, 3)
    assert Tensor(torch.ones(2, dtype=torch.bfloat16)).dtype == ms.bfloat16
    ms.save_checkpoint(layer.state_dict(), str(tmp_path / "x.ckpt"))
    assert ms.load_checkpoint(str(tmp_path / "x.ckpt"))["bias"].shape == (2,)
    with pytest.raises(TypeError, match="torch.Size|torch.device"):
        Tensor(torch.device("cpu"))
    x = Tensor(np.ones(2, np.float32))
    assert isinstance(x + torch.ones(2), Tensor) and np.array_equal((torch.ones(2) * x).asnumpy(), [1, 1]) and (x == torch.ones(2)).all()


def test_tensorboardx(tmp_path):
    """It asks for types by name, and numpy's is among them."""
    tensorboardx = pytest.importorskip("tensorboardX", reason="tensorboardX is not installed; build/venv-beside has it")
    with tensorboardx.SummaryWriter(str(tmp_path)) as writer:
        writer.add_scalar("loss", float(Tensor(0.5)), 1)
        writer.add_histogram("weights", Tensor(np.arange(4, dtype=np.float32)).asnumpy(), 1)
        writer.add_image("picture", Tensor(PICTURE).asnumpy(), 1, dataformats="HWC")
    read = {(one.tag, one.step): one for one in ms.train.read_summary(str(tmp_path))}
    assert read["loss", 1].value == 0.5 and ("weights", 1) in read and ("picture", 1) in read

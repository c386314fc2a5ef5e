# SPDX-License-Identifier: Apache-2.0
"""A first network: three Dense layers learn handwritten digits, are saved, loaded and used.

    quick_start.py FOLDER     the folder holds the four uncompressed MNIST files
"""
import os
import sys
import tempfile

import mindspore
from mindspore import nn
from mindspore.dataset import MnistDataset, transforms, vision

mindspore.set_seed(1)
folder = sys.argv[1]
train_dataset = MnistDataset(folder, usage="train")
test_dataset = MnistDataset(folder, usage="test", shuffle=False)
print(train_dataset.get_col_names())


def datapipe(dataset, batch_size):
    image_transforms = [
        vision.Rescale(1.0 / 255.0, 0),
        vision.Normalize(mean=(0.1307,), std=(0.3081,)),
        vision.HWC2CHW(),
    ]
    label_transform = transforms.TypeCast(mindspore.int32)
    dataset = dataset.map(image_transforms, "image")
    dataset = dataset.map(label_transform, "label")
    return dataset.batch(batch_size)


train_dataset = datapipe(train_dataset, 64)
test_dataset = datapipe(test_dataset, 64)

for image, label in test_dataset.create_tuple_iterator():
    print(f"Shape of image [N, C, H, W]: {image.shape} {image.dtype}")
    print(f"Shape of label: {label.shape} {label.dtype}")
    break
for data in test_dataset.create_dict_iterator():
    print(sorted(data), data["image"].shape, data["label"].dtype)
    break


class Network(nn.Cell):
    def __init__(self):
        super().__init__()
        self.flatten = nn.Flatten()
        self.dense_relu_sequential = nn.SequentialCell(
            nn.Dense(28 * 28, 128),
            nn.ReLU(),
            nn.Dense(128, 64),
            nn.ReLU(),
            nn.Dense(64, 10),
        )

    def construct(self, x):
        x = self.flatten(x)
        logits = self.dense_relu_sequential(x)
        return logits


model = Network()
print(model)
for name, param in model.parameters_and_names():
    print(name, param.shape, param.dtype)

loss_fn = nn.CrossEntropyLoss()
optimizer = nn.SGD(model.trainable_params(), 5e-2)


def forward_fn(data, label):
    logits = model(data)
    loss = loss_fn(logits, label)
    return loss, logits


grad_fn = mindspore.value_and_grad(forward_fn, None, optimizer.parameters, has_aux=True)


def train_step(data, label):
    (loss, _), grads = grad_fn(data, label)
    optimizer(grads)
    return loss


def train(model, dataset):
    model.set_train()
    first = last = None
    for data, label in dataset.create_tuple_iterator():
        loss = train_step(data, label)
        last = float(loss.asnumpy())
        first = last if first is None else first
    return first, last


def test(model, dataset, loss_fn):
    num_batches = dataset.get_dataset_size()
    model.set_train(False)
    total, test_loss, correct = 0, 0, 0
    for data, label in dataset.create_tuple_iterator():
        pred = model(data)
        total += len(data)
        test_loss += loss_fn(pred, label).asnumpy()
        correct += (pred.argmax(1) == label).asnumpy().sum()
    return correct / total, test_loss / num_batches


losses = [train(model, train_dataset) for _ in range(2)]
assert losses[0][0] > losses[-1][1], losses
accuracy, avg_loss = test(model, test_dataset, loss_fn)
print("accuracy above 85 %:", bool(accuracy > 0.85))
assert accuracy > 0.85 and avg_loss < 0.6, (accuracy, avg_loss)

with tempfile.TemporaryDirectory() as place:
    path = os.path.join(place, "model.ckpt")
    mindspore.save_checkpoint(model, path)
    model = Network()
    param_dict = mindspore.load_checkpoint(path)
    param_not_load, _ = mindspore.load_param_into_net(model, param_dict)
    print("not loaded:", param_not_load)

again, _ = test(model, test_dataset, loss_fn)
print("the loaded network is as good:", bool(again == accuracy))
for data, label in test_dataset:
    pred = model(data)
    predicted = pred.argmax(1)
    hits = int((predicted[:32] == label[:32]).sum().asnumpy())
    print("most of the first 32 are right:", hits > 24)
    break

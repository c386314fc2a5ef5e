# SPDX-License-Identifier: Apache-2.0
"""Transfer learning: a body taken from a checkpoint and frozen, a new head trained on it."""
import os
import tempfile

import numpy as np

import mindspore as ms
from mindspore import Tensor, nn, ops
from mindspore.dataset import NumpySlicesDataset

ms.set_seed(5)
rng = np.random.RandomState(5)


class Body(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 8, 3, has_bias=True)
        self.bn1 = nn.BatchNorm2d(8)
        self.relu = nn.ReLU()
        self.pool = nn.AvgPool2d(4, 4)

    def construct(self, x):
        return self.pool(self.relu(self.bn1(self.conv1(x))))


class Classifier(nn.Cell):
    def __init__(self, n_classes):
        super().__init__()
        self.backbone = Body()
        self.flatten = nn.Flatten()
        self.head = nn.Dense(8 * 4, n_classes)

    def construct(self, x):
        return self.head(self.flatten(self.backbone(x)))


first = Classifier(10)
second = Classifier(3)
with tempfile.TemporaryDirectory() as place:
    path = os.path.join(place, "first.ckpt")
    ms.save_checkpoint(first, path, append_dict={"epoch": 7})
    params = ms.load_checkpoint(path)
    print("stored", sorted(params))
    print("epoch", int(params.pop("epoch").asnumpy()))
    only_body = ms.load_checkpoint(path, choice_func=lambda name: name.startswith("backbone"))
    print("chosen", sorted(only_body))

for name in list(params):
    if name.startswith("head"):
        print("drop", name)
        params.pop(name)
not_loaded, not_used = ms.load_param_into_net(second, params, strict_load=False)
print("not loaded", not_loaded, "not used", not_used)
assert (second.backbone.conv1.weight.asnumpy() == first.backbone.conv1.weight.asnumpy()).all()

for param in second.get_parameters():
    if param.name.startswith("backbone"):
        param.requires_grad = False
print("trainable", [p.name for p in second.trainable_params()])
print("untrainable", [p.name for p in second.untrainable_params()])

images = rng.normal(size=(48, 1, 8, 8), scale=0.3).astype(np.float32)
labels = (np.arange(48) % 3).astype(np.int32)
images[np.arange(48), 0, labels * 2, :] += 4
data = NumpySlicesDataset((images, labels), ["image", "label"], shuffle=True).batch(16)

loss_fn = nn.CrossEntropyLoss()
groups = [{"params": [second.head.weight], "lr": 0.1}, {"params": [second.head.bias], "lr": 0.1}]
optimizer = nn.Adam(groups, learning_rate=0.01)
step = ms.value_and_grad(lambda x, y: loss_fn(second(x), y), None, optimizer.parameters)

body = {p.name: p.asnumpy().copy() for p in second.get_parameters() if p.name.startswith("backbone")}
head = second.head.weight.asnumpy().copy()
second.set_train(False)  # the frozen BatchNorm keeps its statistics
losses = []
for epoch in range(30):
    for image, label in data.create_tuple_iterator():
        loss, grads = step(image, label)
        optimizer(grads)
        losses.append(float(loss.asnumpy()))
print("the loss fell", losses[-1] < 0.8 * losses[0])
kept = all((body[p.name] == p.asnumpy()).all() for p in second.get_parameters() if p.name in body)
print("body kept", kept, "head moved", bool((head != second.head.weight.asnumpy()).any()))

# A gradient that is asked for a frozen weight is one of zeros; one without freezing is not.
x, y = Tensor(images[:4]), Tensor(labels[:4])
weights = list(second.get_parameters())[:1]
frozen = ms.grad(lambda x, y: loss_fn(second(x), y), None, weights)(x, y)
print("frozen gradient", float(ops.abs(frozen[0]).sum().asnumpy()))
weights[0].requires_grad = True
thawed = ms.grad(lambda x, y: loss_fn(second(x), y), None, weights)(x, y)
print("thawed gradient is there", float(ops.abs(thawed[0]).sum().asnumpy()) > 0)

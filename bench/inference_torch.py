# SPDX-License-Identifier: Apache-2.0
"""The networks of inference.py with torch."""
import torch
from torch import nn
from torch.nn import functional as F


class Inverted(nn.Module):
    def __init__(self, inputs, outputs, stride, factor):
        super().__init__()
        width, layers = inputs * factor, []
        if factor != 1:
            layers += [nn.Conv2d(inputs, width, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU6()]
        layers += [nn.Conv2d(width, width, 3, stride, 1, groups=width, bias=False), nn.BatchNorm2d(width), nn.ReLU6(),
                   nn.Conv2d(width, outputs, 1, bias=False), nn.BatchNorm2d(outputs)]
        self.body, self.adds = nn.Sequential(*layers), stride == 1 and inputs == outputs

    def forward(self, x):
        y = self.body(x)
        return x + y if self.adds else y


class MobileNetV2(nn.Module):
    def __init__(self):
        super().__init__()
        layers, inputs = [nn.Conv2d(3, 32, 3, 2, 1, bias=False), nn.BatchNorm2d(32), nn.ReLU6()], 32
        for factor, outputs, count, stride in ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2),
                                               (6, 320, 1, 1)):
            for i in range(count):
                layers.append(Inverted(inputs, outputs, stride if i == 0 else 1, factor))
                inputs = outputs
        layers += [nn.Conv2d(320, 1280, 1, bias=False), nn.BatchNorm2d(1280), nn.ReLU6()]
        self.body, self.head = nn.Sequential(*layers), nn.Linear(1280, 1000)

    def forward(self, x):
        return self.head(self.body(x).mean((2, 3)))


class Layer(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.size = heads, width // heads
        self.query, self.key, self.value, self.out = (nn.Linear(width, width) for _ in range(4))
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        b, t, w = x.shape
        q, k, v = (part(x).view(b, t, self.heads, self.size).transpose(1, 2) for part in (self.query, self.key, self.value))
        mixed = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(b, t, w)
        x = self.norm1(x + self.out(mixed))
        return self.norm2(x + self.down(F.gelu(self.up(x))))


class Bert(nn.Module):
    def __init__(self, layers=12, width=768, heads=12, vocabulary=30522, length=512):
        super().__init__()
        self.words, self.norm = nn.Embedding(vocabulary, width), nn.LayerNorm(width)
        self.places = nn.Parameter(torch.randn(length, width) * 0.02)
        self.layers = nn.ModuleList(Layer(width, heads) for _ in range(layers))

    def forward(self, x):
        h = self.norm(self.words(x) + self.places[:x.shape[1]])
        for layer in self.layers:
            h = layer(h)
        return h


class PreNorm(Layer):
    def forward(self, x):
        b, t, w = x.shape
        y = self.norm1(x)
        q, k, v = (part(y).view(b, t, self.heads, self.size).transpose(1, 2) for part in (self.query, self.key, self.value))
        x = x + self.out(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(b, t, w))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class ViT(nn.Module):
    def __init__(self, layers=12, width=768, heads=12, patch=16, size=224):
        super().__init__()
        self.patches = nn.Conv2d(3, width, patch, patch)
        self.token, self.places = nn.Parameter(torch.randn(1, 1, width) * 0.02), nn.Parameter(torch.randn(1, (size // patch) ** 2 + 1, width) * 0.02)
        self.layers = nn.ModuleList(PreNorm(width, heads) for _ in range(layers))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, 1000)

    def forward(self, x):
        h = self.patches(x).flatten(2).transpose(1, 2)
        h = torch.cat((self.token.expand(x.shape[0], -1, -1), h), 1) + self.places
        for layer in self.layers:
            h = layer(h)
        return self.head(self.norm(h)[:, 0])


def resnet50():
    import models_torch
    return models_torch.ResNet50()


NETS = {"resnet50": resnet50, "mobilenetv2": MobileNetV2, "bert": Bert, "vit": ViT}


def make(name, batch):
    from inference_data import data
    if name not in NETS:
        raise NotImplementedError("runtimes for ONNX files are its peers")
    return NETS[name]().eval(), torch.from_numpy(data(name, batch))

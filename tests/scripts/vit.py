# SPDX-License-Identifier: Apache-2.0
"""Vision transformer in the style of a model library: registry, drop path, truncated normal, cosine schedule."""
import math
from collections import OrderedDict
from functools import partial
from typing import Callable, Optional

import numpy as np

import mindspore as ms
from mindspore import Parameter, Tensor, nn, ops
from mindspore.common.initializer import TruncatedNormal, XavierUniform, initializer

_model_entrypoints = {}


def register_model(fn: Callable) -> Callable:
    _model_entrypoints[fn.__name__] = fn
    return fn


class DropPath(nn.Cell):
    def __init__(self, drop_prob: float = 0.0, scale_by_keep: bool = True):
        super().__init__()
        self.keep_prob = 1.0 - drop_prob
        self.scale_by_keep = scale_by_keep
        self.dropout = nn.Dropout(p=drop_prob)

    def construct(self, x: Tensor) -> Tensor:
        if self.keep_prob == 1.0 or not self.training:
            return x
        shape = (x.shape[0],) + (1,) * (x.ndim - 1)
        random_tensor = self.dropout(ops.ones(shape))
        if not self.scale_by_keep:
            random_tensor = ops.mul(random_tensor, self.keep_prob)
        return x * random_tensor


class PatchEmbed(nn.Cell):
    def __init__(self, image_size=16, patch_size=4, in_chans=3, embed_dim=24, norm_layer: Optional[nn.Cell] = None):
        super().__init__()
        self.num_patches = (image_size // patch_size) ** 2
        self.proj = nn.Conv2d(in_chans, embed_dim, kernel_size=patch_size, stride=patch_size, pad_mode="pad", has_bias=True,
                              weight_init="xavier_uniform")
        self.norm = norm_layer((embed_dim,)) if norm_layer else nn.Identity()

    def construct(self, x):
        x = self.proj(x)
        b, c, h, w = x.shape
        x = ops.Reshape()(x, (b, c, h * w))
        x = ops.Transpose()(x, (0, 2, 1))
        return self.norm(x)


class Mlp(nn.Cell):
    def __init__(self, in_features, hidden_features=None, out_features=None, act_layer=nn.GELU, drop=0.):
        super().__init__()
        out_features = out_features or in_features
        hidden_features = hidden_features or in_features
        self.fc1 = nn.Dense(in_features, hidden_features)
        self.act = act_layer(approximate=False)
        self.fc2 = nn.Dense(hidden_features, out_features)
        self.drop = nn.Dropout(p=drop)

    def construct(self, x):
        return self.drop(self.fc2(self.drop(self.act(self.fc1(x)))))


class Attention(nn.Cell):
    def __init__(self, dim, num_heads=4, qkv_bias=True, qk_norm=False, norm_layer=nn.LayerNorm):
        super().__init__()
        assert dim % num_heads == 0, "dim should be divisible by num_heads"
        self.num_heads = num_heads
        self.head_dim = dim // num_heads
        self.scale = Tensor(self.head_dim ** -0.5)
        self.qkv = nn.Dense(dim, dim * 3, has_bias=qkv_bias)
        self.q_norm = norm_layer((self.head_dim,)) if qk_norm else nn.Identity()
        self.k_norm = norm_layer((self.head_dim,)) if qk_norm else nn.Identity()
        self.proj = nn.Dense(dim, dim)
        self.mul = ops.Mul()
        self.reshape = ops.Reshape()
        self.transpose = ops.Transpose()
        self.unstack = ops.Unstack(axis=0)
        self.attn_matmul_v = ops.BatchMatMul()
        self.q_matmul_k = ops.BatchMatMul(transpose_b=True)

    def construct(self, x):
        b, n, c = x.shape
        qkv = self.qkv(x)
        qkv = self.reshape(qkv, (b, n, 3, self.num_heads, self.head_dim))
        qkv = self.transpose(qkv, (2, 0, 3, 1, 4))
        q, k, v = self.unstack(qkv)
        q, k = self.q_norm(q), self.k_norm(k)
        q = self.mul(q, self.scale ** 0.5)
        k = self.mul(k, self.scale ** 0.5)
        attn = self.q_matmul_k(q, k)
        attn = ops.softmax(attn.astype(ms.float32), axis=-1).astype(attn.dtype)
        out = self.attn_matmul_v(attn, v)
        out = self.transpose(out, (0, 2, 1, 3))
        out = self.reshape(out, (b, n, c))
        return self.proj(out)


class LayerScale(nn.Cell):
    def __init__(self, dim, init_values=1e-5):
        super().__init__()
        self.gamma = Parameter(initializer(init_values, dim))

    def construct(self, x):
        return self.gamma * x


class Block(nn.Cell):
    def __init__(self, dim, num_heads, mlp_ratio=2., drop_path=0., init_values=None, norm_layer=nn.LayerNorm):
        super().__init__()
        self.norm1 = norm_layer((dim,))
        self.attn = Attention(dim, num_heads, qk_norm=True, norm_layer=norm_layer)
        self.ls1 = LayerScale(dim, init_values) if init_values else nn.Identity()
        self.drop_path1 = DropPath(drop_path) if drop_path > 0. else nn.Identity()
        self.norm2 = norm_layer((dim,))
        self.mlp = Mlp(in_features=dim, hidden_features=int(dim * mlp_ratio))
        self.ls2 = LayerScale(dim, init_values) if init_values else nn.Identity()
        self.drop_path2 = DropPath(drop_path) if drop_path > 0. else nn.Identity()

    def construct(self, x):
        x = x + self.drop_path1(self.ls1(self.attn(self.norm1(x))))
        x = x + self.drop_path2(self.ls2(self.mlp(self.norm2(x))))
        return x


class VisionTransformer(nn.Cell):
    def __init__(self, image_size=16, patch_size=4, num_classes=5, embed_dim=24, depth=2, num_heads=4, init_values=0.5,
                 drop_path_rate=0.0):
        super().__init__()
        norm_layer = partial(nn.LayerNorm, epsilon=1e-6)
        self.patch_embed = PatchEmbed(image_size, patch_size, 3, embed_dim)
        self.cls_token = Parameter(initializer(TruncatedNormal(sigma=0.02), (1, 1, embed_dim)), name="cls_token")
        self.pos_embed = Parameter(initializer(TruncatedNormal(sigma=0.02), (1, self.patch_embed.num_patches + 1, embed_dim)))
        dpr = [float(x) for x in np.linspace(0, drop_path_rate, depth)]
        self.blocks = nn.CellList([Block(embed_dim, num_heads, drop_path=dpr[i], init_values=init_values, norm_layer=norm_layer)
                                   for i in range(depth)])
        self.norm = norm_layer((embed_dim,))
        self.head = nn.Dense(embed_dim, num_classes, weight_init=TruncatedNormal(0.02)) if num_classes > 0 else nn.Identity()
        for name, cell in self.cells_and_names():
            if isinstance(cell, nn.Dense):
                cell.weight.set_data(initializer(XavierUniform(), cell.weight.shape, cell.weight.dtype))
                if cell.bias is not None:
                    cell.bias.set_data(initializer('zeros', cell.bias.shape, cell.bias.dtype))

    def no_weight_decay(self):
        return {'pos_embed', 'cls_token'}

    def construct(self, x):
        x = self.patch_embed(x)
        cls_tokens = ops.broadcast_to(self.cls_token, (x.shape[0], -1, -1))
        x = ops.concat((ops.cast(cls_tokens, x.dtype), x), 1)
        x = x + self.pos_embed
        for blk in self.blocks:
            x = blk(x)
        x = self.norm(x)
        return self.head(x[:, 0])


@register_model
def vit_tiny(pretrained: bool = False, **kwargs) -> VisionTransformer:
    return VisionTransformer(**kwargs)


ms.set_seed(42)
random = np.random.RandomState(0)
net = _model_entrypoints["vit_tiny"]()
for p in net.get_parameters():
    if "norm" not in p.name and "ls1" not in p.name and "ls2" not in p.name:
        p.set_data(Tensor(random.normal(0, 0.1, p.shape), p.dtype))
x = Tensor(random.rand(4, 3, 16, 16), ms.float32)
y = Tensor([0, 3, 1, 2], ms.int32)
lr = nn.cosine_decay_lr(min_lr=1e-5, max_lr=1e-2, total_step=6, step_per_epoch=2, decay_epoch=3)
print([round(v, 6) for v in lr])
decay = [p for p in net.trainable_params() if len(p.shape) > 1 and p.name not in net.no_weight_decay()]
other = [p for p in net.trainable_params() if not (len(p.shape) > 1 and p.name not in net.no_weight_decay())]
opt = nn.AdamWeightDecay([{"params": decay, "weight_decay": 0.05}, {"params": other, "weight_decay": 0.0},
                          {"order_params": net.trainable_params()}], learning_rate=lr)
loss_fn = nn.CrossEntropyLoss(label_smoothing=0.1)
grad_fn = ms.value_and_grad(lambda x, y: (lambda z: (loss_fn(z, y), z))(net(x)), None, opt.parameters, has_aux=True)
net.set_train()
for step in range(5):
    (loss, logits), grads = grad_fn(x, y)
    grads = ops.clip_by_global_norm(grads, 1.0)
    opt(grads)
    print(step, loss, logits.argmax(axis=1))
net.set_train(False)
for name, p in list(net.parameters_and_names())[:4]:
    print(name, p.shape, p.dtype)
print(OrderedDict((n, tuple(p.shape)) for n, p in net.parameters_dict().items() if "blocks.1" in n))

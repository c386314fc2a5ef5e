# SPDX-License-Identifier: Apache-2.0
"""Networks whose gradient goes through something that has none, or only by an agreement: casts to integers, counts, random numbers.

`mindspore gradients_through.py` prints what MindSpore makes of them, which is data/gradients_through.json; test_gradients_through.py compares."""
import json
import sys

import numpy as np


def cells(ms):
    """name: Cell of one vector."""
    ops, nn, Tensor = ms.ops, ms.nn, ms.Tensor

    class CastInt(nn.Cell):
        def construct(self, a):
            return a.astype(ms.int32).astype(ms.float32) * 3

    class CastIntTimes(nn.Cell):
        def construct(self, a):
            return (a.astype(ms.int32) * 2).astype(ms.float32) * a

    class CastBool(nn.Cell):
        def construct(self, a):
            return a.astype(ms.bool_).astype(ms.float32) * 3

    class CastInt64Half(nn.Cell):
        def construct(self, a):
            return a.astype(ms.int64).astype(ms.float16)

    class CastIntFloorDiv(nn.Cell):
        def construct(self, a):
            return (a.astype(ms.int32) // 2).astype(ms.float32)

    class CastIntSum(nn.Cell):
        def construct(self, a):
            return a.astype(ms.int32).sum().astype(ms.float32)

    class CastBytesStack(nn.Cell):
        def construct(self, a):
            return ops.stack((a.astype(ms.uint8), a.astype(ms.uint8))).astype(ms.float32)

    class CastIntIndex(nn.Cell):
        def construct(self, a):
            return ops.gather(a * 2, a.astype(ms.int32) - 2, 0)

    class CastIntAlone(nn.Cell):
        def construct(self, a):
            return ops.Cast()(a, ms.int32)

    class Greater(nn.Cell):
        def construct(self, a):
            return (a > 2.5).astype(ms.float32) * 3

    class Argmax(nn.Cell):
        def construct(self, a):
            return ops.argmax(a).astype(ms.float32) * a

    class TopKPlaces(nn.Cell):
        def construct(self, a):
            return ops.topk(a, 1)[1].astype(ms.float32)

    class Floor(nn.Cell):
        def construct(self, a):
            return ops.floor(a) * 2

    class FloorDiv(nn.Cell):
        def construct(self, a):
            return ops.floor_div(a, Tensor(1.5, ms.float32))

    class Histc(nn.Cell):
        def construct(self, a):
            return ops.histc(a, 4, 0., 5.)

    class ZetaOfPlace(nn.Cell):
        def construct(self, a):
            return ops.zeta(Tensor([2.5, 3.5], ms.float32), a)

    class NextAfter(nn.Cell):
        def construct(self, a):
            return ops.nextafter(a, Tensor([9., 9.], ms.float32))

    class NextAfterTo(nn.Cell):
        def construct(self, a):
            return ops.nextafter(Tensor([9., 9.], ms.float32), a)

    class BincountWeights(nn.Cell):
        def construct(self, a):
            return ops.bincount(Tensor([3, 1], ms.int32), a) * Tensor([1., 2., 3., 4.], ms.float32)

    class Eig(nn.Cell):
        def construct(self, a):
            return ops.real(ops.eig(ops.diag(a))[0])

    class RandomGamma(nn.Cell):
        def construct(self, a):
            return ops.random_gamma(Tensor([2], ms.int32), a, seed=1)

    class RandomPoisson(nn.Cell):
        def construct(self, a):
            return ops.random_poisson(Tensor([2], ms.int32), a, seed=1)

    class Unique(nn.Cell):
        def construct(self, a):
            return ops.unique(a)[0]

    class UniqueConsecutive(nn.Cell):
        def construct(self, a):
            return ops.unique_consecutive(a)

    class BoundingBoxEncode(nn.Cell):
        def construct(self, a):
            box = ops.concat((a, a + 4)).reshape(1, 4)
            return ops.bounding_box_encode(box, box + 1, (0., 0., 0., 0.), (1., 1., 1., 1.))

    class NmsWithMask(nn.Cell):
        def construct(self, a):
            return ops.NMSWithMask(0.1)(ops.concat((a, a + 4, a[:1])).reshape(1, 5))[0]

    class Iou(nn.Cell):
        def construct(self, a):
            box = ops.concat((a, a + 4)).reshape(1, 4)
            return ops.iou(box, box + 1)

    return {name: cell for name, cell in locals().items() if isinstance(cell, type) and issubclass(cell, nn.Cell)}


def answers(ms, name, x=(2.25, 3.75)):
    """What grad gives in both modes: a list of numbers, or the name of the exception."""
    found = []
    for mode in (ms.PYNATIVE_MODE, ms.GRAPH_MODE):
        ms.set_context(mode=mode)
        try:
            found.append(ms.grad(cells(ms)[name]())(ms.Tensor(np.array(x, np.float32))).asnumpy().astype(float).round(5).tolist())
        except (RuntimeError, TypeError, ValueError) as error:
            found.append(type(error).__name__)
        finally:
            ms.set_context(mode=ms.PYNATIVE_MODE)
    return found


if __name__ == "__main__":
    import mindspore
    recorded = {name: answers(mindspore, name) for name in cells(mindspore)}
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        file.write("{\n" + ",\n".join(f'"{n}": {json.dumps(a)}' for n, a in recorded.items()) + "\n}\n")

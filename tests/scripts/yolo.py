# SPDX-License-Identifier: Apache-2.0
"""A detection head: grids, anchors, box decoding, IoU, ignore mask, loss, and non-maximum suppression."""
import numpy as np

import mindspore as ms
from mindspore import Tensor, nn, ops
from mindspore.ops import functional as F
from mindspore.ops import operations as P


class Iou(nn.Cell):
    def __init__(self):
        super().__init__()
        self.min = P.Minimum()
        self.max = P.Maximum()
        self.squeeze = P.Squeeze(-1)

    def construct(self, box1, box2):
        box1_xy, box1_wh = box1[..., :2], box1[..., 2:4]
        box2_xy, box2_wh = box2[..., :2], box2[..., 2:4]
        box1_mins, box1_maxs = box1_xy - box1_wh / F.scalar_to_tensor(2.0), box1_xy + box1_wh / F.scalar_to_tensor(2.0)
        box2_mins, box2_maxs = box2_xy - box2_wh / 2.0, box2_xy + box2_wh / 2.0
        mins = self.max(box1_mins, box2_mins)
        maxs = self.min(box1_maxs, box2_maxs)
        wh = self.max(maxs - mins, F.scalar_to_tensor(0.0))
        inter = self.squeeze(wh[..., 0:1]) * self.squeeze(wh[..., 1:2])
        area1 = self.squeeze(box1_wh[..., 0:1]) * self.squeeze(box1_wh[..., 1:2])
        area2 = self.squeeze(box2_wh[..., 0:1]) * self.squeeze(box2_wh[..., 1:2])
        return inter / (area1 + area2 - inter)


class DetectionBlock(nn.Cell):
    def __init__(self, anchors, num_classes=3):
        super().__init__()
        self.anchors = Tensor(anchors, ms.float32)
        self.num_anchors_per_scale = len(anchors)
        self.num_attrib = 4 + 1 + num_classes
        self.sigmoid = nn.Sigmoid()
        self.reshape, self.tile, self.concat = P.Reshape(), P.Tile(), P.Concat(axis=-1)
        self.conf_training = True

    def construct(self, x, input_shape):
        num_batch = P.Shape()(x)[0]
        grid_size = P.Shape()(x)[2:4]
        prediction = self.reshape(x, (num_batch, self.num_anchors_per_scale, self.num_attrib, grid_size[0], grid_size[1]))
        prediction = P.Transpose()(prediction, (0, 3, 4, 1, 2))
        range_x, range_y = range(grid_size[1]), range(grid_size[0])
        grid_x = P.Cast()(F.tuple_to_array(tuple(range_x)), ms.float32)
        grid_y = P.Cast()(F.tuple_to_array(tuple(range_y)), ms.float32)
        grid_x = self.tile(self.reshape(grid_x, (1, 1, -1, 1, 1)), (1, grid_size[0], 1, 1, 1))
        grid_y = self.tile(self.reshape(grid_y, (1, -1, 1, 1, 1)), (1, 1, grid_size[1], 1, 1))
        grid = self.concat((grid_x, grid_y))
        box_xy = prediction[:, :, :, :, :2]
        box_wh = prediction[:, :, :, :, 2:4]
        box_xy = (self.sigmoid(box_xy) + grid) / P.Cast()(F.tuple_to_array((grid_size[1], grid_size[0])), ms.float32)
        box_wh = P.Exp()(box_wh) * self.anchors / input_shape
        if self.training:
            return grid, prediction, box_xy, box_wh
        return self.concat((box_xy, box_wh, self.sigmoid(prediction[..., 4:5]), self.sigmoid(prediction[..., 5:])))


class YoloLossBlock(nn.Cell):
    def __init__(self, anchors):
        super().__init__()
        self.anchors = Tensor(anchors, ms.float32)
        self.ignore_threshold = Tensor(0.5, ms.float32)
        self.iou = Iou()
        self.bce = P.SigmoidCrossEntropyWithLogits()
        self.reduce_sum, self.reduce_max = P.ReduceSum(), P.ReduceMax(keep_dims=False)
        self.select = P.Select()

    def construct(self, grid, prediction, pred_xy, pred_wh, y_true, gt_box, input_shape):
        object_mask = y_true[:, :, :, :, 4:5]
        class_probs = y_true[:, :, :, :, 5:]
        grid_shape = P.Shape()(prediction)[1:3]
        grid_shape = P.Cast()(F.tuple_to_array(grid_shape[::-1]), ms.float32)
        pred_boxes = P.Concat(axis=-1)((pred_xy, pred_wh))
        true_wh = y_true[:, :, :, :, 2:4]
        true_wh = self.select(P.Equal()(true_wh, 0.0), P.Fill()(P.DType()(true_wh), P.Shape()(true_wh), 1.0), true_wh)
        true_wh = P.Log()(true_wh / self.anchors * input_shape)
        gt_shape = P.Shape()(gt_box)
        gt_box = P.Reshape()(gt_box, (gt_shape[0], 1, 1, 1, gt_shape[1], gt_shape[2]))
        iou = self.iou(P.ExpandDims()(pred_boxes, -2), gt_box)
        best_iou = self.reduce_max(iou, -1)
        ignore_mask = P.ExpandDims()(P.Cast()(best_iou < self.ignore_threshold, ms.float32), -1)
        ignore_mask = F.stop_gradient(ignore_mask)
        scale = 2.0 - y_true[..., 2:3] * y_true[..., 3:4]
        true_xy = y_true[..., :2] * grid_shape - grid
        loss_xy = self.reduce_sum(object_mask * scale * self.bce(prediction[..., :2], true_xy), ())
        loss_wh = self.reduce_sum(object_mask * scale * 0.5 * P.Square()(true_wh - prediction[..., 2:4]), ())
        conf = self.bce(prediction[..., 4:5], object_mask)
        loss_conf = self.reduce_sum(object_mask * conf + (1 - object_mask) * conf * ignore_mask, ())
        loss_cls = self.reduce_sum(object_mask * self.bce(prediction[..., 5:], class_probs), ())
        return (loss_xy + loss_wh + loss_conf + loss_cls) / P.Shape()(prediction)[0]


class Net(nn.Cell):
    def __init__(self, anchors):
        super().__init__()
        self.conv = nn.Conv2d(8, len(anchors) * 8, 1, has_bias=True)
        self.head = DetectionBlock(anchors)
        self.loss = YoloLossBlock(anchors)

    def construct(self, features, y_true, gt, input_shape):
        grid, prediction, xy, wh = self.head(self.conv(features), input_shape)
        return self.loss(grid, prediction, xy, wh, y_true, gt, input_shape)


anchors = [(10, 13), (16, 30), (33, 23)]
random = np.random.RandomState(4)
net = Net(anchors)
for p in net.get_parameters():
    p.set_data(Tensor(random.normal(0, 0.1, p.shape).astype(np.float32)))
features = Tensor(random.randn(2, 8, 4, 5).astype(np.float32))
input_shape = Tensor([40.0, 32.0], ms.float32)
gt = np.array([[[0.3, 0.4, 0.2, 0.3], [0.7, 0.6, 0.4, 0.4]], [[0.5, 0.5, 0.3, 0.2], [0, 0, 0, 0]]], np.float32)
y_true = np.zeros((2, 4, 5, 3, 8), np.float32)
for b, boxes in enumerate(gt):
    for k, (cx, cy, w, h) in enumerate(boxes):
        if w > 0:
            y_true[b, int(cy * 4), int(cx * 5), k, :4] = cx, cy, w, h
            y_true[b, int(cy * 4), int(cx * 5), k, 4] = 1
            y_true[b, int(cy * 4), int(cx * 5), k, 5 + k] = 1
net.set_train()
optimizer = nn.Momentum(net.trainable_params(), 0.02, 0.9, weight_decay=5e-4)
step = nn.TrainOneStepCell(net, optimizer)
for i in range(5):
    print(i, step(features, Tensor(y_true), Tensor(gt), input_shape))
net.set_train(False)
out = net.head(net.conv(features), input_shape)
print(out.shape, out.mean())
boxes = out[0].reshape(-1, 8)
score, kind = ops.max(boxes[:, 5:] * boxes[:, 4:5], axis=1)
order = ops.sort(score, descending=True)[1][:6]
picked = boxes.index_select(0, order)
corners = ops.cat((picked[:, :2] - picked[:, 2:4] / 2, picked[:, :2] + picked[:, 2:4] / 2, score[order].expand_dims(1)), axis=1)
kept, index, mask = P.NMSWithMask(0.3)(corners.astype(ms.float32))
print(index, mask)
print(ops.nonzero(score > score.mean()).shape, kind[order])

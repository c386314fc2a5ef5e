# SPDX-License-Identifier: Apache-2.0
"""Metrics of segmentation: overlap, distances between surfaces, counts by class, and occlusion."""
import numpy as np

from spore._core import Tensor, type_name as _type_name
from spore.train.metrics.metric import Metric, rearrange_inputs

__all__ = ['Dice', 'HausdorffDistance', 'MeanSurfaceDistance', 'RootMeanSquareDistance', 'ConfusionMatrixMetric',
           'OcclusionSensitivity']


class Dice(Metric):
    """Overlap: twice the common part over the sum of both.

    Args:
        smooth: added to the divisor.
    """

    def __init__(self, smooth=1e-5):
        super().__init__()
        if not isinstance(smooth, (float, int)) or not smooth > 0:
            raise ValueError(f"For 'Dice', 'smooth' must be a number above 0, but got {smooth!r}.")
        self.smooth = smooth
        self.clear()

    def clear(self):
        self._dice_coeff_sum = self._samples_num = 0

    @rearrange_inputs
    def update(self, *inputs):
        y_pred, y = self._pair(inputs)
        if y_pred.shape != y.shape:
            raise ValueError(f"For 'Dice.update', prediction and truth must have one shape, but got {y_pred.shape} and "
                             f"{y.shape}.")
        a, b = y_pred.ravel(), y.ravel()
        self._dice_coeff_sum += 2 * float(a @ b) / float(a @ a + b @ b + self.smooth)
        self._samples_num += y.shape[0]

    def eval(self):
        self._need(self._samples_num)
        return self._dice_coeff_sum / float(self._samples_num)


# --- distances between surfaces --------------------------------------------------------------------------------------

def _edges(mask):
    """The elements of a mask with a neighbour along an axis outside it; what lies beyond the border is outside."""
    inner = mask.copy()
    for axis in range(mask.ndim):
        padded = np.pad(mask, [(1, 1) if k == axis else (0, 0) for k in range(mask.ndim)])
        inner &= np.take(padded, range(0, mask.shape[axis]), axis) & np.take(padded, range(2, mask.shape[axis] + 2),
                                                                             axis)
    return mask ^ inner


_NORMS = {'euclidean': lambda d: np.sqrt((d.astype(float) ** 2).sum(axis=-1)),
          'chessboard': lambda d: np.abs(d).max(axis=-1),
          'taxicab': lambda d: np.abs(d).sum(axis=-1)}
_ROWS_AT_ONCE = 1 << 20


def _nearest(from_edges, to_edges, metric):
    """Distance of each edge element of one mask to the nearest of the other."""
    a, b = np.argwhere(from_edges), np.argwhere(to_edges)
    if not len(a):
        return np.array([])
    if not len(b):
        return np.full(len(a), np.inf)
    step = max(1, _ROWS_AT_ONCE // len(b))
    return np.concatenate([_NORMS[metric](a[i:i + step, None] - b[None]).min(axis=1) for i in range(0, len(a), step)])


class _Surface(Metric):
    """Two masks by a label, and their edges."""

    def __init__(self, distance_metric):
        super().__init__()
        if not isinstance(distance_metric, str):
            raise TypeError(f"For '{type(self).__name__}', 'distance_metric' must be a str, but got "
                            f"{_type_name(distance_metric)}.")
        if distance_metric not in _NORMS:
            raise ValueError(f"For '{type(self).__name__}', 'distance_metric' must be one of {list(_NORMS)}, but got "
                             f"{distance_metric!r}.")
        self.distance_metric = distance_metric
        self.clear()

    def clear(self):
        self._y_pred_edges = self._y_edges = None
        self._is_update = False

    @rearrange_inputs
    def update(self, *inputs):
        who = type(self).__name__
        if len(inputs) != 3:
            raise ValueError(f"For '{who}.update', three inputs are wanted, prediction, truth and label, but got "
                             f"{len(inputs)}.")
        y_pred, y, label = self._convert_data(inputs[0]), self._convert_data(inputs[1]), inputs[2]
        if not isinstance(label, (int, float)):
            raise ValueError(f"For '{who}.update', the label must be a number, but got {_type_name(label)}.")
        if y_pred.size == 0 or y_pred.shape != y.shape:
            raise ValueError(f"For '{who}.update', prediction and truth must have one shape, and not be empty, but got "
                             f"{y_pred.shape} and "
                             f"{y.shape}.")
        if label not in y_pred and label not in y:
            raise ValueError(f"For '{who}.update', the label {label} is neither in the prediction nor in the truth.")
        masks = [m if m.dtype == bool else m == label for m in (y_pred, y)]
        self._y_pred_edges, self._y_edges = (_edges(m) for m in self._cut(masks))
        self._is_update = True

    def _cut(self, masks):
        return masks

    def _distances(self, back=False):
        pair = (self._y_edges, self._y_pred_edges) if back else (self._y_pred_edges, self._y_edges)
        return _nearest(*pair, self.distance_metric)


class HausdorffDistance(_Surface):
    """The largest distance from a point of one surface to the other.

    Args:
        distance_metric: "euclidean", "chessboard" or "taxicab".
        percentile: instead of the largest, this percentile of the distances.
        directed: whether only distances from the prediction to the truth count.
        crop: whether to look at the part of the image only that holds the masks.
    """

    def __init__(self, distance_metric='euclidean', percentile=None, directed=False, crop=True):
        super().__init__(distance_metric)
        if percentile is not None and not isinstance(percentile, float):
            raise TypeError(f"For 'HausdorffDistance', 'percentile' must be a float, but got "
                            f"{_type_name(percentile)}.")
        self.percentile, self.directed, self.crop = percentile, directed, crop

    def _cut(self, masks):
        if not self.crop:
            return masks
        points = np.argwhere(masks[0] | masks[1])
        box = tuple(slice(low, high + 1) for low, high in zip(points.min(axis=0), points.max(axis=0)))
        return [m[box] for m in masks]

    def _extreme(self, distances):
        if not distances.size:
            return np.inf
        if self.percentile is None:
            return distances.max()
        if not 0 <= self.percentile <= 100:
            raise ValueError(f"For 'HausdorffDistance', 'percentile' must be in 0 to 100, but got {self.percentile}.")
        return np.percentile(distances, self.percentile)

    def eval(self):
        self._need(self._is_update)
        there = self._extreme(self._distances())
        return there if self.directed else max(there, self._extreme(self._distances(back=True)))


class MeanSurfaceDistance(_Surface):
    """The mean distance from the predicted surface to the true one.

    Args:
        symmetric: whether to take the mean of both directions.
        distance_metric: "euclidean", "chessboard" or "taxicab".
    """

    def __init__(self, symmetric=False, distance_metric='euclidean'):
        if not isinstance(symmetric, bool):
            raise TypeError(f"For '{type(self).__name__}', 'symmetric' must be a bool, but got "
                            f"{_type_name(symmetric)}.")
        super().__init__(distance_metric)
        self.symmetric = symmetric

    def eval(self):
        self._need(self._is_update)
        means = []
        for back in (False, True) if self.symmetric else (False,):
            distances = self._distances(back)
            if not distances.size:
                return np.inf
            means.append(self._mean(distances))
        return self._both(means) if self.symmetric else means[0]

    _mean = staticmethod(np.mean)
    _both = staticmethod(np.mean)


class RootMeanSquareDistance(MeanSurfaceDistance):
    """The mean squared distance from the predicted surface to the true one; if symmetric, the root of the mean of both
    directions.

    Args:
        symmetric: whether to take both directions.
        distance_metric: "euclidean", "chessboard" or "taxicab".
    """

    _mean = staticmethod(lambda d: (d ** 2).mean())
    _both = staticmethod(lambda means: np.sqrt(np.mean(means)))


# --- counts by class -------------------------------------------------------------------------------------------------

def _ratio(a, b):
    return np.divide(a, b, out=np.full(np.shape(a), np.nan), where=np.asarray(b) != 0)


def _threshold(tp, fp, tn, fn):
    tpr, tnr = _ratio(tp, tp + fn), _ratio(tn, tn + fp)
    return _ratio(np.sqrt(tpr * (1.0 - tnr)) + tnr - 1.0, tpr + tnr - 1.0)


# names of a measure: the measure
_MEASURES = {
    ('sensitivity', 'recall', 'hit_rate', 'true_positive_rate', 'tpr'): lambda tp, fp, tn, fn: _ratio(tp, tp + fn),
    ('specificity', 'selectivity', 'true_negative_rate', 'tnr'): lambda tp, fp, tn, fn: _ratio(tn, tn + fp),
    ('precision', 'positive_predictive_value', 'ppv'): lambda tp, fp, tn, fn: _ratio(tp, tp + fp),
    ('negative_predictive_value', 'npv'): lambda tp, fp, tn, fn: _ratio(tn, tn + fn),
    ('miss_rate', 'false_negative_rate', 'fnr'): lambda tp, fp, tn, fn: _ratio(fn, tp + fn),
    ('fall_out', 'false_positive_rate', 'fpr'): lambda tp, fp, tn, fn: _ratio(fp, tn + fp),
    ('false_discovery_rate', 'fdr'): lambda tp, fp, tn, fn: _ratio(fp, tp + fp),
    ('false_omission_rate', 'for'): lambda tp, fp, tn, fn: _ratio(fn, tn + fn),
    ('prevalence_threshold', 'pt'): _threshold,
    ('threat_score', 'critical_success_index', 'ts', 'csi'): lambda tp, fp, tn, fn: _ratio(tp, tp + fn + fp),
    ('accuracy', 'acc'): lambda tp, fp, tn, fn: _ratio(tp + tn, tp + fp + tn + fn),
    ('balanced_accuracy', 'ba'): lambda tp, fp, tn, fn: (_ratio(tp, tp + fn) + _ratio(tn, tn + fp)) / 2,
    ('f1_score', 'f1'): lambda tp, fp, tn, fn: _ratio(2.0 * tp, 2.0 * tp + fn + fp),
    ('matthews_correlation_coefficient', 'mcc'):
        lambda tp, fp, tn, fn: _ratio(tp * tn - fp * fn, np.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))),
    ('fowlkes_mallows_index', 'fm'): lambda tp, fp, tn, fn: np.sqrt(_ratio(tp, tp + fp) * _ratio(tp, tp + fn)),
    ('informedness', 'bookmaker_informedness', 'bm'): lambda tp, fp, tn, fn: _ratio(tp, tp + fn)
             + _ratio(tn, tn + fp) - 1.0,
    ('markedness', 'deltap', 'mk'): lambda tp, fp, tn, fn: _ratio(tp, tp + fp) + _ratio(tn, tn + fn) - 1.0,
}
_BY_NAME = {name: measure for names, measure in _MEASURES.items() for name in names}


def _mean_of(values, there, axis):
    """Mean over an axis of what is there, 0 where nothing is; and how much of the result is there."""
    count = there.sum(axis=axis)
    total = np.where(there, values, 0).sum(axis=axis)
    return np.divide(total, count, out=np.zeros(np.shape(total)), where=count > 0), count


class ConfusionMatrixMetric(Metric):
    """A measure made of true and false positives and negatives, over samples and channels of binary masks.

    Args:
        skip_channel: whether the first channel counts; if not, it is taken for the background.
        metric_name: one of sensitivity, specificity, precision, miss rate, fall out, accuracy, f1 score, threat score,
            ...
        calculation_method: whether to compute the measure of each sample first, and then the mean.
        decrease: "none", "mean" or "sum", also with "_batch" or "_channel": how samples and channels are brought
            together.
    """

    def __init__(self, skip_channel=True, metric_name='sensitivity', calculation_method=False, decrease='mean'):
        super().__init__()
        for name, value, kind in (('skip_channel', skip_channel, bool), ('calculation_method', calculation_method,
                                                                         bool),
                                  ('metric_name', metric_name, str), ('decrease', decrease, str)):
            if not isinstance(value, kind):
                raise TypeError(f"For 'ConfusionMatrixMetric', '{name}' must be a {kind.__name__}, but got "
                                f"{_type_name(value)}.")
        known = ['none', 'mean', 'sum', 'mean_batch', 'sum_batch', 'mean_channel', 'sum_channel']
        if decrease not in known:
            raise ValueError(f"For 'ConfusionMatrixMetric', 'decrease' must be one of {known}, but got {decrease!r}.")
        self.skip_channel, self.metric_name = skip_channel, metric_name
        self.calculation_method, self.decrease = calculation_method, decrease
        self.clear()

    def clear(self):
        self._total_num = self._class_num = 0
        self._counts = np.zeros(4)

    @rearrange_inputs
    def update(self, *inputs):
        y_pred, y = self._pair(inputs)
        if not (y.astype(np.uint8) == y).all():
            raise ValueError("For 'ConfusionMatrixMetric.update', the truth must hold 0 and 1 only.")
        if y_pred.ndim < 2 or y_pred.shape != y.shape:
            raise ValueError(f"For 'ConfusionMatrixMetric.update', prediction and truth must have one shape of at "
                             "least two dimensions, "
                             f"but got {y_pred.shape} and {y.shape}.")
        flat = y_pred.ndim == 2 or (y_pred.ndim == 3 and y_pred.shape[-1] == 1)
        if not self.skip_channel and y.shape[1] > 1:
            y_pred, y = y_pred[:, 1:], y[:, 1:]
        a, b = (m.reshape(m.shape[0], m.shape[1], -1).astype(float) for m in (y_pred, y))
        tp, tn = (a + b == 2).sum(axis=2).astype(float), (a + b == 0).sum(axis=2).astype(float)
        positives = b.sum(axis=2)
        counts = np.stack([tp, b.shape[2] - positives - tn, tn, positives - tp], axis=-1)
        if self.calculation_method and not flat:
            value, there = self._bring_together(_measure(self.metric_name, counts))
            self._total_num += float(value) * int(there)
            self._class_num += int(there)
        else:
            self._counts += counts.sum(axis=(0, 1))

    def _bring_together(self, values):
        there = ~np.isnan(values)
        if self.decrease == 'mean':
            means, count = _mean_of(values, there, 1)
            return _mean_of(means, count > 0, 0)
        axis = {'sum': (0, 1), 'mean_batch': 0, 'sum_batch': 0, 'mean_channel': 1, 'sum_channel': 1}.get(self.decrease)
        if axis is None:
            return values, there
        if self.decrease.startswith('mean'):
            return _mean_of(values, there, axis)
        return np.where(there, values, 0).sum(axis=axis), there.sum(axis=axis)

    def eval(self):
        if self.calculation_method and self._class_num:
            return self._total_num / self._class_num
        self._need(self._counts.any())
        return _measure(self.metric_name, self._counts[None])


def _measure(name, counts):
    measure = _BY_NAME.get(name.replace(' ', '_').lower())
    if measure is None:
        raise NotImplementedError(f"For 'ConfusionMatrixMetric', 'metric_name' {name!r} is not known; there are "
                                  f"{sorted(_BY_NAME)}.")
    return measure(*np.moveaxis(counts, -1, 0))


class OcclusionSensitivity(Metric):
    """How much the score of a class falls when a patch around each point of the input is covered.

    Args:
        pad_val: what the patch is filled with.
        margin: half the size of the patch.
        n_batch: covered inputs per call of the network.
        b_box: [low, high, low, high, ...] of the points to try, for each dimension but the first.

    Examples:
        >>> import numpy as np
        >>> from spore import Tensor, nn, train
        >>> metric = train.OcclusionSensitivity(margin=1)
        >>> net = nn.Dense(2, 2, weight_init="ones")
        >>> metric.update(net, Tensor([[1.0, 3.0]]), Tensor([0]))
        >>> metric.eval()
        array([1., 4.], dtype=float32)
    """

    def __init__(self, pad_val=0.0, margin=2, n_batch=128, b_box=None):
        super().__init__()
        for name, value, kinds in (('pad_val', pad_val, float), ('margin', margin, int), ('n_batch', n_batch, int),
                                   ('b_box', b_box, (list, type(None)))):
            if not isinstance(value, kinds):
                raise TypeError(f"For 'OcclusionSensitivity', '{name}' has the wrong type {_type_name(value)}.")
        self.pad_val, self.margin, self.n_batch, self.b_box = pad_val, margin, n_batch, b_box
        self.clear()

    def clear(self):
        self._sensitivity = None

    def _box(self, shape):
        if self.b_box is None:
            return np.zeros(len(shape), int), shape
        if len(self.b_box) != 2 * len(shape):
            raise ValueError(f"For 'OcclusionSensitivity', 'b_box' must hold two numbers for each of {len(shape)} "
                             "dimensions, but it "
                             f"holds {len(self.b_box)}.")
        low, high = np.maximum(self.b_box[::2], 0), np.array(self.b_box[1::2])
        high = np.where(high < 0, shape - 1, high)
        if (high >= shape).any() or (low > high).any():
            raise ValueError(f"For 'OcclusionSensitivity', 'b_box' {self.b_box} must lie inside the input's shape "
                             f"{tuple(shape)}.")
        return low, high - low + 1

    @rearrange_inputs
    def update(self, *inputs):
        if len(inputs) != 3:
            raise ValueError(f"For 'OcclusionSensitivity.update', three inputs are wanted, network, input and label, "
                             f"but got {len(inputs)}.")
        network, data, label = inputs[0], self._convert_data(inputs[1]), self._convert_data(inputs[2])
        if data.shape[0] != 1 or label.size != 1:
            raise RuntimeError(f"For 'OcclusionSensitivity.update', one input with one label is wanted, but got "
                               f"{data.shape[0]} and "
                               f"{label.size}.")
        label = int(label.reshape(()))
        low, extent = self._box(np.array(data.shape[1:]))
        scores, batch = [], []
        for point in np.ndindex(*extent):
            point = point + low
            covered = data.copy()
            covered[(slice(None),) + tuple(slice(max(0, p - self.margin), p + self.margin)
                                           for p in point)] = self.pad_val
            batch.append(covered)
            if len(batch) == self.n_batch:
                scores.append(network(Tensor(np.concatenate(batch))).asnumpy()[:, label])
                batch = []
        if batch:
            scores.append(network(Tensor(np.concatenate(batch))).asnumpy()[:, label])
        whole = network(Tensor(data)).asnumpy()[0, label]
        self._sensitivity = whole - np.squeeze(np.concatenate(scores).reshape(extent))

    def eval(self):
        self._need(self._sensitivity is not None)
        return self._sensitivity

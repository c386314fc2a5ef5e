# SPDX-License-Identifier: Apache-2.0
"""Metrics: what a Model computes in evaluation."""
from spore._core import type_name as _type_name
from spore.train.metrics.classification import (F1, ROC, Accuracy, ConfusionMatrix, Fbeta, Precision, Recall,
                                                Top1CategoricalAccuracy,
                                                Top5CategoricalAccuracy, TopKCategoricalAccuracy, auc)
from spore.train.metrics.error import MAE, MSE, Loss
from spore.train.metrics.metric import EvaluationBase, Metric, rearrange_inputs
from spore.train.metrics.segmentation import (ConfusionMatrixMetric, Dice, HausdorffDistance, MeanSurfaceDistance,
                                              OcclusionSensitivity, RootMeanSquareDistance)
from spore.train.metrics.sequence import BleuScore, CosineSimilarity, Perplexity

__all__ = ['names', 'get_metric_fn', 'Accuracy', 'MAE', 'MSE', 'Metric', 'rearrange_inputs', 'Precision',
           'HausdorffDistance', 'Recall',
           'Fbeta', 'BleuScore', 'CosineSimilarity', 'OcclusionSensitivity', 'F1', 'Dice', 'ROC', 'auc',
           'TopKCategoricalAccuracy',
           'Top1CategoricalAccuracy', 'Top5CategoricalAccuracy', 'Loss', 'MeanSurfaceDistance',
           'RootMeanSquareDistance', 'Perplexity',
           'ConfusionMatrix', 'ConfusionMatrixMetric']

_BY_NAME = {
    'accuracy': Accuracy, 'acc': Accuracy, 'precision': Precision, 'recall': Recall, 'F1': F1, 'dice': Dice, 'roc': ROC,
            'auc': auc,
    'bleu_score': BleuScore, 'cosine_similarity': CosineSimilarity, 'occlusion_sensitivity': OcclusionSensitivity,
    'topk': TopKCategoricalAccuracy, 'hausdorff_distance': HausdorffDistance, 'top_1_accuracy': Top1CategoricalAccuracy,
    'top_5_accuracy': Top5CategoricalAccuracy, 'mae': MAE, 'mse': MSE, 'loss': Loss,
            'mean_surface_distance': MeanSurfaceDistance,
    'root_mean_square_distance': RootMeanSquareDistance, 'perplexity': Perplexity, 'confusion_matrix': ConfusionMatrix,
    'confusion_matrix_metric': ConfusionMatrixMetric}


def names():
    """The names a metric can be asked for by, sorted."""
    return sorted(_BY_NAME)


def get_metric_fn(name, *args, **kwargs):
    """A metric by its name.

    Args:
        name: one of ``names()``.
        args, kwargs: for its constructor.

    Examples:
        >>> from spore import train
        >>> type(train.get_metric_fn('acc')).__name__
        'Accuracy'
    """
    if name not in _BY_NAME:
        raise KeyError(f"For 'get_metric_fn', there is no metric {name!r}; there are {names()}.")
    return _BY_NAME[name](*args, **kwargs)


def get_metrics(metrics):
    """What ``Model(metrics=...)`` takes as a dict from names to Metrics; None stays None."""
    if metrics is None:
        return None
    if isinstance(metrics, dict):
        for name, metric in metrics.items():
            if not isinstance(name, str) or not isinstance(metric, Metric):
                raise TypeError(f"For 'Model', 'metrics' must map str to Metric, but got {_type_name(name)} to "
                                f"{_type_name(metric)}.")
        return metrics
    if isinstance(metrics, set):
        return {name: get_metric_fn(name) for name in sorted(metrics)}
    raise TypeError(f"For 'Model', 'metrics' must be None, a dict or a set, but got {_type_name(metrics)}.")

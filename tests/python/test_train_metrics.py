# SPDX-License-Identifier: Apache-2.0
"""Metrics against values MindSpore 2.10 computed for the same inputs (data/metrics.json), and what they refuse."""
import json
import pathlib

import numpy as np
import pytest

from spore import Tensor, nn, train

WANTED = json.loads((pathlib.Path(__file__).parent / "data" / "metrics.json").read_text(encoding="utf-8"))


def _cases():
    rng = np.random.default_rng(3)
    p = rng.random((6, 3)).astype("f4")
    y = np.array([0, 2, 1, 1, 0, 2])
    pm, ym = (rng.random((4, 3)) > .5).astype("f4"), (rng.random((4, 3)) > .5).astype("f4")
    seg1, seg2 = np.zeros((6, 6)), np.zeros((6, 6))
    seg1[1:4, 1:5] = 1
    seg2[2:5, 2:6] = 1
    b1, b2 = (rng.random((2, 3, 4)) > .5).astype("f4"), (rng.random((2, 3, 4)) > .5).astype("f4")
    share = p / p.sum(1, keepdims=True)
    cases = {
        "acc": (train.Accuracy(), [(p, y), (p[:2], y[:2])]), "acc_oh": (train.Accuracy(), [(p, np.eye(3)[y])]),
        "acc_ml": (train.Accuracy("multilabel"), [(pm, ym), (pm[:2], pm[:2])]), "prec": (train.Precision(), [(p, y)]),
        "prec_avg": (train.Precision(), [(p, y)], True), "prec_ml": (train.Precision("multilabel"), [(pm, ym)]),
        "prec_ml_avg": (train.Precision("multilabel"), [(pm, ym)], True), "rec": (train.Recall(), [(p, np.eye(3)[y])]),
        "rec_ml": (train.Recall("multilabel"), [(pm, ym)]), "rec_ml_avg": (train.Recall("multilabel"), [(pm, ym)],
                                                                           True),
        "f1": (train.F1(), [(p, y)]), "fb": (train.Fbeta(2.0), [(p, y)], True),
             "top1": (train.Top1CategoricalAccuracy(), [(p, y)]),
        "top2": (train.TopKCategoricalAccuracy(2), [(p, y)]), "top5": (train.Top5CategoricalAccuracy(),
                                                                       [(np.hstack([p, p]), y)]),
        "mae": (train.MAE(), [(p[:, 0], p[:, 1])]), "mse": (train.MSE(), [(p, p[::-1].copy())]),
        "loss": (train.Loss(), [(Tensor(np.float32(2)),), (Tensor(np.array([1., 2], "f4")),)]),
        "ppl": (train.Perplexity(), [(share, y)]), "ppl_i": (train.Perplexity(ignore_label=2), [(share, y)]),
        "bleu": (train.BleuScore(2), [([list("abcd")], [[list("abxd"), list("abc")]])]),
        "bleu4s": (train.BleuScore(4, True), [(["i have a pen on my desk".split()],
                                               [["i have a pen in my desk".split()]])]),
        "dot": (train.CosineSimilarity("dot", zero_diagonal=False), [(p,)]),
        "roc": (train.ROC(pos_label=1), [(np.array([3., 1, 4, 2]), np.array([0, 1, 0, 1]))]),
             "dice": (train.Dice(), [(pm, ym)]),
        "hd_p": (train.HausdorffDistance(percentile=90.0, directed=True, crop=False), [(seg1, seg2, 0)]),
    }
    for kind in ("no_norm", "target", "prediction", "all"):
        cases["cm_" + kind] = (train.ConfusionMatrix(3, kind), [(y, np.array([0, 1, 1, 2, 0, 0]))])
        cases["cm2_" + kind] = (train.ConfusionMatrix(2, kind), [(p[:, 0], (y > 0).astype(int))])
    for reduction in ("none", "mean", "sum"):
        cases["cos_" + reduction] = (train.CosineSimilarity(reduction=reduction), [(p,)])
    for norm in ("euclidean", "chessboard", "taxicab"):
        for name, metric in (("hd_", train.HausdorffDistance(norm)), ("msd_", train.MeanSurfaceDistance(True, norm)),
                             ("rms_", train.RootMeanSquareDistance(False, norm)),
                             ("rmss_", train.RootMeanSquareDistance(True, norm))):
            cases[name + norm] = (metric, [(seg1, seg2, 1)])
    for key in WANTED:
        if key.startswith("cmm_"):
            name = key[4:]
            cases[key] = (train.ConfusionMatrixMetric(metric_name=name), [(b1, b2)])
            cases["cmmc_" + name] = (train.ConfusionMatrixMetric(metric_name=name, calculation_method=True), [(b1, b2)])
            cases["cmms_" + name] = (train.ConfusionMatrixMetric(False, name, True, "sum"), [(b1, b2)])
    return cases


CASES = _cases()


def test_every_recorded_value_is_checked():
    assert set(WANTED) - set(CASES) == {"auc", "auc_d", "names"}


@pytest.mark.parametrize("name", sorted(CASES))
def test_equals_mindspore(name):
    metric, batches, *average = CASES[name]
    metric.clear()
    for batch in batches:
        metric.update(*batch)
    value = metric.eval(*average)
    value = list(value) if isinstance(value, tuple) else value
    np.testing.assert_allclose(np.asarray(value, float), np.asarray(WANTED[name], float), rtol=1e-5, atol=1e-7)


def test_names_and_area():
    assert train.names() == WANTED["names"]
    assert train.auc(np.array([0, .2, .5, 1.]), np.array([0, .5, .7, 1.])) == pytest.approx(WANTED["auc"])
    assert train.auc(np.array([1, .5, .2, 0.]), np.array([0, .5, .7, 1.])) == pytest.approx(WANTED["auc_d"])
    with pytest.raises(KeyError, match="no metric 'nothing'"):
        train.get_metric_fn("nothing")


def test_roc_of_several_classes_takes_each_against_the_rest():
    scores = np.array([[.8, .1, .1], [.2, .7, .1], [.3, .4, .3], [.6, .1, .3]])
    truth = np.array([0, 1, 2, 0])
    all_classes = train.ROC(class_num=3)(scores, truth)
    for c in range(3):
        one = train.ROC(pos_label=1)(scores[:, c], (truth == c).astype(int))
        for got, wanted in zip(all_classes, one):
            np.testing.assert_allclose(got[c], wanted)


def test_occlusion_lowers_the_score_where_it_covers_what_counts():
    class Corner(nn.Cell):
        def construct(self, x):
            return x[:, :1, 0]
    data = np.ones((1, 4, 4), "f4")
    fall = train.OcclusionSensitivity(margin=1)(Corner(), data, np.array([0]))
    assert fall.shape == (4, 4) and fall[0, 0] == 1 and fall[3, 3] == 0


def test_inputs_are_chosen_by_position():
    metric = train.MAE().set_indexes([2, 0])
    assert metric(np.zeros(2), np.full(2, 9.0), np.ones(2)) == 1.0
    with pytest.raises(ValueError, match="indexes"):
        metric.set_indexes((0, 1))


@pytest.mark.parametrize("make, error", [
    (lambda: train.Accuracy("other"), TypeError), (lambda: train.Fbeta(0), ValueError),
                                         (lambda: train.TopKCategoricalAccuracy(0), ValueError),
    (lambda: train.TopKCategoricalAccuracy("1"), TypeError), (lambda: train.ConfusionMatrix(2, "rows"), ValueError),
    (lambda: train.BleuScore(5), ValueError), (lambda: train.HausdorffDistance("far"), ValueError),
    (lambda: train.Accuracy().eval(), RuntimeError), (lambda: train.MSE().update(np.ones(2)), ValueError),
    (lambda: train.MSE().update(1, 2), TypeError), (lambda: train.Accuracy().update(np.ones((2, 3)), np.ones((3,))),
                                                    ValueError),
    (lambda: train.ConfusionMatrixMetric(metric_name="luck")(np.ones((1, 2, 2)), np.ones((1, 2, 2))),
     NotImplementedError)])
def test_refuses(make, error):
    with pytest.raises(error):
        make()

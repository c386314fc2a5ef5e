# SPDX-License-Identifier: Apache-2.0
"""spore answers as MindSpore 2.10 does, or for a reason that stands in different.txt."""
import json
import re
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))
from asking import FILES, HERE, answer, numbers, prelude, read_different, read_questions, reason_for, same, scope  # noqa: E402

DIFFERENT = read_different()
# Functions that numpy has, too, by spore's names.
NUMPY = {name: name for name in "abs ceil conj cos cosh exp expm1 floor imag real log log1p log2 log10 sin sinh square tan tanh trunc sign isfinite isnan isinf signbit rad2deg deg2rad exp2 angle i0 sinc add subtract multiply maximum minimum fmax fmin hypot logaddexp logaddexp2 heaviside gcd lcm copysign greater less equal not_equal bitwise_and bitwise_or bitwise_xor logical_and logical_or logical_xor float_power roll diff trace sort std var flip tril triu".split()}
NUMPY |= {"acos": "arccos", "acosh": "arccosh", "asin": "arcsin", "asinh": "arcsinh", "atan": "arctan", "atanh": "arctanh", "atan2": "arctan2",
          "mul": "multiply", "div": "divide", "true_divide": "divide", "eq": "equal", "ne": "not_equal", "gt": "greater", "lt": "less",
          "ge": "greater_equal", "le": "less_equal", "matmul": "matmul", "neg": "negative", "negative": "negative"}


@pytest.fixture(scope="module")
def names(tmp_path_factory):
    return scope("spore", tmp_path_factory.mktemp("questions"))


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_answers(path, names, capfd, tmp_path, monkeypatch):
    """Every question of a file is answered as recorded; what differs has a reason, and every reason is needed."""
    recorded = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    monkeypatch.chdir(tmp_path)
    wrong, needed, before = [], set(), prelude(path)
    for question in dict.fromkeys(read_questions(path)):
        found, wanted = json.loads(json.dumps(answer(question, names, before))), recorded[question]
        if not same(found, wanted):
            rows = [row for row in DIFFERENT if reason_for(path.stem, question, [row], found, wanted)]
            needed.update(rows[:1])
            if not rows:
                wrong.append(f"{question}\n    gives  {found}\n    wanted {wanted}")
    assert not wrong, f"{len(wrong)} of {len(recorded)} answers differ:\n" + "\n".join(wrong)
    unneeded = [row for row in DIFFERENT if row[0] == path.stem and row not in needed]
    assert not unneeded, f"no question differs for these reasons any more: {unneeded}"


def test_numbers_that_only_spore_has(names):
    """Where MindSpore has no kernel for a dtype, numpy says what is right."""
    recorded = {q: a for name in ("kinds", "odd") for q, a in json.loads((HERE / "questions" / f"{name}.json").read_text(encoding="utf-8")).items()}
    asked, wrong, numbers_of = 0, [], r"t\('\w+'[\d, ]*(, within=\([-\d., ]+\))?\)"
    for question, wanted in recorded.items():
        name = re.match(rf"ops\.(\w+)\({numbers_of}(, {numbers_of}(\[1\])?)?\)$", question)
        if not (isinstance(wanted, dict) and name and name[1] in NUMPY):
            continue
        try:
            with np.errstate(all="ignore"):
                right = np.asarray(eval(question.replace(f"ops.{name[1]}(t(", f"np.{NUMPY[name[1]]}(t("), {"np": np, "t": numbers}))
            found = eval(question, dict(names))
        except (TypeError, ValueError):      # numpy has no such function of the dtype, or spore neither
            continue
        asked += 1
        found = (found[0] if isinstance(found, tuple) else found).asnumpy()
        if found.shape != right.shape or not np.allclose(found.astype(np.complex128), right.astype(np.complex128), 1e-3, 1e-4, True):
            wrong.append(f"{question}: {found} instead of {right}")
    assert asked > 250 and not wrong, "\n".join([str(asked), *wrong])


# Arguments whose wrong values are taken here, or refused with the other type, and why.
LENIENT = {
    "told when it is called": "AlltoAllV.group AlltoAllVC.group FakeQuantPerChannel.num_bits FakeQuantPerLayer.num_bits LogUniformCandidateSampler.range_max "
                              "Lstsq.fast Lstsq.l2_regularizer RandpermV2.seed RandpermV2.offset RandpermV2.dtype SearchSorted.dtype Unstack.num Histogram.min "
                              "InstanceNorm.epsilon L2Normalize.axis L2Normalize.epsilon ReduceStd.axis TensorScatterElements.axis CountNonZero.dims NuclearNorm.dim Quantile.dim "
                              "Quantile.keep_dims Quantile.ignore_nan BoundingBoxEncode.means BoundingBoxEncode.stds SampleDistortedBoundingBoxV2.aspect_ratio_range "
                              "SampleDistortedBoundingBoxV2.area_range AvgPool3D.kernel_size AvgPool3D.strides AvgPool3D.pad MaxPool3D.kernel_size MaxPool3D.strides "
                              "MaxPool3D.pad_list MaxPool3D.ceil_mode MaxPoolWithArgmax.kernel_size MaxPoolWithArgmax.strides",
    "a text that is not known is told when it is called": "BatchNorm.data_format GridSampler2D.interpolation_mode GridSampler2D.padding_mode GridSampler3D.interpolation_mode "
                                                          "GridSampler3D.padding_mode Meshgrid.indexing ResizeLinear1D.coordinate_transformation_mode TensorScatterElements.reduction",
    "the other of the two types": "AvgPool.data_format AvgPool.pad_mode AvgPool.kernel_size AvgPool.strides BiasAdd.data_format SoftMarginLoss.reduction",
}


def test_constructors_refuse_what_mindspore_refuses():
    """What MindSpore's constructor refuses, spore's does, with the same type; it may refuse what MindSpore refuses when it is called."""
    from constructors import ANSWERS, answer, classes
    from spore import ops
    from spore.ops import operations
    known, wrong, asked = classes(ops, operations), [], 0
    lenient = set(" ".join(LENIENT.values()).split())
    for name, wanted in json.loads(ANSWERS.read_text(encoding="utf-8")).items():
        owner, argument = name.split(".")
        if owner not in known or "?" in wanted:
            continue
        found = answer(known[owner], argument)
        asked += len(wanted)
        fits = all(w in (".", f) for w, f in zip(wanted, found))
        if fits == (name in lenient):
            wrong.append(f"{name}: {found} instead of {wanted}" if not fits else f"{name} is no longer lenient")
    assert asked > 2500 and not wrong, "\n".join([str(asked), *wrong])

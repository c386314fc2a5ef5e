# SPDX-License-Identifier: Apache-2.0
"""Stages of a pipeline while a program is recorded: inputs of Cells with pipeline_stage, and parts of batches, are marked. The division itself is
src/parallel/stage.h."""
import threading

from spore import _core, context
from spore._core import Tensor
from spore.common.parameter import Parameter

__all__ = []

_here = threading.local()


def active():
    """Whether operators are being recorded into a function that will be divided into stages."""
    return context._stages() > 1 and _core.recording()


def _marked(value, **attrs):
    if isinstance(value, Tensor):
        return value if isinstance(value, Parameter) else _core.apply("stage", [value], attrs)
    if isinstance(value, (tuple, list)) and not hasattr(value, "_fields"):
        return type(value)([_marked(part, **attrs) for part in value])
    if isinstance(value, dict):
        return {key: _marked(part, **attrs) for key, part in value.items()}
    return value


def call(cell, args, kwargs, run):
    """A call of a Cell that has a stage."""
    before = getattr(_here, "stage", None)
    stage, segment = cell.__dict__["pipeline_stage_"], cell.__dict__.get("pipeline_segment")
    if segment is None:
        segment = before[1] if before and before[0] == stage else 0
    if before == (stage, segment):
        return run(args, kwargs)
    _here.stage = (stage, segment)
    try:
        return run(_marked(tuple(args), stage=stage, segment=segment), _marked(dict(kwargs), stage=stage, segment=segment))
    finally:
        _here.stage = before


def part(value, i, count):
    """The i-th of `count` parts of a batch: of every process's rows, where these are split over the processes of a stage."""
    rows = value.shape[0] // count
    split = context._row() if context._data_is_split() else 1
    if value.shape[0] % (count * split):
        raise ValueError(f"the first dimension of a batch, {value.shape[0]}, is no multiple of {count} micro batches"
                         f"{f' of {split} processes' if split > 1 else ''}")
    if split == 1:
        piece = value[i * rows:(i + 1) * rows]
    else:
        piece = value.reshape((split, count, rows // split, *value.shape[1:]))[:, i].reshape((rows, *value.shape[1:]))
    return _core.apply("stage", [piece], {"micro": i})

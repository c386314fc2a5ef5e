# SPDX-License-Identifier: Apache-2.0
"""Gradients that are zero because values went through numpy or Python: told once for each line.

A warning needs three things, so that printing, logging and branches on values stay silent: an input (or weight) got no gradient; a Tensor that
depends on it was fetched in the differentiated function (asnumpy, item, float, tolist, numpy functions); and what the function returned was
computed from a Tensor made of Python data after that, or is no Tensor at all. python/core/py_fetched.c keeps the books.
"""
import os
import sys

from spore import _core

__all__ = []

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_said = set()


def user_place():
    """File and line that is being executed, of the user's program."""
    frame = sys._getframe(1)
    while frame is not None and os.path.abspath(frame.f_code.co_filename).startswith(_PACKAGE):
        frame = frame.f_back
    return "" if frame is None else f"{frame.f_code.co_filename}:{frame.f_lineno}"


def _lost_at(outputs, target, fetched):
    """Where the value was fetched by which alone the outputs depend on the target; None if that is not so."""
    if not _core.grad_tracked(target) or (outputs and (_core.grad_depends(outputs, target, False)
                                                       or not _core.grad_depends(outputs, target, True))):
        return None
    return next((place for tensor, place in fetched if _core.grad_depends([tensor], target, True)), None)


def tell_lost(outputs, targets):
    """Warn of targets that the outputs depend on only by what Python computed."""
    fetched = _core.grad_fetched()
    for target in targets:
        place = _lost_at(outputs, target, fetched)
        if place is None or place in _said:
            continue
        _said.add(place)
        from spore import log
        what = f"of the Parameter '{target.name}'" if getattr(target, "__parameter__", False) else "of an input"
        log.warning(f"{place}: values leave the differentiated function here (asnumpy, item, float, ...), and the gradient {what} is zero "
                    "because what was computed from them came back as data; compute with Tensors, or use stop_gradient if zero is meant")

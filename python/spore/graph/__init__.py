# SPDX-License-Identifier: Apache-2.0
"""Graph mode: Python functions captured as programs.

In reading order: ``compiler.py`` (caches, what a compiled function does when it is called), ``signatures.py`` (what of the
arguments counts), ``capture.py`` (one capture), ``executor.py`` with its parts ``statements.py expressions.py flow.py calls.py
builtin.py`` (the symbolic execution of syntax trees), ``values.py`` and ``joins.py`` (values that exist only while capturing, what
branches have in common), ``heap.py`` (changes of objects), ``library_state.py`` (those
that library code makes), ``split.py`` and ``pieces.py`` (functions that cannot be captured
whole), ``run_sizes.py`` (calls that need sizes known at run time only), ``source.py`` (syntax trees), ``gradients.py``
(differentiation of captured functions), ``explain.py`` (what was captured, recompiled, run as plain Python, and why),
``errors.py``.
"""

# SPDX-License-Identifier: Apache-2.0
"""The keyword that was meant, for functions of this package that are written in Python: Python refuses an unknown one before a line of ours runs.

So the hint is added where an error is shown (``spore run``, notebooks), not where it is raised. The function is found by the text of the failing
call: names and attributes of modules are looked up, nothing is called.
"""
import ast
import re
import types

from spore._moves import keyword_hint

__all__ = ["name_keyword"]

_REFUSED = re.compile(r"[\w.<>]+\(\) got an unexpected keyword argument '(\w+)'")


def _calls(frame, lasti):
    """The call that failed, as its syntax tree; None when the source does not tell."""
    import linecache
    places = list(frame.f_code.co_positions())
    line, end, column, end_column = places[lasti // 2] if lasti // 2 < len(places) else (None,) * 4
    if None in (line, end, column, end_column):
        return None
    lines = [linecache.getline(frame.f_code.co_filename, n).encode() for n in range(line, end + 1)]
    lines[-1] = lines[-1][:end_column]
    lines[0] = lines[0][column:]
    try:
        node = ast.parse(b"".join(lines).decode(), mode="eval").body
    except (SyntaxError, ValueError):
        return None
    return node if isinstance(node, ast.Call) else None


def _called(node, frame):
    """What a dotted name stands for in a frame, as far as modules lead to it."""
    if isinstance(node, ast.Name):
        return frame.f_locals.get(node.id, frame.f_globals.get(node.id))
    if isinstance(node, ast.Attribute):
        owner = _called(node.value, frame)
        return getattr(owner, node.attr, None) if isinstance(owner, types.ModuleType) else None
    return None


def name_keyword(error):
    """Add the keyword that was meant to the message of a call that was refused for an unknown one."""
    refused = _REFUSED.fullmatch(str(error)) if type(error) is TypeError and len(error.args) == 1 else None
    trace = error.__traceback__
    while refused and trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    call = _calls(trace.tb_frame, trace.tb_lasti) if refused and trace is not None else None
    function = _called(call.func, trace.tb_frame) if call is not None else None
    if isinstance(function, types.FunctionType) and function.__module__.partition(".")[0] in ("spore", "mindspore"):
        code = getattr(function, "__wrapped__", function).__code__
        error.args = (error.args[0] + keyword_hint(refused[1], code.co_varnames[:code.co_argcount + code.co_kwonlyargcount]),)

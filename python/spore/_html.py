# SPDX-License-Identifier: Apache-2.0
"""What notebooks show of Tensors, Cells, data sets and histories: small tables, and pictures where it is plain that they are."""
import base64
from html import escape

import numpy as np

_MOST = 12              # rows and columns of a table of numbers
_CELLS = 60             # layers of a network
_SIDE = 8               # the smallest picture


def table(head, rows, caption=""):
    """An HTML table; the head may be empty."""
    text = "".join(f"<th style='text-align:left'>{escape(str(name))}</th>" for name in head)
    body = "".join("<tr>" + "".join(f"<td style='text-align:left'>{escape(str(value))}</td>" for value in row) + "</tr>" for row in rows)
    above = f"<caption style='text-align:left'><b>{escape(caption)}</b></caption>" if caption else ""
    return f"<table>{above}" + (f"<thead><tr>{text}</tr></thead>" if head else "") + f"<tbody>{body}</tbody></table>"


def _is_picture(shape, dtype):
    """Bytes of height, width and colours; or of height and width, when there are too many for numbers to be wanted."""
    if str(dtype) != "UInt8" or len(shape) not in (2, 3) or min(shape[:2]) < _SIDE:
        return False
    return shape[2] in (3, 4) if len(shape) == 3 else min(shape) > _MOST


def _picture(array):
    from spore._draw import png
    return f"<img style='image-rendering:pixelated;min-width:64px' src='data:image/png;base64,{base64.b64encode(png(array)).decode()}'/>"


def _number(value):
    return f"{value:.6g}" if isinstance(value, (float, np.floating)) else str(value)


def _numbers(array):
    """At most _MOST rows and columns, with dots for the rest."""
    grid = array.reshape(1, -1) if array.ndim < 2 else array
    rows = [[_number(v) for v in row[:_MOST].tolist()] + ["..."] * (grid.shape[1] > _MOST) for row in grid[:_MOST]]
    return rows + [["..."]] * (grid.shape[0] > _MOST)


def tensor_html(tensor):
    """A Tensor: a picture, a table of its numbers, or what it is."""
    shape = tuple(tensor.shape)
    name = f"{tensor.name}: " if type(tensor).__name__ == "Parameter" else ""
    caption = f"{name}{type(tensor).__name__} {shape} {tensor.dtype}"
    if _is_picture(shape, tensor.dtype):
        return f"<div><b>{escape(caption)}</b></div>{_picture(tensor.asnumpy())}"
    if len(shape) <= 2 and tensor.size:
        return table([], _numbers(tensor.asnumpy()), caption)
    return f"<div><b>{escape(caption)}</b></div><pre>{escape(str(tensor))}</pre>"


def cell_html(cell):
    """A network: its layers with the shapes of their Parameters."""
    rows, total = [], 0
    for path, part in cell.cells_and_names():
        own = [p for _, p in part.parameters_and_names(expand=False)]
        total += sum(p.size for p in own)
        rows.append((path or "(itself)", type(part).__name__, part.extend_repr(), ", ".join(str(tuple(p.shape)) for p in own)))
    more = len(rows) - _CELLS
    rows = rows[:_CELLS] + [(f"... and {more} more", "", "", "")] * (more > 0)
    return table(("name", "layer", "", "parameters"), rows, f"{type(cell).__name__}: {total:,} parameters")


def dataset_html(data):
    """A data set: columns, rows, and what it is made of. Nothing is read for it."""
    stages, node = [], data
    while node is not None:
        stages.append(type(node).__name__)
        node = node.children[0] if len(node.children) == 1 else None
    try:
        columns, count = data.get_col_names(), data._size if data._size is not None else data._engine().count()
    except Exception:      # a description that cannot be carried out is still shown
        columns, count = [], -1
    rows = [("columns", ", ".join(columns) or "unknown"), ("rows", count if count >= 0 else "not counted"),
            ("made by", " <- ".join(stages))]
    return table([], rows, type(data).__name__)


def history_html(history):
    """A dict of columns, an epoch a row."""
    columns = {name: list(values) for name, values in history.items()}
    length = max(map(len, columns.values()), default=0)
    rows = [[_number(values[i]) if i < len(values) else "" for values in columns.values()] for i in range(length)]
    return table(columns, rows)

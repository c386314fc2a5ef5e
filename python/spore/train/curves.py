# SPDX-License-Identifier: Apache-2.0
"""Curves of a training and confusion matrices as pictures, SVG or PNG. Nothing else is needed; where matplotlib is installed, PNG
files are drawn with it.

A layout (curves, matrix) is written once and drawn on a surface: one writes SVG, one fills a canvas of dots."""
import math
import os
from html import escape

import numpy as np
from spore._core import type_name as _type_name

__all__ = ['plot']

_COLOURS = ((31, 119, 180), (214, 90, 30), (44, 150, 60), (150, 80, 170), (120, 90, 60), (200, 80, 140), (90, 90, 90), (170, 160, 30))
_WIDTH, _HEIGHT = 640, 400
_GRAY, _DARK = (190, 190, 190), (40, 40, 40)


class TrainHistory(dict):
    """What the epochs of a training gave: a dict of lists, all of the same length, so that pandas.DataFrame takes it. Epochs without
    a value have NaN."""

    def add(self, values):
        """An epoch: a dict of its values."""
        rows = len(next(iter(self.values()), ()))
        for name in values:
            self.setdefault(name, [math.nan] * rows)
        for name, column in self.items():
            column.append(values.get(name, math.nan))

    def plot(self, path=None):
        """The curves over the epochs; see train.plot."""
        return plot(self, path)

    def _repr_html_(self):
        from spore._html import history_html
        return history_html(self)


# --- surfaces ----------------------------------------------------------------------------------------------------------

class _Svg:
    """Draws as texts of SVG."""

    def __init__(self, width, height):
        self._parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
                       'font-family="sans-serif" font-size="11">', f'<rect width="{width}" height="{height}" fill="white"/>']

    def rectangle(self, x, y, width, height, colour):
        self._parts.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" fill="{_css(colour)}"/>')

    def line(self, points, colour, width=1.5):
        where = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self._parts.append(f'<polyline points="{where}" fill="none" stroke="{_css(colour)}" stroke-width="{width}"/>')

    def text(self, x, y, words, anchor='start', colour=_DARK):
        self._parts.append(f'<text x="{x:.1f}" y="{y + 4:.1f}" text-anchor="{anchor}" fill="{_css(colour)}">{escape(str(words))}</text>')

    def bytes(self):
        return "\n".join([*self._parts, "</svg>\n"]).encode()


class _Dots:
    """Draws on a canvas of dots."""

    def __init__(self, width, height):
        from spore._draw import Canvas
        self._canvas = Canvas(height, width)

    def rectangle(self, x, y, width, height, colour):
        self._canvas.rectangle(round(y), round(x), max(round(height), 1), max(round(width), 1), colour)

    def line(self, points, colour, width=1.5):
        thick = max(round(width), 1)
        for (x0, y0), (x1, y1) in zip(points, points[1:]):
            n = int(max(abs(x1 - x0), abs(y1 - y0))) + 1
            for x, y in zip(np.linspace(x0, x1, n + 1), np.linspace(y0, y1, n + 1)):
                self._canvas.rectangle(round(y), round(x), thick, thick, colour)
        if len(points) == 1:
            self.rectangle(points[0][0] - 1, points[0][1] - 1, 3, 3, colour)

    def text(self, x, y, words, anchor='start', colour=_DARK):
        width = 8 * len(str(words)) - 2
        left = x - {'start': 0, 'middle': width / 2, 'end': width}[anchor]
        self._canvas.text(round(y) - 5, round(left), words, colour)

    def bytes(self):
        from spore._draw import png
        return png(self._canvas.pixels)


def _css(colour):
    return "#%02x%02x%02x" % colour


# --- layouts -----------------------------------------------------------------------------------------------------------

def _ticks(low, high, most=6):
    """Round numbers from low to high."""
    span = high - low or abs(high) or 1.0
    step = 10.0 ** math.floor(math.log10(span / most))
    step *= next(factor for factor in (1, 2, 5, 10) if span / (step * factor) <= most)
    first = math.ceil(low / step - 1e-9)
    return [round(i * step, 12) for i in range(first, math.floor(high / step + 1e-9) + 1)]


def _range(values):
    low, high = float(np.min(values)), float(np.max(values))
    return (low - (abs(low) or 1.0) / 2, high + (abs(high) or 1.0) / 2) if low == high else (low, high)


class _Curves:
    """Columns over the numbers of epochs, or over their place."""

    def __init__(self, columns):
        columns = {str(name): np.asarray(values, np.float64).reshape(-1) for name, values in columns.items()}
        epochs = columns.pop('epoch', None)
        columns = {name: values for name, values in columns.items() if name != 'seconds' and np.isfinite(values).any()}
        if not columns:
            raise ValueError("plot: there are no numbers to draw; a history has some after Model.train or fit")
        self.lines = {}
        for name, values in columns.items():
            over = epochs if epochs is not None and len(epochs) == len(values) else np.arange(1, len(values) + 1, dtype=np.float64)
            good = np.isfinite(values)
            self.lines[name] = over[good], values[good]
        self.over = 'epoch' if epochs is not None else 'step'

    def draw(self, surface):
        left, top, right, bottom = 70, 20, _WIDTH - 20, _HEIGHT - 40
        x_low, x_high = _range(np.concatenate([x for x, _ in self.lines.values()]))
        y_low, y_high = _range(np.concatenate([y for _, y in self.lines.values()]))

        def place(x, y):
            return left + (x - x_low) / (x_high - x_low) * (right - left), bottom - (y - y_low) / (y_high - y_low) * (bottom - top)
        for tick in _ticks(y_low, y_high):
            y = place(x_low, tick)[1]
            surface.line([(left, y), (right, y)], (230, 230, 230), 1)
            surface.text(left - 6, y, f"{tick:g}", 'end')
        for tick in filter(float.is_integer, map(float, _ticks(x_low, x_high))):
            surface.text(place(tick, y_low)[0], bottom + 14, f"{tick:g}", 'middle')
        surface.line([(left, top), (left, bottom), (right, bottom)], _GRAY, 1)
        surface.text((left + right) / 2, bottom + 30, self.over, 'middle')
        for i, (name, (x, y)) in enumerate(self.lines.items()):
            colour = _COLOURS[i % len(_COLOURS)]
            surface.line([place(*point) for point in zip(x, y)], colour, 2)
            surface.rectangle(right - 150, top + 16 * i + 6, 16, 3, colour)
            surface.text(right - 128, top + 16 * i + 8, name)

    def draw_with_matplotlib(self, axes):
        for i, (name, (x, y)) in enumerate(self.lines.items()):
            axes.plot(x, y, label=name, color=_css(_COLOURS[i % len(_COLOURS)]), marker='o' if len(x) == 1 else None)
        axes.set_xlabel(self.over)
        axes.legend()


class _Matrix:
    """A square of numbers, darker where they are larger: rows are the truth, columns what was predicted."""

    def __init__(self, array):
        if array.ndim != 2 or not array.size:
            raise ValueError(f"plot: a matrix must have two axes and be not empty, but has the shape {array.shape}")
        self.array = array.astype(np.float64)

    def draw(self, surface):
        left, top = 60, 30
        rows, columns = self.array.shape
        side = max(min((_HEIGHT - 60) / rows, (_WIDTH - left - 20) / columns), 1)
        most = float(np.nanmax(self.array)) or 1.0
        for i in range(rows):
            surface.text(left - 6, top + (i + 0.5) * side, i, 'end')
            for j in range(columns):
                share = min(max(self.array[i, j] / most, 0.0), 1.0) if math.isfinite(self.array[i, j]) else 0.0
                colour = tuple(round(255 - share * (255 - c)) for c in _COLOURS[0])
                surface.rectangle(left + j * side, top + i * side, math.ceil(side), math.ceil(side), colour)
                if side >= 24:
                    surface.text(left + (j + 0.5) * side, top + (i + 0.5) * side, f"{self.array[i, j]:.3g}", 'middle',
                                 (255, 255, 255) if share > 0.5 else _DARK)
        for j in range(columns):
            surface.text(left + (j + 0.5) * side, top - 8, j, 'middle')
        surface.text(left, top + rows * side + 14, "rows: truth, columns: prediction")

    def draw_with_matplotlib(self, axes):
        axes.imshow(self.array, cmap='Blues')
        if max(self.array.shape) <= 16:
            for (i, j), value in np.ndenumerate(self.array):
                axes.text(j, i, f"{value:.3g}", ha='center', va='center', color='white' if value > self.array.max() / 2 else 'black')
        axes.set_xlabel('prediction')
        axes.set_ylabel('truth')


class Plot:
    """A picture. Notebooks show it; ``save`` writes it."""

    def __init__(self, layout):
        self._layout = layout

    def svg(self):
        """The picture as a text of SVG."""
        return self._drawn(_Svg).decode()

    def png(self):
        """The bytes of a PNG file, drawn without other packages."""
        return self._drawn(_Dots)

    def _drawn(self, surface):
        surface = surface(_WIDTH, _HEIGHT)
        self._layout.draw(surface)
        return surface.bytes()

    def figure(self):
        """The picture as a Figure of matplotlib, which must be installed."""
        from matplotlib.figure import Figure
        figure = Figure(figsize=(_WIDTH / 100, _HEIGHT / 100), dpi=100, layout='constrained')
        self._layout.draw_with_matplotlib(figure.add_subplot())
        return figure

    def save(self, path):
        """Write the picture: SVG or PNG, as the path ends."""
        kind = os.path.splitext(os.fspath(path))[1].lower()
        if kind not in ('.svg', '.png'):
            raise ValueError(f"plot: the path must end in .svg or .png, but is {os.fspath(path)!r}")
        if kind == '.png':
            try:
                self.figure().savefig(path)
                return
            except ImportError:
                pass
        with open(path, 'wb') as file:
            file.write(self.png() if kind == '.png' else self._drawn(_Svg))

    def _repr_svg_(self):
        return self.svg()

    def __repr__(self):
        return "Plot: save('NAME.svg') or save('NAME.png') writes it"


def plot(what, path=None):
    """A picture of a training or of a confusion matrix, without other packages; PNG files are drawn with matplotlib where it is installed.

    Args:
        what: ``model.history``, a History callback or another dict of lists: a curve for each; or a ConfusionMatrix or a square array.
        path: where to write it, as .svg or .png; None writes nothing.

    Returns:
        The picture: notebooks show it, ``save(path)`` writes it, ``svg()`` and ``png()`` are its contents.

    Examples:
        >>> from spore import train
        >>> picture = train.plot({'loss': [0.9, 0.4, 0.2]}, 'curves.svg')
        >>> open('curves.svg').read()[:4]
        '<svg'
    """
    from spore.train.callback import History
    from spore.train.metrics import ConfusionMatrix
    if isinstance(what, History):
        what = {**(what.epoch or {}), **what.history}
    elif isinstance(what, ConfusionMatrix):
        what = what.eval()
    if isinstance(what, dict):
        picture = Plot(_Curves(what))
    elif hasattr(what, '__array__') or isinstance(what, (list, tuple)):
        picture = Plot(_Matrix(np.asarray(what)))
    else:
        raise TypeError(f"plot: 'what' must be a dict of lists, a History, a ConfusionMatrix or an array, but got {_type_name(what)}")
    if path is not None:
        picture.save(path)
    return picture

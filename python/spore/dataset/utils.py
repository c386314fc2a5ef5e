# SPDX-License-Identifier: Apache-2.0
"""Tools around data: lines of a file by number, and boxes drawn on pictures."""
import os

import numpy as np

from spore._not_done import not_done
from spore.dataset import _check
from spore.dataset.text_files import line_places

__path__ = []  # addresses below this one are in mindspore/__init__.py
__all__ = ['LineReader', 'imshow_det_bbox']


class LineReader:
    """Lines of a text file by number; the file is not held in memory.

    Args:
        filename: the file.

    Examples:
        >>> import os, tempfile
        >>> from spore.dataset.utils import LineReader
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, 'a.txt')
        ...     with open(path, 'w') as file:
        ...         _ = file.write('one\\ntwo\\n')
        ...     with LineReader(path) as lines:
        ...         print(len(lines), lines.readline(1))
        2 two
        <BLANKLINE>
    """

    def __init__(self, filename):
        _check.kind(filename, str, 'filename')
        if not os.path.isfile(filename):
            raise ValueError(f"The file {filename} does not exist or permission denied!")
        self._begins, self._lengths = line_places(filename, True)
        self._file = open(filename, 'rb')

    def __len__(self):
        return len(self._begins)

    def len(self):
        """How many lines there are."""
        return len(self._begins)

    def readline(self, line):
        """Line number ``line``, with its end."""
        _check.kind(line, int, 'line')
        if not 0 <= line < len(self):
            raise ValueError(f"line {line} is out of range: there are {len(self)} lines")
        self._file.seek(int(self._begins[line]))
        return self._file.read(int(self._lengths[line]) + 1).decode('utf-8')

    def close(self):
        """Close the file."""
        self._file.close()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()


def imshow_det_bbox(image, bboxes, labels, segm=None, class_names=None, score_threshold=0, bbox_color=(0, 255, 0),
                    text_color=(203, 192, 255), mask_color=(128, 0, 128), thickness=2, font_size=0.8, show=True, win_name='win',
                    wait_time=2000, out_file=None):
    """A picture with boxes drawn on it, and masks laid over it.

    Args:
        image: array (height, width, 3) or (3, height, width).
        bboxes: array (n, 4) or (n, 5): left, top, width, height and, with five numbers, a score.
        labels: array of n numbers.
        segm: masks (n, height, width), or None.
        class_names, text_color, font_size: names of labels; texts are not drawn, they are only checked.
        score_threshold: boxes with smaller scores are left out.
        bbox_color, mask_color, thickness: how things are drawn.
        show, win_name, wait_time: accepted; windows are not opened.
        out_file: a .png file to write to, or None.

    Returns:
        The picture as an array.
    """
    _check.kind(image, np.ndarray, 'image')
    _check.kind(bboxes, np.ndarray, 'bboxes')
    _check.kind(labels, np.ndarray, 'labels')
    if bboxes.ndim != 2 or bboxes.shape[1] not in (4, 5):
        raise ValueError(f"bboxes should have shape (n, 4) or (n, 5), but have {bboxes.shape}")
    if labels.ndim != 1 or len(labels) != len(bboxes):
        raise ValueError(f"labels should be a vector of {len(bboxes)} numbers, but have shape {labels.shape}")
    if class_names is not None:
        not_done("imshow_det_bbox: class_names", "texts are not drawn")
    if show and out_file is None:
        not_done("imshow_det_bbox: show=True", "windows are not opened; out_file writes a file")
    picture = np.ascontiguousarray(image.transpose(1, 2, 0) if image.shape[0] == 3 and image.shape[-1] != 3 else image).copy()
    for i, box in enumerate(bboxes):
        if len(box) == 5 and box[4] < score_threshold:
            continue
        left, top, width, height = (int(v) for v in box[:4])
        for k in range(thickness):
            _frame(picture, left - k, top - k, left + width + k, top + height + k, bbox_color)
        if segm is not None:
            mask = segm[i].astype(bool)
            picture[mask] = (picture[mask] * 0.5 + np.asarray(mask_color) * 0.5).astype(picture.dtype)
    if out_file is not None:
        from spore.dataset import vision
        vision.write_png(out_file, picture)
    return picture


def _frame(picture, left, top, right, bottom, color):
    height, width = picture.shape[:2]
    x0, x1, y0, y1 = (min(max(v, 0), n - 1) for v, n in ((left, width), (right, width), (top, height), (bottom, height)))
    picture[y0, x0:x1 + 1] = picture[y1, x0:x1 + 1] = color
    picture[y0:y1 + 1, x0] = picture[y0:y1 + 1, x1] = color

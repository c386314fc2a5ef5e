# SPDX-License-Identifier: Apache-2.0
"""Videos: frames, sound and times, by the package PyAV (``av``) where it is installed. Without it, all of this says so."""
import fractions
import io
import os

import numpy as np

from spore._printable import printable
from spore.dataset import _check, config
from spore.dataset.transforms.py_transforms_util import Implementation
from spore.dataset.transforms.transforms import PyTensorOperation

__all__ = ['DecodeVideo', 'VideoDecoder', 'read_video', 'read_video_timestamps']

_NUMBERS = (float, fractions.Fraction, int)


def _open(source, failure):
    """A container of PyAV over a path or a file."""
    try:
        import av
    except ImportError as error:
        raise RuntimeError("videos are decoded by the package PyAV, which is not installed; install it with `pip install av`") from error
    try:
        return av.open(source)
    except (av.error.FFmpegError, OSError, ValueError) as error:
        raise RuntimeError(f"{failure} ({error})") from error


def _frames(container):
    """Pictures of the first video stream as (time, array of height, width and 3), by time."""
    if not container.streams.video:
        return []
    found = [(frame.pts or 0, frame.to_ndarray(format='rgb24')) for frame in container.decode(video=0)]
    return sorted(found, key=lambda one: one[0])


def _sound(container):
    """Samples of the first audio stream, (channels, n); none: (1, 0)."""
    if not container.streams.audio:
        return np.zeros((1, 0), np.float32)
    channels, parts = container.streams.audio[0].channels, []
    for frame in container.decode(audio=0):
        part = frame.to_ndarray()       # of packed formats, channels are interleaved in one row
        parts.append(part if frame.format.is_planar else part.reshape(-1, channels).T)
    return np.ascontiguousarray(np.concatenate(parts, 1)) if parts else np.zeros((channels, 0), np.float32)


def _decode(open_again):
    """(times, frames, sound, what is known of them) of a source that can be opened twice."""
    with open_again() as container:
        streams, facts = container.streams, {}
        base = streams.video[0].time_base if streams.video else fractions.Fraction(1)
        if streams.audio:
            facts['audio_fps'] = streams.audio[0].rate
        if streams.video:
            facts['video_fps'] = float(streams.video[0].average_rate or 0)
        pictures = _frames(container)
    with open_again() as container:
        sound = _sound(container)
    return [pts for pts, _ in pictures], [picture for _, picture in pictures], sound, facts, base


def _check_arguments(filename, start_pts, end_pts, pts_unit):
    if not isinstance(filename, str):
        raise TypeError(f"Input filename is not of type {str}, but got: {type(filename)}.")
    for name, value in (('start_pts', start_pts), ('end_pts', end_pts)):
        if not isinstance(value, _NUMBERS):
            raise TypeError(f"Input {name} is not of type {list(_NUMBERS)}, but got: {type(value)}")
    if start_pts < 0:
        raise ValueError(f"Not supported start_pts for {start_pts}. The start_pts should be >= 0.")
    if end_pts < start_pts:
        raise ValueError(f"Not supported end_pts for {end_pts}. start_pts = {start_pts}. The end_pts should be >= start_pts.")
    if not isinstance(pts_unit, str):
        raise TypeError(f"Input pts_unit is not of type {str}, but got: {type(pts_unit)}.")
    if pts_unit not in ('pts', 'sec'):
        raise ValueError(f"Not supported pts_unit for {pts_unit}")


def _check_path(filename, kind):
    if not os.path.exists(filename):
        raise kind(f"Invalid file path, {printable(filename)} does not exist.")
    if not os.path.isfile(filename):
        raise kind(f"Invalid file path, {printable(filename)} is not a regular file.")


def read_video(filename, start_pts=0, end_pts=None, pts_unit='pts'):
    """Frames (number, height, width, 3), sound (channels, samples) and rates of a video file. Needs the package PyAV.

    Args:
        filename: the file.
        start_pts, end_pts: times of the first and last frame; the end of the file if None.
        pts_unit: "pts" for times in units of the file, "sec" for seconds.
    """
    end_pts = 2147483647.0 if end_pts is None else end_pts
    _check_arguments(filename, start_pts, end_pts, pts_unit)
    _check_path(filename, ValueError)
    times, frames, sound, facts, base = _decode(lambda: _open(filename, f"Failed to open the file {filename}."))
    scale = base if pts_unit == 'sec' else 1
    chosen = [i for i, pts in enumerate(times) if float(start_pts) <= float(pts * scale) <= float(end_pts)]
    if times and len(chosen) < len(times):      # sound of the same part
        first, last = (chosen[0], chosen[-1] + 1) if chosen else (0, 0)
        count = sound.shape[1]
        sound = sound[:, count * first // len(times):count * last // len(times)]
    video = np.stack([frames[i] for i in chosen]) if chosen else np.zeros((0, 1, 1, 3), np.uint8)
    return video, sound, facts


def read_video_timestamps(filename, pts_unit='pts'):
    """Times of the frames of a video file, and frames per second. Needs the package PyAV.

    Args:
        filename: the file.
        pts_unit: "pts" for times in units of the file, "sec" for seconds.
    """
    if not isinstance(filename, str):
        raise TypeError(f"Input filename is not of type {str}, but got: {type(filename)}.")
    if not isinstance(pts_unit, str):
        raise TypeError(f"Input pts_unit is not of type {str}, but got: {type(pts_unit)}.")
    if pts_unit not in ('pts', 'sec'):
        raise RuntimeError(f"ReadVideoTimestamps: Not supported pts_unit for {pts_unit}")
    _check_path(filename, RuntimeError)
    with _open(filename, f"Failed to open the file {filename}.") as container:
        if not container.streams.video:
            return [], None
        stream = container.streams.video[0]
        times = sorted(packet.pts for packet in container.demux(stream) if packet.pts is not None)
        rate, base = float(stream.average_rate or 0), float(np.float32(stream.time_base))
    if not times:
        return [], None
    return (times if pts_unit == 'pts' else [pts * base for pts in times]), rate


class DecodeVideo(PyTensorOperation):
    """The bytes of a video file (a vector of uint8) as frames and sound, as of read_video. Needs the package PyAV."""

    random = False

    def __init__(self):
        super().__init__()
        self.implementation = Implementation.C

    def __call__(self, *columns):
        return self._execute_py(*columns)

    def _execute_py(self, data):
        if not isinstance(data, np.ndarray):
            raise TypeError(f"Input should be ndarray, got {type(data)}.")
        if data.ndim != 1:
            raise RuntimeError(f"DecodeVideo: invalid input shape, only support 1D input, got rank: {data.ndim}")
        if data.dtype != np.uint8:
            raise RuntimeError(f"The type of the elements of input data should be UINT8, but got {data.dtype}.")
        if not data.size:
            raise RuntimeError("Input Tensor has no data.")
        _, frames, sound, _, _ = _decode(lambda: _open(io.BytesIO(data.tobytes()), "Failed to open the input."))
        return np.stack(frames) if frames else np.zeros((0, 1, 1, 3), np.uint8), sound


class VideoDecoder:
    """What is known of the first video stream of a file, and frames of it. Needs the package PyAV.

    Args:
        source: the file.
    """

    def __init__(self, source):
        if not isinstance(source, str):
            raise TypeError(f"path: {source} is not string")
        if not os.path.isfile(source) or not os.access(source, os.R_OK):
            raise ValueError(f"The file {source} does not exist or permission denied!")
        self.source = source
        self._metadata = self.metadata

    def _open(self):
        return _open(self.source, f"Failed to open the file: {self.source}")

    @property
    def metadata(self):
        """width, height, duration_seconds, num_frames and average_fps."""
        with self._open() as container:
            if not container.streams.video:
                raise RuntimeError(f"{self.source} holds no video")
            stream = container.streams.video[0]
            return {'width': stream.width, 'height': stream.height,
                    'duration_seconds': round(float((stream.duration or 0) * stream.time_base), 6),
                    'num_frames': stream.frames, 'average_fps': float(stream.average_rate or 0)}

    def get_frames_at(self, indices):
        """Frames by their numbers, (n, height, width, 3)."""
        if config.get_video_backend() != 'Ascend':
            raise RuntimeError("Method get_frames_at is only supported on Ascend platform. read_video gives frames on the CPU.")
        _check.kinds(indices, int, 'indices')
        raise RuntimeError("VideoDecoder: there is no Ascend device; read_video gives frames on the CPU")

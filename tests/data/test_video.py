# SPDX-License-Identifier: Apache-2.0
"""Videos: what is checked before anything is opened, and, where PyAV is installed, frames, sound and times of a file."""
import importlib.util

import numpy as np
import pytest

from spore import dataset as ds
from spore.dataset import vision

HAS_AV = importlib.util.find_spec('av') is not None


@pytest.mark.parametrize('call, kind, words', [
    (lambda file: vision.read_video(3), TypeError, 'Input filename is not of type'),
    (lambda file: vision.read_video(file, 'a'), TypeError, 'Input start_pts is not of type'),
    (lambda file: vision.read_video(file, -1), ValueError, 'Not supported start_pts for -1'),
    (lambda file: vision.read_video(file, 5, 1), ValueError, 'Not supported end_pts for 1. start_pts = 5'),
    (lambda file: vision.read_video(file, pts_unit='x'), ValueError, 'Not supported pts_unit for x'),
    (lambda file: vision.read_video(file + 'x'), ValueError, 'does not exist'),
    (lambda file: vision.read_video_timestamps(file + 'x'), RuntimeError, 'does not exist'),
    (lambda file: vision.read_video_timestamps(file, 'x'), RuntimeError, 'ReadVideoTimestamps: Not supported pts_unit for x'),
    (lambda file: vision.DecodeVideo()(3), TypeError, 'Input should be ndarray'),
    (lambda file: vision.DecodeVideo()(np.zeros((2, 2), np.uint8)), RuntimeError, 'only support 1D input, got rank: 2'),
    (lambda file: vision.DecodeVideo()(np.zeros(0, np.uint8)), RuntimeError, 'Input Tensor has no data'),
    (lambda file: vision.VideoDecoder(3), TypeError, 'path: 3 is not string'),
    (lambda file: vision.VideoDecoder(file + 'x'), ValueError, 'does not exist or permission denied'),
    (lambda file: vision.read_video(file), RuntimeError, 'Failed to open the file' if HAS_AV else 'pip install av'),
    (lambda file: vision.DecodeVideo()(np.zeros(9, np.uint8)), RuntimeError, 'Failed to open the input' if HAS_AV else 'pip install av'),
])
def test_what_cannot_be_read(tmp_path, call, kind, words):
    (tmp_path / 'no.mp4').write_bytes(b'this is no video')
    with pytest.raises(kind, match=words):
        call(str(tmp_path / 'no.mp4'))


def make(av, path, n=12):
    """Frames of one grey each, ten a second, and a tone of that length."""
    with av.open(path, 'w') as container:
        video, audio = container.add_stream('mjpeg', rate=10), container.add_stream('pcm_s16le', rate=8000)
        video.width, video.height, video.pix_fmt, audio.layout = 32, 24, 'yuvj420p', 'mono'
        for i in range(n):
            container.mux(video.encode(av.VideoFrame.from_ndarray(np.full((24, 32, 3), 20 * i, np.uint8), format='rgb24')))
            tone = av.AudioFrame.from_ndarray(np.full((1, 800), i, np.int16), format='s16', layout='mono')
            tone.sample_rate, tone.pts = 8000, 800 * i
            container.mux(audio.encode(tone))
        container.mux(video.encode())
        container.mux(audio.encode())


def test_frames_sound_and_times(tmp_path):
    av = pytest.importorskip('av')
    path = str(tmp_path / 'a.avi')
    make(av, path)
    video, sound, facts = vision.read_video(path)
    assert video.shape == (12, 24, 32, 3) and sound.shape == (1, 9600) and facts == {'audio_fps': 8000, 'video_fps': 10.0}
    assert np.abs(video.mean((1, 2, 3)) - 20 * np.arange(12)).max() < 3
    part, sound, _ = vision.read_video(path, 0.3, 0.6, 'sec')
    np.testing.assert_array_equal(part, video[3:7])
    assert sound.shape == (1, 3200) and sound[0, 0] == 3 and sound[0, -1] == 6
    assert vision.read_video_timestamps(path) == (list(range(12)), 10.0)
    data = ds.GeneratorDataset([np.fromfile(path, np.uint8)], ['data'], shuffle=False).map(vision.DecodeVideo(), 'data', ['video', 'audio'])
    (frames, sound), = data.create_tuple_iterator(num_epochs=1, output_numpy=True)
    np.testing.assert_array_equal(frames, video)
    assert vision.VideoDecoder(path).metadata == {'width': 32, 'height': 24, 'duration_seconds': 1.2, 'num_frames': 12, 'average_fps': 10.0}

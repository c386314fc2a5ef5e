# SPDX-License-Identifier: Apache-2.0
"""Data sets of sound, in the folders they are published in."""
import os

import numpy as np

from spore import log
from spore.dataset._gtzan import pieces
from spore.dataset._table import Table, one_of, read_lines, sorted_files, sorted_folders

__all__ = ['CMUArcticDataset', 'GTZANDataset', 'LJSpeechDataset', 'LibriTTSDataset', 'SpeechCommandsDataset', 'TedliumDataset',
           'YesNoDataset']

SOUNDS = ('num_samples=None, num_parallel_workers=None, shuffle=None, sampler=None, num_shards=None, shard_id=None, '
          'cache=None')


def read_wav(path):
    """Samples of a WAV file from -1 to 1 as (channels, n) float32, and the rate."""
    with open(path, 'rb') as file:
        data = file.read()
    if len(data) < 12 or data[:4] != b'RIFF' or data[8:12] != b'WAVE':
        raise RuntimeError(f"{path} is no WAV file")
    at, form = 12, None
    while at + 8 <= len(data):
        name, size = data[at:at + 4], int.from_bytes(data[at + 4:at + 8], 'little')
        body = data[at + 8:at + 8 + size]
        if name == b'fmt ' and len(body) >= 16:
            form = np.frombuffer(body[:16], '<u2')
        elif name == b'data':
            break
        at += 8 + size + size % 2
    else:
        raise RuntimeError(f"{path} holds no sound: it is cut or damaged")
    if form is None:
        raise RuntimeError(f"{path} does not say how its sound is stored: it is damaged")
    code, channels, rate, bits = int(form[0]), int(form[1]), int(form[2]) | int(form[3]) << 16, int(form[7])
    kinds = {(1, 8): '<u1', (1, 16): '<i2', (1, 32): '<i4', (3, 32): '<f4', (3, 64): '<f8', (65534, 16): '<i2'}
    if (code, bits) not in kinds or channels < 1:
        raise RuntimeError(f"{path}: sound of kind {code} with {bits} bits and {channels} channels is not supported")
    kind = np.dtype(kinds[code, bits])
    n = len(body) // (kind.itemsize * channels)
    samples = np.frombuffer(body, kind, n * channels).astype(np.float32)
    if kind.kind == 'u':
        samples = (samples - 128) / 127
    elif kind.kind == 'i':
        samples /= float((1 << (bits - 1)) - 1)
    return np.ascontiguousarray(samples.reshape(n, channels).T), rate


class _Sounds(Table):
    """A sound file a row, with texts and numbers."""

    RATE = np.uint32

    def sounds(self, paths, **arrays):
        """Columns waveform and sample_rate, then the arrays."""
        def read(i):
            samples, rate = read_wav(paths[int(i)])
            return samples, self.RATE(rate)
        if not paths:
            raise RuntimeError(f"Invalid data, {type(self).__name__}: there is no sound in {self.dataset_dir}")
        self.rows(['waveform', 'sample_rate', *arrays], {}, arrays or {' path': paths}, (('waveform', 'sample_rate'), read))


class CMUArcticDataset(_Sounds):
    """Spoken sentences: waveform, sample_rate (uint32), transcript and utterance_id."""

    ARGUMENTS = f'dataset_dir, name=None, {SOUNDS}'
    _VOICES = 'aew ahw aup awb axb bdl clb eey fem gka jmk ksp ljm lnh rms rxr slp slt'.split()

    def check(self):
        self.name = 'aew' if self.name is None else self.name
        one_of(self.name, self._VOICES, 'name')

    def find(self):
        folder = os.path.join(self.dataset_dir, f'cmu_us_{self.name}_arctic')
        rows = []
        for line in read_lines(os.path.join(folder, 'etc', 'txt.done.data'), 'CMUArcticDataset'):
            name, text = line.strip('( )').split(' ', 1)
            rows.append((name, text.strip().strip('"')))
        paths = [os.path.join(folder, 'wav', f'{name}.wav') for name, _ in rows]
        self.sounds(paths, transcript=[text for _, text in rows], utterance_id=[name.split('_')[-1] for name, _ in rows])


class GTZANDataset(_Sounds):
    """Pieces of music: waveform, sample_rate (uint32) and label, the name of the genre."""

    ARGUMENTS = f'dataset_dir, usage=None, {SOUNDS}'
    USAGE = ['train', 'valid', 'test', 'all']

    def find(self):
        paths, labels = [], []
        for name in sorted_folders(self.dataset_dir):
            folder = os.path.join(self.dataset_dir, name)
            if self.usage == 'all':
                here = sorted_files(folder, '.wav')
            else:
                wanted = [os.path.join(folder, f'{name}.{i:05}.wav') for i in pieces(self.usage, name)]
                here = [path for path in wanted if os.path.isfile(path)]
                if len(here) < len(wanted):
                    log.warning("GTZANDataset: %d of %d files of part '%s' are not in %s", len(wanted) - len(here), len(wanted),
                                self.usage, folder)
            paths += here
            labels += [name] * len(here)
        self.sounds(paths, label=labels)


class LibriTTSDataset(_Sounds):
    """Read books: waveform, sample_rate (uint32), original_text, normalized_text, speaker_id, chapter_id (uint32) and
    utterance_id."""

    ARGUMENTS = f'dataset_dir, usage=None, {SOUNDS}'
    USAGE = ['dev-clean', 'dev-other', 'test-clean', 'test-other', 'train-clean-100', 'train-clean-360', 'train-other-500', 'all']

    def find(self):
        paths, rows = [], []
        parts = sorted_folders(self.dataset_dir) if self.usage == 'all' else [self.usage]
        for part in [p for p in parts if p in self.USAGE]:
            root = os.path.join(self.dataset_dir, part)
            for speaker in sorted_folders(root):
                for chapter in sorted_folders(os.path.join(root, speaker)):
                    folder = os.path.join(root, speaker, chapter)
                    texts = os.path.join(folder, f'{speaker}_{chapter}.trans.tsv')
                    if self.usage == 'all' and not os.path.isfile(texts):
                        log.warning("LibriTTSDataset: %s is not there; the rows of the other files are read", texts)
                        continue
                    for line in read_lines(texts, 'LibriTTSDataset'):
                        name, original, normal = (line.split('\t') + ['', ''])[:3]
                        paths.append(os.path.join(folder, f'{name}.wav'))
                        rows.append((original, normal, int(speaker), int(chapter), name))
        columns = list(zip(*rows)) or [()] * 5
        self.sounds(paths, original_text=columns[0], normalized_text=columns[1], speaker_id=np.asarray(columns[2], np.uint32),
                    chapter_id=np.asarray(columns[3], np.uint32), utterance_id=columns[4])


class LJSpeechDataset(_Sounds):
    """A read book: waveform, sample_rate (int32), transcription and normalized_transcription."""

    ARGUMENTS = f'dataset_dir, {SOUNDS}'
    RATE = np.int32

    def find(self):
        rows = [line.split('|') for line in read_lines(os.path.join(self.dataset_dir, 'metadata.csv'), 'LJSpeechDataset')]
        bad = [row for row in rows if len(row) != 3]
        if bad:
            raise RuntimeError(f"LJSpeechDataset: a line of metadata.csv should hold three fields, but holds {len(bad[0])}: {bad[0]}")
        self.sounds([os.path.join(self.dataset_dir, 'wavs', f'{row[0]}.wav') for row in rows],
                    transcription=[row[1] for row in rows], normalized_transcription=[row[2] for row in rows])


class SpeechCommandsDataset(_Sounds):
    """Spoken words: waveform, sample_rate (int32), label, speaker_id and utterance_number (int32)."""

    ARGUMENTS = f'dataset_dir, usage=None, {SOUNDS}'
    USAGE = ['train', 'test', 'valid', 'all']
    RATE = np.int32

    def find(self):
        listed = {usage: {line.strip() for line in self._list(name)}
                  for usage, name in (('test', 'testing_list.txt'), ('valid', 'validation_list.txt'))}
        names = []
        for folder in sorted_folders(self.dataset_dir):
            if folder != '_background_noise_':
                names += [f'{folder}/{os.path.basename(path)}'
                          for path in sorted_files(os.path.join(self.dataset_dir, folder), '.wav')]
        if self.usage in listed:
            names = [name for name in names if name in listed[self.usage]]
        elif self.usage == 'train':
            names = [name for name in names if name not in listed['test'] and name not in listed['valid']]
        words = [os.path.splitext(name)[0].split('/') for name in names]
        parts = [file.split('_nohash_') for _, file in words]
        self.sounds([os.path.join(self.dataset_dir, name) for name in names], label=[label for label, _ in words],
                    speaker_id=[part[0] for part in parts], utterance_number=np.asarray([int(part[1]) for part in parts], np.int32))

    def _list(self, name):
        path = os.path.join(self.dataset_dir, name)
        if self.usage == 'all' and not os.path.exists(path):
            return []
        return read_lines(path, 'SpeechCommandsDataset')


class TedliumDataset(_Sounds):
    """Talks: waveform, sample_rate (int32), transcript, talk_id, speaker_id and identifier.

    Args:
        dataset_dir: folder of the release.
        release: "release1", "release2" or "release3".
        usage: "train", "test", "dev" or "all" (None); only "all" for release 3.
        extensions: ".sph" or None.
    """

    ARGUMENTS = f'dataset_dir, release, usage=None, extensions=None, {SOUNDS}'
    RATE = np.int32

    def check(self):
        one_of(self.release, ['release1', 'release2', 'release3'], 'release')
        self.usage = 'all' if self.usage is None else self.usage
        one_of(self.usage, ['all'] if self.release == 'release3' else ['train', 'test', 'dev', 'all'], 'usage')
        if self.extensions is not None:
            one_of(self.extensions, ['.sph'], 'extensions')

    def find(self):
        folders = ['data'] if self.release == 'release3' else ['train', 'test', 'dev'] if self.usage == 'all' else [self.usage]
        rows = []
        for folder in folders:
            root = os.path.join(self.dataset_dir, folder)
            for path in sorted_files(os.path.join(root, 'stm'), '.stm'):
                for number, line in enumerate(read_lines(path, 'TedliumDataset')):
                    talk, _, speaker, begin, end, identifier, text = (line.split(' ', 6) + [''])[:7]
                    rows.append((number, talk, os.path.join(root, 'sph', f'{talk}.sph'), float(begin), float(end), text, talk, speaker,
                                 identifier))
        rows = [row[2:] for row in sorted(rows)]    # the first sentences of all talks, then the second ones
        if not rows:
            raise RuntimeError(f"Invalid data, TedliumDataset: there is no talk in {self.dataset_dir}")

        def read(i):
            samples, rate = read_sph(rows[int(i)][0])
            begin, end = (int(seconds * rate) for seconds in rows[int(i)][1:3])
            return np.ascontiguousarray(samples[:, begin:end]), np.int32(rate)
        arrays = dict(zip(('transcript', 'talk_id', 'speaker_id', 'identifier'), zip(*(row[3:] for row in rows))))
        self.rows(['waveform', 'sample_rate', *arrays], {}, arrays, (('waveform', 'sample_rate'), read))


def read_sph(path):
    """Samples of a NIST SPHERE file with 16-bit numbers, as read_wav gives them."""
    with open(path, 'rb') as file:
        data = file.read()
    if data[:7] != b'NIST_1A':
        raise RuntimeError(f"{path} is no SPHERE file")
    size = int(data[8:16])
    fields = {}
    for line in data[16:size].decode('ascii', 'replace').split('\n'):
        words = line.split(None, 2)
        if words and words[0] == 'end_head':
            break
        if len(words) == 3:
            fields[words[0]] = words[2].strip()
    if int(fields.get('sample_n_bytes', 2)) != 2 or fields.get('sample_coding', 'pcm') != 'pcm':
        raise RuntimeError(f"{path}: only 16-bit samples that are not packed are supported")
    kind = '>i2' if fields.get('sample_byte_format') == '10' else '<i2'
    channels = int(fields.get('channel_count', 1))
    samples = np.frombuffer(data[size:], kind, (len(data) - size) // 2).astype(np.float32) / 32768
    return np.ascontiguousarray(samples[:len(samples) // channels * channels].reshape(-1, channels).T), int(fields['sample_rate'])


class YesNoDataset(_Sounds):
    """Spoken answers: waveform, sample_rate (int32) and label (int32), eight of 0 and 1."""

    ARGUMENTS = f'dataset_dir, {SOUNDS}'
    RATE = np.int32

    def find(self):
        paths = sorted_files(self.dataset_dir, '.wav')
        names = [os.path.splitext(os.path.basename(path))[0] for path in paths]
        bad = [name for name in names if not all(part in ('0', '1') for part in name.split('_'))]
        if bad:
            raise RuntimeError(f"YesNoDataset: names of files should be numbers 0 and 1 with _ between them, but one is {bad[0]}.wav")
        self.sounds(paths, label=np.asarray([[int(part) for part in name.split('_')] for name in names], np.int32))

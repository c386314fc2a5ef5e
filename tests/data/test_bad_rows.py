# SPDX-License-Identifier: Apache-2.0
"""Damaged and unusual input of pipelines: an error that names file, row, column and operation, and nothing worse."""
import os

import numpy as np
import pytest

from spore import dataset as ds
from spore.dataset import vision
from spore.mindrecord import FileWriter


def jpeg(tmp_path):
    picture = np.random.RandomState(0).randint(0, 256, (30, 40, 3), np.uint8)
    vision.write_jpeg(str(tmp_path / 'whole.jpg'), picture)
    return (tmp_path / 'whole.jpg').read_bytes()


def with_size(data, size):
    """The same JPEG file with another height and width in its header."""
    at = data.index(b'\xff\xc0') + 5
    return data[:at] + size.to_bytes(2, 'big') * 2 + data[at + 4:]


DAMAGE = {
    'half': (lambda data: data[:len(data) // 2], 'Premature end'),
    'start': (lambda data: data[:20], 'Premature end'),
    'nothing': (lambda data: b'', 'is empty'),
    'no picture': (lambda data: b'hello ' * 9, 'no image of a known format'),
    'bomb': (lambda data: with_size(data, 65535), 'Maximum supported image dimension|too large|more than'),
    'flat': (lambda data: with_size(data, 0), 'Empty JPEG image'),
    'png bomb': (lambda data: b'\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\xff\xff\0\0\xff\xff\x08\x02\0\0\0' + b'\0' * 40, 'PNG'),
}


@pytest.mark.parametrize('name', DAMAGE)
def test_damaged_pictures_in_folders(tmp_path, name):
    damage, text = DAMAGE[name]
    (tmp_path / 'set' / 'a').mkdir(parents=True)
    good = jpeg(tmp_path)
    for i in range(4):
        (tmp_path / 'set' / 'a' / f'{i}.jpg').write_bytes(damage(good) if i == 2 else good)
    data = ds.ImageFolderDataset(str(tmp_path / 'set'), shuffle=False).map([vision.Decode(), vision.Resize(8)], 'image').batch(2)
    iterator = data.create_tuple_iterator(num_epochs=1, output_numpy=True)
    assert next(iterator)[0].shape[0] == 2
    with pytest.raises(RuntimeError, match=text) as caught:
        next(iterator)
    assert f" (map, row 2 (row 2 of the source: {tmp_path}/set/a/2.jpg), column 'image')" in \
        str(caught.value)
    assert list(iterator) == []


def test_damaged_pictures_in_records(tmp_path):
    good = jpeg(tmp_path)
    writer = FileWriter(str(tmp_path / 'r.mindrecord'))
    writer.add_schema({'image': {'type': 'bytes'}, 'n': {'type': 'int32'}})
    writer.write_raw_data([{'image': good if i != 1 else good[:50], 'n': i} for i in range(3)])
    writer.commit()
    data = ds.MindDataset(str(tmp_path / 'r.mindrecord'), shuffle=False).map(vision.Decode(), 'image')
    iterator = data.create_dict_iterator(num_epochs=1, output_numpy=True)
    assert next(iterator)['n'] == 0
    with pytest.raises(RuntimeError, match=r"\[Decode\] failed. The corresponding data file is: .*r.mindrecord. Decode: .*row 1 \(row 1 of the source: .*r.mindrecord, row 1\), column "
                                            "'image'"):
        next(iterator)
    assert next(iterator)['n'] == 2
    with pytest.raises(RuntimeError, match="column name: x can not found|doesn't exist"):
        ds.MindDataset(str(tmp_path / 'r.mindrecord'), ['x']).get_col_names()


def test_files_that_vanish_and_names_of_any_bytes(tmp_path):
    folder = os.fsencode(tmp_path) + b'/set/caf\xe9'
    os.makedirs(folder)
    good = jpeg(tmp_path)
    for name in (b'a\xff.jpg', 'ü \n.jpg'.encode(), b'z.jpg'):
        with open(folder + b'/' + name, 'wb') as file:
            file.write(good)
    data = ds.ImageFolderDataset(str(tmp_path / 'set'), shuffle=False, decode=True)
    assert len(list(data.create_tuple_iterator(num_epochs=1))) == 3
    os.unlink(folder + b'/z.jpg')
    iterator = data.create_tuple_iterator(num_epochs=1)
    next(iterator)      # names come in the order of their characters
    with pytest.raises(RuntimeError, match='cannot be opened: No such file'):
        next(iterator)


def test_folders_without_pictures(tmp_path):
    with pytest.raises(RuntimeError, match='no folder in it holds pictures'):
        ds.ImageFolderDataset(str(tmp_path)).get_dataset_size()
    with pytest.raises(ValueError, match='does not exist'):
        ds.ImageFolderDataset(str(tmp_path / 'none'))
    for source in (ds.Caltech256Dataset, ds.YesNoDataset, ds.OmniglotDataset, ds.IMDBDataset, ds.SemeionDataset, ds.WikiTextDataset):
        with pytest.raises(RuntimeError, match='Invalid (data|folder|file)'):
            source(str(tmp_path)).get_dataset_size()


@pytest.mark.parametrize('content, text', [
    (b'RIFF', 'no WAV file'), (b'RIFF\0\0\0\0WAVE', 'cut or damaged'),
    (b'RIFF\0\0\0\0WAVEfmt \x10\0\0\0\x55\0\x01\0\x40\x1f\0\0\x40\x1f\0\0\x01\0\x08\0data\x02\0\0\0ab', 'kind 85 with 8 bits')])
def test_damaged_sounds(tmp_path, content, text):
    (tmp_path / '0_1.wav').write_bytes(content)
    with pytest.raises(RuntimeError, match=text):
        list(ds.YesNoDataset(str(tmp_path)).create_tuple_iterator(num_epochs=1))


@pytest.mark.parametrize('path, content', [('Annotations/x.xml', '<annotation><object>'), ('Annotations/x.xml', '<annotation/>'),
                                           ('Annotations/x.xml', None), ('ImageSets/Main/train.txt', '')])
def test_damaged_annotations(tmp_path, path, content):
    for name, text in (('Annotations/x.xml', '<annotation/>'), ('ImageSets/Main/train.txt', 'x\n'), ('JPEGImages/x.jpg', '')):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        if name != path:
            (tmp_path / name).write_text(text)
        elif content is not None:
            (tmp_path / name).write_text(content)
    with pytest.raises(RuntimeError, match='Invalid'):
        list(ds.VOCDataset(str(tmp_path), 'Detection').create_tuple_iterator(num_epochs=1))


def test_operations_that_share_their_words_are_named():
    data = ds.GeneratorDataset([(np.zeros((6, 7, 3), np.uint8), np.array([[0, 0, 30, 3]], np.float32))], ['image', 'box'])
    with pytest.raises(RuntimeError, match=r'\[RandomHorizontalFlipWithBBox\] failed. BoundingBox: bounding boxes is out of bounds'):
        list(data.map(vision.RandomHorizontalFlipWithBBox(1.0), ['image', 'box']).create_tuple_iterator(num_epochs=1))
    for write, name in ((vision.write_jpeg, 'WriteJpeg'), (vision.write_png, 'WritePng')):
        with pytest.raises(RuntimeError, match=f'{name}: The type of the elements of image should be UINT8, but got float32'):
            write('unwritten', np.zeros((2, 2), np.float32))
        with pytest.raises(RuntimeError, match=f'{name}: The image has invalid dimensions.*but got 1 dimensions'):
            write('unwritten', np.zeros(2, np.uint8))
        with pytest.raises(RuntimeError, match=f'{name}: Invalid .* 0?101, should be in range'):
            write('unwritten', np.zeros((2, 2), np.uint8), 101)
    assert not os.path.exists('unwritten')

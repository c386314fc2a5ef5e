# SPDX-License-Identifier: Apache-2.0
"""Data sets in their published layouts are read as MindSpore 2.10 reads them; answers.json has what it gave."""
import importlib.util
import json
import os
import shutil
from pathlib import Path

import pytest

from spore import dataset as ds


def load(name):
    spec = importlib.util.spec_from_file_location(f'oracle_sources_{name}', Path(__file__).with_name(f'{name}.py'))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


CASES, MAKE = load('cases'), load('make')
with open(Path(__file__).with_name('answers.json'), encoding='utf-8') as answers:
    ANSWERS = json.load(answers)


@pytest.fixture(scope='module')
def root(tmp_path_factory):
    folder = str(tmp_path_factory.mktemp('sources'))
    MAKE.make(folder)
    return folder


@pytest.mark.parametrize('name, source, arguments', CASES.CASES, ids=[case[0] for case in CASES.CASES])
def test_source_as_mindspore_reads_it(root, name, source, arguments):
    wanted = ANSWERS[name]
    if 'error' in wanted:
        with pytest.raises((RuntimeError, ValueError, TypeError)) as caught:
            CASES.answer(ds, source, arguments, root)
        assert caught.type.__name__ == wanted['error']
        return
    found = json.loads(json.dumps(CASES.answer(ds, source, arguments, root)))
    assert found['columns'] == wanted['columns'] and found['size'] == wanted['size']
    assert wanted['classes'] in (None, found['classes'])    # MindSpore does not tell for all
    for row in (*found['rows'], *wanted['rows']) if source == 'TedliumDataset' else ():
        row['waveform'][2] = None       # MindSpore 2.10 gives silence for these files
    assert [list(row.items()) for row in found['rows']] == [list(row.items()) for row in wanted['rows']]


@pytest.mark.parametrize('name, source, arguments', CASES.CASES, ids=[case[0] for case in CASES.CASES])
def test_a_function_that_fails_tells_the_file(root, name, source, arguments):
    def stop(*_):
        raise ValueError('stop')
    if 'error' in ANSWERS[name]:
        return
    data = eval(f"ds.{source}({arguments.replace('{root}', root)})", {'ds': ds})
    with pytest.raises(RuntimeError, match=f'map operation: .PyFunc. failed. The corresponding data file is: {root}'):
        next(iter(data.map(stop, data.get_col_names()[:1]).create_tuple_iterator(num_epochs=1)))


@pytest.mark.parametrize('source, folder, gone, left', [
    ('AGNewsDataset', 'agnews', 'train.csv', 3), ('DBpediaDataset', 'dbpedia', 'test.csv', 3), ('WikiTextDataset', 'wikitext', 'wiki.valid.tokens', 8),
    ('CoNLL2000Dataset', 'conll', 'train.txt', 2), ('UDPOSDataset', 'udpos', 'en-ud-tag.v2.train.txt', 4),
    ('IWSLT2016Dataset', 'iwslt2016', 'texts/de/en/de-en/train.tags.de-en.de', 4), ('RenderedSST2Dataset', 'sst2pictures', 'train', 8),
    ('LibriTTSDataset', 'libritts', 'dev-clean/116/288045/116_288045.trans.tsv', 2)])
def test_data_sets_may_be_kept_in_part(root, tmp_path, source, folder, gone, left):
    """With all parts wanted, as MindSpore has it."""
    shutil.copytree(os.path.join(root, folder), tmp_path / 'set')
    gone = tmp_path / 'set' / gone
    shutil.rmtree(gone) if gone.is_dir() else gone.unlink()
    data = getattr(ds, source)(str(tmp_path / 'set'))
    assert data.get_dataset_size() == left == len(list(data.create_tuple_iterator(num_epochs=1)))


@pytest.mark.parametrize('source, folder, gone, error', [
    ('SVHNDataset', 'svhn', 'extra_32x32.mat', FileNotFoundError), ('Flowers102Dataset', 'flowers', 'setid.mat', ValueError),
    ('SBUDataset', 'sbu', 'SBU_captioned_photo_dataset_urls.txt', ValueError), ('STL10Dataset', 'stl10', 'test_y.bin', RuntimeError)])
def test_a_file_that_is_missing_is_named(root, tmp_path, source, folder, gone, error):
    shutil.copytree(os.path.join(root, folder), tmp_path / 'set')
    (tmp_path / 'set' / gone).unlink()
    with pytest.raises(error, match=gone):
        getattr(ds, source)(str(tmp_path / 'set')).get_dataset_size()


def test_every_case_was_recorded():
    assert sorted(ANSWERS) == sorted(case[0] for case in CASES.CASES)
    assert os.path.getsize(Path(__file__).with_name('answers.json')) < 200_000

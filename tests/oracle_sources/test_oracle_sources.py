# SPDX-License-Identifier: Apache-2.0
"""Data sets in their published layouts are read as MindSpore 2.10 reads them; answers.json has what it gave."""
import gzip
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


CASES, MAKE, ARGUMENTS = load('cases'), load('make'), load('arguments')
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


ASKED = json.loads(gzip.decompress(Path(__file__).with_name('arguments.json.gz').read_bytes()))
DIFFERENT = {line for line in Path(__file__).with_name('arguments_different.txt').read_text(encoding='utf-8').split('\n') if line[:1] not in ('', '#')}


@pytest.mark.parametrize('source', sorted({question.split(' ')[0] for question in ASKED}))
def test_arguments_as_mindspore_takes_them(root, source):
    """Rows, or exceptions of its types and words, for arguments of all kinds."""
    before = dict(ds.config._values)
    try:
        found = {q: ARGUMENTS.ask(ds, q, root, True) for q in ASKED if q.split(' ')[0] == source}
    finally:
        ds.config._values.update(before)
    wrong = [f'{q}: {found[q]} instead of {ASKED[q]}' for q in found if q not in DIFFERENT and not ARGUMENTS.agrees(found[q], ASKED[q])]
    assert not wrong, '\n'.join(wrong)
    gone = [q for q in found if q in DIFFERENT and ARGUMENTS.agrees(found[q], ASKED[q])]
    assert not gone, f'arguments_different.txt names what is alike: {gone}'

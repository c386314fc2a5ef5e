# SPDX-License-Identifier: Apache-2.0
"""Rows from text files, one after another: lines, CSV, JSON, and the corpora that come as such files.

Files are not held in memory: where each row begins is noted, and rows are read from there when they are wanted.
"""
import csv
import glob
import io
import json
import os
import re

import numpy as np

from spore import _core, log
from spore.dataset import _check
from spore.dataset._table import Table, check_folder, one_of, read_lines, signature_of, sorted_files
from spore.dataset.samplers import Shuffle, generator_of
from spore.dataset.sources import MappableDataset

__all__ = ['TextFileDataset', 'CSVDataset', 'CLUEDataset', 'JsonLinesDataset', 'AGNewsDataset', 'AmazonReviewDataset',
           'CoNLL2000Dataset', 'DBpediaDataset', 'EnWik9Dataset', 'IMDBDataset', 'IWSLT2016Dataset', 'IWSLT2017Dataset',
           'Multi30kDataset', 'PennTreebankDataset', 'SQuADDataset', 'SST2Dataset', 'SogouNewsDataset', 'UDPOSDataset',
           'USPSDataset', 'WikiTextDataset', 'YahooAnswersDataset', 'YelpReviewDataset']

CHUNK = 1 << 20


def find_files(patterns, name='dataset_files'):
    """Files by a name, a pattern or a list of these."""
    if not isinstance(patterns, (str, list)):
        raise TypeError(f"Argument dataset files with value {patterns} is not of type [<class 'str'>, <class 'list'>], but got "
                        f"{type(patterns)}.")
    if patterns == '':
        raise ValueError(f"Input {name} can not be empty, but got ''.")
    found = []
    for pattern in [patterns] if isinstance(patterns, str) else patterns:
        if not isinstance(pattern, str):
            raise TypeError(f"{name} should be of type str or a list of strings.")
        here = sorted(path for path in glob.glob(pattern) or [pattern] if os.path.exists(path) and not os.path.isdir(path))
        if not here:
            raise ValueError(f"The following patterns did not match any files: {[pattern]}")
        found += here
    if not found:
        raise ValueError(f"Input {name} can not be empty, but got '{patterns}'.")
    return sorted(found)


def line_places(path, keep_empty=False):
    """Where the lines of a file begin and how long they are, without their ends."""
    ends, at = [], 0
    with open(path, 'rb') as file:
        while chunk := file.read(CHUNK):
            ends.append(np.flatnonzero(np.frombuffer(chunk, np.uint8) == 10) + at)
            at += len(chunk)
    ends = np.concatenate([*ends, [at]]) if at else np.zeros(0, np.int64)
    begins = np.concatenate([[0], ends[:-1] + 1]) if len(ends) else ends
    lengths = ends - begins
    wanted = lengths > 0
    if keep_empty:
        wanted = np.arange(len(ends)) < len(ends) - (lengths[-1:] == 0).sum()
    return begins[wanted].astype(np.int64), lengths[wanted].astype(np.int64)


class Lines(MappableDataset):
    """Rows of files that are read from front to back: with Shuffle.FILES the files are mixed; with Shuffle.GLOBAL or True rows go
    through ``shuffle`` behind that. Shards are consecutive parts, filled up from the front."""

    _SHUFFLES, _DRAWS = (bool, Shuffle), False

    def __init__(self, num_samples, num_parallel_workers, shuffle, num_shards, shard_id, cache):
        shuffle = Shuffle.GLOBAL if shuffle is None else shuffle
        if not isinstance(shuffle, (bool, Shuffle)):
            raise TypeError("shuffle must be of boolean or enum of 'Shuffle' values like 'Shuffle.GLOBAL' or "
                            "'Shuffle.FILES'.")
        super().__init__(num_samples, num_parallel_workers, shuffle, None, num_shards, shard_id, cache)
        self._by_file = self._shuffle
        self._all = self._shuffle and shuffle != Shuffle.FILES
        self._shuffle = False       # of the source itself
        self._sizes_found, self._paths = None, None

    def find_sizes(self):
        """Look for rows: their number in each file."""
        raise NotImplementedError

    def _sizes(self):
        if self._sizes_found is None:
            self._sizes_found = self.find_sizes()
            if not sum(self._sizes_found):
                raise RuntimeError(f"Invalid data, {type(self).__name__} API can't read the data file (interface mismatch or no data found). "
                                   "There is no row in its files; check them, and 'usage' if it has one")
        return self._sizes_found

    def _total(self):
        return sum(self._sizes())

    def _order(self):
        sizes = self._sizes()
        if self._shard_of[0] == 1 and not self._by_file:
            return super()._order()

        def order(seed, epoch):
            draws = generator_of(seed, epoch)
            starts = np.concatenate([[0], np.cumsum(sizes)])
            files = draws.permutation(len(sizes)) if self._by_file else range(len(sizes))
            ids = self._shard([np.arange(starts[i], starts[i + 1]) for i in files])
            return np.ascontiguousarray(ids[:self._most] if self._most else ids, np.int64)
        return order

    def _shard(self, files):
        """The rows of this shard, out of those of all files."""
        ids, (shards, shard) = np.concatenate(files), self._shard_of
        each = -(-len(ids) // shards)
        return ids[(np.arange(each) + shard * each) % max(1, len(ids))] if shards > 1 else ids

    def _row_files(self):
        sizes = self._sizes()
        return list(zip(sizes, self._paths or self.dataset_files))

    def is_shuffled(self):
        return self._by_file

    def _finish(self, made):
        return made.shuffle(max(10000, 4 * self._total() // len(self._sizes()))) if self._all else made

    def use_sampler(self, new_sampler):
        raise AttributeError(f"'{type(self).__name__}' object has no attribute 'use_sampler': its rows are read from front to back")


class Parts(Lines):
    """Rows that are parts of files: lines, or other stretches of bytes."""

    COLUMN = 'text'

    def places(self, path):
        """Where the rows of a file begin, and how long they are."""
        return line_places(path)

    def find_paths(self):
        """The files."""
        return self.dataset_files

    def find_sizes(self):
        self._paths = self.find_paths()
        for path in self._paths:
            if not os.path.isfile(path):
                raise RuntimeError(f"Invalid file, {type(self).__name__}: {path} does not exist or permission denied!")
        places = [self.places(path) for path in self._paths]
        self._at = [np.concatenate([np.full(len(p[0]), i, np.int64) for i, p in enumerate(places)] or [np.zeros(0, np.int64)]),
                    *(np.concatenate([p[k] for p in places]) for k in (0, 1))]
        return [len(p[0]) for p in places]

    def source(self, text=True):
        """The parts as rows of the engine."""
        self._sizes()
        return _core.pipeline_parts([os.fsencode(path) for path in self._paths], self._at, text, self.COLUMN, self._order())

    def where(self, i):
        """File and number of row i in it, for messages."""
        file = int(self._at[0][i])
        return f"{self._paths[file]}, row {int(i) - int(np.searchsorted(self._at[0], file))}"

    def _make(self):
        return self.source()


class TextFileDataset(Parts):
    """Lines of text files that are not empty, as column text.

    Args:
        dataset_files: a file, a pattern or a list of them.
        num_samples, num_parallel_workers, num_shards, shard_id, cache: as for MnistDataset.
        shuffle: False, Shuffle.FILES, or Shuffle.GLOBAL (True).
    """

    def __init__(self, dataset_files, num_samples=None, num_parallel_workers=None, shuffle=Shuffle.GLOBAL,
                 num_shards=None, shard_id=None, cache=None):
        self.dataset_files = find_files(dataset_files)
        super().__init__(num_samples, num_parallel_workers, shuffle, num_shards, shard_id, cache)


# --- CSV --------------------------------------------------------------------------------------------------------------

def csv_places(path):
    """Where the rows of a CSV file begin: at lines, unless a quoted field goes on over the end of one."""
    begins, lengths = line_places(path)
    with open(path, 'rb') as file:
        quotes = file.read(CHUNK).count(b'"') or any(b'"' in chunk for chunk in iter(lambda: file.read(CHUNK), b''))
        if not quotes:
            return begins, lengths
        rows, open_at = [], None
        for begin, length in zip(begins.tolist(), lengths.tolist()):
            file.seek(begin)
            odd = file.read(length).count(b'"') % 2
            if open_at is None and odd:
                open_at = begin
            elif open_at is None:
                rows.append((begin, length))
            elif odd:
                rows.append((open_at, begin + length - open_at))
                open_at = None
        if open_at is not None:
            rows.append((open_at, int(begins[-1] + lengths[-1]) - open_at))
    table = np.asarray(rows, np.int64).reshape(-1, 2)
    return np.ascontiguousarray(table[:, 0]), np.ascontiguousarray(table[:, 1])


def csv_fields(line, delimiter):
    """Fields of one row."""
    return next(csv.reader(io.StringIO(line, newline=''), delimiter=delimiter), [])


class _Records(Parts):
    """Rows of text in several fields, taken apart by ``fields``."""

    COLUMN = ' line'

    def columns(self):
        """Names of the columns."""
        raise NotImplementedError

    def fields(self, line):
        """Values of the columns."""
        raise NotImplementedError

    def _make(self):
        source = self.source()
        return source.map_function(lambda line: self.fields(line.item()), [self.COLUMN], list(self.columns()))


class CSVDataset(_Records):
    """Rows of CSV files.

    Args:
        dataset_files: a file, a pattern or a list of them.
        field_delim: what stands between fields.
        column_defaults: an example for each column, whose type the fields get (int as int32, float as float32, str);
            all are str if None.
        column_names: names; the first line of each file has them if None.
        num_samples, num_parallel_workers, shuffle, num_shards, shard_id, cache: as for TextFileDataset.
    """

    def __init__(self, dataset_files, field_delim=',', column_defaults=None, column_names=None, num_samples=None,
                 num_parallel_workers=None, shuffle=Shuffle.GLOBAL, num_shards=None, shard_id=None, cache=None):
        _check.kind(field_delim, str, 'field_delim')
        if field_delim in ('"', '\r', '\n') or len(field_delim) != 1:
            raise ValueError("field_delim is invalid. It should be one character, neither a quotation mark nor the end of a line.")
        if column_defaults is not None:
            if not isinstance(column_defaults, list):
                raise TypeError("column_defaults should be type of list.")
            for value in column_defaults:
                if not isinstance(value, (str, int, float)):
                    raise TypeError("column type in column_defaults is invalid.")
        twice = [name for i, name in enumerate(column_names or []) if name in column_names[:i]]
        if twice:
            raise RuntimeError(f"CSVDataset: 'column_names' : Invalid parameter, duplicate column names are not allowed: {twice[0]}")
        self.column_names = _check.columns(column_names, 'column_names') if column_names else None
        self.dataset_files, self._delimiter, self._defaults = find_files(dataset_files), field_delim, column_defaults
        super().__init__(num_samples, num_parallel_workers, shuffle, num_shards, shard_id, cache)

    def places(self, path):
        begins, lengths = csv_places(path)
        return (begins, lengths) if self.column_names is not None else (begins[1:], lengths[1:])

    def columns(self):
        if self.column_names is not None:
            return self.column_names
        for path in self.dataset_files:
            with open(path, encoding='utf-8-sig', newline='') as file:
                for line in csv.reader(file, delimiter=self._delimiter):
                    return line
        raise RuntimeError(f"CSVDataset: there is no line with names in {self.dataset_files}")

    def fields(self, line):
        found = csv_fields(line, self._delimiter)
        if len(found) != self._n:
            raise RuntimeError(f"Invalid file, failed to parse csv file: expected {self._n} columns, but got {len(found)} columns")
        return tuple(convert(text) for convert, text in zip(self._converters, found))

    def _converter(self, i):
        example = self._defaults[i] if self._defaults is not None and i < len(self._defaults) else ''
        if isinstance(example, str):
            return str
        kind = np.int32 if isinstance(example, int) else np.float32

        def number(text):
            try:
                return kind(int(text) if kind is np.int32 else float(text))
            except (ValueError, OverflowError) as error:
                raise RuntimeError(f"Invalid csv, csv file parse failed: type does not match: column '{self.columns()[i]}' holds {text!r}, "
                                   f"which is no {kind.__name__}") from error
        return number

    def _make(self):
        names = self.columns()
        self._n, self._converters = len(names), [self._converter(i) for i in range(len(names))]
        return super()._make()


# --- JSON -------------------------------------------------------------------------------------------------------------

def _value(value):
    return np.asarray(value if value is not None else '')


class JsonLinesDataset(_Records):
    """Rows of files with a JSON object in each line; a column for each key.

    Args:
        dataset_files: a file, a pattern or a list of them.
        columns_list: the keys wanted; those of the first line if None.
        num_samples, num_parallel_workers, shuffle, num_shards, shard_id, cache: as for TextFileDataset.
    """

    def __init__(self, dataset_files, columns_list=None, num_samples=None, num_parallel_workers=None, shuffle=Shuffle.GLOBAL,
                 num_shards=None, shard_id=None, cache=None):
        self.dataset_files = find_files(dataset_files)
        self._wanted = _check.columns(columns_list, 'columns_list') if columns_list is not None else None
        super().__init__(num_samples, num_parallel_workers, shuffle, num_shards, shard_id, cache)

    def columns(self):
        if self._wanted is None:
            with open(self.dataset_files[0], encoding='utf-8-sig') as file:
                self._wanted = list(json.loads(next(line for line in file if line.strip())))
        return self._wanted

    def fields(self, line):
        row = json.loads(line)
        missing = [name for name in self._wanted if name not in row]
        if missing:
            raise RuntimeError(f"there is no key {missing[0]!r}; the row has {list(row)}")
        return tuple(_value(row[name]) for name in self._wanted)


class CLUEDataset(_Records):
    """Tasks of the CLUE benchmark, from their JSON files.

    Args:
        dataset_files: a file, a pattern or a list of them.
        task: "AFQMC", "TNEWS", "IFLYTEK", "CMNLI", "WSC" or "CSL"; the columns follow from it.
        usage: "train", "test" or "eval".
        num_samples, num_parallel_workers, shuffle, num_shards, shard_id, cache: as for TextFileDataset.
    """

    # By task: columns of training and evaluation, then of tests.
    _COLUMNS = {
        'AFQMC': (['label', 'sentence1', 'sentence2'], ['id', 'sentence1', 'sentence2']),
        'TNEWS': (['keywords', 'label', 'label_desc', 'sentence'], ['id', 'keywords', 'sentence']),
        'IFLYTEK': (['label', 'label_des', 'sentence'], ['id', 'sentence']),
        'CMNLI': (['label', 'sentence1', 'sentence2'], ['id', 'sentence1', 'sentence2']),
        'WSC': (['idx', 'label', 'span1_index', 'span1_text', 'span2_index', 'span2_text', 'text'],
                ['idx', 'span1_index', 'span1_text', 'span2_index', 'span2_text', 'text']),
        'CSL': (['abst', 'id', 'keyword', 'label'], ['abst', 'id', 'keyword'])}

    def __init__(self, dataset_files, task='AFQMC', usage='train', num_samples=None, num_parallel_workers=None,
                 shuffle=Shuffle.GLOBAL, num_shards=None, shard_id=None, cache=None):
        self.dataset_files = find_files(dataset_files)
        if task not in self._COLUMNS:
            raise ValueError("task should be 'AFQMC', 'TNEWS', 'IFLYTEK', 'CMNLI', 'WSC' or 'CSL'.")
        if usage not in ('train', 'test', 'eval'):
            raise ValueError(f"usage should be 'train', 'test' or 'eval'. It is {usage!r}.")
        self.task, self.usage = task, usage
        super().__init__(num_samples, num_parallel_workers, shuffle, num_shards, shard_id, cache)

    def columns(self):
        return self._COLUMNS[self.task][self.usage == 'test']

    def fields(self, line):
        try:
            row = json.loads(line)
        except ValueError as error:
            raise RuntimeError(f"Invalid file, failed to parse a JSON line: {error}") from error
        return tuple(self._field(row, name) for name in self.columns())

    def _field(self, row, name):
        value = row.get('target', {}).get(name) if name.startswith('span') else row.get(name)
        if value is None:
            raise RuntimeError(f"Invalid file, failed to find key: {name}; the row has {list(row)}")
        return np.uint32(value) if isinstance(value, int) else np.asarray(value)


# --- corpora ----------------------------------------------------------------------------------------------------------

FIRST = 'num_samples=None, num_parallel_workers=None, shuffle=Shuffle.GLOBAL, num_shards=None, shard_id=None, cache=None'
LAST = 'num_samples=None, shuffle=Shuffle.GLOBAL, num_shards=None, shard_id=None, num_parallel_workers=None, cache=None'


class _Corpus(Lines):
    """A text corpus in its folder. ARGUMENTS as for Table."""

    ARGUMENTS = f'dataset_dir, usage=None, {FIRST}'
    USAGE = ['train', 'test', 'all']

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        cls.__signature__ = signature_of(cls.ARGUMENTS)

    def __init__(self, *args, **kwargs):
        bound = self.__signature__.bind(*args, **kwargs)
        bound.apply_defaults()
        given = dict(bound.arguments)
        for name in ('dataset_dir', 'usage', 'language_pair', 'valid_set', 'test_set'):
            if name in given:
                setattr(self, name, given.pop(name))
        check_folder(self.dataset_dir)
        if self.USAGE is not None:
            if self.usage is None:
                self.usage = self.USAGE[-1]
            one_of(self.usage, self.USAGE, 'usage')
        self.check()
        if given['shuffle'] is None:
            given['shuffle'] = Shuffle.GLOBAL
        super().__init__(**given)

    def check(self):
        """Rules for arguments of its own."""

    def usages(self):
        """The parts wanted."""
        return self.USAGE[:-1] if self.usage == 'all' else [self.usage]

    def path(self, *parts):
        """A file in the folder."""
        return os.path.join(self.dataset_dir, *parts)

    def kept(self, *paths):
        """Whether files are to be read: of all parts those that are there, for data sets are often kept in part."""
        missing = [path for path in paths if not os.path.isfile(path)]
        if self.usage != 'all' or not missing:
            return True
        log.warning("%s: %s is not there; the rows of the other files are read", type(self).__name__, missing[0])
        return False

    def present(self, paths):
        """Those of the paths that are to be read; all, if none is there."""
        return [path for path in paths if self.kept(path)] or paths


class _CsvCorpus(_Corpus, _Records):
    """Corpora in files train.csv and test.csv without names of columns."""

    COLUMNS = []

    def find_paths(self):
        return self.present(sorted(self.path(f'{usage}.csv') for usage in self.usages()))

    def places(self, path):
        return csv_places(path)

    def columns(self):
        return self.COLUMNS

    def fields(self, line):
        found = csv_fields(line, ',')
        if len(found) != len(self.COLUMNS):
            raise RuntimeError(f"expected {len(self.COLUMNS)} fields {self.COLUMNS}, but got {len(found)}")
        return tuple(found)


class AGNewsDataset(_CsvCorpus):
    """News of four kinds: index, title and description, all texts."""

    COLUMNS = ['index', 'title', 'description']


class AmazonReviewDataset(_CsvCorpus):
    """Reviews of goods: label, title and content, all texts."""

    COLUMNS = ['label', 'title', 'content']


class DBpediaDataset(_CsvCorpus):
    """Encyclopedia articles of 14 kinds: class, title and content, all texts."""

    COLUMNS = ['class', 'title', 'content']


class SogouNewsDataset(_CsvCorpus):
    """News in Chinese: index, title and content, all texts."""

    ARGUMENTS = f'dataset_dir, usage=None, {LAST}'
    COLUMNS = ['index', 'title', 'content']


class YahooAnswersDataset(_CsvCorpus):
    """Questions with answers: class, title, content and answer, all texts."""

    COLUMNS = ['class', 'title', 'content', 'answer']


class YelpReviewDataset(_CsvCorpus):
    """Reviews of places: label and text, both texts."""

    ARGUMENTS = f'dataset_dir, usage=None, {LAST}'
    COLUMNS = ['label', 'text']


class _LineCorpus(_Corpus, Parts):
    """Corpora whose rows are lines."""

    NAMES = {}

    def find_paths(self):
        return self.present(sorted(self.path(self.NAMES[usage]) for usage in self.usages()))


class WikiTextDataset(_LineCorpus):
    """Articles of Wikipedia, line by line: text."""

    USAGE = ['train', 'test', 'valid', 'all']
    NAMES = {usage: f'wiki.{usage}.tokens' for usage in USAGE}


class PennTreebankDataset(_LineCorpus):
    """Sentences of the Penn Treebank: text."""

    USAGE = ['train', 'test', 'valid', 'all']
    NAMES = {usage: f'ptb.{usage}.txt' for usage in USAGE}


class EnWik9Dataset(_LineCorpus):
    """The first 10**9 bytes of the English Wikipedia, line by line, empty ones included: text."""

    ARGUMENTS = ('dataset_dir, num_samples=None, num_parallel_workers=None, shuffle=True, num_shards=None, shard_id=None, '
                 'cache=None')
    USAGE = None

    def places(self, path):
        return line_places(path, True)

    def find_paths(self):
        return [self.path('enwik9')]


class _Blocks(_Corpus):
    """Corpora of blocks of lines, a word and its marks in each, an empty line between them."""

    COLUMNS, SEPARATOR, NAMES = [], None, {}

    def find_sizes(self):
        self._blocks, sizes = [], []
        self._paths = self.present(sorted(self.path(self.NAMES[usage]) for usage in self.usages()))
        for path in self._paths:
            if not os.path.isfile(path):
                raise RuntimeError(f"Invalid file, {type(self).__name__}: {path} does not exist or permission denied!")
            with open(path, encoding='utf-8') as file:
                blocks = [block for block in re.split(r'\n[ \t\r]*\n', file.read()) if block.strip()]
            self._blocks += blocks
            sizes.append(len(blocks))
        return sizes

    def _make(self):
        self._sizes()

        def read(i):
            lines = [line.split(self.SEPARATOR) for line in self._blocks[i].strip('\n').split('\n')]
            return tuple(np.asarray(column) for column in zip(*lines))
        return _core.pipeline_source(read, len(self._blocks), self.COLUMNS, self._order())


class CoNLL2000Dataset(_Blocks):
    """Sentences in pieces: word, pos_tag and chunk_tag, texts of one length."""

    ARGUMENTS = f'dataset_dir, usage=None, {LAST}'
    COLUMNS, SEPARATOR = ['word', 'pos_tag', 'chunk_tag'], None
    NAMES = {usage: f'{usage}.txt' for usage in ('train', 'test')}


class UDPOSDataset(_Blocks):
    """Sentences with parts of speech: word, universal and stanford, texts of one length."""

    ARGUMENTS = f'dataset_dir, usage=None, {LAST}'
    USAGE = ['train', 'test', 'valid', 'all']
    COLUMNS, SEPARATOR = ['word', 'universal', 'stanford'], '\t'
    NAMES = {'train': 'en-ud-tag.v2.train.txt', 'test': 'en-ud-tag.v2.test.txt', 'valid': 'en-ud-tag.v2.dev.txt'}


class _Pairs(_Corpus):
    """Corpora of sentences in two languages: text and translation."""

    def pairs(self):
        """Pairs of files, with the function that gives their sentences."""
        raise NotImplementedError

    def find_sizes(self):
        self._texts, self._paths, sizes = ([], []), [], []
        for first, second, sentences in self.pairs():
            self._paths.append(first)
            here = [sentences(path) for path in (first, second)]
            if len(here[0]) != len(here[1]):
                raise RuntimeError(f"{type(self).__name__}: {first} holds {len(here[0])} sentences, but {second} {len(here[1])}")
            for column, texts in zip(self._texts, here):
                column.extend(texts)
            sizes.append(len(here[0]))
        return sizes

    def _make(self):
        self._sizes()
        return _core.pipeline_source(lambda i: (self._texts[0][i], self._texts[1][i]), len(self._texts[0]),
                                     ['text', 'translation'], self._order())

    def sentences(self, path):
        """Lines of a file."""
        return read_lines(path, type(self).__name__)


class Multi30kDataset(_Pairs):
    """Descriptions of pictures: text and translation. ``language_pair`` is ["en", "de"] (None) or the reverse."""

    ARGUMENTS = ('dataset_dir, usage=None, language_pair=None, num_samples=None, num_parallel_workers=None, shuffle=None, '
                 'num_shards=None, shard_id=None, cache=None')
    USAGE = ['train', 'test', 'valid', 'all']
    _FILES = {'train': ('training', 'train'), 'test': ('mmt16_task1_test', 'test'), 'valid': ('validation', 'val')}

    def check(self):
        if self.language_pair is None:
            self.language_pair = ['en', 'de']
        _check.kind(self.language_pair, (list, tuple), 'language_pair')
        if len(self.language_pair) != 2:
            raise ValueError(f"language_pair should be a list or tuple of length 2, but got {len(self.language_pair)}")
        if list(self.language_pair) not in (['en', 'de'], ['de', 'en']):
            raise ValueError("language_pair can only be ['en', 'de'] or ['de', 'en'], but got " + str(self.language_pair))

    def pairs(self):
        for usage in self.usages():
            folder, name = self._FILES[usage]
            files = [self.path(folder, f'{name}.{language}') for language in self.language_pair]
            yield (*files, self.sentences)


class IWSLT2016Dataset(_Pairs):
    """Talks: text and translation.

    Args:
        dataset_dir: folder with texts/<source>/<target>/<source>-<target>.
        usage: "train", "valid", "test" or "all" (None).
        language_pair: source and target language; ("de", "en") if None.
        valid_set, test_set: which talks; "tst2013" and "tst2014" if None.
    """

    ARGUMENTS = ('dataset_dir, usage=None, language_pair=None, valid_set=None, test_set=None, ' + LAST)
    USAGE = ['train', 'valid', 'test', 'all']
    _SETS = ['dev2010', 'tst2010', 'tst2011', 'tst2012', 'tst2013', 'tst2014']
    _PAIRS = [(a, b) for a, b in (('en', 'ar'), ('en', 'de'), ('en', 'fr'), ('en', 'cs'))]

    def check(self):
        self.language_pair = ('de', 'en') if self.language_pair is None else self.language_pair
        self.valid_set = 'tst2013' if self.valid_set is None else self.valid_set
        self.test_set = 'tst2014' if self.test_set is None else self.test_set
        _check.kind(self.language_pair, (list, tuple), 'language_pair')
        known = [*self._PAIRS, *((b, a) for a, b in self._PAIRS)]
        if tuple(self.language_pair) not in known:
            raise ValueError(f"Input language_pair{list(self.language_pair)} is not within the valid set of {[list(pair) for pair in known]}.")
        one_of(self.valid_set, self._SETS, 'valid_set')
        one_of(self.test_set, self._SETS, 'test_set')

    def folder(self):
        """Where the files are."""
        first, second = self.language_pair
        return self.path('texts', first, second, f'{first}-{second}')

    def pairs(self):
        pair = '-'.join(self.language_pair)
        for usage in self.usages():
            if usage == 'train':
                files = [os.path.join(self.folder(), f'train.tags.{pair}.{language}') for language in self.language_pair]
                if self.kept(*files):
                    yield (*files, self._tagged)
                continue
            name = self.valid_set if usage == 'valid' else self.test_set
            files = [os.path.join(self.folder(), f'{self.PREFIX}.{name}.{pair}.{language}.xml') for language in self.language_pair]
            yield (*files, self._segments)

    PREFIX = 'IWSLT16.TED'

    def _tagged(self, path):
        return [line.strip() for line in self.sentences(path) if not line.lstrip().startswith('<')]

    def _segments(self, path):
        return [line[line.index('>') + 1:line.rindex('<')].strip() for line in self.sentences(path) if line.lstrip().startswith('<seg')]


class IWSLT2017Dataset(IWSLT2016Dataset):
    """Talks: text and translation. ``language_pair`` is two of "en", "nl", "de", "it", "ro"; ("de", "en") if None."""

    ARGUMENTS = 'dataset_dir, usage=None, language_pair=None, ' + LAST
    PREFIX = 'IWSLT17.TED'

    def check(self):
        self.language_pair = ('de', 'en') if self.language_pair is None else self.language_pair
        self.valid_set, self.test_set = 'dev2010', 'tst2010'
        if not isinstance(self.language_pair, (list, tuple)):
            raise TypeError(f"language_pair should be a type list or tuple of length 2. It is {self.language_pair!r}.")
        if len(self.language_pair) != 2:
            raise ValueError(f"Input language_pair is a list or tuple of length 2. It has {len(self.language_pair)}.")
        known = [(a, b) for a in ('en', 'nl', 'de', 'it', 'ro') for b in ('en', 'nl', 'de', 'it', 'ro') if a != b]
        if tuple(self.language_pair) not in known:
            raise ValueError(f"Input language_pair{list(self.language_pair)} is not within the valid set of {[list(pair) for pair in known]}.")

    def folder(self):
        return self.path('texts', 'DeEnItNlRo', 'DeEnItNlRo', 'DeEnItNlRo-DeEnItNlRo')


class SQuADDataset(_Corpus):
    """Questions about texts: context, question, text (the answers) and answer_start (uint32)."""

    USAGE = ['train', 'dev', 'all']

    def find_sizes(self):
        self._rows, self._paths, sizes = [], [], []
        for usage in self.usages():
            paths = sorted(glob.glob(os.path.join(glob.escape(self.dataset_dir), f'{usage}-v*.json')))
            if not paths:
                raise RuntimeError(f"Invalid file, SQuADDataset: there is no {usage}-v1.1.json or {usage}-v2.0.json in "
                                   f"{self.dataset_dir}")
            before = len(self._rows)
            self._paths += paths[:1]
            for path in paths[:1]:
                with open(path, encoding='utf-8') as file:
                    content = json.load(file)
                for article in content['data']:
                    for paragraph in article['paragraphs']:
                        for asked in paragraph['qas']:
                            answers = asked.get('answers', [])
                            self._rows.append((paragraph['context'], asked['question'], [a['text'] for a in answers] or [''],
                                               [a['answer_start'] for a in answers] or [0xffffffff]))
            sizes.append(len(self._rows) - before)
        return sizes

    def _make(self):
        self._sizes()

        def read(i):
            context, question, texts, starts = self._rows[i]
            return context, question, np.asarray(texts), np.asarray(starts, np.uint32)
        return _core.pipeline_source(read, len(self._rows), ['context', 'question', 'text', 'answer_start'], self._order())


class SST2Dataset(_Corpus, _Records):
    """Sentences of film reviews: sentence and label, both texts; only sentence for "test"."""

    USAGE = ['test', 'dev', 'train']

    def usages(self):
        return [self.usage]

    def find_paths(self):
        return [self.path(f'{self.usage}.tsv')]

    def places(self, path):
        begins, lengths = line_places(path)
        return begins[1:], lengths[1:]      # the first line has names

    def columns(self):
        return ['sentence'] if self.usage == 'test' else ['sentence', 'label']

    def fields(self, line):
        found = line.rstrip('\r').split('\t')
        return (found[1],) if self.usage == 'test' else (found[0], found[1])


class USPSDataset(_Corpus, _Records):
    """Digits from envelopes: image (uint8, 16 x 16) and label (uint32)."""

    def find_paths(self):
        return sorted(self.path({'train': 'usps', 'test': 'usps.t'}[usage]) for usage in self.usages())

    def columns(self):
        return ['image', 'label']

    def fields(self, line):
        label, *points = line.split()
        image = np.zeros(256)
        for point in points:
            place, value = point.split(':')
            image[int(place) - 1] = (float(np.float32(value)) + 1) / 2 * 255
        return image.astype(np.uint8).reshape(16, 16, 1), np.uint32(int(float(label)) - 1)


class IMDBDataset(Table):
    """Film reviews: text and label (int32), 1 for good ones."""

    ARGUMENTS = ('dataset_dir, usage=None, num_samples=None, num_parallel_workers=None, shuffle=None, sampler=None, '
                 'num_shards=None, shard_id=None, cache=None')
    USAGE = ['train', 'test', 'all']
    CLASSES = 2

    def find(self):
        paths, labels = [], []
        for usage in ['train', 'test'] if self.usage == 'all' else [self.usage]:
            for label, name in ((1, 'pos'), (0, 'neg')):
                folder = os.path.join(self.dataset_dir, usage, name)
                here = sorted_files(folder, '.txt')
                paths += here
                labels += [label] * len(here)

        def read(i):
            with open(paths[int(i)], encoding='utf-8') as file:
                return file.read()
        self.rows(['text', 'label'], {}, {'label': np.asarray(labels, np.int32)}, (('text',), read))

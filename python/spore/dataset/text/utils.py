# SPDX-License-Identifier: Apache-2.0
"""Vocabularies, word vectors, and names for the choices that transforms of text offer."""
import os
from collections import Counter
from enum import IntEnum

import numpy as np

from spore.dataset import _check as check

__all__ = ['CharNGram', 'FastText', 'GloVe', 'JiebaMode', 'NormalizeForm', 'SentencePieceModel', 'SentencePieceVocab',
           'SPieceTokenizerLoadType', 'SPieceTokenizerOutType', 'Vectors', 'Vocab', 'to_bytes', 'to_str']


class JiebaMode(IntEnum):
    """How Chinese text is cut: by a dictionary, a model, or both."""
    MIX = 0
    MP = 1
    HMM = 2


class NormalizeForm(IntEnum):
    """Unicode's normal forms."""
    NONE = 0
    NFC = 1
    NFKC = 2
    NFD = 3
    NFKD = 4


class SentencePieceModel(IntEnum):
    """Kinds of SentencePiece models."""
    UNIGRAM = 0
    BPE = 1
    CHAR = 2
    WORD = 3


class SPieceTokenizerLoadType(IntEnum):
    """Where a SentencePiece model comes from."""
    FILE = 0
    MODEL = 1


class SPieceTokenizerOutType(IntEnum):
    """What a SentencePieceTokenizer gives."""
    STRING = 0
    INT = 1


def _words(words, name):
    check.kind(words, list, name)
    seen = set()
    for word in words:
        check.kind(word, str, name)
        if word in seen:
            raise ValueError(f"{name} contains duplicate word: {word}.")
        seen.add(word)
    return seen


class Vocab:
    """Words and their numbers; made by one of the class methods.

    Examples:
        >>> from spore.dataset import text
        >>> vocab = text.Vocab.from_list(["red", "blue"], special_tokens=["<pad>"])
        >>> vocab.tokens_to_ids(["blue", "<pad>", "green"])
        [2, 0, -1]
    """

    def __init__(self):
        self._ids = None
        self._tokens = None

    @property
    def c_vocab(self):
        """What holds the words; None before there are any."""
        return self._ids

    @classmethod
    def _of(cls, ids):
        made = cls()
        made._ids = dict(ids)
        made._tokens = {number: word for word, number in made._ids.items()}
        return made

    @classmethod
    def from_list(cls, word_list, special_tokens=None, special_first=True):
        """Words numbered in their order.

        Args:
            word_list: list of different words.
            special_tokens: further words.
            special_first: whether those come first.
        """
        words = _words(word_list, 'word_list')
        if special_tokens is not None:
            check.kind(special_tokens, list, 'special_tokens')
        special = list(special_tokens or [])
        both = words & _words(special, 'special_tokens')
        if both:
            raise ValueError(f"special_tokens and word_list contain duplicate word :{both}.")
        check.flag(special_first, 'special_first')
        ordered = special + word_list if special_first else word_list + special
        return cls._of((word, i) for i, word in enumerate(ordered))

    @classmethod
    def from_dict(cls, word_dict):
        """Words with numbers given.

        Args:
            word_dict: numbers by word.
        """
        check.kind(word_dict, dict, 'word_dict')
        for word, number in word_dict.items():
            check.kind(word, str, 'word')
            check.kind(number, int, 'word_id')
            check.within(number, 0, check.INT32_MAX, 'word_id')
        return cls._of(word_dict)

    @classmethod
    def from_file(cls, file_path, delimiter='', vocab_size=None, special_tokens=None, special_first=True):
        """Words of a file, one a line.

        Args:
            file_path: its name.
            delimiter: what ends the word within a line.
            vocab_size: how many lines are read; all if None.
            special_tokens, special_first: as for from_list.
        """
        special = list(special_tokens or [])
        _words(special, 'special_tokens')
        check.kind(file_path, str, 'file_path')
        check.kind(delimiter, str, 'delimiter')
        if vocab_size is not None:
            check.positive(vocab_size, 'vocab_size')
        check.flag(special_first, 'special_first')
        if not os.path.isfile(file_path):
            raise RuntimeError(f"Get real path failed, path={file_path}: from_file: there is no such file")
        words = []
        with open(file_path, encoding='utf-8') as file:
            for line in file:
                if vocab_size is not None and len(words) == vocab_size:
                    break
                line = line.rstrip('\n').rstrip('\r')
                words.append(line.split(delimiter, 1)[0] if delimiter else line)
        twice = [word for word, n in Counter(words + special).items() if n > 1]
        if twice:
            raise RuntimeError(f"from_file: the words {twice[:5]} of {file_path} occur more than once")
        ordered = special + words if special_first else words + special
        return cls._of((word, i) for i, word in enumerate(ordered))

    @classmethod
    def from_dataset(cls, dataset, columns=None, freq_range=None, top_k=None, special_tokens=None, special_first=True):
        """Words of a dataset, the most frequent first, equally frequent ones by the alphabet.

        Args:
            dataset: a Dataset.
            columns: names of columns of strings; all if None.
            freq_range: (least, most) occurrences; None stands for no bound.
            top_k: how many words at most.
            special_tokens, special_first: as for from_list.
        """
        columns = [columns] if isinstance(columns, str) else columns
        if columns is not None:
            check.kinds(columns, str, 'col')
        low, high = cls._check_range(freq_range)
        check.kind(top_k, (int, type(None)), 'top_k')
        if top_k is not None:
            check.positive(top_k, 'top_k')
        check.flag(special_first, 'special_first')
        special = list(special_tokens or [])
        _words(special, 'special_tokens')
        counts = Counter()
        for row in dataset.create_dict_iterator(num_epochs=1, output_numpy=True):
            for name in columns or row:
                if name not in row:
                    raise RuntimeError(f"Invalid column name, column name: {name} does not exist in the dataset: there are {list(row)}")
                if row[name].dtype.kind not in 'US':
                    raise RuntimeError(f"Invalid datatype, 'build_vocab' requires string: column '{name}' holds {row[name].dtype}")
                counts.update(row[name].astype(str).ravel().tolist())
        both = set(special) & set(counts)
        if both:
            raise RuntimeError(f"from_dataset: the special tokens {sorted(both)} occur in the dataset")
        kept = [word for word, n in sorted(counts.items(), key=lambda item: (-item[1], item[0])) if low <= n <= high]
        kept = kept[:top_k]
        ordered = special + kept if special_first else kept + special
        return cls._of((word, i) for i, word in enumerate(ordered))

    @staticmethod
    def _check_range(freq_range):
        if freq_range is None:
            return 0, float('inf')
        check.kind(freq_range, tuple, 'freq_range')
        if len(freq_range) != 2:
            raise ValueError("freq_range needs to be a tuple of 2 element.")
        for number in freq_range:
            if number is not None and not isinstance(number, int):
                raise ValueError("freq_range needs to be either None or a tuple of 2 integers or an int and a None.")
        low, high = freq_range
        low, high = 0 if low is None else low, float('inf') if high is None else high
        if not 0 <= low <= high:
            raise ValueError("frequency range [a,b] should be 0 <= a <= b (a,b are inclusive).")
        return low, high

    def _built(self):
        if self._ids is None:
            raise RuntimeError(f"The Vocab has not built yet, got type {type(None)}. Use Vocab.from_dataset(), "
                               "Vocab.from_list(), Vocab.from_file() or Vocab.from_dict() to build a Vocab.")
        return self._ids

    def vocab(self):
        """Numbers by word."""
        return dict(self._built())

    def tokens_to_ids(self, tokens):
        """Numbers of words, -1 for those that are not there.

        Args:
            tokens: a word, or a list or array of them.
        """
        check.kind(tokens, (str, list, np.ndarray), 'tokens')
        if isinstance(tokens, list):
            check.kinds(tokens, (str, np.str_), 'tokens')
        ids = self._built()
        if isinstance(tokens, str):
            return ids.get(tokens, -1)
        found = [ids.get(token, -1) for token in np.asarray(tokens).ravel().tolist()]
        return found[0] if len(found) == 1 else found

    def ids_to_tokens(self, ids):
        """Words of numbers, '' for those that are not there.

        Args:
            ids: a number, or a list or array of them.
        """
        check.kind(ids, (int, list, np.ndarray), 'ids')
        if isinstance(ids, list):
            check.kinds(ids, (int, np.int_), 'ids')
        self._built()
        numbers = [ids] if isinstance(ids, int) else np.asarray(ids).ravel().tolist()
        for number in numbers:
            check.within(number, 0, check.INT32_MAX, 'ids')
        found = [self._tokens.get(number, '') for number in numbers]
        return found[0] if len(found) == 1 else found


class Vectors:
    """Word vectors of a text file: a word and its numbers on each line.

    Examples:
        >>> import os, tempfile
        >>> from spore.dataset import text
        >>> path = os.path.join(tempfile.mkdtemp(), "vectors.txt")
        >>> with open(path, "w") as file:
        ...     _ = file.write("red 1 0\\nblue 0 1\\n")
        >>> print(text.ToVectors(text.Vectors.from_file(path))("blue"))
        [0. 1.]
    """

    _suffix = None
    _header = True # whether the first line may say how many words and numbers there are

    def __init__(self):
        self._vectors, self.dim = {}, 0

    @classmethod
    def from_file(cls, file_path, max_vectors=None):
        """The vectors of a file.

        Args:
            file_path: its name.
            max_vectors: how many are read; all if None or 0.
        """
        check.kind(file_path, str, 'file_path')
        if max_vectors is not None:
            check.integer(max_vectors, 'max_vectors', 0)
        if not os.path.isfile(file_path):
            name = cls.__name__
            raise RuntimeError(f"{name}: invalid file, failed to open {name} file: there is no {file_path}" if name in ('GloVe', 'FastText')
                               else f"Vectors: get real path failed, path: {file_path}")
        if cls._suffix is not None and not cls._suffix(os.path.basename(file_path)):
            raise RuntimeError(f"{cls.__name__}: invalid file, the name of {file_path} is not one of its kind")
        made = cls()
        with open(file_path, encoding='utf-8') as file:
            for number, line in enumerate(file):
                if max_vectors and len(made._vectors) == max_vectors:
                    break
                made._add(line.rstrip().split(' '), number, file_path)
        if not made._vectors:
            raise RuntimeError(f"{cls.__name__}: invalid file, {file_path} is empty")
        return made

    def _add(self, fields, number, path):
        if len(fields) <= 2:
            if number == 0 and self._header:
                return  # the numbers of words and of their dimensions
            raise RuntimeError(f"{type(self).__name__}: token with 1-dimensional vector in line {number + 1} of {path}")
        vector = np.array(fields[1:], np.float32)
        if self.dim and len(vector) != self.dim:
            raise RuntimeError(f"{type(self).__name__}: line {number + 1} of {path} has {len(vector)} numbers, the lines "
                               f"before have {self.dim}")
        self.dim = len(vector)
        self._vectors.setdefault(fields[0], vector)

    def lookup(self, token, unknown=None, lower_case_backup=False):
        """The vector of a word, of its lower case if that is asked for; `unknown`, or zeros, if there is none."""
        found = self._vectors.get(token.lower() if lower_case_backup else token)
        if found is not None:
            return found
        return np.zeros(self.dim, np.float32) if unknown is None else unknown


class GloVe(Vectors):
    """Word vectors in a file named as GloVe names them: glove.6B.*.txt and the like."""

    _header = False

    @staticmethod
    def _suffix(name):
        return name.startswith('glove.') and name.endswith('.txt')


class FastText(Vectors):
    """Word vectors in a file of fastText: *.vec."""

    @staticmethod
    def _suffix(name):
        return name.endswith('.vec')


class CharNGram(Vectors):
    """Vectors of parts of words; a word's is the mean of those of its parts of 2, 3 and 4 bytes, as in MindSpore."""

    def lookup(self, token, unknown=None, lower_case_backup=False):
        """The mean of the vectors of the word's parts."""
        word = (token.lower() if lower_case_backup else token).encode()
        letters = [b'#BEGIN#', *(word[i:i + 1] for i in range(len(word))), b'#END#']
        found = []
        for n in (2, 3, 4):
            for end in range(n, len(letters) + 1):
                # half a letter is in no file: it is read as something that cannot be found
                part = self._vectors.get(f"{n}gram-{b''.join(letters[end - n:end]).decode(errors='surrogateescape')}")
                if part is not None:
                    found.append(part)
        if found:
            return np.mean(found, axis=0, dtype=np.float32)
        return np.zeros(self.dim, np.float32) if unknown is None else unknown


class SentencePieceVocab:
    """A SentencePiece model; needs the package 'sentencepiece'."""

    def __init__(self):
        self.c_sentence_piece_vocab = None

    @classmethod
    def _train(cls, sentences, vocab_size, character_coverage, model_type, params):
        import io
        spm = sentencepiece()
        kinds = {SentencePieceModel.UNIGRAM: 'unigram', SentencePieceModel.BPE: 'bpe', SentencePieceModel.CHAR: 'char',
                 SentencePieceModel.WORD: 'word'}
        model = io.BytesIO()
        spm.SentencePieceTrainer.train(sentence_iterator=iter(sentences), model_writer=model, vocab_size=vocab_size,
                                       character_coverage=character_coverage, minloglevel=2,
                                       model_type=kinds.get(model_type, model_type), **(params or {}))
        made = cls()
        made.c_sentence_piece_vocab = model.getvalue()
        return made

    @classmethod
    def from_dataset(cls, dataset, col_names, vocab_size, character_coverage, model_type, params):
        """A model made from the strings of a dataset's columns."""
        cls._check(vocab_size, character_coverage, model_type, params)
        rows = dataset.create_dict_iterator(num_epochs=1, output_numpy=True)
        texts = (text for row in rows for name in col_names or row for text in row[name].astype(str).ravel().tolist())
        return cls._train(texts, vocab_size, character_coverage, model_type, params)

    @classmethod
    def from_file(cls, file_path, vocab_size, character_coverage, model_type, params):
        """A model made from the lines of text files."""
        check.kind(file_path, list, 'file_path')
        cls._check(vocab_size, character_coverage, model_type, params)
        lines = []
        for path in file_path:
            with open(path, encoding='utf-8') as file:
                lines.extend(line.rstrip('\n') for line in file)
        return cls._train(lines, vocab_size, character_coverage, model_type, params)

    @staticmethod
    def _check(vocab_size, character_coverage, model_type, params):
        if vocab_size is None:
            raise TypeError("vocab_size must be provided.")
        check.integer(vocab_size, 'vocab_size', 0, 4294967295)
        if character_coverage is not None:
            check.kind(character_coverage, float, 'character_coverage')
        if model_type is not None:
            check.kind(model_type, (str, SentencePieceModel), 'model_type')
        if params is not None:
            check.kind(params, dict, 'params')

    @classmethod
    def save_model(cls, vocab, path, filename):
        """The model into a file."""
        check.kind(vocab, SentencePieceVocab, 'vocab')
        check.kind(path, str, 'path')
        check.kind(filename, str, 'filename')
        with open(os.path.join(path, filename), 'wb') as file:
            file.write(vocab.c_sentence_piece_vocab)


def sentencepiece():
    """The package, or an error that says what to do."""
    try:
        import sentencepiece as spm
    except ImportError:
        raise ImportError("SentencePiece needs the package 'sentencepiece'; install it with pip") from None
    return spm


def to_bytes(array, encoding='utf8'):
    """Strings as bytes.

    Args:
        array: numpy array of str.
        encoding: how.
    """
    if not isinstance(array, np.ndarray):
        raise ValueError("input should be a NumPy array.")
    return np.char.encode(array, encoding)


def to_str(array, encoding='utf8'):
    """Bytes as strings.

    Args:
        array: numpy array of bytes.
        encoding: how.
    """
    if not isinstance(array, np.ndarray):
        raise TypeError("input should be a NumPy array.")
    return np.char.decode(array, encoding)

# SPDX-License-Identifier: Apache-2.0
"""Transforms of text. Strings come as str or numpy arrays of them; offsets count bytes of UTF-8."""
import json
import re
import unicodedata

import numpy as np

from spore._printable import printable
from spore import _core
from spore.common import dtype as mstype
from spore.dataset import _check as check
from spore.dataset.text import _unicode
from spore.dataset.text.utils import (JiebaMode, NormalizeForm, SentencePieceVocab, SPieceTokenizerOutType, Vectors, Vocab,
                                      sentencepiece, to_str)
from spore.dataset.transforms.py_transforms_util import Implementation
from spore.dataset.transforms.transforms import TensorOperation, is_text, to_numpy_type

__all__ = ['AddToken', 'BasicTokenizer', 'BertTokenizer', 'CaseFold', 'FilterWikipediaXML', 'JiebaTokenizer', 'Lookup',
           'Ngram', 'NormalizeUTF8', 'PythonTokenizer', 'RegexReplace', 'RegexTokenizer', 'SentencePieceTokenizer',
           'SlidingWindow', 'ToNumber', 'ToVectors', 'Truncate', 'TruncateSequencePair', 'UnicodeCharTokenizer',
           'UnicodeScriptTokenizer', 'WhitespaceTokenizer', 'WordpieceTokenizer']


def _strings(who, column):
    """An array of str, if the column holds text."""
    if not is_text(column):
        raise RuntimeError(f"{who}: input is not string datatype.")
    return to_str(column) if column.dtype.kind == 'S' else column


def _array(words):
    return np.array(words if words else [''], dtype=np.str_)


DE_C_INTER_NORMALIZE_FORM = {form: form for form in NormalizeForm}  # what transforms of the user's own look forms up in


class TextTensorOperation(TensorOperation):
    """A transform of text."""

    random = False

    def __init__(self):
        super().__init__()
        self.implementation = Implementation.C

    def parse(self):
        """Not one of the engine's. A class of the user's own may answer one of the transforms here, which then does the work."""
        raise NotImplementedError(f"{type(self).__name__} runs in Python")

    def _run(self, columns):
        return tuple(out for column in columns for out in self._one(column))

    def _one(self, column):
        """What comes of one column: a tuple of columns."""
        return self.parse()._one(column)


class _Each(TextTensorOperation):
    """A transform of every string of an array."""

    def _change(self, text):
        raise NotImplementedError

    def _one(self, column):
        column = _strings(type(self).__name__, column)
        return (np.array([self._change(text) for text in column.ravel().tolist()], np.str_).reshape(column.shape),)


class _Tokenizer(TextTensorOperation):
    """A string into pieces, with their places if wanted."""

    def __init__(self, with_offsets):
        super().__init__()
        if not isinstance(with_offsets, bool):
            raise TypeError("Wrong input type for with_offsets, should be boolean.")
        self.with_offsets = with_offsets

    def _pieces(self, text):
        """(piece, first, end) with places in characters of text."""
        raise NotImplementedError

    def _one(self, column):
        who = type(self).__name__
        if column.ndim != 0 or column.dtype.kind != 'U':
            raise RuntimeError(f"{who}Op: the input shape should be scalar and the input datatype should be string.")
        text = str(column)
        return self._give(text, [piece for piece in self._pieces(text) if piece[0]])

    def _give(self, text, pieces):
        words = _array([piece[0] for piece in pieces])
        if not self.with_offsets:
            return (words,)
        at = np.cumsum([0] + [len(c.encode('utf-8', 'surrogatepass')) for c in text]) if pieces else np.zeros(1, int)
        first = [at[piece[1]] for piece in pieces] or [0]
        end = [at[piece[2]] for piece in pieces] or [0]
        return words, np.array(first, np.uint32), np.array(end, np.uint32)


def _booleans(**values):
    for name, value in values.items():
        if not isinstance(value, bool):
            raise TypeError(f"Wrong input type for {name}, should be boolean.")


def _text_arguments(**values):
    for name, value in values.items():
        if not isinstance(value, str):
            raise TypeError(f"Wrong input type for {name}, should be string.")


# --- tokenizers -------------------------------------------------------------------------------------------------------

class WhitespaceTokenizer(_Tokenizer):
    """Words between white space.

    Args:
        with_offsets: whether the places of the words are given too.

    Examples:
        >>> from spore.dataset import text
        >>> print(text.WhitespaceTokenizer()("two  words"))
        ['two' 'words']
    """

    def __init__(self, with_offsets=False):
        super().__init__(with_offsets)

    def _pieces(self, text):
        return _split(text, lambda c: 0 if _unicode.is_space(c) else 1, drop=0)


def _split(text, kind, drop=None):
    """Runs of characters of one kind; those of kind `drop` left out."""
    start = 0
    for i in range(1, len(text) + 1):
        if i == len(text) or kind(text[i]) != kind(text[start]):
            if drop is None or kind(text[start]) != drop:
                yield text[start:i], start, i
            start = i


class UnicodeCharTokenizer(_Tokenizer):
    """Characters.

    Args:
        with_offsets: whether the places of the characters are given too.

    Examples:
        >>> from spore.dataset import text
        >>> print(text.UnicodeCharTokenizer()("abc"))
        ['a' 'b' 'c']
    """

    def __init__(self, with_offsets=False):
        super().__init__(with_offsets)

    def _pieces(self, text):
        return ((c, i, i + 1) for i, c in enumerate(text))


class UnicodeScriptTokenizer(_Tokenizer):
    """Runs of one script.

    Args:
        keep_whitespace: whether white space is given as pieces.
        with_offsets: whether the places of the pieces are given too.
    """

    def __init__(self, keep_whitespace=False, with_offsets=False):
        _booleans(keep_whitespace=keep_whitespace)
        super().__init__(with_offsets)
        self.keep_whitespace = keep_whitespace

    def _pieces(self, text):
        kinds, before = [], 'Common'
        for char in text:
            kind = ' ' if _unicode.is_space(char) else _unicode.script(char)
            before = kind = before if kind == 'Inherited' else kind
            kinds.append(kind)
        start = 0
        for i in range(1, len(text) + 1):
            if i == len(text) or kinds[i] != kinds[start]:
                if kinds[start] != ' ' or self.keep_whitespace:
                    yield text[start:i], start, i
                start = i


class RegexTokenizer(_Tokenizer):
    """Pieces between what a regular expression finds.

    Args:
        delim_pattern: the expression.
        keep_delim_pattern: which of what it finds are pieces too; '' for none.
        with_offsets: whether the places of the pieces are given too.
    """

    def __init__(self, delim_pattern, keep_delim_pattern='', with_offsets=False):
        if delim_pattern is None:
            raise ValueError("delim_pattern is not provided.")
        _text_arguments(delim_pattern=delim_pattern, keep_delim_pattern=keep_delim_pattern)
        super().__init__(with_offsets)
        self.delim_pattern, self.keep_delim_pattern = delim_pattern, keep_delim_pattern

    def _pieces(self, text):
        keep = _unicode.compile_pattern(self.keep_delim_pattern) if self.keep_delim_pattern else None
        at = 0
        for found in _unicode.compile_pattern(self.delim_pattern).finditer(text):
            if found.end() == found.start():
                continue
            yield text[at:found.start()], at, found.start()
            if keep is not None and keep.fullmatch(found[0]):
                yield found[0], found.start(), found.end()
            at = found.end()
        yield text[at:], at, len(text)


_SPECIAL = re.compile(r'\[CLS\]|\[SEP\]|\[UNK\]|\[PAD\]|\[MASK\]|\[unused\d+\]')
_CJK = ((0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F), (0x2B740, 0x2B81F),
        (0x2B820, 0x2CEAF), (0xF900, 0xFAFF), (0x2F800, 0x2FA1F))


def _stands_alone(char):
    """Punctuation and ideographs are pieces of their own."""
    code = ord(char)
    if code < 128:
        return char.isprintable() and not char.isalnum() and char != ' '
    return unicodedata.category(char)[0] == 'P' or any(low <= code <= high for low, high in _CJK)


class BasicTokenizer(_Tokenizer):
    """Words, punctuation and ideographs, as BERT wants them.

    Args:
        lower_case: whether letters are made lower case and accents dropped.
        keep_whitespace: whether white space is given as pieces.
        normalization_form: a NormalizeForm; not used with lower_case.
        preserve_unused_token: whether [CLS], [SEP], [UNK], [PAD], [MASK] and [unused1] stay whole.
        with_offsets: whether the places of the pieces are given too.

    Examples:
        >>> from spore.dataset import text
        >>> print(text.BasicTokenizer()("So it is."))
        ['So' 'it' 'is' '.']
    """

    def __init__(self, lower_case=False, keep_whitespace=False, normalization_form=NormalizeForm.NONE,
                 preserve_unused_token=True, with_offsets=False):
        _booleans(lower_case=lower_case, keep_whitespace=keep_whitespace, preserve_unused_token=preserve_unused_token)
        super().__init__(with_offsets)
        if not isinstance(normalization_form, NormalizeForm):
            raise TypeError("Wrong input type for normalization_form, should be enum of 'NormalizeForm'.")
        self.lower_case, self.keep_whitespace = lower_case, keep_whitespace
        self.normalization_form, self.preserve_unused_token = normalization_form, preserve_unused_token

    def _clean(self, text):
        if self.lower_case:
            text = unicodedata.normalize('NFD', _unicode.case_fold(text))
            text = ''.join(c for c in text if unicodedata.category(c) != 'Mn')
        elif self.normalization_form != NormalizeForm.NONE:
            text = unicodedata.normalize(self.normalization_form.name, text)
        text = re.sub(r'[\t\n\r]', ' ', text)
        return ''.join(c for c in text if unicodedata.category(c) not in ('Cc', 'Cf'))

    def _parts(self, text):
        """Parts of the text, and whether each is to stay whole."""
        at = 0
        if self.preserve_unused_token:
            for found in _SPECIAL.finditer(text):
                yield text[at:found.start()], False
                yield found[0], True
                at = found.end()
        yield text[at:], False

    def _one(self, column):
        if column.ndim != 0 or column.dtype.kind != 'U':
            raise RuntimeError(f"BasicTokenizer: the input should be a scalar, but got a tensor with rank: {column.ndim}" if column.ndim else
                               f"{type(self).__name__}: the input should be scalar with string datatype.")
        cleaned, pieces = '', []
        for part, whole in self._parts(str(column)):
            start = len(cleaned)
            part = part if whole else self._clean(part)
            cleaned += part
            found = [(part, 0, len(part))] if whole else self._cut(part)
            pieces.extend((word, start + a, start + b) for word, a, b in found if word)
        return self._finish(cleaned, pieces)

    def _cut(self, text):
        start = 0
        for i in range(1, len(text) + 1):
            alone = _stands_alone(text[start])
            if i < len(text) and not alone and not _stands_alone(text[i]) \
                    and _unicode.is_space(text[i]) == _unicode.is_space(text[start]):
                continue
            if self.keep_whitespace or not _unicode.is_space(text[start]):
                yield text[start:i], start, i
            start = i

    def _finish(self, text, pieces):
        return self._give(text, pieces)


def _wordpieces(word, vocab, suffix_indicator, max_bytes, unknown_token):
    """(piece, first, end) of the longest parts that are in the vocabulary; the unknown token if there is none."""
    whole = [(unknown_token or word, 0, len(word))]
    if len(word.encode('utf-8', 'surrogatepass')) > max_bytes:
        return whole
    pieces, start = [], 0
    while start < len(word):
        for end in range(len(word), start, -1):
            piece = (suffix_indicator if start else '') + word[start:end]
            if piece in vocab:
                pieces.append((piece, start, end))
                start = end
                break
        else:
            return whole
    return pieces


def _check_wordpiece(vocab, suffix_indicator, max_bytes_per_token, unknown_token):
    if vocab is None:
        raise ValueError("vocab is not provided.")
    if not isinstance(vocab, Vocab):
        raise TypeError("Wrong input type for vocab, should be text.Vocab object.")
    _text_arguments(suffix_indicator=suffix_indicator, unknown_token=unknown_token)
    check.kind(max_bytes_per_token, int, 'max_bytes_per_token')
    check.inside(max_bytes_per_token, 0, 4294967295, 'max_bytes_per_token')


class WordpieceTokenizer(_Tokenizer):
    """Words into the longest parts that a vocabulary has.

    Args:
        vocab: a Vocab.
        suffix_indicator: what parts after the first begin with.
        max_bytes_per_token: longer words are unknown.
        unknown_token: what stands for an unknown word; '' for the word itself.
        with_offsets: whether the places of the parts in their words are given too.

    Examples:
        >>> from spore.dataset import text
        >>> vocab = text.Vocab.from_list(["book", "##s"])
        >>> print(text.WordpieceTokenizer(vocab)(["books"]))
        ['book' '##s']
    """

    def __init__(self, vocab, suffix_indicator='##', max_bytes_per_token=100, unknown_token='[UNK]', with_offsets=False):
        _check_wordpiece(vocab, suffix_indicator, max_bytes_per_token, unknown_token)
        super().__init__(with_offsets)
        self.vocab, self.suffix_indicator = vocab, suffix_indicator
        self.max_bytes_per_token, self.unknown_token = max_bytes_per_token, unknown_token

    def _one(self, column):
        column = _strings('WordpieceTokenizer', column)
        if column.ndim > 1:
            raise RuntimeError("WordpieceTokenizer: The input shape should be 1D scalar the input datatype should be "
                               "string.")
        words, first, end = [], [], []
        for word in column.ravel().tolist():
            if not word:
                continue
            at = np.cumsum([0] + [len(c.encode('utf-8', 'surrogatepass')) for c in word])
            for piece, a, b in _wordpieces(word, self.vocab._built(), self.suffix_indicator, self.max_bytes_per_token,
                                           self.unknown_token):
                words.append(piece)
                first.append(at[a])
                end.append(at[b])
        if not self.with_offsets:
            return (_array(words),)
        return _array(words), np.array(first or [0], np.uint32), np.array(end or [0], np.uint32)


class BertTokenizer(BasicTokenizer):
    """BasicTokenizer, then WordpieceTokenizer.

    Args:
        vocab, suffix_indicator, max_bytes_per_token, unknown_token: as for WordpieceTokenizer.
        lower_case, keep_whitespace, normalization_form, preserve_unused_token, with_offsets: as for BasicTokenizer.

    Examples:
        >>> from spore.dataset import text
        >>> vocab = text.Vocab.from_list(["my", "book", "##s"])
        >>> print(text.BertTokenizer(vocab)("my books"))
        ['my' 'book' '##s']
    """

    def __init__(self, vocab, suffix_indicator='##', max_bytes_per_token=100, unknown_token='[UNK]', lower_case=False,
                 keep_whitespace=False, normalization_form=NormalizeForm.NONE, preserve_unused_token=True,
                 with_offsets=False):
        _check_wordpiece(vocab, suffix_indicator, max_bytes_per_token, unknown_token)
        super().__init__(lower_case, keep_whitespace, normalization_form, preserve_unused_token, with_offsets)
        self.vocab, self.suffix_indicator = vocab, suffix_indicator
        self.max_bytes_per_token, self.unknown_token = max_bytes_per_token, unknown_token

    def _finish(self, text, pieces):
        parts = [(part, start + a, start + b) for word, start, _ in pieces
                 for part, a, b in _wordpieces(word, self.vocab._built(), self.suffix_indicator,
                                               self.max_bytes_per_token, self.unknown_token)]
        return self._give(text, parts)


class PythonTokenizer:
    """Pieces that a function makes.

    Args:
        tokenizer: function from str to a list of str.

    Examples:
        >>> import numpy as np
        >>> from spore.dataset import text
        >>> print(text.PythonTokenizer(str.split)(np.array("a b")))
        ['a' 'b']
    """

    random = False

    def __init__(self, tokenizer):
        if not callable(tokenizer):
            raise TypeError("tokenizer is not a callable Python function.")
        self.pyfunc = tokenizer
        self.implementation = Implementation.PY

    def to_json(self):
        """The name of the function and of this module, as JSON."""
        return json.dumps({"tensor_op_name": self.pyfunc.__name__, "python_module": type(self).__module__})

    def __call__(self, in_array):
        if not isinstance(in_array, np.ndarray):
            raise TypeError(f"input should be a NumPy array. Got {type(in_array)}.")
        if in_array.dtype.kind == 'S':
            in_array = to_str(in_array)
        make = np.vectorize(lambda text: np.array(self.pyfunc(text), dtype='U'), signature='()->(n)')
        try:
            return make(in_array)
        except Exception as error:
            name = getattr(self.pyfunc, '__name__', type(self.pyfunc).__name__)
            raise RuntimeError(f"Error occurred in Pyfunc [{name}], error message: {error}") from error


class SentencePieceTokenizer(TextTensorOperation):
    """Pieces by a SentencePiece model; needs the package 'sentencepiece'.

    Args:
        mode: a SentencePieceVocab, or the name of a model's file.
        out_type: a SPieceTokenizerOutType.
    """

    def __init__(self, mode, out_type):
        super().__init__()
        check.kind(mode, (str, SentencePieceVocab), 'mode')
        check.kind(out_type, SPieceTokenizerOutType, 'out_type')
        self.mode, self.out_type = mode, out_type
        self._processor = None

    def _one(self, column):
        if column.ndim != 0 or column.dtype.kind != 'U':
            raise RuntimeError("SentencePieceTokenizer: the input shape should be scalar and the input datatype should "
                               "be string.")
        if self._processor is None:
            spm = sentencepiece()
            model = {'model_file': self.mode} if isinstance(self.mode, str) else \
                {'model_proto': self.mode.c_sentence_piece_vocab}
            self._processor = spm.SentencePieceProcessor(**model)
        kind = int if self.out_type == SPieceTokenizerOutType.INT else str
        made = self._processor.encode(str(column), out_type=kind)
        return (np.array(made, np.int32 if kind is int else np.str_),)

    def __getstate__(self):
        return {**super().__getstate__(), '_processor': None}


class JiebaTokenizer(_Tokenizer):
    """Chinese words by jieba; needs the package 'jieba' and the dictionary given.

    Args:
        hmm_path: file of the model (the package's own is used).
        mp_path: file of the dictionary: word, frequency and tag on each line.
        mode: a JiebaMode.
        with_offsets: whether the places of the words are given too.
    """

    def __init__(self, hmm_path, mp_path, mode=JiebaMode.MIX, with_offsets=False):
        import os
        for name, path, kind in (('hmm_path', hmm_path, 'HMMSegment'), ('mp_path', mp_path, 'MPSegment')):
            if path is None:
                raise ValueError(f"The dict of {kind} in cppjieba is not provided.")
            _text_arguments(**{name: path})
        super().__init__(with_offsets)
        if not isinstance(mode, JiebaMode):
            raise TypeError("Wrong input type for mode, should be JiebaMode.")
        for path in (hmm_path, mp_path):
            if not os.path.exists(path):
                raise ValueError(f" jieba mode file {path} is not exist.")
        self.hmm_path, self.mp_path, self.mode, self.words = hmm_path, mp_path, mode, []
        self._jieba = None

    def add_word(self, word, freq=None):
        """A word for the dictionary.

        Args:
            word: the word.
            freq: how frequent it is.
        """
        if word is None:
            raise ValueError("word is not provided.")
        if freq is not None:
            check.integer(freq, 'freq', 0, 4294967295)
        self.words.append((word, freq or 0))
        self._jieba = None

    def add_dict(self, user_dict):
        """Words for the dictionary.

        Args:
            user_dict: frequencies by word, or the name of a file with a word and perhaps a frequency on each line.
        """
        if isinstance(user_dict, dict):
            for word, freq in user_dict.items():
                self.add_word(word, freq)
        elif isinstance(user_dict, str):
            try:
                with open(user_dict, encoding='utf-8-sig') as file:
                    lines = [line.split() for line in file if line.strip()]
            except FileNotFoundError:
                raise ValueError(f"user dict file {user_dict} is not exist.") from None
            for fields in lines:
                self.add_word(fields[0], int(fields[1]) if len(fields) > 1 and fields[1].isdigit() else None)
        else:
            raise TypeError("The type of user_dict must str or dict.")

    def _pieces(self, text):
        if self._jieba is None:
            try:
                import jieba
            except ImportError:
                raise ImportError("JiebaTokenizer needs the package 'jieba'; install it with pip") from None
            self._jieba = jieba.Tokenizer(self.mp_path)
            for word, freq in self.words:
                self._jieba.add_word(word, freq or None)
        at = 0
        for word in self._jieba.cut(text, HMM=self.mode != JiebaMode.MP):
            yield word, at, at + len(word)
            at += len(word)

    def __getstate__(self):
        return {**super().__getstate__(), '_jieba': None}


# --- strings ----------------------------------------------------------------------------------------------------------

class CaseFold(_Each):
    """Lower case, by Unicode's rules for comparing.

    Examples:
        >>> from spore.dataset import text
        >>> print(text.CaseFold()("Hello"))
        hello
    """

    def _change(self, text):
        return _unicode.case_fold(text)


class NormalizeUTF8(_Each):
    """A normal form of Unicode.

    Args:
        normalize_form: a NormalizeForm.
    """

    def __init__(self, normalize_form=NormalizeForm.NFKC):
        super().__init__()
        if not isinstance(normalize_form, NormalizeForm):
            raise TypeError("Wrong input type for normalization_form, should be enum of 'NormalizeForm'.")
        self.normalize_form = normalize_form

    def _change(self, text):
        return text if self.normalize_form == NormalizeForm.NONE else unicodedata.normalize(self.normalize_form.name, text)


class RegexReplace(_Each):
    """What a regular expression finds, replaced.

    Args:
        pattern: the expression.
        replace: what is put there; $1 stands for the first group.
        replace_all: whether all that is found is replaced, or the first.

    Examples:
        >>> from spore.dataset import text
        >>> print(text.RegexReplace("[0-9]+", "#")("a1b22"))
        a#b#
    """

    def __init__(self, pattern, replace, replace_all=True):
        super().__init__()
        check.kind(pattern, str, 'pattern')
        check.kind(replace, str, 'replace')
        check.flag(replace_all, 'replace_all')
        self.pattern, self.replace, self.replace_all = pattern, replace, replace_all

    def _change(self, text):
        written = re.sub(r'\\(?!\$)', r'\\\\', self.replace)
        written = re.sub(r'(?<!\\)\$(\d)', r'\\g<\1>', written).replace('\\$', '$')
        return _unicode.compile_pattern(self.pattern).sub(written, text, count=0 if self.replace_all else 1)


class FilterWikipediaXML(_Each):
    """The plain text of a Wikipedia dump: markup dropped, lower case, digits as words."""

    # in this order; what is no letter by then becomes a blank
    _STEPS = [(re.compile(pattern), by) for pattern, by in (
        ('&[^;]*;', ' '), ('0', ' zero '), ('1', ' one '), ('2', ' two '), ('3', ' three '), ('4', ' four '),
        ('5', ' five '), ('6', ' six '), ('7', ' seven '), ('8', ' eight '), ('9', ' nine '), ('<.*>', ''),
        ('<[^>]*>', ''))]

    def _change(self, text):
        if '#redirect' in text or '#REDIRECT' in text:
            return ''
        for pattern, by in self._STEPS:
            text = pattern.sub(by, text).strip()
        return ' '.join(re.sub('[^a-z\n]+', ' ', text.lower()).split())


# --- sequences --------------------------------------------------------------------------------------------------------

class AddToken(TextTensorOperation):
    """A word before or behind a sequence, or each of several.

    Args:
        token: the word.
        begin: whether it comes first.
    """

    def __init__(self, token, begin=True):
        super().__init__()
        check.kind(token, str, 'token')
        check.flag(begin, 'begin')
        self.token, self.begin = token, begin

    def _one(self, column):
        column = _strings('AddToken', column)
        if column.ndim not in (1, 2):
            raise RuntimeError(f"AddToken: input tensor rank should be 1 or 2, but got: {column.ndim}")
        more = np.full((*column.shape[:-1], 1), self.token)
        return (np.concatenate((more, column) if self.begin else (column, more), axis=-1),)


class Lookup(TextTensorOperation):
    """Words as their numbers.

    Args:
        vocab: a Vocab.
        unknown_token: the word whose number stands for words that are not there; they are an error if None.
        data_type: of the numbers.

    Examples:
        >>> from spore.dataset import text
        >>> vocab = text.Vocab.from_list(["red", "blue"])
        >>> print(text.Lookup(vocab)(["blue", "red"]))
        [1 0]
    """

    def __init__(self, vocab, unknown_token=None, data_type=mstype.int32):
        super().__init__()
        if unknown_token is not None:
            check.kind(unknown_token, str, 'unknown_token')
        if not isinstance(vocab, Vocab):
            raise TypeError(f"Argument vocab is not an instance of text.Vocab. with value {vocab} is not of type {[Vocab]}, but got "
                            f"{type(vocab)}.")
        if vocab.c_vocab is None:
            raise TypeError("vocab is empty: make it with one of Vocab's class methods")
        check.kind(data_type, _core.DType, 'data_type')
        self.vocab, self.unknown_token, self.data_type = vocab, unknown_token, data_type

    def _one(self, column):
        column = _strings('Lookup', column)
        ids, default = self.vocab._built(), None
        if self.unknown_token is not None:
            default = ids.get(self.unknown_token)
            if default is None:
                raise RuntimeError(f"Lookup: unknown_token: [{printable(self.unknown_token)}], does not exist in vocab.")
        numbers = []
        for word in column.ravel().tolist():
            number = ids.get(word, default)
            if number is None:
                raise RuntimeError(f'Lookup: invalid data, token: "{printable(word)}" doesn\'t exist in vocab and no unknown token '
                                   "is specified.")
            numbers.append(number)
        return (np.array(numbers, to_numpy_type(self.data_type)).reshape(column.shape),)


class Ngram(TextTensorOperation):
    """Neighbouring words put together.

    Args:
        n: how many, or a list of numbers.
        left_pad, right_pad: (word, how many) put before and behind.
        separator: what is put between words.

    Examples:
        >>> from spore.dataset import text
        >>> print(text.Ngram(2)(["a", "b", "c"]))
        ['a b' 'b c']
    """

    def __init__(self, n, left_pad=('', 0), right_pad=('', 0), separator=' '):
        super().__init__()
        n = [n] if isinstance(n, int) and not isinstance(n, bool) else n
        if not isinstance(n, list) or not n:
            raise ValueError("n needs to be a non-empty list of positive integers.")
        for i, gram in enumerate(n):
            check.kind(gram, int, f"gram[{i}]")
            check.positive(gram, f"gram_{i}")
        for name, pad in (('left_pad', left_pad), ('right_pad', right_pad)):
            if not (isinstance(pad, tuple) and len(pad) == 2 and isinstance(pad[0], str) and isinstance(pad[1], int)):
                raise ValueError(f"{name} needs to be a tuple of (str, int) str is pad token and int is pad_width.")
            if pad[1] < 0:
                raise ValueError("padding width need to be positive numbers.")
        check.kind(separator, str, 'separator')
        self.ngrams, self.left_pad, self.right_pad, self.separator = n, left_pad, right_pad, separator

    def _one(self, column):
        column = _strings('Ngram', column)
        if column.ndim != 1:
            raise RuntimeError("Ngram: input is not a 1D data with string datatype.")
        words, made = column.tolist(), []
        for n in self.ngrams:
            left, right = min(self.left_pad[1], n - 1), min(self.right_pad[1], n - 1)
            row = [self.left_pad[0]] * left + words + [self.right_pad[0]] * right
            if len(row) < n:
                made.append('')  # too short for one
            made.extend(self.separator.join(row[i:i + n]) for i in range(len(row) - n + 1))
        return (_array(made),)


class SlidingWindow(TextTensorOperation):
    """Every run of neighbours as a row.

    Args:
        width: length of a run.
        axis: 0, for sequences.

    Examples:
        >>> import numpy as np
        >>> from spore.dataset import text
        >>> print(text.SlidingWindow(2)(np.array([1, 2, 3])))
        [[1 2]
         [2 3]]
    """

    def __init__(self, width, axis=0):
        super().__init__()
        check.integer(width, 'width', 1)
        check.kind(axis, int, 'axis')
        self.width, self.axis = width, axis

    def _one(self, column):
        if column.ndim != 1:
            raise RuntimeError(f"SlidingWindow: SlidingWindow supports 1D input only for now, but got {column.ndim}D.")
        if self.axis not in (0, -1):
            raise RuntimeError(f"SlidingWindow: axis supports 0 or -1 only for now, but got {self.axis}.")
        n = len(column) - self.width + 1
        return (column[:0].copy() if n < 1 else column[np.arange(n)[:, None] + np.arange(self.width)],)


class ToNumber(TextTensorOperation):
    """Strings as the numbers they say.

    Args:
        data_type: of the numbers.

    Examples:
        >>> import spore as ms
        >>> from spore.dataset import text
        >>> print(text.ToNumber(ms.int32)(["1", "23"]))
        [ 1 23]
    """

    def __init__(self, data_type):
        super().__init__()
        check.kind(data_type, _core.DType, 'data_type')
        if to_numpy_type(data_type).kind not in 'iuf':
            raise TypeError(f"data_type: {data_type} is not numeric data type.")
        self.data_type = to_numpy_type(data_type).name

    def _one(self, column):
        column = _strings('ToNumber', column)
        dtype = np.dtype(self.data_type)
        return (np.array([self._number(text, dtype) for text in column.ravel().tolist()], dtype).reshape(column.shape),)

    @staticmethod
    def _number(text, dtype):
        # as the C library reads: as far as it is a number
        pattern = r'\s*[-+]?(\d+\.?\d*([eE][-+]?\d+)?|\.\d+([eE][-+]?\d+)?|inf(inity)?|nan)' if dtype.kind == 'f' \
            else r'\s*[-+]?\d+'
        found = re.match(pattern, text, re.I)
        if found is None:
            raise RuntimeError(f'ToNumber: it is invalid to convert "{printable(text)}" to a number of {dtype}.')
        value = float(found[0]) if dtype.kind == 'f' else int(found[0])
        limits = np.finfo(dtype) if dtype.kind == 'f' else np.iinfo(dtype)
        if dtype.kind != 'f' and not limits.min <= value <= limits.max or \
                dtype.kind == 'f' and np.isfinite(value) and abs(value) > float(limits.max):
            raise RuntimeError(f"ToNumber: string input {text} will be out of bounds if cast to {dtype}. The valid range "
                               f"is: [{limits.min}, {limits.max}].")
        return value


class ToVectors(TextTensorOperation):
    """Words as their vectors.

    Args:
        vectors: Vectors, GloVe, FastText or CharNGram.
        unk_init: numbers that stand for unknown words; zeros if None.
        lower_case_backup: whether words are looked for in lower case.
    """

    def __init__(self, vectors, unk_init=None, lower_case_backup=False):
        super().__init__()
        check.kind(vectors, Vectors, 'vectors')
        if unk_init is not None:
            check.kind(unk_init, (list, tuple), 'unk_init')
            check.kinds(unk_init, (int, float), 'unk_init')
        check.flag(lower_case_backup, 'lower_case_backup')
        self.vectors, self.unk_init, self.lower_case_backup = vectors, unk_init or [], lower_case_backup

    def _one(self, column):
        column = _strings('ToVectors', column)
        if self.unk_init and len(self.unk_init) != self.vectors.dim:
            raise RuntimeError("ToVectors: unk_init must be the same length as vectors, but got unk_init: "
                               f"{len(self.unk_init)} and vectors: {self.vectors.dim}")
        unknown = np.array(self.unk_init, np.float32) if self.unk_init else None
        rows = [self.vectors.lookup(word, unknown, self.lower_case_backup) for word in column.ravel().tolist()]
        return (rows[0].copy() if len(rows) == 1 else np.stack(rows),)


class Truncate(TextTensorOperation):
    """The beginning of a sequence, or of each of several.

    Args:
        max_seq_len: its length.
    """

    def __init__(self, max_seq_len):
        super().__init__()
        check.integer(max_seq_len, 'max_seq_len', 1)
        self.max_seq_len = max_seq_len

    def _one(self, column):
        if column.ndim not in (1, 2):
            raise RuntimeError(f"Truncate: the input tensor should be of dimension 1 or 2, but got {column.ndim}")
        return (column[..., :self.max_seq_len].copy(),)


class TruncateSequencePair(TextTensorOperation):
    """Two sequences shortened to a length together, the longer one first.

    Args:
        max_length: their length together.

    Examples:
        >>> import numpy as np
        >>> from spore.dataset import text
        >>> print(*text.TruncateSequencePair(3)(np.array([1, 2, 3]), np.array([4])))
        [1 2] [4]
    """

    def __init__(self, max_length):
        super().__init__()
        if not isinstance(max_length, int) or max_length >= 2 ** 63:
            raise TypeError(f"__init__(): incompatible constructor arguments: max_length is a whole number, but got {max_length!r}.")
        if max_length < 0:
            raise RuntimeError(f"TruncateSequencePair : The parameter max_length must be greater than or equal to 0, but got: {max_length}")
        self.max_length = max_length

    def _run(self, columns):
        if len(columns) != 2:
            raise RuntimeError(f"TruncateSequencePair: Expected two inputs, but got: {len(columns)}")
        if any(column.ndim != 1 for column in columns):
            raise RuntimeError("TruncateSequencePair: both input data should be 1D")
        a, b = (len(column) for column in columns)
        while a + b > self.max_length and a + b > 0:
            if a > b:
                a -= 1
            else:
                b -= 1
        return columns[0][:a].copy(), columns[1][:b].copy()

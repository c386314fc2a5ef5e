# SPDX-License-Identifier: Apache-2.0
# Written by scripts/make-stubs.
"""Transforms of text, vocabularies and word vectors."""
from collections.abc import Sequence
from types import ModuleType
from typing import Any

from spore._core import DType as _DType, Tensor as Tensor, TensorLike
from spore.nn.cell import Cell
from spore.ops.primitive import Primitive
from spore.dataset.text.transforms import CaseFold as CaseFold
from spore.dataset.text.transforms import FilterWikipediaXML as FilterWikipediaXML
from spore.dataset.text.transforms import PythonTokenizer as PythonTokenizer
from spore.dataset.text.transforms import SentencePieceTokenizer as SentencePieceTokenizer
from spore.dataset.text.transforms import ToNumber as ToNumber
from spore.dataset.text.transforms import Truncate as Truncate
from spore.dataset.text.transforms import TruncateSequencePair as TruncateSequencePair
from spore.dataset.text.transforms import AddToken as _AddToken
from spore.dataset.text.transforms import BasicTokenizer as _BasicTokenizer
from spore.dataset.text.transforms import BertTokenizer as _BertTokenizer
from spore.dataset.text.transforms import JiebaTokenizer as _JiebaTokenizer
from spore.dataset.text.transforms import Lookup as _Lookup
from spore.dataset.text.transforms import Ngram as _Ngram
from spore.dataset.text.transforms import NormalizeUTF8 as _NormalizeUTF8
from spore.dataset.text.transforms import RegexReplace as _RegexReplace
from spore.dataset.text.transforms import RegexTokenizer as _RegexTokenizer
from spore.dataset.text.transforms import SlidingWindow as _SlidingWindow
from spore.dataset.text.transforms import ToVectors as _ToVectors
from spore.dataset.text.transforms import UnicodeCharTokenizer as _UnicodeCharTokenizer
from spore.dataset.text.transforms import UnicodeScriptTokenizer as _UnicodeScriptTokenizer
from spore.dataset.text.transforms import WhitespaceTokenizer as _WhitespaceTokenizer
from spore.dataset.text.transforms import WordpieceTokenizer as _WordpieceTokenizer
from spore.dataset.text.utils import CharNGram as CharNGram
from spore.dataset.text.utils import FastText as FastText
from spore.dataset.text.utils import GloVe as GloVe
from spore.dataset.text.utils import JiebaMode as JiebaMode
from spore.dataset.text.utils import NormalizeForm as NormalizeForm
from spore.dataset.text.utils import SPieceTokenizerLoadType as SPieceTokenizerLoadType
from spore.dataset.text.utils import SPieceTokenizerOutType as SPieceTokenizerOutType
from spore.dataset.text.utils import SentencePieceModel as SentencePieceModel
from spore.dataset.text.utils import SentencePieceVocab as SentencePieceVocab
from spore.dataset.text.utils import Vectors as Vectors
from spore.dataset.text.utils import Vocab as Vocab

__all__: list[str]

class AddToken(_AddToken):
    """A word before or behind a sequence, or each of several."""
    def __init__(self, token, begin: Any = True) -> None: ...
class BasicTokenizer(_BasicTokenizer):
    """Words, punctuation and ideographs, as BERT wants them."""
    def __init__(self, lower_case: Any = False, keep_whitespace: Any = False, normalization_form: Any = ..., preserve_unused_token: Any = True, with_offsets: Any = False) -> None: ...
class BertTokenizer(_BertTokenizer):
    """BasicTokenizer, then WordpieceTokenizer."""
    def __init__(self, vocab, suffix_indicator: Any = '##', max_bytes_per_token: Any = 100, unknown_token: Any = '[UNK]', lower_case: Any = False, keep_whitespace: Any = False, normalization_form: Any = ..., preserve_unused_token: Any = True, with_offsets: Any = False) -> None: ...
class JiebaTokenizer(_JiebaTokenizer):
    """Chinese words by jieba; needs the package 'jieba' and the dictionary given."""
    def __init__(self, hmm_path, mp_path, mode: Any = ..., with_offsets: Any = False) -> None: ...
class Lookup(_Lookup):
    """Words as their numbers."""
    def __init__(self, vocab, unknown_token=None, data_type: Any = ...) -> None: ...
class Ngram(_Ngram):
    """Neighbouring words put together."""
    def __init__(self, n, left_pad: Any = ('', 0), right_pad: Any = ('', 0), separator: Any = ' ') -> None: ...
class NormalizeUTF8(_NormalizeUTF8):
    """A normal form of Unicode."""
    def __init__(self, normalize_form: Any = ...) -> None: ...
class RegexReplace(_RegexReplace):
    """What a regular expression finds, replaced."""
    def __init__(self, pattern, replace, replace_all: Any = True) -> None: ...
class RegexTokenizer(_RegexTokenizer):
    """Pieces between what a regular expression finds."""
    def __init__(self, delim_pattern, keep_delim_pattern: Any = '', with_offsets: Any = False) -> None: ...
class SlidingWindow(_SlidingWindow):
    """Every run of neighbours as a row."""
    def __init__(self, width, axis: Any = 0) -> None: ...
class ToVectors(_ToVectors):
    """Words as their vectors."""
    def __init__(self, vectors, unk_init=None, lower_case_backup: Any = False) -> None: ...
class UnicodeCharTokenizer(_UnicodeCharTokenizer):
    """Characters."""
    def __init__(self, with_offsets: Any = False) -> None: ...
class UnicodeScriptTokenizer(_UnicodeScriptTokenizer):
    """Runs of one script."""
    def __init__(self, keep_whitespace: Any = False, with_offsets: Any = False) -> None: ...
class WhitespaceTokenizer(_WhitespaceTokenizer):
    """Words between white space."""
    def __init__(self, with_offsets: Any = False) -> None: ...
class WordpieceTokenizer(_WordpieceTokenizer):
    """Words into the longest parts that a vocabulary has."""
    def __init__(self, vocab, suffix_indicator: Any = '##', max_bytes_per_token: Any = 100, unknown_token: Any = '[UNK]', with_offsets: Any = False) -> None: ...
def to_bytes(array, encoding: Any = 'utf8'):
    """Strings as bytes."""
def to_str(array, encoding: Any = 'utf8'):
    """Bytes as strings."""

# SPDX-License-Identifier: Apache-2.0
"""Names that programs take from the compiled part of MindSpore's data pipelines: transforms of their own answer one of these
from `parse`."""
from spore.common import dtype as mstype
from spore.dataset.text.transforms import BasicTokenizer, Lookup
from spore.dataset.text.utils import NormalizeForm, Vocab

__all__ = ['Vocab', 'NormalizeForm', 'LookupOperation', 'BasicTokenizerOperation']


def LookupOperation(vocab, unknown_token, data_type):
    """A Lookup; the vocabulary may also be what Vocab.c_vocab answers, the dtype is a name as 'int32'."""
    if isinstance(vocab, dict):
        vocab = Vocab.from_dict(vocab)
    return Lookup(vocab, unknown_token, getattr(mstype, str(data_type)))


def BasicTokenizerOperation(lower_case, keep_whitespace, normalization_form, preserve_unused_token, with_offsets):
    """A BasicTokenizer."""
    return BasicTokenizer(lower_case, keep_whitespace, normalization_form, preserve_unused_token, with_offsets)

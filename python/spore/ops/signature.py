# SPDX-License-Identifier: Apache-2.0
"""Signatures of primitives: ``__mindspore_signature__ = (sig.make_sig('x', sig.sig_rw.RW_WRITE), ...)`` names the inputs of a primitive,
says which are written, and which of them have one dtype. Primitives that are made of Python functions take them as a note."""
from collections import namedtuple
from enum import IntEnum

__all__ = []  # read as names of this module, not of spore.ops

sig_rw = IntEnum("signature_rw", "RW_READ RW_WRITE RW_REF RW_EMPTY_DEFAULT_VALUE", start=0)
sig_kind = IntEnum("signature_kind", "KIND_POSITIONAL_KEYWORD KIND_VAR_POSITIONAL KIND_KEYWORD_ONLY KIND_VAR_KEYWARD "
                                     "KIND_EMPTY_DEFAULT_VALUE", start=0)
sig_dtype = IntEnum("signature_dtype", "T T1 T2 T3 T4 T5 T6 T7 T8 T9 T_EMPTY_DEFAULT_VALUE", start=0)
Signature = namedtuple("Signature", "name rw kind default dtype")


def make_sig(name="var", rw=sig_rw.RW_READ, kind=sig_kind.KIND_POSITIONAL_KEYWORD, default=sig_kind.KIND_EMPTY_DEFAULT_VALUE,
             dtype=sig_dtype.T_EMPTY_DEFAULT_VALUE):
    """The signature of one input."""
    return Signature(name, rw, kind, default, dtype)

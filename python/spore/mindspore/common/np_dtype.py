# SPDX-License-Identifier: Apache-2.0
"""bfloat16 as a numpy dtype: numpy has none, so arrays of it are those of the package ml_dtypes, where it is installed."""

__all__ = ['bfloat16', 'np_dtype_valid']


def _bfloat16():
    try:
        import ml_dtypes
    except ImportError:
        return None
    return ml_dtypes.bfloat16


bfloat16 = _bfloat16()


def np_dtype_valid(enable_bf16=False):
    """Can numpy hold bfloat16 here?"""
    return bfloat16 is not None

# SPDX-License-Identifier: Apache-2.0
"""Types of elements and constants under numpy's names."""
from spore.common import dtype as mstype
from spore.common.dtype import (bool_, float16, float32, float64, int8, int16, int32, int64, uint8, uint16, uint32,
                                uint64)
from spore.numpy._convert import dtype_of

inf = PINF = float('inf')
NINF = -inf
nan = float('nan')
pi = 3.141592653589793
int_, uint, float_ = int32, uint32, float32
numeric_types = ['int_', 'int8', 'int16', 'int32', 'int64', 'uint8', 'uint16', 'uint32', 'uint64', 'float_', 'float16',
                 'float32', 'float64', 'bool_']

__all__ = ['bool_', 'float16', 'float32', 'float64', 'float_', 'inf', 'int16', 'int32', 'int64', 'int8', 'int_', 'nan',
           'NINF', 'numeric_types', 'pi', 'PINF', 'promote_types', 'uint', 'uint16', 'uint32', 'uint64', 'uint8']


def promote_types(type1, type2):
    """The smallest type that both can be converted to; two types of different width give the wider one's kind."""
    from spore import ops
    first, second = dtype_of(type1), dtype_of(type2)
    if mstype.bool_ in (first, second):
        return second if first == mstype.bool_ else first
    return (ops.zeros((1,), first) + ops.zeros((1,), second)).dtype

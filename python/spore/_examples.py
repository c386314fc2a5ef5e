# SPDX-License-Identifier: Apache-2.0
"""Examples for docstrings, written by scripts/make-examples."""

EXAMPLES = {
    'Tensor': {
        'add_': """

    Examples:
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> y = Tensor([1.2, 1.2, 0.1])
        >>> print(x.add_(y))
        [[ 2.4         2.4         0.2       ]
         [ 0.30000007 -0.5999999  -0.4       ]]
    """,
        'addmm_': """

    Examples:
        >>> from spore import Tensor
        >>> print(Tensor([[1.0]]).addmm_(Tensor([[2.0]]), Tensor([[3.0]])))
        [[7.]]
    """,
        'allclose': """

    Examples:
        >>> from spore import Tensor
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(v.allclose(v))
        True
    """,
        'argmax_with_value': """

    Examples:
        >>> from spore import Tensor
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> print(x.argmax_with_value(1)[0])
        [3. 6.]
    """,
        'argmin_with_value': """

    Examples:
        >>> from spore import Tensor
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> print(x.argmin_with_value(1)[0])
        [1. 4.]
    """,
        'argsort': """

    Examples:
        >>> from spore import Tensor
        >>> w = Tensor([3.0, 1.0, 2.0])
        >>> print(w.argsort())
        [1 2 0]
    """,
        'assign_value': """

    Examples:
        >>> from spore import Tensor
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> w = Tensor([3.0, 1.0, 2.0])
        >>> _ = v.assign_value(w)
        >>> print(v)
        [3. 1. 2.]
    """,
        'astype': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([7, 7, 4])
        >>> print(x.astype(ms.int8))
        [7 7 4]
    """,
        'bernoulli': """

    Examples:
        >>> from spore import Tensor
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> print(x.bernoulli().shape)
        (2, 3)
    """,
        'bernoulli_': """

    Examples:
        >>> from spore import Tensor
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(v.bernoulli_(1.0))
        [1. 1. 1.]
    """,
        'bfloat16': """

    Examples:
        >>> from spore import Tensor
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(v.bfloat16().dtype)
        BFloat16
    """,
        'bool': """

    Examples:
        >>> from spore import Tensor
        >>> x = Tensor([1.2, 1.2, 0.1])
        >>> print(x.bool())
        [ True  True  True]
    """,
        'byte': """

    Examples:
        >>> from spore import Tensor
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(v.byte().dtype)
        UInt8
    """,
        'cauchy': """

    Examples:
        >>> from spore import Tensor
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> print(x.cauchy().shape)
        (2, 3)
    """,
        'choose': """

    Examples:
        >>> from spore import Tensor
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> w = Tensor([3.0, 1.0, 2.0])
        >>> print(Tensor([1, 0, 1]).choose([v, w]))
        [3. 2. 2.]
    """,
        'chunk': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([3, 3, 0, -2, -5, -1], ms.int32)
        >>> print(*x.chunk(4, 0), sep="\\n")
        [3 3]
        [ 0 -2]
        [-5 -1]
    """,
        'clamp_': """

    Examples:
        >>> from spore import Tensor
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(v.clamp_(1.5, 2.5))
        [1.5 2.  2.5]
    """,
        'col2im': """

    Examples:
        >>> import numpy as np
        >>> import spore as ms
        >>> from spore import Tensor
        >>> print(Tensor(np.ones((1, 1, 4, 4), np.float32)).col2im(Tensor([3, 3], ms.int32), [2, 2], [1, 1], [0, 0], [1, 1]).shape)
        (1, 1, 3, 3)
    """,
        'contiguous': """

    Examples:
        >>> from spore import Tensor
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> print(x.T.contiguous().is_contiguous())
        True
    """,
        'copy': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([3, 3], ms.int32)
        >>> print(x.copy())
        [3 3]
    """,
        'copy_': """

    Examples:
        >>> from spore import Tensor
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> w = Tensor([3.0, 1.0, 2.0])
        >>> print(v.copy_(w))
        [3. 1. 2.]
    """,
        'cpu': """

    Examples:
        >>> from spore import Tensor
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(v.cpu())
        [1. 2. 3.]
    """,
        'detach': """

    Examples:
        >>> from spore import Tensor
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(v.detach())
        [1. 2. 3.]
    """,
        'diag': """

    Examples:
        >>> from spore import Tensor
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(v.diag().shape)
        (3, 3)
    """,
        'dim': """

    Examples:
        >>> from spore import Tensor
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> print(x.dim())
        2
    """,
        'div_': """

    Examples:
        >>> from spore import Tensor
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(v.div_(2.0))
        [0.5 1.  1.5]
    """,
        'dot': """

    Examples:
        >>> from spore import Tensor
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> w = Tensor([3.0, 1.0, 2.0])
        >>> print(v.dot(w))
        11.0
    """,
        'double': """

    Examples:
        >>> from spore import Tensor
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(v.double().dtype)
        Float64
    """,
        'erfinv_': """

    Examples:
        >>> from spore import Tensor
        >>> u = Tensor([0.0, 0.5])
        >>> print(u.erfinv_())
        [0.         0.47693628]
    """,
        'exp_': """

    Examples:
        >>> from spore import Tensor
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(v.exp_())
        [ 2.7182817  7.389056  20.085537 ]
    """,
        'expand': """

    Examples:
        >>> from spore import Tensor
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(v.expand((2, 3)))
        [[1. 2. 3.]
         [1. 2. 3.]]
    """,
        'expand_as': """

    Examples:
        >>> from spore import Tensor
        >>> x = Tensor([1.2, 1.2, 0.1])
        >>> y = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(x.expand_as(y))
        [[1.2 1.2 0.1]
         [1.2 1.2 0.1]]
    """,
        'exponential_': """

    Examples:
        >>> from spore import Tensor
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(v.exponential_().shape)
        (3,)
    """,
        'fill': """

    Examples:
        >>> from spore import Tensor
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(v.fill(2.0))
        [2. 2. 2.]
    """,
        'fill_': """

    Examples:
        >>> from spore import Tensor
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(v.fill_(2.0))
        [2. 2. 2.]
    """,
        'fill_diagonal': """

    Examples:
        >>> from spore import Tensor
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> print(x.fill_diagonal(0.0))
        [[0. 2. 3.]
         [4. 0. 6.]]
    """,
        'fill_diagonal_': """

    Examples:
        >>> from spore import Tensor
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> print(x.fill_diagonal_(0.0))
        [[0. 2. 3.]
         [4. 0. 6.]]
    """,
        'flatten': """

    Examples:
        >>> from spore import Tensor
        >>> x = Tensor([[2.5, 2.5, 1.8], [1.2, 0.6, 1.5], [1.5, 0.6, 0.6]])
        >>> print(x.flatten())
        [2.5 2.5 1.8 1.2 0.6 1.5 1.5 0.6 0.6]
    """,
        'flip': """

    Examples:
        >>> from spore import Tensor
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(v.flip((0,)))
        [3. 2. 1.]
    """,
        'float': """

    Examples:
        >>> from spore import Tensor
        >>> x = Tensor([1.2, 1.2, 0.1])
        >>> print(x.float())
        [1.2 1.2 0.1]
    """,
        'floor_': """

    Examples:
        >>> from spore import Tensor
        >>> u = Tensor([1.5, -1.5])
        >>> print(u.floor_())
        [ 1. -2.]
    """,
        'floor_divide_': """

    Examples:
        >>> from spore import Tensor
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(v.floor_divide_(2.0))
        [0. 1. 1.]
    """,
        'flush_from_cache': """

    Examples:
        >>> from spore import Tensor
        >>> x = Tensor([1.2, 1.2])
        >>> print(x.flush_from_cache())
        None
    """,
        'from_dlpack': """

    Examples:
        >>> from spore import Tensor
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(Tensor.from_dlpack(v.to_dlpack()))
        [1. 2. 3.]
    """,
        'gather': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5], [-0.4, -1.8, -1.8], [2.0, 0.6, -1.1]])
        >>> i = Tensor([3, 3], ms.int32)
        >>> print(x.gather(i, 0))
        [[ 2.   0.6 -1.1]
         [ 2.   0.6 -1.1]]
    """,
        'half': """

    Examples:
        >>> from spore import Tensor
        >>> x = Tensor([1.2, 1.2, 0.1])
        >>> print(x.half())
        [1.2 1.2 0.1]
    """,
        'i0': """

    Examples:
        >>> from spore import Tensor
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(v.i0())
        [1.2660658 2.2795854 4.8807926]
    """,
        'index_add': """

    Examples:
        >>> from spore import Tensor
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> print(x.index_add(1, Tensor([0, 2]), Tensor([[1.0, 1.0], [1.0, 1.0]])))
        [[2. 2. 4.]
         [5. 5. 7.]]
    """,
        'index_add_': """

    Examples:
        >>> from spore import Tensor
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> i = Tensor([0, 2])
        >>> print(x.index_add_(1, i, Tensor([[1.0, 1.0], [1.0, 1.0]])))
        [[2. 2. 4.]
         [5. 5. 7.]]
    """,
        'index_copy_': """

    Examples:
        >>> from spore import Tensor
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> i = Tensor([0, 2])
        >>> print(v.index_copy_(0, i, Tensor([7.0, 8.0])))
        [7. 2. 8.]
    """,
        'index_fill_': """

    Examples:
        >>> from spore import Tensor
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> i = Tensor([0, 2])
        >>> print(v.index_fill_(0, i, 0.0))
        [0. 2. 0.]
    """,
        'index_put': """

    Examples:
        >>> from spore import Tensor
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> i = Tensor([0, 2])
        >>> print(v.index_put((i,), Tensor([7.0, 8.0])))
        [7. 2. 8.]
    """,
        'index_put_': """

    Examples:
        >>> from spore import Tensor
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> i = Tensor([0, 2])
        >>> print(v.index_put_((i,), Tensor([7.0, 8.0])))
        [7. 2. 8.]
    """,
        'index_select': """

    Examples:
        >>> from spore import Tensor
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> i = Tensor([0, 2])
        >>> print(x.index_select(1, i))
        [[1. 3.]
         [4. 6.]]
    """,
        'init_data': """

    Examples:
        >>> from spore import Parameter, Tensor
        >>> p = Parameter(Tensor([1.2, 1.2]), name='w')
        >>> print(p.init_data())
        Parameter (name=w, shape=(2,), dtype=Float32, requires_grad=True)
    """,
        'int': """

    Examples:
        >>> from spore import Tensor
        >>> x = Tensor([1.2, 1.2, 0.1])
        >>> print(x.int())
        [1 1 0]
    """,
        'inv': """

    Examples:
        >>> from spore import Tensor
        >>> y = Tensor([[0.5, 0.5, 1.0], [2.0, 1.0, 0.5]])
        >>> print(y.inv())
        [[2.  2.  1. ]
         [0.5 1.  2. ]]
    """,
        'is_pinned': """

    Examples:
        >>> from spore import Tensor
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(v.is_pinned())
        False
    """,
        'is_shared': """

    Examples:
        >>> from spore import Tensor
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(v.is_shared())
        False
    """,
        'is_signed': """

    Examples:
        >>> from spore import Tensor
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(v.is_signed())
        True
    """,
        'itemset': """

    Examples:
        >>> from spore import Tensor
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(v.itemset(0, 9.0))
        [9. 2. 3.]
    """,
        'kthvalue': """

    Examples:
        >>> from spore import Tensor
        >>> w = Tensor([3.0, 1.0, 2.0])
        >>> print(*w.kthvalue(2), sep="\\n")
        2.0
        2
    """,
        'log_': """

    Examples:
        >>> from spore import Tensor
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(v.log_())
        [0.        0.6931472 1.0986123]
    """,
        'log_normal': """

    Examples:
        >>> from spore import Tensor
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> print(x.log_normal().shape)
        (2, 3)
    """,
        'long': """

    Examples:
        >>> from spore import Tensor
        >>> x = Tensor([1.2, 1.2, 0.1])
        >>> print(x.long())
        [1 1 0]
    """,
        'masked_fill_': """

    Examples:
        >>> from spore import Tensor
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> m = Tensor([[True, False, True], [False, True, False]])
        >>> print(x.masked_fill_(m, 0.0))
        [[0. 2. 0.]
         [4. 0. 6.]]
    """,
        'masked_scatter_': """

    Examples:
        >>> from spore import Tensor
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> m = Tensor([[True, False, True], [False, True, False]])
        >>> print(x.masked_scatter_(m, v))
        [[1. 2. 2.]
         [4. 3. 6.]]
    """,
        'max': """

    Examples:
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(x.max())
        1.2
    """,
        'min': """

    Examples:
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(x.min())
        -1.8
    """,
        'move_to': """

    Examples:
        >>> from spore import Tensor
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(v.move_to("CPU"))
        [1. 2. 3.]
    """,
        'mul_': """

    Examples:
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> y = Tensor([1.2, 1.2, 0.1])
        >>> print(x.mul_(y))
        [[ 1.44  1.44  0.01]
         [-1.08 -2.16 -0.05]]
    """,
        'narrow': """

    Examples:
        >>> from spore import Tensor
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(v.narrow(0, 1, 2))
        [2. 3.]
    """,
        'ndimension': """

    Examples:
        >>> from spore import Tensor
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> print(x.ndimension())
        2
    """,
        'nelement': """

    Examples:
        >>> from spore import Tensor
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> print(x.nelement())
        6
    """,
        'new_empty': """

    Examples:
        >>> from spore import Tensor
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(v.new_empty((2, 2)).shape)
        (2, 2)
    """,
        'new_full': """

    Examples:
        >>> from spore import Tensor
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(v.new_full((2, 2), 7.0))
        [[7. 7.]
         [7. 7.]]
    """,
        'new_ones': """

    Examples:
        >>> from spore import Tensor
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(v.new_ones((2, 2)))
        [[1. 1.]
         [1. 1.]]
    """,
        'new_zeros': """

    Examples:
        >>> from spore import Tensor
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(v.new_zeros((2, 2)))
        [[0. 0.]
         [0. 0.]]
    """,
        'normal_': """

    Examples:
        >>> from spore import Tensor
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(v.normal_().shape)
        (3,)
    """,
        'numel': """

    Examples:
        >>> from spore import Tensor
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> print(x.numel())
        6
    """,
        'permute': """

    Examples:
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(x.permute((1, 0)))
        [[ 1.2 -0.9]
         [ 1.2 -1.8]
         [ 0.1 -0.5]]
    """,
        'pin_memory': """

    Examples:
        >>> from spore import Tensor
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(v.pin_memory().shape)
        (3,)
    """,
        'pow_': """

    Examples:
        >>> from spore import Tensor
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(v.pow_(2.0))
        [1. 4. 9.]
    """,
        'put_': """

    Examples:
        >>> from spore import Tensor
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> i = Tensor([0, 2])
        >>> print(v.put_(i, Tensor([8.0, 9.0])))
        [8. 2. 9.]
    """,
        'random_': """

    Examples:
        >>> from spore import Tensor
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(v.random_().shape)
        (3,)
    """,
        'remainder_': """

    Examples:
        >>> from spore import Tensor
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(v.remainder_(2.0))
        [1. 0. 1.]
    """,
        'repeat': """

    Examples:
        >>> from spore import Tensor
        >>> x = Tensor([1.2, 1.2, 0.1])
        >>> print(x.repeat(2))
        [1.2 1.2 0.1 1.2 1.2 0.1]
    """,
        'repeat_interleave': """

    Examples:
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(x.repeat_interleave(2))
        [ 1.2  1.2  1.2  1.2  0.1  0.1 -0.9 -0.9 -1.8 -1.8 -0.5 -0.5]
    """,
        'reshape_as': """

    Examples:
        >>> from spore import Tensor
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> print(x.reshape_as(Tensor([[0.0, 0.0], [0.0, 0.0], [0.0, 0.0]])))
        [[1. 2.]
         [3. 4.]
         [5. 6.]]
    """,
        'resize': """

    Examples:
        >>> from spore import Tensor
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(v.resize(5))
        [1. 2. 3. 0. 0.]
    """,
        'reverse_sequence': """

    Examples:
        >>> from spore import Tensor
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> print(x.reverse_sequence(Tensor([2, 3]), 1))
        [[2. 1. 3.]
         [6. 5. 4.]]
    """,
        'scatter': """

    Examples:
        >>> from spore import Tensor
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> i = Tensor([0, 2])
        >>> print(v.scatter(0, i, Tensor([7.0, 8.0])))
        [7. 2. 8.]
    """,
        'scatter_': """

    Examples:
        >>> from spore import Tensor
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> i = Tensor([0, 2])
        >>> print(v.scatter_(0, i, Tensor([7.0, 8.0])))
        [7. 2. 8.]
    """,
        'scatter_add': """

    Examples:
        >>> from spore import Tensor
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> i = Tensor([0, 2])
        >>> print(v.scatter_add(0, i, Tensor([7.0, 8.0])))
        [ 8.  2. 11.]
    """,
        'scatter_add_': """

    Examples:
        >>> from spore import Tensor
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> i = Tensor([0, 2])
        >>> print(v.scatter_add_(0, i, Tensor([7.0, 8.0])))
        [ 8.  2. 11.]
    """,
        'searchsorted': """

    Examples:
        >>> from spore import Tensor
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(v.searchsorted(Tensor([1.5, 2.5])))
        [1 2]
    """,
        'select': """

    Examples:
        >>> from spore import Tensor
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> print(x.select(1, 0))
        [1. 4.]
    """,
        'set_const_arg': """

    Examples:
        >>> from spore import Tensor
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> _ = v.set_const_arg()
        >>> print(v.const_arg)
        True
    """,
        'set_dtype': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(v.set_dtype(ms.float64))
        Float64
    """,
        'short': """

    Examples:
        >>> from spore import Tensor
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(v.short().dtype)
        Int16
    """,
        'sigmoid_': """

    Examples:
        >>> from spore import Tensor
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(v.sigmoid_())
        [0.7310586  0.880797   0.95257413]
    """,
        'sign_': """

    Examples:
        >>> from spore import Tensor
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(v.sign_())
        [1. 1. 1.]
    """,
        'soft_shrink': """

    Examples:
        >>> from spore import Tensor
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(v.soft_shrink(1.5))
        [0.  0.5 1.5]
    """,
        'softmax': """

    Examples:
        >>> from spore import Tensor
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(v.softmax(0))
        [0.09003057 0.24472845 0.6652409 ]
    """,
        'sort': """

    Examples:
        >>> from spore import Tensor
        >>> w = Tensor([3.0, 1.0, 2.0])
        >>> print(*w.sort(), sep="\\n")
        [1. 2. 3.]
        [1 2 0]
    """,
        'split': """

    Examples:
        >>> from spore import Tensor
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(*v.split(2), sep="\\n")
        [1. 2.]
        [3.]
    """,
        'squeeze': """

    Examples:
        >>> from spore import Tensor
        >>> x = Tensor([[[[1.2], [1.2], [0.1]]], [[[-0.9], [-1.8], [-0.5]]]])
        >>> print(x.squeeze())
        [[ 1.2  1.2  0.1]
         [-0.9 -1.8 -0.5]]
    """,
        'stride': """

    Examples:
        >>> from spore import Tensor
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> print(x.stride())
        [3, 1]
    """,
        'sub_': """

    Examples:
        >>> from spore import Tensor
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(v.sub_(1.0))
        [0. 1. 2.]
    """,
        'sum_to_size': """

    Examples:
        >>> from spore import Tensor
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> print(x.sum_to_size(1, 3))
        [[5. 7. 9.]]
    """,
        'take': """

    Examples:
        >>> from spore import Tensor
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> i = Tensor([0, 2])
        >>> print(x.take(i, 1))
        [[1. 3.]
         [4. 6.]]
    """,
        'tanh_': """

    Examples:
        >>> from spore import Tensor
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(v.tanh_())
        [0.7615942 0.9640276 0.9950548]
    """,
        'tile': """

    Examples:
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(x.tile((2, 1)))
        [[ 1.2  1.2  0.1]
         [-0.9 -1.8 -0.5]
         [ 1.2  1.2  0.1]
         [-0.9 -1.8 -0.5]]
    """,
        'to': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> y = Tensor([3], ms.int32)
        >>> print(x.to(y))
        [[ 1  1  0]
         [ 0 -1  0]]
    """,
        'to_dlpack': """

    Examples:
        >>> from spore import Tensor
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(Tensor.from_dlpack(v.to_dlpack()))
        [1. 2. 3.]
    """,
        'top_k': """

    Examples:
        >>> from spore import Tensor
        >>> w = Tensor([3.0, 1.0, 2.0])
        >>> print(w.top_k(2)[0])
        [3. 2.]
    """,
        'trace': """

    Examples:
        >>> from spore import Tensor
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> print(x.trace())
        6.0
    """,
        'transpose': """

    Examples:
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(x.transpose(1, 0))
        [[ 1.2 -0.9]
         [ 1.2 -1.8]
         [ 0.1 -0.5]]
    """,
        'type': """

    Examples:
        >>> from spore import Tensor
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(v.type())
        Float32
    """,
        'type_as': """

    Examples:
        >>> from spore import Tensor
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> n = Tensor([3, 1, 2])
        >>> print(n.type_as(v))
        [3. 1. 2.]
    """,
        'unfold': """

    Examples:
        >>> import numpy as np
        >>> import spore as ms
        >>> from spore import Tensor
        >>> image = Tensor(np.arange(16).reshape(1, 1, 4, 4), ms.float32)
        >>> print(image.unfold((2, 2)).shape)
        (1, 4, 9)
    """,
        'uniform': """

    Examples:
        >>> from spore import Tensor
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> print(x.uniform().shape)
        (2, 3)
    """,
        'uniform_': """

    Examples:
        >>> from spore import Tensor
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(v.uniform_().shape)
        (3,)
    """,
        'unique': """

    Examples:
        >>> from spore import Tensor
        >>> print(Tensor([2, 1, 2]).unique())
        [1 2]
    """,
        'value': """

    Examples:
        >>> import spore as ms
        >>> from spore import Parameter, Tensor
        >>> p = Parameter(Tensor([3, 3], ms.int32), name='w')
        >>> print(p.value() + 1)
        [4 4]
    """,
        'view': """

    Examples:
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(x.view(3, 2))
        [[ 1.2  1.2]
         [ 0.1 -0.9]
         [-1.8 -0.5]]
    """,
        'where': """

    Examples:
        >>> from spore import Tensor
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> m = Tensor([[True, False, True], [False, True, False]])
        >>> print(x.where(m, 0.0))
        [[1. 0. 3.]
         [0. 5. 0.]]
    """,
        'zero_': """

    Examples:
        >>> from spore import Tensor
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(v.zero_())
        [0. 0. 0.]
    """,
    },
    'dataset': {
        'AGNewsDataset': """

    Examples:
        >>> from spore import dataset
        >>> data = dataset.AGNewsDataset('agnews')
        >>> print(data.get_dataset_size(), data.get_col_names())
        6 ['index', 'title', 'description']
    """,
        'AmazonReviewDataset': """

    Examples:
        >>> from spore import dataset
        >>> data = dataset.AmazonReviewDataset('amazon')
        >>> print(data.get_dataset_size(), data.get_col_names())
        6 ['label', 'title', 'content']
    """,
        'BatchDataset': """

    Examples:
        >>> from spore import dataset
        >>> rows = dataset.NumpySlicesDataset([1, 2, 3, 4], ['n'], shuffle=False)
        >>> print([row['n'].tolist() for row in rows.batch(3).create_dict_iterator(1, True)])
        [[1, 2, 3], [4]]
    """,
        'BatchInfo': """

    Examples:
        >>> from spore import dataset
        >>> rows = dataset.NumpySlicesDataset([1, 2, 3, 4], ['n'], shuffle=False)
        >>> print([k.tolist() for k, in rows.batch(lambda info: info.get_batch_num() + 1).create_tuple_iterator(num_epochs=1, output_numpy=True)])
        [[1], [2, 3], [4]]
    """,
        'BucketBatchByLengthDataset': """

    Examples:
        >>> import numpy as np
        >>> from spore import dataset
        >>> lines = dataset.GeneratorDataset(lambda: iter([(np.ones(k),) for k in (1, 5, 2, 6)]), ['x'])
        >>> data = lines.bucket_batch_by_length(['x'], [4], [2, 2], lambda a: a.shape[0], {'x': ([None], 0)})
        >>> print([a.shape for a, in data])
        [(2, 2), (2, 6)]
    """,
        'BuiltinSampler': """

    Examples:
        >>> from spore import dataset
        >>> print(isinstance(dataset.SequentialSampler(), dataset.BuiltinSampler))
        True
    """,
        'CLUEDataset': """

    Examples:
        >>> from spore import dataset, train
        >>> data = dataset.CLUEDataset('clue/afqmc/train.json')
        >>> print(data.get_dataset_size(), data.get_col_names())
        2 ['label', 'sentence1', 'sentence2']
    """,
        'CMUArcticDataset': """

    Examples:
        >>> from spore import dataset
        >>> data = dataset.CMUArcticDataset('arctic')
        >>> print(data.get_dataset_size(), data.get_col_names())
        2 ['waveform', 'sample_rate', 'transcript', 'utterance_id']
    """,
        'CSVDataset': """

    Examples:
        >>> from spore import dataset
        >>> data = dataset.CSVDataset('csv/a.csv', column_defaults=[1, 1.5, 'none'])
        >>> print(data.get_dataset_size(), data.get_col_names())
        2 ['a', 'b', 'c']
    """,
        'Caltech101Dataset': """

    Examples:
        >>> from spore import dataset
        >>> data = dataset.Caltech101Dataset('caltech101')
        >>> print(data.get_dataset_size(), data.get_col_names())
        6 ['image', 'category']
    """,
        'Caltech256Dataset': """

    Examples:
        >>> from spore import dataset
        >>> data = dataset.Caltech256Dataset('caltech256')
        >>> print(data.get_dataset_size(), data.get_col_names())
        6 ['image', 'label']
    """,
        'CelebADataset': """

    Examples:
        >>> from spore import dataset
        >>> data = dataset.CelebADataset('celeba')
        >>> print(data.get_dataset_size(), data.get_col_names())
        4 ['image', 'attr']
    """,
        'Cifar100Dataset': """

    Examples:
        >>> import numpy as np
        >>> from spore import dataset
        >>> import os
        >>> _ = os.makedirs('cifar', exist_ok=True)
        >>> _ = np.zeros((2, 3074), np.uint8).tofile('cifar/test.bin')
        >>> data = dataset.Cifar100Dataset('cifar', 'test')
        >>> print(data.get_dataset_size(), data.get_col_names())
        2 ['image', 'coarse_label', 'fine_label']
    """,
        'Cifar10Dataset': """

    Examples:
        >>> import numpy as np
        >>> from spore import dataset
        >>> import os
        >>> _ = os.makedirs('cifar', exist_ok=True)
        >>> _ = np.zeros((2, 3073), np.uint8).tofile('cifar/test_batch.bin')
        >>> data = dataset.Cifar10Dataset('cifar', 'test')
        >>> print(data.get_dataset_size(), data.get_col_names())
        2 ['image', 'label']
    """,
        'CityscapesDataset': """

    Examples:
        >>> from spore import dataset
        >>> data = dataset.CityscapesDataset('cityscapes')
        >>> print(data.get_dataset_size(), data.get_col_names())
        4 ['image', 'task']
    """,
        'CoNLL2000Dataset': """

    Examples:
        >>> from spore import dataset
        >>> data = dataset.CoNLL2000Dataset('conll')
        >>> print(data.get_dataset_size(), data.get_col_names())
        4 ['word', 'pos_tag', 'chunk_tag']
    """,
        'CocoDataset': """

    Examples:
        >>> from spore import dataset
        >>> data = dataset.CocoDataset('coco/train', 'coco/boxes.json')
        >>> print(data.get_dataset_size(), data.get_col_names())
        2 ['image', 'bbox', 'category_id', 'iscrowd']
    """,
        'ColumnsDataset': """

    Examples:
        >>> import numpy as np
        >>> from spore import dataset
        >>> _ = np.savez('points.npz', x=np.arange(3), y=np.arange(3) ** 2)
        >>> print([(int(a), int(b)) for a, b in dataset.ColumnsDataset('points.npz', shuffle=False)])
        [(0, 0), (1, 1), (2, 4)]
    """,
        'ConcatDataset': """

    Examples:
        >>> from spore import dataset
        >>> rows = dataset.NumpySlicesDataset([1, 2, 3, 4], ['n'], shuffle=False)
        >>> print([int(k) for k, in rows.concat(rows.take(1))])
        [1, 2, 3, 4, 1]
    """,
        'DBpediaDataset': """

    Examples:
        >>> from spore import dataset
        >>> data = dataset.DBpediaDataset('dbpedia')
        >>> print(data.get_dataset_size(), data.get_col_names())
        6 ['class', 'title', 'content']
    """,
        'DIV2KDataset': """

    Examples:
        >>> from spore import dataset
        >>> data = dataset.DIV2KDataset('div2k')
        >>> print(data.get_dataset_size(), data.get_col_names())
        2 ['hr_image', 'lr_image']
    """,
        'Dataset': """

    Examples:
        >>> from spore import dataset
        >>> rows = dataset.NumpySlicesDataset([1, 2, 3, 4], ['n'], shuffle=False)
        >>> print(rows.get_col_names(), rows.get_dataset_size(), [int(k) for k, in rows])
        ['n'] 4 [1, 2, 3, 4]
    """,
        'DistributedSampler': """

    Examples:
        >>> from spore import dataset
        >>> print([int(k) for k, in dataset.NumpySlicesDataset([1, 2, 3, 4], ['n'], sampler=dataset.DistributedSampler(2, 1, shuffle=False))])
        [2, 4]
    """,
        'EMnistDataset': """

    Examples:
        >>> from spore import dataset
        >>> data = dataset.EMnistDataset('emnist', 'letters', 'train')
        >>> print(data.get_dataset_size(), data.get_col_names())
        3 ['image', 'label']
    """,
        'EnWik9Dataset': """

    Examples:
        >>> from spore import dataset
        >>> data = dataset.EnWik9Dataset('enwik9')
        >>> print(data.get_dataset_size(), data.get_col_names())
        4 ['text']
    """,
        'FakeImageDataset': """

    Examples:
        >>> from spore import dataset
        >>> data = dataset.FakeImageDataset(3, (8, 8, 3), 2)
        >>> print(next(data.create_tuple_iterator(output_numpy=True))[0].shape)
        (8, 8, 3)
    """,
        'FashionMnistDataset': """

    Examples:
        >>> from spore import dataset
        >>> data = dataset.FashionMnistDataset('fashion', 'train')
        >>> print(data.get_dataset_size(), data.get_col_names())
        3 ['image', 'label']
    """,
        'FilterDataset': """

    Examples:
        >>> from spore import dataset
        >>> rows = dataset.NumpySlicesDataset([1, 2, 3, 4], ['n'], shuffle=False)
        >>> print([int(k) for k, in rows.filter(lambda k: k % 2 == 0)])
        [2, 4]
    """,
        'FlatMapDataset': """

    Examples:
        >>> from spore import dataset
        >>> rows = dataset.NumpySlicesDataset([1, 2, 3, 4], ['n'], shuffle=False)
        >>> data = rows.take(2).flat_map(lambda k: dataset.NumpySlicesDataset([int(k), 10 * int(k)], ['n'], shuffle=False))
        >>> print([int(k) for k, in data])
        [1, 10, 2, 20]
    """,
        'FlickrDataset': """

    Examples:
        >>> from spore import dataset
        >>> data = dataset.FlickrDataset('flickr/images', 'flickr/tokens.txt')
        >>> print(data.get_dataset_size(), data.get_col_names())
        2 ['image', 'annotation']
    """,
        'Flowers102Dataset': """

    Examples:
        >>> from spore import dataset
        >>> data = dataset.Flowers102Dataset('flowers')
        >>> print(data.get_dataset_size(), data.get_col_names())
        5 ['image', 'label']
    """,
        'Food101Dataset': """

    Examples:
        >>> from spore import dataset
        >>> data = dataset.Food101Dataset('food101')
        >>> print(data.get_dataset_size(), data.get_col_names())
        4 ['image', 'label']
    """,
        'GTZANDataset': """

    Examples:
        >>> from spore import dataset
        >>> data = dataset.GTZANDataset('gtzan')
        >>> print(data.get_dataset_size(), data.get_col_names())
        4 ['waveform', 'sample_rate', 'label']
    """,
        'GeneratorDataset': """

    Examples:
        >>> from spore import dataset
        >>> print([(int(a), int(b)) for a, b in dataset.GeneratorDataset([(1, 10), (2, 20)], ['a', 'b'], shuffle=False)])
        [(1, 10), (2, 20)]
    """,
        'IMDBDataset': """

    Examples:
        >>> from spore import dataset
        >>> data = dataset.IMDBDataset('imdb')
        >>> print(data.get_dataset_size(), data.get_col_names())
        8 ['text', 'label']
    """,
        'IWSLT2016Dataset': """

    Examples:
        >>> from spore import dataset
        >>> data = dataset.IWSLT2016Dataset('iwslt2016', 'train')
        >>> print(data.get_dataset_size(), data.get_col_names())
        2 ['text', 'translation']
    """,
        'IWSLT2017Dataset': """

    Examples:
        >>> from spore import dataset
        >>> data = dataset.IWSLT2017Dataset('iwslt2017', 'train')
        >>> print(data.get_dataset_size(), data.get_col_names())
        2 ['text', 'translation']
    """,
        'ImageFolderDataset': """

    Examples:
        >>> import numpy as np
        >>> from spore import dataset
        >>> from spore.dataset import vision
        >>> picture = np.arange(48, dtype=np.uint8).reshape(4, 4, 3)
        >>> import os
        >>> _ = os.makedirs('pets/cat', exist_ok=True)
        >>> _ = vision.write_png('pets/cat/1.png', picture)
        >>> print([(pixels.shape, int(label)) for pixels, label in dataset.ImageFolderDataset('pets', decode=True)])
        [((4, 4, 3), 0)]
    """,
        'JsonLinesDataset': """

    Examples:
        >>> from spore import Tensor, dataset
        >>> n = Tensor([3, 1, 2])
        >>> _ = open('rows.jsonl', 'w').write('{"a": 1, "b": "a"}\\n{"a": 2, "b": "b"}\\n')
        >>> print([(int(a), str(b)) for a, b in dataset.JsonLinesDataset('rows.jsonl', shuffle=False)])
        [(1, 'a'), (2, 'b')]
    """,
        'KITTIDataset': """

    Examples:
        >>> from spore import dataset
        >>> data = dataset.KITTIDataset('kitti')
        >>> print(data.get_dataset_size(), data.get_col_names())
        2 ['image', 'label', 'truncated', 'occluded', 'alpha', 'bbox', 'dimensions', 'location', 'rotation_y']
    """,
        'KMnistDataset': """

    Examples:
        >>> from spore import dataset
        >>> data = dataset.KMnistDataset('kmnist', 'all')
        >>> print(data.get_dataset_size(), data.get_col_names())
        5 ['image', 'label']
    """,
        'LFWDataset': """

    Examples:
        >>> from spore import dataset
        >>> data = dataset.LFWDataset('lfw')
        >>> print(data.get_dataset_size(), data.get_col_names())
        6 ['image', 'label']
    """,
        'LJSpeechDataset': """

    Examples:
        >>> from spore import dataset
        >>> data = dataset.LJSpeechDataset('ljspeech')
        >>> print(data.get_dataset_size(), data.get_col_names())
        2 ['waveform', 'sample_rate', 'transcription', 'normalized_transcription']
    """,
        'LSUNDataset': """

    Examples:
        >>> from spore import dataset
        >>> data = dataset.LSUNDataset('lsun')
        >>> print(data.get_dataset_size(), data.get_col_names())
        8 ['image', 'label']
    """,
        'LibriTTSDataset': """

    Examples:
        >>> from spore import dataset
        >>> data = dataset.LibriTTSDataset('libritts')
        >>> print(data.get_dataset_size(), data.get_col_names())
        4 ['waveform', 'sample_rate', 'original_text', 'normalized_text', 'speaker_id', 'chapter_id', 'utterance_id']
    """,
        'ManifestDataset': """

    Examples:
        >>> from spore import dataset
        >>> data = dataset.ManifestDataset('manifest/list.manifest')
        >>> print(data.get_dataset_size(), data.get_col_names())
        2 ['image', 'label']
    """,
        'MapDataset': """

    Examples:
        >>> from spore import dataset
        >>> rows = dataset.NumpySlicesDataset([1, 2, 3, 4], ['n'], shuffle=False)
        >>> print([int(k) for k, in rows.map(lambda k: k * 10, 'n')])
        [10, 20, 30, 40]
    """,
        'MindDataset': """

    Examples:
        >>> from spore import dataset
        >>> from spore import mindrecord
        >>> writer = mindrecord.FileWriter('rows.mindrecord', overwrite=True)
        >>> _ = writer.add_schema({'n': {'type': 'int32'}})
        >>> _ = writer.write_raw_data([{'n': k} for k in range(3)])
        >>> _ = writer.commit()
        >>> print([int(k) for k, in dataset.MindDataset('rows.mindrecord', shuffle=False)])
        [0, 1, 2]
    """,
        'MnistDataset': """

    Examples:
        >>> from spore import dataset
        >>> data = dataset.MnistDataset('mnist')
        >>> print(data.get_dataset_size(), data.get_col_names())
        5 ['image', 'label']
    """,
        'Multi30kDataset': """

    Examples:
        >>> from spore import dataset
        >>> data = dataset.Multi30kDataset('multi30k', 'train')
        >>> print(data.get_dataset_size(), data.get_col_names())
        2 ['text', 'translation']
    """,
        'OBSMindDataset': """

    Examples:
        >>> from spore import dataset
        >>> print(issubclass(dataset.OBSMindDataset, dataset.Dataset))
        True
    """,
        'OmniglotDataset': """

    Examples:
        >>> from spore import dataset
        >>> data = dataset.OmniglotDataset('omniglot')
        >>> print(data.get_dataset_size(), data.get_col_names())
        8 ['image', 'label']
    """,
        'PKSampler': """

    Examples:
        >>> import numpy as np
        >>> from spore import dataset
        >>> from spore.dataset import vision
        >>> picture = np.arange(48, dtype=np.uint8).reshape(4, 4, 3)
        >>> import os
        >>> _ = os.makedirs('pets/cat', exist_ok=True)
        >>> _ = vision.write_png('pets/cat/1.png', picture)
        >>> print([int(label) for _, label in dataset.ImageFolderDataset('pets', sampler=dataset.PKSampler(1))])
        [0]
    """,
        'PaddedBatchDataset': """

    Examples:
        >>> import numpy as np
        >>> from spore import dataset
        >>> lines = dataset.GeneratorDataset([(np.ones(1),), (np.ones(3),)], ['x'], shuffle=False)
        >>> print([a.shape for a, in lines.padded_batch(2, pad_info={'x': ([4], 0)})])
        [(2, 4)]
    """,
        'PaddedDataset': """

    Examples:
        >>> import numpy as np
        >>> from spore import dataset
        >>> print([int(k) for k, in dataset.PaddedDataset([{'n': np.array(7)}, {'n': np.array(8)}])])
        [7, 8]
    """,
        'PennTreebankDataset': """

    Examples:
        >>> from spore import dataset
        >>> data = dataset.PennTreebankDataset('ptb', 'valid')
        >>> print(data.get_dataset_size(), data.get_col_names())
        2 ['text']
    """,
        'PhotoTourDataset': """

    Examples:
        >>> from spore import dataset
        >>> data = dataset.PhotoTourDataset('phototour', 'liberty', num_samples=3)
        >>> print(data.get_dataset_size(), data.get_col_names())
        3 ['image']
    """,
        'Places365Dataset': """

    Examples:
        >>> from spore import dataset
        >>> data = dataset.Places365Dataset('places365')
        >>> print(data.get_dataset_size(), data.get_col_names())
        2 ['image', 'label']
    """,
        'ProjectDataset': """

    Examples:
        >>> from spore import dataset
        >>> print(dataset.NumpySlicesDataset(([1, 2], [3, 4]), ['a', 'b']).project(['b']).get_col_names())
        ['b']
    """,
        'QMnistDataset': """

    Examples:
        >>> from spore import dataset
        >>> data = dataset.QMnistDataset('qmnist', 'train')
        >>> print(data.get_dataset_size(), data.get_col_names())
        3 ['image', 'label']
    """,
        'RandomDataset': """

    Examples:
        >>> import spore as ms
        >>> from spore import dataset
        >>> schema = dataset.Schema()
        >>> _ = schema.add_column('x', ms.float32, [2])
        >>> print(next(dataset.RandomDataset(5, schema).create_tuple_iterator())[0].shape)
        (2,)
    """,
        'RandomSampler': """

    Examples:
        >>> from spore import dataset
        >>> print(sorted(int(k) for k, in dataset.NumpySlicesDataset([1, 2, 3], ['n'], sampler=dataset.RandomSampler())))
        [1, 2, 3]
    """,
        'RenameDataset': """

    Examples:
        >>> from spore import dataset
        >>> rows = dataset.NumpySlicesDataset([1, 2, 3, 4], ['n'], shuffle=False)
        >>> print(rows.rename('n', 'number').get_col_names())
        ['number']
    """,
        'RenderedSST2Dataset': """

    Examples:
        >>> from spore import dataset
        >>> data = dataset.RenderedSST2Dataset('sst2pictures')
        >>> print(data.get_dataset_size(), data.get_col_names())
        12 ['image', 'label']
    """,
        'RepeatDataset': """

    Examples:
        >>> from spore import dataset
        >>> rows = dataset.NumpySlicesDataset([1, 2, 3, 4], ['n'], shuffle=False)
        >>> print([int(k) for k, in rows.take(2).repeat(2)])
        [1, 2, 1, 2]
    """,
        'SBDataset': """

    Examples:
        >>> from spore import dataset
        >>> data = dataset.SBDataset('boundaries')
        >>> print(data.get_dataset_size(), data.get_col_names())
        3 ['image', 'task']
    """,
        'SBUDataset': """

    Examples:
        >>> from spore import dataset
        >>> data = dataset.SBUDataset('sbu')
        >>> print(data.get_dataset_size(), data.get_col_names())
        2 ['image', 'caption']
    """,
        'SQuADDataset': """

    Examples:
        >>> from spore import dataset
        >>> data = dataset.SQuADDataset('squad1')
        >>> print(data.get_dataset_size(), data.get_col_names())
        4 ['context', 'question', 'text', 'answer_start']
    """,
        'SST2Dataset': """

    Examples:
        >>> from spore import dataset
        >>> data = dataset.SST2Dataset('sst2')
        >>> print(data.get_dataset_size(), data.get_col_names())
        2 ['sentence', 'label']
    """,
        'STL10Dataset': """

    Examples:
        >>> from spore import dataset
        >>> data = dataset.STL10Dataset('stl10')
        >>> print(data.get_dataset_size(), data.get_col_names())
        5 ['image', 'label']
    """,
        'SUN397Dataset': """

    Examples:
        >>> from spore import dataset
        >>> data = dataset.SUN397Dataset('sun397')
        >>> print(data.get_dataset_size(), data.get_col_names())
        3 ['image', 'label']
    """,
        'SVHNDataset': """

    Examples:
        >>> from spore import dataset
        >>> data = dataset.SVHNDataset('svhn', 'train')
        >>> print(data.get_dataset_size(), data.get_col_names())
        3 ['image', 'label']
    """,
        'SemeionDataset': """

    Examples:
        >>> from spore import dataset
        >>> data = dataset.SemeionDataset('semeion')
        >>> print(data.get_dataset_size(), data.get_col_names())
        3 ['image', 'label']
    """,
        'SequentialSampler': """

    Examples:
        >>> from spore import dataset
        >>> print([int(k) for k, in dataset.NumpySlicesDataset([1, 2, 3, 4], ['n'], sampler=dataset.SequentialSampler(1, 2))])
        [2, 3]
    """,
        'Shuffle': """

    Examples:
        >>> from spore import dataset
        >>> print([kind.name for kind in dataset.Shuffle])
        ['FALSE', 'ADAPTIVE', 'GLOBAL', 'PARTIAL', 'FILES', 'INFILE']
    """,
        'ShuffleDataset': """

    Examples:
        >>> from spore import dataset
        >>> rows = dataset.NumpySlicesDataset([1, 2, 3, 4], ['n'], shuffle=False)
        >>> print(sorted(int(k) for k, in rows.shuffle(4)))
        [1, 2, 3, 4]
    """,
        'SkipDataset': """

    Examples:
        >>> from spore import dataset
        >>> rows = dataset.NumpySlicesDataset([1, 2, 3, 4], ['n'], shuffle=False)
        >>> print([int(k) for k, in rows.skip(2)])
        [3, 4]
    """,
        'SogouNewsDataset': """

    Examples:
        >>> from spore import dataset
        >>> data = dataset.SogouNewsDataset('sogou', 'train')
        >>> print(data.get_dataset_size(), data.get_col_names())
        3 ['index', 'title', 'content']
    """,
        'SpeechCommandsDataset': """

    Examples:
        >>> from spore import dataset
        >>> data = dataset.SpeechCommandsDataset('speech')
        >>> print(data.get_dataset_size(), data.get_col_names())
        4 ['waveform', 'sample_rate', 'label', 'speaker_id', 'utterance_number']
    """,
        'SubsetRandomSampler': """

    Examples:
        >>> from spore import dataset
        >>> print(sorted(int(k) for k, in dataset.NumpySlicesDataset([1, 2, 3, 4], ['n'], sampler=dataset.SubsetRandomSampler([0, 3]))))
        [1, 4]
    """,
        'SubsetSampler': """

    Examples:
        >>> from spore import dataset
        >>> print([int(k) for k, in dataset.NumpySlicesDataset([1, 2, 3, 4], ['n'], sampler=dataset.SubsetSampler([3, 0]))])
        [4, 1]
    """,
        'SyncWaitDataset': """

    Examples:
        >>> from spore import dataset
        >>> rows = dataset.NumpySlicesDataset([1, 2, 3, 4], ['n'], shuffle=False)
        >>> print(rows.sync_wait('step').get_dataset_size())
        4
    """,
        'TakeDataset': """

    Examples:
        >>> from spore import dataset
        >>> rows = dataset.NumpySlicesDataset([1, 2, 3, 4], ['n'], shuffle=False)
        >>> print([int(k) for k, in rows.take(2)])
        [1, 2]
    """,
        'TedliumDataset': """

    Examples:
        >>> from spore import dataset
        >>> data = dataset.TedliumDataset('tedlium/release1', 'release1')
        >>> print(data.get_dataset_size(), data.get_col_names())
        6 ['waveform', 'sample_rate', 'transcript', 'talk_id', 'speaker_id', 'identifier']
    """,
        'TextFileDataset': """

    Examples:
        >>> from spore import dataset
        >>> data = dataset.TextFileDataset(['lines/b.txt', 'lines/a.txt'])
        >>> print(data.get_dataset_size(), data.get_col_names())
        6 ['text']
    """,
        'TransferDataset': """

    Examples:
        >>> from spore import dataset
        >>> rows = dataset.NumpySlicesDataset([1, 2, 3, 4], ['n'], shuffle=False)
        >>> print(rows.device_que().get_dataset_size())
        4
    """,
        'UDPOSDataset': """

    Examples:
        >>> from spore import dataset
        >>> data = dataset.UDPOSDataset('udpos', 'train')
        >>> print(data.get_dataset_size(), data.get_col_names())
        2 ['word', 'universal', 'stanford']
    """,
        'USPSDataset': """

    Examples:
        >>> from spore import dataset
        >>> data = dataset.USPSDataset('usps')
        >>> print(data.get_dataset_size(), data.get_col_names())
        5 ['image', 'label']
    """,
        'VOCDataset': """

    Examples:
        >>> from spore import dataset
        >>> data = dataset.VOCDataset('voc')
        >>> print(data.get_dataset_size(), data.get_col_names())
        2 ['image', 'target']
    """,
        'WIDERFaceDataset': """

    Examples:
        >>> from spore import dataset
        >>> data = dataset.WIDERFaceDataset('wider')
        >>> print(data.get_dataset_size(), data.get_col_names())
        4 ['image', 'bbox', 'blur', 'expression', 'illumination', 'occlusion', 'pose', 'invalid']
    """,
        'WaitedDSCallback': """

    Examples:
        >>> from spore import dataset
        >>> print(dataset.WaitedDSCallback(step_size=1).step_size)
        1
    """,
        'WebDataset': """

    Examples:
        >>> from spore import dataset
        >>> import tarfile
        >>> archive = tarfile.open('samples.tar', 'w')
        >>> _ = archive.add('lines/a.txt', '0001.txt')
        >>> _ = archive.close()
        >>> print(dataset.WebDataset('samples.tar').get_col_names())
        ['txt']
    """,
        'WeightedRandomSampler': """

    Examples:
        >>> from spore import dataset
        >>> print([int(k) for k, in dataset.NumpySlicesDataset([1, 2], ['n'], sampler=dataset.WeightedRandomSampler([0.0, 1.0], 3))])
        [2, 2]
    """,
        'WikiTextDataset': """

    Examples:
        >>> from spore import dataset
        >>> data = dataset.WikiTextDataset('wikitext', 'train')
        >>> print(data.get_dataset_size(), data.get_col_names())
        4 ['text']
    """,
        'YahooAnswersDataset': """

    Examples:
        >>> from spore import dataset
        >>> data = dataset.YahooAnswersDataset('yahoo', 'test')
        >>> print(data.get_dataset_size(), data.get_col_names())
        3 ['class', 'title', 'content', 'answer']
    """,
        'YelpReviewDataset': """

    Examples:
        >>> from spore import dataset
        >>> data = dataset.YelpReviewDataset('yelp', 'test')
        >>> print(data.get_dataset_size(), data.get_col_names())
        3 ['label', 'text']
    """,
        'YesNoDataset': """

    Examples:
        >>> from spore import dataset
        >>> data = dataset.YesNoDataset('yesno')
        >>> print(data.get_dataset_size(), data.get_col_names())
        2 ['waveform', 'sample_rate', 'label']
    """,
        'ZipDataset': """

    Examples:
        >>> from spore import dataset
        >>> rows = dataset.NumpySlicesDataset([1, 2, 3, 4], ['n'], shuffle=False)
        >>> words = dataset.NumpySlicesDataset(['a', 'b'], ['word'], shuffle=False)
        >>> print([(int(k), str(word)) for k, word in dataset.zip((rows.take(2), words))])
        [(1, 'a'), (2, 'b')]
    """,
        'compare': """

    Examples:
        >>> from spore import dataset
        >>> rows = dataset.NumpySlicesDataset([1, 2, 3, 4], ['n'], shuffle=False)
        >>> print(dataset.compare(rows, rows))
        True
    """,
        'deserialize': """

    Examples:
        >>> from spore import dataset
        >>> _ = dataset.serialize(dataset.TextFileDataset('lines/a.txt'), 'pipeline.json')
        >>> print(dataset.deserialize(json_filepath='pipeline.json').get_col_names())
        ['text']
    """,
        'show': """

    Examples:
        >>> from spore import dataset
        >>> rows = dataset.NumpySlicesDataset([1, 2, 3, 4], ['n'], shuffle=False)
        >>> print(dataset.show(rows))
        None
    """,
    },
    'mint': {
        'argsort': """

    Examples:
        >>> import numpy as np
        >>> import spore as ms
        >>> from spore import Tensor, mint
        >>> x = Tensor(np.linspace(-2, 2, 15).reshape(3, 5), ms.float32)
        >>> print(mint.argsort(x).shape)
        (3, 5)
    """,
        'cat': """

    Examples:
        >>> from spore import Tensor, mint
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> y = Tensor([[1.2, 1.2, 0.1]])
        >>> print(mint.cat((x, y)))
        [[ 1.2  1.2  0.1]
         [-0.9 -1.8 -0.5]
         [ 1.2  1.2  0.1]]
    """,
        'cdist': """

    Examples:
        >>> from spore import Tensor, mint
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> y = Tensor([[0.5, 0.5, 1.0], [2.0, 1.0, 0.5]])
        >>> print(mint.cdist(x, y))
        [[2.5495098 2.8722813]
         [7.5828753 7.0887237]]
    """,
        'chunk': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor, mint
        >>> x = Tensor([3, 3, 0, -2, -5, -1], ms.int32)
        >>> print(*mint.chunk(x, 4, 0), sep="\\n")
        [3 3]
        [ 0 -2]
        [-5 -1]
    """,
        'conv2d': """

    Examples:
        >>> import numpy as np
        >>> import spore as ms
        >>> from spore import Tensor, mint
        >>> x = Tensor(np.linspace(-2, 2, 32).reshape(1, 2, 4, 4), ms.float32)
        >>> w = Tensor(np.linspace(-2, 2, 36).reshape(2, 2, 3, 3), ms.float32)
        >>> print(mint.conv2d(x, w).shape)
        (1, 2, 2, 2)
    """,
        'diag': """

    Examples:
        >>> from spore import Tensor, mint
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> print(mint.diag(x))
        [1. 5.]
    """,
        'diff': """

    Examples:
        >>> from spore import Tensor, mint
        >>> w = Tensor([3.0, 1.0, 2.0])
        >>> print(mint.diff(w))
        [-2.  1.]
    """,
        'dot': """

    Examples:
        >>> from spore import Tensor, mint
        >>> x = Tensor([1.2, 1.2, 0.1])
        >>> y = Tensor([1.2, 1.2, 0.1])
        >>> print(mint.dot(x, y))
        2.89
    """,
        'empty': """

    Examples:
        >>> from spore import mint
        >>> print(mint.empty((2, 3)).shape)
        (2, 3)
    """,
        'empty_like': """

    Examples:
        >>> from spore import Tensor, mint
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> print(mint.empty_like(x).shape)
        (2, 3)
    """,
        'equal': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor, mint
        >>> x = Tensor([1, 1, 1, 0, 0, 0], ms.int32)
        >>> y = Tensor([1, 1, 1, 0, 0, 0], ms.int32)
        >>> print(mint.equal(x, y))
        True
    """,
        'flatten': """

    Examples:
        >>> import numpy as np
        >>> import spore as ms
        >>> from spore import Tensor, mint
        >>> x = Tensor(np.linspace(-2, 2, 24).reshape(2, 3, 4), ms.float32)
        >>> print(mint.flatten(x).shape)
        (24,)
    """,
        'full': """

    Examples:
        >>> from spore import mint
        >>> print(mint.full((2, 3), 1.5))
        [[1.5 1.5 1.5]
         [1.5 1.5 1.5]]
    """,
        'index_add': """

    Examples:
        >>> from spore import Tensor, mint
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> i = Tensor([0, 2])
        >>> print(mint.index_add(x, 1, i, Tensor([[1.0, 1.0], [1.0, 1.0]])))
        [[2. 2. 4.]
         [5. 5. 7.]]
    """,
        'index_select': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor, mint
        >>> x = Tensor([[1.2, 1.2, 0.1, -0.9], [-1.8, -0.5, -0.4, -1.8]])
        >>> i = Tensor([3, 3], ms.int32)
        >>> print(mint.index_select(x, 1, i))
        [[-0.9 -0.9]
         [-1.8 -1.8]]
    """,
        'linalg.matrix_norm': """

    Examples:
        >>> from spore import Tensor, mint
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> print(mint.linalg.matrix_norm(x))
        9.539392
    """,
        'linalg.vector_norm': """

    Examples:
        >>> from spore import Tensor, mint
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(mint.linalg.vector_norm(v))
        3.7416575
    """,
        'linspace': """

    Examples:
        >>> from spore import mint
        >>> print(mint.linspace(0, 1, 5))
        [0.   0.25 0.5  0.75 1.  ]
    """,
        'max': """

    Examples:
        >>> from spore import Tensor, mint
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(mint.max(x))
        1.2
    """,
        'median': """

    Examples:
        >>> from spore import Tensor, mint
        >>> w = Tensor([3.0, 1.0, 2.0])
        >>> print(mint.median(w))
        2.0
    """,
        'meshgrid': """

    Examples:
        >>> from spore import Tensor, mint
        >>> x = Tensor([1.2, 1.2])
        >>> y = Tensor([1.2, 1.2, 0.1])
        >>> print(*mint.meshgrid(x, y), sep="\\n")
        [[1.2 1.2 1.2]
         [1.2 1.2 1.2]]
        [[1.2 1.2 0.1]
         [1.2 1.2 0.1]]
    """,
        'min': """

    Examples:
        >>> from spore import Tensor, mint
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(mint.min(x))
        -1.8
    """,
        'multinomial': """

    Examples:
        >>> from spore import Tensor, mint
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(mint.multinomial(v, 2).shape)
        (2,)
    """,
        'narrow': """

    Examples:
        >>> from spore import Tensor, mint
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5], [-0.4, -1.8, -1.8], [2.0, 0.6, -1.1]])
        >>> print(mint.narrow(x, 0, 1, 2))
        [[-0.9 -1.8 -0.5]
         [-0.4 -1.8 -1.8]]
    """,
        'nn.functional.adaptive_max_pool1d': """

    Examples:
        >>> from spore import Tensor, mint
        >>> print(mint.nn.functional.adaptive_max_pool1d(Tensor([[[1.0, 3.0, 2.0, 4.0]]]), 2).shape)
        (1, 1, 2)
    """,
        'nn.functional.batch_norm': """

    Examples:
        >>> from spore import Tensor, mint
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> print(mint.nn.functional.batch_norm(x, Tensor([0.0, 0.0, 0.0]), Tensor([1.0, 1.0, 1.0])))
        [[0.999995 1.99999  2.999985]
         [3.99998  4.999975 5.99997 ]]
    """,
        'nn.functional.conv1d': """

    Examples:
        >>> from spore import Tensor, mint
        >>> print(mint.nn.functional.conv1d(Tensor([[[1.0, 2.0, 3.0]]]), Tensor([[[1.0, 1.0]]])).shape)
        (1, 1, 2)
    """,
        'nn.functional.conv2d': """

    Examples:
        >>> import numpy as np
        >>> import spore as ms
        >>> from spore import Tensor, mint
        >>> x = Tensor(np.linspace(-2, 2, 32).reshape(1, 2, 4, 4), ms.float32)
        >>> w = Tensor(np.linspace(-2, 2, 36).reshape(2, 2, 3, 3), ms.float32)
        >>> print(mint.nn.functional.conv2d(x, w).shape)
        (1, 2, 2, 2)
    """,
        'nn.functional.conv3d': """

    Examples:
        >>> from spore import mint
        >>> print(mint.nn.functional.conv3d(mint.ones((1, 1, 2, 2, 2)), mint.ones((1, 1, 2, 2, 2))).shape)
        (1, 1, 1, 1, 1)
    """,
        'nn.functional.dropout': """

    Examples:
        >>> from spore import Tensor, mint
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(mint.nn.functional.dropout(x, 0.0))
        [[ 1.2  1.2  0.1]
         [-0.9 -1.8 -0.5]]
    """,
        'nn.functional.dropout2d': """

    Examples:
        >>> import numpy as np
        >>> import spore as ms
        >>> from spore import Tensor, mint
        >>> image = Tensor(np.arange(16).reshape(1, 1, 4, 4), ms.float32)
        >>> print(mint.nn.functional.dropout2d(image, training=False).shape)
        (1, 1, 4, 4)
    """,
        'nn.functional.elu': """

    Examples:
        >>> from spore import Tensor, mint
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(mint.nn.functional.elu(x))
        [[ 1.2         1.2         0.1       ]
         [-0.59343034 -0.8347011  -0.39346933]]
    """,
        'nn.functional.elu_': """

    Examples:
        >>> from spore import Tensor, mint
        >>> print(mint.nn.functional.elu_(Tensor([-1.0, 1.0])))
        [-0.63212055  1.        ]
    """,
        'nn.functional.gelu': """

    Examples:
        >>> from spore import Tensor, mint
        >>> x = Tensor([[1.8, 1.8, 0.1], [-1.3, -2.7, -0.7]])
        >>> print(mint.nn.functional.gelu(x))
        [[ 1.7353253   1.7353253   0.05398278]
         [-0.12584062 -0.00936081 -0.16937456]]
    """,
        'nn.functional.glu': """

    Examples:
        >>> from spore import Tensor, mint
        >>> print(mint.nn.functional.glu(Tensor([1.0, 2.0, 0.0, 0.0])))
        [0.5 1. ]
    """,
        'nn.functional.hardsigmoid': """

    Examples:
        >>> from spore import Tensor, mint
        >>> x = Tensor([[2.4, 2.5, 0.1], [-1.7, -3.6, -0.9]])
        >>> print(mint.nn.functional.hardsigmoid(x))
        [[0.9        0.9166666  0.51666665]
         [0.21666667 0.         0.35000002]]
    """,
        'nn.functional.hardswish': """

    Examples:
        >>> from spore import Tensor, mint
        >>> x = Tensor([[2.4, 2.5, 0.1], [-1.7, -3.6, -0.9]])
        >>> print(mint.nn.functional.hardswish(x))
        [[ 2.16        2.2916667   0.05166667]
         [-0.36833334  0.         -0.31499997]]
    """,
        'nn.functional.hardtanh': """

    Examples:
        >>> from spore import Tensor, mint
        >>> print(mint.nn.functional.hardtanh(Tensor([-2.0, 0.5, 2.0])))
        [-1.   0.5  1. ]
    """,
        'nn.functional.hardtanh_': """

    Examples:
        >>> from spore import Tensor, mint
        >>> print(mint.nn.functional.hardtanh_(Tensor([-2.0, 0.5, 2.0])))
        [-1.   0.5  1. ]
    """,
        'nn.functional.interpolate': """

    Examples:
        >>> import numpy as np
        >>> import spore as ms
        >>> from spore import Tensor, mint
        >>> x = Tensor(np.linspace(-2, 2, 24).reshape(1, 2, 3, 4), ms.float32)
        >>> print(mint.nn.functional.interpolate(x, size=(4, 6), mode='nearest').shape)
        (1, 2, 4, 6)
    """,
        'nn.functional.log_softmax': """

    Examples:
        >>> from spore import Tensor, mint
        >>> x = Tensor([[[1.2, 1.2], [0.1, -0.9], [-1.8, -0.5]], [[-0.4, -1.8], [-1.8, 2.0], [0.6, -1.1]]])
        >>> print(mint.nn.functional.log_softmax(x, 1).shape)
        (2, 3, 2)
    """,
        'nn.functional.max_pool2d': """

    Examples:
        >>> import numpy as np
        >>> import spore as ms
        >>> from spore import Tensor, mint
        >>> image = Tensor(np.arange(16).reshape(1, 1, 4, 4), ms.float32)
        >>> print(mint.nn.functional.max_pool2d(image, 2).shape)
        (1, 1, 2, 2)
    """,
        'nn.functional.mish': """

    Examples:
        >>> from spore import Tensor, mint
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(mint.nn.functional.mish(x))
        [[ 1.077946    1.077946    0.06317943]
         [-0.2956564  -0.2732316  -0.22074378]]
    """,
        'nn.functional.nll_loss': """

    Examples:
        >>> from spore import Tensor, mint
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> print(mint.nn.functional.nll_loss(x, Tensor([0, 2])))
        -3.5
    """,
        'nn.functional.one_hot': """

    Examples:
        >>> from spore import Tensor, mint
        >>> i = Tensor([[2, 2], [1, 0]])
        >>> print(mint.nn.functional.one_hot(i).shape)
        (2, 2, 3)
    """,
        'nn.functional.pad': """

    Examples:
        >>> from spore import Tensor, mint
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(mint.nn.functional.pad(x, (1, 2)))
        [[ 0.   1.2  1.2  0.1  0.   0. ]
         [ 0.  -0.9 -1.8 -0.5  0.   0. ]]
    """,
        'nn.functional.relu6': """

    Examples:
        >>> from spore import Tensor, mint
        >>> x = Tensor([[6.1, 6.1, 3.2], [0.9, -1.5, 1.8]])
        >>> print(mint.nn.functional.relu6(x))
        [[6.  6.  3.2]
         [0.9 0.  1.8]]
    """,
        'nn.functional.relu_': """

    Examples:
        >>> from spore import Tensor, mint
        >>> print(mint.nn.functional.relu_(Tensor([-1.0, 1.0])))
        [0. 1.]
    """,
        'nn.functional.selu': """

    Examples:
        >>> from spore import Tensor, mint
        >>> print(mint.nn.functional.selu(Tensor([-1.0, 1.0])))
        [-1.1113307  1.050701 ]
    """,
        'nn.functional.sigmoid_': """

    Examples:
        >>> from spore import Tensor, mint
        >>> print(mint.nn.functional.sigmoid_(Tensor([-1.0, 1.0])))
        [0.26894143 0.7310586 ]
    """,
        'nn.functional.silu': """

    Examples:
        >>> from spore import Tensor, mint
        >>> x = Tensor([[2.4, 2.5, 0.1], [-1.7, -3.6, -0.9]])
        >>> print(mint.nn.functional.silu(x))
        [[ 2.2003856   2.3103545   0.05249792]
         [-0.26259094 -0.09574918 -0.26014543]]
    """,
        'nn.functional.softmax': """

    Examples:
        >>> from spore import Tensor, mint
        >>> x = Tensor([[[1.2, 1.2], [0.1, -0.9], [-1.8, -0.5]], [[-0.4, -1.8], [-1.8, 2.0], [0.6, -1.1]]])
        >>> print(mint.nn.functional.softmax(x, 1).shape)
        (2, 3, 2)
    """,
        'nn.functional.threshold': """

    Examples:
        >>> from spore import Tensor, mint
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(mint.nn.functional.threshold(v, 1.5, 0.0))
        [0. 2. 3.]
    """,
        'nn.functional.threshold_': """

    Examples:
        >>> from spore import Tensor, mint
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(mint.nn.functional.threshold_(v, 1.5, 0.0))
        [0. 2. 3.]
    """,
        'nn.functional.upsample': """

    Examples:
        >>> import numpy as np
        >>> import spore as ms
        >>> from spore import Tensor, mint
        >>> image = Tensor(np.arange(16).reshape(1, 1, 4, 4), ms.float32)
        >>> print(mint.nn.functional.upsample(image, size=(8, 8)).shape)
        (1, 1, 8, 8)
    """,
        'norm': """

    Examples:
        >>> from spore import Tensor, mint
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(mint.norm(x))
        2.6814175
    """,
        'normal': """

    Examples:
        >>> from spore import Tensor, mint
        >>> m = Tensor([1.2, 1.2, 0.1])
        >>> s = Tensor([0.9, 0.9, 0.8])
        >>> print(mint.normal(m, s).shape)
        (3,)
    """,
        'ones': """

    Examples:
        >>> from spore import mint
        >>> print(mint.ones((2, 3)))
        [[1. 1. 1.]
         [1. 1. 1.]]
    """,
        'rand': """

    Examples:
        >>> from spore import mint
        >>> print(mint.rand(2000).shape)
        (2000,)
    """,
        'rand_like': """

    Examples:
        >>> from spore import Tensor, mint
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> print(mint.rand_like(x).shape)
        (2, 3)
    """,
        'randint': """

    Examples:
        >>> from spore import mint
        >>> print(mint.randint(0, 9, (2000,)).shape)
        (2000,)
    """,
        'randint_like': """

    Examples:
        >>> from spore import Tensor, mint
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> print(mint.randint_like(x, 0, 9).shape)
        (2, 3)
    """,
        'randn': """

    Examples:
        >>> from spore import mint
        >>> print(mint.randn((2, 3)).shape)
        (2, 3)
    """,
        'randn_like': """

    Examples:
        >>> from spore import Tensor, mint
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> print(mint.randn_like(x).shape)
        (2, 3)
    """,
        'randperm': """

    Examples:
        >>> from spore import mint
        >>> print(mint.sort(mint.randperm(20))[0].shape)
        (20,)
    """,
        'scatter': """

    Examples:
        >>> from spore import Tensor, mint
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> i = Tensor([0, 2])
        >>> print(mint.scatter(v, 0, i, Tensor([7.0, 8.0])))
        [7. 2. 8.]
    """,
        'scatter_add': """

    Examples:
        >>> from spore import Tensor, mint
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> i = Tensor([0, 2])
        >>> print(mint.scatter_add(v, 0, i, Tensor([7.0, 8.0])))
        [ 8.  2. 11.]
    """,
        'select': """

    Examples:
        >>> from spore import Tensor, mint
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(mint.select(x, 1, 0))
        [ 1.2 -0.9]
    """,
        'softmax': """

    Examples:
        >>> from spore import Tensor, mint
        >>> x = Tensor([[[1.2, 1.2], [0.1, -0.9], [-1.8, -0.5]], [[-0.4, -1.8], [-1.8, 2.0], [0.6, -1.1]]])
        >>> print(mint.softmax(x, 1).shape)
        (2, 3, 2)
    """,
        'sort': """

    Examples:
        >>> from spore import Tensor, mint
        >>> x = Tensor([1.2, 1.2, 0.1, -0.9, -1.8, -0.5])
        >>> print(mint.sort(x)[0])
        [-1.8 -0.9 -0.5  0.1  1.2  1.2]
    """,
        'split': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor, mint
        >>> x = Tensor([3, 3, 0, -2], ms.int32)
        >>> print(*mint.split(x, (2, 2), 0), sep="\\n")
        [3 3]
        [ 0 -2]
    """,
        'squeeze': """

    Examples:
        >>> from spore import Tensor, mint
        >>> x = Tensor([[[1.2, 1.2, 0.1]], [[-0.9, -1.8, -0.5]]])
        >>> print(mint.squeeze(x, 1))
        [[ 1.2  1.2  0.1]
         [-0.9 -1.8 -0.5]]
    """,
        'stack': """

    Examples:
        >>> from spore import Tensor, mint
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> y = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(mint.stack((x, y)).shape)
        (2, 2, 3)
    """,
        't': """

    Examples:
        >>> from spore import Tensor, mint
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(mint.t(x))
        [[ 1.2 -0.9]
         [ 1.2 -1.8]
         [ 0.1 -0.5]]
    """,
        'topk': """

    Examples:
        >>> import numpy as np
        >>> import spore as ms
        >>> from spore import Tensor, mint
        >>> x = Tensor(np.linspace(-2, 2, 15).reshape(3, 5), ms.float32)
        >>> print(*mint.topk(x, 2), sep="\\n")
        [[-0.85714287 -1.1428572 ]
         [ 0.5714286   0.2857143 ]
         [ 2.          1.7142857 ]]
        [[4 3]
         [4 3]
         [4 3]]
    """,
        'transpose': """

    Examples:
        >>> from spore import Tensor, mint
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(mint.transpose(x, 0, 1))
        [[ 1.2 -0.9]
         [ 1.2 -1.8]
         [ 0.1 -0.5]]
    """,
        'unique': """

    Examples:
        >>> from spore import Tensor, mint
        >>> print(mint.unique(Tensor([2, 1, 2])))
        [1 2]
    """,
        'vdot': """

    Examples:
        >>> from spore import Tensor, mint
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> w = Tensor([3.0, 1.0, 2.0])
        >>> print(mint.vdot(v, w))
        11.0
    """,
        'where': """

    Examples:
        >>> from spore import Tensor, mint
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(mint.where(x > 0, x, 0.0))
        [[1.2 1.2 0.1]
         [0.  0.  0. ]]
    """,
        'zeros': """

    Examples:
        >>> from spore import mint
        >>> print(mint.zeros((2, 3)))
        [[0. 0. 0.]
         [0. 0. 0.]]
    """,
    },
    'nn': {
        'ASGD': """

    Examples:
        >>> from spore import Parameter, Tensor, nn
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> p = Parameter(Tensor([1.0, 2.0, 3.0]), name='p')
        >>> _ = nn.ASGD([p], 0.5)((v,))
        >>> print(p.asnumpy().round(3))
        [0.5 1.  1.5]
    """,
        'AdaMax': """

    Examples:
        >>> from spore import Parameter, Tensor, nn
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> p = Parameter(Tensor([1.0, 2.0, 3.0]), name='p')
        >>> _ = nn.AdaMax([p], 0.5)((v,))
        >>> print(p.asnumpy().round(3))
        [0.5 1.5 2.5]
    """,
        'Adadelta': """

    Examples:
        >>> from spore import Parameter, Tensor, nn
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> p = Parameter(Tensor([1.0, 2.0, 3.0]), name='p')
        >>> _ = nn.Adadelta([p], 0.5)((v,))
        >>> print(p.asnumpy().round(3))
        [0.998 1.998 2.998]
    """,
        'Adagrad': """

    Examples:
        >>> from spore import Parameter, Tensor, nn
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> p = Parameter(Tensor([1.0, 2.0, 3.0]), name='p')
        >>> _ = nn.Adagrad([p], learning_rate=0.5)((v,))
        >>> print(p.asnumpy().round(3))
        [0.523 1.506 2.503]
    """,
        'AdamOffload': """

    Examples:
        >>> from spore import Parameter, Tensor, nn
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> p = Parameter(Tensor([1.0, 2.0, 3.0]), name='p')
        >>> _ = nn.AdamOffload([p], 0.5)((v,))
        >>> print(p.asnumpy().round(3))
        [0.5 1.5 2.5]
    """,
        'AvgPool1dExt': """

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> print(nn.AvgPool1dExt(2)(ms.ops.ones((1, 1, 4))).shape)
        (1, 1, 2)
    """,
        'AvgPool2dExt': """

    Examples:
        >>> import numpy as np
        >>> import spore as ms
        >>> from spore import Tensor, nn
        >>> image = Tensor(np.arange(16).reshape(1, 1, 4, 4), ms.float32)
        >>> print(nn.AvgPool2dExt(2)(image).shape)
        (1, 1, 2, 2)
    """,
        'AvgPool3dExt': """

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> print(nn.AvgPool3dExt(2)(ms.ops.ones((1, 1, 2, 2, 2))).shape)
        (1, 1, 1, 1, 1)
    """,
        'CTCLoss': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor, nn
        >>> print(nn.CTCLoss()(ms.ops.log_softmax(ms.ops.ones((4, 1, 3)), -1), Tensor([[1, 2]], ms.int32), Tensor([4], ms.int32), Tensor([2], ms.int32)))
        0.8431995
    """,
        'Dropout2dExt': """

    Examples:
        >>> import numpy as np
        >>> import spore as ms
        >>> from spore import Tensor, nn
        >>> image = Tensor(np.arange(16).reshape(1, 1, 4, 4), ms.float32)
        >>> print(nn.Dropout2dExt(0.5)(image).shape)
        (1, 1, 4, 4)
    """,
        'DropoutExt': """

    Examples:
        >>> from spore import Tensor, nn
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(nn.DropoutExt(0.5)(v).shape)
        (3,)
    """,
        'EmbeddingExt': """

    Examples:
        >>> from spore import Tensor, nn
        >>> i = Tensor([0, 2])
        >>> print(nn.EmbeddingExt(4, 2)(i).shape)
        (2, 2)
    """,
        'FTRL': """

    Examples:
        >>> from spore import Parameter, Tensor, nn
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> p = Parameter(Tensor([1.0, 2.0, 3.0]), name='p')
        >>> _ = nn.FTRL([p], learning_rate=0.5)((v,))
        >>> print(p.asnumpy().round(3))
        [0.222 1.194 2.188]
    """,
        'InverseDecayLR': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor, nn
        >>> print(nn.InverseDecayLR(0.1, 0.5, 4)(Tensor(4, ms.int32)))
        0.06666667
    """,
        'L1LossExt': """

    Examples:
        >>> from spore import Tensor, nn
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> w = Tensor([3.0, 1.0, 2.0])
        >>> print(nn.L1LossExt()(v, w))
        1.3333334
    """,
        'LARS': """

    Examples:
        >>> from spore import Parameter, Tensor, nn
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> p = Parameter(Tensor([1.0, 2.0, 3.0]), name='p')
        >>> _ = nn.LARS(nn.Momentum([p], 0.5, 0.9))((v,))
        >>> print(p.asnumpy().round(3))
        [1.    1.999 2.998]
    """,
        'LPPool1d': """

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> print(nn.LPPool1d(2, 2)(ms.ops.ones((1, 1, 4))).shape)
        (1, 1, 2)
    """,
        'LPPool2d': """

    Examples:
        >>> import numpy as np
        >>> import spore as ms
        >>> from spore import Tensor, nn
        >>> image = Tensor(np.arange(16).reshape(1, 1, 4, 4), ms.float32)
        >>> print(nn.LPPool2d(2, 2)(image).shape)
        (1, 1, 2, 2)
    """,
        'Lamb': """

    Examples:
        >>> from spore import Parameter, Tensor, nn
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> p = Parameter(Tensor([1.0, 2.0, 3.0]), name='p')
        >>> _ = nn.Lamb([p], 0.5)((v,))
        >>> print(p.asnumpy().round(3))
        [-0.08  0.92  1.92]
    """,
        'LayerNormExt': """

    Examples:
        >>> from spore import Tensor, nn
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> print(nn.LayerNormExt((3,))(x).shape)
        (2, 3)
    """,
        'LazyAdam': """

    Examples:
        >>> from spore import Parameter, Tensor, nn
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> p = Parameter(Tensor([1.0, 2.0, 3.0]), name='p')
        >>> _ = nn.LazyAdam([p], 0.5)((v,))
        >>> print(p.asnumpy().round(3))
        [0.5 1.5 2.5]
    """,
        'LearningRateSchedule': """

    Examples:
        >>> from spore import nn
        >>> print(isinstance(nn.CosineDecayLR(0.01, 0.1, 4), nn.LearningRateSchedule))
        True
    """,
        'LogSoftmaxExt': """

    Examples:
        >>> from spore import Tensor, nn
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(nn.LogSoftmaxExt(0)(v))
        [-2.407606   -1.407606   -0.40760598]
    """,
        'MatDet': """

    Examples:
        >>> from spore import Tensor, nn
        >>> print(nn.MatDet()(Tensor([[2.0, 0.0], [0.0, 4.0]])))
        8.0
    """,
        'MatInverse': """

    Examples:
        >>> from spore import Tensor, nn
        >>> print(nn.MatInverse()(Tensor([[2.0, 0.0], [0.0, 4.0]])))
        [[0.5  0.  ]
         [0.   0.25]]
    """,
        'MaxPool2dExt': """

    Examples:
        >>> import numpy as np
        >>> import spore as ms
        >>> from spore import Tensor, nn
        >>> image = Tensor(np.arange(16).reshape(1, 1, 4, 4), ms.float32)
        >>> print(nn.MaxPool2dExt(2)(image).shape)
        (1, 1, 2, 2)
    """,
        'MaxUnpool1d': """

    Examples:
        >>> from spore import Tensor, nn
        >>> print(nn.MaxUnpool1d(2)(Tensor([[[2.0, 4.0]]]), Tensor([[[1, 3]]])).shape)
        (1, 1, 4)
    """,
        'MaxUnpool2d': """

    Examples:
        >>> from spore import Tensor, nn
        >>> print(nn.MaxUnpool2d(2)(Tensor([[[[5.0]]]]), Tensor([[[[3]]]])).shape)
        (1, 1, 2, 2)
    """,
        'MaxUnpool3d': """

    Examples:
        >>> from spore import Tensor, nn
        >>> print(nn.MaxUnpool3d(2)(Tensor([[[[[5.0]]]]]), Tensor([[[[[7]]]]])).shape)
        (1, 1, 2, 2, 2)
    """,
        'NaturalExpDecayLR': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor, nn
        >>> print(nn.NaturalExpDecayLR(0.1, 0.5, 4)(Tensor(4, ms.int32)))
        0.013533528
    """,
        'Optimizer': """

    Examples:
        >>> from spore import Parameter, Tensor, nn
        >>> p = Parameter(Tensor([1.0, 2.0, 3.0]), name='p')
        >>> print(nn.Momentum([p], 0.5, 0.9).get_lr())
        Parameter (name=learning_rate, shape=(), dtype=Float32, requires_grad=True)
    """,
        'PReLUExt': """

    Examples:
        >>> from spore import Tensor, nn
        >>> print(nn.PReLUExt()(Tensor([-1.0, 1.0])))
        [-0.25  1.  ]
    """,
        'PolynomialDecayLR': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor, nn
        >>> print(nn.PolynomialDecayLR(0.1, 0.01, 4, 0.5)(Tensor(2, ms.int32)))
        0.07363961
    """,
        'ProximalAdagrad': """

    Examples:
        >>> from spore import Parameter, Tensor, nn
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> p = Parameter(Tensor([1.0, 2.0, 3.0]), name='p')
        >>> _ = nn.ProximalAdagrad([p], learning_rate=0.5)((v,))
        >>> print(p.asnumpy().round(3))
        [0.523 1.506 2.503]
    """,
        'RMSProp': """

    Examples:
        >>> from spore import Parameter, Tensor, nn
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> p = Parameter(Tensor([1.0, 2.0, 3.0]), name='p')
        >>> _ = nn.RMSProp([p], 0.5)((v,))
        >>> print(p.asnumpy().round(3))
        [0.5   1.123 1.882]
    """,
        'Rprop': """

    Examples:
        >>> from spore import Parameter, Tensor, nn
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> p = Parameter(Tensor([1.0, 2.0, 3.0]), name='p')
        >>> _ = nn.Rprop([p], 0.5)((v,))
        >>> print(p.asnumpy().round(3))
        [0.5 1.5 2.5]
    """,
        'inverse_decay_lr': """

    Examples:
        >>> from spore import nn
        >>> print(nn.inverse_decay_lr(0.1, 0.5, 4, 2, 1))
        [0.1, 0.1, 0.06666666666666667, 0.06666666666666667]
    """,
        'natural_exp_decay_lr': """

    Examples:
        >>> from spore import nn
        >>> print(nn.natural_exp_decay_lr(0.1, 0.5, 4, 2, 1))
        [0.1, 0.1, 0.06065306597126335, 0.06065306597126335]
    """,
        'polynomial_decay_lr': """

    Examples:
        >>> from spore import nn
        >>> print(nn.polynomial_decay_lr(0.1, 0.01, 4, 2, 2, 0.5))
        [0.1, 0.1, 0.07363961030678928, 0.07363961030678928]
    """,
    },
    'numpy': {
        'abs': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> i = Tensor([[4, 4, 3], [1, 0, 2]], ms.int32)
        >>> print(ms.numpy.abs(i))
        [[4 4 3]
         [1 0 2]]
    """,
        'absolute': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> i = Tensor([[4, 4, 3], [1, 0, 2]], ms.int32)
        >>> print(ms.numpy.absolute(i))
        [[4 4 3]
         [1 0 2]]
    """,
        'add': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> y = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ms.numpy.add(x, y))
        [[ 2.4  2.4  0.2]
         [-1.8 -3.6 -1. ]]
    """,
        'amax': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ms.numpy.amax(x))
        1.2
    """,
        'amin': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ms.numpy.amin(x))
        -1.8
    """,
        'append': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> v = Tensor([1.2, 1.2, 0.1, -0.9])
        >>> w = Tensor([1.2, 1.2, 0.1, -0.9])
        >>> print(ms.numpy.append(v, w))
        [ 1.2  1.2  0.1 -0.9  1.2  1.2  0.1 -0.9]
    """,
        'apply_along_axis': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ms.numpy.apply_along_axis(ms.numpy.sum, 0, x))
        [ 0.30000007 -0.5999999  -0.4       ]
    """,
        'apply_over_axes': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ms.numpy.apply_over_axes(ms.numpy.sum, x, 0))
        [[ 0.30000007 -0.5999999  -0.4       ]]
    """,
        'arange': """

    Examples:
        >>> import spore as ms
        >>> print(ms.numpy.arange(5))
        [0 1 2 3 4]
    """,
        'arccos': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[0.5, 0.6, 0.0], [-0.4, -0.8, -0.2]])
        >>> print(ms.numpy.arccos(x))
        [[1.0471976 0.9272952 1.5707964]
         [1.9823132 2.4980917 1.7721542]]
    """,
        'arccosh': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[2.6, 2.6, 2.1], [1.6, 1.2, 1.8]])
        >>> print(ms.numpy.arccosh(x))
        [[1.609438  1.609438  1.3728591]
         [1.046968  0.6223626 1.1929107]]
    """,
        'arcsin': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[0.5, 0.6, 0.0], [-0.4, -0.8, -0.2]])
        >>> print(ms.numpy.arcsin(x))
        [[ 0.5235988   0.64350116  0.        ]
         [-0.41151685 -0.9272952  -0.20135793]]
    """,
        'arcsinh': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ms.numpy.arcsinh(x))
        [[ 1.0159732   1.0159732   0.09983408]
         [-0.80886686 -1.3504407  -0.48121184]]
    """,
        'arctan': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ms.numpy.arctan(x))
        [[ 0.8760581   0.8760581   0.09966865]
         [-0.7328151  -1.0636978  -0.4636476 ]]
    """,
        'arctan2': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> y = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ms.numpy.arctan2(x, y))
        [[ 0.7853982  0.7853982  0.7853982]
         [-2.3561945 -2.3561945 -2.3561945]]
    """,
        'arctanh': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[0.5, 0.6, 0.0], [-0.4, -0.8, -0.2]])
        >>> print(ms.numpy.arctanh(x))
        [[ 0.54930615  0.6931472   0.        ]
         [-0.42364895 -1.0986123  -0.20273255]]
    """,
        'argmax': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ms.numpy.argmax(x))
        0
    """,
        'argmin': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ms.numpy.argmin(x))
        4
    """,
        'argwhere': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> i = Tensor([[4, 4, 3], [1, 0, 2]], ms.int32)
        >>> print(ms.numpy.argwhere(i))
        [[0 0]
         [0 1]
         [0 2]
         [1 0]
         [1 2]]
    """,
        'around': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ms.numpy.around(x))
        [[ 1.  1.  0.]
         [-1. -2. -0.]]
    """,
        'array': """

    Examples:
        >>> import spore as ms
        >>> print(ms.numpy.array([1, 2, 3]))
        [1 2 3]
    """,
        'array_equal': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ms.numpy.array_equal(x, x))
        True
    """,
        'array_equiv': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ms.numpy.array_equiv(x, x))
        True
    """,
        'array_split': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> v = Tensor([1.2, 1.2, 0.1, -0.9])
        >>> print(*ms.numpy.array_split(v, 3), sep="\\n")
        [1.2 1.2]
        [0.1]
        [-0.9]
    """,
        'array_str': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> i = Tensor([[4, 4, 3], [1, 0, 2]], ms.int32)
        >>> print(ms.numpy.array_str(i))
        [[4 4 3]
         [1 0 2]]
    """,
        'asarray': """

    Examples:
        >>> import spore as ms
        >>> print(ms.numpy.asarray([1, 2]))
        [1 2]
    """,
        'asfarray': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> i = Tensor([[4, 4, 3], [1, 0, 2]], ms.int32)
        >>> print(ms.numpy.asfarray(i))
        [[4. 4. 3.]
         [1. 0. 2.]]
    """,
        'atleast_1d': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ms.numpy.atleast_1d(x))
        [[ 1.2  1.2  0.1]
         [-0.9 -1.8 -0.5]]
    """,
        'atleast_2d': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> v = Tensor([1.2, 1.2, 0.1, -0.9])
        >>> print(ms.numpy.atleast_2d(v))
        [[ 1.2  1.2  0.1 -0.9]]
    """,
        'atleast_3d': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> v = Tensor([1.2, 1.2, 0.1, -0.9])
        >>> print(ms.numpy.atleast_3d(v).shape)
        (1, 4, 1)
    """,
        'average': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ms.numpy.average(x))
        -0.11666664
    """,
        'bartlett': """

    Examples:
        >>> import spore as ms
        >>> print(ms.numpy.bartlett(5))
        [0.  0.5 1.  0.5 0. ]
    """,
        'bincount': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> l = Tensor([4, 4, 2, 1])
        >>> print(ms.numpy.bincount(l))
        [0. 1. 1. 0. 2.]
    """,
        'bitwise_and': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> i = Tensor([[4, 4, 3], [1, 0, 2]], ms.int32)
        >>> print(ms.numpy.bitwise_and(i, 3))
        [[0 0 3]
         [1 0 2]]
    """,
        'bitwise_not': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> i = Tensor([[4, 4, 3], [1, 0, 2]], ms.int32)
        >>> print(ms.numpy.bitwise_not(i))
        [[-5 -5 -4]
         [-2 -1 -3]]
    """,
        'bitwise_or': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> i = Tensor([[4, 4, 3], [1, 0, 2]], ms.int32)
        >>> print(ms.numpy.bitwise_or(i, 3))
        [[7 7 3]
         [3 3 3]]
    """,
        'bitwise_xor': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> i = Tensor([[4, 4, 3], [1, 0, 2]], ms.int32)
        >>> print(ms.numpy.bitwise_xor(i, 3))
        [[7 7 0]
         [2 3 1]]
    """,
        'blackman': """

    Examples:
        >>> import spore as ms
        >>> print(ms.numpy.blackman(5))
        [-1.4901161e-08  3.4000003e-01  9.9999994e-01  3.3999997e-01
         -1.4901161e-08]
    """,
        'broadcast_arrays': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> v = Tensor([1.2, 1.2, 0.1, -0.9])
        >>> z = Tensor([[1.2], [1.2], [0.1]])
        >>> print([t.shape for t in ms.numpy.broadcast_arrays(v, z)])
        [(3, 4), (3, 4)]
    """,
        'broadcast_to': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> v = Tensor([1.2, 1.2, 0.1, -0.9])
        >>> print(ms.numpy.broadcast_to(v, (3, 4)))
        [[ 1.2  1.2  0.1 -0.9]
         [ 1.2  1.2  0.1 -0.9]
         [ 1.2  1.2  0.1 -0.9]]
    """,
        'cbrt': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ms.numpy.cbrt(x))
        [[ 1.0626585   1.0626585   0.46415886]
         [-0.9654894  -1.2164404  -0.7937005 ]]
    """,
        'ceil': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ms.numpy.ceil(x))
        [[ 2.  2.  1.]
         [-0. -1. -0.]]
    """,
        'choose': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> v = Tensor([1.2, 1.2, 0.1, -0.9])
        >>> w = Tensor([1.2, 1.2, 0.1, -0.9])
        >>> z = Tensor([1, 1, 1, 0], ms.int32)
        >>> print(ms.numpy.choose(z, [v, w]))
        [ 1.2  1.2  0.1 -0.9]
    """,
        'clip': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> i = Tensor([[4, 4, 3], [1, 0, 2]], ms.int32)
        >>> print(ms.numpy.clip(i, 2, 4))
        [[4 4 3]
         [2 2 2]]
    """,
        'column_stack': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> v = Tensor([1.2, 1.2, 0.1, -0.9])
        >>> w = Tensor([1.2, 1.2, 0.1, -0.9])
        >>> print(ms.numpy.column_stack((v, w)))
        [[ 1.2  1.2]
         [ 1.2  1.2]
         [ 0.1  0.1]
         [-0.9 -0.9]]
    """,
        'concatenate': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> y = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ms.numpy.concatenate((x, y)))
        [[ 1.2  1.2  0.1]
         [-0.9 -1.8 -0.5]
         [ 1.2  1.2  0.1]
         [-0.9 -1.8 -0.5]]
    """,
        'convolve': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> v = Tensor([1.2, 1.2, 0.1, -0.9])
        >>> w = Tensor([1.2, 1.2, 0.1, -0.9])
        >>> print(ms.numpy.convolve(v, w))
        [ 1.44        2.88        1.6800001  -1.9200001  -2.15       -0.17999999
          0.80999994]
    """,
        'copy': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ms.numpy.copy(x))
        [[ 1.2  1.2  0.1]
         [-0.9 -1.8 -0.5]]
    """,
        'copysign': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> y = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ms.numpy.copysign(x, y))
        [[ 1.2  1.2  0.1]
         [-0.9 -1.8 -0.5]]
    """,
        'corrcoef': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ms.numpy.corrcoef(x))
        [[ 1.         -0.73704356]
         [-0.7370435   1.        ]]
    """,
        'correlate': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> v = Tensor([1.2, 1.2, 0.1, -0.9])
        >>> w = Tensor([1.2, 1.2, 0.1, -0.9])
        >>> print(ms.numpy.correlate(v, w))
        [3.7]
    """,
        'cos': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ms.numpy.cos(x))
        [[ 0.36235774  0.36235774  0.9950042 ]
         [ 0.62161    -0.22720204  0.87758255]]
    """,
        'cosh': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ms.numpy.cosh(x))
        [[1.8106556 1.8106556 1.0050042]
         [1.4330864 3.1074731 1.127626 ]]
    """,
        'count_nonzero': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> i = Tensor([[4, 4, 3], [1, 0, 2]], ms.int32)
        >>> print(ms.numpy.count_nonzero(i))
        5
    """,
        'cov': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ms.numpy.cov(x))
        [[ 0.40333334 -0.31166667]
         [-0.31166667  0.4433333 ]]
    """,
        'cross': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> y = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ms.numpy.cross(x, y))
        [[0. 0. 0.]
         [0. 0. 0.]]
    """,
        'cumprod': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ms.numpy.cumprod(x))
        [ 1.2         1.44        0.14400001 -0.1296      0.23328    -0.11664   ]
    """,
        'cumsum': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ms.numpy.cumsum(x))
        [ 1.2         2.4         2.5         1.6000001  -0.19999984 -0.6999998 ]
    """,
        'deg2rad': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ms.numpy.deg2rad(x))
        [[ 0.02094395  0.02094395  0.00174533]
         [-0.01570796 -0.03141592 -0.00872665]]
    """,
        'diag': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> v = Tensor([1.2, 1.2, 0.1, -0.9])
        >>> print(ms.numpy.diag(v).shape)
        (4, 4)
    """,
        'diag_indices': """

    Examples:
        >>> import spore as ms
        >>> print(*ms.numpy.diag_indices(3), sep="\\n")
        [0 1 2]
        [0 1 2]
    """,
        'diagflat': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> v = Tensor([1.2, 1.2, 0.1, -0.9])
        >>> print(ms.numpy.diagflat(v).shape)
        (4, 4)
    """,
        'diagonal': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ms.numpy.diagonal(x))
        [ 1.2 -1.8]
    """,
        'diff': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> v = Tensor([1.2, 1.2, 0.1, -0.9])
        >>> print(ms.numpy.diff(v))
        [ 0.  -1.1 -1. ]
    """,
        'digitize': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ms.numpy.digitize(x, ms.numpy.array([-1.0, 0.0, 1.0])))
        [[3 3 2]
         [1 0 1]]
    """,
        'divide': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> y = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ms.numpy.divide(x, y))
        [[1. 1. 1.]
         [1. 1. 1.]]
    """,
        'divmod': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> i = Tensor([[4, 4, 3], [1, 0, 2]], ms.int32)
        >>> print(*ms.numpy.divmod(i, 4), sep="\\n")
        [[1 1 0]
         [0 0 0]]
        [[0 0 3]
         [1 0 2]]
    """,
        'dot': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> v = Tensor([1.2, 1.2, 0.1, -0.9])
        >>> w = Tensor([1.2, 1.2, 0.1, -0.9])
        >>> print(ms.numpy.dot(v, w))
        3.7
    """,
        'dsplit': """

    Examples:
        >>> import numpy as np
        >>> import spore as ms
        >>> from spore import Tensor
        >>> c = Tensor(np.linspace(-2, 2, 24).reshape(2, 3, 4), ms.float32)
        >>> print([t.shape for t in ms.numpy.dsplit(c, 2)])
        [(2, 3, 2), (2, 3, 2)]
    """,
        'dstack': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> v = Tensor([1.2, 1.2, 0.1, -0.9])
        >>> w = Tensor([1.2, 1.2, 0.1, -0.9])
        >>> print(ms.numpy.dstack((v, w)).shape)
        (1, 4, 2)
    """,
        'ediff1d': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ms.numpy.ediff1d(x))
        [ 0.  -1.1 -1.  -0.9  1.3]
    """,
        'empty': """

    Examples:
        >>> import spore as ms
        >>> print(ms.numpy.empty((2, 3)).shape)
        (2, 3)
    """,
        'empty_like': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ms.numpy.empty_like(x).shape)
        (2, 3)
    """,
        'equal': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> y = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ms.numpy.equal(x, y))
        [[ True  True  True]
         [ True  True  True]]
    """,
        'exp': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ms.numpy.exp(x))
        [[3.320117   3.320117   1.105171  ]
         [0.40656966 0.1652989  0.60653067]]
    """,
        'exp2': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ms.numpy.exp2(x))
        [[2.297397   2.297397   1.0717734 ]
         [0.53588676 0.2871746  0.70710677]]
    """,
        'expand_dims': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ms.numpy.expand_dims(x, 0).shape)
        (1, 2, 3)
    """,
        'expm1': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ms.numpy.expm1(x))
        [[ 2.320117    2.320117    0.10517092]
         [-0.59343034 -0.8347011  -0.39346933]]
    """,
        'eye': """

    Examples:
        >>> import spore as ms
        >>> print(ms.numpy.eye(3))
        [[1. 0. 0.]
         [0. 1. 0.]
         [0. 0. 1.]]
    """,
        'fabs': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ms.numpy.fabs(x))
        [[1.2 1.2 0.1]
         [0.9 1.8 0.5]]
    """,
        'fix': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ms.numpy.fix(x * 2))
        [[ 2.  2.  0.]
         [-1. -3. -1.]]
    """,
        'flip': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ms.numpy.flip(x))
        [[-0.5 -1.8 -0.9]
         [ 0.1  1.2  1.2]]
    """,
        'fliplr': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ms.numpy.fliplr(x))
        [[ 0.1  1.2  1.2]
         [-0.5 -1.8 -0.9]]
    """,
        'flipud': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ms.numpy.flipud(x))
        [[-0.9 -1.8 -0.5]
         [ 1.2  1.2  0.1]]
    """,
        'float_power': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> i = Tensor([[4, 4, 3], [1, 0, 2]], ms.int32)
        >>> print(ms.numpy.float_power(i, x))
        [[5.278032   5.278032   1.1161232 ]
         [1.                inf 0.70710677]]
    """,
        'floor': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ms.numpy.floor(x))
        [[ 1.  1.  0.]
         [-1. -2. -1.]]
    """,
        'floor_divide': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> i = Tensor([[4, 4, 3], [1, 0, 2]], ms.int32)
        >>> print(ms.numpy.floor_divide(i, 2))
        [[2 2 1]
         [0 0 1]]
    """,
        'fmod': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> i = Tensor([[4, 4, 3], [1, 0, 2]], ms.int32)
        >>> print(ms.numpy.fmod(i, 4))
        [[0 0 3]
         [1 0 2]]
    """,
        'full': """

    Examples:
        >>> import spore as ms
        >>> print(ms.numpy.full(3, True))
        [ True  True  True]
    """,
        'full_like': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ms.numpy.full_like(x, 2))
        [[2. 2. 2.]
         [2. 2. 2.]]
    """,
        'gcd': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> i = Tensor([[4, 4, 3], [1, 0, 2]], ms.int32)
        >>> print(ms.numpy.gcd(i, 4))
        [[4 4 1]
         [1 4 2]]
    """,
        'geomspace': """

    Examples:
        >>> import spore as ms
        >>> print(ms.numpy.geomspace(1, 8, 4))
        [1. 2. 4. 8.]
    """,
        'gradient': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> v = Tensor([1.2, 1.2, 0.1, -0.9])
        >>> print(ms.numpy.gradient(v))
        [ 0.   -0.55 -1.05 -1.  ]
    """,
        'greater': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> y = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ms.numpy.greater(x, y))
        [[False False False]
         [False False False]]
    """,
        'greater_equal': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> y = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ms.numpy.greater_equal(x, y))
        [[ True  True  True]
         [ True  True  True]]
    """,
        'hamming': """

    Examples:
        >>> import spore as ms
        >>> print(ms.numpy.hamming(5))
        [0.08000001 0.54       1.         0.54       0.08000001]
    """,
        'hanning': """

    Examples:
        >>> import spore as ms
        >>> print(ms.numpy.hanning(5))
        [0.  0.5 1.  0.5 0. ]
    """,
        'heaviside': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ms.numpy.heaviside(x, 0.5))
        [[1. 1. 1.]
         [0. 0. 0.]]
    """,
        'histogram': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> v = Tensor([1.2, 1.2, 0.1, -0.9])
        >>> print(*ms.numpy.histogram(v, 3), sep="\\n")
        [1. 1. 2.]
        [-0.9        -0.19999999  0.5         1.2       ]
    """,
        'histogram2d': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> v = Tensor([1.2, 1.2, 0.1, -0.9])
        >>> w = Tensor([1.2, 1.2, 0.1, -0.9])
        >>> print(*ms.numpy.histogram2d(v, w, 2), sep="\\n")
        [[2. 0.]
         [0. 2.]]
        [-0.9         0.14999998  1.2       ]
        [-0.9         0.14999998  1.2       ]
    """,
        'histogram_bin_edges': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> v = Tensor([1.2, 1.2, 0.1, -0.9])
        >>> print(ms.numpy.histogram_bin_edges(v, 3))
        [-0.9        -0.19999999  0.5         1.2       ]
    """,
        'histogramdd': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> z = Tensor([[1.2, 1.2], [0.1, -0.9], [-1.8, -0.5], [-0.4, -1.8], [-1.8, 2.0], [0.6, -1.1]])
        >>> print(ms.numpy.histogramdd(z, 2))
        (Tensor(shape=[2, 2], dtype=Float32, value=
        [[ 2.00000000e+00,  1.00000000e+00],
         [ 2.00000000e+00,  1.00000000e+00]]), [Tensor(shape=[3], dtype=Float32, value= [-1.79999995e+00, -2.99999952e-01,  1.20000005e+00]), Tensor(shape=[3], dtype=Float32, value= [-1.79999995e+00,  1.00000024e-01,  2.00000000e+00])])
    """,
        'hsplit': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(*ms.numpy.hsplit(x, 3), sep="\\n")
        [[ 1.2]
         [-0.9]]
        [[ 1.2]
         [-1.8]]
        [[ 0.1]
         [-0.5]]
    """,
        'hstack': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> v = Tensor([1.2, 1.2, 0.1, -0.9])
        >>> w = Tensor([1.2, 1.2, 0.1, -0.9])
        >>> print(ms.numpy.hstack((v, w)))
        [ 1.2  1.2  0.1 -0.9  1.2  1.2  0.1 -0.9]
    """,
        'hypot': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> y = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ms.numpy.hypot(x, y))
        [[1.6970563  1.6970563  0.14142136]
         [1.2727922  2.5455844  0.70710677]]
    """,
        'identity': """

    Examples:
        >>> import spore as ms
        >>> print(ms.numpy.identity(3))
        [[1. 0. 0.]
         [0. 1. 0.]
         [0. 0. 1.]]
    """,
        'in1d': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> i = Tensor([[4, 4, 3], [1, 0, 2]], ms.int32)
        >>> print(ms.numpy.in1d(i, [1, 2]))
        [False False False  True False  True]
    """,
        'indices': """

    Examples:
        >>> import spore as ms
        >>> print(*ms.numpy.indices((2, 3)), sep="\\n")
        [[0 0 0]
         [1 1 1]]
        [[0 1 2]
         [0 1 2]]
    """,
        'inner': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> v = Tensor([1.2, 1.2, 0.1, -0.9])
        >>> w = Tensor([1.2, 1.2, 0.1, -0.9])
        >>> print(ms.numpy.inner(v, w))
        3.7
    """,
        'interp': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ms.numpy.interp(x, ms.numpy.array([-1.0, 0.0, 1.0]), ms.numpy.array([2.0, 3.0, 1.0])))
        [[1.  1.  2.8]
         [2.1 2.  2.5]]
    """,
        'intersect1d': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> l = Tensor([4, 4, 2, 1])
        >>> z = Tensor([3, 3, 2])
        >>> print(ms.numpy.intersect1d(l, z))
        [2]
    """,
        'invert': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> i = Tensor([[4, 4, 3], [1, 0, 2]], ms.int32)
        >>> print(ms.numpy.invert(i))
        [[-5 -5 -4]
         [-2 -1 -3]]
    """,
        'isclose': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> y = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ms.numpy.isclose(x, y))
        [[ True  True  True]
         [ True  True  True]]
    """,
        'isfinite': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ms.numpy.isfinite(x))
        [[ True  True  True]
         [ True  True  True]]
    """,
        'isin': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> i = Tensor([[4, 4, 3], [1, 0, 2]], ms.int32)
        >>> print(ms.numpy.isin(i, [1, 2]))
        [[False False False]
         [ True False  True]]
    """,
        'isinf': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ms.numpy.isinf(x))
        [[False False False]
         [False False False]]
    """,
        'isnan': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ms.numpy.isnan(x))
        [[False False False]
         [False False False]]
    """,
        'isneginf': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> z = Tensor([[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
        >>> print(ms.numpy.isneginf(x / z))
        [[False False False]
         [ True  True  True]]
    """,
        'isposinf': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> z = Tensor([[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
        >>> print(ms.numpy.isposinf(x / z))
        [[ True  True  True]
         [False False False]]
    """,
        'isscalar': """

    Examples:
        >>> import spore as ms
        >>> print(ms.numpy.isscalar(3))
        True
    """,
        'ix_': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> v = Tensor([1.2, 1.2, 0.1, -0.9])
        >>> l = Tensor([4, 4, 2, 1])
        >>> print(*ms.numpy.ix_(l, v), sep="\\n")
        [[4]
         [4]
         [2]
         [1]]
        [[ 1.2  1.2  0.1 -0.9]]
    """,
        'kron': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> y = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ms.numpy.kron(x, y).shape)
        (4, 9)
    """,
        'lcm': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> i = Tensor([[4, 4, 3], [1, 0, 2]], ms.int32)
        >>> print(ms.numpy.lcm(i, 4))
        [[ 4  4 12]
         [ 4  0  4]]
    """,
        'less': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> y = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ms.numpy.less(x, y))
        [[False False False]
         [False False False]]
    """,
        'less_equal': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> y = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ms.numpy.less_equal(x, y))
        [[ True  True  True]
         [ True  True  True]]
    """,
        'linspace': """

    Examples:
        >>> import spore as ms
        >>> print(ms.numpy.linspace(0, 5, 6))
        [0. 1. 2. 3. 4. 5.]
    """,
        'log': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[2.4, 2.4, 1.6], [0.9, 0.3, 1.2]])
        >>> print(ms.numpy.log(x))
        [[ 0.8754688   0.8754688   0.47000366]
         [-0.10536055 -1.2039728   0.1823216 ]]
    """,
        'log10': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[2.4, 2.4, 1.6], [0.9, 0.3, 1.2]])
        >>> print(ms.numpy.log10(x))
        [[ 0.38021126  0.38021126  0.20411998]
         [-0.0457575  -0.5228787   0.07918126]]
    """,
        'log1p': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[2.4, 2.4, 1.6], [0.9, 0.3, 1.2]])
        >>> print(ms.numpy.log1p(x))
        [[1.2237755  1.2237755  0.95551145]
         [0.64185387 0.2623643  0.7884574 ]]
    """,
        'log2': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[2.4, 2.4, 1.6], [0.9, 0.3, 1.2]])
        >>> print(ms.numpy.log2(x))
        [[ 1.2630345   1.2630345   0.6780719 ]
         [-0.15200312 -1.7369655   0.26303446]]
    """,
        'logaddexp': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> y = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ms.numpy.logaddexp(x, y))
        [[ 1.8931472   1.8931472   0.7931472 ]
         [-0.2068528  -1.1068528   0.19314718]]
    """,
        'logaddexp2': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> y = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ms.numpy.logaddexp2(x, y))
        [[ 2.2         2.2         1.1       ]
         [ 0.10000002 -0.79999995  0.5       ]]
    """,
        'logical_and': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> b = Tensor([[False, False, False], [True, True, True]])
        >>> print(ms.numpy.logical_and(b, True))
        [[False False False]
         [ True  True  True]]
    """,
        'logical_not': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ms.numpy.logical_not(x > 1))
        [[False False  True]
         [ True  True  True]]
    """,
        'logical_or': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> b = Tensor([[False, False, False], [True, True, True]])
        >>> print(ms.numpy.logical_or(b, True))
        [[ True  True  True]
         [ True  True  True]]
    """,
        'logical_xor': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> b = Tensor([[False, False, False], [True, True, True]])
        >>> print(ms.numpy.logical_xor(b, True))
        [[ True  True  True]
         [False False False]]
    """,
        'logspace': """

    Examples:
        >>> import spore as ms
        >>> print(ms.numpy.logspace(0, 3, 4))
        [   1.   10.  100. 1000.]
    """,
        'matmul': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> v = Tensor([1.2, 1.2, 0.1, -0.9])
        >>> print(ms.numpy.matmul(v, v))
        3.7
    """,
        'matrix_power': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> z = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5], [-0.4, -1.8, -1.8]])
        >>> print(ms.numpy.matrix_power(z, 3))
        [[  1.4580001   3.192       1.67     ]
         [ -2.5500002  -7.698      -4.534    ]
         [ -4.8079996 -15.947998  -10.193999 ]]
    """,
        'maximum': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> y = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ms.numpy.maximum(x, y))
        [[ 1.2  1.2  0.1]
         [-0.9 -1.8 -0.5]]
    """,
        'mean': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ms.numpy.mean(x))
        -0.11666664
    """,
        'meshgrid': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> v = Tensor([1.2, 1.2, 0.1, -0.9])
        >>> l = Tensor([4, 4, 2, 1])
        >>> print([t.shape for t in ms.numpy.meshgrid(v, l)])
        [(4, 4), (4, 4)]
    """,
        'minimum': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> y = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ms.numpy.minimum(x, y))
        [[ 1.2  1.2  0.1]
         [-0.9 -1.8 -0.5]]
    """,
        'mod': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> i = Tensor([[4, 4, 3], [1, 0, 2]], ms.int32)
        >>> print(ms.numpy.mod(i, 4))
        [[0 0 3]
         [1 0 2]]
    """,
        'moveaxis': """

    Examples:
        >>> import numpy as np
        >>> import spore as ms
        >>> from spore import Tensor
        >>> c = Tensor(np.linspace(-2, 2, 24).reshape(2, 3, 4), ms.float32)
        >>> print(ms.numpy.moveaxis(c, 0, 2).shape)
        (3, 4, 2)
    """,
        'multi_dot': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> z = Tensor([[1.2, 1.2], [0.1, -0.9], [-1.8, -0.5]])
        >>> print(ms.numpy.multi_dot([x, z, x]))
        [[ 1.3770002   1.0980002  -0.017     ]
         [-1.1429999  -1.8539997  -0.43099993]]
    """,
        'multiply': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> y = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ms.numpy.multiply(x, y))
        [[1.44       1.44       0.01      ]
         [0.80999994 3.2399998  0.25      ]]
    """,
        'nancumsum': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ms.numpy.nancumsum(x))
        [ 1.2         2.4         2.5         1.6000001  -0.19999984 -0.6999998 ]
    """,
        'nanmax': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2], [0.1, -0.9], [-1.8, -0.5]])
        >>> print(ms.numpy.nanmax(x))
        1.2
    """,
        'nanmean': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2], [0.1, -0.9], [-1.8, -0.5]])
        >>> print(ms.numpy.nanmean(x))
        -0.11666664
    """,
        'nanmin': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2], [0.1, -0.9], [-1.8, -0.5]])
        >>> print(ms.numpy.nanmin(x))
        -1.8
    """,
        'nanstd': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2], [0.1, -0.9], [-1.8, -0.5]])
        >>> print(ms.numpy.nanstd(x))
        1.0884495
    """,
        'nansum': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2], [0.1, -0.9], [-1.8, -0.5]])
        >>> print(ms.numpy.nansum(x))
        -0.6999998
    """,
        'nanvar': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2], [0.1, -0.9], [-1.8, -0.5]])
        >>> print(ms.numpy.nanvar(x))
        1.1847223
    """,
        'negative': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> i = Tensor([[4, 4, 3], [1, 0, 2]], ms.int32)
        >>> print(ms.numpy.negative(i))
        [[-4 -4 -3]
         [-1  0 -2]]
    """,
        'norm': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ms.numpy.norm(x))
        2.6814175
    """,
        'not_equal': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> y = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ms.numpy.not_equal(x, y))
        [[False False False]
         [False False False]]
    """,
        'ones': """

    Examples:
        >>> import spore as ms
        >>> print(ms.numpy.ones((2, 3)))
        [[1. 1. 1.]
         [1. 1. 1.]]
    """,
        'ones_like': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ms.numpy.ones_like(x))
        [[1. 1. 1.]
         [1. 1. 1.]]
    """,
        'outer': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> v = Tensor([1.2, 1.2, 0.1, -0.9])
        >>> w = Tensor([1.2, 1.2, 0.1, -0.9])
        >>> print(ms.numpy.outer(v, w).shape)
        (4, 4)
    """,
        'pad': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ms.numpy.pad(x, 1).shape)
        (4, 5)
    """,
        'piecewise': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ms.numpy.piecewise(x, [x > 0, x < -1], [1, -1]))
        [[ 1  1  1]
         [ 0 -1  0]]
    """,
        'polyadd': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> v = Tensor([1.2, 1.2, 0.1, -0.9])
        >>> w = Tensor([1.2, 1.2, 0.1, -0.9])
        >>> print(ms.numpy.polyadd(v, w))
        [ 2.4  2.4  0.2 -1.8]
    """,
        'polyder': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> v = Tensor([1.2, 1.2, 0.1, -0.9])
        >>> print(ms.numpy.polyder(v))
        [3.6000001 2.4       0.1      ]
    """,
        'polyint': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> v = Tensor([1.2, 1.2, 0.1, -0.9])
        >>> print(ms.numpy.polyint(v))
        [ 0.3   0.4   0.05 -0.9   0.  ]
    """,
        'polymul': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> v = Tensor([1.2, 1.2, 0.1, -0.9])
        >>> w = Tensor([1.2, 1.2, 0.1, -0.9])
        >>> print(ms.numpy.polymul(v, w))
        [ 1.44        2.88        1.6800001  -1.9200001  -2.15       -0.17999999
          0.80999994]
    """,
        'polysub': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> v = Tensor([1.2, 1.2, 0.1, -0.9])
        >>> w = Tensor([1.2, 1.2, 0.1, -0.9])
        >>> print(ms.numpy.polysub(v, w))
        [0. 0. 0. 0.]
    """,
        'polyval': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> v = Tensor([1.2, 1.2, 0.1, -0.9])
        >>> print(ms.numpy.polyval(v, x))
        [[ 3.0216002   3.0216002  -0.8768    ]
         [-0.8928     -4.1904     -0.79999995]]
    """,
        'positive': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> i = Tensor([[4, 4, 3], [1, 0, 2]], ms.int32)
        >>> print(ms.numpy.positive(i))
        [[4 4 3]
         [1 0 2]]
    """,
        'power': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ms.numpy.power(x, 2))
        [[1.44       1.44       0.01      ]
         [0.80999994 3.2399998  0.25      ]]
    """,
        'promote_types': """

    Examples:
        >>> import spore as ms
        >>> print(ms.numpy.promote_types(ms.int8, ms.int32))
        Int32
    """,
        'ptp': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ms.numpy.ptp(x))
        3.0
    """,
        'rad2deg': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ms.numpy.rad2deg(x))
        [[  68.75494    68.75494     5.729578]
         [ -51.5662   -103.1324    -28.64789 ]]
    """,
        'radians': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ms.numpy.radians(x))
        [[ 0.02094395  0.02094395  0.00174533]
         [-0.01570796 -0.03141592 -0.00872665]]
    """,
        'rand': """

    Examples:
        >>> import spore as ms
        >>> print(ms.numpy.rand(3, 4).shape)
        (3, 4)
    """,
        'randint': """

    Examples:
        >>> import spore as ms
        >>> print(ms.numpy.randint(3).shape)
        (1,)
    """,
        'randn': """

    Examples:
        >>> import spore as ms
        >>> print(ms.numpy.randn(3, 4).shape)
        (3, 4)
    """,
        'ravel': """

    Examples:
        >>> import numpy as np
        >>> import spore as ms
        >>> from spore import Tensor
        >>> c = Tensor(np.linspace(-2, 2, 24).reshape(2, 3, 4), ms.float32)
        >>> print(ms.numpy.ravel(c).shape)
        (24,)
    """,
        'ravel_multi_index': """

    Examples:
        >>> import spore as ms
        >>> print(ms.numpy.ravel_multi_index(ms.numpy.array([[0, 1], [2, 1]]), (2, 3), order='F'))
        [4 3]
    """,
        'reciprocal': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[2.4, 2.4, 1.6], [0.9, 0.3, 1.2]])
        >>> print(ms.numpy.reciprocal(x))
        [[0.41666666 0.41666666 0.625     ]
         [1.1111112  3.3333333  0.8333333 ]]
    """,
        'remainder': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> i = Tensor([[4, 4, 3], [1, 0, 2]], ms.int32)
        >>> print(ms.numpy.remainder(i, 4))
        [[0 0 3]
         [1 0 2]]
    """,
        'repeat': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ms.numpy.repeat(x, 2))
        [ 1.2  1.2  1.2  1.2  0.1  0.1 -0.9 -0.9 -1.8 -1.8 -0.5 -0.5]
    """,
        'reshape': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ms.numpy.reshape(x, -1))
        [ 1.2  1.2  0.1 -0.9 -1.8 -0.5]
    """,
        'result_type': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> i = Tensor([[4, 4, 3], [1, 0, 2]], ms.int32)
        >>> print(ms.numpy.result_type(x, i))
        Float32
    """,
        'rint': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ms.numpy.rint(x))
        [[ 1.  1.  0.]
         [-1. -2. -0.]]
    """,
        'roll': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ms.numpy.roll(x, 1))
        [[-0.5  1.2  1.2]
         [ 0.1 -0.9 -1.8]]
    """,
        'rollaxis': """

    Examples:
        >>> import numpy as np
        >>> import spore as ms
        >>> from spore import Tensor
        >>> c = Tensor(np.linspace(-2, 2, 24).reshape(2, 3, 4), ms.float32)
        >>> print(ms.numpy.rollaxis(c, 2).shape)
        (4, 2, 3)
    """,
        'rot90': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ms.numpy.rot90(x))
        [[ 0.1 -0.5]
         [ 1.2 -1.8]
         [ 1.2 -0.9]]
    """,
        'searchsorted': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> i = Tensor([[4, 4, 3], [1, 0, 2]], ms.int32)
        >>> print(ms.numpy.searchsorted(ms.numpy.arange(5), i))
        [[4 4 3]
         [1 0 2]]
    """,
        'select': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ms.numpy.select([x > 1], [x], 5))
        [[1.2 1.2 5. ]
         [5.  5.  5. ]]
    """,
        'setdiff1d': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> l = Tensor([4, 4, 2, 1])
        >>> z = Tensor([3, 3, 2])
        >>> print(ms.numpy.setdiff1d(l, z))
        [1 4]
    """,
        'sign': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ms.numpy.sign(x))
        [[ 1.  1.  1.]
         [-1. -1. -1.]]
    """,
        'signbit': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ms.numpy.signbit(x))
        [[False False False]
         [ True  True  True]]
    """,
        'sin': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ms.numpy.sin(x))
        [[ 0.9320391   0.9320391   0.09983342]
         [-0.7833269  -0.9738476  -0.47942555]]
    """,
        'sinh': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ms.numpy.sinh(x))
        [[ 1.5094614   1.5094614   0.10016675]
         [-1.0265167  -2.9421742  -0.5210953 ]]
    """,
        'size': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ms.numpy.size(x))
        6
    """,
        'sometrue': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ms.numpy.sometrue(x))
        True
    """,
        'split': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> v = Tensor([1.2, 1.2, 0.1, -0.9])
        >>> print(*ms.numpy.split(v, 2), sep="\\n")
        [1.2 1.2]
        [ 0.1 -0.9]
    """,
        'sqrt': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[2.4, 2.4, 1.6], [0.9, 0.3, 1.2]])
        >>> print(ms.numpy.sqrt(x))
        [[1.5491934  1.5491934  1.264911  ]
         [0.94868326 0.5477226  1.0954452 ]]
    """,
        'square': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> i = Tensor([[4, 4, 3], [1, 0, 2]], ms.int32)
        >>> print(ms.numpy.square(i))
        [[16 16  9]
         [ 1  0  4]]
    """,
        'squeeze': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> z = Tensor([[[1.2], [1.2], [0.1]]])
        >>> print(ms.numpy.squeeze(z))
        [1.2 1.2 0.1]
    """,
        'stack': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> y = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ms.numpy.stack((x, y)).shape)
        (2, 2, 3)
    """,
        'std': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ms.numpy.std(x))
        1.0884495
    """,
        'subtract': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> y = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ms.numpy.subtract(x, y))
        [[0. 0. 0.]
         [0. 0. 0.]]
    """,
        'sum': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ms.numpy.sum(x))
        -0.6999998
    """,
        'swapaxes': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ms.numpy.swapaxes(x, -1, 0))
        [[ 1.2 -0.9]
         [ 1.2 -1.8]
         [ 0.1 -0.5]]
    """,
        'take': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> l = Tensor([4, 4, 2, 1])
        >>> print(ms.numpy.take(x, l))
        [-1.8 -1.8  0.1  1.2]
    """,
        'take_along_axis': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> z = Tensor([[2, 2], [1, 0]], ms.int32)
        >>> print(ms.numpy.take_along_axis(x, z, 1))
        [[ 0.1  0.1]
         [-1.8 -0.9]]
    """,
        'tan': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ms.numpy.tan(x))
        [[ 2.572152    2.572152    0.10033467]
         [-1.2601582   4.2862625  -0.5463025 ]]
    """,
        'tanh': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ms.numpy.tanh(x))
        [[ 0.83365464  0.83365464  0.099668  ]
         [-0.71629786 -0.946806   -0.46211714]]
    """,
        'tensordot': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> y = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ms.numpy.tensordot(x, y))
        7.19
    """,
        'tile': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ms.numpy.tile(x, 2))
        [[ 1.2  1.2  0.1  1.2  1.2  0.1]
         [-0.9 -1.8 -0.5 -0.9 -1.8 -0.5]]
    """,
        'trace': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ms.numpy.trace(x))
        -0.5999999
    """,
        'transpose': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ms.numpy.transpose(x))
        [[ 1.2 -0.9]
         [ 1.2 -1.8]
         [ 0.1 -0.5]]
    """,
        'trapz': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> v = Tensor([1.2, 1.2, 0.1, -0.9])
        >>> print(ms.numpy.trapz(v))
        1.45
    """,
        'tri': """

    Examples:
        >>> import spore as ms
        >>> print(ms.numpy.tri(3))
        [[1. 0. 0.]
         [1. 1. 0.]
         [1. 1. 1.]]
    """,
        'tril': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ms.numpy.tril(x))
        [[ 1.2  0.   0. ]
         [-0.9 -1.8  0. ]]
    """,
        'tril_indices': """

    Examples:
        >>> import spore as ms
        >>> print(*ms.numpy.tril_indices(3), sep="\\n")
        [0 1 1 2 2 2]
        [0 0 1 0 1 2]
    """,
        'tril_indices_from': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(*ms.numpy.tril_indices_from(x), sep="\\n")
        [0 1 1]
        [0 0 1]
    """,
        'triu': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ms.numpy.triu(x))
        [[ 1.2  1.2  0.1]
         [ 0.  -1.8 -0.5]]
    """,
        'triu_indices': """

    Examples:
        >>> import spore as ms
        >>> print(*ms.numpy.triu_indices(3), sep="\\n")
        [0 0 0 1 1 2]
        [0 1 2 1 2 2]
    """,
        'triu_indices_from': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(*ms.numpy.triu_indices_from(x), sep="\\n")
        [0 0 0 1 1]
        [0 1 2 1 2]
    """,
        'true_divide': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> y = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ms.numpy.true_divide(x, y))
        [[1. 1. 1.]
         [1. 1. 1.]]
    """,
        'trunc': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ms.numpy.trunc(x))
        [[ 1.  1.  0.]
         [-0. -1. -0.]]
    """,
        'unique': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> l = Tensor([4, 4, 2, 1])
        >>> print(ms.numpy.unique(l))
        [1 2 4]
    """,
        'unravel_index': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> l = Tensor([4, 4, 2, 1])
        >>> print(*ms.numpy.unravel_index(l, (2, 3)), sep="\\n")
        [1 1 0 0]
        [1 1 2 1]
    """,
        'unwrap': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> v = Tensor([1.2, 1.2, 0.1, -0.9])
        >>> print(ms.numpy.unwrap(v * 4))
        [4.8      4.8      6.683186 8.966372]
    """,
        'vander': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> v = Tensor([1.2, 1.2, 0.1, -0.9])
        >>> print(ms.numpy.vander(v).shape)
        (4, 4)
    """,
        'var': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ms.numpy.var(x))
        1.1847223
    """,
        'vsplit': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(*ms.numpy.vsplit(x, 2), sep="\\n")
        [[1.2 1.2 0.1]]
        [[-0.9 -1.8 -0.5]]
    """,
        'vstack': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> v = Tensor([1.2, 1.2, 0.1, -0.9])
        >>> w = Tensor([1.2, 1.2, 0.1, -0.9])
        >>> print(ms.numpy.vstack((v, w)))
        [[ 1.2  1.2  0.1 -0.9]
         [ 1.2  1.2  0.1 -0.9]]
    """,
        'where': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> y = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ms.numpy.where(x > 0, x, y))
        [[ 1.2  1.2  0.1]
         [-0.9 -1.8 -0.5]]
    """,
        'zeros': """

    Examples:
        >>> import spore as ms
        >>> print(ms.numpy.zeros((2, 3)))
        [[0. 0. 0.]
         [0. 0. 0.]]
    """,
        'zeros_like': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ms.numpy.zeros_like(x))
        [[0. 0. 0.]
         [0. 0. 0.]]
    """,
    },
    'ops': {
        'Adam': """

    Examples:
        >>> from spore import Parameter, Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> p = Parameter(Tensor([1.0, 2.0, 3.0]), name='p')
        >>> a = Parameter(Tensor([0.0, 0.0, 0.0]), name='a')
        >>> c = Parameter(Tensor([0.0, 0.0, 0.0]), name='c')
        >>> print(*ops.Adam()(p, a, c, 0.9, 0.99, 0.1, 0.9, 0.99, 1e-8, v), sep="\\n")
        [0.9 1.9 2.9]
        [0.10000002 0.20000005 0.30000007]
        [0.00999999 0.03999996 0.08999991]
    """,
        'AdamWeightDecay': """

    Examples:
        >>> from spore import Parameter, Tensor, ops
        >>> w = Parameter(Tensor([1.2, 1.2, 0.1]), name='w')
        >>> m = Parameter(Tensor([1.2, 1.2, 0.1]), name='w')
        >>> v = Parameter(Tensor([0.8, 0.8, 0.5]), name='w')
        >>> g = Tensor([1.2, 1.2, 0.1])
        >>> _ = ops.AdamWeightDecay()(w, m, v, 0.1, 0.9, 0.99, 1e-6, 0.0, g)
        >>> print(*(w, m, v), sep="\\n")
        Parameter (name=w, shape=(3,), dtype=Float32, requires_grad=True)
        Parameter (name=w, shape=(3,), dtype=Float32, requires_grad=True)
        Parameter (name=w, shape=(3,), dtype=Float32, requires_grad=True)
    """,
        'AdaptiveAvgPool2D': """

    Examples:
        >>> import numpy as np
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> x = Tensor(np.linspace(-2, 2, 40).reshape(1, 2, 5, 4), ms.float32)
        >>> print(ops.AdaptiveAvgPool2D(2)(x).shape)
        (1, 2, 2, 2)
    """,
        'AdaptiveAvgPool3D': """

    Examples:
        >>> from spore import ops
        >>> print(ops.AdaptiveAvgPool3D((1, 2, 2))(ops.ones((1, 2, 4, 4))).shape)
        (1, 1, 2, 2)
    """,
        'AdaptiveMaxPool3D': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.AdaptiveMaxPool3D()(ops.ones((1, 1, 4, 4, 4)), Tensor([2, 2, 2]))[0].shape)
        (1, 1, 2, 2, 2)
    """,
        'AdjustHue': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.AdjustHue()(Tensor([[[1.0, 0.0, 0.0]]]), Tensor(0.5)).shape)
        (1, 1, 3)
    """,
        'AdjustSaturation': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.AdjustSaturation()(Tensor([[[1.0, 0.0, 0.0]]]), Tensor(0.5)).shape)
        (1, 1, 3)
    """,
        'AffineGrid': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.AffineGrid()(Tensor([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]]), (1, 1, 2, 2)).shape)
        (1, 2, 2, 2)
    """,
        'ApplyAdaMax': """

    Examples:
        >>> from spore import Parameter, Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> p = Parameter(Tensor([1.0, 2.0, 3.0]), name='p')
        >>> a = Parameter(Tensor([0.1, 0.1, 0.1]), name='a')
        >>> c = Parameter(Tensor([0.1, 0.1, 0.1]), name='c')
        >>> print(*ops.ApplyAdaMax()(p, a, c, 0.9, 0.1, 0.9, 0.99, 1e-8, v), sep="\\n")
        [0.81  1.855 2.87 ]
        [0.19000003 0.29000005 0.39000008]
        [1. 2. 3.]
    """,
        'ApplyAdadelta': """

    Examples:
        >>> from spore import Parameter, Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> p = Parameter(Tensor([1.0, 2.0, 3.0]), name='p')
        >>> a = Parameter(Tensor([0.1, 0.1, 0.1]), name='a')
        >>> c = Parameter(Tensor([0.1, 0.1, 0.1]), name='c')
        >>> print(*ops.ApplyAdadelta()(p, a, c, 0.1, 0.9, 1e-6, v), sep="\\n")
        [0.9274522 1.9096489 2.9046533]
        [0.19000003 0.4900001  0.9900002 ]
        [0.14263183 0.17163329 0.1809099 ]
    """,
        'ApplyAdagrad': """

    Examples:
        >>> from spore import Parameter, Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> p = Parameter(Tensor([1.0, 2.0, 3.0]), name='p')
        >>> a = Parameter(Tensor([0.1, 0.1, 0.1]), name='a')
        >>> print(*ops.ApplyAdagrad()(p, a, 0.1, v), sep="\\n")
        [0.9046537 1.901227  2.9005508]
        [1.1 4.1 9.1]
    """,
        'ApplyAdagradDA': """

    Examples:
        >>> import spore as ms
        >>> from spore import Parameter, Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> p = Parameter(Tensor([1.0, 2.0, 3.0]), name='p')
        >>> a = Parameter(Tensor([0.1, 0.1, 0.1]), name='a')
        >>> c = Parameter(Tensor([0.1, 0.1, 0.1]), name='c')
        >>> print(ops.ApplyAdagradDA()(p, a, c, v, 0.1, 0.0, 0.0, Tensor(1, ms.int32)))
        [-0.10488089 -0.10371161 -0.102764  ]
    """,
        'ApplyAdagradV2': """

    Examples:
        >>> from spore import Parameter, Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> p = Parameter(Tensor([1.0, 2.0, 3.0]), name='p')
        >>> a = Parameter(Tensor([0.1, 0.1, 0.1]), name='a')
        >>> print(*ops.ApplyAdagradV2(epsilon=1e-6)(p, a, 0.1, v), sep="\\n")
        [0.90465385 1.9012271  2.900551  ]
        [1.1 4.1 9.1]
    """,
        'ApplyAdamWithAmsgrad': """

    Examples:
        >>> from spore import Parameter, Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> p = Parameter(Tensor([1.0, 2.0, 3.0]), name='p')
        >>> a = Parameter(Tensor([0.1, 0.1, 0.1]), name='a')
        >>> c = Parameter(Tensor([0.1, 0.1, 0.1]), name='c')
        >>> d = Parameter(Tensor([0.1, 0.1, 0.1]), name='d')
        >>> print(*ops.ApplyAdamWithAmsgrad()(p, a, c, d, 0.9, 0.99, 0.1, v), sep="\\n")
        [0.9401853 1.9100316 2.8818183]
        [0.19000003 0.29000005 0.39000008]
        [0.10089999 0.10389995 0.10889988]
        [0.10089999 0.10389995 0.10889988]
    """,
        'ApplyAdamWithAmsgradV2': """

    Examples:
        >>> from spore import Parameter, Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> p = Parameter(Tensor([1.0, 2.0, 3.0]), name='p')
        >>> a = Parameter(Tensor([0.1, 0.1, 0.1]), name='a')
        >>> c = Parameter(Tensor([0.1, 0.1, 0.1]), name='c')
        >>> d = Parameter(Tensor([0.1, 0.1, 0.1]), name='d')
        >>> print(*ops.ApplyAdamWithAmsgradV2()(p, a, c, d, 0.9, 0.99, 0.1, 0.9, 0.99, 1e-8, v), sep="\\n")
        [0.9424507 1.9222159 2.9102914]
        [0.19000003 0.29000005 0.39000008]
        [0.10899999 0.13899997 0.18899992]
        [0.10899999 0.13899997 0.18899992]
    """,
        'ApplyAddSign': """

    Examples:
        >>> from spore import Parameter, Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> p = Parameter(Tensor([1.0, 2.0, 3.0]), name='p')
        >>> a = Parameter(Tensor([0.1, 0.1, 0.1]), name='a')
        >>> print(*ops.ApplyAddSign()(p, a, 0.1, 1.0, 0.9, 0.9, v), sep="\\n")
        [0.81 1.62 2.43]
        [0.19000003 0.29000005 0.39000008]
    """,
        'ApplyCenteredRMSProp': """

    Examples:
        >>> from spore import Parameter, Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> p = Parameter(Tensor([1.0, 2.0, 3.0]), name='p')
        >>> a = Parameter(Tensor([0.1, 0.1, 0.1]), name='a')
        >>> c = Parameter(Tensor([0.1, 0.1, 0.1]), name='c')
        >>> d = Parameter(Tensor([0.1, 0.1, 0.1]), name='d')
        >>> print(ops.ApplyCenteredRMSProp()(p, a, c, d, v, 0.1, 0.9, 0.0, 1e-6))
        [0.7450944 1.6860794 2.6722634]
    """,
        'ApplyFtrl': """

    Examples:
        >>> from spore import Parameter, Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> p = Parameter(Tensor([1.0, 2.0, 3.0]), name='p')
        >>> a = Parameter(Tensor([0.1, 0.1, 0.1]), name='a')
        >>> c = Parameter(Tensor([0.1, 0.1, 0.1]), name='c')
        >>> print(ops.ApplyFtrl()(p, a, c, v, 0.1, 0.0, 0.0, -0.5))
        [0.5936077 1.583941  2.5827506]
    """,
        'ApplyGradientDescent': """

    Examples:
        >>> from spore import Parameter, Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> p = Parameter(Tensor([1.0, 2.0, 3.0]), name='p')
        >>> print(ops.ApplyGradientDescent()(p, 0.1, v))
        [0.9 1.8 2.7]
    """,
        'ApplyKerasMomentum': """

    Examples:
        >>> from spore import Parameter, Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> p = Parameter(Tensor([1.0, 2.0, 3.0]), name='p')
        >>> a = Parameter(Tensor([0.1, 0.1, 0.1]), name='a')
        >>> print(*ops.ApplyKerasMomentum()(p, a, 0.1, v, 0.9), sep="\\n")
        [0.99 1.89 2.79]
        [-0.01000001 -0.11000001 -0.21000001]
    """,
        'ApplyMomentum': """

    Examples:
        >>> from spore import Parameter, Tensor, ops
        >>> w = Parameter(Tensor([1.2, 1.2, 0.1]), name='w')
        >>> a = Parameter(Tensor([1.2, 1.2, 0.1]), name='w')
        >>> g = Tensor([1.2, 1.2, 0.1])
        >>> print(*(ops.ApplyMomentum()(w, a, 0.1, g, 0.9), w, a), sep="\\n")
        [0.972 0.972 0.081]
        Parameter (name=w, shape=(3,), dtype=Float32, requires_grad=True)
        Parameter (name=w, shape=(3,), dtype=Float32, requires_grad=True)
    """,
        'ApplyPowerSign': """

    Examples:
        >>> from spore import Parameter, Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> p = Parameter(Tensor([1.0, 2.0, 3.0]), name='p')
        >>> a = Parameter(Tensor([0.1, 0.1, 0.1]), name='a')
        >>> print(*ops.ApplyPowerSign()(p, a, 0.1, 2.0, 0.9, 0.9, v), sep="\\n")
        [0.39503527 0.79007053 1.1851058 ]
        [0.19000003 0.29000005 0.39000008]
    """,
        'ApplyProximalAdagrad': """

    Examples:
        >>> from spore import Parameter, Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> p = Parameter(Tensor([1.0, 2.0, 3.0]), name='p')
        >>> a = Parameter(Tensor([0.1, 0.1, 0.1]), name='a')
        >>> print(*ops.ApplyProximalAdagrad()(p, a, 0.1, 0.0, 0.0, v), sep="\\n")
        [0.9046537 1.901227  2.9005508]
        [1.1 4.1 9.1]
    """,
        'ApplyProximalGradientDescent': """

    Examples:
        >>> from spore import Parameter, Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> p = Parameter(Tensor([1.0, 2.0, 3.0]), name='p')
        >>> print(ops.ApplyProximalGradientDescent()(p, 0.1, 0.0, 0.0, v))
        [0.9 1.8 2.7]
    """,
        'ApplyRMSProp': """

    Examples:
        >>> from spore import Parameter, Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> p = Parameter(Tensor([1.0, 2.0, 3.0]), name='p')
        >>> a = Parameter(Tensor([0.1, 0.1, 0.1]), name='a')
        >>> c = Parameter(Tensor([0.1, 0.1, 0.1]), name='c')
        >>> print(ops.ApplyRMSProp()(p, a, c, 0.1, v, 0.9, 0.0, 1e-6))
        [0.7705849 1.7142861 2.6984887]
    """,
        'Assert': """

    Examples:
        >>> from spore import Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(ops.Assert()(True, [v]))
        None
    """,
        'AvgPool': """

    Examples:
        >>> import numpy as np
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> x = Tensor(np.linspace(-2, 2, 2210).reshape(2, 5, 17, 13), ms.float32)
        >>> print(ops.AvgPool(2, 2)(x).shape)
        (2, 5, 8, 6)
    """,
        'BartlettWindow': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.BartlettWindow(periodic=False)(Tensor(5)))
        [0.  0.5 1.  0.5 0. ]
    """,
        'BatchNorm': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5], [-0.4, -1.8, -1.8], [2.0, 0.6, -1.1]])
        >>> g = Tensor([1.2, 1.2, 0.1])
        >>> b = Tensor([1.2, 1.2, 0.1])
        >>> m = Tensor([1.2, 1.2, 0.1])
        >>> v = Tensor([1.7, 1.7, 1.3])
        >>> print(ops.BatchNorm(is_training=False, epsilon=1e-2)(x, g, b, m, v)[0])
        [[ 1.2         1.2         0.1       ]
         [-0.7270922  -1.5529889   0.04757775]
         [-0.26826072 -1.5529889  -0.06600379]
         [ 1.9341304   0.64940226 -0.0048445 ]]
    """,
        'BatchToSpace': """

    Examples:
        >>> from spore import ops
        >>> print(ops.BatchToSpace(2, [[0, 0], [0, 0]])(ops.ones((4, 1, 1, 1))).shape)
        (1, 1, 2, 2)
    """,
        'BatchToSpaceND': """

    Examples:
        >>> from spore import ops
        >>> print(ops.BatchToSpaceND([2, 2], [[0, 0], [0, 0]])(ops.ones((4, 1, 1, 1))).shape)
        (1, 1, 2, 2)
    """,
        'Bernoulli': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> print(ops.Bernoulli()(x, Tensor(1.0)).shape)
        (2, 3)
    """,
        'BiasAdd': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> b = Tensor([1.2, 1.2, 0.1])
        >>> print(ops.BiasAdd()(x, b))
        [[ 2.4         2.4         0.2       ]
         [ 0.30000007 -0.5999999  -0.4       ]]
    """,
        'Bincount': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> print(ops.Bincount()(Tensor([0, 1, 1], ms.int32), Tensor(3, ms.int32), Tensor([1, 1, 1], ms.int32)))
        [1 2 0]
    """,
        'BlackmanWindow': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.BlackmanWindow()(Tensor(5)).shape)
        (5,)
    """,
        'Bucketize': """

    Examples:
        >>> from spore import Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(ops.Bucketize([1.5, 2.5])(v))
        [0 1 2]
    """,
        'CTCGreedyDecoder': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> print(ops.CTCGreedyDecoder()(Tensor([[[0.6, 0.3, 0.1]]]), Tensor([1], ms.int32))[1])
        [0]
    """,
        'CTCLoss': """

    Examples:
        >>> import numpy as np
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> x = Tensor(np.linspace(-2, 2, 32).reshape(4, 2, 4), ms.float32)
        >>> i = Tensor([[0, 0], [0, 1], [1, 0]], ms.int64)
        >>> v = Tensor([1, 2, 0], ms.int32)
        >>> n = Tensor([4, 4], ms.int32)
        >>> print(ops.CTCLoss()(x, i, v, n)[0])
        [2.6344361 3.2155325]
    """,
        'CTCLossV2': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> print(ops.CTCLossV2()(ops.log_softmax(ops.ones((4, 1, 3)), -1), Tensor([[1, 2]], ms.int32), Tensor([4], ms.int32), Tensor([2], ms.int32))[0])
        [1.686399]
    """,
        'Cast': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> x = Tensor([3, 3, 0, -2], ms.int32)
        >>> print(ops.Cast()(x, ms.int8))
        [ 3  3  0 -2]
    """,
        'Cauchy': """

    Examples:
        >>> from spore import ops
        >>> print(ops.Cauchy([2, 3])().shape)
        (2, 3)
    """,
        'ChannelShuffle': """

    Examples:
        >>> import numpy as np
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> channels = Tensor(np.arange(16).reshape(1, 4, 2, 2), ms.float32)
        >>> print(ops.ChannelShuffle(2)(channels).shape)
        (1, 4, 2, 2)
    """,
        'CheckNumerics': """

    Examples:
        >>> from spore import Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(ops.CheckNumerics()(v))
        [1. 2. 3.]
    """,
        'Cholesky': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.Cholesky()(Tensor([[4.0, 2.0], [2.0, 5.0]])))
        [[2. 0.]
         [1. 2.]]
    """,
        'CholeskyInverse': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.CholeskyInverse()(Tensor([[2.0, 0.0], [0.0, 4.0]])))
        [[0.25   0.    ]
         [0.     0.0625]]
    """,
        'CholeskySolve': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.CholeskySolve()(Tensor([[4.0], [8.0]]), Tensor([[2.0, 0.0], [0.0, 4.0]])))
        [[1. ]
         [0.5]]
    """,
        'Concat': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> y = Tensor([[1.2, 1.2, 0.1]])
        >>> print(ops.Concat()((x, y)))
        [[ 1.2  1.2  0.1]
         [-0.9 -1.8 -0.5]
         [ 1.2  1.2  0.1]]
    """,
        'ConfusionMatrix': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.ConfusionMatrix(2)(Tensor([0, 1, 1]), Tensor([0, 1, 0])))
        [[1 0]
         [1 1]]
    """,
        'ConjugateTranspose': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> print(ops.ConjugateTranspose()(x, (1, 0)).shape)
        (3, 2)
    """,
        'Conv2D': """

    Examples:
        >>> import numpy as np
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> x = Tensor(np.linspace(-2, 2, 36).reshape(2, 2, 3, 3), ms.float32)
        >>> w = Tensor([[[[1.2]], [[1.2]]], [[[0.1]], [[-0.9]]], [[[-1.8]], [[-0.5]]]])
        >>> print(ops.Conv2D(3, 1)(x, w).shape)
        (2, 3, 3, 3)
    """,
        'Conv2DBackpropInput': """

    Examples:
        >>> from spore import ops
        >>> print(ops.Conv2DBackpropInput(1, 2)(ops.ones((1, 1, 3, 3)), ops.ones((1, 1, 2, 2)), (1, 1, 4, 4)).shape)
        (1, 1, 4, 4)
    """,
        'Conv2DTranspose': """

    Examples:
        >>> import numpy as np
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> x = Tensor(np.linspace(-2, 2, 48).reshape(1, 3, 4, 4), ms.float32)
        >>> w = Tensor(np.linspace(-2, 2, 54).reshape(3, 2, 3, 3), ms.float32)
        >>> print(ops.Conv2DTranspose(3, 3)(x, w, (1, 2, 6, 6)).shape)
        (1, 2, 6, 6)
    """,
        'Conv3D': """

    Examples:
        >>> from spore import ops
        >>> print(ops.Conv3D(1, 2)(ops.ones((1, 1, 2, 2, 2)), ops.ones((1, 1, 2, 2, 2))).shape)
        (1, 1, 1, 1, 1)
    """,
        'CountNonZero': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.CountNonZero()(Tensor([0.0, 1.0, 2.0])))
        2
    """,
        'CropAndResize': """

    Examples:
        >>> import numpy as np
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> x = Tensor(np.linspace(-2, 2, 40).reshape(2, 4, 5, 1), ms.float32)
        >>> r = Tensor([[0.1, 0.1, 0.8, 0.9], [0, 0.2, 1.2, 1.0]], ms.float32)
        >>> i = Tensor([0, 1], ms.int32)
        >>> print(ops.CropAndResize()(x, r, i, (3, 2)).shape)
        (2, 3, 2, 1)
    """,
        'Cross': """

    Examples:
        >>> from spore import Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> w = Tensor([3.0, 1.0, 2.0])
        >>> print(ops.Cross(0)(v, w))
        [ 1.  7. -5.]
    """,
        'Cummin': """

    Examples:
        >>> from spore import Tensor, ops
        >>> w = Tensor([3.0, 1.0, 2.0])
        >>> print(*ops.Cummin(0)(w), sep="\\n")
        [3. 1. 1.]
        [0 1 1]
    """,
        'DType': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([1.2, 1.2])
        >>> print(ops.DType()(x))
        Float32
    """,
        'DataFormatDimMap': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.DataFormatDimMap()(Tensor([0, 1, 2, 3])))
        [0 3 1 2]
    """,
        'DataFormatVecPermute': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.DataFormatVecPermute()(Tensor([1, 2, 3, 4])))
        [1 4 2 3]
    """,
        'Depend': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> y = Tensor([1.2])
        >>> print(ops.Depend()(x, y))
        [[ 1.2  1.2  0.1]
         [-0.9 -1.8 -0.5]]
    """,
        'DepthToSpace': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> x = Tensor([[[[3]], [[3]], [[0]], [[-2]], [[-5]], [[-1]], [[-1]], [[-5]], [[-5]]]], ms.int32)
        >>> print(ops.DepthToSpace(block_size=3)(x).shape)
        (1, 1, 3, 3)
    """,
        'Diag': """

    Examples:
        >>> from spore import Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(ops.Diag()(v).shape)
        (3, 3)
    """,
        'DiagPart': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.DiagPart()(Tensor([[1.0, 2.0], [3.0, 4.0]])))
        [1. 4.]
    """,
        'Dropout': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ops.Dropout(1.0)(x)[0])
        [[ 1.2  1.2  0.1]
         [-0.9 -1.8 -0.5]]
    """,
        'Dropout2D': """

    Examples:
        >>> import numpy as np
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> image = Tensor(np.arange(16).reshape(1, 1, 4, 4), ms.float32)
        >>> print(ops.Dropout2D(1.0)(image)[0].shape)
        (1, 1, 4, 4)
    """,
        'Dropout3D': """

    Examples:
        >>> from spore import ops
        >>> print(ops.Dropout3D(1.0)(ops.ones((1, 1, 2, 2, 2)))[0].shape)
        (1, 1, 2, 2, 2)
    """,
        'DynamicGRUV2': """

    Examples:
        >>> import numpy as np
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> x = Tensor(np.linspace(-2, 2, 1024).reshape(2, 8, 64), ms.float16)
        >>> wi = Tensor(np.linspace(-2, 2, 3072).reshape(64, 48), ms.float16)
        >>> wh = Tensor(np.linspace(-2, 2, 768).reshape(16, 48), ms.float16)
        >>> h = Tensor(np.linspace(-2, 2, 128).reshape(8, 16), ms.float16)
        >>> print([t.shape for t in ops.DynamicGRUV2()(x, wi, wh, None, None, None, h)])
        [(2, 8, 16), (2, 8, 16), (2, 8, 16), (2, 8, 16), (2, 8, 16), (2, 8, 16)]
    """,
        'DynamicRNN': """

    Examples:
        >>> import numpy as np
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> x = Tensor(np.linspace(-2, 2, 2048).reshape(2, 16, 64), ms.float16)
        >>> w = Tensor(np.linspace(-2, 2, 12288).reshape(96, 128), ms.float16)
        >>> b = Tensor(np.linspace(-2, 2, 128).reshape(128,), ms.float16)
        >>> h = Tensor(np.linspace(-2, 2, 512).reshape(1, 16, 32), ms.float16)
        >>> c = Tensor(np.linspace(-2, 2, 512).reshape(1, 16, 32), ms.float16)
        >>> print([t.shape for t in ops.DynamicRNN()(x, w, b, None, h, c)])
        [(2, 16, 32), (2, 16, 32), (2, 16, 32), (2, 16, 32), (2, 16, 32), (2, 16, 32), (2, 16, 32), (2, 16, 32)]
    """,
        'DynamicShape': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> print(ops.DynamicShape()(x))
        [2 3]
    """,
        'EditDistance': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.EditDistance()(Tensor([[0, 0]]), Tensor([1]), Tensor([1, 1]), Tensor([[0, 0]]), Tensor([2]), Tensor([1, 1])))
        [1.]
    """,
        'Eig': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.Eig()(Tensor([[2.0, 0.0], [0.0, 3.0]]))[0])
        [2.+0.j 3.+0.j]
    """,
        'Einsum': """

    Examples:
        >>> from spore import Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> w = Tensor([3.0, 1.0, 2.0])
        >>> i = Tensor([0, 2])
        >>> print(ops.Einsum("i,i->")((v, w)))
        11.0
    """,
        'EmbeddingLookup': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> print(ops.EmbeddingLookup()(x, Tensor([1, 0]), 0))
        [[4. 5. 6.]
         [1. 2. 3.]]
    """,
        'Eps': """

    Examples:
        >>> from spore import Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(ops.Eps()(v) > 0)
        [ True  True  True]
    """,
        'EuclideanNorm': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> print(ops.EuclideanNorm()(x, Tensor([1])))
        [3.7416575 8.774964 ]
    """,
        'Expand': """

    Examples:
        >>> from spore import Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(ops.Expand()(v, Tensor([2, 3])))
        [[1. 2. 3.]
         [1. 2. 3.]]
    """,
        'ExpandDims': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ops.ExpandDims()(x, 0).shape)
        (1, 2, 3)
    """,
        'Eye': """

    Examples:
        >>> import spore as ms
        >>> from spore import ops
        >>> print(ops.Eye()(2, 4, ms.int32))
        [[1 0 0 0]
         [0 1 0 0]]
    """,
        'FFTWithSize': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.FFTWithSize(1, False, False)(Tensor([1 + 0j, 1 + 0j])))
        [2.+0.j 0.+0.j]
    """,
        'Fill': """

    Examples:
        >>> import spore as ms
        >>> from spore import ops
        >>> print(ops.Fill()(ms.int32, (2,), 3))
        [3 3]
    """,
        'FillDiagonal': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> print(ops.FillDiagonal(0.0)(x))
        [[0. 2. 3.]
         [4. 0. 6.]]
    """,
        'FillV2': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> print(ops.FillV2()(Tensor([2, 3], ms.int32), Tensor(1.0)))
        [[1. 1. 1.]
         [1. 1. 1.]]
    """,
        'Fills': """

    Examples:
        >>> from spore import Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(ops.Fills()(v, 2.0))
        [2. 2. 2.]
    """,
        'Flatten': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> x = Tensor([3, 3, 0], ms.int32)
        >>> print(ops.Flatten()(x))
        [[3]
         [3]
         [0]]
    """,
        'FloatStatus': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ops.FloatStatus()(x))
        [0.]
    """,
        'FusedCastAdamWeightDecay': """

    Examples:
        >>> from spore import Parameter, Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> p = Parameter(Tensor([1.0, 2.0, 3.0]), name='p')
        >>> a = Parameter(Tensor([0.1, 0.1, 0.1]), name='a')
        >>> c = Parameter(Tensor([0.1, 0.1, 0.1]), name='c')
        >>> _ = ops.FusedCastAdamWeightDecay()(p, a, c, 0.1, 0.9, 0.99, 1e-8, 0.0, v, Tensor(1.0))
        >>> print(p)
        Parameter (name=p, shape=(3,), dtype=Float32, requires_grad=True)
    """,
        'FusedWeightScaleApplyMomentum': """

    Examples:
        >>> from spore import Parameter, Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> p = Parameter(Tensor([1.0, 2.0, 3.0]), name='p')
        >>> a = Parameter(Tensor([0.1, 0.1, 0.1]), name='a')
        >>> print(ops.FusedWeightScaleApplyMomentum()(Tensor(0.1), Tensor(1.0), p, a, 0.1, v, 0.9))
        [0.881 1.771 2.661]
    """,
        'GLU': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.GLU()(Tensor([[1.0, 0.0]])))
        [[0.5]]
    """,
        'Gamma': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> print(ops.Gamma(seed=1)(Tensor([2, 2], ms.int32), Tensor(1.0), Tensor(1.0)).shape)
        (2, 2)
    """,
        'Gather': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5], [-0.4, -1.8, -1.8], [2.0, 0.6, -1.1]])
        >>> i = Tensor([3, 3], ms.int32)
        >>> print(ops.Gather()(x, i, 0))
        [[ 2.   0.6 -1.1]
         [ 2.   0.6 -1.1]]
    """,
        'GatherV2': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> i = Tensor([0, 2])
        >>> print(ops.GatherV2()(x, i, 1))
        [[1. 3.]
         [4. 6.]]
    """,
        'HSVToRGB': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.HSVToRGB()(Tensor([[[[0.0, 1.0, 1.0]]]])).shape)
        (1, 1, 1, 3)
    """,
        'HammingWindow': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.HammingWindow(periodic=False)(Tensor(5)))
        [0.08 0.54 1.   0.54 0.08]
    """,
        'HistogramFixedWidth': """

    Examples:
        >>> from spore import Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(ops.HistogramFixedWidth(3)(v, Tensor([0.0, 3.0])))
        [0 1 2]
    """,
        'HistogramSummary': """

    Examples:
        >>> from spore import Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(ops.HistogramSummary()("weights", v))
        None
    """,
        'HookBackward': """

    Examples:
        >>> from spore import Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(ops.HookBackward(lambda g: None)(v))
        [1. 2. 3.]
    """,
        'HyperMap': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([1.2, 1.2])
        >>> y = Tensor([1.2])
        >>> print(*ops.HyperMap()(ops.square, [x, y]), sep="\\n")
        [1.44 1.44]
        [1.44]
    """,
        'IdentityN': """

    Examples:
        >>> from spore import Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> w = Tensor([3.0, 1.0, 2.0])
        >>> print(*ops.IdentityN()((v, w)), sep="\\n")
        [1. 2. 3.]
        [3. 1. 2.]
    """,
        'Im2Col': """

    Examples:
        >>> import numpy as np
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> image = Tensor(np.arange(16).reshape(1, 1, 4, 4), ms.float32)
        >>> print(ops.Im2Col(2)(image).shape)
        (1, 1, 4, 9)
    """,
        'ImageSummary': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[[[1.2, 1.2], [0.1, -0.9]], [[-1.8, -0.5], [-0.4, -1.8]], [[-1.8, 2.0], [0.6, -1.1]]]])
        >>> print(ops.ImageSummary()('image', x))
        None
    """,
        'InTopK': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> print(ops.InTopK(1)(x, Tensor([2, 0], ms.int32)))
        [ True False]
    """,
        'IndexAdd': """

    Examples:
        >>> import spore as ms
        >>> from spore import Parameter, Tensor, ops
        >>> p = Parameter(Tensor([1.0, 2.0, 3.0]), name='p')
        >>> print(ops.IndexAdd(0)(p, Tensor([0, 2], ms.int32), Tensor([1.0, 1.0])))
        [2. 2. 4.]
    """,
        'IndexFill': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(ops.IndexFill()(v, 0, Tensor([0, 2], ms.int32), Tensor(0.0)))
        [0. 2. 0.]
    """,
        'IndexPut': """

    Examples:
        >>> from spore import Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(ops.IndexPut()(v, Tensor([9.0]), [Tensor([0])]))
        [9. 2. 3.]
    """,
        'InplaceAdd': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> print(ops.InplaceAdd(0)(x, Tensor([[1.0, 1.0, 1.0]])))
        [[2. 3. 4.]
         [4. 5. 6.]]
    """,
        'InplaceIndexAdd': """

    Examples:
        >>> from spore import Parameter, Tensor, ops
        >>> p = Parameter(Tensor([1.0, 2.0, 3.0]), name='p')
        >>> print(ops.InplaceIndexAdd(0)(p, Tensor([0]), Tensor([10.0])))
        [11.  2.  3.]
    """,
        'InplaceSub': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> print(ops.InplaceSub(0)(x, Tensor([[1.0, 1.0, 1.0]])))
        [[0. 1. 2.]
         [4. 5. 6.]]
    """,
        'InplaceUpdate': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> print(ops.InplaceUpdate(0)(x, Tensor([[9.0, 9.0, 9.0]])))
        [[9. 9. 9.]
         [4. 5. 6.]]
    """,
        'InplaceUpdateV2': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> print(ops.InplaceUpdateV2()(x, (0,), Tensor([[9.0, 9.0, 9.0]])))
        [[9. 9. 9.]
         [4. 5. 6.]]
    """,
        'InsertGradientOf': """

    Examples:
        >>> from spore import Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(ops.InsertGradientOf(lambda g: 2 * g)(v))
        [1. 2. 3.]
    """,
        'InvertPermutation': """

    Examples:
        >>> from spore import ops
        >>> print(ops.InvertPermutation()((2, 0, 1)))
        (1, 2, 0)
    """,
        'LSTM': """

    Examples:
        >>> import numpy as np
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> x = Tensor(np.linspace(-2, 2, 24).reshape(4, 2, 3), ms.float32)
        >>> h = Tensor([[[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]], [[-0.4, -1.8, -1.8], [2.0, 0.6, -1.1]]])
        >>> c = Tensor([[[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]], [[-0.4, -1.8, -1.8], [2.0, 0.6, -1.1]]])
        >>> w = Tensor(np.linspace(-1, 1, 192).reshape(192, 1, 1), ms.float32)
        >>> print([t.shape for t in ops.LSTM(3, 3, 1, True, True, 0.0)(x, h, c, w)[:3]])
        [(4, 2, 6), (2, 2, 3), (2, 2, 3)]
    """,
        'LerpScalar': """

    Examples:
        >>> from spore import Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> w = Tensor([3.0, 1.0, 2.0])
        >>> print(ops.LerpScalar()(v, w, 0.5))
        [2.  1.5 2.5]
    """,
        'LinSpace': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> print(ops.LinSpace()(Tensor(0.0, ms.float32), Tensor(1.0, ms.float32), 5))
        [0.   0.25 0.5  0.75 1.  ]
    """,
        'ListDiff': """

    Examples:
        >>> from spore import Tensor, ops
        >>> n = Tensor([3, 1, 2])
        >>> print(ops.ListDiff()(n, Tensor([1]))[0])
        [3 2]
    """,
        'Load': """

    Examples:
        >>> from spore import Parameter, Tensor, ops
        >>> p = Parameter(Tensor([1.0, 2.0, 3.0]), name='p')
        >>> print(ops.Load()(p, None))
        [1. 2. 3.]
    """,
        'LogNormalReverse': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> print(ops.LogNormalReverse()(x).shape)
        (2, 3)
    """,
        'LogSpace': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.LogSpace(steps=3)(Tensor(0.0), Tensor(2.0)))
        [  1.  10. 100.]
    """,
        'Logit': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.Logit(eps=1e-5)(Tensor([0.1, 0.5])))
        [-2.1972246  0.       ]
    """,
        'LowerBound': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.LowerBound()(Tensor([[1, 2, 3]]), Tensor([[2]])))
        [[1]]
    """,
        'LpNorm': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ops.LpNorm(axis=0, p=1)(x))
        [2.1 3.  0.6]
    """,
        'Lstsq': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.Lstsq()(Tensor([[2.0, 0.0], [0.0, 4.0]]), Tensor([[2.0], [8.0]])).shape)
        (2, 1)
    """,
        'MakeTuple': """

    Examples:
        >>> from spore import ops
        >>> print(ops.MakeTuple()(1, 2))
        (1, 2)
    """,
        'Map': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([1.2, 1.2])
        >>> y = Tensor([1.2])
        >>> print(*ops.Map()(ops.square, [x, y]), sep="\\n")
        [1.44 1.44]
        [1.44]
    """,
        'MaskedFill': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> m = Tensor([[True, False, True], [False, True, False]])
        >>> print(ops.MaskedFill()(x, m, 0.0))
        [[0. 2. 0.]
         [4. 0. 6.]]
    """,
        'MaskedScatter': """

    Examples:
        >>> from spore import Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(ops.MaskedScatter()(v, Tensor([True, False, True]), Tensor([8.0, 9.0])))
        [8. 2. 9.]
    """,
        'MatrixBandPart': """

    Examples:
        >>> from spore import ops
        >>> print(ops.MatrixBandPart()(ops.ones((3, 3)), 0, 1))
        [[1. 1. 0.]
         [0. 1. 1.]
         [0. 0. 1.]]
    """,
        'MatrixDiagPartV3': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> print(ops.MatrixDiagPartV3()(x, Tensor(0), Tensor(0.0)))
        [1. 5.]
    """,
        'MatrixDiagV3': """

    Examples:
        >>> from spore import Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(ops.MatrixDiagV3()(v, Tensor(0), Tensor(3), Tensor(3), Tensor(0.0)))
        [[1. 0. 0.]
         [0. 2. 0.]
         [0. 0. 3.]]
    """,
        'MatrixInverse': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.MatrixInverse()(Tensor([[2.0, 0.0], [0.0, 4.0]])))
        [[0.5  0.  ]
         [0.   0.25]]
    """,
        'MatrixPower': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.MatrixPower(2)(Tensor([[1.0, 1.0], [0.0, 1.0]])))
        [[1. 2.]
         [0. 1.]]
    """,
        'MatrixSetDiagV3': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> print(ops.MatrixSetDiagV3()(x, Tensor([8.0, 9.0]), Tensor(0)))
        [[8. 2. 3.]
         [4. 9. 6.]]
    """,
        'MatrixSolve': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.MatrixSolve()(Tensor([[2.0, 0.0], [1.0, 4.0]]), Tensor([[2.0], [9.0]])))
        [[1.]
         [2.]]
    """,
        'MatrixTriangularSolve': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.MatrixTriangularSolve()(Tensor([[2.0, 0.0], [1.0, 4.0]]), Tensor([[2.0], [9.0]])))
        [[1.]
         [2.]]
    """,
        'MaxPool': """

    Examples:
        >>> import numpy as np
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> x = Tensor(np.linspace(-2, 2, 2210).reshape(2, 5, 17, 13), ms.float32)
        >>> print(ops.MaxPool(2, 2)(x).shape)
        (2, 5, 8, 6)
    """,
        'MaxUnpool2D': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.MaxUnpool2D(2)(Tensor([[[[5.0]]]]), Tensor([[[[3]]]])).shape)
        (1, 1, 2, 2)
    """,
        'MaxUnpool3D': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.MaxUnpool3D(2)(Tensor([[[[[5.0]]]]]), Tensor([[[[[3]]]]])).shape)
        (1, 1, 2, 2, 2)
    """,
        'Median': """

    Examples:
        >>> from spore import Tensor, ops
        >>> w = Tensor([3.0, 1.0, 2.0])
        >>> print(ops.Median(global_median=True)(w)[0])
        2.0
    """,
        'Meshgrid': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([1.2, 1.2])
        >>> y = Tensor([1.2, 1.2, 0.1])
        >>> print(*ops.Meshgrid()((x, y)), sep="\\n")
        [[1.2 1.2]
         [1.2 1.2]
         [1.2 1.2]]
        [[1.2 1.2]
         [1.2 1.2]
         [0.1 0.1]]
    """,
        'MirrorPad': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.2, 1.2, 0.1, -0.9], [-1.8, -0.5, -0.4, -1.8], [-1.8, 2.0, 0.6, -1.1]])
        >>> print(ops.MirrorPad('REFLECT')(x, Tensor([[1, 1], [2, 2]], ms.int64)).shape)
        (5, 8)
    """,
        'MultiMarginLoss': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> print(ops.MultiMarginLoss()(x, Tensor([0, 2])))
        0.8333333
    """,
        'MultilabelMarginLoss': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> print(ops.MultilabelMarginLoss()(x, Tensor([[0, -1, 0], [2, 1, -1]], ms.int32))[0])
        0.8333333
    """,
        'Multinomial': """

    Examples:
        >>> from spore import Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(ops.Multinomial()(v, 2).shape)
        (2,)
    """,
        'MultinomialWithReplacement': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.MultinomialWithReplacement(2, True)(Tensor([[1.0, 2.0]]), 1, 0).shape)
        (1, 2)
    """,
        'MultitypeFuncGraph': """

    Examples:
        >>> from spore import Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> double = ops.MultitypeFuncGraph("double")
        >>> print(double.register("Tensor")(lambda t: t + t) and double(v))
        [2. 4. 6.]
    """,
        'Mvlgamma': """

    Examples:
        >>> from spore import Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(ops.Mvlgamma(1)(v))
        [0.        0.        0.6931472]
    """,
        'NLLLoss': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> print(ops.NLLLoss()(x, Tensor([0, 2], ms.int32), Tensor([1.0, 1.0, 1.0]))[0])
        -3.5
    """,
        'NPUAllocFloatStatus': """

    Examples:
        >>> from spore import ops
        >>> print(ops.NPUAllocFloatStatus()())
        [0. 0. 0. 0. 0. 0. 0. 0.]
    """,
        'NPUClearFloatStatus': """

    Examples:
        >>> import numpy as np
        >>> from spore import Tensor, ops
        >>> print(ops.NPUClearFloatStatus()(Tensor(np.zeros(8, np.float32))))
        [0. 0. 0. 0. 0. 0. 0. 0.]
    """,
        'NPUClearFloatStatusV2': """

    Examples:
        >>> import numpy as np
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> print(ops.NPUClearFloatStatusV2()(Tensor(np.ones(8), ms.int32)))
        [0 0 0 0 0 0 0 0]
    """,
        'NPUGetFloatStatus': """

    Examples:
        >>> import numpy as np
        >>> from spore import Tensor, ops
        >>> print(ops.NPUGetFloatStatus()(Tensor(np.zeros(8, np.float32))))
        [0. 0. 0. 0. 0. 0. 0. 0.]
    """,
        'NPUGetFloatStatusV2': """

    Examples:
        >>> import numpy as np
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> print(ops.NPUGetFloatStatusV2()(Tensor(np.zeros(8), ms.int32)))
        [0 0 0 0 0 0 0 0]
    """,
        'NoRepeatNGram': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> print(ops.NoRepeatNGram(2)(Tensor([[[1, 2, 1]]], ms.int32), Tensor([[[0.1, 0.2, 0.3]]])).shape)
        (1, 1, 3)
    """,
        'NonDeterministicInts': """

    Examples:
        >>> from spore import ops
        >>> print(ops.NonDeterministicInts()((2, 3)).shape)
        (2, 3)
    """,
        'NonZero': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.NonZero()(Tensor([0, 3, 4])))
        [[1]
         [2]]
    """,
        'NthElement': """

    Examples:
        >>> from spore import Tensor, ops
        >>> w = Tensor([3.0, 1.0, 2.0])
        >>> print(ops.NthElement()(w, 1))
        2.0
    """,
        'NuclearNorm': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.NuclearNorm()(Tensor([[3.0, 0.0], [0.0, 4.0]])))
        7.0
    """,
        'OneHot': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> i = Tensor([[2, 2], [1, 0]])
        >>> print(ops.OneHot()(i, 3, Tensor(2, ms.int32), Tensor(-1, ms.int32)).shape)
        (2, 2, 3)
    """,
        'Ones': """

    Examples:
        >>> import spore as ms
        >>> from spore import ops
        >>> print(ops.Ones()(4, ms.int32))
        [1 1 1 1]
    """,
        'OnesLike': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ops.OnesLike()(x))
        [[1. 1. 1.]
         [1. 1. 1.]]
    """,
        'Pack': """

    Examples:
        >>> from spore import Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> w = Tensor([3.0, 1.0, 2.0])
        >>> print(ops.Pack()((v, w)))
        [[1. 2. 3.]
         [3. 1. 2.]]
    """,
        'Pad': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ops.Pad(((1, 1), (0, 2)))(x).shape)
        (4, 5)
    """,
        'PadV3': """

    Examples:
        >>> from spore import Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(ops.PadV3()(v, Tensor([1, 1]), Tensor(0.0)))
        [0. 1. 2. 3. 0.]
    """,
        'Padding': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.Padding(4)(Tensor([[1.0], [2.0]])))
        [[1. 0. 0. 0.]
         [2. 0. 0. 0.]]
    """,
        'ParallelConcat': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> y = Tensor([[0.5, 0.5, 1.0], [2.0, 1.0, 0.5]])
        >>> print(ops.ParallelConcat()((x, y)).shape)
        (4, 3)
    """,
        'Partial': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([1.2, 1.2])
        >>> y = Tensor([1.2, 1.2])
        >>> print(ops.Partial()(lambda a, b: a * b, x)(y))
        [1.44 1.44]
    """,
        'Pdist': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.Pdist()(Tensor([[0.0, 0.0], [3.0, 4.0]])))
        [5.]
    """,
        'Poisson': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> print(ops.Poisson(seed=1)(Tensor([2, 2], ms.int32), Tensor(1.0)).shape)
        (2, 2)
    """,
        'PopulationCount': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> print(ops.PopulationCount()(Tensor([1, 3, 7], ms.int32)))
        [1 2 3]
    """,
        'Primitive': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.Primitive("ReLU")(Tensor([-1.0, 1.0])))
        [0. 1.]
    """,
        'Print': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([1.2, 1.2])
        >>> print(ops.Print()(x))
        Tensor(shape=[2], dtype=Float32, value= [ 1.20000005e+00,  1.20000005e+00])
        None
    """,
        'PyFunc': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(*ops.PyFunc(lambda a: a + 1, [ms.float32], [(3,)], [ms.float32], [(3,)])(v), sep="\\n")
        [2. 3. 4.]
    """,
        'Qr': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.Qr()(Tensor([[3.0, 1.0], [4.0, 2.0]]))[1])
        [[-5.  -2.2]
         [ 0.   0.4]]
    """,
        'Quantile': """

    Examples:
        >>> from spore import Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(ops.Quantile()(v, 0.5))
        2.0
    """,
        'RGBToHSV': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.RGBToHSV()(Tensor([[[1.0, 0.0, 0.0]]])).shape)
        (1, 1, 3)
    """,
        'RaggedRange': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> print(ops.RaggedRange(ms.int64)(Tensor([0, 5]), Tensor([2, 8]), Tensor([1, 2]))[1])
        [0 1 5 7]
    """,
        'RandomCategorical': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> print(ops.RandomCategorical()(x, 5, 1).shape)
        (2, 5)
    """,
        'RandomChoiceWithMask': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.RandomChoiceWithMask(count=2)(Tensor([True, False, True]))[1])
        [ True  True]
    """,
        'RandomGamma': """

    Examples:
        >>> from spore import Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(ops.RandomGamma()(Tensor([2]), v).shape)
        (2, 3)
    """,
        'RandomPoisson': """

    Examples:
        >>> from spore import Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(ops.RandomPoisson()(Tensor([2]), v).shape)
        (2, 3)
    """,
        'RandomShuffle': """

    Examples:
        >>> from spore import Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(ops.RandomShuffle()(v).shape)
        (3,)
    """,
        'Randperm': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> print(ops.Randperm(max_length=4)(Tensor([4], ms.int32)).shape)
        (4,)
    """,
        'RandpermV2': """

    Examples:
        >>> from spore import ops
        >>> print(ops.RandpermV2()(4).shape)
        (4,)
    """,
        'Range': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.Range()(Tensor(0), Tensor(6), Tensor(2)))
        [0 2 4]
    """,
        'Rank': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ops.Rank()(x))
        2
    """,
        'ReduceStd': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> print(*ops.ReduceStd()(x), sep="\\n")
        1.8708287
        3.5
    """,
        'Renorm': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.Renorm(2, 0, 1.0)(Tensor([[3.0, 4.0], [0.3, 0.4]])))
        [[0.6 0.8]
         [0.3 0.4]]
    """,
        'ResizeBicubic': """

    Examples:
        >>> import numpy as np
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> image = Tensor(np.arange(16).reshape(1, 1, 4, 4), ms.float32)
        >>> print(ops.ResizeBicubic()(image, Tensor([8, 8], ms.int32)).shape)
        (1, 1, 8, 8)
    """,
        'ResizeBilinear': """

    Examples:
        >>> import numpy as np
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> image = Tensor(np.arange(16).reshape(1, 1, 4, 4), ms.float32)
        >>> print(ops.ResizeBilinear((8, 8))(image).shape)
        (1, 1, 8, 8)
    """,
        'ResizeBilinearV2': """

    Examples:
        >>> import numpy as np
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> x = Tensor(np.linspace(-2, 2, 24).reshape(1, 2, 3, 4), ms.float32)
        >>> print(ops.ResizeBilinearV2()(x, (4, 6)).shape)
        (1, 2, 4, 6)
    """,
        'ResizeNearestNeighbor': """

    Examples:
        >>> import numpy as np
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> x = Tensor(np.linspace(-2, 2, 24).reshape(1, 2, 3, 4), ms.float32)
        >>> print(ops.ResizeNearestNeighbor((2, 2))(x).shape)
        (1, 2, 2, 2)
    """,
        'ResizeNearestNeighborV2': """

    Examples:
        >>> import numpy as np
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> image = Tensor(np.arange(16).reshape(1, 1, 4, 4), ms.float32)
        >>> print(ops.ResizeNearestNeighborV2()(image, Tensor([8, 8], ms.int32)).shape)
        (1, 1, 8, 8)
    """,
        'ReverseSequence': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.2, 1.2, 0.1, -0.9], [-1.8, -0.5, -0.4, -1.8]])
        >>> n = Tensor([4, 4])
        >>> print(ops.ReverseSequence(seq_dim=1)(x, n))
        [[-0.9  0.1  1.2  1.2]
         [-1.8 -0.4 -0.5 -1.8]]
    """,
        'ReverseV2': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> x = Tensor([3, 3, 0, -2, -5], ms.int32)
        >>> print(ops.ReverseV2([0])(x))
        [-5 -2  0  3  3]
    """,
        'Rint': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.Rint()(Tensor([1.4, 1.6])))
        [1. 2.]
    """,
        'SGD': """

    Examples:
        >>> from spore import Parameter, Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> p = Parameter(Tensor([1.0, 2.0, 3.0]), name='p')
        >>> a = Parameter(Tensor([0.0, 0.0, 0.0]), name='a')
        >>> s = Parameter(Tensor([1.0, 1.0, 1.0]), name='s')
        >>> print(ops.SGD()(p, v, Tensor(0.1), a, Tensor(0.9), s))
        [0.9 1.8 2.7]
    """,
        'STFT': """

    Examples:
        >>> from spore import ops
        >>> print(ops.STFT(8, 4, 8, False, True, True)(ops.ones((16,)), ops.ones((8,))).shape)
        (5, 3)
    """,
        'ScalarCast': """

    Examples:
        >>> import spore as ms
        >>> from spore import ops
        >>> print(ops.ScalarCast()(1.7, ms.int32))
        1
    """,
        'ScalarSummary': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([1.2])
        >>> print(ops.ScalarSummary()('loss', x))
        None
    """,
        'ScalarToArray': """

    Examples:
        >>> from spore import ops
        >>> print(ops.ScalarToArray()(2.0))
        2.0
    """,
        'ScalarToTensor': """

    Examples:
        >>> import spore as ms
        >>> from spore import ops
        >>> print(ops.ScalarToTensor()(2.0, ms.float32))
        2.0
    """,
        'ScatterAdd': """

    Examples:
        >>> import spore as ms
        >>> from spore import Parameter, Tensor, ops
        >>> p = Parameter(Tensor([1.2, 1.2, 0.1, -0.9, -1.8]), name='w')
        >>> i = Tensor([4, 4, 2], ms.int32)
        >>> u = Tensor([1.2, 1.2, 0.1])
        >>> print(*(ops.ScatterAdd()(p, i, u), p), sep="\\n")
        [ 1.2         1.2         0.2        -0.9         0.60000014]
        Parameter (name=w, shape=(5,), dtype=Float32, requires_grad=True)
    """,
        'ScatterAddWithAxis': """

    Examples:
        >>> from spore import Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(ops.ScatterAddWithAxis(0)(v, Tensor([0, 2]), Tensor([7.0, 8.0])))
        [ 8.  2. 11.]
    """,
        'ScatterDiv': """

    Examples:
        >>> import spore as ms
        >>> from spore import Parameter, Tensor, ops
        >>> p = Parameter(Tensor([1.0, 2.0, 3.0]), name='p')
        >>> print(ops.ScatterDiv()(p, Tensor([0], ms.int32), Tensor([2.0])))
        [0.5 2.  3. ]
    """,
        'ScatterMax': """

    Examples:
        >>> import spore as ms
        >>> from spore import Parameter, Tensor, ops
        >>> p = Parameter(Tensor([1.0, 2.0, 3.0]), name='p')
        >>> print(ops.ScatterMax()(p, Tensor([0], ms.int32), Tensor([2.0])))
        [2. 2. 3.]
    """,
        'ScatterMin': """

    Examples:
        >>> import spore as ms
        >>> from spore import Parameter, Tensor, ops
        >>> p = Parameter(Tensor([1.0, 2.0, 3.0]), name='p')
        >>> print(ops.ScatterMin()(p, Tensor([2], ms.int32), Tensor([2.0])))
        [1. 2. 2.]
    """,
        'ScatterMul': """

    Examples:
        >>> import spore as ms
        >>> from spore import Parameter, Tensor, ops
        >>> p = Parameter(Tensor([1.0, 2.0, 3.0]), name='p')
        >>> print(ops.ScatterMul()(p, Tensor([0], ms.int32), Tensor([2.0])))
        [2. 2. 3.]
    """,
        'ScatterNd': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> i = Tensor([[4], [4], [2]], ms.int32)
        >>> u = Tensor([[1.2, 1.2], [0.1, -0.9], [-1.8, -0.5]])
        >>> print(ops.ScatterNd()(i, u, (5, 2)))
        [[ 0.          0.        ]
         [ 0.          0.        ]
         [-1.8        -0.5       ]
         [ 0.          0.        ]
         [ 1.3000001   0.30000007]]
    """,
        'ScatterNdAdd': """

    Examples:
        >>> import spore as ms
        >>> from spore import Parameter, Tensor, ops
        >>> p = Parameter(Tensor([1.0, 2.0, 3.0]), name='p')
        >>> print(ops.ScatterNdAdd()(p, Tensor([[0]], ms.int32), Tensor([2.0])))
        [3. 2. 3.]
    """,
        'ScatterNdDiv': """

    Examples:
        >>> import spore as ms
        >>> from spore import Parameter, Tensor, ops
        >>> p = Parameter(Tensor([1.0, 2.0, 3.0]), name='p')
        >>> print(ops.ScatterNdDiv()(p, Tensor([[0]], ms.int32), Tensor([2.0])))
        [0.5 2.  3. ]
    """,
        'ScatterNdMax': """

    Examples:
        >>> import spore as ms
        >>> from spore import Parameter, Tensor, ops
        >>> p = Parameter(Tensor([1.0, 2.0, 3.0]), name='p')
        >>> print(ops.ScatterNdMax()(p, Tensor([[0]], ms.int32), Tensor([2.0])))
        [2. 2. 3.]
    """,
        'ScatterNdMin': """

    Examples:
        >>> import spore as ms
        >>> from spore import Parameter, Tensor, ops
        >>> p = Parameter(Tensor([1.0, 2.0, 3.0]), name='p')
        >>> print(ops.ScatterNdMin()(p, Tensor([[0]], ms.int32), Tensor([2.0])))
        [1. 2. 3.]
    """,
        'ScatterNdMul': """

    Examples:
        >>> import spore as ms
        >>> from spore import Parameter, Tensor, ops
        >>> p = Parameter(Tensor([1.0, 2.0, 3.0]), name='p')
        >>> print(ops.ScatterNdMul()(p, Tensor([[0]], ms.int32), Tensor([2.0])))
        [2. 2. 3.]
    """,
        'ScatterNdSub': """

    Examples:
        >>> import spore as ms
        >>> from spore import Parameter, Tensor, ops
        >>> p = Parameter(Tensor([1.0, 2.0, 3.0]), name='p')
        >>> print(ops.ScatterNdSub()(p, Tensor([[0]], ms.int32), Tensor([2.0])))
        [-1.  2.  3.]
    """,
        'ScatterNdUpdate': """

    Examples:
        >>> import spore as ms
        >>> from spore import Parameter, Tensor, ops
        >>> p = Parameter(Tensor([1.2, 1.2, 0.1, -0.9, -1.8]), name='w')
        >>> i = Tensor([[4], [4]], ms.int32)
        >>> u = Tensor([1.2, 1.2])
        >>> print(*(ops.ScatterNdUpdate()(p, i, u), p), sep="\\n")
        [ 1.2  1.2  0.1 -0.9  1.2]
        Parameter (name=w, shape=(5,), dtype=Float32, requires_grad=True)
    """,
        'ScatterNonAliasingAdd': """

    Examples:
        >>> import spore as ms
        >>> from spore import Parameter, Tensor, ops
        >>> p = Parameter(Tensor([1.0, 2.0, 3.0]), name='p')
        >>> print(ops.ScatterNonAliasingAdd()(p, Tensor([[0]], ms.int32), Tensor([2.0])))
        [3. 2. 3.]
    """,
        'ScatterSub': """

    Examples:
        >>> import spore as ms
        >>> from spore import Parameter, Tensor, ops
        >>> p = Parameter(Tensor([1.0, 2.0, 3.0]), name='p')
        >>> print(ops.ScatterSub()(p, Tensor([0], ms.int32), Tensor([2.0])))
        [-1.  2.  3.]
    """,
        'ScatterUpdate': """

    Examples:
        >>> import spore as ms
        >>> from spore import Parameter, Tensor, ops
        >>> p = Parameter(Tensor([[1.2, 1.2], [0.1, -0.9], [-1.8, -0.5], [-0.4, -1.8]]), name='w')
        >>> i = Tensor([3], ms.int32)
        >>> u = Tensor([[1.2, 1.2]])
        >>> print(ops.ScatterUpdate()(p, i, u))
        [[ 1.2  1.2]
         [ 0.1 -0.9]
         [-1.8 -0.5]
         [ 1.2  1.2]]
    """,
        'SearchSorted': """

    Examples:
        >>> from spore import Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(ops.SearchSorted()(v, Tensor([1.5, 2.5])))
        [1 2]
    """,
        'SegmentMax': """

    Examples:
        >>> from spore import Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(ops.SegmentMax()(v, Tensor([0, 0, 1])))
        [2. 3.]
    """,
        'SegmentMean': """

    Examples:
        >>> from spore import Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(ops.SegmentMean()(v, Tensor([0, 0, 1])))
        [1.5 3. ]
    """,
        'SegmentMin': """

    Examples:
        >>> from spore import Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(ops.SegmentMin()(v, Tensor([0, 0, 1])))
        [1. 3.]
    """,
        'SegmentProd': """

    Examples:
        >>> from spore import Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(ops.SegmentProd()(v, Tensor([0, 0, 1])))
        [2. 3.]
    """,
        'SegmentSum': """

    Examples:
        >>> from spore import Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(ops.SegmentSum()(v, Tensor([0, 0, 1])))
        [3. 3.]
    """,
        'Shape': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ops.Shape()(x))
        (2, 3)
    """,
        'Size': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> print(ops.Size()(x))
        6
    """,
        'Slice': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ops.Slice()(x, (0, 1), (2, 2)))
        [[ 1.2  0.1]
         [-1.8 -0.5]]
    """,
        'SoftMarginLoss': """

    Examples:
        >>> from spore import Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(ops.SoftMarginLoss()(v, Tensor([1.0, -1.0, 1.0])))
        0.8295924
    """,
        'Softmax': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ops.Softmax()(x))
        [[0.42865637 0.42865637 0.1426873 ]
         [0.34501863 0.14027412 0.5147073 ]]
    """,
        'Sort': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> x = Tensor([60, 60, 3, -43, -89, -24, -19, -91], ms.int32)
        >>> print([t.shape for t in ops.Sort()(x)])
        [(8,), (8,)]
    """,
        'SpaceToBatch': """

    Examples:
        >>> import numpy as np
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> image = Tensor(np.arange(16).reshape(1, 1, 4, 4), ms.float32)
        >>> print(ops.SpaceToBatch(2, [[0, 0], [0, 0]])(image).shape)
        (4, 1, 2, 2)
    """,
        'SpaceToBatchND': """

    Examples:
        >>> import numpy as np
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> image = Tensor(np.arange(16).reshape(1, 1, 4, 4), ms.float32)
        >>> print(ops.SpaceToBatchND([2, 2], [[0, 0], [0, 0]])(image).shape)
        (4, 1, 2, 2)
    """,
        'SpaceToDepth': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[[[1.2, 1.2], [0.1, -0.9], [-1.8, -0.5], [-0.4, -1.8]]]])
        >>> print(ops.SpaceToDepth(2)(x).shape)
        (1, 4, 2, 1)
    """,
        'SparseGatherV2': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> print(ops.SparseGatherV2()(x, Tensor([1], ms.int32), 0))
        [[4. 5. 6.]]
    """,
        'SparseToDense': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.SparseToDense()(Tensor([[0, 1]]), Tensor([5.0]), (2, 2)))
        [[0. 5.]
         [0. 0.]]
    """,
        'Split': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5], [-0.4, -1.8, -1.8], [2.0, 0.6, -1.1]])
        >>> print(*ops.Split(0, 2)(x), sep="\\n")
        [[ 1.2  1.2  0.1]
         [-0.9 -1.8 -0.5]]
        [[-0.4 -1.8 -1.8]
         [ 2.   0.6 -1.1]]
    """,
        'SplitV': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> print(*ops.SplitV([1, 2], 1, 2)(x), sep="\\n")
        [[1.]
         [4.]]
        [[2. 3.]
         [5. 6.]]
    """,
        'SquareSumAll': """

    Examples:
        >>> from spore import Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> w = Tensor([3.0, 1.0, 2.0])
        >>> print(*ops.SquareSumAll()(v, w), sep="\\n")
        14.0
        14.0
    """,
        'Squeeze': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[[[1.2], [1.2], [0.1]]], [[[-0.9], [-1.8], [-0.5]]]])
        >>> print(ops.Squeeze()(x))
        [[ 1.2  1.2  0.1]
         [-0.9 -1.8 -0.5]]
    """,
        'Stack': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> y = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ops.Stack()((x, y)).shape)
        (2, 2, 3)
    """,
        'StandardLaplace': """

    Examples:
        >>> from spore import ops
        >>> print(ops.StandardLaplace(seed=1)((2, 3)).shape)
        (2, 3)
    """,
        'StandardNormal': """

    Examples:
        >>> from spore import ops
        >>> print(ops.StandardNormal()((1,)).shape)
        (1,)
    """,
        'StridedSlice': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ops.StridedSlice()(x, (0, 1), (2, 3), (1, 1)))
        [[ 1.2  0.1]
         [-1.8 -0.5]]
    """,
        'SubAndFilter': """

    Examples:
        >>> from spore import Tensor, ops
        >>> n = Tensor([3, 1, 2])
        >>> print(ops.SubAndFilter()(n, 2, 1)[0])
        [0 1]
    """,
        'Svd': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.Svd(compute_uv=False)(Tensor([[3.0, 0.0], [0.0, 4.0]]))[0])
        [4. 3.]
    """,
        'TensorScatterAdd': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(ops.TensorScatterAdd()(v, Tensor([[0]], ms.int32), Tensor([2.0])))
        [3. 2. 3.]
    """,
        'TensorScatterDiv': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(ops.TensorScatterDiv()(v, Tensor([[0]], ms.int32), Tensor([2.0])))
        [0.5 2.  3. ]
    """,
        'TensorScatterElements': """

    Examples:
        >>> from spore import Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(ops.TensorScatterElements(0)(v, Tensor([0, 2]), Tensor([7.0, 8.0])))
        [7. 2. 8.]
    """,
        'TensorScatterMax': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(ops.TensorScatterMax()(v, Tensor([[0]], ms.int32), Tensor([2.0])))
        [2. 2. 3.]
    """,
        'TensorScatterMin': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(ops.TensorScatterMin()(v, Tensor([[2]], ms.int32), Tensor([2.0])))
        [1. 2. 2.]
    """,
        'TensorScatterMul': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(ops.TensorScatterMul()(v, Tensor([[0]], ms.int32), Tensor([2.0])))
        [2. 2. 3.]
    """,
        'TensorScatterSub': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(ops.TensorScatterSub()(v, Tensor([[0]], ms.int32), Tensor([2.0])))
        [-1.  2.  3.]
    """,
        'TensorScatterUpdate': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(ops.TensorScatterUpdate()(v, Tensor([[0]], ms.int32), Tensor([2.0])))
        [2. 2. 3.]
    """,
        'TensorShape': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> print(ops.TensorShape()(x))
        [2 3]
    """,
        'TensorSummary': """

    Examples:
        >>> from spore import Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(ops.TensorSummary()("weights", v))
        None
    """,
        'TensorToTuple': """

    Examples:
        >>> from spore import Tensor, ops
        >>> n = Tensor([3, 1, 2])
        >>> print(ops.TensorToTuple()(n))
        (3, 1, 2)
    """,
        'TopK': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> x = Tensor([30, 30, 1, -22, -45, -12], ms.int32)
        >>> print(*ops.TopK(True)(x, 1), sep="\\n")
        [30]
        [0]
    """,
        'TransposeView': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> print(ops.TransposeView()(x, (1, 0)))
        [[1. 4.]
         [2. 5.]
         [3. 6.]]
    """,
        'TridiagonalMatMul': """

    Examples:
        >>> from spore import ops
        >>> print(ops.TridiagonalMatMul()(ops.ones((1, 3)), ops.ones((1, 3)), ops.ones((1, 3)), ops.ones((3, 1))))
        [[2.]
         [3.]
         [2.]]
    """,
        'TrilIndices': """

    Examples:
        >>> from spore import ops
        >>> print(ops.TrilIndices(2, 2)())
        [[0 1 1]
         [0 0 1]]
    """,
        'TripletMarginLoss': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> y = Tensor([[0.5, 0.5, 1.0], [2.0, 1.0, 0.5]])
        >>> print(ops.TripletMarginLoss()(x, y, x + 1, Tensor(1.0)))
        4.0870657
    """,
        'TriuIndices': """

    Examples:
        >>> from spore import ops
        >>> print(ops.TriuIndices(2, 2)())
        [[0 0 1]
         [0 1 1]]
    """,
        'TruncatedNormal': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> print(ops.TruncatedNormal(seed=1)(Tensor([2, 2], ms.int32)).shape)
        (2, 2)
    """,
        'TupleToArray': """

    Examples:
        >>> from spore import ops
        >>> print(ops.TupleToArray()((7,)))
        [7]
    """,
        'UniformInt': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> print(ops.UniformInt(seed=1)((2, 3), Tensor(0, ms.int32), Tensor(9, ms.int32)).shape)
        (2, 3)
    """,
        'UniformReal': """

    Examples:
        >>> from spore import ops
        >>> print(ops.UniformReal()((2000,)).shape)
        (2000,)
    """,
        'Unique': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> x = Tensor([3, 3, 2, 1, 0, 1, 1, 0], ms.int32)
        >>> print(*ops.Unique()(x), sep="\\n")
        [3 2 1 0]
        [0 0 1 2 3 2 2 3]
    """,
        'UniqueConsecutive': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.UniqueConsecutive()(Tensor([1, 1, 2]))[0])
        [1 2]
    """,
        'UniqueWithPad': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(*ops.UniqueWithPad()(Tensor([1, 1, 2]), 0), sep="\\n")
        [1 2 0]
        [0 0 1]
    """,
        'Unpack': """

    Examples:
        >>> from spore import Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(*ops.Unpack()(v), sep="\\n")
        1.0
        2.0
        3.0
    """,
        'UnravelIndex': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.UnravelIndex()(Tensor([4, 5]), Tensor([2, 3])))
        [[1 1]
         [1 2]]
    """,
        'UnsortedSegmentMax': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(ops.UnsortedSegmentMax()(v, Tensor([0, 0, 1], ms.int32), 2))
        [2. 3.]
    """,
        'UnsortedSegmentMin': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(ops.UnsortedSegmentMin()(v, Tensor([0, 0, 1], ms.int32), 2))
        [1. 3.]
    """,
        'UnsortedSegmentProd': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(ops.UnsortedSegmentProd()(v, Tensor([0, 0, 1], ms.int32), 2))
        [2. 3.]
    """,
        'UnsortedSegmentSum': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(ops.UnsortedSegmentSum()(v, Tensor([0, 0, 1], ms.int32), 2))
        [3. 3.]
    """,
        'Unstack': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[2.5, 2.5, 1.8], [1.2, 0.6, 1.5], [1.5, 0.6, 0.6]])
        >>> print(*ops.Unstack(0)(x), sep="\\n")
        [2.5 2.5 1.8]
        [1.2 0.6 1.5]
        [1.5 0.6 0.6]
    """,
        'UpdateState': """

    Examples:
        >>> from spore import Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(ops.UpdateState()(None, v))
        None
    """,
        'UpperBound': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.UpperBound()(Tensor([[1, 2, 3]]), Tensor([[2]])))
        [[2]]
    """,
        'UpsampleNearest3D': """

    Examples:
        >>> from spore import ops
        >>> print(ops.UpsampleNearest3D()(ops.ones((1, 1, 2, 2, 2)), [4, 4, 4], None).shape)
        (1, 1, 4, 4, 4)
    """,
        'UpsampleTrilinear3D': """

    Examples:
        >>> from spore import ops
        >>> print(ops.UpsampleTrilinear3D()(ops.ones((1, 1, 2, 2, 2)), [4, 4, 4], None).shape)
        (1, 1, 4, 4, 4)
    """,
        'Zeros': """

    Examples:
        >>> import spore as ms
        >>> from spore import ops
        >>> print(ops.Zeros()(4, ms.int32))
        [0 0 0 0]
    """,
        'ZerosLike': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ops.ZerosLike()(x))
        [[0. 0. 0.]
         [0. 0. 0.]]
    """,
        'adaptive_avg_pool2d': """

    Examples:
        >>> import numpy as np
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> x = Tensor(np.linspace(-2, 2, 40).reshape(1, 2, 5, 4), ms.float32)
        >>> print(ops.adaptive_avg_pool2d(x, 2).shape)
        (1, 2, 2, 2)
    """,
        'adaptive_avg_pool3d': """

    Examples:
        >>> from spore import ops
        >>> print(ops.adaptive_avg_pool3d(ops.ones((1, 2, 4, 4)), (1, 2, 2)).shape)
        (1, 1, 2, 2)
    """,
        'adaptive_max_pool1d': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.adaptive_max_pool1d(Tensor([[[1.0, 3.0, 2.0, 4.0]]]), 2).shape)
        (1, 1, 2)
    """,
        'adaptive_max_pool2d': """

    Examples:
        >>> import numpy as np
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> image = Tensor(np.arange(16).reshape(1, 1, 4, 4), ms.float32)
        >>> print(ops.adaptive_max_pool2d(image, 2).shape)
        (1, 1, 2, 2)
    """,
        'adaptive_max_pool3d': """

    Examples:
        >>> from spore import ops
        >>> print(ops.adaptive_max_pool3d(ops.ones((1, 1, 4, 4, 4)), 2).shape)
        (1, 1, 2, 2, 2)
    """,
        'add_flags': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([1.2, 1.2])
        >>> f = ops.add_flags(lambda v: v * 2, has_effect=True)
        >>> print(f(x))
        [2.4 2.4]
    """,
        'adjoint': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> print(ops.adjoint(x))
        [[1. 4.]
         [2. 5.]
         [3. 6.]]
    """,
        'affine_grid': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.affine_grid(Tensor([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]]), (1, 1, 2, 2)).shape)
        (1, 2, 2, 2)
    """,
        'amax': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> print(ops.amax(x, 1))
        [3. 6.]
    """,
        'amin': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> print(ops.amin(x, 1))
        [1. 4.]
    """,
        'aminmax': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> print(*ops.aminmax(x, axis=1), sep="\\n")
        [1. 4.]
        [3. 6.]
    """,
        'arange': """

    Examples:
        >>> from spore import ops
        >>> print(ops.arange(5))
        [0 1 2 3 4]
    """,
        'argsort': """

    Examples:
        >>> import numpy as np
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> x = Tensor(np.linspace(-2, 2, 15).reshape(3, 5), ms.float32)
        >>> print(ops.argsort(x).shape)
        (3, 5)
    """,
        'argwhere': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.argwhere(Tensor([0, 3, 4])))
        [[1]
         [2]]
    """,
        'array_to_scalar': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.array_to_scalar(Tensor(2.0)))
        2.0
    """,
        'atleast_1d': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(*ops.atleast_1d([Tensor(1.0)]), sep="\\n")
        [1.]
    """,
        'atleast_2d': """

    Examples:
        >>> from spore import Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(*ops.atleast_2d([v]), sep="\\n")
        [[1. 2. 3.]]
    """,
        'atleast_3d': """

    Examples:
        >>> from spore import Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(ops.atleast_3d([v])[0].shape)
        (1, 3, 1)
    """,
        'bartlett_window': """

    Examples:
        >>> from spore import ops
        >>> print(ops.bartlett_window(5, False))
        [0.  0.5 1.  0.5 0. ]
    """,
        'batch_dot': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> y = Tensor([[0.5, 0.5, 1.0], [2.0, 1.0, 0.5]])
        >>> print(ops.batch_dot(x, y))
        [[ 4.5]
         [16. ]]
    """,
        'batch_norm': """

    Examples:
        >>> import numpy as np
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> x = Tensor(np.linspace(-2, 2, 48).reshape(4, 3, 2, 2), ms.float32)
        >>> g = Tensor([1.2, 1.2, 0.1])
        >>> b = Tensor([1.2, 1.2, 0.1])
        >>> m = Tensor([1.2, 1.2, 0.1])
        >>> v = Tensor([1.7, 1.7, 1.3])
        >>> print(ops.batch_norm(x, m, v, g, b).shape)
        (4, 3, 2, 2)
    """,
        'batch_to_space_nd': """

    Examples:
        >>> from spore import ops
        >>> print(ops.batch_to_space_nd(ops.ones((4, 1, 1, 1)), [2, 2], [[0, 0], [0, 0]]).shape)
        (1, 1, 2, 2)
    """,
        'bernoulli': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> print(ops.bernoulli(x, p=1.0).shape)
        (2, 3)
    """,
        'bias_add': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(ops.bias_add(x, v))
        [[2. 4. 6.]
         [5. 7. 9.]]
    """,
        'bidense': """

    Examples:
        >>> from spore import ops
        >>> print(ops.bidense(ops.ones((1, 2)), ops.ones((1, 3)), ops.ones((4, 2, 3))))
        [[6. 6. 6. 6.]]
    """,
        'blackman_window': """

    Examples:
        >>> from spore import ops
        >>> print(ops.blackman_window(5, False).shape)
        (5,)
    """,
        'block_diag': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.block_diag(Tensor([[1.0]]), Tensor([[2.0, 3.0]])))
        [[1. 0. 0.]
         [0. 2. 3.]]
    """,
        'bool_and': """

    Examples:
        >>> from spore import ops
        >>> print(ops.bool_and(True, False))
        False
    """,
        'bool_eq': """

    Examples:
        >>> from spore import ops
        >>> print(ops.bool_eq(True, False))
        False
    """,
        'bool_not': """

    Examples:
        >>> from spore import ops
        >>> print(ops.bool_not(True))
        False
    """,
        'bool_or': """

    Examples:
        >>> from spore import ops
        >>> print(ops.bool_or(True, False))
        True
    """,
        'broadcast_like': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(ops.broadcast_like(v, x))
        [[1. 2. 3.]
         [1. 2. 3.]]
    """,
        'bucketize': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> print(ops.bucketize(x, [2.5, 4.5]))
        [[0 0 1]
         [1 2 2]]
    """,
        'cartesian_prod': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.cartesian_prod(Tensor([1, 2]), Tensor([3, 4])))
        [[1 3]
         [1 4]
         [2 3]
         [2 4]]
    """,
        'cast': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> x = Tensor([[6.7, 6.7, 3.2], [0.4, -2.4, 1.6]])
        >>> print(ops.cast(x, ms.int8))
        [[ 6  6  3]
         [ 0 -2  1]]
    """,
        'cat': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> y = Tensor([[1.2, 1.2, 0.1]])
        >>> print(ops.cat((x, y)))
        [[ 1.2  1.2  0.1]
         [-0.9 -1.8 -0.5]
         [ 1.2  1.2  0.1]]
    """,
        'channel_shuffle': """

    Examples:
        >>> import numpy as np
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> channels = Tensor(np.arange(16).reshape(1, 4, 2, 2), ms.float32)
        >>> print(ops.channel_shuffle(channels, 2).shape)
        (1, 4, 2, 2)
    """,
        'choice_with_mask': """

    Examples:
        >>> from spore import Tensor, ops
        >>> m = Tensor([[True, False, True], [False, True, False]])
        >>> print(ops.choice_with_mask(m, 3)[0].shape)
        (3, 2)
    """,
        'chunk': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> x = Tensor([3, 3, 0, -2, -5, -1], ms.int32)
        >>> print(*ops.chunk(x, 4, 0), sep="\\n")
        [3 3]
        [ 0 -2]
        [-5 -1]
    """,
        'clamp': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> x = Tensor([3, 3, 0, -2, -5, -1], ms.int32)
        >>> print(ops.clamp(x, -1, 2))
        [ 2  2  0 -1 -1 -1]
    """,
        'clip': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> print(ops.clip(x, 2.0, 4.0))
        [[2. 2. 3.]
         [4. 4. 4.]]
    """,
        'clip_by_global_norm': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> y = Tensor([1.2, 1.2, 0.1, -0.9])
        >>> print(*ops.clip_by_global_norm((x, y), 1.0), sep="\\n")
        [[ 0.36363637  0.36363637  0.03030303]
         [-0.27272728 -0.54545456 -0.15151516]]
        [ 0.36363637  0.36363637  0.03030303 -0.27272728]
    """,
        'clip_by_norm': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ops.clip_by_norm(x, 1.0))
        [[ 0.44752434  0.44752434  0.03729369]
         [-0.33564323 -0.67128646 -0.18646847]]
    """,
        'clip_by_value': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> x = Tensor([3, 3, 0, -2, -5, -1], ms.int32)
        >>> print(ops.clip_by_value(x, -1, 2))
        [ 2  2  0 -1 -1 -1]
    """,
        'col2im': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.col2im(ops.ones((1, 1, 4, 1)), Tensor([2, 2]), (2, 2), (1, 1), (0, 0), (1, 1)).shape)
        (1, 1, 2, 2)
    """,
        'column_stack': """

    Examples:
        >>> from spore import Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> w = Tensor([3.0, 1.0, 2.0])
        >>> print(ops.column_stack((v, w)))
        [[1. 3.]
         [2. 1.]
         [3. 2.]]
    """,
        'combinations': """

    Examples:
        >>> from spore import Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(ops.combinations(v))
        [[1. 2.]
         [1. 3.]
         [2. 3.]]
    """,
        'concat': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> y = Tensor([[1.2, 1.2, 0.1]])
        >>> print(ops.concat((x, y)))
        [[ 1.2  1.2  0.1]
         [-0.9 -1.8 -0.5]
         [ 1.2  1.2  0.1]]
    """,
        'constexpr': """

    Examples:
        >>> from spore import ops
        >>> f = ops.constexpr(lambda a: a + 1)
        >>> print(f(3))
        4
    """,
        'conv_transpose2d': """

    Examples:
        >>> import numpy as np
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> image = Tensor(np.arange(16).reshape(1, 1, 4, 4), ms.float32)
        >>> print(ops.conv_transpose2d(image, ops.ones((1, 1, 2, 2))).shape)
        (1, 1, 5, 5)
    """,
        'coo2csr': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.coo2csr(Tensor([0, 0, 1]), 2))
        [0 2 3]
    """,
        'coo_abs': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.coo_abs(ops.dense_to_sparse_coo(Tensor([[1.0]]))).values)
        [1.]
    """,
        'coo_acos': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.coo_acos(ops.dense_to_sparse_coo(Tensor([[1.0]]))).values)
        [0.]
    """,
        'coo_acosh': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.coo_acosh(ops.dense_to_sparse_coo(Tensor([[1.0]]))).values)
        [0.]
    """,
        'coo_add': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.coo_add(ops.dense_to_sparse_coo(Tensor([[1.0, 0.0], [0.0, 2.0]])), ops.dense_to_sparse_coo(Tensor([[1.0, 0.0], [0.0, 2.0]])), Tensor(0.0)).values)
        [2. 4.]
    """,
        'coo_asin': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.coo_asin(ops.dense_to_sparse_coo(Tensor([[1.0]]))).values)
        [1.5707964]
    """,
        'coo_asinh': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.coo_asinh(ops.dense_to_sparse_coo(Tensor([[1.0]]))).values)
        [0.8813736]
    """,
        'coo_atan': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.coo_atan(ops.dense_to_sparse_coo(Tensor([[1.0]]))).values)
        [0.7853982]
    """,
        'coo_atanh': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.coo_atanh(ops.dense_to_sparse_coo(Tensor([[0.5]]))).values)
        [0.54930615]
    """,
        'coo_ceil': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.coo_ceil(ops.dense_to_sparse_coo(Tensor([[1.0]]))).values)
        [1.]
    """,
        'coo_concat': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.coo_concat((ops.dense_to_sparse_coo(Tensor([[1.0, 0.0], [0.0, 2.0]])), ops.dense_to_sparse_coo(Tensor([[1.0, 0.0], [0.0, 2.0]])))).shape)
        (4, 2)
    """,
        'coo_cos': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.coo_cos(ops.dense_to_sparse_coo(Tensor([[1.0]]))).values)
        [0.5403023]
    """,
        'coo_cosh': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.coo_cosh(ops.dense_to_sparse_coo(Tensor([[1.0]]))).values)
        [1.5430806]
    """,
        'coo_exp': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.coo_exp(ops.dense_to_sparse_coo(Tensor([[1.0]]))).values)
        [2.7182817]
    """,
        'coo_expm1': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.coo_expm1(ops.dense_to_sparse_coo(Tensor([[1.0]]))).values)
        [1.7182817]
    """,
        'coo_floor': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.coo_floor(ops.dense_to_sparse_coo(Tensor([[1.0]]))).values)
        [1.]
    """,
        'coo_inv': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.coo_inv(ops.dense_to_sparse_coo(Tensor([[1.0]]))).values)
        [1.]
    """,
        'coo_isfinite': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.coo_isfinite(ops.dense_to_sparse_coo(Tensor([[1.0]]))).values)
        [ True]
    """,
        'coo_isinf': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.coo_isinf(ops.dense_to_sparse_coo(Tensor([[1.0]]))).values)
        [False]
    """,
        'coo_isnan': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.coo_isnan(ops.dense_to_sparse_coo(Tensor([[1.0]]))).values)
        [False]
    """,
        'coo_log': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.coo_log(ops.dense_to_sparse_coo(Tensor([[1.0]]))).values)
        [0.]
    """,
        'coo_log1p': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.coo_log1p(ops.dense_to_sparse_coo(Tensor([[1.0]]))).values)
        [0.6931472]
    """,
        'coo_neg': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.coo_neg(ops.dense_to_sparse_coo(Tensor([[1.0]]))).values)
        [-1.]
    """,
        'coo_relu': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.coo_relu(ops.dense_to_sparse_coo(Tensor([[1.0]]))).values)
        [1.]
    """,
        'coo_relu6': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.coo_relu6(ops.dense_to_sparse_coo(Tensor([[1.0]]))).values)
        [1.]
    """,
        'coo_round': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.coo_round(ops.dense_to_sparse_coo(Tensor([[1.0]]))).values)
        [1.]
    """,
        'coo_sigmoid': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.coo_sigmoid(ops.dense_to_sparse_coo(Tensor([[1.0]]))).values)
        [0.7310586]
    """,
        'coo_sin': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.coo_sin(ops.dense_to_sparse_coo(Tensor([[1.0]]))).values)
        [0.841471]
    """,
        'coo_sinh': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.coo_sinh(ops.dense_to_sparse_coo(Tensor([[1.0]]))).values)
        [1.1752012]
    """,
        'coo_softsign': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.coo_softsign(ops.dense_to_sparse_coo(Tensor([[1.0]]))).values)
        [0.5]
    """,
        'coo_sqrt': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.coo_sqrt(ops.dense_to_sparse_coo(Tensor([[1.0]]))).values)
        [1.]
    """,
        'coo_square': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.coo_square(ops.dense_to_sparse_coo(Tensor([[1.0]]))).values)
        [1.]
    """,
        'coo_tan': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.coo_tan(ops.dense_to_sparse_coo(Tensor([[1.0]]))).values)
        [1.5574077]
    """,
        'coo_tanh': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.coo_tanh(ops.dense_to_sparse_coo(Tensor([[1.0]]))).values)
        [0.7615942]
    """,
        'coo_tensor_get_dense_shape': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.coo_tensor_get_dense_shape(ops.dense_to_sparse_coo(Tensor([[1.0, 0.0], [0.0, 2.0]]))))
        (2, 2)
    """,
        'coo_tensor_get_indices': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.coo_tensor_get_indices(ops.dense_to_sparse_coo(Tensor([[1.0, 0.0], [0.0, 2.0]]))))
        [[0 0]
         [1 1]]
    """,
        'coo_tensor_get_values': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.coo_tensor_get_values(ops.dense_to_sparse_coo(Tensor([[1.0, 0.0], [0.0, 2.0]]))))
        [1. 2.]
    """,
        'core': """

    Examples:
        >>> from spore import Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(ops.core(lambda t: t)(v))
        [1. 2. 3.]
    """,
        'cosine_embedding_loss': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> y = Tensor([[0.5, 0.5, 1.0], [2.0, 1.0, 0.5]])
        >>> print(ops.cosine_embedding_loss(x, y, Tensor([1, -1])))
        0.40690154
    """,
        'cov': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> print(ops.cov(x))
        [[1. 1.]
         [1. 1.]]
    """,
        'crop_and_resize': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> print(ops.crop_and_resize(ops.ones((1, 4, 4, 1)), Tensor([[0.0, 0.0, 1.0, 1.0]]), Tensor([0], ms.int32), (2, 2)).shape)
        (1, 2, 2, 1)
    """,
        'cross': """

    Examples:
        >>> from spore import Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> w = Tensor([3.0, 1.0, 2.0])
        >>> print(ops.cross(v, w))
        [ 1.  7. -5.]
    """,
        'csr2coo': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.csr2coo(Tensor([0, 2, 3]), 3))
        [0 0 1]
    """,
        'csr_abs': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.csr_abs(ops.dense_to_sparse_csr(Tensor([[1.0]]))).values)
        [1.]
    """,
        'csr_acos': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.csr_acos(ops.dense_to_sparse_csr(Tensor([[1.0]]))).values)
        [0.]
    """,
        'csr_acosh': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.csr_acosh(ops.dense_to_sparse_csr(Tensor([[1.0]]))).values)
        [0.]
    """,
        'csr_add': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> a = ops.dense_to_sparse_csr(x)
        >>> print(ops.csr_add(a, a, Tensor(1.0), Tensor(1.0)).values)
        [ 2.  4.  6.  8. 10. 12.]
    """,
        'csr_asin': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.csr_asin(ops.dense_to_sparse_csr(Tensor([[1.0]]))).values)
        [1.5707964]
    """,
        'csr_asinh': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.csr_asinh(ops.dense_to_sparse_csr(Tensor([[1.0]]))).values)
        [0.8813736]
    """,
        'csr_atan': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.csr_atan(ops.dense_to_sparse_csr(Tensor([[1.0]]))).values)
        [0.7853982]
    """,
        'csr_atanh': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.csr_atanh(ops.dense_to_sparse_csr(Tensor([[0.5]]))).values)
        [0.54930615]
    """,
        'csr_ceil': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.csr_ceil(ops.dense_to_sparse_csr(Tensor([[1.0]]))).values)
        [1.]
    """,
        'csr_cos': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.csr_cos(ops.dense_to_sparse_csr(Tensor([[1.0]]))).values)
        [0.5403023]
    """,
        'csr_cosh': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.csr_cosh(ops.dense_to_sparse_csr(Tensor([[1.0]]))).values)
        [1.5430806]
    """,
        'csr_div': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.csr_div(ops.dense_to_sparse_csr(Tensor([[1.0, 0.0], [0.0, 2.0]])), ops.ones((2, 2))).values)
        [1. 2.]
    """,
        'csr_exp': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.csr_exp(ops.dense_to_sparse_csr(Tensor([[1.0]]))).values)
        [2.7182817]
    """,
        'csr_expm1': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.csr_expm1(ops.dense_to_sparse_csr(Tensor([[1.0]]))).values)
        [1.7182817]
    """,
        'csr_floor': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.csr_floor(ops.dense_to_sparse_csr(Tensor([[1.0]]))).values)
        [1.]
    """,
        'csr_gather': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> print(ops.csr_gather(Tensor([0, 1]), Tensor([2]), x[:1], (1, 3)))
        [3.]
    """,
        'csr_inv': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.csr_inv(ops.dense_to_sparse_csr(Tensor([[1.0]]))).values)
        [1.]
    """,
        'csr_isfinite': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.csr_isfinite(ops.dense_to_sparse_csr(Tensor([[1.0]]))).values)
        [ True]
    """,
        'csr_isinf': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.csr_isinf(ops.dense_to_sparse_csr(Tensor([[1.0]]))).values)
        [False]
    """,
        'csr_isnan': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.csr_isnan(ops.dense_to_sparse_csr(Tensor([[1.0]]))).values)
        [False]
    """,
        'csr_log': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.csr_log(ops.dense_to_sparse_csr(Tensor([[1.0]]))).values)
        [0.]
    """,
        'csr_log1p': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.csr_log1p(ops.dense_to_sparse_csr(Tensor([[1.0]]))).values)
        [0.6931472]
    """,
        'csr_mm': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.csr_mm(ops.dense_to_sparse_csr(Tensor([[1.0, 0.0], [0.0, 2.0]])), ops.dense_to_sparse_csr(Tensor([[1.0, 0.0], [0.0, 2.0]]))).values)
        [1. 4.]
    """,
        'csr_mul': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.csr_mul(ops.dense_to_sparse_csr(Tensor([[1.0, 0.0], [0.0, 2.0]])), ops.ones((2, 2))).values)
        [1. 2.]
    """,
        'csr_neg': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.csr_neg(ops.dense_to_sparse_csr(Tensor([[1.0]]))).values)
        [-1.]
    """,
        'csr_reduce_sum': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.csr_reduce_sum(ops.dense_to_sparse_csr(Tensor([[1.0, 0.0], [0.0, 2.0]])), 1))
        [[1.]
         [2.]]
    """,
        'csr_relu': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.csr_relu(ops.dense_to_sparse_csr(Tensor([[1.0]]))).values)
        [1.]
    """,
        'csr_relu6': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.csr_relu6(ops.dense_to_sparse_csr(Tensor([[1.0]]))).values)
        [1.]
    """,
        'csr_round': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.csr_round(ops.dense_to_sparse_csr(Tensor([[1.0]]))).values)
        [1.]
    """,
        'csr_sigmoid': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.csr_sigmoid(ops.dense_to_sparse_csr(Tensor([[1.0]]))).values)
        [0.7310586]
    """,
        'csr_sin': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.csr_sin(ops.dense_to_sparse_csr(Tensor([[1.0]]))).values)
        [0.841471]
    """,
        'csr_sinh': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.csr_sinh(ops.dense_to_sparse_csr(Tensor([[1.0]]))).values)
        [1.1752012]
    """,
        'csr_softmax': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> print(ops.csr_softmax(ops.dense_to_sparse_csr(Tensor([[1.0, 0.0], [0.0, 2.0]])), ms.float32).values)
        [1. 1.]
    """,
        'csr_softsign': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.csr_softsign(ops.dense_to_sparse_csr(Tensor([[1.0]]))).values)
        [0.5]
    """,
        'csr_sqrt': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.csr_sqrt(ops.dense_to_sparse_csr(Tensor([[1.0]]))).values)
        [1.]
    """,
        'csr_square': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.csr_square(ops.dense_to_sparse_csr(Tensor([[1.0]]))).values)
        [1.]
    """,
        'csr_tan': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.csr_tan(ops.dense_to_sparse_csr(Tensor([[1.0]]))).values)
        [1.5574077]
    """,
        'csr_tanh': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.csr_tanh(ops.dense_to_sparse_csr(Tensor([[1.0]]))).values)
        [0.7615942]
    """,
        'csr_tensor_get_indptr': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.csr_tensor_get_indptr(ops.dense_to_sparse_csr(Tensor([[1.0, 0.0], [0.0, 2.0]]))))
        [0 1 2]
    """,
        'csr_to_coo': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.csr_to_coo(ops.dense_to_sparse_csr(Tensor([[1.0, 0.0], [0.0, 2.0]]))).indices)
        [[0 0]
         [1 1]]
    """,
        'csr_to_dense': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.csr_to_dense(ops.dense_to_sparse_csr(Tensor([[1.0, 0.0], [0.0, 2.0]]))))
        [[1. 0.]
         [0. 2.]]
    """,
        'ctc_greedy_decoder': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> print(ops.ctc_greedy_decoder(Tensor([[[0.6, 0.3, 0.1]]]), Tensor([1], ms.int32))[1])
        [0]
    """,
        'ctc_loss': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> print(ops.ctc_loss(ops.log_softmax(ops.ones((4, 1, 3)), -1), Tensor([[1, 2]], ms.int32), Tensor([4], ms.int32), Tensor([2], ms.int32))[0])
        0.8431995
    """,
        'cummin': """

    Examples:
        >>> from spore import Tensor, ops
        >>> w = Tensor([3.0, 1.0, 2.0])
        >>> print(*ops.cummin(w, 0), sep="\\n")
        [3. 1. 1.]
        [0 1 1]
    """,
        'deepcopy': """

    Examples:
        >>> from spore import Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(ops.deepcopy(v))
        [1. 2. 3.]
    """,
        'deformable_conv2d': """

    Examples:
        >>> import numpy as np
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> x = Tensor(np.linspace(-2, 2, 50).reshape(1, 2, 5, 5), ms.float32)
        >>> w = Tensor(np.linspace(-2, 2, 36).reshape(2, 2, 3, 3), ms.float32)
        >>> o = Tensor(np.linspace(-2, 2, 243).reshape(1, 27, 3, 3), ms.float32)
        >>> print(ops.deformable_conv2d(x, w, o, (3, 3), (1, 1, 1, 1), (0, 0, 0, 0)).shape)
        (1, 2, 3, 3)
    """,
        'depend': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> y = Tensor([1.2])
        >>> print(ops.depend(x, y))
        [[ 1.2  1.2  0.1]
         [-0.9 -1.8 -0.5]]
    """,
        'depth_to_space': """

    Examples:
        >>> import numpy as np
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> channels = Tensor(np.arange(16).reshape(1, 4, 2, 2), ms.float32)
        >>> print(ops.depth_to_space(channels, 2).shape)
        (1, 1, 4, 4)
    """,
        'diag': """

    Examples:
        >>> from spore import Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(ops.diag(v).shape)
        (3, 3)
    """,
        'diagflat': """

    Examples:
        >>> from spore import Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(ops.diagflat(v).shape)
        (3, 3)
    """,
        'diagonal_scatter': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> print(ops.diagonal_scatter(x, Tensor([0.0, 0.0])))
        [[0. 2. 3.]
         [4. 0. 6.]]
    """,
        'dict_getitem': """

    Examples:
        >>> from spore import ops
        >>> print(ops.dict_getitem({"a": 1}, "a"))
        1
    """,
        'dict_setitem': """

    Examples:
        >>> from spore import ops
        >>> print(ops.dict_setitem({"a": 1}, "a", 2))
        {'a': 2}
    """,
        'diff': """

    Examples:
        >>> from spore import Tensor, ops
        >>> w = Tensor([3.0, 1.0, 2.0])
        >>> print(ops.diff(w))
        [-2.  1.]
    """,
        'dist': """

    Examples:
        >>> from spore import Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> w = Tensor([3.0, 1.0, 2.0])
        >>> print(ops.dist(v, w))
        2.4494898
    """,
        'dot': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> y = Tensor([[0.5, 0.5, 1.0], [2.0, 1.0, 0.5]])
        >>> print(ops.dot(x, y.T))
        [[ 4.5  5.5]
         [10.5 16. ]]
    """,
        'dropout': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ops.dropout(x, p=0.5, training=False))
        [[ 1.2  1.2  0.1]
         [-0.9 -1.8 -0.5]]
    """,
        'dropout1d': """

    Examples:
        >>> from spore import ops
        >>> print(ops.dropout1d(ops.ones((1, 2, 3)), training=False).shape)
        (1, 2, 3)
    """,
        'dropout2d': """

    Examples:
        >>> import numpy as np
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> image = Tensor(np.arange(16).reshape(1, 1, 4, 4), ms.float32)
        >>> print(ops.dropout2d(image, training=False).shape)
        (1, 1, 4, 4)
    """,
        'dropout3d': """

    Examples:
        >>> from spore import ops
        >>> print(ops.dropout3d(ops.ones((1, 1, 2, 2, 2)), training=False).shape)
        (1, 1, 2, 2, 2)
    """,
        'dsplit': """

    Examples:
        >>> from spore import ops
        >>> print(ops.dsplit(ops.ones((2, 2, 4)), 2)[0].shape)
        (2, 2, 2)
    """,
        'dstack': """

    Examples:
        >>> from spore import Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> w = Tensor([3.0, 1.0, 2.0])
        >>> print(ops.dstack((v, w)).shape)
        (1, 3, 2)
    """,
        'dtype': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> print(ops.dtype(x))
        Float32
    """,
        'dyn_shape': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> print(ops.dyn_shape(x))
        [2 3]
    """,
        'einsum': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> y = Tensor([[1.2, 1.2], [0.1, -0.9], [-1.8, -0.5]])
        >>> print(ops.einsum('ij,jk->ik', x, y))
        [[ 1.3800001   0.31000003]
         [-0.36        0.78999984]]
    """,
        'embedding': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> print(ops.embedding(Tensor([1, 0]), x))
        [[4. 5. 6.]
         [1. 2. 3.]]
    """,
        'eps': """

    Examples:
        >>> from spore import Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(ops.eps(v) > 0)
        [ True  True  True]
    """,
        'expand': """

    Examples:
        >>> from spore import Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(ops.expand(v, Tensor([2, 3])))
        [[1. 2. 3.]
         [1. 2. 3.]]
    """,
        'expand_as': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(ops.expand_as(v, x))
        [[1. 2. 3.]
         [1. 2. 3.]]
    """,
        'expand_dims': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ops.expand_dims(x, 0).shape)
        (1, 2, 3)
    """,
        'eye': """

    Examples:
        >>> from spore import ops
        >>> print(ops.eye(3))
        [[1. 0. 0.]
         [0. 1. 0.]
         [0. 0. 1.]]
    """,
        'fill': """

    Examples:
        >>> import spore as ms
        >>> from spore import ops
        >>> print(ops.fill(ms.float32, (2, 2), 1))
        [[1. 1.]
         [1. 1.]]
    """,
        'fills': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> print(ops.fills(x, 2))
        [[2. 2. 2.]
         [2. 2. 2.]]
    """,
        'flatten': """

    Examples:
        >>> import numpy as np
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> x = Tensor(np.linspace(-2, 2, 24).reshape(2, 3, 4), ms.float32)
        >>> print(ops.flatten(x).shape)
        (2, 12)
    """,
        'flip': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ops.flip(x, (0,)))
        [[-0.9 -1.8 -0.5]
         [ 1.2  1.2  0.1]]
    """,
        'fliplr': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> print(ops.fliplr(x))
        [[3. 2. 1.]
         [6. 5. 4.]]
    """,
        'flipud': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> print(ops.flipud(x))
        [[4. 5. 6.]
         [1. 2. 3.]]
    """,
        'fold': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> print(ops.fold(ops.ones((1, 4, 4)), Tensor([4, 4], ms.int32), [2, 2], [1, 1], [0, 0], [2, 2]).shape)
        (1, 1, 4, 4)
    """,
        'full': """

    Examples:
        >>> from spore import ops
        >>> print(ops.full((2, 3), 1.5))
        [[1 1 1]
         [1 1 1]]
    """,
        'full_like': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.2, 1.2], [0.1, -0.9]])
        >>> print(ops.full_like(x, 3))
        [[3. 3.]
         [3. 3.]]
    """,
        'gamma': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.gamma((2, 2), Tensor(1.0), Tensor(1.0)).shape)
        (2, 2)
    """,
        'gather': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5], [-0.4, -1.8, -1.8], [2.0, 0.6, -1.1]])
        >>> i = Tensor([3, 3], ms.int32)
        >>> print(ops.gather(x, i, 0))
        [[ 2.   0.6 -1.1]
         [ 2.   0.6 -1.1]]
    """,
        'gaussian_nll_loss': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> y = Tensor([[0.5, 0.5, 1.0], [2.0, 1.0, 0.5]])
        >>> print(ops.gaussian_nll_loss(x, y, ops.ones((2, 3))))
        4.7291665
    """,
        'gelu': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.8, 1.8, 0.1], [-1.3, -2.7, -0.7]])
        >>> print(ops.gelu(x))
        [[ 1.7353253   1.7353253   0.05398278]
         [-0.12584062 -0.00936081 -0.16937456]]
    """,
        'glu': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.glu(Tensor([1.0, 2.0, 0.0, 0.0])))
        [0.5 1. ]
    """,
        'grid_sample': """

    Examples:
        >>> import numpy as np
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> image = Tensor(np.arange(16).reshape(1, 1, 4, 4), ms.float32)
        >>> print(ops.grid_sample(image, ops.zeros((1, 2, 2, 2))).shape)
        (1, 1, 2, 2)
    """,
        'group_norm': """

    Examples:
        >>> import numpy as np
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> channels = Tensor(np.arange(16).reshape(1, 4, 2, 2), ms.float32)
        >>> print(ops.group_norm(channels, 2).shape)
        (1, 4, 2, 2)
    """,
        'gumbel_softmax': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> print(ops.gumbel_softmax(x).shape)
        (2, 3)
    """,
        'hamming_window': """

    Examples:
        >>> from spore import ops
        >>> print(ops.hamming_window(5, False))
        [0.08 0.54 1.   0.54 0.08]
    """,
        'hann_window': """

    Examples:
        >>> from spore import ops
        >>> print(ops.hann_window(5, False))
        [0.  0.5 1.  0.5 0. ]
    """,
        'hastype': """

    Examples:
        >>> from spore import Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(ops.hastype(v, type(v)))
        True
    """,
        'hinge_embedding_loss': """

    Examples:
        >>> from spore import Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(ops.hinge_embedding_loss(v, Tensor([1.0, -1.0, 1.0])))
        1.3333334
    """,
        'hsplit': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> print(*ops.hsplit(x, 3), sep="\\n")
        [[1.]
         [4.]]
        [[2.]
         [5.]]
        [[3.]
         [6.]]
    """,
        'hstack': """

    Examples:
        >>> from spore import Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> w = Tensor([3.0, 1.0, 2.0])
        >>> print(ops.hstack((v, w)))
        [1. 2. 3. 3. 1. 2.]
    """,
        'i0': """

    Examples:
        >>> from spore import Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(ops.i0(v))
        [1.2660658 2.2795854 4.8807926]
    """,
        'identity': """

    Examples:
        >>> from spore import Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(ops.identity(v))
        [1. 2. 3.]
    """,
        'in_dict': """

    Examples:
        >>> from spore import ops
        >>> print(ops.in_dict("a", {"a": 1}))
        True
    """,
        'index_add': """

    Examples:
        >>> import spore as ms
        >>> from spore import Parameter, Tensor, ops
        >>> p = Parameter(Tensor([1.0, 2.0, 3.0]), name='p')
        >>> print(ops.index_add(p, Tensor([0, 2], ms.int32), Tensor([1.0, 1.0]), 0))
        [2. 2. 4.]
    """,
        'index_fill': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(ops.index_fill(v, 0, Tensor([0, 2], ms.int32), 0.0))
        [0. 2. 0.]
    """,
        'index_select': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.2, 1.2, 0.1, -0.9], [-1.8, -0.5, -0.4, -1.8]])
        >>> i = Tensor([3, 3], ms.int32)
        >>> print(ops.index_select(x, 1, i))
        [[-0.9 -0.9]
         [-1.8 -1.8]]
    """,
        'inner': """

    Examples:
        >>> from spore import Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> w = Tensor([3.0, 1.0, 2.0])
        >>> print(ops.inner(v, w))
        11.0
    """,
        'inplace_add': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> print(ops.inplace_add(x, Tensor([[1.0, 1.0, 1.0]]), 0))
        [[2. 3. 4.]
         [4. 5. 6.]]
    """,
        'inplace_index_add': """

    Examples:
        >>> from spore import Parameter, Tensor, ops
        >>> p = Parameter(Tensor([1.0, 2.0, 3.0]), name='p')
        >>> print(ops.inplace_index_add(p, Tensor([0]), Tensor([10.0]), 0))
        [11.  2.  3.]
    """,
        'inplace_sub': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> print(ops.inplace_sub(x, Tensor([[1.0, 1.0, 1.0]]), 0))
        [[0. 1. 2.]
         [4. 5. 6.]]
    """,
        'inplace_update': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> print(ops.inplace_update(x, Tensor([[9.0, 9.0, 9.0]]), 0))
        [[9. 9. 9.]
         [4. 5. 6.]]
    """,
        'instance_norm': """

    Examples:
        >>> import numpy as np
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> channels = Tensor(np.arange(16).reshape(1, 4, 2, 2), ms.float32)
        >>> print(ops.instance_norm(channels, ops.zeros(4), ops.ones(4)).shape)
        (1, 4, 2, 2)
    """,
        'interpolate': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]]])
        >>> print(ops.interpolate(x, size=(6,), mode='linear').shape)
        (1, 2, 6)
    """,
        'intopk': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5], [-0.4, -1.8, -1.8], [2.0, 0.6, -1.1]])
        >>> y = Tensor([2, 2, 1, 0], ms.int32)
        >>> print(ops.intopk(x, y, 1))
        [False  True False  True]
    """,
        'is_': """

    Examples:
        >>> from spore import Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(ops.is_(v, v))
        True
    """,
        'is_complex': """

    Examples:
        >>> from spore import Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(ops.is_complex(v))
        False
    """,
        'is_floating_point': """

    Examples:
        >>> from spore import Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(ops.is_floating_point(v))
        True
    """,
        'is_nonzero': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.is_nonzero(Tensor([2.0])))
        True
    """,
        'is_not': """

    Examples:
        >>> from spore import Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> w = Tensor([3.0, 1.0, 2.0])
        >>> print(ops.is_not(v, w))
        True
    """,
        'is_tensor': """

    Examples:
        >>> from spore import Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(ops.is_tensor(v))
        True
    """,
        'isconstant': """

    Examples:
        >>> from spore import ops
        >>> print(ops.isconstant(2))
        True
    """,
        'isreal': """

    Examples:
        >>> from spore import Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(ops.isreal(v))
        [ True  True  True]
    """,
        'kaiser_window': """

    Examples:
        >>> from spore import ops
        >>> print(ops.kaiser_window(5, False))
        [5.27734413e-05 2.15672745e-01 1.00000000e+00 2.15672745e-01
         5.27734413e-05]
    """,
        'kron': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.kron(Tensor([1.0, 2.0]), Tensor([1.0, 1.0])))
        [1. 1. 2. 2.]
    """,
        'laplace': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.laplace((2, 3), Tensor(0.0), Tensor(1.0)).shape)
        (2, 3)
    """,
        'layer_norm': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> g = Tensor([1.2, 1.2, 0.1])
        >>> b = Tensor([1.2, 1.2, 0.1])
        >>> print(ops.layer_norm(x, (3,), g, b))
        [[ 2.0485127   2.0485127  -0.04141872]
         [ 1.5678774  -0.41866052  0.20423192]]
    """,
        'linspace': """

    Examples:
        >>> from spore import ops
        >>> print(ops.linspace(0, 10, 5))
        [ 0.   2.5  5.   7.5 10. ]
    """,
        'list_equal': """

    Examples:
        >>> from spore import ops
        >>> print(ops.list_equal([1, 2], [1, 2]))
        True
    """,
        'list_len': """

    Examples:
        >>> from spore import ops
        >>> print(ops.list_len([1, 2]))
        2
    """,
        'list_setitem': """

    Examples:
        >>> from spore import ops
        >>> print(ops.list_setitem([1, 2], 0, 3))
        [3, 2]
    """,
        'logdet': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.logdet(Tensor([[2.0, 0.0], [0.0, 4.0]])))
        2.0794415
    """,
        'logit': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.logit(Tensor([0.1, 0.5])))
        [-2.1972246  0.       ]
    """,
        'logspace': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.logspace(Tensor(0.0), Tensor(2.0), 3))
        [  1.  10. 100.]
    """,
        'lp_pool1d': """

    Examples:
        >>> from spore import ops
        >>> print(ops.lp_pool1d(ops.ones((1, 1, 4)), 2, 2).shape)
        (1, 1, 2)
    """,
        'lp_pool2d': """

    Examples:
        >>> import numpy as np
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> image = Tensor(np.arange(16).reshape(1, 1, 4, 4), ms.float32)
        >>> print(ops.lp_pool2d(image, 2, 2).shape)
        (1, 1, 2, 2)
    """,
        'make_coo_tensor': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.make_coo_tensor(Tensor([[0]]), Tensor([1.0]), (2,)).to_dense())
        [1. 0.]
    """,
        'make_csr_tensor': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.make_csr_tensor(Tensor([0, 1]), Tensor([1]), Tensor([1.0]), (1, 2)).to_dense())
        [[0. 1.]]
    """,
        'make_dict': """

    Examples:
        >>> from spore import ops
        >>> print(ops.make_dict(("a", "b"), (1, 2)))
        {'a': 1, 'b': 2}
    """,
        'make_list': """

    Examples:
        >>> from spore import ops
        >>> print(ops.make_list(1, 2))
        [1, 2]
    """,
        'make_range': """

    Examples:
        >>> from spore import ops
        >>> print(ops.make_range(1, 4))
        (1, 2, 3)
    """,
        'make_row_tensor': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> print(ops.make_row_tensor(Tensor([0]), x[:1], (2, 3)).shape)
        (2, 3)
    """,
        'make_row_tensor_inner': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> print(ops.make_row_tensor_inner(Tensor([0]), x[:1], (2, 3)).shape)
        (2, 3)
    """,
        'make_slice': """

    Examples:
        >>> from spore import ops
        >>> print(ops.make_slice(1, 4, 2))
        slice(1, 4, 2)
    """,
        'make_sparse_tensor': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.make_sparse_tensor(Tensor([[0]]), Tensor([1.0]), (2,)).to_dense())
        [1. 0.]
    """,
        'make_tuple': """

    Examples:
        >>> from spore import ops
        >>> print(ops.make_tuple(1, 2))
        (1, 2)
    """,
        'margin_ranking_loss': """

    Examples:
        >>> from spore import Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> w = Tensor([3.0, 1.0, 2.0])
        >>> print(ops.margin_ranking_loss(v, w, Tensor([1.0, -1.0, 1.0])))
        1.0
    """,
        'masked_fill': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> x = Tensor([[3, 3, 0], [-2, -5, -1]], ms.int32)
        >>> m = Tensor([[False, False, False], [True, True, True]])
        >>> print(ops.masked_fill(x, m, 7))
        [[3 3 0]
         [7 7 7]]
    """,
        'masked_scatter': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> m = Tensor([[True, False, True], [False, True, False]])
        >>> print(ops.masked_scatter(x, m, v))
        [[1. 2. 2.]
         [4. 3. 6.]]
    """,
        'matrix_band_part': """

    Examples:
        >>> from spore import ops
        >>> print(ops.matrix_band_part(ops.ones((3, 3)), 0, 1))
        [[1. 1. 0.]
         [0. 1. 1.]
         [0. 0. 1.]]
    """,
        'matrix_diag': """

    Examples:
        >>> from spore import Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(ops.matrix_diag(v))
        [[1. 0. 0.]
         [0. 2. 0.]
         [0. 0. 3.]]
    """,
        'matrix_diag_part': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> print(ops.matrix_diag_part(x, 0, 0))
        [1. 5.]
    """,
        'matrix_norm': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> print(ops.matrix_norm(x))
        9.539392
    """,
        'matrix_power': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.matrix_power(Tensor([[1.0, 1.0], [0.0, 1.0]]), 2))
        [[1. 2.]
         [0. 1.]]
    """,
        'matrix_set_diag': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> print(ops.matrix_set_diag(x, Tensor([8.0, 9.0])))
        [[8. 2. 3.]
         [4. 9. 6.]]
    """,
        'max': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(*ops.max(x), sep="\\n")
        1.2
        0
    """,
        'max_pool2d': """

    Examples:
        >>> import numpy as np
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> x = Tensor(np.linspace(-2, 2, 32).reshape(1, 2, 4, 4), ms.float32)
        >>> print(ops.max_pool2d(x, 2).shape)
        (1, 2, 2, 2)
    """,
        'max_pool3d': """

    Examples:
        >>> from spore import ops
        >>> print(ops.max_pool3d(ops.ones((1, 1, 2, 2, 2)), 2).shape)
        (1, 1, 1, 1, 1)
    """,
        'max_unpool1d': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.max_unpool1d(Tensor([[[5.0, 7.0]]]), Tensor([[[1, 3]]]), 2).shape)
        (1, 1, 4)
    """,
        'max_unpool2d': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.max_unpool2d(Tensor([[[[5.0]]]]), Tensor([[[[3]]]]), 2).shape)
        (1, 1, 2, 2)
    """,
        'max_unpool3d': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.max_unpool3d(Tensor([[[[[5.0]]]]]), Tensor([[[[[3]]]]]), 2).shape)
        (1, 1, 2, 2, 2)
    """,
        'meshgrid': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([1.2, 1.2])
        >>> y = Tensor([1.2, 1.2, 0.1])
        >>> print(*ops.meshgrid(x, y, indexing='ij'), sep="\\n")
        [[1.2 1.2 1.2]
         [1.2 1.2 1.2]]
        [[1.2 1.2 0.1]
         [1.2 1.2 0.1]]
    """,
        'min': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(*ops.min(x), sep="\\n")
        -1.8
        0
    """,
        'mirror_pad': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> print(ops.mirror_pad(x, Tensor([[0, 0], [1, 1]]), 'REFLECT'))
        [[2. 1. 2. 3. 2.]
         [5. 4. 5. 6. 5.]]
    """,
        'mixed_precision_cast': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(ops.mixed_precision_cast(ms.float16, v).dtype)
        Float16
    """,
        'moveaxis': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> print(ops.moveaxis(x, 0, 1))
        [[1. 4.]
         [2. 5.]
         [3. 6.]]
    """,
        'movedim': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> print(ops.movedim(x, 0, 1))
        [[1. 4.]
         [2. 5.]
         [3. 6.]]
    """,
        'msort': """

    Examples:
        >>> from spore import Tensor, ops
        >>> w = Tensor([3.0, 1.0, 2.0])
        >>> print(ops.msort(w))
        [1. 2. 3.]
    """,
        'multi_margin_loss': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> print(ops.multi_margin_loss(x, Tensor([0, 2])))
        0.8333333
    """,
        'multilabel_margin_loss': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> print(ops.multilabel_margin_loss(x, Tensor([[0, -1, 0], [2, 1, -1]], ms.int32)))
        0.8333333
    """,
        'multilabel_soft_margin_loss': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> print(ops.multilabel_soft_margin_loss(x, ops.ones((2, 3))))
        0.086019665
    """,
        'multinomial': """

    Examples:
        >>> from spore import Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(ops.multinomial(v, 2).shape)
        (2,)
    """,
        'multinomial_with_replacement': """

    Examples:
        >>> from spore import Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(ops.multinomial_with_replacement(v, 1, 0, 4, True).shape)
        (4,)
    """,
        'mv': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(ops.mv(x, v))
        [14. 32.]
    """,
        'mvlgamma': """

    Examples:
        >>> from spore import Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(ops.mvlgamma(v, 1))
        [0.        0.        0.6931472]
    """,
        'nanquantile': """

    Examples:
        >>> from spore import Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(ops.nanquantile(v, 0.5))
        2.0
    """,
        'narrow': """

    Examples:
        >>> from spore import Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(ops.narrow(v, 0, 1, 2))
        [2. 3.]
    """,
        'nll_loss': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> x = Tensor([[-1.4, -1.4, -2.0, -2.4], [-2.9, -2.2, -2.2, -2.9], [-2.9, -1.0, -1.7, -2.5]])
        >>> y = Tensor([3, 3, 2], ms.int32)
        >>> print(ops.nll_loss(x, y, reduction='sum'))
        7.0000005
    """,
        'nonzero': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1, 1, 1, 0], [0, 0, 0, 0]], ms.int32)
        >>> print(ops.nonzero(x))
        [[0 0]
         [0 1]
         [0 2]]
    """,
        'norm': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ops.norm(x))
        2.6814175
    """,
        'normal': """

    Examples:
        >>> from spore import ops
        >>> print(ops.normal((3, 2), 0.0, 1.0).shape)
        (3, 2)
    """,
        'normalize': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> print(ops.normalize(x))
        [[0.26726124 0.5345225  0.8017837 ]
         [0.45584232 0.5698029  0.68376344]]
    """,
        'not_in_dict': """

    Examples:
        >>> from spore import ops
        >>> print(ops.not_in_dict("a", {"a": 1}))
        False
    """,
        'numel': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> print(ops.numel(x))
        6
    """,
        'one_hot': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> i = Tensor([[2, 2], [1, 0]])
        >>> print(ops.one_hot(i, 3, Tensor(2, ms.int32), Tensor(-1, ms.int32)).shape)
        (2, 2, 3)
    """,
        'ones': """

    Examples:
        >>> from spore import ops
        >>> print(ops.ones((2, 3)))
        [[1. 1. 1.]
         [1. 1. 1.]]
    """,
        'ones_like': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ops.ones_like(x))
        [[1. 1. 1.]
         [1. 1. 1.]]
    """,
        'pad': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ops.pad(x, (1, 2)))
        [[ 0.   1.2  1.2  0.1  0.   0. ]
         [ 0.  -0.9 -1.8 -0.5  0.   0. ]]
    """,
        'padding': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.padding(Tensor([[1.0], [2.0]]), 4))
        [[1. 0. 0. 0.]
         [2. 0. 0. 0.]]
    """,
        'partial': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([1.2, 1.2])
        >>> print(ops.partial(ops.add, x)(2))
        [3.2 3.2]
    """,
        'pdist': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.pdist(Tensor([[0.0, 0.0], [3.0, 4.0]])))
        [5.]
    """,
        'poisson': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.poisson((2, 2), Tensor(1.0)).shape)
        (2, 2)
    """,
        'poisson_nll_loss': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> y = Tensor([[0.5, 0.5, 1.0], [2.0, 1.0, 0.5]])
        >>> print(ops.poisson_nll_loss(x, y))
        102.688835
    """,
        'population_count': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> print(ops.population_count(Tensor([1, 3, 7], ms.int32)))
        [1 2 3]
    """,
        'positive': """

    Examples:
        >>> from spore import Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(ops.positive(v))
        [1. 2. 3.]
    """,
        'pows': """

    Examples:
        >>> from spore import Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(ops.pows(v, 2))
        [1. 4. 9.]
    """,
        'ptp': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> print(ops.ptp(x))
        5.0
    """,
        'quantile': """

    Examples:
        >>> from spore import Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(ops.quantile(v, 0.5))
        2.0
    """,
        'rand': """

    Examples:
        >>> from spore import ops
        >>> print(ops.rand(2000).shape)
        (2000,)
    """,
        'rand_like': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> print(ops.rand_like(x).shape)
        (2, 3)
    """,
        'randint': """

    Examples:
        >>> from spore import ops
        >>> print(ops.randint(0, 9, (2000,)).shape)
        (2000,)
    """,
        'randint_like': """

    Examples:
        >>> from spore import Tensor, ops
        >>> n = Tensor([3, 1, 2])
        >>> print(ops.randint_like(n, 0, 9).shape)
        (3,)
    """,
        'randn': """

    Examples:
        >>> from spore import ops
        >>> print(ops.randn((2, 3)).shape)
        (2, 3)
    """,
        'randn_like': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> print(ops.randn_like(x).shape)
        (2, 3)
    """,
        'random_categorical': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> print(ops.random_categorical(x, 5).shape)
        (2, 5)
    """,
        'random_gamma': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> print(ops.random_gamma(Tensor([2], ms.int32), Tensor([1.0])).shape)
        (2, 1)
    """,
        'random_poisson': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> print(ops.random_poisson(Tensor([2], ms.int32), Tensor([1.0])).shape)
        (2, 1)
    """,
        'randperm': """

    Examples:
        >>> import numpy as np
        >>> from spore import ops
        >>> print(np.sort(ops.randperm(20).asnumpy()))
        [ 0  1  2  3  4  5  6  7  8  9 10 11 12 13 14 15 16 17 18 19]
    """,
        'range': """

    Examples:
        >>> from spore import ops
        >>> print(ops.range(0, 6, 2))
        [0 2 4]
    """,
        'rank': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ops.rank(x))
        2
    """,
        'ravel': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> print(ops.ravel(x))
        [1. 2. 3. 4. 5. 6.]
    """,
        'reduced_shape': """

    Examples:
        >>> from spore import ops
        >>> print(ops.reduced_shape((2, 3), (1,)))
        (2, 1)
    """,
        'relu': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ops.relu(x))
        [[1.2 1.2 0.1]
         [0.  0.  0. ]]
    """,
        'renorm': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.renorm(Tensor([[3.0, 4.0], [0.3, 0.4]]), 2, 0, 1.0))
        [[0.6 0.8]
         [0.3 0.4]]
    """,
        'repeat_elements': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ops.repeat_elements(x, 2))
        [[ 1.2  1.2  0.1]
         [ 1.2  1.2  0.1]
         [-0.9 -1.8 -0.5]
         [-0.9 -1.8 -0.5]]
    """,
        'repeat_interleave': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ops.repeat_interleave(x, 2))
        [ 1.2  1.2  1.2  1.2  0.1  0.1 -0.9 -0.9 -1.8 -1.8 -0.5 -0.5]
    """,
        'reverse': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> print(ops.reverse(x, [1]))
        [[3. 2. 1.]
         [6. 5. 4.]]
    """,
        'reverse_sequence': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> print(ops.reverse_sequence(x, Tensor([2, 3]), 1))
        [[2. 1. 3.]
         [6. 5. 4.]]
    """,
        'rot90': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> print(ops.rot90(x, 1, (0, 1)))
        [[3. 6.]
         [2. 5.]
         [1. 4.]]
    """,
        'row_stack': """

    Examples:
        >>> from spore import Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> w = Tensor([3.0, 1.0, 2.0])
        >>> print(ops.row_stack((v, w)))
        [[1. 2. 3.]
         [3. 1. 2.]]
    """,
        'rrelu': """

    Examples:
        >>> from spore import Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(ops.rrelu(v))
        [1. 2. 3.]
    """,
        'scalar_add': """

    Examples:
        >>> from spore import ops
        >>> print(ops.scalar_add(2, 3))
        5
    """,
        'scalar_cast': """

    Examples:
        >>> import spore as ms
        >>> from spore import ops
        >>> print(ops.scalar_cast(2, ms.float32))
        2.0
    """,
        'scalar_div': """

    Examples:
        >>> from spore import ops
        >>> print(ops.scalar_div(6, 3))
        2.0
    """,
        'scalar_eq': """

    Examples:
        >>> from spore import ops
        >>> print(ops.scalar_eq(2, 3))
        False
    """,
        'scalar_floordiv': """

    Examples:
        >>> from spore import ops
        >>> print(ops.scalar_floordiv(7, 2))
        3
    """,
        'scalar_ge': """

    Examples:
        >>> from spore import ops
        >>> print(ops.scalar_ge(2, 3))
        False
    """,
        'scalar_gt': """

    Examples:
        >>> from spore import ops
        >>> print(ops.scalar_gt(2, 3))
        False
    """,
        'scalar_le': """

    Examples:
        >>> from spore import ops
        >>> print(ops.scalar_le(2, 3))
        True
    """,
        'scalar_log': """

    Examples:
        >>> from spore import ops
        >>> print(ops.scalar_log(1.0))
        0.0
    """,
        'scalar_lt': """

    Examples:
        >>> from spore import ops
        >>> print(ops.scalar_lt(2, 3))
        True
    """,
        'scalar_max': """

    Examples:
        >>> from spore import ops
        >>> print(ops.scalar_max(2, 3))
        3
    """,
        'scalar_min': """

    Examples:
        >>> from spore import ops
        >>> print(ops.scalar_min(2, 3))
        2
    """,
        'scalar_mod': """

    Examples:
        >>> from spore import ops
        >>> print(ops.scalar_mod(7, 4))
        3
    """,
        'scalar_mul': """

    Examples:
        >>> from spore import ops
        >>> print(ops.scalar_mul(2, 3))
        6
    """,
        'scalar_ne': """

    Examples:
        >>> from spore import ops
        >>> print(ops.scalar_ne(2, 3))
        True
    """,
        'scalar_pow': """

    Examples:
        >>> from spore import ops
        >>> print(ops.scalar_pow(2, 3))
        8
    """,
        'scalar_sub': """

    Examples:
        >>> from spore import ops
        >>> print(ops.scalar_sub(2, 3))
        -1
    """,
        'scalar_to_array': """

    Examples:
        >>> from spore import ops
        >>> print(ops.scalar_to_array(2.0))
        2.0
    """,
        'scalar_to_tensor': """

    Examples:
        >>> from spore import ops
        >>> print(ops.scalar_to_tensor(1.5))
        1.5
    """,
        'scalar_uadd': """

    Examples:
        >>> from spore import ops
        >>> print(ops.scalar_uadd(2))
        2
    """,
        'scalar_usub': """

    Examples:
        >>> from spore import ops
        >>> print(ops.scalar_usub(2))
        -2
    """,
        'scatter': """

    Examples:
        >>> from spore import Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> i = Tensor([0, 2])
        >>> print(ops.scatter(v, 0, i, Tensor([7.0, 8.0])))
        [7. 2. 8.]
    """,
        'scatter_add': """

    Examples:
        >>> import spore as ms
        >>> from spore import Parameter, Tensor, ops
        >>> p = Parameter(Tensor([1.0, 2.0, 3.0]), name='p')
        >>> print(ops.scatter_add(p, Tensor([0], ms.int32), Tensor([2.0])))
        [3. 2. 3.]
    """,
        'scatter_div': """

    Examples:
        >>> import spore as ms
        >>> from spore import Parameter, Tensor, ops
        >>> p = Parameter(Tensor([1.0, 2.0, 3.0]), name='p')
        >>> print(ops.scatter_div(p, Tensor([0], ms.int32), Tensor([2.0])))
        [0.5 2.  3. ]
    """,
        'scatter_max': """

    Examples:
        >>> import spore as ms
        >>> from spore import Parameter, Tensor, ops
        >>> p = Parameter(Tensor([1.0, 2.0, 3.0]), name='p')
        >>> print(ops.scatter_max(p, Tensor([0], ms.int32), Tensor([2.0])))
        [2. 2. 3.]
    """,
        'scatter_min': """

    Examples:
        >>> import spore as ms
        >>> from spore import Parameter, Tensor, ops
        >>> p = Parameter(Tensor([1.0, 2.0, 3.0]), name='p')
        >>> print(ops.scatter_min(p, Tensor([2], ms.int32), Tensor([2.0])))
        [1. 2. 2.]
    """,
        'scatter_mul': """

    Examples:
        >>> import spore as ms
        >>> from spore import Parameter, Tensor, ops
        >>> p = Parameter(Tensor([1.0, 2.0, 3.0]), name='p')
        >>> print(ops.scatter_mul(p, Tensor([0], ms.int32), Tensor([2.0])))
        [2. 2. 3.]
    """,
        'scatter_nd': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> i = Tensor([[4], [4], [2]], ms.int32)
        >>> u = Tensor([[1.2, 1.2], [0.1, -0.9], [-1.8, -0.5]])
        >>> print(ops.scatter_nd(i, u, (5, 2)))
        [[ 0.          0.        ]
         [ 0.          0.        ]
         [-1.8        -0.5       ]
         [ 0.          0.        ]
         [ 1.3000001   0.30000007]]
    """,
        'scatter_nd_add': """

    Examples:
        >>> import spore as ms
        >>> from spore import Parameter, Tensor, ops
        >>> p = Parameter(Tensor([1.0, 2.0, 3.0]), name='p')
        >>> print(ops.scatter_nd_add(p, Tensor([[0]], ms.int32), Tensor([2.0])))
        [3. 2. 3.]
    """,
        'scatter_nd_div': """

    Examples:
        >>> import spore as ms
        >>> from spore import Parameter, Tensor, ops
        >>> p = Parameter(Tensor([1.0, 2.0, 3.0]), name='p')
        >>> print(ops.scatter_nd_div(p, Tensor([[0]], ms.int32), Tensor([2.0])))
        [0.5 2.  3. ]
    """,
        'scatter_nd_max': """

    Examples:
        >>> import spore as ms
        >>> from spore import Parameter, Tensor, ops
        >>> p = Parameter(Tensor([1.0, 2.0, 3.0]), name='p')
        >>> print(ops.scatter_nd_max(p, Tensor([[0]], ms.int32), Tensor([2.0])))
        [2. 2. 3.]
    """,
        'scatter_nd_min': """

    Examples:
        >>> import spore as ms
        >>> from spore import Parameter, Tensor, ops
        >>> p = Parameter(Tensor([1.0, 2.0, 3.0]), name='p')
        >>> print(ops.scatter_nd_min(p, Tensor([[2]], ms.int32), Tensor([2.0])))
        [1. 2. 2.]
    """,
        'scatter_nd_mul': """

    Examples:
        >>> import spore as ms
        >>> from spore import Parameter, Tensor, ops
        >>> p = Parameter(Tensor([1.0, 2.0, 3.0]), name='p')
        >>> print(ops.scatter_nd_mul(p, Tensor([[0]], ms.int32), Tensor([2.0])))
        [2. 2. 3.]
    """,
        'scatter_nd_sub': """

    Examples:
        >>> import spore as ms
        >>> from spore import Parameter, Tensor, ops
        >>> p = Parameter(Tensor([1.0, 2.0, 3.0]), name='p')
        >>> print(ops.scatter_nd_sub(p, Tensor([[0]], ms.int32), Tensor([2.0])))
        [-1.  2.  3.]
    """,
        'scatter_nd_update': """

    Examples:
        >>> import spore as ms
        >>> from spore import Parameter, Tensor, ops
        >>> p = Parameter(Tensor([1.0, 2.0, 3.0]), name='p')
        >>> print(ops.scatter_nd_update(p, Tensor([[0]], ms.int32), Tensor([2.0])))
        [2. 2. 3.]
    """,
        'scatter_sub': """

    Examples:
        >>> import spore as ms
        >>> from spore import Parameter, Tensor, ops
        >>> p = Parameter(Tensor([1.0, 2.0, 3.0]), name='p')
        >>> print(ops.scatter_sub(p, Tensor([0], ms.int32), Tensor([2.0])))
        [-1.  2.  3.]
    """,
        'scatter_update': """

    Examples:
        >>> import spore as ms
        >>> from spore import Parameter, Tensor, ops
        >>> p = Parameter(Tensor([1.0, 2.0, 3.0]), name='p')
        >>> print(ops.scatter_update(p, Tensor([0], ms.int32), Tensor([2.0])))
        [2. 2. 3.]
    """,
        'searchsorted': """

    Examples:
        >>> from spore import Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(ops.searchsorted(v, Tensor([1.5, 2.5])))
        [1 2]
    """,
        'select': """

    Examples:
        >>> from spore import Tensor, ops
        >>> c = Tensor([[False, False, False], [True, True, True]])
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> y = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ops.select(c, x, y))
        [[ 1.2  1.2  0.1]
         [-0.9 -1.8 -0.5]]
    """,
        'select_scatter': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> print(ops.select_scatter(x, Tensor([0.0, 0.0, 0.0]), 0, 1))
        [[1. 2. 3.]
         [0. 0. 0.]]
    """,
        'sequence_mask': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.sequence_mask(Tensor([1, 3]), 3))
        [[ True False False]
         [ True  True  True]]
    """,
        'sgn': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.sgn(Tensor([-2.0, 0.0, 3.0])))
        [-1.  0.  1.]
    """,
        'shape': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ops.shape(x))
        (2, 3)
    """,
        'shape_': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> print(ops.shape_(x))
        (2, 3)
    """,
        'shape_mul': """

    Examples:
        >>> from spore import ops
        >>> print(ops.shape_mul((2, 3)))
        6
    """,
        'shuffle': """

    Examples:
        >>> from spore import Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(ops.shuffle(v).shape)
        (3,)
    """,
        'size': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ops.size(x))
        6
    """,
        'slice': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ops.slice(x, (1, 0), (1, 3)))
        [[-0.9 -1.8 -0.5]]
    """,
        'slice_scatter': """

    Examples:
        >>> from spore import Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(ops.slice_scatter(v, Tensor([0.0]), 0, 0, 1))
        [0. 2. 3.]
    """,
        'soft_margin_loss': """

    Examples:
        >>> from spore import Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(ops.soft_margin_loss(v, Tensor([1.0, -1.0, 1.0])))
        0.8295924
    """,
        'soft_shrink': """

    Examples:
        >>> from spore import Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(ops.soft_shrink(v, 1.5))
        [0.  0.5 1.5]
    """,
        'softmax': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[82.2, 82.3, 70.6], [61.4, 52.2, 65.3]])
        >>> print(ops.softmax(x))
        [[4.7501719e-01 5.2497840e-01 4.3540558e-06]
         [1.9840237e-02 2.0046441e-06 9.8015779e-01]]
    """,
        'softmin': """

    Examples:
        >>> from spore import Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(ops.softmin(v))
        [0.6652409  0.24472845 0.09003057]
    """,
        'softplus': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[2.4, 2.5, 0.1], [-1.7, -3.6, -0.9]])
        >>> print(ops.softplus(x))
        [[2.4868362  2.5788898  0.74439675]
         [0.16778603 0.02695709 0.3411539 ]]
    """,
        'sort': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([1.2, 1.2, 0.1, -0.9, -1.8, -0.5])
        >>> print(ops.sort(x)[0])
        [-1.8 -0.9 -0.5  0.1  1.2  1.2]
    """,
        'space_to_batch_nd': """

    Examples:
        >>> import numpy as np
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> image = Tensor(np.arange(16).reshape(1, 1, 4, 4), ms.float32)
        >>> print(ops.space_to_batch_nd(image, [2, 2], [[0, 0], [0, 0]]).shape)
        (4, 1, 2, 2)
    """,
        'space_to_depth': """

    Examples:
        >>> import numpy as np
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> image = Tensor(np.arange(16).reshape(1, 1, 4, 4), ms.float32)
        >>> print(ops.space_to_depth(image, 2).shape)
        (1, 4, 2, 2)
    """,
        'sparse_segment_mean': """

    Examples:
        >>> from spore import Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(ops.sparse_segment_mean(v, Tensor([0, 2]), Tensor([0, 0])))
        [2.]
    """,
        'split': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> x = Tensor([3, 3, 0, -2], ms.int32)
        >>> print(*ops.split(x, (2, 2), 0), sep="\\n")
        [3 3]
        [ 0 -2]
    """,
        'squeeze': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[[[1.2], [1.2], [0.1]]], [[[-0.9], [-1.8], [-0.5]]]])
        >>> print(ops.squeeze(x))
        [[ 1.2  1.2  0.1]
         [-0.9 -1.8 -0.5]]
    """,
        'stack': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> y = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ops.stack((x, y)).shape)
        (2, 2, 3)
    """,
        'standard_laplace': """

    Examples:
        >>> from spore import ops
        >>> print(ops.standard_laplace((2, 3)).shape)
        (2, 3)
    """,
        'standard_normal': """

    Examples:
        >>> from spore import ops
        >>> print(ops.standard_normal((1,)).shape)
        (1,)
    """,
        'stft': """

    Examples:
        >>> from spore import ops
        >>> print(ops.stft(ops.ones((16,)), 8, 4).shape)
        (5, 5, 2)
    """,
        'stop_gradient': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> x = Tensor([3, 3], ms.int32)
        >>> print(ops.stop_gradient(x))
        [3 3]
    """,
        'strided_slice': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ops.strided_slice(x, (0, 0), (2, 3), (1, 2)))
        [[ 1.2  0.1]
         [-0.9 -0.5]]
    """,
        'string_concat': """

    Examples:
        >>> from spore import ops
        >>> print(ops.string_concat("a", "b"))
        ab
    """,
        'string_eq': """

    Examples:
        >>> from spore import ops
        >>> print(ops.string_eq("a", "b"))
        False
    """,
        'swapaxes': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ops.swapaxes(x, 0, 1))
        [[ 1.2 -0.9]
         [ 1.2 -1.8]
         [ 0.1 -0.5]]
    """,
        'swapdims': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> print(ops.swapdims(x, 0, 1))
        [[1. 4.]
         [2. 5.]
         [3. 6.]]
    """,
        'swiglu': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.swiglu(Tensor([1.0, 2.0, 3.0, 4.0])))
        [2.1931758 7.046376 ]
    """,
        't': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ops.t(x))
        [[ 1.2 -0.9]
         [ 1.2 -1.8]
         [ 0.1 -0.5]]
    """,
        'take': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> print(ops.take(x, Tensor([0, 5])))
        [1. 6.]
    """,
        'tensor_dot': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> y = Tensor([[1.2, 1.2], [0.1, -0.9], [-1.8, -0.5]])
        >>> print(ops.tensor_dot(x, y, 1))
        [[ 1.3800001   0.31000003]
         [-0.36        0.78999984]]
    """,
        'tensor_muls': """

    Examples:
        >>> from spore import Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(ops.tensor_muls(v, 2))
        [2. 4. 6.]
    """,
        'tensor_range': """

    Examples:
        >>> from spore import ops
        >>> print(ops.tensor_range(0, 6, 2))
        [0 2 4]
    """,
        'tensor_scatter_add': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.2, 1.2], [0.1, -0.9], [-1.8, -0.5], [-0.4, -1.8]])
        >>> u = Tensor([[1.2, 1.2], [0.1, -0.9]])
        >>> print(ops.tensor_scatter_add(x, Tensor([[0], [2]], ms.int32), u))
        [[ 2.4        2.4      ]
         [ 0.1       -0.9      ]
         [-1.6999999 -1.4      ]
         [-0.4       -1.8      ]]
    """,
        'tensor_scatter_div': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(ops.tensor_scatter_div(v, Tensor([[0]], ms.int32), Tensor([2.0])))
        [0.5 2.  3. ]
    """,
        'tensor_scatter_elements': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5], [-0.4, -1.8, -1.8]])
        >>> i = Tensor([[2, 2, 1]], ms.int32)
        >>> u = Tensor([[1.2, 1.2, 0.1]])
        >>> print(ops.tensor_scatter_elements(x, i, u))
        [[ 1.2  1.2  0.1]
         [-0.9 -1.8  0.1]
         [ 1.2  1.2 -1.8]]
    """,
        'tensor_scatter_max': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.2, 1.2], [0.1, -0.9], [-1.8, -0.5], [-0.4, -1.8]])
        >>> u = Tensor([[1.2, 1.2], [0.1, -0.9]])
        >>> print(ops.tensor_scatter_max(x, Tensor([[0], [2]], ms.int32), u))
        [[ 1.2  1.2]
         [ 0.1 -0.9]
         [ 0.1 -0.5]
         [-0.4 -1.8]]
    """,
        'tensor_scatter_min': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.2, 1.2], [0.1, -0.9], [-1.8, -0.5], [-0.4, -1.8]])
        >>> u = Tensor([[1.2, 1.2], [0.1, -0.9]])
        >>> print(ops.tensor_scatter_min(x, Tensor([[0], [2]], ms.int32), u))
        [[ 1.2  1.2]
         [ 0.1 -0.9]
         [-1.8 -0.9]
         [-0.4 -1.8]]
    """,
        'tensor_scatter_mul': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(ops.tensor_scatter_mul(v, Tensor([[0]], ms.int32), Tensor([2.0])))
        [2. 2. 3.]
    """,
        'tensor_scatter_sub': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.2, 1.2], [0.1, -0.9], [-1.8, -0.5], [-0.4, -1.8]])
        >>> u = Tensor([[1.2, 1.2], [0.1, -0.9]])
        >>> print(ops.tensor_scatter_sub(x, Tensor([[0], [2]], ms.int32), u))
        [[ 0.          0.        ]
         [ 0.1        -0.9       ]
         [-1.9         0.39999998]
         [-0.4        -1.8       ]]
    """,
        'tensor_scatter_update': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.2, 1.2], [0.1, -0.9], [-1.8, -0.5], [-0.4, -1.8]])
        >>> u = Tensor([[1.2, 1.2], [0.1, -0.9]])
        >>> print(ops.TensorScatterUpdate()(x, Tensor([[0], [2]], ms.int32), u))
        [[ 1.2  1.2]
         [ 0.1 -0.9]
         [ 0.1 -0.9]
         [-0.4 -1.8]]
    """,
        'tensor_slice': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> print(ops.tensor_slice(x, (0, 1), (2, 2)))
        [[2. 3.]
         [5. 6.]]
    """,
        'tensor_split': """

    Examples:
        >>> from spore import Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(*ops.tensor_split(v, 2), sep="\\n")
        [1. 2.]
        [3.]
    """,
        'top_k': """

    Examples:
        >>> from spore import Tensor, ops
        >>> w = Tensor([3.0, 1.0, 2.0])
        >>> print(ops.top_k(w, 2)[0])
        [3. 2.]
    """,
        'topk': """

    Examples:
        >>> import numpy as np
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> x = Tensor(np.linspace(-2, 2, 15).reshape(3, 5), ms.float32)
        >>> print(*ops.topk(x, 2), sep="\\n")
        [[-0.85714287 -1.1428572 ]
         [ 0.5714286   0.2857143 ]
         [ 2.          1.7142857 ]]
        [[4 3]
         [4 3]
         [4 3]]
    """,
        'trapz': """

    Examples:
        >>> from spore import Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(ops.trapz(v))
        4.0
    """,
        'tril_indices': """

    Examples:
        >>> from spore import ops
        >>> print(ops.tril_indices(2, 2))
        [[0 1 1]
         [0 0 1]]
    """,
        'triplet_margin_loss': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> y = Tensor([[0.5, 0.5, 1.0], [2.0, 1.0, 0.5]])
        >>> print(ops.triplet_margin_loss(x, y, x + 1))
        4.0870657
    """,
        'triu_indices': """

    Examples:
        >>> from spore import ops
        >>> print(ops.triu_indices(2, 2))
        [[0 0 1]
         [0 1 1]]
    """,
        'tuple_div': """

    Examples:
        >>> from spore import ops
        >>> print(ops.tuple_div((4, 6), (2, 3)))
        (2, 2)
    """,
        'tuple_reversed': """

    Examples:
        >>> from spore import ops
        >>> print(ops.tuple_reversed((1, 2)))
        (2, 1)
    """,
        'tuple_to_array': """

    Examples:
        >>> from spore import ops
        >>> print(ops.tuple_to_array((1, 2)))
        [1 2]
    """,
        'type_as': """

    Examples:
        >>> from spore import Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> n = Tensor([3, 1, 2])
        >>> print(ops.type_as(n, v))
        [3. 1. 2.]
    """,
        'typeof': """

    Examples:
        >>> from spore import Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(ops.typeof(v).__name__)
        Tensor
    """,
        'unbind': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(*ops.unbind(x), sep="\\n")
        [1.2 1.2 0.1]
        [-0.9 -1.8 -0.5]
    """,
        'unfold': """

    Examples:
        >>> import numpy as np
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> image = Tensor(np.arange(16).reshape(1, 1, 4, 4), ms.float32)
        >>> print(ops.unfold(image, 2).shape)
        (1, 4, 9)
    """,
        'uniform': """

    Examples:
        >>> from spore import Tensor, ops
        >>> lo = Tensor([-1.2, -1.2, -1.5, -1.7])
        >>> hi = Tensor([1.8, 1.8, 1.5, 1.3])
        >>> print(ops.uniform((4,), lo, hi, seed=3).shape)
        (4,)
    """,
        'unique': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> x = Tensor([3, 3, 2, 1, 0, 1, 1, 0], ms.int32)
        >>> print(*ops.unique(x), sep="\\n")
        [3 2 1 0]
        [0 0 1 2 3 2 2 3]
    """,
        'unique_consecutive': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.unique_consecutive(Tensor([1, 1, 2])))
        [1 2]
    """,
        'unique_with_pad': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(*ops.unique_with_pad(Tensor([1, 1, 2]), 0), sep="\\n")
        [1 2 0]
        [0 0 1]
    """,
        'unsorted_segment_max': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(ops.unsorted_segment_max(v, Tensor([0, 0, 1], ms.int32), 2))
        [2. 3.]
    """,
        'unsorted_segment_min': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(ops.unsorted_segment_min(v, Tensor([0, 0, 1], ms.int32), 2))
        [1. 3.]
    """,
        'unsorted_segment_prod': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(ops.unsorted_segment_prod(v, Tensor([0, 0, 1], ms.int32), 2))
        [2. 3.]
    """,
        'unsorted_segment_sum': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(ops.unsorted_segment_sum(v, Tensor([0, 0, 1], ms.int32), 2))
        [3. 3.]
    """,
        'unsqueeze': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ops.unsqueeze(x, 0).shape)
        (1, 2, 3)
    """,
        'unstack': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(*ops.unstack(x), sep="\\n")
        [1.2 1.2 0.1]
        [-0.9 -1.8 -0.5]
    """,
        'upsample': """

    Examples:
        >>> import numpy as np
        >>> import spore as ms
        >>> from spore import Tensor, ops
        >>> image = Tensor(np.arange(16).reshape(1, 1, 4, 4), ms.float32)
        >>> print(ops.upsample(image, size=(8, 8)).shape)
        (1, 1, 8, 8)
    """,
        'vander': """

    Examples:
        >>> from spore import Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(ops.vander(v))
        [[1. 1. 1.]
         [4. 2. 1.]
         [9. 3. 1.]]
    """,
        'vecdot': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> y = Tensor([[0.5, 0.5, 1.0], [2.0, 1.0, 0.5]])
        >>> print(ops.vecdot(x, y))
        [ 4.5 16. ]
    """,
        'vector_norm': """

    Examples:
        >>> from spore import Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(ops.vector_norm(v))
        3.7416575
    """,
        'view_as': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> print(ops.view_as(x, Tensor([[0.0, 0.0], [0.0, 0.0], [0.0, 0.0]])))
        [[1. 2.]
         [3. 4.]
         [5. 6.]]
    """,
        'view_as_real': """

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.view_as_real(Tensor([1 + 2j])))
        [[1. 2.]]
    """,
        'vsplit': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> print(*ops.vsplit(x, 2), sep="\\n")
        [[1. 2. 3.]]
        [[4. 5. 6.]]
    """,
        'vstack': """

    Examples:
        >>> from spore import Tensor, ops
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> w = Tensor([3.0, 1.0, 2.0])
        >>> print(ops.vstack((v, w)))
        [[1. 2. 3.]
         [3. 1. 2.]]
    """,
        'where': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ops.where(x > 0, x, 0.0))
        [[1.2 1.2 0.1]
         [0.  0.  0. ]]
    """,
        'zeros': """

    Examples:
        >>> from spore import ops
        >>> print(ops.zeros((2, 3)))
        [[0. 0. 0.]
         [0. 0. 0.]]
    """,
        'zeros_like': """

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.2, 1.2, 0.1], [-0.9, -1.8, -0.5]])
        >>> print(ops.zeros_like(x))
        [[0. 0. 0.]
         [0. 0. 0.]]
    """,
    },
    'spore': {
        'Generator': """

    Examples:
        >>> import spore as ms
        >>> print(ms.Generator().manual_seed(3).initial_seed())
        3
    """,
        'Int': """

    Examples:
        >>> import spore as ms
        >>> print(isinstance(ms.int32, ms.Int))
        True
    """,
        'ParallelMode': """

    Examples:
        >>> import spore as ms
        >>> print(ms.ParallelMode.DATA_PARALLEL)
        data_parallel
    """,
        'Parameter': """

    Examples:
        >>> from spore import Parameter, Tensor
        >>> print(Parameter(Tensor([1.0, 2.0]), name='p'))
        Parameter (name=p, shape=(2,), dtype=Float32, requires_grad=True)
    """,
        'ParameterTuple': """

    Examples:
        >>> import spore as ms
        >>> from spore import Parameter, Tensor
        >>> p = Parameter(Tensor([1.0, 2.0, 3.0]), name='p')
        >>> print(len(ms.ParameterTuple([p])))
        1
    """,
        'QuantDtype': """

    Examples:
        >>> import spore as ms
        >>> print(ms.QuantDtype.INT8)
        INT8
    """,
        'Type': """

    Examples:
        >>> import spore as ms
        >>> print(isinstance(ms.float32, ms.Type))
        True
    """,
        'dtype_to_nptype': """

    Examples:
        >>> import spore as ms
        >>> print(ms.dtype_to_nptype(ms.float32))
        <class 'numpy.float32'>
    """,
        'dtype_to_pytype': """

    Examples:
        >>> import spore as ms
        >>> print(ms.dtype_to_pytype(ms.float32))
        <class 'float'>
    """,
        'from_numpy': """

    Examples:
        >>> import numpy as np
        >>> import spore as ms
        >>> print(ms.from_numpy(np.ones(3, np.float32)))
        [1. 1. 1.]
    """,
        'frombuffer': """

    Examples:
        >>> import numpy as np
        >>> import spore as ms
        >>> print(ms.frombuffer(np.ones(3, np.float32), ms.float32))
        [1. 1. 1.]
    """,
        'get_auto_parallel_context': """

    Examples:
        >>> import spore as ms
        >>> print(ms.get_auto_parallel_context("parallel_mode"))
        stand_alone
    """,
        'get_context': """

    Examples:
        >>> import spore as ms
        >>> print(ms.get_context("device_target"))
        CPU
    """,
        'get_current_device': """

    Examples:
        >>> import spore as ms
        >>> print(ms.get_current_device())
        ('CPU', 0)
    """,
        'get_ps_context': """

    Examples:
        >>> import spore as ms
        >>> print(ms.get_ps_context("enable_ps"))
        False
    """,
        'get_py_obj_dtype': """

    Examples:
        >>> import spore as ms
        >>> print(ms.get_py_obj_dtype(1.0))
        Float64
    """,
        'get_rng_state': """

    Examples:
        >>> import spore as ms
        >>> print(ms.get_rng_state().dtype)
        UInt8
    """,
        'get_seed': """

    Examples:
        >>> import spore as ms
        >>> _ = ms.set_seed(3)
        >>> print(ms.get_seed())
        3
    """,
        'initial_seed': """

    Examples:
        >>> import spore as ms
        >>> _ = ms.manual_seed(3)
        >>> print(ms.initial_seed())
        3
    """,
        'is_tensor': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> print(ms.is_tensor(v))
        True
    """,
        'manual_seed': """

    Examples:
        >>> import spore as ms
        >>> _ = ms.manual_seed(3)
        >>> print(ms.initial_seed())
        3
    """,
        'pytype_to_dtype': """

    Examples:
        >>> import spore as ms
        >>> print(ms.pytype_to_dtype(float))
        Float64
    """,
        'reset_auto_parallel_context': """

    Examples:
        >>> import spore as ms
        >>> _ = ms.reset_auto_parallel_context()
        >>> print(ms.get_auto_parallel_context("parallel_mode"))
        stand_alone
    """,
        'seed': """

    Examples:
        >>> import spore as ms
        >>> print(isinstance(ms.seed(), int))
        True
    """,
        'set_auto_parallel_context': """

    Examples:
        >>> import spore as ms
        >>> _ = ms.set_auto_parallel_context(parallel_mode="stand_alone")
        >>> print(ms.get_auto_parallel_context("parallel_mode"))
        stand_alone
    """,
        'set_context': """

    Examples:
        >>> import spore as ms
        >>> _ = ms.set_context(mode=ms.PYNATIVE_MODE)
        >>> print(ms.get_context("mode"))
        1
    """,
        'set_deterministic': """

    Examples:
        >>> import spore as ms
        >>> print(ms.set_deterministic(True))
        None
    """,
        'set_device': """

    Examples:
        >>> import spore as ms
        >>> _ = ms.set_device("CPU")
        >>> print(ms.get_context("device_target"))
        CPU
    """,
        'set_rng_state': """

    Examples:
        >>> import spore as ms
        >>> state = ms.get_rng_state()
        >>> _ = ms.set_rng_state(state)
        >>> print(ms.get_rng_state().shape)
        (16,)
    """,
        'set_seed': """

    Examples:
        >>> import spore as ms
        >>> _ = ms.set_seed(3)
        >>> print(ms.get_seed())
        3
    """,
        'swap_tensors': """

    Examples:
        >>> import spore as ms
        >>> from spore import Tensor
        >>> v = Tensor([1.0, 2.0, 3.0])
        >>> w = Tensor([3.0, 1.0, 2.0])
        >>> _ = ms.swap_tensors(v, w)
        >>> print(v)
        [3. 1. 2.]
    """,
        'tensor': """

    Examples:
        >>> import spore as ms
        >>> print(ms.tensor([1.0, 2.0]))
        [1. 2.]
    """,
    },
    'train': {
        'BleuScore': """

    Examples:
        >>> from spore import train
        >>> metric = train.BleuScore(2)
        >>> _ = metric.update([["a", "b", "c"]], [[["a", "b", "c"]]])
        >>> print(metric.eval())
        1.0
    """,
        'ConfusionMatrix': """

    Examples:
        >>> from spore import Tensor, train
        >>> metric = train.ConfusionMatrix(2)
        >>> _ = metric.update(Tensor([1, 0]), Tensor([1, 0]))
        >>> print(metric.eval())
        [[1. 0.]
         [0. 1.]]
    """,
        'ConfusionMatrixMetric': """

    Examples:
        >>> from spore import Tensor, train
        >>> metric = train.ConfusionMatrixMetric()
        >>> _ = metric.update(Tensor([[[0], [1]]]), Tensor([[[0], [1]]]))
        >>> print(metric.eval())
        [1.]
    """,
        'CosineSimilarity': """

    Examples:
        >>> import numpy as np
        >>> from spore import train
        >>> metric = train.CosineSimilarity(zero_diagonal=False)
        >>> _ = metric.update(np.eye(2))
        >>> print(metric.eval())
        [[1. 0.]
         [0. 1.]]
    """,
        'Dice': """

    Examples:
        >>> from spore import Tensor, train
        >>> metric = train.Dice()
        >>> _ = metric.update(Tensor([[0.0, 1.0], [1.0, 0.0]]), Tensor([[0.0, 1.0], [1.0, 0.0]]))
        >>> print(round(metric.eval(), 4))
        0.5
    """,
        'DynamicLossScaleManager': """

    Examples:
        >>> from spore import train
        >>> print(train.DynamicLossScaleManager(16).get_loss_scale())
        16
    """,
        'EarlyStopping': """

    Examples:
        >>> from spore import train
        >>> print(isinstance(train.EarlyStopping("loss", patience=3), train.Callback))
        True
    """,
        'F1': """

    Examples:
        >>> from spore import Tensor, train
        >>> metric = train.F1()
        >>> _ = metric.update(Tensor([[0.2, 0.8], [0.7, 0.3]]), Tensor([1, 0]))
        >>> print(metric.eval())
        [1. 1.]
    """,
        'Fbeta': """

    Examples:
        >>> from spore import Tensor, train
        >>> metric = train.Fbeta(1)
        >>> _ = metric.update(Tensor([[0.2, 0.8], [0.7, 0.3]]), Tensor([1, 0]))
        >>> print(metric.eval())
        [1. 1.]
    """,
        'HausdorffDistance': """

    Examples:
        >>> import numpy as np
        >>> import spore as ms
        >>> from spore import Tensor, train
        >>> metric = train.HausdorffDistance()
        >>> _ = metric.update(Tensor(np.eye(3), ms.float32), Tensor(np.eye(3), ms.float32), 1)
        >>> print(metric.eval())
        0.0
    """,
        'History': """

    Examples:
        >>> from spore import train
        >>> print(isinstance(train.History(), train.Callback))
        True
    """,
        'LearningRateScheduler': """

    Examples:
        >>> from spore import train
        >>> print(isinstance(train.LearningRateScheduler(lambda lr, step: lr / 2), train.Callback))
        True
    """,
        'Loss': """

    Examples:
        >>> from spore import Tensor, train
        >>> metric = train.Loss()
        >>> _ = metric.update(Tensor(0.5))
        >>> print(metric.eval())
        0.5
    """,
        'LossMonitor': """

    Examples:
        >>> from spore import train
        >>> print(isinstance(train.LossMonitor(100), train.Callback))
        True
    """,
        'LossScaleManager': """

    Examples:
        >>> from spore import train
        >>> print(isinstance(train.FixedLossScaleManager(8), train.LossScaleManager))
        True
    """,
        'MeanSurfaceDistance': """

    Examples:
        >>> import numpy as np
        >>> import spore as ms
        >>> from spore import Tensor, train
        >>> metric = train.MeanSurfaceDistance()
        >>> _ = metric.update(Tensor(np.eye(3), ms.float32), Tensor(np.eye(3), ms.float32), 1)
        >>> print(metric.eval())
        0.0
    """,
        'ModelCheckpoint': """

    Examples:
        >>> from spore import train
        >>> print(isinstance(train.ModelCheckpoint("net", "."), train.Callback))
        True
    """,
        'Perplexity': """

    Examples:
        >>> from spore import Tensor, train
        >>> metric = train.Perplexity()
        >>> _ = metric.update(Tensor([[0.2, 0.8], [0.7, 0.3]]), Tensor([1, 0]))
        >>> print(round(metric.eval(), 4))
        1.3363
    """,
        'Precision': """

    Examples:
        >>> from spore import Tensor, train
        >>> metric = train.Precision()
        >>> _ = metric.update(Tensor([[0.2, 0.8], [0.7, 0.3]]), Tensor([1, 0]))
        >>> print(metric.eval())
        [1. 1.]
    """,
        'ROC': """

    Examples:
        >>> from spore import Tensor, train
        >>> metric = train.ROC(pos_label=1)
        >>> _ = metric.update(Tensor([0, 1, 1]), Tensor([0, 1, 1]))
        >>> print(len(metric.eval()))
        3
    """,
        'Recall': """

    Examples:
        >>> from spore import Tensor, train
        >>> metric = train.Recall()
        >>> _ = metric.update(Tensor([[0.2, 0.8], [0.7, 0.3]]), Tensor([1, 0]))
        >>> print(metric.eval())
        [1. 1.]
    """,
        'ReduceLROnPlateau': """

    Examples:
        >>> from spore import train
        >>> print(isinstance(train.ReduceLROnPlateau("loss"), train.Callback))
        True
    """,
        'RootMeanSquareDistance': """

    Examples:
        >>> import numpy as np
        >>> import spore as ms
        >>> from spore import Tensor, train
        >>> metric = train.RootMeanSquareDistance()
        >>> _ = metric.update(Tensor(np.eye(3), ms.float32), Tensor(np.eye(3), ms.float32), 1)
        >>> print(metric.eval())
        0.0
    """,
        'RunContext': """

    Examples:
        >>> from spore import train
        >>> context = train.RunContext({"epoch": 1})
        >>> _ = context.request_stop()
        >>> print(context.get_stop_requested())
        True
    """,
        'TimeMonitor': """

    Examples:
        >>> from spore import train
        >>> print(isinstance(train.TimeMonitor(), train.Callback))
        True
    """,
        'Top1CategoricalAccuracy': """

    Examples:
        >>> from spore import Tensor, train
        >>> metric = train.Top1CategoricalAccuracy()
        >>> _ = metric.update(Tensor([[0.2, 0.8], [0.7, 0.3]]), Tensor([1, 0]))
        >>> print(metric.eval())
        1.0
    """,
        'Top5CategoricalAccuracy': """

    Examples:
        >>> import numpy as np
        >>> import spore as ms
        >>> from spore import Tensor, train
        >>> metric = train.Top5CategoricalAccuracy()
        >>> _ = metric.update(Tensor(np.eye(6), ms.float32), Tensor([0, 1, 2, 3, 4, 5]))
        >>> print(metric.eval())
        1.0
    """,
        'TopKCategoricalAccuracy': """

    Examples:
        >>> from spore import Tensor, train
        >>> metric = train.TopKCategoricalAccuracy(1)
        >>> _ = metric.update(Tensor([[0.2, 0.8], [0.7, 0.3]]), Tensor([1, 0]))
        >>> print(metric.eval())
        1.0
    """,
        'async_ckpt_thread_status': """

    Examples:
        >>> from spore import train
        >>> print(train.async_ckpt_thread_status())
        False
    """,
        'build_train_network': """

    Examples:
        >>> from spore import Parameter, Tensor, nn, train
        >>> p = Parameter(Tensor([1.0, 2.0, 3.0]), name='p')
        >>> print(train.build_train_network(nn.Dense(2, 1), nn.Momentum([p], 0.1, 0.9), nn.MSELoss()).__class__.__name__)
        TrainOneStepCell
    """,
        'load_checkpoint': """

    Examples:
        >>> from spore import nn, train
        >>> _ = train.save_checkpoint(nn.Dense(2, 1), "dense.ckpt")
        >>> print(sorted(train.load_checkpoint("dense.ckpt")))
        ['bias', 'weight']
    """,
        'load_param_into_net': """

    Examples:
        >>> from spore import nn, train
        >>> net = nn.Dense(2, 1)
        >>> _ = train.save_checkpoint(net, "dense.ckpt")
        >>> print(train.load_param_into_net(net, train.load_checkpoint("dense.ckpt")))
        ([], [])
    """,
        'names': """

    Examples:
        >>> from spore import train
        >>> print("accuracy" in train.names())
        True
    """,
        'save_checkpoint': """

    Examples:
        >>> from spore import nn, train
        >>> _ = train.save_checkpoint(nn.Dense(2, 1), "dense.ckpt")
        >>> print(sorted(train.load_checkpoint("dense.ckpt")))
        ['bias', 'weight']
    """,
    },
    'vision': {
        'AdjustContrast': """

    Examples:
        >>> import numpy as np
        >>> from spore.dataset import vision
        >>> picture = np.arange(48, dtype=np.uint8).reshape(4, 4, 3)
        >>> print(vision.AdjustContrast(0.5)(picture)[0, 0])
        [12 12 13]
    """,
        'AdjustGamma': """

    Examples:
        >>> import numpy as np
        >>> from spore.dataset import vision
        >>> picture = np.arange(48, dtype=np.uint8).reshape(4, 4, 3)
        >>> print(vision.AdjustGamma(2.0)(picture)[3, 3])
        [7 8 8]
    """,
        'AdjustHue': """

    Examples:
        >>> import numpy as np
        >>> from spore.dataset import vision
        >>> picture = np.arange(48, dtype=np.uint8).reshape(4, 4, 3)
        >>> print(vision.AdjustHue(0.3)(picture)[3, 3])
        [47 45 46]
    """,
        'AdjustSaturation': """

    Examples:
        >>> import numpy as np
        >>> from spore.dataset import vision
        >>> picture = np.arange(48, dtype=np.uint8).reshape(4, 4, 3)
        >>> print(vision.AdjustSaturation(2.0)(picture)[3, 3])
        [44 46 48]
    """,
        'AdjustSharpness': """

    Examples:
        >>> import numpy as np
        >>> from spore.dataset import vision
        >>> picture = np.arange(48, dtype=np.uint8).reshape(4, 4, 3)
        >>> print(vision.AdjustSharpness(0.0)(picture)[1, 1])
        [15 16 17]
    """,
        'Affine': """

    Examples:
        >>> import numpy as np
        >>> from spore.dataset import vision
        >>> picture = np.arange(48, dtype=np.uint8).reshape(4, 4, 3)
        >>> print(vision.Affine(0, (1, 0), 1.0, (0, 0))(picture)[0, :2])
        [[0 0 0]
         [0 0 0]]
    """,
        'AutoAugment': """

    Examples:
        >>> import numpy as np
        >>> from spore.dataset import vision
        >>> picture = np.arange(48, dtype=np.uint8).reshape(4, 4, 3)
        >>> print(vision.AutoAugment()(picture).shape)
        (4, 4, 3)
    """,
        'AutoAugmentPolicy': """

    Examples:
        >>> from spore.dataset import vision
        >>> print([policy.name for policy in vision.AutoAugmentPolicy])
        ['IMAGENET', 'CIFAR10', 'SVHN']
    """,
        'AutoContrast': """

    Examples:
        >>> import numpy as np
        >>> from spore.dataset import vision
        >>> picture = np.arange(48, dtype=np.uint8).reshape(4, 4, 3)
        >>> print(vision.AutoContrast()(picture)[0, 0], vision.AutoContrast()(picture)[3, 3])
        [0 0 0] [255 254 254]
    """,
        'Border': """

    Examples:
        >>> from spore.dataset import vision
        >>> print([border.name for border in vision.Border])
        ['CONSTANT', 'EDGE', 'REFLECT', 'SYMMETRIC']
    """,
        'BoundingBoxAugment': """

    Examples:
        >>> import numpy as np
        >>> from spore.dataset import vision
        >>> picture = np.arange(48, dtype=np.uint8).reshape(4, 4, 3)
        >>> box = np.array([[0, 0, 2, 2]], np.float32)
        >>> print([part.shape for part in vision.BoundingBoxAugment(vision.VerticalFlip(), 1.0)(picture, box)])
        [(4, 4, 3), (1, 4)]
    """,
        'ConvertMode': """

    Examples:
        >>> import numpy as np
        >>> from spore.dataset import vision
        >>> picture = np.arange(48, dtype=np.uint8).reshape(4, 4, 3)
        >>> print(vision.ConvertColor(vision.ConvertMode.COLOR_RGB2GRAY)(picture).shape)
        (4, 4)
    """,
        'Crop': """

    Examples:
        >>> import numpy as np
        >>> from spore.dataset import vision
        >>> picture = np.arange(48, dtype=np.uint8).reshape(4, 4, 3)
        >>> print(vision.Crop((1, 1), 2)(picture).shape)
        (2, 2, 3)
    """,
        'CutMixBatch': """

    Examples:
        >>> import numpy as np
        >>> from spore import dataset
        >>> from spore.dataset import vision
        >>> data = dataset.NumpySlicesDataset((np.ones((4, 6, 6, 3), np.uint8), np.eye(4, dtype=np.float32)), ['image', 'label'])
        >>> mix = vision.CutMixBatch(vision.ImageBatchFormat.NHWC)
        >>> print(next(data.batch(2).map(mix, ['image', 'label']).create_tuple_iterator())[0].shape)
        (2, 6, 6, 3)
    """,
        'CutOut': """

    Examples:
        >>> import numpy as np
        >>> from spore.dataset import vision
        >>> picture = np.arange(48, dtype=np.uint8).reshape(4, 4, 3)
        >>> print(vision.CutOut(2)(picture).shape)
        (4, 4, 3)
    """,
        'Equalize': """

    Examples:
        >>> import numpy as np
        >>> from spore.dataset import vision
        >>> picture = np.arange(48, dtype=np.uint8).reshape(4, 4, 3)
        >>> print(vision.Equalize()(picture)[3, 3])
        [255 255 255]
    """,
        'Erase': """

    Examples:
        >>> import numpy as np
        >>> from spore.dataset import vision
        >>> picture = np.arange(48, dtype=np.uint8).reshape(4, 4, 3)
        >>> print(vision.Erase(0, 0, 1, 1)(picture)[0, 0])
        [0 0 0]
    """,
        'GaussianBlur': """

    Examples:
        >>> import numpy as np
        >>> from spore.dataset import vision
        >>> picture = np.arange(48, dtype=np.uint8).reshape(4, 4, 3)
        >>> print(vision.GaussianBlur(3)(picture).shape)
        (4, 4, 3)
    """,
        'HorizontalFlip': """

    Examples:
        >>> import numpy as np
        >>> from spore.dataset import vision
        >>> picture = np.arange(48, dtype=np.uint8).reshape(4, 4, 3)
        >>> print(vision.HorizontalFlip()(picture)[0, 0])
        [ 9 10 11]
    """,
        'HsvToRgb': """

    Examples:
        >>> import numpy as np
        >>> from spore.dataset import vision
        >>> print(vision.HsvToRgb(is_hwc=True)(np.full((1, 1, 3), 0.5, np.float32)))
        [[[0.25 0.5  0.5 ]]]
    """,
        'ImageBatchFormat': """

    Examples:
        >>> from spore.dataset import vision
        >>> print([form.name for form in vision.ImageBatchFormat])
        ['NHWC', 'NCHW']
    """,
        'ImageReadMode': """

    Examples:
        >>> from spore.dataset import vision
        >>> print([mode.name for mode in vision.ImageReadMode])
        ['UNCHANGED', 'GRAYSCALE', 'COLOR']
    """,
        'Inter': """

    Examples:
        >>> import numpy as np
        >>> from spore.dataset import vision
        >>> picture = np.arange(48, dtype=np.uint8).reshape(4, 4, 3)
        >>> print(vision.Resize((2, 2), vision.Inter.NEAREST)(picture)[0])
        [[0 1 2]
         [6 7 8]]
    """,
        'LinearTransformation': """

    Examples:
        >>> import numpy as np
        >>> from spore.dataset import vision
        >>> print(vision.LinearTransformation(np.eye(12), np.zeros(12))(np.ones((3, 2, 2), np.float32)).shape)
        (3, 2, 2)
    """,
        'MixUp': """

    Examples:
        >>> import numpy as np
        >>> from spore.dataset import vision
        >>> print([part.shape for part in vision.MixUp(2, 0.5, True)(np.ones((2, 4, 4, 3), np.uint8), np.array([0, 1]))])
        [(2, 4, 4, 3), (2, 2)]
    """,
        'MixUpBatch': """

    Examples:
        >>> import numpy as np
        >>> from spore import dataset
        >>> from spore.dataset import vision
        >>> data = dataset.NumpySlicesDataset((np.ones((4, 6, 6, 3), np.uint8), np.eye(4, dtype=np.float32)), ['image', 'label'])
        >>> print(next(data.batch(2).map(vision.MixUpBatch(), ['image', 'label']).create_tuple_iterator())[0].shape)
        (2, 6, 6, 3)
    """,
        'NormalizePad': """

    Examples:
        >>> import numpy as np
        >>> from spore.dataset import vision
        >>> picture = np.arange(48, dtype=np.uint8).reshape(4, 4, 3)
        >>> print(vision.NormalizePad([0.0, 0.0, 0.0], [1.0, 1.0, 1.0])(picture)[0, 1])
        [3. 4. 5. 0.]
    """,
        'PadToSize': """

    Examples:
        >>> import numpy as np
        >>> from spore.dataset import vision
        >>> picture = np.arange(48, dtype=np.uint8).reshape(4, 4, 3)
        >>> print(vision.PadToSize((6, 8))(picture).shape)
        (6, 8, 3)
    """,
        'Perspective': """

    Examples:
        >>> import numpy as np
        >>> from spore.dataset import vision
        >>> picture = np.arange(48, dtype=np.uint8).reshape(4, 4, 3)
        >>> print(vision.Perspective([[0, 0], [3, 0], [3, 3], [0, 3]], [[0, 0], [3, 0], [3, 3], [0, 3]])(picture).shape)
        (4, 4, 3)
    """,
        'Posterize': """

    Examples:
        >>> import numpy as np
        >>> from spore.dataset import vision
        >>> print(vision.Posterize(2)(np.array([[[200, 100, 50]]], np.uint8)))
        [[[192  64   0]]]
    """,
        'RandAugment': """

    Examples:
        >>> import numpy as np
        >>> from spore.dataset import vision
        >>> picture = np.arange(48, dtype=np.uint8).reshape(4, 4, 3)
        >>> print(vision.RandAugment()(picture).shape)
        (4, 4, 3)
    """,
        'RandomAdjustSharpness': """

    Examples:
        >>> import numpy as np
        >>> from spore.dataset import vision
        >>> picture = np.arange(48, dtype=np.uint8).reshape(4, 4, 3)
        >>> print(vision.RandomAdjustSharpness(2.0, 0.5)(picture).shape)
        (4, 4, 3)
    """,
        'RandomAffine': """

    Examples:
        >>> import numpy as np
        >>> from spore.dataset import vision
        >>> picture = np.arange(48, dtype=np.uint8).reshape(4, 4, 3)
        >>> print(vision.RandomAffine(15, translate=(-0.1, 0.1, 0, 0), scale=(0.9, 1.1))(picture).shape)
        (4, 4, 3)
    """,
        'RandomAutoContrast': """

    Examples:
        >>> import numpy as np
        >>> from spore.dataset import vision
        >>> picture = np.arange(48, dtype=np.uint8).reshape(4, 4, 3)
        >>> print(vision.RandomAutoContrast()(picture).shape)
        (4, 4, 3)
    """,
        'RandomColor': """

    Examples:
        >>> import numpy as np
        >>> from spore.dataset import vision
        >>> picture = np.arange(48, dtype=np.uint8).reshape(4, 4, 3)
        >>> print(vision.RandomColor((0.5, 1.5))(picture).shape)
        (4, 4, 3)
    """,
        'RandomColorAdjust': """

    Examples:
        >>> import numpy as np
        >>> from spore.dataset import vision
        >>> picture = np.arange(48, dtype=np.uint8).reshape(4, 4, 3)
        >>> print(vision.RandomColorAdjust(brightness=(0.5, 1.5))(picture).shape)
        (4, 4, 3)
    """,
        'RandomCropDecodeResize': """

    Examples:
        >>> import numpy as np
        >>> from spore.dataset import vision
        >>> picture = np.arange(48, dtype=np.uint8).reshape(4, 4, 3)
        >>> print(vision.RandomCropDecodeResize((2, 2))(vision.encode_jpeg(picture)).shape)
        (2, 2, 3)
    """,
        'RandomCropWithBBox': """

    Examples:
        >>> import numpy as np
        >>> from spore.dataset import vision
        >>> picture = np.arange(48, dtype=np.uint8).reshape(4, 4, 3)
        >>> box = np.array([[0, 0, 2, 2]], np.float32)
        >>> print([part.shape for part in vision.RandomCropWithBBox(2)(picture, box)])
        [(2, 2, 3), (1, 4)]
    """,
        'RandomEqualize': """

    Examples:
        >>> import numpy as np
        >>> from spore.dataset import vision
        >>> picture = np.arange(48, dtype=np.uint8).reshape(4, 4, 3)
        >>> print(vision.RandomEqualize()(picture).shape)
        (4, 4, 3)
    """,
        'RandomErasing': """

    Examples:
        >>> import numpy as np
        >>> from spore.dataset import vision
        >>> print(vision.RandomErasing()(np.ones((3, 4, 4), np.float32)).shape)
        (3, 4, 4)
    """,
        'RandomHorizontalFlip': """

    Examples:
        >>> import numpy as np
        >>> from spore.dataset import vision
        >>> picture = np.arange(48, dtype=np.uint8).reshape(4, 4, 3)
        >>> print(vision.RandomHorizontalFlip(1.0)(picture)[0, 0])
        [ 9 10 11]
    """,
        'RandomHorizontalFlipWithBBox': """

    Examples:
        >>> import numpy as np
        >>> from spore.dataset import vision
        >>> picture = np.arange(48, dtype=np.uint8).reshape(4, 4, 3)
        >>> box = np.array([[0, 0, 2, 2]], np.float32)
        >>> print(vision.RandomHorizontalFlipWithBBox(1.0)(picture, box)[1])
        [[2. 0. 2. 2.]]
    """,
        'RandomInvert': """

    Examples:
        >>> import numpy as np
        >>> from spore.dataset import vision
        >>> picture = np.arange(48, dtype=np.uint8).reshape(4, 4, 3)
        >>> print(vision.RandomInvert(1.0)(picture)[0, 0])
        [255 254 253]
    """,
        'RandomLighting': """

    Examples:
        >>> import numpy as np
        >>> from spore.dataset import vision
        >>> picture = np.arange(48, dtype=np.uint8).reshape(4, 4, 3)
        >>> print(vision.RandomLighting(0.1)(picture).shape)
        (4, 4, 3)
    """,
        'RandomPosterize': """

    Examples:
        >>> import numpy as np
        >>> from spore.dataset import vision
        >>> picture = np.arange(48, dtype=np.uint8).reshape(4, 4, 3)
        >>> print(vision.RandomPosterize((4, 8))(picture).shape)
        (4, 4, 3)
    """,
        'RandomResize': """

    Examples:
        >>> import numpy as np
        >>> from spore.dataset import vision
        >>> picture = np.arange(48, dtype=np.uint8).reshape(4, 4, 3)
        >>> print(vision.RandomResize((8, 8))(picture).shape)
        (8, 8, 3)
    """,
        'RandomResizeWithBBox': """

    Examples:
        >>> import numpy as np
        >>> from spore.dataset import vision
        >>> picture = np.arange(48, dtype=np.uint8).reshape(4, 4, 3)
        >>> box = np.array([[0, 0, 2, 2]], np.float32)
        >>> print(vision.RandomResizeWithBBox((8, 8))(picture, box)[1])
        [[0. 0. 4. 4.]]
    """,
        'RandomResizedCrop': """

    Examples:
        >>> import numpy as np
        >>> from spore.dataset import vision
        >>> picture = np.arange(48, dtype=np.uint8).reshape(4, 4, 3)
        >>> print(vision.RandomResizedCrop((3, 3))(picture).shape)
        (3, 3, 3)
    """,
        'RandomResizedCropWithBBox': """

    Examples:
        >>> import numpy as np
        >>> from spore.dataset import vision
        >>> picture = np.arange(48, dtype=np.uint8).reshape(4, 4, 3)
        >>> box = np.array([[0, 0, 2, 2]], np.float32)
        >>> print([part.shape for part in vision.RandomResizedCropWithBBox((3, 3))(picture, box)])
        [(3, 3, 3), (1, 4)]
    """,
        'RandomRotation': """

    Examples:
        >>> import numpy as np
        >>> from spore.dataset import vision
        >>> picture = np.arange(48, dtype=np.uint8).reshape(4, 4, 3)
        >>> print(vision.RandomRotation(30)(picture).shape)
        (4, 4, 3)
    """,
        'RandomSelectSubpolicy': """

    Examples:
        >>> import numpy as np
        >>> from spore.dataset import vision
        >>> picture = np.arange(48, dtype=np.uint8).reshape(4, 4, 3)
        >>> print(vision.RandomSelectSubpolicy([[(vision.HorizontalFlip(), 1.0)]])(picture)[0, 0])
        [ 9 10 11]
    """,
        'RandomSharpness': """

    Examples:
        >>> import numpy as np
        >>> from spore.dataset import vision
        >>> picture = np.arange(48, dtype=np.uint8).reshape(4, 4, 3)
        >>> print(vision.RandomSharpness((0.5, 1.5))(picture).shape)
        (4, 4, 3)
    """,
        'RandomSolarize': """

    Examples:
        >>> import numpy as np
        >>> from spore.dataset import vision
        >>> picture = np.arange(48, dtype=np.uint8).reshape(4, 4, 3)
        >>> print(vision.RandomSolarize((10, 40))(picture).shape)
        (4, 4, 3)
    """,
        'RandomVerticalFlip': """

    Examples:
        >>> import numpy as np
        >>> from spore.dataset import vision
        >>> picture = np.arange(48, dtype=np.uint8).reshape(4, 4, 3)
        >>> print(vision.RandomVerticalFlip(1.0)(picture)[0, 0])
        [36 37 38]
    """,
        'RandomVerticalFlipWithBBox': """

    Examples:
        >>> import numpy as np
        >>> from spore.dataset import vision
        >>> picture = np.arange(48, dtype=np.uint8).reshape(4, 4, 3)
        >>> box = np.array([[0, 0, 2, 2]], np.float32)
        >>> print(vision.RandomVerticalFlipWithBBox(1.0)(picture, box)[1])
        [[0. 2. 2. 2.]]
    """,
        'ResizeWithBBox': """

    Examples:
        >>> import numpy as np
        >>> from spore.dataset import vision
        >>> picture = np.arange(48, dtype=np.uint8).reshape(4, 4, 3)
        >>> box = np.array([[0, 0, 2, 2]], np.float32)
        >>> print(vision.ResizeWithBBox((8, 8))(picture, box)[1])
        [[0. 0. 4. 4.]]
    """,
        'ResizedCrop': """

    Examples:
        >>> import numpy as np
        >>> from spore.dataset import vision
        >>> picture = np.arange(48, dtype=np.uint8).reshape(4, 4, 3)
        >>> print(vision.ResizedCrop(0, 0, 2, 2, (3, 3))(picture).shape)
        (3, 3, 3)
    """,
        'RgbToHsv': """

    Examples:
        >>> import numpy as np
        >>> from spore.dataset import vision
        >>> print(vision.RgbToHsv(is_hwc=True)(np.full((1, 1, 3), 0.5, np.float32)))
        [[[0.  0.  0.5]]]
    """,
        'Rotate': """

    Examples:
        >>> import numpy as np
        >>> from spore.dataset import vision
        >>> picture = np.arange(48, dtype=np.uint8).reshape(4, 4, 3)
        >>> print(vision.Rotate(90)(picture)[0, 0])
        [ 9 10 11]
    """,
        'SliceMode': """

    Examples:
        >>> from spore.dataset import vision
        >>> print([mode.name for mode in vision.SliceMode])
        ['PAD', 'DROP']
    """,
        'SlicePatches': """

    Examples:
        >>> import numpy as np
        >>> from spore.dataset import vision
        >>> picture = np.arange(48, dtype=np.uint8).reshape(4, 4, 3)
        >>> print([part.shape for part in vision.SlicePatches(2, 2)(picture)])
        [(2, 2, 3), (2, 2, 3), (2, 2, 3), (2, 2, 3)]
    """,
        'Solarize': """

    Examples:
        >>> import numpy as np
        >>> from spore.dataset import vision
        >>> print(vision.Solarize((10, 40))(np.array([[[5, 20, 200]]], np.uint8)))
        [[[  5 235 200]]]
    """,
        'ToTensor': """

    Examples:
        >>> import numpy as np
        >>> from spore.dataset import vision
        >>> picture = np.arange(48, dtype=np.uint8).reshape(4, 4, 3)
        >>> print(vision.ToTensor()(picture).shape)
        (3, 4, 4)
    """,
        'ToType': """

    Examples:
        >>> import numpy as np
        >>> from spore.dataset import vision
        >>> picture = np.arange(48, dtype=np.uint8).reshape(4, 4, 3)
        >>> print(vision.ToType(np.float32)(picture).dtype)
        float32
    """,
        'TrivialAugmentWide': """

    Examples:
        >>> import numpy as np
        >>> from spore.dataset import vision
        >>> picture = np.arange(48, dtype=np.uint8).reshape(4, 4, 3)
        >>> print(vision.TrivialAugmentWide()(picture).shape)
        (4, 4, 3)
    """,
        'UniformAugment': """

    Examples:
        >>> import numpy as np
        >>> from spore.dataset import vision
        >>> picture = np.arange(48, dtype=np.uint8).reshape(4, 4, 3)
        >>> print(vision.UniformAugment([vision.HorizontalFlip(), vision.VerticalFlip()], 1)(picture).shape)
        (4, 4, 3)
    """,
        'VerticalFlip': """

    Examples:
        >>> import numpy as np
        >>> from spore.dataset import vision
        >>> picture = np.arange(48, dtype=np.uint8).reshape(4, 4, 3)
        >>> print(vision.VerticalFlip()(picture)[0, 0])
        [36 37 38]
    """,
        'encode_png': """

    Examples:
        >>> import numpy as np
        >>> from spore.dataset import vision
        >>> picture = np.arange(48, dtype=np.uint8).reshape(4, 4, 3)
        >>> print(vision.Decode()(vision.encode_png(picture)).shape)
        (4, 4, 3)
    """,
        'not_random': """

    Examples:
        >>> from spore.dataset import vision
        >>> half = vision.not_random(lambda a: a // 2)
        >>> print(half(8))
        4
    """,
        'read_file': """

    Examples:
        >>> import numpy as np
        >>> from spore.dataset import vision
        >>> _ = vision.write_file('note.txt', np.frombuffer(b'hello', np.uint8))
        >>> print(vision.read_file('note.txt').tobytes())
        b'hello'
    """,
        'read_image': """

    Examples:
        >>> import numpy as np
        >>> from spore.dataset import vision
        >>> picture = np.arange(48, dtype=np.uint8).reshape(4, 4, 3)
        >>> _ = vision.write_png('picture.png', picture)
        >>> print(vision.read_image('picture.png').shape)
        (4, 4, 3)
    """,
        'write_file': """

    Examples:
        >>> import numpy as np
        >>> from spore.dataset import vision
        >>> _ = vision.write_file('note.txt', np.frombuffer(b'hello', np.uint8))
        >>> print(vision.read_file('note.txt').size)
        5
    """,
        'write_jpeg': """

    Examples:
        >>> import numpy as np
        >>> from spore.dataset import vision
        >>> picture = np.arange(48, dtype=np.uint8).reshape(4, 4, 3)
        >>> _ = vision.write_jpeg('picture.jpg', picture)
        >>> print(vision.read_image('picture.jpg').shape)
        (4, 4, 3)
    """,
        'write_png': """

    Examples:
        >>> import numpy as np
        >>> from spore.dataset import vision
        >>> picture = np.arange(48, dtype=np.uint8).reshape(4, 4, 3)
        >>> _ = vision.write_png('picture.png', picture)
        >>> print(bool((vision.read_image('picture.png') == picture).all()))
        True
    """,
    },
}

# SPDX-License-Identifier: Apache-2.0
"""Layers of sparse Tensors."""
from spore import ops
from spore._core import Tensor
from spore.nn.cell import Cell

__all__ = ["SparseToDense", "SparseTensorDenseMatmul"]


class SparseToDense(Cell):
    """A COOTensor as a dense one.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> x = ms.COOTensor(ms.Tensor([[0, 1], [1, 0]]), ms.Tensor([1, 2]), (2, 2))
        >>> print(nn.SparseToDense()(x))
        [[0 1]
         [2 0]]
    """

    def construct(self, coo_tensor) -> Tensor:
        return ops.scatter_nd(coo_tensor.indices, coo_tensor.values, coo_tensor.shape)


class SparseTensorDenseMatmul(Cell):
    """The product of a sparse matrix, given by indices, values and shape, and a dense one.

    Args:
        adjoint_st, adjoint_dt: whether the sparse or the dense matrix is turned and conjugated.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> multiply = nn.SparseTensorDenseMatmul()
        >>> print(multiply(ms.Tensor([[0, 1], [1, 0]]), ms.Tensor([1.0, 2.0]), (2, 2), ms.ops.ones((2, 1))))
        [[1.]
         [2.]]
    """

    def __init__(self, adjoint_st=False, adjoint_dt=False):
        super().__init__()
        self.adj_st, self.adj_dt = adjoint_st, adjoint_dt
        self.sparse_dense_matmul = ops.SparseTensorDenseMatmul(adjoint_st, adjoint_dt)

    def construct(self, indices, values, sparse_shape, dense) -> Tensor:
        return self.sparse_dense_matmul(indices, values, sparse_shape, dense)

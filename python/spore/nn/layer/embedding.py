# SPDX-License-Identifier: Apache-2.0
"""Embeddings: rows of a trained table, chosen by index."""
from spore import ops
from spore.common import dtype as mstype
from spore.common.initializer import Normal, initializer
from spore.common.parameter import Parameter
from spore.common.tensor import Tensor
from spore.nn.cell import Cell
from spore.nn.layer import _check as check
from spore.nn.layer.basic import ClipByNorm

__all__ = ["Embedding", "EmbeddingExt", "EmbeddingLookup", "MultiFieldEmbeddingLookup"]


def _table(init, shape, dtype, zero_row):
    """Initial values; one row may be zero."""
    table = initializer(init, shape, dtype)
    if zero_row is None:
        return table
    if table.has_init:
        table = table.init_data()
    values = table.asnumpy().copy()
    values[zero_row] = 0
    return Tensor(values, table.dtype)


def _number_type(cls, dtype):
    if dtype == mstype.bool_ or not isinstance(dtype, type(mstype.float32)):
        check.fail_type(cls, "dtype", dtype, "a dtype of numbers")
    return dtype


class Embedding(Cell):
    """Rows of a table, chosen by indices of any shape.

    Args:
        vocab_size: number of rows.
        embedding_size: size of a row.
        use_one_hot: whether to compute by a matrix product with one-hot vectors. Default False.
        embedding_table: initial values. Default 'normal'.
        dtype: of one-hot vectors. Default float32.
        padding_idx: a row that starts as zero. Default None.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> print(nn.Embedding(10, 4)(ms.Tensor([[1, 2, 3]])).shape)
        (1, 3, 4)
    """

    def __init__(self, vocab_size, embedding_size, use_one_hot=False, embedding_table="normal", dtype=mstype.float32,
                 padding_idx=None):
        super().__init__()
        cls = self.cls_name
        self.vocab_size = check.instance(cls, "vocab_size", vocab_size, int)
        self.embedding_size = check.instance(cls, "embedding_size", embedding_size, int)
        self.use_one_hot = check.boolean(cls, "use_one_hot", use_one_hot)
        self.dtype = _number_type(cls, dtype)
        if padding_idx is not None:
            check.number_in(cls, "padding_idx", padding_idx, 0, vocab_size, (int,), open_high=True)
        self.padding_idx = padding_idx
        self.embedding_table = Parameter(_table(embedding_table, [vocab_size, embedding_size], mstype.float32, padding_idx),
                                         name="embedding_table")

    def construct(self, ids) -> Tensor:
        table = self.embedding_table
        if not self.use_one_hot:
            return ops.gather(table, ids, 0)
        on, off = Tensor(1.0, self.dtype), Tensor(0.0, self.dtype)
        rows = ops.matmul(ops.one_hot(ops.reshape(ids, (-1,)), self.vocab_size, on, off), table)
        return ops.reshape(rows, tuple(ids.shape) + (self.embedding_size,))

    def extend_repr(self):
        return (f"vocab_size={self.vocab_size}, embedding_size={self.embedding_size}, use_one_hot={self.use_one_hot}, "
                f"embedding_table={self.embedding_table}, dtype={self.dtype}, padding_idx={self.padding_idx}")


class EmbeddingExt(Cell):
    """Embedding with the torch-like arguments.

    Args:
        num_embeddings: number of rows.
        embedding_dim: size of a row.
        padding_idx: a row that starts as zero and gets no gradient. Default None.
        max_norm: rows that are used are scaled down to this norm. Default None.
        norm_type: which norm. Default 2.0.
        scale_grad_by_freq: whether gradients are divided by how often a row was used. Default False.
        sparse: must be False.
        _weight: the table. Default None, drawn from a normal distribution.
        _freeze: whether the table is not trained. Default False.
        dtype: of the table. Default None, float32.
    """

    def __init__(self, num_embeddings, embedding_dim, padding_idx=None, max_norm=None, norm_type=2.0,
                 scale_grad_by_freq=False, sparse=False, _weight=None, _freeze=False, dtype=None):
        super().__init__()
        cls = self.cls_name
        if check.boolean(cls, "sparse", sparse):
            check.fail_value(cls, "sparse", sparse, "False")
        self.sparse = sparse
        self.num_embeddings = check.instance(cls, "num_embeddings", num_embeddings, int)
        self.embedding_dim = check.instance(cls, "embedding_dim", embedding_dim, int)
        self.dtype = _number_type(cls, dtype or mstype.float32)
        if padding_idx is not None:
            check.number_in(cls, "padding_idx", padding_idx, -num_embeddings, num_embeddings, (int,), open_high=True)
        self.padding_idx = padding_idx
        if _weight is None:
            _weight = _table(Normal(1, 0), [num_embeddings, embedding_dim], self.dtype, padding_idx)
        elif tuple(_weight.shape) != (num_embeddings, embedding_dim):
            raise ValueError(f"For '{cls}', '_weight' must have shape {(num_embeddings, embedding_dim)}, but got "
                             f"{tuple(_weight.shape)}.")
        self.weight = Parameter(_weight, name="weight", requires_grad=not _freeze)
        if max_norm is not None:
            check.instance(cls, "max_norm", max_norm, float)
        check.instance(cls, "norm_type", norm_type, float)
        check.boolean(cls, "scale_grad_by_freq", scale_grad_by_freq)
        self.max_norm, self.norm_type, self.scale_grad_by_freq = max_norm, norm_type, scale_grad_by_freq

    def construct(self, input) -> Tensor:
        return ops.embedding(input, self.weight, self.padding_idx, self.max_norm, self.norm_type, self.scale_grad_by_freq)

    def extend_repr(self):
        return (f"num_embeddings={self.num_embeddings}, embedding_dim={self.embedding_dim}, padding_idx={self.padding_idx}, "
                f"max_norm={self.max_norm}, norm_type={self.norm_type}, scale_grad_by_freq={self.scale_grad_by_freq}, "
                f"dtype={self.dtype}")


class EmbeddingLookup(Cell):
    """Rows of a table, chosen by indices; the table may be split over devices.

    Args:
        vocab_size: number of rows.
        embedding_size: size of a row.
        param_init: initial values. Default 'normal'.
        target: 'CPU' or 'DEVICE', where the table lives. Default 'CPU'.
        slice_mode: how the table is split over devices; without effect on one. Default 'batch_slice'.
        manual_shapes: sizes of the parts for 'field_slice'. Default None.
        max_norm: rows are scaled down to this norm. Default None.
        sparse: must be True for target 'CPU'. Default True.
        dtype: of the table. Default float32.
        vocab_cache_size: of scripts for MindSpore 1: accepted, the table is in memory as a whole. Default 0.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> print(nn.EmbeddingLookup(10, 4)(ms.Tensor([[1, 2, 3]])).shape)
        (1, 3, 4)
    """

    BATCH_SLICE = "batch_slice"
    FIELD_SLICE = "field_slice"
    TABLE_ROW_SLICE = "table_row_slice"
    TABLE_COLUMN_SLICE = "table_column_slice"

    def __init__(self, vocab_size, embedding_size, param_init="normal", target="CPU", slice_mode="batch_slice",
                 manual_shapes=None, max_norm=None, sparse=True, dtype=mstype.float32, *, vocab_cache_size=0):
        super().__init__()
        cls = self.cls_name
        self.vocab_cache_size = vocab_cache_size
        check.boolean(cls, "sparse", sparse)
        self.vocab_size = check.positive_int(cls, "vocab_size", vocab_size)
        self.embedding_size = check.positive_int(cls, "embedding_size", embedding_size)
        self.target = check.one_of(cls, "target", target, ("CPU", "DEVICE"))
        if not sparse and target == "CPU":
            raise ValueError(f"For '{cls}', 'sparse' must be True when 'target' is 'CPU'.")
        self.sparse, self.slice_mode, self.manual_shapes = sparse, slice_mode, manual_shapes
        self.embedding_table = check.parameter(param_init, [vocab_size, embedding_size], dtype, "embedding_table")
        if max_norm is not None:
            check.number_in(cls, "max_norm", max_norm, 0, float("inf"), (float,), open_low=True)
        self.max_norm = max_norm

    def construct(self, indices) -> Tensor:
        rows = ops.gather(self.embedding_table, indices, 0)
        if self.max_norm is None:
            return rows
        return ClipByNorm(tuple(range(indices.ndim, rows.ndim)))(rows, Tensor(self.max_norm, mstype.float32))


class MultiFieldEmbeddingLookup(EmbeddingLookup):
    """Rows of a table, weighted and combined field by field.

    Args:
        vocab_size: number of rows.
        embedding_size: size of a row.
        field_size: number of fields.
        param_init: initial values. Default 'normal'.
        target: 'CPU' or 'DEVICE'. Default 'CPU'.
        slice_mode: how the table is split over devices; without effect on one. Default 'batch_slice'.
        feature_num_list: sizes of the parts for 'field_slice'. Default None.
        max_norm: rows are scaled down to this norm. Default None.
        sparse: must be True for target 'CPU'. Default True.
        operator: 'SUM', 'MEAN' or 'MAX'. Default 'SUM'.
        dtype: of the table. Default float32.

    Inputs are indices (N, S), their weights (N, S) and their fields (N, S); the result is (N, field_size, embedding_size).

    Examples:
        >>> import spore
        >>> from spore import Tensor, nn
        >>> net = nn.MultiFieldEmbeddingLookup(10, 2, field_size=3, param_init="ones")
        >>> indices = Tensor([[2, 4, 6]], spore.int32)
        >>> weights = Tensor([[1.0, 2.0, 3.0]])
        >>> fields = Tensor([[0, 1, 1]], spore.int32)
        >>> print(net(indices, weights, fields))
        [[[1. 1.]
          [5. 5.]
          [0. 0.]]]
    """

    def __init__(self, vocab_size, embedding_size, field_size, param_init="normal", target="CPU", slice_mode="batch_slice",
                 feature_num_list=None, max_norm=None, sparse=True, operator="SUM", dtype=mstype.float32):
        super().__init__(vocab_size, embedding_size, param_init, target, slice_mode, feature_num_list, max_norm, sparse, dtype)
        self.field_size = check.positive_int(self.cls_name, "field_size", field_size)
        self.operator = check.one_of(self.cls_name, "operator", operator, ("SUM", "MAX", "MEAN"))

    def construct(self, input_indices, input_values, field_ids) -> Tensor:
        cls = self.cls_name
        for name, value, dtypes in (("input_indices", input_indices, (mstype.int32, mstype.int64)),
                                    ("input_values", input_values, (mstype.float32,)), ("field_ids", field_ids, (mstype.int32,))):
            check.rank_of(cls, value, 2)
            if value.dtype not in dtypes:
                raise TypeError(f"For '{cls}', the dtype of '{name}' must be {' or '.join(map(str, dtypes))}, but got "
                                f"{value.dtype}.")
        rows = super().construct(input_indices) * ops.expand_dims(input_values, -1)
        # (N, field, S): does index s of sample n belong to the field?
        fields = ops.reshape(ops.arange(self.field_size).astype(mstype.int32), (1, -1, 1))
        belongs = ops.expand_dims(field_ids, 1) == fields
        mask = belongs.astype(mstype.float32)
        if self.operator != "MAX":
            total = ops.matmul(mask, rows)
            if self.operator == "SUM":
                return total
            weight = ops.matmul(mask, ops.expand_dims(ops.abs(input_values), -1))
            return ops.select(ops.broadcast_to(weight == 0, total.shape), ops.zeros_like(total),
                              total / ops.maximum(weight, 1e-37))
        used = ops.logical_and(belongs, ops.expand_dims(input_values != 0, 1))
        shape = tuple(used.shape) + (self.embedding_size,)
        spread = ops.broadcast_to(ops.expand_dims(rows, 1), shape)
        used = ops.broadcast_to(ops.expand_dims(used, -1), shape)
        best = ops.amax(ops.select(used, spread, ops.full_like(spread, -3.4028234e38)), 2)
        return ops.select(ops.any(used, 2), best, ops.zeros_like(best))

# SPDX-License-Identifier: Apache-2.0
"""What is made of the rows of other datasets: batches, maps, orders, columns. Each class is a method of Dataset."""
import copy
import inspect
import sys
import threading

import numpy as np

from spore._not_done import not_done
from spore import _core, log
from spore.dataset import _check, config
from spore.dataset._cells import batched, listed, to_array
from spore.dataset._stream import seed_now
from spore.dataset.callback import Announcer, DSCallback, WaitedDSCallback, is_quiet
from spore.dataset.debug import DebugHook
from spore.dataset.iterators import ClosedError
from spore.dataset.pipeline import Dataset
from spore.dataset.transforms.transforms import Compose, _runs_in_engine

__all__ = ['BatchInfo', 'BatchDataset', 'BucketBatchByLengthDataset', 'MapDataset', 'FilterDataset', 'ShuffleDataset',
           'RepeatDataset', 'SkipDataset', 'TakeDataset', 'ZipDataset', 'ConcatDataset', 'ProjectDataset', 'RenameDataset',
           'PaddedBatchDataset', 'FlatMapDataset', 'SyncWaitDataset', 'TransferDataset']

_zip = zip


class UnionBaseDataset(Dataset):
    """What is made of the rows of other datasets."""


class _Passing(UnionBaseDataset):
    """Datasets that are a method of the engine's."""

    def __init__(self, parent, num_parallel_workers=None):
        super().__init__([parent], num_parallel_workers)

    def _parent(self):
        return self.children[0]._engine()

    def _processes(self):
        """How many processes call the functions; 0: none, they are called here."""
        if not self.python_multiprocessing:
            return 0
        return self.num_parallel_workers or config.get_num_parallel_workers()


class BatchInfo:
    """What functions of a batch learn of it."""

    def __init__(self, epoch, batch):
        self._epoch, self._batch = epoch, batch

    def get_epoch_num(self):
        """Number of the epoch, from 0."""
        return self._epoch

    def get_batch_num(self):
        """Number of the batch in the epoch, from 0."""
        return self._batch


def _tell_batch_size(data, size):
    """Conditions below count batches, of this many rows."""
    if isinstance(data, SyncWaitDataset):
        data.update_sync_batch_size(size)
    elif not isinstance(data, (BatchDataset, PaddedBatchDataset)):
        for child in data.children:
            _tell_batch_size(child, size)


def _takes(function, n):
    """The function of a batch takes n columns and the BatchInfo."""
    try:
        found = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):     # of a function in C nobody knows
        return
    if any(p.kind == p.VAR_POSITIONAL for p in found):
        return
    if len(found) - 1 != n:
        raise ValueError("The signature of per_batch_map should match with input columns.")


class BatchDataset(_Passing):
    """Rows put together."""

    def __init__(self, parent, batch_size, drop_remainder=False, num_parallel_workers=None, per_batch_map=None,
                 input_columns=None, output_columns=None, python_multiprocessing=False, max_rowsize=None):
        super().__init__(parent, num_parallel_workers)
        _check.batch_size(batch_size, True)
        _check.kind(drop_remainder, bool, 'drop_remainder')
        _check.row_size(max_rowsize)
        if input_columns is not None and per_batch_map is None:
            raise ValueError("input_columns can be specified only when per_batch_map is set.")
        if per_batch_map is not None and not callable(per_batch_map):
            raise TypeError(f"per_batch_map should be a function, but got {type(per_batch_map)}")
        self._inputs = self._outputs = None
        if input_columns is not None:
            self._inputs = _check.columns(input_columns, 'input_columns')
            _takes(per_batch_map, len(self._inputs))
        if output_columns is not None:
            self._outputs = _check.columns(output_columns, 'output_columns')
        if python_multiprocessing is not None:
            _check.kind(python_multiprocessing, bool, 'python_multiprocessing')
        self.python_multiprocessing, self.max_rowsize = bool(python_multiprocessing), max_rowsize
        self._n, self._drop, self._function = batch_size, drop_remainder, per_batch_map
        self.batch_size, self.drop_remainder, self.per_batch_map = batch_size, drop_remainder, per_batch_map
        _tell_batch_size(parent, batch_size)

    def get_batch_size(self):
        return self._n if isinstance(self._n, int) else -1

    def _make(self):
        if self._n == -1:
            raise RuntimeError("Batch size cannot be -1 without using batch sampler.")
        if self._function is None and isinstance(self._n, int):
            return self._parent().batch(int(self._n), self._drop)
        names = self._parent().columns
        inputs = (self._inputs or names) if self._function is not None else []
        outputs = self._outputs or inputs
        unknown = [c for c in inputs if c not in names]
        if unknown:
            raise RuntimeError(f"Invalid parameter, input column name: {unknown[0]} doesn't exist in the dataset columns: {names}")
        taken = [c for c in outputs if c in names and c not in inputs]
        if taken:
            raise RuntimeError("Invalid output_columns, columns that are not involved in 'per_batch_map' should not be in output_columns, but "
                               f"got columns that are not in input_columns: {taken}, output_columns: {outputs}.")
        columns = _made_columns(names, inputs, outputs)

        def together(*lists):
            *lists, epoch, number = lists
            rows = dict(_zip(names, lists))
            if self._function is not None:
                made = self._function(*(rows[c] for c in inputs), BatchInfo(epoch, number))
                rows.update(_made_by_function(made, outputs, len(lists[0])))
            join = listed if self._function is not None else batched
            return tuple(_stack(i, name, rows[name], join) for i, name in enumerate(columns))
        sizes = _sizes_of(self._n)
        return self._parent().batch_function(1 if sizes else self._n, self._drop, together, sizes, list(columns),
                                             self._processes() if self._function is not None else 0)


def _sizes_of(size):
    """What the engine calls for the size of a batch; None if it is a number."""
    if not callable(size):
        return None

    def ask(epoch, number):
        found = size(BatchInfo(epoch, number))
        if isinstance(found, bool) or not isinstance(found, (int, np.integer)):
            raise TypeError("Invalid batch_size function, the return value of batch_size function cast failed: 'batch_size' function "
                            f"should return an integer, but got: {found!r}")
        return found
    return ask


def _made_by_function(made, outputs, size):
    """Columns by name of what a per_batch_map returned: whole batches as arrays or dicts, others as lists of as many rows as
    the batch has."""
    if made is None:
        raise RuntimeError("Got None from Python object: 'per_batch_map' must return the columns of the batch, but returned None")
    made = made if isinstance(made, tuple) else (made,)
    if len(made) != len(outputs):
        raise RuntimeError("Invalid per_batch_map, the number of columns returned in 'per_batch_map' function should be "
                           f"{len(outputs)} , but got: {len(made)}")
    if all(isinstance(column, (np.ndarray, dict)) for column in made):
        return dict(_zip(outputs, made))
    columns = {}
    for name, column in _zip(outputs, made):
        if isinstance(column, dict):
            raise RuntimeError("Failed to convert rows: mismatched types returned from per_batch_map function. If different types are "
                               "returned, all of them should be convertible to Python lists. Got: Python dict")
        columns[name] = list(column.asnumpy() if isinstance(column, _core.Tensor) else column)
        if len(columns[name]) != size:
            raise RuntimeError(f"Invalid data, column: {name} expects: {size} rows returned from 'per_batch_map', got: "
                               f"{len(columns[name])}")
    return columns


def _stack(place, name, values, join=batched):
    if isinstance(values, (np.ndarray, dict)):
        return values
    if any(isinstance(value, dict) for value in values):
        if not all(isinstance(value, dict) for value in values):
            raise RuntimeError(f"Cannot batch tensors with different types in column {place} ('{name}'): some rows are dicts, others not")
        return join(values)
    arrays = [to_array(value) for value in values]
    types = {a.dtype if a.dtype.kind not in 'US' else a.dtype.kind for a in arrays}
    if len(types) > 1:
        raise RuntimeError(f"Cannot batch tensors with different types in column {place} ('{name}'): rows have the types "
                           f"{', '.join(sorted(map(str, types)))}")
    shapes = {a.shape for a in arrays}
    if len(shapes) > 1:
        raise RuntimeError(f"Cannot batch tensors with different shapes in column {place} ('{name}'): rows have the shapes "
                           f"{sorted(shapes)[:4]}")
    return np.stack(arrays)


class PaddedBatchDataset(_Passing):
    """Rows filled up to one shape and put together."""

    def __init__(self, parent, batch_size, drop_remainder=False, num_parallel_workers=None, pad_info=None):
        super().__init__(parent, num_parallel_workers)
        _check.batch_size(batch_size)
        _check.kind(drop_remainder, bool, 'drop_remainder')
        _check.pad_info(pad_info)
        self._n, self._drop, self._pads = batch_size, drop_remainder, pad_info

    def get_batch_size(self):
        return self._n

    def _make(self):
        pads = self._pads or ({} if self._pads is None else {c: (None, 0) for c in self._parent().columns})
        names = self._parent().columns
        for column in pads:
            if column not in names:
                raise RuntimeError(f"Invalid pad_info, column name: {column} does not exist; there are {names}")
        if callable(self._n) or any(pair and isinstance(pair[1], (str, bytes)) for pair in pads.values()):
            return self._in_python(names, pads)
        wanted = []
        for column, (shape, value) in ((column, pair or (None, None)) for column, pair in pads.items()):
            shape = None if shape is None else tuple(-1 if n is None else n for n in shape)
            wanted.append((column, shape, 0.0 if value is None or isinstance(value, (str, bytes)) else float(value)))
        return self._parent().batch(self._n, self._drop, wanted)


    def _in_python(self, names, pads):
        """The same for texts, and for sizes that a function gives."""
        def together(*lists):
            *lists, _, _ = lists
            return tuple(_stack(i, name, _filled(cells, *(pads[name] or (None, 0)), None) if name in pads else cells)
                         for i, (name, cells) in enumerate(_zip(names, lists)))
        sizes = _sizes_of(self._n)
        return self._parent().batch_function(1 if sizes else self._n, self._drop, together, sizes, list(names))


class BucketBatchByLengthDataset(_Passing):
    """Rows of about the same length put together. Rows are looked at in their order: a bucket that is full is a batch."""

    def __init__(self, parent, column_names, bucket_boundaries, bucket_batch_sizes, element_length_function, pad_info,
                 pad_to_bucket_boundary, drop_remainder):
        super().__init__(parent)
        lists = {'column_names': column_names, 'bucket_boundaries': bucket_boundaries, 'bucket_batch_sizes': bucket_batch_sizes}
        for name, value in lists.items():
            _check.kind(value, list, name)
        _check.kind(pad_to_bucket_boundary, bool, 'pad_to_bucket_boundary')
        _check.kind(drop_remainder, bool, 'drop_remainder')
        self._inputs = _check.columns(column_names, 'column_names')
        if element_length_function is None and len(self._inputs) != 1:
            raise ValueError("If element_length_function is not specified, exactly one column name should be passed.")
        if element_length_function is not None and not callable(element_length_function):
            raise TypeError("element_length_function object is not callable.")
        if not bucket_boundaries:
            raise ValueError("bucket_boundaries cannot be empty.")
        if not all(isinstance(value, int) for value in bucket_boundaries):
            raise TypeError("bucket_boundaries should be a list of int.")
        if min(bucket_boundaries) <= 0:
            raise ValueError("bucket_boundaries must only contain positive numbers.")
        if any(a >= b for a, b in _zip(bucket_boundaries, bucket_boundaries[1:])):
            raise ValueError("bucket_boundaries should be strictly increasing.")
        if len(bucket_batch_sizes) != len(bucket_boundaries) + 1:
            raise ValueError("bucket_batch_sizes must contain one element more than bucket_boundaries.")
        if not all(isinstance(value, int) for value in bucket_batch_sizes):
            raise TypeError("bucket_batch_sizes should be a list of int.")
        if min(bucket_batch_sizes) <= 0:
            raise ValueError("bucket_batch_sizes should be a list of positive numbers.")
        _check.pad_info(pad_info)
        self._bounds, self._sizes, self._length = bucket_boundaries, bucket_batch_sizes, element_length_function
        self._pads, self._to_bound, self._drop = pad_info or {}, pad_to_bucket_boundary, drop_remainder

    def _make(self):
        parent = self.children[0]
        names = parent.get_col_names()
        unknown = [c for c in self._inputs if c not in names]
        if unknown:
            raise RuntimeError(f"Invalid parameter, input column name: {unknown[0]} doesn't exist in the dataset columns: {names}")
        places = [names.index(c) for c in self._inputs]
        pads = self._pads or dict.fromkeys(names)       # without any, all columns are filled up to the largest of a batch
        for column in pads:
            if column not in names:
                raise RuntimeError(f"Invalid pad_info, column name: {column} does not exist; there are {names}")

        def length(row):
            values = [row[i] for i in places]
            found = self._length(*values) if self._length is not None else len(values[0])
            if isinstance(found, np.ndarray) and found.shape == () and found.dtype.kind in 'iu':
                found = int(found)
            if isinstance(found, bool) or not isinstance(found, (int, np.integer)):
                raise RuntimeError(f"Unable to cast Python instance of type {type(found)} to C++ type 'int': element_length_function must "
                                   f"return an integer, but got {found!r}")
            if found < 0:
                raise RuntimeError("Invalid element_length_function, element_length_function must return an integer greater than or "
                                   f"equal to 0, but got{found}")
            return int(found)

        def together(bucket, rows):
            made = []
            for i, name in enumerate(names):
                cells = [row[i] for row in rows]
                if name in pads:
                    shape, value = pads[name] or (None, 0)
                    cells = _filled(cells, shape, value, self._bound(bucket) if shape and None in shape else None)
                made.append(_stack(i, name, cells))
            return tuple(made)

        def batches():
            buckets = [[] for _ in self._sizes]
            for row in parent.create_tuple_iterator(num_epochs=1, output_numpy=True):
                bucket = int(np.searchsorted(self._bounds, length(row), 'right'))
                buckets[bucket].append(row)
                if len(buckets[bucket]) == self._sizes[bucket]:
                    yield together(bucket, buckets[bucket])
                    buckets[bucket] = []
            for bucket, rows in enumerate(buckets):
                if rows and not self._drop:
                    yield together(bucket, rows)
        from spore.dataset.sources import _Streaming
        return _core.pipeline_stream(_Streaming(batches, 0, lambda row: row), names, True)

    def _bound(self, bucket):
        if not self._to_bound:
            return None
        if bucket == len(self._bounds):
            raise RuntimeError("Invalid data, requested to pad to bucket boundary failed, bucket index should be less than "
                               f"{len(self._sizes)}, but got {bucket}: a row is longer than the last boundary")
        return self._bounds[bucket] - 1


def _can_pad(kind, value):
    """Texts are filled up with texts, bytes with bytes, numbers with numbers."""
    names = {'U': 'string', 'S': 'bytes'}
    wanted, given = names.get(kind), 'string' if isinstance(value, str) else 'bytes' if isinstance(value, bytes) else None
    if value is None or value == 0 or wanted == given:
        return
    if wanted is None or given is None:
        raise RuntimeError(f"PadEnd: can not pad numeric and string tensors together, but got: {given or 'number'} and "
                           f"{wanted or 'number'}.")
    raise RuntimeError(f"PadEnd: can not pad string and byte tensors together, but got: {given} and {wanted}.")


def _filled(cells, shape, value, bound):
    """Cells brought to one shape: the wanted one, the bound, or the largest."""
    if isinstance(cells[0], dict):
        if shape is None:
            return cells
        raise RuntimeError("PadEnd: can not pad numeric and string tensors together, but got: number and python.")
    arrays = [to_array(cell) for cell in cells]
    largest = [max(sizes) for sizes in _zip(*(a.shape for a in arrays))]
    wanted = [bound if bound is not None and n is None else n for n in (shape or [None] * len(largest))]
    wanted = [m if n is None else n for n, m in _zip(wanted, largest)]
    made = []
    texts = arrays[0].dtype.kind in 'US'
    _can_pad(arrays[0].dtype.kind, value)
    filling = ('' if value is None or isinstance(value, (int, float)) else value) if texts else value if value is not None else 0
    if texts:
        arrays = [array.astype(np.result_type(array.dtype, np.asarray(filling).astype(array.dtype.kind))) for array in arrays]
    for array in arrays:
        whole = np.full(wanted, filling, array.dtype)
        part = tuple(slice(0, min(n, m)) for n, m in _zip(array.shape, wanted))
        whole[part] = array[part]
        made.append(whole)
    return made


def _no_networks(operations):
    """Rows are no place for layers and operators of networks."""
    nn, ops = sys.modules.get('spore.nn'), sys.modules.get('spore.ops')
    kinds = tuple(kind for kind in (getattr(nn, 'Cell', None), getattr(ops, 'Primitive', None)) if isinstance(kind, type))
    for operation in operations:
        if kinds and isinstance(operation, kinds):
            raise ValueError("Input operations should not contain network computing operator like in mindspore.nn or mindspore.ops, got "
                             "operation: ", str(operation))


def _check_operation(operation):
    if isinstance(operation, type):
        raise ValueError("Parameter operations's element of method map should be a dataset processing operation instance, but got: "
                         f"{operation}. It may be missing parentheses for instantiation.")
    if not callable(operation):
        raise ValueError("Parameter operations's element of method map should be a python function or class method which should be "
                         f"callable, but got: {operation}. It doesn't need parentheses for python function or class method.")


class MapDataset(_Passing):
    """Rows with columns changed."""

    def __init__(self, parent, operations, input_columns=None, output_columns=None, num_parallel_workers=None,
                 python_multiprocessing=False, cache=None, callbacks=None, max_rowsize=None, offload=None):
        super().__init__(parent, num_parallel_workers)
        self._operations = list(operations) if isinstance(operations, (list, tuple)) else [operations]
        self._operations = [operation for operation in self._operations if operation is not None]
        _no_networks(self._operations)
        _check.kind(python_multiprocessing, bool, 'python_multiprocessing')
        _check.cache(cache)
        self.cache = cache
        _check.row_size(max_rowsize)
        if offload is not None:
            _check.kind(offload, bool, 'offload')
            if offload:
                not_done('map: offload=True', 'there is no other device')
        if isinstance(callbacks, list):
            _check.kinds(callbacks, DSCallback, 'callbacks')
        elif callbacks is not None:
            _check.kind(callbacks, DSCallback, 'callbacks')
        self._inputs = _check.columns(input_columns, 'input_columns') if input_columns is not None else None
        self._outputs = _check.columns(output_columns, 'output_columns') if output_columns is not None else None
        self._callbacks = list(callbacks) if isinstance(callbacks, list) else [callbacks] if callbacks else []
        for operation in self._operations:
            _check_operation(operation)
        self.operations, self.input_columns, self.callbacks = self._operations, self._inputs or [], self._callbacks
        self.output_columns = self._outputs or self.input_columns
        self.python_multiprocessing, self.max_rowsize, self.offload = python_multiprocessing, max_rowsize, offload

    def _make(self):
        parent = self._parent()
        inputs = self._inputs or parent.columns[:1]
        if self._callbacks:
            return self._announced(parent, inputs)
        if not self._operations:
            return parent
        operations = _watched(self._operations)
        engine, rest = _leading(operations) if operations is self._operations else ([], operations)
        if not rest:
            return _tolerant(parent.map(engine, inputs, self._outputs))
        if engine:
            parent = _tolerant(parent.map(engine, inputs, inputs if len(inputs) > 1 else None))
        return _tolerant(parent.map_function(_chain(rest), inputs, self._outputs, self._processes()))

    def _announced(self, parent, inputs):
        """With callbacks all of it runs in Python, a batch of one row at a time: these are told epoch and row."""
        names, outputs, function = parent.columns, self._outputs or inputs, _chain(self._operations)
        announcer = self._announcer = Announcer(self._callbacks, self.children[0].get_dataset_size())
        missing = [c for c in inputs if c not in names]
        if missing:
            raise RuntimeError(f"map: there are no columns {missing}, only {names}")
        columns = _made_columns(names, inputs, outputs)

        def one(*lists):
            *lists, epoch, number = lists
            row = {name: values[0] for name, values in _zip(names, lists)}
            made = announcer.around(epoch, number, lambda: function(*(row[c] for c in inputs)))
            row.update(_zip(outputs, made if isinstance(made, tuple) else (made,)))
            return tuple(row[c] for c in columns)
        return parent.batch_function(1, False, one, None, columns)

    def _begin_iterator(self, repeats):
        """A new iterator, in whose epochs the rows begin ``repeats`` times."""
        if self._callbacks:
            self._engine()
            self._announcer.begin(repeats)

    def waits(self):
        """Whether rows wait for what is done with those before."""
        return any(isinstance(callback, WaitedDSCallback) for callback in self._callbacks)


def _tolerant(made):
    """With rows that fail in it left out or replaced, if that is the setting."""
    mode = config.get_error_samples_mode()
    return made if mode == config.ErrorSamplesMode.RETURN else made.tolerate(mode == config.ErrorSamplesMode.REPLACE)


def _watched(operations):
    """The operations with the hooks of debug mode between them; the very list if there are none."""
    hooks = [op for op in operations if isinstance(op, DebugHook)]
    if not config.get_debug_mode():
        if hooks:
            raise ValueError("It is not allowed to inject DebugHook object in non-debug mode.")
        return operations
    everywhere, made = config._values['debug_hooks'], []
    if not hooks and not everywhere:
        return operations

    def see(name, first):
        for hook in everywhere:
            own = copy.deepcopy(hook)
            own.set_previous_op_name(name)
            own.set_is_first(first)
            made.append(own)
    see(_operation_name(operations[0]), True)
    for operation in operations:
        made.append(operation)
        see(_operation_name(operation), False)
    return made


def _operation_name(operation):
    return getattr(operation, '__name__', type(operation).__name__)


def _made_columns(names, inputs, outputs):
    """Columns after those of ``inputs`` became ``outputs``."""
    if outputs == inputs:
        return list(names)
    if len(outputs) == len(inputs):
        new = dict(_zip(inputs, outputs))
        return [new.get(c, c) for c in names if c in new or c not in outputs]
    return outputs + [c for c in names if c not in inputs]


def _leading(operations):
    """The transforms in front that the engine runs, and what comes behind them."""
    flat = []
    for operation in operations:
        if isinstance(operation, Compose) and not _runs_in_engine(operation):
            flat.extend(operation.transforms)
        else:
            flat.append(operation)
    n = 0
    while n < len(flat) and _runs_in_engine(flat[n]):
        n += 1
    if n < len(flat) and any(_changes_columns(op) for op in flat[:n]):
        n = 0
    return [op.parse() for op in flat[:n]], flat[n:]


def _changes_columns(operation):
    return type(operation).__name__ in ('Duplicate', 'Concatenate', 'Compose', 'Unique')


def _chain(functions):
    if len(functions) == 1:
        return functions[0]

    def run(*values):
        for function in functions:
            values = function(*values)
            values = values if isinstance(values, tuple) else (values,)
        return values if len(values) > 1 else values[0]
    return run


class FilterDataset(_Passing):
    """Rows that a function keeps."""

    def __init__(self, parent, predicate, input_columns=None, num_parallel_workers=None):
        super().__init__(parent, num_parallel_workers)
        if not callable(predicate):
            raise TypeError("Predicate should be a Python function or a callable Python object.")
        self._function = predicate
        self._inputs = _check.columns(input_columns, 'input_columns') if input_columns is not None else None

    def _make(self):
        parent = self._parent()

        def keep(*values):
            return np.asarray(bool(self._function(*values)))
        return parent.filter(keep, self._inputs or parent.columns)


class TransferDataset(_Passing):
    """A dataset on its way to a device: it is sent, not iterated over. Rows are made ahead in their queue, as they are for an
    iterator; a CPU has no operator that takes them out of it, here as in MindSpore."""

    _count = 0

    def __init__(self, parent, send_epoch_end=True, create_data_info_queue=False, queue_name=''):
        super().__init__(parent)
        _check.kind(send_epoch_end, bool, 'send_epoch_end')
        _check.kind(create_data_info_queue, bool, 'create_data_info_queue')
        _check.kind(queue_name, str, 'queue_name')
        TransferDataset._count += 1
        self.queue_name = queue_name or f'queue_{TransferDataset._count}'
        self.device_type, self.device_id = 'CPU', 0
        self._send_epoch_end, self._create_data_info_queue, self._sent = send_epoch_end, create_data_info_queue, None

    def _make(self):
        return self._parent()

    def _refuse_to_iterate(self, *args, **kwargs):
        raise RuntimeError("TransferDataset is not iterable.")

    create_dict_iterator = create_tuple_iterator = __iter__ = _refuse_to_iterate

    def output_shapes(self, estimate=False):
        raise RuntimeError("TransferDataset does not support obtaining output_shapes.")

    def output_types(self):
        raise RuntimeError("TransferDataset does not support obtaining output_types.")

    def send(self, num_epochs=-1):
        """Begin to make rows, on a thread of their own: callbacks and functions of the pipeline see them come by. Nobody takes them away here, so
        that without a number of epochs one is made: a device's queue would be full."""
        if self._sent is None:
            num_epochs = 1 if num_epochs == -1 else num_epochs
            self._sent = self.children[0].create_tuple_iterator(num_epochs=num_epochs)
            threading.Thread(target=self._make_rows, args=(self._sent, num_epochs), daemon=True).start()

    @staticmethod
    def _make_rows(rows, epochs):
        try:
            while epochs:
                for _ in rows:
                    pass
                epochs -= epochs > 0
        except ClosedError:
            pass
        except RuntimeError as error:
            log.error("device_que: the rows end here: %s", error)

    def stop_send(self):
        """Make no more rows."""
        self.release()

    def continue_send(self):
        """Go on with it; rows are made again when they are sent again."""

    def get_data_info(self):
        """Types and shapes of the columns."""
        if self._sent is None:
            raise RuntimeError("Calling get_data_info with bad state.")
        data = self.children[0]
        return data.output_types(), data.output_shapes()

    def get_send_info(self):
        """Figures of what was sent."""
        raise RuntimeError("Calling get_send_info with bad state, data queue is not initialized.")

    def get_mbuf_queue_size(self):
        """How much waits on a device."""
        raise RuntimeError("Device queue is not init, call get_mbuf_queue_size failed.")

    def release(self):
        """End what was sent."""
        if self._sent is not None:
            self._sent.release()
            self._sent = None


class SyncWaitDataset(_Passing):
    """Rows that wait for sync_update."""

    def __init__(self, parent, condition_name, num_batch, callback=None):
        super().__init__(parent)
        if num_batch <= 0:
            raise ValueError("num_batch need to be greater than 0.")
        if condition_name in parent.get_sync_notifiers():
            raise RuntimeError("Condition name is already in use.")
        self._name, self._callback, self._each = condition_name, callback, num_batch
        self._condition, self._free, self._off = threading.Condition(), num_batch, False

    def is_sync(self):
        return True

    def get_sync_notifiers(self):
        return {**super().get_sync_notifiers(), self._name: self._release}

    def update_sync_batch_size(self, batch_size):
        """A batch of the condition has so many rows: told by the batch that stands on it."""
        if isinstance(batch_size, int):
            self._each *= batch_size
            self._free *= batch_size

    def disable_sync(self):
        super().disable_sync()
        with self._condition:
            self._off = True
            self._condition.notify_all()

    def _release(self, rows, data):
        with self._condition:
            self._free += self._each if rows is None else rows
            if self._callback is not None:
                self._callback(data)
            self._condition.notify_all()

    def _pass(self, *values):
        if is_quiet():
            return values
        with self._condition:
            if not self._condition.wait_for(lambda: self._free > 0 or self._off, config.get_callback_timeout()):
                log.warning("sync_wait: no sync_update(%r) came in %s s; rows are not held back any more", self._name,
                            config.get_callback_timeout())
                self._off = True
            self._free -= 1
        return values

    def waits(self):
        """Whether rows wait for what is done with those before."""
        return True

    def _begin_iterator(self, repeats):
        """A new iterator: the first batches are free again."""
        with self._condition:
            self._free = self._each

    def _make(self):
        parent = self._parent()
        return parent.map_function(self._pass, parent.columns, parent.columns)


class ShuffleDataset(_Passing):
    """Rows in random order."""

    def __init__(self, parent, buffer_size):
        super().__init__(parent)
        _check.kind(buffer_size, int, 'buffer_size')
        _check.within(buffer_size, 2, _check.INT32_MAX, 'buffer_size')
        if parent.is_sync():
            raise RuntimeError("No shuffle after sync operators.")
        self._n = self.buffer_size = buffer_size

    def is_shuffled(self):
        return True

    def _make(self):
        return self._parent().shuffle(self._n)


class _MixedOnce(_Passing):
    """Rows in a random order that is the same in all epochs: parts of it do not overlap."""

    def __init__(self, parent):
        super().__init__(parent)
        self._own_seed = seed_now()

    def _make(self):
        return self._parent().shuffle_once(max(1, self.children[0].get_dataset_size()), self._own_seed)


class FlatMapDataset(_Passing):
    """The rows of the datasets that a function makes of rows."""

    def __init__(self, parent, function):
        super().__init__(parent)
        self._function = function

    def _make(self):
        parts = []
        for row in self.children[0].create_tuple_iterator(num_epochs=1, output_numpy=True):
            part = self._function(*row)
            if not isinstance(part, Dataset):
                raise TypeError(f"flat_map must return a Dataset object. The function gives {type(part)}.")
            parts.append(part)
        if not parts:
            raise RuntimeError("flat_map: the dataset holds no rows")
        return ConcatDataset(parts)._engine()


class RepeatDataset(_Passing):
    """Rows several times."""

    def __init__(self, parent, count=None):
        super().__init__(parent)
        _check.kind(count, (int, type(None)), 'repeat')
        if count not in (None, -1) and not 1 <= count <= _check.INT32_MAX:
            raise ValueError("count should be either -1 or positive integer, range[1, INT32_MAX].")
        self.count = -1 if count is None else count

    def get_repeat_count(self):
        return self.count

    def _make(self):
        return self._parent().repeat(self.count)


class TakeDataset(_Passing):
    """The first rows."""

    def __init__(self, parent, count=-1):
        super().__init__(parent)
        _check.kind(count, int, 'count')
        if count != -1 and not 1 <= count <= _check.INT32_MAX:
            raise ValueError(f"count should be either -1 or within the required interval of (0, {_check.INT32_MAX}], got "
                             f"{count}.")
        self._n = count

    def _make(self):
        return self._parent() if self._n == -1 else self._parent().take(self._n)


class SkipDataset(_Passing):
    """The rows behind the first ones."""

    def __init__(self, parent, count):
        super().__init__(parent)
        _check.kind(count, int, 'count')
        _check.within(count, 0, _check.INT32_MAX, 'count')
        self._n = count

    def _make(self):
        return self._parent().skip(self._n)


class ProjectDataset(_Passing):
    """Some columns."""

    def __init__(self, parent, columns):
        super().__init__(parent)
        self._chosen = _check.columns(columns, 'columns')

    def _make(self):
        return self._parent().project(self._chosen)


class RenameDataset(_Passing):
    """Columns with other names."""

    def __init__(self, parent, input_columns, output_columns):
        super().__init__(parent)
        self._old, self._new = _check.columns(input_columns, 'input_columns'), _check.columns(output_columns, 'output_columns')
        if len(self._old) != len(self._new):
            raise ValueError("Number of column in input_columns and output_columns is not equal.")

    def _make(self):
        names = self._parent().columns
        unknown = [c for c in self._old if c not in names]
        if unknown:
            raise RuntimeError(f"Invalid column, column to be renamed does not exist: there are no columns {unknown}, only {names}")
        new = dict(_zip(self._old, self._new))
        made = [new.get(c, c) for c in names]
        twice = [c for c in made if made.count(c) > 1]
        if twice:
            raise RuntimeError("Invalid column, rename operation does not support rename one column name into another already exist column "
                               f"name, existing column name is: {twice[0]}.")
        return self._parent().project(names, made)


class ZipDataset(UnionBaseDataset):
    """Columns of several datasets side by side."""

    def __init__(self, datasets):
        super().__init__(datasets)
        if not datasets:
            raise ValueError("datasets cannot be empty.")
        for i, data in enumerate(datasets):
            _check.kind(data, Dataset, f"datasets[{i}]")

    def _make(self):
        return _core.pipeline_zip([child._engine() for child in self.children])


class ConcatDataset(UnionBaseDataset):
    """Rows of several datasets one after another."""

    def __init__(self, datasets):
        super().__init__(datasets)
        for i, data in enumerate(datasets[1:]):
            _check.kind(data, Dataset, f"dataset[{i}]")
        self._sampler = None

    def use_sampler(self, sampler):
        """Accept a DistributedSampler without shuffling: this dataset becomes one shard of the whole."""
        from spore.dataset.samplers import DistributedSampler
        if not isinstance(sampler, DistributedSampler):
            raise TypeError(f"The parameter {sampler} of concat must be DistributedSampler!")
        if sampler.shuffle:
            raise ValueError("The parameter shuffle of DistributedSampler must be False!")
        if sampler.num_samples is not None:
            raise ValueError("The parameter num_samples of DistributedSampler is not support to be set!")
        self._sampler, self._pipeline = sampler, None

    def _make(self):
        engines = [child._engine() for child in self.children]
        for other in engines[1:]:
            if list(other.columns) != list(engines[0].columns):
                raise RuntimeError("Invalid columns, 'column name' or 'column order' of concat datasets should be the same: there are "
                                   f"{list(engines[0].columns)} and {list(other.columns)}; rename or project them.")
        whole = _core.pipeline_concat(engines)
        if self._sampler is None:
            return whole
        count, shards, shard = whole.count(), self._sampler.num_shards, self._sampler.shard_id
        if count < 0:
            raise RuntimeError("concat: a shard can only be taken of datasets whose size is known")
        parts = [whole.skip(i).take(1) for i in range(shard, count, shards)]
        return _core.pipeline_concat(parts)

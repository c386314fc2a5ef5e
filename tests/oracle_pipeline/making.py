# SPDX-License-Identifier: Apache-2.0
"""What questions after MindSpore's own tests use: callbacks that write down what they see, and small files for the converters."""
import gzip
import pickle
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent / 'data'))
from tfrecord_files import example, record  # noqa: E402


def watcher(ds):
    """A maker of callbacks: `watch(log, events, step_size)` writes the named events, with the numbers of the context, into the log."""
    def watch(log, events='begin epoch_begin epoch_end step_begin step_end', step_size=1, who=None):
        def event(name):
            def note(self, context):
                log.append([name, context.cur_epoch_num, context.cur_step_num_in_epoch, context.cur_step_num] + ([who] if who else []))
            return note
        return type('Watch', (ds.DSCallback,), {f'ds_{name}': event(name) for name in events.split()})(step_size)
    return watch


def waiter(ds):
    """A maker of callbacks that wait for the training."""
    def wait(log, step_size=1):
        class Wait(ds.WaitedDSCallback):
            def sync_epoch_begin(self, train_run_context, ds_run_context):
                log.append(['ds_epoch', ds_run_context.cur_epoch_num, ds_run_context.cur_step_num])

            def sync_step_begin(self, train_run_context, ds_run_context):
                log.append(['ds_step', ds_run_context.cur_epoch_num, ds_run_context.cur_step_num])
        return Wait(step_size)
    return wait


def trained(ms):
    """`train(data, epochs, log, *callbacks)`: a training that writes down the ends of its steps and epochs."""
    def train(data, epochs, log, *callbacks):
        class Ends(ms.train.Callback):
            def step_end(self, run_context):
                now = run_context.original_args()
                log.append(['ms_step', now.cur_epoch_num, now.cur_step_num])

            def epoch_end(self, run_context):
                now = run_context.original_args()
                log.append(['ms_epoch', now.cur_epoch_num, now.cur_step_num])

        class First(ms.nn.Cell):
            def construct(self, x, y):
                return x
        ms.train.Model(First()).train(epochs, data, dataset_sink_mode=False, callbacks=[Ends(), *callbacks])
        return log
    return train


def mnist_files(folder, train=3, test=2, packed=True):
    """The four files of MNIST with few pictures."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    draw = np.random.RandomState(1)
    for part, n in (('train', train), ('t10k', test)):
        images, labels = draw.randint(0, 256, (n, 28, 28)).astype(np.uint8), (np.arange(n) % 10).astype(np.uint8)
        for name, array in ((f'{part}-images-idx3-ubyte.gz', images), (f'{part}-labels-idx1-ubyte.gz', labels)):
            head = bytes((0, 0, 8, array.ndim)) + b''.join(size.to_bytes(4, 'big') for size in array.shape)
            data = head + array.tobytes()
            Path(folder, name if packed else name[:-3]).write_bytes(gzip.compress(data) if packed else data)
    return folder


def cifar_files(folder, hundred=False, n=4):
    """Batches of CIFAR-10 or CIFAR-100 in their Python version."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    draw = np.random.RandomState(2)
    for name in ('train', 'test') if hundred else ('data_batch_1', 'data_batch_2', 'test_batch'):
        labels = {b'fine_labels': [i % 100 for i in range(n)], b'coarse_labels': [i % 20 for i in range(n)]} if hundred else {b'labels': list(range(n))}
        Path(folder, name).write_bytes(pickle.dumps({b'data': draw.randint(0, 256, (n, 3072)).astype(np.uint8), **labels}, 4))
    return folder


def tf_file(path, rows=6, **more):
    """A TFRecord file of numbers, reals, texts and lists."""
    made = (example(**{'n': [i], 'x': [i / 2], 's': [b't%d' % i], 'v': [i, i + 1, i + 2], 'w': [float(i), 0.5], **more}) for i in range(rows))
    Path(path).write_bytes(b''.join(map(record, made)))
    return str(path)

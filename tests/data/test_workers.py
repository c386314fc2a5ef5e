# SPDX-License-Identifier: Apache-2.0
"""Functions in worker processes: rows, order, failures, and that nothing stays behind, whatever ends them."""
import gc
import glob
import os
import random
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest

from spore import dataset as ds


@pytest.fixture(autouse=True)
def nothing_stays():
    """Every test here leaves no more threads, children, descriptors and shared memory files than it found."""
    before = dict(ds.config._values)
    ds.config.set_seed(7)
    numbers(2).map(same, ['n'], python_multiprocessing=True).create_tuple_iterator(num_epochs=1)    # imports and such
    gc.collect()
    found = belongings()
    yield
    ds.config._values.update(before)
    gc.collect()
    wait_until(lambda: not more_than(found, belongings()))
    assert not more_than(found, belongings())


def belongings():
    threads = os.listdir('/proc/self/task')
    children = {pid for thread in threads for pid in children_of(os.getpid(), thread)}
    return {'threads': len(threads), 'children': children, 'descriptors': len(os.listdir('/proc/self/fd')), 'shared memory': orphans()}


def more_than(before, after):
    """What there is more of: {kind: (before, after)}. Less is no fault: something of an earlier test may have ended meanwhile."""
    return {kind: (before[kind], now) for kind, now in after.items() if not now <= before[kind]}


def orphans():
    """Files of shared memory that no process has open: other tests, which run at the same time, hold theirs or have folders there."""
    with os.scandir('/dev/shm') as entries:
        names = {entry.name for entry in entries if entry.is_file(follow_symlinks=False)}
    for fd in glob.glob('/proc/[0-9]*/fd/*') if names else ():
        try:
            names.discard(os.path.basename(os.readlink(fd).removesuffix(' (deleted)')))
        except OSError:    # it has ended
            pass
    return names


def children_of(pid, thread=None):
    try:
        with open(f'/proc/{pid}/task/{thread or pid}/children', encoding='ascii') as file:
            return file.read().split()
    except FileNotFoundError:
        return []


def wait_until(what, seconds=10):
    until = time.monotonic() + seconds
    while not what() and time.monotonic() < until:
        time.sleep(0.01)
    return what()


def exists(pid):
    """Whether a process lives: one that ended and was not asked for its end does not."""
    try:
        with open(f'/proc/{pid}/stat', encoding='ascii') as file:
            return file.read().rsplit(')', 1)[1].split()[0] != 'Z'
    except FileNotFoundError:
        return False


def numbers(n=20, **kwargs):
    kwargs.setdefault('shuffle', False)
    return ds.NumpySlicesDataset((np.arange(n), np.arange(n * 3, dtype=np.float32).reshape(n, 3)), ['n', 'v'], **kwargs)


def same(x):
    return x


def in_processes(function, n=20, workers=2, columns='n', **kwargs):
    return numbers(n).map(function, columns, num_parallel_workers=workers, python_multiprocessing=True, **kwargs)


def read(data, epochs=1):
    iterator = data.create_tuple_iterator(num_epochs=epochs, output_numpy=True)
    return [[[value.tolist() for value in row] for row in iterator] for _ in range(epochs)]


# --- what they make ---------------------------------------------------------------------------------------------------

@pytest.mark.parametrize('workers', [1, 2, 5])
def test_rows_are_those_of_one_process(workers):
    def function(n, v):
        time.sleep(random.random() * 0.002)     # rows overtake each other
        return n * 2, v[:int(n) % 3], str(n), np.float16(n)
    names = ['a', 'b', 'c', 'd']
    here = numbers(30, shuffle=True).map(function, ['n', 'v'], names)
    there = numbers(30, shuffle=True).map(function, ['n', 'v'], names, num_parallel_workers=workers, python_multiprocessing=True)
    assert read(there, 2) == read(here, 2)


def test_they_are_other_processes():
    pids = {row[0] for row in read(in_processes(lambda n: np.int64(os.getpid()), 40, 3))[0]}
    assert len(pids) == 3 and os.getpid() not in pids


def test_sources_and_batches():
    class Source:
        def __getitem__(self, index):
            return np.full((50, 40), index, np.uint8), f"ü{index}", os.getpid()

        def __len__(self):
            return 17
    rows = ds.GeneratorDataset(Source(), ['image', 'text', 'pid'], num_parallel_workers=2, shuffle=False)
    rows = rows.batch(4, per_batch_map=lambda texts, info: ([f"{t}-{info.get_batch_num()}" for t in texts],),
                      input_columns=['text'], num_parallel_workers=2, python_multiprocessing=True)
    batches = list(rows.create_dict_iterator(num_epochs=1, output_numpy=True))
    assert [len(b['text']) for b in batches] == [4, 4, 4, 4, 1]
    assert batches[1]['text'].tolist() == ['ü4-1', 'ü5-1', 'ü6-1', 'ü7-1']
    assert [int(b['image'][0, 0, 0]) for b in batches] == [0, 4, 8, 12, 16]
    assert not {os.getpid()} & {int(p) for b in batches for p in b['pid']}


def test_rows_may_grow_and_shrink():
    def function(n):
        return np.full(int(10 ** (n % 7)), n)
    for row in in_processes(function, 14).create_tuple_iterator(num_epochs=1, output_numpy=True):
        assert len(row[0]) == 10 ** (row[0][0] % 7) and (row[0] == row[0][0]).all()


def test_random_functions_follow_from_the_row():
    def function(n):
        return np.random.rand() + random.random()
    one, three = read(in_processes(function, workers=1), 2), read(in_processes(function, workers=3), 2)
    assert one == three and one[0] != one[1] and len({row[0] for row in one[0]}) == 20


def test_spawned_processes(tmp_path):
    (tmp_path / 'script.py').write_text(textwrap.dedent("""
        import numpy as np
        from spore import dataset as ds

        def double(n):
            return n * 2

        if __name__ == '__main__':
            ds.config.set_multiprocessing_start_method('spawn')
            rows = ds.NumpySlicesDataset(np.arange(4), ['n'], shuffle=False)
            data = rows.map(double, num_parallel_workers=1, python_multiprocessing=True)
            print([int(row[0]) for row in data.create_tuple_iterator(num_epochs=1, output_numpy=True)])
            try:
                data = rows.map(lambda n: n, num_parallel_workers=1, python_multiprocessing=True)
                list(data.create_tuple_iterator(num_epochs=1))
            except RuntimeError as error:
                print('cannot be sent' in str(error))
    """))
    done = subprocess.run([sys.executable, tmp_path / 'script.py'], capture_output=True, text=True, timeout=120)
    assert done.stdout.split('\n')[:2] == ['[0, 2, 4, 6]', 'True'], done.stderr


# --- failures ---------------------------------------------------------------------------------------------------------

def boom(n):
    if n == 7:
        raise KeyError('seven')
    return n


def test_exceptions_have_their_traceback_and_row():
    with pytest.raises(RuntimeError, match=r"map, row 7 \(row 7 of the source\): KeyError: 'seven'") as caught:
        read(in_processes(boom))
    cause = caught.value.__cause__
    assert isinstance(cause, KeyError) and cause.args == ('seven',)
    assert 'in boom' in str(cause.__cause__) and "raise KeyError('seven')" in str(cause.__cause__)


def test_rows_behind_a_failure_come():
    iterator = in_processes(boom).create_tuple_iterator(num_epochs=1, output_numpy=True)
    seen = []
    for _ in range(20):
        try:
            seen.append(int(next(iterator)[0]))
        except RuntimeError:
            seen.append('failed')
    assert seen == [*range(7), 'failed', *range(8, 20)]


class Odd(Exception):
    """Cannot be pickled: it wants two arguments."""

    def __init__(self, a, b):
        super().__init__(f"{a} {b}")


@pytest.mark.parametrize('what, text', [
    (lambda: os.kill(os.getpid(), signal.SIGKILL), r"worker process \d+ has ended \(killed by SIGKILL\)"),
    (lambda: os._exit(3), r"worker process \d+ has ended \(exit code 3\)"),
    (lambda: sys.exit(5), r"the function called exit\(5\)"),
    (lambda: (_ for _ in ()).throw(Odd('a', 'b')), r"Odd: a b"),
    (lambda: (1, 2), "the number of columns returned in 'map' operations should match"),
    (lambda: object(), "must be an array of numbers or texts"),
])
def test_what_goes_wrong_is_named(what, text):
    def function(n):
        return what() if n == 5 else n
    with pytest.raises(RuntimeError, match=r"map, row 5 .*" + text):
        read(in_processes(function))


def test_all_processes_dead():
    iterator = in_processes(lambda n: os._exit(1)).create_tuple_iterator(num_epochs=1)
    texts = []
    for _ in range(20):
        with pytest.raises(RuntimeError) as caught:
            next(iterator)
        texts.append(str(caught.value))
    assert sum('has ended (exit code 1)' in text for text in texts) == 2
    assert sum('all 2 worker processes have ended' in text for text in texts) == 18


# --- ends -------------------------------------------------------------------------------------------------------------

def test_closed_early_and_garbage():
    for _ in range(3):
        iterator = in_processes(same, 500).create_tuple_iterator()
        next(iterator)
        iterator.release()
    iterator = in_processes(same, 500).create_tuple_iterator()
    next(iterator)
    del iterator


def test_a_hanging_function_can_be_closed():
    iterator = in_processes(lambda n: n if n < 3 else time.sleep(1000)).create_tuple_iterator()
    for _ in range(3):
        next(iterator)
    begin = time.monotonic()
    iterator.release()
    assert time.monotonic() - begin < 5


@pytest.mark.skipif('libtsan' in os.environ.get('LD_PRELOAD', ''), reason="Python's faulthandler changes errno in a signal handler")
def test_the_watchdog_names_the_stage(capfd, caplog):
    ds.config._values['multiprocessing_timeout_interval'] = 0.1

    def slow(n):
        if n == 4:
            time.sleep(0.5)
        return n
    for processes in (True, False):
        read(numbers().map(slow, 'n', num_parallel_workers=2, python_multiprocessing=processes))
        texts = [record.getMessage() for record in caplog.records]   # of others, too, where the machine is busy
        text = next(text for text in texts if 'row 4 ' in text)
        caplog.clear()
        assert 'map has been working on row 4 (row 4 of the source) for' in text
        assert ('in a worker process' in text) == processes
        if processes:
            told = []
            wait_until(lambda: told.append(capfd.readouterr().err) or 'in slow' in ''.join(told))   # its stack, by the watchdog's thread
            assert 'in slow' in ''.join(told) and 'worker process' in ''.join(told)
    ds.config.set_enable_watchdog(False)
    read(in_processes(slow))
    assert not caplog.records


def test_processes_outlive_the_thread_that_started_them():
    made = []
    thread = threading.Thread(target=lambda: made.append(in_processes(same).create_tuple_iterator(num_epochs=1)))
    thread.start()
    thread.join()
    time.sleep(0.05)
    assert len(list(made.pop())) == 20


def test_a_fork_leaves_them_alone():
    iterator = in_processes(same).create_tuple_iterator(num_epochs=1)
    next(iterator)
    pid = os.fork()
    if pid == 0:
        del iterator
        gc.collect()
        os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0
    assert len(list(iterator)) == 19


PROGRAM = """
import os, signal, sys, time
import numpy as np
from spore import dataset as ds

def slow(n):
    time.sleep(0.05 if n < 4 else 1000)
    return n

data = ds.NumpySlicesDataset(np.arange(100), ['n'], shuffle=False)
data = data.map(slow, num_parallel_workers=3, python_multiprocessing=True)
iterator = data.create_tuple_iterator(num_epochs=1)
next(iterator)
print('ready', flush=True)
"""


@pytest.mark.parametrize('how', [signal.SIGKILL, signal.SIGTERM, signal.SIGINT, 'exit', 'raise', 'os._exit', 'thread'])
def test_they_die_with_their_parent(how):
    """However the program ends, in the middle of a row that would take forever."""
    ends = {'exit': 'sys.exit(0)', 'raise': 'raise ValueError', 'os._exit': 'os._exit(0)'}
    program = PROGRAM + ends.get(how, 'for row in iterator: pass\n')
    if how == 'thread':     # the parent's death is seen without its main thread having started them
        program = 'import threading\ndef run():\n' + textwrap.indent(PROGRAM + 'for row in iterator: pass\n', '    ')
        program += '\nthreading.Thread(target=run).start()\n'
    before = orphans()
    done = subprocess.Popen([sys.executable, '-c', program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert done.stdout.readline() == 'ready\n', done.stderr.read()
        workers = [pid for thread in os.listdir(f'/proc/{done.pid}/task') for pid in children_of(done.pid, thread)]
        assert len(workers) == 3 or how in ends
        if how not in ends:
            time.sleep(0.3)     # all three hang now
            done.send_signal(signal.SIGKILL if how == 'thread' else how)
        errors = done.communicate(timeout=20)[1]
    finally:
        done.kill()
    assert wait_until(lambda: not any(exists(pid) for pid in workers)), 'a worker has outlived its parent'
    assert wait_until(lambda: orphans() <= before), orphans() - before
    if how == signal.SIGINT:
        assert 'KeyboardInterrupt' in errors and done.returncode != 0

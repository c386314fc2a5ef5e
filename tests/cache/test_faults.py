# SPDX-License-Identifier: Apache-2.0
"""Servers and clients that are killed, full memories and disks, strangers and nonsense: nothing is lost but the cache, nothing is left behind."""
import gc
import os
import random
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

import pytest
import spore.dataset as ds
from spore import log

from conftest import BUILD, Server, rows, run

TIMES = pytest.mark.parametrize('times', [20, pytest.param(200, marks=pytest.mark.long)])


def pipeline(folder, cache, seconds=0.0):
    """Pictures in their order; a row takes a moment."""
    def slow(image):
        if seconds:
            time.sleep(seconds)
        return image
    return ds.ImageFolderDataset(folder, decode=True, shuffle=False).map(slow, 'image', cache=cache)


def descriptors(pid='self', wanted=None):
    """How many files a process has open; other threads, and clients that are just going, may have some for a moment: the least of many looks, or
    the first that is no more than wanted."""
    least = None
    for _ in range(500 if wanted is not None else 20):
        found = len(os.listdir(f'/proc/{pid}/fd'))
        least = found if least is None else min(least, found)
        if wanted is not None and found <= wanted:
            break
        time.sleep(0.01)
    return least


def settled(server):
    """The server's figures when it has seen that its clients have gone."""
    for _ in range(1000):
        found = server.info()
        if found['clients'] == 0:
            return found
        time.sleep(0.01)
    raise AssertionError("clients stay")


@pytest.fixture(name='said')
def _said(monkeypatch):
    """What the log was told."""
    lines = []
    monkeypatch.setattr(log, 'warning', lambda text, *args, **kwargs: lines.append(str(text) % args if args else str(text)))
    return lines


def lines(said, words, wanted=1):
    """How many lines with these words there are; those that are wanted may come a moment later, from a thread."""
    for _ in range(1000 if wanted else 1):
        found = [line for line in said if words in line]
        if len(found) >= wanted:
            break
        time.sleep(0.01)
    assert all('timeout_interval' not in line for line in found)
    return len(found)


def forked(work):
    """A child of this process that does some work and leaves."""
    child = os.fork()
    if child == 0:
        try:
            work()
        finally:
            os._exit(0)
    return child


# --- the server is killed -----------------------------------------------------------------------------------------------------

@TIMES
def test_a_killed_server(photos, tmp_path, said, times):
    """While rows are written, spilled and read: the rows are right, one line says it, a new server starts on the same port, nothing is in the folder."""
    wanted = rows(pipeline(photos, None))[0]
    options = ['--spill', tmp_path, '--memory', '1M']
    server = Server(*options)
    before = descriptors()
    for round_ in range(times):
        del said[:]
        cache = ds.DatasetCache(server.session(), spilling=round_ % 2 == 1, port=server.port)
        data = pipeline(photos, cache)
        iterator = data.create_tuple_iterator(num_epochs=3, output_numpy=True)
        at, found = random.Random(round_).randrange(3 * len(wanted)), []
        for _ in range(3):
            for row in iterator:
                if len(found) == at:
                    server.kill()
                found.append(tuple((a.dtype.str, a.shape, a.tobytes()) for a in row))
        assert found == wanted * 3
        assert lines(said, 'has gone', 0) <= 1
        del iterator, data, cache
        again = run('cache', 'start', '--port', server.port, *options)
        assert again.returncode == 0, again.stderr
        server.pid = int(again.stdout.split()[-1])
        assert os.listdir(tmp_path) == []
    server.stop()
    assert descriptors('self', before) <= before


def test_a_lost_server_is_told_once_and_may_be_an_error(servers, pictures, said):
    server = servers()
    session = server.session()
    data = pipeline(pictures, ds.DatasetCache(session, port=server.port))
    strict = pipeline(pictures, ds.DatasetCache(session, port=server.port, on_lost='fail'), 0.001)
    iterators = [d.create_tuple_iterator(num_epochs=20, output_numpy=True) for d in (data, strict)]
    next(iterators[0])
    next(iterators[1])
    server.kill()
    for _ in range(10):
        for _ in iterators[0]:
            pass
    assert lines(said, 'has gone: rows that it does not have yet are made anew') == 1
    with pytest.raises(RuntimeError, match="on_lost='fail'"):
        for _ in range(20):
            for _ in iterators[1]:
                pass


@pytest.mark.parametrize('number', [signal.SIGTERM, signal.SIGINT])
def test_signals_end_a_server(servers, number):
    server = servers()
    server.session()
    server.kill(number)
    assert server.ask('info').returncode == 1


# --- clients are killed ---------------------------------------------------------------------------------------------------------

@TIMES
def test_killed_clients(servers, photos, tmp_path, times):
    """What they finished stays, what they did not is free, and their connections and claims are gone."""
    wanted = rows(pipeline(photos, None, 1e-9))
    server = servers('--spill', tmp_path, '--memory', '1M')
    ours, theirs = descriptors(), descriptors(server.pid)
    for round_ in range(times):
        session, spill = server.session(), round_ % 2 == 1

        def work(session=session, spill=spill):
            cache = ds.DatasetCache(session, spilling=spill, port=server.port)
            for _ in range(100):
                rows(pipeline(photos, cache, 0.0005))
        children = [forked(work) for _ in range(1 + round_ % 2)]
        time.sleep(random.Random(round_).uniform(0, 0.03))
        for child in children:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
        settled(server)
        cache = ds.DatasetCache(session, spilling=spill, port=server.port)
        assert rows(pipeline(photos, cache, 0.0005)) == rows(pipeline(photos, cache, 0.0005)) == wanted
        stat = cache.get_stat()
        assert stat.num_mem_cached + stat.num_disk_cached == 12 if spill else 4 < stat.num_mem_cached < 12
        server.destroy(session)
    left = settled(server)
    assert left['bytes'] == 0 and left['bytes_on_disk'] == 0 and left['sessions'] == 0
    assert descriptors('self', ours) <= ours and descriptors(server.pid, theirs) <= theirs and os.listdir(tmp_path) == []


@TIMES
def test_both_are_killed(photos, tmp_path, times):
    server = Server('--spill', tmp_path, '--memory', '1M')
    for round_ in range(times):
        session = server.session()
        child = forked(lambda session=session: rows(pipeline(photos, ds.DatasetCache(session, spilling=True, port=server.port), 0.0005), 50))
        time.sleep(random.Random(round_).uniform(0, 0.03))
        for pid in random.Random(round_).sample([child, server.pid], 2):
            os.kill(pid, signal.SIGKILL)
        os.waitpid(child, 0)
        for _ in range(500):
            again = run('cache', 'start', '--port', server.port, '--spill', tmp_path, '--memory', '1M')
            if again.returncode == 0:
                break
            time.sleep(0.01)    # a process that was killed may take a moment to be gone
        assert again.returncode == 0, again.stderr
        server.pid = int(again.stdout.split()[-1])
        assert os.listdir(tmp_path) == []
    server.stop()


# --- limits -----------------------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize('limits', [dict(memory='1M', size=0), dict(memory='64M', size=1)])
@pytest.mark.parametrize('spill', [False, True])
def test_the_cap_is_hard(servers, tmp_path, said, limits, spill):
    """Lines of 200 kB: a few fit."""
    path = tmp_path / 'lines.txt'
    path.write_text('\n'.join(chr(97 + i) * 50000 for i in range(24)), encoding='utf-8')
    (tmp_path / 'spill').mkdir()
    server = servers('--memory', limits['memory'], '--spill', tmp_path / 'spill')
    cache = ds.DatasetCache(server.session(), size=limits['size'], spilling=spill, port=server.port)
    data = ds.TextFileDataset(str(path), shuffle=False)
    wanted = rows(data)
    kept = ds.TextFileDataset(str(path), shuffle=False, cache=cache)
    for _ in range(3):
        assert rows(kept) == wanted
    stat, found = cache.get_stat(), server.info()
    assert found['bytes'] <= 1 << 20 and stat.num_mem_cached in (4, 5)
    assert stat.num_disk_cached == (24 - stat.num_mem_cached if spill else 0)
    assert lines(said, 'the cache is full', 0 if spill else 1) == (0 if spill else 1)
    assert os.listdir(tmp_path / 'spill') == []


@pytest.mark.parametrize('how', ['limit', 'disk'])
def test_a_full_disk(servers, tmp_path, said, how):
    import resource
    path = tmp_path / 'lines.txt'
    path.write_text('\n'.join(chr(97 + i) * 50000 for i in range(24)), encoding='utf-8')
    (tmp_path / 'spill').mkdir()
    size = 2 << 20
    more = dict(preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))) if how == 'disk' else {}
    server = servers('--memory', '1M', '--spill', tmp_path / 'spill', *(['--spill-limit', '2M'] if how == 'limit' else []), **more)
    cache = ds.DatasetCache(server.session(), spilling=True, port=server.port)
    wanted = rows(ds.TextFileDataset(str(path), shuffle=False))
    for _ in range(3):
        assert rows(ds.TextFileDataset(str(path), shuffle=False, cache=cache)) == wanted
    stat = cache.get_stat()
    assert 0 < stat.num_disk_cached < 24 - stat.num_mem_cached and server.info()['bytes_on_disk'] <= size
    assert lines(said, 'the cache is full') == 1


def test_a_dropped_cache_is_read_to_the_end(servers, pictures, said):
    server = servers()
    session = server.session()
    data = pipeline(pictures, ds.DatasetCache(session, port=server.port))
    wanted = rows(pipeline(pictures, None))[0]
    iterator = data.create_tuple_iterator(num_epochs=2, output_numpy=True)
    assert sum(1 for _ in iterator) == 24
    held = server.info()['bytes']
    assert held > 0 and server.destroy(session) == 0
    assert [tuple((a.dtype.str, a.shape, a.tobytes()) for a in row) for row in iterator] == wanted
    del iterator
    with pytest.raises(RuntimeError, match='not found'):
        rows(data)
    assert settled(server)['bytes'] == 0


# --- strangers, nonsense --------------------------------------------------------------------------------------------------------------

def name_of(server):
    return f'\0spore-cache-{os.geteuid()}-{server.port}'


def raw(server):
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.connect(name_of(server))      # waits, where it would fail with a time limit
    s.settimeout(60)
    return s


def by_another(script):
    """Python in the hands of another user."""
    for python in ('/usr/bin/python3', sys.executable):
        try:
            return subprocess.Popen([python, '-I', '-S', '-c', script], user=65534, group=65534, extra_groups=[], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd='/')
        except OSError:
            continue
    pytest.skip("another user can run no Python")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be another user")
def test_another_user_is_refused(servers, pictures):
    server = servers()
    script = f'''import socket, struct
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
s.connect({name_of(server)!r})
print(struct.unpack_from('II', s.recv(100))[1])
'''
    done = by_another(script)
    done.stdin.close()
    assert done.stdout.read().strip() == '6'      # SP_CACHE_OTHER_USER
    assert server.ask('info').returncode == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be another user")
def test_a_stranger_behind_the_name_is_not_trusted():
    port = random.randint(5000, 9999)
    script = f'''import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
s.bind('\\0spore-cache-0-{port}')
s.listen()
print('ready', flush=True)
sys.stdin.read()
'''
    other = by_another(script)
    assert other.stdout.readline() == 'ready\n'
    done = run('cache', 'info', '--port', port)
    other.communicate('')
    assert done.returncode == 1 and 'belongs to another user' in done.stderr


def test_nonsense_ends_its_connection_alone(servers, pictures):
    server = servers('--memory', '64M')
    session, draw = server.session(), random.Random(1)
    cache = ds.DatasetCache(session, port=server.port)
    wanted = rows(pipeline(pictures, cache))
    settled(server)
    before = descriptors(server.pid)
    for _ in range(300):
        with raw(server) as s:
            for _ in range(3):
                head = struct.pack('II', 0x53504331 if draw.random() < 0.9 else draw.getrandbits(32), draw.randrange(5, 14) if draw.random() < 0.95 else draw.getrandbits(32))
                if head[4] == 5:
                    continue        # a good request to stop
                numbers = [draw.choice([0, 1, 7, 24, 1 << 20, 1 << 40, 1 << 63, (1 << 64) - 1, draw.getrandbits(64)]) for _ in range(3)]
                packet = head + struct.pack('II3Q', draw.choice([0, session]), draw.getrandbits(32), *numbers) + bytes(draw.getrandbits(8) for _ in range(32))
                try:
                    s.send(packet[:draw.choice([72, 72, 72, 71, 5])] + b'x' * draw.choice([0, 0, 0, 1, 400]))
                except OSError:
                    break
    assert rows(pipeline(pictures, cache)) == wanted
    settled(server)
    assert descriptors(server.pid, before) <= before


def test_many_connections(servers):
    server = servers()
    held = [raw(server) for _ in range(200)]
    assert server.info()['clients'] == 200
    for s in held:
        s.close()
    assert settled(server)['clients'] == 0


@TIMES
def test_two_servers_on_a_port(times):
    for _ in range(times if times > 20 else 5):
        port = random.randint(10000, 15000)
        both = [subprocess.Popen([os.path.join(BUILD, 'spore'), 'cache', 'start', '--port', str(port)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(2)]
        ended = [(*one.communicate(timeout=60), one.returncode) for one in both]
        assert sorted(code for _, _, code in ended) == [0, 1], ended
        assert 'already up and running' in ''.join(err for _, err, _ in ended)
        assert run('cache', 'stop', '--port', port).returncode == 0


def left(ports):
    """What is left of servers on these ports: processes, sockets; and files with our name in shared memory and in the folder for files that come and go."""
    ports, processes = {str(p) for p in ports}, set()
    for pid in filter(str.isdigit, os.listdir('/proc')):
        try:
            with open(f'/proc/{pid}/cmdline', 'rb') as file:
                words = file.read().split(b'\0')
        except OSError:
            continue
        if b'cache' in words and ports & {w.decode(errors='replace') for w in words}:
            processes.add(pid)
    with open('/proc/net/unix', encoding='utf-8') as file:
        sockets = {line.split()[-1] for line in file if 'spore-cache-' in line and line.split()[-1].rpartition('-')[2] in ports}
    files = {n for folder in ('/dev/shm', tempfile.gettempdir()) for n in os.listdir(folder) if 'spore' in n and 'cache' in n}
    return processes, sockets, files


@pytest.mark.parametrize('fault', ['memory', 'disk', 'files', 'nonsense', 'stranger', 'server', 'client', 'both'])
@pytest.mark.parametrize('times', [2, pytest.param(200, marks=pytest.mark.long)])
def test_no_fault_leaves_anything(tmp_path, said, fault, times):
    """Memory and disk that are full, a limit of files, nonsense, another user, and what ends with kill -9: the server, a client, or both, while rows
    are written, spilled or read. Rows are right each time."""
    import resource
    path = tmp_path / 'lines.txt'
    path.write_text('\n'.join(chr(97 + i) * 50000 for i in range(24)), encoding='utf-8')
    spill = tmp_path / 'spill'
    spill.mkdir()

    def data(cache):
        return ds.TextFileDataset(str(path), shuffle=False, cache=cache)

    wanted = rows(data(None))
    gc.collect()
    before, open_before, ports = left([]), descriptors(), []
    draw = random.Random(7)
    for round_ in range(times):
        more = dict(preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (2 << 20, 2 << 20))) if fault == 'disk' else {}
        if fault == 'files':
            more = dict(preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (14, 14)))
        server = Server('--memory', '1M', *([] if fault == 'memory' else ['--spill', spill]), **more)
        ports.append(server.port)
        alive = True
        try:
            assert left([server.port])[:2] != (set(), set())
            cache = ds.DatasetCache(server.session(), spilling=fault != 'memory', port=server.port)
            if fault in ('client', 'both'):
                child = forked(lambda cache=cache: [rows(data(cache)) for _ in range(1000)])
                time.sleep(draw.random() * 0.1)
                if fault == 'both':
                    server.kill()
                    alive = False
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
            if fault == 'server':
                iterator, found = data(cache).create_tuple_iterator(num_epochs=2, output_numpy=True), []
                at = draw.randrange(48)
                for _ in range(2):
                    for row in iterator:
                        if len(found) == at:
                            server.kill()
                            alive = False
                        found.append(tuple((a.dtype.str, a.shape, a.tobytes()) for a in row))
                assert found == wanted[0] * 2
                del iterator
            elif fault == 'nonsense':
                with raw(server) as s:
                    s.send(draw.randbytes(draw.randrange(1, 200)))
            elif fault == 'stranger' and os.geteuid() == 0:
                other = by_another(f"import socket\ns = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)\ns.connect({name_of(server)!r})\nprint(len(s.recv(100)) > 0)\n")
                assert other.communicate('')[0] == 'True\n'
            if fault not in ('server', 'both'):
                assert [rows(data(cache)) for _ in range(2)] == [wanted] * 2, (round_, fault)
            del cache
        finally:
            if alive:
                server.stop()
        assert os.listdir(spill) == [], (round_, fault)
    del said[:]
    gc.collect()
    until = time.monotonic() + 10
    while left(ports) != before and time.monotonic() < until:
        time.sleep(0.1)
    assert left(ports) == before
    assert descriptors('self', open_before) <= open_before

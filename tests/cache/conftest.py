# SPDX-License-Identifier: Apache-2.0
"""A cache server for a test, on a port of its own; and small data sets."""
import os
import random
import signal
import socket
import struct
import subprocess
import time

import numpy as np
import pytest

BUILD = os.environ.get('SPORE_BUILD', os.path.join(os.path.dirname(__file__), '..', '..', 'build'))
SPORE = os.path.join(BUILD, 'spore')


def run(*words, name='spore', **kwargs):
    """The command with these words, under one of its names."""
    return subprocess.run([os.path.join(BUILD, name), *map(str, words)], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=120, check=False, **kwargs)


class Server:
    """A server that is started, asked, killed."""

    def __init__(self, *options, **kwargs):
        self.options, self.kwargs, self.pid = options, kwargs, None
        self.start()

    def start(self):
        """On any port that nobody has."""
        for _ in range(50):
            self.port = random.randint(20000, 60000)
            done = run('cache', 'start', '--port', self.port, *self.options, **self.kwargs)
            if done.returncode == 0:
                self.pid = int(done.stdout.split()[-1])
                return self
            assert 'already up and running' in done.stderr, done.stderr
        raise AssertionError("no free port")

    def ask(self, *words):
        """What `spore cache` says to these words."""
        return run('cache', words[0], '--port', self.port, *words[1:])

    def packet(self, kind, session=0):
        """The answer to a request of the protocol (src/cache/cache.h): its number, and what follows. Quicker than a command."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as s:
            s.connect(f'\0spore-cache-{os.geteuid()}-{self.port}')       # waits, where it would fail with a time limit
            s.settimeout(60)
            s.send(struct.pack('IIII3Q32x', 0x53504331, kind, session, 0, 0, 0, 0))
            answer = s.recv(1 << 16)
        version, code, number, _, _ = struct.unpack_from('II3Q', answer)
        assert version == 0x53504331
        return code, number, answer[32:]

    def session(self):
        """A new one."""
        return self.packet(0)[1]

    def destroy(self, session):
        """It, and its caches."""
        return self.packet(1, session)[0]

    def info(self):
        """Clients besides the one that asks, sessions, bytes in memory and on disk."""
        names = ('process', 'workers', 'level', 'clients', 'sessions', 'most_bytes', 'bytes', 'bytes_on_disk')
        return dict(zip(names, struct.unpack_from('q4i3Q', self.packet(4)[2])))

    def kill(self, number=signal.SIGKILL):
        """End it, and wait for that: it is no child of ours."""
        os.kill(self.pid, number)
        for _ in range(1000):
            if not os.path.exists(f'/proc/{self.pid}') or open(f'/proc/{self.pid}/stat', encoding='utf-8').read().split(') ')[1][0] in 'ZX':
                return
            time.sleep(0.01)
        raise AssertionError("the server does not end")

    def stop(self):
        """If it is there."""
        if os.path.exists(f'/proc/{self.pid}'):
            run('cache', 'stop', '--port', self.port)


@pytest.fixture
def servers():
    """Makes servers, which end with the test."""
    made = []

    def make(*options, **kwargs):
        made.append(Server(*options, **kwargs))
        return made[-1]
    yield make
    for server in made:
        server.stop()


@pytest.fixture(scope='session')
def shared():
    """One server for tests that do nothing to it but use it."""
    server = Server('--memory', '256M')
    yield server
    server.stop()


@pytest.fixture(scope='session')
def pictures(tmp_path_factory):
    """A folder of two classes with 12 small pictures each."""
    from spore.dataset import vision
    folder, rng = tmp_path_factory.mktemp('pictures'), np.random.default_rng(0)
    for name in 'ab':
        (folder / name).mkdir()
        for i in range(12):
            vision.write_png(str(folder / name / f'{i:02}.png'), rng.integers(0, 256, (10 + i, 12, 3), dtype=np.uint8))
    return str(folder)


@pytest.fixture(scope='session')
def photos(tmp_path_factory):
    """Pictures that do not all fit into a megabyte: 12 of 150 kB."""
    from spore.dataset import vision
    folder, rng = tmp_path_factory.mktemp('photos'), np.random.default_rng(1)
    (folder / 'a').mkdir()
    for i in range(12):
        vision.write_jpeg(str(folder / 'a' / f'{i:02}.jpg'), rng.integers(0, 256, (200, 250, 3), dtype=np.uint8))
    return str(folder)


def rows(data, epochs=1):
    """All rows of some epochs, as bytes with their types and shapes."""
    iterator = data.create_tuple_iterator(num_epochs=epochs, output_numpy=True)
    return [[tuple((a.dtype.str, a.shape, a.tobytes()) for a in row) for row in iterator] for _ in range(epochs)]

# SPDX-License-Identifier: Apache-2.0
"""A process that runs the methods of a servable: `python -m spore.run -m spore.serving._worker '{"directory": ...}'`.

Requests come over a Unix socket from the server in C (src/serve/servable.h has the frames), a thread a connection; one thread runs methods, and joins instances of requests
that wait for the same one. It ends when its parent does."""
import collections
import importlib
import json
import os
import socket
import struct
import sys
import threading
import traceback

from spore.serving import _methods, _pipelines, _values
from spore.serving._values import RequestError, field

INVALID, SYSTEM = 2, 3


def _read(connection, n):
    data = bytearray(n)
    view, at = memoryview(data), 0
    while at < n:
        got = connection.recv_into(view[at:])
        if got == 0:
            raise EOFError
        at += got
    return data


class _Request:
    def __init__(self, method, instances):
        self.method, self.instances, self.results, self.done = method, instances, None, threading.Event()


class _Runner:
    """The one thread that runs methods."""

    def __init__(self):
        self._waiting, self._more = collections.deque(), threading.Condition()

    def submit(self, method, instances):
        request = _Request(method, instances)
        with self._more:
            self._waiting.append(request)
            self._more.notify()
        request.done.wait()
        return request.results

    def _take(self):
        with self._more:
            while not self._waiting:
                self._more.wait()
            first = self._waiting.popleft()
            taken, n, most = [first], len(first.instances), _methods.REGISTRY.batch_size()
            for other in [r for r in self._waiting if r.method is first.method]:
                if n + len(other.instances) > most:
                    break
                self._waiting.remove(other)
                taken.append(other)
                n += len(other.instances)
            return taken

    def run(self):
        while True:
            taken = self._take()
            try:
                results = _methods.run_method(taken[0].method, [i for r in taken for i in r.instances])
            except BaseException as error:      # no request is left without an answer
                traceback.print_exc()
                results = [f'Predict Failed, system error: {error}'] * sum(len(r.instances) for r in taken)
            at = 0
            for request in taken:
                request.results = results[at:at + len(request.instances)]
                at += len(request.instances)
                request.done.set()


class _Worker:
    def __init__(self, config):
        self.name, self.version = config['name'], config['version']
        self.runner = _Runner()
        here = _pipelines.HERE
        here.name, here.version, here.routes, here.submit = self.name, self.version, config['routes'], self.runner.submit

    def method(self, name):
        method = _methods.REGISTRY.methods.get(name)
        if method is None:
            raise KeyError(f"method is not available: servable '{self.name}' has no method '{name}'; it has {', '.join(_methods.REGISTRY.methods)}")
        return method

    def rest(self, name, body):
        """(HTTP status, body)"""
        try:
            method = self.method(name)
            instances = _values.read_json(body)
            results = self.predict(method, instances)
        except KeyError as error:
            return 404, {'error_msg': error.args[0]}
        except (RequestError, UnicodeDecodeError) as error:
            return 400, {'error_msg': str(error)}
        failures = {r for r in results if isinstance(r, str)}
        if len(failures) == 1 and all(isinstance(r, str) for r in results):
            return 400, {'error_msg': failures.pop()}
        return 200, {'instances': [{'error_msg': r} if isinstance(r, str) else {k: _values.to_json(v) for k, v in r.items()} for r in results]}

    def predict(self, method, instances):
        """Results; instances that lack an input fail alone, but for pipelines, whose whole request fails."""
        results, good = [None] * len(instances), []
        pipeline = isinstance(method, _pipelines.Pipeline)
        for i, instance in enumerate(instances):
            try:
                if isinstance(instance, RequestError):
                    raise instance
                _methods.check_inputs(method, instance)
                good.append(i)
            except RequestError as error:
                if pipeline:
                    raise
                results[i] = str(error)
        if good:
            whole = [instances[i] for i in good]
            for i, result in zip(good, _pipelines.run(method, whole) if pipeline else self.runner.submit(method, whole)):
                results[i] = result
        return results

    def grpc(self, name, body, by_place=False):
        """The reply message: errors are in it."""
        def error(code, text):
            return field(4, field(1, code) + field(2, text))
        try:
            method = self.method(name)
            instances = []
            for number, value in _values.fields(memoryview(body)):
                if number == 2:
                    try:
                        instances.append(_values.read_instance(value))
                    except RequestError as fault:
                        instances.append(fault)
            if not instances:
                raise RequestError('there are no instances')
            if by_place:
                instances = [_pipelines.by_place(method, instance) for instance in instances]
            results = self.predict(method, instances)
            written = []
            for i, result in enumerate(results):
                try:
                    written.append(field(3, b'' if isinstance(result, str) else _values.write_instance(result)))
                except RequestError as fault:
                    results[i] = str(fault)
                    written.append(field(3, b''))
        except KeyError as fault:
            return error(5, fault.args[0])
        except (RequestError, UnicodeDecodeError) as fault:
            return error(INVALID, str(fault))
        failures = [r for r in results if isinstance(r, str)]
        if len(failures) == len(results) and len(set(failures)) == 1:
            return error(1, failures[0])
        spec = field(1, field(1, self.name) + field(2, name) + field(3, self.version))
        errors = b''.join(error(1, r) if isinstance(r, str) else error(0, '') for r in results) if failures else b''
        return spec + b''.join(written) + errors

    def serve(self, connection):
        try:
            while True:
                head = _read(connection, 24)
                name_bytes, _, body_bytes = struct.unpack_from('<IIQ', head, 8)
                name = _read(connection, name_bytes).decode()
                body = bytes(_read(connection, body_bytes))
                if head[4]:
                    status, reply = 200, self.grpc(name, body, head[4] == _pipelines.BY_PLACE)
                else:
                    status, reply = self.rest(name, body)
                    reply = json.dumps(reply, ensure_ascii=False).encode()
                connection.sendall(b'SPR1' + struct.pack('<IQ', status, len(reply)) + reply)
        except (EOFError, OSError):
            pass
        finally:
            connection.close()


def _die_with_parent(fd):
    """The other end of this pipe is the parent's alone: it ends with it."""
    def watch():
        while os.read(fd, 1):
            pass
        os._exit(0)
    threading.Thread(target=watch, daemon=True).start()


def _load(config):
    sys.path.insert(0, config['directory'])
    os.environ['SERVING_DEVICE_ID'] = str(config['device'])
    importlib.import_module(f"{config['name']}.servable_config")
    if not _methods.REGISTRY.methods:
        raise RuntimeError(f"{config['name']}/servable_config.py registers no method")
    key = bytes.fromhex(config['key']) if config.get('key') else None
    folder = os.path.join(config['directory'], config['name'], config['folder'])
    for model in _methods.REGISTRY.models:
        model._load(folder, key, config.get('mode'))


def main():
    config = json.loads(sys.stdin.readline())
    _die_with_parent(config['alive'])
    told = os.fdopen(config['tell'], 'w')
    try:
        _load(config)
        listener = socket.socket(socket.AF_UNIX)
        if os.path.exists(config['socket']):
            os.unlink(config['socket'])
        listener.bind(config['socket'])
        listener.listen(128)
    except BaseException as error:
        traceback.print_exc()
        json.dump({'error': f'{type(error).__name__}: {error}'}, told)
        told.close()
        sys.exit(1)
    worker = _Worker(config)
    json.dump({'ready': True, 'batch_size': _methods.REGISTRY.batch_size(), 'methods': list(_methods.REGISTRY.methods)}, told)
    told.close()
    threading.Thread(target=worker.runner.run, daemon=True).start()
    while True:
        connection, _ = listener.accept()
        threading.Thread(target=worker.serve, args=(connection,), daemon=True).start()


if __name__ == '__main__':
    main()

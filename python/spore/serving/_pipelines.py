# SPDX-License-Identifier: Apache-2.0
"""Pipelines: functions that are run for one instance at a time and call methods of servables, this one's or others', as often and in whatever order they like.

They run in the thread of the connection that asks, not in the one that runs methods, which they wait for. Methods of other servables, and of other versions, are asked at their
processes' sockets, in the frames of src/serve/servable.h."""
import inspect
import json
import os
import socket
import struct

from spore.serving import _methods, _values
from spore.serving._values import RequestError, field


BY_PLACE = 2    # the protocol of frames between these processes: gRPC's messages, with inputs called '0', '1', ...


class Pipeline:
    """A function and the names of what goes in and comes out."""

    def __init__(self, fn, input_names, output_names):
        self.fn, self.name, self.input_names, self.output_names = fn, fn.__name__, input_names, output_names


class _Here:
    """The process that this is: set by the worker, None while servable_config.py is read."""
    name = version = routes = submit = None


HERE = _Here()


def declare(fn, output_names):
    names = []
    for parameter in inspect.signature(fn).parameters.values():
        if parameter.kind is not parameter.POSITIONAL_OR_KEYWORD:
            raise RuntimeError(f"pipeline '{fn.__name__}': its inputs are named parameters; '{parameter.name}' is none")
        names.append(parameter.name)
    if fn.__name__ in _methods.REGISTRY.methods:
        raise RuntimeError(f"'{fn.__name__}' is registered already")
    _methods.REGISTRY.methods[fn.__name__] = Pipeline(fn, names, list(output_names))


def run(pipeline, instances):
    """[outputs by name, or a text that says why it failed] of instances whose inputs are all there."""
    results = []
    for instance in instances:
        try:
            given = pipeline.fn(*(_methods._as_seen(instance[name]) for name in pipeline.input_names))
            given = given if isinstance(given, (tuple, list)) else (given,)
            if len(given) != len(pipeline.output_names):
                raise RuntimeError(f"it gave {len(given)} values, but has the output names {pipeline.output_names}")
            results.append(dict(zip(pipeline.output_names, (_methods._plain(value) for value in given))))
        except Exception as error:
            results.append(f'Pipeline Failed, pipeline {pipeline.name}, error msg: {error}')
    return results


class _Connection:
    """One request to another process, and its reply."""

    def __init__(self, path):
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.connect(path)

    def ask(self, method, message):
        name = method.encode()
        with self._socket as s:
            s.sendall(b'SPS1' + struct.pack('<BxxxIIQ', BY_PLACE, len(name), 0, len(message)) + name + message)
            with s.makefile('rb') as stream:
                head = stream.read(16)
                body = stream.read(struct.unpack_from('<Q', head, 8)[0]) if len(head) == 16 else b''
        if len(head) != 16:
            raise RuntimeError('servable is not available: its process has gone')
        return body


class PipelineServable:
    """A method that pipelines call: `PipelineServable("nets", "classify").run(x)`.

    Args:
        servable_name (str): The servable, this one or another that is started with it.
        method (str): Its method.
        version_number (int): Its version; 0 for the highest that runs.
    """

    def __init__(self, servable_name, method, version_number=0):
        for name, value in (('servable_name', servable_name), ('method', method)):
            if not isinstance(value, str) or not value:
                raise RuntimeError(f"Parameter '{name}' should be str, and not empty, but actually {value!r}")
        if not isinstance(version_number, int) or isinstance(version_number, bool) or version_number < 0:
            raise RuntimeError(f"Parameter 'version_number' should be >= 0, but actually {version_number!r}")
        self._name, self._method, self._version, self._turn = servable_name, method, version_number, 0

    def run(self, *args):
        """Run it.

        Args:
            args: The method's inputs for one instance; or one list, whose values are the one input of an instance each.

        Returns:
            The output, or a tuple of outputs; of a list, a list of tuples.
        """
        many = len(args) == 1 and isinstance(args[0], list)
        instances = [tuple(_methods._plain(v) for v in instance) for instance in ([(v,) for v in args[0]] if many else [args])]
        results = self._results(instances)
        failed = [r for r in results if isinstance(r, str)]
        if failed:
            raise RuntimeError(failed[0])
        return results if many else results[0][0] if len(results[0]) == 1 else results[0]

    def _results(self, instances):
        if HERE.submit is None:
            raise RuntimeError('PipelineServable.run is called by pipelines, while requests are answered')
        with open(HERE.routes, encoding='utf-8') as file:
            places = [p for p in json.load(file) if p['name'] == self._name and self._version in (0, p['version'])]
        if not places:
            raise RuntimeError(f"servable is not available: no servable '{self._name}'{f' version {self._version}' if self._version else ''} was started")
        highest = max(p['version'] for p in places)
        if (self._name, highest) == (HERE.name, HERE.version):
            return self._here(instances)
        paths = [p['socket'] for p in places if p['version'] == highest]
        self._turn += 1
        for i in range(len(paths)):
            try:
                connection = _Connection(paths[(self._turn + i) % len(paths)])
            except OSError:
                continue
            return self._elsewhere(connection, instances)
        raise RuntimeError(f"servable is not available: no process of '{self._name}' answers")

    def _named(self, method_names, instance):
        if len(instance) != len(method_names):
            raise RuntimeError(f"method {self._method} has {len(method_names)} inputs, {', '.join(method_names)}, but {len(instance)} were given")
        return dict(zip(method_names, instance))

    def _here(self, instances):
        method = _methods.REGISTRY.methods.get(self._method)
        if method is None:
            raise RuntimeError(f"method is not available: servable '{self._name}' has no method '{self._method}'")
        named = [self._named(method.input_names, instance) for instance in instances]
        results = run(method, named) if isinstance(method, Pipeline) else HERE.submit(method, named)
        return [r if isinstance(r, str) else tuple(_methods._as_seen(r[name]) for name in method.output_names) for r in results]

    def _elsewhere(self, connection, instances):
        """The names of its inputs are known there: they are sent by their places."""
        message = field(1, field(1, self._name) + field(2, self._method))
        message += b''.join(field(2, _values.write_instance({str(i): v for i, v in enumerate(instance)})) for instance in instances)
        outputs, errors = [], []
        for number, value in _values.fields(memoryview(connection.ask(self._method, message))):
            if number == 3:
                outputs.append(tuple(_values.read_instance(value).values()))
            elif number == 4:
                pair = dict(_values.fields(value))
                errors.append(bytes(pair.get(2, b'')).decode(errors='replace') if pair.get(1) else None)
        if len(errors) == 1 and len(outputs) != 1:
            raise RuntimeError(errors[0])
        return [errors[i] if errors and errors[i] else output for i, output in enumerate(outputs)]


def by_place(method, instance):
    """An instance of _elsewhere with the method's names."""
    if isinstance(instance, RequestError):
        return instance
    if len(instance) != len(method.input_names):
        return RequestError(f"method {method.name} has {len(method.input_names)} inputs, {', '.join(method.input_names)}, but {len(instance)} were given")
    return {name: instance[str(i)] for i, name in enumerate(method.input_names)}


def write_routes(path, places):
    """Where the processes of all servables listen; replaced as a whole, for those that read it meanwhile."""
    new = path + '.new'
    with open(new, 'w', encoding='utf-8') as file:
        json.dump(places, file)
    os.replace(new, path)

# SPDX-License-Identifier: Apache-2.0
"""A client of servables: `Client(address, servable, method).infer(instances)`.

With grpcio installed it speaks gRPC; without, gRPC-Web over HTTP/1.1, which spore's servers understand."""
import http.client
import socket
import ssl
import struct
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from spore._core import type_name as _type_name
from spore.serving import _values
from spore.serving._values import field

__all__ = ['Client', 'SSLConfig']

_PATH = '/mindspore.serving.proto.MSService/Predict'
_LIMIT = 512 << 20
_NAMES = ('OK', 'CANCELLED', 'UNKNOWN', 'INVALID_ARGUMENT', 'DEADLINE_EXCEEDED', 'NOT_FOUND', 'ALREADY_EXISTS', 'PERMISSION_DENIED', 'RESOURCE_EXHAUSTED', 'FAILED_PRECONDITION',
          'ABORTED', 'OUT_OF_RANGE', 'UNIMPLEMENTED', 'INTERNAL', 'UNAVAILABLE', 'DATA_LOSS', 'UNAUTHENTICATED')


class SSLConfig:
    """Files (PEM) that a client trusts a server by, and shows itself with.

    Args:
        certificate (str): The client's certificate; with `private_key`.
        private_key (str): Its key.
        custom_ca (str): Authorities of servers; None for those of the system.
    """

    def __init__(self, certificate=None, private_key=None, custom_ca=None):
        if (certificate is None) != (private_key is None):
            raise RuntimeError('certificate and private_key are given together')
        self.certificate, self.private_key, self.custom_ca = certificate, private_key, custom_ca


class _RpcError(Exception):
    def __init__(self, code, details):
        super().__init__(f'{code} {details}')
        self.pair, self.details = (code, _NAMES[code].lower().replace('_', ' ') if code < len(_NAMES) else 'unknown'), details


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__('localhost')
        self._path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(self._path)


class _Web:
    """gRPC-Web: a request on a connection of its own."""

    def __init__(self, address, ssl_config):
        self._address, self._context = address, None
        if ssl_config is not None:
            self._context = ssl.create_default_context(cafile=ssl_config.custom_ca)
            if ssl_config.certificate is not None:
                self._context.load_cert_chain(ssl_config.certificate, ssl_config.private_key)

    def _connect(self):
        if self._address.startswith('unix:'):
            return _UnixConnection(self._address[5:])
        host, _, port = self._address.rpartition(':')
        if self._context is not None:
            return http.client.HTTPSConnection(host.strip('[]'), int(port), context=self._context)
        return http.client.HTTPConnection(host.strip('[]'), int(port))

    def __call__(self, message):
        connection = self._connect()
        try:
            connection.request('POST', _PATH, b'\0' + struct.pack('>I', len(message)) + message, {'Content-Type': 'application/grpc-web+proto'})
            reply = connection.getresponse()
            body = reply.read()
        except (OSError, http.client.HTTPException) as error:
            raise _RpcError(14, f'failed to connect to {self._address}: {error}') from None
        finally:
            connection.close()
        if reply.status != 200:
            raise _RpcError({413: 8, 503: 14}.get(reply.status, 2), body.decode(errors='replace').strip())
        result, at = b'', 0
        while at + 5 <= len(body):
            n = struct.unpack_from('>I', body, at + 1)[0]
            part = body[at + 5:at + 5 + n]
            if body[at] & 0x80:
                end = dict(line.split(':', 1) for line in part.decode().split('\r\n') if ':' in line)
                code = int(end.get('grpc-status', '2'))
                if code:
                    from urllib.parse import unquote
                    raise _RpcError(code, unquote(end.get('grpc-message', '').strip()))
            else:
                result = part
            at += 5 + n
        return result


class _Grpc:
    """The same through grpcio."""

    def __init__(self, grpc, address, ssl_config):
        self._grpc = grpc
        options = [('grpc.max_send_message_length', _LIMIT), ('grpc.max_receive_message_length', _LIMIT)]
        if ssl_config is None:
            channel = grpc.insecure_channel(address, options=options)
        else:
            def read(path):
                with open(path, 'rb') as file:
                    return file.read()
            files = [read(p) if p is not None else None for p in (ssl_config.custom_ca, ssl_config.private_key, ssl_config.certificate)]
            channel = grpc.secure_channel(address, grpc.ssl_channel_credentials(*files), options=options)
        self._call = channel.unary_unary(_PATH, request_serializer=bytes, response_deserializer=bytes)

    def __call__(self, message):
        try:
            return self._call(message)
        except self._grpc.RpcError as error:
            raise _RpcError(error.code().value[0], error.details()) from None


class _Future:
    """What `infer_async` gives."""

    def __init__(self, client, call):
        self._client, self._call = client, call

    def result(self):
        """The result, as `infer` gives it; failures of the connection are raised."""
        return self._client._parse(self._call.result())


class Client:
    """Asks a method of a servable.

    Args:
        address (str): "ip:port", or "unix:PATH".
        servable_name (str): The servable.
        method_name (str): Its method.
        version_number (int): Its version; 0 for the highest that runs.
        ssl_config (SSLConfig): Speak TLS.

    Examples:
        >>> from spore.serving.client import Client
        >>> client = Client("127.0.0.1:5500", "add", "add_cast")
    """

    def __init__(self, address, servable_name, method_name, version_number=0, ssl_config=None):
        for name, value in (('address', address), ('servable_name', servable_name), ('method_name', method_name)):
            if not isinstance(value, str) or not value:
                raise RuntimeError(f"Parameter '{name}' should be str, and not empty, but actually {value!r}")
        if not isinstance(version_number, int) or isinstance(version_number, bool) or version_number < 0:
            raise RuntimeError(f"Parameter 'version_number' should be >= 0, but actually {version_number!r}")
        if ssl_config is not None and not isinstance(ssl_config, SSLConfig):
            raise RuntimeError("Parameter 'ssl_config' should be SSLConfig")
        self._spec = field(1, field(1, servable_name) + field(2, method_name) + (field(3, version_number) if version_number else b''))
        try:
            import grpc
            self._ask = _Grpc(grpc, address, ssl_config)
        except ImportError:
            self._ask = _Web(address, ssl_config)
        self._pool = None

    def _request(self, instances):
        instances = list(instances) if isinstance(instances, (list, tuple)) else [instances]
        out = [self._spec]
        for instance in instances:
            if not isinstance(instance, dict):
                raise RuntimeError(f'instance should be a map, but actually {_type_name(instance)}')
            for name, value in instance.items():
                if not isinstance(value, (np.ndarray, np.number, np.bool_, str, bytes, bool, int, float)):
                    raise RuntimeError(f"Not support value type {type(value)} of '{name}'")
            out.append(field(2, _values.write_instance(instance, scalars_as_lists=True)))
        return b''.join(out)

    @staticmethod
    def _value(data):
        """As clients see it: bytes stay bytes, a single number has no axis."""
        kind = dict(_values.fields(data)).get(2)
        value = _values.read_tensor(data)
        if kind == _values.BYTES:
            return value.tobytes()
        return value.reshape((1,))[0] if isinstance(value, np.ndarray) and value.shape in ((), (1,)) else value

    def _parse(self, reply):
        instances, errors = [], []
        for number, value in _values.fields(memoryview(reply)):
            if number == 3:
                items = {}
                for part, entry in _values.fields(value):
                    pair = dict(_values.fields(entry))
                    if part == 1:
                        items[bytes(pair[1]).decode()] = self._value(pair.get(2, b''))
                instances.append(items)
            elif number == 4:
                pair = dict(_values.fields(value))
                errors.append((pair.get(1, 0), bytes(pair.get(2, b'')).decode(errors='replace')))
        if len(errors) == 1 and len(instances) != 1 or (len(errors) == 1 and errors[0][0]):
            return {'error': errors[0][1]}
        return [{'error': errors[i][1]} if errors and errors[i][0] else items for i, items in enumerate(instances)]

    def infer(self, instances):
        """Results of instances, a dict or a list of dicts: a list of dicts. A failed one is `{"error": text}`; so is the whole when the request failed."""
        message = self._request(instances)
        try:
            return self._parse(self._ask(message))
        except _RpcError as error:
            print(error.details)
            return {'error': f'Grpc Error, {error.pair}, {error.details}'}

    def infer_async(self, instances):
        """The same, later: `infer_async(instances).result()`."""
        if self._pool is None:
            self._pool = ThreadPoolExecutor(8)
        return _Future(self, self._pool.submit(self._ask, self._request(instances)))

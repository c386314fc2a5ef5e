# SPDX-License-Identifier: Apache-2.0
"""Servables in processes of their own, behind gRPC and REST: `start_servables`, `start_grpc_server`, `start_restful_server`.

A servable is a folder with servable_config.py and versions of its models. Its methods run in worker processes; `spore serve` is the network's side, and passes requests on to
them. A worker that dies is started again; the request that it had fails."""
import atexit
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

from spore.serving import _pipelines
from spore.serving.server import distributed, register

__all__ = ['ServableStartConfig', 'start_servables', 'start_grpc_server', 'start_restful_server', 'stop', 'SSLConfig', 'register', 'distributed']

_RESTART_SECONDS, _END_SECONDS, _QUICK_DEATHS = 1, 10, 3


def _check(condition, text):
    if not condition:
        raise RuntimeError(text)


class SSLConfig:
    """Certificate and key of a server (PEM), and whose clients are let in.

    Args:
        certificate (str): File of the certificate.
        private_key (str): File of its key.
        custom_ca (str): File of the authorities of clients; needed with `verify_client`.
        verify_client (bool): Let in clients with a certificate of `custom_ca` alone.
    """

    def __init__(self, certificate, private_key, custom_ca=None, verify_client=False):
        for name, value in (('certificate', certificate), ('private_key', private_key), ('custom_ca', custom_ca)):
            _check(isinstance(value, str) and value or (value is None and name == 'custom_ca'), f"Parameter '{name}' should be the path of a file, but actually {value!r}")
        _check(isinstance(verify_client, bool), f"Parameter 'verify_client' should be bool, but actually {verify_client!r}")
        _check(not verify_client or custom_ca is not None, "custom_ca is needed where verify_client is True")
        self.certificate, self.private_key, self.custom_ca, self.verify_client = certificate, private_key, custom_ca, verify_client


class ServableStartConfig:
    """Which servable is started, in which version, and in how many processes.

    Args:
        servable_directory (str): The folder that holds the servable's.
        servable_name (str): The servable's folder in it.
        device_ids (Union[int, list[int], tuple[int]]): One process for each; all of them run on the CPU here.
        version_number (int): The version of its models; 0 for the newest.
        device_type (str): "CPU", or None.
        num_parallel_workers (int): Processes, if these are more than devices.
        dec_key (bytes): Key of encrypted models.
        dec_mode (str): "AES-GCM" or "AES-CBC".
    """

    def __init__(self, servable_directory, servable_name, device_ids=None, version_number=0, device_type=None, num_parallel_workers=0, dec_key=None, dec_mode='AES-GCM'):
        _check(isinstance(servable_directory, str) and servable_directory, f"Parameter 'servable_directory' should be str, but actually {servable_directory!r}")
        _check(isinstance(servable_name, str) and servable_name, f"Parameter 'servable_name' should be str, but actually {servable_name!r}")
        _check(isinstance(version_number, int) and version_number >= 0, f"Parameter 'version_number' should be >= 0, but actually {version_number!r}")
        ids = [] if device_ids is None else [device_ids] if isinstance(device_ids, int) else list(device_ids)
        _check(all(isinstance(i, int) and i >= 0 for i in ids) and len(set(ids)) == len(ids), f"Parameter 'device_ids' should be different ints from 0 on, but actually {device_ids!r}")
        _check(device_type is None or str(device_type).lower() in ('cpu', 'none'), f"Unsupported device type '{device_type}': servables run on the CPU here; leave it out, or give 'CPU'")
        _check(isinstance(num_parallel_workers, int) and 0 <= num_parallel_workers <= 64, f"Parameter 'num_parallel_workers' should be in range [0,64], but actually {num_parallel_workers!r}")
        _check(dec_key is None or (isinstance(dec_key, bytes) and len(dec_key) in (16, 24, 32)), "Parameter 'dec_key' should be bytes of length 16, 24 or 32")
        _check(dec_mode in ('AES-GCM', 'AES-CBC'), f"Parameter 'dec_mode' should be 'AES-GCM' or 'AES-CBC', but actually {dec_mode!r}")
        self.servable_directory, self.servable_name, self.device_ids, self.version_number = os.path.realpath(servable_directory), servable_name, ids, version_number
        self.num_parallel_workers, self.dec_key, self.dec_mode = num_parallel_workers, dec_key, dec_mode
        self.folder = self._find_version()

    def _find_version(self):
        place = os.path.join(self.servable_directory, self.servable_name)
        _check(os.path.isdir(place), f"Check servable config failed, directory '{place}' not exist, servable '{self.servable_name}'")
        _check(os.path.isfile(os.path.join(place, 'servable_config.py')), f"Check servable config failed, file '{os.path.join(place, 'servable_config.py')}' not exist")
        found = {int(name): name for name in os.listdir(place) if name.isdigit() and int(name) > 0 and os.path.isdir(os.path.join(place, name))}
        if self.version_number == 0:
            self.version_number = max(found, default=1)
        _check(not found or self.version_number in found, f"There is no specified version directory of models, specified version number: {self.version_number}, servable directory: '{place}'")
        return found.get(self.version_number, '')   # without one, models are looked for in the servable's own folder

    @property
    def n_workers(self):
        return max(len(self.device_ids), self.num_parallel_workers, 1)


class _Worker:
    """A process that runs a servable's methods."""

    def __init__(self, config, device, path):
        self.config, self.device, self.path, self.process, self.deaths = config, device, path, None, 0

    def start(self, first):
        os.makedirs('serving_logs', exist_ok=True)
        c = self.config
        log = os.path.join('serving_logs', f'log_{c.servable_name}_device{self.device}_version{c.version_number}.log')
        tell_read, tell_write = os.pipe()
        alive_read, self.alive = os.pipe()
        env = dict(os.environ, PYTHONPATH=os.pathsep.join(filter(None, [os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))), os.environ.get('PYTHONPATH')])))
        with open(log, 'wb' if first else 'ab') as out:
            self.process = subprocess.Popen([sys.executable, '-m', 'spore.run', '-m', 'spore.serving._worker'], stdin=subprocess.PIPE, stdout=out, stderr=out, env=env,
                                            pass_fds=(tell_write, alive_read), start_new_session=True)
        os.close(tell_write)
        os.close(alive_read)
        self.started, self.told = time.monotonic(), tell_read
        self.process.stdin.write(json.dumps({'directory': c.servable_directory, 'name': c.servable_name, 'version': c.version_number, 'folder': c.folder, 'device': self.device,
                                             'socket': self.path, 'routes': os.path.join(os.path.dirname(self.path), 'routes'), 'tell': tell_write, 'alive': alive_read, 'key': c.dec_key.hex() if c.dec_key else None,
                                             'mode': c.dec_mode}).encode() + b'\n')
        self.process.stdin.close()

    def wait_ready(self):
        """What it says once it has loaded everything."""
        with os.fdopen(self.told, 'rb') as told:
            text = told.read()
        told = json.loads(text) if text else {'error': 'the process ended before it was ready'}
        _check('ready' in told, f"Start servable failed, servable '{self.config.servable_name}', version {self.config.version_number}: {told.get('error')}")

    def end(self):
        if self.process is None:
            return
        if self.alive is not None:
            os.close(self.alive)    # it ends by itself
            self.alive = None
        try:
            self.process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


class _Servers:
    """All that runs in this process's name."""

    def __init__(self):
        self.workers, self.fronts, self.folder, self.stopping, self.lock = [], {}, None, threading.Event(), threading.Lock()

    def make_folder(self):
        if self.folder is None:
            self.folder = tempfile.mkdtemp(prefix='spore-')
            atexit.register(stop)
            self.stopping.clear()
            threading.Thread(target=self.keep, name='servables').start()     # keeps the program running until stop()
            if threading.current_thread() is threading.main_thread():
                for number in (signal.SIGINT, signal.SIGTERM):
                    signal.signal(number, lambda *_: stop())

    def keep(self):
        """Start workers that died again."""
        while not self.stopping.wait(0.2) and threading.main_thread().is_alive() | bool(self.fronts):
            for worker in list(self.workers):
                if worker.process is None or worker.process.poll() is None:
                    continue
                worker.deaths = worker.deaths + 1 if time.monotonic() - worker.started < 2 * _RESTART_SECONDS else 0
                name = f"servable '{worker.config.servable_name}' version {worker.config.version_number}"
                sys.stderr.write(f'{name}: a process ended with {worker.process.returncode}; ' + ('it is started again\n' if worker.deaths < _QUICK_DEATHS else 'it ends too often and stays away\n'))
                if worker.deaths >= _QUICK_DEATHS:
                    worker.process = None
                    continue
                if self.stopping.wait(_RESTART_SECONDS):
                    return
                try:
                    os.close(worker.alive)
                    worker.start(False)
                    worker.wait_ready()
                except (OSError, RuntimeError) as error:
                    sys.stderr.write(f'{name}: {error}\n')


_servers = _Servers()


def start_servables(servable_configs, enable_lite=False):
    """Start servables; returns when their processes have loaded everything.

    Args:
        servable_configs (Union[ServableStartConfig, list[ServableStartConfig]]): Which.
        enable_lite (bool): Taken; there is one engine here.

    Raises:
        RuntimeError: A process could not load its servable.
    """
    configs = [servable_configs] if isinstance(servable_configs, ServableStartConfig) else list(servable_configs)
    _check(configs and all(isinstance(c, ServableStartConfig) for c in configs), "Parameter 'servable_configs' should be ServableStartConfig, or a list of such")
    merged = {}
    for c in configs:
        there = merged.setdefault((c.servable_name, c.version_number), c)
        if there is not c:
            _check(there.servable_directory == c.servable_directory and there.dec_key == c.dec_key, f"servable '{c.servable_name}' version {c.version_number} is given twice, with other settings")
            there.device_ids = sorted({*there.device_ids, *c.device_ids})
            there.num_parallel_workers = max(there.num_parallel_workers, c.num_parallel_workers)
    with _servers.lock:
        for name, version in merged:
            _check(not any((w.config.servable_name, w.config.version_number) == (name, version) for w in _servers.workers), f"servable '{name}' version {version} runs already")
        _check(not _servers.fronts, 'start_servables is called before start_grpc_server and start_restful_server')
        _servers.make_folder()
        workers = []
        for c in merged.values():
            for i in range(c.n_workers):
                workers.append(_Worker(c, c.device_ids[i] if i < len(c.device_ids) else i, os.path.join(_servers.folder, f'{len(_servers.workers) + len(workers)}')))
        try:
            _pipelines.write_routes(os.path.join(_servers.folder, 'routes'),
                                    [{'name': w.config.servable_name, 'version': w.config.version_number, 'socket': w.path} for w in [*_servers.workers, *workers]])
            for worker in workers:
                worker.start(True)
            for worker in workers:
                worker.wait_ready()
        except BaseException:
            for worker in workers:
                worker.end()
            if not _servers.workers:
                _end()
            raise
        _servers.workers += workers


def _start_front(kind, address, max_msg_mb_size, ssl_config):
    from spore import _command
    _check(isinstance(address, str) and address, f"Parameter 'address' should be str, but actually {address!r}")
    _check(isinstance(max_msg_mb_size, int) and 1 <= max_msg_mb_size <= 512, "Parameter 'max_msg_mb_size' should be in range [1,512]")
    _check(ssl_config is None or isinstance(ssl_config, SSLConfig), "Parameter 'ssl_config' should be SSLConfig")
    _check(_servers.workers, 'start_servables is called first')
    _check(kind not in _servers.fronts, f'the {kind} server runs already')
    command = _command.find()
    _check(command is not None, 'the command spore is not installed with this package; servers need it')
    arguments = [*command, 'serve', '--stop-with-stdin', '--log', 'none', '--max-body', str(max_msg_mb_size), '--max-memory', '4096', '--timeout', '3600', '--max-queue', '10000']
    if address.startswith('unix:') and kind == 'gRPC':
        arguments += ['--port', 'none', '--unix', address[5:]]
    else:
        host, _, port = address.rpartition(':')
        _check(host and port.isdigit() and 1 <= int(port) <= 65535, f"Parameter 'address' should be in format of 'ip:port'{' or unix:unix_file_path' if kind == 'gRPC' else ''}, but actually '{address}'")
        arguments += ['--host', host.strip('[]'), '--port', port]
    if ssl_config is not None:
        arguments += ['--cert', ssl_config.certificate, '--key', ssl_config.private_key]
        if ssl_config.verify_client:
            arguments += ['--client-ca', ssl_config.custom_ca]
    for worker in _servers.workers:
        arguments += ['--servable', f'{worker.config.servable_name}:{worker.config.version_number}={worker.path}']
    front = subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True)
    lines = []
    for line in front.stderr:
        lines.append(line)
        if 'ready on' in line:
            break
    if not lines or 'ready on' not in lines[-1]:
        front.wait()
        raise RuntimeError(f"Serving Error: start {kind} server failed, {''.join(lines).strip()}")
    threading.Thread(target=lambda: [sys.stderr.write(line) for line in front.stderr], daemon=True).start()
    _servers.fronts[kind] = front
    print(f'Serving {kind} server start success, listening on {address}', flush=True)


def start_grpc_server(address, max_msg_mb_size=100, ssl_config=None):
    """Answer gRPC on an address, "ip:port" or "unix:PATH". Returns when it does.

    Args:
        address (str): Where.
        max_msg_mb_size (int): Of a message, in MB, 1 to 512.
        ssl_config (SSLConfig): Speak TLS.
    """
    _start_front('gRPC', address, max_msg_mb_size, ssl_config)


def start_restful_server(address, max_msg_mb_size=100, ssl_config=None):
    """Answer REST on an address, "ip:port". Returns when it does.

    Args:
        address (str): Where.
        max_msg_mb_size (int): Of a request, in MB, 1 to 512.
        ssl_config (SSLConfig): Speak TLS.
    """
    _start_front('RESTful', address, max_msg_mb_size, ssl_config)


def _end():
    _servers.stopping.set()
    for front in _servers.fronts.values():
        if front.poll() is None:
            front.terminate()
    for front in _servers.fronts.values():
        try:
            front.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            front.kill()
            front.wait()
    for worker in _servers.workers:
        worker.end()
    _servers.fronts, _servers.workers = {}, []
    if _servers.folder is not None:
        shutil.rmtree(_servers.folder, ignore_errors=True)
        _servers.folder = None


def stop():
    """End servers and servables; what is under way is answered first."""
    _end()

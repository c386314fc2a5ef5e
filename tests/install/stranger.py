# SPDX-License-Identifier: Apache-2.0
"""What somebody does in the first hour with a wheel alone (tests/install/strangers): the command, a script for MindSpore, files of every library inside, a served model."""
import json
import os
import subprocess
import sys
import time
import urllib.request

import numpy as np

import spore as ms
from spore import Tensor, nn
from spore.dataset import vision

BIN = os.path.dirname(sys.executable)
SPORE = os.path.join(BIN, 'spore')


def call(*words, code=0, **options):
    done = subprocess.run([SPORE, *words], capture_output=True, text=True, timeout=300, **options)
    assert done.returncode == code, (words, done)
    return done.stdout


# The command, alone and under its other names; in a pipe that closes; with the exit codes of a program of its own.
assert call('--version') == f'spore {ms.__version__}\n'
assert 'all is well' in call('doctor') and sys.executable in call('doctor')
assert json.loads(call('doctor', '--json'))['ok'] is True
assert call('run', '-c', 'import mindspore as ms; print(ms.ops.arange(3))') == '[0 1 2]\n'
call('rum', code=2)
call('run', '-c', 'raise SystemExit(7)', code=7)
assert subprocess.run(f'{SPORE} ops | head -n 1', shell=True, capture_output=True, text=True).stdout.startswith('add(')
assert subprocess.run([sys.executable, '-m', 'spore', 'version'], capture_output=True, text=True).stdout == f'spore {ms.__version__}\n'
assert subprocess.run([os.path.join(BIN, 'dataset-cache'), '--help'], capture_output=True, text=True).returncode == 0
assert subprocess.run([os.path.join(BIN, 'msrun'), '--help'], capture_output=True, text=True).returncode == 0

# The cache server leaves the process that starts it.
call('cache', 'start', '--port', '50099')
assert subprocess.run([os.path.join(BIN, 'dataset-cache'), '--server_info', '-p', '50099'], capture_output=True).returncode == 0
call('cache', 'stop', '--port', '50099')

# Pictures (libjpeg, libspng, libwebp), MindRecord (SQLite), encryption (OpenSSL), compressed checkpoints (zlib), settings (jansson).
picture = np.random.default_rng(0).integers(0, 256, (16, 16, 3), np.uint8)
vision.write_png('p.png', Tensor(picture))
assert np.array_equal(vision.Decode()(np.fromfile('p.png', np.uint8)), picture)
vision.write_jpeg('p.jpg', Tensor(picture), quality=90)
assert vision.Decode()(np.fromfile('p.jpg', np.uint8)).shape == picture.shape
net = nn.SequentialCell(nn.Dense(4, 8), nn.ReLU(), nn.Dense(8, 2))
ms.save_checkpoint(net, 'net.ckpt', enc_key=b'0123456789ABCDEF', enc_mode='AES-GCM')
assert len(ms.load_checkpoint('net.ckpt', dec_key=b'0123456789ABCDEF', dec_mode='AES-GCM')) == 4
with open('rows.csv', 'w') as file:
    file.write('a,b\n1,2\n3,4\n')
call('record', 'make', 'rows.mindrecord', 'rows.csv')
assert '2 rows' in call('record', 'info', 'rows.mindrecord') or '2' in call('record', 'info', 'rows.mindrecord')

# A model, served: HTTP from libevent, and stopped by a signal.
x = np.arange(8, dtype=np.float32).reshape(2, 4)
ms.export(net, Tensor(x), file_name='net', file_format='MINDIR')
wanted = net(Tensor(x)).asnumpy()
server = subprocess.Popen([SPORE, 'serve', 'net.mindir', '--port', '8123'], stderr=subprocess.PIPE, text=True)
try:
    for line in server.stderr:
        if 'ready on' in line:
            break
    inputs = json.load(urllib.request.urlopen('http://127.0.0.1:8123/v2/models/net', timeout=30))['inputs']
    body = json.dumps({'inputs': [{'name': inputs[0]['name'], 'shape': [2, 4], 'datatype': 'FP32', 'data': x.ravel().tolist()}]}).encode()
    answer = json.load(urllib.request.urlopen(urllib.request.Request('http://127.0.0.1:8123/v2/models/net/infer', body, {'Content-Type': 'application/json'}), timeout=30))
    assert np.allclose(np.array(answer['outputs'][0]['data'], np.float32).reshape(2, 2), wanted, atol=1e-6), answer
finally:
    started = time.time()
    server.terminate()
    assert server.wait(60) == 0 and time.time() - started < 30
print('all is well')

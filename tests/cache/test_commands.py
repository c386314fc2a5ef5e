# SPDX-License-Identifier: Apache-2.0
"""dataset-cache and cache_admin beside MindSpore's own, and `spore cache`: outputs, errors, exit codes."""
import json
import os
import random
import subprocess
import sys

import pytest

import record
from conftest import BUILD, run

with open(os.path.join(os.path.dirname(__file__), 'commands.json'), encoding='utf-8') as _file:
    ANSWERS = json.load(_file)
N_WITHOUT = len(record.WITHOUT_SERVER)


def call(words):
    done = run(*words, name='dataset-cache', env={k: v for k, v in os.environ.items() if k not in ('MS_CACHE_PORT', 'GLOG_v')})
    return done.returncode, done.stdout, done.stderr


# Said in other words here, and what must be in them: MindSpore names places in its sources, and a folder of logs.
OTHERWISE = {'--start -s relative': 'Spilling directory', '--start -m 0': 'Shared memory size (in GB unit) must be positive'}


def alike(answer, wanted):
    line = wanted['line']
    assert answer['code'] == wanted['code'], answer
    if line in OTHERWISE:
        assert OTHERWISE[line] in answer['err'] and OTHERWISE[line] in wanted['err']
        return
    for kind in ('out', 'err'):
        found, recorded = answer[kind], wanted[kind]
        if 'Recommendation:' in recorded:       # the paragraph names where the log is, which is elsewhere
            found, recorded = (text.split('Recommendation:')[0] for text in (found, recorded))
        if 'Default is' in recorded:            # of workers: half of the processors
            found, recorded = ('\n'.join(row for row in text.split('\n') if '--workers' not in row) for text in (found, recorded))
        found, recorded = ('\n'.join(row for row in text.split('\n') if not row.startswith('number of workers')) for text in (found, recorded))
        assert found == recorded, (line, kind)


@pytest.mark.parametrize('i', range(N_WITHOUT))
def test_without_a_server(i):
    port = str(random.randint(60001, 65000))       # no test starts a server there
    alike(record.answers(call, [ANSWERS[i]['line']], port)[0], ANSWERS[i])


def test_with_a_server():
    for _ in range(20):     # a port that nobody has
        port = str(random.randint(20000, 60000))
        if call(['--server_info', '-p', port])[0]:
            break
    for answer, wanted in zip(record.answers(call, record.WITH_SERVER, port), ANSWERS[N_WITHOUT:], strict=True):
        alike(answer, wanted)


def test_the_last_word_is_the_session(shared):
    """As scripts have it: the last word of -g, the first of the last line of the list."""
    made = run('-g', '-p', shared.port, name='cache_admin').stdout
    session = int(made.split()[-1])
    listed = run('--list_sessions', '-p', shared.port, name='cache_admin').stdout.strip().split('\n')
    assert str(session) in [line.split()[0] for line in listed[3:]]
    assert run('-d', session, '-p', shared.port, name='cache_admin').stdout == f'Drop session {session} successfully for server on port {shared.port}\n'


def test_the_environment_names_the_port(shared):
    env = {**os.environ, 'MS_CACHE_PORT': str(shared.port)}
    assert run('--server_info', name='dataset-cache', env=env).returncode == 0
    assert json.loads(run('cache', 'info', '--json', env=env).stdout)['process'] == shared.pid
    bad = run('--server_info', name='dataset-cache', env={**os.environ, 'MS_CACHE_PORT': 'x'})
    assert bad.returncode == 1 and 'Invalid numeric value: x' in bad.stderr
    assert 'MS_CACHE_PORT' in run('cache', 'info', env={**os.environ, 'MS_CACHE_PORT': '12'}).stderr


def test_the_module_is_the_command(shared):
    done = subprocess.run([sys.executable, '-c', 'from spore.dataset.engine.cache_admin import main; main()', '--server_info', '-p', str(shared.port)], capture_output=True, text=True,
                          check=False, timeout=60)
    assert done.returncode == 0 and 'Cache Server Configuration' in done.stdout and "'dataset-cache --list" not in done.stderr


# --- spore cache -------------------------------------------------------------------------------------------------------------

def test_life_of_a_server(servers):
    server = servers('--memory', '64M')
    info = json.loads(server.ask('info', '--json').stdout)
    assert info['process'] == server.pid and info['most_bytes'] == 64 << 20 and info['sessions'] == 0 and info['spill_folder'] is None
    assert server.ask('list').stdout == 'no sessions\n'
    session = server.session()
    assert f'{session}  no cache yet' in server.ask('list').stdout
    assert server.ask('destroy', session).returncode == 0
    again = server.ask('destroy', session)
    assert again.returncode == 1 and f'Session id {session} not found' in again.stderr
    second = run('cache', 'start', '--port', server.port)
    assert second.returncode == 1 and 'already up and running' in second.stderr
    assert server.ask('stop').returncode == 0 and server.ask('info').returncode == 1
    server.start()      # a new one begins at once


@pytest.mark.parametrize('words, text', [
    (['start', '--memory', 'x'], "--memory is 'x'"), (['start', '--memory', '2'], "--memory is '2'"), (['start', '--memory', '1K'], '--memory'), (['start', '--spill-limit', '0.5'], '--spill-limit'),
    (['start', '--private', 'x', '--port', '5000'], 'give one'), (['destroy'], 'destroy'), (['destroy', 'x'], 'the session'), (['start', '--port', '80'], 'Port must be in range'),
    (['start', '--spill', 'here'], 'absolute'), (['start', '--spill', '/nonexistent'], 'does not exist'), (['list', 'x'], 'x'), (['frob'], "unknown verb 'frob'"), ([], 'usage')])
def test_wrong_words(words, text):
    done = run('cache', *words)
    assert done.returncode in (1, 2) and text in done.stderr, done.stderr


def test_a_log(servers, tmp_path):
    server = servers('--log', tmp_path / 'log')
    server.session()
    server.stop()
    text = (tmp_path / 'log').read_text()
    assert 'ready' in text and 'session' in text and text.rstrip().endswith('stopped')
    assert os.stat(tmp_path / 'log').st_mode & 0o777 == 0o600


def test_what_the_caller_waits_for_is_let_go(servers):
    """`id=$(spore cache start)` must return: the server keeps no pipe."""
    port = random.randint(15001, 19999)
    done = subprocess.run(f'x=$({BUILD}/spore cache start --port {port}) && echo "$x" && {BUILD}/spore cache stop --port {port}', shell=True, capture_output=True, text=True, timeout=60, check=False)
    assert 'process' in done.stdout, done

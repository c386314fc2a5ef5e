# SPDX-License-Identifier: Apache-2.0
"""What MindSpore 2.10's dataset-cache answers to command lines, into commands.json: record.py FOLDER_OF_THE_PACKAGE.

Ports, numbers of processes and sessions are replaced by words, and the lines about its sources are left out."""
import json
import os
import re
import subprocess
import sys

PORT = '50774'
WITHOUT_SERVER = [
    "", "--help", "--start --stop", "-g -d 1", "--start --start", "-p PORT", "--port PORT -p PORT --start", "--foo", "foo", "--start foo", "-p", "--start -p", "--start -p abc",
    "--start -p 80", "--start -p 70000", "--start -p 1024", "--start -p -1", "--start -h localhost", "--start -h 127.0.0.2", "--start -h", "--start -w 0", "--start -w 101",
    "--start -w -1", "--start -w a", "--start -s", "--start -s relative", "--start -l 5", "--start -l -1", "--start -l a", "--start -m 0", "--start -r 0", "--start -r 1.5",
    "--start -r a", "-d", "--destroy_session", "-d a", "-g 1", "--list_sessions x", "--server_info x", "--stop x", "--stop -p PORT", "-g -p PORT",
    "-d 1 -p PORT", "-d 1 2 -p PORT", "--list_sessions -p PORT", "--server_info -p PORT", "--list_sessions --help", "--help --start -p 80", "-l 2 --start -w 0 -p 80"]
WITH_SERVER = [
    "--start -p PORT", "--start -p PORT", "--list_sessions -p PORT", "--server_info -p PORT", "-d 4 -p PORT", "-g -p PORT", "--list_sessions -p PORT", "--server_info -p PORT",
    "-d SESSION -p PORT", "-d SESSION -p PORT", "--list_sessions -l 9 -p PORT", "-g -w 3 -s /nonexistent -p PORT", "--stop -p PORT", "--stop -p PORT", "--start -p PORT -s /tmp -l 0",
    "--server_info -p PORT", "--stop --port PORT --hostname 127.0.0.1"]


def plain(text, port, session):
    """Without what differs from run to run."""
    text = text.replace(port, 'PORT')
    text = re.sub(r'process id \d+', 'process id N', text)
    text = re.sub(r'(created for server on port PORT: )\d+', r'\1SESSION', text)
    if session:
        text = re.sub(rf' *{session}', 'SESSION', text)
    text = re.sub(r' GRPC Code \d+', '', text)
    lines = [line.rstrip() for line in text.split('\n') if not re.match(r'(Line of code|File) +:', line)]
    return '\n'.join(lines).strip('\n')


def answers(call, lines, port):
    """Of a list of command lines, one after another; call gives (code, output, errors) of words."""
    found, session = [], None
    for line in lines:
        words = [word.replace('PORT', port).replace('SESSION', str(session)) for word in line.split()]
        code, out, err = call(words)
        if code == 0 and '-g' in words:
            session = out.split()[-1]
        found.append({'line': line, 'code': code, 'out': plain(out, port, session), 'err': plain(err, port, session)})
    return found


def main(package):
    exe = package + '/utils/bin/dataset-cache'
    env = {**os.environ, 'LD_LIBRARY_PATH': package + '/../../..', 'LD_PRELOAD': package + '/lib/libnnacl.so'}

    def call(words):
        done = subprocess.run([exe, *words], capture_output=True, text=True, timeout=60, env=env, cwd=package + '/utils/bin', stdin=subprocess.DEVNULL, check=False)
        return done.returncode, done.stdout, done.stderr
    found = answers(call, WITHOUT_SERVER, PORT) + answers(call, WITH_SERVER, PORT)
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), 'commands.json'), 'w', encoding='utf-8') as file:
        json.dump(found, file, indent=1)
        file.write('\n')


if __name__ == '__main__':
    main(sys.argv[1])

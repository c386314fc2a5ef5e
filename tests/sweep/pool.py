# SPDX-License-Identifier: Apache-2.0
"""Cases that may crash, hang or eat memory, run in worker processes with limits.

A sweep is a module with `units()` (names) and `cases(unit)`, which yields (text, call). A worker takes units from its input and
forks a process for each, which says what case it begins and judges it: a result or an exception of a sensible kind with a text
is right, anything else is reported. A process that dies or takes too long is charged to the case it was at; the next one goes
on behind that case, so every case that kills has a process of its own.

    pool.py SWEEP [UNIT...]      from the command line; SPORE_SWEEP_WHOLE=1 for all of it
"""
import contextlib
import importlib
import json
import os
import resource
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SENSIBLE = (ValueError, TypeError, RuntimeError, IndexError, MemoryError, OverflowError, NotImplementedError, KeyError, AttributeError, OSError)
SECONDS = {"starved": 200} # of the processor for a case, where it is not 20: these run thousands of times
WAITING = 6 # times as many seconds of the clock: then it hangs, however busy the machine
START = 300 # seconds until a worker is at its first case, with imports, on a busy machine
SANITIZED = "address" in os.environ.get("SPORE_BUILD", "") or "libasan" in os.environ.get("LD_PRELOAD", "")


class Wrong(Exception):
    """A case that gave a result, but not a right one."""


def judge(call):
    """What is wrong with a case; None when nothing is."""
    try:
        call()
    except Wrong as error:
        return str(error)
    except SENSIBLE as error:
        if isinstance(error, RecursionError):
            return f"endless recursion: {error}"
        if not str(error).strip() and type(error) is not MemoryError:   # Python's own has none
            return f"{type(error).__name__} without a text"
    except BaseException as error:
        return f"{type(error).__name__}: {error}"
    return None


def work(sweep, megabytes):
    """The worker: units and where to begin come from standard input, a line each."""
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)   # what the cases print is not for the parent

    def tell(*what):
        out.write(json.dumps(what) + "\n")
        out.flush()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    module = importlib.import_module(sweep)
    for line in sys.stdin:
        unit, start = json.loads(line)
        child = os.fork()
        if child == 0:
            if megabytes and not SANITIZED:
                resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))
            run_unit(module, unit, start, tell)
            os._exit(0)
        tell("child", child)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if code != 0:
            tell("lost", code)


def run_unit(module, unit, start, tell):
    i = -1
    for i, (text, call) in enumerate(module.cases(unit)):
        if i < start:
            continue
        tell("case", i, text)
        wrong = judge(call)
        if wrong:
            tell("wrong", i, text, wrong)
    tell("done", i + 1)


class Worker:
    """One process and the unit it is at."""

    def __init__(self, sweep, megabytes, environment):
        self.command = [sys.executable, str(HERE / "pool.py"), "--work", sweep, str(megabytes)]
        self.environment = environment
        self.process = None

    def begin(self, unit, start):
        if self.process is None:
            self.errors = tempfile.TemporaryFile()
            self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, env=self.environment,
                                            cwd=tempfile.gettempdir())
            os.set_blocking(self.process.stdout.fileno(), False)
            self.rest = b""
        self.unit, self.at, self.text, self.since, self.begun = unit, start - 1, "before the first case", time.monotonic(), False
        self.child, self.slow, self.before, self.said = None, 0, None, self.errors.seek(0, os.SEEK_END)
        self.process.stdin.write((json.dumps([unit, start]) + "\n").encode())
        self.process.stdin.flush()

    def used(self):
        """Seconds of the processor that the process of the unit has used."""
        try:
            fields = Path(f"/proc/{self.child}/stat").read_text(encoding="ascii", errors="replace").rsplit(")", 1)[1].split()
        except OSError:    # there is none yet, or it has ended
            return 0
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def is_slow(self, seconds):
        waited = time.monotonic() - self.since
        if not self.begun:
            return waited > START
        if waited <= 1 or self.slow:
            return False
        if self.before is None:    # not asked at each case's beginning: most are over at once
            self.before = self.used()
        return waited > WAITING * seconds or self.used() - self.before > seconds

    def stop(self):
        """Ends the process of a case that takes too long."""
        self.slow = time.monotonic() - self.since
        with contextlib.suppress(ProcessLookupError):      # it has just ended by itself
            os.kill(self.child, signal.SIGKILL)

    def last_words(self, code):
        """How the process of a case ended, with what it said."""
        self.errors.seek(self.said)
        said = self.errors.read().decode(errors="replace")
        for key in ("runtime error:", "ERROR: AddressSanitizer", "Fatal Python error", "Error"):
            if key in said:
                said = said[said.rindex(key) if key == "Error" else said.index(key):]
                break
        return f"too long, over {self.slow:.0f} s" if self.slow else f"died with code {code}: {said[:1500]}"

    def close(self):
        if self.process is not None:
            self.process.stdin.close()
            self.process.wait()
            self.process.stdout.close()
            self.errors.close()


def environment():
    """Of workers: they find the sweeps, the samples and this package wherever they are started."""
    folders = [HERE, ROOT / "tests/ops", *(Path(p).resolve() for p in os.environ.get("PYTHONPATH", "").split(os.pathsep) if p)]
    found = dict(os.environ, PYTHONPATH=os.pathsep.join(map(str, folders)), OMP_NUM_THREADS="2", OPENBLAS_NUM_THREADS="1", PYTHONFAULTHANDLER="1")
    if SANITIZED:
        found["ASAN_OPTIONS"] = os.environ.get("ASAN_OPTIONS", "") + ":allocator_may_return_null=1:hard_rss_limit_mb=8000"
    return found


def units_of(name):
    """The units of a sweep, asked in a process of its own: sweeps set limits for the whole process when they are imported."""
    code = f"import json, sys, {name}; json.dump({name}.units(), sys.stdout)"
    return json.loads(subprocess.run([sys.executable, "-c", code], env=environment(), stdout=subprocess.PIPE, check=True, text=True).stdout)


def sweep(name, units, jobs=2, seconds=None, megabytes=6000, show=None):
    """Runs all cases of the units; returns (number of cases, [(unit, text, what is wrong)])."""
    seconds = seconds or SECONDS.get(name, 20)
    if SANITIZED:
        seconds *= 5
    waiting = [(u, 0) for u in reversed(units)]
    idle = [Worker(name, megabytes, environment()) for _ in range(jobs)]
    busy, found, total = {}, [], 0
    selector = selectors.DefaultSelector()

    def note(worker, text, what):
        found.append((worker.unit, text, what))
        if show:
            show(*found[-1])

    def lost(worker, code):
        note(worker, worker.text, worker.last_words(code))
        if not worker.begun:
            raise RuntimeError(f"the sweep {name} does not begin: {found[-1]}")
        waiting.append((worker.unit, worker.at + 1))
        rest(worker)

    def rest(worker):
        selector.unregister(worker.process.stdout)
        del busy[worker.process.stdout.fileno()]
        idle.append(worker)

    while waiting or busy:
        while waiting and idle:
            worker = idle.pop()
            worker.begin(*waiting.pop())
            selector.register(worker.process.stdout, selectors.EVENT_READ, worker)
            busy[worker.process.stdout.fileno()] = worker
        for key, _ in selector.select(timeout=1):
            worker = key.data
            data = os.read(worker.process.stdout.fileno(), 1 << 20)
            if not data:
                lost(worker, worker.process.wait())     # the worker itself: raises, as it has not begun
                continue
            *lines, worker.rest = (worker.rest + data).split(b"\n")
            for line in lines:
                kind, number, *more = json.loads(line)
                worker.since, worker.before = time.monotonic(), None
                if kind == "case":
                    worker.at, worker.text, worker.begun = number, more[0], True
                elif kind == "wrong":
                    note(worker, *more)
                elif kind == "child":
                    worker.child = number
                elif kind == "lost":
                    lost(worker, number)
                else:
                    total += number
                    rest(worker)
        for worker in list(busy.values()):
            if worker.is_slow(seconds):
                worker.stop()
    for worker in idle:
        worker.close()
    return total, found


def table_of(found):
    return "\n".join(f"{unit}: {text}: {what}" for unit, text, what in found)


if __name__ == "__main__":
    if sys.argv[1] == "--work":
        importlib.import_module("pool").work(sys.argv[2], int(sys.argv[3]))    # the module that the sweeps import, with its Wrong
    else:
        chosen = sys.argv[2:] or units_of(sys.argv[1])
        count, wrong = sweep(sys.argv[1], chosen, show=lambda *row: print(*row, sep=": ", flush=True))
        print(f"{len(chosen)} units, {count} cases, {len(wrong)} wrong")
        sys.exit(1 if wrong else 0)

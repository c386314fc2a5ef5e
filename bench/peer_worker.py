# SPDX-License-Identifier: Apache-2.0
"""The measuring side of ``make bench-peers``: a process that is told row by row what to run, and answers with times.

A worker module makes, per kind of row, a function of no arguments; ``serve`` reads lines of JSON ({"row", "args", "seconds"}) and
answers one line each: the least seconds of one call so far, or the reason why there is none.
"""
import json
import os
import sys
import time
import traceback


THREADS = int(os.environ.get("SPORE_BENCH_THREADS", "2"))
# One thread can be timed by the processor time of its process, which stands still while others have the processor: figures from a busy machine. (Not
# of the calling thread: some libraries compute on one of their own.)
clock = time.process_time if THREADS == 1 else time.perf_counter


def measure(call, seconds, found):
    """Least time of one call within about `seconds`; short calls are timed in runs of some milliseconds."""
    runs = found.get("runs")
    if runs is None:
        start = clock()
        call()
        call()
        once = (clock() - start) / 2
        runs = max(1, min(10000, int(2e-3 / max(once, 1e-9))))
    best, end = found.get("best", float("inf")), time.perf_counter() + seconds
    for i in range(1000):
        start = clock()
        for _ in range(runs):
            call()
        best = min(best, (clock() - start) / runs)
        if time.perf_counter() > end and i > 0:
            break
    found.update(runs=runs, best=best)


def serve(kinds):
    """Answer on the real standard output; whatever the libraries print goes to standard error."""
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    rows = {}
    for line in sys.stdin:
        request = json.loads(line)
        name = request["row"]
        answer = {"row": name}
        if request.get("forget"):
            rows.clear()
        try:
            if name not in rows:
                make = kinds.get(name.split(".")[0])
                if make is None:
                    raise NotImplementedError("not measured with this peer")
                call = make(*request["args"])
                call()
                rows[name] = (call, {})
            call, found = rows[name]
            measure(call, request["seconds"], found)
            answer["best"] = found["best"]
        except Exception as error:  # the table shows it
            if not isinstance(error, NotImplementedError):
                traceback.print_exc()
            answer["error"] = f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"[:200]
        out.write(json.dumps(answer) + "\n")
        out.flush()

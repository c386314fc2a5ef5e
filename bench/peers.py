# SPDX-License-Identifier: Apache-2.0
"""``make bench-peers``: spore and its peers on the same rows, alternately, in one run.

    SPORE_BENCH_PEER=/path/to/python        an interpreter with torch, perhaps ONNX Runtime and OpenVINO
    SPORE_BENCH_MINDSPORE=/path/to/python   one with MindSpore
    make bench-peers ROWS="matmul conv"     some groups (or rows by name, or by pattern: "op.sum*") only; without it all but operators
    make bench-peers ROWS=operators         some 150 operators one by one, of all dtypes and three sizes; prints what is slower than torch

SPORE_BENCH_THREADS=1 measures one thread by its processor time, for a machine that is busy with other things.
SPORE_ISA=avx2 caps spore and, by settings of their own, torch and OpenVINO; ONNX Runtime has no such setting. What each side may use is printed first.
SPORE_BENCH_COMPILE=0 leaves torch.compile out, whose compiler takes minutes.
SPORE_BENCH_KEEP="other work paused" appends the rows to bench/results/peers.csv with the machine, the commit and these conditions (`scripts/results-table` shows them).

Nothing is installed. Every side is a process of its own with two threads; they take turns, several rounds, and the least
time of a call counts. Results are merged into build/bench/peers.json (so groups can be measured one by one) and shown as Markdown,
build/bench/peers.md (operators: those that lose, build/bench/operators.md). A ratio is our time over that of the fastest peer; above its aim it is marked. Rows whose work is known (products, rows at the
speed of memory) also show their share of what `spore bench` finds to be this machine's limit; more than all of it means that caches, or Winograd, helped.
"""
import csv
import datetime
import fnmatch
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from peer_rows import GROUPS, work_of

BUILD = os.environ.get("SPORE_BUILD", os.path.join(HERE, "..", "build"))
ROUNDS = int(os.environ.get("SPORE_BENCH_ROUNDS", "4"))
THREADS = os.environ.get("SPORE_BENCH_THREADS", "2")
SECONDS = float(os.environ.get("SPORE_BENCH_SECONDS", "0.15"))

# Peers are held to the instruction set that spore is held to, as far as they can be.
CAPS = {"avx2": {"ONEDNN_MAX_CPU_ISA": "AVX2", "DNNL_MAX_CPU_ISA": "AVX2", "MKL_ENABLE_INSTRUCTIONS": "AVX2", "ATEN_CPU_CAPABILITY": "avx2"}}
COLUMNS = ["date", "machine", "isa", "threads", "commit", "row", "side", "unit", "value", "conditions"]


class Side:
    """A process that measures rows."""

    def __init__(self, name, command, env):
        self.name = name
        self.process = subprocess.Popen(command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        stderr=None if os.environ.get("SPORE_BENCH_VERBOSE") else subprocess.DEVNULL)

    def ask(self, row, args, seconds, forget=False):
        if self.process is None:
            return {"error": "the process has died"}
        try:
            self.process.stdin.write(json.dumps({"row": row, "args": args, "seconds": seconds, "forget": forget}) + "\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            code, self.process = self.process.wait(), None
            return {"error": f"the process has died (code {code})"}
        return json.loads(line)

    def close(self):
        if self.process is not None:
            self.process.stdin.close()
            self.process.wait()


def sides(with_compile, with_graph, with_onnx):
    env = dict(os.environ, OMP_NUM_THREADS=THREADS, SPORE_BENCH_THREADS=THREADS)
    plain = {k: v for k, v in env.items() if k != "PYTHONPATH"} | CAPS.get(os.environ.get("SPORE_ISA"), {})
    own = os.path.join(HERE, "peer_spore.py")
    out = [Side("spore", [sys.executable, own, "spore", "eager"], env)]
    if with_graph:
        out.append(Side("spore graph", [sys.executable, own, "spore", "graph"], env))
    torch, mindspore = os.environ.get("SPORE_BENCH_PEER"), os.environ.get("SPORE_BENCH_MINDSPORE")
    if torch:
        out.append(Side("torch", [torch, os.path.join(HERE, "peer_torch.py"), "eager"], plain))
        if with_compile:
            out.append(Side("torch.compile", [torch, os.path.join(HERE, "peer_torch.py"), "compile"], plain))
        if with_onnx:
            plain["SPORE_BENCH_ONNX"] = os.path.join(BUILD, "bench", "onnx")
            out += [Side(name, [torch, os.path.join(HERE, "peer_onnx.py"), name], plain) for name in ("onnxruntime", "openvino")]
    if mindspore:
        out.append(Side("mindspore", [mindspore, own, "mindspore", "eager"], plain))
        if with_graph:
            out.append(Side("mindspore graph", [mindspore, own, "mindspore", "graph"], plain))
    return out


def write_onnx(networks):
    """What ONNX Runtime and OpenVINO read, exported by spore."""
    folder = os.path.join(BUILD, "bench", "onnx")
    for name, batch in networks:
        path = os.path.join(folder, f"{name}_{batch}.onnx")
        if not os.path.exists(path):
            os.makedirs(folder, exist_ok=True)
            subprocess.run([sys.executable, os.path.join(HERE, "inference.py"), name, str(batch), path], check=True)


def measure(name, args, all_sides):
    found = {}
    for turn in range(ROUNDS):
        for side in all_sides:
            if turn and "error" in found[side.name]:
                continue
            answer = side.ask(name, args, SECONDS, forget=turn == 0)
            answer.pop("row", None)
            found[side.name] = answer
    return found


def measure_memory(name):
    """Rise of resident memory in the first steps, each side in a fresh process."""
    env = dict(os.environ, OMP_NUM_THREADS=THREADS)
    plain = {k: v for k, v in env.items() if k != "PYTHONPATH"}
    models = os.path.join(HERE, "models.py")
    commands = {"spore": ([sys.executable, models, "spore", "resident", "eager", name], env),
                "spore graph": ([sys.executable, models, "spore", "resident", "graph", name], env)}
    if os.environ.get("SPORE_BENCH_PEER"):
        commands["torch"] = ([os.environ["SPORE_BENCH_PEER"], os.path.join(HERE, "models_torch.py"), "resident", name], plain)
    found = {}
    for side, (command, environment) in commands.items():
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        found[side] = {"best": json.loads(done.stdout)[name]} if done.returncode == 0 else {"error": done.stderr[-500:]}
    return found


def machine():
    model, features = "unknown", ""
    with open("/proc/cpuinfo", encoding="ascii", errors="replace") as file:
        for line in file:
            key, _, value = line.partition(":")
            if key.strip() == "model name" and model == "unknown":
                model = value.strip()
            if key.strip() == "flags" and not features:
                features = " ".join(w for w in value.split() if w in ("avx2", "avx512f", "avx512_vnni", "avx512_bf16", "amx_bf16"))
    return {"cpu": model, "features": features, "threads": int(THREADS), "date": datetime.date.today().isoformat(),
            "isa": os.environ.get("SPORE_ISA", "")}


def instructions():
    """What spore uses, and whether the peers are held to it."""
    done = subprocess.run([os.path.join(BUILD, "spore"), "doctor"], capture_output=True, text=True)
    used = next((line.split(None, 2)[2] for line in done.stdout.splitlines() if line.startswith("in use")), "unknown")
    if not os.environ.get("SPORE_ISA"):
        return f"{used}; peers: what the processor has"
    if os.environ["SPORE_ISA"] not in CAPS:
        return f"{used}; peers: what the processor has (no setting is known that holds them to {os.environ['SPORE_ISA']})"
    return f"{used}; torch and OpenVINO likewise; ONNX Runtime: what the processor has (it has no setting)"


def keep(table, rows, conditions):
    """Append the times of `rows` to bench/results/peers.csv."""
    path = os.path.join(HERE, "results", "peers.csv")
    new, where = not os.path.exists(path), table["machine"]
    commit = subprocess.run(["git", "-C", HERE, "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()
    with open(path, "a", encoding="utf-8", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        if new:
            out.writerow(COLUMNS)
        for name in rows:
            for side, time in table["rows"][name]["times"].items():
                if "best" in time:
                    unit, value = ("MB", time["best"] / 1e6) if name.startswith("memory.") else ("ms", time["best"] * 1e3)
                    out.writerow([where["date"], f"{where['cpu']} ({where['features']})", where["isa"] or "all", THREADS, commit, name,
                                  f"{side} {table['versions'][side.split('.')[0].split()[0]]}" if side.split(".")[0].split()[0] in table["versions"] else side,
                                  unit, f"{value:.4g}", conditions])


def versions():
    code = ("import json,importlib.metadata as m\n"
            "out={}\n"
            "for n in ('torch','onnxruntime','openvino','mindspore'):\n"
            "    try: out[n]=m.version(n)\n"
            "    except m.PackageNotFoundError: pass\n"
            "print(json.dumps(out))")
    out = {}
    for name in ("SPORE_BENCH_PEER", "SPORE_BENCH_MINDSPORE"):
        if os.environ.get(name):
            done = subprocess.run([os.environ[name], "-c", code], capture_output=True, text=True)
            if done.returncode == 0:
                out.update(json.loads(done.stdout))
    return out


def limits():
    """What `spore bench` measures of this machine: operations a second by dtype, and bytes a second of memory ("memory")."""
    tool, found = os.path.join(BUILD, "spore"), {}
    if not os.path.exists(tool):
        return found
    done = subprocess.run([tool, "bench"], capture_output=True, text=True, env=dict(os.environ, SPORE_NUM_THREADS=THREADS))
    for line in done.stdout.splitlines():
        words = line.split()
        if len(words) < 5 or words[-1] not in ("Gop/s", "GB/s") or words[-3] not in ("Gop/s", "GB/s"):
            continue
        key = "memory" if line.startswith("reading, memory") else words[1] if words[-1] == "Gop/s" else None
        if key is not None:
            found[key] = max(found.get(key, 0.0), 1e9 * float(words[-2]))
    return found


def share_of(name, args, own, found):
    """The part of the machine's limit that our time makes use of; None where that is not counted."""
    work = work_of(name, args)
    if own is None or work is None or not found.get(work[0]):
        return None
    return work[1] / own / found[work[0]]


def ratio_of(times, worst=False):
    """Our time over that of the fastest peer, its name; None when there is no peer. Of our modes the better counts, or the worse."""
    own = (max if worst else min)((v["best"] for k, v in times.items() if k.startswith("spore") and "best" in v), default=None)
    peers = [(v["best"], k) for k, v in times.items() if not k.startswith("spore") and "best" in v]
    if own is None or not peers:
        return own, None, None
    best, name = min(peers)
    return own, own / best, name


def shown(seconds, name=""):
    if seconds is None:
        return "-"
    if name.startswith("memory."):
        return f"{seconds / 1e6:.3g} MB"
    return f"{seconds * 1e3:.3g} ms" if seconds >= 1e-3 else f"{seconds * 1e6:.3g} us"


def markdown(table):
    amx = "amx_bf16" in table["machine"]["features"] and table["machine"]["isa"] in ("", "amx")
    names = sorted({side for row in table["rows"].values() for side in row["times"]}, key=lambda s: (not s.startswith("spore"), s))
    lines = ["| row | " + " | ".join(names) + " | ratio | aim | of the limit |", "|---|" + "---|" * (len(names) + 3)]
    for group, group_rows in GROUPS.items():
        for name, args, aim_amx, aim_plain in group_rows if group != "operators" else ():
            row = table["rows"].get(name)
            if row is None:
                continue
            own, ratio, peer = ratio_of(row["times"], name.startswith("memory."))
            share = share_of(name, args, own, table.get("limits", {}))
            aim = aim_amx if amx else aim_plain
            text = "-" if ratio is None else f"{ratio:.2f} of {peer}"
            if ratio is not None and aim is not None and ratio > aim:
                text = f"**{text}**"
            cells = [shown(row["times"].get(side, {}).get("best"), name) for side in names]
            lines.append(f"| {name} | " + " | ".join(cells) + f" | {text} | {aim if aim is not None else '-'} | "
                         + ("-" if share is None else f"{share:.0%}") + " |")
    return "\n".join(lines) + "\n"


def losers(table, least=1.0):
    """Operators that take longer than the peer's, the worst first, as Markdown: sizes and dtypes of one operator stand together."""
    found = {}
    for name, row in table["rows"].items():
        own, ratio, _ = ratio_of(row["times"])
        if name.startswith("op.") and ratio is not None and ratio > least:
            _, operator, dtype, size, *grad = name.split(".")
            found.setdefault(operator, []).append((ratio, f"{dtype} {size}{' gradient' if grad else ''}", own))
    lines = ["| operator | times the peer's, our time |", "|---|---|"]
    for operator, cases in sorted(found.items(), key=lambda item: -max(item[1])[0]):
        cases.sort(reverse=True)
        lines.append(f"| {operator} | " + "; ".join(f"{what} {ratio:.2f} ({shown(own)})" for ratio, what, own in cases) + " |")
    return "\n".join(lines) + "\n"


def chosen(wanted):
    for group, rows in GROUPS.items():
        for row in rows:
            mine = wanted and any(w in (group, row[0]) or fnmatch.fnmatch(row[0], w) for w in wanted)
            if mine or not wanted and group != "operators":
                yield group, row


def main():
    wanted = sys.argv[1:]
    rows = list(chosen(wanted))
    if not rows:
        raise SystemExit(f"bench-peers: no row or group is called {' '.join(wanted)}; groups: {' '.join(GROUPS)}")
    if not os.environ.get("SPORE_BENCH_PEER") and not os.environ.get("SPORE_BENCH_MINDSPORE"):
        print("no peers: set SPORE_BENCH_PEER and SPORE_BENCH_MINDSPORE to interpreters that have torch and MindSpore")
    path = os.path.join(BUILD, "bench", "peers.json")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    table = {"rows": {}}
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            table = json.load(file)
    table["machine"], table["versions"] = machine(), versions() or table.get("versions", {})
    print(f"instructions: {instructions()}", flush=True)
    whole = any(group in ("fused", "train", "train_conv", "train_sequence", "infer") for group, _ in rows)
    networks = [args for group, (_, args, _, _) in rows if group == "infer"]
    write_onnx(networks)
    everyone = sides(with_compile=whole and os.environ.get("SPORE_BENCH_COMPILE") != "0", with_graph=whole, with_onnx=bool(networks))
    for group, (name, args, _, _) in rows:
        times = measure_memory(*args) if group == "memory" else measure(name, args, everyone)
        table["rows"][name] = {"times": times}
        own, ratio, peer = ratio_of(times, group == "memory")
        print(f"{name:{48 if group == 'operators' else 32}} {shown(own, name):>10}" + (f"   {ratio:6.2f} of {peer}" if ratio else ""), flush=True)
        for side, time in times.items():
            if "error" in time and (side.startswith("spore") or group == "operators"):
                print(f"    {side}: {time['error']}")
    for side in everyone:
        side.close()
    if any(work_of(name, args) for _, (name, args, _, _) in rows):
        table["limits"] = limits() or table.get("limits", {})
        for _, (name, args, _, _) in rows:
            share = share_of(name, args, ratio_of(table["rows"][name]["times"])[0], table["limits"])
            if share is not None:
                print(f"{name:32} {share:.0%} of the measured limit of {work_of(name, args)[0]}")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(table, file, indent=1)
    if os.environ.get("SPORE_BENCH_KEEP"):
        keep(table, [name for _, (name, _, _, _) in rows], os.environ["SPORE_BENCH_KEEP"])
    with open(path[:-4] + "md", "w", encoding="utf-8") as file:
        file.write(markdown(table))
    if any(group == "operators" for group, _ in rows):
        with open(os.path.join(os.path.dirname(path), "operators.md"), "w", encoding="utf-8") as file:
            file.write(losers(table))


if __name__ == "__main__":
    main()

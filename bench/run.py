# SPDX-License-Identifier: Apache-2.0
"""``make bench``: the figures of spore, and their ratio to torch measured in the same run.

SPORE_BENCH_PEER names a Python interpreter that has torch; without it this interpreter is asked. Runs of both sides
alternate, the minimum counts. One line a case: name, spore, torch, ratio, aim.

``make bench BENCH=models`` measures training steps of whole networks instead, eager and compiled, with torch and, where
SPORE_BENCH_MINDSPORE names an interpreter that has it, MindSpore in graph mode; ``BENCH="models lenet mlp"`` some of them. ``make bench BENCH=files`` measures checkpoints of 1 GB,
``BENCH=record`` MindRecord files, ``BENCH=crowd`` four processes at once, ``BENCH=pipeline`` data pipelines (SPORE_BENCH_MINDSPORE, SPORE_BENCH_PEER), ``BENCH=cache`` the dataset cache,
``BENCH=slices`` vmap of gradients, ``BENCH=parallel`` several processes (SPORE_BENCH_PEER).
"""
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.environ.get("SPORE_BUILD", os.path.join(HERE, "..", "build"))
ROUNDS = 3
# case, unit, factor to the unit, aim as a ratio to torch
RATIOS = [("add_4", "ns", 1e9, 0.5), ("add_4_grad", "ns", 1e9, 0.5), ("lenet_step", "ms", 1e3, 0.7)]


def run(command, env=None):
    """JSON of the last output line, or None."""
    done = subprocess.run(command, capture_output=True, text=True, env=env)
    if done.returncode:
        sys.stderr.write(done.stderr)
        return None
    return json.loads(done.stdout.strip().splitlines()[-1])


def merge(found, new):
    for key, value in (new or {}).items():
        found[key] = min(value, found.get(key, value))


# Compile times that are aimed at, in milliseconds.
COMPILE = {"lenet": 50, "resnet50": 1000, "transformer12": 1000}


def show_model(name, found, sides):
    """One line of the table: our step, and of each other side the time and our ratio to it."""
    own = found.get("graph", {}).get(name)
    compiled = (found.get("graph", {}).get(name + "_first", 0) - (own or 0)) * 1e3
    line = f"{name:14}{compiled:>7.0f} ms{COMPILE.get(name, '-'):>6}"
    for side in sides:
        other = found.get(side, {}).get(name)
        ratio = f" ({own / other:.2f})" if own and other and side != "graph" else ""
        line += f"{other * 1e3:>11.2f} ms{ratio:>8}" if other else f"{'-':>22}"
    print(line, flush=True)


def models(names):
    """Training steps: spore compiled against spore eager, torch eager and compiled, MindSpore compiled.

    The two modes of spore take turns in one process; the others take turns with it, the least time counts."""
    env = dict(os.environ, OMP_NUM_THREADS="2")
    plain = {k: v for k, v in env.items() if k != "PYTHONPATH"}
    own, peers = os.path.join(HERE, "models.py"), []
    torch = os.environ.get("SPORE_BENCH_PEER")
    if torch:
        script = os.path.join(HERE, "models_torch.py")
        peers += [("torch", [torch, script, "eager"]), ("torch.compile", [torch, script, "compile"])]
    mindspore = os.environ.get("SPORE_BENCH_MINDSPORE")
    if mindspore:
        peers.append(("mindspore", [mindspore, own, "mindspore", "graph"]))
    sides = ["graph", "eager", *(name for name, _ in peers)]
    print(f"{'step':14}{'compile':>10}{'aim':>6}" + "".join(f"{side:>22}" for side in sides))
    for name in names or ("lenet", "mlp", "lstm", "gpt", "transformer12", "resnet18", "resnet50"):
        found = {side: {} for side in sides}
        for _ in range(ROUNDS):
            both = run([sys.executable, own, "spore", "both", name], env) or {}
            for side in ("graph", "eager"):
                merge(found[side], {key.replace(f"_{side}", ""): v for key, v in both.items() if f"_{side}" in key})
            for side, command in peers:
                merge(found[side], run([*command, name], plain))
        show_model(name, found, sides)
        if name == "resnet50":
            show_memory(name, run([sys.executable, own, "spore", "memory", name], env))


def show_memory(name, found):
    if found:
        eager, graph, arena, bound = (found[f"{name}_{key}"] / 2 ** 20 for key in ("eager_bytes", "graph_bytes", "arena", "bound"))
        print(f"{name} memory: eager peak {eager:.0f} MB, compiled {graph:.0f} MB ({graph / eager:.2f}, aim 0.7); arena {arena:.0f} MB, "
              f"lower bound {bound:.0f} MB ({arena / bound:.2f}, aim 1.2)", flush=True)


def main():
    if sys.argv[1:2] == ["models"]:
        return models(sys.argv[2:])
    if sys.argv[1:2] in (["files"], ["record"], ["pipeline"], ["cache"], ["crowd"], ["slices"], ["parallel"]):
        return subprocess.call([sys.executable, os.path.join(HERE, sys.argv[1] + ".py")])
    peer = os.environ.get("SPORE_BENCH_PEER", sys.executable)
    has_peer = subprocess.run([peer, "-c", "import torch"], capture_output=True).returncode == 0
    if not has_peer:
        print("torch is not installed: no ratios (SPORE_BENCH_PEER names an interpreter that has it)")
    env = dict(os.environ, OMP_NUM_THREADS="2")
    plain = {k: v for k, v in env.items() if k != "PYTHONPATH"}
    spore, torch = {}, {}
    for _ in range(ROUNDS):
        merge(spore, run([sys.executable, os.path.join(HERE, "cases.py"), "spore"], env))
        for program in ("bench_eager", "bench_graph"):
            merge(spore, run([os.path.join(BUILD, "bench", program)], env))
        if has_peer:
            merge(torch, run([peer, os.path.join(HERE, "cases.py"), "torch"], plain))
    if "add_4" not in spore:
        raise SystemExit("bench: spore could not be measured")
    print(f"{'case':24}{'spore':>12}{'torch':>12}{'ratio':>8}{'aim':>8}")
    for name, unit, factor, aim in RATIOS:
        own, other = spore[name] * factor, torch.get(name, 0) * factor
        ratio = f"{own / other:8.2f}" if other else " " * 7 + "-"
        print(f"{name:24}{own:>9.1f} {unit}{other:>9.1f} {unit}{ratio}{aim:>8}")
    for name, aim in (("add_4_c", 150), ("add_4_grad_c", None), ("graph_add_4_c", 60), ("graph_add_4_plain_c", 60),
                      ("graph_loop_turn_c", None)):
        print(f"{name:24}{spore[name]:>9.1f} ns{'':12}{'':8}{aim if aim else '-':>8}")
    print(f"{'import (beyond numpy)':24}{spore['import'] * 1e3:>9.1f} ms{'':12}{'':8}{100:>8}")
    print(f"{'resident after import':24}{spore['resident_mb']:>9.1f} MB{torch.get('resident_mb', 0):>9.1f} MB{'':8}{60:>8}")


if __name__ == "__main__":
    main()

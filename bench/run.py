# SPDX-License-Identifier: Apache-2.0
"""``make bench``: the figures of spore, and their ratio to torch measured in the same run.

SPORE_BENCH_PEER names a Python interpreter that has torch; without it this interpreter is asked. Runs of both sides
alternate, the minimum counts. One line a case: name, spore, torch, ratio, aim.

``make bench BENCH=models`` measures training steps of whole networks instead, eager and compiled, with torch and, where
SPORE_BENCH_MINDSPORE names an interpreter that has it, MindSpore in graph mode; ``BENCH="models lenet mlp"`` some of them. ``make bench BENCH=files`` measures checkpoints of 1 GB.
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


def models(names):
    """Training steps: spore compiled against spore eager, torch eager and compiled, MindSpore compiled."""
    env = dict(os.environ, OMP_NUM_THREADS="2")
    plain = {k: v for k, v in env.items() if k != "PYTHONPATH"}
    sides = [("graph", [sys.executable, os.path.join(HERE, "models.py"), "spore", "graph"], env),
             ("eager", [sys.executable, os.path.join(HERE, "models.py"), "spore", "eager"], env)]
    torch = os.environ.get("SPORE_BENCH_PEER")
    if torch:
        own = os.path.join(HERE, "models_torch.py")
        sides += [("torch", [torch, own, "eager"], plain), ("torch.compile", [torch, own, "compile"], plain)]
    mindspore = os.environ.get("SPORE_BENCH_MINDSPORE")
    if mindspore:
        sides.append(("mindspore", [mindspore, os.path.join(HERE, "models.py"), "mindspore", "graph"], plain))
    print(f"{'step':12}{'compile':>10}" + "".join(f"{side:>24}" for side, _, _ in sides))
    for name in names or ("lenet", "mlp", "lstm", "gpt"):
        found = {side: {} for side, _, _ in sides}
        for _ in range(ROUNDS):
            for side, command, where in sides:
                merge(found[side], run([*command, name], where))
        own = found["graph"].get(name)
        line = f"{name:12}{(found['graph'].get(name + '_first', 0) - (own or 0)) * 1e3:>7.0f} ms"
        for side, _, _ in sides:
            other = found[side].get(name)
            ratio = f" ({own / other:.2f})" if own and other and side != "graph" else ""
            line += f"{other * 1e3:>13.1f} ms{ratio:>8}" if other else f"{'-':>24}"
        print(line, flush=True)


def main():
    if sys.argv[1:2] == ["models"]:
        return models(sys.argv[2:])
    if sys.argv[1:2] == ["files"]:
        return subprocess.call([sys.executable, os.path.join(HERE, "files.py")])
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

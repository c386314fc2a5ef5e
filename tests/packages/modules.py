# SPDX-License-Identifier: Apache-2.0
"""Import every module of packages, under MindSpore and under spore.

    python modules.py ask FOLDER ... > there.tsv       under MindSpore: every module of the packages in folders NAME-VERSION
    python modules.py ask --spore FOLDER ... > here.tsv
    python modules.py compare there.tsv here.tsv [-v]  a table: modules, imported there, imported here, there and not here

The packages' own requirements must be importable, but for MindSpore. One process imports the modules of a package one after the other; where one ends
or hangs, another goes on with the next."""
import collections
import importlib
import os
import pathlib
import select
import subprocess
import sys
import time

PATIENCE = 300      # seconds for one module


def modules_of(folder):
    """Names of all modules below the top folders of an unpacked package, parents first."""
    found = []
    for path in sorted(pathlib.Path(folder).rglob("*.py")):
        parts = path.relative_to(folder).with_suffix("").parts
        if parts[0].endswith((".dist-info", ".data")) or parts[0] in ("tests", "test", "setup", "docs", "examples") or not all(p.isidentifier() for p in parts):
            continue
        if parts[-1] != "__main__":
            found.append(".".join(parts[:-1] if parts[-1] == "__init__" else parts))
    return [name for name in found if name]


def child(names):
    """Import the modules; a line for each on descriptor 3, for they may print what they like."""
    if os.environ.get("AS_MINDSPORE"):
        import spore
        spore.as_mindspore()
    out = os.fdopen(3, "w", buffering=1)
    for name in names:
        try:
            importlib.import_module(name)
            said = "ok"
        except BaseException as e:      # whatever it is, SystemExit too: the next one is asked
            said = f"{type(e).__name__}: {(str(e).strip() or '?').splitlines()[0]}"[:200]
        out.write(f"{name}\t{said}\n")
    os._exit(0)


def answers(names, environment):
    """(module, answer) of all; processes are started again after one that ends or hangs."""
    while names:
        read, write = os.pipe()
        process = subprocess.Popen([sys.executable, __file__, "child", *names], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   stdin=subprocess.DEVNULL, preexec_fn=lambda: os.dup2(write, 3), pass_fds=(3, write))
        os.close(write)
        rest, buffer, last = list(names), b"", time.monotonic()
        while True:
            if select.select([read], [], [], 1.0)[0]:
                data = os.read(read, 65536)
                if not data:
                    break
                buffer, last = buffer + data, time.monotonic()
                *lines, buffer = buffer.split(b"\n")
                for line in lines:
                    name, said = line.decode("utf-8", "replace").split("\t", 1)
                    rest.remove(name)
                    yield name, said
            elif time.monotonic() - last > PATIENCE:
                process.kill()
                break
        process.wait()
        os.close(read)
        names = rest
        if names:
            yield names.pop(0), f"ends the process ({process.returncode})"


def ask(*folders):
    environment = dict(os.environ)
    if folders[0] == "--spore":
        folders, environment["AS_MINDSPORE"] = folders[1:], "1"
    for folder in folders:
        names = modules_of(folder)
        own = dict(environment, PYTHONPATH=os.pathsep.join([str(folder), environment.get("PYTHONPATH", "")]))
        for name, said in answers(names, own):
            print(pathlib.Path(folder).name, name, said, sep="\t", flush=True)


def compare(there, here, verbose=None):
    there, here = ({tuple(line.split("\t")[:2]): line.rstrip("\n").split("\t")[2] for line in open(path)} for path in (there, here))
    rows = collections.defaultdict(lambda: [0, 0, 0, 0])
    for key in there:
        if key not in here:
            continue
        row, good, ours = rows[key[0]], there[key] == "ok", here[key] == "ok"
        row[0], row[1], row[2], row[3] = row[0] + 1, row[1] + good, row[2] + ours, row[3] + (good and not ours)
        if good and not ours:
            print(*key, here[key], sep="\t")
        elif verbose and not ours:
            print(*key, "there: " + there[key], "here: " + here[key], sep="\t")
    print("| package | modules | import with MindSpore | import here | there and not here |\n|---|---|---|---|---|")
    for name, row in sorted(rows.items()):
        print(f"| {name.replace('-', ' ') if name.count('-') == 1 else name} | " + " | ".join(map(str, row)) + " |")
    print("| all | " + " | ".join(str(sum(row[i] for row in rows.values())) for i in range(4)) + " |")


if __name__ == "__main__":
    {"ask": ask, "compare": compare, "child": lambda *names: child(list(names))}[sys.argv[1]](*sys.argv[2:])

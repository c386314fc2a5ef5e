# SPDX-License-Identifier: Apache-2.0
"""Run the programs with spore, compare with what MindSpore gave, and report.

    python tests/graph/replay.py [-v] [--match TEXT] [--mode graph|eager] [--words] [FILE ...]
    python tests/graph/replay.py --pending            write pending.txt anew from what differs now

Each program is equal, better (different.txt: what plain Python gives is right too), different (another result) or error
(another exception, a crash, no end). --mode eager ignores jit and GRAPH_MODE: what plain Python does. --words lists the
exceptions whose type is right and whose message does not begin like MindSpore's. --module mindspore tests the harness.
"""
import argparse
import collections

import graphtest


def begins_alike(want, got, n_words=3):
    return want.split()[:n_words] == got.split()[:n_words]


def main():
    parser = argparse.ArgumentParser(description="replay recorded programs")
    parser.add_argument("files", nargs="*", help="files of programs/, without .py (all)")
    parser.add_argument("--match", default="", help="only programs whose name contains this text")
    parser.add_argument("--mode", default="graph", choices=("graph", "eager"), help="compile (graph) or not (eager)")
    parser.add_argument("--module", default="spore", help="package to test (spore)")
    parser.add_argument("--words", action="store_true", help="also list messages that begin differently")
    parser.add_argument("--pending", action="store_true", help="write pending.txt from what differs")
    parser.add_argument("--show-stderr", action="store_true", help="let programs write to standard error")
    parser.add_argument("-v", "--verbose", action="store_true", help="say what differs")
    args = parser.parse_args()
    if args.pending and (args.files or args.match or args.mode != "graph"):
        parser.error("--pending needs all programs in graph mode")
    recorded, different, count, failing = graphtest.recorded(), graphtest.names_in(graphtest.DIFFERENT), \
        collections.Counter(), []
    with graphtest.Runner(args.module, quiet=not args.show_stderr) as runner:
        for name, one in runner.programs.items():
            if args.files and one.file not in args.files or args.match not in name or name not in recorded:
                continue
            word, fault = graphtest.verdict(runner, name, recorded[name], different, args.mode)
            count[word] += 1
            failing += [name] if word in ("different", "error") else []
            print(f"{word:9} {one.file}.{name}" + (f"\n          {fault}" if fault and args.verbose else ""), flush=True)
            if args.words and word == "equal" and "error" in recorded[name]:
                got = runner.run(name, args.mode)
                if not begins_alike(recorded[name]["message"], got["message"]):
                    print(f"          says: {got['message']}\n          MindSpore: {recorded[name]['message']}")
    print(", ".join(f"{count[word]} {word}" for word in ("equal", "better", "different", "error")),
          f"of {sum(count.values())} programs")
    if args.pending:
        head = "# Written by replay.py --pending: programs whose result differs from MindSpore's. It may only shrink."
        graphtest.PENDING.write_text("\n".join([head, *sorted(failing)]) + "\n", encoding="utf-8")
        return 0
    return 1 if failing else 0


if __name__ == "__main__":
    raise SystemExit(main())

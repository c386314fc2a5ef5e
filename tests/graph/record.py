# SPDX-License-Identifier: Apache-2.0
"""Record what MindSpore answers to the programs, into recorded.json. Run with the Python that has MindSpore.

    python tests/graph/record.py [-v] [--match TEXT] [FILE ...]

Without FILE or --match everything is recorded anew; with them only those programs, the rest is kept. A program of which
MindSpore gives another result when it is run again is not reproducible and is reported with --twice.
"""
import argparse
import json

import graphtest


def main():
    parser = argparse.ArgumentParser(description="record MindSpore's answers")
    parser.add_argument("files", nargs="*", help="files of programs/, without .py (all)")
    parser.add_argument("--match", default="", help="only programs whose name contains this text")
    parser.add_argument("--new", action="store_true", help="only programs without a record")
    parser.add_argument("--twice", action="store_true", help="run everything twice and report what is not reproducible")
    parser.add_argument("-v", "--verbose", action="store_true", help="print every result")
    args = parser.parse_args()
    old, failed = graphtest.recorded(), 0
    with graphtest.Runner("mindspore") as runner:
        results = {}
        for name, one in runner.programs.items():
            chosen = (not args.files or one.file in args.files) and args.match in name
            if not chosen or args.new and name in old:
                if name in old:
                    results[name] = old[name]
                continue
            results[name] = runner.run(name)
            if args.twice and (fault := graphtest.compare(results[name], runner.run(name), one)):
                print(f"{one.file}.{name}: not reproducible: {fault}")
                failed += 1
            if args.verbose:
                print(f"{one.file}.{name}: {json.dumps(results[name])[:700]}", flush=True)
    lines = [f"{json.dumps(name)}: {json.dumps(results[name], separators=(',', ':'))}" for name in sorted(results)]
    graphtest.RECORDED.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    n_errors, n_crashes = (sum(key in r for r in results.values()) for key in ("error", "crash"))
    print(f"{len(results)} programs: {len(results) - n_errors - n_crashes} results, {n_errors} exceptions, "
          f"{n_crashes} crashes")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())

# SPDX-License-Identifier: Apache-2.0
"""Replay the recorded cases and report, without pytest.

    python tests/oracle/replay.py [-v] [--module NAME] [--match TEXT] [FILE ...]
    python tests/oracle/replay.py --pending           write pending.txt anew from what fails now

--module mindspore checks the harness itself: everything recorded must pass there.
"""
import argparse
import collections

import oracle


def main():
    parser = argparse.ArgumentParser(description="replay recorded cases")
    parser.add_argument("files", nargs="*", help="case files (all)")
    parser.add_argument("--module", default="spore", help="package to test (spore)")
    parser.add_argument("--match", default="", help="only cases whose id or code contains this text")
    parser.add_argument("--pending", action="store_true", help="write pending.txt from what fails")
    parser.add_argument("-v", "--verbose", action="store_true", help="show every failing case")
    args = parser.parse_args()
    recorded = {}
    for file in args.files or [p.stem for p in sorted(oracle.CASES.glob("*.py"))]:
        recorded.update(oracle.load(file))
    cases = [c for f in (args.files or [None]) for c in oracle.load_cases(f)
             if c.id in recorded and args.match in f"{c.id} {c.code}"]
    failing, passing, apart, different, groups = [], [], [], oracle.different(), oracle.answered()

    def take(case, result):
        fault = oracle.compare(recorded[case.id], result, case)
        meant = bool(fault) and oracle.is_meant(case, fault, different, groups)
        (apart if meant else failing if fault else passing).append(case)
        if fault and not meant and args.verbose:
            print(f"{case.id}\n    {case.code}\n    {fault}", flush=True)
    oracle.run_apart(cases, args.module, take)
    print(f"{len(passing)} of {len(cases)} pass, {len(failing)} fail, {len(apart)} differ on purpose")
    if args.pending:
        if args.files or args.match:
            parser.error("--pending needs all cases")
        total, bad = collections.Counter(c.api for c in cases), collections.Counter(c.api for c in failing)
        whole = {api for api, n in bad.items() if n == total[api]}
        names = sorted(whole | {c.id for c in failing if c.api not in whole})
        head = "# Written by replay.py --pending: cases, or api names all of whose cases, fail. It may only shrink."
        oracle.PENDING.write_text("\n".join([head, *names]) + "\n", encoding="utf-8")
    return 1 if failing and not args.pending else 0


if __name__ == "__main__":
    raise SystemExit(main())

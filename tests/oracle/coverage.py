# SPDX-License-Identifier: Apache-2.0
"""Which names of names.txt the recorded cases cover: three cases each, one with a gradient where one is due.

    python tests/oracle/coverage.py [-v]       -v shows every name with its counts
"""
import collections
import sys

import oracle

WANTED = 3
INSIDE = ("value_and_grad(", "ms.grad(")                 # cases that differentiate in their own code


def names():
    """(section, name, gradient due, remark) for every line of names.txt."""
    for line in (oracle.HERE / "names.txt").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            section, name, grad, *remark = line.split("\t")
            yield section, name, grad == "grad", remark[0] if remark else ""


def reasons():
    """Why cases could not be recorded: api name to a count of reasons."""
    found = collections.defaultdict(collections.Counter)
    for line in (oracle.HERE / "not_recordable.txt").read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            head, _, reason = line.rpartition("  # ")
            api = head.split(" ", 1)[1].split("  ")[0].rpartition("-")[0]
            found[api][("gradient: " if "  gradient of " in line else "") + reason] += 1
    return found


def main():
    recorded = {}
    for path in oracle.DATA.glob("*.npz"):
        recorded.update(oracle.load(path.stem))
    count, with_grad = collections.Counter(), collections.Counter()
    for case in oracle.load_cases():
        if case.id in recorded:
            count[case.api] += 1
            with_grad[case.api] += "grad" in recorded[case.id] or any(text in case.code for text in INSIDE)
    why, full, rows, absent = reasons(), 0, [], 0
    for section, name, grad, remark in names():
        fault = []
        if "not in 2.10" in remark:
            absent += 1
            fault.append("not in MindSpore 2.10")
        elif count[name] < WANTED:
            fault.append(f"{count[name]} of {WANTED} cases")
        if not fault and grad and not with_grad[name]:
            fault.append("no gradient")
        full += not fault
        if fault and why[name]:
            fault.append(f"not recordable: {why[name].most_common(1)[0][0]}")
        if fault or "-v" in sys.argv:
            rows.append(f"{section:5}{name:45}{count[name]:4} cases {with_grad[name]:4} gradients  {'; '.join(fault)}")
    print("\n".join(rows))
    total = sum(1 for _ in names())
    print(f"{full} of {total} names covered ({WANTED} cases, a gradient where due), {absent} do not exist in "
        f"MindSpore 2.10; "
          f"{sum(count.values())} cases in all, {sum(with_grad.values())} with gradients")


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""Record what MindSpore computes: run this with a Python that has MindSpore 2.10 and numpy.

    python tests/oracle/record.py [-v] [FILE ...]    cases/FILE.py -> data/FILE.npz; all files without arguments

-v shows the message of every exception that is recorded: it must be an answer worth keeping, not a slip in the case.

Cases that MindSpore cannot run (no CPU kernel, mostly) are left out of the data and listed in not_recordable.txt. So
are those whose answer differs when all are run again in reverse order: some kernels return memory they never wrote.
"""
import re
import sys

import oracle

LIST = oracle.HERE / "not_recordable.txt"
MISSING = re.compile(r"Unsupported op|unsupported data type|not support(ed)? on|"
                     r"unregistered|does not support this kernel|Select CPU operator|KernelMod|unexpected kernel|the "
                     r"process ended|"
                     r"dimension of output must not be 0|only support|type_id:|unsupported reduce", re.I)
SLIP = re.compile(r"has no attribute|unexpected keyword")           # of the case, unless it asks for an error


def one_line(text):
    lines = [line.strip() for line in text.splitlines() if line.strip(" -")]
    lines = [line for line in lines if "Call Stack" not in line]
    text = " ".join(lines[:2]) or "no message"
    return re.sub(r"0x[0-9a-f]+", "0x..", re.split(r", Please confirm| mindspore/\w+/| The supported data types",
        text)[0])[:110]


def record(file, verbose):
    """Record one case file; return the cases left out, as lines of not_recordable.txt."""
    results, left_out = {}, []

    def take(case, result):
        failed, code = "error" in result, case.code.strip().replace("\n", "\\n")
        if failed and MISSING.search(result["message"]):
            left_out.append(f"{file} {case.id}  {code}  # no kernel: {one_line(result['message'])}")
        elif failed and (case.kind not in ("error",
                "either") or case.kind == "either" and SLIP.search(result["message"])):
            left_out.append(f"{file} {case.id}  {code}  # {result['error']}: {one_line(result['message'])}")
        elif not failed and case.kind == "error":
            left_out.append(f"{file} {case.id}  {code}  # does not raise")
        else:
            if "grad_error" in result:
                left_out.append(f"{file} {case.id}  gradient of {code}  # {result['grad_error']}: "
                    f"{one_line(result['message'])}")
            elif failed and verbose:
                print(f"{case.id}  {case.code}  {case.inputs}  # {result['error']}: {one_line(result['message'])}")
            results[case.id] = result
    cases = oracle.load_cases(file)
    oracle.run_apart(cases, "mindspore", take)

    def again(case, result):
        fault = oracle.compare(results[case.id], result, case)
        if fault:
            left_out.append(f"{file} {case.id}  {case.code!r}  # not the same twice: {one_line(fault)}")
            del results[case.id]
    oracle.run_apart([c for c in reversed(cases) if c.id in results], "mindspore", again)
    oracle.save(file, results)
    print(f"{file}: {len(results)} recorded, {len(left_out)} left out", flush=True)
    return left_out


def main():
    files = [a for a in sys.argv[1:] if a != "-v"] or [path.stem for path in sorted(oracle.CASES.glob("*.py"))]
    old = LIST.read_text(encoding="utf-8").splitlines() if LIST.exists() else []
    oracle.load_cases()                    # all files together, to find a case that stands twice
    others = {path.stem for path in oracle.CASES.glob("*.py")} - set(files)
    lines = [line for line in old if line.split(" ")[0] in others]
    for file in files:
        lines += record(file, "-v" in sys.argv)
    head = "# Written by record.py: file, id, code of cases MindSpore 2.10 cannot run on a CPU, and why."
    LIST.write_text("\n".join([head, *sorted(lines)]) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

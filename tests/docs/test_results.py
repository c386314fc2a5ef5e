# SPDX-License-Identifier: Apache-2.0
"""scripts/results-table shows the newest of what bench/results/peers.csv holds, and ratios that follow from it."""
import csv
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_every_row_is_shown_with_its_ratio():
    with open(ROOT / "bench/results/peers.csv", encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    assert lines and all(line["commit"] and line["machine"] and line["date"] for line in lines)
    for isa in {line["isa"] for line in lines}:
        shown = subprocess.run([sys.executable, ROOT / "scripts/results-table", isa], capture_output=True, text=True, check=True).stdout
        newest = {}
        for line in lines:
            if line["isa"] == isa:
                newest[line["threads"], line["row"], line["side"]] = float(line["value"])
        for threads, row in {(t, r) for t, r, _ in newest}:
            ours, theirs = ([v for (t, r, side), v in newest.items() if (t, r) == (threads, row) and side.startswith("spore") == own] for own in (True, False))
            want = f"{min(ours) / min(theirs):.2f}" if ours and theirs else "-"
            assert any(text.startswith(f"| {row} |") and f"| {want} |" in text for text in shown.splitlines()), (isa, row, want)

# SPDX-License-Identifier: Apache-2.0
"""What MindSpore's FileReader finds in tests/data/files/older, written to older.json beside it. Run under MindSpore:

    python tests/data/record_expect.py

Files that it does not read (a digest at the end, the oldest dialect) are left out.
"""
import hashlib
import importlib
import json
import os
import sys
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).parent / "files" / "older"


def plain(value):
    """A value that JSON can hold: arrays with dtype and shape, bytes by their sum."""
    if isinstance(value, np.ndarray):
        return {"dtype": str(value.dtype), "shape": list(value.shape), "values": value.reshape(-1).tolist()}
    if isinstance(value, bytes):
        return {"bytes": len(value), "sha256": hashlib.sha256(value).hexdigest()}
    return value


def rows_of(mr, path):
    return [{column: plain(value) for column, value in row.items()} for row in mr.FileReader([str(path)]).get_next()]


def main():
    mr = importlib.import_module((sys.argv[1] if len(sys.argv) > 1 else "mindspore") + ".mindrecord")
    found = {}
    for path in sorted(FOLDER.iterdir()):
        if path.suffix in (".db", ".json"):
            continue
        try:
            found[path.name] = rows_of(mr, path)
        except Exception as error:
            print(path.name, str(error).strip().splitlines()[0], file=sys.stderr)
    with open(FOLDER / "older.json", "w", encoding="utf-8") as file:
        json.dump(found, file, indent=None, separators=(",", ":"), sort_keys=True)
        file.write("\n")


if __name__ == "__main__":
    os.chdir(FOLDER)
    main()

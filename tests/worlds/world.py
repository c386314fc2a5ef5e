# SPDX-License-Identifier: Apache-2.0
"""A plugin of pytest: the tests run in a program that is not as usual. What is unusual is said by SPORE_WORLD, words with
spaces between: a locale (`de_DE.UTF-8`: the program has called setlocale), `fork` (it is a child of one that has used the
engine and its threads), `stack` (every test runs on a thread of 64 KB)."""
import locale
import os
import sys
import threading
from pathlib import Path

import pytest

LOCALES = Path(__file__).resolve().parents[2] / "build" / "locales"
STACK_BYTES = (256 if "libasan" in os.environ.get("LD_PRELOAD", "") else 64) << 10    # frames of a sanitizer are larger
MAIN_THREAD = {"test_full_disk_keeps_the_old_file"}  # it changes the handler of a signal, which Python permits there only
WORDS = os.environ["SPORE_WORLD"].split()


def enter_locale(name):
    os.environ["LOCPATH"] = str(LOCALES)
    try:
        locale.setlocale(locale.LC_ALL, name)
    except locale.Error:
        sys.exit(f"there is no locale {name} in {LOCALES}; run scripts/deps")
    assert locale.localeconv()["decimal_point"] != "."


def enter_fork():
    """Go on in a child; the parent, whose threads have worked, waits for it and ends as it does."""
    import numpy as np
    import spore as ms

    x = ms.Tensor(np.ones((600, 600), np.float32))
    assert float((x @ x).asnumpy()[0, 0]) == 600.0
    assert float((x + x).sum().asnumpy()) == 2 * 600.0 ** 2
    sys.stdout.flush()
    child = os.fork()
    if child:
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if code < 0:
            print(f"the forked child died of signal {-code}", file=sys.stderr, flush=True)
        os._exit(code if code >= 0 else 128 - code)


def pytest_configure(config):
    for word in WORDS:
        if word == "fork":
            enter_fork()
        elif word != "stack":
            enter_locale(word)


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem):
    """Only the test itself goes onto the small stack, not what pytest does around it."""
    if "stack" not in WORDS or pyfuncitem.originalname in MAIN_THREAD:
        return (yield)
    test, caught = pyfuncitem.obj, []

    def call(*args, **kwargs):
        def run():
            try:
                test(*args, **kwargs)
            except BaseException as error:  # also what pytest.skip raises
                caught.append(error)

        before = threading.stack_size(STACK_BYTES)
        try:
            thread = threading.Thread(target=run)
            thread.start()
        finally:
            threading.stack_size(before)
        thread.join()
        if caught:
            raise caught[0]

    pyfuncitem.obj = call
    try:
        return (yield)
    finally:
        pyfuncitem.obj = test

# SPDX-License-Identifier: Apache-2.0
import os
import pathlib
import subprocess

import pytest


@pytest.fixture
def spore_command():
    """Run the command of this build: spore_command(verb, ...); its output, or its complaint when a code is expected."""
    command = pathlib.Path(os.environ["SPORE_BUILD"]) / "spore"

    def run(*arguments, code=0, key=None):
        env = {k: v for k, v in os.environ.items() if k != "SPORE_KEY"}
        if key is not None:
            env["SPORE_KEY"] = key
        result = subprocess.run([command, *map(str, arguments)], capture_output=True, text=True, env=env, check=False)
        assert result.returncode == code, result.stderr
        return result.stdout if result.stdout or code == 0 else result.stderr
    return run

# SPDX-License-Identifier: Apache-2.0
"""The examples in deploy/: options that are given there are the command's, figures are the server's."""
import json
import re
import shutil
import subprocess
from pathlib import Path

from conftest import SPORE, WAIT

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"


def test_options_exist():
    help_text = subprocess.run([SPORE, "serve", "--help"], capture_output=True, text=True, timeout=WAIT, check=True).stdout
    known = set(re.findall(r"--[a-z-]+", help_text))
    used = {}
    for name in ("spore-serve.service", "Dockerfile", "kubernetes.yaml", "kserve-runtime.yaml"):
        text = "\n".join(line for line in (DEPLOY / name).read_text().splitlines() if re.search(r"ExecStart|args:|CMD", line))
        used[name] = set(re.findall(r"--[a-z-]+", text))
        assert used[name] and used[name] <= known, (name, used[name] - known)


def test_figures_exist(serve, models):
    server = serve(models / "mlp.onnx")
    text = server.ask("GET", "/metrics")[1].decode()
    board = json.loads((DEPLOY / "grafana.json").read_text())
    names = set(re.findall(r"\b(?:spore|process)_[a-z_]+", " ".join(t["expr"] for p in board["panels"] for t in p["targets"])))
    assert len(names) > 10
    for name in names:
        assert re.search(rf"^{name}[{{ ]", text, re.M), name


def test_paths_exist(serve, models):
    server = serve(models / "mlp.onnx")
    for name in ("kubernetes.yaml", "kserve-runtime.yaml"):
        paths = set(re.findall(r"path: (/[a-z0-9/]+)", (DEPLOY / name).read_text()))
        assert paths and all(server.ask("GET", path)[0] == 200 for path in paths)


def test_the_unit_is_of_the_form_that_systemd_reads():
    for name in ("spore-serve.service", "spore-serve.socket"):
        for line in (DEPLOY / name).read_text().splitlines():
            assert line == "" or re.fullmatch(r"\[\w+\]|[A-Z]\w+=\S.*", line), (name, line)
    assert "Type=notify\n" in (DEPLOY / "spore-serve.service").read_text()


def test_tools_of_others_find_nothing(tmp_path):
    """systemd's checker, hadolint and kubernetes-validate, where they are installed."""
    said = ""
    if shutil.which("systemd-analyze"):
        for name in ("spore-serve.service", "spore-serve.socket"):
            (tmp_path / name).write_text((DEPLOY / name).read_text().replace("/usr/local/bin/spore", "/bin/true"))
        done = subprocess.run(["systemd-analyze", "verify", "--man=no", tmp_path / "spore-serve.service", tmp_path / "spore-serve.socket"], capture_output=True, text=True, timeout=WAIT, check=False)
        said += "".join(line + "\n" for line in done.stderr.splitlines() if "spore-serve" in line)
    if shutil.which("hadolint"):
        said += subprocess.run(["hadolint", DEPLOY / "Dockerfile"], capture_output=True, text=True, timeout=WAIT, check=False).stdout
    if shutil.which("kubernetes-validate"):
        done = subprocess.run(["kubernetes-validate", DEPLOY / "kubernetes.yaml"], capture_output=True, text=True, timeout=WAIT, check=False)
        said += done.stdout + done.stderr if done.returncode else ""
    assert said == ""

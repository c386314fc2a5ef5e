# SPDX-License-Identifier: Apache-2.0
"""`spore board`: the list of event files, parts of them, what is not given; and the page in a browser (long)."""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import urllib.error
import urllib.request
from contextlib import contextmanager

import numpy as np
import pytest

from spore import Tensor, nn, train

SPORE = str(pathlib.Path(os.environ["SPORE_BUILD"]) / "spore")
ROOT = pathlib.Path(__file__).parents[2]


@contextmanager
def board(folder, *options):
    """The address of a board that serves."""
    with subprocess.Popen([SPORE, "board", str(folder), "--port", "0", *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
        try:
            line = child.stdout.readline()
            found = re.match(r"(http://\S+:\d+)/ shows ", line)
            assert found, line + child.stderr.read()
            yield found[1]
        finally:
            child.send_signal(signal.SIGINT)
            child.wait(60)
        assert child.returncode == 0


def get(address, method="GET"):
    try:
        with urllib.request.urlopen(urllib.request.Request(address, method=method), timeout=60) as reply:
            return reply.status, reply.headers.get_content_type(), reply.read()
    except urllib.error.HTTPError as error:
        return error.code, error.headers.get_content_type(), error.read()


def write(folder, steps, loss=1.0):
    """A run with a value of each kind."""
    with train.SummaryRecord(str(folder), form="tensorboard") as record:
        record.add_hparams({"lr": 0.1, "name": "a"}, ["loss"])
        record.add_graph(nn.SequentialCell(nn.Dense(3, 4), nn.ReLU()), Tensor(np.ones((2, 3), np.float32)))
        for step in range(1, steps + 1):
            record.add_value("scalar", "loss", Tensor(loss / step))
            record.add_value("image", "input", Tensor(np.ones((1, 3, 8, 8), np.float32)))
            record.add_value("histogram", "weights", Tensor(np.arange(100, dtype=np.float32)))
            record.add_text("note", "hello <b>")
            record.record(step)


def test_files_are_listed_and_given_in_parts(tmp_path):
    write(tmp_path / "first", 3)
    write(tmp_path / "a b" / "ü", 1)
    (tmp_path / "first" / "notes.txt").write_text("not given")
    with board(tmp_path) as address:
        status, kind, page = get(address + "/")
        assert (status, kind) == (200, "text/html") and b"spore board" in page and page == (ROOT / "src/board/page.html").read_bytes()
        files = {f["path"]: f["bytes"] for f in json.loads(get(address + "/files")[2])["files"]}
        paths = {str(p.relative_to(tmp_path)): p.stat().st_size for p in tmp_path.rglob("*tfevents*")}
        assert files == paths and len(files) == 2
        for path in paths:
            data, where = (tmp_path / path).read_bytes(), f"{address}/data/{urllib.request.quote(path)}"
            assert get(where) == (200, "application/octet-stream", data)
            assert get(where + "?from=100")[2] == data[100:] and get(where + f"?from={len(data)}")[2] == b""
        (path,) = (tmp_path / "first").glob("*tfevents*")
        with open(path, "ab") as file:             # a training goes on
            file.write(b"more")
        assert get(f"{address}/data/first/{path.name}?from={paths['first/' + path.name]}")[2] == b"more"


def test_nothing_else_is_given(tmp_path):
    write(tmp_path / "runs" / "first", 1)
    (tmp_path / "tfevents.secret").write_text("secret")
    (tmp_path / "runs" / ".tfevents").write_text("hidden")
    (tmp_path / "runs" / "notes.txt").write_text("not given")
    (tmp_path / "runs" / "tfevents_folder").mkdir()
    with board(tmp_path / "runs") as address:
        for path in ("/data/../tfevents.secret", "/data/%2e%2e/tfevents.secret", "/data/first/../../tfevents.secret", f"/data/{tmp_path}/tfevents.secret",
                     "/data//tfevents", "/data/.tfevents", "/data/notes.txt", "/data/tfevents_folder", "/data/", "/data/none.tfevents", "/data/a%00tfevents",
                     "/data/%zz", "/etc/passwd", "/data/" + "x" * 5000):
            status, _, body = get(address + path)
            assert status in (400, 404, 414, 431) and b"secret" not in body and b"root:" not in body, path
        assert get(address + "/", "POST")[0] == 405 and get(address + "/", "HEAD")[0] == 200
        assert len(json.loads(get(address + "/files")[2])["files"]) == 1


def test_wrong_folders_and_ports(tmp_path):
    (tmp_path / "file").touch()
    for words, code, said in (([tmp_path / "none"], 1, "none"), ([tmp_path / "file"], 1, "is no folder"), ([tmp_path, "--port", "70000"], 2, "--port"),
                              ([tmp_path, "--host", "no such host"], 1, "host")):
        done = subprocess.run([SPORE, "board", *map(str, words)], capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == code and said in done.stderr, done


def dump(address):
    """The page as a browser has it after its scripts ran."""
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if browser is None:
        pytest.skip("there is no Chromium")
    with tempfile.TemporaryDirectory() as profile:
        return subprocess.run([browser, "--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}", "--virtual-time-budget=8000",
                               "--dump-dom", address], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True, timeout=300).stdout


@pytest.mark.long
def test_a_browser_shows_all(tmp_path):
    write(tmp_path / "first", 5)
    write(tmp_path / "second", 5, loss=2.0)
    with board(tmp_path) as address:
        curves = dump(address + "/")
        (chart,) = re.findall(r'<svg[^>]*data-tag="loss".*?</svg>', curves, re.S)
        assert re.findall('data-run="([^"]*)"', chart) == ["first", "second"] and chart.count("NaN") == 0
        assert all(len(d.split("L")) == 5 for d in re.findall(r'd="(M[^"]*)"', chart))
        images = dump(address + "/#images")
        assert images.count("<img src=\"blob:") == 2 and "step 5" in images
        histograms = dump(address + "/#histograms")
        (one, two) = re.findall(r'<svg[^>]*data-tag="weights".*?</svg>', histograms, re.S)
        assert one.count("<path") == 5 and "NaN" not in one + two
        graph = dump(address + "/#graph")
        assert len(re.findall('data-graph="(first|second)"', graph)) == 2 and ">matmul<" in graph and ">relu<" in graph
        texts = dump(address + "/#texts")
        assert "hello &lt;b&gt;" in texts
        settings = dump(address + "/#settings")
        assert "<td>0.1</td>" in settings and "<th>lr</th>" in settings and "loss 0.2" in settings

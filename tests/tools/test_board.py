# SPDX-License-Identifier: Apache-2.0
"""`spore board`: the list of event files, parts of them, what is not given; and the page in a browser (long)."""
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from contextlib import contextmanager

import numpy as np
import pytest

from spore import Tensor, nn, train

SPORE = str(pathlib.Path(os.environ["SPORE_BUILD"]) / "spore")
ROOT = pathlib.Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
from chromium import Page, installed  # noqa: E402


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
    browser = installed()
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
        assert ">0.weight<" in graph and ">read<" not in graph    # a Parameter is a line in the box of what reads it
        texts = dump(address + "/#texts")
        assert "hello &lt;b&gt;" in texts
        settings = dump(address + "/#settings")
        assert "<td>0.1</td>" in settings and "<th>lr</th>" in settings and "loss 0.2" in settings


BOX = "(() => { const b = document.querySelector(%r).getBoundingClientRect(); return [b.left, b.top, b.width, b.height]; })()"


@pytest.mark.long
def test_plots_are_zoomed(tmp_path):
    if installed() is None:
        pytest.skip("there is no Chromium")
    write(tmp_path / "first", 100)
    steps = "[...document.querySelectorAll('svg.chart text')].filter(t => t.getAttribute('y') == 194).map(t => +t.textContent)"
    with board(tmp_path) as address, Page() as page:
        page.open(address + "/")
        page.wait("document.body.dataset.ready")
        assert page.ask(steps) == [20, 40, 60, 80, 100]
        left, top, width, _ = page.ask(BOX % "svg.chart")
        page.drag(left + 0.4 * width, top + 50, left + 0.6 * width, top + 50)
        page.wait("location.hash.includes('loss=')")
        first, last = map(float, page.ask("location.hash").split("=")[1].split(".."))
        assert 20 < first < 35 and 45 < last < 60 and all(first <= step <= last for step in page.ask(steps))
        high = page.ask("Math.max(...[...document.querySelectorAll('svg.chart text')].filter(t => t.getAttribute('x') == 54).map(t => +t.textContent))")
        assert high < 0.06                                       # the other axis follows: 1 / step
        page.open(address + "/?again#" + page.ask("location.hash.slice(1)"))   # the address keeps what is looked at
        page.wait("document.body.dataset.ready")
        assert all(first <= step <= last for step in page.ask(steps))
        page.ask("document.querySelector('svg.chart').focus()")
        page.ask("document.querySelector('svg.chart').dispatchEvent(new KeyboardEvent('keydown', {key: '0'}))")
        assert page.ask(steps) == [20, 40, 60, 80, 100] and page.ask("location.hash") == "#curves"
        page.ask("[...document.querySelectorAll('button')].find(b => b.textContent == 'larger').click()")
        assert page.ask("document.querySelector('svg.chart').getAttribute('width')") == "900"


@pytest.mark.long
def test_graphs_are_laid_out(tmp_path):
    """No two boxes of a network with branches lie over each other, edges go down, and a drag moves the picture."""
    if installed() is None:
        pytest.skip("there is no Chromium")

    class Branches(nn.Cell):
        def __init__(self):
            super().__init__()
            self.one, self.two, self.three = nn.Dense(4, 4), nn.Dense(4, 4), nn.Dense(4, 4)

        def construct(self, x):
            a = self.one(x)
            for _ in range(5):
                a = a + self.two(a) * self.three(x)
            return a

    with train.SummaryRecord(str(tmp_path), form="tensorboard") as record:
        record.add_graph(Branches(), Tensor(np.ones((2, 4), np.float32)))
    with board(tmp_path) as address, Page() as page:
        page.open(address + "/#graph")
        page.wait("document.querySelector('svg.pan')")
        boxes = page.ask("[...document.querySelectorAll('svg.pan rect')].map(r => ['x', 'y', 'width', 'height'].map(k => +r.getAttribute(k)))")
        assert len(boxes) > 20
        for i, (x, y, w, h) in enumerate(boxes):
            assert not [b for b in boxes[:i] if b[0] < x + w and x < b[0] + b[2] and b[1] < y + h and y < b[1] + b[3]]
        ends = page.ask("[...document.querySelectorAll('svg.pan path')].map(p => [p.getPointAtLength(0).y, p.getPointAtLength(p.getTotalLength()).y])")
        assert len(ends) >= len(boxes) - 1 and all(above < below for above, below in ends)
        view = "document.querySelector('svg.pan').getAttribute('viewBox').split(' ').map(Number)"
        before = page.ask(view)
        left, top, width, height = page.ask(BOX % "svg.pan")
        page.drag(left + width / 2, top + height / 2, left + width / 2 - 100, top + height / 2)
        assert page.ask(view)[0] > before[0] + 20
        page.ask("[...document.querySelectorAll('button')].find(b => b.textContent == '+').click()")
        assert page.ask(view)[2] < 0.8 * before[2]

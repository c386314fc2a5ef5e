# SPDX-License-Identifier: Apache-2.0
"""The page at /, in a browser: what is served, its figures, a form for every input, pictures, the answer as bars, lines to copy."""
import re
import shlex
import subprocess
import sys

import digits
import pytest
from browser import Browser

import spore.dataset.vision as vision


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """digits.onnx, and 7.png: a digit that it tells right."""
    folder = tmp_path_factory.mktemp("digits")
    pictures, labels = digits.make(folder)
    for k in (3, 7):
        vision.write_png(str(folder / f"{k}.png"), pictures[labels == k][0][:, :, None])
    (folder / "names.txt").write_text("".join(f"digit {k}\n" for k in range(10)))
    return folder


BEST = "(document.querySelector('#answer .row span') || {}).textContent"


def test_the_page_loads_nothing_from_elsewhere(serve, folder):
    server = serve(folder / "digits.onnx")
    status, page = server.ask("GET", "/")
    assert status == 200 and b"<title>spore serve" in page
    assert set(re.findall(rb"https?://[^\"' ]*", page)) == {b"http://www.w3.org/2000/svg"} # the name of a language, not an address that is asked


def test_a_digit_in_the_browser(serve, folder, tmp_path):
    """The browser makes a tensor of the picture, where the server is not told how."""
    server = serve(folder / "digits.onnx")
    with Browser() as b:
        b.open(f"http://127.0.0.1:{server.port}/")
        b.until("document.querySelectorAll('#models tbody tr').length === 1 && document.querySelector('#inputs input[type=file]')")
        assert "x FP32 [?, 1, 28, 28]" in b.run("document.querySelector('#models').innerText")
        b.choose_file("#inputs input[type=file]", folder / "7.png")
        b.until("!document.querySelector('canvas').hidden && document.querySelector('#inputs textarea').value.length > 2000")
        b.run("document.getElementById('run').click()")
        b.until("document.querySelectorAll('#answer .row').length === 10")
        assert b.run(BEST) == "7" and b.run("document.getElementById('time').className") == "good"
        b.until("document.querySelectorAll('#plots svg path').length === 3")
        b.until("document.querySelector('#models .count').textContent === '1'")
        assert "application/x-npz" in b.run("document.getElementById('python').textContent")
        b.run("document.querySelector('#inputs textarea').value = '1 2'; document.getElementById('run').click()")
        b.until("document.getElementById('time').className === 'bad'")
        assert "input 'x'" in b.run("document.getElementById('time').textContent")
    assert server.metric("spore_requests_total", model="digits", outcome="ok") == 1


def test_a_picture_that_the_server_reads(serve, folder):
    """Drag and drop, the names of classes, and a line of curl that does the same."""
    server = serve(folder / "digits.onnx", "--set", "digits.preprocess=scale=0.00392156862745098", "--set", f"digits.classes={folder / 'names.txt'}")
    with Browser(dark=True) as b:
        b.open(f"http://127.0.0.1:{server.port}/")
        b.until("document.querySelector('#inputs .drop')")
        assert b.run("getComputedStyle(document.body).backgroundColor") == "rgb(20, 23, 26)"
        data = list((folder / "3.png").read_bytes())
        b.run(f"""(() => {{ const t = new DataTransfer();
              t.items.add(new File([new Uint8Array({data})], "3.png", {{type: "image/png"}}));
              document.querySelector('.drop').dispatchEvent(new DragEvent('drop', {{dataTransfer: t, bubbles: true, cancelable: true}})); }})()""")
        b.until("picture !== null")
        b.run("document.getElementById('run').click()")
        b.until("document.querySelectorAll('#answer .row').length === 10")
        assert b.run(BEST) == "digit 3"
        line = b.run("document.getElementById('curl').textContent")
    answer = subprocess.run(shlex.split(line) + ["-s"], cwd=folder, stdout=subprocess.PIPE, text=True, check=True).stdout
    assert '"shape":[1,10]' in answer, answer


def test_lines_to_copy_run(serve, models, tmp_path):
    server = serve(models / "mlp.onnx")
    with Browser() as b:
        b.open(f"http://127.0.0.1:{server.port}/")
        b.until("document.querySelector('#inputs textarea')")
        b.run("document.querySelector('#inputs textarea').value = '1 2 3 4 5 6 7 8'; lines()")
        curl, python = (b.run(f"document.getElementById('{k}').textContent") for k in ("curl", "python"))
    answer = subprocess.run(shlex.split(curl) + ["-s"], stdout=subprocess.PIPE, text=True, check=True).stdout
    assert '"shape":[2,3]' in answer
    stand_in = "import json, sys, types, urllib.request\nclass A:\n    def __init__(self, d): self.d = d\n    def json(self): return json.loads(self.d)\n" \
               "m = types.ModuleType('requests'); m.post = lambda u, json=None: A(urllib.request.urlopen(u, __import__('json').dumps(json).encode()).read())\nsys.modules['requests'] = m\n"
    shown = subprocess.run([sys.executable, "-c", stand_in + python], stdout=subprocess.PIPE, text=True, check=True).stdout
    assert "'shape': [2, 3]" in shown

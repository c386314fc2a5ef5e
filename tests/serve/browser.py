# SPDX-License-Identifier: Apache-2.0
"""Chromium without a window, driven over its debugging pipe: messages of JSON that end with a NUL, on descriptors 3 and 4."""
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import time

import pytest

WAIT = 60


class Browser:
    """`with Browser() as b: b.open(address); b.run("document.title")`. Skips the test where there is no Chromium."""

    def __init__(self, dark=False, size=(1000, 1400)):
        program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
        if program is None:
            pytest.skip("there is no Chromium")
        self.profile = tempfile.mkdtemp()
        to_browser, self.writer = os.pipe()
        self.reader, from_browser = os.pipe()
        os.set_inheritable(to_browser, True)
        os.set_inheritable(from_browser, True)
        env = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD"}
        command = [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", f"--user-data-dir={self.profile}", "--remote-debugging-pipe",
                   f"--window-size={size[0]},{size[1]}", "about:blank"]
        # 3 and 4 are the browser's names for the pipe; a shell moves ours there.
        self.process = subprocess.Popen(["bash", "-c", f'exec "$@" 3<&{to_browser} 4>&{from_browser}', "bash", *command], pass_fds=[to_browser, from_browser],
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=env)
        os.close(to_browser)
        os.close(from_browser)
        self.n, self.rest, self.session = 0, b"", None
        target = next(t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        self.call("Page.enable")
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def call(self, method, **parameters):
        """The result of a command."""
        self.n += 1
        message = {"id": self.n, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.writer, json.dumps(message).encode() + b"\0")
        until = time.monotonic() + WAIT
        while True:
            while b"\0" not in self.rest:
                assert time.monotonic() < until, f"no answer to {method}"
                data = os.read(self.reader, 1 << 16)
                assert data, "the browser ended"
                self.rest += data
            one, self.rest = self.rest.split(b"\0", 1)
            answer = json.loads(one)
            if answer.get("id") == self.n:
                assert "error" not in answer, answer
                return answer["result"]

    def open(self, address):
        self.call("Page.navigate", url=address)
        self.until("document.readyState === 'complete'")

    def run(self, script):
        """The value of an expression; promises are awaited."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def until(self, script):
        """Wait until an expression is true."""
        end = time.monotonic() + WAIT
        while not (value := self.run(f"!!({script})")):
            assert time.monotonic() < end, f"{script} stays {value}: {self.run('document.body.innerText')}"
            time.sleep(0.02)

    def choose_file(self, selector, path):
        """Put a file into an <input type=file>."""
        root = self.call("DOM.getDocument")["root"]["nodeId"]
        node = self.call("DOM.querySelector", nodeId=root, selector=selector)["nodeId"]
        self.call("DOM.setFileInputFiles", nodeId=node, files=[str(path)])

    def screenshot(self, path):
        import base64
        pathlib.Path(path).write_bytes(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))

    def __enter__(self):
        return self

    def __exit__(self, *failure):
        self.process.kill()
        self.process.wait()
        os.close(self.writer)
        os.close(self.reader)
        shutil.rmtree(self.profile, ignore_errors=True)

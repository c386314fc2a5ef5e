# SPDX-License-Identifier: Apache-2.0
"""A page in headless Chromium, for tests and pictures: opened, asked, clicked, photographed, over the pipes of the DevTools protocol."""
import base64
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

# The browser speaks the protocol over its descriptors 3 and 4.
EXEC = """import os, sys
import fcntl
ends = [fcntl.fcntl(int(n), fcntl.F_DUPFD, 10) for n in sys.argv[1:3]]
os.dup2(ends[0], 3)
os.dup2(ends[1], 4)
os.execvp(sys.argv[3], sys.argv[3:])"""
NAMES = ("chromium", "chromium-browser", "google-chrome")


def installed():
    return next((name for name in NAMES if shutil.which(name)), None)


class Page:
    """with Page(width, height) as page: page.open(address); page.ask('1 + 1')."""

    def __init__(self, width=1280, height=1000, telephone=False):
        self.size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": telephone}

    def __enter__(self):
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        theirs_in, self.to = os.pipe()
        self.back, theirs_out = os.pipe()
        words = [installed(), "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--user-data-dir={self.profile.name}",
                 "--remote-debugging-pipe", "about:blank"]
        self.browser = subprocess.Popen([sys.executable, "-c", EXEC, str(theirs_in), str(theirs_out), *words], pass_fds=(theirs_in, theirs_out),
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(theirs_in)
        os.close(theirs_out)
        self.rest, self.n, self.session = b"", 0, None
        target = next(t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.call("Emulation.setDeviceMetricsOverride", **self.size)
        self.call("Page.enable")
        return self

    def __exit__(self, *_):
        self.browser.kill()
        self.browser.wait()
        os.close(self.to)
        os.close(self.back)
        self.profile.cleanup()

    def call(self, method, **params):
        self.n += 1
        message = {"id": self.n, "method": method, "params": params} | ({"sessionId": self.session} if self.session else {})
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while True:
            while b"\0" not in self.rest:
                piece = os.read(self.back, 1 << 16)
                if not piece:
                    raise RuntimeError(f"Chromium ended during {method}")
                self.rest += piece
            text, _, self.rest = self.rest.partition(b"\0")
            answer = json.loads(text)
            if answer.get("id") == self.n:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]

    def ask(self, expression):
        """The value of an expression of JavaScript in the page."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{expression}: {answer['exceptionDetails'].get('exception', {}).get('description', '')}")
        return answer["result"].get("value")

    def wait(self, expression, seconds=60):
        """Until it is true."""
        end = time.monotonic() + seconds
        while not self.ask(f"Boolean({expression})"):
            if time.monotonic() > end:
                raise TimeoutError(f"{expression} is not true after {seconds} s")
            time.sleep(0.05)

    def open(self, address):
        self.call("Page.navigate", url=address)
        self.wait(f"document.readyState == 'complete' && location.href.startsWith({json.dumps(address.split('#')[0])})")

    def drag(self, x0, y0, x1, y1):
        for kind, x, y in (("mouseMoved", x0, y0), ("mousePressed", x0, y0), ("mouseMoved", (x0 + x1) / 2, (y0 + y1) / 2), ("mouseMoved", x1, y1), ("mouseReleased", x1, y1)):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", buttons=1 if kind != "mouseReleased" else 0, clickCount=1)

    def click(self, x, y, times=1):
        for count in range(1, times + 1):
            for kind in ("mousePressed", "mouseReleased"):
                self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=count)

    def photograph(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))

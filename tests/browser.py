"""A real Chromium for tests of pages, driven through the pipe of its own protocol.

Nothing but the browser is needed. Its messages are JSON, each ended by a NUL, on the
files 3 and 4 of the process (https://chromedevtools.github.io/devtools-protocol/).
"""

import base64
import json
import os
import select
import shutil
import subprocess
import sys
import time

import pytest

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
needs_chromium = pytest.mark.skipif(
    CHROMIUM is None or sys.platform == "win32", reason="no Chromium on this machine"
)

# The browser reads from file 3 and writes to file 4, whatever numbers the pipes have here.
_START = (
    "import os, sys; r, w = map(int, sys.argv[1:3]); r, w = os.dup(r), os.dup(w)\n"
    "import fcntl; r, w = (fcntl.fcntl(f, fcntl.F_DUPFD, 10) for f in (r, w))\n"
    "os.dup2(r, 3); os.dup2(w, 4); os.execv(sys.argv[3], sys.argv[3:])"
)
_KEYS = {
    "Tab": 9, "Enter": 13, "Escape": 27, " ": 32, "End": 35, "Home": 36,
    "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40,
}  # fmt: skip


class Browser:
    """One page of one browser."""

    def __init__(self, folder, *, width=1280, height=900, dark=False):
        self.folder = folder
        their_in, self.out = os.pipe()
        self.into, their_out = os.pipe()
        self.process = subprocess.Popen(
            [sys.executable, "-c", _START, str(their_in), str(their_out), CHROMIUM,
             "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--hide-scrollbars",
             "--disable-background-networking", "--disable-component-update", "--disable-sync",
             f"--user-data-dir={folder / 'profile'}", "--remote-debugging-pipe", "about:blank"],
            pass_fds=(their_in, their_out), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(their_in)
        os.close(their_out)
        self.number, self.buffer, self.events, self.session = 0, b"", [], None
        target = next(
            t for t in self.send("Target.getTargets")["targetInfos"] if t["type"] == "page"
        )
        attached = self.send("Target.attachToTarget", targetId=target["targetId"], flatten=True)
        self.session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(f"{domain}.enable")
        self.send(
            "Browser.setDownloadBehavior", behavior="allow", downloadPath=str(folder),
            eventsEnabled=True,
        )  # fmt: skip
        self.look(width, height, dark=dark)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.out)
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(20)
        os.close(self.into)

    # --- messages

    def _read(self, until):
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.into], [], [], max(0.0, until - time.monotonic()))
            if not ready:
                raise TimeoutError("Chromium did not answer.")
            chunk = os.read(self.into, 1 << 20)
            if not chunk:
                raise RuntimeError("Chromium has ended.")
            self.buffer += chunk
        message, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(message)

    def send(self, method, timeout=60, **parameters):
        """Send a command, and return its result."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session is not None:
            message["sessionId"] = self.session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.out, data) :]
        until = time.monotonic() + timeout
        while True:
            found = self._read(until)
            if found.get("id") == self.number:
                if "error" in found:
                    raise RuntimeError(f"{method}: {found['error']['message']}")
                return found["result"]
            self.events.append(found)

    def wait_for(self, method, timeout=60):
        """Wait for an event, and return its parameters."""
        until = time.monotonic() + timeout
        while True:
            for i, event in enumerate(self.events):
                if event.get("method") == method:
                    return self.events.pop(i)["params"]
            self.events.append(self._read(until))

    # --- what a person does

    def look(self, width, height=900, *, dark=False):
        """Choose the size of the window, and light or dark."""
        self.send(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
            mobile=False,
        )  # fmt: skip
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.send("Emulation.setEmulatedMedia", features=[scheme])

    def open(self, path):
        """Open a file, and return after how many seconds it had loaded."""
        self.events.clear()
        start = time.monotonic()
        self.send("Page.navigate", url=path.as_uri())
        self.wait_for("Page.loadEventFired")
        return time.monotonic() - start

    def run(self, code):
        """Return the value of an expression of JavaScript."""
        found = self.send(
            "Runtime.evaluate", expression=code, returnByValue=True, awaitPromise=True
        )
        if "exceptionDetails" in found:
            raise RuntimeError(found["exceptionDetails"]["exception"].get("description"))
        return found["result"].get("value")

    def wait_until(self, code, timeout=10):
        """Wait until an expression is true."""
        until = time.monotonic() + timeout
        while not self.run(code):
            if time.monotonic() > until:
                raise TimeoutError(f"This did not become true: {code}")
            time.sleep(0.05)

    def box(self, selector):
        """Return left, top, width and height of an element, after scrolling to it."""
        self.wait_until(f"document.querySelector({json.dumps(selector)}) !== null")
        return self.run(
            f"(() => {{ const node = document.querySelector({json.dumps(selector)});"
            "node.scrollIntoView({block: 'center', behavior: 'instant'});"
            "const b = node.getBoundingClientRect();"
            "return [b.left, b.top, b.width, b.height]; })()"
        )

    def point(self, selector, x=0.5, y=0.5):
        """Move the mouse over an element; x and y are shares of its width and height."""
        left, top, width, height = self.box(selector)
        place = {"x": left + x * width, "y": top + y * height}
        self.send("Input.dispatchMouseEvent", type="mouseMoved", **place)
        return place

    def click(self, selector, x=0.5, y=0.5):
        """Click an element."""
        place = self.point(selector, x, y)
        for kind in ("mousePressed", "mouseReleased"):
            self.send("Input.dispatchMouseEvent", type=kind, button="left", clickCount=1, **place)

    def press(self, *keys):
        """Press keys, one after the other."""
        for key in keys:
            code = {"key": key, "code": "Space" if key == " " else key}
            code["windowsVirtualKeyCode"] = _KEYS[key]
            text = {"Enter": "\r", " ": " "}.get(key)
            down = {"text": text} if text else {}
            self.send("Input.dispatchKeyEvent", type="keyDown", **code, **down)
            self.send("Input.dispatchKeyEvent", type="keyUp", **code)

    def text(self, selector):
        """Return the text of the first such element, or None."""
        found = f"document.querySelector({json.dumps(selector)})"
        return self.run(f"{found} && {found}.textContent")

    def texts(self, selector):
        """Return the texts of all such elements."""
        return self.run(
            f"[...document.querySelectorAll({json.dumps(selector)})].map(n => n.textContent)"
        )

    def downloaded(self, timeout=60):
        """Wait for a download to end, and return its bytes."""
        until = time.monotonic() + timeout
        name = self.wait_for("Browser.downloadWillBegin")["suggestedFilename"]
        while time.monotonic() < until:
            if self.wait_for("Browser.downloadProgress")["state"] == "completed":
                return self.folder / name
        raise TimeoutError("The download did not end.")

    def picture(self, path, *, width=1280, height=900, scale=1.0):
        """Save a picture of the upper left corner of the page."""
        clip = {"x": 0, "y": 0, "width": width, "height": height, "scale": scale}
        found = self.send("Page.captureScreenshot", clip=clip, captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(found["data"]))

    def complaints(self):
        """Return errors of scripts, blocked or failed requests, and requests of any other file."""
        self.run("0")
        found = []
        for event in self.events:
            kind, what = event.get("method"), event.get("params", {})
            if kind == "Runtime.exceptionThrown":
                found.append(what["exceptionDetails"]["exception"].get("description"))
            elif kind == "Log.entryAdded":
                found.append(what["entry"]["text"])
            elif kind == "Network.requestWillBeSent" and what.get("type") != "Document":
                url = what["request"]["url"]
                if not url.startswith(("data:", "blob:")):
                    found.append(url)
        return found

    def too_wide(self):
        """Return by how many pixels the page is wider than the window."""
        return self.run(
            "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        )

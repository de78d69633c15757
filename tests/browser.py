"""A headless Chromium, driven through the DevTools protocol over a pipe.

Chromium reads commands from file descriptor 3 and writes to 4, JSON texts that end with a zero
byte, so no port and no other package is needed.
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import time
from pathlib import Path
from types import TracebackType
from typing import Any

import pytest

PROGRAM = shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip

needs_browser = pytest.mark.skipif(
    PROGRAM is None or os.name != "posix", reason="no chromium is installed"
)


class Browser:
    """One page of a browser.

    Attributes:
        messages: the page's warnings and errors in the console, uncaught
            exceptions, and the addresses of all requests but its own file.
    """

    def __init__(self, folder: Path, width: int = 1280, height: int = 800) -> None:
        self.messages: list[str] = []
        self.count = 0
        self.buffer = b""
        import fcntl  # which Windows does not have

        pipes = (*os.pipe(), *os.pipe())  # numbered from 10, as the browser's own become 3 and 4
        there_in, self.out, self.into, there_out = [
            fcntl.fcntl(pipe, fcntl.F_DUPFD_CLOEXEC, 10) for pipe in pipes
        ]
        for pipe in pipes:
            os.close(pipe)
        arguments = [
            str(PROGRAM), *FLAGS, "--remote-debugging-pipe", f"--user-data-dir={folder}",
            f"--window-size={width},{height}", "about:blank",
        ]  # fmt: skip
        moves = [(os.POSIX_SPAWN_DUP2, there_in, 3), (os.POSIX_SPAWN_DUP2, there_out, 4)]
        quiet = [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_WRONLY, 0) for fd in (1, 2)]
        self.process = os.posix_spawn(
            str(PROGRAM), arguments, os.environ, file_actions=[*moves, *quiet]
        )
        os.close(there_in)
        os.close(there_out)
        pages = self.call("Target.getTargets", session=None)["targetInfos"]
        target = next(page["targetId"] for page in pages if page["type"] == "page")
        self.session = self.call(
            "Target.attachToTarget", session=None, targetId=target, flatten=True
        )["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.resize(width, height)

    def __enter__(self) -> Browser:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            self.call("Browser.close", session=None)
        finally:
            os.close(self.out)
            os.close(self.into)
            os.waitpid(self.process, 0)

    def call(self, method: str, session: str | None = "", **parameters: Any) -> dict[str, Any]:
        """The result of a command of the protocol."""
        self.count += 1
        request: dict[str, Any] = {"id": self.count, "method": method, "params": parameters}
        if session is not None:
            request["sessionId"] = self.session
        os.write(self.out, json.dumps(request).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") == self.count:
                assert "error" not in answer, answer["error"]
                return answer["result"]
            self.note(answer)

    def receive(self) -> dict[str, Any]:
        while b"\0" not in self.buffer:
            piece = os.read(self.into, 1 << 16)
            assert piece, "the browser has ended"
            self.buffer += piece
        text, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(text)

    def note(self, event: dict[str, Any]) -> None:
        kind, given = event.get("method"), event.get("params", {})
        if kind == "Runtime.exceptionThrown":
            details = given["exceptionDetails"]
            self.messages.append(details.get("exception", {}).get("description", details["text"]))
        elif kind == "Runtime.consoleAPICalled" and given["type"] in ("error", "warning", "assert"):
            self.messages.append(str([item.get("value") for item in given["args"]]))
        elif kind == "Log.entryAdded" and given["entry"]["level"] in ("error", "warning"):
            self.messages.append(given["entry"]["text"])
        elif kind == "Network.requestWillBeSent":
            address = given["request"]["url"]
            if not address.startswith(("file:", "data:", "about:")):
                self.messages.append(f"requested {address}")

    def open(self, page: Path) -> None:
        """Load a file, and wait until it is drawn."""
        self.call("Page.navigate", url=page.as_uri())
        until = time.monotonic() + 60
        while (
            self.run("document.readyState") != "complete"
            or self.run("location.href") != page.as_uri()
        ):
            assert time.monotonic() < until, "the page does not load"
            time.sleep(0.02)
        self.frame()

    def run(self, script: str) -> Any:
        """The value of an expression in the page; promises are awaited."""
        answer = self.call(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def frame(self) -> None:
        """Wait for two animation frames, after which changes are drawn."""
        self.run(
            "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(0))))"
        )

    def click(self, x: float, y: float) -> None:
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)
        self.frame()

    def click_on(self, selector: str, dx: float = 0.5, dy: float = 0.5) -> None:
        """Click an element, at a fraction of its width and height."""
        left, top, width, height = self.run(
            f"(() => {{const b = document.querySelector({json.dumps(selector)})"
            ".getBoundingClientRect(); return [b.x, b.y, b.width, b.height]})()"
        )
        self.click(left + width * dx, top + height * dy)

    def key(self, name: str, text: str = "") -> None:
        """Press a key by its name, such as ``"Enter"``."""
        given = {"key": name, "text": text} if text else {"key": name}
        self.call("Input.dispatchKeyEvent", type="keyDown", **given)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=name)
        self.frame()

    def type(self, text: str) -> None:
        self.call("Input.insertText", text=text)
        self.frame()

    def wheel(self, x: float, y: float, delta: float) -> None:
        self.call("Input.dispatchMouseEvent", type="mouseWheel", x=x, y=y, deltaX=0, deltaY=delta)
        self.frame()

    def theme(self, name: str) -> None:
        """``"light"`` or ``"dark"``, as the system's setting."""
        features = [{"name": "prefers-color-scheme", "value": name}]
        self.call("Emulation.setEmulatedMedia", features=features)
        self.frame()

    def resize(self, width: int, height: int, scale: float = 1.0) -> None:
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=scale,
            mobile=False,
        )

    def picture(self, path: Path) -> None:
        """Write the window as a PNG file."""
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot")["data"]))

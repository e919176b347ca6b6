"""A headless Chromium that is driven by keys, by the DevTools protocol over two pipes."""

import base64
import fcntl
import json
import os
import pathlib
import select
import shutil
import subprocess
import sys
import tempfile
import time
from types import TracebackType
from typing import Any

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_OPTIONS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--hide-scrollbars",
    "--no-first-run",
    # Nothing of the browser's own is asked for from elsewhere.
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-dev-shm-usage",
    "--remote-debugging-pipe",
)
# The browser reads requests from 3 and writes to 4.
_START = (
    "import os, sys; os.dup2(int(sys.argv[1]), 3); os.dup2(int(sys.argv[2]), 4); "
    "os.execvp(sys.argv[3], sys.argv[3:])"
)
_KEYS = {
    "Tab": ("Tab", 9, ""),
    "Enter": ("Enter", 13, "\r"),
    "Space": (" ", 32, " "),
    "ArrowRight": ("ArrowRight", 39, ""),
    "ArrowDown": ("ArrowDown", 40, ""),
    "a": ("a", 65, ""),
}
_MODIFIERS = {"": 0, "control": 2, "shift": 8}


def browser_path() -> str | None:
    """Returns the path of a Chromium on this machine; None without one."""
    return next(filter(None, map(shutil.which, BROWSERS)), None)


class Browser:
    """One page of a headless Chromium, as a context.

    Attributes:
        messages: Errors of the page, and of what it loads, in their order.

    Raises:
        FileNotFoundError: if there is no Chromium.
        TimeoutError: in all methods, if the browser or the page does not come to it in time.
    """

    def __init__(
        self, width: int = 1200, height: int = 900, is_dark: bool = False, timeout: float = 60.0
    ) -> None:
        self.messages: list[str] = []
        self._size, self._is_dark, self._timeout = (width, height), is_dark, timeout
        self._number, self._read_so_far, self._session = 0, b"", ""

    def __enter__(self) -> "Browser":
        path = browser_path()
        if path is None:
            raise FileNotFoundError(f"there is none of {', '.join(BROWSERS)}")
        self._profile = tempfile.TemporaryDirectory(prefix="browser-", ignore_cleanup_errors=True)
        pairs = (os.pipe(), os.pipe())
        # Numbers above those that the browser reads, so that none is replaced by another.
        theirs = [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (pairs[0][0], pairs[1][1])]
        start = [sys.executable, "-S", "-c", _START, *map(str, theirs), path]
        command = [*start, *_OPTIONS, f"--user-data-dir={self._profile.name}", "about:blank"]
        self._process = subprocess.Popen(
            command, pass_fds=theirs, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        for end in (*theirs, pairs[0][0], pairs[1][1]):
            os.close(end)
        self._to, self._from = pairs[0][1], pairs[1][0]
        try:
            self._attach()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Ends the browser."""
        for end in (self._to, self._from):
            os.close(end)
        self._process.kill()
        self._process.wait()
        self._profile.cleanup()

    def _attach(self) -> None:
        targets = self.call("Target.getTargets")["targetInfos"]
        page = next(each["targetId"] for each in targets if each["type"] == "page")
        self._session = self.call("Target.attachToTarget", targetId=page, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.resize(*self._size)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if self._is_dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Returns the result of a method of the protocol.

        Args:
            method: Its name, such as `Page.navigate`.
            **parameters: Its parameters.
        """
        self._number += 1
        asked = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            asked["sessionId"] = self._session
        os.write(self._to, json.dumps(asked).encode() + b"\0")
        deadline = time.monotonic() + self._timeout
        while True:
            read = self._next(deadline)
            if read.get("id") == self._number:
                if "error" in read:
                    raise RuntimeError(f"{method}: {read['error']['message']}")
                return read["result"]
            self._note(read)

    def _next(self, deadline: float) -> dict[str, Any]:
        while b"\0" not in self._read_so_far:
            if not select.select([self._from], [], [], max(deadline - time.monotonic(), 0))[0]:
                raise TimeoutError("the browser does not answer")
            more = os.read(self._from, 2**16)
            if not more:
                raise RuntimeError("the browser has ended")
            self._read_so_far += more
        first, _, self._read_so_far = self._read_so_far.partition(b"\0")
        found: dict[str, Any] = json.loads(first)
        return found

    def _note(self, event: dict[str, Any]) -> None:
        said = event.get("params", {})
        if event.get("method") == "Runtime.exceptionThrown":
            details = said["exceptionDetails"]
            self.messages.append(details.get("exception", {}).get("description") or details["text"])
        elif event.get("method") == "Log.entryAdded" and said["entry"]["level"] == "error":
            self.messages.append(said["entry"]["text"])
        elif event.get("method") == "Page.javascriptDialogOpening":
            self.messages.append(f"dialog: {said['message']}")

    def resize(self, width: int, height: int) -> None:
        """Gives the page another size, in pixels."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )

    def open(self, address: str, ready: str) -> None:
        """Opens an address, and waits until an expression of JavaScript is true on its page.

        Args:
            address: The address.
            ready: The expression.
        """
        self.call("Page.navigate", url=address)
        self.wait(ready)

    def value(self, expression: str) -> Any:
        """Returns the value of an expression of JavaScript on the page."""
        found = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in found:
            raise RuntimeError(found["exceptionDetails"]["exception"]["description"])
        return found["result"].get("value")

    def wait(self, expression: str) -> None:
        """Waits until an expression of JavaScript is true on the page."""
        deadline = time.monotonic() + self._timeout
        while not self.value(expression):
            if time.monotonic() > deadline:
                text = self.value("document.body.innerText")
                raise TimeoutError(f"{expression} is not true; {self.messages}; the page: {text[:2000]}")
            time.sleep(0.05)

    def press(self, key: str, times: int = 1, modifier: str = "") -> None:
        """Presses a key.

        Args:
            key: Its name: `Tab`, `Enter`, `Space`, `ArrowRight`, `ArrowDown`, or `a`.
            times: Number of times.
            modifier: Key that is held: `control` or `shift`; empty for none.
        """
        name, code, text = _KEYS[key]
        held = _MODIFIERS[modifier]
        common = {"key": name, "code": key, "windowsVirtualKeyCode": code, "modifiers": held}
        text = "" if modifier == "control" else text
        for _ in range(times):
            self.call("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", text=text, **common)
            self.call("Input.dispatchKeyEvent", type="keyUp", **common)

    def write(self, text: str) -> None:
        """Replaces the text of the field that has the focus, as typed."""
        self.value("document.activeElement.select()")
        self.call("Input.insertText", text=text)

    def tab_to(self, selector: str, most: int = 100) -> int:
        """Presses Tab until an element has the focus, and returns how often.

        Args:
            selector: Selector of the element.
            most: Most times.
        """
        for count in range(1, most + 1):
            self.press("Tab")
            if self.value(f"document.activeElement.matches({json.dumps(selector)})"):
                return count
        raise TimeoutError(f"Tab does not come to {selector} in {most} times")

    def take_picture(self, path: pathlib.Path, selector: str = "body") -> None:
        """Writes a picture of an element of the page, with all of its height.

        Args:
            path: File of the picture, a png.
            selector: Selector of the element.
        """
        corners = "(({x, y, width, height}) => ({x: x + scrollX, y: y + scrollY, width, height}))"
        box = self.value(f"{corners}(document.querySelector({json.dumps(selector)}).getBoundingClientRect())")
        clip = {**box, "scale": 1}
        taken = self.call("Page.captureScreenshot", clip=clip, captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(taken["data"]))

"""A headless Chromium for the tests of pages, asked by the DevTools protocol over pipes."""

import base64
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
ARGUMENTS = ("--headless", "--no-sandbox", "--disable-quic", "--no-first-run", "--disable-background-networking",
             "--disable-component-update", "--disable-sync", "--disable-extensions", "--hide-scrollbars",
             "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--remote-debugging-pipe")
LAUNCH = """import fcntl, os, sys
ends = [fcntl.fcntl(int(end), fcntl.F_DUPFD, 10) for end in sys.argv[1:3]]
os.dup2(ends[0], 3), os.dup2(ends[1], 4)
os.execv(sys.argv[3], sys.argv[3:])"""
WAIT_S = 60.0


class Page(Protocol):
    def run(self, code: str) -> Any: ...


def until(page: Page, code: str) -> None:
    """Wait until an expression is true on the page."""
    end = time.monotonic() + WAIT_S
    while not page.run(code):
        assert time.monotonic() < end, code
        time.sleep(0.05)


class Browser:
    """One page in a new profile. `told` collects console messages, errors and addresses that were asked for."""

    def __init__(self, size: tuple[int, int] = (900, 600)) -> None:
        assert CHROMIUM
        self._profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        says, self._hears = os.pipe()  # what Chromium reads from its descriptor 3
        self._reads, answers = os.pipe()  # what it writes to 4
        command = [sys.executable, "-c", LAUNCH, str(says), str(answers), CHROMIUM, *ARGUMENTS,
                   f"--window-size={size[0]},{size[1]}", f"--user-data-dir={self._profile.name}", "about:blank"]
        self._process = subprocess.Popen(command, pass_fds=(says, answers), stdout=subprocess.DEVNULL,
                                         stderr=subprocess.DEVNULL)
        os.close(says)
        os.close(answers)
        self._answers = os.fdopen(self._reads, "rb")
        self._sent, self._session, self._rest = 0, "", b""
        self.told: list[str] = []
        try:
            self._begin(size)
        except BaseException:
            self.close()
            raise

    def _begin(self, size: tuple[int, int]) -> None:
        target = self._ask("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self._ask(f"{domain}.enable")
        self._ask("Emulation.setDeviceMetricsOverride", width=size[0], height=size[1], deviceScaleFactor=1, mobile=False)

    def open(self, path: Path, fragment: str = "") -> None:
        """Open a file and wait until it can be played, or has said why not."""
        self._ask("Page.navigate", url=f"{path.resolve().as_uri()}#{fragment}")
        begun = time.monotonic()
        while self.run("document.body && (document.body.dataset.ready || document.getElementById('problem').textContent)") in (
                None, "unpacking ..."):
            assert time.monotonic() < begun + WAIT_S, "the page does not get ready"
            time.sleep(0.05)

    def run(self, code: str) -> Any:
        """What an expression gives; a promise is waited for."""
        answer = self._ask("Runtime.evaluate", expression=code, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def picture(self) -> bytes:
        """The page as a PNG."""
        return base64.b64decode(self._ask("Page.captureScreenshot", format="png")["data"])

    def input(self, method: str, **values: object) -> None:
        self._ask(f"Input.{method}", **values)

    def _ask(self, method: str, **values: object) -> Any:
        self._sent += 1
        session = {"sessionId": self._session} if self._session else {}
        os.write(self._hears, json.dumps({"id": self._sent, "method": method, "params": values, **session}).encode() + b"\0")
        while True:
            message = self._next()
            if message.get("id") == self._sent:
                assert "error" not in message, message
                return message["result"]
            self._note(message)

    def _next(self) -> Any:
        while b"\0" not in self._rest:
            more = os.read(self._answers.fileno(), 1 << 20)
            assert more, "Chromium has ended"
            self._rest += more
        message, _, self._rest = self._rest.partition(b"\0")
        return json.loads(message)

    def _note(self, message: dict[str, Any]) -> None:
        method, values = message.get("method"), message.get("params", {})
        if method == "Network.requestWillBeSent":
            self.told += [] if values["request"]["url"].startswith(("file:", "blob:")) else [values["request"]["url"]]
        elif method in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"):
            self.told.append(json.dumps(values)[:500])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        self._answers.close()
        os.close(self._hears)
        self._profile.cleanup()

"""A Firefox for the tests of pages, asked by its Marionette protocol."""

import base64
import json
import os
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self

FIREFOX = shutil.which("firefox-esr") or shutil.which("firefox")
PREFERENCES = {"webgl.force-enabled": True, "app.update.enabled": False, "browser.shell.checkDefaultBrowser": False,
               "datareporting.policy.dataSubmissionEnabled": False}
WAIT_S = 120.0
MESSAGES = "return Services.console.getMessageArray().map(each => `${each.sourceName} ${each.errorMessage ?? each.message}`)"


class Firefox:
    """One page in a new profile. WebGL by software needs a screen, even if no window is opened on it."""

    def __init__(self, display: str) -> None:
        assert FIREFOX
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = int(free.getsockname()[1])
        self._profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        lines = (f"user_pref({json.dumps(key)}, {json.dumps(value)});" for key, value in
                 (PREFERENCES | {"marionette.port": port}).items())
        Path(self._profile.name, "user.js").write_text("\n".join(lines), "utf-8")
        self._process = subprocess.Popen(
            [FIREFOX, "--headless", "--marionette", "--remote-allow-system-access", "--no-remote",
             "--profile", self._profile.name],
            env={**os.environ, "DISPLAY": display, "HOME": self._profile.name}, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        self._sent = 0
        try:
            self._socket = self._connected(port)
            self._answers = self._socket.makefile("rb")
            self._next()  # its greeting
            self._ask("WebDriver:NewSession")
        except BaseException:
            self.close()
            raise

    def _connected(self, port: int) -> socket.socket:
        end = time.monotonic() + WAIT_S
        while time.monotonic() < end and self._process.poll() is None:
            try:
                return socket.create_connection(("127.0.0.1", port), WAIT_S)
            except OSError:
                time.sleep(0.1)
        raise AssertionError("Firefox does not answer")

    def open(self, path: Path, fragment: str = "") -> None:
        self._ask("WebDriver:Navigate", url=f"{path.resolve().as_uri()}#{fragment}")

    def run(self, code: str) -> Any:
        """What an expression gives, which sees the document but not the page's own names; a promise is waited for."""
        return self._ask("WebDriver:ExecuteScript", script=f"return {code}", args=[])["value"]

    def picture(self) -> bytes:
        """The page as a PNG."""
        return base64.b64decode(self._ask("WebDriver:TakeScreenshot", full=False)["value"])

    def told(self, about: str) -> list[str]:
        """Messages of the browser's console that name this."""
        self._ask("Marionette:SetContext", value="chrome")
        messages = self._ask("WebDriver:ExecuteScript", script=MESSAGES, args=[])["value"]
        self._ask("Marionette:SetContext", value="content")
        return [message for message in messages if about in message]

    def _ask(self, name: str, **values: object) -> Any:
        self._sent += 1
        text = json.dumps([0, self._sent, name, values]).encode()
        self._socket.sendall(b"%d:%b" % (len(text), text))
        _, number, error, result = self._next()
        assert number == self._sent and error is None, error
        return result

    def _next(self) -> Any:
        length = b""
        while (byte := self._answers.read(1)) != b":":
            assert byte, "Firefox has ended"
            length += byte
        return json.loads(self._answers.read(int(length)))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._socket.close()
        self.close()

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        self._profile.cleanup()

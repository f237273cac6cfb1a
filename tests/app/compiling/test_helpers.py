"""Closing does not wait for a process that compiles: one that is killed needs a core also to end."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator

import pytest

from crowd_demo.config.loader import load_config
from crowd_demo.host.compiling.helpers import CompilerSource

pytestmark = pytest.mark.quick


class Stuck:
    """A process that has been started, and ends long after it is killed."""

    def __init__(self) -> None:
        (its_input, mine), (answers, self.its_output) = os.pipe(), os.pipe()
        self.its_input = os.fdopen(its_input, encoding="utf-8")
        self.stdin, self.stdout = os.fdopen(mine, "w", encoding="utf-8"), os.fdopen(answers, encoding="utf-8")
        self.killed = False
        self._ended = threading.Event()

    def kill(self) -> None:
        self.killed = True

    def wait(self) -> int:
        self._ended.wait()
        return 0

    def end(self) -> None:
        os.close(self.its_output)
        self._ended.set()


@pytest.fixture
def stuck(monkeypatch: pytest.MonkeyPatch) -> Iterator[Stuck]:
    process = Stuck()
    monkeypatch.setattr(CompilerSource, "_run", lambda *_: process)
    yield process
    process.its_input.close()


def test_closing_does_not_wait_for_a_process_that_does_not_end(stuck: Stuck) -> None:
    """Not even while a thread waits for its answer."""
    talk = CompilerSource(load_config("1k")).start()
    answers: list[str] = []
    asking = threading.Thread(target=lambda: answers.append(talk.ask("compile")), daemon=True)
    asking.start()
    read = [stuck.its_input.readline(), stuck.its_input.readline()]
    closing = threading.Thread(target=talk.close, daemon=True)
    closing.start()
    closing.join(10)
    has_closed = not closing.is_alive()
    stuck.end()
    asking.join(10)
    assert has_closed and stuck.killed and answers == [""] and read[1] == "compile\n"
    for thread in threading.enumerate():
        if thread.name == "crowd-demo end of a compiler":
            thread.join(10)
    assert stuck.stdin.closed and stuck.stdout.closed, "once it has ended"

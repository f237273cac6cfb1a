"""However the program is told to quit, it does: promptly, with the right code, and saying what is not written."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pygame
import pytest
from damages import make_fifo
from driven import run_headless, without_progress

from crowd_demo.app import main
from crowd_demo.app.screen import save_picture
from crowd_demo.host.system import ShutdownRequest
from crowd_demo.sim.simulation import Simulation

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
CODES = [("SIGINT", 130), ("SIGTERM", 143), ("SIGHUP", 129)]
FOR_EVER_S = 1e6
LISTEN = """
import os, signal, sys, time
os.environ["PYGAME_HIDE_SUPPORT_PROMPT"] = "1"
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell lets what runs in its background ignore it,
for number in (signal.SIGTERM, signal.SIGHUP):            # and nohup that it hangs up
    signal.signal(number, signal.SIG_DFL)

def stay(*_):
    print("there", flush=True)
    time.sleep(1e6)
"""
LOADING = LISTEN + """
from crowd_demo.app import main
from crowd_demo.cli import main as run
main.load_program = stay
sys.exit(run(["--config", "1k", "--set", "map=null", "--headless", *sys.argv[1:]]))
"""
SWEEPING = LISTEN + """
from crowd_demo.cli import main
from crowd_demo.extras.lab import sweep
sweep.variants_of = lambda *_: {}
sweep.sweep = stay
sweep.expectations = lambda *_: []
sys.exit(main(["sweep", "depth", *sys.argv[1:]]))
"""


@pytest.fixture
def listening() -> Iterator[None]:
    """Signals have their usual effect, whatever shell started the tests."""
    before = {number: signal.getsignal(number) for number in (signal.Signals[name] for name, _ in CODES)}
    for number in before:
        signal.signal(number, signal.SIG_DFL)
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def at_step(monkeypatch: pytest.MonkeyPatch, number: int, do: Callable[[], object]) -> None:
    """Do this in the worker's thread when that step begins."""
    step, counted = Simulation.step, count()

    def other(sim: Simulation) -> None:
        if next(counted) == number:
            do()
        step(sim)

    monkeypatch.setattr(Simulation, "step", other)


def send(name: str) -> None:
    """Send a signal, or close the window."""
    if name == "QUIT":
        pygame.event.post(pygame.Event(pygame.QUIT))
    else:
        os.kill(os.getpid(), getattr(signal, name))


def ended_by(script: str, number: int, *arguments: str) -> tuple[int, str]:
    """Exit code and standard error of a script that gets a signal as soon as it says something."""
    command = [sys.executable, "-c", script, *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            assert process.stdout and process.stderr and process.stdout.readline() == b"there\n"
            process.send_signal(number)
            return process.wait(60), process.stderr.read().decode()
        finally:
            process.kill()


@pytest.mark.usefixtures("listening")
@pytest.mark.parametrize("render", [True, False])
@pytest.mark.parametrize(("name", "code"), CODES)
def test_a_signal_ends_a_run_with_a_report_of_what_was_done(
        name: str, code: int, render: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    at_step(monkeypatch, 6, lambda: send(name))
    picture = {"screenshot": tmp_path / "b.png"} if render else {}
    assert run_headless(frames=10**9, render=render, report=tmp_path / "a.json", **picture) == code
    report = json.loads((tmp_path / "a.json").read_text("utf-8"))
    assert report["interrupted"] is True and report["frames"] == report["steps"] >= 7
    assert (tmp_path / "b.png").exists() == render


@pytest.mark.parametrize("frames", [1, 4, 5, 7, 30, 90])
def test_frames_are_counted_once(frames: int, tmp_path: Path) -> None:
    assert run_headless(frames=frames, render=False, report=tmp_path / "a.json") == 0
    report = json.loads((tmp_path / "a.json").read_text("utf-8"))
    assert report["interrupted"] is False and report["frames"] == report["steps"] == frames
    assert report["warmup_frames"] == min(20, frames // 4)


@pytest.mark.parametrize(("name", "code"), CODES)
def test_a_signal_while_loading_a_picture_is_heard_and_told(name: str, code: int) -> None:
    wanted = ended_by(LOADING, getattr(signal, name), "--report", "a.json", "--screenshot", "b.png")
    assert wanted == (code, "crowd-demo: left while loading: not written: --screenshot b.png, --report a.json\n")


def test_a_signal_where_nothing_was_to_be_written_is_silent() -> None:
    assert ended_by(LOADING, signal.SIGINT) == (130, "")


@pytest.mark.usefixtures("listening")
@pytest.mark.parametrize(("name", "code"), [*CODES, ("QUIT", 1)])
def test_a_step_that_does_not_end_is_not_waited_for(
        name: str, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    left: list[int] = []
    monkeypatch.setattr("os._exit", left.append)
    monkeypatch.setattr("crowd_demo.app.loop.GRACE_S", 0.1)
    monkeypatch.setattr("crowd_demo.app.loop.GRACE_FRAMES", 0)
    at_step(monkeypatch, 3, lambda: (send(name), time.sleep(FOR_EVER_S)))
    assert run_headless(frames=50, report=tmp_path / "a.json") == code and left == [code]
    assert without_progress(capsys.readouterr().err) == (
        f"crowd-demo: left in the middle of a step: not written: --report {tmp_path / 'a.json'}\n")


@pytest.mark.usefixtures("listening")
def test_a_fifo_without_a_reader_is_waited_for_until_a_signal(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    left: list[int] = []
    monkeypatch.setattr("os._exit", left.append)
    monkeypatch.setattr(main, "WRITE_S", 0.1)
    make_fifo(tmp_path / "fifo")
    picture, save = tmp_path / "b.png", save_picture
    later = threading.Timer(0.5, lambda: send("SIGTERM"))
    monkeypatch.setattr(main, "save_picture", lambda *what: (save(*what), later.start()))
    assert run_headless(frames=3, report=tmp_path / "fifo", screenshot=picture) == 143 and left == [143]
    line = f"crowd-demo: left while writing: not written: --report {tmp_path / 'fifo'}\n"
    assert without_progress(capsys.readouterr().err) == line
    assert picture.exists()
    (tmp_path / "fifo").read_bytes()  # so that the thread ends


@pytest.mark.usefixtures("listening")
def test_after_the_wish_to_quit_no_step_is_begun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also not in a frame that was to make several."""
    monkeypatch.setattr("crowd_demo.app.crowd.Crowd.due_steps", lambda *_: 4)
    at_step(monkeypatch, 5, lambda: (send("SIGTERM"), time.sleep(0.3)))
    assert run_headless(frames=50, report=tmp_path / "a.json") == 143
    assert json.loads((tmp_path / "a.json").read_text("utf-8"))["steps"] == 6


def test_closing_the_window_in_a_long_step_still_writes_what_was_asked_for(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    at_step(monkeypatch, 3, lambda: (send("QUIT"), time.sleep(1.0)))
    assert run_headless(frames=50, report=tmp_path / "a.json", screenshot=tmp_path / "b.png") == 0
    assert json.loads((tmp_path / "a.json").read_text("utf-8"))["steps"] == 4 and (tmp_path / "b.png").exists()


@pytest.mark.parametrize(("name", "code"), CODES)
def test_a_sweep_is_ended_by_a_signal_also_while_a_kernel_runs(name: str, code: int, tmp_path: Path) -> None:
    path = str(tmp_path / "a.json")
    line = f"crowd-demo: left in the middle: not written: --report {path}\n"
    assert ended_by(SWEEPING, getattr(signal, name), "--report", path) == (code, line)


@pytest.mark.quick
def test_the_first_wish_counts_and_the_first_signal_gives_the_code() -> None:
    quitting = ShutdownRequest()
    assert not quitting.asked and quitting.left_s(1) == float("inf")
    quitting.ask()
    left = quitting.left_s(1)
    assert quitting.asked and not quitting.interrupted and quitting.code == 0
    quitting.interrupt(signal.SIGTERM)
    quitting.interrupt(signal.SIGINT)
    assert (quitting.interrupted, quitting.code) == (True, 143) and quitting.left_s(1) <= left <= 1

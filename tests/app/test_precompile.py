"""The process that compiles other choices in idle moments."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest
from driven import Driven

from crowd_demo.app import loop
from crowd_demo.app.options import RunOptions
from crowd_demo.app.precompile import Precompiler, all_choices
from crowd_demo.config.loader import load_config
from crowd_demo.registry.techniques import TECHNIQUES


@pytest.mark.quick
def test_every_choice_of_every_technique_comes_up() -> None:
    options = load_config("1k").optimizations
    wanted = {(technique.path, value) for technique in TECHNIQUES for value in technique.choices}
    others = list(all_choices(options))
    assert {(technique.path, other.get(technique.path)) for other in others for technique in TECHNIQUES} >= wanted
    assert len(others) == len(wanted)


def test_it_reads_every_configuration() -> None:
    for name in ("1k", "20k-flock", "maze"):
        done = subprocess.run([sys.executable, "-m", "crowd_demo.app.precompile"], text=True,
                              input=load_config(name).model_dump_json() + "\n", capture_output=True)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("lasts", [True, False])
def test_it_is_started_only_where_the_cache_lasts(driven: Driven, lasts: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[str] = []
    monkeypatch.setattr(loop, "Precompiler", lambda *_: started.append("it"))
    monkeypatch.setattr(loop, "CACHE_LASTS", lasts)
    monkeypatch.setattr(loop, "PRECOMPILE_FRAME", 2)
    driven.loop.options, driven.loop.frames = RunOptions(), 3
    driven.loop.run()
    assert started == ["it"] * lasts


def test_it_ends_with_the_program() -> None:
    config = load_config("1k")
    compiling = Precompiler(config, config.optimizations)
    assert compiling.process.poll() is None and compiling.process.stdin
    compiling.process.stdin.close()  # as the system does when a process dies
    assert compiling.process.wait(60) == 0


def test_it_can_be_stopped() -> None:
    config = load_config("1k")
    compiling = Precompiler(config, config.optimizations)
    compiling.close()
    assert compiling.process.returncode not in (None, 0)


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_closing_does_not_wait_for_a_process_that_gets_no_core(monkeypatch: pytest.MonkeyPatch) -> None:
    """A killed process of idle priority ends only when it is given a core; here the kill never arrives."""
    monkeypatch.setattr("crowd_demo.app.precompile.CLOSE_S", 0.1)
    config = load_config("1k")
    compiling = Precompiler(config, config.optimizations)
    with monkeypatch.context() as patch:
        patch.setattr(compiling.process, "kill", lambda: compiling.process.send_signal(signal.SIGSTOP))
        compiling.close()
    assert compiling.process.poll() is None
    compiling.process.kill()
    compiling.process.wait(60)

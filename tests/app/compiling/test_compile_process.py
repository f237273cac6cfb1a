"""The processes that compile: beside this one while it loads, and other choices in idle moments."""

from __future__ import annotations

import errno
import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, cast
from unittest.mock import MagicMock

import pytest
from driven import Driven, wait_until

from crowd_demo.app import loop
from crowd_demo.app.crowd.technique_controls import Switcher
from crowd_demo.app.options import RunOptions
from crowd_demo.compute.jit import Launch, is_on_disk
from crowd_demo.config.loader import load_config
from crowd_demo.config.optimizations import with_values
from crowd_demo.host.compiling import compilers as module
from crowd_demo.host.compiling import helpers
from crowd_demo.host.compiling.ahead import KernelFinder
from crowd_demo.host.compiling.compile_process import ALL_CHOICES, ALL_DONE, all_choices
from crowd_demo.host.compiling.compilers import Compilers
from crowd_demo.host.compiling.helpers import CompilerSource, ForkingSource, Helper, Precompiler, source_of
from crowd_demo.registry.techniques import TECHNIQUES

FORKING = pytest.param(ForkingSource, marks=pytest.mark.skipif(not helpers.CAN_FORK, reason="it cannot fork"))


@pytest.fixture(params=[CompilerSource, FORKING])
def source(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[CompilerSource]:
    """Starts each process anew, or forks."""
    monkeypatch.setattr(helpers, "CAN_FORK", request.param is ForkingSource)
    source = request.param(load_config("1k"))
    yield source
    source.close()


@pytest.mark.quick
def test_every_choice_of_every_technique_comes_up() -> None:
    options = load_config("1k").optimizations
    wanted = {(technique.path, value) for technique in TECHNIQUES for value in technique.choices}
    others = list(all_choices(options))
    assert {(technique.path, other.get(technique.path)) for other in others for technique in TECHNIQUES} >= wanted
    assert len(others) == len(wanted)


@pytest.mark.parametrize("name", ["1k", "20k-flock", "maze"])
def test_it_compiles_all_choices_of_every_configuration(name: str) -> None:
    config = load_config(name)
    source = source_of(config)
    compiling = Precompiler(source, config.optimizations)
    compiling.pause(False)
    assert has_ended(compiling, 600)
    compiling.close()
    source.close()
    ahead = KernelFinder(config)
    for options in all_choices(config.optimizations):
        assert not [launch.name for launch in ahead.missing(options) if not is_on_disk(launch)]


def has_ended(compiling: Precompiler, timeout_s: float) -> bool:
    compiling.thread.join(timeout_s)
    return not compiling.thread.is_alive()


PRINT_KEYS = """
from crowd_demo.host.compiling.ahead import KernelFinder, key_of
from crowd_demo.config.loader import load_config
from crowd_demo.config.optimizations import with_values
config = load_config("1k")
ahead, options = KernelFinder(config), config.optimizations
other = with_values(options, {"neighbours": "z_grid"})
print(*dict.fromkeys(map(key_of, [*ahead.missing(options), *ahead.missing(other)])), sep="\\n")
"""


@pytest.mark.parametrize("kind", [CompilerSource, FORKING])
def test_a_helper_compiles_what_it_is_told_and_nothing_else(
        kind: type[CompilerSource], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CROWD_DEMO_CACHE", str(tmp_path))  # of the helper alone
    config = load_config("1k")
    printed = subprocess.run([sys.executable, "-c", PRINT_KEYS], capture_output=True, encoding="utf-8", check=True).stdout
    all_keys = [key for key in printed.splitlines() if key.startswith("crowd_demo")]
    wanted = next(key for key in all_keys if ".find_cells" in key)
    monkeypatch.setattr(helpers, "CAN_FORK", kind is ForkingSource)
    source = kind(config)
    helper = Helper(source)
    try:
        assert helper.compile(wanted, config.optimizations)
        assert helper.compile("no.such_kernel()", config.optimizations), "what has been compiled to find the others"
        other = next(key for key in all_keys if ".take_snapshot" in key)
        assert helper.compile(other, with_values(config.optimizations, {"neighbours": "z_grid"}))
    finally:
        helper.close()
        source.close()
    written = {path.name.split("-")[0] for path in tmp_path.rglob("*.nbc")}
    assert {name.split(".")[-1] for name in written} >= {"find_cells", "take_snapshot"}
    assert not any("pose" in name or ".interact_" in name for name in written)


def test_a_process_that_dies_is_no_failure() -> None:
    config = load_config("1k")
    source = ForkingSource(config) if helpers.CAN_FORK else CompilerSource(config)
    helper = Helper(source)
    source.close()
    if isinstance(source, ForkingSource):
        assert not helper.compile("anything", config.optimizations)
        compiling = Precompiler(source, config.optimizations)
        compiling.pause(False)
        assert has_ended(compiling, 10), "there is nobody to go on"
    helper.close()


def test_another_process_goes_on_after_some_kernels(source: CompilerSource, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[helpers.Conversation] = []
    start = source.start

    def counted() -> helpers.Conversation:
        started.append(start())
        return started[-1]

    monkeypatch.setattr(source, "start", counted)
    helper, options = Helper(source, most_kernels=2), load_config("1k").optimizations
    assert all(helper.compile(f"unknown_{number}", options) for number in range(3)) and len(started) == 2
    helper.rest()
    assert helper.compile("unknown", options) and len(started) == 2 + helpers.CAN_FORK, "one that is soon there is not kept"
    helper.close()
    assert not helper.compile("unknown", options)


class Slow:
    """A kernel that compiles at once, unless a helper has done it."""

    def __init__(self, name: str) -> None:
        self.__name__, self.overloads, self.compiled_here = name, dict[object, object](), 0

    def compile(self, signature: object) -> None:
        time.sleep(0.001)
        self.overloads[signature] = True
        self.compiled_here += 1


class Willing:
    """A helper that compiles so many kernels, then dies."""

    def __init__(self, most: int) -> None:
        self.told: list[str] = []
        self.most = most

    def compile(self, kernel: str, options: object) -> bool:
        self.told.append(kernel)
        return len(self.told) <= self.most

    rest = close = lambda self: None


@pytest.mark.quick
@pytest.mark.parametrize(("most", "here"), [(0, True), (1, True), (50, True), (50, False)])
def test_whatever_helpers_do_all_kernels_are_there_in_the_end(most: int, here: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SETTLE_S", 0.0)
    kernels = [Slow(f"kernel_{number}") for number in range(40)]
    launches = [Launch(cast(Any, kernel), (0,) * (number * 7 % 11)) for number, kernel in enumerate(kernels)]
    helper, told = Willing(most), list[tuple[str, int]]()
    with closing(Compilers(config := load_config("1k"))) as compilers:
        compilers.employ(helper)  # type: ignore[arg-type]
        compilers.want(launches, config.optimizations)
        compilers.work(lambda text, done, total: told.append((text, done)), here=here)
    assert all(kernel.compiled_here == 1 for kernel in kernels) and (here or len(helper.told) == 40)
    arguments = [key.count("int64") for key in helper.told]
    assert arguments == sorted(arguments, reverse=True), "the largest kernels come first"
    done = [done for _, done in told]
    assert done == sorted(done) and done[-1] == 39, "what is not loaded yet is not done"


def fail(*_: object, **__: object) -> None:
    raise OSError(errno.EAGAIN, "Resource temporarily unavailable")


@pytest.mark.quick
@pytest.mark.parametrize("kind", [CompilerSource, FORKING])
def test_where_no_process_can_be_started_kernels_are_compiled_here(
        kind: type[CompilerSource], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(helpers, "CAN_FORK", kind is ForkingSource)
    monkeypatch.setattr(module, "SETTLE_S", 0.0)
    monkeypatch.setattr(subprocess, "Popen", fail)
    kernels = [Slow(f"kernel_{number}") for number in range(5)]
    with closing(Compilers(config := load_config("1k"))) as compilers:
        compilers.start(2)
        assert compilers.source
        compilers.source.wait()
        compilers.want([Launch(cast(Any, kernel), ()) for kernel in kernels], config.optimizations)
        compilers.work(lambda *_: None, here=False)
        compiling = Precompiler(compilers.source, config.optimizations)
        compiling.pause(False)
        assert has_ended(compiling, 10), "there is nobody to go on"
    assert [kernel.compiled_here for kernel in kernels] == [1] * 5


@pytest.mark.quick
@pytest.mark.skipif(not helpers.CAN_FORK, reason="it cannot fork")
def test_where_no_copy_can_be_asked_for_nothing_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    source = ForkingSource(config := load_config("1k"))
    monkeypatch.setattr(socket, "socketpair", fail)
    assert not Helper(source).compile("anything", config.optimizations)
    source.close()


@pytest.mark.parametrize("lasts", [True, False])
def test_it_is_started_only_where_the_cache_lasts(driven: Driven, lasts: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    started = MagicMock()
    monkeypatch.setattr(loop, "Precompiler", started.it)
    monkeypatch.setattr(Switcher, "stand_by", started.helpers)
    monkeypatch.setattr(loop, "CACHE_LASTS", lasts)
    monkeypatch.setattr(loop, "PRECOMPILE_FRAME", 2)
    driven.loop.options, driven.loop.frames = RunOptions(), 3
    driven.loop.run()
    assert [name for name, *_ in started.mock_calls[:2]] == ["helpers", "it"] * lasts


@pytest.mark.quick
def test_it_stands_still_while_a_technique_is_compiled(driven: Driven, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[bool] = []
    monkeypatch.setattr(loop.Loop, "_pause_precompiler", lambda _, paused: told.append(paused))
    for compiling in (True, False):
        monkeypatch.setattr(Switcher, "busy", compiling)
        driven.loop.end_window_frame()
    assert told == [True, False]


def test_processes_end_with_the_program(source: CompilerSource) -> None:
    talks = [source.start() for _ in range(2)]
    options = load_config("1k").optimizations.model_dump(mode="json")
    assert talks[0].ask(json.dumps(["unknown", options])) == "unknown"
    for talk in talks:
        talk.close()
        assert talk.ask("more") == ""
    if isinstance(source, ForkingSource):
        source._orders.close()  # as the system does when a process dies
        assert source.process.wait(60) == 0


@pytest.mark.parametrize("dies", [False, True])
def test_waiting_for_a_source_comes_to_an_end(source: CompilerSource, dies: bool) -> None:
    if dies and isinstance(source, ForkingSource):
        source.process.kill()
    source.wait()
    talk = source.start()
    options = load_config("1k").optimizations.model_dump(mode="json")
    answers = talk.ask(json.dumps(["unknown", options])) == "unknown"
    assert answers is not (dies and isinstance(source, ForkingSource))
    talk.close()


@pytest.mark.skipif(sys.platform == "win32", reason="no niceness")
def test_processes_that_run_already_get_another_niceness(source: CompilerSource) -> None:
    talk = source.start()
    source.lower_priority(7)
    if sys.platform != "win32":
        assert {os.getpriority(os.PRIO_PROCESS, process.pid) for process in source._processes} == {7}
    talk.close()


def test_a_pause_ends_the_process_and_another_one_goes_on() -> None:
    config = load_config("1k")

    class Counted:
        def __init__(self) -> None:
            self.talks = list[Talk]()

        def start(self) -> Any:
            self.talks.append(Talk())
            return self.talks[-1]

    class Talk:
        def __init__(self) -> None:
            self.may_go_on, self.closed, self.asked = threading.Event(), False, ""

        def ask(self, line: str) -> str:
            self.asked = json.loads(line)[0]
            assert self.may_go_on.wait(10)
            return "" if self.closed else ALL_DONE

        def close(self) -> None:
            self.closed = True
            self.may_go_on.set()

    source = Counted()
    compiling = Precompiler(cast(CompilerSource, source), config.optimizations)
    assert not has_ended(compiling, 0.01) and not source.talks
    compiling.pause(False)
    wait_until(lambda: len(source.talks) == 1)
    compiling.pause(True)
    assert not has_ended(compiling, 0.01) and len(source.talks) == 1
    compiling.pause(False)
    wait_until(lambda: [talk.asked for talk in source.talks] == [ALL_CHOICES] * 2)
    source.talks[1].may_go_on.set()
    assert has_ended(compiling, 10)
    compiling.pause(True)
    compiling.pause(False)
    assert len(source.talks) == 2, "it is over"

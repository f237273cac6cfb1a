"""The processes that compile: beside this one while it loads, and other choices in idle moments."""

import errno
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from driven import PATIENCE_S, Driven, wait_until

from crowd_demo.app import RunOptions, loop
from crowd_demo.compute.jit import Launch, is_on_disk, launch
from crowd_demo.config.loader import load_config
from crowd_demo.config.model import Optimizations, with_values
from crowd_demo.host.compiling import compilers, helpers
from crowd_demo.host.compiling import compilers as module
from crowd_demo.host.compiling.ahead import KernelFinder, all_choices
from crowd_demo.host.compiling.compilers import QUICK_AGENTS, Compilers, quick_values
from crowd_demo.host.compiling.helpers import ALL_CHOICES, CompilerSource, Helper
from crowd_demo.registry.entries import EXACT, Value
from crowd_demo.registry.techniques import TECHNIQUES, kind_of
from crowd_demo.sim.simulation import Simulation

OPTIONS = load_config("1k").optimizations


@pytest.fixture(params=[  # every day as it is on this system
    pytest.param(False, marks=pytest.mark.slow if helpers.CAN_FORK else ()),
    pytest.param(True, marks=pytest.mark.skipif(not helpers.CAN_FORK, reason="it cannot fork"))], ids=["anew", "forks"])
def forks(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether processes are copies of a first one, or each is started anew."""
    monkeypatch.setattr(helpers, "CAN_FORK", request.param)
    monkeypatch.setattr(module, "CAN_FORK", request.param)
    return bool(request.param)


@pytest.fixture
def source(forks: bool) -> Iterator[CompilerSource]:
    with closing(CompilerSource(load_config("1k"))) as source:
        yield source


@pytest.fixture
def helper(source: CompilerSource) -> Iterator[Helper]:
    with closing(Helper(source)) as helper:
        yield helper


def fail(*_: object, **__: object) -> None:
    raise OSError(errno.EAGAIN, "Resource temporarily unavailable")


# --- one process after another ---------------------------------------------------------------------------------------

PRINT_KEYS = """
from crowd_demo.host.compiling.ahead import KernelFinder, key_of
from crowd_demo.config.loader import load_config
from crowd_demo.config.model import with_values
config = load_config("1k")
ahead, options = KernelFinder(config), config.optimizations
other = with_values(options, {"neighbours": "z_grid"})
print(*dict.fromkeys(map(key_of, [*ahead.missing(options), *ahead.missing(other)])), sep="\\n")
"""


def test_a_helper_compiles_what_it_is_told_and_nothing_else(
        forks: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CROWD_DEMO_CACHE", str(tmp_path))  # of the helper alone
    printed = subprocess.run([sys.executable, "-c", PRINT_KEYS], capture_output=True, encoding="utf-8", check=True).stdout
    all_keys = [key for key in printed.splitlines() if key.startswith("crowd_demo")]
    wanted = next(key for key in all_keys if ".find_cells" in key)
    with closing(CompilerSource(load_config("1k"))) as source, closing(Helper(source)) as helper:
        assert helper.compile(wanted, OPTIONS)
        assert helper.compile("no.such_kernel()", OPTIONS), "what has been compiled to find the others"
        other = next(key for key in all_keys if ".take_snapshot" in key)
        assert helper.compile(other, with_values(OPTIONS, {"neighbours": "z_grid"}))
    written = {path.name.split("-")[0] for path in tmp_path.rglob("*.nbc")}
    assert {name.split(".")[-1] for name in written} >= {"find_cells", "take_snapshot"}
    assert not any("pose" in name or ".interact_" in name for name in written)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere there is less of it")
def test_frames_and_then_all_other_processes_come_first(
        source: CompilerSource, helper: Helper, monkeypatch: pytest.MonkeyPatch) -> None:
    assert helper.compile("unknown", OPTIONS)
    if sys.platform == "linux":
        before = {process: os.getpriority(os.PRIO_PROCESS, process) for process in children()}
        source.niceness = 7
        assert helper.compile("unknown", OPTIONS)
        changed = [process for process in children() if os.getpriority(os.PRIO_PROCESS, process) != before[process]]
        assert [os.getpriority(os.PRIO_PROCESS, process) for process in changed] == [7]
        threading.Thread(target=helper.compile, args=(ALL_CHOICES, OPTIONS), daemon=True).start()
        wait_until(lambda: os.sched_getscheduler(changed[0]) == os.SCHED_IDLE)


def children() -> list[int]:
    """The processes that this one has started, and those that they have started."""
    parents = dict[int, int]()
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            parents[int(path.parent.name)] = int(path.read_text("utf-8").rpartition(")")[2].split()[1])
    return [process for process, parent in parents.items() if os.getpid() in (parent, parents.get(parent))]


def test_processes_end_with_the_program(source: CompilerSource) -> None:
    talks = [source.start() for _ in range(2)]
    assert talks[0].ask(json.dumps(["unknown", OPTIONS.model_dump_json(), 0])) == "unknown"
    for talk in talks:
        talk.close()
        assert talk.ask("more") == ""
    if source._orders and source.process:
        source._orders.close()  # as the system does when a process dies
        assert source.process.wait(60) == 0


@pytest.mark.skipif(not helpers.CAN_FORK, reason="it cannot fork")
def test_a_process_that_dies_is_no_failure() -> None:
    source = CompilerSource(load_config("1k"))
    assert source.process
    source.process.kill()
    with closing(Compilers(load_config("1k"), source)) as compilers:
        compilers.start_early()
        compilers.compile_choices(OPTIONS)
        wait_until(lambda: compilers._has_all_choices)
        with closing(Helper(source)) as helper:
            assert not helper.compile("anything", OPTIONS)


# --- the list of what is wanted --------------------------------------------------------------------------------------

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

    def rest(self) -> None:
        """It is gone already."""

    close = rest


@pytest.mark.quick
@pytest.mark.parametrize("most", [0, 1, 50])
def test_whatever_helpers_do_all_kernels_are_there_in_the_end(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SETTLE_S", 0.0)
    kernels = [Slow(f"kernel_{number}") for number in range(40)]
    launches = [Launch(cast(Any, kernel), (0,) * (number * 7 % 11)) for number, kernel in enumerate(kernels)]
    helper, told = Willing(most), list[tuple[str, int]]()
    with closing(Compilers(load_config("1k"))) as compilers:
        compilers.employ(helper)  # type: ignore[arg-type]
        compilers.want(launches, OPTIONS)
        compilers.work(lambda text, done, total: told.append((text, done)), here=most < 50)
    assert all(kernel.compiled_here == 1 for kernel in kernels)
    arguments = [key.count("int64") for key in helper.told]
    assert arguments == sorted(arguments, reverse=True), "the largest kernels come first"
    assert len(helper.told) == 40 or most < 50, "here they are only loaded"
    done = [done for _, done in told]
    assert done == sorted(done) and done[-1] == 39, "what is not loaded yet is not done"


@pytest.mark.quick
@pytest.mark.usefixtures("forks")
def test_where_no_process_can_be_started_kernels_are_compiled_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SETTLE_S", 0.0)
    monkeypatch.setattr(module, "CACHE_LASTS", True)
    monkeypatch.setattr(subprocess, "Popen", fail)
    kernels = [Slow(f"kernel_{number}") for number in range(5)]
    with closing(Compilers(load_config("1k"))) as compilers:
        compilers.start(2)
        compilers.start_early()
        compilers.want([Launch(cast(Any, kernel), ()) for kernel in kernels], OPTIONS)
        compilers.work(lambda *_: None, here=False)
        compilers.compile_choices(OPTIONS)
        wait_until(lambda: compilers._has_all_choices)  # there is nobody to go on
    assert [kernel.compiled_here for kernel in kernels] == [1] * 5


# --- other choices ---------------------------------------------------------------------------------------------------

@pytest.mark.quick
def test_every_choice_of_every_technique_comes_up() -> None:
    wanted = {(technique.path, value) for technique in TECHNIQUES for value in technique.choices}
    others = list(all_choices(OPTIONS))
    assert {(technique.path, other.get(technique.path)) for other in others for technique in TECHNIQUES} >= wanted
    assert len(others) == len(wanted)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["1k", "20k-flock", "maze"])
def test_it_compiles_all_choices_of_every_configuration(name: str) -> None:
    config = load_config(name)
    with closing(Compilers(config)) as compilers:
        compilers.compile_choices(config.optimizations)
        wait_until(lambda: compilers._has_all_choices, 2 * PATIENCE_S)
    ahead = KernelFinder(config)
    for options in all_choices(config.optimizations):
        assert not [launch.name for launch in ahead.missing(options) if not is_on_disk(launch)]


def test_other_choices_are_compiled_after_the_first_frames_unless_something_is_wanted(
        driven: Driven, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    monkeypatch.setattr(Compilers, "compile_choices", lambda *_: told.append("compiles"))
    monkeypatch.setattr(Compilers, "pause_choices", lambda _: told.append("pauses"))
    monkeypatch.setattr(loop, "PRECOMPILE_FRAME", 2)
    driven.loop.options, driven.loop.frames = RunOptions(), 3
    driven.loop.run()
    assert told[:2] == ["compiles"] * 2 and set(told[2:]) == {"pauses"}, "it ends with the loop"
    told.clear()
    monkeypatch.setattr(type(driven.program.techniques.switcher), "busy", True)
    driven.loop.end_window_frame()
    assert told == ["pauses"]


class Talk:
    """A conversation with a process that has compiled everything once it may go on."""

    def __init__(self) -> None:
        self.may_go_on, self.closed, self.asked = threading.Event(), False, ""

    def ask(self, line: str) -> str:
        self.asked = json.loads(line)[0]
        assert self.may_go_on.wait(10)
        return ""

    def close(self) -> None:
        self.closed = True
        self.may_go_on.set()


class Counted:
    """What starts such processes."""

    niceness = 0

    def __init__(self) -> None:
        self.talks = list[Talk]()

    def start(self) -> Talk:
        self.talks.append(Talk())
        return self.talks[-1]

    def close(self) -> None:
        """It is no process."""


@pytest.mark.quick
@pytest.mark.parametrize("lasts", [True, False])
def test_a_pause_ends_the_process_and_another_one_goes_on_if_there_is_a_cache(
        lasts: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(helpers, "CAN_FORK", True)
    monkeypatch.setattr(module, "CACHE_LASTS", lasts)
    source = Counted()
    with closing(Compilers(load_config("1k"), cast(CompilerSource, source))) as compilers:
        for _ in range(2):
            compilers.compile_choices(OPTIONS)
        wait_until(lambda: [talk.asked for talk in source.talks] == [ALL_CHOICES] * lasts)
        compilers.pause_choices()
        assert [talk.closed for talk in source.talks] == [True] * lasts
        for _ in range(2):
            compilers.compile_choices(OPTIONS)
        wait_until(lambda: [talk.asked for talk in source.talks[1:]] == [ALL_CHOICES] * lasts)
        for talk in source.talks:
            talk.may_go_on.set()
        wait_until(lambda: compilers._has_all_choices is lasts)
        compilers.pause_choices()
        compilers.compile_choices(OPTIONS)
    assert len(source.talks) == 2 * lasts, "it is over"


# --- A first start in a window: what is compiled soonest comes first -------------------------------------------------

QUICK = {technique.path: technique.quick for technique in TECHNIQUES if technique.quick is not None}


@pytest.mark.quick
def test_quick_values_are_exact_choices() -> None:
    assert QUICK
    for technique in TECHNIQUES:
        if technique.quick is not None:
            assert technique.allows(technique.quick) and kind_of(technique, technique.quick) is EXACT


def kernel_named(name: str) -> Callable[[], None]:
    def kernel() -> None:
        """Nothing runs it."""

    kernel.__name__ = name
    return kernel


def kernels_for(options: Optimizations, overlays: bool = True) -> list[Launch]:
    """Ten kernels with the configured values, five others with the quick ones."""
    return [launch(kernel_named(name)) for name in ("abcde" if with_values(options, QUICK) == options else "0123456789")]


@pytest.mark.quick
def test_a_start_is_quick_where_that_saves_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    def on_disk(is_there: Callable[[Launch], bool]) -> None:
        monkeypatch.setattr(compilers, "is_on_disk", is_there)

    config, ahead = load_config("20k"), cast(KernelFinder, SimpleNamespace(missing=kernels_for))

    def chosen(**changed: object) -> dict[str, Value]:
        other = config.model_copy(update=changed)
        return quick_values(other, ahead, ahead.missing(other.optimizations))

    on_disk(lambda launch: False)
    assert chosen() == QUICK
    assert chosen(agents=QUICK_AGENTS + 1) == {}
    assert chosen(optimizations=with_values(config.optimizations, QUICK)) == {}, "nothing would follow"
    on_disk(lambda launch: launch.name.isdigit())
    assert chosen() == {}, "it would compile more"
    on_disk(lambda launch: launch.name not in "01")
    assert chosen() == {}, "there is little to compile"


def test_the_configured_values_follow_and_the_crowd_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compilers, "quick_values", lambda config, ahead, launches: QUICK)
    driven = Driven(quick=True)
    program, sim, techniques = driven.program, driven.program.sim, driven.program.techniques
    assert techniques.beginning
    program.overlays.toggle("show_density")
    assert all(sim.optimizations.get(path) == value for path, value in QUICK.items())
    assert techniques.asked() == driven.config.optimizations
    driven.until(lambda: sim.optimizations == driven.config.optimizations)
    driven.frames(10)
    assert program.overlays.legend_items and not techniques.beginning
    assert sim.optimizations == driven.config.optimizations and techniques.deferred == frozenset(QUICK)
    alone = Simulation(driven.config)
    alone.step(sim.tick)
    assert alone.state_hash() == sim.state_hash()
    techniques.switcher.close()


def test_the_past_with_values_that_nobody_chose_is_forgotten(driven: Driven) -> None:
    driven.frames(20)
    driven.program.techniques.follow({"simd": False})
    driven.until(lambda: not driven.program.sim.optimizations.simd)
    driven.frames(10)
    past = driven.program.crowd.past()
    assert 20 <= past.oldest <= past.tick - 10
    driven.program.overlays.toggle("show_density")
    for beginning in (True, False):
        driven.program.techniques.beginning = beginning
        driven.frames(2)
        assert bool(driven.program.overlays.legend_items) is not beginning, "they wait for what they draw with"


@pytest.mark.quick
@pytest.mark.parametrize("options", [
    {"headless": True}, {"frames": 10}, {"report": Path("r.json")}, {"screenshot": Path("s.png")}, {"record": Path("r.rec")},
    {"trace": Path("t.json")}, {"load": object()}, {"replay": object()}], ids=lambda options: next(iter(options)))
def test_what_is_measured_kept_or_compared_has_all_kernels(options: dict[str, Any]) -> None:
    assert RunOptions(tour="talk").is_interactive and not RunOptions(**options).is_interactive

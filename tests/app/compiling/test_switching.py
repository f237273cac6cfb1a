"""A technique whose kernels are missing takes effect later, and never by half."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable
from itertools import pairwise
from typing import Any, cast

import pytest
from driven import Driven

from crowd_demo.app.crowd.technique_controls import BESIDE, Switcher, next_choice, next_number
from crowd_demo.compute.jit import Launch
from crowd_demo.config.loader import load_config
from crowd_demo.config.optimizations import Optimizations
from crowd_demo.host.compiling import compilers
from crowd_demo.host.compiling.compilers import Compilers
from crowd_demo.registry.entries import Range, Technique, Value
from crowd_demo.registry.techniques import BY_PATH, TECHNIQUES

pytestmark = pytest.mark.quick


class SlowKernel:
    """Compiles when it is told to."""

    def __init__(self, name: str) -> None:
        self.__name__ = name
        self.overloads: dict[Any, Any] = {}
        self.began, self.may_go_on = threading.Event(), threading.Event()
        self.error: Exception | None = None

    def compile(self, signature: Any) -> None:
        self.began.set()
        assert self.may_go_on.wait(60)
        if self.error:
            raise self.error
        self.overloads[signature] = True


class Ahead:
    """`depth: full` has three kernels, `cull: agents` one, and both together a fifth."""

    def __init__(self) -> None:
        self.slow = [SlowKernel(name) for name in ("sort_bands", "merge", "sort_all", "test_agents", "sort_tested")]
        self.asked = 0

    def missing(self, options: Any) -> list[Launch]:
        self.asked += 1
        full, agents = options.depth == "full", options.cull == "agents"
        wanted = [full, full, full, agents, full and agents]
        return [Launch(cast(Any, kernel), ()) for kernel, is_wanted in zip(self.slow, wanted, strict=True)
                if is_wanted and not kernel.overloads]

    def go_on(self) -> None:
        for kernel in self.slow:
            kernel.may_go_on.set()


class Queue(Switcher):
    """A switcher with kernels and helpers of the test's."""

    def __init__(self, *helpers: Any) -> None:
        self.ahead, self.options = Ahead(), Optimizations()
        compilers = Compilers(load_config("1k"))
        for helper in helpers:
            compilers.employ(helper)
        super().__init__(cast(Any, self.ahead), compilers)

    def ask(self, path: str, value: Value, beside: bool = False) -> dict[str, Value]:
        """Request a value; return those that are compiled."""
        self.request(path, value, beside)
        return self.values()

    def values(self) -> dict[str, Value]:
        """The values that are compiled, by path; that of the second crowd by its own."""
        return {BESIDE if request.beside else request.path: request.value for request in self.ready(self.options)}

    def wait(self) -> dict[str, Value]:
        """The same, once the thread is done."""
        end = time.monotonic() + 10
        while self.busy and time.monotonic() < end:
            time.sleep(0.001)
        return self.values()


def test_the_crowd_goes_on_with_the_old_value_until_the_kernels_of_the_new_one_are_there(driven: Driven) -> None:
    queue, program = Queue(), driven.program
    program.techniques.switcher = queue
    program.techniques.choose(BY_PATH["depth"], "full")
    tick, before = program.sim.tick, program.sim.optimizations.get("depth")
    driven.frames(5)
    assert program.sim.tick == tick + 5 and program.sim.optimizations.get("depth") == before != "full"
    assert queue.busy and program.techniques.value("depth") == "full"
    queue.ahead.go_on()
    driven.settle()
    assert program.sim.optimizations.get("depth") == "full" and not queue.busy


def test_of_several_pending_values_the_cheap_one_takes_effect_first() -> None:
    queue = Queue()
    sort_bands, merge, sort_all, test_agents, sort_tested = queue.ahead.slow
    assert queue.ask("depth", "full") == {} and sort_bands.began.wait(60)
    assert queue.ask("cull", "agents") == {}
    sort_bands.may_go_on.set()  # under way already
    assert wait_until(lambda: bool(sort_bands.overloads)) and queue.values() == {}
    test_agents.may_go_on.set()
    assert queue.wait() == {"cull": "agents"} and queue.pending == {"depth": "full"}
    queue.options.cull = "agents"
    assert queue.values() == {}, "together they need one more"
    for kernel in (merge, sort_all, sort_tested):
        kernel.may_go_on.set()
    assert queue.wait() == {"depth": "full"} and queue.pending == {}


def test_what_is_compiled_does_not_wait_for_what_is_not_and_frames_do_not_look_again_and_again() -> None:
    queue = Queue()
    assert queue.ask("depth", "full") == {}
    assert queue.ask("curve", "hilbert") == {"curve": "hilbert"} and queue.pending == {"depth": "full"}
    before = queue.ahead.asked
    for _ in range(100):
        assert queue.values() == {}
    assert queue.ahead.asked == before + 1, "what has to wait may need more beside what took effect"
    queue.request("depth", "off")
    queue.ahead.go_on()
    assert queue.wait() == {"depth": "off"}, "the last wish counts"


class Helping:
    """A helper that is told what to compile, and has done it when it may go on."""

    def __init__(self, ends: bool = False) -> None:
        self.told: list[tuple[str, Value]] = []
        self.may_go_on, self.ends, self.closed = threading.Event(), ends, False

    def compile(self, kernel: str, options: Optimizations) -> bool:
        self.told.append((re.sub(r".*\.|\(.*", "", kernel), options.get("depth")))
        return self.may_go_on.wait(10) and not self.ends

    def rest(self) -> None:
        """It takes no memory."""

    def close(self) -> None:
        self.closed = True
        self.may_go_on.set()


@pytest.fixture
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Helpers begin at once."""
    monkeypatch.setattr(compilers, "SETTLE_S", 0.0)


@pytest.mark.usefixtures("settled")
def test_helpers_compile_and_a_value_waits_for_them() -> None:
    queue = Queue(helper := Helping())
    assert queue.ask("depth", "full") == {}
    assert wait_until(lambda: helper.told == [("sort_bands", "full")])
    queue.ahead.go_on()
    assert queue.values() == {} and not any(kernel.overloads for kernel in queue.ahead.slow)
    helper.may_go_on.set()
    assert queue.wait() == {"depth": "full"}
    assert helper.told == [(name, "full") for name in ("sort_bands", "merge", "sort_all")]


@pytest.mark.usefixtures("settled")
def test_helpers_compile_for_an_experiment_too_and_this_process_only_loads() -> None:
    queue = Queue(helper := Helping())
    helper.may_go_on.set()
    queue.ahead.go_on()
    lines = list(queue.compile_one_by_one(Optimizations.model_validate({"depth": "full"})))
    names = ["sort_bands", "merge", "sort_all"]
    assert lines == [f"compiling {name.replace('_', ' ')}" for name in names]
    assert helper.told == [(name, "full") for name in names] and all(kernel.overloads for kernel in queue.ahead.slow[:3])
    queue.close()


def test_a_value_of_the_second_crowd_is_compiled_in_the_same_queue_beside_the_values_of_the_first() -> None:
    queue = Queue()
    assert queue.ask("cull", "agents", beside=True) == {} == queue.pending
    assert queue.ask("depth", "full") == {} and queue.pending == {"depth": "full"}
    queue.ahead.go_on()
    assert queue.wait() == {BESIDE: "agents"} and queue.wait() == {"depth": "full"}
    assert [request.is_coming for request in queue.requests.values()] == [False, True]
    assert not queue.ahead.slow[4].overloads, "no crowd has both"
    assert queue.ask("cull", queue.options.cull, beside=True) == {BESIDE: queue.options.cull}


@pytest.mark.usefixtures("settled")
def test_without_its_helper_the_program_compiles() -> None:
    queue = Queue(helper := Helping(ends=True))
    queue.ahead.go_on()
    assert queue.ask("depth", "full") == {}
    helper.may_go_on.set()
    assert queue.wait() == {"depth": "full"} and len(helper.told) == 1


@pytest.mark.usefixtures("settled")
def test_what_a_helper_compiles_in_vain_holds_nobody_up() -> None:
    queue = Queue(*(helpers := (Helping(), Helping())))
    assert queue.ask("depth", "full") == {}
    assert wait_until(lambda: all(helper.told for helper in helpers))
    queue.request("depth", queue.options.depth)
    assert queue.ask("cull", "agents") == {"depth": queue.options.depth}
    queue.ahead.slow[3].may_go_on.set()
    helpers[0].may_go_on.set()
    assert queue.wait()["cull"] == "agents" and not helpers[1].may_go_on.is_set()
    queue.close()
    assert all(helper.closed for helper in helpers)


def test_a_helper_does_not_begin_with_what_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compilers, "SETTLE_S", 3600.0)
    queue = Queue(helper := Helping())
    queue.request("depth", "full")
    queue.request("depth", queue.options.depth)
    assert queue.wait() == {"depth": queue.options.depth} and not helper.told
    queue.close()


def wait_until(happened: Callable[[], bool]) -> bool:
    end = time.monotonic() + 60
    while not happened() and time.monotonic() < end:
        time.sleep(0.001)
    return happened()


def test_a_kernel_that_does_not_compile_is_an_error_of_the_program() -> None:
    queue = Queue()
    queue.ahead.slow[0].error = ZeroDivisionError("in the compiler")
    assert queue.ask("depth", "full") == {}
    queue.ahead.go_on()
    with pytest.raises(ZeroDivisionError, match="in the compiler"):
        queue.wait()


def test_the_next_choice_goes_round_both_ways_also_from_a_value_between_choices() -> None:
    depth, stagger = BY_PATH["depth"].choices, BY_PATH["stagger.avoidance"].choices
    assert next_choice(BY_PATH["depth"], depth[-1]) == depth[0]
    assert next_choice(BY_PATH["depth"], depth[0], backwards=True) == depth[-1]
    assert next_choice(BY_PATH["stagger.avoidance"], 5) == stagger[0]
    assert next_choice(BY_PATH["stagger.avoidance"], 5, backwards=True) == stagger[-1]


def climb(numbers: Range, value: float, direction: int) -> list[float]:
    """From a value to the end of the range."""
    way = [value]
    while not way[1:] or way[-1] != way[-2]:
        way.append(float(next_number(numbers, way[-1], direction)))
    return way[:-1]


@pytest.mark.parametrize("technique", [t for t in TECHNIQUES if t.numbers], ids=lambda technique: technique.path)
def test_numbers_lead_through_the_whole_range_and_back_over_the_same_ones(technique: Technique) -> None:
    numbers = technique.numbers
    assert numbers
    up = climb(numbers, numbers.low, 1)
    assert up[-1] == numbers.high and climb(numbers, numbers.high, -1) == up[::-1]
    least = min(numbers.low or 1, 1)
    assert all(least * 0.999 < high - low < max(low * 0.101, least * 1.001) for low, high in pairwise(up))
    for value in up:
        Optimizations().set(technique.path, numbers.kind(value))


def test_a_number_between_leads_to_its_neighbours() -> None:
    cell = BY_PATH["cell_size"].numbers
    assert cell and (next_number(cell, 24.024, 1), next_number(cell, 24.024, -1)) == (26, 24)


def test_a_technique_of_words_has_no_numbers() -> None:
    assert {t.path for t in TECHNIQUES if not t.numbers} == {
        "neighbours", "simd", "avoidance", "reorder.when", "curve", "removal", "neighbour_limit", "stagger.by", "cull",
        "depth", "blitter", "device"}

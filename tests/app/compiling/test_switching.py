"""A technique whose kernels are missing takes effect later, and never by half."""

from __future__ import annotations

import re
import threading
from itertools import pairwise
from typing import Any, cast

import pytest
from driven import Driven, wait_for

from crowd_demo.app.crowd.switching import Switcher, next_choice, next_number
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

    def __init__(self, name: str, error: Exception | None = None) -> None:
        self.__name__ = name
        self.overloads: dict[Any, Any] = {}
        self.began, self.may_go_on = threading.Event(), threading.Event()
        self.error = error

    def compile(self, signature: Any) -> None:
        self.began.set()
        assert self.may_go_on.wait(60)
        if self.error:
            raise self.error
        self.overloads[signature] = True


class FakeAhead:
    """Each value of `depth` has a kernel of its own."""

    def __init__(self, **kernels: Any) -> None:
        self.kernels = kernels

    def missing(self, options: Any) -> list[Launch]:
        kernel = self.kernels.get(options.get("depth"))
        return [Launch(kernel, ())] if kernel and not kernel.overloads else []


def switcher_of(ahead: Any, *helpers: Any) -> Switcher:
    compilers = Compilers(load_config("1k"))
    for helper in helpers:
        compilers.employ(helper)
    return Switcher(ahead, compilers)


def settled(switcher: Switcher, options: Any) -> dict[str, Any]:
    """What takes effect once nothing is compiled any more."""
    wait_for(lambda: not switcher.busy)
    return switcher.ready(options)


def test_a_value_waits_for_its_kernel() -> None:
    slow, options = SlowKernel("sort_all"), Optimizations()
    switcher = switcher_of(FakeAhead(full=slow))
    switcher.request("depth", "full")
    assert switcher.ready(options) == {} and switcher.pending == {"depth": "full"}
    slow.may_go_on.set()
    assert settled(switcher, options) == {"depth": "full"}
    assert switcher.pending == {} and not switcher.busy


def test_the_crowd_goes_on_with_the_old_value_until_the_kernels_of_the_new_one_are_there(driven: Driven) -> None:
    slow, program = SlowKernel("sort_all"), driven.program
    program.techniques.switcher = switcher_of(FakeAhead(full=slow))
    program.techniques.choose(BY_PATH["depth"], "full")
    tick, before = program.sim.tick, program.sim.optimizations.get("depth")
    driven.frames(5)
    assert program.sim.tick == tick + 5 and program.sim.optimizations.get("depth") == before != "full"
    assert program.is_compiling and program.techniques.value("depth") == "full"
    slow.may_go_on.set()
    driven.settle()
    assert program.sim.optimizations.get("depth") == "full" and not program.is_compiling


def test_what_is_compiled_takes_effect_at_once() -> None:
    switcher, options = switcher_of(FakeAhead()), Optimizations()
    switcher.request("depth", "full")
    assert switcher.ready(options) == {"depth": "full"} and not switcher.busy


def test_the_last_wish_counts() -> None:
    slow, options = SlowKernel("sort_all"), Optimizations()
    switcher = switcher_of(FakeAhead(full=slow))
    switcher.request("depth", "full")
    switcher.request("depth", "off")
    slow.may_go_on.set()
    assert settled(switcher, options) == {"depth": "off"}


class TwoAhead:
    """`depth: full` has three kernels, `cull: agents` one, and both together a fifth."""

    def __init__(self) -> None:
        self.slow = [SlowKernel(name) for name in ("sort_bands", "merge", "sort_all", "test_agents", "sort_tested")]

    def missing(self, options: Any) -> list[Launch]:
        full, agents = options.depth == "full", options.cull == "agents"
        wanted = [full, full, full, agents, full and agents]
        return [Launch(cast(Any, kernel), ()) for kernel, is_wanted in zip(self.slow, wanted, strict=True)
                if is_wanted and not kernel.overloads]


def test_of_several_pending_values_the_cheap_one_takes_effect_first() -> None:
    ahead, options = TwoAhead(), Optimizations()
    sort_bands, merge, sort_all, test_agents, sort_tested = ahead.slow
    switcher = switcher_of(ahead)
    switcher.request("depth", "full")
    assert switcher.ready(options) == {} and sort_bands.began.wait(60)
    switcher.request("cull", "agents")
    assert switcher.ready(options) == {}
    sort_bands.may_go_on.set()  # under way already
    wait_for(lambda: sort_bands.overloads)
    assert switcher.ready(options) == {}
    test_agents.may_go_on.set()
    assert settled(switcher, options) == {"cull": "agents"} and switcher.pending == {"depth": "full"}
    options.cull = "agents"
    assert switcher.ready(options) == {}, "together they need one more"
    for kernel in (merge, sort_all, sort_tested):
        kernel.may_go_on.set()
    assert settled(switcher, options) == {"depth": "full"} and switcher.pending == {}


def test_what_is_compiled_does_not_wait_for_what_is_not_and_frames_do_not_look_again_and_again() -> None:
    class Counting(FakeAhead):
        asked = 0

        def missing(self, options: Any) -> list[Launch]:
            self.asked += 1
            return super().missing(options)

    slow, options = SlowKernel("sort_all"), Optimizations()
    ahead = Counting(full=slow)
    switcher = switcher_of(ahead)
    switcher.request("depth", "full")
    assert switcher.ready(options) == {}
    switcher.request("cull", "agents")
    assert switcher.ready(options) == {"cull": "agents"} and switcher.pending == {"depth": "full"}
    before = ahead.asked
    for _ in range(100):
        assert switcher.ready(options) == {}
    assert ahead.asked == before + 1, "what has to wait may need more beside what took effect"
    slow.may_go_on.set()
    assert settled(switcher, options) == {"depth": "full"}


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
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Helpers begin at once."""
    monkeypatch.setattr(compilers, "SETTLE_S", 0.0)


@pytest.mark.usefixtures("at_once")
def test_helpers_compile_and_a_value_waits_for_them() -> None:
    ahead, helper = TwoAhead(), Helping()
    switcher, options = switcher_of(ahead, helper), Optimizations()
    switcher.request("depth", "full")
    assert switcher.ready(options) == {}
    wait_for(lambda: helper.told == [("sort_bands", "full")])
    for kernel in ahead.slow:
        kernel.may_go_on.set()
    assert switcher.ready(options) == {} and not any(kernel.overloads for kernel in ahead.slow)
    helper.may_go_on.set()
    assert settled(switcher, options) == {"depth": "full"}
    assert helper.told == [(name, "full") for name in ("sort_bands", "merge", "sort_all")]


@pytest.mark.usefixtures("at_once")
def test_helpers_compile_for_an_experiment_too_and_this_process_only_loads() -> None:
    ahead, helper = TwoAhead(), Helping()
    switcher = switcher_of(ahead, helper)
    helper.may_go_on.set()
    for kernel in ahead.slow:
        kernel.may_go_on.set()
    lines = list(switcher.compile_one_by_one(Optimizations.model_validate({"depth": "full"})))
    names = ["sort_bands", "merge", "sort_all"]
    assert lines == [f"compiling {name.replace('_', ' ')}" for name in names]
    assert helper.told == [(name, "full") for name in names] and all(kernel.overloads for kernel in ahead.slow[:3])
    switcher.close()


@pytest.mark.usefixtures("at_once")
def test_two_switchers_share_helpers_and_neither_forgets_what_the_other_one_wants() -> None:
    ahead, helper, options = TwoAhead(), Helping(), Optimizations()
    left = switcher_of(ahead, helper)
    right = Switcher(cast(Any, ahead), left.compilers)
    for kernel in ahead.slow:
        kernel.may_go_on.set()
    left.request("depth", "full")
    right.request("cull", "agents")
    assert left.ready(options) == right.ready(options) == {}
    wait_for(lambda: helper.told)
    right.request("cull", options.cull)
    assert right.ready(options) == {"cull": options.cull}, "nothing is wanted there any more"
    helper.may_go_on.set()
    assert settled(left, options) == {"depth": "full"}
    assert {name for name, _ in helper.told} >= {"sort_bands", "merge", "sort_all"}


def test_a_switcher_does_not_wait_for_what_another_one_wants() -> None:
    ahead, options = TwoAhead(), Optimizations()
    left = switcher_of(ahead)
    right = Switcher(cast(Any, ahead), left.compilers)
    left.request("depth", "full")
    right.request("cull", "agents")
    assert left.ready(options) == right.ready(options) == {}
    ahead.slow[3].may_go_on.set()
    assert settled(right, options) == {"cull": "agents"} and left.busy and left.pending == {"depth": "full"}
    for kernel in ahead.slow:
        kernel.may_go_on.set()
    assert settled(left, options) == {"depth": "full"}


@pytest.mark.usefixtures("at_once")
def test_without_its_helper_the_program_compiles() -> None:
    ahead, helper = TwoAhead(), Helping(ends=True)
    switcher, options = switcher_of(ahead, helper), Optimizations()
    for kernel in ahead.slow:
        kernel.may_go_on.set()
    switcher.request("depth", "full")
    assert switcher.ready(options) == {}
    helper.may_go_on.set()
    assert settled(switcher, options) == {"depth": "full"} and len(helper.told) == 1


@pytest.mark.usefixtures("at_once")
def test_what_a_helper_compiles_in_vain_holds_nobody_up() -> None:
    ahead, helpers = TwoAhead(), (Helping(), Helping())
    switcher, options = switcher_of(ahead, *helpers), Optimizations()
    switcher.request("depth", "full")
    assert switcher.ready(options) == {}
    wait_for(lambda: all(helper.told for helper in helpers))
    switcher.request("depth", options.depth)
    switcher.request("cull", "agents")
    assert switcher.ready(options) == {"depth": options.depth}
    ahead.slow[3].may_go_on.set()
    helpers[0].may_go_on.set()
    assert settled(switcher, options)["cull"] == "agents" and not helpers[1].may_go_on.is_set()
    switcher.close()
    assert all(helper.closed for helper in helpers)


def test_a_helper_does_not_begin_with_what_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compilers, "SETTLE_S", 3600.0)
    ahead, helper = TwoAhead(), Helping()
    switcher, options = switcher_of(ahead, helper), Optimizations()
    switcher.request("depth", "full")
    switcher.request("depth", options.depth)
    assert settled(switcher, options) == {"depth": options.depth} and not helper.told
    switcher.close()


def test_a_kernel_that_does_not_compile_is_an_error_of_the_program() -> None:
    slow, options = SlowKernel("sort_all", ZeroDivisionError("in the compiler")), Optimizations()
    switcher = switcher_of(FakeAhead(full=slow))
    switcher.request("depth", "full")
    assert switcher.ready(options) == {}
    slow.may_go_on.set()
    with pytest.raises(ZeroDivisionError, match="in the compiler"):
        settled(switcher, options)


def test_the_next_choice_goes_round_both_ways() -> None:
    depth = BY_PATH["depth"]
    first, last = depth.choices[0], depth.choices[-1]
    assert next_choice(depth, last) == first and next_choice(depth, first, backwards=True) == last


def test_a_value_between_the_choices_leads_to_one_of_them() -> None:
    stagger = BY_PATH["stagger.avoidance"]
    assert next_choice(stagger, 5) == stagger.choices[0]
    assert next_choice(stagger, 5, backwards=True) == stagger.choices[-1]


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

"""A technique whose kernels are missing takes effect later, and never by half."""

import re
import threading
from typing import Any, cast

import pytest
from driven import Driven, wait_until

from crowd_demo.app.technique_controls import BESIDE, Switcher, next_choice, next_number
from crowd_demo.compute.jit import Launch
from crowd_demo.config.loader import load_config
from crowd_demo.config.model import Optimizations
from crowd_demo.host.compiling import compilers
from crowd_demo.host.compiling.compilers import Compilers
from crowd_demo.registry.entries import Value
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
    """`depth: full` has three kernels, `cull: agents` one, and both together a fifth. `asked` counts the questions."""

    def __init__(self) -> None:
        self.slow = [SlowKernel(name) for name in ("sort_bands", "merge", "sort_all", "test_agents", "sort_tested")]
        self.asked = 0

    def let_go(self) -> None:
        for kernel in self.slow:
            kernel.may_go_on.set()

    def missing(self, options: Any) -> list[Launch]:
        self.asked += 1
        full, agents = options.depth == "full", options.cull == "agents"
        wanted = [full, full, full, agents, full and agents]
        return [Launch(cast(Any, kernel), ()) for kernel, is_wanted in zip(self.slow, wanted, strict=True)
                if is_wanted and not kernel.overloads]


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


class Asked(Switcher):
    """Values are asked for beside the default options, with these helpers."""

    def __init__(self, *helpers: Helping) -> None:
        self.ahead, self.options = Ahead(), Optimizations()
        super().__init__(cast(Any, self.ahead), Compilers(load_config("1k")))
        for helper in helpers:
            self.compilers.employ(cast(Any, helper))

    def ask(self, path: str, value: Value) -> dict[str, Value]:
        """Ask for a value; return what is ready."""
        self.request(path, value)
        return self.taken()

    def taken(self) -> dict[str, Value]:
        """The values that are compiled, by path; that of the second crowd by its own."""
        return {request.owner or request.path: request.value for request in self.ready(self.options)}

    def ended(self) -> dict[str, Value]:
        """What is ready once nothing is compiled any more."""
        wait_until(lambda: not self.busy)
        return self.taken()


@pytest.fixture
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Helpers begin at once."""
    monkeypatch.setattr(compilers, "SETTLE_S", 0.0)


FULL = {"depth": "full"}
NAMES = ["sort_bands", "merge", "sort_all"]


def test_a_value_waits_for_its_kernels_and_what_is_compiled_takes_effect_at_once() -> None:
    switcher = Asked()
    assert switcher.ask("depth", "full") == {} and switcher.pending == FULL
    switcher.ahead.let_go()
    assert switcher.ended() == FULL and switcher.pending == {} and not switcher.busy
    switcher.request("depth", "off")  # the last one counts
    assert switcher.ask("depth", "full") == FULL and not switcher.busy


def test_the_crowd_goes_on_with_the_old_value_until_the_kernels_of_the_new_one_are_there(driven: Driven) -> None:
    program, options = driven.program, driven.program.sim.optimizations
    program.techniques.switcher = switcher = Asked()
    program.techniques.choose(BY_PATH["depth"], "full")
    tick, before = program.sim.tick, options.depth
    driven.frames(5)
    assert program.sim.tick == tick + 5 and options.depth == before != "full"
    assert program.techniques.switcher.busy and program.techniques.value("depth") == "full"
    switcher.ahead.let_go()
    driven.settle()
    assert options.depth == "full" and not program.techniques.switcher.busy


def test_of_several_pending_values_the_cheap_one_takes_effect_first() -> None:
    switcher = Asked()
    sort_bands, _, _, test_agents, _ = switcher.ahead.slow
    assert switcher.ask("depth", "full") == {} and sort_bands.began.wait(60)
    assert switcher.ask("cull", "agents") == {}
    sort_bands.may_go_on.set()  # under way already
    wait_until(lambda: sort_bands.overloads)
    assert switcher.taken() == {}
    test_agents.may_go_on.set()
    assert switcher.ended() == {"cull": "agents"} and switcher.pending == FULL
    switcher.options.cull = "agents"
    assert switcher.taken() == {}, "together they need one more"
    wait_until(lambda: switcher.job.done == "2 of 4")  # one count of all that is pending
    switcher.ahead.let_go()
    assert switcher.ended() == FULL and switcher.pending == {}


def test_what_is_compiled_does_not_wait_for_what_is_not_and_frames_do_not_look_again_and_again() -> None:
    switcher = Asked()
    assert switcher.ask("depth", "full") == {}
    assert switcher.ask("blitter", "pygame") == {"blitter": "pygame"} and switcher.pending == FULL
    before = switcher.ahead.asked
    for _ in range(100):
        assert switcher.taken() == {}
    assert switcher.ahead.asked == before + 1, "what has to wait may need more beside what took effect"
    switcher.ahead.let_go()
    assert switcher.ended() == FULL


@pytest.mark.usefixtures("settled")
def test_helpers_compile_and_a_value_waits_for_them() -> None:
    switcher = Asked(helper := Helping())
    assert switcher.ask("depth", "full") == {}
    wait_until(lambda: helper.told == [("sort_bands", "full")])
    switcher.ahead.let_go()
    assert switcher.taken() == {} and not any(kernel.overloads for kernel in switcher.ahead.slow)
    helper.may_go_on.set()
    assert switcher.ended() == FULL and helper.told == [(name, "full") for name in NAMES]


@pytest.mark.usefixtures("settled")
def test_a_value_of_the_second_crowd_is_compiled_in_the_same_queue_beside_the_values_of_the_first() -> None:
    switcher = Asked()
    beside = switcher.request("cull", "agents", owner=BESIDE)
    assert switcher.taken() == {} and switcher.pending == {}
    assert switcher.ask("depth", "full") == {} and switcher.pending == FULL
    switcher.ahead.let_go()
    assert switcher.ended() == {BESIDE: "agents"} and beside.state == "waiting for a step"
    assert switcher.ended() == FULL
    assert not switcher.ahead.slow[4].overloads, "no crowd has both"
    switcher.request("cull", cull := switcher.options.cull, owner=BESIDE)
    assert switcher.taken() == {BESIDE: cull}


@pytest.mark.usefixtures("settled")
def test_without_its_helper_the_program_compiles() -> None:
    switcher = Asked(helper := Helping(ends=True))
    switcher.ahead.let_go()
    assert switcher.ask("depth", "full") == {}
    helper.may_go_on.set()
    assert switcher.ended() == FULL and len(helper.told) == 1


def test_a_kernel_that_does_not_compile_is_an_error_of_the_program() -> None:
    switcher = Asked()
    switcher.ahead.slow[0].error = ZeroDivisionError("in the compiler")
    assert switcher.ask("depth", "full") == {}
    switcher.ahead.let_go()
    with pytest.raises(ZeroDivisionError, match="in the compiler"):
        switcher.ended()


def test_the_next_choice_goes_round_both_ways_also_from_between_them() -> None:
    depth, stagger = BY_PATH["depth"], BY_PATH["stagger.avoidance"]
    first, last = depth.choices[0], depth.choices[-1]
    assert next_choice(depth.choices, last) == first and next_choice(depth.choices, first, backwards=True) == last
    assert next_choice(stagger.choices, 5) == stagger.choices[0]
    assert next_choice(stagger.choices, 5, backwards=True) == stagger.choices[-1]


def test_a_number_between_leads_to_its_neighbours_and_words_have_none() -> None:
    cell = BY_PATH["cell_size"].numbers
    assert cell and (next_number(cell, 24.024, 1), next_number(cell, 24.024, -1)) == (26, 24)
    assert {t.path for t in TECHNIQUES if not t.numbers} == {
        "neighbours", "simd", "avoidance", "reorder.when", "curve", "removal", "neighbour_limit", "stagger.by", "cull",
        "depth", "blitter", "device"}

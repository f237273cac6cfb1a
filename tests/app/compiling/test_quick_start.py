"""A first start in a window: it begins with what is compiled soonest, and the configured techniques follow."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import cast

import pytest
from driven import PATIENCE_S, Driven

from crowd_demo.app.compiling import compilers
from crowd_demo.app.compiling.ahead import Ahead
from crowd_demo.app.compiling.compilers import QUICK_AGENTS, quick_values
from crowd_demo.compute.jit import Call, call
from crowd_demo.config.loader import load_config
from crowd_demo.config.optimizations import Optimizations, with_values
from crowd_demo.registry.kinds import EXACT, kind_of
from crowd_demo.registry.techniques import TECHNIQUES
from crowd_demo.sim.simulation import Simulation

QUICK = {technique.path: technique.quick for technique in TECHNIQUES if technique.quick is not None}


@pytest.fixture
def on_disk(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[Call], bool]], None]:
    return lambda is_there: monkeypatch.setattr(compilers, "is_on_disk", is_there)


@pytest.mark.quick
def test_quick_values_are_exact_choices() -> None:
    assert QUICK
    for technique in TECHNIQUES:
        if technique.quick is not None:
            assert technique.allows(technique.quick) and kind_of(technique, technique.quick) is EXACT


class FakeAhead:
    """Ten kernels with the configured values, five others with the quick ones."""

    def missing(self, options: Optimizations) -> list[Call]:
        names = "abcde" if with_values(options, QUICK) == options else "0123456789"
        return [call(FakeKernel(name)) for name in names]


class FakeKernel:
    def __init__(self, name: str) -> None:
        self.__name__ = name

    def __call__(self) -> None:
        """Nothing runs it."""


@pytest.mark.quick
def test_a_start_is_quick_where_that_saves_kernels(on_disk: Callable[[Callable[[Call], bool]], None]) -> None:
    config, ahead = load_config("20k"), cast(Ahead, FakeAhead())
    on_disk(lambda call: False)
    assert quick_values(config, ahead) == QUICK
    assert quick_values(config.model_copy(update={"agents": QUICK_AGENTS + 1}), ahead) == {}
    as_quick = config.model_copy(update={"optimizations": with_values(config.optimizations, QUICK)})
    assert quick_values(as_quick, ahead) == {}, "nothing would follow"
    on_disk(lambda call: call.name.isdigit())
    assert quick_values(config, ahead) == {}, "it would compile more"
    on_disk(lambda call: True)
    assert quick_values(config, ahead) == {}, "nothing is to be compiled"


def test_the_configured_values_follow_and_the_crowd_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compilers, "quick_values", lambda config, ahead: QUICK)
    driven = Driven(quick=True)
    sim, techniques = driven.program.sim, driven.program.techniques
    assert all(sim.optimizations.get(path) == value for path, value in QUICK.items())
    assert techniques.asked() == driven.config.optimizations
    end = time.monotonic() + PATIENCE_S
    while sim.optimizations != driven.config.optimizations and time.monotonic() < end:
        driven.frames(2)
    driven.frames(10)
    assert sim.optimizations == driven.config.optimizations and techniques.followed == frozenset(QUICK)
    alone = Simulation(driven.config)
    alone.step(sim.tick)
    assert alone.state_hash() == sim.state_hash()
    driven.press("2")
    driven.frames(1)
    assert techniques.touched == "simd" and techniques.followed == frozenset(QUICK) - {"simd"}
    for switcher in driven.program.switchers:
        switcher.close()

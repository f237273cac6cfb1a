"""A first start in a window: it begins with what is compiled soonest, and the configured techniques follow."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from driven import Driven

from crowd_demo.app import RunOptions
from crowd_demo.compute.jit import Launch, launch
from crowd_demo.config.loader import load_config
from crowd_demo.config.model import Optimizations, with_values
from crowd_demo.host.compiling import compilers
from crowd_demo.host.compiling.ahead import KernelFinder
from crowd_demo.host.compiling.compilers import QUICK_AGENTS, quick_values
from crowd_demo.registry.entries import EXACT, Value
from crowd_demo.registry.techniques import TECHNIQUES, kind_of
from crowd_demo.sim.simulation import Simulation

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

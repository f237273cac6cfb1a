"""The ladder leads from every technique off to every technique on, and each rung adds something."""

from __future__ import annotations

from itertools import pairwise

import pytest

from crowd_demo.config.optimizations import Optimizations, with_values
from crowd_demo.measure.largest import present_and_rungs, rungs
from crowd_demo.registry.entries import MODEL, Value
from crowd_demo.registry.techniques import BY_PATH, TECHNIQUES

pytestmark = pytest.mark.quick


def test_the_lowest_rung_has_every_technique_off_and_the_highest_none() -> None:
    found = list(rungs(Optimizations()))
    optional = [technique for technique in TECHNIQUES if technique.kind is not MODEL]
    assert all(found[0].options.get(technique.path) == technique.baseline for technique in optional)
    assert found[0].options.get("threads") == 1 and found[-1].options == Optimizations()
    assert [rung.name for rung in found] == [
        "everything off", "+ cell lists", "+ neighbours: sorted", "+ reorder: every", "+ SIMD lanes", "+ stagger",
        "+ culling, depth order, blitter", "+ threads: auto"]


def test_each_rung_keeps_what_those_below_it_have_switched_on() -> None:
    found = list(rungs(Optimizations()))
    for below, rung in pairwise(found):
        assert rung.adds and rung.options != below.options
        for path in (path for path, technique in BY_PATH.items() if path != "neighbours" and technique.kind is not MODEL):
            assert below.options.get(path) in (BY_PATH[path].baseline, rung.options.get(path))


@pytest.mark.parametrize("values",
                         [{"avoidance": "push", "overlap_passes": 0}, {"avoidance": "anticipate", "overlap_passes": 3}])
def test_all_rungs_have_the_present_model_so_that_they_compute_one_crowd(values: dict[str, Value]) -> None:
    assert {technique.path for technique in TECHNIQUES if technique.kind is MODEL} >= set(values)
    for rung in present_and_rungs(with_values(Optimizations(), values)):
        assert {path: rung.options.get(path) for path in values} == values


def test_on_is_the_present_value_or_else_the_default() -> None:
    present = with_values(Optimizations(),
                          {"neighbours": "kd_tree", "simd": False, "stagger.avoidance": 8, "neighbour_limit": "nearest"})
    found = list(rungs(present))
    assert found[2].name == "+ neighbours: kd_tree" and found[-1].options.get("neighbour_limit") == "nearest"
    assert (found[-1].options.get("simd"), found[-1].options.get("stagger.avoidance")) == (True, 8)


def test_a_rung_that_would_add_nothing_is_left_out() -> None:
    names = [rung.name for rung in rungs(with_values(Optimizations(), {"neighbours": "linked"}))]
    assert "+ cell lists" in names and not any("neighbours" in name for name in names)


def test_the_present_techniques_come_first_unless_they_are_the_highest_rung() -> None:
    assert [rung.name for rung in present_and_rungs(Optimizations(), ladder=False)] == ["as now"]
    assert present_and_rungs(Optimizations())[0].name == "everything off"
    slower = with_values(Optimizations(), {"simd": False})
    found = present_and_rungs(slower)
    assert found[0].name == "as now" and found[0].options == slower and len(found) == 9

"""What the three kinds of techniques are called, and which is which."""

import re
from pathlib import Path

import pytest
from crowd_demo.app.effect import PROOF

import crowd_demo
from crowd_demo.config.model import Optimizations
from crowd_demo.profile import OTHER
from crowd_demo.registry.entries import APPROXIMATE, EXACT, KINDS, MODEL, Kind, Situation
from crowd_demo.registry.stages import PARTS, READOUTS, STAGES, in_order, stages_of, text_of
from crowd_demo.registry.techniques import (
    BUILT_IN,
    BY_PATH,
    TECHNIQUES,
    exactness,
    kind_of,
    kind_of_all,
    marks_in_a_line,
    strongest,
)

pytestmark = pytest.mark.quick


def test_kinds_are_those_of_the_registry() -> None:
    assert {technique.path for technique in TECHNIQUES if technique.kind is MODEL} == {"avoidance", "overlap_passes"}
    assert kind_of(BY_PATH["neighbours"], "field") is APPROXIMATE and kind_of(BY_PATH["neighbours"], "none") is EXACT
    assert all(exactness(technique).startswith(technique.kind.name) for technique in TECHNIQUES)


def test_of_several_the_one_that_changes_most_counts() -> None:
    get = Situation(Optimizations().get, frozenset(), frozenset(), False, field=True)
    assert strongest([]) is EXACT and strongest([MODEL, EXACT, APPROXIMATE]) is MODEL
    assert kind_of_all({"simd": False, "stagger.paths": 1}, get) is APPROXIMATE
    assert kind_of_all({"overlap_passes": 0, "stagger.paths": 1}, get) is MODEL
    assert kind_of_all({"cell_size": 16}, get) is EXACT
    assert kind_of_all({"cell_size": 16, "neighbours": "field"}, get) is APPROXIMATE, "they are set together"


@pytest.mark.parametrize(("has_field", "limit", "kind"), [
    (True, "none", APPROXIMATE), (True, "nearest", EXACT), (False, "none", EXACT)])
def test_a_field_is_exact_for_those_who_have_none(has_field: bool, limit: str, kind: Kind) -> None:
    options = Optimizations()
    options.neighbours, options.neighbour_limit = "field", limit
    situation = Situation(options.get, frozenset(), frozenset(), False, field=has_field)
    assert kind_of_all({"neighbours": "field"}, situation) is kind
    assert kind_of_all({"cell_size": 32}, situation) is kind, "nor do cells matter then"
    assert kind_of_all({"neighbours": "sorted"}, situation) is EXACT


def test_every_mark_is_another_one_and_is_explained() -> None:
    assert len({kind.mark for kind in KINDS}) == len(KINDS) and not EXACT.mark
    for kind in (APPROXIMATE, MODEL):
        assert f"{kind.mark} {kind.name}: {kind.does}" in marks_in_a_line() and kind.mark in READOUTS[kind.name].what
    assert "so with neighbours field, neighbour limit first and nearest" in marks_in_a_line()


# --- the registry of stages: every stage that runs is in it ----------------------------------------------------------

SOURCES = [path.read_text("utf-8") for path in Path(crowd_demo.__file__).parent.rglob("*.py")]
CLASS = re.compile(r'^class .*\(Stage\):\n(?:.*\n)*?    name = "([^"]+)"', re.MULTILINE)


def test_every_stage_of_the_program_is_known() -> None:
    timed = {name for text in SOURCES for name in re.findall(r'profile\.stage\("([^"]+)"\)', text)}
    classes = {name for text in SOURCES for name in CLASS.findall(text)}
    assert len(timed) >= 9 and len(classes) >= 9
    assert timed | classes | {OTHER, PROOF} == STAGES.keys()
    assert {technique.stage for technique in BUILT_IN} <= STAGES.keys()


def test_stages_are_stacked_part_by_part_whatever_ran_first() -> None:
    found = in_order(["hud", "blit", "census", "interaction", "events", "index"])
    assert found == ["index", "interaction", "census", "blit", "events", "hud"]
    of_parts = [stages_of(part, ["hud", "census", "interaction", "blit"]) for part in PARTS]
    assert of_parts == [["interaction", "census"], ["blit"], ["hud"]]


def test_a_stage_of_a_plugin_is_part_of_the_step() -> None:
    assert text_of("census").part == "step"

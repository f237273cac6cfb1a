"""The registry of stages: every stage that runs is in it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import crowd_demo
from crowd_demo.app.card.effect import PROOF
from crowd_demo.profile import OTHER
from crowd_demo.registry.stages import PARTS, STAGES, in_order, stages_of, text_of
from crowd_demo.registry.techniques import BUILT_IN

SOURCES = [path.read_text("utf-8") for path in Path(crowd_demo.__file__).parent.rglob("*.py")]
CLASS = re.compile(r'^class .*\(Stage\):\n(?:.*\n)*?    name = "([^"]+)"', re.MULTILINE)
pytestmark = pytest.mark.quick


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

"""The colours of stages, as everybody sees them."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import pytest
from eyes import EYES, distance, lab

from crowd_demo.registry.stages import PARTS, PLUGIN_COLOUR, STAGES, in_order, stages_of, text_of
from crowd_demo.render.hud.canvas import GROUND, THEMES

pytestmark = pytest.mark.quick

def test_distances_are_those_of_the_literature() -> None:
    assert lab((255, 255, 255), EYES["usual"]) == pytest.approx([100, 0, 0], abs=0.1)
    assert lab((255, 0, 0), EYES["usual"]) == pytest.approx([53.2, 80.1, 67.2], abs=0.2)
    assert distance((200, 100, 0), (120, 130, 0)) < 10 < np.linalg.norm(
        lab((200, 100, 0), EYES["usual"]) - lab((120, 130, 0), EYES["usual"]))  # red and green


def test_every_stage_has_a_colour_of_its_own() -> None:
    assert text_of("census").colour == PLUGIN_COLOUR
    assert len({*(stage.colour for stage in STAGES.values()), PLUGIN_COLOUR}) == len(STAGES) + 1


def test_stages_that_lie_upon_each_other_differ_much_for_everybody() -> None:
    stack = [text_of(stage).colour for stage in in_order([*STAGES, "of a plugin"])]
    assert min(distance(one, other) for one, other in pairwise(stack)) > 20


@pytest.mark.parametrize("part", PARTS)
def test_any_two_stages_of_a_part_can_be_told_apart_by_everybody(part: str) -> None:
    colours = [text_of(stage).colour for stage in stages_of(part, [*STAGES, "of a plugin"])]
    assert min(distance(one, other) for one, other in combinations(colours, 2)) > 10


@pytest.mark.parametrize("theme", THEMES)
def test_every_stage_can_be_seen_on_the_ground_of_the_graph(theme: str) -> None:
    red, green, blue, *_ = THEMES[theme][GROUND]
    assert min(distance(stage.colour, (red, green, blue)) for stage in STAGES.values()) > 10


def test_each_part_is_a_family_of_hues_for_everybody() -> None:
    """b* is what all of these eyes see: blue below zero, yellow above."""
    b = {part: [lab(text_of(stage).colour, eye)[2] for stage in stages_of(part, STAGES) for eye in EYES.values()]
         for part in PARTS}
    assert max(b["step"]) < -12 < min(b["present"]) < max(b["present"]) < 12 < min(b["draw"])

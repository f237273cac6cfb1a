"""The help: every action with its keys, at every size of the window."""

from __future__ import annotations

import pytest
from hud_spy import KEYS, Spy, Written, help_of, picture, pixels

from crowd_demo.config.keys import ACTIONS, TOLD_BY_OTHERS
from crowd_demo.registry.techniques import BY_PATH, TECHNIQUES
from crowd_demo.render.hud.canvas import Canvas
from crowd_demo.render.hud.help import program_entries, technique_entries
from crowd_demo.render.hud.pen import Pen
from crowd_demo.render.hud.theme import scale_for

pytestmark = pytest.mark.quick


def test_help_lists_every_action_with_its_real_keys() -> None:
    keys = {**KEYS, "pause": ("p",), "depth": ("k", "l")}
    techniques = {entry.name: entry for entry in technique_entries(keys)}
    assert techniques[BY_PATH["depth"].label].keys == ("k", "l")
    marks = {name: entry.mark for name, entry in techniques.items() if entry.mark}
    assert marks == {"avoidance": "≠", "contact": "≠", "stagger avoidance": "~", "avoidance by": "~", "stagger sight": "~",
                     "stagger paths": "~"}
    program = program_entries(keys, {action: text for action, (_, text) in ACTIONS.items()}, ())
    without = [action for action in ACTIONS if not keys[action]]
    assert len(program) + len(techniques) + len(without) + len(TOLD_BY_OTHERS) == len(ACTIONS) and program[0].keys == ("p",)


def test_a_key_looks_the_same_however_it_is_spelt() -> None:
    caps = []
    for name in ("r", "R"), ("f11", "F11"), ("space", "SPACE"):
        for spelling in name:
            canvas = Canvas((80, 20), Pen(), 1.0)
            assert canvas.key(spelling, 2, 10) == 2 + canvas.key_width(spelling)
            caps.append(pixels(canvas.surface).tobytes())
    assert caps[::2] == caps[1::2] and len(set(caps)) == 3


@pytest.mark.parametrize("size", [(800, 600), (1280, 720), (2560, 1440)])
def test_help_covers_the_picture_and_cuts_no_technique(size: tuple[int, int]) -> None:
    spy, before, after = Spy(), picture(size), picture(size)
    help_of(spy).draw(after, scale_for(size))
    assert (pixels(before) != pixels(after)).any(axis=2).all()
    assert {technique.label.strip() for technique in TECHNIQUES} <= set(spy.texts)
    assert [text for text in spy.texts if "…" in text] == []


@pytest.mark.parametrize(("size", "least_px"), [((1280, 720), 9), ((1920, 1080), 13)])
def test_help_can_be_read_and_its_columns_are_balanced(size: tuple[int, int], least_px: int) -> None:
    help_of(spy := Spy()).draw(picture(size), scale_for(size))
    assert min(each.size for each in spy.written) >= least_px
    lowest = sorted(max(each.box.centery for each in column) for column in columns_of(spy))
    assert len(lowest) >= 2 and lowest[0] > 0.8 * lowest[-1]


def columns_of(spy: Spy) -> list[list[Written]]:
    """What was written, but for the last line, parted where it goes up again by more than an entry."""
    columns: list[list[Written]] = [[]]
    for each in spy.written[:-1]:
        if columns[-1] and each.box.centery < columns[-1][-1].box.centery - 200:
            columns.append([])
        columns[-1].append(each)
    return columns

"""The help: every action with its keys, at every size of the window."""

from __future__ import annotations

from dataclasses import replace

import pygame
import pytest
from hud_spy import KEYS, Spy, Written, help_of, picture, pixels

from crowd_demo.app.presenter import MOUSE
from crowd_demo.app.screen.panel_controls import SCALES
from crowd_demo.config.keys import ACTIONS, key_text
from crowd_demo.registry.actions import HEADINGS, OVERLAY_HEADING, PROGRAM, TOLD_BY_OTHERS, ActionEntry
from crowd_demo.registry.built_in import OVERLAYS
from crowd_demo.registry.techniques import BY_PATH, TECHNIQUES
from crowd_demo.render.hud.canvas import LEAST_PX, Canvas, Pen, scale_for
from crowd_demo.render.hud.help import (
    BEFORE_HEADING,
    CLOSE,
    NEXT,
    TITLE,
    HelpBlock,
    HelpEntry,
    Keys,
    balanced,
    height_of,
    help_groups,
)

pytestmark = pytest.mark.quick


SIZES = [(640, 360), (800, 600), (1280, 720), (2560, 1440)]
Size = tuple[int, int]


def pages_of(size: Size, factor: float = 1.0, keys: Keys = KEYS) -> list[list[Written]]:
    """What is written on each page, in panels so many times as large as usual."""
    scale, pages = scale_for(size, factor), []
    shown = help_of(spy := Spy(), keys)
    for page in range(1, shown.page_count(size, scale) + 1):
        spy.written = []
        shown.draw(picture(size), scale, page)
        pages.append(spy.written)
    return pages


def texts_of(pages: list[list[Written]]) -> list[str]:
    return [each.text for page in pages for each in page]


def least_px(size: Size, factor: float = 1.0) -> int:
    return min(each.size for page in pages_of(size, factor) for each in page)


def entries_of(keys: Keys) -> dict[str, list[HelpEntry]]:
    return {group.heading: list(group.entries) for group in help_groups(keys, MOUSE)}


def test_help_lists_every_action_with_its_real_keys() -> None:
    keys = {**KEYS, "pause": ("p",), "depth": ("k", "l")}
    groups = entries_of(keys)
    assert groups["Time"][0] == HelpEntry(("p",), "", PROGRAM["pause"].what)
    assert next(entry for entry in groups["Techniques: drawing"] if entry.name == BY_PATH["depth"].label).keys == ("k", "l")
    listed = [entry for heading, entries in groups.items() for entry in entries if heading != "Mouse"]
    without = [action for action in ACTIONS if not keys[action]]
    assert len(listed) + len(without) + len(TOLD_BY_OTHERS) == len(ACTIONS)
    marks = {entry.name: entry.mark for entry in listed if entry.mark}
    assert marks == {"avoidance": "≠", "overlap passes": "≠", "stagger avoidance": "~", "avoidance by": "~",
                     "stagger sight": "~", "stagger paths": "~"}


def test_help_is_ordered_by_what_one_wants_to_do() -> None:
    groups = entries_of(KEYS)
    techniques: dict[str, list[str]] = {}
    for technique in TECHNIQUES:
        techniques.setdefault(f"Techniques: {technique.group}", []).append(technique.label)
    assert list(groups) == [*techniques, *HEADINGS, "Mouse"]
    assert {heading: [entry.name for entry in groups[heading]] for heading in techniques} == techniques
    assert [entry.what for entry in groups[OVERLAY_HEADING]][-1] == OVERLAYS["freeze"].why


def test_one_entry_brings_an_action_or_a_technique_into_the_help(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(ACTIONS, "dance", ActionEntry(("f14",), "let them dance", "Time"))
    monkeypatch.setitem(ACTIONS, "rumour", ActionEntry((), "who has heard it", "Techniques: more"))
    monkeypatch.setitem(BY_PATH, "rumour", replace(BY_PATH["threads"], path="rumour", label="rumours"))
    groups = entries_of({**KEYS, "dance": ("f14",)})
    assert groups["Time"][-1] == HelpEntry(("f14",), "", "let them dance")
    assert groups["Techniques: more"] == [HelpEntry((), "rumours", BY_PATH["threads"].why)], "without a key too"


@pytest.mark.parametrize("size", SIZES)
def test_each_page_says_what_turns_it_and_what_closes_the_help(size: Size) -> None:
    def heads(keys: Keys) -> list[list[str]]:
        return [sorted(each.text for each in page if each.box.centery == page[0].box.centery)
                for page in pages_of(size, 2.0, keys)]

    *before, last = heads(KEYS)
    title = f"{TITLE}, page {{}} of {len(before) + 1}"
    for number, head in enumerate(before, 1):
        assert head == sorted([title.format(number), "F1", "?", NEXT, "ESC", CLOSE])
    assert last == sorted([title.format(len(before) + 1), "F1", "?", "ESC", CLOSE])
    assert not {CLOSE, NEXT} & {text for head in heads({**KEYS, "help": (), "quit": ()}) for text in head}


def test_help_of_one_page_does_not_count_it() -> None:
    assert TITLE in texts_of(pages_of((1920, 1080)))


@pytest.mark.parametrize(("size", "factor"), {(size, scale_for(size, factor)): (size, factor) for factor in SCALES
                                              for size in (*SIZES, (1920, 1080), (700, 1300))}.values())
def test_no_texts_of_the_help_overlap_at_any_size_of_window_and_panels(size: Size, factor: float) -> None:
    for page in pages_of(size, factor):
        boxes = [each.box for each in page]
        assert [page[number] for number, box in enumerate(boxes) if box.collidelist(boxes[number + 1:]) >= 0] == []
        assert pygame.Rect(0, 0, *size).contains(boxes[0].unionall(boxes[1:]))


@pytest.mark.parametrize("factor", [0.5, 1.0, 3.0])
@pytest.mark.parametrize("size", SIZES)
def test_the_pages_of_the_help_leave_nothing_out(size: Size, factor: float) -> None:
    texts = texts_of(pages_of(size, factor))
    entries = [entry for listed in entries_of(KEYS).values() for entry in listed]
    names, keys = {entry.name for entry in entries} - {""}, {key_text(key).upper() for entry in entries for key in entry.keys}
    words = {word for entry in entries for word in entry.what.split()}
    assert names | keys <= set(texts) and words <= set(" ".join(texts).split())
    assert [text for text in texts if "…" in text] == []


@pytest.mark.parametrize("size", SIZES)
def test_larger_panels_have_larger_help_on_more_pages(size: Size) -> None:
    factors = [1.0, 1.6, 3.0]
    least = [least_px(size, factor) for factor in factors]
    assert least == sorted(least) and least[-1] >= 1.3 * least[0]
    assert len(pages_of(size)) < len(pages_of(size, 3.0))


@pytest.mark.parametrize("size", [(16, 16), (320, 200), (90, 2000), (2000, 90)])
def test_help_in_a_window_too_small_for_it_is_cut_off(size: Size) -> None:
    before, after = picture(size), picture(size)
    help_of(spy := Spy()).draw(after, scale_for(size))
    assert (pixels(before) != pixels(after)).any(axis=2).all() and spy.written[0].size >= LEAST_PX


@pytest.mark.parametrize("size", [(16, 16), (320, 200), *SIZES])
def test_help_is_laid_out_a_few_times_for_a_size_of_the_window(size: Size, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the scale is at which it is asked for; each of them measures a thousand words."""
    layouts: list[int] = []

    def counting(*arguments: object) -> list[list[HelpBlock]]:
        layouts.append(1)
        return balanced(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr("crowd_demo.render.hud.help.balanced", counting)
    for factor in (1, 3):
        layouts.clear()
        help_of(Spy()).draw(picture(size), factor * scale_for(size))
        assert len(layouts) <= 20


@pytest.mark.parametrize("size", SIZES[1:])
def test_help_keeps_groups_whole(size: Size) -> None:
    texts = texts_of(pages_of(size))
    assert [texts.count(heading) for heading in entries_of(KEYS)] == [1] * len(entries_of(KEYS))


def test_a_group_higher_than_a_column_goes_on_in_the_next_one_under_its_heading_again() -> None:
    small, large = ([HelpBlock(HelpEntry((), "", ""), heading, [], 0, 20) for _ in range(count)]
                    for heading, count in (("small", 2), ("large", 9)))
    assert balanced([small, large], 3, 150) == [small, large[:5], large[5:]]
    assert balanced([small, large], 2, 100) == []
    assert height_of([*small, *large[:3]]) == 5 * 20 + height_of(small[:1]) + height_of(large[:1]) - 40 + BEFORE_HEADING


def test_a_key_looks_the_same_however_it_is_spelt() -> None:
    limits = []
    for name in ("r", "R"), ("f11", "F11"), ("space", "SPACE"):
        for spelling in name:
            canvas = Canvas((80, 20), Pen(), 1.0)
            assert canvas.key(spelling, 2, 10) == 2 + canvas.key_width(spelling)
            limits.append(pixels(canvas.surface).tobytes())
    assert limits[::2] == limits[1::2] and len(set(limits)) == 3


@pytest.mark.parametrize("size", SIZES)
def test_help_covers_the_picture(size: Size) -> None:
    before, after = picture(size), picture(size)
    help_of(Pen()).draw(after, scale_for(size))
    assert (pixels(before) != pixels(after)).any(axis=2).all()


@pytest.mark.parametrize(("size", "px"), [((640, 360), 8), ((800, 600), 9), ((1280, 720), 9), ((1920, 1080), 13)])
def test_help_can_be_read(size: Size, px: int) -> None:
    assert least_px(size) >= px


@pytest.mark.parametrize("size", [(1920, 1080), (2560, 1440)])
def test_columns_of_the_help_are_balanced(size: Size) -> None:
    page, = pages_of(size)
    lowest = sorted(max(each.box.centery for each in column) for column in columns_of(page))
    assert len(lowest) >= 2 and lowest[0] > 0.65 * lowest[-1], "groups stay whole"


def columns_of(page: list[Written]) -> list[list[Written]]:
    """What was written, but for the last two lines, parted where it goes up again by more than an entry."""
    columns: list[list[Written]] = [[]]
    for each in page[:-2]:
        if columns[-1] and each.box.centery < columns[-1][-1].box.centery - 200:
            columns.append([])
        columns[-1].append(each)
    return columns

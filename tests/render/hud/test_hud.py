"""The HUD shows what it is told: by the texts that it writes, the targets that it registers, and pixels where it draws."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pygame
import pytest
from numpy.typing import NDArray

from crowd_demo.config.keys import ACTIONS, TOLD_BY_OTHERS, keys_of
from crowd_demo.config.model import Config
from crowd_demo.config.optimizations import Optimizations
from crowd_demo.profile import Profile
from crowd_demo.registry.entries import Situation
from crowd_demo.registry.readouts import READOUTS
from crowd_demo.registry.stages import PARTS
from crowd_demo.registry.techniques import BY_PATH, TECHNIQUES, hud_word
from crowd_demo.render.hud.canvas import Canvas, Target
from crowd_demo.render.hud.crowd_sections import (
    DIAL_RADIUS,
    draw_bars,
    draw_hand,
    memory_facts,
    percent,
    sorting_facts,
    work_facts,
)
from crowd_demo.render.hud.graph import BUDGET_MS, Graph, Tick, scale_ms, stacked
from crowd_demo.render.hud.help import Help, program_entries, technique_entries
from crowd_demo.render.hud.hud import ON_PANEL, Hud, draw_notices
from crowd_demo.render.hud.pen import Pen
from crowd_demo.render.hud.sections import FOLDED, Section, folded_sections
from crowd_demo.render.hud.stages import COLOURS, REST
from crowd_demo.render.hud.status import (
    Clock,
    Hovered,
    Looks,
    Status,
    real_speed_text,
    speed_text,
    time_text,
)
from crowd_demo.render.hud.theme import DARK, GROUND, LIGHT, TEXT, THEMES, WARM, Colour, scale_for
from crowd_demo.render.hud.tips import tip_of
from crowd_demo.sim.inactive import inactive, partly_inactive
from crowd_demo.sim.metrics.bias import Bias
from crowd_demo.sim.metrics.locality import Locality
from crowd_demo.sim.metrics.push_error import PushError
from crowd_demo.sim.metrics.readings import Readings
from crowd_demo.sim.neighbours.structures import STRUCTURES

pytestmark = pytest.mark.quick
STAGES = {"index": 0.4, "see": 0.9, "move": 0.3, "cull": 0.1, "blit": 1.5, "hud": 0.2, "flip": 0.8}
KEYS = {action: keys_of(Config.model_validate({}).keys, action) for action in ACTIONS}
BUNDLED = "freesansbold.ttf"
PATHS = frozenset({"stagger.sight", "stagger.paths", "avoidance", "contact"})


@pytest.fixture(autouse=True)
def font() -> Iterator[None]:
    pygame.font.init()
    yield
    pygame.font.quit()


class Spy(Pen):
    """A pen that remembers what it has written, and in which colour."""

    def __init__(self) -> None:
        super().__init__()
        self.written: list[tuple[str, Colour]] = []

    def left(self, on: pygame.Surface, text: str, x: int, middle: int, size: int = 12, colour: Colour = TEXT) -> int:
        self.written.append((text, colour))
        return super().left(on, text, x, middle, size, colour)

    @property
    def texts(self) -> list[str]:
        return [text for text, _ in self.written]


def texts(sim: Any, status: Status = Status(), size: tuple[int, int] = (1280, 720)) -> list[str]:  # noqa: B008
    return written(sim, status, size).texts


def written(sim: Any, status: Status = Status(), size: tuple[int, int] = (1280, 720)) -> Spy:  # noqa: B008
    spy = Spy()
    Hud(KEYS, pen=spy).draw(picture(size), sim, status, 0.0)
    return spy


def colour_of_text(sim: Any, text: str, status: Status = Status()) -> Colour:  # noqa: B008
    return dict(written(sim, status).written)[text]


def measured(frames: int = 50) -> Profile:
    profile = Profile()
    profile.counters.update(visible=90, drawn=95, neighbours_per_agent=11.8, candidates_per_agent=47.3)
    for _ in range(frames):
        for stage, ms in STAGES.items():
            profile.add(stage, ms)
        profile.end_frame(sum(STAGES.values()) + 0.5)
    return profile


class Crowd(SimpleNamespace):
    """As much of a simulation as the HUD reads."""

    @property
    def situation(self) -> Situation:
        obeyed = STRUCTURES[self.optimizations.neighbours].OBEYS
        return Situation(self.optimizations.get, obeyed, self.behaviour.techniques, self.life.active)

    @property
    def world(self) -> SimpleNamespace:
        return SimpleNamespace(cap=self.optimizations.cap, grid=SimpleNamespace(cell=32.0))


def crowd(**states: int) -> Any:
    """A flock that, unlike the real one, also looks for paths and may have states."""
    behaviour = SimpleNamespace(techniques=PATHS, structures={"field": None})
    return Crowd(agents=SimpleNamespace(count=100), profile=measured(), states=lambda: states, behaviour=behaviour,
                 optimizations=Optimizations(), life=SimpleNamespace(active=False),
                 population=np.arange(90, 101, dtype=np.int32))


def picture(size: tuple[int, int] = (1280, 720)) -> pygame.Surface:
    surface = pygame.Surface(size, depth=32)
    surface.fill((176, 170, 158))
    return surface


def pixels(surface: pygame.Surface) -> NDArray[np.uint8]:
    return pygame.surfarray.array3d(surface)


def drawn(hud: Hud, sim: Any, status: Status = Status(), now_s: float = 0.0,  # noqa: B008  (a NamedTuple)
          size: tuple[int, int] = (1280, 720)) -> NDArray[np.uint8]:
    surface = picture(size)
    hud.draw(surface, sim, status, now_s)
    return pixels(surface)


def changed(before: NDArray[np.uint8], after: NDArray[np.uint8]) -> pygame.Rect:
    """The smallest rectangle that holds all that differs."""
    x, y = np.nonzero((before != after).any(axis=2))
    if not len(x):
        return pygame.Rect(0, 0, 0, 0)
    return pygame.Rect(int(x.min()), int(y.min()), int(np.ptp(x)) + 1, int(np.ptp(y)) + 1)


def test_both_panels_are_drawn_and_the_middle_is_left_free() -> None:
    after = drawn(Hud(KEYS), crowd(walking=90, waiting=8, stuck=2))
    differs = (after != pixels(picture())).any(axis=2)
    assert differs[20:300, 30:300].mean() > 0.99 and differs[1020:1240, 30:220].mean() > 0.99 and not differs[340:940].any()


@pytest.mark.parametrize("technique", TECHNIQUES, ids=lambda technique: technique.path)
def test_the_row_of_a_technique_shows_its_value(technique: Any) -> None:
    sim = crowd()
    for value in technique.choices:
        sim.optimizations.set(technique.path, value)
        found = texts(sim)
        found = found[found.index("search"):]
        assert any(text.split(",")[0] == hud_word(value) for text in found[found.index(technique.label) + 1:][:4])


@pytest.mark.parametrize(("change", "inactive_paths"), [
    ({}, {"reorder.drift", "leaf_size", "rebuild", "removal"}),
    ({"reorder.when": "drift"}, {"reorder.every", "leaf_size", "rebuild", "removal"}),
    ({"neighbours": "buckets"},
     {"curve", "reorder.when", "reorder.every", "reorder.drift", "leaf_size", "rebuild", "removal"}),
    ({"neighbours": "kd_tree"}, {"curve", "reorder.drift", "removal", "rebuild"}),
    ({"neighbours": "kd_tree", "cull": "agents", "cap": "first"}, {"curve", "reorder.drift", "removal", "rebuild"}),
    ({"neighbours": "kd_tree", "cull": "agents"}, {"curve", "reorder.drift", "removal", "rebuild", "cell_size"}),
    ({"neighbours": "aabb_tree"}, {"curve", "reorder.drift", "removal"}),
    ({"stagger.avoidance": 1}, {"stagger.by", "reorder.drift", "leaf_size", "rebuild", "removal"}),
])
def test_techniques_are_inactive_whose_value_changes_nothing(change: dict[str, Any], inactive_paths: set[str]) -> None:
    sim = crowd()
    for path, value in change.items():
        sim.optimizations.set(path, value)
    assert inactive(sim) == inactive_paths
    sim.life.active, sim.behaviour.techniques = True, frozenset()
    assert inactive(sim) == inactive_paths - {"removal"} | PATHS


def test_lanes_that_only_move_are_said_to() -> None:
    sim = crowd()
    sim.optimizations.cap = "first"
    assert partly_inactive(sim) == {"simd": "move only"} and "on, move only" in texts(sim)
    sim.optimizations.cap = "none"
    assert partly_inactive(sim) == {}
    sim.optimizations.cap, sim.optimizations.simd = "first", False
    assert partly_inactive(sim) == {}


def test_the_row_of_an_inactive_technique_is_dimmed() -> None:
    sim = crowd()
    assert colour_of_text(sim, "stagger sight") == TEXT
    sim.behaviour.techniques = frozenset()
    assert colour_of_text(sim, "stagger sight") == "inactive"


def test_the_technique_that_was_touched_last_is_on_a_bar_with_the_keys_of_its_number() -> None:
    lower = KEYS["lower"][0]
    assert lower not in texts(crowd(), Status(touched="cull"))
    assert lower in texts(crowd(), Status(touched="stagger.avoidance"))
    box = changed(drawn(Hud(KEYS), crowd()), drawn(Hud(KEYS), crowd(), Status(touched="cull")))
    assert box.left > 960 and box.height < 25


def test_number_keys_with_long_names_are_not_drawn_over_the_label() -> None:
    spy = Spy()
    Hud({**KEYS, "lower": ("page down",), "higher": ("page up",)}, pen=spy).draw(
        picture(), crowd(), Status(touched="cell_size"), 0.0)
    assert "PAGE DOWN" not in spy.texts and "auto" in spy.texts


def test_counters_show_up_where_there_is_something_to_count() -> None:
    sim = crowd()
    assert sorting_facts(sim, set()) == memory_facts(sim.profile.counters, Readings()) == {}
    assert "drift" not in texts(sim)
    sim.profile.counters.update(sorts=3, drift=8.0, steps_since_sort=17, imbalance=1.25)
    assert sorting_facts(sim, set()) == {"sorts (ms)": "3 (0.00)", "since sort": "17", "drift": "0.25 cells"}
    assert sorting_facts(sim, {"reorder.when"}) == {}
    score = Readings(locality=Locality(0.875, 0.0312, 1000))
    assert memory_facts(sim.profile.counters, score) == {
        "top worker": "1.25x mean", "near reads": "88%", "L1 misses": "3.1%"}
    assert memory_facts(sim.profile.counters, Readings()) == {"top worker": "1.25x mean", "near reads": "-", "L1 misses": "-"}
    found = texts(sim, Status(readings=score))
    assert {"0.25 cells", "1.25x mean", "88%"} <= set(found)


def test_the_share_of_candidates_that_are_neighbours_is_told() -> None:
    assert work_facts({"neighbours_per_agent": 12.0, "candidates_per_agent": 48.0}) == {
        "neighbours": "12.0", "candidates": "48.0", "useful": "25%"}
    assert work_facts({})["useful"] == "-"
    assert [percent(share) for share in (0.0, 0.0312, 0.0994, 0.0996, 1.5)] == ["0.0%", "3.1%", "9.9%", "10%", "150%"]


@pytest.mark.parametrize(("switches", "readings", "told"), [
    ({"stagger.avoidance": 3}, {"stagger": PushError(0.15, 2.0), "ages": np.array([5, 9, 1, *[0] * 13])},
     {"stagger error": "15%", "steps since update": "0"}),
    ({"cap": "first"}, {"cap": PushError(0.4, 2.0), "bias": Bias((0.0, 0.0), (-0.1, -0.2), 9)},
     {"cap error": "40%", "all": "-0.10 -0.20", "kept": "+0.00 +0.00"}),
    ({"neighbours": "field"}, {"field": PushError(0.16, 2.0)}, {"field error": "16%", "at worst": "200%"}),
])
def test_an_approximation_has_its_section_and_its_error(switches: dict[str, Any], readings: dict[str, Any],
                                                       told: dict[str, str]) -> None:
    sim = crowd()
    sim.optimizations.stagger.avoidance = 1
    assert not told.keys() & set(texts(sim))
    for path, value in switches.items():
        sim.optimizations.set(path, value)
    unread, hud = texts(sim), Hud(KEYS)
    assert told.keys() <= set(unread) and "-" in unread
    read = texts(sim, Status(readings=Readings(**readings)))
    assert {name: read[read.index(name) + 1] for name in told} == told
    drawn(hud, sim)
    assert {placed.target for placed in hud.panels[0].targets} >= {
        Target("fact", name) for name in told if name not in ("all", "kept")}


def test_bars_are_as_high_as_their_values() -> None:
    canvas = Canvas((300, 100), Pen(), 1.0, None)
    draw_bars(canvas, (10, 20, 160, 40), np.array([4, 0, 1, 2]), WARM)
    lit = (pixels(canvas.surface) == DARK[WARM]).all(axis=2)
    assert [lit[10 + 40 * bar + 20].sum() for bar in range(4)] == [40, 0, 10, 20]
    draw_bars(canvas, (10, 20, 160, 40), [0] * 16, WARM)
    assert not (pixels(canvas.surface) == DARK[WARM]).all(axis=2).any()


@pytest.mark.parametrize("direction", [(0.0, 0.0), (-0.1, -0.2), (1.0, 0.0), (-3.0, 4.0)])
def test_a_hand_points_where_it_should_and_stays_on_its_dial(direction: tuple[float, float]) -> None:
    canvas = Canvas((100, 100), Pen(), 1.0, None)
    draw_hand(canvas, (50, 50), direction, WARM)
    lit = np.argwhere((pixels(canvas.surface) == DARK[WARM]).all(axis=2)) - 50
    assert np.hypot(*lit.T).max() <= DIAL_RADIUS + 3
    assert all(np.sign(mean) == np.sign(part) or abs(mean) < 1 for mean, part in zip(lit.mean(axis=0), direction, strict=True))


def test_the_population_is_drawn_where_there_is_life() -> None:
    sim = crowd()
    assert "births" not in texts(sim)
    sim.life.active = True
    alive = drawn(Hud(KEYS), sim)
    assert "births" in texts(sim)
    sim.population = sim.population[::-1]
    assert 0 < changed(alive, drawn(Hud(KEYS), sim)).height < 45
    sim.population = sim.population[:0]
    assert drawn(Hud(KEYS), sim).any()


def test_a_value_that_waits_is_told() -> None:
    assert "full …" in texts(crowd(), Status(pending={"depth": "full"}))


def test_counts_times_and_states_are_on_the_left() -> None:
    sim = crowd(walking=90, waiting=8, stuck=2)
    sim.agents.count = 12_345
    found = texts(sim, Status(paused=True))
    assert {"12,345", "walking", "8", "paused"} <= set(found)


def test_a_frame_is_parted_into_step_draw_and_present_with_their_sums() -> None:
    found = texts(crowd())
    sums = {part: found[found.index(part) + 1] for part in PARTS}
    assert sums == {"step": "1.60 ms", "draw": "1.60 ms", "present": "1.50 ms"}
    assert found.index("step") < found.index("see") < found.index("draw") < found.index("blit") < found.index("other")


def test_milliseconds_may_come_first() -> None:
    fps, ms = written(crowd()).texts, written(crowd(), Status(looks=Looks(units="ms"))).texts
    assert fps.index("FPS") < fps.index("ms") and ms.index("ms") < ms.index("FPS")


def test_speeds_and_times_are_written_as_people_do() -> None:
    assert [speed_text(speed) for speed in (1 / 8, 0.3, 0.5, 1.0, 1.5, 64.0)] == ["x1/8", "x0.3", "x1/2", "x1", "x1.5", "x64"]
    assert [real_speed_text(speed) for speed in (0.467, 0.999, 4.06, 9.96, 41.7)] == ["x0.47", "x1.0", "x4.1", "x10", "x42"]
    assert [time_text(seconds) for seconds in (0.0, 59.99, 3 * 0.1, 61.2, 7325.9)] == [
        "0:00:00.0", "0:00:59.9", "0:00:00.3", "0:01:01.2", "2:02:05.9"]


def header(status: Status) -> NDArray[np.uint8]:
    return drawn(Hud(KEYS), crowd(), status)[:320, :92]


def test_a_speed_that_is_not_reached_is_told_in_a_warning_colour() -> None:
    for asked, real, text in ((16.0, 4.0, "real x4.0"), (1.0, 0.47, "real x0.47")):
        assert not any(text.startswith("real") for text in texts(crowd(), Status(speed=asked)))
        assert colour_of_text(crowd(), text, Status(speed=asked, clock=Clock(real_speed=real))) == WARM
    assert colour_of_text(crowd(), "paused", Status(paused=True)) == WARM


def test_a_number_of_the_header_moves_nothing_else() -> None:
    before = header(Status(clock=Clock(60.0, None, 59, 0.9)))
    others = {Clock(9.0, None, 59, 0.9): 40, Clock(3840.0, None, 59, 0.9): 50, Clock(60.0, None, 123_456, 0.9): 95,
              Clock(60.0, None, 59, 3599.9): 75, Clock(60.0, 0.47, 59, 0.9): 75}
    for other, width in others.items():
        box = changed(before, header(Status(clock=other)))
        assert 0 < box.width < width and box.height < 18


def test_panels_are_rendered_eight_times_a_second_and_not_in_the_same_frame() -> None:
    sim, hud = crowd(), Hud(KEYS)
    drawn(hud, sim)
    panels = hud.panels
    renewed = []
    for frame in range(1, 101):
        drawn(hud, sim, now_s=frame / 100)
        renewed.append(sum(new is not old for new, old in zip(hud.panels, panels, strict=True)))
        panels = hud.panels
    assert max(renewed) == 1 and 14 <= sum(renewed) <= 18


def test_in_slow_frames_the_panels_are_renewed_in_turn() -> None:
    sim, hud = crowd(), Hud(KEYS)
    drawn(hud, sim)
    renewed = []
    for frame in range(1, 7):
        panels = hud.panels
        drawn(hud, sim, now_s=frame / 3)
        renewed.append([new is not old for new, old in zip(hud.panels, panels, strict=True)])
    assert renewed == [[False, True], [True, False]] * 3


@pytest.mark.parametrize("size", [(640, 360), (400, 300), (200, 120), (64, 48), (16, 16)])
@pytest.mark.parametrize("face", [None, BUNDLED])
def test_any_size_of_the_window_will_do(size: tuple[int, int], face: str | None) -> None:
    pen, surface = Pen(face), picture(size)
    hud = Hud(KEYS, pen=pen)
    hud.draw(surface, crowd(walking=1, waiting=2, stuck=3), Status(), 0.0)
    draw_notices(surface, ["saved crowd-0001.png", "compiling see lanes"], pen, hud.scale)
    help_of(pen).draw(surface, hud.scale)
    assert changed(pixels(picture(size)), pixels(surface)).width > 0


def test_how_values_are_written() -> None:
    assert [hud_word(value) for value in (True, False, "off", 3, 2.5, 26.0)] == ["on", "off", "off", "3", "2.5", "26"]


def test_nothing_was_measured_yet() -> None:
    sim = crowd()
    sim.profile = Profile()
    assert drawn(Hud(KEYS), sim).any()


# --- sizes, themes, folding, the mouse -------------------------------------------------------------------------------

def test_everything_grows_with_the_window_and_with_the_users_wish() -> None:
    widths = []
    for size, factor in (((800, 600), 1.0), ((1280, 720), 1.0), ((2560, 1440), 1.0), ((2560, 1440), 1.5)):
        hud = Hud(KEYS)
        drawn(hud, crowd(), Status(looks=Looks(scale=factor)), size=size)
        widths.append(hud.panels[0].surface.get_width())
        assert hud.scale == pytest.approx(scale_for(size, factor))
    assert widths == sorted(set(widths))


def test_nothing_is_cut_at_800_by_600() -> None:
    hud, sim = Hud(KEYS), crowd(walking=90, waiting=8, stuck=2)
    sim.profile.counters.update(sorts=3, drift=8.0, steps_since_sort=17, imbalance=1.25)
    found = texts(sim, size=(800, 600))
    assert not any("…" in text for text in found)
    assert {technique.label for technique in TECHNIQUES} <= set(found)
    drawn(hud, sim, size=(800, 600))
    left, right = (panel.surface.get_size() for panel in hud.panels)
    assert left[0] + right[0] < 790 and max(left[1], right[1]) < 590
    assert set(PARTS) <= hud.sections().keys()


def test_a_theme_colours_everything() -> None:
    dark, light = drawn(Hud(KEYS), crowd()), drawn(Hud(KEYS), crowd(), Status(looks=Looks(theme="light")))
    assert dark[30:300, 30:400].mean() < 80 and light[30:300, 30:400].mean() > 200
    assert DARK.keys() == LIGHT.keys()


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize(("name", "least"), [("text", 10), ("dim", 5.5), ("faint", 4.5), ("accent", 4.5), ("warm", 4.5),
                                             ("good", 4.5), ("bad", 4.5), ("inactive", 2)])
def test_texts_stand_out_from_the_panel(theme: str, name: str, least: float) -> None:
    """By the contrast ratio of the Web Content Accessibility Guidelines."""
    def luminance(colour: Any) -> float:
        parts = np.array(colour[:3]) / 255
        return float(np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4) @ (0.2126, 0.7152, 0.0722))
    lighter, darker = sorted((luminance(THEMES[theme][name]), luminance(THEMES[theme]["panel"])), reverse=True)
    assert (lighter + 0.05) / (darker + 0.05) >= least


def section(name: str, height: float, rank: int) -> Section:
    return Section(name, height, rank, lambda on, top: None)


def test_what_matters_less_is_folded_first_and_what_the_user_opened_last() -> None:
    sections = [section("head", 40, 0), section("b", 70, 2), section("c", 30, 1)]
    assert folded_sections(sections, 140, set(), ()) == set()
    assert folded_sections(sections, 139, set(), ()) == {"b"}
    assert folded_sections(sections, 139, set(), ("b",)) == {"c"}
    assert folded_sections(sections, 140, {"c", "head"}, ()) == {"c"}
    assert folded_sections(sections, 40 + 2 * FOLDED, set(), ()) == {"b", "c"}


def test_a_folded_section_is_a_line_that_unfolds() -> None:
    hud, sim = Hud(KEYS), crowd()
    drawn(hud, sim)
    full = hud.panels[0].surface.get_height()
    drawn(hud, sim, Status(looks=Looks(folded=frozenset({"graph", "search"}))))
    assert hud.panels[0].surface.get_height() < full and hud.sections()["graph"] and hud.sections()["search"]
    at = next(placed.rect.center for placed in hud.panels[0].targets if placed.target == Target("unfold", "graph"))
    margin = 11
    assert hud.target_at(at[0] + margin, at[1] + margin) == Target("unfold", "graph")


def test_the_mouse_finds_techniques_numbers_and_facts() -> None:
    hud, sim = Hud(KEYS), crowd()
    drawn(hud, sim)
    found = {hud.target_at(x, y) for x in range(0, 1280, 3) for y in range(0, 720, 3)}
    assert {Target("technique", technique.path) for technique in TECHNIQUES} <= found
    assert {Target("number", technique.path) for technique in TECHNIQUES if technique.numbers} <= found
    assert {Target("fact", "candidates"), Target("stage", "see"), Target("graph", "graph"), ON_PANEL, None} <= found
    assert hud.target_at(640, 360) is None


@pytest.mark.parametrize("cap", ["none", "first"])
def test_every_number_stage_and_technique_has_a_tooltip(cap: str) -> None:
    sim = crowd(walking=90, waiting=8, stuck=2)
    sim.life.active, sim.optimizations.neighbours, sim.optimizations.cap = True, "field", cap
    sim.profile.counters.update(sorts=3, drift=8.0, steps_since_sort=17, imbalance=1.25)
    sorted_too = Crowd(**{**vars(sim), "optimizations": Optimizations()})
    shown = set()
    for now_s, each in enumerate((sim, sorted_too)):
        hud = Hud(KEYS)
        drawn(hud, each, now_s=now_s, size=(1280, 6000))
        shown |= {placed.target for panel in hud.panels for placed in panel.targets} | {Target("timeline")}
    kinds = {"fact", "stage", "technique", "number", "graph", "timeline"}
    tips = {target: tip_of(target, sim, Status()) for target in shown if target.kind in kinds}
    assert all(tip and all(text for text, _ in tip.paragraphs) for tip in tips.values()), tips
    told = {target.name or target.kind for target in tips}
    never = {"field error", "at worst"} if cap == "first" else {"cap error", "mean direction to"}
    assert READOUTS.keys() - told == never


def test_compact_shows_the_rate_and_what_was_touched() -> None:
    found = texts(crowd(), Status(looks=Looks(hud="compact"), touched="depth"))
    assert {"FPS", "depth order", "bands"} <= set(found) and "candidates" not in found
    assert texts(crowd(), Status(looks=Looks(hud="off"))) == []


def test_a_tooltip_says_what_a_technique_is_and_what_it_gave() -> None:
    where = Hovered(Target("technique", "simd"), (1270, 710))
    found = " ".join(texts(crowd(), Status(hovered=where, measured={"simd": "3.1x, same crowd"})))
    assert "each candidate broadcast to all of them" in found and "3.1x, same crowd" in found
    assert BY_PATH["simd"].watch.split()[0] in found
    assert not (drawn(Hud(KEYS), crowd(), Status(hovered=where))[1279] != pixels(picture())[1279]).any()


# --- text ------------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("face", [None, BUNDLED])
def test_numbers_of_equal_length_are_equally_wide(face: str | None) -> None:
    pen = Pen(face)
    widths = {pen.image(number).get_width() for number in ("111.11", "888.88", "404.04")}
    assert widths == {pen.width("000.00")}


def test_text_that_is_too_long_is_cut_with_an_ellipsis() -> None:
    on = Canvas((1, 1), Pen(), 1.3, None)
    assert on.fitted("short", 500) == "short"
    cut = on.fitted("a text that is too long for its place", 100)
    assert cut.endswith("…") and on.width(cut) <= 100 and len(cut) > 5


def test_a_long_line_is_wrapped() -> None:
    on = Canvas((1, 1), Pen(), 1.0, None)
    assert on.wrapped("short", 500) == ["short"] and on.wrapped("", 500) == []
    text = "a text that is a little too long for its place"
    lines = on.wrapped(text, 200)
    assert " ".join(lines) == text and len(lines) == 2 and all(on.width(line) <= 200 for line in lines)
    assert on.wrapped(text, 100, most=2)[1].endswith("…") and len(on.wrapped(text, 100, most=2)) == 2
    assert on.wrapped("unbreakable", 20)[0].endswith("…")


# --- graph -----------------------------------------------------------------------------------------------------------

def test_the_newest_frame_is_a_column_of_stages_upon_each_other() -> None:
    profile, ground = Profile(), DARK[GROUND]
    profile.add("see", 5.0)
    profile.add("blit", 10.0)
    profile.end_frame(17.0)
    column = stacked(profile, (8, 40), 20.0, ground)[-1].tolist()  # 2 pixels a ms
    assert column[::-1] == [list(COLOURS["see"])] * 10 + [list(COLOURS["blit"])] * 20 + [list(REST)] * 4 + [list(ground)] * 6
    assert (stacked(profile, (8, 40), 20.0, ground)[:-1] == ground).all()


def test_the_scale_fits_the_frames_and_always_shows_the_budget() -> None:
    assert scale_ms(np.zeros(0, np.float32)) > BUDGET_MS
    assert scale_ms(np.full(10, 3.0, np.float32)) == 20 and scale_ms(np.full(10, 70.0, np.float32)) == 80
    assert scale_ms(np.full(10, 1e9, np.float32)) == 10_000


def graph_texts(graph: Graph, profile: Profile, ticks: tuple[Tick, ...] = (), fits: int = 0) -> list[str]:
    spy = Spy()
    graph.draw(Canvas((260, 80), spy, 1.0), (10, 10, 240, 60), profile, ticks, fits)
    return spy.texts


def test_the_graph_keeps_its_scale_until_it_is_asked_to_fit() -> None:
    graph, profile = Graph(), measured(100)
    graph_texts(graph, profile)
    for _ in range(100):
        profile.add("see", 70.0)
        profile.end_frame(75.0)
    assert "above 20 ms: click to fit" in graph_texts(graph, profile)
    assert not any("click" in text for text in graph_texts(graph, profile, fits=1))
    assert "far below 160 ms: click to fit" in graph_texts(graph, measured(300), fits=1)


def test_a_switch_is_marked_in_the_graph_where_it_happened() -> None:
    profile = measured(200)
    assert "reorder off" in graph_texts(Graph(), profile, (Tick(150, "reorder off"),))
    assert "reorder off" not in graph_texts(Graph(), measured(600), (Tick(150, "reorder off"),))


def test_marks_that_stand_close_do_not_write_over_each_other() -> None:
    found = graph_texts(Graph(), measured(200), (Tick(100, "far away"), Tick(185, "hidden"), Tick(190, "newest")))
    assert "newest" in found and "hidden" not in found and "far away" in found


# --- help ------------------------------------------------------------------------------------------------------------

def help_of(pen: Pen, keys: Any = KEYS) -> Help:
    what = {action: text for action, (_, text) in ACTIONS.items()}
    return Help(technique_entries(keys), program_entries(keys, what, (("wheel", "zoom"),)), pen)


def test_help_lists_every_action_with_its_real_keys() -> None:
    keys = {**KEYS, "pause": ("p",), "depth": ("k", "l")}
    techniques = {entry.name: entry for entry in technique_entries(keys)}
    assert techniques[BY_PATH["depth"].label].keys == ("k", "l")
    assert [entry.exact for entry in techniques.values()] == [technique.exact or technique.model for technique in TECHNIQUES]
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

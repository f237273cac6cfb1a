"""The HUD shows what it is told; looked at from afar, by the pixels that change."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pygame
import pytest
from crowd_demo.render.hud.left_panel import (
    AGES_HEIGHT,
    BARS,
    BIAS_HEIGHT,
    CURVE_HEIGHT,
    DIAL_RADIUS,
    Section,
    draw_bars,
    draw_hand,
    memory_facts,
    percent,
    sorting_facts,
    work_facts,
)
from numpy.typing import NDArray

from crowd_demo.config.keys import ACTIONS, keys_of
from crowd_demo.config.model import Config
from crowd_demo.config.optimizations import Optimizations
from crowd_demo.profile import Profile
from crowd_demo.registry.entries import Situation
from crowd_demo.registry.techniques import BY_PATH, TECHNIQUES
from crowd_demo.render.hud.graph import BUDGET_MS, GROUND, scale_ms, stacked
from crowd_demo.render.hud.help import Help, program_entries, technique_entries
from crowd_demo.render.hud.hud import Hud, draw_notices, visible_sections
from crowd_demo.render.hud.stages import COLOURS, REST
from crowd_demo.render.hud.status import Clock, Status, real_speed_text, speed_text, time_text
from crowd_demo.render.hud.switchboard import ROW, shown
from crowd_demo.render.hud.theme import KEY, PAD, WARM, Pen, draw_key, key_width
from crowd_demo.sim.inactive import inactive, partly_inactive
from crowd_demo.sim.metrics.bias import Bias
from crowd_demo.sim.metrics.locality import Locality
from crowd_demo.sim.metrics.push_error import PushError
from crowd_demo.sim.metrics.readings import Readings
from crowd_demo.sim.neighbours.structures import STRUCTURES

pytestmark = pytest.mark.quick
STAGES = {"index": 0.4, "see": 0.9, "move": 0.3, "cull": 0.1, "blit": 1.5, "hud": 0.2, "present": 0.8}
KEYS = {action: keys_of(Config.model_validate({}).keys, action) for action in ACTIONS}
BUNDLED = "freesansbold.ttf"
PATHS = frozenset({"stagger.sight", "stagger.paths"})


@pytest.fixture(autouse=True)
def font() -> Iterator[None]:
    pygame.font.init()
    yield
    pygame.font.quit()


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


def crowd(**states: int) -> Any:
    """A flock that, unlike the real one, also looks for paths and may have states."""
    behaviour = SimpleNamespace(techniques=PATHS, structures={"field": None})
    return Crowd(agents=SimpleNamespace(count=100), profile=measured(), states=lambda: states, behaviour=behaviour,
                 optimizations=Optimizations(), life=SimpleNamespace(active=False),
                 world=SimpleNamespace(grid=SimpleNamespace(cell=32.0)), population=np.arange(90, 101, dtype=np.int32))


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
    assert differs[:300, :300].mean() > 0.8 and differs[1050:, :220].mean() > 0.8 and not differs[320:960].any()


@pytest.mark.parametrize("technique", TECHNIQUES, ids=lambda technique: technique.path)
def test_the_row_of_a_technique_changes_with_its_value(technique: Any) -> None:
    sim = crowd()
    before = drawn(Hud(KEYS), sim)
    sim.optimizations.set(technique.path, next(value for value in technique.choices if value != technique.default))
    top = 12 + PAD + TECHNIQUES.index(technique) * ROW
    assert changed(before[1000:, top:top + ROW], drawn(Hud(KEYS), sim)[1000:, top:top + ROW]).width > 0


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
    with_lanes = drawn(Hud(KEYS), sim)
    assert partly_inactive(sim) == {"simd": "move only"}
    sim.optimizations.cap = "none"
    assert partly_inactive(sim) == {}
    box = changed(with_lanes, drawn(Hud(KEYS), sim))
    assert box.top < 12 + PAD + 2 * ROW
    sim.optimizations.cap, sim.optimizations.simd = "first", False
    assert partly_inactive(sim) == {}


def test_the_row_of_an_inactive_technique_is_dimmed() -> None:
    sim = crowd()
    before = drawn(Hud(KEYS), sim)
    sim.behaviour.techniques = frozenset()
    box = changed(before, drawn(Hud(KEYS), sim))
    assert box.left > 1000 and ROW < box.height < 2 * ROW  # the two of them


def test_the_technique_that_was_touched_last_is_on_a_bar_with_the_keys_of_its_number() -> None:
    caps = {}
    for path in "stagger.avoidance", "cull":
        before, after = drawn(Hud(KEYS), crowd()), drawn(Hud(KEYS), crowd(), Status(touched=path))
        box, top = changed(before, after), 12 + PAD + TECHNIQUES.index(BY_PATH[path]) * ROW
        assert box.left > 1000 and abs(box.top - top) <= 1 and box.height == ROW
        row = after[1200:, box.top:box.bottom]
        caps[path] = (row == KEY[:3]).all(axis=2).sum()
    assert caps["cull"] == 0 < caps["stagger.avoidance"]


def test_number_keys_with_long_names_are_not_drawn_over_the_label() -> None:
    rebound = Hud({**KEYS, "lower": ("page down",), "higher": ("page up",)})
    box = changed(drawn(rebound, crowd(), Status(touched="cell_size")), drawn(Hud(KEYS), crowd(), Status(touched="cell_size")))
    assert box.left > 1150


def test_counters_show_up_where_there_is_something_to_count() -> None:
    sim = crowd()
    assert sorting_facts(sim, set()) == memory_facts(sim.profile.counters, Readings()) == {}
    before = drawn(Hud(KEYS), sim)
    sim.profile.counters.update(sorts=3, drift=8.0, steps_since_sort=17, imbalance=1.25)
    assert sorting_facts(sim, set()) == {"sorts (ms)": "3 (0)", "since sort": "17", "drift": "0.25 cells"}
    assert sorting_facts(sim, {"reorder.when"}) == {}
    score = Readings(locality=Locality(0.875, 0.0312, 1000))
    assert memory_facts(sim.profile.counters, score) == {
        "top worker": "1.25x mean", "near reads": "88%", "L1 misses": "3.1%"}
    assert memory_facts(sim.profile.counters, Readings()) == {"top worker": "1.25x mean", "near reads": "-", "L1 misses": "-"}
    after = drawn(Hud(KEYS), sim, Status(readings=score))
    assert changed(before, after).height > 60 and changed(before, after).right < 300


def test_the_share_of_candidates_that_are_neighbours_is_told() -> None:
    assert work_facts({"neighbours_per_agent": 12.0, "candidates_per_agent": 48.0}) == {
        "neighbours": "12.0", "candidates": "48.0", "useful": "25%"}
    assert work_facts({})["useful"] == "-"
    assert [percent(share) for share in (0.0, 0.0312, 0.0994, 0.0996, 1.5)] == ["0.0%", "3.1%", "9.9%", "10%", "150%"]


@pytest.mark.parametrize(("switches", "readings", "height"), [
    ({"stagger.avoidance": 3}, {"stagger": PushError(0.15, 2.0), "ages": np.array([5, 9, 1, *[0] * 13])}, AGES_HEIGHT),
    ({"cap": "first"}, {"cap": PushError(0.4, 2.0), "bias": Bias((-0.1, -0.2), (0.0, 0.0), 9)}, BIAS_HEIGHT),
    ({"neighbours": "field"}, {"field": PushError(0.16, 2.0)}, 35),
])
def test_an_approximation_has_its_strip_and_its_error(switches: dict[str, Any], readings: dict[str, Any], height: int) -> None:
    sim = crowd()
    sim.optimizations.stagger.avoidance = 1
    plain = Hud(KEYS)
    drawn(plain, sim)
    for path, value in switches.items():
        sim.optimizations.set(path, value)
    hud = Hud(KEYS)
    before = drawn(hud, sim)
    assert hud.panels[0].get_height() == plain.panels[0].get_height() + height
    box = changed(before, drawn(Hud(KEYS), sim, Status(readings=Readings(**readings))))
    assert 0 < box.height < height and box.right < 300


def test_bars_are_as_high_as_their_values() -> None:
    surface = picture((300, 100))
    draw_bars(surface, BARS, np.array([4, 0, 1, 2]), WARM)
    lit = (pixels(surface) == WARM).all(axis=2)[BARS.left:BARS.right]
    heights = [lit[at + BARS.width // 8].sum() for at in range(0, BARS.width - 4, BARS.width // 4)]
    assert heights == [BARS.height, 0, -(-BARS.height // 4), BARS.height // 2]
    draw_bars(surface, BARS, [0] * 16, WARM)
    assert not (pixels(surface) == WARM).all(axis=2).any()


@pytest.mark.parametrize("direction", [(0.0, 0.0), (-0.1, -0.2), (1.0, 0.0), (-3.0, 4.0)])
def test_a_hand_points_where_it_should_and_stays_on_its_dial(direction: tuple[float, float]) -> None:
    surface = picture((100, 100))
    draw_hand(surface, (50, 50), direction, WARM)
    lit = np.argwhere((pixels(surface) == WARM).all(axis=2)) - 50
    assert np.hypot(*lit.T).max() <= DIAL_RADIUS + 3
    assert all(np.sign(mean) == np.sign(part) or abs(mean) < 1 for mean, part in zip(lit.mean(axis=0), direction, strict=True))


def test_the_population_is_drawn_where_there_is_life() -> None:
    sim = crowd()
    before = drawn(Hud(KEYS), sim)
    sim.life.active = True
    alive = drawn(Hud(KEYS), sim)
    assert changed(before, alive).height >= CURVE_HEIGHT
    sim.population = sim.population[::-1]
    assert 0 < changed(alive, drawn(Hud(KEYS), sim)).height < CURVE_HEIGHT
    sim.population = sim.population[:0]
    assert drawn(Hud(KEYS), sim).any()


def test_a_value_that_waits_is_told() -> None:
    assert changed(drawn(Hud(KEYS), crowd()), drawn(Hud(KEYS), crowd(), Status(pending={"depth": "full"}))).left > 1000


def test_counts_times_and_states_are_on_the_left() -> None:
    before = drawn(Hud(KEYS), crowd(walking=90, waiting=8, stuck=2))
    for other in (crowd(walking=91, waiting=8, stuck=2), crowd(walking=90, waiting=8, stuck=3)):
        assert 0 < changed(before, drawn(Hud(KEYS), other)).right < 300
    more = crowd(walking=90, waiting=8, stuck=2)
    more.agents.count = 101
    assert 0 < changed(before, drawn(Hud(KEYS), more)).right < 300
    assert 0 < changed(before, drawn(Hud(KEYS), crowd(walking=90, waiting=8, stuck=2), Status(paused=True))).right < 300


def test_speeds_and_times_are_written_as_people_do() -> None:
    assert [speed_text(speed) for speed in (1 / 8, 0.3, 0.5, 1.0, 1.5, 64.0)] == ["x1/8", "x0.3", "x1/2", "x1", "x1.5", "x64"]
    assert [real_speed_text(speed) for speed in (0.467, 0.999, 4.06, 9.96, 41.7)] == ["x0.47", "x1.0", "x4.1", "x10", "x42"]
    assert [time_text(seconds) for seconds in (0.0, 59.99, 3 * 0.1, 61.2, 7325.9)] == [
        "0:00:00.0", "0:00:59.9", "0:00:00.3", "0:01:01.2", "2:02:05.9"]


def header(status: Status) -> NDArray[np.uint8]:
    return drawn(Hud(KEYS), crowd(), status)[:300, :80]


def test_a_speed_that_is_not_reached_is_told_in_a_warning_colour() -> None:
    for asked, real in ((16.0, 4.0), (1.0, 0.47)):
        reached, missed = header(Status(speed=asked)), header(Status(speed=asked, clock=Clock(real_speed=real)))
        assert not (reached == WARM).all(axis=2).any() and (missed == WARM).all(axis=2).any()
        assert 0 < changed(reached, missed).height < 15
    assert (header(Status(paused=True)) == WARM).all(axis=2).any()


def test_a_number_of_the_header_moves_nothing_else() -> None:
    before = header(Status(clock=Clock(60.0, None, 59, 0.9)))
    others = {Clock(9.0, None, 59, 0.9): 40, Clock(3840.0, None, 59, 0.9): 40, Clock(60.0, None, 123_456, 0.9): 80,
              Clock(60.0, None, 59, 3599.9): 60, Clock(60.0, 0.47, 59, 0.9): 60}
    for other, width in others.items():
        box = changed(before, header(Status(clock=other)))
        assert 0 < box.width < width and box.height < 15


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
    draw_notices(surface, ["saved crowd-0001.png", "compiling see lanes"], pen)
    help_of(pen).draw(surface)
    assert changed(pixels(picture(size)), pixels(surface)).width > 0


def test_what_matters_less_is_left_out_first() -> None:
    sections = [Section(40, 0, lambda on, top: None), Section(70, 2, lambda on, top: None),
                Section(30, 1, lambda on, top: None)]
    assert visible_sections(sections, 200) == sections
    assert visible_sections(sections, 100) == [sections[0], sections[2]]
    assert visible_sections(sections, 0) == []


def test_how_values_are_written() -> None:
    assert [shown(value) for value in (True, False, "off", 3, 2.5, 26.0)] == ["on", "off", "off", "3", "2.5", "26"]


def test_nothing_was_measured_yet() -> None:
    sim = crowd()
    sim.profile = Profile()
    assert drawn(Hud(KEYS), sim).any()


# --- type ------------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("face", [None, BUNDLED])
def test_numbers_of_equal_length_are_equally_wide(face: str | None) -> None:
    pen = Pen(face)
    widths = {pen.image(number).get_width() for number in ("111.11", "888.88", "404.04")}
    assert widths == {pen.width("000.00")}


def test_text_that_is_too_long_is_cut_with_an_ellipsis() -> None:
    pen = Pen()
    assert pen.fitted("short", 500) == "short"
    cut = pen.fitted("a text that is too long for its place", 100)
    assert cut.endswith("…") and pen.width(cut) <= 100 and len(cut) > 5


def test_a_long_line_becomes_two() -> None:
    pen = Pen()
    assert pen.in_two("short", 500) == ["short"]
    lines = pen.in_two("a text that is a little too long for its place", 200)
    assert " ".join(lines) == "a text that is a little too long for its place" and len(lines) == 2
    assert all(pen.width(line) <= 200 for line in lines)
    assert pen.in_two("unbreakable", 20)[1].endswith("…")


# --- graph -----------------------------------------------------------------------------------------------------------

def test_the_newest_frame_is_a_column_of_stages_upon_each_other() -> None:
    profile = Profile()
    profile.add("see", 5.0)
    profile.add("blit", 10.0)
    profile.end_frame(17.0)
    column = stacked(profile, (8, 40), 20.0)[-1].tolist()  # 2 pixels a ms
    assert column[::-1] == [list(COLOURS["see"])] * 10 + [list(COLOURS["blit"])] * 20 + [list(REST)] * 4 + [list(GROUND)] * 6
    assert (stacked(profile, (8, 40), 20.0)[:-1] == GROUND).all()


def test_the_scale_fits_the_frames_and_always_shows_the_budget() -> None:
    assert scale_ms(np.zeros(0, np.float32)) > BUDGET_MS
    assert scale_ms(np.full(10, 3.0, np.float32)) == 20 and scale_ms(np.full(10, 70.0, np.float32)) == 80
    assert scale_ms(np.full(10, 1e9, np.float32)) == 10_000


# --- help and overlays -----------------------------------------------------------------------------------------------

def help_of(pen: Pen, keys: Any = KEYS) -> Help:
    what = {action: text for action, (_, text) in ACTIONS.items()}
    return Help(technique_entries(keys), program_entries(keys, what, (("wheel", "zoom"),)), pen)


def test_help_lists_every_action_with_its_real_keys() -> None:
    keys = {**KEYS, "pause": ("p",), "depth": ("k", "l")}
    techniques = {entry.name: entry for entry in technique_entries(keys)}
    assert techniques[BY_PATH["depth"].label].keys == ("k", "l")
    assert [entry.exact for entry in techniques.values()] == [technique.exact for technique in TECHNIQUES]
    program = program_entries(keys, {action: text for action, (_, text) in ACTIONS.items()}, ())
    assert len(program) + len(techniques) == len(ACTIONS) and program[0].keys == ("p",)


def test_a_key_looks_the_same_however_it_is_spelt() -> None:
    caps = []
    for name in ("r", "R"), ("f11", "F11"), ("space", "SPACE"):
        for spelling in name:
            surface = picture((80, 20))
            assert draw_key(surface, Pen(), spelling, 2, 10) == 2 + key_width(Pen(), spelling)
            caps.append(pixels(surface).tobytes())
    assert caps[::2] == caps[1::2] and len(set(caps)) == 3


def test_help_covers_the_picture() -> None:
    before, after = picture(), picture()
    help_of(Pen()).draw(after)
    assert (pixels(before) != pixels(after)).any(axis=2).all()

"""The sections of the panels, that of a scenario too: what they say of a crowd, where they fold, and what is hidden."""

from functools import cache
from itertools import combinations, pairwise
from typing import Any

import numpy as np
import pygame
import pytest
from crowds import events, open_world, simulation
from eyes import EYES, distance, lab
from hud_spy import (
    KEYS,
    PATHS,
    TALL,
    UNFOLDED,
    Spy,
    changed,
    colour_of_text,
    crowd,
    drawn,
    have_lived,
    measured,
    texts,
)

from crowd_demo.config.events import ScenarioEvent
from crowd_demo.profile import HISTORY, Profile
from crowd_demo.registry.stages import PARTS, PLUGIN_COLOUR, STAGES, in_order, stages_of, text_of
from crowd_demo.registry.techniques import TECHNIQUES, inactive
from crowd_demo.render.hud.canvas import DARK, GROUND, TEXT, THEMES, Canvas, Pen, Target, scale_for
from crowd_demo.render.hud.frame_sections import BUDGET_MS, Graph, bars, scale_ms
from crowd_demo.render.hud.hud import Hud
from crowd_demo.render.hud.panel_layout import LEFT_WIDTH, RIGHT_WIDTH, ROW, PanelSection, draw_panel, unfolded
from crowd_demo.render.hud.sections import (
    FLOW_S,
    crowd_sections,
    draw_scenario,
    memory_facts,
    percent,
    scenario_sections,
    sorting_facts,
    switchboard_sections,
    work_facts,
)
from crowd_demo.render.hud.status import Chart, Mark, PanelSettings, Status
from crowd_demo.render.hud.text_panels import draw_chart
from crowd_demo.sim.counts import MAX_SAMPLES
from crowd_demo.sim.metrics.avoidance_error import AvoidanceError, Bias
from crowd_demo.sim.metrics.locality import Locality
from crowd_demo.sim.metrics.readings import Readings
from crowd_demo.sim.simulation import Simulation

pytestmark = pytest.mark.quick

@pytest.mark.parametrize(("change", "inactive_paths"), [
    ({}, {"reorder.drift", "leaf_size", "rebuild", "removal"}),
    ({"reorder.when": "drift"}, {"reorder.every", "leaf_size", "rebuild", "removal"}),
    ({"neighbours": "buckets"},
     {"curve", "reorder.when", "reorder.every", "reorder.drift", "leaf_size", "rebuild", "removal"}),
    ({"neighbours": "kd_tree"}, {"curve", "reorder.drift", "removal", "rebuild"}),
    ({"neighbours": "kd_tree", "cull": "agents", "neighbour_limit": "first"},
     {"curve", "reorder.drift", "removal", "rebuild"}),
    ({"neighbours": "kd_tree", "cull": "agents", "overlap_passes": 0},
     {"curve", "reorder.drift", "removal", "rebuild", "cell_size"}),
    ({"neighbours": "aabb_tree"}, {"curve", "reorder.drift", "removal"}),
    ({"stagger.avoidance": 1}, {"stagger.by", "reorder.drift", "leaf_size", "rebuild", "removal"}),
])
def test_techniques_are_inactive_whose_value_changes_nothing(change: dict[str, Any], inactive_paths: set[str]) -> None:
    sim = crowd()
    for path, value in change.items():
        sim.optimizations.set(path, value)
    assert inactive(sim.situation) == inactive_paths | {"device"}, "there is no GPU here"
    sim.life.active, sim.behaviour.techniques = True, frozenset()
    assert inactive(sim.situation) == inactive_paths - {"removal"} | PATHS | {"device"}


def test_the_row_of_an_inactive_technique_is_dimmed() -> None:
    sim = crowd()
    assert colour_of_text(sim, "stagger sight") == TEXT
    sim.behaviour.techniques = frozenset()
    assert colour_of_text(sim, "stagger sight") == "inactive"


def test_the_technique_that_was_touched_last_is_on_a_bar() -> None:
    box = changed(drawn(Hud(KEYS), crowd()), drawn(Hud(KEYS), crowd(), Status(touched="cull")))
    assert box.left > 960 and box.height < 25


def test_a_folded_group_keeps_what_differs_from_the_configuration() -> None:
    def rows(touched: str = "") -> set[str]:
        return {each.label.strip() for each in TECHNIQUES} & set(texts(sim, Status(panels=folded, touched=touched)))

    sim, folded = crowd(), PanelSettings(scale=1.1)
    nine = {technique.label for technique in TECHNIQUES if technique.key.isdigit()}
    assert rows() == nine and rows(touched="cell_size") == nine | {"cell size"}
    sim.optimizations.threads = 1
    assert rows() == nine | {"threads"} and "2 more" in texts(sim, Status(panels=folded))


def test_counters_show_up_where_there_is_something_to_count() -> None:
    sim = crowd()
    assert set(sorting_facts(sim, set()).values()) == set(memory_facts(sim.profile.counters, Readings()).values()) == {"-"}
    sim.profile.counters.update(sorts=3, drift=8.0, steps_since_sort=17, imbalance=1.25)
    assert sorting_facts(sim, set()) == {"sorts (ms)": "3 (0.00)", "since sort": "17", "drift": "0.33 cells"}
    assert sorting_facts(sim, {"reorder.when"}) == {"sorts (ms)": "-", "since sort": "-", "drift": "-"}
    score = Readings(locality=Locality(0.875, 0.0312, 1000))
    assert memory_facts(sim.profile.counters, score) == {
        "top worker": "1.25x mean", "near reads": "88%", "L1 misses": "3.1%"}
    assert memory_facts(sim.profile.counters, Readings()) == {"top worker": "1.25x mean", "near reads": "-", "L1 misses": "-"}
    assert {"0.33 cells", "1.25x mean", "88%"} <= set(texts(sim, Status(readings=score)))


def test_the_share_of_candidates_that_are_neighbours_is_told() -> None:
    assert work_facts({"neighbours_per_agent": 12.0, "candidates_per_agent": 48.0}) == {
        "neighbours": "12.0", "candidates": "48.0", "useful": "25%"}
    assert work_facts({"candidates_per_agent": 20_000.0})["candidates"] == "20,000"
    assert work_facts({})["useful"] == "-"
    assert [percent(share) for share in (0.0, 0.0312, 0.0994, 0.0996, 1.5)] == ["0.0%", "3.1%", "9.9%", "10%", "150%"]


@pytest.mark.parametrize(("switches", "readings", "told"), [
    ({"stagger.avoidance": 3}, {"stagger": AvoidanceError(0.15, 2.0), "ages": np.array([5, 9, 1, *[0] * 13])},
     {"stagger error": "15%"}),
    ({"neighbour_limit": "first"}, {"neighbour_limit": AvoidanceError(0.4, 2.0), "bias": Bias((0.0, 0.0), (-0.1, -0.2), 9)},
     {"limit error": "40%"}),
    ({"neighbours": "field"}, {"field": AvoidanceError(0.16, 2.0)}, {"field error": "16%", "at worst": "200%"}),
])
def test_an_approximation_has_its_error(switches: dict[str, Any], readings: dict[str, Any], told: dict[str, str]) -> None:
    sim = crowd()
    sim.optimizations.stagger.avoidance = 1
    assert not {"15%", "40%", "16%"} & set(texts(sim, Status(readings=Readings(**readings))))
    for path, value in switches.items():
        sim.optimizations.set(path, value)
    unread, hud = texts(sim), Hud(KEYS)
    assert told.keys() <= set(unread) and "-" in unread
    read = texts(sim, Status(readings=Readings(**readings)))
    assert {name: read[read.index(name) + 1] for name in told} == told
    drawn(hud, sim, Status(panels=UNFOLDED), size=TALL)
    assert {placed.target for placed in hud.panels[0].targets} >= {Target("fact", name) for name in told}


def test_sections_keep_their_places_whatever_is_switched() -> None:
    def places() -> list[tuple[Target, tuple[int, int]]]:
        hud = Hud(KEYS)
        drawn(hud, sim, Status(), size=(1280, 720))
        return [(each.target, each.rect.topleft) for each in hud.panels[0].targets
                if each.target.kind in ("fold", "unfold")]

    sim = crowd(walking=90, waiting=8, stuck=2, queuing=0)
    sim.profile.counters.update(sorts=3, drift=8.0, steps_since_sort=17, imbalance=1.25)
    before = places()
    for path, value in (("neighbours", "kd_tree"), ("neighbours", "buckets"), ("neighbours", "field"), ("reorder.when", "off"),
                        ("neighbour_limit", "nearest"), ("stagger.avoidance", 1), ("cull", "off"), ("depth", "off")):
        sim.optimizations.set(path, value)
        for stage in ("query", "overlays", "proof", "culling grid"):
            sim.profile.add(stage, 0.1)
        sim.profile.end_frame(5.0)
        assert places() == before, path
    for _ in range(2 * HISTORY):  # what has not run for long keeps its row, too
        sim.profile.end_frame(5.0)
    assert places() == before


def test_the_population_is_drawn_where_there_is_life() -> None:
    sim = crowd()
    assert "births" not in texts(sim)
    sim.life.active = True
    status = Status(panels=UNFOLDED)
    alive = drawn(Hud(KEYS), sim, status, size=TALL)
    assert "births" in texts(sim)
    have_lived(sim, range(100, 89, -1))
    assert 0 < changed(alive, drawn(Hud(KEYS), sim, status, size=TALL)).height < 90
    have_lived(sim, ())
    assert drawn(Hud(KEYS), sim).any()


def test_step_draw_and_present_have_their_sums() -> None:
    found = texts(crowd())
    sums = {part: found[found.index(part) + 1] for part in PARTS}
    assert sums == {"step": "1.60 ms", "draw": "1.60 ms", "present": "1.50 ms"}
    assert found.index("step") < found.index("interaction") < found.index("draw") < found.index("blit") < found.index("other")


def section(name: str, height: float, headline: str | None = "", brief: float = 0.0) -> PanelSection:
    return PanelSection(name, height, lambda on, top: None, headline, brief=brief)


def test_what_was_unfolded_last_stays_unfolded_where_there_is_too_little_room() -> None:
    sections = [section("head", 40, None), section("b", 70), section("c", 30), section("d", 50, brief=20.0)]
    least = 40 + 3 * ROW + 20
    assert unfolded(sections, least + 500, ()) == set()
    assert unfolded(sections, least + 100, ("b", "c", "head", "none")) == {"b", "c"}
    assert unfolded(sections, least + 99, ("b", "c")) == {"c"} and unfolded(sections, least + 99, ("c", "b")) == {"b"}
    assert unfolded(sections, least + 30, ("d", "b")) == {"d"}, "what is left of it is shown anyway"


@cache
def crowds_of_long_words() -> list[Any]:
    """A crowd with everything that can stand side by side in the left panel, one with a field, and a scenario."""
    limited, field = (crowd(walking=834_567, waiting=234_567, stuck=12, queuing=3_456) for _ in range(2))
    limited.optimizations.neighbour_limit = "first"
    limited.optimizations.neighbours = field.optimizations.neighbours = "field"  # the limited one's: as sorted
    for each in (limited, field):
        each.life.active, each.agents.count = True, 32_000_000
        each.profile.counters.update(sorts=1234, drift=12.0, steps_since_sort=1234, imbalance=1.25, visible=4e6, drawn=4e6,
                                     candidates_per_agent=4e6, births=1234.5, deaths=1234.5)
        each.profile.add("reorder", 12.3)
    config = simulation(agents=10, **open_world(500, 400), measure__lines__a_long_name="[250, 0, 250, 400]").config
    event = ScenarioEvent.model_validate({"hand": "block the door at the left of the stage", "do": {"agents": 60}})
    events = Simulation(config.model_copy(update={"events": (event,), "agents": 4_000_000}))
    return [limited, field, events]


@pytest.mark.parametrize("factor", [0.7, 3.0])
@pytest.mark.parametrize("size", [(640, 360), (800, 600), (1024, 768), (1280, 720), (2560, 1440)])
def test_between_two_texts_on_a_line_is_a_gap_and_none_is_cut(size: tuple[int, int], factor: float) -> None:
    scale = scale_for(size, factor)
    for sim in crowds_of_long_words():
        for sections, width in ((crowd_sections(sim, Readings(), {}) + scenario_sections(sim, KEYS), LEFT_WIDTH),
                                (switchboard_sections(sim, Status(touched="simd"), KEYS), RIGHT_WIDTH)):
            for each in sections:
                draw_panel([each], width, 9999, (each.name,), spy := Spy(), scale)
                boxes = sorted((one for one in spy.written if one.text), key=lambda one: (one.box.centery, one.box.x))
                pairs = [pair for pair in pairwise(boxes) if pair[0].box.centery == pair[1].box.centery]
                apart = {(one.text, other.text): (other.box.left - one.box.right) / scale for one, other in pairs}
                joined = {pair for pair in apart if pair[1][0] == " "}  # one text in two colours
                assert not {pair: gap for pair, gap in apart.items() if gap < 3 and pair not in joined}
                assert each.name == "scenario" or not any("…" in one.text for one in boxes), boxes


def test_a_folded_section_is_a_line_that_unfolds() -> None:
    hud, sim = Hud(KEYS), crowd()
    drawn(hud, sim)
    folded = [panel.surface.get_height() for panel in hud.panels]
    assert all(hud.sections().values())
    assert "95% below 4.70 ms" in texts(sim, Status(panels=PanelSettings(scale=1.1)))
    drawn(hud, sim, Status(panels=PanelSettings(opened=("graph", "search"))))
    assert all(panel.surface.get_height() > low for panel, low in zip(hud.panels, folded, strict=True))
    assert [name for name, is_folded in hud.sections().items() if not is_folded] == ["graph", "search"]
    drawn(hud, sim, now_s=1.0)
    at = next(placed.rect.center for placed in hud.panels[0].targets if placed.target == Target("unfold", "graph"))
    margin = 12
    assert hud.target_at(at[0] + margin, at[1] + margin) == Target("unfold", "graph")


# --- The section of a scenario: its numbers against the crowd's, and that it depends on the state alone --------------

EVENTS: tuple[dict[str, Any], ...] = (
    {"tick": 30, "clock": True}, {"hand": "take half of them out", "do": {"agents": 60}},
    {"tick": 200, "do": {"agents": 4}}, {"when": "left < 10%", "end": True, "say": "that was all"})


def scenario(*happens: dict[str, Any], **more: Any) -> Simulation:
    return events(*happens, **{"agents": 120, **open_world(500, 400), "measure__lines__down": "[250, 0, 250, 400]",
                               "measure__areas__middle": "[100, 80, 360, 300]", **more})


def written_section(sim: Simulation) -> tuple[list[str], Canvas]:
    """The texts, and the canvas."""
    spy, (found,) = Spy(), scenario_sections(sim, KEYS)
    canvas = Canvas((LEFT_WIDTH, found.height), spy, 1.0)
    draw_scenario(canvas, 0, sim, KEYS)
    return spy.texts, canvas


def test_it_tells_clock_flow_and_answer() -> None:
    sim = scenario(*EVENTS)
    sim.play(150)
    found, canvas = written_section(sim)
    passed = sim.counts.of_line("down")
    flow = passed if len(sim.counts.samples) == 0 else int(sim.counts.samples[-1, 0]) / FLOW_S
    for text in ("0:00:02.0", "120 of 120", f"{passed}", f"{flow:.1f}/s", "take half of them out",
                 "ends when that was all"):
        assert text in found, text
    c = sim.agents.columns
    inside = ((c.x[:120] > 100) & (c.x[:120] < 360) & (c.y[:120] > 80) & (c.y[:120] < 300)).sum()
    assert f"{inside}" in found and passed > 0
    assert ("action", "happen") in [tuple(region.target) for region in canvas.targets]
    sim.play(100)
    sim.events.happen(1, sim)
    found, _ = written_section(sim)
    assert "that was all (slowest tenth: 0.0 s)" not in found and "2.8 s" not in found
    answer_s = sim.events.answer_s(sim.dt)
    assert answer_s and f"{answer_s:.1f} s" in found and "no manual events left" in found
    assert any(text.startswith("that was all (slowest tenth: ") for text in found)


@pytest.mark.parametrize("seconds", [3, FLOW_S, 40, MAX_SAMPLES + 9])
def test_a_flow_is_the_mean_of_the_last_seconds(seconds: int) -> None:
    sim = scenario(*EVENTS, time__step_hz=20, agents=0)
    rng, seen = np.random.default_rng(seconds), []
    for _ in range(seconds):
        sim.counts.passed += rng.integers(0, 9)
        seen.append(int(sim.counts.passed[0]))
        for _ in range(20):
            sim.counts.count(sim)
            sim.tick += 1
    want = [(seen[k] - (seen[k - FLOW_S] if k >= FLOW_S else 0)) / FLOW_S for k in range(seconds)]
    flows = sim.counts.flows(FLOW_S)
    assert flows[:, 0].tolist() == want[-len(flows):] and len(flows) >= min(seconds, MAX_SAMPLES - FLOW_S)


# --- The graph -------------------------------------------------------------------------------------------------------

def test_the_newest_frame_is_a_column_of_stages_upon_each_other() -> None:
    profile, ground = Profile(), DARK[GROUND]
    profile.add("interaction", 5.0)
    profile.add("blit", 10.0)
    profile.end_frame(17.0)
    pixels = pygame.surfarray.array3d(bars((8, 40), profile, 20.0, ground))  # 2 pixels a ms
    column = pixels[-1].tolist()
    see, blit = (list(text_of(stage).colour) for stage in ("interaction", "blit"))
    assert column[::-1] == [see] * 10 + [blit] * 20 + [list(text_of("other").colour)] * 4 + [list(ground)] * 6
    assert (pixels[:-1] == ground).all()


def test_the_scale_fits_the_frames_and_always_shows_the_budget() -> None:
    assert scale_ms(np.zeros(0, np.float32)) > BUDGET_MS
    assert scale_ms(np.full(10, 3.0, np.float32)) == 20 and scale_ms(np.full(10, 70.0, np.float32)) == 80
    assert scale_ms(np.full(10, 1e9, np.float32)) == 10_000


def graph_texts(graph: Graph, profile: Profile, ticks: tuple[Mark, ...] = (), fits: int = 0,
                compiling: bool = False) -> list[str]:
    spy = Spy()
    said, _ = graph.draw(Canvas((260, 80), spy, 1.0), (10, 10, 240, 60), profile, ticks, fits, compiling)
    return [*spy.texts, said]


def heights(graph: Graph) -> set[int]:
    """How high the frames are drawn, pixels."""
    pixels = pygame.surfarray.pixels2d(graph.picture)
    return set((pixels != pixels.max()).sum(axis=1).tolist())


def more(profile: Profile, frames: int, ms: float) -> Profile:
    for _ in range(frames):
        profile.add("interaction", ms)
        profile.end_frame(ms)
    return profile


def test_the_graph_keeps_its_scale_until_it_is_asked_to_fit() -> None:
    graph, profile = Graph(), more(Profile(), 100, 5.0)
    graph_texts(graph, profile)
    assert "above 20: click to fit" in graph_texts(graph, more(profile, 100, 75.0))
    assert heights(graph) == {0, 15, 60}
    assert not any("click" in text for text in graph_texts(graph, profile, fits=1))
    assert heights(graph) == {0, 2, 28}, "of 160 ms"


def test_a_switch_is_marked_in_the_graph_where_it_happened() -> None:
    profile = measured(200)
    assert "reorder off" in graph_texts(Graph(), profile, (Mark(150, "reorder off"),))
    assert "reorder off" not in graph_texts(Graph(), measured(600), (Mark(150, "reorder off"),))


# --- help ------------------------------------------------------------------------------------------------------------


# --- The chart of an overlay -----------------------------------------------------------------------------------------

RED, BLUE = (255, 0, 0), (0, 0, 255)


def chart(counts: np.ndarray) -> Chart:
    """Ten by four cells, red in the left half and blue in the right one; a line at half of its height."""
    classes = np.broadcast_to(np.arange(10) >= 5, (4, 10)).astype(np.int64)
    return Chart("title", ("people", "metres"), (5.0, 2.0), counts, (RED, BLUE), classes,
                 (("a line", np.array([0.0, 5.0]), np.array([1.0, 1.0])),))


def places_of(canvas: Canvas, colour: tuple[int, ...]) -> tuple[float, float, float, float] | None:
    """The box of all pixels of a colour, in units."""
    width, height = canvas.surface.get_size()
    found = [(x, y) for x in range(width) for y in range(height) if tuple(canvas.surface.get_at((x, y)))[:3] == colour[:3]]
    if not found:
        return None
    x, y = np.array(found).T / canvas.scale
    return x.min(), y.min(), x.max(), y.max()


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("scale", [0.7, 1.15, 2.5])
def test_what_was_found_most_often_has_the_colour_of_its_class_where_its_numbers_are(theme: str, scale: float) -> None:
    counts = np.zeros((4, 10), np.int64)
    counts[3, 1] = counts[0, 8] = 7
    drawn = draw_chart(chart(counts), Pen(theme=THEMES[theme]), scale)
    width, height = drawn.size
    left, top, right, bottom = places_of(drawn, RED) or (0, 0, 0, 0)
    assert right < width / 2 and bottom < height / 2 and top < right - left + 40
    left, top, right, bottom = places_of(drawn, BLUE) or (0, 0, 0, 0)
    assert left > width / 2 and top > height / 2
    assert places_of(drawn, drawn.pen.colour(TEXT)) and places_of(drawn, drawn.pen.colour(GROUND))


# --- The colours of stages, as everybody sees them -------------------------------------------------------------------

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

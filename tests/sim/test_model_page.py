"""docs/model*.md alone suffice: birth, hash, events and actions in plain Python, from the pages and not from the program."""

import hashlib
import math
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from crowds import events, open_world, refresh_rules, shuffle, simulation

from crowd_demo.sim.actions import Populate
from crowd_demo.sim.behaviours.people_rules import QUEUING, STUCK, WAITING, WALKING
from crowd_demo.sim.behaviours.wayfinding import WaysOut
from crowd_demo.sim.counts import across
from crowd_demo.sim.edits import AddGoal, BringIn, SetExit, SetGoal, TakeOut
from crowd_demo.sim.fundamental_diagram import Line
from crowd_demo.sim.simulation import Simulation

F = np.float32
SPEED, SIZE, HEADING, SPAWN, BIRTH, PLACES, DESTINATIONS = 1, 1, 2, 4, 5, 64, 65
SEED = 2**40 + 7
WIDTH, HEIGHT = 1000.0, 700.0  # 16 by 12 tiles of 62.5, the last row of which hangs over the edge
TILE, COLUMNS, ROWS = 62.5, 16, 12
IDS = range(200)
PAGE = {"name": "20k-flock", "agents": len(IDS), "seed": SEED, **open_world(WIDTH, HEIGHT)}


# --- Units and types -------------------------------------------------------------------------------------------------

def page_hash(v: int) -> int:
    v ^= v >> 16
    v = v * 0x7FEB352D % 2**32
    v ^= v >> 15
    v = v * 0x846CA68B % 2**32
    return v ^ v >> 16


def key(seed: int, tick: int, purpose: int) -> int:
    h = 0
    for word in (seed & 0xFFFFFFFF, seed >> 32, tick, purpose + 1):
        h = page_hash(h ^ word)
    return h


def part(identity: int, key: int) -> float:
    return (page_hash(identity ^ key) >> 8) * 2.0**-24


def four_parts(identity: int, key: int) -> float:
    total = 0.0
    for _ in range(4):
        total, key = total + part(identity, key), page_hash(key % 2**32)
    return total


def below(n: int, identity: int, key: int) -> int:
    return page_hash(identity ^ key) * n >> 32


# --- Birth -----------------------------------------------------------------------------------------------------------

def place(identity: int, tiles: Sequence[int] = range(COLUMNS * ROWS), seed: int = SEED) -> tuple[Any, Any, int]:
    """(x, y) and in how many draws they were found."""
    for draws in range(1, 100):
        number, across, down = (below(n, identity, key(seed, 3 * (draws - 1) + draw, PLACES))
                                for draw, n in enumerate((len(tiles), 1024, 1024)))
        row, column = divmod(tiles[number], COLUMNS)
        x, y = (F((side * 1024 + spot + 0.5) * (TILE / 1024)) for side, spot in ((column, across), (row, down)))
        if x < WIDTH and y < HEIGHT:
            return x, y, draws
    raise AssertionError("nowhere to be born")


def clump_place(identity: int, share: float, box: float) -> tuple[Any, Any]:
    k = key(SEED, 0, SPAWN)
    if not F(part(identity, k)) < F(share):
        return place(identity)[:2]
    spots = ((page_hash(k), F(WIDTH) / F(2)), (page_hash(page_hash(k)), F(HEIGHT) / F(2)))
    x, y = (c + (F(part(identity, k)) - F(0.5)) * F(2 * box) * c for k, c in spots)
    return x, y


def cosine(t: float) -> float:
    z = abs(t - round(t)) * 4 - 1
    return -z * (1.5706268 - z*z * (0.6432292 - z*z * 0.0727102))


def bird_velocity(identity: int, x: Any, y: Any, low: float, high: float, seed: int = SEED) -> tuple[Any, Any]:
    speed = low + (high - low) * part(identity, key(seed, 0, SPEED))
    half = max(WIDTH, HEIGHT) / 2
    a, b = float(x) / half, float(y) / half
    wind = cosine(a + 0.3 * cosine(b)) + cosine(b * 1.3 - a * 0.4 + 0.2)
    t = wind / 2 + (part(identity, key(seed, 0, HEADING)) - 0.5) / 4
    return F(cosine(t) * speed), F(cosine(t - 0.25) * speed)


@pytest.mark.quick
def test_birds_are_born_where_and_as_the_page_says() -> None:
    columns = simulation(**PAGE, flock__speed_min=50, flock__speed_max=130).agents.by_id()
    places = [place(identity) for identity in IDS]
    assert {draws for _, _, draws in places} >= {1, 2}  # some had to draw again
    assert [(x, y) for x, y, _ in places] == list(zip(columns.x, columns.y, strict=True))
    velocities = [bird_velocity(identity, x, y, 50, 130) for identity, (x, y, _) in zip(IDS, places, strict=True)]
    assert velocities == list(zip(columns.vx, columns.vy, strict=True))


@pytest.mark.quick
def test_a_clump_is_born_in_its_box() -> None:
    columns = simulation(**PAGE, spawn__pattern="clump", spawn__share=0.4, spawn__box=0.1).agents.by_id()
    assert [clump_place(identity, 0.4, 0.1) for identity in IDS] == list(zip(columns.x, columns.y, strict=True))


HALL = [tile for tile in range(COLUMNS * ROWS) if 100 <= (tile % COLUMNS + 0.5) * TILE <= 406.25
        and 100 <= (tile // COLUMNS + 0.5) * TILE <= 400]
IN_HALL = {"measure__areas__hall": "[100, 100, 406.25, 400]", "spawn__inside": "hall"}


@pytest.mark.quick
def test_only_the_pattern_uniform_is_born_inside_an_area() -> None:
    """Its right border runs through the middles of tiles, which are in it."""
    uniform, clump = (simulation(**PAGE, **IN_HALL, spawn__pattern=pattern, spawn__share=0.4, spawn__box=0.1).agents.by_id()
                      for pattern in ("uniform", "clump"))
    column = simulation(**PAGE, **IN_HALL, links__length=7, links__pattern="column", links__rest=0).agents.by_id()
    assert [place(identity, HALL)[:2] for identity in IDS] == list(zip(uniform.x, uniform.y, strict=True))
    assert [clump_place(identity, 0.4, 0.1) for identity in IDS] == list(zip(clump.x, clump.y, strict=True))
    assert [place(identity // 7)[:2] for identity in IDS] == list(zip(column.x, column.y, strict=True))


@pytest.mark.quick
def test_walkers_are_born_waiting_and_their_destinations_have_the_least_hashes() -> None:
    sim = simulation(**PAGE, behaviour="crowd", crowd__destinations=5, crowd__speed_min=40, crowd__speed_max=120,
                     crowd__speed_draws=4)
    tiles = sorted(range(COLUMNS * ROWS), key=lambda tile: page_hash(tile ^ key(SEED, 0, DESTINATIONS)))[:5]
    points = [(column * TILE + TILE / 2, (row * TILE + min(row * TILE + TILE, HEIGHT)) / 2)
              for row, column in (divmod(tile, COLUMNS) for tile in tiles)]
    assert points == [(place.x, place.y) for place in sim.terrain.destinations]
    columns: Any = sim.agents.by_id()
    assert columns.speed.tolist() == [F(40 + 80 * (four_parts(identity, key(SEED, 0, SPEED)) / 4)) for identity in IDS]
    assert columns.goal.tolist() == [page_hash(identity) % 5 for identity in IDS]
    assert set(columns.state) == {1} and not columns.timer.any() and not columns.vx.any() and not columns.next_update.any()


@pytest.mark.quick
def test_crates_are_born_at_rest_and_most_of_them_small() -> None:
    columns: Any = simulation(**PAGE, behaviour="crates", crates__rarity=3).agents.by_id()
    parts = [part(identity, key(SEED, 0, SIZE)) for identity in IDS]
    assert columns.half.tolist() == [F(1 + 49 * (p * p * p)) for p in parts]
    assert not columns.vx.any() and not columns.avoidance_x.any()


@pytest.mark.quick
def test_who_is_born_in_a_wall_flies_with_the_wind_beside_it() -> None:
    sim = simulation(**{**PAGE, "agents": 0}, spawn__pattern="point")
    tile = int(F(WIDTH) / F(2) * sim.terrain.walls.inv_tile), int(F(HEIGHT) / F(2) * sim.terrain.walls.inv_tile)
    sim.set_walls((*tile, tile[0] + 1, tile[1] + 1), True)
    sim.populate(20)
    columns = sim.agents.by_id()
    middle = [F((side + 0.5) * TILE) for side in (tile[0], tile[1] - 1)]  # the tile above comes first in reading order
    assert set(columns.x) == {middle[0]} and set(columns.y) == {middle[1]}
    low, high = sim.config.flock.speed_min, sim.config.flock.speed_max
    velocities = [bird_velocity(identity, middle[0], middle[1], low, high) for identity in range(20)]
    assert velocities == list(zip(columns.vx, columns.vy, strict=True))


@pytest.mark.quick
def test_a_crowd_has_no_more_destinations_than_the_ground_has_tiles() -> None:
    sim = simulation(agents=3, map="null", world__width=100, world__height=60, crowd__destinations=9)
    assert sim.terrain.blocked.size == len(sim.terrain.destinations) == 4


# --- Links -----------------------------------------------------------------------------------------------------------

HANGING = {**PAGE, "links__length": 7, "spawn__pattern": "point"}


@pytest.mark.quick
def test_ropes_begin_where_the_page_says() -> None:
    rest, n = 30.7, 7
    columns = simulation(**HANGING, links__pattern="rope", links__rest=rest).agents.by_id()
    ropes, rows = math.ceil(len(IDS) / n), max(1, math.floor(HEIGHT / max(n * rest * 1.2, 1)))
    across = math.ceil(ropes / rows)
    for identity in IDS:
        line, spot = divmod(identity, n)
        row, column = divmod(line % ropes, across)
        x = (column + 0.25 + 0.5 * (row % 2)) * (WIDTH / across)
        y = (row + 0.12) * (HEIGHT / rows) + spot * rest
        assert (columns.x[identity], columns.y[identity]) == (clamped(x, WIDTH), clamped(y, HEIGHT))


@pytest.mark.quick
def test_leaders_of_columns_are_born_on_the_ground_whatever_the_pattern() -> None:
    columns = simulation(**HANGING, links__pattern="column", links__rest=40).agents.by_id()
    for identity in IDS:
        line, spot = divmod(identity, 7)
        x, y, _ = place(line)
        assert (columns.x[identity], columns.y[identity]) == (clamped(float(x) - spot * 40, WIDTH), y)


def clamped(value: float, side: float) -> Any:
    return F(min(max(value, 0.0), float(np.nextafter(F(side), F(0)))))


# --- Births and deaths -----------------------------------------------------------------------------------------------

@pytest.mark.quick
def test_the_dead_are_drawn_below_the_highest_id_that_anybody_ever_had() -> None:
    sim = simulation(**{**PAGE, "agents": 150}, life__deaths_per_s=10 * 60)
    sim.populate(40)
    dead: list[int] = []
    k, n = key(SEED, 0, 6), 0
    while len(dead) < 10:
        identity, n = page_hash(n ^ k) % 150, n + 1
        if identity < 40 and identity not in dead:
            dead.append(identity)
    sim.step()
    assert sorted(sim.agents.columns.id[:sim.agents.count]) == sorted(set(range(40)) - set(dead))


@pytest.mark.quick
def test_newcomers_of_a_step_take_part_in_its_interaction() -> None:
    """With radius 200 a bird of this world has a neighbour."""
    with_births, without = (simulation(**{**PAGE, "flock__sight": 200, "life__births_per_s": rate}) for rate in (60, 0))
    for sim in (with_births, without):
        sim.step()
    born, others = with_births.agents.by_id(), without.agents.by_id()
    assert born.id[200:].tolist() == [200] and born.next_update[200] > 0 and born.avoidance_x[200] != 0
    assert (born.avoidance_x[:200] != others.avoidance_x).any()


# --- Events ----------------------------------------------------------------------------------------------------------

def eventful(*happens: dict[str, Any], **settings: Any) -> Simulation:
    return events(*happens, **{**PAGE, **settings})


@pytest.mark.quick
@pytest.mark.parametrize(("at", "step_hz"), [(0, 60), (0.1, 60), (0.07, 100), (1 / 3, 37), (0.123, 60), (0.05, 7)])
def test_an_event_is_due_at_the_first_tick_that_is_not_before_its_time(at: float, step_hz: float) -> None:
    """0.07 * 100 is 7.000000000000001."""
    sim = eventful({"at": at, "end": True}, agents=1, time__step_hz=step_hz)
    due = next(tick for tick in range(100) if tick >= math.ceil(at * step_hz - 1e-6))
    assert sim.play(100) == due == sim.tick


@pytest.mark.quick
@pytest.mark.parametrize(("seconds", "step_hz"), [(0.125, 60), (0.125, 20), (0.1, 4), (2.5, 1), (0.2, 17)])
def test_a_force_of_an_event_acts_for_the_rounded_number_of_ticks(seconds: float, step_hz: float) -> None:
    sim = eventful({"tick": 2, "do": {"scare": {"at": [500, 350], "seconds": seconds}}}, agents=1, time__step_hz=step_hz)
    ticks, acted = max(round(seconds * step_hz), 1), []
    for tick in range(ticks + 5):
        sim.let_events_happen()
        acted += [tick] * len(sim.forces.present)
        sim.step()
    assert acted == [*range(2, 2 + ticks)]


def crosses(p: Sequence[float], q: Sequence[float], a: Sequence[float], b: Sequence[float]) -> bool:
    """Whether the step from p to q crosses the line from a to b."""
    before, after = ((b[0] - a[0]) * (r[1] - a[1]) - (b[1] - a[1]) * (r[0] - a[0]) for r in (p, q))
    if after == 0 or before * after > 0:
        return False
    m = [p[axis] + (q[axis] - p[axis]) * (before / (before - after)) for axis in (0, 1)]
    along = ((m[0] - a[0]) * (b[0] - a[0]) + (m[1] - a[1]) * (b[1] - a[1])) / ((b[0] - a[0])**2 + (b[1] - a[1])**2)
    return 0 <= along <= 1


@pytest.mark.quick
def test_a_line_counts_the_steps_that_cross_it() -> None:
    """Points of a small grid, so many steps begin or end on the line, or meet its ends."""
    rng, found = np.random.default_rng(3), []
    for a, b, *steps in rng.integers(0, 5, (60, 42, 2)).tolist():
        if a != b:
            p, q = np.array(steps[::2], F), np.array(steps[1::2], F)
            expected = sum(crosses(*step, a, b) for step in zip(p.tolist(), q.tolist(), strict=True))
            assert sum(across(p[:, 0], p[:, 1], q[:, 0], q[:, 1], Line(*a, *b))) == expected, (a, b)
            found.append(expected)
    assert 100 < sum(found) < 800


# --- Actions ---------------------------------------------------------------------------------------------------------

@pytest.mark.quick
@pytest.mark.parametrize(("x", "y", "radius"), [(470, 330, 150), (520.5, 690, 0), (980, 640, 120), (281.25, 93.75, 62.5)])
def test_newcomers_have_the_lowest_free_ids_and_places_near_the_point(x: float, y: float, radius: float) -> None:
    """Four tiles have walls; in the last case the middles of others are just as far as the radius."""
    sim = simulation(**PAGE)
    sim.set_walls((6, 4, 8, 6), True)
    sim.step(7)
    sim.apply(TakeOut(500, 350, 250))
    left, seed = sim.agents.by_id(), key(SEED, 7, BIRTH) & 0x7FFFFFFF
    sim.apply(BringIn(90, x, y, radius))
    free, now = sorted(set(range(400)) - set(left.id.tolist()))[:90], sim.agents.by_id()
    tiles = [tile for tile in range(COLUMNS * ROWS) if not (tile % COLUMNS in (6, 7) and tile // COLUMNS in (4, 5))
             and (tile == int(y // TILE) * COLUMNS + int(x // TILE)
                  or ((tile % COLUMNS + 0.5) * TILE - x)**2 + ((tile // COLUMNS + 0.5) * TILE - y)**2 <= radius * radius)]
    assert sorted(now.id) == sorted([*left.id.tolist(), *free]) and len(left.id) < 190
    new = np.isin(now.id, free)
    places = [place(identity, tiles, seed)[:2] for identity in free]
    assert places == list(zip(now.x[new], now.y[new], strict=True))
    low, high = sim.config.flock.speed_min, sim.config.flock.speed_max
    velocities = [bird_velocity(identity, *at, low, high, seed) for identity, at in zip(free, places, strict=True)]
    assert velocities == list(zip(now.vx[new], now.vy[new], strict=True)) and not now.next_update[new].any()


@pytest.mark.quick
def test_who_is_taken_out_is_no_farther_in_float32() -> None:
    """The radius is that of one of them as float32 has it, and of none as float64 has it."""
    sim = simulation(**PAGE)
    all_of = sim.agents.by_id()
    offsets = [(x - F(500.3), y - F(350.1)) for x, y in zip(all_of.x, all_of.y, strict=True)]
    far = [dx * dx + dy * dy for dx, dy in offsets]
    radii = sorted(float(np.sqrt(d)) for (dx, dy), d in zip(offsets, far, strict=True)
                   if d <= np.sqrt(d) * np.sqrt(d) and float(dx)**2 + float(dy)**2 > float(np.sqrt(d))**2)
    radius = radii[len(radii) // 2]
    gone = [identity for identity, d in zip(IDS, far, strict=True) if d <= F(radius) * F(radius)]
    sim.apply(TakeOut(500.3, 350.1, radius))
    assert sorted(sim.agents.by_id().id) == sorted(set(IDS) - set(gone)) and 5 < len(gone) < 195
    sim.apply(Populate(len(IDS)))
    assert sorted(sim.agents.by_id().id) == [*IDS]


# --- Units and types: constants --------------------------------------------------------------------------------------

@pytest.mark.quick
@pytest.mark.parametrize(("response", "step_hz"), [(7.3, 37), (0.1, 3), (900, 60)])
def test_response_and_dt_are_one_constant(response: float, step_hz: float) -> None:
    for behaviour in ("crowd", "crates"):
        rules = refresh_rules(simulation(**{**PAGE, "agents": 2, "behaviour": behaviour, "time__step_hz": step_hz,
                                            f"{behaviour}__response": response}))
        assert rules.follow == F(min(1, response * (1 / step_hz))) and rules.dt == F(1 / step_hz)


@pytest.mark.quick
@pytest.mark.parametrize(("setting", "square"), [
    ("crowd.radius", "radius_sq"), ("crowd.gap", "gap_sq"), ("crowd.arrive", "arrive_sq"), ("flock.sight", "sight_sq"),
    ("flock.separation", "separation_sq"), ("crates.speed_max", "speed_max_sq"), ("hunt.fear", "fear_sq")])
def test_squares_are_products_in_float32(setting: str, square: str) -> None:
    """Not powers: glibc's `powf` rounds that of 34.39 otherwise, and NumPy 1 makes a float64 of it."""
    rules = refresh_rules(simulation(**{**PAGE, "agents": 2, "behaviour": setting.partition(".")[0],
                                        setting.replace(".", "__"): 34.39}))
    found = getattr(rules, square)
    assert found == F(34.39) * F(34.39) and found.dtype == F


# --- The state and its hash ------------------------------------------------------------------------------------------

FLOCK = "id, x, y, vx, vy, avoidance_x, avoidance_y, next_update"
CRATES = FLOCK + ", half"
HUNT = FLOCK + ", kind"
CROWD = FLOCK + ", speed, goal, goal_x, goal_y, heading_x, heading_y, goal_visible, state, timer"
WHOLE = {"id", "next_update", "goal", "goal_visible", "state", "kind"}


@pytest.mark.parametrize("behaviour, names", [("flock", FLOCK), ("crowd", CROWD), ("crates", CRATES), ("hunt", HUNT)])
def test_the_hash_is_made_as_the_page_says(behaviour: str, names: str) -> None:
    sim = simulation(**{**PAGE, "agents": 3, "behaviour": behaviour}, steps=2)
    shuffle(sim, 2)
    slots = sorted(range(3), key=lambda slot: int(sim.agents.columns.id[slot]))
    text = b"2 3"
    for name in names.split(", "):
        column = getattr(sim.agents.columns, name)
        text += struct.pack("<3i" if name in WHOLE else "<3f", *(column[slot].item() for slot in slots))
    assert slots != [0, 1, 2] and len(text) == 3 + 12 * len(names.split(", "))
    assert sim.state_hash() == hashlib.blake2b(text, digest_size=16).hexdigest()


@pytest.mark.quick
def test_tiles_of_an_open_world_are_as_the_page_says() -> None:
    walls = simulation(**{**PAGE, "agents": 0}).terrain.walls
    longer = max(WIDTH, HEIGHT)
    assert float(walls.tile) == TILE == math.ceil(longer / max(round(longer / 64), 1) * 256) / 256
    assert walls.blocked.shape == (ROWS, COLUMNS) == (math.ceil(HEIGHT / TILE), math.ceil(WIDTH / TILE))


# --- The world and the crowd: words that no formula holds ------------------------------------------------------------

def drawn(folder: Path, *rows: str, **settings: Any) -> Simulation:
    """A crowd on a map, a tile of which is 64 units."""
    path = folder / "drawn.map"
    path.write_text("\n".join([f"height {len(rows)}", f"width {len(rows[0])}", "map", *rows, ""]), "utf-8")
    size = {"world__width": 64 * len(rows[0]), "world__height": 64 * len(rows)}
    return simulation(**{"map": path, "agents": 40, **size, **settings})


def areas_of(sim: Simulation) -> Any:
    """The destinations with their areas."""
    return next(part.areas for part in sim.parts if isinstance(part, WaysOut))


@pytest.mark.quick
def test_a_destination_that_moves_is_as_wide_as_a_tile_and_a_reset_gives_back_what_others_left(tmp_path: Path) -> None:
    sim = drawn(tmp_path, "00..1", "00...", agents=0)

    def widths() -> list[float]:
        """A reach of which nothing but the width is left without agents."""
        return [math.sqrt(reach) for reach in areas_of(sim).reach_sq(sim.terrain.goals)]

    first = sim.terrain.destinations
    assert widths() == [64, 32]
    sim.apply(SetGoal(0, 3))
    assert widths() == [32, 32] and (sim.terrain.destinations[0].x, sim.terrain.destinations[0].y) == (3.5 * 64, 32)
    sim.apply(SetGoal(1, 0))
    sim.apply(AddGoal(160, 100))
    assert widths() == [32, 32, 32] and sim.terrain.marks.tolist() == [[1, -1, -1, 0, -1], [-1, -1, 2, -1, -1]]
    sim.apply(SetGoal(0, -2))
    assert widths() == [64, 32, 32] and sim.terrain.destinations[0] == first[0]
    assert sim.terrain.marks.tolist() == [[1, 0, -1, -1, -1], [0, 0, 2, -1, -1]]
    sim.apply(SetGoal(2, -2))
    assert widths() == [64, 32, 0] and sim.terrain.marks.max() == 1


@pytest.mark.quick
def test_a_destination_that_was_drawn_keeps_its_width_when_it_moves() -> None:
    sim = simulation(**{**PAGE, "agents": 0, "behaviour": "crowd", "crowd__destinations": 2, "crowd__destination_spread": 40})
    sim.apply(SetGoal(0, next(tile for tile in range(9) if sim.terrain.marks.flat[tile] < 0)))
    assert areas_of(sim).reach_sq(sim.terrain.goals).tolist() == [1600, 1600]


@pytest.mark.quick
@pytest.mark.parametrize("tile", [3, -1, -2])
def test_people_on_the_way_to_a_destination_that_moves_keep_their_timers(tmp_path: Path, tile: int) -> None:
    sim = drawn(tmp_path, "00..1", "00...", agents=8)
    sim.apply(SetGoal(0, 2))
    c: Any = sim.agents.columns
    states, timers = [WALKING, WAITING, STUCK, QUEUING] * 2, [0.5, 1, 1.5, 2] * 2
    c.state[:8], c.timer[:8], c.goal[:8], c.goal_x[:8], c.goal_visible[:8] = states, timers, [0] * 4 + [1] * 4, 5, 1
    sim.apply(SetGoal(0, tile))
    gone = tile == -1
    assert c.state[:8].tolist() == [WAITING if gone or state == WAITING else WALKING for state in states[:4]] + states[4:]
    assert c.timer[:8].tolist() == ([0, 1, 0, 0] if gone else timers[:4]) + timers[4:]
    x = sim.terrain.destinations[0].x
    assert c.goal_x[:8].tolist() == ([5] * 4 if gone else [x, 5, x, x]) + [5] * 4
    assert c.goal_visible[:8].tolist() == ([1] * 4 if gone else [0, 1, 0, 0]) + [1] * 4


@pytest.mark.quick
def test_a_destination_with_a_number_of_an_exit_is_one_until_that_is_changed(tmp_path: Path) -> None:
    sim = drawn(tmp_path, "0...1", "....2", crowd__exits=4)
    sim.apply(AddGoal(100, 100))
    sim.apply(AddGoal(160, 100))
    assert areas_of(sim).refreshed().exits.tolist() == [1, 1, 1, 1, 0]
    for action in (SetExit(3, False), SetExit(4, True), SetGoal(3, -1), SetGoal(4, -1), AddGoal(224, 100), AddGoal(160, 100)):
        sim.apply(action)
    assert areas_of(sim).refreshed().exits.tolist() == [1, 1, 1, 0, 1]


POND = "0....", ".WW..", ".WW.1"


@pytest.mark.quick
def test_a_wall_built_on_water_changes_nothing_and_tearing_down_leaves_it(tmp_path: Path) -> None:
    one, other = drawn(tmp_path, *POND), drawn(tmp_path, *POND)
    for step in range(120):
        if step % 40 == 10:
            other.set_walls((1, 1, 3, 2), step % 80 == 10)
        one.step()
        other.step()
        assert one.state_hash() == other.state_hash(), step
    assert np.array_equal(one.terrain.blocked, other.terrain.blocked) and one.terrain.blocked.sum() == 4


@pytest.mark.quick
def test_where_there_is_no_free_tile_near_they_are_removed_and_nobody_is_added_where_there_is_none(tmp_path: Path) -> None:
    sim = drawn(tmp_path, "0" + "." * 17 + "1", agents=400)
    columns = sim.agents.by_id()
    away = np.floor(columns.x / 64)
    sim.set_walls((1, 0, 19, 1), True)
    stayed = sim.agents.by_id()
    near = away <= 16
    assert np.array_equal(stayed.id, columns.id[near]) and not near.all() and (stayed.x[away[near] > 0] == 32).all()
    sim.set_walls((0, 0, 1, 1), True)
    sim.populate(9)
    assert sim.agents.count == 0
    sim.set_walls((5, 0, 6, 1), False)
    sim.populate(9)
    assert sim.agents.count == 9 and (sim.agents.handles.generations[:9] == 1).all()


@pytest.mark.quick
def test_when_no_area_has_a_tile_goal_and_sees_stay_and_the_person_walks(tmp_path: Path) -> None:
    sim = drawn(tmp_path, "0..", "..1", crowd__room=1)
    sim.set_walls((0, 0, 1, 1), True)
    sim.set_walls((2, 1, 3, 2), True)
    c: Any = sim.agents.columns
    c.goal_x[:40], c.goal_visible[:40] = 77, 1
    born: Any = sim.agents.by_id()
    sim.step()
    now: Any = sim.agents.by_id()
    assert set(born.state) == {WAITING} and set(now.state) == {WALKING}
    assert all(np.array_equal(getattr(born, name), getattr(now, name)) for name in ("goal", "goal_x", "goal_y",
                                                                                    "goal_visible"))


@pytest.mark.quick
def test_who_has_left_by_an_exit_no_longer_counts_where_others_queue(tmp_path: Path) -> None:
    sim = drawn(tmp_path, "0......1", agents=2, crowd__exits=2, crowd__room=1, crowd__area_per_person=4096)
    sim.step()
    c: Any = sim.agents.columns
    point = sim.terrain.destinations[0]
    c.x[:2], c.y[:2], c.goal[:2], c.goal_x[:2], c.goal_y[:2] = (point.x, 90), point.y, 0, point.x, point.y
    c.goal_x[0], c.state[:2], c.timer[:2] = point.x + 5, (WAITING, QUEUING), (9, 0)
    sim.step()
    assert c.state[:2].tolist() == [WALKING, WALKING] and c.goal_x[1] != point.x, "one left, one was let in"


@pytest.mark.quick
def test_who_waits_at_the_point_holds_a_place_though_there_was_none(tmp_path: Path) -> None:
    """Outside and waiting: who arrived while the destination was walled in, and the wall is gone."""
    sim = drawn(tmp_path, "0......1", agents=2, crowd__arrive=50, crowd__room=1, crowd__area_per_person=4096)
    sim.step()
    sim.set_walls((0, 0, 1, 1), True)
    c: Any = sim.agents.columns
    point = sim.terrain.destinations[0]
    c.x[:2], c.y[:2], c.goal[:2], c.goal_x[:2], c.goal_y[:2] = (75, 400), point.y, 0, point.x, point.y
    c.state[:2] = WALKING
    sim.step()
    assert c.state[0] == WAITING
    sim.set_walls((0, 0, 1, 1), False)
    c.state[1], c.x[1] = QUEUING, 80
    sim.step()
    assert c.state[:2].tolist() == [WAITING, QUEUING]

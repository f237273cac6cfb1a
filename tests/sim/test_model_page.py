"""docs/model.md alone suffices: birth and hash of a crowd in plain Python, written from the page and not from the program."""

from __future__ import annotations

import hashlib
import math
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from crowds import open_world, refresh_rules, shuffle, simulation

from crowd_demo.sim.behaviours.people_rules import QUEUING, WAITING, WALKING
from crowd_demo.sim.simulation import Simulation

F = np.float32
SPEED, SIZE, HEADING, SPAWN, PLACES, DESTINATIONS = 1, 1, 2, 4, 64, 65
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

def place(identity: int) -> tuple[Any, Any, int]:
    """(x, y) and in how many draws they were found."""
    for draws in range(1, 100):
        tile, across, down = (below(n, identity, key(SEED, 3 * (draws - 1) + number, PLACES))
                              for number, n in enumerate((COLUMNS * ROWS, 1024, 1024)))
        row, column = divmod(tile, COLUMNS)
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


def bird_velocity(identity: int, x: Any, y: Any, low: float, high: float) -> tuple[Any, Any]:
    speed = low + (high - low) * part(identity, key(SEED, 0, SPEED))
    half = max(WIDTH, HEIGHT) / 2
    a, b = float(x) / half, float(y) / half
    wind = cosine(a + 0.3 * cosine(b)) + cosine(b * 1.3 - a * 0.4 + 0.2)
    t = wind / 2 + (part(identity, key(SEED, 0, HEADING)) - 0.5) / 4
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
    sim = simulation(**{**PAGE, "agents": 3, "behaviour": behaviour})
    sim.step(2)
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


@pytest.mark.quick
def test_predators_and_prey_find_pairs_also_by_the_structure_field() -> None:
    hunt = {"behaviour": "hunt", "agents": 300, **open_world(500, 400)}
    crowds = [simulation(**hunt, optimizations__neighbours=name) for name in ("sorted", "field")]
    for crowd in crowds:
        crowd.step(20)
    assert crowds[0].state_hash() == crowds[1].state_hash()

"""Slow, obvious versions of every kernel of the simulation: brute force over all pairs, one agent at a time.

They follow docs/model.md. Where the model fixes the rounding, they do it in float32 and integers and the kernels must agree
to the last bit; `*_ideal` are the same rules in float64 without any rounding.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from reference_terrain import reference_sees

F = np.float32
WALKING, WAITING, STUCK, QUEUING = range(4)


# --- neighbours ------------------------------------------------------------------------------------------------------

def offsets(x: Any, y: Any) -> tuple[Any, Any, Any]:
    """(dx, dy, distance squared) from each agent (row) to each (column), in float32."""
    dx, dy = x[None, :] - x[:, None], y[None, :] - y[:, None]
    return dx, dy, dx * dx + dy * dy


def crowd_push(x: Any, y: Any, rules: Any) -> tuple[Any, Any, Any]:
    """(push_x, push_y, neighbours) of every walker, as the model rounds it."""
    dx, dy, distance_sq = offsets(x, y)
    seen = (distance_sq < rules.radius_sq) & ~np.eye(len(x), dtype=bool)
    apart = seen & (distance_sq > 0)
    distance = np.sqrt(np.where(apart, distance_sq, F(1)))
    near = F(1) - distance * rules.inv_radius
    weight = near * near / distance * F(4096)
    sums = [np.where(apart, weight * -d, F(0)).astype(np.int32).sum(axis=1) for d in (dx, dy)]
    return sums[0].astype(F) * F(1 / 4096), sums[1].astype(F) * F(1 / 4096), seen.sum(axis=1)


def crowd_push_ideal(x: Any, y: Any, rules: Any) -> tuple[Any, Any]:
    """Avoidance in float64, one walker at a time: sum of (1 - d / r)^2 away from each neighbour."""
    push = np.zeros((len(x), 2))
    for i in range(len(x)):
        for j in range(len(x)):
            away = np.array([float(x[i]) - float(x[j]), float(y[i]) - float(y[j])])
            d = math.hypot(*away)
            if 0 < d < 1 / float(rules.inv_radius):
                push[i] += (1 - d * float(rules.inv_radius)) ** 2 * away / d
    return push[:, 0], push[:, 1]


def crowd_anticipate(c: Any, rules: Any) -> tuple[Any, Any, Any]:
    """(push_x, push_y, neighbours) of every walker that looks ahead, as the model rounds it."""
    one, half, waits = F(1), F(0.5), (c.state == WAITING) | (c.state == QUEUING)
    ahead_x, ahead_y = (np.where(waits, F(0), heading)[:, None] for heading in (c.heading_x, c.heading_y))
    dx, dy, distance_sq = offsets(c.x, c.y)
    seen = (distance_sq < rules.radius_sq) & ~np.eye(len(c.x), dtype=bool)
    apart = seen & (distance_sq > 0)
    distance = np.sqrt(np.where(apart, distance_sq, one))
    view = rules.behind + (one - rules.behind) * (half + half * ((dx * ahead_x + dy * ahead_y) / distance))
    near = one - distance * rules.inv_radius
    weight = near * near / distance * F(-4096)
    away = [np.where(apart, weight * d, F(0)).astype(np.int32).sum(axis=1) for d in (dx, dy)]
    closing_x, closing_y = c.vx[:, None] - c.vx[None, :], c.vy[:, None] - c.vy[None, :]
    time = (dx * closing_x + dy * closing_y) / (closing_x * closing_x + closing_y * closing_y + one)
    then_x, then_y = dx - closing_x * time, dy - closing_y * time
    miss_sq = then_x * then_x + then_y * then_y
    meets = apart & (time > 0) & (time < rules.ahead) & (miss_sq < rules.gap_sq)
    miss_sq = np.where(meets, miss_sq, F(0))
    close = one - np.sqrt(miss_sq) * rules.inv_gap
    strength = rules.aside * (one - np.where(meets, time, F(0)) * rules.inv_ahead) * (close * close) * view
    right = np.where(meets, then_y * ahead_x - then_x * ahead_y, F(0)) / np.sqrt(miss_sq + F(16))
    turns = np.where(meets, strength * (right + F(0.2)) * F(-4096), F(0)).astype(np.int32).sum(axis=1)
    side = np.clip(turns.astype(F) * F(1 / 4096), F(-1), F(1))
    scale = one / np.sqrt(one + side * side)
    ex, ey = ahead_x[:, 0], ahead_y[:, 0]
    turned_x, turned_y = (ex - ey * side) * scale, (ey + ex * side) * scale
    share = rules.away * F(1 / 4096)
    return away[0].astype(F) * share + (turned_x - ex), away[1].astype(F) * share + (turned_y - ey), seen.sum(axis=1)


def contact_shift(ids: Any, x: Any, y: Any, body: float) -> tuple[Any, Any]:
    """One pass of contact: how far everybody moves out of everybody else, walls aside; one pair at a time."""
    reach, longest = F(2 * body), F(body * (1 / 3))
    shift_x, shift_y = np.zeros(len(x), F), np.zeros(len(x), F)
    for i in range(len(x)):
        count, sum_x, sum_y = 0, 0, 0
        for j in range(len(x)):
            dx, dy = x[i] - x[j], y[i] - y[j]
            distance_sq = dx * dx + dy * dy
            if i == j or not distance_sq < reach * reach:
                continue
            count += 1
            if distance_sq > 0:
                distance = np.sqrt(distance_sq)
                weight = (reach - distance) / distance * F(2048)
                sum_x, sum_y = sum_x + int(weight * dx), sum_y + int(weight * dy)
            else:
                key = scramble(int(ids[i]) ^ int(ids[j]))
                half = (-longest if ids[i] < ids[j] else longest) * F(4096)
                sum_x, sum_y = sum_x + int(half * chance(key, 1)), sum_y + int(half * chance(key, 2))
        scale = F(1 / 4096) / (F(1) + F(0.2) * F(max(count - 1, 0)))
        to_x, to_y = F(sum_x) * scale, F(sum_y) * scale
        length = np.sqrt(to_x * to_x + to_y * to_y)
        if length > longest:
            to_x, to_y = to_x * (longest / length), to_y * (longest / length)
        shift_x[i], shift_y[i] = to_x, to_y
    return shift_x, shift_y


def crate_push(x: Any, y: Any, half: Any, rules: Any) -> tuple[Any, Any, Any]:
    """(push_x, push_y, neighbours) of every crate, as the model rounds it."""
    dx, dy = x[:, None] - x[None, :], y[:, None] - y[None, :]
    sideways = np.abs(dx) > np.abs(dy)
    away = np.where(sideways, np.abs(dx), np.abs(dy))
    depth = half[:, None] + (half + rules.gap)[None, :] - away
    touching = (depth > 0) & ~np.eye(len(x), dtype=bool)
    share = np.minimum(half[None, :] * (F(0.5) / half)[:, None], F(1))
    term = (np.where(touching, depth, F(0)) * share * F(256)).astype(np.int32).astype(np.int64)
    term = np.where(away > 0, np.where(np.where(sideways, dx, dy) < 0, -term, term), 0)
    sums = [np.where(chosen, term, 0).sum(axis=1).astype(np.int32) for chosen in (sideways, ~sideways)]
    return sums[0].astype(F) * F(1 / 256), sums[1].astype(F) * F(1 / 256), touching.sum(axis=1)


def crate_push_ideal(x: Any, y: Any, half: Any, rules: Any) -> tuple[Any, Any]:
    """Crates in float64, one at a time: out of each neighbour along the axis on which they are farther apart."""
    push = np.zeros((len(x), 2))
    for i in range(len(x)):
        for j in range(len(x)):
            away = np.array([float(x[i]) - float(x[j]), float(y[i]) - float(y[j])])
            axis = 0 if abs(away[0]) > abs(away[1]) else 1
            depth = float(half[i]) + float(half[j]) + float(rules.gap) - abs(away[axis])
            if i != j and depth > 0:
                push[i, axis] += np.sign(away[axis]) * depth * min(float(half[j]) / float(half[i]) / 2, 1)
    return push[:, 0], push[:, 1]


# --- cells -----------------------------------------------------------------------------------------------------------

def cell_lists(x: Any, y: Any, cell: float, columns: int, rows: int) -> list[list[int]]:
    """Slots of each cell in slot order."""
    lists: list[list[int]] = [[] for _ in range(columns * rows)]
    inverse = F(1 / cell)
    for slot in range(len(x)):
        column, row = min(int(x[slot] * inverse), columns - 1), min(int(y[slot] * inverse), rows - 1)
        lists[row * columns + column].append(slot)
    return lists


# --- chance ----------------------------------------------------------------------------------------------------------

def scramble(value: int) -> int:
    """lowbias32 in Python's own integers; returns the signed number that an int32 holds."""
    h = value & 0xFFFFFFFF
    for shift, factor in ((16, 0x7FEB352D), (15, 0x846CA68B), (16, 1)):
        h = (h ^ h >> shift) * factor & 0xFFFFFFFF
    return h - (1 << 32) if h >> 31 else h


def chance(identity: int, key: int) -> Any:
    """float32 in [-1, 1)."""
    return F(scramble(int(identity) ^ int(key))) * F(2.0**-31)


# --- moving ----------------------------------------------------------------------------------------------------------

def between(value: Any, low: Any, high: Any) -> Any:
    value = value if value > low else low
    return value if value < high else high


def tile_under(ground: Any, x: Any, y: Any) -> int:
    return int(y * ground.inv_tile) * ground.columns + int(x * ground.inv_tile)


def slide(ground: Any, x: Any, y: Any, dx: Any, dy: Any) -> tuple[Any, Any]:
    """Axis by axis; a leading edge in a solid tile refuses the axis."""
    zero = F(0)
    dx, dy = between(dx, -ground.longest, ground.longest), between(dy, -ground.longest, ground.longest)
    to_x, to_y = between(x + dx, zero, ground.limit_x), between(y + dy, zero, ground.limit_y)
    ahead = between(to_x + (-ground.body if dx < 0 else ground.body), zero, ground.limit_x)
    if ground.solid[tile_under(ground, ahead, y)]:
        to_x = x
    ahead = between(to_y + (-ground.body if dy < 0 else ground.body), zero, ground.limit_y)
    if ground.solid[tile_under(ground, to_x, ahead)]:
        to_y = y
    return to_x, to_y


def _wave(turns: Any) -> Any:
    z = (turns - F(int(turns))) * F(2) - F(1)
    return F(4) * z * (abs(z) - F(1))


def crate_move(columns: dict[str, Any], rules: Any, ground: Any) -> None:
    """One step of every crate, in place."""
    c = columns
    for i in range(len(c["id"])):
        x, y, half, wanted = c["x"][i], c["y"][i], c["half"][i], []
        across, down = x * rules.turns_x, y * rules.turns_y
        water = (rules.flow_x * (_wave(across) * _wave(down + F(0.25))),
                 rules.flow_y * (_wave(across + F(0.25)) * _wave(down)))
        for flow, axis, p, length in zip(water, "xy", (x, y), (rules.width, rules.height), strict=True):
            outside = max(half - p, F(0)) - max(half - (length - p), F(0))
            wanted.append(flow + rules.push * (c[f"push_{axis}"][i] + outside))
        vx, vy = (v + (want - v) * rules.follow for v, want in zip((c["vx"][i], c["vy"][i]), wanted, strict=True))
        speed_sq = vx * vx + vy * vy
        scale = rules.speed_max / np.sqrt(speed_sq) if speed_sq > rules.speed_max_sq else F(1)
        vx, vy = vx * scale, vy * scale
        c["x"][i], c["y"][i] = slide(ground, x, y, rules.dt * vx, rules.dt * vy)
        c["vx"][i], c["vy"][i] = vx, vy


def claimed_tiles(terrain: Any, radius_sq: Any) -> Any:
    """int[H, W]: the destination to which a tile belongs, or -1."""
    owner, walls = np.full(terrain.blocked.shape, -1), terrain.walls
    for (row, column), blocked in np.ndenumerate(terrain.blocked):
        near = []
        x, y = (F(F(number) * walls.tile + min(F(number) * walls.tile + walls.tile, end)) * F(0.5)
                for number, end in ((column, walls.width), (row, walls.height)))
        for number, place in enumerate(terrain.destinations):
            dx, dy = F(place.x) - x, F(place.y) - y
            if dx * dx + dy * dy < radius_sq[number] and is_seen(walls, (F(place.x), F(place.y)), (x, y)):
                near.append((dx * dx + dy * dy, number))
        if not blocked:
            marked = int(terrain.marks[row, column])
            owner[row, column] = marked if marked >= 0 else min(near)[1] if near else -1
    return owner


def admission(c: dict[str, Any], places: Any, disc: Any) -> tuple[list[set[int]], Any]:
    """The ids that each destination lets in, and how far its queue reaches, squared."""
    admitted, reach_sq = [], []
    for goal in range(len(places.first) - 1):
        mine = [i for i in range(len(c["id"])) if c["goal"][i] == goal]
        queue = []
        for i in mine:
            if c["state"][i] == QUEUING:
                dx, dy = places.x[goal] - c["x"][i], places.y[goal] - c["y"][i]
                queue.append((int(dx * dx + dy * dy), int(c["id"][i])))
        held = sum(c["state"][i] != QUEUING and (c["state"][i] == WAITING or not _is_outside(c, i, places)) for i in mine)
        free = int(places.capacity[goal]) - held
        admitted.append({identity for _, identity in (queue if len(queue) <= free else sorted(queue)[:min(max(free, 0), 1)])})
        reach_sq.append(F(places.capacity[goal] + len(queue)) * disc)
    return admitted, np.array(reach_sq, F)


def _is_outside(c: Any, i: int, places: Any) -> bool:
    goal = c["goal"][i]
    dx, dy = c["goal_x"][i] - places.x[goal], c["goal_y"][i] - places.y[goal]
    return bool(dx * dx + dy * dy <= 0)


def crowd_move(columns: dict[str, Any], rules: Any, places: Any, ground: Any, walls: Any) -> None:
    """One step of every walker, in place: states and goals, wanted velocity, motion, progress."""
    admitted, reach_sq = admission(columns, places, rules.disc)
    for i in range(len(columns["id"])):
        agent = {name: column[i] for name, column in columns.items()}
        _change_state(agent, rules, places, admitted, reach_sq, ground, walls)
        _walk(agent, rules, ground)
        for name, column in columns.items():
            column[i] = agent[name]


def _change_state(a: dict[str, Any], rules: Any, places: Any, admitted: Any, reach_sq: Any, ground: Any, walls: Any) -> None:
    if a["state"] == WAITING:
        a["timer"] = a["timer"] - rules.dt
        if a["timer"] <= 0:
            choose = _choose_destination if rules.disc > 0 else _choose_around
            choose(a, rules, places, ground)
            a["state"], a["timer"] = WALKING, F(0)
        return
    if a["state"] == QUEUING and int(a["id"]) in admitted[a["goal"]]:
        _choose_place(a, rules, places, ground, walls)
    outside = places.capacity[a["goal"]] > 0 and _is_outside({name: [value] for name, value in a.items()}, 0, places)
    dx, dy = a["goal_x"] - a["x"], a["goal_y"] - a["y"]
    distance_sq, stuck = dx * dx + dy * dy, a["state"] == STUCK
    if a["state"] == QUEUING:
        a["state"] = WALKING
    if outside:
        if distance_sq < reach_sq[a["goal"]]:
            a["state"], a["timer"] = QUEUING, F(0)
    elif distance_sq < rules.arrive_sq * F(16 if stuck else 1):
        a["state"], a["timer"] = WAITING, rules.wait


def below(size: int, identity: int, key: int) -> int:
    return (scramble(int(identity) ^ key) & 0xFFFFFFFF) * size >> 32


def _choose_destination(a: dict[str, Any], rules: Any, places: Any, ground: Any) -> None:
    owners = [goal for goal in range(len(places.first) - 1) for _ in range(places.first[goal + 1] - places.first[goal])]
    drawn = [goal for goal in owners if goal != a["goal"]] or owners
    if drawn:
        goal = drawn[below(len(drawn), a["id"], int(rules.goal_key))]
        a["goal"], a["goal_x"], a["goal_y"], a["sees"] = goal, places.x[goal], places.y[goal], 0


def _choose_around(a: dict[str, Any], rules: Any, places: Any, ground: Any) -> None:
    count = len(places.first) - 1
    if count == 0:
        return
    keys = [int(rules.goal_key)]
    for _ in range(2):
        keys.append(scramble(keys[-1]))
    goal = (int(a["goal"]) + 1 + (scramble(int(a["id"]) ^ keys[0]) & 0xFFFFFFFF) % max(count - 1, 1)) % count
    x, y = (point[goal] + places.spread[goal] * chance(a["id"], key)
            for point, key in ((places.x, keys[1]), (places.y, keys[2])))
    inside = 0 <= x <= ground.limit_x and 0 <= y <= ground.limit_y
    if not inside or ground.solid[tile_under(ground, x, y)]:
        x, y = places.x[goal], places.y[goal]
    a["goal"], a["goal_x"], a["goal_y"], a["sees"] = goal, x, y, 0


def _choose_place(a: dict[str, Any], rules: Any, places: Any, ground: Any, walls: Any) -> None:
    goal = a["goal"]
    tiles = [(int(tile), goal) for tile in places.tiles[places.first[goal]:places.first[goal + 1]]]
    a["goal_x"], a["goal_y"], _ = _draw_place(tiles, a["id"], int(rules.goal_key), places, ground, walls)
    a["sees"] = 0


def _draw_place(tiles: list[tuple[int, int]], identity: int, key: int, places: Any, ground: Any, walls: Any) -> Any:
    """(x, y, destination) in one of those tiles, each given with its destination."""
    for _ in range(8):
        tile, goal = tiles[below(len(tiles), identity, key)]
        row, column = divmod(tile, ground.columns)
        key = scramble(key)
        x = min((F(column) + (F(0.5) + F(0.49) * chance(identity, key))) * walls.tile, ground.limit_x)
        key = scramble(key)
        y = min((F(row) + (F(0.5) + F(0.49) * chance(identity, key))) * walls.tile, ground.limit_y)
        key = scramble(key)
        if is_seen(walls, (places.x[goal], places.y[goal]), (x, y)):
            break
    return x, y, goal


def people_exchanged(columns: dict[str, Any], rules: Any, places: Any, ground: Any, walls: Any) -> None:
    """Who has arrived at an exit leaves, and another comes in; in place."""
    exits = range(min(int(rules.exits), len(places.first) - 1))
    tiles = [(int(tile), goal) for goal in exits for tile in places.tiles[places.first[goal]:places.first[goal + 1]]]
    for i in range(len(columns["id"]) if tiles else 0):
        a = {name: column[i] for name, column in columns.items()}
        if a["state"] != WAITING or a["timer"] <= 0 or a["goal"] not in exits:
            continue
        new = {**dict.fromkeys(a, 0), "id": a["id"]}
        new["x"], new["y"], new["goal"] = _draw_place(tiles, a["id"], int(rules.place_key), places, ground, walls)
        _choose_destination(new, rules, places, ground)
        parts, key = 0.0, int(rules.speed_key)
        for _ in range(int(rules.speed_draws)):
            parts, key = parts + ((scramble(int(a["id"]) ^ key) & 0xFFFFFFFF) >> 8) * 2.0**-24, scramble(key)
        new["speed"] = F(rules.speed_min + rules.speed_range * (parts / int(rules.speed_draws)))
        for name, column in columns.items():
            column[i] = new[name]


def is_seen(walls: Any, one: tuple[Any, Any], other: tuple[Any, Any]) -> bool:
    """Line of sight between two points, both rounded down to 1/256 unit."""
    a, b = ((math.floor(float(x) * 256), math.floor(float(y) * 256)) for x, y in (one, other))
    return reference_sees(walls.blocked, int(float(walls.tile) * 256), a, b)


def _walk(a: dict[str, Any], rules: Any, ground: Any) -> None:
    speed, stuck, state = a["speed"], a["state"] == STUCK, a["state"]
    x, y = rules.push * a["push_x"], rules.push * a["push_y"]
    if state not in (WAITING, QUEUING):
        x, y = x + a["heading_x"], y + a["heading_y"]
    x, y = x * speed, y * speed
    if stuck:
        x, y = (x + rules.wiggle * chance(a["id"], rules.wiggle_key_x),
                y + rules.wiggle * chance(a["id"], rules.wiggle_key_y))
    limit = speed * (rules.stuck_top_factor if stuck else rules.top_factor)
    length = np.sqrt(x * x + y * y)
    if length > limit:
        x, y = x * (limit / length), y * (limit / length)
    vx, vy = a["vx"] + (x - a["vx"]) * rules.follow, a["vy"] + (y - a["vy"]) * rules.follow
    to_x, to_y = slide(ground, a["x"], a["y"], rules.dt * vx, rules.dt * vy)
    along = (to_x - a["x"]) * a["heading_x"] + (to_y - a["y"]) * a["heading_y"]
    a["vx"], a["vy"] = (vx if to_x != a["x"] else F(0)), (vy if to_y != a["y"] else F(0))
    a["x"], a["y"] = to_x, to_y
    if state in (WAITING, QUEUING):
        return
    if along < F(0.25) * speed * rules.dt:
        a["timer"] = min(a["timer"] + rules.dt, F(2) * rules.patience)
    else:
        a["timer"] = max(a["timer"] - F(2) * rules.dt, F(0))
    if state == WALKING and a["timer"] > rules.patience:
        a["state"] = STUCK
    elif stuck and a["timer"] <= 0:
        a["state"] = WALKING

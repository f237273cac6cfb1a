"""Slow, obvious versions of every kernel of the simulation: brute force over all pairs, one agent at a time.

They follow docs/model*.md. Where the model fixes the rounding, they do it in float32 and integers and the kernels must agree
to the last bit; `*_ideal` are the same rules in float64 without any rounding.
"""

import math
from typing import Any

import numpy as np

from crowd_demo.sim.behaviours.avoidance import AnticipateRules, SlowDownRules

F = np.float32
WALKING, WAITING, STUCK, QUEUING, CREEPING = range(5)


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


def inv_root(value: Any) -> Any:
    guess = (np.int32(0x5F3759DF) - (np.asarray(value, F).view(np.int32) >> 1)).view(F)
    return guess * (F(1.5) - F(0.5) * value * guess * guess)


def _ahead(c: Any) -> tuple[Any, Any]:
    """The heading of those who walk, 0 of those who stand."""
    stands = (c.state == WAITING) | (c.state == QUEUING)
    return np.where(stands, F(0), c.heading_x), np.where(stands, F(0), c.heading_y)


def _looks_ahead(c: Any, rules: Any, aside: Any, passed: Any = 0) -> tuple[Any, Any, Any, Any, Any]:
    """(turned_x, turned_y, away_x, away_y, neighbours): the heading turned aside, and the push of who is near."""
    one, half = F(1), F(0.5)
    ahead_x, ahead_y = (heading[:, None] for heading in _ahead(c))
    dx, dy, distance_sq = offsets(c.x, c.y)
    seen = (distance_sq < rules.radius_sq) & ~np.eye(len(c.x), dtype=bool)
    apart = seen & (distance_sq > 0)
    distance = np.sqrt(np.where(apart, distance_sq, one))
    view = rules.behind + (one - rules.behind) * (half + half * ((dx * ahead_x + dy * ahead_y) / distance))
    near = one - distance * rules.inv_radius
    weight = near * near / distance * F(-4096)
    away = [np.where(apart, weight * d, F(0)).astype(np.int32).sum(axis=1) for d in (dx, dy)]
    away = [sums.astype(np.int32) for sums in np.array(away) + passed]
    closing_x, closing_y = c.vx[:, None] - c.vx[None, :], c.vy[:, None] - c.vy[None, :]
    time = (dx * closing_x + dy * closing_y) / (closing_x * closing_x + closing_y * closing_y + one)
    then_x, then_y = dx - closing_x * time, dy - closing_y * time
    miss_sq = then_x * then_x + then_y * then_y
    meets = apart & (time > 0) & (time < rules.ahead) & (miss_sq < rules.gap_sq)
    miss_sq = np.where(meets, miss_sq, F(0))
    close = one - np.sqrt(miss_sq) * rules.inv_gap
    strength = aside * (one - np.where(meets, time, F(0)) * rules.inv_ahead) * (close * close) * view
    right = np.where(meets, then_y * ahead_x - then_x * ahead_y, F(0)) / np.sqrt(miss_sq + F(16))
    turns = np.where(meets, strength * (right + F(0.2)) * F(-4096), F(0)).astype(np.int32).sum(axis=1)
    side = np.clip(turns.astype(F) * F(1 / 4096), F(-1), F(1))
    scale = one / np.sqrt(one + side * side)
    ex, ey = ahead_x[:, 0], ahead_y[:, 0]
    share = rules.away * F(1 / 4096)
    return ((ex - ey * side) * scale, (ey + ex * side) * scale,
            away[0].astype(F) * share, away[1].astype(F) * share, seen.sum(axis=1))


def crowd_anticipate(c: Any, rules: Any) -> tuple[Any, Any, Any]:
    """(push_x, push_y, neighbours) of every walker that looks ahead, as the model rounds it."""
    turned_x, turned_y, away_x, away_y, neighbours = _looks_ahead(c, rules, rules.aside)
    ahead_x, ahead_y = _ahead(c)
    return away_x + (turned_x - ahead_x), away_y + (turned_y - ahead_y), neighbours


def crowd_slow_down(c: Any, rules: Any) -> tuple[Any, Any, Any]:
    """The same of those who also slow down by the room ahead, one walker at a time."""
    ahead_x, ahead_y = _ahead(c)
    passed = np.array([passed_by(c, i, ahead_x, ahead_y, rules) for i in range(len(c.x))], int).reshape(-1, 2).T
    turned_x, turned_y, away_x, away_y, neighbours = _looks_ahead(c, rules, rules.slow_aside, passed)
    push_x, push_y = np.zeros(len(c.x), F), np.zeros(len(c.x), F)
    for i in range(len(c.x)):
        ex, ey, wanted = ahead_x[i], ahead_y[i], c.speed[i] * rules.headway
        straight, left, right = _least_ahead(c, i, ahead_x, ahead_y, rules)
        x, y, room = turned_x[i], turned_y[i], min(straight - rules.standing, wanted)
        best = min(max(left, right) - rules.standing, wanted)
        part = min(F(1), max(F(0), (best * rules.swerve_cos - room) / max(rules.swerve_ramp * wanted, F(1e-6))))
        sin, cos = (rules.swerve_sin if right > left else -rules.swerve_sin) * part, F(1) - (F(1) - rules.swerve_cos) * part
        scale = F(1) / np.sqrt(cos * cos + sin * sin)
        x, y = (x * cos - y * sin) * scale, (y * cos + x * sin) * scale
        room = room + rules.swerve_gain * part * (best - room)
        walks = ex * ex + ey * ey > 0
        pace = max(rules.creep, min(F(1), room / max(wanted, F(1e-6)))) if walks else F(1)
        x, y = (x + away_x[i]) * pace, (y + away_y[i]) * pace
        length = np.sqrt(x * x + y * y)
        if walks and length > pace:
            x, y = x * (pace / max(length, F(1e-6))), y * (pace / max(length, F(1e-6)))
        push_x[i], push_y[i] = x - ex, y - ey
    return push_x, push_y, neighbours


def people_push(c: Any, rules: Any) -> tuple[Any, Any, Any]:
    """The same by the model that the rules are of."""
    if isinstance(rules, SlowDownRules):
        return crowd_slow_down(c, rules)
    return crowd_anticipate(c, rules) if isinstance(rules, AnticipateRules) else crowd_push(c.x, c.y, rules)


def passed_by(c: Any, i: int, ahead_x: Any, ahead_y: Any, rules: Any) -> tuple[int, int]:
    """What the push of walker i is without that of who comes towards i, against the heading of i, in 1/4096."""
    sum_x, sum_y, ex, ey = 0, 0, ahead_x[i], ahead_y[i]
    for j in range(len(c.x)):
        dx, dy = c.x[j] - c.x[i], c.y[j] - c.y[i]
        distance_sq, ahead = dx * dx + dy * dy, dx * ex + dy * ey
        if distance_sq < rules.radius_sq and ahead_x[j] * ex + ahead_y[j] * ey < F(-0.25) and ahead > 0:
            distance = np.sqrt(distance_sq)
            near = F(1) - distance * rules.inv_radius
            back = near * near / distance * ahead * (rules.pass_by * F(4096))
            sum_x, sum_y = sum_x + int(back * ex), sum_y + int(back * ey)
    return sum_x, sum_y


def _least_ahead(c: Any, i: int, ahead_x: Any, ahead_y: Any, rules: Any) -> list[Any]:
    """How far on the nearest person is that is in the way of walker i: straight on, to the left, to the right."""
    x, y = c.vx[i] + F(0.1) * c.speed[i] * ahead_x[i], c.vy[i] + F(0.1) * c.speed[i] * ahead_y[i]
    scale = F(1) / np.sqrt(x * x + y * y + F(1e-6))
    x, y = x * scale, y * scale
    cos, sin, least = rules.swerve_cos, rules.swerve_sin, [F(1e6)] * 3
    for j in range(len(c.x)):
        dx, dy = c.x[j] - c.x[i], c.y[j] - c.y[i]
        if dx * dx + dy * dy >= rules.radius_sq or not ahead_x[j] * x + ahead_y[j] * y > F(0.25):
            continue
        along, across = dx * x + dy * y, dx * y - dy * x
        for way, (on, beside) in enumerate(((along, across), (along * cos + across * sin, across * cos - along * sin),
                                            (along * cos - across * sin, across * cos + along * sin))):
            if on > 0 and beside * beside < rules.in_way_sq:
                least[way] = min(least[way], on)
    return least


def contact_shift(c: Any, x: Any, y: Any, body: float, shoulders: float = 0) -> tuple[Any, Any]:
    """One pass of contact: how far everybody moves out of everybody else, walls aside; one pair at a time."""
    longest, ids, held_up = F(body * (1 / 3)), c.id, np.isin(c.state, (STUCK, CREEPING))
    way_x, way_y = np.where(held_up, c.heading_x, F(0)), np.where(held_up, c.heading_y, F(0))
    shift_x, shift_y = np.zeros(len(x), F), np.zeros(len(x), F)
    for i in range(len(x)):
        count, sum_x, sum_y = 0, 0, 0
        for j in range(len(x)):
            dx, dy = x[i] - x[j], y[i] - y[j]
            distance_sq = dx * dx + dy * dy
            against = max(F(0), -(way_x[i] * way_x[j] + way_y[i] * way_y[j]))
            reach = F(2 * body) * (F(1) - F(shoulders) * against)
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


def pull_at(x: Any, y: Any, forces: Any) -> tuple[Any, Any]:
    """The sum of forces at a place, those of `sim.forces.present`."""
    pull_x, pull_y = F(0), F(0)
    for force in sorted(forces, key=lambda force: (force.kind == "scare", force.number)):
        dx, dy = F(force.x) - x, F(force.y) - y
        d_sq = dx * dx + dy * dy
        if d_sq < F(force.radius) * F(force.radius):
            inside = F(1) - d_sq * inv_root(d_sq) * F(1 / force.radius)
            attracts = force.kind == "attract"
            along, away = F(4 * force.strength / force.radius if attracts else 0), F(0 if attracts else -force.strength)
            weight = inside * (along + away * inv_root(d_sq))
            pull_x, pull_y = pull_x + weight * dx, pull_y + weight * dy
    return pull_x, pull_y


def crate_move(columns: dict[str, Any], rules: Any, ground: Any, forces: Any = ()) -> None:
    """One step of every crate, in place."""
    c = columns
    for i in range(len(c["id"])):
        x, y, half, wanted = c["x"][i], c["y"][i], c["half"][i], []
        across, down = x * rules.turns_x, y * rules.turns_y
        water = (rules.flow_x * (_wave(across) * _wave(down + F(0.25))),
                 rules.flow_y * (_wave(across + F(0.25)) * _wave(down)))
        for flow, axis, p, length in zip(water, "xy", (x, y), (rules.width, rules.height), strict=True):
            outside = max(half - p, F(0)) - max(half - (length - p), F(0))
            wanted.append(flow + rules.push * (c[f"avoidance_{axis}"][i] + outside))
        if forces:
            wanted = [want + rules.speed_max * way for want, way in zip(wanted, pull_at(x, y, forces), strict=True)]
        vx, vy = (v + (want - v) * rules.follow for v, want in zip((c["vx"][i], c["vy"][i]), wanted, strict=True))
        speed_sq = vx * vx + vy * vy
        scale = rules.speed_max / np.sqrt(speed_sq) if speed_sq > rules.speed_max_sq else F(1)
        vx, vy = vx * scale, vy * scale
        c["x"][i], c["y"][i] = slide(ground, x, y, rules.dt * vx, rules.dt * vy)
        c["vx"][i], c["vy"][i] = vx, vy

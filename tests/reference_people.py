"""Slow, obvious versions of admission, states and walking of people (docs/model_people.md)."""

import math
from typing import Any

import numpy as np
from reference import CREEPING, QUEUING, STUCK, WAITING, WALKING, F, chance, pull_at, scramble, slide, tile_under
from reference_terrain import reference_sees, reference_ways


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


def crowd_move(columns: dict[str, Any], rules: Any, places: Any, ground: Any, walls: Any, forces: Any, routes: Any) -> None:
    """One step of every walker, in place: states and goals, wanted velocity, motion, progress.

    Routes are (direction, prices) of each destination, each with a number for each tile.
    """
    admitted, reach_sq = admission(columns, places, rules.disc)
    for i in range(len(columns["id"])):
        agent = {name: column[i] for name, column in columns.items()}
        _change_state(agent, rules, places, admitted, reach_sq, ground, walls, routes)
        _walk(agent, rules, ground, forces)
        for name, column in columns.items():
            column[i] = agent[name]


def _change_state(a: dict[str, Any], rules: Any, places: Any, admitted: Any, reach_sq: Any, ground: Any, walls: Any,
                  routes: Any) -> None:
    if a["state"] == WAITING:
        a["timer"] = a["timer"] - rules.dt
        if a["timer"] <= 0:
            _choose(a, rules, places, ground, routes, False)
            a["state"], a["timer"] = WALKING, F(0)
        return
    held_up = a["state"] in (STUCK, CREEPING)
    if held_up and a["timer"] >= rules.patience and chance(a["id"], rules.tire_key) < rules.tires \
            and not places.fixed[a["goal"]]:
        _choose(a, rules, places, ground, routes, True)
    if a["state"] == QUEUING and int(a["id"]) in admitted[a["goal"]]:
        _choose_place(a, rules, places, ground, walls)
    outside = places.capacity[a["goal"]] > 0 and _is_outside({name: [value] for name, value in a.items()}, 0, places)
    dx, dy = a["goal_x"] - a["x"], a["goal_y"] - a["y"]
    distance_sq = dx * dx + dy * dy
    if a["state"] == QUEUING:
        a["state"] = WALKING
    if outside:
        if distance_sq < reach_sq[a["goal"]]:
            a["state"], a["timer"] = QUEUING, F(0)
    elif distance_sq < rules.arrive_sq * F(16 if held_up else 1):
        a["state"], a["timer"] = WAITING, rules.wait


def below(size: int, identity: int, key: int) -> int:
    return (scramble(int(identity) ^ key) & 0xFFFFFFFF) * size >> 32


def _choose(a: dict[str, Any], rules: Any, places: Any, ground: Any, routes: Any, again: bool) -> None:
    if rules.disc > 0 and rules.half_cost > 0:
        _choose_by_route(a, rules, places, ground, routes, again)
    else:
        (_choose_destination if rules.disc > 0 else _choose_around)(a, rules, places, ground)


def _choose_by_route(a: dict[str, Any], rules: Any, places: Any, ground: Any, routes: Any, again: bool) -> None:
    if len(places.tiles) == 0:
        return
    last, key, half = a["goal"], int(rules.goal_key), int(rules.half_cost)
    first, chosen, total = 0, last, 0
    for number in range(4):
        goal = last if again and number == 0 else _drawn_destination(last, a["id"], places, key)
        key = scramble(key)
        direction, prices = routes[goal]
        cost = crowds_on_the_way(direction, prices, tile_under(ground, a["x"], a["y"]))
        if total == 0:
            first, chosen = cost, goal
        if cost >= 0:
            halves = min(max((first - cost) // half, -12), 12)
            part = min(max(first - cost - halves * half, 0), half)
            weight = math.floor((4096 + 4096 * part // half) * 2.0**halves)
            total += weight
            if below(total, a["id"], key) < weight:
                chosen = goal
        key = scramble(key)
    if chosen != last or not again:
        a["goal"], a["goal_x"], a["goal_y"], a["goal_visible"] = chosen, places.x[chosen], places.y[chosen], 0


def crowds_on_the_way(direction: Any, prices: Any, tile: int) -> int:
    """How much more the way from a tile costs than on empty ground; -1: there is none."""
    moves, cost = ((0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0), (-1, 1)), 0
    row, column = divmod(tile, direction.shape[1])
    while direction[row, column] < 8:
        down, right = moves[direction[row, column]]
        row, column = row + down, column + right
        cost += (int(prices[row, column]) - 8) * (7 if down and right else 5)
    return cost if direction[row, column] == 8 else -1


def _drawn_destination(last: int, identity: int, places: Any, key: int) -> int:
    owners = [goal for goal in range(len(places.first) - 1) for _ in range(places.first[goal + 1] - places.first[goal])]
    drawn = [goal for goal in owners if goal != last] or owners
    return drawn[below(len(drawn), identity, key)]


def _choose_destination(a: dict[str, Any], rules: Any, places: Any, ground: Any) -> None:
    if len(places.tiles):
        goal = _drawn_destination(a["goal"], a["id"], places, int(rules.goal_key))
        a["goal"], a["goal_x"], a["goal_y"], a["goal_visible"] = goal, places.x[goal], places.y[goal], 0


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
    a["goal"], a["goal_x"], a["goal_y"], a["goal_visible"] = goal, x, y, 0


def _choose_place(a: dict[str, Any], rules: Any, places: Any, ground: Any, walls: Any) -> None:
    goal = a["goal"]
    tiles = [(int(tile), goal) for tile in places.tiles[places.first[goal]:places.first[goal + 1]]]
    a["goal_x"], a["goal_y"], _ = _draw_place(tiles, a["id"], int(rules.goal_key), places, ground, walls)
    a["goal_visible"] = 0


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
    exits = [goal for goal in range(len(places.first) - 1) if places.exits[goal]]
    tiles = [(int(tile), goal) for goal in exits for tile in places.tiles[places.first[goal]:places.first[goal + 1]]]
    for i in range(len(columns["id"]) if tiles else 0):
        a = {name: column[i] for name, column in columns.items()}
        if a["state"] != WAITING or a["timer"] <= 0 or a["goal"] not in exits:
            continue
        new = {**dict.fromkeys(a, 0), "id": a["id"]}
        new["x"], new["y"], new["goal"] = _draw_place(tiles, a["id"], int(rules.place_key), places, ground, walls)
        if ground.solid[tile_under(ground, new["x"], new["y"])]:
            continue
        _choose_destination(new, rules, places, ground)
        parts, key = 0.0, int(rules.speed_key)
        for _ in range(int(rules.speed_draws)):
            parts, key = parts + ((scramble(int(a["id"]) ^ key) & 0xFFFFFFFF) >> 8) * 2.0**-24, scramble(key)
        new["speed"] = F(rules.speed_min + rules.speed_range * (parts / int(rules.speed_draws)))
        for name, column in columns.items():
            column[i] = new[name]


def people_sent(columns: dict[str, Any], to: list[int], within: Any, places: Any, terrain: Any) -> None:
    """Each goes to the destination of `to` with the shortest way, of equals the first; in place."""
    ways = []
    for goal in to:
        tiles = places.tiles[places.first[goal]:places.first[goal + 1]]
        ways.append(reference_ways(terrain.blocked, [divmod(int(tile), terrain.columns) for tile in tiles])[0])
    for i in range(len(columns["id"])):
        x, y = columns["x"][i], columns["y"][i]
        tile = int(y * terrain.walls.inv_tile), int(x * terrain.walls.inv_tile)
        found = [(int(way[tile]), number) for number, way in enumerate(ways) if way[tile] >= 0]
        if not found or (within and not (within[0] < x < within[2] and within[1] < y < within[3])):
            continue
        goal = to[min(found)[1]]
        new = {"goal": goal, "goal_x": places.x[goal], "goal_y": places.y[goal], "goal_visible": 0, "state": WALKING,
               "timer": 0}
        for name, value in new.items():
            columns[name][i] = value


def people_who_leave(columns: dict[str, Any], out: set[int]) -> Any:
    """bool[n]: who has arrived at a way out."""
    return np.array([bool(state == WAITING and timer > 0 and goal in out)
                     for state, timer, goal in zip(columns["state"], columns["timer"], columns["goal"], strict=True)])


def is_seen(walls: Any, one: tuple[Any, Any], other: tuple[Any, Any]) -> bool:
    """Line of sight between two points, both rounded down to 1/256 unit."""
    a, b = ((math.floor(float(x) * 256), math.floor(float(y) * 256)) for x, y in (one, other))
    return reference_sees(walls.blocked, int(float(walls.tile) * 256), a, b)


def _walk(a: dict[str, Any], rules: Any, ground: Any, forces: Any) -> None:
    speed, held_up, state = a["speed"], a["state"] in (STUCK, CREEPING), a["state"]
    x, y = rules.push * a["avoidance_x"], rules.push * a["avoidance_y"]
    scares = [force for force in forces if force.kind == "scare"]
    away_x, away_y = pull_at(a["x"], a["y"], scares)
    fear = np.sqrt(away_x * away_x + away_y * away_y)
    if fear > 0:
        x, y = x + away_x * (F(1) / fear), y + away_y * (F(1) / fear)
        speed = max(speed, min(rules.flight, speed * (F(1) + fear)))
    else:
        if state not in (WAITING, QUEUING):
            x, y = x + a["heading_x"], y + a["heading_y"]
        if forces:
            pull_x, pull_y = pull_at(a["x"], a["y"], [force for force in forces if force.kind != "scare"])
            x, y = x + pull_x, y + pull_y
    slow = x * a["heading_x"] + y * a["heading_y"] < F(0.75 if state == CREEPING else 0.5)
    x, y = x * speed, y * speed
    if held_up:
        x, y = (x + rules.wiggle * chance(a["id"], rules.wiggle_key_x),
                y + rules.wiggle * chance(a["id"], rules.wiggle_key_y))
    limit = speed * (rules.stuck_top_factor if held_up else rules.top_factor)
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
    if along < F(0.25) * a["speed"] * rules.dt:
        a["timer"] = min(a["timer"] + rules.dt, F(2) * rules.patience)
    else:
        a["timer"] = max(a["timer"] - F(2) * rules.dt, F(0))
    stays_held_up = a["timer"] > (0 if held_up else rules.patience)
    a["state"] = (CREEPING if slow else STUCK) if stays_held_up else WALKING


def people_prices(x: Any, y: Any, walls: Any, detour: float) -> Any:
    """What it costs to step into each tile, by how many people are on it, uint8[H, W]."""
    rows, columns = walls.blocked.shape
    counts = np.zeros((rows, columns), int)
    for across, down in zip(x, y, strict=True):
        counts[min(int(down * walls.inv_tile), rows - 1), min(int(across * walls.inv_tile), columns - 1)] += 1
    q = (26 / float(walls.tile)) * (26 / float(walls.tile))
    dearer, most = F(8 * detour * (q * q)), F(min(255, (2**31 - 1) // (7 * rows * columns)) - 8)
    return np.array([[8 + int(min(F(n) * F(n) * dearer, most)) for n in row] for row in counts], np.uint8)

"""Choosing a destination by how crowded the way there is (docs/model_people.md, "Choosing a destination").

    candidates  destinations drawn by their areas; for who reconsiders the present one is the first
    cost        what crowds add to the way: sum over the steps of the flow field of (price - 8) * 5, or * 7 diagonally
    weight      2^(-cost / half_cost), linear between whole powers: a logit
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crowd_demo.compute.arrays import Int
from crowd_demo.compute.jit import device
from crowd_demo.compute.simd import scramble
from crowd_demo.compute.simd_memory import gather
from crowd_demo.config.behaviours import PeopleSettings
from crowd_demo.sim.behaviours.destinations import Destinations, below, drawn_destination
from crowd_demo.sim.behaviours.people_rules import PeopleColumns, PeopleRules
from crowd_demo.sim.terrain.crowding import DIAGONAL, PLAIN, STRAIGHT, Prices
from crowd_demo.sim.terrain.flow_fields import ARRIVED, STEPS, FlowField, direction_at
from crowd_demo.sim.terrain.tiles import Walls, tile_at

CANDIDATES = 4
EVEN = 4096  # the weight of the first candidate
MOST_HALVES = 12  # a weight is at most so many times doubled or halved


class Routes(NamedTuple):
    fields: FlowField
    prices: Prices
    empty: int  # so many sets of prices, the first ones, know of no crowds


@device
def choose_by_route(c: PeopleColumns, slot: int, d: Destinations, routes: Routes, walls: Walls, rules: PeopleRules,
                    again: bool) -> None:
    """Choose one of the candidates; `again`: the present destination is the first of them."""
    if d.tiles.shape[0] == 0:
        return
    last = chosen = c.goal[slot]
    key, first, total = rules.goal_key, 0, 0
    for number in range(CANDIDATES):
        goal = last if again and number == 0 else drawn_destination(d, last, c.id[slot], key)
        key = scramble(key)
        cost = crowds_on(routes, walls, goal, c.x[slot], c.y[slot])
        if total == 0:
            first, chosen = cost, goal
        if cost >= 0:
            weight = weight_of(first - cost, int(rules.half_cost))
            total += weight
            if below(total, c.id[slot], key) < weight:
                chosen = goal
        key = scramble(key)
    if chosen != last or not again:
        c.goal[slot], c.goal_x[slot], c.goal_y[slot], c.goal_visible[slot] = chosen, d.x[chosen], d.y[chosen], 0


@device
def weight_of(saved: int, half_cost: int) -> int:
    """Return the weight of a way that costs so much less than the first one."""
    halves = min(max(saved // half_cost, -MOST_HALVES), MOST_HALVES)
    part = min(max(saved - halves * half_cost, 0), half_cost)
    weight = EVEN + EVEN * part // half_cost
    return weight << halves if halves >= 0 else weight >> -halves


@device
def crowds_on(routes: Routes, walls: Walls, goal: int, x: Int, y: Int) -> int:
    """Return what crowds add to the cost of the way to a destination; -1: there is no way."""
    _, rows, columns = routes.fields.direction.shape
    column, row = tile_at(walls, x, y)
    step, cost = direction_at(routes.fields, goal, column, row), 0
    if routes.prices.chosen[goal] < routes.empty:
        return 0 if step <= ARRIVED else -1
    for _ in range(rows * columns):
        if step >= ARRIVED:
            break
        column, row = column + gather(STEPS[0], step), row + gather(STEPS[1], step)
        price = routes.prices.tiles[routes.prices.chosen[goal], row, column]
        cost += (int(price) - PLAIN) * (DIAGONAL if step & 1 else STRAIGHT)
        step = direction_at(routes.fields, goal, column, row)
    return cost if step == ARRIVED else -1


def half_cost(settings: PeopleSettings, walls: Walls) -> np.int64:
    return np.int64(settings.choice_length * PLAIN * STRAIGHT / float(walls.tile))

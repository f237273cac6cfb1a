"""Where people begin, and how fast they want to walk: the same in every program that walks a scene."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from crowd_demo.compute.arrays import Doubles, Longs
from crowd_demo.lab.validate.scene import Group, Scene
from crowd_demo.measure.trajectories import Rectangle

FROM_WALLS = 0.25  # metres
JITTER = 0.075  # of the distance between neighbours, each way
MEAN_SPEED, SPEED_SPREAD = 1.34, 0.26  # Weidmann 1993, m/s


class Placed(NamedTuple):
    """People by id, 0, 1, 2, ...: those of the first group first. Metres, m/s."""

    x: Doubles
    y: Doubles
    speed: Doubles
    group: Longs
    goal_x: Doubles
    goal_y: Doubles


def placed(scene: Scene, seed: int = 1) -> Placed:
    """Return all people of a scene."""
    rng = np.random.default_rng(seed)
    places = [place for group in scene.groups for place in _places(group, rng)]
    number = np.repeat(np.arange(len(scene.groups)), [group.people for group in scene.groups])
    drawn = np.clip(rng.normal(MEAN_SPEED, SPEED_SPREAD, len(places)), MEAN_SPEED / 3, MEAN_SPEED * 5 / 3)
    given = np.array([np.nan if group.speed is None else group.speed for group in scene.groups])[number]
    goals = [scene.exits[scene.groups[group].exit].goal(x, y) for group, (x, y) in zip(number, places, strict=True)]
    (x, y), (goal_x, goal_y) = np.array(places, float).T, np.array(goals, float).T
    return Placed(x, y, np.where(np.isnan(given), drawn, given), number, goal_x, goal_y)


def _places(group: Group, rng: np.random.Generator) -> list[tuple[float, float]]:
    if group.places:
        return list(group.places)
    spots = _lattice(group.start, group.people)
    away = JITTER * math.sqrt(group.start.size / group.people)
    chosen = spots[rng.permutation(len(spots))[:group.people]] + rng.uniform(-away, away, (group.people, 2))
    return [(float(x), float(y)) for x, y in chosen]


def _lattice(area: Rectangle, people: int) -> Doubles:
    """Return at least so many places in rows and columns, as far apart as that allows, float64[n, 2]."""
    width, height = max(area.width - 2 * FROM_WALLS, 0.0), max(area.height - 2 * FROM_WALLS, 0.0)
    shape = min(((columns, -(-people // columns)) for columns in range(1, people + 1)),
                key=lambda shape: abs(width / max(shape[0] - 1, 0.5) - height / max(shape[1] - 1, 0.5)))
    x, y = (low + FROM_WALLS + (np.arange(count) + 0.5) * side / count
            for low, side, count in ((area.left, width, shape[0]), (area.top, height, shape[1])))
    return np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)

"""How believable a crowd of people moves: distances, crowding, turning, progress (`crowd-demo lab motion`).

Reads positions between steps and changes nothing. All lengths are world units, all times the crowd's own.

    nearest     share of people whose nearest neighbour is nearer than 10.5, 6 and 2 units (bodies are 12 wide)
    densest     most people in an aligned square of 48 x 48 units; and in one whose people keep half of their speed
    head-on     pairs walking against each other that come nearer than 4 units, within five seconds
    changes     how often the drawn direction, one of eight, changes in a second of walking
    turning     90th percentile of how fast velocities turn, degrees/s
    stuck       share in that state;  idle: share that wants to walk and moved less than 24 units in 20 seconds
    jammed      share of those who walk that are slower than a quarter of Weidmann's speed at the density around, in a second
    too full    share of those who walk where the flow is above 1.3 people/(m s): more than a metre of way carries
    on ground   mean density of the free ground, people/m^2: how full the whole scenario is
    speed       mean of those who walk, and as a part of what they prefer (pace)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

import numpy as np

from crowd_demo.compute.arrays import Bytes, Doubles, Floats
from crowd_demo.compute.jit import launch
from crowd_demo.config.section import metres, per_square_metre
from crowd_demo.extras.walking import (
    CROWDED,
    close_pairs,
    free_density,
    is_jammed,
    nearest,
    people,
    squares,
    surroundings,
    wants_to_walk,
)
from crowd_demo.measure.experiment import aligned
from crowd_demo.render.figures.people import LEAST_SPEED, Facings, face_all, facings
from crowd_demo.sim.behaviours.people_rules import PeopleColumns
from crowd_demo.sim.fundamental_diagram import CAPACITY
from crowd_demo.sim.simulation import Simulation

JAM = 0.5  # of the preferred speed: in a square where people are slower on the mean there is a jam
HEAD_ON = -0.5  # cosine of the angle between two velocities
NEAR = 4.0
WALKED_S, WATCHED_S, IDLE_S, IDLE = 1.0, 5.0, 20.0, 24.0
NEARER = {"below_10_5": 10.5, "below_6": 6, "below_2": 2}  # distances to the nearest neighbour, by the name of a figure
STATES = "stuck", "waiting", "queuing"
Figures = Mapping[str, float]  # by name, as JSON has them


def densest(x: Floats, y: Floats, pace: Doubles) -> tuple[int, int]:
    """Return the most people in a square, and in a square without a jam."""
    square = squares(x, y)
    count, total = np.bincount(square), np.bincount(square, weights=pace)
    return int(count.max()), int(count[total >= JAM * count].max(initial=0))


def directions(sim: Simulation, facings: Facings) -> Bytes:
    """Return which of eight directions each figure looks in, in id order, as the window draws them from step to step."""
    count, time_s = sim.agents.count, np.float64(sim.tick * sim.dt)
    c = cast(PeopleColumns, sim.agents.view)
    launch(face_all, sim.light_workers, c.id, c.vx, c.vy, c.heading_x, c.heading_y, count, time_s, facings).run()
    return facings.direction[np.sort(c.id[:count])]


def head_on(c: PeopleColumns) -> set[tuple[int, int]]:
    """Return the pairs that walk against each other within NEAR of each other."""
    i, j, _ = close_pairs(c.x, c.y, NEAR)
    dot = c.vx[i] * c.vx[j] + c.vy[i] * c.vy[j]
    lengths = np.hypot(c.vx[i], c.vy[i]) * np.hypot(c.vx[j], c.vy[j])
    chosen = (dot < HEAD_ON * lengths) & wants_to_walk(c)[i] & wants_to_walk(c)[j]
    return set(zip(np.minimum(i, j)[chosen].tolist(), np.maximum(i, j)[chosen].tolist(), strict=True))


def table(f: Figures, watched: Figures | None) -> str:
    """A line for each figure; those of a while are left out where nobody watched."""
    rows = [("nearest neighbour below 10.5, 6, 2 units", f"{f['below_10_5']:.2%}, {f['below_6']:.3%}, {f['below_2']:.3%}"),
            ("most in a square of 48 units; outside of jams", f"{crowding(f['densest'])}; {crowding(f['densest_moving'])}"),
            ("stuck; waiting; queuing", f"{f['stuck']:.2%}; {f['waiting']:.1%}; {f['queuing']:.1%}"),
            ("jammed: of who walks, below a quarter of Weidmann's", f"{f['jammed']:.2%}"),
            (f"too full: of who walks, flow above {CAPACITY}/(m s)", f"{f['too_full']:.1%}"),
            ("people on the free ground", f"{f['on_ground']:.2f}/m2"),
            ("mean speed of who walks; of what is preferred", f"{metres(f['speed']):.2f} m/s; {f['pace']:.3f}")]
    if watched is not None:
        rows += [(f"head-on pairs below {NEAR:g} units in {WATCHED_S:g} s", f"{watched['head_on']:,}"),
                 ("changes of the drawn direction a second", f"{watched['changes']:.2f}"),
                 ("90th percentile of turning, degrees/s", f"{watched['turning']:.0f}"),
                 (f"idle: moved less than {IDLE:g} units in {IDLE_S:g} s", f"{watched['idle']:.2%}")]
    return aligned(rows)


def crowding(people: float) -> str:
    """So many in a square, and as a density."""
    return f"{people} ({per_square_metre(people / CROWDED**2):.1f}/m2)"


def watch(sim: Simulation) -> Figures:
    """Run for WATCHED_S; return head-on pairs, changes of direction a second, and turning in degrees/s."""
    pairs: set[tuple[int, int]] = set()
    steps = round(WATCHED_S / sim.dt)
    before, known = people(sim), facings(sim.agents.handles.limit)
    faced = directions(sim, known)
    changes = walked = 0
    turns = []
    for _ in range(steps):
        sim.step()
        now = people(sim)
        pairs |= head_on(now)
        walks = (now.state == 0) & (before.state == 0)
        faces = directions(sim, known)
        changes += int((faces != faced)[walks].sum())
        walked += int(walks.sum())
        fast = walks & (np.hypot(now.vx, now.vy) > LEAST_SPEED) & (np.hypot(before.vx, before.vy) > LEAST_SPEED)
        cross, dot = now.vy * before.vx - now.vx * before.vy, now.vx * before.vx + now.vy * before.vy
        turns.append(np.degrees(np.abs(np.arctan2(cross, dot)))[fast] / sim.dt)
        before, faced = now, faces
    turned = np.concatenate(turns) if turns else np.zeros(1)
    return {"head_on": len(pairs), "changes": changes / max(walked * sim.dt, 1e-9),
            "turning": float(np.percentile(turned, 90)) if len(turned) else 0.0}


def idle_share(sim: Simulation) -> float:
    """Run for IDLE_S; return the share that wanted to walk throughout, to the same goal, and has hardly moved."""
    before = people(sim)
    wants = wants_to_walk(before)
    for _ in range(8):
        sim.step(round(IDLE_S / 8 / sim.dt))
        wants &= wants_to_walk(people(sim))
    now = people(sim)
    moved = np.hypot(now.x - before.x, now.y - before.y)
    return float(np.mean(wants & (moved < IDLE)))


def filling(sim: Simulation, before: PeopleColumns, seconds: float) -> Figures:
    """Return who is jammed, and where it is too full, by the straight way that people have made since `before`."""
    c = people(sim)
    same = c.speed == before.speed  # nobody else has come in by an exit in the place of these
    speed = np.where(same, np.hypot(c.x - before.x, c.y - before.y) / seconds, 0.0)
    walks, found = same & wants_to_walk(before) & wants_to_walk(c), surroundings(sim.terrain.walls, c.x, c.y, speed)
    shares = {"jammed": is_jammed(speed, c.speed, found.density), "too_full": found.flow > CAPACITY}
    return {**{name: float(np.mean(chosen[walks])) if walks.any() else 0.0 for name, chosen in shares.items()},
            "on_ground": free_density(sim.terrain.walls, len(c.id))}


def motion_of(sim: Simulation, watched: bool) -> tuple[Figures, Figures | None]:
    """Return the figures of one second, and those of 25 seconds more, or None unless `watched`.

    Paces are those of the way made in its first step: who is pushed back gets nowhere, whatever its velocity says.
    """
    tick, before = sim.tick, people(sim)
    sim.step()
    c = people(sim)
    least = nearest(c.x, c.y)
    speed = np.hypot(c.x - before.x, c.y - before.y) / sim.dt
    pace, walks = speed / c.speed, wants_to_walk(c)
    most, moving = densest(c.x, c.y, pace)
    nearer = {name: float(np.mean(least < distance)) for name, distance in NEARER.items()}
    counts = sim.states()
    states = {name: counts[name] / len(c.id) for name in STATES}
    means = {name: float(values[walks].mean()) if walks.any() else 0.0 for name, values in (("pace", pace), ("speed", speed))}
    sim.step(round(WALKED_S / sim.dt) - 1)
    figures = {**nearer, "densest": most, "densest_moving": moving, **states, **means,
               **filling(sim, before, (sim.tick - tick) * sim.dt)}
    return figures, {**watch(sim), "idle": idle_share(sim)} if watched else None

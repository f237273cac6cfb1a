"""How believable a crowd of people moves (`crowd-demo lab motion`): distances, crowding, turning, progress, and flow.

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

With `--flow`, whether a crowd keeps flowing for minutes. Positions are read every LOOK steps:

    hardly move   share that neither waits nor queues, and has moved less than a quarter of speed * 3 s in the last 3 s
    no progress   seconds since a person arrived, or came 2 m nearer to the present destination by the shortest way
    arrivals      per minute since step BEGIN; trip: shortest way from where people set out to where they arrived
    gap           at most 5 m of free tiles between walls. Wanted is the flow of people without bodies and avoidance
                  there, per metre and second; the busiest gaps are those with the highest
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple, cast

import numpy as np

from crowd_demo.compute.arrays import Bytes, Doubles, Floats, Longs
from crowd_demo.compute.jit import launch
from crowd_demo.config.capacity import gaps_between_rows
from crowd_demo.config.model import Config, with_values
from crowd_demo.config.section import UNITS_A_METRE, metres, per_square_metre
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
from crowd_demo.sim.behaviours.people_rules import WAITING, PeopleColumns
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
    crowded = (f"{f[name]} ({per_square_metre(f[name] / CROWDED**2):.1f}/m2)" for name in ("densest", "densest_moving"))
    rows = [("nearest neighbour below 10.5, 6, 2 units", f"{f['below_10_5']:.2%}, {f['below_6']:.3%}, {f['below_2']:.3%}"),
            ("most in a square of 48 units; outside of jams", "; ".join(crowded)),
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


def watch(sim: Simulation) -> Figures:
    """Run for WATCHED_S; return head-on pairs, changes of direction a second, and turning in degrees/s."""
    pairs, turns = set[tuple[int, int]](), [np.zeros(0)]
    changes = walked = 0
    before, known = people(sim), facings(sim.agents.handles.limit)
    faced = directions(sim, known)
    for _ in range(round(WATCHED_S / sim.dt)):
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
    turned = np.concatenate(turns)
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
    return float(np.mean(wants & (np.hypot(now.x - before.x, now.y - before.y) < IDLE)))


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
    states = {name: sim.states()[name] / len(c.id) for name in STATES}
    means = {name: float(values[walks].mean()) if walks.any() else 0.0 for name, values in (("pace", pace), ("speed", speed))}
    sim.step(round(WALKED_S / sim.dt) - 1)
    figures = {**nearer, "densest": most, "densest_moving": moving, **states, **means,
               **filling(sim, before, (sim.tick - tick) * sim.dt)}
    return figures, {**watch(sim), "idle": idle_share(sim)} if watched else None


# --- whether it keeps flowing ----------------------------------------------------------------------------------------

REPORTED = 4000, 12_000  # steps
LOOK, BEGIN, WINDOW = 6, 1000, 3000  # steps; gaps are watched in the last WINDOW ones
HARDLY_S, HARDLY = 3.0, 0.25
PROGRESS = 2.0 * UNITS_A_METRE
PLAIN_STEP = 40  # length of a step to a side, in `FlowFields.lengths`
GAPS, APART = 5, 5.0  # busiest gaps; metres


class Gap(NamedTuple):
    """Free tiles [first, last) on both sides of the border between two rows (axis 0) or columns (1) of tiles."""

    axis: int
    line: int
    first: int
    last: int

    @property
    def middle(self) -> Doubles:
        """The middle, in tiles: (column, row)."""
        at = np.array([(self.first + self.last) / 2, self.line + 1.0])
        return at if self.axis == 0 else at[::-1]


def gaps_of(blocked: Bytes, tile_m: float) -> Iterator[Gap]:
    """Yield all gaps of a map, blocked uint8[H, W]."""
    for axis, tiles in enumerate((blocked, blocked.T)):
        yield from (Gap(axis, *map(int, each)) for each in zip(*gaps_between_rows(tiles > 0, tile_m), strict=True))


Gaps = Mapping[str, tuple[float, float]]  # people per metre and second each way, by where a gap is
FlowFigures = tuple[Figures, Gaps]  # after one step of REPORTED


class FlowWatch:
    def __init__(self, sim: Simulation) -> None:
        count, walls = sim.agents.count, sim.terrain.walls
        self.sim, self.columns, self.tile_m = sim, sim.terrain.columns, float(walls.tile) / UNITS_A_METRE
        self._look()
        self.set_out, self.waited = self.tiles, np.zeros(count)
        self.nearest = np.full(count, np.inf)  # way that is left, at the last progress
        self.arrivals, self.trips_m = 0, 0.0
        self.crossed = np.zeros((2, 2, sim.terrain.blocked.size), np.int64)  # [axis, way, tile before the border]
        self._ways: dict[int, Doubles] = {}

    def run(self, tick: int, tell: Callable[[int], None] = lambda tick: None) -> None:
        """Run to this tick, a multiple of LOOK."""
        while self.sim.tick < tick:
            before, was_at = self.now, self.tiles
            self.sim.step(LOOK)
            self._look()
            # who steps from a tile to a neighbouring row or column counts; at a corner, by the row and column after it
            after, from_tiles = (np.array(np.divmod(tiles, self.columns)) for tiles in (self.tiles, was_at))
            for axis in (0, 1):
                low = after.copy()
                low[axis] = np.minimum(after[axis], from_tiles[axis])
                for way, step in enumerate((1, -1)):
                    crosses = after[axis] - from_tiles[axis] == step
                    np.add.at(self.crossed[axis, way], (low[0] * self.columns + low[1])[crosses], 1)
            self._progress(before)
            tell(self.sim.tick)

    def _look(self) -> None:
        self.now = people(self.sim)
        inv_tile = self.sim.terrain.walls.inv_tile
        self.tiles = (self.now.y * inv_tile).astype(np.int64) * self.columns + (self.now.x * inv_tile).astype(np.int64)

    def _progress(self, before: PeopleColumns) -> None:
        c, way_m = self.now, np.full(len(self.tiles), np.inf)
        left = way_m.copy()
        for goal in np.unique(c.goal):
            mine, ways = c.goal == goal, self._way(int(goal))
            left[mine], way_m[mine] = ways[self.tiles[mine]], ways[self.set_out[mine]] / UNITS_A_METRE
        newcomer = c.speed != before.speed  # by an exit, in the place of who has arrived
        arrives = (c.state == WAITING) & (before.state != WAITING) | newcomer
        if self.sim.tick > BEGIN:
            self.arrivals += int(arrives.sum())
            self.trips_m += float(way_m[arrives & ~newcomer & (way_m < np.inf)].sum())
        still = ~wants_to_walk(c)
        self.set_out = np.where(still | newcomer, self.tiles, self.set_out)
        self.nearest = np.where((c.goal != before.goal) | np.isinf(self.nearest), left, self.nearest)
        nearer = still | arrives | (left <= self.nearest - PROGRESS)
        self.nearest = np.where(nearer, left, self.nearest)
        self.waited = np.where(nearer, 0.0, self.waited + LOOK * self.sim.dt)

    def _way(self, goal: int) -> Doubles:
        """Return the shortest way from each tile to a destination, in world units, float64[tiles]; inf: none."""
        if goal not in self._ways and self.sim.ways:
            layout = self.sim.ways.at_present()
            length = self.sim.flow_fields.lengths(layout.targets, layout.steps, goal).reshape(-1)
            self._ways[goal] = np.where(length < 0, np.inf, length * (float(self.sim.terrain.walls.tile) / PLAIN_STEP))
        return self._ways[goal]

    def through(self, gap: Gap, since: Longs, seconds: float) -> Doubles:
        """Return the people per metre and second through a gap, each way, since `crossed` was `since`."""
        tiles = np.arange(gap.first, gap.last)
        at = gap.line * self.columns + tiles if gap.axis == 0 else tiles * self.columns + gap.line
        return (self.crossed - since)[gap.axis][:, at].sum(axis=1) / (len(tiles) * self.tile_m * seconds)


# --- the report of the flow ------------------------------------------------------------------------------------------

def busiest(watch: FlowWatch, seconds: float) -> list[tuple[Gap, float]]:
    """Return the gaps through which most people per metre have come, and how many; none is near a busier one."""
    flows = [(gap, float(watch.through(gap, np.zeros_like(watch.crossed), seconds).sum()))
             for gap in gaps_of(watch.sim.terrain.blocked, watch.tile_m)]
    chosen: list[tuple[Gap, float]] = []
    for found, flow in sorted(flows, key=lambda each: each[1])[::-1]:
        away = [np.abs(found.middle - gap.middle).max() * watch.tile_m for gap, _ in chosen]
        if min(away, default=APART) >= APART and len(chosen) < GAPS and flow > 0:
            chosen.append((found, flow))
    return chosen


def flow_of(config: Config, tell: Callable[[int], None] = lambda tick: None) -> dict[int, FlowFigures]:
    crowd, techniques = config.crowd.model_copy(update={"avoid_weight": 0.0}), {"overlap_passes": 0}
    ghosts = {"crowd": crowd, "optimizations": with_values(config.optimizations, techniques)}  # obstruct nobody
    wanted = FlowWatch(Simulation(config.model_copy(update=ghosts)))
    wanted.run(REPORTED[0], tell)
    gaps = busiest(wanted, wanted.sim.tick * wanted.sim.dt)
    watch, found = FlowWatch(Simulation(config)), dict[int, FlowFigures]()
    for tick in REPORTED:
        watch.run(tick - WINDOW, tell)
        crossed, passed = watch.crossed.copy(), {}
        watch.run(tick - round(HARDLY_S / watch.sim.dt), tell)
        then = watch.now
        watch.run(tick, tell)
        for gap, flow in gaps:
            x, y = gap.middle * float(watch.sim.terrain.walls.tile)
            where = f"gap {(gap.last - gap.first) * watch.tile_m:.1f} m at {x:.0f}, {y:.0f}"
            there, back = watch.through(gap, crossed, WINDOW * watch.sim.dt).tolist()
            passed[f"{where}: wanted {flow:.1f}/(m s), passed"] = there, back
        c = watch.now
        moved = np.hypot(c.x - then.x, c.y - then.y)
        walks = wants_to_walk(then) & wants_to_walk(c) & (c.speed == then.speed)
        found[tick] = {"hardly_move": float(np.mean(walks & (moved < HARDLY * HARDLY_S * c.speed))),
                       "no_progress_60_s": float(np.mean(watch.waited > 60)), "longest_s": float(watch.waited.max()),
                       "arrivals_per_minute": watch.arrivals / ((watch.sim.tick - BEGIN) * watch.sim.dt / 60),
                       "trip_m": watch.trips_m / max(watch.arrivals, 1)}, passed
    return found


def flow_table(found: dict[int, FlowFigures]) -> str:
    """A column for each step, then a line for each gap."""
    each, gaps = zip(*found.values(), strict=True)
    rows = [("after step", *(f"{tick:,}" for tick in found)),
            ("hardly move: below a quarter of their speed for 3 s", *(f"{f['hardly_move']:.1%}" for f in each)),
            ("no progress for 60 s", *(f"{f['no_progress_60_s']:.1%}" for f in each)),
            ("longest without progress", *(f"{f['longest_s']:.0f} s" for f in each)),
            ("arrivals per minute", *(f"{f['arrivals_per_minute']:.0f}" for f in each)),
            ("mean trip of those who arrive", *(f"{f['trip_m']:.0f} m" for f in each)),
            *((gap, *(f"{sum(ways[gap]):.2f} ({min(ways[gap]):.2f} back)" for ways in gaps)) for gap in gaps[0])]
    return aligned(rows)

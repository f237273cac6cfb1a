"""What is known of one agent, or of those in a rectangle, from the arrays that the last step left.

Reading changes nothing. Candidates are those that the step found in the present structure. Which of them are neighbours is
tested at their present positions, by the behaviour's own test.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, cast

import numpy as np

from crowd_demo.compute.arrays import Bytes, Floats, Ints, Rules, Whole
from crowd_demo.compute.jit import Launch, device, launch
from crowd_demo.config.section import metres, per_square_metre
from crowd_demo.grid.cells import Cells
from crowd_demo.registry.built_in import BEHAVIOURS
from crowd_demo.sim.behaviours.people_rules import CREEPING, QUEUING, STUCK, WAITING, PeopleColumns
from crowd_demo.sim.behaviours.wayfinding import WaysOut
from crowd_demo.sim.interaction.pairwise import accumulate, finish, no_sums, observe, perceive
from crowd_demo.sim.interaction.runs import written_out
from crowd_demo.sim.neighbours.schedule import LONGEST
from crowd_demo.sim.neighbours.structure import Lists, Runs, Structure
from crowd_demo.sim.neighbours.trees import TreeStructure
from crowd_demo.sim.neighbours.z_grid import ZGrid
from crowd_demo.sim.simulation import Simulation
from crowd_demo.sim.store.state import Columns

Box = tuple[float, float, float, float]  # left, top, right, bottom in world units
Rows = tuple[tuple[str, str], ...]  # what, and how much
KINDS = "prey", "predator"  # by the number of the kind in hunt.py
AHEAD = 0.5  # cosine of the angle within which another is ahead, or comes from there
USUAL = ("id", "x", "y", "vx", "vy", "avoidance_x", "avoidance_y", "next_update", "goal_x", "goal_y", "heading_x", "heading_y")


class Around(NamedTuple):
    where: str  # the cell or leaf that it is in, in words
    asked: bool  # whether candidates were looked for there in the last step
    own: Box | None  # that cell or leaf
    reach: Box | None  # what it looks into, where that is a rectangle
    candidates: Ints  # slots, without its own


@device
def mark_perceived(columns: Columns, rules: Rules, slot: int, candidates: Ints, found: Bytes) -> None:
    me = observe(rules, columns, np.uintp(slot))
    for k in range(candidates.shape[0]):
        is_neighbour, _ = perceive(rules, me, observe(rules, columns, np.uintp(candidates[k])))
        found[k] = is_neighbour


def perceive_launch(sim: Simulation, slot: int, candidates: Ints) -> tuple[Launch, Bytes]:
    """Return the kernel that finds which candidates are neighbours, and the array that it writes."""
    found = np.zeros(len(candidates), np.uint8)
    return launch(mark_perceived, sim.agents.view, sim.rules, slot, candidates, found), found


def neighbours_of(sim: Simulation, slot: int, candidates: Ints) -> Ints:
    """Return the candidates that are neighbours, also those that a limit leaves out, or a behaviour that wants its nearest."""
    marking, found = perceive_launch(sim, slot, np.ascontiguousarray(candidates, np.int32))
    marking.run()
    return candidates[found > 0]


@device
def find_pushes(columns: Columns, rules: Rules, slots: Ints, first: Ints, candidates: Ints, pushes: Floats) -> None:
    """pushes[k] = the push of candidates[k] alone on the agent in slots[s], for k from first[s] to first[s + 1]."""
    for s in range(slots.shape[0]):
        slot = np.uintp(slots[s])
        me = observe(rules, columns, slot)
        alone = accumulate(rules, me, me, no_sums(rules, columns.x[slot]))  # `finish` subtracts the agent itself
        for k in range(first[s], first[s + 1]):
            sums = accumulate(rules, me, observe(rules, columns, np.uintp(candidates[k])), alone)
            pushes[k, 0], pushes[k, 1], _ = finish(rules, me, sums)


def avoidance_launch(sim: Simulation, slots: Ints, candidates: Sequence[Ints]) -> tuple[Launch, Floats]:
    """Return the kernel that finds how much each candidate pushes its agent, and the array that it writes, float32[n, 2]."""
    first = np.cumsum([0, *map(len, candidates)]).astype(np.int32)
    pushes = np.zeros((int(first[-1]), 2), np.float32)
    joined = np.concatenate([np.zeros(0, np.int32), *candidates]).astype(np.int32)
    return launch(find_pushes, sim.agents.view, sim.rules, slots, first, joined, pushes), pushes


# --- where it looks --------------------------------------------------------------------------------------------------

def around(sim: Simulation, slot: int) -> Around | None:
    """Return where the agent in a slot looks; None while the structure is not built."""
    structure = sim.built_structure
    if sim.searches_grid:
        return _in_cells(sim.grid.view(), slot, sim.grid.cell) if sim.grid.fresh else None
    if structure is None:
        return None
    match structure.candidates():
        case Cells() as cells if cells.columns == 1 and sim.optimizations.neighbours == "none":
            return Around("no cells", True, None, None, _others(np.arange(sim.agents.count, dtype=np.int32), slot))
        case Cells() as cells:
            return _in_cells(cells, slot, structure.domain.grid.cell)
        case Lists() as lists:
            return _in_cells(written_out(lists, sim.agents.count), slot, structure.domain.grid.cell)
        case Runs() as runs:
            return _in_runs(structure, runs, slot)
    return None


def _others(slots: Ints, slot: int) -> Ints:
    return slots[slots != slot]


def _index_of(slot: int, order: Ints, count: int) -> int:
    return int((order[:count] == slot).argmax())


def _box_of(row: int, column: int, reach: int, rows: int, columns: int, cell: float) -> Box:
    return (max(column - reach, 0) * cell, max(row - reach, 0) * cell, min(column + reach + 1, columns) * cell,
            min(row + reach + 1, rows) * cell)


def _in_cells(cells: Cells, slot: int, cell: float) -> Around:
    start = cells.start[:cells.rows * cells.columns + 1]
    index = _index_of(slot, cells.order, int(start[-1]))
    row, column = divmod(int(np.searchsorted(start, index, "right")) - 1, cells.columns)
    left, right = max(column - cells.reach, 0), min(column + cells.reach + 1, cells.columns)
    near = range(max(row - cells.reach, 0), min(row + cells.reach + 1, cells.rows))
    parts = [cells.order[start[each * cells.columns + left]:start[each * cells.columns + right]] for each in near]
    return Around(f"cell {column}, {row}", True, _box_of(row, column, 0, cells.rows, cells.columns, cell),
                  _box_of(row, column, cells.reach, cells.rows, cells.columns, cell), _others(np.concatenate(parts), slot))


def _in_runs(structure: Structure, runs: Runs, slot: int) -> Around:
    groups = int(runs.groups[0])
    index = _index_of(slot, runs.order, int(runs.start[groups]))
    group = int(np.searchsorted(runs.start[:groups + 1], index, "right")) - 1
    parts = [runs.order[runs.first[group, k]:runs.last[group, k]] for k in range(runs.count[group])]
    found = np.concatenate(parts) if parts else np.zeros(0, np.int32)
    if isinstance(structure, TreeStructure):
        left, top, right, bottom = structure.box[(1 << structure.depth) + group].tolist()
        return Around(f"leaf {group}", bool(parts), (left, top, right, bottom), None, _others(found, slot))
    cell = structure.cell if isinstance(structure, ZGrid) else structure.domain.grid.cell
    columns = structure.domain.agents.view
    row, column = int(columns.y[slot] / cell), int(columns.x[slot] / cell)
    return Around(f"group {group}", bool(parts), (column * cell, row * cell, (column + 1) * cell, (row + 1) * cell), None,
                  _others(found, slot))


# --- in words --------------------------------------------------------------------------------------------------------

def sentence_of(sim: Simulation, slot: int, near: Whole) -> str:
    """Return in one sentence what the agent in a slot does, and what holds a person up; `near` are its neighbours."""
    c = cast(PeopleColumns, sim.agents.view)
    speed = speed_text(sim, float(np.hypot(c.vx[slot], c.vy[slot])))
    if "stuck" not in sim.behaviour.states:
        return f"moves at {speed}, with {len(near):,} neighbours"
    goal, timer = f"destination {int(c.goal[slot])}", float(c.timer[slot])
    if c.state[slot] == WAITING:
        return f"waits at {goal} for another {timer:.1f} s"
    if c.state[slot] == QUEUING:
        return f"queues for {goal}, which is full"
    if not timer > 0:
        return f"walks to {goal} at {speed}"
    most = 2 * sim.settings.crowd.stuck_s  # the state counts no farther
    held_up = "queues behind" if c.state[slot] == CREEPING else "blocked by"
    blocked = f"{held_up} {_what_blocks(sim, c, slot, near)} for {'over ' * (timer >= most)}{timer:.1f} s"
    return f"{blocked}, may choose another destination" if slot in may_reconsider(sim) else blocked


def may_reconsider(sim: Simulation) -> Whole:
    """Return the slots of people who may choose another destination in the next step, by the rule of people.py."""
    ways_out, settings = sim.part(WaysOut), sim.settings.crowd
    if ways_out is None or not settings.reconsider_s:
        return np.zeros(0, np.int64)
    state, goal, timer = (sim.agents.row(name) for name in ("state", "goal", "timer"))
    late = np.flatnonzero(timer.view(np.float32) >= np.float32(settings.stuck_s))
    return late[np.isin(state[late], (STUCK, CREEPING)) & (ways_out.areas.columns.fixed[goal[late]] == 0)]


def _what_blocks(sim: Simulation, c: PeopleColumns, slot: int, near: Whole) -> str:
    """Return whoever stands or comes within two arms' lengths ahead, or what else is there."""
    heading_x, heading_y = float(c.heading_x[slot]), float(c.heading_y[slot])
    dx, dy = c.x[near] - c.x[slot], c.y[near] - c.y[slot]
    distance = np.hypot(dx, dy)
    ahead = near[(distance < sim.settings.crowd.gap) & (dx * heading_x + dy * heading_y > AHEAD * distance)]
    standing = np.isin(c.state[ahead], (WAITING, QUEUING))
    oncoming = ~standing & (c.heading_x[ahead] * heading_x + c.heading_y[ahead] * heading_y < -AHEAD)
    counts = (("oncoming", int(oncoming.sum())), ("waiting", int(standing.sum())),
              ("slow", len(ahead) - int(oncoming.sum() + standing.sum())))
    if found := [f"{count} {what} {'person' if count == 1 else 'people'}" for what, count in counts if count]:
        return " and ".join(found)
    tile = sim.terrain.tile_number(*(float(at[slot] + way * sim.terrain.walls.tile)
                                     for at, way in ((c.x, heading_x), (c.y, heading_y))))
    return "a wall" if tile is None or sim.terrain.blocked.flat[tile] else "the crowd around"


def facts_of(sim: Simulation, slot: int) -> Rows:
    columns = sim.agents.view
    kind, wanted = getattr(columns, "kind", None), getattr(columns, "speed", None)
    speed = float(np.hypot(columns.vx[slot], columns.vy[slot]))
    rows = [("speed", speed_text(sim, speed, *(() if wanted is None else (float(wanted[slot]),)), joined=" of ")),
            *_goal_of(sim, slot)]
    if kind is not None:
        rows.append(("kind", KINDS[int(kind[slot])]))
    if sim.behaviour.states:
        state = getattr(columns, "state", None)
        rows.append(("state", sim.behaviour.states[int(state[slot])] if state is not None else "-"))
    return tuple(rows)


def raw_of(sim: Simulation, slot: int) -> Rows:
    """Return what else the columns have of the agent in a slot, and where it lies in memory."""
    agents, columns = sim.agents, sim.agents.view
    x, y = columns.x[slot], columns.y[slot]
    rows = [("behaviour", BEHAVIOURS[sim.config.behaviour].about), ("slot", f"{slot:,} of {agents.count:,}"),
            ("place", f"{metres(x):.2f}, {metres(y):.2f} m" if in_metres(sim) else f"{x:.1f}, {y:.1f}"), *_ages_of(sim, slot)]
    rows.append(("push", f"{columns.avoidance_x[slot]:+.2f}, {columns.avoidance_y[slot]:+.2f}"))
    shown = (*USUAL, "kind", "speed", "state", "goal", "goal_visible")
    rows += [(name.replace("_", " "), f"{column[slot]:.4g}") for name, column in zip(agents.names, columns, strict=True)
             if name not in shown]
    return tuple(rows)


def _goal_of(sim: Simulation, slot: int) -> list[tuple[str, str]]:
    columns = sim.agents.view
    goal = getattr(columns, "goal", None)
    if goal is None:
        return []
    to_x, to_y = getattr(columns, "goal_x", columns.x)[slot], getattr(columns, "goal_y", columns.y)[slot]
    offset = float(np.hypot(to_x - columns.x[slot], to_y - columns.y[slot]))
    seen = getattr(columns, "goal_visible", None)
    sight = "" if seen is None else ", in sight" if seen[slot] else ", not in sight"
    return [("goal", f"destination {int(goal[slot])}{sight}"), ("distance", length_text(sim, offset))]


def _ages_of(sim: Simulation, slot: int) -> list[tuple[str, str]]:
    """Return the age of what the agent knows, in steps before the last one."""
    packed, last = int(sim.agents.view.next_update[slot]), sim.tick - 1
    looked = packed // LONGEST - packed % LONGEST - 1
    rows = [("looked around", _ago(last - looked) if packed and last >= looked else "not yet")]
    identity, state = int(sim.agents.view.id[slot]), getattr(sim.agents.view, "state", None)
    waits = state is not None and int(state[slot]) == WAITING  # such people do not look for their goal
    for name, path in (("looked for goal", "stagger.sight"), ("took heading", "stagger.paths")):
        if path in sim.behaviour.techniques and sim.tick and not (path == "stagger.sight" and waits):
            rows.append((name, _ago((last + identity) % int(sim.optimizations.get(path)))))
    return rows


def _ago(steps: int) -> str:
    return "in the last step" if steps == 0 else f"{steps} step{'s' * (steps != 1)} before"


def inside(sim: Simulation, box: Box) -> Whole:
    """Return the slots of the agents in a rectangle."""
    columns, count = sim.agents.view, sim.agents.count
    x, y = columns.x[:count], columns.y[:count]
    return np.flatnonzero((x >= box[0]) & (x <= box[2]) & (y >= box[1]) & (y <= box[3]))


def counts_of(sim: Simulation, box: Box) -> Rows:
    """Return counts and means of the agents in a rectangle."""
    slots, columns = inside(sim, box), sim.agents.view
    area = max((box[2] - box[0]) * (box[3] - box[1]), 1e-9)
    rows = [("agents", f"{len(slots):,}"), ("density", f"{per_square_metre(len(slots) / area):.2f} per m²" if in_metres(sim)
             else f"{len(slots) / area * 1e4:.2f} per 100 x 100 units")]
    if not len(slots):
        return tuple(rows)
    vx, vy = columns.vx[slots].astype(np.float64), columns.vy[slots].astype(np.float64)
    speed = np.hypot(vx, vy)
    rows += [("mean speed", speed_text(sim, speed.mean())), ("mean way", speed_text(sim, vx.mean(), vy.mean(), sign="+")),
             ("all one way", f"{np.hypot(vx.mean(), vy.mean()) / max(speed.mean(), 1e-9):.0%}"),
             ("mean push", f"{np.hypot(columns.avoidance_x[slots], columns.avoidance_y[slots]).mean():.2f}")]
    if sim.behaviour.states:
        states = [sim.behaviour.states[state] for state in np.asarray(getattr(columns, "state"))[slots]]  # noqa: B009
        rows += [(name, f"{states.count(name):,}") for name in dict.fromkeys(sim.behaviour.states)]
    spread = int(slots.max() - slots.min()) + 1
    rows.append(("memory", f"spread over {spread:,} slots"))
    return tuple(rows)


# --- in words: in metres for people, in world units for all others ---------------------------------------------------

def in_metres(sim: Simulation) -> bool:
    """Return whether these are people, whose sizes and speeds are given in metres."""
    return sim.config.behaviour in ("crowd", "playback")


def length_text(sim: Simulation, units: float) -> str:
    return f"{metres(units):.{2 if metres(units) < 0.995 else 1}f} m" if in_metres(sim) else f"{round(units, 1):g} units"


def size_text(sim: Simulation, width: float, height: float) -> str:
    return f"{metres(width):.1f} x {metres(height):.1f} m" if in_metres(sim) else f"{width:.0f} x {height:.0f} units"


def speed_text(sim: Simulation, *units_a_second: float, joined: str = ", ", sign: str = "") -> str:
    if in_metres(sim):
        return joined.join(f"{metres(each):{sign}.2f}" for each in units_a_second) + " m/s"
    return joined.join(f"{each:{sign}.1f}" for each in units_a_second) + " units/s"


def square_text(sim: Simulation, side: float) -> str:
    length = metres(side)
    text = f"{length:.2g}" if length < 10 else f"{length:.0f}"
    return f"{text} x {text} m" if in_metres(sim) else f"{side:g} x {side:g} units"

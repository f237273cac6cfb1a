"""Many actions of hands in a random order, numbers and undoing among them: one hash, and a recording that replays.

And shorter walks on which techniques are drawn anew. Of either there are as many as CROWD_DEMO_ACTIONS and CROWD_DEMO_WALKS
say: a few by default, 1,000 actions in `.ci/run`, and 300 walks before a release.
"""

import os
import pickle
from pathlib import Path

import numpy as np
import pytest
from crowds import CROWD, CROWDS, ROPE, Settings, open_world, simulation
from recorded_run import replayed

from crowd_demo import api
from crowd_demo.config.model import value_of
from crowd_demo.host.recording.format import read_recording
from crowd_demo.host.recording.recording import Recording
from crowd_demo.registry.entries import EXACT as EXACT_KIND
from crowd_demo.registry.techniques import TECHNIQUES
from crowd_demo.sim.actions import Action, Edit, Place, Populate, SetWalls, Switch, as_data, from_data
from crowd_demo.sim.edits import (
    AddGoal,
    BringIn,
    PaintWalls,
    PutForce,
    Remove,
    RemoveForce,
    SetExit,
    SetGoal,
    TakeOut,
    handles_of,
)
from crowd_demo.sim.events import Event, Send
from crowd_demo.sim.simulation import Simulation
from crowd_demo.sim.terrain.forces import FORCE_KINDS
from crowd_demo.sim.tuning import SetNumbers, Tune

ACTIONS, AGENTS, MAX = int(os.environ.get("CROWD_DEMO_ACTIONS", "600")), 120, 240
WALKS, WALK_STEPS = int(os.environ.get("CROWD_DEMO_WALKS", "9")), 40
WIDE, TALL = 700, 500
EVENTS = """[{hand: build, do: {walls: {rectangle: [100, 100, 300, 180]}, attract: {at: [350, 250], seconds: 1}}},
 {hand: bring, do: {bring_in: {count: 20, at: [400, 300]}, goal: {at: [600, 60]}}}, {tick: 90, do: {agents: 150}}]"""
WALKED: dict[str, Settings] = {
    **{name: {**crowd, "agents": AGENTS, **open_world(WIDE, TALL)} for name, crowd in CROWDS.items()},
    "people with exits": {**CROWD, "agents": AGENTS, **open_world(WIDE, TALL), "crowd__destinations": 4, "crowd__exits": 2,
                          "crowd__area_per_person": 3000, "crowd__wait_s": 1},
    "rope": {**ROPE, "agents": AGENTS}}
SWITCHED: tuple[Settings, ...] = (
    {"neighbours": "none", "simd": "false", "threads": 1}, {"neighbours": "aabb_tree", "threads": 3, "removal": "shift"},
    {"neighbours": "kd_tree", "simd": "false", "threads": 2, "removal": "deferred"},
    {"neighbours": "buckets", "reorder__when": "every", "reorder__every": 2, "threads": 5})

SLOW: Settings = {"neighbours": "none", "simd": "false", "threads": 1}
EXACT = {technique.path: [value for value in technique.choices if value not in technique.approximate_values]
         for technique in TECHNIQUES if technique.kind is EXACT_KIND and technique.path != "neighbour_limit"}


class Hands:
    """Draws actions that a crowd may be able to carry out, and takes some of them back later."""

    def __init__(self, seed: int) -> None:
        self.chance = np.random.default_rng(seed)
        self.undoable: list[tuple[Action, ...]] = []

    def actions(self, sim: Simulation) -> tuple[Action, ...]:
        if self.undoable and self.chance.random() < 0.2:
            return self.undoable.pop()
        drawn = (self.paint, self.tear, self.bring, self.take, self.remove, self.put, self.drop, self.goal, self.move,
                 self.exit, self.tune, self.reset, self.populate, self.send, self.happen, self.place)
        return (drawn[self.below(len(drawn))](sim),)

    def below(self, end: int) -> int:
        return int(self.chance.integers(max(end, 1)))

    def place_at(self) -> tuple[float, float]:
        x, y = self.chance.uniform(-40, (WIDE + 40, TALL + 40)).tolist()
        return x, y

    def paint(self, sim: Simulation) -> Action:
        row, column = self.below(sim.terrain.rows), self.below(sim.terrain.columns)
        return PaintWalls(((row, column, column + 1 + self.below(3)), (row + 1, column, column + 1)), True)

    def tear(self, sim: Simulation) -> Action:
        left, top = self.below(sim.terrain.columns), self.below(sim.terrain.rows)
        return SetWalls((left, top, left + 4, top + 3), False)

    def bring(self, sim: Simulation) -> Action:
        return BringIn(self.below(min(20, MAX - sim.agents.count)), *self.place_at(), 90.0)

    def take(self, sim: Simulation) -> Action:
        return TakeOut(*self.place_at(), float(self.below(60)))

    def remove(self, sim: Simulation) -> Action:
        return Remove(handles_of(sim, np.unique(self.chance.integers(0, MAX, 4)).astype(np.int32)))

    def put(self, sim: Simulation) -> Action:
        number, kind = self.below(sim.forces.next_number + 1), FORCE_KINDS[self.below(len(FORCE_KINDS))]
        return PutForce(number, kind, *self.place_at(), 20.0 + self.below(200), 0.5 + self.below(3), self.below(30))

    def drop(self, sim: Simulation) -> Action:
        return RemoveForce(self.below(sim.forces.next_number))

    def goal(self, sim: Simulation) -> Action:
        return AddGoal(*self.place_at())

    def move(self, sim: Simulation) -> Action:
        return SetGoal(self.below(len(sim.terrain.destinations)), self.below(sim.terrain.blocked.size + 2) - 2)

    def exit(self, sim: Simulation) -> Action:
        return SetExit(self.below(len(sim.terrain.destinations)), bool(self.below(2)))

    def tune(self, sim: Simulation) -> Action:
        number = sim.config.numbers[self.below(len(sim.config.numbers))]
        low, high = number.low, min(number.high, 4 * value_of(sim.config, number.path) + 1)
        value = low + (high - low) * self.below(9) / 8
        return Tune(number.path, float(round(value)) if number.is_whole else value)

    def reset(self, sim: Simulation) -> Action:
        return SetNumbers()

    def populate(self, sim: Simulation) -> Action:
        return Populate(AGENTS + self.below(MAX - AGENTS))

    def send(self, sim: Simulation) -> Action:
        return Send((self.below(4),), False, (0, 0, WIDE / 2, TALL) if self.below(2) else None)

    def happen(self, sim: Simulation) -> Action:
        return Event(self.below(3))

    def place(self, sim: Simulation) -> Action:
        return Place(self.below(MAX), *self.place_at())


def begun(kind: str, switches: Settings | None = None) -> Simulation:
    options = {f"optimizations__{path}": value for path, value in (switches or {}).items()}
    return simulation(**{**WALKED[kind], "events": EVENTS, **options})


def walked(kind: str, path: Path) -> tuple[Simulation, dict[int, str]]:
    """Carry out actions and record them; return the crowd, and its hashes by tick."""
    sim, hands, hashes = begun(kind), Hands(len(kind)), dict[int, str]()
    recording, done, tried = Recording(path, sim), 0, 0
    while done < ACTIONS:
        tried += 1
        for action in hands.actions(sim):
            back = action.inverse(sim) if isinstance(action, Edit) else ()
            try:
                sim.apply(action)
            except ValueError:
                continue  # one that is impossible here changes nothing
            recording.acted(sim.tick, action)
            done += 1
            if back:
                hands.undoable.append(back)
        if tried % 4 == 0:
            sim.step()
            recording.stepped(sim)
            hashes[sim.tick] = sim.state_hash()
    recording.end(sim)
    recording.wait()
    return sim, hashes


def nobody_is_in_a_wall(sim: Simulation) -> bool:
    at, tile = sim.agents.by_id(), float(sim.terrain.walls.tile)
    inside = sim.terrain.blocked[(at.y / tile).astype(int), (at.x / tile).astype(int)]
    return not inside.any() or bool(sim.terrain.blocked.all())


@pytest.mark.parametrize("kind", WALKED)
def test_many_actions_are_one_crowd_and_their_recording_replays(kind: str, tmp_path: Path) -> None:
    sim, hashes = walked(kind, tmp_path / "walk.replay")
    assert len(sim.history) >= ACTIONS and nobody_is_in_a_wall(sim)
    assert len({type(action) for _, action in sim.history}) >= (14 if "crowd" in kind or "people" in kind else 9)
    for switches in SWITCHED:
        other, todo = begun(kind, switches), list(sim.history)
        while other.tick < sim.tick:
            while todo and todo[0][0] == other.tick:
                other.apply(from_data(as_data(todo.pop(0)[1])))
            other.step()
            if other.tick % 25 == 0:
                assert other.state_hash() == hashes[other.tick], (switches, other.tick)
        for _, action in todo:
            other.apply(action)
        assert other.state_hash() == sim.state_hash()
    player, again = replayed(read_recording(tmp_path / "walk.replay"))
    assert player.parted is None and player.compared >= 3
    assert (again.tick, again.state_hash()) == (sim.tick, sim.state_hash())


def switch(chance: np.random.Generator) -> Switch:
    path = tuple(EXACT)[chance.integers(len(EXACT))]
    return Switch(path, EXACT[path][chance.integers(len(EXACT[path]))])


def acted(sims: tuple[Simulation, ...], hands: Hands) -> None:
    """Have every crowd do the same, or none where it is impossible."""
    for action in hands.actions(sims[0]):
        back = action.inverse(sims[0]) if isinstance(action, Edit) else ()
        refused = 0
        for sim in sims:
            try:
                sim.apply(action)
            except ValueError:
                refused += 1
        assert refused in (0, len(sims)), action
        if back and not refused:
            hands.undoable.append(back)


@pytest.mark.parametrize("number", range(WALKS))
def test_a_walk_is_one_crowd_whatever_exact_techniques_are_drawn_on_the_way(number: int) -> None:
    """One crowd goes the slow way; of the other techniques change at every step, it is pickled, and pictures are drawn."""
    kind = tuple(WALKED)[number % len(WALKED)]
    slow, quick = (api.Simulation(begun(kind, switches).config) for switches in (SLOW, {}))
    chance, hands, drawn = np.random.default_rng(number), Hands(1000 + number), list[Switch]()
    for _ in range(WALK_STEPS):
        drawn += [switch(chance) for _ in range(chance.integers(3))]
        for change in drawn[-2:]:
            quick.apply(change)
        acted((slow, quick), hands)
        if chance.random() < 0.1:
            quick = pickle.loads(pickle.dumps(quick))
        if chance.random() < 0.1:
            quick.picture(160, 90)
        slow.step()
        quick.step()
        assert quick.state_hash() == slow.state_hash(), (kind, slow.tick, drawn)

""""""

import math
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import numpy as np
import reference_render as reference
import render_crowds as crowds
from hypothesis import assume, given
from hypothesis import strategies as st

from crowd_demo.compute.jit import launch
from crowd_demo.render.camera import Camera
from crowd_demo.render.drawing import Bounds, Shades
from crowd_demo.render.figures import birds, people, sprited
from crowd_demo.render.figures.people import Facings, face_all, facings
from crowd_demo.sprites.pixels import NO_TINT

SPEEDS = st.integers(-12800, 12800).map(lambda speed: speed / 64)
ATLAS: Any = SimpleNamespace(anchor=(12, 28), size=(24, 32))
EVERYWHERE = Bounds(*map(np.float32, (-np.inf, -np.inf, np.inf, np.inf)))


def view():
    camera = Camera((crowds.WIDTH, crowds.HEIGHT), (640, 480))
    camera.look_at(200, 150, 1.3)
    return camera.view()


def mode_of(agents, seed=0):
    rng = np.random.default_rng(seed)
    turn = rng.uniform(0, math.tau, len(agents.id))
    return people.PeopleMode(agents.id, np.float32(1 / 60), 8, rng.integers(0, 3, len(agents.id)).astype(np.int32),
                             np.cos(turn).astype(np.float32), np.sin(turn).astype(np.float32), np.float64(0), EVERYWHERE,
                             people.facings(int(agents.id.max()) + 1))


def later(mode, time_s):
    return mode._replace(time_s=np.float64(time_s))


def moved(mode, order):
    return mode._replace(id=mode.id[order], state=mode.state[order], heading_x=mode.heading_x[order],
                         heading_y=mode.heading_y[order])


def posed(slots, agents, mode, workers=2, shades=None):
    poses = sprited.Poses()
    now: Any = SimpleNamespace(workers=workers, agents=agents, ahead=np.float32(1 / 60), view=view())
    poses.launch(now, slots, mode, ATLAS, shades).run()
    return poses.draws(len(slots))


@given(SPEEDS, SPEEDS, st.sampled_from([people.DIRECTION_SLOPES, birds.HEADING_SLOPES]))
def test_the_sector_is_that_of_the_angle(vx, vy, slopes):
    expected, off_centre = reference.sector(vx, vy, 8 * len(slopes))
    assume(abs(off_centre) < 0.4999)
    assert sprited.sector(np.float32(vx), np.float32(vy), slopes) == expected


@given(crowds.seeds, crowds.counts, crowds.workers)
def test_an_agent_looks_the_same_in_any_slot_and_for_any_number_of_workers(seed, count, workers):
    agents = crowds.crowd(seed, count)
    wants = mode_of(agents)
    order = np.random.default_rng(seed).permutation(count + 16)
    agents_moved = type(agents)(*(column[order] for column in agents))
    here = np.arange(count, dtype=np.int32)
    there = np.argsort(order).astype(np.int32)[:count]
    assert np.array_equal(posed(here, agents, wants, workers), posed(there, agents_moved, moved(wants, order), 1))


def test_people_show_state_look_and_direction():
    agents = crowds.crowd(1, 200)
    wants = mode_of(agents)
    slots = np.arange(200, dtype=np.int32)
    look, rest = np.divmod(posed(slots, agents, wants).sprite, 8 * people.POSES)
    direction, shown = np.divmod(rest, people.POSES)
    state = wants.state[:200]
    stands = np.hypot(agents.vx[:200], agents.vy[:200]) <= people.FIRST_STEP
    assert (shown[state == 1] == people.WAIT_POSE).all()
    assert (shown[(state == 2) & stands] == people.STUCK_POSE).all()
    assert set(shown[(state != 1) & ~stands]) == set(range(8))
    assert set(look) == set(range(8)) and set(direction) == set(range(8))


def test_the_walk_goes_by_the_distance_walked_and_back_with_time():
    """Who walks east takes the eight frames in turn, one each eighth of a cycle; where somebody stands, nothing moves."""
    agents = crowds.crowd(1, 1)
    agents.vx[0], agents.vy[0] = 60.0, 0.0
    wants = mode_of(agents)._replace(state=np.zeros(17, np.int32), ahead=np.float32(0))
    frames = []
    for step in range(16):
        agents.x[0] = 100.0 + people.CYCLE / 8 * (step + 0.25)
        frames.append(int(posed(np.zeros(1, np.int32), agents, wants).sprite[0]) % people.POSES)
    assert frames[:8] == frames[8:] and sorted(frames[:8]) == list(range(8))
    assert all((later - frame) % 8 == 1 for frame, later in pairwise(frames))
    again = posed(np.zeros(1, np.int32), agents, wants).sprite[0] % people.POSES
    assert again == frames[-1], "without time passing nothing moves"
    agents.x[0] = 100.0 + people.CYCLE / 8 * 3.25
    assert posed(np.zeros(1, np.int32), agents, wants).sprite[0] % people.POSES == frames[3], "and it goes back"


def test_feet_stand_on_the_floor_of_the_screen_position():
    agents = crowds.crowd(2, 50)
    slots = np.arange(50, dtype=np.int32)
    draws, shown = posed(slots, agents, mode_of(agents)), view()
    for slot in slots:
        x = reference.drawn(agents.x[slot], agents.vx[slot], np.float32(1 / 60))
        assert draws.left[slot] == math.floor(np.float32(np.float32(x - shown.left) * shown.zoom)) - 12


def test_sprites_have_the_tint_of_their_shade_or_none():
    agents = crowds.crowd(2, 50)
    slots = np.arange(50, dtype=np.int32)[::-1].copy()
    shades = Shades((np.arange(50) % 3).astype(np.uint8), np.array([0x102030, 0xFFFFFF, 0x40], np.uint32))
    assert (posed(slots, agents, mode_of(agents)).tint == NO_TINT).all()
    tints = posed(slots, agents, mode_of(agents), shades=shades).tint
    assert tints.tolist() == [(0xFF102030, NO_TINT, 0xFF000040)[k % 3] for k in range(50)]


def test_birds_beat_their_wings_one_by_one_and_sprites_stay_in_the_sheet():
    agents = crowds.crowd(3, 200)
    slots = np.arange(200, dtype=np.int32)
    flaps = set()
    for time_s in np.arange(0, 8, 0.1):
        sprites = posed(slots, agents, birds.BirdMode(agents.id, np.float64(time_s), 3, 0)).sprite
        assert sprites.min() >= 0 and sprites.max() < 3 * 4 * 32
        flaps |= set((sprites // 32 % 4).tolist())
    assert flaps == {0, 1, 2, 3}


# --- how people turn in the picture ----------------------------------------------------------------------------------

DT = 1 / 60


class Walker:
    """Somebody with id 3 and a memory of five ids."""

    def __init__(self) -> None:
        self.known, self.time_s = facings(5), 0.0

    def look(self, degrees: float, passed_s: float = DT, speed: float = 30.0) -> int:
        """The drawn direction, when it walks there for so long."""
        self.time_s += passed_s
        turn = math.radians(degrees)
        return int(faced(self.known, speed * math.cos(turn), speed * math.sin(turn), (1, 0), self.time_s)[3])


def faced(known: Facings, vx: float, vy: float, heading: tuple[float, float], time_s: float) -> Any:
    ids = np.array([3], np.int32)
    x, y, to_x, to_y = (np.array([value], np.float32) for value in (vx, vy, *heading))
    launch(face_all, 1, ids, x, y, to_x, to_y, 1, np.float64(time_s), known).run()
    return known.direction


def test_a_turn_is_seen_within_a_fifth_of_a_second_but_not_at_once() -> None:
    walker = Walker()
    assert walker.look(0) == 0
    seen = [walker.look(90) for _ in range(30)]
    assert seen[0] == 0 and seen[12] == 2
    assert seen == sorted(seen), "the short way round"

"""The crowd's time: any tick of the past has the hash that it had, and a new action there drops the old future."""

from pathlib import Path

import numpy as np
import pygame
import pytest
from crowds import BIRTHS_AND_DEATHS, Settings, open_world, simulation
from driven import Driven
from recorded_run import replayed

from crowd_demo.app.crowd import Crowd
from crowd_demo.app.screen import Notices
from crowd_demo.host.recording.format import read_recording
from crowd_demo.registry.techniques import TECHNIQUES
from crowd_demo.render.hud.canvas import scale_for
from crowd_demo.render.hud.navigation import column_of
from crowd_demo.render.hud.panel_layout import bar_of
from crowd_demo.sim.actions import Action, Populate, SetWalls, Switch
from crowd_demo.sim.simulation import Simulation

ROOMY_MB = 64.0
ROPES: Settings = {"links__pattern": "rope", "links__length": 7, "links__stiffness": 100}
SETTINGS: Settings = {"agents": 200, "time__step_hz": 20, **open_world(600, 500)}


def crowd_of(sim: Simulation, rewind_mb: float = ROOMY_MB) -> Crowd:
    return Crowd(sim.config, sim, None, rewind_mb, Notices())


def go(crowd: Crowd, tick: int) -> int:
    """Go to a tick; return the tick reached."""
    crowd.sought = tick
    crowd.carry_out_changes(lambda: True)
    assert crowd.sought is None
    return crowd.sim.tick


def random_action(chance: np.random.Generator) -> Action:
    kind = chance.integers(3)
    if kind == 0:
        return Populate(int(chance.integers(100, 300)))
    if kind == 1:
        left, top = chance.integers(8, size=2).tolist()
        return SetWalls((left, top, left + 2, top + 2), bool(chance.integers(2)))
    technique = TECHNIQUES[chance.integers(len(TECHNIQUES))]
    if technique.path in ("neighbours", "neighbour_limit", "simd"):  # each of their choices takes long to compile
        return Switch("stagger.avoidance", int(chance.integers(1, 5)))
    return Switch(technique.path, technique.choices[chance.integers(len(technique.choices))])


def play(crowd: Crowd, ticks: int, chance: np.random.Generator) -> dict[int, str]:
    """Go on with random actions; return the hash of each tick, after its actions."""
    hashes = {}
    for _ in range(ticks):
        crowd.step()
        if chance.random() < 0.3:
            crowd.carry_out(random_action(chance))
        hashes[crowd.sim.tick] = crowd.sim.state_hash()
    return hashes


@pytest.mark.parametrize("kind", [{}, BIRTHS_AND_DEATHS, ROPES], ids=["plain", "births", "links"])
def test_every_tick_has_the_hash_that_it_had(kind: Settings) -> None:
    """And the crowd is what it is without going back."""
    chance = np.random.default_rng(1)
    crowd = crowd_of(simulation(**SETTINGS, **kind))
    hashes = {0: crowd.sim.state_hash(), **play(crowd, 120, chance)}
    assert (crowd.timeline.oldest, crowd.timeline.newest) == (0, 120)
    for tick in [0, 120, 119, *chance.integers(121, size=40).tolist(), 120]:
        assert go(crowd, tick) == tick == crowd.sim.tick
        assert crowd.sim.state_hash() == hashes[tick], tick
    assert crowd.timeline.newest == 120
    alone: Simulation = simulation(**SETTINGS, **kind)
    for tick, action in [*crowd.sim.history, (120, None)]:
        alone.step(tick - alone.tick)
        if action:
            alone.apply(action)
    assert alone.state_hash() == crowd.sim.state_hash()


def reaches(crowd: Crowd, steps: int) -> list[int]:
    """Make steps; return how many ticks back one can go after each of them, within the memory bound."""
    found, timeline = [], crowd.timeline
    for _ in range(steps):
        crowd.step()
        assert timeline.keyframes.nbytes <= timeline.keyframes.bound
        found.append(timeline.newest - timeline.oldest)
    return found


def test_the_last_minute_is_kept_where_it_fits() -> None:
    sim = simulation(**SETTINGS)
    crowd = crowd_of(sim, 30 * sim.snapshot().columns.nbytes / 1e6)
    ticks = reaches(crowd, 2000)
    assert min(ticks[1300:]) >= 60 * 20 * 0.9 and max(ticks) < 60 * 20 * 1.2
    assert crowd.timeline.keyframes.every <= 5 * 20
    roomy = crowd_of(sim)
    assert reaches(roomy, 200) and roomy.timeline.keyframes.every == 10
    one = crowd_of(sim, sim.snapshot().nbytes * 1.5 / 1e6)
    assert max(reaches(one, 300)) == 5 * 20 - 1, "a single keyframe reaches a few seconds"


@pytest.mark.parametrize("bound", [0, 1000])
def test_without_memory_there_is_no_way_back_but_for_nobody(bound: int) -> None:
    crowd = crowd_of(simulation(**SETTINGS), bound / 1e6)
    assert reaches(crowd, 2) == [0, 0] and crowd.timeline.keyframes.nbytes == 0
    assert go(crowd, 2) == 2
    assert go(crowd, 1) == 2
    nobody = crowd_of(simulation(agents=0), 1.0)
    assert reaches(nobody, 200) and go(nobody, 10) == 10


def test_seeking_can_be_stopped_between_steps() -> None:
    crowd = crowd_of(simulation(**SETTINGS))
    hashes = play(crowd, 30, np.random.default_rng(5))
    asked = iter([True, True, False])
    go(crowd, 0)
    crowd.sought = 9
    crowd.carry_out_changes(lambda: next(asked))
    assert crowd.sim.tick == 2
    assert crowd.sim.state_hash() == hashes[2] and crowd.timeline.newest == 30


# --- Going back in the program, by keys and on the timeline, with what is recorded meanwhile -------------------------

def hashes_of(driven: Driven, ticks: int) -> dict[int, str]:
    """Run; the state hash at each tick."""
    found = {driven.program.sim.tick: driven.program.sim.state_hash()}
    for _ in range(ticks):
        driven.frames()
        found[driven.program.sim.tick] = driven.program.sim.state_hash()
    return found


def leads_here(driven: Driven, path: Path) -> bool:
    """End the recording; does it lead to the state that there is now?"""
    sim = driven.program.sim
    end, last = sim.tick, sim.state_hash()
    driven.program.files.finish(10)
    player, again = replayed(read_recording(path))
    return player.parted is None and (again.tick, again.state_hash()) == (end, last)


def test_steps_back_and_forth_lead_through_the_same_states(driven: Driven) -> None:
    hashes, program = hashes_of(driven, 70), driven.program
    newest = program.sim.tick
    for tick in range(newest - 1, newest - 8, -1):
        driven.press("backspace")
        assert program.crowd.paused and program.sim.tick == tick and program.sim.state_hash() == hashes[tick]
    for tick in range(newest - 6, newest + 1):
        driven.press(".")
        assert program.sim.tick == tick and program.sim.state_hash() == hashes[tick]
    driven.press("space")
    assert program.sim.tick == newest + 1


def test_a_press_on_the_timeline_goes_there_and_a_drag_follows(driven: Driven) -> None:
    hashes, program = hashes_of(driven, 200), driven.program
    bar, past = bar_of(program.camera.size, scale_for(program.camera.size)), program.crowd.past()
    for kind, tick in ((pygame.MOUSEBUTTONDOWN, 60), (pygame.MOUSEMOTION, 120), (pygame.MOUSEMOTION, 20)):
        at = bar.left + column_of(past, tick, bar.width), bar.centery
        more = {"button": 1} if kind == pygame.MOUSEBUTTONDOWN else {"rel": (0, 0), "buttons": (1, 0, 0)}
        driven.post(kind, pos=at, **more)
        assert abs(program.sim.tick - tick) <= past.span / bar.width + 1
        assert program.sim.state_hash() == hashes[program.sim.tick] and program.crowd.paused
    driven.post(pygame.MOUSEBUTTONUP, pos=at, button=1)
    before = program.sim.tick
    driven.post(pygame.MOUSEMOTION, pos=(bar.left, bar.centery), rel=(0, 0), buttons=(0, 0, 0))
    driven.post(pygame.MOUSEBUTTONDOWN, pos=(bar.centerx, bar.top - 60), button=1)
    assert program.sim.tick == before


def test_the_timeline_does_not_move_while_a_dialog_is_open_and_a_click_on_it_closes_that(driven: Driven) -> None:
    program = driven.program
    driven.frames(200)
    bar = bar_of(program.camera.size, scale_for(program.camera.size))
    middle = bar.left + column_of(program.crowd.past(), 60, bar.width), bar.centery
    for keys in (("escape",), ("f2",), ("return",)):
        driven.keys(*keys)
        assert program.dialogs.top
        driven.drag(middle, (bar.left + 2, bar.centery))
        assert program.dialogs.top and not program.crowd.in_past and not program.crowd.paused
        driven.drag(middle)
        assert not program.dialogs.top and not program.crowd.in_past
    driven.drag(middle, release=False)
    assert program.crowd.in_past
    tick = program.sim.tick
    driven.press("escape")
    driven.move((bar.left + 2, bar.centery), button=1)
    assert program.dialogs.top and program.sim.tick == tick, "a question that is opened ends a drag"


def test_what_is_done_after_going_back_is_the_new_future_also_of_a_recording(driven: Driven, tmp_path: Path) -> None:
    program = driven.program
    program.files.start_recording(tmp_path / "a.replay")
    driven.frames(100)
    for _ in range(40):
        driven.press("backspace")
    newest = program.crowd.timeline.newest
    tick = program.sim.tick
    driven.press("-")
    assert program.crowd.timeline.newest == tick < newest
    driven.press("space", frames=51)
    driven.press("backspace")  # the recording ends one step before the newest
    assert leads_here(driven, tmp_path / "a.replay")


def test_a_crowd_that_is_too_large_says_so(driven: Driven) -> None:
    program = driven.program
    program.crowd._bound = 1000
    program.crowd.apply(program.crowd.begin_past)
    driven.frames(5)
    tick = program.sim.tick
    driven.press("backspace")
    assert program.sim.tick == tick + 1 and "needs more than" in driven.status().notices[-1] and not program.crowd.paused


@pytest.mark.parametrize(("key", "mod"), [("f7", 0), ("tab", pygame.KMOD_LSHIFT)])
def test_the_timeline_can_be_hidden_and_then_it_is_said_that_this_is_the_past(driven: Driven, key: str, mod: int) -> None:
    driven.frames(30)
    assert driven.status().past
    driven.press(key, mod)
    driven.press("backspace")
    assert not driven.status().past and driven.status().notices[-1].startswith("0.02 s ago, tick ")


def test_a_recording_that_begins_in_the_past_drops_what_came_then(driven: Driven, tmp_path: Path) -> None:
    program = driven.program
    driven.frames(40)
    driven.press("-", frames=41)
    driven.press("backspace")
    program.crowd.sought = 20
    driven.frames()
    program.files.start_recording(tmp_path / "a.replay")
    assert not program.crowd.in_past and "dropped" in driven.status().notices[-1]
    driven.press("space", frames=131)
    assert leads_here(driven, tmp_path / "a.replay")


# --- replayed, and the same ------------------------------------------------------------------------------------------

def verdict(driven: Driven) -> str:
    """What the window says of the replayed steps, once it does."""
    driven.until(lambda: driven.status().notices and driven.status().notices[-1].startswith("replayed"))
    return driven.status().notices[-1]


def test_when_replayed_steps_reach_the_present_the_hashes_are_compared(driven: Driven) -> None:
    driven.frames(40)
    driven.press("-", frames=31)
    newest, left, crowd = driven.program.sim.tick, driven.program.sim.state_hash(), driven.program.crowd
    driven.program.controls.seek(20)
    driven.frames()
    driven.program.controls.pause()
    driven.until(lambda: not crowd.in_past)
    assert driven.program.sim.tick == newest
    assert verdict(driven) == f"replayed: same hash ({left[:8]} at tick {newest:,}, {newest / 60:.1f} s made again)"
    driven.program.notices.shown.clear()
    driven.frames(3)
    assert driven.status().notices == [], "it is said once, and new steps are not replayed"


def test_a_replayed_stretch_that_leads_elsewhere_is_told(driven: Driven) -> None:
    driven.frames(40)
    newest, left = driven.program.sim.tick, driven.program.sim.state_hash()[:8]
    driven.press("backspace")
    driven.program.sim.agents.columns.x[3] += 1
    driven.press(".")
    again = driven.program.sim.state_hash()[:8]
    assert left != again
    assert verdict(driven) == f"replayed: ANOTHER HASH at tick {newest}: it was {left}, and now it is {again}"

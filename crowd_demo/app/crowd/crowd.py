"""The crowd that is shown: its simulation, its past and its recording, and what is asked of it until the next step.

The main thread asks. Steps and changes are made in the worker's thread, so the window does not wait for a long step.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from crowd_demo.app.crowd.meter_schedule import Meters
from crowd_demo.app.input.commands import KeyAction, KeyActions
from crowd_demo.app.process.system import give_back_freed
from crowd_demo.app.recording.recording import Player, Recording
from crowd_demo.app.recording.rewind import Rewind
from crowd_demo.app.screen.notices import Notices
from crowd_demo.config.memory import AGENT, shortage
from crowd_demo.config.model import MOST_AGENTS, Config
from crowd_demo.render.camera import Camera
from crowd_demo.render.hud.status import Past
from crowd_demo.render.scene import Scene
from crowd_demo.sim.actions import Action, Place, Populate
from crowd_demo.sim.simulation import Simulation

HAWK = 0  # predators have the lowest ids


def fewer(count: int) -> int:
    """A fifth less, rounded to two digits."""
    return max(min(_two_digits(count * 0.8), count - 1), 0)


def more(count: int) -> int:
    """A quarter more, rounded to two digits."""
    return min(max(_two_digits(count * 1.25), count + 1), MOST_AGENTS)


def _two_digits(count: float) -> int:
    return int(float(f"{count:.1e}"))


class Crowd:
    """`changes` are carried out before the next step. With a `player` this is a replay, which takes no changes."""

    def __init__(self, config: Config, sim: Simulation, scene: Scene | None, rewind_mb: float, notices: Notices) -> None:
        self.config, self.sim, self.scene = config, sim, scene
        self.agents_asked = sim.agents.count
        self.changes: list[Callable[[], None]] = []
        self.meters = Meters()
        self.rewind = Rewind(sim, rewind_mb)
        self.recording: Recording | None = None
        self.player: Player | None = None
        self._notices = notices

    @property
    def actions(self) -> KeyActions:
        return {"restart": KeyAction(self.restart, changes=True),
                "fewer": KeyAction(lambda: self.populate(fewer(self.agents_asked)), changes=True),
                "more": KeyAction(lambda: self.populate(more(self.agents_asked)), changes=True)}

    def takes_changes(self) -> bool:
        """Say so if it takes none."""
        if self.player:
            self._notices.add("this is a replay: it takes no changes", "replay")
        return self.player is None

    def past(self) -> Past:
        """What the timeline shows."""
        recorded = self.recording.nbytes if self.recording else None
        return self.rewind.past()._replace(recorded=recorded, replayed=self.player is not None)

    # --- asking ------------------------------------------------------------------------------------------------------

    def apply(self, action: Action) -> None:
        self.changes.append(partial(self.carry_out, action))

    def populate(self, count: int) -> None:
        self.agents_asked = count
        self.apply(Populate(count))
        self._notices.add(f"{count:,} agents", "agents")

    def forget_past(self) -> None:
        """Let the past begin now."""
        self.changes.append(lambda: self.rewind.begin(self.sim))

    def restart(self) -> None:
        """Start again with the same seed, with as many agents as now, and with the present techniques."""
        self.changes.append(self._restart)
        self._notices.add("started again", "restart")

    # --- in the worker's thread, between two steps -------------------------------------------------------------------

    def carry_out_changes(self, go_on: Callable[[], bool]) -> None:
        """Go to the tick that is sought, while `go_on` says so, and apply what was asked for."""
        if self.rewind.go(go_on):
            self.agents_asked = self.sim.agents.count
        changes, self.changes = self.changes, []
        for change in changes:
            change()
        if changes:
            give_back_freed()  # by these changes, or since the last ones: a switch takes effect in the step

    def carry_out(self, action: Action) -> None:
        """Do it to the crowd; say so if it cannot be done."""
        self.begin_new_future()
        try:
            self.rewind.timeline.apply(action)
        except ValueError as error:
            self.agents_asked = self.sim.agents.count
            self._notices.add(str(error))
            return
        if self.recording:
            self.recording.acted(self.sim.tick, action)

    def step(self) -> bool:
        """Make a step, of the replay if this is one. Return whether the replay is over with it."""
        if self.rewind.in_past:
            self.rewind.timeline.step()
        elif not self.player:
            self.rewind.timeline.step()
            if self.recording:
                self.recording.stepped(self.sim)
        elif not self.player.done:
            return self._replay_step(self.player)
        return False

    def go_on_with(self, sim: Simulation, left: int) -> None:
        """Go on with another simulation of the same world, or with the present one in another state, after the tick `left`."""
        sim.profile = self.sim.profile
        self.sim = sim
        self.rewind.begin(sim)
        self.meters = Meters()
        if self.scene:
            self.scene.sim = self.sim
        if self.recording:
            self.recording.begin(sim, left)

    def begin_new_future(self) -> None:
        """If this is the past: what came after it did not happen."""
        timeline = self.rewind.timeline
        if self.rewind.in_past:
            left = timeline.newest
            timeline.drop_future()
            if self.recording:
                self.recording.rewound(self.sim, left)
            self._notices.add(f"a new future: {(left - self.sim.tick) * self.sim.dt:.1f} s dropped", "rewind")

    def _restart(self) -> None:
        if short := shortage(self.agents_asked * AGENT):
            self._notices.add(f"a new crowd beside the present one: {short}", "restart")
            return
        again = {"agents": self.agents_asked, "optimizations": self.sim.optimizations}
        self.go_on_with(Simulation(self.config.model_copy(update=again)), self.sim.tick)

    def _replay_step(self, player: Player) -> bool:
        part, left = player.part, self.sim.tick
        sim = player.step()
        if player.part is part:
            self.rewind.timeline.stepped()
        else:
            self.go_on_with(sim, left)
        return player.done


class Hawk:
    """The hawk under the pointer: while that is wanted, the first predator is put where the cursor is, once a frame.

    `cursor` is where the mouse is, in pixels.
    """

    def __init__(self, crowd: Crowd, camera: Camera, notices: Notices) -> None:
        self.led = False
        self.cursor = camera.size[0] / 2, camera.size[1] / 2
        self._crowd, self._camera, self._notices = crowd, camera, notices

    @property
    def actions(self) -> KeyActions:
        return {"hawk": KeyAction(self.toggle, changes=True)}

    def toggle(self) -> None:
        if not self._exists():
            self._notices.add("there is no hawk here: F2 opens murmuration", "hawk")
            return
        self.led = not self.led
        self._notices.add("the hawk follows the pointer" if self.led else "the hawk hunts by itself", "hawk")

    def lead(self) -> None:
        """Call from the thread that makes the steps, before those of a frame. In the past it flies as it did."""
        if self.led and self._exists() and not self._crowd.player and not self._crowd.rewind.in_past:
            self._crowd.carry_out(Place(HAWK, *self._camera.screen_to_world(*self.cursor)))

    def _exists(self) -> bool:
        config = self._crowd.config
        return config.behaviour == "hunt" and config.hunt.predators > 0 and self._crowd.sim.agents.count > 0

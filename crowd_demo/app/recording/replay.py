"""Replay a recording: make its steps with its actions at their ticks, and compare the state hashes.

It says that they are the same, or at which tick they part. Whoever ended without writing an end was ended by something else:
such a recording is replayed for as long as it may have gone on after its last line, so what ended it comes again.
"""

from __future__ import annotations

from crowd_demo.app.recording.format import Part, RecordingError, Script
from crowd_demo.app.recording.recording import hash_interval
from crowd_demo.registry.texts import printable
from crowd_demo.sim.save_format import SaveError, check
from crowd_demo.sim.simulation import Simulation
from crowd_demo.sim.snapshot import Snapshot


class Player:
    """Plays a script; call `start`, then `step` until `done`. `start_at` is the first tick whose hash is compared."""

    def __init__(self, script: Script, start_at: int = 0) -> None:
        self.script, self.start_at = script, start_at
        self.done = False
        self.compared = 0  # hashes that were the same
        self.parted: tuple[int, str, str] | None = None  # tick, the recorded hash, the present one
        self.begun = False  # whether `start_at` was reached
        self._number = 0  # of the part
        self._next = 0  # of its actions

    @property
    def part(self) -> Part:
        return self.script.parts[self._number]

    def start(self, sim: Simulation) -> Simulation:
        """Return the simulation to begin with: this one, if its configuration is the recorded one. Raises RecordingError."""
        return self._follow(self._begin(sim))

    def _begin(self, sim: Simulation) -> Simulation:
        """Return a simulation at the beginning of the present part."""
        start = self.part.start
        try:
            if isinstance(start, Snapshot):
                sim = sim if sim.config is start.config else Simulation(start.config)
                check(start, sim)
                sim.restore(start)
            elif sim.config is not start or sim.tick:
                sim = Simulation(start)
            if self.part.map_digest not in (None, sim.terrain.map_digest):
                raise SaveError(f"the map {sim.config.map} has changed since")
        except SaveError as error:
            raise self._error(str(error)) from None
        self._next = 0
        return sim

    def step(self, sim: Simulation) -> Simulation:
        """Make a step; return the simulation to go on with: another one after a restart."""
        if self.done:
            return sim
        if sim.tick < self._end(sim):
            sim.step()
            self._compare(sim, self.part.hashes.get(sim.tick, ""))
        return self._follow(sim)

    def _follow(self, sim: Simulation) -> Simulation:
        """Do what was done at this tick; begin the next part if this was the last tick of one."""
        while True:
            self.begun = self.begun or sim.tick >= self.start_at
            self._act(sim)
            if self.done or sim.tick < self._end(sim):
                return sim
            if self._is_last:
                self._compare(sim, self.part.last_hash)
                self.done = True
                return sim
            self._number += 1
            sim = self._begin(sim)

    def _act(self, sim: Simulation) -> None:
        while self._next < len(self.part.actions) and self.part.actions[self._next][0] <= sim.tick:
            try:
                sim.apply(self.part.actions[self._next][1])
            except ValueError as error:
                raise self._error(f"tick {sim.tick}: {error}") from None
            self._next += 1

    @property
    def _is_last(self) -> bool:
        return self._number == len(self.script.parts) - 1

    def _end(self, sim: Simulation) -> int:
        """The tick at which the present part is over."""
        if not self._is_last or (self.script.ended and not self.script.crash):
            return self.part.end
        return self.part.end + (1 if self.script.crash else hash_interval(sim))

    def _compare(self, sim: Simulation, recorded: str) -> None:
        """Compare the present state with a hash, if one was recorded."""
        if not recorded or not (self.begun or sim.tick >= self.start_at):
            return
        present = sim.state_hash()
        if present == recorded:
            self.compared += 1
        else:
            self.parted, self.done = (sim.tick, recorded, present), True

    def verdict(self, tick: int) -> str:
        """Say in one line how it went, up to the tick reached."""
        name = self.script.path
        if self.parted:
            at, recorded, present = self.parted
            return printable(f"{name}: parts at tick {at:,}: {recorded} was recorded, {present} is here")
        how = "" if self.script.ended else "; the recording was cut off there" if self.done else ""
        crash = f"; there it crashed: {self.script.crash}" if self.script.crash else ""
        left = "" if self.done else " (not to its end)"
        hashes = f"{self.compared:,} hash{'es' * (self.compared != 1)}"
        return printable(f"{name}: the same {hashes} up to tick {tick:,}{left}{how}{crash}")

    def report(self) -> dict[str, object]:
        """For `--report`."""
        return {"recording": str(self.script.path), "complete": self.done and not self.parted, "hashes": self.compared,
                "parted_at": self.parted[0] if self.parted else None}

    def _error(self, text: str) -> RecordingError:
        return RecordingError(printable(f"{self.script.path}: {text}"))

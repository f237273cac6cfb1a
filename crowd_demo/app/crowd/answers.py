"""The answers to the questions of scenarios: shown when an event ends the run, beside the answer of the run before.

They are kept as long as the window is open. Two runs are compared if they have the same doors.
"""

from __future__ import annotations

from crowd_demo.app.key_input import Keymap
from crowd_demo.measure.outcome import outcome_of
from crowd_demo.render.hud.answer import Answer, Run
from crowd_demo.sim.simulation import Simulation

KEYS = {"restart": "again", "happen": "then {}", "export": "a page", "quit": "close"}  # what they do; they close the answer


class Answers:
    def __init__(self) -> None:
        self.runs: list[Run] = []  # the last one is shown last
        self.answer: Answer | None = None
        self._seen: int | None = None  # the tick of the answer that was shown

    def look(self, sim: Simulation, name: str | None, keymap: Keymap) -> None:
        """Show the answer once there is one, until the crowd is no longer there. Call in every frame."""
        end = sim.events.end_tick
        if end == self._seen:
            return
        self._seen, self.answer = end, None
        if end is None:
            return
        found, happened = outcome_of(sim), sim.events.happened
        hands = {tick: event.text for number, event in enumerate(sim.config.events)
                 if event.hand and (tick := happened.get(number)) is not None}
        about = hands[max(hands)] if hands else name or "this run"
        run = Run(about, found.answer_s or 0.0, found.passed, found.tenths_s)
        if run not in self.runs[-1:]:
            self.runs.append(run)
        before = next((each for each in self.runs[-2::-1] if each.doors.keys() == run.doors.keys()), None)
        by_hand = next((event.hand for event in sim.config.events if event.hand), "")
        keys = [(action, key, what.format(by_hand)) for action, what in KEYS.items()
                if (key := keymap.name(action)) and (by_hand or action != "happen")]
        self.answer = Answer(found.said, found.first, run, before, keys)

    def close(self) -> bool:
        """Put the answer away; return whether there was one."""
        was_shown, self.answer = self.answer is not None, None
        return was_shown

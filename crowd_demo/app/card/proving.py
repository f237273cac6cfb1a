"""Which proof a switch gets, and when it can begin."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from crowd_demo.compute.arrays import Floats
from crowd_demo.config.optimizations import Optimizations
from crowd_demo.measure.before_after import Times
from crowd_demo.measure.proof import DrawnView, Finding, Pictures, ProofInParts, Replicas, Values
from crowd_demo.measure.proof_of_answers import Answers
from crowd_demo.profile import Profile
from crowd_demo.registry.entries import EXACT, Kind, Technique
from crowd_demo.registry.stages import text_of
from crowd_demo.registry.techniques import kind_of_all, strongest
from crowd_demo.sim.simulation import Simulation

FRAME_MS = 1000 / 60  # two copies make steps where a step is shorter,
MOST_BYTES = 32_000_000  # and the columns of a crowd take no more
FEW_STEPS, ENOUGH_MS = 3, 500.0  # how long a step takes now is known after so many, or when they have taken so long


NOTHING: Iterator[Finding] = iter(())


class Switched(NamedTuple):
    """Techniques that took effect together, and their values before and since, by path."""

    old: Values
    new: Values

    def then(self, later: Switched) -> Switched:
        """Both, one after the other; without what came back to its old value."""
        old, new = {**later.old, **self.old}, {**self.new, **later.new}
        changed = [path for path in new if new[path] != old[path]]
        return Switched({path: old[path] for path in changed}, {path: new[path] for path in changed})

    def kind(self, options: Optimizations) -> Kind:
        """What either value does to the crowd."""
        return strongest(kind_of_all(values, options.get) for values in self)


def is_drawn(technique: Technique) -> bool:
    """Does it change how a picture is made, and not a step?"""
    return text_of(technique.stage).part == "draw"


class Proving:
    """`finding` is what is known so far. `drawn`: drawing was switched; `before` are the times of steps before."""

    def __init__(self, switched: Switched, sim: Simulation, drawn: bool, before: Times) -> None:
        self.finding = Finding("running", "comparing begins with the next steps")
        self._switched, self._drawn = switched, drawn
        self._exact = switched.kind(sim.optimizations) is EXACT
        self._steps_before = sim.profile.steps - sim.profile.steps_in_frame
        self._before_ms = float(np.median(whole(before))) if len(whole(before)) else np.inf
        self._findings: Iterator[Finding] | None = None

    def advance(self, sim: Simulation, view: DrawnView | None) -> bool:
        """Do the next part, and return whether there was one."""
        if self._findings is None and (proof := self._chosen(sim, view)):
            self._findings = findings(proof)
        try:
            found = next(self._findings or NOTHING, None)
        except MemoryError:
            self.close("there is no memory for copies of the crowd")
            return False
        self.finding = found or self.finding
        return found is not None

    def close(self, why: str) -> None:
        """Do nothing more, and free the copies of the crowd."""
        if self.finding.kind == "running" and self._findings is not NOTHING:
            self.finding = Finding("running", f"not compared: {why}")
        self._findings = NOTHING

    def _chosen(self, sim: Simulation, view: DrawnView | None) -> ProofInParts | None:
        """The proof, or None as long as it is not known how long a step takes now."""
        old, new = self._switched
        if self._drawn:
            return Pictures(sim, view, old, new) if view else None
        if not (step_ms := self._step_ms(sim.profile)):
            return None
        long = max(step_ms, self._before_ms) > FRAME_MS or sim.agents.count * 4 * len(sim.agents.names) > MOST_BYTES
        return (Answers if long else Replicas)(sim, old, new, self._exact)

    def _step_ms(self, profile: Profile) -> float | None:
        """Milliseconds of the shortest step since the switch; the first ones also make memory, or a whole tree."""
        made = profile.steps - self._steps_before
        steps_ms = whole(profile.steps_ms(made)) if made else np.zeros(0)
        return float(steps_ms.min()) if len(steps_ms) >= FEW_STEPS or steps_ms.sum() > ENOUGH_MS else None


def findings(proof: ProofInParts) -> Iterator[Finding]:
    """What is known after each part."""
    for _ in proof.parts():
        yield proof.finding
    yield proof.finding


def whole(times: Times) -> Floats:
    """Milliseconds of whole steps."""
    return np.sum(list(times.values()), axis=0, dtype=np.float32) if times else np.zeros(0, np.float32)

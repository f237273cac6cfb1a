"""What came of a scenario that asks a question: when an event ended it, who is left, and who crossed which line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from crowd_demo.sim.simulation import Simulation


class Outcome(NamedTuple):
    """`answer_s` is None while no event has ended the run."""

    answer_s: float | None  # seconds on the scenario's clock at which an event ended the run; None without one
    said: str  # the text of that event
    time_s: float  # simulated seconds at the end
    clock_s: float  # simulated seconds at which the clock began
    agents: int  # at the end
    first: int  # agents at the start
    passed: Mapping[str, int]  # crossings of each line of `measure.lines`, in both directions
    tenths_s: tuple[float | None, ...]  # when each tenth had left; `slowest_tenth_s`: how long the last one took

    @property
    def slowest_tenth_s(self) -> float | None:
        """How long the last tenth took after nine tenths had left."""
        nine_tenths = self.tenths_s[-1]
        return None if self.answer_s is None or nine_tenths is None else self.answer_s - nine_tenths


def asks(sim: Simulation) -> bool:
    return any(event.end for event in sim.config.events)


def outcome_of(sim: Simulation) -> Outcome:
    events, end_tick = sim.config.events, sim.events.end_tick
    said = next((event.text for number, event in enumerate(events)
                 if event.end and sim.events.happened.get(number) == end_tick), "") if end_tick is not None else ""
    passed = dict(zip(sim.config.measure.lines, sim.counts.passed.tolist(), strict=True))
    clock_tick = sim.events.clock_tick
    return Outcome(sim.events.answer_s(sim.dt), said, sim.tick * sim.dt, clock_tick * sim.dt, sim.agents.count,
                   sim.config.agents, passed,
                   tuple(None if tick < 0 else (tick - clock_tick) * sim.dt for tick in sim.counts.tenths.tolist()))


def lines_of(found: Outcome) -> list[str]:
    taken_s = found.time_s - found.clock_s
    lines = [f"not answered within {taken_s:.1f} s" if found.answer_s is None else
             f"answered after {found.answer_s:.1f} s: {found.said}",
             f"remaining: {found.agents:,} of {found.first:,}"]
    if found.passed and taken_s:
        lines.append("passed: " + ", ".join(
            f"{name} {count:,} ({count / taken_s:.2f} per second)" for name, count in found.passed.items()))
    if found.slowest_tenth_s is not None:
        lines.append(f"nine tenths had left after {found.tenths_s[-1]:.1f} s; the slowest tenth took"
                     f" {found.slowest_tenth_s:.1f} s more")
    return lines


def as_report(found: Outcome) -> dict[str, object]:
    return {**found._asdict(), "passed": dict(found.passed), "tenths_s": list(found.tenths_s),
            "slowest_tenth_s": found.slowest_tenth_s}

"""Why a stage takes the time that it takes: its work, the hot loop of its kernel, and what the processor counted.

Each figure has a source: the counters of the simulation, machine code (object_code.py), the processor's counters
(hardware_counters.py), or the clock. A figure that is not known says why.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from itertools import islice
from statistics import median
from typing import NamedTuple

from crowd_demo.compute.jit import Launch, machine_code
from crowd_demo.measure.hardware_counters import counted
from crowd_demo.measure.object_code import InnerLoop, hot_loop
from crowd_demo.sim.simulation import Simulation

LINES = 5  # of assembly
COUNTED = "the processor, in whole steps"
SETTLE = 10  # steps before the first that is timed


class Figure(NamedTuple):
    name: str
    value: str
    source: str  # how it was obtained


class Work(NamedTuple):
    """A stage in some steps of a running simulation."""

    ms: float  # median of the steps
    kernel: Launch  # the one that took longest
    agents: int
    counters: Mapping[str, float]  # of the last step


def why(sim: Simulation, stage: str, steps: int = 60) -> list[Figure]:
    """Explain a stage in the next steps, which are made. Raises ValueError for a stage that has no kernel in them."""
    work = measured(sim, stage, steps)
    return [*work_figures(work), *loop_figures(work.kernel), *counter_figures(sim, work, steps)]


def measured(sim: Simulation, stage: str, steps: int) -> Work:
    """Make steps, and time a stage and each of its kernels."""
    sim.step(SETTLE)
    copy = Simulation.from_snapshot(sim.snapshot())  # which runs nothing: its stages only say which kernels they would run
    copy.launches_to_compile()
    kernels = {launch.name: launch for each in copy.stages if each.name == stage and each.wanted(copy)
               for launch in each.launches(copy)}
    if not kernels:
        stages = ", ".join(dict.fromkeys(each.name for each in copy.stages if each.wanted(copy)))
        raise ValueError(f"no kernel of this crowd runs in stage {stage!r}; stages: {stages}")
    took, of_steps = dict.fromkeys(kernels, 0.0), list[float]()
    for _ in range(steps):
        before = sum(took.values())
        for launch in sim.launches():
            begun = time.perf_counter()
            launch.run()
            if launch.name in took:
                took[launch.name] += time.perf_counter() - begun
        of_steps.append(sum(took.values()) - before)
    longest = max(took, key=lambda name: took[name])
    return Work(median(of_steps) * 1e3, kernels[longest], sim.agents.count, dict(sim.profile.counters))


def work_figures(work: Work) -> Iterator[Figure]:
    each_ns = work.ms * 1e6 / max(work.agents, 1)
    yield Figure("time", f"{work.ms:.2f} ms per step, {each_ns:.0f} ns per agent", "median by the clock")
    tested, kept = (work.counters.get(f"{name}_per_agent") for name in ("candidates", "neighbours"))
    if tested is not None and kept is not None:
        yield Figure("pairs", f"{tested:.1f} tested per agent, {kept:.1f} kept", "counted in the last step, for agents due")


def loop_figures(kernel: Launch) -> Iterator[Figure]:
    """The hot loop of a kernel."""
    source = f"machine code of {kernel.name}: its innermost loop that is nested deepest"
    loop, missing = loop_of(kernel)
    if loop is None:
        yield Figure("hot loop", missing, source)
        return
    kinds = ", ".join(f"{loop.count(kind)} {kind}" for kind in ("arithmetic", "load", "store", "branch") if loop.count(kind))
    wide = f"{loop.lanes} agents wide" if loop.lanes > 1 else "one agent"
    yield Figure("hot loop", f"{len(loop.instructions)} instructions per iteration, {wide}: {kinds}", source)
    vector = f"{loop.vector_share:.0%} of the instructions, {loop.bits} bits wide"
    yield Figure("vectorised", vector if loop.bits else "no", source)
    middle = [each.text for each in loop.instructions if each.kind == "arithmetic"]
    yield Figure("assembly", "\n".join(islice(middle, LINES)), source)


def loop_of(kernel: Launch) -> tuple[InnerLoop | None, str]:
    """Return the hot loop, and else why there is none."""
    code = machine_code(kernel)
    if code is None:
        return None, "the machine code of this kernel was not kept"
    try:
        return hot_loop(code), "no loop"
    except ImportError:
        return None, 'pip install "crowd-demo[why]" shows it'


def counter_figures(sim: Simulation, work: Work, steps: int) -> Iterator[Figure]:
    """What the processor counted in whole steps."""
    counts = counted(lambda: sim.step(steps))
    if isinstance(counts, str):
        yield Figure("processor", counts, "perf_event_open")
        return
    agents = max(work.agents * steps, 1)
    yield Figure("instructions per cycle", f"{counts['instructions'] / max(counts['cycles'], 1):.2f}", COUNTED)
    for name in ("L1 misses", "last-level misses", "branch misses"):
        yield Figure(name, f"{counts[name] / agents:.2f} per agent", COUNTED)


def as_table(found: Mapping[str, list[Figure]]) -> str:
    """Return the figures as text, a paragraph for each, with a line for each simulation."""
    wide = max(map(len, found))
    paragraphs = []
    for name in dict.fromkeys(figure.name for figures in found.values() for figure in figures):
        values = {title: next((each.value for each in figures if each.name == name), "-") for title, figures in found.items()}
        lines = [(title if number == 0 else "", line) for title, value in values.items()
                 for number, line in enumerate(value.splitlines())]
        paragraphs.append("\n".join([name, *(f"  {title:{wide}}  {line}" for title, line in lines)]))
    sources = dict.fromkeys(f"{figure.name}: {figure.source}" for figures in found.values() for figure in figures)
    return "\n".join([*paragraphs, "", "sources", *(f"  {source}" for source in sources)])

"""The results of a sweep as text: a column for each value, and what may be concluded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from crowd_demo.lab.sweep_runs import Swept
from crowd_demo.measure.comparison import Estimate
from crowd_demo.measure.text import aligned, interval
from crowd_demo.registry.entries import Technique
from crowd_demo.registry.kinds import EXACT, strongest
from crowd_demo.registry.techniques import yaml_word

SHOWN = ("candidates_per_agent", "neighbours_per_agent")  # counters that stand in every table
NOTE = "95 %: where the ratio lies; the default's is that to a copy of itself, and what lies within is no difference"


def table(technique: Technique, results: Sequence[Swept]) -> str:
    """A column for each value, the default marked with *; a row for each measure that is always shown or differs."""
    return aligned(list(_rows(technique, results)))


def _rows(technique: Technique, results: Sequence[Swept]) -> Iterator[list[str]]:
    yield [technique.path, *(yaml_word(each.value) + "*" * (each.value == technique.default) for each in results)]
    yield ["frame ms" if results[0].picture_hash else "step ms", *(f"{each.result.step.ms.value:.3f}" for each in results)]
    yield ["of the default's", *(f"{each.result.step.ratio.value:.2f}" for each in results)]
    yield ["  95 %", *(_conclusion(each.result.step, is_default=each is results[0]) for each in results)]
    for stage in dict.fromkeys(stage for each in results for stage in each.result.stages):
        cells = [f"{each.result.stages_ms.get(stage, 0):.3f}" for each in results]
        if set(cells) != {"0.000"}:
            yield [f"  {stage} ms", *cells]
    for name in dict.fromkeys((*SHOWN, *(name for each in results for name in each.measures))):
        numbers = [each.measures.get(name) for each in results]
        if name in SHOWN or len(set(numbers)) > 1:
            yield [name.replace("_", " "), *map(figure, numbers)]
    if any(each.picture_hash for each in results):
        yield ["picture", *(each.picture_hash[:8] for each in results)]
    yield ["state hash", *(each.state_hash[:8] for each in results)]
    yield ["crowd", *(each.kind.name for each in results)]


def _conclusion(step: Estimate, is_default: bool) -> str:
    if step.verdict == "unknown":
        return "too few steps"
    if is_default:
        return interval(step.noise)
    return step.verdict if step.verdict == "no difference" else interval(step.ratio)


def one_crowd(results: Iterable[Swept]) -> bool:
    """Did all exact values give the same state?"""
    return len({each.state_hash for each in results if each.kind is EXACT}) <= 1


def conclusion(results: Sequence[Swept]) -> str:
    """Whether the crowd stayed the same."""
    exact = [each for each in results if each.kind is EXACT]
    if not one_crowd(results):
        return "THE CROWD DIFFERS: " + ", ".join(f"{yaml_word(each.value)} {each.state_hash}" for each in exact)
    if len(exact) < 2:
        kind = strongest(each.kind for each in results)
        return f"{kind.name} ({kind.does}): each value may have a crowd of its own"
    return f"one state hash for all {len(exact)} exact values: {exact[0].state_hash}"


def figure(number: float | None) -> str:
    """Four digits, or all of a count."""
    return "-" if number is None else f"{number:,.0f}" if number == int(number) or number >= 1e4 else f"{number:,.4g}"

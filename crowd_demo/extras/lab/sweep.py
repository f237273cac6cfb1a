"""One technique at each of its values (`crowd-demo sweep`): crowds that differ in that value, and the default's once more.

They take turns of a few steps, in random order, after some steps to warm up; `crowd_demo.measure` says how times are
compared. For techniques of the picture (culling, depth, blitter) pictures are drawn into memory. Counters are means
over the steps; locality is that of memory after the last step, whose state is that of `crowd-demo --headless --frames`
with 10 frames more.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from crowd_demo.config.model import Config, with_values
from crowd_demo.extras.lab.claims.claim import CrowdArm, memory_order
from crowd_demo.extras.why import FEW_STEPS, figures
from crowd_demo.measure.comparison import Comparison, VariantResult, block_lengths, compare, interleave
from crowd_demo.measure.experiment import aligned, figure_text, header, result_of
from crowd_demo.measure.proof import all_pairs_s, picture_hash
from crowd_demo.registry.entries import EXACT, Kind, Technique, Value
from crowd_demo.registry.techniques import kind_of, no_effect, strongest, yaml_word

WARM_UP = 10  # steps
PICTURE = ("cull", "depth", "blitter")  # techniques of the picture
REPEAT = "default again"
SLOW_S = 10.0  # brute force that takes longer is announced
SHOWN = ("candidates_per_agent", "neighbours_per_agent")  # counters that stand in every table
NOTE = "95%: confidence interval of the ratio. The default's is that to a copy of itself: ratios within it show nothing"

Variants = Mapping[str, CrowdArm]  # the default first, and once more last


class Swept(NamedTuple):
    value: Value
    kind: Kind
    result: VariantResult
    measures: dict[str, float]  # counters and locality
    picture_hash: str  # empty where none was drawn
    why: list[dict[str, str]]  # figures of the technique's stage, if it is one of a step


def variants_of(config: Config, technique: Technique, values: Iterable[Value]) -> Variants:
    """One for each value, with its kernels compiled. Raises ValueError for a value that is not legal."""
    made = {str(value): _variant(config, technique, value) for value in dict.fromkeys((technique.default, *values))}
    return {**made, REPEAT: _variant(config, technique, technique.default)}


def _variant(config: Config, technique: Technique, value: Value) -> CrowdArm:
    options = with_values(config.optimizations, {technique.path: value})
    return CrowdArm(config.model_copy(update={"optimizations": options}), technique.path in PICTURE)


def expectations(technique: Technique, variants: Variants, steps: int) -> Iterator[str]:
    if all(idle := [no_effect(technique.path, variant.sim.situation) for variant in variants.values()]):
        yield f"{technique.path}: {idle[0]}"
    for name, variant in variants.items():
        options = variant.sim.optimizations
        seconds = all_pairs_s(variant.sim.agents.count, options.get) * (steps + WARM_UP)
        if seconds > SLOW_S and name != REPEAT:
            value = yaml_word(options.get(technique.path))
            yield f"{technique.path}={value}: all pairs are tested, which may take {seconds:,.0f} s"


def sweep(technique: Technique, variants: Variants, steps: int) -> list[Swept]:
    """Make `steps` steps with each value, after `WARM_UP` others; return what was measured, the default first."""
    measured = result_of(interleave(variants, block_lengths(steps), WARM_UP))
    hashes = {name: variant.sim.state_hash() for name, variant in variants.items()}
    results, found = compare(measured, hashes, base=next(iter(variants)), repeat=REPEAT), list[Swept]()
    for name, variant in variants.items():
        if name == REPEAT:
            continue
        result, options = results[name], variant.sim.optimizations
        value, drawn = options.get(technique.path), variant.variant.picture
        explained = () if drawn else figures(variant.sim, technique.stage, min(steps, FEW_STEPS))
        found.append(Swept(value, kind_of(technique, value, options.get), result,
                           {**result.counters, **memory_order(variant)}, picture_hash(drawn) if drawn else "",
                           [figure._asdict() for figure in explained if figure]))
    return found


def record_of(config: Config, technique: Technique, results: Sequence[Swept], steps: int) -> dict[str, object]:
    return {**header("sweep"), "technique": technique.path, "default": technique.default, "agents": config.agents,
            "seed": config.seed, "steps": steps, "warmup_steps": WARM_UP, "one_crowd": one_crowd(results),
            "results": [{"value": each.value, "crowd": each.kind.name, "measures": each.measures,
                         "picture_hash": each.picture_hash, "why": each.why, **each.result.record()}
                        for each in results]}


# --- text ------------------------------------------------------------------------------------------------------------

def table(technique: Technique, results: Sequence[Swept]) -> str:
    """A column for each value, the default marked with *; a row for each measure that is always shown or differs."""
    rows = [
        [technique.path, *(yaml_word(each.value) + "*" * (each.value == technique.default) for each in results)],
        ["frame ms" if results[0].picture_hash else "step ms", *(f"{each.result.step.b.value:.3f}" for each in results)],
        ["of the default's", *(f"{each.result.step.ratio.value:.2f}" for each in results)],
        ["  95%", *(_conclusion(each.result.step, is_default=each is results[0]) for each in results)]]
    for stage in dict.fromkeys(stage for each in results for stage in each.result.stages):
        cells = [f"{each.result.stages_ms.get(stage, 0):.3f}" for each in results]
        if set(cells) != {"0.000"}:
            rows.append([f"  {stage} ms", *cells])
    for name in dict.fromkeys((*SHOWN, *(name for each in results for name in each.measures))):
        numbers = [each.measures.get(name) for each in results]
        if name in SHOWN or len(set(numbers)) > 1:
            rows.append([name.replace("_", " "), *map(figure_text, numbers)])
    if any(each.picture_hash for each in results):
        rows.append(["picture", *(each.picture_hash[:8] for each in results)])
    return aligned([*rows, ["state hash", *(each.result.state_hash[:8] for each in results)],
                    ["crowd", *(each.kind.name for each in results)]])


def _conclusion(step: Comparison, is_default: bool) -> str:
    if step.verdict == "unknown":
        return "too few steps"
    if step.verdict == "no difference" and not is_default:
        return step.verdict
    between = step.noise if is_default else step.ratio
    return f"{between.low:.2f}-{between.high:.2f}"


def one_crowd(results: Iterable[Swept]) -> bool:
    """Return whether all exact values gave the same state."""
    return len({each.result.state_hash for each in results if each.kind is EXACT}) <= 1


def conclusion(results: Sequence[Swept]) -> str:
    exact = [each for each in results if each.kind is EXACT]
    if not one_crowd(results):
        return "THE CROWD DIFFERS: " + ", ".join(f"{yaml_word(each.value)} {each.result.state_hash}" for each in exact)
    if len(exact) < 2:
        kind = strongest(each.kind for each in results)
        return f"{kind.name} ({kind.does}): each value may have a crowd of its own"
    return f"one state hash for all {len(exact)} exact values: {exact[0].result.state_hash}"

"""Bytes of a component that only some entities have: by id, or in a sparse set."""

from __future__ import annotations

from collections.abc import Generator, Sequence

from crowd_demo.extras.lab.claims.cases import CountedCase
from crowd_demo.extras.lab.claims.claim import COMPACTING, Answer, Case, Claim, Figures, Found, LabScale, all_of, is_true
from crowd_demo.extras.lab.storage import STORAGES, measured_bytes

USES = (0.1, 0.5, 1.0)
GENERATION = 4  # bytes an entity that this program's sparse set has for handles that notice a death
TIMES = 3  # measured; the least counts, for other threads may allocate something meanwhile
OBJECTS = 2048  # bytes of Python objects around the arrays, at most
PRINTED = {(24, "linear"): 14_125}  # an entry of its table for 1,000 entities that is not what its formula gives


def counted(entities: int, component: int) -> Generator[tuple[str, Figures], None, None]:
    for used in USES:
        for name, storage in STORAGES.items():
            extra = GENERATION * entities if name == "sparse" else 0
            allocated = min(measured_bytes(storage, entities, component, used) for _ in range(TIMES))
            formula = round(storage.formula(entities, component, used))
            figures = {"bytes": allocated - extra, "formula": formula}
            printed = PRINTED.get((component, name))
            yield f"{name}, {used:.0%} used", {**figures, **({"printed": printed} if printed and entities == 1000 else {})}


def cases(scale: LabScale) -> Sequence[Case]:
    sizes = dict.fromkeys((1_000, *scale.sizes(100_000, 1_000_000)))
    return [CountedCase(f"{size:,} entities, {component} bytes", size, lambda size=size, component=component:  # type: ignore[misc]
                        counted(size, component)) for size in sizes for component in (8, 24, 64)]


def decide(found: Found) -> Answer:
    return all_of(is_true(abs(figures["bytes"] - figures["formula"]) <= OBJECTS) for figures in found.figures.values())


CLAIM = Claim(
    "sparse-memory", "When does a sparse set save memory?",
    "linear takes C N + N/8 bytes, sparse 8 N + C N U (N entities, C bytes, a share U used); a table for N = 1,000",
    COMPACTING,
    f"bytes allocated are within {OBJECTS} of the formula, without the 4 N of generations, which are this program's (its table"
    " has 14,125 for 24 bytes by id, where its formula gives 24,125)", cases, decide, by_size=False)

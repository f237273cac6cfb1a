"""The registry of techniques: every optimisation has one entry, from which everything else derives.

Keys, help screen, HUD, `--set`, YAML schema, hash tests and the README's table all read this list, so a new technique is one
entry here and one file that implements it. A technique is *exact* if switching it cannot change the crowd: the state hash
stays the same. An approximate one changes the motion, and the program says so wherever it shows the technique.
"""

from __future__ import annotations

from collections.abc import Callable

from crowd_demo.registry.entries import Range, Situation, Technique, Value
from crowd_demo.registry.plugins import with_plugins


def _unused(path: str, *needed: tuple[str, Value]) -> Callable[[Situation], bool]:
    """True if neither structure nor behaviour uses a technique, or if another one does not have the value it needs."""
    def inactive(situation: Situation) -> bool:
        used = path in situation.structure or path in situation.behaviour
        return not used or any(situation.get(other) != value for other, value in needed)
    return inactive


def _no_cells(situation: Situation) -> bool:
    needed = situation.get("cull") == "grid" or situation.get("cap") != "none"
    return "cell_size" not in situation.structure and not needed


def _sorted_by_nothing(situation: Situation) -> bool:
    return "curve" not in situation.structure or situation.get("reorder.when") == "off"


def _lanes_left(situation: Situation) -> str:
    """A cap takes the agents one at a time; only the stage that moves them uses lanes then."""
    return "move only" if situation.get("simd") and situation.get("cap") != "none" else ""


BUILT_IN: tuple[Technique, ...] = (
    Technique("neighbours", ("none", "linked", "buckets", "sorted", "z_grid", "kd_tree", "aabb_tree", "field"), "sorted", True,
              "neighbours",
              "how neighbours are found: test all pairs, cell lists, a sorted grid, a grid in Z order, or trees; or a smoothed"
              " field instead", stage="see", key="1", approximate_choices=("field",)),
    Technique("simd", (False, True), True, True, "SIMD lanes",
              "sixteen agents a register, each candidate broadcast to all of them", stage="see", key="2", partly=_lanes_left),
    Technique("reorder.when", ("off", "every", "drift"), "every", True, "reorder",
              "move agents into cell order, so that neighbours in space are neighbours in memory", stage="see", key="3",
              inactive=_unused("reorder.when")),
    Technique("reorder.every", (1, 10, 60, 300), 60, True, "  every n steps",
              "steps from one reordering to the next", stage="reorder", key="e", range=Range(int, 1, 1000),
              inactive=_unused("reorder.when", ("reorder.when", "every"))),
    Technique("reorder.drift", (0.25, 0.5, 1, 2), 0.5, True, "  drift of cells",
              "reorder once an agent may have moved by that share of a cell", stage="reorder", key="v",
              range=Range(float, 0.01, 100), inactive=_unused("reorder.when", ("reorder.when", "drift"))),
    Technique("curve", ("row", "morton", "hilbert"), "row", True, "  along a curve",
              "the curve through the cells along which the sorted grid's agents lie in memory", stage="reorder", key="o",
              inactive=_sorted_by_nothing),
    Technique("cell_size", ("auto", 16, 24, 32, 48, 64, 96), "auto", True, "cell size",
              "side of a grid cell in world units; auto fits the radius of perception", stage="see", key="c",
              range=Range(float, 1, 4096), auto="grid.cell", inactive=_no_cells,
              approximate_with=(("neighbours", "field"), ("cap", "first"))),
    Technique("leaf_size", (4, 8, 16, 32, 64, 128, 256), 32, True, "leaf size",
              "most agents in a leaf of a tree: small leaves mean many queries, large ones many candidates", stage="query",
              key="l", inactive=_unused("leaf_size")),
    Technique("rebuild", (1, 2, 4, 8, 16), 8, True, "tree rebuilt",
              "steps over which the next box tree is built; the boxes in use are fitted to the agents in each step",
              stage="index", key="u", range=Range(int, 1, 1000), inactive=_unused("rebuild")),
    Technique("threads", ("auto", 1, 2, 4, 8), "auto", True, "threads",
              "workers that share each stage", stage="see", key="t", range=Range(int, 1, 64), auto="workers", off=1),
    Technique("removal", ("swap_back", "shift", "deferred"), "swap_back", True, "removal",
              "gaps in memory after deaths: filled from the end, closed in order by each removal, or closed once a step",
              stage="life", key="x", inactive=lambda situation: not situation.births),
    Technique("cap", ("none", "first", "nearest"), "none", True, "cap",
              "keep only the first few neighbours found, which lie on one side, or the nearest; in the grid, without lanes",
              stage="see", key="k", approximate_choices=("first", "nearest")),
    Technique("stagger.avoidance", (1, 2, 3, 4, 8), 3, False, "stagger avoidance",
              "update the push of the neighbours every n steps, and keep it in between", stage="see", key="4",
              range=Range(int, 1, 16)),
    Technique("stagger.by", ("place", "tile", "id"), "place", False, "  avoidance by",
              "who is updated in one step: bands of the world, square tiles all over it, or ids anywhere", stage="see",
              key="b", inactive=lambda situation: situation.get("stagger.avoidance") == 1),
    Technique("stagger.sight", (1, 2, 4, 8, 16), 8, False, "stagger sight",
              "trace the line of sight to the goal every n steps", stage="sight", key="5", range=Range(int, 1, 16),
              inactive=_unused("stagger.sight")),
    Technique("stagger.paths", (1, 2, 4, 8), 4, False, "stagger paths",
              "take a new heading from the flow field every n steps", stage="paths", key="6", range=Range(int, 1, 16),
              inactive=_unused("stagger.paths")),
    Technique("cull", ("off", "agents", "grid"), "grid", True, "culling",
              "draw only what the camera sees: test each agent, or only the cells in view", stage="cull", key="7"),
    Technique("depth", ("off", "full", "bands"), "bands", True, "depth order",
              "order of drawing, back first: none, one full sort, or bands of Y sorted one by one", stage="depth", key="8"),
    Technique("blitter", ("pygame", "compiled"), "compiled", True, "blitter",
              "draw sprites and crates with pygame, or with compiled code that writes rows of pixels into the surface",
              stage="blit", key="9"),
)

TECHNIQUES = with_plugins(BUILT_IN, lambda plugin: plugin.techniques, lambda technique: technique.path)

BY_PATH = {technique.path: technique for technique in TECHNIQUES}


def is_approximate(technique: Technique, value: Value, get: Callable[[str], Value] | None = None) -> bool:
    """Does the technique, set to that value, change the motion? `get` returns the present value of any other."""
    return (not technique.exact or value in technique.approximate_choices
            or (get is not None and any(get(path) == other for path, other in technique.approximate_with)))


def exactness(technique: Technique) -> str:
    """In words: exact, approximate, or exact but for some choices."""
    some = ", ".join([*map(word, technique.approximate_choices),
                      *(f"with {path} {word(value)}" for path, value in technique.approximate_with)])
    return f"exact; {some}: approximate" if technique.exact and some else "exact" if technique.exact else "approximate"


def table() -> str:
    """The registry as the table of the README."""
    rows = ["| key | technique | YAML, under `optimizations` | choices (**default**) | crowd |", "|---|---|---|---|---|"]
    for t in TECHNIQUES:
        choices = ", ".join(f"**{word(c)}**" if c == t.default else word(c) for c in t.choices)
        key = f"`{t.key}`" if t.key else ""
        rows.append(f"| {key} | {t.label.strip()}: {t.why} | `{t.path}` | {choices} | {exactness(t)} |")
    return "\n".join(rows)


def word(value: Value) -> str:
    """A value as YAML writes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)

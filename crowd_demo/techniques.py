"""The registry of techniques: every optimisation once, and everything else derives from it.

Hotkeys, the help overlay, the HUD, `--set`, the YAML schema and the README's table all read this list, so a new technique
is one entry here and one file that does it. A technique is *exact* when switching it cannot change the crowd: the state
hash stays what it was. An approximate one changes the motion, and the program says so wherever it is shown.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

Value = str | int | float | bool


class Technique(NamedTuple):
    """One switch. `path` is its place under `optimizations:` in the YAML; the key steps through `choices`."""

    path: str
    key: str
    choices: tuple[Value, ...]
    default: Value
    exact: bool
    label: str
    why: str
    approximate_choices: tuple[Value, ...] = ()  # of a technique whose other choices are exact
    approximate_with: tuple[tuple[str, Value], ...] = ()  # (path, value) of others with which it is not exact


TECHNIQUES: tuple[Technique, ...] = (
    Technique("neighbours", "1", ("none", "linked", "buckets", "sorted", "z_grid", "kd_tree", "aabb_tree", "field"), "sorted",
              True, "neighbours",
              "who is near: everybody asks everybody, cell lists, a grid, a grid with the agents in its order, or trees; or"
              " a smoothed field instead", ("field",)),
    Technique("simd", "2", (False, True), True, True, "SIMD lanes",
              "sixteen agents a register, each candidate broadcast to all of them"),
    Technique("reorder.when", "3", ("off", "every", "drift"), "every", True, "reorder",
              "move agents into cell order, so that neighbours in space are neighbours in memory"),
    Technique("reorder.every", "e", (1, 10, 60, 300), 60, True, "  every n steps",
              "steps from one reordering to the next"),
    Technique("reorder.drift", "v", (0.25, 0.5, 1, 2), 0.5, True, "  drift of cells",
              "reorder once somebody may have moved that share of a cell"),
    Technique("curve", "o", ("row", "morton", "hilbert"), "row", True, "  along a curve",
              "the way through the cells in which the sorted grid's agents lie in memory"),
    Technique("cell_size", "c", ("auto", 16, 24, 32, 48, 64, 96), "auto", True, "cell size",
              "side of a grid cell in world units; auto fits the radius of perception",
              approximate_with=(("neighbours", "field"), ("cap", "first"))),
    Technique("leaf_size", "l", (4, 8, 16, 32, 64, 128, 256), 32, True, "leaf size",
              "most agents in a leaf of a tree: small leaves ask often, large ones meet too many"),
    Technique("rebuild", "u", (1, 2, 4, 8, 16), 8, True, "tree rebuilt",
              "steps in which the next box tree is built beside the one in use, whose boxes are fitted to the agents in each"),
    Technique("threads", "t", ("auto", 1, 2, 4, 8), "auto", True, "threads",
              "workers that share each stage"),
    Technique("removal", "x", ("swap_back", "shift", "deferred"), "swap_back", True, "removal",
              "gaps of the dead: filled from the end, closed in order by each removal, or marked and closed once a step"),
    Technique("cap", "k", ("none", "first", "nearest"), "none", True, "cap",
              "meet only the first few found, which are all on one side, or only the nearest; in the grid and without lanes",
              ("first", "nearest")),
    Technique("stagger.avoidance", "4", (1, 2, 3, 4, 8), 3, False, "stagger avoidance",
              "look at the neighbours every n steps, and keep the answer in between"),
    Technique("stagger.by", "b", ("place", "tile", "id"), "place", False, "  avoidance by",
              "who looks in one step: bands of the world, square tiles all over it, or ids wherever they are"),
    Technique("stagger.sight", "5", (1, 2, 4, 8, 16), 8, False, "stagger sight",
              "trace the line of sight to the goal every n steps"),
    Technique("stagger.paths", "6", (1, 2, 4, 8), 4, False, "stagger paths",
              "take a new heading from the flow field every n steps"),
    Technique("cull", "7", ("off", "agents", "grid"), "grid", True, "culling",
              "draw only what the camera sees: test each agent, or only the cells in view"),
    Technique("depth", "8", ("off", "full", "bands"), "bands", True, "depth order",
              "heads behind those in front: none, one full sort, or bands of Y sorted one by one"),
    Technique("blitter", "9", ("pygame", "compiled"), "compiled", True, "blitter",
              "sprites and crates through pygame's own calls, or compiled rows of pixels straight into the surface"),
)

BY_PATH = {technique.path: technique for technique in TECHNIQUES}


def is_approximate(technique: Technique, value: Value, get: Callable[[str], Value] | None = None) -> bool:
    """Does the technique, set to that value, change the motion? `get` tells the present value of any other."""
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
        rows.append(f"| `{t.key}` | {t.label.strip()}: {t.why} | `{t.path}` | {choices} | {exactness(t)} |")
    return "\n".join(rows)


def word(value: Value) -> str:
    """A value as YAML writes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)

"""The registry of techniques: every optimisation has one entry, from which everything else derives.

Keys, help screen, HUD, `--set`, YAML schema, hash tests and the README's table all read this list, so a new technique
is one entry here and one file that implements it. The techniques of a group stand together.

An *exact* technique cannot change the crowd: the state hash stays the same. An *approximate* one does less work and
changes the motion a little. One of the *model* chooses among rules of behaviour, none of which is the truth of another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from crowd_demo.registry.actions import PROGRAM
from crowd_demo.registry.entries import (
    APPROXIMATE,
    EXACT,
    GROUPS,
    KINDS,
    MODEL,
    Kind,
    Range,
    Situation,
    Technique,
    Unused,
    Value,
)
from crowd_demo.registry.plugins import with_plugins
from crowd_demo.registry.stages import text_of

_STRUCTURES = "crowd_demo.sim.neighbours"
STRUCTURES: dict[str, str] = {  # the code of each neighbour structure; a behaviour may have one of its own instead
    "none": f"{_STRUCTURES}.cell_structures:Brute",
    "linked": f"{_STRUCTURES}.cell_structures:Linked",
    "buckets": f"{_STRUCTURES}.cell_structures:Buckets",
    "sorted": f"{_STRUCTURES}.cell_structures:Sorted",
    "z_grid": f"{_STRUCTURES}.z_grid:ZGrid",
    "kd_tree": f"{_STRUCTURES}.trees:KdTree",
    "aabb_tree": f"{_STRUCTURES}.trees:AabbTree",
    "field": f"{_STRUCTURES}.cell_structures:Sorted",
}


ON_GPU = "the GPU runs the steps"
OF_PEOPLE = "only people have that"
OF_TREES = "needs neighbours kd_tree or aabb_tree"
OF_REORDER = "needs a grid or a tree to sort by, such as neighbours sorted"
WITHOUT_GPU = {  # by the words of `needs_processor`
    "not installed": 'install it with pip install "crowd-demo[cuda]"',
    "no GPU": "there is no NVIDIA GPU, or no driver",
    "no kernels": "this behaviour has no kernels for the GPU",
}


def _unused(path: str, needs: str, *needed: tuple[str, Value]) -> Callable[[Situation], Unused]:
    """Say what a technique `needs` that neither structure nor behaviour uses, or which value another one must have."""
    def inactive(situation: Situation) -> Unused:
        if path not in situation.structure | situation.behaviour:
            return Unused(ON_GPU if situation.on_gpu and needs != OF_PEOPLE else needs)
        others = (f"needs {BY_PATH[other].label} {value}" for other, value in needed if situation.get(other) != value)
        return Unused(next(others, ""))
    return inactive


def _when(is_idle: Callable[[Situation], bool], why: str) -> Callable[[Situation], Unused]:
    return lambda situation: Unused(why * is_idle(situation))


def _searches_grid(situation: Situation) -> bool:
    return situation.nearest or situation.get("neighbour_limit") != "none"


def _no_cells(situation: Situation) -> Unused:
    passes = "overlap_passes" in situation.behaviour and situation.get("overlap_passes")
    overlap = bool(passes) and situation.get("neighbours") != "none"
    needed = situation.get("cull") == "grid" or overlap or _searches_grid(situation)
    return Unused("needs a grid, such as neighbours sorted or culling grid" * (
        "cell_size" not in situation.structure and not needed))


def _sorted_by_nothing(situation: Situation) -> Unused:
    return _unused("curve", "needs neighbours sorted")(situation) or Unused(
        "needs reorder drift or every" * (situation.get("reorder.when") == "off"))


def _instead_of_a_field(situation: Situation) -> str:
    """Who has no field, or keeps only some neighbours, finds them in the sorted grid, and so does a graphics card."""
    if situation.on_gpu:
        return "" if situation.get("neighbours") == "sorted" else "as sorted"
    has_field = situation.field and not _searches_grid(situation)
    return "" if situation.get("neighbours") != "field" or has_field else "as sorted"


def _lanes_left(situation: Situation) -> str:
    """Return what lanes still do with a neighbour limit: only the stage that moves agents uses them."""
    if situation.on_gpu:
        return Unused(ON_GPU)
    return "move only" if situation.get("simd") and _searches_grid(situation) else ""


BUILT_IN: tuple[Technique, ...] = (
    Technique(
        "neighbours", tuple(STRUCTURES), "sorted", EXACT, "neighbours",
        "how neighbours are found: brute force, cell lists, grids, trees, or a smoothed field instead",
        stage="interaction", key="1", group="search", inactive=_instead_of_a_field, approximate_if=(("neighbours", "field"),),
        moves_memory=True,
        watch="candidates and useful: the fewer candidates, the shorter is interaction. Index and query are the cost of the"
              " structure itself",
        source="cell lists: Hockney and Eastwood 1981. Counting sort into cells: Green 2008, CUDA Particles, and Hoetzlein"
               " 2014. Kd-tree: Bentley 1975. Box tree: van den Bergen 1997"),
    Technique(
        "simd", (False, True), True, EXACT, "SIMD lanes",
        "processes 16 agents per instruction against the same candidate",
        stage="interaction", key="2", group="search", quick=False, inactive=_lanes_left,
        watch="interaction and move become several times shorter although candidates grow, as 16 agents share them",
        source="clusters of particles that share their candidates: Páll and Hess 2013 (GROMACS)"),
    Technique(
        "cell_size", ("auto", 16, 24, 32, 48, 64, 96), "auto", EXACT, "cell size",
        "side of a grid cell in world units (auto: the radius of perception)",
        stage="interaction", key="c", group="search", range=Range(float, 1, 4096), auto="grid.cell", inactive=_no_cells,
        approximate_if=(("neighbours", "field"), ("neighbour_limit", "first")), moves_memory=True,
        watch="candidates: large cells add agents that are too far away, small ones add cells. Auto is near the minimum",
        source="cells as wide as the range of the interaction: Hockney and Eastwood 1981"),
    Technique(
        "leaf_size", (4, 8, 16, 32, 64, 128, 256), 32, EXACT, "leaf size",
        "maximum agents in a leaf: small leaves mean many queries, large ones many candidates",
        stage="query", key="l", group="search", inactive=_unused("leaf_size", OF_TREES), moves_memory=True,
        watch="query, which grows with small leaves, against candidates and interaction, which grow with large ones",
        source="kd-trees with buckets for leaves: Friedman, Bentley and Finkel 1977"),
    Technique(
        "rebuild", (1, 2, 4, 8, 16), 8, EXACT, "tree rebuilt",
        "steps from one build of the box tree to the next, between which boxes are refitted",
        stage="index", key="u", group="search", range=Range(int, 1, 1000), moves_memory=True,
        inactive=_unused("rebuild", "needs neighbours aabb_tree"),
        watch="index falls while candidates hardly grow: refitted boxes stay good for many steps",
        source="boxes refitted instead of a tree rebuilt: van den Bergen 1997"),
    Technique(
        "neighbour_limit", ("none", "first", "nearest"), "none", EXACT, "neighbour limit",
        "keep only the first few neighbours found, which lie on one side, or the nearest (grid without lanes)",
        stage="interaction", key="k", group="search",
        inactive=_when(lambda situation: situation.nearest, "this behaviour has a limit of its own"),
        approximate_if=(("neighbour_limit", "first"), ("neighbour_limit", "nearest")),
        watch="mean direction to: with first, the two directions differ. Limit error. Interaction, which grows rather than"
              " falls",
        source="a maximum of neighbours per agent: RVO2's maxNeighbors. Birds react to the nearest six or seven: Ballerini and"
               " others 2008"),
    Technique(
        "avoidance", ("push", "anticipate", "slow_down"), "slow_down", MODEL, "avoidance",
        "how people keep apart: pushed by neighbours, stepping aside early, or also slowing down",
        stage="interaction", key="h", group="people", inactive=_unused("avoidance", OF_PEOPLE),
        watch="zoom in: with push people run into each other and bounce, with anticipate they go around, with slow_down"
              " they queue behind each other. Interaction takes longer",
        source="nearest approach: Karamouzas and others 2009. A step to the predicted side: Xu and others 2021. Speed by"
               " the gap ahead: Tordeux and others 2016"),
    Technique(
        "overlap_passes", (0, 1, 2, 3, 4), 2, MODEL, "overlap passes",
        "passes per step that push overlapping bodies apart",
        stage="contact", key="j", group="people", inactive=_unused("overlap_passes", OF_PEOPLE),
        watch="zoom in on a jam: without it bodies overlap. The time of contact is proportional to the passes",
        source="position based dynamics: Müller and others 2007. For crowds: Weiss and others 2017"),
    Technique(
        "reorder.when", ("off", "drift", "every"), "every", EXACT, "reorder",
        "move agents into cell order, so that neighbours in space are neighbours in memory",
        stage="interaction", key="3", group="memory", inactive=_unused("reorder.when", OF_REORDER), moves_memory=True,
        watch="near reads and L1 misses. When it is off, interaction takes longer and longer, most in large crowds",
        source="particles sorted along their cells now and then: Ihmsen and others 2011"),
    Technique(
        "reorder.every", (1, 10, 60, 300), 60, EXACT, "every n steps",
        "steps from one reordering to the next",
        stage="reorder", key="e", group="memory", detail=True, range=Range(int, 1, 1000),
        inactive=_unused("reorder.when", OF_REORDER, ("reorder.when", "every")), moves_memory=True,
        watch="the cost of reorder against near reads and interaction, which get worse as since sort grows",
        source="particles sorted every N steps: Ihmsen and others 2011"),
    Technique(
        "reorder.drift", (0.25, 0.5, 1, 2), 0.5, EXACT, "drift of cells",
        "reorder once an agent may have moved by this part of a cell",
        stage="reorder", key="v", group="memory", detail=True, range=Range(float, 0.01, 100),
        inactive=_unused("reorder.when", OF_REORDER, ("reorder.when", "drift")), moves_memory=True,
        watch="drift climbs to this value and falls to 0 with each sort. The fastest agent decides",
        source="lists renewed once a particle may have moved too far: Verlet 1967"),
    Technique(
        "curve", ("row", "morton", "hilbert"), "row", EXACT, "along a curve",
        "the curve through the cells that orders the sorted grid's agents in memory",
        stage="reorder", key="o", group="memory", detail=True, inactive=_sorted_by_nothing, moves_memory=True,
        watch="near reads fall more slowly after a sort along a curve, but reorder and interaction take longer",
        source="Morton 1966, Hilbert 1891"),
    Technique(
        "removal", ("swap_back", "shift", "deferred"), "swap_back", EXACT, "removal",
        "how the slots of dead agents are reclaimed: swap with the last, shift down, or compact once per step",
        stage="life", key="x", group="memory", moves_memory=True,
        inactive=_when(lambda situation: not situation.births, "no agent is born or dies here"),
        watch="life, or compact where removal is deferred. Near reads show that keeping the order gains nothing here",
        source="the gap filled with the last one: sparse sets, Briggs and Torczon 1993"),
    Technique(
        "threads", ("auto", 1, 2, 4, 8), "auto", EXACT, "threads",
        "number of worker threads",
        stage="interaction", key="t", group="time", range=Range(int, 1, 64), auto="workers", off=1,
        watch="interaction, index and reorder become shorter where there is enough work. Top worker shows how even the shares"
              " are",
        source="shares taken from a common counter, as by OpenMP's dynamic schedule"),
    Technique(
        "device", ("auto", "cpu", "cuda"), "auto", EXACT, "device",
        "where steps run: CPU or NVIDIA GPU (auto: GPU from 20,000 agents)",
        stage="interaction", key="z", group="time", off="cpu", moves_memory=True,
        inactive=lambda situation: Unused(WITHOUT_GPU.get(situation.needs_processor, situation.needs_processor)),
        watch="interaction, index and move become many times shorter in a large crowd. The state is identical",
        source="cell lists on graphics cards: Green 2008. Integer sums do not depend on the order of threads"),
    Technique(
        "stagger.avoidance", (1, 2, 3, 4, 8), 3, APPROXIMATE, "stagger avoidance",
        "update the push of the neighbours every N steps, and keep it in between",
        stage="interaction", key="4", group="time", range=Range(int, 1, 16),
        watch="interaction falls. Stagger error is the error of the pushes that are kept",
        source="forces kept for some steps: Streett, Tildesley and Saville 1978. Crowds that steer in some frames only:"
               " Reynolds 2006, Big Fast Crowds on PS3"),
    Technique(
        "stagger.by", ("place", "tile", "id"), "place", APPROXIMATE, "avoidance by",
        "agents updated together: those in bands of the world, in square tiles, or with certain ids",
        stage="interaction", key="b", group="time", detail=True,
        inactive=_when(lambda situation: situation.get("stagger.avoidance") == 1, "needs stagger avoidance 2 or more"),
        watch="interaction falls most by place, where whole rows of cells are due at once. Stagger error hardly changes"),
    Technique(
        "stagger.sight", (1, 2, 4, 8, 16), 8, APPROXIMATE, "stagger sight",
        "trace the line of sight to the goal every N steps",
        stage="sight", key="5", group="time", range=Range(int, 1, 16), inactive=_unused("stagger.sight", OF_PEOPLE),
        watch="sight falls. The cost is that people notice late that their goal is in sight"),
    Technique(
        "stagger.paths", (1, 2, 4, 8), 4, APPROXIMATE, "stagger paths",
        "take a new heading from the flow field every N steps",
        stage="paths", key="6", group="time", range=Range(int, 1, 16), inactive=_unused("stagger.paths", OF_PEOPLE),
        watch="paths falls. The cost is that people turn late at corners",
        source="flow fields: Treuille, Cooper and Popović 2006, Continuum Crowds"),
    Technique(
        "cull", ("off", "agents", "grid"), "grid", EXACT, "culling",
        "draw only agents in view: test each agent, or only the cells in view",
        stage="cull", key="7", group="drawing",
        watch="drawn against agents, and cull, depth and blit: zoom in, or freeze the view and look from outside",
        source="only what is in view: Clark 1976"),
    Technique(
        "depth", ("off", "full", "bands"), "bands", EXACT, "depth order",
        "order of drawing, back to front: none, one full sort, or bands of Y sorted one by one",
        stage="depth", key="8", group="drawing", quick="full",
        watch="depth, and in the picture which agents cover others",
        source="drawing back to front: Newell, Newell and Sancha 1972"),
    Technique(
        "blitter", ("pygame", "compiled"), "compiled", EXACT, "blitter",
        "draw sprites and crates with pygame, or with compiled code that writes pixels",
        stage="blit", key="9", group="drawing", quick="pygame",
        watch="blit and ground. The picture is identical, pixel by pixel",
        source="Python compiled by Numba: Lam, Pitrou and Seibert 2015"),
)

RESERVED = ("get", "set", "prefix", "changes")  # what the section of techniques has beside them

TECHNIQUES = tuple(sorted(with_plugins(BUILT_IN, lambda plugin: plugin.techniques, lambda technique: (technique.path,),
                                       (*RESERVED, *PROGRAM)), key=lambda technique: list(GROUPS).index(technique.group)))

BY_PATH = {technique.path: technique for technique in TECHNIQUES}


def kind_of(technique: Technique, value: Value, get: Callable[[str], Value] | None = None) -> Kind:
    """Return the kind of a technique at a value. `get` returns the current value of any other."""
    present = {technique.path: value}
    approximate = any((present.get(path) if get is None or path in present or path not in BY_PATH else get(path)) == other
                      for path, other in technique.approximate_if)
    return APPROXIMATE if technique.kind is EXACT and approximate else technique.kind


def strongest(kinds: Iterable[Kind]) -> Kind:
    return max(kinds, key=KINDS.index, default=EXACT)


def kind_of_all(values: Mapping[str, Value], situation: Situation) -> Kind:
    """What techniques do that are set to these values, by path, while others have their present ones.

    What is inactive in part counts with its default: a field is a sorted grid for those who have none.
    """
    def value_of(path: str) -> Value:
        return values[path] if path in values else situation.get(path)

    partly = partly_inactive(situation._replace(get=value_of))

    def acting(path: str) -> Value:
        return BY_PATH[path].default if path in partly else value_of(path)

    return strongest(kind_of(BY_PATH[path], acting(path), acting) for path in values)


def exactness(technique: Technique) -> str:
    """In words: exact, approximate, model, or exact but for some choices."""
    own = ", ".join(map(yaml_word, technique.approximate_values))
    some = ", ".join([*([own] if own else []), *(f"with {path} {yaml_word(value)}" for path, value in technique.approximate_if
                                                if path != technique.path)])
    return f"exact ({some}: approximate)" if some else technique.kind.name


def key_does(technique: Technique) -> str:
    return ("off and back on (Shift: the next value)" if technique.has_off else "the next value (Shift: the previous one)")


def is_drawn(technique: Technique) -> bool:
    """Return whether it changes drawing, not the step."""
    return text_of(technique.stage).part == "draw"


def inactive(situation: Situation) -> frozenset[str]:
    """Return the paths of the techniques that have no effect now."""
    return frozenset(path for path, left in _answers(situation) if left and (isinstance(left, Unused | bool)))


def no_effect(path: str, situation: Situation) -> str:
    """Return a sentence with the reason why a technique has no effect now; empty if it has one."""
    left = BY_PATH[path].inactive(situation)
    if isinstance(left, Unused):
        return f"No effect now: {left}." if left else ""
    return "No effect in this scenario." if left is True else ""


def partly_inactive(situation: Situation) -> dict[str, str]:
    """Return by path what a partly inactive technique still does."""
    return {path: left for path, left in _answers(situation) if left and not isinstance(left, Unused | bool)}


def _answers(situation: Situation) -> Iterator[tuple[str, bool | str]]:
    return ((technique.path, technique.inactive(situation)) for technique in TECHNIQUES)


def marks_in_a_line() -> str:
    """Return the marks of the kinds, and the meaning of no mark, in one line."""
    choices = [f"{technique.label} {' and '.join(map(str, technique.approximate_values))}"
               for technique in TECHNIQUES if technique.approximate_values]
    _, approximate, model = (f"{kind.mark} {kind.name}: {kind.does}" for kind in KINDS)
    return f"{approximate} (so with {', '.join(choices)}).  {model}.  No mark: exactly {EXACT.does}"


def yaml_word(value: Value) -> str:
    """A value as YAML writes it: true, 0.5, none; a number with its first six digits."""
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)


def hud_word(value: Value) -> str:
    """A value as the window shows it: on and off for true and false."""
    return ("on" if value else "off") if isinstance(value, bool) else yaml_word(value)

"""The registry of overlays: what can be drawn over the picture. Keys, menu, help, legend and documentation derive from it."""

from __future__ import annotations

from collections.abc import Callable

from crowd_demo.registry.actions import PROGRAM
from crowd_demo.registry.entries import OverlayEntry, Situation
from crowd_demo.registry.plugins import with_plugins
from crowd_demo.registry.techniques import BY_PATH

_FOLDER = "crowd_demo.render.overlays"
_GRID_LESS = "no structure: everybody is a candidate of everybody"


def _without_structure(situation: Situation) -> str:
    return _GRID_LESS if situation.get("neighbours") == "none" else ""


def _not_moved(situation: Situation) -> str:
    if "reorder.when" not in situation.structure:
        return f"{situation.get('neighbours')} leaves agents where they are in memory"
    return "reorder is off: agents stay where they are in memory" if situation.get("reorder.when") == "off" else ""


def _no_bands(situation: Situation) -> str:
    how = situation.get("depth")
    return "" if how == "bands" else f"depth order is {how}: it has no bands"


def _everybody_looks(situation: Situation) -> str:
    return "everybody looks in every step" if situation.get("stagger.avoidance") == 1 else ""


def _untied(situation: Situation) -> str:
    return "" if situation.links else "nobody is tied to anybody"


def _without(technique: str, why: str) -> Callable[[Situation], str]:
    """Inactive where the behaviour does not have that technique."""
    return lambda situation: "" if technique in situation.behaviour else why


BUILT_IN: tuple[OverlayEntry, ...] = (
    OverlayEntry("show_density", "how many agents there are on each square of the ground",
                 f"{_FOLDER}.fields:draw_density", on_ground=True),
    OverlayEntry("show_candidates", "at how many agents one has to look there, by the present structure",
                 f"{_FOLDER}.fields:draw_candidates", inactive=_without_structure, on_ground=True),
    OverlayEntry("show_streams", "where agents on each square of the ground go, all in all, and how much they agree",
                 f"{_FOLDER}.fields:draw_streams"),
    OverlayEntry("show_turns", "bands and agents whose turn it was, where looking is staggered",
                 f"{_FOLDER}.agents:draw_updates", inactive=_everybody_looks, on_ground=True),
    OverlayEntry("show_bands", "the bands of the depth order, as this picture was sorted",
                 f"{_FOLDER}.space:draw_bands", inactive=_no_bands, on_ground=True),
    OverlayEntry("show_culling", "cells taken whole, cells tested, and what was left out",
                 f"{_FOLDER}.space:draw_culling",
                 inactive=lambda situation: "culling is off" if situation.get("cull") == "off" else "", on_ground=True),
    OverlayEntry("show_cells", "the cells or boxes of the present neighbour structure",
                 f"{_FOLDER}.space:draw_cells", inactive=_without_structure),
    OverlayEntry("show_curve", "the order through the cells in which agents lie in memory",
                 f"{_FOLDER}.space:draw_curve", inactive=_not_moved),
    OverlayEntry("show_flow", "the flow field of the destination nearest to the cursor",
                 f"{_FOLDER}.fields:draw_flow", inactive=_without("stagger.paths", "only people follow flow fields")),
    OverlayEntry("show_sight", "lines of sight from people to their goals, clear or blocked",
                 f"{_FOLDER}.agents:draw_sight", inactive=_without("stagger.sight", "only people look for their goals")),
    OverlayEntry("show_avoidance", "whom people yield to, by the present kind of avoidance",
                 f"{_FOLDER}.agents:draw_avoidance", inactive=_without("avoidance", "only people yield like this")),
    OverlayEntry("show_links", "springs between agents, by how far they are stretched",
                 f"{_FOLDER}.agents:draw_links", inactive=_untied),
    OverlayEntry("show_bodies", "hit areas, and how far agents perceive others",
                 f"{_FOLDER}.agents:draw_bodies"),
    OverlayEntry("show_velocity", "where agents will be in half a second",
                 f"{_FOLDER}.agents:draw_velocity"),
    OverlayEntry("freeze", "freeze the culling frustum: see it from outside", f"{_FOLDER}.space:draw_frustum", "f"),
)

OVERLAYS: dict[str, OverlayEntry] = {entry.name: entry for entry in with_plugins(
    BUILT_IN, lambda plugin: plugin.overlays, lambda entry: (entry.name, f"scene.overlays.{entry.label}"),
    (*PROGRAM, *BY_PATH, "pairs"))}  # which have keys too, or which the section of keys has beside them

AT_FIRST: dict[str, str] = {  # names by labels, of those that a configuration may begin with
    entry.label: entry.name for entry in OVERLAYS.values() if entry.name != "freeze"}


def pictures() -> str:
    """Their pictures for the gallery."""
    return "\n\n".join(f"**{entry.label}**: {entry.why}\n\n![{entry.why}](pictures/window/overlay-{entry.label}.jpg)"
                       for entry in BUILT_IN)


def table() -> str:
    """The table of the documentation."""
    return "\n".join(["| overlay | action | it shows |", "|---|---|---|", *(
        f"| {entry.label} | `{entry.name}` | {entry.why} |" for entry in BUILT_IN)])

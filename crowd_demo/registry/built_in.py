"""The program's own behaviours, overlays, colour modes and measures of a run, and those of plugins.

A line here names the code; choices of the configuration, keys, menu, help, legends, documentation and tests follow from
it.
"""

from __future__ import annotations

from collections.abc import Callable

from crowd_demo.registry.actions import PROGRAM
from crowd_demo.registry.entries import BehaviourEntry, ColourEntry, MeasureEntry, OverlayEntry, Situation
from crowd_demo.registry.plugins import with_plugins
from crowd_demo.registry.techniques import BY_PATH

# --- extras that the simulation, the picture and the loader import on demand -------------------------------------------

GPU = "crowd_demo.extras.gpu.cuda"
GPU_STEP = "crowd_demo.extras.gpu.people:gpu_step"
GPU_LIGHT = "crowd_demo.extras.gpu.light_on_gpu:LightOnGpu"
READ_PATHS = "crowd_demo.extras.importing.trajectory_files:read_paths"

# --- behaviours ------------------------------------------------------------------------------------------------------

OWN_BEHAVIOURS: tuple[BehaviourEntry, ...] = (
    BehaviourEntry("crowd", "people with goals", "crowd_demo.config.behaviours:PeopleSettings",
                   "crowd_demo.sim.behaviours.people:People", "crowd_demo.render.figures.people:PeopleFigures"),
    BehaviourEntry("flock", "birds", "crowd_demo.config.behaviours:FlockSettings",
                   "crowd_demo.sim.behaviours.flock:Flock", "crowd_demo.render.figures.birds:BirdFigures"),
    BehaviourEntry("hunt", "predators and prey", "crowd_demo.config.behaviours:HuntSettings",
                   "crowd_demo.sim.behaviours.hunt:Hunters", "crowd_demo.render.figures.birds:HuntFigures"),
    BehaviourEntry("crates", "crates", "crowd_demo.config.behaviours:CratesSettings",
                   "crowd_demo.sim.behaviours.crates:Crates", "crowd_demo.render.figures.crates:CrateFigures"),
    BehaviourEntry("playback", "measured people", "crowd_demo.config.behaviours:PlaybackSettings",
                   "crowd_demo.extras.playback:Playback", "crowd_demo.render.figures.people:PeopleFigures"),
)

RESERVED = ("agents", "seed", "behaviour", "world", "map", "scene", "spawn", "life", "links", "time", "events",
            "optimizations", "window", "camera", "cache", "measure", "keys",
            "behaviour_settings", "map_scale", "numbers")  # of a configuration, beside their sections

BEHAVIOURS: dict[str, BehaviourEntry] = {entry.name: entry for entry in with_plugins(
    OWN_BEHAVIOURS, lambda plugin: plugin.behaviours, lambda entry: (entry.name,), RESERVED)}

# --- overlays: what can be drawn over the picture --------------------------------------------------------------------

_OVERLAYS = "crowd_demo.render.overlays"
_GRID_LESS = "no structure: all agents are candidates of each agent"


def _without_structure(situation: Situation) -> str:
    return _GRID_LESS if situation.get("neighbours") == "none" else ""


def _not_moved(situation: Situation) -> str:
    if "reorder.when" not in situation.structure:
        return f"{situation.get('neighbours')} leaves agents where they are in memory"
    return "reorder is off: agents stay where they are in memory" if situation.get("reorder.when") == "off" else ""


def _without(technique: str, why: str) -> Callable[[Situation], str]:
    return lambda situation: "" if technique in situation.behaviour else why


OWN_OVERLAYS: tuple[OverlayEntry, ...] = (
    OverlayEntry("show_density", "agents on each square of the ground",
                 f"{_OVERLAYS}.fields:draw_density", on_ground=True),
    OverlayEntry("show_candidates", "candidates on each square of the ground, by the current structure",
                 f"{_OVERLAYS}.fields:draw_candidates", inactive=_without_structure, on_ground=True),
    OverlayEntry("show_streams", "mean direction of the agents on each square, and how much they agree",
                 f"{_OVERLAYS}.fields:draw_streams"),
    OverlayEntry("show_throughput", "pedestrian flow per metre of width, relative to capacity",
                 f"{_OVERLAYS}.walking:draw_throughput",
                 inactive=_without("avoidance", "capacity is defined only for people"), on_ground=True),
    OverlayEntry("show_fundamental", "the fundamental diagram: speed against density, with Weidmann's curve",
                 f"{_OVERLAYS}.walking:draw_fundamental",
                 inactive=_without("avoidance", "the curve is one of people"), on_ground=True),
    OverlayEntry("show_due", "bands and agents that were due in this step",
                 f"{_OVERLAYS}.agents:draw_updates", on_ground=True,
                 inactive=lambda situation: "all agents are updated in every step"
                 if situation.get("stagger.avoidance") == 1 else ""),
    OverlayEntry("show_bands", "bands in which this picture was sorted by depth",
                 f"{_OVERLAYS}.space:draw_bands", on_ground=True,
                 inactive=lambda situation: "" if (how := situation.get("depth")) == "bands" else
                 f"depth order is {how}: it has no bands"),
    OverlayEntry("show_culling", "cells drawn without tests, cells tested, and cells left out",
                 f"{_OVERLAYS}.space:draw_culling",
                 inactive=lambda situation: "culling is off" if situation.get("cull") == "off" else "", on_ground=True),
    OverlayEntry("show_cells", "the cells or boxes of the current neighbour structure",
                 f"{_OVERLAYS}.space:draw_cells", inactive=_without_structure),
    OverlayEntry("show_curve", "the order of the cells in memory",
                 f"{_OVERLAYS}.space:draw_curve", inactive=_not_moved),
    OverlayEntry("show_flow", "the flow field of the destination nearest to the cursor",
                 f"{_OVERLAYS}.fields:draw_flow", inactive=_without("stagger.paths", "only people follow flow fields")),
    OverlayEntry("show_sight", "lines of sight from people to their goals, clear or blocked",
                 f"{_OVERLAYS}.agents:draw_sight", inactive=_without("stagger.sight", "only people look for their goals")),
    OverlayEntry("show_avoidance", "the people whom others avoid",
                 f"{_OVERLAYS}.agents:draw_avoidance", inactive=_without("avoidance", "only people yield like this")),
    OverlayEntry("show_links", "springs between agents, by how far they are stretched",
                 f"{_OVERLAYS}.agents:draw_links",
                 inactive=lambda situation: "" if situation.links else "there are no links"),
    OverlayEntry("show_life", "flashes where agents were born and died", f"{_OVERLAYS}.agents:draw_life",
                 inactive=lambda situation: "" if situation.births else "no agent is born or dies"),
    OverlayEntry("show_bodies", "hit areas, and how far agents perceive others",
                 f"{_OVERLAYS}.agents:draw_bodies"),
    OverlayEntry("show_velocity", "where agents will be in half a second",
                 f"{_OVERLAYS}.agents:draw_velocity"),
    OverlayEntry("freeze", "freeze the culling frustum: see it from outside", f"{_OVERLAYS}.space:draw_frustum", "f"),
)

OVERLAYS: dict[str, OverlayEntry] = {entry.name: entry for entry in with_plugins(
    OWN_OVERLAYS, lambda plugin: plugin.overlays, lambda entry: (entry.name, f"scene.overlays.{entry.label}"),
    (*PROGRAM, *BY_PATH, "pairs"))}  # which have keys too, or which the section of keys has beside them

AT_FIRST: dict[str, str] = {  # names by labels, of those that a configuration may begin with
    entry.label: entry.name for entry in OVERLAYS.values() if entry.name != "freeze"}


# --- colour modes: what the colours of agents can tell ---------------------------------------------------------------

OWN_COLOURS: tuple[ColourEntry, ...] = (
    ColourEntry("looks", "agents as they look", ""),
    ColourEntry("state", "state of each agent", "crowd_demo.render.colours.modes:StateColours"),
    ColourEntry("heading", "direction of each agent", "crowd_demo.render.colours.modes:HeadingColours"),
    ColourEntry("speed", "speed of each agent", "crowd_demo.render.colours.modes:SpeedColours"),
    ColourEntry("density", "density around each agent, for people by Fruin's levels of service, A to F",
                "crowd_demo.render.colours.squares:DensityColours"),
    ColourEntry("flow", "local flow relative to capacity: shows where a crowd is too dense",
                "crowd_demo.render.colours.squares:FlowColours"),
    ColourEntry("patience", "how long each person has made no progress",
                "crowd_demo.render.colours.modes:PatienceColours"),
    ColourEntry("tension", "how far the links of each agent are stretched",
                "crowd_demo.render.colours.modes:TensionColours"),
    ColourEntry("memory", "each agent's place in memory: smooth when sorted, confetti when not",
                "crowd_demo.render.colours.modes:MemoryColours"),
    ColourEntry("age", "steps since each agent's last update", "crowd_demo.render.colours.modes:AgeColours"),
    ColourEntry("due", "steps until each agent's next update", "crowd_demo.render.colours.modes:DueColours"),
    ColourEntry("worker", "the worker thread that moves each agent",
                "crowd_demo.render.colours.modes:WorkerColours"),
    ColourEntry("cell", "the cells of the grid, as a chessboard", "crowd_demo.render.colours.modes:CellColours"),
)

COLOURS: dict[str, ColourEntry] = {
    entry.name: entry for entry in with_plugins(OWN_COLOURS, lambda plugin: plugin.colours, lambda entry: (entry.name,))}


# --- measures: what `crowd-demo ensemble` can say about a run --------------------------------------------------------

_MEASURES = "crowd_demo.extras.ensemble.measures"
_PEOPLE = ("crowd",)

OWN_MEASURES: tuple[MeasureEntry, ...] = (
    MeasureEntry("stuck", "share of people who are stuck", f"{_MEASURES}:stuck", behaviours=_PEOPLE),
    MeasureEntry("jammed", "share of walking people slower than a quarter of Weidmann's speed at their density",
                 f"{_MEASURES}:Jammed", behaviours=_PEOPLE),
    MeasureEntry("waiting", "share of people who wait at a goal", f"{_MEASURES}:waiting", behaviours=_PEOPLE),
    MeasureEntry("queuing", "share of people in queues", f"{_MEASURES}:queuing", behaviours=_PEOPLE),
    MeasureEntry("speed", "speed of walking people relative to their preferred speed", f"{_MEASURES}:Speed",
                 behaviours=_PEOPLE),
    MeasureEntry("overlap", "share of people whose bodies overlap others", f"{_MEASURES}:overlap", behaviours=_PEOPLE),
    MeasureEntry("densest", "maximum number of people in a square of 48 units", f"{_MEASURES}:densest", fold="most",
                 behaviours=_PEOPLE),
    MeasureEntry("density", "agents in each area of measure.areas", f"{_MEASURES}:density", "1/m^2", places="areas"),
    MeasureEntry("flow", "agents that cross each line of measure.lines, in both directions", f"{_MEASURES}:Flow", "1/s",
                 places="lines"),
    MeasureEntry("answer", "time on the scenario's clock of an event with end: true",
                 f"{_MEASURES}:answer", "s", fold="last"),
    MeasureEntry("neighbours", "neighbours per query", f"{_MEASURES}:neighbours"),
    MeasureEntry("population", "number of agents", f"{_MEASURES}:population"),
    MeasureEntry("step_ms", "time per step", f"{_MEASURES}:StepTime", "ms", fold="median", time=True),
)

MEASURES: dict[str, MeasureEntry] = {
    entry.name: entry for entry in with_plugins(OWN_MEASURES, lambda plugin: plugin.measures, lambda entry: (entry.name,))}


def of_column(column: str) -> MeasureEntry:
    """The measure of a table's column, `measure` or `measure.place`."""
    return MEASURES[column.partition(".")[0]]

"""The registry of behaviours: the configuration's choices and sections, the figures and the tests derive from it."""

from __future__ import annotations

from crowd_demo.registry.entries import BehaviourEntry
from crowd_demo.registry.plugins import with_plugins

BUILT_IN: tuple[BehaviourEntry, ...] = (
    BehaviourEntry("crowd", "people with goals", "crowd_demo.config.behaviours:PeopleSettings",
                   "crowd_demo.sim.behaviours.people:People", "crowd_demo.render.figures.people:PeopleFigures"),
    BehaviourEntry("flock", "birds", "crowd_demo.config.behaviours:FlockSettings",
                   "crowd_demo.sim.behaviours.flock:Flock", "crowd_demo.render.figures.birds:BirdFigures"),
    BehaviourEntry("hunt", "predators and prey", "crowd_demo.config.behaviours:HuntSettings",
                   "crowd_demo.sim.behaviours.hunt:Hunters", "crowd_demo.render.figures.birds:HuntFigures"),
    BehaviourEntry("crates", "crates", "crowd_demo.config.behaviours:CratesSettings",
                   "crowd_demo.sim.behaviours.crates:Crates", "crowd_demo.render.figures.crates:CrateFigures"),
)

RESERVED = ("agents", "seed", "behaviour", "world", "map", "scene", "spawn", "life", "links", "time", "optimizations",
            "window", "camera", "cache", "measure", "keys", "behaviour_settings")  # of a configuration, beside their sections

BEHAVIOURS: dict[str, BehaviourEntry] = {entry.name: entry for entry in with_plugins(
    BUILT_IN, lambda plugin: plugin.behaviours, lambda entry: (entry.name,), RESERVED)}

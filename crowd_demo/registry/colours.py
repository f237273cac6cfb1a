"""The registry of colour modes: what the colours of agents can tell. Key, menu, schema and legend derive from it."""

from __future__ import annotations

from crowd_demo.registry.entries import ColourEntry
from crowd_demo.registry.plugins import with_plugins

BUILT_IN: tuple[ColourEntry, ...] = (
    ColourEntry("looks", "agents as they look", ""),
    ColourEntry("state", "what each agent is doing", "crowd_demo.render.colours.modes:StateColours"),
    ColourEntry("heading", "where each agent is going", "crowd_demo.render.colours.modes:HeadingColours"),
    ColourEntry("speed", "how fast each agent moves", "crowd_demo.render.colours.modes:SpeedColours"),
    ColourEntry("density", "how crowded it is around each agent; for people by Fruin's levels of service, A to F",
                "crowd_demo.render.colours.density:DensityColours"),
    ColourEntry("memory", "each agent's place in memory: sorted memory is a smooth carpet, unsorted is confetti",
                "crowd_demo.render.colours.modes:MemoryColours"),
    ColourEntry("age", "how long ago each agent looked at its neighbours", "crowd_demo.render.colours.modes:AgeColours"),
    ColourEntry("turn", "when each agent looks at its neighbours next", "crowd_demo.render.colours.modes:TurnColours"),
    ColourEntry("worker", "which thread's share each agent belongs to when it moves",
                "crowd_demo.render.colours.modes:WorkerColours"),
    ColourEntry("cell", "the cells of the grid, as a chessboard", "crowd_demo.render.colours.modes:CellColours"),
)

COLOURS: dict[str, ColourEntry] = {
    entry.name: entry for entry in with_plugins(BUILT_IN, lambda plugin: plugin.colours, lambda entry: (entry.name,))}


def pictures() -> str:
    """Their pictures for the gallery."""
    return "\n\n".join(f"**{entry.name}**: {entry.why}\n\n![{entry.why}](pictures/window/colours-{entry.name}.jpg)"
                       for entry in BUILT_IN)

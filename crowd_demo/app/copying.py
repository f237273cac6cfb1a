"""What is on the screen, as a command line or as YAML: a configuration file and what differs from it now.

The command is exact: it gives the same effective configuration, with the techniques, numbers, number of agents, camera,
speed and window of this moment. Text size, theme and units are preferences of each user, and left out unless
configured. What no configuration can say (a run in the middle, agents that were put elsewhere) is said in comment lines
after it, and that a file is needed where something was built. The command is for a POSIX shell.
"""

from __future__ import annotations

import json
import re
import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import NamedTuple

import pygame

from crowd_demo.config.loader import ConfigError, load_config, parse_overrides
from crowd_demo.config.model import CameraSettings, Config, Optimizations
from crowd_demo.config.section import differences
from crowd_demo.config.yaml12 import dump
from crowd_demo.render.camera import LEAST_ZOOM, Camera
from crowd_demo.sim.actions import Populate, Switch
from crowd_demo.sim.simulation import Simulation
from crowd_demo.sim.tuning import SetNumbers, Tune
from crowd_demo.version import __version__

NOT_IN_IT = {"Place": "agents that were put elsewhere"}  # by the name of the action
CONFIGURED = Populate | Switch | Tune | SetNumbers  # actions whose effect a configuration has
MAX_CHARACTERS = 400  # of a command: three lines of a usual terminal


class Shown(NamedTuple):
    """What is on the screen. `configured` is the view with which `config` begins in a window of this size."""

    config: Config
    sim: Simulation
    camera: Camera
    configured: Camera
    techniques: Optimizations  # with those that are still being compiled
    agents: int
    speed: float
    fullscreen: bool
    hud: str
    frozen: bool
    colours: str
    overlays: tuple[str, ...]  # their labels
    unsaved: str = ""  # what is said of that which was built and which the configuration does not hold


def copy(shown: Shown, name: str | None, as_yaml: bool = False) -> tuple[str, str]:
    """The command that shows the same from the configuration of that name, or YAML; and a line that says what it is."""
    config, notes = effective(shown), "".join(f"# {note}\n" for note in not_in_it(shown))
    changes = None if as_yaml else changes_of(shown, name)
    if name is None or changes is None:
        return yaml_of(config) + notes, "YAML" + ("" if as_yaml else ", for there is no configuration file")
    command = command_line(name, changes)
    if len(command) > MAX_CHARACTERS:
        return yaml_of(config) + notes, f"YAML, for the command would be longer than {MAX_CHARACTERS} characters"
    return f"{command}\n{notes}", f"a command: {name} with {len(changes)} change{'s' * (len(changes) != 1)}"


def command_for(shown: Shown, name: str | None, command: str) -> str:
    """One of the other commands for what is on the screen; empty if there is no configuration file, or if it would be long."""
    changes = changes_of(shown, name)
    text = "" if name is None or changes is None else command_line(name, changes, command)
    return text if len(text) <= MAX_CHARACTERS else ""


def put_out(text: str) -> bool:
    """Print the text to standard error, and put it on the clipboard; return whether there is one.

    A report may be on its way to standard output. Call from the thread of the window.
    """
    with suppress(OSError):
        print(text, end="", file=sys.stderr, flush=True)
    try:
        pygame.scrap.put_text(text)
        return pygame.display.get_driver() != "dummy"  # which has a clipboard that nobody else sees
    except pygame.error:
        return False


# --- the configuration -----------------------------------------------------------------------------------------------

def effective(shown: Shown) -> Config:
    """Return the configuration that begins with what is on the screen."""
    config = shown.config
    window: dict[str, object] = {"fullscreen": shown.fullscreen, "hud": shown.hud}
    if not shown.fullscreen:
        window["width"], window["height"] = shown.camera.size
    sections = {name: getattr(shown.sim.settings, name) for name in (config.behaviour, "links")}
    return config.model_copy(update={
        **sections, "measure": config.measure.model_copy(update={"line": tuple(shown.sim.counts.line)}),
        "agents": shown.agents, "optimizations": shown.techniques, "camera": view(shown),
        "scene": config.scene.model_copy(update={"colours": shown.colours, "overlays": shown.overlays}),
        "time": config.time.model_copy(update={"speed": shown.speed}), "window": config.window.model_copy(update=window)})


def view(shown: Shown) -> CameraSettings:
    """The camera's settings as configured, if they give the present view, or else those that do."""
    camera, configured = shown.camera, shown.configured
    if (camera.x, camera.y, camera.zoom) == (configured.x, configured.y, configured.zoom):
        return shown.config.camera
    return camera.settings()


def not_in_it(shown: Shown) -> Iterator[str]:
    sim, camera = shown.sim, shown.camera
    if sim.tick:
        yield f"the screen was at tick {sim.tick}, this begins at tick 0"
    kinds = dict.fromkeys(type(action).__name__ for _, action in sim.history if not (
        isinstance(action, CONFIGURED) or action.lasts))
    for kind in kinds:
        yield f"{NOT_IN_IT.get(kind, kind)}: not in this"
    if shown.unsaved:
        yield shown.unsaved
    if camera.zoom < LEAST_ZOOM and view(shown) is not shown.config.camera:
        yield f"zoom {camera.zoom:.4g}: a configuration begins at {LEAST_ZOOM}, or with the whole world, as this does"
    if shown.frozen:
        yield "the frozen frustum: not in this"


def changes_of(shown: Shown, name: str | None) -> list[str] | None:
    """Return what --set must add to the file's present configuration; None if there is no such file, or no more."""
    with suppress(ConfigError):
        if name is not None:
            return [setting(path, value) for path, value in changed(load_config(name), effective(shown))]
    return None


# --- the texts -------------------------------------------------------------------------------------------------------

def changed(before: Config, after: Config) -> Iterator[tuple[str, object]]:
    """(dotted path, value) of each value that is another one in `after`."""
    return differences(before.model_dump(mode="json"), after.model_dump(mode="json"))


def command_line(name: str, changes: Sequence[str], command: str = "") -> str:
    """The command, quoted for a POSIX shell."""
    config = [f"--config={name}"] if name.startswith("-") else ["--config", name]
    return shlex.join(["crowd-demo", *command.split(), *config, *(part for change in changes for part in ("--set", change))])


def setting(path: str, value: object) -> str:
    """`key.path=value` as --set reads it: text as it is where that reads as the same text, all else as JSON."""
    if isinstance(value, str):
        with suppress(ConfigError):
            (override,) = parse_overrides([f"{path}={value}"], "")
            if override.value == value:
                return f"{path}={value}"
    # escaped, as YAML reads only a part of Unicode; but not beyond \uffff, where JSON writes two halves
    text = re.sub(r"[\x7f-\uffff]", lambda found: f"\\u{ord(found[0]):04x}", json.dumps(value, ensure_ascii=False))
    return f"{path}={text}"


def yaml_of(config: Config) -> str:
    sections: dict[str, object] = {"agents": config.agents}  # without it, a map of one's own has another number
    for path, value in changed(Config.model_validate({}), config):
        if path == "events":
            value = [event.model_dump(mode="json", exclude_defaults=True) for event in config.events]
        *parents, name = path.split(".", 1) if path.startswith("keys.") else path.split(".")
        section = sections
        for parent in parents:
            section = section.setdefault(parent, {})  # type: ignore[assignment]
        section[name] = value
    return f"# crowd-demo {__version__}: crowd-demo --config FILE.yaml shows this\n{dump(sections)}"

"""`crowd-demo [run]`: open a window and run a configuration, or print something about it; `crowd-demo replay`."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

from crowd_demo.app import RunOptions
from crowd_demo.cli.arguments import (
    COMMANDS,
    DEFAULT_CONFIG,
    SET,
    Command,
    OptionGroup,
    collected,
    config_option,
    count,
    file_path,
    found,
    given,
    option,
    overrides_of,
    refuse,
    report_option,
    size,
    tick,
    unwritable,
)
from crowd_demo.config.resources import about, list_configs, list_maps, list_tours
from crowd_demo.host.files import is_special
from crowd_demo.host.system import OK
from crowd_demo.registry.plugins import installed
from crowd_demo.registry.stages import STAGES, stages_of
from crowd_demo.registry.texts import say_once
from crowd_demo.version import __version__

if TYPE_CHECKING:
    from crowd_demo.config.model import Config
    from crowd_demo.host.recording.format import Save, Script

HEADLESS = option("--headless", action="store_true", help="no window, as fast as possible")
SIZE = option("--size", metavar="WxH", type=size, help="size of the window, such as 1280x720")
HOW_TO_RUN = OptionGroup(title="how to run", options=[
    HEADLESS,
    option("--frames", metavar="N", type=count, help="stop after N frames"),
    option("--no-render", action="store_false", dest="render", help="with --headless: draw nothing"),
    option("--screenshot", metavar="PATH.png", type=file_path, help="save the last frame"),
    report_option("times, counters and the state's hash"),
    option("--why", metavar="STAGE", default="", help="with --report: explain a stage, in further steps"),
    option("--record", metavar="FILE.replay", type=file_path, help="record the run, for replay"),
    option("--trace", metavar="FILE.json", type=file_path, help="write a Chrome trace, for ui.perfetto.dev")])


def _read(args: argparse.Namespace) -> tuple[Config, Save | None] | None:
    """The effective configuration, and the saved crowd that the run begins with, or None where none is needed."""
    if args.list_configs or args.print_schema:
        return None
    other = "--config" if args.config else "--load"
    mistakes = found(
        (args.load and args.config, "--config: not with --load, which brings its own configuration"),
        (args.tour and (args.config or args.load), f"--tour: not with {other}, for a tour brings its own configuration"),
        (args.tour and not args.render, "--no-render: not with --tour, which also measures the picture"))
    mistakes += run_mistakes(args)
    if args.tour and not mistakes:
        from crowd_demo.config.tour import load_tour

        tour = collected(mistakes, lambda: load_tour(args.tour))
        args.config = tour and tour.config
    source = collected(mistakes, lambda: _source(args))
    refuse(mistakes)
    return source


def run_mistakes(args: argparse.Namespace) -> Iterator[str]:
    """Mistakes in how to run that argparse does not find: contradicting options, and files that cannot be written."""
    stages = stages_of("step", STAGES)
    yield from found(
        (not args.render and not args.headless, "--no-render: only with --headless, for a window shows a picture"),
        (args.why and not args.report, "--why: only with --report"),
        (args.why and args.why not in stages and not installed(),
         f"--why: a step has no stage {args.why!r}; stages: {', '.join(stages)}"),
        (not args.render and args.screenshot, "--screenshot: there is no picture to save with --no-render"))
    if args.screenshot:
        mistakes = list(unwritable("--screenshot", args.screenshot))
        if args.screenshot.suffix.lower() != ".png" and (mistakes or not is_special(args.screenshot)):
            yield f"--screenshot: must end in .png, not {str(args.screenshot)!r}"
        yield from mistakes
    for name, path in (("--record", args.record), ("--trace", args.trace)):
        if path:
            mistakes = list(unwritable(name, path))
            yield from mistakes or ([f"{name}: {path} is not a regular file"] if is_special(path) else [])


def _source(args: argparse.Namespace) -> tuple[Config, Save | None]:
    """The configuration, and the saved crowd that brings it, with the options' techniques and looks."""
    from crowd_demo.config.loader import ReadConfig

    overrides = overrides_of(args, "seed", "threads", "size", "fullscreen")
    if not args.load:
        config = ReadConfig.read(args.config or DEFAULT_CONFIG, overrides).config
        if config.map and config.map not in list_maps():
            from crowd_demo.config.capacity import jam_warning

            if warning := jam_warning(config):
                say_once(warning)
        return config, None
    from crowd_demo.host.recording.format import Save, read_save, with_overrides

    saved = Save(args.load, with_overrides(read_save(args.load), str(args.load), overrides))
    return saved.snapshot.config, saved


def _run(args: argparse.Namespace, read: tuple[Config, Save | None] | None) -> int:
    if read is None:
        from crowd_demo.config.model import Config

        shipped = list_configs()
        wide = max(map(len, shipped))
        print(json.dumps(Config.model_json_schema(), indent=2) if args.print_schema else
              "\n".join(f"{name:{wide}} {about(path)}" for name, path in shipped.items()))
        return OK
    config, saved = read
    if args.list_keys or args.print_config:
        from crowd_demo.config.yaml12 import dump

        print("\n".join(_keys(config)) if args.list_keys else dump(config.model_dump(mode="json")).removesuffix("\n"))
        return OK
    from crowd_demo.app.main import run

    return run(config, RunOptions(
        args.headless, args.frames, args.render, args.screenshot, args.report, args.record, saved,
        config_name=args.config or DEFAULT_CONFIG, trace=args.trace, tour=args.tour, why=args.why))


# --- what only prints ------------------------------------------------------------------------------------------------

def _keys(config: Config) -> Iterator[str]:
    from crowd_demo.config.keys import ACTIONS, by_heading, keys_of

    for number, (heading, actions) in enumerate(by_heading().items()):
        yield f"\n{heading}" if number else heading
        for action in actions:
            yield f"  {' '.join(keys_of(config.keys, action)) or '-':13} {action:18} {ACTIONS[action].what}"


# --- a replay --------------------------------------------------------------------------------------------------------

def _read_replay(args: argparse.Namespace) -> Script:
    from crowd_demo.host.recording.format import read_recording

    script = read_recording(args.recording)
    last = max(part.end for part in script.parts)
    refuse(found((args.start_at > last, f"--from: the recording ends at tick {last:,}")))
    return script


def _replay(args: argparse.Namespace, script: Script) -> int:
    from crowd_demo.app.main import run

    return run(script.parts[0].config, RunOptions(
        args.headless, render=not args.headless, report=args.report, replay=script, replay_from=args.start_at))


# --- the commands ----------------------------------------------------------------------------------------------------

RUN = Command(
    _run, _read, about="""\
An interactive crowd in which every data-oriented optimisation is a live switch. Press its key: the window shows
what it is worth, and whether the crowd stays identical. F1 shows all keys.

commands (crowd-demo COMMAND --help shows more):
""" + "\n".join(f"  {name:10}{about}" for name, (_, about) in COMMANDS.items()),
    options=[
        OptionGroup(title="what to run", options=[
            config_option(),
            option("--load", metavar="FILE.crowd", type=file_path, help="a saved crowd, with its configuration"),
            option("--tour", metavar="NAME|PATH", type=given,
                   help="a tour: " + ", ".join(list_tours())),
            SET,
            option("--seed", metavar="N", help="the same seed gives the same crowd"),
            option("--threads", metavar="N|auto", help="number of threads, 1 to 64"),
            SIZE,
            option("--fullscreen", action="store_true", help="start in full screen")]),
        HOW_TO_RUN,
        OptionGroup(title="instead of running", exclusive=True, options=[
            option("--list-configs", action="store_true", help="the shipped configurations"),
            option("--list-keys", action="store_true", help="the keys and what they do"),
            option("--print-config", action="store_true", help="the effective configuration as YAML"),
            option("--print-schema", action="store_true", help="the JSON schema of configurations"),
            option("--version", action="version", version=f"%(prog)s {__version__}")])])

REPLAY = Command(
    _replay, _read_replay,
    about="Replay a recorded run and compare its state hashes: exit code 0 if they agree, 1 if they differ.",
    options=[
        option("recording", metavar="FILE", type=file_path, help="a recording, made by --record or F8"),
        HEADLESS,
        report_option("times, counters, and how the replay went"),
        option("--from", metavar="TICK", type=tick, default=0, dest="start_at",
               help="begin at this tick")])

"""`crowd-demo [run]`: open a window and run a configuration, or print something about it."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from crowd_demo import __version__
from crowd_demo.app.options import RunOptions
from crowd_demo.app.output.files import is_special
from crowd_demo.app.process.exit_codes import FINE
from crowd_demo.cli.arguments import DEFAULT_CONFIG, Parser, count, size, unwritable, unwritable_report
from crowd_demo.cli.commands import listed
from crowd_demo.cli.exits import mistaken

if TYPE_CHECKING:
    from crowd_demo.app.recording.saves import Save
    from crowd_demo.config.loader import Override
    from crowd_demo.config.model import Config

ABOUT = f"""\
An interactive crowd in which every data-oriented optimisation is a switch: flip it with a hotkey, see what it costs, what it
buys and that the crowd did not change. F1 shows all keys.

commands (crowd-demo COMMAND --help says more):
{listed()}"""


def parser() -> Parser:
    from crowd_demo.config.resources import list_tours

    made = Parser(prog="crowd-demo", allow_abbrev=False, usage="crowd-demo [COMMAND] [OPTION ...]", description=ABOUT,
                  formatter_class=argparse.RawDescriptionHelpFormatter)
    what = made.add_argument_group("what to run")
    what.add_argument("--config", metavar="NAME|PATH",
                      help=f"a path, a file of ./configs, or a shipped name (default: {DEFAULT_CONFIG})")
    what.add_argument("--load", metavar="FILE.crowd", type=Path, help="start from a saved crowd, with its configuration")
    what.add_argument("--tour", metavar="NAME|PATH", help="a tour with its configuration: " + ", ".join(list_tours()))
    what.add_argument("--set", metavar="KEY.PATH=VALUE", action="append", default=[], dest="overrides",
                      help="replace a value of the configuration; may be given several times")
    what.add_argument("--seed", metavar="N", help="the same seed gives the same crowd")
    what.add_argument("--threads", metavar="N|auto", help="threads that share the work, 1 to 64")
    what.add_argument("--size", metavar="WxH", type=size, help="size of the window in pixels, such as 1280x720")
    what.add_argument("--fullscreen", action="store_true", help="start in full screen")
    how = made.add_argument_group("how to run")
    how.add_argument("--headless", action="store_true", help="no window, and as fast as it goes")
    how.add_argument("--frames", metavar="N", type=count, help="stop after so many frames")
    how.add_argument("--no-render", action="store_false", dest="render", help="with --headless: no picture either")
    how.add_argument("--screenshot", metavar="PATH.png", type=Path, help="save the last frame")
    how.add_argument("--report", metavar="PATH.json|-", type=Path, help="write times, counters and the state's hash")
    how.add_argument("--record", metavar="FILE.replay", type=Path, help="record the run, for crowd-demo replay")
    how.add_argument("--trace", metavar="FILE.json", type=Path, help="write the run as a Chrome trace, for ui.perfetto.dev")
    show = made.add_argument_group("instead of running").add_mutually_exclusive_group()
    show.add_argument("--list-configs", action="store_true", help="the shipped configurations")
    show.add_argument("--list-keys", action="store_true", help="the keys and what they do")
    show.add_argument("--print-config", action="store_true", help="the effective configuration as YAML")
    show.add_argument("--print-schema", action="store_true", help="the JSON schema of configurations")
    show.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    return made


def run(args: argparse.Namespace) -> int:
    if args.list_configs:
        return _list_configs()
    if args.print_schema:
        return _print_schema()
    mistakes = list(_mistakes(args))
    if args.tour and not mistakes:
        args.config = _tour_config(args.tour, mistakes)
    saved = _saved(args, mistakes) if args.load else None
    config = saved.snapshot.config if saved else None if args.load else config_of(args, mistakes)
    if config is None or mistakes:
        return mistaken(*mistakes)
    if args.list_keys:
        return _list_keys(config)
    if args.print_config:
        return _print_config(config)
    from crowd_demo.app.main import run as run_program

    return run_program(config, RunOptions(
        args.headless, args.frames, args.render, args.screenshot, args.report, args.record, saved,
        config_name=args.config or DEFAULT_CONFIG, trace=args.trace, tour=args.tour))


def _mistakes(args: argparse.Namespace) -> Iterator[str]:
    """Mistakes that argparse does not find: contradicting options, and files that cannot be written."""
    if args.load and args.config:
        yield "--config: not with --load, which brings its own configuration"
    if args.tour and (args.config or args.load):
        yield f"--tour: not with {'--config' if args.config else '--load'}, for a tour brings its own configuration"
    if args.tour and not args.render:
        yield "--no-render: not with --tour, which also measures the picture"
    if not args.render and not args.headless:
        yield "--no-render: only with --headless, for a window shows a picture"
    if not args.render and args.screenshot:
        yield "--screenshot: there is no picture to save with --no-render"
    if args.screenshot:
        mistakes = list(unwritable("--screenshot", args.screenshot))
        if args.screenshot.suffix.lower() != ".png" and (mistakes or not is_special(args.screenshot)):
            yield f"--screenshot: must end in .png, not {str(args.screenshot)!r}"
        yield from mistakes
    for option, path in (("--record", args.record), ("--trace", args.trace)):
        if path:
            mistakes = list(unwritable(option, path))
            yield from mistakes or ([f"{option}: {path} is no regular file"] if is_special(path) else [])
    yield from unwritable_report(args)


def config_of(args: argparse.Namespace, mistakes: list[str]) -> Config | None:
    """The effective configuration, or None and lines added to the mistakes."""
    from crowd_demo.config.loader import ConfigError, Source, parse_overrides

    try:
        overrides = [*parse_overrides(args.overrides, "--set"), *_shortcuts(args)]
        return Source.read(args.config or DEFAULT_CONFIG, overrides).config
    except ConfigError as error:
        mistakes += error.lines
        return None


def _tour_config(name: str, mistakes: list[str]) -> str | None:
    """The configuration with which a tour begins, or None and lines added to the mistakes."""
    from crowd_demo.config.loader import ConfigError
    from crowd_demo.config.tour import load_tour

    try:
        return load_tour(name).config
    except ConfigError as error:
        mistakes += error.lines
        return None


def _saved(args: argparse.Namespace, mistakes: list[str]) -> Save | None:
    """The saved crowd, with the options' techniques and looks; or None and lines added to the mistakes."""
    from crowd_demo.app.recording.saves import Save, read_save, with_overrides
    from crowd_demo.config.loader import ConfigError, parse_overrides
    from crowd_demo.sim.save_format import SaveError

    try:
        overrides = [*parse_overrides(args.overrides, "--set"), *_shortcuts(args)]
        return Save(args.load, with_overrides(read_save(args.load), str(args.load), overrides))
    except ConfigError as error:
        mistakes += error.lines
    except SaveError as error:
        mistakes.append(str(error))
    return None


def _shortcuts(args: argparse.Namespace) -> Iterator[Override]:
    """Options that set keys of the configuration; they override --set."""
    from crowd_demo.config.loader import Location, Override
    from crowd_demo.config.yaml12 import scalar

    if args.seed is not None:
        yield Override(Location("--seed"), ("seed",), scalar(args.seed))
    if args.threads is not None:
        yield Override(Location("--threads"), ("optimizations", "threads"), scalar(args.threads))
    if args.size is not None:
        yield Override(Location("--size"), ("window", "width"), args.size[0])
        yield Override(Location("--size"), ("window", "height"), args.size[1])
    if args.fullscreen:
        yield Override(Location("--fullscreen"), ("window", "fullscreen"), True)


def _list_configs() -> int:
    from crowd_demo.config.resources import about, list_configs

    found = list_configs()
    wide = max(map(len, found))
    for name, path in found.items():
        print(f"{name:{wide}} {about(path)}")
    return FINE


def _list_keys(config: Config) -> int:
    from crowd_demo.config.keys import ACTIONS, by_heading, keys_of

    for number, (heading, actions) in enumerate(by_heading().items()):
        print(f"\n{heading}" if number else heading)
        for action in actions:
            print(f"  {' '.join(keys_of(config.keys, action)) or '-':13} {action:18} {ACTIONS[action].what}")
    return FINE


def _print_config(config: Config) -> int:
    from crowd_demo.config.yaml12 import dump

    print(dump(config.model_dump(mode="json")), end="")
    return FINE


def _print_schema() -> int:
    from crowd_demo.config.model import Config

    print(json.dumps(Config.model_json_schema(), indent=2))
    return FINE

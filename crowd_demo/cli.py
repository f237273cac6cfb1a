"""The command line: arguments in, an exit code out, and one line for each mistake of the user.

Exit codes: 0 fine, 1 a crash (one line, the traceback goes to a file) or output that cannot be written, 2 usage or
configuration, 3 no display, 128 + n for signal n: 130 for Ctrl-C. What only prints starts at once: heavy modules are
imported where they are needed.
"""

from __future__ import annotations

import argparse
import atexit
import json
import os
import platform
import re
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from crowd_demo import __version__
from crowd_demo.app.files import is_special, why_unwritable
from crowd_demo.app.options import STDOUT, RunOptions
from crowd_demo.app.quitting import Interrupted, end_process, raise_interrupted, say_not_written, signals_to
from crowd_demo.app.streams import OutputError, discard_output, standard_streams

if TYPE_CHECKING:
    from crowd_demo.config.loader import Override
    from crowd_demo.config.model import Config
    from crowd_demo.sim.snapshot import Snapshot

FINE, CRASHED, MISTAKEN, INTERRUPTED = 0, 1, 2, 130
DEFAULT_CONFIG = "20k"
RUN = "run"  # the command if none is named


def command() -> NoReturn:
    """The command: run the program, and end the process without taking Numba's kernels apart, which takes up to a second."""
    code = main()
    atexit._run_exitfuncs()
    end_process(code)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the program; returns its exit code (argparse leaves with SystemExit, of the same codes)."""
    name, *rest = arguments = list(sys.argv[1:] if argv is None else argv) or [RUN]
    parser, do = COMMANDS.get(name, COMMANDS[RUN])
    return exit_code(lambda: _main(parser().parse_args(rest if name in COMMANDS else arguments), do))


def exit_code(run: Callable[[], int]) -> int:
    """Run; return its exit code, or the one for its exception, which costs one line and no traceback."""
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")  # its greeting would be part of piped output
    with standard_streams(), signals_to(raise_interrupted):
        return _exit_code(run)


def _exit_code(run: Callable[[], int]) -> int:
    code = FINE
    try:
        try:
            code = run()
        except SystemExit:  # argparse has printed something
            sys.stdout.flush()
            raise
        sys.stdout.flush()
        return code
    except KeyboardInterrupt as error:
        return error.code if isinstance(error, Interrupted) else INTERRUPTED
    except BrokenPipeError:  # the reader, such as `head`, has closed the pipe
        discard_output()
        return code
    except OutputError as error:
        discard_output()
        _say(f"cannot write to standard output: {error.strerror}")
        return code or CRASHED
    except Exception as error:
        if os.environ.get("CROWD_DEMO_DEBUG"):
            raise
        _say(f"crashed: {_first_line(error)} ({'; '.join([_log(), *getattr(error, '__notes__', ())])})")
        return CRASHED


def _main(args: argparse.Namespace, do: Callable[[argparse.Namespace], int]) -> int:
    try:
        return do(args)
    except KeyboardInterrupt:  # before the program proper, which listens to signals itself
        options = ("screenshot", "report", "trace")
        say_not_written("before loading", {f"--{name}": getattr(args, name, None) for name in options})
        raise


def _run(args: argparse.Namespace) -> int:
    if args.list_configs:
        return _list_configs()
    if args.print_schema:
        return _print_schema()
    mistakes = list(_mistakes(args))
    if args.tour and not mistakes:
        args.config = _tour_config(args.tour, mistakes)
    snapshot = _snapshot(args, mistakes) if args.load else None
    config = snapshot.config if snapshot else None if args.load else _config(args, mistakes)
    if config is None or mistakes:
        _print_error(*mistakes)
        return MISTAKEN
    if args.list_keys:
        return _list_keys(config)
    if args.print_config:
        return _print_config(config)
    from crowd_demo.app.main import run

    return run(config, RunOptions(args.headless, args.frames, args.render, args.screenshot, args.report, args.record, snapshot,
                                  config_name=args.config or DEFAULT_CONFIG, trace=args.trace, tour=args.tour))


def _replay(args: argparse.Namespace) -> int:
    from crowd_demo.app.recording_format import RecordingError, read_recording

    mistakes = list(_unwritable_report(args))
    try:
        script = read_recording(args.recording)
        if args.start_at > (last := max(part.end for part in script.parts)):
            mistakes.append(f"--from: the recording ends at tick {last:,}")
    except RecordingError as error:
        mistakes.append(str(error))
    if mistakes:
        _print_error(*mistakes)
        return MISTAKEN
    from crowd_demo.app.main import run

    return run(script.parts[0].config, RunOptions(args.headless, render=not args.headless, report=args.report, replay=script,
                                                  replay_from=args.start_at))


class Parser(argparse.ArgumentParser):
    """A parser that reports a mistake in one line."""

    def error(self, message: str) -> NoReturn:
        from crowd_demo.config.explain import close_to

        kind, _, rest = message.partition("unrecognized arguments: ")
        hint = close_to(re.split(r"[= ]", rest)[0], self._option_string_actions) if not kind else ""
        self.exit(MISTAKEN, f"{self.prog}: {message}{hint}; see {self.prog} --help\n")


def _parser() -> argparse.ArgumentParser:
    from crowd_demo.config.resources import list_tours

    parser = Parser(
        prog="crowd-demo", allow_abbrev=False, description=(
            "An interactive crowd in which every data-oriented optimisation is a switch: flip it with a hotkey, see "
            "what it costs, what it buys and that the crowd did not change. F1 shows all keys."),
        epilog="Other commands: crowd-demo replay FILE (a run that --record has recorded; replay --help says more).")
    what = parser.add_argument_group("what to run")
    what.add_argument("--config", metavar="NAME|PATH",
                      help=f"a path, a file of ./configs, or a shipped name (default: {DEFAULT_CONFIG})")
    what.add_argument("--load", metavar="FILE.crowd", type=Path, help="start from a saved crowd, with its configuration")
    what.add_argument("--tour", metavar="NAME|PATH", help="a tour with its configuration: " + ", ".join(list_tours()))
    what.add_argument("--set", metavar="KEY.PATH=VALUE", action="append", default=[], dest="overrides",
                      help="replace a value of the configuration; may be given several times")
    what.add_argument("--seed", metavar="N", help="the same seed gives the same crowd")
    what.add_argument("--threads", metavar="N|auto", help="threads that share the work, 1 to 64")
    what.add_argument("--size", metavar="WxH", type=_size, help="size of the window in pixels, such as 1280x720")
    what.add_argument("--fullscreen", action="store_true", help="start in full screen")
    how = parser.add_argument_group("how to run")
    how.add_argument("--headless", action="store_true", help="no window, and as fast as it goes")
    how.add_argument("--frames", metavar="N", type=count, help="stop after so many frames")
    how.add_argument("--no-render", action="store_false", dest="render", help="with --headless: no picture either")
    how.add_argument("--screenshot", metavar="PATH.png", type=Path, help="save the last frame")
    how.add_argument("--report", metavar="PATH.json|-", type=Path, help="write times, counters and the state's hash")
    how.add_argument("--record", metavar="FILE.replay", type=Path, help="record the run, for crowd-demo replay")
    how.add_argument("--trace", metavar="FILE.json", type=Path, help="write the run as a Chrome trace, for ui.perfetto.dev")
    show = parser.add_argument_group("instead of running").add_mutually_exclusive_group()
    show.add_argument("--list-configs", action="store_true", help="the shipped configurations")
    show.add_argument("--list-keys", action="store_true", help="the keys and what they do")
    show.add_argument("--print-config", action="store_true", help="the effective configuration as YAML")
    show.add_argument("--print-schema", action="store_true", help="the JSON schema of configurations")
    show.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    return parser


def _replay_parser() -> argparse.ArgumentParser:
    parser = Parser(prog="crowd-demo replay", allow_abbrev=False, description=(
        "Make a recorded run again, and compare its state hashes: exit code 0 if they are the same, 1 if they part."))
    parser.add_argument("recording", metavar="FILE", type=Path, help="what --record or a key has written")
    parser.add_argument("--headless", action="store_true", help="no window, and as fast as it goes")
    parser.add_argument("--report", metavar="PATH.json|-", type=Path, help="write times, counters, and how the replay went")
    parser.add_argument("--from", metavar="TICK", type=tick, default=0, dest="start_at",
                        help="show and compare nothing before this tick")
    return parser


def _size(text: str) -> tuple[int, int]:
    match = re.fullmatch(r"([0-9]{1,6})[xX]([0-9]{1,6})", text)
    if not match:
        raise argparse.ArgumentTypeError(f"must be WIDTHxHEIGHT in pixels, such as 1280x720, not {text!r}")
    return int(match[1]), int(match[2])


def count(text: str) -> int:
    """A whole number of at least 1, for argparse."""
    if not re.fullmatch(r"[0-9]{1,12}", text) or int(text) == 0:
        raise argparse.ArgumentTypeError(f"must be a whole number of at least 1, not {text!r}")
    return int(text)


def tick(text: str) -> int:
    """A tick, for argparse."""
    return 0 if text == "0" else count(text)


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
    yield from _unwritable_report(args)


def _unwritable_report(args: argparse.Namespace) -> Iterator[str]:
    if args.report and args.report != STDOUT:
        yield from unwritable("--report", args.report)


def unwritable(option: str, path: Path) -> Iterator[str]:
    """A line if nothing can be written there; leaves nothing behind."""
    if why := why_unwritable(path):
        yield f"{option}: {why}"


def _config(args: argparse.Namespace, mistakes: list[str]) -> Config | None:
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


def _snapshot(args: argparse.Namespace, mistakes: list[str]) -> Snapshot | None:
    """The saved crowd, with the options' techniques and looks; or None and lines added to the mistakes."""
    from crowd_demo.app.saves import read_save, with_overrides
    from crowd_demo.config.loader import ConfigError, parse_overrides
    from crowd_demo.sim.save_format import SaveError

    try:
        overrides = [*parse_overrides(args.overrides, "--set"), *_shortcuts(args)]
        return with_overrides(read_save(args.load), str(args.load), overrides)
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

    for name, path in list_configs().items():
        print(f"{name:12} {about(path)}")
    return FINE


def _list_keys(config: Config) -> int:
    from crowd_demo.config.keys import ACTIONS, keys_of

    for action, (_, what) in ACTIONS.items():
        print(f"{' '.join(keys_of(config.keys, action)) or '-':12} {action:18} {what}")
    return FINE


def _print_config(config: Config) -> int:
    from crowd_demo.config.yaml12 import dump

    print(dump(config.model_dump(mode="json")), end="")
    return FINE


def _print_schema() -> int:
    from crowd_demo.config.model import Config

    print(json.dumps(Config.model_json_schema(), indent=2))
    return FINE


def _log() -> str:
    """Write the present traceback to a file; return the words that say where."""
    versions = f"crowd-demo {__version__}, Python {sys.version}, {platform.platform()}"
    try:
        with tempfile.NamedTemporaryFile("wb", prefix="crowd-demo-", suffix=".log", delete=False) as file:
            file.write(f"{versions}\n{traceback.format_exc()}".encode(errors="backslashreplace"))
        return f"details in {file.name}"
    except OSError:
        return "no log could be written; CROWD_DEMO_DEBUG=1 shows the traceback"


def _first_line(error: Exception) -> str:
    return " ".join([f"{type(error).__name__}:", *str(error).splitlines()[:1]]).rstrip(":")


def _say(text: str) -> None:
    _print_error(f"crowd-demo: {text}")


def _print_error(*lines: str) -> None:
    with suppress(OSError):  # there is nowhere else to tell that standard error is full
        print(*lines, sep="\n", file=sys.stderr)


COMMANDS: dict[str, tuple[Callable[[], argparse.ArgumentParser], Callable[[argparse.Namespace], int]]] = {
    RUN: (_parser, _run), "replay": (_replay_parser, _replay)}

"""What commands are, and what their arguments share: a parser of one-line mistakes, numbers, files, and which configuration is
meant."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, NoReturn, TypeVar

from crowd_demo.host.files import why_unwritable
from crowd_demo.host.system import USAGE_ERROR

if TYPE_CHECKING:
    from crowd_demo.config.loader import Override
    from crowd_demo.config.model import Config

DEFAULT_CONFIG = "20k"
MAX = 1_000_000_000  # of whatever is counted
Read = TypeVar("Read")
SHORT_FOR = {  # what options replace in the configuration
    "agents": (("agents",),), "seed": (("seed",),), "threads": (("optimizations", "threads"),),
    "size": (("window", "width"), ("window", "height")), "fullscreen": (("window", "fullscreen"),)}
RUN = "run"  # the command if none is named
COMMANDS = {  # the module that has a `Command` of that name in capitals, and a line about it
    RUN: ("cli.run", "open a window and run a configuration (the default command)"),
    "replay": ("cli.run", "replay a recorded run and compare its state hashes"),
    "sweep": ("extras.commands.measuring", "measure one technique at each of its values"),
    "ablate": ("extras.commands.measuring", "measure every technique by turning it off"),
    "why": ("extras.commands.measuring", "explain the time of a stage: pairs, hot loop, vector width"),
    "largest": ("extras.commands.measuring", "find the largest crowd at 60 FPS, also technique by technique"),
    "lab": ("extras.commands.measuring", "test claims of the literature: one report with a verdict for each"),
    "ensemble": ("extras.commands.ensemble", "run many seeds and settings, here or on a cluster, into one table"),
    "export": ("extras.commands.export", "export a run: a web page, a video, images or trajectories"),
    "play": ("extras.commands.export", "show measured trajectories: PedPy, JuPedSim or a table"),
    "validate": ("extras.commands.measuring", "compare simulated pedestrians with published data"),
}
EXPERIMENTS = {  # of the lab, with options of their own
    "lab flocks": ("extras.commands.measuring", "measure how flocks keep together, split and merge"),
    "lab motion": ("extras.commands.measuring", "measure how people move: distances, density, turns, stuck people"),
}


Option = tuple[str, Mapping[str, object]]  # its name, and what else argparse's `add_argument` gets


class OptionGroup(NamedTuple):
    """Options that stand under a title in the help, or that exclude each other."""

    options: Sequence[Option]
    title: str = ""
    exclusive: bool = False


class Command(NamedTuple):
    """A command of `crowd-demo`; `run` returns the exit code.

    `read` looks at everything that the user may have got wrong: it returns what `run` gets beside the arguments, or
    raises ValueError with a line for each mistake. `in_thread` runs in a thread, so that a signal ends it while a
    kernel runs.
    """

    run: Callable[..., int]
    read: Callable[[argparse.Namespace], object]
    about: str
    options: Sequence[Option | OptionGroup]
    epilog: str = ""
    in_thread: bool = False


class Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        from crowd_demo.config.section import close_to

        kind, _, rest = message.partition("unrecognized arguments: ")
        hint = close_to(re.split(r"[= ]", rest)[0], self._option_string_actions) if not kind else ""
        self.exit(USAGE_ERROR, f"{self.prog}: {message}{hint}; see {self.prog} --help\n")


def parser_of(name: str, command: Command) -> Parser:
    """The parser of a command; that of `run` is also that of the program without a command."""
    prog, usage = ("crowd-demo", "crowd-demo [COMMAND] [OPTION ...]") if name == RUN else (f"crowd-demo {name}", None)
    made = Parser(prog=prog, usage=usage, allow_abbrev=False, description=command.about, epilog=command.epilog,
                  formatter_class=argparse.RawDescriptionHelpFormatter)
    for each in command.options:
        group = each if isinstance(each, OptionGroup) else OptionGroup([each])
        within: argparse._ActionsContainer = made.add_argument_group(group.title) if group.title else made
        within = within.add_mutually_exclusive_group() if group.exclusive else within
        for option_name, settings in group.options:
            within.add_argument(option_name, **settings)  # type: ignore[arg-type]
    return made


def option(name: str, **settings: object) -> Option:
    return name, settings


def count(text: str, least: int = 1) -> int:
    """Parse a whole number from `least` to `MAX`: a type for argparse."""
    if not re.fullmatch("[0-9]{1,12}", text) or not least <= int(text) <= MAX:
        raise argparse.ArgumentTypeError(f"must be a whole number from {least} to {MAX}, not {text!r}")
    return int(text)


def given(text: str) -> str:
    if not text:
        raise argparse.ArgumentTypeError("must not be empty")
    return text


def file_path(text: str) -> Path:
    """Parse a path: a type for argparse. An empty text would be the working folder."""
    return Path(given(text))


def seconds(text: str, what: str = "seconds", may_be_zero: bool = False) -> float:
    """Parse seconds, or `what` else, more than 0: a type for argparse."""
    if not re.fullmatch(r"[0-9]{1,6}(\.[0-9]{1,6})?", text) or not (may_be_zero or float(text)):
        least = "from 0 on" if may_be_zero else "above 0"
        raise argparse.ArgumentTypeError(f"must be a number of {what} {least}, such as 2.5, not {text!r}")
    return float(text)


frame_rate = partial(seconds, what="frames per second")
moment = partial(seconds, may_be_zero=True)  # since the beginning
tick = partial(count, least=0)


def parsed(pattern: str, must_be: str, made: Callable[[re.Match[str]], Read]) -> Callable[[str], Read]:
    """Return a type for argparse. It accepts texts that match the pattern, and converts them."""
    def parse(text: str) -> Read:
        if not (match := re.fullmatch(pattern, text)):
            raise argparse.ArgumentTypeError(f"must be {must_be}, not {text!r}")
        return made(match)

    return parse


size = parsed(r"([0-9]{1,6})[xX]([0-9]{1,6})", "WIDTHxHEIGHT in pixels, such as 1280x720",
              lambda match: (int(match[1]), int(match[2])))


def unwritable(option: str, path: Path) -> Iterator[str]:
    """A line if nothing can be written there; leaves nothing behind."""
    if why := why_unwritable(path):
        yield f"{option}: {why}"


def found(*checks: tuple[object, str]) -> list[str]:
    """Return the texts of those mistakes that were made."""
    return [text for is_wrong, text in checks if is_wrong]


def refuse(mistakes: Iterable[str]) -> None:
    """Raises ValueError with a line for each mistake, if there is any."""
    if lines := list(mistakes):
        raise ValueError("\n".join(lines))


def collected(mistakes: list[str], read: Callable[[], Read]) -> Read | None:
    """Return what `read` returns; if it raises ValueError, add a line for each mistake and return None."""
    try:
        return read()
    except ValueError as error:
        mistakes += str(error).splitlines()
        return None


def print_error(*lines: str) -> None:
    with suppress(OSError):  # there is nowhere else to tell that standard error is full
        print(*lines, sep="\n", file=sys.stderr)


def mistaken(*lines: str) -> int:
    """Print a line for each mistake of the user; return the exit code."""
    print_error(*lines)
    return USAGE_ERROR


# --- the crowd of an experiment --------------------------------------------------------------------------------------

def crowd_options(config: str = DEFAULT_CONFIG) -> list[Option]:
    return [config_option(config, default=config), SET, option("--agents", metavar="N", help="size of the crowd")]


def config_option(shown: str = DEFAULT_CONFIG, **settings: object) -> Option:
    return option("--config", metavar="NAME|PATH", type=given,
                  help=f"a path, a file of ./configs, or a shipped name (default: {shown})", **settings)


SET = option("--set", metavar="KEY.PATH=VALUE", action="append", default=[], dest="overrides",
             help="replace a value of the configuration (repeatable)")


def report_option(what: str) -> Option:
    return option("--report", metavar="PATH.json|-", type=file_path, help=f"write {what}")


def crowd_config(args: argparse.Namespace) -> Config:
    """The configuration that these options name. Raises ConfigError with a line for each mistake."""
    from crowd_demo.config.loader import ReadConfig

    return ReadConfig.read(args.config, overrides_of(args, "agents")).config


def overrides_of(args: argparse.Namespace, *options: str) -> list[Override]:
    """What `--set` and these options replace in the configuration. Raises ConfigError with a line for each mistake."""
    from crowd_demo.config.loader import Override, parse_overrides
    from crowd_demo.config.yaml12 import Location, scalar

    overrides = parse_overrides(args.overrides, "--set")
    for name in options:
        value = getattr(args, name)
        values = value if isinstance(value, tuple) else [scalar(value) if isinstance(value, str) else value]
        if value not in (None, False):
            overrides += map(partial(Override, Location(f"--{name}")), SHORT_FOR[name], values)
    return overrides

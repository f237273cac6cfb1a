"""What the commands' arguments share: a parser of one-line mistakes, numbers, files, and which configuration is meant."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from crowd_demo.app.output.files import why_unwritable
from crowd_demo.app.process.exit_codes import MISTAKEN
from crowd_demo.app.process.streams import STDOUT

if TYPE_CHECKING:
    from crowd_demo.config.loader import Override
    from crowd_demo.config.model import Config

DEFAULT_CONFIG = "20k"


class Parser(argparse.ArgumentParser):
    """A parser that reports a mistake in one line."""

    def error(self, message: str) -> NoReturn:
        from crowd_demo.config.explain import close_to

        kind, _, rest = message.partition("unrecognized arguments: ")
        hint = close_to(re.split(r"[= ]", rest)[0], self._option_string_actions) if not kind else ""
        self.exit(MISTAKEN, f"{self.prog}: {message}{hint}; see {self.prog} --help\n")


def parser_of(name: str, about: str, epilog: str = "") -> Parser:
    """The parser of a command."""
    return Parser(prog=f"crowd-demo {name}", allow_abbrev=False, description=about, epilog=epilog,
                  formatter_class=argparse.RawDescriptionHelpFormatter)


def count(text: str) -> int:
    """A whole number of at least 1, for argparse."""
    if not re.fullmatch(r"[0-9]{1,12}", text) or int(text) == 0:
        raise argparse.ArgumentTypeError(f"must be a whole number of at least 1, not {text!r}")
    return int(text)


def seconds(text: str) -> float:
    """A time, for argparse."""
    if not re.fullmatch(r"[0-9]{1,6}(\.[0-9]{1,6})?", text) or not float(text):
        raise argparse.ArgumentTypeError(f"must be a number of seconds above 0, such as 2.5, not {text!r}")
    return float(text)


def tick(text: str) -> int:
    """A tick, for argparse."""
    return 0 if text == "0" else count(text)


def size(text: str) -> tuple[int, int]:
    """Width and height in pixels, for argparse."""
    match = re.fullmatch(r"([0-9]{1,6})[xX]([0-9]{1,6})", text)
    if not match:
        raise argparse.ArgumentTypeError(f"must be WIDTHxHEIGHT in pixels, such as 1280x720, not {text!r}")
    return int(match[1]), int(match[2])


def unwritable(option: str, path: Path) -> Iterator[str]:
    """A line if nothing can be written there; leaves nothing behind."""
    if why := why_unwritable(path):
        yield f"{option}: {why}"


def unwritable_report(args: argparse.Namespace) -> Iterator[str]:
    if args.report and args.report != STDOUT:
        yield from unwritable("--report", args.report)


# --- the crowd of an experiment --------------------------------------------------------------------------------------

def add_crowd(parser: Parser) -> None:
    """Add the options that say which crowd is measured."""
    parser.add_argument("--config", metavar="NAME|PATH", default=DEFAULT_CONFIG, help="as crowd-demo's (default: %(default)s)")
    parser.add_argument("--set", metavar="KEY.PATH=VALUE", action="append", default=[], dest="overrides",
                        help="as crowd-demo's")
    parser.add_argument("--agents", metavar="N", help="size of the crowd")


def add_report(parser: Parser, what: str) -> None:
    """Add the option of a report in JSON."""
    parser.add_argument("--report", metavar="PATH.json|-", type=Path, help=f"write {what}; - instead of the table")


def crowd_config(args: argparse.Namespace) -> Config:
    """The configuration that these options name. Raises ConfigError with a line for each mistake."""
    from crowd_demo.config.loader import Source

    return Source.read(args.config, crowd_overrides(args)).config


def crowd_overrides(args: argparse.Namespace) -> list[Override]:
    """What these options replace in the configuration. Raises ConfigError with a line for each mistake."""
    from crowd_demo.config.loader import Location, Override, parse_overrides
    from crowd_demo.config.yaml12 import scalar

    overrides = parse_overrides(args.overrides, "--set")
    if args.agents is not None:
        overrides.append(Override(Location("--agents"), ("agents",), scalar(args.agents)))
    return overrides

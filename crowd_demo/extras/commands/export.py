"""The commands `export`, a run for others, and `play`, trajectories of measured or simulated people."""

from __future__ import annotations

import argparse
import os
import shlex
import sqlite3
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING

from crowd_demo.app import RunOptions
from crowd_demo.cli.arguments import (
    SET,
    Command,
    OptionGroup,
    collected,
    file_path,
    found,
    frame_rate,
    given,
    mistaken,
    moment,
    option,
    overrides_of,
    parsed,
    parser_of,
    print_error,
    refuse,
    seconds,
    size,
    unwritable,
)
from crowd_demo.cli.run import HOW_TO_RUN, SIZE, run_mistakes
from crowd_demo.extras.commands.measuring import LOOK_EVERY_S, Tell, kernels, told
from crowd_demo.host.files import is_special
from crowd_demo.host.system import FAILED, OK, Interrupted
from crowd_demo.registry.texts import error_line, printable, reason

if TYPE_CHECKING:
    from crowd_demo.config.model import Config
    from crowd_demo.extras.export.trajectories import Asked, Stepped

    ExportJob = tuple[Asked, Callable[[Stepped], list[str]]]  # what hears of each step and returns what it wrote

NAME = "export"
PAGE, FOLDER = ".html", ""
PICTURES = ".gif", ".apng", ".webp", ".mp4", ".webm", FOLDER
SUFFIXES = ".txt", ".sqlite", ".parquet", ".csv", PAGE, *PICTURES
SUFFIXES_TEXT = ", ".join(filter(None, SUFFIXES)) + "; without one, a folder of pictures"


PICTURE_OPTIONS = "size", "view", "follow", "hud", "card"
MOVING_FPS = 20.0  # pictures a second, or fewer, unless it is asked for
NUMBER = r"[0-9]{1,7}(?:\.[0-9]{1,6})?"
ZOOM = rf"(?=[0-9.]*[1-9])({NUMBER})"  # above 0
view = parsed(rf"(?:({NUMBER}):)?({NUMBER}),({NUMBER}),{ZOOM}",
              "X,Y,ZOOM or S:X,Y,ZOOM, zoom above 0, such as 900,500,1.2 or 2.5:900,500,1.2",
              lambda match: tuple(float(number or 0) for number in match.groups()))  # seconds, x, y and zoom
followed = parsed(rf"([0-9]{{1,9}})(?:,{ZOOM})?", "ID or ID,ZOOM, zoom above 0, such as 17 or 17,2.5",
                  lambda match: (int(match[1]), float(match[2]) if match[2] else None))


def _read(args: argparse.Namespace) -> ExportJob:
    if args.file is None:
        refuse([f"{NAME}: FILE is missing, such as run.html" if Path(args.source).suffix.lower() not in SUFFIXES[:-1] else
                f"{NAME}: what to export is missing: a configuration, a .crowd or a .replay, as in"
                f" crowd-demo {NAME} 20k {args.source} --seconds 10"])
    suffix = args.file.suffix.lower()
    mistakes = found(
        (suffix not in SUFFIXES, f"{args.file}: must end in one of {SUFFIXES_TEXT}"),
        (suffix in (PAGE, *PICTURES) and args.units != "m",
         f"--units: not with {suffix or 'pictures'}, which has its own"),
        *((suffix not in PICTURES and getattr(args, name), f"--{name}: only with pictures that move")
          for name in PICTURE_OPTIONS))
    is_taken = suffix == FOLDER and os.path.lexists(args.file)
    mistakes += [f"{NAME}: {args.file} exists already"] if is_taken else unwritable(NAME, args.file)
    refuse(mistakes or found((is_special(args.file), f"{NAME}: {args.file} is not a regular file")))
    from crowd_demo.extras.export.page import planned, write_page
    from crowd_demo.extras.export.pictures import FILMS, FOLLOW_ZOOM, USUAL_SIZE, Bookmark, Shot, mistakes_of, write_pictures
    from crowd_demo.extras.export.sources import read_source
    from crowd_demo.extras.export.trajectories import FORMATS, USUAL_FPS, asked_for, lacking, write

    if suffix != PAGE and (missing := (FORMATS | FILMS)[suffix].missing):
        mistakes.append(f"{args.file}: {missing}")
    overrides = collected(mistakes, lambda: overrides_of(args, "agents")) or []
    source = collected(mistakes, lambda: read_source(args.source, args.seconds, overrides))
    usual_fps = MOVING_FPS if suffix in PICTURES else USUAL_FPS
    asked = source and collected(mistakes, lambda: asked_for(
        source, args.file, args.fps, args.start_s, args.end_s, args.units == "m", usual_fps))
    refuse(mistakes)
    assert asked
    if suffix == PAGE:
        plan = planned(asked, may_change_fps=args.fps is None)
        refuse(filter(None, [lacking(plan.asked.path, plan.nbytes)]))
        return asked, partial(write_page, plan, command_of(args))
    if suffix in PICTURES:
        refuse(["--follow: not with --view"] if args.follow and args.view else [])
        follow = args.follow and (args.follow[0], args.follow[1] or FOLLOW_ZOOM)
        shot = Shot(args.size or USUAL_SIZE, tuple(Bookmark(*each) for each in sorted(args.view)), follow, args.hud,
                    args.card)
        refuse(mistakes_of(asked, shot))
        return asked, partial(write_pictures, asked, shot, command_of(args))
    refuse(filter(None, [lacking(asked.path, asked.frames * asked.source.agents * FORMATS[suffix].nbytes)]))
    return asked, partial(write, asked)


def command_of(args: argparse.Namespace) -> str:
    """The command as it was given, with the written file by its name alone."""
    return shlex.join(["crowd-demo", NAME,
                       *(args.file.name if Path(word) == args.file else word for word in args.words)])


def _run(args: argparse.Namespace, job: ExportJob) -> int:
    asked, write = job

    def make(tell: Tell) -> list[str]:
        kernels(asked.source.config, tell, render=asked.path.suffix.lower() in PICTURES)
        return write(lambda step: tell(f"step {step:,} of {asked.last:,}"))

    try:
        print(*map(printable, told(NAME, make)), sep="\n")
        return OK
    except Interrupted as interrupted:
        print_error(f"{NAME}: stopped: {asked.path} is not written")
        return interrupted.code
    except ValueError as error:
        return mistaken(f"{NAME}: {error}")
    except (OSError, sqlite3.Error) as error:
        print_error(f"crowd-demo: {NAME}: cannot write {asked.path}: {reason(error)}")
        return FAILED


def main(source: str, file: str) -> None:
    """Export in a process of its own, beside frames: at the lowest priority, with lines about its progress.

    The last line says what is wrong, if the exit code is not 0. When the parent closes standard input, it stops: at
    once while it only compiles kernels, which can take minutes on a busy machine.
    """
    from crowd_demo.host.child import exit_at_once, standard_lines

    stopped, writing = Event(), Event()
    _, answers = standard_lines(lambda: stopped.set() if writing.is_set() else exit_at_once())
    if sys.platform != "win32":
        os.nice(19)  # from here on, and not the thread that waits for the parent
    shown_s = 0.0

    def stepped(step: int) -> None:
        nonlocal shown_s
        if stopped.is_set():
            sys.exit(FAILED)
        if time.monotonic() > shown_s + LOOK_EVERY_S:
            shown_s = time.monotonic()
            print(f"{step / max(asked.last, 1):.0%}", file=answers, flush=True)

    try:
        given_words = argparse.Namespace(words=[source, file])
        asked, write = _read(parser_of(NAME, EXPORT).parse_args(given_words.words, given_words))
        kernels(asked.source.config, lambda doing: None, render=False)
        writing.set()
        write(stepped)
    except (ValueError, OSError, MemoryError) as error:
        print(error_line(error), file=answers, flush=True)
        sys.exit(FAILED)


EXPORT = Command(
    _run, _read, about="""\
Export a run as
  a page (.html) that plays in a browser, offline;
  moving pictures: .gif, .apng and .webp (with Pillow), .mp4 and .webm (with ffmpeg), or PNG files (no suffix: a folder);
  trajectories: PedPy's text (.txt), JuPedSim's database (.sqlite), Parquet (.parquet, with pyarrow) or CSV (.csv).
pip install "crowd-demo[export]" installs Pillow and pyarrow. SOURCE is a recording (.replay), which is replayed, or, with
--seconds, a save (.crowd) or a configuration.

Trajectories have the columns id, frame, x and y. An id is one person: newborns and newcomers at an exit have new
ids. A played file keeps its ids and coordinates, and a map in metres its coordinates. Elsewhere y grows downwards,
as on the screen. All formats except .csv have the walkable area.""",
    options=[
        option("source", metavar="SOURCE", type=given, help="FILE.replay, FILE.crowd, or a configuration (as --config)"),
        option("file", metavar="FILE", type=file_path, nargs="?", help="its suffix selects the format: " + SUFFIXES_TEXT),
        option("--seconds", metavar="S", type=seconds, help="simulated seconds to run a save or a configuration"),
        option("--from", metavar="S", type=moment, default=0.0, dest="start_s",
               help="start time in seconds (default: 0)"),
        option("--to", metavar="S", type=seconds, dest="end_s", help="end time (default: the end)"),
        option("--fps", metavar="N", type=frame_rate,
               help="frames per second, a divisor of the steps per second (default: 10, for pictures 20, or less)"),
        option("--units", choices=("m", "world"), default="m", help="metres, or the crowd's own units (default: %(default)s)"),
        SET, option("--agents", metavar="N", help="size of the crowd"),
        OptionGroup([
            option("--size", metavar="WxH", type=size, help="pixels of a picture (default: 640x360)"),
            option("--view", metavar="[S:]X,Y,ZOOM", type=view, action="append", default=[],
                   help="camera at a point in world units, with pixels per unit; repeated, it moves from one"
                        " to the next, and arrives after S seconds (default: the configuration's view)"),
            option("--follow", metavar="ID[,ZOOM]", type=followed, help="the camera follows the agent with that id"),
            option("--hud", action="store_true", help="with title, time, number of agents, and legend"),
            option("--card", action="store_true", help="four seconds at the end with the command of the run"),
        ], "pictures that move")])


# --- runs of others --------------------------------------------------------------------------------------------------

PLAY_NAME = "play"


def _read_play(args: argparse.Namespace) -> Config:
    """The configuration of a file of trajectories: its people, its walls, and its end."""
    from crowd_demo.config.events import MAX_SECONDS
    from crowd_demo.config.loader import ReadConfig
    from crowd_demo.config.maps import GEOMETRY, TRAJECTORIES, Metres
    from crowd_demo.config.resources import text_of
    from crowd_demo.extras.importing.trajectory_files import read_paths

    path, mistakes = args.file, list(run_mistakes(args))
    if path.suffix.lower() not in TRAJECTORIES:
        mistakes.append(f"{path}: must end in one of {', '.join(TRAJECTORIES)}")
    if args.geometry and not args.geometry.lower().endswith((*GEOMETRY, *TRAJECTORIES)):
        mistakes.append(f"--geometry: {printable(args.geometry[-60:])!r}: must be a map in metres ({', '.join(GEOMETRY)})")
    refuse(mistakes)
    paths = read_paths(path, Metres(unit=args.unit, columns=args.columns))
    fps = args.fps or paths.fps
    if not fps:
        raise ValueError("".join((f"{path}: has no frame rate; --fps N specifies it",
                                  *(f"; at 25 per second {doubt}" for doubt in paths.doubts(25)))))
    data: dict[str, object] = {
        "behaviour": "playback", "playback": {"file": text_of(path), "fps": fps, "columns": args.columns,
                                             "beside": args.beside and text_of(Path(args.beside))},
        "map": text_of(Path(args.geometry or path.absolute())),
        "world": {"y_axis": args.y_axis or paths.y_axis or "up", "unit": args.unit},
        "window": {"title": f"crowd-demo: {printable(path.name)[:99]}"}}
    if (end_s := paths.last_frame / fps) <= MAX_SECONDS:
        data["events"] = [{"at": end_s, "say": f"{printable(path.name)[:100]} ends"}]
    config = ReadConfig.of(data, PLAY_NAME, overrides_of(args, "size")).config
    if args.beside:
        from crowd_demo.app.side_by_side import config_beside

        config_beside(config)
    return config


def _play(args: argparse.Namespace, config: Config) -> int:
    """Without a window it ends with the file."""
    from crowd_demo.app.main import run

    last = config.events[0].due_tick(config.time.step_hz) if config.events and args.headless else None
    return run(config, RunOptions(args.headless, args.frames or last or args.headless or None, args.render, args.screenshot,
                                  args.report, args.record, trace=args.trace))


PLAY = Command(
    _play, _read_play,
    about="""\
Show measured or simulated trajectories: PedPy's text (.txt), JuPedSim's database (.sqlite) or a table with id,
frame, x and y (.csv). Positions are those of the file, in metres, and its walkable area is the map. Colours,
overlays, inspector and timeline work as with any crowd.""",
    options=[
        option("file", metavar="FILE", type=file_path, help="trajectories: .txt, .sqlite or .csv"),
        option("--geometry", metavar="MAP", type=given, help="a floor plan in place of the file's: .wkt, .json or .dxf"),
        option("--fps", metavar="N", type=frame_rate, help="frames per second (default: as the file specifies)"),
        option("--unit", choices=("m", "cm", "mm"), default="auto",
               help="unit of x and y (default: as the file specifies, else m)"),
        option("--columns", metavar="NAMES", default="",
               help="names of columns (default: as in the file, else id,frame,x,y)"),
        option("--y", choices=("up", "down"), dest="y_axis", help="direction of y (default: as in the file, else up)"),
        option("--beside", metavar="NAME|PATH", type=given,
               help="a configuration to run in the right half of the window"),
        SET, SIZE, HOW_TO_RUN])

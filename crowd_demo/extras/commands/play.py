"""The command `play`: trajectories of measured or simulated people."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from crowd_demo.app.options import RunOptions
from crowd_demo.cli.arguments import SET, Command, file_path, frame_rate, given, option, overrides_of, refuse
from crowd_demo.cli.run import HOW_TO_RUN, SIZE, run_mistakes
from crowd_demo.registry.texts import printable

if TYPE_CHECKING:
    from crowd_demo.config.model import Config

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
        doubts = [f"; at 25 per second {doubt}" for doubt in paths.doubts(25)]
        raise ValueError("".join((f"{path}: has no frame rate; --fps N specifies it", *doubts)))
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
        from crowd_demo.app.seeing.side_by_side import config_beside

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

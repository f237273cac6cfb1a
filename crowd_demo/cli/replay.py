"""`crowd-demo replay`: make a recorded run again."""

from __future__ import annotations

import argparse
from pathlib import Path

from crowd_demo.app.options import RunOptions
from crowd_demo.cli.arguments import Parser, parser_of, tick, unwritable_report
from crowd_demo.cli.exits import mistaken

ABOUT = "Make a recorded run again, and compare its state hashes: exit code 0 if they are the same, 1 if they part."


def parser() -> Parser:
    made = parser_of("replay", ABOUT)
    made.add_argument("recording", metavar="FILE", type=Path, help="what --record or a key has written")
    made.add_argument("--headless", action="store_true", help="no window, and as fast as it goes")
    made.add_argument("--report", metavar="PATH.json|-", type=Path, help="write times, counters, and how the replay went")
    made.add_argument("--from", metavar="TICK", type=tick, default=0, dest="start_at",
                      help="show and compare nothing before this tick")
    return made


def run(args: argparse.Namespace) -> int:
    from crowd_demo.app.recording.format import RecordingError, read_recording

    mistakes = list(unwritable_report(args))
    try:
        script = read_recording(args.recording)
        if args.start_at > (last := max(part.end for part in script.parts)):
            mistakes.append(f"--from: the recording ends at tick {last:,}")
    except RecordingError as error:
        mistakes.append(str(error))
    if mistakes:
        return mistaken(*mistakes)
    from crowd_demo.app.main import run as run_program

    return run_program(script.parts[0].config, RunOptions(
        args.headless, render=not args.headless, report=args.report, replay=script, replay_from=args.start_at))

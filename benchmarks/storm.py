"""A storm of input on the real window, before a release: `python benchmarks/storm.py [--minutes 30] [--seed N]`.

Keys, chords, mouse, wheel, new sizes and lists are drawn from a seed. Keys are those of the registry of actions, so a new one
joins by itself; one without a key gets a chord. What must hold: no traceback, no frame above five seconds unless something is
measured, no process and no unfinished file left, and every recording made on the way replays to its hashes. From ten minutes
on memory is read twelve times, at rest in the same small crowd: what is allocated then may grow by a tenth
(docs/reliability.md). The seed and the last actions are printed; the same seed draws the same actions. On a screen of its own
(Xvfb, xdotool), or on `--display :0`. Linux with glibc only.
"""

import argparse
import json
import os
import random
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from string import ascii_lowercase, digits
from typing import Any, NamedTuple

from table import screen

from crowd_demo.config.keys import ACTIONS, CHORD, Keys, keys_of
from crowd_demo.config.loader import ConfigError, load_config
from crowd_demo.config.resources import list_configs
from crowd_demo.config.yaml12 import dump

assert sys.platform == "linux"

WATCHED = Path(__file__).with_name("storm_child.py")
WINDOW = "WINDOW"  # stands for the window's number in what is typed
REST, TITLE, SIZE = "0-rest", "at rest", "900x600"  # a small crowd, the first of the list, at which memory is read
AGENTS = 2_000  # at most: brute force must not take seconds
REST_EVERY = 12  # so often in the whole time
REST_S, LONGEST_FRAME_S, PATIENCE_S, GROWTH = 6.0, 5.0, 120.0, 1.1
READINGS, READING_S = 8, 0.5  # of memory at each rest, and the time between them; the lowest counts
LEAST_MINUTES = 10.0  # for memory to be judged
SYMBOLS = {"[": "bracketleft", "]": "bracketright", ";": "semicolon", ",": "comma", ".": "period", "/": "slash", "-": "minus",
           "=": "equal", "\\": "backslash", "'": "apostrophe", "`": "grave", "<": "less", ">": "greater", "+": "plus",
           "?": "question",
           "page up": "Prior", "page down": "Next", "return": "Return", "backspace": "BackSpace",
           "delete": "Delete", "insert": "Insert", "home": "Home", "end": "End", "left": "Left", "right": "Right", "up": "Up",
           "down": "Down", "tab": "Tab", "space": "space"}
LISTS = ("scenarios", "menu", "overlays", "colours", "tour")
CLOSED = ("key", "F7", "key", "Escape", "key", "F7")  # F7, the timeline's key, says no to the question whether to leave
MOVES = ("Down", "Down", "Down", "Up", "Next", "Prior", "Home", "End", "Left", "Right")


class Act(NamedTuple):
    """What a hand does: a name to be printed, commands of xdotool, and seconds until the next one."""

    what: str
    typed: tuple[str, ...]
    pause_s: float


class Hand:
    """Draws what to do. What is drawn depends on the seed alone, never on the program."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        names = (*ascii_lowercase, *(f"f{number}" for number in range(1, 13)), *(name for name in SYMBOLS if name.isalpha()))
        keys = Keys()
        taken = {key for _, key in keys.pairs()}
        free = (CHORD + name for name in names if CHORD + name not in taken)  # chords, for actions without a key
        self.keys = {action: keys_of(keys, action) or (next(free),) for action in ACTIONS}
        self.actions = [name for name in ACTIONS if name != "quit"]

    def act(self) -> Act:
        kinds: tuple[tuple[Callable[[], tuple[str, tuple[str, ...]]], int], ...] = (
            (self.press, 50), (self.stroke, 12), (self.click, 8), (self.wheel, 5), (self.choose, 8),
            (lambda: ("close", CLOSED), 12), (self.resize, 2), (self.number, 2), (self.any_key, 5))
        draw, = self.chance.choices([kind for kind, _ in kinds], [weight for _, weight in kinds])
        what, typed = draw()
        return Act(what, typed, self.chance.choice((0.02, 0.1, 0.1, 0.3, 0.8)))

    def symbol(self, action: str) -> str:
        """Return what xdotool calls a key of an action (config/keys.py)."""
        key = self.chance.choice(self.keys[action])
        chord, name = ("ctrl+", key.removeprefix(CHORD)) if key.startswith(CHORD) and key != CHORD else ("", key)
        return chord + (SYMBOLS.get(name) or (name.upper() if len(name) > 1 else name))

    def press(self) -> tuple[str, tuple[str, ...]]:
        action = self.chance.choice(self.actions)
        key = "shift+" * (self.chance.random() < 0.2) + self.symbol(action)
        if self.chance.random() < 0.1 and "+" not in key:
            return f"{action}, held", ("keydown", key, "sleep", "0.5", "keyup", key)
        return f"{action} ({key})", ("key", key)

    def at(self) -> tuple[str, ...]:
        return ("mousemove", "--window", WINDOW, str(self.chance.randrange(4, 1200)), str(self.chance.randrange(4, 700)))

    def click(self) -> tuple[str, tuple[str, ...]]:
        times, button = self.chance.choice("112"), self.chance.choice("11123")
        where = self.at()
        return f"{times} clicks of {button} at {where[-2:]}", (*where, "click", "--repeat", times, "--delay", "60", button)

    def stroke(self) -> tuple[str, tuple[str, ...]]:
        """A drag, half the time with a tool or a brush just taken."""
        tools = [name for name in self.actions if name.startswith("tool_")]
        tool = self.chance.choice(tools) if self.chance.random() < 0.5 else ""
        taken = ("key", self.symbol(tool)) if tool else ()
        button = self.chance.choice("1113")
        moves = [word for _ in range(self.chance.randrange(1, 5)) for word in (*self.at(), "sleep", "0.05")]
        return f"a drag{tool and f' of {tool}'} with {button}", (
            *taken, *self.at(), "sleep", "0.05", "mousedown", button, *moves, "mouseup", button)

    def wheel(self) -> tuple[str, tuple[str, ...]]:
        button, times = self.chance.choice("45"), str(self.chance.randrange(1, 9))
        turned = (*self.at(), "click", "--repeat", times, "--delay", "20", button)
        if self.chance.random() < 0.3:
            return f"Ctrl and the wheel {button} x {times}", ("keydown", "ctrl", *turned, "keyup", "ctrl")
        return f"the wheel {button} x {times}", turned

    def choose(self) -> tuple[str, tuple[str, ...]]:
        """Open a list, go through it, and choose."""
        name = self.chance.choice(LISTS)
        moves = [move for _ in range(self.chance.randrange(12)) for move in ("key", self.chance.choice(MOVES))]
        return f"something of {name}", ("key", self.symbol(name), "sleep", "0.2", *moves, "key", "Return")

    def resize(self) -> tuple[str, tuple[str, ...]]:
        wide, tall = str(self.chance.randrange(200, 1281)), str(self.chance.randrange(150, 721))
        return f"a size of {wide} x {tall}", ("windowsize", WINDOW, wide, tall)

    def number(self) -> tuple[str, tuple[str, ...]]:
        number = str(self.chance.randrange(AGENTS))
        typed = (word for digit in number for word in ("key", digit))
        return f"{number} agents", ("key", self.symbol("agents"), "sleep", "0.1", *typed, "key", "Return")

    def any_key(self) -> tuple[str, tuple[str, ...]]:
        """A key of the keyboard, with what may be held besides; bound or not."""
        key = self.chance.choice([*ascii_lowercase, *digits, *SYMBOLS.values()])
        held = self.chance.choice(("", "", "shift+", "ctrl+", "alt+", "ctrl+shift+"))
        return f"the key {held}{key}", ("key", held + key)


class Storm:
    """The program under fire, and what was seen of it."""

    def __init__(self, display: str, folder: Path, seed: int) -> None:
        self.display, self.folder, self.hand = display, folder, Hand(seed)
        self.last: deque[str] = deque(maxlen=25)
        self.done: set[str] = set()
        self.number = self.starts = self.titles = 0
        self.rests: list[list[dict[str, Any]]] = []  # lines about memory, of each start
        self.wrong: list[str] = []
        (folder / "configs").mkdir(parents=True)
        (folder / "tmp").mkdir()
        keys = {action: list(names) for action, names in self.hand.keys.items()}
        for name in [REST, *list_configs()]:  # in small, with a key for each action, and one to rest at
            shipped, title, rewind_mb = ("1k", TITLE, 1) if name == REST else (name, name, 16)
            asked: dict[str, object] = {"keys": keys, "time.rewind_mb": rewind_mb, "window.title": title}
            try:
                config = load_config(shipped, {**asked, "agents": min(load_config(shipped).agents, AGENTS)})
            except ConfigError:  # its parts must fit its agents
                config = load_config(name, asked)
            (folder / "configs" / f"{name}.yaml").write_text(dump(config.model_dump(mode="json")), "utf-8")
        self.start()

    def start(self) -> None:
        self.starts += 1
        self.rests.append([])
        environment = {**os.environ, "DISPLAY": self.display, "SDL_VIDEODRIVER": "x11", "TMPDIR": str(self.folder / "tmp"),
                       "CROWD_DEMO_PREFERENCES": str(self.folder / "preferences.yaml"), "PYTHONFAULTHANDLER": "1",
                       "PYTHONMALLOC": "malloc",  # so that one allocator knows of all memory
                       "PYTHONPATH": os.pathsep.join([str(WATCHED.parents[1]), os.environ.get("PYTHONPATH", "")])}
        with (self.folder / "said").open("ab") as said:
            self.process = subprocess.Popen(
                [sys.executable, str(WATCHED), str(self.folder), "--config", REST, "--size", SIZE],
                cwd=self.folder, env=environment, stdin=subprocess.DEVNULL, stdout=said, stderr=said, start_new_session=True)
        self.window = ""
        if not self.await_title(TITLE):
            self.wrong.append("no window has opened")
        self.xdotool("windowmove", WINDOW, "0", "0")
        time.sleep(2)

    def xdotool(self, *words: str) -> str:
        named = [self.window if word == WINDOW else word for word in words]
        environment = {**os.environ, "DISPLAY": self.display}
        return subprocess.run(["xdotool", *named], env=environment, capture_output=True, encoding="utf-8").stdout.strip()

    def title(self) -> str:
        self.window = (self.xdotool("search", "--onlyvisible", "--pid", str(self.process.pid)).split() or [""])[-1]
        return self.xdotool("getwindowname", WINDOW) if self.window else ""

    def await_title(self, title: str) -> bool:
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end and self.process.poll() is None:
            if title in self.title():
                return True
            time.sleep(0.1)
        return False

    def do(self, act: Act) -> None:
        self.number += 1
        self.done.add(act.what.split(" ")[0].removesuffix(","))
        self.last.append(f"{self.number} {act.what}")
        self.xdotool("windowfocus", WINDOW, *act.typed)
        time.sleep(act.pause_s)
        if self.number % 20 == 0:
            self.title()  # full screen may have another window

    def rest(self) -> dict[str, Any] | None:
        """Open the small crowd; return the lowest of some readings of its memory, or None if the program ends meanwhile."""
        for _ in range(3):
            self.do(Act("close all", (*CLOSED, "sleep", "0.3") * 4, 0.5))
            self.do(Act("open the first scenario", ("key", "F2", "sleep", "0.4", "key", "Home", "key", "Return"), 0.3))
            self.do(Act("yes", ("key", "Return"), 1.0))
            if self.await_title(TITLE) or self.process.poll() is not None:
                break
        else:
            self.wrong.append(f"the crowd at rest did not open (the window's title is {self.title()!r})")
        self.xdotool("windowsize", WINDOW, *SIZE.split("x"))
        time.sleep(REST_S)
        if None in (told := [self.memory() for _ in range(READINGS)]):
            return None
        self.rests[-1].append(least := min(filter(None, told), key=lambda each: each["used_mb"]))
        return least

    def memory(self) -> dict[str, Any] | None:
        """Return what the program says of its memory, unless it ends meanwhile."""
        before, end = len(self.lines("memory")), time.monotonic() + PATIENCE_S
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGUSR1)
        while self.process.poll() is None:
            time.sleep(READING_S)
            if len(told := self.lines("memory")) > before:
                return told[-1]
            if time.monotonic() > end:
                self.wrong.append("it does not say what memory it has")
                break
        return None

    def run(self, minutes: float) -> None:
        began = time.monotonic()
        rests = 0
        while (now_s := time.monotonic() - began) < 60 * minutes and not self.wrong:
            if now_s >= (rests + 1) * 60 * minutes / REST_EVERY and minutes >= LEAST_MINUTES:
                rests += 1
                if told := self.rest():
                    print(f"{now_s / 60:5.1f} min, action {self.number}, at rest: {told['used_mb']:.1f} MB in use, "
                          f"{told['resident_mb']:.0f} resident", flush=True)
            self.do(self.hand.act())
            if (code := self.process.poll()) is not None:
                self.ended(code)
                if not self.wrong:
                    print(f"it was left at action {self.number}, after", *list(self.last)[-3:], sep="; ", flush=True)
                    self.start()

    def ended(self, code: int) -> None:
        if code:
            self.wrong.append(f"the program has ended with {code}")
        end = time.monotonic() + 10
        while (left := session_of(self.process.pid)) and time.monotonic() < end:
            time.sleep(0.2)
        self.wrong += [f"a process is left: {each}" for each in left]

    def leave(self) -> None:
        """Leave as a user does: Esc, and yes to whatever is asked."""
        end, chance = time.monotonic() + PATIENCE_S, random.Random(0)
        while self.process.poll() is None and time.monotonic() < end:
            self.xdotool("windowfocus", WINDOW, "key", chance.choice(("Escape", "Escape", "Return")))
            time.sleep(0.3)
        if self.process.poll() is None:
            self.wrong.append("it does not leave")
            self.process.send_signal(signal.SIGABRT)  # says where all threads are
        self.ended(self.process.wait())

    def judge(self, minutes: float) -> None:
        """Hold what was seen against what must hold, but for recordings."""
        said = (self.folder / "said").read_text("utf-8", "replace")
        if "Traceback" in said or "crashed" in said or "Exception" in said:
            self.wrong.append(f"it said:\n{said[-4000:]}")
        left = [*(self.folder / "tmp").iterdir(), *self.folder.rglob(".crowd-demo-*")]
        self.wrong += [f"a file is left: {path}" for path in left]
        self.wrong += [f"a frame of {each['frame_s']:.1f} s: {each}" for each in self.lines("frames")
                       if each["frame_s"] > LONGEST_FRAME_S and not each["measuring"]]
        for first, *later in filter(None, self.rests):
            if later and (most := max(each["used_mb"] for each in later)) > GROWTH * first["used_mb"]:
                self.wrong.append(f"memory in use at rest grew from {first['used_mb']:.1f} to {most:.1f} MB")

    def lines(self, name: str) -> list[dict[str, Any]]:
        """What the program wrote to a file, a line of JSON each."""
        path = self.folder / name
        return [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []

    def replay(self) -> int:
        """Replay all recordings; return how many there are."""
        recordings = sorted(self.folder.glob("*.replay"))
        for path in recordings:
            done = subprocess.run([sys.executable, "-m", "crowd_demo", "replay", str(path), "--headless"], cwd=self.folder,
                                  env={**os.environ, "SDL_VIDEODRIVER": "dummy"}, capture_output=True, encoding="utf-8")
            if done.returncode:
                self.wrong.append(f"{path.name} does not replay: {done.stdout}{done.stderr}")
        return len(recordings)


def session_of(leader: int) -> list[str]:
    """The commands of the processes of a session that have not ended."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, _, session = stat.read_text("utf-8", "replace").rpartition(")")[2].split()[:4]
            if int(session) == leader and state != "Z":
                found.append((stat.parent / "cmdline").read_text("utf-8", "replace").replace("\0", " ")[:200])
        except OSError:
            continue  # it has ended
    return found


def report(storm: Storm, minutes: float, recordings: int) -> Iterator[str]:
    frames = storm.lines("frames")
    longest = max((each["frame_s"] for each in frames if not each["measuring"]), default=1.0)
    actions = len(storm.done & set(ACTIONS))
    yield (f"{minutes:g} minutes, {storm.number:,} actions of a hand, {actions} of the {len(ACTIONS) - 1} of the registry, "
           f"{storm.starts} starts")
    yield (f"longest frame {'below 1' if not frames else f'{longest:.1f}'} s; recordings {recordings}, saves "
           f"{len(list(storm.folder.glob('*.crowd')))}, pictures {len(list(storm.folder.glob('*.png')))}, pages "
           f"{len(list(storm.folder.glob('*.html')))}")
    for rests in filter(None, storm.rests):
        for what in ("used", "resident"):
            yield f"memory at rest, MB {what}: " + " ".join(f"{each[f'{what}_mb']:.0f}" for each in rests)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--seed", type=int, default=secrets.randbelow(10**6))
    parser.add_argument("--display", help="such as :0; a screen of its own if none is given")
    parser.add_argument("--keep", type=Path, help="a new folder for all that is written, which is kept")
    asked = parser.parse_args(arguments)
    if missing := [tool for tool in ("Xvfb", "xdotool") if not shutil.which(tool)]:
        print(f"{' and '.join(missing)} not installed", file=sys.stderr)
        return 2
    print(f"seed {asked.seed}", flush=True)
    shown = nullcontext((asked.display, None)) if asked.display else screen()
    with shown as (display, _), tempfile.TemporaryDirectory() as made:
        folder = asked.keep or Path(made) / "storm"
        folder.mkdir()
        storm = Storm(display, folder.resolve(), asked.seed)
        try:
            storm.run(asked.minutes)
            storm.leave()
        finally:
            storm.process.kill()
            storm.process.wait()
        storm.judge(asked.minutes)
        print("\n".join(report(storm, asked.minutes, storm.replay())))
    if storm.wrong:
        print(f"seed {asked.seed}; the last actions were", *storm.last, sep="\n  ")
        print("WRONG", *storm.wrong, sep="\n  ")
    return int(bool(storm.wrong))


if __name__ == "__main__":
    sys.exit(main())

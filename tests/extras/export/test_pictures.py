"""Pictures that move are what the renderer draws of each frame, in a file that others read, the same each time."""

import math
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pygame
import pytest
from exported import asked, source
from hypothesis import given
from hypothesis import strategies as st
from picture_files import pixels
from PIL import Image, ImageSequence
from recorded_run import Run

from crowd_demo.cli import main
from crowd_demo.compute.arrays import Bytes
from crowd_demo.extras.commands import export
from crowd_demo.extras.export import pictures
from crowd_demo.extras.export.pictures import CARD_S, FILMS, Bookmark, Film, Shot, gif, view_at, write_pictures
from crowd_demo.extras.export.sources import Source, read_source
from crowd_demo.extras.export.trajectories import FORMATS
from crowd_demo.measure.proof import Picture

SIZE, SECONDS, FPS = (160, 90), 0.5, 10
STILL = Shot(SIZE, (Bookmark(0, 900, 500, 0.8),))


def small(**settings: Any) -> Source:
    return source("1k", SECONDS, agents=80, **settings)


def written(path: Path, shot: Shot = STILL, **settings: Any) -> list[str]:
    return write_pictures(asked(small(**settings), path, fps=FPS), shot, "crowd-demo export ...")


def read(path: Path) -> tuple[list[Any], list[float]]:
    """The pictures, int[width, height, 3], and for how many milliseconds each is shown."""
    if path.is_dir():
        found = [pixels(each) for each in sorted(path.iterdir())]
        return found, [1000 / FPS] * len(found)
    with Image.open(path) as film:
        shown, times = list[Any](), list[float]()
        for picture in ImageSequence.Iterator(film):
            shown.append(np.array(picture.convert("RGB")).swapaxes(0, 1).astype(int))
            times.append(picture.info["duration"])
        return shown, times


def drawn(view: tuple[float, float, float], **settings: Any) -> Iterator[Any]:
    """The same pictures, a step at a time."""
    for step, (_, sim) in enumerate(small(**settings).states()):
        if step > SECONDS * 60:
            return
        if step % 6 == 0:
            picture = Picture(sim, size=SIZE)
            picture.camera.look_at(*view)
            yield pygame.surfarray.array3d(picture.draw()).astype(int)


@pytest.fixture(scope="module")
def expected() -> list[Any]:
    return list(drawn((900, 500, 0.8)))


@pytest.mark.parametrize("suffix", [".gif", ".apng", ".webp", ""])
def test_each_picture_is_what_the_renderer_draws(tmp_path: Path, expected: list[Any], suffix: str) -> None:
    path = tmp_path / f"run{suffix}"
    said = written(path)
    pictures, times = read(path)
    assert len(pictures) == len(expected) == 6 and times == [100] * 6
    nbytes = sum(each.stat().st_size for each in ([*path.iterdir()] if path.is_dir() else [path]))
    assert said[0] == f"{path}: 6 pictures of 160 x 90, 10 per second, from 0 s to 0.5 s"
    assert said[1] in (f"{nbytes:,} bytes; {FILMS[suffix].how_exact}", f"{nbytes / 1e6:,.1f} MB; {FILMS[suffix].how_exact}")
    for ours, theirs in zip(pictures, expected, strict=True):
        if suffix in (".apng", ""):
            assert (ours == theirs).all()
        else:
            others = min(float(np.abs(ours - other).mean()) for other in expected if other is not theirs)
            assert np.abs(ours - theirs).mean() < min(others, 6)
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("suffix", [".webp", ""])
def test_a_recording_gives_the_same_bytes_twice(tmp_path: Path, suffix: str) -> None:
    """With a restart in it, techniques that are switched, and walls that are built."""
    recording = tmp_path / "run.replay"
    run = Run(recording, 5).steps(10)
    run.restart()
    run.steps(10)
    run.end()
    files = [tmp_path / name / f"pictures{suffix}" for name in ("one", "two")]
    for path in files:
        path.parent.mkdir()
        assert main(["export", str(recording), str(path), "--size", "320x180", "--hud", "--card", "--fps", "10"]) == 0
    one, two = ([each.read_bytes() for each in (sorted(path.iterdir()) if path.is_dir() else [path])] for path in files)
    assert one == two
    pictures, times = read(files[0])
    assert times[:11] == [100] * 11 and sum(times[11:]) == CARD_S * 1000
    assert (read_source(str(recording), None).steps, len({each.tobytes() for each in pictures[:11]})) == (20, 11)


@pytest.mark.parametrize("fps", [7.5, 12, 30])
def test_a_gif_keeps_the_time_though_it_counts_in_hundredths(tmp_path: Path, fps: float) -> None:
    path, count = tmp_path / "run.gif", 25
    pictures: list[Bytes] = [np.full((20, 30, 3), number, np.uint8) for number in range(count)]
    gif(path, Film((30, 20), fps, count), iter(pictures))
    _, times = read(path)
    ends = np.cumsum(times)
    assert all(abs(end - number * 1000 / fps) <= 5.001 for number, end in enumerate(ends, 1))


# --- the camera ------------------------------------------------------------------------------------------------------


def test_the_configurations_view_is_that_of_a_window_of_its_size(tmp_path: Path) -> None:
    path, settings = tmp_path / "run.apng", {"camera__center": [700, 400], "camera__zoom": 4.0}
    written(path, Shot(SIZE), **settings)
    pictures, _ = read(path)
    assert all((ours == theirs).all() for ours, theirs in zip(pictures, drawn((700, 400, 0.5)), strict=True))


def test_it_follows_an_agent(tmp_path: Path) -> None:
    path = tmp_path / "run.apng"
    written(path, Shot(SIZE, follow=(17, 1.5)))
    pictures, _ = read(path)
    states = [pickled for step, pickled in zip(range(31), _places(17), strict=False) if step % 6 == 0]
    for number, (x, y) in enumerate(states):
        assert (pictures[number] == list(drawn((x, y, 1.5)))[number]).all()


def _places(identity: int) -> Iterator[tuple[float, float]]:
    for _, sim in small().states():
        columns = sim.agents.by_id()
        yield float(columns.x[identity]), float(columns.y[identity])


@given(st.lists(st.tuples(st.floats(0, 2000), st.floats(0, 1000), st.floats(0.1, 8)), min_size=2, max_size=4), st.floats(0, 1))
def test_a_glide_goes_through_its_bookmarks_and_keeps_one_point_in_place(views: list[tuple[float, float, float]],
                                                                        part: float) -> None:
    marks = [Bookmark(float(2 * number), *view) for number, view in enumerate(views)]
    for mark in marks:
        assert view_at(marks, mark.at_s) == pytest.approx(mark[1:])
    assert view_at(marks, -1) == marks[0][1:] and view_at(marks, 99) == marks[-1][1:]
    one, other = marks[:2]
    x, _, zoom = view_at(marks, 2 * part)
    assert min(one.zoom, other.zoom) * 0.999 <= zoom <= max(one.zoom, other.zoom) * 1.001
    if abs(math.log(one.zoom / other.zoom)) > 0.1:  # the world point that both have at the same pixel stays there
        fixed = (one.x * one.zoom - other.x * other.zoom) / (one.zoom - other.zoom)
        assert (fixed - x) * zoom == pytest.approx((fixed - one.x) * one.zoom, rel=1e-6, abs=1e-3)


# --- what lies over it -----------------------------------------------------------------------------------------------

def test_the_hud_says_the_time_and_what_colours_mean(tmp_path: Path) -> None:
    paths = [tmp_path / f"{name}.apng" for name in ("without", "hud", "later")]
    size, settings = (480, 270), {"scene__colours": "speed"}
    view = (Bookmark(0, 900, 500, 0.8),)
    written(paths[0], Shot(size, view), **settings)
    written(paths[1], Shot(size, view, hud=True), **settings)
    without, hud = (read(path)[0] for path in paths[:2])
    for bare, told in zip(without, hud, strict=True):
        differs = (bare != told).any(axis=2)
        assert differs[:160, :30].mean() > 0.5 and differs[150:330, 235:].mean() > 0.3  # the line, and the legend
        assert not differs[:, 40:200].any()
    assert (hud[0][:300, :30] != hud[1][:300, :30]).any()  # time goes on


def test_the_card_says_what_makes_it_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = list[Any]()
    monkeypatch.setattr("crowd_demo.extras.export.pictures.Captions.draw_card", lambda self, on, facts: seen.extend(facts))
    path = tmp_path / "run.gif"
    args = ["export", "1k", str(path), "--seconds", "0.5", "--agents", "80", "--fps", "10", "--size", "160x90", "--card",
            "--view", "0.2:90,50,1.5", "--view", "900,500,0.8"]
    assert main(args) == 0
    sim = next(state for _, state in small().states())
    sim.step(30)
    facts = dict(seen)
    assert facts["state hash"].split()[0] == sim.state_hash() and facts["seed"] == str(sim.config.seed)
    again = facts["made again by"].split()[1:]
    before = path.read_bytes()
    again[again.index("run.gif")] = str(path)
    assert main(again) == 0 and path.read_bytes() == before


# --- videos ----------------------------------------------------------------------------------------------------------

FAKE = """#!{python}
import sys, pathlib
data = sys.stdin.buffer.read({most})
pathlib.Path(sys.argv[-1]).write_bytes(data)
pathlib.Path({told!r}).write_text(" ".join(sys.argv[1:]))
print({says!r}, file=sys.stderr)
sys.exit({code})
"""


LIMITED = """
import resource, sys
from crowd_demo.cli import main
for name in sys.argv[1:]:
    resource.setrlimit(resource.RLIMIT_FSIZE, (3000, resource.RLIM_INFINITY))
    print(main(["export", "1k", name, "--seconds", "1"]))
"""


def fake_ffmpeg(folder: Path, monkeypatch: pytest.MonkeyPatch, most: int = -1, says: str = "", code: int = 0) -> Path:
    told = folder / "told"
    (folder / "bin").mkdir()
    script = folder / "bin" / "ffmpeg"
    script.write_text(FAKE.format(python=sys.executable, most=most, told=str(told), says=says, code=code), "utf-8")
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{script.parent}{os.pathsep}{os.environ['PATH']}")
    return told


@pytest.mark.skipif(sys.platform == "win32", reason="scripts are no programs there")
def test_ffmpeg_gets_every_picture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, expected: list[Any]) -> None:
    told, path = fake_ffmpeg(tmp_path, monkeypatch), tmp_path / "run.mp4"
    written(path)
    given_pixels = np.frombuffer(path.read_bytes(), np.uint8).reshape(6, *SIZE[::-1], 3)
    assert all((ours.swapaxes(0, 1) == theirs).all() for ours, theirs in zip(given_pixels, expected, strict=True))
    command = told.read_text("utf-8")
    assert "-pix_fmt rgb24 -s 160x90 -r 10.0 -i -" in command and "-c:v libx264" in command and "-f mp4" in command


@pytest.mark.skipif(sys.platform == "win32", reason="scripts are no programs there")
def test_what_ffmpeg_cannot_do_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                                           capsys: pytest.CaptureFixture[str], errors_of: Callable[..., list[str]]) -> None:
    fake_ffmpeg(tmp_path, monkeypatch, 10, "a warning\nUnknown encoder 'libx264'", 1)
    path = tmp_path / "run.mp4"
    args = ["export", "1k", str(path), "--seconds", "0.5", "--agents", "80"]
    assert errors_of(*args, "--size", "641x360") == ["--size: a video needs even numbers, not 641x360"]
    assert main(args) == 1
    assert capsys.readouterr().err.splitlines()[-1] == (
        f"crowd-demo: export: cannot write {path}: ffmpeg: a warning; Unknown encoder 'libx264'")
    assert not path.exists()


@pytest.mark.skipif(sys.platform == "win32", reason="scripts are no programs there")
@pytest.mark.parametrize(("does", "said"), [
    ("head -c 90000 > \"$last\"", "it ended early, with code 0"),
    ("cat > /dev/null", "it ended early, with code 0"),
    ("kill -9 $$", "it ended early, with code -9"),
    ("cat > /dev/null; echo the reason >&2; head -c 3000000 /dev/zero | tr '\\0' e >&2; echo the end >&2; exit 1",
     r"the reason; e{188} \.\.\. e{193}the end"),
    ("cat > /dev/null; sleep 1000", "stopped, as it made no progress for 1 s"),
    ("while true; do echo more; done >&2", "stopped, as it made no progress for 1 s")])
def test_an_ffmpeg_that_fails_or_hangs_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, does: str,
                                                   said: str) -> None:
    fake_ffmpeg(tmp_path, monkeypatch)
    (tmp_path / "bin" / "ffmpeg").write_text(f"#!/bin/bash\nfor last; do :; done\n{does}\n", "utf-8")
    monkeypatch.setattr(pictures, "PATIENCE_S", 1.0)
    before = sorted(tmp_path.iterdir())
    with pytest.raises(OSError, match=f"^ffmpeg: {said}$"):
        written(tmp_path / "run.mp4")
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.skipif(sys.platform == "win32", reason="limits of POSIX")
def test_a_full_disk_leaves_nothing_whatever_is_written(tmp_path: Path) -> None:
    suffixes = [suffix for suffix, form in (FORMATS | FILMS).items() if not form.missing]
    done = subprocess.run([sys.executable, "-c", LIMITED, *(f"run{suffix}" for suffix in suffixes), "run.html"], cwd=tmp_path,
                          env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}, capture_output=True, encoding="utf-8")
    assert done.stdout.split() == ["1"] * (len(suffixes) + 1), done.stderr
    assert done.stderr.count("cannot write") == len(suffixes) + 1 and list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not shutil.which("ffmpeg"), reason="ffmpeg is not installed")
@pytest.mark.parametrize("suffix", [".mp4", ".webm"])
def test_a_real_video_shows_the_same_pictures(tmp_path: Path, expected: list[Any], suffix: str) -> None:
    path = tmp_path / f"run{suffix}"
    written(path)
    reads = ["ffmpeg", "-v", "error", "-nostdin", "-i", str(path), "-f", "rawvideo", "-pix_fmt", "rgb24", "-"]
    data = subprocess.run(reads, capture_output=True, check=True).stdout
    pictures = np.frombuffer(data, np.uint8).reshape(-1, *SIZE[::-1], 3).swapaxes(1, 2).astype(int)
    assert len(pictures) == 6
    assert all(np.abs(ours - theirs).mean() < 12 for ours, theirs in zip(pictures, expected, strict=True))


@pytest.mark.parametrize("suffix", FILMS)
def test_what_was_stopped_leaves_nothing(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory,
                                         monkeypatch: pytest.MonkeyPatch, suffix: str) -> None:
    tools = tmp_path_factory.mktemp("tools")
    if FILMS[suffix].module == "ffmpeg":
        fake_ffmpeg(tools, monkeypatch)

    def stop(step: int) -> None:
        if step == 20:
            raise KeyError("stopped")

    path = tmp_path / f"run{suffix}"
    with pytest.raises(KeyError, match="stopped"):
        write_pictures(asked(small(), path, fps=FPS), STILL, "", stop)
    assert list(tmp_path.iterdir()) == []


# --- crowd-demo export: what it says, and one line for each mistake --------------------------------------------------

ROOT = Path(__file__).parents[3]


def test_it_says_what_it_wrote(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "run.csv"
    assert main(["export", "1k", str(path), "--seconds", "0.5", "--agents", "30", "--fps", "20", "--from", "0.1"]) == 0
    out = capsys.readouterr().out.splitlines()
    assert out == [
        f"{path}: 30 people in 9 frames, 20 per second, from 0.1 s to 0.5 s",
        f"270 rows, {path.stat().st_size:,} bytes; in metres, positions are rounded to 6 decimals"]
    assert len(path.read_text("utf-8").splitlines()) == 271


@pytest.mark.quick
@pytest.mark.parametrize(("args", "lines"), [
    (["1k", "run.png"], ["run.png: must end in one of .txt, .sqlite, .parquet, .csv, .html, .gif, .apng, .webp, .mp4, .webm;"
                         " without one, a folder of pictures"]),
    (["1k", "run.csv", "--seconds", "1", "--hud", "--follow", "3"], [
        "--follow: only with pictures that move", "--hud: only with pictures that move"]),
    (["1k", "run.gif", "--seconds", "1", "--units", "world"], ["--units: not with .gif, which has its own"]),
    (["1k", "run.gif", "--seconds", "1", "--size", "8x9000"], [
        "--size: each side must be from 16 to 4096 pixels, not 8x9000"]),
    (["1k", "run.gif", "--seconds", "1", "--fps", "60"], ["--fps: .gif shows at most 50 frames per second, not 60"]),
    (["1k", "run.gif", "--seconds", "1", "--view", "5,5,1", "--view", "6,5,1"], [
        "--view: two views at 0 s; give each its time, as in 2.5:900,500,1.2"]),
    (["1k", "run.gif", "--seconds", "1", "--view", "5,5,1", "--follow", "3"], ["--follow: not with --view"]),
    (["1k", "run.gif", "--seconds", "1", "--agents", "9", "--follow", "12"], [
        "export: --follow: no agent has the id 12 at 0 s"]),
    (["1k", "taken", "--seconds", "1"], ["export: taken exists already"]),
    (["1k", "nowhere/run.csv", "--seconds", "1"], ["export: there is no folder nowhere"]),
    (["RUN.html"], ["export: what to export is missing: a configuration, a .crowd or a .replay, as in crowd-demo export 20k"
                    " RUN.html --seconds 10"]),
    (["1k", "--seconds", "1"], ["export: FILE is missing, such as run.html"]),
    (["1k", "run.csv"], ["--seconds: a save or a configuration needs a number of seconds to run"]),
    (["1kk", "run.csv", "--seconds", "1"], ["1kk: no such file, nor a shipped configuration (did you mean 1k?)"]),
    (["1k", "run.csv", "--seconds", "1", "--set", "agnts=5"], ["--set:1: agnts: unknown key (did you mean agents?)"]),
    (["1k", "run.csv", "--seconds", "1", "--fps", "7", "--from", "3"], [
        "--fps: 7 does not divide the 60 steps per second; 6.666667 and 7.5 do",
        "--from: the run ends after 1 s, before 3 s"]),
    (["1k", "run.csv", "--seconds", "1", "--to", "3"], ["--to: the run ends after 1 s, before 3 s"]),
    (["1k", "run.csv", "--seconds", "3", "--from", "2", "--to", "1"], ["--to: 1 s is before --from, 2 s"]),
    (["bad.replay", "run.csv"], ["bad.replay:1: is not a recording of crowd-demo"]),
    (["bad.replay", "run.csv", "--seconds", "1"], ["--seconds: a recording has an end of its own; see --to"]),
    (["bad.replay", "run.csv", "--agents", "5"], ["--agents: not with a recording, which brings its own configuration"]),
    (["bad.crowd", "run.csv", "--seconds", "1"], ["bad.crowd: is not a save file of crowd-demo"]),
    (["none.crowd", "run.csv", "--seconds", "1"], ["none.crowd: cannot be read (No such file or directory)"]),
])
@pytest.mark.usefixtures("in_tmp_path")
def test_a_mistake_is_one_line_and_exit_code_2(capsys: pytest.CaptureFixture[str], args: list[str], lines: list[str]) -> None:
    for name in ("bad.replay", "bad.crowd"):
        Path(name).write_text("nothing\n", "utf-8")
    Path("taken").mkdir()
    assert main(["export", *args]) == 2
    out, err = capsys.readouterr()
    told = [line for line in err.splitlines() if "only once" not in line]  # of kernels that are compiled first
    assert (out, told) == ("", lines)
    assert sorted(map(str, Path().iterdir())) == ["bad.crowd", "bad.replay", "taken"]


@pytest.mark.quick
@pytest.mark.parametrize(("args", "said"), [
    (["--view", "5,5"], "argument --view: must be X,Y,ZOOM or S:X,Y,ZOOM, zoom above 0, such as 900,500,1.2 or"
                        " 2.5:900,500,1.2, not '5,5'"),
    (["--view", "5,5,0"], "not '5,5,0'"), (["--follow", "me"], "argument --follow: must be ID or ID,ZOOM, zoom above 0"),
    (["--size", "big"], "argument --size: must be WIDTHxHEIGHT in pixels, such as 1280x720, not 'big'")])
def test_an_option_that_cannot_be_read_is_one_line(capsys: pytest.CaptureFixture[str], args: list[str], said: str) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["export", "1k", "run.gif", *args])
    err = capsys.readouterr().err
    assert caught.value.code == 2 and said in err and err.count("\n") == 1


@pytest.mark.quick
def test_a_missing_library_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                                   errors_of: Callable[..., list[str]]) -> None:
    monkeypatch.setattr("crowd_demo.extras.export.trajectories.find_spec", lambda name: None)
    monkeypatch.setattr("shutil.which", lambda name: None)
    extra = 'is not installed: pip install "crowd-demo[export]"'
    for suffix, said in ((".parquet", f"pyarrow {extra}"), (".webp", f"Pillow {extra}"),
                         (".mp4", "ffmpeg was not found: install it (https://ffmpeg.org), or write a .webp")):
        assert errors_of("export", "1k", str(tmp_path / f"run{suffix}"), "--seconds", "1") == [
            f"{tmp_path / f'run{suffix}'}: {said}"]


@pytest.mark.quick
def test_the_command_names_every_format() -> None:
    assert (*FORMATS, export.PAGE, *FILMS) == export.SUFFIXES


def test_a_full_disk_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("crowd_demo.extras.export.trajectories.write", full)
    monkeypatch.setattr(export, "kernels", lambda *args, **options: None)
    path = tmp_path / "run.csv"
    assert main(["export", "1k", str(path), "--seconds", "1"]) == 1
    assert capsys.readouterr().err == f"crowd-demo: export: cannot write {path}: No space left on device\n"


def test_a_signal_leaves_nothing(tmp_path: Path) -> None:
    paths = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))
    with subprocess.Popen(
            [sys.executable, "-m", "crowd_demo", "export", "1k", "run.csv", "--seconds", "9000", "--agents", "200"],
            cwd=tmp_path, env={**os.environ, "PYTHONPATH": paths}, stderr=subprocess.PIPE, encoding="utf-8") as process:
        while process.poll() is None and not list(tmp_path.iterdir()):
            time.sleep(0.05)
        assert process.poll() is None
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 143 and err.splitlines()[-1] == "export: stopped: run.csv is not written"
    assert list(tmp_path.iterdir()) == []

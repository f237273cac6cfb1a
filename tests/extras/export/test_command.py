"""`crowd-demo export`: what it says, and one line for each mistake."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from crowd_demo.cli import main
from crowd_demo.extras.commands import export

ROOT = Path(__file__).parents[3]


def test_it_says_what_it_wrote(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "run.csv"
    assert main(["export", "1k", str(path), "--seconds", "0.5", "--agents", "30", "--fps", "20", "--from", "0.1"]) == 0
    out = capsys.readouterr().out.splitlines()
    assert out == [
        f"{path}: 30 people in 9 frames, 20 a second, from 0.1 s to 0.5 s",
        f"270 rows, {path.stat().st_size:,} bytes; in metres, positions are rounded to 6 decimals"]
    assert len(path.read_text("utf-8").splitlines()) == 271


@pytest.mark.quick
@pytest.mark.parametrize(("args", "lines"), [
    (["1k", "run.png"], ["run.png: must end in one of .txt, .sqlite, .parquet, .csv, .html, .gif, .apng, .webp, .mp4, .webm;"
                         " none is a folder of pictures"]),
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
def test_a_mistake_is_one_line_and_exit_code_2(tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                                               capsys: pytest.CaptureFixture[str], args: list[str], lines: list[str]) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("bad.replay", "bad.crowd"):
        Path(name).write_text("nothing\n", "utf-8")
    Path("taken").mkdir()
    assert main(["export", *args]) == 2
    out, err = capsys.readouterr()
    assert (out, err.splitlines()) == ("", lines)
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
                                   capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("crowd_demo.extras.export.trajectories.find_spec", lambda name: None)
    path = tmp_path / "run.parquet"
    assert main(["export", "1k", str(path), "--seconds", "1"]) == 2
    assert capsys.readouterr().err == f'{path}: pyarrow is not installed: pip install "crowd-demo[export]"\n'
    path = tmp_path / "run.webp"
    assert main(["export", "1k", str(path), "--seconds", "1"]) == 2
    assert capsys.readouterr().err == f'{path}: Pillow is not installed: pip install "crowd-demo[export]"\n'
    monkeypatch.setattr("shutil.which", lambda name: None)
    path = tmp_path / "run.mp4"
    assert main(["export", "1k", str(path), "--seconds", "1"]) == 2
    assert capsys.readouterr().err == f"{path}: ffmpeg was not found: install it (https://ffmpeg.org), or write a .webp\n"


@pytest.mark.quick
def test_the_command_names_every_format() -> None:
    from crowd_demo.extras.export.pictures import FILMS
    from crowd_demo.extras.export.trajectories import FORMATS

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

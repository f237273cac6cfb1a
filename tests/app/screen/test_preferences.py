"""What a user prefers is kept in a file of theirs, and gives way to what a configuration says."""

import os
import platform
import subprocess
import sys
import time
from pathlib import Path

import pytest

from crowd_demo.app import screen as module
from crowd_demo.app.controls import PanelControls
from crowd_demo.app.key_input import Keymap
from crowd_demo.app.screen import HEADER, Notices, Preferences, Values, read, user_file
from crowd_demo.config.keys import Keys
from crowd_demo.config.loader import ConfigError, load_config
from crowd_demo.config.model import WindowSettings

pytestmark = pytest.mark.quick


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "folder" / "preferences.yaml"


def written(file: Path, text: str) -> Path:
    file.parent.mkdir(exist_ok=True)
    file.write_text(text, "utf-8")
    return file


def configured(*overrides: str) -> WindowSettings:
    return load_config("1k", overrides).window


def panels_of(preferences: Preferences, *overrides: str) -> PanelControls:
    return PanelControls(preferences, preferences.window(configured(*overrides)), Keymap(Keys(), {}), lambda: True, Notices())


# --- the file --------------------------------------------------------------------------------------------------------

def test_what_is_changed_is_there_next_time(file: Path) -> None:
    preferences = Preferences(file)
    preferences.change(theme="dark", scale=1.0)
    preferences.save()
    assert not file.exists(), "nothing has changed"
    preferences.change(theme="light", scale=1.4)
    preferences.change(opened=("graph", "step"), size=(800, 600))
    assert not file.exists()
    preferences.save()
    assert Preferences(file).values == preferences.values
    assert read(file).model_dump(exclude_defaults=True) == {
        "theme": "light", "scale": 1.4, "opened": ("graph", "step"), "size": (800, 600)}


def test_a_change_is_written_soon_and_many_changes_once(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writes: list[bytes] = []
    monkeypatch.setattr(module, "write_file", lambda path, content: writes.append(content))
    preferences = Preferences(file)
    for scale in 1.1, 1.25, 1.4:
        preferences.change(scale=scale)
    preferences.save(time.monotonic())
    assert not writes
    preferences.save(time.monotonic() + module.SAVE_S)
    preferences.save()
    assert writes == [f"{HEADER}scale: 1.4\n".encode()]


def test_the_last_of_two_programs_wins(file: Path) -> None:
    one, other = Preferences(file), Preferences(file)
    one.change(theme="light")
    other.change(units="ms")
    one.save()
    other.save()
    assert read(file).model_dump(exclude_defaults=True) == {"units": "ms"}
    assert [path.name for path in file.parent.iterdir()] == ["preferences.yaml"]


@pytest.mark.parametrize(("text", "line"), [
    ("scale: 1.2\ntheme: pink\n", "2: theme: must be one of dark, light, not 'pink'"),
    ("scale: 9\n", "1: scale: must be a number from 0.5 to 3, not 9"),
    ("theme: light\ntheme: dark\n", "2: theme: given twice, first on line 1"),
    ("opened:\n- graph\n- 7\n", "3: opened.1: must be text, not 7"),
    ("# mine\nthem: dark\n", "2: them: unknown key (did you mean theme?)"),
    ("- 1\n", "1: file: must be"),
    ("scale: [1\n", "1: file: not YAML"),
])
def test_a_broken_file_costs_one_line_and_is_kept(file: Path, text: str, line: str) -> None:
    preferences = Preferences(written(file, text))
    (news,) = preferences.news
    assert news.startswith(f"{file}:{line}") and "\n" not in news
    assert preferences.values.model_dump(exclude_defaults=True) == {}
    preferences.change(scale=1.4)
    preferences.save()
    assert file.read_text("utf-8") == text


def test_a_file_that_cannot_be_written_costs_one_line(tmp_path: Path) -> None:
    preferences = Preferences(written(tmp_path / "file", "") / "preferences.yaml")
    for scale in 1.1, 1.25:
        preferences.change(scale=scale)
        preferences.save()
    (news,) = preferences.news
    assert "cannot keep preferences in" in news


def test_a_missing_or_empty_file_is_no_mistake(file: Path) -> None:
    assert read(file) == read(written(file, "")) == read(written(file, HEADER))
    with pytest.raises(ConfigError):
        read(file.parent)


def test_the_example_of_the_docs_can_be_read(file: Path) -> None:
    page = (Path(__file__).parents[3] / "docs/window.md").read_text("utf-8")
    values = read(written(file, page.split("```yaml\n")[1].split("```")[0]))
    assert values.model_dump(exclude_defaults=True).keys() == Values.model_fields.keys()


# --- where it is -----------------------------------------------------------------------------------------------------

def test_the_file_is_where_the_system_keeps_such_files(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert user_file() is None  # as in all tests
    for name in (module.VARIABLE, "XDG_CONFIG_HOME", "APPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    for system, folder in {"Linux": ".config", "Darwin": "Library/Application Support"}.items():
        monkeypatch.setattr(platform, "system", lambda system=system: system)
        assert user_file() == tmp_path / folder / "crowd-demo/preferences.yaml"
    monkeypatch.setattr(platform, "system", lambda: "Windows")
    monkeypatch.setenv("APPDATA", str(tmp_path / "roaming"))
    assert user_file() == tmp_path / "roaming/crowd-demo/preferences.yaml"
    monkeypatch.setattr(platform, "system", lambda: "Linux")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    assert user_file() == tmp_path / "config/crowd-demo/preferences.yaml"
    monkeypatch.delenv("XDG_CONFIG_HOME")
    monkeypatch.setenv("HOME", "")
    assert user_file() is None, "without a home there are no preferences"
    monkeypatch.setenv(module.VARIABLE, str(tmp_path / "mine.yaml"))
    assert user_file() == tmp_path / "mine.yaml"


# --- who wins --------------------------------------------------------------------------------------------------------

def test_preferences_stand_where_the_configuration_says_nothing(file: Path, tmp_path: Path) -> None:
    preferences = Preferences(written(file, "theme: light\nunits: ms\nhud: compact\nscale: 2\nsize: [800, 600]\n"))
    window = preferences.window(configured())
    assert (window.theme, window.units, window.hud, window.scale) == ("light", "ms", "compact", 2)
    assert (window.width, window.height) == (800, 600)
    own = tmp_path / "own.yaml"
    own.write_text("window:\n  theme: dark\n  hud: full\n  width: 1000\n", "utf-8")
    window = preferences.window(load_config(own, ["window.units=fps"]).window)
    assert (window.theme, window.units, window.hud, window.scale) == ("dark", "fps", "full", 2)
    assert (window.width, window.height) == (1000, 720)
    assert Preferences().window(configured("window.width=640")) == configured("window.width=640")


def test_what_is_changed_in_the_window_is_preferred_and_nothing_else(file: Path) -> None:
    preferences = Preferences(file)
    panels = panels_of(preferences, "window.theme=light", "window.hud=off")
    panels.resize(1)
    panels.unfold("graph")
    panels.fit_graph()
    assert preferences.values.model_dump(exclude_defaults=True) == {"scale": 1.1, "opened": ("graph",)}
    assert Preferences(file).window(configured("window.hud=off")).hud == "off", "hidden panels only if they are configured so"
    panels.go_on("theme")
    panels.next_mode()
    assert preferences.values.model_dump(exclude_defaults=True) == {"scale": 1.1, "opened": ("graph",)}  # others: usual
    panels.next_mode()
    panels.fold("graph")
    panels.unfold("memory")
    assert preferences.values.model_dump(exclude_defaults=True) == {"scale": 1.1, "hud": "full", "opened": ("memory",)}
    preferences.save()
    kept = Preferences(file)
    again = panels_of(kept)
    assert again.now == panels.now._replace(theme="dark", graph_fits=0)
    again.next_mode()
    assert again.now.hud == "off" and kept.values.hud == "compact", "a start shows the panels that were hidden"
    with pytest.raises(ConfigError, match=r"window\.hud: must be one of full, compact, off, not false"):
        configured("window.hud=false")


def test_a_run_without_a_window_neither_reads_nor_writes(file: Path, tmp_path: Path) -> None:
    written(file, "theme: pink\n")
    command = [sys.executable, "-m", "crowd_demo", "--config", "1k", "--set", "map=null", "--set", "agents=100", "--headless",
               "--frames", "2", "--screenshot", str(tmp_path / "picture.png")]
    done = subprocess.run(command, env={**os.environ, module.VARIABLE: str(file)}, capture_output=True, encoding="utf-8")
    assert done.returncode == 0 and "preferences" not in done.stderr
    assert file.read_text("utf-8") == "theme: pink\n"

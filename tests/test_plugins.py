"""A toy of each kind is added from outside the package, through the entry point group, in a process of its own."""

import json
import math
import os
import subprocess
import sys
from pathlib import Path

import pytest

from crowd_demo.config.keys import Keys
from crowd_demo.config.model import Config, Optimizations
from crowd_demo.config.section import Section
from crowd_demo.registry import built_in, techniques
from crowd_demo.registry.entries import Plugin, StageEntry
from crowd_demo.registry.plugins import Installed, check
from crowd_demo.sim.behaviours.steering import Glide
from crowd_demo.sim.stage import with_plugin_stages

TOYS = Path(__file__).parent / "toys"
PRESS = """
import pygame
from crowd_demo.host.compiling.loading import LoadingProgress, load_program
from crowd_demo.app.loop import Loop
from crowd_demo.app import RunOptions
from crowd_demo.app.program import Program
from crowd_demo.app.screen import open_window, screen
from crowd_demo.host.system import Worker
from crowd_demo.config.loader import load_config
config = load_config("toytown", ["keys.hud=null", "window.hud=off"])
open_window(config.window, headless=True)
worker = Worker()
loaded = worker.submit(lambda: load_program(config, True, LoadingProgress())).result()
options = RunOptions(headless=True)
program = Program(config, loaded, options)
loop = Loop(program, options, worker)
def press(key):
    pygame.event.post(pygame.Event(pygame.KEYDOWN, key=pygame.key.key_code(key), mod=0))
    loop.frame()
    while program.techniques.switcher.pending:
        loop.frame()
    loop.frame()
    return tuple(screen().get_at((320, 180)))[:3]
print(press("`") == (255, 0, 255), press("`") == (255, 0, 255))
press("'")
print(program.sim.optimizations.brake, program.techniques.touched, {"brake", "census"} <= set(program.sim.profile.stages))
"""
CRASH = """
from toys import mishaps
from crowd_demo.cli import main
for mishaps.exits_in, mishaps.wrong in {cases}:
    print(main(["--config", "toytown", "--headless", "--frames", "3", "--set", "scene.overlays=[centre]",
                "--set", "scene.colours=plain", "--set", "behaviour=gnats", "--set",
                "optimizations.census=" + ("false" if "dt" in mishaps.wrong else "true")]))
"""


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The package as if it were installed."""
    site = tmp_path_factory.mktemp("site")
    install(site, "toys", "toys.plugin:PLUGIN")
    return with_paths(dict(os.environ), str(site), str(TOYS), str(Path(__file__).parents[1]))


def install(site: Path, name: str, code: str, source: str = "") -> None:
    """Put a package there that has a plugin; `source` is that of its module, which has the records of the registry."""
    info = site / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n", "utf-8")
    (info / "entry_points.txt").write_text(f"[crowd_demo]\n{name} = {code}\n", "utf-8")
    if source:
        (site / f"{name}.py").write_text(
            f"from pathlib import Path\nfrom crowd_demo.registry.entries import *\n{source}\n", "utf-8")


def with_paths(environment: dict[str, str], *paths: str) -> dict[str, str]:
    return {**environment, "PYTHONPATH": os.pathsep.join((*paths, environment.get("PYTHONPATH", "")))}


def technique(first: str, more: str = "") -> str:
    """A module with a plugin of one technique, whose first fields are given."""
    made = f"replace(Technique({first}, EXACT, 'a', 'b'), {more})"
    return f"from dataclasses import replace\nPLUGIN = Plugin(techniques=({made},))"


def python(environment: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *arguments], env=environment, capture_output=True, encoding="utf-8")


def crowd_demo(environment: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    return python(environment, "-m", "crowd_demo", *arguments)


def report(environment: dict[str, str], *arguments: str) -> dict[str, object]:
    done = crowd_demo(environment, "--config", "toytown", "--headless", "--no-render", "--frames", "12", "--report", "-",
                      *arguments)
    assert done.returncode == 0, done.stderr
    found: dict[str, object] = json.loads(done.stdout)
    return found


def test_a_scenario_is_one_file_that_is_found(environment: dict[str, str]) -> None:
    listed = crowd_demo(environment, "--list-configs").stdout.splitlines()
    assert ["toytown", "A hundred birds of a toy package."] in [line.split(maxsplit=1) for line in listed]


def test_schema_and_keys_know_a_technique(environment: dict[str, str]) -> None:
    schema = json.loads(crowd_demo(environment, "--print-schema").stdout)
    assert schema["$defs"]["Optimizations"]["properties"]["census"]["type"] == "boolean"
    assert schema["$defs"]["Optimizations"]["properties"]["brake"]["maximum"] == 2
    listed = crowd_demo(environment, "--list-keys").stdout.splitlines()
    keys = {line.split()[1]: line.split()[0] for line in listed if line.startswith(" ")}
    assert (keys["brake"], keys["census"], keys["centre"]) == ("'", "-", "`")


def test_help_needs_neither_numba_nor_pygame(environment: dict[str, str]) -> None:
    code = "import sys; from crowd_demo.cli import main\ntry: main(['--help'])\nexcept SystemExit: pass\n" \
           "print(sorted({'numba', 'pygame'} & set(sys.modules)))"
    assert python(environment, "-c", code).stdout.splitlines()[-1] == "[]"


def test_an_exact_technique_counts_and_leaves_the_hash_alone(environment: dict[str, str]) -> None:
    on, off = report(environment), report(environment, "--set", "optimizations.census=false")
    assert on["state_hash"] == off["state_hash"]
    assert 0 < on["counters"]["left_half"] < 100 and "left_half" not in off["counters"]  # type: ignore[index,operator]


def test_an_approximate_technique_changes_the_crowd_alike_for_any_threads(environment: dict[str, str]) -> None:
    braked = [report(environment, "--set", "optimizations.brake=2", "--threads", threads)["state_hash"] for threads in "12"]
    assert braked[0] == braked[1] != report(environment)["state_hash"]


def test_a_behaviour_that_was_written_by_hand_has_one_hash(environment: dict[str, str]) -> None:
    """What others observe of its agents is a tuple of floats and ints, without `@observes`."""
    gnats = [report(environment, "--set", "behaviour=gnats", "--set", f"optimizations.simd={simd}", "--set",
                    f"optimizations.neighbours={structure}") for simd, structure in (("true", "sorted"), ("false", "none"))]
    assert gnats[0]["state_hash"] == gnats[1]["state_hash"]
    assert gnats[0]["counters"]["neighbours_per_agent"] > 0  # type: ignore[index]


def test_a_mistake_is_one_line(environment: dict[str, str]) -> None:
    done = crowd_demo(environment, "--config", "toytown", "--set", "optimizations.brake=3")
    assert done.returncode == 2 and done.stderr == (
        "--set:1: optimizations.brake: must be a whole number from 0 to 2, not 3\n")


def test_keys_show_an_overlay_and_switch_a_technique(environment: dict[str, str]) -> None:
    done = python(environment, "-c", PRESS)
    assert done.stdout.splitlines()[-2:] == ["True False", "1 brake True"], done.stderr


KINDS = "choices must be different values: true and false, or words and numbers, not"
ORDER = "range must be None, or the Range of int or float from the least to the greatest, not Range("
DOTTED = "path must be names that keys can have, with dots between, not"
NO_CHOICE = "is none of its choices, or not in its range"
BROKEN = [  # what a plugin's module says, and why the plugin is left out
    ("raise ImportError('nothing here')", "ImportError: nothing here"),
    ("raise SystemExit(9)", "SystemExit: 9"),
    ("raise KeyboardInterrupt", "KeyboardInterrupt"),
    ("raise GeneratorExit", "GeneratorExit"),
    ("raise BaseException('\\x1b[2J\\u202e')", r"BaseException: \x1b[2J\u202e"),
    ("class Mute(Exception):\n  def __str__(self): raise self\nraise Mute", "Mute"),
    ("PLUGIN = 5", "TypeError: NAME:PLUGIN must be a Plugin, not 5"),
    ("PLUGIN = Plugin(overlays=OverlayEntry('x', '', 'os:x'))", "TypeError: overlays must be a tuple of OverlayEntry records"),
    ("PLUGIN = Plugin(stages=[StageEntry('os:x', 'move')])", "TypeError: stages must be a tuple of StageEntry records"),
    ("PLUGIN = Plugin(scenarios=Path('no'))", "ValueError: scenarios must be the Path of a folder, not 'no'"),
    (technique("'_x', (1, 2), 1"), f"ValueError: Technique '_x': {DOTTED} '_x'"),
    (technique("'a.copy', (1, 2), 1"), f"ValueError: Technique 'a.copy': {DOTTED} 'a.copy'"),
    (technique("'a', [1, 2], 1"), f"TypeError: Technique 'a': {KINDS} [1, 2]"),
    (technique("'a', ([1], 2), 2"), f"TypeError: Technique 'a': {KINDS} ([1], 2)"),
    (technique("'a', (False, 'auto'), False"), f"ValueError: Technique 'a': {KINDS} (False, 'auto')"),
    (technique("'a', (1, 2), 3"), f"ValueError: Technique 'a': default: 3 {NO_CHOICE}"),
    (technique("'a', (0, 1), True"), f"ValueError: Technique 'a': default: True {NO_CHOICE}"),
    (technique("'a', (1, 2), 1", "range=Range(int, 3, 4)"), f"ValueError: Technique 'a': choices: 1 {NO_CHOICE}"),
    (technique("'a', (1, 2), 1", "range=Range(int, 4, 1)"), f"ValueError: Technique 'a': {ORDER}kind=<c...low=4, high=1)"),
    (technique("'a', (1, 2), 1", "range=Range(int, 1, 1e999)"), f"TypeError: Technique 'a': {ORDER}kind=<c...w=1, high=inf)"),
    (technique("'a', (1, 2), 1", "kind=APPROXIMATE, quick=2"),
     "ValueError: Technique 'a': quick: only an exact technique has such a choice"),
    (technique("'a', (1, 2), 1", "inactive=5"),
     "TypeError: Technique 'a': inactive must be a function of the situation that returns true, false or text, not 5"),
    (technique("'a', (1, 2), 1", "label='a\\0'"),
     r"ValueError: Technique 'a': label must be printable text, and not empty, not 'a\x00'"),
    (technique("'a', (1, 2), 1", "group='c'"), "ValueError: Technique 'a': group must be one of search, people, memory, time,"
     " drawing, more, not 'c'"),
    ("PLUGIN = Plugin(stages=(StageEntry('NAME_code:Stage', 'move'),))", "ValueError: StageEntry 'NAME_code:Stage': code must"
     """ be "module:name" of a module that can be found, not 'NAME_code:Stage'"""),
    ("PLUGIN = Plugin(behaviours=(BehaviourEntry('a', 'b', 'NAME:c', 'os:c', 'os:c'),))",
     "AttributeError: module 'NAME' has no attribute 'c'"),
    ("PLUGIN = Plugin(measures=(MeasureEntry('a b', 'why', 'os:x'),))",
     "ValueError: MeasureEntry 'a b': name must be a name that a key of the configuration can have, not 'a b'"),
]
TAKEN = [  # an entry that is left out, and the name that is taken
    (technique("'simd', (1, 2), 1"), "Technique 'simd'", "simd"),
    (technique("'neighbours.x', (1, 2), 1"), "Technique 'neighbours.x'", "neighbours"),
    (technique("'stagger', (1, 2), 1"), "Technique 'stagger'", "stagger.avoidance"),
    (technique("'set', (1, 2), 1"), "Technique 'set'", "set"),
    (technique("'pause', (1, 2), 1"), "Technique 'pause'", "pause"),
    ("PLUGIN = Plugin(overlays=(OverlayEntry('freeze', 'why', 'os:x'),))", "OverlayEntry 'freeze'", "freeze"),
    ("PLUGIN = Plugin(overlays=(OverlayEntry('cells', 'why', 'os:x'),))", "OverlayEntry 'cells'", "scene.overlays.cells"),
    ("class S(BaseModel): pass\nPLUGIN = Plugin(behaviours=(BehaviourEntry('agents', 'b', 'NAME:S', 'os:c', 'os:c'),))",
     "BehaviourEntry 'agents'", "agents"),
]
HAS_NO_KEY = [
    (technique("'odd', (1, 2), 1", "key='1'"), "odd has no key: '1' is taken"),
    (technique("'even', (1, 2), 1", "key='hyper'"), "even has no key: 'hyper' is not the name of a key"),
]


def test_a_broken_plugin_or_entry_is_left_out_and_named_in_one_line(environment: dict[str, str], tmp_path: Path) -> None:
    cases = [*((source, f"plugin NAME is left out: {why}") for source, why in BROKEN), *HAS_NO_KEY,
             *((source, f"plugin NAME: {entry} is left out: {name} is taken") for source, entry, name in TAKEN)]
    for number, (source, _) in enumerate(cases):
        install(tmp_path, f"p{number}", f"p{number}:PLUGIN", source.replace("NAME", f"p{number}"))
    expected = [f"crowd-demo: {line.replace('NAME', f'p{number}')}" for number, (_, line) in enumerate(cases)]
    install(tmp_path, "no_module", "no_module:PLUGIN")
    expected.append("crowd-demo: plugin no_module is left out: ModuleNotFoundError: No module named 'no_module'")
    found = with_paths(environment, str(tmp_path))
    keys = crowd_demo(found, "--list-keys")
    assert keys.returncode == 0 and "census" in keys.stdout and "odd" in keys.stdout
    assert sorted(keys.stderr.splitlines()) == sorted(expected)
    assert "toytown" in crowd_demo(found, "--list-configs").stdout


def test_the_programs_own_entries_are_what_those_of_plugins_must_be() -> None:
    own = (built_in.OWN_BEHAVIOURS, built_in.OWN_COLOURS, built_in.OWN_MEASURES, built_in.OWN_OVERLAYS, techniques.BUILT_IN)
    entries = [entry for registry in own for entry in registry if entry != built_in.COLOURS["looks"]]
    assert len(entries) >= 60
    for entry in entries:
        check(entry)


def test_what_sections_have_beside_their_keys_is_no_name_of_an_entry() -> None:
    assert set(Config.model_fields) - set(built_in.BEHAVIOURS) < set(built_in.RESERVED)
    for section, names in ((Optimizations, techniques.RESERVED), (Config, built_in.RESERVED), (Keys, ("pairs",))):
        assert {name for name in set(dir(section)) - set(dir(Section)) if not name.startswith("_")} <= set(names)


def test_a_crash_in_a_plugin_names_it(environment: dict[str, str]) -> None:
    """Also where it wants to end the program; and where it writes what no agent may have, before a kernel reads there."""
    callbacks = "inactive", "stage", "overlay", "colour mode", "colours", "legend"
    wrong = [("y", "nan"), ("y", "1e+30"), ("y", "-20"), ("y", "360.5"), ("x", "-inf"), ("vx", "nan"), ("vy", "3e+38"),
             ("avoidance_x", "nan"), ("id", "-1"), ("id", "1000000")]
    cases = [*((callback, ("", 0.0)) for callback in callbacks),
             *(("", (column, int(value) if column == "id" else float(value))) for column, value in wrong),
             ("", ("dt", math.nan)), ("", ("", 0.0))]
    done = python(environment, "-c", f"from math import inf, nan\n{CRASH.format(cases=cases)}")
    assert done.stdout.split() == ["1"] * (len(cases) - 1) + ["0"], done.stderr
    said = [line.partition("details in ")[0] for line in done.stderr.splitlines() if "compiling" not in line]
    assert said[:len(callbacks)] == ["crowd-demo: crashed: SystemExit: 9 (in plugin toys; "] * len(callbacks)
    told = [line.removeprefix("crowd-demo: crashed: ValueError: plugin toys: ") for line in said[len(callbacks):]]
    assert [line.partition(", outside ")[0] for line in told[:-1]] == [
        f"stage census: column {column} has {value} for agent {value if column == 'id' else 7}" for column, value in wrong]
    assert told[-1].startswith("column vx has nan for agent "), "its behaviour, without a stage of its own"


@pytest.mark.quick
def test_a_stage_with_nothing_to_follow_is_left_out(monkeypatch: pytest.MonkeyPatch,
                                                    capsys: pytest.CaptureFixture[str]) -> None:
    """And named, unless it follows one of another behaviour."""
    plugin = Plugin(stages=(StageEntry("odd:Nap", "nap"), StageEntry("odd:Look", "sight")))
    monkeypatch.setattr("crowd_demo.sim.stage.installed", lambda: (Installed("odd", frozenset(), plugin),))
    for _ in range(2):
        assert with_plugin_stages([Glide()])[0].name == "move"
    assert capsys.readouterr().err == "crowd-demo: plugin odd: stage odd:Nap is left out: there is no stage 'nap' to follow\n"
